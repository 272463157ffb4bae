"""Several answers observed together: the product of their experiments, repetition, and groups of people.

Exact where a closed form exists (normals, a few equal Laplaces, small finite pairs); otherwise the composed privacy
loss with a certified bracket (:mod:`epsilens.laws.loss`), whose readings are the safe end of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import checks
from .build.discrete import pure
from .errors import InputError
from .experiment import Experiment
from .laws.finite import Finite
from .laws.finite_product import finite_product
from .laws.laplace import Laplace
from .laws.laplace_product import laplace_product, resolved
from .laws.loss import WIDTH, Loss
from .laws.loss_order import Product
from .laws.loss_sampled import Flagged, LaplaceReplaced, NormalReplaced, Sampled
from .laws.loss_steps import Atoms, FiniteStep, LaplaceStep, NormalStep, Step, Swapped
from .laws.normal import Normal
from .readings.law import Law

__all__ = ["compose", "group", "repeat", "step_of"]

_MOST_EXACT = 8  # equal Laplaces; beyond, the exact product takes seconds
_MOST_ATOMS, _MOST_BLURRED = 2048, 200_000  # of a product of finite pairs that is written out
_MOST_STEPS = 10**9

Counted = tuple[Step, int]


def compose(*experiments: Experiment, width: float | None = None) -> Experiment:
    """What an adversary learns who sees all the answers.

    ``width`` is the relative width asked of each reading's bracket (0.001 unless given); it is reached by refining.

    >>> import epsilens as el
    >>> compose(el.gaussian(psi=3.0), el.gaussian(psi=4.0)).psi()
    5.0
    >>> round(compose(el.laplace(epsilon=1.0), el.laplace(epsilon=1.0)).advantage(), 6)  # 1 − 3/(2e)
    0.448181
    >>> round(compose(el.laplace(epsilon=0.5), el.gaussian(psi=0.5)).advantage(), 3)
    0.274
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
    law, note = _closed(parts) if asked is None else (None, "")
    if law is None:
        law, note = certified([one for part in parts for one in step_of(*part)], asked or WIDTH, _bounded(parts))
    return Experiment(law, "composition", {"parts": total}, first.h0, first.h1, (note,), tuple(parts))


def _width(width: Any) -> float:
    return float(checks.within("width", checks.scalar("width", width), 1e-9, 0.5))


def certified(steps: Sequence[Counted], width: float, bounded: Sequence[str] = ()) -> tuple[Law, str]:
    """The product of steps as a law, and a note on how it was computed."""
    live = _written_out(_gathered(steps))
    if not live:
        return Finite(np.zeros(1), np.zeros(1), mirrored=True), "nothing here depends on the person: exact"
    note = (
        f"composed numerically: each value is the safe end of a proven bracket, {width:.3g} wide where that is reached"
    )
    if bounded:
        note += f"; {' and '.join(sorted(set(bounded)))} enters as the worst case of its ε"
    return Loss(live, width, loose=bool(bounded)), note


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

    Noise that shifts is shifted k times as far. A claim of ε becomes one of kε, and a δ grows to δ(e^{kε}−1)/(e^ε−1).
    Under Poisson sampling at least one of the group is drawn with probability 1 − (1−q)^k, and then all are taken to
    be: an upper bound.

    >>> import epsilens as el
    >>> group(el.gaussian(psi=0.5), 3).psi()
    1.5
    """
    size = checks.whole("k", k, low=1, high=10**6)
    if size == 1:
        return experiment
    steps = [
        _grouped(step, size, times) for one in (experiment.parts or ((experiment, 1),)) for step, times in step_of(*one)
    ]
    told = {"of": experiment.name, "people": size}
    if len(steps) == 1 and steps[0][1] == 1:
        step = steps[0][0]
        closed: dict[type, Any] = {
            NormalStep: lambda: Normal(np.asarray(step.mu)),  # type: ignore[attr-defined]
            LaplaceStep: lambda: Laplace(np.asarray(step.m)),  # type: ignore[attr-defined]
            FiniteStep: lambda: _finite(step),
        }
        if type(step) in closed:
            note = f"a group of {size} moves the answer {size} times as far"
            return Experiment(closed[type(step)](), "group", told, experiment.h0, experiment.h1, (note,))
    law, note = certified(steps, _width(width) if width is not None else WIDTH)
    return Experiment(law, "group", told, experiment.h0, experiment.h1, (note,))


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
    if isinstance(step, FiniteStep) and all(map(math.isfinite, step.ends)) and step.mirrored:
        return step_of(pure(epsilon=size * step.ends[1]))[0][0], count
    if isinstance(step, FiniteStep):
        a = step.atoms
        eps, delta = float(np.abs(a.loss).max(initial=0.0)), max(a.only0, a.only1)
        if not step.unbounded:
            from .build.discrete import approximate

            grown = size * delta if eps == 0 else delta * math.expm1(size * eps) / math.expm1(eps)
            return step_of(approximate(epsilon=size * eps, delta=min(grown, 1.0)))[0][0], count
    name = {NormalReplaced: "replace", LaplaceReplaced: "replace", Flagged: "replace"}.get(type(step), "such")
    raise InputError(f"a group of people has no bound here for a {name} step: use neighbours='add-remove'")
