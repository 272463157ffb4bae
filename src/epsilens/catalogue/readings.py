"""The readings by name: what each takes, what it is when the release says nothing, and how it is explained.

``choose``, the command line and the reports look here, so a new reading is one entry. Every reading listed grows with
risk; ``floor`` is its value under pure noise, the baseline shown beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import InputError, suggestion
from .parameters import PARAMETERS, Parameter


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading: its name (a method of Experiment), what it takes, its floor and its ceiling.

    ``either`` are arguments of which exactly one is given. ``ignorable`` is true where the best guess may ignore the
    release, so that the reading stays at its floor though the release tells something. ``whole`` is true of what adds
    up all of the curve. ``formula``, ``meaning``, ``without`` (the floor) and ``example`` (its value for Laplace noise
    with ε = 1) are the row of the docs' table.
    """

    name: str
    label: str
    floor: Callable[..., float]
    ceiling: float = 1.0
    required: tuple[str, ...] = ()
    either: tuple[str, ...] = ()
    optional: Mapping[str, float] = field(default_factory=dict)
    ignorable: bool = False
    whole: bool = False
    formula: str = ""
    meaning: str = ""
    without: str = "0"
    example: str = ""

    def arguments(self, given: Mapping[str, object]) -> dict[str, Any]:
        """The arguments with their defaults filled in, or a sentence about the one that is wrong."""
        allowed = {*self.required, *self.either, *self.optional}
        for name in given:
            if name not in allowed:
                takes = ", ".join(sorted(allowed)) or "no arguments"
                raise InputError(f"the reading {self.name!r} does not take {name!r}: it takes {takes}", "reading")
        if self.either and len([name for name in self.either if name in given]) != 1:
            ways = " or ".join(self.either)
            raise InputError(f"the reading {self.name!r} needs either {ways}: give one of them", "reading")
        missing = [name for name in self.required if name not in given]
        if missing:
            raise InputError(f"the reading {self.name!r} needs {missing[0]!r}: give a value for it", missing[0])
        return {**self.optional, **given}

    @property
    def options(self) -> tuple[str, ...]:
        """The parameters that say its arguments; where one of several is given, the first of these."""
        return tuple(reading_parameter(name).name for name in (*self.required, *self.either[:1], *self.optional))


def reading_parameter(name: str) -> Parameter:
    """The parameter by which an argument of a reading is said.

    >>> reading_parameter("epsilon").name, reading_parameter("prior").name
    ('for_epsilon', 'prior')
    """
    return next((p for p in PARAMETERS.values() if p.argument == name), None) or PARAMETERS[name]


def _beta_floor(beta: float = 1.0, prior: float = 0.5) -> float:
    b2 = float(beta) * float(beta)
    if not math.isfinite(b2):  # refused when it is read; the floor must not be what fails
        return 1.0
    return (1 + b2) * prior / ((1 + b2) * prior + (1 - prior)) if prior > 0 else 0.0


_INFINITE = float("inf")
_PRIOR = {"prior": 0.5}

# Records, one fact beside the other.
# fmt: off
READINGS: dict[str, Reading] = {
    r.name: r
    for r in (
        Reading(
            "success", "right guesses", lambda prior=0.5: max(prior, 1 - prior), optional=_PRIOR, ignorable=True,
            formula=r"(1-\pi)+\pi\,h(c)",
            meaning="How often the best guess about one person is right.",
            without=r"$\max(\pi,1-\pi)$", example="0.6967",
        ),
        Reading(
            "advantage", "advantage over guessing", lambda: 0.0,
            formula="h(1)",
            meaning="How much more often the alarm is raised when the person is in the data than when not.",
            example="0.3935",
        ),
        Reading(
            "auc", "area under the ROC curve", lambda: 0.5, whole=True,
            formula=r"\int_0^1 (1-f)\,d\alpha",
            meaning="How often someone in the data scores above someone who is not.",
            without="0.5", example="0.7241",
        ),
        Reading(
            "fbeta", "best F-score", _beta_floor, optional={"beta": 1.0, "prior": 0.5}, ignorable=True,
            formula=r"\max_\alpha (1+\beta^2)(1-f)/((1-f)+c\alpha+\beta^2)",
            meaning="The best balance of precision and recall.",
            without=r"$(1+\beta^2)/(1+\beta^2+c)$", example="0.7098",
        ),
        Reading(
            "posterior", "most certain belief", lambda prior=0.5: prior, optional=_PRIOR,
            formula=r"\pi e^L/(\pi e^L+1-\pi)",
            meaning="The most certain of H1 one can become; $L$ is the largest log-likelihood ratio. "
            "Of H0: `e.reverse().posterior(1 - prior)`.",
            without=r"$\pi$", example="0.7311",
        ),
        Reading(
            "precision", "precision", lambda prior=0.5, **_: prior, either=("fpr", "recall"), optional=_PRIOR,
            formula=r"(1-f)/((1-f)+c\alpha)",
            meaning="Of the alarms, the share that is right. Also `precision(recall=…)`.",
            without=r"$\pi$", example="0.7311 at 0.1",
        ),
        Reading(
            "recall", "recall", lambda fpr: fpr, required=("fpr",),
            formula=r"1-f(\alpha)",
            meaning="How often H1 is found when a share α of alarms under H0 is accepted.",
            without=r"$\alpha$", example="0.2718 at 0.1",
        ),
        Reading(
            "roc", "true-positive rate", lambda fpr: fpr, required=("fpr",),
            formula=r"1-f(\alpha)",
            meaning="The same, by the name of the curve.",
            without=r"$\alpha$", example="0.2718 at 0.1",
        ),
        Reading(
            "attack_success", "success of any attack", lambda baseline: baseline, required=("baseline",),
            formula=r"1-f(\text{baseline})",
            meaning="The most any attack on a person can reach whose success against a release without that person's "
            "record is `baseline`; both may be averages over the people attacked.",
            without="`baseline`", example="0.0272 at 0.01",
        ),
        Reading(
            "delta", "δ", lambda epsilon: 0.0, required=("epsilon",),
            formula=r"\sup_\alpha 1-f(\alpha)-e^\epsilon\alpha",
            meaning=r"How far a hit rate can exceed $e^\epsilon$ times the false-alarm rate, in either order.",
            example="0.2212 at 0.5",
        ),
        Reading(
            "epsilon", "ε", lambda delta=0.0: 0.0, ceiling=_INFINITE, optional={"delta": 0.0},
            formula=r"\min\{\epsilon:\delta(\epsilon)\le\delta\}",
            meaning=r"The least ε at which no hit rate exceeds $e^\epsilon$ times the false-alarm rate by more than δ; "
            "unbounded where there is none.",
            example="1",
        ),
        Reading(
            "psi", "sensitivity index ψ", lambda: 0.0, ceiling=_INFINITE,
            formula=r"\min\{\mu: f\ge G_\mu\}",
            meaning="The Gaussian noise that is at least as easy to attack, as sensitivity over σ.", example="1.0301",
        ),
        Reading(
            "mu", "practical μ", lambda level=1e-6: 0.0, ceiling=_INFINITE, optional={"level": 1e-6},
            formula=r"\min\{\mu: f\ge G_\mu\text{ where }\alpha, f(\alpha)\ge a\}",
            meaning="The same over tests with at least a share `level` of false alarms and of misses; what is rarer is "
            "left out, so say the level beside it.",
            example="1.0301",
        ),
        Reading(
            "renyi", "Rényi divergence", lambda order: 0.0, ceiling=_INFINITE, required=("order",), whole=True,
            formula=r"\log\int dH_1^{1-a}dH_0^a/(a-1)",
            meaning="What adds up over many releases.", example="0.6191 at 2",
        ),
        Reading(
            "kl", "Kullback–Leibler divergence", lambda: 0.0, ceiling=_INFINITE, whole=True,
            formula=r"\int \log(dH_0/dH_1)\,dH_0",
            meaning="Average evidence in one answer, in nats.", example="0.3679",
        ),
        Reading(
            "chernoff", "Chernoff information", lambda: 0.0, ceiling=_INFINITE, whole=True,
            formula=r"-\min_a\log\int dH_1^a dH_0^{1-a}",
            meaning="How fast the error falls when the release is repeated.", example="0.0945",
        ),
    )
}
# fmt: on


def find_reading(name: object) -> Reading:
    """The reading of that name, or a sentence listing those there are."""
    if isinstance(name, str) and name == "tradeoff":  # an array has no one answer
        raise InputError("the reading 'tradeoff' falls as risk grows: bound 'roc' (with fpr) instead", "reading")
    if not isinstance(name, str) or name not in READINGS:
        known = ", ".join(READINGS)
        raise InputError(
            f"there is no reading {name!r}{suggestion(name, READINGS)}: give one of {known}; "
            "a bracket can also be of tradeoff",
            "reading",
            value=name,
        )
    return READINGS[name]
