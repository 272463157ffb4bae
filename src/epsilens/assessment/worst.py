r"""What an adversary faces: one experiment for each extreme movement of a plan, and the worst of them in every reading.

Which movement is worst depends on the reading. Readings that are δ(ε) at some ε, or a function of it (success,
advantage, posterior, δ, ε, ψ, Fβ), and divergences, which are convex in the movement, are worst at one of the extreme
movements: their maximum is the answer. At a fixed rate of false alarms α, no single movement need be the worst one of
all that lie between; there the answer is the envelope

    roc(α) = min over ε of max over movements of δ(ε) + e^ε α,

the ROC of the largest δ at every ε. Every ε gives a bound from above, so that a search which stops early is safe.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from ..build.mechanisms import gaussian, laplace
from ..choice.choice import choose
from ..data.queries import Noise
from ..experiment import Experiment, together
from ..laws.finite.law import Finite
from ..numerics.roots import last_safe
from ..plan.movement import Movement
from ..plan.noise import listed, scale_of
from ..plan.plan import Release

__all__ = ["Facing", "faced", "largest_epsilon"]

#: Readings at a fixed rate of false alarms or of hits, and the area under all of them.
_AT_A_RATE = ("roc", "recall", "attack_success", "precision", "auc")
_GRID = 160  # tangents of an envelope


@dataclass(frozen=True)
class Facing:
    """One adversary's experiments at one ε; ``exact`` says that the worst of them is possible, not only a bound."""

    experiments: tuple[Experiment, ...]
    exact: bool = True

    @property
    def how(self) -> str:
        """How the answers were put together, in words; empty for one answer."""
        return next((e.notes[0] for e in self.experiments if e.notes), "")

    @property
    def unbounded(self) -> bool:
        """Whether some answer, however rare, leaves no doubt."""
        return any(math.isinf(float(e.epsilon())) for e in self.experiments)

    @property
    def certain(self) -> bool:
        """Whether the answers settle the question: a name that exists because of one person."""
        return any(float(e.delta(0.0)) == 1 and math.isinf(float(e.epsilon())) for e in self.experiments)

    def read(self, reading: str, arguments: Mapping[str, float]) -> float:
        """The worst of the experiments, or of all that lies between them."""
        values = [float(getattr(e, reading)(**arguments)) for e in self.experiments]
        worst = max(values)
        if len(values) == 1 or reading not in _AT_A_RATE or worst >= 1:
            return worst
        return max(worst, min(1.0, self._between(reading, arguments)))

    def _between(self, reading: str, arguments: Mapping[str, float]) -> float:
        """A reading at a fixed rate, of the envelope."""
        if reading == "auc":
            return self._area()
        if reading != "precision":
            return self._roc(next(iter(arguments.values())))
        prior = arguments["prior"]
        if "recall" in arguments:
            return _precision(self._false_alarms(arguments["recall"]), arguments["recall"], prior)
        alpha = arguments["alpha"]
        return _precision(alpha, self._roc(alpha), prior)

    def _delta(self, epsilon: float) -> float:
        """The largest δ(ε), of a negative ε too: δ(−x) = 1 − e^{−x} + e^{−x}·δ'(x), with the worlds exchanged."""
        if epsilon >= 0:
            return max(float(e.delta(epsilon)) for e in self.experiments)
        turned = max(float(e.reverse().delta(-epsilon)) for e in self.experiments)
        return -math.expm1(epsilon) + math.exp(epsilon) * turned

    def _roc(self, alpha: float) -> float:
        return _least(lambda e: self._delta(e) + math.exp(e) * alpha, self._losses(41))

    def _false_alarms(self, recall: float) -> float:
        return max(0.0, -_least(lambda e: -(recall - self._delta(e)) * math.exp(-e), self._losses(41)))

    def _area(self) -> float:
        """Under the least of many tangents, which is nowhere below the ROC."""
        losses = self._losses(_GRID)
        slope, height = np.exp(losses), np.asarray([self._delta(float(e)) for e in losses])
        with np.errstate(divide="ignore", invalid="ignore"):
            corners = -np.diff(height) / np.diff(slope)  # where neighbouring tangents meet
        alpha = np.unique(np.clip(np.nan_to_num(np.concatenate(([0.0, 1.0], corners))), 0.0, 1.0))
        least = np.minimum(1.0, np.min(height[:, None] + slope[:, None] * alpha, axis=0))
        return float(np.trapezoid(least, alpha))

    def _losses(self, many: int) -> np.ndarray:
        """Where tangents are drawn: over all losses there are, most of them near 0."""
        most = max(float(e.epsilon()) for e in self.experiments)
        reach = min(most, 700.0) if math.isfinite(most) else 60.0
        return np.asarray(reach * np.sinh(np.linspace(-6, 6, many)) / math.sinh(6))


def _least(f: Callable[[float], float], grid: np.ndarray) -> float:
    """The least value of a function that falls and then rises; what is found is never below it."""
    values = [f(float(e)) for e in grid]
    k = int(np.argmin(values))
    around = float(grid[max(k - 1, 0)]), float(grid[min(k + 1, len(grid) - 1)])
    found = minimize_scalar(f, bounds=around, method="bounded", options={"xatol": 1e-10})
    return min(float(found.fun), *values)


def _precision(alpha: float, recall: float, prior: float) -> float:
    right = prior * recall
    return right / (right + (1 - prior) * alpha) if right > 0 else 0.0


# -- from movements to experiments --------------------------------------------------------------------------------


def faced(plan: Release, movement: Movement, epsilon: float, times: float = 1.0) -> Experiment | None:
    """The experiment of one movement at a total ε, every amount taken ``times``; None where nothing moves."""
    moved = Counter[float]()
    for m in movement.moves:
        moved[times * m.amount / scale_of(plan, m.query, m.noisy, epsilon)] += m.times
    parts: list[tuple[Experiment, int]] = []
    if plan.mechanism.noise is Noise.GAUSSIAN:
        psi = math.sqrt(math.fsum(k * t * t for t, k in moved.items()))
        parts += [(gaussian(psi=psi), 1)] if psi else []
    else:
        parts += [(laplace(epsilon=t), k) for t, k in sorted(moved.items()) if t]
    for i, *alone in movement.alone:
        chance = listed(plan, i, epsilon)
        shown = [_shown(chance, k) for k in alone]
        if max(shown) == 1:
            return _certain()
        first, second = shown
        names = Finite.of(np.asarray([first, 0.0, 1 - first]), np.asarray([0.0, second, 1 - second]))
        parts.append((Experiment(names, "names of groups"), 1))
    return together(parts) if parts else None


def _shown(chance: float, groups: int) -> float:
    """The chance that one name of several is published."""
    return 1.0 if chance == 1 and groups else -math.expm1(groups * math.log1p(-chance)) if groups else 0.0


def _certain() -> Experiment:
    """What settles the question by itself: a name that exists because of one person."""
    return Experiment(Finite.of(np.asarray([1.0, 0.0]), np.asarray([0.0, 1.0])), "names of groups")


# -- the largest ε ------------------------------------------------------------------------------------------------


def largest_epsilon(
    facing: Callable[[float], Facing], reading: str, limit: float, arguments: Mapping[str, float], planned: float
) -> float:
    """The largest ε at which the worst reading keeps the limit.

    Each experiment by itself has a largest ε; the least of them is the answer, and few need to be asked: only those
    that break the limit where the others keep it. An envelope may be above all of them, and is searched.
    """

    def one(place: int) -> float:
        return float(
            choose(
                lambda epsilon: facing(epsilon).experiments[place],
                "epsilon",
                at_most=limit,
                reading=reading,
                given=None,
                **dict(arguments),
            ).value
        )

    def values(epsilon: float) -> list[float]:
        return [float(getattr(e, reading)(**arguments)) for e in facing(epsilon).experiments]

    found = one(int(np.argmax(values(planned))))
    while found > 0:
        here = values(found)
        place = int(np.argmax(here))
        if here[place] <= limit:
            break
        found = min(one(place), found * (1 - 1e-12))
    if not found or facing(found).read(reading, arguments) <= limit:
        return found
    low = found / 2
    while facing(low).read(reading, arguments) > limit:
        low /= 2
    return last_safe(lambda epsilon: facing(epsilon).read(reading, arguments) - limit, low, found)
