"""An experiment written down as what it was built from, and built again exactly.

Only builders of the catalogue are called, with numbers and words: nothing that is read from a ledger can run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..build import builder
from ..build.composition import compose
from ..catalogue.mechanisms import CLAIMS, MECHANISMS, Entry
from ..errors import EpsilensError, InputError
from ..experiment import Experiment

__all__ = ["rebuilt", "written"]


def written(experiment: Experiment) -> list[dict[str, Any]]:
    """What an experiment was built from, ready for JSON: a builder, its parameters and how often, for each part.

    >>> import epsilens as el
    >>> written(el.compose(el.laplace(epsilon=0.5).repeat(2), el.gaussian(psi=1.0)))
    [{'builder': 'laplace', 'parameters': {'epsilon': 0.5}, 'times': 2}, {'builder': 'gaussian', ...}]
    """
    if experiment.many:
        raise InputError("this is many experiments at once: give one", parameter="experiment")
    made = [_part(part, times) for part, times in experiment.parts or ((experiment, 1),)]
    if rebuilt(made) != experiment:
        raise _cannot(experiment)
    return made


def _part(part: Experiment, times: int) -> dict[str, Any]:
    """The first way of saying it that builds the same."""
    turned = {"reversed": True} if part.worlds.reversed else {}
    for options in _ways(part):
        said = {name: _plain(value) for name, value in options.items()}
        made = {"builder": part.origin, "parameters": said, "times": times, **turned}
        try:
            if rebuilt([{**made, "times": 1}]) == part:
                return made
        except EpsilensError:
            continue
    raise _cannot(part)


def _ways(part: Experiment) -> Iterator[dict[str, Any]]:
    """How it may have been said: as the catalogue reproduces it, or by each of its ways with all that it takes."""
    entry = MECHANISMS.get(part.origin) or CLAIMS.get(part.origin)
    if entry is None:
        return
    known = {name: part.parameters[name] for name in entry.takes if name in part.parameters}
    ways: tuple[tuple[str, ...], ...] = (tuple(known),)
    if part.origin in MECHANISMS:
        mechanism = MECHANISMS[part.origin]
        if (short := mechanism.reproduced(part.parameters)) is not None:
            yield short
        ways = (*mechanism.said_by, *mechanism.ways)
    others = {name: value for name, value in known.items() if not any(name in way for way in ways)}
    for way in ways:
        if all(name in known for name in way):
            yield {**{name: known[name] for name in way}, **others}


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": repr(value)}  # JSON has no word for it
    return [_plain(v) for v in value] if isinstance(value, list | tuple) else value


def _cannot(part: Experiment) -> InputError:
    return InputError(
        f"{part.name} cannot be written down so that it is built again: enter what is known of it as a claim, such as "
        "from_zcdp(rho) or approximate(epsilon=, delta=)",
        parameter="experiment",
    )


def rebuilt(parts: Sequence[Mapping[str, Any]]) -> Experiment:
    """The experiment again.

    >>> rebuilt([{"builder": "laplace", "parameters": {"epsilon": 0.5}, "times": 2}])
    laplace(epsilon=0.5).repeat(2)
    """
    made = []
    for part in parts:
        one = builder(_entry(str(part["builder"])))(**{k: _number(v) for k, v in part["parameters"].items()})
        made.append((one.reverse() if part.get("reversed") else one, int(part["times"])))
    each = [one if times == 1 else one.repeat(times) for one, times in made]
    return each[0] if len(each) == 1 else compose(*each)


def _entry(key: str) -> Entry:
    known: dict[str, Entry] = {**MECHANISMS, **CLAIMS}
    if key not in known:
        raise InputError(
            f"the ledger speaks of {key[:40]!r}, which this version does not know: install a newer epsilens"
        )
    return known[key]


def _number(value: Any) -> Any:
    return float(value["number"]) if isinstance(value, Mapping) else value
