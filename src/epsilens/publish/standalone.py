"""What a stand-alone script runs: a plan on a CSV file, with Python's own library and opendp alone.

``epsilens release --script`` copies this file into the script, below the plan. It imports nothing of epsilens. Which
rows and groups of a person are kept, and how sums are cut into steps, is the same rule as everywhere; the noise has the
same law, checked against OpenDP's own account before anything is drawn.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import re
import sys
from collections import defaultdict
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


# -- the table ----------------------------------------------------------------------------------------------------


def read(path: str, columns: Mapping[str, str]) -> list[Row]:
    """The rows of a CSV file with these columns; an empty cell is nothing."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        head = next(reader, [])
        missing = [name for name in columns if head.count(name) != 1]
        if missing:
            raise Stopped(f"{path} must have the column {missing[0]!r} once")
        places = {name: head.index(name) for name in columns}
        return [
            {name: value(cells[place], columns[name], name, line) for name, place in places.items()}
            for line, cells in enumerate(reader, 2)
            if cells
        ]


def value(cell: str, kind: str, name: str, line: int) -> Any:
    """A cell as its column has it; the cell itself is never shown."""
    if cell == "":
        return None
    try:
        if kind == "whole":
            return int(cell)
        if kind == "number":
            found = float(cell)
            return None if math.isnan(found) else found + 0.0
        if kind == "truth":
            return {"true": True, "false": False, "t": True, "f": False, "1": True, "0": False}[cell.strip().lower()]
        return date.fromisoformat(cell) if kind == "date" else cell
    except (ValueError, KeyError):
        raise Stopped(f"line {line} of the file has something in {name!r} that is no {kind}") from None


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
    used = [r for r in rows if covers(r) is True and (listed is None or tuple(r[c] for c in by) in listed)]
    has = [r for r in used if column is None or r[column] is not None]
    if query["public"] and len(has) < len(used):
        raise Stopped(f"size is public, but {column!r} has no value in some rows: fill the column in")
    used = has
    if owner is None:
        return used
    own: dict[Any, list[tuple[str, Row]]] = defaultdict(list)
    if query["whose"]:  # those who are counted, once in a group
        whose = query["whose"]
        once = {(*(r[c] for c in whose), *(text(r[c]) for c in by)): r for r in used}
        for r in once.values():
            own[r[owner]].append((place(key, *(r[c] for c in [*whose, *by])), r))
    else:
        wanted, seen = {id(r) for r in used}, dict[Any, int]()
        for r in rows:
            same = (r[owner], *(text(r[c]) for c in plan["content"]))
            again = seen[same] = seen.get(same, -1) + 1
            if id(r) in wanted:
                where = place(key, r[owner], *(r[c] for c in plan["content"]), *([again] if again else []))
                own[r[owner]].append((where, r))
    stays: list[Row] = []
    for one, mine in own.items():
        inside = sorted(mine, key=lambda pair: pair[0])
        if query["spread"] is not None:
            labels = sorted({tuple(r[c] for c in by) for _, r in mine}, key=lambda label: place(key, one, *label))
            chosen = set(labels[: query["spread"]])
            inside = [pair for pair in inside if tuple(pair[1][c] for c in by) in chosen]
        stays += [r for _, r in inside[: query["most"]]]
    return stays


def steps(number: Any, low: int, high: int, digits: int) -> int:
    """A value as a whole number of steps within its bounds."""
    least, most = (float(end * Fraction(10) ** -digits) for end in (low, high))
    cut = min(max(float(number), least), most)
    cut = cut * 10.0**digits if digits >= 0 else cut / 10.0**-digits
    return min(max(math.floor(cut + 0.5), low), high)


def numbers(rows: Sequence[Row], query: Mapping[str, Any], plan: Mapping[str, Any], covers: Any) -> dict[Label, Any]:
    """The exact numbers of each group: confidential."""
    stays = kept(rows, query, plan, covers)
    by, owner = query["by"], plan["owner"]
    found = listed_in(query, plan)
    if found is None:
        found = sorted({tuple(r[c] for c in by) for r in stays}, key=lambda label: [(p is None, p) for p in label])
    made: dict[Label, dict[str, Fraction]] = {}
    for label in found if by else [()]:
        inside = [r for r in stays if tuple(r[c] for c in by) == label]
        own = {"size": Fraction(len(inside)), "answer": Fraction(len(inside))}
        own["people"] = Fraction(len(inside) if owner is None else len({r[owner] for r in inside}))
        if query["column"] is not None:
            low, high, digits = query["steps"]
            total = sum(steps(r[query["column"]], low, high, digits) for r in inside)
            own["answer"] = Fraction(total)
            own["total"] = total - len(inside) * Fraction(low + high, 2)
        made[label] = own
    return made


# -- noise --------------------------------------------------------------------------------------------------------


def measurement(noise: str, scale: float, threshold: float | None) -> Any:
    """OpenDP's own, on doubles: whole numbers would get other noise."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    number, normal = dp.atom_domain(T="f64", nan=False), noise == "gaussian"
    if threshold is None:
        metric = dp.l2_distance(T="f64") if normal else dp.l1_distance(T="f64")
        make = dp.m.make_gaussian if normal else dp.m.make_laplace
        return make(dp.vector_domain(number), metric, scale=scale)
    within = dp.absolute_distance(T="f64")
    metric = dp.l02inf_distance(within) if normal else dp.l01inf_distance(within)
    make = dp.m.make_gaussian_threshold if normal else dp.m.make_laplace_threshold
    return make(dp.map_domain(dp.atom_domain(T=str), number), metric, scale=scale, threshold=threshold)


def checked(drawing: Mapping[str, Any]) -> Any:
    """The measurement, once its own account is the plan's."""
    made = measurement(drawing["noise"], drawing["scale"], drawing["threshold"])
    moved = drawing["sensitivity"]
    if drawing["threshold"] is not None:
        said = made.map((drawing["moving"], moved, float(drawing["alone"])))[0]
    else:
        said = made.map(moved)
    if not abs(said - drawing["promised"]) <= 1e-12 * drawing["promised"]:
        raise Stopped("OpenDP accounts another loss than was assessed: nothing is drawn")
    return made


def double(number: Fraction) -> float:
    """Exactly, or cut to what a double holds exactly."""
    return float(max(Fraction(-(2**53)), min(number, Fraction(2**53))))


def drawn(query: Mapping[str, Any], exact: Mapping[Label, Any]) -> dict[str, dict[Label, float]]:
    """The noisy numbers of the groups that are published."""
    labels, found = list(exact), dict[str, dict[Label, float]]()
    for name, drawing in sorted(query["drawings"].items(), key=lambda item: item[1]["threshold"] is None):
        made = checked(drawing)
        if drawing["threshold"] is not None:
            keys = {json.dumps([None if p is None else str(p) for p in label]): label for label in labels}
            got = made({key: double(exact[label][name]) for key, label in keys.items()})
            labels = [label for key, label in keys.items() if key in got]
            found[name] = {keys[key]: noisy * drawing["unit"] for key, noisy in got.items()}
        else:
            noisy = made([double(exact[label][name]) for label in labels]) if labels else []
            found[name] = {label: x * drawing["unit"] for label, x in zip(labels, noisy, strict=True)}
    return {name: {label: of[label] for label in labels} for name, of in found.items()}


# -- answers ------------------------------------------------------------------------------------------------------

BEYOND = {"laplace": (math.log(20), math.log(40)), "gaussian": (1.959963984540054, 2.241402727604947)}


def answered(
    query: Mapping[str, Any], noisy: Mapping[str, Mapping[Label, float]], exact: Mapping[Label, Any]
) -> list[list[Any]]:
    """Rows of the file: the group, the answer and the interval that holds it 95 times of 100."""
    made = []
    first = next(iter(noisy.values()))
    for label in first:
        if query["kind"] == "average":
            size = {"size": float(exact[label]["size"])} if query["public"] else {}
            ends = averaged(query, {**size, **{name: of[label] for name, of in noisy.items()}})
        else:
            drawing = query["drawings"]["answer"]
            away = drawing["scale"] * drawing["unit"] * BEYOND[drawing["noise"]][0]
            middle = noisy["answer"][label]
            ends = (middle, middle - away, middle + away)
            if query["column"] is None:
                ends = (round(middle), math.floor(middle - away - 0.5), math.ceil(middle + away + 0.5))
        made.append([*label, *ends])
    return made


def averaged(query: Mapping[str, Any], noisy: Mapping[str, float]) -> tuple[float, float, float]:
    """Centre + total / size, within the bounds; both intervals at 97.5 of 100 hold together; a public size has none."""
    least, most = query["bounds"]
    centre, drawings = least / 2 + most / 2, query["drawings"]
    share = BEYOND[drawings["total"]["noise"]][0 if query["public"] else 1]
    total, size = noisy["total"], noisy["size"]
    spread = share * drawings["total"]["scale"] * drawings["total"]["unit"]
    away = 0.0 if query["public"] else share * drawings["size"]["scale"]
    sizes = size - away, size + away
    found = centre + total / size if size >= 1 else centre
    ends = [centre + t / n for t in (total - spread, total + spread) for n in sizes] if sizes[0] >= 1 else [least, most]
    return tuple(min(max(x, least), most) for x in (found, min(ends), max(ends)))


def run(plan: Mapping[str, Any], conditions: Sequence[Callable[[Row], Any]], arguments: Sequence[str]) -> int:
    """Read the table, draw, write the file."""
    if len(arguments) != 2:
        sys.stderr.write("give the table and the file for the answers:  python script.py people.csv answers.csv\n")
        return 2
    try:
        for query in plan["queries"]:
            for drawing in query["drawings"].values():
                checked(drawing)
        rows = read(arguments[0], plan["columns"])
        rows = [r for r in rows if all(r[name] is not None for name in plan["owners"])]
        made = []
        for query, covers in zip(plan["queries"], conditions, strict=True):
            exact = numbers(rows, query, plan, covers)
            made.append((query, answered(query, drawn(query, exact), exact)))
    except (Stopped, OSError, UnicodeDecodeError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    with open(arguments[1], "w", newline="", encoding="utf-8") as file:
        for line in plan["remarks"]:
            file.write(f"# {line}\n")
        columns = list(dict.fromkeys(name for query in plan["queries"] for name in query["by"]))
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["query", *columns, "answer", "low", "high"])
        for query, answers in made:
            for *label, answer, low, high in answers:
                group = dict(zip(query["by"], label, strict=True))
                cells = ["" if group.get(name) is None else group[name] for name in columns]
                writer.writerow([query["name"], *cells, answer, low, high])
    sys.stderr.write(f"written to {arguments[1]}; enter it in your ledger:\n  {plan['enter']}\n")
    return 0
