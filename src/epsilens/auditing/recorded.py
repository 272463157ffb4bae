"""Outcomes kept in a file, so that an audit that was interrupted goes on where it stopped.

The file is JSON lines: first what is audited and the seed of the coins, then a line for each run with its pair, its
coin and its outcome. An audit with the same seed tosses the same coins, so what is there is read instead of run again;
a file of another audit is refused.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from ..errors import InputError
from .calls import Late, Raised, Unreadable
from .entries import inside, number_of, portable, words_of
from .game import Bits, Source


def _told(outcome: Any) -> dict[str, Any]:
    match outcome:
        case Raised():
            return {"raised": outcome.kind}
        case Late():
            return {"late": True}
        case Unreadable():
            return {"unreadable": outcome.kind}
    try:
        return {"answer": json.loads(json.dumps(portable(outcome), default=_plainer))}
    except Exception:  # by methods of its own
        return {"unreadable": type(outcome).__name__}


def _plainer(value: Any) -> Any:
    """What JSON has no word for: arrays as lists, numbers as doubles, anything else by its words."""
    number = number_of(value)
    if number is not None:
        return number
    made = inside(value)
    if isinstance(made, np.ndarray):
        return made.tolist()
    return words_of(value) if made is value else made


def _untold(said: Mapping[str, Any]) -> Any:
    if "raised" in said:
        return Raised(str(said["raised"]))
    if "unreadable" in said:
        return Unreadable(str(said["unreadable"]))
    return Late() if said.get("late") else said["answer"]


class Record:
    """The file; ``about`` says what is audited, and must be what it was when the file was begun."""

    def __init__(self, path: str | os.PathLike[str], about: Mapping[str, Any], seed: int | None = None) -> None:
        self.path = Path(path)
        self.past: dict[str, list[tuple[bool, Any]]] = {}
        lines: list[Any] = []
        try:
            text = self.path.read_text("utf-8") if self.path.exists() else ""
            whole = text[: text.rfind("\n") + 1]  # a line that was cut off by an interrupt is run again
            lines = [json.loads(line) for line in whole.split("\n")[:-1]]
            head = dict(lines[0]["audit"]) if lines else {}
            self.seed = int(head.pop("seed")) if lines else secrets.randbits(48) if seed is None else seed
            for line in lines[1:]:
                self.past.setdefault(str(line["pair"]), []).append((bool(line["coin"]), _untold(line)))
        except (OSError, UnicodeDecodeError):
            raise InputError(f"resume is {str(path)[:80]!r}, which cannot be read", parameter="resume") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise self._other() from None
        if lines and (head != json.loads(json.dumps(dict(about))) or seed not in (None, self.seed)):
            raise self._other()
        try:
            if lines and len(whole) < len(text):
                os.truncate(self.path, len(whole.encode()))
            self._file: TextIO = self.path.open("a" if lines else "w", encoding="utf-8")
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "it cannot be written"
            raise InputError(
                f"resume is {str(path)[:80]!r}: {why}, so give a file that can be written",
                parameter="resume",
            ) from None
        if not lines:
            self._write({"audit": {**about, "seed": self.seed}})

    def _other(self) -> InputError:
        return InputError(
            f"resume is {str(self.path)[:80]!r}, which holds no runs of this audit: give the file it was begun with, "
            "or a new name",
            parameter="resume",
        )

    def add(self, pair: str, coin: bool, outcome: Any) -> None:
        """One more run."""
        self._write({"pair": pair, "coin": int(coin), **_told(outcome)})

    def _write(self, line: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def close(self) -> None:
        """All is written."""
        self._file.close()

    def other(self) -> InputError:
        """What is said where the coins are not those of the file."""
        return self._other()


@dataclass
class Recorded:
    """A source whose outcomes are read from a record as far as it goes, and written into it from there on."""

    source: Source
    record: Record
    pair: str
    _at: int = field(default=0, init=False)

    @property
    def width(self) -> int:
        """That of the source."""
        return self.source.width

    @property
    def together(self) -> int:
        """That of the source."""
        return int(getattr(self.source, "together", 1))

    def draw(self, bits: Bits) -> Sequence[Any]:
        """What is there, then what is run."""
        known = self.record.past.get(self.pair, [])[self._at : self._at + bits.size]
        if any(coin != bit for (coin, _), bit in zip(known, bits.tolist(), strict=False)):
            raise self.record.other()
        made = [outcome for _, outcome in known]
        rest = bits[len(made) :]
        step = max(self.together, 1)
        for start in range(0, rest.size, step):
            asked = rest[start : start + step]
            some = list(self.source.draw(asked))
            for coin, outcome in zip(asked.tolist(), some, strict=False):
                self.record.add(self.pair, coin, outcome)
                made.append(_untold(_told(outcome)))
            if len(some) < asked.size:
                break
        self._at += len(made)
        return made
