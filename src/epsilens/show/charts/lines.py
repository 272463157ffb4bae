"""Several named lines over one another, on axes of any kind: the chart of a sweep and of a figure of a paper.

>>> falling = Series("e^−x", tuple((x / 10, 2.718 ** (-x / 10)) for x in range(31)))
>>> chart = lines("decay", "A decay", "share left", (falling,), Axis(0, 3, "time"), Axis(0, 1), "It falls to 0.05.")
>>> chart.data[0], chart.label
({'series': 'e^−x', 'x': 0.0, 'y': 1.0}, 'It falls to 0.05.')
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ...checks import Array
from .chart import Chart
from .layout import (
    LINE,
    Box,
    Layer,
    Point,
    Room,
    Scale,
    block,
    dashed,
    dots,
    ends,
    frame,
    line,
    linear_axis,
    log_axis,
    log_ticks,
    scale,
    shortened,
    text,
    width_of,
    wrapped,
    written,
)

#: Colour, width and dashes of each line: told apart without colour as well, and by the name beside it.
_STYLES: tuple[tuple[str, float, tuple[int, ...]], ...] = (
    ("var(--risk)", 3, ()),
    ("var(--accuracy)", 3, ()),
    ("var(--ink)", 1.75, ()),
    ("var(--risk)", 2.5, (9, 4)),
    ("var(--accuracy)", 2.5, (9, 4)),
    ("var(--ink)", 1.75, (9, 4)),
    ("var(--risk)", 2.5, (2, 4)),
    ("var(--accuracy)", 2.5, (2, 4)),
    ("var(--ink)", 1.75, (2, 4)),
)
_QUIET = ("var(--secondary)", 1.75, ())
_LIMIT = ("var(--ink)", 1.5, (5, 3))
_TOP, _BOTTOM = 62, 56
_LEADER = 27  # a name farther than this from its line is led to it


@dataclass(frozen=True, slots=True)
class Axis:
    """The range of an axis, what it counts, and whether it is logarithmic."""

    low: float
    high: float
    title: str = ""
    log: bool = False

    def spot(self, value: float) -> bool:
        """Whether a value stands on it."""
        return math.isfinite(value) and (value > 0 or not self.log)


@dataclass(frozen=True, slots=True)
class Series:
    """A named line: ``quiet`` for what it is compared with, ``limit`` for what it must keep under, ``dotted`` for
    measured points without a line."""

    name: str
    points: tuple[Point, ...]
    quiet: bool = False
    dotted: bool = False
    limit: bool = False

    @property
    def weight(self) -> int:
        """How heavy its name is: what it is compared with stays in the background."""
        return 400 if self.quiet or self.limit else 600


def lines(
    name: str,
    title: str,
    subtitle: str,
    series: Sequence[Series],
    x: Axis,
    y: Axis,
    aria: str,
    *,
    inside: bool = False,
    height: int = 320,
    width: int = 640,
) -> Chart:
    """A chart of the series; names stand at the lines' ends, or ``inside`` the plot where all lines end together."""
    return Chart(name, _spec, (title, subtitle, tuple(series), x, y, aria, inside, height), width, 350)


def _spec(
    title: str, subtitle: str, series: Sequence[Series], x: Axis, y: Axis, aria: str, inside: bool, height: int,
    width: int,
) -> dict[str, Any]:  # fmt: skip
    styles = _styled(series)
    narrow = width < 450
    up = _upward(y, height)
    left = max(30, int(max(width_of(written(v, up["axis"]["format"])) for v in up["axis"]["values"])) + 16)
    names = [(s.name, s.weight) for s in series]
    right = 14 if inside else int(min(max(width_of(*name) for name in names) + 14, 110 if narrow else 200))
    plot = width - left - right
    across = _across(x, plot)
    kept = [_within(s, x, y) for s in series]
    layers = [_drawn(s, points, style) for s, points, style in zip(series, kept, styles, strict=True)]
    place = scale(across["scale"], 0, plot), scale(up["scale"], height, 0)
    bottom = _BOTTOM
    if inside:
        told, all_named = _inside(series, kept, styles, place, (plot, height), (x, y))
        if not all_named:  # too crowded for names: letters on the lines, and what they stand for beneath
            lettered = [replace(s, name=to or s.name) for s, to in zip(series, _letters(series), strict=True)]
            told, _ = _inside(lettered, kept, styles, place, (plot, height), (x, y))
            key = _key(series, styles, (x.low, y.low), width - left - 8)
            bottom += LINE * len(key) + 6
            told += [layer for line in key for layer in line]
        layers += told
    else:
        named = [
            (s.name, place[1](points[-1][1]), style[0], s.weight)
            for s, points, style in zip(series, kept, styles, strict=True)
            if points
        ]
        layers += ends(named, (x.high, y.high), height, right)
    padding = {"left": left, "right": right, "top": _TOP, "bottom": bottom}
    return frame(aria, plot, height, layers, across, up, padding, title, subtitle)


def _styled(series: Sequence[Series]) -> list[tuple[str, float, tuple[int, ...]]]:
    loud = iter(_STYLES * (1 + len(series) // len(_STYLES)))
    return [_QUIET if s.quiet else _LIMIT if s.limit else next(loud) for s in series]


def _across(axis: Axis, width: int) -> dict[str, Any]:
    if axis.log:
        return log_axis(axis.low, axis.high, width, axis.title)
    made = linear_axis(axis.low, axis.high, max(3, width // 90), domain=True, grid=False, ticks=True, labelPadding=2)
    made["axis"] |= {"title": axis.title, "titlePadding": 8, "titleX": 0}
    return made


def _upward(axis: Axis, height: int) -> dict[str, Any]:
    if not axis.log:
        return linear_axis(axis.low, axis.high, 5)
    made = linear_axis(0, 1, 1)
    values = log_ticks(axis.low, axis.high, 2.2 * height)
    made["scale"] = {"type": "log", "domain": [axis.low, axis.high], "nice": False}
    made["axis"] |= {"values": values, "format": "~g"}
    return made


def _within(series: Series, x: Axis, y: Axis) -> tuple[Point, ...]:
    """The points on the plot; a line that leaves it upwards or downwards is cut where it does."""
    given = [p for p in series.points if x.spot(p[0]) and y.spot(p[1]) and x.low <= p[0] <= x.high]
    if series.dotted or len(given) < 2:
        return tuple(p for p in given if y.low <= p[1] <= y.high)
    to, back = (math.log, math.exp) if y.log else (float, float)
    made: list[Point] = []
    for a, b in pairwise(given):
        for edge in (y.low, y.high):
            if (a[1] - edge) * (b[1] - edge) < 0:
                share = (to(edge) - to(a[1])) / (to(b[1]) - to(a[1]))
                made.append((a[0] + share * (b[0] - a[0]), back(to(edge))))
    kept = [p for p in given if y.low <= p[1] <= y.high] + made
    return tuple(sorted(kept)) if made else tuple(kept)


def _drawn(series: Series, points: Sequence[Point], style: tuple[str, float, tuple[int, ...]]) -> Layer:
    colour, width, dash = style
    if series.dotted:
        return dots(points, colour, 60, 1, series.name)
    return dashed(points, colour, width, dash, series.name) if dash else line(points, colour, width, series.name)


def _inside(
    series: Sequence[Series],
    kept: Sequence[Sequence[Point]],
    styles: Sequence[tuple[str, float, tuple[int, ...]]],
    place: tuple[Scale, Scale],
    size: tuple[int, int],
    axes: tuple[Axis, Axis],
) -> tuple[list[Layer], bool]:
    """Names beside their lines, each nearer to its own than to any other; and whether all found a place."""
    spots = [[(place[0](a), place[1](b)) for a, b in points] for points in kept]
    room = Room(*size)
    pixels = [_dense(p, s.dotted) for s, p in zip(series, spots, strict=True)]
    for drawn in pixels:
        if len(drawn):
            room.line(drawn.tolist())
    made: list[Layer] = []
    complete = True
    for i, (s, (colour, _, _)) in enumerate(zip(series, styles, strict=True)):
        weight = s.weight
        words = wrapped(s.name, min(150, size[0] * 0.45), weight)
        wide = max(width_of(w, weight) for w in words)
        found = _beside(room, pixels[i], [p for k, p in enumerate(pixels) if k != i and len(p)], wide, len(words))
        if found is None:  # so crowded that no place is free
            complete = complete and not len(pixels[i])
            continue
        at, away, box = found
        room.take(box)
        back = _undo(size, axes)
        if away > _LEADER:
            edge = (min(max(at[0], box[0]), box[2]), min(max(at[1], box[1]), box[3]))
            made.append(line((back(at), back(edge)), colour, 1))
            room.line([at, edge])
        for k, told in enumerate(words):
            made += text(told, back((box[0], box[1] + 9 + LINE * k)), "left", colour, weight)
    return made, complete


def _letters(series: Sequence[Series]) -> list[str]:
    """A letter for each line that is not quiet."""
    loud = iter("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return ["" if s.quiet or s.limit else next(loud, "·") for s in series]


def _key(
    series: Sequence[Series], styles: Sequence[tuple[str, float, tuple[int, ...]]], corner: Point, room: float
) -> list[list[Layer]]:
    """What each letter stands for, a line each beneath the axis."""
    named = [(s, letter, style) for s, letter, style in zip(series, _letters(series), styles, strict=True) if letter]
    made = []
    for row, (s, letter, (colour, _, _)) in enumerate(named):
        down = _BOTTOM + 4 + LINE * row
        words = shortened(s.name, room - 20)
        mark = text(letter, corner, "left", colour, 600, 0, down)
        made.append([*mark, *text(words, corner, "left", "var(--ink)", 400, 20, down)])
    return made


def _dense(points: Sequence[Point], dotted: bool = False) -> Array:
    """A line in steps of a few pixels, so that a name can stand anywhere along it; beside ``dotted`` points only."""
    given = np.asarray(points, dtype=float).reshape(-1, 2)
    if dotted or len(given) < 2:
        return given
    along = np.concatenate(([0.0], np.cumsum(np.maximum(np.abs(np.diff(given, axis=0)).max(axis=1), 1e-9))))
    fine = np.linspace(0, along[-1], max(int(along[-1] / 4), 2))
    return np.column_stack([np.interp(fine, along, given[:, k]) for k in (0, 1)])


def _beside(room: Room, own: Array, others: Sequence[Array], wide: float, rows: int) -> tuple[Point, float, Box] | None:
    """The point of a line that its name may stand beside, how far from it, and where; on the line if nowhere else."""
    high = LINE * rows - 2
    best: tuple[float, tuple[Point, float, Box]] | None = None
    led: tuple[float, tuple[Point, float, Box]] | None = None  # where nothing nearer is free, a name is led to its line
    for x, y in own[2:-2:8] if len(own) > 12 else own:
        at = float(x), float(y)
        tried = [(4.0, block(at, wide, high, "center"))]
        if (found := room.nearest(wide, high, at)) is not None:
            tried.append(found)
        for away, box in tried:
            strange = min((_gap(box, line) for line in others), default=60.0)
            upon = away == 4.0
            if not upon and (led is None or away < led[0]):
                led = away, (at, max(away, _LEADER + 1.0), box)
            if (upon and (strange < 4 or room.cost(box) >= 50)) or (not upon and strange < _gap(box, own)):
                continue
            cost = away - 0.5 * min(strange, 60.0) + (40 if upon else 0)
            if best is None or cost < best[0]:
                best = cost, (at, 0.0 if upon else away, box)
    chosen = best or led
    return None if chosen is None else chosen[1]


def _gap(box: Box, points: Array) -> float:
    """How near a line comes to a box."""
    x, y = points.T
    across = np.maximum(np.maximum(box[0] - x, x - box[2]), 0)
    down = np.maximum(np.maximum(box[1] - y, y - box[3]), 0)
    return float(np.hypot(across, down).min())


def _undo(size: tuple[int, int], axes: tuple[Axis, Axis]) -> Any:
    """From pixels back to values."""

    def value(axis: Axis, share: float) -> float:
        if axis.log:
            return float(axis.low * (axis.high / axis.low) ** share)
        return axis.low + share * (axis.high - axis.low)

    return lambda p: (value(axes[0], p[0] / size[0]), value(axes[1], 1 - p[1] / size[1]))
