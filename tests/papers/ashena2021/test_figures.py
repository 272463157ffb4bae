"""Figures 1 and 2: reference sheet, §2."""

from __future__ import annotations

import pytest

from epsilens.papers.ashena2021 import figures

COUNTS = {
    0.01: (0.500624999350, 0.502493760404), 0.1: (0.506249357036, 0.524385287750),
    0.5: (0.531173520502, 0.610599608464), 1: (0.561924559522, 0.696734670144), 2: (0.620918337680, 0.816060279414),
    5: (0.767214852551, 0.958957500688), 10: (0.907654376548, 0.996631026500), 20: (0.988208592752, 0.999977300035),
}  # fmt: skip
AVERAGES = {
    (13, 43, 1): (0.5148173326, 0.5145144960, 0.5190816265), (13, 121, 1): (0.6314839994, 0.6304862591, 0.6317787729),
    (13, 121, 5): (0.8912568952, 0.8912568952, 0.8913438781), (1320, 43, 5): (0.5673516838, 0.5673516838, 0.5673517149),
    (16959, 20, 10): (0.8552653412, 0.8552653412, 0.8552653412),
}  # fmt: skip


def test_counts() -> None:
    records = figures.items()[0].records
    assert [r["epsilon"] for r in records] == list(COUNTS)
    for record in records:
        assert (record["two noisy"], record["one known"]) == pytest.approx(COUNTS[record["epsilon"]], abs=1e-11)


def test_sums_and_averages() -> None:
    items = {item.title.split(":")[0]: item for item in figures.items()}
    at = next(r for r in items["Figure 1b"].records if r["epsilon"] == 5)
    assert (at["age 20"], at["age 43"]) == pytest.approx((0.551321111989, 0.608114384862), abs=1e-11)
    assert at["age 121"] == pytest.approx(COUNTS[5][0], abs=1e-11)
    found = {(r["n"], r["age"], r["epsilon"]): r for r in items["Figure 2a"].records}
    for key, (rule, coin, optimal) in AVERAGES.items():
        record = found[key]
        assert (record["rule"], record["coin"], record["optimal"]) == pytest.approx((rule, coin, optimal), abs=1e-9)
    far = next(r for r in items["Figure 2b"].records if r["epsilon"] == 5)
    assert far["average, age 121"] == pytest.approx(0.884749, abs=1e-6)
    assert far["count"] < far["average, age 121"]
