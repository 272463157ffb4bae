"""Noise by OpenDP: its own account against the plan's, and what is drawn against the law that was assessed."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import kstest, laplace, norm

from epsilens.data.queries import Noise
from epsilens.mechanisms.noise import laplace as noise_of
from epsilens.plan.cells import unit_of
from epsilens.plan.contribution import NoisyNumber
from epsilens.plan.file import read_release
from epsilens.publish.answers import AccountMismatchError, Drawing, drawing_of, drawings_of

pytest.importorskip("opendp")

MANY = 20_000


def plan(noise: str = "laplace", neighbours: str = "add-remove", epsilon: float = 1.0, **data: Any) -> Any:
    delta = {"delta": 1e-6}
    return read_release({
        "data": {"table": "t", **data},
        "queries": [
            {"count": True},
            {"sum": "x", "bounds": [-3, 7.5], "by": "g", "groups": ["a", "b"]},
            {"average": "x", "bounds": [0, 250], "by": "g", "threshold": "auto"},
            {"count": "x > 0", "by": "g", "threshold": "auto"},
        ],
        "mechanism": {"noise": noise, "epsilon": epsilon, "neighbours": neighbours, **delta},
    })  # fmt: skip


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("data", [{}, {"person": "p", "max_rows": 4, "max_groups": 3}], ids=["rows", "people"])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 50.0])
def test_opendp_accounts_what_the_plan_promises(noise: str, neighbours: str, data: Any, epsilon: float) -> None:
    """Laplace: the ε of all numbers together is the plan's; Gaussian: Δ²/2σ² of each number, by hand."""
    drawings = drawings_of(plan(noise, neighbours, epsilon, **data))  # each is checked
    assert len(drawings) == 1 + 1 + 3 + 1
    if noise == "laplace":
        assert math.isclose(math.fsum(d.promised for d in drawings), epsilon, rel_tol=1e-12)
        assert all(math.isclose(d.sensitivity / d.scale, d.promised, rel_tol=1e-12) for d in drawings)
    else:
        assert all(math.isclose((d.sensitivity / d.scale) ** 2 / 2, d.promised, rel_tol=1e-12) for d in drawings)


def test_a_sum_has_the_noise_that_its_bounds_ask_for() -> None:
    """b = 7.5 / (ε/4), and 11.25 / (ε/4) where a person may leave one group for another at the same size."""
    assert drawing_of(plan(), 1, NoisyNumber.ANSWER).plain_scale == pytest.approx(30.0, rel=1e-14)
    assert drawing_of(plan(neighbours="replace"), 1, NoisyNumber.ANSWER).plain_scale == pytest.approx(60.0, rel=1e-14)
    assert unit_of(plan(), 1, NoisyNumber.ANSWER) == Fraction(1, 10**6)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_drawn_noise_has_the_assessed_law(noise: str) -> None:
    """Kolmogorov–Smirnov on 20,000 draws: a statistic above 1.95/√n comes by chance once in a thousand."""
    drawing = drawing_of(plan(noise), 0, NoisyNumber.ANSWER)
    drawn = np.asarray(drawing.draw([Fraction(41)] * MANY)) - 41
    law = norm if noise == "gaussian" else laplace
    assert kstest(drawn, law(scale=drawing.plain_scale).cdf).statistic < 2.4 / math.sqrt(MANY)


def test_two_tables_are_told_apart_as_often_as_assessed() -> None:
    """A count with and without a person: the best test's advantage, within four of its standard errors."""
    drawing = drawing_of(plan(epsilon=4.0), 0, NoisyNumber.ANSWER)  # its share is 1
    without, with_ = (np.asarray(drawing.draw([Fraction(n)] * MANY)) for n in (10, 11))
    found = np.mean(with_ > 10.5) - np.mean(without > 10.5)
    expected = noise_of(epsilon=1.0).advantage()
    assert abs(found - expected) < 4 * math.sqrt(2 * 0.25 / MANY)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_names_come_up_as_often_as_assessed(noise: str) -> None:
    """A group of 12 people at a threshold of 14, by the tail of the noise."""
    base = drawing_of(plan(noise, epsilon=8.0), 3, NoisyNumber.ANSWER)
    drawing = Drawing(base.query, base.noisy, base.noise, 2.0, Fraction(1), 1.0, 0.0, names=14.0)
    named = drawing.draw_names([(f"g{i}",) for i in range(MANY)], [Fraction(12)] * MANY)
    law = norm if noise == "gaussian" else laplace
    p = law(scale=2.0).sf(2.0)
    assert abs(len(named) / MANY - p) < 4.5 * math.sqrt(p * (1 - p) / MANY)
    assert min(named.values()) >= 14


def test_names_that_look_alike_stay_apart() -> None:
    drawing = Drawing(0, NoisyNumber.ANSWER, Noise.LAPLACE, 1e-3, Fraction(1), 1.0, 1000.0, names=2.0)
    labels = [(None,), ("None",), ("é,\n\"'",), ("",)]
    named = drawing.draw_names(labels, [Fraction(n) for n in (10, 20, 30, 1)])
    assert {place: round(value) for place, value in named.items()} == {0: 10, 1: 20, 2: 30}


def test_what_opendp_takes_in_silence_is_refused() -> None:
    good = drawing_of(plan(), 0, NoisyNumber.ANSWER)
    for scale in (0.0, math.inf, math.nan, 1e301):
        with pytest.raises(AccountMismatchError, match="scale"):
            Drawing(0, NoisyNumber.ANSWER, Noise.LAPLACE, scale, Fraction(1), 1.0, 0.25).check()
    with pytest.raises(AccountMismatchError, match="nothing is drawn"):
        Drawing(0, NoisyNumber.ANSWER, Noise.LAPLACE, good.scale * (1 + 1e-9), Fraction(1), 1.0, 0.25).check()
    with pytest.raises(AccountMismatchError, match="names"):
        Drawing(0, NoisyNumber.ANSWER, Noise.LAPLACE, 1.0, Fraction(1), 1.0, 1.0, names=9.0, delta=1e-9).check()


def test_totals_beyond_doubles_are_cut_and_not_lost() -> None:
    drawing = drawing_of(plan(), 0, NoisyNumber.ANSWER)
    assert drawing.draw([Fraction(10**400), Fraction(-(10**400))])[0] == pytest.approx(2.0**53, rel=1e-9)
