"""ψ of a product of lists of atoms, every combination written out: the largest gap over the corners of its ROC curve.

The curve is a polygon, and that of a normal shift, being concave, is above a chord where it is above both of its ends:
so the gaps Φ⁻¹(TPR) − Φ⁻¹(α) at the corners are all there is. Each order of the pair takes the corners whose losses are
not negative, with TPR − α summed from the top: positive terms, which keep their digits where it is 1e-12 of α.

*Rounding.* A computed loss l lies within η|l| of the true one. h(t) = Σ q·(e^l − t)₊ grows with each l, and that of a
product with each of its factors (the monotonicity lemma, for measures that need not be probabilities), so that the
lists with l + η|l| lie above in h, hence in the curve, and any test is no better with l − η|l| than it is. Corners
with l + η|l| ≥ 0 in one order and the like in the other overlap: a best test with more false positives than the former
misses less than the latter hold.

*Beyond the list.* Noise on the whole numbers goes on. With S any event and α its H0, the bounded steps give H1(S) ≤
e^ξ·H(S), where H has H1 in the other steps alone, ξ being the sum of the bounded ones' largest losses. Where one step
is left, its own curve times e^ξ is the bound. Otherwise each is parted, outcome by outcome (:class:`.step.Tails`), into
those whose losses are at most c, a measure below e^c·H0, and those that are together no riskier than a normal shift τ,
as profiles of measures: the profile of a sum over disjoint outcomes is the sum of theirs, and by the lemma their
products lie below a sum of such: TPR ≤ e^ξ·Σ w_S·Φ(τ_S − z), over the sets S of steps that are at a τ, with
z = −Φ⁻¹(α) and τ_S² = Σ τ². With m the largest of the τ_S that is C(z)·Φ(m − z), where
C(z) = e^ξ·Σ w_S·Φ(τ_S − z)/Φ(m − z) falls as z grows, as does the gap of C·α for a fixed C ≥ 1. So from some z on, no
gap exceeds m and that of C(z)·α at α = Φ(m − z).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, log_ndtr, logsumexp, ndtri_exp

from ...checks import Array
from ...numerics.special import probit_gap
from .step import Counted

_MOST = 2**19  # 0.3 s
_LONGEST = 2**15  # of one list: beyond, its losses have fewer digits
_OFF = 1e-9  # η
_U = 2.0**-53
_LOGS = 2.0**16 * _U  # of a mass, whose logarithm may be −750
_SEEN = 1e-300  # masses at ±∞ below stand for the end of a list
_LEAST = 1e-290  # α above which the end of a list does not count
_GONE = -722.0  # log of a mass that is left out with it
_LOST = 1e-305  # more than all of these together
_HALF = math.log(0.5)
_PROBIT = 4e-15
_MOST_TERMS = 4096


class _List(NamedTuple):
    """Log masses under the law that is H0 here, and the losses, from below and from above."""

    log_q: Array
    low: Array
    high: Array


def corner_gap(steps: Sequence[Counted], *, symmetric: bool) -> tuple[float, float] | None:
    """(low, high) of ψ; None where the product is not written out.

    Steps that are written out already are taken apart where that is not too much: their losses have lost digits.
    """
    single = apart(steps)
    steps = single if math.prod(float(step.atoms.loss.size) ** min(k, 64) for step, k in single) <= _MOST else steps
    size, lost, rho = 1.0, False, 0.0
    for step, k in steps:
        atoms = step.atoms
        n = atoms.loss.size
        if step.span is not None or step.branches or not 0 < n <= _LONGEST or max(atoms.only0, atoms.only1) > _SEEN:
            return None
        size *= float(n) ** min(k, 64)
        if size > _MOST or k > 64:
            return None
        lost = lost or atoms.only0 > 0 or atoms.only1 > 0 or not all(math.isfinite(end) for end in step.ends)
        rho += k * step.rho
    low = high = 0.0
    for flipped in (False,) if symmetric else (False, True):
        a, b = _one_order(steps, flipped, lost, rho)
        low, high = max(low, a), max(high, b)
    return low, high


def apart(steps: Sequence[Counted]) -> list[Counted]:
    """The same with those taken apart that are several written out as one."""
    return [(one, k * n) for step, k in steps for one, n in (step.factors or ((step, 1),))]


def _written(steps: Sequence[Counted], flipped: bool) -> _List:
    log_q, low, high = np.zeros(1), np.zeros(1), np.zeros(1)
    for step, k in steps:
        loss, mass = step.atoms.loss, step.atoms.log_p
        loss, mass = (-loss, mass) if flipped else (loss, mass - loss)
        off = _OFF * np.abs(loss)
        if step.rho > 0:  # a list of sums
            off = off + 64 * _U * (1 + float(np.max(np.abs(loss))))
        for _ in range(k):
            log_q, low, high = (
                (one[:, None] + other).ravel() for one, other in ((log_q, mass), (low, loss - off), (high, loss + off))
            )
    return _List(log_q, low, high)


def _one_order(steps: Sequence[Counted], flipped: bool, lost: bool, rho: float) -> tuple[float, float]:
    """Over the corners with a loss of 0 or more in this order."""
    made, count = _written(steps, flipped), sum(k for _, k in steps)
    error = rho + 4 * made.log_q.size * _U + count * _LOGS  # of sums and of masses
    if lost:
        seen = np.maximum(made.log_q, made.log_q + made.high) > _GONE
        made = _List(*(part[seen] for part in made))
    ahead = made.high >= 0
    missed = [float(np.exp((made.log_q + part)[~ahead]).sum()) for part in (made.low, made.high)]
    log_q, low, high = (part[ahead] for part in made)
    order = np.argsort(-high, kind="stable")
    log_q, low, high = log_q[order], low[order], high[order]
    alpha = np.cumsum(np.exp(log_q))
    first, from_logs = int(np.searchsorted(alpha, _LEAST)), (0.0, 0.0)
    if not lost and first:  # corners whose masses are no doubles
        from_logs = _by_logs(log_q[:first], low[:first], high[:first], error)
    if first >= alpha.size:
        return (from_logs[0], math.inf if lost else from_logs[1])
    less, more = (np.cumsum(np.exp(log_q + part) * -np.expm1(-part)) for part in (low, high))
    # what is missed, at least and at most
    least, most = (np.cumsum(np.exp(log_q + part)[::-1])[::-1][1:] for part in (low, high))
    least, most = (np.append(part, 0.0)[first:] + rest for part, rest in zip((least, most), missed, strict=True))
    alpha, less, more = alpha[first:], less[first:], more[first:]
    extra = _LOST if lost else 0.0
    sure = _gaps(alpha * (1 + error) + extra, less * (1 - error) - extra, most * (1 + error) + extra, False)
    bound = _gaps(alpha * (1 - error), more * (1 + error) + extra, least * (1 - error), True)
    beyond = _beyond(steps, flipped, math.log(float(alpha[0])) + error) if lost else (0.0, 0.0)
    return (
        max(float(np.max(sure)), from_logs[0], beyond[0]),
        max(float(np.max(bound)), from_logs[1], beyond[1]),
    )


def _by_logs(log_q: Array, low: Array, high: Array, error: float) -> tuple[float, float]:
    """The largest gap from logarithms, where TPR ≤ ½."""
    z = -ndtri_exp(np.logaddexp.accumulate(log_q))
    less, more = (np.logaddexp.accumulate(log_q + part) for part in (low, high))
    sure = np.where(less < _HALF, z + ndtri_exp(np.minimum(less, _HALF)), 0.0)
    bound = np.where(more < _HALF, z + ndtri_exp(np.minimum(more, _HALF)), np.inf)
    off = error + _PROBIT * (1 + float(z[0]))
    return max(float(np.max(sure)) - off, 0.0), float(np.max(bound)) + off


def _gaps(alpha: Array, more: Array, missed: Array, up: bool) -> Array:
    """Φ⁻¹(α + more) − Φ⁻¹(α), rounded up or down, where what is missed is known as well.

    Of the two errors the smaller stands for α: the gap is the same with the errors exchanged, and at the same ``more``
    it falls as the smaller one grows.
    """
    small, rest = np.minimum(alpha, missed), np.maximum(alpha, missed)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        rest = np.where(rest < 0.5, rest, np.clip(1 - small - more, 0.0, 1.0))
        gap = probit_gap(small, np.maximum(more, 0.0), rest)
        direct = ~(more < 1e-3 * np.minimum(small, rest))
        off = np.where(direct, 42 * _PROBIT, 0.0) + 1e-12 * np.abs(gap)
    if up:
        return np.where((small > 0) & (rest > 0) & ~np.isnan(gap), gap + off, np.inf)
    return np.where((small > 0) & (rest > 0) & (more > 0) & np.isfinite(gap), gap - off, 0.0)


def _beyond(steps: Sequence[Counted], flipped: bool, log_alpha: float) -> tuple[float, float]:
    """(low, high) of the largest gap wherever α ≤ e^log_alpha."""
    bounded, endless = _endless(steps, flipped)
    share = 0.0
    for step, k in apart(steps):
        largest = -step.ends[0] if flipped else step.ends[1]
        if math.isfinite(largest):
            top = int(np.argmin(step.atoms.loss) if flipped else np.argmax(step.atoms.loss))
            at_top = float(step.atoms.log_p[top] - (0.0 if flipped else step.atoms.loss[top]))
            share += k * at_top if abs(abs(float(step.atoms.loss[top])) - largest) <= _OFF * largest else -math.inf
    low, high = 0.0, math.inf
    if len(endless) == 1 and endless[0][1] == 1:
        low, high = endless[0][0].far_gap(log_alpha, bounded, share)
    return (low if math.isfinite(low) else 0.0), min(high, _parted(-float(ndtri_exp(log_alpha)), bounded, endless))


def tail_gap(steps: Sequence[Counted], flipped: bool, z: float) -> float:
    """A bound on the gap wherever α ≤ Φ(−z), of steps of any kind."""
    return _parted(z, *_endless(steps, flipped))


def _endless(steps: Sequence[Counted], flipped: bool) -> tuple[float, list[Counted]]:
    """ξ of the steps whose losses are bounded in this order, and the others."""
    ends = [(-step.ends[0] if flipped else step.ends[1], step, k) for step, k in apart(steps)]
    bounded = math.fsum(k * end for end, _, k in ends if math.isfinite(end))
    return bounded, [(step, k) for end, step, k in ends if not math.isfinite(end)]


def _parted(z: float, bounded: float, endless: Sequence[Counted]) -> float:
    """A bound on the gap from z on, with the outcomes of each step without end parted as serves best.

    Of k equal steps j are at their shift, in so many ways; of too many all are, as if nobody were left out.
    """
    many = math.prod(k + 1.0 for _, k in endless) > _MOST_TERMS
    tails = [(step.tails, k) for step, k in endless]
    taken = [0] * len(tails)

    def bound() -> float:
        # log weights of H0 and of the shifts, for each number of them
        weights, shifts = np.zeros(1), np.zeros(1)
        for (one, k), i in zip(tails, taken, strict=True):
            undrawn = math.log1p(-one.drawn) if one.drawn < 1 else -math.inf
            rest, drawn = float(np.logaddexp(undrawn, math.log(one.drawn) + one.cost[i])), math.log(one.drawn)
            if many or (one.drawn == 1 and math.isinf(rest)):
                shifts = shifts + k * one.shift[i] ** 2
                continue
            j = np.arange(k + 1.0)
            with np.errstate(invalid="ignore"):
                left = np.where(j < k, (k - j) * rest, 0.0)
            ways = gammaln(k + 1.0) - gammaln(j + 1) - gammaln(k - j + 1) + j * drawn + left
            weights = (weights[:, None] + ways).ravel()
            shifts = (shifts[:, None] + j * one.shift[i] ** 2).ravel()
        shifts = np.sqrt(shifts)
        most = float(shifts[-1])
        grown = bounded + float(logsumexp(weights + log_ndtr(shifts - z) - log_ndtr(most - z))) + 1e-12
        at = float(log_ndtr(most - z))
        if at + grown >= _HALF:
            return math.inf
        return (most + max(float(ndtri_exp(at + grown) - ndtri_exp(at)), 0.0)) * (1 + 1e-12)

    best = bound()
    for _ in range(0 if many else 2):
        for i, (one, _k) in enumerate(tails):
            for part in range(one.cost.size):
                before, taken[i] = taken[i], part
                if (found := bound()) < best:
                    best = found
                else:
                    taken[i] = before
    return best
