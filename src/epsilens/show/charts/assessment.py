"""Risk and accuracy against ε: two panels that share a logarithmic axis, with the limits and both ε drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..assessment.numbers import percent, planned, risk, share
from ..assessment.queries import subject
from ..assessment.words import error_limit, hardest, leading, second
from ..words import frequency
from .chart import Chart
from .letters import width_of
from .marks import frame, log_axis, room_for
from .panel import Panel
from .scales import written

if TYPE_CHECKING:
    from ...assessment.accuracy import QueryAccuracy
    from ...assessment.assessment import Assessment, Risk

__all__ = ["accuracy_curve", "risk_curve"]

_TOP, _LEFT = 58, 52
_MOST_LABELS = 6
#: A panel without a title of its axis, and with one.
_BOTTOM, _TITLED = 12, 56
_AXIS = "ε (logarithmic scale)"
_UP = {"grid": True, "domain": False, "ticks": False, "labelPadding": 8, "labelOverlap": False, "title": None}


def risk_curve(a: Assessment) -> Chart:
    """Right guesses of 100 against ε, a line for each adversary who guesses."""
    return Chart("risk", _risk, (a,))


def accuracy_curve(a: Assessment) -> Chart | None:
    """The 95% error as a share of the answer against ε, a line for each query; None where every answer is 0."""
    return Chart("accuracy", _accuracy, (a,)) if _rated(a) else None


def _rated(a: Assessment) -> list[int]:
    return [i for i, q in enumerate(a.queries) if q.typical and q.answers]


def _sizes(a: Assessment, width: int) -> tuple[int, int, int]:
    """Room for the axis at the left and for names at the right, the same in both panels, and the plot's own width."""
    rated = _rated(a)
    left = _LEFT
    if rated:
        form = max((width_of(written(t, ",~%")) for t in _decades(*_span(a, rated))), default=0.0)
        left = max(left, math.ceil(form) + 12)
    names = [(r.name, 600 if r is _main(a) else 400) for r in _shown(a)]
    names += [(_label(a, i), 600 if a.queries[i] is hardest(a) else 400) for i in rated[:_MOST_LABELS]]
    right = room_for(names, 150, 170) if width >= 600 else room_for(names, 94, 112)
    return left, right, width - left - right


# -- risk ---------------------------------------------------------------------------------------------------------


def _shown(a: Assessment) -> list[Risk]:
    return [r for r in a.risks if r.key in a.curve.risks]


def _main(a: Assessment) -> Risk:
    shown = _shown(a)
    main = next((r for r in shown if r.key == leading(a).key), None)
    return main or next(r for r in shown if r.key == "membership")


def _told_risk(a: Assessment, main: Risk, limit: float | None) -> str:
    at = second(a)
    aria = f"Risk against ε. {main.name}: {risk('success', main.planned)} of 100 right guesses at the planned ε"
    aria += f" = {planned(a.epsilon)}"
    if at is not None and main.recommended is not None:
        aria += f", {risk('success', main.recommended)} at ε = {planned(at)}"
    aria += f"; {risk('success', main.baseline)} without the release"
    return aria + ("." if limit is None else f"; the limit is {risk('success', limit)}.")


def _risk(a: Assessment, width: int) -> dict[str, Any]:
    shown, main, alone = _shown(a), _main(a), not _rated(a)  # alone, this panel carries the axis
    limit = next((r.limit for r in shown if r.limit is not None), None)
    low = 10 * math.floor(min(100 * r.baseline for r in shown) / 10 + 1e-9)
    left, right, plot = _sizes(a, width)
    height = 300 if width >= 600 else 250
    x = log_axis(a.curve.epsilon[0], a.curve.epsilon[-1], plot, _AXIS if alone else None)
    y = {
        "scale": {"domain": [low, 100], "nice": False},
        "axis": {**_UP, "values": list(range(low, 101, 10)), "format": ",.0f"},
    }
    panel = Panel(a, x, y, (plot, height), "var(--risk)")
    drawn = limit if limit is not None and 100 * limit >= low else None
    if drawn is not None:
        panel.limit(100 * drawn)
    panel.lines([(r.name, [100 * v for v in a.curve.risks[r.key]], r is main) for r in shown], right, len(shown))
    said = risk("success", main.planned, limit=limit, baseline=main.baseline)
    told = [(a.epsilon, 100 * main.planned, said, True)]
    at = second(a)
    if at is not None and main.recommended is not None and at <= a.curve.epsilon[-1]:
        told.append((at, 100 * main.recommended, risk("success", main.recommended), False))
    panel.values(told, rising=True)
    panel.uprights_named()
    if drawn is not None:
        panel.limit_named(100 * drawn, f"limit {risk('success', drawn)}")
    padding = {"left": left, "right": right, "top": _TOP, "bottom": _TITLED if alone else _BOTTOM}
    without = f"Without the release: {frequency(main.baseline)}"
    said = _told_risk(a, main, limit)
    return frame(said, plot, height, panel.layers, x, y, padding, "Risk: right guesses of 100", without)


# -- accuracy -----------------------------------------------------------------------------------------------------


def _span(a: Assessment, rated: Sequence[int]) -> tuple[float, float]:
    """The least and the largest error the panel shows, as shares."""
    values = [v for i in rated for v in a.curve.errors[i]]
    top = max(values)
    least = max(min(values), top / 1e6)
    low = 10.0 ** math.floor(math.log10(least))
    return (low if least < 3 * low else least / 1.2), top  # a whole decade of nothing says nothing


def _decades(low: float, top: float) -> list[float]:
    powers = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(top) + 1e-9) + 1)
    return [float(f"1e{p}") for p in (powers[::2] if len(powers) > 6 else powers)]


def _told_accuracy(a: Assessment, hard: QueryAccuracy, limit: float | None) -> str:
    at = second(a)
    aria = f"Accuracy against ε. 95% error of {subject(a, hard)}: {share(hard.relative(a.epsilon, a.release))}"
    aria += f" at ε = {planned(a.epsilon)}"
    if at is not None:
        aria += f", {share(hard.relative(at, a.release))} at ε = {planned(at)}"
    return aria + ("." if limit is None else f"; the limit is {percent(limit)}.")


def _accuracy(a: Assessment, width: int) -> dict[str, Any]:
    rated, hard, limit, at = _rated(a), hardest(a), error_limit(a), second(a)
    low, top = _span(a, rated)
    left, right, plot = _sizes(a, width)
    height = 240 if width >= 600 else 220
    x = log_axis(a.curve.epsilon[0], a.curve.epsilon[-1], plot, _AXIS)
    y = {
        "scale": {"type": "log", "domain": [low, top], "nice": False},
        "axis": {**_UP, "values": _decades(low, top), "format": ",~%"},
    }
    panel = Panel(a, x, y, (plot, height), "var(--accuracy)")
    drawn = limit if limit is not None and low < limit < top else None
    if drawn is not None:
        panel.limit(drawn)
    panel.lines([(_label(a, i), a.curve.errors[i], a.queries[i] is hard) for i in rated], right, _MOST_LABELS)
    marked = [(a.epsilon, True)] + ([(at, False)] if at is not None and at <= a.curve.epsilon[-1] else [])
    errors = [(e, hard.relative(e, a.release), filled) for e, filled in marked]
    panel.values([(e, error, share(error, limit), filled) for e, error, filled in errors], rising=False)
    if drawn is not None:
        panel.limit_named(drawn, f"limit {percent(drawn)}")
    padding = {"left": left, "right": right, "top": _TOP, "bottom": _TITLED}
    title, said = "Accuracy: 95% error, as a share of the answer", _told_accuracy(a, hard, limit)
    return frame(said, plot, height, panel.layers, x, y, padding, title, "Lower is more accurate")


def _label(a: Assessment, i: int) -> str:
    words = a.release.queries[i].name or subject(a, a.queries[i]).removeprefix("the ").removeprefix("a typical ")
    return words[:1].upper() + words[1:]
