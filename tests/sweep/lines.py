"""One release with noise on the line, in 60 digits: normal mixtures, Laplace noise, logistic noise.

Each pair is said by the two distribution functions and by where the likelihood ratio exceeds a threshold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .truth import MP, Between, Truth, exact

mpf = MP.mpf
_SLACK = mpf(10) ** -25  # what root-finding leaves


def near(value: Any) -> Between:
    """A number found by a search to 25 digits."""
    return Between(value * (1 - _SLACK), value * (1 + _SLACK))


def increasing_root(f: Callable[[Any], Any], low: Any, high: Any, digits: int = 40) -> Any:
    """Where an increasing function changes sign: Illinois steps between safe ends."""
    a, b = mpf(low), mpf(high)
    fa, fb = f(a), f(b)
    if fa >= 0:
        return a
    if fb <= 0:
        return b
    side = 0
    for i in range(400):
        c = (a + b) / 2 if i % 4 == 3 else (a * fb - b * fa) / (fb - fa)
        if not a < c < b:
            c = (a + b) / 2
        fc = f(c)
        if fc < 0:
            a, fa = c, fc
            fb = fb / 2 if side == -1 else fb
            side = -1
        else:
            b, fb = c, fc
            fa = fa / 2 if side == 1 else fa
            side = 1
        if b - a <= mpf(10) ** -digits * max(abs(a), abs(b), mpf(10) ** -30):
            break
    return (a + b) / 2


def _upper(y: Any) -> Any:
    """P(N(0,1) > y), with all digits in the tail."""
    return MP.erfc(y / MP.sqrt(2)) / 2


class _Monotone(Truth):
    """A pair on the line whose likelihood ratio rises with the outcome."""

    def tails(self, y: Any) -> tuple[Any, Any]:
        """(Q, P) of outcomes above y."""
        raise NotImplementedError

    def heads(self, y: Any) -> tuple[Any, Any]:
        """(Q, P) of outcomes below y."""
        raise NotImplementedError

    def where(self, x: Any) -> Any:
        """The outcome of which L is x, for x strictly between bottom and top."""
        raise NotImplementedError

    def ends(self) -> tuple[Any, Any]:
        """Outcomes beyond which there is nothing at 1e-330."""
        raise NotImplementedError

    def profile(self, x: float) -> Between:
        x = mpf(x)
        if x >= self.top:
            return exact(mpf(0))
        if x <= self.bottom:
            return exact(1 - MP.exp(x))
        q, p = self.tails(self.where(x))
        return near(p - MP.exp(x) * q)

    def _quantile(self, share: Any, of: int, upper: bool) -> Any:
        """y with P or Q mass ``share`` above (below) it."""
        low, high = self.ends()
        goal = MP.log(share)
        if upper:
            return increasing_root(lambda y: goal - MP.log(self.tails(y)[of]), low, high)
        return increasing_root(lambda y: MP.log(self.heads(y)[of]) - goal, low, high)

    def recall(self, alpha: float) -> Between:
        a = mpf(alpha)
        if a <= 0:
            return exact(mpf(0))
        if a >= 1:
            return exact(mpf(1))
        y = self._quantile(a, 0, True) if a <= 0.5 else self._quantile(1 - a, 0, False)
        return near(self.tails(y)[1])

    def missed(self, alpha: float) -> Between:
        a = mpf(alpha)
        if a <= 0:
            return exact(mpf(1))
        if a >= 1:
            return exact(mpf(0))
        y = self._quantile(a, 0, True) if a <= 0.5 else self._quantile(1 - a, 0, False)
        return near(self.heads(y)[1])

    def needed(self, recall: float) -> Between:
        r = mpf(recall)
        if r <= 0:
            return exact(mpf(0))
        if r >= 1:
            return exact(mpf(1))
        y = self._quantile(r, 1, True) if r <= 0.5 else self._quantile(1 - r, 1, False)
        return near(self.tails(y)[0])


class Normals(_Monotone):
    """Σ w₁ N(c₁, 1) against Σ w₀ N(c₀, 1), every c₁ at least every c₀."""

    def __init__(self, w0: Sequence[Any], c0: Sequence[Any], w1: Sequence[Any], c1: Sequence[Any]) -> None:
        self.w0, self.c0, self.w1, self.c1 = ([mpf(v) for v in s] for s in (w0, c0, w1, c1))
        self.divergences: Truth | None = None  # of mixtures, by quadrature
        first = [(s.index(min(s)), s) for s in (self.c0, self.c1)]
        last = [(s.index(max(s)), s) for s in (self.c0, self.c1)]
        same_low = first[0][1][first[0][0]] == first[1][1][first[1][0]]
        same_high = last[0][1][last[0][0]] == last[1][1][last[1][0]]
        self.bottom = MP.log(self.w1[first[1][0]] / self.w0[first[0][0]]) if same_low else -math.inf
        self.top = MP.log(self.w1[last[1][0]] / self.w0[last[0][0]]) if same_high else math.inf

    def tails(self, y: Any) -> tuple[Any, Any]:
        return (
            sum(w * _upper(y - c) for w, c in zip(self.w0, self.c0, strict=True)),
            sum(w * _upper(y - c) for w, c in zip(self.w1, self.c1, strict=True)),
        )

    def heads(self, y: Any) -> tuple[Any, Any]:
        return (
            sum(w * _upper(c - y) for w, c in zip(self.w0, self.c0, strict=True)),
            sum(w * _upper(c - y) for w, c in zip(self.w1, self.c1, strict=True)),
        )

    def ends(self) -> tuple[Any, Any]:
        return min(self.c0 + self.c1) - 40, max(self.c0 + self.c1) + 40

    def _loss(self, y: Any) -> Any:
        one = sum(w * MP.exp(c * y - c * c / 2) for w, c in zip(self.w1, self.c1, strict=True))
        nil = sum(w * MP.exp(c * y - c * c / 2) for w, c in zip(self.w0, self.c0, strict=True))
        return MP.log(one / nil)

    def where(self, x: Any) -> Any:
        if len(self.w0) == 1 and self.c0[0] == 0:
            c = [v for v in self.c1 if v]
            if len(c) == 1:  # (1−q) + q·e^{cy − c²/2} = e^x
                q = self.w1[self.c1.index(c[0])]
                return MP.log((MP.exp(x) - 1 + q) / q) / c[0] + c[0] / 2
        widest = max(abs(c) for c in self.c0 + self.c1)
        reach = abs(x) / widest + widest + 60 + 200 / widest
        return increasing_root(lambda y: self._loss(y) - x, -reach, reach)

    def area(self) -> Between:
        root = MP.sqrt(2)
        pairs = [
            (v * w, _upper((c0 - c1) / root))
            for v, c0 in zip(self.w0, self.c0, strict=True)
            for w, c1 in zip(self.w1, self.c1, strict=True)
        ]
        return near(sum(w * p for w, p in pairs))

    def log_moment(self, a: float) -> Between | None:
        if len(self.w0) == len(self.w1) == 1:
            a = mpf(a)
            return near(a * (a - 1) / 2 * (self.c1[0] - self.c0[0]) ** 2)
        return self.divergences.log_moment(a) if self.divergences else None

    def kl(self) -> Between | None:
        if len(self.w0) == len(self.w1) == 1:
            return near((self.c1[0] - self.c0[0]) ** 2 / 2)
        return self.divergences.kl() if self.divergences else None

    def reverse(self) -> Normals:
        made = Normals(self.w1, [-c for c in self.c1], self.w0, [-c for c in self.c0])
        made.divergences = self.divergences.reverse() if self.divergences else None
        return made


class Laplace(Truth):
    """Lap(0, 1) against Lap(m, 1). With y between 0 and m: P(Y > y) = 1 − e^{y−m}/2, Q(Y > y) = e^{−y}/2."""

    def __init__(self, m: float) -> None:
        self.m = mpf(m)
        self.top, self.bottom = self.m, -self.m

    def profile(self, x: float) -> Between:
        x = mpf(x)
        if x >= self.m:
            return exact(mpf(0))
        return exact(1 - MP.exp(x)) if x <= -self.m else exact(-MP.expm1((x - self.m) / 2))

    def missed(self, alpha: float) -> Between:
        a, e = mpf(alpha), MP.exp(-self.m)
        if a <= e / 2:
            return exact(1 - a / e)
        return exact(e / (4 * a)) if a <= 0.5 else exact(e * (1 - a))

    def recall(self, alpha: float) -> Between:
        a, e = mpf(alpha), MP.exp(-self.m)
        return exact(a / e) if a <= e / 2 else exact(1 - self.missed(alpha).low)

    def needed(self, recall: float) -> Between:
        r, e = mpf(recall), MP.exp(-self.m)
        if r <= 0.5:
            return exact(r * e)
        return exact(e / (4 * (1 - r))) if 1 - r >= e / 2 else exact(1 - (1 - r) / e)

    def log_moment(self, a: float) -> Between:
        """∫ of the three stretches, each an exponential."""
        a, m = mpf(a), self.m
        ends = MP.exp(-a * m) / 2 + MP.exp(-(1 - a) * m) / 2
        k = 2 * a - 1  # between 0 and m: e^{−(1−a)y − a(m−y)}/2 = e^{−am}·e^{ky}/2
        inside = MP.exp(-a * m) * (MP.expm1(k * m) / k if k else m) / 2
        return near(MP.log(ends + inside))

    def kl(self) -> Between:
        return exact(self.m - 1 + MP.exp(-self.m))

    def area(self) -> Between:
        return exact(1 - (mpf(1) / 2 + self.m / 4) * MP.exp(-self.m))

    def reverse(self) -> Laplace:
        return self


class Logistic(_Monotone):
    """Logistic(0) against Logistic(m): logit of the recall is logit of the false-positive rate plus m."""

    def __init__(self, m: float) -> None:
        self.m = mpf(m)
        self.top, self.bottom = self.m, -self.m

    def profile(self, x: float) -> Between:
        """max over α of R(α) − e^x·α: where R(1−R)/(α(1−α)) = e^x."""
        x = mpf(x)
        if x >= self.m:
            return exact(mpf(0))
        if x <= -self.m:
            return exact(1 - MP.exp(x))
        b, g = MP.exp((self.m - x) / 2), MP.exp(self.m)  # 1 − α + g·α = b with g = e^m
        alpha = (b - 1) / (g - 1)
        return near(g * alpha / b - MP.exp(x) * alpha)

    def recall(self, alpha: float) -> Between:
        a, g = mpf(alpha), MP.exp(self.m)
        return exact(g * a / (1 - a + g * a))

    def missed(self, alpha: float) -> Between:
        a, g = mpf(alpha), MP.exp(self.m)
        return exact((1 - a) / (1 - a + g * a))

    def needed(self, recall: float) -> Between:
        r, g = mpf(recall), MP.exp(self.m)
        return exact(r / (r + g * (1 - r)))

    def area(self) -> Between:
        g = MP.exp(self.m)  # ∫ g·a/(1 + (g−1)a) da
        return near(g / (g - 1) - g * self.m / (g - 1) ** 2)

    def kl(self) -> Between:
        """E over α uniform of −log R′(α), R′ = g/(1+(g−1)a)²: 2·E log(1+(g−1)a) − m."""
        g = MP.exp(self.m)
        return near(2 * (g * self.m / (g - 1) - 1) - self.m)

    def log_moment(self, a: float) -> Between | None:
        """∫ R′(α)^a dα = g^a·(1 − g^{1−2a})/((2a−1)(g−1))."""
        a, m = mpf(a), self.m
        k = 1 - 2 * a
        value = MP.exp(a * m) * (MP.expm1(k * m) / k if k else m) / MP.expm1(m)
        return near(MP.log(value))

    def reverse(self) -> Logistic:
        return self


class AnyScores(Logistic):
    """The largest over all pairs whose losses lie ε apart at most: at a point logistic, in sums some two-point pair.

    With p the H0-mass of the larger of two losses and B = e^ε − 1, H1 has p(1+B)/(1+pB): each sum is taken of that very
    pair, at the p where its slope is 0, and must not be smaller at any p beside it.
    """

    @staticmethod
    def _best(p: Any, value: Callable[[Any], Any], way: int = 1) -> Between:
        beside = [min(p * (1 + mpf(s)), 1) for s in (-0.1, -1e-6, 1e-6, 0.1)]
        assert all(way * (value(b) - value(p)) <= abs(value(p)) * mpf(10) ** -30 for b in beside)
        return near(value(p))

    def area(self) -> Between:
        b = MP.expm1(self.m)
        p = 1 / (1 + MP.exp(self.m / 2))  # ½ + (recall − α)/2
        return self._best(p, lambda p: (1 + p * (1 + b) / (1 + p * b) - p) / 2)

    def kl(self) -> Between:
        b = MP.expm1(self.m)
        return self._best(1 / self.m - 1 / b, lambda p: MP.log1p(p * b) - p * self.m)

    def log_moment(self, a: float) -> Between | None:
        a = mpf(a)
        if a in (0, 1):
            return exact(mpf(0))
        big, b = MP.expm1(a * self.m), MP.expm1(self.m)
        at = (big - a * b) / ((a - 1) * big * b)
        way = -1 if 0 < a < 1 else 1  # the smallest affinity, the largest moment
        return self._best(at, lambda p: MP.log1p(p * big) - a * MP.log1p(p * b), way)


class Stretched(Truth):
    """Lap(0, 1) against Lap(d, s): log ratio linear on three stretches, so a threshold cuts at most four times."""

    def __init__(self, d: float, s: float) -> None:
        self.d, self.s = mpf(d), mpf(s)
        peak = [self._loss(mpf(0)), self._loss(self.d)]
        self.top = math.inf if self.s > 1 else max(peak)
        self.bottom = -math.inf if self.s < 1 else min(peak)

    def _loss(self, y: Any) -> Any:
        return abs(y) - abs(y - self.d) / self.s - MP.log(self.s)

    def _mass(self, low: Any, high: Any) -> tuple[Any, Any]:
        """(Q, P) of an interval."""

        def between(a: Any, b: Any) -> Any:  # standard Laplace mass
            if a >= 0:
                return (MP.exp(-a) - MP.exp(-b)) / 2
            if b <= 0:
                return (MP.exp(b) - MP.exp(a)) / 2
            return 1 - MP.exp(a) / 2 - MP.exp(-b) / 2

        return between(low, high), between((low - self.d) / self.s, (high - self.d) / self.s)

    def tails(self, x: Any) -> tuple[Any, Any]:
        """(Q, P) of L > x."""
        knots = [-MP.inf, mpf(0), self.d, MP.inf]
        q = p = mpf(0)
        for a, b, slope in zip(knots[:-1], knots[1:], (1 / self.s - 1, 1 / self.s + 1, 1 - 1 / self.s), strict=True):
            at = a if a != -MP.inf else b
            level = self._loss(at) - x
            if slope == 0:
                low, high = (a, b) if level > 0 else (a, a)
            else:
                cut = at - level / slope
                low, high = (max(a, cut), b) if slope > 0 else (a, min(b, cut))
            if high > low:
                dq, dp = self._mass(low, high)
                q, p = q + dq, p + dp
        return q, p

    def profile(self, x: float) -> Between:
        q, p = self.tails(mpf(x))
        return near(p - MP.exp(x) * q)

    def recall(self, alpha: float) -> Between | None:
        return near(self._dual(mpf(alpha))) if alpha > 1e-30 else None  # x would need more digits near the top

    def _dual(self, a: Any) -> Any:
        low = self.bottom if self.bottom > -math.inf else mpf(-1500) * (1 + self.d)
        high = self.top if self.top < math.inf else mpf(1500) * (1 + self.d)
        x = increasing_root(lambda v: a - self.tails(v)[0], low, high)
        q, p = self.tails(x)
        return p - MP.exp(x) * (q - a)

    def kl(self) -> Between:
        """E_Q of log s + |Y−d|/s − |Y|: E|Y−d| = d + e^{−d}."""
        return near(MP.log(self.s) + (self.d + MP.exp(-self.d)) / self.s - 1)


class Sampled(Truth):
    """Q against (1−q)Q + qP: the same tests, h(t) = q·h₀((t − 1 + q)/q)."""

    def __init__(self, base: Truth, q: float) -> None:
        self.base, self.q, self.closed = base, mpf(q), base.closed
        self.divergences: Truth | None = None  # by quadrature
        self.top = MP.log1p(self.q * MP.expm1(base.top)) if base.top < math.inf else math.inf
        self.bottom = MP.log1p(self.q * MP.expm1(base.bottom)) if self.q < 1 or base.bottom > -math.inf else -math.inf

    def profile(self, x: float) -> Between | None:
        t = MP.exp(mpf(x))
        inner = (t - 1 + self.q) / self.q
        if inner <= 0:
            return exact(1 - t)
        found = self.base.profile(MP.log(inner))
        return None if found is None else found * self.q

    def recall(self, alpha: float) -> Between | None:
        found = self.base.recall(alpha)
        return None if found is None else found * self.q + (1 - self.q) * mpf(alpha)

    def missed(self, alpha: float) -> Between | None:
        found = self.base.missed(alpha)
        return None if found is None else found * self.q + (1 - self.q) * (1 - mpf(alpha))

    def needed(self, recall: float) -> Between | None:
        r = mpf(recall)
        if r <= 0 or r >= 1:
            return exact(r)

        def reached(v: Any) -> Any:  # v is log of α
            a = MP.exp(v)
            found = self.base.recall(a)
            assert found is not None
            return MP.log(((1 - self.q) * a + self.q * found.low) / r)

        return near(MP.exp(increasing_root(reached, mpf(-2000), mpf(0))))

    def area(self) -> Between | None:
        found = self.base.area()
        return None if found is None else found * self.q + (1 - self.q) / 2

    def log_moment(self, a: float) -> Between | None:
        return self.divergences.log_moment(a) if self.divergences else None

    def kl(self) -> Between | None:
        return self.divergences.kl() if self.divergences else None

    def reverse(self) -> Truth:
        return _SampledBack(self)


class _SampledBack(Truth):
    """(1−q)Q + qP against Q: (Q − t·((1−q)Q + qP))₊ = ((1 − t(1−q))·Q − tq·P)₊."""

    def __init__(self, first: Sampled) -> None:
        self.first, self.base, self.q, self.closed = first, first.base.reverse(), first.q, first.closed
        self.top, self.bottom = -first.bottom, -first.top

    def profile(self, x: float) -> Between | None:
        t = MP.exp(mpf(x))
        left = 1 - t * (1 - self.q)
        if left <= 0 or mpf(x) >= self.top:
            return exact(mpf(0))
        found = self.base.profile(MP.log(t * self.q / left))
        return None if found is None else found * left

    def recall(self, alpha: float) -> Between | None:
        """The Q-mass u of the least telling outcomes, where (1−q)·u + q·(their P-mass) is α."""
        a = mpf(alpha)
        if a <= 0 or a >= 1:
            return exact(a)

        def over(v: Any) -> Any:
            u = MP.exp(v)
            found = self.base.needed(u)
            assert found is not None
            return MP.log(((1 - self.q) * u + self.q * found.low) / a)

        return near(MP.exp(increasing_root(over, mpf(-2000), mpf(0))))

    def needed(self, recall: float) -> Between | None:
        found = self.base.needed(recall)
        return None if found is None else found * self.q + (1 - self.q) * mpf(recall)

    def area(self) -> Between | None:
        return self.first.area()

    def log_moment(self, a: float) -> Between | None:
        return self.first.log_moment(1 - mpf(a))

    def kl(self) -> Between | None:
        return self.first.divergences.reverse().kl() if self.first.divergences else None

    def reverse(self) -> Truth:
        return self.first
