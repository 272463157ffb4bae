"""An experiment written down as what it was built from, and built again exactly.

Only builders of the catalogue and of :data:`RECIPES` are called, with numbers, words, lists of them and experiments
built in the same way: nothing that is read from a ledger can run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..catalogue.mechanisms import CLAIMS, MECHANISMS, CatalogueEntry, builder
from ..checks import Array
from ..errors import EpsilensError, InputError, type_phrase
from ..experiment import Experiment, require_independent
from ..mechanisms.composition import compose
from .store import Record

#: What builds from another experiment or from a matrix, beside the catalogue.
RECIPES = {
    "subsample": "epsilens.mechanisms.sampling",
    "group": "epsilens.mechanisms.composition",
    "matrix": "epsilens.mechanisms.matrix_factorization",
    "repeat_and_select": "epsilens.mechanisms.selection",
    "from_dp": "epsilens.mechanisms.claims",
    "from_rdp": "epsilens.mechanisms.claims",
}
_WHOLE = "composition"  # of the parts inside, as one
_MOST = 200_000  # numbers of one part: a line of a ledger is read whole
_DEEPEST = 20


def serialize(experiment: Experiment) -> list[Record]:
    """What an experiment was built from, ready for JSON: a builder, its parameters and how often, for each part.

    >>> import epsilens as el
    >>> serialize(el.compose(el.laplace(epsilon=0.5).repeat(2), el.gaussian(psi=1.0)))
    [{'builder': 'laplace', 'parameters': {'epsilon': 0.5}, 'times': 2}, {'builder': 'gaussian', ...}]
    """
    if not isinstance(experiment, Experiment):
        raise InputError(
            f"experiment is {type_phrase(experiment)}: give one, such as el.laplace(epsilon=1.0)",
            parameter="experiment",
        )
    if experiment.many:
        raise InputError("this is many experiments at once: give one", parameter="experiment")
    made = [_part(part, times) for part, times in experiment.parts or ((experiment, 1),)]
    if deserialize(made) == experiment:
        return made
    if experiment.parts and experiment.worlds.reversed:  # as a whole, and not each of its parts
        whole = {"experiment": {"experiment": serialize(experiment.reverse())}}
        made = [{"builder": _WHOLE, "parameters": whole, "times": 1, "reversed": True}]
        if deserialize(made) == experiment:
            return made
    raise _unserializable(experiment)


def _part(part: Experiment, times: int) -> Record:
    """The first way of saying it that builds the same."""
    turned = {"reversed": True} if part.worlds.reversed else {}
    for name, options in _ways(part):
        try:
            said = {key: _plain(value) for key, value in options.items()}
            made: dict[str, object] = {"builder": name, "parameters": said, "times": times, **turned}
            again = deserialize([{**made, "times": 1}])
            if again != part:  # what else is told of it, such as the distance a measurement was read at
                made["told"] = {key: _plain(v) for key, v in part.parameters.items() if key not in again.parameters}
                again = deserialize([{**made, "times": 1}])
            if again == part:
                return made
        except EpsilensError:
            continue
    raise _unserializable(part)


def _ways(part: Experiment) -> Iterator[tuple[str, Mapping[str, object]]]:
    """How it may have been said: as its builder was called, as the catalogue reproduces it, or by each of its ways."""
    if part.recipe is not None:
        yield part.recipe
    entry = MECHANISMS.get(part.origin) or CLAIMS.get(part.origin)
    if entry is None:
        return
    known = {name: part.parameters[name] for name in entry.takes if name in part.parameters}
    ways: tuple[tuple[str, ...], ...] = (tuple(known),)
    if part.origin in MECHANISMS:
        mechanism = MECHANISMS[part.origin]
        if (short := mechanism.reproduced(part.parameters)) is not None:
            yield part.origin, short
        ways = (*mechanism.said_by, *mechanism.ways)
    others = {name: value for name, value in known.items() if not any(name in way for way in ways)}
    for way in ways:
        if all(name in known for name in way):
            yield part.origin, {**{name: known[name] for name in way}, **others}


def _plain(value: object) -> object:
    """A value in JSON's terms; an experiment as its parts, a matrix of equal diagonals as its first column."""
    if isinstance(value, Experiment):
        return {"experiment": serialize(value)}
    if isinstance(value, np.generic):
        value = value.item()
    elif hasattr(value, "toarray") and hasattr(value, "shape"):  # sparse
        value = value.toarray() if math.prod(value.shape) <= _MOST else None
    if isinstance(value, np.ndarray):
        if value.ndim == 2 and (column := _diagonal(value)) is not None:
            return {"diagonals": _plain(column)}
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": repr(value)}  # JSON has no word for it
    if isinstance(value, list | tuple):
        if _size(value) > _MOST:
            raise InputError(f"there are more than {_MOST:,} numbers in it: enter what is known of it as a claim")
        return [_plain(v) for v in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise InputError(f"{type_phrase(value)} cannot be written into a ledger: enter what is known of it as a claim")


def _size(value: object) -> int:
    return sum(_size(v) for v in value) if isinstance(value, list | tuple) else 1


def _diagonal(matrix: NDArray[np.generic]) -> NDArray[np.generic] | None:
    """The first column of a square lower-triangular matrix whose diagonals are each of one number."""
    column = matrix[:, 0] if matrix.shape[0] == matrix.shape[1] and matrix.size else None
    return column if column is not None and np.array_equal(_spread(column), matrix) else None


def _spread(column: ArrayLike) -> Array:
    numbers = np.asarray(column, dtype=float)
    if numbers.ndim != 1 or numbers.size > 10_000:
        raise InputError("a matrix of the ledger is larger than this version builds: install a newer epsilens")
    places = np.arange(numbers.size)
    away = places[:, None] - places[None, :]
    return np.where(away >= 0, numbers[np.maximum(away, 0)], 0.0)


def _unserializable(part: Experiment) -> InputError:
    require_independent(part)  # a claim of what shares unknowns would be added up as if it did not
    return InputError(
        f"{part.name} cannot be written down so that it is built again: enter what is known of it as a claim, such as "
        "from_zcdp(rho) or approximate(epsilon=, delta=)",
        parameter="experiment",
    )


def deserialize(parts: Sequence[Record]) -> Experiment:
    """The experiment again.

    >>> deserialize([{"builder": "laplace", "parameters": {"epsilon": 0.5}, "times": 2}])
    laplace(epsilon=0.5).repeat(2)
    """
    try:
        return _deserialize(parts, 0)
    except EpsilensError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
        raise InputError(
            "the ledger speaks of a release that cannot be built again: it was changed by other hands",
            parameter="ledger",
        ) from None


def _deserialize(parts: Sequence[Record], depth: int) -> Experiment:
    if depth > _DEEPEST:
        raise InputError(f"the ledger speaks of experiments within more than {_DEEPEST} others: it was changed")
    made = []
    for part in parts:
        said = {k: _value(v, depth) for k, v in part["parameters"].items()}
        one = _builder(str(part["builder"]))(**(_scheduled(said) if part["builder"] == "dpsgd" else said))
        if told := part.get("told"):  # beside what it was built with, and never instead
            one = replace(one, parameters={**{k: _value(v, depth) for k, v in told.items()}, **one.parameters})
        made.append((one.reverse() if part.get("reversed") else one, int(part["times"])))
    each = [one if times == 1 else one.repeat(times) for one, times in made]
    return each[0] if len(each) == 1 else compose(*each)


def _builder(key: str) -> Callable[..., Experiment]:
    if key == _WHOLE:
        return lambda experiment: experiment
    if key in RECIPES:
        found: Callable[..., Experiment] = getattr(import_module(RECIPES[key]), key)
        return found
    known: dict[str, CatalogueEntry] = {**MECHANISMS, **CLAIMS}
    if key not in known:
        raise InputError(
            f"the ledger speaks of {key[:40]!r}, which this version does not know: install a newer epsilens"
        )
    return builder(known[key])


def _scheduled(said: Mapping[str, object]) -> dict[str, object]:
    """Of a training, which lists its numbers where they change: these as its schedule."""
    lists = {name: value for name, value in said.items() if isinstance(value, list)}
    return {**{name: value for name, value in said.items() if name not in lists}, "schedule": lists or None}


def _value(value: object, depth: int) -> object:

    if isinstance(value, list):
        return [_value(v, depth) for v in value]
    if not isinstance(value, Mapping):
        return value
    if "experiment" in value:
        return _deserialize(value["experiment"], depth + 1)
    return _spread(value["diagonals"]) if "diagonals" in value else float(value["number"])
