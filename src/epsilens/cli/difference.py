"""``epsilens difference``: one differencing attack explained, without data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from ..errors import InputError
from . import explain as e
from . import mechanisms as m
from .choose import split_limit
from .common import Format, FormatOption, OutputOption, parse_number, parse_numbers, show

__all__ = ["difference"]


def _number(flag: str, help: str) -> Any:
    return typer.Option(flag, metavar="NUMBER", help=help)


_SIMPLE = ("gap", "sensitivity", "delta", "split", "queries", "targets")


def difference(
    ctx: typer.Context,
    epsilon: Annotated[str | None, _number("--epsilon", "The budget of the attack [needed without --at-most].")] = None,
    gap: Annotated[str | None, _number("--gap", "How far the target moves the answer [1].")] = None,
    sensitivity: Annotated[str | None, _number("--sensitivity", "What the noise is calibrated to [1].")] = None,
    known: Annotated[bool, typer.Option("--known", help="One of the two answers is known exactly.")] = False,
    noise: Annotated[str | None, typer.Option("--noise", help="laplace, gaussian or geometric [laplace].")] = None,
    delta: Annotated[str | None, _number("--delta", "δ of gaussian noise.")] = None,
    split: Annotated[str | None, _number("--split", "Share of ε for the first answer [0.5].")] = None,
    queries: Annotated[str | None, _number("--queries", "How many noisy answers are combined.")] = None,
    targets: Annotated[str | None, _number("--targets", "How many people the answers differ by [1].")] = None,
    n: Annotated[str | None, _number("--n", "For an average: people behind the known answer.")] = None,
    value: Annotated[str | None, _number("--value", "For an average: the target's value.")] = None,
    mean: Annotated[str | None, _number("--mean", "For an average: the known answer.")] = None,
    bounds: Annotated[str | None, typer.Option("--bounds", metavar="LOW,HIGH", help="For an average.")] = None,
    narrow: Annotated[
        bool, typer.Option("--narrow", help="For an average: the known one leaves the target out.")
    ] = False,
    at_most: Annotated[
        str | None, typer.Option("--at-most", metavar="READING=VALUE", help="Choose ε by a limit.")
    ] = None,
    prior: e.Prior = None,
    fpr: e.Fpr = None,
    beta: e.Beta = None,
    format: FormatOption = Format.table,
    output: OutputOption = None,
) -> None:
    """Say how well two queries that differ by one person give away that person's secret.

    For example: epsilens difference --epsilon 1 --known
    """
    builder, given = _attack(ctx.params)
    readings = e.readings_given(ctx.params)
    from ..choice.choice import choose
    from ..show.explanation import chosen, command_line
    from ..show.explanation import explain as explained

    if at_most is not None:
        if epsilon is not None:
            raise InputError("--epsilon and --at-most are both given: give ε, or the limit it is chosen by")
        reading, limit = split_limit(at_most)
        about = chosen(choose(builder, "epsilon", at_most=limit, reading=reading, given=given, **readings))
    else:
        if epsilon is None:
            raise InputError(
                "--epsilon is missing: give ε, or --at-most success=0.55 to have it chosen", parameter="epsilon"
            )
        about = explained(builder(epsilon=parse_number("--epsilon", epsilon), **given), **readings)
    show(about.with_command(command_line("difference", "", e.said(ctx.params))), format, output)


def _attack(said: Mapping[str, Any]) -> tuple[Callable[..., Any], dict[str, Any]]:
    """The builder and its arguments: an average as soon as one of its options is given."""
    from ..build.differencing import differencing, differencing_average

    given: dict[str, Any] = {k: parse_number(m.flag(k), said[k]) for k in _SIMPLE if said[k] is not None}
    average = {k: said[k] for k in ("n", "value", "mean", "bounds") if said[k] is not None}
    if not average:
        if said["narrow"]:
            raise InputError(
                "--narrow is given without an average: give --n, --value, --mean and --bounds too", parameter="narrow"
            )
        return differencing, {**given, "known": said["known"], **({"noise": said["noise"]} if said["noise"] else {})}
    missing = [k for k in ("n", "value", "mean", "bounds") if k not in average]
    if missing:
        raise InputError(f"--{missing[0]} is missing: an average needs --n, --value, --mean and --bounds")
    extra = [k for k in given if k != "sensitivity"] + [k for k in ("known", "noise") if said[k]]
    if extra:
        raise InputError(f"--{extra[0]} does not go with an average: it takes --n, --value, --mean, --bounds, --narrow")
    limits = parse_numbers("--bounds", average.pop("bounds"))
    if len(limits) != 2:
        raise InputError(
            f"--bounds is {said['bounds']!r}: give two numbers, the smaller first, such as 0,121", parameter="bounds"
        )
    numbers = {k: parse_number(m.flag(k), v) for k, v in average.items()}
    return differencing_average, {
        **given,
        **numbers,
        "bounds": tuple(limits),
        "known": "narrow" if said["narrow"] else "broad",
    }
