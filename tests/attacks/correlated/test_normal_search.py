"""Every search for the worst normal adversary against brute force, against the others, and the reference instances."""

from __future__ import annotations

import time
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from epsilens.attacks.correlated import normal, normal_enumeration, normal_search
from epsilens.attacks.correlated.normal_problem import Problem, closed_form

needs_numba = pytest.mark.skipif(not normal_enumeration.numba_available(), reason="numba is not installed")
ROUTES = [False, pytest.param(True, marks=needs_numba)]


def brute(cov: Any, a: Any, reach: Any, sigma: float | None) -> list[float]:
    """The worst per number of known records, from Σ_AA⁻¹Σ_A·a."""
    n = len(a)
    best = [0.0] * n
    for i in range(n):
        rest = [j for j in range(n) if j != i]
        for k in range(n):
            for known in combinations(rest, k):
                first = [i, *known]
                applied = np.linalg.solve(cov[np.ix_(first, first)], cov[first] @ a)
                value = reach[i] * abs(applied[0])
                if sigma is not None:
                    own2 = a @ cov @ a - applied @ (cov[first] @ a)
                    value /= np.sqrt(sigma**2 + max(own2, 0.0))
                best[k] = max(best[k], value)
    return best


@st.composite
def models(draw: st.DrawFn, most: int = 6) -> tuple[Any, Any, Any]:
    n = draw(st.integers(1, most))
    number = st.floats(-1, 1, allow_subnormal=False)
    root = np.array(draw(st.lists(number, min_size=n * n, max_size=n * n))).reshape(n, n)
    cov = root @ root.T + draw(st.sampled_from([0.02, 0.3, 2.0])) * np.eye(n)
    weights = draw(st.lists(st.sampled_from([0.0, 1.0, 1.0, -1.0, 0.4, -2.5]), min_size=n, max_size=n))
    reach = draw(st.lists(st.sampled_from([0.2, 1.0, 1.0, 3.0]), min_size=n, max_size=n))
    return cov, np.array(weights), np.array(reach)


@pytest.mark.parametrize("tiny", [0.0, -1e-130, 1e-130, -1e-14, 1e-9])
def test_next_to_no_correlation_is_no_common_factor(tiny: float) -> None:
    cov = np.array([[0.27, 0.5, tiny], [0.5, 2.02, 1.0], [tiny, 1.0, 1.02]])
    a, reach = np.array([0.0, 0.0, 1.0]), np.array([0.2, 1.0, 0.2])
    m = normal(cov, a, reach)
    assert m.worst(scale=1.0).leakage == pytest.approx(max(brute(cov, a, reach, None)), rel=1e-9)


@given(models(), st.sampled_from([None, 0.1, 1.0]))
@settings(max_examples=examples(80), deadline=None)
def test_the_worst_is_what_brute_force_finds(model: tuple[Any, Any, Any], sigma: float | None) -> None:
    cov, a, reach = model
    truth = brute(cov, a, reach, sigma)
    m = normal(cov, a, reach)
    noise: dict[str, Any] = {"scale": 1.0} if sigma is None else {"sigma": sigma}
    found = m.worst(**noise)
    assert found.leakage == pytest.approx(max(truth), rel=1e-7, abs=1e-9)
    assert found.complete
    assert [w.leakage for w in m.by_known(**noise)] == pytest.approx(truth, rel=1e-7, abs=1e-9)
    # the certificate: that adversary does have that value
    if sigma is None:
        assert m.leakage(found.target, found.known, scale=1.0) == pytest.approx(found.leakage, rel=1e-12)
    else:
        assert m.experiment(found.target, found.known, sigma=sigma).psi() == pytest.approx(found.leakage, rel=1e-9)


@pytest.mark.parametrize("compile", ROUTES)
@given(models(7), st.sampled_from([None, 0.5]), st.integers(0, 6))
@settings(max_examples=examples(40), deadline=None)
def test_branch_and_bound_agrees(compile: bool, model: tuple[Any, Any, Any], sigma: float | None, k: int) -> None:
    cov, a, reach = model
    p = Problem(cov / np.outer(reach, reach), a * reach)
    every = normal_enumeration.enumerate_adversaries(p, sigma, compile=compile)
    assert every is not None
    top = max(f.value for f in every)
    found = normal_search.branch_and_bound(p, sigma, compile=compile)
    assert found.value == pytest.approx(top, rel=1e-9, abs=1e-12)
    assert found.upper == found.value
    k = min(k, p.n - 1)
    limited = normal_search.branch_and_bound(p, sigma, least=k, most=k, compile=compile)
    assert limited.value == pytest.approx(every[k].value, rel=1e-9, abs=1e-12)
    assert len(limited.known) == k


@given(models(6), st.floats(0.05, 3.0))
@settings(max_examples=examples(20), deadline=None)
def test_bounds_are_bounds(model: tuple[Any, Any, Any], sigma: float) -> None:
    """The bound of every target with all records free is never below what its adversaries reach."""
    cov, a, reach = model
    p = Problem(cov / np.outer(reach, reach), a * reach)
    for s in (None, sigma):
        bounds = normal_search.root_bounds(p, s)
        for i in range(p.n):
            for mask in range(1 << p.n):
                if not mask >> i & 1:
                    known = [j for j in range(p.n) if mask >> j & 1]
                    assert p.value(i, known, s) <= bounds[i] * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("compile", ROUTES)
@given(models(7))
@settings(max_examples=examples(30), deadline=None)
def test_the_front_beats_everyone(compile: bool, model: tuple[Any, Any, Any]) -> None:
    cov, a, reach = model
    p = Problem(cov / np.outer(reach, reach), a * reach)
    front = normal_enumeration.pareto_front(p, compile=compile)
    assert front is not None
    for i in range(p.n):
        for mask in range(1 << p.n):
            if not mask >> i & 1:
                seen = p.adversary(i, [j for j in range(p.n) if mask >> j & 1])
                assert any(
                    s.shift >= seen.shift * (1 - 1e-9) - 1e-12 and s.own <= seen.own * (1 + 1e-9) + 1e-6
                    for *_, s in front
                )


@pytest.mark.parametrize("at_once", [0, 1, 3])
def test_however_many_subsets_are_taken_at_once(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(normal_enumeration, "_BATCH", at_once)
    rng = np.random.default_rng(5)
    root = rng.normal(size=(7, 7))
    cov, a, ones = root @ root.T + 0.1 * np.eye(7), rng.normal(size=7), np.ones(7)
    p = Problem(cov, a)
    for sigma in (None, 0.5):
        every = normal_enumeration.enumerate_adversaries(p, sigma, compile=False)
        assert every is not None
        assert [f.value for f in every] == pytest.approx(brute(cov, a, ones, sigma), rel=1e-9)
        assert [len(f.known) for f in every] == list(range(7))
    front = normal_enumeration.pareto_front(p, compile=False)
    assert front is not None
    for i, known, seen in front:
        first = [i, *known]
        applied = np.linalg.solve(cov[np.ix_(first, first)], cov[first] @ a)
        assert seen.shift == pytest.approx(abs(applied[0]), rel=1e-9)
        assert seen.own**2 == pytest.approx(a @ cov @ a - applied @ (cov[first] @ a), abs=1e-8)
    for sigma in (0.1, 1.0, 10.0):
        best = max(seen.shift / np.hypot(sigma, seen.own) for *_, seen in front)
        assert best == pytest.approx(max(brute(cov, a, ones, sigma)), rel=1e-9)


def _structured(kind: str, rng: Any, n: int) -> tuple[Any, Any]:
    a = rng.normal(size=n) * (rng.random(n) < 0.8)
    sd = rng.uniform(0.3, 3, n)
    if kind == "exchangeable":
        rho = rng.uniform(-1 / (n - 1) + 0.01, 0.95)
        return np.full((n, n), rho) + (1 - rho) * np.eye(n), np.full(n, 1.5)
    if kind == "equicorrelated":
        rho = rng.uniform(-1 / (n - 1) + 0.01, 0.95)
        return (np.full((n, n), rho) + (1 - rho) * np.eye(n)) * np.outer(sd, sd), a
    if kind == "one factor":
        u = rng.uniform(-0.95, 0.95, n)
        return (np.outer(u, u) + np.diag(1 - u * u)) * np.outer(sd, sd), a
    if kind == "path":
        phi, order = rng.uniform(-0.9, 0.9), rng.permutation(n)
        cov = phi ** np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
        return (cov * np.outer(sd, sd))[np.ix_(order, order)], a
    prec = -np.abs(rng.normal(size=(n, n))) * (rng.random((n, n)) < 0.7)
    prec = np.triu(prec, 1) + np.triu(prec, 1).T
    prec += np.diag(0.1 - prec.sum(axis=1))
    sign = np.sign(rng.normal(size=n))
    return np.linalg.inv(prec) * np.outer(sign, sign), np.abs(a) * sign


@pytest.mark.parametrize("kind", ["exchangeable", "equicorrelated", "one factor", "path", "positive"])
def test_closed_forms_agree_with_enumeration(kind: str) -> None:
    rng, used = np.random.default_rng(7), 0
    for _ in range(25):
        n = int(rng.integers(3, 9))
        p = Problem(*_structured(kind, rng, n))
        for sigma in (None, 0.6):
            every = normal_enumeration.enumerate_adversaries(p, sigma, compile=False)
            assert every is not None
            for least, most in ((0, n - 1), (0, n // 2), *((k, k) for k in range(n))):
                found = closed_form(p, sigma, least, most, tuple(range(n)))
                if found is None:
                    assert sigma is not None or kind == "positive"
                    continue
                used += 1
                truth = max(f.value for f in every[least : most + 1])
                assert found[0].value == pytest.approx(truth, rel=1e-9, abs=1e-12), (kind, n, sigma, least, most)
                assert least <= len(found[0].known) <= most
    assert used > 25


def test_a_mixed_sign_query_breaks_the_positive_rule() -> None:
    """Λ an M-matrix but weights of both signs: knowing nothing is not the worst, and the rule is not used."""
    cov = np.linalg.inv(np.array([[2, -1, -0.9], [-1, 2, -0.9], [-0.9, -0.9, 2]]))
    m = normal(cov, weights=[1, 1, -1.2])
    assert "positive" not in m.worst(scale=1.0).method
    assert m.worst(scale=1.0).leakage > m.worst(scale=1.0, known_at_most=0).leakage


# -- the reference instances ------------------------------------------------------------------------------------

DET = {  # max|β|, max ψ(σ=1)
    6: (1.0655087739, 1.0),
    12: (1.7910072853, 1.2728057590),
    15: (1.7697558594, 1.1933499962),
    20: (1.9804922362, 1.1665497944),
    25: (1.9314410654, 1.0897621056),
    30: (2.1296494219, 1.1149655335),
    40: (2.4353818661, 1.0555085578),
    60: (2.7813934033, 1.0),
}


def det_s(n: int) -> Any:
    v = np.sin(np.outer(np.arange(1, n + 1), np.arange(1, 6)))
    s = v @ v.T + np.eye(n)
    sd = np.sqrt(np.diag(s))
    return s / np.outer(sd, sd)


@pytest.mark.parametrize("n", [*(n for n in DET if n < 60), pytest.param(60, marks=pytest.mark.slow)])
def test_reference_instances(n: int) -> None:
    beta, psi = DET[n]
    m = normal(det_s(n))
    w = m.worst(scale=1.0)
    assert w.leakage == pytest.approx(beta, abs=6e-11)
    assert w.complete
    if n == 12:
        assert (w.target, w.known) == (5, (1, 2, 3, 4, 6, 7, 8, 9))
    g = m.worst(sigma=1.0)
    assert g.psi == pytest.approx(psi, abs=6e-11)
    assert g.complete
    # both extremes of knowledge miss the worst badly
    nothing = m.worst(scale=1.0, known_at_most=0).leakage
    assert nothing <= 1.0181
    if n >= 12:
        assert w.leakage > 1.7


@pytest.mark.parametrize("compile", ROUTES)
def test_enumeration_of_reference_instances(compile: bool) -> None:
    for n in (6, 12, 15, 18):
        every = normal_enumeration.enumerate_adversaries(Problem(det_s(n), np.ones(n)), compile=compile)
        assert every is not None
        if n in DET:
            assert max(f.value for f in every) == pytest.approx(DET[n][0], abs=6e-11)
        assert every[0].examined == n * 2 ** (n - 1)


# -- machinery --------------------------------------------------------------------------------------------------


def test_everything_works_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (normal_enumeration, normal_search):
        monkeypatch.setattr(module, "numba_available", lambda: False)
    m = normal(det_s(19))
    exact = m.by_known(scale=1.0)
    assert m.worst(scale=1.0).leakage == pytest.approx(max(w.leakage for w in exact), rel=1e-12)
    assert normal(det_s(25)).worst(scale=1.0).leakage == pytest.approx(DET[25][0], abs=6e-11)
    assert m.choose(reading="success", at_most=0.6).value > 0


@needs_numba
def test_a_cache_that_cannot_be_written_is_no_obstacle(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    real = importlib.import_module("numba")

    class Stub:
        @staticmethod
        def njit(cache: bool, **options: Any) -> Any:
            if cache:
                raise RuntimeError("cannot cache function: no locator available")
            return real.njit(cache=False, **options)

    monkeypatch.setattr(normal_enumeration, "import_module", lambda name: Stub)
    made = normal_enumeration.jit.__wrapped__(_add)
    assert made(1.0, 2.0) == 3.0


def _add(a: float, b: float) -> float:
    return a + b


def test_time_limit_gives_a_bracket_that_holds() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(24, 30))
    m = normal(x @ x.T / 30)
    exact = m.worst(scale=1.0)
    assert exact.complete
    began = time.process_time()
    short = m.worst(scale=1.0, time_limit=1e-3)
    assert time.process_time() - began < 2
    assert short.leakage <= exact.leakage * (1 + 1e-12)
    assert short.upper >= exact.leakage * (1 - 1e-12)
    for w, e in zip(m.by_known(scale=1.0, time_limit=0.5), m.by_known(scale=1.0), strict=True):
        assert w.leakage <= e.leakage * (1 + 1e-12)
        assert w.upper >= e.leakage * (1 - 1e-12)
        assert len(w.known) == len(e.known)


def test_progress_is_told() -> None:
    said: list[tuple[float, str]] = []
    normal(det_s(16)).worst(scale=1.0, progress=lambda share, words: said.append((share, words)))
    assert said
    assert all(0 <= share <= 1 for share, _ in said)
    said.clear()
    normal(det_s(30)).worst(scale=1.0, progress=lambda share, words: said.append((share, words)))
    assert said
    assert "between" in said[-1][1]


@pytest.mark.parametrize("sigma", [1e-12, 1e-9, 1e-5, 1e6])
def test_noise_far_smaller_or_larger_than_the_data(sigma: float) -> None:
    """What rounding leaves of a variance that is zero must not pass for noise."""
    rng = np.random.default_rng(9)
    for _ in range(12):
        n = int(rng.integers(2, 7))
        x = rng.normal(size=(n, n + 1))
        p = Problem(x @ x.T, rng.normal(size=n) * (rng.random(n) < 0.6))
        truth = max(
            p.value(i, [j for j in range(n) if mask >> j & 1], sigma)
            for i in range(n)
            for mask in range(1 << n)
            if not mask >> i & 1
        )
        assert normal_search.search(p, sigma).found.value == pytest.approx(truth, rel=1e-9)
        start = normal_search._start_adversary(p, sigma, 0, n - 1, tuple(range(n)))
        found = normal_search.branch_and_bound(p, sigma, start=start, compile=False)
        assert found.value == pytest.approx(truth, rel=1e-9)


def test_climbing_gives_a_good_start_and_never_too_much() -> None:
    rng, hits = np.random.default_rng(11), 0
    for _ in range(20):
        n = int(rng.integers(3, 10))
        x = rng.normal(size=(n, n + 3))
        p = Problem(x @ x.T, rng.normal(size=n))
        for sigma in (None, 1.0):
            every = normal_enumeration.enumerate_adversaries(p, sigma, compile=False)
            assert every is not None
            top, found = (
                max(f.value for f in every),
                max(normal_search._local_search(p, sigma, i).value for i in range(n)),
            )
            assert found <= top * (1 + 1e-9)
            hits += found >= top * (1 - 1e-9)
    assert hits >= 30


def test_sparse_dependence() -> None:
    """Records cut off from the target by known ones are set known, at no loss."""
    rng = np.random.default_rng(12)
    for k in range(25):
        n = int(rng.integers(3, 10))
        prec = np.triu(rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.25), 1)
        prec += prec.T
        prec += np.diag(np.abs(prec).sum(axis=1) + 0.2)
        p = Problem(np.asarray(np.linalg.inv(prec), dtype=float), rng.normal(size=n))
        for sigma in (None, 0.5):
            every = normal_enumeration.enumerate_adversaries(p, sigma, compile=False)
            assert every is not None
            found = normal_search.branch_and_bound(
                p, sigma, compile=k % 2 == 0 and normal_enumeration.numba_available()
            )
            assert found.value == pytest.approx(max(f.value for f in every), rel=1e-9)
            assert found.upper == found.value


def test_few_known_records_of_many() -> None:
    """known_at_most small: every set is looked at, at any n."""
    cov = det_s(30)
    found = normal(cov).worst(scale=1.0, known_at_most=2)
    assert found.complete
    top = 0.0
    for i in range(30):
        for k in range(3):
            for known in combinations([j for j in range(30) if j != i], k):
                first = [i, *known]
                top = max(top, abs(np.linalg.solve(cov[np.ix_(first, first)], cov[first].sum(axis=1))[0]))
    assert found.leakage == pytest.approx(top, rel=1e-10)


def test_badly_conditioned_covariances_carry_their_rounding() -> None:
    """Twenty records within 1e-8 of linear dependence: the bound says what doubles may have lost; small n is exact."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=(20, 19))
    cov = x @ x.T + 1e-8 * np.eye(20)
    w = normal(cov).worst(scale=1.0)
    assert w.complete
    assert w.leakage < w.upper < w.leakage * (1 + 1e-3)
    small = normal(cov[:6, :6] + 0.0).worst(scale=1.0)
    assert small.upper == small.leakage


def test_forecast() -> None:
    assert normal_enumeration.adversary_count(15) == 15 * 2**14
    assert normal_enumeration.forecast_seconds(25, compile=True) < normal_enumeration.forecast_seconds(
        25, compile=False
    )
    assert normal_search.LARGEST_WITHOUT_LIMIT == 60
