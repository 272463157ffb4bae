"""One line of a ledger: what happened, to which account, and a hash over it and the line before.

Lines are only ever appended. A changed line no longer fits its hash, and a line taken out leaves a gap; that the last
ones were cut off is seen only by those who wrote down the head, which is why every file of answers carries it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from ..errors import InputError

#: Of what is written; a ledger with a later one is not touched.
VERSION = 1


class Kind(StrEnum):
    """What a line says."""

    OPENED = "opened"  # the ledger itself: its key
    LIMIT = "limit"  # what may be spent at most
    RESERVED = "reserved"  # about to be drawn: counts as spent
    PUBLISHED = "published"  # drawn and handed over, with the answers
    WITHHELD = "withheld"  # drawn, never shown: spent all the same
    VOID = "void"  # given back before anything was drawn
    ADDED = "added"  # released by other means


@dataclass(frozen=True)
class Entry:
    """A line. ``people`` is the account: those whom the releases are about, not the table they are in."""

    people: str
    kind: Kind
    release: str
    body: Mapping[str, Any]
    previous: str = ""
    seq: int = field(default=0, compare=False)
    kept: str = field(default="", compare=False)  # the hash that stands in the line

    @cached_property
    def hash(self) -> str:
        """Over everything in the line and the hash of the one before it in the same account."""
        said = [self.people, self.kind.value, self.release, text_of(self.body), self.previous]
        return hashlib.sha256(text_of(said).encode("utf-8", "surrogatepass")).hexdigest()


def text_of(value: Any) -> str:
    """JSON, the same for equal values.

    >>> text_of({"b": 0.1, "a": [1, None]})
    '{"a":[1,null],"b":0.1}'
    """
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise InputError(
            "what is to be written into the ledger is not made of words, finite numbers and lists of them: give such"
        ) from None
