"""What an experiment gives to a notebook: a chart by its name, and its readings as a frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ... import checks
from ...errors import InputError, MissingExtra
from ..explanation import explain
from .curves import CURVES

if TYPE_CHECKING:
    import pandas as pd

    from ...experiment import Experiment
    from .chart import Chart

__all__ = ["chart", "frame"]


def chart(experiment: Experiment, name: str, prior: float = 0.5, fpr: float = 0.1) -> Chart:
    """The chart of an experiment by its name: ``roc``, ``precision_recall`` or ``tradeoff``."""
    checks.choice("name", name, CURVES)
    if any(isinstance(value, np.ndarray) for value in experiment.parameters.values()):
        raise InputError("this experiment holds arrays: give single numbers, or read the values it returns")
    return CURVES[name](experiment, prior, fpr)


def frame(experiment: Experiment, arguments: Mapping[str, float]) -> pd.DataFrame:
    """Every reading with its baseline and its words, a row each; pandas is imported here."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("pandas", extra="notebook", purpose="a frame") from None
    rows = explain(experiment, **arguments).rows
    columns = {
        "name": [row.name for row in rows],
        "symbol": [row.symbol for row in rows],
        "value": [row.value for row in rows],
        "baseline": [row.baseline for row in rows],
        "words": [row.words for row in rows],
    }
    return pd.DataFrame(columns, index=pd.Index([row.key for row in rows], name="reading"))
