"""A scan in words: who can be isolated, by which columns, and what planned queries tell about them.

The figures are those of one worst-placed person, each for one attack: planned answers that isolate someone together, at
their own ε; or a planned query asked again without the person, outside the plan, with its ε for both answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING

from ..data.schema.inference import ColumnRole
from ..numerics.formatting import ceil_count, frequencies
from ..plan.starter import form_words
from ..results import join_words
from .document import Code, Document, Lead, Paragraph, Section, Tone, plain_table, said
from .presenters import to_know
from .sentences import at_most, of_100, people_of_100

if TYPE_CHECKING:
    from ..data.scan.answer_combinations import AnswerCombination, IsolatingPair
    from ..data.scan.result import PlannedRisk, Scan
    from ..data.schema.inference import ColumnSchema, TableSchema
    from ..plan.starter import Start


_MOST_PEOPLE = 50
_MOST_SUBSETS = 12
_MOST_COMBINATIONS = 12
_LEVELS = ("worst", "99%", "90%", "median")


def present(scan: Scan) -> Document:
    """The sentence, the tables, what must be said."""
    tables = [_combinations(scan), _fewest(scan), _columns(scan)]
    if scan.queries:
        tables.append(_queries(scan))
    if any(risk.found.compared for risk in scan.planned):
        tables.append(_planned(scan))
    if scan.shown:
        tables.append(_people(scan))
    pairs = [f"{p.first} and {p.second}: {_pair(p)}" for p in scan.pairs]
    remarks = [text for text in (*pairs, *_lost(scan), verdict(scan), *population(scan), *scan.notes) if text]
    return Document(
        "Who can be isolated",
        "Who can be isolated",
        (Lead((said(sentence(scan)),)),),
        (*tables, *to_know(remarks)),
        side=scan.table,
    )


def alone(scan: Scan) -> tuple[str, str]:
    """The sentence in two parts: how many people, and where they are alone."""
    verb = "is" if scan.isolated == scan.people == 1 else "are"
    among = "their combination of" if len(scan.quasi_identifiers) > 1 else "their"
    knowing = ""
    if scan.known_columns < len(scan.quasi_identifiers):
        knowing = f"some {scan.known_columns} of " if scan.known_columns > 1 else "one of "
    return people_of_100(scan.isolated, scan.people), (
        f"({scan.isolated:,} of {scan.people:,}) {verb} alone in {among} {knowing}{join_words(scan.quasi_identifiers)}."
    )


def sentence(scan: Scan) -> str:
    """The scan in a sentence."""
    if not scan.people:
        return "This table has no people in it, so nobody can be isolated."
    many, where = alone(scan)
    return f"{many} in this table {where}"


def verdict(scan: Scan) -> str:
    """Whether the limit holds, and the largest ε for which it does; empty without a limit."""
    words = []
    if scan.exceeded is not None and scan.at_most is not None:
        attacks = [text for text in (_by_plan(scan), _outside(scan)) if text]
        state = "over" if scan.exceeded else "within"
        share = f" for {100 * scan.quantile:g}% of people" if scan.quantile else ""
        which = "That is" if len(attacks) == 1 else "The worse of the two is" if attacks else "Nobody is isolated:"
        words += [*attacks, f"{which} {state} your limit of {100 * scan.at_most:g}{share}."]
    if scan.largest_epsilon is not None:
        words.append(f"The largest ε that stays within it is {_down(scan.largest_epsilon):g}.")
    return " ".join(words)


def _by_plan(scan: Scan) -> str:
    """What planned answers tell by themselves about the person they isolate best."""
    worst = scan.worst_planned
    if worst is None or worst.success is None or worst.known is None:
        return ""
    most = at_most(_right(worst.success), bound=worst.bound)
    words = (
        f"At ε = {scan.epsilon:g} for each answer, whoever combines planned answers ({combination(scan, worst.found)}) "
        f"guesses right about the worst-placed person, for this attack, for {most}{_right(worst.success)}; "
        "without the release for 50 of 100"
    )
    if worst.known > worst.success:
        words += f"; whoever knows everyone else’s records, for {_right(worst.known)}"
    return words + "."


def _right(p: float) -> str:
    """Right guesses, counted as wherever else they are told beside a coin's."""
    return frequencies(p, given=[0.5])[0]


def _outside(scan: Scan) -> str:
    """What a planned query tells if it is asked again without the person."""
    worst = scan.worst
    if worst is None or not worst.success or worst.known is None or not worst.gap["worst"]:
        return ""
    if scan.known:
        return (
            f"At ε = {scan.epsilon:g} the attacker who knows the exact answer without them guesses right about the "
            f"worst-placed person, for this attack, for {_right(worst.success['worst'])}; "
            "without the release for 50 of 100."
        )
    return (
        f"Whoever asks a planned query twice, with the worst-placed person and without, at half of ε = "
        f"{scan.epsilon:g} each, guesses right, for this attack, for {_right(worst.success['worst'])}; "
        f"with one of the two answers known exactly, for {_right(worst.known)}; without the release for 50 of 100."
    )


def population(scan: Scan) -> list[str]:
    """What being alone in the table takes, and what it does not say about the population."""
    if not scan.isolated:
        return []
    words = (
        "To single out a person who is alone in a combination takes one answer about it alone, or two that differ only "
        "by them: questions outside the plan, unless planned answers are named here. Alone in this table is not alone "
        "in the population: "
        "people outside the table may share the combination."
    )
    right, share = scan.right_matches, scan.sampling_fraction
    if right is not None and share is not None:
        words += (
            f" The table holds {of_100(share)} people of the population: of those found there by all these columns "
            f"and taken for a person alone in the table, an estimated {of_100(right)} are that person."
        )
    return [words]


def combination(scan: Scan, found: AnswerCombination) -> str:
    """A combination of planned answers as a sum or difference."""
    names = {i: str(scan.queries[i].query) for i in found.queries}
    if not found.weights:
        return join_words([*dict.fromkeys(names.values())])
    words = ""
    terms = Counter(zip(found.queries, found.weights, strict=True))
    for (i, weight), many in sorted(terms.items(), key=lambda term: (term[0][1] < 0, term[0])):
        grouped = bool(scan.queries[i].query.groups)
        size = f"{abs(weight)} × " if abs(weight) != 1 else ""
        name = f"{many} groups of {names[i]}" if many > 1 else f"a group of {names[i]}" if grouped else names[i]
        sign = " − " if weight < 0 else " + "
        words += (sign if words else sign.strip() + " " if weight < 0 else "") + size + name
    return words


def _pair(pair: IsolatingPair) -> str:
    """What a pair of answers gives away."""
    if not pair.compared:
        return "too many joint groups to compare."
    many = f"{pair.people:,} people" if pair.people != 1 else "one person"
    return f"those whom these answers may cover differ in exactly one person, for {many}."


def _lost(scan: Scan) -> list[str]:
    """Which answers were too many to combine."""
    return [
        f"{join_words([str(scan.queries[i].query) for i in found.queries])}: too many answers to look for sums and "
        "differences of more than two that isolate a person; such ones may exist."
        for found in scan.combinations
        if not found.compared
    ]


def _section(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Section:
    return Section(title, (plain_table(head, rows, title),))


def _combinations(scan: Scan) -> Section:
    total = scan.people or 1
    best = sorted(scan.subsets, key=lambda s: (-s.people, len(s.columns)))[:_MOST_SUBSETS]
    some = f" ({len(best)} of {len(scan.subsets)} combinations)" if len(best) < len(scan.subsets) else ""
    rows = [[", ".join(s.columns), f"{s.people:,}", f"{100 * s.people / total:.1f}"] for s in best]
    return _section(f"People a combination isolates{some}", ["columns", "people", "of 100"], rows)


def _fewest(scan: Scan) -> Section:
    rows = [[str(k), f"{v:,}"] for k, v in scan.fewest.items()]
    return _section(
        "Fewest columns that isolate a person", ["columns", "people"], [*rows, ["never alone", f"{scan.never:,}"]]
    )


def _columns(scan: Scan) -> Section:
    rows = [
        [
            c.column,
            f"{c.alone:,}",
            "–" if c.lost_without is None else f"{c.lost_without:,}",
            "–" if c.shapley is None else f"{c.shapley:,.1f}",
        ]
        for c in sorted(scan.columns, key=lambda c: -(c.shapley or c.alone))
    ]
    head = ["column", "isolates alone", "fewer without it", "fair share"]
    return _section("What each column contributes", head, rows)


def _queries(scan: Scan) -> Section:
    rows = []
    for q in scan.queries:
        odds = ["–"] * len(_LEVELS) if q.success is None else [_percent(q.success[k]) for k in _LEVELS]
        over = "–" if q.above is None else f"{q.above:,}"
        most = "–" if q.largest_epsilon is None else f"{_down(q.largest_epsilon):g}"
        rows.append([str(q.query), f"{q.sensitivity:g}", f"{q.gap['worst']:g}", *odds, over, most])
    title = "Right guesses of an isolated person's secret, of 100"
    if scan.epsilon is not None:
        title += f", at ε = {scan.epsilon:g}"
    return _section(title, ["query", "sensitivity", "largest gap", *_LEVELS, "over limit", "largest ε"], rows)


def _planned(scan: Scan) -> Section:
    compared = [risk for risk in scan.planned if risk.found.compared]
    worst = sorted(compared, key=lambda risk: -(risk.success or risk.found.shift))[:_MOST_COMBINATIONS]
    rows = []
    for risk in worst:
        most = "–" if risk.largest_epsilon is None else f"{_down(risk.largest_epsilon):g}"
        people = f"{risk.found.people:,}" if risk.found.kind >= 0 else f"at most {risk.found.people:,}"
        rows.append([combination(scan, risk.found), people, _guesses(risk), _percent(risk.known), most])
    some = f" ({len(worst)} of {len(compared)} combinations)" if len(worst) < len(compared) else ""
    title = f"Planned answers that isolate a person, right guesses of 100{some}"
    if scan.epsilon is not None:
        title += f", at ε = {scan.epsilon:g} each"
    return _section(title, ["answers", "people", "nothing known", "everyone else known", "largest ε"], rows)


def _guesses(risk: PlannedRisk) -> str:
    if not risk.bound or risk.success is None:
        return _percent(risk.success)
    low = "" if risk.alone is None or risk.alone >= risk.success else f"{_percent(risk.alone)} to "
    return f"{low or 'at most '}{_percent(risk.success)}"


def _percent(share: float | None) -> str:
    """A chance out of 100, rounded up as the sentences round it."""
    return "–" if share is None else f"{ceil_count(100 * share, 1):.1f}"


def _people(scan: Scan) -> Section:
    head = list(scan.shown[0])
    rows = [["" if v is None else str(v) for v in person.values()] for person in scan.shown[:_MOST_PEOPLE]]
    return _section(f"Isolated people ({len(rows)} shown)", head, rows)


def _down(epsilon: float) -> float:
    """Three digits, rounded down: a printed ε must keep the limit it was chosen for."""
    return float(Context(prec=3, rounding=ROUND_FLOOR).create_decimal(Decimal(epsilon)))


# A plan to start from, with what was understood of the table: the paragraph, the columns, the plan.

_ROLES = {
    ColumnRole.IDENTIFIER: "identifier",
    ColumnRole.DATE: "date",
    ColumnRole.CODE: "code",
    ColumnRole.CATEGORY: "category",
    ColumnRole.NUMBER: "number",
    ColumnRole.FREE: "free text",
    ColumnRole.EMPTY: "says nothing",
    ColumnRole.OTHER: "cannot be used",
}


def start_sentence(start: Start) -> str:
    """What was understood."""
    return start.sentence


def of_start(start: Start) -> Document:
    """The paragraph, what to look at, every column, the plan."""
    found = start.understanding
    rows = [
        [c.name, _ROLES[c.role], _part(c, found), form_words(c), f"{c.distinct:,}", f"{c.empty:,}"]
        for c in found.columns
    ]
    head = ["Column", "What it holds", "What it may be", "Read as", "Different values, about", "Empty rows, about"]
    return Document(
        "A release to start from",
        "A release to start from",
        (Lead((said(start.sentence),)), *(Paragraph(said(f"▲ {text}"), Tone.WARNING) for text in start.warnings)),
        (Section("The columns", (plain_table(head, rows),)), Section("The plan", (Code(start.yaml),))),
        side=found.table,
    )


def _part(column: ColumnSchema, found: TableSchema) -> str:
    """What a column may be to an attacker."""
    if found.person is not None and column.name == found.person.name:
        return "the person"
    if found.unit is not None and column.name == found.unit.name:
        return "who belongs together"
    if any(column.name == owner.name for owner in found.others):
        return "perhaps the person"
    parts = ["known of people"] * column.known + ["a secret"] * column.secret
    return " and ".join(parts)
