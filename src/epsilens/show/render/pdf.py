"""Any document as a PDF on A4: what its page shows, in the same order, with its charts as lines and letters.

What a page folds away is open on paper. A sheet is made to fit one page, as long as it can be read then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .. import document as doc
from ..charts.icons import filled
from ..charts.pdf import put, size_of
from ..charts.renderers import LIGHT
from ..pdf.flow import Flow, Piece, broken, line_height
from ..pdf.page import written
from ..pdf.tables import Entry, TableColumn, table
from .text import stated

_INK, _QUIET, _RISK = LIGHT["ink"], LIGHT["secondary"], LIGHT["risk"]
_COLOURS = dict(LIGHT)
_BODY, _SMALL, _LEAD, _HEAD, _SECTION = 14.0, 12.5, 17.0, 27.0, 17.0
_FOOT = 11.0
_INDENT = 18
#: A sheet is set smaller until it fits, down to this.
_LEAST = 0.68
#: The widest a chart is drawn, and how far two stand apart.
_BESIDE = 20
_DOT, _STEP, _ROWS = 4.6, 14.0, 5


def to_pdf(document: doc.Document) -> bytes:
    """The document as a PDF file.

    >>> import epsilens as el
    >>> el.laplace(epsilon=1.0).to_pdf()[:8]
    b'%PDF-1.7'
    """
    flow = _filled(document, 1.0)
    scale = 0.96
    while document.sheet and len(flow.pages) > 1 and scale >= _LEAST:
        flow = _filled(document, scale)
        scale -= 0.04
    for number, page in enumerate(flow.pages, 1):
        told = f"{number} of {len(flow.pages)}" if len(flow.pages) > 1 else ""
        name = f"{document.kind}: {document.title}" if document.title else document.kind
        base = page.high - 36
        page.text(_short(f"{name} · epsilens"), (flow.left, base), _QUIET, size=_FOOT)
        page.text(told, (flow.left + flow.wide - 46, base), _QUIET, size=_FOOT)
    return written(flow.pages, document.tab or document.headline or document.title)


def _short(text: str, most: int = 96) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _filled(document: doc.Document, scale: float) -> Flow:
    writer = _Writer(Flow(scale=scale, margin=52 if document.sheet else 64))
    writer.document(document)
    return writer.flow


def _pieces(said: doc.Said, colour: str = _INK) -> list[Piece]:
    roles = {"": (colour, 400), "strong": (colour, 600), "risk": (_RISK, 600), "number": (colour, 600)}
    return [Piece(_held(span.text) if span.role else span.text, *roles[span.role]) for span in said]


def _held(text: str) -> str:
    """Words that stay on one line: "50 of 100" is never broken."""
    return text.replace(" ", "\N{NO-BREAK SPACE}") if len(text) < 30 else text


def _plain(text: str, colour: str = _INK, weight: int = 400) -> list[Piece]:
    return [Piece(text, colour, weight)]


class _Writer:
    """A document on its way to paper."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow

    def document(self, document: doc.Document) -> None:
        flow = self.flow
        top = " · ".join(filter(None, (document.kind, document.title if document.headline else "", document.aside)))
        flow.words(_plain(top, _QUIET), _SMALL)
        flow.down(4)
        heading = document.headline or document.title
        flow.words(_plain(heading, _INK, 600), _HEAD if len(heading) < 60 else 0.8 * _HEAD)
        flow.down(6)
        self.blocks(document.opening)
        if document.facts:
            flow.down(4)
            self._facts(doc.Facts(document.facts))
        for section in document.sections:
            if doc.Forms.PAGE in section.forms:
                self._section(section)
        if document.footer:
            flow.down(10)
            flow.words(_plain(document.footer, _QUIET), _SMALL)

    def _section(self, section: doc.Section) -> None:
        flow = self.flow
        shown = [b for b in section.blocks if doc.Forms.PAGE in b.forms]
        if not shown:
            return
        flow.down(14)
        flow.need(90 * flow.scale + self._picture(shown[0]))  # a heading never stands without its picture
        if not flow.fresh:
            flow.rule(LIGHT["hairline"])
            flow.down(10)
        if section.heading:
            flow.words(_plain(section.heading, _INK, 600), _SECTION)
        if section.note:
            flow.words(_plain(section.note, _QUIET), _SMALL)
        flow.down(3)
        self.blocks(shown)

    def blocks(self, some: Iterable[doc.Block]) -> None:
        """Blocks one below the other."""
        for k, block in enumerate(b for b in some if doc.Forms.PAGE in b.forms):
            if k:
                self.flow.down(7)
            self._block(block)

    def _block(self, block: doc.Block) -> None:
        flow = self.flow
        match block:
            case doc.Lead():
                for k, paragraph in enumerate(_started(block)):
                    flow.down(5 if k else 0)
                    flow.words(_pieces(paragraph), _LEAD)
            case doc.Status():
                colour = _RISK if block.over else _QUIET
                flow.words(_plain(f"{'▲ ' if block.over else ''}{block.text}", colour, 600), _BODY)
            case doc.Paragraph():
                self._paragraph(block)
            case doc.Notes():
                flow.words(_plain(" ".join(block.items), _QUIET), _SMALL)
            case doc.Items():
                self._items(block)
            case doc.Facts():
                self._facts(block)
            case doc.Code():
                self._code(block.text)
            case doc.Table():
                self._table(block)
            case doc.Combinations():
                self._combinations(block)
            case doc.Figure():
                self._figures((block,), stacked=True)
            case doc.Figures():
                self._figures(block.figures, stacked=block.stacked)
            case doc.Icons():
                self._icons(block)
            case doc.Fold():
                flow.need(60)
                flow.words(_plain(block.summary, _INK, 600), _BODY)
                self.blocks(block.blocks)
            case doc.Part():
                flow.need(60)
                flow.words(_plain(block.heading, _INK, 600), _BODY)
                self.blocks(block.blocks)

    # -- words ----------------------------------------------------------------------------------------------------

    def _paragraph(self, block: doc.Paragraph) -> None:
        colour = {doc.Tone.NOTE: _QUIET, doc.Tone.HOW: _QUIET, doc.Tone.WARNING: _RISK}.get(block.tone, _INK)
        self.flow.words(_pieces(block.said, colour), _SMALL if block.tone is doc.Tone.NOTE else _BODY)

    def _items(self, block: doc.Items) -> None:
        size, colour = (_SMALL, _QUIET) if block.quiet else (_BODY, _INK)
        for k, item in enumerate(block.items, 1):
            flow = self.flow
            flow.need(line_height(size * flow.scale))
            mark, page, top = f"{k}." if block.numbered else "•", flow.page, flow.y
            page.text(mark, (flow.left, top + 1.02 * size * flow.scale), colour, size=size * flow.scale)
            flow.words(_plain(item, colour), size, x=_INDENT)

    def _facts(self, block: doc.Facts) -> None:
        rows = [
            (Entry((tuple(_plain(f.term, _QUIET)),)), Entry(tuple(tuple(_plain(t)) for t in f.text.split("\n"))))
            for f in block.items
            if not f.command
        ]
        for fact in block.items:
            if fact.command:
                self._code(fact.text)
        if rows:
            table(self.flow, (TableColumn(""), TableColumn("", wraps=True)), rows, _COLOURS, _SMALL)

    def _code(self, text: str) -> None:
        """Something to type or to read: each line where it was, on a ground of its own."""
        flow = self.flow
        flow.down(3)
        for row in text.split("\n"):
            flow.need(line_height(_SMALL))
            before, page = flow.y, flow.page
            spaces = len(row) - len(row.lstrip(" "))
            lines = max(len(_rows_of(row, flow.wide - 16 - 4 * spaces, _SMALL * flow.scale)), 1)
            high = line_height(_SMALL * flow.scale) * lines
            if before + high <= flow.bottom:
                page.rectangle(flow.left, before, flow.wide, high, LIGHT["wash"])
            flow.words(_plain(row.strip(" ") or " "), _SMALL, x=8 + 4 * spaces, wide=flow.wide - 16 - 4 * spaces)
            flow.y = max(flow.y, before + high) if flow.page is page else flow.y
        flow.down(3)

    # -- tables ---------------------------------------------------------------------------------------------------

    def _table(self, block: doc.Table) -> None:
        kinds = [c.kind for c in block.columns]
        wordy = (doc.Kind.NAME, doc.Kind.TEXT, doc.Kind.WORDS)
        columns = [
            TableColumn(
                "" if c.kind in (doc.Kind.SYMBOL, doc.Kind.BAR) else _equation(c.head),
                wraps=c.kind in wordy,
                right=c.kind not in (*wordy, doc.Kind.SYMBOL, doc.Kind.BAR) and i > 0 and _any(block, i),
                bar=c.kind is doc.Kind.BAR,
            )
            for i, c in enumerate(block.columns)
        ]
        rows: list[Sequence[Entry] | str] = []
        for group in block.groups:
            if group.title:
                rows.append(group.title)
            rows += [[_entry(cell, kind) for cell, kind in zip(row, kinds, strict=True)] for row in group.rows]
        table(self.flow, columns, rows, _COLOURS, _SMALL)

    def _combinations(self, block: doc.Combinations) -> None:
        columns = (TableColumn("Columns", wraps=True), TableColumn(block.counts, right=True))
        rows = [
            (Entry((tuple(_plain(" · ".join(r.members))),)), Entry((tuple(_plain(r.text, _INK, 600)),)))
            for r in block.rows
        ]
        table(self.flow, columns, rows, _COLOURS, _SMALL)

    # -- pictures -------------------------------------------------------------------------------------------------

    def _picture(self, block: doc.Block) -> float:
        """How high the first row of charts is, where a block is of these."""
        figures = (block,) if isinstance(block, doc.Figure) else block.figures if isinstance(block, doc.Figures) else ()
        charts = [chart for figure in figures if (chart := figure.chart()) is not None]
        if not charts:
            return 0.0
        pairs = isinstance(block, doc.Figures) and self._in_pairs(charts, stacked=block.stacked)
        return size_of(charts[0].svg("light", self._half if pairs else self._whole(charts[0])))[1]

    @property
    def _half(self) -> int:
        return int((self.flow.wide - _BESIDE) / 2)

    def _whole(self, chart: doc.ResponsiveChart) -> int:
        return int(min(self.flow.wide, chart.desk))

    def _in_pairs(self, charts: Sequence[doc.ResponsiveChart], *, stacked: bool) -> bool:
        return not stacked and len(charts) > 1 and all(chart.phone <= self._half + 30 for chart in charts)

    def _figures(self, figures: Sequence[doc.Figure], *, stacked: bool) -> None:
        """Charts one below the other, or two in a row where both have room."""
        flow = self.flow
        charts = [(figure, chart) for figure in figures if (chart := figure.chart()) is not None]
        half, pairs = self._half, self._in_pairs([chart for _, chart in charts], stacked=stacked)
        x = 0.0
        deepest = 0.0
        for k, (figure, chart) in enumerate(charts):
            wide = half if pairs else self._whole(chart)
            drawing = chart.svg("light", wide)
            high = size_of(drawing)[1] + (line_height(_SMALL) if figure.caption else 0)
            if not pairs or k % 2 == 0:
                flow.y += deepest
                x, deepest = 0.0, 0.0
                flow.need(high)
            top = flow.y
            if figure.caption:
                flow.page.text(figure.caption, (flow.left + x, top + _SMALL), _INK, size=_SMALL, weight=600)
                top += line_height(_SMALL)
            put(flow.page, drawing, (flow.left + x, top))
            x += wide + _BESIDE
            deepest = max(deepest, high)
        flow.y += deepest

    def _icons(self, block: doc.Icons) -> None:
        """100 figures filled column by column, so that they read as a bar."""
        flow = self.flow
        step, dot = _STEP * flow.scale, _DOT * flow.scale
        wide = (flow.wide - _BESIDE) / 2
        high = line_height(_BODY * flow.scale) * 2 + (_ROWS + 1) * step
        flow.need(high + 20)
        top, deepest = flow.y, 0.0
        for k, array in enumerate(block.arrays):
            left = flow.left + (k % 2) * (wide + _BESIDE)
            if k and k % 2 == 0:
                flow.need(high)
                top = flow.y
            flow.y = top
            flow.words(_pieces(array.caption), _BODY, x=left - flow.left, wide=wide)
            base = filled(array.baseline)
            right = base if array.value is None else max(filled(array.value, array.baseline), base)
            y = flow.y + 4
            limit = None if array.limit is None else filled(array.limit)
            told = f"{base} of 100 right without the release"
            told += "" if array.value is None else f", {right - base} more with it, {100 - right} wrong"
            flow.page.begin(told)
            for i in range(100):
                column, row = divmod(i, _ROWS)
                at = left + dot + 1 + column * step, y + dot + row * step
                fill = LIGHT["baseline"] if i < base else LIGHT["risk"] if i < right else None
                flow.page.circle(at, dot, fill, None if fill else (LIGHT["axis"], 1))
            flow.page.end()
            if limit is not None:
                self._limit(limit, left, y, step)
            flow.y = y + _ROWS * step + (line_height(_SMALL) if limit is not None else 2)
            deepest = max(deepest, flow.y)
        flow.y = deepest
        flow.words(_plain(block.note, _QUIET), _SMALL)

    def _limit(self, limit: int, left: float, top: float, step: float) -> None:
        columns, rest = divmod(limit, _ROWS)
        x, dot = left + columns * step, _DOT * self.flow.scale
        end = top + _ROWS * step
        turn = top + rest * step - (step - 2 * dot) / 2
        steps = f"M{x:.1f},{top - 3:.1f}V{end:.1f}"
        if rest:
            steps = f"M{x + step:.1f},{top - 3:.1f}V{turn:.1f}H{x:.1f}V{end:.1f}"
        self.flow.page.path(steps, _INK, 1.5, dash=(4, 3))
        size = _SMALL * self.flow.scale
        self.flow.page.text(f"limit {limit}", (x - 10, end + size), _INK, size=size, weight=600)


def _started(lead: doc.Lead) -> tuple[doc.Said, ...]:
    """Beneath a headline the lead starts a sentence of its own."""
    if not lead.continues:
        return lead.paragraphs
    (first, *spans), *rest = lead.paragraphs
    return ((first._replace(text=first.text[:1].upper() + first.text[1:]), *spans), *rest)


def _rows_of(text: str, wide: float, size: float) -> list[object]:
    return list(broken(_plain(text), size, wide))


def _equation(text: str) -> str:
    """``ε = 1`` in one piece."""
    return text.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}")


def _any(block: doc.Table, column: int) -> bool:
    """Whether anything stands in a column; an empty one is room to write."""
    return any(row[column].text for row in block.rows)


def _entry(cell: doc.Cell, kind: doc.Kind) -> Entry:
    if kind is doc.Kind.BAR:
        return Entry((), cell.share, cell.over)
    over = cell.over or cell.text.startswith("▲")
    colour = _RISK if over else _QUIET if kind in (doc.Kind.QUIET, doc.Kind.SYMBOL) else _INK
    first = _plain(cell.text, colour, 600 if kind in (doc.Kind.NAME, doc.Kind.VALUE) and cell.detail else 400)
    more = [t for t in (cell.mark, stated(cell), cell.detail) if t]
    return Entry((tuple(first), *(tuple(_plain(t, _RISK if t.startswith("▲") else _QUIET)) for t in more)))
