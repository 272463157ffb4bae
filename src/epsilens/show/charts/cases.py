"""Several ROC curves over each other, each named: what a claim means by what is known of the noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...numerics.formatting import frequencies
from ..sentences import false_alarms, question
from .chart import Chart
from .curves import LINES, PHONE, alphas, false_alarms_axis, hundredths, points, square
from .marks import Layer, dashed, dot, line, text
from .placement import Point

if TYPE_CHECKING:
    from ...experiment import Experiment


_WIDE = 534
#: Where each curve is marked, as false-positive rates. A plumb line leads from there to its name, below chance where
#: no curve ever runs.
_MARKED = (0.1, 0.22, 0.34, 0.46)
_BELOW = 6.0  # from the line of chance down to a name, of 100
_CHANCE = (99.0, 52.0)  # where that line has its own, to the left of here


def cases_roc(named: Sequence[tuple[str, Experiment]], fpr: float) -> Chart:
    """One ROC chart with a line for each case, at most four of them; the first is the riskiest."""
    asked, alpha = question(named[0][1]), alphas()
    drawn = tuple(
        (name, points(alpha, e.roc(alpha)), (100 * at, 100 * float(e.roc(at))))
        for (name, e), at in zip(named, _MARKED, strict=False)
    )
    found = frequencies(*(float(e.recall(fpr)) for _, e in named))
    told = ", ".join(f"{name}: {shown}" for (name, _), shown in zip(named, found, strict=True))
    aria = f"ROC curves: found at {false_alarms(fpr)}, {told}."
    subtitle = f"Found, of 100 times {asked.group}"
    return Chart("cases_roc", _spec, (drawn, subtitle, false_alarms_axis(asked), aria), _WIDE, PHONE)


def _spec(
    drawn: Sequence[tuple[str, Sequence[Point], Point]], subtitle: str, x_title: str, aria: str, width: int
) -> dict[str, Any]:
    layers = [line(((0.0, 0.0), (100.0, 100.0)), "var(--secondary)", 1.25, "without the release")]
    marks: list[Layer] = []
    for (name, curve, at), (colour, stroke, dash) in zip(drawn, LINES, strict=False):
        layers.append(dashed(curve, colour, stroke, dash, name) if dash else line(curve, colour, stroke, name))
        foot = (at[0], at[0] - _BELOW)
        marks += [line((at, foot), colour, 1), dot(at, colour, filled=True)]
        marks += text(name, foot, "left", colour, 600, dx=6)
    marks += text("without the release", _CHANCE, "right", "var(--secondary)")
    return square(width, "ROC curves", subtitle, [*layers, *marks], hundredths(x_title), aria)
