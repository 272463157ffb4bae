"""A plan to start from, with what was understood of the table: the paragraph, the columns, the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..data.understanding.understood import Role
from ..plan.starter import form_words
from .document import Code, Document, Lead, Paragraph, Section, Tone, plain_table, said

if TYPE_CHECKING:
    from ..data.understanding.understood import Column, Understanding
    from ..plan.starter import Start


_ROLES = {
    Role.IDENTIFIER: "identifier",
    Role.DATE: "date",
    Role.CODE: "code",
    Role.CATEGORY: "category",
    Role.NUMBER: "number",
    Role.FREE: "free text",
    Role.EMPTY: "says nothing",
    Role.OTHER: "cannot be used",
}


def sentence(start: Start) -> str:
    """What was understood."""
    return start.sentence


def present(start: Start) -> Document:
    """The paragraph, what to look at, every column, the plan."""
    found = start.understanding
    rows = [
        [c.name, _ROLES[c.role], _part(c, found), form_words(c), f"{c.distinct:,}", f"{c.empty:,}"]
        for c in found.columns
    ]
    head = ["Column", "What it holds", "What it may be", "Read as", "Different values, about", "Empty rows, about"]
    return Document(
        "A release to start from",
        "A release to start from",
        (Lead((said(start.sentence),)), *(Paragraph(said(f"▲ {text}"), Tone.WARNING) for text in start.warnings)),
        (
            Section("The columns", (plain_table(head, rows),)),
            Section("The plan", (Code(start.yaml),)),
        ),
        side=found.table,
    )


def _part(column: Column, found: Understanding) -> str:
    """What a column may be to an attacker."""
    if found.person is not None and column.name == found.person.name:
        return "the person"
    if found.unit is not None and column.name == found.unit.name:
        return "who belongs together"
    if any(column.name == owner.name for owner in found.others):
        return "perhaps the person"
    parts = ["known of people"] * column.known + ["a secret"] * column.secret
    return " and ".join(parts)
