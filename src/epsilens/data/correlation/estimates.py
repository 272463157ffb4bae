"""From a table to a model of how records depend on each other, its worst adversary and what sampling leaves uncertain.

One function for each model; :func:`epsilens.correlate` chooses among them and adds what they share.
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ... import checks
from ...checks import Array
from ...errors import InputError
from ..tables.open import OpenTable
from . import correlations
from .correlations import Bounds, Moments, Records, reading
from .longitudinal import steps_over_time
from .related import Related, related_rows
from .sampling import Interval, drawn_interval, normal_interval, regression

if TYPE_CHECKING:
    from ...build.correlated import Worst

__all__ = ["Estimate", "Progress", "Question", "chain", "grouped", "normal", "table"]

Progress: TypeAlias = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Question:
    """The release: its weights are a word or numbers, its noise one of three numbers."""

    query: Any
    reach: Any
    scale: float | None
    sigma: float | None
    epsilon: float | None
    own_noise: bool
    confidence: float
    time_limit: float | None
    progress: Progress | None

    def weights(self, n: int) -> Array:
        """The weights of n records."""
        if isinstance(self.query, str):
            checks.choice("query", self.query, ("sum",))
            return np.ones(n)
        weights = checks.real("query", self.query)
        if weights.shape != (n,):
            many = f"{weights.size} weights" if weights.ndim else "one number"
            raise InputError(
                f"query has {many} for {n} records: give 'sum' or one weight for each record", parameter="query"
            )
        if not weights.any():
            raise InputError("query has only weights of 0: give at least one that is not, or 'sum'", parameter="query")
        return weights

    def noise(self, most: float) -> dict[str, Any]:
        """``scale=`` or ``sigma=``; an ε means Laplace noise for a record that moves the answer by ``most``."""
        if self.sigma is not None:
            return {"sigma": self.sigma} if self.own_noise else {"sigma": self.sigma, "own_noise": False}
        return {"scale": most / (self.epsilon or 1.0) if self.scale is None else self.scale}

    def tell(self, done: float, what: str) -> None:
        """Report a share of the work done."""
        if self.progress is not None:
            self.progress(round(100 * done), 100, what)


@dataclass(frozen=True)
class Estimate:
    """A model of the records with its worst adversary; ``seconds`` is what one search takes (∞ if it did not end)."""

    kind: str
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


def normal(opened: OpenTable, records: Records, what: str, limits: Mapping[str, Bounds], asked: Question) -> Estimate:
    """Jointly normal records from a covariance."""
    from ...build import correlated

    names, n = records.names, len(records.names)
    weights = asked.weights(n)
    reach, notes = _reach(names, limits, asked)
    asked.tell(0.02, "covariance")
    with reading(opened):
        found = correlations.moments(records)
    _usable(found)
    model = correlated.normal(found.cov, weights=weights, reach=reach, names=names)
    noise = asked.noise(float(np.max(np.abs(weights) * reach)))
    worst, seconds = _worst(model, noise, asked)
    asked.tell(0.9, "sampling error")
    answer, part = regression(found.cov, weights, worst.target, worst.known)
    with reading(opened):
        wider = correlations.inflation(records, found, answer, part)
    interval = normal_interval(found.cov, weights, reach, found.rows, asked.confidence, worst, inflated=wider, **noise)
    sd = np.sqrt(np.diag(found.cov))
    facts = {
        "mean": found.mean.tolist(),
        "covariance": found.cov.tolist(),
        "correlation": (found.cov / sd[:, None] / sd).tolist(),
    }
    notes += _missing(found.missing, what)
    return Estimate(
        "normal", names, found.rows, found.missing, what, weights, reach, noise, model, facts, worst, seconds, interval,
        notes,
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


def table(opened: OpenTable, records: Records, what: str, limits: Mapping[str, Bounds], asked: Question) -> Estimate:
    """Records of a few values from a joint table."""
    from ...build import correlated

    names = records.names
    weights = asked.weights(len(names))
    asked.tell(0.02, "joint table")
    with reading(opened):
        counts, values, missing = correlations.cells(records)
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
        "table", names, rows, missing, what, weights, reach, noise, model, facts, worst, seconds, interval, notes
    )


def chain(
    opened: OpenTable,
    names: Sequence[str],
    person: str | None,
    time: str | None,
    limits: Mapping[str, Bounds],
    asked: Question,
) -> Estimate:
    """Records in the order of time from first values and steps."""
    from ...build import correlated

    asked.tell(0.02, "transitions")
    with reading(opened):
        if person is not None and time is not None:
            found, shown = steps_over_time(opened.table, opened.engine, names[0], person, time, limits.get(names[0]))
        else:
            found = correlations.steps(correlations.wide(opened.table, opened.engine, names, limits))
            shown = tuple(names)
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
    unit = "rows" if person is None else "people"
    return Estimate(
        "chain", shown, found.rows, found.missing, unit, weights, reach, noise, model, facts, worst, seconds, interval,
        notes,
    )  # fmt: skip


def grouped(
    opened: OpenTable, column: str, by: str, size: int | None, limit: Bounds | None, asked: Question
) -> Estimate:
    """The members of a group, alike, from the variance between and within groups."""
    from ...build.correlated import Worst

    if not isinstance(asked.query, str):
        raise InputError("query has weights: members of a group are alike; give 'sum'", parameter="query")
    asked.tell(0.02, "groups")
    found = related_rows(opened, column, by, limit, asked.confidence)
    n = found.size if size is None else checks.whole("size", size, low=2, high=correlations.MOST_RECORDS)
    if n > correlations.MOST_RECORDS:
        raise InputError(
            f"by is {by!r}: its largest group has {n:,} members; give size, the members that count, "
            f"at most {correlations.MOST_RECORDS}",
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
        "normal", names, found.rows, found.missing, "rows", weights, reach, noise, found.model(size=n, reach=far),
        facts, worst, 0.0, interval, notes, found, curve,
    )  # fmt: skip
