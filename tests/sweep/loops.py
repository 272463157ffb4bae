"""Kinds of training by how batches are drawn, and groups of people: mixtures by contour, bounds by what is attained."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr

from .contour import Contour
from .draws import number
from .kinds import Drawn, kind
from .lines import Normals
from .steps import Mixed
from .trainings import spread, training_step
from .truth import MP, Between, Truth, Worst

__all__: list[str] = []

mpf = MP.mpf
_CURVE = frozenset(
    ["advantage", "success", "delta", "epsilon", "roc", "recall", "tradeoff", "attack_success", "precision"]
)


def _steps(rng: random.Random) -> int:
    return round(number(rng, (20, 5_000), (2, 1e5)))


@kind("fixed batches")
def _fixed(rng: random.Random) -> Drawn:
    """Whoever is drawn takes the place of another, who may pull the other way: distance 2."""
    sigma, q, steps = number(rng, (1.0, 8.0), (0.6, 500.0)), number(rng, (1e-3, 0.2), (1e-5, 0.99)), _steps(rng)
    one = Contour([(training_step(sigma / 2, q), steps)])
    code = f"el.dpsgd(sigma={sigma!r}, rate={q!r}, steps={steps}, batches='fixed'"
    if rng.random() < 0.5:
        return Drawn(f"{code})", one, spread(one), heavy=True, readings=6)
    # replaced: above both orders, and the low end is the larger of them
    both = Worst([one, one.reverse()])
    return Drawn(f"{code}, neighbours='replace')", both, spread(one), only=_CURVE, readings=5)


@kind("truncated batches")
def _truncated(rng: random.Random) -> Drawn:
    """If all others add nothing, the person is in a batch with probability (1−τ)q + τq′."""
    n = rng.choice([50, 200, 1000])
    batch = rng.randint(1, n // 4)
    most = min(n - 1, max(1, round(batch + rng.uniform(-1, 4) * math.sqrt(batch))))
    sigma, steps = number(rng, (1.0, 6.0), (0.8, 100.0)), _steps(rng)
    q = mpf(batch) / n

    def above(people: int, least: int) -> Any:
        """P(Bin ≥ least), term by term."""
        p = (1 - q) ** people
        total = mpf(0)
        for k in range(people + 1):
            if k >= least:
                total += p
            p = p * (people - k) / (k + 1) * q / (1 - q)
        return total

    full = above(n - 1, most)
    inside = above(n, most + 1) * most / (n * full)
    kept = float((1 - full) * q + full * inside)
    truth = Contour([(training_step(sigma, kept), steps)])
    code = f"el.dpsgd(sigma={sigma!r}, n={n}, batch={batch}, steps={steps}, batches='truncated', truncation={most})"
    return Drawn(code, truth, spread(truth), only=_CURVE, readings=5)


class _LargestSum(Truth):
    """An epoch of T batches in random order: between an attack on the largest sum and being told the order."""

    def __init__(self, sigma: float, batches: int, replaced: bool) -> None:
        self.sigma, self.batches, self.replaced = sigma, batches, replaced
        self.mu = (2 if replaced else 1) / sigma

    def profile(self, x: float) -> Between | None:
        c = np.linspace(-10 * self.sigma, 10 * self.sigma + 4, 4001)
        rest = (self.batches - 1) * log_ndtr(c / self.sigma)
        stays = 0.0 if self.replaced else 1.0
        with_ = -np.expm1(log_ndtr((c - 2) / self.sigma) + rest)
        without = -np.expm1(log_ndtr((c - stays) / self.sigma) + rest)
        low = float(np.max(with_ - math.exp(min(float(x), 600.0)) * without))
        x = float(x)
        high = float(ndtr(self.mu / 2 - x / self.mu) - math.exp(min(x, 600.0)) * ndtr(-self.mu / 2 - x / self.mu))
        return Between(max(low, 0.0) * (1 - 1e-12), max(high, low) * (1 + 1e-12))

    def reverse(self) -> Truth:
        return self


@kind("shuffled batches", 0.5)
def _shuffled(rng: random.Random) -> Drawn:
    batch, epochs = rng.choice([1, 10, 50]), 1
    batches = rng.choice([1, 2, 10, 100, 1000])
    sigma = number(rng, (0.4, 4.0), (0.3, 30.0))
    replaced = rng.random() < 0.5
    told = ", neighbours='replace'" if replaced else ""
    code = f"el.dpsgd(sigma={sigma!r}, n={batch * batches}, batch={batch}, epochs={epochs}, batches='shuffled'{told})"
    truth = _LargestSum(sigma, batches, replaced)
    # in one order only: the other order's attack is another
    return Drawn(code, truth, truth.mu, only=frozenset(["advantage", "delta"]), readings=2, ordered=True)


# -- random distances -------------------------------------------------------------------------------------------------


def _binomial(k: int, q: float) -> list[tuple[float, int]]:
    """(probability, j) of j ≥ 1 of k."""
    rate = mpf(q)
    return [(float(MP.binomial(k, j) * rate**j * (1 - rate) ** (k - j)), j) for j in range(1, k + 1)]


@kind("groups", 1.5)
def _groups(rng: random.Random) -> Drawn:
    """A binomial number of a group is drawn."""
    k = rng.choice([2, 2, 3, 5, 10])
    sigma, q, steps = number(rng, (1.0, 8.0), (0.7, 200.0)), number(rng, (1e-3, 0.1), (1e-6, 0.5)), _steps(rng)
    of = [(w, j / sigma) for w, j in _binomial(k, q)]
    replaced = rng.random() < 0.3
    told = ", neighbours='replace'" if replaced else ""
    truth = Contour([(Mixed([(w, -c) for w, c in of] if replaced else [], of), steps)])
    if rng.random() < 0.5:
        code = f"el.dpsgd(sigma={sigma!r}, rate={q!r}, steps={steps}{told}, people={k})"
    else:
        code = f"el.group(el.dpsgd(sigma={sigma!r}, rate={q!r}, steps={steps}{told}), {k})"
    return Drawn(code, truth, spread(truth), heavy=True, readings=6)


@kind("drawn with replacement", 0.7)
def _with_replacement(rng: random.Random) -> Drawn:
    """A batch holds the person a binomial number of times, each in the place of another."""
    n = rng.choice([100, 1000, 10_000])
    batch = rng.choice([1, 2, 4])
    sigma, steps = number(rng, (1.5, 8.0), (1.0, 200.0)), _steps(rng)
    of = [(w, 2 * j / sigma) for w, j in _binomial(batch, 1 / n) if w > 1e-300]
    truth = Contour([(Mixed([], of), steps)])
    code = f"el.dpsgd(sigma={sigma!r}, n={n}, batch={batch}, steps={steps}, batches='with replacement')"
    return Drawn(code, truth, spread(truth), heavy=True, readings=5)


@kind("mixture", 0.7)
def _mixture(rng: random.Random) -> Drawn:
    """One release that moves by a random distance, or many."""
    sigma, size = number(rng, (0.5, 5.0), (0.2, 100.0)), rng.randint(1, 4)
    whole = [rng.randint(1, 2**20) for _ in range(size + 1)]
    weights = [w / 2**24 for w in whole]
    weights[0] += 1 - sum(weights)
    shifts = [0.0, *sorted(round(rng.uniform(0.05, 3.0), 3) for _ in range(size))]
    code = f"el.mechanisms.mixture(shifts={shifts!r}, weights={weights!r}, sigma={sigma!r})"
    scaled = [mpf(c) / mpf(sigma) for c in shifts]
    step = Mixed([], [(w, float(c)) for w, c in zip(weights[1:], scaled[1:], strict=True)])
    if rng.random() < 0.5:
        once = Normals([1], [0], weights, scaled)
        once.divergences = Contour([(step, 1)])
        return Drawn(code, once, spread(Contour([(step, 1)])), heavy=True, readings=6)
    steps = round(number(rng, (20, 500), (10, 5000)))
    truth = Contour([(step, steps)])
    return Drawn(f"{code}.repeat({steps})", truth, spread(truth), heavy=True, readings=6)
