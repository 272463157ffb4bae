"""Whatever a mechanism answers becomes columns of numbers and words."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import epsilens as el
from epsilens.auditing.outcomes import Reader


def test_whole_numbers_beyond_doubles_are_outcomes() -> None:
    read = Reader().read([10**400, -(10**400), 3])
    assert read.values[:, 0].tolist() == [math.inf, -math.inf, 3.0]


#: Each world always gives its one answer, and the two have the same double.
LEAKS: dict[str, Callable[[int], Any]] = {
    "a large whole number": lambda d: 2**60 + d,
    "one beyond all doubles": lambda d: 10**400 + d,
    "an array": lambda d: np.full(3, 2**62, dtype=np.uint64) + np.uint64(d),
    "a fraction": lambda d: Fraction(1, 3) + Fraction(d, 10**30),
    "a decimal": lambda d: 1 + Decimal(d) * Decimal("1e-25"),
    "a long double": lambda d: np.longdouble(1) + d * np.finfo(np.longdouble).eps,
    "within": lambda d: [2**70 + d, "x"],
}


@pytest.mark.parametrize("mechanism", LEAKS.values(), ids=LEAKS.keys())
def test_digits_that_a_double_has_not_are_outcomes(mechanism: Callable[[int], Any]) -> None:
    if isinstance(mechanism(0), np.longdouble) and np.finfo(np.longdouble).eps == np.finfo(float).eps:
        pytest.skip("long doubles are doubles here")
    assert el.audit(mechanism, 0, 1, claim=1.0, runs=40, seed=1).refuted


def test_digits_of_a_batch_are_outcomes_too() -> None:
    assert el.audit(lambda d, n: np.full(n, 2**60) + d, 0, 1, claim=1.0, runs=40, batch=True, seed=1).refuted
    small = Reader().read(np.array([[1, 2], [3, 4]]))
    assert small.values.shape == (2, 2)  # nothing is added where doubles hold it all


@pytest.mark.parametrize("odd", [Decimal("NaN"), Decimal("1e999999"), Decimal("-1e-999999"), np.longdouble("inf")])
def test_what_has_no_such_digits_is_read_all_the_same(odd: Any) -> None:
    assert len(Reader().read([odd, odd])) == 2
