"""dp-accounting's events, in and out: what each says, as an experiment, and the event that says what one is.

An event names a mechanism and its parameters; the relation of neighbours is told apart from it. Noise is in norms of
one record, so that a record replaced by another moves a sum by two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from .. import checks
from ..build.batches import Row, truncated
from ..build.claims import from_zcdp
from ..build.composition import compose
from ..build.discrete import approximate, geometric, pure, randomized_response
from ..build.matrix import tree
from ..build.mechanisms import gaussian, laplace
from ..build.mixtures import mixture
from ..build.sampling import subsample
from ..build.selection import repeat_and_select
from ..build.training import dpsgd
from ..errors import InputError, kind_of, need
from ..experiment import Experiment, factor_of
from ..laws.loss.law import WIDTH
from ..laws.loss.step import NoiseKind
from ..laws.product import steps_of, width_of
from ..numerics.binomial import log_binomial
from ..worlds import between, neighbours_of

__all__ = ["from_event", "to_event"]


def from_event(event: Any, *, neighbours: str = "add-remove", width: float | None = None) -> Experiment:
    """The experiment of a ``DpEvent``: noise, sampling, claims of zCDP, and any composition of these.

    ``neighbours`` is the relation the accountant would be told: with "replace" one record moves a sum twice as far as
    its norm, and randomised response needs it. Counts are counted for every event.
    """
    events = need("dp_accounting.dp_event", "reading an event")
    neighbours_of(neighbours)
    if not isinstance(event, events.DpEvent):
        raise InputError(f"event is {kind_of(event)}: give a DpEvent of dp-accounting", parameter="event")
    parts: list[Experiment] = []
    rho = xi = 0.0
    for leaf, count in _leaves(event, 1, events):
        if isinstance(leaf, events.ZCDpEvent):  # these add up, which is tighter than composing what each allows
            rho, xi = rho + count * _finite("rho", leaf.rho), xi + count * _finite("xi", leaf.xi)
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
    if rho or xi:
        parts.append(from_zcdp(rho, xi, neighbours=neighbours))
    if not parts:
        return pure(epsilon=0.0, neighbours=neighbours)
    return parts[0] if len(parts) == 1 else compose(*parts, width=width)


def _finite(name: str, value: Any) -> float:
    return float(checks.at_least(name, checks.scalar(name, value), 0.0))


def _leaves(event: Any, count: int, events: Any) -> Iterator[tuple[Any, int]]:
    """The events of a composition, with their counts."""
    if isinstance(event, events.SelfComposedDpEvent):
        times = checks.whole("count", event.count, low=0)
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
    leaves = max((checks.whole("step_counts", count, low=0) for count in counts), default=0)
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


def _read_zcdp(event: Any, events: Any, neighbours: str) -> Experiment:
    return from_zcdp(_finite("rho", event.rho), _finite("xi", event.xi), neighbours=neighbours)


def _read_response(event: Any, events: Any, neighbours: str) -> Experiment | None:
    if neighbours != "replace":
        raise InputError("randomised response compares two answers of one person: give neighbours='replace'")
    noise = float(checks.probability("noise_parameter", checks.scalar("noise_parameter", event.noise_parameter)))
    k = checks.whole("num_buckets", event.num_buckets, low=1)
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
    n = checks.whole("source_dataset_size", event.source_dataset_size, low=1)
    batch = checks.whole("sample_size", event.sample_size, low=0, high=n)  # of as many draws, with replacement
    if batch == 0:
        return None
    inside = list(_leaves(event.event, 1, events))
    if len(inside) != 1 or inside[0][1] != 1 or not isinstance(inside[0][0], events.GaussianDpEvent):
        raise InputError(
            "a fixed batch has an experiment here with one release of Gaussian noise alone: give a GaussianDpEvent "
            "inside it, or Poisson samples",
            parameter="event",
        )
    noise = _finite("noise_multiplier", inside[0][0].noise_multiplier)
    if not noise:
        return _everything(neighbours)
    again = isinstance(event, events.SampledWithReplacementDpEvent)
    how = "with replacement" if again else "fixed"
    return dpsgd(sigma=noise, n=n, batch=batch, steps=steps, batches=how, neighbours=neighbours, width=width)


def _read_truncated(event: Any, events: Any, neighbours: str, steps: int, width: float | None) -> Experiment | None:
    """Poisson batches cut to a largest size. The rate need not be a whole number of people."""
    n = checks.whole("dataset_size", event.dataset_size, low=0)
    most = checks.whole("truncated_batch_size", event.truncated_batch_size, low=0)
    rate = float(
        checks.probability("sampling_probability", checks.scalar("sampling_probability", event.sampling_probability))
    )
    noise = _finite("noise_multiplier", event.noise_multiplier)
    if n == 0 or most == 0 or rate == 0:
        return None
    if not noise:
        return _everything(neighbours)
    asked = WIDTH if width is None else width_of(width)
    law = truncated([Row(noise, rate, steps, n=n, truncation=most)], neighbours_of(neighbours), asked)
    told = {"sigma": noise, "rate": rate, "steps": steps, "n": n, "truncation": most, "batches": "truncated"}
    return Experiment(law, "dpsgd", {**told, "neighbours": neighbours}, between(neighbours))


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
    "MixtureOfGaussiansDpEvent": _read_mixture,
    "PoissonSampledDpEvent": _read_sampled,
    "SingleEpochTreeAggregationDpEvent": _read_tree,
    "RepeatAndSelectDpEvent": _read_selected,
}


def to_event(experiment: Experiment) -> Any:
    """The ``DpEvent`` that says the same, for dp-accounting's own accountants under the same relation of neighbours."""
    events = need("dp_accounting.dp_event", "writing an event")
    if not isinstance(experiment, Experiment) or experiment.many:
        raise InputError("experiment must be one experiment: give what laplace, gaussian and the like return")
    if experiment.parts:
        made = [(to_event(one), count) for one, count in experiment.parts]
        composed = [one if count == 1 else events.SelfComposedDpEvent(one, count) for one, count in made]
        return composed[0] if len(composed) == 1 else events.ComposedDpEvent(composed)
    p = experiment.parameters
    silent = p.get("shift") == 0 or (experiment.origin == "pure" and p["epsilon"] == 0)
    if silent:
        return events.NoOpDpEvent()
    if experiment.origin in _WRITERS and p.get("stretch", 1.0) == 1:
        return _WRITERS[experiment.origin](experiment, events)
    if experiment.origin in _UNWRITTEN:
        raise InputError(f"{experiment.name} has no DpEvent: {_UNWRITTEN[experiment.origin]}")
    raise InputError(
        f"{experiment.name} has no DpEvent: give noise, randomised response, zCDP, training or a composition of "
        "these, or write a privacy-loss distribution by to_pld"
    )


def _reach(experiment: Experiment) -> int:
    """Their noise is per norm of one record, and two records differ by two."""
    return 2 if experiment.parameters.get("neighbours") == "replace" else 1


def _gaussian(e: Experiment, events: Any) -> Any:
    return events.GaussianDpEvent(_reach(e) * e.parameters["sigma"] / e.parameters["shift"])


def _gdp(e: Experiment, events: Any) -> Any:
    mu = e.parameters["mu"]
    return events.GaussianDpEvent(_reach(e) / mu) if mu else events.NoOpDpEvent()


def _laplace(e: Experiment, events: Any) -> Any:
    return events.LaplaceDpEvent(_reach(e) * e.parameters["scale"] / e.parameters["shift"])


def _geometric(e: Experiment, events: Any) -> Any:
    p = e.parameters
    return events.DiscreteLaplaceDpEvent(p["epsilon"] / p["sensitivity"], -(-p["shift"] // _reach(e)))


def _response(e: Experiment, events: Any) -> Any:
    k = e.parameters["k"]
    return events.RandomizedResponseDpEvent(k / (k + math.expm1(e.parameters["epsilon"])), k)


def _zcdp(e: Experiment, events: Any) -> Any:
    return events.ZCDpEvent(e.parameters["rho"], e.parameters.get("xi", 0.0))


def _training(e: Experiment, events: Any) -> Any:
    p = e.parameters
    how = p.get("batches", "poisson")
    names = [name for name in ("sigma", "rate", "steps", "n", "batch", "truncation") if name in p]
    people = p.get("people", 1)
    if people > 1 and (how != "poisson" or p["neighbours"] == "replace"):
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


def _mixture(e: Experiment, events: Any) -> Any:
    p = e.parameters
    return events.MixtureOfGaussiansDpEvent(p["sigma"], list(p["shifts"]), list(p["weights"]))


def _sample(e: Experiment, events: Any) -> Any:
    noise = steps_of(factor_of(e))[0][0].noise
    if noise is None or noise.rate is None or noise.swapped:
        raise InputError(
            f"a sample of {e.parameters['of']} has no DpEvent that accountants read: "
            "sample Gaussian or Laplace noise, or write a privacy-loss distribution by to_pld"
        )
    made = events.GaussianDpEvent if noise.kind is NoiseKind.NORMAL else events.LaplaceDpEvent
    return events.PoissonSampledDpEvent(noise.rate, made(1 / noise.size))


def _normal(e: Experiment, events: Any) -> Any:
    return events.GaussianDpEvent(_reach(e) / e.parameters["psi"])


def _tree(e: Experiment, events: Any) -> Any:
    p = e.parameters
    if p["participations"] > 1:
        return _normal(e, events)
    return events.SingleEpochTreeAggregationDpEvent(p["sigma"], p["leaves"])


def _selection(e: Experiment, events: Any) -> Any:
    """The law of a Laplace answer with this ε, which bounds several selections as it does several answers."""
    if e.origin == "noisy_max" and e.parameters["noise"] == "gumbel":
        raise InputError(f"{e.name} with Gumbel noise has no DpEvent: {_UNWRITTEN['exponential']}")
    return events.LaplaceDpEvent(_reach(e) / e.parameters["epsilon"])


def _by_steps(e: Experiment, events: Any) -> Any:
    """Steps of noise that is known by name, sampled or not."""
    made = []
    for step, count in steps_of(factor_of(e)):
        noise = step.noise
        if noise is None or noise.swapped or noise.kind is not NoiseKind.NORMAL:
            raise InputError(f"{e.name} has no DpEvent: write a privacy-loss distribution by to_pld")
        one = events.GaussianDpEvent((_reach(e) if noise.rate is None else 1) / noise.size)
        one = one if noise.rate is None else events.PoissonSampledDpEvent(noise.rate, one)
        made.append(one if count == 1 else events.SelfComposedDpEvent(one, count))
    return made[0] if len(made) == 1 else events.ComposedDpEvent(made)


#: By the builder of an experiment: the event that says the same.
_WRITERS: Mapping[str, Callable[[Experiment, Any], Any]] = {
    "gaussian": _gaussian,
    "gdp": _gdp,
    "laplace": _laplace,
    "geometric": _geometric,
    "randomized_response": _response,
    "zcdp": _zcdp,
    "dpsgd": _training,
    "mixture": _mixture,
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
