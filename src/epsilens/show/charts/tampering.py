"""How often a false record is noticed, by its size: one chart for the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...build.tampering.hiding import boundary
from ...build.tampering.tampering import pair, power_of
from ..words import number
from .chart import Chart
from .curves import PHONE, SIDE_BY_SIDE, plot_width, square
from .letters import width_of
from .marks import Layer, dashed, dot, line, linear_axis, text
from .placement import LINE, Point, Room, block

__all__ = ["PowerCurve", "power_chart"]


@dataclass(frozen=True, slots=True)
class PowerCurve:
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
        """The Vega-Lite definition at a width in pixels, axis and edges included."""
        floor = ((0.0, self.alarms), (self.most, self.alarms))
        layers = [
            dashed(floor, "var(--ink)", 1.5, (4, 3), "false alarms"),
            line(self.two_sided, "var(--secondary)", 1.75, "two-sided"),
            line(self.best, "var(--risk)", 3, "best test"),
        ]
        if self.chosen:
            layers.append(dot(self.chosen, filled=False))
        x = linear_axis(0, self.most, grid=False, title="Size of the false record", titlePadding=8)
        return square(width, self.title, self.subtitle, [*layers, *self._labels(plot_width(width))], x, self.aria)

    def _labels(self, plot: int) -> list[Layer]:
        """The best test left of its curve, the two-sided one right of its own, the false alarms at their end."""
        room = Room(plot, plot)

        def pixel(at: Point) -> Point:
            return at[0] / self.most * plot, (1 - at[1] / 100) * plot

        for points in (self.best, self.two_sided, ((0.0, self.alarms), (self.most, self.alarms))):
            room.line([pixel(p) for p in points])
        if self.chosen:
            room.dot(pixel(self.chosen))
        at = (self.most, self.alarms)
        out = self._beside(
            room, pixel, "false alarms", [at], "right", (0, -11 if self.alarms < 90 else 11), "var(--ink)", 400
        )
        start = self.best[0][1]  # a stretched noise is noticed even at size 0
        heights = [start + share * (100 - start) for share in (0.7, 0.6, 0.5, 0.8, 0.4, 0.9, 0.97)]
        left = [_at(self.best, h) for h in heights]
        out += self._beside(room, pixel, "best test", left, "right", (-10, 0), "var(--risk)", 600)
        right = [_at(self.two_sided, h) for h in reversed(heights) if h - self.alarms > 8] or [self.two_sided[-1]]
        middle = len(right) // 2
        return out + self._beside(
            room, pixel, "two-sided", [*right[middle:], *right[:middle]], "left", (10, 0), "var(--secondary)", 400
        )

    def _beside(
        self, room: Room, pixel: Callable[[Point], Point], words: str, places: Sequence[Point], side: str,
        moved: Point, colour: str, weight: int,
    ) -> list[Layer]:  # fmt: skip
        """Words beside the first of the places where they cross nothing."""
        ends = [pixel(p) for p in places]
        boxes = [block((x + moved[0], y + moved[1]), width_of(words, weight), LINE, side) for x, y in ends]
        at = places[room.best(boxes)]
        return text(words, at, side, colour, weight, *moved)


def power_chart(
    noise: str, unit: float, theta: float, alpha: float, bias: float | None, reached: float
) -> Chart | None:  # fmt: skip
    """Noticed of 100 by the size of the bias; None where no size is noticed."""
    top = boundary("two-sided", noise, theta, alpha, max(0.99, alpha))
    if not math.isfinite(top):
        return None
    most = max(top, 1e-9 if bias is None else 1.15 * bias / unit, 1e-3)
    places = np.linspace(0.0, most, 121)
    best = [100 * float(pair(noise, np.asarray(m), theta).roc(np.asarray(alpha))) for m in places]
    two = 100 * power_of("two-sided", noise, places, theta, np.asarray(alpha))
    span = tuple(float(m * unit) for m in places)
    half = boundary("optimal", noise, theta, alpha, 0.5) * unit
    aria = (
        f"Noticed of 100 against the size of the false record, from {best[0]:.0f} at size 0 to {best[-1]:.0f} at "
        f"{number(float(most * unit))}; half are noticed at {number(half)}."
    )
    curve = PowerCurve(
        "False records noticed, of 100",
        f"with {100 * alpha:.3g} false alarms of 100",
        aria,
        tuple(zip(span, best, strict=True)),
        tuple(zip(span, (float(v) for v in two), strict=True)),
        100 * alpha,
        float(most * unit),
        None if bias is None else (bias, 100 * reached),
    )
    return Chart("power", PowerCurve.spec, (curve,), SIDE_BY_SIDE, PHONE)


def _at(points: tuple[Point, ...], height: float) -> Point:
    """The first point of a rising curve at or above a height, or its last."""
    return next((p for p in points if p[1] >= height), points[-1])
