"""``epsilens scan`` and ``correlate``: what a table's own records make of a release."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from ..catalogue.commands import Exit
from ..catalogue.parameter import flag
from ..catalogue.said import numbers, numbers_said, split_limit, whole
from ..errors import InputError
from ..shown import harmless
from .common import Said, show


def scan(said: Said) -> None:
    """Find the people two queries can isolate, and the ε that protects them. Exit code 4: the limit is exceeded.

    For example: epsilens scan epsilens:rand-hie --quasi site,age,female,black,education --person person
    --query "count where mental_visits > 0 by site" --epsilon 1 --limit success=0.55
    """
    given: dict[str, Any] = numbers_said(said, "epsilon", "quantile", "delta", "sampling_fraction")
    for name in ("known_columns", "max_rows", "min_query_size"):
        if said[name] is not None:
            given[name] = whole(flag(name), said[name], name)
    if said["limit"] is not None:
        reading, value = split_limit(said["limit"], "--limit", "limit")
        given["limit"] = {reading: value}
    columns = columns_said(said, "quasi")
    given |= {name: said[name] for name in ("person", "noise", "known", "engine", "show_people")}
    from ..data.scan.scan import scan as find
    from ..data.tables.memory import use_memory

    use_memory(said["memory"], said["spill"])

    with progress_bar() as told:
        found = find(said["table"], columns, queries=said["query"] or (), progress=told, **given)
    show(found, said["format"], said["output"])
    if found.exceeded:
        raise typer.Exit(Exit.EXCEEDED)


def columns_said(said: Said, name: str) -> list[str]:
    """Names of columns separated by commas."""
    columns = [c.strip() for c in said[name].split(",")]
    if not all(columns):
        raise InputError(f"{flag(name)} is {said[name]!r}: give column names separated by commas", parameter=name)
    return columns


@contextmanager
def progress_bar() -> Iterator[Callable[[int, int, str], None] | None]:
    """A progress bar on a terminal's stderr; nothing in a pipe."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from ..data.tables.passwords import pausing

    columns = (BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar, pausing(bar.stop, bar.start):
        task = bar.add_task("opening the table", total=None)

        def told(done: int, total: int, what: str) -> None:
            bar.update(task, completed=done, total=total, description=escape(harmless(what)))

        yield told


def correlate(said: Said) -> None:
    """Find who learns most about one record from a noisy sum when records are correlated.

    A row is one observation of the records: the members of a household, or a person at several times.
    For example: epsilens correlate epsilens:rand-hie --columns visits --person person --time year --bounds 0,20
    """
    query, weights = said["query"], said["weights"]
    if query not in ("sum", "linear"):
        raise InputError(f"--query is {query!r}: give 'sum', or 'linear' with --weights", parameter="query")
    if (query == "linear") != (weights is not None):
        raise InputError("give --query linear and --weights together, or neither for a sum", parameter="query")
    given: dict[str, Any] = numbers_said(said, "scale", "sigma", "epsilon", "time_limit", "size", "confidence")
    if said["bounds"] is not None:
        given["bounds"] = numbers("--bounds", said["bounds"], "bounds")
    if said["reach"] is not None:
        several = numbers("--reach", said["reach"], "reach")
        given["reach"] = several[0] if len(several) == 1 else several
    names = columns_said(said, "columns")
    given["query"] = "sum" if weights is None else numbers("--weights", weights, "weights")
    given |= {name: said[name] for name in ("model", "own_noise", "by", "person", "time", "engine")}
    from ..data.correlation.correlation import correlate as find
    from ..data.tables.memory import use_memory

    use_memory(said["memory"], said["spill"])

    with progress_bar() as told:
        found = find(said["table"], names, progress=told, **given)
    show(found, said["format"], said["output"])
