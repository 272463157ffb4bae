"""Several answers observed together: the product of their laws.

Exact where a closed form exists (normals, a few equal Laplaces, small finite pairs); otherwise the composed privacy
loss with a certified bracket (:mod:`.composition.composed_law`), whose readings are the safe end of it. What is only
known by a bound, a claim say, makes all that contains it a bound: nothing is then known from below. Lemma C1 of
docs/proofs/composition.md is why parts may be bounded one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple, Self

import numpy as np

from .. import checks
from ..checks import Array
from ..errors import InputError
from ..readings.law import Exactness, Law
from .composition.composed_law import WIDTH, ComposedLaw
from .composition.evaluator import Product
from .composition.step import Composable, CountedStep, Family, Step
from .envelope import zcdp_envelope
from .finite import MOST_LOSS, Finite, finite_product, joint_step
from .laplace import Laplace, is_resolved, laplace_product
from .normal import Normal, NormalStep

# One release of which more than one law is known: bounds from above, attacks that work from below.
#
# Theorem C18. If f ≥ f_i for every i, then f ≥ max f_i, which is a trade-off curve again. So every reading of the
# release is at most the least of the readings of these laws, whichever of them that is: δ(ε) at one ε may be known best
# by one bound and at another ε by the other. TPR(α) ≤ δ(t) + e^t·α holds between the least of both, as between those of
# each. Of attacks every reading is at least the largest. ``TwoSidedBound`` is a bound that knows one; composed with
# other releases both ends are composed.

_PARTS = 3  # of what a reading may cost: one for each end, and what each costs beside its lattices


def _reading(name: str, *, falls: bool = False, either_order: bool = False) -> Callable[..., Array]:
    """The reading of this name of the least risky law, or of the riskiest where they bound from below."""

    def read(self: Intersection, *given: Array | float) -> Array:
        values = [getattr(law, name)(*given) for law in (self._distinct if either_order else self.laws)]
        return np.asarray((np.max if self.lower != falls else np.min)(values, axis=0))

    return read


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Intersection(Composable):
    """Several laws, each at least as risky as what they stand for: every reading takes the least risky one.

    With ``lower`` each is at most as risky, and given from its own lower side: every reading takes the riskiest. The
    first law says of which steps all that is made.
    """

    laws: tuple[Law, ...]
    lower: bool = field(default=False, kw_only=True)
    known: Exactness = field(default=Exactness.BOUND, kw_only=True)

    def steps(self) -> tuple[CountedStep, ...]:
        first = self.laws[0]
        return first.steps() if isinstance(first, Composable) else ()

    @property
    def direction(self) -> str:
        return "lower" if self.lower else "upper"

    def sharing(self, of: int) -> Self:
        laws = tuple(law.sharing(of) if isinstance(law, Composable) else law for law in self.laws)
        return self if all(a is b for a, b in zip(laws, self.laws, strict=True)) else replace(self, laws=laws)

    @property
    def _distinct(self) -> list[Law]:
        """Of two laws that are each other's reverse one: for what is the same in either order."""
        distinct: list[Law] = []
        for law in self.laws:
            if not any(law == one.reverse() for one in distinct):
                distinct.append(law)
        return distinct

    # -- brackets -------------------------------------------------------------------------------------------------

    @property
    def width(self) -> float:
        return max(law.width for law in self.laws)

    def with_width(self, width: float) -> Self:
        return replace(self, laws=tuple(law.with_width(width) for law in self.laws))

    @property
    def reached(self) -> bool:
        return all(law.reached for law in self.laws)

    # -- the pair -------------------------------------------------------------------------------------------------

    @property
    def symmetric(self) -> bool:
        return all(law.symmetric for law in self.laws)

    @property
    def only1(self) -> float:
        return (max if self.lower else min)(law.only1 for law in self.laws)

    def reverse(self) -> Self:
        return replace(self, laws=tuple(law.reverse() for law in self.laws))

    def at(self, log_threshold: Array) -> tuple[Array, Array]:
        """That of the law whose profile is taken there."""
        pick = np.argmax if self.lower else np.argmin
        best = pick([law.profile(log_threshold) for law in self.laws], axis=0)[None]
        pairs = [law.at(log_threshold) for law in self.laws]
        alpha, recall = (np.take_along_axis(np.asarray([p[i] for p in pairs]), best, axis=0)[0] for i in (0, 1))
        return alpha, recall

    def log_moment(self, a: Array) -> Array:
        """Risk is how far it lies from 0: above outside [0, 1], below inside."""
        values = [law.log_moment(a) for law in self.laws]
        least, most = np.min(values, axis=0), np.max(values, axis=0)
        inside = (np.asarray(a) > 0) & (np.asarray(a) < 1)
        return np.asarray(np.where(inside, least, most) if self.lower else np.where(inside, most, least))

    # what falls as risk grows
    tradeoff = _reading("tradeoff", falls=True)
    inverse_roc = _reading("inverse_roc", falls=True)
    # what grows with it
    roc = _reading("roc")
    profile = _reading("profile")
    profile_inverse = _reading("profile_inverse")
    worse_delta = _reading("worse_delta")
    worse_epsilon = _reading("worse_epsilon")
    max_llr = _reading("max_llr")
    far_renyi = _reading("far_renyi")
    kl = _reading("kl")
    fbeta = _reading("fbeta")
    auc = _reading("auc", either_order=True)
    psi = _reading("psi", either_order=True)
    practical = _reading("practical", either_order=True)


def strongest_attack(laws: tuple[Law, ...]) -> Intersection:
    """What several attacks together show, each given from its lower side.

    >>> from .normal import Normal, NormalStep
    >>> round(float(strongest_attack((Normal(np.asarray(1.0)), Normal(np.asarray(2.0)))).auc()), 4)
    0.9214
    """
    return Intersection(laws, lower=True, known=Exactness.ROUNDED)


def _half_cost(law: Law) -> Law:
    """One end: both are asked for a bracket, which is one reading."""
    return law.sharing(_PARTS) if isinstance(law, Composable) else law


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TwoSidedBound(Intersection):
    """Bounds from above, of which the smallest is read; ``attained`` is what is known from below.

    >>> from .normal import Normal, NormalStep
    >>> ends = TwoSidedBound((Normal(np.asarray(2.0), known=Exactness.BOUND),), attained=Normal(np.asarray(1.0)))
    >>> round(float(ends.auc()), 4), round(float(ends.attained.auc()), 4)
    (0.9214, 0.7602)
    """

    attained: Law | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "laws", tuple(_half_cost(law) for law in self.laws))
        object.__setattr__(self, "attained", None if self.attained is None else _half_cost(self.attained))

    def reverse(self) -> Self:
        turned = None if self.attained is None else self.attained.reverse()
        return replace(self, laws=tuple(law.reverse() for law in self.laws), attained=turned)


_MOST_EXACT = 8  # equal Laplaces; beyond, the exact product takes seconds
_MOST_ATOMS, _MOST_BLURRED = 2048, 200_000  # of a product of finite pairs that is written out


class ProductFactor(NamedTuple):
    """A law, how often it is observed, what readers call it, and whether it is one law, not an array of them."""

    law: Law
    times: int = 1
    name: str = "it"
    single: bool = True


class CompositionMethod(StrEnum):
    """By what a product was found."""

    NOTHING = "nothing"  # no factor depends on the person
    NORMAL = "normal"
    LAPLACE = "laplace"
    FINITE = "finite"
    NUMERIC = "numeric"


_CLOSED_WORDS = {
    CompositionMethod.NOTHING: "nothing here depends on the person",
    CompositionMethod.NORMAL: "normal noise composes to normal noise",
    CompositionMethod.LAPLACE: "{total} equal Laplace answers compose in closed form",
    CompositionMethod.FINITE: "finite pairs compose to a finite pair",
}


@dataclass(frozen=True)
class CompositionResult:
    """A product and the facts about it: ``loose`` names factors known by a bound only, ``worst`` those that enter by
    the worst case of their ε.
    """

    law: Law
    how: CompositionMethod
    total: int
    loose: tuple[str, ...] = ()
    worst: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """How it was computed, in words."""
        only = join_names([*self.worst, *self.loose])
        said = f", as {only} is only known by one," if only else ""
        below = "nothing is known from below" if self.law.attained is None else "another pair bounds it from below"
        above = f"an upper bound{said} and {below}"
        if self.how is not CompositionMethod.NUMERIC:
            exact = self.how is CompositionMethod.NOTHING or not self.loose
            return f"{_CLOSED_WORDS[self.how].format(total=self.total)}: {'exact' if exact else above}"
        if self.law.known is not Exactness.BOUND:
            bracket = f"the safe end of a proven bracket, {self.law.width:.3g} wide where that is reached"
            return f"composed numerically: each value is {bracket}"
        more = f"; {join_names(self.worst)} enters as the worst case of its ε" if self.worst else ""
        return f"composed numerically: {above}{more}"


def join_names(names: Iterable[str]) -> str:
    """Names in a sentence, each once."""
    return " and ".join(sorted(set(names)))


def width_of(width: float) -> float:
    """A relative width of brackets, checked."""
    return float(checks.in_range("width", checks.scalar("width", width), 1e-9, 0.5))


def product(factors: Sequence[ProductFactor], width: float | None = None) -> CompositionResult:
    """All factors observed together; with a ``width`` always by a bracket so wide.

    Where a factor is a bound that knows a pair which is attained, so does the product.
    """
    if not all(f.single for f in factors):
        raise InputError("a composition needs single numbers: build each experiment from numbers, not arrays")
    result = _compose_bounded(factors, width)
    if result.law.known is not Exactness.BOUND or not any(f.law.attained for f in factors):
        return result
    return replace(result, law=TwoSidedBound((result.law,), attained=_attained_law(factors, width)))


def _attained_law(factors: Sequence[ProductFactor], width: float | None) -> Law:
    """A product that is no riskier: of what is attained, and of what is known well; mere bounds are left out.

    Each attack on a factor is tried with each of the same number on the others.
    """
    known = []
    for f in factors:
        if f.law.attained is not None:
            below = f.law.attained
            known.append((f, below.laws if isinstance(below, Intersection) and below.lower else (below,)))
        elif f.law.known is not Exactness.BOUND and not _is_bound(f.law):
            known.append((f, (f.law,)))
    tries = max(len(laws) for _, laws in known)
    result = [
        _compose_bounded([f._replace(law=laws[i % len(laws)]) for f, laws in known], width).law for i in range(tries)
    ]
    return strongest_attack(tuple(law.other_side() if law.direction == "upper" else law for law in result))


def _compose_bounded(factors: Sequence[ProductFactor], width: float | None) -> CompositionResult:
    loose = tuple(f.name for f in factors if f.law.known is Exactness.BOUND or _is_bound(f.law))
    total = sum(f.times for f in factors)
    if width is None and (result := _closed_form(factors)) is not None:
        law, how = result
        return CompositionResult(law.as_bound() if loose else law, how, total, loose)
    steps = [one for f in factors for one in factor_steps(f)]
    worst = tuple(f.name for f in factors if not isinstance(f.law, Composable))
    return compose_steps(steps, width or WIDTH, loose=loose, worst=worst, total=total)


def _is_bound(law: Law) -> bool:
    """Whether a law, however well it is known alone, only bounds what it stands for beside others."""
    return isinstance(law, Composable) and any(step.known is Exactness.BOUND for step, _ in law.steps())


def factor_steps(factor: ProductFactor) -> list[CountedStep]:
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


def compose_steps(
    steps: Sequence[CountedStep],
    width: float = WIDTH,
    *,
    loose: tuple[str, ...] = (),
    worst: tuple[str, ...] = (),
    total: int = 1,
) -> CompositionResult:
    """The product of steps, with a bracket; ``loose`` and ``worst`` name mere bounds among what they come from."""
    live = _join_finite_steps(_merge_steps(steps))
    if not live:
        return CompositionResult(
            Finite(np.zeros(1), np.zeros(1), mirrored=True), CompositionMethod.NOTHING, total, loose, worst
        )
    law: Law = ComposedLaw(live, width, bound=bool(loose or worst))
    if (other := _concentrated_bound(live, width)) is not None:
        law = Intersection((law, other))
    return CompositionResult(law, CompositionMethod.NUMERIC, total, loose, worst)


def _concentrated_bound(steps: Sequence[CountedStep], width: float) -> Law | None:
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


def _merge_steps(steps: Sequence[CountedStep]) -> list[CountedStep]:
    """Equal steps together; normal ones become one, μ² = Σkμ².

    Lists of atoms stay apart: to compare thousands of them costs more than it saves.
    """
    equal: dict[Step | int, CountedStep] = {}
    squares = [k * step.shift**2 for step, k in steps if step.family is Family.NORMAL]
    for step, k in steps:
        if step.family is not Family.NORMAL:
            key = id(step) if step.support is None else step
            equal[key] = (step, equal[key][1] + k if key in equal else k)
    return [*equal.values(), *([(NormalStep(math.sqrt(sum(squares))), 1)] if sum(squares) > 0 else [])]


def _join_finite_steps(steps: list[CountedStep]) -> list[CountedStep]:
    """Finite steps whose atoms share no lattice with the rest as one step, where their product is not too large."""
    rest = [(step, k) for step, k in steps if step.family is not Family.FINITE]
    if len(rest) == len(steps) or Product(steps).unit(0.0) is not None:
        return steps
    most = _MOST_BLURRED // 4 if rest else _MOST_BLURRED  # alone, a list is read as it is
    written = joint_step([(step, k) for step, k in steps if step.family is Family.FINITE], most)
    return steps if written is None else [*rest, (written, 1)]


# -- closed forms of laws that are alike ------------------------------------------------------------------------------


def _closed_form(factors: Sequence[ProductFactor]) -> tuple[Law, CompositionMethod] | None:
    settled = next((f.law for f in factors if isinstance(f.law, Finite) and not f.law.llr.size and f.law.only1), None)
    if settled is not None:  # no answer is possible in both worlds: nothing beside it adds to that
        return settled, CompositionMethod.FINITE
    families = {f.law.family if isinstance(f.law, Composable) else Family.NONE for f in factors}
    closed = _CLOSED.get(families.pop()) if len(families) == 1 else None
    return closed(factors) if closed else None


def _normals(factors: Sequence[ProductFactor]) -> tuple[Law, CompositionMethod] | None:
    mu = np.sqrt(sum(f.times * np.asarray(f.law.mu) ** 2 for f in factors if isinstance(f.law, Normal)))
    return Normal(np.asarray(mu)), CompositionMethod.NORMAL


def _laplaces(factors: Sequence[ProductFactor]) -> tuple[Law, CompositionMethod] | None:
    total = sum(f.times for f in factors)
    shifts = [float(f.law.m) for f in factors if isinstance(f.law, Laplace) and np.ndim(f.law.m) == 0]
    alike = len(shifts) == len(factors) and len(set(shifts)) == 1
    if not (alike and total <= _MOST_EXACT and is_resolved(shifts[0] * total)):
        return None
    return laplace_product(shifts[0], total), CompositionMethod.LAPLACE


def _finites(factors: Sequence[ProductFactor]) -> tuple[Law, CompositionMethod] | None:
    share = Product([one for f in factors for one in factor_steps(f)]).unit(0.0)
    # on a common lattice the transform is exact too, and faster; elsewhere it would blur
    finite = [(f.law, f.times) for f in factors if isinstance(f.law, Finite)]
    written = finite_product(finite, _MOST_ATOMS if share else _MOST_BLURRED)
    return None if written is None else (written, CompositionMethod.FINITE)


_CLOSED: Mapping[Family, Callable[[Sequence[ProductFactor]], tuple[Law, CompositionMethod] | None]] = {
    Family.NORMAL: _normals,
    Family.LAPLACE: _laplaces,
    Family.FINITE: _finites,
}
