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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import checks
from ...errors import InputError
from ...shown import Sentenced
from ..tables.open import OpenTable, column_of, open_table
from . import estimates
from .correlations import Bounds, reading, wide
from .estimates import Estimate, Progress, Question
from .longitudinal import over_time
from .related import Related
from .sampling import PATIENCE, Interval

if TYPE_CHECKING:
    from ...build.correlated import Contribution, Worst

__all__ = ["Correlation", "correlate"]

SCHEMA = 1
MODELS = ("normal", "table", "chain")
DISCLOSURE = (
    "These numbers were found by looking at the confidential data, so they disclose something: keep them inside."
)


@dataclass(frozen=True)
class Correlation(Sentenced):
    """What one noisy answer gives away about one record when records depend on each other.

    ``worst`` is the worst adversary with its certificate, ``by_known[k]`` the worst of those who know k
    records, ``independent`` what the release would leak if records were independent, ``group`` the bound that group
    privacy gives whatever the correlation, ``interval`` what sampling leaves uncertain about the worst leakage (its
    ``high`` is the safe value), ``contributions`` how much of the worst leakage goes when a record is made
    independent of the others. Leakages are in nats for Laplace noise and ψ for Gaussian (``objective``).
    """

    shown_as = "correlation"

    table: str
    engine: str
    kind: str
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
        for name in ("estimate", "contributions"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, ready for JSON."""
        return {
            "schema": SCHEMA,
            "sentence": self.sentence,
            "table": self.table,
            "engine": self.engine,
            "model": self.kind,
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
        Anything :func:`~epsilens.data.tables.open.open_table` opens.
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
    if not isinstance(columns, Iterable) or not all(isinstance(c, str) for c in columns):
        raise InputError(f"columns is {columns!r:.60}: give a list of column names", parameter="columns")
    names = [c.strip() for c in columns.split(",")] if isinstance(columns, str) else list(columns)
    checks.choice("model", model, MODELS)
    given = [name for name, value in (("scale", scale), ("sigma", sigma), ("epsilon", epsilon)) if value is not None]
    if len(given) > 1:
        raise InputError(f"give one of {given[0]} and {given[1]}, not both: each says how much noise is added")
    widths = {"scale": scale, "sigma": sigma, "epsilon": epsilon, "time_limit": time_limit}
    numbers = {k: None if v is None else float(checks.positive(k, checks.scalar(k, v))) for k, v in widths.items()}
    level = float(checks.probability("confidence", checks.scalar("confidence", confidence), closed=False))
    asked = Question(query, reach, own_noise=own_noise, confidence=level, progress=progress, **numbers)
    if sigma is not None and model != "normal":
        raise InputError(
            f"sigma is for model='normal': with model={model!r} give scale or epsilon (Laplace noise)",
            parameter="sigma",
        )
    if sigma is None and not own_noise:
        raise InputError("own_noise is for sigma (Gaussian noise): leave it out, or give sigma", parameter="own_noise")
    _layout(names, model, by, size, person, time, reach)
    asked.tell(0, "opening the table")
    with open_table(table, engine) as opened:
        for name in names:
            column_of(opened.table, name, "columns")
        limits = _bounds(bounds, names)
        if by is not None:
            found = estimates.grouped(opened, names[0], by, size, limits.get(names[0]), asked)
        elif model == "chain":
            found = estimates.chain(opened, names, person, time, limits, asked)
        else:
            if person is not None and time is not None:
                value, what = names[0], "people"
                with reading(opened):
                    records = over_time(opened.table, opened.engine, value, person, time, limits.get(value))
                limits = dict.fromkeys(records.names, limits[value]) if value in limits else {}
            else:
                records, what = wide(opened.table, opened.engine, names, limits), "rows"
            estimate = estimates.normal if model == "normal" else estimates.table
            found = estimate(opened, records, what, limits, asked)
        return _finished(opened, found, asked)


def _layout(
    names: Sequence[str], model: str, by: str | None, size: Any, person: str | None, time: str | None, reach: Any
) -> None:
    """Which of the three layouts of a table is meant, or a sentence on what is missing."""
    if not names:
        raise InputError("columns is empty: give the columns that hold the records", parameter="columns")
    if (person is None) != (time is None):
        raise InputError("give person and time together: a person's records are their values over time")
    if by is not None and person is not None:
        raise InputError("give by (rows in groups) or person and time (a person over time), not both")
    if by is None and size is not None:
        raise InputError(
            "size is for by, the column that puts rows into groups: leave it out or give by", parameter="size"
        )
    if by is not None and model != "normal":
        raise InputError(
            f"model is {model!r}: rows in groups (by) are related by model='normal' only", parameter="model"
        )
    if reach is not None and model != "normal":
        raise InputError(
            f"reach is for model='normal': with model={model!r} it follows from the values; give bounds",
            parameter="reach",
        )
    long = "by" if by is not None else "person and time" if person is not None else ""
    if long and len(names) != 1:
        raise InputError(
            f"columns has {len(names)} names: with {long} give the one column that holds the values",
            parameter="columns",
        )
    if not long and len(names) == 1:
        raise InputError(
            f"columns has one name, {names[0]!r}: give at least two records; or by, where rows in a group are related; "
            "or person and time, where a person has several rows",
            parameter="columns",
        )


def _bounds(bounds: Any, names: Sequence[str]) -> dict[str, Bounds]:
    """A pair for each column that has bounds."""
    if bounds is None:
        return {}
    if isinstance(bounds, Mapping):
        unknown = [name for name in bounds if name not in names]
        if unknown:
            raise InputError(
                f"bounds has {unknown[0]!r}, which is not among the columns: give {names[0]!r} and the like",
                parameter="bounds",
            )
        pairs = dict(bounds)
    else:
        numbers = checks.real("bounds", bounds)
        if numbers.shape == (2,):
            pairs = dict.fromkeys(names, numbers)
        elif numbers.shape == (len(names), 2):
            pairs = dict(zip(names, numbers, strict=True))
        else:
            raise InputError(
                f"bounds is {bounds!r}: give (lowest, highest), or such a pair for each column", parameter="bounds"
            )
    made = {}
    for name, pair in pairs.items():
        ends = checks.real(f"bounds of {name!r}", pair)
        if ends.shape != (2,) or not ends[0] < ends[1]:
            shown = ", ".join(f"{v:g}" for v in ends.ravel())
            raise InputError(f"bounds of {name!r} is ({shown}): give (lowest, highest), the first below the second")
        made[name] = (float(ends[0]), float(ends[1]))
    return made


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
    if found.kind != "normal":  # values stay within their range, so group privacy holds whatever the sample says
        interval = replace(interval, high=min(interval.high, max(group, found.worst.upper)))
    asked.tell(1.0, "done")
    return Correlation(
        table=opened.name,
        engine=opened.engine.kind,
        kind=found.kind,
        names=found.names,
        rows=found.rows,
        missing=found.missing,
        unit=found.unit,
        weights=tuple(map(float, found.weights)),
        reach=tuple(map(float, found.reach)),
        objective="leakage" if which == "scale" else "psi",
        noise=width,
        model=found.model,
        estimate=found.facts,
        worst=found.worst,
        by_known=tuple(by_known),
        independent=float(moves.max() / width),
        group=group,
        interval=interval,
        contributions={c.name: c.contribution for c in each or ()},
        related=found.related,
        notes=(*notes, DISCLOSURE),
    )


def _contributions(found: Estimate, asked: Question) -> tuple[Contribution, ...] | None:
    """What each record adds to the worst leakage, largest first; None where n more searches would take minutes."""
    if found.related is not None:  # members of a group are alike
        return ()
    if asked.time_limit is None and found.seconds * len(found.names) > PATIENCE:
        return None
    each: tuple[Contribution, ...] = found.model.contributions(**found.noise, time_limit=asked.time_limit)
    return each
