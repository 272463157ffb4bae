"""The page that leads from the papers' words to ours names only what exists, and the list of items is whole."""

from __future__ import annotations

import re
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

import epsilens as el

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
    inside = set(re.findall(r"`(epsilens\.papers[a-z0-9_.]*)", TERMS))
    assert len(inside) > 8
    for dotted in inside:
        _found(dotted)


def test_every_command_it_names_exists() -> None:
    import typer

    from epsilens.cli.app import app

    known = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    for name in re.findall(r"`epsilens ([a-z]+)", TERMS):
        assert name in known
