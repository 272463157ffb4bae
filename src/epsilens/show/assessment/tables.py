"""The tables of an assessment: adversaries, queries, and combinations of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...catalogue.readings import find
from ..document import Cell, Column, Combination, Combinations, Group, Kind, Row, Table
from .numbers import FREQUENCIES, epsilon_down, epsilon_up, error, limit, percent, planned, risk, share, value
from .queries import detail, title, typical_label
from .words import error_at, error_limit, reached, second, second_name

if TYPE_CHECKING:
    from ...assessment.accuracy import QueryAccuracy
    from ...assessment.assessment import Assessment, Risk

__all__ = ["accuracy_table", "bar", "combinations", "risk_note", "risk_table", "sets"]

#: How many combinations of columns the report lists.
MOST_COMBINATIONS = 9


def risk_table(a: Assessment) -> Table:
    """The adversaries, those that allow the least ε first."""
    columns = (
        Column("Adversary", Kind.NAME),
        Column("Added risk", Kind.BAR),
        Column("Without release", plain="without", label="Without"),
        Column(f"Planned ε = {planned(a.epsilon)}", Kind.VALUE, plain=f"ε = {planned(a.epsilon)}", label="Planned"),
        Column("Limit", plain="limit", label="Limit"),
        Column("Largest ε", Kind.VALUE, plain="largest ε", label="Largest ε"),
    )
    return Table(columns, (Group(tuple(_risk(a, r) for r in a.risks)),), "Who could learn what")


def _risk(a: Assessment, r: Risk) -> Row:
    allowed = "–" if r.limit is None else limit(r.reading, r.limit)
    now = risk(r.reading, reached(a, r, r.planned), limit=r.limit, baseline=r.baseline)
    state = "" if r.limit is None else "over" if r.over else "within"
    return (
        Cell(r.name, detail=r.question, mark=sets(a, r)),
        Cell(allowed, share=bar(r), over=r.over),
        Cell(risk(r.reading, r.baseline)),
        Cell(now, state=state, over=r.over),
        Cell(allowed),
        Cell("–" if r.largest is None else epsilon_down(r.largest)),
    )


def sets(a: Assessment, r: Risk) -> str:
    """What the adversary that allows the least ε does; nothing for the others."""
    if r.key != a.binding:
        return ""
    return "sets the recommendation" if a.possible else "no ε keeps this one"


def bar(r: Risk) -> float | None:
    """The increase because of the release over the increase that the limit allows; None without one."""
    if r.limit is None or r.limit <= r.baseline:
        return None
    return (r.planned - r.baseline) / (r.limit - r.baseline)


def risk_note(a: Assessment) -> str:
    """What the numbers of the table count, and how the adversaries' answers were put together."""
    other = [find(r.reading).label for r in a.risks if r.reading not in FREQUENCIES]
    unit = "Numbers are out of 100" + (f", except {', '.join(dict.fromkeys(other))}." if other else ".")
    how = list(dict.fromkeys(r.how for r in a.risks if r.how and len(a.queries) > 1))
    put = "".join(f" {text[:1].upper()}{text[1:]}." for text in how[:2])
    return f"{unit} Each is the most that adversary can reach; none is an estimate.{put}"


def accuracy_table(a: Assessment) -> Table:
    """The queries in order: the typical answer, and the error at the planned and the second ε."""
    at, tolerated = second(a), error_limit(a)
    columns = [
        Column("Query", Kind.NAME),
        Column("Answer on this table", plain="answer", label="Answer"),
        _at(f"Planned ε = {planned(a.epsilon)}", f"ε = {planned(a.epsilon)}"),
    ]
    if at is not None:
        columns.append(_at(f"{second_name(a)} ε = {planned(at)}", f"ε = {planned(at)}"))
    if tolerated is not None:
        columns.append(_at(f"Smallest ε for {percent(tolerated)} error", f"ε for {percent(tolerated)}"))
    rows = []
    for q in a.queries:
        answer = value(q.typical if len(q.answers) != 1 else q.answers[0].value)
        cells = [Cell(title(a, q), detail=detail(a, q)), Cell(answer, detail=typical_label(a, q))]
        cells += [_error(a, q, e) for e in (a.epsilon, at) if e is not None]
        rows.append((*cells, *([] if tolerated is None else [Cell(_smallest(q))])))
    return Table(tuple(columns), (Group(tuple(rows)),), "How accurate the answers are")


def _at(head: str, short: str) -> Column:
    return Column(head, plain=short, label=short)


def _error(a: Assessment, q: QueryAccuracy, epsilon: float) -> Cell:
    """The half-width, its share of the answer, and whether that breaks the limit."""
    allowed = error_limit(a)
    relative = q.relative(epsilon, a.release)
    over = allowed is not None and bool(q.typical) and relative > allowed
    state = share(relative, allowed) if q.typical else "answer is 0"
    return Cell(error(error_at(a, q, epsilon)), state=state, over=over)


def _smallest(q: QueryAccuracy) -> str:
    return "–" if q.smallest_epsilon is None else epsilon_up(q.smallest_epsilon)


def combinations(a: Assessment) -> Combinations | None:
    """The combinations of columns that isolate most people; None without quasi-identifiers or people."""
    if a.scan is None or not a.scan.people:
        return None
    best = sorted(a.scan.subsets, key=lambda s: (-s.people, len(s.columns)))[:MOST_COMBINATIONS]
    shares = [s.people / a.scan.people for s in best]
    rows = tuple(Combination(s.columns, p, _of_100(p)) for s, p in zip(best, shares, strict=True))
    return Combinations(a.scan.quasi_identifiers, rows, "people alone, of 100")


def _of_100(p: float) -> str:
    if p in (0.0, 1.0):
        return f"{100 * p:g}"
    for places in (1, 2, 3, 4):
        text = f"{100 * p:.{places}f}"
        if float(text) not in (0.0, 100.0):
            return text
    return f"{100 * p:.1e}"
