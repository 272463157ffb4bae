"""The profile from the characteristic function, held against truths that know nothing of characteristic functions.

A normal step beside laws written out as weighted losses has δ(ε) = Σ weight·δ_normal(ε − loss): closed forms in mpmath.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

import epsilens as el
from epsilens.laws.composition.composed_law import ComposedLaw
from epsilens.laws.composition.evaluator import Budget, Evaluator, Product, read_views
from epsilens.laws.composition.series import CutOffMass, SeriesProfile, TiltedSeries, cut_off_mass
from epsilens.laws.composition.step import Atoms, Step
from epsilens.laws.composition.tilt import ReadingQuery, tilted
from epsilens.laws.composition.wrappers import LabelledSampleStep, ReversedStep, SampledStep
from epsilens.laws.finite import FiniteStep
from epsilens.laws.laplace import LaplaceReplacementStep, LaplaceStep
from epsilens.laws.normal import NormalReplacementStep, NormalStep

A, M = np.asarray, mp.mpf
Steps = list[tuple[Step, int]]
Weighted = tuple[list[tuple[Any, Any]], Any, Any]
KINDS = ("delta", "epsilon", "roc", "recall")
DIGITS = 32


@pytest.fixture(autouse=True)
def _digits() -> Any:
    with mp.workdps(DIGITS):
        yield


def pair(loss: Sequence[float], weight: Sequence[float], only1: float = 0.0, more: float = 0.0) -> FiniteStep:
    """A finite pair with these H1-masses; losses are moved up until H0 has at most 1, and by ``more``."""
    losses, log_p = A(loss, dtype=float), np.log(A(weight, dtype=float) / sum(weight)) + math.log1p(-only1)
    losses = losses + max(float(np.logaddexp.reduce(log_p - losses)), 0.0) + more
    rest = -math.expm1(min(float(np.logaddexp.reduce(log_p - losses)), 0.0))
    return FiniteStep(Atoms(losses, log_p, rest, only1))


# -- truths ----------------------------------------------------------------------------------------------------------


@cache
def _legendre(n: int) -> tuple[tuple[Any, Any], ...]:
    found = []
    for start in np.polynomial.legendre.leggauss(n)[0]:
        x = M(float(start))
        for _ in range(4):
            before, here = M(1), x
            for k in range(2, n + 1):
                before, here = here, ((2 * k - 1) * x * here - (k - 1) * before) / k
            rise = n * (x * here - before) / (x * x - 1)
            x -= here / rise
        found.append((x, 2 / ((1 - x * x) * rise * rise)))
    return tuple(found)


def _cells(f: Callable[[Any], Any], loss: Callable[[Any], Any], cuts: Sequence[Any]) -> list[tuple[Any, Any]]:
    """(mass, loss) at Gauss's nodes of a density between cuts."""
    out = []
    for a, b in pairwise(cuts):
        for node, weight in _legendre(30):
            x = (a + b) / 2 + (b - a) / 2 * node
            out.append(((b - a) / 2 * weight * f(x), loss(x)))
    return out


def mix(loss: Any, rate: Any) -> Any:
    return mp.log(1 - rate + rate * mp.exp(loss))


def weighted(step: Step) -> Weighted:
    """H1-masses at losses, H1's mass at +∞ and H0's at −∞, with 32 digits."""
    if isinstance(step, FiniteStep):
        a = step.atoms
        finite = [(mp.exp(M(float(p))), M(float(loss))) for p, loss in zip(a.log_p, a.loss, strict=True)]
        return finite, M(float(a.only1)), M(float(a.only0))
    if isinstance(step, SampledStep):
        inner, top, bottom = weighted(step.base)
        q = M(step.rate)
        out = [(p * mp.exp(mix(loss, q) - loss), mix(loss, q)) for p, loss in inner]
        return out + ([(bottom * (1 - q), mp.log(1 - q))] if bottom > 0 else []), q * top, M(0)
    if isinstance(step, ReversedStep):
        inner, top, bottom = weighted(step.base)
        return [(p * mp.exp(-loss), -loss) for p, loss in inner], bottom, top
    if isinstance(step, LabelledSampleStep):
        inner, top, bottom = weighted(step.base)
        q = M(step.rate)
        return [*((q * p, loss) for p, loss in inner), (1 - q, M(0))], q * top, q * bottom
    if isinstance(step, LaplaceStep):
        m = M(step.m)
        parts = max(math.ceil(step.m), 2)
        inside = _cells(lambda x: mp.exp(x - m) / 2, lambda x: 2 * x - m, [m * i / parts for i in range(parts + 1)])
        return [(M(1) / 2, m), (mp.exp(-m) / 2, -m), *inside], M(0), M(0)
    assert isinstance(step, NormalStep | NormalReplacementStep | LaplaceReplacementStep)
    q = M(getattr(step, "rate", 1))
    if isinstance(step, LaplaceReplacementStep):
        m = M(step.m)
        parts = max(math.ceil(step.m), 2)

        def laplace(x: Any) -> Any:
            return ((1 - q) * mp.exp(-abs(x)) + q * mp.exp(-abs(x - m))) / 2

        end = (1 - q) * mp.exp(-m) / 2 + q / 2
        top = mix(m, q) - mix(-m, q)
        cuts = [m * i / parts for i in range(-parts, parts + 1)]
        inside = _cells(laplace, lambda x: mp.log(laplace(x) / laplace(-x)), cuts)
        return [(end, top), (end * mp.exp(-top), -top), *inside], M(0), M(0)
    mu = M(step.mu)

    def normal(x: Any) -> Any:
        return (1 - q) * mp.npdf(x) + q * mp.npdf(x - mu)

    both = isinstance(step, NormalReplacementStep)
    parts = math.ceil((22 + step.mu) / 1.5)
    cuts = [-11 + (22 + mu) * i / parts for i in range(parts + 1)]
    return _cells(normal, lambda x: mp.log(normal(x) / normal(-x)) if both else mu * (x - mu / 2), cuts), M(0), M(0)


class Truth:
    """A product of weighted losses and one normal shift."""

    def __init__(self, steps: Steps, flipped: bool) -> None:
        self.mu = mp.sqrt(sum(k * M(step.mu) ** 2 for step, k in steps if isinstance(step, NormalStep)))
        masses: list[tuple[Any, Any]] = [(M(1), M(0))]
        top = bottom = M(0)
        for step, k in steps:
            if not isinstance(step, NormalStep):
                one, up, down = weighted(step)
                for _ in range(k):
                    masses = [(p * a, loss + b) for p, loss in masses for a, b in one]
                    top, bottom = 1 - (1 - top) * (1 - up), 1 - (1 - bottom) * (1 - down)
        if flipped:
            masses, top = [(p * mp.exp(-loss), -loss) for p, loss in masses], bottom
        self.masses, self.top = masses, top

    def h1(self, loss: Any) -> Any:
        """H1(S > loss)."""
        return self.top + mp.fsum(p * mp.ncdf(self.mu / 2 - (loss - a) / self.mu) for p, a in self.masses)

    def h0(self, loss: Any) -> Any:
        """H0(S > loss)."""
        return mp.fsum(p * mp.exp(-a) * mp.ncdf(-self.mu / 2 - (loss - a) / self.mu) for p, a in self.masses)

    def delta(self, loss: Any) -> Any:
        """h(e^loss)."""
        return self.h1(loss) - mp.exp(loss) * self.h0(loss)

    def question(self, kind: str, loss: float) -> float:
        """What to ask so that the answer lies at this loss."""
        at = M(loss)
        asked = {"epsilon": self.delta, "roc": self.h0, "recall": self.h1}
        return loss if kind == "delta" else float(mp.log(asked[kind](at)))

    def holds(self, kind: str, loss: float, asked: float, low: float, high: float) -> bool:
        """Whether a bracket of the answer near this loss holds it; h is tangent there, so that rounding is squared."""
        t = mp.exp(M(loss))
        if kind == "delta":
            return bool(low <= mp.log(self.delta(M(asked))) <= high)
        value = mp.exp(M(asked))
        if kind == "epsilon":
            above = math.isinf(low) or self.delta(M(low)) >= value
            return bool(above and (math.isinf(high) or self.delta(M(high)) <= value))
        h1, h0 = self.h1(M(loss)), self.h0(M(loss))
        answer = h1 + t * (value - h0) if kind == "roc" else h0 + (value - h1) / t
        return bool(low <= mp.log(answer) <= high)


def made(steps: Steps, flipped: bool, kind: str, value: float, lattice: bool = False) -> tuple[Any, float, float]:
    """What answers one question, and its bracket; any warning is an error."""
    order = Evaluator(Product(steps), flipped, 1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = order.make(ReadingQuery(kind, value), 1e-3, Budget(), lattice=lattice)
        assert one is not None
        low, high = read_views([one], kind, A([value]))
    return one, float(low[0]), float(high[0])


def check(steps: Steps, flipped: bool, losses: Sequence[float], kinds: Sequence[str] = KINDS) -> int:
    """All kinds of questions whose answers lie at these losses; how many were answered by a series."""
    truth, answered = Truth(steps, flipped), 0
    for loss in losses:
        for kind in kinds:
            value = truth.question(kind, loss)
            if (kind in ("roc", "recall") and value > -0.7) or value < -650 * (kind != "delta"):
                continue
            if kind in ("epsilon", "recall") and mp.exp(M(value)) < truth.top * (1 + M(10) ** -6):
                continue
            one, low, high = made(steps, flipped, kind, value)
            if not isinstance(one, SeriesProfile):
                continue
            answered += 1
            assert truth.holds(kind, loss, value, low, high), (kind, value, low, high)
            if value > -50:
                scale = max(high, 0.1 * float(truth.mu)) if kind == "epsilon" else 1.0
                wide = 0.01 if kind in ("delta", "epsilon") else 0.2  # curves of far atoms are left to a lattice
                assert high - low <= wide * scale, (kind, value, low, high)
    return answered


# -- one normal step and atoms ---------------------------------------------------------------------------------------

THREE = pair([-1.0, 0.2, 1.0], [1, 2, 3])
FINITE: list[tuple[str, Step, int, float]] = [
    ("randomised response", pair([-1.0, 1.0], [1, math.e]), 3, 0.7),
    ("three losses", THREE, 2, 1.5),
    ("tiny losses", pair([-1e-9, 3e-9], [3, 1]), 2, 2e-9),
    ("large losses", pair([-1.0, 300.0], [1, 1]), 1, 40.0),
    ("mass at infinity", pair([-0.5, 0.7], [2, 1], only1=1e-3, more=0.05), 2, 0.5),
    ("rarely at infinity", pair([-0.5, 0.7], [2, 1], only1=1e-12), 1, 0.5),
    ("sampled", SampledStep(THREE, 0.02), 2, 0.3),
    ("sampled, seldom", SampledStep(THREE, 1e-7), 1, 1e-6),
    ("flagged", LabelledSampleStep(THREE, 0.1), 2, 0.4),
    ("sampled twice", SampledStep(ReversedStep(SampledStep(THREE, 0.3)), 0.2), 2, 0.1),
]


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize(("step", "count", "mu"), [f[1:] for f in FINITE], ids=[f[0] for f in FINITE])
def test_atoms_beside_a_normal_step_lie_inside(step: Step, count: int, mu: float, flipped: bool) -> None:
    centre = mu * mu / 2
    losses = [centre, centre + 3 * mu, centre + 9 * mu]
    assert check([(step, count), (NormalStep(mu), 1)], flipped, losses) >= 6


@pytest.mark.parametrize("seed", range(4))
def test_random_atoms_beside_normal_steps_lie_inside(seed: int) -> None:
    rng = np.random.default_rng(seed)
    answered = 0
    for _ in range(6):
        scale = math.exp(rng.uniform(math.log(1e-9), math.log(3)))
        step = pair((rng.normal(size=3) * scale).tolist(), rng.dirichlet(np.ones(3)).tolist())
        mu, count = scale * math.exp(rng.uniform(-1, 3)), int(rng.integers(1, 200))
        sd = math.sqrt(count) * mu
        steps: Steps = [(step, 2), (NormalStep(mu), count)]
        kinds = [KINDS[int(rng.integers(4))]]
        answered += check(steps, bool(rng.integers(2)), [sd * sd / 2 + sd * float(rng.uniform(0, 30))], kinds)
    assert answered >= 3


# -- one normal step and one with a density --------------------------------------------------------------------------

MOVING: list[tuple[Step, float]] = [
    (SampledStep(NormalStep(1.0), 0.01), 0.5),
    (SampledStep(NormalStep(2.0), 1e-5), 0.1),
    (NormalReplacementStep(1.0, 0.2), 0.5),
    (SampledStep(LaplaceStep(1.0), 0.1), 0.2),
    (LaplaceReplacementStep(2.0, 0.3), 1.0),
    (LaplaceStep(1.5), 0.5),
    (SampledStep(NormalStep(1e-6), 0.4), 1e-6),
    (LabelledSampleStep(NormalReplacementStep(0.7, 0.05), 0.3), 0.2),
    (SampledStep(ReversedStep(SampledStep(LaplaceStep(2.0), 0.3)), 0.4), 0.3),
]


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize(("step", "mu"), MOVING, ids=str)
def test_a_step_with_a_density_beside_a_normal_one_lies_inside(step: Step, mu: float, flipped: bool) -> None:
    steps: Steps = [(step, 1), (NormalStep(mu), 1)]
    with mp.workdps(20):
        truth = Truth(steps, flipped)
        asked = (("epsilon", 3 * mu), ("recall", 4 * mu)) if flipped else (("delta", mu), ("roc", 2 * mu))
        for kind, loss in asked:
            value = truth.question(kind, loss)
            one, low, high = made(steps, flipped, kind, value)
            assert isinstance(one, SeriesProfile)
            assert truth.holds(kind, loss, value, low, high), (kind, value, low, high)


@pytest.mark.parametrize("rate", [0.6, 0.7, 0.9, 0.99])
@pytest.mark.parametrize("size", [1e-7, 1e-9])
@pytest.mark.parametrize(
    "sampled",
    [
        lambda size, rate: SampledStep(pair([-size, size], [1, 1]), rate),
        lambda size, rate: SampledStep(LaplaceStep(size), rate),
        lambda size, rate: LaplaceReplacementStep(size, rate),
    ],
    ids=["atoms", "Laplace", "replaced"],
)
def test_small_losses_sampled_often_keep_their_digits(
    sampled: Callable[[float, float], Step], size: float, rate: float
) -> None:
    steps: Steps = [(sampled(size, rate), 1), (NormalStep(size / 2), 1)]
    truth = Truth(steps, False)
    for loss in (0.0, 2 * size):
        one, low, high = made(steps, False, "delta", loss)
        assert isinstance(one, SeriesProfile)
        assert truth.holds("delta", loss, loss, low, high)


# -- edges -----------------------------------------------------------------------------------------------------------


def test_far_from_where_a_series_was_made_its_bracket_only_widens() -> None:
    law = ComposedLaw([(SampledStep(NormalStep(1.0), 0.01), 1000)])
    epsilon = A([0.0, 1.0, 5.0, 50.0, 1e3, 1e6])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        high, low = law.profile(epsilon), law.other_side().profile(epsilon)
    assert (low <= high).all()
    assert (np.diff(high) <= 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_one_series_may_be_asked_for_anything(kind: str) -> None:
    steps: Steps = [(SampledStep(NormalStep(1.0), 0.01), 1000)]
    order = Evaluator(Product(steps), False, 1e-3)
    values = A([-1e6, -1e3, -50.0, 0.0, 1.0, 50.0, 1e3, 1e6]) if kind == "delta" else -np.geomspace(1e-18, 740.0, 40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = order.make(ReadingQuery("delta", 1.0), 1e-3, Budget())
        assert one is not None
        low, high = read_views([one], kind, values)
    assert isinstance(one, SeriesProfile)
    assert (low <= high).all()


def test_many_epsilons_at_once() -> None:
    law = ComposedLaw([(pair([-1.0, 1.0], [1, math.e]), 3), (NormalStep(1e-3), 1)])
    delta = np.geomspace(1e-9, 0.3, 100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        high, low = law.profile_inverse(delta), law.other_side().profile_inverse(delta)
    assert (low <= high).all()
    assert (high - low <= 1e-3 * high).all()


@pytest.mark.parametrize("log_alpha", [-7.0, -70.0, -300.0])
@pytest.mark.parametrize("count", [1, 3])
def test_what_is_seen_at_infinity_bounds_the_curve_from_both_sides(count: int, log_alpha: float) -> None:
    steps: Steps = [(pair([-0.1, 0.3], [4, 5], only1=0.1, more=0.02), count), (NormalStep(0.1), 1)]
    truth = Truth(steps, False)
    loss = mp.findroot(lambda x: mp.log(truth.h0(x)) - log_alpha, (M(0), M(4)), solver="anderson", tol=1e-15)
    one, low, high = made(steps, False, "roc", log_alpha)
    assert isinstance(one, SeriesProfile)
    assert truth.holds("roc", float(loss), log_alpha, low, high)
    assert high - low < 1e-2


def test_a_law_that_lies_at_infinity_altogether_is_not_called_quiet() -> None:
    at_once = FiniteStep(Atoms(A([81.0]), A([0.0]), 1.0, 0.0))  # H0 has e^{−81} beside what only it shows
    steps: Steps = [(LaplaceReplacementStep(0.25, 3e-4), 1), (at_once, 13), (NormalStep(0.01), 1)]
    _, low, high = made(steps, True, "roc", -196.2)
    assert low <= high
    assert high >= -1e-9  # the truth is 1


def test_a_question_beyond_nearly_all_losses_gets_an_answer() -> None:
    other = FiniteStep(Atoms(A([0.02056797]), A([-4.36717963e-06]), 0.020362171756273306, 4.36717009661078e-06))
    steps: Steps = [(LabelledSampleStep(other, 0.9999996003241104), 1), (NormalStep(1.5131955971082948e-06), 523)]
    _, low, high = made(steps, True, "delta", 0.05156385322132819)
    top = mp.log(Truth(steps, True).delta(M(0.05156385322132819)))
    assert low <= top <= high


@pytest.mark.parametrize(("mu", "alpha"), [(1e-13, 1e-280), (1e-15, 1e-100), (1e-14, 1e-9)])
def test_curves_of_nearly_equal_laws_lie_inside(mu: float, alpha: float) -> None:
    steps: Steps = [(pair([-mu, mu], [1, 1]), 1), (NormalStep(mu), 1)]
    truth, law = Truth(steps, False), ComposedLaw(steps)
    low, high = M(-10) * mu, M(60) * mu
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if truth.h0(middle) > alpha else (low, middle)
    answer = truth.h1(low) + mp.exp(low) * (M(alpha) - truth.h0(low))
    assert M(float(law.other_side().roc(A(alpha)))) <= answer <= M(float(law.roc(A(alpha))))


@pytest.mark.parametrize("above", [2.0, 3.0, 5.0])
@pytest.mark.parametrize("count", [3, 5, 10])
def test_what_is_cut_off_beside_losses_that_only_h0_shows(count: int, above: float) -> None:
    # H0 lies at −∞ with 0.4: given that it does not, the other losses make up for a large one more often
    weight = [0.5 * math.exp(-1), 1 - 0.5 * math.exp(-1)]
    other = FiniteStep(Atoms(A([-1.0, math.log(weight[1] / 0.1)]), np.log(weight), 0.4, 0.0))
    step, cut, tilt = SampledStep(NormalStep(3.0), 0.01), 4.0, 0.5
    b = float(step.loss(A(cut)))
    log_t = b - above
    steps: Steps = [(step, 1), (other, count)]
    reaches = [(-12.0, cut), (0.0, 0.0)]
    laws = [(law, k) for (s, k), r in zip(steps, reaches, strict=True) if (law := tilted(s, False, tilt, r, 8.0))]
    spread = math.sqrt(sum(k * law.variance for law, k in laws))
    low, high = cut_off_mass(steps, False, reaches, laws, tilt, spread).bounds(A(log_t))
    truth = 0.0
    for i in range(count + 1):  # i of the others show −1
        p = math.comb(count, i) * weight[0] ** i * weight[1] ** (count - i)
        loss = float(-i + (count - i) * other.atoms.loss[1])
        p1, p0 = (math.exp(v) for v in step.above(max(cut, float(step.inverse_loss(A(log_t - loss))))))
        truth += p * (p1 - math.exp(log_t - loss) * p0)
    below = math.exp(step.below(-12.0)[0])
    assert float(low) <= truth * (1 + 1e-12)
    assert truth * (1 - 1e-12) <= float(high) - below


# -- a second opinion ------------------------------------------------------------------------------------------------

PRODUCTS: list[tuple[Steps, float]] = [
    ([(SampledStep(NormalStep(1.0), 1e-3), 10_000)], 0.4),
    ([(ReversedStep(SampledStep(NormalStep(1.0), 0.01)), 1000)], 1.0),
    ([(NormalReplacementStep(0.5, 0.1), 300)], 1.0),
    ([(SampledStep(LaplaceStep(0.5), 0.1), 50), (NormalStep(0.1), 1)], 0.5),
    ([(SampledStep(SampledStep(NormalStep(1.0), 0.3), 0.2), 100), (THREE, 2)], 2.0),
    (
        [
            (LabelledSampleStep(NormalStep(1.0), 0.1), 20),
            (pair([-0.2, 0.3], [1, 1], only1=1e-9), 3),
            (NormalStep(0.5), 1),
        ],
        2.0,
    ),
    ([(SampledStep(NormalStep(1e-3), 0.3), 10**6), (LaplaceReplacementStep(0.2, 0.5), 30)], 0.5),
]


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize(("steps", "loss"), PRODUCTS, ids=[str(i) for i in range(len(PRODUCTS))])
def test_series_and_lattice_agree(steps: Steps, loss: float, flipped: bool) -> None:
    answered = 0
    for kind, value in (("delta", loss), ("epsilon", -14.0), ("roc", -9.0), ("recall", -3.0)):
        one, low, high = made(steps, flipped, kind, value)
        _, below, above = made(steps, flipped, kind, value, lattice=True)
        answered += isinstance(one, SeriesProfile)
        assert low <= high
        assert low <= above, (kind, low, high, below, above)
        assert below <= high, (kind, low, high, below, above)
    assert answered >= 2


@pytest.mark.parametrize("count", [500, 5000])
def test_the_sum_of_a_series_however_long_is_its_definition(count: int) -> None:
    chance, h, centre = np.random.default_rng(5), 0.01, 0.7
    terms = np.asarray((chance.normal(size=count) + 1j * chance.normal(size=count)) / (1 + np.arange(count)), complex)
    none = np.zeros(1)
    rest = CutOffMass(0.0, 0.0, 0.0, 0.0, math.inf, none, none, False)
    of = TiltedSeries(1.0, h, centre, 0.0, terms, 1e-12, 0.0, ((none, none), (none, none)), rest, 0)
    losses = np.asarray([[-3.0, 0.7], [1.25, 40.0]])
    values, slopes = of.at(losses)
    assert values.shape == slopes.shape == losses.shape
    for loss, value, slope in zip(losses.ravel(), values.ravel(), slopes.ravel(), strict=True):
        turn = [-1j * n * mp.mpf(h) for n in range(count)]
        each = [
            mp.mpc(a) * mp.exp(t * (mp.mpf(loss) - mp.mpf(centre))) for a, t in zip(terms.tolist(), turn, strict=True)
        ]
        assert value == pytest.approx(float(mp.fsum(each).real), abs=1e-13)
        assert slope == pytest.approx(float(mp.fsum(t * a for t, a in zip(turn, each, strict=True)).real), abs=1e-12)


def test_what_is_cut_off_above_is_not_lost_beside_what_is_cut_off_below() -> None:
    # Of one step of ten people Q(L > b) is e^{−65} of Q(L < a): beside it, it was lost, and t·Q with it.
    e = el.group(el.dpsgd(sigma=1.6881677113320215, rate=0.07461077247674384, steps=7195), 10)
    # 1/π·∫ Re M(z)e^{−zε}/(z(z+1)) dy on z = 1/4 + iy, in 30 digits: two steps of either sum agree in 14 digits
    low, high = e.bracket("delta", epsilon=1377.2204039557469)
    assert low <= 6.78639915126061e-35 <= high
    assert high < low * (1 + 1e-6)


@pytest.mark.parametrize(
    ("p", "log_q", "b"), [(1e-40, -161.0, 68.0), (1e-25, -757.5, 700.0), (1e-3, -690.0, 683.0), (1e-12, -69.0, 41.3)]
)
def test_the_rest_is_what_its_definition_says(p: float, log_q: float, b: float) -> None:
    """P(F) − t·Q(F) ≤ ∫_F(dP − t·dQ)₊, also where Q(F) is no double: then it was rounded up to one."""
    q = max(math.exp(log_q), 5e-324)
    rest = CutOffMass(0.0, 0.0, p, q, b, np.ones(1), np.full(1, -60.0), False)  # that S stays below log t is unlikely
    losses = np.asarray([0.0, 0.5 * b, b - 12, b - 1])
    for loss, low, high in zip(losses, *rest.bounds(losses), strict=True):
        held = mp.mpf(p) - mp.exp(mp.mpf(loss) + log_q)
        assert low <= max(held, 0)
        assert high >= held


# Curves read far from where the mass is: no warning reaches a caller, and what is read stays possible.


@pytest.mark.parametrize(("epsilon", "alpha"), [(0.4859277374761723, 1.0371195768881442e-267), (0.0613, 6.4e-273)])
def test_a_recall_whose_unit_is_no_double(epsilon: float, alpha: float) -> None:
    """Ten ε-DP selections: between what the two-point answers of Dong, Durfee & Rogers reach and e^{10ε}·α."""
    found = el.mechanisms.exponential(epsilon=epsilon).repeat(10).reverse().recall(alpha)
    # with two outcomes of losses ±ε/2 each, all ten are ε/2 far more often than α
    assert alpha * math.exp(5 * epsilon) <= found <= alpha * math.exp(10 * epsilon) * (1 + 1e-9)


def test_laplace_answers_beside_much_normal_noise() -> None:
    """1646 Laplace answers, a shift of 147.5 and a rare training: the normal shift alone finds nearly everyone."""
    e = el.compose(
        el.laplace(epsilon=1.0).repeat(1646), el.gaussian(psi=147.5), el.dpsgd(sigma=3.0, rate=1e-6, steps=4)
    )
    assert 1 - 1e-12 <= e.attack_success(9.4e-270) <= 1


@pytest.mark.parametrize("epsilon", [325.0, 330.0, 332.0, 332.4, 333.0, 340.0, 400.0])
def test_one_step_where_the_false_alarms_are_no_double(epsilon: float) -> None:
    """δ = P − e^ε·Q of a normal step of shift 10 sampled at 1/4, in 60 digits."""
    with mp.workdps(60):
        y = mp.log((mp.exp(epsilon) - mpf("0.75")) * 4) / 10 + 5
        q, p = (mp.erfc(v / mp.sqrt(2)) / 2 for v in (y, y - 10))
        value = 3 * q / 4 + p / 4 - mp.exp(epsilon) * q
    low, high = el.dpsgd(sigma=0.1, rate=0.25, steps=1).bracket("delta", epsilon=epsilon)
    assert low <= value <= high <= value * (1 + 1e-9)
