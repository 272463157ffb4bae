"""A scan in words: who can be isolated, by which columns, and what planned queries tell about them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING

from ..shown import listed
from .document import Document, Lead, Section, plain_table, said
from .presenters import to_know
from .words import of_100, people_of_100

if TYPE_CHECKING:
    from ..data.scan.pairs import IsolatingPair
    from ..data.scan.result import Scan

__all__ = ["alone", "present", "sentence", "verdict"]

_MOST_PEOPLE = 50
_MOST_SUBSETS = 12
_LEVELS = ("worst", "99%", "90%", "median")


def present(scan: Scan) -> Document:
    """The sentence, the tables, what must be said."""
    tables = [_combinations(scan), _fewest(scan), _columns(scan)]
    if scan.queries:
        tables.append(_queries(scan))
    if scan.shown:
        tables.append(_people(scan))
    pairs = [f"{p.first} and {p.second}: {_pair(p)}" for p in scan.pairs]
    remarks = [text for text in (*pairs, verdict(scan), *scan.notes) if text]
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
        f"({scan.isolated:,} of {scan.people:,}) {verb} alone in {among} {knowing}{listed(scan.quasi_identifiers)}."
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
    worst = scan.worst
    if scan.exceeded is not None and scan.limit is not None and worst and worst.success:
        state = "over" if scan.exceeded else "within"
        words.append(
            f"At ε = {scan.epsilon:g} the attacker guesses right for {of_100(worst.success['worst'])} "
            f"in the worst case, without the release for 50 of 100: {state} your limit of {100 * scan.limit:g}"
            + (f" for {100 * scan.quantile:g}% of people." if scan.quantile else ".")
        )
    if scan.largest_epsilon is not None:
        words.append(f"The largest ε that stays within it is {_down(scan.largest_epsilon):g}.")
    return " ".join(words)


def _pair(pair: IsolatingPair) -> str:
    """What a pair of answers gives away."""
    if not pair.compared:
        return "too many joint groups to compare."
    many = f"{pair.people:,} people" if pair.people != 1 else "one person"
    return f"these answers differ in exactly one person, for {many}."


# -- tables -------------------------------------------------------------------------------------------------------


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
        odds = ["–"] * len(_LEVELS) if q.success is None else [f"{100 * q.success[k]:.1f}" for k in _LEVELS]
        over = "–" if q.above is None else f"{q.above:,}"
        most = "–" if q.largest_epsilon is None else f"{_down(q.largest_epsilon):g}"
        rows.append([str(q.query), f"{q.sensitivity:g}", f"{q.gap['worst']:g}", *odds, over, most])
    title = "Right guesses of an isolated person's secret, of 100"
    if scan.epsilon is not None:
        title += f", at ε = {scan.epsilon:g}"
    return _section(title, ["query", "sensitivity", "largest gap", *_LEVELS, "over limit", "largest ε"], rows)


def _people(scan: Scan) -> Section:
    head = list(scan.shown[0])
    rows = [["" if v is None else str(v) for v in person.values()] for person in scan.shown[:_MOST_PEOPLE]]
    return _section(f"Isolated people ({len(rows)} shown)", head, rows)


def _down(epsilon: float) -> float:
    """Three digits, rounded down: a printed ε must keep the limit it was chosen for."""
    return float(Context(prec=3, rounding=ROUND_FLOOR).create_decimal(Decimal(epsilon)))
