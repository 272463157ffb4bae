"""Paper 000 against the reference sheet (§1), enumeration, quadrature and draws."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import dblquad

import epsilens as el
from epsilens.errors import InputError
from epsilens.papers import liu2019
from epsilens.papers.items import read_items
from epsilens.papers.liu2019 import deniable, planar_laplace

BETAS = (0.5, 0.6, 0.8, 1.0, 1.5, 2.0)
LIMITS = (0.55, 0.58, 0.62, 0.67, 0.76, 0.83, 0.9, 0.95)
NONE = None
# Recomputed independently (reference sheet, §1); None is a cell no ε satisfies.
REFERENCE: tuple[tuple[float | None, ...], ...] = (
    (NONE, 0.343509, 0.548810, 0.825833, 1.420159, 2.043796, 3.003700, 4.289911),
    (NONE, 0.326843, 0.541058, 0.830815, 1.454001, 2.107736, 3.108311, 4.433604),
    (NONE, NONE, NONE, 0.796996, 1.462570, 2.157471, 3.209312, 4.579715),
    (NONE, NONE, NONE, 0.715732, 1.408613, 2.128293, 3.208825, 4.602667),
    (NONE, NONE, NONE, NONE, NONE, 1.884042, 2.996915, 4.415770),
    (NONE, NONE, NONE, NONE, NONE, NONE, 2.691921, 4.120012),
)
UNSAFE = {
    (0.5, 0.55), (0.8, 0.62), (1.5, 0.76), (2.0, 0.83),  # no ε satisfies the bound
    (0.5, 0.62), (0.5, 0.95), (0.6, 0.58), (0.6, 0.83), (0.6, 0.9),  # rounded up
    (0.8, 0.67), (0.8, 0.83), (0.8, 0.9), (0.8, 0.95),
}  # fmt: skip


def test_all_of_table_1() -> None:
    records = read_items("liu2019", "table_1")[0].records
    assert len(records) == 48
    for record, wanted in zip(records, [cell for line in REFERENCE for cell in line], strict=True):
        if wanted is None:
            assert record["corrected"] is None
            assert record["floor"] > record["limit"]
        else:
            assert record["corrected"] == pytest.approx(wanted, abs=6e-7)
            assert el.laplace(epsilon=record["corrected"]).fbeta(record["beta"]) <= record["limit"]


def test_printed_cells_that_break_their_bound() -> None:
    records = read_items("liu2019", "table_1")[0].records
    assert {(r["beta"], r["limit"]) for r in records if r["printed_breaks_limit"]} == UNSAFE
    for r in records:
        if r["printed"] is not None and r["corrected"] is not None:
            assert abs(r["printed"] - r["corrected"]) < 0.009


def test_shown_values_keep_the_bound() -> None:
    table = read_items("liu2019", "table_1")[0]
    for beta, row in zip(BETAS, table.rows[1::2], strict=True):
        for limit, cell in zip(LIMITS, row[1:], strict=True):
            if cell != "none":
                assert el.laplace(epsilon=float(cell)).fbeta(beta) <= limit


@pytest.mark.parametrize(
    ("alpha", "printed", "corrected"),
    [(0.01, 919.699, math.e), (0.9, 9.19699, 0.367879), (0.3, 1.021888, 1.021888), (0.5, 0.367879, 0.367879)],
)
def test_the_threshold(alpha: float, printed: float, corrected: float) -> None:
    assert liu2019.lambda_printed(1.0, alpha) == pytest.approx(printed, rel=1e-5)
    assert liu2019.lambda_corrected(1.0, alpha) == pytest.approx(corrected, rel=1e-5)


@pytest.mark.parametrize("alpha", [0.05, 0.17, 0.25, 0.4, 0.6, 0.95])
def test_the_corrected_threshold_is_the_slope_of_the_curve(alpha: float) -> None:
    e, step = el.laplace(epsilon=1.0), 1e-6
    slope = (e.roc(alpha + step) - e.roc(alpha - step)) / (2 * step)
    assert liu2019.lambda_corrected(1.0, alpha) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "sensitivity", "delta"), [(0.1, 1.0, 1.86777e-3), (0.5, 1.0, 1.46517e-5), (1.0, 10.0, 2.81911e-2)]
)
def test_the_printed_sigma_misses_its_delta(epsilon: float, sensitivity: float, delta: float) -> None:
    sigma = liu2019.sigma_printed(epsilon, 1e-5, sensitivity)
    assert el.gaussian(sigma=sigma, sensitivity=sensitivity).delta(epsilon) == pytest.approx(delta, rel=1e-5)


def test_the_classical_sigma_where_it_is_proven() -> None:
    table = records("gaussian_noise")
    first = table[0]
    assert first["classical"] == pytest.approx(48.44805263, rel=1e-8)
    assert first["corrected"] == pytest.approx(30.749566132, rel=1e-9)
    assert table[2]["classical"] is None


def test_what_is_known_as_odds() -> None:
    table = records("section_5")
    corrected = (0.819095173184, 0.837661654209, 0.856661322074, 0.876470928684)
    for record, c, score in zip(table, (1.0, 0.8, 0.62, 0.458), corrected, strict=True):
        assert record["odds"] == pytest.approx(c, rel=1e-14)
        assert record["corrected"] == pytest.approx(score, abs=6e-13)
    assert table[1]["printed"] == pytest.approx(0.698489, abs=6e-7)  # ε where e^ε belongs
    assert table[2]["printed"] == pytest.approx(table[2]["corrected"], rel=1e-12)  # Eq. 21 is right
    assert table[3]["precision"] == pytest.approx(0.935261521507, abs=6e-13)


def test_coefficients_outside_their_domain() -> None:
    record = records("section_5_2")[0]
    assert record["rho_p"] == pytest.approx(0.75, rel=1e-14)
    assert record["rho_c"] == pytest.approx(2 / 3, rel=1e-14)
    assert record["odds_printed"] == pytest.approx(-0.583, abs=6e-4)
    assert record["precision_printed"] == pytest.approx(1.556, abs=6e-4)
    assert 1 / record["odds"] == pytest.approx(14, rel=1e-12)
    assert record["largest_rho_c"] == pytest.approx(0.2, rel=1e-14)
    with pytest.raises(el.InputError, match="above 1"):
        el.attacks.Knowledge.from_coefficients(rho_p=record["rho_p"], rho_c=record["rho_c"])


def test_theorem_4_is_a_bound() -> None:
    wanted = {2: (0.448181, 0.632121, 0.241837), 3: (0.567685, 0.776870, 0.229201), 10: (0.833800, 0.993262, 0.122131)}
    for record in records("theorem_4"):
        each, claimed, together = wanted[record["q"]]
        assert record["each"] == pytest.approx(each, abs=6e-7)
        assert record["claimed"] == pytest.approx(claimed, abs=6e-7)
        assert record["together"] == pytest.approx(together, abs=6e-7)
        assert record["scalar"] == pytest.approx(0.393469, abs=6e-7)


def records(name: str) -> Sequence[Mapping[str, Any]]:
    return read_items("liu2019", name)[0].records


def test_precision_and_recall() -> None:
    found = {r["setting"]: r for r in records("figure_3a")}
    sheet = {0.5: (0.164872127070, 0.622459331202), 1: (0.271828182846, 0.731058578630),
             2: (0.661661791908, 0.868708131270)}  # fmt: skip
    for epsilon, (recall, precision) in sheet.items():
        record = found[f"ε = {epsilon:g}"]
        assert record["recall at α = 0.1"] == pytest.approx(recall, abs=1e-11)
        assert record["precision there"] == pytest.approx(precision, abs=1e-11)
    known = {r["setting"]: r["precision there"] for r in records("figure_7")}  # c = 0.458
    assert known["ε = 1"] == pytest.approx(0.855806246191, abs=1e-11)
    assert known["ε = 2"] == pytest.approx(0.935261521507, abs=1e-11)


def test_the_best_f() -> None:
    best = {r["epsilon"]: r for r in records("figure_3b")}
    assert best[1.0]["beta 1"] == pytest.approx(0.709786615745, abs=1e-11)
    assert best[5.0]["beta 1"] == pytest.approx(0.958992024851, abs=1e-11)
    assert best[2.0]["beta 2"] == pytest.approx(0.861099239590, abs=1e-11)
    at = next(r for r in records("figure_8") if r["epsilon"] == 2.0)
    shown = [at[name] for name in list(at)[2:]]
    assert shown == pytest.approx([0.837661654209, 0.856661322074, 0.876470928684], abs=1e-11)


def test_gaussian_noise_is_the_classical_one() -> None:
    record = next(r for r in records("figure_4a") if r["setting"] == "ε = 1")
    sigma = math.sqrt(2 * math.log(1.25e5))
    assert sigma == pytest.approx(4.844805263, abs=1e-9)
    from scipy.stats import norm

    assert record["recall at α = 0.1"] == pytest.approx(norm.sf(norm.isf(0.1) - 1 / sigma), abs=1e-11)


def test_thresholds_of_theorem_3() -> None:
    for record in records("figure_2"):
        a = record["alpha"]
        assert record["threshold"] == pytest.approx(-math.log(2 * a) if a <= 0.5 else math.log(2 * (1 - a)), abs=1e-12)


def test_deniability_against_every_subset() -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        likelihoods = rng.exponential(size=6).tolist()
        gamma = float(rng.uniform(1, 4))
        best = max(
            len(chosen)
            for size in range(1, 7)
            for chosen in combinations(range(6), size)
            if 0 in chosen and max(likelihoods[i] for i in chosen) <= gamma * min(likelihoods[i] for i in chosen)
        )
        assert deniable(likelihoods, gamma) == best
    with pytest.raises(InputError, match="gamma"):
        deniable([0.5, 0.5], 0.9)
    with pytest.raises(InputError, match="origin"):
        deniable([0.0, 0.5], 2.0)


@pytest.mark.parametrize("reach", [0.2, 1.0, 3.0])
def test_planar_laplace_by_quadrature(reach: float) -> None:
    """Polar coordinates around the first place: half the total variation of the two densities."""

    def gap(angle: float, r: float) -> float:
        other = math.hypot(r * math.cos(angle) - reach, r * math.sin(angle))
        return abs(math.exp(-r) - math.exp(-other)) * r / (2 * math.pi)

    whole, _ = dblquad(gap, 0, 40 + reach, 0, math.pi, epsabs=1e-6)
    assert planar_laplace(1.0, reach) == pytest.approx((1 + whole) / 2, abs=2e-5)


def test_planar_laplace_by_drawing_it() -> None:
    rng = np.random.default_rng(3)
    n, reach = 400_000, 2.0
    angle, radius = rng.uniform(0, 2 * np.pi, n), rng.gamma(2.0, size=n)
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    right = np.mean(np.hypot(x, y) < np.hypot(x - reach, y))
    assert planar_laplace(1.0, reach) == pytest.approx(right, abs=5 * math.sqrt(0.25 / n))


def test_the_ends() -> None:
    assert planar_laplace(1.0, 0.0) == 0.5
    assert planar_laplace(1.0, 1e-9) == pytest.approx(0.5, abs=1e-8)
    assert 0.999999 < planar_laplace(1.0, 100.0) <= 1.0
    assert planar_laplace(700.0, 1e6) == 1.0
    values = [planar_laplace(1.0, d) for d in np.geomspace(1e-6, 600, 60)]
    assert all(b >= a - 1e-15 for a, b in pairwise(values))
