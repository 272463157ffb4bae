"""``epsilens difference``: one differencing attack explained, without data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..catalogue.parameter import flag
from ..catalogue.said import number, numbers, numbers_said, readings_for_choose, readings_for_explain, split_limit
from ..errors import InputError
from .common import show
from .options import Said, to_repeat

__all__ = ["difference"]

_SIMPLE = ("gap", "sensitivity", "delta", "split", "queries", "targets")
_AVERAGE = ("n", "value", "mean", "bounds")


def difference(said: Said) -> None:
    """Say how well two queries that differ by one person give away that person's secret.

    For example: epsilens difference --epsilon 1 --known
    """
    builder, given = _attack(said)
    from ..choice.choice import choose
    from ..show.explanation import chosen, command_line
    from ..show.explanation import explain as explained

    epsilon, at_most = said["epsilon"], said["at_most"]
    if at_most is not None:
        readings = readings_for_choose(said)
        if epsilon is not None:
            raise InputError(
                "--epsilon and --at-most are both given: give ε, or the limit it is chosen by", parameter="epsilon"
            )
        reading, limit = split_limit(at_most)
        about = chosen(choose(builder, "epsilon", at_most=limit, reading=reading, given=given, **readings))
    else:
        readings = readings_for_explain(said)
        if epsilon is None:
            raise InputError(
                "--epsilon is missing: give ε, or --at-most success=0.55 to have it chosen", parameter="epsilon"
            )
        about = explained(builder(epsilon=number("--epsilon", epsilon, "epsilon"), **given), **readings)
    show(about.with_command(command_line("difference", "", to_repeat(said))), said["format"], said["output"])


def _attack(said: Said) -> tuple[Callable[..., Any], dict[str, Any]]:
    """The builder and its arguments: an average as soon as one of its options is given."""
    from ..build.differencing import differencing, differencing_average

    given: dict[str, Any] = numbers_said(said, *_SIMPLE)
    average = {k: said[k] for k in _AVERAGE if said[k] is not None}
    if not average:
        if said["narrow"]:
            raise InputError(
                "--narrow is given without an average: give --n, --value, --mean and --bounds too", parameter="narrow"
            )
        return differencing, {**given, "known": said["known"], **({"noise": said["noise"]} if said["noise"] else {})}
    missing = [k for k in _AVERAGE if k not in average]
    if missing:
        raise InputError(
            f"--{missing[0]} is missing: an average needs --n, --value, --mean and --bounds", parameter=missing[0]
        )
    extra = [k for k in given if k != "sensitivity"] + [k for k in ("known", "noise") if said[k]]
    if extra:
        raise InputError(
            f"--{extra[0]} does not go with an average: it takes --n, --value, --mean, --bounds, --narrow",
            parameter=extra[0],
        )
    limits = numbers("--bounds", average.pop("bounds"), "bounds")
    if len(limits) != 2:
        raise InputError(
            f"--bounds is {said['bounds']!r}: give two numbers, the smaller first, such as 0,121", parameter="bounds"
        )
    return differencing_average, {
        **given,
        **{k: number(flag(k), v, k) for k, v in average.items()},
        "bounds": tuple(limits),
        "known": "narrow" if said["narrow"] else "broad",
    }
