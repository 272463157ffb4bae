"""Moments of one step, from quadrature with relative precision however small the loss: they add up over a product.

Panels are halved until ten Gauss–Legendre nodes agree with twenty, only where the integrand matters: an order of 1e6
takes about as long as one of 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal, localcontext

import numpy as np
from scipy.special import logsumexp

from ...checks import Array
from ...numerics.special import expm1mx
from ..closed.laplace import Laplace
from ..finite.law import Finite
from .quadrature import LEGENDRE
from .replaced import LaplaceReplaced, NormalReplaced
from .sampled import Flagged, Sampled, mix
from .step import FiniteStep, LaplaceStep, NormalStep, Step, Swapped

__all__ = ["ERROR", "kl", "kl_back", "kl_bound", "log_moment", "psi"]

ERROR = 1e-11  # relative, of what quadrature gives; tested against mpmath
_FAR = 39.0  # normal mass beyond is below 1e-330
_AGREE = 1e-13  # between a panel and its halves, relative
_NOTHING = 45.0  # e^{−45} of the whole does not count
_MOST_PANELS, _MOST_LEVELS = 20_000, 200
_NODES, _WEIGHTS = LEGENDRE[10]
_AT = np.concatenate(([0.0], (1 + _NODES) / 2, [1.0]))
_LOG_WEIGHTS = np.log(_WEIGHTS / 2)

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
_DIGITS = Context(prec=50)
_ULP = 2.0**-52

#: (loss, log H0-density q, log q·e^{aL}) → the logarithm of what is integrated, positive.
Integrand = Callable[[Array, Array, Array], Array]


def _log_integral(step: Step, f: Integrand, power: float) -> float:
    """log of the integral, atoms included, of what has its weight where ∫dH1^a dH0^{1−a} may have it."""
    atoms = step.atoms
    known = []
    if atoms.loss.size:
        log_q = atoms.log_p - atoms.loss
        known.append(f(atoms.loss, log_q, log_q + power * atoms.loss))
    if step.span is not None:
        known.append(_panels(step, f, power, _cuts(step, power), _total(known)))
    return _total(known)


def _total(logs: list[Array]) -> float:
    whole = np.concatenate(logs) if logs else np.zeros(0)
    return float(logsumexp(whole)) if whole.size else -math.inf


def _panels(step: Step, f: Integrand, power: float, cuts: Array, atoms: float) -> Array:
    """Logarithms of the integrals over panels that are fine enough."""

    grown = _exponent(step, power)

    def on(left: Array, width: Array) -> tuple[Array, Array, Array]:
        """Of each panel: log integral, log of a bound on it, rounding error of the integrand."""
        at = (left[:, None] + width[:, None] * _AT).ravel()
        loss, log_q = step.loss(at), step.log_p0(at)
        exponent, size = grown(at, loss, log_q)
        values = f(loss, log_q, exponent).reshape(left.size, _AT.size)
        log_width = np.log(width)
        inner = values[:, 1:-1] + _LOG_WEIGHTS
        top = inner.max(axis=1)
        top = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore"):
            whole = top + np.log(np.exp(inner - top[:, None]).sum(axis=1)) + log_width
        # between two nodes nothing rises further than it does there or beside
        seen = np.maximum(values, -1e300)
        change = np.abs(np.diff(seen, axis=1))
        change[~np.isfinite(values[:, 1:]) | ~np.isfinite(values[:, :-1])] = 0.0
        beside = np.pad(change, ((0, 0), (1, 1)))
        change = np.maximum(np.maximum(beside[:, :-2], beside[:, 2:]), change)
        most = (np.maximum(seen[:, 1:], seen[:, :-1]) + change).max(axis=1) + log_width
        return whole, most, 16 * _ULP * size.reshape(values.shape).max(axis=1)

    left, width = cuts[:-1], np.diff(cuts)
    whole, _, _ = on(left, width)
    done = [np.zeros(0)]
    for level in range(_MOST_LEVELS):
        halves, half = np.stack((left, left + width / 2), axis=1).ravel(), np.repeat(width / 2, 2)
        parts, most, noise = (v.reshape(-1, 2) for v in on(halves, half))
        both = np.logaddexp(parts[:, 0], parts[:, 1])
        total = _total([*done, both, np.asarray([atoms])])
        with np.errstate(invalid="ignore", over="ignore"):
            off = np.abs(np.expm1(whole - both))
            fine = off <= np.maximum(_AGREE, noise.max(axis=1))
            fine |= np.isneginf(whole) & np.isneginf(both)
            highest = most.max(axis=1)
            fine |= (np.log(np.maximum(off, 1e-300)) + both < total - 37) & (highest < total + 20)
            fine |= highest < total - _NOTHING
        fine |= (level == _MOST_LEVELS - 1) | (2 * both.size > _MOST_PANELS)
        done.append(both[fine])
        if fine.all():
            break
        rough = np.repeat(~fine, 2)
        left, width, whole = halves[rough], half[rough], parts.ravel()[rough]
    return np.concatenate(done)


#: (x, loss, log q) → log q·e^{aL}, and the size of what was rounded on the way.
Exponent = Callable[[Array, Array, Array], tuple[Array, Array]]


def _exponent(step: Step, power: float) -> Exponent:
    """log q·e^{aL} to as many digits as it has itself: far out it may be a small difference of large numbers."""

    def plain(x: Array, loss: Array, log_q: Array) -> tuple[Array, Array]:
        steep = power * loss
        return log_q + steep, np.abs(log_q) + np.abs(steep)

    if isinstance(step, Swapped):
        base = _exponent(step.base, 1 - power)
        return lambda x, loss, log_q: base(-x, -loss, log_q + loss)
    if isinstance(step, NormalReplaced) and power < 0:
        other = _exponent(step, 1 - power)
        return lambda x, loss, log_q: other(-x, -loss, log_q + loss)
    replaced = isinstance(step, NormalReplaced)
    if power <= 1 or not (replaced or (isinstance(step, Sampled) and isinstance(step.base, NormalStep))):
        return plain
    # beyond the turn L = μx − μ²/2 + log q + a small rest, and the parabola is written around its peak at aμ
    mu, rate, turn = _slope(step), step.rate, _turns(step)[0]  # type: ignore[attr-defined]
    with localcontext(_DIGITS):
        a, shift = Decimal(power), Decimal(mu)
        middle = float(a * shift)
        rest = float(a * shift - Decimal(middle))
        height = float(a * (a - 1) * shift * shift / 2 + a * Decimal(rate).ln())

    def far(x: Array, loss: Array, log_q: Array) -> tuple[Array, Array]:
        value, size = plain(x, loss, log_q)
        out = x > turn
        if out.any():
            at = x[out]
            off = (at - middle) - rest
            small = power * np.log1p(np.exp(mu * (turn - at)))  # e^{μ·turn − μx} = (1−q)/q·e^{−(μx − μ²/2)}
            if replaced:
                small = small + (1 - power) * mix(-mu * at - mu * mu / 2, rate)
            value[out] = (height - off * off / 2 - _HALF_LOG_2PI) + small
            size[out] = abs(height) + off * off / 2 + np.abs(small)
        return value, size

    return far


def _cuts(step: Step, power: float) -> Array:
    """Where to begin: closer together around every place at which the integrand may turn."""
    assert step.span is not None
    low, high = step.span
    mu = _slope(step)
    reach = max(_FAR + 2 * mu * (abs(power) + 2), *(abs(v) for v in (low, high) if math.isfinite(v)), 0.0)
    low, high = max(low, -reach), min(high, reach)
    shifts = [0.0, mu, power * mu, (1 - power) * mu, (2 * power - 1) * mu] if mu else [low, high]
    places = [(s, 1.0) for shift in shifts for s in (shift, -shift)]
    places += [(turn, 1 / mu if mu else 0.5) for turn in _turns(step)]
    cuts = [low, high, *step.knots]
    for place, scale in places:
        grown = scale * 4.0 ** np.arange(max(math.ceil(math.log(2 * reach / scale, 4)), 1))
        cuts += [place, *(place + grown), *(place - grown)]
    every = np.asarray(cuts)
    return np.unique(every[(every >= low) & (every <= high)])


def _turns(step: Step) -> list[float]:
    """Where the part of a mixture that was drawn outgrows the rest."""
    if isinstance(step, NormalReplaced):
        turn = step.mu / 2 + _logit(step.rate) / step.mu
        return [turn, -turn]
    if isinstance(step, LaplaceReplaced):
        turn = (_logit(step.rate) + step.m) / 2
        return [turn, -turn]
    if isinstance(step, Swapped):
        return [-turn for turn in _turns(step.base)]
    if isinstance(step, Flagged):
        return _turns(step.base)
    if isinstance(step, Sampled):
        turn = float(step.base.place(np.asarray(_logit(step.rate))))
        return [*_turns(step.base), *([turn] if math.isfinite(turn) else [])]
    return []


def _logit(rate: float) -> float:
    """log((1−q)/q)."""
    return math.log1p(-rate) - math.log(rate) if rate < 1 else -700.0


def _slope(step: Step) -> float:
    inner = step
    while isinstance(inner, Sampled | Flagged | Swapped):
        inner = inner.base
    return inner.mu if isinstance(inner, NormalStep | NormalReplaced) else 0.0


def log_moment(step: Step, power: float) -> float:
    """log ∫dH1^a dH0^{1−a}."""
    if power in (0.0, 1.0) and not (step.atoms.only0 or step.atoms.only1):
        return 0.0
    if isinstance(step, NormalStep):
        return power * (power - 1) * step.mu**2 / 2
    if isinstance(step, LaplaceStep):
        return float(Laplace(np.asarray(step.m)).log_moment(np.asarray(power)))
    atoms = step.atoms
    if isinstance(step, FiniteStep):
        return float(_finite(step).log_moment(np.asarray(power)))
    if (power > 1 and atoms.only1 > 0) or (power < 0 and atoms.only0 > 0):
        return math.inf
    whole = _log_integral(step, lambda loss, log_q, exponent: exponent, power)
    if not math.log(0.5) < whole < math.log(2):
        return whole
    # ∫dH0·(e^{aL} − 1 − a(e^L − 1)) has one sign, and so has what only one of the laws shows
    beyond = (1 - power) * atoms.only0 + power * atoms.only1

    def bend(loss: Array, log_q: Array, exponent: Array) -> Array:
        return _log_bend(loss, log_q, exponent, power)

    less_one = math.exp(_log_integral(step, bend, power))
    return math.log1p(-less_one - beyond if 0 <= power <= 1 else less_one - beyond)


def _log_bend(loss: Array, log_q: Array, exponent: Array, power: float) -> Array:
    """log of |e^{aL} − 1 − a(e^L − 1)|·q, exact as L → 0; beyond ½ with the two laws exchanged."""
    if power > 0.5:
        loss, log_q, power = -loss, log_q + loss, 1 - power
    steep = power * loss
    near = np.maximum(np.abs(steep), np.abs(loss)) < 30
    top = np.maximum(np.maximum(steep, loss), 0.0)
    far = top > 30
    with np.errstate(divide="ignore", over="ignore"):
        small = expm1mx(np.where(near, steep, 0.0)) - power * expm1mx(np.where(near, loss, 0.0))
        middle = np.expm1(np.where(far, 0.0, steep)) - power * np.expm1(np.where(far, 0.0, loss))
        large = np.exp(steep - top) - power * np.exp(loss - top) - (1 - power) * np.exp(-top)
        value = np.log(np.abs(np.where(near, small, np.where(far, large, middle))))
    # where far, the largest of the three terms stands before the bracket
    return np.asarray(value + np.where(far, np.where(steep >= loss, exponent, log_q + loss), log_q))


def _log_slack(loss: Array, log_q: Array, _: Array) -> Array:
    """log of q·(e^L − 1 − L)."""
    with np.errstate(divide="ignore"):
        near = np.log(expm1mx(np.minimum(loss, 30.0)))
        far = loss + np.log1p(-(1 + np.maximum(loss, 30.0)) * np.exp(-np.maximum(loss, 30.0)))
    return np.asarray(log_q + np.where(loss < 30, near, far))


def kl(step: Step) -> float:
    """D(H0‖H1)."""
    if step.atoms.only0 > 0:
        return math.inf
    if isinstance(step, NormalStep):
        return step.mu**2 / 2
    if isinstance(step, FiniteStep):
        return float(_finite(step).kl())
    return math.exp(_log_integral(step, _log_slack, 0.0)) + step.atoms.only1


def kl_bound(step: Step) -> float:
    """A bound on the divergence, in one order or the other, without any quadrature: infinite where none is known.

    Of a sampled step KL ≤ log(1 + χ²) = log(1 + q²·χ²) of what was sampled.
    """
    if isinstance(step, Swapped):
        return kl_bound(step.base)
    if isinstance(step, NormalStep):
        return step.mu**2 / 2
    if isinstance(step, LaplaceStep):
        return step.m + math.expm1(-step.m)
    if isinstance(step, Sampled) and isinstance(step.base, NormalStep) and step.base.mu < 25:
        return math.log1p(step.rate**2 * math.expm1(step.base.mu**2))
    return math.inf


def psi(step: Step) -> float:
    """An upper bound on the least μ with f ≥ G_μ; sampling does not raise it."""
    if isinstance(step, NormalStep):
        return step.mu
    if isinstance(step, NormalReplaced):
        return 2 * step.mu
    if isinstance(step, LaplaceStep):
        return float(Laplace(np.asarray(step.m)).psi())
    if isinstance(step, LaplaceReplaced):
        return float(Laplace(np.asarray(2 * step.m)).psi())
    if isinstance(step, Sampled | Flagged | Swapped):
        return psi(step.base)
    return float(_finite(step).psi())


def _finite(step: Step) -> Finite:
    a = step.atoms
    return Finite(a.log_p - a.loss, a.loss, a.only0, a.only1)


def kl_back(step: Step) -> float:
    """D(H1‖H0)."""
    if step.atoms.only1 > 0:
        return math.inf
    if isinstance(step, NormalStep):
        return step.mu**2 / 2
    if isinstance(step, FiniteStep):
        return float(_finite(step).reverse().kl())
    # the same with the laws exchanged: p·(e^{−L} − 1 + L)
    return (
        math.exp(_log_integral(step, lambda loss, log_q, same: _log_slack(-loss, log_q + loss, same), 1.0))
        + step.atoms.only0
    )
