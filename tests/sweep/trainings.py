"""Kinds of many releases with noise on the line, by contour: training, and Laplace and normal answers together."""

from __future__ import annotations

import math
import random

from .contour import Contour
from .draws import log_uniform, number
from .kinds import Drawn, kind, rate_of
from .steps import Mixed, NormalShift, Step, laplace_points


def training_step(sigma: float, rate: float, replaced: bool = False) -> Step:
    """N(0) against (1−q)·N(0) + q·N(1/σ); replaced, q·N(−1/σ) takes the place of the other."""
    mu = 1 / sigma
    if rate == 1:
        return NormalShift(2 * mu if replaced else mu)
    return Mixed([(rate, -mu)] if replaced else [], [(rate, mu)])


def spread(truth: Contour) -> float:
    """About the scale on which ε is worth asking: two standard deviations above the mean of the loss."""
    try:
        size = 2 * truth.kl().middle
    except (FloatingPointError, OverflowError):
        return 1.0
    return size / 2 + 2 * math.sqrt(size) if 0 < size < 1e6 else 1.0


def _steps_of(rng: random.Random) -> int:
    return round(number(rng, (20, 20_000), (2, 1e6)))


def _asked(code: str, truth: Contour, readings: int = 7) -> Drawn:
    return Drawn(code, truth, spread(truth), heavy=True, readings=readings)


@kind("training", 3.0)
def _training(rng: random.Random) -> Drawn:
    sigma, q, steps = number(rng, (0.5, 5.0), (0.3, 1e3)), number(rng, (1e-4, 0.2), (1e-8, 1.0)), _steps_of(rng)
    told = "" if rng.random() < 0.7 else ", width=1e-05"
    truth = Contour([(training_step(sigma, q), steps)])
    return _asked(f"el.dpsgd(sigma={sigma!r}, rate={q!r}, steps={steps}{told})", truth)


@kind("training, replaced", 1.5)
def _replaced(rng: random.Random) -> Drawn:
    sigma, q, steps = number(rng, (0.5, 5.0), (0.3, 1e3)), number(rng, (1e-4, 0.2), (1e-8, 1.0)), _steps_of(rng)
    truth = Contour([(training_step(sigma, q, True), steps)])
    return _asked(f"el.dpsgd(sigma={sigma!r}, rate={q!r}, steps={steps}, neighbours='replace')", truth)


@kind("training on a schedule")
def _schedule(rng: random.Random) -> Drawn:
    rows = rng.randint(2, 3)
    sigma = [number(rng, (0.7, 4.0), (0.4, 50.0)) for _ in range(rows)]
    q = [number(rng, (1e-3, 0.2), (1e-5, 1.0)) for _ in range(rows)]
    steps = [_steps_of(rng) for _ in range(rows)]
    truth = Contour([(training_step(s, r), k) for s, r, k in zip(sigma, q, steps, strict=True)])
    return _asked(f"el.dpsgd(schedule={{'sigma': {sigma!r}, 'rate': {q!r}, 'steps': {steps!r}}})", truth)


@kind("banded")
def _banded(rng: random.Random) -> Drawn:
    """b bands: groups in turn, each drawn b times as often and in every b-th step."""
    sigma, bands = number(rng, (0.7, 5.0), (0.4, 50.0)), rng.choice([1, 2, 5, 16])
    q = number(rng, (1e-4, 0.05), (1e-5, 1.0 / bands))
    steps = max(bands * 4, _steps_of(rng))
    truth = Contour([(training_step(sigma, min(bands * q, 1.0)), -(-steps // bands))])
    return _asked(f"el.mechanisms.banded(sigma={sigma!r}, rate={q!r}, bands={bands}, steps={steps})", truth)


@kind("answers", 1.5)
def _answers(rng: random.Random) -> Drawn:
    """Laplace and normal answers: the normal ones smooth the atoms of the others."""
    m, count = number(rng, (0.02, 1.0), (1e-4, 3.0)), round(number(rng, (1, 50), (1, 2000)))
    psi = m * log_uniform(rng, 0.6, 4.0) * rng.choice([1.0, math.sqrt(count)])
    parts: list[tuple[Step, int]] = [(laplace_points(m, 60 / psi), count), (NormalShift(psi), 1)]
    code = f"el.laplace(epsilon={m!r}).repeat({count}), el.gaussian(psi={psi!r})"
    if rng.random() < 0.3:
        sigma, q, steps = number(rng, (0.8, 4.0), (0.5, 20.0)), rate_of(rng), round(number(rng, (5, 500), (1, 5000)))
        q = max(q, 1e-6)
        parts.append((training_step(sigma, q), steps))
        code += f", el.dpsgd(sigma={sigma!r}, rate={q!r}, steps={steps})"
    return _asked(f"el.compose({code})", Contour(parts))
