"""How sure the attacker can become against ε: one chart for the page, with a legend in words below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .assessment_marks import Drawing, dot, frame, log_ticks
from .charts import Point, _line
from .words import number, rounded_down

if TYPE_CHECKING:
    from ..attacks.identification import Identification

__all__ = ["DESK", "PHONE", "certainty_chart", "legend"]

#: Widths of the drawings, labels and axis included.
DESK, PHONE = 600, 350
_PADDING = {"left": 52, "right": 20, "top": 62, "bottom": 56}
_AXIS = {"grid": True, "domain": False, "ticks": False, "labelPadding": 8, "title": None}


def certainty_chart(found: Identification) -> Drawing | None:
    """Percent sure against ε: exact in colour where the values are known, the bound beside it; None without a curve."""
    if not found.curve:
        return None
    low, high = found.curve[0][0], found.curve[-1][0]
    bound = [(e, 100 * b) for e, b, _ in found.curve]
    exact = [(e, 100 * x) for e, _, x in found.curve if x is not None]
    here = min(max(found.epsilon, low), high)
    aria = (
        f"How sure the attacker can become, against ε: {number(100 * found.certainty)} percent at "
        f"ε = {rounded_down(found.epsilon)}; a blind guess gives {number(100 * found.baseline)} percent."
    )

    def spec(width: int) -> dict[str, Any]:
        plot = width - _PADDING["left"] - _PADDING["right"]
        floor = ((low, 100 * found.baseline), (high, 100 * found.baseline))
        layers = [_dashed(floor)]
        if exact:
            layers.append(_line(bound, "var(--secondary)", 1.75))
        layers.append(_line(exact or bound, "var(--risk)", 3))
        if low <= found.epsilon <= high:
            layers.append(dot((here, 100 * found.certainty), "var(--risk)", filled=True))
        x_axis = {"values": log_ticks(low, high, plot), "format": "~g", "labelOverlap": False}
        x = {
            "scale": {"type": "log", "domain": [low, high], "nice": False},
            "axis": {**_AXIS, **x_axis, "grid": False, "title": "ε (logarithmic scale)", "titlePadding": 8},
        }
        y = {
            "scale": {"domain": [0, 100], "nice": False},
            "axis": {**_AXIS, "values": [0, 25, 50, 75, 100]},
        }
        title = "Percent sure of who is missing"
        return frame(plot, 280, layers, x, y, _PADDING, title, f"Among {found.n:,} people")

    return Drawing(aria, spec)


def _dashed(ends: tuple[Point, Point]) -> dict[str, Any]:
    layer = _line(ends, "var(--ink)", 1.25)
    return {**layer, "mark": {**layer["mark"], "strokeDash": [4, 3]}}


def legend(found: Identification) -> str:
    """What the lines are."""
    exact = found.curve and found.curve[0][2] is not None
    lines = (
        "Thick line: exact for these values. Thin line: the bound from n and the range."
        if exact
        else "Line: the bound from n and the range."
    )
    return f"{lines} Dashed: a blind guess. Dot: ε = {rounded_down(found.epsilon)}. All at the most telling answer."
