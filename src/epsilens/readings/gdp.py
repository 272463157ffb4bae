"""The practical μ: the least normal shift that bounds every test whose errors both are at least a level.

μ_a = sup {Φ⁻¹(1−f(α)) − Φ⁻¹(α) : α ≥ a, f(α) ≥ a}. As a → 0 it grows to ψ, which the rarest outcomes rule. It is the
same in both orders of the pair. Where the two errors can be balanced below the level (f(a) < a) no test has both at
it, and the balanced one, f(x) = x, is taken instead: −2Φ⁻¹(x). So μ_a never falls as risk grows, and of a normal shift
it is that shift at every level.

*From above*: the ROC curve lies below every line h(t) + tα, and that of a normal shift, being concave, is above a line
between two points where it is above it at both. So the largest gap at the ends of segments, one line to each, bounds μ.
*From below*: any test.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri, ndtri_exp

from ..checks import Array
from ..numerics.special import Mask, half_normal_quantile, probit_gap

if TYPE_CHECKING:
    from .law import Law


_LEAST_ERROR = 1e-307  # of an error that is told from none
MU_TOLERANCE = 1e-9  # relative, where the readings are exact
_FIRST, _START, _FEW, _MOST = 25, 65, 400, 4000  # lines
_ROUNDS = 14
_SLOW = 0.7  # of what a round leaves: lines that refine do much better
_PARTS = 10  # of a stretch, at each step of a search
_EDGE = 1e-14
_MOST_TOLD = 0.9  # of h(1), beyond which too few digits of 1 − h are known
_NEAR = 1e-5  # of a place that was looked for by its height, which is flat there


def equal_error_bracket(law: Law, close: float = _EDGE) -> tuple[float, float]:
    """(low, high) around the x with f(x) = x, on this side's f: low has f(x) ≥ x, high has not; 0 where there is none.

    >>> from epsilens.laws.normal import Normal
    >>> [round(x, 6) for x in equal_error_bracket(Normal(np.asarray(2.0)))]  # Φ(−1)
    [0.158655, 0.158655]
    """
    if law.width and (result := _by_profile(law)) is not None:
        return result
    if float(law.tradeoff(np.asarray(0.5))) >= 0.5:
        return 0.5, 0.5
    # errors never sum to less than 1 − h(1), and some test has neither above it: x lies between half of that and that
    rest = 1 - float(law.profile(np.asarray(0.0)))
    ends = (0.49 * rest, min(1.01 * rest, 0.5)) if rest > 1e-12 else (_LEAST_ERROR, 0.5)
    if not (_above_diagonal(law, ends[0]) and not _above_diagonal(law, ends[1])):
        ends = (_LEAST_ERROR, 0.5)
        if not _above_diagonal(law, _LEAST_ERROR):
            return 0.0, _LEAST_ERROR
    low, high = (math.log(x) for x in ends)
    while high - low > max(close * min(math.log(0.5) - low, 1.0), _EDGE, 4 * math.ulp(low)):
        at = np.linspace(low, high, _PARTS)
        inside = _above_diagonal(law, np.exp(at))
        inside[0], inside[-1] = True, False
        i = int(np.argmin(inside))  # the first that is not
        low, high = float(at[i - 1]), float(at[i])
    return math.exp(low), math.exp(high)


def _above_diagonal(law: Law, x: Array | float) -> Mask:
    """Whether f(x) ≥ x."""
    return np.asarray(law.tradeoff(np.asarray(x))) >= x


def _by_profile(law: Law) -> tuple[float, float] | None:
    """The same where each f takes long: x ≥ (1 − h(t))/(1 + t) for all t, equal at one; None where digits are lost.

    Of a pair that is alike in both orders that t is 1. Elsewhere it is looked for, and checked where that matters.
    """
    h = float(law.profile(np.asarray(0.0)))
    if h > _MOST_TOLD:
        return None
    x, wide = (1 - h) / 2, 0.0 if law.symmetric else max(4 * h, 1e-12)
    middle = 0.0
    for _ in range(4 if wide else 0):
        u = middle + np.linspace(-wide, wide, 17)
        reached = (1 - np.asarray(law.profile(u), dtype=float)) / (1 + np.exp(u))
        middle, wide = float(u[int(np.argmax(reached))]), wide / 6
        x = max(x, float(np.max(reached)))
    share = _NEAR  # of the way to ½
    high = x + share * (0.5 - x)
    while law.direction == "lower" and share < 1 and not float(law.tradeoff(np.asarray(high))) <= high:
        share = min(8 * share, 1.0)
        high = x + share * (0.5 - x)
    return x, high


def equal_error_mu(x: float) -> float:
    """The gap of a test with both errors x."""
    return float(-2 * ndtri_exp(math.log(x))) if x > 0 else math.inf


def mu_by_lines(law: Law, level: float) -> float:
    """An upper bound on μ at a level, from the law's own profile: no further from its curve than its width allows."""
    psi = float(law.psi())
    close = law.width / 8 or MU_TOLERANCE
    low, _ = equal_error_bracket(law, close / 50)
    if low < level:
        return min(equal_error_mu(low), psi)
    if equal_error_mu(low) >= psi * (1 - close):  # reached by a test that every level holds
        return psi
    _, high = equal_error_bracket(law.other_side(), close / 50)
    return min(max(_lines(view, level, max(high, low), close) for view in _views(law)), psi)


def mu_by_tests(law: Law, level: float) -> float:
    """A lower bound on μ at a level: the largest gap of tests that the law's own curve holds."""
    close = law.width / 8 or MU_TOLERANCE
    _, high = equal_error_bracket(law, close / 50)
    low, _ = equal_error_bracket(law.other_side(), close / 50)
    best = equal_error_mu(high)
    if low < level:
        return best
    for view in _views(law):
        z = np.linspace(ndtri(level), ndtri(low), 4 * _START)
        alpha = np.clip(ndtr(z), level, low)
        best = max(best, float(np.max(_gaps(alpha, np.asarray(view.roc(alpha)) - alpha))))
    return best


def _views(law: Law) -> tuple[Law, ...]:
    return (law,) if law.symmetric else (law, law.reverse())


def _gaps(alpha: Array, more: Array) -> Array:
    """Φ⁻¹(α + more) − Φ⁻¹(α); infinite where all would be found."""
    rest = 1 - alpha - more
    with np.errstate(invalid="ignore", divide="ignore"):
        gaps = probit_gap(alpha, np.maximum(more, 0.0), np.maximum(rest, 0.0))
    return np.where(rest > 0, gaps, np.inf)


def _lines(law: Law, level: float, most: float, close: float) -> float:
    """The bound over α from the level to ``most``, in this order of the pair."""
    if most <= level * (1 + _EDGE):
        alpha = np.asarray(level)
        return float(_gaps(alpha, np.asarray(law.roc(alpha)) - alpha))
    u, h = _initial_lines(law, level)
    tried, before, most_lines = u, math.inf, _FEW if law.width else _MOST
    for again in range(_ROUNDS):
        u, h = _hull(u, h)
        bound, reached = _bounds(u, h, level, most)
        wide = bound > reached * (1 + close) + 1e-300
        over = float(np.max(bound)) - reached
        # what finer lines do not narrow is noise
        if not wide.any() or u.size > most_lines or (law.width and again > 1 and over > _SLOW * before):
            break
        before = over
        finer = np.setdiff1d(_finer(u, wide), tried)
        tried = np.union1d(tried, finer)
        if not finer.size:
            break
        u, h = np.append(u, finer), np.append(h, np.asarray(law.profile(finer), dtype=float))
    return float(np.max(bound))


def _initial_lines(law: Law, level: float) -> tuple[Array, Array]:
    """Lines as far as those of a normal shift with the same h(1) would go, and on until the last touches at the level.

    They start below slope 1: the curve may be flatter than that where its errors are balanced.
    """
    size, top = float(law.profile(np.asarray(0.0))), float(law.max_llr())
    mu = 2 * float(half_normal_quantile(np.asarray(min(size, 1 - 1e-15))))
    end = min(max(mu * (mu / 2 - float(ndtri(level))), 1e-300), top, 700.0)
    u = np.linspace(-end / 4, end, _FIRST if law.width else _START)
    h = np.asarray(law.profile(u), dtype=float)
    for _ in range(20):
        if u[-1] >= min(top, 700.0):
            break
        last = (h[-2] - h[-1]) / (math.exp(u[-2]) * math.expm1(u[-1] - u[-2]))
        if not last > level:
            break
        more = np.linspace(u[-1], min(2 * u[-1], top, 700.0), 9)[1:]
        u, h = np.append(u, more), np.append(h, np.asarray(law.profile(more), dtype=float))
    return u, h


def _hull(u: Array, h: Array) -> tuple[Array, Array]:
    """Those lines that are the lowest somewhere, by rising slope: the corners of the largest convex function below h.

    A line that noise has put above its neighbours' crossing bounds nothing.
    """
    order = np.argsort(u, kind="stable")
    u, h = u[order], h[order]
    kept: list[int] = []
    for i in range(u.size):
        while len(kept) > 1:
            a, b = kept[-2], kept[-1]
            # h at b against the chord from a to i, with t in units of e^{u_b}
            left, right = -math.expm1(u[a] - u[b]), math.expm1(min(u[i] - u[b], 700.0))
            if (h[b] - h[a]) * right < (h[i] - h[b]) * left:
                break
            kept.pop()
        if kept and u[kept[-1]] == u[i]:
            continue
        kept.append(i)
    return u[kept], h[kept]


def _bounds(u: Array, h: Array, level: float, most: float) -> tuple[Array, float]:
    """The largest gap of each line over its segment, and about the largest of the curve itself.

    u rises, so α falls. Any segments that cover all will do; about the middle of its own a line touches the curve.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        crossing = (h[:-1] - h[1:]) / (np.exp(u[:-1]) * np.expm1(np.diff(u)))
    crossing = np.minimum.accumulate(np.clip(np.where(np.isfinite(crossing), crossing, most), level, most))
    ends = np.concatenate(([most], crossing, [level]))
    right, left = ends[:-1], ends[1:]

    def gaps(a: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.where(right > left, _gaps(a, (h + a * np.expm1(u)) * (1 + 1e-15) + 2e-16 * a), 0.0)

    bound, middle = np.maximum(gaps(left), gaps(right)), gaps(np.sqrt(left * right))
    return bound, float(np.max(middle[1:-1], initial=0.0))


def _finer(u: Array, wide: Mask) -> Array:
    """Slopes about those lines that bound too little, and beyond the outermost where one of these does."""
    step = np.diff(u) if u.size > 1 else np.ones(1)
    around = np.concatenate(([u[0] - step[0]], u, [u[-1] + step[-1]]))
    at = np.flatnonzero(wide) + 1
    shares = np.arange(1, 4)[:, None] / 4
    below = around[at - 1] + shares * (around[at] - around[at - 1])
    above = around[at] + shares * (around[at + 1] - around[at])
    outer = around[[0, -1]] if wide[0] or wide[-1] else np.zeros(0)
    return np.unique(np.concatenate((below.ravel(), above.ravel(), outer)))
