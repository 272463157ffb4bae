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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...checks import positive, probability, scalar, whole
from ...errors import InputError
from ..queries import Query, parse_queries
from ..tables.engines import Engine, need_ibis, sentence
from ..tables.open import column_of, open_table, value_of
from .attack import check_noise
from .classes import (
    LOCAL_CLASSES,
    ClassTable,
    TooManyClasses,
    class_expression,
    crowded,
    fetch_classes,
    merge_rows,
    owner_expression,
    row_expression,
)
from .exposure import QueryRisk, base_table, group_facts, read_risk, with_contributions
from .isolation import class_sizes, column_shares
from .pairs import isolating_pairs
from .result import Isolation, Scan
from .rollup import Isolated, Subset, roll_up, roll_up_in_engine, subsets_of

__all__ = ["scan"]

Progress: TypeAlias = Callable[[int, int, str], None]
MOST_SUBSETS = 4096
MOST_SHOWN = 1000

DISCLOSURE = (
    "These numbers, and any ε chosen from them, were found by looking at the confidential data: they are a disclosure "
    "of their own; keep them inside, or choose ε without them."
)


@dataclass(frozen=True)
class _Found:
    """What both roll-ups, in numpy and in the engine, hand on."""

    isolated: Isolated
    sizes: dict[str, int]
    rows: int
    gaps: tuple[tuple[NDArray[np.float64], NDArray[np.int64]], ...]
    shown: tuple[dict[str, Any], ...]


def scan(
    table: Any,
    quasi_identifiers: Sequence[str],
    person: str | None = None,
    known_columns: int | None = None,
    min_query_size: int = 1,
    max_rows: int | None = None,
    queries: str | Query | Iterable[str | Query] = (),
    epsilon: float | None = None,
    limit: float | Mapping[str, float] | None = None,
    quantile: float | None = None,
    noise: str = "laplace",
    delta: float | None = None,
    known: bool = False,
    engine: Any = None,
    progress: Progress | None = None,
    show_people: bool = False,
) -> Scan:
    """Find the people in ``table`` whom combinations of ``quasi_identifiers`` isolate.

    Parameters
    ----------
    table
        Anything :func:`~epsilens.data.tables.open.open_table` opens.
    quasi_identifiers
        The columns an attacker may know about a person.
    person
        The column that says whose row it is; without it every row is a person.
    known_columns
        The attacker knows at most this many of the columns; all by default.
    min_query_size
        The fewest people a query may cover; see above.
    max_rows
        The most rows of one person a query uses; by default 1 without ``person``, and with it the most anyone has.
    queries
        Planned queries, as text, SQL or :class:`~epsilens.data.queries.Query`.
    epsilon, noise, delta
        The planned budget of a query and its noise.
    limit
        The success the attacker may reach, ``0.55`` or ``{"success": 0.55}``.
    quantile
        Keep this share of the isolated people under the limit, 0.99 say, and not the worst-placed person.
    known
        Whether the attacker knows one of the two answers exactly.
    engine
        None or ``"duckdb"``, ``"spark"``, an Ibis connection or URL.
    progress
        Called with (steps done, steps in all, what is being done).
    show_people
        Whether the result may carry the values of isolated people.
    """
    at_most = _limit(limit)
    if epsilon is not None:
        epsilon = float(positive("epsilon", scalar("epsilon", epsilon)))
    if quantile is not None:
        quantile = float(probability("quantile", scalar("quantile", quantile), closed=False))
    min_query_size = whole("min_query_size", min_query_size, low=1)
    if max_rows is not None:
        max_rows = whole("max_rows", max_rows, low=1)
    planned = parse_queries(queries)
    check_noise(noise, delta, planned)
    with open_table(table, engine) as opened:
        quasi = _quasi(opened.table, quasi_identifiers, person)
        most = len(quasi) if known_columns is None else whole("known_columns", known_columns, low=1, high=len(quasi))
        subsets = subsets_of(len(quasi), most)
        if len(subsets) > MOST_SUBSETS:
            raise InputError(
                f"quasi_identifiers has {len(quasi)} columns, {len(subsets):,} combinations: "
                f"set known_columns so that there are at most {MOST_SUBSETS:,}",
                parameter="quasi_identifiers",
            )
        tell = _Teller(progress, len(subsets) + len(planned) + 2)
        try:
            base = base_table(opened.table, quasi, person, planned)
            people, max_rows, notes = _population(opened.engine, base, person, max_rows, planned)
            facts = []
            for i, query in enumerate(planned):
                tell(f"groups of {query}")
                facts.append(group_facts(opened.engine, base, i, query, person is not None))
            filled = with_contributions(base, planned, facts, min_query_size)
            found = _find(opened.engine, filled, quasi, person, planned, subsets, tell, show_people)
            pairs = isolating_pairs(opened.engine, base, planned, person is not None, min_query_size, show_people)
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                f"table is {opened.name!r}: the engine {opened.engine.kind} could not read it ({sentence(error)}); "
                "check the file and the column types",
                parameter="table",
            ) from error
        kind = opened.engine.kind
    people = found.rows if people is None else people
    reach = min_query_size <= 1 or people - 1 >= min_query_size
    counted = {s: (n if reach else 0) for s, n in found.isolated.counts.items()}
    by_size = {k: (n if reach else 0) for k, n in found.isolated.by_size.items()}
    isolated = by_size.get(most, 0)
    risks = tuple(
        read_risk(
            query, fact, gap if reach else _nobody(), max_rows=max_rows, epsilon=epsilon, limit=at_most,
            quantile=quantile, known=known, noise=noise, delta=delta,
        )
        for query, fact, gap in zip(planned, facts, found.gaps, strict=True)
    )  # fmt: skip
    largest = min((r.largest_epsilon for r in risks if r.largest_epsilon is not None), default=None)
    if min_query_size > 1 and reach and isolated:
        notes.append(
            f"A minimum query size of {min_query_size:,} does not protect them: two questions, about everyone and "
            "about everyone but them, each cover enough people."
        )
    tell("done", tell.total)
    return Scan(
        table=opened.name,
        engine=kind,
        rows=found.rows,
        people=people,
        person=person,
        quasi_identifiers=quasi,
        known_columns=most,
        min_query_size=min_query_size,
        isolated=isolated,
        class_sizes=found.sizes,
        subsets=tuple(Isolation(tuple(quasi[j] for j in s), found.isolated.classes[s], counted[s]) for s in subsets),
        fewest={k: by_size[k] - by_size.get(k - 1, 0) for k in sorted(by_size)},
        never=people - isolated,
        columns=column_shares(quasi, counted),
        queries=risks,
        pairs=pairs,
        epsilon=epsilon,
        limit=at_most,
        quantile=quantile,
        noise=noise,
        delta=delta,
        known=known,
        max_rows=max_rows,
        largest_epsilon=largest,
        exceeded=_exceeded(risks, epsilon, at_most, quantile, largest),
        shown=found.shown if reach else (),
        notes=(*notes, DISCLOSURE),
    )


class _Teller:
    """Counts steps for a progress callback, if there is one."""

    def __init__(self, callback: Progress | None, total: int) -> None:
        self.callback, self.total, self.done = callback, total, 0

    def __call__(self, what: str, step: int = 1) -> None:
        self.done = min(self.done + step, self.total)
        if self.callback is not None:
            self.callback(self.done, self.total, what)


def _limit(limit: float | Mapping[str, float] | None) -> float | None:
    if isinstance(limit, Mapping):
        if set(limit) != {"success"}:
            raise InputError(
                f"limit has {sorted(limit)}: a scan limits 'success', as in {{'success': 0.55}}", parameter="limit"
            )
        limit = limit["success"]
    if limit is None:
        return None
    value = scalar("limit", limit)
    if not 0.5 < value < 1:
        raise InputError(
            f"limit is {value:g}: without any release a guess is right for 50 of 100; give a success between 0.5 and 1",
            parameter="limit",
        )
    return value


def _quasi(table: Any, names: Sequence[str], person: str | None) -> tuple[str, ...]:
    if isinstance(names, str):
        names = [n.strip() for n in names.split(",")]
    quasi = tuple(names)
    if not quasi:
        raise InputError(
            "quasi_identifiers is empty: give at least one column an attacker may know", parameter="quasi_identifiers"
        )
    twice = [n for n in quasi if quasi.count(n) > 1]
    if twice:
        raise InputError(
            f"quasi_identifiers has {twice[0]!r} twice: give each column once", parameter="quasi_identifiers"
        )
    for name in quasi:
        value_of(column_of(table, name, "quasi_identifiers"), "quasi_identifiers")
    if person is not None and person in quasi:
        raise InputError(
            f"person is {person!r}, which is also a quasi-identifier: leave it out of one of them", parameter="person"
        )
    return quasi


def _population(
    engine: Engine, base: Any, person: str | None, max_rows: int | None, queries: Sequence[Query]
) -> tuple[int | None, int, list[str]]:
    """People, the rows a person may use, and what must be said about it. One small grouping, with a person only."""
    if person is None:
        if max_rows not in (None, 1):
            raise InputError(
                f"max_rows is {max_rows}: without a person column every row is a person; leave it out",
                parameter="max_rows",
            )
        return None, 1, []
    each = base.group_by("p").agg(n=base.count())
    got = engine.fetch(
        each.aggregate(people=each.count(), most=each["n"].max(), lost=each["p"].isnull().cast("int64").sum())
    ).to_pylist()[0]
    if got["lost"]:
        raise InputError(
            f"person is {person!r}, which is empty in some rows: fill it in or leave those rows out, "
            "because nobody can tell whose they are",
            parameter="person",
        )
    most = int(got["most"] or 1)
    notes = []
    if max_rows is None and queries and most > 1:
        notes.append(
            f"Sensitivities assume at most {most} rows a person, the most anyone has in this table; set max_rows to "
            "a number chosen without the data."
        )
    return int(got["people"]), most if max_rows is None else max_rows, notes


def _find(
    engine: Engine,
    base: Any,
    quasi: tuple[str, ...],
    person: str | None,
    queries: Sequence[Query],
    subsets: Sequence[Subset],
    tell: _Teller,
    show: bool,
    limit: int = LOCAL_CLASSES,
) -> _Found:
    columns = len(quasi)
    expression = class_expression(base, columns, person is not None, len(queries))
    tell("classes", 0)
    try:
        classes = None
        if person is None and engine.kind == "duckdb" and crowded(engine, base, columns):
            classes = _merged(engine, base, columns, len(queries), limit, tell)
        if classes is None:
            classes = fetch_classes(
                engine, expression, columns, person is not None, len(queries), limit,
                lambda n: tell(f"classes: {n:,}", 0),
            )  # fmt: skip
    except TooManyClasses:
        return _find_in_engine(engine, base, expression, person is not None, queries, subsets, tell)
    tell("classes")
    isolated = roll_up(classes, subsets, lambda done, of: tell(f"combination {done} of {of}"))
    assert isolated.fewest is not None
    alone = isolated.fewest > 0
    gaps = []
    for i in range(len(queries)):
        values, people = np.unique(classes.gaps[i][alone], return_counts=True)
        gaps.append((values, people.astype(np.int64)))
    rows = int(classes.sizes[0] @ classes.sizes[1]) if person is None else _rows(engine, base)
    shown = _shown(classes, isolated, quasi, person) if show else ()
    return _Found(isolated, class_sizes(*classes.sizes), rows, tuple(gaps), shown)


def _merged(engine: Engine, base: Any, columns: int, queries: int, limit: int, tell: _Teller) -> ClassTable | None:
    """The classes of a table where nearly every row is one, or None if it is too long or too wide for that."""
    try:
        rows = fetch_classes(
            engine, row_expression(base, columns, queries), columns, False, queries, limit,
            lambda n: tell(f"rows: {n:,}", 0),
        )  # fmt: skip
    except TooManyClasses:
        return None
    return merge_rows(rows)


def _find_in_engine(
    engine: Engine,
    base: Any,
    expression: Any,
    person: bool,
    queries: Sequence[Query],
    subsets: Sequence[Subset],
    tell: _Teller,
) -> _Found:
    ibis = need_ibis()
    classes = engine.cache(owner_expression(ibis, expression, person))
    tell("classes")
    isolated = roll_up_in_engine(engine, classes, subsets, lambda done, of: tell(f"combination {done} of {of}"))
    counted = classes.group_by("people").agg(n=classes.count())
    sizes = engine.fetch(counted)
    by_size = class_sizes(sizes["people"].to_numpy(), sizes["n"].to_numpy())
    gaps = []
    for i in range(len(queries)):
        owned = classes.filter(classes["lo"] == classes["hi"])
        owned = owned.semi_join(isolated.owners, "lo")
        each = owned.group_by("lo").agg(gap=owned[f"c{i}"].sum())
        got = engine.fetch(each.group_by("gap").agg(n=each.count()))
        gaps.append((got["gap"].to_numpy().astype(float), got["n"].to_numpy().astype(np.int64)))
    return _Found(isolated, by_size, _rows(engine, base), tuple(gaps), ())


def _rows(engine: Engine, base: Any) -> int:
    return int(engine.fetch(base.aggregate(n=base.count()))["n"][0].as_py())


def _exceeded(
    risks: Sequence[QueryRisk],
    epsilon: float | None,
    limit: float | None,
    quantile: float | None,
    largest: float | None,
) -> bool | None:
    if epsilon is None or limit is None or not risks:
        return None
    if quantile is None:
        return any(bool(r.above) for r in risks)
    return largest is not None and epsilon > largest


def _shown(
    classes: ClassTable, isolated: Isolated, quasi: tuple[str, ...], person: str | None
) -> tuple[dict[str, Any], ...]:
    """The values of isolated people, those isolated by the fewest columns first."""
    assert isolated.fewest is not None
    owned = np.flatnonzero(classes.owner >= 0)
    fewest = isolated.fewest[classes.owner[owned]]
    owned, fewest = owned[fewest > 0], fewest[fewest > 0]
    made = []
    for row in owned[np.argsort(fewest, kind="stable")][:MOST_SHOWN]:
        values = {name: classes.values[j][int(classes.codes[j][row])].as_py() for j, name in enumerate(quasi)}
        names = classes.people_values
        who = {} if person is None or names is None else {person: names[int(classes.owner[row])].as_py()}
        made.append({**who, **values, "fewest_columns": int(isolated.fewest[classes.owner[row]])})
    return tuple(made)


def _nobody() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    return np.empty(0), np.empty(0, np.int64)
