"""What is inside an outcome, whatever library it comes from."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from epsilens.auditing.outcomes import Reader, as_double, contents


def test_numbers_of_other_types_are_numbers() -> None:
    assert as_double(Fraction(1, 4)) == 0.25
    assert as_double(Decimal("NaN")) is not None
    assert as_double(np.timedelta64(1500, "ms")) == 1.5
    assert math.isnan(as_double(np.timedelta64("NaT")) or 0)
    assert as_double(1j) is None
    assert contents(2 + 3j) == {"real": 2.0, "imaginary": 3.0}
    assert np.asarray(contents(np.array([2 + 3j]))).tolist() == [[2.0, 3.0]]


def test_tables_are_read_by_cells() -> None:
    assert contents(pa.table({"site": ["a", "b"], "n": [1.0, 2.0]})) == {"n of a": 1.0, "n of b": 2.0}
    assert contents(np.ma.masked_array([1.0, 2.0], [True, False])) == [None, 2.0]


def test_columns_that_share_a_name_are_two() -> None:
    pandas = pytest.importorskip("pandas")
    assert contents(pandas.DataFrame([[1.0, 2.0]], columns=["a", "a"])) == {"a": [1.0], "a again": [2.0]}


def test_there_are_no_more_columns_than_fit() -> None:
    reader = Reader(most=3)
    assert reader.read([{"a": 1}, {"b": 2}, {"c": 3}, {"d": 4}]).values.shape == (4, 3)
    assert reader.cut
    assert reader.read(np.ones((2, 5))).values.shape == (2, 3)
    assert Reader(most=3).read([[1, 2, 3, 4]]).values.tolist() == [[1, 2, 3]]


def test_keys_that_are_written_alike_are_two() -> None:
    assert Reader().read([{1: 1.0, "1": 2.0}]).values.tolist() == [[2.0, 1.0]]
