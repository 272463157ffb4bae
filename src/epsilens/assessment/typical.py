r"""What a release says about people as they are: a sample of them, and several together.

The numbers of an assessment are those of one worst-placed person. A real one adds less than the most to each number.
For a sample of the table's people the movement is known exactly, t = (what they add)/scale, and so is the law: the
privacy loss of a Laplace number moved by t is t with probability ½, −t with ½e^{−t}, and has the distribution function
½e^{(l−t)/2} between, if they are there. The losses of several numbers add up; they are added on a grid, to six digits
of the answer:

    success = (1 − p) + p·E₁[(1 − e^{ε₀−L})₊],   ε₀ = log((1 − p)/p).

Several people together (a household) move the same numbers, k times as far, or are alone in groups of their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import log_ndtr

from ..data.queries import Noise
from ..plan.contribution import Noisy
from ..plan.movement import Question, movements
from ..plan.noise import scale_of
from ..plan.plan import Release
from .faced import faced
from .worst import Facing

__all__ = ["Typical", "guesses_right", "together_of", "typical_of"]

_CELLS = 1024  # of the grid that losses are added on
_TOGETHER = (2, 5, 10)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Typical:
    """The membership test against a sample of real people: how often it is right for each of them."""

    people: int
    median: float
    mean: float
    largest: float


def typical_of(plan: Release, people: Sequence[Sequence[tuple[int, Noisy, float]]], epsilon: float) -> Typical | None:
    """How often the membership test is right for each of these people, given what they add to every noisy number."""
    if not people:
        return None
    scales: dict[tuple[int, Noisy], float] = {}
    rows = []
    for moved in people:
        for i, noisy, _ in moved:
            if (i, noisy) not in scales:
                scales[i, noisy] = scale_of(plan, i, noisy, epsilon)
        rows.append([abs(amount) / scales[i, noisy] for i, noisy, amount in moved])
    shifts = np.zeros((len(rows), max(map(len, rows))))
    for k, row in enumerate(rows):
        shifts[k, : len(row)] = row
    odds = guesses_right(shifts, plan.adversary.prior, plan.mechanism.noise)
    return Typical(len(rows), float(np.median(odds)), float(odds.mean()), float(odds.max()))


def guesses_right(shifts: Floats, prior: float, noise: Noise) -> Floats:
    """How often the best guess is right: one row of ``shifts`` a person, each in units of its noise.

    >>> guesses_right(np.array([[1.0, 0.0], [1.0, 1.0]]), 0.5, Noise.LAPLACE).round(3).tolist()
    [0.697, 0.724]
    """
    level = math.log1p(-prior) - math.log(prior)
    if noise is Noise.GAUSSIAN:
        return _normal(np.sqrt((shifts**2).sum(axis=1)), prior, level)
    total = shifts.sum(axis=1)
    made = np.full(len(shifts), max(prior, 1 - prior))
    moved = total > 0
    if not moved.any():
        return made
    t, whole = shifts[moved], total[moved]
    step = 2 / _CELLS
    places = (np.arange(-1, _CELLS + 2) * step - 1) * whole[:, None]
    many = next_fast_len(t.shape[1] * _CELLS + 1, real=True)
    spectrum = np.ones((len(whole), many // 2 + 1), complex)
    for column in t.T:
        # Each mass is shared by the two places of the grid around it, so that its mean stays.
        masses = np.diff(_area(places, column[:, None]), 2, axis=1) / (step * whole[:, None])
        spectrum *= rfft(masses, n=many, axis=1)
    law = irfft(spectrum, n=many, axis=1)
    loss = (np.arange(many) * step - t.shape[1]) * whole[:, None]
    gain = -np.expm1(np.minimum(level - loss, 0.0))
    made[moved] = np.clip((1 - prior) + prior * (law * gain).sum(axis=1), max(prior, 1 - prior), 1.0)
    return made


def _area(loss: Floats, shift: Floats) -> Floats:
    """∫P₁(L ≤ l) up to ``loss``, of one Laplace number moved by ``shift``."""
    inside = np.exp(-shift / 2) * (np.exp(np.clip(loss, -shift, shift) / 2) - np.exp(-shift / 2))
    return np.asarray(inside + np.maximum(loss - shift, 0.0))


def _normal(mu: Floats, prior: float, level: float) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        hits = prior * np.exp(log_ndtr(mu / 2 - level / mu)) + (1 - prior) * np.exp(log_ndtr(mu / 2 + level / mu))
    return np.where(mu > 0, hits, max(prior, 1 - prior))


def together_of(plan: Release, epsilon: float) -> tuple[tuple[int, float], ...]:
    """How often it is right at most whether k people are in the table or none of them; replaced by k others or not.

    The worst of all ways in which they share groups: all in one, each alone in their own, or anything between.
    """
    made = []
    for k in _TOGETHER:
        found = [faced(plan, m, epsilon) for m in movements(plan, Question.MEMBERSHIP, k).each]
        facing = Facing(tuple(e for e in found if e is not None))
        made.append((k, facing.read("success", {"prior": plan.adversary.prior})))
    return tuple(made)
