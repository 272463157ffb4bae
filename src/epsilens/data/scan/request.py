"""What a scan is asked: every argument of :func:`epsilens.scan` but the table, checked once and named; and the attack.

The attack is where a scan meets the mathematics. Success grows with the gap, and a scan knows gaps as a histogram. So
one call serves all people of it, and the ε for a quantile of people is the ε for that quantile's gap. The formulas are
those of :mod:`epsilens.attacks.differencing_queries`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...attacks.differencing_queries import differencing
from ...calibration.choose import choose
from ...checks import integer, one_of, positive, probability, scalar
from ...errors import InputError
from ...shares import parse_shares
from ..queries import Noise, Query, parse_queries
from ..tables.columns import column_of, value_of

if TYPE_CHECKING:
    import ibis.expr.types as ir

#: The most combinations of columns a scan looks at: those of 12 columns, and of 90 where an attacker knows two.
MOST_SUBSETS = 4096


def count_subsets(columns: int, at_most: int) -> int:
    """How many combinations there are of at most so many of the columns, without listing them.

    >>> count_subsets(3, 2), count_subsets(12, 12), count_subsets(64, 64) == 2**64 - 1
    (6, 4095, True)
    """
    return sum(math.comb(columns, size) for size in range(1, min(at_most, columns) + 1))


def most_known(columns: int) -> int:
    """The most columns an attacker may know for a scan of so many to be affordable; 0 where it never is.

    >>> most_known(12), most_known(64), most_known(200), most_known(5000)
    (12, 2, 1, 0)
    """
    return next((k for k in range(min(columns, 12), 0, -1) if count_subsets(columns, k) <= MOST_SUBSETS), 0)


def check_affordable(columns: int, known_columns: int | None = None, settable: bool = True) -> None:
    """Refuse more combinations than a scan looks at, before any is made; ``settable`` where known_columns can be set.

    >>> check_affordable(64)
    Traceback (most recent call last):
    epsilens.errors.InputError: quasi_identifiers has 64 columns, about 1.8e+19 combinations, and at most 4,096 are looked at: name at most the 12 columns an attacker is likeliest to know, or set known_columns to 2 at most
    >>> check_affordable(40, settable=False)
    Traceback (most recent call last):
    epsilens.errors.InputError: quasi_identifiers has 40 columns, about 1.1e+12 combinations, and at most 4,096 are looked at: name at most the 12 columns an attacker is likeliest to know
    """  # noqa: E501 - the messages are one sentence, on one line
    number = count_subsets(columns, known_columns or columns)
    if number <= MOST_SUBSETS:
        return
    known = most_known(columns)
    told = f"{number:,}" if number < 10**9 else f"about {float(number):.1e}"
    other = f", or set known_columns to {known} at most" if settable and known else ""
    raise InputError(
        f"quasi_identifiers has {columns:,} columns, {told} combinations, and at most {MOST_SUBSETS:,} are looked at: "
        f"name at most the 12 columns an attacker is likeliest to know{other}",
        parameter="quasi_identifiers",
    )


@dataclass(frozen=True)
class NoiseAttack:
    """The noise on the answers, and whether the attacker knows one of the two answers exactly."""

    noise: Noise = Noise.LAPLACE
    delta: float | None = None
    known: bool = False

    @classmethod
    def on(cls, queries: tuple[Query, ...], noise: str, delta: float | None, known: bool) -> NoiseAttack:
        """The attack on planned queries, or a sentence about noise that does not exist or does not fit them.

        >>> from ..queries import QueryKind
        >>> NoiseAttack.on((Query(QueryKind.SUM, "visits", bounds=(0, 77)),), "geometric", None, False)
        Traceback (most recent call last):
        epsilens.errors.InputError: noise is 'geometric', which is for whole numbers, but 'sum visits bounds 0 77' is planned: use 'laplace' or 'gaussian'
        """  # noqa: E501 - the message is one sentence, on one line
        one_of("noise", noise, tuple(Noise))
        made = cls(Noise(noise), delta, known)
        if (delta is not None) != (made.noise is Noise.GAUSSIAN):
            raise InputError(
                f"delta is {delta!r} with {noise} noise: gaussian noise needs a delta, the others take none", "delta"
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

        >>> NoiseAttack().success(1.0, np.array([0.0, 1.0]), 1.0).round(12).tolist()
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

        >>> round(NoiseAttack().largest_epsilon(0.55, 1.0, 1.0), 9)
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
    at_most: float | None
    quantile: float | None
    attack: NoiseAttack
    show_people: bool
    sampling_fraction: float | None = None

    @classmethod
    def of(
        cls,
        quasi_identifiers: Sequence[str],
        *,
        at_most: float | Mapping[str, float] | None,
        epsilon: float | None,
        quantile: float | None,
        min_query_size: int,
        max_rows: int | None,
        queries: str | Query | Iterable[str | Query],
        noise: str,
        delta: float | None,
        known: bool,
        known_columns: int | None = None,
        sampling_fraction: float | None = None,
        **others: Any,
    ) -> ScanRequest:
        """The request of what a caller gave, or a sentence about the first argument that is wrong."""
        success = _success_limit(at_most)
        if epsilon is not None:
            epsilon = float(positive("epsilon", scalar("epsilon", epsilon)))
        if quantile is not None:
            quantile = float(probability("quantile", scalar("quantile", quantile), closed=False))
        fewest = integer("min_query_size", min_query_size, low=1)
        most = None if max_rows is None else integer("max_rows", max_rows, low=1)
        share = None if sampling_fraction is None else scalar("sampling_fraction", sampling_fraction)
        if share is not None and not 0 < share <= 1:
            raise InputError(
                f"sampling_fraction is {share:g}: give the share of the population that is in the table, above 0 and "
                "at most 1",
                parameter="sampling_fraction",
            )
        planned = parse_queries(queries)
        names = quasi_identifiers
        quasi = tuple(n.strip() for n in names.split(",")) if isinstance(names, str) else tuple(names)
        if known_columns is not None:
            known_columns = integer("known_columns", known_columns, low=1, high=max(1, len(quasi)))
        check_affordable(len(quasi), known_columns)
        return cls(
            quasi_identifiers=quasi,
            known_columns=known_columns,
            at_most=success,
            epsilon=epsilon,
            quantile=quantile,
            min_query_size=fewest,
            max_rows=most,
            queries=planned,
            attack=NoiseAttack.on(planned, noise, delta, known),
            sampling_fraction=share,
            **others,
        )

    @property
    def by_person(self) -> bool:
        """Whether a column says whose row it is; otherwise every row is a person."""
        return self.person is not None

    def columns(self, table: ir.Table) -> int:
        """The most columns the attacker knows, after checking that ``table`` has those that were named."""
        quasi = self.quasi_identifiers
        if not quasi:
            raise InputError(
                "quasi_identifiers is empty: give at least one column an attacker may know", "quasi_identifiers"
            )
        twice = [n for n in quasi if quasi.count(n) > 1]
        if twice:
            raise InputError(f"quasi_identifiers has {twice[0]!r} twice: give each column once", "quasi_identifiers")
        for name in quasi:
            value_of(column_of(table, name, "quasi_identifiers"), "quasi_identifiers")
        if self.person is not None and self.person in quasi:
            raise InputError(
                f"person is {self.person!r}, which is also a quasi-identifier: leave it out of one of them", "person"
            )
        return len(quasi) if self.known_columns is None else self.known_columns


def _success_limit(at_most: float | Mapping[str, float] | None) -> float | None:
    if isinstance(at_most, Mapping):
        if set(at_most) != {"success"}:
            raise InputError(
                f"at_most has {sorted(at_most)}: a scan limits 'success', as in {{'success': 0.55}}", "at_most"
            )
        at_most = at_most["success"]
    if at_most is None:
        return None
    value = scalar("at_most", parse_shares(at_most))
    if not 0.5 < value < 1:
        raise InputError(
            f"at_most is {value:g}: without any release a guess is right for 50 of 100; give a success between 0.5 "
            "and 1",
            parameter="at_most",
        )
    return value
