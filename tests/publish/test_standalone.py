"""Intervals by themselves, against scipy's own laws; the files and answers that carry them are tested elsewhere."""

from __future__ import annotations

import math
from typing import Any

import pytest
from scipy.special import log_ndtr
from scipy.stats import laplace, norm

from epsilens.plan.contribution import NoisyNumber
from epsilens.plan.file import read_release
from epsilens.publish.answers import NoisyQuery, answers_of
from epsilens.publish.noise import drawing_of
from epsilens.publish.standalone import beyond, counted, interval, limited, listed_interval, quantile

LAWS: dict[str, Any] = {"laplace": laplace, "gaussian": norm}


@pytest.mark.parametrize("noise", LAWS)
def test_tails_and_quantiles(noise: str) -> None:
    for x in (-30.0, -3.0, -0.1, 0.0, 0.4, 5.0, 24.9, 25.1, 60.0):
        truth = LAWS[noise].logsf(x) if noise == "laplace" else log_ndtr(-x)
        assert beyond(noise, x) == pytest.approx(float(truth), rel=1e-5, abs=1e-13)
    for miss in (0.5, 0.05, 0.025, 0.0125, 1e-9):
        assert quantile(noise, miss) == pytest.approx(float(LAWS[noise].isf(miss)), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("noise", LAWS)
def test_an_interval_leaves_out_a_fortieth_on_each_side(noise: str) -> None:
    low, high = interval(noise, 2.0, 10.0)
    assert LAWS[noise].sf(10.0, loc=low, scale=2.0) == pytest.approx(0.025)
    assert LAWS[noise].cdf(10.0, loc=high, scale=2.0) == pytest.approx(0.025)


@pytest.mark.parametrize("noise", LAWS)
@pytest.mark.parametrize(
    ("value", "threshold", "scale"), [(30.0, 20.0, 2.0), (26.0, 20.0, 2.0), (21.0, 20.0, 3.0), (80.0, 6.0, 1.0)]
)
def test_an_interval_of_a_named_group_by_its_definition(
    noise: str, value: float, threshold: float, scale: float
) -> None:
    """The share of named values above this one is a fortieth at the low end, all but a fortieth at the high one."""

    def above(n: float) -> float:
        law = LAWS[noise](loc=n, scale=scale)
        return float(law.sf(value) / law.sf(threshold))

    low, high = listed_interval(noise, scale, value, threshold)
    assert 1.0 <= low <= value <= high
    assert above(low) == pytest.approx(0.025, rel=1e-6) if low > 1 else above(1.0) >= 0.025
    assert above(high) == pytest.approx(0.975, rel=1e-6)


def test_counts_are_whole_and_their_ends_outward() -> None:
    drawings = {
        "answer": {"noise": "laplace", "scale": 2.0, "threshold": None},
        "touched": {"noise": "laplace", "scale": 3.0},
    }
    away, wider = 2 * math.log(20), 2 * math.log(40)
    assert counted(drawings, 10.4) == (10.0, math.floor(10.4 - away), math.ceil(10.4 + away))
    more = 5.2 + 3 * math.log(20)
    assert counted(drawings, 10.4, 5.2) == (10.0, math.floor(10.4 - wider), math.ceil(10.4 + wider + more))
    assert counted(drawings, 10.4, -50.0)[2] == math.ceil(10.4 + wider)  # nobody is touched a negative number of times
    drawings["answer"]["threshold"] = 6.0
    low, high = listed_interval("laplace", 2.0, 6.3, 6.0)
    assert counted(drawings, 6.3) == (6.0, math.floor(low), math.ceil(high))


def test_those_whom_a_limit_touched_are_never_fewer_than_none() -> None:
    drawing = {"noise": "laplace", "scale": 3.0}
    away = 3 * math.log(20)
    assert limited(drawing, 20.2) == [20.0, math.floor(20.2 - away), math.ceil(20.2 + away)]
    assert limited(drawing, -20.2) == [-20.0, 0.0, 0.0]
    assert limited(drawing, 2.0) == [2.0, 0.0, math.ceil(2 + away)]


@pytest.mark.parametrize("noise", [{}, {"noise": "gaussian", "delta": 1e-6}])
def test_a_sum_is_rounded_to_its_noise_and_its_ends_outward(noise: dict[str, Any]) -> None:
    plan = read_release(
        {"data": {"table": "t"}, "queries": [{"sum": "x", "bounds": [0, 50]}], "mechanism": {"epsilon": 2.0, **noise}}
    )
    drawing = drawing_of(plan, 0, NoisyNumber.ANSWER)
    scale = drawing.plain_scale
    away = scale * float(LAWS[drawing.noise.value].isf(0.025))
    digits = 2 - math.floor(math.log10(scale))
    half = 0.5 * 10.0**-digits
    for value in (123.45678, -7.3, 0.0, 99.999, 1 / 3, 1e5 / 7, -2e4 / 3):
        (one,) = answers_of(plan, NoisyQuery(0, ((),), {NoisyNumber.ANSWER: [value]}), {NoisyNumber.ANSWER: drawing})
        assert one.answer == round(value, digits)
        assert -1e-9 <= (one.answer - away - half) - one.low <= 2 * half + 1e-9
        assert -1e-9 <= one.high - (one.answer + away + half) <= 2 * half + 1e-9
        assert one.noise == scale
