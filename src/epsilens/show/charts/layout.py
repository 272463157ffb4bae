"""The marks our charts are made of, as layers of Vega-Lite, and the frame around them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

import numpy as np

from ...checks import Array

# Labels: how wide their words are, and where they go: beside what they name, clear of lines, dots and each other.
#
# Widths are the advance widths of Source Sans 3, read from its files by ``scripts/fonts.py``. All is in pixels from the
# top left.

LINE = 18  # pixels from line to line
_NEAR = 6  # how near a label may come to a line
_STEP = 3  # how finely free places are sought
_CELL = 2  # how finely lines are kept, in pixels

Point = tuple[float, float]
#: left, top, right, bottom
Box = tuple[float, float, float, float]


def block(at: Point, wide: float, high: float, side: str) -> Box:
    """The box of a text that starts, ends or is centred at a point, and is centred in height."""
    left = {"left": at[0], "right": at[0] - wide, "center": at[0] - wide / 2}[side]
    return left, at[1] - high / 2, left + wide, at[1] + high / 2


class Room:
    """A plot and what stands in it already: places of lines and dots, and boxes of labels."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._rows, self._columns = height // _CELL + 1, width // _CELL + 1
        self._cells = np.zeros((self._rows, self._columns), dtype=np.int32)
        self._sums: Array | None = None
        self._boxes: list[Box] = []

    def line(self, points: Sequence[Point]) -> None:
        """A polyline that labels keep clear of."""
        given = np.asarray(points, dtype=float)
        if len(given) > 1:  # a place at least every second pixel, so that nothing slips between two of them
            gaps = np.abs(np.diff(given, axis=0)).max(axis=1)
            along = np.concatenate(([0.0], np.cumsum(np.maximum(gaps, 1e-9))))
            fine = np.linspace(0, along[-1], int(along[-1] / 2) + 2)
            x, y = np.interp(fine, along, given[:, 0]), np.interp(fine, along, given[:, 1])
        else:
            x, y = given[:, 0], given[:, 1]
        inside = (x >= -1) & (x <= self.width + 1) & (y >= -1) & (y <= self.height + 1)
        columns = np.clip((x[inside] / _CELL).astype(int), 0, self._columns - 1)
        rows = np.clip((y[inside] / _CELL).astype(int), 0, self._rows - 1)
        self._cells[rows, columns] = 1
        self._sums = None

    def dot(self, at: Point, radius: float = 5) -> None:
        """A dot that labels keep clear of."""
        first, above, last, below = (
            max(int(v / _CELL), 0) for v in (at[0] - radius, at[1] - radius, at[0] + radius, at[1] + radius)
        )
        self._cells[above : below + 1, first : last + 1] = 1
        self._sums = None

    def take(self, box: Box) -> None:
        """A label that others keep clear of."""
        self._boxes.append(box)

    def _count(self, left: Array, top: Array, right: Array, bottom: Array) -> Array:
        """How many taken cells lie in boxes: a column for each left and right, a row for each top and bottom."""
        if self._sums is None:
            self._sums = np.zeros((self._rows + 1, self._columns + 1), dtype=np.int32)
            self._cells.cumsum(axis=0, dtype=np.int32).cumsum(axis=1, dtype=np.int32, out=self._sums[1:, 1:])
        first, last = (np.clip(np.ceil(x / _CELL), 0, self._columns).astype(int) for x in (left, right))
        above, below = (np.clip(np.ceil(y / _CELL), 0, self._rows).astype(int)[:, None] for y in (top, bottom))
        sums = self._sums
        return np.asarray(sums[below, last] - sums[above, last] - sums[below, first] + sums[above, first])

    def nearest(self, wide: float, high: float, at: Point, side: str = "") -> tuple[float, Box] | None:
        """The free place nearest a point, and how far it is; ``below`` or ``above`` the point and not left of it."""
        left = np.arange(_STEP, self.width - wide - 1, _STEP)
        top = np.arange(self.height - high - _STEP, 0, -_STEP)
        if not left.size or not top.size:
            return None
        right, bottom = left + wide, top + high
        free = self._count(left - _NEAR, top - _NEAR, right + _NEAR, bottom + _NEAR) == 0
        for b in self._boxes:
            columns = (right + _NEAR >= b[0]) & (left - _NEAR <= b[2])
            free &= ~(((bottom >= b[1]) & (top <= b[3]))[:, None] & columns)
        if side:
            free &= ((top >= at[1]) if side == "below" else (bottom <= at[1]))[:, None] & (right >= at[0])
        dx = np.maximum(np.maximum(left - at[0], at[0] - right), 0)
        dy = np.maximum(np.maximum(top - at[1], at[1] - bottom), 0)
        away = np.where(free, np.hypot(dx, dy[:, None]), np.inf)
        row, column = divmod(int(np.argmin(away)), left.size)
        if math.isinf(away[row, column]):
            return None
        x, y = float(left[column]), float(top[row])
        return float(away[row, column]), (x, y, x + wide, y + high)

    def cost(self, box: Box) -> float:
        """How badly a label would stand here: over another label, over the edge, over a line."""
        left, top, right, bottom = box
        over = sum(left < b[2] + 3 and b[0] - 3 < right and top < b[3] and b[1] < bottom for b in self._boxes)
        outside = max(0.0, -left - _NEAR, right - self.width, -top - 10, bottom - self.height)
        crossed = self._count(*(np.array([float(v)]) for v in (left - 1, top + 2, right + 1, bottom - 2)))
        return 1000 * over + 50 * outside + float(crossed[0, 0])

    def best(self, boxes: Sequence[Box]) -> int:
        """The first of the places where a label stands least badly; it is taken."""
        costs = [self.cost(box) for box in boxes]
        chosen = costs.index(min(costs))
        self.take(boxes[chosen])
        return chosen


def spread(wanted: Sequence[tuple[float, float]], top: float, bottom: float) -> list[float]:
    """Middles of labels, each as near as may be to where it wants to be, none upon another, all between two ends.

    ``wanted`` holds a middle and a height for each label. Labels that meet share the way they must give.

    >>> spread([(10, 20), (12, 20), (90, 20)], -10, 110)
    [1.0, 21.0, 90.0]
    >>> spread([(0, 40), (0, 40)], -10, 110)
    [10.0, 50.0]
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i][0])
    offsets = [0.0]
    for before, after in pairwise(order):
        offsets.append(offsets[-1] + (wanted[before][1] + wanted[after][1]) / 2)
    # Less its offset every label may stand anywhere not before the one above it: pool the neighbours that are not.
    pools: list[tuple[float, int]] = []
    for i, offset in zip(order, offsets, strict=True):
        pools.append((wanted[i][0] - offset, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, n), (b, m) = pools[-2:]
            pools[-2:] = [((a * n + b * m) / (n + m), n + m)]
    if not order:
        return []
    least = top + wanted[order[0]][1] / 2
    most = max(bottom - wanted[order[-1]][1] / 2 - offsets[-1], least)
    even = [min(max(place, least), most) for place, count in pools for _ in range(count)]
    placed = [0.0] * len(wanted)
    for i, place, offset in zip(order, even, offsets, strict=True):
        placed[i] = place + offset
    return placed


#: Every word of a chart, in pixels.
SIZE = 15
#: What a character that the font lacks is taken for: as wide as any.
_UNKNOWN = 1000
_SIGNS = ("=", "<", ">", "<=", ">=", "<>", "!=", "≤", "≥", "≠")


@cache
def _widths(weight: int) -> dict[str, int]:
    path = files("epsilens.show").joinpath("assets", "letter-widths.json")
    table: dict[str, dict[str, int]] = json.loads(path.read_text(encoding="utf-8"))
    return table[str(weight)]


def width_of(words: str, weight: int = 400, size: float = SIZE) -> float:
    """How wide words are in pixels, at a weight of 400 or 600.

    >>> width_of("0.01"), width_of("0.01", 600) > width_of("0.01")
    (26.1, True)
    """
    table = _widths(weight)
    return sum([table.get(letter, _UNKNOWN) for letter in words]) * size / 1000


def shortened(words: str, room: float, weight: int = 400) -> str:
    """As many of the words as the room holds, with an ellipsis where some are left out.

    >>> shortened("Count where age > 60", 200), shortened("Count where age > 60", 110)
    ('Count where age > 60', 'Count where…')
    """
    if width_of(words, weight) <= room:
        return words
    while words and width_of(words + "…", weight) > room:
        words = words[:-1]
    whole = words.rpartition(" ")[0]
    return (whole if len(whole) > len(words) / 2 else words).rstrip(" ,;:·=<>") + "…"


def wrapped(words: str, room: float, weight: int = 400, most: int = 3) -> list[str]:
    """A label in at most so many lines that fit the room; one too long ends in an ellipsis.

    >>> wrapped("Differencing, one answer known", 94)
    ['Differencing,', 'one answer', 'known']
    """
    lines: list[str] = []
    for word in _unbroken(words.split(), room, weight):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer, weight) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > most:
        lines[most - 1 :] = [" ".join(lines[most - 1 :])]
    return [shortened(line, room, weight) for line in lines] or [""]


def _unbroken(words: list[str], room: float, weight: int) -> list[str]:
    """Words, a comparison such as ``age > 60`` taken for one where the room holds it."""
    out: list[str] = []
    for word in words:
        whole = " ".join((*out[-2:], word))
        if len(out) > 1 and out[-1] in _SIGNS and width_of(whole, weight) <= room:
            out[-2:] = [whole]
        else:
            out.append(word)
    return out


# Where a value stands on an axis, which values an axis names, and how it writes them: as Vega does.

Scale = Callable[[float], float]
#: Room between the labels of two ticks, in pixels.
_GAP = 9


def scale(given: Mapping[str, Any], start: float, end: float) -> Scale:
    """From values to pixels, for a linear or logarithmic Vega-Lite scale.

    >>> scale({"domain": [0, 100]}, 0, 300)(50), round(scale({"type": "log", "domain": [0.1, 10]}, 0, 300)(1), 6)
    (150.0, 150.0)
    """
    low, high = given["domain"]
    if given.get("type") == "log":
        first = math.log(low)
        each = (end - start) / (math.log(high) - first)
        return lambda value: start + (math.log(value) - first) * each
    step = (end - start) / (high - low)
    return lambda value: start + (value - low) * step


def steps(low: float, high: float, count: int) -> tuple[list[float], str]:
    """About ``count`` round values between two ends, and the format that tells them apart: d3's ticks.

    >>> steps(0, 2.8, 5)
    ([0.0, 0.5, 1.0, 1.5, 2.0, 2.5], ',.1f')
    >>> steps(-1100, 1300, 4)
    ([-1000.0, -500.0, 0.0, 500.0, 1000.0], ',.0f')
    """
    rough = (high - low) / max(count, 1)
    power = math.floor(math.log10(rough))
    share = rough / 10.0**power
    times = 10 if share >= math.sqrt(50) else 5 if share >= math.sqrt(10) else 2 if share >= math.sqrt(2) else 1
    step = Decimal(times).scaleb(power)
    first, last = math.ceil(low / float(step) - 1e-9), math.floor(high / float(step) + 1e-9)
    places = max(-math.floor(math.log10(float(step)) + 1e-9), 0)
    return [float(step * i) for i in range(first, last + 1)], f",.{places}f"


def log_ticks(low: float, high: float, width: float) -> list[float]:
    """1, 2 and 5 times powers of ten where their labels stand clear of each other, else the powers that do.

    >>> log_ticks(0.05, 10, 204), log_ticks(0.05, 10, 120)
    ([0.1, 0.3, 1.0, 3.0, 10.0], [0.1, 1.0, 10.0])
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    place = scale({"type": "log", "domain": [low, high]}, 0, width)
    chosen: list[float] = []
    for times, every in (((1, 2, 5), 1), ((1, 3), 1), *(((1,), n) for n in range(1, len(powers) + 1))):
        first = -(-powers[0] // every) * every  # whole multiples, so that 1 stays among them
        named = [float(f"{t}e{p}") for p in range(first, powers[-1] + 1, every) for t in times]
        chosen = [t for t in named if low * 0.999 <= t <= high * 1.001]
        if clear([(place(t), written(t, "~g")) for t in chosen]):
            break
    return chosen


def clear(labels: Sequence[tuple[float, str]]) -> bool:
    """Whether labels centred at these places stand apart."""
    ends = [(at - width_of(words) / 2, at + width_of(words) / 2) for at, words in labels]
    return all(a[1] + _GAP <= b[0] for a, b in pairwise(ends))


def written(value: float, form: str) -> str:
    """A value in one of the formats our axes use (d3's names for them).

    >>> [written(v, f) for v, f in ((0.05, "~g"), (20.0, "~g"), (10, ",~%"), (0.001, ",~%"), (-1000, ",.0f"))]
    ['0.05', '20', '1,000%', '0.1%', '−1,000']
    """
    if form == "~g":
        text = _plain(value, 6) if 1e-6 <= abs(value) < 1e6 or value == 0 else f"{value:.6g}".replace("e-0", "e-")
    elif form == ",~%":
        text = f"{round(100 * value, 6):,.6f}".rstrip("0").rstrip(".") + "%"
    elif form.startswith(",.") and form.endswith("f"):
        text = f"{value:{form}}"
    else:
        raise ValueError(f"no axis of ours writes its values as {form!r}")
    return f"−{text[1:]}" if text.startswith("-") else text  # an exponent keeps its hyphen


def _plain(value: float, digits: int) -> str:
    text = f"{Decimal(f'{value:.{digits}g}'):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


Layer = dict[str, Any]
#: A line's end: its name, how far down it ends, its colour and the weight of its name.
End = tuple[str, float, str, int]

_FONT = "'Source Sans 3', system-ui, sans-serif"
#: From a line's end to its name.
_BESIDE = 9
#: Of the room for names, what they do not fill.
_SPARE = _BESIDE + 2


def _data(points: Sequence[Point]) -> dict[str, object]:
    return {"values": [{"x": x, "y": y} for x, y in points]}


def line(points: Sequence[Point], colour: str, width: float, name: str = "", *, smooth: bool = False) -> Layer:
    """A line through the points, in their order; a ``name`` makes it part of the chart's data."""
    mark: dict[str, object] = {"type": "line", "color": colour, "strokeWidth": width, "strokeJoin": "round"}
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
    font = {"fontSize": size, "fontWeight": weight, "dx": dx, "dy": dy}
    mark = {"type": "text", "text": words, "align": align, "baseline": "middle", **font}
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


#: An axis of hairlines alone.
HAIRLINES: dict[str, object] = {"grid": True, "domain": False, "ticks": False, "labelPadding": 8, "labelOverlap": False}


def log_axis(low: float, high: float, width: int, title: str | None, **more: object) -> dict[str, Any]:
    """A logarithmic horizontal axis with as many ticks as stand clear; without a title only its line."""
    named = title is not None
    axis = {"grid": False, "domain": True, "ticks": named, "labels": named, "labelPadding": 2, "labelOverlap": False}
    words = {"values": log_ticks(low, high, width), "format": "~g", "title": title, "titlePadding": 8, "titleX": 0}
    return {"scale": {"type": "log", "domain": [low, high], "nice": False}, "axis": {**axis, **words, **more}}


def linear_axis(low: float, high: float, count: int = 5, **more: object) -> dict[str, Any]:
    """A linear axis of hairlines with round values."""
    values, form = steps(low, high, count)
    axis = {**HAIRLINES, "values": values, "format": form, "title": None, **more}
    return {"scale": {"domain": [low, high], "nice": False}, "axis": axis}


def frame(
    description: str,
    width: int,
    height: int,
    layers: Sequence[Layer],
    x: Mapping[str, object],
    y: Mapping[str, object],
    padding: Mapping[str, int],
    title: str = "",
    subtitle: str = "",
) -> dict[str, Any]:
    """The Vega-Lite definition around the layers, in the type and colours of the page.

    ``description`` is what the chart says to those who cannot see it; ``x`` and ``y`` are scales with their axes.
    """
    spec: dict[str, object] = {
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
