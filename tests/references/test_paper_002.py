"""Paper 002 (Kaissis et al. 2022), corrected: every value of the reference sheet §A for one Gaussian release."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtri

import epsilens as el


@pytest.mark.parametrize(
    ("psi", "exact", "tail", "rdp", "improved"),
    [
        (0.1, 0.3406693647, 0.4314890794, 0.4848525912, 0.3752612357),
        (0.5, 1.9930914044, 2.2574453970, 2.5242629561, 2.1657155452),
        (1.0, 4.3771780957, 4.7648907939, 5.2985259122, 4.7283869849),
        (2.0, 9.9972561464, 10.5297815878, 11.5970518244, 10.7248241129),
        (3.0, 16.6754944028, 17.2946723818, 18.8955777366, 17.8001184317),
        (6.0, 42.8360081027, 43.5893447635, 46.7911554731, 45.2358318619),
    ],
)
def test_epsilon_at_delta_1e_5(psi: float, exact: float, tail: float, rdp: float, improved: float) -> None:
    e, delta = el.gaussian(psi=psi), 1e-5
    assert e.epsilon(delta) == pytest.approx(exact, abs=6e-11)
    # Lemma 1 is an upper bound, not an equality
    assert psi**2 / 2 - psi * float(ndtri(delta)) == pytest.approx(tail, abs=6e-11)
    assert e.delta(tail) < delta
    # through the Rényi divergence of the library: ε ≤ D_a + log(1/δ)/(a−1), and the improved conversion
    order = 1 + np.geomspace(1e-2, 60, 400_000)
    d = e.renyi(order)
    assert np.min(d + math.log(1 / delta) / (order - 1)) == pytest.approx(rdp, abs=3e-8)
    better = d + np.log1p(-1 / order) - (math.log(delta) + np.log(order)) / (order - 1)
    assert np.min(better) == pytest.approx(improved, abs=3e-8)


@pytest.mark.parametrize(
    ("psi", "epsilon", "delta"),
    [
        (1.0, 1.0, 0.1269367375),
        (2.0, 1.0, 0.5098616601),
        (1.0, 2.0, 0.0209236358),
        (0.5, 1.0, 0.0068295950),
        (1.0, 0.0, 0.3829249225),
        (1.0, 0.5, 0.2384217081),
        (2.0, 3.0, 0.1838130765),
        (3.0, 5.0, 0.3193918799),
        (6.0, 20.0, 0.3112408136),
    ],
)
def test_delta(psi: float, epsilon: float, delta: float) -> None:
    assert el.gaussian(psi=psi).delta(epsilon) == pytest.approx(delta, abs=6e-11)


@pytest.mark.parametrize(
    ("psi", "auc", "tv", "roc"),
    [
        (0.1, 0.5281859889, 0.0398776117, 0.0611908362),
        (0.5, 0.6381631951, 0.1974126514, 0.1261348982),
        (1.0, 0.7602499389, 0.3829249225, 0.2595110228),
        (2.0, 0.9213503965, 0.6826894921, 0.6387600313),
        (3.0, 0.9830525732, 0.8663855975, 0.9123145368),
        (6.0, 0.9999889548, 0.9973002039, 0.9999933511),
    ],
)
def test_auc_advantage_and_roc(psi: float, auc: float, tv: float, roc: float) -> None:
    e = el.gaussian(psi=psi)
    assert e.auc() == pytest.approx(auc, abs=6e-11)
    assert e.advantage() == pytest.approx(tv, abs=6e-11)
    assert e.roc(0.05) == pytest.approx(roc, abs=6e-11)
    chosen = el.choose(el.gaussian, "psi", at_most=auc, reading="auc")
    assert chosen.value == pytest.approx(psi, rel=2e-9 if psi < 6 else 2e-6)  # the last digit of a printed AUC


def test_no_epsilon_is_needed_below_the_advantage() -> None:
    assert el.gaussian(psi=2.506628e-5).epsilon(1e-5) == 0.0
    assert el.gaussian(psi=2.506629e-5).epsilon(1e-5) > 0.0


def test_classical_formula_is_unsafe_beyond_one() -> None:
    classical = 2 * math.sqrt(2 * math.log(1.25e5))
    assert classical == pytest.approx(9.6896, abs=6e-5)
    assert el.gaussian(psi=2.0).epsilon(1e-5) > classical


def test_corollary_1() -> None:
    """f(D) = 0, f(D') = 1.3, σ = .7, c = .4: TPR .9007286 at FPR .2838546."""
    e = el.gaussian(sigma=0.7, sensitivity=1.3)
    assert e.roc(0.2838546) == pytest.approx(0.9007286, abs=2e-7)


def test_rdp_is_linear_in_the_order() -> None:
    e = el.gaussian(psi=1.7)
    assert e.renyi([0.5, 1.0, 2.0, 17.0]).tolist() == pytest.approx(
        [a * 1.7**2 / 2 for a in (0.5, 1, 2, 17)], rel=1e-15
    )


@pytest.mark.parametrize(("alpha", "power", "shift"), [(0.05, 0.8, 2.48647486052), (0.1, 0.5, 1.28155156554)])
def test_shift_for_a_power(alpha: float, power: float, shift: float) -> None:
    """Paper 003 (60): the smallest shift, in σ, that is detected with this power."""
    chosen = el.choose(el.gaussian, "psi", at_most=power, reading="roc", fpr=alpha)
    assert chosen.value == pytest.approx(shift, abs=6e-12)


@pytest.mark.parametrize(
    ("epsilon", "mu", "power"), [(0.5, 0.357506796184, 0.177731503581), (1.0, 0.788248015893, 0.310899060318)]
)
def test_roc_of_paper_003(epsilon: float, mu: float, power: float) -> None:
    """δ = ε/20, Δμ = 2s, classical σ."""
    sigma = math.sqrt(2 * math.log(1.25 / (epsilon / 20))) / epsilon
    e = el.gaussian(sigma=sigma / 2)
    assert e.psi() == pytest.approx(mu, abs=6e-13)
    assert e.roc(0.1) == pytest.approx(power, abs=6e-13)


def test_calibration_targets_of_the_peers() -> None:
    advantage = el.choose(el.gaussian, "sigma", at_most=0.1, reading="advantage")
    assert advantage.value == pytest.approx(3.978948, abs=6e-7)
    rate = el.choose(el.gaussian, "sigma", at_most=0.05, reading="roc", fpr=0.01)
    assert rate.value == pytest.approx(1.467364, abs=6e-7)
    assert el.gaussian(psi=1.0).roc(1e-8) == pytest.approx(2.0e-6, abs=6e-8)  # riskcal: 1.2e-11
