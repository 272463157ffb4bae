"""The tables of an assessment: adversaries, queries, combinations of columns, false records, and related people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...assessment.accuracy import FALSE_ALARMS, Cause
from ...assessment.adversaries import AdversaryGoal, Harm
from ...catalogue.readings import find_reading
from ...numerics.formatting import ceil_digits, frequency
from ...plan.movement import worst_factor
from ..document import Cell, Column, Combination, Combinations, Group, Kind, Row, Table
from .labels import (
    FREQUENCIES,
    called,
    detail,
    epsilon_down,
    epsilon_up,
    error,
    given,
    limit,
    percent,
    planned,
    risk,
    share,
    subject,
    title,
    typical_label,
    value,
)
from .reach import reached
from .words import second_name

if TYPE_CHECKING:
    from ...assessment.accuracy import GroupError
    from ...assessment.assess import Assessment
    from ...assessment.risks import AdversaryRisk
    from ...plan.movement import CorrelationFactor


#: The regulators' three words, with what each asks.
_HARMS = {
    Harm.SINGLING_OUT: "Singling out: whose record is it?",
    Harm.LINKABILITY: "Linkability: is this person among them?",
    Harm.INFERENCE: "Inference: what is true of this person?",
}
#: How many combinations of columns the report lists.
MOST_COMBINATIONS = 9


def risk_table(a: Assessment) -> Table:
    """The adversaries under what regulators call their aim, those that allow the least ε first."""
    columns = (
        Column("Adversary", Kind.NAME),
        Column("Added risk", Kind.BAR),
        Column("Without release", plain="without", label="Without"),
        Column(f"Planned ε = {planned(a.epsilon)}", Kind.VALUE, plain=f"ε = {planned(a.epsilon)}", label="Planned"),
        Column("Limit", plain="limit", label="Limit"),
        Column("Largest ε", Kind.VALUE, plain="largest ε", label="Largest ε"),
    )
    harms = dict.fromkeys(r.asks.harm for r in a.risks)
    groups = {harm: tuple(_risk(a, r) for r in a.risks if r.asks.harm is harm) for harm in harms}
    return Table(columns, tuple(Group(rows, _HARMS[harm]) for harm, rows in groups.items()), "Who could learn what")


def _risk(a: Assessment, r: AdversaryRisk) -> Row:
    allowed = "–" if r.limit is None else limit(r.reading, r.limit)
    now = risk(r.reading, reached(a, r, r.planned), limit=r.limit, baseline=r.baseline)
    state = "" if r.limit is None else "over" if r.over else "within"
    return (
        Cell(r.name, detail=r.question, mark=sets(a, r)),
        Cell(allowed, share=bar(r), over=r.over),
        Cell(given(r.reading, r.baseline)),
        Cell(now, state=state, over=r.over),
        Cell(allowed),
        Cell("–" if r.largest is None else epsilon_down(r.largest)),
    )


def sets(a: Assessment, r: AdversaryRisk) -> str:
    """What the adversary that allows the least ε does; nothing for the others."""
    if r.key != a.binding:
        return ""
    return "sets the recommendation" if a.possible else "no ε keeps this one"


def bar(r: AdversaryRisk) -> float | None:
    """The increase because of the release over the increase that the limit allows; None without one."""
    if r.limit is None or r.limit <= r.baseline:
        return None
    return (r.planned - r.baseline) / (r.limit - r.baseline)


def risk_note(a: Assessment) -> str:
    """What the numbers of the table count, and how the adversaries' answers were put together."""
    other = [find_reading(r.reading).label for r in a.risks if r.reading not in FREQUENCIES]
    unit = "Numbers are out of 100" + (f", except {', '.join(dict.fromkeys(other))}." if other else ".")
    how = list(dict.fromkeys(r.how for r in a.risks if r.how and len(a.queries) > 1))
    put = "".join(f" {text[:1].upper()}{text[1:]}." for text in how[:2])
    bounds = "Each is the most that adversary can reach against one worst-placed person."
    if any(r.asks is AdversaryGoal.RELATIVES for r in a.risks):
        estimated = any(relation.from_data for relation in a.relations)
        rests = "an estimated resemblance, and on" if estimated else "the resemblance stated, and on"
        bounds += f" Correlated records rest on {rests} values that are jointly normal: that row is no bound without."
    if not all(r.exact for r in a.risks):
        bounds += " Some are bounds: nobody need be as exposed as that."
    return f"{unit} {bounds}{put}"


def accuracy_table(a: Assessment) -> Table:
    """The queries in order, their typical and their least accurate group: the answer, and the error at both ε."""
    at, tolerated = a.verdict.alternative, a.release.error_limit
    columns = [
        Column("Query", Kind.NAME),
        Column("Answer on the whole table", plain="answer", label="Answer"),
        _at(f"Planned ε = {planned(a.epsilon)}", f"ε = {planned(a.epsilon)}"),
    ]
    if at is not None:
        columns.append(_at(f"{second_name(a)} ε = {planned(at)}", f"ε = {planned(at)}"))
    if tolerated is not None:
        columns.append(_at(f"Smallest ε for {percent(tolerated)} error", f"ε for {percent(tolerated)}"))
    rows: list[Row] = []
    for q in a.queries:
        found = [q.planned, *([] if at is None else [q.at(at, a.release)])]
        needed = Cell("–" if q.smallest_epsilon is None else epsilon_up(q.smallest_epsilon))
        for which, groups in (("typical", [e.typical for e in found]), ("worst", [e.worst for e in found])):
            if which == "worst" and len(q.answers) < 2:
                continue
            first = groups[0]
            name = Cell(title(a, q), detail=detail(a, q)) if which == "typical" else Cell("least accurate of them")
            answer = Cell("0" if first is None else value(first.answer.value), detail=typical_label(a, q, which))
            limited = [] if tolerated is None else [needed if which == "typical" else Cell("")]
            rows.append((name, answer, *(_error(a, group) for group in groups), *limited))
    return Table(tuple(columns), (Group(tuple(rows)),), "How accurate the answers are")


def _at(head: str, short: str) -> Column:
    return Column(head, plain=short, label=short)


def _error(a: Assessment, group: GroupError | None) -> Cell:
    """The half-width, its share of the answer, and whether that breaks the limit."""
    allowed = a.release.error_limit
    if group is None:
        return Cell("–", state="answer is 0")
    if not math.isfinite(group.error):
        return Cell("hidden", state=f"in {frequency(group.hidden)}", over=allowed is not None)
    over = allowed is not None and group.relative > allowed
    return Cell(error(group.error), state=share(group.relative, allowed), over=over)


def error_parts(a: Assessment) -> Table:
    """What the error at the planned ε is made of: noise, what limits dropped and bounds cut off, what is hidden."""
    heads = ("Noise", "Limits drop", "Bounds cut off", "Hidden, of 100", "Together")
    columns = (Column("Query", Kind.NAME), *(Column(head, label=head) for head in heads))
    rows = []
    for q in a.queries:
        for which, group in (("typical", q.planned.typical), ("least accurate", q.planned.worst)):
            if group is None or (which != "typical" and len(q.answers) < 2):
                continue
            name = title(a, q) if which == "typical" else "least accurate of them"
            hidden = given("success", group.hidden) if a.release.queries[q.index].threshold is not None else "–"
            rows.append((
                Cell(name), Cell(error(group.noise)), Cell(_moved(group.contribution)), Cell(_moved(group.clamping)),
                Cell(hidden), Cell(error(group.error) if math.isfinite(group.error) else "hidden"),
            ))  # fmt: skip
    return Table(columns, (Group(tuple(rows)),), f"What the error is made of, at ε = {planned(a.epsilon)}")


def wide_bounds(a: Assessment) -> tuple[str, ...]:
    """The queries that noise alone takes over the limit on error, or beyond the answer, and whose bounds decide it."""
    allowed = 1.0 if a.release.error_limit is None else a.release.error_limit
    made = []
    for q in a.queries:
        bounds, worst = a.release.queries[q.index].bounds, q.planned.worst
        if bounds is None or worst is None or worst.cause is not Cause.NOISE or worst.relative <= allowed:
            continue
        made.append(
            f"The noise of {called(a, q)} grows with its bounds, {value(bounds[0])} to {value(bounds[1])}. Where "
            "smaller ones would cut little off they give less noise: take them from what is known of the quantity, "
            "not from the table."
        )
    return tuple(made)


def _moved(bias: float) -> str:
    """What limits or bounds moved an answer by, with its sign."""
    return "0" if not bias else f"{'+' if bias > 0 else '−'}{value(abs(bias))}"


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


# -- the defender's view: how large a false record the noise would hide -------------------------------------------


def hidden_sentence(a: Assessment) -> str:
    """How far false records together could move the least accurate query without being seen every other time."""
    q, at = a.hardest, a.verdict.alternative
    now = value(q.planned.hidden)
    then = "" if at is None else f", at ε = {planned(at)} by up to {value(q.at(at, a.release).hidden)}"
    alarms = f"{100 * FALSE_ALARMS:g} of 100"
    return (
        f"The noise hides tampering too. At ε = {planned(a.epsilon)} false records that together move "
        f"{subject(a, q, 'a typical')} by up to {now} go unnoticed at least every other time{then}; that is the best "
        f"test of somebody who knows what the answer should be, with false alarms for {alarms} honest answers."
    )


def hidden_table(a: Assessment) -> Table:
    """Each query, what one honest person may move it by, and what stays hidden at the planned and the second ε."""
    shown = [a.epsilon, *([] if (at := a.verdict.alternative) is None else [at])]
    heads = ["one person", *(f"ε = {planned(e)}" for e in shown)]
    rows = tuple(
        (
            Cell(title(a, q)),
            Cell(value(q.sensitivity / q.divisor)),
            *(Cell(value(q.at(e, a.release).hidden)) for e in shown),
        )
        for q in a.queries
    )
    return Table((Column("Query", Kind.NAME), *(Column(h, label=h) for h in heads)), (Group(rows),))


# -- related people: what their resemblance adds, and how it depends on what is known -----------------------------


def relation(a: Assessment) -> CorrelationFactor | None:
    """The relation of the query that tells most about one of several related people."""
    return worst_factor(a.relations)


def relatives_sentence(a: Assessment) -> str:
    """How much more one answer tells about someone with relatives, and the ε that would make up for it."""
    alike = relation(a)
    if alike is None:
        return ""
    reason = f"{alike.because[:1].upper()}{alike.because[1:]}."
    answer = subject(a, a.queries[alike.query])
    if alike.factor <= 1 + 1e-9:
        return f"{reason} It adds nothing to what {answer} tells about one of them."
    most = "at most "
    known = {0: "none of the others", alike.others: "all the others"}.get(alike.known, f"{alike.known} of the others")
    return (
        f"{reason} To an adversary who knows {known}, {answer} tells {most}{ceil_digits(alike.factor, 3)} times "
        f"as much "
        f"about one of them as if they were independent. To make up for it, ε would have to fall from "
        f"{planned(a.epsilon)} to {epsilon_down(a.epsilon / alike.factor)}."
    )


def relatives_table(alike: CorrelationFactor) -> Table:
    """For each number of related records that are known, how much more one answer tells."""
    levels = list(enumerate(alike.by_known))
    step = max(1, len(levels) // 10)
    shown = [*levels[::step], *([] if (len(levels) - 1) % step == 0 else [levels[-1]])]
    columns = (Column(f"Known, of {alike.others} others", Kind.NAME), Column("times as much as independent"))
    rows = tuple((Cell(f"{k}"), Cell(ceil_digits(level, 3))) for k, level in shown)
    return Table(columns, (Group(rows),), "How many times as much one answer tells")


def relatives_data(a: Assessment) -> list[dict[str, Any]]:
    """Every query's relation as plain values."""
    return [
        {**vars(r), "by_known": list(r.by_known), "query": title(a, a.queries[r.query]), "swing": r.swing}
        for r in a.relations
    ]
