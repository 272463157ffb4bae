"""Labels: how wide their words are, and where they go: beside what they name, clear of lines, dots and each other.

Widths are the advance widths of Source Sans 3, read from its files by ``scripts/fonts.py``. All is in pixels from the
top left.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise

import numpy as np

from ...checks import Array

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


# -- how wide words are -------------------------------------------------------------------------------------------

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
