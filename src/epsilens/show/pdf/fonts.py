"""The letters a PDF carries: the TrueType files of ours, read as far as a page needs them.

A page names glyphs by their number in the file, so a font has to say which glyph a character has and how far it moves
the pen. The whole file travels with the page: 41 kB a weight, before it is packed.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

#: What stands for a character that no glyph of ours draws.
_UNKNOWN = "?"
#: Signs that our fonts lack, in signs that they have.
_SPELLED = str.maketrans({
    "≤": "<=", "≥": ">=", "≈": "~", "≠": "!=", "√": "sqrt ", "∞": "inf", "∅": "none", "→": "to", "₀": "0", "₁": "1",
    "₂": "2", "\N{NO-BREAK SPACE}": " ", "\N{NARROW NO-BREAK SPACE}": " ", "\N{NON-BREAKING HYPHEN}": "-",
})  # fmt: skip


@dataclass(frozen=True)
class Font:
    """A TrueType file: glyph numbers by character, pen advances by glyph, both in the file's own units."""

    name: str
    raw: bytes
    units: int
    box: tuple[int, int, int, int]
    ascent: int
    descent: int
    glyphs: dict[int, int]
    advances: tuple[int, ...]

    def drawn(self, words: str) -> list[tuple[str, int]]:
        """Each character with its glyph; one we cannot draw is spelled out, or a question mark.

        >>> font(400).drawn("ε1") == [("ε", font(400).glyphs[0x3B5]), ("1", font(400).glyphs[0x31])]
        True
        """
        known = [char if ord(char) in self.glyphs else _UNKNOWN for char in words.translate(_SPELLED)]
        return [(char, self.glyphs[ord(char)]) for char in known]

    def width(self, words: str, size: float) -> float:
        """How far the words move the pen."""
        return sum(self.advances[glyph] for _, glyph in self.drawn(words)) * size / self.units

    def scaled(self, value: int) -> int:
        """A length in thousandths of the font's size, as a PDF counts."""
        return round(value * 1000 / self.units)


@cache
def font(weight: int) -> Font:
    """Our sans serif, 400 or 600."""
    return _read(
        f"EpsilensSans-{weight}", files("epsilens.show").joinpath(f"assets/epsilens-sans-{weight}.ttf").read_bytes()
    )


def _read(name: str, raw: bytes) -> Font:
    tables = {}
    for i in range(struct.unpack_from(">H", raw, 4)[0]):
        tag, _, at, _ = struct.unpack_from(">4sIII", raw, 12 + 16 * i)
        tables[tag.decode()] = at
    head, across = tables["head"], tables["hhea"]
    ascent, descent = struct.unpack_from(">2h", raw, across + 4)
    told = struct.unpack_from(">H", raw, across + 34)[0]
    every = struct.unpack_from(">H", raw, tables["maxp"] + 4)[0]
    moves = [struct.unpack_from(">H", raw, tables["hmtx"] + 4 * i)[0] for i in range(told)]
    return Font(
        name,
        raw,
        struct.unpack_from(">H", raw, head + 18)[0],
        struct.unpack_from(">4h", raw, head + 36),
        ascent,
        descent,
        _characters(raw, tables["cmap"]),
        (*moves, *[moves[-1]] * (every - told)),
    )


def _characters(raw: bytes, start: int) -> dict[int, int]:
    """The table of format 4, which holds every character of the basic plane."""
    for i in range(struct.unpack_from(">H", raw, start + 2)[0]):
        at = start + struct.unpack_from(">I", raw, start + 8 + 8 * i)[0]
        if struct.unpack_from(">H", raw, at)[0] == 4:
            return _segments(raw, at)
    raise ValueError("the font has no table of characters of format 4")


def _segments(raw: bytes, at: int) -> dict[int, int]:
    doubled = struct.unpack_from(">H", raw, at + 6)[0]
    many = doubled // 2
    ends, starts, shifts, offsets = (at + 14, at + 16 + doubled, at + 16 + 2 * doubled, at + 16 + 3 * doubled)
    made = {}
    for i in range(many):
        end, start, shift, offset = (
            struct.unpack_from(">H", raw, where + 2 * i)[0] for where in (ends, starts, shifts, offsets)
        )
        for char in range(start, min(end, 0xFFFE) + 1):
            if offset == 0:
                glyph = (char + shift) % 0x10000
            else:
                glyph = struct.unpack_from(">H", raw, offsets + 2 * i + offset + 2 * (char - start))[0]
                glyph = (glyph + shift) % 0x10000 if glyph else 0
            if glyph:
                made[char] = glyph
    return made
