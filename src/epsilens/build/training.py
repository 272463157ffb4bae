"""DP-SGD: many sampled Gaussian steps, alike or on a schedule.

Each step draws every record with probability q and adds noise to the sum of what the drawn records say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import checks
from ..errors import InputError
from ..experiment import Experiment
from ..laws.closed.normal import Normal, NormalReplaced, NormalStep
from ..laws.loss.law import WIDTH, Loss
from ..laws.loss.sampled import Sampled
from ..laws.loss.step import Step
from ..laws.product import width_of
from ..worlds import Neighbours, between
from .sampling import rate_of, relation_of

__all__ = ["dpsgd", "schedule"]

_DOMINATES = (
    "the numbers are of the worst case that bounds every training with these settings, however each step depends on "
    "those before; a real training may tell less, so the lower end of a bracket is no floor on it"
)


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

    The pair of laws **dominates** every training with these settings: each step's worst case, a gradient that the
    person moves by the whole clipping norm. Dominating pairs compose also where each step depends on the outcomes of
    those before (Zhu, Dong & Wang 2022, Theorem 10), as training does, so every reading bounds a real training from
    above. From below nothing follows: where gradients move less, or only the last model is published, less is told.

    >>> e = dpsgd(sigma=1.0, rate=0.01, steps=10_000)
    >>> round(e.epsilon(delta=1e-5), 2)  # of the dominating pair it is 6.18771…, and no value below that is returned
    6.19
    """
    said = relation_of(neighbours)
    sigma, rate, steps = _unwrapped(sigma), _unwrapped(rate), _unwrapped(steps)
    rows = [(s, q, k) for s, q, k in schedule(sigma, rate, steps) if k and q]
    counted: dict[Step, int] = {}
    for s, q, k in rows:
        step = _step(1 / s, q, said)
        counted[step] = counted.get(step, 0) + k
    told = {"sigma": _plain(sigma), "rate": _plain(rate), "steps": _counts(steps), "neighbours": str(said)}
    asked = WIDTH if width is None else width_of(width)
    if width is not None:
        told["width"] = asked
    worlds = between(said)
    if all(q == 1 for _, q, _ in rows):
        mu = math.sqrt(sum(k * step.shift**2 for step, k in counted.items()))
        return Experiment(
            Normal(np.asarray(mu)), "dpsgd", told, notes=("no sampling: exact", _DOMINATES), worlds=worlds
        )
    note = (
        f"composed numerically: each value is the safe end of a proven bracket, {asked:.3g} wide where that is reached"
    )
    return Experiment(Loss(list(counted.items()), asked), "dpsgd", told, notes=(note, _DOMINATES), worlds=worlds)


def _step(mu: float, rate: float, neighbours: Neighbours) -> Step:
    if neighbours is Neighbours.REPLACE:
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


def schedule(sigma: Any, rate: Any, steps: Any) -> list[tuple[float, float, int]]:
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
        out.append((noise, rate_of(q), checks.whole("steps", k, low=0 if "steps" in lists else 1, high=10**9)))
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
