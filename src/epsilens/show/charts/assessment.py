"""The charts of an assessment: risk and accuracy against ε, simulated releases, and the ε of published deployments.

Risk and accuracy are two panels that share a logarithmic axis, with the limits and both ε drawn; the others are dots
along a line.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import checks
from ...assessment.split import DRAWN_GROUPS
from ...errors import InputError
from ...numerics.formatting import frequency
from ..assessment.tables import error, given, group_name, percent, planned, risk, second_name, share, subject, value
from .chart import Chart
from .layout import (
    LINE,
    Layer,
    Point,
    Room,
    block,
    clear,
    dashed,
    dot,
    dots,
    ends,
    frame,
    line,
    linear_axis,
    log_axis,
    room_for,
    scale,
    shortened,
    text,
    width_of,
    written,
)

if TYPE_CHECKING:
    from ...assessment.accuracy import QueryAccuracy
    from ...assessment.assess import Assessment
    from ...assessment.risks import AdversaryRisk


# A panel against ε: lines named at their ends, a limit, both ε as uprights, values where the main line meets them.

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


class CurvePanel:
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


_TOP, _LEFT = 58, 52
#: As a share of the answer: beyond it the line runs along the top, and the axis keeps room for the plot.
_MOST_ERROR = 1e6
_MOST_LABELS = 6
#: A panel without a title of its axis, and with one.
_BOTTOM, _TITLED = 12, 56
_AXIS = "ε (logarithmic scale)"
_UP = {"grid": True, "domain": False, "ticks": False, "labelPadding": 8, "labelOverlap": False, "title": None}


def of_assessment(a: Assessment, name: str) -> Chart:
    """``risk``, ``accuracy``, ``simulated`` (releases at the planned ε) or ``precedents``."""
    checks.one_of("name", name, ("risk", "accuracy", "simulated", "precedents"))
    if name == "risk":
        return risk_curve(a)
    if name == "precedents":
        return precedent_strip(a)
    query = a.simulated_query if name == "simulated" else None
    made = accuracy_curve(a) if name == "accuracy" else None
    made = simulated(a, query, a.epsilon) if query is not None else made
    if made is None:
        raise InputError(f"name is {name!r}: every answer of this plan is 0, so there is none to draw; give 'risk'")
    return made


def risk_curve(a: Assessment) -> Chart:
    """Right guesses of 100 against ε, a line for each adversary who guesses."""
    return Chart("risk", _risk, (a,))


def accuracy_curve(a: Assessment) -> Chart | None:
    """The 95% error as a share of the answer against ε, a line for each query; None where every answer is 0."""
    return Chart("accuracy", _accuracy, (a,)) if _rated(a) else None


def _rated(a: Assessment) -> list[int]:
    return [i for i, errors in enumerate(a.curve.errors) if any(map(math.isfinite, errors))]


def _sizes(a: Assessment, width: int) -> tuple[int, int, int]:
    """Room for the axis at the left and for names at the right, the same in both panels, and the plot's own width."""
    rated = _rated(a)
    left = _LEFT
    if rated:
        form = max((width_of(written(t, ",~%")) for t in _decades(*_span(a, rated))), default=0.0)
        left = max(left, math.ceil(form) + 12)
    names = [(r.name, 600 if r is _main(a) else 400) for r in _shown(a)]
    names += [(_label(a, i), 600 if a.queries[i] is a.hardest else 400) for i in rated[:_MOST_LABELS]]
    right = room_for(names, 150, 170) if width >= 600 else room_for(names, 94, 112)
    return left, right, width - left - right


def _shown(a: Assessment) -> list[AdversaryRisk]:
    return [r for r in a.risks if r.key in a.curve.risks]


def _main(a: Assessment) -> AdversaryRisk:
    shown = _shown(a)
    main = next((r for r in shown if r.key == a.leading.key), None)
    return main or next(r for r in shown if r.key == "membership")


def _told_risk(a: Assessment, main: AdversaryRisk, limit: float | None) -> str:
    at = a.verdict.alternative
    aria = f"Risk against ε. {main.name}: {risk('success', main.planned)} of 100 right guesses at the planned ε"
    aria += f" = {planned(a.epsilon)}"
    if at is not None and main.recommended is not None:
        aria += f", {risk('success', main.recommended)} at ε = {planned(at)}"
    aria += f"; {given('success', main.baseline)} without the release"
    return aria + ("." if limit is None else f"; the limit is {given('success', limit)}.")


def _risk(a: Assessment, width: int) -> dict[str, object]:
    shown, main, alone = _shown(a), _main(a), not _rated(a)  # alone, this panel carries the axis
    limit = next((r.limit for r in shown if r.limit is not None), None)
    low = 10 * math.floor(min(100 * r.baseline for r in shown) / 10 + 1e-9)
    left, right, plot = _sizes(a, width)
    height = 300 if width >= 600 else 250
    x = log_axis(a.curve.epsilon[0], a.curve.epsilon[-1], plot, _AXIS if alone else None)
    y = {
        "scale": {"domain": [low, 100], "nice": False},
        "axis": {**_UP, "values": list(range(low, 101, 10)), "format": ",.0f"},
    }
    panel = CurvePanel(a, x, y, (plot, height), "var(--risk)")
    drawn = limit if limit is not None and 100 * limit >= low else None
    if drawn is not None:
        panel.limit(100 * drawn)
    panel.lines([(r.name, [100 * v for v in a.curve.risks[r.key]], r is main) for r in shown], right, len(shown))
    said = risk("success", main.planned, limit=limit, baseline=main.baseline)
    told = [(a.epsilon, 100 * main.planned, said, True)]
    at = a.verdict.alternative
    if at is not None and main.recommended is not None and at <= a.curve.epsilon[-1]:
        told.append((at, 100 * main.recommended, risk("success", main.recommended), False))
    panel.values(told, rising=True)
    panel.uprights_named()
    if drawn is not None:
        panel.limit_named(100 * drawn, f"limit {given('success', drawn)}")
    padding = {"left": left, "right": right, "top": _TOP, "bottom": _TITLED if alone else _BOTTOM}
    without = f"Without the release: {frequency(main.baseline)}"
    said = _told_risk(a, main, limit)
    return frame(said, plot, height, panel.layers, x, y, padding, "Risk: right guesses of 100", without)


def _span(a: Assessment, rated: Sequence[int]) -> tuple[float, float]:
    """The least and the largest error the panel shows, as shares."""
    values = [v for i in rated for v in a.curve.errors[i] if math.isfinite(v)]
    top = min(max(values), _MOST_ERROR)
    least = min(max(min(values), top / 1e6), top)
    low = 10.0 ** math.floor(math.log10(least))
    low = low if least < 3 * low else least / 1.2  # a whole decade of nothing says nothing
    return (low if low < top else top / 10), top


def _decades(low: float, top: float) -> list[float]:
    powers = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(top) + 1e-9) + 1)
    return [float(f"1e{p}") for p in (powers[::2] if len(powers) > 6 else powers)]


def _told_accuracy(a: Assessment, hard: QueryAccuracy, limit: float | None) -> str:
    at = a.verdict.alternative
    shown = [a.epsilon, *([] if at is None else [at])]
    told = [f"{share(a.figures[e].queries[hard.index].relative)} at ε = {planned(e)}" for e in shown]
    aria = f"Accuracy against ε. 95% error of {subject(a, hard)}: {', '.join(told)}"
    return aria + ("." if limit is None else f"; the limit is {percent(limit)}.")


def _accuracy(a: Assessment, width: int) -> dict[str, object]:
    rated, hard, limit, at = _rated(a), a.hardest, a.release.error_limit, a.verdict.alternative
    low, top = _span(a, rated)
    left, right, plot = _sizes(a, width)
    height = 240 if width >= 600 else 220
    x = log_axis(a.curve.epsilon[0], a.curve.epsilon[-1], plot, _AXIS)
    y = {
        "scale": {"type": "log", "domain": [low, top], "nice": False},
        "axis": {**_UP, "values": _decades(low, top), "format": ",~%"},
    }
    panel = CurvePanel(a, x, y, (plot, height), "var(--accuracy)")
    drawn = limit if limit is not None and low < limit < top else None
    if drawn is not None:
        panel.limit(drawn)
    # where a threshold hides an answer too often no error is enough: the line runs along the top
    lines = {i: tuple(min(v, top) for v in a.curve.errors[i]) for i in rated}
    panel.lines([(_label(a, i), lines[i], a.queries[i] is hard) for i in rated], right, _MOST_LABELS)
    marked = [(a.epsilon, True)] + ([(at, False)] if at is not None and at <= a.curve.epsilon[-1] else [])
    errors = [(e, a.figures[e].queries[hard.index].relative, filled) for e, filled in marked]
    told = [(e, min(error, top), share(error, limit), filled) for e, error, filled in errors if math.isfinite(error)]
    panel.values(told, rising=False)
    if drawn is not None:
        panel.limit_named(drawn, f"limit {percent(drawn)}")
    padding = {"left": left, "right": right, "top": _TOP, "bottom": _TITLED}
    title, said = "Accuracy: 95% error, as a share of the answer", _told_accuracy(a, hard, limit)
    return frame(said, plot, height, panel.layers, x, y, padding, title, "Lower is more accurate")


def _label(a: Assessment, i: int) -> str:
    words = a.release.queries[i].name or subject(a, a.queries[i]).removeprefix("the ").removeprefix("least accurate ")
    return words[:1].upper() + words[1:]


#: The width of one strip of simulated releases: two stand side by side on a desk, one fills a phone.
STRIP = 350
_ROW = 32
_BIN = 11
_NAMES = 136  # the most room names take


def simulated(a: Assessment, q: QueryAccuracy, epsilon: float) -> Chart:
    """Twenty releases at an ε: the true answer upright, a dot for each release, and the band that holds 95 of 100.

    The band is around what limits and bounds leave of the true answer: where that is far less, so are the dots.
    """
    return Chart("simulated", _simulated, (a, q, epsilon), STRIP, STRIP)


def _simulated(a: Assessment, q: QueryAccuracy, epsilon: float, width: int) -> dict[str, object]:
    least = min(epsilon, a.epsilon, a.verdict.alternative or a.epsilon)
    draws, bands = a.simulations[epsilon].draws, a.simulations[epsilon].around
    answers = q.answers[:DRAWN_GROUPS]
    names = [group_name(a, q, answer.group) for answer in answers]
    # Both strips share one scale, that of the noisier release.
    widest = a.simulations[least].around
    reach = [(v, 1.35 * band) for x, band in zip(answers, widest, strict=False) for v in (x.value, x.bounded)]
    low, high = min(v - e for v, e in reach), max(v + e for v, e in reach)
    if q.kind in ("count", "histogram"):
        low = min(low, 0.0)
    told = "; ".join(
        f"{name} {value(answer.value)}, releases {value(answer.bounded)} {error(band)}"
        for name, answer, band in zip(names, answers, bands, strict=False)
    )
    names = [shortened(name, _NAMES) for name in names]
    left = math.ceil(max(width_of(name) for name in names)) + 14
    plot, height = width - left - 16, _ROW * len(answers)
    layers: list[Layer] = []
    for i, (name, answer) in enumerate(zip(names, answers, strict=True)):
        y, around = i + 0.5, bands[i]
        ends = max(answer.bounded - around, low), min(answer.bounded + around, high)
        layers.append(line(((ends[0], y), (ends[1], y)), "var(--band)", 16, f"{name}: 95 of 100"))
        places = [(min(max(float(x), low), high), y) for x in draws[i] if math.isfinite(x)]
        layers.append(dots(places, "var(--accuracy)", 30, 0.55, f"{name}: releases"))
        layers.append(line(((answer.value, y - 0.3), (answer.value, y + 0.3)), "var(--ink)", 2.5))
        layers += text(name, (low, y), "left", "var(--ink)", 400, -left)
    x = linear_axis(low, high, 4)
    for count in (3, 2, 1):
        place = scale(x["scale"], 0, plot)
        if clear([(place(v), written(v, x["axis"]["format"])) for v in x["axis"]["values"]]):
            break
        x = linear_axis(low, high, count)
    up = {"scale": {"domain": [len(answers), 0], "nice": False}, "axis": None}
    padding = {"left": left, "right": 16, "top": 4, "bottom": 28}
    aria = f"Twenty simulated releases at ε = {planned(epsilon)}, true answer and 95% error: {told}."
    return frame(aria, plot, height, layers, x, up, padding)


def precedent_strip(a: Assessment) -> Chart:
    """Published deployments as dots on a logarithmic axis, with the planned and the recommended ε."""
    return Chart("precedents", _precedents, (a,))


def _precedents(a: Assessment, width: int) -> dict[str, object]:
    known = a.precedents
    marks = [a.epsilon, *([a.verdict.alternative] if a.verdict.alternative else [])]
    low = min(0.007, *(0.7 * float(m) for m in marks if m))
    high = max(known[-1].epsilon * 1.7, *(1.4 * float(m) for m in marks if m))
    first, last, middle = known[0], known[-1], float(np.median([p.epsilon for p in known]))
    aria = (
        f"{len(known)} deployments report an ε from {first.epsilon:g} ({first.curator} {first.year}) "
        f"to {last.epsilon:g} ({last.curator} {last.year}); half report {middle:g} or less. "
        f"Planned here: {planned(a.epsilon)}."
    )
    plot = width - 24
    x = log_axis(low, high, plot, "ε as reported (logarithmic scale)")
    place = scale(x["scale"], 0, plot)
    places = [place(p.epsilon) for p in known]
    stacked = _stacked(places)
    height = _BIN * (max(stacked) + 1) + 3 * LINE + 12
    heights = [height - 8.0 - _BIN * level for level in stacked]
    room = Room(plot, height)
    for at, up in zip(places, heights, strict=True):
        room.dot((at, up))
    layers = uprights(a, high, 0.0, float(height))
    known_at = [(p.epsilon, up) for p, up in zip(known, heights, strict=True)]
    layers.append(dots(known_at, "var(--baseline)", 75, 1, "deployments"))
    stand(a, x, room)
    layers += upright_names(a, x, 0.0, room)
    # Those at the ends are named where they stand alone.
    for deployment, edge, align in ((first, low, "left"), (last, high, "right")):
        name = f"{deployment.curator} {deployment.year}"
        start = 0.0 if align == "left" else plot - width_of(name)
        box = (start, height - 33.0, start + width_of(name), height - 15.0)
        if room.cost(box) == 0:
            room.take(box)
            layers += text(name, (edge, height - 8.0), align, "var(--secondary)", 400, 0, -16)
    y = {"scale": {"domain": [height, 0], "nice": False}, "axis": None}
    return frame(aria, plot, height, layers, x, y, {"left": 8, "right": 16, "top": 8, "bottom": 56})


def _stacked(places: list[float]) -> list[int]:
    """The level of each dot: the lowest on which it touches no other."""
    last: list[float] = []
    levels = []
    for x in places:
        level = next((k for k, other in enumerate(last) if x - other >= _BIN), len(last))
        if level == len(last):
            last.append(x)
        last[level] = x
        levels.append(level)
    return levels
