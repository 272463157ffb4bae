"""Poisson sampling: known values, both neighbouring relations, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import epsilens as el
from epsilens.errors import InputError


def test_sampling_amplifies_a_pure_loss() -> None:
    for eps, q in ((1.0, 0.1), (5.0, 0.01), (1e-6, 0.5), (20.0, 1e-7)):
        amplified = math.log1p(q * math.expm1(eps))
        for build in (el.laplace, el.mechanisms.geometric, el.mechanisms.pure):
            assert el.subsample(build(epsilon=eps), q).epsilon() == pytest.approx(amplified, rel=1e-9)


def test_sampled_laplace_against_quadrature() -> None:
    # ∫(dH1 − t·dH0)₊ with H1 = (1−q)Lap(0) + qLap(1), on a fine grid, both orders
    q, x = 0.3, np.linspace(-40, 41, 4_000_001)
    h0 = np.exp(-np.abs(x)) / 2
    h1 = (1 - q) * h0 + q * np.exp(-np.abs(x - 1)) / 2
    e = el.subsample(el.laplace(epsilon=1.0), q)
    for u in (0.0, 0.1, 0.3):
        forward = np.trapezoid(np.maximum(h1 - math.exp(u) * h0, 0), x)
        back = np.trapezoid(np.maximum(h0 - math.exp(u) * h1, 0), x)
        low, high = e.bracket("delta", epsilon=u)
        assert low - 1e-7 <= max(forward, back) <= high + 1e-7


def test_sampling_a_finite_pair_is_exact() -> None:
    e = el.subsample(el.mechanisms.finite([0.5, 0.5, 0.0], [0.2, 0.5, 0.3]), 0.25)
    assert e.direction == "exact"
    assert e.advantage() == pytest.approx(0.25 * 0.3)
    assert e.delta(0.7) == pytest.approx(max(0.25 * 0.3, 0.5 - math.exp(0.7) * 0.425), rel=1e-12)


def test_rates_at_the_ends() -> None:
    one = el.gaussian(psi=1.0)
    assert el.subsample(one, 1.0) is one
    assert el.subsample(one, 0.0).advantage() == 0
    assert el.dpsgd(sigma=2.0, rate=1.0, steps=16).psi() == 2.0
    assert el.dpsgd(sigma=2.0, rate=1.0, steps=16, neighbours="replace").psi() == 4.0
    nearly = el.dpsgd(sigma=2.0, rate=1 - 1e-9, steps=16)
    assert nearly.advantage() == pytest.approx(el.gaussian(psi=2.0).advantage(), rel=2e-3)


def test_replacing_with_only_a_claim_tells_whether_the_record_was_drawn() -> None:
    e = el.subsample(el.laplace(epsilon=1.0, neighbours="replace"), 0.1, neighbours="replace")
    plain = el.laplace(epsilon=1.0)
    assert e.delta(0.3) == pytest.approx(0.1 * plain.delta(0.3), rel=2e-3)
    assert "upper bound" in e.notes[0]
    rr = el.subsample(el.mechanisms.randomized_response(epsilon=1.0), 0.1, neighbours="replace")
    assert rr.advantage() == pytest.approx(0.1 * math.tanh(0.5), rel=1e-12)


def test_what_cannot_be_sampled() -> None:
    with pytest.raises(InputError, match="subsample needs an experiment"):
        el.subsample(1.0, 0.1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="several releases"):
        el.subsample(el.dpsgd(sigma=1.0, rate=0.1, steps=10), 0.1)
    with pytest.raises(InputError, match="adds or removes"):
        el.subsample(el.laplace(epsilon=1.0, neighbours="replace"), 0.1)
    with pytest.raises(InputError, match="single numbers"):
        el.subsample(el.laplace(epsilon=np.array([0.1, 0.2])), 0.1)
    with pytest.raises(InputError, match="neighbours='replace'"):
        el.subsample(el.mechanisms.geometric(epsilon=1.0), 0.1, neighbours="replace")
    for fine in ("laplace", "gaussian", "randomized_response"):  # as the sentence says
        given: dict[str, Any] = {"psi": 1.0} if fine == "gaussian" else {"epsilon": 1.0}
        assert el.subsample(getattr(el.mechanisms, fine)(**given), 0.1, neighbours="replace").advantage() > 0


def test_everybody_drawn_and_a_record_replaced_is_twice_the_shift() -> None:
    e = el.subsample(el.gaussian(psi=1.0), 1.0, neighbours="replace")
    assert e.advantage() == pytest.approx(el.gaussian(psi=2.0).advantage(), rel=1e-12)
    assert e.renyi(3.0) == pytest.approx(6.0, rel=1e-9)


def test_a_claim_about_one_person_does_not_say_how_two_records_pull() -> None:
    with pytest.raises(el.InputError, match="needs an experiment that replaces a record"):
        el.subsample(el.mechanisms.from_gdp(1.0), 0.1, neighbours="replace")


@pytest.mark.parametrize(
    "build",
    [lambda: el.gaussian(psi=1.0), lambda: el.laplace(epsilon=1.0), lambda: el.mechanisms.skellam(variance=4.0)],
)
def test_a_sample_is_not_sampled_again_in_either_order(build: Callable[[], el.Experiment]) -> None:
    drawn = el.subsample(build(), 0.1)
    for order in (drawn, drawn.reverse(), drawn.reverse().reverse()):
        with pytest.raises(InputError, match="sampled already"):
            el.subsample(order, 0.5)
    # the laws exchanged of what is not sampled are drawn like any other: noise is symmetric
    again = el.subsample(build().reverse(), 0.1)
    assert again.advantage() == pytest.approx(drawn.advantage(), rel=1e-9)
    assert again.renyi(order=8.0) == pytest.approx(drawn.renyi(order=8.0), rel=1e-9)


def test_a_sample_has_fewer_people_to_shuffle() -> None:
    """Of six by a coin each, the advantage is ½·E adv(1 + Bin(5, ½)), all others alike; ½·adv(6) is less."""
    response = el.mechanisms.randomized_response(epsilon=2.0)
    few = [el.mechanisms.shuffled(response, n=n) for n in range(1, 7)]
    reached = [one.bracket("advantage")[0] for one in few]
    truth = sum(math.comb(5, k) / 32 * low for k, low in enumerate(reached)) / 2
    assert truth > 0.5 * float(few[-1].advantage()) + 0.05
    for one in (few[-1], el.compose(few[-1], few[-1])):
        with pytest.raises(InputError, match="how many people take part"):
            el.subsample(one, 0.5, neighbours="replace")
    assert el.subsample(few[-1], 1.0, neighbours="replace") is few[-1]


def test_a_sample_has_fewer_people_to_a_pass() -> None:
    """Two of at most four are in the loud step of a pass: ½·E min(1, 2/(1 + Bin(3, ½))), as fewer may be there."""
    given: dict[str, Any] = {"n": 4, "batch": 2, "batches": "shuffled"}
    whole = el.dpsgd(**given, schedule={"sigma": [0.05, 1000.0], "steps": [1, 1]})
    truth = sum(math.comb(3, k) / 8 * min(1, 2 / (1 + k)) for k in range(4)) / 2
    assert truth > float(whole.advantage()) / 2 + 0.1
    for one in (whole, el.dpsgd(sigma=1.0, steps=2, **given)):
        with pytest.raises(InputError, match="how many people take part"):
            el.subsample(one, 0.5)


def test_a_group_is_not_drawn_by_one_coin() -> None:
    """Next to no noise: of two at least one is drawn with probability 1 − 0.7², not 0.3."""
    one = el.gaussian(sigma=0.05)
    assert el.group(el.subsample(one, 0.3), 2).bracket("advantage")[0] == pytest.approx(0.51)
    for group in (el.group(one, 2), el.dpsgd(sigma=0.05, rate=1.0, steps=1, people=2)):
        with pytest.raises(InputError, match="subsample first, then group"):
            el.subsample(group, 0.3)


def test_everybody_drawn_is_the_release_itself() -> None:
    e = el.mechanisms.randomized_response(epsilon=1.0)  # two answers of one person: it replaces
    assert el.subsample(e, 1.0, neighbours="replace").repeat(3).epsilon(1e-6) == e.repeat(3).epsilon(1e-6)
    with pytest.raises(el.InputError, match="subsample needs single numbers"):
        el.subsample(el.laplace(epsilon=[0.1, 1.0]), [1.0])
    with pytest.raises(el.InputError, match="group needs single numbers"):
        el.group(el.laplace(epsilon=[0.1, 1.0]), [1.0])


def test_a_law_known_by_its_epsilon_is_sampled_as_a_bound() -> None:
    """It enters as the worst case of its ε: nothing is known from below. In truth q·TV, .9·.12385."""
    low, high = el.subsample(el.attacks.differencing(epsilon=1.0), 0.9).bracket("advantage")
    assert low <= 0.9 * 0.12384911904466951 <= high
    assert el.subsample(el.attacks.differencing(epsilon=1.0), 0.9).direction == "upper"
