"""One movement at one ε: the two laws an adversary faces, with δ(ε) in closed form wherever there is one.

The noisy numbers move by t scales of their noise: a product of Laplace laws (:mod:`epsilens.laws.laplace_product`),
or
a normal one with ψ = ‖t‖₂. Beside them the names of groups that exist because of the person may be published, with the
chance q₀ in the first world and q₁ in the second, which settles the question. With both, for any ε,

    E₁[(1 − e^{ε−L})₊] = q₁ + (1 − q₁)·δ(ε + log((1 − q₀)/(1 − q₁))).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import log_ndtr

from ..data.queries import Noise
from ..experiment import Experiment, compose_counted
from ..laws.finite import Finite
from ..laws.laplace_product import has_closed_form, laplace_vector_delta
from ..mechanisms.noise import gaussian, laplace
from ..plan.contribution import Noisy
from ..plan.movement import Movement
from ..plan.noise import scale_of, unlisted
from ..plan.plan import Release


@dataclass(frozen=True)
class Faced:
    """Laplace numbers moved by ``shifts`` (how far, how many), or a normal law moved by ``psi``, and names published
    with the chances ``first`` and ``second`` in the two worlds.
    """

    shifts: tuple[tuple[float, int], ...] = ()
    psi: float = 0.0
    first: float = 0.0
    second: float = 0.0

    @property
    def closed(self) -> bool:
        """Whether δ has a closed form."""
        return not self.shifts or has_closed_form(self.shifts)

    @property
    def certain(self) -> bool:
        """Whether the question is always settled."""
        return self.first == 1 or self.second == 1

    @property
    def reach(self) -> float:
        """The largest loss in favour of the second world; infinite where some answer leaves no doubt."""
        if self.psi or self.second or self.certain:
            return math.inf
        return math.fsum(t * k for t, k in self.shifts) - math.log1p(-self.first)

    def reverse(self) -> Faced:
        """The same with the worlds exchanged."""
        return Faced(self.shifts, self.psi, self.second, self.first)

    def beyond(self, epsilon: float) -> float:
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


def faced(plan: Release, movement: Movement, epsilon: float) -> Faced | None:
    """What one movement is at a total ε; None where nothing moves."""
    moved = Counter[float]()
    scales: dict[tuple[int, Noisy], float] = {}
    for m in movement.moves:
        which = m.query, m.noisy
        if which not in scales:
            scales[which] = scale_of(plan, *which, epsilon)
        moved[m.amount / scales[which]] += m.times
    hidden = [0.0, 0.0]  # the logarithm of the chance that no name is published
    for i, *alone in movement.alone:
        for world, places in enumerate(alone):
            hidden[world] += unlisted(plan, i, epsilon, places, movement.people)
    first, second = (-math.expm1(h) for h in hidden)
    shifts = tuple(sorted((t, k) for t, k in moved.items() if t))
    if not shifts and not first and not second:
        return None
    if plan.mechanism.noise is Noise.GAUSSIAN:
        return Faced((), math.sqrt(math.fsum(k * t * t for t, k in shifts)), first, second)
    return Faced(shifts, 0.0, first, second)
