"""What a plan means on plain rows: which count, and the exact numbers of every group. In Python's own library alone.

This is Definition P1 of docs/proofs/plans.md. The engines of :mod:`.answers` must give the same numbers, the
stand-alone script carries this file as it is, and the judge of plans enumerates small tables through it. Rows are
mappings, NULL and NaN are ``None``; a plan comes as :func:`~.cells.rules_of` writes it. It imports nothing of epsilens.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from fractions import Fraction
from typing import Any

Row = Mapping[str, Any]
Label = tuple[Any, ...]


class Stopped(Exception):  # noqa: N818 - reads as what it is
    """Something is wrong; nothing was drawn."""


# -- conditions: what is unknown stays unknown --------------------------------------------------------------------


def compared(left: Any, how: str, right: Any) -> bool | None:
    """Whether two values stand like this; unknown where one is missing."""
    if left is None or right is None:
        return None
    found = int(left > right) - int(left < right)
    return {"=": found == 0, "<>": found != 0, "<": found < 0, "<=": found <= 0, ">": found > 0, ">=": found >= 0}[how]


def every(*terms: bool | None) -> bool | None:
    """AND."""
    return False if any(t is False for t in terms) else None if any(t is None for t in terms) else True


def some(*terms: bool | None) -> bool | None:
    """OR."""
    return True if any(t is True for t in terms) else None if any(t is None for t in terms) else False


def opposite(term: bool | None) -> bool | None:
    """NOT."""
    return None if term is None else not term


def calculated(left: Any, how: str, right: Any) -> Any:
    """Arithmetic; unknown where it divides by zero or leaves the range of numbers."""
    if left is None or right is None or (how in "/%" and right == 0):
        return None
    whole = isinstance(left, int) and isinstance(right, int) and how != "/"
    a, b = (left, right) if whole else (float(left), float(right))
    try:
        if how == "%":
            found = a - b * int(a / b) if whole and abs(a) < 2**52 else math.fmod(a, b)
        else:
            found = {"+": a + b, "-": a - b, "*": a * b}[how] if how != "/" else a / b
    except OverflowError:
        return None
    return found if (abs(found) < 2**62 if whole else math.isfinite(found)) else None


def alike(text: str | None, pattern: str) -> bool | None:
    """LIKE; capitals count."""
    if text is None:
        return None
    parts = (".*" if c == "%" else "." if c == "_" else re.escape(c) for c in pattern)
    return re.fullmatch("".join(parts), text, re.DOTALL) is not None


# -- whose rows count ---------------------------------------------------------------------------------------------


def text(part: Any) -> str:
    """A value as it is hashed."""
    if part is None:
        return "\x1e"
    if isinstance(part, bool):
        return str(int(part))
    if isinstance(part, date):
        return f"{part:%Y%m%d}"
    if isinstance(part, float):
        size = min(abs(part), 2.0**62)
        return ("-" if part < 0 else "") + f"{math.floor(size)} {math.floor((size - math.floor(size)) * 2.0**62)}"
    return str(part)


def place(key: str, *parts: Any) -> str:
    """Where something stands in the order that decides what is kept."""
    return hashlib.md5("\x1f".join([key, *map(text, parts)]).encode()).hexdigest()[:15]


def places(rows: Sequence[Row], plan: Mapping[str, Any]) -> list[str]:
    """Where each row stands among those of its owner, whatever query asks.

    By its content, which leaves out the columns that tell the secret; rows with one content are numbered, by those
    columns and by the digits that a text leaves out.
    """
    owner, key, content, beside = plan["owner"], plan["key"], plan["content"], plan["beside"]
    same: dict[Label, list[int]] = defaultdict(list)
    for k, r in enumerate(rows):
        same[(r[owner], *(text(r[c]) for c in content))].append(k)

    def order(k: int) -> tuple[str, list[float]]:
        cells = [rows[k][c] for c in [*content, *beside]]
        return place(key, rows[k][owner], *(rows[k][c] for c in beside)), [x for x in cells if isinstance(x, float)]

    found = [""] * len(rows)
    for which in same.values():
        for number, k in enumerate(sorted(which, key=order) if len(which) > 1 else which):
            found[k] = place(key, rows[k][owner], *(rows[k][c] for c in content), *([number] if number else []))
    return found


def listed_in(query: Mapping[str, Any], plan: Mapping[str, Any]) -> list[Label] | None:
    """The groups the plan lists, as the columns have them."""
    if query["groups"] is None:
        return None
    kinds = [plan["columns"][name] for name in query["by"]]
    return [
        tuple(
            date.fromisoformat(p) if kind == "date" and p is not None else p
            for p, kind in zip(label, kinds, strict=True)
        )
        for label in query["groups"]
    ]


def kept(
    rows: Sequence[Row], query: Mapping[str, Any], plan: Mapping[str, Any], covers: Callable[[Row], Any]
) -> list[Row]:
    """The rows (or people, a row each) of a query that count."""
    by, column, owner, key = query["by"], query["column"], plan["owner"], plan["key"]
    listed = listed_in(query, plan)
    covered = [k for k, r in enumerate(rows) if covers(r) is True and (listed is None or label(r, by) in listed)]
    used = [k for k in covered if column is None or rows[k][column] is not None]
    if query["public"] and len(used) < len(covered):
        raise Stopped(f"size is public, but {column!r} has no value in some rows: fill the column in")
    if owner is None:
        return [rows[k] for k in used]
    own: dict[Any, list[tuple[str, Row]]] = defaultdict(list)
    if query["whose"]:  # those who are counted, once in a group
        whose = query["whose"]
        once = {(*label(rows[k], whose), *(text(rows[k][c]) for c in by)): rows[k] for k in used}
        for r in once.values():
            own[r[owner]].append((place(key, *label(r, [*whose, *by])), r))
    else:
        where = places(rows, plan)
        for k in used:
            own[rows[k][owner]].append((where[k], rows[k]))
    stays: list[Row] = []
    for one, mine in own.items():
        inside = sorted(mine, key=lambda pair: pair[0])
        if query["spread"] is not None:
            order = sorted({label(r, by) for _, r in mine}, key=lambda group: place(key, one, *group))
            chosen = set(order[: query["spread"]])
            inside = [pair for pair in inside if label(pair[1], by) in chosen]
        stays += [r for _, r in inside[: query["most"]]]
    return stays


def touched(rows: Sequence[Row], query: Mapping[str, Any], plan: Mapping[str, Any], covers: Any) -> int:
    """How many people are in more groups of a query than they are counted in: confidential."""
    owner = plan["owner"]
    free = {**query, "most": len(rows)}
    all_groups, some = (Counter(r[owner] for r in kept(rows, q, plan, covers)) for q in (free, query))
    return sum(all_groups[one] > some[one] for one in all_groups)


def label(row: Row, by: Sequence[str]) -> Label:
    """The group of a row."""
    return tuple(row[c] for c in by)


def steps(number: Any, low: int, high: int, digits: int) -> int:
    """A value as a whole number of steps within its bounds."""
    least, most = (float(end * Fraction(10) ** -digits) for end in (low, high))
    cut = min(max(float(number), least), most)
    cut = cut * 10.0**digits if digits >= 0 else cut / 10.0**-digits
    return min(max(math.floor(cut + 0.5), low), high)


def numbers(rows: Sequence[Row], query: Mapping[str, Any], plan: Mapping[str, Any], covers: Any) -> dict[Label, Any]:
    """The exact numbers of each group that may be published: of every listed one, else of those with a row that counts.

    A group all of whose rows were left out is not there: its name would tell of somebody whom no noise covers.
    """
    by, owner = query["by"], plan["owner"]
    inside: dict[Label, list[Row]] = defaultdict(list)
    for r in kept(rows, query, plan, covers):
        inside[label(r, by)].append(r)
    found = listed_in(query, plan)
    if found is None:
        found = sorted(inside, key=lambda group: [(p is None, p) for p in group])
    made: dict[Label, dict[str, Fraction]] = {}
    for group in found if by else [()]:
        mine = inside.get(group, [])
        own = {"size": Fraction(len(mine)), "answer": Fraction(len(mine))}
        own["people"] = Fraction(len(mine) if owner is None else len({r[owner] for r in mine}))
        if query["column"] is not None:
            low, high, digits = query["steps"]
            total = sum(steps(r[query["column"]], low, high, digits) for r in mine)
            own["answer"] = Fraction(total)
            own["total"] = total - len(mine) * Fraction(low + high, 2)
        made[group] = own
    return made
