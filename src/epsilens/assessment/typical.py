r"""What a release says about people as they are: a sample of them, and several together.

The numbers of an assessment are those of one worst-placed person. A real one adds less than the most to each number.
For a sample of the table's people the movement is known exactly, t = (what they add)/scale, and so are the names that
exist because of them alone. Up to ten Laplace numbers have their law in closed form; the losses of more are added on a
grid that rounds against the defender: each loss is shared by the two places of the grid around it so that both worlds
keep their masses, which is a mean-preserving spread of e^{−L} and can only help who guesses.

    success = (1 − p) + p·E₁[(1 − e^{ε₀−L})₊],   ε₀ = log((1 − p)/p).

Where one record is replaced by another, a person is told from a record that counts in no answer.

Several people together (a household) move the same numbers, k times as far, or are alone in groups of their own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from ..data.queries import Noise
from ..plan.contribution import Noisy
from ..plan.movement import Question, movements
from ..plan.noise import listed, scale_of
from ..plan.people import Person
from ..plan.plan import Release
from .faced import Faced, faced
from .worst import Facing

_CELLS = 4096  # of the grid that losses are added on
_TOGETHER = (2, 5, 10)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Typical:
    """The membership test against a sample of real people: how often it is right for each of them, at most.

    Where neighbours replace a record: how often it is right whether their record is there, or one that counts nowhere.
    """

    people: int
    median: float
    mean: float
    largest: float


def typical_of(plan: Release, people: Sequence[Person], epsilon: float) -> Typical | None:
    """How often the membership test is right for each of these people, given what they add to every noisy number.

    An upper bound, to six digits and more; never above that of the worst-placed person.
    """
    if not people:
        return None
    faces: dict[Person, float] = {}
    scales: dict[tuple[int, Noisy], float] = {}
    for person in dict.fromkeys(people):
        moved = Counter[float]()
        for i, noisy, amount in person.moved:
            if (i, noisy) not in scales:
                scales[i, noisy] = scale_of(plan, i, noisy, epsilon)
            moved[abs(amount) / scales[i, noisy]] += 1
        shown = 1 - math.prod(1 - listed(plan, i, epsilon, members) for i, members in person.alone)
        faces[person] = guess_right(moved, plan.adversary.prior, plan.mechanism.noise, shown)
    worst = Facing(_membership(plan, epsilon, 1)).read("success", {"prior": plan.adversary.prior})
    odds = np.minimum([faces[person] for person in people], worst)
    return Typical(len(people), float(np.median(odds)), float(odds.mean()), float(odds.max()))


def guess_right(moved: Mapping[float, int], prior: float, noise: Noise, shown: float = 0.0) -> float:
    """How often the best guess is right: numbers moved by so much, in units of noise, so often; names with a chance.

    >>> [round(guess_right({1.0: k}, 0.5, Noise.LAPLACE), 3) for k in (1, 2)]
    [0.697, 0.724]
    """
    shifts = tuple(sorted((t, k) for t, k in moved.items() if t))
    if noise is Noise.GAUSSIAN:
        face = Faced((), math.sqrt(math.fsum(k * t * t for t, k in shifts)), 0.0, shown)
    else:
        face = Faced(shifts, 0.0, 0.0, shown)
    if face.closed or face.certain:
        return Facing((face,)).read("success", {"prior": prior})
    level = math.log1p(-prior) - math.log(prior) - math.log1p(-shown)
    found = shown + (1 - shown) * _on_a_grid(shifts, level)
    return min(max((1 - prior) + prior * found, prior, 1 - prior), 1.0)


def _on_a_grid(shifts: Sequence[tuple[float, int]], level: float) -> float:
    """E₁[(1 − e^{level−L})₊] of many Laplace numbers, from above."""
    total = math.fsum(t * k for t, k in shifts)
    step = 2 * total / _CELLS
    spectrum: Any = 1.0
    # A number moved by t has its losses on places from −n to n steps, n·step > t.
    sizes = [math.floor(t / step) + 1 for t, _ in shifts]
    reach = sum(n * k for n, (_, k) in zip(sizes, shifts, strict=True))
    many = int(next_fast_len(2 * reach + 1, real=True))
    for n, (t, k) in zip(sizes, shifts, strict=True):
        spectrum = spectrum * rfft(_shared(np.arange(-n, n + 1.0) * step, t), n=many) ** k
    law: Floats = np.maximum(irfft(spectrum, n=many), 0.0)[: 2 * reach + 1]
    loss = np.arange(-reach, reach + 1) * step
    gained = float(np.sum(law * -np.expm1(np.minimum(level - loss, 0.0))))
    return gained + many * 2.0**-50  # of the transform


def _shared(at: Floats, t: float) -> Floats:
    """The masses of one Laplace number moved by t on these places, as the second world has them.

    Below each place lie F₁ of the second world and F₀ of the first, F₀ = ∫e^{−L}dF₁. A piece between two places with
    the masses m₁, m₀ is shared so that both are kept: the upper place gets (m₁e^{−low} − m₀)/(e^{−low} − e^{−high}).
    """
    inside = np.clip(at, -t, t)
    second = np.where(at >= t, 1.0, np.where(at < -t, 0.0, 0.5 * np.exp((inside - t) / 2)))
    first = np.where(at >= t, 1.0, np.where(at < -t, 0.0, 1 - 0.5 * np.exp(-(inside + t) / 2)))
    low, high = at[:-1], at[1:]
    # Relative to the lower place, so that nothing is lost where losses are large.
    m1, m0 = np.diff(second), np.diff(first) * np.exp(low)
    upper = (m1 - m0) / -np.expm1(low - high)
    masses = np.zeros(len(at))
    masses[1:] += upper
    masses[:-1] += m1 - upper
    masses[0] += second[0]
    return np.maximum(masses, 0.0)


def _membership(plan: Release, epsilon: float, people: int) -> tuple[Faced, ...]:
    found = (faced(plan, m, epsilon) for m in movements(plan, Question.MEMBERSHIP, people).each)
    return tuple(e for e in found if e is not None)


def together_of(plan: Release, epsilon: float) -> tuple[tuple[int, float], ...]:
    """How often it is right at most whether k people are in the table or none of them; replaced by k others or not.

    The worst of all ways in which they share groups: all in one, each alone in their own, or anything between.
    """
    made = []
    for k in _TOGETHER:
        facing = Facing(_membership(plan, epsilon, k))
        made.append((k, facing.read("success", {"prior": plan.adversary.prior})))
    return tuple(made)
