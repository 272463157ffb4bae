"""The curves of one experiment or several over each other, and readings against a parameter.

The points are the readings themselves: shares are counted out of 100 where a curve is of shares on both axes, and stand
as they are elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import checks
from ...calibration.sweep import MOST, named_experiments, sweep
from ...catalogue.parameters import PARAMETERS
from ...catalogue.readings import find_reading
from ...errors import InputError
from ...mechanisms.claims import Claim
from ...numerics.formatting import ceil_digits, floor_digits
from ..explanation import claim_roc, judged
from ..sentences import falls, number, question, small
from . import curves
from .chart import Chart
from .lines import Axis, Series, lines

if TYPE_CHECKING:
    from ...calibration.choose import Choice, Choices
    from ...calibration.sweep import Sweep
    from ...checks import Array
    from ...experiment import Experiment
    from .chart import Chart
    from .layout import Point


#: Names a reader may give a curve, beside its own: the readings that are points of it.
_READINGS = {
    "recall": "roc", "precision": "precision_recall", "delta": "profile", "epsilon": "profile",
    "attack_success": "roc",
}  # fmt: skip
CURVES = ("roc", "tradeoff", "precision_recall", "profile", "success", "posterior", "renyi")
#: The least δ of a profile, and the orders of Rényi divergences.
_LEAST_DELTA = 1e-10
_ORDERS = 1.05, 64.0
_SQUARE = 340
_WITHOUT = "without the release"
Named = Sequence[tuple[str, "Experiment"]]


def experiment_chart(
    e: Experiment, name: str, *, prior: float = 0.5, fpr: float = 0.1, against: Any = (), called: str = ""
) -> Chart:
    """A curve of an experiment, with those of others beside it."""
    asked = _READINGS.get(name, name) if isinstance(name, str) else name
    checks.one_of("name", asked, CURVES)
    if e.many:
        raise InputError("this experiment holds arrays: give single numbers, or chart a sweep of them")
    names, others = named_experiments("against", against)
    if 1 + len(others) > MOST:
        raise InputError(f"against has {len(others)}: give at most {MOST - 1}, or use sweep", parameter="against")
    if not others and asked in ("roc", "tradeoff", "precision_recall"):
        return curves.named(e, asked, prior, fpr)
    both = [(called or e.label or repr(e), e), *zip(names, others, strict=True)]
    if len({label for label, _ in both}) < len(both):
        both = [(f"{label} ({i})", one) for i, (label, one) in enumerate(both, 1)]
    return _DRAWN[asked](both, prior)


# -- shares against shares, out of 100 ----------------------------------------------------------------------------


def _shares(
    name: str, title: str, subtitle: str, x_title: str, named: Named, read: Callable[[Experiment], Any], at: Array,
    without: Sequence[Point],
) -> Chart:  # fmt: skip
    """Curves that all end together, so that their names stand inside."""
    alone = len(named) == 1
    drawn = [
        Series(_WITHOUT, tuple(without), quiet=True),
        *(Series("with the release" if alone else label, _points(100 * at, 100 * read(e))) for label, e in named),
    ]
    middle = at[len(at) // 2]
    told = "; ".join(f"{label} {number(100 * float(read_at))}" for (label, _), read_at in zip(
        named, [np.interp(middle, at, read(e)) for _, e in named], strict=True))  # fmt: skip
    aria = f"{title}, {subtitle}, at {number(100 * float(middle))} {x_title}: {told}."
    return lines(
        name, title, subtitle, drawn, Axis(0, 100, x_title), Axis(0, 100), aria, inside=True, height=_SQUARE, width=440
    )


def _rates() -> Array:
    return np.unique(np.concatenate((np.linspace(0, 1, 101), np.geomspace(1e-6, 1, 40))))


def _roc(named: Named, prior: float) -> Chart:
    first = curves.roc_curve(named[0][1], prior, 0.1)
    return _shares("roc", "ROC curves", first.subtitle, first.x_title, named, lambda e: e.roc(_rates()), _rates(),
                   ((0.0, 0.0), (100.0, 100.0)))  # fmt: skip


def _tradeoff(named: Named, prior: float) -> Chart:
    first = curves.tradeoff_curve(named[0][1], prior, 0.1)
    return _shares("tradeoff", "Trade-off curves", first.subtitle, first.x_title, named,
                   lambda e: e.tradeoff(_rates()), _rates(), ((0.0, 100.0), (100.0, 0.0)))  # fmt: skip


def _precision_recall(named: Named, prior: float) -> Chart:
    first, at = curves.precision_recall_curve(named[0][1], prior, 0.1), np.linspace(0, 1, 101)
    level = 100 * prior
    return _shares("precision_recall", "Precision–recall curves", first.subtitle, first.x_title, named,
                   lambda e: e.precision(recall=at, prior=prior), at, ((0.0, level), (100.0, level)))  # fmt: skip


def _success(named: Named, prior: float) -> Chart:
    at = np.linspace(0, 1, 101)
    asked = question(named[0][1])
    return _shares("success", "Right guesses", "Best guess right, of 100 times", f"prior: {asked.group}, of 100",
                   named, lambda e: e.success(at), at, ((0.0, 100.0), (50.0, 50.0), (100.0, 100.0)))  # fmt: skip


def _posterior(named: Named, prior: float) -> Chart:
    at = np.linspace(0, 1, 101)
    asked = question(named[0][1])
    return _shares("posterior", "Most certain belief", f"Belief in {asked.group} after the release, in percent",
                   "belief before, in percent", named, lambda e: e.posterior(at), at,
                   ((0.0, 0.0), (100.0, 100.0)))  # fmt: skip


# -- other curves -------------------------------------------------------------------------------------------------


def _profile(named: Named, prior: float) -> Chart:
    """δ against ε, each line down to the ε at which δ is the least shown."""
    ends = [float(e.epsilon(_LEAST_DELTA)) for _, e in named]
    finite = [end for end in ends if math.isfinite(end) and end > 0]
    top = max(finite, default=1.0) if len(finite) == len(ends) else max([*(1.25 * end for end in finite), 4.0])
    top = float(ceil_digits(top, 3))
    drawn, told = [], []
    for (label, e), end in zip(named, ends, strict=True):
        at = np.linspace(0, min(end, top), 81)
        delta = np.maximum(e.delta(at), _LEAST_DELTA)
        drawn.append(Series(label, _points(at, delta)))
        told.append(f"{label} needs ε = {number(float(e.epsilon(1e-5)))} at δ = 1e-5")
    least = min((p[1] for s in drawn for p in s.points), default=_LEAST_DELTA)
    y = Axis(10.0 ** math.floor(math.log10(least)), 1.0, log=True)
    aria = f"Privacy profile, δ against ε: {'; '.join(told)}."
    return lines(
        "profile", "Privacy profile", "δ, logarithmic", drawn, Axis(0, top, "ε"), y, aria, inside=True, width=520
    )  # fmt: skip


def _renyi(named: Named, prior: float) -> Chart:
    at = np.geomspace(*_ORDERS, 61)
    worse = [np.maximum(e.renyi(at), e.reverse().renyi(at)) for _, e in named]
    told = "; ".join(f"{label} {number(float(np.interp(2.0, at, v)))}" for (label, _), v in zip(
        named, worse, strict=True))  # fmt: skip
    drawn = [Series(label, _points(at, v)) for (label, _), v in zip(named, worse, strict=True) if np.isfinite(v).any()]
    if not drawn:
        raise InputError("the Rényi divergences are infinite at every order: draw 'profile' instead", parameter="name")
    y = _upwards([p[1] for s in drawn for p in s.points], math.inf, 0.0)
    subtitle = f"D in nats, the larger of both orders{'; logarithmic' if y.log else ''}"
    return lines("renyi", "Rényi divergence", subtitle, drawn,
                 Axis(*_ORDERS, "order (logarithmic scale)", log=True), y,
                 f"Rényi divergence against its order; at order 2: {told}.", inside=True, width=520)  # fmt: skip


_DRAWN: Mapping[str, Callable[[Named, float], Chart]] = {
    "roc": _roc, "tradeoff": _tradeoff, "precision_recall": _precision_recall, "success": _success,
    "posterior": _posterior, "profile": _profile, "renyi": _renyi,
}  # fmt: skip


def _points(x: Any, y: Any) -> tuple[Point, ...]:
    both = zip(np.asarray(x, dtype=float).tolist(), np.asarray(y, dtype=float).tolist(), strict=True)
    return tuple(p for p in both if math.isfinite(p[1]))


# -- against a parameter ------------------------------------------------------------------------------------------


def sweep_chart(found: Sweep, reading: str, log: bool | None = None) -> Chart:
    """A reading against the first parameter that holds numbers, a line for each combination of the others."""
    numbers = [name for name, values in found.varied.items() if all(_is_number(v) for v in values)]
    if not numbers:
        raise InputError("no numbers are varied, so there is nothing to draw along: use frame()")
    across = numbers[0]
    axis = list(found.varied).index(across)
    others = [name for name in found.varied if name != across]
    high = np.moveaxis(found.high[reading], axis, 0).reshape(len(found.varied[across]), -1)
    names = _combinations(found, others)
    if len(names) > 9:
        raise InputError(f"there are {len(names)} lines: give at most 9 values besides {across}, or use frame()")
    at = np.asarray(found.varied[across], dtype=float)
    order = np.argsort(at, kind="stable")
    drawn = [Series(name or reading, _points(at[order], high[order, i])) for i, name in enumerate(names)]
    asked = next(each for each in found.readings if each.name == reading)
    return _against(
        "sweep", across, reading, asked.arguments, drawn, (float(at.min()), float(at.max())), log,
        f"{found.mechanism}: ",
    )  # fmt: skip


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


def _is_number(value: Any) -> bool:
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
    return lines(name, title, subtitle, [*more, *drawn], Axis(low, high, x_title, log=wide), y, aria,
                 inside=bool(more))  # fmt: skip


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


def choice_chart(choice: Choice, points: int = 33) -> Chart:
    """The reading against the parameter around the chosen value, with the limit and what no release reads."""
    if choice.mechanism is None:
        raise InputError("this choice was read back without its mechanism: choose again to draw it")
    at, whole = choice.value, isinstance(choice.value, int)
    tried = np.geomspace(at / 3, at * 3, points) if at > 0 else np.linspace(-1, 1, points)
    tried = np.unique(np.append(np.round(tried) if whole else tried, at))
    kept: list[Point] = []
    for value in tried.tolist():
        if value == at:
            kept.append((at, choice.reading))
            continue
        try:  # the mechanism may end before the axis does
            read = sweep(choice.mechanism, reading={choice.reading_name: dict(choice.arguments)}, given=choice.given,
                         progress=False, **{choice.parameter: [value]})  # fmt: skip
        except InputError:
            continue
        if math.isfinite(high := float(read[choice.reading_name][0])):
            kept.append((value, high))
    floor = float(find_reading(choice.reading_name).floor(**choice.arguments))
    most = floor + _FAR * (
        choice.limit - floor
    )  # far above the limit there is nothing to see, and it would press it flat
    kept = [(value, high) for value, high in kept if high <= most or value == at]
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


def choices_chart(found: Choices) -> Chart:
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
    title = f"Chosen {spoken}"
    return lines("choices", title, f"by the limit on {find_reading(one.reading_name).label}", drawn,
                 Axis(low, high, f"limit on {find_reading(one.reading_name).label}"), y, aria)  # fmt: skip


# The charts a result offers by name, where it needs no extra; an assessment's stand with it.


def of_experiment(e: Experiment, name: str, **asked: Any) -> Chart:
    """A curve, beside those of others; the ROC of a claim alone by what is known of the noise."""
    if isinstance(e, Claim) and name == "roc" and not asked.get("against"):
        return claim_roc(judged(e, asked["prior"], asked["fpr"]), asked["fpr"])
    return experiment_chart(e, name, **asked)


def of_choice(choice: Choice, name: str) -> Chart:
    """The reading around what was chosen."""
    return choice_chart(choice)


def of_choices(found: Choices, name: str) -> Chart:
    """What was chosen by its limit."""
    return choices_chart(found)


def of_sweep(found: Sweep, name: str, *, log: bool | None = None) -> Chart:
    """A reading by its name."""
    return sweep_chart(found, name, log)
