"""Any document as GitHub-flavoured Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from .. import document as doc
from .text import grid, heading

_BOLD = ("strong", "risk")


def escape(text: str) -> str:
    """Text that Markdown shows as it is."""
    for mark in "\\`*_<>|[]":
        text = text.replace(mark, f"\\{mark}")
    return text


def to_markdown(document: doc.Document) -> str:
    """A heading, the lead with its emphasis, then the sections."""
    top = document.headline if document.headline and not document.continued else document.title
    chunks = [f"# {escape(top)}", *_pieces(document.opening, document)]
    for section in document.sections:
        if doc.Forms.MARKDOWN not in section.forms:
            continue
        made = _pieces(section.blocks, document)
        chunks += made if section.silent or not made else [f"## {escape(heading(section))}", *made]
    return "\n\n".join(chunks)


def _pieces(blocks: Sequence[doc.Block], document: doc.Document) -> list[str]:
    return [text for block in blocks if doc.Forms.MARKDOWN in block.forms for text in _block(block, document)]


def _block(block: doc.Block, document: doc.Document) -> list[str]:
    match block:
        case doc.Lead(continues=continues):
            return _lead(block, document.headline if continues else "")
        case doc.Status(text, over):
            state = f"**{'▲ ' if over else ''}{escape(text)}.**"
            return [f"{escape(document.title)}. {state}"]
        case doc.Paragraph(said, tone):
            return [f"> {_spans(said)}" if tone is doc.Tone.WARNING else _spans(said)]
        case doc.Notes(items):
            return ["\n".join(f"{escape(item)}  " for item in items)] if items else []
        case doc.Items(items):
            return ["\n".join(f"- {escape(item)}" for item in items)] if items else []
        case doc.Facts(items):
            return ["\n".join(f"- {escape(fact.term)}: {escape(fact.text)}" for fact in items)]
        case doc.Code(text, command):
            return [f"```{'sh' if command else ''}\n{text}\n```"]
        case doc.Table():
            return _table(block)
        case doc.Combinations():
            return [_combinations(block)] if block.rows else []
        case doc.Part(title, blocks):
            made = _pieces(blocks, document)
            return [f"### {escape(title)}", *made] if made else []
        case _:  # pictures and folds
            return []


def _lead(lead: doc.Lead, headline: str) -> list[str]:
    """A lead without emphasis of its own is emphasised as a whole."""
    paragraphs = lead.paragraphs
    if not lead.emphasised:
        paragraphs = tuple(tuple(span._replace(role="strong") for span in paragraph) for paragraph in paragraphs)
    told = [_spans(paragraph) for paragraph in paragraphs]
    return [f"**{escape(headline)}**: {told[0]}", *told[1:]] if headline else told


def _spans(spans: Sequence[doc.Span]) -> str:
    return "".join(f"**{escape(s.text)}**" if s.role in _BOLD else escape(s.text) for s in spans)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _table(table: doc.Table) -> list[str]:
    made = grid(table)
    sides = ["---" if i == 0 or h.kind is doc.Kind.WORDS else "--:" for i, h in enumerate(made.headings)]
    lines = [_row([escape(h.head) for h in made.headings]), f"|{'|'.join(sides)}|"]
    for title, rows in made.groups:
        if title:
            lines.append(_row([f"**{escape(title)}**", *([""] * (len(sides) - 1))]))
        lines += [_row([escape(cell.text.strip()) for cell in row]) for row in rows]
    return ["\n".join(lines), *(escape(note) for note in made.footnotes)]


def _combinations(block: doc.Combinations) -> str:
    rows = [_row([escape(", ".join(row.members)), escape(row.text)]) for row in block.rows]
    return "\n".join([_row(["Columns", escape(block.counts)]), "|---|--:|", *rows])
