"""An audit as a chart: the claimed δ at each ε, and what the runs show it to be at least."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .chart import Chart
from .marks import End, dot, ends, frame, line, linear_axis, room_for

if TYPE_CHECKING:
    from ...auditing.result import Audit


_LEFT = 52


def band_chart(found: Audit) -> Chart | None:
    """δ, out of 100, against ε: claimed from above, found from below; None where δ was not bounded."""
    lines = tuple(zip(found.claim.epsilon.tolist(), found.claim.delta.tolist(), strict=True))
    return Chart("audit", _drawn, (found.band, lines)) if len(found.band) > 1 else None


def _drawn(
    band: Sequence[tuple[float, float, float]], lines: Sequence[tuple[float, float]], width: int
) -> dict[str, Any]:
    claimed = [(eps, 100 * delta) for eps, delta in lines]
    found = [(eps, 100 * low) for eps, _, low in band]
    # a bound holds at every smaller ε too, and nowhere beyond: steps
    steps = [found[0]] + [at for (left, _), (eps, low) in pairwise(found) for at in ((left, low), (eps, low))]
    last = band[-1][0]
    high = min(105.0, 1.1 * max(max(y for _, y in claimed), max(y for _, y in found), 1.0))
    wide = width >= 600
    names = [("claimed, at most", 400), ("found, at least", 600)]
    right = room_for(names, 110 if wide else 94, 150 if wide else 112)
    height, plot = 300 if wide else 250, width - _LEFT - right

    def down(value: float) -> float:
        return (1 - value / high) * height

    layers = [
        line(claimed, "var(--secondary)", 1.75, "claimed, at most"),
        line(steps, "var(--risk)", 3, "found, at least"),
    ]
    above = [(eps, 100 * low) for eps, delta, low in band if low > delta]
    layers += [dot(at, filled=True) for at in above]
    labels: list[End] = [
        ("claimed, at most", down(claimed[-1][1]), "var(--secondary)", 400),
        ("found, at least", down(found[-1][1]), "var(--risk)", 600),
    ]
    layers += ends(labels, (last, high), height, right)
    x = linear_axis(0, last, grid=False, domain=True, ticks=True, labelPadding=2, titlePadding=8, titleX=0)
    x["axis"]["title"] = "ε"
    aria = "δ out of 100 against ε, as claimed and as found at least: " + ", ".join(
        f"at {eps:.3g} {100 * delta:.3g} claimed, {100 * low:.3g} found"
        for eps, delta, low in band[:: len(band) // 7 or 1]
    )
    padding = {"left": _LEFT, "right": right, "top": 58, "bottom": 56}
    subtitle = "A dot is above the claim" if above else ""
    return frame(f"{aria}.", plot, height, layers, x, linear_axis(0, high), padding, "δ, of 100", subtitle)
