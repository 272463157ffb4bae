"""Paper 002 against the reference sheet (A, A.1 to A.3) and quadrature."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from scipy.integrate import quad
from scipy.stats import norm

from epsilens.papers.items import read_items
from epsilens.papers.kaissis2022 import binormal, binormal_auc, epsilon_rdp_improved

# ψ: AUC, TV, R(.05)
CURVES = {
    0.1: (0.5281859889, 0.0398776117, 0.0611908362),
    0.5: (0.6381631951, 0.1974126514, 0.1261348982),
    1.0: (0.7602499389, 0.3829249225, 0.2595110228),
    2.0: (0.9213503965, 0.6826894921, 0.6387600313),
    3.0: (0.9830525732, 0.8663855975, 0.9123145368),
    6.0: (0.9999889548, 0.9973002039, 0.9999933511),
}


def records(name: str) -> Sequence[Mapping[str, Any]]:
    return read_items("kaissis2022", name)[0].records


def test_areas_and_recalls_are_the_sheets() -> None:
    for record in records("figure_3"):
        auc, tv, recall = CURVES[record["psi"]]
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
    for record in records("figure_4"):
        assert record["intercept"] == pytest.approx(intercepts[record["psi"], record["epsilon"]], abs=1e-10)
        assert record["δ(ε)"] == pytest.approx(record["intercept"], abs=1e-12)


def test_the_loss_variable_by_quadrature() -> None:
    for record in records("figure_1"):
        psi = record["psi"]
        loss = norm(psi * psi / 2, psi)
        tail, _ = quad(loss.pdf, 1, 1 + 12 * psi)
        delta, _ = quad(lambda w, law=loss: (1 - math.exp(1 - w)) * law.pdf(w), 1, psi * psi / 2 + 12 * psi)
        assert record["P(Ω ≥ 1)"] == pytest.approx(tail, abs=1e-8)
        assert record["δ(1)"] == pytest.approx(delta, abs=1e-8)


def test_every_figure_has_a_picture() -> None:
    items = read_items("kaissis2022", *(f"figure_{k}" for k in range(1, 6)))
    assert all(item.charts and item.charts[0].svg().startswith("<svg") for item in items)


# ψ: exact, tail, RDP (29), RDP (30)
CONVERSIONS = {
    0.1: (0.3406693647, 0.4314890794, 0.4848525912, 0.3752612357),
    0.5: (1.9930914044, 2.2574453970, 2.5242629561, 2.1657155452),
    1.0: (4.3771780957, 4.7648907939, 5.2985259122, 4.7283869849),
    2.0: (9.9972561464, 10.5297815878, 11.5970518244, 10.7248241129),
    3.0: (16.6754944028, 17.2946723818, 18.8955777366, 17.8001184317),
    6.0: (42.8360081027, 43.5893447635, 46.7911554731, 45.2358318619),
}


def test_the_table_of_epsilon() -> None:
    for record in records("corollaries_11_to_13"):
        found = [record[key] for key in ("exact", "tail", "rdp", "rdp_improved")]
        assert found == pytest.approx(CONVERSIONS[record["psi"]], abs=2e-10)
        assert all(record["exact"] < bound for bound in found[1:])


@pytest.mark.parametrize("psi", [1e-4, 1e-3, 0.03, 10.0, 30.0])
@pytest.mark.parametrize("delta", [1e-10, 1e-5, 1e-2])
def test_the_improved_conversion_is_the_best_over_orders(psi: float, delta: float) -> None:
    from math import log, log1p

    orders = [1 + 10.0 ** (k / 50) for k in range(-150, 500)]
    grid = min(a * psi**2 / 2 + log1p(-1 / a) - (log(delta) + log(a)) / (a - 1) for a in orders)
    best = epsilon_rdp_improved(psi, delta)
    assert best <= max(grid, 0) + 1e-12
    assert best == pytest.approx(max(grid, 0), rel=2e-2, abs=1e-3)


def test_what_lemma_4_calls_delta() -> None:
    record = next(r for r in records("lemma_4") if r["psi"] == r["epsilon"] == 1.0)
    assert record["printed"] == pytest.approx(0.3085375387, abs=1e-10)
    assert record["corrected"] == pytest.approx(0.1269367375, abs=1e-10)


# (rate, σ, steps): ε by (28), ε by the Poisson limit or None, ε proven by dp-accounting
TRAININGS = {
    (0.01, 1.0, 1000): (2.175807, 1.617712, 1.828244),
    (0.01, 1.0, 10_000): (8.257004, 6.007077, 6.187745),
    (0.01, 0.8, 1000): (3.520231, 2.509518, 3.141018),
    (0.01, 1.0, 10): (0.174343, None, 0.379902),
    (0.01, 1.0, 100): (0.611447, None, 0.718037),
    (0.01, 0.5, 100): (4.527519, None, 6.476210),
    (0.001, 0.5, 1000): (1.238512, None, 3.238881),
    (256 / 60_000, 1.1, 14_062): (3.086708, 2.324269, 2.381686),
}


def test_the_limit_theorem_beside_what_is_proven() -> None:
    trainings = records("corollary_9")
    assert len(trainings) == len(TRAININGS)
    for record in trainings:
        limit, poisson, proven = TRAININGS[record["rate"], record["sigma"], record["steps"]]
        assert record["epsilon_28"] == pytest.approx(limit, abs=2e-6)
        if poisson is not None:
            assert record["epsilon_poisson_clt"] == pytest.approx(poisson, abs=2e-6)
        assert record["low"] <= proven
        assert record["high"] == pytest.approx(proven, rel=1e-4)
        assert record["28 is safe"] == (limit >= proven)
