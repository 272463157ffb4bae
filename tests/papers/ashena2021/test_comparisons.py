"""Figures 3 and 4: reference sheet, §2."""

from __future__ import annotations

import pytest

from epsilens.papers.ashena2021 import comparisons
from epsilens.papers.ashena2021.comparisons import ages, exact_belief, lee_clifton


def test_lee_clifton_as_the_sheet_has_it() -> None:
    for n, epsilon, ratio, bound in [
        (120, 1, 60 / 121, 0.0136098828391), (120, 5, 60 / 121, 0.0911407977678), (120, 10, 60 / 121, 0.544768336280),
        (4, 1, 1, 0.475366886419),
    ]:  # fmt: skip
        assert lee_clifton(epsilon, n, ratio) == pytest.approx(bound, abs=1e-12)


def test_no_rule_beats_the_exact_belief_though_p_sda_says_so() -> None:
    record = next(r for r in comparisons.items()[0].records if r["epsilon"] == 10)
    assert record["P_SDA at prior 1/120"] == pytest.approx(0.491, abs=5e-4)
    assert record["Lee–Clifton bound"] == pytest.approx(0.299, abs=1e-3)
    assert record["exact"] == pytest.approx(0.0452, abs=5e-5)
    assert record["P_SDA, averages"] == pytest.approx(0.0353, abs=5e-5)
    for epsilon in (0.5, 2, 10, 30):
        for sd in (3.0, 9.0):
            gap = float(ages(sd).max() - ages(sd).min())
            assert exact_belief(epsilon, ages(sd), 121) <= lee_clifton(epsilon, 120, gap / 121)


def test_the_test_of_paper_000_at_three_rates() -> None:
    found = {r["alpha"]: r for r in comparisons.items()[1].records if r["epsilon"] == 2}
    expected = {
        "P_SDA": (0.816060279, 0.816060279, 0.816060279), "0.5": (0.716166179, 0.932332358, 0.650919008),
        "0.999": (0.500432332, 0.999864665, 0.500216289), "0.0001": (0.500319453, 0.000738905610, 0.880797078),
    }  # fmt: skip
    for alpha, scores in expected.items():
        record = found[alpha]
        assert (record["accuracy"], record["recall"], record["precision"]) == pytest.approx(scores, abs=2e-9)
