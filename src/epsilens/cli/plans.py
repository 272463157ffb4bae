"""``epsilens assess`` and ``init``: a planned release judged, and one to start from."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..catalogue.commands import Exit
from ..catalogue.parameter import Panel
from ..errors import InputError
from .common import Format, OutputOption, aside, emit, emit_file, say, show
from .tables import progress_bar


class AssessFormat(StrEnum):
    """How an assessment is written: as every result, as one sheet for a board, or as a record of the registry."""

    table = "table"
    json = "json"
    md = "md"
    html = "html"
    csv = "csv"
    pdf = "pdf"
    board = "board"
    registry = "registry"


ReleaseFile = Annotated[str, typer.Argument(metavar="RELEASE", help="A YAML file; 'epsilens init TABLE' writes one.")]
MemoryOption = Annotated[
    str | None,
    typer.Option("--memory", rich_help_panel=Panel.DATA.value, metavar="SIZE", help="What reading may take, 4GB say."),
]
SpillOption = Annotated[
    str | None,
    typer.Option(
        "--spill",
        rich_help_panel=Panel.DATA.value,
        metavar="FOLDER",
        help="A folder with room for what memory does not hold.",
    ),
]
EngineOption = Annotated[
    str | None,
    typer.Option("--engine", rich_help_panel=Panel.DATA.value, metavar="NAME", help="duckdb, spark or an Ibis URL."),
]
AssessFormatOption = Annotated[AssessFormat, typer.Option("--format", help="How to write the result.")]


def assess(
    release: ReleaseFile,
    engine: EngineOption = None,
    memory: MemoryOption = None,
    spill: SpillOption = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            "--ledger",
            rich_help_panel=Panel.DATA.value,
            metavar="URL",
            help="Count what was released before about them.",
        ),
    ] = None,
    people: Annotated[
        str | None,
        typer.Option(
            "--people",
            rich_help_panel=Panel.DATA.value,
            metavar="NAME",
            help="Whom the table is about: the ledger's account.",
        ),
    ] = None,
    format: AssessFormatOption = AssessFormat.table,
    output: OutputOption = None,
) -> None:
    """Assess a planned release: the risk of each adversary, the ε to choose, the accuracy it buys.

    Exit code 4: a limit is exceeded; 3: no ε meets the limits. The report is written all the same, and the headline
    told on the side (standard error) where it goes to a file.
    --format board --output board.pdf is one sheet for those who decide.
    For example: epsilens assess release.yaml --output report.pdf
    """
    from ..assessment.assessment import assess as assessed
    from ..data.tables.memory import use_memory

    use_memory(memory, spill)
    with progress_bar() as told:
        found = assessed(Path(release), engine=engine, ledger=ledger, people=people, progress=told)
    command = ["epsilens", "assess", Path(release).name, *(["--engine", _nameless(engine)] if engine else [])]
    command += ["--ledger", _nameless(ledger)] if ledger else []
    command += ["--people", people] if people else []
    found = replace(found, command=shlex.join(command))
    if format is AssessFormat.registry:
        emit(found.to_registry(), output)
    elif format is AssessFormat.board:
        if (output or "").lower().endswith(".pdf"):
            emit_file(found.to_board_pdf(), output)
        else:
            emit(found.to_board(), output, page=True)
    else:
        show(found, Format(format.value), output)
    if output is not None and output != "-":  # a file says nothing by itself, nor does an exit code
        from ..show.assessment.words import headline

        say(f"{headline(found)}; written to {output}")
    if found.exceeded:
        from ..assessment.verdict import Standing

        hopeless = found.verdict.standing in (Standing.IMPOSSIBLE, Standing.CONTRADICTORY)
        raise typer.Exit(Exit.NO_SOLUTION if hopeless else Exit.EXCEEDED)


def _nameless(place: str) -> str:
    """A place in a command that stands in a report: the name of a file, or the kind of an address, and no more."""
    scheme, address, _ = place.partition("://")
    return f"{scheme}://…" if address else Path(place).name


class InitFormat(StrEnum):
    """How a plan to start from is written: the plan alone, or with what was understood of every column."""

    yaml = "yaml"
    table = "table"
    json = "json"
    md = "md"
    html = "html"
    csv = "csv"


InitFormatOption = Annotated[InitFormat, typer.Option("--format", help="The plan, or all that was understood.")]


def init(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="CSV, Parquet, epsilens:rand-hie or an Ibis URL.")],
    engine: EngineOption = None,
    memory: MemoryOption = None,
    spill: SpillOption = None,
    format: InitFormatOption = InitFormat.yaml,
    output: Annotated[str | None, typer.Option("--output", metavar="FILE", help="Write to a file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Understand a table and write a commented release for it, ready to be edited and assessed.

    What was understood, and what to look at first, is told on the side (standard error).
    For example: epsilens init people.csv --output release.yaml
    """
    if output is not None and output != "-" and not force and os.path.exists(output):
        raise InputError(
            f"--output is {output[:80]!r}, which exists: give another name, or --force to replace it",
            parameter="output",
        )
    from ..data.tables.memory import use_memory
    from ..plan.start import init as started

    use_memory(memory, spill)
    with progress_bar() as told:
        start = started(table, engine, progress=told)
    if format is not InitFormat.yaml:
        show(start, Format(format.value), output)
        return
    emit(start.yaml, output)
    for text in (*(f"WARNING: {text}" for text in start.warnings), start.sentence):
        aside(text)
