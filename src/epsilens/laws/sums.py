"""Sums with Laplace noise, shifted: symmetric log-concave laws with tails like e^{−|x|}, read from their tails.

The likelihood ratio of a shift d is monotone, so "x > c" is optimal at every level, and it nears d far out; the two
orders are mirror images, the even-prior threshold is half the shift, and ψ is that test's (Theorem D60). What remains
of rounding (``error``, relative to the masses) is added to what the adversary reaches.

``LaplaceSumShift`` is what a differencing attack on q noisy answers sees (paper 001). In units of the common scale the
density is e^{−|x|}·P(|x|) and the tail e^{−x}·T(x), polynomials of degree q − 1: q = 2 gives (1+x)/4 and (2+x)/4.

``NormalLaplaceShift`` is Laplace noise about normal data (paper 004, Lemma 2), N(0, b²) + Lap(0, 1). Densities and
tails are sums of positive terms: with t = x/b ≥ 0 and M Mills' ratio, pdf = φ(t)(M(b+t) + M(b−t))/2 and
sf = φ(t)(M(t) − ½M(b+t) + ½M(b−t)); where t > b, M(b−t) is written as e^{b²/2−x}·Φ(t−b)/φ(t), which cannot overflow.

Moments of high order of a shifted sum of Laplaces, where all of the integral lies far beyond both bends.

The density of a sum of q standard Laplaces is e^{−x}·P(x) for x > 0, P a polynomial of degree q − 1. Beyond the shift d
the loss is d − ∫(log P)′ over (x − d, x), which tends to d as (q−1)d/x falls, and ∫p0^{1−a}·p1^a for a large order a
has its weight about √(a(q−1)d), in a width of about √(x/2).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np
from scipy.special import expm1, lambertw, log_ndtr, ndtri_exp

from ..checks import Array
from ..numerics.roots import integrate, root
from ..numerics.special import expm1mx, half_normal_quantile, mills, moment_less_one
from ..readings.guesses import fbeta_by_thresholds
from ..readings.law import Exactness, Law

_FAR_NODES, _FAR_WEIGHTS = np.polynomial.legendre.leggauss(16)
_FAR_ORDER = 1e7  # an order times a shift
_FAR_RATIO = 256  # how many times the shift the order is
_FARTHEST = 1e36  # an order at which the largest loss is all there is
_ZOOMS, _PLACES = 12, 33
_PANELS = np.arange(-16.0, 16.0)[:, None] + (1 + _FAR_NODES) / 2


def is_far_order(q: int, shift: float, a: float) -> bool:
    """Whether the integral of this order lies far beyond the shift."""
    return q > 1 and a * shift > _FAR_ORDER and a * (q - 1) > _FAR_RATIO * shift


def far_log_moment(density: Sequence[float], shift: float, a: float) -> float:
    """log ∫p0^{1−a}·p1^a, of P with these coefficients, highest power first.

    >>> a = 1e12
    >>> far_log_moment((0.25, 0.25), 0.5, a) / (a - 1)  # mpmath: 0.4999985858070771
    0.49999858580707...
    """
    if a > _FARTHEST:
        return (a - 1) * shift
    p, degree = np.asarray(density)[::-1], len(density) - 1  # in 1/x, which does not overflow

    def less(x: Array) -> Array:
        """log p0 + a(l − d)."""
        z = 1 / (x[..., None] - shift * (1 + _FAR_NODES) / 2)
        slope = z * np.polyval(p * np.arange(degree + 1), z) / np.polyval(p, z)
        log_p = degree * np.log(x) + np.log(np.polyval(p, 1 / x)) - x
        return np.asarray(log_p - a * shift / 2 * (slope * _FAR_WEIGHTS).sum(-1))

    about = math.sqrt(a * degree * shift)
    low, high = about / 8, 8 * about
    crest = about
    for _ in range(_ZOOMS):
        x = np.linspace(low, high, _PLACES)
        i = min(max(int(np.argmax(less(x))), 1), _PLACES - 2)
        low, crest, high = (float(v) for v in x[i - 1 : i + 2])
    unit = math.sqrt(crest**3 / 2) / about
    values = less(crest + unit * _PANELS)
    top = float(values.max())
    return a * shift + top + math.log(float((np.exp(values - top) * _FAR_WEIGHTS).sum()) * unit / 2)


_CLOSE = 1e-6  # relative, within which other tests must stay
_NOISE = 1e-13  # of a difference of probits
_BEYOND = np.concatenate((np.geomspace(1e-3, 8.0, 256), np.geomspace(8.5, 1e4, 64)))  # of half the shift


def psi_by_equal_errors(log_tail: Callable[[Array], Array], shift: float, inside: float) -> float:
    """ψ, of log P(X > x) for x ≥ 0, a shift, and P(|X| ≤ shift/2) with all its digits; errors need not be doubles.

    That no other test has a larger gap is looked at, on a grid, where differences of probits show it.

    >>> float(psi_by_equal_errors(lambda x: -x - np.log(2), 1.0, 1 - np.exp(-0.5)))  # Laplace: −2Φ⁻¹(e^{−½}/2)
    1.03006...
    """
    half = np.asarray(shift / 2)
    if inside < 0.5:
        equal = 2 * float(half_normal_quantile(np.asarray(inside)))
    else:
        equal = -2 * float(ndtri_exp(log_tail(half)))
    c = shift / 2 * (1 + _BEYOND)
    there = ndtri_exp(log_tail(np.abs(c - shift)))
    others = np.where(c < shift, -there, there) - ndtri_exp(log_tail(c))
    return max(equal, float(np.max(others)) - _NOISE - _CLOSE * equal)


_LOG2 = math.log(2.0)
_TINY = 1e-30
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
_X, _W = np.polynomial.legendre.leggauss(20)


class SymmetricShift(Law):
    """Readings of a law against the same law moved by d, from its tail."""

    __slots__ = ()

    doublings: ClassVar[int]  #: of the bracket in which a threshold is searched for

    symmetric = True

    def reverse(self) -> Self:
        return self

    @property
    @abstractmethod
    def _own(self) -> tuple[Array, ...]:
        """The parameters, d last, numbers or arrays of them."""

    @property
    @abstractmethod
    def _bend(self) -> Array | float:
        """How far beyond the shift the likelihood ratio begins to near its bound."""

    @abstractmethod
    def _log_tail(self, x: Array) -> Array:
        """log P(X > x) for x ≥ 0."""

    @abstractmethod
    def _upper_quantile(self, p: Array) -> Array:
        """The x ≥ 0 with P(X > x) = p ≤ ½."""

    @abstractmethod
    def _llr(self, x: Array) -> Array:
        """log pdf(x−d) − log pdf(x)."""

    def _sf(self, x: Array) -> Array:
        """P(X > x); the ends may be infinite."""
        tail = np.exp(self._log_tail(np.abs(np.where(np.isfinite(x), x, 0.0))))
        inside = np.where(x >= 0, tail, 1 - tail)
        return np.where(np.isposinf(x), 0.0, np.where(np.isneginf(x), 1.0, inside))

    def _isf(self, p: Array) -> Array:
        p = np.asarray(p, dtype=float)
        x = np.maximum(self._upper_quantile(np.clip(np.minimum(p, 1 - p), 1e-310, 0.5)), 0.0)
        return np.where(p <= 0, np.inf, np.where(p >= 1, -np.inf, np.where(p > 0.5, -x, x)))

    def _threshold(self, u: Array) -> Array:
        """The c at which llr(c) = u: half the shift for u = 0, mirrored for u < 0, infinite beyond the bound d."""
        u, *own = np.broadcast_arrays(np.asarray(u, dtype=float), *self._own)
        d = own[-1]
        if not u.any():
            return np.asarray(d / 2)
        size = np.abs(u)
        inside = size < d
        goal = np.where(inside, size, 0.0)
        high = d + self._bend
        for _ in range(self.doublings):
            short = inside & (self._llr(high) < goal)
            if not short.any():
                break
            high = np.where(short, 2 * high, high)
        c = root(lambda x: self._llr(x) - goal, d / 2, high)
        c = np.where(inside & ~(inside & (self._llr(high) < goal)), c, np.inf)
        return np.where(u >= 0, c, d - c)

    def _each(self, read: Callable[..., float], *more: Array) -> Array:
        """One number per law: quadratures are not vectorised over laws."""
        arrays = np.broadcast_arrays(*self._own, *more)
        out = np.empty(arrays[0].shape)
        for i in np.ndindex(out.shape):
            out[i] = read(*(float(array[i]) for array in arrays))
        return out

    def max_llr(self) -> Array:
        return np.asarray(np.broadcast_arrays(*self._own)[-1], dtype=float)

    def practical(self, level: float) -> Array:
        """ψ at every level: it is reached where both errors are the same."""
        return self.psi()

    def tradeoff(self, alpha: Array) -> Array:
        """1 − P(X > c − d), c the quantile: the mirrored tail keeps the digits."""
        return self._sf(self.max_llr() - self._isf(alpha)) * (1 - self.error)

    def roc(self, alpha: Array) -> Array:
        return np.minimum(self._sf(self._isf(alpha) - self.max_llr()) * (1 + self.error), 1.0)

    def inverse_roc(self, recall: Array) -> Array:
        """P(X > c + d) with c the quantile of the recall."""
        return self._sf(self._isf(recall) + self.max_llr()) * (1 - self.error)

    def at(self, log_threshold: Array) -> tuple[Array, Array]:
        c = self._threshold(log_threshold)
        with np.errstate(invalid="ignore"):
            return self._sf(c), self._sf(c - self.max_llr())

    def profile_inverse(self, delta: Array) -> Array:
        delta, d = np.broadcast_arrays(np.asarray(delta, dtype=float), self.max_llr())
        start = self.profile(np.zeros(delta.shape))
        zero = start <= delta
        if not (delta > 0).any():  # the bound of the loss itself: there is nothing to look for
            return np.where(zero, 0.0, d)
        goal = np.where(zero | (delta <= 0), 0.5 * np.maximum(start, 1e-300), delta)
        value = root(lambda e: self.profile(e) - goal, np.where(zero, 0.0, 1e-300), np.where(d > 0, d, 1.0), atol=1e-15)
        value = np.minimum(value * (1 + 1e-13) + 1e-300, d)
        return np.where(zero, 0.0, np.where(delta > 0, value, d))

    def fbeta(self, beta: Array, odds: Array) -> Array:
        return fbeta_by_thresholds(self, beta, odds, error=self.error)


@lru_cache(maxsize=64)
def _polynomials(q: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Coefficients, highest power first, of P (density) and T (tail) in e^{−x}P(x) and e^{−x}T(x)."""
    density = [math.factorial(q - 1 + k) / (math.factorial(k) * math.factorial(q - 1 - k) * 2**k) for k in range(q)]
    norm = math.factorial(q - 1) * 2**q
    p = [c / norm for c in density]
    # T − T' = P, solved from the highest power down: all coefficients positive
    t: list[float] = []
    for i, c in enumerate(p):
        power = q - 1 - i
        t.append(c + (t[-1] * (power + 1) if t else 0.0))
    return tuple(p), tuple(t)


def log_tail(q: int, x: Array) -> Array:
    """log P(S > x) for x ≥ 0, S the sum of q standard Laplace variables."""
    x = np.asarray(x, dtype=float)
    return np.asarray(np.log(np.polyval(_polynomials(q)[1], x)) - x)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LaplaceSumShift(SymmetricShift):
    """Sum of q standard Laplaces under H0, the same plus d ≥ 0 under H1 (d a number or an array)."""

    error: ClassVar[float] = 4e-15
    doublings: ClassVar[int] = 200  # llr → d like d·(q−1)/x·…

    q: int
    d: Array
    known: Exactness = field(default=Exactness.ROUNDED, kw_only=True)

    def _log_pdf(self, x: Array) -> Array:
        z = np.abs(x)
        return np.asarray(np.log(np.polyval(_polynomials(self.q)[0], z)) - z)

    @property
    def _own(self) -> tuple[Array, ...]:
        return (self.d,)

    @property
    def _bend(self) -> float:
        return self.q

    def _log_tail(self, x: Array) -> Array:
        return log_tail(self.q, x)

    def _llr(self, x: Array) -> Array:
        """For a narrow shift the mean slope of log P(z) − z between the two |x|."""
        x, d = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(self.d, dtype=float))
        direct = self._log_pdf(x - d) - self._log_pdf(x)
        narrow = d < 0.5
        if not narrow.any():
            return np.asarray(direct)
        further = np.where(x >= d, -d, np.where(x <= 0, d, d - 2 * x))  # |x−d| − |x|
        z = np.abs(x)[..., None] + further[..., None] * (1 + _X) / 2
        p = _polynomials(self.q)[0]
        slope = np.polyval(np.polyder(p), z) / np.polyval(p, z) - 1
        return np.asarray(np.where(narrow, (slope * _W).sum(-1) / 2 * further, direct))

    def _upper_quantile(self, p: Array) -> Array:
        """For q = 2, −2 − W₋₁(−4p·e^{−2})."""
        if self.q == 2:
            return np.asarray(-2 - np.real(lambertw(-4 * p * math.exp(-2), -1)))
        goal = np.log(p)
        return root(lambda v: log_tail(self.q, v) - goal, np.zeros(p.shape), 4 * self.q - 4 * goal)

    def profile(self, log_threshold: Array) -> Array:
        """recall − t·α, plus its rounding; at t = 1 the mass within ±d/2 in closed form.

        1 − 2e^{−y}T(y) = (1 − e^{−y}) − e^{−y}(2T(y) − 1), and 2T − 1 has no constant term: no cancellation as y → 0.
        """
        u = np.asarray(log_threshold, dtype=float)
        if not u.any():
            y = np.asarray(self.d, dtype=float) / 2
            within = -np.expm1(-y) - np.exp(-y) * 2 * y * np.polyval(_polynomials(self.q)[1][:-1], y)
            return np.asarray(within + np.zeros(u.shape))
        alpha, recall = self.at(u)
        with np.errstate(over="ignore", invalid="ignore"):
            weighted = np.where(alpha > 0, np.exp(u) * alpha, 0.0)
            value = recall - weighted + self.error * (recall + weighted)
        return np.where(recall > 0, np.clip(value, 0.0, 1.0), 0.0)

    def _places(self, shift: float, farthest: float) -> Array:
        """Places about 0 and the shift, near and far from both."""
        away = np.geomspace(min(1e-3, shift), farthest, 90)
        inside = away[away < shift / 2]
        near = (-away, [0.0], inside, [shift / 2], shift - inside, [shift], shift + away)
        return np.unique(np.concatenate(near))

    def _log_moment(self, shift: float, a: float) -> float:
        """log ∫p0^{1−a}·p1^a between the bends, about its largest value: one d, one power."""
        if a in (0.0, 1.0) or shift == 0:
            return 0.0
        if shift < _TINY and abs(a) < 1 / _TINY:  # quadratic there
            return self._log_moment(_TINY, a) * (shift / _TINY) ** 2

        if is_far_order(self.q, shift, max(a, 1 - a)):  # the two laws are mirror images
            return far_log_moment(_polynomials(self.q)[0], shift, max(a, 1 - a))
        law = LaplaceSumShift(self.q, np.asarray(shift))

        def log_f(x: Array) -> Array:
            return np.asarray(self._log_pdf(x) + a * law._llr(x))

        def less_one(x: Array) -> Array:
            """p0·(e^{al} − 1 − a(e^l − 1)), of one sign, in units of its size."""
            ratio = law._llr(x)
            grown = expm1mx(a * ratio) - a * expm1mx(ratio)
            return np.asarray(np.exp(self._log_pdf(x)) * (grown / size))

        size = abs((a * shift) * ((a - 1) * shift))
        if size < 0.5 and abs(a) * shift < 8:  # near 1, and neither power far out
            total = integrate(less_one, self._places(shift, 60.0 + 8 * self.q), tolerance=1e-15)
            return math.log1p(total * size)
        edges = self._places(shift, 60.0 + 8 * self.q + 2 * math.sqrt(self.q * abs(a) * (1 + shift)) + abs(a) * 1e-3)
        values = log_f(edges)
        top = float(values.max())
        live = np.flatnonzero(values > top - 50)
        edges = edges[max(live[0] - 1, 0) : live[-1] + 2]
        return top + math.log(integrate(lambda x: np.exp(log_f(x) - top), edges, tolerance=1e-15))

    def _kl(self, shift: float) -> float:
        """∫ of the positive integrand p0·(e^l − 1 − l), whose integral is that of −p0·l."""
        if shift < _TINY:
            return self._kl(_TINY) * (shift / _TINY) ** 2
        size = min(shift, 1.0) ** 2  # the tolerance is absolute, and the value about d²/2 for a small d

        law = LaplaceSumShift(self.q, np.asarray(shift))

        def f(x: Array) -> Array:
            base, ratio = self._log_pdf(x), law._llr(x)
            small = np.exp(base) * (expm1mx(np.minimum(ratio, 30.0)) / size)
            return np.where(ratio < 30, small, (np.exp(base + ratio) - np.exp(base) * (1 + ratio)) / size)

        return integrate(f, self._places(shift, 60.0 + 8 * self.q), tolerance=1e-15) * size

    def log_moment(self, a: Array) -> Array:
        """By quadrature between the bends, to about 1e-12."""
        return self._each(self._log_moment, np.asarray(a, dtype=float))

    def kl(self) -> Array:
        return self._each(self._kl)

    def auc(self) -> Array:
        """1 − P(sum of 2q Laplaces > d): closed form."""
        return np.asarray(1 - np.exp(log_tail(2 * self.q, np.asarray(self.d, dtype=float))))

    def psi(self) -> Array:
        inside = self.profile(np.zeros(np.shape(self.d)))
        return self._each(lambda d, within: psi_by_equal_errors(self._log_tail, d, within), inside)


def _sides(x: Array, b: Array) -> tuple[Array, Array, Array]:
    """At |x|: log φ(t), log of the near exponential side e^{b²/2−x}Φ(t−b), and log of the far one e^{b²/2+x}Φ(−t−b)."""
    z = np.abs(x)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        t = z / b
        phi = -0.5 * t * t - _HALF_LOG_2PI
        over = t > b
        beyond = b * b / 2 - z + log_ndtr(np.where(over, t - b, 0.0))
        near = np.where(over, beyond, phi + np.log(mills(np.where(over, 0.0, b - t))))
        far = phi + np.log(mills(b + t))
    return phi, near, far


def _log_pdf(x: Array, b: Array) -> Array:
    _, near, far = _sides(x, b)
    return np.asarray(np.logaddexp(near, far) - _LOG2)


def _slope(x: Array, b: Array) -> Array:
    """−d log pdf/dx, rising from −1 to 1: (near − far)/(near + far), odd in x."""
    _, near, far = _sides(x, b)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.sign(x) * np.tanh(np.minimum((near - far) / 2, 400.0)))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NormalLaplaceShift(SymmetricShift):
    """N(0, b²) + Lap(0, 1) under H0, the same plus d ≥ 0 under H1; b > 0 and d are numbers or arrays."""

    error: ClassVar[float] = 2e-14
    doublings: ClassVar[int] = 60

    b: Array
    d: Array
    known: Exactness = field(default=Exactness.ROUNDED, kw_only=True)

    @property
    def _own(self) -> tuple[Array, ...]:
        return self.b, self.d

    @property
    def _bend(self) -> Array:
        return self.b + 1.0

    def _log_tail(self, x: Array) -> Array:
        phi, near, _ = _sides(x, self.b)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            normal = phi + np.log(mills(x / self.b) - 0.5 * mills(self.b + x / self.b))
        return np.asarray(np.logaddexp(normal, near - _LOG2))

    def _upper_quantile(self, p: Array) -> Array:
        """One root of the log tail, below max(b√(8L), 2L) with L = −log p."""
        p, b = np.broadcast_arrays(p, np.asarray(self.b, dtype=float))
        goal = np.log(p)
        high = np.maximum(b * np.sqrt(-8 * goal), -2 * goal) + 1e-300
        x = root(lambda v: self._log_tail(v) - goal, np.zeros(p.shape), high)
        return np.where(p == 0.5, 0.0, x)

    def _llr(self, x: Array) -> Array:
        """For a narrow shift the integral of the slope, which does not cancel."""
        x, b, d = np.broadcast_arrays(np.asarray(x, dtype=float), self.b, self.d)
        direct = _log_pdf(x - d, b) - _log_pdf(x, b)
        narrow = d < 0.5 * np.minimum(b, 1.0)
        if not narrow.any():
            return np.asarray(direct)
        nodes = x[..., None] - d[..., None] * (1 + _X) / 2
        total = (_slope(nodes, b[..., None]) * _W).sum(-1) * d / 2
        return np.asarray(np.where(narrow, total, direct))

    def profile(self, log_threshold: Array) -> Array:
        """recall − t·α, plus its rounding; at t = 1 the mass within ±d/2."""
        u = np.asarray(log_threshold, dtype=float)
        if not u.any():
            return np.asarray(self._central() + np.zeros(u.shape))
        alpha, recall = self.at(u)
        with np.errstate(over="ignore", invalid="ignore"):
            t = np.where(alpha > 0, np.exp(u), 0.0)
            above = recall - t * alpha
            below = -np.expm1(u) + (np.exp(u) * (1 - alpha) - (1 - recall))
            value = np.where(u < 0, below, above) + self.error * (recall + t * alpha)
        # 1 − e^u is reached by flagging everything, and is all there is below the bound
        return np.where(recall > 0, np.clip(value, np.maximum(-expm1(u), 0.0), 1.0), 0.0)

    def _central(self) -> Array:
        """P(|X| ≤ d/2): by quadrature of the density where it is small, so that no digit is lost."""
        b, d = np.broadcast_arrays(np.asarray(self.b, dtype=float), np.asarray(self.d, dtype=float))
        direct = 1 - 2 * self._sf(d / 2)
        narrow = d < np.minimum(b, 1.0)
        nodes = d[..., None] * (1 + _X) / 4
        inside = (np.exp(_log_pdf(nodes, b[..., None])) * _W).sum(-1) * d / 2
        return np.asarray(np.where(narrow, inside, np.minimum(direct + self.error, 1.0)))

    def _nodes(self, b: float, d: float) -> tuple[Array, Array]:
        """Gauss–Legendre nodes and weights: panels of half a width about 0 and d, in units of b and of the noise."""
        steps = np.concatenate((np.arange(0.0, 12.0, 0.5), np.arange(12.0, 61.0, 1.0)))
        width = np.concatenate((b * steps[steps <= 40], steps))
        edges = np.unique(np.concatenate([c + s * width for c in (0.0, d) for s in (-1, 1)] + [[d / 2]]))
        half = np.diff(edges)[:, None] / 2
        return (edges[:-1, None] + half * (1 + _X)).ravel(), (half * _W).ravel()

    def log_moment(self, a: Array) -> Array:
        """By quadrature, to about 1e-13."""

        def one(b: float, d: float, power: float) -> float:
            x, w = self._nodes(b, d)
            law = NormalLaplaceShift(np.asarray(b), np.asarray(d))
            log_p, u = _log_pdf(x, np.asarray(b)), law._llr(x)
            p0 = w * np.exp(log_p)
            less_one = moment_less_one(p0, w * np.exp(log_p + u), u, power)
            if abs(less_one) < 0.5:
                return math.log1p(less_one)
            top = np.max(log_p + power * u)
            return float(top + np.log(np.sum(w * np.exp(log_p + power * u - top))))

        return self._each(one, np.asarray(a, dtype=float))

    def kl(self) -> Array:
        """By quadrature of the positive integrand p0·(e^l − 1 − l)."""

        def one(b: float, d: float) -> float:
            x, w = self._nodes(b, d)
            u = NormalLaplaceShift(np.asarray(b), np.asarray(d))._llr(x)
            p0 = np.exp(_log_pdf(x, np.asarray(b)))
            grown = np.where(u < 30, expm1mx(np.minimum(u, 30.0)) * p0, np.exp(np.log(p0 + 1e-320) + u) - p0 * (1 + u))
            return float(np.sum(w * grown))

        return self._each(one)

    def auc(self) -> Array:
        """½ + ∫ p0·P(x−d < X ≤ x), by quadrature."""

        def one(b: float, d: float) -> float:
            x, w = self._nodes(b, d)
            law = NormalLaplaceShift(np.asarray(b), np.asarray(d))
            total = float(np.sum(w * np.exp(_log_pdf(x, np.asarray(b))) * law._sf(x - d)))
            return min(total * (1 + self.error), 1.0) if d > 0 else 0.5

        return self._each(one)

    def psi(self) -> Array:
        def one(b: float, d: float, inside: float) -> float:
            return psi_by_equal_errors(NormalLaplaceShift(np.asarray(b), np.asarray(d))._log_tail, d, inside)

        return self._each(one, self._central())
