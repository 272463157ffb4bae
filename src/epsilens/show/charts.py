"""The ROC and precision–recall curves as Vega-Lite definitions, and as SVG.

Colours are CSS variables, so one SVG serves light, dark and print. Labels stand beside what they name, where they
cross neither a curve nor each other; there is no legend.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import MissingExtra
from .readings import best_guess
from .sentences import question
from .words import count, frequencies

if TYPE_CHECKING:
    from ..experiment import Experiment

__all__ = ["PHONE", "SIDE_BY_SIDE", "Chart", "precision_recall", "render", "roc", "square"]

#: Widths of the plot in pixels, without the axis: two side by side on a desk, one on a phone.
SIDE_BY_SIDE, PHONE = 326, 296
_PADDING = {"left": 40, "right": 14, "top": 62, "bottom": 56}
_FONT = "Source Sans 3, system-ui, sans-serif"
_SIZE = 15

Point = tuple[float, float]
#: left, bottom, right, top
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart before it has a size: its words, curves and marked points, all out of 100.

    ``best_labels`` are ways to break one label into lines; the one that fits nearest its dot is used.
    """

    title: str
    subtitle: str
    x_title: str
    aria: str
    curve: tuple[Point, ...]
    baseline: tuple[Point, ...]
    best: Point
    best_labels: tuple[tuple[str, ...], ...]
    chosen: Point
    chosen_label: str

    def spec(self, width: int) -> dict[str, Any]:
        """The Vega-Lite definition at a width in pixels."""
        return _spec(self, width)


def roc(e: Experiment, prior: float = 0.5, fpr: float = 0.1) -> Chart:
    """Found against false alarms."""
    asked = question(e)
    alpha = np.unique(np.concatenate((np.linspace(0, 1, 301), np.geomspace(1e-12, 1, 120))))
    found = float(e.recall(fpr))
    x, y = best_guess(e, prior)
    if x == y == 0:
        labels: tuple[tuple[str, ...], ...] = (("best guess: flags nobody",),)
    elif x == y == 1:
        labels = (("best guess: flags everyone",),)
    elif round(y, 4) == round(x, 4):
        labels = (("best guess:", "as good as chance"),)
    else:
        yes, no = _of_100(y, x), _of_100(x, y)
        labels = (
            (f"best guess: finds {yes}", f"with {no} false alarms"),
            ("best guess:", f"finds {yes} with", f"{no} false alarms"),
        )
    return Chart(
        "ROC curve",
        f"Found, of 100 {asked.group}",
        f"false alarms: flagged, of 100 {_standing_alone(asked.outside, asked.group)}",
        f"ROC curve: at {frequencies(fpr)[0]} false alarms the adversary finds {frequencies(found)[0]}; "
        f"the best guess finds {frequencies(y)[0]} with {frequencies(x)[0]} false alarms; "
        "without the release, as many are found as there are false alarms.",
        _points(alpha, e.roc(alpha)),
        ((0.0, 0.0), (100.0, 100.0)),
        (100 * x, 100 * y),
        labels,
        (100 * fpr, 100 * found),
        _of_100(found, fpr),
    )


def precision_recall(e: Experiment, prior: float = 0.5, fpr: float = 0.1) -> Chart:
    """Precision against recall."""
    asked = question(e)
    recall = np.unique(np.concatenate((np.linspace(0, 1, 301), 1 - np.geomspace(1e-9, 1, 60))))
    found, right = float(e.recall(fpr)), float(e.precision(fpr, prior))
    y = best_guess(e, prior)[1]
    precise = float(e.precision(recall=y, prior=prior))
    return Chart(
        "Precision–recall curve",
        f"Precision: truly {asked.group}, of 100 flagged",
        f"recall: found, of 100 {asked.group}",
        f"Precision–recall curve: at a recall of {frequencies(found)[0]} the precision is {frequencies(right)[0]}; "
        f"the best guess has recall {frequencies(y)[0]} and precision {frequencies(precise)[0]}; "
        f"without the release the precision is {frequencies(prior)[0]}.",
        (*_points(recall, e.precision(recall=recall, prior=prior)), (100.0, 100 * prior)),
        ((0.0, 100 * prior), (100.0, 100 * prior)),
        (100 * y, 100 * precise),
        (("best guess",),),
        (100 * found, 100 * right),
        _of_100(right, prior),
    )


def _standing_alone(outside: str, group: str) -> str:
    return "not in the data" if outside == "not in it" else "in the data" if outside == "in it" else outside


def _points(x: Any, y: Any) -> tuple[Point, ...]:
    return tuple((round(100 * float(a), 4), round(100 * float(b), 4)) for a, b in zip(x, y, strict=True))


def _of_100(p: float, *beside: float) -> str:
    """A count out of 100 short enough for a chart; decimals are at home here where they tell numbers apart."""
    if 0 < p < 0.0005:
        return "< 0.1"
    if 0 < p < 0.05 or any(count(p, 100) == count(q, 100) for q in beside if abs(p - q) > 1e-4):
        return f"{100 * p:.2f}".rstrip("0").rstrip(".") if any(abs(p - q) < 1e-3 for q in beside) else f"{100 * p:.1f}"
    return count(p, 100).replace("more than ", "> ")


# -- where labels go ----------------------------------------------------------------------------------------------


def _place(
    lines: Sequence[str],
    at: Point,
    width: int,
    avoid: Sequence[Point],
    boxes: Sequence[Box],
    under: bool = False,
) -> tuple[float, Box] | None:
    """The box nearest ``at`` that holds the lines and touches no curve, dot or other box, and how far it is.

    With ``under`` it also stays below and to the right of ``at``.
    """
    unit = 100 / width
    wide, high = max(len(line) for line in lines) * 7.0 * unit, (len(lines) * 19 - 2) * unit
    near = 6 * unit
    left, bottom = (a.ravel() for a in np.meshgrid(np.arange(1, 99.5 - wide), np.arange(1, 99.5 - high)))
    ok = (bottom + high <= at[1]) & (left + wide >= at[0]) if under else np.full(left.shape, True)
    for b in boxes:
        ok &= (left + wide + near < b[0]) | (b[2] + near < left) | (bottom + high < b[1]) | (b[3] < bottom)
    dx = np.maximum(np.maximum(left - at[0], at[0] - left - wide), 0)
    dy = np.maximum(np.maximum(bottom - at[1], at[1] - bottom - high), 0)
    distance, taken = np.hypot(dx, dy), np.asarray(avoid)
    order = np.argsort(distance, kind="stable")
    order = order[ok[order]]
    for block in np.array_split(order, max(len(order) // 64, 1)):  # nearest first, many boxes at a time
        x, y = taken[:, 0], taken[:, 1]
        inside = (x > left[block, None] - near) & (x < left[block, None] + wide + near)
        inside &= (y > bottom[block, None] - near) & (y < bottom[block, None] + high + near)
        free = block[~inside.any(axis=1)]
        if free.size:
            i = int(free[0])
            box = (float(left[i]), float(bottom[i]), float(left[i] + wide), float(bottom[i] + high))
            return float(distance[i]), box
    return None


def _edge(box: Box, at: Point) -> Point:
    """The point of the box nearest ``at``."""
    return min(max(at[0], box[0]), box[2]), min(max(at[1], box[1]), box[3])


def _dense(points: Sequence[Point]) -> list[Point]:
    """The polyline at least every unit, so that nothing slips between two of its points."""
    out: list[Point] = []
    for (x0, y0), (x1, y1) in pairwise(points):
        steps = max(int(max(abs(x1 - x0), abs(y1 - y0))), 1)
        out += [(x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps) for i in range(steps)]
    return [*out, points[-1]]


# -- the definition -----------------------------------------------------------------------------------------------


def _spec(chart: Chart, width: int) -> dict[str, Any]:
    layers, texts = _labelled(chart, width)
    layers += [_dot(chart.best, filled=True), _dot(chart.chosen, filled=False), *texts]
    scale = {"domain": [0, 100], "nice": False}
    x = {"scale": scale, "axis": {"values": [0, 25, 50, 75, 100], "title": chart.x_title}}
    return square(width, chart.title, chart.subtitle, layers, x)


def square(width: int, title: str, subtitle: str, layers: list[dict[str, Any]], x: dict[str, Any]) -> dict[str, Any]:
    """A square chart out of 100 upwards: ``x`` gives the scale of the horizontal axis, and its title and ticks."""
    axis = {"grid": True, "domain": False, "ticks": False, "labelPadding": 8, "labelFlush": False}
    below = {**axis, **x["axis"], "titleAnchor": "start", "titlePadding": 8}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": width,
        "height": width,
        # Sizes are fixed here, because the renderer does not know the widths of the page's font.
        "autosize": {"type": "none"},
        "padding": _PADDING,
        "title": {"text": title, "subtitle": subtitle},
        "layer": layers,
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "scale": x["scale"], "axis": below},
            "y": {
                "field": "y",
                "type": "quantitative",
                "scale": {"domain": [0, 100], "nice": False},
                "axis": {**axis, "values": [0, 25, 50, 75, 100], "title": None},
            },
        },
        "config": {
            "background": "transparent",
            "font": _FONT,
            "view": {"stroke": None},
            "axis": {
                "labelColor": "var(--secondary)",
                "labelFontSize": _SIZE,
                "titleColor": "var(--secondary)",
                "titleFontSize": _SIZE,
                "titleFontWeight": 400,
                "gridColor": "var(--hairline)",
            },
            "title": {
                "anchor": "start",
                "frame": "group",
                "dx": -_PADDING["left"] + 4,
                "color": "var(--ink)",
                "fontSize": _SIZE,
                "fontWeight": 600,
                "subtitleColor": "var(--secondary)",
                "subtitleFontSize": _SIZE,
                "subtitlePadding": 4,
                "offset": 16,
            },
        },
    }


def _labelled(chart: Chart, width: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The lines, and the labels where they fit: the value by its dot first, the baseline's, then the best guess's."""
    baseline = _dense(chart.baseline)
    avoid = [*_dense(chart.curve), *baseline, chart.best, chart.chosen]
    lines = [_line(chart.baseline, "var(--secondary)", 1.75), _line(chart.curve, "var(--risk)", 3)]
    texts: list[dict[str, Any]] = []
    boxes: list[Box] = []

    def write(words: Sequence[str], at: Point, place: tuple[float, Box] | None, colour: str, weight: int) -> None:
        if place is None:  # so crowded that no place is free: the table and the image's description still say it
            return
        distance, box = place
        boxes.append(box)
        if distance > 9 and weight == 600:  # the baseline's label names a whole line and needs no pointer
            lines.append(_line((at, _edge(box, at)), colour, 1))
        left = box[2] >= at[0]
        for i, line in enumerate(words):
            y = box[3] - (10 + 19 * i) * 100 / width
            texts.extend(_text(line, (box[0] if left else box[2], y), "left" if left else "right", colour, weight))

    value = (chart.chosen_label,)
    write(value, chart.chosen, _place(value, chart.chosen, width, avoid, boxes), "var(--risk)", 600)
    without, at = ("without the release",), baseline[int(0.6 * len(baseline))]
    below = _place(without, at, width, avoid, boxes, under=True)
    write(without, at, below or _place(without, at, width, avoid, boxes), "var(--secondary)", 400)
    ways = [(words, _place(words, chart.best, width, avoid, boxes)) for words in chart.best_labels]
    fitting = [(words, place) for words, place in ways if place]
    if fitting:
        words, place = min(fitting, key=lambda way: way[1][0] + 4 * len(way[0]))
        write(words, chart.best, place, "var(--risk)", 600)
    return lines, texts


def _data(points: Sequence[Point]) -> dict[str, Any]:
    return {"values": [{"x": x, "y": y} for x, y in points]}


def _line(points: Sequence[Point], colour: str, width: float) -> dict[str, Any]:
    mark = {"type": "line", "color": colour, "strokeWidth": width, "strokeJoin": "round", "clip": False}
    return {"data": _data(points), "mark": mark, "encoding": {"order": {"value": None}}}


def _dot(point: Point, *, filled: bool) -> dict[str, Any]:
    fill = "var(--risk)" if filled else "var(--paper)"
    mark = {
        "type": "point",
        "size": 80,
        "opacity": 1,
        "fill": fill,
        "stroke": "var(--risk)",
        "strokeWidth": 2,
    }
    return {"data": _data([point]), "mark": mark}


def _text(words: str, at: Point, align: str, colour: str, weight: int) -> list[dict[str, Any]]:
    """Text with a halo of paper beneath it, for where it crosses a hairline."""
    mark = {
        "type": "text",
        "text": words,
        "align": align,
        "baseline": "middle",
        "fontSize": _SIZE,
        "fontWeight": weight,
    }
    halo = {
        **mark,
        "stroke": "var(--paper)",
        "strokeWidth": 5,
        "strokeJoin": "round",
        "color": "var(--paper)",
    }
    return [{"data": _data([at]), "mark": halo}, {"data": _data([at]), "mark": {**mark, "color": colour}}]


def render(chart: Chart, width: int) -> str:
    """The chart as inline SVG with its numbers as the label for readers who cannot see it."""
    try:
        import vl_convert
    except ImportError:
        raise MissingExtra("vl-convert-python", extra="charts", purpose="drawing a chart") from None
    svg = str(vl_convert.vegalite_to_svg(chart.spec(width)))
    # Vega labels every mark; the whole is one image to a screen reader, so only the root keeps a role.
    svg = re.sub(r' (?:role|aria-[a-z]+)="[^"]*"', "", svg)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{html.escape(chart.aria)}" ', 1)
