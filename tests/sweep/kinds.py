"""The kinds of experiment the sweep draws: for each the code that builds it, and its truth by another way."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from .atoms import LONG, Atoms, from_masses
from .contour import Contour
from .draws import log_uniform, number
from .lines import Laplace, Normals, Sampled, Stretched
from .steps import Mixed, laplace_points, sampled_points
from .truth import MP, Truth


@dataclass(frozen=True)
class Drawn:
    """One experiment: how to build it, what is true of it, and the scale of its loss."""

    code: str
    truth: Truth
    losses: float
    width: float = 1e-3
    only: frozenset[str] | None = None
    readings: int = 16
    heavy: bool = False
    ordered: bool = False  # known in the order in which it is built


Draw = Callable[[random.Random], Drawn]
KINDS: dict[str, Draw] = {}
#: How often each is drawn, about: less often where the library takes long.
WEIGHTS: dict[str, float] = {}


def kind(name: str, weight: float = 1.0) -> Callable[[Draw], Draw]:
    def register(draw: Draw) -> Draw:
        KINDS[name], WEIGHTS[name] = draw, weight
        return draw

    return register


def epsilon_of(rng: random.Random) -> float:
    return number(rng, (0.05, 10.0), (1e-12, 700.0))


def rate_of(rng: random.Random) -> float:
    return number(rng, (1e-4, 0.5), (1e-12, 1.0))


# -- one release ---------------------------------------------------------------------------------------------------


@kind("laplace")
def _laplace(rng: random.Random) -> Drawn:
    e = epsilon_of(rng)
    if rng.random() < 0.3:
        sensitivity = log_uniform(rng, 1e-3, 1e3)
        shift = sensitivity * rng.choice([1.0, 0.5, 0.125])
        m = MP.mpf(e) * MP.mpf(shift) / MP.mpf(sensitivity)
        return Drawn(f"el.laplace(epsilon={e!r}, sensitivity={sensitivity!r}, shift={shift!r})", Laplace(m), float(m))
    return Drawn(f"el.laplace(epsilon={e!r})", Laplace(e), e)


@kind("gaussian")
def _gaussian(rng: random.Random) -> Drawn:
    psi = number(rng, (0.05, 6.0), (1e-12, 100.0))
    losses = psi * psi / 2 + 2 * psi
    if rng.random() < 0.5:
        sigma = 1 / psi
        return Drawn(f"el.gaussian(sigma={sigma!r})", Normals([1], [0], [1], [1 / MP.mpf(sigma)]), losses)
    return Drawn(f"el.gaussian(psi={psi!r})", Normals([1], [0], [1], [psi]), losses)


@kind("stretched laplace")
def _stretched(rng: random.Random) -> Drawn:
    e, s = number(rng, (0.05, 5.0), (1e-3, 50.0)), number(rng, (0.3, 3.0), (0.01, 100.0))
    if s == 1:
        s = 1.25
    only = frozenset(["advantage", "success", "delta", "epsilon", "roc", "recall", "fbeta", "kl"])
    return Drawn(f"el.laplace(epsilon={e!r}, stretch={s!r})", Stretched(e, s), e + abs(math.log(s)), only=only)


@kind("sampled laplace")
def _sampled_laplace(rng: random.Random) -> Drawn:
    e, q = epsilon_of(rng), rate_of(rng)
    made = Sampled(Laplace(e), q)
    made.divergences = Contour([(sampled_points(laplace_points(e), q), 1)])
    return Drawn(f"el.subsample(el.laplace(epsilon={e!r}), rate={q!r})", made, float(made.top), heavy=True)


@kind("training, one step")
def _one_step(rng: random.Random) -> Drawn:
    sigma, q = number(rng, (0.5, 5.0), (0.05, 1e3)), rate_of(rng)
    mu = 1 / MP.mpf(sigma)
    losses = float(MP.log1p(MP.mpf(q) * MP.expm1(min(mu * mu / 2 + 2 * mu, MP.mpf(600)))))
    truth = Normals([1], [0], [1 - MP.mpf(q), q], [0, mu]) if q < 1 else Normals([1], [0], [1], [mu])
    if q < 1:
        truth.divergences = Contour([(Mixed([], [(q, 1 / sigma)]), 1)])
    return Drawn(f"el.dpsgd(sigma={sigma!r}, rate={q!r}, steps=1)", truth, losses, heavy=True)


@kind("training, one step, replaced")
def _one_step_replaced(rng: random.Random) -> Drawn:
    sigma, q = number(rng, (0.5, 5.0), (0.05, 1e3)), rate_of(rng)
    mu = 1 / MP.mpf(sigma)
    w = [1 - MP.mpf(q), MP.mpf(q)]
    losses = float(MP.log1p(MP.mpf(q) * MP.expm1(min(mu * mu / 2 + 2 * mu, MP.mpf(600)))))
    truth = Normals(w, [0, -mu], w, [0, mu]) if q < 1 else Normals([1], [-mu], [1], [mu])
    if q < 1:
        truth.divergences = Contour([(Mixed([(q, -1 / sigma)], [(q, 1 / sigma)]), 1)])
    return Drawn(f"el.dpsgd(sigma={sigma!r}, rate={q!r}, steps=1, neighbours='replace')", truth, losses, heavy=True)


# -- atoms -----------------------------------------------------------------------------------------------------------


def geometric_atoms(scale: float, d: int) -> Atoms:
    """P(k) ∝ e^{−|k−d|/b}: below 0 and above d the loss stays the same, so two geometric series and d − 1 atoms."""
    r = MP.exp(-1 / MP.mpf(scale))
    norm = (1 - r) / (1 + r)
    k = range(d + 1)
    p = [norm * r ** (d - i) for i in k]
    q = [norm * r**i for i in k]
    p[0], q[0] = p[0] / (1 - r), q[0] / (1 - r)
    p[d], q[d] = p[d] / (1 - r), q[d] / (1 - r)
    loss = [(2 * i - d) / MP.mpf(scale) for i in k]
    return Atoms(*(np.array(v, dtype=object) for v in (p, q, loss)))


@kind("geometric")
def _geometric(rng: random.Random) -> Drawn:
    e = epsilon_of(rng)
    s = rng.choice([1, 1, 1, 2, 3, 7, 20])
    d = rng.randint(1, s)
    told = "" if s == 1 else f", sensitivity={s}, shift={d}"
    scale = s / MP.mpf(e)
    return Drawn(f"el.mechanisms.geometric(epsilon={e!r}{told})", geometric_atoms(scale, d), e * d / s)


def discrete_gaussian_atoms(sigma: float, d: int, order: float = 2.0) -> Atoms:
    """P(k) ∝ e^{−(k−d)²/2σ²} with loss (2kd − d²)/2σ², as far as the 18 digits and the tilt of the order reach."""
    s = LONG(sigma)
    reach = math.ceil(60 * sigma + abs(order) * d + 3)
    k = np.arange(-reach, reach + d + 1)
    a, b = (k - d).astype(LONG) / s, k.astype(LONG) / s
    wp, wq = np.exp(-a * a / 2), np.exp(-b * b / 2)
    total = wp.sum()
    loss = (2 * k * d - d * d).astype(LONG) / (2 * s * s)
    keep = (wp > 0) & (wq > 0)
    return Atoms(wp[keep] / total, wq[keep] / total, loss[keep], unbounded=True)


@kind("discrete gaussian")
def _discrete_gaussian(rng: random.Random) -> Drawn:
    sigma = number(rng, (0.5, 10.0), (0.1, 200.0))
    s = rng.choice([1, 1, 2, 5])
    d = rng.randint(1, s)
    told = "" if s == 1 else f", sensitivity={s}, shift={d}"
    losses = d * d / (2 * sigma * sigma) + 2 * d / sigma
    return Drawn(f"el.mechanisms.discrete_gaussian(sigma={sigma!r}{told})", discrete_gaussian_atoms(sigma, d), losses)


def response_atoms(epsilon: float, k: int) -> Atoms:
    """Truth with e^ε/(e^ε + k − 1), any other answer with 1/(e^ε + k − 1)."""
    g = MP.exp(epsilon)
    p, q, loss = [g, MP.mpf(1)], [MP.mpf(1), g], [MP.mpf(epsilon), -MP.mpf(epsilon)]
    if k > 2:
        p, q, loss = [*p, MP.mpf(k - 2)], [*q, MP.mpf(k - 2)], [*loss, MP.mpf(0)]
    total = g + k - 1
    return Atoms(
        np.array([v / total for v in p], dtype=object), np.array([v / total for v in q], dtype=object),
        np.array(loss, dtype=object)
    )  # fmt: skip


@kind("randomized response")
def _response(rng: random.Random) -> Drawn:
    e, k = epsilon_of(rng), rng.choice([2, 2, 3, 4, 10, 1000])
    return Drawn(f"el.mechanisms.randomized_response(epsilon={e!r}, k={k})", response_atoms(e, k), e)


@kind("pure")
def _pure(rng: random.Random) -> Drawn:
    e = epsilon_of(rng)
    return Drawn(f"el.mechanisms.pure(epsilon={e!r})", response_atoms(e, 2), e)


@kind("approximate")
def _approximate(rng: random.Random) -> Drawn:
    e, delta = epsilon_of(rng), log_uniform(rng, 1e-300, 0.9) if rng.random() < 0.3 else log_uniform(rng, 1e-12, 0.5)
    base = response_atoms(e, 2)
    d = MP.mpf(delta)
    return Drawn(
        f"el.mechanisms.approximate(epsilon={e!r}, delta={delta!r})",
        Atoms(base.p * (1 - d), base.q * (1 - d), base.loss, d, d), e,
    )  # fmt: skip


def _masses(rng: random.Random, size: int) -> list[float]:
    """Whole multiples of 2^−53 that add up to 1, so that no digit of the input is in doubt."""
    while True:
        w = [rng.choice([0.0, 1.0, 1.0, 1e-6]) * log_uniform(rng, 1e-6, 1.0) for _ in range(size)]
        if sum(w) > 1e-7:
            whole = [round(v / sum(w) * 2**53) for v in w]
            whole[whole.index(max(whole))] += 2**53 - sum(whole)
            if sum(v > 0 for v in whole) > 1 and min(whole) >= 0:
                return [v / 2**53 for v in whole]


@kind("finite")
def _finite(rng: random.Random) -> Drawn:
    size = rng.randint(2, 8)
    p0, p1 = _masses(rng, size), _masses(rng, size)
    truth = from_masses(p0, p1)
    return Drawn(f"el.mechanisms.finite({p0!r}, {p1!r})", truth, 2.0)


@kind("exponential, scores")
def _exponential(rng: random.Random) -> Drawn:
    e, n = number(rng, (0.1, 10.0), (1e-6, 300.0)), rng.randint(2, 6)
    s0 = [rng.randint(-24, 24) / 8 for _ in range(n)]
    moved = [1.0] + [rng.choice([-1.0, -0.5, 0.0, 0.25]) for _ in s0[1:]]  # not all alike: that would tell nothing
    s1 = [s + d for s, d in zip(s0, moved, strict=True)]
    with MP.workdps(700):  # masses 1 − e^{−ε·5/2} are told from 1
        w0, w1 = ([MP.exp(MP.mpf(e) * MP.mpf(s) / 2) for s in side] for side in (s0, s1))
        q, p = ([v / sum(side) for v in side] for side in (w0, w1))
        loss = [MP.log(b / a) for a, b in zip(q, p, strict=True)]
    truth = Atoms(*(np.array(v, dtype=object) for v in (p, q, loss)))
    return Drawn(f"el.mechanisms.exponential(scores0={s0!r}, scores1={s1!r}, epsilon={e!r})", truth, e)


@kind("staircase")
def _staircase(rng: random.Random) -> Drawn:
    """Cells on which both densities are constant, as far as 60 digits see."""
    e = number(rng, (0.1, 8.0), (0.02, 100.0))
    told = ""
    eps = MP.mpf(e)
    gamma = 1 / (1 + MP.exp(eps / 2))
    if rng.random() < 0.5:
        gamma_told = round(rng.uniform(0.02, 0.98), 2)
        gamma, told = MP.mpf(gamma_told), f", gamma={gamma_told}"
    cells = int(min(130 / e, 400)) + 2
    fade = MP.exp(-eps)
    height = (1 - fade) / (2 * (gamma + fade * (1 - gamma)))

    def level(y: Any) -> Any:
        a = abs(y)
        k = MP.floor(a)
        return height * fade ** (k + (0 if a - k < gamma else 1))

    knots = sorted({MP.mpf(k) + s * gamma for k in range(-cells, cells + 1) for s in (-1, 0, 1)})
    middle = [(a + b) / 2 for a, b in pairwise(knots)]
    size = [b - a for a, b in pairwise(knots)]
    mass: dict[int, list[Any]] = {}
    for y, w in zip(middle, size, strict=True):
        q, p = level(y), level(y - 1)
        at = int(MP.nint(MP.log(p / q) / eps))
        have = mass.setdefault(at, [MP.mpf(0), MP.mpf(0)])
        have[0] += w * p
        have[1] += w * q
    keys = sorted(mass)
    assert (keys[0], keys[-1]) == (-1, 1)
    # beyond the last knot the loss is ±ε: what is missing goes there
    lacking_p = 1 - sum(v[0] for v in mass.values())
    lacking_q = 1 - sum(v[1] for v in mass.values())
    g = MP.exp(eps)  # lacking_p = a + b, lacking_q = a/g + b·g
    a = (g * lacking_p - lacking_q) / (g - 1 / g)
    b = lacking_p - a
    mass[1][0] += a
    mass[1][1] += a / g
    mass[-1][0] += b
    mass[-1][1] += b * g
    truth = Atoms(
        np.array([mass[k][0] for k in keys], dtype=object), np.array([mass[k][1] for k in keys], dtype=object),
        np.array([k * eps for k in keys], dtype=object)
    )  # fmt: skip
    return Drawn(f"el.mechanisms.staircase(epsilon={e!r}{told})", truth, e)
