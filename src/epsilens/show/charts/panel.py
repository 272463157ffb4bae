"""A panel against ε: lines named at their ends, a limit, both ε as uprights, values where the main line meets them."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..assessment.labels import planned
from ..assessment.words import second_name
from .marks import Layer, dashed, dot, ends, line, text
from .placement import LINE, Point, Room, block, width_of
from .scales import scale

if TYPE_CHECKING:
    from ...assessment.assess import Assessment


#: A line: its name, its values at the curve's ε, and whether it is the one the panel is about.
Line = tuple[str, Sequence[float], bool]
_HIGH = LINE  # of one line of words


def _marks(a: Assessment, high: float, narrow: bool) -> list[tuple[float, str]]:
    """The planned and the second ε with their names, from the left."""
    marks = [(a.epsilon, f"planned {planned(a.epsilon)}")]
    if (other := a.verdict.alternative) is not None and other <= high:
        marks.append((other, ("at most" if narrow else second_name(a).lower()) + f" {planned(other)}"))
    return sorted(marks)


def uprights(a: Assessment, high: float, top: float, bottom: float) -> list[Layer]:
    """Thin uprights at the planned and the second ε."""
    return [line(((at, bottom), (at, top)), "var(--axis)", 1.25) for at, _ in _marks(a, high, False)]


def stand(a: Assessment, x: dict[str, Any], room: Room) -> None:
    """Keep labels clear of the uprights."""
    place = scale(x["scale"], 0, room.width)
    for at, _ in _marks(a, x["scale"]["domain"][1], False):
        room.line([(place(at), 0), (place(at), room.height)])


def upright_names(a: Assessment, x: dict[str, Any], top: float, room: Room) -> list[Layer]:
    """Their names at the top, on the sides and in the rows that are free."""
    place = scale(x["scale"], 0, room.width)
    marks = _marks(a, x["scale"]["domain"][1], room.width < 400)
    made: list[Layer] = []
    for i, (at, words) in enumerate(marks):
        sides = ("right", "left") if i == 0 and len(marks) == 2 else ("left", "right")
        ways = [(side, 8 + LINE * row) for row in range(4) for side in sides]
        wide = width_of(words, 600)
        moved = {"left": 6, "right": -6}
        chosen = room.best([block((place(at) + moved[side], down), wide, _HIGH, side) for side, down in ways])
        side, down = ways[chosen]
        made += text(words, (at, top), side, "var(--ink)", 600, moved[side], down)
    return made


class Panel:
    """One panel in the making: what stands in it decides where the next label goes."""

    def __init__(self, a: Assessment, x: dict[str, Any], y: dict[str, Any], size: tuple[int, int], colour: str) -> None:
        self.a, self.x, self.colour = a, x, colour
        self.width, self.height = size
        self.low, self.high = y["scale"]["domain"]
        self.across, self.down = scale(x["scale"], 0, self.width), scale(y["scale"], self.height, 0)
        self.room = Room(self.width, self.height)
        self.behind = uprights(a, x["scale"]["domain"][1], self.high, self.low)
        stand(a, x, self.room)
        self.front: list[Layer] = []
        self.words: list[Layer] = []

    @property
    def layers(self) -> list[Layer]:
        """From back to front."""
        return [*self.behind, *self.front, *self.words]

    def pixel(self, at: Point) -> Point:
        """Where a place in the data stands."""
        return self.across(at[0]), self.down(min(max(at[1], self.low), self.high))

    def lines(self, lines: Sequence[Line], right: int, names: int) -> None:
        """The lines, the main one last and in colour, with the names of the first few at their ends."""
        many = len(lines) > 8
        labels = []
        for i, (name, values, main) in sorted(enumerate(lines), key=lambda line: line[1][2]):
            points = _above(self.a.curve.epsilon, values, self.low)
            colour, weight = (self.colour, 3.0) if main else ("var(--secondary)", 1.0 if many else 1.75)
            self.front.append(line(points, colour, weight, name, smooth=True))
            self.room.line([self.pixel(p) for p in points])
            if main or i < names:
                labels.append((name, self.pixel((points[-1][0], values[-1]))[1], colour, 600 if main else 400))
        corner = (self.a.curve.epsilon[-1], self.high)
        self.words += ends(labels, corner, self.height, right, self.room)

    def values(self, told: Sequence[tuple[float, float, str, bool]], *, rising: bool) -> None:
        """Dots where the main line meets an ε, each with its value on the side where the line is not."""
        for x, y, _, filled in told:
            self.front.append(dot((x, y), self.colour, filled=filled))
            self.room.dot(self.pixel((x, y)))
        above = ("right", -9, -10), ("left", 9, 12)
        if not rising:
            above = ("left", 9, -10), ("right", -9, 12)
        first, last = above
        sides = [first, last, (last[0], last[1], -10), (first[0], first[1], 12), (first[0], first[1], -24)]
        for x, y, words, _ in told:
            at, wide = self.pixel((x, y)), width_of(words, 600)
            boxes = [block((at[0] + dx, at[1] + dy), wide, _HIGH, side) for side, dx, dy in sides]
            side, dx, dy = sides[self.room.best(boxes)]
            self.words += text(words, (x, y), side, self.colour, 600, dx, dy)

    def uprights_named(self) -> None:
        """The names of both ε."""
        self.words += upright_names(self.a, self.x, self.high, self.room)

    def limit(self, value: float) -> None:
        """A dashed line across."""
        first, last = self.a.curve.epsilon[0], self.a.curve.epsilon[-1]
        self.behind.insert(0, dashed(((first, value), (last, value)), "var(--ink)", 1.5, (5, 3), "limit"))
        self.room.line([(0, self.down(value)), (self.width, self.down(value))])

    def limit_named(self, value: float, words: str) -> None:
        """The limit's name beside its line, where it crosses least."""
        first, last = self.a.curve.epsilon[0], self.a.curve.epsilon[-1]
        wide, y = width_of(words, 600), self.down(value)
        middle = [first * (last / first) ** share for share in (0.75, 0.5, 0.25)]
        ways = [
            (x, side, dy)
            for x, side in ((last, "right"), *((x, "center") for x in middle), (first, "left"))
            for dy in (11, -11)
        ]
        boxes = [block((self.across(x), y + dy), wide, _HIGH, side) for x, side, dy in ways]
        x, side, dy = ways[self.room.best(boxes)]
        self.words += text(words, (x, value), side, "var(--ink)", 600, 0, dy)


def _above(epsilon: Sequence[float], values: Sequence[float], low: float) -> list[Point]:
    """The line as far as it stays above the panel's floor; a falling one ends on it."""
    if values[-1] >= low:
        return list(zip(epsilon, values, strict=True))
    end = bisect_left([-v for v in values], -low)
    points = list(zip(epsilon[:end], values[:end], strict=True))
    if end:
        part = math.log(values[end - 1] / low) / math.log(values[end - 1] / values[end])
        points.append((epsilon[end - 1] * (epsilon[end] / epsilon[end - 1]) ** part, low))
    return points
