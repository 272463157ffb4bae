"""A mechanism called by name with one of its numbers varied: what it takes, and what it may return."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..catalogue.parameters import PARAMETERS
from ..catalogue.readings import Reading
from ..errors import InputError, kind_of, meant
from ..experiment import Experiment

_NO_NUMBERS = ("str", "bool", "str | None", "bool | None", str, bool)  # annotations


def is_listed(value: Any) -> bool:
    """Whether a value is a list, an array or the like of several.

    >>> is_listed([1.0]), is_listed("ab"), is_listed(1.0), is_listed(range(3))
    (True, False, False, True)
    """
    if value is None or isinstance(value, str | bytes | float | int | Mapping | Experiment):
        return False
    return isinstance(value, list | tuple | range) or bool(getattr(value, "ndim", 0))


def check_parameter(
    mechanism: Callable[..., Experiment], parameter: Any, given: Mapping[str, Any], *, words: bool = False
) -> None:
    """Refuse what the mechanism does not take, or what no number (or, with ``words``, value) can be put in place of."""
    if not callable(mechanism):
        raise InputError(
            f"mechanism is {mechanism!r}: give a function that returns an experiment, such as laplace",
            parameter="mechanism",
        )
    if not isinstance(parameter, str):
        raise InputError(
            f"parameter is {parameter!r}: give the name of the one to choose, such as 'epsilon'", parameter="parameter"
        )
    if parameter in given:
        raise InputError(f"{parameter} is both chosen and given: leave it out of given", parameter=parameter)
    try:
        taken = inspect.signature(mechanism).parameters
    except (TypeError, ValueError):
        return
    title = _title(mechanism)
    named = {n: p for n, p in taken.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    for name, p in taken.items():
        if p.kind is p.POSITIONAL_ONLY and p.default is p.empty:
            raise InputError(
                f"{title} takes {name!r} by position only: give a function that takes it by name", parameter=name
            )
    for name in (parameter, *given):
        if name not in named and not any(p.kind is p.VAR_KEYWORD for p in taken.values()):
            raise InputError(
                f"{title} has no parameter {name!r}{meant(name, named)}: it takes {', '.join(named) or 'none by name'}",
                parameter=name,
            )
    for name, p in taken.items():
        if p.default is p.empty and name not in (parameter, *given) and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL):
            raise InputError(f"{title} needs {name!r}: give it in given, such as given={{{name!r}: …}}", parameter=name)
    about = named.get(parameter)
    if about is not None and not words and not _is_number(about):
        numbers = [n for n, p in named.items() if _is_number(p)]
        instead = f"give one of {', '.join(numbers)}" if numbers else "give another mechanism"
        raise InputError(f"{parameter} is not a number that can be chosen: {instead}", parameter=parameter)


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
                parameter=name,
            )


def _is_number(p: inspect.Parameter) -> bool:
    """Whether a parameter is a number of the release itself: the width of a bracket, asked for or not, is none."""
    of_bracket = p.name in PARAMETERS and not PARAMETERS[p.name].choosable and p.default is None
    return not isinstance(p.default, str | bool) and p.annotation not in _NO_NUMBERS and not of_bracket


def _title(mechanism: Callable[..., Experiment]) -> str:
    name = getattr(mechanism, "__name__", "<lambda>")
    return "the mechanism" if name == "<lambda>" else name


def called(mechanism: Callable[..., Experiment], arguments: Mapping[str, Any]) -> Experiment:
    """What the mechanism returns, if it is one experiment."""
    try:
        made: Any = mechanism(**arguments)
    except TypeError as error:
        said = ", ".join(f"{k}={v!r}" for k, v in arguments.items())
        raise InputError(f"{_title(mechanism)} cannot be called with {said} ({error}): check what it takes") from error
    if not isinstance(made, Experiment):
        raise InputError(
            f"{_title(mechanism)} returns {kind_of(made)}: give one that returns an experiment",
            parameter="mechanism",
        )
    if made.many:
        raise InputError(f"{_title(mechanism)} holds arrays here: give single numbers in given", parameter="given")
    return made
