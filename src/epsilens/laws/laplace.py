"""Lap(0, 1) against Lap(m, 1): the shift of a Laplace, m = ε·|shift|/sensitivity, as a law and as a step.

All of the law is closed form:

f(α) = 1 − e^m·α on [0, e^{−m}/2];  e^{−m}/(4α) on [e^{−m}/2, ½];  e^{−m}(1−α) on [½, 1].

``LaplaceReplaced`` is a sample in which a person's record has one value or another.

The largest of many noisy scores: the law of one Laplace shift, which several selections together only stay below.

Theorem D36 of docs/proofs/dominating-pairs.md; Theorem D30 is that of one Laplace shift; products in closed
form are Theorem C17.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import ClassVar

import numpy as np
from scipy.special import gammainc, ndtri_exp

from ..checks import Array
from ..numerics.special import Index, expm1mx, half_normal_quantile, log1pmx, sinhcm1
from ..numerics.values import ValueSemantics
from ..readings.guesses import fbeta_floor
from ..readings.law import Exactness
from ..worlds import Relation
from .composition.quadrature import QuadratureStep
from .composition.step import Atoms, Composable, CountedStep, Family, NoiseKind, Step, StepNoise, unknown_group
from .composition.tilt import LaplaceTilts
from .composition.wrappers import log_odds_against, mix, unmix
from .piecewise import PiecewiseLaw, Tail

_U = 2.0**-53
_LOG2 = math.log(2.0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Laplace(Composable):
    """Lap(0,1) under H0, Lap(m,1) under H1, m ≥ 0 (a number or an array of them)."""

    family: ClassVar[Family] = Family.LAPLACE
    loss_given = True

    m: Array
    known: Exactness = field(default=Exactness.EXACT, kw_only=True)

    def steps(self) -> tuple[CountedStep, ...]:
        return ((LaplaceStep(float(self.m)), 1),) if float(self.m) > 0 else ()

    symmetric = True

    def reverse(self) -> Laplace:
        return self

    def tradeoff(self, alpha: Array) -> Array:
        """The three pieces above, in logs so that m = 700 and α = 1e-300 meet without overflow."""
        with np.errstate(divide="ignore", over="ignore"):
            x = self.m + np.log(alpha)  # log(e^m α)
            steep = 1 - np.exp(np.minimum(x, -_LOG2))
            middle = np.exp(-x - 2 * _LOG2)
        flat = np.exp(-self.m) * (1 - alpha)
        return np.asarray(np.where(x <= -_LOG2, steep, np.where(alpha <= 0.5, middle, flat)))

    def roc(self, alpha: Array) -> Array:
        """1 − f(α), each piece in its own precise form."""
        with np.errstate(divide="ignore", over="ignore"):
            x = self.m + np.log(alpha)
            steep = np.exp(np.minimum(x, -_LOG2))
            middle = -np.expm1(-x - 2 * _LOG2)
        flat = -np.expm1(-self.m) + np.exp(-self.m) * alpha
        return np.asarray(np.where(x <= -_LOG2, steep, np.where(alpha <= 0.5, middle, flat)))

    def inverse_roc(self, recall: Array) -> Array:
        """R·e^{−m} up to ½; e^{−m}/(4(1−R)) up to 1 − e^{−m}/2; then 1 − (1−R)e^m."""
        miss = 1 - recall
        with np.errstate(divide="ignore", over="ignore"):
            x = self.m + np.log(miss)
            middle = np.exp(-x - 2 * _LOG2)
            flat = 1 - np.exp(np.minimum(x, -_LOG2))
        return np.asarray(np.where(recall <= 0.5, recall * np.exp(-self.m), np.where(x > -_LOG2, middle, flat)))

    def at(self, log_threshold: Array) -> tuple[Array, Array]:
        """llr = clip(2z − m, ±m): inside, α = ½e^{−(m+u)/2} and the miss is ½e^{(u−m)/2}."""
        u, m = np.asarray(log_threshold, dtype=float), self.m
        v = np.clip(u, -m, m)
        alpha, recall = 0.5 * np.exp(-(m + v) / 2), 1 - 0.5 * np.exp((v - m) / 2)
        inside = (u >= -m) & (u < m)
        outside = np.where(u < -m, 1.0, 0.0)
        return np.asarray(np.where(inside, alpha, outside)), np.asarray(np.where(inside, recall, outside))

    def profile(self, log_threshold: Array) -> Array:
        """1 − e^{(u−m)/2} for |u| ≤ m; 0 above; 1 − e^u below."""
        u = np.asarray(log_threshold, dtype=float)
        exponent = np.where(u < -self.m, np.minimum(u, 0.0), np.minimum((u - self.m) / 2, 0.0))
        return np.asarray(-np.expm1(exponent) + 0.0)

    def profile_inverse(self, delta: Array) -> Array:
        """m + 2·log(1−δ), at least 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.maximum(self.m + 2 * np.log1p(-delta), 0.0))

    def max_llr(self) -> Array:
        return np.asarray(self.m)

    def log_moment(self, a: Array) -> Array:
        """log E(a), E(a) = E(1−a) = (a·e^{(a−1)m} + (a−1)·e^{−am})/(2a−1), in four forms that keep their digits.

        Up to a = ¾ (0/0 at ½): E = e^{−m/2}(cosh u + (m/2)·sinh(u)/u) with u = (a−½)m. Beyond, for m ≤ 1:
        E − 1 = (a·g((a−1)m) + (a−1)·g(−am))/(2a−1) with g(x) = e^x − 1 − x; for m > 1 the leading exponential is
        taken out.
        """
        a, m = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(self.m, dtype=float))
        rest = np.where(a < 0.5, a, 1 - a)  # 1 − a once a ≥ ½, without rounding it twice
        a = np.where(a < 0.5, 1 - a, a)
        centre = np.minimum(a, 0.75)
        with np.errstate(all="ignore"):
            u = (centre - 0.5) * m
            small = np.minimum(m, 1.0)
            v = (centre - 0.5) * small
            grown = 2 * np.sinh(v / 2) ** 2 + small / 2 * sinhcm1(v)
            centre_small = log1pmx(grown + small / 2) + grown
            fall = -np.expm1(-2 * u)  # 1 − e^{−2u}
            slope = np.where(u > 0, fall / np.where(u > 0, 2 * u, 1.0), 1.0)
            centre_large = u - m / 2 + np.log(1 - fall / 2 + m / 2 * slope)
            outer_small = np.log1p((a * expm1mx(-rest * small) - rest * expm1mx(-a * small)) / (2 * a - 1))
            outer_large = -rest * m + np.log1p(-rest * np.expm1(-(2 * a - 1) * m) / (2 * a - 1))
        large = (m > 1) | (a * m > 30)
        outer = np.where(large, outer_large, outer_small)
        return np.where(a <= 0.75, np.where(large, centre_large, centre_small), outer)

    def kl(self) -> Array:
        return expm1mx(-np.asarray(self.m, dtype=float))

    def auc(self) -> Array:
        return np.asarray(1 - np.exp(-self.m) * (2 + self.m) / 4)

    def psi(self) -> Array:
        """2Φ⁻¹(1 − ½e^{−m/2}): Φ⁻¹(1−α) − Φ⁻¹(f(α)) is concave in log α on the middle piece and monotone on the
        others, and f is symmetric, so the supremum is at the fixed point α = f(α) = ½e^{−m/2}.
        """
        m = np.asarray(self.m, dtype=float)
        near = 2 * half_normal_quantile(-np.expm1(-np.minimum(m, 2.0) / 2))
        return np.asarray(np.where(m < 2, near, -2 * ndtri_exp(-_LOG2 - m / 2)))

    def practical(self, level: float) -> Array:
        """ψ at every level: it is reached where both errors are the same."""
        return self.psi()

    def fbeta(self, beta: Array, odds: Array) -> Array:
        """Paper 000 Eq. 12/18: (1+β²)(s−1)/((1+β²)s − 1 + β²), s = √(1 + 4β²e^m/c), once m ≥ log(1+β²/c).

        Below that turning point flagging everyone is best and F carries no information about ε.
        """
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            b2, m = beta * beta, self.m
            r = 1 / np.sqrt(1 + np.exp(m + np.log(4 * b2) - np.log(odds)))  # 1/s
            # divided through, so that nothing cancels when s is near 1: F = 1/(w + (1+1/s)²(1 − w + w·c·e^{−m}/4))
            w = 1 / (1 + b2)
            value = 1 / (w + (1 + r) ** 2 * ((1 - w) + w * np.exp(np.log(odds) - m) / 4))
            turned = m >= np.log1p(b2 / odds)
        return np.asarray(np.where(turned & (odds > 0) & np.isfinite(odds), value, fbeta_floor(beta, odds)))


@dataclass(frozen=True)
class LaplaceStep(QuadratureStep):
    """Lap(0, 1) against Lap(m, 1): L = 2x − m on [0, m], atoms at both ends."""

    family: ClassVar[Family] = Family.LAPLACE

    m: float

    symmetric = True

    @property
    def atoms(self) -> Atoms:
        """½e^{−m} at −m and ½ at m."""
        return Atoms(np.array([-self.m, self.m]), np.array([-self.m - _LOG2, -_LOG2]))

    @property
    def support(self) -> tuple[float, float]:
        return (0.0, self.m)

    @property
    def loss_range(self) -> tuple[float, float]:
        return (-self.m, self.m)

    def loss(self, x: Array) -> Array:
        return np.asarray(2 * x - self.m)

    def slope(self, x: Array) -> Array:
        return np.full(np.shape(x), 2.0)

    def inverse_loss(self, loss: Array) -> Array:
        return np.asarray(np.clip((loss + self.m) / 2, 0.0, self.m))

    def log_p0(self, x: Array) -> Array:
        return np.asarray(-x - _LOG2)

    def roughness(self, x: Array) -> Array:
        """Exponentials of slope 1; the loss has slope 2."""
        return np.full(np.shape(x), 2.0)

    def error(self, x: Array) -> Array:
        return np.full(np.shape(x), 8 * _U * self.m)

    def above(self, x: float) -> tuple[float, float]:
        rest = max(self.m - x, 0.0)
        gone = math.log(-math.expm1(-rest)) if rest > 0 else -math.inf
        return gone - _LOG2, gone - x - _LOG2

    def below(self, x: float) -> tuple[float, float]:
        gone = math.log(-math.expm1(-x)) if x > 0 else -math.inf
        return gone - _LOG2 - max(self.m - x, 0.0), gone - _LOG2

    @property
    def closed_tilts(self) -> LaplaceTilts:
        return LaplaceTilts(self.m)

    def log_moment(self, power: float) -> float:
        return float(self.as_law().log_moment(np.asarray(power))) if power not in (0.0, 1.0) else 0.0

    def kl_bound(self) -> float:
        return self.m + math.expm1(-self.m)

    def psi(self) -> float:
        return float(self.as_law().psi())

    @property
    def noise(self) -> StepNoise:
        return StepNoise(NoiseKind.LAPLACE, self.m)

    def as_law(self) -> Laplace:
        return Laplace(np.asarray(self.m))

    scales_by_group = True

    def group(self, size: int) -> LaplaceStep:
        return LaplaceStep(self.m * size)


@dataclass(frozen=True)
class LaplaceReplacementStep(QuadratureStep):
    """Poisson sampling, replace, of Laplace noise: (1−q)Lap(0) + qLap(−m) against (1−q)Lap(0) + qLap(m).

    docs/proofs/dominating-pairs.md, Theorem D11: a larger shift dominates, and both ratios fall with x.
    """

    m: float
    rate: float

    symmetric = True

    @property
    def support(self) -> tuple[float, float]:
        return (-self.m, self.m)

    @property
    def knots(self) -> tuple[float, ...]:
        return (0.0,)

    @property
    def _floor(self) -> float:
        return float(mix(np.asarray(-self.m), self.rate))

    @property
    def loss_range(self) -> tuple[float, float]:
        """±log((1−q+q·e^m)/(1−q+q·e^{−m}))."""
        top = float(mix(np.asarray(self.m), self.rate)) - self._floor
        return (-top, top)

    @property
    def atoms(self) -> Atoms:
        """The half lines beyond ±m."""
        top = self.loss_range[1]
        # right of m, H1 has ½((1−q)e^{−m} + q) = ½e^{−m}(1−q+q·e^m), and H0 mirrors it
        log_h1 = -_LOG2 - self.m + float(mix(np.asarray(self.m), self.rate))
        return Atoms(np.array([-top, top]), np.array([log_h1 - top, log_h1]))

    def loss(self, x: Array) -> Array:
        """Odd; log(1−q+q·e^{2x−m}) − log(1−q+q·e^{−m}) for x ≥ 0."""
        x = np.asarray(x, dtype=float)
        return np.asarray(np.sign(x) * np.maximum(mix(2 * np.abs(x) - self.m, self.rate) - self._floor, 0.0))

    def slope(self, x: Array) -> Array:
        """2·q·e^{u}/(1−q+q·e^u) at u = 2|x| − m."""
        u = 2 * np.abs(np.asarray(x, dtype=float)) - self.m
        return np.asarray(2 * np.exp(np.minimum(math.log(self.rate) + u - mix(u, self.rate), 0.0)))

    def inverse_loss(self, loss: Array) -> Array:
        loss = np.asarray(loss, dtype=float)
        x = (unmix(np.abs(loss) + self._floor, self.rate) + self.m) / 2
        return np.asarray(np.sign(loss) * np.clip(x, 0.0, self.m))

    def log_p0(self, x: Array) -> Array:
        """½((1−q)e^{−|x|} + q·e^{−|x+m|})."""
        x = np.asarray(x, dtype=float)
        return np.asarray(-_LOG2 - np.abs(x) + mix(np.abs(x) - np.abs(x + self.m), self.rate))

    def roughness(self, x: Array) -> Array:
        return np.full(np.shape(x), 3.0)

    def error(self, x: Array) -> Array:
        down = abs(self._floor)
        return np.asarray(16 * _U * (np.abs(self.loss(x)) + 2 * down + math.expm1(min(down, 700.0)) + self.m * 4))

    def above(self, x: float) -> tuple[float, float]:
        """∫_x^m of each density, in logarithms, as a sum of positive parts."""
        x = min(max(x, -self.m), self.m)
        if x == self.m:
            return (-math.inf, -math.inf)
        gone = math.log(-math.expm1(x - self.m))
        stays = gone - x if x >= 0 else math.log(-math.expm1(x) - math.expm1(-self.m))
        rest = math.log1p(-self.rate) + stays if self.rate < 1 else -math.inf
        drawn = math.log(self.rate) + gone
        with_, without = (float(np.logaddexp(rest, part)) - _LOG2 for part in (drawn, drawn - self.m - x))
        return with_, without

    def below(self, x: float) -> tuple[float, float]:
        with_, without = self.above(-x)
        return without, with_

    def psi(self) -> float:
        """That of all records drawn, 2m apart."""
        return float(Laplace(np.asarray(2 * self.m)).psi())

    @property
    def turning_points(self) -> tuple[float, ...]:
        """Where the part that was drawn outgrows the rest, on either side."""
        turn = (log_odds_against(self.rate) + self.m) / 2
        return (turn, -turn)

    @property
    def noise(self) -> StepNoise:
        return StepNoise(NoiseKind.LAPLACE, self.m, self.rate, Relation.REPLACE)

    def group(self, size: int) -> Step:
        raise unknown_group("replace")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NoisyMax(Laplace):
    """With exponential noise one is the exact worst case over all scores; several only bound what several tell."""

    family: ClassVar[Family] = Family.NONE

    pointwise = True  # Each point is reached by scores of its own

    def steps(self) -> tuple[CountedStep, ...]:
        return ((NoisyMaxStep(float(self.m)), 1),)


@dataclass(frozen=True)
class NoisyMaxStep(LaplaceStep):
    """A Laplace step that dominates a selection; its noise is not that of an answer."""

    family: ClassVar[Family] = Family.NONE

    known = Exactness.BOUND  # each selection has scores that are its worst case; none are that of all at once

    @property
    def noise(self) -> None:  # type: ignore[override]
        return

    def as_law(self) -> NoisyMax:
        return NoisyMax(np.asarray(self.m))

    def group(self, size: int) -> NoisyMaxStep:
        return NoisyMaxStep(self.m * size)


# Laplace answers observed together: the exact product of pairs Lap(0,1), Lap(m_i,1).
#
# k equal answers: the log-likelihood ratio of one is m(2y − 1) with y = 0, y = 1 or y uniform between, with weights ½,
# ½, m/2 under the geometric mean √(dH0·dH1) = e^{−m/2}·(…). So for k answers llr = m(2Y − k), Y the sum of k such y:
# atoms on the whole numbers 0…k, where the test is randomised, and a density made of Irwin–Hall pieces.
#
# Unlike shifts: the log-likelihood ratio S of all answers is a sum of independent terms. Under the geometric mean each
# has mass ½ at −m_i, ½ at +m_i and density ¼ between (times e^{−m_i/2}), so S has atoms on the sums ±m_1 … ±m_q and
# between them a density that is a polynomial of degree below q. Each further answer shifts and integrates that
# polynomial; all terms are positive.
#
# Either way the ratio is itself the observation, monotone by construction, and the general law of the line reads
# everything off it.
#
# Several Laplace numbers, each moved by its own amount: δ(ε) in closed form.
#
# One number moved by t scales has the loss L = |y| − |y − t|. Weighed by e^{−L/2}, its law in the second world is, for
# any t, e^{−t/2} times (half an atom at each of ±t, and the density ¼ between), with the transform
# ½e^{st}(1 + 1/2s) + ½e^{−st}(1 − 1/2s).
#
# For k numbers the product is a sum over signs σ of e^{s·σt}(1+1/2s)^p(1−1/2s)^{k−p}, p of the signs being up: powers
# of 1/s, so that with a = σ·t, T = Σt and r = (a − ε)/2
#
#     δ(ε) = 2^{−k} Σ_{σ: a>ε} Σ_{j=0}^{k} c_pj·[e^{(a−T)/2}·P_j(r) − e^{ε−(a+T)/2}·B_j(r)],
#
# where P_0 = B_0 = 1, P_j is the regularised incomplete gamma function, B_1 = e^r − 1 and B_j = r^{j−1}e^r/(j−1)! −
# B_{j−1}. Numbers that move alike are taken together. There are at most 4^k terms, each at most 1: the rounding of as
# many is added, so that the answer is never below δ.

_X, _W = np.polynomial.legendre.leggauss(24)
_LEAST, _MOST = 1e-3, 80.0


def is_resolved(total: float) -> bool:
    """Whether doubles carry the written-out product of Laplaces of this total shift.

    Below, the two laws differ by less than the rounding of a squared loss; above, masses of e^{−total} get lost.
    """
    return _LEAST <= total <= _MOST


def _times(bernstein: Array, at_0: float, at_1: float) -> Array:
    """A polynomial in Bernstein's form times the line through (0, at_0) and (1, at_1)."""
    n = bernstein.size
    i = np.arange(n + 1)
    low, high = np.append(bernstein, 0.0), np.insert(bernstein, 0, 0.0)
    return np.asarray(at_0 * (1 - i / n) * low + at_1 * i / n * high)


class _PanelLaw(ABC):
    """A law of bounded support: atoms, and a density whose masses are added up panel by panel from either end."""

    @abstractmethod
    def _panel(self, left: Array, right: Array, interval: Index) -> Array:
        """∫ of the density between two places of one interval."""

    @property
    @abstractmethod
    def _panels(self) -> tuple[Array, Index, Array, Array]:
        """Edges, the interval that begins at each but the last, and the mass below and above each edge."""

    def tails(self) -> tuple[Tail, Tail]:
        """Not asked for: the support is bounded."""
        return Tail(np.inf, 0, 0.0), Tail(np.inf, 0, 0.0)

    def log_cdf(self, x: Array) -> Array:
        edges, home, below, _ = self._panels
        x = np.clip(np.asarray(x, dtype=float), edges[0], edges[-1])
        i = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, edges.size - 2)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(below[i] + self._panel(edges[i], x, home[i])))

    def log_sf(self, x: Array) -> Array:
        edges, home, _, above = self._panels
        x = np.clip(np.asarray(x, dtype=float), edges[0], edges[-1])
        i = np.clip(np.searchsorted(edges, x, side="left"), 1, edges.size - 1)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(above[i] + self._panel(x, edges[i], home[i - 1])))


def _cumulative(mass: Array) -> tuple[Array, Array]:
    return np.concatenate(([0.0], np.cumsum(mass))), np.concatenate((np.cumsum(mass[::-1])[::-1], [0.0]))


@dataclass(frozen=True)
class _EqualShifts(_PanelLaw):
    """The law of Y under H1 (sign = 1) or H0 (sign = −1): the common measure tilted by e^{±m(y − k/2)}."""

    k: int
    m: float
    sign: int

    @property
    def knots(self) -> tuple[float, ...]:
        return tuple(float(i) for i in range(1, self.k))

    @property
    def atoms(self) -> tuple[tuple[float, float], ...]:
        """Every answer on one of its two flat sides: binomial weights."""
        return tuple(
            (float(i), math.comb(self.k, i) * 2.0**-self.k * math.exp(-self.k * self.m / 2 + self._tilt(float(i))))
            for i in range(self.k + 1)
        )

    def _tilt(self, y: float) -> float:
        return self.sign * self.m * (y - self.k / 2)

    @property
    def support(self) -> tuple[float, float]:
        return (0.0, float(self.k))

    @property
    def centre(self) -> float:
        return self.k / 2

    @property
    def scale(self) -> float:
        """One step of the lattice, or the tilt's own width if that is shorter."""
        return min(1.0, 1 / self.m)

    def log_pdf(self, x: Array) -> Array:
        """Σ_j C(k,j)(½)^{k−j}(m/2)^j Σ_i C(k−j,i)·IH_j(y−i), tilted."""
        y = np.clip(np.asarray(x, dtype=float), 0.0, np.nextafter(self.k, 0))
        step = np.floor(y).astype(int)
        f, n = (y - step)[..., None], self.k - 1
        d = np.arange(n + 1)
        total = (self._steps[step] * f**d * (1 - f) ** (n - d)).sum(-1)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(total) - self.k * self.m / 2 + self.sign * self.m * (y - self.k / 2))

    @cached_property
    def _steps(self) -> Array:
        """The density on each step as a polynomial in Bernstein's form, whose terms are all positive.

        IH_j(f + r) for r < j follows by its recursion ((f+r)·IH_{j−1}(f+r) + (j−f−r)·IH_{j−1}(f+r−1))/(j − 1), each
        factor linear in f and positive on [0, 1].
        """
        result = np.zeros((self.k, self.k))
        hall = [np.ones(1)]
        for j in range(1, self.k + 1):
            if j > 1:
                none = np.zeros(j - 1)
                below = [none, *hall, none]
                both = ((_times(below[r + 1], r, r + 1), _times(below[r], j - r, j - r - 1)) for r in range(j))
                hall = [(one + other) / (j - 1) for one, other in both]
            weight = math.comb(self.k, j) * 0.5 ** (self.k - j) * (self.m / 2) ** j
            for r in range(j):
                raised = hall[r]
                for _ in range(self.k - j):
                    raised = _times(raised, 1, 1)
                for i in range(self.k - j + 1):
                    result[i + r] += weight * math.comb(self.k - j, i) * raised
        return np.asarray(result * [math.comb(self.k - 1, i) for i in range(self.k)])

    def _panel(self, left: Array, right: Array, interval: Index) -> Array:
        half = (right - left)[..., None] / 2
        return np.asarray((np.exp(self.log_pdf(left[..., None] + half * (1 + _X))) * _W * half).sum(-1))

    @cached_property
    def _panels(self) -> tuple[Array, Index, Array, Array]:
        """At whole numbers, and between them where the tilt is steep."""
        edges = np.linspace(0, self.k, self.k * max(1, math.ceil(self.m / 8)) + 1)
        home = np.arange(edges.size - 1)
        return edges, home, *_cumulative(self._panel(edges[:-1], edges[1:], home))


@dataclass(frozen=True)
class _Ratio:
    """llr = m(2Y − k)."""

    k: int
    m: float

    def __call__(self, y: Array) -> Array:
        return np.asarray(self.m * (2 * np.asarray(y, dtype=float) - self.k))


def laplace_product(m: float, k: int) -> PiecewiseLaw:
    """The product of k equal Laplace pairs of shift m, exactly."""
    return PiecewiseLaw(_EqualShifts(k, m, -1), _EqualShifts(k, m, 1), ratio=_Ratio(k, m), straight=True)


def shift_sums(shifts: tuple[float, ...]) -> Array:
    """The sums ±m_1 … ±m_q in rising order, those that differ by rounding alone only once."""
    sums = np.zeros(1)
    for m in shifts:
        sums = np.sort(np.concatenate((sums - m, sums + m)))
        apart = np.diff(sums) > 1e-12 * sum(shifts)
        sums = sums[np.concatenate(([True], apart))]
    return np.asarray((sums - sums[::-1]) / 2)  # symmetric to the last digit


@dataclass(frozen=True, eq=False, repr=False)
class _Polynomials(ValueSemantics):
    """A density that is a polynomial between knots, by its values at Chebyshev points."""

    knots: Array
    table: Array  # a row for each interval, a column for each point

    @cached_property
    def _points(self) -> tuple[Array, Array]:
        """Chebyshev points of [0, 1] and their barycentric weights."""
        n = self.table.shape[1]
        angle = (2 * np.arange(n) + 1) * np.pi / (2 * n)
        return (1 - np.cos(angle)) / 2, (-1.0) ** np.arange(n) * np.sin(angle)

    def _interval(self, x: Array) -> Index:
        return np.clip(np.searchsorted(self.knots, x, side="right") - 1, 0, self.knots.size - 2)

    def __call__(self, x: Array, interval: Index | None = None) -> Array:
        i = self._interval(x) if interval is None else interval
        f = (x - self.knots[i]) / (self.knots[i + 1] - self.knots[i])
        points, weights = self._points
        away = f[..., None] - points
        exact = away == 0
        share = weights / np.where(exact, 1.0, away)
        share = np.where(exact.any(axis=-1, keepdims=True), exact, share)
        value = (share * self.table[i]).sum(axis=-1) / share.sum(axis=-1)
        return np.where((x < self.knots[0]) | (x > self.knots[-1]), 0.0, np.maximum(value, 0.0))

    def _part(self, left: Array, right: Array, interval: Index) -> Array:
        half = (right - left)[..., None] / 2
        x = left[..., None] + half * (1 + _X)
        return np.asarray((self(x, np.broadcast_to(interval[..., None], x.shape)) * _W * half).sum(axis=-1))

    @cached_property
    def _totals(self) -> Array:
        return self._part(self.knots[:-1], self.knots[1:], np.arange(self.knots.size - 1))

    def below(self, x: Array) -> Array:
        x = np.clip(x, self.knots[0], self.knots[-1])
        i = self._interval(x)
        return np.asarray(np.concatenate(([0.0], np.cumsum(self._totals)))[i] + self._part(self.knots[i], x, i))


def _convolve(f: _Polynomials | None, atoms: tuple[Array, Array], m: float, knots: Array) -> _Polynomials:
    """The density after one more answer: ½f(x−m) + ½f(x+m) + ¼(atoms and ∫f over (x−m, x+m)), on its new knots."""
    n = 1 if f is None else f.table.shape[1] + 1
    angle = (2 * np.arange(n) + 1) * np.pi / (2 * n)
    x = knots[:-1, None] + np.diff(knots)[:, None] * (1 - np.cos(angle)) / 2
    near = -np.abs(x)  # symmetric: from the left, where the integral from the left keeps its digits
    place, mass = atoms
    value = (np.abs(near[..., None] - place) < m) @ mass / 4
    if f is not None:
        value = value + (f(near - m) + f(near + m)) / 2 + (f.below(near + m) - f.below(near - m)) / 4
    return _Polynomials(knots, value)


@dataclass(frozen=True)
class _Product:
    """Atoms and density of S under the common measure, without its factor e^{−Σm/2}."""

    shifts: tuple[float, ...]

    @cached_property
    def parts(self) -> tuple[Array, Array, _Polynomials]:
        """(places, masses, density)."""
        place, mass = np.zeros(1), np.ones(1)
        density: _Polynomials | None = None
        for k, m in enumerate(self.shifts, start=1):
            knots = shift_sums(self.shifts[:k])
            density = _convolve(density, (place, mass), m, knots)
            new = np.zeros(knots.size)
            for moved in (place - m, place + m):
                np.add.at(new, np.argmin(np.abs(knots[:, None] - moved), axis=0), mass / 2)
            place, mass = knots, new
        assert density is not None
        return place, mass, density


@dataclass(frozen=True)
class _UnequalShifts(_PanelLaw):
    """The law of S under H1 (sign = 1) or H0 (sign = −1): the common measure tilted by e^{±S/2}."""

    product: _Product
    sign: int

    @property
    def _total(self) -> float:
        return math.fsum(self.product.shifts)

    @property
    def knots(self) -> tuple[float, ...]:
        return tuple(self.product.parts[0][1:-1].tolist())

    @property
    def atoms(self) -> tuple[tuple[float, float], ...]:
        """Every answer on one of its two flat sides."""
        place, mass, _ = self.product.parts
        tilted = mass * np.exp((self.sign * place - self._total) / 2)
        return tuple(zip(place.tolist(), tilted.tolist(), strict=True))

    @property
    def support(self) -> tuple[float, float]:
        place = self.product.parts[0]
        return float(place[0]), float(place[-1])

    @property
    def centre(self) -> float:
        return 0.0

    @property
    def scale(self) -> float:
        """The tilt's own width, or the narrowest answer's if that is shorter."""
        return min(2.0, 2 * min(self.product.shifts))

    def log_pdf(self, x: Array) -> Array:
        x = np.asarray(x, dtype=float)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.product.parts[2](x)) + (self.sign * x - self._total) / 2)

    def _panel(self, left: Array, right: Array, interval: Index) -> Array:
        half = (right - left)[..., None] / 2
        x = left[..., None] + half * (1 + _X)
        where = np.broadcast_to(interval[..., None], x.shape)
        tilted = self.product.parts[2](x, where) * np.exp((self.sign * x - self._total) / 2)
        return np.asarray((tilted * _W * half).sum(axis=-1))

    @cached_property
    def _panels(self) -> tuple[Array, Index, Array, Array]:
        """At the knots, and between them where the tilt is steep."""
        knots = self.product.parts[0]
        pieces = [np.linspace(a, b, max(1, math.ceil((b - a) / 16)) + 1)[:-1] for a, b in pairwise(knots)]
        home = np.repeat(np.arange(len(pieces)), [p.size for p in pieces])
        edges = np.concatenate((*pieces, knots[-1:]))
        return edges, home, *_cumulative(self._panel(edges[:-1], edges[1:], home))


def _identity(score: Array) -> Array:
    return np.asarray(score, dtype=float)


def laplace_shifts(shifts: tuple[float, ...]) -> PiecewiseLaw:
    """The product of Laplace pairs of these shifts (each above 0), exactly."""
    product = _Product(shifts)
    return PiecewiseLaw(_UnequalShifts(product, -1), _UnequalShifts(product, 1), ratio=_identity, straight=True)


#: More numbers than this lose too many digits.
MOST_SHIFTS = 10
_MOST_TOTAL = 600.0

Shifts = tuple[tuple[float, int], ...]


def has_closed_form(shifts: Sequence[tuple[float, int]]) -> bool:
    """Whether so many numbers, moved so far, keep their digits: ``shifts`` are amounts and how often each occurs."""
    return sum(k for _, k in shifts) <= MOST_SHIFTS and sum(t * k for t, k in shifts) <= _MOST_TOTAL


def laplace_vector_delta(shifts: Shifts, epsilon: float) -> float:
    """δ(ε) = E₁[(1 − e^{ε−L})₊] of independent Laplace numbers, of any sign of ε.

    >>> round(laplace_vector_delta(((1.0, 2),), 0.0), 12), round(1 - 1.5 / math.e, 12)
    (0.448180838243, 0.448180838243)
    """
    total = math.fsum(t * k for t, k in shifts)
    if epsilon < 0:  # the order of the worlds does not matter
        return -math.expm1(epsilon) + math.exp(epsilon) * laplace_vector_delta(shifts, -epsilon)
    if epsilon >= total:
        return 0.0
    k = sum(n for _, n in shifts)
    if k == 1:
        return -math.expm1((epsilon - total) / 2)
    at, up, ways = _signed_sums(shifts)
    inside = at > epsilon
    at, up, ways = at[inside], up[inside], ways[inside]
    first, second = np.exp((at - total) / 2), np.exp(epsilon - (at + total) / 2)
    answer = float(np.sum(ways * (first - second)))
    coefficients, room = _powers(k)[up], (at - epsilon) / 2
    below, power = np.expm1(room), np.ones_like(room)
    for j in range(1, k + 1):
        if j > 1:
            power = power * room / (j - 1)
            below = power * np.exp(room) - below
        answer += float(np.sum(ways * coefficients[:, j] * (first * gammainc(j, room) - second * below)))
    return min(max(answer / 2.0**k, 0.0) + 4.0**k * 2.0**-53, 1.0)


@lru_cache(maxsize=1024)
def _signed_sums(shifts: Shifts) -> tuple[Array, Array, Array]:
    """Each sum of signed amounts, how many signs are up, and in how many ways."""
    at, up, ways = np.zeros(1), np.zeros(1, int), np.ones(1)
    for t, n in shifts:
        j = np.arange(n + 1)
        at = (at[:, None] + t * (2 * j - n)).ravel()
        up = (up[:, None] + j).ravel()
        ways = (ways[:, None] * np.array([math.comb(n, int(i)) for i in j], float)).ravel()
    return at, up, ways


@lru_cache(maxsize=64)
def _powers(k: int) -> Array:
    """Row p: the coefficients of (1 + x)^p (1 − x)^{k−p}."""
    result = np.zeros((k + 1, k + 1))
    for p in range(k + 1):
        one = np.ones(1)
        for i in range(k):
            one = np.convolve(one, [1.0, 1.0 if i < p else -1.0])
        result[p] = one
    return result
