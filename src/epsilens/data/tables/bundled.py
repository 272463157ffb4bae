"""The tables that come with epsilens: real people's records, free to redistribute.

``epsilens:rand-hie`` is the RAND Health Insurance Experiment (public domain), ``epsilens:adult`` is UCI Adult
(CC BY 4.0). Each Parquet file has a JSON sidecar with its provenance, licence, column descriptions, row count
and SHA-256; ``scripts/build_*.py`` rebuild both from the packages they come from.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ...errors import InputError

__all__ = ["PREFIX", "Dataset", "bundled", "names"]

PREFIX = "epsilens:"
FILES = Path(__file__).parents[1] / "files"


@dataclass(frozen=True)
class Dataset:
    """One bundled table: where it lies and what is known about it."""

    name: str
    path: Path
    title: str
    rows: int
    people: int
    person: str | None
    licence: str
    licence_text: str
    attribution: str
    origin: str
    sha256: str
    columns: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Everything but the path, which differs between machines."""
        return {k: v for k, v in vars(self).items() if k != "path"}


def names() -> list[str]:
    """The names of the bundled tables.

    >>> names()
    ['epsilens:adult', 'epsilens:rand-hie']
    """
    return sorted(PREFIX + path.stem for path in FILES.glob("*.json"))


def bundled(name: str) -> Dataset:
    """The bundled table of that name.

    >>> bundled("epsilens:rand-hie").rows
    20190
    >>> bundled("epsilens:rand")
    Traceback (most recent call last):
    epsilens.errors.InputError: table is 'epsilens:rand': give one of 'epsilens:adult', 'epsilens:rand-hie' (did you mean 'epsilens:rand-hie'?)
    """  # noqa: E501 - the message is one sentence, on one line
    known = names()
    if name not in known:
        close = get_close_matches(name, known, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise InputError(f"table is {name!r}: give one of {', '.join(map(repr, known))}{hint}", parameter="table")
    path = FILES / f"{name.removeprefix(PREFIX)}.parquet"
    about = json.loads(path.with_suffix(".json").read_text("utf-8"))
    del about["built_by"]
    return Dataset(path=path, **about)
