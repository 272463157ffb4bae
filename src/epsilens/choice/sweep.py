"""Sweep: a reading at many values of one parameter, for a chart or a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..catalogue.readings import find
from ..checks import Array
from ..errors import InputError
from ..experiment import Experiment
from .called import called, check_parameter
from .choice import argument

__all__ = ["sweep"]


def sweep(
    mechanism: Callable[..., Experiment],
    parameter: str,
    values: ArrayLike,
    *,
    reading: str = "success",
    given: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> tuple[Array, Array]:
    """(low, high) of a reading of ``mechanism(**given, parameter=value)`` at each of the values.

    The two are the proven ends of :meth:`Experiment.bracket`, equal where the reading is exact; the upper one is the
    safe one. The words are those of :func:`choose`, which finds one value where this shows many. Where the mechanism
    takes arrays, all values are read at once; of a training, where an array is a schedule, one after the other.

    >>> import epsilens as el
    >>> low, high = sweep(el.laplace, "epsilon", [0.1, 1.0], reading="success")
    >>> high.round(4).tolist()
    [0.5244, 0.6967]
    >>> training = {"rate": 0.01, "steps": 1000}
    >>> low, high = sweep(el.dpsgd, "sigma", [0.8, 1.0, 2.0], reading="epsilon", given=training, delta=1e-5)
    >>> high.round(4).tolist()
    [3.141, 1.8282, 0.622]
    """
    wanted = find(reading)
    args = {k: argument(k, v) for k, v in wanted.arguments(arguments).items()}
    if not isinstance(given, Mapping | None):
        raise InputError(
            f"given is {given!r}: give the mechanism's other arguments by name, such as {{'rate': 0.01}}",
            parameter="given",
        )
    fixed = dict(given or {})
    check_parameter(mechanism, parameter, fixed)
    at = checks.real(parameter, values)
    if at.ndim == 0 or at.size == 0:
        raise InputError(f"values has shape {at.shape}: give several numbers, such as a list", parameter="values")
    together = _together(mechanism, {**fixed, parameter: at})
    if together is not None:
        low, high = together.bracket(wanted.name, **args)
        return np.broadcast_to(low, at.shape).copy(), np.broadcast_to(high, at.shape).copy()
    ends = [
        called(mechanism, {**fixed, parameter: value}).bracket(wanted.name, **args) for value in at.ravel().tolist()
    ]
    low, high = np.asarray(ends, dtype=float).T
    return low.reshape(at.shape), high.reshape(at.shape)


def _together(mechanism: Callable[..., Experiment], arguments: Mapping[str, Any]) -> Experiment | None:
    """The mechanism with an array of values, where it holds one experiment for each."""
    try:
        made: Any = mechanism(**arguments)
    except (InputError, TypeError, ValueError):  # single numbers only: whatever else is wrong, they will say so
        return None
    return made if isinstance(made, Experiment) and made.many else None
