"""``epsilens notions`` and ``reproduce``: other definitions of privacy, and the tables of the papers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from ..catalogue.said import conditions_given, number
from ..errors import InputError
from .common import Format, FormatOption, OutputOption, Said, emit, show, to_repeat


def notions(said: Said) -> None:
    """Say what another definition's ε promises; without options, list the definitions.

    For example: epsilens notions --from dp --epsilon 1
    """
    from ..show import notions as report
    from ..show.explanation import command_line

    held, asked, epsilon = said["from"], said["to"], said["epsilon"]
    if held is None and asked is None:
        if epsilon is not None:
            raise InputError(
                "--epsilon is given without a notion: give --from, or --to for what would be enough",
                parameter="epsilon",
            )
        show(report.listed(), said["format"], said["output"])
        return
    if epsilon is None:
        raise InputError("--epsilon is missing: give the ε of the notion, such as --epsilon 1", parameter="epsilon")
    size, conditions = number("--epsilon", epsilon, "epsilon"), conditions_given(said)
    if held is not None and asked is not None:
        about = report.between(held, size, asked, **conditions)
    elif held is not None:
        about = report.promised(held, size, **conditions)
    else:
        about = report.enough(asked, size, **conditions)
    line = command_line("notions", "", to_repeat(said))
    show(about.with_command(line), said["format"], said["output"])


Paper = Annotated[
    str | None,
    typer.Argument(
        metavar="[PAPER]",
        help="000 to 004, or liu2019, ashena2021, kaissis2022, unsal2022, li2019; all if left out.",
        autocompletion=lambda incomplete: papers_begun(incomplete),
    ),
]


def papers_begun(incomplete: str) -> list[str]:
    """The papers whose number or name begins so."""
    from ..papers import PAPERS

    return [name for name in (*PAPERS, *PAPERS.values()) if name.startswith(incomplete)]


def reproduce(paper: Paper = None, format: FormatOption = Format.table, output: OutputOption = None) -> None:
    """Recompute the tables and figures of the papers, as printed and corrected.

    With --output and the name of a folder, each is written as CSV, SVG and text, and all of it as one page; files of
    the same names are replaced.

    For example: epsilens reproduce 002 --output papers/
    """
    from ..papers import reproduction

    if output is not None and not output.strip():
        raise InputError("--output is empty: give the name of a folder or of a file", parameter="output", value=output)
    folder = output is not None and (output.endswith("/") or (format is Format.table and is_folder(output)))
    if folder and format is not Format.table:
        raise InputError(
            f"--output is the folder {output!r:.80}, which gets every form at once: leave --format out, or name a file",
            parameter="output",
        )
    made = reproduction(*([paper] if paper else ()))
    if output is not None and folder:
        written = made.write(output)
        emit(f"{len(written)} files in {output}: open {written[0]}", None)
        return
    show(made, format, output)


def is_folder(output: str) -> bool:
    """Whether what was asked for is a folder: one that is there, or a name without an ending."""
    return os.path.isdir(output) or output.endswith("/") or (not Path(output).suffix and output != "-")
