"""ε of the Gaussian mechanism by ψ: reference sheet, A.1 and A.2."""

from __future__ import annotations

import pytest

from epsilens.papers import kaissis2022
from epsilens.papers.kaissis2022 import conversions

# ψ: exact, tail, RDP (29), RDP (30)
REFERENCE = {
    0.1: (0.3406693647, 0.4314890794, 0.4848525912, 0.3752612357),
    0.5: (1.9930914044, 2.2574453970, 2.5242629561, 2.1657155452),
    1.0: (4.3771780957, 4.7648907939, 5.2985259122, 4.7283869849),
    2.0: (9.9972561464, 10.5297815878, 11.5970518244, 10.7248241129),
    3.0: (16.6754944028, 17.2946723818, 18.8955777366, 17.8001184317),
    6.0: (42.8360081027, 43.5893447635, 46.7911554731, 45.2358318619),
}


def test_the_table_of_epsilon() -> None:
    for record in kaissis2022.epsilon_table().records:
        found = [record[key] for key in ("exact", "tail", "rdp", "rdp_improved")]
        assert found == pytest.approx(REFERENCE[record["psi"]], abs=2e-10)
        assert all(record["exact"] < bound for bound in found[1:])


@pytest.mark.parametrize("psi", [1e-4, 1e-3, 0.03, 10.0, 30.0])
@pytest.mark.parametrize("delta", [1e-10, 1e-5, 1e-2])
def test_the_improved_conversion_is_the_best_over_orders(psi: float, delta: float) -> None:
    from math import log, log1p

    orders = [1 + 10.0 ** (k / 50) for k in range(-150, 500)]
    grid = min(a * psi**2 / 2 + log1p(-1 / a) - (log(delta) + log(a)) / (a - 1) for a in orders)
    best = kaissis2022.epsilon_rdp_improved(psi, delta)
    assert best <= max(grid, 0) + 1e-12
    assert best == pytest.approx(max(grid, 0), rel=2e-2, abs=1e-3)


def test_what_lemma_4_calls_delta() -> None:
    record = next(r for r in conversions.items()[0].records if r["psi"] == r["epsilon"] == 1.0)
    assert record["printed"] == pytest.approx(0.3085375387, abs=1e-10)
    assert record["corrected"] == pytest.approx(0.1269367375, abs=1e-10)
