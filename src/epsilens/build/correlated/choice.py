"""The noise that keeps a reading of every adversary of discrete records at or under a limit."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ... import checks
from ...catalogue.readings import find
from ...choice.choice import Binding, Choice, argument
from ...errors import InputError, NoSolutionError
from ...numerics.roots import last_safe
from .risk import Model, Outcome, Risk
from .worst import Progress

__all__ = ["choose"]

_LATE = "the search ended at its time limit: the noise covers the proven bound and may be more than needed"


def choose(
    model: Model,
    at_most: float,
    reading: str,
    noise: str,
    time_limit: float | None,
    progress: Progress | None,
    arguments: Mapping[str, Any],
) -> Choice:
    """See :meth:`Records.choose`."""
    if not isinstance(reading, str):
        raise InputError(
            f"reading is {reading!r:.60}: give the name of a reading, such as 'leakage' or 'success'",
            parameter="reading",
        )
    name = {"laplace": "scale", "gaussian": "sigma"}[checks.choice("noise", noise, ("laplace", "gaussian"))]
    told, args = _reading(reading, name, arguments)
    limit = checks.scalar("at_most", at_most)
    floor = Risk(told, name, 1.0, args).floor
    if not limit > floor:
        raise NoSolutionError(
            f"no {name} keeps the worst {reading} at or under {limit:g}: even pure noise reaches {floor:.6g}, "
            "so give a limit above that",
            floor=floor,
            parameter=name,
        )
    most, everyone = float(model.reach.max()), float(model.reach.sum())
    if most == 0:
        raise InputError("no record moves the answer: every weight or every range is 0, so no noise is needed")
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit

    def risk(width: float) -> Risk:
        return Risk(told, name, width, args)

    def search(width: float) -> Outcome:
        return model.search(risk(width), deadline, progress)

    # everyone else known: the mechanism alone sets the least noise
    width = _least(lambda w: risk(w).shift(most), limit, most)
    found, step = search(width), 2.0**-52
    for _ in range(200):
        if found.upper <= limit or found.value <= limit:  # done, or the deadline came before the proof
            break
        if found.value <= limit * (1 + 1e-9):  # solved; two ways to one number differ in the last digits
            width, step = width * (1 + step), 2 * step
        else:
            numbers = {j: model.parts.number(j, v) for j, v in (found.values or {}).items()}
            laws = model.alone(found.target) if found.values is None else model.laws(found.target, numbers)
            width = max(_least(lambda w: risk(w).read(laws)[0], limit, width), width)  # noqa: B023 - used at once
        found = search(width)
    binding = Binding.LIMIT
    remarks: tuple[str, ...] = ()
    if found.upper > limit:
        remarks = (_LATE,)
        width = _least(lambda w: risk(w).shift(everyone), limit, most)
        found = replace(search(width), upper=risk(width).shift(everyone))
    known: Any = found.values if found.values is not None else found.known
    try:
        shown = model.experiment(found.target, known, **{name: width})
    except InputError:  # noise too narrow for the readings of a mixture: show the bare mechanism
        shown = model.experiment(found.target, [j for j in range(model.n) if j != found.target], **{name: width})
    if width <= 1e-250 * most:
        binding, remarks = Binding.NONE, ()
    if told == "leakage":  # what experiments call pure ε
        told, args = "epsilon", {"delta": 0.0}
    return Choice(name, width, found.upper, told, args, limit, shown, "search", binding, remarks)


def _reading(reading: str, name: str, given: Mapping[str, Any]) -> tuple[str, dict[str, float]]:
    if reading == "leakage":
        if name == "sigma":
            raise InputError(
                "leakage is unbounded under Gaussian noise: bound 'psi', or 'epsilon' with a delta, instead",
                parameter="reading",
            )
        if given:
            raise InputError(
                f"the reading 'leakage' does not take {next(iter(given))!r}: it takes no arguments", parameter="reading"
            )
        return reading, {}
    wanted = find(reading)
    asked = wanted.arguments(given)
    if "prior" in asked:
        checks.probability("prior", checks.scalar("prior", asked["prior"]), closed=False)
    args = {k: argument(k, v) for k, v in asked.items()}
    if reading == "epsilon" and name == "scale" and args["delta"] == 0:
        return "leakage", {}
    return wanted.name, args


def _least(read: Callable[[float], float], limit: float, start: float) -> float:
    """The least width at which a falling reading is at or under the limit, on the safe side."""
    low = high = start
    here = read(high)
    while here > limit:  # most readings fall like 1/width, so their ratio says how far to go
        if high > 1e300 * min(start, 1.0):
            raise NoSolutionError(f"no noise that doubles hold reaches {limit:g}: give a larger limit", floor=here)
        low, high = high, high * min(max(1.01 * here / limit, 1.5), 1e6)
        here = read(high)
    while low == high or read(low) <= limit:
        high, low = low, low / min(max(1.01 * limit / max(read(low), 1e-300), 1.5), 1e6)
        if low < 1e-290 * start:
            return high
    return last_safe(lambda w: read(w) - limit, high, low)
