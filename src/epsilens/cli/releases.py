"""``epsilens release``: publish a plan's answers and enter them in the ledger."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..catalogue.parameter import Panel
from ..errors import InputError, Refused, Unwritten
from .common import Format, aside, emit, show
from .plans import EngineOption, MemoryOption, ReleaseFile, SpillOption
from .tables import progress_bar


class ReleaseFormat(StrEnum):
    """How the answers are written."""

    csv = "csv"
    json = "json"
    parquet = "parquet"
    html = "html"


def release(
    plan: ReleaseFile,
    output: Annotated[str | None, typer.Option("--output", metavar="FILE", help="Where to write the answers.")] = None,
    format: Annotated[ReleaseFormat | None, typer.Option("--format", help="By the file's ending unless given.")] = None,
    ledger: Annotated[
        str, typer.Option("--ledger", rich_help_panel=Panel.DATA.value, metavar="URL", help="A file, or postgresql://…")
    ] = "ledger.db",
    people: Annotated[
        str | None,
        typer.Option(
            "--people", rich_help_panel=Panel.DATA.value, metavar="NAME", help="Whom the table is about: the account."
        ),
    ] = None,
    part: Annotated[
        str | None,
        typer.Option(
            "--part",
            rich_help_panel=Panel.DATA.value,
            metavar="NAME",
            help="The declared part that every query is about.",
        ),
    ] = None,
    other_people: Annotated[
        bool,
        typer.Option(
            "--other-people",
            rich_help_panel=Panel.DATA.value,
            help="This data is in another account, and yet about others.",
        ),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be released and spent.")] = False,
    synthetic: Annotated[
        bool, typer.Option("--synthetic", rich_help_panel=Panel.DATA.value, help="Run on made-up rows; spends nothing.")
    ] = False,
    again: Annotated[
        bool,
        typer.Option("--again", rich_help_panel=Panel.DATA.value, help="Draw, and spend, what was released before."),
    ] = False,
    script: Annotated[
        bool, typer.Option("--script", help="Write a Python script that needs opendp alone, and release nothing.")
    ] = False,
    assessed: Annotated[
        str | None,
        typer.Option(
            "--assessed",
            rich_help_panel=Panel.DATA.value,
            metavar="FILE",
            help="The JSON of its assessment: refuse another plan.",
        ),
    ] = None,
    engine: EngineOption = None,
    memory: MemoryOption = None,
    spill: SpillOption = None,
) -> None:
    """Release a plan: noise by OpenDP on its answers, within its limits and the ledger's.

    The same plan gives the answers of before, whatever the data is by now, and spends nothing; another data.version in
    it is another plan.
    Exit code 4: the plan breaks its own limits or the ledger's; nothing is spent.
    For example: epsilens release release.yaml --output answers.csv --people patients
    """
    from ..plan.file import read_release
    from ..plan.read import as_written

    said = as_written(read_release(Path(plan)))
    if assessed is not None:
        _unchanged(said.digest(), assessed)
    if script:
        from ..publish.script import script_of

        emit(script_of(said, engine=engine), output)
        return
    if output is None and not dry_run:
        raise InputError(
            "--output is missing: name the file for the answers, such as answers.csv, or give --dry-run",
            parameter="output",
        )
    from ..data.tables.memory import use_memory
    from ..publish.release import release as released

    use_memory(memory, spill)
    with progress_bar() as told:
        made = released(
            said, output=output, format=None if format is None else format.value, ledger=ledger, people=people,
            part=part, other_people=other_people, engine=engine, dry_run=dry_run, synthetic=synthetic, again=again,
            progress=told,
        )  # fmt: skip
    try:
        show(made, Format.table, None)
    except Unwritten as error:
        if made.kind != "release":
            raise
        raise Unwritten(f"{error}; ε is spent, and the answers are in {str(output)[:80]!r}") from None
    if made.ledger:
        aside(f"ledger {made.ledger}, account {made.people!r}")
    if output is not None and not dry_run:
        aside(f"answers {output}")


def _unchanged(digest: str, assessed: str) -> None:
    """Refuse a plan that is not the one of this assessment, or that breaks a limit there."""
    try:
        told = json.loads(Path(assessed).read_text("utf-8"))
        found, exceeded = told["reproduce"]["release"], bool(told["exceeded"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise InputError(
            f"--assessed is {assessed[:80]!r}, which is no assessment: give what 'epsilens assess --format json' wrote",
            parameter="assessed",
        ) from None
    if found != f"SHA-256 {digest}":
        raise InputError(
            f"the plan is not the one that was assessed in {assessed[:80]!r}: assess it again, nothing was spent",
            parameter="assessed",
        )
    if exceeded:
        raise Refused(
            f"the plan breaks its own limits in {assessed[:80]!r}: change it and assess it again; nothing was spent",
            parameter="assessed",
        )
