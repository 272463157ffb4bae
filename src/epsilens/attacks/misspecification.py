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

    >>> import epsilens as el
    >>> m = mistaken(el.laplace(epsilon=2.0), prior=0.2, believed_prior=0.5)
    >>> round(m.success, 6), round(m.best_success, 6)
    (0.81606, 0.852848)
    """
    if not isinstance(experiment, Experiment):
        raise InputError(
            f"experiment is {experiment!r:.40}: give what laplace, gaussian and the like return", parameter="experiment"
        )
    truth = checks.probability("prior", prior)
    belief = truth if believed_prior is None else checks.probability("believed_prior", believed_prior)
    factor = np.asarray(1.0) if believed_noise is None else _factor(experiment, believed_noise)
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


def _factor(e: Experiment, believed: Any) -> Array:
    """By how much the believed log-likelihood ratio must be multiplied to be the true one."""
    noise = checks.positive("believed_noise", believed)
    sizes: dict[type[Law], str] = {Laplace: "scale", Normal: "sigma"}
    name = sizes.get(type(e.law), "")
    if name not in e.parameters:
        raise InputError(
            f"{e.name} has no single size of noise to be mistaken about: give laplace or gaussian noise, "
            "or leave out believed_noise",
            parameter="believed_noise",
        )
    size = np.asarray(e.parameters[name], dtype=float)
    checks.broadcastable(believed_noise=noise, **{name: size})
    with np.errstate(over="ignore"):
        ratio = noise / size
        value = ratio if name == "scale" else ratio * ratio
    if not np.all(np.isfinite(value) & (value > 0)):
        raise InputError(
            f"believed_noise is {np.min(noise):g}: give one nearer the true {name} {np.min(size):g}",
            parameter="believed_noise",
        )
    return np.asarray(value)
