"""Noise and other mechanisms as experiments.

The **sensitivity** is the most one person can move the answer under the stated neighbouring relation (add or remove
a person, or replace one) and in the norm the noise is calibrated to; the **shift** is how far this person moves it,
the sensitivity unless said otherwise. H0 and H1 are the two neighbouring worlds: Theorems D30 and D31.

One published answer is read in **units** of its noise, the scale b of a Laplace or the standard deviation σ of a normal
law, so that it needs one number to describe it: z = (published − expected)/unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp

from .. import checks
from ..checks import Array, float_or_array
from ..errors import InputError
from ..experiment import Experiment
from ..laws.laplace import Laplace
from ..laws.normal import Normal, psi_for_delta
from ..laws.stretched import StretchedLaplace
from ..worlds import parse_relation, worlds_of_relation
from .builders import build_each, is_array


def exactly_one(**given: object) -> str:
    """Exactly one of several ways to say the same thing; returns its name."""
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        ways = " or ".join(given)
        result = " and ".join(named) if named else "none"
        raise InputError(f"exactly one of {ways} is needed, {result} given: give one of them")
    return named[0]


def sensitivity_and_shift(sensitivity: ArrayLike, shift: ArrayLike | None) -> tuple[Array, Array]:
    """The sensitivity and the shift, which may not exceed it."""
    most = checks.positive("sensitivity", sensitivity)
    if shift is None:
        return most, most
    moved = checks.at_least("shift", shift, 0.0)
    checks.broadcastable(sensitivity=most, shift=moved)
    if np.any(moved > most):
        raise InputError(
            f"shift is {np.max(moved):g}, more than the sensitivity {np.min(most):g}: "
            "one person cannot move the answer further, so raise the sensitivity or lower the shift",
            "shift",
        )
    return most, moved


def privacy_loss_ratio(name: str, most: Array, noise: Array) -> Array:
    """sensitivity/noise, refused where it is no privacy loss that can be computed with."""
    with np.errstate(over="ignore"):
        value = np.asarray(most / noise)
    if np.any((value < 1e-300) | (value > 1e4)):
        raise InputError(
            f"{name} is {np.min(noise):g} for a sensitivity of {np.max(most):g}: "
            "give noise between 0.0001 and 1e300 times the sensitivity",
            name,
        )
    return value


def _noise_for_loss(name: str, loss: Array, most: Array) -> Array:
    """sensitivity/loss, refused where it is no double."""
    with np.errstate(over="ignore", divide="ignore"):
        value = np.asarray(most / loss)
    if not np.isfinite(value).all():
        raise InputError(
            f"{name} asks for a sensitivity of {np.max(most):g} over {np.min(loss):g}, noise that is no double: "
            "give more of it, or smaller units",
            name,
        )
    return value


def _check_norm(norm: str, right: str, noise: str) -> None:
    checks.one_of("norm", norm, ("L1", "L2"))
    if norm != right:
        raise InputError(
            f"norm is {norm!r}: {noise} noise is calibrated to the {right} sensitivity, so give that "
            f"(for d coordinates, L1 is at most √d times L2)",
            "norm",
        )


def laplace(
    *,
    epsilon: ArrayLike | None = None,
    scale: ArrayLike | None = None,
    sensitivity: ArrayLike = 1.0,
    shift: ArrayLike | None = None,
    stretch: ArrayLike = 1.0,
    neighbours: str = "add-remove",
    norm: str = "L1",
) -> Experiment:
    """Laplace noise of scale b = sensitivity/ε: Lap(0, b) against Lap(shift, b), m = ε·shift/sensitivity.

    For a vector answer with L1 sensitivity the worst case puts the whole shift in one coordinate, which is the scalar
    case: the joint release is ε-DP, not qε (paper 000's Theorem 4 is too pessimistic). With ``stretch`` θ the noise
    under H1 has scale θb (paper 003).

    Parameters
    ----------
    epsilon : float or array_like, optional
        Privacy loss, from 1e-300 to 1e4; or give `scale`.
    scale : float or array_like, optional
        Scale b > 0 of the noise.
    sensitivity : float or array_like, default 1.0
        The most one person moves the answer, > 0, in the norm the noise is calibrated to.
    shift : float or array_like, optional
        How far this person moves it, at most `sensitivity`, which it is unless given.
    stretch : float or array_like, default 1.0
        Scale of the noise under H1 over that under H0, > 0.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.
    norm : {"L1"}, default 'L1'
        Norm of the sensitivity; another is refused.

    Returns
    -------
    Experiment
        The pair of laws; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> laplace(epsilon=1.0).roc(0.1)
    0.27182818284590...
    >>> laplace(scale=2.0, sensitivity=4.0).epsilon()
    2.0
    """
    said = {"epsilon": epsilon, "scale": scale, "sensitivity": sensitivity, "shift": shift, "stretch": stretch}
    varied = {name: value for name, value in said.items() if is_array(value)}
    # a stretched pair is one of single numbers
    if "stretch" in varied or (varied and checks.scalar("stretch", stretch) != 1):
        fixed = {name: value for name, value in said.items() if name not in varied}
        return build_each(laplace, {**fixed, "neighbours": neighbours, "norm": norm}, varied)
    _check_norm(norm, "L1", "Laplace")
    which = exactly_one(epsilon=epsilon, scale=scale)
    most, moved = sensitivity_and_shift(sensitivity, shift)
    if which == "epsilon":
        eps = checks.privacy_loss("epsilon", checks.positive("epsilon", epsilon))
        checks.broadcastable(epsilon=eps, sensitivity=most, shift=moved)
        b, m = _noise_for_loss("epsilon", eps, most), eps * (moved / most)
    else:
        b = checks.positive("scale", scale)
        checks.broadcastable(scale=b, sensitivity=most, shift=moved)
        eps, m = privacy_loss_ratio("scale", most, b), moved / b
    theta = float(checks.in_range("stretch", checks.scalar("stretch", stretch), 1e-100, 1e100))
    record = {"epsilon": eps, "scale": b, "sensitivity": most, "shift": moved}
    neighbours = parse_relation(neighbours)
    parameters = {k: float_or_array(v) for k, v in record.items()} | {"neighbours": neighbours.value, "norm": norm}
    if theta == 1:
        return Experiment(Laplace(m), "laplace", parameters, worlds=worlds_of_relation(neighbours))
    law = (
        StretchedLaplace(float(m), theta) if theta > 1 else StretchedLaplace(float(m) / theta, 1 / theta, flipped=True)
    )
    return Experiment(law, "laplace", {**parameters, "stretch": theta}, worlds=worlds_of_relation(neighbours))


def gaussian(
    *,
    psi: ArrayLike | None = None,
    sigma: ArrayLike | None = None,
    epsilon: ArrayLike | None = None,
    delta: ArrayLike | None = None,
    calibration: str = "analytic",
    sensitivity: ArrayLike = 1.0,
    shift: ArrayLike | None = None,
    neighbours: str = "add-remove",
    norm: str = "L2",
) -> Experiment:
    """Gaussian noise of standard deviation σ: N(0, σ²) against N(shift, σ²), ψ = shift/σ (paper 002).

    Say it by ``psi``, by ``sigma``, or by a target (``epsilon``, ``delta``): the analytic calibration finds the
    smallest sufficient σ; the classical one, σ = √(2·log(1.25/δ))·sensitivity/ε, is proven only for ε < 1 and refused
    beyond.

    Parameters
    ----------
    psi : float or array_like, optional
        Sensitivity index: `shift` over σ.
    sigma : float or array_like, optional
        Standard deviation > 0 of the noise.
    epsilon : float or array_like, optional
        With `delta`: the guarantee that σ is calibrated to.
    delta : float or array_like, optional
        In (0, 1).
    calibration : {"analytic", "classical"}, default 'analytic'
        How σ follows from ε and δ.
    sensitivity : float or array_like, default 1.0
        The most one person moves the answer, > 0, in the norm the noise is calibrated to.
    shift : float or array_like, optional
        How far this person moves it, at most `sensitivity`, which it is unless given.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.
    norm : {"L2"}, default 'L2'
        Norm of the sensitivity; another is refused.

    Returns
    -------
    Experiment
        The pair of laws; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> gaussian(psi=1.0).success()
    0.69146246127401...
    >>> round(gaussian(epsilon=1.0, delta=1e-5).parameters["sigma"], 6)
    3.730632
    """
    _check_norm(norm, "L2", "Gaussian")
    checks.one_of("calibration", calibration, ("analytic", "classical"))
    most, moved = sensitivity_and_shift(sensitivity, shift)
    which = exactly_one(psi=psi, sigma=sigma, epsilon=epsilon)
    if (delta is None) == (which == "epsilon"):
        raise InputError("epsilon and delta calibrate the noise together: give both, or psi, or sigma")
    target: dict[str, object] = {}
    if which == "psi":
        worst = checks.privacy_loss("psi", checks.positive("psi", psi))
        checks.broadcastable(psi=worst, sensitivity=most, shift=moved)
        s, mu = _noise_for_loss("psi", worst, most), worst * (moved / most)
    elif which == "sigma":
        s = checks.positive("sigma", sigma)
        checks.broadcastable(sigma=s, sensitivity=most, shift=moved)
        privacy_loss_ratio("sigma", most, s)
        mu = moved / s
    else:
        eps = checks.in_range("epsilon", epsilon, 0.0, 1e4)
        d = checks.probability("delta", delta, closed=False)
        checks.broadcastable(epsilon=eps, delta=d, sensitivity=most, shift=moved)
        worst = np.asarray(np.vectorize(calibrated_psi, otypes=[float])(eps, d, calibration))
        s, mu = _noise_for_loss("epsilon", worst, most), worst * (moved / most)
        target = {"epsilon": float_or_array(eps), "delta": float_or_array(d), "calibration": calibration}
    record = {"sigma": s, "psi": mu, "sensitivity": most, "shift": moved}
    neighbours = parse_relation(neighbours)
    parameters = (
        {k: float_or_array(v) for k, v in record.items()} | target | {"neighbours": neighbours.value, "norm": norm}
    )
    return Experiment(Normal(mu), "gaussian", parameters, worlds=worlds_of_relation(neighbours))


def calibrated_psi(epsilon: float, delta: float, calibration: str) -> float:
    """sensitivity/σ for a target (ε, δ), by either calibration."""
    checks.one_of("calibration", calibration, ("analytic", "classical"))
    if calibration == "analytic":
        return psi_for_delta(epsilon, delta)
    if not 0 < epsilon < 1:
        raise InputError(
            f"epsilon is {epsilon:g}: the classical calibration is proven only for 0 < epsilon < 1, "
            "so use calibration='analytic'",
            "epsilon",
        )
    return float(epsilon / np.sqrt(2 * np.log(1.25 / delta)))


# -- the noise on one published answer: how large it is, and how far it strays ----------------------------------------


NOISES = ("laplace", "gaussian")
_LOG2 = np.log(2.0)
_LARGEST = 1e280  # thresholds are many units of the noise, and doubles end at 1e308


def noise_tail(noise: str, z: Array) -> Array:
    """P(Z > z), with relative precision in the far tail."""
    if noise == "gaussian":
        return np.asarray(ndtr(-np.asarray(z)))
    z = np.asarray(z, dtype=float)
    return np.where(z >= 0, 0.5 * np.exp(-np.maximum(z, 0.0)), 1 - 0.5 * np.exp(np.minimum(z, 0.0)))


def log_noise_tail(noise: str, z: Array) -> Array:
    """log P(Z > z): a p-value of 1e-300 and one of 1e-30000 are still told apart."""
    if noise == "gaussian":
        return np.asarray(log_ndtr(-np.asarray(z)))
    z = np.asarray(z, dtype=float)
    return np.where(z >= 0, -_LOG2 - np.maximum(z, 0.0), np.log1p(-0.5 * np.exp(np.minimum(z, 0.0))))


def noise_quantile(noise: str, alpha: Array) -> Array:
    """The z that noise exceeds with probability α: −log(2α) up to ½ and log(2(1−α)) above, or −Φ⁻¹(α).

    Infinite at α = 0 (nothing is beyond it) and minus infinite at α = 1.
    """
    alpha = np.asarray(alpha, dtype=float)
    if noise == "gaussian":
        return np.asarray(-ndtri(alpha))
    with np.errstate(divide="ignore"):
        low, high = -_LOG2 - np.log(np.minimum(alpha, 0.5)), _LOG2 + np.log1p(-np.maximum(alpha, 0.5))
    return np.asarray(np.where(alpha <= 0.5, low, high))


def two_sided_noise_quantile(noise: str, alpha: Array) -> Array:
    """The k with P(|Z| > k) = α: −log α, or −Φ⁻¹(α/2); infinite at α = 0 and 0 at α = 1."""
    alpha = np.asarray(alpha, dtype=float)
    with np.errstate(divide="ignore"):
        value = np.log(alpha)
    if noise == "gaussian":  # half of the smallest double is 0
        value = np.where(alpha > 1e-300, ndtri(alpha / 2), ndtri_exp(value - _LOG2))
    return np.asarray(0.0 - value)  # no minus sign on a zero


@dataclass(frozen=True, slots=True)
class CalibratedNoise:
    """A kind of noise and its unit; ``told`` is how it was said, for the record."""

    kind: str
    unit: Array
    told: Mapping[str, object]


def calibrate_noise(
    *,
    epsilon: ArrayLike | None,
    scale: ArrayLike | None,
    sigma: ArrayLike | None,
    delta: float | None,
    sensitivity: ArrayLike,
    noise: str | None,
    calibration: str,
) -> CalibratedNoise:
    """The noise from exactly one of ε, scale and σ; ``noise`` left out is Laplace unless σ or δ says Gaussian."""
    which = exactly_one(epsilon=epsilon, scale=scale, sigma=sigma)
    said = "gaussian" if sigma is not None or delta is not None else "laplace"
    kind = said if noise is None else checks.one_of("noise", noise, NOISES)
    if scale is not None and kind == "gaussian":
        raise InputError(
            "scale belongs to laplace noise and the noise is gaussian: give sigma, or epsilon and delta", "scale"
        )
    if sigma is not None and kind == "laplace":
        raise InputError("sigma belongs to gaussian noise and noise is 'laplace': give scale or epsilon", "sigma")
    if (delta is not None) != (kind == "gaussian" and which == "epsilon"):
        raise InputError(
            "delta belongs to gaussian noise said by epsilon and is needed there: give it there and only there", "delta"
        )
    checks.one_of("calibration", calibration, ("analytic", "classical"))
    most = checks.positive("sensitivity", sensitivity)
    if which == "sigma":
        unit = checks.positive("sigma", sigma)
        checks.broadcastable(sigma=unit, sensitivity=most)
        privacy_loss_ratio("sigma", most, unit)
        return CalibratedNoise(kind, _check_unit(unit, "sigma", unit), {"sigma": unit, "sensitivity": most})
    if which == "scale":
        unit = checks.positive("scale", scale)
        checks.broadcastable(scale=unit, sensitivity=most)
        said_so = {"epsilon": privacy_loss_ratio("scale", most, unit), "scale": unit, "sensitivity": most}
        return CalibratedNoise(kind, _check_unit(unit, "scale", unit), said_so)
    if kind == "laplace":
        eps = checks.privacy_loss("epsilon", checks.positive("epsilon", epsilon))
        checks.broadcastable(epsilon=eps, sensitivity=most)
        with np.errstate(over="ignore"):
            unit = np.asarray(most / eps)
        return CalibratedNoise(
            kind, _check_unit(unit, "epsilon", eps), {"epsilon": eps, "scale": unit, "sensitivity": most}
        )
    e = float(checks.in_range("epsilon", checks.scalar("epsilon", epsilon), 0.0, 1e4))
    d = float(checks.probability("delta", checks.scalar("delta", delta), closed=False))
    with np.errstate(over="ignore", divide="ignore"):
        unit = np.asarray(most / np.asarray(calibrated_psi(e, d, calibration)))
    parameters = {"epsilon": e, "delta": d, "calibration": calibration, "sigma": unit, "sensitivity": most}
    return CalibratedNoise(kind, _check_unit(unit, "epsilon", e), parameters)


def _check_unit(unit: Array, name: str, value: ArrayLike) -> Array:
    if not np.all(unit <= _LARGEST):
        raise InputError(
            f"{name} is {np.min(value):g}: the noise would exceed {_LARGEST:g}, so give less of it or smaller units",
            name,
        )
    return unit
