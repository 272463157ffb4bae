"""The page that leads from the papers' words to ours names only what exists, and the list of items is whole."""

from __future__ import annotations

import re
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

import epsilens as el
from epsilens.papers import PAPERS

DOCS = Path(__file__).parents[2] / "docs" / "papers"
TERMS = (DOCS / "terms.md").read_text("utf-8")


def _found(dotted: str) -> Any:
    """A dotted name of the library: the longest module in it, then attributes."""
    parts = dotted.split(".")
    for size in range(len(parts), 0, -1):
        try:
            module = import_module(".".join(parts[:size]))
        except ImportError:
            continue
        return reduce(getattr, parts[size:], module)
    raise AttributeError(dotted)


def test_every_function_it_names_exists() -> None:
    named = set(re.findall(r"`el\.([a-z_]+(?:\.[a-z_]+)*)", TERMS, re.IGNORECASE))
    assert len(named) >= 20
    for dotted in named:
        reduce(getattr, dotted.split("."), el)
    inside = set(re.findall(r"`(epsilens\.papers[A-Za-z0-9_.]*)", TERMS))
    assert len(inside) > 8
    for dotted in inside:
        _found(dotted)


def test_every_reading_it_names_exists() -> None:
    things = {"e": el.gaussian(psi=1), "t": el.attacks.tampering(scale=1, bias=1)}
    named = set(re.findall(r"`([et])\.([a-z_]+)", TERMS))
    assert len(named) > 12
    for letter, name in named:
        assert hasattr(things[letter], name), name


def test_every_command_and_option_it_names_exists() -> None:
    import typer

    from epsilens.cli.app import app

    known = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    options = {name: {said for given in command.params for said in given.opts} for name, command in known.items()}
    every = set().union(*options.values())
    rows = [line.strip().strip("|").split("|") for line in TERMS.splitlines() if line.startswith("| ")]
    spans = [span for row in rows for span in re.findall(r"`([^`]+)`", row[-1])]
    assert len(spans) > 70
    for span in spans:
        words = span.removeprefix("epsilens ").split()
        said = [word for word in words if word.startswith("--")]
        if words[0].startswith("--"):
            assert set(said) <= every, span
        else:
            assert words[0] in known, span
            assert set(said) <= options[words[0]], span
            assert words[0] != "reproduce" or words[1:] == [] or words[1] in PAPERS, span
