"""Isolation by its definition, in Python sets: slow, obvious, and independent of the library."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from typing import Any


def isolated_by(rows: list[dict[str, Any]], columns: tuple[str, ...], who: str | None) -> set[Any]:
    """The people some combination of the columns' values belongs to alone."""
    holders: dict[tuple[Any, ...], set[Any]] = defaultdict(set)
    for i, row in enumerate(rows):
        key = tuple(None if row[c] != row[c] else row[c] for c in columns)
        holders[key].add(i if who is None else row[who])
    return {next(iter(people)) for people in holders.values() if len(people) == 1}


def isolation(rows: list[dict[str, Any]], columns: list[str], who: str | None) -> dict[tuple[str, ...], set[Any]]:
    return {
        subset: isolated_by(rows, subset, who)
        for size in range(1, len(columns) + 1)
        for subset in combinations(columns, size)
    }


def reachable(rows: list[dict[str, Any]], columns: tuple[str, ...], who: str | None, least: int) -> set[Any]:
    """The isolated people whom two permitted questions single out, by trying every pair of questions.

    A question is about the rows that agree with the person on some of the columns (or none); the second leaves out
    those that agree on all. Both must cover ``least`` people other than the target; with 1, one may ask directly.
    """
    found = set()
    for person in isolated_by(rows, columns, who):
        own = [(i, r) for i, r in enumerate(rows) if (i if who is None else r[who]) == person]
        if least <= 1:
            found.add(person)
            continue
        for _, row in own:
            if person not in isolated_by(rows, columns, who):
                continue
            for size in range(len(columns)):
                for fewer in combinations(columns, size):
                    others = {
                        i if who is None else r[who] for i, r in enumerate(rows) if all(r[c] == row[c] for c in fewer)
                    } - {person}
                    if len(others) >= least:
                        found.add(person)
    return found
