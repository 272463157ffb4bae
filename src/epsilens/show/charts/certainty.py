"""How sure the attacker can become against ε: one chart for the page, with a legend in words below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..words import number, rounded_down
from .chart import Chart
from .curves import hundredths
from .marks import dashed, dot, frame, line, log_axis

if TYPE_CHECKING:
    from ...attacks.identification import Identification

__all__ = ["certainty_chart", "legend"]

_PADDING = {"left": 52, "right": 20, "top": 62, "bottom": 56}


def certainty_chart(found: Identification) -> Chart | None:
    """Percent sure against ε: exact in colour where the values are known, the bound beside it; None without a curve."""
    return Chart("certainty", _certainty, (found,), 600) if found.curve else None


def _certainty(found: Identification, width: int) -> dict[str, Any]:
    low, high = found.curve[0][0], found.curve[-1][0]
    bound = [(e, 100 * b) for e, b, _ in found.curve]
    exact = [(e, 100 * x) for e, _, x in found.curve if x is not None]
    aria = (
        f"How sure the attacker can become, against ε: {number(100 * found.certainty)} percent at "
        f"ε = {rounded_down(found.epsilon)}; a blind guess gives {number(100 * found.baseline)} percent."
    )
    plot = width - _PADDING["left"] - _PADDING["right"]
    floor = ((low, 100 * found.baseline), (high, 100 * found.baseline))
    layers = [dashed(floor, "var(--ink)", 1.25, (4, 3), "blind guess")]
    if exact:
        layers.append(line(bound, "var(--secondary)", 1.75, "bound"))
    layers.append(line(exact or bound, "var(--risk)", 3, "exact" if exact else "bound"))
    if low <= found.epsilon <= high:
        layers.append(dot((found.epsilon, 100 * found.certainty), filled=True))
    x = log_axis(low, high, plot, "ε (logarithmic scale)", domain=False, ticks=False, labelPadding=8)
    title = "Percent sure of who is missing"
    return frame(aria, plot, 280, layers, x, hundredths(None), _PADDING, title, f"Among {found.n:,} people")


def legend(found: Identification) -> str:
    """What the lines are."""
    exact = found.curve and found.curve[0][2] is not None
    lines = (
        "Thick line: exact for these values. Thin line: the bound from n and the range."
        if exact
        else "Line: the bound from n and the range."
    )
    return f"{lines} Dashed: a blind guess. Dot: ε = {rounded_down(found.epsilon)}. All at the most telling answer."
