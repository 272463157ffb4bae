"""Table 1 of paper 000 and its unsafe formulas, against the reference sheet."""

from __future__ import annotations

import math

import pytest

import epsilens as el
from epsilens.papers import liu2019
from epsilens.papers.liu2019 import printed as as_printed
from epsilens.papers.liu2019.tables import table1

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
    records = table1().records
    assert len(records) == 48
    for record, wanted in zip(records, [cell for line in REFERENCE for cell in line], strict=True):
        if wanted is None:
            assert record["corrected"] is None
            assert record["floor"] > record["limit"]
        else:
            assert record["corrected"] == pytest.approx(wanted, abs=6e-7)
            assert el.laplace(epsilon=record["corrected"]).fbeta(record["beta"]) <= record["limit"]


def test_printed_cells_that_break_their_bound() -> None:
    records = table1().records
    assert {(r["beta"], r["limit"]) for r in records if r["printed_breaks_limit"]} == UNSAFE
    for r in records:
        if r["printed"] is not None and r["corrected"] is not None:
            assert abs(r["printed"] - r["corrected"]) < 0.009


def test_shown_values_keep_the_bound() -> None:
    table = table1()
    for beta, row in zip(as_printed.BETAS, table.rows[1::2], strict=True):
        for limit, cell in zip(as_printed.LIMITS, row[1:], strict=True):
            if cell != "none":
                assert el.laplace(epsilon=float(cell)).fbeta(beta) <= limit


@pytest.mark.parametrize(
    ("alpha", "printed", "corrected"),
    [(0.01, 919.699, math.e), (0.9, 9.19699, 0.367879), (0.3, 1.021888, 1.021888), (0.5, 0.367879, 0.367879)],
)
def test_the_threshold(alpha: float, printed: float, corrected: float) -> None:
    assert as_printed.lambda_printed(1.0, alpha) == pytest.approx(printed, rel=1e-5)
    assert as_printed.lambda_corrected(1.0, alpha) == pytest.approx(corrected, rel=1e-5)


@pytest.mark.parametrize("alpha", [0.05, 0.17, 0.25, 0.4, 0.6, 0.95])
def test_the_corrected_threshold_is_the_slope_of_the_curve(alpha: float) -> None:
    e, step = el.laplace(epsilon=1.0), 1e-6
    slope = (e.roc(alpha + step) - e.roc(alpha - step)) / (2 * step)
    assert as_printed.lambda_corrected(1.0, alpha) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "sensitivity", "delta"), [(0.1, 1.0, 1.86777e-3), (0.5, 1.0, 1.46517e-5), (1.0, 10.0, 2.81911e-2)]
)
def test_the_printed_sigma_misses_its_delta(epsilon: float, sensitivity: float, delta: float) -> None:
    sigma = as_printed.sigma_printed(epsilon, 1e-5, sensitivity)
    assert el.gaussian(sigma=sigma, sensitivity=sensitivity).delta(epsilon) == pytest.approx(delta, rel=1e-5)


def test_the_classical_sigma_where_it_is_proven() -> None:
    table = next(t for t in liu2019.paper().items if "σ" in t.title)
    first = table.records[0]
    assert first["classical"] == pytest.approx(48.44805263, rel=1e-8)
    assert first["corrected"] == pytest.approx(30.749566132, rel=1e-9)
    assert table.records[2]["classical"] is None


def test_what_is_known_as_odds() -> None:
    table = next(t for t in liu2019.paper().items if t.title.startswith("§5:"))
    corrected = (0.819095173184, 0.837661654209, 0.856661322074, 0.876470928684)
    for record, c, score in zip(table.records, (1.0, 0.8, 0.62, 0.458), corrected, strict=True):
        assert record["odds"] == pytest.approx(c, rel=1e-14)
        assert record["corrected"] == pytest.approx(score, abs=6e-13)
    assert table.records[1]["printed"] == pytest.approx(0.698489, abs=6e-7)  # ε where e^ε belongs
    assert table.records[2]["printed"] == pytest.approx(table.records[2]["corrected"], rel=1e-12)  # Eq. 21 is right
    assert table.records[3]["precision"] == pytest.approx(0.935261521507, abs=6e-13)


def test_coefficients_outside_their_domain() -> None:
    record = next(t for t in liu2019.paper().items if t.title.startswith("§5.2")).records[0]
    assert record["rho_p"] == pytest.approx(0.75, rel=1e-14)
    assert record["rho_c"] == pytest.approx(2 / 3, rel=1e-14)
    assert record["odds_printed"] == pytest.approx(-0.583, abs=6e-4)
    assert record["precision_printed"] == pytest.approx(1.556, abs=6e-4)
    assert 1 / record["odds"] == pytest.approx(14, rel=1e-12)
    assert record["largest_rho_c"] == pytest.approx(0.2, rel=1e-14)
    with pytest.raises(el.InputError, match="above 1"):
        el.attacks.Knowledge.from_coefficients(rho_p=record["rho_p"], rho_c=record["rho_c"])


def test_theorem_4_is_a_bound() -> None:
    table = next(t for t in liu2019.paper().items if t.title.startswith("Theorem 4"))
    wanted = {2: (0.448181, 0.632121, 0.241837), 3: (0.567685, 0.776870, 0.229201), 10: (0.833800, 0.993262, 0.122131)}
    for record in table.records:
        each, claimed, together = wanted[record["q"]]
        assert record["each"] == pytest.approx(each, abs=6e-7)
        assert record["claimed"] == pytest.approx(claimed, abs=6e-7)
        assert record["together"] == pytest.approx(together, abs=6e-7)
        assert record["scalar"] == pytest.approx(0.393469, abs=6e-7)
