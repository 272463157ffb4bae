"""The charts a result offers by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import checks
from ...build.claimed import Claim
from ...errors import InputError
from ..claims import curves, judged
from . import assessment as planned
from .several import choice_chart, choices_chart, experiment_chart, sweep_chart

if TYPE_CHECKING:
    from ...assessment.assessment import Assessment
    from ...choice.choice import Choice, Choices
    from ...choice.sweep import Sweep
    from ...experiment import Experiment
    from .chart import Chart

__all__ = ["of_assessment", "of_choice", "of_choices", "of_experiment", "of_sweep"]


def of_experiment(e: Experiment, name: str, **asked: Any) -> Chart:
    """A curve, beside those of others; the ROC of a claim alone by what is known of the noise."""
    if isinstance(e, Claim) and name == "roc" and not asked.get("against"):
        return curves(judged(e, asked["prior"], asked["fpr"]), asked["fpr"])
    return experiment_chart(e, name, **asked)


def of_choice(choice: Choice, name: str) -> Chart:
    """The reading around what was chosen."""
    return choice_chart(choice)


def of_choices(found: Choices, name: str) -> Chart:
    """What was chosen by its limit."""
    return choices_chart(found)


def of_sweep(found: Sweep, name: str, *, log: bool | None = None) -> Chart:
    """A reading by its name."""
    return sweep_chart(found, name, log)


def of_assessment(a: Assessment, name: str) -> Chart:
    """``risk``, ``accuracy``, ``simulated`` (releases at the planned ε) or ``precedents``."""
    checks.choice("name", name, ("risk", "accuracy", "simulated", "precedents"))
    if name == "risk":
        return planned.risk_curve(a)
    if name == "precedents":
        return planned.precedent_strip(a)
    query = planned.simulated_query(a) if name == "simulated" else None
    made = planned.accuracy_curve(a) if name == "accuracy" else None
    made = planned.simulated(a, query, a.epsilon) if query is not None else made
    if made is None:
        raise InputError(f"name is {name!r}: every answer of this plan is 0, so there is none to draw; give 'risk'")
    return made
