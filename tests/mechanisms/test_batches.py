"""Batches as they are drawn: the values of the sheet, enumerated small data sets, both ends, and what is refused."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom
from tests.laws.oracles import upward

import epsilens as el
from epsilens.laws.composition.composed_law import ComposedLaw
from epsilens.laws.composition.wrappers import LabelledMixture, SampledStep
from epsilens.laws.normal import NormalReplacementStep, NormalStep
from epsilens.mechanisms.batches import Batches
from epsilens.readings.law import Exactness

WAYS = [str(way) for way in Batches]
SETTINGS: dict[str, Any] = {"sigma": 1.0, "n": 1000, "batch": 20, "epochs": 2}


def built(way: str, **given: Any) -> el.Experiment:
    more = {"truncation": 30} if way == "truncated" else {}
    return el.dpsgd(**{**SETTINGS, "batches": way, **more, **given})


# -- the sheet (mechanisms.md §2) -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sigma", "remove", "add", "upper"), [(1.0, 13.36082, 4.31593, 14.8207), (2.0, 1.82824, 1.41666, 2.1989)]
)
def test_fixed_batches(sigma: float, remove: float, add: float, upper: float) -> None:
    given: dict[str, Any] = {"sigma": sigma, "n": 10_000, "batch": 100, "steps": 1000, "batches": "fixed"}
    e = el.dpsgd(**given)
    assert e.bracket("epsilon", delta=1e-5) == pytest.approx((remove, remove), abs=6e-6)
    assert float(e.law.reverse().profile_inverse(np.asarray(1e-5))) == pytest.approx(add, abs=6e-6)
    assert e.law.known is Exactness.BRACKET
    # as Poisson sampling at half the noise, and far from it at the same
    same = el.dpsgd(sigma=sigma / 2, rate=0.01, steps=1000)
    assert e.epsilon(1e-5) == pytest.approx(same.epsilon(1e-5), rel=1e-9)
    replaced = el.dpsgd(**given, neighbours="replace")
    low, high = replaced.bracket("epsilon", delta=1e-5)
    assert low == pytest.approx(remove, abs=6e-6)
    assert high == pytest.approx(upper, abs=6e-5)
    assert replaced.law.known is Exactness.BOUND


@pytest.mark.parametrize(("largest", "epsilon"), [(110, 7.6820), (120, 5.2972), (130, 3.6841), (150, 1.8305)])
def test_truncated_batches(largest: int, epsilon: float) -> None:
    e = el.dpsgd(sigma=1.0, n=10_000, batch=100, steps=1000, batches="truncated", truncation=largest)
    low, high = e.bracket("epsilon", delta=1e-5)
    # the published bound has two records, each two norms away, where the others fill the batch
    full = float(binom.sf(largest - 1, 9999, 0.01))
    rate = float(binom.sf(largest, 10_000, 0.01)) * largest / 10_000 / full
    told = LabelledMixture(((SampledStep(NormalStep(1.0), 0.01), 1 - full), (NormalReplacementStep(2.0, rate), full)))
    assert float(ComposedLaw([(told, 1000)]).worse_epsilon(np.asarray(1e-5))) == pytest.approx(epsilon, abs=6e-5)
    assert 0.8 * epsilon < high < epsilon
    # all others add nothing: a sample, a little rarer than one that is never cut
    kept = 0.01 * (1 - full) + rate * full
    sample = el.dpsgd(sigma=1.0, rate=kept, steps=1000).epsilon(1e-5)
    assert low == pytest.approx(sample, rel=1e-4)


@pytest.mark.parametrize(
    ("sigma", "passes", "delta", "digits"), [(0.4, 10_000, 0.22605, 1e-5), (0.5, 1000, 0.0738, 5e-5)]
)
def test_shuffled_batches(sigma: float, passes: int, delta: float, digits: float) -> None:
    e = el.dpsgd(sigma=sigma, n=passes, batch=1, epochs=1, batches="shuffled")
    low, high = e.bracket("delta", epsilon=4.0)
    assert low == pytest.approx(delta, abs=digits)
    assert high == upward(el.gaussian(psi=1 / sigma).delta(4.0))
    assert el.dpsgd(sigma=sigma, rate=1 / passes, steps=passes).delta(4.0) < 1e-4 * low  # Poisson's number


def test_one_training_five_ways() -> None:
    given: dict[str, Any] = {"sigma": 1.0, "n": 50_000, "batch": 500, "epochs": 10}
    read = {
        way: el.dpsgd(**given, batches=way).bracket("epsilon", delta=1e-6) for way in ("poisson", "fixed", "shuffled")
    }
    assert read["poisson"] == pytest.approx((2.1245, 2.1245), abs=1e-4)
    assert read["fixed"] == pytest.approx((15.4835, 15.4835), abs=1e-4)
    assert read["shuffled"] == pytest.approx((10.81, 19.42), abs=0.01)


# -- small data sets, all of their batches ----------------------------------------------------------------------------


def delta_of(h1: list[tuple[float, float]], h0: list[tuple[float, float]], sigma: float, u: float) -> float:
    """∫(dH1 − e^u·dH0)₊ of two mixtures of normals, each (weight, mean), on a grid."""
    x = np.linspace(-8 * sigma - 6, 8 * sigma + 6, 60_001)
    p, q = (
        sum(w * np.exp(-0.5 * ((x - m) / sigma) ** 2) for w, m in side) / (sigma * math.sqrt(2 * math.pi))
        for side in (h1, h0)
    )
    return float(np.trapezoid(np.maximum(p - math.exp(u) * q, 0.0), x))


def fixed_sums(values: tuple[float, ...], batch: int) -> list[tuple[float, float]]:
    sums = [float(sum(chosen)) for chosen in itertools.combinations(values, batch)]
    return [(1 / len(sums), s) for s in sums]


def truncated_sums(values: tuple[float, ...], rate: float, most: int) -> list[tuple[float, float]]:
    found = []
    for drawn in itertools.product((0, 1), repeat=len(values)):
        chosen = [v for v, d in zip(values, drawn, strict=True) if d]
        weight = math.prod(rate if d else 1 - rate for d in drawn)
        kept = list(itertools.combinations(chosen, most)) if len(chosen) > most else [tuple(chosen)]
        found += [(weight / len(kept), float(sum(one))) for one in kept]
    return found


@pytest.mark.parametrize("u", [0.0, 0.4, 1.0])
def test_fixed_batches_by_enumeration(u: float) -> None:
    n, batch, sigma = 4, 2, 1.3
    added = el.dpsgd(sigma=sigma, n=n, batch=batch, steps=1, batches="fixed")
    replaced = el.dpsgd(sigma=sigma, n=n, batch=batch, steps=1, batches="fixed", neighbours="replace")
    worst = worst_replaced = 0.0
    for others in itertools.combinations_with_replacement((-1.0, 0.0, 1.0), n - 1):
        without = fixed_sums(others, batch)
        with_ = fixed_sums((1.0, *others), batch)
        worst = max(worst, delta_of(with_, without, sigma, u), delta_of(without, with_, sigma, u))
        for other in (-1.0, 0.0):
            worst_replaced = max(worst_replaced, delta_of(with_, fixed_sums((other, *others), batch), sigma, u))
            worst_replaced = max(worst_replaced, delta_of(fixed_sums((other, *others), batch), with_, sigma, u))
    assert added.delta(u) == pytest.approx(worst, rel=1e-4)
    assert replaced.delta(u) == pytest.approx(worst_replaced, rel=1e-4)
    assert replaced.bracket("delta", epsilon=u)[0] == pytest.approx(worst_replaced, rel=1e-4)


@pytest.mark.parametrize("u", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_truncated_batches_by_enumeration(u: float, neighbours: str) -> None:
    n, batch, most, sigma = 5, 2, 2, 1.1
    e = el.dpsgd(sigma=sigma, n=n, batch=batch, steps=1, batches="truncated", truncation=most, neighbours=neighbours)
    low, high = e.bracket("delta", epsilon=u)
    found = []
    for others in itertools.combinations_with_replacement((-1.0, 0.0, 1.0), n - 1):
        with_ = truncated_sums((1.0, *others), batch / n, most)
        beside = others if neighbours == "add-remove" else (-1.0, *others)
        without = truncated_sums(beside, batch / n, most)
        found.append(max(delta_of(with_, without, sigma, u), delta_of(without, with_, sigma, u)))
    assert low * (1 - 1e-4) <= max(found) <= high * (1 + 1e-6)
    nothing = truncated_sums((1.0, 0.0, 0.0, 0.0, 0.0), batch / n, most)
    gone = truncated_sums((-1.0 if neighbours == "replace" else 0.0, 0.0, 0.0, 0.0, 0.0), batch / n, most)
    assert low == pytest.approx(max(delta_of(nothing, gone, sigma, u), delta_of(gone, nothing, sigma, u)), rel=2e-3)


@pytest.mark.parametrize(("neighbours", "stays"), [("add-remove", 1.0), ("replace", 0.0)])
def test_shuffled_batches_by_a_grid(neighbours: str, stays: float) -> None:
    """Two batches of one, all others at −1: the pair itself lies between the two ends."""
    sigma = 0.8
    x = np.linspace(-6, 9, 1501)

    def spread(moved: float) -> Any:
        one, other = (np.exp(-0.5 * ((x - m) / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi)) for m in (moved, 0.0))
        return (np.multiply.outer(one, other) + np.multiply.outer(other, one)) / 2

    with_, without = spread(2.0), spread(stays)
    e = el.dpsgd(sigma=sigma, n=2, batch=1, epochs=1, batches="shuffled", neighbours=neighbours)
    cell = (x[1] - x[0]) ** 2
    for u in (0.0, 0.5, 1.5):
        truth = float(np.maximum(with_ - math.exp(u) * without, 0.0).sum()) * cell
        low, high = e.bracket("delta", epsilon=u)
        assert low <= truth * (1 + 1e-6)
        assert truth <= high * (1 + 1e-6)
        assert low > 0.6 * truth


def test_epochs_compose_from_below() -> None:
    """At least what the best single threshold shows of each epoch: a binomial test."""
    sigma, passes, epochs, u = 0.6, 50, 4, 2.0
    e = el.dpsgd(sigma=sigma, n=500, batch=10, epochs=epochs, batches="shuffled")
    low, _ = e.bracket("delta", epsilon=u)
    k = np.arange(epochs + 1)
    best = 0.0
    for c in np.linspace(0.0, 5.0, 400):
        quiet = float(ndtr(c / sigma)) ** (passes - 1)
        p, q = (1 - float(ndtr((c - m) / sigma)) * quiet for m in (2.0, 1.0))
        best = max(best, float(np.maximum(binom.pmf(k, epochs, p) - math.exp(u) * binom.pmf(k, epochs, q), 0).sum()))
    assert best * (1 - 1e-3) < low < 1.5 * best + 0.2


def uneven_truth(noise: list[float], passes: int, epsilon: float, seed: int) -> tuple[float, float]:
    """(δ, its standard error) by simulation: batches of one, all others at −1, and a person at 1 who leaves a gap."""
    random, size = np.random.default_rng(seed), 40_000
    loss = np.zeros(size)
    for start in range(0, len(noise), passes):
        sigma = np.asarray(noise[start : start + passes])
        place = random.integers(0, passes, size)
        x = random.standard_normal((size, sigma.size)) * sigma
        there = np.flatnonzero(place < sigma.size)  # a pass that ends early may not hold the person
        x[there, place[there]] += 2.0
        for sign, moved in ((1, 2.0), (-1, 1.0)):
            each = np.exp((x * moved - moved**2 / 2) / sigma**2)
            loss += sign * np.log((each.sum(axis=1) + passes - sigma.size) / passes)
    gained = np.maximum(1 - np.exp(epsilon - loss), 0.0)
    return float(gained.mean()), float(gained.std()) / math.sqrt(size)


@pytest.mark.parametrize(
    ("sigma", "steps", "passes"), [([2.0, 0.5], [2, 2], 3), ([2.0, 0.5], [5, 10], 10), ([1.0, 0.7, 2.0], [3, 3, 4], 5)]
)
def test_noise_that_changes_within_a_pass(sigma: list[float], steps: list[int], passes: int) -> None:
    e = el.dpsgd(n=100 * passes, batch=100, batches="shuffled", schedule={"sigma": sigma, "steps": steps})
    noise = [s for s, k in zip(sigma, steps, strict=True) for _ in range(k)]
    for u in (0.0, 2.0, 6.0):
        truth, error = uneven_truth(noise, passes, u, seed=7)
        low, high = e.bracket("delta", epsilon=u)
        assert low - 5 * error <= truth <= high + 5 * error
        assert low > 0.05 * truth
    # the tests that look at the loudest step of each pass, far out
    for u in (10.0, 15.0):
        best = 0.0
        for c in np.linspace(0.0, 3.0, 61):
            with_, without = 1.0, 1.0
            for start in range(0, len(noise), passes):
                quiet, least = noise[start : start + passes], min(noise[start : start + passes])
                loud = quiet.count(least)
                p, q, r = (float(ndtr((m - c) / least)) for m in (1.0, 0.0, -1.0))
                share = loud / passes  # at least one of the loudest sums above c
                with_ *= share * (1 - (1 - p) * (1 - r) ** (loud - 1)) + (1 - share) * (1 - (1 - r) ** loud)
                without *= share * (1 - (1 - q) * (1 - r) ** (loud - 1)) + (1 - share) * (1 - (1 - r) ** loud)
            best = max(best, with_ - math.exp(u) * without)
        assert best <= e.delta(u)


def test_a_pass_within_which_the_noise_changes_is_told_by_its_step() -> None:
    """σ = 2, 2, ½ and then ½ again: a shift of √(¼ + 4) twice as often as one of √8."""
    e = el.dpsgd(n=3, batch=1, batches="shuffled", schedule={"sigma": [2.0, 0.5], "steps": [2, 2]})
    for u in (0.0, 1.0, 10.0, 15.0):
        told = 2 / 3 * el.gaussian(psi=math.sqrt(4.25)).delta(u) + el.gaussian(psi=math.sqrt(8.0)).delta(u) / 3
        assert told <= e.delta(u) <= told * 1.002
    alone = el.dpsgd(
        n=5, batch=2, batches="shuffled", schedule={"sigma": [2.0, 0.5], "steps": [2, 1]}
    )  # 2, 2, 1 people
    told = 0.8 * el.gaussian(psi=0.5).delta(1.0) + 0.2 * el.gaussian(psi=2.0).delta(1.0)
    assert told <= alone.delta(1.0) <= told * 1.002
    group = el.dpsgd(n=3, batch=1, batches="shuffled", people=2, schedule={"sigma": [2.0, 0.5], "steps": [2, 2]})
    assert group.psi() == pytest.approx(2 * math.sqrt(8.0))  # all of them in the loudest step of each pass
    assert el.group(e, 2).delta(1.0) <= group.delta(1.0) * 1.002


@pytest.mark.parametrize("way", ["poisson", "fixed", "with replacement", "truncated", "shuffled"])
def test_a_schedule_split_in_two_changes_nothing(way: str) -> None:
    more: dict[str, Any] = {"truncation": 5} if way == "truncated" else {}
    whole = el.dpsgd(sigma=0.9, n=20, batch=3, steps=15, batches=way, **more)
    for steps in ([1, 14], [8, 7], [2, 6, 7]):
        split = el.dpsgd(n=20, batch=3, batches=way, schedule={"sigma": [0.9] * len(steps), "steps": steps}, **more)
        assert split.law == whole.law


def test_another_batch_size_begins_a_new_pass() -> None:
    e = el.dpsgd(sigma=1.0, n=12, batches="shuffled", schedule={"batch": [3, 4], "steps": [2, 2]})
    assert e.psi() == pytest.approx(math.sqrt(2))


# -- what holds throughout --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("way", WAYS)
def test_every_reading_has_two_ends(way: str, neighbours: str) -> None:
    e = built(way, neighbours=neighbours)
    for reading, arguments in (
        ("success", {}), ("advantage", {}), ("roc", {"fpr": 0.01}), ("epsilon", {"delta": 1e-5}),
        ("delta", {"epsilon": 1.0}), ("kl", {}), ("renyi", {"order": 2.0}), ("posterior", {}),
    ):  # fmt: skip
        low, high = e.bracket(reading, **arguments)
        assert low <= high == upward(getattr(e, reading)(**arguments)), reading
    # more epochs, more risk; never less than Poisson sampling claims, whose low end is attained by none of these
    more = built(way, neighbours=neighbours, epochs=4)
    assert more.epsilon(1e-5) > e.epsilon(1e-5)
    assert e.epsilon(1e-5) >= built("poisson", neighbours=neighbours).bracket("epsilon", delta=1e-5)[0] * (1 - 1e-9)


@pytest.mark.parametrize("way", WAYS)
def test_schedules_and_compositions(way: str) -> None:
    whole = built(way, epochs=4)
    split = built(way, epochs=None, schedule={"epochs": [1, 3]})
    assert split.epsilon(1e-5) == pytest.approx(whole.epsilon(1e-5), rel=2e-3)
    assert built(way, epochs=2).repeat(2).epsilon(1e-5) == pytest.approx(whole.epsilon(1e-5), rel=2e-3)
    low, high = built(way).repeat(2).bracket("epsilon", delta=1e-5)
    lowest, highest = whole.bracket("epsilon", delta=1e-5)
    assert (low, high) == pytest.approx((lowest, highest), rel=3e-3)
    beside = el.compose(whole, el.laplace(epsilon=0.5))
    assert whole.epsilon(1e-5) < beside.epsilon(1e-5) <= (whole.epsilon(1e-5) + 0.5) * 1.002
    assert lowest * 0.998 <= beside.bracket("epsilon", delta=1e-5)[0]


@pytest.mark.parametrize("way", WAYS)
def test_noise_is_chosen(way: str) -> None:
    given = {k: v for k, v in SETTINGS.items() if k != "sigma"} | {"batches": way}
    given |= {"truncation": 30} if way == "truncated" else {}
    found = el.choose(el.dpsgd, "sigma", at_most=0.6, reading="success", given=given)
    assert found.experiment.success() <= 0.6
    assert el.dpsgd(sigma=found.value * 0.98, **given).success() > 0.6


def test_nobody_is_ever_cut() -> None:
    assert built("truncated", truncation=1000).law == built("poisson").law
    crowded = el.dpsgd(sigma=1.0, n=100, batch=100, steps=3, batches="truncated", truncation=20)
    fixed = el.dpsgd(sigma=1.0, n=100, batch=20, steps=3, batches="fixed", neighbours="replace")
    # everyone is drawn and 20 are kept: a fixed batch, bounded by the replace pair at distance 2
    assert crowded.epsilon(1e-5) >= fixed.bracket("epsilon", delta=1e-5)[0]
    rare = el.dpsgd(sigma=1.0, n=10**6, batch=1, steps=10, batches="truncated", truncation=900_000)
    assert rare.delta(1.0) == pytest.approx(el.dpsgd(sigma=1.0, rate=1e-6, steps=10).delta(1.0), rel=2e-3)


def test_little_noise_on_batches_that_are_cut() -> None:
    for sigma, n, batch, most, steps in (
        (0.24, 767, 9, 12, 20),
        (0.05, 299, 25, 44, 8),
        (0.19, 28_000, 5_330, 10_119, 3),
    ):
        e = el.dpsgd(sigma=sigma, n=n, batch=batch, steps=steps, batches="truncated", truncation=most)
        for reading, arguments in (("success", {"prior": 0.01}), ("delta", {"epsilon": 0.5}), ("roc", {"fpr": 1e-4})):
            low, high = e.bracket(reading, **arguments)
            assert 0 < low <= high <= 1
        # nothing is told of a person who is in no batch
        assert e.advantage() <= 1 - (1 - batch / n) ** steps + 1e-9


def test_everybody_in_one_batch() -> None:
    for neighbours in ("add-remove", "replace"):
        e = el.dpsgd(sigma=2.0, n=50, batch=50, steps=4, batches="fixed", neighbours=neighbours)
        assert e.psi() == pytest.approx(2.0)
    e = el.dpsgd(sigma=2.0, n=10**7, batch=10**7 - 1, steps=4, batches="fixed", neighbours="replace")
    assert e.advantage() <= el.gaussian(psi=2.0).advantage() * (1 + 1e-3)
    low, high = e.bracket("advantage")
    assert low > 0.999 * high


def test_steps_and_epochs() -> None:
    by_epochs = el.dpsgd(sigma=1.0, n=1000, batch=30, epochs=0.1)
    assert by_epochs.parameters["steps"] == 4  # 0.1·1000/30, rounded up
    assert by_epochs.law == el.dpsgd(sigma=1.0, rate=0.03, steps=4).law
    assert el.dpsgd(sigma=1.0, n=1000, batch=10, epochs=0.1).parameters["steps"] == 10
    # half an epoch may hold the person or not: from above all of one, from below nothing
    half = el.dpsgd(sigma=1.0, n=100, batch=10, steps=5, batches="shuffled")
    assert half.bracket("advantage") == (0.0, upward(el.gaussian(psi=1.0).advantage()))
    over = el.dpsgd(sigma=1.0, n=100, batch=10, epochs=1.5, batches="shuffled")
    assert over.psi() == pytest.approx(math.sqrt(2))
    assert over.bracket("advantage")[0] == built_once().bracket("advantage")[0]


def built_once() -> el.Experiment:
    return el.dpsgd(sigma=1.0, n=100, batch=10, epochs=1, batches="shuffled")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"batches": "drawn"}, "batches is 'drawn': give one of 'poisson', 'fixed'"),
        ({"batches": "truncated"}, "truncation is the largest size of a batch that is cut: give it with"),
        ({"truncation": 5}, "truncation is the largest size of a batch that is cut: give it with"),
        ({"batches": "truncated", "truncation": 0}, "truncation is 0: give a whole number"),
        ({"batch": 2000}, "batch is 2000: give a whole number from 1 to 1000"),
        ({"batch": None}, "n and batch say how large batches are"),
        ({"rate": 0.1}, "n and batch say how large batches are"),
        ({"steps": 5}, "steps or epochs, and not both"),
        ({"epochs": None}, "steps or epochs, and not both"),
        ({"epochs": 0}, "epochs is 0"),
        ({"epochs": [0, 0]}, "epochs is 0"),
        ({"n": 0}, "n is 0: give a whole number"),
        ({"n": None, "batch": None, "rate": 0.1}, "dpsgd needs rate and steps, or n, batch and epochs"),
        (
            {"n": None, "batch": None, "rate": 0.1, "epochs": None, "steps": 5, "batches": "shuffled"},
            "needs n and batch",
        ),
    ],
)
def test_bad_input_is_a_sentence(given: dict[str, Any], words: str) -> None:
    with pytest.raises(el.InputError, match=words):
        el.dpsgd(**{**SETTINGS, **given})
