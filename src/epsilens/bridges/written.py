"""Experiments as dp-accounting's events: the one that says the same; the way back is :mod:`.events`.

Noise is in norms of one record, so that a record replaced by another moves a sum by two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..errors import InputError, require
from ..experiment import Experiment, product_factor, require_independent
from ..laws.composition.step import NoiseKind
from ..laws.product import steps_of
from ..numerics.binomial import log_binomial


def to_event(experiment: Experiment) -> Any:
    """The ``DpEvent`` that says the same, for dp-accounting's own accountants under the same relation of neighbours."""
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
    newer = _newer(experiment, events)
    if newer is not None:
        return newer
    if experiment.origin in _WRITERS and p.get("stretch", 1.0) == 1:
        return _WRITERS[experiment.origin](experiment, events)
    if experiment.origin in _UNWRITTEN:
        raise InputError(f"{experiment.name} has no DpEvent: {_UNWRITTEN[experiment.origin]}")
    raise InputError(
        f"{experiment.name} has no DpEvent: give noise, randomised response, zCDP, training or a composition of "
        "these, or write a privacy-loss distribution by to_pld"
    )


def _newer(e: Experiment, events: Any) -> Any:
    """An event that dp-accounting has had since 0.6.0; None where the one installed is older, or has none.

    Exponential mechanisms are left out: its RDP accountant takes any number of ``ExponentialMechanismDpEvent`` for one.
    """
    p = e.parameters
    if e.origin in ("pure", "approximate") and hasattr(events, "EpsilonDeltaDpEvent"):
        return events.EpsilonDeltaDpEvent(p["epsilon"], p.get("delta", 0.0))
    if e.origin == "permute_and_flip" and hasattr(events, "PermuteAndFlipDpEvent"):
        return events.PermuteAndFlipDpEvent(p["epsilon"])
    if e.origin == "discrete_gaussian" and hasattr(events, "DiscreteGaussianDpEvent"):
        return events.DiscreteGaussianDpEvent(p["sigma"], -(-p["shift"] // _reach(e)), 1)
    return None


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
    noise = steps_of(product_factor(e))[0][0].noise
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
    for step, count in steps_of(product_factor(e)):
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
