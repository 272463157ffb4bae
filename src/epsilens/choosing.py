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
    fixed = dict(given or {})
    _check_parameter(mechanism, parameter, fixed)

    def build(value: float) -> Experiment:
        return mechanism(**fixed, **{parameter: value})

    def read(e: Experiment) -> float:
        if wanted.name == "delta" and limit == 0:  # δ may underflow to 0 without being it: ask for pure ε instead
            return max(float(e.epsilon()) - args["epsilon"], 0.0)
        return float(getattr(e, wanted.name)(**args))

    floor = float(wanted.floor(**args))
    if limit < floor:
        raise _none(parameter, wanted, limit, floor)
    weak, strong = _range(parameter, fixed)
    value, method = _closed_form(build, parameter, wanted.name, limit, args, weak, strong)
    composed = _start(build, parameter, weak, strong) if value is None else None
    experiment: Experiment | None
    if composed is not None:
        whole = parameter in _WHOLE
        found = calibrate(build, read, limit, floor, composed, weak, strong, whole)
        if found is None:
            raise _none(parameter, wanted, limit, read(build(weak)), at=weak)
        (value, experiment), method = found, "composition"
    else:
        if value is None:
            value, method = _search(build, read, parameter, wanted, limit, weak, strong)
        value, experiment = _safe(build, read, value, limit, weak)
    if experiment is None:
        raise _none(parameter, wanted, limit, read(build(weak)), at=weak)
    note = ""
    if value == strong:
        most = "largest" if strong > weak else "smallest"
        note = f"nothing up to here violates the limit: {value:g} is the {most} allowed"
    elif method == "search" and _refused(build, value * (1.001 if strong > weak else 0.999)):
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


def _start(build: Callable[[float], Experiment], parameter: str, weak: float, strong: float) -> float | None:
    """A value at which the mechanism is a composition read by bracket; None if it is none."""
    unit = 1.0 if parameter in _WHOLE else strong / _RANGES[parameter][1] if parameter in _RANGES else 1.0
    for value in (unit, 4 * unit, unit / 4, unit / 64, 64 * unit, 1e-3 * unit):
        if min(weak, strong) <= value <= max(weak, strong):
            try:
                if isinstance(build(value).law, Loss):
                    return value
            except InputError:
                continue
    return None


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
    try:
        taken = inspect.signature(mechanism).parameters.values()
    except (TypeError, ValueError):
        return
    names = [p.name for p in taken if p.kind is not p.VAR_KEYWORD]
    open_ended = len(names) < len(taken)
    title = getattr(mechanism, "__name__", "the mechanism")
    for name in (parameter, *given):
        if name not in names and not open_ended:
            raise InputError(f"{title} has no parameter {name!r}: it takes {', '.join(names)}")
    if parameter in given:
        raise InputError(f"{parameter} is both chosen and given: leave it out of given")


def _range(parameter: str, given: Mapping[str, Any]) -> tuple[float, float]:
    weak, strong = _RANGES.get(parameter, (1e-12, 1e12))
    if parameter in _IN_SENSITIVITIES and "sensitivity" in given:
        unit = float(checks.positive("sensitivity", checks.scalar("sensitivity", given["sensitivity"])))
        weak, strong = weak * unit, strong * unit
    return weak, strong


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


def _search(
    build: Callable[[float], Experiment],
    read: Callable[[Experiment], float],
    parameter: str,
    reading: Reading,
    limit: float,
    weak: float,
    strong: float,
) -> tuple[float, str]:
    """Bracket the boundary from the middle outwards, then close in on it from the safe side."""

    def excess(value: float) -> float:
        try:
            return read(build(value)) - limit
        except InputError:  # outside what the mechanism allows, such as the classical calibration beyond ε = 1
            return math.inf

    unit = strong / _RANGES[parameter][1] if parameter in _RANGES else 1.0
    inside = [v for v in (unit, unit / 4, unit / 64, 1e-5 * unit) if min(weak, strong) <= v <= max(weak, strong)]
    start = next((v for v in inside if excess(v) < math.inf), inside[0])
    build(start)  # let a sentence about a wrong `given` speak for itself
    if parameter not in _RANGES and excess(start * 2) < excess(start / 2):  # unknown: find out which way risk grows
        weak, strong = strong, weak

    def toward(end: float, value: float, power: int) -> float:
        factor = 4.0 ** (power + 1)
        return min(value * factor, end) if end > value else max(value / factor, end)

    here, power = start, 0
    if excess(here) <= 0:
        while here != strong:
            safe, here = here, toward(strong, here, power)
            if excess(here) > 0:
                return last_safe(excess, safe, here), "search"
            power += 1
        return strong, "search"
    while here != weak:
        unsafe, here = here, toward(weak, here, power)
        if excess(here) <= 0:
            return last_safe(excess, here, unsafe), "search"
        if not math.isfinite(excess(here)):  # not to be built so far out: look on this side of the edge
            while max(unsafe / here, here / unsafe) > 1.05:
                middle = math.sqrt(unsafe * here)
                over = excess(middle)
                if over <= 0:
                    return last_safe(excess, middle, unsafe), "search"
                unsafe, here = (middle, here) if math.isfinite(over) else (unsafe, middle)
            here = unsafe
            break
        power += 1
    raise _none(parameter, reading, limit, read(build(here)), at=here)


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
