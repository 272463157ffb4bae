r"""The worst of what an adversary may face: one pair of laws for each extreme movement of a plan, reading by reading.

Which movement is worst depends on the reading. Readings that are δ(ε) at some ε, or a function of it (success,
advantage, posterior, δ, ε, ψ, Fβ), and divergences, which are convex in the movement, are worst at one of the extreme
movements: their maximum is the answer. At a fixed rate of false alarms α, no single movement need be the worst one of
all that lie between; there the answer is the envelope

    roc(α) = min over ε of max over movements of δ(ε) + e^ε α,

the ROC of the largest δ at every ε. Every ε gives a bound from above, so that a search which stops early is safe. Names
are no amounts between which others lie: movements that publish names with other chances are read apart, and the largest
of their envelopes is the answer.

For one movement at one ε, the noisy numbers move by t scales of their noise: a product of Laplace laws
(:mod:`epsilens.laws.laplace`), or a normal one with ψ = ‖t‖₂. Beside them the names of groups that exist
because of the person may be published, with the chance q₀ in the first world and q₁ in the second, which settles the
question. With both, for any ε (Lemma P6; Theorem P5 is why these movements suffice),

    E₁[(1 − e^{ε−L})₊] = q₁ + (1 − q₁)·δ(ε + log((1 − q₀)/(1 − q₁))).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import log_ndtr

from ..calibration.choose import choose
from ..calibration.search import no_solution, no_value_below_floor
from ..catalogue.readings import find_reading
from ..checks import Array
from ..data.queries import Noise
from ..experiment import Experiment, compose_counted
from ..laws.finite import Finite
from ..laws.laplace import has_closed_form, laplace_vector_delta
from ..mechanisms.noise import gaussian, laplace
from ..numerics.roots import safe_boundary
from ..plan.contribution import NoisyNumber, log_hidden_probability, scale_of
from ..plan.model import Release
from ..plan.movement import Movement


@dataclass(frozen=True)
class MovementPair:
    """Laplace numbers moved by ``shifts`` (how far, how many), or a normal law moved by ``psi``, and names published
    with the chances ``first`` and ``second`` in the two worlds.
    """

    shifts: tuple[tuple[float, int], ...] = ()
    psi: float = 0.0
    first: float = 0.0
    second: float = 0.0

    @property
    def closed(self) -> bool:
        return not self.shifts or has_closed_form(self.shifts)

    @property
    def certain(self) -> bool:
        """Whether the question is always settled."""
        return self.first == 1 or self.second == 1

    @property
    def largest_loss(self) -> float:
        """The largest loss in favour of the second world; infinite where some answer leaves no doubt."""
        if self.psi or self.second or self.certain:
            return math.inf
        return math.fsum(t * k for t, k in self.shifts) - math.log1p(-self.first)

    def reverse(self) -> MovementPair:
        return MovementPair(self.shifts, self.psi, self.second, self.first)

    def hockey_stick(self, epsilon: float) -> float:
        """E₁[(1 − e^{ε−L})₊], for any sign of ε: the hit rate less e^ε times the false alarms, of the best test."""
        if self.certain:
            return 1.0
        moved = epsilon + math.log1p(-self.first) - math.log1p(-self.second)
        return self.second + (1 - self.second) * self._noise(moved)

    def _noise(self, epsilon: float) -> float:
        if self.shifts:
            return laplace_vector_delta(self.shifts, epsilon)
        if not self.psi:
            return max(0.0, -math.expm1(epsilon))
        ratio = epsilon / self.psi
        found = math.exp(log_ndtr(self.psi / 2 - ratio)) - math.exp(epsilon + log_ndtr(-self.psi / 2 - ratio))
        return max(found, 0.0)

    @cached_property
    def experiment(self) -> Experiment:
        """The same as an experiment, for every other reading."""
        if self.certain:
            return Experiment(Finite.of(np.asarray([1.0, 0.0]), np.asarray([0.0, 1.0])), "names of groups")
        parts = [(laplace(epsilon=t), k) for t, k in self.shifts]
        parts += [(gaussian(psi=self.psi), 1)] if self.psi else []
        if self.first or self.second:
            chances = [[self.first, 0.0, 1 - self.first], [0.0, self.second, 1 - self.second]]
            parts.append((Experiment(Finite.of(*map(np.asarray, chances)), "names of groups"), 1))
        if not parts:  # nothing moves
            return Experiment(Finite.of(np.ones(1), np.ones(1)), "nothing")
        return compose_counted(parts)


def movement_pair(plan: Release, movement: Movement, epsilon: float) -> MovementPair | None:
    """What one movement is at a total ε; None where nothing moves."""
    moved = Counter[float]()
    scales: dict[tuple[int, NoisyNumber], float] = {}
    for m in movement.moves:
        which = m.query, m.noisy
        if which not in scales:
            scales[which] = scale_of(plan, *which, epsilon)
        moved[m.amount / scales[which]] += m.times
    hidden = [0.0, 0.0]  # the logarithm of the chance that no name is published
    for i, *alone in movement.alone:
        for world, places in enumerate(alone):
            hidden[world] += log_hidden_probability(plan, i, epsilon, places, movement.people)
    first, second = (-math.expm1(h) for h in hidden)
    shifts = tuple(sorted((t, k) for t, k in moved.items() if t))
    if not shifts and not first and not second:
        return None
    if plan.mechanism.noise is Noise.GAUSSIAN:
        return MovementPair((), math.sqrt(math.fsum(k * t * t for t, k in shifts)), first, second)
    return MovementPair(shifts, 0.0, first, second)


def largest_movements(plan: Release, each: Sequence[Movement]) -> tuple[Movement, ...]:
    """Those of the movements, with the same names, that no other one exceeds at any ε and in any reading.

    Of numbers moved by t scales of noise with the density f, 1 − E₁[(1 − e^{ε−L})₊] = ∫min(f(x − t), e^ε·f(x)) dx is
    log-concave in t (Prékopa), and neither order nor sign of the numbers matters. So it falls, for every ε, where each
    sum of the k largest |t| grows (weak majorisation); and t is proportional to ε, but for normal noise, which has one.
    """
    pairs = [(m, movement_pair(plan, m, plan.epsilon) or MovementPair()) for m in each if m.moves or m.alone]
    moved = [np.asarray(p.shifts[::-1] or ((p.psi, 1),)).T for _, p in pairs]  # the largest first
    places = [np.append(0.0, np.cumsum(times)) for _, times in moved]
    ends = np.unique(np.concatenate(places)) if places else np.zeros(0)
    sums = [np.interp(ends, at, np.append(0.0, np.cumsum(t * n))) for at, (t, n) in zip(places, moved, strict=True)]
    kept: list[int] = []
    for i in sorted(range(len(pairs)), key=lambda i: -float(sums[i].sum())):
        if not any(pairs[j][0].alone == pairs[i][0].alone and (sums[i] <= sums[j]).all() for j in kept):
            kept.append(i)
    return tuple(pairs[i][0] for i in sorted(kept))


#: Readings at a fixed rate of false alarms or of hits, and the area under all of them.
_AT_A_RATE = ("roc", "recall", "attack_success", "precision", "auc")
#: Readings that need nothing but δ at some ε.
_OF_DELTA = (*_AT_A_RATE, "success", "advantage", "posterior", "delta", "epsilon")
_GRID = 120  # tangents of an envelope
_ROUGH = 0.05  # the width of a bracket that a search is content with
_FROM, _UP_TO = 1e-9, 700.0  # the ε that are searched
_TRIED = 200  # of them, where risk does not only grow
_HALVED = 12  # times, between two of these, where a reading is slow


@dataclass(frozen=True)
class WorstCase:
    """One adversary's pairs of laws at one ε; ``possible`` says that each is reached by some person."""

    each: tuple[MovementPair | Experiment, ...]
    possible: bool = True

    @cached_property
    def experiments(self) -> tuple[Experiment, ...]:
        return tuple(e.experiment if isinstance(e, MovementPair) else e for e in self.each)

    @cached_property
    def _apart(self) -> tuple[WorstCase, ...]:
        """Those with the same chances of a name, each kind by itself: others lie between those of one kind only."""
        kinds: dict[tuple[float, float] | None, list[MovementPair | Experiment]] = {}
        for e in self.each:
            kinds.setdefault((e.first, e.second) if isinstance(e, MovementPair) else None, []).append(e)
        return (self,) if None in kinds or len(kinds) == 1 else tuple(WorstCase(tuple(k)) for k in kinds.values())

    @cached_property
    def closed(self) -> bool:
        return all(isinstance(e, MovementPair) and e.closed for e in self.each)

    @property
    def how(self) -> str:
        """How the answers were put together, in words; empty for one answer and for closed forms."""
        return "" if self.closed else next((e.notes[0] for e in self.experiments if e.notes), "")

    @property
    def unbounded(self) -> bool:
        """Whether some answer, however rare, leaves no doubt."""
        return any(math.isinf(_largest_loss(e)) for e in self.each)

    @property
    def certain(self) -> bool:
        """Whether the answers settle the question: a name that exists because of one person."""
        return any(isinstance(e, MovementPair) and e.certain for e in self.each)

    def read(self, reading: str, arguments: Mapping[str, float]) -> float:
        """The worst of them, or of all that lies between them."""
        if reading in _AT_A_RATE and len(self._apart) > 1:
            return max(kind.read(reading, arguments) for kind in self._apart)
        if self.closed and reading in _OF_DELTA and not (reading == "auc" and len(self.each) == 1):
            return self._from_delta(reading, arguments)
        if len(self.each) > 1 and reading in _AT_A_RATE:
            return min(1.0, self._at_a_rate(reading, arguments))
        return max(self._each(reading, arguments))

    def _each(self, reading: str, arguments: Mapping[str, float]) -> Iterator[float]:
        """A reading of each of them by itself, closed forms first: they take no time."""
        slow = []
        for e in self.each:
            if isinstance(e, MovementPair) and e.closed and reading in _OF_DELTA:
                yield WorstCase((e,)).read(reading, arguments)
            else:
                slow.append(e)
        for e in slow:
            made = e.experiment if isinstance(e, MovementPair) else e
            yield float(getattr(made, reading)(**arguments))

    def over(self, reading: str, arguments: Mapping[str, float], limit: float) -> float:
        """By how much the worst is above a limit, or where it is, some of them: enough to know that it is."""
        if self.closed or reading in _AT_A_RATE:
            return self.read(reading, arguments) - limit
        worst = -math.inf
        for value in self._each(reading, arguments):
            worst = max(worst, value - limit)
            if worst > 0:
                break
        return worst

    def exact(self, reading: str, arguments: Mapping[str, float]) -> bool:
        """Whether some person is read as this: one of the movements, and not only what lies between them."""
        if not self.possible or len(self.each) == 1 or reading not in _AT_A_RATE:
            return self.possible
        alone = max(WorstCase((e,)).read(reading, arguments) for e in self.each)
        return math.isclose(alone, self.read(reading, arguments), rel_tol=1e-9, abs_tol=1e-12)

    def opposite(self, prior: float) -> float:
        """The strongest belief in the first world, where the second had this prior: it can be stronger than the other.

        Where the loss is that of experiments, the larger of both orders is taken.
        """
        return max(_posterior(_largest_loss(e.reverse()), 1 - prior) for e in self.each)

    def _from_delta(self, reading: str, arguments: Mapping[str, float]) -> float:
        match reading:
            case "success":
                prior = arguments["prior"]
                if prior in (0.0, 1.0):
                    return 1.0
                level = math.log1p(-prior) - math.log(prior)
                return min(1.0, (1 - prior) + prior * self._beyond(level))
            case "advantage":
                return self._beyond(0.0)
            case "posterior":
                return max(_posterior(_largest_loss(e), arguments["prior"]) for e in self.each)
            case "delta":
                return self._either(arguments["epsilon"])
            case "epsilon":
                return self._loss(arguments["delta"])
            case _:
                return min(1.0, self._at_a_rate(reading, arguments))

    def _beyond(self, epsilon: float) -> float:
        """The largest E₁[(1 − e^{ε−L})₊], of any sign of ε."""
        return max(_hockey_stick(e, epsilon) for e in self.each)

    def _either(self, epsilon: float) -> float:
        """δ(ε): whichever world comes first."""
        return max(self._beyond(epsilon), max(_hockey_stick(e.reverse(), epsilon) for e in self.each))

    def _loss(self, delta: float) -> float:
        """The least ε at which δ is within this one."""
        most = max(_largest_loss(f) for e in self.each for f in (e, e.reverse()))
        if delta == 0 or self._either(_UP_TO) > delta:
            return most if delta == 0 else math.inf
        if self._either(0.0) <= delta:
            return 0.0
        top = min(most, _UP_TO)
        return safe_boundary(lambda epsilon: self._either(epsilon) - delta, top, 1e-12 * top)

    def _at_a_rate(self, reading: str, arguments: Mapping[str, float]) -> float:
        if reading == "auc":
            return self._area()
        if reading != "precision":
            return self._roc(next(iter(arguments.values())))
        prior = arguments["prior"]
        if "recall" in arguments:
            return _precision(self._false_alarms(arguments["recall"]), arguments["recall"], prior)
        return _precision(arguments["fpr"], self._roc(arguments["fpr"]), prior)

    def _roc(self, fpr: float) -> float:
        return self._least(lambda faced, e: faced._beyond(e) + math.exp(e) * fpr)

    def _false_alarms(self, recall: float) -> float:
        return max(0.0, -self._least(lambda faced, e: -(recall - faced._beyond(e)) * math.exp(-e)))

    def _least(self, f: Callable[[WorstCase, float], float]) -> float:
        """The least of what falls and then rises with ε; every ε gives a bound, and so does a rough reading of it."""
        from scipy.optimize import minimize_scalar  # heavy, here and below: many plans have no limit at a rate

        low, high = self._losses
        rough = self if self.closed else WorstCase(tuple(_rough_experiment(e) for e in self.each))
        options = {"xatol": (1e-9 if self.closed else 0.02) * min(high - low, 1.0)}
        found = minimize_scalar(lambda e: f(rough, e), bounds=(low, high), method="bounded", options=options)
        return min(float(found.fun), f(rough, low), f(rough, high))

    def _area(self) -> float:
        """Under the least of many tangents, which is nowhere below the ROC."""
        low, high = (min(end, 40.0) for end in map(abs, self._losses))
        near = np.sinh(np.linspace(-5, 5, _GRID)) / math.sinh(5)
        losses = np.unique(np.concatenate((near * max(low, high), np.linspace(-min(low, 5), min(high, 5), _GRID))))
        slope, height = np.exp(losses), np.asarray([self._beyond(float(e)) for e in losses])
        with np.errstate(divide="ignore", invalid="ignore"):
            corners = -np.diff(height) / np.diff(slope)  # where neighbouring tangents meet
        fpr = np.unique(np.clip(np.nan_to_num(np.concatenate(([0.0, 1.0], corners))), 0.0, 1.0))
        least = np.minimum(1.0, np.min(height[:, None] + slope[:, None] * fpr, axis=0))
        return float(np.trapezoid(least, fpr))

    @cached_property
    def _losses(self) -> tuple[float, float]:
        """The least and the largest loss a tangent is drawn at."""
        high, low = (max(map(_largest_loss, way)) for way in (self.each, tuple(e.reverse() for e in self.each)))
        return -_finite(low), _finite(high)


def _finite(reach: float) -> float:
    return min(reach, _UP_TO) if math.isfinite(reach) else 60.0


def _largest_loss(e: MovementPair | Experiment) -> float:
    return e.largest_loss if isinstance(e, MovementPair) else float(e.epsilon())


def _hockey_stick(e: MovementPair | Experiment, epsilon: float) -> float:
    if isinstance(e, MovementPair):
        return e.hockey_stick(epsilon)
    if epsilon >= 0:
        return float(e.delta(epsilon))
    return -math.expm1(epsilon) + math.exp(epsilon) * float(e.reverse().delta(-epsilon))


def _rough_experiment(e: MovementPair | Experiment) -> Experiment:
    made = e.experiment if isinstance(e, MovementPair) else e
    return replace(made, law=made.law.with_width(_ROUGH))


def _posterior(loss: float, prior: float) -> float:
    if prior in (0.0, 1.0) or math.isinf(loss):
        return float(prior > 0)
    return 1 / (1 + (1 - prior) / prior * math.exp(-loss))


def _precision(fpr: float, recall: float, prior: float) -> float:
    right = prior * recall
    return right / (right + (1 - prior) * fpr) if right > 0 else 0.0


def largest_epsilon(
    facing: Callable[[float], WorstCase],
    reading: str,
    limit: float,
    arguments: Mapping[str, float],
    planned: float,
    *,
    monotone: bool = True,
    most: float = _UP_TO,
) -> float:
    """The largest ε up to ``most`` at which the worst reading keeps the limit; it does so there.

    Closed forms are searched together. Otherwise each experiment by itself has a largest ε; the least of them is the
    answer, and few need to be asked: only those that break the limit where the others keep it. An envelope may be
    above all of them, and is searched. Where risk does not only grow with ε (``monotone`` is false), ε are tried from
    the largest down.
    """
    wanted = find_reading(reading)
    floor = float(wanted.floor(**arguments))
    if limit < floor:
        raise no_value_below_floor("epsilon", wanted, limit, floor)

    def over(epsilon: float) -> float:
        return facing(epsilon).over(reading, arguments, limit)

    closed = facing(planned).closed and reading in _OF_DELTA
    if closed or not monotone:
        if over(most) <= 0:
            return most
        ends: tuple[float, float] | None = (_FROM, most)
        if not monotone or over(_FROM) > 0:  # a threshold hides nothing under too much noise
            ends = _last_bracket(over, np.geomspace(most, _FROM, _TRIED if closed else _TRIED // 4))
        if ends is None:
            raise no_solution(
                lambda e: facing(e).experiments[0], lambda _: over(_FROM) + limit, "epsilon", wanted, limit, _FROM
            )
        if closed:
            return safe_boundary(over, *ends)
        safe, unsafe = ends
        for _ in range(_HALVED):
            middle = math.sqrt(safe * unsafe)
            safe, unsafe = (middle, unsafe) if over(middle) <= 0 else (safe, middle)
        return safe

    def one(place: int) -> float:
        def build(epsilon: float) -> Experiment:
            return facing(epsilon).experiments[place]

        return choose(build, "epsilon", at_most=limit, reading=reading, given=None, **arguments).value

    def worst(epsilon: float) -> tuple[float, int]:
        rated = "success" if reading in _AT_A_RATE else reading  # at a rate, the envelope is read in the end
        at = {"prior": 0.5} if reading in _AT_A_RATE else arguments
        return max((float(getattr(e, rated)(**at)), i) for i, e in enumerate(facing(epsilon).experiments))

    found = one(worst(planned)[1])
    while found > 0 and reading not in _AT_A_RATE:
        here, place = worst(found)
        if here <= limit:
            return found
        found = min(one(place), found * (1 - 1e-12))
    if not found or over(found) <= 0:
        return found
    low = found / 2
    while over(low) > 0:
        low /= 2
    return safe_boundary(over, low, found)


def _last_bracket(over: Callable[[float], float], tried: Array) -> tuple[float, float] | None:
    """The first ε of these, from above, that keeps the limit, and one above it that does not; None where all break it.

    Where they come near and go off again, the nearest between them is looked at: what keeps it may be narrow.
    """
    from scipy.optimize import minimize_scalar

    before, last = math.inf, over(float(tried[0]))
    for i in range(1, len(tried)):
        now = over(float(tried[i]))
        if now > last and before >= last and i > 1:  # the least lies on one side of the one before
            ends, options = (math.log(tried[i]), math.log(tried[i - 2])), {"maxiter": _HALVED}
            found = minimize_scalar(
                lambda x: min(over(math.exp(x)), _UP_TO), bounds=ends, method="bounded", options=options
            )
            if found.fun <= 0:
                return math.exp(found.x), float(tried[i - 2])
        if now <= 0:
            return float(tried[i]), float(tried[i - 1])
        before, last = last, now
    return None
