"""``epsilens identify``: how sure an attacker can become of who is missing from a noisy sum or mean."""

from __future__ import annotations

import shlex
from typing import Any

import typer

from ..catalogue.exits import Exit
from ..catalogue.said import number, numbers, numbers_said, split_limit
from ..errors import InputError
from .common import show
from .options import Said, to_repeat

__all__ = ["identify"]

_USUAL = {"query": "sum", "noise": "laplace"}


def identify(said: Said) -> None:
    """Say how sure an attacker can become of which of n people is missing. Exit code 3: the limit is exceeded.

    For example: epsilens identify --n 120 --range 0,60 --sensitivity 121 --epsilon 5
    """
    given: dict[str, Any] = {"query": said["query"], "noise": said["noise"]}
    given |= numbers_said(said, "epsilon", "delta", "sensitivity")
    if said["at_most"] is not None:
        reading, limit = split_limit(said["at_most"])
        given |= {"reading": reading, "at_most": limit}
    elif said["epsilon"] is None:
        raise InputError(
            "--epsilon is missing: give ε, or --at-most posterior=0.1 to have it chosen", parameter="epsilon"
        )
    from ..attacks.identification import identify as find
    from ..show.explanation import command_line
    from ..show.identification import report

    found = find(**_people(said), **given)
    typed = {k: v for k, v in to_repeat(said, "table").items() if _USUAL.get(k) != v}
    line = command_line("identify", "", typed)
    if said["table"] is not None:
        line = line.replace("identify", f"identify {shlex.quote(said['table'])}", 1)
    show(report(found).with_command(line), said["format"], said["output"])
    if found.exceeded:
        raise typer.Exit(Exit.NO_SOLUTION)


def _people(said: Said) -> dict[str, Any]:
    """The people as the library takes them: the values of a column, or n and a range."""
    table, column, person, n, ends_said = (said[k] for k in ("table", "column", "person", "n", "range"))
    if table is None:
        if column is not None or person is not None:
            alone = "column" if column is not None else "person"
            raise InputError(f"--{alone} is given without a table: give the table it is a column of", parameter=alone)
        if n is None or ends_said is None:
            raise InputError("who the people are is missing: give a table and --column, or --n and --range")
        ends = numbers("--range", ends_said, "range")
        if len(ends) != 2:
            raise InputError(
                f"--range is {ends_said[:40]!r}: give two numbers, the smaller first, such as 0,60", parameter="range"
            )
        return {"n": number("--n", n, "n"), "value_range": tuple(ends)}
    if n is not None or ends_said is not None:
        raise InputError("a table is given with --n or --range: its column says both, so leave them out")
    if column is None:
        raise InputError("--column is missing: name the column with the values", parameter="column")
    from ..data.tables.columns import numbers_of

    return {"values": numbers_of(table, column, person=person)}
