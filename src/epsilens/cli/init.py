"""``epsilens init``: a release to start from, written by looking at a table's columns."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from .common import emit

__all__ = ["init"]


def init(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="CSV, Parquet, epsilens:rand-hie or an Ibis URL.")],
    engine: Annotated[
        str | None, typer.Option("--engine", metavar="NAME", help="duckdb, spark or an Ibis URL.")
    ] = None,
    output: Annotated[str | None, typer.Option("--output", metavar="FILE", help="Write to a file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Write a commented release for a table, to be edited and assessed.

    For example: epsilens init people.csv --output release.yaml
    """
    if output is not None and output != "-" and not force and Path(output).exists():
        raise InputError(
            f"--output is {output[:80]!r}, which exists: give another name, or --force to replace it",
            parameter="output",
        )
    from ..plan.start import starting_release

    emit(starting_release(table, engine), output)
