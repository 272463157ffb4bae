"""A product of steps in one order: slices of its profile made for questions, verified, and made again if too wide."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...checks import Array
from .inversion import Inverted, Largest, invert
from .lattice import Lattice, discretise
from .moments import ERROR
from .plan import HALF, Aim, Ask, Plan, aim, common_unit, largest_loss, levels, plan, reach_of
from .scattered import Scattered, scattered
from .slice import Slice, slice_of
from .step import Counted, Step
from .told import added_lattices
from .transform import MOST_POINTS, Part, log_moment, power, window

__all__ = ["MOST_WORK", "ROUGH", "TILTS", "Order", "Product", "Work"]

_TRIES = 4
_MOST_SLICES = 48  # kept
_MOST_ANSWERS = 64  # kept
_MOST_ALONE = 64  # values read one by one
_EACH = 2**16  # what a slice costs beside its points, in points
_STEEPEST = 40.0
_HAIR = 1e-12
_SURE = 1e-3  # by how much a bound must be below, relative
View = Slice | Inverted | Largest | Scattered
TILTS = np.geomspace(0.05, 200.0, 24)  # of Chernoff's bounds
ROUGH = 0.05  # relative width at which the two orders are compared
_MOST_BINS = 2**20  # of all steps together: a second or two
MOST_WORK = 2**20  # lattice points made for one question, after which what is known must do
_NEARLY = 30.0  # times the width asked for
_MANY = 3  # questions at once
_ALIKE = 12.0  # log probabilities left out that share their work
_FEW = 16  # steps: pairs of points come before lattices
_RATIOS = (0.2, 0.08, 0.04)  # of neighbouring points
_MOST_PAIRS = 2**24  # for one question
_PAIRS = 10  # that cost as much as a lattice point
_DEEP = -80.0  # a log probability that does not count beside a total variation
_FIRST_GUESS = 60.0  # how far below that an answer is looked for at first, as a logarithm
_FLOOR = -690.0  # a log probability below which nothing is refined any further


class Product:
    """Steps with their counts, and the lattices made of them."""

    def __init__(self, steps: Sequence[Counted]) -> None:
        self.steps = tuple(steps)
        self.count = sum(k for _, k in self.steps)
        self._lattices: dict[tuple[int, bool], list[tuple[tuple[float, float, float], Lattice]]] = {}

    @cached_property
    def _gaps(self) -> list[float]:
        """Between the losses of a step's atoms; none where they are too many."""
        found: list[float] = []
        for step, _ in self.steps:
            losses = np.unique(step.atoms.loss)
            gaps = np.diff(losses)
            if gaps.size > 1 and np.ptp(gaps) < 1e-9 * gaps[0]:
                gaps = np.array([(losses[-1] - losses[0]) / gaps.size])
            if gaps.size > 256:
                return []
            found += gaps.tolist()
        return found

    @cached_property
    def mirrored(self) -> bool:
        """Whether both orders have the same trade-off."""
        return all(step.mirrored for step, _ in self.steps)

    @cached_property
    def pinsker(self) -> float:
        """√(KL/2), a δ at which ε = 0 surely holds."""
        return math.sqrt(math.fsum(k * step.kl_bound() for step, k in self.steps) / 2) * (1 + 1e-9)

    @cached_property
    def most(self) -> float:
        """1 − Π(1 − TV)^k ≥ TV: with the rest nothing can be told, however the steps come together."""
        apart = []
        for step, k in self.steps:
            alone = scattered([(step, 1)], False, 0.1, Ask("delta", 0.0), 0.1, _DEEP, None, _MOST_PAIRS)
            apart.append((math.exp(float(alone.delta(np.zeros(1))[1][0])) if alone is not None else 1.0, k))
        return _any(apart)

    @cached_property
    def at_top(self) -> float:
        """H1-mass of losses at +∞."""
        return _any((step.atoms.only1, k) for step, k in self.steps)

    @cached_property
    def at_bottom(self) -> float:
        """H0-mass of losses at −∞."""
        return _any((step.atoms.only0, k) for step, k in self.steps)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The infimum and the supremum of the loss."""
        low = math.fsum(k * step.ends[0] for step, k in self.steps)
        return low, math.fsum(k * step.ends[1] for step, k in self.steps)

    @cached_property
    def finite_ends(self) -> tuple[float, float]:
        """The same, of what does not lie at ±∞."""
        pairs = [(*_finite_ends(step), k) for step, k in self.steps]
        return math.fsum(k * low for low, _, k in pairs), math.fsum(k * high for _, high, k in pairs)

    def unit(self, finest: float) -> float | None:
        """The largest spacing that puts every atom on the lattice, each law about its own origin."""
        return common_unit(self._gaps, finest) if self._gaps else None

    def lattice(self, index: int, flipped: bool, dt: float, cut: tuple[float, float], most: float) -> Lattice:
        """One step on a lattice, kept for the next question."""
        known = self._lattices.setdefault((index, flipped), [])
        for reached, lattice in known:  # no other will do: an answer shall not depend on what was asked before
            if lattice.dt == dt and reached == (*cut, most):
                return lattice
        step = self.steps[index][0]
        losses = step.atoms.loss
        c = float(losses.min()) if losses.size else _origin(step, flipped, dt)
        made = _discretised(step, dt, c, cut, most)
        known.append(((*cut, most), made))
        del known[:-4]
        return made


def _discretised(step: Step, dt: float, c: float, cut: tuple[float, float], most: float) -> Lattice:
    if step.branches:
        return added_lattices([(_discretised(one, dt, c, cut, most), share) for one, share in step.branches])
    reach = reach_of(step, cut, most)
    return discretise(step, dt, c, reach, reach[1] < step.reach(*cut)[1])


def _origin(step: Step, flipped: bool, dt: float) -> float:
    """Where a bounded loss has the mass next to its end, so that this is on the lattice; 0 where it has no end.

    A hair to the side where the lower side of this order can drop the difference.
    """
    low, high = step.ends
    if math.isfinite(low):
        p, q = step.below(float(step.place(np.asarray(low + dt / 2))))
    elif math.isfinite(high):
        p, q = step.above(float(step.place(np.asarray(high - dt / 2))))
    else:
        return 0.0
    return p - q + (_HAIR if flipped else -_HAIR) if math.isfinite(p) and math.isfinite(q) else 0.0


def _finite_ends(step: Step) -> tuple[float, float]:
    losses = step.atoms.loss
    if step.span is None and losses.size:
        return float(losses.min()), float(losses.max())
    return step.ends


def _any(masses: Iterable[tuple[float, int]]) -> float:
    """1 − Π(1 − m)^k: the mass of at least one."""
    none = 0.0
    for mass, k in masses:
        if mass >= 1:
            return 1.0
        none += k * math.log1p(-mass)
    return -math.expm1(none) + 0.0  # not −0


@dataclass
class Work:
    """The slices that one reading has used, what they cost in lattice points, and the questions finer ones do not help.

    Only what belongs to one reading is kept together: a reading does not depend on what was asked before it.
    """

    slices: list[View] = field(default_factory=list)
    spent: int = 0
    given_up: set[tuple[str, float]] = field(default_factory=set)


class _Made(NamedTuple):
    view: Slice | Inverted
    cost: int
    coarse: bool  # as fine as memory and time allow


class Order:
    """One order of a product."""

    def __init__(self, product: Product, flipped: bool, width: float) -> None:
        self.product, self.flipped, self.width = product, flipped, width
        self.missed = False  # whether an answer is wider than asked for
        self._series_width = width
        self._made: dict[tuple[Ask, float, bool], _Made | None] = {}  # the last ones
        self._answers: dict[tuple[str, bytes, bytes], tuple[Array, Array, bool]] = {}  # the last ones
        self.worse: dict[tuple[bool, bytes], tuple[Array, Array]] = {}  # of both orders, the last one
        self.summed: dict[tuple[str, float, float], tuple[float, float]] = {}  # of the whole curve, the last ones
        self._aims: dict[Ask, Aim] = {}  # the last one
        self._scattered: dict[tuple[Ask | None, float, float], Scattered | None] = {}  # the last ones
        self._rough: Order | None = None
        self._fine: Order | None = None

    @cached_property
    def chernoff(self) -> Array:
        """K(λ) at ``TILTS``, from above."""
        powers = -TILTS if self.flipped else 1 + TILTS
        total = [math.fsum(k * step.log_moment(float(p)) for step, k in self.product.steps) for p in powers]
        return np.asarray(total) * (1 + ERROR)

    @cached_property
    def _largest(self) -> Largest:
        return Largest(self.product.steps, self.flipped)

    def rough(self) -> Order:
        """The same order to be read with wide brackets, kept; series are as narrow as ever."""
        if self._rough is None:
            self._rough = Order(self.product, self.flipped, ROUGH)
            self._rough._series_width, self._rough._made, self._rough._fine = self.width, self._made, self
        return self._rough

    # -- making slices ------------------------------------------------------------------------------------------

    def make(self, ask: Ask, width: float, lattice: bool = False) -> Slice | Inverted:
        """A slice for one question: by the series where that is possible, unless a ``lattice`` is asked for."""
        made = None if lattice else self._summed(ask)
        return (made or self._latticed(ask, width)).view

    def _summed(self, ask: Ask) -> _Made | None:
        """By the series, kept for the next time; None where that cannot be."""
        if ask.kind == "recall" and ask.value > HALF:  # λ < 0: what is missed is not in δ
            return None
        return self._kept((ask, self._series_width, False), lambda: self._by_series(ask))

    def _latticed(self, ask: Ask, width: float) -> _Made:
        """On a lattice, likewise."""
        made = self._kept((ask, width, True), lambda: self._by_lattice(ask, width))
        assert made is not None
        return made

    def _kept(self, key: tuple[Ask, float, bool], make: Callable[[], _Made | None]) -> _Made | None:
        if key not in self._made:
            if len(self._made) >= _MOST_SLICES:
                for old in list(self._made)[: _MOST_SLICES // 2]:
                    del self._made[old]
            self._made[key] = make()
        return self._made[key]

    def _by_series(self, ask: Ask) -> _Made | None:
        steps = self.product.steps
        # what is too much for narrow brackets may come out narrow all the same
        for width in (self._series_width, ROUGH):
            at = self._aim(ask) if width == self._series_width else aim(steps, self.flipped, ask, width)
            view = invert(steps, self.flipped, at, width)
            if view is not None:
                return _Made(view, view.work, True)
        return None

    def _aim(self, ask: Ask) -> Aim:
        if ask not in self._aims:
            self._aims = {ask: aim(self.product.steps, self.flipped, ask, self._series_width)}
        return self._aims[ask]

    def surely_below(self, log_delta: float, epsilon: float) -> bool:
        """Whether Chernoff's bound alone puts ε(δ) below; where it does not, what it took is kept for the series."""
        bound = self._aim(Ask("epsilon", log_delta))
        left_out = 1e-5 + 2 * bound.cumulants.at_top * math.exp(-log_delta)  # as a share of δ, and of the quadrature
        return bound.loss * (1 + _SURE) + left_out / bound.saddle < epsilon

    def _by_lattice(self, ask: Ask, width: float) -> _Made:
        product = self.product
        outline = plan(aim(product.steps, self.flipped, ask, width))
        cut = levels(outline.log_value, min(outline.tolerance, 1.0), product.count, self.flipped)
        most = largest_loss(product.steps, self.flipped, ask, min(outline.tolerance, 1.0))
        finest = max((outline.high - outline.low) / MOST_POINTS, self._extent(cut, most) / _MOST_BINS)
        dt = self._spacing(outline.dt, finest)
        cost = 0
        for _ in range(8):
            lattices = [product.lattice(i, self.flipped, dt, cut, most) for i in range(len(product.steps))]
            cost += sum(lattice.upper.log_p.size for lattice in lattices)
            if self.flipped:
                lattices = [lattice.reverse() for lattice in lattices]
            if all(lattice.exact for lattice in lattices):
                break
            parts = (self._parts(lattices, upper) for upper in (True, False))
            high, low = (log_moment(p, dt, outline.saddle) for p in parts)
            ratio = (high - low) / min(outline.tolerance, 1.0)
            finer = self._spacing(dt * min(max(0.85 / math.sqrt(max(ratio, 1e-3)), 0.3), 0.7), finest)
            if ratio <= 1.05 or finer >= dt or cost > MOST_WORK // 4:
                break
            dt = finer
        # a tilt that moves all mass to one lattice point serves nobody
        if abs(outline.tilt) * dt > _STEEPEST:
            outline = replace(outline, tilt=math.copysign(_STEEPEST / dt, outline.tilt))
        view, points = self._slice(lattices, outline)
        return _Made(view, cost + points, dt < 1.5 * finest)

    def _extent(self, cut: tuple[float, float], most: float) -> float:
        """The ranges of the steps' losses together, cut off there; of those that are not atoms alone."""
        moving = [step for step, _ in self.product.steps if step.span is not None]
        return math.fsum(float(np.ptp(step.loss(np.asarray(reach_of(step, cut, most))))) for step in moving)

    def _spacing(self, dt: float, finest: float) -> float:
        """The spacing nearest below what is wanted that puts atoms on the lattice, and that memory and time allow."""
        dt = max(dt, finest)
        unit = self.product.unit(max(dt / 16, finest / 2))
        if unit is None:
            return float(2.0 ** (math.floor(8 * math.log2(dt)) / 8))  # few distinct ones, so that lattices are shared
        if all(step.span is None for step, _ in self.product.steps):
            return unit
        return unit / max(math.ceil(unit / dt), 1)

    def _parts(self, lattices: Sequence[Lattice], upper: bool) -> list[Part]:
        sides = [lattice.upper if upper else lattice.lower for lattice in lattices]
        return [
            Part(lattice.c, side, k) for lattice, side, (_, k) in zip(lattices, sides, self.product.steps, strict=True)
        ]

    def _slice(self, lattices: Sequence[Lattice], outline: Plan) -> tuple[Slice, int]:
        dt, counts = lattices[0].dt, [k for _, k in self.product.steps]
        kappa = math.fsum(k * lattice.kappa for k, lattice in zip(counts, lattices, strict=True))
        rho = math.fsum(k * lattice.rho for k, lattice in zip(counts, lattices, strict=True))
        leak = 1.001 * math.fsum(k * lattice.lower.leak for k, lattice in zip(counts, lattices, strict=True))
        powers, tops = [], []
        points = _EACH
        for upper in (True, False):
            parts = self._parts(lattices, upper)
            tops.append(_any((part.side.only1, part.count) for part in parts))
            frame = window(parts, dt, outline.tilt, outline.up, outline.down, outline.low, outline.high)
            powers.append(power(parts, dt, outline.tilt, frame))
            points += frame.size // 2
        both = (powers[0], powers[1])
        return slice_of(both, outline.tilt, dt, kappa, rho, outline.loss, np.asarray(tops), leak), points

    # -- asking -------------------------------------------------------------------------------------------------

    def ask(
        self, kind: str, values: Array, slack: Array | float = 0.0, work: Work | None = None
    ) -> tuple[Array, Array]:
        """(low, high) of log δ, ε, log TPR or log α for each value, as tight as asked for where that can be.

        ``slack`` is an absolute error of the probability that the asker does not mind. With ``work``, slices are shared
        with other questions of the same reading.
        """
        flat = np.asarray(values, dtype=float).ravel()
        allowed = np.broadcast_to(np.asarray(slack, dtype=float), np.shape(values)).ravel()
        key = (kind, flat.tobytes(), allowed.tobytes())
        if work is not None:
            low, high, wide = self._asked(kind, flat, allowed, work)
        else:
            fine = self._fine._answers if self._fine is not None else {}
            if key not in self._answers:
                if len(self._answers) >= _MOST_ANSWERS:
                    self._answers.clear()
                self._answers[key] = fine.get(key) or self._asked(kind, flat, allowed, Work())
            low, high, wide = self._answers[key]
            if self._fine is not None and key not in fine and not self._fine._wide(kind, low, high, allowed).any():
                fine[key] = low, high, False  # the same series would answer it
        self.missed = self.missed or wide
        return low.reshape(np.shape(values)), high.reshape(np.shape(values))

    def _asked(self, kind: str, flat: Array, allowed: Array, work: Work) -> tuple[Array, Array, bool]:
        low, high = self._read(work.slices, kind, flat)
        if self.product.count == 1:
            low, high = self._by_largest(kind, flat, low, high, allowed)
        while work.spent < MOST_WORK:
            todo = np.flatnonzero(self._wide(kind, low, high, allowed))
            if work.given_up:
                todo = todo[[(kind, float(v)) not in work.given_up for v in flat[todo]]]
            if not todo.size:
                if not work.given_up:
                    return low, high, False
                break
            target = int(np.argpartition(flat[todo], todo.size // 2)[todo.size // 2])
            a, b = self._narrowed(kind, flat[todo], target, allowed[todo], work)
            low[todo], high[todo] = np.maximum(low[todo], a), np.minimum(high[todo], b)
        low, high = self._by_largest(kind, flat, low, high, allowed)
        return low, high, bool(self._wide(kind, low, high, allowed).any())

    def _by_largest(self, kind: str, flat: Array, low: Array, high: Array, allowed: Array) -> tuple[Array, Array]:
        """Where the bracket is too wide: what the largest loss alone shows."""
        wide = np.flatnonzero(self._wide(kind, low, high, allowed))[:_MOST_ALONE]
        if wide.size:
            a, b = self._read([self._largest], kind, flat[wide])
            low, high = low.copy(), high.copy()
            low[wide], high[wide] = np.maximum(low[wide], a), np.minimum(high[wide], b)
        return low, high

    def _narrowed(self, kind: str, flat: Array, target: int, allowed: Array, work: Work) -> tuple[Array, Array]:
        """(low, high) from what is made for one of the values: the series, points, then lattices, finer each time."""
        low, high = np.full(flat.size, -np.inf), np.full(flat.size, np.inf)
        question = Ask(kind, float(flat[target]))

        def use(view: View, cost: int) -> bool:
            """Read it; whether that is enough."""
            nonlocal low, high
            work.spent += cost
            work.slices.append(view)
            a, b = self._read([view], kind, flat)
            low, high = np.maximum(low, a), np.minimum(high, b)
            return not self._wide(kind, low[[target]], high[[target]], allowed[[target]])[0]

        made = self._summed(question)
        if made is not None and use(made.view, made.cost):
            return low, high
        if self._uneven(question):
            before = work.spent
            for view, cost in self._by_points(question, flat.size > _MANY):
                if use(view, cost):
                    return low, high
                if work.spent - before >= MOST_WORK:
                    break
            gap, unit = float(high[target] - low[target]), float(high[target]) if kind == "epsilon" else 1.0
            if self.product.count > _FEW and flat.size > _MANY and gap < _NEARLY * self.width * unit:
                work.given_up.add((kind, float(flat[target])))
                return low, high
        width, last = self.width, math.inf
        for again in range(_TRIES - 1):
            if again and work.spent >= MOST_WORK:
                break
            made = self._latticed(question, width)
            if use(made.view, made.cost):
                return low, high
            gap, wanted = float(high[target] - low[target]), self.width
            if kind == "epsilon":
                gap, wanted = max(gap, 0.0), wanted * max(float(high[target]), 1e-300)
            if gap > 0.95 * last or made.coarse:  # finer does not help, or cannot be
                break
            # the width falls with the square of the spacing, and so with what is asked of it
            ratio = wanted / gap if math.isfinite(gap) and math.isfinite(wanted) else 0.0
            width, last = width * min(max(0.6 * ratio, 0.05), 0.5), gap
        work.given_up.add((kind, float(flat[target])))
        return low, high

    def _uneven(self, ask: Ask) -> bool:
        """Whether points serve better than a lattice: few steps, or losses that reach far beyond their spread."""
        if all(step.span is None for step, _ in self.product.steps):
            return False
        if self.product.count <= _FEW:
            return True
        ways = (self._aim(ask), aim(self.product.steps, not self.flipped, Ask("delta", 0.0), self._series_width))
        return any(at.heavy or at.longest > 64 * at.cumulants.spread(0.0)[1] for at in ways)

    def _by_points(self, ask: Ask, many: bool) -> Iterator[tuple[Scattered, int]]:
        """The product on points, closer together each time, with its cost; for ``many`` questions everywhere alike."""
        most = math.log(max(self.product.most, 1e-290))
        known = float(self._largest.delta(np.asarray([ask.value]))[0][0]) if ask.kind == "delta" else ask.value
        first = None
        for ratio in _RATIOS:
            # what lies below this is left out: little beside the answer, and beside what can be told apart at all
            least = math.log(1e-3 * self.width) + min(max(known, most - _FIRST_GUESS), most)
            least = max(_ALIKE * math.floor(least / _ALIKE), -690.0)
            key = (None if first is None else ask, ratio, least)
            if key not in self._scattered:
                while len(self._scattered) >= _MOST_SLICES:
                    del self._scattered[next(iter(self._scattered))]
                self._scattered[key] = scattered(
                    self.product.steps, self.flipped, ratio, ask, self.width, least, first, _MOST_PAIRS
                )
            made = self._scattered[key]
            if made is None:
                break
            yield made, made.work // _PAIRS + made.upper.loss.size
            if ask.kind == "delta":
                known = max(known, float(made.delta(np.asarray([ask.value]))[0][0]))
            first = None if many else made

    def _read(self, slices: Sequence[View], kind: str, flat: Array) -> tuple[Array, Array]:
        low, high = np.full(flat.size, -np.inf), np.full(flat.size, np.inf)
        for one in slices:
            read = {"delta": one.delta, "epsilon": one.epsilon, "roc": one.roc, "recall": one.inverse_roc}[kind]
            a, b = read(flat)
            low, high = np.maximum(low, a), np.minimum(high, b)
        return low, high

    def _wide(self, kind: str, low: Array, high: Array, slack: Array) -> Array:
        with np.errstate(invalid="ignore"):
            if kind == "epsilon":
                top = np.maximum(high, 0.0)
                return np.asarray(np.isinf(high) | ~(top - np.maximum(low, 0.0) <= self.width * top))
            apart = np.exp(np.minimum(high, 0.0)) - np.exp(low)
            return np.asarray(~(high - low <= self.width) & ~(high < _FLOOR) & (apart > slack))

    def test(self, loss: float) -> tuple[float, float]:
        """(false-positive rate, recall) that the test of this threshold surely has at most and at least."""
        work = Work()
        self.ask("delta", np.asarray(loss), work=work)
        known = [one.test(loss) for one in (*work.slices, self._largest)]
        alpha, recall, _ = min((k for k in known if k[1] > 0), key=lambda k: k[2], default=(0.0, 0.0, 0.0))
        return float(alpha), float(recall)
