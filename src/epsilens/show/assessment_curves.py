"""Risk and accuracy against ε: two panels that share a logarithmic axis, with the limits and both ε drawn."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from .assessment.numbers import percent, planned, risk, share
from .assessment.queries import subject
from .assessment.words import error_limit, hardest, leading, second
from .assessment_marks import LINE, Drawing, dot, frame, log_ticks, spread, text, verticals, wrapped
from .charts import _line
from .words import frequency

if TYPE_CHECKING:
    from ..assessment.assessment import Assessment

__all__ = ["DESK", "PHONE", "accuracy_curve", "risk_curve"]

#: Widths of the drawings, labels and axis included.
DESK, PHONE = 808, 350
_LEFT, _TOP = 52, 58
_MOST_LABELS = 6
_Y_AXIS = {"grid": True, "domain": False, "ticks": False, "labelPadding": 8, "title": None}


def _sizes(width: int) -> tuple[int, int, int]:
    """Room for the labels at the right, letters in one of their lines, and the plot's own width."""
    right, letters = (150, 20) if width >= 600 else (94, 13)
    return right, letters, width - _LEFT - right


def _x(a: Assessment, width: int, *, labelled: bool) -> dict[str, Any]:
    low, high = a.curve.epsilon[0], a.curve.epsilon[-1]
    axis: dict[str, Any] = {"grid": False, "values": log_ticks(low, high, width), "format": "~g", "ticks": labelled}
    axis["labelOverlap"] = False  # the ticks are chosen to fit
    axis |= (
        {"title": "ε (logarithmic scale)", "titlePadding": 8, "titleX": 0}
        if labelled
        else {"title": None, "labels": False}
    )
    return {"scale": {"type": "log", "domain": [low, high], "nice": False}, "axis": axis}


def risk_curve(a: Assessment) -> Drawing:
    """Right guesses of 100 against ε, a line for each adversary who guesses."""
    alone = accuracy_curve(a) is None  # then this panel carries the axis
    shown = [r for r in a.risks if r.key in a.curve.risks]
    main = next((r for r in shown if r.key == leading(a).key), None) or next(r for r in shown if r.key == "membership")
    limit = next((r.limit for r in shown if r.limit is not None), None)
    low = 10 * math.floor(min(100 * r.baseline for r in shown) / 10 + 1e-9)
    at = second(a)
    aria = f"Risk against ε. {main.name}: {risk('success', main.planned)} of 100 right guesses at the planned ε"
    aria += f" = {planned(a.epsilon)}"
    if at is not None and main.recommended is not None:
        aria += f", {risk('success', main.recommended)} at ε = {planned(at)}"
    aria += f"; {risk('success', main.baseline)} without the release"
    aria += "." if limit is None else f"; the limit is {risk('success', limit)}."

    def spec(width: int) -> dict[str, Any]:
        right, letters, plot = _sizes(width)
        height, high = 300 if width >= 600 else 250, a.curve.epsilon[-1]
        layers: list[dict[str, Any]] = []
        if limit is not None and 100 * limit >= low:
            layers.append(_dashed(100 * limit, a))
        layers += verticals(a, (a.curve.epsilon[0], high), 100, low, plot, named=True)
        labels = []
        for r in sorted(shown, key=lambda r: r is main):
            line = [100 * v for v in a.curve.risks[r.key]]
            colour, weight = ("var(--risk)", 3.0) if r is main else ("var(--secondary)", 1.75)
            layers.append(_smooth(list(zip(a.curve.epsilon, line, strict=True)), colour, weight))
            lines = wrapped(r.name, letters - (r is main))
            labels.append((lines, (100 - line[-1]) / (100 - low) * height, colour, 600 if r is main else 400))
        layers += _ends(labels, high, 100, height)
        here, there = 100 * main.planned, None if main.recommended is None else 100 * main.recommended
        layers += _values(
            a, here, there, "var(--risk)", risk("success", main.planned, limit=limit, baseline=main.baseline),
            "" if main.recommended is None else risk("success", main.recommended), rising=True,
        )  # fmt: skip
        if limit is not None and 100 * limit >= low:
            place = (100 - 100 * limit) / (100 - low) * height
            ends = [[(100 - 100 * v) / (100 - low) * height for v in line] for line in a.curve.risks.values()]
            dots = [(100 - v) / (100 - low) * height for v in (here, there) if v is not None]
            side = _side(a, ends, place, height, plot, dots)
            layers += text(f"limit {risk('success', limit)}", (high, 100 * limit), "right", "var(--ink)", 600, 0, side)
        y = {
            "scale": {"domain": [low, 100], "nice": False},
            "axis": {**_Y_AXIS, "values": list(range(low, 101, 10))},
        }  # fmt: skip
        padding = {"left": _LEFT, "right": right, "top": _TOP, "bottom": 56 if alone else 12}
        without = f"Without the release: {frequency(main.baseline)}"
        return frame(
            plot, height, layers, _x(a, plot, labelled=alone), y, padding, "Risk: right guesses of 100", without
        )

    return Drawing(aria, spec)


def accuracy_curve(a: Assessment) -> Drawing | None:
    """The 95% error as a share of the answer against ε, a line for each query; None where every answer is 0."""
    rated = [i for i, q in enumerate(a.queries) if q.typical and q.answers]
    if not rated:
        return None
    hard = hardest(a)
    main = next(i for i, q in enumerate(a.queries) if q is hard)
    limit, at = error_limit(a), second(a)
    lines = {i: [100 * v for v in a.curve.errors[i]] for i in rated}
    values = [v for line in lines.values() for v in line]
    top = max(values)
    least = max(min(values), top / 1e6)
    low = 10.0 ** math.floor(math.log10(least))
    low = low if least < 3 * low else least / 1.2  # a whole decade of nothing says nothing
    aria = f"Accuracy against ε. 95% error of {subject(a, hard)}: {share(hard.relative(a.epsilon, a.release))}"
    aria += f" at ε = {planned(a.epsilon)}"
    if at is not None:
        aria += f", {share(hard.relative(at, a.release))} at ε = {planned(at)}"
    aria += "." if limit is None else f"; the limit is {percent(limit)}."

    def spec(width: int) -> dict[str, Any]:
        right, letters, plot = _sizes(width)
        height, high = 240 if width >= 600 else 220, a.curve.epsilon[-1]
        span = math.log(top / low)

        def pixel(v: float) -> float:
            return math.log(top / min(max(v, low), top)) / span * height

        layers: list[dict[str, Any]] = []
        drawn = limit is not None and low < 100 * limit < top
        if limit is not None and drawn:
            layers.append(_dashed(100 * limit, a))
        layers += verticals(a, (a.curve.epsilon[0], high), top, low, plot, named=False)
        labels = []
        named = {main, *rated[:_MOST_LABELS]}
        for i in sorted(rated, key=lambda i: i == main):
            thin = 1.75 if len(rated) <= 8 else 1.0
            colour, weight = ("var(--accuracy)", 3.0) if i == main else ("var(--secondary)", thin)
            layers.append(_smooth(_clipped(a.curve.epsilon, lines[i], low), colour, weight))
            if i in named:
                words = wrapped(_label(a, i), letters - (i == main))
                labels.append((words, pixel(lines[i][-1]), colour, 600 if i == main else 400))
        layers += _ends(labels, high, top, height)
        there = None if at is None else 100 * hard.relative(at, a.release)
        here = 100 * hard.relative(a.epsilon, a.release)
        layers += _values(
            a, here, there, "var(--accuracy)", share(here / 100, limit),
            "" if there is None else share(there / 100, limit), rising=False,
        )  # fmt: skip
        if limit is not None and drawn:
            dots = [pixel(v) for v in (here, there) if v is not None]
            side = _side(
                a, [[pixel(v) for v in line] for line in lines.values()], pixel(100 * limit), height, plot, dots
            )
            layers += text(f"limit {percent(limit)}", (high, 100 * limit), "right", "var(--ink)", 600, 0, side)
        powers = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(top)) + 1)
        ticks = [10.0**p for p in (powers[::2] if len(powers) > 6 else powers)]
        y = {
            "scale": {"type": "log", "domain": [low, top], "nice": False},
            "axis": {**_Y_AXIS, "values": ticks, "labelExpr": "format(datum.value, ',~r') + '%'"},
        }  # fmt: skip
        padding = {"left": _LEFT, "right": right, "top": _TOP, "bottom": 56}
        title = "Accuracy: 95% error, as a share of the answer"
        return frame(plot, height, layers, _x(a, plot, labelled=True), y, padding, title, "Lower is more accurate")

    return Drawing(aria, spec)


def _label(a: Assessment, i: int) -> str:
    words = a.release.queries[i].name or subject(a, a.queries[i]).removeprefix("the ").removeprefix("a typical ")
    return words[:1].upper() + words[1:]


def _smooth(points: list[tuple[float, float]], colour: str, weight: float) -> dict[str, Any]:
    layer = _line(points, colour, weight)
    return {**layer, "mark": {**layer["mark"], "interpolate": "monotone"}}


def _dashed(y: float, a: Assessment) -> dict[str, Any]:
    layer = _line(((a.curve.epsilon[0], y), (a.curve.epsilon[-1], y)), "var(--ink)", 1.5)
    return {**layer, "mark": {**layer["mark"], "strokeDash": [5, 3]}}


def _clipped(epsilon: tuple[float, ...], line: list[float], low: float) -> list[tuple[float, float]]:
    """The falling line down to the panel's floor, ending on it."""
    end = bisect_left([-v for v in line], -low)
    points = list(zip(epsilon[:end], line[:end], strict=True))
    if 0 < end < len(line):
        part = math.log(line[end - 1] / low) / math.log(line[end - 1] / line[end])
        points.append((epsilon[end - 1] * (epsilon[end] / epsilon[end - 1]) ** part, low))
    return points


def _side(a: Assessment, lines: list[list[float]], place: float, height: int, plot: int, values: list[float]) -> int:
    """Whether the limit's label stands below its line (11) or above (−11): where it crosses less.

    ``lines`` and ``values`` (the heights of the dots at the planned and the second ε, whose labels stand beside them)
    are pixels from the top.
    """
    first, last = math.log(a.curve.epsilon[0]), math.log(a.curve.epsilon[-1])

    def from_right(epsilon: float) -> float:
        return (last - math.log(epsilon)) / (last - first) * plot

    near = [i for i, e in enumerate(a.curve.epsilon) if from_right(e) < 80]
    beside = [y - 10 for e, y in zip((a.epsilon, second(a) or a.epsilon), values, strict=False) if from_right(e) < 130]

    def crossed(low: float, high: float) -> int:
        over = sum(any(low <= line[i] <= high for i in near) for line in lines)
        return over + 2 * sum(low - 10 < y < high + 10 for y in beside)

    below = crossed(place, place + 24) + (100 if place + 24 > height else 0)
    above = crossed(place - 24, place) + (100 if place < 24 else 0)
    return 11 if below <= above else -11


def _ends(labels: list[tuple[list[str], float, str, int]], x: float, top: float, height: int) -> list[dict[str, Any]]:
    """Names at the ends of their lines, kept apart."""
    made: list[dict[str, Any]] = []
    places = spread([(y, LINE * len(lines) + 2) for lines, y, _, _ in labels], height)
    for (lines, _, colour, weight), middle in zip(labels, places, strict=True):
        for k, words in enumerate(lines):
            made += text(words, (x, top), "left", colour, weight, 9, middle + LINE * (k - (len(lines) - 1) / 2))
    return made


def _values(
    a: Assessment, here: float, there: float | None, colour: str, said: str, other: str, *, rising: bool
) -> list[dict[str, Any]]:
    """The dots where the main line meets both ε, and their values on the side where the line is not."""
    at = second(a)
    layers = []
    marks = [(a.epsilon, here, said, True)]
    if at is not None and there is not None and at <= a.curve.epsilon[-1]:
        marks.append((at, there, other, False))
    close = len(marks) == 2 and abs(math.log(marks[0][0] / marks[1][0])) < 0.5
    for i, (x, y, words, filled) in enumerate(sorted(marks)):
        layers.append(dot((x, y), colour, filled=filled))
        left, above = rising, True
        if close and i == (1 if rising else 0):  # two dots side by side: their values go to opposite sides
            left, above = not rising, False
        layers += text(words, (x, y), "right" if left else "left", colour, 600, -9 if left else 9, -10 if above else 12)
    return layers
