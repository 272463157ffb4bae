"""Twenty simulated releases of one query, and the ε of published deployments: dots along a line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...assessment.accuracy import noise_at, simulate
from ...data.queries import Noise
from ..assessment.numbers import error, planned, value
from ..assessment.queries import group_name
from ..assessment.words import second
from .chart import Chart
from .letters import shortened, width_of
from .marks import Layer, dots, frame, line, linear_axis, log_axis, text
from .panel import stand, upright_names, uprights
from .placement import LINE, Room
from .scales import clear, scale, written

if TYPE_CHECKING:
    from ...assessment.accuracy import QueryAccuracy
    from ...assessment.assessment import Assessment

__all__ = ["MOST_GROUPS", "STRIP", "precedent_strip", "simulated", "simulated_query"]

#: The width of one strip of simulated releases: two stand side by side on a desk, one fills a phone.
STRIP = 350
MOST_GROUPS = 12
_ROW = 32
_BIN = 11
_NAMES = 136  # the most room names take


def simulated_query(a: Assessment) -> QueryAccuracy | None:
    """The query to look at: the first that is split into groups, else the first with an answer."""
    grouped = [q for q in a.queries if len(q.answers) > 1]
    return next(iter(grouped or [q for q in a.queries if q.answers]), None)


def simulated(a: Assessment, q: QueryAccuracy, epsilon: float) -> Chart:
    """Twenty releases at an ε: the true answer upright, the band that holds 95 of 100, a dot for each release."""
    return Chart("simulated", _simulated, (a, q, epsilon), STRIP, STRIP)


def _simulated(a: Assessment, q: QueryAccuracy, epsilon: float, width: int) -> dict[str, Any]:
    gaussian = a.release.mechanism.noise is Noise.GAUSSIAN
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
    names = [shortened(name, _NAMES) for name in names]
    left = math.ceil(max(width_of(name) for name in names)) + 14
    plot, height = width - left - 16, _ROW * len(answers)
    layers: list[Layer] = []
    for i, (name, answer) in enumerate(zip(names, answers, strict=True)):
        y, around = i + 0.5, noise.error * q.spread(answer)
        ends = max(answer.value - around, low), min(answer.value + around, high)
        layers.append(line(((ends[0], y), (ends[1], y)), "var(--band)", 16, f"{name}: 95 of 100"))
        places = [(min(max(float(x), low), high), y) for x in draws[i]]
        layers.append(dots(places, "var(--accuracy)", 30, 0.55, f"{name}: releases"))
        layers.append(line(((answer.value, y - 0.3), (answer.value, y + 0.3)), "var(--ink)", 2.5))
        layers += text(name, (low, y), "left", "var(--ink)", 400, -left)
    x = linear_axis(low, high, 4)
    for count in (3, 2, 1):
        place = scale(x["scale"], 0, plot)
        if clear([(place(v), written(v, x["axis"]["format"])) for v in x["axis"]["values"]]):
            break
        x = linear_axis(low, high, count)
    up = {"scale": {"domain": [len(answers), 0], "nice": False}, "axis": None}
    padding = {"left": left, "right": 16, "top": 4, "bottom": 28}
    aria = f"Twenty simulated releases at ε = {planned(epsilon)}, true answer and 95% error: {told}."
    return frame(aria, plot, height, layers, x, up, padding)


def precedent_strip(a: Assessment) -> Chart:
    """Published deployments as dots on a logarithmic axis, with the planned and the recommended ε."""
    return Chart("precedents", _precedents, (a,))


def _precedents(a: Assessment, width: int) -> dict[str, Any]:
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
    plot = width - 24
    x = log_axis(low, high, plot, "ε as reported (logarithmic scale)")
    place = scale(x["scale"], 0, plot)
    places = [place(p.epsilon) for p in known]
    stacked = _stacked(places)
    height = _BIN * (max(stacked) + 1) + 3 * LINE + 12
    heights = [height - 8.0 - _BIN * level for level in stacked]
    room = Room(plot, height)
    for at, up in zip(places, heights, strict=True):
        room.dot((at, up))
    layers = uprights(a, high, 0.0, float(height))
    known_at = [(p.epsilon, up) for p, up in zip(known, heights, strict=True)]
    layers.append(dots(known_at, "var(--baseline)", 75, 1, "deployments"))
    stand(a, x, room)
    layers += upright_names(a, x, 0.0, room)
    # Those at the ends are named where they stand alone.
    for deployment, edge, align in ((first, low, "left"), (last, high, "right")):
        name = f"{deployment.curator} {deployment.year}"
        start = 0.0 if align == "left" else plot - width_of(name)
        box = (start, height - 33.0, start + width_of(name), height - 15.0)
        if room.cost(box) == 0:
            room.take(box)
            layers += text(name, (edge, height - 8.0), align, "var(--secondary)", 400, 0, -16)
    y = {"scale": {"domain": [height, 0], "nice": False}, "axis": None}
    return frame(aria, plot, height, layers, x, y, {"left": 8, "right": 16, "top": 8, "bottom": 56})


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
