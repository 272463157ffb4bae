"""``epsilens audit``: does the code keep what was promised?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..catalogue.commands import Exit
from ..catalogue.said import shortened
from ..errors import InputError
from .common import Format, FormatOption, OutputOption, show

if TYPE_CHECKING:
    from ..auditing.audit import Progress

__all__ = ["audit"]


def audit(
    what: Annotated[str | None, typer.Argument(metavar="PLAN", help="A planned release, a YAML file.")] = None,
    claim: Annotated[
        str | None, typer.Option("--claim", metavar="CLAIM", help='"epsilon=1", "mu=1"; of a plan, its own.')
    ] = None,
    table: Annotated[
        str | None, typer.Option("--table", metavar="TABLE", help="A table with the plan's columns.")
    ] = None,
    pair: Annotated[
        list[str] | None, typer.Option("--pair", metavar="NAME", help="Only this pair of tables; may be repeated.")
    ] = None,
    runs: Annotated[int | None, typer.Option("--runs", metavar="NUMBER", help="The most on each pair.")] = None,
    confidence: Annotated[float, typer.Option("--confidence", metavar="NUMBER", help="Of all bounds together.")] = 0.95,
    fixed: Annotated[bool, typer.Option("--fixed", help="Count all runs once; do not stop early.")] = False,
    seed: Annotated[int | None, typer.Option("--seed", metavar="NUMBER", help="Of the coins.")] = None,
    format: FormatOption = Format.table,
    output: OutputOption = None,
) -> None:
    """Audit a release: run it on neighbouring tables and bound from below what it gives away.

    A plan is held against its own promise, on made-up rows; nothing enters a ledger.
    Exit code 4: the claim is refuted. A claim that is not refuted is not proven.
    For example: epsilens audit release.yaml
    """
    if what is None:
        raise InputError("nothing to audit is named: give a plan, such as release.yaml", parameter="what")
    if not Path(what).is_file():
        raise InputError(f"PLAN is {shortened(what)}, which is no file: give a planned release", parameter="what")
    from ..auditing.planned import audit_plan

    found = audit_plan(
        what, table=table, claim=claim, confidence=confidence, runs=2000 if runs is None else runs,
        sequential=not fixed, pairs=tuple(pair) if pair else None, seed=seed, progress=_told(),
    )  # fmt: skip
    _clear()
    show(found, format, output)
    if found.refuted:
        raise typer.Exit(Exit.REFUSED)


def _told() -> _Teller | None:
    """Progress on a terminal's stderr; nothing in a pipe."""
    return _Teller() if sys.stderr is not None and sys.stderr.isatty() else None


class _Teller:
    def __call__(self, pair: str, now: Progress) -> None:
        sys.stderr.write(f"\r{pair}: {now}\033[K")
        sys.stderr.flush()


def _clear() -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
