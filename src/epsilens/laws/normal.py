"""N(0, 1) against N(μ, 1): the shift of a normal, paper 002's sensitivity index ψ = μ, as a law and as a step.

f(α) = Φ(Φ⁻¹(1−α) − μ). Everything else is closed form except ε(δ) and Fβ*, which are one monotone root each.
``NormalReplaced`` is a sample in which a person's record has one value or another.

Normal shifts of several sizes, one of them taken, and the adversary is told which: N(0, 1) against N(c_j, 1).

The loss of a shift c is normal, N(c²/2, c²) under H1 and N(−c²/2, c²) under H0, so that the loss of all of them is a
mixture of normals under either law, and its sign changes when the laws are exchanged. x is the loss in units of the
smallest shift, counted as if that were the only one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, log_ndtr, logsumexp, ndtr, ndtri, ndtri_exp

from ..checks import Array
from ..numerics.roots import root
from ..numerics.special import half_normal_quantile, mills, mills_drop
from ..readings.guesses import fbeta_by_thresholds
from ..readings.law import Exactness
from ..worlds import Relation
from .composition.quadrature import ERROR, UnboundedStep
from .composition.step import Composable, CountedStep, Exponent, Family, NoiseKind, Step, StepNoise
from .composition.tilt import NormalTilts
from .composition.wrappers import Inclusion, SampledStep, drawn_beyond, exchanged, log_odds_against, mix
from .mixture import group_step, replaced_group_step

Part: TypeAlias = slice | NDArray[np.int64]
_U = 2.0**-53
_LOG2 = math.log(2.0)
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
_SQRT_2PI = np.sqrt(2 * np.pi)
_SQRT8 = np.sqrt(8.0)


def normal_delta(epsilon: Array, mu: Array) -> Array:
    """δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) for ε ≥ 0 (paper 002, Corollary 13), without its cancellation.

    With y = ε/μ − μ/2 both terms carry the factor φ(y), because the likelihood ratio at the threshold is e^ε:
    δ = φ(y)·(M(y) − M(y+μ)), M Mills' ratio. For μ ≤ 1 the drop of M is integrated from its positive slope;
    left of 0, where M would overflow, Φ(−y) stands alone.

    >>> float(normal_delta(np.asarray(1.0), np.asarray(1.0)))
    0.12693673750...
    """
    epsilon, mu = np.broadcast_arrays(np.asarray(epsilon, dtype=float), np.asarray(mu, dtype=float))
    if not epsilon.any():  # δ(0) = 2Φ(μ/2) − 1, the advantage
        return np.asarray(erf(mu / _SQRT8))
    shape = epsilon.shape
    epsilon, mu = epsilon.ravel(), mu.ravel()
    out = np.zeros(epsilon.shape)
    ok = (mu > 0) & np.isfinite(epsilon)
    e, m = epsilon[ok], mu[ok]
    y = e / m - m / 2
    square = np.minimum(np.abs(y), 40.0) ** 2 / 2  # e^{−800} is 0 in doubles, and y² may overflow
    phi = np.exp(-square) / _SQRT_2PI
    value = np.empty(e.shape)
    narrow = m <= 1
    value[narrow] = phi[narrow] * mills_drop(y[narrow], m[narrow])
    right = ~narrow & (y >= 0)
    value[right] = phi[right] * (mills(y[right]) - mills((y + m)[right]))
    left = ~narrow & (y < 0)
    value[left] = ndtr(-y[left]) - np.exp(e[left] + log_ndtr(-(y + m)[left]))
    out[ok] = np.where(square > 760, np.where(y > 0, 0.0, value), value)
    return out.reshape(shape)


def psi_for_delta(epsilon: float, delta: float) -> float:
    """The largest ψ with δ(ε) ≤ δ: the analytic calibration (Balle & Wang 2018), rounded down.

    The tail bound δ(ε) ≤ Φ(ψ/2 − ε/ψ) gives a ψ that is surely small enough; the search starts there.
    """
    if epsilon < 1e-300:  # as at 0, which is on the safe side: δ falls with ε
        psi = 2 * float(half_normal_quantile(np.asarray(delta)))  # δ(0) = 2Φ(ψ/2) − 1
    else:
        z = float(ndtri(delta))
        s = np.sqrt(z * z + 2 * epsilon)
        low = float(2 * epsilon / (s - z)) if z < 0 else float(z + s)
        high = 2 * low
        while normal_delta(np.asarray(epsilon), np.asarray(high)) < delta:
            high *= 2
            if high > 1e6:
                break
        target = np.log(delta)

        def excess(log_psi: Array) -> Array:
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(normal_delta(np.asarray(epsilon), np.exp(log_psi))) - target)

        psi = float(np.exp(root(excess, np.asarray(np.log(low) - 1e-9), np.asarray(np.log(high)))))
    step = 2.0**-52
    while psi > 0 and normal_delta(np.asarray(epsilon), np.asarray(psi)) > delta:
        psi *= 1 - step
        step *= 2
    return psi


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Normal(Composable):
    """N(0,1) under H0, N(μ,1) under H1, μ ≥ 0 (a number or an array of them)."""

    family: ClassVar[Family] = Family.NORMAL

    mu: Array
    known: Exactness = field(default=Exactness.EXACT, kw_only=True)

    def steps(self) -> tuple[CountedStep, ...]:
        return ((NormalStep(float(self.mu)), 1),) if float(self.mu) > 0 else ()

    symmetric = True

    def reverse(self) -> Normal:
        return self

    def tradeoff(self, alpha: Array) -> Array:
        """Φ(−Φ⁻¹(α) − μ): −Φ⁻¹(α), not Φ⁻¹(1−α), so that α = 1e-300 keeps its digits."""
        return np.asarray(ndtr(-ndtri(alpha) - self.mu))

    def roc(self, alpha: Array) -> Array:
        return np.asarray(ndtr(ndtri(alpha) + self.mu))

    def inverse_roc(self, recall: Array) -> Array:
        return np.asarray(ndtr(ndtri(recall) - self.mu))

    def at(self, log_threshold: Array) -> tuple[Array, Array]:
        """llr = μx − μ²/2 > u ⇔ x > u/μ + μ/2."""
        with np.errstate(divide="ignore", invalid="ignore"):
            x = np.where(self.mu > 0, log_threshold / self.mu, np.where(log_threshold < 0, -np.inf, np.inf))
        return np.asarray(ndtr(-x - self.mu / 2)), np.asarray(ndtr(-x + self.mu / 2))

    def profile(self, log_threshold: Array) -> Array:
        """h(e^u) = δ(u) for u ≥ 0; below, h(t) = 1 − t + t·h(1/t) by symmetry, a sum of positive terms."""
        u = np.asarray(log_threshold, dtype=float)
        forward = normal_delta(np.abs(u), self.mu)
        with np.errstate(over="ignore", invalid="ignore"):
            below = -np.expm1(u) + np.exp(u) * forward
        return np.asarray(np.where(u >= 0, forward, below))

    def profile_inverse(self, delta: Array) -> Array:
        """The root of δ(ε) = δ below the tail bound ε ≤ μ²/2 + μ·Φ⁻¹(1−δ), rounded up."""
        delta, mu = np.broadcast_arrays(np.asarray(delta, dtype=float), np.asarray(self.mu, dtype=float))
        zero = normal_delta(np.zeros(delta.shape), mu) <= delta
        inside = ~zero & (delta > 0)
        d, m = np.where(inside, delta, 0.1), np.where(inside, mu, 1.0)
        target = np.log(d)

        def excess(epsilon: Array) -> Array:
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(normal_delta(epsilon, m)) - target)

        high = np.maximum(m * (m / 2 - ndtri(d)), 0.0) * (1 + 1e-12) + 1e-300
        value = root(excess, np.zeros(delta.shape), high)
        step = 2.0**-52
        for _ in range(30):  # a privacy loss rounds up
            over = normal_delta(value, m) > d
            if not over.any():
                break
            value = np.where(over, value * (1 + step), value)
            step *= 2
        return np.asarray(np.where(zero, 0.0, np.where(delta > 0, value, np.inf)))

    def max_llr(self) -> Array:
        return np.asarray(np.where(self.mu > 0, np.inf, 0.0))

    def log_moment(self, a: Array) -> Array:
        return np.asarray((a * self.mu) * ((a - 1) * self.mu) / 2)  # no square of a huge order

    def far_renyi(self, order: Array) -> Array:
        return np.asarray(order * (self.mu**2 / 2))

    def kl(self) -> Array:
        return np.asarray(self.mu**2 / 2)

    def auc(self) -> Array:
        return np.asarray(ndtr(self.mu / np.sqrt(2.0)))

    def psi(self) -> Array:
        return np.asarray(self.mu)

    def practical(self, level: float) -> Array:
        return np.asarray(self.mu)

    def normal_size(self) -> float:
        return float(self.mu)

    def fbeta(self, beta: Array, odds: Array) -> Array:
        return fbeta_by_thresholds(self, beta, odds)


class _NormalShift(UnboundedStep):
    """Normal noise that a person moves by μ, one way or either."""

    mu: float

    @property
    def shift(self) -> float:
        return self.mu


@dataclass(frozen=True)
class NormalStep(_NormalShift):
    """N(0, 1) against N(μ, 1)."""

    family: ClassVar[Family] = Family.NORMAL

    mu: float

    def loss(self, x: Array) -> Array:
        return np.asarray(self.mu * (x - self.mu / 2))

    def slope(self, x: Array) -> Array:
        return np.full(np.shape(x), self.mu)

    def inverse_loss(self, loss: Array) -> Array:
        return np.asarray(loss / self.mu + self.mu / 2)

    def log_p0(self, x: Array) -> Array:
        return np.asarray(-0.5 * x * x - _HALF_LOG_2PI)

    def roughness(self, x: Array) -> Array:
        """The log density falls with slope |x|, or |x − μ|."""
        return np.asarray(np.abs(x) + self.mu)

    def singularity_rate(self, x: Array) -> Array:
        return np.full(np.shape(x), self.mu)

    def error(self, x: Array) -> Array:
        return np.asarray(8 * _U * self.mu * (np.abs(x) + self.mu))

    def above(self, x: float) -> tuple[float, float]:
        return float(log_ndtr(self.mu - x)), float(log_ndtr(-x))

    def below(self, x: float) -> tuple[float, float]:
        return float(log_ndtr(x - self.mu)), float(log_ndtr(x))

    def cutoffs(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        return float(ndtri_exp(log_bottom)), self.mu - float(ndtri_exp(log_top))

    moment_error = ERROR

    def log_moment(self, power: float) -> float:
        return (power * self.mu) * ((power - 1) * self.mu) / 2 + 0.0  # not −0, no square of a huge order

    def moment_growth(self, power: float) -> tuple[float, float]:
        grown = abs(power) * (self.mu**2 / 2)
        return grown, grown

    def kl(self) -> float:
        return self.mu**2 / 2

    reverse_kl = kl_bound = kl

    def chi_square(self) -> float:
        return math.expm1(self.mu**2) if self.mu < 25 else math.inf

    def psi(self) -> float:
        return self.mu

    @property
    def closed_tilts(self) -> NormalTilts:
        return NormalTilts(self.mu)

    @property
    def noise(self) -> StepNoise:
        return StepNoise(NoiseKind.NORMAL, self.mu)

    def as_law(self) -> Normal:
        return Normal(np.asarray(self.mu))

    scales_by_group = True

    def group(self, size: int) -> NormalStep:
        return NormalStep(self.mu * size)

    def sampled_group(self, rate: float, size: int) -> Step:
        """A binomial number of people, each moving it as far."""
        return group_step(self.mu, rate, size)


@dataclass(frozen=True)
class NormalReplacementStep(_NormalShift):
    """Poisson sampling, replace: (1−q)N(0) + qN(−μ) against (1−q)N(0) + qN(μ).

    It dominates all pairs of records of norm at most μ, in any dimension: docs/proofs/dominating-pairs.md, Theorem D11.
    """

    mu: float
    rate: float
    inclusion: Inclusion = field(default=Inclusion.COINS, repr=False)

    def _arms(self, x: Array) -> tuple[Array, Array]:
        half = self.mu * self.mu / 2
        return mix(self.mu * x - half, self.rate), mix(-self.mu * x - half, self.rate)

    def loss(self, x: Array) -> Array:
        """log(1−q+q·e^{μx−μ²/2}) − log(1−q+q·e^{−μx−μ²/2})."""
        up, down = self._arms(x)
        return np.asarray(up - down)

    def slope(self, x: Array) -> Array:
        half, log_q = self.mu * self.mu / 2, math.log(self.rate)
        up, down = self._arms(x)
        shares = np.exp(log_q + self.mu * x - half - up) + np.exp(log_q - self.mu * x - half - down)
        return np.asarray(self.mu * shares)

    def inverse_loss(self, loss: Array) -> Array:
        """μx = L/2 + asinh((1−q)/q·e^{μ²/2}·sinh(L/2)), from the quadratic in e^{μx}."""
        half = np.asarray(loss, dtype=float) / 2
        log_c = math.log1p(-self.rate) - math.log(self.rate) + self.mu * self.mu / 2 if self.rate < 1 else -math.inf
        with np.errstate(divide="ignore", over="ignore"):
            log_s = np.where(np.abs(half) < 20, np.log(np.abs(np.sinh(np.clip(half, -20, 20)))), np.abs(half) - _LOG2)
            y = log_c + log_s
            far = np.where(y < 30, np.arcsinh(np.exp(np.minimum(y, 30.0))), y + _LOG2)
        return np.asarray((half + np.sign(half) * far) / self.mu)

    def log_p0(self, x: Array) -> Array:
        return np.asarray(-0.5 * x * x - _HALF_LOG_2PI + self._arms(x)[1])

    def roughness(self, x: Array) -> Array:
        return np.asarray(np.abs(x) + 2 * self.mu)

    def singularity_rate(self, x: Array) -> Array:
        """Both arms, one falling where the other grows."""
        return np.full(np.shape(x), 2 * self.mu)

    def error(self, x: Array) -> Array:
        up, down = self._arms(x)
        half = self.mu * self.mu / 2
        damp = sum(
            np.minimum(self.rate * np.exp(np.minimum(s * self.mu * x - half - arm, 700.0)), 1.0)
            for s, arm in ((1, up), (-1, down))
        )
        inner = 8 * _U * self.mu * (np.abs(x) + self.mu)
        shrunk = np.abs(np.expm1(-np.minimum(up, 0))) + np.abs(np.expm1(-np.minimum(down, 0)))
        return np.asarray(damp * inner + 16 * _U * (np.abs(up) + np.abs(down) + shrunk + damp * (1 + half)))

    def _tail(self, x: float, sign: int) -> float:
        """log mass right of x of (1−q)N(0) + qN(sign·μ)."""
        inside = math.log(self.rate) + float(log_ndtr(sign * self.mu - x))
        return float(np.logaddexp(math.log1p(-self.rate) + float(log_ndtr(-x)), inside)) if self.rate < 1 else inside

    def above(self, x: float) -> tuple[float, float]:
        return self._tail(x, 1), self._tail(x, -1)

    def below(self, x: float) -> tuple[float, float]:
        return self._tail(-x, -1), self._tail(-x, 1)

    def cutoffs(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        one_sided = SampledStep(NormalStep(self.mu), self.rate) if self.rate < 1 else NormalStep(self.mu)
        return -one_sided.cutoffs(log_bottom, log_bottom)[1], one_sided.cutoffs(log_top, log_top)[1]

    def moment_growth(self, power: float) -> tuple[float, float]:
        """|a|μ²/2, the shift 2μ where all are drawn. H1 ≥ q·N(μ), and H0 ≤ N(0) beyond 0 and ≥ (1−q)·N(0)."""
        if self.rate == 1:
            return NormalStep(2 * self.mu).moment_growth(power)
        grown = abs(power) * (self.mu**2 / 2)
        return max(grown + math.log(self.rate) - 1, 0.0), grown - math.log1p(-self.rate)

    def psi(self) -> float:
        """That of all records drawn, 2μ apart."""
        return 2 * self.mu

    @property
    def turning_points(self) -> tuple[float, ...]:
        """Where the part that was drawn outgrows the rest, on either side."""
        turn = self.mu / 2 + log_odds_against(self.rate) / self.mu
        return (turn, -turn)

    def exponent(self, power: float) -> Exponent:
        """Beyond the turn a parabola; the laws mirror each other."""
        if power < 0:
            return exchanged(self, power)
        if power <= 1:
            return super().exponent(power)
        return drawn_beyond(super().exponent(power), power, self.mu, self.rate, self.turning_points[0], both=True)

    @property
    def noise(self) -> StepNoise:
        return StepNoise(NoiseKind.NORMAL, self.mu, self.rate, Relation.REPLACE)

    @property
    def scales_by_group(self) -> bool:
        return self.inclusion is Inclusion.COINS

    def group(self, size: int) -> Step:
        """Those who are drawn; all of them, where they are not by coins of their own."""
        if self.inclusion is not Inclusion.COINS:
            return NormalStep(2 * self.mu * size)
        if self.rate < 1:
            return replaced_group_step(self.mu, self.rate, size)
        return NormalReplacementStep(self.mu * size, 1.0)


_NEGLIGIBLE = -60.0  # log share of a part that does not bend the sum
_KNOWN_BLOCK, _KNOWN_SHORT = 4096, 256  # places at once; fewer where there are more than a few parts
_FEW_SHIFTS = 16
_MOST_TURNS, _MOST_PRICE = 8, 8


@dataclass(frozen=True)
class KnownShiftStep(UnboundedStep):
    """Shifts that grow, above 0, and the logarithms of their weights, scaled to sum to 1."""

    shifts: tuple[float, ...]
    log_weights: tuple[float, ...]

    @cached_property
    def _c(self) -> Array:
        return np.asarray(self.shifts)

    @cached_property
    def _log_w(self) -> Array:
        logs = np.asarray(self.log_weights)
        return np.asarray(logs - logsumexp(logs))

    @property
    def cost(self) -> float:
        return float(min(1 + len(self.shifts) / 4, _MOST_PRICE))

    known = Exactness.BOUND

    def loss(self, x: Array) -> Array:
        least = self.shifts[0]
        return np.asarray(least * (np.asarray(x, dtype=float) - least / 2))

    def slope(self, x: Array) -> Array:
        return np.full(np.shape(x), self.shifts[0])

    def inverse_loss(self, loss: Array) -> Array:
        return np.asarray(np.asarray(loss, dtype=float) / self.shifts[0] + self.shifts[0] / 2)

    def _parts(self, loss: Array, some: Part = slice(None)) -> Array:
        """The logarithm of each part's density under H0, or of some parts, a row for each loss."""
        c = self._c[some]
        at = np.asarray(loss)[:, None] / c + c / 2
        return np.asarray(self._log_w[some] + np.log(self.shifts[0] / c) - 0.5 * at * at - _HALF_LOG_2PI)

    def _blocks(self, x: Array) -> Iterator[tuple[slice, Array, Part]]:
        """Places, the logarithms of the densities there of the parts that have a share, and which these are.

        Each is a parabola in the loss: over a block no higher than where it is nearest its peak, and no lower than at
        one of the block's ends.
        """
        size = _KNOWN_BLOCK if self._c.size <= _FEW_SHIFTS else _KNOWN_SHORT
        for i in range(0, x.size, size):
            part = slice(i, i + size)
            loss = self.loss(x[part])
            some: Part = slice(None)
            if self._c.size > _FEW_SHIFTS:
                ends = np.asarray([loss.min(), loss.max()])
                least = float(self._parts(ends).min(axis=0).max())
                at = np.clip(-(self._c**2) / 2, *ends) / self._c + self._c / 2
                most = self._log_w + np.log(self.shifts[0] / self._c) - 0.5 * at * at - _HALF_LOG_2PI
                some = np.flatnonzero(most > least + _NEGLIGIBLE - math.log(self._c.size))
            yield part, self._parts(loss, some), some

    def log_p0(self, x: Array) -> Array:
        """Σ w_j·φ(L/c_j + c_j/2)·c/c_j."""
        x = np.asarray(x, dtype=float)
        out = np.empty(x.size)
        for part, parts, _ in self._blocks(x.ravel()):
            top = parts.max(axis=1)
            out[part] = top + np.log(np.exp(parts - top[:, None]).sum(axis=1))
        return out.reshape(x.shape)

    def roughness(self, x: Array) -> Array:
        """c(|L|/c_j² + ½) + c of the smallest c_j that has a share."""
        x = np.asarray(x, dtype=float)
        flat, out = x.ravel(), np.empty(x.size)
        for part, parts, some in self._blocks(flat):
            seen = parts > parts.max(axis=1)[:, None] + _NEGLIGIBLE
            smallest = self._c[some][np.argmax(seen, axis=1)]
            out[part] = np.abs(self.loss(flat[part])) / smallest**2 + 1.5
        return self.shifts[0] * out.reshape(x.shape)

    def error(self, x: Array) -> Array:
        return np.asarray(8 * _U * self.shifts[0] * (np.abs(x) + self.shifts[0]))

    def _tail(self, loss: float, sign: int) -> float:
        """log Σ w_j·P(N(±c_j²/2, c_j²) > L)."""
        return float(logsumexp(self._log_w + log_ndtr(sign * self._c / 2 - loss / self._c)))

    def above(self, x: float) -> tuple[float, float]:
        loss = float(self.loss(np.asarray(x)))
        return self._tail(loss, 1), self._tail(loss, -1)

    def below(self, x: float) -> tuple[float, float]:
        loss = float(self.loss(np.asarray(x)))
        return self._tail(-loss, -1), self._tail(-loss, 1)

    def cutoffs(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        low, high = -self._far(log_bottom), self._far(log_top)
        ends = self.inverse_loss(np.asarray([low, high]))
        return float(ends[0]), float(ends[1])

    @cached_property
    def _known(self) -> dict[float, float]:
        return {}

    def _far(self, level: float) -> float:
        """A loss above which H1 has at most so much."""
        if level not in self._known:
            self._known[level] = self._sought(level)
        return self._known[level]

    def _sought(self, level: float) -> float:
        needed = level - self._log_w
        each = self._c**2 / 2 - self._c * ndtri_exp(np.minimum(needed, -1e-9))
        least = float(np.max(np.where(needed < -1e-9, each, -np.inf)))
        each = self._c**2 / 2 - self._c * ndtri_exp(np.minimum(needed - math.log(self._c.size), -1e-9))
        most = max(float(np.max(np.where(needed - math.log(self._c.size) < -1e-9, each, -np.inf))), least)
        if not math.isfinite(least) or self._tail(least, 1) <= level:
            return least if math.isfinite(least) else most
        for _ in range(30):
            middle = 0.5 * (least + most)
            least, most = (middle, most) if self._tail(middle, 1) > level else (least, middle)
        return most

    def log_moment(self, power: float) -> float:
        """log Σ w_j·e^{a(a−1)c_j²/2}."""
        each = (power * self._c) * ((power - 1) * self._c) / 2
        if np.abs(each).max() > 1:
            return float(logsumexp(self._log_w + each))
        return math.log1p(float(np.exp(self._log_w) @ np.expm1(each)))

    def moment_growth(self, power: float) -> tuple[float, float]:
        """|a|c²/2 of the largest shift, but for the logarithm of its weight over the order."""
        grown = abs(power) * (self.shifts[-1] ** 2 / 2)
        return max(grown + float(self._log_w[-1]) / abs(power), 0.0), grown

    def kl(self) -> float:
        return float(np.exp(self._log_w) @ self._c**2) / 2

    reverse_kl = kl_bound = kl

    def psi(self) -> float:
        return self.shifts[-1]

    @property
    def psi_limit(self) -> float:
        return self.shifts[-1]

    @property
    def shift(self) -> float:
        """How far the largest shift's loss lies, in units of x."""
        return self.shifts[-1] ** 2 / self.shifts[0]

    @property
    def turning_points(self) -> tuple[float, ...]:
        """Where the loss of a shift has its middle under either law, some of them where there are many."""
        some = self._c[np.unique(np.geomspace(1, self._c.size, _MOST_TURNS).astype(int)) - 1]
        middles = self.inverse_loss(np.concatenate((some**2 / 2, -(some**2) / 2)))
        return tuple(middles.tolist())

    def group(self, size: int) -> NormalStep:
        """So many times the largest shift, which dominates all others."""
        return NormalStep(size * self.shifts[-1])
