"""dp-accounting's events as experiments: what each says. The event that says what an experiment is: :mod:`.written`.

An event names a mechanism and its parameters; the relation of neighbours is told apart from it. Noise is in norms of
one record, so that a record replaced by another moves a sum by two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from .. import checks
from ..errors import InputError, require, type_phrase
from ..experiment import Experiment
from ..laws.composition.composed_law import WIDTH
from ..laws.product import width_of
from ..mechanisms.batches import Row, truncated
from ..mechanisms.claims import from_dp, from_zcdp
from ..mechanisms.composition import compose
from ..mechanisms.discrete import approximate, discrete_gaussian, geometric, pure, randomized_response
from ..mechanisms.matrix_factorization import tree
from ..mechanisms.mixtures import mixture
from ..mechanisms.noise import gaussian, laplace
from ..mechanisms.sampling import subsample
from ..mechanisms.selection import exponential, permute_and_flip, repeat_and_select
from ..mechanisms.training import dpsgd
from ..worlds import parse_relation, worlds_of_relation

_LOSSES, _MOST_LOSS, _FAINT = 2000, 700.0, 1e-30  # at which a release is read that fixed batches draw


def from_event(event: Any, *, neighbours: str = "add-remove", width: float | None = None) -> Experiment:
    """The experiment of a ``DpEvent``: noise, sampling, claims of zCDP, and any composition of these.

    ``neighbours`` is the relation the accountant would be told: with "replace" one record moves a sum twice as far as
    its norm, and randomised response needs it. Counts are counted for every event.
    """
    events = require("dp_accounting.dp_event", "reading an event")
    parse_relation(neighbours)
    if not isinstance(event, events.DpEvent):
        raise InputError(f"event is {type_phrase(event)}: give a DpEvent of dp-accounting", parameter="event")
    parts: list[Experiment] = []
    rho = xi = 0.0
    for leaf, count in _leaves(event, 1, events):
        claimed = _concentrated(leaf, neighbours)
        if claimed is not None:  # these add up, which is tighter than composing what each allows
            rho, xi = rho + count * claimed[0], xi + count * claimed[1]
            continue
        trained = _TRAININGS.get(type(leaf).__name__)
        if trained is not None:  # steps of one training, whose two ends are known together
            one, times = trained(leaf, events, neighbours, count, width), 1
        else:
            one, times = _leaf(leaf, events, neighbours), count
        if one is None:
            continue
        if one.law.only1 == 1:
            return one  # everything is given away already
        asked = None if trained is not None else width
        parts.append(one if times == 1 and asked is None else one.repeat(times, width=asked))
    if math.isinf(rho + xi):
        return _everything(neighbours)
    if rho or xi:
        parts.append(from_zcdp(rho, xi, neighbours=neighbours))
    if not parts:
        return pure(epsilon=0.0, neighbours=neighbours)
    return parts[0] if len(parts) == 1 else compose(*parts, width=width)


def _finite(name: str, value: Any) -> float:
    return float(checks.at_least(name, checks.scalar(name, value), 0.0))


def _concentrated(event: Any, neighbours: str) -> tuple[float, float] | None:
    """(ρ, ξ) of an event that is known as zCDP; None for others. An infinite ρ is what is said of no noise at all."""
    name = type(event).__name__
    if name == "ZCDpEvent":
        each = (checks.at_least(key, getattr(event, key), 0.0, infinite=True) for key in ("rho", "xi"))
        rho, xi = map(float, each)
        return rho, xi
    if name == "DiscreteGaussianDpEvent" and event.dimension != 1:
        # of vectors, or of what may be one, each coordinate moves by another amount: ρ = Δ²/2σ² holds for all of them
        sigma, most = _finite("sigma", event.sigma), _apart(neighbours) * _finite("sensitivity", event.sensitivity)
        return ((most / sigma) ** 2 / 2 if sigma else math.inf), 0.0
    return None


def _leaves(event: Any, count: int, events: Any) -> Iterator[tuple[Any, int]]:
    """The events of a composition, with their counts."""
    if isinstance(event, events.SelfComposedDpEvent):
        times = checks.integer("count", event.count, low=0)
        if times:
            yield from _leaves(event.event, count * times, events)
    elif isinstance(event, events.ComposedDpEvent):
        for one in event.events:
            yield from _leaves(one, count, events)
    else:
        yield event, count


def _leaf(event: Any, events: Any, neighbours: str) -> Experiment | None:
    """One event; None where it tells nothing."""
    name = type(event).__name__
    if name in _TRAININGS:
        return _TRAININGS[name](event, events, neighbours, 1, None)
    if name not in _READERS:
        known = ", ".join(sorted(each.removesuffix("DpEvent") for each in (*_READERS, *_TRAININGS)))
        raise InputError(
            f"a {name} has no experiment here: give one of {known} (each with DpEvent), a composition of these, or "
            "read a privacy-loss distribution by from_pld",
            parameter="event",
        )
    return _READERS[name](event, events, neighbours)


def _everything(neighbours: str) -> Experiment:
    return approximate(epsilon=0.0, delta=1.0, neighbours=neighbours)


def _apart(neighbours: str) -> int:
    """By how many norms one person moves a sum."""
    return 2 if neighbours == "replace" else 1


def _read_gaussian(event: Any, events: Any, neighbours: str) -> Experiment:
    noise = _finite("noise_multiplier", event.noise_multiplier)
    if not noise:
        return _everything(neighbours)
    return gaussian(sigma=noise, sensitivity=float(_apart(neighbours)), neighbours=neighbours)


def _read_laplace(event: Any, events: Any, neighbours: str) -> Experiment:
    noise = _finite("noise_multiplier", event.noise_multiplier)
    if not noise:
        return _everything(neighbours)
    return laplace(scale=noise, sensitivity=float(_apart(neighbours)), neighbours=neighbours)


def _read_discrete_laplace(event: Any, events: Any, neighbours: str) -> Experiment:
    rate, most = _finite("noise_parameter", event.noise_parameter), _apart(neighbours) * event.sensitivity
    return geometric(epsilon=rate * most, sensitivity=most, neighbours=neighbours) if rate else _everything(neighbours)


def _read_tree(event: Any, events: Any, neighbours: str) -> Experiment | None:
    """Each record is in one of the trees at most, and the largest shows the most."""
    noise = _finite("noise_multiplier", event.noise_multiplier)
    counts = event.step_counts if isinstance(event.step_counts, list | tuple) else [event.step_counts]
    leaves = max((checks.integer("step_counts", count, low=0) for count in counts), default=0)
    if not leaves:
        return None
    return tree(leaves, noise, neighbours=neighbours) if noise else _everything(neighbours)


def _read_selected(event: Any, events: Any, neighbours: str) -> Experiment:
    if event.shape == math.inf:
        raise InputError(
            "shape is infinite, a Poisson number of runs, which has no bound here: give 1 for a geometric number, or "
            "any other finite shape",
            parameter="shape",
        )
    return repeat_and_select(from_event(event.event, neighbours=neighbours), mean=event.mean, eta=event.shape)


def _read_zcdp(event: Any, events: Any, neighbours: str) -> Experiment | None:
    """Also discrete noise, of which no more is known unless it is one number."""
    claimed = _concentrated(event, neighbours)
    if claimed is None:
        most = _apart(neighbours) * checks.integer("sensitivity", event.sensitivity, low=0)
        sigma = _finite("sigma", event.sigma)
        if not most:
            return None
        return (
            discrete_gaussian(sigma=sigma, sensitivity=most, neighbours=neighbours)
            if sigma
            else _everything(neighbours)
        )
    if math.isinf(sum(claimed)):
        return _everything(neighbours)
    return from_zcdp(*claimed, neighbours=neighbours) if any(claimed) else None


def _read_claim(event: Any, events: Any, neighbours: str) -> Experiment | None:
    epsilon = float(checks.at_least("epsilon", event.epsilon, 0.0, infinite=True))
    delta = float(checks.probability("delta", checks.scalar("delta", event.delta)))
    if math.isinf(epsilon) or delta == 1:
        return _everything(neighbours)
    return from_dp(epsilon, delta, neighbours=neighbours) if epsilon or delta else None


def _read_selection(event: Any, events: Any, neighbours: str) -> Experiment | None:
    """ε is what one selection guarantees, whatever the relation of neighbours."""
    epsilon = _finite("epsilon", event.epsilon)
    made = exponential if type(event).__name__ == "ExponentialMechanismDpEvent" else permute_and_flip
    return made(epsilon=epsilon, neighbours=neighbours) if epsilon else None


def _read_response(event: Any, events: Any, neighbours: str) -> Experiment | None:
    if neighbours != "replace":
        raise InputError("randomised response compares two answers of one person: give neighbours='replace'")
    noise = float(checks.probability("noise_parameter", checks.scalar("noise_parameter", event.noise_parameter)))
    k = checks.integer("num_buckets", event.num_buckets, low=1)
    if k == 1 or noise == 1:
        return None
    # the truth is told with 1 − p + p/k, each other answer with p/k
    return randomized_response(epsilon=math.log1p(k * (1 - noise) / noise), k=k) if noise else _everything(neighbours)


def _read_mixture(event: Any, events: Any, neighbours: str) -> Experiment:
    if neighbours == "replace":
        raise InputError("a mixture of Gaussians compares it with no shift at all: give neighbours='add-remove'")
    noise = _finite("standard_deviation", event.standard_deviation)
    if not noise:
        return _everything(neighbours)
    return mixture(shifts=event.sensitivities, weights=event.sampling_probs, sigma=noise)


def _read_sampled(event: Any, events: Any, neighbours: str) -> Experiment | None:
    rate = float(
        checks.probability("sampling_probability", checks.scalar("sampling_probability", event.sampling_probability))
    )
    inside = list(_leaves(event.event, 1, events))
    if rate == 0:
        return None
    if len(inside) != 1 or inside[0][1] != 1:
        raise InputError("one sample serves several releases here: sample each release on its own, then compose")
    drawn = inside[0][0]
    noise = isinstance(drawn, events.GaussianDpEvent | events.LaplaceDpEvent)
    # sampling moves noise by one record's norm either way, so it takes the pair that adds a record
    one = _leaf(drawn, events, "add-remove" if noise else neighbours)
    if one is None:
        return None
    if noise and one.law.only1 == 1:  # no noise at all: who is drawn is given away
        return approximate(epsilon=0.0, delta=rate, neighbours=neighbours)
    return subsample(one, rate, neighbours=neighbours)


def _read_fixed(event: Any, events: Any, neighbours: str, steps: int, width: float | None) -> Experiment | None:
    """A fixed number of records: whoever is drawn takes another's place, who may pull the other way."""
    n = checks.integer("source_dataset_size", event.source_dataset_size, low=1)
    batch = checks.integer("sample_size", event.sample_size, low=0, high=n)  # of as many draws, with replacement
    if batch == 0:
        return None
    inside = list(_leaves(event.event, 1, events))
    again = isinstance(event, events.SampledWithReplacementDpEvent)
    alone = len(inside) == 1 and inside[0][1] == 1
    if alone and not isinstance(inside[0][0], events.GaussianDpEvent) and neighbours == "replace" and not again:
        return drawn_by_fixed(_leaf(inside[0][0], events, neighbours), batch / n, steps, width)
    if not alone or not isinstance(inside[0][0], events.GaussianDpEvent):
        raise InputError(
            "a fixed batch has an experiment here with one release of Gaussian noise alone: give a GaussianDpEvent "
            "inside it, neighbours='replace' for any other without replacement, or Poisson samples",
            parameter="event",
        )
    noise = _finite("noise_multiplier", inside[0][0].noise_multiplier)
    if not noise:
        return _everything(neighbours)
    how = "with replacement" if again else "fixed"
    return dpsgd(sigma=noise, n=n, batch=batch, steps=steps, batches=how, neighbours=neighbours, width=width)


def drawn_by_fixed(one: Experiment | None, rate: float, steps: int, width: float | None) -> Experiment | None:
    """A release that replaces a record, on batches of fixed size without replacement: δ at log(1 + q(e^ε − 1)) is at
    most q times δ at ε, in both orders (Balle, Barthe & Gaboardi 2018); between these ε the profile is convex in e^ε.
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


def _read_truncated(event: Any, events: Any, neighbours: str, steps: int, width: float | None) -> Experiment | None:
    """Poisson batches cut to a largest size. The rate need not be a whole number of people."""
    n = checks.integer("dataset_size", event.dataset_size, low=0)
    most = checks.integer("truncated_batch_size", event.truncated_batch_size, low=0)
    rate = float(
        checks.probability("sampling_probability", checks.scalar("sampling_probability", event.sampling_probability))
    )
    noise = _finite("noise_multiplier", event.noise_multiplier)
    if n == 0 or most == 0 or rate == 0:
        return None
    if not noise:
        return _everything(neighbours)
    asked = WIDTH if width is None else width_of(width)
    law = truncated([Row(noise, rate, steps, n=n, truncation=most)], parse_relation(neighbours), asked)
    told = {"sigma": noise, "rate": rate, "steps": steps, "n": n, "truncation": most, "batches": "truncated"}
    return Experiment(law, "dpsgd", {**told, "neighbours": neighbours}, worlds_of_relation(neighbours))


#: By the name of an event: a step of a training, of which so many are made.
_TRAININGS: Mapping[str, Callable[[Any, Any, str, int, float | None], Experiment | None]] = {
    "SampledWithoutReplacementDpEvent": _read_fixed,
    "SampledWithReplacementDpEvent": _read_fixed,
    "TruncatedSubsampledGaussianDpEvent": _read_truncated,
}

#: By the name of an event: what it says.
_READERS: Mapping[str, Callable[[Any, Any, str], Experiment | None]] = {
    "NoOpDpEvent": lambda event, events, neighbours: None,
    "NonPrivateDpEvent": lambda event, events, neighbours: _everything(neighbours),
    "GaussianDpEvent": _read_gaussian,
    "LaplaceDpEvent": _read_laplace,
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
