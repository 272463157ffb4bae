"""Moments of one step, from quadrature with relative precision however small the loss: they add up over a product."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import logsumexp

from ..checks import Array
from ..special import expm1mx, moment_less_one
from .finite import Finite
from .laplace import Laplace
from .loss_quadrature import quadrature
from .loss_sampled import Flagged, LaplaceReplaced, NormalReplaced, Sampled
from .loss_steps import FiniteStep, LaplaceStep, NormalStep, Step, Swapped

__all__ = ["ERROR", "kl", "kl_back", "log_moment", "psi"]

ERROR = 1e-11  # relative, of what quadrature gives; tested against mpmath
_FAR = 39.0  # normal mass beyond is below 1e-330


def _parts(step: Step, power: float) -> tuple[Array, Array]:
    """(loss, log H0-mass) of atoms and nodes over everything that matters to ∫dH1^a dH0^{1−a}."""
    atoms = step.atoms
    loss, log_q = [atoms.loss], [atoms.log_p - atoms.loss]
    if step.span is not None:
        low, high = step.span
        mu = _slope(step)
        low = low if math.isfinite(low) else -_FAR - mu * max(-power, 0.0) - 2 * mu
        high = high if math.isfinite(high) else _FAR + mu * max(power, 0.0) + 2 * mu
        x, log_w = quadrature(step, low, high, 1.0 + abs(power))
        loss.append(step.loss(x))
        log_q.append(step.log_p0(x) + log_w)
    return np.concatenate(loss), np.concatenate(log_q)


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
    loss, log_q = _parts(step, power)
    if not (atoms.only0 or atoms.only1):
        with np.errstate(over="ignore"):
            less_one = moment_less_one(np.exp(log_q), np.exp(log_q + loss), loss, power)
        if -0.5 < less_one < 1:
            return math.log1p(less_one)
    return float(logsumexp(log_q + power * loss))


def kl(step: Step) -> float:
    """D(H0‖H1)."""
    if step.atoms.only0 > 0:
        return math.inf
    if isinstance(step, NormalStep):
        return step.mu**2 / 2
    if isinstance(step, FiniteStep):
        return float(_finite(step).kl())
    loss, log_q = _parts(step, 0.0)
    q = np.exp(log_q)
    near = loss < 30
    with np.errstate(over="ignore"):
        far = np.exp(log_q + loss) - q * (1 + loss)
    return float(np.sum(np.where(near, q * expm1mx(np.minimum(loss, 30.0)), far))) + step.atoms.only1


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
    loss, log_q = _parts(step, 1.0)
    p = np.exp(log_q + loss)  # Σ p·(e^{−L} − 1 + L) with p·e^{−L} = q
    near = loss > -30
    far = np.exp(log_q) - p * (1 - loss)
    return float(np.sum(np.where(near, p * expm1mx(np.maximum(-loss, -700.0) * near), far))) + step.atoms.only0
