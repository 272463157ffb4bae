"""What a scan found: a sentence, a table, plain values; nobody's values unless asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...numerics.frozen import Frozen, Valued
from ..queries import Noise
from ..words import listed, of_100, people_of_100
from .exposure import QueryRisk
from .pairs import IsolatingPair

__all__ = ["ColumnShare", "Isolation", "Scan", "pair_words"]

#: The version of ``Scan.to_dict``; it changes when a key changes its name or meaning.
SCHEMA = 1


@dataclass(frozen=True)
class Isolation:
    """One subset of the quasi-identifiers: the combinations it takes and the people it isolates."""

    columns: tuple[str, ...]
    combinations: int
    people: int


@dataclass(frozen=True)
class ColumnShare:
    """What one column contributes to isolation.

    ``alone`` people are isolated by this column by itself; ``lost_without`` fewer are isolated when it is left out;
    ``shapley`` is its fair share of the people isolated by all columns (the shares add up to them). The last two are
    None when ``known_columns`` leaves out the subsets they need.
    """

    column: str
    alone: int
    lost_without: int | None
    shapley: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Scan(Valued):
    """Who can be isolated in a table, and what planned queries tell about them.

    ``isolated`` people have, among their rows, a combination of at most ``known_columns`` quasi-identifiers that no
    other person has; ``class_sizes`` maps a range of sizes to the combinations of all columns shared by that many
    people; ``fewest[k]`` people need k columns and no fewer, ``never`` are never alone. ``exceeded`` says whether
    the attacker's success is over the limit at ``epsilon``; ``largest_epsilon`` is the one that keeps it there.
    """

    table: str
    engine: str
    rows: int
    people: int
    person: str | None
    quasi_identifiers: tuple[str, ...]
    known_columns: int
    min_query_size: int
    isolated: int
    class_sizes: Mapping[str, int]
    subsets: tuple[Isolation, ...]
    fewest: Mapping[int, int]
    never: int
    columns: tuple[ColumnShare, ...]
    queries: tuple[QueryRisk, ...]
    pairs: tuple[IsolatingPair, ...]
    epsilon: float | None
    limit: float | None
    quantile: float | None
    noise: Noise
    delta: float | None
    known: bool
    max_rows: int
    largest_epsilon: float | None
    exceeded: bool | None
    shown: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "class_sizes", Frozen(self.class_sizes))
        object.__setattr__(self, "fewest", Frozen(self.fewest))
        object.__setattr__(self, "shown", tuple(Frozen(values) for values in self.shown))

    def __repr__(self) -> str:
        table = self.table if len(self.table) <= 60 else self.table[:59] + "…"
        epsilon = "" if self.epsilon is None else f", epsilon={self.epsilon:g}"
        told = "" if self.exceeded is None else f", exceeded={self.exceeded}"
        return (
            f"Scan(table={table!r}, people={self.people}, isolated={self.isolated}, "
            f"quasi_identifiers={len(self.quasi_identifiers)}, queries={len(self.queries)}{epsilon}{told})"
        )

    @property
    def sentence(self) -> str:
        """The scan in a sentence."""
        if not self.people:
            return "This table has no people in it, so nobody can be isolated."
        verb = "is" if self.isolated == self.people == 1 else "are"
        among = "their combination of" if len(self.quasi_identifiers) > 1 else "their"
        knowing = ""
        if self.known_columns < len(self.quasi_identifiers):
            knowing = f"some {self.known_columns} of " if self.known_columns > 1 else "one of "
        return (
            f"{people_of_100(self.isolated, self.people)} in this table ({self.isolated:,} of {self.people:,}) "
            f"{verb} alone in {among} {knowing}{listed(self.quasi_identifiers)}."
        )

    @property
    def worst(self) -> QueryRisk | None:
        """The planned query under which the attacker does best."""
        return max(self.queries, key=lambda q: q.ratio["worst"], default=None)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON."""
        plain = dict(vars(self))
        plain["class_sizes"] = dict(self.class_sizes)
        plain["noise"] = self.noise.value
        plain["schema"] = SCHEMA
        plain["sentence"] = self.sentence
        plain["quasi_identifiers"] = list(self.quasi_identifiers)
        plain["subsets"] = [{**vars(s), "columns": list(s.columns)} for s in self.subsets]
        plain["fewest"] = {str(k): v for k, v in self.fewest.items()}
        plain["columns"] = [dict(vars(c)) for c in self.columns]
        plain["queries"] = [q.to_dict() for q in self.queries]
        plain["pairs"] = [p.to_dict() for p in self.pairs]
        plain["worst_query"] = None if self.worst is None else str(self.worst.query)
        plain["shown"] = [dict(s) for s in self.shown]
        plain["notes"] = list(self.notes)
        return plain

    def __str__(self) -> str:
        from ...show.scan import ScanReport

        return ScanReport(self).to_text()

    def _repr_html_(self) -> str:
        from ...show.scan import ScanReport

        return ScanReport(self).to_html_fragment()

    def tables(self) -> list[tuple[str, list[str], list[list[str]]]]:
        """The tables of the printed form: title, header, rows."""
        total = self.people or 1
        best = sorted(self.subsets, key=lambda s: (-s.people, len(s.columns)))[:12]
        made = [
            (
                "People a combination isolates"
                + (f" ({len(best)} of {len(self.subsets)} combinations)" if len(best) < len(self.subsets) else ""),
                ["columns", "people", "of 100"],
                [[", ".join(s.columns), f"{s.people:,}", f"{100 * s.people / total:.1f}"] for s in best],
            ),
            (
                "Fewest columns that isolate a person",
                ["columns", "people"],
                [[str(k), f"{v:,}"] for k, v in self.fewest.items()] + [["never alone", f"{self.never:,}"]],
            ),
            (
                "What each column contributes",
                ["column", "isolates alone", "fewer without it", "fair share"],
                [
                    [
                        c.column,
                        f"{c.alone:,}",
                        "–" if c.lost_without is None else f"{c.lost_without:,}",
                        "–" if c.shapley is None else f"{c.shapley:,.1f}",
                    ]
                    for c in sorted(self.columns, key=lambda c: -(c.shapley or c.alone))
                ],
            ),
        ]
        if self.queries:
            levels = ["worst", "99%", "90%", "median"]
            rows = []
            for q in self.queries:
                odds = ["–"] * 4 if q.success is None else [f"{100 * q.success[k]:.1f}" for k in levels]
                rows.append(
                    [
                        str(q.query),
                        f"{q.sensitivity:g}",
                        f"{q.gap['worst']:g}",
                        *odds,
                        "–" if q.above is None else f"{q.above:,}",
                        "–" if q.largest_epsilon is None else f"{_down(q.largest_epsilon):g}",
                    ]
                )
            title = "Right guesses of an isolated person's secret, of 100"
            if self.epsilon is not None:
                title += f", at ε = {self.epsilon:g}"
            made.append((title, ["query", "sensitivity", "largest gap", *levels, "over limit", "largest ε"], rows))
        return made

    @property
    def verdict(self) -> str:
        """Whether the limit holds, and the largest ε for which it does; empty without a limit."""
        words = []
        if self.exceeded is not None and self.limit is not None and self.worst and self.worst.success:
            state = "over" if self.exceeded else "within"
            words.append(
                f"At ε = {self.epsilon:g} the attacker guesses right for {of_100(self.worst.success['worst'])} "
                f"in the worst case, without the release for 50 of 100: {state} your limit of {100 * self.limit:g}"
                + (f" for {100 * self.quantile:g}% of people." if self.quantile else ".")
            )
        if self.largest_epsilon is not None:
            words.append(f"The largest ε that stays within it is {_down(self.largest_epsilon):g}.")
        return " ".join(words)


def pair_words(pair: IsolatingPair) -> str:
    """What a pair of answers gives away."""
    if not pair.compared:
        return "too many joint groups to compare."
    many = f"{pair.people:,} people" if pair.people != 1 else "one person"
    return f"these answers differ in exactly one person, for {many}."


def _down(epsilon: float) -> float:
    """Three digits, rounded down: a printed ε must keep the limit it was chosen for."""
    from decimal import ROUND_FLOOR, Context, Decimal

    return float(Context(prec=3, rounding=ROUND_FLOOR).create_decimal(Decimal(epsilon)))
