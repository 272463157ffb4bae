"""What a plan takes from its table, in plain Python: slow, and written without the code under test.

Only the rule itself is shared with it: the key, and the text that is hashed.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from fractions import Fraction
from typing import Any

from epsilens.data.tables.row_limit import KEY

Row = Mapping[str, Any]


def missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def text(value: Any) -> str:
    if missing(value):
        return "\x1e"
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, datetime):  # to the second
        return f"{value:%Y%m%d1%H%M%S}"
    if isinstance(value, date):
        return f"{value:%Y%m%d}"
    if isinstance(value, time):
        return f"{value:1%H%M%S}"
    if isinstance(value, float):
        size = min(abs(value), 2.0**62)
        return ("-" if value < 0 else "") + f"{math.floor(size)} {math.floor((size - math.floor(size)) * 2.0**62)}"
    return str(value)


def number(*parts: Any) -> int:
    digest = hashlib.md5("\x1f".join([KEY, *map(text, parts)]).encode()).hexdigest()
    return int(digest[:15], 16)


def label_of(row: Row, by: Sequence[str]) -> tuple[Any, ...]:
    return tuple(None if missing(row[c]) else row[c] for c in by)


def kept(
    rows: Sequence[Row],
    query: Mapping[str, Any],
    data: Mapping[str, Any],
    content: Sequence[str],
    covers: Callable[[Row], bool],
) -> tuple[list[Row], list[Row], int]:
    """The items of a query (rows, or people as rows), those of them kept, and how many covered rows have no value."""
    by, column = query["by"], query.get("column")
    owner, person = data.get("unit") or data.get("person"), data.get("person")
    listed = query.get("groups")
    covered = [r for r in rows if covers(r) and (listed is None or label_of(r, by) in listed)]
    used = [r for r in covered if column is None or not missing(r[column])]
    nulls = len(covered) - len(used)
    if owner is None:
        return used, used, nulls
    m = data.get("max_rows", 1)
    limit, groups = m, data.get("max_groups", m)
    own: dict[Any, list[tuple[int, Row]]] = defaultdict(list)
    if column is None and not query.get("rows") and (data.get("unit") is None or person is not None):
        once = {}
        for r in used:
            member = (r[owner],) if data.get("unit") is None or person is None else (r[owner], r[person])
            once[(*member, *map(text, label_of(r, by)))] = (number(*member, *label_of(r, by)), r)
        used = [r for _, r in once.values()]
        for h, r in once.values():
            own[r[owner]].append((h, r))
        if data.get("unit") is None:
            limit, groups = data.get("max_groups", 1), math.inf
    else:
        wanted = {id(r) for r in used}
        seen: dict[Any, int] = defaultdict(int)
        # Rows with equal content differ in what the query does not look at: any of them may come first.
        for r in rows:
            key = (r[owner], *(text(r[c]) for c in content))
            again = seen[key]
            seen[key] += 1
            h = number(r[owner], *(r[c] for c in content), *([again] if again else []))
            if id(r) in wanted:
                own[r[owner]].append((h, r))
    stays = []
    for whose, mine in own.items():
        labels = sorted({label_of(r, by) for _, r in mine}, key=lambda label: number(whose, *label))
        chosen = set(labels if groups >= limit or not by else labels[: int(groups)])
        inside = sorted((pair for pair in mine if label_of(pair[1], by) in chosen), key=lambda pair: pair[0])
        stays += [r for _, r in inside[:limit]]
    return used, stays, nulls


def answers(
    rows: Sequence[Row],
    query: Mapping[str, Any],
    data: Mapping[str, Any],
    content: Sequence[str],
    covers: Callable[[Row], bool],
) -> dict[tuple[Any, ...], tuple[float, ...]]:
    """value, limited, bounded, rows, people, nulls of each group."""
    by, column, owner = query["by"], query.get("column"), data.get("unit") or data.get("person")
    used, stays, _ = kept(rows, query, data, content, covers)
    listed = query.get("groups")
    covered = [r for r in rows if covers(r)]
    labels = {label_of(r, by) for r in covered} if by else {()}
    found = {}
    for label in labels if listed is None else listed:
        inside = [r for r in used if label_of(r, by) == label]
        left = [r for r in stays if label_of(r, by) == label]
        nulls = sum(1 for r in covered if label_of(r, by) == label and column is not None and missing(r[column]))
        people = len(left) if owner is None else len({r[owner] for r in left})
        if column is None:
            numbers = [float(len(inside)), float(len(left)), float(len(left))]
        else:
            low, high = map(Fraction, query["bounds"])
            totals = [
                sum((Fraction(r[column]) for r in inside), Fraction(0)),
                sum((Fraction(r[column]) for r in left), Fraction(0)),
                sum((min(max(Fraction(r[column]), low), high) for r in left), Fraction(0)),
            ]
            sizes = (len(inside), len(left), len(left)) if query.get("kind") == "average" else (1, 1, 1)
            numbers = [float(t / n) if n else 0.0 for t, n in zip(totals, sizes, strict=True)]
        found[label] = (*numbers, len(left), people, nulls)
    return found
