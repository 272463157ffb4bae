"""One of several steps, and the adversary is told which.

P = Σw·P_i and Q = Σw·Q_i on disjoint copies of their outcomes: the loss of each outcome is that of its own step, the
masses are weighed. Profiles, moments and divergences are weighted sums; lattices of the steps on common points add up
to one of the whole, from above and from below. x is the loss itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ...checks import Array
from ...readings.law import Exactness
from .lattice import Lattice, LatticeSide
from .quadrature import Nodes
from .step import Atoms, Step, Tilting, unknown_group

_U = 2.0**-53
_UNSEEN = -690.0  # log mass


@dataclass(frozen=True)
class LabelledMixture(Step):
    """Steps with their probabilities. It bounds what does not show which of them was taken."""

    parts: tuple[tuple[Step, float], ...]

    @property
    def components(self) -> tuple[tuple[Step, float], ...]:
        return self.parts

    @cached_property
    def atoms(self) -> Atoms:
        each = [(step.atoms, share) for step, share in self.parts]
        return Atoms(
            np.concatenate([a.loss for a, _ in each]),
            np.concatenate([a.log_p + math.log(share) for a, share in each]),
            math.fsum(share * a.only0 for a, share in each),
            math.fsum(share * a.only1 for a, share in each),
        )

    @property
    def support(self) -> tuple[float, float]:
        return self.loss_range

    @cached_property
    def loss_range(self) -> tuple[float, float]:
        return min(step.loss_range[0] for step, _ in self.parts), max(step.loss_range[1] for step, _ in self.parts)

    @property
    def symmetric(self) -> bool:
        return all(step.symmetric for step, _ in self.parts)

    @property
    def rho(self) -> float:
        return max(step.rho for step, _ in self.parts)

    @cached_property
    def cost(self) -> float:
        return math.fsum(step.cost for step, _ in self.parts)

    def loss(self, x: Array) -> Array:
        return np.asarray(x, dtype=float)

    def slope(self, x: Array) -> Array:
        return np.ones(np.shape(x))

    def inverse_loss(self, loss: Array) -> Array:
        return np.asarray(loss, dtype=float)

    def log_p0(self, x: Array) -> Array:
        """The weighted sum of the steps' densities over their slopes."""
        x = np.asarray(x, dtype=float)
        found = []
        for step, share in self.parts:
            inside = (x > step.loss_range[0]) & (x < step.loss_range[1])
            at = step.inverse_loss(np.where(inside, x, 0.0))
            with np.errstate(divide="ignore"):
                density = step.log_p0(at) - np.log(step.slope(at)) + math.log(share)
            found.append(np.where(inside, density, -np.inf))
        return np.asarray(logsumexp(np.stack(found), axis=0))

    def roughness(self, x: Array) -> Array:
        return self._most(x, lambda step, at: step.roughness(at) * (1 + 1 / np.maximum(step.slope(at), 1e-300)))

    def error(self, x: Array) -> Array:
        return self._most(x, lambda step, at: step.error(at))

    def _most(self, x: Array, read: Callable[[Step, Array], Array]) -> Array:
        x = np.asarray(x, dtype=float)
        found = []
        for step, _ in self.parts:
            inside = (x > step.loss_range[0]) & (x < step.loss_range[1])
            found.append(np.where(inside, read(step, step.inverse_loss(np.where(inside, x, 0.0))), 0.0))
        return np.asarray(np.max(found, axis=0))

    def above(self, x: float) -> tuple[float, float]:
        return self._summed([_above(step, x) for step, _ in self.parts])

    def below(self, x: float) -> tuple[float, float]:
        return self._summed([_below(step, x) for step, _ in self.parts])

    def _summed(self, logs: Sequence[tuple[float, float]]) -> tuple[float, float]:
        weights = [math.log(share) for _, share in self.parts]
        p, q = (float(np.logaddexp.reduce([w + one[i] for w, one in zip(weights, logs, strict=True)])) for i in (0, 1))
        return p, q

    def cutoffs(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        ends = [step.loss(np.asarray(step.cutoffs(log_top, log_bottom))) for step, _ in self.parts]
        return min(float(one[0]) for one in ends), max(float(one[1]) for one in ends)

    def log_moment(self, power: float) -> float:
        each = [step.log_moment(power) for step, _ in self.parts]
        if max(abs(one) for one in each) > 1:
            return float(logsumexp(each, b=[share for _, share in self.parts]))
        return math.log1p(math.fsum(share * math.expm1(one) for one, (_, share) in zip(each, self.parts, strict=True)))

    def moment_growth(self, power: float) -> tuple[float, float]:
        """That of the largest, but for the logarithm of its share over the order."""
        each = [(*step.moment_growth(power), math.log(share) / abs(power)) for step, share in self.parts]
        return max(max(low + share for low, _, share in each), 0.0), max(high for _, high, _ in each)

    def kl(self) -> float:
        return math.fsum(share * step.kl() for step, share in self.parts)

    def reverse_kl(self) -> float:
        return math.fsum(share * step.reverse_kl() for step, share in self.parts)

    def kl_bound(self) -> float:
        return self.kl() + self.reverse_kl()

    def psi(self) -> float:
        """The largest: a normal shift that dominates each step dominates them told apart."""
        return max(step.psi() for step, _ in self.parts)

    @property
    def psi_limit(self) -> float:
        """The largest: where hardly anyone is flagged, all of these may be in one step."""
        return max(step.psi_limit for step, _ in self.parts)

    @property
    def known(self) -> Exactness:
        """The adversary is told what they would not see."""
        return Exactness.BOUND

    @property
    def sampled(self) -> bool:
        return any(step.sampled for step, _ in self.parts)

    def group(self, size: int) -> Step:
        raise unknown_group("told")


def _above(step: Step, loss: float) -> tuple[float, float]:
    """(log P, log Q) of the continuous part with a larger loss."""
    assert step.support is not None
    low, high = step.loss_range
    if loss >= high:
        return -math.inf, -math.inf
    return step.above(float(step.inverse_loss(np.asarray(loss))) if loss > low else step.support[0])


def _below(step: Step, loss: float) -> tuple[float, float]:
    """(log P, log Q) of the continuous part with a smaller loss."""
    assert step.support is not None
    low, high = step.loss_range
    if loss <= low:
        return -math.inf, -math.inf
    return step.below(float(step.inverse_loss(np.asarray(loss))) if loss < high else step.support[1])


def inside(step: Step, losses: tuple[float, float]) -> tuple[float, float]:
    """Where one of the steps lies between two losses; what doubles do not hold is left out."""
    far, (low, high) = step.cutoffs(_UNSEEN, _UNSEEN), step.loss_range
    first = float(step.inverse_loss(np.asarray(losses[0]))) if losses[0] > low else -math.inf
    last = float(step.inverse_loss(np.asarray(losses[1]))) if losses[1] < high else math.inf
    return max(first, far[0]), min(last, far[1])


class TiltedMixture:
    """Tilted laws told apart: a mixture of them, each by its share of what the tilt makes likely."""

    uncut = False

    def __init__(self, parts: Sequence[tuple[Tilting, float]]) -> None:
        logs = np.asarray([math.log(share) + law.log_scale for law, share in parts])
        self.log_scale = float(np.logaddexp.reduce(logs))
        self.laws = [
            (law, float(weight)) for (law, _), weight in zip(parts, np.exp(logs - self.log_scale), strict=True)
        ]
        self.nodes = sum(law.nodes for law, _ in parts)
        self.mean = math.fsum(weight * law.mean for law, weight in self.laws)
        self.kappa = max(law.kappa for law, _ in parts) + 4 * _U * abs(self.mean)
        self.rho = max(law.rho for law, _ in parts) + 1e-15
        self.rho_beside = max(law.rho_beside for law, _ in parts) + 1e-15

    @property
    def variance(self) -> float:
        return math.fsum(weight * (law.variance + (law.mean - self.mean) ** 2) for law, weight in self.laws)

    def log_moment(self, s: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(
                np.logaddexp.reduce([np.log(weight) + law.log_moment(s) for law, weight in self.laws], axis=0)
            )

    def transform(self, h: float, count: int) -> Any:
        """E e^{inh(L − mean)} for n < count."""
        angle = h * np.arange(count)
        return sum(
            weight * np.exp(1j * angle * (law.mean - self.mean)) * law.transform(h, count) for law, weight in self.laws
        )

    def decay(self, y: Array) -> Array:
        """A bound on the size of the characteristic function that falls: the weighted sum."""
        return np.asarray(sum(weight * law.decay(y) for law, weight in self.laws))


def added_nodes(parts: Sequence[tuple[Nodes, float]]) -> Nodes:
    """Quadrature of steps told apart."""
    return Nodes(
        np.concatenate([one.loss for one, _ in parts]),
        np.concatenate([one.log_p + math.log(share) for one, share in parts]),
        math.fsum(share * one.only0 for one, share in parts),
        math.fsum(share * one.only1 for one, share in parts),
    )


def added_lattices(parts: Sequence[tuple[Lattice, float]]) -> Lattice:
    """Lattices on the same points, of steps told apart: sums of upper (lower) sides are upper (lower) sides."""
    first = parts[0][0]

    def side(of: Callable[[Lattice], LatticeSide]) -> LatticeSide:
        sides = [(of(one), share) for one, share in parts]
        start = min(s.start for s, _ in sides)
        total = np.full(max(s.start + s.log_p.size for s, _ in sides) - start, -np.inf)
        for s, share in sides:
            here = slice(s.start - start, s.start - start + s.log_p.size)
            total[here] = np.logaddexp(total[here], s.log_p + math.log(share))
        only0, only1, leak = (math.fsum(w * getattr(s, name) for s, w in sides) for name in ("only0", "only1", "leak"))
        return LatticeSide(start, total, only0, only1, leak)

    return Lattice(
        first.c,
        first.dt,
        side(lambda one: one.upper),
        side(lambda one: one.lower),
        side(lambda one: one.upper_back),
        side(lambda one: one.lower_back),
        max(one.kappa for one, _ in parts),
        max(one.rho for one, _ in parts) + 1e-15,
        all(one.exact for one, _ in parts),
    )
