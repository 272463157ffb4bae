"""dp-accounting: its events and its privacy-loss distributions, in and out (Theorem D53).

An event names a mechanism and its parameters; the relation of neighbours is told apart from it. Noise is in norms of
one record, so that a record replaced by another moves a sum by two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from ..checks import Array
from ..errors import InputError, require, type_phrase
from ..experiment import Experiment, product_factor, require_independent
from ..laws.composition.composed_law import WIDTH
from ..laws.composition.step import NoiseKind, StepNoise
from ..laws.envelope import Envelope, envelope
from ..laws.product import factor_steps, width_of
from ..mechanisms.batches import ScheduleSegment, mixture, subsample, truncated_batches_law
from ..mechanisms.claims import from_dp, from_zcdp
from ..mechanisms.composition import compose
from ..mechanisms.discrete import approximate, discrete_gaussian, geometric, pure, randomized_response
from ..mechanisms.matrix_factorization import tree
from ..mechanisms.noise import gaussian, laplace
from ..mechanisms.selection import exponential, permute_and_flip, repeat_and_select
from ..mechanisms.training import dpsgd
from ..numerics.special import log_binomial
from ..readings.law import Law
from ..worlds import Relation, parse_relation, worlds_of_relation

if TYPE_CHECKING:
    from dp_accounting.dp_event import DpEvent
    from dp_accounting.pld.pld_pmf import PLDPmf
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

_LOSSES, _MOST_LOSS, _FAINT = 2000, 700.0, 1e-30  # at which a release is read that fixed batches draw


def from_event(event: DpEvent, *, neighbours: str = "add-remove", width: float | None = None) -> Experiment:
    """The experiment of a ``DpEvent``: noise, sampling, claims of zCDP, and any composition of these.

    ``neighbours`` is the relation the accountant would be told: with "replace" one record moves a sum twice as far as
    its norm, and randomised response needs it. Counts are counted for every event.

    Parameters
    ----------
    event : DpEvent
        An event of dp-accounting.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.
    width : float, optional
        Relative width asked of each reading's bracket; 0.001 unless given.

    Returns
    -------
    Experiment
        The pair of laws that dominates the event.

    Raises
    ------
    InputError
        If it cannot be read, with the part that is not understood.
    MissingExtra
        If the library is not installed.
    """
    events = require("dp_accounting.dp_event", "reading an event")
    neighbours = parse_relation(neighbours)
    if not isinstance(event, events.DpEvent):
        raise InputError(f"event is {type_phrase(event)}: give a DpEvent of dp-accounting", "event")
    parts: list[Experiment] = []
    rho = xi = 0.0
    for leaf, count in _flattened(event, 1, events):
        claimed = _zcdp_claim(leaf, neighbours)
        if claimed is not None:  # these add up, which is tighter than composing what each allows
            rho, xi = rho + count * claimed[0], xi + count * claimed[1]
            continue
        trained = _TRAININGS.get(type(leaf).__name__)
        if trained is not None:  # steps of one training, whose two ends are known together
            one, times = trained(leaf, events, neighbours, count, width), 1
        else:
            one, times = _event_experiment(leaf, events, neighbours), count
        if one is None:
            continue
        if one.law.only1 == 1:
            return one  # everything is given away already
        asked = None if trained is not None else width
        parts.append(one if times == 1 and asked is None else one.repeat(times, width=asked))
    if math.isinf(rho + xi):
        return _no_privacy(neighbours)
    if rho or xi:
        parts.append(from_zcdp(rho, xi, neighbours=neighbours))
    if not parts:
        return pure(epsilon=0.0, neighbours=neighbours)
    return parts[0] if len(parts) == 1 else compose(*parts, width=width)


def _nonnegative(name: str, value: object) -> float:
    return float(checks.at_least(name, checks.scalar(name, value), 0.0))


def _zcdp_claim(event: DpEvent, neighbours: Relation) -> tuple[float, float] | None:
    """(ρ, ξ) of an event that is known as zCDP; None for others. An infinite ρ is what is said of no noise at all."""
    name = type(event).__name__
    if name == "ZCDpEvent":
        each = (checks.at_least(key, getattr(event, key), 0.0, infinite=True) for key in ("rho", "xi"))
        rho, xi = map(float, each)
        return rho, xi
    if name == "DiscreteGaussianDpEvent" and event.dimension != 1:
        # of vectors, or of what may be one, each coordinate moves by another amount: ρ = Δ²/2σ² holds for all of them
        sigma, most = (
            _nonnegative("sigma", event.sigma),
            _norms(neighbours) * _nonnegative("sensitivity", event.sensitivity),
        )
        return ((most / sigma) ** 2 / 2 if sigma else math.inf), 0.0
    return None


def _flattened(event: DpEvent, count: int, events: ModuleType) -> Iterator[tuple[DpEvent, int]]:
    """The events of a composition, with their counts."""
    if isinstance(event, events.SelfComposedDpEvent):
        times = checks.integer("count", event.count, low=0)
        if times:
            yield from _flattened(event.event, count * times, events)
    elif isinstance(event, events.ComposedDpEvent):
        for one in event.events:
            yield from _flattened(one, count, events)
    else:
        yield event, count


def _event_experiment(event: DpEvent, events: ModuleType, neighbours: Relation) -> Experiment | None:
    """One event; None where it tells nothing."""
    name = type(event).__name__
    if name in _TRAININGS:
        return _TRAININGS[name](event, events, neighbours, 1, None)
    if name not in _READERS:
        known = ", ".join(sorted(each.removesuffix("DpEvent") for each in (*_READERS, *_TRAININGS)))
        raise InputError(
            f"a {name} has no experiment here: give one of {known} (each with DpEvent), a composition of these, or "
            "read a privacy-loss distribution by from_pld",
            "event",
        )
    return _READERS[name](event, events, neighbours)


def _no_privacy(neighbours: Relation) -> Experiment:
    return approximate(epsilon=0.0, delta=1.0, neighbours=neighbours)


def _norms(neighbours: Relation) -> int:
    """By how many norms of a record one person moves a sum."""
    return 2 if neighbours is Relation.REPLACE else 1


def _read_noise(event: DpEvent, events: ModuleType, neighbours: Relation) -> Experiment:
    noise = _nonnegative("noise_multiplier", event.noise_multiplier)
    if not noise:
        return _no_privacy(neighbours)
    most = float(_norms(neighbours))
    if isinstance(event, events.GaussianDpEvent):
        return gaussian(sigma=noise, sensitivity=most, neighbours=neighbours)
    return laplace(scale=noise, sensitivity=most, neighbours=neighbours)


def _read_discrete_laplace(event: DpEvent, events: ModuleType, neighbours: Relation) -> Experiment:
    rate, most = _nonnegative("noise_parameter", event.noise_parameter), _norms(neighbours) * event.sensitivity
    return geometric(epsilon=rate * most, sensitivity=most, neighbours=neighbours) if rate else _no_privacy(neighbours)


def _read_tree(event: DpEvent, events: ModuleType, neighbours: Relation) -> Experiment | None:
    """Each record is in one of the trees at most, and the largest shows the most."""
    noise = _nonnegative("noise_multiplier", event.noise_multiplier)
    counts = event.step_counts if isinstance(event.step_counts, list | tuple) else [event.step_counts]
    leaves = max((checks.integer("step_counts", count, low=0) for count in counts), default=0)
    if not leaves:
        return None
    return tree(leaves, noise, neighbours=neighbours) if noise else _no_privacy(neighbours)


def _read_selected(event: DpEvent, events: ModuleType, neighbours: Relation) -> Experiment:
    if event.shape == math.inf:
        raise InputError(
            "shape is infinite, a Poisson number of runs, which has no bound here: give 1 for a geometric number, or "
            "any other finite shape",
            "shape",
        )
    return repeat_and_select(from_event(event.event, neighbours=neighbours), mean=event.mean, eta=event.shape)


def _read_zcdp(event: DpEvent, events: ModuleType, neighbours: Relation) -> Experiment | None:
    """Also discrete noise, of which no more is known unless it is one number."""
    claimed = _zcdp_claim(event, neighbours)
    if claimed is None:
        most = _norms(neighbours) * checks.integer("sensitivity", event.sensitivity, low=0)
        sigma = _nonnegative("sigma", event.sigma)
        if not most:
            return None
        if not sigma:
            return _no_privacy(neighbours)
        return discrete_gaussian(sigma=sigma, sensitivity=most, neighbours=neighbours)
    if math.isinf(sum(claimed)):
        return _no_privacy(neighbours)
    return from_zcdp(*claimed, neighbours=neighbours) if any(claimed) else None


def _read_claim(event: DpEvent, events: ModuleType, neighbours: Relation) -> Experiment | None:
    epsilon = float(checks.at_least("epsilon", event.epsilon, 0.0, infinite=True))
    delta = float(checks.probability("delta", checks.scalar("delta", event.delta)))
    if math.isinf(epsilon) or delta == 1:
        return _no_privacy(neighbours)
    return from_dp(epsilon, delta, neighbours=neighbours) if epsilon or delta else None


def _read_selection(event: DpEvent, events: ModuleType, neighbours: Relation) -> Experiment | None:
    """ε is what one selection guarantees, whatever the relation of neighbours."""
    epsilon = _nonnegative("epsilon", event.epsilon)
    made = exponential if type(event).__name__ == "ExponentialMechanismDpEvent" else permute_and_flip
    return made(epsilon=epsilon, neighbours=neighbours) if epsilon else None


def _read_response(event: DpEvent, events: ModuleType, neighbours: Relation) -> Experiment | None:
    if neighbours is not Relation.REPLACE:
        raise InputError("randomised response compares two answers of one person: give neighbours='replace'")
    noise = float(checks.probability("noise_parameter", checks.scalar("noise_parameter", event.noise_parameter)))
    k = checks.integer("num_buckets", event.num_buckets, low=1)
    if k == 1 or noise == 1:
        return None
    # the truth is told with 1 − p + p/k, each other answer with p/k
    return randomized_response(epsilon=math.log1p(k * (1 - noise) / noise), k=k) if noise else _no_privacy(neighbours)


def _read_mixture(event: DpEvent, events: ModuleType, neighbours: Relation) -> Experiment:
    if neighbours is Relation.REPLACE:
        raise InputError("a mixture of Gaussians compares it with no shift at all: give neighbours='add-remove'")
    noise = _nonnegative("standard_deviation", event.standard_deviation)
    if not noise:
        return _no_privacy(neighbours)
    return mixture(shifts=event.sensitivities, weights=event.sampling_probs, sigma=noise)


def _read_sampled(event: DpEvent, events: ModuleType, neighbours: Relation) -> Experiment | None:
    rate = float(
        checks.probability("sampling_probability", checks.scalar("sampling_probability", event.sampling_probability))
    )
    inside = list(_flattened(event.event, 1, events))
    if rate == 0:
        return None
    if len(inside) != 1 or inside[0][1] != 1:
        raise InputError("one sample serves several releases here: sample each release on its own, then compose")
    drawn = inside[0][0]
    noise = isinstance(drawn, events.GaussianDpEvent | events.LaplaceDpEvent)
    # sampling moves noise by one record's norm either way, so it takes the pair that adds a record
    one = _event_experiment(drawn, events, Relation.ADD_REMOVE if noise else neighbours)
    if one is None:
        return None
    if noise and one.law.only1 == 1:  # no noise at all: who is drawn is given away
        return approximate(epsilon=0.0, delta=rate, neighbours=neighbours)
    return subsample(one, rate, neighbours=neighbours)


def _read_fixed(
    event: DpEvent, events: ModuleType, neighbours: Relation, steps: int, width: float | None
) -> Experiment | None:
    """A fixed number of records: whoever is drawn takes another's place, who may pull the other way."""
    n = checks.integer("source_dataset_size", event.source_dataset_size, low=1)
    batch = checks.integer("sample_size", event.sample_size, low=0, high=n)  # of as many draws, with replacement
    if batch == 0:
        return None
    inside = list(_flattened(event.event, 1, events))
    again = isinstance(event, events.SampledWithReplacementDpEvent)
    alone = len(inside) == 1 and inside[0][1] == 1
    if alone and not isinstance(inside[0][0], events.GaussianDpEvent) and neighbours is Relation.REPLACE and not again:
        return fixed_batch_claim(_event_experiment(inside[0][0], events, neighbours), batch / n, steps, width)
    if not alone or not isinstance(inside[0][0], events.GaussianDpEvent):
        raise InputError(
            "a fixed batch has an experiment here with one release of Gaussian noise alone: give a GaussianDpEvent "
            "inside it, neighbours='replace' for any other without replacement, or Poisson samples",
            "event",
        )
    noise = _nonnegative("noise_multiplier", inside[0][0].noise_multiplier)
    if not noise:
        return _no_privacy(neighbours)
    how = "with replacement" if again else "fixed"
    return dpsgd(sigma=noise, n=n, batch=batch, steps=steps, batches=how, neighbours=neighbours, width=width)


def fixed_batch_claim(one: Experiment | None, rate: float, steps: int, width: float | None) -> Experiment | None:
    """A release that replaces a record, on batches of fixed size without replacement: δ at log(1 + q(e^ε − 1)) is at
    most q times δ at ε, in both orders (Theorem D52); between these ε the profile is convex in e^ε.
    """
    if one is None:
        return None
    surely = float(one.law.only1)
    top = next(filter(math.isfinite, (float(one.epsilon(min(surely + more, 1.0))) for more in (0.0, _FAINT, 1e-15))))
    epsilon = np.unique(np.linspace(0.0, min(top, _MOST_LOSS), _LOSSES))
    with np.errstate(divide="ignore"):
        shown = np.maximum(np.logaddexp(np.log1p(-rate), math.log(rate) + epsilon), 0.0)
    drawn = from_dp(shown, np.minimum(rate * np.asarray(one.delta(epsilon)), 1.0), neighbours="replace")
    return drawn.repeat(steps, width=width) if steps > 1 or width is not None else drawn


def _read_truncated(
    event: DpEvent, events: ModuleType, neighbours: Relation, steps: int, width: float | None
) -> Experiment | None:
    """Poisson batches cut to a largest size. The rate need not be a whole number of people."""
    n = checks.integer("dataset_size", event.dataset_size, low=0)
    most = checks.integer("truncated_batch_size", event.truncated_batch_size, low=0)
    rate = float(
        checks.probability("sampling_probability", checks.scalar("sampling_probability", event.sampling_probability))
    )
    noise = _nonnegative("noise_multiplier", event.noise_multiplier)
    if n == 0 or most == 0 or rate == 0:
        return None
    if not noise:
        return _no_privacy(neighbours)
    asked = WIDTH if width is None else width_of(width)
    law = truncated_batches_law([ScheduleSegment(noise, rate, steps, n=n, truncation=most)], neighbours, asked)
    told = {"sigma": noise, "rate": rate, "steps": steps, "n": n, "truncation": most, "batches": "truncated"}
    return Experiment(law, "dpsgd", {**told, "neighbours": neighbours.value}, worlds_of_relation(neighbours))


#: By the name of an event: a step of a training, of which so many are made.
_TRAININGS: Mapping[str, Callable[[DpEvent, ModuleType, Relation, int, float | None], Experiment | None]] = {
    "SampledWithoutReplacementDpEvent": _read_fixed,
    "SampledWithReplacementDpEvent": _read_fixed,
    "TruncatedSubsampledGaussianDpEvent": _read_truncated,
}

#: By the name of an event: what it says.
_READERS: Mapping[str, Callable[[DpEvent, ModuleType, Relation], Experiment | None]] = {
    "NoOpDpEvent": lambda event, events, neighbours: None,
    "NonPrivateDpEvent": lambda event, events, neighbours: _no_privacy(neighbours),
    "GaussianDpEvent": _read_noise,
    "LaplaceDpEvent": _read_noise,
    "DiscreteLaplaceDpEvent": _read_discrete_laplace,
    "RandomizedResponseDpEvent": _read_response,
    "ZCDpEvent": _read_zcdp,
    "DiscreteGaussianDpEvent": _read_zcdp,
    "EpsilonDeltaDpEvent": _read_claim,
    "ExponentialMechanismDpEvent": _read_selection,
    "PermuteAndFlipDpEvent": _read_selection,
    "MixtureOfGaussiansDpEvent": _read_mixture,
    "PoissonSampledDpEvent": _read_sampled,
    "SingleEpochTreeAggregationDpEvent": _read_tree,
    "RepeatAndSelectDpEvent": _read_selected,
}


def to_event(experiment: Experiment) -> Any:
    """The ``DpEvent`` that says the same, for dp-accounting's own accountants under the same relation of neighbours.

    Parameters
    ----------
    experiment : Experiment
        The pair of laws of the release.

    Returns
    -------
    DpEvent
        The same release.

    Raises
    ------
    InputError
        If it cannot be read, with the part that is not understood.
    MissingExtra
        If the library is not installed.
    """
    events = require("dp_accounting.dp_event", "writing an event")
    if not isinstance(experiment, Experiment) or experiment.many:
        raise InputError("experiment must be one experiment: give what laplace, gaussian and the like return")
    require_independent(experiment)
    if experiment.parts:
        made = [(to_event(one), count) for one, count in experiment.parts]
        composed = [one if count == 1 else events.SelfComposedDpEvent(one, count) for one, count in made]
        return composed[0] if len(composed) == 1 else events.ComposedDpEvent(composed)
    p = experiment.parameters
    silent = p.get("shift") == 0 or (experiment.origin == "pure" and p["epsilon"] == 0)
    if silent:
        return events.NoOpDpEvent()
    if experiment.law.only1 == 1:
        return events.NonPrivateDpEvent()
    newer = _recent_event(experiment, events)
    if newer is not None:
        return newer
    if experiment.origin in _WRITERS and p.get("stretch", 1.0) == 1:
        return _WRITERS[experiment.origin](experiment, events)
    instead = _UNWRITTEN.get(
        experiment.origin,
        "give noise, randomised response, zCDP, training or a composition of these, or write a privacy-loss "
        "distribution by to_pld",
    )
    raise InputError(f"{experiment.name} has no DpEvent: {instead}")


def _recent_event(e: Experiment, events: ModuleType) -> DpEvent:
    """An event that dp-accounting has had since 0.6.0; None where the one installed is older, or has none.

    Exponential mechanisms are left out: its RDP accountant takes any number of ``ExponentialMechanismDpEvent`` for one.
    """
    p = e.parameters
    if e.origin in ("pure", "approximate") and hasattr(events, "EpsilonDeltaDpEvent"):
        return events.EpsilonDeltaDpEvent(p["epsilon"], p.get("delta", 0.0))
    if e.origin == "permute_and_flip" and hasattr(events, "PermuteAndFlipDpEvent"):
        return events.PermuteAndFlipDpEvent(p["epsilon"])
    if e.origin == "discrete_gaussian" and hasattr(events, "DiscreteGaussianDpEvent"):
        return events.DiscreteGaussianDpEvent(p["sigma"], -(-p["shift"] // _norms_of(e)), 1)
    return None


def _norms_of(e: Experiment) -> int:
    return 2 if e.parameters.get("neighbours") == Relation.REPLACE else 1


def _training(e: Experiment, events: ModuleType) -> DpEvent:
    p = e.parameters
    how = p.get("batches", "poisson")
    names = [name for name in ("sigma", "rate", "steps", "n", "batch", "truncation") if name in p]
    people = p.get("people", 1)
    if people > 1 and (how != "poisson" or p["neighbours"] == Relation.REPLACE):
        raise InputError(
            f"training of {people} people on such batches has no DpEvent: write a privacy-loss distribution by to_pld"
        )
    if how == "shuffled" or (how == "fixed" and "batch" not in p):
        instead = "say n and batch" if how == "fixed" else "write a privacy-loss distribution by to_pld"
        raise InputError(f"training on such {how} batches has no DpEvent: {instead}")
    lists = {name: p[name] for name in names if isinstance(p[name], list | tuple)}
    rows = []
    for i in range(max(map(len, lists.values()), default=1)):
        row = {name: lists[name][i] if name in lists else p[name] for name in names}
        noise = events.GaussianDpEvent(row["sigma"])
        if how == "truncated":
            step = events.TruncatedSubsampledGaussianDpEvent(row["n"], row["rate"], row["truncation"], row["sigma"])
        elif how == "fixed":
            step = events.SampledWithoutReplacementDpEvent(row["n"], row["batch"], noise)
        elif how == "with replacement":
            step = events.SampledWithReplacementDpEvent(row["n"], row["batch"], noise)
        elif people > 1:
            held = np.exp(log_binomial(people, np.arange(people + 1), row["rate"])) if row["rate"] < 1 else None
            weights = [*np.zeros(people), 1.0] if held is None else (held / held.sum()).tolist()
            step = events.MixtureOfGaussiansDpEvent(row["sigma"], [float(j) for j in range(people + 1)], weights)
        else:
            step = events.PoissonSampledDpEvent(row["rate"], noise)
        if row["steps"]:
            rows.append(step if row["steps"] == 1 else events.SelfComposedDpEvent(step, row["steps"]))
    return rows[0] if len(rows) == 1 else events.ComposedDpEvent(rows)


def _sample(e: Experiment, events: ModuleType) -> DpEvent:
    noise = factor_steps(product_factor(e))[0][0].noise
    if noise is None or noise.rate is None or noise.swapped:
        raise InputError(
            f"a sample of {e.parameters['of']} has no DpEvent that accountants read: "
            "sample Gaussian or Laplace noise, or write a privacy-loss distribution by to_pld"
        )
    made = events.GaussianDpEvent if noise.kind is NoiseKind.NORMAL else events.LaplaceDpEvent
    return events.PoissonSampledDpEvent(noise.rate, made(1 / noise.size))


def _normal(e: Experiment, events: ModuleType) -> DpEvent:
    return events.GaussianDpEvent(_norms_of(e) / e.parameters["psi"])


def _tree(e: Experiment, events: ModuleType) -> DpEvent:
    p = e.parameters
    if p["participations"] > 1:
        return _normal(e, events)
    return events.SingleEpochTreeAggregationDpEvent(p["sigma"], p["leaves"])


def _selection(e: Experiment, events: ModuleType) -> DpEvent:
    """The law of a Laplace answer with this ε, which bounds several selections as it does several answers."""
    if e.origin == "noisy_max" and e.parameters["noise"] == "gumbel":
        raise InputError(f"{e.name} with Gumbel noise has no DpEvent: {_UNWRITTEN['exponential']}")
    return events.LaplaceDpEvent(_norms_of(e) / e.parameters["epsilon"])


def _by_steps(e: Experiment, events: ModuleType) -> DpEvent:
    """Steps of noise that is known by name, sampled or not."""
    made = []
    for step, count in factor_steps(product_factor(e)):
        noise = step.noise
        if noise is None or noise.swapped or noise.kind is not NoiseKind.NORMAL:
            raise InputError(f"{e.name} has no DpEvent: write a privacy-loss distribution by to_pld")
        one = events.GaussianDpEvent((_norms_of(e) if noise.rate is None else 1) / noise.size)
        one = one if noise.rate is None else events.PoissonSampledDpEvent(noise.rate, one)
        made.append(one if count == 1 else events.SelfComposedDpEvent(one, count))
    return made[0] if len(made) == 1 else events.ComposedDpEvent(made)


#: By the builder of an experiment: the event that says the same.
_WRITERS: Mapping[str, Callable[[Experiment, ModuleType], DpEvent]] = {
    "gaussian": lambda e, events: events.GaussianDpEvent(_norms_of(e) * e.parameters["sigma"] / e.parameters["shift"]),
    "gdp": lambda e, events: (
        events.GaussianDpEvent(_norms_of(e) / e.parameters["mu"]) if e.parameters["mu"] else events.NoOpDpEvent()
    ),
    "laplace": lambda e, events: events.LaplaceDpEvent(_norms_of(e) * e.parameters["scale"] / e.parameters["shift"]),
    "geometric": lambda e, events: events.DiscreteLaplaceDpEvent(
        e.parameters["epsilon"] / e.parameters["sensitivity"], -(-e.parameters["shift"] // _norms_of(e))
    ),
    "randomized_response": lambda e, events: events.RandomizedResponseDpEvent(
        e.parameters["k"] / (e.parameters["k"] + math.expm1(e.parameters["epsilon"])), e.parameters["k"]
    ),
    "zcdp": lambda e, events: events.ZCDpEvent(e.parameters["rho"], e.parameters.get("xi", 0.0)),
    "dpsgd": _training,
    "mixture": lambda e, events: events.MixtureOfGaussiansDpEvent(
        e.parameters["sigma"], list(e.parameters["shifts"]), list(e.parameters["weights"])
    ),
    "subsample": _sample,
    "tree": _tree,
    "matrix": lambda e, events: _normal(e, events) if "psi" in e.parameters else _by_steps(e, events),
    "banded": _by_steps,
    "noisy_max": _selection,
    "permute_and_flip": _selection,
}

#: What to do for those that no event names.
_UNWRITTEN: Mapping[str, str] = {
    "pure": "write a privacy-loss distribution by to_pld",
    "approximate": "write a privacy-loss distribution by to_pld",
    "discrete_gaussian": "write a privacy-loss distribution by to_pld, or its ρ = 1/2σ² as a ZCDpEvent",
    "exponential": "write a privacy-loss distribution by to_pld, or its ρ = ε²/8 as a ZCDpEvent",
    "repeat_and_select": "write that of one run, and give it to RepeatAndSelectDpEvent",
    "shuffled": "write a privacy-loss distribution by to_pld",
    "rdp": "give the orders to their RdpAccountant, or write a privacy-loss distribution by to_pld",
}


# A privacy-loss distribution (PLD) is a list of losses on a grid with their masses, one list for each order of the
# pair, and a mass at infinity. Its H1 is their ``upper`` law of the *remove* order, the world with the person.

_MOST_POINTS, _MOST_COMPOSED = 1_000_000, 5_000_000  # of one grid, and of a composition: some seconds
_FAR = 8.3  # deviations beyond which dp-accounting sees nothing
_TAIL = 1e-18  # where the loss is unbounded, what lies beyond this δ goes to infinity
_ROUNDING = 1e-10
_FEW = 60


def from_pld(pld: PrivacyLossDistribution, *, neighbours: str = "add-remove") -> Experiment:
    """What a dp-accounting ``PrivacyLossDistribution`` says, as an experiment.

    Its δ(ε) for ε ≥ 0, in either order, is all that is taken: the worst pair of laws with these profiles. A pessimistic
    distribution gives an upper bound on every reading, as good as the distribution itself.

    Parameters
    ----------
    pld : PrivacyLossDistribution
        A distribution of dp-accounting.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.

    Returns
    -------
    Experiment
        An upper bound where the distribution is pessimistic.

    Raises
    ------
    InputError
        If it cannot be read, with the part that is not understood.
    MissingExtra
        If the library is not installed.
    """
    known = require("dp_accounting.pld.privacy_loss_distribution", "reading a privacy-loss distribution")
    if not isinstance(pld, known.PrivacyLossDistribution):
        raise InputError(f"pld is {type_phrase(pld)}: give a PrivacyLossDistribution of dp-accounting", "pld")
    remove, add = pld._pmf_remove, pld._pmf_add
    if not (remove._pessimistic_estimate and add._pessimistic_estimate):
        raise InputError(
            "this distribution is rounded in the defender's favour, and no reading of it is a bound on risk: "
            "build it with pessimistic_estimate=True"
        )
    neighbours = parse_relation(neighbours)
    law = envelope(*_profile(remove), None if pld._symmetric else _profile(add), rounding=_ROUNDING)
    told = {"interval": float(remove._discretization), "losses": int(remove.size), "neighbours": neighbours.value}
    note = "as exact as the distribution it was read from: upper bounds if that one is pessimistic"
    return Experiment(law, "privacy_loss_distribution", told, notes=(note,), worlds=worlds_of_relation(neighbours))


def _profile(pmf: PLDPmf) -> tuple[Array, Array]:
    """ε and δ at 0 and at every loss above it, summed from the top so that small δ keep their digits."""
    dense = pmf.to_dense_pmf()
    p = np.maximum(np.asarray(dense._probs, dtype=float), 0.0)
    loss = (int(dense._lower_loss) + np.arange(p.size)) * float(dense._discretization)
    beyond = float(dense._infinity_mass)
    if not (np.isfinite(p).all() and 0 <= beyond <= 1 + 1e-9) or p.sum() + beyond > 1.01:
        raise InputError("the masses of the distribution do not add up to 1: build it again")
    live = (loss > 0) & (p > 0)
    loss, p = loss[live], p[live]
    if loss.size > _MOST_POINTS:  # fewer claims are weaker ones: still a bound, and the tail is kept
        pick = np.unique(np.linspace(0, loss.size - 1, _MOST_POINTS).astype(int))
    else:
        pick = np.arange(loss.size)
    log_q = np.logaddexp.accumulate((np.log(p) - loss)[::-1])[::-1]  # log Σ_{j ≥ i} p_j e^{−l_j}
    before = np.concatenate(([0.0], loss[:-1]))
    falls = np.exp(loss + log_q) * -np.expm1(before - loss)  # δ at the loss before, less δ here
    delta = beyond + np.concatenate((np.cumsum(falls[::-1])[::-1], [0.0]))
    epsilon = np.concatenate(([0.0], loss))
    pick = np.concatenate(([0], pick + 1))
    return epsilon[pick], np.minimum(delta[pick], 1.0)


def to_pld(experiment: Experiment, *, interval: float = 1e-4) -> Any:
    """A pessimistic dp-accounting ``PrivacyLossDistribution`` on multiples of ``interval``, for both orders.

    The pair is replaced by the least risky one that dominates it and has its losses on the grid: δ(ε) agrees at every
    grid point and is above in between ("connect the dots", Doroshenko et al. 2022). A composition is left to
    dp-accounting: the distribution of each part, composed by its own transform.

    Parameters
    ----------
    experiment : Experiment
        The pair of laws of the release.
    interval : float, default 0.0001
        Distance > 0 of the losses on the grid.

    Returns
    -------
    PrivacyLossDistribution
        A pessimistic one: an upper bound.

    Raises
    ------
    InputError
        If it cannot be read, with the part that is not understood.
    MissingExtra
        If the library is not installed.
    """
    package = require("dp_accounting.pld.privacy_loss_distribution", "writing a privacy-loss distribution")
    if not isinstance(experiment, Experiment) or experiment.many:
        raise InputError("experiment must be one experiment: give what laplace, gaussian and the like return")
    dt = float(checks.in_range("interval", checks.scalar("interval", interval), 1e-9, 1.0))
    require_independent(experiment)
    if experiment.parts:
        return _composed([(to_pld(part, interval=dt), count) for part, count in experiment.parts])
    law = experiment.law
    if law.width:  # numerically composed: each part is known to dp-accounting itself, or all of it is read here
        noises = [(step.noise, count) for step, count in factor_steps(product_factor(experiment))]
        made = [(_known_pld(noise, dt, package), count) for noise, count in noises]
        turned = {noise.swapped for noise, _ in noises if noise is not None}
        if all(one is not None for one, _ in made) and len(turned) == 1:
            whole = _composed(made)
            if whole._symmetric or turned == {False}:
                return whole
            return package.PrivacyLossDistribution(whole._pmf_add, whole._pmf_remove)
    sides = [_on_grid(law, dt)] if law.symmetric else [_on_grid(law, dt), _on_grid(law.reverse(), dt)]
    pair = envelope(*sides[0], sides[1] if len(sides) > 1 else None)
    if law.symmetric:
        return package.PrivacyLossDistribution(_pmf(pair, dt))
    return package.PrivacyLossDistribution(_pmf(pair, dt), _pmf(pair.reverse(), dt))


def _composed(counted: Sequence[tuple[PrivacyLossDistribution, int]]) -> PrivacyLossDistribution:
    """All parts together, unless they would take too many points: the losses of many grow with the root of how many."""
    points = math.fsum(one._pmf_remove.size * math.sqrt(count) for one, count in counted)
    if points > _MOST_COMPOSED:
        raise InputError(
            f"interval is {counted[0][0]._pmf_remove._discretization:g}: the parts together would take about "
            f"{points:.2g} points, so give a larger one",
            "interval",
        )
    made = [one if count == 1 else one.self_compose(count) for one, count in counted]
    whole = made[0]
    for one in made[1:]:
        whole = whole.compose(one)
    return whole


def _known_pld(noise: StepNoise | None, dt: float, package: ModuleType) -> PrivacyLossDistribution | None:
    """Noise that dp-accounting knows itself, before any exchange of the two worlds; None for others."""
    if noise is None:
        return None
    if noise.kind is NoiseKind.LAPLACE and (noise.rate is None or noise.neighbours is Relation.REPLACE):
        return None
    mu = 1 / noise.size
    top = mu if noise.kind is NoiseKind.LAPLACE else mu * (mu / 2 + _FAR)
    if noise.rate is not None and top < 700:
        top = math.log1p(noise.rate * math.expm1(top))
    _points(top, dt)
    told: dict[str, object] = {"value_discretization_interval": dt}
    if noise.rate is not None:
        told["sampling_prob"] = noise.rate
    if noise.neighbours is Relation.REPLACE:
        told["neighboring_relation"] = package.NeighborRel.REPLACE_ONE
    make = package.from_gaussian_mechanism if noise.kind is NoiseKind.NORMAL else package.from_laplace_mechanism
    return make(1 / noise.size, **told)


def _pmf(pair: Envelope, dt: float) -> PLDPmf:
    """The losses of H1 and their masses."""
    pmfs = require("dp_accounting.pld.pld_pmf", "writing a privacy-loss distribution")
    index, inverse = np.unique(np.rint(pair.llr / dt).astype(int), return_inverse=True)
    masses = np.bincount(inverse, np.exp(pair.log_p0 + pair.llr), index.size) if index.size else np.zeros(0)
    return pmfs.create_pmf(dict(zip(index.tolist(), masses.tolist(), strict=True)) or {0: 0.0}, dt, pair.only1, True)


def _points(top: float, dt: float) -> int:
    """How many points losses up to there take; too many are refused before they are made."""
    points = math.ceil(top / dt - 1e-9) + 1
    if points > _MOST_POINTS:
        raise InputError(
            f"interval is {dt:g}: losses up to {top:g} would take {points} points, so give a larger one", "interval"
        )
    return points


def _on_grid(law: Law, dt: float) -> tuple[Array, Array]:
    """ε on the grid up to the largest loss (or where δ is negligible), and δ there in this order, rounded up."""
    top = float(law.max_llr())
    if not math.isfinite(top):
        never = float(law.profile(np.asarray(1e4)))  # what H0 cannot show at all
        top = float(law.profile_inverse(np.asarray(never * (1 + 1e-9) + _TAIL)))
    points = _points(top, dt)
    epsilon = np.arange(float(points + 1)) * dt
    if law.width:  # each value is a transform of its own; any part of the grid is safe
        epsilon = epsilon[np.unique(np.linspace(0, points, _FEW).astype(int))]
    delta = np.asarray(law.profile(epsilon), dtype=float)
    # in falling order, and never below what was read
    delta = np.maximum.accumulate(delta[::-1])[::-1]
    return epsilon, np.minimum(delta * (1 + 1e-11), 1.0)
