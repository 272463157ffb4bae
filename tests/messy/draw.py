"""Drawing what people write in tables: names, dates, amounts, postcodes, and the many ways to leave a cell empty."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path

import numpy as np

_FIRST = ["Anna", "Björn", "Chloé", "Dmitri", "Ewa", "Fatima", "Giulia", "Håkon", "Imre", "Jürgen", "Kofi", "Lucía"]
_FIRST += ["Maeve", "Noor", "Oğuz", "Priya", "Rémy", "Søren"]
_LAST = "Abernathy Brzęczyk Castellanos Dunkerley Eskildsen Fitzwilliam Grünwald Hjálmarsson Ivanković Joubert "
_LAST += "Kowalczyk Lindqvist Mbeki Nakamura O'Rourke Papadopoulos Quispe Rasmussen Szabó Thorvald Ulrichsen "
_LAST += "Vasquez Whitcombe Ybarra"
_SAID = "complained of discomfort|was seen by the night team|asked for a second opinion|felt better after resting"
_SAID += "|could not be reached by phone|brought along a letter|left before the end|will be contacted next week"
_WHO = "The lady|The gentleman|A relative|Her neighbour|His employer|The caller|Their carer"
_WHEN = "this morning|on arrival|after lunch|two days ago|as agreed|against advice|without delay"


class Dice:
    """A seeded source of cells."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def pick(self, words: Sequence[str], n: int, p: Sequence[float] | None = None) -> list[str]:
        """``n`` of these words."""
        weights = None if p is None else np.asarray(p) / np.sum(p)
        return [words[i] for i in self.rng.choice(len(words), n, p=weights)]

    def whole(self, low: int, high: int, n: int) -> list[int]:
        """Whole numbers, both ends included."""
        return [int(x) for x in self.rng.integers(low, high + 1, n)]

    def days(self, first: date, last: date, n: int) -> list[date]:
        """Days between two."""
        return [first + timedelta(days=k) for k in self.whole(0, (last - first).days, n)]

    def money(self, scale: float, n: int) -> list[float]:
        """Amounts with cents, most of them near ``scale`` and a few far above it."""
        return [round(float(x), 2) for x in scale * self.rng.lognormal(0.0, 0.8, n)]

    def names(self, n: int) -> list[str]:
        """People's names, no two the same while they last."""
        every = [f"{a} {b}" for a in _FIRST for b in _LAST.split()]
        return [every[i] for i in self.rng.permutation(len(every))[:n]]

    def sayings(self, n: int) -> list[str]:
        """Sentences that somebody typed into a box, few of them twice."""
        parts = [self.pick(words.split("|"), n) for words in (_WHO, _SAID, _WHEN)]
        sizes = self.whole(1, 9999, n)
        return [f"{who} {said} {when}; see file {size}." for who, said, when, size in zip(*parts, sizes, strict=True)]

    def holes(self, cells: Sequence[str], words: Sequence[str], share: float) -> list[str]:
        """The same cells with a share of them left empty, in one word or another."""
        out = self.rng.random(len(cells)) < share
        instead = self.pick(words, len(cells))
        return [w if o else c for c, w, o in zip(cells, instead, out, strict=True)]

    def repeated(self, people: int, rows: int) -> list[int]:
        """Whose row it is: everybody once, the others by lot, in no order."""
        whose = np.concatenate([np.arange(people), self.rng.integers(0, people, rows - people)])
        return [int(i) for i in self.rng.permutation(whose)]


def spelled(dice: Dice, cells: Sequence[str]) -> list[str]:
    """The same words in other capitals, with blanks before or after some."""
    ways = dice.whole(0, 9, len(cells))
    made = []
    for cell, way in zip(cells, ways, strict=True):
        made.append({0: cell.upper(), 1: cell.lower(), 2: cell + " ", 3: " " + cell}.get(way, cell))
    return made


def write_csv(
    path: Path,
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    delimiter: str = ",",
    encoding: str = "utf-8",
    before: str = "",
) -> Path:
    """A text file as programs export it; ``before`` are lines above the header."""
    with path.open("w", encoding=encoding, newline="") as file:
        file.write(before)
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\r\n")
        writer.writerow(header)
        writer.writerows(rows)
    return path
