"""Two sections of an assessment's page that stand beside the limits: related people, and false records."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .assessment_parts import _numbers, _section
from .assessment_relatives import relation, relatives_sentence, relatives_table
from .assessment_tampering import hidden_sentence, hidden_table
from .charts.known import known_curve

if TYPE_CHECKING:
    from ..assessment.assessment import Assessment

__all__ = ["related", "tampering"]


def related(a: Assessment) -> str:
    """What resemblance adds to one answer; nothing unless the release states it."""
    said = relatives_sentence(a)
    if not said:
        return ""
    note = "One answer moves with the target and with those whose values go with theirs."
    body = f"<p>{html.escape(said)}</p>"
    alike = relation(a)
    if alike is not None and len(alike.by_known) > 1:
        head, *rows = relatives_table(a)
        chart = known_curve(alike.by_known, independent=1.0, title="How many times as much one answer tells")
        body += chart.figure() + _numbers("The numbers behind this picture", head, rows)
    return _section("If related people resemble each other", note, body)


def tampering(a: Assessment) -> str:
    """How far a false record may move each answer before it shows."""
    note = "“One person” is the most an honest record moves the answer."
    body = f"<p>{html.escape(hidden_sentence(a))}</p>{_table(hidden_table(a))}"
    return _section("What a false record could hide", note, body)


def _table(table: Sequence[Sequence[str]]) -> str:
    head, *rows = table
    cells = "".join(f'<th scope="col"{" class=number" if i else ""}>{html.escape(h)}</th>' for i, h in enumerate(head))
    body = "".join(
        f'<tr><th scope="row">{html.escape(row[0])}</th>'
        + "".join(
            f'<td><span class="label">{html.escape(label)}</span>{html.escape(cell)}</td>'
            for label, cell in zip(head[1:], row[1:], strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return f'<table class="answers"><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>'
