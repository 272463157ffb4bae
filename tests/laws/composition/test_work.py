"""A budget of work: what is spent ends the search, not the truth of the bracket."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import epsilens as el
from epsilens.laws.composition import evaluator
from epsilens.laws.composition.elementary_bounds import MomentBounds
from epsilens.laws.composition.evaluator import MOST_WORK, Budget, Evaluator, ReadingWork
from epsilens.laws.composition.product import Product
from epsilens.laws.normal import NormalStep

#: A training, a reading, and its bracket as found with several times the work and no slices shared.
SLOW: list[tuple[dict[str, Any], str, dict[str, float], tuple[float, float]]] = [
    ({"sigma": 0.3, "rate": 0.001, "steps": 100, "people": 3}, "mu", {"level": 1e-6}, (2.1613415, 2.1614147)),
    ({"sigma": 0.3, "rate": 0.001, "steps": 100, "people": 3}, "auc", {}, (0.5963755, 0.5964317)),
    (
        {"sigma": 1.0, "n": 50_000, "batch": 500, "epochs": 10, "batches": "with replacement"},
        "mu",
        {"level": 1e-6},
        (2.3070868, 2.3071862),
    ),
    (
        {"sigma": 1.0, "n": 50_000, "batch": 500, "epochs": 10, "batches": "with replacement"},
        "auc",
        {},
        (0.8545479, 0.8545902),
    ),
]


def test_both_orders_share_a_budget() -> None:
    budget = Budget()
    ahead = ReadingWork(budget)
    behind = ReadingWork(budget)
    ahead.slices.append(MomentBounds(lambda s: -s, 0.0))
    assert ahead.goes_on
    assert behind.goes_on
    budget.spent = MOST_WORK
    assert not ahead.goes_on
    assert behind.goes_on  # nothing is known there yet
    assert budget.left == 0


@pytest.mark.parametrize("most", [MOST_WORK, 2**14])
@pytest.mark.parametrize(("given", "reading", "asked", "truth"), SLOW)
def test_what_is_left_is_wider_and_true(
    given: dict[str, Any],
    reading: str,
    asked: dict[str, float],
    truth: tuple[float, float],
    most: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(evaluator, "MOST_WORK", most)
    e = el.dpsgd(**given)
    low, high = e.bracket(reading, **asked)
    assert low <= truth[1]
    assert high >= truth[0]
    size = high - 0.5 if reading == "auc" else high
    assert e.law.reached == (high - low <= 4e-3 * size)
    if most == MOST_WORK:
        assert high - low < 0.02 * size


def test_a_reading_does_not_depend_on_what_was_asked_before() -> None:
    given, reading, asked, _ = SLOW[0]
    fresh = el.dpsgd(**given).bracket(reading, **asked)
    used = el.dpsgd(**given)
    used.bracket("auc")
    used.bracket("delta", epsilon=1.0)
    assert used.bracket(reading, **asked) == fresh


def test_bounds_by_moments_end_where_they_no_longer_fall() -> None:
    mu, k = 0.1, 100
    order = Evaluator(Product([(NormalStep(mu), k)]), False, 1e-3)
    u = np.asarray([0.1, 2.0, 30.0])
    found = order.chernoff(lambda tilt, of: of - tilt * u, np.zeros(u.size))
    # the least of λ(λ+1)/2 − λu lies at λ = u − ½, and tilts are no further than 1.5 times apart
    best = np.asarray([-((v - 0.5) ** 2) / 2 if v > 0.5 else 0.0 for v in u])
    assert (found >= best - 1e-9).all()
    assert (found <= 0.95 * best + 1e-2).all()
    asked: list[float] = []

    def counted(tilt: float, of: float) -> Any:
        asked.append(tilt)
        return (of - math.log(1e-5)) / tilt + np.zeros(1)

    epsilon = order.chernoff(counted, np.full(1, np.inf))
    assert float(epsilon[0]) == pytest.approx(0.5 + math.sqrt(2 * math.log(1e5)), rel=0.01)
    assert max(asked) < 20  # the best is √(2·log 1e5) = 4.8


def test_series_that_come_to_nothing_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where steps are dear, four in a row do: the area under this curve took 113 of them and 8 s."""
    tried: list[Any] = []
    whole: Any = vars(evaluator)["series_profile"]

    def counted(*given: Any) -> Any:
        tried.append(given)
        return whole(*given)

    monkeypatch.setattr(evaluator, "series_profile", counted)
    settings: dict[str, Any] = {
        "n": 1_000_000,
        "batch": 500_000,
        "people": 10,
        "batches": "with replacement",
        "neighbours": "replace",
    }
    low, high = el.dpsgd(sigma=2.0, steps=17, **settings).bracket("auc")
    assert low <= high == 1.0
    assert low > 0.99999
    assert len(tried) < 40
