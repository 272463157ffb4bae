"""The command line: ``epsilens explain | choose | assess | init | serve | scan | difference | …``.

Each command is a function in :mod:`epsilens.cli`, registered below by one line; what they share, and how to add
one, is in :mod:`epsilens.cli.common`. Exit codes: 0 fine, 2 bad input, 3 no parameter satisfies the limit.
Nothing here imports numpy: commands import the library when they run.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .. import __version__
from .assess import assess
from .choose import choose
from .common import emit, run
from .correlate import correlate
from .difference import difference
from .explain import explain
from .identify import identify
from .init import init
from .notions import notions_command
from .reproduce import reproduce
from .scan import scan
from .serve import serve
from .tamper import tamper

__all__ = ["app", "main"]

app = typer.Typer(
    name="epsilens",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: fast, and readable at any width and in any encoding
)
app.command()(explain)
app.command()(choose)
app.command()(assess)
app.command()(init)
app.command()(serve)
app.command()(scan)
app.command()(difference)
app.command()(tamper)
app.command()(identify)
app.command()(correlate)
app.command("notions")(notions_command)
app.command()(reproduce)


@app.callback(invoke_without_command=True)
def _epsilens(
    ctx: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    """See ε through the adversary's eyes: what an attacker learns from a differentially private release."""
    if version:
        emit(f"epsilens {__version__}", None)
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        emit(ctx.get_help(), None)


def main() -> None:
    """Run the command line and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # help has Greek letters: a terminal without them shows a question mark
            stream.reconfigure(errors="replace")
    sys.exit(run(typer.main.get_command(app)))


if __name__ == "__main__":
    main()
