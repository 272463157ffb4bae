"""Paper 003: every counterexample of the reference sheet, the printed value beside the correction."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import epsilens as el
from epsilens.mechanisms.noise import noise_tail
from epsilens.papers import unsal2022
from epsilens.papers.items import Agreement, read_items


def records_of(name: str) -> Sequence[Mapping[str, Any]]:
    return read_items("unsal2022", name)[0].records


def test_theorem_3() -> None:
    for alpha in (0.001, 0.05, 0.3, 0.5):
        rate = float(noise_tail("laplace", np.asarray(unsal2022.threshold_printed(alpha))))
        assert rate == pytest.approx(1 / (4 * (1 - alpha)))
        assert rate >= 0.25
    records = records_of("theorem_3")
    assert records[0]["false_alarms_printed"] == pytest.approx(0.263158, abs=5e-7)
    negative = next(r for r in records if r["setting"] == "α = 0.05, bias below 0")
    assert negative["false_alarms_printed"] == pytest.approx(0.736842, abs=5e-7)
    assert negative["corrected"] == -records[0]["corrected"] == pytest.approx(math.log(0.1))
    assert all(r["false_alarms_corrected"] == float(r["setting"].split(",")[0].split("=")[1]) for r in records)


def test_power_conditions() -> None:
    assert unsal2022.power_printed(0.0, 1.0) == pytest.approx(1.35914, abs=5e-6)
    assert unsal2022.power_printed(2.0, 1.0) == pytest.approx(-0.359141, abs=5e-7)
    right = {r["setting"]: r["corrected"] for r in records_of("equations_29_to_33")}
    assert right["k = 0, bias 1"] == pytest.approx(0.816060, abs=5e-7)
    assert right["k = 2, bias 1"] == pytest.approx(0.183940, abs=5e-7)


def test_best_test() -> None:
    by = {r["setting"]: r for r in records_of("theorems_3_and_4")}
    first = by["m = 1, θ = 1, α = 0.1"]
    assert first["two_sided"] == pytest.approx(0.154308, abs=5e-7)
    assert first["one_sided"] == pytest.approx(0.271828, abs=5e-7)
    flipped = by["m = 1, θ = 1.5, α = 0.5"]
    assert flipped["two_sided"] == pytest.approx(0.754217, abs=5e-7)
    assert flipped["two_sided"] > flipped["one_sided"]
    assert by["m = 0.5, θ = 1.5, α = 0.9"]["one_sided"] < 0.9
    assert all(r["optimal"] >= max(r["one_sided"], r["two_sided"]) - 1e-14 for r in by.values())


def test_equation_42() -> None:
    assert unsal2022.two_sided_printed(2.0, 0.5) == pytest.approx(1.8811, abs=5e-5)
    assert unsal2022.two_sided_power(2.0, 0.5) == pytest.approx(0.898499, abs=5e-7)


def test_likelihood_ratio_is_not_confined() -> None:
    far = [unsal2022.ratio(z, 1.0, 1.5) for z in (-40.0, -20.0, 0.0, 20.0, 40.0)]
    assert far[0] > far[1] > far[2] < far[3] < far[4]
    assert far[2] == pytest.approx(math.exp(-1 / 1.5) / 1.5)
    assert unsal2022.kappa_printed(0.7, 1.0, 1.5) == pytest.approx(unsal2022.ratio(0.7, 1.0, 1.5))  # between the means
    assert unsal2022.kappa_printed(5.0, 1.0, 1.5) > 100 * unsal2022.ratio(5.0, 1.0, 1.5)
    # (25): for a negative bias, too, H0 is rejected where the ratio is large
    assert unsal2022.ratio(2.0, 1.0, 1.0) > 1 > unsal2022.ratio(-1.0, 1.0, 1.0)


def test_corollary_1_is_vacuous() -> None:
    power = unsal2022.two_sided_power(5.0, 0.1)
    assert power == pytest.approx(0.966647, abs=5e-7)
    bound = unsal2022.corollary1_printed(0.1, power, 1.0)
    assert bound == pytest.approx(2.33651, abs=5e-6)
    assert bound < 5  # a bias that is detected violates it, and no bias satisfies it:
    assert bound > 0
    assert unsal2022.two_sided_power(0.0, 0.1) == pytest.approx(0.1)
    want = (2.29243166956, 4.60266705577, 4.64545049529, 2.47788873029)
    assert [r["corrected"] for r in records_of("corollary_1")] == pytest.approx(want, abs=6e-11)


def test_corollary_2() -> None:
    assert unsal2022.corollary2_printed(2, 1.0, 4.0) == pytest.approx(0.0780664420, abs=5e-11)
    assert unsal2022.corollary2_corrected(2, 1.0, 4.0) == pytest.approx(0.0594195832, abs=5e-11)
    assert unsal2022.corollary2_corrected(10, 1.0, 4.0) == pytest.approx(8e-12, rel=0.02)
    assert unsal2022.corollary2_corrected(1, 4.0, 1.0) is None
    records = records_of("theorem_5_and_corollary_2")
    assert records[0]["sensitivity_it_needs"] == pytest.approx(1.1436, abs=5e-5)
    # (59) solved rightly gives back s = 1
    k, v = 2 * math.pi * math.e, unsal2022.corollary2_corrected(2, 1.0, 4.0)
    assert v is not None
    assert math.sqrt(k * 4.0 * v / (4.0 + v)) == pytest.approx(1.0)
    # the paper needs (58) ≥ (53): not so
    assert 0.5 * math.log(4.0 * (1 + 4.0 / 1.0)) < records[0]["theorem5"]
    assert records[0]["scalar"] == pytest.approx(0.5 * math.log(9.0))


def test_theorem_6() -> None:
    assert unsal2022.sigma_printed(1.0, 0.05, 1.0) == pytest.approx(2.27608892, abs=5e-9)
    records = records_of("theorem_6")
    assert records[1]["sigma"] == pytest.approx(2.53727248, abs=5e-9)
    assert records[0]["mu"] == pytest.approx(0.357506796184, abs=6e-13)
    assert records[0]["power"] == pytest.approx(0.177731503581, abs=6e-13)
    assert records[1]["mu"] == pytest.approx(0.788248015893, abs=6e-13)
    assert records[1]["power"] == pytest.approx(0.310899060318, abs=6e-13)
    assert all(r["false_alarms_at_k"] > 0.2 for r in records)  # α = 0.1 was asked for


def test_definitions_7_and_8() -> None:
    zero = records_of("definitions_7_and_8")[0]
    assert zero["printed"] == 1.0
    assert zero["accuracy_definition7"] == pytest.approx(0.760250, abs=5e-7)
    assert zero["accuracy_definition8"] == pytest.approx(0.921350, abs=5e-7)
    assert zero["corrected"] == 0.0
    assert el.gaussian(psi=math.sqrt(8.0)).chernoff() == pytest.approx(1.0)


def test_kl_for_a_negative_bias() -> None:
    first = records_of("equations_75_to_77")[0]
    assert first["corrected"] == pytest.approx(2.08434220, abs=5e-9)
    assert first["eq76"] == pytest.approx(0.0843422, abs=5e-8)
    assert first["eq77"] == pytest.approx(36.4709, abs=5e-5)
    assert unsal2022.kl_negative_printed(-1e-12, 1.0, 1.0, simplified=True) == pytest.approx(1.0)
    last = records_of("equations_75_to_77")[-1]
    assert last["corrected"] == last["reverse"] == pytest.approx(5e-19)  # symmetric at θ = 1, and near 0


def test_chernoff_of_normals() -> None:
    assert unsal2022.chernoff_gaussian_printed(0.5, 0.0, 1.0, 2.0) == pytest.approx(0.581575404903, abs=6e-13)
    records = records_of("section_5_2")
    assert records[0]["corrected"] == pytest.approx(0.111571775657, abs=6e-13)
    assert records[1]["information"] == pytest.approx(0.172116722932, abs=6e-13)
    assert all(r["corrected"] <= min(r["bound"], r["information"]) + 1e-14 for r in records)
    equal = records[3]  # equal σ: the wrong sign does not show, and C = ab·D
    assert equal["printed"] == pytest.approx(equal["corrected"]) == pytest.approx(0.25 * 0.5)


def test_every_table_can_be_shown() -> None:
    from epsilens.papers import reproduction

    shown = reproduction("003")
    assert shown.papers[0].key == "003"
    for text in (shown.to_text(), shown.to_markdown(), shown.to_html()):
        assert "nan" not in text.lower().replace("önan", "")
        assert "Corollary 1" in text
    assert len(shown.to_dict()["papers"][0]["items"]) == 20


def test_the_one_sided_power() -> None:
    for record in records_of("figure_1"):  # Δμ = 2s, so m = 2ε, and the threshold at α = 0.1 is ln 5
        m, theta = 2 * record["epsilon"], record["theta"]
        z = (math.log(5) - m) / theta
        power = 0.5 * math.exp(-z) if z >= 0 else 1 - 0.5 * math.exp(z)
        assert record["power at α = 0.1"] == pytest.approx(power, rel=1e-12)


def test_figures_5_and_9() -> None:
    (item,) = read_items("unsal2022", "figure_5")
    low, high = unsal2022.violated_range()
    assert low == pytest.approx(0.790597, abs=5e-7)
    assert high == pytest.approx(1.866883, abs=5e-7)
    assert unsal2022.largest_ratio() == pytest.approx(0.892, abs=5e-4)
    ratios = {(r["theta"], r["bias / s"]): r["largest D/e^ε"] for r in item.records if "from" not in r}
    assert ratios[1.0, 4.0] > 1 > ratios[1.5, 4.0]
    theta, m = 1.5, 4.0  # a point of the curve, by the sheet: D(Lap(0, 1) ‖ Lap(4, 1.5)), at ε = 1
    drawn = {p["x"]: p["y"] for p in item.charts[1].data if p["series"] == "Δμ = 4s"}
    at = min(drawn, key=lambda x: abs(x - 1))
    shift = m * at
    assert drawn[at] == pytest.approx(math.log(theta) - 1 + (math.exp(-shift) + shift) / theta, rel=1e-12)


def test_figures_6_and_7() -> None:
    powers = {r["epsilon"]: (r["mu"], r["power at α = 0.1"]) for r in records_of("figure_6")}
    assert powers[0.5] == pytest.approx((0.357506796184, 0.177731503581), abs=1e-10)
    assert powers[1.0] == pytest.approx((0.788248015893, 0.310899060318), abs=1e-10)


def test_every_figure_has_its_picture_or_its_reason() -> None:
    for item in read_items("unsal2022", *(f"figure_{k}" for k in range(1, 10))):
        assert item.charts or (item.agreement is Agreement.OPEN and item.why)
