"""Every command, in this process, with words that are nearly right, each in a folder of its own."""

from __future__ import annotations

import contextlib
import io
import os
import random
import shlex
import shutil
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import typer
from scripts import demo

import epsilens as el
from epsilens.cli.app import make_app
from epsilens.cli.console import run

from .lines import FILES, PASSWORD, line
from .watched import Failed, Tried, watched

_FINE = {0, 2, 3, 4}
#: A demo, a paper and an audit take longer than one number does.
_LONGER = {"demo": 3.0, "reproduce": 3.0, "audit": 3.0}


def commands(tried: Tried, numbers: Iterator[int], seconds: float) -> None:
    """Try one command line for each number; a server starts and stops, a browser is not opened."""
    app: Any = typer.main.get_command(make_app())
    known = {name: each for name, each in app.commands.items() if not hasattr(each, "commands")}
    known |= {f"ledger {name}": each for name, each in app.commands["ledger"].commands.items()} | {"demo": None}
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as outer, _no_waiting():
        kept = _kept(Path(outer) / "ledger.db")
        try:
            for number in numbers:
                chance = random.Random(f"{tried.seed} {number}")
                words = line(chance, known)
                call = partial(_said, *((demo.main, words[1:]) if words[0] == "demo" else (partial(run, app), words)))
                with _folder(Path(outer) / "work", kept):
                    watched(tried, number, shlex.join(map(repr, words)), call, seconds * _LONGER.get(words[0], 1.0))
        finally:
            os.chdir(before)


def _kept(path: Path) -> bytes:
    """A ledger with one entry, as it lies on the disk."""
    el.Ledger(path).add("patients", el.laplace(epsilon=0.1), title="before")
    return path.read_bytes()


@contextlib.contextmanager
def _folder(folder: Path, ledger: bytes) -> Iterator[None]:
    folder.mkdir()
    for name, content in FILES.items():
        (folder / name).write_text(content, encoding="utf-8", newline="")
    (folder / "ledger.db").write_bytes(ledger)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(folder.parent)
        shutil.rmtree(folder)


@contextlib.contextmanager
def _no_waiting() -> Iterator[None]:
    """A server stops at its first tick; nothing opens a browser."""
    import uvicorn

    async def over(*_: object) -> bool:
        return True

    with patch.object(uvicorn.Server, "on_tick", over), patch.object(webbrowser, "open", lambda *_: True):
        yield


def _said(program: Callable[[list[str]], int], words: list[str]) -> None:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = program(words)
    said, all_of_it = err.getvalue(), out.getvalue() + err.getvalue()
    if code not in _FINE:
        raise Failed(f"exit code {code}: {said[:200]}")
    if "Traceback" in said or "\x1b" in all_of_it or "\u202e" in all_of_it:
        raise Failed(f"a traceback, or a control character: {said[:200]}")
    if PASSWORD in all_of_it:
        raise Failed(f"a password: {all_of_it[:200]}")
    last = said.rstrip("\n").split("\n")[-1]
    if code and (said or code == 2) and not out.getvalue() and not last.startswith("epsilens: "):
        raise Failed(f"more than a sentence: {said[:200]}")
