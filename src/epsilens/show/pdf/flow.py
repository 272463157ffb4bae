"""Words that flow over pages of A4: broken into lines, moved to the next page where there is no room.

A measure is in pixels, 96 to the inch, and grows or shrinks with ``scale``, so that a sheet can be made to fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .fonts import font
from .page import Page

_WIDE, _HIGH = 794, 1123  # A4
_FOOT = 40
#: Signs that are drawn, because no font of ours has them.
_SIGNS = ("▲", "☐")
_SIGN = 0.8  # of the size of the letters around it


class Piece(NamedTuple):
    """Words of one weight and colour."""

    text: str
    colour: str
    weight: int = 400


#: Pieces that stand together without a space, with their widths.
_Atom = list[tuple[Piece, float]]


def line_height(size: float) -> float:
    """From one line of letters to the next."""
    return 1.42 * size


def _width(piece: Piece, size: float) -> float:
    return _SIGN * size if piece.text in _SIGNS else font(piece.weight).width(piece.text, size)


def _atoms(pieces: Iterable[Piece], size: float) -> list[_Atom | None]:
    """What no line may break; None is a line's end that was asked for."""
    made: list[_Atom | None] = []
    atom: _Atom = []
    for piece in pieces:
        for k, row in enumerate(piece.text.split("\n")):
            if k:
                made += [atom, None] if atom else [None]
                atom = []
            for i, word in enumerate(row.split(" ")):
                if i and atom:
                    made.append(atom)
                    atom = []
                if word:
                    one = piece._replace(text=word)
                    atom.append((one, _width(one, size)))
    return [*made, atom] if atom else made


def _cut(atom: _Atom, wide: float, size: float) -> list[_Atom]:
    """An atom that is longer than a line, in parts that are not."""
    parts: list[_Atom] = [[]]
    room = wide
    for piece, _ in atom:
        for char in piece.text if piece.text not in _SIGNS else [piece.text]:
            one = piece._replace(text=char)
            took = _width(one, size)
            if took > room and parts[-1]:
                parts.append([])
                room = wide
            if parts[-1] and parts[-1][-1][0][1:] == piece[1:]:
                last, before = parts[-1][-1]
                parts[-1][-1] = (last._replace(text=last.text + char), before + took)
            else:
                parts[-1].append((one, took))
            room -= took
    return parts


def broken(pieces: Iterable[Piece], size: float, wide: float) -> list[_Atom]:
    """Lines no longer than ``wide``, each of pieces with their widths, spaces among them."""
    lines: list[_Atom] = [[]]
    used = 0.0
    for atom in _atoms(pieces, size):
        if atom is None:
            lines.append([])
            used = 0.0
            continue
        for part in [atom] if sum(w for _, w in atom) <= wide else _cut(atom, wide, size):
            took = sum(w for _, w in part)
            space = font(part[0][0].weight).width(" ", size) if lines[-1] else 0.0
            if lines[-1] and used + space + took > wide:
                lines.append([])
                used = space = 0.0
            if space:
                lines[-1].append((part[0][0]._replace(text=" "), space))
            lines[-1] += part
            used += space + took
    return lines


class Flow:
    """Pages that fill from the top; ``y`` is where the next thing stands on the last of them."""

    def __init__(self, *, scale: float = 1.0, margin: float = 64) -> None:
        self.scale, self.left, self.wide = scale, margin, _WIDE - 2 * margin
        self._top, self.bottom = margin * 0.85, _HIGH - margin * 0.6 - _FOOT
        self.pages: list[Page] = []
        self.y = 0.0
        self.turn()

    @property
    def page(self) -> Page:
        """The page that is being filled."""
        return self.pages[-1]

    @property
    def fresh(self) -> bool:
        """Whether nothing stands on it yet."""
        return self.y <= self._top

    def turn(self) -> None:
        """Begin a page."""
        self.pages.append(Page(_WIDE, _HIGH))
        self.y = self._top

    def need(self, high: float) -> None:
        """Turn the page where there is less room than this."""
        if self.y + high > self.bottom and not self.fresh:
            self.turn()

    def down(self, gap: float) -> None:
        """Leave room, except at the top of a page."""
        if not self.fresh:
            self.y += gap * self.scale

    def rule(self, colour: str) -> None:
        """A hairline across."""
        self.page.path(f"M0,0H{self.wide:.1f}", colour, at=(self.left, self.y))

    def words(self, pieces: Sequence[Piece], size: float, *, x: float = 0, wide: float | None = None) -> None:
        """A paragraph, from ``x`` on."""
        size *= self.scale
        for line in broken(pieces, size, (self.wide if wide is None else wide) - (0 if wide is not None else x)):
            self.need(line_height(size))
            self.at(line, self.left + x, self.y, size)
            self.y += line_height(size)

    def at(self, line: _Atom, x: float, top: float, size: float) -> None:
        """A line of words whose height begins at ``top``."""
        base = top + 1.02 * size
        held: Piece | None = None
        start, pen = x, x
        for piece, took in line:
            if piece.text in _SIGNS:
                self._written(held, start, base, size)
                held = None
                self._sign(piece, pen, base, size)
            elif held is not None and held[1:] == piece[1:]:
                held = held._replace(text=held.text + piece.text)
            else:
                self._written(held, start, base, size)
                held, start = piece, pen
            pen += took
        self._written(held, start, base, size)

    def _written(self, piece: Piece | None, x: float, base: float, size: float) -> None:
        if piece is not None and piece.text.strip():
            self.page.text(piece.text, (x, base), piece.colour, size=size, weight=piece.weight)

    def _sign(self, piece: Piece, x: float, base: float, size: float) -> None:
        s = 0.62 * size
        if piece.text == "▲":
            self.page.shape(((x, base), (x + s / 2, base - s), (x + s, base)), piece.colour)
        else:
            self.page.path(f"M0,0H{s:.2f}V{-s:.2f}H0V0", piece.colour, at=(x + 0.5, base))
