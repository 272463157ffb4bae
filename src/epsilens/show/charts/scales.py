"""Where a value stands on an axis, which values an axis names, and how it writes them: as Vega does."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

from .placement import width_of

Scale = Callable[[float], float]
#: Room between the labels of two ticks, in pixels.
_GAP = 9


def scale(given: Mapping[str, Any], start: float, end: float) -> Scale:
    """From values to pixels, for a linear or logarithmic Vega-Lite scale.

    >>> scale({"domain": [0, 100]}, 0, 300)(50), round(scale({"type": "log", "domain": [0.1, 10]}, 0, 300)(1), 6)
    (150.0, 150.0)
    """
    low, high = given["domain"]
    if given.get("type") == "log":
        first = math.log(low)
        each = (end - start) / (math.log(high) - first)
        return lambda value: start + (math.log(value) - first) * each
    step = (end - start) / (high - low)
    return lambda value: start + (value - low) * step


def steps(low: float, high: float, count: int) -> tuple[list[float], str]:
    """About ``count`` round values between two ends, and the format that tells them apart: d3's ticks.

    >>> steps(0, 2.8, 5)
    ([0.0, 0.5, 1.0, 1.5, 2.0, 2.5], ',.1f')
    >>> steps(-1100, 1300, 4)
    ([-1000.0, -500.0, 0.0, 500.0, 1000.0], ',.0f')
    """
    rough = (high - low) / max(count, 1)
    power = math.floor(math.log10(rough))
    share = rough / 10.0**power
    times = 10 if share >= math.sqrt(50) else 5 if share >= math.sqrt(10) else 2 if share >= math.sqrt(2) else 1
    step = Decimal(times).scaleb(power)
    first, last = math.ceil(low / float(step) - 1e-9), math.floor(high / float(step) + 1e-9)
    places = max(-math.floor(math.log10(float(step)) + 1e-9), 0)
    return [float(step * i) for i in range(first, last + 1)], f",.{places}f"


def log_ticks(low: float, high: float, width: float) -> list[float]:
    """1, 2 and 5 times powers of ten where their labels stand clear of each other, else the powers that do.

    >>> log_ticks(0.05, 10, 204), log_ticks(0.05, 10, 120)
    ([0.1, 0.3, 1.0, 3.0, 10.0], [0.1, 1.0, 10.0])
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    place = scale({"type": "log", "domain": [low, high]}, 0, width)
    chosen: list[float] = []
    for times, every in (((1, 2, 5), 1), ((1, 3), 1), *(((1,), n) for n in range(1, len(powers) + 1))):
        first = -(-powers[0] // every) * every  # whole multiples, so that 1 stays among them
        named = [float(f"{t}e{p}") for p in range(first, powers[-1] + 1, every) for t in times]
        chosen = [t for t in named if low * 0.999 <= t <= high * 1.001]
        if clear([(place(t), written(t, "~g")) for t in chosen]):
            break
    return chosen


def clear(labels: Sequence[tuple[float, str]]) -> bool:
    """Whether labels centred at these places stand apart."""
    ends = [(at - width_of(words) / 2, at + width_of(words) / 2) for at, words in labels]
    return all(a[1] + _GAP <= b[0] for a, b in pairwise(ends))


def written(value: float, form: str) -> str:
    """A value in one of the formats our axes use (d3's names for them).

    >>> [written(v, f) for v, f in ((0.05, "~g"), (20.0, "~g"), (10, ",~%"), (0.001, ",~%"), (-1000, ",.0f"))]
    ['0.05', '20', '1,000%', '0.1%', '−1,000']
    """
    if form == "~g":
        text = _plain(value, 6) if 1e-6 <= abs(value) < 1e6 or value == 0 else f"{value:.6g}".replace("e-0", "e-")
    elif form == ",~%":
        text = f"{round(100 * value, 6):,.6f}".rstrip("0").rstrip(".") + "%"
    elif form.startswith(",.") and form.endswith("f"):
        text = f"{value:{form}}"
    else:
        raise ValueError(f"no axis of ours writes its values as {form!r}")
    return f"−{text[1:]}" if text.startswith("-") else text  # an exponent keeps its hyphen


def _plain(value: float, digits: int) -> str:
    text = f"{Decimal(f'{value:.{digits}g}'):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
