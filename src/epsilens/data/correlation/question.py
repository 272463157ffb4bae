"""What is asked about correlated records: every argument of :func:`epsilens.correlate`, checked once and named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np

from ... import checks
from ...checks import Array
from ...errors import InputError
from .records import Bounds

Progress: TypeAlias = Callable[[int, int, str], None]


class Model(StrEnum):
    """How records are taken to depend on each other."""

    NORMAL = "normal"  # by a covariance
    TABLE = "table"  # by a joint table of a few values
    CHAIN = "chain"  # by steps from one time to the next

    def __repr__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class Wide:
    """A column for each record, a row being one observation of all of them."""


@dataclass(frozen=True)
class Groups:
    """Rows that share a value of ``by`` are related; ``size`` members count, the largest group's where it is None."""

    by: str
    size: int | None


@dataclass(frozen=True)
class OverTime:
    """Rows are a person at a time; a person's records are their values over time."""

    person: str
    time: str


Layout: TypeAlias = Wide | Groups | OverTime


@dataclass(frozen=True, eq=False)
class Question:
    """The records, the release and the search: its weights are a word or numbers, its noise one of three numbers.

    ``bounds`` holds a pair for each column that has bounds.
    """

    columns: tuple[str, ...]
    model: Model
    layout: Layout
    bounds: Mapping[str, Bounds]
    query: Any
    reach: Any
    scale: float | None
    sigma: float | None
    epsilon: float | None
    own_noise: bool
    confidence: float
    time_limit: float | None
    progress: Progress | None

    @classmethod
    def of(
        cls,
        columns: Sequence[str] | str,
        *,
        model: str,
        by: str | None,
        size: int | None,
        person: str | None,
        time: str | None,
        bounds: Any,
        scale: float | None,
        sigma: float | None,
        epsilon: float | None,
        time_limit: float | None,
        confidence: float,
        **others: Any,
    ) -> Question:
        """The question of what a caller gave, or a sentence about the first argument that is wrong."""
        if not isinstance(columns, Iterable) or not all(isinstance(c, str) for c in columns):
            raise InputError(f"columns is {columns!r:.60}: give a list of column names", parameter="columns")
        names = [c.strip() for c in columns.split(",")] if isinstance(columns, str) else list(columns)
        checks.one_of("model", model, tuple(Model))
        widths = {"scale": scale, "sigma": sigma, "epsilon": epsilon}
        given = [name for name, value in widths.items() if value is not None]
        if len(given) > 1:
            raise InputError(f"give one of {given[0]} and {given[1]}, not both: each says how much noise is added")
        numbers: dict[str, Any] = {
            name: None if value is None else float(checks.positive(name, checks.scalar(name, value)))
            for name, value in {**widths, "time_limit": time_limit}.items()
        }
        level = float(checks.probability("confidence", checks.scalar("confidence", confidence), closed=False))
        made = cls(
            columns=tuple(names),
            model=Model(model),
            layout=_layout(by, size, person, time),
            bounds={},
            confidence=level,
            **numbers,
            **others,
        )
        made._check_noise()
        made._check_layout(by, size, person, time)
        object.__setattr__(made, "bounds", _bounds(bounds, names))
        return made

    def _check_noise(self) -> None:
        if self.sigma is not None and self.model is not Model.NORMAL:
            raise InputError(
                f"sigma is for model='normal': with model={self.model!r} give scale or epsilon (Laplace noise)",
                parameter="sigma",
            )
        if self.sigma is None and not self.own_noise:
            raise InputError(
                "own_noise is for sigma (Gaussian noise): leave it out, or give sigma", parameter="own_noise"
            )

    def _check_layout(self, by: str | None, size: int | None, person: str | None, time: str | None) -> None:
        """Which of the three layouts of a table is meant, or a sentence on what is missing."""
        names = self.columns
        if not names:
            raise InputError("columns is empty: give the columns that hold the records", parameter="columns")
        if (person is None) != (time is None):
            raise InputError("give person and time together: a person's records are their values over time")
        if by is not None and person is not None:
            raise InputError("give by (rows in groups) or person and time (a person over time), not both")
        if by is None and size is not None:
            raise InputError(
                "size is for by, the column that puts rows into groups: leave it out or give by", parameter="size"
            )
        if by is not None and self.model is not Model.NORMAL:
            raise InputError(
                f"model is {self.model!r}: rows in groups (by) are related by model='normal' only", parameter="model"
            )
        if self.reach is not None and self.model is not Model.NORMAL:
            raise InputError(
                f"reach is for model='normal': with model={self.model!r} it follows from the values; give bounds",
                parameter="reach",
            )
        long = "by" if by is not None else "person and time" if person is not None else ""
        if long and len(names) != 1:
            raise InputError(
                f"columns has {len(names)} names: with {long} give the one column that holds the values",
                parameter="columns",
            )
        if not long and len(names) == 1:
            raise InputError(
                f"columns has one name, {names[0]!r}: give at least two records; or by, where rows in a group are "
                "related; or person and time, where a person has several rows",
                parameter="columns",
            )

    def weights(self, n: int) -> Array:
        """The weights of n records."""
        if isinstance(self.query, str):
            checks.one_of("query", self.query, ("sum",))
            return np.ones(n)
        weights = checks.real("query", self.query)
        if weights.shape != (n,):
            many = f"{weights.size} weights" if weights.ndim else "one number"
            raise InputError(
                f"query has {many} for {n} records: give 'sum' or one weight for each record", parameter="query"
            )
        if not weights.any():
            raise InputError("query has only weights of 0: give at least one that is not, or 'sum'", parameter="query")
        return weights

    def noise(self, most: float) -> dict[str, Any]:
        """``scale=`` or ``sigma=``; an ε means Laplace noise for a record that moves the answer by ``most``."""
        if self.sigma is not None:
            return {"sigma": self.sigma} if self.own_noise else {"sigma": self.sigma, "own_noise": False}
        return {"scale": most / (self.epsilon or 1.0) if self.scale is None else self.scale}

    def tell(self, done: float, what: str) -> None:
        """Report a share of the work done."""
        if self.progress is not None:
            self.progress(round(100 * done), 100, what)


def _layout(by: str | None, size: int | None, person: str | None, time: str | None) -> Layout:
    if by is not None:
        return Groups(by, size)
    return OverTime(person, time) if person is not None and time is not None else Wide()


def _bounds(bounds: Any, names: Sequence[str]) -> dict[str, Bounds]:
    """A pair for each column that has bounds."""
    if bounds is None:
        return {}
    if isinstance(bounds, Mapping):
        unknown = [name for name in bounds if name not in names]
        if unknown:
            raise InputError(
                f"bounds has {unknown[0]!r}, which is not among the columns: give {names[0]!r} and the like",
                parameter="bounds",
            )
        pairs = dict(bounds)
    else:
        numbers = checks.real("bounds", bounds)
        if numbers.shape == (2,):
            pairs = dict.fromkeys(names, numbers)
        elif numbers.shape == (len(names), 2):
            pairs = dict(zip(names, numbers, strict=True))
        else:
            raise InputError(
                f"bounds is {bounds!r}: give (lowest, highest), or such a pair for each column", parameter="bounds"
            )
    made = {}
    for name, pair in pairs.items():
        ends = checks.real(f"bounds of {name!r}", pair)
        if ends.shape != (2,) or not ends[0] < ends[1]:
            shown = ", ".join(f"{v:g}" for v in ends.ravel())
            raise InputError(f"bounds of {name!r} is ({shown}): give (lowest, highest), the first below the second")
        made[name] = (float(ends[0]), float(ends[1]))
    return made
