"""Builders of single numbers that take arrays too: one experiment for each entry, held together as one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..errors import InputError
from ..experiment import Experiment
from ..numerics.values import fingerprint
from ..readings.law import LawArray

_P = ParamSpec("_P")
#: Entries that are built at once, each an experiment of its own.
MOST = 100_000


def is_array(value: Any) -> bool:
    """Whether a value holds several numbers.

    >>> is_array([1.0, 2.0]), is_array(1.0), is_array("ab"), is_array(None)
    (True, False, False, False)
    """
    if value is None or isinstance(value, float | int | str | Experiment) or callable(value):
        return False
    try:
        return bool(np.ndim(value))
    except ValueError:  # rows of different lengths: the builder says so
        return False


def vectorized(
    *names: str, check: Callable[[Mapping[str, object]], None] | None = None
) -> Callable[[Callable[_P, Experiment]], Callable[_P, Experiment]]:
    """A builder that also takes arrays for these parameters; ``check`` may refuse some of them.

    What it makes of them is one experiment that holds many: every reading broadcasts against their shape, and each
    entry is what the builder makes of its numbers alone.

    >>> import epsilens as el
    >>> e = el.mechanisms.geometric(epsilon=[0.5, 1.0])
    >>> e, e.success().round(4).tolist()
    (geometric(epsilon=[0.5, 1]), [0.6225, 0.7311])
    """

    def take(build: Callable[_P, Experiment]) -> Callable[_P, Experiment]:
        signature = inspect.signature(build)

        @wraps(build)
        def building(*given: _P.args, **named: _P.kwargs) -> Experiment:
            if not any(is_array(value) for value in (*given, *named.values())):
                return build(*given, **named)
            said = signature.bind(*given, **named).arguments
            varied = {name: said[name] for name in names if is_array(said.get(name))}
            if not varied:
                return build(*given, **named)
            if check is not None:
                check(varied)
            if any(isinstance(value, Experiment) and value.many for value in said.values()):
                raise InputError(
                    f"{build.__name__} needs single numbers: the experiment and {' and '.join(varied)} both hold "
                    "several; build each experiment from numbers, or use sweep"
                )
            return build_each(build, {name: value for name, value in said.items() if name not in varied}, varied)

        return building

    return take


def build_each(
    build: Callable[..., Experiment], fixed: Mapping[str, object], varied: Mapping[str, object]
) -> Experiment:
    """One experiment for each entry of the ``varied`` arrays, which broadcast, held together as one."""
    for name, value in varied.items():
        checks.real(name, value, infinite=True)
    columns = {name: np.asarray(value) for name, value in varied.items()}
    try:
        shape = np.broadcast_shapes(*(column.shape for column in columns.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {column.shape}" for name, column in columns.items())
        raise InputError(f"the shapes do not fit together ({shapes}): give shapes that broadcast") from None
    size = int(np.prod(shape))
    first = next(iter(varied))
    if not 0 < size <= MOST:
        raise InputError(
            f"{' and '.join(varied)} make {size:,} experiments: give arrays of 1 to {MOST:,} entries", first
        )
    rows = zip(*(np.broadcast_to(column, shape).ravel().tolist() for column in columns.values()), strict=True)
    result = [build(**fixed, **dict(zip(columns, row, strict=True))) for row in rows]
    law = LawArray(tuple(one.law for one in result), shape)
    notes = tuple(dict.fromkeys(note for one in result for note in one.notes))
    one = result[0]
    origin = one.origin if all(other.origin == one.origin for other in result) else build.__name__
    return Experiment(law, origin, _parameters(result, columns, shape), one.worlds, notes, label=one.label)


def _parameters(
    made: Sequence[Experiment], varied: Mapping[str, NDArray[np.generic]], shape: tuple[int, ...]
) -> dict[str, object]:
    """What all share as it is, and what differs, or was given as an array, as an array."""
    parameters: dict[str, object] = {}
    given = {name: np.broadcast_to(column, shape).ravel().tolist() for name, column in varied.items()}
    for name in dict.fromkeys(name for one in made for name in one.parameters):
        # what an experiment does not mention, a ξ of 0 say, is what it was given
        missing = given.get(name, [np.nan] * len(made))
        values = [one.parameters.get(name, other) for one, other in zip(made, missing, strict=True)]
        alike = len({fingerprint(value) for value in values}) == 1
        if alike and name not in varied:
            parameters[name] = values[0]
            continue
        numbers = all(isinstance(value, float | int) for value in values)
        column = np.empty(len(values), dtype=float if numbers else object)
        column[:] = values
        parameters[name] = column.reshape(shape)
    for name, column in varied.items():
        if name not in parameters:
            parameters[name] = np.broadcast_to(column, shape)
    return parameters


# What an experiment was built from, where its parameters do not say it: another experiment, a matrix, scores.
#
# A builder that is :func:`remembered` leaves its arguments with what it returns. They are for writing it down, as a
# ledger does: whoever uses them builds again and compares, so that what was changed since is not taken for what was.

_R = ParamSpec("_R")


def with_provenance(build: Callable[_R, Experiment]) -> Callable[_R, Experiment]:
    """A builder whose experiments know its name and its arguments.

    >>> import epsilens as el
    >>> name, arguments = el.group(el.gaussian(psi=0.5), 3).recipe
    >>> name, arguments["k"], arguments["experiment"].psi()
    ('group', 3, 0.5)
    """
    signature = inspect.signature(build)

    @wraps(build)
    def building(*given: _R.args, **named: _R.kwargs) -> Experiment:
        result = build(*given, **named)
        said = signature.bind(*given, **named).arguments
        if any(result is value for value in said.values()):  # nothing was to be done
            return result
        return replace(result, recipe=(build.__name__, said))

    return building
