"""The curves of one experiment: ROC, precision–recall, trade-off, and the ROC of several settings at once.

Labels stand beside what they name, where they cross neither a curve nor each other; there is no legend.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...numerics.formatting import ceil_count, count, frequencies, frequency
from ..sentences import Question, false_alarms, question
from .chart import Chart
from .layout import HAIRLINES, Box, Layer, Point, Room, dashed, dot, frame, line, text, width_of

if TYPE_CHECKING:
    from ...overview import CurvePoints, MarkedCurve


#: Widths in pixels, axis and edges included: two side by side on a desk, one on a phone.
SIDE_BY_SIDE, PHONE = 380, 350
_PADDING = {"left": 40, "right": 14, "top": 62, "bottom": 56}
_HUNDREDTHS = [0, 25, 50, 75, 100]
_LEADER = 27  # a label farther than this from its dot is led to it by a line
_LINE = 19


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve before it has a size: its words, lines and marked points, all out of 100.

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
        """The Vega-Lite definition at a width in pixels, axis and edges included."""
        layers, texts = _labelled(self, plot_width(width))
        layers += [
            dot(self.best, filled=True, name="best guess"),
            dot(self.chosen, filled=False, name="at the chosen false alarms"),
            *texts,
        ]
        return square(width, self.title, self.subtitle, layers, hundredths(self.x_title), self.aria)


def marked(found: MarkedCurve) -> Chart:
    """The curve ``roc``, ``precision_recall`` or ``tradeoff`` (missed against false alarms) of one experiment."""
    return Chart(found.name, Curve.spec, (of_marked(found),), SIDE_BY_SIDE, PHONE)


def of_marked(found: MarkedCurve) -> Curve:
    """The same, in words and numbers out of 100."""
    return _precision_recall(found) if found.name == "precision_recall" else _by_false_alarms(found)


def _by_false_alarms(found: MarkedCurve) -> Curve:
    """How many are found, or missed, against false alarms: one curve and its mirror image."""
    asked, fpr, at, missed = question(found.experiment), found.fpr, found.chosen[1], found.name == "tradeoff"
    name, does, done = ("Trade-off", "misses", "Missed") if missed else ("ROC", "finds", "Found")
    x, y = found.best_guess

    def told(share: float) -> float:
        return 1 - share if missed else share

    def counted(share: float) -> str:
        return frequency(share) if missed else frequencies(share)[0]

    without = "all but as many are missed" if missed else "as many are found"
    return Curve(
        f"{name} curve",
        f"{done}, of 100 times {asked.group}",
        false_alarms_axis(asked),
        f"{name} curve: at {frequency(fpr)} false alarms the adversary {does} {counted(at)}; "
        f"the best guess {does} {counted(told(y))} with {frequency(x)} false alarms; "
        f"without the release, {without} as there are false alarms.",
        points(found.x, found.y),
        ((0.0, 100 * told(0.0)), (100.0, 100 * told(1.0))),
        (100 * x, 100 * told(y)),
        _best_labels(x, y, does, _of_100(told(y), told(x), missed=missed)),
        (100 * fpr, 100 * at),
        _of_100(at, told(fpr), missed=missed),
    )


def _precision_recall(found: MarkedCurve) -> Curve:
    """Precision against recall with the best guess and the point at the false-positive rate."""
    asked, prior = question(found.experiment), found.prior
    (recall, right), (y, precise) = found.chosen, found.best
    return Curve(
        "Precision–recall curve",
        *_precision_titles(asked),
        f"Precision–recall curve: at a recall of {frequencies(recall)[0]} the precision is {frequencies(right)[0]}; "
        f"the best guess has recall {frequencies(y)[0]} and precision {frequencies(precise)[0]}; "
        f"without the release the precision is {frequency(prior)}.",
        (*points(found.x, found.y), (100.0, 100 * prior)),
        ((0.0, 100 * prior), (100.0, 100 * prior)),
        (100 * y, 100 * precise),
        (("best guess",),),
        (100 * recall, 100 * right),
        _of_100(right, prior),
    )


def _precision_titles(asked: Question) -> tuple[str, str]:
    return f"Precision: truly {asked.group}, of 100 alarms", f"recall: found, of 100 times {asked.group}"


def share_titles(name: str, asked: Question) -> tuple[str, str]:
    """What stands over a curve of shares out of 100, and beneath it."""
    match name:
        case "precision_recall":
            return _precision_titles(asked)
        case "success":
            return "Best guess right, of 100 times", f"prior: {asked.group}, of 100"
        case "posterior":
            return f"Belief in {asked.group} after the release, in percent", "belief before, in percent"
    return f"{'Missed' if name == 'tradeoff' else 'Found'}, of 100 times {asked.group}", false_alarms_axis(asked)


def false_alarms_axis(asked: Question) -> str:
    """What the horizontal axis counts."""
    outside = {"not in it": "not in the data", "in it": "in the data"}.get(asked.outside, asked.outside)
    return f"false alarms, of 100 times {outside}"


def _best_labels(x: float, y: float, does: str, shown: str) -> tuple[tuple[str, ...], ...]:
    """What the best guess does, in the ways its label may be broken."""
    if x == y == 0:
        return (("best guess: flags nobody",),)
    if x == y == 1:
        return (("best guess: flags everyone",),)
    if round(y, 4) == round(x, 4):
        return (("best guess:", "as good as chance"),)
    no = _of_100(x, y, alarms=True)
    return (
        (f"best guess: {does} {shown}", f"with {no} false alarms"),
        ("best guess:", f"{does} {shown} with", f"{no} false alarms"),
    )


def points(x: Any, y: Any) -> tuple[Point, ...]:
    """Shares as points out of 100."""
    return tuple(zip(np.round(100 * x, 4).tolist(), np.round(100 * y, 4).tolist(), strict=True))


def _of_100(p: float, *beside: float, missed: bool = False, alarms: bool = False) -> str:
    """A count out of 100 short enough for a chart; decimals are at home here where they tell numbers apart.

    What is found rounds up, so what is ``missed`` rounds down; false ``alarms`` are what it takes, to the nearest.
    """
    if 0 < p < 0.0005:
        return "< 0.1"
    if 0 < p < 0.05 or any(count(p, 100, given=True) == count(q, 100, given=True) for q in beside if abs(p - q) > 1e-4):
        places = 2 if any(abs(p - q) < 1e-3 for q in beside) else 1
        shown = (
            100 - ceil_count(100 * (1 - p), places) if missed else 100 * p if alarms else ceil_count(100 * p, places)
        )
        return f"{shown:.2f}".rstrip("0").rstrip(".") if places == 2 else f"{shown:.1f}"
    if missed and 0.01 <= p < 1:
        return f"{100 - ceil_count(100 * (1 - p)):.0f}"
    return count(p, 100, given=alarms).replace("more than ", "> ")


def hundredths(title: str | None) -> dict[str, Any]:
    """An axis from 0 to 100."""
    axis = HAIRLINES | {"values": _HUNDREDTHS, "format": ",.0f", "title": title, "titlePadding": 8}
    return {"scale": {"domain": [0, 100], "nice": False}, "axis": axis}


def plot_width(width: int) -> int:
    """Of a square chart's width, what its plot has."""
    return width - _PADDING["left"] - _PADDING["right"]


def square(
    width: int, title: str, subtitle: str, layers: Sequence[Layer], x: dict[str, Any], aria: str
) -> dict[str, Any]:
    """A square chart out of 100 upwards: ``x`` is the horizontal scale with its axis."""
    plot = plot_width(width)
    spec = frame(aria, plot, plot, layers, x, hundredths(None), _PADDING, title, subtitle)
    spec["config"]["title"]["dx"] += 4
    return spec


def _labelled(chart: Curve, plot: int) -> tuple[list[Layer], list[Layer]]:
    """The lines, and the labels where they fit: the value by its dot first, the best guess's, then the baseline's."""
    room, unit = Room(plot, plot), plot / 100

    def pixel(at: Point) -> Point:
        return at[0] * unit, plot - at[1] * unit

    for points in (chart.curve, chart.baseline):
        room.line(np.asarray(points) * (unit, -unit) + (0, plot))  # type: ignore[arg-type]
    for marked in (chart.best, chart.chosen):
        room.dot(pixel(marked))
    lines = [
        line(chart.baseline, "var(--secondary)", 1.75, "without the release"),
        line(chart.curve, "var(--risk)", 3, "with the release"),
    ]
    texts: list[Layer] = []

    def write(words: Sequence[str], at: Point, place: tuple[float, Box] | None, colour: str, weight: int) -> None:
        if place is None:  # so crowded that no place is free: the table and the image's description still say it
            return
        away, box = place
        room.take(box)
        x, y = pixel(at)
        if away > _LEADER and weight == 600:  # the baseline's label names a whole line and needs no pointer
            edge = (min(max(x, box[0]), box[2]), min(max(y, box[1]), box[3]))
            lines.append(line((at, (edge[0] / unit, (plot - edge[1]) / unit)), colour, 1))
            room.line([(x, y), edge])
        left = box[2] >= x
        for i, told in enumerate(words):
            middle = (plot - (box[1] + 10 + _LINE * i)) / unit
            texts.extend(
                text(told, ((box[0] if left else box[2]) / unit, middle), "left" if left else "right", colour, weight)
            )

    def nearest(words: Sequence[str], at: Point, weight: int, side: str = "") -> tuple[float, Box] | None:
        wide = max(width_of(told, weight) for told in words)
        return room.nearest(wide, _LINE * len(words) - 2, pixel(at), side)

    value = (chart.chosen_label,)
    write(value, chart.chosen, nearest(value, chart.chosen, 600), "var(--risk)", 600)
    ways = [(words, nearest(words, chart.best, 600)) for words in chart.best_labels]
    fitting = [(words, place) for words, place in ways if place]
    if fitting:
        words, place = min(fitting, key=lambda way: way[1][0] + 12 * len(way[0]))
        write(words, chart.best, place, "var(--risk)", 600)
    without, (first, last) = ("without the release",), (chart.baseline[0], chart.baseline[-1])
    at = (first[0] + 0.6 * (last[0] - first[0]), first[1] + 0.6 * (last[1] - first[1]))
    beyond = nearest(without, at, 400, "above" if first[1] > last[1] else "below")  # where the curve is not
    write(without, at, beyond or nearest(without, at, 400), "var(--secondary)", 400)
    return lines, texts


#: Line, width and dashes of each setting: told apart without colour as well.
LINES: tuple[tuple[str, float, tuple[int, ...]], ...] = (
    ("var(--risk)", 3, ()),
    ("var(--accuracy)", 3, (9, 4)),
    ("var(--ink)", 1.75, ()),
    ("var(--secondary)", 2.5, (2, 4)),
)


def compared_roc(settings: Sequence[CurvePoints], fpr: float) -> Chart:
    """One ROC chart with a line, labelled by its letter, for each setting."""
    drawn = _lettered([each.label.upper() for each in settings], settings)
    told = [f"{each.label.upper()} finds {frequencies(each.told)[0]}" for each in settings]
    aria = f"ROC curves: at {false_alarms(fpr)}, {', '.join(told)}."
    titles = share_titles("roc", question(settings[0].experiment))
    return Chart("compared_roc", _compared, (drawn, *titles, aria), 534, PHONE)


def _lettered(names: Sequence[str], lines: Sequence[CurvePoints]) -> tuple[tuple[str, tuple[Point, ...], Point], ...]:
    """Each line that is marked, with the name that stands there, out of 100."""
    return tuple(
        (name, points(each.x, each.y), (100 * each.mark[0], 100 * each.mark[1]))
        for name, each in zip(names, lines, strict=True)
        if each.mark is not None
    )


def _compared(
    drawn: Sequence[tuple[str, Sequence[Point], Point]], subtitle: str, x_title: str, aria: str, width: int
) -> dict[str, object]:
    layers = [line(((0.0, 0.0), (100.0, 100.0)), "var(--secondary)", 1.75, "without the release")]
    letters: list[Layer] = []
    for (letter, points, at), (colour, stroke, dash) in zip(drawn, LINES, strict=False):
        layers.append(dashed(points, colour, stroke, dash, letter) if dash else line(points, colour, stroke, letter))
        letters += text(letter, at, "center", colour, 600, size=17, halo=9)
    return square(width, "ROC curves", subtitle, [*layers, *letters], hundredths(x_title), aria)


# Several ROC curves over each other, each named: what a claim means by what is known of the noise.

_WIDE = 534
#: A plumb line leads from where a curve is marked to its name, below chance where no curve ever runs.
_BELOW = 6.0  # from the line of chance down to a name, of 100
_CHANCE = (99.0, 52.0)  # where that line has its own, to the left of here


def cases_roc(names: Sequence[str], cases: Sequence[CurvePoints], fpr: float) -> Chart:
    """One ROC chart with a line for each case, at most four of them; the first is the riskiest."""
    asked = question(cases[0].experiment)
    drawn = _lettered(names, cases)
    found = frequencies(*(each.told for each in cases))
    told = ", ".join(f"{name}: {shown}" for name, shown in zip(names, found, strict=True))
    aria = f"ROC curves: found at {false_alarms(fpr)}, {told}."
    return Chart("cases_roc", _spec, (drawn, *share_titles("roc", asked), aria), _WIDE, PHONE)


def _spec(
    drawn: Sequence[tuple[str, Sequence[Point], Point]], subtitle: str, x_title: str, aria: str, width: int
) -> dict[str, object]:
    layers = [line(((0.0, 0.0), (100.0, 100.0)), "var(--secondary)", 1.25, "without the release")]
    marks: list[Layer] = []
    for (name, curve, at), (colour, stroke, dash) in zip(drawn, LINES, strict=False):
        layers.append(dashed(curve, colour, stroke, dash, name) if dash else line(curve, colour, stroke, name))
        foot = (at[0], at[0] - _BELOW)
        marks += [line((at, foot), colour, 1), dot(at, colour, filled=True)]
        marks += text(name, foot, "left", colour, 600, dx=6)
    marks += text("without the release", _CHANCE, "right", "var(--secondary)")
    return square(width, "ROC curves", subtitle, [*layers, *marks], hundredths(x_title), aria)
