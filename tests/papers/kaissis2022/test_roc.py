"""Figures 1 to 5 of the paper on ψ: reference sheet, A and A.2, and quadrature."""

from __future__ import annotations

import math

import pytest
from scipy.integrate import quad
from scipy.stats import norm

from epsilens.papers.item import Item
from epsilens.papers.kaissis2022 import binormal, binormal_auc, roc

# ψ: AUC, TV, R(.05)
REFERENCE = {
    0.1: (0.5281859889, 0.0398776117, 0.0611908362),
    0.5: (0.6381631951, 0.1974126514, 0.1261348982),
    1.0: (0.7602499389, 0.3829249225, 0.2595110228),
    2.0: (0.9213503965, 0.6826894921, 0.6387600313),
    3.0: (0.9830525732, 0.8663855975, 0.9123145368),
    6.0: (0.9999889548, 0.9973002039, 0.9999933511),
}


def _item(start: str) -> Item:
    return next(item for item in roc.items() if item.title.startswith(start))


def test_areas_and_recalls_are_the_sheets() -> None:
    for record in _item("Figure 3").records:
        auc, tv, recall = REFERENCE[record["psi"]]
        assert record["AUC"] == pytest.approx(auc, abs=1e-10)
        assert record["advantage"] == pytest.approx(tv, abs=1e-10)
        assert record["R(0.05)"] == pytest.approx(recall, abs=1e-10)
        assert record["ψ from AUC"] == pytest.approx(record["psi"], rel=1e-6)


def test_the_binormal_curve_is_that_of_the_positive_class() -> None:
    assert binormal(0.1, (0, 1.2), (0.8, 1.5)) == pytest.approx(0.5463742, abs=5e-8)
    area, _ = quad(lambda t: binormal(t, (0, 1.2), (0.8, 1.5)), 0, 1)
    assert binormal_auc((0, 1.2), (0.8, 1.5)) == pytest.approx(area, abs=1e-8) == pytest.approx(0.7598693486, abs=1e-9)


def test_the_tangent_touches_where_the_sheet_says() -> None:
    intercepts = {(1.0, 1.0): 0.1269367375, (2.0, 1.0): 0.5098616601, (1.0, 2.0): 0.0209236358}
    for record in _item("Figure 4").records:
        assert record["intercept"] == pytest.approx(intercepts[record["psi"], record["epsilon"]], abs=1e-10)
        assert record["δ(ε)"] == pytest.approx(record["intercept"], abs=1e-12)


def test_the_loss_variable_by_quadrature() -> None:
    for record in _item("Figure 1").records:
        psi = record["psi"]
        loss = norm(psi * psi / 2, psi)
        tail, _ = quad(loss.pdf, 1, 1 + 12 * psi)
        delta, _ = quad(lambda w, law=loss: (1 - math.exp(1 - w)) * law.pdf(w), 1, psi * psi / 2 + 12 * psi)
        assert record["P(Ω ≥ 1)"] == pytest.approx(tail, abs=1e-8)
        assert record["δ(1)"] == pytest.approx(delta, abs=1e-8)


def test_every_figure_has_a_picture() -> None:
    assert all(item.charts and item.charts[0].svg().startswith("<svg") for item in roc.items())
