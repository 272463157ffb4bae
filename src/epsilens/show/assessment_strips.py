"""Twenty simulated releases of one query, and the ε of published deployments: dots along a line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..assessment.accuracy import noise_at, simulate
from .assessment.numbers import error, planned, value
from .assessment.queries import group_name
from .assessment.words import second
from .assessment_marks import LINE, Drawing, frame, log_ticks, text, verticals, width_of
from .charts import _line

if TYPE_CHECKING:
    from ..assessment.accuracy import QueryAccuracy
    from ..assessment.assessment import Assessment

__all__ = ["MOST_GROUPS", "STRIP", "precedent_strip", "simulated", "simulated_query"]

#: The width of one strip of simulated releases: two stand side by side on a desk, one fills a phone.
STRIP = 350
MOST_GROUPS = 12
_ROW = 32
_BIN = 11


def simulated_query(a: Assessment) -> QueryAccuracy | None:
    """The query to look at: the first that is split into groups, else the first with an answer."""
    grouped = [q for q in a.queries if len(q.answers) > 1]
    return next(iter(grouped or [q for q in a.queries if q.answers]), None)


def simulated(a: Assessment, q: QueryAccuracy, epsilon: float) -> Drawing:
    """Twenty releases at an ε: the true answer upright, the band that holds 95 of 100, a dot for each release."""
    gaussian = a.release.mechanism.noise == "gaussian"
    noise = noise_at(q.sensitivity, q.share, q.divisor, epsilon, a.release)
    widest = noise_at(q.sensitivity, q.share, q.divisor, min(epsilon, a.epsilon, second(a) or a.epsilon), a.release)
    draws = simulate(q, noise, gaussian)
    answers = q.answers[:MOST_GROUPS]
    names = [group_name(a, q, answer.group) for answer in answers]
    # Both strips share one scale, that of the noisier release.
    reach = [(answer.value, 1.35 * widest.error * q.spread(answer)) for answer in answers]
    low, high = min(v - e for v, e in reach), max(v + e for v, e in reach)
    if q.kind in ("count", "histogram"):
        low = min(low, 0.0)
    told = "; ".join(
        f"{name} {value(answer.value)} {error(noise.error * q.spread(answer))}"
        for name, answer in zip(names, answers, strict=True)
    )

    def spec(width: int) -> dict[str, Any]:
        left = min(max(width_of(name) for name in names) + 14, 150)
        plot, height = int(width - left - 16), _ROW * len(answers)
        layers: list[dict[str, Any]] = []
        for i, (name, answer) in enumerate(zip(names, answers, strict=True)):
            y, reach = i + 0.5, noise.error * q.spread(answer)
            ends = max(answer.value - reach, low), min(answer.value + reach, high)
            layers.append({**_line(((ends[0], y), (ends[1], y)), "var(--band)", 16)})
            dots = [{"x": min(max(float(x), low), high), "y": y} for x in draws[i]]
            mark = {"type": "point", "size": 30, "filled": True, "opacity": 0.55, "color": "var(--accuracy)"}
            layers.append({"data": {"values": dots}, "mark": mark})
            layers.append(_line(((answer.value, y - 0.3), (answer.value, y + 0.3)), "var(--ink)", 2.5))
            layers += text(name, (low, y), "left", "var(--ink)", 400, -left)
        axis = {
            "grid": True,
            "domain": False,
            "ticks": False,
            "tickCount": 4,
            "title": None,
            "labelPadding": 8,
            "labelOverlap": True,
        }
        x = {"scale": {"domain": [low, high], "nice": False}, "axis": axis}
        scale = {"scale": {"domain": [len(answers), 0], "nice": False}, "axis": None}
        padding = {"left": int(left), "right": 16, "top": 4, "bottom": 28}
        return frame(plot, height, layers, x, scale, padding)

    return Drawing(f"Twenty simulated releases at ε = {planned(epsilon)}, true answer and 95% error: {told}.", spec)


def precedent_strip(a: Assessment) -> Drawing:
    """Published deployments as dots on a logarithmic axis, with the planned and the recommended ε."""
    known = a.precedents
    marks = [a.epsilon, *([second(a)] if second(a) else [])]
    low = min(0.007, *(0.7 * float(m) for m in marks if m))
    high = max(known[-1].epsilon * 1.7, *(1.4 * float(m) for m in marks if m))
    first, last, middle = known[0], known[-1], float(np.median([p.epsilon for p in known]))
    aria = (
        f"{len(known)} deployments report an ε from {first.epsilon:g} ({first.curator} {first.year}) "
        f"to {last.epsilon:g} ({last.curator} {last.year}); half report {middle:g} or less. "
        f"Planned here: {planned(a.epsilon)}."
    )

    def spec(width: int) -> dict[str, Any]:
        plot = width - 24
        places = [(math.log(p.epsilon / low) / math.log(high / low) * plot, p.epsilon) for p in known]
        stacked = _stacked([x for x, _ in places])
        levels = max(stacked) + 1
        height = _BIN * levels + 3 * LINE + 12
        dots = [{"x": e, "y": height - 8 - _BIN * level} for (_, e), level in zip(places, stacked, strict=True)]
        mark = {"type": "point", "size": 75, "filled": True, "opacity": 1, "color": "var(--baseline)"}
        layers = verticals(a, (low, high), 0.0, float(height), plot, named=True)
        layers.append({"data": {"values": dots}, "mark": mark})
        # Those at the ends are named where they stand alone.
        for deployment, edge, align in ((first, low, "left"), (last, high, "right")):
            name = f"{deployment.curator} {deployment.year}"
            covered = [x < width_of(name) + 8 if align == "left" else x > plot - width_of(name) - 8 for x, _ in places]
            if all(level == 0 for level, under in zip(stacked, covered, strict=True) if under):
                layers += text(name, (edge, height - 8.0), align, "var(--secondary)", 400, 0, -16)
        axis = {
            "grid": False, "values": log_ticks(low, high, plot), "format": "~g", "ticks": True, "labelOverlap": False,
            "title": "ε as reported (logarithmic scale)", "titlePadding": 8, "titleX": 0,
        }  # fmt: skip
        x = {"scale": {"type": "log", "domain": [low, high], "nice": False}, "axis": axis}
        y = {"scale": {"domain": [height, 0], "nice": False}, "axis": None}
        return frame(plot, height, layers, x, y, {"left": 8, "right": 16, "top": 8, "bottom": 56})

    return Drawing(aria, spec)


def _stacked(places: list[float]) -> list[int]:
    """The level of each dot: the lowest on which it touches no other."""
    last: list[float] = []
    levels = []
    for x in places:
        level = next((k for k, other in enumerate(last) if x - other >= _BIN), len(last))
        if level == len(last):
            last.append(x)
        last[level] = x
        levels.append(level)
    return levels
