"""Poisson sampling: a release computed on a sample that every record joins by its own coin.

**Add/remove**: the person is in the data or not, H0 against (1−q)·H0 + q·H1 (Zhu, Dong & Wang 2022). **Replace**: the
person's record has one value or another, and both were drawn with probability q.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import InputError
from ..experiment import Experiment, product_factor
from ..laws.composition.composed_law import WIDTH, ComposedLaw
from ..laws.composition.step import Composable, NoiseKind, Step
from ..laws.composition.wrappers import LabelledSampleStep, SampledStep
from ..laws.finite import Finite, FiniteStep
from ..laws.laplace import LaplaceReplacementStep
from ..laws.normal import NormalReplacementStep
from ..laws.product import factor_steps, width_of
from ..readings.law import Exactness, Law
from ..worlds import Relation, parse_relation, worlds_of_relation
from .builders import vectorized, with_provenance

_LEAST_RATE = 1e-12
#: Both records may pull in opposite directions, each as far as one can.
_REPLACED = {NoiseKind.NORMAL: NormalReplacementStep, NoiseKind.LAPLACE: LaplaceReplacementStep}


class SamplingKnowledge(StrEnum):
    """What is known of a release computed on a sample."""

    FINITE = "finite"  # atoms stay atoms
    MIXED = "mixed"  # H1 is mixed with H0
    OPPOSITE = "opposite"  # two records, each as far away as one can be
    TOLD = "told"  # whether the record was drawn is given away, for want of anything better
    CLAIM = "claim"  # what was sampled is only known by a bound itself


_NOTES = {
    SamplingKnowledge.FINITE: "Poisson sampling of a finite pair: exact",
    SamplingKnowledge.MIXED: "Poisson sampling: the safe end of a proven bracket",
    SamplingKnowledge.OPPOSITE: "the two records may pull in opposite directions, each as far as one can",
    SamplingKnowledge.TOLD: "an upper bound: the adversary is told whether the record was drawn",
    SamplingKnowledge.CLAIM: "Poisson sampling of a bound: an upper bound, as {} is one; nothing is known from below",
}


def sampling_relation(neighbours: object) -> Relation:
    """The neighbouring relation, also as it is often written, with a stroke."""
    return parse_relation("add-remove" if str(neighbours) == "add/remove" else neighbours)


def sampling_rate(value: object) -> float:
    """A probability of being drawn: 0, or large enough to be counted with."""
    rate = float(checks.probability("rate", checks.scalar("rate", value)))
    if 0 < rate < _LEAST_RATE:
        raise InputError(f"rate is {rate:g}: give 0, or a probability of at least {_LEAST_RATE:g}", "rate")
    return rate


@vectorized("rate")
@with_provenance
def subsample(
    experiment: Experiment, rate: ArrayLike, *, neighbours: str = "add-remove", width: float | None = None
) -> Experiment:
    """The release computed on a Poisson sample: every record takes part with probability ``rate``.

    The experiment says what one person does who is drawn: H0 without them, H1 with them. The sample is this release's
    own: repeated or composed, every release draws another. Of correlated records each takes part by a coin of its own,
    and the unknown ones keep their values from release to release: exact for few records with finitely many values,
    refused for jointly normal ones.

    Parameters
    ----------
    experiment : Experiment
        The release computed on the sample.
    rate : float or array_like
        Probability in (0, 1] that a record is in the sample.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.
    width : float, optional
        Relative width asked of each reading's bracket; 0.001 unless given.

    Returns
    -------
    Experiment
        The dominating pair. Exact for Laplace, normal and finite noise; an upper bound for bare claims.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    References
    ----------
    Zhu, Dong & Wang (2022), Optimal accounting of differential privacy via characteristic function.

    Examples
    --------
    >>> import epsilens as el
    >>> round(subsample(el.laplace(epsilon=1.0), 0.1).epsilon(), 6)  # log(1 + 0.1·(e − 1))
    0.158565
    """
    if not isinstance(experiment, Experiment):
        raise InputError("subsample needs an experiment: give what laplace, gaussian and the like return")
    q, said = sampling_rate(rate), sampling_relation(neighbours)
    parameters = {"of": experiment.name, "rate": q, "neighbours": said.value}
    worlds = worlds_of_relation(said)
    if q == 0:
        law: Law = Finite(np.zeros(1), np.zeros(1), mirrored=True)
        return Experiment(law, "subsample", parameters, notes=("nobody is ever drawn",), worlds=worlds)
    replaces = said is Relation.REPLACE and experiment.worlds.replaces
    if q == 1 and (replaces or said == experiment.parameters.get("neighbours", "add-remove")):
        return experiment
    if experiment.latent is not None:
        law, latent, note = experiment.latent.sampled(q)
        return Experiment(law, "subsample", parameters, experiment.worlds, (note,), latent=latent)
    step, drawn = _sampled_step(experiment, q, said)
    if experiment.law.known is Exactness.BOUND or not isinstance(experiment.law, Composable):
        drawn = SamplingKnowledge.CLAIM  # a law without steps enters as the worst case of its ε
    bound = drawn in (SamplingKnowledge.TOLD, SamplingKnowledge.CLAIM)
    closed = step.as_law()
    if closed is not None:
        law = closed.as_bound() if bound else closed
    else:
        law = ComposedLaw([(step, 1)], WIDTH if width is None else width_of(width), bound=bound)
    return Experiment(law, "subsample", parameters, notes=(_NOTES[drawn].format(experiment.name),), worlds=worlds)


def _sampled_step(experiment: Experiment, rate: float, neighbours: Relation) -> tuple[Step, SamplingKnowledge]:
    swaps = experiment.worlds.replaces
    steps = factor_steps(product_factor(experiment))
    if len(steps) != 1 or steps[0][1] != 1 or steps[0][0].sampled:
        raise InputError(
            f"{experiment.name} is several releases or sampled already: where each draws a sample of its own, "
            "subsample each and compose; of several releases from one sample nothing is known here"
        )
    step = steps[0][0]
    if neighbours is Relation.ADD_REMOVE:
        if swaps:
            raise InputError(
                "the experiment replaces a record: give one that adds or removes it, or neighbours='replace'"
            )
        if isinstance(step, FiniteStep):
            return step.drawn(rate), SamplingKnowledge.FINITE
        return SampledStep(step, rate), SamplingKnowledge.MIXED
    if not swaps:
        noise = step.noise
        if experiment.law.known is Exactness.EXACT and noise is not None:  # the noise itself, not only a claim about it
            if rate == 1:  # both records are always there, twice as far apart
                return step.group(2), SamplingKnowledge.OPPOSITE
            return _REPLACED[noise.kind](noise.size, rate), SamplingKnowledge.OPPOSITE
        raise InputError(
            f"sampling {experiment.name} with neighbours='replace' needs an experiment that replaces a record: give "
            "Gaussian or Laplace noise, randomized_response, or what a mechanism that takes neighbours='replace' builds"
        )
    if isinstance(step, FiniteStep):
        return step.flagged(rate), SamplingKnowledge.TOLD
    return LabelledSampleStep(step, rate), SamplingKnowledge.TOLD
