"""How often a false record is noticed, by its size: one chart for the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .charts import Point, _dot, _line, _text, square

__all__ = ["PowerChart"]


@dataclass(frozen=True, slots=True)
class PowerChart:
    """Noticed of 100 against the size of the bias: the best test in colour, the two-sided one beside it.

    ``most`` is the end of the horizontal axis in units of the answer, ``alarms`` the false alarms of 100.
    """

    title: str
    subtitle: str
    aria: str
    best: tuple[Point, ...]
    two_sided: tuple[Point, ...]
    alarms: float
    most: float
    chosen: Point | None = None

    def spec(self, width: int) -> dict[str, Any]:
        """The Vega-Lite definition at a width in pixels."""
        floor = {"data": {"values": [{"x": 0, "y": self.alarms}, {"x": self.most, "y": self.alarms}]}}
        rule = {"type": "line", "color": "var(--ink)", "strokeWidth": 1.5, "strokeDash": [4, 3]}
        layers = [{**floor, "mark": rule}, _line(self.two_sided, "var(--secondary)", 1.75)]
        layers.append(_line(self.best, "var(--risk)", 3))
        if self.chosen:
            layers.append(_dot(self.chosen, filled=False))
        layers += self._labels()
        axis = {"grid": False, "tickCount": 5, "title": "Size of the false record"}
        x = {"scale": {"domain": [0, self.most], "nice": False}, "axis": axis}
        return square(width, self.title, self.subtitle, layers, x)

    def _labels(self) -> list[dict[str, Any]]:
        """The best test left of its curve, the two-sided one right of its own, the false alarms at their end."""
        start = self.best[0][1]  # a stretched noise is noticed even at size 0
        left, right = _at(self.best, start + 0.7 * (100 - start)), _at(self.two_sided, start + 0.3 * (100 - start))
        gap = 0.035 * self.most
        out = _text("best test", (max(left[0] - gap, 0.24 * self.most), left[1]), "right", "var(--risk)", 600)
        if right[0] + gap < 0.7 * self.most and right[1] - self.alarms > 8:
            out += _text("two-sided", (right[0] + gap, right[1]), "left", "var(--secondary)", 400)
        above = self.alarms < 90
        at = (self.most, self.alarms + (5.5 if above else -5.5))
        return out + _text("false alarms", at, "right", "var(--ink)", 400)


def _at(points: tuple[Point, ...], height: float) -> Point:
    """The first point of a rising curve at or above a height, or its last."""
    return next((p for p in points if p[1] >= height), points[-1])
