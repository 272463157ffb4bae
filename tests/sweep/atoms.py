"""Pairs with countably many outcomes, by exact sums: numbers of 18 digits, or of 60 where there are few atoms.

Each atom has its P-mass and its loss, given without cancellation; Q = P·e^{−loss}. All sums are of positive terms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .truth import MP, Between, Truth

LONG = np.longdouble
_exp, _expm1, _log = (np.frompyfunc(f, 1, 1) for f in (MP.exp, MP.expm1, MP.log))


def long(x: Any) -> Any:
    """A number of 60 digits as one of 18."""
    head = float(x)
    return LONG(head) + LONG(float(MP.mpf(x) - head)) if math.isfinite(head) else LONG(head)


class Atoms(Truth):
    """Atoms (P-mass, Q-mass, loss) sorted by falling loss; ``only1`` and ``only0`` are where the other has nothing.

    ``rest`` bounds the P-mass and Q-mass left out on either side, as a relative error of every sum.
    """

    def __init__(
        self, p: Any, q: Any, loss: Any, only1: Any = 0, only0: Any = 0, *, rest: float = 0.0, unbounded: bool = False
    ) -> None:
        rank = np.argsort(-loss.astype(float), kind="stable")
        self.p, self.q, self.loss = p[rank], q[rank], loss[rank]
        self.only1, self.only0, self.rest, self.cut = only1, only0, rest, unbounded
        self.parts: tuple[tuple[Atoms, int], ...] = ()  # of a product: divergences add up
        wide = bool(only1) or unbounded
        self.top = math.inf if wide else self.loss[0]
        self.bottom = -math.inf if (bool(only0) or unbounded) else self.loss[-1]
        self.precise = self.p.dtype == object
        self.cum_p, self.cum_q = np.cumsum(self.p) + only1, np.cumsum(self.q)
        self.tail_p = np.cumsum(self.p[::-1])[::-1]
        self.tail_q = np.cumsum(self.q[::-1])[::-1] + only0

    def error(self, value: Any) -> Between:
        slack = self.rest + (1e-40 if self.precise else 3e-17)
        return Between(value * (1 - slack), value * (1 + slack))

    @property
    def corners(self) -> list[Any]:
        """In 60 digits alone: of 18 the last are lost to the cumulated sum."""
        inside = [a for a in self.cum_q if 0 < a < 1] if self.precise else []
        return inside[:: len(inside) // 16 + 1]

    def _at(self, x: Any) -> Any:
        return MP.mpf(x) if self.precise else long(x)

    def profile(self, x: float) -> Between:
        x = self._at(x)
        above = self.loss > x
        gain = _expm1(x - self.loss[above]) if self.precise else np.expm1(x - self.loss[above])
        return self.error((-gain * self.p[above]).sum() + self.only1)

    def recall(self, alpha: float) -> Between:
        """Up the corners of the curve, and along its edges."""
        a = self._at(alpha)
        i = int(np.searchsorted(self.cum_q, a, side="right")) if not self.precise else int(np.sum(self.cum_q <= a))
        if i >= len(self.p):
            return self.error(self.cum_p[-1])
        before_q, before_p = (self.cum_q[i - 1], self.cum_p[i - 1]) if i else (0 * a, self.only1 + 0 * a)
        return self.error(before_p + (a - before_q) * self.p[i] / self.q[i])

    def missed(self, alpha: float) -> Between:
        """What lies beyond the corner, summed from the far end."""
        a, nil = self._at(alpha), 0 * self._at(alpha)
        found = self.recall(alpha)
        if found.high < 0.5:
            return Between(1 - found.high, 1 - found.low)
        if a <= 0.5:
            i = int(np.sum(self.cum_q <= a))
            part = self.cum_q[i] - a if i < len(self.p) else nil
        else:
            left = 1 - MP.mpf(alpha)  # exact
            left = left if self.precise else long(left)
            if left <= self.only0:
                return self.error(nil)
            i = len(self.p) - 1 - int(np.sum(self.tail_q <= left))
            part = left - (self.tail_q[i + 1] if i + 1 < len(self.p) else self.only0) if i >= 0 else nil
            if i < 0:
                return self.error(1 - self.only1 + nil)
        if i >= len(self.p):
            return self.error(nil)
        beyond = self.tail_p[i + 1] if i + 1 < len(self.p) else nil
        return self.error(beyond + min(max(part / self.q[i], nil), 1 + nil) * self.p[i])

    def needed(self, recall: float) -> Between:
        r = self._at(recall)
        if r <= self.only1:
            return Between(0 * r, 0 * r)
        if r <= 0.5:
            i = int(np.sum(self.cum_p < r))
            if i >= len(self.p):
                return self.error(self.cum_q[-1])
            share = (r - (self.cum_p[i - 1] if i else self.only1)) / self.p[i]
        else:  # by what is missed
            left = 1 - MP.mpf(recall)
            left = left if self.precise else long(left)
            i = len(self.p) - 1 - int(np.sum(self.tail_p <= left))
            if i < 0:
                return Between(0 * r, 0 * r)
            beyond = self.tail_p[i + 1] if i + 1 < len(self.p) else 0 * r
            share = 1 - (left - beyond) / self.p[i]
        before = self.cum_q[i - 1] if i else 0 * r
        return self.error(before + min(max(share, 0 * r), 1 + 0 * r) * self.q[i])

    def log_moment(self, a: float) -> Between | None:
        if self.parts:
            found = [(one.log_moment(a), count) for one, count in self.parts]
            return _total([v * count for v, count in found if v]) if all(v for v, _ in found) else None
        a = self._at(a)
        if self.cut:  # whether what was cut off would matter
            terms = np.log(self.p) - (1 - a) * self.loss
            if max(terms[0], terms[-1]) > terms.max() - 60:
                return None
        if (a > 1 and self.only1) or (a < 0 and self.only0):
            return Between(math.inf, math.inf)
        if self.precise:
            terms = _exp(a * _log(self.p) + (1 - a) * _log(self.q))
            total = terms.sum() + (self.only1 if a == 1 else 0) + (self.only0 if a == 0 else 0)
            value = MP.log(total)
            if abs(value) < MP.mpf(10) ** -20 and a not in (0, 1):  # what differs from 1, with both first orders out
                excess = (self.q * (_expm1(a * self.loss) - a * _expm1(self.loss))).sum()
                value = MP.log1p(excess - a * self.only1 - (1 - a) * self.only0)
        else:  # P·(e^{(a−1)l}): near 1 as a sum of what differs from 1, with both first orders taken out
            u = np.expm1(-self.loss)  # Q/P − 1
            c = 1 - a
            small = np.abs(u) * (1 + abs(c)) < LONG(1e-3)
            u = np.where(small, u, 0)
            series = c * (c - 1) / 2 * u * u * (1 + (c - 2) / 3 * u * (1 + (c - 3) / 4 * u * (1 + (c - 4) / 5 * u)))
            big = -c * self.loss
            peak = np.max(np.log(self.p) + big)
            if peak > 30 or self.only0 or self.only1:
                terms = np.log(self.p) + big
                value = peak + np.log(np.exp(terms - peak).sum())
            else:
                excess = (self.p * np.where(small, series, np.expm1(big) - c * np.expm1(-self.loss))).sum()
                value = np.log1p(excess) if excess > -0.5 else peak + np.log(np.exp(np.log(self.p) + big - peak).sum())
        slack = abs(value) * (1e-14 if not self.precise else 1e-30) + self.rest
        return Between(value - slack, value + slack)

    def kl(self) -> Between:
        if self.parts:
            return _total([one.kl() * count for one, count in self.parts])
        if self.only0:
            return Between(math.inf, math.inf)
        if self.precise:
            value = (self.q * (-self.loss + _expm1(self.loss))).sum() + self.only1
        else:
            u = self.loss
            series = u * u / 2 * (1 + u / 3 * (1 + u / 4 * (1 + u / 5)))
            value = (self.q * np.where(np.abs(u) < LONG(1e-4), series, np.expm1(u) - u)).sum() + self.only1
        return Between(value * (1 - 1e-14) - self.rest, value * (1 + 1e-14) + self.rest)

    def area(self) -> Between:
        before = np.append(self.only1 + 0 * self.p[:1], self.cum_p[:-1])
        return self.error((self.q * (before + self.p / 2)).sum() + self.only0 * 1)

    def reverse(self) -> Atoms:
        made = Atoms(self.q, self.p, -self.loss, self.only0, self.only1, rest=self.rest)
        made.top, made.bottom = -self.bottom, -self.top
        made.cut = self.cut
        made.parts = tuple((one.reverse(), count) for one, count in self.parts)
        made.ulp, made.closed = self.ulp, self.closed
        return made


def _total(parts: list[Between]) -> Between:
    return Between(sum(v.low for v in parts), sum(v.high for v in parts))


def from_masses(p0: Any, p1: Any) -> Atoms:
    """Two lists of probabilities as they are written, in 60 digits, each divided by its sum."""
    q, p = ([MP.mpf(float(v)) for v in side] for side in (p0, p1))
    q, p = ([v / sum(side) for v in side] for side in (q, p))
    both = [(b, a) for a, b in zip(q, p, strict=True) if a and b]
    only1 = sum((b for a, b in zip(q, p, strict=True) if not a), MP.mpf(0))
    only0 = sum((a for a, b in zip(q, p, strict=True) if not b), MP.mpf(0))
    pp = np.array([b for b, _ in both] or [MP.mpf(0)], dtype=object)
    qq = np.array([a for _, a in both] or [MP.mpf(0)], dtype=object)
    loss = _log(pp / qq) if both else np.array([MP.mpf(0)], dtype=object)
    return Atoms(pp, qq, loss, only1, only0)


def convolved(p: Any, q: Any) -> Any:
    """The masses of a sum on one lattice: nothing is subtracted, so every digit stays."""
    return np.convolve(p, q)


def powered(p: Any, count: int) -> Any:
    """The masses of a sum of ``count``."""
    made, square = None, p
    while count:
        if count & 1:
            made = square if made is None else convolved(made, square)
        count >>= 1
        if count:
            square = convolved(square, square)
    return made


def joint(one: Atoms, other: Atoms) -> Atoms:
    """Both observed: every pair of atoms."""
    p = np.multiply.outer(one.p, other.p).ravel()
    q = np.multiply.outer(one.q, other.q).ravel()
    loss = np.add.outer(one.loss, other.loss).ravel()
    only1 = one.only1 + other.only1 * (1 - one.only1)
    only0 = one.only0 + other.only0 * (1 - one.only0)
    made = Atoms(p, q, loss, only1, only0, rest=one.rest + other.rest)
    made.top, made.bottom = one.top + other.top, one.bottom + other.bottom
    made.parts = ((one, 1), (other, 1))
    return made


def multinomial(one: Atoms, count: int, log_factorial: Callable[[int], Any] | None = None) -> Atoms:
    """``count`` copies of a pair of two or three atoms: how often each appeared is all that matters."""
    k = len(one.p)
    assert k in (2, 3)
    first = np.arange(count + 1)
    if k == 2:
        n = np.stack([first, count - first])
    else:
        i, j = np.meshgrid(first, first, indexing="ij")
        keep = i + j <= count
        n = np.stack([i[keep], j[keep], count - i[keep] - j[keep]])
    factorial = np.concatenate(([LONG(0)], np.cumsum(np.log(np.arange(1, count + 1).astype(LONG)))))
    ways = factorial[count] - factorial[n].sum(axis=0)
    as_long = [np.array([long(v) for v in side]) if one.precise else side for side in (one.p, one.q, one.loss)]
    p, q, loss = as_long
    log_p, log_q = np.log(p), np.log(q)
    only1, only0 = (1 - (1 - long(only)) ** count for only in (one.only1, one.only0))
    mass1, mass0 = (np.exp(ways + (n * logs[:, None]).sum(axis=0)) for logs in (log_p, log_q))
    mass1, mass0 = mass1 * ((1 - only1) / mass1.sum()), mass0 * ((1 - only0) / mass0.sum())
    rest = max(1e-15, 1e-18 * float(factorial[count]))  # the digits that logs so large leave
    made = Atoms(mass1, mass0, (n * loss[:, None]).sum(axis=0), only1, only0, rest=rest)
    made.ulp, made.closed = 2e-16 * (1 + count / 30), max(1e-12, 1e-14 * count)
    made.top, made.bottom = count * one.top, count * one.bottom
    made.parts = ((one, count),)
    return made
