"""Tampering (paper 003, corrected): false records shift a noisy answer, and the defender tests for it.

The answer should be ``expected`` plus noise; false records add ``bias`` to it together and may stretch the noise by
``stretch``. In units of the noise the defender tests Lap(0, 1) against Lap(m, θ), or N(0, 1) against N(μ, θ²), with
m = |bias|/unit. More noise protects people and hides tampering alike.

How far false records move an answer and stay hidden, or are noticed, replaces Corollary 1 of paper 003, which a bias of
0 satisfies and a large one violates. The power rises with the size of the bias, so each question has one boundary, m*
in units of the noise: closed forms where they exist, one monotone root elsewhere. A bias that stays hidden is rounded
down, one that is noticed is rounded up, and both are read again.

The chain runs ε-DP ⇒ KL-DP ⇒ Chernoff-DP. The paper's Definition 7 allows e^ε nats, one whole nat at ε = 0, and its
Definition 8 calls the Chernoff bound the stronger one; it is the weaker.

Detection of one published answer or a series: whoever can recompute the true answer from data they trust compares it
with the published one. If nobody tampered the difference is noise alone, and the p-value is the chance of noise at
least that far out. Over a series the share of **series** that raise any false alarm is kept at α, whatever the
dependence between the answers: Holm's step-down for a series in hand, spending α/(t(t+1)) on answer t for one that is
still arriving.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import Array, Number, float_or_array
from ..errors import InputError, NoSolutionError
from ..experiment import Experiment
from ..laws.laplace import Laplace
from ..laws.normal import Normal
from ..laws.stretched import StretchedLaplace, StretchedNormal
from ..mechanisms.noise import (
    CalibratedNoise,
    calibrate_noise,
    check_shapes,
    log_noise_tail,
    noise_quantile,
    noise_tail,
    two_sided_noise_quantile,
)
from ..numerics.formatting import json_value
from ..numerics.roots import root
from ..numerics.special import probit_gap
from ..numerics.values import ValueSemantics
from ..readings.law import Latent, Law
from ..results import SentenceResult, ShortResult
from ..worlds import TAMPERING

TESTS = ("one-sided", "two-sided", "optimal")
#: A shift beyond so many units of the (stretched) noise is seen in every test; further out doubles carry nothing.
MOST = 1e4


@dataclass(frozen=True, eq=False, repr=False)
class Rule(ValueSemantics, ShortResult):
    """Alarm when published − expected is under ``below`` or over ``above``, both in units of the answer.

    An infinite end is never reached; at a size of 1 ``above`` is minus infinity and the alarm always sounds. ``size``
    is the share of false alarms, ``power`` the share of tampered answers noticed; ``threshold`` is the end on the side
    of the bias.
    """

    shown_as = "rule"

    test: str
    threshold: Number
    below: Number
    above: Number
    size: Number
    power: Number

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; an infinite end is null, and ``alarm`` says in words what that means."""
        told = {k: json_value(getattr(self, k)) for k in ("threshold", "below", "above", "size", "power")}
        return {"test": self.test, **told} | ({} if self.many else {"alarm": self.alarm})

    @property
    def many(self) -> bool:
        """Whether these are many rules at once."""
        return any(np.ndim(v) for v in (self.below, self.above, self.size, self.power))

    @property
    def alarm(self) -> str:
        """When the alarm is raised, in words."""
        if np.isneginf(self.above):
            return "always"
        ends = [f"below {self.below:.6g}"] if np.isfinite(self.below) else []
        ends += [f"above {self.above:.6g}"] if np.isfinite(self.above) else []
        return " or ".join(ends) or "never"


def power_of(test: str, noise: str, m: Array, theta: float, alpha: Array) -> Array:
    """The share of tampered answers that a threshold test of size α notices, m units of noise away.

    One-sided, z > k: S((k−m)/θ). Two-sided, |z| > k: for Laplace α^{1/θ}·cosh(m/θ) up to m = k = log(1/α) and
    1 − e^{−m/θ}·sinh(k/θ) beyond (Eq. 39 and 42, the latter valid only there).
    """
    if test == "one-sided":
        return noise_tail(noise, (noise_quantile(noise, alpha) - m) / theta)
    k = two_sided_noise_quantile(noise, alpha)
    if noise == "gaussian":
        return np.minimum(noise_tail(noise, (k - m) / theta) + noise_tail(noise, (k + m) / theta), 1.0)
    near, far = np.exp((np.minimum(m - k, 0.0)) / theta), np.exp(-(m + k) / theta)
    beyond = np.exp(-np.maximum(m - k, 0.0) / theta)
    return np.asarray(np.where(m <= k, 0.5 * (near + far), 1 - 0.5 * (beyond - far)))


def tampering_law(noise: str, m: Array, theta: float) -> Law:
    """The two laws in units of the noise."""
    if theta == 1:
        return Normal(np.asarray(m)) if noise == "gaussian" else Laplace(np.asarray(m))
    if np.ndim(m):
        raise InputError(
            "a stretch other than 1 needs single numbers: give epsilon, sensitivity and bias as such",
            parameter="stretch",
        )
    return StretchedNormal(float(m), theta) if noise == "gaussian" else StretchedLaplace(float(m), theta)


def checked_stretch(stretch: Any) -> float:
    """θ: false records add randomness, they take none away."""
    theta = checks.scalar("stretch", stretch)
    if not 1 <= theta <= 1e6:
        raise InputError(
            f"stretch is {theta:.12g}: false records cannot make the noise smaller, so give a number from 1 to 1000000",
            parameter="stretch",
        )
    return theta


class Tampering(Experiment):
    """The experiment of :func:`tampering`: every reading, and the tests a defender may run."""

    shown_as = "tampering"

    def one_sided(self, alpha: ArrayLike) -> Rule:
        """Alarm beyond one threshold, on the side of the bias (above, for a bias of 0); Theorem 3 with its cases
        exchanged. It is the optimal test for ``stretch`` 1 only.
        """
        a, noise, m, theta, unit = self._units(alpha)
        k = noise_quantile(noise, a) * unit
        up = np.asarray(self.parameters["bias"]) >= 0
        below, above = np.where(up, -np.inf, -k), np.where(up, k, np.inf)
        power = power_of("one-sided", noise, m, theta, a)
        return _rule("one-sided", np.where(up, k, -k), below, above, a, power)

    def two_sided(self, alpha: ArrayLike) -> Rule:
        """Alarm beyond ±k, for a defender who does not know the sign of the bias (Theorem 4); optimal at bias 0."""
        a, noise, m, theta, unit = self._units(alpha)
        k = two_sided_noise_quantile(noise, a) * unit
        side = np.where(np.asarray(self.parameters["bias"]) >= 0, k, -k)
        return _rule("two-sided", side, -k, k, a, power_of("two-sided", noise, m, theta, a))

    def optimal(self, alpha: ArrayLike) -> Rule:
        """The Neyman–Pearson test: no test of this size notices more. With ``stretch`` above 1 it rejects outside an
        interval that is not centred on the expected answer.

        >>> rule = tampering(epsilon=1.0, bias=1.0, stretch=1.5).optimal(0.1)
        >>> round(rule.power, 6), round(rule.below, 4), round(rule.above, 4)
        (0.335079, -5.6276, 1.6276)
        """
        a, _, _, theta, unit = self._units(alpha)
        if theta == 1:
            rule = self.one_sided(alpha)
            return _rule("optimal", rule.threshold, rule.below, rule.above, a, self.law.roc(a))
        assert isinstance(self.law, StretchedLaplace | StretchedNormal)
        left, right = self.law.acceptance(a)
        up = self.parameters["bias"] >= 0
        below, above = (left, right) if up else (-right, -left)
        return _rule("optimal", (right if up else -right) * unit, below * unit, above * unit, a, self.law.roc(a))

    def chernoff_coefficient(self, a: ArrayLike) -> Number:
        """C_a = −log ∫ f0^a·f1^{1−a} in nats: Rényi's divergence times 1 − a. Its maximum over a is :meth:`chernoff`.

        For Laplace, with A = a/b0 and B = (1−a)/b1, the integral is
        [(e^{−AΔ} + e^{−BΔ})/(A+B) + (e^{−AΔ} − e^{−BΔ})/(B−A)]/(2·b0^a·b1^{1−a}).
        Paper 003 prints it with the opposite sign (Eq. 78). Minus infinite where the integral diverges.

        >>> round(tampering(epsilon=1.0, bias=1.0, stretch=1.5).chernoff_coefficient(0.4), 12)
        0.083663276929
        """
        tilt = self.fit(checks.in_range("a", a, -1e6, 1e6))
        # ∫ f0^a f1^{1−a}: small powers by the order in which they are not rounded
        low = self.law.reverse().log_moment(np.minimum(tilt, 0.5))
        high = self.law.log_moment(1 - np.maximum(tilt, 0.5))
        return float_or_array(0.0 - np.where(tilt < 0.5, low, high))

    def _units(self, alpha: ArrayLike) -> tuple[Array, str, Array, float, Array]:
        p = self.parameters
        unit = np.asarray(p["sigma" if p["noise"] == "gaussian" else "scale"])
        m = np.abs(np.asarray(p["bias"])) / unit
        return self.fit(checks.probability("alpha", alpha)), p["noise"], m, p["stretch"], unit


def _rule(test: str, threshold: Any, below: Any, above: Any, alpha: Array, power: Array) -> Rule:
    always = alpha >= 1
    below, above = np.where(always, -np.inf, below) + 0.0, np.where(always, -np.inf, above) + 0.0
    return Rule(
        test,
        float_or_array(np.asarray(threshold) + 0.0),
        float_or_array(below),
        float_or_array(above),
        float_or_array(alpha),
        float_or_array(power),
    )


def tampering(
    *,
    epsilon: ArrayLike | None = None,
    bias: ArrayLike,
    sensitivity: ArrayLike = 1.0,
    stretch: float = 1.0,
    noise: str | None = None,
    delta: float | None = None,
    scale: ArrayLike | None = None,
    sigma: ArrayLike | None = None,
    calibration: str = "analytic",
) -> Tampering:
    """False records that together add ``bias`` (of either sign) to a noisy answer, and may stretch its noise.

    One record moves the answer by ``sensitivity`` at most, so a larger bias takes several. The defender who tests for
    it knows what the answer should be.

    Say the noise by ``epsilon`` (with ``delta`` for Gaussian noise), ``scale`` or ``sigma``. H0: nobody tampered.
    With Laplace noise and stretch 1 only m = ε·|bias|/sensitivity matters. A stretched noise is a model of what
    random false records do to the answer: the exact law would be the noise convolved with theirs.

    >>> t = tampering(epsilon=1.0, bias=1.0)
    >>> t.one_sided(0.1).power, round(t.two_sided(0.1).power, 6), t.roc(0.1)
    (0.27182818284590..., 0.154308, 0.27182818284590...)
    """
    widths = {"epsilon": epsilon, "scale": scale, "sigma": sigma}
    made = calibrate_noise(**widths, delta=delta, sensitivity=sensitivity, noise=noise, calibration=calibration)
    moved = checks.real("bias", bias)
    check_shapes(bias=moved, noise=made.unit)
    with np.errstate(over="ignore"):
        m = np.asarray(np.abs(moved) / made.unit)
    theta = checked_stretch(stretch)
    if np.any(m > MOST * theta):
        raise InputError(
            f"bias is {float(np.max(np.abs(moved))):g}, more than {MOST:g} times the noise of "
            f"{float(np.min(made.unit)) * theta:g}: every test notices that, so give a smaller bias",
            parameter="bias",
        )
    told = {**made.told, "bias": moved, "stretch": theta, "noise": made.kind}
    notes = ("the stretched noise is a model of what the false records do to the answer",) if theta > 1 else ()
    return Tampering(
        tampering_law(made.kind, m, theta),
        "tampering",
        {k: float_or_array(v) if isinstance(v, np.ndarray) else v for k, v in told.items()},
        worlds=TAMPERING,
        notes=notes,
        latent=FalseRecords() if theta > 1 else None,
    )


@dataclass(frozen=True, eq=False, repr=False)
class FalseRecords(Latent):
    """Random false records, the same in every answer; their stretched noise models one answer alone."""

    unknown: ClassVar[str] = "random false records"

    def reverse(self) -> FalseRecords:
        """The same."""
        return self

    def joint(self, answers: Sequence[tuple[Latent, int]]) -> tuple[Law, str]:
        """Refused: the stretch says nothing about two answers."""
        raise InputError(
            "stretch models what random false records do to one answer, and they are the same in every answer: "
            "give stretch 1 to compose several",
            parameter="stretch",
        )


# -- what a privacy promise says about telling two worlds apart, the right way round (paper 003 §5, corrected) --------


def kl_bound(epsilon: ArrayLike) -> Number:
    """The largest Kullback–Leibler divergence, in nats, that any ε-DP release allows, either order: ε·tanh(ε/2).

    Randomised response attains it, so it is the tight form of Cuff and Yu's D ≤ ε.

    >>> round(kl_bound(1.0), 9)
    0.462117157
    """
    eps = checks.at_least("epsilon", epsilon, 0.0)
    return float_or_array(eps * np.tanh(eps / 2))


def chernoff_bound(kl: ArrayLike, a: ArrayLike, *, reverse_kl: ArrayLike | None = None) -> Number:
    """The largest C_a = −log ∫ f0^a·f1^{1−a} that D(f0‖f1) ≤ ``kl`` allows: (1−a)·kl, by Jensen, for 0 ≤ a ≤ 1.

    So KL-DP implies Chernoff-DP, never the other way. If D(f1‖f0) ≤ ``reverse_kl`` too, a·reverse_kl also bounds it and
    the smaller of the two is returned.

    >>> chernoff_bound(0.5, 0.25), chernoff_bound(0.5, 0.25, reverse_kl=0.4)
    (0.375, 0.1)
    """
    d, tilt = checks.at_least("kl", kl, 0.0, infinite=True), checks.probability("a", a)
    other = d if reverse_kl is None else checks.at_least("reverse_kl", reverse_kl, 0.0, infinite=True)
    checks.broadcastable(kl=d, a=tilt, reverse_kl=other)
    with np.errstate(invalid="ignore"):
        bound = np.where(tilt == 1, 0.0, (1 - tilt) * d)
        if reverse_kl is not None:
            bound = np.minimum(bound, np.where(tilt == 0, 0.0, tilt * other))
    return float_or_array(bound)


def privacy_distortion(
    variances: ArrayLike, *, false_variance: float | None = None, sensitivity: float | None = None
) -> float:
    """How much, in nats, a sum still says about itself after a false record was added: I(q; q + X).

    Premise: q = ΣX_i is **one number**, a sum of independent normal records with these ``variances``, and the false
    record X is normal, independent of them, with variance ``false_variance``. Then I = ½·log(1 + Σσ_i²/σ²), exactly.
    Given ``sensitivity`` instead, the value is a **lower** bound for every false record whose standard deviation is at
    most the sensitivity. Among all independent X of one variance the normal law gives the least, so the value is a
    lower bound without its normality too. Theorem 5 of paper 003 asks the same of the whole database, where the shared
    records make it infinite; its Corollary 2 does not hold.

    >>> round(privacy_distortion([1.0, 3.0], false_variance=4.0), 9)
    0.34657359
    """
    spread = checks.positive("variances", variances)
    if spread.size == 0:
        raise InputError("variances is empty: give the variance of at least one record", parameter="variances")
    if (false_variance is None) == (sensitivity is None):
        raise InputError("exactly one of false_variance or sensitivity is needed: give one of them")
    if false_variance is not None:
        log_noise = np.log(float(checks.positive("false_variance", checks.scalar("false_variance", false_variance))))
    else:
        assert sensitivity is not None
        log_noise = 2 * np.log(float(checks.positive("sensitivity", checks.scalar("sensitivity", sensitivity))))
    log_signal = np.log(spread.max()) + np.log((spread / spread.max()).sum())
    return float(np.logaddexp(0.0, log_signal - log_noise) / 2)


def _power(test: str, noise: str, m: float, theta: float, alpha: float) -> float:
    if test == "optimal":
        return float(tampering_law(noise, np.asarray(m), theta).roc(np.asarray(alpha)))
    return float(power_of(test, noise, np.asarray(m), theta, np.asarray(alpha)))


def _miss_rate(test: str, noise: str, m: float, theta: float, alpha: float) -> float:
    if test == "optimal":
        return float(tampering_law(noise, np.asarray(m), theta).tradeoff(np.asarray(alpha)))
    if noise == "gaussian" and test == "two-sided":  # 1 − power would lose the digits of a small miss
        k = two_sided_noise_quantile(noise, np.asarray(alpha))
        return float(noise_tail(noise, (m - k) / theta) - noise_tail(noise, (m + k) / theta))
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
        high = float(
            two_sided_noise_quantile(noise, np.asarray(alpha)) - theta * noise_quantile(noise, np.asarray(power))
        )
    else:  # no test does better, so the one-sided one needs more
        high = _one_sided(noise, theta, alpha, power)

    def excess(m: Any) -> Any:
        values = []
        for v in np.atleast_1d(m):
            with np.errstate(divide="ignore"):
                if power <= 0.5:
                    values.append(np.log(_power(test, noise, float(v), theta, alpha)) - math.log(power))
                else:
                    values.append(math.log1p(-power) - np.log(_miss_rate(test, noise, float(v), theta, alpha)))
        return np.asarray(values).reshape(np.shape(m))

    return float(root(excess, np.asarray(0.0), np.asarray(high * (1 + 1e-12) + 1e-12)))


def _one_sided(noise: str, theta: float, alpha: float, power: float) -> float:
    if theta != 1:
        return float(noise_quantile(noise, np.asarray(alpha)) - theta * noise_quantile(noise, np.asarray(power)))
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


def _round_to_safe_side(value: float, good: Callable[[float], bool], direction: int) -> float:
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
    values = [_round_to_safe_side(m * float(u), lambda v, u=float(u): good(v / u), direction) for u in np.ravel(unit)]  # type: ignore[misc]
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
    widths = {"epsilon": epsilon, "scale": scale, "sigma": sigma}
    made = calibrate_noise(**widths, delta=delta, sensitivity=sensitivity, noise=noise, calibration=calibration)
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
    widths = {"epsilon": epsilon, "scale": scale, "sigma": sigma}
    made = calibrate_noise(**widths, delta=delta, sensitivity=sensitivity, noise=noise, calibration=calibration)
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
    made = calibrate_noise(sensitivity=checks.scalar("sensitivity", sensitivity), **start)  # type: ignore[arg-type]
    most, beyond = float(sensitivity), 0.0 if delta is None else checks.scalar("delta", delta)
    m = boundary(test, made.kind, theta, a, p)
    if m == 0:
        return 0.0
    ratio = moved / most

    def power_at(epsilon: float) -> float:
        unit = float(calibrate_noise(sensitivity=most, **{**start, "epsilon": epsilon}).unit)  # type: ignore[arg-type]
        return _power(test, made.kind, min(moved / unit, MOST * theta), theta, a)

    def none(at: float) -> NoSolutionError:
        seen = power_at(at) if ratio > 0 else _power(test, made.kind, 0.0, theta, a)
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
    value = _round_to_safe_side(value, lambda e: e <= top and power_at(e) >= p, 1)
    if value > top:
        raise none(top)
    return value


SIDES = ("both", "above", "below")
METHODS = ("holm", "spending")
_FAR = 1e150  # beyond so many units of noise even the logarithm of a p-value overflows


@dataclass(frozen=True, eq=False, repr=False)
class Detection(ValueSemantics, SentenceResult, ShortResult):
    """The verdict on one answer.

    ``alarm`` is whether the p-value is at most ``level``, the share of false alarms of this test; ``below`` and
    ``above`` are its thresholds on published − expected (infinite: no alarm on that side, unless the level is 1, when
    it always sounds). ``power`` is the share of answers moved by ``bias`` that the test notices, None where no bias was
    stated. In a series ``adjusted`` is the p-value to compare with the series' own α.
    """

    shown_as = "detection"

    published: float
    expected: float
    noise: str
    unit: float
    side: str
    level: float
    p_value: float
    log_p_value: float
    alarm: bool
    below: float
    above: float
    bias: float | None = None
    power: float | None = None
    stretch: float = 1.0
    adjusted: float | None = None

    @property
    def difference(self) -> float:
        """Published minus expected."""
        return self.published - self.expected

    @property
    def verdict(self) -> str:
        """The verdict in four words."""
        return "it looks tampered with" if self.alarm else "nothing points to tampering"

    @property
    def blind_spot(self) -> float:
        """The largest bias, on the side watched, that this test misses at least half of the time."""
        test = "two-sided" if self.side == "both" else "one-sided"
        return boundary(test, self.noise, self.stretch, self.level, 0.5) * self.unit

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; an infinite threshold is null."""
        told: dict[str, Any] = {
            "published": self.published,
            "expected": self.expected,
            "difference": self.difference,
            "noise": self.noise,
            "scale" if self.noise == "laplace" else "sigma": self.unit,
            "side": self.side,
            "level": self.level,
            "p_value": self.p_value,
            "log_p_value": self.log_p_value,
            "alarm": self.alarm,
            "below": self.below if math.isfinite(self.below) else None,
            "above": self.above if math.isfinite(self.above) else None,
            "bias": self.bias,
            "power": self.power,
            "stretch": self.stretch,
        }
        return told if self.adjusted is None else {**told, "adjusted_p_value": self.adjusted}


@dataclass(frozen=True, eq=False, repr=False)
class DetectionSeries(ValueSemantics, SentenceResult):
    """The verdicts on a series of answers.

    At most a share ``alpha`` of untampered series raises any alarm, whatever the dependence between answers;
    ``family_wise`` is that share exactly where the answers' noise is independent.
    """

    shown_as = "series"

    answers: tuple[Detection, ...]
    alpha: float
    method: str
    family_wise: float

    @property
    def alarms(self) -> tuple[int, ...]:
        """The places, counted from 0, of the answers that raise an alarm."""
        return tuple(i for i, d in enumerate(self.answers) if d.alarm)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "alpha": self.alpha,
            "method": self.method,
            "family_wise": self.family_wise,
            "alarms": list(self.alarms),
            "answers": [d.to_dict() for d in self.answers],
        }


def _log_p(noise: str, side: str, z: float) -> float:
    if side != "both":
        return float(log_noise_tail(noise, np.asarray(z if side == "above" else -z)))
    return min(float(log_noise_tail(noise, np.asarray(abs(z)))) + math.log(2), 0.0)


def _thresholds(
    noise: str, unit: float, side: str, level: float, bias: float | None, stretch: float
) -> tuple[float, float, float | None]:
    """(below, above, power) of the test at this level."""
    if side == "both":
        k = float(two_sided_noise_quantile(noise, np.asarray(level)))
    else:
        k = float(noise_quantile(noise, np.asarray(level)))
    ends = {"both": (0.0 - k, k), "above": (-math.inf, k), "below": (-k, math.inf)}[side]
    if bias is None:
        return ends[0] * unit, ends[1] * unit, None
    far = MOST * stretch
    m = min(max(bias / unit, -far), far)  # beyond, the power is 0 or 1 to the last digit
    if side == "both":
        power = power_of("two-sided", noise, np.asarray(abs(m)), stretch, np.asarray(level))
    else:
        power = noise_tail(noise, np.asarray((k - (m if side == "above" else -m)) / stretch))
    return ends[0] * unit, ends[1] * unit, float(power)


def _detection(
    published: float,
    expected: float,
    made: tuple[str, float],
    side: str,
    level: float,
    bias: float | None,
    theta: float,
) -> Detection:
    noise, unit = made
    z = (published - expected) / unit
    if not abs(z) <= _FAR:
        raise InputError(
            f"published is {published:g} and expected is {expected:g}: they lie more than {_FAR:g} units of noise "
            "apart, so give answers and noise in the same units",
            parameter="published",
        )
    log_p = _log_p(noise, side, z)
    below, above, power = _thresholds(noise, unit, side, level, bias, theta)
    alarm = level > 0 and log_p <= math.log(level)
    return Detection(
        published, expected, noise, unit, side, level, math.exp(log_p), log_p, alarm, below, above, bias, power, theta
    )


def _checked_options(alpha: Any, side: str, bias: Any, stretch: Any) -> tuple[float, float | None, float]:
    checks.one_of("side", side, SIDES)
    level = float(checks.probability("alpha", checks.scalar("alpha", alpha)))
    return level, None if bias is None else checks.scalar("bias", bias), checked_stretch(stretch)


def _detection_noise(sensitivity: ArrayLike | None, **said: Any) -> CalibratedNoise:
    """A scale or σ needs no sensitivity; only an ε does."""
    if said["epsilon"] is None and sensitivity is None:
        sensitivity = said["sigma"] if said["scale"] is None else said["scale"]
    return calibrate_noise(sensitivity=1.0 if sensitivity is None else sensitivity, **said)


def detect(
    published: float,
    expected: float,
    *,
    epsilon: float | None = None,
    scale: float | None = None,
    sigma: float | None = None,
    delta: float | None = None,
    sensitivity: float | None = None,
    noise: str | None = None,
    calibration: str = "analytic",
    alpha: float = 0.05,
    side: str = "both",
    bias: float | None = None,
    stretch: float = 1.0,
) -> Detection:
    """Was a published answer tampered with? ``expected`` is the true answer, recomputed from data that is trusted.

    ``side`` says where false records would push the answer: "above", "below", or "both" if unknown. With ``bias`` the
    verdict tells how often false records that add up to it would have been noticed.

    >>> d = detect(106.0, 100.0, epsilon=1.0, bias=3.0)
    >>> round(d.p_value, 6), d.alarm, round(d.power, 4)
    (0.002479, True, 0.5034)
    """
    level, moved, theta = _checked_options(alpha, side, bias, stretch)
    made = _detection_noise(
        sensitivity, epsilon=epsilon, scale=scale, sigma=sigma, delta=delta, noise=noise, calibration=calibration
    )
    seen, true = checks.scalar("published", published), checks.scalar("expected", expected)
    return _detection(seen, true, (made.kind, checks.scalar("noise", made.unit)), side, level, moved, theta)


def detect_series(
    published: ArrayLike,
    expected: ArrayLike,
    *,
    epsilon: ArrayLike | None = None,
    scale: ArrayLike | None = None,
    sigma: ArrayLike | None = None,
    delta: float | None = None,
    sensitivity: ArrayLike | None = None,
    noise: str | None = None,
    calibration: str = "analytic",
    alpha: float = 0.05,
    side: str = "both",
    bias: float | None = None,
    stretch: float = 1.0,
    method: str = "holm",
) -> DetectionSeries:
    """The same for a series of answers, with at most a share ``alpha`` of untampered series raising any alarm.

    ``method="holm"`` looks at the whole series: the smallest p-value is compared with α/n, the next with α/(n−1), and
    so on until one fails; ``level`` and ``power`` are those of α/n, which it never falls short of.
    ``method="spending"`` tests answer t at α/(t(t+1)) whatever came before and will come, as :func:`watch` does while
    answers arrive.
    ``expected`` and the noise may be one number for all or one for each.

    >>> s = detect_series([101.0, 99.5, 112.0], 100.0, epsilon=1.0)
    >>> s.alarms, [round(d.adjusted, 5) for d in s.answers]
    ((2,), [0.73576, 0.73576, 2e-05])
    """
    level, moved, theta = _checked_options(alpha, side, bias, stretch)
    checks.one_of("method", method, METHODS)
    made = _detection_noise(
        sensitivity, epsilon=epsilon, scale=scale, sigma=sigma, delta=delta, noise=noise, calibration=calibration
    )
    seen, true = checks.real("published", published), checks.real("expected", expected)
    if seen.ndim != 1 or seen.size == 0:
        raise InputError(f"published has shape {seen.shape}: give a list of at least one answer", parameter="published")
    try:
        true, unit = np.broadcast_to(true, seen.shape), np.broadcast_to(made.unit, seen.shape)
    except ValueError:
        raise InputError(
            f"published has {seen.size} answers, expected shape {true.shape} and the noise {np.shape(made.unit)}: "
            "give one for each answer, or one for all",
            parameter="published",
        ) from None
    n = seen.size
    levels = [level / n] * n if method == "holm" else [_alpha_spending(level, t) for t in range(1, n + 1)]
    found = [
        _detection(float(x), float(e), (made.kind, float(u)), side, at, moved, theta)
        for x, e, u, at in zip(seen, true, unit, levels, strict=True)
    ]
    found = (
        _holm_adjusted(found, level) if method == "holm" else [_with_adjusted_p(d, t) for t, d in enumerate(found, 1)]
    )
    # at α = 1 Holm's last comparison is with 1, so every series raises an alarm
    sure = method == "holm" and level == 1
    return DetectionSeries(
        tuple(found), level, method, 1.0 if sure else -math.expm1(sum(math.log1p(-a) for a in levels))
    )


def _alpha_spending(alpha: float, t: int) -> float:
    """What answer t may spend: Σ 1/(t(t+1)) = 1."""
    return alpha / (t * (t + 1))


def _with_adjusted_p(d: Detection, t: int) -> Detection:
    return replace(d, adjusted=min(math.exp(min(d.log_p_value + math.log(t * (t + 1)), 0.0)), 1.0))


def _holm_adjusted(found: Sequence[Detection], alpha: float) -> list[Detection]:
    """Step down: the i-th smallest p-value times n − i + 1, never below the one before."""
    n, out = len(found), list(found)
    worst = -math.inf
    for rank, i in enumerate(sorted(range(n), key=lambda i: found[i].log_p_value)):
        worst = max(worst, min(found[i].log_p_value + math.log(n - rank), 0.0))
        out[i] = replace(found[i], adjusted=math.exp(worst), alarm=alpha > 0 and worst <= math.log(alpha))
    return out


def watch(
    answers: Iterable[tuple[float, float]],
    *,
    epsilon: float | None = None,
    scale: float | None = None,
    sigma: float | None = None,
    delta: float | None = None,
    sensitivity: float | None = None,
    noise: str | None = None,
    calibration: str = "analytic",
    alpha: float = 0.05,
    side: str = "both",
    bias: float | None = None,
    stretch: float = 1.0,
) -> Iterator[Detection]:
    """Verdicts as (published, expected) answers arrive: each is final, and at most a share ``alpha`` of endless
    untampered series ever raises a false alarm.

    >>> [d.alarm for d in watch([(101.0, 100.0), (99.0, 100.0), (130.0, 100.0)], epsilon=1.0)]
    [False, False, True]
    """
    level, moved, theta = _checked_options(alpha, side, bias, stretch)
    made = _detection_noise(
        sensitivity, epsilon=epsilon, scale=scale, sigma=sigma, delta=delta, noise=noise, calibration=calibration
    )
    unit = checks.scalar("noise", made.unit)
    if not isinstance(answers, Iterable):
        raise InputError(f"answers is {answers!r:.40}: give pairs (published, expected)", parameter="answers")

    def verdicts() -> Iterator[Detection]:
        for t, answer in enumerate(answers, 1):
            try:
                published, expected = answer
            except (TypeError, ValueError):
                raise InputError(
                    f"answer {t} is {answer!r:.40}: give a pair (published, expected)", parameter="answers"
                ) from None
            seen, true = checks.scalar("published", published), checks.scalar("expected", expected)
            yield _with_adjusted_p(
                _detection(seen, true, (made.kind, unit), side, _alpha_spending(level, t), moved, theta), t
            )

    return verdicts()  # options are checked before the first answer arrives
