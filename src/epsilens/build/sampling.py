"""Poisson sampling, and DP-SGD: many sampled Gaussian steps, alike or on a schedule.

Each step draws every record with probability q and adds noise to what the drawn records say. **Add/remove**: the
person is in the data or not, H0 against (1−q)·H0 + q·H1 (Zhu, Dong & Wang 2022). **Replace**: the person's record has
one value or another, and both were drawn with probability q.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import checks
from ..errors import InputError
from ..experiment import Experiment
from ..laws.closed.laplace import Laplace
from ..laws.closed.normal import Normal
from ..laws.finite.law import Finite
from ..laws.loss.law import WIDTH, Loss
from ..laws.loss.replaced import LaplaceReplaced, NormalReplaced
from ..laws.loss.sampled import Flagged, Sampled
from ..laws.loss.step import Atoms, FiniteStep, LaplaceStep, NormalStep, Step
from ..worlds import between, neighbours_of

__all__ = ["dpsgd", "subsample"]

_LEAST_RATE = 1e-12


def _neighbours(neighbours: Any) -> str:
    """Also as it is often written, with a stroke."""
    said = "add-remove" if neighbours == "add/remove" else neighbours
    return str(neighbours_of(said))


def _rate(value: Any) -> float:
    rate = float(checks.probability("rate", checks.scalar("rate", value)))
    if 0 < rate < _LEAST_RATE:
        raise InputError(f"rate is {rate:g}: give 0, or a probability of at least {_LEAST_RATE:g}", parameter="rate")
    return rate


def subsample(
    experiment: Experiment, rate: float, *, neighbours: str = "add-remove", width: float | None = None
) -> Experiment:
    """The release computed on a Poisson sample: every record takes part with probability ``rate``.

    The experiment says what one person does who is drawn: H0 without them, H1 with them.

    >>> import epsilens as el
    >>> round(subsample(el.laplace(epsilon=1.0), 0.1).epsilon(), 6)  # log(1 + 0.1·(e − 1))
    0.158565
    """
    from .composition import as_bound, is_bound

    if not isinstance(experiment, Experiment):
        raise InputError("subsample needs an experiment: give what laplace, gaussian and the like return")
    q, said = _rate(rate), _neighbours(neighbours)
    told = {"of": experiment.name, "rate": q, "neighbours": said}
    worlds = between(said)
    if q == 0:
        law: Any = Finite(np.zeros(1), np.zeros(1), mirrored=True)
        return Experiment(law, "subsample", told, notes=("nobody is ever drawn",), worlds=worlds)
    if q == 1 and said == experiment.parameters.get("neighbours", "add-remove"):
        return experiment
    step, note = _sampled(experiment, q, said)
    loose = is_bound(experiment) or note.startswith("an upper bound")
    if is_bound(experiment):
        note = f"Poisson sampling of a bound: an upper bound, as {experiment.name} is one; nothing is known from below"
    if isinstance(step, FiniteStep):
        a = step.atoms
        law = Finite(a.log_p - a.loss, a.loss, a.only0, a.only1, step.mirrored)
        law = as_bound(law) if loose else law
    else:
        law = Loss([(step, 1)], _width(width), loose=loose)
    return Experiment(law, "subsample", told, notes=(note,), worlds=worlds)


def _width(width: float | None) -> float:
    return WIDTH if width is None else float(checks.within("width", checks.scalar("width", width), 1e-9, 0.5))


def _sampled(experiment: Experiment, rate: float, neighbours: str) -> tuple[Step, str]:
    from .composition import is_bound, step_of

    known = not is_bound(experiment)  # the noise itself, not only a claim about it
    replaced = experiment.worlds.replaces
    steps = step_of(experiment)
    if len(steps) != 1 or steps[0][1] != 1 or isinstance(steps[0][0], Sampled | Flagged):
        raise InputError(
            f"{experiment.name} is several releases or sampled already: subsample each release, then compose"
        )
    step = steps[0][0]
    if neighbours == "add-remove":
        if replaced:
            raise InputError(
                "the experiment replaces a record: give one that adds or removes it, or neighbours='replace'"
            )
        if isinstance(step, FiniteStep):
            from ..laws.loss.sampled import sampled_atoms

            return FiniteStep(sampled_atoms(step.atoms, rate)), "Poisson sampling of a finite pair: exact"
        return Sampled(step, rate), "Poisson sampling: the safe end of a proven bracket"
    if known and not replaced and isinstance(step, NormalStep) and isinstance(experiment.law, Normal):
        return NormalReplaced(step.mu, rate), "the two records may pull in opposite directions, each as far as one can"
    if known and not replaced and isinstance(step, LaplaceStep) and isinstance(experiment.law, Laplace):
        return LaplaceReplaced(step.m, rate), "the two records may pull in opposite directions, each as far as one can"
    if not replaced:
        raise InputError(
            f"sampling {experiment.name} with neighbours='replace' needs an experiment that replaces a record: give "
            "Gaussian or Laplace noise, randomized_response, or what a mechanism that takes neighbours='replace' builds"
        )
    flagged = Flagged(step, rate)
    if isinstance(step, FiniteStep):
        a = flagged.atoms
        order = np.argsort(a.loss, kind="stable")
        atoms = Atoms(a.loss[order], a.log_p[order], a.only0, a.only1)
        return FiniteStep(atoms, step.mirrored), "an upper bound: the adversary is told whether the record was drawn"
    return flagged, "an upper bound: the adversary is told whether the record was drawn"


def dpsgd(
    *,
    sigma: float | Sequence[float],
    rate: float | Sequence[float],
    steps: int | Sequence[int],
    neighbours: str = "add-remove",
    width: float | None = None,
) -> Experiment:
    """DP-SGD: ``steps`` Poisson-sampled Gaussian steps with noise ``sigma`` times the clipping norm.

    Lists make a schedule: the i-th entries belong together, and a single number holds throughout. ``width`` is the
    relative width asked of each reading's bracket (0.001 unless given); it is reached by refining.

    >>> e = dpsgd(sigma=1.0, rate=0.01, steps=10_000)
    >>> round(e.epsilon(delta=1e-5), 2)  # 6.18771… is the truth, and no value below it is returned
    6.19
    """
    said = _neighbours(neighbours)
    sigma, rate, steps = _unwrapped(sigma), _unwrapped(rate), _unwrapped(steps)
    schedule = _schedule(sigma, rate, steps)
    counted: dict[Step, int] = {}
    for s, q, k in schedule:
        step = _step(1 / s, q, said)
        if step is not None and k:
            counted[step] = counted.get(step, 0) + k
    told = {"sigma": _plain(sigma), "rate": _plain(rate), "steps": _counts(steps), "neighbours": said}
    if width is not None:
        told["width"] = _width(width)
    worlds = between(said)
    if all(isinstance(step, NormalStep) for step in counted):
        mu = math.sqrt(sum(k * step.mu**2 for step, k in counted.items() if isinstance(step, NormalStep)))
        return Experiment(Normal(np.asarray(mu)), "dpsgd", told, notes=("no sampling: exact",), worlds=worlds)
    asked = _width(width)
    note = (
        f"composed numerically: each value is the safe end of a proven bracket, {asked:.3g} wide where that is reached"
    )
    return Experiment(Loss(list(counted.items()), asked), "dpsgd", told, notes=(note,), worlds=worlds)


def _step(mu: float, rate: float, neighbours: str) -> Step | None:
    if rate == 0:
        return None
    if neighbours == "replace":
        return NormalStep(2 * mu) if rate == 1 else NormalReplaced(mu, rate)
    return NormalStep(mu) if rate == 1 else Sampled(NormalStep(mu), rate)


def _unwrapped(value: Any) -> Any:
    """A number for an array of no dimension."""
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _plain(value: Any) -> Any:
    """As it goes into JSON."""
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(v) for v in value]
    return int(value) if isinstance(value, int | np.integer) else float(value)


def _counts(steps: Any) -> Any:
    return [int(k) for k in steps] if isinstance(steps, list | tuple | np.ndarray) else int(steps)


def _schedule(sigma: Any, rate: Any, steps: Any) -> list[tuple[float, float, int]]:
    """One (σ, q, steps) per entry."""
    columns = {"sigma": sigma, "rate": rate, "steps": steps}
    lists = {name: list(v) for name, v in columns.items() if isinstance(v, list | tuple | np.ndarray)}
    lengths = {len(v) for v in lists.values()}
    if len(lengths) > 1 or 0 in lengths:
        shapes = ", ".join(f"{name} has {len(v)}" for name, v in lists.items())
        raise InputError(f"a schedule needs lists of one length, not empty: {shapes}")
    rows = max(lengths, default=1)
    out = []
    for i in range(rows):
        s, q, k = (lists[name][i] if name in lists else value for name, value in columns.items())
        for name, entry in zip(columns, (s, q, k), strict=True):
            _number(name, entry)
        noise = float(checks.within("sigma", s, 1e-2, 1e12))
        # a row of a schedule may be empty, a training not
        out.append((noise, _rate(q), checks.whole("steps", k, low=0 if "steps" in lists else 1, high=10**9)))
    if not any(k for _, _, k in out):
        raise InputError(
            "steps is 0 throughout: give a whole number of at least 1 somewhere in the schedule", parameter="steps"
        )
    return out


def _number(name: str, value: Any) -> None:
    """One number of a schedule, which is what a single number makes too."""
    if isinstance(value, list | tuple | np.ndarray) or np.asarray(value).dtype.kind not in "iuf":
        shown = f"{value!r}"
        shown = shown if len(shown) <= 40 else shown[:37] + "..."
        raise InputError(
            f"{name} is {shown}, a {type(value).__name__}: give a number, or a list of numbers for a schedule",
            parameter=name,
        )
