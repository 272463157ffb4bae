"""What a shell offers when a key is pressed: mechanisms, readings, words, and the columns of the table that is named.

``epsilens --install-completion`` teaches the shell to ask. Completion never fails: where nothing is found, nothing is
offered, and the shell goes on with the names of files.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import typer

from ..catalogue.commands import Option
from ..catalogue.deployments import deployments
from ..catalogue.mechanisms import CLAIMS, MECHANISMS, Entry
from ..catalogue.parameter import flag
from ..catalogue.readings import READINGS
from ..shown import harmless

#: What is offered: the word, and a few words on it.
Offered: TypeAlias = list[tuple[str, str]]
Completer: TypeAlias = Callable[[typer.Context, str], Offered]

#: Options whose value is one column, or several with commas between them.
_COLUMN = ("person", "column", "by", "time", "partition")
_COLUMNS = ("quasi", "columns")
_SEPARATED = frozenset(",;\t|")


def completer(option: Option) -> Completer | None:
    """What completes the value of an option; None where that is for the shell.

    >>> from epsilens.catalogue.commands import options_of
    >>> limit = next(o for o in options_of("choose") if o.name == "at_most")
    >>> completer(limit)(None, "su")
    [('success=', 'right guesses')]
    """
    name, choices = option.name, option.parameter.choices
    if name == "mechanism":
        return lambda ctx, incomplete: _begun(_entries(option), incomplete.lower().replace("_", "-"))
    if name == "settings":
        return lambda ctx, incomplete: _setting(incomplete)
    if name in ("at_most", "limit"):
        return lambda ctx, incomplete: _begun(_limits(), incomplete)
    if name == "parameter":
        return lambda ctx, incomplete: _begun(_parameters(ctx.params), incomplete)
    if choices:
        return lambda ctx, incomplete: _begun(choices.items(), incomplete)
    if name in _COLUMNS:
        return lambda ctx, incomplete: _last(_columns(ctx.params), incomplete)
    if name in _COLUMN and option.parameter.metavar in ("COLUMN", "NAME"):
        return lambda ctx, incomplete: _begun(_columns(ctx.params), incomplete)
    return None


def _begun(offered: Iterable[tuple[str, str]], begun: str) -> Offered:
    return [(word, help) for word, help in offered if word.startswith(begun)]


def _last(offered: Iterable[tuple[str, str]], begun: str) -> Offered:
    """Completions of the last of several words with commas between them, without those that stand before it."""
    before, comma, last = begun.rpartition(",")
    taken = {word.strip() for word in before.split(",")}
    return [(f"{before}{comma}{word}", help) for word, help in _begun(offered, last.strip()) if word not in taken]


def _entries(option: Option) -> Offered:
    claims = "claim" in option.parameter.help
    known: dict[str, Entry] = {**MECHANISMS, **(CLAIMS if claims else {})}
    named = "deployment" in option.parameter.help
    published = [(each.name, each.title) for each in deployments()] if named else []
    return [*((entry.spoken, entry.title) for entry in known.values()), *published]


def _setting(begun: str) -> Offered:
    """``lap`` becomes ``laplace:``, and behind the colon come the parameters."""
    known: dict[str, Entry] = {**MECHANISMS, **CLAIMS}
    name, colon, rest = begun.partition(":")
    if not colon:
        return _begun([(f"{entry.spoken}:", entry.title) for entry in known.values()], begun)
    key = name.lower().replace("-", "_")
    if key not in known:
        return []
    before, comma, last = rest.rpartition(",")
    return [(f"{name}:{before}{comma}{each}=", flag(each)) for each in known[key].takes if each.startswith(last)]


def _limits() -> Offered:
    return [(f"{r.name.replace('_', '-')}=", r.label) for r in READINGS.values() if r.name != "tradeoff"]


def _parameters(params: Mapping[str, Any]) -> Offered:
    key = str(params.get("mechanism") or "").strip().lower().replace("-", "_")
    return [(name, flag(name)) for name in MECHANISMS[key].takes] if key in MECHANISMS else []


def _columns(params: Mapping[str, Any]) -> Offered:
    table = params.get("table")
    return [(name, "") for name in columns_of(table)] if table else []


def columns_of(table: str) -> list[str]:
    """The names of a table's columns; of a CSV file its first line, without opening the rest. None where it fails."""
    with suppress(Exception):  # completion never fails
        path = Path(table)
        if path.suffix.lower() in (".csv", ".tsv", ".txt") and path.is_file():
            with path.open(newline="", encoding="utf-8-sig") as file:
                line = file.readline(1_000_000)
            between = max(_SEPARATED, key=line.count)
            names = next(csv.reader([line], delimiter=between), [])
        else:
            from ..data.tables.open import open_table

            with open_table(table) as opened:
                names = [str(name) for name in opened.table.columns]
        return [name for name in names if name and harmless(name) == name]
    return []
