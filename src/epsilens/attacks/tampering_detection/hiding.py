"""How far false records can move an answer and stay hidden, how far they are noticed, and the ε at which they are.

Replaces Corollary 1 of paper 003, which a bias of 0 satisfies and a large one violates. The share noticed rises with
the size of the bias, so each question has one boundary, m* in units of the noise: closed forms where they exist, one
monotone root elsewhere. A bias that stays hidden is rounded down, one that is noticed is rounded up, and both are read
again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import checks
from ...checks import Array, Number, float_or_array
from ...errors import NoSolutionError
from ...laws.normal import Normal
from ...mechanisms.noise import calibrate, quantile, tail, two_sided_quantile
from ...numerics.roots import root
from ...numerics.special import probit_gap
from .tampering import MOST, TESTS, checked_stretch, pair, power_of


def _power(test: str, noise: str, m: float, theta: float, alpha: float) -> float:
    if test == "optimal":
        return float(pair(noise, np.asarray(m), theta).roc(np.asarray(alpha)))
    return float(power_of(test, noise, np.asarray(m), theta, np.asarray(alpha)))


def _miss(test: str, noise: str, m: float, theta: float, alpha: float) -> float:
    if test == "optimal":
        return float(pair(noise, np.asarray(m), theta).tradeoff(np.asarray(alpha)))
    if noise == "gaussian" and test == "two-sided":  # 1 − power would lose the digits of a small miss
        k = two_sided_quantile(noise, np.asarray(alpha))
        return float(tail(noise, (m - k) / theta) - tail(noise, (m + k) / theta))
    return 1 - _power(test, noise, m, theta, alpha)


def boundary(test: str, noise: str, theta: float, alpha: float, power: float) -> float:
    """m*: the shift, in units of the noise, whose share noticed is ``power``; 0 where even no shift reaches it,
    infinite where none does.

    Laplace, two-sided: 0 for β ≤ α^{1/θ}; θ·arccosh(β·α^{−1/θ}) for β ≤ (1+α^{2/θ})/2; else
    θ·log(sinh(log(1/α)/θ)/(1−β)). One-sided: k(α) − θ·k(β), k the quantile of the noise.

    >>> [round(boundary("two-sided", "laplace", t, a, p), 9) for a, p, t in ((0.1, 0.5, 1.0), (0.1, 0.9, 1.5))]
    [2.29243167, 4.645450495]
    """
    if _power(test, noise, 0.0, theta, alpha) >= power:
        return 0.0
    if power == 1 or alpha == 0:
        return math.inf
    if test == "one-sided" or (test == "optimal" and theta == 1):
        return max(_one_sided(noise, theta, alpha, power), 0.0)
    if noise == "laplace" and test == "two-sided":
        return _two_sided(theta, alpha, power)
    if test == "two-sided":  # its power is at least that of the side the bias is on
        high = float(two_sided_quantile(noise, np.asarray(alpha)) - theta * quantile(noise, np.asarray(power)))
    else:  # no test does better, so the one-sided one needs more
        high = _one_sided(noise, theta, alpha, power)

    def excess(m: Any) -> Any:
        values = []
        for v in np.atleast_1d(m):
            with np.errstate(divide="ignore"):
                if power <= 0.5:
                    values.append(np.log(_power(test, noise, float(v), theta, alpha)) - math.log(power))
                else:
                    values.append(math.log1p(-power) - np.log(_miss(test, noise, float(v), theta, alpha)))
        return np.asarray(values).reshape(np.shape(m))

    return float(root(excess, np.asarray(0.0), np.asarray(high * (1 + 1e-12) + 1e-12)))


def _one_sided(noise: str, theta: float, alpha: float, power: float) -> float:
    if theta != 1:
        return float(quantile(noise, np.asarray(alpha)) - theta * quantile(noise, np.asarray(power)))
    gap = power - alpha
    if noise == "gaussian":
        return float(probit_gap(np.asarray(alpha), np.asarray(gap), np.asarray(1 - power)))
    if alpha > 0.5:
        return math.log1p(gap / (1 - power))
    return math.log1p(gap / alpha) if power <= 0.5 else -math.log(4 * alpha) - math.log1p(-power)


def _two_sided(theta: float, alpha: float, power: float) -> float:
    """The sheet's m*, in logarithms: α^{−1/θ} may overflow, and β·α^{−1/θ} may be near 1."""
    k = -math.log(alpha) / theta
    if power <= (1 + math.exp(-2 * k)) / 2:
        x = math.log(power) + k
        if x > 1:
            return theta * (x + math.log1p(math.sqrt(-math.expm1(-2 * x))))
        grown = math.expm1(max(x, 0.0))
        return theta * math.log1p(grown + math.sqrt(grown * (grown + 2)))
    return theta * (k + math.log(-math.expm1(-2 * k) / 2) - math.log1p(-power))


def _settle(value: float, good: Callable[[float], bool], direction: int) -> float:
    """Step away from the boundary, doubling from an ulp, until the answer keeps its promise."""
    step = 2.0**-52
    while not good(value) and step < 1:
        value *= 1 + direction * step
        step *= 2
    return value


def _in_units(m: float, unit: Array, good: Callable[[float], bool], direction: int) -> Number:
    """m units of noise in those of the answer, each read again as the answer will be: value over unit."""
    if m == 0 or math.isinf(m):
        return float_or_array(np.full(np.shape(unit), m))
    values = [_settle(m * float(u), lambda v, u=float(u): good(v / u), direction) for u in np.ravel(unit)]  # type: ignore[misc]
    return float_or_array(np.asarray(values).reshape(np.shape(unit)))


def _rates(alpha: Any, power: Any, test: str, stretch: Any) -> tuple[float, float, float]:
    checks.one_of("test", test, TESTS)
    a = float(checks.probability("alpha", checks.scalar("alpha", alpha)))
    return a, float(checks.probability("power", checks.scalar("power", power))), checked_stretch(stretch)


def hidden_bias(
    *,
    epsilon: ArrayLike | None = None,
    scale: ArrayLike | None = None,
    sigma: ArrayLike | None = None,
    delta: float | None = None,
    sensitivity: ArrayLike = 1.0,
    stretch: float = 1.0,
    noise: str | None = None,
    calibration: str = "analytic",
    alpha: float = 0.05,
    power: float = 0.5,
    test: str = "optimal",
) -> Number:
    """The most false records can move the answer together and be noticed at most a share ``power`` of the time.

    ``alpha`` is the share of false alarms accepted. With ``test="optimal"`` no test of that size notices it more often;
    "two-sided" is what a defender can do who does not know its sign. Infinite where no size is noticed so often.

    >>> round(hidden_bias(epsilon=1.0), 6), round(hidden_bias(epsilon=0.1), 6)
    (2.302585, 23.025851)
    """
    a, p, theta = _rates(alpha, power, test, stretch)
    made = calibrate(
        epsilon=epsilon, scale=scale, sigma=sigma, delta=delta, sensitivity=sensitivity, noise=noise,
        calibration=calibration,
    )  # fmt: skip
    least = _power(test, made.kind, 0.0, theta, a)
    if p < least * (1 - 1e-12):
        raise NoSolutionError(
            f"no false record stays hidden: the {test} test notices even one that adds nothing with probability "
            f"{least:.6g}, so give a power above that",
            floor=least,
            parameter="bias",
        )
    m = boundary(test, made.kind, theta, a, p) if a > 0 and p < 1 else math.inf
    return _in_units(m, made.unit, lambda size: _power(test, made.kind, size, theta, a) <= p, -1)


def detected_bias(
    *,
    epsilon: ArrayLike | None = None,
    scale: ArrayLike | None = None,
    sigma: ArrayLike | None = None,
    delta: float | None = None,
    sensitivity: ArrayLike = 1.0,
    stretch: float = 1.0,
    noise: str | None = None,
    calibration: str = "analytic",
    alpha: float = 0.05,
    power: float = 0.9,
    test: str = "optimal",
) -> Number:
    """The least false records must move the answer together to be noticed at least a share ``power`` of the time.

    Infinite where no size is (certainty needs an infinite one), 0 where the stretched noise alone gives it away.

    >>> round(detected_bias(epsilon=1.0, test="two-sided"), 6)
    4.602667
    """
    a, p, theta = _rates(alpha, power, test, stretch)
    made = calibrate(
        epsilon=epsilon, scale=scale, sigma=sigma, delta=delta, sensitivity=sensitivity, noise=noise,
        calibration=calibration,
    )  # fmt: skip
    m = boundary(test, made.kind, theta, a, p)
    return _in_units(m, made.unit, lambda size: _power(test, made.kind, size, theta, a) >= p, 1)


def epsilon_to_detect(
    *,
    bias: float,
    sensitivity: float = 1.0,
    stretch: float = 1.0,
    noise: str = "laplace",
    delta: float | None = None,
    calibration: str = "analytic",
    alpha: float = 0.05,
    power: float = 0.9,
    test: str = "optimal",
) -> float:
    """The smallest ε at which false records that add up to this are noticed at least a share ``power`` of the time.

    The price of seeing it: ε = m*·sensitivity/|bias| for Laplace noise, and for Gaussian noise the ε whose calibrated σ
    is |bias|/m*. 0 where any ε will do.

    >>> round(epsilon_to_detect(bias=3.0), 6)
    1.304008
    """
    a, p, theta = _rates(alpha, power, test, stretch)
    moved = abs(checks.scalar("bias", bias))
    start = {"epsilon": 0.5, "scale": None, "sigma": None, "noise": noise, "delta": delta, "calibration": calibration}
    made = calibrate(sensitivity=checks.scalar("sensitivity", sensitivity), **start)  # type: ignore[arg-type]
    most, beyond = float(sensitivity), 0.0 if delta is None else checks.scalar("delta", delta)
    m = boundary(test, made.kind, theta, a, p)
    if m == 0:
        return 0.0
    ratio = moved / most

    def reached(epsilon: float) -> float:
        unit = float(calibrate(sensitivity=most, **{**start, "epsilon": epsilon}).unit)  # type: ignore[arg-type]
        return _power(test, made.kind, min(moved / unit, MOST * theta), theta, a)

    def none(at: float) -> NoSolutionError:
        seen = reached(at) if ratio > 0 else _power(test, made.kind, 0.0, theta, a)
        there = f"notices {seen:.6g}" if float(f"{seen:.6g}") < p else "falls short of it by a little"
        return NoSolutionError(
            f"no epsilon up to {at:g} lets the {test} test notice a bias of {moved:g} with probability {p:.12g}: there "
            f"it {there}, so give a larger bias, a lower power or more false alarms",
            floor=seen,
            parameter="epsilon",
        )

    top = 1e4 if made.kind == "laplace" or calibration == "analytic" else math.nextafter(1.0, 0.0)
    if not math.isfinite(m) or ratio == 0 or m / ratio > 1e4:
        raise none(top)
    psi = m / ratio
    if made.kind == "laplace":
        value = psi
    elif calibration == "classical":
        value = psi * math.sqrt(2 * math.log(1.25 / beyond))
    else:
        value = float(Normal(np.asarray(psi)).profile_inverse(np.asarray(beyond)))
    if value == 0:
        return 0.0
    if value > top:
        raise none(top)
    value = _settle(value, lambda e: e <= top and reached(e) >= p, 1)
    if value > top:
        raise none(top)
    return value
