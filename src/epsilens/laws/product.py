"""Several answers observed together: the product of their laws.

Exact where a closed form exists (normals, a few equal Laplaces, small finite pairs); otherwise the composed privacy
loss with a certified bracket (:mod:`.composition.composed_law`), whose readings are the safe end of it. What is only
known by a bound, a claim say, makes all that contains it a bound: nothing is then known from below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from .. import checks
from ..errors import InputError
from ..readings.law import Exactness, Law
from .composition.composed_law import WIDTH, ComposedLaw
from .composition.product import Product
from .composition.step import Composable, CountedStep, Family, Step
from .envelope import zcdp_envelope
from .finite import MOST_LOSS, Finite, finite_product, joint_step
from .intersection import Intersection, TwoSidedBound, strongest_attack
from .laplace import Laplace
from .laplace_product import is_resolved, laplace_product
from .normal import Normal

_MOST_EXACT = 8  # equal Laplaces; beyond, the exact product takes seconds
_MOST_ATOMS, _MOST_BLURRED = 2048, 200_000  # of a product of finite pairs that is written out


class Factor(NamedTuple):
    """A law, how often it is observed, what readers call it, and whether it is one law, not an array of them."""

    law: Law
    times: int = 1
    name: str = "it"
    single: bool = True


class How(StrEnum):
    """By what a product was found."""

    NOTHING = "nothing"  # no factor depends on the person
    NORMAL = "normal"
    LAPLACE = "laplace"
    FINITE = "finite"
    NUMERIC = "numeric"


_CLOSED_WORDS = {
    How.NOTHING: "nothing here depends on the person",
    How.NORMAL: "normal noise composes to normal noise",
    How.LAPLACE: "{total} equal Laplace answers compose in closed form",
    How.FINITE: "finite pairs compose to a finite pair",
}


@dataclass(frozen=True)
class Composed:
    """A product and the facts about it: ``loose`` names factors known by a bound only, ``worst`` those that enter by
    the worst case of their ε.
    """

    law: Law
    how: How
    total: int
    loose: tuple[str, ...] = ()
    worst: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """How it was computed, in words."""
        only = named([*self.worst, *self.loose])
        said = f", as {only} is only known by one," if only else ""
        below = "nothing is known from below" if self.law.attained is None else "another pair bounds it from below"
        above = f"an upper bound{said} and {below}"
        if self.how is not How.NUMERIC:
            exact = self.how is How.NOTHING or not self.loose
            return f"{_CLOSED_WORDS[self.how].format(total=self.total)}: {'exact' if exact else above}"
        if self.law.known is not Exactness.BOUND:
            told = f"the safe end of a proven bracket, {self.law.width:.3g} wide where that is reached"
            return f"composed numerically: each value is {told}"
        more = f"; {named(self.worst)} enters as the worst case of its ε" if self.worst else ""
        return f"composed numerically: {above}{more}"


def named(names: Iterable[str]) -> str:
    """Names in a sentence, each once."""
    return " and ".join(sorted(set(names)))


def width_of(width: float) -> float:
    """A relative width of brackets, checked."""
    return float(checks.in_range("width", checks.scalar("width", width), 1e-9, 0.5))


def product(factors: Sequence[Factor], width: float | None = None) -> Composed:
    """All factors observed together; with a ``width`` always by a bracket so wide.

    Where a factor is a bound that knows a pair which is attained, so does the product.
    """
    if not all(f.single for f in factors):
        raise InputError("a composition needs single numbers: build each experiment from numbers, not arrays")
    made = _bounded(factors, width)
    if made.law.known is not Exactness.BOUND or not any(f.law.attained for f in factors):
        return made
    return replace(made, law=TwoSidedBound((made.law,), attained=_attained(factors, width)))


def _attained(factors: Sequence[Factor], width: float | None) -> Law:
    """A product that is no riskier: of what is attained, and of what is known well; mere bounds are left out.

    Each attack on a factor is tried with each of the same number on the others.
    """
    known = []
    for f in factors:
        if f.law.attained is not None:
            below = f.law.attained
            known.append((f, below.laws if isinstance(below, Intersection) and below.lower else (below,)))
        elif f.law.known is not Exactness.BOUND and not _bounds(f.law):
            known.append((f, (f.law,)))
    tries = max(len(laws) for _, laws in known)
    made = [_bounded([f._replace(law=laws[i % len(laws)]) for f, laws in known], width).law for i in range(tries)]
    return strongest_attack(tuple(law.other_side() if law.direction == "upper" else law for law in made))


def _bounded(factors: Sequence[Factor], width: float | None) -> Composed:
    loose = tuple(f.name for f in factors if f.law.known is Exactness.BOUND or _bounds(f.law))
    total = sum(f.times for f in factors)
    if width is None and (found := _closed(factors)) is not None:
        law, how = found
        return Composed(law.as_bound() if loose else law, how, total, loose)
    steps = [one for f in factors for one in steps_of(f)]
    worst = tuple(f.name for f in factors if not isinstance(f.law, Composable))
    return certified(steps, width or WIDTH, loose=loose, worst=worst, total=total)


def _bounds(law: Law) -> bool:
    """Whether a law, however well it is known alone, only bounds what it stands for beside others."""
    return isinstance(law, Composable) and any(step.known is Exactness.BOUND for step, _ in law.steps())


def steps_of(factor: Factor) -> list[CountedStep]:
    """The steps of a factor, each with its count; a sentence where there are none."""
    if not factor.single:
        raise InputError("a composition needs single numbers: build each experiment from numbers, not arrays")
    law = factor.law
    if not isinstance(law, Composable):
        worst = float(law.worse_epsilon(np.asarray(0.0)))
        if not math.isfinite(worst):
            raise InputError(
                f"{factor.name} does not compose: its loss has no closed form and no finite epsilon bounds it, "
                "so compose what it was built from"
            )
        if not worst > 0:
            return []
        law = Finite.claim(float(checks.in_range("epsilon", np.asarray(worst), 1e-15, MOST_LOSS)))
    return [(step, k * factor.times) for step, k in law.steps()]


def certified(
    steps: Sequence[CountedStep],
    width: float = WIDTH,
    *,
    loose: tuple[str, ...] = (),
    worst: tuple[str, ...] = (),
    total: int = 1,
) -> Composed:
    """The product of steps, with a bracket; ``loose`` and ``worst`` name mere bounds among what they come from."""
    live = _written_out(_gathered(steps))
    if not live:
        return Composed(Finite(np.zeros(1), np.zeros(1), mirrored=True), How.NOTHING, total, loose, worst)
    law: Law = ComposedLaw(live, width, bound=bool(loose or worst))
    if (other := _concentrated(live, width)) is not None:
        law = Intersection((law, other))
    return Composed(law, How.NUMERIC, total, loose, worst)


def _concentrated(steps: Sequence[CountedStep], width: float) -> Law | None:
    """Another bound on the product: several steps that are ρ-zCDP as the worst that is allowed by the sum of their ρ.

    Of one such step its own law says more.
    """
    claimed = [(step.claimed_zcdp, k) for step, k in steps if math.isfinite(step.claimed_zcdp)]
    rho = math.fsum(k * one for one, k in claimed)
    if sum(k for _, k in claimed) < 2 or rho > MOST_LOSS:
        return None
    law = zcdp_envelope(rho * (1 + 1e-15))
    rest = [(step, k) for step, k in steps if not math.isfinite(step.claimed_zcdp)]
    return ComposedLaw([*rest, *law.steps()], width, bound=True) if rest else law


def _gathered(steps: Sequence[CountedStep]) -> list[CountedStep]:
    """Equal steps together; those of one kin, normal ones, become one.

    Lists of atoms stay apart: to compare thousands of them costs more than it saves.
    """
    equal: dict[Step | int, CountedStep] = {}
    kin: dict[type[Step], list[CountedStep]] = {}
    for step, k in steps:
        if step.merge_class is None:
            key = id(step) if step.support is None else step
            equal[key] = (step, equal[key][1] + k if key in equal else k)
        else:
            kin.setdefault(step.merge_class, []).append((step, k))
    return [*equal.values(), *(one for kind, alike in kin.items() for one in kind.merged(alike))]


def _written_out(steps: list[CountedStep]) -> list[CountedStep]:
    """Finite steps whose atoms share no lattice with the rest as one step, where their product is not too large."""
    rest = [(step, k) for step, k in steps if step.family is not Family.FINITE]
    if len(rest) == len(steps) or Product(steps).unit(0.0) is not None:
        return steps
    most = _MOST_BLURRED // 4 if rest else _MOST_BLURRED  # alone, a list is read as it is
    written = joint_step([(step, k) for step, k in steps if step.family is Family.FINITE], most)
    return steps if written is None else [*rest, (written, 1)]


# -- closed forms of laws that are alike ------------------------------------------------------------------------------


def _closed(factors: Sequence[Factor]) -> tuple[Law, How] | None:
    settled = next((f.law for f in factors if isinstance(f.law, Finite) and not f.law.llr.size and f.law.only1), None)
    if settled is not None:  # no answer is possible in both worlds: nothing beside it adds to that
        return settled, How.FINITE
    families = {f.law.family if isinstance(f.law, Composable) else Family.NONE for f in factors}
    closed = _CLOSED.get(families.pop()) if len(families) == 1 else None
    return closed(factors) if closed else None


def _normals(factors: Sequence[Factor]) -> tuple[Law, How] | None:
    mu = np.sqrt(sum(f.times * np.asarray(f.law.mu) ** 2 for f in factors if isinstance(f.law, Normal)))
    return Normal(np.asarray(mu)), How.NORMAL


def _laplaces(factors: Sequence[Factor]) -> tuple[Law, How] | None:
    total = sum(f.times for f in factors)
    shifts = [float(f.law.m) for f in factors if isinstance(f.law, Laplace) and np.ndim(f.law.m) == 0]
    alike = len(shifts) == len(factors) and len(set(shifts)) == 1
    if not (alike and total <= _MOST_EXACT and is_resolved(shifts[0] * total)):
        return None
    return laplace_product(shifts[0], total), How.LAPLACE


def _finites(factors: Sequence[Factor]) -> tuple[Law, How] | None:
    share = Product([one for f in factors for one in steps_of(f)]).unit(0.0)
    # on a common lattice the transform is exact too, and faster; elsewhere it would blur
    finite = [(f.law, f.times) for f in factors if isinstance(f.law, Finite)]
    written = finite_product(finite, _MOST_ATOMS if share else _MOST_BLURRED)
    return None if written is None else (written, How.FINITE)


_CLOSED: Mapping[Family, Callable[[Sequence[Factor]], tuple[Law, How] | None]] = {
    Family.NORMAL: _normals,
    Family.LAPLACE: _laplaces,
    Family.FINITE: _finites,
}
