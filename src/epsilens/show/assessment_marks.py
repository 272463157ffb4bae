"""Marks that the charts of an assessment share: labels kept apart, verticals at the planned and recommended ε."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from . import charts
from .assessment.numbers import planned as shown_epsilon
from .assessment.words import second, second_name

if TYPE_CHECKING:
    from ..assessment.assessment import Assessment

__all__ = ["LINE", "Drawing", "dot", "draw", "frame", "log_ticks", "spread", "text", "verticals", "wrapped"]

LINE = 18  # pixels from line to line
_LETTER = 6.6  # mean width of a letter at 15 px; labels are placed before anything knows the real one

Point = tuple[float, float]
Layer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart that can be drawn at several widths, and what it says to those who cannot see it."""

    aria: str
    spec: Callable[[int], Mapping[str, Any]]


def draw(drawing: Drawing, width: int) -> str:
    """The drawing as inline SVG."""
    return charts.render(cast("charts.Chart", drawing), width)


def text(
    words: str, at: Point, align: str, colour: str, weight: int = 400, dx: float = 0, dy: float = 0
) -> list[Layer]:
    """Text with its halo, moved by pixels from a place in the data."""
    return [
        {**layer, "mark": {**layer["mark"], "dx": dx, "dy": dy}}
        for layer in charts._text(words, at, align, colour, weight)
    ]


def dot(at: Point, colour: str, *, filled: bool) -> Layer:
    """The planned ε (filled) or the recommended one (hollow)."""
    layer = charts._dot(at, filled=filled)
    return {**layer, "mark": {**layer["mark"], "stroke": colour, "fill": colour if filled else "var(--paper)"}}


def wrapped(words: str, letters: int, most: int = 3) -> list[str]:
    """A label in lines; one too long ends in an ellipsis."""
    lines = textwrap.wrap(words, letters, break_on_hyphens=False) or [""]
    return lines if len(lines) <= most else [*lines[: most - 1], textwrap.shorten(lines[most - 1], letters - 1) + "…"]


def width_of(words: str) -> float:
    """About how wide a label is, in pixels."""
    return _LETTER * len(words)


def spread(wanted: Sequence[tuple[float, float]], height: float) -> list[float]:
    """Middles of labels, each as near as may be to where it wants to be and none upon another.

    ``wanted`` holds a middle and a height for each label, in pixels from the top.

    >>> spread([(10, 20), (12, 20), (90, 20)], 100)
    [10, 30.0, 90]
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i][0])
    placed = [middle for middle, _ in wanted]
    for before, i in pairwise(order):
        placed[i] = max(placed[i], placed[before] + (wanted[before][1] + wanted[i][1]) / 2)
    limit = height + 12
    for i in reversed(order):
        placed[i] = min(placed[i], limit - wanted[i][1] / 2)
        limit = placed[i] - wanted[i][1] / 2
    return placed


def log_ticks(low: float, high: float, width: float) -> list[float]:
    """1, 2 and 5 times powers of ten, as many as the width has room for."""
    decade = width / math.log10(high / low)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1.0, 2.0, 5.0) if 0.3 * decade >= 24 else (1.0,)
    ticks = [float(f"{s}e{p}") for p in powers[:: max(math.ceil(36 / decade), 1)] for s in steps]
    return [t for t in ticks if low * 0.999 <= t <= high * 1.001]


def verticals(a: Assessment, domain: Point, top: float, bottom: float, width: int, *, named: bool) -> list[Layer]:
    """Thin verticals at the planned and the second ε; named, the labels stand on the sides that have room."""
    marks = [(a.epsilon, f"planned {shown_epsilon(a.epsilon)}")]
    if (other := second(a)) is not None and other <= domain[1]:
        said = ("at most" if width < 400 else second_name(a).lower()) + f" {shown_epsilon(other)}"
        marks.append((other, said))
    layers = [charts._line(((at, bottom), (at, top)), "var(--axis)", 1.25) for at, _ in marks]
    if not named:
        return layers
    for i, (at, words) in enumerate(sorted(marks)):
        place = math.log(at / domain[0]) / math.log(domain[1] / domain[0]) * width
        left = i == 0 and len(marks) == 2
        room = place + 5 if left else width - place + 5
        fits = room >= width_of(words) + 6
        left = left == fits
        row = 0 if fits else 1
        layers += text(
            words, (at, top), "right" if left else "left", "var(--ink)", 600, -6 if left else 6, 8 + LINE * row
        )
    return layers


def frame(
    width: int,
    height: int,
    layers: Sequence[Layer],
    x: Mapping[str, Any],
    y: Mapping[str, Any],
    padding: Mapping[str, int],
    title: str = "",
    subtitle: str = "",
) -> dict[str, Any]:
    """The Vega-Lite definition around the layers, in the type and colours of the page."""
    spec: dict[str, Any] = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": width,
        "height": height,
        "autosize": {"type": "none"},
        "padding": dict(padding),
        "layer": list(layers),
        "encoding": {
            "x": {"field": "x", "type": "quantitative", **x},
            "y": {"field": "y", "type": "quantitative", **y},
        },
        "config": {
            "background": "transparent",
            "font": charts._FONT,
            "view": {"stroke": None},
            "axis": {
                "labelColor": "var(--secondary)",
                "labelFontSize": 15,
                "titleColor": "var(--secondary)",
                "titleFontSize": 15,
                "titleFontWeight": 400,
                "titleAnchor": "start",
                "gridColor": "var(--hairline)",
                "domainColor": "var(--axis)",
                "tickColor": "var(--axis)",
                "labelFlush": False,
            },
            "title": {
                "anchor": "start",
                "frame": "group",
                "dx": -padding["left"],
                "color": "var(--ink)",
                "fontSize": 15,
                "fontWeight": 600,
                "subtitleColor": "var(--secondary)",
                "subtitleFontSize": 15,
                "subtitlePadding": 4,
                "offset": 16,
            },
        },
    }
    if title:
        spec["title"] = {"text": title, "subtitle": subtitle}
    return spec
