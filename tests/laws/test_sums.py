"""The sum of q Laplaces against mpmath quadrature of its characteristic function, and against the general law.

N(0, b²) + Lap(0, 1), shifted, against mpmath, quadrature and the law of pieces.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.integrate import quad
from tests.laws.lines import NormalLaplace
from tests.laws.oracles import close

import epsilens as el
from epsilens.experiment import Experiment
from epsilens.laws.piecewise import LaplaceSum, PiecewiseLaw
from epsilens.laws.sums import (
    LaplaceSumShift,
    NormalLaplaceShift,
    _log_pdf,
    is_far_order,
    log_tail,
    psi_by_equal_errors,
)


def tail_by_inversion(q: int, x: float) -> mpf:
    """P(S > x) = ½ − (1/π)∫ sin(tx)/t·(1+t²)^{−q} dt, computed from the characteristic function."""
    with mp.workdps(30):
        inner = mp.quadosc(lambda t: mp.sin(t * x) / t / (1 + t * t) ** q, [0, mp.inf], omega=x)
        return mpf("0.5") - inner / mp.pi


@pytest.mark.parametrize("q", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("x", [0.5, 2.0, 9.0])
def test_tail_from_the_characteristic_function(q: int, x: float) -> None:
    assert math.exp(float(log_tail(q, np.asarray(x)))) == pytest.approx(float(tail_by_inversion(q, x)), rel=1e-12)


def test_two_laplaces_agree_with_the_general_law() -> None:
    special, general = (
        Experiment(LaplaceSumShift(2, np.asarray(1.3))),
        Experiment(PiecewiseLaw(LaplaceSum(1.0, 1.0, 0.0), LaplaceSum(1.0, 1.0, 1.3))),
    )
    alpha = np.asarray([1e-300, 1e-9, 0.01, 0.3, 0.7, 0.999])
    assert special.tradeoff(alpha) == pytest.approx(general.tradeoff(alpha), rel=1e-12)
    assert special.roc(alpha) == pytest.approx(general.roc(alpha), rel=1e-12)
    for reading in ("advantage", "auc", "kl", "chernoff", "fbeta"):
        assert getattr(special, reading)() == pytest.approx(getattr(general, reading)(), rel=1e-11), reading
    assert special.psi() == pytest.approx(general.psi(), rel=2e-9)
    assert special.delta([0.1, 0.7, 1.2]) == pytest.approx(general.delta([0.1, 0.7, 1.2]), rel=1e-10)
    assert special.epsilon([1e-9, 1e-3, 0.1]) == pytest.approx(general.epsilon([1e-9, 1e-3, 0.1]), rel=1e-10)
    assert special.renyi([0.5, 2, 30]) == pytest.approx(general.renyi([0.5, 2, 30]), rel=1e-10)
    assert special.success([0.1, 0.4, 0.9]) == pytest.approx(general.success([0.1, 0.4, 0.9]), rel=1e-12)


def test_success_curve_loses_no_digits_at_tiny_shifts() -> None:
    for d in (1e-12, 1e-6, 1e-2):
        with mp.workdps(40):
            y = mpf(d) / 2
            want = 1 - mp.e**-y * (1 + y / 2)
        assert float(LaplaceSumShift(2, np.asarray(d)).profile(np.asarray(0.0))) == pytest.approx(
            float(want), rel=1e-13
        )


@pytest.mark.parametrize("q", [2, 3, 5])
def test_curve_is_consistent_with_its_quantiles(q: int) -> None:
    law = LaplaceSumShift(q, np.asarray(2.0))
    alpha = np.asarray([1e-200, 1e-5, 0.2, 0.5, 0.9])
    recall = law.roc(alpha)
    assert law.inverse_roc(recall)[:3] == pytest.approx(alpha[:3], rel=1e-9)
    assert law.tradeoff(alpha) + recall == pytest.approx(np.ones(5), rel=1e-13)
    assert np.all(recall >= alpha)


WIDTHS = (1e-6, 1e-2, 0.3, 1.0, 4.0, 25.0)
SHIFTS = (1e-9, 1e-3, 0.2, 1.5, 8.0, 60.0)
#: The corners, and every width with every second shift, in turn.
PAIRS = [
    (b, d)
    for (i, b), (j, d) in product(enumerate((1e-2, 0.3, 1.0, 4.0, 15.0)), enumerate(SHIFTS))
    if (i + j) % 2 == 0 or (i in (0, 4) and j in (0, 5))
]


def sf(x: Any, b: Any) -> Any:
    """P(N(0,b²) + Lap > x), textbook form (sheet, C(c)), with digits to spare."""
    x, b = mpf(x), mpf(b)
    with mp.workdps(120 + int(min(b * b, 4000))):
        up = mp.exp(x + b * b / 2) * mp.ncdf(-x / b - b)
        down = mp.exp(-x + b * b / 2) * mp.ncdf(x / b - b)
        return mp.ncdf(-x / b) - (up - down) / 2


def pdf(x: Any, b: Any) -> Any:
    x, b = mpf(x), mpf(b)
    with mp.workdps(120 + int(min(b * b, 4000))):
        return mp.exp(b * b / 2) * (mp.exp(x) * mp.ncdf(-x / b - b) + mp.exp(-x) * mp.ncdf(x / b - b)) / 2


def law(b: float, d: float) -> NormalLaplaceShift:
    return NormalLaplaceShift(np.asarray(b), np.asarray(d))


@pytest.mark.parametrize("b", WIDTHS)
def test_density_and_tail(b: float) -> None:
    for t in (0.0, 1e-8, 0.1, 1.0, 3.0, 20.0, 36.0):
        for x in (t, t * b):
            if pdf(x, b) > mpf("1e-300"):
                assert close(np.exp(_log_pdf(np.asarray(x), np.asarray(b))), pdf(x, b), 1e-12), (b, x)
                assert close(
                    np.exp(NormalLaplaceShift(np.asarray(b), np.asarray(0.0))._log_tail(np.asarray(x))), sf(x, b), 1e-12
                ), (b, x)


def test_references() -> None:
    """Sheet B.1 (24) and C(c)."""
    for t, own, scale, density in ((1, 1, 1, 0.202612173779), (3, 2, 0.7, 0.0711413810832)):
        assert np.exp(_log_pdf(np.asarray(t / scale), np.asarray(own / scale))) / scale == pytest.approx(
            density, abs=1e-12
        )
    assert 1 - np.exp(NormalLaplaceShift(np.asarray(1.0), np.asarray(0.0))._log_tail(np.asarray(1.0))) == pytest.approx(
        0.740691589991, abs=1e-12
    )
    e = Experiment(law(1.0, 1.5))
    for epsilon, delta in ((0, 0.3740376635), (0.5, 0.2185419223), (1, 0.0808202292), (1.4, 0.0075648301)):
        assert e.delta(epsilon) == pytest.approx(delta, abs=1e-10)
    assert e.tradeoff(0.05) == pytest.approx(0.7964771742, abs=1e-10)
    assert e.epsilon() == 1.5
    # the supremum 1.5 is approached, not attained
    x = np.asarray(-5.0)
    assert float(_log_pdf(x, np.asarray(1.0)) - _log_pdf(x - 1.5, np.asarray(1.0))) == pytest.approx(
        1.49999006, abs=1e-8
    )


@pytest.mark.parametrize(("b", "d"), PAIRS)
def test_curve_against_mpmath(b: float, d: float) -> None:
    e = law(b, d)
    for alpha in (1e-300, 1e-100, 1e-12, 0.01, 0.3, 0.5, 0.9):
        start = e._isf(np.asarray(alpha))
        c = mp.findroot(lambda x, a=alpha: mp.log(sf(x, b) / mpf(a)), mpf(float(start)), tol=1e-40, verify=False)
        truth = sf(c - mpf(d), b)
        assert close(e.roc(np.asarray(alpha)), truth, 2e-12), (b, d, alpha)
        assert float(e.tradeoff(np.asarray(alpha))) == pytest.approx(float(1 - truth), rel=1e-11, abs=1e-300)
        if truth < 0.99:  # beyond, the recall no longer tells α
            assert float(e.inverse_roc(e.roc(np.asarray(alpha)))) == pytest.approx(alpha, rel=1e-9)


@pytest.mark.parametrize(("b", "d"), PAIRS)
def test_profile_against_mpmath(b: float, d: float) -> None:
    e = law(b, d)
    truth = 1 - 2 * sf(mpf(d) / 2, b)
    assert close(e.profile(np.asarray(0.0)), truth, 1e-12)
    for share in (-0.9, -0.3, 0.2, 0.7, 0.95):
        u = share * d
        c = mpf(float(e._threshold(np.asarray(u))))
        c = mp.findroot(
            lambda x, u=u: mp.log(pdf(x - mpf(d), b) / pdf(x, b)) / mpf(d) - mpf(u) / mpf(d), c, verify=False
        )
        value = sf(c - mpf(d), b) - mp.exp(mpf(u)) * sf(c, b)
        got = float(e.profile(np.asarray(u)))
        # the closed difference carries its stated rounding on top, never below
        assert float(value) * (1 - 1e-12) <= got + 1e-300
        assert got <= float(value) * (1 + 1e-11) + 1e-13 * float(sf(c - mpf(d), b) + mp.exp(mpf(u)) * sf(c, b))


@pytest.mark.parametrize(("b", "d"), [(0.05, 2.0), (0.5, 0.01), (1.0, 1.5), (6.0, 0.5), (0.5, 10.0)])
def test_divergences_against_quadrature(b: float, d: float) -> None:
    e = Experiment(law(b, d))

    def p(x: float) -> float:
        return float(np.exp(_log_pdf(np.asarray(x), np.asarray(b))))

    def ratio(x: float) -> float:
        return float(_log_pdf(np.asarray(x - d), np.asarray(b)) - _log_pdf(np.asarray(x), np.asarray(b)))

    span = (-50 - 9 * b, 50 + 9 * b + d)
    points = (-b, 0, b, d / 2, d - b, d, d + b)
    options: dict[str, Any] = {"points": points, "limit": 800, "epsabs": 1e-13, "epsrel": 1e-11}
    assert e.kl() == pytest.approx(
        quad(lambda x: p(x) * (np.expm1(ratio(x)) - ratio(x)), *span, **options)[0], rel=1e-8
    )
    order2 = np.log(quad(lambda x: p(x) * np.exp(-ratio(x)), *span, **options)[0])
    assert e.renyi(2.0) == pytest.approx(order2, rel=1e-7, abs=1e-11)
    half = -2 * np.log(quad(lambda x: p(x) * np.exp(ratio(x) / 2), *span, **options)[0])
    assert e.renyi(0.5) == pytest.approx(half, rel=1e-6, abs=1e-11)
    area = quad(lambda x: p(x) * float(sf(x - d, b)), *span, **{**options, "epsrel": 1e-9})[0]
    assert e.auc() == pytest.approx(area, rel=1e-8)


def test_the_same_as_pieces() -> None:
    """An independent representation of the same pair agrees in every reading."""
    e = Experiment(law(0.8, 1.2))
    other = Experiment(PiecewiseLaw(NormalLaplace(0.8, 1.0), NormalLaplace(0.8, 1.0, 1.2)))
    for reading, args in (
        ("success", {"prior": 0.5}),
        ("success", {"prior": 0.2}),
        ("advantage", {}),
        ("auc", {}),
        ("psi", {}),
        ("kl", {}),
        ("chernoff", {}),
        ("fbeta", {"beta": 2.0, "prior": 0.3}),
        ("delta", {"epsilon": 0.4}),
        ("epsilon", {"delta": 1e-3}),
        ("renyi", {"order": 3.0}),
        ("posterior", {"prior": 0.1}),
        ("roc", {"fpr": 1e-5}),
    ):
        assert getattr(e, reading)(**args) == pytest.approx(getattr(other, reading)(**args), rel=3e-9), reading


def test_limits_and_shapes() -> None:
    """b → 0 is Laplace, b → ∞ is normal; arrays broadcast."""
    from epsilens.laws.laplace import Laplace
    from epsilens.laws.normal import Normal

    alpha = np.asarray([1e-8, 0.1, 0.6])
    assert law(1e-9, 1.3).roc(alpha) == pytest.approx(Laplace(np.asarray(1.3)).roc(alpha), rel=1e-8)
    assert law(1e4, 1e4).roc(alpha) == pytest.approx(Normal(np.asarray(1.0)).roc(alpha), rel=1e-6)
    many = Experiment(NormalLaplaceShift(np.asarray([0.5, 1.0]), np.asarray([1.0, 2.0])))
    for k, (b, d) in enumerate(((0.5, 1.0), (1.0, 2.0))):
        one = Experiment(law(b, d))
        for reading, args in (
            ("success", {"prior": 0.3}),
            ("kl", {}),
            ("epsilon", {"delta": 1e-4}),
            ("psi", {}),
            ("fbeta", {}),
            ("auc", {}),
        ):
            assert getattr(many, reading)(**args)[k] == pytest.approx(getattr(one, reading)(**args), rel=1e-12)


# -- divergences of the sum of Laplaces over its whole domain ----------------------------------------------------------


def _log_density(q: int, x: mpf) -> mpf:
    """log of e^{−|x|}·Σ_k (q−1+k)!/(k!(q−1−k)!2^k)·|x|^{q−1−k}/((q−1)!2^q)."""
    z = abs(x)
    terms = [
        mp.factorial(q - 1 + k) / (mp.factorial(k) * mp.factorial(q - 1 - k) * mpf(2) ** k) * z ** (q - 1 - k)
        for k in range(q)
    ]
    return mp.log(mp.fsum(terms) / (mp.factorial(q - 1) * mpf(2) ** q)) - z


@pytest.mark.parametrize(("q", "d"), [(2, 1e-12), (2, 0.4), (4, 0.51)])
def test_divergences_of_a_narrow_shift(q: int, d: float) -> None:
    with mp.workdps(40):
        shift, law = mpf(d), LaplaceSumShift(q, np.asarray(d))
        edges = sorted([mpf(v) for v in (-150, -20, -5, -1, 0)] + [shift / 2] + [shift + v for v in (0, 1, 5, 20, 150)])

        def ratio(x: mpf) -> mpf:
            return _log_density(q, x - shift) - _log_density(q, x)

        for a in (0.5, -1.5):

            def less_one(x: mpf, a: float = a) -> mpf:
                grown = mp.expm1(a * ratio(x)) - a * mp.expm1(ratio(x))
                return mp.e ** _log_density(q, x) * grown

            truth = float(mp.log1p(mp.quad(less_one, edges)))
            assert float(law.log_moment(np.asarray(a))) == pytest.approx(truth, rel=1e-11)
        kl = mp.quad(lambda x: mp.e ** _log_density(q, x) * (mp.expm1(ratio(x)) - ratio(x)), edges)
        assert float(law.kl()) == pytest.approx(float(kl), rel=1e-11)


@pytest.mark.parametrize(("d", "a"), [(60.0, -3.0), (60.0, 0.25), (5000.0, 0.5), (5000.0, 2.0)])
def test_moments_of_a_wide_shift(d: float, a: float) -> None:
    """For two Laplaces ∫p0^{1−a}p1^a, the density (1+|x|)e^{−|x|}/4, by mpmath about each end."""
    with mp.workdps(20):
        reach = 80 + 4 * mp.sqrt(2 * abs(a) * (1 + d))
        off = [reach / 2**k for k in range(9)]
        places = sorted({-v for v in off} | {mpf(0), mpf(d) / 2, mpf(d)} | {mpf(d) + v for v in off})
        places = sorted({*places, *(v for v in off if v < d / 2), *(d - v for v in off if v < d / 2)})

        def f(x: mpf) -> mpf:
            return mp.e ** ((1 - mpf(a)) * _log_density(2, x) + mpf(a) * _log_density(2, x - mpf(d)))

        truth = float(mp.log(mp.quad(f, places)))
    assert float(LaplaceSumShift(2, np.asarray(d)).log_moment(np.asarray(a))) == pytest.approx(truth, rel=1e-11)


def truth(density: list[mpmath.mpf], shift: float, a: float) -> mpmath.mpf:
    """D_a by quadrature about the crest."""
    order, d = mpmath.mpf(a), mpmath.mpf(shift)

    def log_f(x: mpmath.mpf) -> mpmath.mpf:
        one, other = (mpmath.log(mpmath.polyval(density, z)) - z for z in (x, x - d))
        return (1 - order) * one + order * other

    about = mpmath.sqrt(order * (len(density) - 1) * d) + d
    crest = mpmath.findroot(lambda x: mpmath.diff(log_f, x, h=abs(x) * mpmath.mpf(10) ** -20), about)
    sd = 1 / mpmath.sqrt(-mpmath.diff(log_f, crest, 2, h=abs(crest) * mpmath.mpf(10) ** -12))
    top = log_f(crest)
    cuts = [crest + k * sd for k in range(-14, 17, 2)]
    return (top + mpmath.log(mpmath.quad(lambda x: mpmath.exp(log_f(x) - top), cuts))) / (order - 1)


@pytest.mark.parametrize("order", [1e8, 1e10, 1e12, 1e18, 1e30])
@pytest.mark.parametrize(("q", "shift"), [(2, 0.5), (2, 3.0), (4, 0.25), (4, 0.7)])
def test_high_orders(q: int, shift: float, order: float) -> None:
    # the convolution of q Laplaces: P = Σ_k (q−1+k)!/(k!·(q−1−k)!·2^k)·x^{q−1−k}/((q−1)!·2^q)
    with mpmath.workdps(60):
        unit = mpmath.factorial(q - 1) * mpmath.mpf(2) ** q
        density = [
            mpmath.factorial(q - 1 + k)
            / (mpmath.factorial(k) * mpmath.factorial(q - 1 - k) * mpmath.mpf(2) ** k)
            / unit
            for k in range(q)
        ]
        expected = float(truth(density, shift, order))
    law = LaplaceSumShift(q, np.asarray(shift))
    assert float(law.log_moment(np.asarray(order))) / (order - 1) == pytest.approx(expected, rel=1e-11)
    assert float(law.log_moment(np.asarray(1 - order))) / (order - 1) == pytest.approx(expected, rel=1e-11)


def test_where_both_ways_meet() -> None:
    for q, shift in ((2, 0.5), (3, 1e-3), (8, 2.0), (2, 100.0)):
        law = LaplaceSumShift(q, np.asarray(shift))
        orders = np.geomspace(1e3, 1e40, 38)
        divergence = np.asarray([float(law.log_moment(np.asarray(a))) / (a - 1) for a in orders])
        assert (np.diff(divergence) >= -1e-11 * shift).all()
        assert (divergence <= shift * (1 + 1e-15)).all()
        assert divergence[-1] == pytest.approx(shift, rel=1e-13)
        assert len({is_far_order(q, shift, a) for a in orders}) == 2


MP = mpmath.mp.clone()
MP.dps = 40


def _probit(log_p: mpmath.mpf) -> mpmath.mpf:
    """z with P(N > z) = p, by its logarithm."""
    start = MP.sqrt(-2 * log_p)
    return MP.findroot(lambda z: MP.log(MP.erfc(z / MP.sqrt(2)) / 2) - log_p, start - MP.log(start + 1) / (start + 1))


@pytest.mark.parametrize("shift", [0.3, 4.0, 100.0, 2500.0, 5000.0])
def test_two_laplaces(shift: float) -> None:
    """P(S > x) = e^{−x}(2 + x)/4; no test has a larger gap than that with equal errors."""
    d = MP.mpf(shift)
    gaps = [_probit(MP.log((2 + c) / 4) - c) + _probit(MP.log((2 + d - c) / 4) - d + c) for c in (d / 2, d * 3 / 5)]
    law = LaplaceSumShift(2, np.asarray(shift))
    assert float(law.psi()) == pytest.approx(float(gaps[0]), rel=1e-12)
    assert gaps[1] < gaps[0]
    assert float(law.practical(1e-6)) == float(law.psi())


def test_whatever_the_size() -> None:
    """Errors of e^{−2500} are no doubles: the index was 0 there, and 0.4 where 0.26 is true of much normal data."""
    assert el.attacks.differencing(epsilon=1e4).psi() == pytest.approx(141.09248146978, rel=1e-12)
    assert el.attacks.differencing(epsilon=1e4).mu(level=0.01) == pytest.approx(141.09248146978, rel=1e-12)
    assert float(LaplaceSumShift(2, np.asarray(1e-12)).psi()) == pytest.approx(np.sqrt(2 * np.pi) / 4 * 1e-12, rel=1e-9)
    law = NormalLaplaceShift(np.asarray(30.0), np.asarray(7.9))
    inside = float(law.profile(np.asarray(0.0)))
    assert float(law.psi()) == pytest.approx(float(2 * MP.sqrt(2) * MP.erfinv(inside)), rel=1e-12)


def test_lighter_tails_show() -> None:
    """Of P(X > x) = e^{−x²}/2 other tests have larger gaps, and the largest of those looked at is taken."""
    found = psi_by_equal_errors(lambda x: -x * x - np.log(2), 2.0, 1 - np.exp(-1.0))
    assert found > 2 * float(_probit(-1 - MP.log(2)))


def test_errors_below_doubles_of_pieces() -> None:
    """An average that clamps has a bounded loss: where no error is a double, that bounds ψ, which was 0."""
    few, many = (
        el.attacks.differencing_average(epsilon=e, n=5, value=1.0, mean=0.5, bounds=(0, 1)).psi()
        for e in (700.0, 5000.0)
    )
    assert few < many <= el.mechanisms.pure(epsilon=5000.0).psi()
