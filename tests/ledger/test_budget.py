"""What releases cost, what limits on that promise, and names that may be taken for one another."""

from __future__ import annotations

import math
import time
from itertools import pairwise
from typing import Any

import pytest
from scipy.integrate import quad
from scipy.special import ndtr, ndtri

import epsilens as el
from epsilens.ledger.budget import FREE, Charge, Limits, approximate_delta, charge_of, confusable, normalized_name


@pytest.mark.parametrize(
    ("one", "times", "psi", "rho", "epsilon"),
    [
        # success and ε at δ = 1e-6 under a limit on ψ, on ρ and on ε that these releases fill
        (1.0, 2, (0.767, 7.54), (0.785, 6.51), (0.881, 2.0)),
        (0.1, 100, (0.730, 6.16), (0.736, 5.13), (1.000, 10.0)),
    ],
)
def test_what_filled_limits_promise(
    one: float, times: int, psi: tuple[float, float], rho: tuple[float, float], epsilon: tuple[float, float]
) -> None:
    spent = Charge.total([charge_of(el.laplace(epsilon=one))] * times)
    for name, (success, at) in {"psi": psi, "rho": rho, "epsilon": epsilon}.items():
        limits = Limits.of(**{name: getattr(spent, name)})
        assert limits.exceeded(spent) is None
        promised = limits.experiments()[name]
        assert promised.success() == pytest.approx(success, abs=6e-4)
        assert promised.epsilon(1e-6) == pytest.approx(at, abs=6e-3)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0])
def test_the_price_of_laplace_noise(epsilon: float) -> None:
    charge = charge_of(el.laplace(epsilon=epsilon))
    assert charge.epsilon == pytest.approx(epsilon, rel=1e-14)
    assert charge.rho == pytest.approx(epsilon - 1 + math.exp(-epsilon), rel=1e-6)  # not ε²/2
    assert (charge.slack, charge.delta) == (0, 0)


def test_a_plan_is_charged_its_composition() -> None:
    plan = charge_of(el.laplace(epsilon=0.1).repeat(4))
    answer = charge_of(el.laplace(epsilon=0.1))
    assert Charge.total([plan] * 5).psi == pytest.approx(0.463, abs=6e-4)
    assert Charge.total([answer] * 20).psi == pytest.approx(0.547, abs=6e-4)
    assert el.laplace(epsilon=0.1).repeat(20).psi() == pytest.approx(0.444, abs=1e-3)
    assert charge_of(el.laplace(epsilon=0.1).repeat(10)).psi <= math.sqrt(10) * answer.psi


def test_unlike_noises_have_the_sums_of_their_parts() -> None:
    charge = charge_of(el.compose(el.laplace(epsilon=1.0), el.gaussian(psi=0.5)))
    assert charge.epsilon == math.inf
    assert charge.rho == pytest.approx(math.exp(-1) + 0.125, rel=1e-6)
    assert 0 < charge.psi <= math.hypot(charge_of(el.laplace(epsilon=1.0)).psi, 0.5)


def test_gaussian_noise_has_an_epsilon_at_a_delta() -> None:
    charge = charge_of(el.gaussian(psi=0.5), at_delta=1e-6)
    # δ(ε) = Φ(ψ/2 − ε/ψ) − e^ε·Φ(−ψ/2 − ε/ψ) (Balle & Wang 2018)
    e = charge.epsilon
    assert ndtr(0.25 - e / 0.5) - math.exp(e) * ndtr(-0.25 - e / 0.5) == pytest.approx(1e-6, rel=1e-6)
    assert (charge.slack, charge.delta) == (1e-6, 0.0)


def test_a_claim_is_its_epsilon_and_its_delta_beside() -> None:
    claim = el.mechanisms.approximate(epsilon=1.0, delta=1e-6)
    charge = charge_of(claim)
    assert (charge.epsilon, charge.slack, charge.delta) == (1.0, 1e-6, 1e-6)
    assert charge.rho == pytest.approx(math.tanh(0.5), rel=1e-6)  # ε·tanh(ε/2)
    both = charge_of(el.compose(claim.repeat(2), el.laplace(epsilon=0.5)), delta=1e-3)
    assert both.delta == pytest.approx(1e-3 + 2e-6, rel=1e-12)
    assert both.epsilon == pytest.approx(2.5, rel=1e-12)
    assert approximate_delta(el.laplace(epsilon=1.0)) == 0


def test_an_asymmetric_release_costs_the_same_either_way() -> None:
    one = el.compose(el.subsample(el.laplace(epsilon=1.0), 0.1), el.laplace(epsilon=0.2))
    there, back = charge_of(one), charge_of(one.reverse())
    for name in ("epsilon", "psi", "rho"):
        assert getattr(there, name) == pytest.approx(getattr(back, name), rel=2e-3)


def test_totals_and_json() -> None:
    total = Charge.total([Charge(0.5, 1e-6, 3.0, 0.1, 1e-7), Charge(math.inf, 0, 4.0, 0.1)])
    assert total == Charge(math.inf, 1e-6, 5.0, 0.2, 1e-7)
    assert Charge.from_dict(total.to_dict()) == total
    assert Charge.total([]) == FREE
    with pytest.raises(ValueError, match="-1"):
        Charge.from_dict({**total.to_dict(), "psi": -1.0})


def test_many_at_once_have_no_price() -> None:
    with pytest.raises(el.InputError, match="give one"):
        charge_of(el.laplace(epsilon=[0.1, 1.0]))


# -- why trade-off curves are not added up ------------------------------------------------------------------------


def _laplace(x: float) -> float:
    return 0.5 * math.exp(-abs(x))


def _below(x: float) -> float:
    return 0.5 * math.exp(x) if x < 0 else 1 - 0.5 * math.exp(-x)


def _second_laplace(a: float, b: float) -> float:
    """∫ max(a·q0, b·q1) of Laplace noise at ε = 1, by its threshold."""
    at = math.log(a / b)
    if abs(at) >= 1:
        return max(a, b)
    cut = (1 + at) / 2
    return a * _below(cut) + b * (1 - _below(cut - 1))


def _second_normal(a: float, b: float, mu: float) -> float:
    cut = mu / 2 + math.log(a / b) / mu
    return float(a * ndtr(cut) + b * ndtr(mu - cut))


def _success(second: str) -> float:
    """Of Laplace noise at ε = 1 and a second release, which may be chosen by the first answer."""

    def gained(x: float) -> float:
        a, b = 0.5 * _laplace(x), 0.5 * _laplace(x - 1)
        each = {"laplace": _second_laplace(a, b), "normal": _second_normal(a, b, 0.7386)}
        return max(each.values()) if second == "chosen" else each[second]

    ends = (-40.0, 0.0, 0.5, 1.0, 41.0)
    return math.fsum(float(quad(gained, low, high, limit=200)[0]) for low, high in pairwise(ends))


def test_adding_up_curves_would_be_unsafe() -> None:
    assert _success("laplace") == pytest.approx(0.7241, abs=5e-5)
    assert _success("normal") == pytest.approx(0.7241, abs=5e-5)
    assert _success("chosen") == pytest.approx(0.7330, abs=5e-5)
    first, ways = el.laplace(epsilon=1.0), (el.laplace(epsilon=1.0), el.gaussian(psi=0.7386))
    for second in ways:  # a filter on the composed curve lets both pass at 0.7242 …
        assert el.compose(first, second).success() < 0.7242
    paid = [Charge.total([charge_of(first), charge_of(second, at_delta=0.0)]) for second in ways]
    for name in ("psi", "rho"):  # … one that adds up ψ² or ρ promises what the choice can reach
        limits = Limits.of(**{name: max(getattr(spent, name) for spent in paid)})
        assert limits.experiments()[name].success() > 0.7330


@pytest.mark.parametrize("answers", [2, 4, 8])
def test_a_few_equal_answers_are_charged_at_once(answers: int) -> None:
    """Processor time, with room for a loaded machine; ψ of so many lies between that of one and √k of it."""
    noise = el.laplace(epsilon=0.3).repeat(answers)
    start = time.process_time()
    charge = charge_of(noise)
    assert time.process_time() - start < 1.0
    alone = el.laplace(epsilon=0.3).psi()
    assert alone < charge.psi < alone * answers**0.5
    assert charge.psi >= 2 * ndtri(noise.success())


@pytest.mark.parametrize("success", [0.51, 0.65, 0.9])
def test_a_success_is_a_limit_on_psi(success: float) -> None:
    limits = Limits.of(success=success)
    assert limits.psi == pytest.approx(2 * ndtri(success), rel=1e-9)
    assert limits.experiments()["psi"].success() == pytest.approx(success, rel=1e-9)


def test_delta_takes_its_share_of_a_success() -> None:
    limits = Limits.of(success=0.65, delta=0.1)
    # δ + (1 − δ)(2Φ(ψ/2) − 1) = 0.3
    assert limits.psi == pytest.approx(2 * ndtri((1 + 0.2 / 0.9) / 2), rel=1e-9)
    assert limits.experiments()["psi"].success() == pytest.approx(0.65, rel=1e-6)


@pytest.mark.parametrize(
    ("limits", "spent", "currency"),
    [
        ({"epsilon": 1.0}, Charge(1.0, 0, 9.0, 9.0), None),
        ({"epsilon": 1.0}, Charge(1.0 + 1e-9), "epsilon"),
        ({"epsilon": 1.0}, Charge(1.0, 1e-9), "delta"),
        ({"epsilon": 1.0, "delta": 1e-6}, Charge(1.0, 1e-6), None),
        ({"epsilon": 1.0, "delta": 1e-6}, Charge(1.0, 2e-6), "delta"),
        ({"psi": 1.0, "delta": 1e-6}, Charge(math.inf, 1.0, 1.0, math.inf, 1e-6), None),
        ({"psi": 1.0}, Charge(math.inf, 0, 1.0, 0, 1e-9), "delta"),
        ({"rho": 0.5}, Charge(0, 0, 0, math.inf), "rho"),
        ({"epsilon": 2.0, "psi": 1.0}, Charge(1.0, 0, 1.1), "psi"),
        ({"epsilon": 0.3}, Charge.total([Charge(0.1)] * 3), None),  # 0.1 + 0.1 + 0.1 > 0.3 in doubles
        ({"psi": 1.0}, Charge(psi=math.nan), "psi"),
    ],
)
def test_what_is_exceeded(limits: dict[str, float], spent: Charge, currency: str | None) -> None:
    found = Limits.of(**limits).exceeded(spent)
    assert (found and found.currency) == currency


def test_every_limit_has_its_experiment() -> None:
    made = Limits.of(epsilon=1.0, psi=0.5, rho=0.1, delta=1e-3).experiments()
    assert made["epsilon"].success() == pytest.approx(1e-3 + 0.999 / (1 + math.exp(-1)), rel=1e-6)
    assert made["psi"].delta(20.0) == pytest.approx(1e-3, rel=1e-3)  # what gives all away
    assert made["rho"].success() >= el.mechanisms.from_zcdp(0.1).success()
    for name, most in {"epsilon": 500.0, "psi": 500.0, "rho": 500.0}.items():
        assert Limits.of(**{name: most}).experiments()[name].success() <= 1


@pytest.mark.parametrize(
    ("given", "parameter"),
    [
        ({}, ""),
        ({"delta": 1e-6}, ""),
        ({"success": 0.5}, "success"),
        ({"success": 1.0}, "success"),
        ({"success": 1.5}, "success"),
        ({"success": 0.5004, "delta": 0.001}, "success"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"epsilon": "much"}, "epsilon"),
        ({"epsilon": [1.0, 2.0]}, "epsilon"),
        ({"psi": 0}, "psi"),
        ({"psi": 1e9}, "psi"),
        ({"rho": -1e-9}, "rho"),
        ({"epsilon": 1.0, "delta": 1.0}, "delta"),
        ({"epsilon": 1.0, "partition": "x" * 300}, "partition"),
        ({"epsilon": 1.0, "partition": "a\nb"}, "partition"),
    ],
)
def test_what_is_no_limit(given: dict[str, Any], parameter: str) -> None:
    with pytest.raises(el.InputError) as wrong:
        Limits.of(**given)
    assert wrong.value.parameter == parameter


def test_looser_and_higher() -> None:
    old, new = Limits(epsilon=1.0, psi=0.5), Limits(epsilon=0.5, psi=0.7, delta=1e-6)
    assert new.looser(old) == Limits(epsilon=1.0, psi=0.7, delta=1e-6)
    assert new.rises_above(old)
    assert not Limits(epsilon=0.5, psi=0.5).rises_above(old)
    assert Limits(epsilon=0.5).rises_above(old)  # ψ is free now
    assert not Limits(epsilon=1.0, psi=0.5, rho=0.1).rises_above(old)
    assert Limits.from_dict(new.to_dict()) == new


@pytest.mark.parametrize("bad", [{"psi": -1.0}, {"epsilon": "x"}, {"delta": float("inf")}, {"rho": float("nan")}])
def test_limits_that_nobody_wrote(bad: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        Limits.from_dict({**Limits(epsilon=1.0).to_dict(), **bad})


def test_one_spelling_of_a_name() -> None:
    assert normalized_name("account", "  Zo\u0065\u0308 ") == "Zo\u00eb"
    with pytest.raises(el.InputError, match="cannot be printed"):
        normalized_name("account", "a\ud800")


NAME = "people of my clinic"


@pytest.mark.parametrize(
    "other",
    [
        "people of my clinic\ufe00",  # a variation selector
        "people\u3164of my clinic".replace("\u3164", "\u3164 "),  # a Hangul filler, which NFKC makes another one
        "people\u200d of my clinic",  # a joiner
        "people  of my\u00a0clinic",  # blanks of two kinds
        "pe\u043eple of my clinic",  # a Cyrillic o
        "\uff50\uff45\uff4f\uff50\uff4c\uff45 of my clinic",  # wide letters
        "peo\u00adple of my clinic",  # a soft hyphen
        "\U0001d429eople of my clinic",  # a bold letter of mathematics
        "people of my cl\u0456nic",  # a Ukrainian i
        "PEOPLE OF MY CLINIC",
        "\u03a1EOPLE OF MY CLINIC",  # a Greek capital rho
        "people of rny clinic",  # UTS #39: m looks like rn
        "peop1e of my clinic",  # and a one like an l
    ],
)
def test_alike(other: str) -> None:
    assert other != NAME
    assert confusable(NAME, other)
    assert confusable(other, NAME)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("paypal", "\u0440\u0430\u0443\u0440\u0430\u04cf"),  # the example of UTS #39, all Cyrillic
        ("Illness", "lllness"), ("ILLNESS", "illness"), ("Caf\u00e9", "cafe\u0301"), ("caf\u00e9", "caf\u0435\u0301"),
    ],
)  # fmt: skip
def test_pairs(one: str, other: str) -> None:
    assert confusable(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("patients", "doctors"), ("site 1", "site 2"), ("cohort 2025", "cohort 2026"), ("cafe", "caf\u00e9"),
        ("\u043b\u044e\u0434\u0438", "\u0434\u0435\u0442\u0438"), ("\u60a3\u8005", "\u533b\u751f"), ("a b", "ab"),
    ],
)  # fmt: skip
def test_others(one: str, other: str) -> None:
    assert not confusable(one, other)
