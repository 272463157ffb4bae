"""Sweep: readings of a mechanism at many values of its parameters, as arrays, a table and a chart."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from typing import Any, TypeAlias, TypeVar

import numpy as np

from .. import checks
from ..catalogue.readings import find_reading
from ..checks import Array
from ..errors import InputError
from ..experiment import Experiment
from ..numerics.values import FrozenMapping, ValueSemantics
from ..overview import MOST, USUAL, Curves, Overview, curves, named_experiments
from ..results import ChartLike, ChartsLike, Result, presenter
from ..shares import SHARES, parse_shares
from .choose import Choice, build_experiment, check_parameter, is_array_like, reading_argument

T = TypeVar("T")
#: Told how many are done, and of how many; or whether to show it.
Progress: TypeAlias = Callable[[int, int], object] | bool | None
#: Seconds after which a computation says how far it is, and between two sayings.
_PATIENCE, _EVERY = 1.0, 0.2


def track_progress(items: Iterable[T], total: int, progress: Progress = None) -> Iterator[T]:
    """The items, one after the other, with how far they are.

    ``progress`` is called with how many are done and how many there are; True shows it at once, False never, and None
    after a second, where somebody is watching: in a notebook or at a terminal.

    >>> list(track_progress("ab", 2, lambda done, of: print(done, "of", of)))
    1 of 2
    2 of 2
    ['a', 'b']
    """
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise InputError(
            f"progress is {progress!r}: give True, False or a function of how many are done and of how many", "progress"
        )
    if callable(progress):
        for done, item in enumerate(items, 1):
            yield item
            progress(done, total)
        return
    show = _display() if progress is not False else None
    if show is None and progress is True:
        show = _TerminalLine()
    started = last = time.monotonic()
    try:
        for done, item in enumerate(items, 1):
            yield item
            now = time.monotonic()
            if show is not None and now - last > _EVERY and (progress or now - started > _PATIENCE):
                last, left = now, (now - started) / done * (total - done)
                show.tell(f"{done} of {total}, about {left:.0f} s left")
    finally:
        if show is not None:
            show.end()


class _TerminalLine:
    """One line on the error stream, written anew."""

    def __init__(self) -> None:
        self._wide = 0

    def tell(self, words: str) -> None:
        self._write(f"\r{words:<{self._wide}}")
        self._wide = len(words)

    def end(self) -> None:
        if self._wide:
            self._write(f"\r{'':<{self._wide}}\r")

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


class _NotebookOutput:
    """One output of a notebook's cell, which renews itself and is gone in the end."""

    def __init__(self, display: Callable[..., Any]) -> None:
        self._display, self._handle = display, None

    def tell(self, words: str) -> None:
        bundle = {"text/plain": words}
        if self._handle is None:
            self._handle = self._display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)

    def end(self) -> None:
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)


def _display() -> _TerminalLine | _NotebookOutput | None:
    """Where somebody is watching; None where nobody is."""
    shell = sys.modules.get("IPython")
    if shell is not None and getattr(shell.get_ipython(), "kernel", None) is not None:
        return _NotebookOutput(import_module("IPython.display").display)
    return _TerminalLine() if sys.stderr is not None and sys.stderr.isatty() else None


#: Experiments of one sweep.
_MOST = 100_000
_ROUNDING = 1e-9  # relative: closer ends are those of one number, but for rounding


@dataclass(frozen=True, eq=False, repr=False)
class ReadingSpec(ValueSemantics):
    """A reading and its arguments."""

    name: str
    arguments: Mapping[str, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "arguments", FrozenMapping(self.arguments))


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(ValueSemantics, Result):
    """Readings at every combination of the ``varied`` values: one axis of an array for each, in their order.

    ``values`` hold each reading by its name, which is what ``sweep["success"]`` returns: the upper one of two proven
    ends, or the double next to a closed form. ``low`` and ``high`` hold the ends between which the truth lies.
    """

    shown_as = "sweep"

    mechanism: str
    varied: Mapping[str, tuple[Any, ...]]
    given: Mapping[str, Any]
    readings: tuple[ReadingSpec, ...]
    values: Mapping[str, Array]
    low: Mapping[str, Array]
    high: Mapping[str, Array]

    def __post_init__(self) -> None:
        for name in ("varied", "given", "values", "low", "high"):
            object.__setattr__(self, name, FrozenMapping(getattr(self, name)))

    def __getitem__(self, reading: str) -> Array:
        return self.values[self._known(reading)]

    def _known(self, reading: str) -> str:
        if not isinstance(reading, str) or reading not in self.values:
            raise InputError(f"this sweep has no reading {reading!r}: it has {', '.join(self.values)}", "reading")
        return reading

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values of each parameter there are."""
        return tuple(len(values) for values in self.varied.values())

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each combination: its values, and each reading, with its ``_low`` end if not for rounding."""
        for place, values in zip(np.ndindex(self.shape), product(*self.varied.values()), strict=True):
            row = dict(zip(self.varied, values, strict=True))
            for asked in self.readings:
                name = asked.name if asked.name not in self.varied else f"{asked.name}_read"
                low, value, high = (ends[asked.name] for ends in (self.low, self.values, self.high))
                row[name] = float(value[place])
                if np.any(low < (value if np.array_equal(value, high) else value * (1 - _ROUNDING))):
                    row[f"{name}_low"] = float(low[place])
            yield row

    def frame(self) -> Any:
        """A pandas DataFrame with a row for each combination: its values, and each reading."""
        return presenter().table(list(self.rows()))

    def chart(self, reading: str | None = None, *, log: bool | None = None) -> ChartLike | ChartsLike:
        """A reading against the first parameter, with a line for each value of the others; all readings unless named.

        ``log`` says whether the horizontal axis is logarithmic; it is where the values span a factor of 20.
        """
        names = [asked.name for asked in self.readings] if reading is None else [self._known(reading)]
        result = [presenter().chart(self, name, log=log) for name in names]
        return result[0] if len(result) == 1 else presenter().charts(result)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record; a value that is not finite is null."""
        return {
            "mechanism": self.mechanism,
            "given": {name: _json_value(value) for name, value in self.given.items()},
            "varied": {name: list(values) for name, values in self.varied.items()},
            "readings": {asked.name: dict(asked.arguments) for asked in self.readings},
            "rows": [{name: _json_value(value) for name, value in row.items()} for row in self.rows()],
        }


def _json_value(value: object) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | bool | int | float | list | tuple | dict) or value is None else repr(value)


def sweep(
    mechanism: Callable[..., Experiment],
    *,
    reading: str | Sequence[str] | Mapping[str, Mapping[str, float]] = "success",
    given: Mapping[str, object] | None = None,
    progress: Progress = None,
    **values: object,
) -> Sweep:
    """Readings of a mechanism at many values of its parameters.

    What is a list or an array is varied; several make a grid. A single number belongs to a reading that takes it,
    else to the mechanism; what the mechanism takes by a name that a reading takes too stands in ``given``. ``reading``
    is a name, several, or several with their arguments. A long sweep says how far it is: ``progress`` is False for
    silence, or a function called with how many are done and of how many.

    Parameters
    ----------
    mechanism : callable
        A function that returns an experiment.
    reading : str, sequence or mapping, default 'success'
        A reading, several, or several with their arguments.
    given : mapping, optional
        Parameters whose names a reading takes too.
    progress : bool or callable, optional
        False for silence, or called with how many are done of how many.
    **values : float or array_like
        Parameters; lists are varied.

    Returns
    -------
    Sweep
        An array for each reading, with both ends of its bracket.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> import epsilens as el
    >>> found = sweep(el.laplace, epsilon=[0.1, 1.0])
    >>> found["success"].round(4).tolist()
    [0.5244, 0.6967]
    >>> found = sweep(el.dpsgd, sigma=[0.8, 1, 2], rate=0.01, steps=1000, reading=["epsilon", "success"], delta=1e-5)
    >>> found["epsilon"].round(4).tolist(), bool((found.low["epsilon"] <= found.high["epsilon"]).all())
    ([3.141, 1.8282, 0.622], True)
    >>> grid = sweep(el.gaussian, sigma=[1.0, 2.0], sensitivity=[1.0, 2.0, 4.0], reading={"epsilon": {"delta": 1e-5}})
    >>> grid["epsilon"].shape
    (2, 3)
    """
    if not isinstance(given, Mapping | None):
        raise InputError(
            f"given is {given!r}: give the mechanism's other arguments by name, such as {{'rate': 0.01}}", "given"
        )
    varied = {name: _values(name, value) for name, value in values.items() if is_array_like(value)}
    if not varied:
        raise InputError("nothing is varied: give a list of values by name, such as sigma=[1.0, 2.0]")
    single = {name: value for name, value in values.items() if name not in varied}
    asked, left = _reading_specs(reading, single)
    fixed = dict(given or {})
    for name in (*varied, *left):
        if name in fixed:
            raise InputError(f"{name} is both given and varied: leave it out of given", name)
    fixed |= left
    for name in varied:
        check_parameter(mechanism, name, fixed | {other: 0 for other in varied if other != name}, words=True)
    size = math.prod(len(v) for v in varied.values())
    if size > _MOST:
        raise InputError(f"the values make {size:,} experiments: give fewer, at most {_MOST:,}")
    ends = _vectorised(mechanism, fixed, varied, asked)
    if ends is None:
        result = []
        for row in track_progress(product(*varied.values()), size, progress):
            one = build_experiment(mechanism, {**fixed, **dict(zip(varied, row, strict=True))})
            result.append([_value_and_ends(one, each) for each in asked])
        ends = np.asarray(result, dtype=float)
    shape = tuple(len(v) for v in varied.values())
    read, low, high = (
        {each.name: np.ascontiguousarray(ends[:, i, side]).reshape(shape) for i, each in enumerate(asked)}
        for side in range(3)
    )
    return Sweep(getattr(mechanism, "__name__", "mechanism"), varied, fixed, asked, read, low, high)


def _value_and_ends(e: Experiment, asked: ReadingSpec) -> tuple[float | Array, ...]:
    """A reading, which is the upper one of two proven ends, and both of its ends."""
    low, high = e.bracket(asked.name, **asked.arguments)
    return (high if e.law.width else getattr(e, asked.name)(**asked.arguments)), low, high


def _values(name: str, value: Any) -> tuple[object, ...]:
    raw = np.asarray(value) if not isinstance(value, list | tuple) else None
    listed = tuple(value) if raw is None else tuple(raw.ravel().tolist())
    if (raw is not None and raw.ndim != 1) or not listed or any(is_array_like(each) for each in listed):
        raise InputError(f"{name} is not one list of values: give some, such as [1.0, 2.0]", name)
    result = tuple(each.item() if isinstance(each, np.generic) else each for each in listed)
    return tuple(map(parse_shares, result)) if name in SHARES else result


def _reading_specs(reading: Any, single: Mapping[str, Any]) -> tuple[tuple[ReadingSpec, ...], dict[str, object]]:
    """The readings with their arguments, and what is left for the mechanism."""
    by_name: Mapping[str, Mapping[str, object]]
    if isinstance(reading, Mapping):
        by_name = reading
    elif isinstance(reading, str) or not isinstance(reading, Sequence):
        by_name = {reading: {}}
    else:
        by_name = {name: {} for name in reading}
    if not by_name:
        raise InputError("reading is empty: give the name of one, such as 'success'", "reading")
    used: set[str] = set()
    result = []
    for name, own in by_name.items():
        known = find_reading(name)
        if not isinstance(own, Mapping):
            raise InputError(f"the arguments of {name} are {own!r}: give them by name", "reading")
        shared = {
            key: single[key]
            for key in (*known.required, *known.either, *known.optional)
            if key in single and key not in own
        }
        used |= set(shared)
        arguments = known.arguments({**shared, **own})
        result.append(ReadingSpec(name, {key: reading_argument(key, value) for key, value in arguments.items()}))
    return tuple(result), {name: value for name, value in single.items() if name not in used}


def _vectorised(
    mechanism: Callable[..., Experiment],
    fixed: Mapping[str, object],
    varied: Mapping[str, tuple[object, ...]],
    asked: Sequence[ReadingSpec],
) -> Array | None:
    """All at once, where the mechanism holds many experiments in one closed form; the rest is read one by one."""
    if len(varied) > 1 or hasattr(mechanism, "__wrapped__"):  # a builder of single numbers, made to take arrays
        return None
    (name, values), *_ = varied.items()
    try:
        result: Any = mechanism(**fixed, **{name: np.asarray(values)})
    except (InputError, TypeError, ValueError):  # single numbers only: whatever else is wrong, they will say so
        return None
    if not isinstance(result, Experiment) or not result.many or result.law.members is not None:
        return None
    ends = [_value_and_ends(result, each) for each in asked]
    return np.stack([np.stack([np.broadcast_to(e, len(values)) for e in each], axis=-1) for each in ends], axis=1)


def points_around(choice: Choice, points: int = 33) -> list[tuple[float, float]]:
    """The reading of a choice at values around the chosen one, for a chart."""
    if choice.mechanism is None:
        raise InputError("this choice was read back without its mechanism: choose again to draw it")
    at, whole = choice.value, isinstance(choice.value, int)
    tried = np.geomspace(at / 3, at * 3, points) if at > 0 else np.linspace(-1, 1, points)
    tried = np.unique(np.append(np.round(tried) if whole else tried, at))
    result = []
    for value in tried.tolist():
        if value == at:
            result.append((at, choice.reading))
            continue
        try:  # the mechanism may end before the axis does
            asked, varied = {choice.reading_name: dict(choice.arguments)}, {choice.parameter: [value]}
            read = sweep(choice.mechanism, reading=asked, given=choice.given, progress=False, **varied)
        except InputError:
            continue
        if math.isfinite(high := float(read[choice.reading_name][0])):
            result.append((value, high))
    return result


# Compare: several experiments side by side, as text, a table and a chart.


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ValueSemantics, Result):
    """Experiments by their names, and the arguments every reading of them is taken at."""

    shown_as = "comparison"

    names: tuple[str, ...]
    experiments: tuple[Experiment, ...]
    arguments: Mapping[str, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "arguments", FrozenMapping(self.arguments))

    def overview(self, pictures: bool = False) -> ComparisonOverview:
        """Every reading of each at the same arguments, that of δ being the first one's; ``pictures`` take curves."""
        for name in self.arguments:
            if name not in USUAL:
                raise InputError(f"a comparison takes no {name!r}: give one of {', '.join(USUAL)}", parameter=name)
        given = dict(self.arguments)
        first = self.experiments[0].overview(**given)
        given["epsilon_for_delta"] = first.arguments["epsilon_for_delta"]
        each = (first, *(e.overview(**given) for e in self.experiments[1:]))
        drawn = tuple(self._curves(name) for name in ("roc", "profile") if pictures)
        return ComparisonOverview(self.names, each, drawn)

    def _curves(self, name: str) -> Curves:
        first, *rest = self.experiments
        asked = {key: self.arguments[key] for key in ("prior", "fpr") if key in self.arguments}
        return curves(first, name, against=dict(zip(self.names[1:], rest, strict=True)), called=self.names[0], **asked)

    def _shown(self, pictures: bool = False) -> Result:
        return self.overview(pictures)

    def frame(self) -> Any:
        """Every reading as a pandas DataFrame: a row each, a column for each experiment and what no release reads."""
        return presenter().frame(self.overview())

    def chart(self, name: str | Sequence[str] = "roc") -> ChartLike | ChartsLike:
        """Their curves over each other; the names are those of :meth:`Experiment.chart`."""
        result = [presenter().curves(self._curves(one)) for one in ([name] if isinstance(name, str) else name)]
        return result[0] if isinstance(name, str) else presenter().charts(result)

    def to_dict(self) -> dict[str, Any]:
        return presenter().data(self.overview())


@dataclass(frozen=True)
class ComparisonOverview(Result):
    """A comparison with everything read: an overview of each, and their curves where they are drawn."""

    shown_as = "comparison"

    names: tuple[str, ...]
    each: tuple[Overview, ...]
    curves: tuple[Curves, ...] = ()


def compare(experiments: object, *more: object, **arguments: float) -> Comparison:
    """Several experiments side by side, one after the other, as a list, or as a mapping from names.

    A choice stands for what was chosen.

    The arguments are those of ``explain``: prior, fpr, delta, ….

    Parameters
    ----------
    experiments : Experiment, sequence or mapping
        What to compare; choices stand for what was chosen.
    *more : Experiment
        Further ones.
    **arguments : float
        Those of the readings: prior, fpr, delta, …

    Returns
    -------
    Comparison
        Every reading of each.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> import epsilens as el
    >>> both = compare([el.laplace(epsilon=1.0), el.gaussian(psi=1.0)])
    >>> both.names
    ('laplace(epsilon=1)', 'gaussian(sigma=1)')
    >>> compare(el.laplace(epsilon=1.0), el.gaussian(psi=1.0)) == both
    True
    >>> print(both)
    An adversary who knows every other record guesses correctly 697 times of 1,000
    (A, laplace(epsilon=1)) and 692 times of 1,000 (B, gaussian(sigma=1)) whether
    the worst-placed person is in the data. Without the release they would be right
    500 times of 1,000.
    ...
    """
    names, given = named_experiments("experiments", [experiments, *more] if more else experiments)
    if len(given) < 2:
        raise InputError("experiments has fewer than two: give several to compare", "experiments")
    if len(given) > MOST:
        raise InputError(f"experiments has {len(given)}: give at most {MOST} to compare, or use sweep", "experiments")
    return Comparison(names, given, {name: checks.scalar(name, value) for name, value in arguments.items()})
