"""How wide words are: the advance widths of Source Sans 3, read from its files by ``scripts/fonts.py``."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

__all__ = ["SIZE", "shortened", "width_of", "wrapped"]

#: Every word of a chart, in pixels.
SIZE = 15
#: What a character that the font lacks is taken for: as wide as any.
_UNKNOWN = 1000
_SIGNS = ("=", "<", ">", "<=", ">=", "<>", "!=", "≤", "≥", "≠")


@cache
def _widths(weight: int) -> dict[str, int]:
    path = files("epsilens.show").joinpath("assets", "letter-widths.json")
    table: dict[str, dict[str, int]] = json.loads(path.read_text(encoding="utf-8"))
    return table[str(weight)]


def width_of(words: str, weight: int = 400, size: float = SIZE) -> float:
    """How wide words are in pixels, at a weight of 400 or 600.

    >>> width_of("0.01"), width_of("0.01", 600) > width_of("0.01")
    (26.1, True)
    """
    table = _widths(weight)
    return sum([table.get(letter, _UNKNOWN) for letter in words]) * size / 1000


def shortened(words: str, room: float, weight: int = 400) -> str:
    """As many of the words as the room holds, with an ellipsis where some are left out.

    >>> shortened("Count where age > 60", 200), shortened("Count where age > 60", 110)
    ('Count where age > 60', 'Count where…')
    """
    if width_of(words, weight) <= room:
        return words
    while words and width_of(words + "…", weight) > room:
        words = words[:-1]
    whole = words.rpartition(" ")[0]
    return (whole if len(whole) > len(words) / 2 else words).rstrip(" ,;:·=<>") + "…"


def wrapped(words: str, room: float, weight: int = 400, most: int = 3) -> list[str]:
    """A label in at most so many lines that fit the room; one too long ends in an ellipsis.

    >>> wrapped("Differencing, one answer known", 94)
    ['Differencing,', 'one answer', 'known']
    """
    lines: list[str] = []
    for word in _unbroken(words.split(), room, weight):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer, weight) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > most:
        lines[most - 1 :] = [" ".join(lines[most - 1 :])]
    return [shortened(line, room, weight) for line in lines] or [""]


def _unbroken(words: list[str], room: float, weight: int) -> list[str]:
    """Words, a comparison such as ``age > 60`` taken for one where the room holds it."""
    out: list[str] = []
    for word in words:
        whole = " ".join((*out[-2:], word))
        if len(out) > 1 and out[-1] in _SIGNS and width_of(whole, weight) <= room:
            out[-2:] = [whole]
        else:
            out.append(word)
    return out
