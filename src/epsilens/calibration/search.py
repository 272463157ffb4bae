"""Where to look for a parameter, and the search for the riskiest value that keeps a reading under its limit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ..catalogue.parameter import Search
from ..catalogue.parameters import PARAMETERS
from ..catalogue.readings import Reading
from ..errors import InputError, NoSolutionError
from ..experiment import Experiment
from ..numerics.roots import last_safe
from .composed import Build, Read, calibrate

_TRIED = (1.0, 4.0, 1 / 4, 1 / 64, 64.0, 1e-3, 3 / 4, 2.0, 1e-5, 1e3)  # times the sensitivity, where it is a unit
_FEW = 3000.0  # of a whole number under composition: below, the answer is the last there is


def searched(parameter: str) -> Search | None:
    """Where the catalogue says to look for a parameter; None for one of a function of one's own."""
    return PARAMETERS[parameter].search if parameter in PARAMETERS else None


@dataclass(frozen=True)
class Reach:
    """Where to search: how to build, the ends, a value that can be built, and what is known of the parameter."""

    build: Build
    weak: float
    strong: float
    start: float
    whole: bool
    composed: bool  # read by bracket at the start: few readings, each with a width
    unbounded: bool  # every value tried has losses without bound, and then every other one has


def reach_of(build: Build, read: Read, parameter: str, weak: float, strong: float) -> Reach:
    """Try a few values: which can be built, are whole numbers demanded, and which way does risk grow?"""
    known = searched(parameter)
    unit = strong / known.strong if known else 1.0
    low, high = sorted((weak, strong))
    tried = [unit * times for times in _TRIED if low <= unit * times <= high]
    made = _built(build, tried)
    if known and not known.as_noise:
        whole = PARAMETERS[parameter].whole
    else:
        whole = _demands_whole(build, [v for v, _ in made])
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
    start = next((v for v, e in made if e.law.width), None)
    composed = start is not None
    if start is None:
        start = next((v for v, e in made if math.isfinite(read(e))), made[0][0])
    if known is None and _falls(build, read, start, whole):
        weak, strong = strong, weak
    unbounded = all(math.isinf(float(e.law.max_llr())) for _, e in made)
    return Reach(build, weak, strong, start, whole, composed, unbounded)


def _built(build: Build, values: list[float]) -> list[tuple[float, Experiment]]:
    """Those values that can be built, with what they build."""
    made = []
    for value in values:
        try:
            made.append((value, build(value)))
        except InputError:
            continue
    return made


def _demands_whole(build: Build, values: list[float]) -> bool:
    """Whether one whole number and the next can be built, but nothing between."""
    for v in values:
        if v.is_integer():
            beside = not (refused(build, v + 1) and refused(build, v - 1))
            return beside and refused(build, v + 0.5) and refused(build, v - 0.5)
    return False


def _unbuildable(build: Build, parameter: str, tried: list[float], low: float, high: float) -> InputError:
    """A sentence about a wrong ``given`` speaks for itself; one about the parameter would name a value nobody gave."""
    try:
        build(tried[0])
    except InputError as error:
        if error.parameter != parameter:
            return error
    return InputError(
        f"{parameter} cannot be chosen here: the mechanism takes none of the values tried from {low:g} to {high:g}, "
        "so check what it takes, or rewrite it in terms of another parameter",
        parameter=parameter,
    )


def _falls(build: Build, read: Read, start: float, whole: bool) -> bool:
    """Whether risk falls as the parameter grows."""
    made = _built(build, [math.ceil(start / 2) if whole else start / 2, start, start * 2])
    if len(made) < 2:
        return False
    less, more = made[0][1], made[-1][1]
    sizes = [float(e.kl()) if e.law.width else math.inf for e in (less, more)]  # needs no transform
    if not all(map(math.isfinite, sizes)):
        sizes = [read(less), read(more)]
    return sizes[1] < sizes[0]


def refused(build: Build, value: float) -> bool:
    """Whether the mechanism does not take a value."""
    try:
        build(value)
    except InputError:
        return True
    return False


def beyond(value: float, factor: float, end: float) -> float:
    """Further towards an end, but not past it."""
    return min(value * factor, end) if factor > 1 else max(value * factor, end)


def _met(a: float, b: float, whole: bool, ratio: float) -> bool:
    return abs(a - b) <= 1 if whole else max(a / b, b / a) <= ratio


def _middle(a: float, b: float, whole: bool) -> float:
    return float(math.floor((a + b) / 2)) if whole else math.sqrt(a) * math.sqrt(b)


def edge(build: Build, inside: float, end: float, whole: bool) -> float:
    """The value nearest the end that can be built; ``inside`` can."""
    if not refused(build, end):
        return end
    while not _met(inside, end, whole, 1 + 1e-12):
        middle = _middle(inside, end, whole)
        inside, end = (inside, middle) if refused(build, middle) else (middle, end)
    round_one = float(f"{inside:.9g}")
    return inside if refused(build, round_one) else round_one


def _excess(read: Read, reach: Reach, limit: float) -> Callable[[float], float]:
    def excess(value: float) -> float:
        try:
            return read(reach.build(value)) - limit
        except InputError:  # outside what the mechanism allows, such as the classical calibration beyond ε = 1
            return math.inf

    return excess


def _bracketed(excess: Callable[[float], float], reach: Reach) -> tuple[float | None, float | None]:
    """(a value within the limit, one beyond it), from the start outwards; None for what there is not.

    Where nothing is within the limit, the other is the least risky value that was read.
    """

    def toward(end: float, value: float, power: int) -> float:
        factor = 4.0 if reach.composed else 4.0 ** (power + 1)  # far out a composition takes long to read
        far = beyond(value, factor if end > value else 1 / factor, end)
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


def search(read: Read, reach: Reach, reading: Reading, parameter: str, limit: float) -> float:
    """Bracket the boundary from the middle outwards, then close in on it from the safe side."""
    excess = _excess(read, reach, limit)
    safe, unsafe = _bracketed(excess, reach)
    if safe is None:
        assert unsafe is not None
        raise unmet(reach.build, read, parameter, reading, limit, unsafe)
    if unsafe is None:
        return safe
    if not reach.whole:
        return last_safe(excess, safe, unsafe)
    while not _met(safe, unsafe, True, 1.0):
        middle = _middle(safe, unsafe, True)
        safe, unsafe = (middle, unsafe) if excess(middle) <= 0 else (safe, middle)
    return safe


def composed(
    read: Read, reach: Reach, reading: Reading, parameter: str, limit: float, floor: float, shift: float | None
) -> tuple[float, Experiment]:
    """By few readings; between closer ends where the usual ones cannot be built or the first guess has no size.

    ``shift`` is the μ at which a normal shift meets the limit, where it is known.
    """
    build, start, weak, strong = reach.build, reach.start, reach.weak, reach.strong
    if refused(build, weak) or not math.isfinite(build(start).law.normal_size()):
        safe, unsafe = _bracketed(_excess(read, reach, limit), reach)
        if safe is None:
            assert unsafe is not None
            raise unmet(build, read, parameter, reading, limit, unsafe)
        if unsafe is None:
            return safe, build(safe)
        weak, strong = safe, unsafe
        start = safe
    found = calibrate(build, read, limit, floor, start, weak, strong, reach.whole, shift)
    if found is None:
        raise unmet(build, read, parameter, reading, limit, weak)
    return _last_whole(build, read, limit, *found, strong) if reach.whole else found


def _last_whole(
    build: Build, read: Read, limit: float, value: float, experiment: Experiment, strong: float
) -> tuple[float, Experiment]:
    """A few whole numbers further, where these are small enough for one more to matter."""
    step = math.copysign(1.0, strong - value)
    while value != strong and value < _FEW and not refused(build, value + step):
        further = build(value + step)
        if read(further) > limit:
            break
        value, experiment = value + step, further
    return value, experiment


def safe_from(build: Build, read: Read, value: float, limit: float, weak: float) -> tuple[float, Experiment | None]:
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


def unmet(build: Build, read: Read, parameter: str, reading: Reading, limit: float, at: float) -> NoSolutionError:
    """Nothing keeps the limit, not even the least risky value ``at``."""
    experiment = build(at)
    floor = read(experiment)
    if floor < reading.ceiling:
        return none_below(parameter, reading, limit, floor, at)
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
        parameter=parameter,
    )


def none_below(
    parameter: str, reading: Reading, limit: float, floor: float, at: float | None = None
) -> NoSolutionError:
    """Nothing keeps a limit below what is reached without any release, or at the value ``at``."""
    least = "pure noise" if at is None else f"{parameter} = {at:g}"
    reached = f"{floor:.6g}" if float(f"{floor:.6g}") > limit else "slightly more"
    return NoSolutionError(
        f"no {parameter} keeps {reading.name} at or under {limit:g}: even {least} reaches {reached}, "
        "so give a limit above that",
        floor=floor,
        parameter=parameter,
    )
