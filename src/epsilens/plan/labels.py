"""The public names of groups, as values of the columns they stand for.

YAML reads ``1``, ``yes`` and ``2024-01-31`` as it likes; the table's columns have types. A name is read as its column's
type, and one that cannot be is refused: it would otherwise be released as a group of nobody.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import numpy as np

from ..data.tables.dialect import balanced
from ..data.tables.engines import need_ibis
from ..errors import InputError
from .asked import Label


def shown(label: Sequence[Any]) -> tuple[str, ...]:
    """A group as it is shown."""
    return tuple("(empty)" if part is None else str(part) for part in label)


def read_labels(given: Sequence[Sequence[Label]], types: Sequence[Any], names: Sequence[str]) -> tuple[Any, ...]:
    """The listed groups as values of columns of these types.

    >>> import ibis
    >>> read_labels([("1",), (2,), (None,)], [ibis.dtype("int64")], ["ward"])
    ((1,), (2,), (None,))
    """
    made = tuple(
        tuple(_read(part, kind, name) for part, kind, name in zip(label, types, names, strict=True)) for label in given
    )
    if len(set(made)) < len(made):
        raise InputError(
            "groups has a name twice, written in two ways: give each once, as the table has it", parameter="groups"
        )
    return made


def _read(label: Label, kind: Any, name: str) -> Any:
    if label is None:
        return None
    for is_it, read in _READERS:
        if is_it(kind):
            try:
                return read(label, kind)
            except (ValueError, ArithmeticError):
                break
    raise InputError(
        f"groups has {label!r}, which is not a value of {name!r} ({kind}): write it as the table has it, "
        "text that looks like something else in quotes",
        parameter="groups",
    )


def _text(label: Label, kind: Any) -> str:
    if isinstance(label, bool):  # YAML reads yes, no, on and off as true and false: which one was it?
        raise ValueError
    return str(label)


def _integer(label: Label, kind: Any) -> int:
    if isinstance(label, bool) or (isinstance(label, float) and label != math.floor(label)):
        raise ValueError
    return int(label)  # type: ignore[arg-type]


def _float(label: Label, kind: Any) -> float:
    if isinstance(label, bool) or math.isnan(float(label)):  # type: ignore[arg-type]
        raise ValueError
    number = float(label) + 0.0  # type: ignore[arg-type]
    return float(np.float32(number)) if kind.is_float32() else number


def _boolean(label: Label, kind: Any) -> bool:
    if str(label).lower() not in ("true", "false", "0", "1"):
        raise ValueError
    return str(label).lower() in ("true", "1")


def _decimal(label: Label, kind: Any) -> Decimal:
    if isinstance(label, bool):
        raise ValueError
    return Decimal(str(label))


_READERS: tuple[tuple[Callable[[Any], bool], Callable[[Any, Any], Any]], ...] = (
    (lambda k: k.is_string(), _text),
    (lambda k: k.is_boolean(), _boolean),
    (lambda k: k.is_integer(), _integer),
    (lambda k: k.is_floating(), _float),
    (lambda k: k.is_decimal(), _decimal),
    (lambda k: k.is_date(), lambda label, kind: date.fromisoformat(str(label))),
    (lambda k: k.is_timestamp(), lambda label, kind: datetime.fromisoformat(str(label))),
    (lambda k: k.is_time(), lambda label, kind: time.fromisoformat(str(label))),
)


def among(columns: Sequence[Any], labels: Sequence[Sequence[Any]]) -> Any:
    """Whether the columns hold one of the labels; never unknown, NULL being a label like others."""
    ibis = need_ibis()
    first, *rest = columns
    kind = first.type()

    def one_of(values: Sequence[Any]) -> Any:
        known = [ibis.literal(v, type=kind) for v in values if v is not None]
        found = first.isin(known).fill_null(False) if known else ibis.literal(False)
        return found | first.isnull() if None in values else found

    if not rest:
        return one_of([label[0] for label in labels])
    tails: dict[tuple[Any, ...], list[Any]] = {}  # what may follow, and after which values
    follow: dict[Any, list[Any]] = {}
    for label in labels:
        follow.setdefault(label[0], []).append(tuple(label[1:]))
    for value, after in follow.items():
        tails.setdefault(tuple(after), []).append(value)
    return balanced(operator.or_, [one_of(values) & among(rest, after) for after, values in tails.items()])
