"""Claims are bounds: no low end, and rules of their own for groups, checked against chains of laws.

A sample of what is only known by a bound, and what OpenDP promises: no low end either.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.laws.oracles import downward, upward

import epsilens as el
from epsilens.bridges import from_measurement, from_pld, to_pld, to_rdp
from epsilens.experiment import Experiment
from epsilens.readings.law import Exactness

ALPHA = np.concatenate((np.geomspace(1e-12, 1e-3, 20), np.linspace(0.001, 0.999, 60)))

CLAIMS: dict[str, Callable[[], Experiment]] = {
    "one pair": lambda: el.mechanisms.from_dp(1.0, 1e-5),
    "pure": lambda: el.mechanisms.from_dp(1.0),
    "a list of one": lambda: el.mechanisms.from_dp([1.0], [1e-5]),
    "several": lambda: el.mechanisms.from_dp([0.5, 1.0], [0.1, 1e-2]),
    "GDP": lambda: el.mechanisms.from_gdp(1.0),
    "zCDP": lambda: el.mechanisms.from_zcdp(0.5),
    "RDP": lambda: el.mechanisms.from_rdp(2.0, 1.0),
}


@pytest.mark.parametrize("build", CLAIMS.values(), ids=CLAIMS.keys())
def test_a_claim_says_nothing_from_below(build: Callable[[], Experiment]) -> None:
    e = build()
    for one in (e, e.reverse()):
        assert one.law.known is Exactness.BOUND
        assert one.direction == "upper"
        assert one.bracket("epsilon", delta=1e-3) == (0.0, upward(one.epsilon(1e-3), 1e-11))
        assert one.bracket("auc") == (0.5, upward(one.auc(), 1e-11))
        low, high = one.bracket("roc", fpr=[0.1, 0.2])
        assert np.all(low == [0.1, 0.2])
        assert high.tolist() == [upward(v, 1e-11) for v in one.roc([0.1, 0.2])]
    assert "worst case" in e.notes[0]


def test_the_worst_mechanism_is_exact_and_its_claim_is_not() -> None:
    for known, claim in (
        (el.mechanisms.pure(epsilon=1.0), el.mechanisms.from_dp(1.0)),
        (el.mechanisms.approximate(epsilon=1.0, delta=1e-5), el.mechanisms.from_dp(1.0, 1e-5)),
    ):
        assert known.bracket("advantage") == (downward(known.advantage()), upward(known.advantage()))
        assert claim.advantage() == known.advantage()
        assert claim.parameters == known.parameters


def test_a_distribution_is_a_bound_and_stays_one(accounting: Any) -> None:
    e = from_pld(to_pld(el.laplace(epsilon=0.5), interval=1e-2))
    for one in (e, e.repeat(4), el.group(e, 2)):
        assert one.bracket("epsilon", delta=1e-5) == (0.0, upward(one.epsilon(1e-5), 1e-11))


# -- groups -----------------------------------------------------------------------------------------------------


def test_the_rule_of_each_claim() -> None:
    assert el.group(el.mechanisms.from_zcdp(0.5), 2).advantage() == pytest.approx(
        el.mechanisms.from_zcdp(2.0).advantage(), rel=1e-12
    )
    assert el.group(el.mechanisms.from_zcdp(0.5), 2).advantage() == pytest.approx(0.834, abs=1e-3)
    offset = el.group(el.mechanisms.from_zcdp(0.1, 0.01), 3)  # ξ·3·(1 + 1/2 + 1/3)
    assert offset.renyi(4.0) == pytest.approx(0.055 + 0.9 * 4, rel=1e-9)
    assert el.group(el.mechanisms.from_gdp(0.5), 3).psi() == 1.5
    pair = el.group(el.mechanisms.from_dp(0.1, 1e-6), 3)
    assert pair.delta(0.3) == pytest.approx(1e-6 * np.expm1(0.3) / np.expm1(0.1), rel=1e-9)
    assert el.group(el.mechanisms.from_rdp(np.inf, 0.5), 4).epsilon() == pytest.approx(2.0)
    # order 8 for two people: order 4, at 1 + 8/7 times the divergence, where Mironov (2017) has 3 times
    assert el.group(el.mechanisms.from_rdp(8.0, 1.0), 2).renyi(4.0) == pytest.approx(1 + 8 / 7, rel=1e-9)
    everything = el.group(el.mechanisms.from_dp(0.0, 1.0), 3)
    assert everything.advantage() == 1.0


def test_a_curve_grows_as_its_zcdp_does() -> None:
    curve = el.group(el.mechanisms.from_rdp(rho=lambda a: 0.5 * a), 2)
    assert 1 <= curve.epsilon(1e-5) / el.mechanisms.from_zcdp(2.0).epsilon(1e-5) < 1.005
    assert 1 <= curve.advantage() / el.mechanisms.from_zcdp(2.0).advantage() < 1.005
    twice = el.group(el.group(el.mechanisms.from_zcdp(0.1), 2), 2)
    assert 1 <= twice.epsilon(1e-5) / el.mechanisms.from_zcdp(1.6).epsilon(1e-5) < 1.005


def chain(seed: int, links: int) -> list[np.ndarray]:
    """Laws over six outcomes, each near the one before."""
    rng = np.random.default_rng(seed)
    laws = [rng.dirichlet(np.full(6, 2.0))]
    for _ in range(links):
        near = laws[-1] * np.exp(rng.uniform(-0.4, 0.4, size=6))
        laws.append(near / near.sum())
    return laws


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_no_chain_of_laws_is_riskier_than_the_group(seed: int, k: int) -> None:
    laws = chain(seed, k)
    links = [el.mechanisms.finite(p, q) for p, q in pairwise(laws)]
    truth = el.mechanisms.finite(laws[0], laws[-1])
    orders = 1 + np.geomspace(0.05, 200.0, 120)
    rho = np.max([to_rdp(link, orders) for link in links], axis=0)
    losses = np.linspace(0.0, 1.5, 40)
    claims = {
        "RDP": el.mechanisms.from_rdp(orders, rho * (1 + 1e-12)),
        "zCDP": el.mechanisms.from_zcdp(float(np.max(rho / orders)) * 1.001, 0.01),
        "(ε, δ)": el.mechanisms.from_dp(losses, np.max([link.delta(losses) for link in links], axis=0)),
        "ε": el.mechanisms.from_dp(max(float(link.epsilon()) for link in links)),
    }
    for said, claim in claims.items():
        group = el.group(claim, k)
        assert group.law.known is Exactness.BOUND, said
        assert group.advantage() < 1, said
        for one, true in ((group, truth), (group.reverse(), truth.reverse())):
            assert np.all(one.roc(ALPHA) >= np.asarray(true.roc(ALPHA)) * (1 - 1e-12)), said
            assert np.all(one.delta(losses) >= np.asarray(true.delta(losses)) * (1 - 1e-12)), said
    low = 1 + np.geomspace(0.01, 200.0 / k - 1, 30)
    assert np.all(el.group(claims["RDP"], k).renyi(low) >= np.asarray(to_rdp(truth, low)) * (1 - 1e-12))


@pytest.mark.parametrize(("psi", "k"), [(0.1, 10), (0.5, 3), (0.001, 2000)])
def test_a_group_under_a_claim_dominates_the_noise_it_came_from(psi: float, k: int) -> None:
    truth = el.gaussian(psi=psi * k)
    orders = 1 + np.geomspace(1e-3, 50.0 * k, 300)
    for claim in (
        el.mechanisms.from_zcdp(psi**2 / 2 * (1 + 1e-15)),
        el.mechanisms.from_rdp(orders, orders * psi**2 / 2),
    ):
        group = el.group(claim, k)
        assert np.all(group.roc(ALPHA) >= np.asarray(truth.roc(ALPHA)) * (1 - 1e-12))
        assert group.epsilon(1e-5) < truth.epsilon(1e-5) * 1.4
    laplace = el.group(el.mechanisms.from_rdp(orders, to_rdp(el.laplace(epsilon=psi), orders)), k)
    assert np.all(laplace.roc(ALPHA) >= np.asarray(el.laplace(epsilon=psi * k).roc(ALPHA)) * (1 - 1e-12))


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: el.group(el.mechanisms.from_rdp(2.0, 1.0), 2), "claim orders above 2"),
        (lambda: el.group(el.mechanisms.from_rdp(rho=lambda a: 0.5 * a), 1000), "smaller group"),
        (lambda: el.group(el.mechanisms.from_zcdp(0.5), 1000), "smaller group"),
        (lambda: el.group(el.mechanisms.from_dp(1.0, 1e-5), 20), "smaller one"),
        (lambda: el.group(el.mechanisms.from_dp([0.5, 1.0], [0.1, 1e-2]), 300), "smaller one"),
    ],
)
def test_what_promises_nothing_about_a_group_says_so(call: Callable[[], object], word: str) -> None:
    with pytest.raises(el.InputError) as said:
        call()
    assert word in str(said.value)
    assert "\n" not in str(said.value)


SAMPLES: dict[str, Callable[[], Experiment]] = {
    "zCDP": lambda: el.subsample(el.mechanisms.from_zcdp(0.5), 0.1),
    "GDP": lambda: el.subsample(el.mechanisms.from_gdp(0.5), 0.1),
    "one pair": lambda: el.subsample(el.mechanisms.from_dp(1.0, 1e-5), 0.1),
    "who was drawn is told": lambda: el.subsample(
        el.mechanisms.randomized_response(epsilon=1.0), 0.1, neighbours="replace"
    ),
}


@pytest.mark.parametrize("build", SAMPLES.values(), ids=SAMPLES.keys())
def test_a_sample_of_a_bound_is_one(build: Callable[[], Experiment]) -> None:
    e = build()
    for one in (e, e.reverse(), e.repeat(3), el.compose(e, el.laplace(epsilon=0.1))):
        assert one.bracket("epsilon", delta=1e-4) == (0.0, upward(one.epsilon(1e-4), 1e-11))
        assert "upper bound" in one.notes[0]


def test_a_sample_of_noise_keeps_both_ends() -> None:
    for e in (el.subsample(el.gaussian(psi=0.5), 0.1), el.subsample(el.mechanisms.pure(epsilon=1.0), 0.1)):
        low, high = e.bracket("advantage")
        assert 0 < low <= high <= low * 1.001


def test_measurements_are_claims(opendp: Any) -> None:
    space = opendp.atom_domain(T=float, nan=False), opendp.absolute_distance(T=float)
    for make in (opendp.m.make_laplace, opendp.m.make_gaussian):
        e = from_measurement(make(*space, scale=2.0), 1.0)
        for one in (e, e.repeat(3), el.group(e, 2)):
            assert one.bracket("epsilon", delta=1e-5) == (0.0, upward(one.epsilon(1e-5), 1e-11))
    nothing = from_measurement(opendp.m.make_laplace(*space, scale=1e-9), 1.0)
    assert nothing.bracket("advantage") == (0.0, 1.0)
