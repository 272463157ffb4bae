"""What a scan is asked: every argument of :func:`epsilens.scan` but the table, checked once and named; and the attack.

The attack is where a scan meets the mathematics. Success grows with the gap, and a scan knows gaps as a histogram. So
one call serves all people of it, and the ε for a quantile of people is the ε for that quantile's gap. The formulas are
those of :mod:`epsilens.build.differencing`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...build.differencing import differencing
from ...checks import choice, positive, probability, scalar, whole
from ...choice.choice import choose
from ...errors import InputError
from ..queries import Noise, Query, parse_queries
from ..tables.columns import column_of, value_of

__all__ = ["Attack", "ScanRequest"]


@dataclass(frozen=True)
class Attack:
    """The noise on the answers, and whether the attacker knows one of the two answers exactly."""

    noise: Noise = Noise.LAPLACE
    delta: float | None = None
    known: bool = False

    @classmethod
    def on(cls, queries: tuple[Query, ...], noise: str, delta: float | None, known: bool) -> Attack:
        """The attack on planned queries, or a sentence about noise that does not exist or does not fit them.

        >>> from ..queries import QueryKind
        >>> Attack.on((Query(QueryKind.SUM, "visits", bounds=(0, 77)),), "geometric", None, False)
        Traceback (most recent call last):
        epsilens.errors.InputError: noise is 'geometric', which is for whole numbers, but 'sum visits bounds 0 77' is planned: use 'laplace' or 'gaussian'
        """  # noqa: E501 - the message is one sentence, on one line
        choice("noise", noise, tuple(Noise))
        made = cls(Noise(noise), delta, known)
        if (delta is not None) != (made.noise is Noise.GAUSSIAN):
            raise InputError(
                f"delta is {delta!r} with {noise} noise: gaussian noise needs a delta, the others take none",
                parameter="delta",
            )
        for query in queries:
            if made.noise is Noise.GEOMETRIC and query.bounds is not None:
                raise InputError(
                    f"noise is 'geometric', which is for whole numbers, but {str(query)!r} is planned: "
                    "use 'laplace' or 'gaussian'",
                    parameter="noise",
                )
        return made

    def success(self, epsilon: float, gaps: NDArray[np.float64], sensitivity: float) -> NDArray[np.float64]:
        r"""How often the attacker's guess of the secret is right, for each gap.

        With Laplace noise and r = gap/sensitivity, two noisy answers give
        :math:`1-\frac12(1+r\varepsilon/8)e^{-r\varepsilon/4}`, and one answer known exactly
        :math:`1-\frac12 e^{-r\varepsilon/2}` (reference sheet §2).

        >>> Attack().success(1.0, np.array([0.0, 1.0]), 1.0).round(12).tolist()
        [0.5, 0.561924559522]
        """
        given = self._given(sensitivity)
        if self.noise is Noise.GEOMETRIC:  # enumerated, one gap at a time; gaps of counts are few
            each, where = np.unique(gaps, return_inverse=True)
            odds = [differencing(epsilon=epsilon, gap=float(g), **given).success() for g in each]
            return np.asarray(odds, float)[where]
        return np.asarray(differencing(epsilon=epsilon, gap=gaps, **given).success(), float)

    def largest_epsilon(self, at_most: float, gap: float, sensitivity: float) -> float | None:
        """The largest ε that keeps success at ``gap`` at or below ``at_most``; None when every ε does.

        >>> round(Attack().largest_epsilon(0.55, 1.0, 1.0), 9)
        0.804917289
        """
        if gap <= 0:
            return None
        given = {"gap": gap, **self._given(sensitivity)}
        return float(choose(differencing, "epsilon", at_most=at_most, reading="success", given=given).value)

    def _given(self, sensitivity: float) -> dict[str, Any]:
        made: dict[str, Any] = {"sensitivity": sensitivity, "known": self.known, "noise": self.noise.value}
        return made if self.delta is None else {**made, "delta": self.delta}


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
    sampling_fraction: float | None = None

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
        sampling_fraction: float | None = None,
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
        share = None if sampling_fraction is None else scalar("sampling_fraction", sampling_fraction)
        if share is not None and not 0 < share <= 1:
            raise InputError(
                f"sampling_fraction is {share:g}: give the share of the population that is in the table, above 0 and "
                "at most 1",
                parameter="sampling_fraction",
            )
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
            sampling_fraction=share,
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
