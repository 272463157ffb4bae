"""``epsilens correlate``: what a release gives away when records depend on each other."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..errors import InputError
from .common import Format, FormatOption, OutputOption, parse_number, parse_numbers, show
from .scan import progress_bar

__all__ = ["correlate"]


def correlate(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="CSV, Parquet, epsilens:rand-hie or an Ibis URL.")],
    columns: Annotated[str, typer.Option("--columns", metavar="A,B,C", help="The records: one column for each.")],
    model: Annotated[str, typer.Option("--model", help="normal, table or chain.")] = "normal",
    query: Annotated[str, typer.Option("--query", help="sum, or linear with --weights.")] = "sum",
    weights: Annotated[
        str | None, typer.Option("--weights", metavar="1,2,3", help="Weights of a linear query, one a record.")
    ] = None,
    scale: Annotated[str | None, typer.Option("--scale", metavar="NUMBER", help="Scale of Laplace noise.")] = None,
    sigma: Annotated[str | None, typer.Option("--sigma", metavar="NUMBER", help="σ of Gaussian noise.")] = None,
    epsilon: Annotated[
        str | None, typer.Option("--epsilon", metavar="NUMBER", help="Laplace noise for this ε; 1 by default.")
    ] = None,
    own_noise: Annotated[
        bool, typer.Option("--own-noise/--no-own-noise", help="With --sigma: whether unknown records count as noise.")
    ] = True,
    bounds: Annotated[
        str | None, typer.Option("--bounds", metavar="LOW,HIGH", help="Values beyond are moved to these.")
    ] = None,
    reach: Annotated[
        str | None, typer.Option("--reach", metavar="NUMBER", help="By how much a record can change.")
    ] = None,
    by: Annotated[str | None, typer.Option("--by", metavar="COLUMN", help="Rows that share it are related.")] = None,
    size: Annotated[str | None, typer.Option("--size", metavar="N", help="Members of a group; with --by.")] = None,
    person: Annotated[str | None, typer.Option("--person", metavar="COLUMN", help="Whose row it is.")] = None,
    time: Annotated[
        str | None, typer.Option("--time", metavar="COLUMN", help="When; a person's values over time are the records.")
    ] = None,
    confidence: Annotated[
        str, typer.Option("--confidence", metavar="NUMBER", help="Of the interval for sampling error.")
    ] = "0.95",
    time_limit: Annotated[
        str | None, typer.Option("--time-limit", metavar="SECONDS", help="End the search with a proven bound.")
    ] = None,
    engine: Annotated[
        str | None, typer.Option("--engine", metavar="NAME", help="duckdb, spark or an Ibis URL.")
    ] = None,
    format: FormatOption = Format.table,
    output: OutputOption = None,
) -> None:
    """Find who learns most about one record from a noisy sum when records are correlated.

    A row is one observation of the records: the members of a household, or a person at several times.
    For example: epsilens correlate epsilens:rand-hie --columns visits --person person --time year --bounds 0,20
    """
    if query not in ("sum", "linear"):
        raise InputError(f"--query is {query!r}: give 'sum', or 'linear' with --weights", parameter="query")
    if (query == "linear") != (weights is not None):
        raise InputError("give --query linear and --weights together, or neither for a sum")
    given: dict[str, Any] = {}
    for name, number in (("--scale", scale), ("--sigma", sigma), ("--epsilon", epsilon), ("--time-limit", time_limit)):
        if number is not None:
            given[name[2:].replace("-", "_")] = parse_number(name, number)
    if bounds is not None:
        given["bounds"] = parse_numbers("--bounds", bounds)
    if reach is not None:
        several = parse_numbers("--reach", reach)
        given["reach"] = several[0] if len(several) == 1 else several
    if size is not None:
        given["size"] = parse_number("--size", size)
    names = [c.strip() for c in columns.split(",")]
    if not all(names):
        raise InputError(f"--columns is {columns!r}: give column names separated by commas", parameter="columns")
    level = parse_number("--confidence", confidence)
    from ..data.correlation.correlation import correlate as find

    with progress_bar() as told:
        found = find(
            table, names, model=model, query="sum" if weights is None else parse_numbers("--weights", weights),
            own_noise=own_noise, by=by, person=person, time=time, confidence=level, engine=engine, progress=told,
            **given,
        )  # fmt: skip
    show(found, format, output)
