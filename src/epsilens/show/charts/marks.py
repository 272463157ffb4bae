"""The marks our charts are made of, as layers of Vega-Lite, and the frame around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .placement import LINE, SIZE, Point, Room, spread, wrapped
from .scales import log_ticks, steps

Layer = dict[str, Any]
#: A line's end: its name, how far down it ends, its colour and the weight of its name.
End = tuple[str, float, str, int]

_FONT = "'Source Sans 3', system-ui, sans-serif"
#: From a line's end to its name.
_BESIDE = 9
#: Of the room for names, what they do not fill.
_SPARE = _BESIDE + 2


def _data(points: Sequence[Point]) -> dict[str, Any]:
    return {"values": [{"x": x, "y": y} for x, y in points]}


def line(points: Sequence[Point], colour: str, width: float, name: str = "", *, smooth: bool = False) -> Layer:
    """A line through the points, in their order; a ``name`` makes it part of the chart's data."""
    mark: dict[str, Any] = {"type": "line", "color": colour, "strokeWidth": width, "strokeJoin": "round"}
    if smooth:
        mark["interpolate"] = "monotone"
    made: Layer = {"data": _data(points), "mark": mark, "encoding": {"order": {"value": None}}}
    return {"description": name, **made} if name else made


def dashed(points: Sequence[Point], colour: str, width: float, dash: Sequence[int], name: str = "") -> Layer:
    """A dashed line."""
    made = line(points, colour, width, name)
    made["mark"]["strokeDash"] = list(dash)
    return made


def dot(at: Point, colour: str = "var(--risk)", *, filled: bool, name: str = "") -> Layer:
    """One marked point, filled or hollow."""
    fill = colour if filled else "var(--paper)"
    mark = {"type": "point", "size": 80, "opacity": 1, "fill": fill, "stroke": colour, "strokeWidth": 2}
    made: Layer = {"data": _data([at]), "mark": mark}
    return {"description": name, **made} if name else made


def dots(points: Sequence[Point], colour: str, size: float, opacity: float, name: str) -> Layer:
    """Many points without an outline."""
    mark = {"type": "point", "size": size, "filled": True, "opacity": opacity, "color": colour}
    return {"description": name, "data": _data(points), "mark": mark}


def text(
    words: str,
    at: Point,
    align: str,
    colour: str,
    weight: int = 400,
    dx: float = 0,
    dy: float = 0,
    size: int = SIZE,
    halo: float = 5,
) -> list[Layer]:
    """Words moved by pixels from a place in the data, with a halo of paper beneath for where they cross a line."""
    mark = {
        "type": "text", "text": words, "align": align, "baseline": "middle", "fontSize": size, "fontWeight": weight,
        "dx": dx, "dy": dy,
    }  # fmt: skip
    paper = {"color": "var(--paper)", "stroke": "var(--paper)", "strokeWidth": halo, "strokeJoin": "round"}
    return [{"data": _data([at]), "mark": {**mark, **paper}}, {"data": _data([at]), "mark": {**mark, "color": colour}}]


# -- names at the ends of lines -----------------------------------------------------------------------------------


def room_for(names: Sequence[tuple[str, int]], least: int, most: int) -> int:
    """Pixels right of a plot for names at line ends: the fewest, between two bounds, that leave no name cut short."""
    for room in range(least, most, 2):
        if not any(wrapped(name, room - _SPARE, weight)[-1].endswith("…") for name, weight in names):
            return room
    return most


def ends(labels: Sequence[End], at: Point, height: int, right: int, room: Room | None = None) -> list[Layer]:
    """Names at the ends of their lines, in as many lines as there is height for, kept apart.

    ``at`` is the plot's top right corner in the data, ``right`` the room beside it in pixels.
    """
    made: list[Layer] = []
    top, bottom = -10.0, height + 12.0
    told: list[list[str]] = []
    for most in (3, 2, 1):
        told = [wrapped(name, right - _SPARE, weight, most) for name, _, _, weight in labels]
        if sum(LINE * len(lines) + 2 for lines in told) <= bottom - top:
            break
    places = spread([(y, LINE * len(lines) + 2) for lines, (_, y, _, _) in zip(told, labels, strict=True)], top, bottom)
    for lines, (_, _, colour, weight), middle in zip(told, labels, places, strict=True):
        for k, words in enumerate(lines):
            made += text(words, at, "left", colour, weight, _BESIDE, middle + LINE * (k - (len(lines) - 1) / 2))
        if room is not None:
            half = LINE * len(lines) / 2
            room.take((room.width + _BESIDE, middle - half, room.width + right, middle + half))
    return made


# -- axes and frame -----------------------------------------------------------------------------------------------


def log_axis(low: float, high: float, width: int, title: str | None, **more: Any) -> dict[str, Any]:
    """A logarithmic horizontal axis with as many ticks as stand clear; without a title only its line."""
    axis: dict[str, Any] = {
        "grid": False, "domain": True, "ticks": title is not None, "labels": title is not None, "labelPadding": 2,
        "labelOverlap": False, "values": log_ticks(low, high, width), "format": "~g", "title": title,
        "titlePadding": 8, "titleX": 0, **more,
    }  # fmt: skip
    return {"scale": {"type": "log", "domain": [low, high], "nice": False}, "axis": axis}


def linear_axis(low: float, high: float, count: int = 5, **more: Any) -> dict[str, Any]:
    """A linear axis of hairlines with round values."""
    values, form = steps(low, high, count)
    axis: dict[str, Any] = {
        "grid": True, "domain": False, "ticks": False, "labelPadding": 8, "labelOverlap": False, "values": values,
        "format": form, "title": None, **more,
    }  # fmt: skip
    return {"scale": {"domain": [low, high], "nice": False}, "axis": axis}


def frame(
    description: str,
    width: int,
    height: int,
    layers: Sequence[Layer],
    x: Mapping[str, Any],
    y: Mapping[str, Any],
    padding: Mapping[str, int],
    title: str = "",
    subtitle: str = "",
) -> dict[str, Any]:
    """The Vega-Lite definition around the layers, in the type and colours of the page.

    ``description`` is what the chart says to those who cannot see it; ``x`` and ``y`` are scales with their axes.
    """
    spec: dict[str, Any] = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "description": description,
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
            "font": _FONT,
            "view": {"stroke": None},
            "axis": {
                "labelColor": "var(--secondary)", "labelFontSize": SIZE, "titleColor": "var(--secondary)",
                "titleFontSize": SIZE, "titleFontWeight": 400, "titleAnchor": "start", "gridColor": "var(--hairline)",
                "domainColor": "var(--axis)", "tickColor": "var(--axis)", "labelFlush": False,
            },
            "title": {
                "anchor": "start", "frame": "group", "dx": -padding["left"], "color": "var(--ink)", "fontSize": SIZE,
                "fontWeight": 600, "subtitleColor": "var(--secondary)", "subtitleFontSize": SIZE, "subtitlePadding": 4,
                "offset": 16,
            },
        },
    }  # fmt: skip
    if title:
        spec["title"] = {"text": title, "subtitle": subtitle}
    return spec
