"""Figures of paper 000: reference sheet, §1."""

from __future__ import annotations

import math

import pytest

from epsilens.papers.item import Item
from epsilens.papers.liu2019 import figures


def _item(start: str) -> Item:
    return next(item for item in figures.items() if item.title.startswith(start))


def test_precision_and_recall() -> None:
    found = {r["setting"]: r for r in _item("Figure 3a").records}
    sheet = {0.5: (0.164872127070, 0.622459331202), 1: (0.271828182846, 0.731058578630),
             2: (0.661661791908, 0.868708131270)}  # fmt: skip
    for epsilon, (recall, precision) in sheet.items():
        record = found[f"ε = {epsilon:g}"]
        assert record["recall at α = 0.1"] == pytest.approx(recall, abs=1e-11)
        assert record["precision there"] == pytest.approx(precision, abs=1e-11)
    known = {r["setting"]: r["precision there"] for r in _item("Figure 7").records}  # c = 0.458
    assert known["ε = 1"] == pytest.approx(0.855806246191, abs=1e-11)
    assert known["ε = 2"] == pytest.approx(0.935261521507, abs=1e-11)


def test_the_best_f() -> None:
    best = {r["epsilon"]: r for r in _item("Figure 3b").records}
    assert best[1.0]["beta 1"] == pytest.approx(0.709786615745, abs=1e-11)
    assert best[5.0]["beta 1"] == pytest.approx(0.958992024851, abs=1e-11)
    assert best[2.0]["beta 2"] == pytest.approx(0.861099239590, abs=1e-11)
    at = next(r for r in _item("Figure 8").records if r["epsilon"] == 2.0)
    shown = [at[name] for name in list(at)[2:]]
    assert shown == pytest.approx([0.837661654209, 0.856661322074, 0.876470928684], abs=1e-11)


def test_gaussian_noise_is_the_classical_one() -> None:
    record = next(r for r in _item("Figure 4a").records if r["setting"] == "ε = 1")
    sigma = math.sqrt(2 * math.log(1.25e5))
    assert sigma == pytest.approx(4.844805263, abs=1e-9)
    from scipy.stats import norm

    assert record["recall at α = 0.1"] == pytest.approx(norm.sf(norm.isf(0.1) - 1 / sigma), abs=1e-11)


def test_thresholds_of_theorem_3() -> None:
    for record in _item("Figure 2").records:
        a = record["alpha"]
        assert record["threshold"] == pytest.approx(-math.log(2 * a) if a <= 0.5 else math.log(2 * (1 - a)), abs=1e-12)
