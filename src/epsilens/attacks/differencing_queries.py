"""Differencing attacks (paper 001), exactly: the target's secret is read off the difference of noisy answers.

One query covers a set of people with the target, another the same set without. Their true answers differ by ``gap`` if
the target's secret is 1 and by 0 otherwise, so what the adversary sees is one shifted noise, and the optimal guess is a
reading of its trade-off (Theorem D60). The budget ε is shared by the noisy answers; an answer known exactly costs
nothing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import float_or_array
from ..errors import InputError
from ..experiment import Experiment
from ..laws.finite import Finite
from ..laws.laplace import Laplace
from ..laws.normal import Normal
from ..laws.piecewise import ClampedLaw, LaplaceMixture, LaplaceSum, LineLaw, PiecewiseLaw
from ..laws.sums import LaplaceSumShift
from ..mechanisms.builders import vectorized
from ..mechanisms.discrete import MOST_ATOMS, Geometric, GeometricDifference
from ..mechanisms.noise import calibrated_psi
from ..readings.law import Law
from ..worlds import SECRET

_MOST_QUERIES = 64
_MOST_LOSS = 1e4
_LEAST_TOLD = 1e-10  # a log-likelihood ratio that doubles tell from none where pieces of a line are compared
_LEAST_SHARE = 1e-6
_LEAST_DELTA = 1e-290


def differencing(
    *,
    epsilon: ArrayLike,
    gap: ArrayLike = 1.0,
    sensitivity: float = 1.0,
    known: bool = False,
    noise: str = "laplace",
    delta: float | None = None,
    split: float = 0.5,
    queries: int | None = None,
    targets: int = 1,
    calibration: str = "analytic",
) -> Experiment:
    """The attack on count, sum and histogram answers.

    ``gap`` is how far the target moves the answer (1 for a count, their value for a sum), ``targets`` how many people
    the two queries differ by, ``sensitivity`` what the noise is calibrated to. With ``known`` one answer is known
    exactly and the other gets the whole ε; otherwise two noisy answers share it, in the proportion ``split``;
    ``queries`` says how many noisy answers the combination needs when not one or two (each gets an equal share).

    With r = gap/sensitivity, Laplace noise and an even prior, success is 1 − ½e^{−rε/2} (known) and
    1 − ½(1 + rε/8)e^{−rε/4} (two noisy answers).

    Parameters
    ----------
    epsilon : float or array_like
        The budget of the attack's answers, > 0.
    gap : float or array_like, default 1.0
        How far the target moves the answer.
    sensitivity : float, default 1.0
        What the noise is calibrated to, > 0.
    known : bool, default False
        Whether one of the two answers is known exactly.
    noise : {"laplace", "gaussian", "geometric"}, default 'laplace'
        The noise on each answer.
    delta : float, optional
        Of Gaussian noise.
    split : float, default 0.5
        Share of ε for the first answer, in (0, 1).
    queries : int, optional
        Noisy answers that are combined, where not one or two.
    targets : int, default 1
        How many people the answers differ by.
    calibration : {"analytic", "classical"}, default 'analytic'
        How σ follows from ε and δ.

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
    >>> differencing(epsilon=1.0).success(), differencing(epsilon=1.0, known=True).success()
    (0.56192455952..., 0.69673467014...)
    """
    eps = checks.privacy_loss("epsilon", checks.positive("epsilon", epsilon))
    moved = checks.at_least("gap", gap, 0.0) * checks.integer("targets", targets, low=1)
    most = float(checks.positive("sensitivity", checks.scalar("sensitivity", sensitivity)))
    share = float(checks.in_range("split", checks.scalar("split", split), _LEAST_SHARE, 1 - _LEAST_SHARE))
    with np.errstate(over="ignore"):
        apart = np.asarray(moved / most)  # in sensitivities
    checks.broadcastable(epsilon=eps, gap=apart)
    if np.any(eps * apart > _MOST_LOSS):
        raise InputError(
            f"gap is {np.max(moved) / targets:g} for {targets} and a sensitivity of {most:g}: noise hides nothing, "
            f"so give at most {_MOST_LOSS / np.max(eps) * most / targets:g}",
            "gap",
        )
    checks.one_of("noise", noise, ("laplace", "gaussian", "geometric"))
    if not isinstance(known, (bool, np.bool_)):
        raise InputError(f"known is {known!r}: give True if one answer is known exactly, False otherwise", "known")
    count = (1 if known else 2) if queries is None else checks.integer("queries", queries, low=1, high=_MOST_QUERIES)
    if share != 0.5 and count != 2:
        raise InputError(f"split is {share:g} with {count} noisy answers: only two answers can share unevenly", "split")
    if (delta is not None) != (noise == "gaussian"):
        raise InputError("delta belongs to gaussian noise and is needed by it: give it there and only there", "delta")
    law: Law
    if noise == "gaussian":
        law = Normal(_gaussian_shift(eps, apart, delta, share, count, calibration))
    elif noise == "geometric":
        law = _geometric(eps, moved, most, share, count)
    elif count == 1:
        law = Laplace(eps * apart)
    elif share == 0.5:
        law = LaplaceSumShift(count, eps * apart / count)
    else:
        e, d = (
            checks.scalar("epsilon with an uneven split", eps, of="epsilon"),
            checks.scalar("gap with an uneven split", apart, of="gap"),
        )
        if 0 < (largest := e * d * min(share, 1 - share)) < _LEAST_TOLD:
            raise InputError(
                f"epsilon is {e:g} with a split of {share:g}: the largest loss is {largest:.3g}, and two uneven noises "
                f"are told apart from {_LEAST_TOLD:g} on, so raise epsilon or give split=0.5",
                "epsilon",
            )
        b1, b2 = 1 / share, 1 / (1 - share)  # in sensitivities over ε
        law = PiecewiseLaw(LaplaceSum(b1, b2, 0.0), LaplaceSum(b1, b2, e * d))
    told: dict[str, object] = {"epsilon": eps, "gap": moved, "sensitivity": most, "noise": noise, "known": bool(known)}
    told |= {"queries": count, "split": share, "targets": int(targets)}
    told |= {} if delta is None else {"delta": checks.scalar("delta", delta), "calibration": calibration}
    return Experiment(
        law,
        "differencing",
        {k: float_or_array(v) if isinstance(v, np.ndarray) else v for k, v in told.items()},
        worlds=SECRET,
    )


def _gaussian_shift(eps: Any, apart: Any, delta: Any, share: float, count: int, calibration: str) -> Any:
    """gap over the standard deviation of the combination, both in sensitivities: variances add."""
    d = float(checks.in_range("delta", checks.scalar("delta", delta), _LEAST_DELTA, 1 - 2.0**-53))
    shares = [share, 1 - share] if count == 2 else [1 / count] * count

    def scale(e: float) -> float:
        return math.hypot(*(1 / calibrated_psi(s * e, s * d, calibration) for s in shares))

    sigma = np.asarray([scale(float(e)) for e in eps.ravel()]).reshape(eps.shape)
    return np.asarray(apart / sigma)


def _geometric(eps: object, moved: object, most: float, share: float, count: int) -> Finite:
    """Two-sided geometric noise, one answer or the difference of two; whole-number gaps."""
    e = checks.scalar("epsilon with geometric noise", eps, of="epsilon")
    d = checks.integer("gap", float_or_array(moved), low=0, high=MOST_ATOMS)
    if count > 2:
        raise InputError(f"queries is {count}: with geometric noise one or two noisy answers are supported", "queries")
    if count == 1:
        return Geometric(e / most, d).law()
    slow, fast = sorted((share * e / most, (1 - share) * e / most))
    noise = GeometricDifference(slow, fast, d)
    if 2 * noise.width + d > MOST_ATOMS:
        raise InputError(
            f"epsilon is {e:g}: with geometric noise it is too small to enumerate, so use noise='laplace'", "epsilon"
        )
    return noise.law()


def average_epsilon(epsilon: float, n: int) -> float:
    """The true add/remove privacy of "noisy sum over true count, clamped": max(ε, log(n/(n−1)) + ε(n−1)/n), above ε for
    small ε. It is ε only between data sets of the same size.

    >>> average_epsilon(0.1, 2)
    0.74314718055...
    """
    size = checks.integer("n", n, low=2)
    eps = float(checks.positive("epsilon", checks.scalar("epsilon", epsilon)))
    return max(eps, -math.log1p(-1 / size) + eps * (size - 1) / size)


def _checked_bounds(bounds: Any) -> tuple[float, float]:
    """Two numbers, the smaller first, whose distance is a double."""
    try:
        low, high = (checks.scalar("bounds", b) for b in bounds)
    except (TypeError, ValueError):
        raise InputError(f"bounds is {bounds!r}: give two numbers, the smaller first", "bounds") from None
    if not low < high or math.isinf(high - low):
        raise InputError(f"bounds is ({low:g}, {high:g}): give two numbers, the smaller first", "bounds")
    return low, high


@vectorized("epsilon", "n", "value", "mean", "sensitivity")
def differencing_average(
    *,
    epsilon: ArrayLike,
    n: ArrayLike,
    value: ArrayLike,
    mean: ArrayLike,
    bounds: tuple[float, float],
    known: str = "broad",
    sensitivity: ArrayLike | None = None,
    clamp: bool = True,
) -> Experiment:
    """The attack on averages "noisy sum over true count", clamped to the bounds, when one average is known exactly.

    ``known="broad"``: the average ``mean`` of the n people including the target, if they have the secret, is known,
    and the average without the target is published: Lap(mean, b/n) against Lap(mean − (value−mean)/(n−1), b/(n−1)), b
    = R/ε. ``known="narrow"``: the average of the n others is known and the broader one published, with n+1. The two
    scales differ, so even a target at the mean is exposed, and a clamped answer is evidence too; both against the
    paper's text.

    Parameters
    ----------
    epsilon : float or array_like
        The budget of the attack's answers, > 0.
    n : int or array_like
        People behind the known answer.
    value : float or array_like
        The target's value.
    mean : float or array_like
        The known answer.
    bounds : (float, float)
        What values are clamped to.
    known : {"broad", "narrow"}, default 'broad'
        Whether it includes the target.
    sensitivity : float or array_like, optional
        What the noise is calibrated to.
    clamp : bool, default True
        Whether the answer is clamped to the bounds.

    Returns
    -------
    Experiment
        The pair of laws; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.
    """
    checks.one_of("known", known, ("broad", "narrow"))
    if not isinstance(clamp, bool | np.bool_):
        raise InputError(f"clamp is {clamp!r:.40}: give True or False", "clamp", value=clamp)
    size = checks.integer("n", n, low=2 if known == "broad" else 1)
    eps = float(checks.privacy_loss("epsilon", checks.scalar("epsilon", epsilon)))
    a, centre = checks.scalar("value", value), checks.scalar("mean", mean)
    low, high = _checked_bounds(bounds)
    for name, number in (("value", a), ("mean", centre)):
        if not low <= number <= high:
            raise InputError(f"{name} is {number:g}: give a number within the bounds [{low:g}, {high:g}]", name)
    reach = high - low if sensitivity is None else float(checks.positive("sensitivity", sensitivity))
    with np.errstate(over="ignore"):
        most = eps * ((high - low) / np.asarray(reach))
    if not _LEAST_TOLD <= most <= _MOST_LOSS:
        raise InputError(
            f"sensitivity is {reach:g} with an epsilon of {eps:g} and bounds [{low:g}, {high:g}]: give noise between "
            "0.0001 and 1e10 times as wide as the bounds",
            "sensitivity" if sensitivity is not None else "epsilon",
        )
    other = size - 1 if known == "broad" else size + 1
    moved = centre - (a - centre) / other if known == "broad" else centre + (a - centre) / other
    slack = 1e-12 * max(abs(low), abs(high))  # a mean of 1/3 is no double
    if not low - slack <= moved <= high + slack:
        raise InputError(
            f"the other average would be {moved:g}, outside the bounds [{low:g}, {high:g}]: "
            f"a mean of {centre:g} over {size} people cannot include a value of {a:g}"
        )
    moved = min(max(moved, low), high)
    unit = high - low  # the answers are compared in units of the bounds, from the lower one
    line0: LineLaw = LaplaceMixture.at((centre - low) / unit, reach / unit / eps / size)
    line1: LineLaw = LaplaceMixture.at((moved - low) / unit, reach / unit / eps / other)
    if clamp:
        line0, line1 = ClampedLaw(line0, 0.0, 1.0), ClampedLaw(line1, 0.0, 1.0)
    law = PiecewiseLaw(line0, line1, straight=True)
    # the noise was made for a sum that moves by ``reach``, but moves by as much as the bounds are apart
    true = average_epsilon(eps * ((high - low) / reach), max(size, other)) if clamp else math.inf
    parameters = {"epsilon": eps, "n": size, "value": a, "mean": centre, "bounds": (low, high), "known": known}
    parameters |= {"sensitivity": reach, "clamp": bool(clamp)}
    parameters |= {"epsilon_add_remove": true if math.isfinite(true) else None}
    return Experiment(law, "differencing_average", parameters, SECRET, _average_notes(eps, true, high - low > reach))


def _average_notes(eps: float, true: float, narrow: bool) -> tuple[str, ...]:
    """What the ε asked for is not."""
    if true <= eps:
        return ()
    why = "the count it divides by is not protected"
    if math.isinf(true):
        return (f"under add/remove no ε holds of this average, unless it is clamped: {why}",)
    why = f"the bounds are further apart than its sensitivity, and {why}" if narrow else why
    return (f"under add/remove this average is {true:.4g}-DP, not {eps:.4g}-DP: {why}",)


@vectorized("epsilon", "target")
def differencing_median(
    *, epsilon: ArrayLike, values: ArrayLike, target: ArrayLike, bounds: tuple[float, float]
) -> Experiment:
    """The attack on a median published by the exponential mechanism, without and with the target.

    The score of x is −|#{v < x} − n/2|, of sensitivity ½, so the density on the bounds is ∝ e^{ε·score}: constant
    between values, hence a finite pair of cells.

    Parameters
    ----------
    epsilon : float or array_like
        The budget of the attack's answers, > 0.
    values : array_like
        The others' values.
    target : float or array_like
        The target's value.
    bounds : (float, float)
        What values are clamped to.

    Returns
    -------
    Experiment
        The pair of laws; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.
    """
    eps = float(checks.privacy_loss("epsilon", checks.scalar("epsilon", epsilon)))
    others = np.sort(checks.real("values", values).ravel())
    extra = checks.scalar("target", target)
    low, high = _checked_bounds(bounds)
    everyone = np.sort(np.append(others, extra))
    if everyone[0] < low or everyone[-1] > high:
        raise InputError(f"bounds is ({low:g}, {high:g}): give bounds that hold every value and the target", "bounds")
    edges = np.unique(np.concatenate(([low], everyone, [high])))
    middle, width = edges[1:] / 2 + edges[:-1] / 2, np.diff(edges)

    def log_mass(data: Any) -> Any:
        score = -np.abs(np.searchsorted(data, middle) - data.size / 2)
        raw = eps * score + np.log(width)
        top = raw.max()
        return raw - top - math.log(np.exp(raw - top).sum())

    p0, p1 = log_mass(others), log_mass(everyone)
    parameters = {"epsilon": eps, "n": int(others.size), "target": extra, "bounds": (low, high)}
    return Experiment(Finite(p0, p1 - p0), "differencing_median", parameters, SECRET)
