"""From a table to a model of how records depend on each other, its worst adversary and what sampling leaves uncertain.

One function for each model; :func:`epsilens.correlate` chooses among them and adds what they share.
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ... import checks
from ...attacks import correlated
from ...attacks.correlated import Worst
from ...checks import Array
from ...errors import InputError
from ..tables.table import OpenTable, reading
from .inflation import inflation
from .question import Groups, Model, OverTime, Question
from .records import (
    MOST_RECORDS,
    Bounds,
    Moments,
    Records,
    cells,
    moments,
    over_time,
    steps,
    steps_over_time,
    wide,
)
from .related import Related, related_rows
from .sampling import Interval, drawn_interval, normal_interval, regression

#: Up to so many records, how far from normal rows are is looked at for each as the target.
_MOST_TARGETS = 8


@dataclass(frozen=True)
class Estimate:
    """A model of the records with its worst adversary; ``seconds`` is what one search takes (∞ if it did not end)."""

    kind: Model
    names: tuple[str, ...]
    rows: int
    missing: int
    unit: str
    weights: Array
    reach: Array
    noise: Mapping[str, Any]
    model: Any
    facts: Mapping[str, Any]
    worst: Worst
    seconds: float
    interval: Interval
    notes: list[str] = field(default_factory=list)
    related: Related | None = None
    by_known: Sequence[Worst] | None = None


def estimate(opened: OpenTable, asked: Question) -> Estimate:
    """The model that was asked for, of the table as it is laid out."""
    if isinstance(asked.layout, Groups):
        return _grouped(opened, asked, asked.layout)
    if asked.model is Model.CHAIN:
        return _chain(opened, asked)
    estimator = _normal if asked.model is Model.NORMAL else _table
    return estimator(opened, _records(opened, asked), asked)


def _records(opened: OpenTable, asked: Question) -> Records:
    """One row for each observation of all records."""
    layout = asked.layout
    if isinstance(layout, OverTime):
        with reading(opened):
            return over_time(opened.table, opened.engine, asked.columns[0], layout.person, layout.time, _only(asked))
    return wide(opened.table, opened.engine, asked.columns, asked.bounds)


def _only(asked: Question) -> Bounds | None:
    """The bounds of the one column that holds the values."""
    return asked.bounds.get(asked.columns[0])


def _worst(model: Any, noise: Mapping[str, Any], asked: Question) -> tuple[Worst, float]:
    asked.tell(0.1, "worst adversary")
    started = clock.monotonic()
    found: Worst = model.worst(
        **noise, time_limit=asked.time_limit, progress=lambda share, what: asked.tell(0.1 + 0.4 * share, what)
    )
    return found, clock.monotonic() - started if found.complete else math.inf


def _reach(names: Sequence[str], limits: Mapping[str, Bounds], asked: Question) -> tuple[Array, list[str]]:
    n = len(names)
    reach = np.ones(n)
    notes = []
    if asked.reach is not None:
        given = checks.positive("reach", asked.reach)
        if given.shape not in ((), (n,)):
            raise InputError(
                f"reach has {given.size} numbers for {n} records: give one, or one for each", parameter="reach"
            )
        reach = np.broadcast_to(given, (n,)).astype(float)
    elif not limits:
        notes.append("Leakage is about a change of 1 in the record's value; give bounds for its whole range.")
    if asked.reach is None:
        for i, name in enumerate(names):
            if name in limits:
                reach[i] = limits[name][1] - limits[name][0]
    return reach, notes


def _missing(missing: int, what: str = "rows") -> list[str]:
    """What was left out, said once."""
    if not missing:
        return []
    one = {"rows": "row", "steps": "step", "people": "person"}[what]
    why = "without a usable value at every time" if what == "people" else "without a usable value"
    return [f"{missing:,} {one if missing == 1 else what} {why} {'was' if missing == 1 else 'were'} left out."]


def _normal(opened: OpenTable, records: Records, asked: Question) -> Estimate:
    """Jointly normal records from a covariance."""
    names, n, what = records.names, len(records.names), records.unit
    weights = asked.weights(n)
    reach, notes = _reach(names, records.bounds, asked)
    asked.tell(0.02, "covariance")
    with reading(opened):
        found = moments(records)
    _usable(found)
    model = correlated.normal(found.cov, weights=weights, reach=reach, names=names)
    noise = asked.noise(float(np.max(np.abs(weights) * reach)))
    worst, seconds = _worst(model, noise, asked)
    asked.tell(0.9, "sampling error")
    with reading(opened):
        wider = _inflation(records, found, weights, worst, asked)
    interval = normal_interval(found.cov, weights, reach, found.rows, asked.confidence, worst, inflated=wider, **noise)
    sd = np.sqrt(np.diag(found.cov))
    facts = {
        "mean": found.mean.tolist(),
        "covariance": found.cov.tolist(),
        "correlation": (found.cov / sd[:, None] / sd).tolist(),
    }
    notes += _missing(found.missing, what)
    return Estimate(
        Model.NORMAL, names, found.rows, found.missing, what, weights, reach, noise, model, facts, worst, seconds,
        interval, notes,
    )  # fmt: skip


def _inflation(records: Records, found: Moments, weights: Array, worst: Worst, asked: Question) -> float:
    """How far from normal the rows are: at the worst adversary, and at those who know no other record.

    The estimate's worst may know everything and have no error at all, where rows were too few to show the truly worst.
    """
    n = len(records.names)
    targets = range(n) if n <= _MOST_TARGETS else (worst.target,)
    adversaries = {(worst.target, tuple(worst.known)), *((i, ()) for i in targets)}
    return max(
        inflation(
            records, found, *regression(found.cov, weights, i, known), found.rows - len(known) - 2.0,
            (1 - asked.confidence) / 2,
        )
        for i, known in sorted(adversaries)
    )  # fmt: skip


def _usable(found: Moments) -> None:
    n = len(found.names)
    if found.rows < n + 3:
        raise InputError(
            f"the table has {found.rows:,} complete row{'' if found.rows == 1 else 's'} for {n} records: "
            f"give at least {n + 3}, or fewer columns, to estimate how they depend on each other"
        )
    for name, low, high, variance in zip(found.names, found.low, found.high, np.diag(found.cov), strict=True):
        if low == high:
            raise InputError(
                f"columns has {name!r}, which is {low:g} in every row: leave it out, it depends on nothing",
                parameter="columns",
            )
        if variance <= 0:
            raise InputError(
                f"columns has {name!r}, whose values, {low:g} to {high:g}, are too close to square: multiply them",
                parameter="columns",
            )
    sd = np.sqrt(np.diag(found.cov))
    correlation = found.cov / sd[:, None] / sd
    eigenvalues, vectors = np.linalg.eigh(correlation)
    if eigenvalues[0] < 1e-10:
        together = [found.names[i] for i in np.flatnonzero(np.abs(vectors[:, 0]) > 0.05)][:6]
        raise InputError(
            f"columns has {', '.join(map(repr, together))}, which determine each other exactly "
            f"(the correlation matrix has the eigenvalue {eigenvalues[0]:.2g}): leave one of them out",
            parameter="columns",
        )


def _table(opened: OpenTable, records: Records, asked: Question) -> Estimate:
    """Records of a few values from a joint table."""
    names, what = records.names, records.unit
    weights = asked.weights(len(names))
    asked.tell(0.02, "joint table")
    with reading(opened):
        counts, values, missing = cells(records)
    rows = int(counts.sum())
    for name, levels in zip(names, values, strict=True):
        if len(levels) < 2:
            raise InputError(
                f"columns has {name!r}, which is {levels[0]:g} in every row: leave it out, it depends on nothing",
                parameter="columns",
            )
    if rows < 10:
        raise InputError(f"the table has {rows} complete rows: give at least 10 to estimate a joint table")
    reach = np.array([v[-1] - v[0] for v in values])
    noise = asked.noise(float(np.max(np.abs(weights) * reach)))

    def made(joint: Array) -> Any:
        return correlated.table(joint, values=values, weights=weights, names=names)

    model = made(counts / rows)
    worst, seconds = _worst(model, noise, asked)
    interval = drawn_interval(
        [counts], lambda laws: made(laws[0]).worst(**noise).upper, worst.leakage, asked.confidence,
        float(np.abs(weights) @ reach) / noise["scale"], seconds, lambda share, w: asked.tell(0.5 + 0.4 * share, w),
    )  # fmt: skip
    facts = {"values": [v.tolist() for v in values], "joint": (counts / rows).tolist()}
    notes = _missing(missing, what)
    rare = int(((counts > 0) & (counts < 5)).sum())
    if rare:
        notes.append(
            f"{rare:,} of {int((counts > 0).sum()):,} combinations occur in fewer than 5 {what}; "
            "the worst adversary may rest on them, so trust the upper end of the interval."
        )
    return Estimate(
        Model.TABLE, names, rows, missing, what, weights, reach, noise, model, facts, worst, seconds, interval, notes
    )


def _chain(opened: OpenTable, asked: Question) -> Estimate:
    """Records in the order of time from first values and steps."""
    layout = asked.layout
    asked.tell(0.02, "transitions")
    with reading(opened):
        if isinstance(layout, OverTime):
            found, shown = steps_over_time(
                opened.table, opened.engine, asked.columns[0], layout.person, layout.time, _only(asked)
            )
        else:
            found, shown = steps(_records(opened, asked)), asked.columns
    length = len(shown)
    if len(found.values) < 2:
        raise InputError(
            f"columns has only the value {found.values[0]:g}: there is nothing to tell apart", parameter="columns"
        )
    weights = asked.weights(length)
    reach = np.full(length, found.values[-1] - found.values[0])
    noise = asked.noise(float(np.max(np.abs(weights) * reach)))

    def made(initial: Array, transition: Array) -> Any:
        return correlated.chain(initial, transition, length, values=found.values, weights=weights, names=shown)

    totals = found.counts.sum(axis=1, keepdims=True)
    initial, transition = found.first / found.first.sum(), found.counts / totals
    model = made(initial, transition)
    worst, seconds = _worst(model, noise, asked)
    interval = drawn_interval(
        [found.first, *found.counts], lambda laws: made(laws[0], np.array(laws[1:])).worst(**noise).upper,
        worst.leakage, asked.confidence, float(np.abs(weights) @ reach) / noise["scale"], seconds,
        lambda share, w: asked.tell(0.5 + 0.4 * share, w),
    )  # fmt: skip
    facts = {"values": found.values.tolist(), "initial": initial.tolist(), "transition": transition.tolist()}
    notes = ["The step from one time to the next is taken to be the same at every time."]
    notes += _missing(found.missing, "steps")
    if totals.min() < 20:
        scarce = int(np.argmin(totals))
        notes.append(
            f"The value {found.values[scarce]:g} is followed by another only {int(totals[scarce, 0]):,} times: "
            "bounds that merge rare values make the estimate firmer."
        )
    unit = "people" if isinstance(layout, OverTime) else "rows"
    return Estimate(
        Model.CHAIN, shown, found.rows, found.missing, unit, weights, reach, noise, model, facts, worst, seconds,
        interval, notes,
    )  # fmt: skip


def _grouped(opened: OpenTable, asked: Question, layout: Groups) -> Estimate:
    """The members of a group, alike, from the variance between and within groups."""
    by, size, limit = layout.by, layout.size, _only(asked)
    if not isinstance(asked.query, str):
        raise InputError("query has weights: members of a group are alike; give 'sum'", parameter="query")
    asked.tell(0.02, "groups")
    found = related_rows(opened, asked.columns[0], by, limit, asked.confidence)
    n = found.size if size is None else checks.integer("size", size, low=2, high=MOST_RECORDS)
    if n > MOST_RECORDS:
        raise InputError(
            f"by is {by!r}: its largest group has {n:,} members; give size, the members that count, "
            f"at most {MOST_RECORDS}",
            parameter="by",
        )
    names = tuple(f"member {i + 1}" for i in range(n))
    weights = asked.weights(n)
    reach, notes = _reach(names, dict.fromkeys(names, limit) if limit else {}, asked)
    if not (reach == reach[0]).all():
        raise InputError("reach has several numbers: members of a group are alike; give one", parameter="reach")
    noise = asked.noise(float(np.abs(weights[0]) * reach[0]))
    asked.tell(0.5, "worst adversary")
    far, objective = float(reach[0]), "psi" if "sigma" in noise else "leakage"
    alone = far / float(noise["sigma" if "sigma" in noise else "scale"])
    curve = [
        Worst(
            leakage=float(value), objective=objective, target=0, known=tuple(range(1, k + 1)), upper=float(value),
            complete=True, method="closed form (exchangeable records)", names=names, examined=1, independent=alone,
        )
        for k, value in enumerate(found.leakage(size=n, reach=far, **noise))
    ]  # fmt: skip
    worst = max(curve, key=lambda w: w.leakage)
    between = [float(found.leakage(rho, n, far, **noise).max()) for rho in np.linspace(*found.interval, 101)]
    method = "the largest and smallest over the interval of the correlation"
    interval = Interval(min(*between, worst.leakage), max(*between, worst.leakage), asked.confidence, method)
    if size is None:
        notes.append(f"The largest group has {n} members; set size to a number chosen without the data.")
    notes += _missing(found.missing)
    facts = {"rho": found.rho, "rho_interval": list(found.interval), "variance": found.variance}
    return Estimate(
        Model.NORMAL, names, found.rows, found.missing, "rows", weights, reach, noise, found.model(size=n, reach=far),
        facts, worst, 0.0, interval, notes, found, curve,
    )  # fmt: skip
