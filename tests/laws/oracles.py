"""The same readings in mpmath, from the definitions, to 50 digits and more: what the laws are tested against.

Arguments are doubles taken as exact. Nothing here imports epsilens. Textbook forms are used on purpose, and the working
precision is raised until their cancellation does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise, product
from typing import Any

from mpmath import mp, mpf
from scipy.special import ndtri

Real = Any  # an mpf

mp.dps = 50


def grid(*axes: Iterable[Any]) -> list[tuple[Any, ...]]:
    return list(product(*axes))


def disagreements(
    cases: Iterable[tuple[Any, ...]],
    value: Callable[..., Any],
    truth: Callable[..., Real],
    rel: float = 1e-12,
) -> list[str]:
    """Every case where the library and the truth differ by more than ``rel``, in words."""
    out = []
    for case in cases:
        v, t = float(value(*case)), truth(*case)
        if not close(v, t, rel):
            out.append(f"{case}: {v!r} for {mp.nstr(t, 20)}, off by {mp.nstr(abs(v - t) / abs(t) if t else abs(v), 3)}")
    return out


def close(value: Any, truth: Real, rel: float = 1e-12, tiny: float = 1e-305) -> bool:
    """Relative agreement; below ``tiny`` (where doubles lose their digits) absolute, above their range infinite."""
    if truth > mpf("1.7e308"):
        return float(value) > 1e308
    return bool(abs(mpf(float(value)) - truth) <= rel * abs(truth) + tiny)


class Outward:
    """Equal to any number from a value on, up or down, by rounding at most."""

    def __init__(self, value: Any, way: int, rel: float) -> None:
        self.ends = sorted((value, value * (1 + way * rel) + way * 1e-320))

    def __eq__(self, other: object) -> bool:
        return bool(self.ends[0] <= other <= self.ends[1])

    def __repr__(self) -> str:
        return f"from {self.ends[0]!r} to {self.ends[1]!r}"


def upward(value: float, rel: float = 1e-12) -> Outward:
    """The upper end of a bracket of a closed form."""
    return Outward(value, 1, rel)


def downward(value: float, rel: float = 1e-12) -> Outward:
    """The lower one."""
    return Outward(value, -1, rel)


def probit(p: float | Real) -> Real:
    """Φ⁻¹ by Newton from scipy's answer; relative precision in both tails."""
    p = mpf(p)
    if p <= 0:
        return -mp.inf
    if p >= 1:
        return mp.inf
    if p > mpf(1) - mpf("1e-15"):
        return -probit(1 - p)
    x = mpf(float(ndtri(float(p))))
    for _ in range(4):
        cdf = mp.ncdf(x)
        step = (cdf - p) / mp.npdf(x)
        x -= step / (1 + x * step / 2)
    return x


def odds(prior: float) -> Real:
    return (1 - mpf(prior)) / mpf(prior)


class LaplaceOracle:
    """Lap(0,1) against Lap(m,1), from the two densities."""

    def __init__(self, m: float) -> None:
        self.m = mpf(m)

    def tradeoff(self, alpha: float) -> Real:
        a, m = mpf(alpha), self.m
        # reject z > k: α = P0(z > k), miss = P1(z ≤ k)
        if a == 0:
            return mpf(1)
        if a == 1:
            return mpf(0)
        k = -mp.log(2 * a) if a <= mpf(1) / 2 else mp.log(2 * (1 - a))
        z = k - m
        return mp.exp(z) / 2 if z < 0 else 1 - mp.exp(-z) / 2

    def roc(self, alpha: float) -> Real:
        with mp.extradps(340):
            return 1 - self.tradeoff(alpha)

    def inverse_roc(self, recall: float) -> Real:
        r, m = mpf(recall), self.m
        if r == 0:
            return mpf(0)
        if r == 1:
            return mpf(1)
        # P1(z > k) = r, then P0(z > k)
        k = m - mp.log(2 * r) if r <= mpf(1) / 2 else m + mp.log(2 * (1 - r))
        return mp.exp(-k) / 2 if k > 0 else 1 - mp.exp(k) / 2

    def at(self, u: float) -> tuple[Real, Real]:
        t, m = mpf(u), self.m
        if t < -m:
            return mpf(1), mpf(1)
        if t >= m:
            return mpf(0), mpf(0)
        k = (t + m) / 2  # llr = 2z − m inside [0, m]
        return mp.exp(-k) / 2, 1 - mp.exp(k - m) / 2

    def profile(self, u: float) -> Real:
        with mp.extradps(340):
            alpha, recall = self.at(u)
            return recall - mp.exp(mpf(u)) * alpha

    def profile_inverse(self, delta: float) -> Real:
        with mp.extradps(340):
            value = self.m + 2 * mp.log(1 - mpf(delta))
        return max(value, mpf(0))

    def success(self, prior: float) -> Real:
        p = mpf(prior)
        return (1 - p) + p * self.profile(mp.log(odds(prior)))

    def posterior(self, prior: float) -> Real:
        return 1 / (1 + odds(prior) * mp.exp(-self.m))

    def advantage(self) -> Real:
        return 1 - mp.exp(-self.m / 2)

    def auc(self) -> Real:
        return 1 - mp.exp(-self.m) * (2 + self.m) / 4

    def psi(self) -> Real:
        return -2 * probit(mp.exp(-self.m / 2) / 2)

    def kl(self) -> Real:
        return self.m - 1 + mp.exp(-self.m)

    def log_moment(self, a: float) -> Real:
        x, m = mpf(a), self.m
        with mp.extradps(60):
            if x == mpf(1) / 2:
                return mp.log(1 + m / 2) - m / 2
            return mp.log((x * mp.exp((x - 1) * m) + (x - 1) * mp.exp(-x * m)) / (2 * x - 1))

    def renyi(self, order: float) -> Real:
        if order == 1:
            return self.kl()
        if mp.isinf(order):
            return self.m
        return self.log_moment(mpf(order)) / (mpf(order) - 1)

    def chernoff(self) -> Real:
        return self.m / 2 - mp.log(1 + self.m / 2)

    def fbeta(self, beta: float, prior: float) -> Real:
        """By the threshold z: α = S(z), R = S(z − m); dF = 0 is a quadratic in e^{z} between the two peaks."""
        b2, c = mpf(beta) ** 2, odds(prior)
        best = (1 + b2) / (1 + c + b2)
        # Inside 0 ≤ z ≤ m: R = 1 − e^{z−m}/2, α = e^{−z}/2. With y = e^z, F ∝ R/(R + cα + β²).
        q = mp.exp(-self.m)
        roots = []
        # d/dy [ (1 − qy/2)/(1 − qy/2 + c/(2y) + β²) ] = 0  ⇔  −β²q·y²/2 − cq·y/2 + c/2 = 0 (times 1/y², constants)
        disc = (c * q / 2) ** 2 + b2 * q * c
        roots.append((-(c * q / 2) + mp.sqrt(disc)) / (b2 * q))
        for y in [*roots, mpf(1), mp.exp(self.m)]:
            if 1 <= y <= mp.exp(self.m):
                R, a = 1 - q * y / 2, 1 / (2 * y)
                best = max(best, (1 + b2) * R / (R + c * a + b2))
        return best


class NormalOracle:
    """N(0,1) against N(μ,1)."""

    def __init__(self, mu: float) -> None:
        self.mu = mpf(mu)

    def tradeoff(self, alpha: float) -> Real:
        return mp.ncdf(-probit(alpha) - self.mu)

    def roc(self, alpha: float) -> Real:
        return mp.ncdf(probit(alpha) + self.mu)

    def inverse_roc(self, recall: float) -> Real:
        return mp.ncdf(probit(recall) - self.mu)

    def at(self, u: float) -> tuple[Real, Real]:
        x = mpf(u) / self.mu
        return mp.ncdf(-x - self.mu / 2), mp.ncdf(-x + self.mu / 2)

    def profile(self, u: float) -> Real:
        with mp.extradps(20 if self.mu > 1e-10 else 340):
            alpha, recall = self.at(u)
            return recall - mp.exp(mpf(u)) * alpha

    def profile_inverse(self, delta: float) -> Real:
        """The root of log δ(ε) = log δ by bisection and secants."""
        d = mpf(delta)
        if self.profile(0.0) <= d:
            return mpf(0)
        low, high = mpf(0), self.mu * (self.mu / 2 + abs(probit(d)) + 1)

        def g(e: Real) -> Real:
            return mp.log(self.profile(e)) - mp.log(d)

        return mp.findroot(g, (low, high), solver="anderson", tol=mpf(10) ** -40, maxsteps=200, verify=False)

    def success(self, prior: float) -> Real:
        p = mpf(prior)
        return (1 - p) + p * self.profile(mp.log(odds(prior)))

    def advantage(self) -> Real:
        return self.profile(0.0)

    def auc(self) -> Real:
        return mp.ncdf(self.mu / mp.sqrt(2))

    def kl(self) -> Real:
        return self.mu**2 / 2

    def renyi(self, order: float) -> Real:
        return mpf(order) * self.mu**2 / 2

    def chernoff(self) -> Real:
        return self.mu**2 / 8

    def log_moment(self, a: float) -> Real:
        return mpf(a) * (mpf(a) - 1) * self.mu**2 / 2

    def fbeta(self, beta: float, prior: float) -> Real:
        """Maximise over the threshold x (α = Φ(−x), R = Φ(μ−x)) by the stationary point F/(1+β²) = posterior at x."""
        b2, c = mpf(beta) ** 2, odds(prior)

        def score(x: Real) -> Real:
            R, a = mp.ncdf(self.mu - x), mp.ncdf(-x)
            return (1 + b2) * R / (R + c * a + b2)

        def gap(x: Real) -> Real:  # posterior odds at x minus those of F/(1+β²): rises through 0 at the optimum
            f = score(x) / (1 + b2)
            return self.mu * x - self.mu**2 / 2 - mp.log(c) - mp.log(f / (1 - f))

        ends = -60 * (1 + 1 / self.mu), (self.mu + 60) * (1 + 1 / self.mu)
        if gap(ends[0]) > 0:  # flagging everyone is best, to more digits than we keep
            return (1 + b2) / (1 + b2 + c)
        x = mp.findroot(gap, ends, solver="anderson", tol=1e-40, maxsteps=300, verify=False)
        return max(score(x), (1 + b2) / (1 + b2 + c))


class TwoLaplaces:
    """Lap(0,1) against Lap(m,θ), any θ > 0, straight from the piecewise linear log-likelihood ratio."""

    def __init__(self, m: float, theta: float | Real, *, swapped: bool = False) -> None:
        self.laws = ((mpf(0), mpf(1)), (mpf(m), mpf(theta)))
        if swapped:
            self.laws = (self.laws[1], self.laws[0])
        self.knots = (mpf(0), mpf(m)) if m > 0 else (mpf(0),)

    @staticmethod
    def _cdf(law: tuple[Real, Real], x: Real) -> Real:
        z = (x - law[0]) / law[1]
        return mp.exp(z) / 2 if z < 0 else 1 - mp.exp(-z) / 2

    def mass(self, which: int, left: Real, right: Real) -> Real:
        law = self.laws[which]
        if left >= law[0]:  # the mirror image, so that a far tail keeps its digits
            left, right = 2 * law[0] - right, 2 * law[0] - left
        return self._cdf(law, right) - self._cdf(law, left)

    def llr(self, x: Real) -> Real:
        (a, b), (c, d) = self.laws
        return abs(x - a) / b - abs(x - c) / d + mp.log(b / d)

    def region(self, u: Real) -> list[tuple[Real, Real]]:
        """The intervals where llr > u."""
        out = []
        edges = [-mp.inf, *self.knots, mp.inf]
        for left, right in pairwise(edges):
            # two points of this linear piece
            p = right - 1 if mp.isinf(left) else left
            q = left + 1 if mp.isinf(right) else right
            slope = (self.llr(q) - self.llr(p)) / (q - p)
            if abs(slope) < mp.eps * 1000:
                if self.llr((p + q) / 2) > u:
                    out.append((left, right))
                continue
            x = p + (u - self.llr(p)) / slope
            low, high = (max(left, x), right) if slope > 0 else (left, min(right, x))
            if low < high:
                out.append((low, high))
        return out

    def at(self, u: Real) -> tuple[Real, Real]:
        with mp.extradps(20):
            region = self.region(mpf(u))
            alpha, recall = (mp.fsum(self.mass(i, a, b) for a, b in region) for i in (0, 1))
        return alpha, recall

    def profile(self, u: Real) -> Real:
        with mp.extradps(40):
            alpha, recall = self.at(u)
            return recall - mp.exp(mpf(u)) * alpha

    def point(self, log_w: float) -> tuple[Real, Real, Real, Real, Real]:
        """(α, R, 1−α, 1−R, t) of the threshold test at distance e^{log_w} from the ratio at the narrower law's peak.

        No root is sought: a test rounds α to a double and moves R along the tangent t to it. The differences of
        distribution functions are taken with 360 digits.
        """
        with mp.workdps(360):
            narrow = 0 if self.laws[0][1] < self.laws[1][1] else 1
            u = self.llr(self.laws[narrow][0]) + (1 if narrow == 0 else -1) * mp.exp(mpf(log_w))
            a, r = self.at(u)
            return a, r, 1 - a, 1 - r, mp.exp(u)

    def _pdf(self, law: tuple[Real, Real], x: Real) -> Real:
        return mp.exp(-abs(x - law[0]) / law[1]) / (2 * law[1])

    def kl(self) -> Real:
        """∫p0·log(p0/p1) piece by piece: E|X−a|/b and E|X−c|/d under law 0 = Lap(a,b)."""
        (a, b), (c, d) = self.laws
        s = abs(c - a) / b
        return mp.log(d / b) - 1 + (b / d) * (s + mp.exp(-s))

    def log_moment(self, x: float) -> Real:
        """log ∫p1^x p0^{1−x}: three exponential pieces, integrated exactly."""
        (a, b), (c, d) = self.laws
        x = mpf(x)
        A, B = (1 - x) / b, x / d  # rates
        if A + B <= 0:
            return mp.inf
        lo, hi = (a, c) if a <= c else (c, a)
        gap = hi - lo
        # outside: both fall at rate A+B; inside: e^{−A|y−a|−B|y−c|}
        outside = (mp.exp(-B * gap) if a <= c else mp.exp(-A * gap)) / (A + B)
        beyond = (mp.exp(-A * gap) if a <= c else mp.exp(-B * gap)) / (A + B)
        inside = gap * mp.exp(-A * gap) if A == B else (mp.exp(-A * gap) - mp.exp(-B * gap)) / (B - A)
        return mp.log((outside + beyond + inside) / ((2 * b) ** (1 - x) * (2 * d) ** x))

    def auc(self) -> Real:
        """∫recall dα over thresholds by parts: 1 − ∫∫… = P(llr1 > llr0), both continuous here."""

        def inner(x: Real) -> Real:
            return self._pdf(self.laws[0], x) * self.at(self.llr(x))[1]

        knots = sorted({*self.knots, *self._images()})
        b = self.laws[0][1]
        edges = [knots[0] - k * b for k in (120, 20, 4)] + knots + [knots[-1] + k * b for k in (4, 20, 120)]
        return mp.quad(inner, edges)

    def _images(self) -> list[Real]:
        """Where the ratio takes the same value as at a knot: kinks of recall(llr(x))."""
        out: list[Real] = []
        for k in self.knots:
            for a, b in self.region(self.llr(k)):
                out += [v for v in (a, b) if not mp.isinf(v)]
        return out


class SampledLaplaceOracle:
    """(1−q)Lap(0) + qLap(−m) against (1−q)Lap(0) + qLap(m), 0 < q < 1: the ratio grows between ±m, flat beyond."""

    def __init__(self, m: float, q: float) -> None:
        self.m, self.q = mpf(m), mpf(q)
        self.top = mp.log((1 - self.q + self.q * mp.e**self.m) / (1 - self.q + self.q * mp.e**-self.m))

    def above(self, c: Real, sign: int) -> Real:
        """P(X > c) under H1 (sign 1) or H0 (−1)."""

        def tail(x: Real) -> Real:
            return mp.e**-x / 2 if x >= 0 else 1 - mp.e**x / 2

        return (1 - self.q) * tail(c) + self.q * tail(c - sign * self.m)

    def delta(self, epsilon: float) -> Real:
        u = mpf(epsilon)
        if u >= self.top:
            return mpf(0)
        low = 1 - self.q + self.q * mp.e**-self.m
        c = (mp.log((mp.e**u * low - (1 - self.q)) / self.q) + self.m) / 2
        return self.above(c, 1) - mp.e**u * self.above(c, -1)

    def epsilon(self, delta: float) -> Real:
        return _halved(lambda u: self.delta(u) > delta, mpf(0), self.top)

    def roc(self, alpha: float | Real) -> Real:
        a, first = mpf(alpha), self.above(self.m, -1)
        if a <= first:
            return self.above(self.m, 1) * a / first
        last = 1 - self.above(-self.m, -1)
        if 1 - a <= last:
            return 1 - (1 - a) * (1 - self.above(-self.m, 1)) / last
        return self.above(_halved(lambda c: self.above(c, -1) > a, -self.m, self.m), 1)

    def auc(self) -> Real:
        """P(X1 > X0): differences of two Laplaces, 0, m and 2m apart."""

        def ahead(d: Real) -> Real:
            return 1 - mp.e**-d * (2 + d) / 4

        return (1 - self.q) ** 2 / 2 + 2 * self.q * (1 - self.q) * ahead(self.m) + self.q**2 * ahead(2 * self.m)

    def mu(self, level: float) -> Real:
        """At least this, from some tests whose errors are both at least the level."""
        last = 1 - self.roc(level)
        tests = [mpf(level) * (last / level) ** (mpf(i) / 20) for i in range(21)]
        tests += [a for c in (-self.m, 0, self.m) if level <= (a := self.above(c, -1)) <= last]
        return max(probit(self.roc(a)) - probit(a) for a in tests)


def _halved(before: Callable[[Real], bool], low: Real, high: Real) -> Real:
    for _ in range(120):
        middle = (low + high) / 2
        low, high = (middle, high) if before(middle) else (low, middle)
    return low
