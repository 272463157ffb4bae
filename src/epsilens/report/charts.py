"""The ROC and precision–recall curves as Vega-Lite definitions, and as SVG.

Colours are CSS variables, so one SVG serves light, dark and print. Labels stand beside what they name, where they
cross neither a curve nor each other; there is no legend.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import MissingExtra
from .readings import best_guess
from .sentences import false_alarms, question
from .words import count, frequencies

if TYPE_CHECKING:
    from ..experiment import Experiment

__all__ = ["PHONE", "SIDE_BY_SIDE", "Chart", "precision_recall", "render", "roc"]

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
    """A chart before it has a size: its words, curves and marked points, all out of 100."""

    title: str
    subtitle: str
    x_title: str
    aria: str
    curve: tuple[Point, ...]
    baseline: tuple[Point, ...]
    best: Point
    best_label: tuple[str, ...]
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
        label: tuple[str, ...] = ("best guess: flags nobody",)
    elif x == y == 1:
        label = ("best guess: flags everyone",)
    elif round(y, 4) == round(x, 4):
        label = ("best guess:", "as good as chance")
    else:
        label = (f"best guess: finds {_of_100(y, x)}", f"with {_of_100(x, y)} false alarms")
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
        label,
        (100 * fpr, 100 * found),
        _chosen_label(fpr, _of_100(found, fpr), math.hypot(fpr - x, found - y)),
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
        _points(recall, e.precision(recall=recall, prior=prior)),
        ((0.0, 100 * prior), (100.0, 100 * prior)),
        (100 * y, 100 * precise),
        ("best guess",),
        (100 * found, 100 * right),
        _chosen_label(fpr, _of_100(right, prior), math.hypot(found - y, right - precise)),
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


def _chosen_label(fpr: float, value: str, from_best: float) -> str:
    """The value alone, or with its false alarms where the two dots are too close to tell whose it is."""
    return value if from_best > 0.2 else f"at {false_alarms(fpr)}: {value}"


# -- where labels go ----------------------------------------------------------------------------------------------


def _place(
    lines: Sequence[str], at: Point, width: int, avoid: Iterable[Point], boxes: Sequence[Box], under: bool = False
) -> Box | None:
    """The box nearest ``at`` that holds the lines and touches no curve, dot or other box; ``under`` keeps it below."""
    unit = 100 / width
    wide = max(len(line) for line in lines) * 7.7 * unit
    high = (len(lines) * 19 - 2) * unit
    taken = np.asarray(list(avoid))
    best: Box | None = None
    least = math.inf
    for left in np.arange(1.0, 99.5 - wide, 1.0).tolist():
        for bottom in np.arange(1.0, 99.5 - high, 1.0).tolist():
            box = (left, bottom, left + wide, bottom + high)
            dx = max(box[0] - at[0], 0, at[0] - box[2])
            dy = max(box[1] - at[1], 0, at[1] - box[3])
            distance = math.hypot(dx, dy)
            if distance >= least or (under and (box[3] > at[1] or box[2] < at[0])):
                continue
            near = 6 * unit
            inside = (taken[:, 0] > box[0] - near) & (taken[:, 0] < box[2] + near)
            inside &= (taken[:, 1] > box[1] - near) & (taken[:, 1] < box[3] + near)
            apart = all(box[2] < b[0] or b[2] < box[0] or box[3] < b[1] or b[3] < box[1] for b in boxes)
            if apart and not inside.any():
                best, least = box, distance
    return best


def _dense(points: Sequence[Point]) -> list[Point]:
    """The polyline at least every unit, so that nothing slips between two of its points."""
    out: list[Point] = []
    for (x0, y0), (x1, y1) in zip(points, points[1:], strict=False):
        steps = max(int(max(abs(x1 - x0), abs(y1 - y0))), 1)
        out += [(x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps) for i in range(steps)]
    return [*out, points[-1]]


# -- the definition -----------------------------------------------------------------------------------------------


def _spec(chart: Chart, width: int) -> dict[str, Any]:
    curve, baseline = _dense(chart.curve), _dense(chart.baseline)
    avoid = [*curve, *baseline, chart.best, chart.chosen]
    boxes: list[Box] = []
    layers = [
        _line(chart.baseline, "var(--secondary)", 1.75),
        _line(chart.curve, "var(--risk)", 3),
    ]
    texts: list[dict[str, Any]] = []
    for lines, at, colour, weight in (
        (("without the release",), baseline[int(0.6 * len(baseline))], "var(--secondary)", 400),
        (chart.best_label, chart.best, "var(--risk)", 600),
        ((chart.chosen_label,), chart.chosen, "var(--risk)", 600),
    ):
        box = weight == 400 and _place(lines, at, width, avoid, boxes, under=True) or _place(lines, at, width, avoid, boxes)
        if box is None:  # a curve so crowded that no place is free: the table and the label for readers still say it
            continue
        boxes.append(box)
        edge = (min(max(at[0], box[0]), box[2]), min(max(at[1], box[1]), box[3]))
        if lines is chart.best_label and math.dist(edge, at) > 9:
            layers.append(_line((at, edge), "var(--risk)", 1))
        left = edge[0] > at[0] or not at[0] > box[2]
        for i, line in enumerate(lines):
            y = box[3] - (12 + 19 * i) * 100 / width
            texts += _text(line, (box[0] if left else box[2], y), "left" if left else "right", colour, weight)
    layers += [_dot(chart.best, filled=True), _dot(chart.chosen, filled=False), *texts]
    axis = {"values": [0, 25, 50, 75, 100], "grid": True, "domain": False, "ticks": False, "labelPadding": 8, "labelFlush": False}
    scale = {"domain": [0, 100], "nice": False}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": width,
        "height": width,
        # Sizes are fixed here, because the renderer does not know the widths of the page's font.
        "autosize": {"type": "none"},
        "padding": _PADDING,
        "title": {"text": chart.title, "subtitle": chart.subtitle},
        "layer": layers,
        "encoding": {
            "x": {
                "field": "x",
                "type": "quantitative",
                "scale": scale,
                "axis": {**axis, "title": chart.x_title, "titleAnchor": "start", "titlePadding": 8},
            },
            "y": {"field": "y", "type": "quantitative", "scale": scale, "axis": {**axis, "title": None}},
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


def _data(points: Sequence[Point]) -> dict[str, Any]:
    return {"values": [{"x": x, "y": y} for x, y in points]}


def _line(points: Sequence[Point], colour: str, width: float) -> dict[str, Any]:
    mark = {"type": "line", "color": colour, "strokeWidth": width, "strokeJoin": "round", "clip": False}
    return {"data": _data(points), "mark": mark, "encoding": {"order": {"value": None}}}


def _dot(point: Point, *, filled: bool) -> dict[str, Any]:
    fill = "var(--risk)" if filled else "var(--paper)"
    mark = {"type": "point", "size": 80, "opacity": 1, "fill": fill, "stroke": "var(--risk)", "strokeWidth": 2}
    return {"data": _data([point]), "mark": mark}


def _text(words: str, at: Point, align: str, colour: str, weight: int) -> list[dict[str, Any]]:
    """Text with a halo of paper beneath it, for where it crosses a hairline."""
    mark = {"type": "text", "text": words, "align": align, "baseline": "middle", "fontSize": _SIZE, "fontWeight": weight}
    halo = {**mark, "stroke": "var(--paper)", "strokeWidth": 5, "strokeJoin": "round", "color": "var(--paper)"}
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
