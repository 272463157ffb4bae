"""The curve of paper 004's Figure 4: what the worst adversary gains, against how many records they know."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .chart import Chart
from .marks import End, dashed, dot, ends, frame, line, linear_axis, room_for, text
from .placement import Point

__all__ = ["known_curve"]

_LEFT = 52


@dataclass(frozen=True, slots=True)
class _Known:
    points: tuple[Point, ...]
    independent: float
    title: str
    group: float | None
    top: float | None
    upper: float | None


def known_curve(
    levels: Sequence[float],
    *,
    independent: float,
    title: str,
    group: float | None = None,
    top: float | None = None,
    upper: float | None = None,
) -> Chart:
    """``levels[k]`` is the worst among all who know k records; ``independent`` what it would be without correlation.

    ``group`` is a bound drawn above, ``upper`` the end of an interval at the worst point, ``top`` how high the chart
    must reach.
    """
    points = tuple((float(k), float(level)) for k, level in enumerate(levels))
    return Chart("known", _known, (_Known(points, independent, title, group, top, upper),))


def _known(given: _Known, width: int) -> dict[str, Any]:
    points, independent, group, upper = given.points, given.independent, given.group, given.upper
    worst, last = max(points, key=lambda p: p[1]), points[-1][0]
    high = 1.08 * max(given.top or worst[1], group or 0.0, independent)
    wide = width >= 600
    names = [("independent records", 400), ("worst adversary", 600), ("group privacy", 600)]
    right = room_for(names, 150 if wide else 94, 150 if wide else 112)
    height, plot = 300 if wide else 250, width - _LEFT - right

    def down(value: float) -> float:
        return (1 - value / high) * height

    layers = [line(((0, independent), (last, independent)), "var(--secondary)", 1.75, "independent records")]
    labels: list[End] = [("independent records", down(independent), "var(--secondary)", 400)]
    if group is not None:
        layers.append(dashed(((0, group), (last, group)), "var(--ink)", 1.5, (5, 3), "group privacy"))
        labels.append(("group privacy", down(group), "var(--ink)", 600))
    if upper is not None and upper <= high:
        layers.append(line((worst, (worst[0], upper)), "var(--risk)", 1.25))
    layers.append(line(points, "var(--risk)", 3, "worst adversary"))
    layers += [dot(p, filled=p == worst) for p in (points if len(points) <= 30 else [worst])]
    if abs(points[-1][1] - independent) > 0.12 * high:
        labels.append(("worst adversary", down(points[-1][1]), "var(--risk)", 600))
    layers += ends(labels, (last, high), height, right)
    near = worst[0] < last / 2
    layers += text(f"{worst[1]:.3g}", worst, "left" if near else "right", "var(--risk)", 600, 9 if near else -9, -12)
    step = max(1, math.ceil((len(points) - 1) / (12 if wide else 6)))
    x = linear_axis(0, last, grid=False, domain=True, ticks=True, labelPadding=2, titlePadding=8, titleX=0)
    x["axis"] |= {"values": list(range(0, len(points), step)), "format": ",.0f"}
    x["axis"]["title"] = f"known records, of {len(points) - 1} others"
    bound = "" if group is None else f"; group privacy {group:.4g}"
    aria = (
        f"{given.title}, against the number of known records: "
        + ", ".join(f"{k:g} known {v:.4g}" for k, v in _few(points))
        + f"; independent records {independent:.4g}{bound}."
    )
    padding = {"left": _LEFT, "right": right, "top": 58, "bottom": 56}
    subtitle = f"If records were independent: {independent:.3g}"
    return frame(aria, plot, height, layers, x, linear_axis(0, high), padding, given.title, subtitle)


def _few(points: Sequence[Point]) -> list[Point]:
    step = max(1, math.ceil(len(points) / 8))
    return [p for k, p in enumerate(points) if k % step == 0 or k == len(points) - 1]
