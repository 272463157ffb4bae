"""The examples of a page of docs/: Python blocks run, commands print what is shown, options exist.

    python -m scripts.examples [PAGE …]

The tests run them page by page, and ``make docs`` runs them all before it builds the site.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from epsilens.cli.app import app
from epsilens.cli.console import run

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def _blocks(text: str, language: str) -> list[str]:
    """What stands in the fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def python_that_fails(page: Path) -> list[str]:
    """Sessions (``>>>``) whose output differs, and plain blocks that raise."""
    text, told = page.read_text("utf-8"), io.StringIO()
    found = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(found, out=told.write)
    problems = [told.getvalue()] if told.getvalue() else []
    plain: dict[str, Any] = {}
    for block in _blocks(text, "python"):
        if ">>>" in block:
            continue
        try:
            exec(compile(block, page.name, "exec"), plain)
        except Exception as error:  # whatever it is, the page is wrong
            problems.append(f"{page.name}: {block.splitlines()[0]}: {type(error).__name__}: {error}")
    return problems


def commands_that_differ(page: Path) -> list[str]:
    """Commands that print something else than is shown; a last line "…" says that there is more."""
    problems = []
    for command, shown in re.findall(r"```console\n\$ epsilens ([^\n]*)\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        told = io.StringIO()
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
            run(typer.main.get_command(app), shlex.split(command))
        written = told.getvalue()
        fits = written.startswith(shown.removesuffix("…\n")) if shown.endswith("…\n") else written == shown
        if not fits:
            problems.append(
                f"{page.name}: epsilens {command}\nshown:\n{shown}\nprinted:\n{written[: len(shown) + 200]}"
            )
    return problems


def _lines(text: str) -> Iterator[list[str]]:
    """The calls of epsilens in shell blocks, as words."""
    for block in _blocks(text, "sh"):
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["epsilens"]:
                yield words[1:]


def commands_not_understood(page: Path) -> list[str]:
    """Commands in shell blocks, which are not run, that name a command or an option that is not there."""
    problems = []
    for words in _lines(page.read_text("utf-8")):
        command: Any = typer.main.get_command(app)
        rest = list(words)
        while rest and rest[0] in getattr(command, "commands", {}):
            command = command.commands[rest.pop(0)]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        wrong = [word for word in rest if word.startswith("--") and word.split("=")[0] not in known]
        if hasattr(command, "commands"):
            wrong.append("no such command")
        if wrong:
            problems.append(f"{page.name}: epsilens {' '.join(words)}: {', '.join(wrong)}")
    return problems


def check(pages: list[Path]) -> list[str]:
    """Everything that is wrong with the examples of these pages."""
    os.chdir(ROOT)
    os.environ["COLUMNS"] = "80"
    problems = []
    for page in pages:
        problems += [*python_that_fails(page), *commands_that_differ(page), *commands_not_understood(page)]
    return problems


def main() -> int:
    """Say what is wrong, and whether anything is."""
    problems = check(
        [Path(name).resolve() for name in sys.argv[1:]] or [*sorted(DOCS.glob("*.md")), ROOT / "README.md"]
    )
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
