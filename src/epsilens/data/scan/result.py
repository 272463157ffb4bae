"""What a scan found: a sentence, a table, plain values; nobody's values unless asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...numerics.values import FrozenMapping, ValueSemantics
from ...results import SentenceResult, presenter
from ..queries import Noise
from .combinations import Isolating
from .exposure import QueryRisk
from .pairs import IsolatingPair
from .planned import PlannedRisk
from .population import right_matches

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
class Scan(ValueSemantics, SentenceResult):
    """Who can be isolated in a table, and what planned queries tell about them.

    ``isolated`` people have, among their rows, a combination of at most ``known_columns`` quasi-identifiers that no
    other person has; ``class_sizes`` maps a range of sizes to the combinations of all columns shared by that many
    people; ``fewest[k]`` people need k columns and no fewer, ``never`` are never alone. ``exceeded`` says whether
    the attacker's success is over the limit at ``epsilon``; ``largest_epsilon`` is the one that keeps it there.
    ``planned`` are the planned answers that isolate someone together; they count for both.
    """

    shown_as = "scan"

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
    planned: tuple[PlannedRisk, ...]
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
    sampling_fraction: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "class_sizes", FrozenMapping(self.class_sizes))
        object.__setattr__(self, "fewest", FrozenMapping(self.fewest))
        object.__setattr__(self, "shown", tuple(FrozenMapping(values) for values in self.shown))

    def __repr__(self) -> str:
        table = self.table if len(self.table) <= 60 else self.table[:59] + "…"
        epsilon = "" if self.epsilon is None else f", epsilon={self.epsilon:g}"
        told = "" if self.exceeded is None else f", exceeded={self.exceeded}"
        return (
            f"Scan(table={table!r}, people={self.people}, isolated={self.isolated}, "
            f"quasi_identifiers={len(self.quasi_identifiers)}, queries={len(self.queries)}{epsilon}{told})"
        )

    @property
    def worst(self) -> QueryRisk | None:
        """The planned query under which the attacker does best."""
        return max(self.queries, key=lambda q: q.ratio["worst"], default=None)

    @property
    def right_matches(self) -> float | None:
        """The share of matches between the population and people alone in the table that are right, an estimate.

        It is about combinations of all the columns; None without a sampling fraction, or where nobody is alone.
        """
        if self.sampling_fraction is None:
            return None
        return right_matches(self.sampling_fraction, self.class_sizes["1"], self.class_sizes["2"])

    @property
    def combinations(self) -> tuple[Isolating, ...]:
        """Planned answers that isolate someone together, whatever their noise."""
        return tuple(risk.found for risk in self.planned)

    @property
    def worst_planned(self) -> PlannedRisk | None:
        """The planned answers under which the person they isolate stands worst; None where they isolate nobody."""
        compared = [p for p in self.planned if p.found.compared]
        return max(compared, key=lambda p: (p.success or 0.0, p.found.shift), default=None)

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
        plain["combinations"] = [p.to_dict() for p in plain.pop("planned")]
        plain["right_matches"] = self.right_matches
        plain["worst_query"] = None if self.worst is None else str(self.worst.query)
        plain["shown"] = [dict(s) for s in self.shown]
        plain["notes"] = list(self.notes)
        return plain

    @property
    def verdict(self) -> str:
        """Whether the limit holds, and the largest ε for which it does; empty without a limit."""
        return presenter().verdict(self)
