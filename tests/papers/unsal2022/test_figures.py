"""Figures 1 to 9 of paper 003: reference sheet, §3."""

from __future__ import annotations

import math

import pytest

from epsilens.papers.item import Agreement, Item
from epsilens.papers.unsal2022 import figures, printed


def _item(start: str) -> Item:
    return next(item for item in figures.items() if item.title.startswith(start))


def test_the_one_sided_power() -> None:
    for record in _item("Figure 1").records:  # Δμ = 2s, so m = 2ε, and the threshold at α = 0.1 is ln 5
        m, theta = 2 * record["epsilon"], record["theta"]
        z = (math.log(5) - m) / theta
        power = 0.5 * math.exp(-z) if z >= 0 else 1 - 0.5 * math.exp(z)
        assert record["power at α = 0.1"] == pytest.approx(power, rel=1e-12)


def test_figures_5_and_9() -> None:
    low, high = printed.figure5()
    assert low == pytest.approx(0.790597, abs=5e-7)
    assert high == pytest.approx(1.866883, abs=5e-7)
    assert printed.figure9() == pytest.approx(0.892, abs=5e-4)
    ratios = {(r["theta"], r["bias / s"]): r["largest D/e^ε"] for r in _item("Figure 5").records if "from" not in r}
    assert ratios[1.0, 4.0] > 1 > ratios[1.5, 4.0]
    theta, m = 1.5, 4.0  # a point of the curve, by the sheet: D(Lap(0, 1) ‖ Lap(4, 1.5)), at ε = 1
    drawn = {p["x"]: p["y"] for p in _item("Figure 5").charts[1].data if p["series"] == "Δμ = 4s"}
    at = min(drawn, key=lambda x: abs(x - 1))
    shift = m * at
    assert drawn[at] == pytest.approx(math.log(theta) - 1 + (math.exp(-shift) + shift) / theta, rel=1e-12)


def test_figures_6_and_7() -> None:
    powers = {r["epsilon"]: (r["mu"], r["power at α = 0.1"]) for r in _item("Figure 6").records}
    assert powers[0.5] == pytest.approx((0.357506796184, 0.177731503581), abs=1e-10)
    assert powers[1.0] == pytest.approx((0.788248015893, 0.310899060318), abs=1e-10)


def test_every_figure_has_its_picture_or_its_reason() -> None:
    for item in figures.items():
        assert item.charts or (item.agreement is Agreement.OPEN and item.why)
