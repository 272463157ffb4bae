"""The detector: p-values, verdicts, power, and the false alarms of whole series by simulation."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from tests.laws.oracles import close

import epsilens as el


@pytest.mark.parametrize("z", [0.0, 1e-9, 0.5, -3.0, 30.0, -690.0])
def test_laplace_p_values(z: float) -> None:
    with mp.workdps(60):
        x = mpf(100.0 + z) - 100
        above = mp.exp(-x) / 2 if x >= 0 else 1 - mp.exp(x) / 2
        below = mp.exp(x) / 2 if x < 0 else 1 - mp.exp(-x) / 2
        truth = {"above": above, "below": below}
        truth["both"] = mp.exp(-abs(x))
    for side, p in truth.items():
        found = el.attacks.detect(100.0 + z, 100.0, scale=1.0, side=side)
        assert close(found.p_value, p), side
        assert found.log_p_value == pytest.approx(float(mp.log(p)), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("z", [0.0, 0.5, -3.0, 8.0, -37.0])
def test_gaussian_p_values(z: float) -> None:
    with mp.workdps(60):
        x = mpf(z)
        truth = {"above": mp.ncdf(-x), "below": mp.ncdf(x), "both": 2 * mp.ncdf(-abs(x))}
    for side, p in truth.items():
        assert close(el.attacks.detect(3 * z, 0.0, sigma=3.0, side=side).p_value, p), side


def test_p_values_that_no_double_holds() -> None:
    far = el.attacks.detect(1e5, 0.0, scale=1.0)
    assert (far.p_value, far.log_p_value, far.alarm) == (0.0, -1e5, True)
    assert el.attacks.detect(1e5, 0.0, sigma=1.0).log_p_value == pytest.approx(-5e9, rel=1e-8)
    assert "e-43430" in _sheet(far).to_text()  # 1e5/ln 10 = 43429.4…
    json.dumps(far.to_dict(), allow_nan=False)
    assert el.attacks.detect(690.7, 0.0, scale=1.0, fpr=1e-300).alarm is False
    assert el.attacks.detect(690.8, 0.0, scale=1.0, fpr=1e-300).alarm is True


def _sheet(found: Any) -> Any:
    from epsilens.show.tampering import detection

    return detection(found)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("side", ["both", "above", "below"])
def test_verdict_agrees_with_the_thresholds(side: str, noise: str) -> None:
    told: dict[str, Any] = {"scale" if noise == "laplace" else "sigma": 2.0, "side": side}
    for alpha in (0.001, 0.05, 0.4, 0.8):
        for off in np.linspace(-14, 14, 57):
            d = el.attacks.detect(10 + off, 10.0, fpr=alpha, **told)
            if min(abs(off - d.below), abs(off - d.above)) > 1e-9:
                assert d.alarm == (off < d.below or off > d.above), (alpha, off)
                assert d.alarm == (d.p_value <= alpha)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize(("side", "bias"), [("both", -3.0), ("above", 3.0), ("above", -3.0), ("below", -3.0)])
def test_power_by_simulation(side: str, bias: float, noise: str) -> None:
    n = 400_000
    rng = np.random.default_rng(5)
    told: dict[str, Any] = {"scale" if noise == "laplace" else "sigma": 1.5, "side": side}
    for stretch in (1.0, 2.0):
        d = el.attacks.detect(0.0, 0.0, fpr=0.1, bias=bias, stretch=stretch, **told)
        assert d.power is not None
        drawn = (rng.laplace if noise == "laplace" else rng.normal)(bias, 1.5 * stretch, n)
        seen = np.mean((drawn < d.below) | (drawn > d.above))
        assert abs(seen - d.power) < 5 * math.sqrt(d.power * (1 - d.power) / n) + 1e-9


def test_power_and_blind_spot_are_those_of_the_tests() -> None:
    d = el.attacks.detect(106.0, 100.0, epsilon=1.0, bias=3.0)
    assert d.power == el.attacks.tampering(epsilon=1.0, bias=3.0).two_sided(0.05).power
    assert el.attacks.detect(106.0, 100.0, epsilon=1.0, bias=-3.0, side="below").power == pytest.approx(
        el.attacks.tampering(epsilon=1.0, bias=-3.0).one_sided(0.05).power, rel=1e-14
    )
    assert d.blind_spot == pytest.approx(el.attacks.hidden_bias(epsilon=1.0, test="two-sided"), rel=1e-12)
    assert el.attacks.detect(0.0, 0.0, epsilon=1.0, bias=1e9).power == 1.0
    assert el.attacks.detect(0.0, 0.0, epsilon=1.0, bias=1e9, side="below").power == 0.0


def test_sizes_zero_and_one() -> None:
    never, always = (el.attacks.detect(1e6, 0.0, scale=1.0, fpr=a, bias=5.0) for a in (0.0, 1.0))
    assert (never.alarm, never.power, never.below) == (False, 0.0, -math.inf)
    assert (always.alarm, always.power) == (True, 1.0)
    assert el.attacks.detect(0.0, 0.0, scale=1.0, fpr=1.0).alarm is True
    assert never.blind_spot == math.inf
    for d in (never, always):
        json.dumps([d.to_dict(), _sheet(d).to_dict()], allow_nan=False)
        assert d.sentence
    s = el.attacks.detect_series([1.0, 2.0], 0.0, scale=1.0, fpr=1.0)
    assert (s.alarms, s.family_wise) == ((0, 1), 1.0)
    assert el.attacks.detect_series([1e6, 2.0], 0.0, scale=1.0, fpr=0.0).alarms == ()


# -- series -------------------------------------------------------------------------------------------------------


def test_holm_by_hand() -> None:
    p = [0.01, 0.04, 0.03, 0.005]
    s = el.attacks.detect_series([-math.log(x) for x in p], 0.0, scale=1.0, fpr=0.05)
    assert [d.p_value for d in s.answers] == pytest.approx(p)
    assert [d.adjusted for d in s.answers] == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert s.alarms == (0, 3)
    assert s.family_wise == pytest.approx(1 - (1 - 0.0125) ** 4)
    assert {d.level for d in s.answers} == {0.0125}


def test_spending_by_hand() -> None:
    s = el.attacks.detect_series([4.0] * 4, 0.0, scale=1.0, fpr=0.1, method="spending")
    assert [d.level for d in s.answers] == pytest.approx([0.1 / 2, 0.1 / 6, 0.1 / 12, 0.1 / 20])
    assert [d.alarm for d in s.answers] == [True, False, False, False]  # e^{−4} = 0.018
    assert [d.adjusted for d in s.answers] == pytest.approx([min(k * math.exp(-4), 1) for k in (2, 6, 12, 20)])
    assert s.family_wise <= 0.1


def _series_alarms(p: Any, alpha: float, method: str) -> Any:
    """Which rows of p-values raise any alarm, written again from the definitions."""
    n = p.shape[1]
    if method == "holm":
        return p.min(axis=1) <= alpha / n  # the first step of the step-down decides whether there is any
    t = np.arange(1, n + 1)
    return (p <= alpha / (t * (t + 1))).any(axis=1)


@pytest.mark.parametrize("method", ["holm", "spending"])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_family_wise_rate_by_simulation(noise: str, method: str) -> None:
    """200,000 honest series of 20 by the definitions, 2,000 of them through the library itself."""
    rng = np.random.default_rng(11)
    n, length, alpha = 200_000, 20, 0.1
    z = (rng.laplace if noise == "laplace" else rng.normal)(0.0, 1.0, (n, length))
    p = np.exp(-np.abs(z)) if noise == "laplace" else np.vectorize(math.erfc)(np.abs(z[:20_000]) / math.sqrt(2))
    rate = np.mean(_series_alarms(p, alpha, method))
    told: dict[str, Any] = {"scale" if noise == "laplace" else "sigma": 1.0, "fpr": alpha, "method": method}
    exact = el.attacks.detect_series(z[0], 0.0, **told).family_wise
    assert exact <= alpha
    assert abs(rate - exact) < 5 * math.sqrt(exact * (1 - exact) / len(p))
    for row, wanted in zip(z[:2000], _series_alarms(p[:2000], alpha, method), strict=True):
        assert bool(el.attacks.detect_series(row, 0.0, **told).alarms) == wanted


@pytest.mark.parametrize("method", ["holm", "spending"])
def test_family_wise_rate_with_the_same_noise_throughout(method: str) -> None:
    """Dependence does not break it: one draw of noise used for every answer."""
    rng = np.random.default_rng(12)
    p = np.repeat(np.exp(-np.abs(rng.laplace(size=(100_000, 1)))), 10, axis=1)
    assert np.mean(_series_alarms(p, 0.1, method)) <= 0.1


def test_false_alarms_beside_a_tampered_answer() -> None:
    """Holm controls honest answers also where others are tampered with."""
    rng = np.random.default_rng(13)
    wrong = 0
    runs = 3000
    for _ in range(runs):
        z = rng.laplace(size=8)
        z[:4] += 50.0
        wrong += bool(set(el.attacks.detect_series(z, 0.0, scale=1.0, fpr=0.1).alarms) - {0, 1, 2, 3})
    assert wrong / runs < 0.1 + 5 * math.sqrt(0.09 / runs)
    assert wrong / runs > 0.05  # and it is not wasteful: four honest answers are left at 0.1/4 each


def test_watch_is_online_and_equals_spending() -> None:
    answers = [(101.0, 100.0), (107.0, 100.0), (90.0, 100.0)]

    def endless() -> Any:
        yield from answers
        raise AssertionError("read too far")

    stream = el.attacks.watch(endless(), epsilon=1.0, fpr=0.1, bias=5.0)
    got = [next(stream) for _ in range(3)]
    whole = el.attacks.detect_series([a for a, _ in answers], 100.0, epsilon=1.0, fpr=0.1, bias=5.0, method="spending")
    assert tuple(got) == whole.answers
    assert all(a.level > b.level for a, b in pairwise(got))
    with pytest.raises(el.InputError, match="fpr"):
        el.attacks.watch(iter(()), epsilon=1.0, fpr=2.0)  # before any answer is read
    with pytest.raises(el.InputError, match="published contains NaN"):
        next(el.attacks.watch([(math.nan, 1.0)], epsilon=1.0))


def test_noise_for_each_answer() -> None:
    s = el.attacks.detect_series([1.0, 1.0], [0.0, 0.0], scale=[1.0, 10.0])
    assert [d.p_value for d in s.answers] == pytest.approx([math.exp(-1), math.exp(-0.1)])
    assert el.attacks.detect_series([1.0], 0.0, epsilon=1.0, delta=1e-5).answers[0].noise == "gaussian"
    json.dumps(s.to_dict(), allow_nan=False)
    assert "None of 2 published answers" in str(s)
    assert "<table" in s._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"published": math.nan, "expected": 1.0, "epsilon": 1.0}, "published contains NaN"),
        ({"published": 1.0, "expected": math.inf, "epsilon": 1.0}, "expected is infinite"),
        ({"published": 1.0, "expected": [1.0], "epsilon": 1.0}, "expected has shape"),
        ({"published": 1e200, "expected": 0.0, "scale": 1e-3}, "units of noise"),
        ({"published": 1.0, "expected": 0.0}, "exactly one of"),
        ({"published": 1.0, "expected": 0.0, "epsilon": 1.0, "side": "left"}, "side is 'left'"),
        ({"published": 1.0, "expected": 0.0, "epsilon": 1.0, "stretch": 0.9, "bias": 1.0}, "stretch is 0.9"),
        ({"published": 1.0, "expected": 0.0, "epsilon": 1.0, "fpr": -1.0}, "fpr is -1"),
        ({"published": 1.0, "expected": 0.0, "epsilon": [1.0, 2.0]}, "single number"),
    ],
)
def test_bad_input(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(el.InputError, match=words):
        el.attacks.detect(**arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"published": [], "expected": 1.0}, "at least one answer"),
        ({"published": 1.0, "expected": 1.0}, "list"),
        ({"published": [1.0, 2.0], "expected": [1.0, 2.0, 3.0]}, "one for each"),
        ({"published": [1.0, math.nan], "expected": 1.0}, "published contains NaN"),
        ({"published": ["α"], "expected": 1.0}, "published is"),
        ({"published": [1.0], "expected": 1.0, "method": "bonferroni"}, "method is 'bonferroni'"),
    ],
)
def test_bad_series(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(el.InputError, match=words):
        el.attacks.detect_series(epsilon=1.0, **arguments)


def test_words() -> None:
    d = el.attacks.detect(106.0, 100.0, epsilon=1.0, bias=3.0)
    assert str(d).startswith("The published answer lies 6 above the expected one: it looks tampered with.")
    assert "noticed 50 times in 100" in str(d)
    assert "nothing points to tampering" in str(el.attacks.detect(100.0, 100.0, epsilon=1.0))
    assert d.sentence in d._repr_html_()
    many = el.attacks.detect_series(np.r_[np.zeros(80), [50.0]], 0.0, scale=1.0)
    assert "1 of 81 published answers looks tampered with: number 81." in " ".join(str(many).split())


def test_power_against_a_large_bias_behind_stretched_noise() -> None:
    """S((k−m)/θ) at m = θ = 1e6: not yet certain."""
    k = -math.log(2 * 0.05)
    found = el.attacks.detect(0.0, 0.0, scale=1.0, bias=1e6, stretch=1e6, side="above")
    assert found.power == pytest.approx(1 - math.exp((k - 1e6) / 1e6) / 2, rel=1e-12)


def test_family_wise_when_all_is_spent() -> None:
    """α = 1 leaves ½ and 1/6 to the first two answers; Holm's last comparison is with 1."""
    given: dict[str, Any] = {"scale": 1.0, "fpr": 1.0}
    assert el.attacks.detect_series([1.0, 2.0], 0.0, method="spending", **given).family_wise == pytest.approx(7 / 12)
    sure = el.attacks.detect_series([1.0, 2.0], 0.0, **given)
    assert sure.family_wise == 1
    assert sure.alarms


@pytest.mark.parametrize("answers", [3, "ab", [(1.0, 2.0, 3.0)], [5.0]])
def test_watch_wants_pairs(answers: Any) -> None:
    with pytest.raises(el.InputError, match="pair"):
        list(el.attacks.watch(answers, epsilon=1.0))
