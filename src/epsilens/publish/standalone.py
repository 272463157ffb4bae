"""What a stand-alone script runs: a plan on a CSV file, with Python's own library and opendp alone.

``epsilens release --script`` copies :mod:`epsilens.plan.plain_cells` and this file into the script, above the plan. The
noise has the law of a release, checked against OpenDP's own account before anything is drawn.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ..plan.plain_cells import Label, Row, Stopped, numbers, touched

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
        if name == "touched":
            continue  # one number for all groups
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

MISS = 0.05  # an interval may miss


def beyond(noise: str, x: float) -> float:
    """The logarithm of the chance that noise of scale 1 is above x."""
    if noise == "laplace":
        return math.log(0.5) - x if x >= 0 else math.log1p(-0.5 * math.exp(x))
    if x > 25:  # where erfc vanishes
        return -x * x / 2 - math.log(x * math.sqrt(2 * math.pi)) + math.log1p(-1 / (x * x))
    return math.log(math.erfc(x / math.sqrt(2)) / 2)


@lru_cache
def quantile(noise: str, miss: float) -> float:
    """What noise of scale 1 exceeds with this chance, of at most a half."""
    return last(lambda x: beyond(noise, x) >= math.log(miss), 0.0, 40.0)


def last(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The end of where a condition holds, which does at ``low`` and not at ``high``."""
    for _ in range(80):
        middle = low / 2 + high / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high


def interval(noise: str, scale: float, value: float, miss: float = MISS) -> tuple[float, float]:
    """The numbers that a noisy value may come from: it holds the exact one in all but ``miss`` of all releases."""
    away = scale * quantile(noise, miss / 2)
    return value - away, value + away


def listed_interval(
    noise: str, scale: float, value: float, threshold: float, miss: float = MISS
) -> tuple[float, float]:
    """The same where the value is published because it reached a threshold: of those that are published.

    Of small groups only those with much noise are seen, so that the usual interval may never hold their number. Given
    n, the share of published values above this one grows with n; n is left out where it is below ``miss``/2 or above
    1 − ``miss``/2. A group that has a name has at least one person, and the value itself is always inside.
    """

    def above(n: float) -> float:
        return beyond(noise, (value - n) / scale) - beyond(noise, (threshold - n) / scale)

    away = scale * 60
    rare, common = math.log(miss / 2), math.log1p(-miss / 2)
    low = 1.0 if above(1.0) >= rare else last(lambda n: above(n) < rare, 1.0, value + away)
    high = last(lambda n: above(n) <= common, 1.0, value + away) if above(1.0) <= common else 1.0
    return min(low, value), max(high, value)


def answered(
    query: Mapping[str, Any],
    noisy: Mapping[str, Mapping[Label, float]],
    exact: Mapping[Label, Any],
    some: float | None = None,
) -> list[list[Any]]:
    """Rows of the file: the group, the answer and its interval; ``some`` as :func:`counted` has it."""
    made = []
    first = next(iter(noisy.values()))
    for group in first:
        if query["kind"] == "average":
            size = {"size": float(exact[group]["size"])} if query["public"] else {}
            ends = averaged(query, {**size, **{name: of[group] for name, of in noisy.items()}})
        elif query["column"] is None:
            ends = counted(query["drawings"], noisy["answer"][group], some)
        else:
            drawing, value = query["drawings"]["answer"], noisy["answer"][group]
            ends = (value, *interval(drawing["noise"], drawing["scale"] * drawing["unit"], value))
        made.append([*group, *ends])
    return made


def counted(drawings: Mapping[str, Any], value: float, some: float | None = None) -> tuple[float, float, float]:
    """A count and its interval, in whole numbers.

    ``some`` is the noisy number of people whom a limit touched: each of them may be missing in a group, so that it
    widens the interval to one of the count without the limit, each of both at half of what may be missed.
    """
    drawing = drawings["answer"]
    noise, scale, threshold = drawing["noise"], drawing["scale"], drawing["threshold"]
    miss = MISS if some is None else MISS / 2
    low, high = (
        interval(noise, scale, value, miss)
        if threshold is None
        else listed_interval(noise, scale, value, threshold, miss)
    )
    if some is not None:
        other = drawings["touched"]
        high += max(0.0, some + other["scale"] * quantile(other["noise"], miss))
    return float(round(value)), float(math.floor(low)), float(math.ceil(high))


def limited(drawing: Mapping[str, Any], value: float) -> list[float]:
    """How many people a limit touched, and the interval of it, in whole numbers."""
    low, high = interval(drawing["noise"], drawing["scale"], value)
    return [float(round(value)), float(max(math.floor(low), 0)), float(max(math.ceil(high), 0))]


def averaged(query: Mapping[str, Any], noisy: Mapping[str, float]) -> tuple[float, float, float]:
    """Centre + total / size, within the bounds; both intervals at 97.5 of 100 hold together; a public size has none."""
    least, most = query["bounds"]
    centre, drawings = least / 2 + most / 2, query["drawings"]
    share = quantile(drawings["total"]["noise"], MISS / (2 if query["public"] else 4))
    total, size = noisy["total"], noisy["size"]
    spread = share * drawings["total"]["scale"] * drawings["total"]["unit"]
    away = 0.0 if query["public"] else share * drawings["size"]["scale"]
    sizes = size - away, size + away
    found = centre + total / max(size, 1.0)  # as its error was assessed
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
            exact, some = numbers(rows, query, plan, covers), None
            if query["touched"]:
                (some,) = checked(query["drawings"]["touched"])([float(touched(rows, query, plan, covers))])
            made.append((query, answered(query, drawn(query, exact), exact, some)))
            if some is not None:
                made.append((query["touched"], [limited(query["drawings"]["touched"], some)]))
    except (Stopped, OSError, UnicodeDecodeError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    with open(arguments[1], "w", newline="", encoding="utf-8") as file:
        for line in plan["remarks"]:
            file.write(f"# {line}\n")
        columns = list(dict.fromkeys(name for query in plan["queries"] for name in query["by"]))
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["query", *columns, "answer", "low", "high", "interval_of"])
        for query, answers in made:
            for *label, answer, low, high in answers:
                group = dict(zip(query["by"], label, strict=True))
                cells = ["" if group.get(name) is None else group[name] for name in columns]
                writer.writerow([query["name"], *cells, answer, low, high, query["interval_of"]])
    sys.stderr.write(f"written to {arguments[1]}; enter it in your ledger:\n  {plan['enter']}\n")
    return 0
