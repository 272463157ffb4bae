"""Batches as they are really drawn: of fixed size, cut to a largest size, or one after the other from shuffled data.

Distances are in clipping norms, q = batch/n, and all others may pull against the person. Theorems D13 to D19 of
docs/proofs/dominating-pairs.md say of each way what bounds it, and what attains it.

Poisson sampling is the batch that every record joins by its own coin. **Add/remove**: the person is in the data or not,
H0 against (1−q)·H0 + q·H1 (Zhu, Dong & Wang 2022). **Replace**: the person's record has one value or another, and both
were drawn with probability q.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, erf, log_ndtr, logsumexp, ndtri_exp

from .. import checks
from ..checks import Array
from ..errors import InputError
from ..experiment import Experiment, product_factor
from ..laws.composition.composed_law import WIDTH, ComposedLaw
from ..laws.composition.step import Atoms, Composable, CountedStep, NoiseKind, Step
from ..laws.composition.wrappers import (
    Inclusion,
    LabelledMixture,
    LabelledSampleStep,
    LeakyH0Step,
    SampledStep,
    SymmetrizedStep,
)
from ..laws.finite import Finite, FiniteStep
from ..laws.laplace import LaplaceReplacementStep
from ..laws.mixture import draws_step, mixture_step
from ..laws.normal import KnownShiftStep, Normal, NormalReplacementStep, NormalStep
from ..laws.product import TwoSidedBound, factor_steps, strongest_attack, width_of
from ..numerics.special import log_binomial
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


def require_any_table(part: Experiment) -> None:
    """Refuse the pair of one table's scores or values: of a sample, or once others have left, it is another."""
    scored = part.origin == "exponential" and "outcomes" in part.parameters
    if scored or part.origin in ("differencing_median", "differencing_average"):
        instead = "leave out its scores" if scored else "build it for the tables that are left"
        raise InputError(f"{part.name} is of one table, and of fewer people the answer has another law: {instead}")


def _sampled_step(experiment: Experiment, rate: float, neighbours: Relation) -> tuple[Step, SamplingKnowledge]:
    swaps = experiment.worlds.replaces
    parts = [part for part, _ in experiment.parts or ((experiment, 1),)]
    if any(part.origin == "shuffled" or "batches" in part.parameters for part in parts):  # Theorem D22
        few = "what this release hides rests on how many people take part, which a sample changes"
        raise InputError(f"{few}: read that of as few people as a sample may have, without a rate")
    if any("people" in part.parameters for part in parts):
        raise InputError("of a group each record takes part by a coin of its own: subsample first, then group")
    for part in parts:
        require_any_table(part)
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


_NEARLY_ALL = 1 - 1e-6  # of everybody in a batch: as if all were
_LEAST_SHARE = 1e-290
_BELOW, _ABOVE = 60.0, 9.0  # where the largest sum is looked at: e^−60 of its mass lies below, 9σ above the person's
_CUTS_ONCE, _CUTS = 4000, 1500  # of one epoch, which is exact, and of several
_UNSEEN = -740.0  # log mass
_MOST_UNEVEN = 16  # kinds of passes within which the noise changes that are composed one by one
_ROUNDED = 1e-11  # of the masses between two cuts, relative


class Batches(StrEnum):
    """How the batch of a step is drawn."""

    POISSON = "poisson"
    FIXED = "fixed"
    WITH_REPLACEMENT = "with replacement"
    TRUNCATED = "truncated"
    SHUFFLED = "shuffled"


@dataclass(frozen=True)
class ScheduleSegment:
    """Steps that are alike: σ, the share of people a batch has, how many; of n people, ``batch`` at a time.

    ``truncation`` is the largest batch.
    """

    sigma: float
    rate: float
    steps: int
    n: int = 0
    batch: int = 0
    truncation: int = 0


def merge_steps(rows: Sequence[tuple[Step, int]]) -> list[CountedStep]:
    """Equal steps counted together."""
    counted: dict[Step, int] = {}
    for step, k in rows:
        counted[step] = counted.get(step, 0) + k
    return list(counted.items())


def poisson_step(mu: float, rate: float, neighbours: Relation, inclusion: Inclusion = Inclusion.COINS) -> Step:
    """A step whose batch every record joins by its own coin, or seen alone as if by one."""
    if neighbours is Relation.REPLACE:
        return NormalStep(2 * mu) if rate == 1 else NormalReplacementStep(mu, rate, inclusion)
    return NormalStep(mu) if rate == 1 else SampledStep(NormalStep(mu), rate, inclusion)


def fixed_batches_law(rows: Sequence[ScheduleSegment], neighbours: Relation, width: float) -> Law:
    """Each batch is so many records, drawn anew without replacement: Theorems D13 and D15."""
    loose = neighbours is Relation.ADD_REMOVE and _leaves_too_few(rows, 1)
    if all(row.rate == 1 for row in rows):
        far = 2 * math.sqrt(math.fsum(row.steps / row.sigma**2 for row in rows))
        return Normal(np.asarray(far), known=Exactness.BOUND if loose else Exactness.EXACT)
    how = Relation.ADD_REMOVE, Inclusion.FIXED_SIZE
    steps = merge_steps([(poisson_step(2 / row.sigma, row.rate, *how), row.steps) for row in rows])
    each = ComposedLaw(steps, width, bound=loose)
    if neighbours is Relation.ADD_REMOVE:
        return each
    bound = ComposedLaw(
        merge_steps([(_symmetrized_step(2 / row.sigma, row.rate), row.steps) for row in rows]), width, bound=True
    )
    return TwoSidedBound((bound,), attained=strongest_attack((each.other_side(), each.reverse().other_side())))


def _leaves_too_few(rows: Sequence[ScheduleSegment], people: int) -> bool:
    """Whether without them fewer are there than a batch holds: then nobody takes their place, and it is smaller."""
    return any(row.rate == 1 or 0 < row.n < row.batch + people for row in rows)


def _symmetrized_step(mu: float, rate: float) -> Step:
    """The worst of both orders of (1−q)N(0) + qN(μ) against N(0); where nearly all are drawn, as if all were."""
    if rate >= _NEARLY_ALL:
        return NormalStep(mu)
    return SymmetrizedStep(SampledStep(NormalStep(mu), rate), (1 - rate) * math.erf(mu / math.sqrt(8)))


def truncated_batches_law(rows: Sequence[ScheduleSegment], neighbours: Relation, width: float) -> Law:
    """Poisson batches of which at most so many records are kept."""
    parameters, plain = [], []
    for row in rows:
        mu = 1 / row.sigma
        full, rate = _overflow_rates(row)
        usual = poisson_step(mu, row.rate, neighbours)
        if not full:
            parameters.append((usual, row.steps))
            plain.append((usual, row.steps))
            continue
        share = min(max(full, _LEAST_SHARE), 1.0)
        crowded = poisson_step(2 * mu, rate, neighbours, Inclusion.UNKNOWN)
        step = LabelledMixture(((usual, 1 - share), (crowded, share))) if share < 1 else crowded
        parameters.append((step, row.steps))
        kept = row.rate * (1 - share) + rate * share
        plain.append((poisson_step(mu, min(kept, 1.0), neighbours), row.steps))
    below = ComposedLaw(merge_steps(plain), width)
    if parameters == plain:
        return below
    return TwoSidedBound((ComposedLaw(merge_steps(parameters), width, bound=True),), attained=below.other_side())


def _overflow_rates(row: ScheduleSegment) -> tuple[float, float]:
    """(τ, q′): the probability that the others fill the batch, and then of being in it."""
    n, b, q = row.n, row.truncation, row.rate
    if b > n - 1:
        return 0.0, 0.0
    if q == 1:
        return 1.0, b / n
    full = float(betainc(b, n - b, q))  # P(Bin(n−1, q) ≥ B)
    most = q * b / (b + 1)
    if full < _LEAST_SHARE:
        return _LEAST_SHARE, most
    return full, min(float(betainc(b + 1, n - b, q)) * b / (n * full), most)


@dataclass(frozen=True)
class _EpochPass:
    """``count`` passes alike over n people: (σ, steps) one after the other, fewer than all where the training ends."""

    n: int
    batch: int
    parts: tuple[tuple[float, int], ...]
    count: int = 1

    @property
    def steps(self) -> int:
        """Batches of a whole pass."""
        return -(-self.n // self.batch)

    @property
    def whole(self) -> bool:
        """Whether everybody was in it."""
        return sum(k for _, k in self.parts) == self.steps

    @property
    def shares(self) -> dict[float, float]:
        """How many people were in steps of each σ; the last batch may be smaller."""
        result: dict[float, float] = {}
        seen = 0
        for sigma, k in self.parts:
            next_ = min(seen + k * self.batch, self.n)
            result[sigma] = result.get(sigma, 0.0) + next_ - seen
            seen = next_
        return result

    @property
    def loudest(self) -> float:
        """The least σ."""
        return min(sigma for sigma, _ in self.parts)

    def step(self, distance: float) -> Step:
        """What an adversary sees who is told in which of its steps the person is; as if they surely were in one."""
        shares = sorted(self.shares.items(), reverse=True)
        return KnownShiftStep(tuple(distance / s for s, _ in shares), tuple(math.log(k / self.n) for _, k in shares))


def _epoch_passes(rows: Sequence[ScheduleSegment]) -> list[_EpochPass]:
    """The passes of a training, which go on from row to row while n and batch stay."""
    result = []
    for (n, batch), part in groupby(rows, key=lambda row: (row.n, row.batch)):
        under_way: list[tuple[float, int]] = []
        for row in part:
            left, whole = row.steps, -(-n // batch)
            if under_way:
                taken = min(left, whole - sum(k for _, k in under_way))
                under_way.append((row.sigma, taken))
                left -= taken
                if sum(k for _, k in under_way) == whole:
                    result.append(_EpochPass(n, batch, tuple(under_way)))
                    under_way = []
            if left >= whole:
                result.append(_EpochPass(n, batch, ((row.sigma, whole),), left // whole))
            if left % whole:
                under_way = [(row.sigma, left % whole)]
        if under_way:
            result.append(_EpochPass(n, batch, tuple(under_way)))
    return result


def shuffled_batches_law(rows: Sequence[ScheduleSegment], neighbours: Relation, width: float, people: int = 1) -> Law:
    """Passes over the data, each in a random order of its own; a group may all be in one batch, or one of it pull."""
    distance = people * (2.0 if neighbours is Relation.REPLACE else 1.0)
    passes = _epoch_passes(rows)
    uneven = [one for one in passes if len(one.shares) > 1]
    parameters = merge_steps([(one.step(distance), one.count) for one in uneven])
    if people > 1 or len(parameters) > _MOST_UNEVEN:  # all in the loudest step of each pass
        uneven, parameters = [], []
    shift = distance * math.sqrt(math.fsum(one.count / one.loudest**2 for one in passes if one not in uneven))
    above: Law = Normal(np.asarray(shift), known=Exactness.BOUND)
    if parameters:
        above = ComposedLaw([(NormalStep(shift), 1), *parameters] if shift else parameters, width, bound=True)
    passes = [one for one in passes if one.whole]
    if not passes:
        return above
    summed = math.fsum(one.count / math.fsum(k * sigma**2 for sigma, k in one.parts) for one in passes)
    result: list[Law] = [Normal(np.asarray(distance * math.sqrt(summed)))]
    alike: dict[tuple[float, int, float], int] = {}
    for one in passes:
        key = (one.loudest, sum(k for sigma, k in one.parts if sigma == one.loudest), one.shares[one.loudest] / one.n)
        alike[key] = alike.get(key, 0) + one.count
    several = sum(alike.values()) > 1
    cuts = {key: _largest_sum_atoms(*key, neighbours, _CUTS if several else _CUTS_ONCE) for key in alike}
    largest: list[Law] = [Finite(*cuts[min(alike)])]  # one epoch alone is exact
    if several:
        largest.append(ComposedLaw([(_atoms_step(*cuts[key]), k) for key, k in alike.items()], width).other_side())
    if neighbours is Relation.REPLACE:  # either value may be the one of H0
        largest += [law.reverse() for law in largest]
    result += largest
    return TwoSidedBound((above,), attained=strongest_attack(tuple(result)))


def _atoms_step(log_p0: Array, llr: Array) -> Step:
    return FiniteStep(Atoms(llr, log_p0 + llr), rho=_ROUNDED)


def _largest_sum_atoms(sigma: float, steps: int, share: float, neighbours: Relation, cuts: int) -> tuple[Array, Array]:
    """(log H0-mass, loss) of the largest of these sums of an epoch, between cuts; with the person, who is in one of
    them with that probability, it is moved by 2.
    """
    mu = 1 / sigma
    u = np.linspace(float(ndtri_exp(-_BELOW / steps)), 2 * mu + _ABOVE, cuts)
    rest = (steps - 1) * log_ndtr(u)
    stays = 0.0 if neighbours is Relation.REPLACE else mu
    with_, without = (_log_interval_masses(_log_mixed(u - moved, u, share) + rest) for moved in (2 * mu, stays))
    return without, with_ - without


def _log_mixed(one: Array, other: Array, share: float) -> Array:
    """log(w·Φ(one) + (1−w)·Φ(other)), by what is missing to 1 where that is less."""
    if share >= 1:
        return np.asarray(log_ndtr(one))
    parts = math.log(share), math.log1p(-share)
    below, above = (np.logaddexp(parts[0] + log_ndtr(s * one), parts[1] + log_ndtr(s * other)) for s in (1, -1))
    return np.asarray(np.where(above < below, np.log1p(-np.exp(np.minimum(above, -1e-9))), below))


def _log_interval_masses(log_below: Array) -> Array:
    """log masses between cuts, and beyond the outermost, from the log masses below them; never less than doubles hold.

    What is too small to be seen counts as just as unlikely under both laws, which tells nothing.
    """
    low, high = np.concatenate(([-np.inf], log_below)), np.append(log_below, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.maximum(high + np.log(-np.expm1(low - high)), _UNSEEN))


# Releases that move by a random distance: mixtures of normals, and batches in which people take the place of others.
#
# A mixture, H0 = N(0, σ²) and H1 = Σ w_j·N(c_j, σ²), dominates vectors whose norms are c_j: Lemma D4 of
# docs/proofs/dominating-pairs.md. dp-accounting calls it ``MixtureOfGaussiansDpEvent``. Whoever is drawn into a batch
# takes another's place, who may pull the other way: Theorems D13, D16 and D17.

_SLACK = 1e-9  # of weights that are to sum to 1
_HARDLY = 1e-6  # the chance that a batch holds none of a group, below which it is taken to hold all
_HALF, _MUCH = 0.5, 0.2  # of a batch that holds several; how often in all, before another bound is tried
_NOTHING = -700.0  # log mass


@vectorized("sigma")
def mixture(
    *,
    shifts: ArrayLike,
    weights: ArrayLike,
    sigma: ArrayLike,
    width: float | None = None,
    neighbours: str = "add-remove",
) -> Experiment:
    """Normal noise ``sigma`` on an answer that a person moves by one of ``shifts``, each with its weight.

    Which one it is must not depend on the noise, is not told, and is drawn anew for every release. The shifts are
    distances, or norms of vectors: the pair on a line dominates them. Weights sum to 1; shifts of 0 say that the person
    does not count.

    Parameters
    ----------
    shifts : array_like
        How far a person may move the answer, each at least 0.
    weights : array_like
        Probability of each shift, summing to 1.
    sigma : float or array_like
        Standard deviation > 0 of the noise.
    width : float, optional
        Relative width asked of each reading's bracket; 0.001 unless given.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.

    Returns
    -------
    Experiment
        The pair of laws; readings lie in a bracket and are its riskier end.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> e = mixture(shifts=[0, 1, 2], weights=[0.81, 0.18, 0.01], sigma=2.0)  # two people, each drawn 1 time of 10
    >>> round(e.repeat(100).epsilon(delta=1e-5), 2)
    5.18
    """
    moved = checks.in_range("shifts", shifts, 0.0, 1e150)
    share = checks.probability("weights", weights)
    if moved.ndim != 1 or share.shape != moved.shape or not moved.size:
        raise InputError(
            f"shifts has shape {moved.shape}, weights {share.shape}: give two lists of one length", "weights"
        )
    total = math.fsum(share.tolist())
    if abs(total - 1) > _SLACK:
        raise InputError(f"weights sum to {total:.10g}: give probabilities that sum to 1", "weights")
    noise = float(checks.positive("sigma", checks.scalar("sigma", sigma)))
    asked = WIDTH if width is None else width_of(width)
    neighbours = parse_relation(neighbours)
    worlds = worlds_of_relation(neighbours)
    parameters: dict[str, object] = {"shifts": moved.tolist(), "weights": share.tolist(), "sigma": noise}
    if width is not None:
        parameters["width"] = asked
    parameters["neighbours"] = neighbours.value
    live = share > 0
    c, where = np.unique(moved[live] / noise, return_inverse=True)
    w = np.bincount(where, weights=share[live])
    if c.size == 1:
        return Experiment(Normal(c[0]), "mixture", parameters, worlds, ("one shift: exact",))
    if c[1] < 1e-12 or c[-1] > 1e6:
        raise InputError(
            f"shifts are {c[c > 0][0]:.3g} to {c[-1]:.3g} times sigma: give some from 1e-12 to 1e6 times", "shifts"
        )
    note = (
        f"a mixture of normals: each value is the safe end of a proven bracket, {asked:.3g} wide where that is reached"
    )
    return Experiment(ComposedLaw([(mixture_step(c, np.log(w)), 1)], asked), "mixture", parameters, worlds, (note,))


def substitution_law(
    rows: Sequence[ScheduleSegment], neighbours: Relation, width: float, people: int, again: bool
) -> Law:
    """Batches of fixed size in which some of a group take the place of others; ``again`` if drawn with replacement."""
    steps = merge_steps([(_membership_step(row, people, again), row.steps) for row in rows])
    loose = neighbours is Relation.ADD_REMOVE and not again and _leaves_too_few(rows, people)
    if all(isinstance(step, NormalStep) for step, _ in steps):
        far = math.sqrt(math.fsum(k * step.shift**2 for step, k in steps))
        return Normal(np.asarray(far), known=Exactness.BOUND if loose else Exactness.EXACT)
    each = ComposedLaw(steps, width, bound=loose)
    if neighbours is Relation.ADD_REMOVE:
        return each
    used = [[(_leaky_step(row, people, again), row.steps) for row in rows]]
    lost = any(isinstance(step, SymmetrizedStep) and step.overfull for step, _ in used[0])
    if lost or math.fsum(row.steps * _multiple_probability(row, people, again) for row in rows) > _MUCH:
        used = used[lost:]
        used.append([(_convexity_step(row, people, again), row.steps) for row in rows])
    far = math.sqrt(math.fsum(row.steps * (2 * _largest_overlap(row, people, again) / row.sigma) ** 2 for row in rows))
    # where nothing is left to chance they are what comes last
    used = [counted for counted in used if not all(isinstance(step, NormalStep) for step, _ in counted)]
    bounds = (
        *(ComposedLaw(merge_steps(counted), width, bound=True) for counted in used),
        Normal(np.asarray(far), known=Exactness.BOUND),  # as if every batch held all of the group
    )
    return TwoSidedBound(bounds, attained=strongest_attack((each.other_side(), each.reverse().other_side())))


def _membership_step(row: ScheduleSegment, people: int, again: bool) -> Step:
    """N(0) against Σ w_j·N(2j)."""
    mu = 2 / row.sigma
    if again:
        return draws_step(mu, _group_share(row, people), row.batch)
    j, log_w = _overlap_distribution(row, people, again)
    return mixture_step(mu * j, log_w) if j.size > 1 else NormalStep(mu * float(j[0]))


def _leaky_step(row: ScheduleSegment, people: int, again: bool) -> Step:
    """The fold of N(0) against Σ w_j·N(2j) that lost what several of a group in one batch weigh."""
    several = _multiple_probability(row, people, again)
    step = _membership_step(row, people, again)
    if several >= _HALF or isinstance(step, NormalStep):
        return NormalStep(2 / row.sigma * _largest_overlap(row, people, again))
    return SymmetrizedStep(LeakyH0Step(step, several) if several > 0 else step)


def _convexity_step(row: ScheduleSegment, people: int, again: bool) -> Step:
    """The fold of (1−q)N(0) + qN(2j) against N(0), told apart."""
    j, log_w = _overlap_distribution(row, people, again)
    none = math.exp(float(log_w[0])) if j[0] == 0 else 0.0
    moving = (j > 0) & (log_w > _NOTHING)
    shifts = 2 / row.sigma * j[moving]
    if none < _HARDLY:  # as if all of them were in it
        return NormalStep(2 / row.sigma * float(j[-1]))
    step = KnownShiftStep(tuple(shifts.tolist()), tuple(log_w[moving].tolist()))
    rest = float(np.exp(log_w[moving] - logsumexp(log_w[moving])) @ erf(shifts / math.sqrt(8)))
    return SymmetrizedStep(SampledStep(step, 1 - none), none * rest)


def _largest_overlap(row: ScheduleSegment, people: int, again: bool) -> int:
    """How many of a group a batch holds at most."""
    return row.batch if again else min(row.batch, people)


def _multiple_probability(row: ScheduleSegment, people: int, again: bool) -> float:
    """The chance that it holds more than one."""
    j, log_w = _overlap_distribution(row, people, again)
    return float(np.exp(log_w[j > 1]).sum())


def _group_share(row: ScheduleSegment, people: int) -> float:
    if people >= row.n:
        raise InputError(f"people is {people}, of n = {row.n}: give a group that leaves others", "people")
    return people / row.n


def _overlap_distribution(row: ScheduleSegment, people: int, again: bool) -> tuple[Array, Array]:
    """How many of a group a batch holds, and the logarithms of how likely that is."""
    share, n, b = _group_share(row, people), row.n, row.batch
    if again:
        j = np.arange(0.0, b + 1)
        return j, log_binomial(b, j, share)
    j = np.arange(float(max(0, b + people - n)), min(b, people) + 1)
    p = b / n
    if b == n:
        return j, np.zeros(j.size)
    return j, log_binomial(people, j, p) + log_binomial(n - people, b - j, p) - log_binomial(n, b, p)
