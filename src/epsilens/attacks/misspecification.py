"""An adversary whose knowledge is only approximate (paper 000, §7): a wrong prior, a wrong size of the noise.

Believing a scale b̂ for b, a Laplace log-likelihood ratio comes out b̂/b times too small, a normal one (σ̂/σ)² times. So
the mistaken guess is still a threshold on the true ratio, only at the wrong place: with believed odds ĉ it says H1
where the true log-likelihood ratio exceeds (b̂/b)·log ĉ, or (σ̂/σ)²·log ĉ. At even believed odds the size of the noise
does not matter at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import Array, Number, float_or_array
from ..errors import InputError
from ..experiment import Experiment
from ..laws.laplace import Laplace
from ..laws.normal import Normal
from ..numerics.formatting import json_value
from ..numerics.special import probit_gap
from ..numerics.values import ValueSemantics
from ..readings import guesses
from ..readings.law import Law
from ..results import SentenceResult, ShortResult


@dataclass(frozen=True, eq=False, repr=False)
class Mistaken(ValueSemantics, SentenceResult, ShortResult):
    """What a mistaken adversary reaches, beside one who knows the truth.

    ``fpr``, ``recall``, ``precision`` and ``success`` are of the mistaken guess, under the true prior and noise; the
    ones called ``best_…`` are of the guess that is right most often. ``success`` is never above ``best_success``.
    """

    shown_as = "mistaken"

    prior: Number
    believed_prior: Number
    fpr: Number
    recall: Number
    precision: Number
    success: Number
    best_fpr: Number
    best_recall: Number
    best_precision: Number
    best_success: Number

    @property
    def baseline(self) -> Number:
        """How often the best guess is right without the release."""
        return float_or_array(np.maximum(self.prior, 1 - np.asarray(self.prior)))

    @property
    def lost(self) -> Number:
        """What the mistake costs: best_success − success, at least 0."""
        return float_or_array(np.asarray(self.best_success) - np.asarray(self.success))

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record; a precision is null where nobody is flagged."""
        names = {**vars(self), "baseline": self.baseline, "lost": self.lost}
        return {k: json_value(v) for k, v in names.items()} | {"sentence": self.sentence}


def mistaken(
    experiment: Experiment,
    *,
    prior: ArrayLike = 0.5,
    believed_prior: ArrayLike | None = None,
    believed_noise: ArrayLike | None = None,
) -> Mistaken:
    """The best guess of an adversary who believes a wrong prior, or a wrong scale or σ, evaluated under the truth.

    ``believed_noise`` is in the units of the experiment's own scale (Laplace) or standard deviation (Gaussian); it
    matters only beside a believed prior that is not even. Ties count as H0.

    Parameters
    ----------
    experiment : Experiment
        The pair of laws of the release.
    prior : float or array_like, default 0.5
        Probability of H1 before the release, in [0, 1].
    believed_prior : float or array_like, optional
        What the adversary takes it for; `prior` unless given.
    believed_noise : float or array_like, optional
        What they take the noise for, in its own units.

    Returns
    -------
    Mistaken
        How often that guess is right, beside the best one; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> import epsilens as el
    >>> m = mistaken(el.laplace(epsilon=2.0), prior=0.2, believed_prior=0.5)
    >>> round(m.success, 6), round(m.best_success, 6)
    (0.81606, 0.852848)
    """
    if not isinstance(experiment, Experiment):
        raise InputError(
            f"experiment is {experiment!r:.40}: give what laplace, gaussian and the like return", "experiment"
        )
    truth = checks.probability("prior", prior)
    belief = truth if believed_prior is None else checks.probability("believed_prior", believed_prior)
    factor = np.asarray(1.0) if believed_noise is None else _believed_factor(experiment, believed_noise)
    try:
        truth, belief, factor = np.broadcast_arrays(truth, belief, factor)
    except ValueError:
        raise InputError("prior, believed_prior and believed_noise do not fit: give shapes that broadcast") from None
    experiment.fit(truth)
    with np.errstate(invalid="ignore"):
        fpr, recall = experiment.law.at(factor * guesses.log_odds(belief))
        best_fpr, best_recall = experiment.law.at(guesses.log_odds(truth))
    best = guesses.success(experiment.law, truth)
    # rounding may lift a guess as good as the best above it
    success = np.minimum((1 - truth) * (1 - fpr) + truth * recall, best)
    return Mistaken(
        *(float_or_array(x) for x in (truth, belief, fpr, recall, _precision(truth, fpr, recall), success)),
        *(float_or_array(x) for x in (best_fpr, best_recall, _precision(truth, best_fpr, best_recall), best)),
    )


def _precision(prior: Array, fpr: Array, recall: Array) -> Array:
    """π·recall/(π·recall + (1−π)·fpr); NaN where nobody is flagged."""
    hit, miss = prior * recall, (1 - prior) * fpr
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(hit + miss > 0, hit / (hit + miss), np.nan))


def _believed_factor(e: Experiment, believed: object) -> Array:
    """By how much the believed log-likelihood ratio must be multiplied to be the true one."""
    noise = checks.positive("believed_noise", believed)
    sizes: dict[type[Law], str] = {Laplace: "scale", Normal: "sigma"}
    name = sizes.get(type(e.law), "")
    if name not in e.parameters:
        raise InputError(
            f"{e.name} has no single size of noise to be mistaken about: give laplace or gaussian noise, "
            "or leave out believed_noise",
            "believed_noise",
        )
    size = np.asarray(e.parameters[name], dtype=float)
    checks.broadcastable(believed_noise=noise, **{name: size})
    with np.errstate(over="ignore"):
        ratio = noise / size
        value = ratio if name == "scale" else ratio * ratio
    if not np.all(np.isfinite(value) & (value > 0)):
        raise InputError(
            f"believed_noise is {np.min(noise):g}: give one nearer the true {name} {np.min(size):g}", "believed_noise"
        )
    return np.asarray(value)


# A realistic adversary (paper 000, §5.3.1): the least privacy loss consistent with an attack that was seen to work.
#
# No attack beats the optimal one, so a false-positive and a true-positive rate that were reached lie under the ROC
# curve of the mechanism. The mechanism whose curve passes through the point has the least ε (or ψ) that could have let
# it happen: a lower bound on the privacy loss. For any ε-DP release at all the curve is randomised response's.


@dataclass(frozen=True, eq=False, repr=False)
class Observed(ValueSemantics, SentenceResult, ShortResult):
    """The least losses consistent with an observed attack; infinite where no finite one is.

    ``laplace`` is the least ε of Laplace noise, ``gaussian`` the least ψ of normal noise, ``pure`` the least ε of any
    ε-DP release and ``approximate`` of any (ε, δ)-DP release with the given ``delta`` (the same as ``pure`` for 0).
    ``flipped`` says that the attack was worse than chance, so that its opposite was used.
    """

    shown_as = "observed"

    fpr: Number
    tpr: Number
    flipped: Any
    laplace: Number
    gaussian: Number
    pure: Number
    approximate: Number
    delta: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record; null where no finite loss is consistent."""
        return {k: json_value(v) for k, v in vars(self).items()} | {"sentence": self.sentence}


def observed(
    *,
    fpr: ArrayLike | None = None,
    tpr: ArrayLike | None = None,
    precision: ArrayLike | None = None,
    recall: ArrayLike | None = None,
    prior: ArrayLike = 0.5,
    delta: float = 0.0,
) -> Observed:
    """The least ε (or ψ) for which an attack can reach these rates.

    Say what was seen by ``fpr`` and ``tpr``, or by ``precision`` and ``recall`` at a ``prior``. The rates are taken as
    the attack's true ones: for estimates from a sample, pass the ends of the confidence intervals nearest to chance.

    Parameters
    ----------
    fpr : float or array_like, optional
        False-positive rate.
    tpr : float or array_like, optional
        True-positive rate.
    precision : float or array_like, optional
        Instead of these, with `recall`.
    recall : float or array_like, optional
        True-positive rate.
    prior : float or array_like, default 0.5
        Probability of H1 before the release, in [0, 1].
    delta : float, default 0.0
        The δ at which ε is read.

    Returns
    -------
    Observed
        The least ε of each noise, and ψ; exact for exact rates.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> o = observed(fpr=0.1, tpr=0.2718281828459045)
    >>> round(o.laplace, 12), round(o.pure, 12), round(o.gaussian, 6)
    (1.0, 1.0, 0.674258)
    >>> round(observed(precision=0.855806246191, recall=0.271828182846, prior=1 / 1.458).laplace, 9)
    1.0
    """
    pairs = (fpr is None) == (tpr is None) and (precision is None) == (recall is None)
    if not pairs or (fpr is None) == (precision is None):
        raise InputError("what was observed is one of two pairs: give fpr and tpr, or precision and recall")
    left_out = float(checks.probability("delta", checks.scalar("delta", delta)))
    if fpr is not None:
        assert tpr is not None
        false, true = checks.probability("fpr", fpr), checks.probability("tpr", tpr)
    else:
        assert precision is not None
        assert recall is not None
        true = checks.probability("recall", recall)
        false = _implied_fpr(
            checks.probability("precision", precision), true, checks.probability("prior", prior, closed=False)
        )
    try:
        false, true = np.broadcast_arrays(false, true)
    except ValueError:
        raise InputError("the two rates do not fit together: give shapes that broadcast") from None
    flipped = true < false
    # answering the opposite turns a bad attack into a good one
    alpha, miss_alpha = np.where(flipped, 1 - false, false), np.where(flipped, false, 1 - false)
    hit, miss = np.where(flipped, 1 - true, true), np.where(flipped, true, 1 - true)
    gap = np.abs(true - false)
    return Observed(
        float_or_array(false),
        float_or_array(true),
        bool(flipped) if np.ndim(flipped) == 0 else flipped,
        float_or_array(_laplace(alpha, miss_alpha, hit, miss, gap)),
        float_or_array(_normal(alpha, miss, gap)),
        float_or_array(_approximate_dp(alpha, miss_alpha, hit, miss, gap, 0.0)),
        float_or_array(_approximate_dp(alpha, miss_alpha, hit, miss, gap, left_out)),
        left_out,
    )


def _implied_fpr(precision: Array, recall: Array, prior: Array) -> Array:
    """α = π·R·(1−p)/(p·(1−π)): what precision, recall and prior say about the false-positive rate."""
    try:
        precision, recall, prior = np.broadcast_arrays(precision, recall, prior)
    except ValueError:
        raise InputError("precision, recall and prior do not fit: give shapes that broadcast") from None
    if np.any(recall == 0):
        raise InputError("recall is 0: nobody was found, so precision says nothing; give fpr and tpr instead", "recall")
    with np.errstate(divide="ignore", over="ignore"):
        alpha = prior * recall * (1 - precision) / (precision * (1 - prior))
        least = prior * recall / (prior * recall + (1 - prior))
    bad = alpha > 1 + 1e-12
    if bad.any():
        where = np.unravel_index(int(np.argmax(bad)), bad.shape)
        raise InputError(
            f"precision is {float(precision[where]):.6g} at recall {float(recall[where]):.6g}, which no attack has at "
            f"a prior of {float(prior[where]):.6g}: flagging everyone else too leaves {float(least[where]):.6g}, "
            "so correct one of them",
            "precision",
        )
    return np.asarray(np.minimum(alpha, 1.0))


def _log_ratio(a: Array, b: Array, gap: Array) -> Array:
    """log(a/b) for a ≥ b with a − b = gap, precise where they nearly agree; 0 where both vanish."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        value = np.where(gap < 0.5 * b, np.log1p(gap / b), np.log(a) - np.log(b))
    return np.where(gap == 0, 0.0, value)


def _laplace(alpha: Array, rest: Array, hit: Array, miss: Array, gap: Array) -> Array:
    """log(R/α) up to R = ½; −log(4α(1−R)) across; log((1−α)/(1−R)) from α = ½."""
    with np.errstate(divide="ignore"):
        across = -(np.log(4.0) + np.log(alpha) + np.log(miss))
        # near α = R = ½ the product is near ¼: 4α(1−R) = (1−2x)(1−2y), x = ½−α, y = R−½
        near = -(np.log1p(-2 * (0.5 - alpha)) + np.log1p(-2 * (hit - 0.5)))
    across = np.where((alpha > 0.25) & (hit < 0.75), near, across)
    value = np.where(hit <= 0.5, _log_ratio(hit, alpha, gap), across)
    value = np.where(alpha >= 0.5, _log_ratio(rest, miss, gap), value)
    return np.asarray(np.where(gap == 0, 0.0, np.maximum(value, 0.0)))


def _normal(alpha: Array, miss: Array, gap: Array) -> Array:
    """Φ⁻¹(R) − Φ⁻¹(α)."""
    certain = (alpha == 0) | (miss == 0)
    usable = ~certain & (gap > 0)
    low = alpha <= miss  # measured from the side with the smaller masses
    small = np.where(usable, np.where(low, alpha, miss), 0.25)
    other = np.where(usable, np.where(low, miss, alpha), 0.25)
    value = probit_gap(small, np.where(usable, gap, 0.5), other)
    return np.asarray(np.where(gap == 0, 0.0, np.where(certain, np.inf, np.maximum(value, 0.0))))


def _approximate_dp(alpha: Array, rest: Array, hit: Array, miss: Array, gap: Array, delta: float) -> Array:
    """max(log((R−δ)/α), log((1−α−δ)/(1−R)), 0): both sides of the (ε, δ)-DP region."""
    over = gap - delta  # R − δ − α, the same on both sides
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        up = np.where(over < 0.5 * alpha, np.log1p(over / alpha), np.log(hit - delta) - np.log(alpha))
        down = np.where(over < 0.5 * miss, np.log1p(over / miss), np.log(rest - delta) - np.log(miss))
    return np.asarray(np.where(over <= 0, 0.0, np.fmax(np.fmax(up, down), 0.0)))
