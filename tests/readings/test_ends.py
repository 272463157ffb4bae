"""The ends of closed forms hold the truth, which is known to sixty digits; decisions at equality stay what they are.

Random readings over the whole domain are those of the sweep, judged here without any tolerance; the grid has the
extremes. What a bracket may be wide is a few units in the last place for each unit of the logarithms.
"""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from tests.laws.oracles import LaplaceOracle, NormalOracle, odds, probit
from tests.sweep import products, protocols  # noqa: F401  (they register their kinds)
from tests.sweep.draws import readings
from tests.sweep.judge import CHECKS, DOUBT, Case
from tests.sweep.kinds import KINDS
from tests.sweep.truth import MP, Between, Truth, digits, larger

import epsilens as el
from epsilens.ledger.budget import Charge, Limits, charge_of
from epsilens.readings import law as laws
from epsilens.readings.law import Exactness

KINDS_JUDGED = [
    "laplace", "gaussian", "stretched laplace", "geometric", "randomized response", "pure", "approximate", "finite",
    "exponential, scores", "staircase", "discrete gaussian", "selection, any scores", "skellam", "local reports",
    "rappor", "matrix", "responses", "sampled responses", "geometrics",
]  # fmt: skip
SHARES = [1e-300, 1e-100, 1e-12, 1e-3, 0.1, 0.5, 0.9, 1 - 1e-12]
SIZES = [1e-12, 1e-6, 0.1, 1.0, 5.0, 40.0, 700.0]
PRIORS = [1e-30, 1e-9, 0.1, 0.5, 0.9, 1 - 1e-9]


def both(truth: Truth, x: Any) -> Between | None:
    one, other = truth.profile(x), truth.reverse().profile(x)
    return None if one is None or other is None else larger(one, other)


def true_value(reading: str, given: dict[str, float], truth: Truth) -> Between | None:
    """The reading in sixty digits; None where the truth cannot say."""
    prior = MP.mpf(given.get("prior", 0.5))
    if reading == "advantage":
        return truth.profile(0.0)
    if reading == "delta":
        return both(truth, MP.mpf(given["epsilon"]))
    if reading == "success":
        found = truth.profile(MP.log((1 - prior) / prior))
        return None if found is None else found * prior + (1 - prior)
    if reading in ("roc", "recall", "attack_success"):
        return truth.recall(next(iter(given.values())))
    if reading == "tradeoff":
        return truth.missed(given["fpr"])
    if reading == "precision":
        c = (1 - prior) / prior
        if "fpr" in given:
            hits, alarms = truth.recall(given["fpr"]), MP.mpf(given["fpr"])
            return hits and Between(*(r / (r + c * alarms) for r in (hits.low, hits.high)))
        needed, recall = truth.needed(given["recall"]), MP.mpf(given["recall"])
        return needed and Between(*(recall / (recall + c * a) for a in (needed.high, needed.low)))
    if reading == "posterior":
        value = MP.mpf(1) if math.isinf(truth.top) else 1 / (1 + (1 - prior) / prior * MP.exp(-digits(truth.top)))
        return Between(value, value)
    if reading == "renyi" and given["order"] != 1:
        order = MP.mpf(given["order"])
        moment = truth.log_moment(1 - order)
        return moment and Between(*sorted((moment.low / (order - 1), moment.high / (order - 1))))
    return truth.kl() if reading in ("kl", "renyi") else truth.area() if reading == "auc" else None


def fault(e: el.Experiment, reading: str, given: dict[str, float], truth: Truth) -> str:
    """What is false about a bracket."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        low, high = (float(end) for end in e.bracket(reading, **given))
    value = float(getattr(e, reading)(**given))
    if not low <= value <= high:
        return f"{value!r} outside"
    if reading in ("fbeta", "psi", "mu", "chernoff"):
        said = CHECKS[reading](Case("", "", reading, given), truth, low, high, 0.0, Exactness.EXACT)
        return str(said[0]) if said else ""
    if reading == "epsilon":
        delta, wrong = MP.mpf(given["delta"]), ""
        for end, side in ((low, -1), (high, 1)):
            found = both(truth, MP.mpf(end)) if delta and 0 < end < math.inf else None
            if found is not None and (found.low > delta if side > 0 else found.high < delta):
                wrong += f" δ({end!r}) is {float(found.low)!r}"
        return wrong
    found = true_value(reading, given, truth)
    if found is None:
        return ""
    most = found.low if reading in ("renyi", "kl") else min(found.low, 1)
    wrong = f"{low!r} above {float(found.high)!r}" if low > found.high * (1 + MP.mpf(DOUBT)) else ""
    return wrong + (f"{high!r} below {float(most)!r}" if high < most * (1 - MP.mpf(DOUBT)) else "")


def random_faults(kind: str, count: int) -> Iterator[str]:
    for number in range(count):
        rng = random.Random(f"ends:{kind}:{number}")
        drawn = KINDS[kind](rng)
        try:
            e = eval(drawn.code, {"el": el})
        except el.InputError:
            continue
        if e.law.known is not Exactness.EXACT:
            continue
        for reading, given in readings(rng, drawn.readings, drawn.losses, drawn.only, drawn.heavy):
            try:
                wrong = fault(e, reading, given, drawn.truth)
            except el.InputError:
                continue
            if wrong:
                yield f"{drawn.code}.{reading}({given}): {wrong}"


@pytest.mark.always(6)
@pytest.mark.parametrize("kind", KINDS_JUDGED)
def test_the_truth_lies_between_the_ends(kind: str) -> None:
    assert list(random_faults(kind, 1 if kind == "rappor" else 4)) == []


def test_without_rounding_the_judge_finds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty readings of normal noise: the double alone is no bracket."""
    monkeypatch.setattr(laws, "_UNITS", 0.0)
    assert len(list(random_faults("gaussian", 4))) > 10


# -- the extremes ------------------------------------------------------------------------------------------------


def holds(ends: tuple[Any, Any], truth: Any) -> bool:
    return bool(mpf(float(ends[0])) <= truth <= mpf(float(ends[1])))


@pytest.mark.always(6)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("build", "oracle"), [
    (lambda x: el.laplace(epsilon=x), LaplaceOracle), (lambda x: el.gaussian(psi=x), NormalOracle),
], ids=["laplace", "normal"])  # fmt: skip
def test_a_grid_of_extremes(build: Callable[[float], el.Experiment], oracle: Any, size: float) -> None:
    e, o = build(size), oracle(size)
    with mp.workdps(700):
        for share in SHARES:
            assert holds(e.bracket("tradeoff", fpr=share), o.tradeoff(share)), share
            assert holds(e.bracket("roc", fpr=share), o.roc(share)), share
            if o.inverse_roc(share) > mpf("1e-300"):
                for prior in PRIORS:
                    truth = mpf(share) / (mpf(share) + odds(prior) * o.inverse_roc(share))
                    assert holds(e.bracket("precision", recall=share, prior=prior), truth), (share, prior)
        for prior in PRIORS:
            assert holds(e.bracket("success", prior=prior), o.success(prior)), prior
        for epsilon in (0.0, 1e-12, 1e-3, 1.0, 39.999999999999, 40.0, 700.0):
            assert holds(e.bracket("delta", epsilon=epsilon), o.profile(epsilon)), epsilon
        for name in ("advantage", "auc", "kl", "chernoff"):
            assert holds(e.bracket(name), getattr(o, name)()), name
        for order in (1e-6, 0.5, 0.999999, 1.000001, 2.0, 64.0, 1e6):
            assert holds(e.bracket("renyi", order=order), o.renyi(order)), order
        psi = o.psi() if isinstance(o, LaplaceOracle) else mpf(size)
        assert holds(e.bracket("psi"), psi)


@pytest.mark.parametrize("delta", SHARES)
@pytest.mark.parametrize("size", [1e-6, 0.1, 1.0, 5.0, 40.0])
def test_the_loss_at_a_delta(size: float, delta: float) -> None:
    for e, o in ((el.laplace(epsilon=size), LaplaceOracle(size)), (el.gaussian(psi=size), NormalOracle(size))):
        low, high = e.bracket("epsilon", delta=delta)
        assert low == 0 or o.profile(low) >= delta
        assert o.profile(high) <= delta


def test_two_ends_that_were_false() -> None:
    """Normal noise of σ = 1.5, and 16 answers of σ = 4, in sixty digits."""
    with mp.workdps(60):
        psi = 1 / mpf("1.5")
        assert holds(el.gaussian(sigma=1.5).bracket("delta", epsilon=3.1), NormalOracle(psi).profile(3.1))
        many = el.gaussian(sigma=4.0).repeat(16)
        low, high = many.bracket("epsilon", delta=many.delta(6.17))
        assert low < 6.17 < high


@pytest.mark.parametrize("share", [1e-12, 0.05, 0.3])
def test_corners_of_a_polygon(share: float) -> None:
    """At the double next to a corner the slope changes from e^30 to e^−30, so that the last digit of α decides."""
    e = el.mechanisms.randomized_response(epsilon=30.0)
    g = mp.exp(mpf(30))
    corner = float(1 / (1 + g))
    for alpha in (np.nextafter(corner, 0), corner, np.nextafter(corner, 1), share):
        a = mpf(float(alpha))
        truth = 1 - g * a if a <= 1 / (1 + g) else (1 - a) / g
        assert holds(e.bracket("tradeoff", fpr=float(alpha)), truth), alpha


def test_near_the_largest_loss() -> None:
    """δ falls to 0 at ε = 1: all of its digits are those of the difference."""
    for x in (0.9, 0.999999, 1 - 1e-12, 1 - 2.0**-53):
        assert holds(el.mechanisms.pure(epsilon=1.0).bracket("delta", epsilon=x), (mp.e - mp.exp(x)) / (1 + mp.e)), x
        assert holds(el.laplace(epsilon=1.0).bracket("delta", epsilon=x), 1 - mp.exp((mpf(x) - 1) / 2)), x


def difference_profile(d: float, x: float) -> Any:
    """∫(dP − e^x·dQ)₊ of the sum of two equal Laplaces, and it moved by d: from its tail, at the place of the ratio."""
    shift, u = mpf(d), mpf(x)

    def tail(y: Any) -> Any:
        return (2 + y) * mp.exp(-y) / 4 if y >= 0 else 1 - (2 - y) * mp.exp(y) / 4

    def ratio(y: Any) -> Any:
        return mp.log((1 + abs(y - shift)) / (1 + abs(y))) + abs(y) - abs(y - shift)

    low, high = shift / 2, shift / 2 + mpf(10) ** 7
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if ratio(middle) > u else (middle, high)
    return tail(low - shift) - mp.exp(u) * tail(low)


@pytest.mark.always(6)
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0, 40.0])
@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_what_states_its_rounding_has_a_lower_end_too(epsilon: float, part: float) -> None:
    e = el.attacks.differencing(epsilon=epsilon)
    d = float(e.epsilon())
    with mp.workdps(60):
        at = d * part
        truth = difference_profile(d, at)
        assert holds(e.bracket("delta", epsilon=at), truth)
        prior = 1 / (1 + math.exp(at))
        assert holds(
            e.bracket("success", prior=prior), 1 - mpf(prior) + prior * difference_profile(d, mp.log(odds(prior)))
        )
        if truth > 1e-300:
            low, high = e.bracket("epsilon", delta=float(truth))
            assert low == 0 or difference_profile(d, low) >= float(truth)
            assert difference_profile(d, high) <= float(truth)


def test_probits_of_close_shares() -> None:
    for epsilon in (1e-6, 1e-4, 2e-3, 0.1):
        e = el.mechanisms.randomized_response(epsilon=epsilon)
        with mp.workdps(60):
            truth = -2 * probit(1 / (1 + mp.exp(mpf(epsilon))))
            assert holds(e.bracket("psi"), truth), epsilon


# -- what is known exactly, and how wide the rest is -------------------------------------------------------------


def test_what_is_known_exactly_has_one_end() -> None:
    noise = el.laplace(epsilon=0.1)
    assert noise.bracket("epsilon") == (0.1, 0.1)
    assert el.laplace(scale=3.0).bracket("epsilon") == (1 / 3, 1 / 3)
    assert noise.bracket("delta", epsilon=0.1) == (0.0, 0.0)
    assert noise.bracket("roc", fpr=0.0) == noise.bracket("tradeoff", fpr=1.0) == (0.0, 0.0)
    assert noise.bracket("roc", fpr=1.0) == noise.bracket("success", prior=0.0) == (1.0, 1.0)
    assert el.gaussian(sigma=1.0).bracket("epsilon") == (math.inf, math.inf)
    assert el.gaussian(sigma=1.0).bracket("posterior") == (1.0, 1.0)
    assert el.mechanisms.randomized_response(epsilon=0.3).bracket("epsilon") == (0.3, 0.3)
    assert el.mechanisms.approximate(epsilon=1.0, delta=1e-5).bracket("epsilon", delta=1e-5)[1] < 1 + 1e-12
    assert el.mechanisms.pure(epsilon=0.0).bracket("success", prior=0.5) == (0.5, 0.5)
    assert el.mechanisms.finite([1.0, 0.0], [0.0, 1.0]).bracket("advantage") == (1.0, 1.0)


def test_what_only_looks_like_an_end_has_two() -> None:
    """A share that rounds to 1, a mass and a loss that are no doubles, and 1 less a prior that is none."""
    low, high = el.mechanisms.geometric(epsilon=1.0, sensitivity=7, shift=1).bracket("delta", epsilon=1 / 7)
    assert low == 0 < mpf(1) / 7 - mpf(1 / 7) < high < 1e-15  # δ is at most ε − 1/7 there
    low, high = el.gaussian(psi=100.0).bracket("advantage")
    assert low < high == 1
    low, high = el.gaussian(sigma=1.0).bracket("delta", epsilon=700.0)
    assert low == 0 < high < 1e-300
    low, high = el.laplace(epsilon=0.01).bracket("success", prior=0.1)
    assert Fraction(low) <= 1 - Fraction(0.1) <= Fraction(high)
    low, high = el.mechanisms.from_gdp(1.0).bracket("tradeoff", fpr=0.1)
    assert Fraction(high) >= 1 - Fraction(0.1)


@pytest.mark.parametrize(("reading", "given"), [
    ("success", {"prior": 0.3}), ("advantage", {}), ("delta", {"epsilon": 1.0}), ("epsilon", {"delta": 1e-6}),
    ("roc", {"fpr": 0.01}), ("tradeoff", {"fpr": 0.01}), ("precision", {"recall": 0.5}), ("fbeta", {}), ("kl", {}),
    ("psi", {}), ("mu", {}), ("renyi", {"order": 3.0}), ("chernoff", {}), ("auc", {}),
])  # fmt: skip
def test_a_bracket_is_narrow_and_one_of_many_is_that_of_one(reading: str, given: dict[str, float]) -> None:
    many = el.gaussian(sigma=[0.5, 1.0, 2.0])
    lows, highs = many.bracket(reading, **given)
    for sigma, low, high in zip((0.5, 1.0, 2.0), lows, highs, strict=True):
        assert (low, high) == pytest.approx(el.gaussian(sigma=sigma).bracket(reading, **given), rel=1e-15)
        assert low < float(getattr(el.gaussian(sigma=sigma), reading)(**given)) < high < low * (1 + 1e-13)


# -- decisions at equality ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [0.1, 0.2107, 0.3, 1.0, 2.5])
def test_noise_that_meets_a_limit_exactly(limit: float) -> None:
    found = el.choose(el.laplace, "epsilon", at_most=limit, reading="epsilon")
    assert found.value <= limit
    assert el.laplace(epsilon=found.value).bracket("epsilon")[1] <= limit
    assert found.value == pytest.approx(limit, rel=1e-12)


def test_a_delta_exactly_reached() -> None:
    noise = el.gaussian(epsilon=1.0, delta=1e-6)
    low, high = noise.bracket("delta", epsilon=1.0)
    assert low <= noise.delta(1.0) <= 1e-6 < high < 1e-6 * (1 + 1e-12)
    low, high = noise.bracket("epsilon", delta=1e-6)
    assert low <= 1.0 <= high < 1 + 1e-12


def test_a_budget_is_spent_to_its_end() -> None:
    """Ten answers of 0.1 are an ε of 1, an eleventh is not; one the next double above 0.1 is no more than rounding."""
    limits = Limits.of(epsilon=1.0)
    tenth, least = (charge_of(el.laplace(epsilon=epsilon)) for epsilon in (0.1, 1e-9))
    assert limits.exceeded(Charge.total([tenth] * 10)) is None
    assert limits.exceeded(Charge.total([charge_of(el.laplace(epsilon=float(np.nextafter(0.1, 1))))] * 10)) is None
    assert limits.exceeded(Charge.total([*[tenth] * 10, least])) is not None


def test_a_sweep_shows_one_number() -> None:
    found = el.sweep(el.gaussian, sigma=[0.5, 1.0, 2.0], reading=["success", "delta"], epsilon=1.0)
    assert list(next(iter(found.rows()))) == ["sigma", "success", "delta"]
    assert np.array_equal(found["success"], el.gaussian(sigma=[0.5, 1.0, 2.0]).success())
    assert (found.low["success"] < found["success"]).all()
    assert (found["success"] < found.high["success"]).all()
    claimed = el.sweep(el.mechanisms.from_gdp, mu=[0.5, 1.0], reading="success")
    assert list(next(iter(claimed.rows()))) == ["mu", "success", "success_low"]
