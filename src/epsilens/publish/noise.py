"""Noise by OpenDP, on the numbers of a plan, and only where its own account agrees with what was assessed.

OpenDP answers in silence where it should not: infinities and NaN, a scale of 0, values beyond what a double holds
exactly. All of that is checked first. Whole numbers would get geometric noise, and thresholds on them understate δ, so
every number goes in as a double and is rounded afterwards. Its privacy map is then compared with the plan's: for
Laplace noise ε = Δ₁/b, for Gaussian noise ρ = Δ₂²/2σ² (ψ²/2), for names their δ; one that differs publishes nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from ..data.queries import Noise
from ..errors import EpsilensError, require
from ..plan.answers import Label
from ..plan.cells import draws_of, unit_of
from ..plan.contribution import NoisyNumber
from ..plan.model import Release
from ..plan.noise import contribution, name_probability, psi_of
from ..worlds import Relation
from .standalone import double, measurement

_AGREES = 1e-12
#: OpenDP's normal tails have six digits; ours, which the plan uses, have all.
_NAMES_AGREE = {Noise.LAPLACE: 1e-9, Noise.GAUSSIAN: 1e-5}
_ROUNDED = 1e-15  # it finds δ as a difference of numbers near 1


class AccountMismatchError(EpsilensError):
    """OpenDP's account of the noise is not the one that was assessed; nothing was drawn."""


@dataclass(frozen=True)
class Drawing:
    """The noise on one kind of number of one query, in units of that number.

    ``names`` is the threshold where this number decides which groups are named.
    """

    query: int
    noisy: NoisyNumber
    noise: Noise
    scale: float
    unit: Fraction
    sensitivity: float
    promised: float  # ε, or ρ for Gaussian noise
    names: float | None = None
    groups: int = 1  # in which a person may be alone
    moving: int = 1  # whose numbers a person may move
    alone: int = 1
    delta: float = 0.0

    @property
    def terms(self) -> dict[str, object]:
        """As a stand-alone script has it."""
        size = {"scale": self.scale, "unit": float(self.unit), "sensitivity": self.sensitivity}
        names = {"threshold": self.names, "moving": self.moving, "alone": self.alone}
        return {"noise": str(self.noise.value), **size, "promised": self.promised, **names}

    @property
    def record(self) -> dict[str, object]:
        """As the ledger notes it."""
        made = {"query": self.query + 1, "number": self.noisy.value, "noise": self.noise.value}
        size = {"scale": self.plain_scale, "sensitivity": self.sensitivity * float(self.unit), "map": self.promised}
        return {**made, **size, "threshold": self.names, "delta": self.delta}

    @property
    def plain_scale(self) -> float:
        return self.scale * float(self.unit)

    def check(self) -> None:
        """Refuse noise that OpenDP would take in silence, and noise whose account is not the plan's."""
        which = f"query {self.query + 1}"
        if self.scale == 0:
            raise AccountMismatchError(
                f"{which} has noise of scale 0, for its bounds leave nothing to move: widen them"
            )
        if not (0 < self.scale < 1e300 and math.isfinite(self.sensitivity)):
            raise AccountMismatchError(
                f"{which} has noise of scale {self.scale:g}: choose an ε that gives one below 1e300"
            )
        said, delta = self._accounted()
        if not abs(said - self.promised) <= _AGREES * self.promised:
            raise AccountMismatchError(
                f"OpenDP accounts {said:.15g} for {which}, the plan {self.promised:.15g}: nothing is drawn"
            )
        if not abs(delta - self.delta) <= _NAMES_AGREE[self.noise] * self.delta + _ROUNDED * self.groups:
            raise AccountMismatchError(
                f"OpenDP accounts δ = {delta:.12g} for names of {which}, the plan {self.delta:.12g}: nothing is drawn"
            )

    def _accounted(self) -> tuple[float, float]:
        """ε (or ρ) and δ by OpenDP's privacy map."""
        if self.names is None:
            return float(self._measurement.map(self.sensitivity)), 0.0
        # A person who is replaced leaves some groups and enters others: the numbers of both move, but in each of the
        # two worlds only the names of the one kind exist because of them.
        alone = float(self.alone)
        both = self._measurement.map((self.moving, self.sensitivity, alone))
        named = self._measurement.map((self.groups, self.sensitivity, alone))
        return float(both[0]), float(named[1])

    @property
    def _measurement(self) -> Any:
        return _measurement(self.noise, self.scale, self.names)

    def draw(self, numbers: Sequence[Fraction]) -> list[float]:
        """The numbers with noise, in the plan's own terms."""
        # doubles hold whole numbers up to 2⁵³; totals are cut to it, which moves no two of them apart
        values = [double(number) for number in numbers]
        drawn = list(self._measurement(values)) if values else []
        return self._in_plan_units(drawn)

    def draw_names(self, labels: Sequence[Label], numbers: Sequence[Fraction]) -> dict[int, float]:
        """The places of the groups whose noisy number reaches the threshold, with that number."""
        texts = [json.dumps([None if part is None else str(part) for part in label]) for label in labels]
        keys = {text: place for place, text in enumerate(texts)}
        found = self._measurement({key: double(numbers[place]) for key, place in keys.items()})
        told = self._in_plan_units([found[key] for key in sorted(found)])
        return {keys[key]: value for key, value in zip(sorted(found), told, strict=True)}

    def _in_plan_units(self, drawn: Sequence[float]) -> list[float]:
        if not all(math.isfinite(value) for value in drawn):
            raise AccountMismatchError(
                f"the noise of query {self.query + 1} is beyond what a number holds: lower its scale"
            )
        return [value * float(self.unit) for value in drawn]


def drawings_of(plan: Release) -> tuple[Drawing, ...]:
    """All noise of a plan, each part checked."""
    made = tuple(drawing_of(plan, i, noisy) for i in range(len(plan.queries)) for noisy in contribution(plan, i).noisy)
    for drawing in made:
        drawing.check()
    return made


def drawing_of(plan: Release, i: int, noisy: NoisyNumber) -> Drawing:
    """The noise on one kind of number of query i."""
    one, unit = contribution(plan, i), unit_of(plan, i, noisy)
    gaussian, neighbours = plan.mechanism.noise is Noise.GAUSSIAN, plan.mechanism.neighbours
    part = plan.shares[i] * one.part(noisy)
    size = one.sensitivity(noisy, neighbours, 2 if gaussian else 1) / float(unit)
    promised = plan.epsilon * part
    if gaussian:
        promised = psi_of(promised, (plan.mechanism.delta or 0.0) * part) ** 2 / 2
    drawn = draws_of(plan, i)[noisy]
    names, delta = drawn.threshold, 0.0
    if names is not None:
        delta = -math.expm1(one.groups * math.log1p(-name_probability(plan, i, plan.epsilon)))
    scale, moving = drawn.scale / float(unit), one.groups * (2 if neighbours is Relation.REPLACE else 1)
    return Drawing(i, noisy, drawn.noise, scale, unit, size, promised, names, one.groups, moving, one.owner_size, delta)


@cache
def _measurement(noise: Noise, scale: float, threshold: float | None) -> Any:
    require("opendp.prelude", "drawing noise", "release")
    return measurement(noise.value, scale, threshold)
