"""Every enclosure holds the value that quadrature, enumeration or another closed form gives."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import arb
from scipy import integrate, stats

from epsilens_checker import __main__, inversion, laws
from epsilens_checker.__main__ import judge
from epsilens_checker.certificate import Certificate, read, release
from epsilens_checker.readings import enclose

Release = dict[str, Any]
NORMAL: Release = {"mechanism": "gaussian", "sigma": "1.5"}
SAMPLED: Release = {"mechanism": "gaussian", "sigma": "1", "rate": "0.01"}
LAPLACE: Release = {"mechanism": "laplace", "scale": "2"}


def ends(releases: list[Release], relation: str, reading: str, at: str = "0") -> tuple[float, float]:
    made = [release(one, doubles=True) for one in releases]
    value = enclose(made, relation, reading, Fraction(at))
    return float(value.lower()), float(value.upper())


def close(found: tuple[float, float], truth: float, relative: float) -> bool:
    return math.isclose(found[0], truth, rel_tol=relative) and math.isclose(found[1], truth, rel_tol=relative)


def normal_delta(mu: float, eps: float) -> float:
    return float(stats.norm.sf(eps / mu - mu / 2) - math.exp(eps) * stats.norm.sf(eps / mu + mu / 2))


def hockey(p: Callable[[float], float], q: Callable[[float], float], t: float, breaks: list[float]) -> float:
    """The integral of (p - t q)+ on the line, by quadrature between the breaks."""
    edges = [-99.0, -40.0, *sorted(breaks), 40.0, 99.0]
    return math.fsum(
        integrate.quad(lambda x: max(0.0, p(x) - t * q(x)), a, b, epsabs=1e-16, epsrel=1e-12, limit=400)[0]
        for a, b in itertools.pairwise(edges)
    )


def test_normal_noise_of_many_releases_is_one() -> None:
    assert close(ends([{**NORMAL, "count": "5"}, {**NORMAL, "people": "2"}], "both", "delta", "1"),
                 normal_delta(3 / 1.5, 1.0), 1e-12)  # fmt: skip
    assert ends([NORMAL], "both", "advantage")[0] == pytest.approx(2 * stats.norm.cdf(1 / 3) - 1, rel=1e-13)
    assert ends([NORMAL], "both", "success")[0] == pytest.approx(stats.norm.cdf(1 / 3), rel=1e-13)


@pytest.mark.parametrize("at", ["1e-9", "0.01", "0.5"])
def test_the_misses_of_normal_and_laplace_noise(at: str) -> None:
    alpha = float(at)
    assert close(ends([NORMAL], "remove", "fnr", at), stats.norm.cdf(stats.norm.isf(alpha) - 1 / 1.5), 1e-12)
    r = 0.5
    middle = math.exp(-r) / (4 * alpha) if alpha <= 0.5 else math.exp(-r) * (1 - alpha)
    beta = 1 - math.exp(r) * alpha if alpha < math.exp(-r) / 2 else middle
    assert close(ends([LAPLACE], "remove", "fnr", at), beta, 1e-12)


@pytest.mark.always
@pytest.mark.parametrize("people", [1, 3])
@pytest.mark.parametrize("relation", ["remove", "add"])
def test_one_sampled_release(people: int, relation: str) -> None:
    q, eps = 0.01, 0.02
    shares = [math.comb(people, j) * q**j * (1 - q) ** (people - j) for j in range(people + 1)]

    def mixed(x: float) -> float:
        return float(sum(b * stats.norm.pdf(x, j) for j, b in enumerate(shares)))

    plain = stats.norm.pdf
    p, q_law = (mixed, plain) if relation == "remove" else (plain, mixed)
    truth = hockey(p, q_law, math.exp(eps), [x / 4 for x in range(-20, 21)])
    assert close(ends([{**SAMPLED, "people": str(people)}], relation, "delta", str(eps)), truth, 1e-9)


@pytest.mark.parametrize("relation", ["remove", "add"])
def test_sampled_beside_normal_noise(relation: str) -> None:
    """The inversion against a quadrature over the loss of the sampled release: f(t) = E_P g(t / R), g of the other."""
    q, eps, mu = 0.2, 0.7, 1 / 1.5

    def ratio(x: float) -> float:
        return 1 - q + q * math.exp(x - 0.5)

    def term(x: float) -> float:
        r = ratio(x) if relation == "remove" else 1 / ratio(x)
        dp = stats.norm.pdf(x) * (ratio(x) if relation == "remove" else 1)
        return float(dp * normal_delta(mu, eps - math.log(r)))

    truth = math.fsum(integrate.quad(term, a, a + 1, epsabs=1e-16, epsrel=1e-12)[0] for a in range(-12, 14))
    assert close(ends([{**SAMPLED, "rate": "0.2"}, NORMAL], relation, "delta", str(eps)), truth, 1e-10)


@pytest.mark.parametrize("relation", ["remove", "add"])
def test_one_sampled_laplace_release(relation: str) -> None:
    q, eps = 0.1, 0.03

    def plain(x: float) -> float:
        return math.exp(-abs(x) / 2) / 4

    def mixed(x: float) -> float:
        return (1 - q) * plain(x) + q * plain(x - 1)

    p, q_law = (mixed, plain) if relation == "remove" else (plain, mixed)
    truth = hockey(p, q_law, math.exp(eps), [x / 8 for x in range(-8, 17)])
    assert close(ends([{**LAPLACE, "rate": "0.1"}], relation, "delta", str(eps)), truth, 1e-9)


@pytest.mark.parametrize("other", [0.5, 0.2, 0.9])
def test_two_laplace_releases(other: float) -> None:
    """Theorem K5 against a quadrature over the loss of one release, whose atoms are at 0.5 and -0.5."""
    r, eps = 0.5, 0.3

    def single(e: float) -> float:
        return max(0.0, 1 - math.exp((e - other) / 2), 1 - math.exp(e))

    inner = itertools.pairwise(sorted({-r, r, *(min(max(eps + sign * other, -r), r) for sign in (1, -1))}))
    body = math.fsum(
        integrate.quad(lambda v: math.exp((v - r) / 2) / 4 * single(eps - v), a, b, epsrel=1e-13)[0] for a, b in inner
    )
    truth = body + single(eps - r) / 2 + math.exp(-r) / 2 * single(eps + r)
    both = [{**LAPLACE, "scale": repr(1 / one)} for one in (r, other)]
    assert close(ends(both, "both", "delta", "0.3"), truth, 1e-12)


def test_unlike_laplace_releases_are_like_ones_where_they_are_alike() -> None:
    alike, unlike = laws.Laplace(arb("0.1"), 6), [laws.Laplace(arb("0.1"), k) for k in (1, 2, 3)]
    for eps in ("-0.5", "0", "0.25"):
        t = arb(eps).exp()
        assert laws.Laplaces(unlike).hockey(t).overlaps(alike.hockey(t))


def test_the_closed_form_of_laplace_noise_lies_in_the_inversion() -> None:
    """Lemma 4 against Theorem A with the blur of Lemma 3, and without it where the noise falls by itself."""
    for count, relative in ((40, 0.05), (900, 1e-9)):
        law = laws.Laplace(arb("0.1"), count)
        eps = 0.1 * math.sqrt(count) * 2.5
        inverted = inversion.Inversion([law], eps).delta(arb(eps))
        assert inverted.upper() - inverted.lower() <= relative * inverted.upper()
        if count == 40:
            assert inverted.contains(law.hockey(arb(eps).exp()))


def enumerated(p: list[float], q: list[float], count: int, eps: float) -> float:
    """Every outcome of a few releases."""
    made = [np.array([1.0]), np.array([1.0])]
    for _ in range(count):
        made = [np.outer(made[0], p).ravel(), np.outer(made[1], q).ravel()]
    return float(np.maximum(made[0] - math.exp(eps) * made[1], 0).sum())


@pytest.mark.parametrize("words", [{"scale": "2"}, {"epsilon": "1"}])
def test_geometric_noise(words: dict[str, str]) -> None:
    mass = np.tanh(0.25) * np.exp(-abs(np.arange(-50, 53)) / 2)
    truth = enumerated(list(mass), list(np.roll(mass, 2)), 3, 1.1)
    assert close(ends([{"mechanism": "geometric", "shift": "2", "count": "3", **words}], "both", "delta", "1.1"),
                 truth, 1e-9)  # fmt: skip


def test_discrete_normal_noise() -> None:
    mass = np.exp(-(np.arange(-35, 38) ** 2) / 18.0)
    mass /= mass.sum()
    truth = enumerated(list(mass), list(np.roll(mass, 2)), 3, 1.5)
    found = ends([{"mechanism": "discrete_gaussian", "sigma": "3", "shift": "2", "count": "3"}], "both", "delta", "1.5")
    assert close(found, truth, 1e-9)


def test_randomized_response() -> None:
    e = math.e
    two = ends([{"mechanism": "randomized_response", "epsilon": "1", "count": "12"}], "both", "delta", "3")
    assert close(two, enumerated([1 / (1 + e), e / (1 + e)], [e / (1 + e), 1 / (1 + e)], 12, 3.0), 1e-10)
    p = [1 / (e + 4), 3 / (e + 4), e / (e + 4)]
    five = ends(
        [{"mechanism": "randomized_response", "epsilon": "1", "categories": "5", "count": "9"}], "both", "delta", "1"
    )
    assert close(five, enumerated(p, p[::-1], 9, 1.0), 1e-10)


@pytest.mark.parametrize(
    ("p0", "p1"),
    [(["0.5", "0.3", "0.2"], ["0.2", "0.7", "0.1"]), (["0.5", "0.5", "0"], ["0.25", "0.25", "0.5"]),
     (["0.25", "0.25", "0.5"], ["0.5", "0.25", "0.25"]),
     (["0.1", "0.2", "0.3", "0.4"], ["0.2", "0.4", "0.15", "0.25"])],
)  # fmt: skip
@pytest.mark.parametrize("relation", ["remove", "add"])
def test_finite_lists(p0: list[str], p1: list[str], relation: str) -> None:
    lists = [[Fraction(x) for x in (p1 if relation == "remove" else p0)],
             [Fraction(x) for x in (p0 if relation == "remove" else p1)]]  # fmt: skip
    t = Fraction(math.exp(0.5))
    outcomes = itertools.product(range(len(p0)), repeat=3)
    truth = sum(
        max(Fraction(0), math.prod(lists[0][i] for i in each) - t * math.prod(lists[1][i] for i in each))
        for each in outcomes
    )
    made = release({"mechanism": "finite", "p0": p0, "p1": p1, "count": "3"}, doubles=False)
    value = enclose([made], relation, "delta", Fraction(1, 2))
    assert abs(float(value.mid()) - float(truth)) < 1e-14
    assert float(value.rad()) < 1e-40


@pytest.mark.parametrize("releases", [[{**SAMPLED, "count": "500"}], [{**SAMPLED, "count": "300"}, {**LAPLACE}]])
def test_epsilon_and_delta_say_the_same(releases: list[Release]) -> None:
    low, high = ends(releases, "both", "epsilon", "1e-6")
    assert high - low < 1e-9
    assert ends(releases, "both", "delta", repr(low - 1e-9))[0] > 1e-6
    assert ends(releases, "both", "delta", repr(high + 1e-9))[1] < 1e-6


def test_a_loss_of_zero_and_the_largest_loss() -> None:
    assert ends([{**LAPLACE, "count": "3"}], "both", "epsilon", "0") == (1.5, 1.5)
    assert ends([{**NORMAL, "sigma": "1000"}], "both", "epsilon", "0.1") == (0.0, 0.0)
    assert ends([{**LAPLACE, "count": "3"}], "both", "delta", "1.6") == (0.0, 0.0)


CASES: list[tuple[list[Release], str, str]] = [
    ([NORMAL], "epsilon", "1e-5"),
    ([{**LAPLACE, "count": "3"}], "delta", "0.7"),
    ([{**SAMPLED, "count": "1000"}], "delta", "1"),
    ([{**SAMPLED, "count": "1000"}], "epsilon", "1e-5"),
    ([{**SAMPLED, "count": "1000"}], "fnr", "0.01"),
    ([{"mechanism": "randomized_response", "epsilon": "1", "count": "30"}], "epsilon", "1e-4"),
]


@pytest.mark.parametrize(("releases", "reading", "at"), CASES)
def test_a_claim_around_the_truth_is_certified_and_a_tampered_one_never(
    releases: list[Release], reading: str, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [release(one, doubles=True) for one in releases]
    value = enclose(made, "both", reading, Fraction(at))
    monkeypatch.setattr(__main__, "enclose", lambda *_: value)
    truth = Fraction(float(value))

    def verdict(lower: Fraction, upper: Fraction) -> str:
        return judge(Certificate(made, "both", reading, Fraction(at), lower, upper))[0]

    for k in (3, 6, 9):
        near, far = Fraction(1, 10**k), Fraction(2, 10**k)
        assert verdict(truth * (1 - near), truth * (1 + near)) == "certified"
        assert verdict(truth * (1 + near), truth * (1 + far)) == "refuted"
        assert verdict(truth * (1 - far), truth * (1 - near)) == "refuted"


def test_bad_proposals_widen_and_never_falsify(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [release({**SAMPLED, "count": "200"}, doubles=True), release(NORMAL, doubles=True)]
    truth = enclose(made, "remove", "delta", Fraction(2))
    proposed = inversion.least
    for factor, strip, depth, digits in itertools.product((0.4, 2.0), (14.0, 40.0), (1.0, 6.0), (1e-1, 1e-4)):
        monkeypatch.setattr(inversion, "least", lambda function, factor=factor: factor * proposed(function))
        monkeypatch.setattr(laws, "STRIP", strip)
        monkeypatch.setattr(laws, "CUT", 1e-6)
        monkeypatch.setattr(inversion, "DEPTH", depth)
        monkeypatch.setattr(inversion, "DIGITS", digits)
        value = enclose(made, "remove", "delta", Fraction(2))
        assert value.overlaps(truth)
        assert value.rad() > truth.rad()


def test_a_file_is_judged_as_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    entry = {"format": "epsilens-certificate/1", "numbers": "decimals", "relation": "both", "reading": "epsilon",
             "releases": [{"mechanism": "laplace", "scale": 0.1}],
             "at": "0", "lower": "9.99999999999999999", "upper": "10.00000000000000001"}  # fmt: skip
    file.write_text(json.dumps(entry), "utf-8")
    assert judge(read(str(file)))[0] == "certified"
    file.write_text(json.dumps({**entry, "numbers": "doubles"}), "utf-8")
    assert judge(read(str(file)))[0] == "refuted"  # the double nearest to 0.1 is above 1/10
