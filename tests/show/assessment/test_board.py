"""The sheet for those who decide: the numbers of the ε it proposes, beside what holds without the release."""

from __future__ import annotations

import html
import math
import re
from datetime import date
from typing import Any

import pytest

import epsilens as el
from epsilens.assessment.assess import Assessment
from epsilens.show.assessment.board import board
from epsilens.show.document import Items, Lead, Section, Table, flat

pd = pytest.importorskip("pandas")

#: 200 people, one row each; 80 of them have the secret.
TABLE = pd.DataFrame(
    {"ward": ["north", "south"] * 100, "flu": [1] * 80 + [0] * 120, "age": [30 + i for i in range(200)]}
)
PLAN = {
    "title": "Flu by ward",
    "data": {"table": "upload", "quasi_identifiers": ["ward", "age"], "secret": "flu = 1"},
    "queries": [{"name": "People with flu", "count": "flu = 1"}],
    "mechanism": {"noise": "laplace", "epsilon": 1.0},
    "adversary": {"prior": 0.5, "knows": "nothing"},
    "limits": {"success": 0.6},
}


def made(**changed: Any) -> Assessment:
    return el.assess({**PLAN, **changed}, table=TABLE)


def section(a: Assessment, heading: str) -> Section:
    return next(s for s in board(a).sections if s.heading == heading)


def words(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<style.*?</style>|<[^>]+>", " ", text, flags=re.S)).split())


def lead(a: Assessment) -> str:
    (found,) = (block for block in board(a).opening if isinstance(block, Lead))
    return flat(found.paragraphs[0]).replace("\u00a0", " ")


def test_the_numbers_are_those_of_the_epsilon_it_names() -> None:
    """One count, Laplace: success is 1 − e^{−ε/2}/2, so 60 of 100 allows ε = −2·log(.8) = .446, typed as .44."""
    a = made()
    assert a.verdict.instead == 0.44
    right = 1 - math.exp(-0.44 / 2) / 2
    assert f"{100 * right:.0f} times of 100" in lead(a)
    assert "Without the release they would be right 50 times of 100. The limit is 60 of 100." in lead(a)
    (table,) = (b for b in section(a, "Who could learn what").blocks if isinstance(b, Table))
    first = [cell.text for cell in table.rows[0]]
    assert first[1:] == ["50", f"{100 * right:.0f}", "60"]


def test_the_planned_epsilon_where_it_stands() -> None:
    a = made(limits={"success": 0.75})
    assert a.verdict.instead is None
    assert (
        f"With ε = 1, an adversary who knows every other record guesses correctly {100 * (1 - math.exp(-0.5) / 2):.0f}"
        in lead(a)
    )
    assert "as planned" in words(a.to_board())


def test_an_error_that_is_too_large_proposes_more() -> None:
    """b = 1/ε: 95 of 100 Laplace answers are within log(20)/ε, and 10% of 80 people is 8."""
    a = made(mechanism={"noise": "laplace", "epsilon": 0.1}, limits={"error": 0.1})
    needed = math.log(20) / 8
    at = a.verdict.instead
    assert at is not None
    assert needed <= at <= needed + 0.01
    assert f"{100 * (1 - math.exp(-at / 2) / 2):.0f} times of 100" in lead(a)


def test_what_epsilon_is() -> None:
    """e^.44 = 1.5527, rounded up."""
    text = " ".join(flat(b.said) for b in section(made(), "What ε is").blocks)  # type: ignore[union-attr]
    assert "more than 1.56 times as likely with one row as without it." in text
    noise = {"noise": "gaussian", "epsilon": 1.0, "delta": 1e-6}
    text = " ".join(flat(b.said) for b in section(made(mechanism=noise, limits={}), "What ε is").blocks)  # type: ignore[union-attr]
    assert "more than 2.72 times as likely with one row as without it, plus at most 0.000001 (δ)." in text
    vast = made(mechanism={"noise": "laplace", "epsilon": 20.0}, limits={})
    assert "promises next to nothing" in words(vast.to_board())


def test_a_household_at_the_same_epsilon() -> None:
    """Five people move one count by five: success is 1 − e^{−5ε/2}/2."""
    (items,) = (b for b in section(made(), "Who is affected").blocks if isinstance(b, Items))
    right = math.ceil(100 * (1 - math.exp(-5 * 0.44 / 2) / 2))
    assert f"is guessed right {right} times of 100" in items.items[1]


def test_no_true_answer_and_no_cell_is_on_it() -> None:
    """80 people have it; the sheet says how exact the answer is, not what it is."""
    shown = words(
        made(
            queries=[{"name": "People with it", "count": "flu = 1", "by": "ward", "groups": ["north", "south"]}]
        ).to_board()
    )
    assert "north" not in shown
    assert not re.search(r"\b(80|40)\b(?! of 100| right| wrong| without)", shown)


def test_hostile_titles_are_escaped_and_cut() -> None:
    page = made(title="<script>alert(1)</script>" + "x" * 150).to_board()
    assert "<script>" not in page
    assert len(board(made(title="x" * 150)).side) == 70


def test_the_day_is_told() -> None:
    assert board(made(), date(2026, 3, 1)).aside == "1 March 2026 · for internal use"
