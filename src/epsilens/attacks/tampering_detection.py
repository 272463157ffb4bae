"""Detection of tampering in one published answer or a series (paper 003).

Whoever can recompute the true answer from data they trust compares it
with the published one. If nobody tampered the difference is noise alone, and the p-value is the chance of noise at
least that far out. Over a series the share of **series** that raise any false alarm is kept at α, whatever the
dependence between the answers: Holm's step-down for a series in hand, spending α/(t(t+1)) on answer t for one that is
still arriving.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import InputError
from ..mechanisms.noise import (
    CalibratedNoise,
    calibrate_noise,
    log_noise_tail,
    noise_quantile,
    noise_tail,
    two_sided_noise_quantile,
)
from ..numerics.formatting import json_value
from ..numerics.values import ValueSemantics
from ..results import SentenceResult, ShortResult
from .tampering_power import MOST, boundary, checked_stretch, power_of

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
        told = {name: getattr(self, name) for name in ("published", "expected", "difference", "noise")}
        told["scale" if self.noise == "laplace" else "sigma"] = self.unit
        told |= {name: getattr(self, name) for name in ("side", "level", "p_value", "log_p_value", "alarm")}
        told |= {"below": json_value(self.below), "above": json_value(self.above)}
        told |= {"bias": self.bias, "power": self.power, "stretch": self.stretch}
        return told if self.adjusted is None else {**told, "adjusted_p_value": self.adjusted}


@dataclass(frozen=True, eq=False, repr=False)
class DetectionSeries(ValueSemantics, SentenceResult):
    """The verdicts on a series of answers.

    At most a share ``fpr`` of untampered series raises any alarm, whatever the dependence between answers;
    ``family_wise`` is that share exactly where the answers' noise is independent.
    """

    shown_as = "series"

    answers: tuple[Detection, ...]
    fpr: float
    method: str
    family_wise: float

    @property
    def alarms(self) -> tuple[int, ...]:
        """The places, counted from 0, of the answers that raise an alarm."""
        return tuple(i for i, d in enumerate(self.answers) if d.alarm)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "fpr": self.fpr,
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
            "published",
        )
    log_p = _log_p(noise, side, z)
    below, above, power = _thresholds(noise, unit, side, level, bias, theta)
    alarm = level > 0 and log_p <= math.log(level)
    return Detection(
        published, expected, noise, unit, side, level, math.exp(log_p), log_p, alarm, below, above, bias, power, theta
    )


def _checked_options(fpr: object, side: str, bias: object, stretch: object) -> tuple[float, float | None, float]:
    checks.one_of("side", side, SIDES)
    level = float(checks.probability("fpr", checks.scalar("fpr", fpr)))
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
    fpr: float = 0.05,
    side: str = "both",
    bias: float | None = None,
    stretch: float = 1.0,
) -> Detection:
    """Was a published answer tampered with? ``expected`` is the true answer, recomputed from data that is trusted.

    ``side`` says where false records would push the answer: "above", "below", or "both" if unknown. With ``bias`` the
    verdict tells how often false records that add up to it would have been noticed.

    Parameters
    ----------
    published : float
        The published answer.
    expected : float
        What it should be.
    epsilon : float or array_like, optional
        The ε of the answer; or `scale` or `sigma`.
    scale : float or array_like, optional
        Scale of Laplace noise.
    sigma : float or array_like, optional
        Standard deviation of Gaussian noise.
    delta : float, optional
        Of Gaussian noise said by ε.
    sensitivity : float or array_like, optional
        The most one record moves the answer, > 0.
    noise : {"laplace", "gaussian"}, optional
        Follows from the size given, else Laplace.
    calibration : {"analytic", "classical"}, default 'analytic'
        How σ follows from ε and δ.
    fpr : float, default 0.05
        Share of false alarms accepted, in (0, 1).
    side : {"both", "above", "below"}, default 'both'
        Where false records would push the answer.
    bias : float, optional
        What false records would add, for the power.
    stretch : float, default 1.0
        Scale of the noise under H1 over that under H0, > 0.

    Returns
    -------
    Detection
        The p-value, the verdict and the power; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> d = detect(106.0, 100.0, epsilon=1.0, bias=3.0)
    >>> round(d.p_value, 6), d.alarm, round(d.power, 4)
    (0.002479, True, 0.5034)
    """
    level, moved, theta = _checked_options(fpr, side, bias, stretch)
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
    fpr: float = 0.05,
    side: str = "both",
    bias: float | None = None,
    stretch: float = 1.0,
    method: str = "holm",
) -> DetectionSeries:
    """The same for a series of answers, with at most a share ``fpr`` of untampered series raising any alarm.

    ``method="holm"`` looks at the whole series: the smallest p-value is compared with α/n, the next with α/(n−1), and
    so on until one fails; ``level`` and ``power`` are those of α/n, which it never falls short of.
    ``method="spending"`` tests answer t at α/(t(t+1)) whatever came before and will come, as :func:`watch` does while
    answers arrive.
    ``expected`` and the noise may be one number for all or one for each.

    Parameters
    ----------
    published : array_like
        The published answers.
    expected : float or array_like
        What they should be, one for all or one each.
    epsilon : float or array_like, optional
        The ε of the answer; or `scale` or `sigma`.
    scale : float or array_like, optional
        Scale of Laplace noise.
    sigma : float or array_like, optional
        Standard deviation of Gaussian noise.
    delta : float, optional
        Of Gaussian noise said by ε.
    sensitivity : float or array_like, optional
        The most one record moves the answer, > 0.
    noise : {"laplace", "gaussian"}, optional
        Follows from the size given, else Laplace.
    calibration : {"analytic", "classical"}, default 'analytic'
        How σ follows from ε and δ.
    fpr : float, default 0.05
        Share of false alarms accepted, in (0, 1).
    side : {"both", "above", "below"}, default 'both'
        Where false records would push the answer.
    bias : float, optional
        What false records would add, for the power.
    stretch : float, default 1.0
        Scale of the noise under H1 over that under H0, > 0.
    method : {"holm", "spending"}, default 'holm'
        How false alarms are shared out.

    Returns
    -------
    Series
        A verdict for each answer and for all.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> s = detect_series([101.0, 99.5, 112.0], 100.0, epsilon=1.0)
    >>> s.alarms, [round(d.adjusted, 5) for d in s.answers]
    ((2,), [0.73576, 0.73576, 2e-05])
    """
    level, moved, theta = _checked_options(fpr, side, bias, stretch)
    checks.one_of("method", method, METHODS)
    made = _detection_noise(
        sensitivity, epsilon=epsilon, scale=scale, sigma=sigma, delta=delta, noise=noise, calibration=calibration
    )
    seen, true = checks.real("published", published), checks.real("expected", expected)
    if seen.ndim != 1 or seen.size == 0:
        raise InputError(f"published has shape {seen.shape}: give a list of at least one answer", "published")
    try:
        true, unit = np.broadcast_to(true, seen.shape), np.broadcast_to(made.unit, seen.shape)
    except ValueError:
        raise InputError(
            f"published has {seen.size} answers, expected shape {true.shape} and the noise {np.shape(made.unit)}: "
            "give one for each answer, or one for all",
            "published",
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


def _alpha_spending(fpr: float, t: int) -> float:
    """What answer t may spend: Σ 1/(t(t+1)) = 1."""
    return fpr / (t * (t + 1))


def _with_adjusted_p(d: Detection, t: int) -> Detection:
    return replace(d, adjusted=min(math.exp(min(d.log_p_value + math.log(t * (t + 1)), 0.0)), 1.0))


def _holm_adjusted(found: Sequence[Detection], fpr: float) -> list[Detection]:
    """Step down: the i-th smallest p-value times n − i + 1, never below the one before."""
    n, out = len(found), list(found)
    worst = -math.inf
    for rank, i in enumerate(sorted(range(n), key=lambda i: found[i].log_p_value)):
        worst = max(worst, min(found[i].log_p_value + math.log(n - rank), 0.0))
        out[i] = replace(found[i], adjusted=math.exp(worst), alarm=fpr > 0 and worst <= math.log(fpr))
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
    fpr: float = 0.05,
    side: str = "both",
    bias: float | None = None,
    stretch: float = 1.0,
) -> Iterator[Detection]:
    """Verdicts as (published, expected) answers arrive, each of them final.

    At most a share ``fpr`` of endless untampered series ever raises a false alarm.

    Parameters
    ----------
    answers : iterable of (float, float)
        Published and expected answers, as they arrive.
    epsilon : float or array_like, optional
        The ε of the answer; or `scale` or `sigma`.
    scale : float or array_like, optional
        Scale of Laplace noise.
    sigma : float or array_like, optional
        Standard deviation of Gaussian noise.
    delta : float, optional
        Of Gaussian noise said by ε.
    sensitivity : float or array_like, optional
        The most one record moves the answer, > 0.
    noise : {"laplace", "gaussian"}, optional
        Follows from the size given, else Laplace.
    calibration : {"analytic", "classical"}, default 'analytic'
        How σ follows from ε and δ.
    fpr : float, default 0.05
        Share of false alarms accepted, in (0, 1).
    side : {"both", "above", "below"}, default 'both'
        Where false records would push the answer.
    bias : float, optional
        What false records would add, for the power.
    stretch : float, default 1.0
        Scale of the noise under H1 over that under H0, > 0.

    Returns
    -------
    iterator of Detection
        Each verdict is final.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> [d.alarm for d in watch([(101.0, 100.0), (99.0, 100.0), (130.0, 100.0)], epsilon=1.0)]
    [False, False, True]
    """
    level, moved, theta = _checked_options(fpr, side, bias, stretch)
    made = _detection_noise(
        sensitivity, epsilon=epsilon, scale=scale, sigma=sigma, delta=delta, noise=noise, calibration=calibration
    )
    unit = checks.scalar("noise", made.unit)
    if not isinstance(answers, Iterable):
        raise InputError(f"answers is {answers!r:.40}: give pairs (published, expected)", "answers")

    def verdicts() -> Iterator[Detection]:
        for t, answer in enumerate(answers, 1):
            try:
                published, expected = answer
            except (TypeError, ValueError):
                raise InputError(
                    f"answer {t} is {answer!r:.40}: give a pair (published, expected)", "answers"
                ) from None
            seen, true = checks.scalar("published", published), checks.scalar("expected", expected)
            yield _with_adjusted_p(
                _detection(seen, true, (made.kind, unit), side, _alpha_spending(level, t), moved, theta), t
            )

    return verdicts()  # options are checked before the first answer arrives
