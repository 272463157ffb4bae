"""The charts a result offers by name, where it needs no extra; an assessment's stand with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...mechanisms.claimed import Claim
from ..claims import curves, judged
from .several import choice_chart, choices_chart, experiment_chart, sweep_chart

if TYPE_CHECKING:
    from ...calibration.choose import Choice, Choices
    from ...calibration.sweep import Sweep
    from ...experiment import Experiment
    from .chart import Chart


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
