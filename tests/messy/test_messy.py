"""Thirty messy tables from ``init`` to a report, beside what a person says they are and what they add up to.

Reading a table costs more than all that is then looked at: ``make test`` takes every fourth, and all tests look at it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.examples import FULL
from tests.messy.judge import answers, folded, leaked, owners
from tests.messy.open import OPEN
from tests.messy.readings import ODD, cells_of, word
from tests.messy.tables import TABLES
from tests.messy.unseen_expected import EVERY

import epsilens as el
from epsilens.data.schema.inference import ColumnRole, TableSchema
from epsilens.data.tables.columns import ParsedType, parse_columns
from epsilens.data.tables.table import open_table
from epsilens.errors import InputError
from epsilens.plan.answers import ExactAnswer, answers_of
from epsilens.plan.file import read_release
from epsilens.plan.model import Release

pytestmark = pytest.mark.slow


class Case:
    """One table, and each step of its way, taken once."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.path, self.expected = name, TABLES[name](folder), EVERY[name]

    @property
    def table(self) -> str:
        return f"sqlite:///{self.path}#{self.expected.table}" if self.expected.table else str(self.path)

    @cached_property
    def cells(self) -> list[Mapping[str, Any]]:
        return cells_of(self.path, **self.expected.file)

    @cached_property
    def understood(self) -> TableSchema:
        found: TableSchema = self.start.understanding
        return found

    @cached_property
    def start(self) -> Any:
        return el.init(self.table)

    @cached_property
    def plan(self) -> Release:
        return read_release(self.start.yaml)

    @cached_property
    def refusal(self) -> str | None:
        """The sentence that refuses the file, where it may be refused."""
        if self.expected.refused:
            try:
                open_table(self.table).close()
            except InputError as error:
                return str(error)
        return None


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Case]:
    made: dict[str, Case] = {}

    def case(name: str) -> Case:
        if name not in made:
            made[name] = Case(name, tmp_path_factory.mktemp(name))
        return made[name]

    return case


@pytest.fixture(params=[*TABLES][:: 1 if FULL else 4])
def case(request: pytest.FixtureRequest, cases: Callable[[str], Case]) -> Case:
    """A table that is read; one that may be refused says why and what to do, and that is all."""
    reasons = OPEN.get(request.param, {})
    if reason := reasons.get(request.node.originalname, reasons.get("")):
        request.applymarker(pytest.mark.xfail(reason=reason, strict=False))
    found = cases(request.param)
    if found.refusal is not None:
        assert "line" in found.refusal
        assert not leaked(found.refusal, found.cells, ())
        pytest.skip("refused, as it may be")
    return found


def test_person(case: Case) -> None:
    expected, found = case.expected, case.understood
    assert found.rows == expected.rows == len(case.cells)
    if expected.owner:
        owner = found.unit if found.unit is not None and found.unit.name in expected.owner else found.person
        assert owner is not None
        assert owner.name in expected.owner
        own = _by(case, owner.name)
        assert owner.values == len(own)
        assert owner.most == max(map(len, own.values()))
        assert owner.everyone is not expected.holes
    elif expected.single:
        assert found.person is None
        assert found.single is not None
        assert found.single.name in expected.single
        assert found.single.values == expected.rows
    else:
        assert found.nobody


def _by(case: Case, name: str) -> dict[Any, list]:
    """The rows of each person; those that do not say whose they are belong to nobody."""
    made: dict[Any, list] = {}
    for row in case.cells:
        who = word(row[name]) if name in case.expected.words or case.expected.holes else row[name]
        if who is not None:
            made.setdefault(who, []).append(row)
    return made


def test_roles(case: Case) -> None:
    found = {name: case.understood.column(name).role for name in case.expected.roles}
    assert {n: r for n, r in found.items() if r not in case.expected.roles[n]} == {}


def test_known_and_secret(case: Case) -> None:
    expected, columns = case.expected, case.understood.columns
    known, secret = {c.name for c in columns if c.known}, {c.name for c in columns if c.secret}
    assert set(expected.known) - known == set()
    assert set(expected.unknown) & known == set()
    assert not expected.secrets or secret & set(expected.secrets)
    assert set(expected.public) & secret == set()
    never = {c.name for c in columns if c.role in (ColumnRole.FREE, ColumnRole.IDENTIFIER, ColumnRole.EMPTY)}
    assert never & known == set()


def test_forms(case: Case) -> None:
    """Read as proposed, the columns hold what a person reads in them."""
    expected, understood = case.expected, case.understood
    forms = {c.name: c.form for c in understood.columns if c.form is not None}
    columns = [*expected.numbers, *expected.dates, *expected.words, *expected.codes]
    if not columns:
        return
    for name, (order, _) in expected.dates.items():
        assert understood.column(name).role is ColumnRole.DATE, name
        assert understood.column(name).kind.startswith(("date", "timestamp")) or forms[name].order is order, name
    with open_table(case.table) as opened:
        table = parse_columns(opened.table, forms).select(*columns)
        read = opened.engine.fetch(table).to_pylist()
    for name in columns:
        wanted = sorted(_plainly(expected.reading(name)(row[name])) for row in case.cells)
        assert sorted(_plainly(row[name]) for row in read) == wanted, name


def _plainly(value: Any) -> str:
    if value is None or isinstance(value, str):
        return folded(value)
    try:
        return f"{float(value):.6f}"
    except (TypeError, ValueError):
        return str(value)[:10]


def test_forms_are_told(case: Case) -> None:
    """Capitals and blanks that make one group of two are counted, nothing is left out in silence."""
    for name in case.expected.words:
        column = case.understood.column(name)
        assert column.form is not None, name
        assert column.form.kind in (ParsedType.CATEGORY, ParsedType.CODE), name
        assert column.spellings > 0, name
    for name in case.expected.numbers:
        odd = sum(str(row[name]).strip().casefold() in ODD for row in case.cells)
        assert case.understood.column(name).unread == odd, name


def test_bounds_come_from_no_cell(case: Case) -> None:
    for column in case.understood.columns:
        if column.bounds is not None and column.name in case.expected.numbers:
            cells = [v for row in case.cells if (v := case.expected.reading(column.name)(row[column.name])) is not None]
            # A round bound may be reached by chance; both ends at once would be looking.
            assert (float(min(cells)), float(max(cells))) != column.bounds or column.bounds[1] <= 120, column.name


def test_plan(case: Case) -> None:
    expected, plan = case.expected, case.plan
    assert plan.data.owner is None if not expected.owner else plan.data.owner in expected.owner
    assert set(expected.known) <= {*plan.data.quasi_identifiers} or len(plan.data.quasi_identifiers) >= 6
    assert not set(expected.unknown) & set(plan.data.quasi_identifiers)
    roles = {c.name: c.role for c in case.understood.columns}
    for query in plan.queries:
        for name in query.split_by:
            assert roles[name] not in (ColumnRole.FREE, ColumnRole.IDENTIFIER, ColumnRole.EMPTY), name
            assert query.groups is not None or query.threshold is not None, name
        if (column := query.sum or query.average) is not None:
            assert column in (expected.added_up or expected.numbers), column


def test_warnings(case: Case) -> None:
    """Loud where nothing says whose row it is, and only there; what was taken is said."""
    start = case.start
    assert case.plan.data.table == case.table
    if len(case.expected.people) < 2:  # where two columns together say it, a warning is right too
        assert bool(start.understanding.nobody) is case.expected.loud
    if case.expected.loud:
        assert "person" in start.warnings[0].lower()
    for name in (case.expected.owner or case.expected.single)[:1]:
        assert name in start.sentence
    for column in case.expected.known[:2]:
        assert column in start.sentence or column in start.yaml


def _found(case: Case, plan: Release) -> tuple[tuple[ExactAnswer, ...], ...]:
    with open_table(case.table) as opened:
        return answers_of(replace(opened, table=parse_columns(opened.table, plan.data.forms)), plan)


def _answered(case: Case, plan: Release) -> None:
    """The plan's answers on the table, read as it says, are those that the cells add up to.

    Where rows do not say whose they are, that is warned of beforehand, and the plan may be refused.
    """
    if case.expected.holes and any(str(plan.data.owner) in warning for warning in case.start.warnings):
        with pytest.raises(InputError, match="empty in some rows"):
            _found(case, plan)
        return
    for asked, shown in zip(plan.queries, _found(case, plan), strict=True):
        true = answers(case.cells, case.expected, asked, plan.data)
        values = {tuple(map(folded, answer.group)): answer.value for answer in shown}
        assert len(values) == len(shown), "two groups differ in capitals or blanks"
        assert values == pytest.approx(true, rel=1e-9)


def test_answers(case: Case) -> None:
    """The queries of the plan as it stands."""
    _answered(case, case.plan)


def test_other_questions(case: Case) -> None:
    """The same data section answers what somebody else may ask: every number, and people by every category."""
    expected = case.expected
    by = [c for c in (*expected.words, *expected.codes) if case.understood.column(c).distinct <= 30][:3]
    queries: list[dict[str, Any]] = [{"count": True, "by": c, "threshold": 1} for c in by]
    queries += [{"sum": c, "bounds": [-1e9, 1e9]} for c in expected.numbers]
    if queries:
        _answered(case, read_release(yaml.safe_load(case.start.yaml) | {"queries": queries}))


@pytest.mark.parametrize("name", TABLES)
def test_report(cases: Callable[[str], Case], name: str) -> None:
    """The plan runs as it stands, and the report is about people."""
    case = cases(name)
    report, data = el.assess(case.start.yaml), case.plan.data
    everybody = {len(owners(case.cells, case.expected, data))}
    if data.unit is not None:
        everybody |= {len({row[data.unit] for row in case.cells})}
    assert report.people is None or report.people in everybody
    assert len(report.queries) == len(case.plan.queries)
    assert report.risks


def test_no_cell_is_told(case: Case) -> None:
    start, columns = case.start, case.understood.columns
    ours = [c.name for c in columns] + [w for c in columns if c.form for w in c.form.empty] + [case.path.name]
    ours += ["Release", "none", "other", "unknown", "refused", "null", "missing", "from", "select", "order", "group"]
    told = "\n".join((start.sentence, *start.warnings, start.yaml))
    assert leaked(told, case.cells, ours) == set()


@pytest.mark.always(1)
@pytest.mark.parametrize("name", ["loans", "school", "census"])
def test_errors_tell_no_cell(cases: Callable[[str], Case], name: str) -> None:
    """Wrong plans for the table: what is said names columns and never what is in them."""
    case = cases(name)
    known = case.expected.known[0]
    for wrong in (
        {"count": f'"{known}" > 99999999999999999999999'},
        {"count": f'cast("{known}" as integer) = 1'},
        {"sum": known, "bounds": [0, 1]},
        {"count": "nosuchcolumn = 1"},
    ):
        plan: dict[str, Any] = yaml.safe_load(case.start.yaml) | {"queries": [wrong]}
        told = ""
        try:
            el.assess(plan)
        except InputError as error:
            told = str(error)
        assert leaked(told, case.cells, [c.name for c in case.understood.columns]) == set()


def test_the_tables_are_as_told() -> None:
    assert TABLES.keys() == EVERY.keys()
    assert len(TABLES) >= 13
