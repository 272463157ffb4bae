"""``epsilens identify``: how sure an attacker can become of who is missing from a noisy sum or mean."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..errors import InputError
from . import explain as e
from .choose import split_limit
from .common import NO_SOLUTION, Format, FormatOption, OutputOption, parse_number, parse_numbers, show

__all__ = ["identify"]


def _number(flag: str, help: str) -> Any:
    return typer.Option(flag, metavar="NUMBER", help=help)


def identify(
    ctx: typer.Context,
    table: Annotated[
        str | None,
        typer.Argument(metavar="TABLE", help="CSV, Parquet, epsilens:rand-hie or an Ibis URL; with --column."),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option("--column", metavar="NAME", help="The values, one row a person; empty ones are left out."),
    ] = None,
    person: Annotated[
        str | None, typer.Option("--person", metavar="NAME", help="Whose row it is: a person's values are added up.")
    ] = None,
    n: Annotated[str | None, _number("--n", "Without a table: how many people.")] = None,
    range_: Annotated[
        str | None, typer.Option("--range", metavar="LOW,HIGH", help="Without a table: the least and largest value.")
    ] = None,
    epsilon: Annotated[str | None, _number("--epsilon", "Privacy loss [needed without --at-most].")] = None,
    delta: Annotated[str | None, _number("--delta", "δ of gaussian noise.")] = None,
    sensitivity: Annotated[
        str | None, _number("--sensitivity", "What the noise is calibrated to [the largest absolute value].")
    ] = None,
    query: Annotated[str, typer.Option("--query", metavar="WORD", help="sum or mean.")] = "sum",
    noise: Annotated[str, typer.Option("--noise", metavar="WORD", help="laplace or gaussian.")] = "laplace",
    at_most: Annotated[
        str | None,
        typer.Option(
            "--at-most", metavar="READING=VALUE", help="A limit: posterior=0.1, or success=0.05 with a table."
        ),
    ] = None,
    format: FormatOption = Format.table,
    output: OutputOption = None,
) -> None:
    """Say how sure an attacker can become of which of n people is missing. Exit code 3: the limit is exceeded.

    For example: epsilens identify --n 120 --range 0,60 --sensitivity 121 --epsilon 5
    """
    given: dict[str, Any] = {"query": query, "noise": noise}
    for name, value in (("epsilon", epsilon), ("delta", delta), ("sensitivity", sensitivity)):
        if value is not None:
            given[name] = parse_number(f"--{name}", value)
    if at_most is not None:
        reading, limit = split_limit(at_most)
        given |= {"reading": reading, "at_most": limit}
    elif epsilon is None:
        raise InputError(
            "--epsilon is missing: give ε, or --at-most posterior=0.1 to have it chosen", parameter="epsilon"
        )
    from ..attacks.identification import identify as find
    from ..show.explanation import command_line
    from ..show.identification import report

    found = find(**_people(table, column, person, n, range_), **given)
    said = {k.rstrip("_"): v for k, v in e.said(ctx.params).items() if k != "table"}
    said = {k: v for k, v in said.items() if (k, v) not in (("query", "sum"), ("noise", "laplace"))}
    line = command_line("identify", "", said)
    if table is not None:
        import shlex

        line = line.replace("identify", f"identify {shlex.quote(table)}", 1)
    show(report(found).with_command(line), format, output)
    if found.exceeded:
        raise typer.Exit(NO_SOLUTION)


def _people(
    table: str | None, column: str | None, person: str | None, n: str | None, range_: str | None
) -> dict[str, Any]:
    """The people as the library takes them: the values of a column, or n and a range."""
    if table is None:
        if column is not None or person is not None:
            flag = "--column" if column is not None else "--person"
            raise InputError(f"{flag} is given without a table: give the table it is a column of")
        if n is None or range_ is None:
            raise InputError("who the people are is missing: give a table and --column, or --n and --range")
        ends = parse_numbers("--range", range_)
        if len(ends) != 2:
            raise InputError(
                f"--range is {range_[:40]!r}: give two numbers, the smaller first, such as 0,60", parameter="range"
            )
        return {"n": parse_number("--n", n), "value_range": tuple(ends)}
    if n is not None or range_ is not None:
        raise InputError("a table is given with --n or --range: its column says both, so leave them out")
    if column is None:
        raise InputError("--column is missing: name the column with the values", parameter="column")
    from ..data.tables.column import numbers_of

    return {"values": numbers_of(table, column, person=person)}
