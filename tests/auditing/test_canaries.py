"""Canaries in one training: bounds on Gaussian scores as measured elsewhere, and a training in torch."""

from __future__ import annotations

import math
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.special import bdtr, bdtrc, expit, ndtr
from scipy.stats import binom
from tests.auditing.trainings import CanaryTrainings

import epsilens as el
from epsilens.auditing.audit import audit_source
from epsilens.auditing.betting import least_unrefuted
from epsilens.auditing.canaries import (
    Canaries,
    audit_guesses,
    epsilon_bound,
    exact_p,
    guesses_to_make,
    mu_bound,
    pure_p,
    recursion_p,
    recursion_refutes,
)
from epsilens.auditing.result import AuditVerdict, ClaimLines, FindingKind, claim_of, single_line
from epsilens.errors import InputError


@pytest.mark.parametrize(("m", "mu", "seen"), [(1000, 1.0, 0.57), (1000, 2.0, 1.28), (1000, 4.0, 2.13)])
def test_bounds_on_gaussian_scores(m: int, mu: float, seen: float) -> None:
    """Orthogonal canaries under normal noise, guessed on both sides: the mean bound on μ."""
    rng = np.random.default_rng(1)
    found = []
    for seed in range(6):
        canaries = Canaries(m, seed=seed)
        found.append(canaries.audit(rng.normal(size=m) + mu * canaries.included, claim=f"mu={mu}"))
    assert np.mean([f.mu_lo for f in found if f.mu_lo is not None]) == pytest.approx(seen, rel=0.12)
    assert not any(f.refuted for f in found)
    for f in found:
        assert f.exact is None or f.exact <= f.evidence + 1e-6


def test_a_training_with_too_little_noise_is_found() -> None:
    rng = np.random.default_rng(2)
    canaries = Canaries(1000, seed=2)
    found = canaries.audit(rng.normal(size=1000) + 3.0 * canaries.included, claim="mu=1")
    assert found.verdict is AuditVerdict.VIOLATION
    assert found.mu_lo is not None
    assert 1.0 < found.mu_lo < 3.0
    assert "canaries" in str(found)


def test_few_canaries_say_nothing_of_a_weak_claim() -> None:
    found = audit_guesses(10, 10, 6, claim=3.0)
    assert found.verdict is AuditVerdict.INCONCLUSIVE
    assert found.has(FindingKind.FEW)


@pytest.mark.parametrize(
    "bad",
    [{"scores": [1.0, 2.0]}, {"scores": [[1.0] * 3]}, {"scores": [np.nan] * 3}, {"scores": [0.0] * 3, "guesses": 4}],
)
def test_bad_scores_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(el.InputError):
        Canaries(3, seed=1).audit(claim=1.0, **bad)


def test_a_torch_training() -> None:
    """Plain gradient descent without noise on canaries with a feature of their own: refutes μ = 1."""
    torch = pytest.importorskip("torch")
    m = 60
    torch.manual_seed(1)
    canaries = Canaries(m, seed=3)
    data = torch.utils.data.TensorDataset(torch.zeros(40, m), torch.zeros(40))
    records = torch.utils.data.TensorDataset(torch.eye(m), torch.ones(m))
    mixed = canaries.insert(data, records)
    assert len(mixed) == 40 + int(canaries.included.sum())
    model = torch.nn.Linear(m, 1)
    x = torch.stack([row[0] for row in mixed])
    y = torch.stack([row[1] for row in mixed])
    loss = torch.nn.BCEWithLogitsLoss()
    for _ in range(20):
        model.zero_grad()
        loss(model(x)[:, 0], y).backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= 20 * parameter.grad
    scores = canaries.scores(model, records, lambda out, label: loss(out[:, 0], label))
    found = canaries.audit(scores, claim="mu=1")
    assert found.verdict is AuditVerdict.VIOLATION
    with pytest.raises(el.InputError, match="records"):
        canaries.insert(data, data)


@pytest.mark.filterwarnings("ignore")
def test_an_opacus_training_beside_what_is_certified() -> None:
    """Full batches, each canary with a feature of its own, T steps: its weight moves by T ± σ√T clips, so μ = √T/σ."""
    torch, opacus = pytest.importorskip("torch"), pytest.importorskip("opacus")
    m, steps, sigma = 400, 4, 1.0
    torch.manual_seed(5)
    canaries = Canaries(m, seed=5)
    records = torch.utils.data.TensorDataset(torch.eye(m), torch.ones(m))
    data = canaries.insert(torch.utils.data.TensorDataset(torch.zeros(8, m), torch.zeros(8)), records)
    model = torch.nn.Linear(m, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    loader = torch.utils.data.DataLoader(data, batch_size=len(data))
    private, optimizer, loader = opacus.PrivacyEngine().make_private(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=1.0), data_loader=loader,
        noise_multiplier=sigma, max_grad_norm=1e-3, poisson_sampling=False,
    )  # fmt: skip
    loss = torch.nn.BCEWithLogitsLoss()
    for _ in range(steps):
        for x, y in loader:
            optimizer.zero_grad()
            loss(private(x)[:, 0], y).backward()
            optimizer.step()
    scores = canaries.scores(private, records, lambda out, label: loss(out[:, 0], label))
    certified = el.gaussian(sigma=sigma).repeat(steps)
    found = canaries.audit(scores, claim=certified)
    assert found.mu_lo is not None
    assert not found.refuted
    assert 0.4 < found.mu_lo <= float(certified.psi()) == pytest.approx(2.0)
    assert canaries.audit(scores, claim=el.gaussian(sigma=4 * sigma).repeat(steps)).refuted


def steinke_p(m: int, r: int, v: int, epsilon: float, delta: float) -> float:
    """How likely v right of r are at most, for an (ε, δ) mechanism: Steinke, Nasr & Jagielski (2023).

    P[Bin ≥ v] + 2mδ·max_{1≤i≤v} P[v−i ≤ Bin < v]/i, which the recursion improves on.
    """
    q, i = float(expit(epsilon)), np.arange(1, v + 1)
    below = bdtr(v - 1, r, q) - np.where(v - i - 1 >= 0, bdtr(np.maximum(v - i - 1, 0), r, q), 0.0)
    return float(min(1.0, bdtrc(v - 1, r, q) + 2 * m * delta * (below / i).max()))


def steinke_bound(m: int, r: int, v: int, delta: float) -> float:
    return least_unrefuted(lambda e: steinke_p(m, r, v, e, delta) <= 0.05, 30.0)


def test_the_published_value() -> None:
    assert steinke_bound(1000, 100, 75, 1e-4) == pytest.approx(0.673, abs=5e-4)


@pytest.mark.parametrize(
    ("m", "r", "v", "delta", "steinke", "recursion", "p"),
    [
        (1000, 100, 95, 1e-5, 2.17, 2.15, None),
        (1000, 100, 95, 1e-3, 0.59, 2.08, 0.045),
        (10000, 500, 450, 1e-4, 1.71, 1.92, 0.041),
    ],
)
def test_the_table_of_bounds(
    m: int, r: int, v: int, delta: float, steinke: float, recursion: float, p: float | None
) -> None:
    assert steinke_bound(m, r, v, delta) == pytest.approx(steinke, abs=0.01)
    assert epsilon_bound(m, r, v, delta) == pytest.approx(recursion, abs=0.01)
    if p is not None:  # the bounds are told rounded down
        assert exact_p(m, r, v, single_line(recursion, delta)) == pytest.approx(p, abs=0.001)


@pytest.mark.parametrize(("r", "v"), [(10, 9), (30, 20), (100, 80)])
def test_at_no_delta_everything_is_the_binomial(r: int, v: int) -> None:
    truth = float(binom.sf(v - 1, r, expit(1.0)))
    assert pure_p(r, v, 1.0) == pytest.approx(truth, rel=1e-9)
    assert exact_p(2 * r, r, v, single_line(1.0, 0.0)) == pytest.approx(truth, rel=1e-5)
    assert recursion_p(2 * r, r, v, single_line(1.0, 0.0)) >= truth * (1 - 1e-6)


@pytest.mark.parametrize(
    ("m", "r", "v", "said"), [(300, 60, 50, "mu=1"), (200, 40, 36, (1.5, 1e-3)), (50, 50, 40, "mu=1")]
)
def test_the_recursion_is_not_below_the_exact_worst_case(m: int, r: int, v: int, said: object) -> None:
    claim = claim_of(said)
    assert exact_p(m, r, v, claim) <= recursion_p(m, r, v, claim) + 1e-6


def test_no_mechanism_on_three_bits_exceeds_the_programme() -> None:
    """Random mechanisms with four outputs: their own lines, by enumeration, and their best guesses."""
    rng = np.random.default_rng(1)
    worlds = list(product((0, 1), repeat=3))
    eps = np.linspace(0, 3, 13)
    for _ in range(25):
        law = {w: rng.dirichlet(np.full(4, rng.choice([0.3, 1.0, 3.0]))) for w in worlds}
        delta = np.zeros(eps.size)
        for w in worlds:
            for i in range(3):
                other = tuple(1 - bit if i == j else bit for j, bit in enumerate(w))
                gap = law[w][None, :] - np.exp(eps)[:, None] * law[other][None, :]
                delta = np.maximum(delta, gap.clip(0).sum(axis=1))
        claim = ClaimLines(eps, delta)
        for v in (2, 3):
            best = sum(
                max(
                    sum(law[w][o] for w in worlds if sum(a == b for a, b in zip(w, t, strict=True)) >= v) / 8
                    for t in worlds
                )
                for o in range(4)
            )
            assert best <= exact_p(3, 3, v, claim) + 1e-7
            assert best <= recursion_p(3, 3, v, claim) + 1e-6


def test_false_alarms_at_the_boundary() -> None:
    """Randomised response of ε = 1, 200 canaries all guessed, 4,000 runs: at most 5%, and not far below."""
    rng = np.random.default_rng(2)
    right = rng.binomial(200, expit(1.0), 4000)
    refuting = [v for v in range(201) if pure_p(200, v, 1.0) <= 0.05]
    rate = float((right >= min(refuting)).mean())
    assert 0.02 < rate <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 4000)
    by_recursion = [v for v in range(120, 201) if recursion_refutes(200, 200, v, single_line(1.0, 0.0))]
    assert min(by_recursion) >= min(refuting)


def test_revealing_everything_now_and_then_is_within_its_delta() -> None:
    """(0, 0.2)-DP that reveals all canaries with probability 0.2: a test of independent canaries often refutes it."""
    claim = single_line(0.0, 0.2)
    assert exact_p(100, 100, 100, claim) >= 0.2 - 1e-6
    assert not recursion_refutes(100, 100, 100, claim, 0.05)


def test_how_many_guesses_follow_from_the_claim() -> None:
    assert guesses_to_make(1000, claim_of(1.0)) == 400
    for said in ("mu=0.5", "mu=4", el.dpsgd(sigma=1.0, rate=0.01, steps=100)):
        assert 4 <= guesses_to_make(1000, claim_of(said)) <= 1000
    assert mu_bound(1000, 100, 50) == 0.0
    assert 0 < mu_bound(1000, 100, 95) < mu_bound(1000, 100, 99)


def test_many_guesses_are_left_to_the_recursion() -> None:
    with pytest.raises(el.InputError, match="linear programme"):
        exact_p(10_000, 5_000, 3_000, claim_of("mu=1"))


_SMALL = {"records": 60, "features": 8, "steps": 1, "rate": 0.5, "seed": 1}


#: Found without being imported, which takes seconds in every process of a run.
DEVICES = ["numpy", "cpu"] if find_spec("torch") else ["numpy"]


@pytest.mark.always
@pytest.mark.parametrize("device", DEVICES)
def test_one_step_is_the_sampled_gaussian(device: str) -> None:
    """The best cut of one step at rate ½ is at u = ½, whose advantage is ½(2Φ(½/σ) − 1)."""
    source = CanaryTrainings(**_SMALL, sigma=0.5, device=device)  # type: ignore[arg-type]
    bits = np.arange(20_000) % 2 == 0
    drawn = source.draw(bits)
    u = drawn[:, 1] * (0.5 * 60) / 0.5  # the weight is the step's noisy sum times the learning rate over qn
    above = u > 0.5
    wanted = 0.5 * (2 * float(ndtr(1.0)) - 1)
    assert above[bits].mean() - above[~bits].mean() == pytest.approx(wanted, abs=4 * math.sqrt(0.5 / 20_000))
    assert u[~bits].std() == pytest.approx(0.5, rel=0.03)
    low, high = source.claim.bracket("advantage")
    assert low - 1e-9 <= wanted <= high + 1e-9
    ratio = np.log(0.5 + 0.5 * np.exp((2 * u - 1) / (2 * 0.25)))
    assert np.allclose(drawn[:, 0], ratio, atol=1e-4)


@pytest.mark.parametrize("device", DEVICES)
def test_the_canary_is_always_clipped_and_a_training_nears_its_certificate(device: str) -> None:
    """Were the canary's gradient ever short of the clip, its mean would be below q·steps."""
    source = CanaryTrainings(records=60, features=8, steps=20, rate=0.2, sigma=1.0, seed=2, device=device)
    bits = np.arange(8000) % 2 == 0
    score, weight = source.draw(bits).T
    u = weight * (0.2 * 60) / 0.5
    assert u[bits].mean() == pytest.approx(4.0, abs=4 * math.sqrt((20 + 20 * 0.16) / 4000))
    assert u[~bits].mean() == pytest.approx(0.0, abs=4 * math.sqrt(20 / 4000))
    certified = float(source.claim.advantage())
    above = score > 0
    seen = above[bits].mean() - above[~bits].mean()
    assert certified - 0.06 < seen < certified + 4 * math.sqrt(0.5 / 8000)


def test_a_training_is_consistent_with_its_own_certificate_and_not_with_half_of_it() -> None:
    source = CanaryTrainings(records=60, features=8, steps=20, rate=0.2, sigma=0.7, seed=3)
    kept = audit_source(source, claim=source.claim, runs=6000, seed=1, sequential=False, confidence=0.999)
    assert kept.verdict is AuditVerdict.CONSISTENT
    assert kept.advantage_lo is not None
    assert 0.8 * kept.claimed["advantage"] < kept.advantage_lo < kept.claimed["advantage"]
    less = CanaryTrainings(records=60, features=8, steps=20, rate=0.2, sigma=1.4).claim
    assert audit_source(source, claim=less, runs=6000, seed=1).verdict is AuditVerdict.VIOLATION


def test_bad_settings_are_named() -> None:
    with pytest.raises(InputError, match="rate"):
        CanaryTrainings(rate=1.5)
    with pytest.raises(InputError, match="steps"):
        CanaryTrainings(steps=0)
    pytest.importorskip("torch")
    with pytest.raises(InputError, match="which torch does not have here"):
        CanaryTrainings(**_SMALL, device="nowhere").draw(np.array([True]))  # type: ignore[arg-type]
