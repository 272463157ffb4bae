"""What a scan is asked: every argument of :func:`epsilens.scan` but the table, checked once and named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...checks import positive, probability, scalar, whole
from ...errors import InputError
from ..queries import Query, parse_queries
from ..tables.columns import column_of, value_of
from .attack import Attack

__all__ = ["ScanRequest"]


@dataclass(frozen=True)
class ScanRequest:
    """The question of a scan; ``max_rows`` and ``known_columns`` are None where the table decides."""

    quasi_identifiers: tuple[str, ...]
    person: str | None
    known_columns: int | None
    min_query_size: int
    max_rows: int | None
    queries: tuple[Query, ...]
    epsilon: float | None
    limit: float | None
    quantile: float | None
    attack: Attack
    show_people: bool

    @classmethod
    def of(
        cls,
        quasi_identifiers: Sequence[str],
        *,
        limit: float | Mapping[str, float] | None,
        epsilon: float | None,
        quantile: float | None,
        min_query_size: int,
        max_rows: int | None,
        queries: str | Query | Iterable[str | Query],
        noise: str,
        delta: float | None,
        known: bool,
        **others: Any,
    ) -> ScanRequest:
        """The request of what a caller gave, or a sentence about the first argument that is wrong."""
        at_most = _limit(limit)
        if epsilon is not None:
            epsilon = float(positive("epsilon", scalar("epsilon", epsilon)))
        if quantile is not None:
            quantile = float(probability("quantile", scalar("quantile", quantile), closed=False))
        fewest = whole("min_query_size", min_query_size, low=1)
        most = None if max_rows is None else whole("max_rows", max_rows, low=1)
        planned = parse_queries(queries)
        names = quasi_identifiers
        return cls(
            quasi_identifiers=tuple(n.strip() for n in names.split(",")) if isinstance(names, str) else tuple(names),
            limit=at_most,
            epsilon=epsilon,
            quantile=quantile,
            min_query_size=fewest,
            max_rows=most,
            queries=planned,
            attack=Attack.on(planned, noise, delta, known),
            **others,
        )

    @property
    def by_person(self) -> bool:
        """Whether a column says whose row it is; otherwise every row is a person."""
        return self.person is not None

    def columns(self, table: Any) -> int:
        """The most columns the attacker knows, after checking that ``table`` has those that were named."""
        quasi = self.quasi_identifiers
        if not quasi:
            raise InputError(
                "quasi_identifiers is empty: give at least one column an attacker may know",
                parameter="quasi_identifiers",
            )
        twice = [n for n in quasi if quasi.count(n) > 1]
        if twice:
            raise InputError(
                f"quasi_identifiers has {twice[0]!r} twice: give each column once", parameter="quasi_identifiers"
            )
        for name in quasi:
            value_of(column_of(table, name, "quasi_identifiers"), "quasi_identifiers")
        if self.person is not None and self.person in quasi:
            raise InputError(
                f"person is {self.person!r}, which is also a quasi-identifier: leave it out of one of them",
                parameter="person",
            )
        if self.known_columns is None:
            return len(quasi)
        return whole("known_columns", self.known_columns, low=1, high=len(quasi))


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
