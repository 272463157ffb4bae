"""Correlated records, from data: how much more a release tells when records depend on each other.

>>> found = correlate("epsilens:rand-hie", ["visits"], person="person", time="year", bounds=(0, 20))
>>> found.worst.target, found.worst.known
(2, ())
>>> round(found.worst.leakage, 3), found.independent
(3.385, 1.0)

The table is read once for the estimate (a covariance, a joint table or transitions), on the engine that holds it, and
once more for how far from normal its rows are; what it leaves uncertain is carried into the leakage
(:mod:`.sampling`). Rows are taken to be independent of each other: correlation is within a row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...attacks.correlated import Contribution, Worst
from ...numerics.values import FrozenMapping, ValueSemantics
from ...results import SentenceResult
from ..tables.columns import column_of
from ..tables.table import OpenTable, open_table
from . import estimates
from .estimates import Estimate
from .question import Model, Progress, Question
from .related import Related
from .sampling import PATIENCE, Interval

SCHEMA = 1
DISCLOSURE = (
    "These numbers were found by looking at the confidential data, so they disclose something: keep them inside."
)


@dataclass(frozen=True, eq=False, repr=False)
class Correlation(ValueSemantics, SentenceResult):
    """What one noisy answer gives away about one record when records depend on each other.

    ``worst`` is the worst adversary with its certificate, ``by_known[k]`` the worst of those who know k
    records, ``independent`` what the release would leak if records were independent, ``group`` the bound that group
    privacy gives whatever the correlation, ``interval`` what sampling leaves uncertain about the worst leakage if the
    model holds (where it may not, only ``group`` is safe), ``contributions`` how much of the worst leakage goes when a
    record is made independent of the others. Leakages are in nats for Laplace noise and ψ for Gaussian (``objective``).
    """

    shown_as = "correlation"

    table: str
    engine: str
    kind: Model
    names: tuple[str, ...]
    rows: int
    missing: int
    unit: str
    weights: tuple[float, ...]
    reach: tuple[float, ...]
    objective: str
    noise: float
    model: Any
    estimate: Mapping[str, Any]
    worst: Worst
    by_known: tuple[Worst, ...]
    independent: float
    group: float
    interval: Interval
    contributions: Mapping[str, float]
    related: Related | None
    notes: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "estimate", FrozenMapping(self.estimate))
        object.__setattr__(self, "contributions", FrozenMapping(self.contributions))

    def __repr__(self) -> str:
        table = self.table if len(self.table) <= 60 else self.table[:59] + "…"
        return (
            f"Correlation(table={table!r}, model={self.kind.value!r}, records={len(self.names)}, rows={self.rows}, "
            f"{self.objective}={self.worst.leakage:.4g}, independent={self.independent:.4g}, "
            f"high={self.interval.high:.4g})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON."""
        return {
            "schema": SCHEMA,
            "sentence": self.sentence,
            "table": self.table,
            "engine": self.engine,
            "model": self.kind.value,
            "records": list(self.names),
            "rows": self.rows,
            "missing": self.missing,
            "unit": self.unit,
            "weights": list(self.weights),
            "reach": list(self.reach),
            "noise": {"kind": "laplace" if self.objective == "leakage" else "gaussian", "width": self.noise},
            "objective": self.objective,
            "worst": self.worst.to_dict(),
            "by_known": [w.to_dict() for w in self.by_known],
            "independent": self.independent,
            "group": self.group,
            "interval": dict(vars(self.interval)),
            "contributions": dict(self.contributions),
            "estimate": dict(self.estimate),
            "related": None if self.related is None else self.related.to_dict(),
            "notes": list(self.notes),
        }


def correlate(
    table: Any,
    columns: Sequence[str] | str,
    *,
    model: str = "normal",
    query: str | Sequence[float] = "sum",
    bounds: Any = None,
    reach: Any = None,
    scale: float | None = None,
    sigma: float | None = None,
    epsilon: float | None = None,
    own_noise: bool = True,
    by: str | None = None,
    size: int | None = None,
    person: str | None = None,
    time: str | None = None,
    confidence: float = 0.95,
    time_limit: float | None = None,
    engine: Any = None,
    progress: Progress | None = None,
) -> Correlation:
    """Estimate how records depend on each other, and find the adversary who gains most from it.

    Parameters
    ----------
    table
        Anything :func:`~epsilens.data.tables.table.open_table` opens.
    columns
        The records: one column for each, a row being one observation of all of them. With ``by``, or with ``person``
        and ``time``, the one column that holds the values.
    model
        ``"normal"`` (a covariance), ``"table"`` (a joint table, for a few values) or ``"chain"`` (transitions, for
        records in the order of time).
    query
        What is released: ``"sum"``, or the weights of a linear query, one for each record.
    bounds
        Lowest and highest value, ``(0, 20)``, or a mapping or list with a pair for each column: values beyond are moved
        to them, as the release does, and their distance is the reach.
    reach
        By how much one record can change, for the normal model; 1 unless bounds or this say otherwise.
    scale, sigma, epsilon
        The noise: a Laplace scale, a Gaussian standard deviation, or the ε for which Laplace noise is made if records
        were independent; ε = 1 unless one is given.
    own_noise
        With ``sigma``: whether what the adversary does not know counts as noise, an assumption about the data; False is
        the conservative reading.
    by, size
        Rows that share a value of ``by`` (a household) are related; ``size`` members count, the largest group's unless
        given.
    person, time
        Rows are a person at a time; a person's records are their values over time.
    confidence
        Of the interval.
    time_limit
        Seconds for the search, after which the best adversary found and a proven upper bound are given.
    engine
        None or ``"duckdb"``, ``"spark"``, an Ibis connection or URL.
    progress
        Called with (steps done, steps in all, what is being done).
    """
    asked = Question.of(
        columns, model=model, query=query, bounds=bounds, reach=reach, scale=scale, sigma=sigma, epsilon=epsilon,
        own_noise=own_noise, by=by, size=size, person=person, time=time, confidence=confidence, time_limit=time_limit,
        progress=progress,
    )  # fmt: skip
    asked.tell(0, "opening the table")
    with open_table(table, engine) as opened:
        for name in asked.columns:
            column_of(opened.table, name, "columns")
        return _finished(opened, estimates.estimate(opened, asked), asked)


def _finished(opened: OpenTable, found: Estimate, asked: Question) -> Correlation:
    """What all models share: the curve over known records, what each record adds, the two comparisons."""
    which = "sigma" if "sigma" in found.noise else "scale"
    width = float(found.noise[which])
    moves = np.abs(found.weights) * found.reach
    group = float(math.fsum(moves) / width)
    asked.tell(0.92, "the worst for each number of known records")
    by_known = found.by_known or found.model.by_known(**found.noise, time_limit=asked.time_limit)
    asked.tell(0.95, "what each record adds")
    notes, each = list(found.notes), _contributions(found, asked)
    if each is None:
        notes.append("What each record adds was left out because it would take minutes; give a time limit to have it.")
    elif not all(c.complete for c in each):
        notes.append("What each record adds is approximate: the search ended at its time limit.")
    interval = found.interval
    if found.kind is not Model.NORMAL:  # values stay in their range, so group privacy holds whatever the sample says
        interval = replace(interval, high=min(interval.high, max(group, found.worst.upper)))
    asked.tell(1.0, "done")
    return Correlation(
        table=opened.name, engine=opened.engine.kind, kind=found.kind, names=found.names, rows=found.rows,
        missing=found.missing, unit=found.unit, weights=tuple(map(float, found.weights)),
        reach=tuple(map(float, found.reach)), objective="leakage" if which == "scale" else "psi", noise=width,
        model=found.model, estimate=found.facts, worst=found.worst, by_known=tuple(by_known),
        independent=float(moves.max() / width), group=group, interval=interval,
        contributions={c.name: c.contribution for c in each or ()}, related=found.related, notes=(*notes, DISCLOSURE),
    )  # fmt: skip


def _contributions(found: Estimate, asked: Question) -> tuple[Contribution, ...] | None:
    """What each record adds to the worst leakage, largest first; None where n more searches would take minutes."""
    if found.related is not None:  # members of a group are alike
        return ()
    if asked.time_limit is None and found.seconds * len(found.names) > PATIENCE:
        return None
    each: tuple[Contribution, ...] = found.model.contributions(**found.noise, time_limit=asked.time_limit)
    return each
