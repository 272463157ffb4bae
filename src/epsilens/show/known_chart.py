"""The curve of paper 004's Figure 4: what the worst adversary gains, against how many records they know."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from . import charts
from .assessment_marks import LINE, Drawing, frame, text, wrapped

__all__ = ["known_curve"]


def known_curve(
    levels: Sequence[float],
    *,
    independent: float,
    title: str,
    group: float | None = None,
    top: float | None = None,
    upper: float | None = None,
) -> Drawing:
    """``levels[k]`` is the worst among all who know k records; ``independent`` what it would be without correlation.

    ``group`` is a bound drawn above, ``upper`` the end of an interval at the worst point, ``top`` how high the chart
    must reach.
    """
    points = [(float(k), float(level)) for k, level in enumerate(levels)]
    worst = max(points, key=lambda p: p[1])
    high = 1.08 * max(top or worst[1], group or 0.0, independent)
    bound = "" if group is None else f"; group privacy {group:.4g}"
    aria = (
        f"{title}, against the number of known records: "
        + ", ".join(f"{k:g} known {v:.4g}" for k, v in _few(points))
        + f"; independent records {independent:.4g}{bound}."
    )

    def spec(width: int) -> dict[str, Any]:
        right, letters = (150, 20) if width >= 600 else (94, 11)
        left, height = 52, 300 if width >= 600 else 250
        plot, last = width - left - right, points[-1][0]
        layers = [charts._line(((0, independent), (last, independent)), "var(--secondary)", 1.75)]
        ends = [("independent records", independent, "var(--secondary)", 400)]
        if group is not None:
            line = charts._line(((0, group), (last, group)), "var(--ink)", 1.5)
            layers.append({**line, "mark": {**line["mark"], "strokeDash": [5, 3]}})
            ends.append(("group privacy", group, "var(--ink)", 600))
        if upper is not None and upper <= high:
            layers.append(charts._line((worst, (worst[0], upper)), "var(--risk)", 1.25))
        layers.append(charts._line(points, "var(--risk)", 3))
        dots = points if len(points) <= 30 else [worst]
        layers += [charts._dot(p, filled=p == worst) for p in dots]
        if abs(points[-1][1] - independent) > 0.12 * high:
            ends.append(("worst adversary", points[-1][1], "var(--risk)", 600))
        for words, value, colour, weight in ends:
            lines = wrapped(words, letters)
            for k, part in enumerate(lines):
                layers += text(part, (last, value), "left", colour, weight, 9, LINE * (k - (len(lines) - 1) / 2))
        near = worst[0] < last / 2
        layers += text(
            f"{worst[1]:.3g}", worst, "left" if near else "right", "var(--risk)", 600, 9 if near else -9, -12
        )
        step = max(1, math.ceil((len(points) - 1) / (12 if width >= 600 else 6)))
        x = {
            "scale": {"domain": [0, last], "nice": False},
            "axis": {"grid": False, "values": list(range(0, len(points), step)), "format": "d", "titlePadding": 8,
                     "title": f"known records, of {len(points) - 1} others", "titleX": 0},
        }  # fmt: skip
        y = {
            "scale": {"domain": [0, high], "nice": False},
            "axis": {"grid": True, "domain": False, "ticks": False, "labelPadding": 8, "title": None, "tickCount": 5},
        }
        padding = {"left": left, "right": right, "top": 58, "bottom": 56}
        subtitle = f"If records were independent: {independent:.3g}"
        return frame(plot, height, layers, x, y, padding, title, subtitle)

    return Drawing(aria, spec)


def _few(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    step = max(1, math.ceil(len(points) / 8))
    return [p for k, p in enumerate(points) if k % step == 0 or k == len(points) - 1]
