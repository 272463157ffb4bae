"""Choose: the largest ε (smallest σ, scale, …) that keeps a reading at or under a limit.

The answer is found in closed form where the inverse is known, otherwise by a search that brackets itself; either way it
is read again, and moved to the safe side until the reading satisfies the limit.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, overload

import numpy as np
from scipy.special import erf, lambertw, log_ndtr

from .. import checks
from ..catalogue.parameters import PARAMETERS, Input, Range
from ..catalogue.readings import READINGS, Reading, find_reading, reading_parameter
from ..checks import Array
from ..errors import InputError, suggestion, type_phrase
from ..experiment import Experiment
from ..laws.laplace import Laplace
from ..laws.normal import Normal, psi_for_delta
from ..laws.sums import LaplaceSumShift
from ..numerics.formatting import ceil_digits, floor_digits
from ..numerics.special import half_normal_quantile, probit_gap
from ..numerics.values import FrozenMapping, ValueSemantics
from ..overview import Overview
from ..results import ChartLike, Result, presenter
from ..shares import parse_shares
from .search import (
    Build,
    buildable_edge,
    explore,
    is_refused,
    no_solution,
    no_value_below_floor,
    search_boundary,
    search_composition,
    search_range,
    step_to_safety,
    step_toward,
)

# Closed-form inverses: the largest shift m (Laplace) or ψ (normal) that keeps a reading at or under a limit.
#
# Each returns None where no closed form is known, +∞ where nothing violates the limit. The caller has checked that the
# limit is at or above the floor, and reads the answer again.

Arguments = Mapping[str, float]


def _alpha_at_precision(recall: float, precision: float, prior: float) -> float:
    """precision = πR/(πR + (1−π)α) solved for α."""
    return recall * (1 - precision) * prior / (precision * (1 - prior))


def _recall_at_precision(fpr: float, precision: float, prior: float) -> float:
    return fpr * precision * (1 - prior) / ((1 - precision) * prior)


def _laplace_success(limit: float, prior: float) -> float:
    # m = |log c| − 2·log(1 − (s − floor)/(1 − floor)); at the floor, the turning point |log c|
    floor = max(prior, 1 - prior)
    return abs(math.log1p(-prior) - math.log(prior)) - 2 * math.log1p(-(limit - floor) / (1 - floor))


def _two_laplaces_quantile(p: float) -> float:
    """The x with 1 − e^{−x}(2+x)/4 = p ≥ ½: −2 − W₋₁(−4(1−p)e^{−2}); Newton steps restore the digits near ½."""
    x = max(float(-2 - lambertw(-4 * (1 - p) * math.exp(-2), -1).real), 0.0)
    for _ in range(2):
        over = -0.5 * math.expm1(-x) - 0.25 * x * math.exp(-x) - (p - 0.5)
        x = max(x - 4 * over / (math.exp(-x) * (1 + x)), 0.0)
    return x


def _laplace_fbeta(limit: float, beta: float, prior: float) -> float:
    b2, c = beta * beta, (1 - prior) / prior
    t = b2 * limit / ((1 + b2) * (1 - limit))
    return math.log(c * t * (1 + t) / b2)


def _laplace_roc(limit: float, fpr: float) -> float:
    if fpr == 0:
        return math.inf
    if fpr > 0.5:
        return math.log1p((limit - fpr) / (1 - limit))
    return math.log1p((limit - fpr) / fpr) if limit <= 0.5 else -math.log(4 * fpr * (1 - limit))


def _laplace_posterior(limit: float, prior: float) -> float:
    return math.log1p((limit - prior) / (prior * (1 - limit)))


def _laplace_precision(limit: float, prior: float, fpr: float | None = None, recall: float | None = None) -> float:
    if fpr is not None:
        reached = _recall_at_precision(fpr, limit, prior)
        return math.inf if reached >= 1 else _laplace_roc(max(reached, fpr), fpr)
    assert recall is not None
    if recall <= 0.5:
        return _laplace_posterior(limit, prior)
    least = _alpha_at_precision(recall, limit, prior)
    return -math.log(4 * least * (1 - recall)) if least <= 0.5 else math.log1p((recall - least) / (1 - recall))


def _laplace_psi(limit: float) -> float:
    if limit < 4:
        return -2 * math.log1p(-float(erf(limit / math.sqrt(8))))
    return -2 * (float(log_ndtr(-limit / 2)) + math.log(2))


_LAPLACE: dict[str, Callable[..., float]] = {
    "success": _laplace_success,
    "advantage": lambda limit: -2 * math.log1p(-limit),
    "auc": _two_laplaces_quantile,
    "fbeta": _laplace_fbeta,
    "posterior": _laplace_posterior,
    "precision": _laplace_precision,
    "roc": lambda limit, fpr: _laplace_roc(limit, fpr),
    "recall": lambda limit, fpr: _laplace_roc(limit, fpr),
    "attack_success": lambda limit, baseline: _laplace_roc(limit, baseline),
    "delta": lambda limit, epsilon: epsilon - 2 * math.log1p(-limit),
    "epsilon": lambda limit, delta: limit - 2 * math.log1p(-delta) if delta < 1 else math.inf,
    "psi": _laplace_psi,
    "mu": lambda limit, level: _laplace_psi(limit),
}


def _normal_roc(limit: float, fpr: float) -> float:
    if fpr == 0:
        return math.inf
    return float(probit_gap(np.asarray(fpr), np.asarray(limit - fpr), np.asarray(1 - limit)))


def _normal_precision(limit: float, prior: float, fpr: float | None = None, recall: float | None = None) -> float:
    if fpr is not None:
        reached = _recall_at_precision(fpr, limit, prior)
        return math.inf if reached >= 1 else _normal_roc(max(reached, fpr), fpr)
    assert recall is not None
    return _normal_roc(recall, _alpha_at_precision(recall, limit, prior))


def _half(p: float) -> float:
    return float(half_normal_quantile(np.asarray(p)))


_NORMAL: dict[str, Callable[..., float | None]] = {
    "success": lambda limit, prior: 2 * _half(2 * limit - 1) if prior == 0.5 else None,
    "advantage": lambda limit: 2 * _half(limit),
    "auc": lambda limit: math.sqrt(2) * _half(2 * limit - 1),
    "precision": _normal_precision,
    "roc": lambda limit, fpr: _normal_roc(limit, fpr),
    "recall": lambda limit, fpr: _normal_roc(limit, fpr),
    "attack_success": lambda limit, baseline: _normal_roc(limit, baseline),
    "delta": lambda limit, epsilon: psi_for_delta(epsilon, limit) if limit > 0 else None,
    "epsilon": lambda limit, delta: psi_for_delta(limit, delta) if 0 < delta < 1 else None,
    "psi": lambda limit: limit,
    "mu": lambda limit, level: limit,
    "kl": lambda limit: math.sqrt(2 * limit),
    "renyi": lambda limit, order: math.sqrt(2 * limit / order) if 0 < order < math.inf else None,
    "chernoff": lambda limit: math.sqrt(8 * limit),
}


def _solve(
    table: Mapping[str, Callable[..., float | None]], reading: str, limit: float, given: Arguments
) -> float | None:
    if reading not in table:
        return None
    if limit >= 1 and reading not in ("epsilon", "psi", "mu", "kl", "renyi", "chernoff"):
        return math.inf
    try:
        return table[reading](limit, **given)
    except (ValueError, ZeroDivisionError, OverflowError):  # an edge such as a prior of 0: leave it to the search
        return None


def laplace_shift(reading: str, limit: float, given: Arguments) -> float | None:
    """The largest m = ε·shift/sensitivity with reading ≤ limit."""
    return _solve(_LAPLACE, reading, limit, given)


def normal_shift(reading: str, limit: float, given: Arguments) -> float | None:
    """The largest ψ with reading ≤ limit."""
    return _solve(_NORMAL, reading, limit, given)


def two_laplaces_shift(reading: str, limit: float, given: Arguments) -> float | None:
    """The largest shift of a sum of two Laplaces (paper 001's two noisy answers) with reading ≤ limit.

    Success at an even prior is the cdf at half the shift: ε = (−8 − 4·W₋₁(−4(1−t)e^{−2}))/r.
    """
    if reading == "advantage":
        limit = (1 + limit) / 2
    elif reading != "success" or given.get("prior") != 0.5:
        return None
    return math.inf if limit >= 1 else 2 * _two_laplaces_quantile(limit)


_NO_NUMBERS = ("str", "bool", "str | None", "bool | None", str, bool)  # annotations


def is_array_like(value: object) -> bool:
    """Whether a value is a list, an array or the like of several.

    >>> is_array_like([1.0]), is_array_like("ab"), is_array_like(1.0), is_array_like(range(3))
    (True, False, False, True)
    """
    if value is None or isinstance(value, str | bytes | float | int | Mapping | Experiment):
        return False
    return isinstance(value, list | tuple | range) or bool(getattr(value, "ndim", 0))


def check_parameter(
    mechanism: Callable[..., Experiment], parameter: object, given: Mapping[str, object], *, words: bool = False
) -> None:
    """Refuse what the mechanism does not take, or what no number (or, with ``words``, value) can be put in place of."""
    if not callable(mechanism):
        raise InputError(
            f"mechanism is {mechanism!r}: give a function that returns an experiment, such as laplace", "mechanism"
        )
    if not isinstance(parameter, str):
        raise InputError(
            f"parameter is {parameter!r}: give the name of the one to choose, such as 'epsilon'", "parameter"
        )
    if parameter in given:
        raise InputError(f"{parameter} is both chosen and given: leave it out of given", parameter)
    try:
        taken = inspect.signature(mechanism).parameters
    except (TypeError, ValueError):
        return
    title = _title(mechanism)
    named = {n: p for n, p in taken.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    for name, p in taken.items():
        if p.kind is p.POSITIONAL_ONLY and p.default is p.empty:
            raise InputError(f"{title} takes {name!r} by position only: give a function that takes it by name", name)
    for name in (parameter, *given):
        if name not in named and not any(p.kind is p.VAR_KEYWORD for p in taken.values()):
            raise InputError(
                f"{title} has no parameter {name!r}{suggestion(name, named)}: it takes "
                f"{', '.join(named) or 'none by name'}",
                name,
            )
    for name, p in taken.items():
        if p.default is p.empty and name not in (parameter, *given) and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL):
            raise InputError(f"{title} needs {name!r}: give it in given, such as given={{{name!r}: …}}", name)
    about = named.get(parameter)
    if about is not None and not words and not _is_number(about):
        numbers = [n for n, p in named.items() if _is_number(p)]
        instead = f"give one of {', '.join(numbers)}" if numbers else "give another mechanism"
        raise InputError(f"{parameter} is not a number that can be chosen: {instead}", parameter)


def check_arguments(mechanism: Callable[..., Experiment], reading: Reading, arguments: Iterable[str]) -> None:
    """Refuse among a reading's arguments what the reading does not take and the mechanism does: it belongs in given."""
    taken = (*reading.required, *reading.either, *reading.optional)
    try:
        named = inspect.signature(mechanism).parameters
    except (TypeError, ValueError):
        return
    for name in arguments:
        if name in named and name not in taken:
            raise InputError(
                f"{name} is an argument of {_title(mechanism)}, not of the reading {reading.name!r}: give it in given, "
                f"such as given={{{name!r}: …}}",
                name,
            )


def _is_number(p: inspect.Parameter) -> bool:
    """Whether a parameter is a number of the release itself: the width of a bracket, asked for or not, is none."""
    of_bracket = p.name in PARAMETERS and not PARAMETERS[p.name].choosable and p.default is None
    return not isinstance(p.default, str | bool) and p.annotation not in _NO_NUMBERS and not of_bracket


def _title(mechanism: Callable[..., Experiment]) -> str:
    name = getattr(mechanism, "__name__", "<lambda>")
    return "the mechanism" if name == "<lambda>" else name


def build_experiment(mechanism: Callable[..., Experiment], arguments: Mapping[str, object]) -> Experiment:
    """What the mechanism returns, if it is one experiment."""
    try:
        result: Any = mechanism(**arguments)
    except TypeError as error:
        said = ", ".join(f"{k}={v!r}" for k, v in arguments.items())
        raise InputError(f"{_title(mechanism)} cannot be called with {said} ({error}): check what it takes") from error
    if not isinstance(result, Experiment):
        raise InputError(
            f"{_title(mechanism)} returns {type_phrase(result)}: give one that returns an experiment", "mechanism"
        )
    if result.many:
        raise InputError(f"{_title(mechanism)} holds arrays here: give single numbers in given", "given")
    return result


#: A reading that rises by less than this share of what advantage rises by hides most of what a release tells.
_HIDDEN_SHARE = 0.5
_PROPORTIONAL = ("epsilon", "scale", "psi", "sigma")  # to the shift in units of noise, or to its inverse


class Binding(StrEnum):
    """What keeps a chosen value from going further."""

    LIMIT = "limit"  # the reading would exceed it
    LARGEST = "largest"  # nothing: it is the largest value searched
    SMALLEST = "smallest"  # nothing: it is the smallest value searched
    NONE = "none"  # nothing at all: any noise keeps the limit
    MECHANISM = "mechanism"  # the mechanism takes no value beyond

    @property
    def free(self) -> bool:
        """Whether nothing tried violates the limit."""
        return self in (Binding.LARGEST, Binding.SMALLEST, Binding.NONE)


@dataclass(frozen=True, eq=False, repr=False)
class Choice(ValueSemantics, Result):
    """A parameter that keeps a reading under its limit.

    ``reading`` is what the chosen experiment reads, never above ``limit``; ``binding`` says what holds the value where
    it is, and ``note`` says so in words where it is not the limit. ``remarks`` are further words. ``unseen`` warns of a
    limit so near the reading's baseline that it sees little of what the release tells.
    """

    shown_as = "choice"

    parameter: str
    value: float
    reading: float
    reading_name: str
    arguments: Mapping[str, float]
    limit: float
    experiment: Experiment
    method: str
    binding: Binding = Binding.LIMIT
    remarks: tuple[str, ...] = field(default=(), compare=False)
    #: What was varied, and what it was given besides: for a chart. It travels only where it can be found by name.
    mechanism: Callable[..., Experiment] | None = field(default=None, compare=False, repr=False)
    given: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "arguments", FrozenMapping(self.arguments))
        object.__setattr__(self, "given", FrozenMapping(self.given))

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), **({} if _importable(self.mechanism) else {"mechanism": None, "given": FrozenMapping()})}

    def __setstate__(self, state: Mapping[str, object]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)

    def chart(self) -> ChartLike:
        """The reading against the parameter around the chosen value, with the limit and what no release reads.

        >>> import epsilens as el
        >>> chosen = choose(el.laplace, "epsilon", at_most=0.55)
        >>> [point for point in chosen.chart().data if "chosen" in point["series"]]
        [{'series': 'chosen 0.2107', 'x': 0.2107210313156..., 'y': 0.55}]
        """
        from .sweep import points_around  # late: a sweep needs what is here

        return presenter().chart(self, self.reading_name, points=points_around(self))

    def frame(self, **arguments: float) -> Any:
        """Every reading at the chosen value as a pandas DataFrame: :meth:`Experiment.frame`."""
        return self.experiment.frame(**arguments)

    def overview(self) -> Overview:
        """Every reading at the chosen value."""
        args = self.arguments
        taken = {k: v for k, v in args.items() if k in ("prior", "fpr", "beta", "baseline", "level")}
        if self.reading_name == "delta":
            taken["epsilon_for_delta"] = args["epsilon"]
        if self.reading_name == "epsilon" and args["delta"] > 0:
            taken["delta"] = args["delta"]
        return replace(self.experiment.overview(**taken), choice=self, hidden=self.unseen)

    def _shown(self, pictures: bool = False) -> Result:
        return self.overview()._shown(pictures)

    @property
    def note(self) -> str:
        """What a reader should know beside the value; empty where the limit alone decides."""
        return "; ".join(filter(None, (_binding_note(self), *self.remarks)))

    @property
    def unseen(self) -> bool:
        """Whether the reading hides most of what the chosen release tells.

        A guess that ignores the release can be so good that the best one does too: with a prior of 0.1, "absent" is
        right 90 times of 100, and no ε below log 9 makes the best guess better. Both the reading and the advantage
        (which sees everything) are taken as shares of the way from no release to full disclosure, and the first is
        then less than half of the second. At even odds success and advantage are the same share.

        >>> import epsilens as el
        >>> choose(el.laplace, "epsilon", at_most=0.9, reading="success", prior=0.1).unseen
        True
        >>> choose(el.laplace, "epsilon", at_most=0.55, reading="success").unseen
        False
        """
        known = find_reading(self.reading_name)
        if not known.ignorable:
            return False
        floor = float(known.floor(**self.arguments))
        return self.reading - floor < _HIDDEN_SHARE * (known.ceiling - floor) * float(self.experiment.advantage())

    def to_dict(self) -> dict[str, Any]:
        return {
            "parameter": self.parameter,
            "value": self.value,
            "reading": self.reading_name,
            "arguments": dict(self.arguments),
            "limit": self.limit,
            "reached": self.reading,
            "method": self.method,
            "note": self.note,
            "unseen": self.unseen,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Choices(ValueSemantics, Result):
    """Many choices in the shape of an array, such as one for each limit; ``all`` of them in the order of its entries.

    ``value``, ``reading`` and ``limit`` are arrays of that shape; ``choices[i]`` is one of them.
    """

    shown_as = "choices"

    all: tuple[Choice, ...]
    shape: tuple[int, ...]

    def __getitem__(self, place: Any) -> Any:
        choices = np.empty(len(self.all), dtype=object)
        choices[:] = self.all
        result: Any = choices.reshape(self.shape)[place]
        return result if isinstance(result, Choice) else Choices(tuple(result.ravel()), result.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def _array(self, values: Iterable[float]) -> Array:
        return np.asarray(list(values), dtype=float).reshape(self.shape)

    @property
    def parameter(self) -> str:
        """The parameter that was chosen."""
        return self.all[0].parameter

    @property
    def value(self) -> Array:
        """What was chosen."""
        return self._array(one.value for one in self.all)

    @property
    def reading(self) -> Array:
        """What each reads, never above its limit."""
        return self._array(one.reading for one in self.all)

    @property
    def limit(self) -> Array:
        """The limits."""
        return self._array(one.limit for one in self.all)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each: its limit, the reading's arguments, the value, what that reads, and what holds it there."""
        ends = [{"reading": one.reading, "binding": str(one.binding)} for one in self.all]
        return [
            {"at_most": one.limit, **one.arguments, self.parameter: one.value} | end
            for one, end in zip(self.all, ends, strict=True)
        ]

    def frame(self) -> Any:
        """A pandas DataFrame with a row for each choice."""
        return presenter().table(self.rows)

    def chart(self) -> ChartLike:
        """The chosen value against the limit."""
        return presenter().chart(self, self.parameter)

    def to_dict(self) -> dict[str, Any]:
        return {"shape": list(self.shape), "choices": [one.to_dict() for one in self.all]}


def _importable(mechanism: object) -> bool:
    """Whether another process finds it by its name."""
    result: Any = sys.modules.get(getattr(mechanism, "__module__", None) or "")
    for part in getattr(mechanism, "__qualname__", "<none>").split("."):
        result = getattr(result, part, None)
    return mechanism is not None and result is mechanism


def _binding_note(choice: Choice) -> str:
    """What holds the value where it is, in words."""
    match choice.binding:
        case Binding.LARGEST | Binding.SMALLEST as end:
            shown = (floor_digits if end is Binding.LARGEST else ceil_digits)(choice.value, 6)
            return f"nothing up to here violates the limit: {shown} is the {end} allowed"
        case Binding.MECHANISM:
            return f"the mechanism itself allows no {choice.parameter} beyond this one; the limit would"
        case Binding.NONE:
            return "nothing violates the limit: any noise keeps it"
        case _:
            return ""


@overload
def choose(
    mechanism: Callable[..., Experiment],
    parameter: str,
    *,
    at_most: float | str,
    reading: str = "success",
    given: Mapping[str, object] | None = None,
    **arguments: object,
) -> Choice: ...


@overload
def choose(
    mechanism: Callable[..., Experiment],
    parameter: str,
    *,
    at_most: Sequence[float] | Array,
    reading: str = "success",
    given: Mapping[str, object] | None = None,
    **arguments: object,
) -> Choices: ...


def choose(
    mechanism: Callable[..., Experiment],
    parameter: str,
    *,
    at_most: Any,
    reading: str = "success",
    given: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> Choice | Choices:
    """The riskiest value of ``parameter`` for which ``mechanism(**given, parameter=value)`` reads at most ``at_most``.

    The reading's arguments are passed by name, the mechanism's in ``given``. Arrays of limits and of arguments
    broadcast, and make a :class:`Choices`.

    Parameters
    ----------
    mechanism : callable
        A function that returns an experiment, such as `laplace`.
    parameter : str
        Which of its parameters to choose.
    at_most : float, array_like or mapping
        The limit, or limits by the name of a reading.
    reading : str, default 'success'
        One of READINGS; each with its own arguments.
    given : mapping, optional
        The mechanism's other parameters.
    **arguments : float or array_like
        Those of the reading.

    Returns
    -------
    Choice or Choices
        The value, rounded to the safe side and read again; one for each limit of an array.

    Raises
    ------
    InputError
        If the reading or a parameter is unknown.
    NoSolutionError
        If nothing keeps to the limit, with the floor.

    Examples
    --------
    >>> import epsilens as el
    >>> choose(el.laplace, "epsilon", at_most=0.55, reading="success").value
    0.21072103131565...
    >>> choose(el.gaussian, "sigma", at_most=0.05, reading="roc", fpr=0.01).value
    1.46736...
    >>> choose(el.laplace, "epsilon", at_most=[0.55, 0.6]).value.round(4).tolist()
    [0.2107, 0.4463]
    """
    varied = {name: value for name, value in {"at_most": at_most, **arguments}.items() if is_array_like(value)}
    if varied:
        return _choose_each(mechanism, parameter, reading, given, {"at_most": at_most, **arguments}, varied)
    return _choose_one(mechanism, parameter, at_most, reading, given, arguments)


choose.__doc__ = (choose.__doc__ or "").replace("READINGS", ", ".join(READINGS))


def _choose_each(
    mechanism: Callable[..., Experiment],
    parameter: str,
    reading: str,
    given: Mapping[str, object] | None,
    asked: Mapping[str, object],
    varied: Mapping[str, object],
) -> Choices:
    share = find_reading(reading).ceiling == 1
    columns = [checks.real(name, parse_shares(v) if share and name == "at_most" else v) for name, v in varied.items()]
    try:
        shape = np.broadcast_shapes(*(column.shape for column in columns))
    except ValueError:
        shapes = ", ".join(f"{name} {column.shape}" for name, column in zip(varied, columns, strict=True))
        raise InputError(f"the shapes do not fit together ({shapes}): give shapes that broadcast") from None
    if 0 in shape:
        raise InputError(f"{' and '.join(varied)} hold nothing: give at least one number", next(iter(varied)))
    result = []
    for row in zip(*(np.broadcast_to(column, shape).ravel().tolist() for column in columns), strict=True):
        alone = {**asked, **dict(zip(varied, row, strict=True))}
        result.append(_choose_one(mechanism, parameter, alone.pop("at_most"), reading, given, alone))
    return Choices(tuple(result), shape)


def _choose_one(
    mechanism: Callable[..., Experiment],
    parameter: str,
    at_most: float,
    reading: str,
    given: Mapping[str, object] | None,
    arguments: Mapping[str, object],
) -> Choice:
    wanted = find_reading(reading)
    if callable(mechanism):
        check_arguments(mechanism, wanted, arguments)
    args = {k: reading_argument(k, v) for k, v in wanted.arguments(arguments).items()}
    limit = checked_limit(wanted, at_most)
    if not isinstance(given, Mapping | None):
        raise InputError(
            f"given is {given!r}: give the mechanism's other arguments by name, such as {{'rate': 0.01}}", "given"
        )
    fixed = dict(given or {})
    check_parameter(mechanism, parameter, fixed)

    def build_one(value: float) -> Experiment:
        return build_experiment(mechanism, {**fixed, parameter: value})

    def read(e: Experiment) -> float:
        if wanted.name == "delta" and limit == 0:  # δ may underflow to 0 without being it: ask for pure ε instead
            return max(float(e.epsilon()) - args["epsilon"], 0.0)
        return float(getattr(e, wanted.name)(**args))

    build: Build = build_one
    floor = float(wanted.floor(**args))
    if limit < floor:
        raise no_value_below_floor(parameter, wanted, limit, floor)
    weak, strong = _range(parameter, fixed)
    value, method = _closed_form(build, parameter, wanted.name, limit, args, weak, strong)
    experiment: Experiment | None
    if value is not None:
        value, experiment = step_to_safety(build, read, value, limit, weak)
    else:
        reach = explore(build, read, parameter, weak, strong)
        build, weak, strong = reach.build, reach.weak, reach.strong
        if limit >= wanted.ceiling:  # nothing can violate it
            value = strong = buildable_edge(build, reach.start, strong, reach.whole)
            experiment, method = build(value), "composition" if reach.composed else "search"
        elif reach.unbounded and _at_ceiling(wanted, args):
            raise no_solution(build, read, parameter, wanted, limit, reach.start)
        elif reach.composed:
            shift = normal_shift(wanted.name, limit, args)
            value, experiment, method = (
                *search_composition(read, reach, wanted, parameter, limit, floor, shift),
                "composition",
            )
        else:
            value, method = search_boundary(read, reach, wanted, parameter, limit), "search"
            value, experiment = step_to_safety(build, read, value, limit, weak)
    if experiment is None:
        raise no_solution(build, read, parameter, wanted, limit, weak)
    binding = Binding.LIMIT
    if value == strong:
        binding = Binding.LARGEST if strong > weak else Binding.SMALLEST
    elif method != "closed form" and is_refused(build, step_toward(value, 1.001 if strong > weak else 0.999, strong)):
        binding = Binding.MECHANISM
    return Choice(
        parameter,
        value,
        float(getattr(experiment, wanted.name)(**args)),
        wanted.name,
        args,
        limit,
        experiment,
        method,
        binding,
        mechanism=mechanism,
        given=fixed,
    )


def _at_ceiling(reading: Reading, arguments: Mapping[str, float]) -> bool:
    """Whether losses without bound take the reading to its ceiling, however rare they are."""
    if reading.name == "posterior":
        return arguments["prior"] > 0
    return reading.name == "epsilon" and arguments["delta"] == 0


def _share_or_number(value: object, share: bool) -> Any:
    """A share written as 55% or 55 of 100, where one is asked for; anything else as it stands."""
    return parse_shares(value) if share and isinstance(value, str) else value


def checked_limit(wanted: Reading, at_most: object) -> float:
    """One limit, no larger than the reading can be; written as a number, or as a share where the reading is one."""
    limit = checks.scalar("at_most", _share_or_number(at_most, wanted.ceiling == 1))
    if limit > wanted.ceiling:
        raise InputError(
            f"at_most is {limit:g}: {wanted.name} is never above {wanted.ceiling:g}, so give a limit below that",
            "at_most",
        )
    return limit


def reading_argument(name: str, value: object) -> float:
    """One argument of a reading, checked before its floor is compared with the limit."""
    said = reading_parameter(name)
    number = checks.scalar(name, _share_or_number(value, said.kind is Input.PROBABILITY))
    allowed = said.allowed or Range()
    if said.kind is Input.PROBABILITY:
        checks.probability(name, number)
    elif allowed.above:
        checks.positive(name, number)
    else:
        checks.at_least(name, number, allowed.low)
    return number


def _range(parameter: str, given: Mapping[str, object]) -> tuple[float, float]:
    known = search_range(parameter)
    weak, strong = (known.weak, known.strong) if known else (1e-12, 1e12)
    if known and known.in_sensitivities and "sensitivity" in given:
        unit = float(checks.positive("sensitivity", checks.scalar("sensitivity", given["sensitivity"])))
        weak, strong = weak * unit, strong * unit
    return weak, strong


def _closed_form(
    build: Build, parameter: str, reading: str, limit: float, args: Mapping[str, float], weak: float, strong: float
) -> tuple[float | None, str]:
    """Through the shift in noise units, where the law has one and the parameter is proportional (or inverse) to it."""
    known = search_range(parameter)
    if known is None or parameter not in _PROPORTIONAL:
        return None, ""
    unit = 0.25 * (strong / known.strong)
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
