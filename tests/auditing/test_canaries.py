"""Canaries in one training: bounds on Gaussian scores as measured elsewhere, and a training in torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import epsilens as el
from epsilens.auditing.canaries import Canaries, audit_guesses
from epsilens.auditing.result import Finding, Verdict


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
    assert found.verdict is Verdict.VIOLATION
    assert found.mu_lo is not None
    assert 1.0 < found.mu_lo < 3.0
    assert "canaries" in str(found)


def test_few_canaries_say_nothing_of_a_weak_claim() -> None:
    found = audit_guesses(10, 10, 6, claim=3.0)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.has(Finding.FEW)


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
    assert found.verdict is Verdict.VIOLATION
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
