"""What a view shows as CSV: numbers in full, a row each, for a spreadsheet or a script."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..show.explanation import Explanation


def written(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    r"""Rows as CSV; a text that a spreadsheet would run as a formula is marked as text.

    >>> written(["name", "value"], [["=1+1", 0.5], ["a, b", None]])
    'name,value\r\n\'=1+1,0.5\r\n"a, b",\r\n'
    """
    out = io.StringIO()
    sheet = csv.writer(out)
    sheet.writerow(head)
    sheet.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def of_explanation(about: Explanation) -> str:
    """Every reading with its value, what it would be without the release, and its words."""
    return written(
        ("reading", "name", "symbol", "value", "without", "words"),
        ((r.key, r.name, r.symbol, r.value, r.baseline, r.words) for r in about.rows),
    )


def of_comparison(letters: Sequence[str], settings: Sequence[str], every: Sequence[Explanation]) -> str:
    """Every reading, a column for each setting."""
    heads = [f"{letter.upper()}: {setting}" for letter, setting in zip(letters, settings, strict=True)]
    rows = [[r.key, r.name, *(about.rows[i].value for about in every), r.baseline] for i, r in enumerate(every[0].rows)]
    return written(("reading", "name", *heads, "without"), rows)


def of_assessment(data: Mapping[str, Any]) -> str:
    """Adversaries and queries of an assessment, from its JSON."""
    head = ("part", "name", "reading", "without", "planned", "recommended", "limit", "largest or smallest epsilon")
    risks = (
        ("adversary", r["name"], r["reading"], r["baseline"], r["planned"], r["recommended"], r["limit"], r["largest"])
        for r in data["risks"]
    )
    limit = data["error_limit"]
    queries = (
        (
            "query", q["title"], "error as a share of the answer", None, _share(q["planned"]), _share(q["recommended"]),
            limit, q["smallest_epsilon"],
        )
        for q in data["queries"]
    )  # fmt: skip
    return written(head, (*risks, *queries))


def _share(errors: Mapping[str, Any] | None) -> float | None:
    """The error of the least accurate group as a share of its answer."""
    worst = errors["worst"] if errors else None
    return worst["relative"] if worst else None
