"""Correlated records, from data: how much more a release tells when records depend on each other.

>>> found = correlate("epsilens:rand-hie", ["visits"], person="person", time="year", bounds=(0, 20))
>>> found.worst.target, found.worst.known
(2, ())
>>> round(found.worst.leakage, 3), found.independent
(3.385, 1.0)

The table is read once for the estimate (a covariance, a joint table or transitions), on the engine that holds it, and
once more for how far from normal its rows are; what it leaves uncertain is carried into the leakage
(:mod:`.moments`). Rows are taken to be independent of each other: correlation is within a row.
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from scipy.special import stdtrit

from ... import checks
from ...attacks import correlated
from ...attacks.correlated import Contribution, Worst
from ...checks import Array
from ...errors import InputError
from ...numerics.roots import root
from ...numerics.values import FrozenMapping, ValueSemantics
from ...results import SentenceResult
from ..tables.columns import column_of
from ..tables.table import OpenTable, open_table, reading
from .intraclass import Relatedness, table_relatedness, tail_of_exponentials
from .moments import (
    MOST_RECORDS,
    PATIENCE,
    Bounds,
    Interval,
    Moments,
    RecordTable,
    cell_counts,
    drawn_interval,
    is_complete,
    moments,
    normal_interval,
    panel_records,
    panel_step_counts,
    regression,
    step_counts,
    wide_records,
)

Progress: TypeAlias = Callable[[int, int, str], None]


class DependenceModel(StrEnum):
    NORMAL = "normal"  # by a covariance
    TABLE = "table"  # by a joint table of a few values
    CHAIN = "chain"  # by steps from one time to the next

    def __repr__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class WideLayout:
    """A column for each record, a row being one observation of all of them."""


@dataclass(frozen=True)
class GroupLayout:
    """Rows that share a value of ``by`` are related; ``size`` members count, the largest group's where it is None."""

    by: str
    size: int | None


@dataclass(frozen=True)
class PanelLayout:
    """Rows are a person at a time; a person's records are their values over time."""

    person: str
    time: str


Layout: TypeAlias = WideLayout | GroupLayout | PanelLayout


@dataclass(frozen=True, eq=False)
class CorrelationRequest:
    """The records, the release and the search: its weights are a word or numbers, its noise one of three numbers.

    ``bounds`` holds a pair for each column that has bounds.
    """

    columns: tuple[str, ...]
    model: DependenceModel
    layout: Layout
    bounds: Mapping[str, Bounds]
    query: Any
    reach: Any
    scale: float | None
    sigma: float | None
    epsilon: float | None
    own_noise: bool
    confidence: float
    time_limit: float | None
    progress: Progress | None

    @classmethod
    def of(
        cls,
        columns: Sequence[str] | str,
        *,
        model: str,
        by: str | None,
        size: int | None,
        person: str | None,
        time: str | None,
        bounds: Any,
        scale: float | None,
        sigma: float | None,
        epsilon: float | None,
        time_limit: float | None,
        confidence: float,
        **others: Any,
    ) -> CorrelationRequest:
        """The question of what a caller gave, or a sentence about the first argument that is wrong."""
        if not isinstance(columns, Iterable) or not all(isinstance(c, str) for c in columns):
            raise InputError(f"columns is {columns!r:.60}: give a list of column names", parameter="columns")
        names = [c.strip() for c in columns.split(",")] if isinstance(columns, str) else list(columns)
        checks.one_of("model", model, tuple(DependenceModel))
        widths = {"scale": scale, "sigma": sigma, "epsilon": epsilon}
        given = [name for name, value in widths.items() if value is not None]
        if len(given) > 1:
            raise InputError(f"give one of {given[0]} and {given[1]}, not both: each says how much noise is added")
        numbers: dict[str, Any] = {
            name: None if value is None else float(checks.positive(name, checks.scalar(name, value)))
            for name, value in {**widths, "time_limit": time_limit}.items()
        }
        level = float(checks.probability("confidence", checks.scalar("confidence", confidence), closed=False))
        made = cls(
            columns=tuple(names),
            model=DependenceModel(model),
            layout=_layout(by, size, person, time),
            bounds={},
            confidence=level,
            **numbers,
            **others,
        )
        made._check_noise()
        made._check_layout(by, size, person, time)
        object.__setattr__(made, "bounds", _bounds(bounds, names))
        return made

    def _check_noise(self) -> None:
        if self.sigma is not None and self.model is not DependenceModel.NORMAL:
            raise InputError(
                f"sigma is for model='normal': with model={self.model!r} give scale or epsilon (Laplace noise)", "sigma"
            )
        if self.sigma is None and not self.own_noise:
            raise InputError("own_noise is for sigma (Gaussian noise): leave it out, or give sigma", "own_noise")

    def _check_layout(self, by: str | None, size: int | None, person: str | None, time: str | None) -> None:
        """Which of the three layouts of a table is meant, or a sentence on what is missing."""
        names = self.columns
        if not names:
            raise InputError("columns is empty: give the columns that hold the records", parameter="columns")
        if (person is None) != (time is None):
            raise InputError("give person and time together: a person's records are their values over time")
        if by is not None and person is not None:
            raise InputError("give by (rows in groups) or person and time (a person over time), not both")
        if by is None and size is not None:
            raise InputError("size is for by, the column that puts rows into groups: leave it out or give by", "size")
        if by is not None and self.model is not DependenceModel.NORMAL:
            raise InputError(
                f"model is {self.model!r}: rows in groups (by) are related by model='normal' only", parameter="model"
            )
        if self.reach is not None and self.model is not DependenceModel.NORMAL:
            raise InputError(
                f"reach is for model='normal': with model={self.model!r} it follows from the values; give bounds",
                parameter="reach",
            )
        long = "by" if by is not None else "person and time" if person is not None else ""
        if long and len(names) != 1:
            raise InputError(
                f"columns has {len(names)} names: with {long} give the one column that holds the values", "columns"
            )
        if not long and len(names) == 1:
            raise InputError(
                f"columns has one name, {names[0]!r}: give at least two records; or by, where rows in a group are "
                "related; or person and time, where a person has several rows",
                parameter="columns",
            )

    def weights(self, n: int) -> Array:
        if isinstance(self.query, str):
            checks.one_of("query", self.query, ("sum",))
            return np.ones(n)
        weights = checks.real("query", self.query)
        if weights.shape != (n,):
            many = f"{weights.size} weights" if weights.ndim else "one number"
            raise InputError(f"query has {many} for {n} records: give 'sum' or one weight for each record", "query")
        if not weights.any():
            raise InputError("query has only weights of 0: give at least one that is not, or 'sum'", parameter="query")
        return weights

    def noise(self, most: float) -> dict[str, Any]:
        """``scale=`` or ``sigma=``; an ε means Laplace noise for a record that moves the answer by ``most``."""
        if self.sigma is not None:
            return {"sigma": self.sigma} if self.own_noise else {"sigma": self.sigma, "own_noise": False}
        return {"scale": most / (self.epsilon or 1.0) if self.scale is None else self.scale}

    def tell(self, done: float, what: str) -> None:
        if self.progress is not None:
            self.progress(round(100 * done), 100, what)


def _layout(by: str | None, size: int | None, person: str | None, time: str | None) -> Layout:
    if by is not None:
        return GroupLayout(by, size)
    return PanelLayout(person, time) if person is not None and time is not None else WideLayout()


def _bounds(bounds: object, names: Sequence[str]) -> dict[str, Bounds]:
    if bounds is None:
        return {}
    if isinstance(bounds, Mapping):
        unknown = [name for name in bounds if name not in names]
        if unknown:
            raise InputError(
                f"bounds has {unknown[0]!r}, which is not among the columns: give {names[0]!r} and the like", "bounds"
            )
        pairs = dict(bounds)
    else:
        numbers = checks.real("bounds", bounds)
        if numbers.shape == (2,):
            pairs = dict.fromkeys(names, numbers)
        elif numbers.shape == (len(names), 2):
            pairs = dict(zip(names, numbers, strict=True))
        else:
            raise InputError(f"bounds is {bounds!r}: give (lowest, highest), or such a pair for each column", "bounds")
    made = {}
    for name, pair in pairs.items():
        ends = checks.real(f"bounds of {name!r}", pair)
        if ends.shape != (2,) or not ends[0] < ends[1]:
            shown = ", ".join(f"{v:g}" for v in ends.ravel())
            raise InputError(f"bounds of {name!r} is ({shown}): give (lowest, highest), the first below the second")
        made[name] = (float(ends[0]), float(ends[1]))
    return made


#: Up to so many records, how far from normal rows are is looked at for each as the target.
_MOST_TARGETS = 8


@dataclass(frozen=True)
class CorrelationEstimate:
    """A model of the records with its worst adversary; ``seconds`` is what one search takes (∞ if it did not end)."""

    kind: DependenceModel
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
    related: Relatedness | None = None
    by_known: Sequence[Worst] | None = None


def estimate(opened: OpenTable, asked: CorrelationRequest) -> CorrelationEstimate:
    """The model that was asked for, of the table as it is laid out."""
    if isinstance(asked.layout, GroupLayout):
        return _grouped(opened, asked, asked.layout)
    if asked.model is DependenceModel.CHAIN:
        return _chain(opened, asked)
    estimator = _normal if asked.model is DependenceModel.NORMAL else _table
    return estimator(opened, _records(opened, asked), asked)


def _records(opened: OpenTable, asked: CorrelationRequest) -> RecordTable:
    layout = asked.layout
    if isinstance(layout, PanelLayout):
        with reading(opened):
            return panel_records(
                opened.table, opened.engine, asked.columns[0], layout.person, layout.time, _single_bounds(asked)
            )
    return wide_records(opened.table, opened.engine, asked.columns, asked.bounds)


def _single_bounds(asked: CorrelationRequest) -> Bounds | None:
    return asked.bounds.get(asked.columns[0])


def _worst(model: Any, noise: Mapping[str, Any], asked: CorrelationRequest) -> tuple[Worst, float]:
    asked.tell(0.1, "worst adversary")
    started = clock.monotonic()
    found: Worst = model.worst(
        **noise, time_limit=asked.time_limit, progress=lambda share, what: asked.tell(0.1 + 0.4 * share, what)
    )
    return found, clock.monotonic() - started if found.complete else math.inf


def _reach(names: Sequence[str], limits: Mapping[str, Bounds], asked: CorrelationRequest) -> tuple[Array, list[str]]:
    n = len(names)
    reach = np.ones(n)
    notes = []
    if asked.reach is not None:
        given = checks.positive("reach", asked.reach)
        if given.shape not in ((), (n,)):
            raise InputError(f"reach has {given.size} numbers for {n} records: give one, or one for each", "reach")
        reach = np.broadcast_to(given, (n,)).astype(float)
    elif not limits:
        notes.append("Leakage is about a change of 1 in the record's value; give bounds for its whole range.")
    if asked.reach is None:
        for i, name in enumerate(names):
            if name in limits:
                reach[i] = limits[name][1] - limits[name][0]
    return reach, notes


def _missing_note(missing: int, what: str = "rows") -> list[str]:
    if not missing:
        return []
    one = {"rows": "row", "steps": "step", "people": "person"}[what]
    why = "without a usable value at every time" if what == "people" else "without a usable value"
    return [f"{missing:,} {one if missing == 1 else what} {why} {'was' if missing == 1 else 'were'} left out."]


def _normal(opened: OpenTable, records: RecordTable, asked: CorrelationRequest) -> CorrelationEstimate:
    names, n, what = records.names, len(records.names), records.unit
    weights = asked.weights(n)
    reach, notes = _reach(names, records.bounds, asked)
    asked.tell(0.02, "covariance")
    with reading(opened):
        found = moments(records)
    _check_moments(found)
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
    notes += _missing_note(found.missing, what)
    data = (names, found.rows, found.missing, what, weights, reach, noise, model, facts)
    return CorrelationEstimate(DependenceModel.NORMAL, *data, worst, seconds, interval, notes)


def _inflation(records: RecordTable, found: Moments, weights: Array, worst: Worst, asked: CorrelationRequest) -> float:
    """How far from normal the rows are: at the worst adversary, and at those who know no other record.

    The estimate's worst may know everything and have no error at all, where rows were too few to show the truly worst.
    """
    n = len(records.names)
    targets = range(n) if n <= _MOST_TARGETS else (worst.target,)
    adversaries = {(worst.target, tuple(worst.known)), *((i, ()) for i in targets)}
    return max(
        inflation(
            records,
            found,
            *regression(found.cov, weights, i, known),
            found.rows - len(known) - 2.0,
            (1 - asked.confidence) / 2,
        )
        for i, known in sorted(adversaries)
    )


def _check_moments(found: Moments) -> None:
    n = len(found.names)
    if found.rows < n + 3:
        raise InputError(
            f"the table has {found.rows:,} complete row{'' if found.rows == 1 else 's'} for {n} records: "
            f"give at least {n + 3}, or fewer columns, to estimate how they depend on each other"
        )
    for name, low, high, variance in zip(found.names, found.low, found.high, np.diag(found.cov), strict=True):
        if low == high:
            raise InputError(
                f"columns has {name!r}, which is {low:g} in every row: leave it out, it depends on nothing", "columns"
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


def _table(opened: OpenTable, records: RecordTable, asked: CorrelationRequest) -> CorrelationEstimate:
    names, what = records.names, records.unit
    weights = asked.weights(len(names))
    asked.tell(0.02, "joint table")
    with reading(opened):
        counts, values, missing = cell_counts(records)
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
        [counts],
        lambda laws: made(laws[0]).worst(**noise).upper,
        worst.leakage,
        asked.confidence,
        float(np.abs(weights) @ reach) / noise["scale"],
        seconds,
        lambda share, w: asked.tell(0.5 + 0.4 * share, w),
    )
    facts = {"values": [v.tolist() for v in values], "joint": (counts / rows).tolist()}
    notes = _missing_note(missing, what)
    rare = int(((counts > 0) & (counts < 5)).sum())
    if rare:
        notes.append(
            f"{rare:,} of {int((counts > 0).sum()):,} combinations occur in fewer than 5 {what}; "
            "the worst adversary may rest on them, so trust the upper end of the interval."
        )
    return CorrelationEstimate(
        DependenceModel.TABLE,
        names,
        rows,
        missing,
        what,
        weights,
        reach,
        noise,
        model,
        facts,
        worst,
        seconds,
        interval,
        notes,
    )


def _chain(opened: OpenTable, asked: CorrelationRequest) -> CorrelationEstimate:
    layout = asked.layout
    asked.tell(0.02, "transitions")
    with reading(opened):
        if isinstance(layout, PanelLayout):
            found, shown = panel_step_counts(
                opened.table, opened.engine, asked.columns[0], layout.person, layout.time, _single_bounds(asked)
            )
        else:
            found, shown = step_counts(_records(opened, asked)), asked.columns
    length = len(shown)
    if len(found.values) < 2:
        raise InputError(f"columns has only the value {found.values[0]:g}: there is nothing to tell apart", "columns")
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
        [found.first, *found.counts],
        lambda laws: made(laws[0], np.array(laws[1:])).worst(**noise).upper,
        worst.leakage,
        asked.confidence,
        float(np.abs(weights) @ reach) / noise["scale"],
        seconds,
        lambda share, w: asked.tell(0.5 + 0.4 * share, w),
    )
    facts = {"values": found.values.tolist(), "initial": initial.tolist(), "transition": transition.tolist()}
    notes = ["The step from one time to the next is taken to be the same at every time."]
    notes += _missing_note(found.missing, "steps")
    if totals.min() < 20:
        scarce = int(np.argmin(totals))
        notes.append(
            f"The value {found.values[scarce]:g} is followed by another only {int(totals[scarce, 0]):,} times: "
            "bounds that merge rare values make the estimate firmer."
        )
    unit = "people" if isinstance(layout, PanelLayout) else "rows"
    data = (shown, found.rows, found.missing, unit, weights, reach, noise, model, facts)
    return CorrelationEstimate(DependenceModel.CHAIN, *data, worst, seconds, interval, notes)


def _grouped(opened: OpenTable, asked: CorrelationRequest, layout: GroupLayout) -> CorrelationEstimate:
    """The members of a group, alike, from the variance between and within groups."""
    by, size, limit = layout.by, layout.size, _single_bounds(asked)
    if not isinstance(asked.query, str):
        raise InputError("query has weights: members of a group are alike; give 'sum'", parameter="query")
    asked.tell(0.02, "groups")
    found = table_relatedness(opened, asked.columns[0], by, limit, asked.confidence)
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
    form = partial(Worst, objective=objective, target=0, names=names, examined=1, independent=alone, complete=True)
    form = partial(form, method="closed form (exchangeable records)")
    leakages = map(float, found.leakage(size=n, reach=far, **noise))
    curve = [form(leakage=v, known=tuple(range(1, k + 1)), upper=v) for k, v in enumerate(leakages)]
    worst = max(curve, key=lambda w: w.leakage)
    between = [float(found.leakage(rho, n, far, **noise).max()) for rho in np.linspace(*found.interval, 101)]
    method = "the largest and smallest over the interval of the correlation"
    interval = Interval(min(*between, worst.leakage), max(*between, worst.leakage), asked.confidence, method)
    if size is None:
        notes.append(f"The largest group has {n} members; set size to a number chosen without the data.")
    notes += _missing_note(found.missing)
    facts = {"rho": found.rho, "rho_interval": list(found.interval), "variance": found.variance}
    data = (names, found.rows, found.missing, "rows", weights, reach, noise, found.model(size=n, reach=far), facts)
    return CorrelationEstimate(DependenceModel.NORMAL, *data, worst, 0.0, interval, notes, found, curve)


SCHEMA = 1
DISCLOSURE = (
    "These numbers were found by looking at the confidential data, so they disclose something: keep them inside."
)


#
# The leakage of an adversary is a regression coefficient β. With e, what their regression leaves of the query, and z,
# what the records they know leave of the target, both of variance 1, β lies above its estimate by less than d (in units
# of sd(e)/sd(z)) exactly if E v(d) < 0, where v(d) = z(e − d z). That is a statement about a mean of independent rows,
# and its limit that of :func:`~.intraclass.upper_end`: d is rejected at the level α if P(E₀ v₀(d) + Σ E_i v_i(d) ≥ 0) <
# α. v₀ is the largest v of any row within its range where every record is bounded or has two values, else twice the
# largest v seen.

#: Rows are nearly alike if e and z agree to this part of their standard deviations.
_STEPS = 8
_MOST_CELLS = 1 << 20


def inflation(records: RecordTable, found: Moments, answer: Array, part: Array, df: float, alpha: float) -> float:
    """By what Student's t error must be multiplied at this adversary for an upper end of level 1 − α; at least 1.

    ``answer`` and ``part`` are e and z as weights over the records, ``df`` the degrees of freedom. It is no less than
    the root of the ratio of the variance of β for any rows (Σz²e²/(Σz²)², the sandwich estimate) to that for normal
    ones ((Σe²/N)/Σz²).
    """
    if not answer.any() or not part.any() or answer @ found.cov @ answer <= 0:
        return 1.0
    left, own = (w / math.sqrt(float(w @ found.cov @ w)) for w in (answer, part))
    got = _cells(records, found, left, own)
    c, ze, zz, zzee, zzze, zzzz, ee = (got[name] for name in ("c", "ze", "zz", "zzee", "zzze", "zzzz", "ee"))
    usual = float(zz.sum() * ee.sum()) / float(c.sum())
    wider = max(math.sqrt(float(zzee.sum()) / usual), 1.0) if usual > 0 else 1.0
    limits = _ranges(records, found)

    def excess(d: float, sign: float) -> float:
        mean = (sign * ze - d * zz) / c
        spread = np.sqrt(np.maximum((zzee - 2 * sign * d * zzze + d**2 * zzzz) / c - mean**2, 0.0))
        if limits is None:
            most = 2 * max(float((mean + spread).max()), 0.0)
        else:
            most = largest_product(own, sign * left - d * own, *limits)
        values = np.concatenate((mean - spread, mean + spread, [most]))
        return tail_of_exponentials(values, np.concatenate((c / 2, c / 2, [1.0]))) - alpha

    for sign in (1.0, -1.0):  # whichever way |β| grows
        high = 4.0 / math.sqrt(df)
        while excess(high, sign) > 0 and high < 1e6:
            high *= 2
        d = float(root(partial(_of_arrays, excess, sign), np.asarray(0.0), np.asarray(high), atol=1e-9))
        wider = max(wider, d * math.sqrt(df) / float(stdtrit(df, 1 - alpha)))
    return wider


def _of_arrays(f: Callable[[float, float], float], sign: float, d: Array) -> Array:
    return np.asarray(f(float(d), sign))


def _cells(records: RecordTable, found: Moments, left: Array, own: Array) -> dict[str, Array]:
    place = [(column - float(m)) for column, m in zip(records.columns, found.mean, strict=True)]

    def combined(weights: Array) -> Any:
        terms = [column * float(w) for column, w in zip(place, weights, strict=True) if w]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    rows = records.base.filter(is_complete(records)).select(e=combined(left), z=combined(own))
    e, z = rows["e"], rows["z"]
    asked = {"ze": z * e, "zz": z**2, "zzee": (z * e) ** 2, "zzze": z**3 * e, "zzzz": z**4, "ee": e**2}
    cells = rows.group_by(i=(_STEPS * e).floor(), j=(_STEPS * z).floor())
    got = records.engine.fetch(
        cells.agg(c=rows.count(), **{name: value.sum() for name, value in asked.items()}).limit(_MOST_CELLS)
    )
    got = got.sort_by([("i", "ascending"), ("j", "ascending")])  # engines have no order, and sums do
    return {name: got[name].to_numpy(zero_copy_only=False).astype(np.float64) for name in ("c", *asked)}


def _ranges(records: RecordTable, found: Moments) -> tuple[Array, Array] | None:
    """From where to where each record lies about its mean; None where one has neither bounds nor only two values."""
    low, high = found.low.copy(), found.high.copy()
    # two values have the largest variance that their mean and range allow
    variance = np.diag(found.cov) * (found.rows - 1) / found.rows
    two = (found.mean - low) * (high - found.mean) - variance <= 1e-9 * (high - low) ** 2
    for i, name in enumerate(records.names):
        if name in records.bounds:
            low[i], high[i] = records.bounds[name]
        elif not two[i]:
            return None
    return low - found.mean, high - found.mean


def largest_product(a: Array, b: Array, low: Array, high: Array) -> float:
    """The largest (a·x)(b·x) for x between ``low`` and ``high``.

    The pairs (a·x, b·x) fill a polygon with an edge for each record, both ways; the product is largest on an edge.

    >>> largest_product(np.array([1.0, 0.0]), np.array([1.0, 1.0]), np.array([-1.0, -1.0]), np.array([1.0, 2.0]))
    3.0
    """
    edges = np.stack((a, b), axis=1) * (high - low)[:, None]
    turned = (edges[:, 1] < 0) | ((edges[:, 1] == 0) & (edges[:, 0] < 0))
    first = np.array([a @ low, b @ low]) + edges[turned].sum(axis=0)
    edges = np.where(turned[:, None], -edges, edges)
    edges = edges[np.argsort(np.arctan2(edges[:, 1], edges[:, 0]))]
    steps = np.concatenate((edges, -edges))
    x, y = (first + np.concatenate((np.zeros((1, 2)), np.cumsum(steps, axis=0)[:-1]))).T
    dx, dy = steps.T
    curved = dx * dy
    t = np.clip(np.where(curved < 0, -(x * dy + y * dx) / np.where(curved < 0, 2 * curved, 1.0), 0.0), 0.0, 1.0)
    return float(max((x * y).max(), ((x + t * dx) * (y + t * dy)).max()))


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
    kind: DependenceModel
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
    related: Relatedness | None
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
    table: object,
    columns: Sequence[str] | str,
    *,
    model: str = "normal",
    query: str | Sequence[float] = "sum",
    bounds: object = None,
    reach: object = None,
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
    engine: object = None,
    progress: Progress | None = None,
) -> Correlation:
    """Estimate how records depend on each other, and find the adversary who gains most from it.

    Parameters
    ----------
    table : object
        Anything :func:`~epsilens.data.tables.table.open_table` opens.
    columns : str or sequence of str
        The records: one column for each, a row being one observation of all of them. With ``by``, or with ``person``
        and ``time``, the one column that holds the values.
    model : {"normal", "table", "chain"}, default "normal"
        ``"normal"`` (a covariance), ``"table"`` (a joint table, for a few values) or ``"chain"`` (transitions, for
        records in the order of time).
    query : str or sequence of float, default "sum"
        What is released: ``"sum"``, or the weights of a linear query, one for each record.
    bounds : (float, float), mapping or list, optional
        Lowest and highest value, ``(0, 20)``, or a mapping or list with a pair for each column: values beyond are moved
        to them, as the release does, and their distance is the reach.
    reach : float or mapping, optional
        By how much one record can change, for the normal model; 1 unless bounds or this say otherwise.
    scale, sigma, epsilon : float, optional
        The noise: a Laplace scale, a Gaussian standard deviation, or the ε for which Laplace noise is made if records
        were independent; ε = 1 unless one is given.
    own_noise : bool, default True
        With ``sigma``: whether what the adversary does not know counts as noise, an assumption about the data; False is
        the conservative reading.
    by, size : str and int, optional
        Rows that share a value of ``by`` (a household) are related; ``size`` members count, the largest group's unless
        given.
    person, time : str, optional
        Rows are a person at a time; a person's records are their values over time.
    confidence : float, default 0.95
        Of the interval.
    time_limit : float, optional
        Seconds for the search, after which the best adversary found and a proven upper bound are given.
    engine : str or backend, optional
        None or ``"duckdb"``, ``"spark"``, an Ibis connection or URL.
    progress : callable, optional
        Called with (steps done, steps in all, what is being done).

    Returns
    -------
    Correlation
        The adversary who gains most, with an interval for the sampling error.

    Raises
    ------
    InputError
        If the table cannot be read or an argument lies outside its range.
    MissingExtra
        If the engine is not installed.
    """
    asked = CorrelationRequest.of(
        columns, model=model, query=query, bounds=bounds, reach=reach, scale=scale, sigma=sigma, epsilon=epsilon,
        own_noise=own_noise, by=by, size=size, person=person, time=time, confidence=confidence, time_limit=time_limit,
        progress=progress,
    )  # fmt: skip
    asked.tell(0, "opening the table")
    with open_table(table, engine) as opened:
        for name in asked.columns:
            column_of(opened.table, name, "columns")
        return _correlation(opened, estimate(opened, asked), asked)


def _correlation(opened: OpenTable, found: CorrelationEstimate, asked: CorrelationRequest) -> Correlation:
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
    if (
        found.kind is not DependenceModel.NORMAL
    ):  # values stay in their range, so group privacy holds whatever the sample says
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


def _contributions(found: CorrelationEstimate, asked: CorrelationRequest) -> tuple[Contribution, ...] | None:
    """What each record adds to the worst leakage, largest first; None where n more searches would take minutes."""
    if found.related is not None:  # members of a group are alike
        return ()
    if asked.time_limit is None and found.seconds * len(found.names) > PATIENCE:
        return None
    each: tuple[Contribution, ...] = found.model.contributions(**found.noise, time_limit=asked.time_limit)
    return each
