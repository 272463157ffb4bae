"""Kinds of several releases of atoms observed together, by exact sums."""

from __future__ import annotations

import random

import numpy as np

from .atoms import LONG, Atoms, joint, long, multinomial, powered
from .draws import number
from .kinds import Drawn, discrete_gaussian_atoms, geometric_atoms, kind, rate_of, response_atoms
from .protocols import skellam_atoms
from .truth import MP

__all__: list[str] = []

mpf = MP.mpf


def _count(rng: random.Random, most: int) -> int:
    return round(number(rng, (2, min(most, 64)), (2, most)))


def shortened(pair: Atoms) -> Atoms:
    """The same in 18 digits."""
    if not pair.precise:
        return pair
    p, q, loss = (np.array([long(v) for v in side]) for side in (pair.p, pair.q, pair.loss))
    made = Atoms(p, q, loss, long(pair.only1), long(pair.only0))
    made.top, made.bottom = pair.top, pair.bottom
    return made


def drawn_with(pair: Atoms, rate: float) -> Atoms:
    """Q against (1−q)Q + qP, atom by atom."""
    q = mpf(rate)
    one = np.array([(1 - q) * b + q * a for a, b in zip(pair.p, pair.q, strict=True)], dtype=object)
    loss = np.array([MP.log1p(q * MP.expm1(v)) for v in pair.loss], dtype=object)
    return Atoms(one, pair.q, loss, q * pair.only1, pair.only0)


@kind("responses")
def _responses(rng: random.Random) -> Drawn:
    """Randomised response many times: how often each answer came is all that matters."""
    e, k = number(rng, (0.05, 3.0), (1e-9, 30.0)), rng.choice([2, 2, 3, 10])
    count = _count(rng, 20_000 if k == 2 else 150)
    pair = multinomial(response_atoms(e, k), count)
    code = f"el.mechanisms.randomized_response(epsilon={e!r}, k={k}).repeat({count})"
    return Drawn(code, pair, e * count**0.5, heavy=True)


@kind("sampled responses")
def _sampled_responses(rng: random.Random) -> Drawn:
    e, q = number(rng, (0.05, 3.0), (1e-6, 30.0)), rate_of(rng)
    count = _count(rng, 5_000)
    pair = multinomial(drawn_with(response_atoms(e, 2), q), count)
    code = f"el.subsample(el.mechanisms.pure(epsilon={e!r}), rate={q!r}).repeat({count})"
    return Drawn(code, pair, max(float(pair.top) / count**0.5, 1e-12), heavy=True)


@kind("geometrics")
def _geometrics(rng: random.Random) -> Drawn:
    e, d = number(rng, (0.05, 3.0), (1e-9, 30.0)), rng.choice([1, 1, 2, 5])
    one = geometric_atoms(d / mpf(e), d)
    told = "" if d == 1 else f", sensitivity={d}"
    count = _count(rng, 5_000 if d == 1 else 100)
    if d <= 2:
        pair = multinomial(one, count)
    else:
        short = shortened(one)
        p, q = powered(short.p[::-1], count), powered(short.q[::-1], count)
        loss = (2 * np.arange(p.size) - d * count).astype(LONG) * (LONG(e) / d)
        pair = Atoms(p, q, loss, rest=1e-18 * p.size)
        pair.parts = ((one, count),)
    return Drawn(f"el.mechanisms.geometric(epsilon={e!r}{told}).repeat({count})", pair, e * count**0.5, heavy=True)


@kind("discrete gaussians")
def _discrete_gaussians(rng: random.Random) -> Drawn:
    sigma = number(rng, (0.5, 6.0), (0.2, 20.0))
    count = rng.randint(2, max(2, min(40, int(60 / sigma))))
    s, reach = LONG(sigma), int(40 * sigma + 3)
    k = np.arange(-reach, reach + 1).astype(LONG)
    w = np.exp(-((k / s) ** 2) / 2)
    total = powered(w / w.sum(), count)
    at = np.arange(-reach * count, reach * count + 1)
    p, q = np.append(np.zeros(count, dtype=LONG), total), np.append(total, np.zeros(count, dtype=LONG))
    at = np.append(at, at[-1] + 1 + np.arange(count))
    keep = ((p > LONG(10) ** -330) | (q > LONG(10) ** -330)) & (p > 0) & (q > 0)
    loss = (2 * at - count).astype(LONG) / (2 * s * s)
    pair = Atoms(p[keep], q[keep], loss[keep], unbounded=True, rest=1e-18 * p.size)
    pair.parts = ((discrete_gaussian_atoms(sigma, 1), count),)
    code = f"el.mechanisms.discrete_gaussian(sigma={sigma!r}).repeat({count})"
    losses = count / (2 * sigma**2) + 2 * count**0.5 / sigma
    return Drawn(code, pair, losses, only=_MOSTLY, heavy=True)


@kind("two of integers", 0.4)
def _two(rng: random.Random) -> Drawn:
    """Two unlike releases of whole numbers: every pair of outcomes."""
    made = []
    for _ in range(2):
        way = rng.choice(["gaussian", "skellam", "geometric", "response", "staircase-like"])
        sampled = rng.random() < 0.4
        if way == "gaussian":
            sigma = number(rng, (0.5, 2.5), (0.3, 4.0))
            pair, code = discrete_gaussian_atoms(sigma, 1), f"el.mechanisms.discrete_gaussian(sigma={sigma!r})"
        elif way == "skellam":
            v = number(rng, (0.5, 6.0), (0.3, 12.0))
            pair, code = skellam_atoms(v, 1), f"el.mechanisms.skellam(variance={v!r})"
        elif way == "geometric":
            e, d = number(rng, (0.1, 3.0), (1e-4, 20.0)), rng.choice([1, 3])
            pair, code = geometric_atoms(d / mpf(e), d), f"el.mechanisms.geometric(epsilon={e!r}, sensitivity={d})"
        else:
            e = number(rng, (0.1, 3.0), (1e-4, 20.0))
            pair, code = response_atoms(e, 2), f"el.mechanisms.pure(epsilon={e!r})"
        if sampled:
            q = number(rng, (1e-3, 0.9), (1e-9, 1.0))
            q = min(q, 0.999)
            code = f"el.subsample({code}, rate={q!r})"
            if pair.precise:
                pair = shortened(drawn_with(pair, q))
            else:
                x = LONG(q) * np.expm1(pair.loss)
                made_loss = np.log1p(x)
                pair = Atoms(pair.q + LONG(q) * (pair.p - pair.q), pair.q, made_loss)
                pair.top, pair.bottom = float("inf"), LONG(np.log1p(-LONG(q)))
        short = shortened(pair)
        keep = (short.p > LONG(10) ** -320) | (short.q > LONG(10) ** -320)
        trimmed = Atoms(short.p[keep], short.q[keep], short.loss[keep], short.only1, short.only0)
        trimmed.top, trimmed.bottom = short.top, short.bottom
        made.append((trimmed, code))
    (one, first), (other, second) = made
    losses = float(np.sqrt((one.q * one.loss**2).sum() + (other.q * other.loss**2).sum()))
    code = f"el.compose({first}, {second})"
    return Drawn(code, joint(one, other), max(losses, 1e-12) * 3, only=_MOSTLY, heavy=True)


@kind("samples of integers", 0.5)
def _samples(rng: random.Random) -> Drawn:
    """Three samples with whole-number noise, whose losses share no unit: every triple of outcomes."""
    sigma, q = number(rng, (0.25, 0.45), (0.2, 0.5)), min(number(rng, (1e-3, 0.9), (1e-9, 1.0)), 1 - 1e-9)
    whole = discrete_gaussian_atoms(sigma, 1)
    loss = np.log1p(LONG(q) * np.expm1(whole.loss))
    pair = Atoms(whole.q + LONG(q) * (whole.p - whole.q), whole.q, loss)
    keep = (pair.p > LONG(10) ** -320) | (pair.q > LONG(10) ** -320)
    one = Atoms(pair.p[keep], pair.q[keep], pair.loss[keep])
    one.top, one.bottom = float("inf"), LONG(np.log1p(-LONG(q)))
    losses = float(np.sqrt(3 * (one.q * one.loss**2).sum()))
    code = f"el.subsample(el.mechanisms.discrete_gaussian(sigma={sigma!r}), rate={q!r}).repeat(3)"
    return Drawn(code, joint(joint(one, one), one), max(losses, 1e-12) * 3, only=_MOSTLY, heavy=True)


#: Readings that a truncated law of whole numbers has all digits of.
_MOSTLY = frozenset(
    ["advantage", "success", "delta", "epsilon", "roc", "recall", "tradeoff", "attack_success", "precision", "auc",
     "fbeta", "psi", "chernoff", "kl", "posterior"]
)  # fmt: skip
