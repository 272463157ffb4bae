"""The noise on one published answer: how large it is, and how far it strays.

Everything is in **units** of the noise, the scale b of a Laplace or the standard deviation σ of a normal law, so that
one answer needs one number to describe it: z = (published − expected)/unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp

from .. import checks
from ..checks import Array
from ..errors import InputError
from .mechanisms import calibrated_psi, one_of, per_noise, together

__all__ = ["NOISES", "Noise", "calibrate", "log_tail", "quantile", "tail", "two_sided_quantile"]

NOISES = ("laplace", "gaussian")
_LOG2 = np.log(2.0)
_LARGEST = 1e280  # thresholds are many units of the noise, and doubles end at 1e308


def tail(noise: str, z: Array) -> Array:
    """P(Z > z), with relative precision in the far tail."""
    if noise == "gaussian":
        return np.asarray(ndtr(-np.asarray(z)))
    z = np.asarray(z, dtype=float)
    return np.where(z >= 0, 0.5 * np.exp(-np.maximum(z, 0.0)), 1 - 0.5 * np.exp(np.minimum(z, 0.0)))


def log_tail(noise: str, z: Array) -> Array:
    """log P(Z > z): a p-value of 1e-300 and one of 1e-30000 are still told apart."""
    if noise == "gaussian":
        return np.asarray(log_ndtr(-np.asarray(z)))
    z = np.asarray(z, dtype=float)
    return np.where(z >= 0, -_LOG2 - np.maximum(z, 0.0), np.log1p(-0.5 * np.exp(np.minimum(z, 0.0))))


def quantile(noise: str, alpha: Array) -> Array:
    """The z that noise exceeds with probability α: −log(2α) up to ½ and log(2(1−α)) above, or −Φ⁻¹(α).

    Infinite at α = 0 (nothing is beyond it) and minus infinite at α = 1.
    """
    alpha = np.asarray(alpha, dtype=float)
    if noise == "gaussian":
        return np.asarray(-ndtri(alpha))
    with np.errstate(divide="ignore"):
        low, high = -_LOG2 - np.log(np.minimum(alpha, 0.5)), _LOG2 + np.log1p(-np.maximum(alpha, 0.5))
    return np.asarray(np.where(alpha <= 0.5, low, high))


def two_sided_quantile(noise: str, alpha: Array) -> Array:
    """The k with P(|Z| > k) = α: −log α, or −Φ⁻¹(α/2); infinite at α = 0 and 0 at α = 1."""
    alpha = np.asarray(alpha, dtype=float)
    with np.errstate(divide="ignore"):
        value = np.log(alpha)
    if noise == "gaussian":  # half of the smallest double is 0
        value = np.where(alpha > 1e-300, ndtri(alpha / 2), ndtri_exp(value - _LOG2))
    return np.asarray(0.0 - value)  # no minus sign on a zero


@dataclass(frozen=True, slots=True)
class Noise:
    """A kind of noise and its unit; ``told`` is how it was said, for the record."""

    kind: str
    unit: Array
    told: Mapping[str, Any]


def calibrate(
    *,
    epsilon: ArrayLike | None,
    scale: ArrayLike | None,
    sigma: ArrayLike | None,
    delta: float | None,
    sensitivity: ArrayLike,
    noise: str | None,
    calibration: str,
) -> Noise:
    """The noise from exactly one of ε, scale and σ; ``noise`` left out is Laplace unless σ or δ says Gaussian."""
    which = one_of(epsilon=epsilon, scale=scale, sigma=sigma)
    said = "gaussian" if sigma is not None or delta is not None else "laplace"
    kind = said if noise is None else checks.choice("noise", noise, NOISES)
    if scale is not None and kind == "gaussian":
        raise InputError(
            "scale belongs to laplace noise and the noise is gaussian: give sigma, or epsilon and delta",
            parameter="scale",
        )
    if sigma is not None and kind == "laplace":
        raise InputError(
            "sigma belongs to gaussian noise and noise is 'laplace': give scale or epsilon", parameter="sigma"
        )
    if (delta is not None) != (kind == "gaussian" and which == "epsilon"):
        raise InputError(
            "delta belongs to gaussian noise said by epsilon and is needed there: give it there and only there",
            parameter="delta",
        )
    checks.choice("calibration", calibration, ("analytic", "classical"))
    most = checks.positive("sensitivity", sensitivity)
    if which == "sigma":
        unit = checks.positive("sigma", sigma)  # type: ignore[arg-type]
        together(sigma=unit, sensitivity=most)
        per_noise("sigma", most, unit)
        return Noise(kind, _usable(unit, "sigma", unit), {"sigma": unit, "sensitivity": most})
    if which == "scale":
        unit = checks.positive("scale", scale)  # type: ignore[arg-type]
        together(scale=unit, sensitivity=most)
        said_so = {"epsilon": per_noise("scale", most, unit), "scale": unit, "sensitivity": most}
        return Noise(kind, _usable(unit, "scale", unit), said_so)
    if kind == "laplace":
        eps = checks.loss("epsilon", checks.positive("epsilon", epsilon))  # type: ignore[arg-type]
        together(epsilon=eps, sensitivity=most)
        with np.errstate(over="ignore"):
            unit = np.asarray(most / eps)
        return Noise(kind, _usable(unit, "epsilon", eps), {"epsilon": eps, "scale": unit, "sensitivity": most})
    e = float(checks.within("epsilon", checks.scalar("epsilon", epsilon), 0.0, 1e4))  # type: ignore[arg-type]
    d = float(checks.probability("delta", checks.scalar("delta", delta), closed=False))  # type: ignore[arg-type]
    with np.errstate(over="ignore", divide="ignore"):
        unit = np.asarray(most / np.asarray(calibrated_psi(e, d, calibration)))
    told = {"epsilon": e, "delta": d, "calibration": calibration, "sigma": unit, "sensitivity": most}
    return Noise(kind, _usable(unit, "epsilon", e), told)


def _usable(unit: Array, name: str, value: Any) -> Array:
    if not np.all(unit <= _LARGEST):
        raise InputError(
            f"{name} is {np.min(value):g}: the noise would exceed {_LARGEST:g}, so give less of it or smaller units",
            parameter=name,
        )
    return unit
