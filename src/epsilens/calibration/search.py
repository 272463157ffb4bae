"""Where to look for a parameter, and the search for the riskiest value that keeps a reading under its limit.

Choosing under composition: few, expensive readings, each with a bracket of its own.

The first guess comes from the central limit theorem: the product reads like a normal shift of μ² = D(H0‖H1) + D(H1‖H0),
which needs no transform. Secant steps in (log parameter, log reading) follow, first with wide brackets and then with
those asked for. What is returned has been read from its safe side and satisfies the limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..catalogue.parameters import PARAMETERS, Domain
from ..catalogue.readings import Reading
from ..errors import InputError, NoSolutionError
from ..experiment import Experiment
from ..laws.normal import Normal
from ..numerics.roots import safe_boundary
from ..readings.law import Exactness

Build = Callable[[float], Experiment]  # from the parameter that is chosen
Read = Callable[[Experiment], float]

_COARSE = 0.02
_LIMIT_TOLERANCE = 1e-5  # of the limit, as a logarithm: no nearer to it, even if the bracket is narrower
_MOST_READINGS = 40  # readings
_LARGEST, _APART, _NEAR_ENOUGH = 1e3, 0.02, 0.01  # of normal shifts: μ, and steps of log μ
_EXACT = math.log(3000.0)  # below, a whole number is the largest there is; above, within the width of the bracket


@dataclass
class _BoundarySide:
    """The last known place on one side of the boundary, in log parameter, and how far its reading is from the limit."""

    x: float
    y: float
    experiment: Experiment | None = None
    gap: float = math.inf  # between the two sides of the bracket, on the scale of y


def calibrate_composition(
    build: Build,
    read: Read,
    limit: float,
    floor: float,
    start: float,
    weak: float,
    strong: float,
    whole: bool,
    shift: float | None = None,
) -> tuple[float, Experiment] | None:
    """(value, experiment): the riskiest value found that reads at most ``limit``; None if not even ``weak`` does.

    ``start`` is a value that can be built, ``shift`` the μ at which a normal shift meets the limit, where it is known.
    Where every value up to ``strong`` satisfies the limit, ``strong`` is returned.
    """
    width = build(start).law.width or 1e-3
    least, most = sorted((math.log(weak), math.log(strong)))
    risk = 1.0 if strong > weak else -1.0  # the sign of d risk/d parameter

    def scale(value: float) -> float:
        return math.log(max(value - floor, 1e-15 * max(abs(limit), 1e-290)))

    target = scale(limit)

    def placed(x: float) -> float:
        value = math.exp(x)
        for end in (weak, strong):  # the very end, not its logarithm's exponential
            if abs(x - math.log(end)) < 1e-12:
                value = end
        return float(round(value)) if whole else value

    def made(x: float) -> Experiment:
        return build(placed(x))

    def over(x: float, asked: float) -> _BoundarySide:
        try:
            experiment = made(x)
            if 0 < experiment.law.width < asked:
                experiment = replace(experiment, law=experiment.law.with_width(asked))
            value = read(experiment)
        except InputError:  # outside what the mechanism allows
            return _BoundarySide(x, math.inf)
        exceeds = value > limit
        y = scale(value) - target if math.isfinite(value) else 50.0
        lower = experiment
        if experiment.law.known is Exactness.BRACKET:
            lower = replace(experiment, law=experiment.law.other_side())
        gap = scale(value) - scale(read(lower))
        return _BoundarySide(x, max(y, 1e-12) if exceeds else min(y, 0.0), experiment, gap)

    def normal(log_mu: float) -> float:
        value = read(Experiment(Normal(np.asarray(math.exp(log_mu)))))
        return scale(value) - target if math.isfinite(value) else math.inf

    x, slope = _first_guess(made, normal, shift, math.log(start), least, most, risk)
    safe: _BoundarySide | None = None
    unsafe: _BoundarySide | None = None
    asked = max(_COARSE, width)
    fine = False
    for _ in range(_MOST_READINGS):
        here = over(x, asked)
        y = here.y
        if y <= 0:
            safe = here
            if math.isclose(x, most if risk > 0 else least, abs_tol=1e-12):
                break
        else:
            unsafe = here
            if math.isclose(x, least if risk > 0 else most, abs_tol=1e-12):
                return None
        if 0 <= here.gap <= width and not fine:  # narrower than asked for: its sides are good
            fine, asked = True, width
        near = min(max(2 * here.gap, _LIMIT_TOLERANCE), width) if here.gap >= 0 else width
        goal = -0.5 * near if fine else 0.0
        close = -1.2 * near <= y <= 0 if fine else abs(y) < 0.5 * _COARSE
        close = close and not (fine and whole and x < _EXACT)
        met = safe is not None and unsafe is not None and abs(safe.x - unsafe.x) < _resolution(x, whole)
        if fine and (close or met):
            if safe is None or safe.experiment is None or safe.experiment.law.width <= width:
                break
            x = safe.x  # once more, as narrow as asked for
            continue
        if not fine and (close or met):
            # wide brackets have told what they can: their sides are not those of the narrow ones
            fine, asked, goal = True, width, -0.5 * _LIMIT_TOLERANCE
            safe = unsafe = None
            if close:
                x = min(max(x - (y - goal) / slope, least), most) if y > -0.3 * _COARSE else x
            continue
        x, slope = _next_place(here, safe, unsafe, slope, goal, risk, least, most)
    if safe is None or safe.experiment is None:
        return None
    return placed(safe.x), safe.experiment


def _resolution(x: float, whole: bool) -> float:
    """How near the two sides may come before it is enough: one step of a whole number, or a ten-millionth."""
    return max(1.001 / math.exp(x), 1e-7) if whole else 1e-7


def _next_place(
    here: _BoundarySide,
    safe: _BoundarySide | None,
    unsafe: _BoundarySide | None,
    slope: float,
    goal: float,
    risk: float,
    least: float,
    most: float,
) -> tuple[float, float]:
    """The next place: by the chord where both sides are known, by the slope otherwise, inside what is known."""
    if safe is not None and unsafe is not None:
        rise = (unsafe.y - safe.y) / (unsafe.x - safe.x) if unsafe.x != safe.x else slope
        if math.isfinite(rise) and rise * risk > 0:
            slope = rise
            x = safe.x + (goal - safe.y) / slope
        else:
            x = 0.5 * (safe.x + unsafe.x)
        low, high = sorted((safe.x, unsafe.x))
        margin = 0.02 * (high - low)
        return min(max(x, low + margin), high - margin), slope
    step = (here.y - goal) / slope if math.isfinite(here.y) else 2.0 * risk
    step = math.copysign(min(max(abs(step) * 1.15, 1e-6), 3.0), step)
    return min(max(here.x - step, least), most), slope


def _first_guess(
    made: Build,
    normal: Callable[[float], float],
    shift: float | None,
    start: float,
    least: float,
    most: float,
    risk: float,
) -> tuple[float, float]:
    """(x, slope) where a normal shift of the same divergences meets the limit."""
    if shift is not None and 1e-300 < shift < _LARGEST:
        wanted = math.log(shift)
    else:
        wanted, _ = _crossing(normal, 0.0, 1.0, math.log(1e-300), math.log(_LARGEST))
    # the reading of a normal shift grows so fast with log μ
    rise = (normal(wanted + _APART) - normal(wanted - _APART)) / (2 * _APART)

    def off(x: float) -> float:
        try:
            mu = made(x).law.normal_size()
        except InputError:
            return math.inf
        return math.log(mu) - wanted if mu > 0 else -math.inf

    x, grows = _crossing(off, start, risk, least, most)
    slope = grows * rise
    return (x, slope) if math.isfinite(slope) and slope * risk > 1e-3 else (x, risk)


def _crossing(f: Callable[[float], float], x: float, slope: float, least: float, most: float) -> tuple[float, float]:
    """(x, slope) about where a monotone f crosses 0: by secants, inside what is known of it."""
    risk = math.copysign(1.0, slope)
    y, reach = f(x), 0.7
    below = above = math.nan
    for _ in range(60):
        if abs(y) < _NEAR_ENOUGH:
            break
        below, above = (below, x) if y > 0 else (x, above)
        step = -y / slope
        if not abs(step) < reach:
            step = math.copysign(reach, -y * risk)
        reach = min(1.6 * reach, 12.0)
        new = min(max(x + step, least), most)
        if not (min(below, above) < new < max(below, above)) and math.isfinite(below + above):
            new = 0.5 * (below + above)
        if abs(new - x) < 1e-9:
            break
        there = f(new)
        rise = (there - y) / (new - x)
        slope = rise if math.isfinite(rise) and rise * risk > 1e-6 else slope
        x, y = new, there
    return x, slope


_TRIAL_VALUES = (
    1.0,
    4.0,
    1 / 4,
    1 / 64,
    64.0,
    1e-3,
    3 / 4,
    2.0,
    1e-5,
    1e3,
)  # times the sensitivity, where it is a unit
_FEW_INTEGERS = 3000.0  # of a whole number under composition: below, the answer is the last there is


def search_range(parameter: str) -> Domain | None:
    """Where the catalogue says to look for a parameter; None for one of a function of one's own."""
    return PARAMETERS[parameter].search if parameter in PARAMETERS else None


@dataclass(frozen=True)
class SearchDomain:
    """Where to search: how to build, the ends, a value that can be built, and what is known of the parameter."""

    build: Build
    weak: float
    strong: float
    start: float
    whole: bool
    composed: bool  # read by bracket at the start: few readings, each with a width
    unbounded: bool  # every value tried has losses without bound, and then every other one has


def explore(build: Build, read: Read, parameter: str, weak: float, strong: float) -> SearchDomain:
    """Try a few values: which can be built, are whole numbers demanded, and which way does risk grow?"""
    known = search_range(parameter)
    unit = strong / known.strong if known else 1.0
    low, high = sorted((weak, strong))
    tried = [unit * times for times in _TRIAL_VALUES if low <= unit * times <= high]
    result = _buildable(build, tried)
    if known and not known.as_noise:
        whole = PARAMETERS[parameter].whole
    else:
        whole = _demands_whole(build, [v for v, _ in result])
    if not result:  # a function of one's own may take whole numbers only in Python's sense
        tried = [v for v in tried if v.is_integer()]
        result = _buildable(lambda value: build(int(value)), tried)
        whole, high = True, min(high, 1e6)
    if not result:
        raise _unbuildable(build, parameter, [unit * t for t in _TRIAL_VALUES if low <= unit * t <= high], low, high)
    if whole:
        as_given = build
        build = lambda value: as_given(int(value))  # noqa: E731
        result = [(v, e) for v, e in result if v.is_integer()]
        low, high = float(math.ceil(low)), float(math.floor(high))
    weak, strong = (low, high) if weak < strong else (high, low)
    start = next((v for v, e in result if e.law.width), None)
    composed = start is not None
    if start is None:
        start = next((v for v, e in result if math.isfinite(read(e))), result[0][0])
    if known is None and _falls(build, read, start, whole):
        weak, strong = strong, weak
    unbounded = all(math.isinf(float(e.law.max_llr())) for _, e in result)
    return SearchDomain(build, weak, strong, start, whole, composed, unbounded)


def _buildable(build: Build, values: list[float]) -> list[tuple[float, Experiment]]:
    """Those values that can be built, with what they build."""
    result = []
    for value in values:
        try:
            result.append((value, build(value)))
        except InputError:
            continue
    return result


def _demands_whole(build: Build, values: list[float]) -> bool:
    """Whether one whole number and the next can be built, but nothing between."""
    for v in values:
        if v.is_integer():
            beside = not (is_refused(build, v + 1) and is_refused(build, v - 1))
            return beside and is_refused(build, v + 0.5) and is_refused(build, v - 0.5)
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
        parameter,
    )


def _falls(build: Build, read: Read, start: float, whole: bool) -> bool:
    """Whether risk falls as the parameter grows."""
    result = _buildable(build, [math.ceil(start / 2) if whole else start / 2, start, start * 2])
    if len(result) < 2:
        return False
    less, more = result[0][1], result[-1][1]
    sizes = [float(e.kl()) if e.law.width else math.inf for e in (less, more)]  # needs no transform
    if not all(map(math.isfinite, sizes)):
        sizes = [read(less), read(more)]
    return sizes[1] < sizes[0]


def is_refused(build: Build, value: float) -> bool:
    """Whether the mechanism does not take a value."""
    try:
        build(value)
    except InputError:
        return True
    return False


def step_toward(value: float, factor: float, end: float) -> float:
    """Further towards an end, but not past it."""
    return min(value * factor, end) if factor > 1 else max(value * factor, end)


def _adjacent(a: float, b: float, whole: bool, ratio: float) -> bool:
    return abs(a - b) <= 1 if whole else max(a / b, b / a) <= ratio


def _middle(a: float, b: float, whole: bool) -> float:
    return float(math.floor((a + b) / 2)) if whole else math.sqrt(a) * math.sqrt(b)


def buildable_edge(build: Build, inside: float, end: float, whole: bool) -> float:
    """The value nearest the end that can be built; ``inside`` can."""
    if not is_refused(build, end):
        return end
    while not _adjacent(inside, end, whole, 1 + 1e-12):
        middle = _middle(inside, end, whole)
        inside, end = (inside, middle) if is_refused(build, middle) else (middle, end)
    round_one = float(f"{inside:.9g}")
    return inside if is_refused(build, round_one) else round_one


def _excess(read: Read, reach: SearchDomain, limit: float) -> Callable[[float], float]:
    def excess(value: float) -> float:
        try:
            return read(reach.build(value)) - limit
        except InputError:  # outside what the mechanism allows, such as the classical calibration beyond ε = 1
            return math.inf

    return excess


def _bracket(excess: Callable[[float], float], reach: SearchDomain) -> tuple[float | None, float | None]:
    """(a value within the limit, one beyond it), from the start outwards; None for what there is not.

    Where nothing is within the limit, the other is the least risky value that was read.
    """

    def toward(end: float, value: float, power: int) -> float:
        factor = 4.0 if reach.composed else 4.0 ** (power + 1)  # far out a composition takes long to read
        far = step_toward(value, factor if end > value else 1 / factor, end)
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
            while not _adjacent(unsafe, here, reach.whole, 1.0005):
                middle = _middle(unsafe, here, reach.whole)
                over = excess(middle)
                if over <= 0:
                    return middle, unsafe
                unsafe, here = (middle, here) if math.isfinite(over) else (unsafe, middle)
            return None, unsafe
        power += 1
    return None, here


def search_boundary(read: Read, reach: SearchDomain, reading: Reading, parameter: str, limit: float) -> float:
    """Bracket the boundary from the middle outwards, then close in on it from the safe side."""
    excess = _excess(read, reach, limit)
    safe, unsafe = _bracket(excess, reach)
    if safe is None:
        assert unsafe is not None
        raise no_solution(reach.build, read, parameter, reading, limit, unsafe)
    if unsafe is None:
        return safe
    if not reach.whole:
        return safe_boundary(excess, safe, unsafe)
    while not _adjacent(safe, unsafe, True, 1.0):
        middle = _middle(safe, unsafe, True)
        safe, unsafe = (middle, unsafe) if excess(middle) <= 0 else (safe, middle)
    return safe


def search_composition(
    read: Read, reach: SearchDomain, reading: Reading, parameter: str, limit: float, floor: float, shift: float | None
) -> tuple[float, Experiment]:
    """By few readings; between closer ends where the usual ones cannot be built or the first guess has no size.

    ``shift`` is the μ at which a normal shift meets the limit, where it is known.
    """
    build, start, weak, strong = reach.build, reach.start, reach.weak, reach.strong
    if is_refused(build, weak) or not math.isfinite(build(start).law.normal_size()):
        safe, unsafe = _bracket(_excess(read, reach, limit), reach)
        if safe is None:
            assert unsafe is not None
            raise no_solution(build, read, parameter, reading, limit, unsafe)
        if unsafe is None:
            return safe, build(safe)
        weak, strong = safe, unsafe
        start = safe
    result = calibrate_composition(build, read, limit, floor, start, weak, strong, reach.whole, shift)
    if result is None:
        raise no_solution(build, read, parameter, reading, limit, weak)
    return _last_whole(build, read, limit, *result, strong) if reach.whole else result


def _last_whole(
    build: Build, read: Read, limit: float, value: float, experiment: Experiment, strong: float
) -> tuple[float, Experiment]:
    """A few whole numbers further, where these are small enough for one more to matter."""
    step = math.copysign(1.0, strong - value)
    while value != strong and value < _FEW_INTEGERS and not is_refused(build, value + step):
        further = build(value + step)
        if read(further) > limit:
            break
        value, experiment = value + step, further
    return value, experiment


def step_to_safety(
    build: Build, read: Read, value: float, limit: float, weak: float
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


def no_solution(build: Build, read: Read, parameter: str, reading: Reading, limit: float, at: float) -> NoSolutionError:
    """Nothing keeps the limit, not even the least risky value ``at``."""
    experiment = build(at)
    floor = read(experiment)
    if floor < reading.ceiling:
        return no_value_below_floor(parameter, reading, limit, floor, at)
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


def no_value_below_floor(
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
