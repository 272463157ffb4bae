"""Paper 000 (Liu et al. 2019), corrected: every value of the reference sheet, §0 and §1."""

from __future__ import annotations

import math

import numpy as np
import pytest

import epsilens as el


def digits(value: float, printed: str) -> bool:
    """Agreement to half a unit of the last printed digit."""
    places = len(printed.split(".")[1])
    return abs(value - float(printed)) <= 0.5000001 * 10.0**-places


def prior_of(c: float) -> float:
    return 1 / (1 + c)


def classical(epsilon: float, delta: float) -> float:
    """σ for sensitivity 1; the sheet uses it beyond ε = 1 too, where the library refuses it."""
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


@pytest.mark.parametrize(
    ("m", "kl", "chernoff", "d2", "d5"),
    [
        (0.5, ".106530659713", ".0268564486858", ".200303896174", ".355265318405"),
        (1.0, ".367879441171", ".0945348918918", ".619123629999", ".853078014517"),
        (2.0, "1.13533528324", ".306852819440", "1.59577350059", "1.85305333682"),
    ],
)
def test_divergences_of_laplace(m: float, kl: str, chernoff: str, d2: str, d5: str) -> None:
    e = el.laplace(epsilon=m)
    assert digits(e.kl(), kl)
    assert digits(e.chernoff(), chernoff)
    assert digits(e.renyi(2.0), d2)
    assert digits(e.renyi(5.0), d5)


@pytest.mark.parametrize(
    ("epsilon", "alpha", "recall", "precision", "skewed"),
    [
        (0.5, 0.1, ".164872127070", ".622459331202", ".782600571623"),
        (1.0, 0.1, ".271828182846", ".731058578630", ".855806246191"),
        (1.0, 0.3, ".693433799024", ".698017119717", ".834623964310"),
        (2.0, 0.1, ".661661791908", ".868708131270", ".935261521507"),
        (5.0, 0.5, ".996631026500", ".665916320625", ".813157471500"),
    ],
)
def test_precision_and_recall(epsilon: float, alpha: float, recall: str, precision: str, skewed: str) -> None:
    e = el.laplace(epsilon=epsilon)
    assert digits(e.recall(alpha), recall)
    assert digits(e.precision(alpha), precision)
    assert digits(e.precision(alpha, prior_of(0.458)), skewed)


@pytest.mark.parametrize(
    ("epsilon", "beta", "c", "score"),
    [
        (1.0, 1.0, 1.0, ".709786615745"),
        (2.0, 1.0, 1.0, ".819095173184"),
        (5.0, 1.0, 1.0, ".958992024851"),
        (1.0, 0.5, 1.0, ".698859736654"),
        (2.0, 2.0, 1.0, ".861099239590"),
        (1.0, 2.0, 1.0, ".833333333333"),
        (2.0, 1.0, 0.8, ".837661654209"),
        (2.0, 1.0, 0.62, ".856661322074"),
        (2.0, 1.0, 0.458, ".876470928684"),
        (1.0, 1.0, 0.458, ".813669650122"),
    ],
)
def test_best_f_score(epsilon: float, beta: float, c: float, score: str) -> None:
    assert digits(el.laplace(epsilon=epsilon).fbeta(beta, prior_of(c)), score)


def test_the_f_score_turns_where_the_sheet_says() -> None:
    prior, turn = prior_of(0.458), 1.15795173
    floor = 2 / (2 + 0.458)
    assert el.laplace(epsilon=turn - 1e-6).fbeta(1.0, prior) == pytest.approx(floor, rel=1e-15)
    assert el.laplace(epsilon=turn + 1e-3).fbeta(1.0, prior) > floor * (1 + 1e-8)


TABLE_1 = {
    0.5: "0 .343509 .548810 .825833 1.420159 2.043796 3.003700 4.289911",
    0.6: "0 .326843 .541058 .830815 1.454001 2.107736 3.108311 4.433604",
    0.8: "0 0 0 .796996 1.462570 2.157471 3.209312 4.579715",
    1.0: "0 0 0 .715732 1.408613 2.128293 3.208825 4.602667",
    1.5: "0 0 0 0 0 1.884042 2.996915 4.415770",
    2.0: "0 0 0 0 0 0 2.691921 4.120012",
}
HEADER = (0.55, 0.58, 0.62, 0.67, 0.76, 0.83, 0.90, 0.95)
CELLS = [(b, f, cell) for b, row in TABLE_1.items() for f, cell in zip(HEADER, row.split(), strict=True)]


@pytest.mark.parametrize(("beta", "limit", "cell"), CELLS)
def test_table_1(beta: float, limit: float, cell: str) -> None:
    """Each cell chosen again; the blank ones, and the four the paper prints wrongly, are refused with their floor."""
    floor = (1 + beta**2) / (2 + beta**2)
    if cell == "0":
        with pytest.raises(el.NoSolutionError, match="no epsilon keeps fbeta") as refused:
            el.choose(el.laplace, "epsilon", at_most=limit, reading="fbeta", beta=beta)
        assert refused.value.floor == pytest.approx(floor, rel=1e-12)
        assert refused.value.floor > limit
    else:
        choice = el.choose(el.laplace, "epsilon", at_most=limit, reading="fbeta", beta=beta)
        assert digits(choice.value, cell)
        assert choice.experiment.fbeta(beta) <= limit
        assert el.laplace(epsilon=choice.value * (1 + 1e-10)).fbeta(beta) > limit


def test_entries_printed_wrongly_break_their_bound() -> None:
    for beta, limit, printed in ((0.5, 0.55, 0.22), (0.8, 0.62, 0.49), (1.5, 0.76, 1.17), (2.0, 0.83, 1.61)):
        assert el.laplace(epsilon=printed).fbeta(beta) > limit


@pytest.mark.parametrize(("mu", "score"), [(0.5, ".672853091034"), (1.0, ".719061539945"), (2.0, ".844290066882")])
def test_gaussian_f_score(mu: float, score: str) -> None:
    assert digits(el.gaussian(psi=mu).fbeta(), score)


def test_gaussian_f_score_does_not_saturate() -> None:
    """F1* − 2/3 is 4.3e-14 at ε = .5 and 6.58e-6 at ε = 1 (δ = 1e-5, classical σ)."""
    half = el.gaussian(sigma=classical(0.5, 1e-5))
    assert half.psi() == pytest.approx(0.103203322507, abs=6e-13)
    assert half.fbeta() - 2 / 3 == pytest.approx(4.3e-14, abs=4e-16)
    assert el.gaussian(sigma=classical(1.0, 1e-5)).fbeta() - 2 / 3 == pytest.approx(6.58e-6, abs=6e-9)


@pytest.mark.parametrize(
    ("epsilon", "sigma"),
    [
        (0.1, "30.749566132"),
        (0.5, "7.03182667558"),
        (1.0, "3.73063163482"),
        (2.0, "1.99381244564"),
        (5.0, ".891868264952"),
    ],
)
def test_analytic_sigma(epsilon: float, sigma: str) -> None:
    e = el.gaussian(epsilon=epsilon, delta=1e-5)
    assert digits(e.parameters["sigma"], sigma)
    assert e.delta(epsilon) <= 1e-5
    assert el.gaussian(epsilon=epsilon, delta=1e-5, sensitivity=4.0).parameters["sigma"] == pytest.approx(
        4 * e.parameters["sigma"], rel=1e-15
    )


def test_classical_sigma_is_refused_where_it_is_not_proven() -> None:
    assert classical(1.0, 1e-5) == pytest.approx(4.844805263, abs=6e-10)
    e = el.gaussian(epsilon=0.5, delta=1e-5, calibration="classical")
    assert e.parameters["sigma"] == pytest.approx(classical(0.5, 1e-5), rel=1e-15)
    for epsilon in (1.0, 2.0, 5.0):
        with pytest.raises(el.InputError, match="proven only for"):
            el.gaussian(epsilon=epsilon, delta=1e-5, calibration="classical")


def test_precision_and_recall_of_the_gaussian() -> None:
    e = el.gaussian(sigma=classical(1.0, 1e-5))
    assert digits(e.recall(0.05), ".0751536351615")
    assert digits(e.precision(0.05), ".600491029002")


@pytest.mark.parametrize(
    ("epsilon", "shift", "delta"), [(0.1, 1.0, 1.86777e-3), (0.5, 1.0, 1.46517e-5), (1.0, 10.0, 2.81911e-2)]
)
def test_the_printed_sigma_misses_its_delta(epsilon: float, shift: float, delta: float) -> None:
    """σ² = 2·log(1.25/δ)·ΔQ/ε, as printed, does not give 1e-5."""
    sigma = math.sqrt(2 * math.log(1.25e5) * shift / epsilon)
    assert el.gaussian(sigma=sigma, sensitivity=shift).delta(epsilon) == pytest.approx(delta, rel=5e-6)


def test_likelihood_ratio_of_the_paper() -> None:
    """λ(α) = clip(e^{−ε}/(4α²), e^{−ε}, e^ε), as the slope of the curve: 2.71828 at α = .01, .367879 at α = .9."""
    e = el.laplace(epsilon=1.0)
    for alpha, slope in ((0.01, 2.71828), (0.9, 0.367879)):
        assert (e.roc(alpha + 1e-6) - e.roc(alpha - 1e-6)) / 2e-6 == pytest.approx(slope, abs=6e-6)
    psi = 0.0  # the threshold at Q': recall .816060, printed −.359141
    assert e.recall(0.5 * math.exp(-psi)) == pytest.approx(0.816060, abs=6e-7)


def test_vectors_with_l1_sensitivity_are_the_scalar_case() -> None:
    """Theorem 4: the whole shift in one coordinate is the worst; TV .393469, not that of qε (.632121)."""
    assert el.laplace(epsilon=1.0).advantage() == pytest.approx(0.393469, abs=6e-7)
    assert el.laplace(epsilon=2.0).advantage() == pytest.approx(0.632121, abs=6e-7)
    assert el.laplace(epsilon=3.0).advantage() == pytest.approx(0.776870, abs=6e-7)
    assert el.laplace(epsilon=10.0).advantage() == pytest.approx(0.993262, abs=6e-7)
    assert el.mechanisms.pure(epsilon=2.0).advantage() == pytest.approx(math.tanh(1.0), rel=1e-15)


def test_inverse_of_the_f_score() -> None:
    """ε(F) = log(c·t(1+t)/β²), t = β²F/((1+β²)(1−F)), over priors."""
    for beta, c, limit in ((1.0, 0.8, 0.9), (0.5, 2.0, 0.7), (2.0, 0.458, 0.97)):
        t = beta**2 * limit / ((1 + beta**2) * (1 - limit))
        choice = el.choose(el.laplace, "epsilon", at_most=limit, reading="fbeta", beta=beta, prior=prior_of(c))
        assert choice.value == pytest.approx(math.log(c * t * (1 + t) / beta**2), rel=1e-12)


def test_the_optimal_point_of_the_f_score() -> None:
    """recall = s/(s+1), FPR = β²/(c(s−1)); the posterior there is F/(1+β²)."""
    for epsilon, beta, c in ((2.0, 1.0, 1.0), (3.0, 0.5, 0.8), (2.5, 2.0, 2.0)):
        e = el.laplace(epsilon=epsilon)
        s = math.sqrt(1 + 4 * beta**2 * math.exp(epsilon) / c)
        alpha = beta**2 / (c * (s - 1))
        assert e.recall(alpha) == pytest.approx(s / (s + 1), rel=1e-13)
        r = e.recall(alpha)
        assert (1 + beta**2) * r / (r + c * alpha + beta**2) == pytest.approx(e.fbeta(beta, prior_of(c)), rel=1e-13)
        ratio = math.exp(-epsilon) / (4 * alpha**2)
        assert ratio / (ratio + c) == pytest.approx(e.fbeta(beta, prior_of(c)) / (1 + beta**2), rel=1e-12)


def test_two_worlds_of_lee_and_clifton() -> None:
    """π = 1/n: posterior ≤ 1/(1+(n−1)e^{−ε·shift})."""
    for n, epsilon, ratio, bound in (
        (120, 1.0, 60 / 121, ".0136098828391"),
        (120, 5.0, 60 / 121, ".0911407977678"),
        (120, 10.0, 60 / 121, ".544768336280"),
        (4, 1.0, 1.0, ".475366886419"),
    ):
        assert digits(el.laplace(epsilon=epsilon, shift=ratio).posterior(1 / n), bound)
    chosen = el.choose(el.laplace, "epsilon", at_most=1 / 3, reading="posterior", prior=1 / 120, given={"shift": 0.5})
    assert chosen.value == pytest.approx(8.1719526251, abs=6e-11)


def test_paper_001_on_one_known_query() -> None:
    known = {
        0.01: ".502493760404",
        0.1: ".524385287750",
        0.5: ".610599608464",
        1.0: ".696734670144",
        2.0: ".816060279414",
        5.0: ".958957500688",
        10.0: ".996631026500",
        20.0: ".999977300035",
    }
    for epsilon, success in known.items():
        assert digits(el.laplace(epsilon=epsilon).success(), success)
    for limit, chosen in (
        (0.51, ".040405414635"),
        (0.55, ".210721031316"),
        (0.75, "1.38629436112"),
        (0.9, "3.21887582487"),
    ):
        assert digits(el.choose(el.laplace, "epsilon", at_most=limit).value, chosen)
    e = el.laplace(epsilon=2.0)
    for alpha, recall, precision in ((0.5, ".932332358", ".650919008"), (0.999, ".999864665", ".500216289"),
                                     (1e-4, ".000738905610", ".880797078")):  # fmt: skip
        assert digits(e.recall(alpha), recall)
        assert digits(e.precision(alpha), precision)
    assert np.isclose(el.gaussian(sigma=classical(1.0, 1e-5)).success(), 0.541099198492, atol=6e-13, rtol=0)
