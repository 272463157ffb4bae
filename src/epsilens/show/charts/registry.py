"""The curves of one experiment or several over each other, and readings against a parameter.

The points are the readings themselves: shares are counted out of 100 where a curve is of shares on both axes, and stand
as they are elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...catalogue.parameters import PARAMETERS
from ...catalogue.readings import find_reading
from ...errors import InputError
from ...numerics.formatting import ceil_digits, floor_digits
from ...overview import LEAST_DELTA, ORDERS, Curves
from ..explanation import case_name
from ..sentences import falls, number, question, small
from . import curves
from .chart import Chart
from .lines import Axis, Series, lines

if TYPE_CHECKING:
    from ...calibration.choose import Choice, Choices
    from ...calibration.sweep import Sweep
    from .layout import Point


_SQUARE = 340
_WITHOUT = "without the release"
_DIAGONAL = ((0.0, 0.0), (100.0, 100.0))
_TITLES = {"roc": "ROC curves", "tradeoff": "Trade-off curves", "precision_recall": "Precision–recall curves"}
_TITLES |= {"success": "Right guesses", "posterior": "Most certain belief"}


def of_curves(found: Curves) -> Chart:
    """A curve of an experiment, those of others beside it, or those of a claim by what the noise may be."""
    if found.cases:
        return curves.cases_roc([case_name(case) for case in found.cases], found.lines, found.fpr)
    if found.marked is not None:
        return curves.marked(found.marked)
    return {"profile": _profile, "renyi": _renyi}.get(found.name, _shares)(found)


def _shares(found: Curves) -> Chart:
    """Curves of shares against shares, out of 100, that all end together, so that their names stand inside."""
    title, asked = _TITLES[found.name], question(found.lines[0].experiment)
    subtitle, x_title = curves.share_titles(found.name, asked)
    level = 100 * found.prior
    without = {
        "tradeoff": ((0.0, 100.0), (100.0, 0.0)),
        "precision_recall": ((0.0, level), (100.0, level)),
        "success": ((0.0, 100.0), (50.0, 50.0), (100.0, 100.0)),
    }.get(found.name, _DIAGONAL)
    alone, at = len(found.lines) == 1, found.lines[0].x
    drawn = [
        Series(_WITHOUT, without, quiet=True),
        *(Series("with the release" if alone else p.label, _points(100 * p.x, 100 * p.y)) for p in found.lines),
    ]
    middle = at[len(at) // 2]
    told = "; ".join(f"{p.label} {number(100 * float(np.interp(middle, p.x, p.y)))}" for p in found.lines)
    aria = f"{title}, {subtitle}, at {number(100 * float(middle))} {x_title}: {told}."
    x, size = Axis(0, 100, x_title), {"height": _SQUARE, "width": 440}
    return lines(found.name, title, subtitle, drawn, x, Axis(0, 100), aria, inside=True, **size)


def _profile(found: Curves) -> Chart:
    """δ against ε."""
    drawn = [Series(p.label, _points(p.x, p.y)) for p in found.lines]
    told = "; ".join(f"{p.label} needs ε = {number(p.told)} at δ = 1e-5" for p in found.lines)
    least = min((p[1] for s in drawn for p in s.points), default=LEAST_DELTA)
    y = Axis(10.0 ** math.floor(math.log10(least)), 1.0, log=True)
    x, aria = Axis(0, found.top, "ε"), f"Privacy profile, δ against ε: {told}."
    return lines("profile", "Privacy profile", "δ, logarithmic", drawn, x, y, aria, inside=True, width=520)


def _renyi(found: Curves) -> Chart:
    told = "; ".join(f"{p.label} {number(float(np.interp(2.0, p.x, p.y)))}" for p in found.lines)
    drawn = [Series(p.label, _points(p.x, p.y)) for p in found.lines if np.isfinite(p.y).any()]
    if not drawn:
        raise InputError("the Rényi divergences are infinite at every order: draw 'profile' instead", parameter="name")
    y = _upwards([p[1] for s in drawn for p in s.points], math.inf, 0.0)
    subtitle = f"D in nats, the larger of both orders{'; logarithmic' if y.log else ''}"
    x, aria = Axis(*ORDERS, "order (logarithmic scale)", log=True), "Rényi divergence against its order; at order 2"
    return lines("renyi", "Rényi divergence", subtitle, drawn, x, y, f"{aria}: {told}.", inside=True, width=520)


def _points(x: object, y: object) -> tuple[Point, ...]:
    both = zip(np.asarray(x, dtype=float).tolist(), np.asarray(y, dtype=float).tolist(), strict=True)
    return tuple(p for p in both if math.isfinite(p[1]))


def of_sweep(found: Sweep, reading: str, *, log: bool | None = None) -> Chart:
    """A reading against the first parameter that holds numbers, a line for each combination of the others."""
    numbers = [name for name, values in found.varied.items() if all(_is_number(v) for v in values)]
    if not numbers:
        raise InputError("no numbers are varied, so there is nothing to draw along: use frame()")
    across = numbers[0]
    axis = list(found.varied).index(across)
    others = [name for name in found.varied if name != across]
    high = np.moveaxis(found.values[reading], axis, 0).reshape(len(found.varied[across]), -1)
    names = _combinations(found, others)
    if len(names) > 9:
        raise InputError(f"there are {len(names)} lines: give at most 9 values besides {across}, or use frame()")
    at = np.asarray(found.varied[across], dtype=float)
    order = np.argsort(at, kind="stable")
    drawn = [Series(name or reading, _points(at[order], high[order, i])) for i, name in enumerate(names)]
    asked = next(each for each in found.readings if each.name == reading)
    span = (float(at.min()), float(at.max()))
    return _against("sweep", across, reading, asked.arguments, drawn, span, log, f"{found.mechanism}: ")


def _combinations(found: Sweep, others: Sequence[str]) -> list[str]:
    names = [""]
    for other in others:
        names = [
            f"{before}{', ' if before else ''}{other} {small(value)}"
            if _is_number(value)
            else f"{before} {value}".strip()
            for before in names
            for value in found.varied[other]
        ]
    return names


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _against(
    name: str, parameter: str, reading: str, arguments: Mapping[str, float], drawn: list[Series],
    span: tuple[float, float], log: bool | None, of: str, more: Sequence[Series] = (), said: str = "",
) -> Chart:  # fmt: skip
    """A chart of a reading against a parameter."""
    low, high = span
    wide = _geometric(drawn[0]) if log is None else log
    if wide and low <= 0:
        raise InputError(f"log is True, and {parameter} reaches {low:g}: a logarithmic axis has no such place")
    if not high > low:
        low, high = (low / 2, high * 2) if low > 0 else (low - 1, high + 1)
    spoken = _spoken(parameter)
    values = [p[1] for s in (*drawn, *more) for p in s.points]
    if not values:
        raise InputError(f"{reading} is infinite at every value: there is nothing to draw, so read another, or give δ")
    y = _upwards(values, find_reading(reading).ceiling, float(find_reading(reading).floor(**arguments)))
    told = ", ".join(f"{_spoken(key)} = {small(value)}" for key, value in arguments.items())
    title = f"{of}{find_reading(reading).label}{f' at {told}' if told else ''}"
    title = title[:1].upper() + title[1:] if title[:1].isascii() and not of else title
    first, last = drawn[0].points[0], drawn[0].points[-1]
    aria = said or (
        f"{title} against {spoken}: {number(first[1])} at {number(first[0])}, {number(last[1])} at {number(last[0])}."
    )
    x_title = f"{spoken} (logarithmic scale)" if wide else spoken
    subtitle = "Upper ends; logarithmic scale" if y.log else "Upper ends"
    return lines(name, title, subtitle, [*more, *drawn], Axis(low, high, x_title, log=wide), y, aria, inside=bool(more))


def _spoken(name: str) -> str:
    known = PARAMETERS.get(name)
    return known.symbol if known and known.symbol else name


def _geometric(series: Series) -> bool:
    """Whether values span a factor of 20, or less in equal ratios: then they belong on a logarithmic axis."""
    at = np.asarray([p[0] for p in series.points])
    if not at.size or at.min() <= 0:
        return False
    ratio = at.max() / at.min()
    return bool(
        ratio > 20 or (ratio > 2 and at.size > 3 and np.allclose(np.diff(np.log(at)), np.log(ratio) / (at.size - 1)))
    )


def _upwards(values: Sequence[float], ceiling: float, floor: float) -> Axis:
    low, high = min(values), max(values)
    if low > 0 and high / low > 100 and floor == 0:
        return Axis(10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high)), log=True)
    low = min(low, floor)
    room = 0.06 * (high - low or 1.0)
    return Axis(low if low == 0 else low - room / 4, min(high + room, ceiling) if high < ceiling else high)


#: A choice is drawn up to so many times what its limit allows.
_FAR = 4


def of_choice(choice: Choice, name: str, *, points: Sequence[Point]) -> Chart:
    """The reading against the parameter around the chosen value, with the limit and what no release reads."""
    at = choice.value
    floor = float(find_reading(choice.reading_name).floor(**choice.arguments))
    most = floor + _FAR * (
        choice.limit - floor
    )  # far above the limit there is nothing to see, and it would press it flat
    kept = [(value, high) for value, high in points if high <= most or value == at]
    span = (kept[0][0], kept[-1][0])
    more = [Series(f"limit {small(choice.limit)}", ((span[0], choice.limit), (span[1], choice.limit)), limit=True)]
    if 0 < floor < choice.limit:  # at 0 it is the axis
        more.append(Series(_WITHOUT, ((span[0], floor), (span[1], floor)), quiet=True))
    drawn = [
        Series(choice.reading_name, tuple(kept)),
        Series(
            f"chosen {ceil_digits(at) if falls(choice.parameter) else floor_digits(at)}",
            ((at, choice.reading),),
            dotted=True,
        ),
    ]
    said = (
        f"{choice.reading_name} against {choice.parameter}: {number(choice.reading)} at the chosen "
        f"{choice.parameter} = {number(at)}; the limit is {number(choice.limit)}, without the release {number(floor)}."
    )
    made = _against(
        "choice", choice.parameter, choice.reading_name, choice.arguments, drawn, span, None, "", more, said
    )
    return replace(made, desk=560)


def of_choices(found: Choices, name: str) -> Chart:
    """The chosen value against the limit."""
    one = found.all[0]
    points = sorted(zip(found.limit.ravel().tolist(), found.value.ravel().tolist(), strict=True))
    same = len({tuple(sorted(each.arguments.items())) for each in found.all}) == 1
    drawn = [Series(found.parameter, tuple(points), dotted=not same)]
    low, high = points[0][0], points[-1][0]
    if not high > low:
        low, high = low * 0.9 if low > 0 else low - 1, high * 1.1 if high > 0 else high + 1
    values = [p[1] for p in points]
    spoken = _spoken(found.parameter)
    y = _upwards(values, math.inf, 0.0)
    aria = f"Chosen {spoken} against the limit on {one.reading_name}: {number(values[0])} at {number(points[0][0])}, "
    aria += f"{number(values[-1])} at {number(points[-1][0])}."
    limit = f"limit on {find_reading(one.reading_name).label}"
    return lines("choices", f"Chosen {spoken}", f"by the {limit}", drawn, Axis(low, high, limit), y, aria)
