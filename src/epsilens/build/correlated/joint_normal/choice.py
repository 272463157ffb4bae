"""The noise that keeps a reading of every adversary of jointly normal records at or under a limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from .... import checks
from ....choice.choice import Choice
from ....choice.choice import choose as pick
from ....errors import InputError
from ....experiment import Experiment
from ....laws.closed.laplace import Laplace
from ....laws.closed.normal import Normal
from ....laws.closed.sums import NormalLaplaceShift
from ..worst import Progress
from . import enumeration
from .problem import Adversary, Problem
from .search import Result

__all__ = ["choose"]

_ENUMERATE_SECONDS = 10.0
_NOT_COUNTED = (
    "the data's own randomness is not counted, because there are too many adversaries to compare: the noise is safe "
    "for all of them and may be more than needed"
)

Candidate = tuple[int, tuple[int, ...], Adversary]


class Model(Protocol):
    """What choosing asks of jointly normal records."""

    @property
    def n(self) -> int:
        """How many records."""
        ...

    @property
    def problem(self) -> Problem:
        """The same in units of each record's reach."""
        ...

    def largest_shift(self, time_limit: float | None, progress: Progress | None = None) -> Result:
        """The adversary with the largest shift."""
        ...

    def seen_by(
        self, i: int, known: tuple[int, ...], seen: Adversary, name: str, width: float, own_noise: bool
    ) -> Experiment:
        """The experiment of one adversary."""
        ...


def choose(
    model: Model,
    at_most: float,
    reading: str,
    noise: str,
    own_noise: bool,
    time_limit: float | None,
    progress: Progress | None,
    arguments: Mapping[str, Any],
) -> Choice:
    """See :meth:`NormalRecords.choose`."""
    if not isinstance(reading, str):
        raise InputError(
            f"reading is {reading!r:.60}: give the name of a reading, such as 'leakage' or 'success'",
            parameter="reading",
        )
    name = {"laplace": "scale", "gaussian": "sigma"}[checks.choice("noise", noise, ("laplace", "gaussian"))]
    if reading == "leakage":
        if name == "sigma":
            raise InputError(
                "leakage is unbounded under Gaussian noise: bound 'psi', or 'epsilon' with a delta, instead",
                parameter="reading",
            )
        if arguments:
            raise InputError(
                f"the reading 'leakage' does not take {next(iter(arguments))!r}: it takes no arguments",
                parameter="reading",
            )
        reading, arguments = "epsilon", {"delta": 0.0}
    # for pure ε under Laplace noise own randomness changes nothing: the largest shift decides
    pure = name == "scale" and reading == "epsilon" and float(arguments.get("delta", 0.0)) == 0
    candidates: list[Candidate] | None = None
    remarks: tuple[str, ...] = ()
    if own_noise and not pure:
        candidates = _candidates(model, time_limit, progress)
        remarks = () if candidates else (_NOT_COUNTED,)
    if candidates is None:
        result = model.largest_shift(time_limit, progress)
        found = result.found
        candidates = [(found.target, found.known, Adversary(found.upper, 0.0))]
        if not result.complete:
            remarks = (*remarks, "the search ended at its time limit: the noise covers the proven bound")
    most = max(seen.shift for *_, seen in candidates)
    if most == 0:
        raise InputError("no record moves the answer: every weight is 0, so no noise is needed")
    binding = max(candidates, key=lambda c: c[2].shift)
    for _ in range(1000):

        def mechanism(*, sensitivity: float, who: Candidate = binding, **width: float) -> Experiment:
            return model.seen_by(*who, name, width[name], True)

        choice = pick(mechanism, name, at_most=at_most, reading=reading, given={"sensitivity": most}, **arguments)
        readings = _read(candidates, name, choice)
        top = int(np.argmax(readings))
        if readings[top] <= choice.limit or candidates[top] == binding:
            break
        binding = candidates[top]
    if pure:
        target, known, seen = binding
        own = model.problem.adversary(target, known).own if own_noise else 0.0
        shown = model.seen_by(target, known, Adversary(seen.shift, own), name, choice.value, own_noise)
        choice = replace(choice, experiment=shown)
    return replace(choice, remarks=remarks)


def _candidates(model: Model, time_limit: float | None, progress: Progress | None) -> list[Candidate] | None:
    """The adversaries that no other beats in both shift and own randomness, where all can be enumerated in time."""
    allowed = _ENUMERATE_SECONDS if time_limit is None else time_limit
    if model.n > enumeration.LARGEST or enumeration.seconds(model.n) > allowed:
        return None
    return enumeration.front(model.problem, progress=progress)


def _read(candidates: list[Candidate], name: str, choice: Choice) -> Any:
    """The chosen reading of every candidate at the chosen noise, in one go."""
    shift = np.asarray([seen.shift for *_, seen in candidates])
    own = np.asarray([seen.own for *_, seen in candidates])
    width = choice.value
    if name == "sigma":
        return _reading(Normal(shift / np.hypot(width, own)), choice)
    out = np.empty(shift.size)
    bare = (own <= 1e-12 * width) | (shift == 0)
    if bare.any():
        out[bare] = _reading(Laplace(shift[bare] / width), choice)
    if not bare.all():
        out[~bare] = _reading(NormalLaplaceShift(own[~bare] / width, shift[~bare] / width), choice)
    return out


def _reading(law: Any, choice: Choice) -> Any:
    return getattr(Experiment(law), choice.reading_name)(**choice.arguments)
