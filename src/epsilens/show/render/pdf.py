"""Any document as a PDF on A4: what its page shows, in the same order, tagged for readers who cannot see it.

What a page folds away is open on paper. A sheet is made to fit one page, as long as it can be read then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .. import document as doc
from ..charts.icons import icons
from ..charts.renderers import LIGHT
from ..typesetting import Node, picture, typeset
from .text import stated

#: Pixels of A4 across, and between two charts.
_WIDE, _BESIDE = 794, 20
_WORDS = (doc.Kind.NAME, doc.Kind.TEXT, doc.Kind.WORDS)
_UNNAMED = (doc.Kind.SYMBOL, doc.Kind.BAR)
#: The look of the icon arrays, which take it from the style sheet of a page.
_PEOPLE = (
    "<style>text{{font:15px Epsilens Sans}}.note{{fill:{secondary}}}.risk{{fill:{risk};font-weight:600}}"
    ".base{{fill:{baseline};stroke:{baseline}}}.added{{fill:{risk};stroke:{risk}}}.rest{{fill:none;stroke:{axis}}}"
    "path.limit{{fill:none;stroke:{ink};stroke-width:2;stroke-dasharray:4 3}}text.limit{{fill:{ink};font-weight:600}}"
    "use{{stroke-width:1.1}}</style>"
).format(**LIGHT)


def to_pdf(document: doc.Document) -> bytes:
    """The document as a PDF file.

    >>> import epsilens as el
    >>> el.laplace(epsilon=1.0).to_pdf()[:8]
    b'%PDF-1.7'
    """
    margin = 52 if document.sheet else 64
    width = _WIDE - 2 * margin
    foot = f"{document.kind}: {document.title}" if document.title else document.kind
    above = document.kind, document.title if document.headline else "", document.aside
    facts = (doc.Facts(document.facts),) if document.facts else ()
    return typeset(
        "document",
        {
            "colours": dict(LIGHT),
            "margin": margin,
            "name": document.tab or document.headline or document.title,
            "top": " · ".join(filter(None, above)),
            "heading": document.headline or document.title,
            "foot": f"{_short(foot)} · epsilens",
            "footer": document.footer,
            "sheet": document.sheet,
            "opening": _blocks((*document.opening, *facts), width),
            "sections": [
                {"heading": section.heading, "note": section.note, "blocks": blocks}
                for section in document.sections
                if doc.Forms.PAGE in section.forms and (blocks := _blocks(section.blocks, width))
            ],
        },
    )


def _short(text: str, most: int = 84) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _blocks(blocks: Iterable[doc.Block], width: int) -> list[Node]:
    return [made for block in blocks if doc.Forms.PAGE in block.forms for made in _block(block, width)]


def _block(block: doc.Block, width: int) -> list[Node]:
    kind = type(block).__name__
    match block:
        case doc.Lead():
            return [{"type": kind, "paragraphs": [_spans(paragraph) for paragraph in _started(block)]}]
        case doc.Status(text, over):
            return [{"type": kind, "text": f"{'▲ ' if over else ''}{text}", "over": over}]
        case doc.Paragraph(said, tone):
            return [{"type": kind, "said": _spans(said), "tone": tone.value}]
        case doc.Notes(items):
            return [{"type": kind, "text": " ".join(items)}]
        case doc.Items(items, numbered, quiet):
            return [{"type": kind, "items": items, "numbered": numbered, "quiet": quiet}]
        case doc.Facts(items):
            rows = [[_text(f.term, "secondary"), _text(f.text)] for f in items if not f.command]
            commands: list[Node] = [{"type": "Code", "text": f.text} for f in items if f.command]
            return commands + ([_table([_column(""), _column("", grows=True)], [("", rows)])] if rows else [])
        case doc.Code(text):
            return [{"type": kind, "text": text}]
        case doc.Table():
            return [_table(_columns(block), [(g.title, [_row(row, block) for row in g.rows]) for g in block.groups])]
        case doc.Combinations(_, combinations, counts):
            rows = [[_text(" · ".join(r.members)), _text(r.text, weight=600)] for r in combinations]
            return [_table([_column("Columns", grows=True), _column(counts, right=True)], [("", rows)])]
        case doc.Figure():
            return _figures((block,), width, stacked=True)
        case doc.Figures(figures, stacked):
            return _figures(figures, width, stacked=stacked)
        case doc.Icons(arrays, note):
            return [{"type": kind, "note": note, "arrays": [_icons(array) for array in arrays]}]
        case doc.Fold(heading, blocks) | doc.Part(heading, blocks):
            return [{"type": "Part", "heading": heading, "blocks": _blocks(blocks, width)}]


def _spans(spans: doc.Said) -> list[Node]:
    """``50 of 100`` and the like stay on one line."""
    return [
        {"role": role, "text": text.replace(" ", "\N{NO-BREAK SPACE}") if role and len(text) < 30 else text}
        for text, role in spans
    ]


def _started(lead: doc.Lead) -> tuple[doc.Said, ...]:
    """Beneath a headline the lead starts a sentence of its own."""
    if not lead.continues:
        return lead.paragraphs
    (first, *spans), *rest = lead.paragraphs
    return ((first._replace(text=first.text[:1].upper() + first.text[1:]), *spans), *rest)


def _table(columns: list[Node], groups: Iterable[tuple[str, list[list[Node]]]]) -> Node:
    return {"type": "Table", "columns": columns, "groups": [{"title": title, "rows": rows} for title, rows in groups]}


def _column(head: str, *, right: bool = False, grows: bool = False) -> Node:
    return {"head": head.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"), "right": right, "grows": grows}


def _columns(table: doc.Table) -> list[Node]:
    """Numbers stand to the right; what is left over is room to write in an empty column, else it goes to words."""
    used = [any(row[i].text for row in table.rows) or c.kind is doc.Kind.BAR for i, c in enumerate(table.columns)]
    wordy = next((i for i, column in enumerate(table.columns) if column.kind in _WORDS), 0)
    return [
        _column(
            "" if c.kind in _UNNAMED else c.head,
            right=c.kind not in (*_WORDS, *_UNNAMED) and i > 0 and used[i],
            grows=i == wordy if all(used) else not used[i],
        )
        for i, c in enumerate(table.columns)
    ]


def _row(row: doc.Row, table: doc.Table) -> list[Node]:
    return [_cell(cell, column.kind) for cell, column in zip(row, table.columns, strict=True)]


def _cell(cell: doc.Cell, kind: doc.Kind) -> Node:
    if kind is doc.Kind.BAR:
        return {"share": cell.share or 0.0, "over": cell.over, "paragraphs": []}
    quiet = kind in (doc.Kind.QUIET, doc.Kind.SYMBOL)
    colour = "risk" if cell.over or cell.text.startswith("▲") else "secondary" if quiet else "ink"
    weight = 600 if kind in (doc.Kind.NAME, doc.Kind.VALUE) and cell.detail else 400
    return _text(cell.text, colour, weight, [text for text in (cell.mark, stated(cell), cell.detail) if text])


def _text(text: str, colour: str = "ink", weight: int = 400, more: Sequence[str] = ()) -> Node:
    """A cell of words; what is told ``more`` stands below them, smaller."""
    below = [(line, "risk" if line.startswith("▲") else "secondary", 400) for line in more]
    each = [{"text": t, "colour": c, "weight": w} for t, c, w in ((text, colour, weight), *below)]
    return {"share": None, "over": False, "paragraphs": each}


def _figures(figures: Sequence[doc.Figure], width: int, *, stacked: bool) -> list[Node]:
    """Charts one below the other, or two in a row where both have room."""
    charts = [(figure.caption, chart) for figure in figures if (chart := figure.chart()) is not None]
    half = (width - _BESIDE) // 2
    paired = not stacked and len(charts) > 1 and all(chart.phone <= half + 30 for _, chart in charts)
    drawn: list[Node] = [
        {"caption": caption, **picture(chart.svg("light", half if paired else min(width, chart.desk)))}
        for caption, chart in charts
    ]
    size = 2 if paired else 1
    rows = [drawn[i : i + size] for i in range(0, len(drawn), size)]
    return [{"type": "Figures", "rows": rows}] if rows else []


def _icons(array: doc.IconArray) -> Node:
    drawn = icons(array.baseline, array.value, array.limit, key=array.key)
    return {"caption": _spans(array.caption), **picture(drawn.replace("<defs>", f"{_PEOPLE}<defs>", 1))}
