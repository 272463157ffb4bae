"""A table on paper: as many columns as fit, words broken inside their cells, its head again on every page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .flow import Flow, Piece, broken, line_height

_GAP = 14  # between columns
_AROUND = 0.4  # above and below the words of a row, as a share of their size
_NARROWEST = 64
#: Where the limit stands in a bar, as a share of its width.
_LIMIT_AT = 0.42
_BAR = 90


@dataclass(frozen=True)
class Entry:
    """A cell: paragraphs of pieces, or the length of a bar, 1 at its limit."""

    paragraphs: tuple[tuple[Piece, ...], ...]
    share: float | None = None
    over: bool = False


@dataclass(frozen=True)
class TableColumn:
    """A column: its head, whether its words may be broken, and whether numbers stand to the right."""

    head: str
    wraps: bool = False
    right: bool = False
    bar: bool = False


def table(
    flow: Flow,
    columns: Sequence[TableColumn],
    rows: Sequence[Sequence[Entry] | str],
    colours: dict[str, str],
    size: float,
) -> None:
    """Rows under their heads; a row that is text is the title of those after it."""
    scaled = size * flow.scale
    widths = _widths(flow, columns, [row for row in rows if not isinstance(row, str)], scaled)
    heads = [Entry(((Piece(c.head, colours["secondary"]),),)) for c in columns]

    def head() -> None:
        if any(c.head for c in columns):
            _row(flow, columns, heads, widths, scaled * 0.93, colours)
            flow.rule(colours["axis"])

    first = [row for row in rows[:2] if not isinstance(row, str)]
    flow.need(line_height(scaled) * 3 + sum(_high(row, widths, scaled) for row in first[:1]))
    head()
    for i, row in enumerate(rows):
        title = isinstance(row, str)
        after = rows[i + 1] if title and i + 1 < len(rows) else None
        high = 2.2 * line_height(scaled) if isinstance(row, str) else _high(row, widths, scaled)
        if after is not None and not isinstance(after, str):
            high += _high(after, widths, scaled)  # a title stays with its first row
        if flow.y + high > flow.bottom and not flow.fresh:
            flow.turn()
            head()
        if isinstance(row, str):
            flow.y += 6 * flow.scale
            flow.words([Piece(row, colours["ink"], 600)], size)
            flow.rule(colours["hairline"])
            continue
        _row(flow, columns, row, widths, scaled, colours)
        flow.rule(colours["hairline"])


def _natural(entry: Entry, size: float) -> float:
    return max((sum(w for _, w in line) for p in entry.paragraphs for line in broken(p, size, 1e9)), default=0.0)


def _longest_word(entry: Entry, size: float) -> float:
    words = (p._replace(text=w) for some in entry.paragraphs for p in some for w in p.text.split())
    return max((sum(w for _, w in broken([one], size, 1e9)[0]) for one in words), default=0.0)


def _widths(flow: Flow, columns: Sequence[TableColumn], rows: Sequence[Sequence[Entry]], size: float) -> list[float]:
    """Each column as wide as it would like to be; where that is too much, those that can be broken give way."""
    wanted, least = [], []
    for i, column in enumerate(columns):
        head = Entry(((Piece(column.head, "", 400),),))
        cells = [row[i] for row in rows]
        if column.bar:
            wanted.append(_BAR * flow.scale)
            least.append(_BAR * flow.scale)
            continue
        words = max((_longest_word(e, size) for e in (head, *cells)), default=0.0)
        natural = max((_natural(e, size) for e in cells), default=0.0)
        floor = max(words, 0.0 if column.wraps else natural)
        wanted.append(max(natural, min(_natural(head, size), 130 * flow.scale), words) + 1)
        least.append(max(min(floor, 0.5 * flow.wide), min(_NARROWEST, natural)) + 1)
    room = flow.wide - _GAP * flow.scale * (len(columns) - 1)
    if sum(wanted) <= room:
        # What is left over is room to write, or else goes to the words.
        empty = [i for i, c in enumerate(columns) if not c.bar and not any(_natural(row[i], size) for row in rows)]
        wordy = [i for i, c in enumerate(columns) if c.wraps]
        taking = empty or wordy[:1] or [0]
        spare = (room - sum(wanted)) / len(taking)
        return [w + spare if i in taking else w for i, w in enumerate(wanted)]
    give = [w - low for w, low in zip(wanted, least, strict=True)]
    share = min((sum(wanted) - room) / (sum(give) or 1.0), 1.0)
    made = [w - share * g for w, g in zip(wanted, give, strict=True)]
    return made if sum(made) <= room + 1 else [w * room / sum(made) for w in made]


def _lines(entry: Entry, wide: float, size: float) -> list[tuple[list[tuple[Piece, float]], float]]:
    """Lines of a cell with the size of each: what comes after the first paragraph is smaller."""
    made = []
    for k, paragraph in enumerate(entry.paragraphs):
        own = size if k == 0 else size * 0.9
        made += [(line, own) for line in broken(paragraph, own, wide)]
    return made


def _high(row: Sequence[Entry], widths: Sequence[float], size: float) -> float:
    cells = (sum(line_height(s) for _, s in _lines(e, w, size)) for e, w in zip(row, widths, strict=True))
    return max([line_height(size), *cells]) + 2 * _AROUND * size


def _row(
    flow: Flow, columns: Sequence[TableColumn], row: Sequence[Entry], widths: Sequence[float], size: float,
    colours: dict[str, str],
) -> None:  # fmt: skip
    x, top = flow.left, flow.y + _AROUND * size
    for column, entry, wide in zip(columns, row, widths, strict=True):
        y = top
        if entry.share is not None:
            _bar(flow, entry, x, y, size, colours)
        for line, own in _lines(entry, wide, size):
            back = wide - sum(w for _, w in line) if column.right else 0.0
            flow.at(line, x + max(back, 0.0), y, own)
            y += line_height(own)
        x += wide + _GAP * flow.scale
    flow.y += _high(row, widths, size)


def _bar(flow: Flow, entry: Entry, x: float, top: float, size: float, colours: dict[str, str]) -> None:
    wide, share = _BAR * flow.scale, entry.share or 0.0
    long, at = min(share * _LIMIT_AT, 1.0) * wide, x + _LIMIT_AT * wide
    middle = top + line_height(size) / 2
    colour = colours["risk"] if entry.over else colours["baseline"]
    flow.page.rectangle(x, middle - 5, max(long, 0.5), 10, colour)
    if share * _LIMIT_AT > 1:  # longer than there is room for
        flow.page.shape(((x + wide - 4, middle - 9), (x + wide + 6, middle), (x + wide - 4, middle + 9)), colour)
    flow.page.path("M0,-11V11", colours["ink"], 1.5, at=(at, middle))
