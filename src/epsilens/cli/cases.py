"""``epsilens audit --catalogue``: the known cases, run where their libraries are installed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from ..catalogue.commands import Exit
from .common import Format, show

if TYPE_CHECKING:
    from ..auditing.cases.case import CaseFound

__all__ = ["audit_catalogue"]


def audit_catalogue(
    names: str | None, *, confidence: float, runs: int | None, seed: int | None, format: Format, output: str | None
) -> None:
    """Run the cases of these names, separated by commas, and show what was found; exit code 4 if not as known."""
    from ..auditing.cases.catalogue import audit_cases

    asked = [name.strip() for name in (names or "").split(",") if name.strip()]
    terminal = sys.stderr is not None and sys.stderr.isatty()
    found = audit_cases(asked, confidence=confidence, runs=runs, seed=seed, told=_tell if terminal else None)
    show(found, format, output)
    if not found.as_known:
        raise typer.Exit(Exit.REFUSED)


def _tell(each: CaseFound) -> None:
    sys.stderr.write(f"{each.case.name}: {each.why if each.audit is None else each.audit.verdict}\n")
    sys.stderr.flush()
