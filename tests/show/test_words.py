"""Frequencies over the whole domain: honest at both ends, distinct where the numbers are, one denominator together."""

from __future__ import annotations

import math
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epsilens.numerics import formatting
from epsilens.show import sentences

PROBABILITIES = st.one_of(
    st.floats(0, 1),
    st.floats(-300, 0).map(lambda x: 10.0**x),
    st.floats(-16, 0).map(lambda x: 1 - 10.0**x),
    st.sampled_from([0.0, 1e-300, 5e-324, 0.4999, 0.5, 0.5000000001, 0.9999999, math.nextafter(1, 0), 1.0]),
)


@pytest.mark.parametrize(
    ("p", "shown"),
    [
        (0.0, "0 of 100"),
        (1e-300, "fewer than 1 of 10,000"),
        (0.0004, "4 of 10,000"),
        (0.027, "27 of 1,000"),
        (0.4999, "50 of 100"),
        (0.5, "50 of 100"),
        (0.6967, "70 of 100"),
        (0.994, "99 of 100"),
        (0.999, "more than 99 of 100"),
        (0.9999999, "more than 99 of 100"),
        (1.0, "100 of 100"),
    ],
)
def test_one_probability(p: float, shown: str) -> None:
    assert formatting.frequency(p) == shown


@pytest.mark.parametrize(
    ("value", "baseline", "shown"),
    [
        (0.697, 0.5, ("70 of 100", "50 of 100")),
        (0.5002, 0.5, ("5,002 of 10,000", "5,000 of 10,000")),
        (0.50000001, 0.5, ("50 of 100", "50 of 100")),
        (0.9999, 0.999, ("more than 999 of 1,000", "999 of 1,000")),
        (0.4, 0.001, ("40 of 100", "fewer than 1 of 100")),
        (0.003, 0.001, ("30 of 10,000", "10 of 10,000")),
        (1.0, 0.9999, ("100 of 100", "more than 99 of 100")),
    ],
)
def test_a_value_beside_its_baseline(value: float, baseline: float, shown: tuple[str, str]) -> None:
    assert formatting.frequencies(value, given=[baseline]) == shown


def test_exact_frequencies_grow_their_denominator() -> None:
    assert formatting.frequencies(0.999, given=[0.5], exact=True) == ("999 of 1,000", "500 of 1,000")
    assert formatting.frequencies(0.55, given=[0.5], exact=True) == ("55 of 100", "50 of 100")


@given(PROBABILITIES)
def test_only_certainty_is_called_certain(p: float) -> None:
    shown = formatting.frequency(p)
    if shown.startswith("0 of"):
        assert p == 0
    if re.match(r"(\d[\d,]*) of \1$", shown):
        assert p == 1
    assert "nan" not in shown


@given(PROBABILITIES, PROBABILITIES)
def test_numbers_that_differ_read_differently(p: float, q: float) -> None:
    a, b = formatting.frequencies(p, q)
    assert a.split(" of ")[1] == b.split(" of ")[1]
    if formatting.distinguishable(p, q):
        assert a != b


@given(PROBABILITIES)
def test_a_count_is_never_below_its_probability(p: float) -> None:
    for scale in (100, 1_000, 10_000):
        shown = formatting.count(p, scale)
        if " than " not in shown:
            assert -1e-4 / scale - 1e-15 <= int(shown.replace(",", "")) / scale - p < 1 / scale


@given(PROBABILITIES)
def test_what_was_given_is_near_its_probability(p: float) -> None:
    for scale in (100, 1_000, 10_000):
        shown = formatting.count(p, scale, given=True)
        if " than " not in shown:
            assert abs(int(shown.replace(",", "")) / scale - p) <= 0.5 / scale + 1e-12


@given(PROBABILITIES, PROBABILITIES)
def test_what_is_added_is_never_told_as_more_than_a_count_too_many(p: float, base: float) -> None:
    """A release that adds half a count at most is counted out of more, down to one of a million."""
    told, beside = formatting.frequencies(p, given=[base])
    if " than " in told + beside or not formatting.distinguishable(p, base):
        return
    (n, scale), (b, _) = (map(int, text.replace(",", "").split(" of ")) for text in (told, beside))
    assert abs((n - b) / scale - (p - base)) <= 1.5 / scale + 1e-9
    if scale < 1_000_000:
        assert (n - b > 0) == (p > base)


@given(st.floats(1e-12, 1e12), st.integers(2, 8))
def test_rounding_keeps_to_its_side(value: float, digits: int) -> None:
    down, up = formatting.floor_digits(value, digits), formatting.ceil_digits(value, digits)
    assert float(down) <= value <= float(up)
    assert float(up) - float(down) <= abs(value) * 10.0 ** (1 - digits) * (1 + 1e-9)
    assert len(Decimal(down).normalize().as_tuple().digits) <= digits


@given(PROBABILITIES)
def test_table_numbers_never_pretend(p: float) -> None:
    shown = sentences.number(p, 0.5)
    if p not in (0, 0.5, 1):
        assert float(shown) not in (0, 0.5, 1)
    assert float(shown) == pytest.approx(p, rel=1e-3, abs=5e-5)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (math.inf, "unbounded"),
        (-math.inf, "unbounded"),
        (math.nan, "undefined"),
        (0.0, "0"),
        (2e9, "2e9"),
        (4.2e-9, "4.2e-9"),
    ],
)
def test_numbers_that_are_none(value: float, shown: str) -> None:
    assert sentences.number(value) == shown
