"""The icon array: 100 figures, 20 columns of 5, filled column by column so that it reads as a bar."""

from __future__ import annotations

import html
import math

from ...numerics.formatting import ceil_count
from .layout import width_of

_COLUMNS, _ROWS = 20, 5
_WIDE, _HIGH = 17.5, 26.0  # 350 wide: fits a phone at its natural size, so that the text never shrinks
_TOP = 22.0  # room for the labels
_WIDTH = _COLUMNS * _WIDE
#: A head and shoulders in a 12 × 20 box.
_PERSON = (
    '<g id="{id}"><circle cx="6" cy="4" r="3.4"/>'
    '<path d="M0.8 19.5v-6.2a4.3 4.3 0 0 1 4.3-4.3h1.8a4.3 4.3 0 0 1 4.3 4.3v6.2z"/></g>'
)


def filled(p: float, baseline: float | None = None) -> int:
    """How many of 100 figures stand for a chance: 0 and 100 only for certainty.

    Beside its ``baseline`` it is rounded up, as the sentences count it, unless it adds less than half a figure.

    >>> filled(0.6931), filled(0.9999), filled(1e-9), filled(1.0)
    (69, 99, 1, 100)
    >>> filled(0.6931, 0.5), filled(0.5002, 0.5), filled(0.55, 0.5)
    (70, 50, 55)
    """
    nearest = math.floor(100 * p + 0.5)
    if baseline is not None and nearest > filled(baseline):
        nearest = int(ceil_count(100 * p))
    return nearest if p in (0, 1) else min(max(nearest, 1), 99)


def array(title: str, baseline: float, value: float | None = None, *, key: str = "person") -> str:
    """A figure: a title, then the array with its labels; ``value`` adds to the baseline in the colour of risk.

    ``title`` is HTML; ``key`` names the figure's symbol, and must differ between figures of one page.
    """
    return f'<figure class="icons"><figcaption>{title}</figcaption>{icons(baseline, value, key=key)}</figure>'


def icons(baseline: float, value: float | None = None, limit: float | None = None, *, key: str = "person") -> str:
    """The array as inline SVG: baseline grey, added in colour, the rest hollow, a dashed step at the limit."""
    base = filled(baseline)
    right = base if value is None else max(filled(value, baseline), base)
    added, wrong = right - base, 100 - right
    people = []
    for i in range(100):
        column, row = divmod(i, _ROWS)
        role = "base" if i < base else "added" if i < right else "rest"
        x, y = column * _WIDE + (_WIDE - 12) / 2, _TOP + 6 + row * _HIGH
        people.append(f'<use href="#{key}" class="{role}" x="{x:g}" y="{y:g}"/>')
    labels = _labels(base, added, wrong, value is not None)
    said = f"{base} of 100 right without the release"
    if value is not None:
        said += f", {added} more with it, {wrong} wrong"
    height, step = _TOP + _ROWS * _HIGH + 4, ""
    if limit is not None:
        said += f", the limit is {filled(limit)}"
        height, step = height + 20, _limit(filled(limit))
    return (
        f'<svg class="people" role="img" aria-label="{html.escape(said)}" viewBox="0 0 {_WIDTH:g} {height:g}" '
        f'width="{_WIDTH:g}" height="{height:g}" xmlns="http://www.w3.org/2000/svg">'
        f"<defs>{_PERSON.format(id=key)}</defs>{labels}{''.join(people)}{step}</svg>"
    )


def _limit(people: int) -> str:
    """A dashed step after that many figures, labelled beneath."""
    columns, rest = divmod(people, _ROWS)
    x, top, end = columns * _WIDE, _TOP + 2, _TOP + _ROWS * _HIGH + 4
    turn = _TOP + 2 + rest * _HIGH
    path = f"M{x:g} {top:g}V{end:g}" if not rest else f"M{x + _WIDE:g} {top:g}V{turn:g}H{x:g}V{end:g}"
    middle = min(max(x, 32), _WIDTH - 32)
    return (
        f'<path class="limit" d="{path}"/>'
        f'<text x="{middle:g}" y="{end + 16:g}" text-anchor="middle" class="limit">limit {people}</text>'
    )


def _labels(base: int, added: int, wrong: int, with_release: bool) -> str:
    """Labels above the runs they count. Left, right and middle stay apart because the middle is pushed between them."""

    def text(x: float, anchor: str, role: str, words: str) -> str:
        return f'<text x="{x:g}" y="15" text-anchor="{anchor}" class="{role}">{words}</text>'

    left = f"{base} without it" if with_release else f"{base} right"
    out = [text(0, "start", "note", left)]
    end = f"{wrong} wrong"
    if wrong:
        out.append(text(_WIDTH, "end", "note", end))
    if added:
        more = f"{added} more with it"
        middle = (base + added / 2) / 100 * _WIDTH
        half, gap = width_of(more, 600) / 2, 10.0
        low = width_of(left) + gap + half
        high = _WIDTH - (width_of(end) + gap if wrong else 0) - half
        out.append(text(min(max(middle, low), high), "middle", "risk", more))
    return "".join(out)
