"""Several answers observed together: the product of their experiments, repetition, and groups of people.

Exact where a closed form exists (normals, a few equal Laplaces, small finite pairs); otherwise the composed privacy
loss with a certified bracket (:mod:`..laws.loss.law`), whose readings are the safe end of it. What is only known by
a bound, a claim say, makes all that contains it a bound: nothing is then known from below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import digamma

from .. import checks
from ..checks import Array
from ..errors import InputError
from ..experiment import Experiment
from ..laws.closed.laplace import Laplace
from ..laws.closed.normal import Normal
from ..laws.finite.law import Finite
from ..laws.finite.product import finite_product
from ..laws.line.laplace_product import laplace_product, resolved
from ..laws.loss.law import WIDTH, Loss
from ..laws.loss.order import Product
from ..laws.loss.replaced import LaplaceReplaced, NormalReplaced
from ..laws.loss.sampled import Flagged, Sampled
from ..laws.loss.step import Atoms, FiniteStep, LaplaceStep, NormalStep, Step, Swapped
from ..readings.law import Law
from .discrete import pure

__all__ = ["FiniteBound", "NormalBound", "as_bound", "compose", "group", "is_bound", "repeat", "step_of"]

_MOST_EXACT = 8  # equal Laplaces; beyond, the exact product takes seconds
_MOST_ATOMS, _MOST_BLURRED = 2048, 200_000  # of a product of finite pairs that is written out
_MOST_STEPS = 10**9
_MOST_LOSS = 1e4  # a claim beyond promises nothing
_BLOCKS = 256  # of people, in a sum over a group

Counted = tuple[Step, int]


@dataclass(frozen=True, slots=True)
class NormalBound(Normal):
    """A normal shift that is at least as risky as what it stands for."""

    @property
    def loose(self) -> bool:
        """There is no bound from below."""
        return True

    @property
    def direction(self) -> str:
        """A bound, never an understatement."""
        return "upper"


@dataclass(frozen=True, slots=True, eq=False)
class FiniteBound(Finite):
    """A finite pair that is at least as risky as what it stands for."""

    @property
    def loose(self) -> bool:
        """There is no bound from below."""
        return True

    @property
    def direction(self) -> str:
        """A bound, never an understatement."""
        return "upper"

    def reverse(self) -> FiniteBound:
        """Swap the two laws."""
        swapped = self.log_p0 + self.llr, -self.llr, self.only1, self.only0
        return FiniteBound(*swapped, self.mirrored, self.unbounded)


def is_bound(experiment: Experiment) -> bool:
    """Whether the experiment is only known to be at least as risky as what it stands for.

    >>> import epsilens as el
    >>> is_bound(el.from_zcdp(0.5)), is_bound(el.gaussian(psi=1.0))
    (True, False)
    """
    law = experiment.law
    if isinstance(law, Loss) and any(_told(step) for step, _ in law.steps):
        return True
    return bool(getattr(law, "loose", False))


def _told(step: Step) -> bool:
    """Whether the adversary is told what they would not see."""
    return isinstance(step, Flagged) or (isinstance(step, Sampled | Swapped) and _told(step.base))


def as_bound(law: Law) -> Law:
    """The same normal or finite law where only a bound from above is known."""
    if getattr(law, "loose", False):
        return law
    if isinstance(law, Normal):
        return NormalBound(law.mu)
    if isinstance(law, Finite):
        return FiniteBound(law.log_p0, law.llr, law.only0, law.only1, law.mirrored, law.unbounded)
    return law


def compose(*experiments: Experiment, width: float | None = None) -> Experiment:
    """What an adversary learns who sees all the answers.

    ``width`` is the relative width asked of each reading's bracket (0.001 unless given); it is reached by refining.

    >>> import epsilens as el
    >>> compose(el.gaussian(psi=3.0), el.gaussian(psi=4.0)).psi()
    5.0
    >>> round(compose(el.laplace(epsilon=1.0), el.laplace(epsilon=1.0)).advantage(), 6)  # 1 − 3/(2e)
    0.448181
    >>> round(compose(el.laplace(epsilon=0.5), el.gaussian(psi=0.5)).advantage(), 2)
    0.27
    """
    if not experiments or not all(isinstance(e, Experiment) for e in experiments):
        raise InputError("compose needs one experiment or more: give what laplace, gaussian and the like return")
    return _product([(e, 1) for e in experiments], width)


def repeat(experiment: Experiment, k: int, *, width: float | None = None) -> Experiment:
    """The same release k times, each with fresh noise.

    >>> import epsilens as el
    >>> round(repeat(el.randomized_response(epsilon=1.0), 100).epsilon(delta=1e-6), 6)
    83.530702
    """
    return _product([(experiment, checks.whole("k", k, low=1, high=_MOST_STEPS))], width)


def _product(counted: Sequence[tuple[Experiment, int]], width: float | None) -> Experiment:
    asked = None if width is None else _width(width)
    parts = [(part, k * times) for e, k in counted for part, times in (e.parts or ((e, 1),))]
    total = sum(k for _, k in parts)
    first = counted[0][0]
    if total == 1 and asked is None:
        return first
    loose = _named(part.name for part, _ in parts if is_bound(part))
    law, note = _closed(parts) if asked is None else (None, "")
    if law is None:
        steps = [one for part in parts for one in step_of(*part)]
        law, note = certified(steps, asked or WIDTH, _bounded(parts), loose)
    elif loose:
        law, note = as_bound(law), f"{note.removesuffix(': exact')}: {_only_above(loose)}"
    return Experiment(law, "composition", {"parts": total}, first.worlds, (note,), tuple(parts))


def _width(width: Any) -> float:
    return float(checks.within("width", checks.scalar("width", width), 1e-9, 0.5))


def _named(names: Iterable[str]) -> str:
    return " and ".join(sorted(set(names)))


def _only_above(loose: str) -> str:
    return f"an upper bound, as {loose} is only known by one, and nothing is known from below"


def certified(steps: Sequence[Counted], width: float, bounded: Sequence[str] = (), loose: str = "") -> tuple[Law, str]:
    """The product of steps as a law, and a note on how it was computed; ``bounded`` and ``loose`` name mere bounds."""
    live = _written_out(_gathered(steps))
    if not live:
        return Finite(np.zeros(1), np.zeros(1), mirrored=True), "nothing here depends on the person: exact"
    if not (bounded or loose):
        told = f"each value is the safe end of a proven bracket, {width:.3g} wide where that is reached"
        return Loss(live, width), f"composed numerically: {told}"
    note = f"composed numerically: {_only_above(_named([*bounded, *([loose] if loose else [])]))}"
    if bounded:
        note += f"; {_named(bounded)} enters as the worst case of its ε"
    return Loss(live, width, loose=True), note


def _gathered(steps: Sequence[Counted]) -> list[Counted]:
    """Equal steps together; normal ones become one."""
    normal, rest = 0.0, dict[Any, int]()
    for step, k in steps:
        if isinstance(step, NormalStep):
            normal += k * step.mu**2
        else:
            rest[step] = rest.get(step, 0) + k
    out = list(rest.items())
    return [*out, (NormalStep(math.sqrt(normal)), 1)] if normal > 0 else out


def _written_out(steps: list[Counted]) -> list[Counted]:
    """Finite steps whose atoms share no lattice with the rest as one step, where their product is not too large."""
    finite = [(step, k) for step, k in steps if isinstance(step, FiniteStep)]
    if not finite or Product(steps).unit(0.0) is not None:
        return steps
    product = finite_product([(_finite(step), k) for step, k in finite], _MOST_BLURRED // 4)
    if product is None:
        return steps
    rest = [(step, k) for step, k in steps if not isinstance(step, FiniteStep)]
    return [*rest, (FiniteStep(_atoms(product), product.mirrored, rho=1e-12), 1)]


def _closed(parts: Sequence[tuple[Experiment, int]]) -> tuple[Law | None, str]:
    laws = [(e.law, k) for e, k in parts]
    if all(isinstance(law, Normal) for law, _ in laws):
        mu = np.sqrt(sum(k * np.asarray(law.mu) ** 2 for law, k in laws if isinstance(law, Normal)))
        return Normal(np.asarray(mu)), "normal noise composes to normal noise: exact"
    total = sum(k for _, k in laws)
    shifts = [float(law.m) for law, _ in laws if isinstance(law, Laplace) and np.ndim(law.m) == 0]
    if len(shifts) == len(laws) and len(set(shifts)) == 1 and total <= _MOST_EXACT:
        m = shifts[0]
        if resolved(m * total):
            return laplace_product(m, total), f"{total} equal Laplace answers compose in closed form: exact"
    finite = [(law, k) for law, k in laws if isinstance(law, Finite)]
    if len(finite) == len(laws):
        share = Product([one for part in parts for one in step_of(*part)]).unit(0.0)
        # on a common lattice the transform is exact too, and faster; elsewhere it would blur
        product = finite_product(finite, _MOST_ATOMS if share else _MOST_BLURRED)
        if product is not None:
            return product, "finite pairs compose to a finite pair: exact"
    return None, ""


def step_of(experiment: Experiment, count: int = 1) -> list[Counted]:
    """The steps of one experiment, each with its count; a sentence where there are none."""
    law = experiment.law
    if any(isinstance(v, np.ndarray) for v in experiment.parameters.values()):
        raise InputError("a composition needs single numbers: build each experiment from numbers, not arrays")
    if isinstance(law, Normal):
        return [(NormalStep(float(law.mu)), count)] if float(law.mu) > 0 else []
    if isinstance(law, Laplace):
        return [(LaplaceStep(float(law.m)), count)] if float(law.m) > 0 else []
    if isinstance(law, Finite):
        return [(FiniteStep(_atoms(law), law.mirrored, law.unbounded), count)]
    if isinstance(law, Loss):
        return [(Swapped(step) if law.flipped else step, k * count) for step, k in law.steps]
    worst = float(experiment.epsilon())
    if not math.isfinite(worst):
        raise InputError(
            f"{experiment.name} does not compose: its loss has no closed form and no finite epsilon bounds it, "
            "so compose what it was built from"
        )
    return step_of(pure(epsilon=worst), count) if worst > 0 else []


def _bounded(parts: Sequence[tuple[Experiment, int]]) -> list[str]:
    """The names of those that enter by a bound."""
    return [e.name for e, _ in parts if not isinstance(e.law, Normal | Laplace | Finite | Loss)]


def _atoms(law: Finite) -> Atoms:
    order = np.argsort(law.llr, kind="stable")
    loss, log_p = law.llr[order], law.log_p0[order] + law.llr[order]
    if loss.size:
        first = np.flatnonzero(np.concatenate(([True], np.diff(loss) > 0)))
        loss, log_p = loss[first], np.logaddexp.reduceat(log_p, first)
    beyond = 1e-320 if law.unbounded else 0.0
    return Atoms(loss, log_p, law.only0 + beyond, law.only1 + beyond)


def group(experiment: Experiment, k: int, *, width: float | None = None) -> Experiment:
    """What is learned about a group of k people who enter or leave together: each moves the answer as one does.

    Noise that shifts is shifted k times as far. Under Poisson sampling at least one of the group is drawn with
    probability 1 − (1−q)^k, and then all are taken to be: an upper bound. A claim of ε becomes one of kε, and a δ grows
    to δ(e^{kε}−1)/(e^ε−1); μ-GDP becomes kμ-GDP; (ξ, ρ)-zCDP becomes (ξ·k·(1 + 1/2 + … + 1/k), k²ρ)-zCDP (Bun &
    Steinke 2016), and by the same argument a Rényi curve D becomes ka·Σ_j D_o/o over the orders o = k(a−1) + j,
    j = 1 … k.

    >>> import epsilens as el
    >>> group(el.gaussian(psi=0.5), 3).psi()
    1.5
    """
    if not isinstance(experiment, Experiment):
        raise InputError("group needs an experiment: give what laplace, gaussian and the like return")
    size = checks.whole("k", k, low=1, high=10**6)
    if size == 1:
        return experiment
    told = {"of": experiment.name, "people": size}
    parts = experiment.parts or ((experiment, 1),)
    steps: list[Counted] = []
    loose: list[str] = []
    for part, times in parts:
        claimed = _claimed_group(part, size)
        if claimed is not None and len(parts) == times == 1:
            return Experiment(claimed.law, "group", told, experiment.worlds, (_CLAIMED.format(size), *claimed.notes))
        inside = step_of(part, times)
        steps += step_of(claimed, times) if claimed is not None else [_grouped(step, size, n) for step, n in inside]
        if claimed is not None or is_bound(part) or not all(_moves(step) for step, _ in inside):
            loose.append(part.name)
    above = _named(loose)
    if len(steps) == 1 and steps[0][1] == 1:
        step = steps[0][0]
        closed: dict[type, Any] = {
            NormalStep: lambda: Normal(np.asarray(step.mu)),  # type: ignore[attr-defined]
            LaplaceStep: lambda: Laplace(np.asarray(step.m)),  # type: ignore[attr-defined]
            FiniteStep: lambda: _finite(step),
        }
        if type(step) in closed:
            law = closed[type(step)]()
            note = _CLAIMED.format(size) if above else f"a group of {size} moves the answer {size} times as far"
            return Experiment(as_bound(law) if above else law, "group", told, experiment.worlds, (note,))
    law, note = certified(
        steps, _width(width) if width is not None else WIDTH, (), f"a group of {above}" if above else ""
    )
    return Experiment(law, "group", told, experiment.worlds, (note,))


_CLAIMED = (
    "an upper bound: what is known of one person bounds what a group of {} reveals, and nothing is known from below"
)


def _moves(step: Step) -> bool:
    """Whether the group's law is that of the release itself, not a bound on it."""
    inner = step.base if isinstance(step, Swapped) else step
    return isinstance(inner, NormalStep | LaplaceStep)


def _claimed_group(experiment: Experiment, size: int) -> Experiment | None:
    """What a claim of zCDP or of Rényi divergences says about a group; None of what is no such claim."""
    from . import claims

    law: Any = experiment.law
    moment = getattr(law, "moment", None)
    if moment is None:
        return None
    nothing = f"the claim promises nothing about a group of {size}"
    told = experiment.parameters
    if experiment.origin == "zcdp":
        harmonic = float(digamma(size + 1) - digamma(1))
        rho, xi = size * size * told["rho"] * (1 + 1e-15), told.get("xi", 0.0) * size * harmonic * (1 + 1e-12)
        if max(rho, xi) > _MOST_LOSS:
            raise InputError(f"{nothing}: ρ grows with the square of its size to {rho:.4g}, so ask of a smaller group")
        return claims.from_zcdp(rho, xi)
    low, high = 1e-9, 1e9
    if np.isfinite(moment(np.asarray(high))):
        low = high
    for _ in range(100):  # the highest order at which something is claimed
        middle = math.sqrt(low * high)
        low, high = (middle, high) if np.isfinite(moment(np.asarray(middle))) else (low, middle)
    worst = float(experiment.epsilon())
    orders, bound = np.zeros(0), np.zeros(0)
    if (most := (1 + low) / size - 1) > 1e-9:
        orders = 1 + np.geomspace(max(min(1e-3 * most, 1e-2), 1e-9), most, 281)
        bound = _summed(moment, orders, size, low)
    if math.isfinite(worst):
        orders, bound = np.append(orders, np.inf), np.append(bound, size * worst)
    if not orders.size:
        raise InputError(f"{nothing}: its highest order is {1 + low:.6g}, so claim orders above {size}")
    if bound.min() > _MOST_LOSS:
        raise InputError(f"{nothing}: its Rényi divergence grows to {bound.min():.4g}, so ask of a smaller group")
    return claims.from_rdp(orders, bound)


def _summed(moment: Callable[[Array], Array], orders: Array, size: int, highest: float) -> Array:
    """ka·Σ_j D_o/o over o = k(a−1) + j: D_a(P‖Q) ≤ ka/(ka−1)·D_{(ka−1)/(k−1)}(P‖R) + D_{ka}(R‖Q), person by person.

    In blocks of people where there are many: D grows with the order, so the last order of a block bounds it.
    """
    ends = np.unique(np.linspace(0, size, min(size, _BLOCKS) + 1).astype(int))
    start = (size * (orders - 1))[:, None]
    most = np.minimum(start + ends[1:] - 1, highest)
    share = np.where(
        np.diff(ends) == 1, 1 / (start + ends[1:]), digamma(start + ends[1:] + 1) - digamma(start + ends[:-1] + 1)
    )
    return np.asarray(size * orders * np.sum(moment(most) / most * share, axis=1) * (1 + 1e-11))


def _finite(step: Step) -> Finite:
    a = step.atoms
    return Finite(a.log_p - a.loss, a.loss, a.only0, a.only1, step.mirrored)


def _grouped(step: Step, size: int, count: int) -> Counted:
    if isinstance(step, NormalStep):
        return NormalStep(step.mu * size), count
    if isinstance(step, LaplaceStep):
        return LaplaceStep(step.m * size), count
    if isinstance(step, Sampled) and isinstance(step.base, NormalStep | LaplaceStep):
        drawn = -math.expm1(size * math.log1p(-step.rate))
        return Sampled(_grouped(step.base, size, 1)[0], drawn), count
    if isinstance(step, Swapped):
        return Swapped(_grouped(step.base, size, 1)[0]), count
    if isinstance(step, FiniteStep) and not step.unbounded:
        return _grown(step, size), count
    name = {NormalReplaced: "replace", LaplaceReplaced: "replace", Flagged: "replace"}.get(type(step), "such")
    raise InputError(f"a group of people has no bound here for a {name} step: use neighbours='add-remove'")


def _grown(step: FiniteStep, size: int) -> FiniteStep:
    """Every (ε, δ) that holds of a finite pair as (kε, δ(e^{kε}−1)/(e^ε−1)), all together."""
    from ..laws.finite.envelope import envelope

    law = _finite(step)
    if max(law.only0, law.only1) >= 1:
        return step
    eps = np.unique(np.abs(law.llr))
    delta = np.maximum(law.profile(eps), law.reverse().profile(eps))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(eps > 0, (size - 1) * eps + np.log(np.expm1(-size * eps) / np.expm1(-eps)), math.log(size))
        grown = np.where(delta > 0, np.exp(np.minimum(np.log(delta) + ratio, 0.0)) * (1 + 1e-12), 0.0)
    kept = (grown < 1) & (size * eps <= _MOST_LOSS)
    if not kept.any():
        raise InputError(f"what is known of one person promises nothing about a group of {size}: ask of a smaller one")
    made = envelope(size * eps[kept], grown[kept])
    return FiniteStep(_atoms(made), made.mirrored)
