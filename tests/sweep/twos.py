"""Kinds of two releases with noise on the line, by quadrature."""

from __future__ import annotations

import random

import numpy as np

from .curves import Curve, LaplaceCurve, LogisticCurve, NormalCurve, ReplacedCurve, SampledCurve
from .draws import number
from .kinds import Drawn, kind, rate_of
from .two import Two

__all__: list[str] = []

_ONLY = frozenset(
    ["advantage", "success", "delta", "epsilon", "roc", "recall", "tradeoff", "attack_success", "precision", "fbeta",
     "posterior"]
)  # fmt: skip


def _scale(pair: Two, rng: random.Random) -> float:
    """A loss that one of the two may have."""
    u = rng.uniform(-1.0, 4.0)
    at = [
        float(np.abs(c.loss(np.asarray(min(max(u, 0.0), c.top if c.jumps else u))))) for c in (pair.first, pair.second)
    ]
    return max(sum(at), 1e-12)


def _curve(rng: random.Random) -> tuple[Curve, str]:
    way = rng.choice(["laplace", "gaussian", "training", "sampled laplace"])
    if way == "laplace":
        e = number(rng, (0.05, 4.0), (1e-6, 50.0))
        return LaplaceCurve(e), f"el.laplace(epsilon={e!r})"
    if way == "gaussian":
        psi = number(rng, (0.05, 4.0), (1e-4, 12.0))
        return NormalCurve(psi), f"el.gaussian(psi={psi!r})"
    q = min(rate_of(rng), 0.999)
    if way == "training":
        sigma = number(rng, (0.5, 5.0), (0.15, 300.0))
        return SampledCurve(NormalCurve(1 / sigma), q), f"el.dpsgd(sigma={sigma!r}, rate={q!r}, steps=1)"
    e = number(rng, (0.1, 4.0), (1e-4, 30.0))
    return SampledCurve(LaplaceCurve(e), q), f"el.subsample(el.laplace(epsilon={e!r}), rate={q!r})"


@kind("two answers", 1.5)
def _two(rng: random.Random) -> Drawn:
    (one, first), (other, second) = _curve(rng), _curve(rng)
    if isinstance(one, NormalCurve) and isinstance(other, NormalCurve):
        other, second = LaplaceCurve(0.7), "el.laplace(epsilon=0.7)"
    # along the smoother one
    pair = Two(other, one) if other.jumps and not one.jumps else Two(one, other)
    return Drawn(f"el.compose({first}, {second})", pair, _scale(pair, rng), only=_ONLY, heavy=True, readings=5)


@kind("two steps of training", 1.5)
def _steps(rng: random.Random) -> Drawn:
    sigma, q = number(rng, (0.4, 5.0), (0.15, 300.0)), min(rate_of(rng), 0.999)
    curve = SampledCurve(NormalCurve(1 / sigma), q)
    pair = Two(curve, curve)
    return Drawn(
        f"el.dpsgd(sigma={sigma!r}, rate={q!r}, steps=2)", pair, _scale(pair, rng), only=_ONLY, heavy=True, readings=5
    )


@kind("two steps of training, replaced")
def _replaced(rng: random.Random) -> Drawn:
    sigma, q = number(rng, (0.4, 5.0), (0.2, 300.0)), min(rate_of(rng), 0.999)
    curve = ReplacedCurve(1 / sigma, q)
    pair = Two(curve, curve)
    code = f"el.dpsgd(sigma={sigma!r}, rate={q!r}, steps=2, neighbours='replace')"
    return Drawn(code, pair, _scale(pair, rng), only=_ONLY, heavy=True, readings=4)


@kind("two selections", 0.5)
def _selections(rng: random.Random) -> Drawn:
    """Above two unlike two-point answers there is the product of the worst cases: at or below it, above both alone."""
    a, b = (number(rng, (0.1, 3.0), (1e-3, 20.0)) for _ in range(2))
    one, other = LogisticCurve(a), LaplaceCurve(b)
    code = f"el.compose(el.mechanisms.exponential(epsilon={a!r}), el.mechanisms.permute_and_flip(epsilon={b!r}))"
    pair = Two(other, one)
    return Drawn(code, pair, a + b, only=_ONLY - {"epsilon", "posterior"}, heavy=True, readings=4, width=1.0)
