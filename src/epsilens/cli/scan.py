"""``epsilens scan``: who in a table can be isolated, and what planned queries give away about them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from ..errors import InputError
from .choose import split_limit
from .common import NO_SOLUTION, Format, FormatOption, OutputOption, parse_number, show

__all__ = ["progress_bar", "scan"]


def scan(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="CSV, Parquet, epsilens:rand-hie or an Ibis URL.")],
    quasi: Annotated[str, typer.Option("--quasi", metavar="A,B,C", help="Columns an attacker may know.")],
    person: Annotated[str | None, typer.Option("--person", metavar="COLUMN", help="Whose row it is.")] = None,
    known_columns: Annotated[
        str | None, typer.Option("--known-columns", metavar="N", help="At most so many known.")
    ] = None,
    min_query_size: Annotated[
        str | None, typer.Option("--min-query-size", metavar="N", help="Fewest people a query covers.")
    ] = None,
    max_rows: Annotated[
        str | None, typer.Option("--max-rows", metavar="N", help="Most rows of one person used.")
    ] = None,
    query: Annotated[
        list[str] | None, typer.Option("--query", metavar="TEXT", help="A planned query; may be repeated.")
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option("--epsilon", metavar="NUMBER", help="The planned ε of each query.")
    ] = None,
    limit: Annotated[
        str | None, typer.Option("--limit", metavar="success=VALUE", help="The success tolerated.")
    ] = None,
    quantile: Annotated[
        str | None, typer.Option("--quantile", metavar="NUMBER", help="Share of people kept under it.")
    ] = None,
    noise: Annotated[str, typer.Option("--noise", help="laplace, gaussian or geometric.")] = "laplace",
    delta: Annotated[str | None, typer.Option("--delta", metavar="NUMBER", help="δ of gaussian noise.")] = None,
    known: Annotated[bool, typer.Option("--known", help="The attacker knows one of the two answers exactly.")] = False,
    engine: Annotated[
        str | None, typer.Option("--engine", metavar="NAME", help="duckdb, spark or an Ibis URL.")
    ] = None,
    show_people: Annotated[bool, typer.Option("--show-people", help="List the values of isolated people.")] = False,
    format: FormatOption = Format.table,
    output: OutputOption = None,
) -> None:
    """Find the people two queries can isolate, and the ε that protects them. Exit code 3: the limit is exceeded.

    For example: epsilens scan epsilens:rand-hie --quasi site,age,female,black,education --person person
    --query "count where mental_visits > 0 by site" --epsilon 1 --limit success=0.55
    """
    given: dict[str, Any] = {
        "known_columns": _whole("--known-columns", known_columns),
        "max_rows": _whole("--max-rows", max_rows),
        "epsilon": None if epsilon is None else parse_number("--epsilon", epsilon),
        "quantile": None if quantile is None else parse_number("--quantile", quantile),
        "delta": None if delta is None else parse_number("--delta", delta),
    }
    if min_query_size is not None:
        given["min_query_size"] = _whole("--min-query-size", min_query_size)
    if limit is not None:
        reading, value = split_limit(limit, "--limit")
        given["limit"] = {reading: value}
    columns = [c.strip() for c in quasi.split(",")]
    if not all(columns):
        raise InputError(f"--quasi is {quasi!r}: give column names separated by commas", parameter="quasi")
    from ..data.scan.scan import scan as find

    with progress_bar() as told:
        found = find(
            table, columns, person=person, queries=query or (), noise=noise, known=known, engine=engine,
            show_people=show_people, progress=told, **given,
        )  # fmt: skip
    show(found, format, output)
    if found.exceeded:
        raise typer.Exit(NO_SOLUTION)


def _whole(flag: str, text: str | None) -> int | None:
    if text is None:
        return None
    number = parse_number(flag, text)
    if number != number or number in (float("inf"), float("-inf")) or number != int(number):
        raise InputError(f"{flag} is {text!r}: give a whole number")
    return int(number)


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int, str], None] | None]:
    """A progress bar on a terminal's stderr; nothing in a pipe."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("opening the table", total=None)

        def told(done: int, total: int, what: str) -> None:
            bar.update(task, completed=done, total=total, description=escape(what))

        yield told
