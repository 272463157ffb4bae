"""Somebody else's pipeline held against a claim, on two given inputs or on pairs made from a table.

A command is given the path of a table and of the file it writes its release into; a function,
``package.module:function``, the path of a table, or what the two inputs say in JSON.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import InputError
from .audit import Progress, Unbegun, audit_source
from .claims import Claim
from .commands import CommandSource, words_of
from .game import Source, differing
from .pairs import Kind
from .recorded import Record, Recorded
from .result import Stopped
from .said import claim_said
from .several import Audits, Named, shared_confidence
from .tables import KINDS, pairs_from, written
from .workers import WorkerSource

#: The pair of two inputs that were given.
GIVEN = "given"


@dataclass(frozen=True)
class _Inputs:
    pair: str
    first: Any
    second: Any


def audit_outside(
    what: str,
    *,
    claim: Any,
    command: bool = False,
    d0: str | None = None,
    d1: str | None = None,
    table: str | None = None,
    person: str | None = None,
    pairs: tuple[str, ...] | None = None,
    confidence: float = 0.95,
    runs: int = 1000,
    sequential: bool = True,
    timeout: float = 300.0,
    jobs: int | None = None,
    resume: str | os.PathLike[str] | None = None,
    seed: int | None = None,
    progress: Callable[[str, Progress], Any] | None = None,
) -> Audits:
    """Does a command, or a function by its name, keep a claim?

    ``d0`` and ``d1`` are two neighbouring inputs: files, or for a function JSON. ``table`` makes pairs instead: the
    most exposed person of it is left out, or placed where pipelines fail; ``person`` is the column that says whose row
    it is. ``runs`` are the most on each pair, ``timeout`` the seconds of one run, ``jobs`` how many run at a time.
    ``resume`` names a file that keeps the outcomes: an audit that was interrupted goes on from it.
    """
    said: Claim = claim_said(claim)
    if command:
        words_of(what)  # a command that cannot run is refused before a table is read
    about = {"what": what, "command": command, "d0": d0, "d1": d1, "table": table, "person": person}
    with _inputs(d0, d1, table, person, pairs, command) as inputs:
        level = shared_confidence(confidence, len(inputs))
        record = None if resume is None else Record(resume, about, seed)
        coins = seed if record is None else record.seed
        found: list[Named] = []
        try:
            for i, one in enumerate(inputs):
                try:
                    with _source(what, one, command, timeout, jobs) as source:
                        drawn = source if record is None else Recorded(source, record, one.pair)
                        audit = audit_source(
                            drawn, claim=said, confidence=level, runs=runs, sequential=sequential,
                            seed=None if coins is None else coins + i,
                            progress=False if progress is None else partial(progress, one.pair), pair=_told(one),
                        )  # fmt: skip
                except Unbegun:  # an interrupt keeps the pairs before it
                    if not found:
                        raise
                    break
                found.append(Named(one.pair, audit))
                if audit.stopped is Stopped.INTERRUPTED:
                    break
        finally:
            if record is not None:
                record.close()
        title = what if len(what) <= 60 else f"{what[:59]}…"
        return Audits(title, said, confidence, tuple(found), len(inputs) - len(found))


def _told(one: _Inputs) -> tuple[str, str]:
    if one.pair != GIVEN:
        return "the table without the person", f"the table with the person ({one.pair})"
    return "d0", "d1"


@contextmanager
def _source(what: str, one: _Inputs, command: bool, timeout: float, jobs: int | None) -> Iterator[Source]:
    if command:
        yield CommandSource(what, one.first, one.second, timeout, jobs)
        return
    workers = WorkerSource(what, one.first, one.second, timeout, jobs)
    try:
        yield workers
    finally:
        workers.close()


@contextmanager
def _inputs(
    d0: str | None, d1: str | None, table: str | None, person: str | None, pairs: tuple[str, ...] | None, command: bool
) -> Iterator[list[_Inputs]]:
    """Two inputs that are given, or the pairs of a table as files that are gone afterwards."""
    if table is None:
        if d0 is None or d1 is None:
            raise InputError("the inputs are missing: give d0 and d1, or a table to make them from", parameter="d0")
        if person is not None or pairs is not None:
            raise InputError("person and pair are for a table that pairs are made from: give table", parameter="table")
        first, second = (_given(name, text, command) for name, text in (("d0", d0), ("d1", d1)))
        differing(first, second)
        yield [_Inputs(GIVEN, first, second)]
        return
    if d0 is not None or d1 is not None:
        raise InputError("d0 or d1 and table are both given: give two inputs, or a table", parameter="table")
    kinds = _kinds(pairs)
    ending = ".parquet" if Path(table).suffix.lower() in (".parquet", ".pq") else ".csv"
    with tempfile.TemporaryDirectory(prefix="epsilens-") as folder:
        made = []
        for i, pair in enumerate(pairs_from(table, person, kinds)):
            files = [written(t, Path(folder) / f"{i}{j}{ending}") for j, t in enumerate((pair.first, pair.second))]
            made.append(_Inputs(pair.kind.value, *files))
        if not made:
            raise InputError("pair has none that applies to the table: give others, or leave it out", parameter="pair")
        yield made


def _kinds(pairs: tuple[str, ...] | None) -> tuple[Kind, ...]:
    if pairs is None:
        return KINDS
    known = {kind.value: kind for kind in KINDS}
    for name in pairs:
        if name not in known:
            raise InputError(f"pair is {name[:40]!r}: give some of {', '.join(known)}", parameter="pair")
    return tuple(known[name] for name in pairs)


def _given(name: str, text: str, command: bool) -> Any:
    """A file by its path; for a function also a value in JSON."""
    if os.path.isfile(text):
        return Path(text).resolve()
    if not command:
        try:
            return json.loads(text)
        except ValueError:
            pass
    allowed = "a file" if command else "a file, or a value in JSON"
    raise InputError(f"{name} is {text[:60]!r}: give {allowed}", parameter=name)
