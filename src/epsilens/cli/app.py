"""The command line: ``epsilens explain | choose | assess | init | serve | scan | ledger | …``.

Each command is a function in :mod:`epsilens.cli`, registered below by one line; what they share, and how to add
one, is in :mod:`epsilens.cli.common`; the exit codes are those of :class:`epsilens.catalogue.commands.Exit`.
Nothing here imports numpy: commands import the library when they run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from .. import __version__
from ..catalogue.commands import COMMANDS
from .attacks import difference, identify, tamper
from .audits import audit
from .common import emit, run
from .ledger import LEDGER, ledger
from .literature import notions, reproduce
from .many import compare
from .mechanisms import choose, explain
from .options import Commands, Grouped, command
from .plans import assess, init
from .releases import release
from .serve import serve
from .tables import correlate, scan

#: In the order of help, under their headings. Those the catalogue declares options for take what was said; the others
#: spell theirs out.
_COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    "Noise and what it means": (explain, choose, compare),
    "A table and its release": (init, scan, assess, release, audit, correlate),
    "One attack": (difference, tamper, identify),
    "More": (notions, reproduce, serve),
}
_EXITS = (
    "Exit codes: 0 fine, 1 a fault of epsilens, 2 bad input, 3 nothing satisfies the limit, 4 a limit is exceeded or a "
    "claim is broken, 5 what was made, and may be spent, could not be written, 129, 130 and 143 stopped."
)


def make_app() -> typer.Typer:
    """The command line, with the options of whatever the catalogue holds now."""
    made = typer.Typer(
        name="epsilens",
        cls=Commands,
        epilog=_EXITS,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # plain help: fast, and readable at any width and in any encoding
    )
    for panel, functions in _COMMANDS.items():
        for function in functions:
            name = function.__name__
            called = command(name, function) if name in COMMANDS else function
            made.command(name, cls=Grouped, rich_help_panel=panel)(called)
    kept = typer.Typer(cls=Commands, rich_markup_mode=None)
    for word, function in LEDGER.items():
        kept.command(word, cls=Grouped)(command(f"ledger-{word}", function))
    kept.callback(invoke_without_command=True)(ledger)
    made.add_typer(kept, name="ledger", rich_help_panel="A table and its release")
    made.callback(invoke_without_command=True)(_epsilens)
    return made


def _epsilens(
    ctx: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    """See ε through the adversary's eyes: what an attacker learns from a differentially private release."""
    if version:
        emit(f"epsilens {__version__}", None)
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        emit(ctx.get_help(), None)


app = make_app()


def main() -> None:
    """Run the command line and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # help has Greek letters: a terminal without them shows a question mark
            stream.reconfigure(errors="replace")
    sys.exit(run(typer.main.get_command(app)))


if __name__ == "__main__":
    main()
