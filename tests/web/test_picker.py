"""Picked conditions: every name and value comes back as it was, and means in a table what the rows say."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("duckdb", reason="conditions need epsilens[data]")
pytest.importorskip("pyarrow")

import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.examples import examples

from epsilens.data.tables.conditions import condition
from epsilens.data.tables.table import open_table
from epsilens.errors import InputError
from epsilens.web.picker import ColumnFamily, Operator, RowCondition, Term, condition_of, text_of

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
NUMBERS = st.one_of(st.integers(-(10**9), 10**9), st.floats(-1e9, 1e9)).map(lambda x: repr(x))


def _entered(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _rows(name: str, cells: list[Any], kind: str, written: str) -> list[bool]:
    """Which rows of a column a condition finds."""
    with open_table(pa.table({name: pa.array(cells, kind)})) as opened:
        found = opened.engine.fetch(opened.table.select(x=condition(opened.table, written)))
    return list(found["x"].to_pylist())


@st.composite
def terms(draw: Any) -> tuple[Term, ColumnFamily]:
    family = draw(st.sampled_from([ColumnFamily.TEXT, ColumnFamily.NUMBER, ColumnFamily.TIME, ColumnFamily.UNKNOWN]))
    value = NUMBERS if family is ColumnFamily.NUMBER else TEXTS.map(_entered)
    how = draw(st.sampled_from([h for h in Operator if h not in (Operator.CONTAINS, Operator.STARTS)]))
    entered = draw(value) if how.values else ""
    if how in (Operator.ONE, Operator.NONE):
        entered = ", ".join([entered, *draw(st.lists(value, max_size=3))])
    return Term(draw(NAMES), how, entered, draw(value) if how.values == 2 else ""), family


@given(st.lists(terms(), min_size=1, max_size=4), st.booleans())
@settings(max_examples=examples(150), deadline=None)
def test_what_is_picked_is_picked_again(rows: list[tuple[Term, ColumnFamily]], either: bool) -> None:
    """The text of rows is shown as rows again, and those have the same text."""
    families = {term.column: family for term, family in rows}
    rows = [(term, family) for term, family in rows if families[term.column] is family]
    picked = RowCondition(tuple(term for term, _ in rows), either and len(rows) > 1)
    text = text_of(picked, families)
    shown = condition_of(text, families)
    assert shown is not None
    assert text_of(shown, families) == text
    assert (len(shown.terms), shown.any) == (len(rows), picked.any)
    assert [(t.column, t.comparison) for t in shown.terms] == [(t.column, t.comparison) for t, _ in rows]


CELLS = ["flu", "Flu", "5", "it's", 'say "x"', "a, b", "a\nb", "  x ", "-- no", "%", "ü🙂", "", None, "true", "5;"]


@given(NAMES, st.sampled_from(CELLS), st.sampled_from([Operator.IS, Operator.NOT, Operator.ONE, Operator.NONE]))
@example('a"b', "it's", Operator.IS)
@example("order", "a\nb", Operator.ONE)
@example("ICD-10", "a, b", Operator.NONE)
@settings(max_examples=examples(60), deadline=None)
def test_a_text_means_itself(name: str, cell: str | None, how: Operator) -> None:
    """In a table of one column exactly the rows with this text are found; the expected ones by plain Python."""
    if cell is None:
        term = Term(name, Operator.EMPTY if how in (Operator.IS, Operator.ONE) else Operator.FILLED)
        found = [c is None if term.comparison is Operator.EMPTY else c is not None for c in CELLS]
    else:
        term = Term(name, how, _entered(cell))
        same = how in (Operator.IS, Operator.ONE)
        found = [c is not None and (c == cell) is same for c in CELLS]
    assert _rows(name, CELLS, "string", text_of(RowCondition((term,)), {name: ColumnFamily.TEXT})) == found


@pytest.mark.parametrize(
    ("how", "value", "to", "expect"),
    [
        (Operator.LEAST, "2", "", [2, 3]),
        (Operator.MOST, "2", "", [-1, 0, 1, 2]),
        (Operator.MORE, "-1", "", [0, 1, 2, 3]),
        (Operator.LESS, ".5", "", [-1, 0]),
        (Operator.BETWEEN, "-1", "1e0", [-1, 0, 1]),
        (Operator.ONE, "1, 3, 7", "", [1, 3]),
        (Operator.NONE, "1,3", "", [-1, 0, 2]),
        (Operator.FILLED, "", "", [-1, 0, 1, 2, 3]),
    ],
)
def test_numbers(how: Operator, value: str, to: str, expect: list[int]) -> None:
    cells = [-1, 0, 1, 2, 3, None]
    written = text_of(RowCondition((Term("x", how, value, to),)), {"x": ColumnFamily.NUMBER})
    assert [x for x, held in zip(cells, _rows("x", cells, "int64", written), strict=True) if held] == expect


def test_parts_of_texts() -> None:
    for how, expect in (
        (Operator.STARTS, [True, False, False, False]),
        (Operator.CONTAINS, [True, False, True, False]),
    ):
        text = text_of(RowCondition((Term("x", how, "F3"),)))
        assert _rows("x", ["F32.1", "f32", "xF3", None], "string", text) == expect
        assert condition_of(text) == RowCondition((Term("x", how, "F3"),))
    with pytest.raises(InputError, match="% or _"):
        text_of(RowCondition((Term("x", Operator.CONTAINS, "50%"),)))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("visits>3", (Term("visits", Operator.MORE, "3"),)),
        ("(diag = 'flu') and (age >= -30)", (Term("diag", Operator.IS, "flu"), Term("age", Operator.LEAST, "-30"))),
        ("zip = '01234'", (Term("zip", Operator.IS, '"01234"'),)),
        ("\"ICD-10\" != 'it''s'", (Term("ICD-10", Operator.NOT, "it's"),)),
        ("site NOT IN ('a, b', 'c')", (Term("site", Operator.NONE, '"a, b", c'),)),
        ("ill = TRUE", (Term("ill", Operator.IS, "true"),)),
        ("ward IS NOT NULL", (Term("ward", Operator.FILLED),)),
    ],
)
def test_a_typed_condition_is_shown_in_rows(text: str, shown: tuple[Term, ...]) -> None:
    assert condition_of(text) == RowCondition(shown)


@pytest.mark.parametrize(
    "text",
    [
        "a = 1 AND (b = 2 OR c = 3)",
        "a + 1 > 2",
        "ill",
        "NOT a = 1",
        "a = b",
        "x LIKE 'a%b'",
        "x NOT LIKE 'a%'",
        "(",
        "3 < a",
    ],
)
def test_what_rows_cannot_say_stays_typed(text: str) -> None:
    assert condition_of(text) is None


def test_a_boolean_by_itself_is_a_row() -> None:
    families = {"ill": ColumnFamily.BOOLEAN}
    assert condition_of("ill AND age > 3", families) == RowCondition(
        (Term("ill", Operator.IS, "true"), Term("age", Operator.MORE, "3"))
    )
    assert condition_of("NOT ill", families) == RowCondition((Term("ill", Operator.IS, "false"),))
    for written in ("ill", "NOT ill"):
        picked = condition_of(written, families)
        assert picked is not None
        cells = [True, False, None]
        assert _rows("ill", cells, "bool", text_of(picked, families)) == _rows("ill", cells, "bool", written)


def test_a_text_column_keeps_its_zeros() -> None:
    families = {"zip": ColumnFamily.TEXT}
    assert text_of(RowCondition((Term("zip", Operator.IS, "01234"),)), families) == "zip = '01234'"
    assert condition_of("zip = '01234'", families) == RowCondition((Term("zip", Operator.IS, "01234"),))
    assert condition_of("zip = 1234", families) is None  # it would come back as text


@pytest.mark.parametrize(
    ("term", "family", "said"),
    [
        (Term("age", Operator.IS), ColumnFamily.UNKNOWN, "nothing yet"),
        (Term("age", Operator.BETWEEN, "1"), ColumnFamily.NUMBER, "nothing yet"),
        (Term("age", Operator.LEAST, "1,000"), ColumnFamily.NUMBER, "give a number"),
        (Term("ill", Operator.IS, "maybe"), ColumnFamily.BOOLEAN, "give true or false"),
    ],
)
def test_what_does_not_fit_is_said(term: Term, family: ColumnFamily, said: str) -> None:
    with pytest.raises(InputError, match=said):
        text_of(RowCondition((term,)), {term.column: family})
