"""Conditions on a row, written as SQL for a plan and decided here by SQL's three values, without epsilens."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

#: What a cell of the table holds.
Cell = str | float | None

_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _literal(value: Cell) -> str:
    return f"'{value}'" if isinstance(value, str) else f"{value:g}"


@dataclass(frozen=True)
class Compare:
    """A column against a value."""

    column: str
    sign: str
    value: Cell

    def holds(self, row: Mapping[str, Cell]) -> bool | None:
        cell: Any = row[self.column]
        return None if cell is None else bool(_SIGNS[self.sign](cell, self.value))

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({self.column})

    @property
    def constants(self) -> tuple[tuple[str, Cell], ...]:
        return ((self.column, self.value),)

    def __str__(self) -> str:
        return f"{self.column} {self.sign} {_literal(self.value)}"


@dataclass(frozen=True)
class Between:
    """A column in a range."""

    column: str
    low: float
    high: float

    def holds(self, row: Mapping[str, Cell]) -> bool | None:
        cell: Any = row[self.column]
        return None if cell is None else self.low <= cell <= self.high

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({self.column})

    @property
    def constants(self) -> tuple[tuple[str, Cell], ...]:
        return ((self.column, self.low), (self.column, self.high))

    def __str__(self) -> str:
        return f"{self.column} BETWEEN {self.low:g} AND {self.high:g}"


@dataclass(frozen=True)
class OneOf:
    """A column among values."""

    column: str
    values: tuple[Cell, ...]

    def holds(self, row: Mapping[str, Cell]) -> bool | None:
        cell = row[self.column]
        return None if cell is None else cell in self.values

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({self.column})

    @property
    def constants(self) -> tuple[tuple[str, Cell], ...]:
        return tuple((self.column, v) for v in self.values)

    def __str__(self) -> str:
        return f"{self.column} IN ({', '.join(map(_literal, self.values))})"


@dataclass(frozen=True)
class Empty:
    """A column without a value."""

    column: str
    negated: bool = False

    def holds(self, row: Mapping[str, Cell]) -> bool | None:
        return (row[self.column] is None) != self.negated

    @property
    def columns(self) -> frozenset[str]:
        return frozenset({self.column})

    @property
    def constants(self) -> tuple[tuple[str, Cell], ...]:
        return ()

    def __str__(self) -> str:
        return f"{self.column} IS {'NOT ' if self.negated else ''}NULL"


@dataclass(frozen=True)
class All:
    """Two conditions together: both (and), or at least one (or)."""

    first: Condition
    second: Condition
    either: bool = False

    def holds(self, row: Mapping[str, Cell]) -> bool | None:
        got = (self.first.holds(row), self.second.holds(row))
        settles = self.either
        return settles if settles in got else None if None in got else not settles

    @property
    def columns(self) -> frozenset[str]:
        return self.first.columns | self.second.columns

    @property
    def constants(self) -> tuple[tuple[str, Cell], ...]:
        return self.first.constants + self.second.constants

    def __str__(self) -> str:
        return f"({self.first}) {'OR' if self.either else 'AND'} ({self.second})"


@dataclass(frozen=True)
class Not:
    """The opposite of a condition; what is unknown stays unknown."""

    inner: Condition

    def holds(self, row: Mapping[str, Cell]) -> bool | None:
        got = self.inner.holds(row)
        return None if got is None else not got

    @property
    def columns(self) -> frozenset[str]:
        return self.inner.columns

    @property
    def constants(self) -> tuple[tuple[str, Cell], ...]:
        return self.inner.constants

    def __str__(self) -> str:
        return f"NOT ({self.inner})"


Condition = Compare | Between | OneOf | Empty | All | Not
