"""Scan a table: who can be isolated, and which ε keeps what planned queries say about them under a limit.

>>> found = scan("epsilens:rand-hie", ["site", "age", "female", "black", "education"], person="person")
>>> print(found.sentence)
42 of 100 people in this table (2,475 of 5,912) are alone in their combination of site, age, female, black and education.

Who counts as isolated
    A combination of values isolates a person when every row that has it is a row of that person; a person is isolated
    by a set of columns when one of their rows has such a combination. This is what a query on the table can do, no
    more and no less. A person with several rows (years, visits) has several combinations: a value that changes from
    row to row, such as the age in each study year, isolates a person only where it meets nobody else's row of any
    year. Taking one row a person first answers another question, about a table that is not the one queried.

Minimum query size
    The paper's footnote 1: a protected table may refuse queries on fewer than m people, so the attacker cannot ask for
    the person directly and asks twice, about a set and about the set without the person. Both sets then need m people,
    that is, m others. Without planned queries the set may be the whole table, and a minimum size stops the attack only
    in tables of at most m people: it is no protection. With planned queries the sets are the queries' groups.
"""  # noqa: E501 - the sentence is one line

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ..queries import Query, QueryKind
from ..schema.column_profile import NameKind, meaning
from ..tables.columns import column_of, value_of
from ..tables.conditions import known_part
from ..tables.dialect import as_integer, exact_sum, ibis, identical
from ..tables.engines import Engine
from ..tables.resources import memory
from ..tables.table import OpenTable, open_table, reading
from .answer_combinations import (
    AnswerCombination,
    IsolatingPair,
    JointGroupings,
    isolating_combinations,
    isolating_pairs,
    joint_groupings,
    query_families,
)
from .equivalence_classes import (
    BaseShape,
    DigestTexts,
    Subset,
    SubsetIsolation,
    TooManyClasses,
    class_expression,
    class_sizes,
    column_shares,
    digest_long_texts,
    fetch_classes,
    isolated_people_values,
    long_text_columns,
    most_local_classes,
    mostly_unique,
    roll_up,
    subsets_of,
)
from .request import ScanRequest
from .result import GroupFacts, PlannedRisk, QueryRisk, Scan, SubsetResult, planned_risks, query_risk
from .rollup import encode_rows, roll_up_in_engine, roll_up_rows

if TYPE_CHECKING:
    import ibis.expr.types as ir

Progress: TypeAlias = Callable[[int, int, str], None]

DISCLOSURE = (
    "These numbers, and any ε chosen from them, were found by looking at the confidential data: they are a disclosure "
    "of their own; keep them inside, or choose ε without them."
)


@dataclass(frozen=True)
class _RollupResult:
    """What both roll-ups, in numpy and in the engine, hand on."""

    isolated: SubsetIsolation
    sizes: dict[str, int]
    rows: int
    gaps: tuple[tuple[NDArray[np.float64], NDArray[np.int64]], ...]
    shown: tuple[dict[str, object], ...]


@dataclass(frozen=True)
class _ScanState:
    """A scan under way: its question, the engine that holds the table, the subsets to roll up, whom to tell."""

    request: ScanRequest
    engine: Engine
    subsets: Sequence[Subset]
    tell: _ProgressSteps

    @property
    def shape(self) -> BaseShape:
        request = self.request
        return BaseShape(len(request.quasi_identifiers), request.by_person, len(request.queries))

    def rolled(self, done: int, of: int) -> None:
        self.tell(f"combination {done} of {of}")


@dataclass(frozen=True)
class _TableFacts:
    """All that is taken from the table: ``people`` is None where every row is one."""

    found: _RollupResult
    facts: Sequence[GroupFacts]
    pairs: tuple[IsolatingPair, ...]
    combinations: tuple[AnswerCombination, ...]
    people: int | None
    max_rows: int
    notes: tuple[str, ...]


def scan(
    table: object,
    quasi_identifiers: Sequence[str],
    person: str | None = None,
    known_columns: int | None = None,
    min_query_size: int = 1,
    max_rows: int | None = None,
    queries: str | Query | Iterable[str | Query] = (),
    epsilon: float | None = None,
    at_most: float | Mapping[str, float] | None = None,
    quantile: float | None = None,
    noise: str = "laplace",
    delta: float | None = None,
    known: bool = False,
    engine: object = None,
    progress: Progress | None = None,
    show_people: bool = False,
    sampling_fraction: float | None = None,
) -> Scan:
    """Find the people in ``table`` whom combinations of ``quasi_identifiers`` isolate.

    Parameters
    ----------
    table : object
        Anything :func:`~epsilens.data.tables.table.open_table` opens.
    quasi_identifiers : sequence of str
        The columns an attacker may know about a person.
    person : str, optional
        The column that says whose row it is; without it every row is a person.
    known_columns : int, optional
        The attacker knows at most this many of the columns; all by default.
    min_query_size : int, default 1
        The fewest people a query may cover; see above.
    max_rows : int, optional
        The most rows of one person a query uses; by default 1 without ``person``, and with it the most anyone has.
    queries : str, Query or sequence of these
        Planned queries, as text, SQL or :class:`~epsilens.data.queries.Query`.
    epsilon : float, optional
        The planned budget of a query and its noise. Planned answers that isolate someone together have it each; an
        attacker who asks a planned query a second time, without the person, has it for both.
    at_most : float or mapping, optional
        The success the attacker may reach, ``0.55`` or ``{"success": 0.55}``, about the worst-placed person.
    quantile : float, optional
        Keep this share of the isolated people under the limit, 0.99 say, and not the worst-placed person.
    noise : {"laplace", "gaussian", "geometric"}, default "laplace"
        The noise on planned answers.
    delta : float, optional
        Of Gaussian noise.
    known : bool, default False
        Whether the attacker knows one of the two answers exactly.
    engine : str or backend, optional
        None or ``"duckdb"``, ``"spark"``, an Ibis connection or URL.
    progress : callable, optional
        Called with (steps done, steps in all, what is being done).
    show_people : bool, default False
        Whether the result may carry the values of isolated people.
    sampling_fraction : float, optional
        The share of the population that is in the table; it estimates how many who are alone in the table are found
        rightly in the population.

    Returns
    -------
    Scan
        Who can be isolated, and what planned queries tell about them.

    Raises
    ------
    InputError
        If the table cannot be read or an argument lies outside its range.
    MissingExtra
        If the engine is not installed.
    """
    request = ScanRequest.of(
        quasi_identifiers, person=person, known_columns=known_columns, min_query_size=min_query_size, max_rows=max_rows,
        queries=queries, epsilon=epsilon, at_most=at_most, quantile=quantile, noise=noise, delta=delta, known=known,
        show_people=show_people, sampling_fraction=sampling_fraction,
    )  # fmt: skip
    with open_table(table, engine) as opened:
        most = request.columns(opened.table)
        subsets = subsets_of(len(request.quasi_identifiers), most)
        tell = _ProgressSteps(progress, len(subsets) + len(request.queries) + 2)
        work = _ScanState(request, opened.engine, subsets, tell)
        with reading(opened):
            read = _table_facts(work, opened)
        made = _scan_result(request, read, subsets, most, (opened.name, opened.engine.kind))
        # An assessment, which opens the table itself, looks closer and warns where one reads it first.
        unnamed = () if isinstance(table, OpenTable) else _person_hint(opened.table.columns, request)
    tell("done", tell.total)
    return replace(made, notes=(*unnamed, *made.notes)) if unnamed else made


def _person_hint(columns: Sequence[str], request: ScanRequest) -> tuple[str, ...]:
    """A word about columns whose names say whose row it is, where none was given as the person."""
    named = [name for name in columns if (said := meaning(name)) is not None and said.kind is NameKind.PERSON]
    likely = next((name for name in named if name not in request.quasi_identifiers), None)
    if request.by_person or likely is None:
        return ()
    return (
        f"Every row counts as a person of their own. If “{likely}” says whose row it is, give it as person: else "
        "someone with several rows is several people here.",
    )


def _table_facts(work: _ScanState, opened: OpenTable) -> _TableFacts:
    """Everything a scan takes from the table."""
    request, engine = work.request, work.engine
    base = scan_base_table(opened.table, request)
    people, max_rows, notes, most = _people_and_rows(engine, base, request)
    facts = []
    for i, query in enumerate(request.queries):
        work.tell(f"groups of {query}")
        facts.append(group_facts(engine, base, i, query, request.by_person))
    found = _roll_up(work, add_contributions(base, request, facts, most))
    planned = _planned_groupings(engine, base, request, facts)
    pairs = isolating_pairs(planned, request.min_query_size, request.show_people)
    return _TableFacts(
        found, facts, pairs, isolating_combinations(planned, request.min_query_size), people, max_rows, notes
    )


def _planned_groupings(
    engine: Engine, base: ir.Table, request: ScanRequest, facts: Sequence[GroupFacts]
) -> JointGroupings:
    """The planned answers to compare: not a single total that surely covers several people."""
    families = tuple(
        f
        for f in query_families(request)
        if len(f.totals) > 1 or f.secret is not None or facts[f.sides[0].index].lonely
    )
    return joint_groupings(engine, base, request, families)


def _scan_result(
    request: ScanRequest, read: _TableFacts, subsets: Sequence[Subset], most: int, where: tuple[str, str]
) -> Scan:
    """The result: whom the minimum query size leaves exposed, what each query tells about them, what ε keeps it."""
    found, notes = read.found, list(read.notes)
    people = found.rows if read.people is None else read.people
    fewest = request.min_query_size
    reach = fewest <= 1 or people - 1 >= fewest
    counted = {s: (n if reach else 0) for s, n in found.isolated.counts.items()}
    by_size = {k: (n if reach else 0) for k, n in found.isolated.by_size.items()}
    isolated = by_size.get(most, 0)
    risks = tuple(
        query_risk(query, fact, gap if reach else _no_gaps(), read.max_rows, request)
        for query, fact, gap in zip(request.queries, read.facts, found.gaps, strict=True)
    )
    names = [str(query) for query in request.queries]
    planned = planned_risks(read.combinations, names, request.attack, request.epsilon, request.at_most)
    binding = _binding(planned, isolated, request.quantile)
    kept = [r.largest_epsilon for r in risks] + [p.largest_epsilon for p in binding]
    largest = min((epsilon for epsilon in kept if epsilon is not None), default=None)
    if fewest > 1 and reach and isolated:
        notes.append(
            f"A minimum query size of {fewest:,} does not protect them: two questions, about everyone and "
            "about everyone but them, each cover enough people."
        )
    quasi = request.quasi_identifiers
    return Scan(
        table=where[0], engine=where[1], rows=found.rows, people=people, person=request.person, quasi_identifiers=quasi,
        known_columns=most, min_query_size=fewest, isolated=isolated, class_sizes=found.sizes,
        subsets=tuple(SubsetResult(tuple(quasi[j] for j in s), found.isolated.classes[s], counted[s]) for s in subsets),
        fewest={k: by_size[k] - by_size.get(k - 1, 0) for k in sorted(by_size)}, never=people - isolated,
        columns=column_shares(quasi, counted), queries=risks, pairs=read.pairs, planned=planned,
        epsilon=request.epsilon, at_most=request.at_most, quantile=request.quantile, noise=request.attack.noise,
        delta=request.attack.delta, known=request.attack.known, max_rows=read.max_rows, largest_epsilon=largest,
        exceeded=_exceeded(request, risks, binding, largest), shown=found.shown if reach else (),
        notes=(*notes, DISCLOSURE), sampling_fraction=request.sampling_fraction,
    )  # fmt: skip


def scan_base_table(table: ir.Table, request: ScanRequest) -> ir.Table:
    """The columns a scan needs, under its own names, so that none can meet a column of the user's.

    ``q0…`` the quasi-identifiers, ``p`` the person; for query i: ``m{i}`` whether it covers the row, ``k{i}`` whether
    the attacker must reckon with it, ``x{i}`` the clamped value, ``g{i}_0…`` the groups.
    """
    quasi = request.quasi_identifiers
    made = {f"q{j}": value_of(table[name], "quasi_identifiers") for j, name in enumerate(quasi)}
    if request.person is not None:
        made["p"] = value_of(column_of(table, request.person, "person"), "person")
    for i, query in enumerate(request.queries):
        query.check(table)
        made[f"m{i}"] = query.rows(table)
        made[f"k{i}"] = known_part(table, query.where, quasi) if query.where else ibis.literal(True)
        if query.bounds is not None:
            value = value_of(column_of(table, query.column, "query"), "query").cast("float64")
            made[f"x{i}"] = value.clip(lower=query.bounds[0], upper=query.bounds[1])
        for j, name in enumerate(query.groups):
            made[f"g{i}_{j}"] = value_of(column_of(table, name, f"query {str(query)!r}"), "query")
    return table.select(**made)


def group_facts(engine: Engine, base: ir.Table, i: int, query: Query, person: bool) -> GroupFacts:
    """The groups of query i with their rows, people and mean, in the engine; their totals fetched."""
    rows = base.filter(base[f"m{i}"])
    keys = [f"g{i}_{j}" for j in range(len(query.groups))]
    value = rows[f"x{i}"] if query.bounds is not None else ibis.literal(0.0)
    rows = rows.mutate(v=value) if keys else rows.mutate(v=value, g=1)
    keys = keys or ["g"]
    asked, total = exact_sum("s", rows["v"], max(map(abs, query.bounds or (0.0,))))
    sums = {"n": rows.count(), **asked, "w": rows["v"].count()}
    if person:
        each = rows.group_by([*keys, "p"]).agg(**sums)
        groups = each.group_by(keys).agg(**{name: each[name].sum() for name in sums}, people=each.count())
    else:
        groups = rows.group_by(keys).agg(**sums, people=rows.count())
    groups = groups.mutate(mean=total(groups) / groups["w"].cast("float64").nullif(0))
    got = engine.fetch(
        groups.aggregate(
            groups=groups.count(),
            lonely=as_integer(groups["people"] == 1).sum(),
            people=groups["people"].max(),
            rows=groups["n"].max(),
            mean=groups["mean"].max(),
        )
    ).to_pylist()[0]
    number = {k: int(got[k] or 0) for k in ("groups", "lonely", "people", "rows")}
    return GroupFacts(number["groups"], number["lonely"], groups, number["people"], number["rows"], got["mean"])


def add_contributions(base: ir.Table, request: ScanRequest, facts: Sequence[GroupFacts], most_rows: int) -> ir.Table:
    """``base`` with ``c{i}``: what each row can add to the gap of its owner under query i.

    Where an owner has several rows, at most ``most_rows``, amounts are cut to so many binary digits that their sums are
    exact in any order: the same on every engine.
    """
    min_query_size = request.min_query_size
    joined, made = base, {name: base[name] for name in base.columns}
    for i, (query, fact) in enumerate(zip(request.queries, facts, strict=True)):
        if query.groups and (query.kind is QueryKind.AVERAGE or min_query_size > 1):
            keys = [f"g{i}_{j}" for j in range(len(query.groups))]
            right = fact.table.select(
                **{f"r{i}_{j}": fact.table[k] for j, k in enumerate(keys)},
                **{f"rn{i}": fact.table["n"], f"rp{i}": fact.table["people"], f"rm{i}": fact.table["mean"]},
            )
            on = [identical(base[k], right[f"r{i}_{j}"]) for j, k in enumerate(keys)]
            joined = joined.left_join(right, on)  # one chain: engines read only so many tables within tables
            people, count, mean = right[f"rp{i}"].fill_null(0), right[f"rn{i}"].fill_null(0), right[f"rm{i}"]
        else:
            people, count = ibis.literal(fact.people), ibis.literal(fact.rows)
            mean = ibis.literal(fact.mean, type="float64")
        if query.kind is QueryKind.SUM:
            amount = base[f"x{i}"].abs()
        elif query.kind is QueryKind.AVERAGE:
            n = count.cast("float64")
            amount = (base[f"x{i}"] - mean).abs() * (2 * n / (2 * n - 1))
        else:
            amount = ibis.literal(1.0)
        covered = base[f"k{i}"]
        if min_query_size > 1:
            covered = covered & (people - 1 >= min_query_size)
        if most_rows > 1 and query.bounds is not None:
            step = 2.0 ** (52 - math.frexp(2 * max(map(abs, query.bounds)) * 2)[1] - most_rows.bit_length())
            amount = (amount * step).floor().cast("float64") / step
        made[f"c{i}"] = ibis.ifelse(covered, amount.fill_null(0.0), 0.0).cast("float64")
    return joined.select(**made)


class _ProgressSteps:
    """Counts steps for a progress callback, if there is one."""

    def __init__(self, callback: Progress | None, total: int) -> None:
        self.callback, self.total, self.done = callback, total, 0

    def __call__(self, what: str, step: int = 1) -> None:
        self.done = min(self.done + step, self.total)
        if self.callback is not None:
            self.callback(self.done, self.total, what)


def _people_and_rows(
    engine: Engine, base: ir.Table, request: ScanRequest
) -> tuple[int | None, int, tuple[str, ...], int]:
    """People, the rows a person may use, what must be said about it, and the most rows anyone has.

    One small grouping, with a person only.
    """
    person, max_rows = request.person, request.max_rows
    if person is None:
        if max_rows not in (None, 1):
            raise InputError(
                f"max_rows is {max_rows}: without a person column every row is a person; leave it out", "max_rows"
            )
        return None, 1, (), 1
    each = base.group_by("p").agg(n=base.count())
    got = engine.fetch(
        each.aggregate(people=each.count(), most=each["n"].max(), lost=as_integer(each["p"].isnull()).sum())
    ).to_pylist()[0]
    if got["lost"]:
        raise InputError(
            f"person is {person!r}, which is empty in some rows: fill it in or leave those rows out, "
            "because nobody can tell whose they are",
            parameter="person",
        )
    most = int(got["most"] or 1)
    notes: tuple[str, ...] = ()
    if max_rows is None and request.queries and most > 1:
        notes = (
            f"Sensitivities assume at most {most} rows a person, the most anyone has in this table; set max_rows to "
            "a number chosen without the data.",
        )
    return int(got["people"]), most if max_rows is None else max_rows, notes, most


def _roll_up(work: _ScanState, base: ir.Table) -> _RollupResult:
    """The people each subset isolates, with their gaps; in the engine where there are too many classes."""
    engine, request, tell, shape = work.engine, work.request, work.tell, work.shape
    tell(f"classes, with {memory()}", 0)
    texts, digested = base, long_text_columns(engine, base, shape)
    base = digest_long_texts(base, digested)
    rows_fit = not shape.person and engine.kind == "duckdb" and not request.show_people
    if rows_fit and mostly_unique(engine, base, shape):
        found = _roll_up_in_rows(work, base)
        if found is not None:
            return found
        rows_fit = False
    expression = class_expression(base, shape)
    most = most_local_classes(engine.kind, shape)
    if engine.kind == "pyspark":  # groups once: what is counted is kept
        expression = engine.cache(expression)
        if _count_rows(engine, expression) > most:
            return _roll_up_in_engine(work, base, expression)
    try:
        classes = fetch_classes(engine, expression, shape, most, lambda n: tell(f"classes: {n:,}", 0))
    except TooManyClasses:
        found = _roll_up_in_rows(work, base) if rows_fit else None
        return found or _roll_up_in_engine(work, base, engine.cache(expression))
    tell("classes")
    isolated = roll_up(classes, work.subsets, work.rolled)
    assert isolated.fewest is not None
    alone = isolated.fewest > 0
    gaps = []
    for i in range(shape.queries):
        values, people = np.unique(classes.gaps[i][alone], return_counts=True)
        gaps.append((values, people.astype(np.int64)))
    rows = _count_rows(engine, base) if shape.person else int(classes.sizes[0] @ classes.sizes[1])
    shown = (
        isolated_people_values(classes, isolated, request, DigestTexts(engine, texts, digested))
        if request.show_people
        else ()
    )
    return _RollupResult(isolated, class_sizes(*classes.sizes), rows, tuple(gaps), shown)


def _roll_up_in_rows(work: _ScanState, base: ir.Table) -> _RollupResult | None:
    """The same where every row is a person, from codes of the rows; None where these are too wide or too many."""
    made = encode_rows(work.engine, base, work.shape)
    if made is None:
        return None
    rows = _count_rows(work.engine, base)
    seen = lambda n: work.tell(f"rows: {n:,}", 0)  # noqa: E731
    found = roll_up_rows(work.engine, made, rows, work.shape.queries, work.subsets, seen, work.rolled)
    if found is None:
        return None
    return _RollupResult(found.isolated, class_sizes(*found.sizes), rows, found.gaps, ())


def _roll_up_in_engine(work: _ScanState, base: ir.Table, classes: ir.Table) -> _RollupResult:
    """The same from a table of classes that stays in the engine; only counts leave it."""
    work.tell("classes")
    found = roll_up_in_engine(work.engine, classes, work.shape, work.subsets, work.rolled)
    return _RollupResult(found.isolated, class_sizes(*found.sizes), _count_rows(work.engine, base), found.gaps, ())


def _count_rows(engine: Engine, base: ir.Table) -> int:
    return int(engine.fetch(base.aggregate(n=base.count()))["n"][0].as_py())


def _binding(planned: Sequence[PlannedRisk], isolated: int, quantile: float | None) -> tuple[PlannedRisk, ...]:
    """The combinations that must keep the limit: all, or those left when a quantile spares the worst-placed few."""
    compared = [p for p in planned if p.largest_epsilon is not None]
    if quantile is None:
        return tuple(compared)
    spared = (1 - quantile) * isolated * (1 + 1e-12)
    kept = []
    for risk in sorted(compared, key=lambda p: p.largest_epsilon or 0.0):
        spared -= risk.found.people
        if spared < 0:
            kept.append(risk)
    return tuple(kept)


def _exceeded(
    request: ScanRequest, risks: Sequence[QueryRisk], binding: Sequence[PlannedRisk], largest: float | None
) -> bool | None:
    """Whether the limit is broken at the planned ε; None where there is nothing to break."""
    if request.epsilon is None or request.at_most is None or not risks:
        return None
    if request.quantile is None:
        return any(bool(r.above) for r in risks) or any(bool(p.above) for p in binding)
    return largest is not None and request.epsilon > largest


def _no_gaps() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    return np.empty(0), np.empty(0, np.int64)
