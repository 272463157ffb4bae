"""Choose: the largest ε (smallest σ, scale, …) that keeps a reading at or under a limit.

The answer is found in closed form where the inverse is known, otherwise by a search that brackets itself; either way it
is read again, and moved to the safe side until the reading satisfies the limit.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import checks
from .calibrating import calibrate
from .errors import InputError, NoSolutionError
from .experiment import Experiment
from .inverses import laplace_shift, normal_shift, two_laplaces_shift
from .laws.laplace import Laplace
from .laws.laplace_sum import LaplaceSumShift
from .laws.loss import Loss
from .laws.normal import Normal
from .readings.catalogue import Reading, find
from .report.words import rounded_down, rounded_up
from .solve import last_safe

__all__ = ["Choice", "choose"]

# The least and the most risky value searched; noise sizes are in units of the sensitivity.
_RANGES: dict[str, tuple[float, float]] = {
    "epsilon": (1e-12, 700.0),
    "psi": (1e-12, 100.0),
    "scale": (1e12, 1 / 700.0),
    "sigma": (1e12, 1 / 100.0),
    "delta": (1e-300, 1 - 1e-9),
    "shift": (1e-12, 1.0),
    "bias": (1e-12, 1e12),
    "rate": (1e-12, 1.0),
    "steps": (1.0, 1e9),
}
_WHOLE = ("steps",)
_NUMBERS = tuple(name for name in _RANGES if name != "shift")  # a shift of whole-number noise is whole
_TRIED = (1.0, 4.0, 1 / 4, 1 / 64, 64.0, 1e-3, 3 / 4, 2.0, 1e-5, 1e3)  # times the sensitivity, where it is a unit
_FEW = 3000.0  # of a whole number under composition: below, the answer is the last there is
_NO_NUMBERS = ("str", "bool", "str | None", "bool | None", str, bool)  # annotations
_IN_SENSITIVITIES = ("scale", "sigma", "shift", "bias")


@dataclass(frozen=True)
class Choice:
    """A parameter that keeps a reading under its limit.

    ``reading`` is what the chosen experiment reads, never above ``limit``; ``note`` says when the limit binds nothing.
    """

    parameter: str
    value: float
    reading: float
    reading_name: str
    arguments: Mapping[str, float]
    limit: float
    experiment: Experiment
    method: str
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record."""
        return {
            "parameter": self.parameter,
            "value": self.value,
            "reading": self.reading_name,
            "arguments": dict(self.arguments),
            "limit": self.limit,
            "reached": self.reading,
            "method": self.method,
            "note": self.note,
        }

    def __str__(self) -> str:
        from .report.explain import chosen

        return chosen(self).to_text()

    def _repr_html_(self) -> str:
        from .report.explain import chosen

        return chosen(self).to_html_fragment()


def choose(
    mechanism: Callable[..., Experiment],
    parameter: str,
    *,
    at_most: float,
    reading: str = "success",
    given: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> Choice:
    """The riskiest value of ``parameter`` for which ``mechanism(**given, parameter=value)`` reads at most ``at_most``.

    The reading's arguments are passed by name, the mechanism's in ``given``.

    >>> import epsilens as el
    >>> choose(el.laplace, "epsilon", at_most=0.55, reading="success").value
    0.21072103131565...
    >>> choose(el.gaussian, "sigma", at_most=0.05, reading="roc", fpr=0.01).value
    1.46736...
    """
    wanted = find(reading)
    args = {k: _argument(k, v) for k, v in wanted.arguments(arguments).items()}
    limit = checks.scalar("at_most", at_most)
    if not isinstance(given, Mapping | None):
        raise InputError(f"given is {given!r}: give the mechanism's other arguments by name, such as {{'rate': 0.01}}")
    fixed = dict(given or {})
    _check_parameter(mechanism, parameter, fixed)

    def build_one(value: float) -> Experiment:
        return _called(mechanism, {**fixed, parameter: value})

    def read(e: Experiment) -> float:
        if wanted.name == "delta" and limit == 0:  # δ may underflow to 0 without being it: ask for pure ε instead
            return max(float(e.epsilon()) - args["epsilon"], 0.0)
        return float(getattr(e, wanted.name)(**args))

    build: Callable[[float], Experiment] = build_one
    floor = float(wanted.floor(**args))
    if limit < floor:
        raise _none(parameter, wanted, limit, floor)
    weak, strong = _range(parameter, fixed)
    value, method = _closed_form(build, parameter, wanted.name, limit, args, weak, strong)
    experiment: Experiment | None
    if value is not None:
        value, experiment = _safe(build, read, value, limit, weak)
    else:
        reach = _reach(build, read, parameter, weak, strong)
        build, weak, strong = reach.build, reach.weak, reach.strong
        if limit >= wanted.ceiling:  # nothing can violate it
            value = strong = _edge(build, reach.start, strong, reach.whole)
            experiment, method = build(value), "composition" if reach.composed else "search"
        elif reach.unbounded and _at_ceiling(wanted, args):
            raise _unmet(build, read, parameter, wanted, limit, reach.start)
        elif reach.composed:
            value, experiment, method = *_composed(read, reach, wanted, parameter, limit, floor), "composition"
        else:
            value, method = _search(read, reach, wanted, parameter, limit), "search"
            value, experiment = _safe(build, read, value, limit, weak)
    if experiment is None:
        raise _unmet(build, read, parameter, wanted, limit, weak)
    note = ""
    if value == strong:
        shown, most = (rounded_down(value, 6), "largest") if strong > weak else (rounded_up(value, 6), "smallest")
        note = f"nothing up to here violates the limit: {shown} is the {most} allowed"
    elif method != "closed form" and _refused(build, _beyond(value, 1.001 if strong > weak else 0.999, strong)):
        note = f"the mechanism itself allows no {parameter} beyond this one; the limit would"
    return Choice(
        parameter,
        value,
        float(getattr(experiment, wanted.name)(**args)),
        wanted.name,
        args,
        limit,
        experiment,
        method,
        note,
    )


@dataclass(frozen=True)
class _Reach:
    """Where to search: how to build, the ends, a value that can be built, and what is known of the parameter."""

    build: Callable[[float], Experiment]
    weak: float
    strong: float
    start: float
    whole: bool
    composed: bool  # read by bracket at the start: few readings, each with a width
    unbounded: bool  # every value tried has losses without bound, and then every other one has


def _reach(
    build: Callable[[float], Experiment],
    read: Callable[[Experiment], float],
    parameter: str,
    weak: float,
    strong: float,
) -> _Reach:
    """Try a few values: which can be built, are whole numbers demanded, and which way does risk grow?"""
    unit = strong / _RANGES[parameter][1] if parameter in _RANGES else 1.0
    low, high = sorted((weak, strong))
    tried = [unit * times for times in _TRIED if low <= unit * times <= high]
    made = _built(build, tried)
    whole = parameter in _WHOLE or (parameter not in _NUMBERS and _demands_whole(build, [v for v, _ in made]))
    if not made:  # a function of one's own may take whole numbers only in Python's sense
        tried = [v for v in tried if v.is_integer()]
        made = _built(lambda value: build(int(value)), tried)
        whole, high = True, min(high, 1e6)
    if not made:
        raise _unbuildable(build, parameter, [unit * t for t in _TRIED if low <= unit * t <= high], low, high)
    if whole:
        as_given = build
        build = lambda value: as_given(int(value))  # noqa: E731
        made = [(v, e) for v, e in made if v.is_integer()]
        low, high = float(math.ceil(low)), float(math.floor(high))
    weak, strong = (low, high) if weak < strong else (high, low)
    start = next((v for v, e in made if isinstance(e.law, Loss)), None)
    composed = start is not None
    if start is None:
        start = next((v for v, e in made if math.isfinite(read(e))), made[0][0])
    if parameter not in _RANGES and _falls(build, read, start, whole):
        weak, strong = strong, weak
    unbounded = all(math.isinf(float(e.law.max_llr())) for _, e in made)
    return _Reach(build, weak, strong, start, whole, composed, unbounded)


def _at_ceiling(reading: Reading, arguments: Mapping[str, float]) -> bool:
    """Whether losses without bound take the reading to its ceiling, however rare they are."""
    if reading.name == "posterior":
        return arguments["prior"] > 0
    return reading.name == "epsilon" and arguments["delta"] == 0


def _built(build: Callable[[float], Experiment], values: list[float]) -> list[tuple[float, Experiment]]:
    """Those values that can be built, with what they build."""
    made = []
    for value in values:
        try:
            made.append((value, build(value)))
        except InputError:
            continue
    return made


def _demands_whole(build: Callable[[float], Experiment], values: list[float]) -> bool:
    """Whether one whole number and the next can be built, but nothing between."""
    for v in values:
        if v.is_integer():
            beside = not (_refused(build, v + 1) and _refused(build, v - 1))
            return beside and _refused(build, v + 0.5) and _refused(build, v - 0.5)
    return False


def _unbuildable(
    build: Callable[[float], Experiment], parameter: str, tried: list[float], low: float, high: float
) -> InputError:
    """A sentence about a wrong ``given`` speaks for itself; one about the parameter would name a value nobody gave."""
    try:
        build(tried[0])
    except InputError as error:
        if not str(error).startswith(f"{parameter} "):
            return error
    return InputError(
        f"{parameter} cannot be chosen here: the mechanism takes none of the values tried from {low:g} to {high:g}, "
        "so check what it takes, or rewrite it in terms of another parameter"
    )


def _falls(
    build: Callable[[float], Experiment], read: Callable[[Experiment], float], start: float, whole: bool
) -> bool:
    """Whether risk falls as the parameter grows."""
    made = _built(build, [math.ceil(start / 2) if whole else start / 2, start, start * 2])
    if len(made) < 2:
        return False
    less, more = made[0][1], made[-1][1]
    sizes = [float(e.kl()) if isinstance(e.law, Loss) else math.inf for e in (less, more)]  # needs no transform
    if not all(map(math.isfinite, sizes)):
        sizes = [read(less), read(more)]
    return sizes[1] < sizes[0]


def _argument(name: str, value: Any) -> float:
    """One argument of a reading, checked before its floor is compared with the limit."""
    number = checks.scalar(name, value)
    if name == "beta":
        checks.positive(name, number)
    elif name in ("epsilon", "order"):
        checks.at_least(name, number, 0.0)
    else:
        checks.probability(name, number)
    return number


def _refused(build: Callable[[float], Experiment], value: float) -> bool:
    try:
        build(value)
    except InputError:
        return True
    return False


def _check_parameter(mechanism: Callable[..., Experiment], parameter: Any, given: Mapping[str, Any]) -> None:
    if not callable(mechanism):
        raise InputError(f"mechanism is {mechanism!r}: give a function that returns an experiment, such as laplace")
    if not isinstance(parameter, str):
        raise InputError(f"parameter is {parameter!r}: give the name of the one to choose, such as 'epsilon'")
    if parameter in given:
        raise InputError(f"{parameter} is both chosen and given: leave it out of given")
    try:
        taken = inspect.signature(mechanism).parameters
    except (TypeError, ValueError):
        return
    title = _title(mechanism)
    named = {n: p for n, p in taken.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    for name, p in taken.items():
        if p.kind is p.POSITIONAL_ONLY and p.default is p.empty:
            raise InputError(f"{title} takes {name!r} by position only: give a function that takes it by name")
    for name in (parameter, *given):
        if name not in named and not any(p.kind is p.VAR_KEYWORD for p in taken.values()):
            raise InputError(f"{title} has no parameter {name!r}: it takes {', '.join(named) or 'none by name'}")
    for name, p in taken.items():
        if p.default is p.empty and name not in (parameter, *given) and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL):
            raise InputError(f"{title} needs {name!r}: give it in given, such as given={{{name!r}: …}}")
    about = named.get(parameter)
    if about is not None and (isinstance(about.default, str | bool) or about.annotation in _NO_NUMBERS):
        numbers = [n for n, p in named.items() if not isinstance(p.default, str | bool)]
        numbers = [n for n in numbers if named[n].annotation not in _NO_NUMBERS]
        instead = f"give one of {', '.join(numbers)}" if numbers else "give another mechanism"
        raise InputError(f"{parameter} is not a number that can be chosen: {instead}")


def _title(mechanism: Callable[..., Experiment]) -> str:
    name = getattr(mechanism, "__name__", "<lambda>")
    return "the mechanism" if name == "<lambda>" else name


def _called(mechanism: Callable[..., Experiment], arguments: Mapping[str, Any]) -> Experiment:
    """What the mechanism returns, if it is one experiment."""
    try:
        made: Any = mechanism(**arguments)
    except TypeError as error:
        said = ", ".join(f"{k}={v!r}" for k, v in arguments.items())
        raise InputError(f"{_title(mechanism)} cannot be called with {said} ({error}): check what it takes") from error
    if not isinstance(made, Experiment):
        raise InputError(f"{_title(mechanism)} returns a {type(made).__name__}: give one that returns an experiment")
    if made._arrays:
        raise InputError(f"{_title(mechanism)} holds arrays here: give single numbers in given")
    return made


def _range(parameter: str, given: Mapping[str, Any]) -> tuple[float, float]:
    weak, strong = _RANGES.get(parameter, (1e-12, 1e12))
    if parameter in _IN_SENSITIVITIES and "sensitivity" in given:
        unit = float(checks.positive("sensitivity", checks.scalar("sensitivity", given["sensitivity"])))
        weak, strong = weak * unit, strong * unit
    return weak, strong


def _unmet(
    build: Callable[[float], Experiment],
    read: Callable[[Experiment], float],
    parameter: str,
    reading: Reading,
    limit: float,
    at: float,
) -> NoSolutionError:
    """Nothing keeps the limit, not even the least risky value ``at``."""
    experiment = build(at)
    floor = read(experiment)
    if floor < reading.ceiling:
        return _none(parameter, reading, limit, floor, at)
    why = "the loss is unbounded" if math.isinf(float(experiment.epsilon())) else f"it reaches {reading.ceiling:g}"
    other = "choose another reading, such as success or roc"
    if reading.name == "epsilon":
        other = "give a delta, or choose another reading, such as success or roc"
    if float(experiment.advantage()) == 1:
        other = "change what else is given"
    return NoSolutionError(
        f"no {parameter} keeps {reading.name} at or under {limit:g}: no value of {parameter} bounds this reading, "
        f"because {why}, so {other}",
        floor=floor,
    )


def _none(parameter: str, reading: Reading, limit: float, floor: float, at: float | None = None) -> NoSolutionError:
    least = "pure noise" if at is None else f"{parameter} = {at:g}"
    reached = f"{floor:.6g}" if float(f"{floor:.6g}") > limit else "slightly more"
    return NoSolutionError(
        f"no {parameter} keeps {reading.name} at or under {limit:g}: even {least} reaches {reached}, "
        "so give a limit above that",
        floor=floor,
    )


def _closed_form(
    build: Callable[[float], Experiment],
    parameter: str,
    reading: str,
    limit: float,
    args: Mapping[str, float],
    weak: float,
    strong: float,
) -> tuple[float | None, str]:
    """Through the shift in noise units, where the law has one and the parameter is proportional (or inverse) to it."""
    if parameter not in ("epsilon", "scale", "psi", "sigma"):
        return None, ""
    unit = 0.25 * (strong / _RANGES[parameter][1])
    try:
        law, doubled = build(unit).law, build(2 * unit).law
    except InputError:
        return None, ""
    if isinstance(law, Laplace) and isinstance(doubled, Laplace):
        here, there, shift = law.m, doubled.m, laplace_shift(reading, limit, args)
    elif isinstance(law, Normal) and isinstance(doubled, Normal):
        here, there, shift = law.mu, doubled.mu, normal_shift(reading, limit, args)
    elif isinstance(law, LaplaceSumShift) and isinstance(doubled, LaplaceSumShift) and law.q == 2:
        here, there, shift = law.d, doubled.d, two_laplaces_shift(reading, limit, args)
    else:
        return None, ""
    if shift is None or np.ndim(here) or float(here) == 0:
        return None, ""
    ratio = float(there) / float(here)
    if not (abs(ratio - 2) < 1e-12 or abs(ratio - 0.5) < 1e-12):
        return None, ""
    grows = ratio > 1
    value = min(unit * (shift / float(here)), strong) if grows else unit * float(here) / max(shift, 1e-300)
    value = value if grows else max(value, strong)
    try:
        build(value)
    except InputError:  # beyond what the mechanism allows: the search stops at its edge
        return None, ""
    return value, "closed form"


def _beyond(value: float, factor: float, end: float) -> float:
    """Further towards an end, but not past it."""
    return min(value * factor, end) if factor > 1 else max(value * factor, end)


def _met(a: float, b: float, whole: bool, ratio: float) -> bool:
    return abs(a - b) <= 1 if whole else max(a / b, b / a) <= ratio


def _middle(a: float, b: float, whole: bool) -> float:
    return float(math.floor((a + b) / 2)) if whole else math.sqrt(a) * math.sqrt(b)


def _edge(build: Callable[[float], Experiment], inside: float, end: float, whole: bool) -> float:
    """The value nearest the end that can be built; ``inside`` can."""
    if not _refused(build, end):
        return end
    while not _met(inside, end, whole, 1 + 1e-12):
        middle = _middle(inside, end, whole)
        inside, end = (inside, middle) if _refused(build, middle) else (middle, end)
    round_one = float(f"{inside:.9g}")
    return inside if _refused(build, round_one) else round_one


def _excess(read: Callable[[Experiment], float], reach: _Reach, limit: float) -> Callable[[float], float]:
    def excess(value: float) -> float:
        try:
            return read(reach.build(value)) - limit
        except InputError:  # outside what the mechanism allows, such as the classical calibration beyond ε = 1
            return math.inf

    return excess


def _bracketed(excess: Callable[[float], float], reach: _Reach) -> tuple[float | None, float | None]:
    """(a value within the limit, one beyond it), from the start outwards; None for what there is not.

    Where nothing is within the limit, the other is the least risky value that was read.
    """

    def toward(end: float, value: float, power: int) -> float:
        factor = 4.0 if reach.composed else 4.0 ** (power + 1)  # far out a composition takes long to read
        far = _beyond(value, factor if end > value else 1 / factor, end)
        return float(math.ceil(far)) if reach.whole else far

    here, power = reach.start, 0
    if excess(here) <= 0:
        while here != reach.strong:
            safe, here = here, toward(reach.strong, here, power)
            if excess(here) > 0:
                return safe, here
            power += 1
        return here, None
    while here != reach.weak:
        unsafe, here = here, toward(reach.weak, here, power)
        over = excess(here)
        if over <= 0:
            return here, unsafe
        if not math.isfinite(over):  # not to be built so far out: look on this side of the edge
            while not _met(unsafe, here, reach.whole, 1.0005):
                middle = _middle(unsafe, here, reach.whole)
                over = excess(middle)
                if over <= 0:
                    return middle, unsafe
                unsafe, here = (middle, here) if math.isfinite(over) else (unsafe, middle)
            return None, unsafe
        power += 1
    return None, here


def _search(
    read: Callable[[Experiment], float], reach: _Reach, reading: Reading, parameter: str, limit: float
) -> float:
    """Bracket the boundary from the middle outwards, then close in on it from the safe side."""
    excess = _excess(read, reach, limit)
    safe, unsafe = _bracketed(excess, reach)
    if safe is None:
        assert unsafe is not None
        raise _unmet(reach.build, read, parameter, reading, limit, unsafe)
    if unsafe is None:
        return safe
    if not reach.whole:
        return last_safe(excess, safe, unsafe)
    while not _met(safe, unsafe, True, 1.0):
        middle = _middle(safe, unsafe, True)
        safe, unsafe = (middle, unsafe) if excess(middle) <= 0 else (safe, middle)
    return safe


def _composed(
    read: Callable[[Experiment], float],
    reach: _Reach,
    reading: Reading,
    parameter: str,
    limit: float,
    floor: float,
) -> tuple[float, Experiment]:
    """By few readings; between closer ends where the usual ones cannot be built or the first guess has no size."""
    build, start, weak, strong = reach.build, reach.start, reach.weak, reach.strong
    if _refused(build, weak) or not math.isfinite(float(build(start).kl())):
        safe, unsafe = _bracketed(_excess(read, reach, limit), reach)
        if safe is None:
            assert unsafe is not None
            raise _unmet(build, read, parameter, reading, limit, unsafe)
        if unsafe is None:
            return safe, build(safe)
        weak, strong = safe, unsafe
        start = safe
    found = calibrate(build, read, limit, floor, start, weak, strong, reach.whole)
    if found is None:
        raise _unmet(build, read, parameter, reading, limit, weak)
    return _last_whole(build, read, limit, *found, strong) if reach.whole else found


def _last_whole(
    build: Callable[[float], Experiment],
    read: Callable[[Experiment], float],
    limit: float,
    value: float,
    experiment: Experiment,
    strong: float,
) -> tuple[float, Experiment]:
    """A few whole numbers further, where these are small enough for one more to matter."""
    step = math.copysign(1.0, strong - value)
    while value != strong and value < _FEW and not _refused(build, value + step):
        further = build(value + step)
        if read(further) > limit:
            break
        value, experiment = value + step, further
    return value, experiment


def _safe(
    build: Callable[[float], Experiment],
    read: Callable[[Experiment], float],
    value: float,
    limit: float,
    weak: float,
) -> tuple[float, Experiment | None]:
    """Step towards less risk, doubling from an ulp, until the reading again satisfies the limit."""
    direction = -1 if weak < value else 1
    step = 2.0**-52
    for _ in range(60):
        if not 0 < value < math.inf:
            return value, None
        experiment = build(value)
        if read(experiment) <= limit:
            return value, experiment
        value *= 1 + direction * step
        step *= 2
        if step > 0.5:
            break
    return value, None
