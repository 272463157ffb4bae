"""Every command, in this process, with options that are nearly right."""

from __future__ import annotations

import contextlib
import io
import os
import random
import shlex
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import typer

from epsilens.cli.app import make_app
from epsilens.cli.common import run

from .plans import GOOD
from .values import text
from .watched import Failed, Tried, watched

__all__ = ["commands"]

#: What waits for connections, runs somebody's code or writes a release has tests of its own.
_ELSEWHERE = {"serve", "audit", "release", "demo", "reproduce"}
_FINE = {0, 2, 3, 4}
_FILES = {
    "people.csv": "id,age,sex\n1,20,F\n2,30,M\n3,30,F\n", "empty.csv": "", "plan.yaml": GOOD, "odd.yaml": "a: [",
    "esc.csv": "a,\x1b[31mb\u202e\n1,2\n\x1b]0;x\x07,3\n", "wide.csv": ",".join(f"c{i}" for i in range(100)) + "\n",
}  # fmt: skip
_MECHANISMS = ("laplace", "gaussian", "pure", "geometric", "approximate", "randomized-response", "staircase", "lapalce")


def commands(tried: Tried, numbers: Iterator[int], seconds: float) -> None:
    """Try one command line for each number, in a folder of its own."""
    app = typer.main.get_command(make_app())
    known = {name: each for name, each in app.commands.items() if name not in _ELSEWHERE}  # type: ignore[attr-defined]
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for name, content in _FILES.items():
                Path(name).write_text(content, encoding="utf-8", newline="")
            for number in numbers:
                chance = random.Random(f"{tried.seed} {number}")
                arguments = _arguments(chance, known)
                watched(tried, number, shlex.join(map(repr, arguments)), partial(_ran, app, arguments), seconds)
        finally:
            os.chdir(before)


def _arguments(chance: random.Random, known: dict[str, object]) -> list[str]:
    name = chance.choice([*known])
    each = known[name]
    words = [name]
    if hasattr(each, "commands"):
        inner = chance.choice([*each.commands])
        words, each = [*words, inner], each.commands[inner]
    for option in each.params:  # type: ignore[attr-defined]
        if option.param_type_name == "argument":
            if chance.random() < 0.9:
                words.append(_positional(chance, option.name))
        elif chance.random() < 0.15 and option.name not in ("output", "engine", "ledger", "help", "force"):
            words.append(chance.choice(option.opts))
            if not getattr(option, "is_flag", False):
                offered = [*getattr(getattr(option, "type", None), "choices", ())]
                words.append(chance.choice(offered) if offered and chance.random() < 0.7 else text(chance))
    if chance.random() < 0.05:
        words.append(text(chance))
    if "epsilon" in {o.name for o in each.params} and chance.random() < 0.5:  # type: ignore[attr-defined]
        words += ["--epsilon", chance.choice(("1", "0.5", "8"))]
    return words


def _positional(chance: random.Random, name: str) -> str:
    if chance.random() < 0.2:
        return text(chance)
    if "mechanism" in name:
        return chance.choice(_MECHANISMS)
    return chance.choice([*_FILES, "missing.csv", ".", "/dev/null", "epsilens:rand-hie"])


def _ran(app: object, arguments: list[str]) -> None:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(app, arguments)  # type: ignore[arg-type]
    said = err.getvalue()
    if code not in _FINE:
        raise Failed(f"exit code {code}: {said[:200]}")
    if "Traceback" in said or "\x1b" in out.getvalue() + said or "\u202e" in out.getvalue() + said:
        raise Failed(f"a traceback, or a control character: {said[:200]}")
    if code and not out.getvalue() and not said.rstrip("\n").split("\n")[-1].startswith("epsilens: "):
        raise Failed(f"more than a sentence: {said[:200]}")
