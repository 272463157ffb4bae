"""Another division of ε from an assessment that was made: the numbers of a whole new assessment with these shares."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("duckdb", reason="assessing needs epsilens[data]")

from epsilens.assessment.assess import Assessment, assess
from epsilens.assessment.split import basis_of, normalized_shares, resplit
from epsilens.errors import InputError
from epsilens.show.assessment.split import HEADING, split_section
from epsilens.show.document import Paragraph, Table, flat

PLAN: dict[str, Any] = {
    "data": {"table": "t.csv", "person": "who", "max_rows": 2, "quasi_identifiers": ["age"], "secret": "ill = 1"},
    "queries": [
        {"count": "ill = 1", "by": "ward", "groups": ["a", "b", "c"]},
        {"sum": "days", "bounds": [0, 10]},
        {"average": "days", "bounds": [0, 10], "by": "ward", "groups": ["a", "b"]},
    ],
    "mechanism": {"noise": "laplace", "epsilon": 1.5},
    "limits": {"success": 0.6, "error": 0.2},
}


def table() -> Any:
    """Two rows a person, who stays in one ward: no limit drops and no bound cuts anything."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(7)
    who = np.repeat(np.arange(300), 2)
    return pd.DataFrame({
        "who": who, "age": rng.integers(20, 80, who.size), "ward": np.array(["a", "b", "c"])[who % 3],
        "ill": rng.integers(0, 2, who.size), "days": rng.integers(0, 11, who.size),
    })  # fmt: skip


def with_shares(plan: dict[str, Any], shares: tuple[float, ...]) -> dict[str, Any]:
    return {**plan, "queries": [{**q, "share": s} for q, s in zip(plan["queries"], shares, strict=True)]}


@pytest.fixture(scope="module")
def made() -> Assessment:
    return assess(PLAN, table=table())


@pytest.mark.parametrize("mechanism", [{}, {"noise": "gaussian", "delta": 1e-6}])
def test_other_shares_are_those_of_a_new_assessment(made: Assessment, mechanism: dict[str, Any]) -> None:
    """Nothing is scanned again, and every risk and error is what the whole road gives for a plan with these shares."""
    shares, plan = (0.125, 0.125, 0.75), {**PLAN, "mechanism": {**PLAN["mechanism"], **mechanism}}
    first = assess(plan, table=table()) if mechanism else made
    basis = basis_of(first)
    assert basis is not None
    found = resplit(first.release, basis, shares)
    again = assess(with_shares(plan, shares), table=table())
    assert {r.key: r.planned for r in found.risks} == pytest.approx({r.key: r.planned for r in again.risks}, rel=1e-12)
    assert any(r.planned != before.planned for r, before in zip(found.risks, first.risks, strict=True))
    worst = [q.planned.worst for q in again.queries]
    assert found.division.errors == pytest.approx([w.relative for w in worst if w is not None], rel=1e-9)
    assert {r.key for r in found.risks if r.over} == {r.key for r in again.risks if r.over}


def test_the_shares_as_planned_change_nothing(made: Assessment) -> None:
    basis = basis_of(made)
    assert basis is not None
    found = resplit(made.release, basis, (1, 1, 1))
    assert [r.planned for r in found.risks] == pytest.approx([r.planned for r in made.risks], rel=1e-12)
    assert found.division.errors == pytest.approx(basis.split.equal.errors, rel=1e-12)


def test_shares_are_taken_in_proportion() -> None:
    assert normalized_shares([2, 1, 1]) == (0.5, 0.25, 0.25)
    for wrong in ([1, 0], [1, -1], [float("nan"), 1], [1, 1e-9]):
        with pytest.raises(InputError, match="share of query"):
            normalized_shares(wrong)


def test_a_share_for_each_query(made: Assessment) -> None:
    basis = basis_of(made)
    assert basis is not None
    with pytest.raises(InputError, match="give 3, one for each query"):
        resplit(made.release, basis, (0.5, 0.5))


def test_one_query_has_all_of_it() -> None:
    one = assess({**PLAN, "queries": PLAN["queries"][:1]}, table=table())
    assert basis_of(one) is None
    assert split_section(one) is None


def test_the_section_compares_the_divisions(made: Assessment) -> None:
    """The errors of the table are the relative errors of whole assessments with these shares."""
    section = split_section(made)
    assert section is not None
    assert section.heading == HEADING
    text, shown = section.blocks[0], section.blocks[1]
    assert isinstance(text, Paragraph)
    assert isinstance(shown, Table)
    assert made.split is not None
    equal, best = made.split.equal, made.split.best
    told = flat(text.said)
    assert told.startswith(
        f"Shared equally, the least accurate published answer is off by up to {math.ceil(100 * equal.worst)}% of itself"
    )
    assert f"brings it to {math.ceil(1000 * best.worst) / 10:.1f}%" in told  # a decimal below 10%, rounded up
    assert "It was found by looking at the data." in told
    assert "without the release 500 of 1,000" in told  # the two risks differ by less than one of 100
    assert [c.head for c in shown.columns][1::2] == ["Equal, as assessed: share of ε", "Least error: share of ε"]
    again = assess(with_shares(PLAN, best.shares), table=table())
    for row, query in zip(shown.rows, again.queries, strict=True):
        assert query.planned.worst is not None
        assert row[4].text == f"{math.ceil(1000 * query.planned.worst.relative) / 10:.1f}%"
    assert [row[3].text for row in shown.rows] == [f"{100 * s:.1f}%" for s in best.shares]


def test_what_no_division_mends_is_said() -> None:
    """Bounds that cut most values off lose more than any noise."""
    tight = {**PLAN, "queries": [PLAN["queries"][0], {"sum": "days", "bounds": [0, 1]}]}
    section = split_section(assess(tight, table=table()))
    assert section is not None
    first = section.blocks[0]
    assert isinstance(first, Paragraph)
    assert flat(first.said).endswith("that is what bounds and limits lose, which no division of ε mends.")


def test_the_section_of_other_plans() -> None:
    own = split_section(assess(with_shares(PLAN, (0.5, 0.25, 0.25)), table=table()))
    least = split_section(assess({**PLAN, "mechanism": {"epsilon": 1.5, "split": "least error"}}, table=table()))
    assert own is not None
    assert least is not None
    first, shown = own.blocks[:2]
    assert isinstance(first, Paragraph)
    assert isinstance(shown, Table)
    assert "; shared as planned, by " in flat(first.said)
    assert len(shown.columns) == 7
    told = least.blocks[0]
    assert isinstance(told, Paragraph)
    assert "and is the one assessed here" in flat(told.said)
