"""An account over time: how often an attacker guesses right after each release, beside what the limits promise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .chart import Chart
from .marks import End, dashed, dot, ends, frame, line, linear_axis, room_for
from .placement import Point
from .scales import steps

if TYPE_CHECKING:
    from ...ledger.account import Account


_LEFT = 52
#: How many releases are read one by one; of more, so many of them.
_MOST = 24


def over_time(account: Account) -> Chart | None:
    """Guesses right of 100 against how many releases there were; None where there was none."""
    count = len(account.counted)
    if not count:
        return None
    some = sorted({round(1 + k * (count - 1) / max(min(count, _MOST) - 1, 1)) for k in range(min(count, _MOST))})
    points = ((0.0, 50.0), *((float(k), 100 * account.so_far(count=k)) for k in some))
    promised = account.promised()
    dates = tuple(one.at[:10] for one in account.counted)
    return Chart("ledger", _drawn, (points, None if promised is None else 100 * promised, dates))


def _drawn(points: Sequence[Point], promised: float | None, dates: Sequence[str], width: int) -> dict[str, Any]:
    last = points[-1]
    high = _above(max(last[1], promised or 0.0))
    wide = width >= 600
    names = [("if noise was fixed in advance", 600), ("at most, whatever was chosen", 600), ("a coin", 400)]
    right = room_for(names, 130 if wide else 94, 170 if wide else 124)
    height, plot = 280 if wide else 240, width - _LEFT - right

    def down(value: float) -> float:
        return (1 - (value - 50) / (high - 50)) * height

    end = max(last[0], 1.0)
    layers = [line(((0, 50), (end, 50)), "var(--secondary)", 1.75, "a coin")]
    labels: list[End] = [("a coin", down(50), "var(--secondary)", 400)]
    if promised is not None:
        layers.append(dashed(((0, promised), (end, promised)), "var(--ink)", 1.5, (5, 3), "limit"))
        labels.append(("at most, whatever was chosen", down(promised), "var(--ink)", 600))
    layers.append(line(points, "var(--risk)", 3, "if noise was fixed in advance"))
    layers += [dot(p, filled=p == last) for p in (points[1:] if len(points) <= _MOST // 2 else [last])]
    labels.append(("if noise was fixed in advance", down(last[1]), "var(--risk)", 600))
    layers += ends(labels, (end, high), height, right)
    step = max(1, math.ceil(end / (10 if wide else 5)))
    x = linear_axis(0, end, grid=False, domain=True, ticks=True, labelPadding=2, titlePadding=8, titleX=0)
    when = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    x["axis"] |= {"values": list(range(0, int(end) + 1, step)), "format": ",.0f", "title": f"releases, {when}"}
    values, form = steps(50, high, 5)
    y = linear_axis(50, high)
    y["axis"] |= {"values": values, "format": form}
    limit = "" if promised is None else f"; at most {promised:.4g} whatever was chosen"
    aria = (
        "Right guesses of 100 after each release, had all noise been fixed in advance: "
        + ", ".join(f"{k:.0f} released {v:.4g}" for k, v in points)
        + f"{limit}; a coin 50."
    )
    padding = {"left": _LEFT, "right": right, "top": 58, "bottom": 56}
    return frame(aria, plot, height, layers, x, y, padding, "Right guesses of 100", "A coin gets 50")


def _above(value: float) -> float:
    """A round number above what is shown, which does not touch the frame."""
    for top in (50.1, 50.2, 50.5, 51, 52, 55, 60, 70, 80, 90):
        if value <= 50 + (top - 50) * 0.94:
            return float(top)
    return 100.0
