"""Tampering (paper 003, corrected): false records shift a noisy answer, and the defender tests for it.

The answer should be ``expected`` plus noise; false records add ``bias`` to it together and may stretch the noise by
``stretch``. In units of the noise the defender tests Lap(0, 1) against Lap(m, θ), or N(0, 1) against N(μ, θ²), with
m = |bias|/unit (Theorem D64). More noise protects people and hides tampering alike.

How far false records move an answer and stay hidden, or are noticed, replaces Corollary 1 of paper 003, which a bias of
0 satisfies and a large one violates. The power rises with the size of the bias, so each question has one boundary, m*
in units of the noise: closed forms where they exist, one monotone root elsewhere. A bias that stays hidden is rounded
down, one that is noticed is rounded up, and both are read again.

The chain runs ε-DP ⇒ KL-DP ⇒ Chernoff-DP. The paper's Definition 7 allows e^ε nats, one whole nat at ε = 0, and its
Definition 8 calls the Chernoff bound the stronger one; it is the weaker.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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
from ..mechanisms.noise import calibrate_noise, noise_quantile, noise_tail, two_sided_noise_quantile
from ..numerics.formatting import json_value
from ..numerics.roots import root
from ..numerics.special import probit_gap
from ..numerics.values import ValueSemantics
from ..readings.law import Latent, Law
from ..results import Result, ShortResult
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


def power_of(test: str, noise: str, m: Array, theta: float, fpr: Array) -> Array:
    """The share of tampered answers that a threshold test of size α notices, m units of noise away.

    One-sided, z > k: S((k−m)/θ). Two-sided, |z| > k: for Laplace α^{1/θ}·cosh(m/θ) up to m = k = log(1/α) and
    1 − e^{−m/θ}·sinh(k/θ) beyond (Eq. 39 and 42, the latter valid only there).
    """
    if test == "one-sided":
        return noise_tail(noise, (noise_quantile(noise, fpr) - m) / theta)
    k = two_sided_noise_quantile(noise, fpr)
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
            "a stretch other than 1 needs single numbers: give epsilon, sensitivity and bias as such", "stretch"
        )
    return StretchedNormal(float(m), theta) if noise == "gaussian" else StretchedLaplace(float(m), theta)


def checked_stretch(stretch: object) -> float:
    """θ: false records add randomness, they take none away."""
    theta = checks.scalar("stretch", stretch)
    if not 1 <= theta <= 1e6:
        raise InputError(
            f"stretch is {theta:.12g}: false records cannot make the noise smaller, so give a number from 1 to 1000000",
            "stretch",
        )
    return theta


class Tampering(Experiment):
    """The experiment of :func:`tampering`: every reading, and the tests a defender may run."""

    shown_as = "tampering"

    def one_sided(self, fpr: ArrayLike) -> Rule:
        """Alarm beyond one threshold, on the side of the bias (above, for a bias of 0); Theorem 3 with its cases
        exchanged. It is the optimal test for ``stretch`` 1 only.
        """
        a, noise, m, theta, unit = self._units(fpr)
        k = noise_quantile(noise, a) * unit
        up = np.asarray(self.parameters["bias"]) >= 0
        below, above = np.where(up, -np.inf, -k), np.where(up, k, np.inf)
        power = power_of("one-sided", noise, m, theta, a)
        return _rule("one-sided", np.where(up, k, -k), below, above, a, power)

    def two_sided(self, fpr: ArrayLike) -> Rule:
        """Alarm beyond ±k, for a defender who does not know the sign of the bias (Theorem 4); optimal at bias 0."""
        a, noise, m, theta, unit = self._units(fpr)
        k = two_sided_noise_quantile(noise, a) * unit
        side = np.where(np.asarray(self.parameters["bias"]) >= 0, k, -k)
        return _rule("two-sided", side, -k, k, a, power_of("two-sided", noise, m, theta, a))

    def optimal(self, fpr: ArrayLike) -> Rule:
        """The Neyman–Pearson test: no test of this size notices more. With ``stretch`` above 1 it rejects outside an
        interval that is not centred on the expected answer.

        >>> rule = tampering(epsilon=1.0, bias=1.0, stretch=1.5).optimal(0.1)
        >>> round(rule.power, 6), round(rule.below, 4), round(rule.above, 4)
        (0.335079, -5.6276, 1.6276)
        """
        a, _, _, theta, unit = self._units(fpr)
        if theta == 1:
            rule = self.one_sided(fpr)
            return _rule("optimal", rule.threshold, rule.below, rule.above, a, self.law.roc(a))
        assert isinstance(self.law, StretchedLaplace | StretchedNormal)
        left, right = self.law.acceptance(a)
        up = self.parameters["bias"] >= 0
        below, above = (left, right) if up else (-right, -left)
        return _rule("optimal", (right if up else -right) * unit, below * unit, above * unit, a, self.law.roc(a))

    def tests(self, fpr: float = 0.05, power: float = 0.9) -> TamperingTests:
        """Every test for this bias at a share of false alarms, and what is noticed how often."""
        p, back = self.parameters, self.reverse()
        given = p, p["stretch"], float(fpr), power
        rules = (self.optimal(fpr), self.one_sided(fpr), self.two_sided(fpr))
        divergences = {"kl": self.kl(), "reverse_kl": back.kl(), "chernoff": self.chernoff()}
        sizes = hidden_sizes(*given[:3], sorted({0.5, power}))
        apart = {name: float(value) for name, value in divergences.items()}
        return TamperingTests(*given, sizes, self, rules, apart, _detectable(p, power, fpr))

    def _shown(self, pictures: bool = False) -> Result:
        return self if self.many else self.tests()._shown(pictures)

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

    def _units(self, fpr: ArrayLike) -> tuple[Array, str, Array, float, Array]:
        p = self.parameters
        unit = np.asarray(p["sigma" if p["noise"] == "gaussian" else "scale"])
        m = np.abs(np.asarray(p["bias"])) / unit
        return self.fit(checks.probability("fpr", fpr)), p["noise"], m, p["stretch"], unit


def _rule(test: str, threshold: Any, below: Any, above: Any, fpr: Array, power: Array) -> Rule:
    always = fpr >= 1
    below, above = np.where(always, -np.inf, below) + 0.0, np.where(always, -np.inf, above) + 0.0
    return Rule(
        test,
        float_or_array(np.asarray(threshold) + 0.0),
        float_or_array(below),
        float_or_array(above),
        float_or_array(fpr),
        float_or_array(power),
    )


@dataclass(frozen=True)
class PowerPoints:
    """The share noticed against the size of a bias: by the best test, and by the two-sided one.

    ``half`` is the size of which half are noticed.
    """

    bias: tuple[float, ...]
    best: tuple[float, ...]
    two_sided: tuple[float, ...]
    half: float


@dataclass(frozen=True)
class HiddenBias(Result):
    """How far false records move an answer at some share of false alarms and stay hidden behind this noise.

    ``sizes`` says for several shares noticed at which size each test reaches them.
    """

    parameters: Mapping[str, Any]
    stretch: float
    fpr: float
    power: float
    sizes: Sequence[Mapping[str, float | None]]

    @property
    def unit(self) -> float:
        """What sizes are measured in: the scale or the standard deviation."""
        return _unit(self.parameters)

    @property
    def bias(self) -> float | None:
        """What the false records add, where it is given."""
        return None

    @cached_property
    def points(self) -> PowerPoints | None:
        """The share noticed by the size of the bias, for a chart; None where no size is noticed."""
        noise, theta, fpr, unit = self.parameters["noise"], self.stretch, self.fpr, self.unit
        top = boundary("two-sided", noise, theta, fpr, max(0.99, fpr))
        if not math.isfinite(top):
            return None
        most = max(top, 1e-9 if self.bias is None else 1.15 * abs(self.bias) / unit, 1e-3)
        places = np.linspace(0.0, most, 121)
        alpha = np.asarray(fpr)
        best = tuple(float(tampering_law(noise, np.asarray(m), theta).roc(alpha)) for m in places)
        two = tuple(float(v) for v in power_of("two-sided", noise, places, theta, alpha))
        half = boundary("optimal", noise, theta, fpr, 0.5) * unit
        return PowerPoints(tuple(float(m * unit) for m in places), best, two, half)

    def _shown(self, pictures: bool = False) -> Result:
        if pictures:
            _ = self.points
        return self


@dataclass(frozen=True)
class TamperingTests(HiddenBias):
    """The tests for one bias: the optimal, the one-sided and the two-sided, and how far apart the two worlds are.

    ``needed`` is the ε at which a share ``power`` would be noticed; None where no ε says so.
    """

    shown_as = "tampering"

    experiment: Tampering
    rules: tuple[Rule, ...]
    divergences: Mapping[str, float]
    needed: float | None

    @property
    def bias(self) -> float:
        """What the false records add together."""
        return float(self.parameters["bias"])


@dataclass(frozen=True)
class HiddenLimit(HiddenBias):
    """The largest ``size`` of which at most a share ``power`` is noticed, however it is tested."""

    size: float


def _unit(parameters: Mapping[str, Any]) -> float:
    return float(parameters["sigma" if parameters["noise"] == "gaussian" else "scale"])


def hidden_limit(parameters: Mapping[str, Any], theta: float, fpr: float, power: float) -> HiddenLimit:
    """How far false records can move an answer and stay hidden behind this noise."""
    powers = sorted({0.1, 0.25, 0.5, 0.75, 0.9, 0.99, power})
    sizes = hidden_sizes(parameters, theta, fpr, [q for q in powers if q >= fpr])
    size = boundary("optimal", parameters["noise"], theta, fpr, power) * _unit(parameters)
    return HiddenLimit(parameters, theta, fpr, power, sizes, size)


def hidden_sizes(
    parameters: Mapping[str, Any], theta: float, fpr: float, powers: Sequence[float]
) -> list[dict[str, float | None]]:
    """For each share noticed, the size at which each test reaches it; null where none does."""
    noise, unit = parameters["noise"], _unit(parameters)
    return [
        {"power": p, **{t.replace("-", "_"): json_value(boundary(t, noise, theta, fpr, p) * unit) for t in TESTS}}
        for p in powers
    ]


def _detectable(p: Mapping[str, Any], power: float, fpr: float) -> float | None:
    """The ε at which a bias is noticed so often; None where the noise has none, or no ε does it."""
    if p["noise"] == "gaussian" and "delta" not in p:
        return None
    try:
        given = {name: p[name] for name in ("sensitivity", "noise", "delta", "calibration") if name in p}
        return epsilon_to_detect(bias=float(p["bias"]), stretch=float(p["stretch"]), fpr=fpr, power=power, **given)
    except NoSolutionError:
        return None


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

    Parameters
    ----------
    epsilon : float or array_like, optional
        The ε of the answer; or `scale` or `sigma`.
    bias : float or array_like
        What the false records add together, of either sign.
    sensitivity : float or array_like, default 1.0
        The most one record moves the answer, > 0.
    stretch : float, default 1.0
        Scale of the noise under H1 over that under H0, > 0.
    noise : {"laplace", "gaussian"}, optional
        Follows from the size given, else Laplace.
    delta : float, optional
        Of Gaussian noise said by ε.
    scale : float or array_like, optional
        Scale of Laplace noise.
    sigma : float or array_like, optional
        Standard deviation of Gaussian noise.
    calibration : {"analytic", "classical"}, default 'analytic'
        How σ follows from ε and δ.

    Returns
    -------
    Tampering
        An experiment whose H1 is that somebody tampered; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> t = tampering(epsilon=1.0, bias=1.0)
    >>> t.one_sided(0.1).power, round(t.two_sided(0.1).power, 6), t.roc(0.1)
    (0.27182818284590..., 0.154308, 0.27182818284590...)
    """
    widths = {"epsilon": epsilon, "scale": scale, "sigma": sigma}
    made = calibrate_noise(**widths, delta=delta, sensitivity=sensitivity, noise=noise, calibration=calibration)
    moved = checks.real("bias", bias)
    checks.broadcastable(bias=moved, noise=made.unit)
    with np.errstate(over="ignore"):
        m = np.asarray(np.abs(moved) / made.unit)
    theta = checked_stretch(stretch)
    if np.any(m > MOST * theta):
        raise InputError(
            f"bias is {float(np.max(np.abs(moved))):g}, more than {MOST:g} times the noise of "
            f"{float(np.min(made.unit)) * theta:g}: every test notices that, so give a smaller bias",
            "bias",
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
            "stretch",
        )


# -- what a privacy promise says about telling two worlds apart, the right way round (paper 003 §5, corrected) --------


def kl_bound(epsilon: ArrayLike) -> Number:
    """The largest Kullback–Leibler divergence, in nats, that any ε-DP release allows, either order: ε·tanh(ε/2).

    Randomised response attains it, so it is the tight form of Cuff and Yu's D ≤ ε.

    Parameters
    ----------
    epsilon : float or array_like
        Privacy loss, at least 0.

    Returns
    -------
    float or ndarray
        The divergence in nats; attained.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> round(kl_bound(1.0), 9)
    0.462117157
    """
    eps = checks.at_least("epsilon", epsilon, 0.0)
    return float_or_array(eps * np.tanh(eps / 2))


def chernoff_bound(kl: ArrayLike, a: ArrayLike, *, reverse_kl: ArrayLike | None = None) -> Number:
    """The largest C_a = −log ∫ f0^a·f1^{1−a} that D(f0‖f1) ≤ ``kl`` allows: (1−a)·kl, by Jensen, for 0 ≤ a ≤ 1.

    So KL-DP implies Chernoff-DP, never the other way. If D(f1‖f0) ≤ ``reverse_kl`` too, a·reverse_kl also bounds it and
    the smaller of the two is returned.

    Parameters
    ----------
    kl : float or array_like
        D(f0‖f1) in nats, at least 0.
    a : float or array_like
        Weight of the first law, in [0, 1].
    reverse_kl : float or array_like, optional
        D(f1‖f0) in nats.

    Returns
    -------
    float or ndarray
        An upper bound on C_a.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
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

    Parameters
    ----------
    variances : array_like
        Of the records, each > 0.
    false_variance : float, optional
        Of the false record; or `sensitivity`.
    sensitivity : float, optional
        A bound on its standard deviation.

    Returns
    -------
    float
        Mutual information in nats; exact, or a lower bound by `sensitivity`.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> round(privacy_distortion([1.0, 3.0], false_variance=4.0), 9)
    0.34657359
    """
    spread = checks.positive("variances", variances)
    if spread.size == 0:
        raise InputError("variances is empty: give the variance of at least one record", "variances")
    if (false_variance is None) == (sensitivity is None):
        raise InputError("exactly one of false_variance or sensitivity is needed: give one of them")
    if false_variance is not None:
        log_noise = np.log(float(checks.positive("false_variance", checks.scalar("false_variance", false_variance))))
    else:
        assert sensitivity is not None
        log_noise = 2 * np.log(float(checks.positive("sensitivity", checks.scalar("sensitivity", sensitivity))))
    log_signal = np.log(spread.max()) + np.log((spread / spread.max()).sum())
    return float(np.logaddexp(0.0, log_signal - log_noise) / 2)


def _power(test: str, noise: str, m: float, theta: float, fpr: float) -> float:
    if test == "optimal":
        return float(tampering_law(noise, np.asarray(m), theta).roc(np.asarray(fpr)))
    return float(power_of(test, noise, np.asarray(m), theta, np.asarray(fpr)))


def _miss_rate(test: str, noise: str, m: float, theta: float, fpr: float) -> float:
    if test == "optimal":
        return float(tampering_law(noise, np.asarray(m), theta).tradeoff(np.asarray(fpr)))
    if noise == "gaussian" and test == "two-sided":  # 1 − power would lose the digits of a small miss
        k = two_sided_noise_quantile(noise, np.asarray(fpr))
        return float(noise_tail(noise, (m - k) / theta) - noise_tail(noise, (m + k) / theta))
    return 1 - _power(test, noise, m, theta, fpr)


def boundary(test: str, noise: str, theta: float, fpr: float, power: float) -> float:
    """m*: the shift, in units of the noise, whose share noticed is ``power``; 0 where even no shift reaches it,
    infinite where none does.

    Laplace, two-sided: 0 for β ≤ α^{1/θ}; θ·arccosh(β·α^{−1/θ}) for β ≤ (1+α^{2/θ})/2; else
    θ·log(sinh(log(1/α)/θ)/(1−β)). One-sided: k(α) − θ·k(β), k the quantile of the noise.

    >>> [round(boundary("two-sided", "laplace", t, a, p), 9) for a, p, t in ((0.1, 0.5, 1.0), (0.1, 0.9, 1.5))]
    [2.29243167, 4.645450495]
    """
    if _power(test, noise, 0.0, theta, fpr) >= power:
        return 0.0
    if power == 1 or fpr == 0:
        return math.inf
    if test == "one-sided" or (test == "optimal" and theta == 1):
        return max(_one_sided(noise, theta, fpr, power), 0.0)
    if noise == "laplace" and test == "two-sided":
        return _two_sided(theta, fpr, power)
    if test == "two-sided":  # its power is at least that of the side the bias is on
        high = float(
            two_sided_noise_quantile(noise, np.asarray(fpr)) - theta * noise_quantile(noise, np.asarray(power))
        )
    else:  # no test does better, so the one-sided one needs more
        high = _one_sided(noise, theta, fpr, power)

    def excess(m: Any) -> Any:
        values = []
        for v in np.atleast_1d(m):
            with np.errstate(divide="ignore"):
                if power <= 0.5:
                    values.append(np.log(_power(test, noise, float(v), theta, fpr)) - math.log(power))
                else:
                    values.append(math.log1p(-power) - np.log(_miss_rate(test, noise, float(v), theta, fpr)))
        return np.asarray(values).reshape(np.shape(m))

    return float(root(excess, np.asarray(0.0), np.asarray(high * (1 + 1e-12) + 1e-12)))


def _one_sided(noise: str, theta: float, fpr: float, power: float) -> float:
    if theta != 1:
        return float(noise_quantile(noise, np.asarray(fpr)) - theta * noise_quantile(noise, np.asarray(power)))
    gap = power - fpr
    if noise == "gaussian":
        return float(probit_gap(np.asarray(fpr), np.asarray(gap), np.asarray(1 - power)))
    if fpr > 0.5:
        return math.log1p(gap / (1 - power))
    return math.log1p(gap / fpr) if power <= 0.5 else -math.log(4 * fpr) - math.log1p(-power)


def _two_sided(theta: float, fpr: float, power: float) -> float:
    """The sheet's m*, in logarithms: α^{−1/θ} may overflow, and β·α^{−1/θ} may be near 1."""
    k = -math.log(fpr) / theta
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


def _rates(fpr: object, power: object, test: str, stretch: object) -> tuple[float, float, float]:
    checks.one_of("test", test, TESTS)
    a = float(checks.probability("fpr", checks.scalar("fpr", fpr)))
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
    fpr: float = 0.05,
    power: float = 0.5,
    test: str = "optimal",
) -> Number:
    """The most false records can move the answer together and be noticed at most a share ``power`` of the time.

    ``fpr`` is the share of false alarms accepted. With ``test="optimal"`` no test of that size notices it more often;
    "two-sided" is what a defender can do who does not know its sign. Infinite where no size is noticed so often.

    Parameters
    ----------
    epsilon : float or array_like, optional
        The ε of the answer; or `scale` or `sigma`.
    scale : float or array_like, optional
        Scale of Laplace noise.
    sigma : float or array_like, optional
        Standard deviation of Gaussian noise.
    delta : float, optional
        Of Gaussian noise said by ε.
    sensitivity : float or array_like, default 1.0
        The most one record moves the answer, > 0.
    stretch : float, default 1.0
        Scale of the noise under H1 over that under H0, > 0.
    noise : {"laplace", "gaussian"}, optional
        Follows from the size given, else Laplace.
    calibration : {"analytic", "classical"}, default 'analytic'
        How σ follows from ε and δ.
    fpr : float, default 0.05
        Share of false alarms accepted, in (0, 1).
    power : float, default 0.5
        Share of false records that is noticed, in (0, 1).
    test : {"optimal", "two-sided"}, default 'optimal'
        The best test for this bias, or one that does not know its sign.

    Returns
    -------
    float or ndarray
        The bias, > 0; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> round(hidden_bias(epsilon=1.0), 6), round(hidden_bias(epsilon=0.1), 6)
    (2.302585, 23.025851)
    """
    a, p, theta = _rates(fpr, power, test, stretch)
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
    fpr: float = 0.05,
    power: float = 0.9,
    test: str = "optimal",
) -> Number:
    """The least false records must move the answer together to be noticed at least a share ``power`` of the time.

    Infinite where no size is (certainty needs an infinite one), 0 where the stretched noise alone gives it away.

    Parameters
    ----------
    epsilon : float or array_like, optional
        The ε of the answer; or `scale` or `sigma`.
    scale : float or array_like, optional
        Scale of Laplace noise.
    sigma : float or array_like, optional
        Standard deviation of Gaussian noise.
    delta : float, optional
        Of Gaussian noise said by ε.
    sensitivity : float or array_like, default 1.0
        The most one record moves the answer, > 0.
    stretch : float, default 1.0
        Scale of the noise under H1 over that under H0, > 0.
    noise : {"laplace", "gaussian"}, optional
        Follows from the size given, else Laplace.
    calibration : {"analytic", "classical"}, default 'analytic'
        How σ follows from ε and δ.
    fpr : float, default 0.05
        Share of false alarms accepted, in (0, 1).
    power : float, default 0.9
        Share of false records that is noticed, in (0, 1).
    test : {"optimal", "two-sided"}, default 'optimal'
        The best test for this bias, or one that does not know its sign.

    Returns
    -------
    float or ndarray
        The bias, > 0; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> round(detected_bias(epsilon=1.0, test="two-sided"), 6)
    4.602667
    """
    a, p, theta = _rates(fpr, power, test, stretch)
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
    fpr: float = 0.05,
    power: float = 0.9,
    test: str = "optimal",
) -> float:
    """The smallest ε at which false records that add up to this are noticed at least a share ``power`` of the time.

    The price of seeing it: ε = m*·sensitivity/|bias| for Laplace noise, and for Gaussian noise the ε whose calibrated σ
    is |bias|/m*. 0 where any ε will do.

    Parameters
    ----------
    bias : float
        What the false records add together, of either sign.
    sensitivity : float, default 1.0
        The most one record moves the answer, > 0.
    stretch : float, default 1.0
        Scale of the noise under H1 over that under H0, > 0.
    noise : {"laplace", "gaussian"}, optional
        Follows from the size given, else Laplace.
    delta : float, optional
        Of Gaussian noise said by ε.
    calibration : {"analytic", "classical"}, default 'analytic'
        How σ follows from ε and δ.
    fpr : float, default 0.05
        Share of false alarms accepted, in (0, 1).
    power : float, default 0.9
        Share of false records that is noticed, in (0, 1).
    test : {"optimal", "two-sided"}, default 'optimal'
        The best test for this bias, or one that does not know its sign.

    Returns
    -------
    float
        ε; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> round(epsilon_to_detect(bias=3.0), 6)
    1.304008
    """
    a, p, theta = _rates(fpr, power, test, stretch)
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
