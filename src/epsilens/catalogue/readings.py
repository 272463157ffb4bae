"""The readings by name: what each takes, and what it is when the release says nothing.

``choose``, the command line and the reports look here, so a new reading is one entry. Every reading listed grows with
risk; ``floor`` is its value under pure noise, the baseline shown beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import InputError

__all__ = ["READINGS", "Reading", "find"]


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading: its name (a method of Experiment), what it takes, its floor and its ceiling."""

    name: str
    label: str
    floor: Callable[..., float]
    ceiling: float = 1.0
    required: tuple[str, ...] = ()
    optional: Mapping[str, float] = field(default_factory=dict)

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments with their defaults filled in, or a sentence about the one that is wrong."""
        allowed = {*self.required, *self.optional}
        for name in given:
            if name not in allowed:
                takes = ", ".join(sorted(allowed)) or "no arguments"
                raise InputError(f"the reading {self.name!r} does not take {name!r}: it takes {takes}")
        if self.name == "precision":
            if ("alpha" in given) == ("recall" in given):
                raise InputError("the reading 'precision' needs either alpha or recall: give one of them")
            return {"prior": 0.5, **given}
        missing = [name for name in self.required if name not in given]
        if missing:
            raise InputError(f"the reading {self.name!r} needs {missing[0]!r}: give a value for it")
        return {**self.optional, **given}


def _beta_floor(beta: float = 1.0, prior: float = 0.5) -> float:
    b2 = float(beta) * float(beta)
    if not math.isfinite(b2):  # refused when it is read; the floor must not be what fails
        return 1.0
    return (1 + b2) * prior / ((1 + b2) * prior + (1 - prior)) if prior > 0 else 0.0


READINGS: dict[str, Reading] = {
    r.name: r
    for r in (
        Reading("success", "right guesses", lambda prior=0.5: max(prior, 1 - prior), optional={"prior": 0.5}),
        Reading("advantage", "advantage over guessing", lambda: 0.0),
        Reading("auc", "area under the ROC curve", lambda: 0.5),
        Reading("fbeta", "best F-score", _beta_floor, optional={"beta": 1.0, "prior": 0.5}),
        Reading("posterior", "most certain belief", lambda prior=0.5: prior, optional={"prior": 0.5}),
        Reading(
            "precision",
            "precision",
            lambda prior=0.5, **_: prior,
            required=("alpha", "recall"),
            optional={"prior": 0.5},
        ),
        Reading("recall", "recall", lambda alpha: alpha, required=("alpha",)),
        Reading("roc", "true-positive rate", lambda fpr: fpr, required=("fpr",)),
        Reading("attack_success", "success of any attack", lambda baseline: baseline, required=("baseline",)),
        Reading("delta", "δ", lambda epsilon: 0.0, required=("epsilon",)),
        Reading("epsilon", "ε", lambda delta=0.0: 0.0, ceiling=float("inf"), optional={"delta": 0.0}),
        Reading("psi", "sensitivity index ψ", lambda: 0.0, ceiling=float("inf")),
        Reading("renyi", "Rényi divergence", lambda order: 0.0, ceiling=float("inf"), required=("order",)),
        Reading("kl", "Kullback–Leibler divergence", lambda: 0.0, ceiling=float("inf")),
        Reading("chernoff", "Chernoff information", lambda: 0.0, ceiling=float("inf")),
    )
}


def find(name: Any) -> Reading:
    """The reading of that name, or a sentence listing those there are."""
    if name == "tradeoff":
        raise InputError("the reading 'tradeoff' falls as risk grows: bound 'roc' (with fpr) instead")
    if not isinstance(name, str) or name not in READINGS:
        known = ", ".join(READINGS)
        raise InputError(f"there is no reading {name!r}: give one of {known}; a bracket can also be of tradeoff")
    return READINGS[name]
