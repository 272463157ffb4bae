"""``epsilens reproduce``: the tables of the papers, as printed beside as corrected."""

from __future__ import annotations

from typing import Annotated

import typer

from ..errors import InputError
from .common import Format, FormatOption, OutputOption, show

__all__ = ["reproduce"]

Paper = Annotated[str | None, typer.Argument(metavar="[PAPER]", help="000, 001, 002, 003 or 004; all if left out.")]


def reproduce(paper: Paper = None, format: FormatOption = Format.table, output: OutputOption = None) -> None:
    """Recompute the tables of the papers, as printed and corrected.

    For example: epsilens reproduce 000
    """
    from ..papers import PAPERS, reproduction

    if paper is not None and paper not in PAPERS:
        raise InputError(f"there is no paper {paper[:40]!r}: give one of {', '.join(PAPERS)}")
    show(reproduction(*([paper] if paper else PAPERS)), format, output)
