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
from typing import Any

from epsilens.plan.plain_cells import Label, Row, Stopped, numbers

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
