"""What a plan says about columns, as those columns have it: the public names of groups, and texts in conditions.

YAML reads ``1``, ``yes`` and ``2024-01-31`` as it likes; the table's columns have types. A name is read as its column's
type, and one that cannot be is refused: it would otherwise be released as a group of nobody.

Somebody who reads ``Ward`` as a category, without regard to capitals, means one ward by ``Ward = 'Cardiology'``, by
``groups: [Cardiology]`` and by ``cardiology``. So the texts beside such a column are brought into its form; a date must
be written as the form writes it, or it would be compared letter by letter with dates that look otherwise.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..data.tables.columns import ColumnFormat, ParsedType, normalize_text
from ..data.tables.conditions import columns_of, parse, render, syntax
from ..data.tables.dialect import balanced_join
from ..data.tables.engines import need_ibis
from ..errors import InputError
from .file import dotted_path, error_place
from .model import Label, Release, ReleaseQuery

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir

#: A label as the columns have it.
Values: TypeAlias = Sequence[object]


def display_label(label: Sequence[object]) -> tuple[str, ...]:
    return tuple("(empty)" if part is None else str(part) for part in label)


def read_labels(
    given: Sequence[Sequence[Label]], types: Sequence[dt.DataType], names: Sequence[str]
) -> tuple[tuple[object, ...], ...]:
    """The listed groups as values of columns of these types.

    >>> import ibis
    >>> read_labels([("1",), (2,), (None,)], [ibis.dtype("int64")], ["ward"])
    ((1,), (2,), (None,))
    """
    made = tuple(
        tuple(_read(part, kind, name) for part, kind, name in zip(label, types, names, strict=True)) for label in given
    )
    if len(set(made)) < len(made):
        raise InputError("groups has a name twice, written in two ways: give each once, as the table has it", "groups")
    return made


def _read(label: Label, kind: dt.DataType, name: str) -> object:
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


def _text(label: Label, kind: dt.DataType) -> str:
    if isinstance(label, bool):  # YAML reads yes, no, on and off as true and false: which one was it?
        raise ValueError
    return str(label)


def _integer(label: Label, kind: dt.DataType) -> int:
    if isinstance(label, bool) or (isinstance(label, float) and label != math.floor(label)):
        raise ValueError
    return int(label)  # type: ignore[arg-type]


def _float(label: Label, kind: dt.DataType) -> float:
    if isinstance(label, bool) or math.isnan(float(label)):  # type: ignore[arg-type]
        raise ValueError
    number = float(label) + 0.0  # type: ignore[arg-type]
    return float(np.float32(number)) if kind.is_float32() else number


def _boolean(label: Label, kind: dt.DataType) -> bool:
    if str(label).lower() not in ("true", "false", "0", "1"):
        raise ValueError
    return str(label).lower() in ("true", "1")


def _decimal(label: Label, kind: dt.DataType) -> Decimal:
    if isinstance(label, bool):
        raise ValueError
    return Decimal(str(label))


_READERS: tuple[tuple[Callable[[dt.DataType], bool], Callable[[Label, dt.DataType], object]], ...] = (
    (lambda k: k.is_string(), _text),
    (lambda k: k.is_boolean(), _boolean),
    (lambda k: k.is_integer(), _integer),
    (lambda k: k.is_floating(), _float),
    (lambda k: k.is_decimal(), _decimal),
    (lambda k: k.is_date(), lambda label, kind: date.fromisoformat(str(label))),
    (lambda k: k.is_timestamp(), lambda label, kind: datetime.fromisoformat(str(label))),
    (lambda k: k.is_time(), lambda label, kind: time.fromisoformat(str(label))),
)


def matches_labels(columns: Sequence[ir.Value], labels: Sequence[Values]) -> ir.Value:
    """Whether the columns hold one of the labels; never unknown, NULL being a label like others."""
    ibis = need_ibis()
    first, *rest = columns
    kind = first.type()

    def one_of(values: Values) -> ir.Value:
        known = [ibis.literal(v, type=kind) for v in values if v is not None]
        found = first.isin(known).fill_null(False) if known else ibis.literal(False)
        return found | first.isnull() if None in values else found

    if not rest:
        return one_of([label[0] for label in labels])
    tails: dict[tuple[Values, ...], list[object]] = {}  # what may follow, and after which values
    follow: dict[object, list[Values]] = {}
    for label in labels:
        follow.setdefault(label[0], []).append(tuple(label[1:]))
    for value, after in follow.items():
        tails.setdefault(tuple(after), []).append(value)
    return balanced_join(
        operator.or_, [one_of(values) & matches_labels(rest, after) for after, values in tails.items()]
    )


# -- texts in the forms of their columns ---------------------------------------------------------------------------

_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def normalized_plan(plan: Release) -> Release:
    """The plan with its conditions and groups in the forms of their columns."""
    forms = plan.data.forms
    if not forms:
        return plan
    data = plan.data
    secret = data.hidden
    with error_place("data.secret"):
        if secret is not None:
            where = _formed_condition(secret.where, forms, "secret")
            changed = secret.model_copy(update={"where": where})
            data = data.model_copy(update={"secret": where if isinstance(data.secret, str) else changed})
    queries = []
    for i, query in enumerate(plan.queries):
        with error_place(dotted_path(("queries", i)), groups=dotted_path(("queries", i, "groups"))):
            queries.append(_formed_query(query, forms))
    return plan.model_copy(update={"data": data, "queries": tuple(queries)})


def _formed_query(query: ReleaseQuery, forms: dict[str, ColumnFormat]) -> ReleaseQuery:
    changed: dict[str, object] = {}
    if isinstance(query.count, str):
        changed["count"] = _formed_condition(query.count, forms, "count")
    if query.where is not None:
        changed["where"] = _formed_condition(query.where, forms, "where")
    if query.groups is not None:
        named = [forms.get(name) for name in query.split_by]
        changed["groups"] = tuple(
            tuple(_formed_label(part, form) for part, form in zip(label, named, strict=True))
            if isinstance(label, tuple)
            else _formed_label(label, named[0])
            for label in query.groups
        )
    return query.model_copy(update=changed) if changed else query


def _formed_label(label: Label, form: ColumnFormat | None) -> Label:
    return _formed_text(label, form, "groups") if isinstance(label, str) and form is not None else label


def _formed_text(text: str, form: ColumnFormat, what: str) -> str:
    if form.kind is ParsedType.DATE and not _ISO.fullmatch(text):
        raise InputError(
            f"{what} has {text[:40]!r} beside a column that is read as a date: write it as '2024-12-31'", parameter=what
        )
    return normalize_text(text, form)


def _formed_condition(text: str, forms: dict[str, ColumnFormat], what: str) -> str:
    """The condition with each text in the form of the column it is compared with."""
    exp = syntax()
    tree = parse(text, what)
    changed = False
    for node in tree.find_all(exp.Predicate):
        columns = [c.name for c in node.find_all(exp.Column) if c.parent is node]
        form = next((forms[name] for name in columns if name in forms), None)
        if form is None:
            continue
        for literal in [x for x in node.find_all(exp.Literal) if x.parent is node and x.is_string]:
            like = isinstance(node, exp.Like)
            written = literal.this if like and form.kind is ParsedType.DATE else _formed_text(literal.this, form, what)
            changed |= written != literal.this
            literal.set("this", written)
    return render(tree) if changed else text


def mentioned_columns(plan: Release) -> frozenset[str]:
    data = plan.data
    found = {*data.quasi_identifiers, *data.read, *filter(None, (data.person, data.unit, data.related))}
    if data.hidden is not None:
        found |= columns_of(data.hidden.where, "secret") | set(data.hidden.columns)
    for query in plan.queries:
        found |= {*query.split_by, *filter(None, (query.sum, query.average, query.histogram))}
        for where in (query.count, query.where):
            found |= columns_of(where) if isinstance(where, str) else set()
    return frozenset(found)
