"""The tables of an assessment: adversaries, queries, combinations of columns, false records, and related people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, Context, Decimal
from typing import TYPE_CHECKING, Any

from ...assessment.accuracy import FALSE_ALARMS, Cause
from ...assessment.adversaries import AdversaryGoal, Harm
from ...catalogue.readings import find_reading
from ...data.queries import Noise
from ...numerics.formatting import ceil_count, ceil_digits, distinguishable, floor_digits, frequency
from ..document import Cell, Column, Combination, Combinations, Group, Kind, Row, Table
from ..sentences import cost, number, small

if TYPE_CHECKING:
    from ...assessment.accuracy import GroupError, QueryAccuracy
    from ...assessment.assess import Assessment
    from ...assessment.risks import AdversaryRisk
    from ...plan.model import ReleaseQuery
    from ...plan.movement import CorrelationFactor


# How an assessment writes its numbers (risks, errors, shares and ε), its queries and the release's facts.

# -- numbers, rounded to the safe side ----------------------------------------------------------------------------

#: Readings that are frequencies and are shown out of 100; the others are shown as they are.
FREQUENCIES = ("success", "posterior", "attack_success", "recall", "roc", "precision", "auc")
#: The largest ε anything is read at; what reaches it was never over its limit.
MOST = 700.0


def given(reading: str, at: float) -> str:
    """A risk that was given or would be there anyway (a limit, a baseline), to the nearest.

    >>> given("success", 0.55), given("posterior", 0.0712), given("kl", 0.1)
    ('55', '7.1', '0.1000')
    """
    return _written(reading, at, (), up=False)


def risk(reading: str, value: float, *, limit: float | None = None, baseline: float | None = None) -> str:
    """A risk: out of 100 and rounded up for a frequency, else the number itself.

    Decimals appear where they tell the value from its baseline or from a limit it breaks, or from certainty.

    >>> risk("success", 0.6146, limit=0.55, baseline=0.5), risk("success", 0.5501, limit=0.55)
    ('62', '55.01')
    >>> risk("attack_success", 0.02718, limit=0.02), risk("success", 0.99996), risk("kl", 0.123456)
    ('2.8', '99.996', '0.1235')
    """
    told = [*([limit] if limit is not None and value > limit else [])]
    if reading in FREQUENCIES and baseline is not None and distinguishable(value, baseline):
        told.append(baseline)
    return _written(reading, value, told, up=True)


def _written(reading: str, value: float, beside: Sequence[float], *, up: bool) -> str:
    """With decimals until it reads otherwise than what is ``beside`` it, which it is not, and than certainty."""
    if reading not in FREQUENCIES:
        return number(value, *beside)
    if 0.99999 < value < 1:
        return "> 99.9"
    certain = [100 * end for end in (0.0, 1.0) if value != end]
    x = 100 * value
    if math.isclose(x, round(x), abs_tol=1e-9):
        return f"{round(x)}"
    if value < 1e-6:
        return f"{x:.1e}"
    for places in range(0 if x >= 10 else 1, 15):
        near, text = f"{x:.{places}f}", f"{ceil_count(x, places) if up else x:.{places}f}"
        same = [f"{100 * other:.{places}f}" for other in beside]
        if near not in same and text not in (*same, *(f"{end:.{places}f}" for end in certain)):
            break
    return text.rstrip("0").rstrip(".") if "." in text else text


def limit(reading: str, at: float) -> str:
    """A limit on risk, as it was given.

    >>> limit("success", 0.55), limit("kl", 0.1)
    ('55', '0.1')
    """
    return given(reading, at) if reading in FREQUENCIES else small(at)


def value(x: float) -> str:
    """An answer of a query.

    >>> value(57752.0), value(66.5), value(0.0417), value(0.0), value(-1234.6)
    ('57,752', '67', '0.042', '0', '-1,235')
    """
    if x == 0:
        return "0"
    if abs(x) >= 1e15:
        return f"{x:.3g}"
    if abs(x) >= 10:
        return f"{math.floor(x + 0.5):,}"
    return f"{Decimal(f'{x:.2g}'):f}"


def error(x: float) -> str:
    """A 95% error, rounded up so that 95 of 100 answers do fall within it.

    >>> error(8.987), error(21.2), error(3460.07), error(0.0123)
    ('±9', '±22', '±3,461', '±0.013')
    """
    if not math.isfinite(x) or x >= 1e15:
        return "unbounded" if not math.isfinite(x) else f"±{x:.3g}"
    if x >= 10:
        return f"±{math.ceil(x):,}"
    text = f"{Context(prec=2, rounding=ROUND_CEILING).plus(Decimal(x)):f}"
    return f"±{text.rstrip('0').rstrip('.') if '.' in text else text}"


def share(x: float, limit: float | None = None, *, spoken: bool = False) -> str:
    """An error as a share of the answer, never below it; one that breaks its limit never reads as the limit.

    In a sentence (``spoken``) it has no decimals from 10% on.

    >>> share(0.1348), share(0.15004, 0.15), share(4e-5), share(12.345), share(float("inf"))
    ('13.5%', '15.004%', '<0.1%', '1,235%', 'no share')
    >>> share(0.33, 0.15, spoken=True), share(0.151, 0.15, spoken=True), share(0.025, spoken=True)
    ('33%', '15.1%', '2.5%')
    """
    if not math.isfinite(x):
        return "no share"
    if x < 0.0005:
        return "<0.1%"
    places = 1 if x < (0.1 if spoken else 1) else 0
    while limit is not None and x > limit and places < 12 and f"{100 * x:.{places}f}" == f"{100 * limit:.{places}f}":
        places += 1
    up = math.ceil(100 * x * 10**places - 1e-6) / 10**places
    return f"{up:,.{places}f}%"


def percent(limit: float) -> str:
    """A limit on error as it was given.

    >>> percent(0.15), percent(0.025)
    ('15%', '2.5%')
    """
    return f"{100 * limit:.6g}%"


def planned(epsilon: float) -> str:
    """An ε as it was given.

    >>> planned(1.0), planned(0.1 + 0.2), planned(1e-7)
    ('1', '0.3', '1e-07')
    """
    return f"{epsilon:.10g}"


def chosen(epsilon: float | None) -> str:
    """An ε that was recommended, all of its digits: fewer may break a limit.

    >>> chosen(0.4143), chosen(0.0), chosen(700.0)
    ('0.4143', 'none', 'any')
    """
    return "none" if not epsilon else "any" if epsilon >= MOST else planned(epsilon)


def epsilon_down(epsilon: float) -> str:
    """The largest ε allowed, never above it: two digits below 1, three above.

    >>> epsilon_down(0.41430), epsilon_down(1.78277), epsilon_down(0.0), epsilon_down(700.0)
    ('0.41', '1.78', 'none', 'any')
    """
    if epsilon <= 0:
        return "none"
    return "any" if epsilon >= MOST else floor_digits(epsilon, 2 if epsilon < 1 else 3)


def epsilon_up(epsilon: float, largest: float | None = None) -> str:
    """The smallest ε needed, never below it; more digits where rounding up would pass ``largest``.

    >>> epsilon_up(0.9008), epsilon_up(0.9008, 0.9095), epsilon_up(float("inf"))
    ('0.91', '0.901', 'none')
    """
    if not math.isfinite(epsilon):
        return "none"
    for digits in range(2 if epsilon < 1 else 3, 17):
        text = ceil_digits(epsilon, digits)
        if largest is None or float(text) <= largest:
            return text
    return ceil_digits(epsilon, 17)


# -- queries, and the release at a glance -------------------------------------------------------------------------

_NOUNS = {"count": "count", "histogram": "count", "sum": "total", "average": "average"}


def _query(a: Assessment, q: QueryAccuracy) -> ReleaseQuery:
    return a.release.queries[next(i for i, other in enumerate(a.queries) if other is q)]


def title(a: Assessment, q: QueryAccuracy) -> str:
    """The query's name: its own, or what it asks."""
    return asked_title(_query(a, q), bool(a.release.data.person))


def asked_title(query: ReleaseQuery, people: bool) -> str:
    """A planned query's name, or what it asks; ``people`` are counted where rows say whose they are.

    >>> from epsilens.plan.model import ReleaseQuery
    >>> asked_title(ReleaseQuery(sum="visits", bounds=(0, 77)), True)
    'Total visits'
    """
    by = f", by {' and '.join(query.split_by)}" if query.split_by else ""
    if query.name:
        return query.name + by
    if query.count not in (None, False):
        of = "people" if people else "rows"
        where = query.count if isinstance(query.count, str) else query.where
        return f"Count of {of}" + (f" where {where}" if where else "") + by
    where = f" where {query.where}" if query.where else ""
    if query.histogram:
        return f"Counts{where}{by}"
    return (f"Total {query.sum}" if query.sum else f"Average {query.average}") + where + by


def detail(a: Assessment, q: QueryAccuracy) -> str:
    """How many answers there are, and the bounds."""
    query = _query(a, q)
    parts = []
    if query.split_by:
        values = [answer.value for answer in q.answers]
        plural = {"count": "counts", "total": "totals", "average": "averages"}[_NOUNS[q.kind]]
        if values:
            parts.append(f"{len(values):,} {plural}, from {value(min(values))} to {value(max(values))}")
        else:
            parts.append("no answers: no row meets the condition")
    if query.bounds:
        low, high = query.bounds
        parts.append(f"bounds {value(low)} to {value(high)} a row")
        if a.release.data.person:
            rows = a.release.data.max_rows
            parts.append(f"{rows} row{'s' if rows > 1 else ''} a person")
    return ", ".join(parts)


def called(a: Assessment, q: QueryAccuracy) -> str:
    """The query in a sentence: by its name, or by its place."""
    query = a.release.queries[q.index]
    return f"“{query.name}”" if query.name else f"query {q.index + 1}"


def subject(a: Assessment, q: QueryAccuracy, which: str = "the least accurate") -> str:
    """The query inside a sentence: "the least accurate count by site", "the total visits"; its name where it tells."""
    query = _query(a, q)
    short = _short(query, which)
    if sum(_short(other, which) == short for other in a.release.queries) == 1:
        return short
    place = next(i for i, other in enumerate(a.queries) if other is q) + 1
    return f"{short} (“{query.name}”)" if query.name else f"{short} (query {place})"


def _short(query: ReleaseQuery, which: str) -> str:
    noun = "total" if query.sum else "average" if query.average else "count"
    of = f" {query.sum or query.average}" if query.sum or query.average else ""
    if query.split_by:
        return f"{which} {noun}{of} by {' and '.join(query.split_by)}"
    return f"the {noun}{of}"


def typical_label(a: Assessment, q: QueryAccuracy, which: str = "typical") -> str:
    """What the answer shown stands for, where there are several; whose group it is would say too much."""
    by = _query(a, q).split_by
    return f"typical {' and '.join(by)}" if by and which == "typical" else ""


def group_name(a: Assessment, q: QueryAccuracy, group: tuple[str, ...], most: int = 18) -> str:
    """A group's label in a picture: its column too where the value is only a number."""
    if not group:
        return _NOUNS[q.kind].capitalize()
    by = _query(a, q).split_by
    if len(group) == 1 and group[0].lstrip("-").replace(".", "", 1).isdigit():
        text = f"{by[0][:1].upper()}{by[0][1:]} {group[0]}"
    else:
        text = ", ".join(group)
    return text if len(text) <= most else text[: most - 1] + "…"


def facts(a: Assessment) -> list[tuple[str, str]]:
    """The release at a glance, for the side of the page."""
    r = a.release
    made = [("Data", _table(a))]
    many = len(r.queries)
    equal = max(r.shares) - min(r.shares) < 1e-12
    split = "sharing ε equally" if equal else "each with its own share of ε"
    made.append(("Queries", f"{many}, {split}" if many > 1 else "1"))
    noise = r.mechanism.noise.capitalize()
    gaussian = r.mechanism.noise is Noise.GAUSSIAN and r.mechanism.delta is not None
    made.append(("Noise", f"{noise}, δ = {small(r.mechanism.delta or 0.0)}" if gaussian else noise))
    names = a.figures[a.epsilon].names
    if names:
        made.append(("Names of groups", "from the data" if names == 1 else f"by threshold, δ = {cost(names)}"))
    made.append(("Planned", f"ε = {planned(a.epsilon)}"))
    first = next(iter(r.limits), None)
    told = [_limit(name, limited.at_most, first=name == first) for name, limited in r.risk_limits.items()]
    made.append(("Limits on risk", "; ".join(told) if told else "none"))
    if r.error_limit is not None:
        made.append(("Limit on error", percent(r.error_limit)))
    return made


def _table(a: Assessment) -> str:
    name = a.table_title or a.release.data.public_name
    if a.scan is None:
        return name
    people, rows = f"{a.scan.people:,} people", f"{a.scan.rows:,} rows"
    return f"{name}\n{people}, {rows}" if a.release.data.person else f"{name}\n{rows}, one a person"


def _limit(name: str, at: float, *, first: bool) -> str:
    label = {"success": "right guesses", "posterior": "belief", "attack_success": "re-identification"}.get(
        name, find_reading(name).label
    )
    return f"{label} {limit(name, at)}" + (" of 100" if first and name in FREQUENCIES else "")


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
        found = [q.planned, *([] if at is None else [a.figures[at].queries[q.index].errors])]
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
            total = error(group.error) if math.isfinite(group.error) else "hidden"
            parts = (error(group.noise), _moved(group.contribution), _moved(group.clamping), hidden, total)
            rows.append((Cell(name), *map(Cell, parts)))
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
    then = ""
    if at is not None:
        then = f", at ε = {planned(at)} by up to {value(a.figures[at].queries[q.index].errors.hidden)}"
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
            *(Cell(value(a.figures[e].queries[q.index].errors.hidden)) for e in shown),
        )
        for q in a.queries
    )
    return Table((Column("Query", Kind.NAME), *(Column(h, label=h) for h in heads)), (Group(rows),))


# -- related people: what their resemblance adds, and how it depends on what is known -----------------------------


def relation(a: Assessment) -> CorrelationFactor | None:
    """The relation of the query that tells most about one of several related people."""
    return a.worst_relation


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


def reached(a: Assessment, r: AdversaryRisk, value: float) -> float:
    """The risk as it is told: what double precision rounds to certainty is not, except a belief under normal noise."""
    return math.nextafter(1, 0) if value == 1 and r.reading in FREQUENCIES and not r.conclusive else value


def second_name(a: Assessment) -> str:
    """What the second ε is to the planned one."""
    return "Recommended" if a.verdict.over_risk else "Largest allowed"
