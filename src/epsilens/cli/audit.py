"""``epsilens audit``: does the code keep what was promised?"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..catalogue.commands import ExitCode
from ..catalogue.parameters import Panel
from ..catalogue.parsing import shorten
from ..errors import InputError
from .console import Format, FormatOption, OutputOption, show

if TYPE_CHECKING:
    from ..auditing.audit import AuditProgress
    from ..auditing.case_catalogue import CaseResult
    from ..auditing.result import Audits


def audit(
    what: Annotated[
        str | None, typer.Argument(metavar="WHAT", help="A plan (a YAML file), or package.module:function.")
    ] = None,
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", hidden=True)] = None,
    catalogue: Annotated[
        bool,
        typer.Option("--catalogue", rich_help_panel=Panel.DATA.value, help="The known cases: all, or those named."),
    ] = False,
    command: Annotated[
        str | None,
        typer.Option(
            "--command",
            rich_help_panel=Panel.DATA.value,
            metavar="WORDS",
            help='"python release.py {table} {out}": no shell.',
        ),
    ] = None,
    claim: Annotated[
        str | None,
        typer.Option(
            "--claim",
            rich_help_panel=Panel.NOISE.value,
            metavar="CLAIM",
            help='"epsilon=1", "gaussian --sigma 2"; of a plan, its own.',
        ),
    ] = None,
    d0: Annotated[
        str | None, typer.Option("--d0", rich_help_panel=Panel.DATA.value, metavar="FILE", help="The first input.")
    ] = None,
    d1: Annotated[
        str | None,
        typer.Option("--d1", rich_help_panel=Panel.DATA.value, metavar="FILE", help="The second: one person differs."),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            "--table",
            rich_help_panel=Panel.DATA.value,
            metavar="TABLE",
            help="Make pairs from it; of a plan, its columns.",
        ),
    ] = None,
    person: Annotated[
        str | None,
        typer.Option(
            "--person", rich_help_panel=Panel.DATA.value, metavar="COLUMN", help="Whose row of the table it is."
        ),
    ] = None,
    pair: Annotated[
        list[str] | None,
        typer.Option(
            "--pair",
            rich_help_panel=Panel.DATA.value,
            metavar="NAME",
            help="Only this pair of tables; may be repeated.",
        ),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(
            "--runs",
            rich_help_panel=Panel.READING.value,
            metavar="NUMBER",
            help="The most on each pair. [2000, of Gaussian noise 6000; 1000 of a command]",
        ),
    ] = None,
    confidence: Annotated[
        float,
        typer.Option(
            "--confidence", rich_help_panel=Panel.READING.value, metavar="NUMBER", help="Of all bounds together."
        ),
    ] = 0.95,
    fixed: Annotated[
        bool,
        typer.Option("--fixed", rich_help_panel=Panel.READING.value, help="Count all runs once; do not stop early."),
    ] = False,
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout", rich_help_panel=Panel.READING.value, metavar="SECONDS", help="Of one run of a command."
        ),
    ] = 300.0,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            rich_help_panel=Panel.READING.value,
            metavar="NUMBER",
            help="Runs at a time. [as many as processors]",
        ),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume",
            rich_help_panel=Panel.DATA.value,
            metavar="FILE",
            help="Keep outcomes here, and go on from them.",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", rich_help_panel=Panel.READING.value, metavar="NUMBER", help="Of the coins.")
    ] = None,
    format: FormatOption = Format.table,
    output: OutputOption = None,
) -> None:
    """Audit a release: run it on neighbouring tables and bound from below what it gives away.

    A plan is held against its own promise, on made-up rows; nothing enters a ledger. Another pipeline is a command
    or a function, with a claim and two tables, or one to make pairs from; what it prints is not shown. The catalogue
    has released code that breaks its claim, each case beside a correct twin; exit code 4: not as known.
    Exit code 4: the claim is refuted. A claim that is not refuted is not proven.
    For example: epsilens audit release.yaml
    """
    if catalogue:
        given = {"command": command, "claim": claim, "d0": d0, "d1": d1, "table": table, "pair": pair, "resume": resume}
        for name, value in given.items():
            if value is not None:
                raise InputError(f"--{name} is not for --catalogue: leave it out", parameter=name)

        asked = [each for each in (what, *(names or ())) if each is not None]
        audit_catalogue(asked, confidence=confidence, runs=runs, seed=seed, format=format, output=output)
        return
    if names:
        raise InputError(f"there is one thing too many, {shorten(names[0])}: give one WHAT", parameter="what")
    if (what is None) == (command is None):
        both = "nothing to audit is" if what is None else "WHAT and --command are both"
        raise InputError(
            f"{both} named: give a plan such as release.yaml, package.module:function, or --command", parameter="what"
        )
    options: dict[str, Any] = {
        "claim": claim, "table": table, "pairs": tuple(pair) if pair else None, "confidence": confidence,
        "sequential": not fixed, "seed": seed, "progress": _progress_writer(),
        **({} if runs is None else {"runs": runs}),
    }  # fmt: skip
    others: dict[str, Any] = {"d0": d0, "d1": d1, "person": person, "resume": resume, "jobs": jobs}
    found: Audits
    if command is not None or (":" in str(what) and not os.path.isfile(str(what))):
        if claim is None:
            raise InputError('--claim is missing: say what is promised, such as "epsilon=1"', parameter="claim")
        from ..auditing.pipelines import audit_external

        found = audit_external(
            command if command is not None else str(what), command=command is not None, timeout=timeout,
            **others, **options,
        )  # fmt: skip
    else:
        found = _audit_plan_file(str(what), others, options)
    _clear_line()
    show(found, format, output)
    if found.refuted:
        raise typer.Exit(ExitCode.EXCEEDED)


def _audit_plan_file(what: str, others: dict[str, Any], options: dict[str, Any]) -> Audits:
    if not os.path.isfile(what):
        raise InputError(
            f"WHAT is {shorten(what)}, which is no file: give a plan, or package.module:function", parameter="what"
        )
    for name, value in others.items():
        if value is not None:
            raise InputError(f"--{name} is not for a plan: leave it out", parameter=name)
    from ..auditing.pipelines import audit_plan

    return audit_plan(what, **options)


def _progress_writer() -> _ProgressWriter | None:
    """Progress on a terminal's stderr; nothing in a pipe."""
    return _ProgressWriter() if sys.stderr is not None and sys.stderr.isatty() else None


class _ProgressWriter:
    def __call__(self, pair: str, now: AuditProgress) -> None:
        sys.stderr.write(f"\r{pair}: {now}\033[K")
        sys.stderr.flush()


def _clear_line() -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write("\r\033[K")


def audit_catalogue(
    names: Sequence[str], *, confidence: float, runs: int | None, seed: int | None, format: Format, output: str | None
) -> None:
    """Run the cases of these names, all where there is none, and show what was found; exit code 4 if not as known."""
    from ..auditing.case_catalogue import audit_cases

    terminal = sys.stderr is not None and sys.stderr.isatty()
    found = audit_cases(names, confidence=confidence, runs=runs, seed=seed, told=_write_case if terminal else None)
    show(found, format, output)
    if not found.as_known:
        raise typer.Exit(ExitCode.EXCEEDED)


def _write_case(each: CaseResult) -> None:
    sys.stderr.write(f"{each.case.name}: {each.why if each.audit is None else each.audit.verdict}\n")
    sys.stderr.flush()
