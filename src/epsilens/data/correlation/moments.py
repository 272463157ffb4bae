"""How records depend on each other, estimated from a table in one pass of the engine that holds it.

A *record* is one number of one person, a column here; a row is one observation of all of them: the members of a
household, the same person at several times. From the rows come the three models of dependence:

* :func:`moments`: the covariance, from counts, sums and products in one aggregate query;
* :func:`cell_counts`: how often each combination of values occurs, one GROUP BY;
* :func:`step_counts`: how often a value is followed by another, for columns in the order of time, one GROUP BY.

Sums of products lose digits when the mean is large beside the spread. Values are therefore moved by their mean and
divided by a power of two near their spread before anything is multiplied; both are rounded coarsely, so that every
engine takes the same ones, whatever the order in which it adds up.

Rows in which a value is empty, NaN or infinite are left out of all three and counted.

In the long format there is one row for a person and a time, and a person's records are their values over time.
:func:`panel_records` turns it into one row a person with one column a time, inside the engine;
:func:`panel_step_counts` counts steps from one time to the next with a window function, without turning it. Times are
the different values of the time column in their order; a step joins two times that are next to each other there, and
one over a gap is left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, stdtrit

from ...checks import Array
from ...errors import InputError
from ...results import join_words
from ..tables.columns import column_of, value_of
from ..tables.dialect import as_integer, finite, ibis, is_nan, normalized_values, stacked_pairs
from ..tables.engines import Engine

if TYPE_CHECKING:
    import ibis.expr.types as ir
    import pyarrow

    from ...attacks.correlated import Worst

_HALVES = 80
#: The most combinations of values a joint table may have, seen or not.
MOST_CELLS = 1 << 20
#: The most different values a chain's records may take.
MOST_STATES = 64
#: The most records.
MOST_RECORDS = 200

#: The lowest and highest value a record may have; values beyond are moved to them, as the release does.
Bounds: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class RecordTable:
    """Rows of numbers ready to be counted: columns x0, x1, … of the Ibis table ``base``, NULL where unusable.

    ``bounds`` are those of the records that have some, ``unit`` is what a row stands for.
    """

    base: ir.Table
    engine: Engine
    names: tuple[str, ...]
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    unit: str = "rows"

    @property
    def columns(self) -> list[ir.FloatingColumn]:
        """The records' columns."""
        return [self.base[f"x{i}"] for i in range(len(self.names))]


@dataclass(frozen=True)
class Moments:
    """Means and sample covariance (divisor N−1) of the complete rows, and their extremes."""

    names: tuple[str, ...]
    rows: int
    missing: int
    mean: Array
    cov: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class StepCounts:
    """First values and steps from one value to the next, counted; ``rows`` sequences, ``missing`` steps left out."""

    values: Array
    first: NDArray[np.int64]
    counts: NDArray[np.int64]
    rows: int
    missing: int


def float_column(column: ir.Column, role: str, bounds: Bounds | None = None) -> ir.FloatingColumn:
    """The column as a float64, NULL where it is NaN or infinite, moved into the bounds."""
    kind, name = column.type(), column.get_name()
    if kind.is_boolean():
        column = as_integer(normalized_values(column))
    elif not (kind.is_integer() or kind.is_floating() or kind.is_decimal()):
        raise InputError(
            f"{role} has {name!r} of type {kind}: give columns of numbers, or derive numbers from it first"
        )
    value = normalized_values(column).cast("float64")
    if kind.is_floating():
        value = ibis.ifelse(is_nan(value), ibis.null("float64"), value)
        value = value if bounds else finite(value)
    if bounds is not None:
        low, high = (ibis.literal(float(b), "float64") for b in bounds)
        # not least and greatest, which skip NULL on some engines
        value = ibis.ifelse(value < low, low, ibis.ifelse(value > high, high, value))
    return value + 0.0  # minus zero is zero


def wide_records(
    table: ir.Table,
    engine: Engine,
    columns: Sequence[str],
    bounds: Mapping[str, Bounds] | None = None,
    role: str = "columns",
) -> RecordTable:
    """The records of a table with one column for each."""
    names = tuple(columns)
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"{role} has {twice[0]!r} twice: give each column once")
    if len(names) > MOST_RECORDS:
        raise InputError(f"{role} has {len(names)} names: give at most {MOST_RECORDS}")
    limits = bounds or {}
    made = {f"x{i}": float_column(column_of(table, name, role), role, limits.get(name)) for i, name in enumerate(names)}
    return RecordTable(table.select(**made), engine, names, limits)


def is_complete(records: RecordTable) -> ir.BooleanColumn:
    """Whether a row has every value."""
    ok = records.columns[0].notnull()
    for column in records.columns[1:]:
        ok = ok & column.notnull()
    return ok


def centred(engine: Engine, rows: ir.Table, names: Sequence[str]) -> tuple[int, Array, Array]:
    """How many rows there are, and of each column a centre near its mean and a spread, a power of two.

    The spread is about four times the mean distance from the mean; the centre is a multiple of its 256th part.
    """
    asked = {f"m{i}": _halved(rows[name]).mean() for i, name in enumerate(names)}
    got = engine.fetch(rows.aggregate(n=rows.count(), **asked)).to_pylist()[0]
    if not got["n"]:
        return 0, np.zeros(len(names)), np.ones(len(names))
    mean = np.array([got[f"m{i}"] * 2.0**_HALVES for i in range(len(names))])
    away = [_halved(rows[name]) - ibis.literal(float(m * 2.0**-_HALVES)) for name, m in zip(names, mean, strict=True)]
    far = engine.fetch(rows.aggregate(**{f"d{i}": x.abs().mean() for i, x in enumerate(away)})).to_pylist()[0]
    distance = 4 * np.array([far[f"d{i}"] for i in range(len(names))])
    distance = np.where(distance > 0, distance, np.maximum(np.abs(mean), 1.0) * 2.0**-_HALVES)
    spread = np.exp2(np.clip(np.round(np.log2(distance)) + _HALVES, -1000, 1000))
    with np.errstate(over="ignore"):
        rounded = np.round(mean / spread * 256) * (spread / 256)
    return int(got["n"]), np.where(np.isfinite(rounded), rounded, mean), spread


def _halved(column: ir.FloatingColumn) -> ir.FloatingColumn:
    """The number so many times halved that no sum of them is too large, and none of them vanishes."""
    return ibis.ifelse(column.abs() < 1e-200, 0.0, column) * 2.0**-_HALVES


def _centre(records: RecordTable) -> tuple[Array, Array]:
    """A centre and a spread for each column, from the complete rows."""
    columns = [f"x{i}" for i in range(len(records.names))]
    rows, centre, spread = centred(records.engine, records.base.filter(is_complete(records)), columns)
    if not rows:
        raise InputError(
            f"no row of the table has a usable number in each of {join_words(records.names[:6])}: "
            "leave out the columns that are empty"
        )
    return centre, spread


def moments(records: RecordTable) -> Moments:
    """Means and covariance of the complete rows, from one aggregate query.

    >>> from epsilens.data.tables.table import open_table
    >>> opened = open_table({"a": [1.0, 2.0, 4.0, None], "b": [2.0, 4.0, 9.0, 1.0]})
    >>> found = moments(wide_records(opened.table, opened.engine, ["a", "b"]))
    >>> found.cov.round(6).tolist(), found.rows, found.missing
    ([[2.333333, 5.5], [5.5, 13.0]], 3, 1)
    >>> opened.close()
    """
    n = len(records.names)
    centre, spread = _centre(records)
    ok, none = is_complete(records), ibis.null("float64")
    moved = {
        f"y{i}": ibis.ifelse(ok, (column - float(centre[i])) / float(spread[i]), none)
        for i, column in enumerate(records.columns)
    }
    base = records.base.select(**moved)
    y = [base[f"y{i}"] for i in range(n)]
    asked = {"total": base.count(), "rows": y[0].count()}
    for i in range(n):
        asked |= {f"s{i}": y[i].sum(), f"l{i}": y[i].min(), f"h{i}": y[i].max()}
        asked |= {f"p{i}_{j}": (y[i] * y[j]).sum() for j in range(i, n)}
    got = records.engine.fetch(base.aggregate(**asked)).to_pylist()[0]
    rows = int(got["rows"])
    mean = np.array([got[f"s{i}"] for i in range(n)]) / rows
    product = np.array([[got[f"p{min(i, j)}_{max(i, j)}"] for j in range(n)] for i in range(n)])
    with np.errstate(over="ignore", invalid="ignore"):
        centred = (product - rows * np.outer(mean, mean)) / max(rows - 1, 1)
        cov = centred * spread[:, None] * spread
    if not np.isfinite(cov).all():
        raise InputError(
            f"columns has values too large to multiply in {join_words(records.names[:6])}: give bounds, or divide them",
            parameter="columns",
        )
    low, high = (np.array([got[f"{end}{i}"] for i in range(n)]) * spread + centre for end in "lh")
    return Moments(records.names, rows, int(got["total"]) - rows, centre + spread * mean, cov, low, high)


def cell_counts(records: RecordTable) -> tuple[NDArray[np.int64], list[Array], int]:
    """How often each combination of values occurs: an array with an axis for each record, its values, rows left out.

    >>> from epsilens.data.tables.table import open_table
    >>> opened = open_table({"a": [0, 0, 1, 1], "b": [0, 3, 3, None]})
    >>> counts, values, missing = cell_counts(wide_records(opened.table, opened.engine, ["a", "b"]))
    >>> counts.tolist(), [v.tolist() for v in values], missing
    ([[1, 1], [0, 1]], [[0.0, 1.0], [0.0, 3.0]], 1)
    >>> opened.close()
    """
    n = len(records.names)
    keys = [f"x{i}" for i in range(n)]
    grouped = records.base.group_by(keys).agg(n_=records.base.count())
    got = records.engine.fetch(grouped.limit(MOST_CELLS + 1))
    if len(got) > MOST_CELLS:
        raise _too_many(f"more than {MOST_CELLS:,}")
    found = {key: got[key].to_numpy(zero_copy_only=False).astype(np.float64) for key in keys}
    count = got["n_"].to_numpy(zero_copy_only=False).astype(np.int64)
    ok = np.ones(len(count), dtype=bool)
    for key in keys:
        ok &= ~np.isnan(found[key])
    if not ok.any():
        raise InputError(
            f"no row of the table has a usable number in each of {join_words(records.names[:6])}: "
            "leave out the columns that are empty"
        )
    values, place = [], []
    for key in keys:
        levels, where = np.unique(found[key][ok], return_inverse=True)
        values.append(levels)
        place.append(where)
    size = int(np.prod([float(len(v)) for v in values]))
    if size > MOST_CELLS:
        raise _too_many(f"{size:,}")
    counts = np.zeros([len(v) for v in values], dtype=np.int64)
    np.add.at(counts, tuple(place), count[ok])
    return counts, values, int(count[~ok].sum())


def _too_many(how_many: str) -> InputError:
    return InputError(
        f"columns take {how_many} combinations of values, and a joint table may have {MOST_CELLS:,}: "
        "give fewer columns, bounds that merge rare values, or model='normal'"
    )


def step_counts(records: RecordTable) -> StepCounts:
    """First values and steps of columns in the order of time, from one grouped query.

    A step is left out where either of its ends is empty.

    >>> from epsilens.data.tables.table import open_table
    >>> opened = open_table({"t1": [0, 0, 1], "t2": [0, 1, 1], "t3": [1, 1, 0]})
    >>> found = step_counts(wide_records(opened.table, opened.engine, ["t1", "t2", "t3"]))
    >>> found.first.tolist(), found.counts.tolist()
    ([2, 1], [[1, 2], [1, 2]])
    >>> opened.close()
    """
    columns = records.columns
    flat = stacked_pairs(records.base, [(0, columns[0], columns[0]), *((1, a, b) for a, b in pairwise(columns))])
    return counted_steps(_counted(records.engine, flat))


def _counted(engine: Engine, flat: ir.Table) -> pyarrow.Table:
    """How often each step occurs; of no more steps than a chain of so many states can have."""
    most = 3 * (MOST_STATES + 1) ** 2  # three kinds, and each end may be empty
    got = engine.fetch(flat.group_by(["k", "a", "b"]).agg(n_=flat.count()).limit(most + 1))
    if got.num_rows > most:
        raise _too_many_states(f"more than {MOST_STATES}")
    return got


def _too_many_states(how_many: str) -> InputError:
    return InputError(
        f"columns take {how_many} different values, and a chain may have {MOST_STATES}: "
        "give bounds that merge rare values, or round them first"
    )


def counted_steps(got: pyarrow.Table) -> StepCounts:
    """Steps from grouped rows: k is 0 for a first value, 1 for a step from a to b, else what is left out."""
    kind, count = (got[c].to_numpy(zero_copy_only=False).astype(np.int64) for c in ("k", "n_"))
    a, b = (got[c].to_numpy(zero_copy_only=False).astype(np.float64) for c in "ab")
    first = (kind == 0) & ~np.isnan(b)
    step = (kind == 1) & ~np.isnan(a) & ~np.isnan(b)
    values = np.unique(np.concatenate((b[first], a[step], b[step])))
    if not step.any():
        raise InputError(
            "the table has no value that is followed by another: give the columns in the order of time, "
            "or a person with several times"
        )
    if len(values) > MOST_STATES:
        raise _too_many_states(f"{len(values):,}")
    starts = np.zeros(len(values), dtype=np.int64)
    counts = np.zeros((len(values), len(values)), dtype=np.int64)
    np.add.at(starts, np.searchsorted(values, b[first]), count[first])
    np.add.at(counts, (np.searchsorted(values, a[step]), np.searchsorted(values, b[step])), count[step])
    silent = np.flatnonzero(counts.sum(axis=1) == 0)
    if silent.size:
        raise InputError(
            f"the value {values[silent[0]]:g} is never followed by another, so nothing is known about what follows it: "
            "give bounds that merge rare values"
        )
    lost = int(count[(kind != 0) & ~step].sum())
    return StepCounts(values, starts, counts, int(count[kind == 0].sum()), lost)


def _rows(table: ir.Table, value: str, person: str, time: str, bounds: Bounds | None) -> ir.Table:
    """The rows that say whose, when and (perhaps) how much: p, t, v."""
    roles = {"columns": value, "person": person, "time": time}
    for role, name in roles.items():
        for other, same in roles.items():
            if role < other and name == same:
                raise InputError(f"{other} is {same!r}, which is also the column of {role}: give another")
    made = table.select(
        p=value_of(column_of(table, person, "person"), "person"),
        t=value_of(column_of(table, time, "time"), "time"),
        v=float_column(column_of(table, value, "columns"), "columns", bounds),
    )
    return made.filter(made["p"].notnull() & made["t"].notnull())


def times_of(engine: Engine, rows: ir.Table, person: str, time: str) -> list[object]:
    """The different times in their order, after making sure that nobody has two rows for one of them."""
    each = rows.group_by("t").agg(n=rows.count(), people=rows["p"].nunique())
    got = engine.fetch(each.limit(MOST_RECORDS + 1)).to_pylist()
    if len(got) > MOST_RECORDS:
        raise InputError(
            f"time is {time!r}, which has more than {MOST_RECORDS} different values: "
            "derive a coarser one, such as the month or the year",
            parameter="time",
        )
    if any(row["n"] != row["people"] for row in got):
        raise InputError(
            f"{person!r} has several rows for one {time!r}: add them up first, so that a person has one value at a time"
        )
    if len(got) < 2:
        raise InputError(
            f"time is {time!r}, which has {len(got)} different values: give a column with at least two", "time"
        )
    return sorted(row["t"] for row in got)  # here, where text has one order


def panel_records(
    table: ir.Table, engine: Engine, value: str, person: str, time: str, bounds: Bounds | None = None
) -> RecordTable:
    """One row a person, one record a time.

    >>> from epsilens.data.tables.table import open_table
    >>> opened = open_table("epsilens:rand-hie")
    >>> records = panel_records(opened.table, opened.engine, "visits", "person", "year")
    >>> records.names, opened.engine.fetch(records.base.count()).to_pylist()
    (('year 1', 'year 2', 'year 3', 'year 4', 'year 5'), [{'CountStar()': 5912}])
    >>> opened.close()
    """
    rows = _rows(table, value, person, time, bounds)
    times = times_of(engine, rows, person, time)
    each = rows.group_by("p").agg(**{f"x{i}": rows["v"].max(where=rows["t"] == t) for i, t in enumerate(times)})
    names = _named(time, times)
    return RecordTable(each.drop("p"), engine, names, dict.fromkeys(names, bounds) if bounds else {}, "people")


def panel_step_counts(
    table: ir.Table, engine: Engine, value: str, person: str, time: str, bounds: Bounds | None = None
) -> tuple[StepCounts, tuple[str, ...]]:
    """First values of people and steps between neighbouring times, and the names of the times."""
    rows = _rows(table, value, person, time, bounds)
    times = times_of(engine, rows, person, time)
    rows = rows.filter(rows["v"].notnull())
    place = rows["t"].cases(*((t, i) for i, t in enumerate(times)), else_=-1).cast("int64")
    placed = rows.select("p", "v", i=place)
    by_time = ibis.window(group_by="p", order_by="i")
    before = placed.mutate(a=placed["v"].lag().over(by_time), j=placed["i"].lag().over(by_time))
    gap = ibis.ifelse(before["i"] - before["j"] == 1, 1, 2)
    kind = ibis.ifelse(before["j"].isnull(), 0, gap).cast("int64")
    flat = before.select(k=kind, a=before["a"], b=before["v"])
    return counted_steps(_counted(engine, flat)), _named(time, times)


def _named(time: str, times: list[object]) -> tuple[str, ...]:
    return tuple(f"{time} {t:g}" if isinstance(t, float) else f"{time} {t}" for t in times)


#
# **Normal records.** The leakage of the adversary (i, K) is reach·|β|/scale, and β is the coefficient of x_i in the
# regression of the query S on x_i and x_K. Its estimate therefore has the exact error of a regression coefficient: for
# normal rows Student's t with N−|K|−2 degrees of freedom, and the standard error
# √(Var(S|x_i,x_K)/Var(x_i|x_K)/(N−|K|−2)). Let a* be the adversary who is truly the worst:
#
# * the upper end is the maximum over all adversaries of (estimate + t·error). It is no less than the same expression at
#   a*, which alone fails with the stated probability: choosing the largest costs nothing;
# * the lower end is the maximum over all adversaries of (estimate − t'·error), t' for the stated probability divided by
#   the number of adversaries, because the largest of many estimates is likely to be too large.
#
# Rows that are not normal have other errors: they are multiplied by :func:`inflation`, found at the worst
# adversary and at those who know no other record. Up to :data:`MOST_ENUMERATED` records every adversary is visited;
# beyond, the largest error that any could have is added to the proven upper bound, which is wide.
#
# **Tables and chains.** Probabilities are drawn from their Dirichlet posterior given the counts, :data:`DRAWS` times
# with a fixed seed: half of the draws with ½ a row added to each cell (at most √N/2 in all), as if what was never seen
# were possible, half with nothing added, as if it were not; either may leak more. The interval holds the middle share
# of both halves and the estimate itself.

#: Up to so many records every adversary's error is looked at (n·2^(n−1) of them).
MOST_ENUMERATED = 18
DRAWS = 200
#: Fewest draws that still have tails to read.
_FEWEST = 80
#: Seconds that a part of the answer may take which can be left out.
PATIENCE = 30.0
_BLOCK = 10
_SEED = 20190


@dataclass(frozen=True)
class Interval:
    """An interval for the worst leakage: what the sample leaves uncertain if the model holds."""

    low: float
    high: float
    confidence: float
    method: str


def regression(cov: Array, weights: Array, target: int, known: tuple[int, ...]) -> tuple[Array, Array]:
    """What the adversary's regressions leave, as weights over the records: of the query, and of the target.

    >>> e, z = regression(np.array([[1.0, 0.5], [0.5, 1.0]]), np.ones(2), 0, ())
    >>> e.tolist(), z.tolist()
    ([-0.5, 1.0], [1.0, 0.0])
    """
    both, others = [target, *known], list(known)
    answer = weights.astype(float)
    answer[both] -= np.linalg.solve(cov[np.ix_(both, both)], cov[both] @ weights)
    part = np.zeros(len(weights))
    part[target] = 1.0
    if others:
        part[others] -= np.linalg.solve(cov[np.ix_(others, others)], cov[others, target])
    answer[both] = np.where(np.abs(answer[both]) < 1e-12 * np.abs(weights).max(), 0.0, answer[both])
    return answer, part


def _adversaries(cov: Array, weights: Array) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Blocks of known sets K: β, Var(x_i|K), Var(S|x_i,K) with a column for each i (NaN where i is known), and |K|."""
    n = len(weights)
    full = np.empty((n + 1, n + 1))
    full[:n, :n] = cov
    full[n, :n] = full[:n, n] = cov @ weights
    full[n, n] = weights @ cov @ weights
    last = list(range(max(n - _BLOCK, 0), n))

    def learn(block: Array, j: int) -> Array:
        column = block[:, :, j]
        return block - column[:, :, None] * column[:, None, :] / block[:, j, j][:, None, None]

    def visit(block: Array, known: NDArray[np.bool_], j: int) -> Iterator[tuple[Array, NDArray[np.bool_]]]:
        if j < last[0]:
            yield from visit(block, known, j + 1)
            yield from visit(learn(block, j), known | (np.arange(n) == j), j + 1)
            return
        for k in last:
            block = np.concatenate((block, learn(block, k)))
            known = np.concatenate((known, known | (np.arange(n) == k)))
        yield block, known

    for block, known in visit(full[None], np.zeros((1, n), dtype=bool), 0):
        v = np.where(known, np.nan, block[:, range(n), range(n)])
        v = np.where(v > 0, v, np.nan)
        shared = block[:, n, :n]
        left = np.maximum(block[:, n, n][:, None] - shared**2 / v, 0.0)
        # with every other record known nothing is left of the query, up to rounding
        left = np.where((~known).sum(axis=1)[:, None] == 1, 0.0, left)
        yield shared / v, v, left, known.sum(axis=1).astype(float)


def normal_interval(
    cov: Array,
    weights: Array,
    reach: Array,
    rows: int,
    confidence: float,
    worst: Worst,
    *,
    scale: float | None = None,
    sigma: float | None = None,
    own_noise: bool = True,
    inflated: float = 1.0,
) -> Interval:
    """The interval of the worst leakage (or ψ with ``sigma``) of normal records estimated from so many rows."""
    n = len(weights)
    tail = (1 - confidence) / 2
    count = n * 2.0 ** (n - 1)
    noise = scale if sigma is None else sigma
    assert noise is not None
    own = sigma is not None and own_noise

    def read(m: Array, beta: Array, v: Array, left: Array, df: Array) -> tuple[Array, Array]:
        error = inflated * np.sqrt(left / v / df)
        if not own:
            up = np.abs(beta) + stdtrit(df, 1 - tail) * error
            down = np.abs(beta) - stdtrit(df, 1 - tail / count) * error
            return m * up / noise, m * down / noise
        # ψ also needs what the data's own randomness adds to the noise: half the probability for each
        up = np.abs(beta) + stdtrit(df, 1 - tail / 2) * error
        down = np.abs(beta) - stdtrit(df, 1 - tail / count / 2) * error
        less = left * np.maximum(1 - inflated * (1 - df / chdtri(df, tail / 2)), 0.0)
        more = left * (1 + inflated * (df / np.maximum(chdtri(df, 1 - tail / count / 2), 1e-300) - 1))
        less, more = np.hypot(noise, np.sqrt(less)), np.hypot(noise, np.sqrt(more))
        return m * up / less, m * np.maximum(down, 0) / more

    method = "Student's t at every adversary"
    if n <= MOST_ENUMERATED:
        low, high = 0.0, float(worst.upper)
        for beta, v, left, k in _adversaries(cov, weights):
            up, down = read(reach, beta, v, left, np.broadcast_to((rows - k - 2)[:, None], beta.shape))
            low, high = max(low, float(np.nanmax(down))), max(high, float(np.nanmax(up)))
    else:
        method = "the largest error any adversary could have, added to the proven bound"
        df = np.array(rows - n - 1.0)
        answer, part = regression(cov, weights, worst.target, worst.known)
        v, left = (np.array(w @ cov @ w) for w in (part, answer))
        beta = np.array((weights @ cov @ part) / v)
        low = float(read(reach[worst.target], beta, v, left, df)[1])
        total = np.array(weights @ cov @ weights)
        error = float(inflated * np.max(reach * np.sqrt(np.diag(np.linalg.inv(cov)) * total / df)))
        if not own:
            high = worst.upper + float(stdtrit(df, 1 - tail)) * error / noise
        else:
            kept = max(1 - inflated * (1 - float(df / chdtri(df, tail / 2))), 1e-12)
            high = worst.upper / np.sqrt(kept) + float(stdtrit(df, 1 - tail / 2)) * error / noise
    if inflated > 1.0:
        method += f", times {inflated:.3g} because the rows are not normal"
    return Interval(min(max(low, 0.0), float(worst.leakage)), float(high), confidence, method)


def drawn_interval(
    counts: list[NDArray[np.int64]],
    leakage: Callable[[list[Array]], float],
    found: float,
    confidence: float,
    group: float,
    seconds: float = 0.0,
    progress: Callable[[float, str], None] | None = None,
) -> Interval:
    """The interval of ``leakage``, a function of laws, each estimated from one array of counts.

    One value takes about ``seconds``; where the fewest draws would take minutes, the upper end is ``group``, which no
    law exceeds.
    """
    if seconds * _FEWEST > 2 * PATIENCE:
        return Interval(0.0, max(group, found), confidence, "group privacy, because draws would take minutes")
    random = np.random.default_rng(_SEED)
    values: tuple[list[float], list[float]] = ([], [])
    started = time.monotonic()
    for k in range(DRAWS):
        values[k % 2].append(leakage([_draw(random, c, possible=k % 2 == 0) for c in counts]))
        if progress is not None:
            progress((k + 1) / DRAWS, f"sampling error: draw {k + 1} of {DRAWS}")
        if k + 1 >= _FEWEST and time.monotonic() - started > PATIENCE:
            break
    tail = (1 - confidence) / 2
    ends = [np.quantile(v, [tail, 1 - tail], method="inverted_cdf") for v in values]
    method = f"{sum(map(len, values))} draws from the Dirichlet posterior"
    low, high = min(float(e[0]) for e in ends), max(float(e[1]) for e in ends)
    return Interval(min(low, found), max(high, found), confidence, method)


def _draw(random: np.random.Generator, counts: NDArray[np.int64], *, possible: bool) -> Array:
    """One law given how often each of its cells was seen; whether cells that were not are possible."""
    added = min(0.5, np.sqrt(counts.sum()) / (2 * counts.size)) if possible else 0.0
    parts = random.standard_gamma(counts + added)
    return np.asarray(parts / parts.sum())
