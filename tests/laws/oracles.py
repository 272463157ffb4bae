"""The same readings in mpmath, from the definitions, to 60 digits and more: what the laws are tested against.

Arguments are doubles taken as exact. Nothing here imports epsilens. Textbook forms are used on purpose, and the working
precision is raised until their cancellation does not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mpmath import mp, mpf
from scipy.special import ndtri

Real = Any  # an mpf

mp.dps = 60


def close(value: float, truth: Real, rel: float = 1e-12, tiny: float = 1e-305) -> bool:
    """Relative agreement; below ``tiny`` (where doubles lose their digits) absolute, above their range infinite."""
    if truth > mpf("1.7e308"):
        return value > 1e308
    return bool(abs(mpf(float(value)) - truth) <= rel * abs(truth) + tiny)


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
        with mp.extradps(60):
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

        return mp.findroot(g, (low, high), solver="anderson", tol=mpf(10) ** -70, maxsteps=200, verify=False)

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

        # bisect on a bracket where the sign changes
        low, high = mpf(-60), self.mu + 60
        low = low * (1 + 1 / self.mu) if self.mu < 1 else low
        high = high * (1 + 1 / self.mu) if self.mu < 1 else high
        for _ in range(160):
            middle = (low + high) / 2
            low, high = (middle, high) if gap(middle) < 0 else (low, middle)
        return max(score(low), (1 + b2) / (1 + b2 + c))


def bisect(f: Callable[[Real], Real], low: Real, high: Real, steps: int = 220) -> Real:
    """The root of an increasing function."""
    low, high = mpf(low), mpf(high)
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) < 0 else (low, middle)
    return (low + high) / 2


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
        return self._cdf(self.laws[which], right) - self._cdf(self.laws[which], left)

    def llr(self, x: Real) -> Real:
        (a, b), (c, d) = self.laws
        return abs(x - a) / b - abs(x - c) / d + mp.log(b / d)

    def region(self, u: Real) -> list[tuple[Real, Real]]:
        """The intervals where llr > u."""
        out = []
        edges = [-mp.inf, *self.knots, mp.inf]
        for left, right in zip(edges[:-1], edges[1:], strict=True):
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
        with mp.extradps(340):
            region = self.region(mpf(u))
            alpha, recall = (mp.fsum(self.mass(i, a, b) for a, b in region) for i in (0, 1))
        return alpha, recall

    def profile(self, u: Real) -> Real:
        with mp.extradps(340):
            alpha, recall = self.at(u)
            return recall - mp.exp(mpf(u)) * alpha

    def _curve(self, which: int, target: float) -> tuple[Real, Real, Real, Real]:
        """(α, R, 1−α, 1−R) of the threshold test whose hit has mass ``target`` under law ``which``, to ~1e-40.

        The threshold is sought by its distance from the ratio at the peak of the narrower law, in logarithms, on
        whichever of the hit and the miss is the smaller, with 700 digits for the differences of distribution functions.
        """
        with mp.workdps(700):
            narrow = 0 if self.laws[0][1] < self.laws[1][1] else 1
            vertex, sign = self.llr(self.laws[narrow][0]), 1 if narrow == 0 else -1
            goal, miss = mpf(target), target > 0.5
            goal = mp.log(1 - goal if miss else goal)

            def four(log_w: Real) -> tuple[Real, Real, Real, Real]:
                a, r = self.at(vertex + sign * mp.exp(log_w))
                return a, r, 1 - a, 1 - r

            def excess(log_w: Real) -> Real:
                mass = four(log_w)[which + 2 * miss]
                return mp.log(mass) - goal if mass > 0 else -mpf(10) ** 6

            low, high = mpf(-730), mpf(14)
            f_low, f_high = excess(low), excess(high)
            assert f_low * f_high < 0
            side = 0
            for step in range(400):
                if abs(high - low) < mpf("1e-45"):
                    break
                x = (low + high) / 2 if step % 3 == 2 else (low * f_high - high * f_low) / (f_high - f_low)
                fx = excess(x)
                if abs(fx) < mpf("1e-45"):
                    low = high = x
                elif fx * f_low > 0:
                    low, f_low, f_high, side = x, fx, f_high / 2 if side == 1 else f_high, 1
                else:
                    high, f_high, f_low, side = x, fx, f_low / 2 if side == -1 else f_low, -1
            return four((low + high) / 2)

    def roc(self, alpha: float) -> Real:
        return self._curve(0, alpha)[1]

    def tradeoff(self, alpha: float) -> Real:
        return self._curve(0, alpha)[3]

    def inverse_roc(self, recall: float) -> Real:
        return self._curve(1, recall)[0]

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
        edges = [knots[0] - 120, knots[0] - 20, knots[0] - 4, *knots, knots[-1] + 4, knots[-1] + 20, knots[-1] + 120]
        return mp.quad(inner, edges)

    def _images(self) -> list[Real]:
        """Where the ratio takes the same value as at a knot: kinks of recall(llr(x))."""
        out: list[Real] = []
        for k in self.knots:
            for a, b in self.region(self.llr(k)):
                out += [v for v in (a, b) if not mp.isinf(v)]
        return out
