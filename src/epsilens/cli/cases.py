"""``epsilens audit --catalogue``: the known cases, run where their libraries are installed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from ..catalogue.commands import Exit
from .common import Format, show

if TYPE_CHECKING:
    from ..auditing.cases.case import CaseFound


def audit_catalogue(
    names: Sequence[str], *, confidence: float, runs: int | None, seed: int | None, format: Format, output: str | None
) -> None:
    """Run the cases of these names, all where there is none, and show what was found; exit code 4 if not as known."""
    from ..auditing.cases.catalogue import audit_cases

    terminal = sys.stderr is not None and sys.stderr.isatty()
    found = audit_cases(names, confidence=confidence, runs=runs, seed=seed, told=_tell if terminal else None)
    show(found, format, output)
    if not found.as_known:
        raise typer.Exit(Exit.EXCEEDED)


def _tell(each: CaseFound) -> None:
    sys.stderr.write(f"{each.case.name}: {each.why if each.audit is None else each.audit.verdict}\n")
    sys.stderr.flush()
