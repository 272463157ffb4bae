"""Steps with their counts: what is known of a product before anything is asked, and the lattices made of its steps."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np

from .grid_product import grid_profile
from .lattice import Lattice, added_lattices, discretise
from .step import CountedStep, Step, at_least_one
from .tilt import Query, common_unit, reach_of

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
_ORIGIN_SHIFT = 1e-12  # of a lattice's origin
_NEGLIGIBLE_LOG = -80.0  # a log probability that does not count beside a total variation
_MOST_MOMENTS = 256  # kept
MOST_PAIRS = 2**24  # of points, for one question


class BoundedCache(dict[K, V]):
    """What was made last, at most so much of it; no answer depends on what it happens to hold."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        if key not in self:
            made = make()
            while len(self) >= self.most:
                del self[next(iter(self))]
            self[key] = made
        return self[key]


class Product:
    """Steps with their counts, and the lattices made of them."""

    def __init__(self, steps: Sequence[CountedStep]) -> None:
        self.steps = tuple(steps)
        self.count = sum(k for _, k in self.steps)
        self._lattices: dict[tuple[int, bool, bool], list[tuple[tuple[float, float, float], Lattice]]] = {}
        self._moments: BoundedCache[float, float] = BoundedCache(_MOST_MOMENTS)

    def log_moment(self, power: float) -> float:
        """log ∫dH1^a dH0^{1−a}, which multiplies."""
        return self._moments.get_or_make(power, lambda: math.fsum(k * step.log_moment(power) for step, k in self.steps))

    def moment_growth(self, power: float) -> tuple[float, float]:
        """Ends of log ∫dH1^a dH0^{1−a}/|a| at |a| > 1e100, which add up; the lower one a double."""
        each = [(*step.moment_growth(power), k) for step, k in self.steps]
        low, high = sum(k * low for low, _, k in each), sum(k * high for _, high, k in each)
        return (low if any(math.isinf(low) for low, _, _ in each) else min(low, sys.float_info.max)), high

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
    def cost(self) -> float:
        """What a place of its dearest step costs to look at."""
        return max((step.cost for step, _ in self.steps), default=1.0)

    @cached_property
    def symmetric(self) -> bool:
        """Whether both orders have the same trade-off."""
        return all(step.symmetric for step, _ in self.steps)

    @cached_property
    def moment_error(self) -> float:
        """The largest of the steps' errors: moments multiply."""
        return max((step.moment_error for step, _ in self.steps), default=0.0)

    @cached_property
    def pinsker(self) -> float:
        """A δ at which ε = 0 surely holds, TV² ≤ KL/2 (Pinsker).

        Divergences add up in one order, and a step bounds its own in either. Where those may be of different orders,
        TV² ≤ 1 − BC² ≤ 1 − e^{−KL} (Bretagnolle and Huber) stands in: BC ≥ e^{−KL/2} holds in both, and BC multiplies.
        """
        total = math.fsum(k * step.kl_bound() for step, k in self.steps)
        one_order = sum(not step.symmetric for step, _ in self.steps) <= 1
        return math.sqrt(total / 2 if one_order else -math.expm1(-total)) * (1 + 1e-9)

    @cached_property
    def nothing(self) -> float:
        """A δ at which ε = 0 surely holds; of atoms alone the total variation is at hand, too."""
        alone = all(step.support is None and not step.components for step, _ in self.steps)
        return min(self.pinsker, self.most * (1 + 1e-9)) if alone else self.pinsker

    @cached_property
    def most(self) -> float:
        """1 − Π(1 − TV)^k ≥ TV: with the rest nothing can be told, however the steps come together."""
        apart = []
        for step, k in self.steps:
            alone = grid_profile([(step, 1)], False, 0.1, Query("delta", 0.0), 0.1, _NEGLIGIBLE_LOG, None, MOST_PAIRS)
            apart.append((math.exp(float(alone.delta(np.zeros(1))[1][0])) if alone is not None else 1.0, k))
        return at_least_one(apart)

    @cached_property
    def at_top(self) -> float:
        """H1-mass of losses at +∞."""
        return at_least_one((step.atoms.only1, k) for step, k in self.steps)

    @cached_property
    def at_bottom(self) -> float:
        """H0-mass of losses at −∞."""
        return at_least_one((step.atoms.only0, k) for step, k in self.steps)

    @cached_property
    def loss_range(self) -> tuple[float, float]:
        """The infimum and the supremum of the loss."""
        low = math.fsum(k * step.loss_range[0] for step, k in self.steps)
        return low, math.fsum(k * step.loss_range[1] for step, k in self.steps)

    @cached_property
    def finite_ends(self) -> tuple[float, float]:
        """The same, of what does not lie at ±∞."""
        pairs = [(*_finite_ends(step), k) for step, k in self.steps]
        return math.fsum(k * low for low, _, k in pairs), math.fsum(k * high for _, high, k in pairs)

    def unit(self, finest: float) -> float | None:
        """The largest spacing that puts every atom on the lattice, each law about its own origin."""
        return common_unit(self._gaps, finest) if self._gaps else None

    @cached_property
    def uneven_atoms(self) -> int:
        """How many steps are atoms alone, of which no spacing puts all on one lattice."""
        if self.unit(0.0) is not None:
            return 0
        return sum(k for step, k in self.steps if step.support is None and step.atoms.loss.size > 1)

    def extent(self, cut: tuple[float, float], most: float) -> float:
        """The ranges of the steps' losses together, cut off there; of those that are not atoms alone."""
        moving = [step for step, _ in self.steps if step.support is not None]
        return math.fsum(float(np.ptp(step.loss(np.asarray(reach_of(step, cut, most))))) for step in moving)

    @property
    def atom_range(self) -> float:
        """The ranges of the losses of steps that are atoms alone, likewise."""
        lists = [step.atoms.loss for step, _ in self.steps if step.support is None]
        return math.fsum(float(np.ptp(loss)) for loss in lists if loss.size)

    def lattice(
        self, index: int, flipped: bool, dt: float, cut: tuple[float, float], most: float, rounded: bool = False
    ) -> Lattice:
        """One step on a lattice, kept for the next question; atoms alone may be ``rounded``."""
        rounded = rounded and self.steps[index][0].support is None
        known = self._lattices.setdefault((index, flipped, rounded), [])
        for reached, lattice in known:  # no other will do: an answer shall not depend on what was asked before
            if lattice.dt == dt and reached == (*cut, most):
                return lattice
        step = self.steps[index][0]
        losses = step.atoms.loss
        c = float(losses.min()) if losses.size else _origin(step, flipped, dt)
        made = _discretised(step, dt, c, cut, most, rounded)
        known.append(((*cut, most), made))
        del known[:-4]
        return made


def _discretised(step: Step, dt: float, c: float, cut: tuple[float, float], most: float, rounded: bool) -> Lattice:
    if step.components:
        return added_lattices([(_discretised(one, dt, c, cut, most, rounded), share) for one, share in step.components])
    reach = reach_of(step, cut, most)
    return discretise(step, dt, c, reach, reach[1] < step.cutoffs(*cut)[1], rounded)


def _origin(step: Step, flipped: bool, dt: float) -> float:
    """Where a bounded loss has the mass next to its end, so that this is on the lattice; 0 where it has no end.

    A hair to the side where the lower side of this order can drop the difference.
    """
    low, high = step.loss_range
    if math.isfinite(low):
        p, q = step.below(float(step.inverse_loss(np.asarray(low + dt / 2))))
    elif math.isfinite(high):
        p, q = step.above(float(step.inverse_loss(np.asarray(high - dt / 2))))
    else:
        return 0.0
    return p - q + (_ORIGIN_SHIFT if flipped else -_ORIGIN_SHIFT) if math.isfinite(p) and math.isfinite(q) else 0.0


def _finite_ends(step: Step) -> tuple[float, float]:
    losses = step.atoms.loss
    if step.support is None and losses.size:
        return float(losses.min()), float(losses.max())
    return step.loss_range
