"""Lines and their hashes."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

import epsilens as el
from epsilens.ledger.store import EntryKind, LedgerEntry, canonical_json


def test_the_hash_is_over_the_whole_line() -> None:
    line = LedgerEntry("patients", EntryKind.ADDED, "1", {"b": 1, "a": 0.1}, "before")
    said = '["patients","added","1","{\\"a\\":0.1,\\"b\\":1}","before"]'
    assert line.hash == hashlib.sha256(said.encode()).hexdigest()
    others = (
        LedgerEntry("doctors", EntryKind.ADDED, "1", {"b": 1, "a": 0.1}, "before"),
        LedgerEntry("patients", EntryKind.VOID, "1", {"b": 1, "a": 0.1}, "before"),
        LedgerEntry("patients", EntryKind.ADDED, "2", {"b": 1, "a": 0.1}, "before"),
        LedgerEntry("patients", EntryKind.ADDED, "1", {"b": 1, "a": 0.2}, "before"),
        LedgerEntry("patients", EntryKind.ADDED, "1", {"b": 1, "a": 0.1}, "another"),
    )
    assert line.hash not in {other.hash for other in others}


def test_json_is_the_same_for_equal_values() -> None:
    assert canonical_json({"β": [1, None], "a": "é"}) == '{"a":"é","β":[1,null]}'
    assert canonical_json((1, 2)) == canonical_json([1, 2])


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), {1, 2}, b"x", object(), {(1, 2): 3}])
def test_what_cannot_be_written(bad: Any) -> None:
    with pytest.raises(el.InputError, match="words, finite numbers"):
        canonical_json({"a": bad})
