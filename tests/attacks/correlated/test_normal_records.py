"""Jointly normal records against the reference sheet (papers-002-004.md §B.1, §C(a), §C(c)), quadrature and mpmath."""

from __future__ import annotations

import json
import math
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import epsilens as el
from epsilens import InputError, NoSolutionError
from epsilens.attacks.correlated import Contribution, normal, worst_of

R = np.array([[1, 0.5, -0.3, 0.2], [0.5, 1, 0.1, 0.4], [-0.3, 0.1, 1, -0.2], [0.2, 0.4, -0.2, 1]])
S5 = np.array(
    [
        [1, -0.5, 0.3, 0.4, 0],
        [-0.5, 1, 0.2, -0.3, 0.1],
        [0.3, 0.2, 1, 0.5, -0.4],
        [0.4, -0.3, 0.5, 1, -0.2],
        [0, 0.1, -0.4, -0.2, 1],
    ]
)


def equal(n: int, rho: float) -> Any:
    return np.full((n, n), rho) + (1 - rho) * np.eye(n)


# -- one adversary ----------------------------------------------------------------------------------------------


def test_references_of_one_adversary() -> None:
    m = normal(R)
    for target, known, beta in ((0, (), 1.4), (0, (2,), 1.736263736), (0, (2, 3), 1.526932084), (1, (), 2.0), (2, (0, 3), 1.330210773)):  # fmt: skip  # noqa: E501
        assert m.leakage(target, known, scale=1.0) == pytest.approx(beta, abs=6e-10)
    assert m.adversary(0).own ** 2 == pytest.approx(3.44, abs=1e-12)
    assert m.adversary(0, [2]).own ** 2 == pytest.approx(2.296703297, abs=6e-10)
    for target, known, psi in ((0, (), 0.664410597), (0, (2,), 0.956259502), (1, (), 1.290994449)):
        assert m.experiment(target, known, sigma=1.0).psi() == pytest.approx(psi, abs=6e-10)


def test_corollary_2_and_example_5() -> None:
    """K = ∅: |Σ_j Σ_ij|/Σ_ii·M/λ; two records: |1+ρ|M/λ against M/λ."""
    m = normal(S5 * 2.5, reach=3.0)
    for i in range(5):
        assert m.leakage(i, scale=0.7) == pytest.approx(abs(S5[i].sum()) * 3 / 0.7, rel=1e-14)
        everyone = [j for j in range(5) if j != i]
        assert m.leakage(i, everyone, scale=0.7) == pytest.approx(3 / 0.7, rel=1e-14)
        assert m.adversary(i, everyone).own == 0
    for rho in (-0.9, 0.0, 0.4):
        pair = normal([[1, rho], [rho, 1]], reach=2.0)
        assert pair.leakage(0, scale=0.5) == pytest.approx(abs(1 + rho) * 4, rel=1e-15)
        assert pair.leakage(0, [1], scale=0.5) == pytest.approx(4, rel=1e-15)


def test_three_forms_agree() -> None:
    """Theorem 6: [Σ_AA⁻¹Σ_A·a]_i = a_i − a_UᵀΛ_UU⁻¹Λ_Ui = Cov(S, x_i|K)/Var(x_i|K), zero weights included."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(6, 9))
    cov, a = x @ x.T, np.array([0.0, 1.2, -0.7, 2.0, 0.0, -1.1])
    prec = np.linalg.inv(cov)
    for i, known in ((0, (2,)), (0, (1, 3, 5)), (3, ()), (4, (0, 1, 2)), (5, (0, 4))):
        first = [i, *known]
        unknown = [j for j in range(6) if j not in first]
        beta = np.linalg.solve(cov[np.ix_(first, first)], cov[first] @ a)[0]
        other = a[i] - a[unknown] @ np.linalg.solve(prec[np.ix_(unknown, unknown)], prec[unknown, i])
        assert beta == pytest.approx(other, rel=1e-12)
        assert normal(cov, a).leakage(i, known, scale=1.0) == pytest.approx(abs(beta), rel=1e-13)
    assert normal(cov, a).leakage(0, scale=1.0) > 0  # a record outside the query leaks through the others


def test_extended_precision() -> None:
    """Correlations within 1e-9 of 1 still give twelve digits."""
    n, rho = 5, 1 - 1e-9
    cov = equal(n, rho) + np.diag(np.linspace(0, 1e-9, n))
    a = np.array([1.0, -2.0, 0.5, 3.0, -1.0])
    with mpmath.workdps(60):
        exact = mpmath.matrix(cov.tolist())
        given = [1, 3]
        first = [0, *given]
        block = mpmath.matrix([[exact[i, j] for j in first] for i in first])
        right = mpmath.matrix([mpmath.fsum(exact[i, j] * a[j] for j in range(n)) for i in first])
        beta = abs(mpmath.lu_solve(block, right)[0])
    assert normal(cov, a).leakage(0, given, scale=1.0) == pytest.approx(float(beta), rel=1e-8)


def test_leakage_broadcasts_over_the_scale() -> None:
    got = normal(R).leakage(1, scale=np.array([0.5, 1.0, 4.0]))
    assert got.tolist() == [4.0, 2.0, 0.5]
    assert isinstance(normal(R).leakage(1, scale=1), float)


# -- experiments ------------------------------------------------------------------------------------------------


def test_laplace_noise_agrees_with_quadrature() -> None:
    m = normal(R * 1.7, weights=[1, -0.5, 2, 0], reach=[1, 2, 1, 1.5])
    for target, known, scale in ((0, (), 1.0), (1, (2,), 0.3), (3, (), 2.0), (2, (0,), 0.8)):
        shift, own = m.adversary(target, known)
        e = m.experiment(target, known, scale=scale)

        def density(r: float, own: float = own, scale: float = scale) -> float:
            def part(x: float) -> float:
                return float(norm.pdf(x, scale=own)) * math.exp(-abs(r - x) / scale) / (2 * scale)

            return float(quad(part, -12 * own, 12 * own, points=(r,) if abs(r) < 12 * own else None, limit=300)[0])

        half = quad(density, -shift / 2, shift / 2, limit=100, epsrel=1e-9)[0]
        assert e.advantage() == pytest.approx(half, rel=2e-7)
        assert e.success() == pytest.approx((1 + half) / 2, rel=2e-7)
        assert e.epsilon() == pytest.approx(m.leakage(target, known, scale=scale), rel=1e-15)
        assert "assumption" in e.notes[0]


def test_sheet_values_of_the_normal_laplace_shift() -> None:
    """§C(c), h = 1.5 and σ₀ = λ = 1: reached by a model with exactly that shift and own randomness."""
    e = normal([[1.0, 0.0], [0.0, 1.0]], weights=[1.5, 1.0]).experiment(0, scale=1.0)
    assert (e.parameters["shift"], e.parameters["own_noise"]) == (1.5, 1.0)
    for epsilon, delta in ((0, 0.3740376635), (0.5, 0.2185419223), (1, 0.0808202292), (1.4, 0.0075648301)):
        assert e.delta(epsilon) == pytest.approx(delta, abs=1e-10)
    assert e.tradeoff(0.05) == pytest.approx(0.7964771742, abs=1e-10)


def test_gaussian_noise_is_psi() -> None:
    m = normal(S5)
    shift, own = m.adversary(2, (1,))
    e = m.experiment(2, (1,), sigma=0.5)
    psi = shift / math.hypot(0.5, own)
    assert e.psi() == pytest.approx(psi, rel=1e-15)
    assert e.delta(1.0) == pytest.approx(el.gaussian(psi=psi).delta(1.0), rel=1e-12)
    assert e.epsilon() == math.inf
    assert "assumption" in e.notes[0]


def test_without_own_noise_nothing_is_counted() -> None:
    m = normal(S5)
    shift, _ = m.adversary(2, (1,))
    cautious = m.experiment(2, (1,), scale=0.5, own_noise=False)
    assert cautious.success() == pytest.approx(el.laplace(epsilon=shift / 0.5).success(), rel=1e-14)
    assert not cautious.notes
    for reading in ("success", "advantage", "auc", "psi", "kl", "chernoff"):
        assert getattr(cautious, reading)() >= getattr(m.experiment(2, (1,), scale=0.5), reading)()
    assert m.experiment(2, (1,), sigma=0.5, own_noise=False).psi() == pytest.approx(shift / 0.5, rel=1e-15)


def test_experiments_are_told() -> None:
    e = normal(R, names=["Ana", "Bo", "Čeda", "D"]).experiment("Ana", ["Čeda"], scale=1.0)
    assert "Ana" in str(e)
    json.dumps(e.to_dict(), allow_nan=False)
    assert normal(np.eye(2), weights=[0, 1]).experiment(0, scale=1.0).success() == 0.5  # nothing to see


# -- the worst --------------------------------------------------------------------------------------------------


def test_worst_references() -> None:
    w = normal(R).worst(scale=1.0)
    assert w.leakage == pytest.approx(2.0, abs=1e-14)
    assert (w.target, w.known) == (1, ())
    assert normal(R).worst(sigma=1.0).psi == pytest.approx(1.309782714, abs=6e-10)
    w = normal(S5).worst(scale=1.0)
    assert w.leakage == pytest.approx(2.162790698, abs=6e-10)
    assert (w.target, w.known) == (2, (1, 4))
    assert w.complete
    assert w.upper == w.leakage
    assert normal(S5).worst(scale=1.0, known_at_most=0).leakage == pytest.approx(1.6, abs=1e-12)
    w = normal(S5).worst(sigma=1.0)
    assert w.psi == pytest.approx(1.496616581, abs=6e-10)
    assert (w.target, w.known) == (2, (1, 4))


def test_pairwise_positive_is_not_enough() -> None:
    cov = [[1, 0.112, 0.053], [0.112, 1, 0.997], [0.053, 0.997, 1]]
    w = normal(cov).worst(scale=1.0)
    assert w.leakage == pytest.approx(10.87464530, abs=6e-9)
    assert (w.target, w.known) == (1, (2,))
    assert normal(cov).worst(scale=1.0, known_at_most=0).leakage == pytest.approx(2.109, abs=6e-4)


def test_figure_4() -> None:
    """n = 15, ρ = .8: layer ℓ is (1+14ρ)/(1+(15−ℓ)ρ); ρ = −.8 cannot exist."""
    curve = normal(equal(15, 0.8)).by_known(scale=1.0)
    assert [len(w.known) for w in curve] == list(range(15))
    for layer, value in ((1, 1.0), (5, 1.355556), (10, 2.44), (15, 12.2)):
        assert curve[15 - layer].leakage == pytest.approx(value, abs=5e-7)
    for k in range(15):
        assert curve[k].leakage == pytest.approx((1 + 14 * 0.8) / (1 + k * 0.8), rel=1e-12)
    with pytest.raises(
        InputError, match=r"cannot all have correlation -0.8 .* above −1/14 = -0.07143 .*eigenvalue is -10.2"
    ):
        normal(equal(15, -0.8))


def test_ar1_closed_form() -> None:
    """β = 1 + h_L + h_R (sheet C(a) 4); a negative φ gives at most 1."""
    n, phi = 40, 0.6
    cov = phi ** np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    m = normal(cov)
    for i, left, right in ((10, 3, 5), (20, None, 4), (0, None, 7), (5, 1, 1)):

        def side(distance: int | None, rest: int) -> float:
            if distance is None:
                return phi * (1 - phi**rest) / (1 - phi)
            return phi * (1 - phi ** (distance - 1)) / ((1 - phi) * (1 + phi**distance))

        known = [j for j in (None if left is None else i - left, i + right) if j is not None]
        assert m.leakage(i, known, scale=1.0) == pytest.approx(1 + side(left, i) + side(right, n - 1 - i), rel=1e-12)
    w = m.worst(scale=1.0)
    assert w.method.startswith("closed form")
    assert w.known == ()
    negative = normal((-phi) ** np.abs(np.subtract.outer(np.arange(n), np.arange(n))))
    assert negative.worst(scale=1.0).leakage == pytest.approx(1.0, abs=1e-12)


def test_worst_of_a_set_of_models() -> None:
    models = [normal(equal(4, rho)) for rho in (-0.2, 0.3, 0.6)]
    w = worst_of(models, scale=2.0)
    assert w.model == 2
    assert w.leakage == pytest.approx((1 + 3 * 0.6) / 2, rel=1e-14)
    assert w.examined == sum(m.worst(scale=2.0).examined for m in models)
    with pytest.raises(InputError, match=r"models is \[\]: give at least one model"):
        worst_of([], scale=1.0)


def test_worst_is_told() -> None:
    w = normal(S5, names=[f"<{c}>" for c in "abcde"]).worst(scale=1.0)
    assert str(w).startswith(
        "For someone who knows <b> and <e>, an even belief (50 of 100) about <c> can become 90 of 100"
    )
    assert "independent, 74 of 100" in str(w)
    assert "&lt;c&gt;" in w._repr_html_()
    assert json.loads(json.dumps(w.to_dict(), allow_nan=False))["known_names"] == ["<b>", "<e>"]
    with pytest.raises(InputError, match="psi is for Gaussian noise"):
        _ = w.psi
    assert " guesses right 78 times of 100 between two values of " in str(normal(S5).worst(sigma=1.0))


def test_one_target_only() -> None:
    for i in range(5):
        every = [
            normal(S5).leakage(i, [j for j in range(5) if mask >> j & 1], scale=1.0)
            for mask in range(32)
            if not mask >> i & 1
        ]
        assert normal(S5).worst(scale=1.0, target=i).leakage == pytest.approx(max(every), rel=1e-12)


# -- choosing and contributions ---------------------------------------------------------------------------------


def test_choose_by_leakage_is_closed() -> None:
    c = normal(S5).choose(at_most=0.5)
    assert c.value == pytest.approx(2.162790698 / 0.5, rel=1e-9)
    assert (c.parameter, c.method) == ("scale", "closed form")
    assert normal(S5).worst(scale=c.value).leakage <= 0.5
    assert c.experiment.parameters["known"] == [1, 4]
    json.dumps(c.to_dict(), allow_nan=False)
    str(c)


@pytest.mark.parametrize(
    ("reading", "arguments", "limit"),
    [
        ("success", {"prior": 0.5}, 0.56),
        ("success", {"prior": 0.1}, 0.905),
        ("roc", {"fpr": 0.01}, 0.05),
        ("delta", {"epsilon": 0.5}, 0.02),
        ("auc", {}, 0.6),
    ],
)
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_choose_holds_for_every_adversary(reading: str, arguments: dict[str, Any], limit: float, noise: str) -> None:
    m = normal(S5 * 0.4, weights=[1, 0.3, 1, -0.6, 0])
    c = m.choose(reading=reading, at_most=limit, noise=noise, **arguments)
    width = {c.parameter: c.value}
    most = 0.0
    for i in range(5):
        for mask in range(32):
            if not mask >> i & 1:
                e = m.experiment(i, [j for j in range(5) if mask >> j & 1], **width)  # type: ignore[arg-type]
                most = max(most, getattr(e, reading)(**arguments))
    assert most <= limit
    assert most == pytest.approx(limit, rel=1e-9)


def test_the_largest_leakage_need_not_guess_best() -> None:
    """With little noise the adversary who knows all others guesses best, though another has the larger leakage."""
    m = normal([[1, 0.3], [0.3, 1]])
    c = m.choose(reading="success", at_most=0.8, noise="laplace")
    assert m.worst(scale=c.value).known == ()
    assert c.experiment.parameters["known"] == [1]
    assert m.experiment(0, scale=c.value).success() < 0.8


def test_cautious_choices() -> None:
    m = normal(S5)
    cautious = m.choose(reading="success", at_most=0.6, own_noise=False)
    assert cautious.value >= m.choose(reading="success", at_most=0.6).value
    same = el.choose(m.mechanism, "scale", reading="success", at_most=0.6)
    assert same.value == pytest.approx(cautious.value, rel=1e-12)
    with pytest.raises(InputError, match="unbounded under Gaussian noise"):
        m.choose(at_most=1.0, noise="gaussian")
    with pytest.raises(NoSolutionError, match=r"even pure noise reaches 0\.5"):
        m.choose(reading="success", at_most=0.4)
    with pytest.raises(InputError, match="no record moves the answer"):
        normal(np.eye(2), weights=[0, 0]).choose(at_most=1.0)
    with pytest.raises(InputError, match="does not take 'prior'"):
        m.choose(at_most=1.0, prior=0.5)


def test_choose_beyond_enumeration_says_so() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(27, 54))
    m = normal(x @ x.T / 54)
    c = m.choose(reading="success", at_most=0.6)
    assert "not counted" in c.note
    assert c.value == pytest.approx(m.worst(scale=1.0).leakage / (-2 * math.log(2 * 0.4)), rel=1e-9)


def test_contributions() -> None:
    found = normal(S5).contributions(scale=1.0)
    assert all(isinstance(c, Contribution) for c in found)
    assert [c.contribution for c in found] == sorted((c.contribution for c in found), reverse=True)
    for c in found:
        cut = S5.copy()
        cut[c.record, :] = cut[:, c.record] = 0
        cut[c.record, c.record] = 1
        assert c.without == pytest.approx(normal(cut).worst(scale=1.0).leakage, rel=1e-12)
    # a record whose negative correlation hides another
    hiding = normal([[1, 0.5, -0.7], [0.5, 1, -0.7], [-0.7, -0.7, 1]]).contributions(scale=1.0)[-1]
    assert hiding.record == 2
    assert hiding.without == pytest.approx(1.5, rel=1e-12)
    assert hiding.contribution < -0.3
    assert "take away" in str(hiding)
    json.dumps([c.to_dict() for c in found], allow_nan=False)
    assert "correlations of" in str(found[0])


# -- bad input --------------------------------------------------------------------------------------------------

BAD = [
    ([[1, 2, 3], [1, 2, 3]], {}, r"cov has shape \(2, 3\): give a square matrix"),
    ([1.0, 2.0], {}, "give a square matrix"),
    (np.empty((0, 0)), {}, "cov is empty"),
    ([[1, 0.5], [0.4, 1]], {}, r"not symmetric: cov\[0, 1\] is 0.5 and cov\[1, 0\] is 0.4"),
    ([[1, math.nan], [math.nan, 1]], {}, "cov contains NaN"),
    ([[1, math.inf], [math.inf, 1]], {}, "cov is infinite"),
    ([[1, 0], [0, 0]], {}, r"cov\[1, 1\] is 0: a variance must be above 0"),
    ([[1, 2], [2, 1]], {}, "smallest eigenvalue of its correlations is -1"),
    ([[1, 1], [1, 1]], {}, "not positive definite"),
    ([["a"]], {}, "give a number"),
    ([[1, 0], [0]], {}, "rows of different lengths"),
    (np.eye(2), {"weights": [1, 2, 3]}, r"weights has shape \(3,\): give one weight for each of the 2 records"),
    (np.eye(2), {"weights": [1, math.nan]}, "weights contains NaN"),
    (np.eye(2), {"reach": -1.0}, "reach is -1: give a number above 0"),
    (np.eye(2), {"reach": [1, 0]}, "reach is 0: give a number above 0"),
    (np.eye(2), {"reach": [1, 1, 1]}, r"reach has shape \(3,\)"),
    (np.eye(2), {"reach": 1e-120}, "too many orders of magnitude"),
    (np.eye(2), {"names": ["a"]}, "names has 1 entries for 2 records"),
    (np.eye(2), {"names": "ab"}, "give one text per record"),
    (np.eye(2), {"names": 3}, "names is 3: give one text per record"),
    (np.eye(2), {"weights": [1e-70, 1]}, "too many orders of magnitude"),
]  # fmt: skip


@pytest.mark.parametrize(("cov", "more", "message"), BAD)
def test_bad_models(cov: Any, more: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as e:
        normal(cov, **more)
    assert "\n" not in str(e.value)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda m: m.leakage(4), "target is 4: give a whole number from 0 to 3"),
        (lambda m: m.leakage(-1), "target is -1"),
        (lambda m: m.leakage(0.5), "target is 0.5"),
        (lambda m: m.leakage("nobody"), "target is 'nobody': give one of record 0"),
        (lambda m: m.leakage(0, [0]), "record 0 is both the target and known"),
        (lambda m: m.leakage(0, [9]), "known is 9"),
        (lambda m: m.leakage(0, 1), "known is 1: give a list of records"),
        (lambda m: m.leakage(0, "record 1"), "known is 'record 1': give a list of records"),
        (lambda m: m.leakage(0, scale=0), "scale is 0: give a number above 0"),
        (lambda m: m.leakage(0, scale=math.nan), "scale contains NaN"),
        (lambda m: m.experiment(0), "exactly one of scale"),
        (lambda m: m.experiment(0, scale=1, sigma=1), "exactly one of scale"),
        (lambda m: m.experiment(0, scale=1e-9), "give noise of at least 0.0001 times the shift"),
        (lambda m: m.experiment(0, scale=1, own_noise=1), "own_noise is 1: give True or False"),
        (lambda m: m.worst(), "exactly one of scale"),
        (lambda m: m.worst(scale=1, own_noise="no"), "own_noise is 'no'"),
        (lambda m: m.worst(scale=1, time_limit=0), "time_limit is 0"),
        (lambda m: m.worst(scale=1, known_at_most=-1), "known_at_most is -1"),
        (lambda m: m.worst(scale=1, target=7), "target is 7"),
        (lambda m: m.choose(at_most=1, noise="pink"), "noise is 'pink'"),
        (lambda m: m.choose(at_most=1, reading="colour"), "there is no reading 'colour'"),
        (lambda m: m.choose(at_most=1, reading=np.array([])), "give the name of a reading"),
        (lambda m: worst_of(3, scale=1.0), "models is 3: give at least one model"),  # type: ignore[arg-type]
        (lambda m: worst_of([m, "x"], scale=1.0), "give at least one model"),
    ],
)
def test_bad_questions(ask: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as e:
        ask(normal(R))
    assert "\n" not in str(e.value)


def test_too_many_records_need_a_time_limit() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(61, 122))
    m = normal(x @ x.T / 122)
    with pytest.raises(InputError, match=r"61 records .* give a time_limit"):
        m.worst(scale=1.0)
    with pytest.raises(InputError, match=r"61 records .* give a time_limit"):
        m.by_known(scale=1.0)
    w = m.worst(scale=1.0, time_limit=0.3)
    assert w.leakage <= w.upper < math.inf
    assert w.complete == (w.leakage == w.upper)
    if not w.complete:
        assert "at most" in str(w)
    assert m.leakage(w.target, w.known, scale=1.0) == pytest.approx(w.leakage, rel=1e-12)


def test_a_data_frame_brings_its_names() -> None:
    pandas = pytest.importorskip("pandas")
    m = normal(pandas.DataFrame(R, columns=["a", "b", "c", "d"]))
    assert m.names == ("a", "b", "c", "d")
    assert m.leakage("a", {"c": 1.5}) == pytest.approx(1.736263736, abs=6e-10)  # values do not matter, names do


@pytest.mark.parametrize("sigma", [1e-300, 1e-90, 1e90, 1e300])
def test_noise_far_beyond_the_data(sigma: float) -> None:
    """σ² under- or overflows; ψ of the worst is the largest weight over σ, or the largest shift over σ."""
    most = 1.0 if sigma < 1 else 2.0  # of R: all others known, or record 1 with nothing known
    for own_noise, shift in ((True, most), (False, 2.0)):
        assert normal(R).worst(sigma=sigma, own_noise=own_noise).psi * sigma == pytest.approx(shift, rel=1e-12)
    curve = normal(R).by_known(sigma=sigma)
    assert curve[-1].psi * sigma == pytest.approx(1.0, rel=1e-12)
    assert max(w.psi for w in curve) * sigma == pytest.approx(most, rel=1e-12)


def test_unlike_reaches_of_a_nearly_singular_covariance() -> None:
    """In units of the reaches the covariance rounds, and 1/eigenvalue magnifies that: read before the change."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=(5, 4))
    cov, reach = x @ x.T + 1e-9 * np.eye(5), 10.0 ** rng.uniform(-2, 2, size=5)
    m = normal(cov, reach=reach)
    with mpmath.workdps(60):
        exact = mpmath.matrix(cov.tolist())
        for target, known in ((0, ()), (1, (0, 3)), (4, (0, 1, 2))):
            first = [target, *known]
            block = mpmath.matrix([[exact[i, j] for j in first] for i in first])
            right = mpmath.matrix([mpmath.fsum(exact[i, j] for j in range(5)) for i in first])
            beta = abs(mpmath.lu_solve(block, right)[0]) * mpmath.mpf(float(reach[target]))
            assert m.leakage(target, known) == pytest.approx(float(beta), rel=1e-13)
    worst = m.worst(scale=1.0)
    assert m.choose(at_most=0.7).value == pytest.approx(worst.upper / 0.7, rel=1e-14)


def test_one_record() -> None:
    m = normal([[4.0]], weights=[-2.0], reach=3.0)
    assert m.worst(scale=1.0).leakage == 6.0
    assert m.worst(sigma=2.0).psi == 3.0
    assert [w.leakage for w in m.by_known(scale=2.0)] == [3.0]
    assert m.contributions(scale=1.0)[0].contribution == 0.0


def test_models_are_frozen() -> None:
    given = np.eye(2)
    m = normal(given)
    given[0, 1] = 5.0
    assert m.cov[0, 1] == 0
    with pytest.raises(ValueError, match="read-only"):
        m.cov[0, 0] = 2.0
    with pytest.raises(AttributeError):
        m.cov = given  # type: ignore[misc]
    assert el.correlated.normal is normal
