"""The exact law of all answers for one pair of worlds, and its readings: nothing of epsilens is used here.

A pair of worlds moves independent noisy numbers by t, in scales of their noise, and may list names of groups that exist
in one world only: in the second with probability ``q1``, in the first with ``q0``. Such a name settles the question.

Laplace. One number has the loss L = |y| − |y − t|. Tilted by exp(−L/2), its law in the second world is
e^{−t/2}·(half an atom at each of ±t, and the density 1/4 between), whatever t. So k numbers have e^{−S/2} times the
convolution of such measures, whose Laplace transform is a sum over signs, e^{s·σt}·(1 + 1/2s)^p (1 − 1/2s)^{k−p} with p
signs up: powers of s, hence incomplete gamma functions. All terms are at most 1 and there are 2^k times 2^k of them, so
that rounding costs less than 4^k·1e-16, and like numbers are taken together.

Gaussian. The law is N(0, 1) against N(‖t‖, 1).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import gammainc, log_ndtr

_MOST_TERMS = 20_000


@lru_cache(maxsize=4096)
def _terms(t: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each sum of signed t, how many signs are up, and in how many ways."""
    counted = sorted(Counter(t).items())
    if math.prod(n + 1 for _, n in counted) * len(t) > _MOST_TERMS:
        raise OverflowError("too many different movements")
    at, up, ways = np.zeros(1), np.zeros(1, dtype=int), np.ones(1)
    for size, n in counted:
        j = np.arange(n + 1)
        at = (at[:, None] + size * (2 * j - n)[None, :]).ravel()
        up = (up[:, None] + j[None, :]).ravel()
        ways = (ways[:, None] * np.array([math.comb(n, int(i)) for i in j])[None, :]).ravel()
    return at, up, ways


@lru_cache(maxsize=256)
def _powers(k: int) -> np.ndarray:
    """Row p: the coefficients of (1 + x)^p (1 − x)^(k − p)."""
    made = np.zeros((k + 1, k + 1))
    for p in range(k + 1):
        one = np.array([1.0])
        for i in range(k):
            one = np.convolve(one, [1.0, 1.0 if i < p else -1.0])
        made[p] = one
    return made


def laplace_delta(t: tuple[float, ...], epsilon: float) -> float:
    """δ(ε) of independent Laplace numbers moved by t scales."""
    total = math.fsum(t)
    if epsilon < 0:
        return -math.expm1(epsilon) + math.exp(epsilon) * laplace_delta(t, -epsilon)
    if epsilon >= total:
        return 0.0
    if len(t) == 1:
        return -math.expm1((epsilon - total) / 2)
    at, up, ways = _terms(t)
    inside = at > epsilon
    at, up, ways = at[inside], up[inside], ways[inside]
    k, room = len(t), at - epsilon
    made = np.exp((at - total) / 2) - np.exp(epsilon - (at + total) / 2)  # the atoms
    answer = float(np.sum(ways * made))
    coefficients = _powers(k)[up]
    half = room / 2
    below = np.expm1(half)  # (1/2)^j ∫ u^(j−1)/(j−1)! e^{u/2}, j = 1, and so on by parts
    power = np.ones_like(half)
    for j in range(1, k + 1):
        if j > 1:
            power = power * half / (j - 1)
            below = power * np.exp(half) - below
        made = np.exp((at - total) / 2) * gammainc(j, half) - np.exp(epsilon - (at + total) / 2) * below
        answer += float(np.sum(ways * coefficients[:, j] * made))
    return min(max(answer / 2.0**k, 0.0), 1.0)


def gaussian_delta(psi: float, epsilon: float) -> float:
    """δ(ε) of normal noise, ψ scales apart."""
    if psi <= 0:
        return max(0.0, -math.expm1(epsilon))
    first = math.exp(log_ndtr(psi / 2 - epsilon / psi))
    return max(first - math.exp(epsilon + log_ndtr(-psi / 2 - epsilon / psi)), 0.0)


@dataclass(frozen=True)
class Pair:
    """Two worlds: Laplace movements, or the length of a normal one, and the chances that a name settles it."""

    t: tuple[float, ...]
    gaussian: bool
    q0: float = 0.0
    q1: float = 0.0

    @classmethod
    def of(cls, moved: Iterable[float], gaussian: bool, q0: float = 0.0, q1: float = 0.0) -> Pair:
        """From numbers that move by so many scales of their noise; of too many different ones the largest are read."""
        t = tuple(sorted((x for x in moved if x), reverse=True))
        if gaussian:
            return cls((math.hypot(*t),) if t else (), True, q0, q1)
        while math.prod(n + 1 for n in Counter(t).values()) * len(t) > _MOST_TERMS:
            t = t[:-1]  # who looks at fewer numbers sees less: below the truth, and so no false alarm
        return cls(t, False, q0, q1)

    @staticmethod
    def laplace_above(x: float) -> float:
        """P(Z ≥ x) of Laplace noise of scale 1."""
        return 0.5 * math.exp(-x) if x >= 0 else 1 - 0.5 * math.exp(x)

    @property
    def turned(self) -> Pair:
        return Pair(self.t, self.gaussian, self.q1, self.q0)

    @property
    def conclusive(self) -> bool:
        return self.q1 > 0 or (self.gaussian and bool(self.t))

    def _noise(self, epsilon: float) -> float:
        if self.gaussian:
            return gaussian_delta(math.hypot(*self.t), epsilon)
        return laplace_delta(self.t, epsilon) if self.t else max(0.0, -math.expm1(epsilon))

    def beyond(self, epsilon: float) -> float:
        """E₁[(1 − e^ε dH0/dH1)₊]."""
        if self.q1 >= 1:
            return 1.0
        if self.q0 >= 1:
            return self.q1 + (1 - self.q1)
        return self.q1 + (1 - self.q1) * self._noise(epsilon + math.log1p(-self.q0) - math.log1p(-self.q1))

    def delta(self, epsilon: float) -> float:
        return max(self.beyond(epsilon), self.turned.beyond(epsilon))

    def success(self, prior: float = 0.5) -> float:
        return (1 - prior) + prior * self.beyond(math.log((1 - prior) / prior))

    def advantage(self) -> float:
        return self.beyond(0.0)

    def posterior(self, prior: float = 0.5) -> float:
        if self.conclusive or self.q0 >= 1:
            return 1.0
        odds = prior / (1 - prior) * math.exp(math.fsum(self.t)) / (1 - self.q0)
        return odds / (1 + odds)

    def roc(self, fpr: float) -> float:
        if self.q1 >= 1 or self.q0 >= 1:
            return 1.0
        length = math.hypot(*self.t) if self.t else 0.0
        reach = 40 * length + length**2 + 1 if self.gaussian else math.fsum(self.t)
        shift = math.log1p(-self.q1) - math.log1p(-self.q0)

        def line(epsilon: float) -> float:
            return math.exp(epsilon) * fpr + self.beyond(epsilon)

        ends = [line(shift - reach), line(shift + reach)]
        if reach > 0:
            found = minimize_scalar(
                line, bounds=(shift - reach, shift + reach), method="bounded", options={"xatol": 1e-10}
            )
            ends.append(float(found.fun))
        return min(*ends, 1.0)

    recall = roc

    def attack_success(self, baseline: float) -> float:
        return self.roc(baseline)

    def epsilon(self, delta: float = 0.0) -> float:
        if max(self.q0, self.q1) > delta or (self.gaussian and self.t and not delta):
            return math.inf
        if self.delta(0.0) <= delta:
            return 0.0
        top = 1.0
        while self.delta(top) > delta:
            top *= 2
        return float(brentq(lambda e: self.delta(e) - delta, 0.0, top, xtol=1e-12)) if delta else math.fsum(self.t)

    def read(self, reading: str, arguments: dict[str, float]) -> float:
        return float(getattr(self, reading)(**arguments))


def dominated(pairs: list[Pair]) -> list[Pair]:
    """The pairs that no other makes needless: each movement, largest first, and each chance at least as large.

    More movement is more to see (the sorted t may be taken cell by cell, as the cells are alike), and a likelier name
    can be hidden again by who sees it.
    """
    if not pairs:
        return []
    wide = max(len(p.t) for p in pairs)
    rows = {
        (*(round(x, 12) for x in sorted(p.t, reverse=True)), *[0.0] * (wide - len(p.t)), p.q0, p.q1): p for p in pairs
    }
    table = np.array(list(rows))
    order = np.argsort(-table.sum(axis=1), kind="stable")
    kept: list[int] = []
    for i in order:
        if not kept or not np.any(np.all(table[kept] >= table[i] - 1e-12, axis=1)):
            kept.append(int(i))
    found = list(rows.values())
    return [found[i] for i in kept]


def product(*several: list[Pair]) -> list[Pair]:
    """All ways to take one of each, seen together."""
    made = []
    for chosen in itertools.product(*several):
        t = tuple(sorted((x for p in chosen for x in p.t), reverse=True))
        q0 = 1 - math.prod(1 - p.q0 for p in chosen)
        q1 = 1 - math.prod(1 - p.q1 for p in chosen)
        if chosen and chosen[0].gaussian and t:
            t = (math.hypot(*t),)
        made.append(Pair(t, any(p.gaussian for p in chosen), q0, q1))
    return made
