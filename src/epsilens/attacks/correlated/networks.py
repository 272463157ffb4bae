"""Records joined by a tree, or by any network of small treewidth: one adversary in polynomial time.

The records' joint distribution is a product of factors. Unknown records are summed out one by one; what is left of them
is a factor over their neighbours that carries, for each of their values, the law of the sum so far (§C(b)). The worst
adversary ranges over exponentially many sets of known records: it is exact while the joint table is small, and beyond
that the best found by a time limit with a proven bound.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import checks
from ...checks import Array
from ...errors import InputError, MissingExtra, type_phrase
from .answer_laws import Contributions, Laws, Width, contributions, convolve, shift_sums
from .records import CorrelatedRecords, Outcome, Progress, RiskMeasure, Seconds, Worst, record_names
from .tables import MOST_CELLS, TOTAL, JointTable, check_probabilities, log_odds_range

_MOST_NUMBERS = 2**22  # in one factor
_SMALL_TABLE = 2**14


@dataclass(frozen=True, eq=False)
class Potential:
    """Logarithms over the values of ``records`` (one axis each) and, on the last axis, the sum so far at ``places``."""

    records: tuple[int, ...]
    places: Array
    logs: Array

    def over(self, records: tuple[int, ...]) -> Array:
        """The same on the axes of more records."""
        order = [self.records.index(r) for r in records if r in self.records]
        moved = np.transpose(self.logs, (*order, self.logs.ndim - 1))
        index = tuple(slice(None) if r in self.records else None for r in records)
        return np.asarray(moved[(*index, slice(None))])


def _product(a: Potential, b: Potential) -> Potential:
    records = tuple(sorted({*a.records, *b.records}))
    one, other = a.over(records), b.over(records)
    shape = np.broadcast_shapes(one.shape[:-1], other.shape[:-1])
    if math.prod(shape) * a.places.size * b.places.size > _MOST_NUMBERS:
        raise InputError(
            f"summing out the unknown records joins {len(records)} of them at once, over too many sums: "
            "give a network of smaller treewidth, or values with a common unit"
        )
    places, logs = convolve(a.places, one, b.places, other)
    return Potential(records, places, np.broadcast_to(logs, (*shape, places.size)))


class Network(CorrelatedRecords):
    """Records whose joint distribution is a product of factors, and a noisy answer Σ aⱼxⱼ. Built by :func:`tree`."""

    def __init__(self, factors: tuple[Potential, ...], parts: Contributions, names: tuple[str, ...]) -> None:
        self.factors, self.parts, self.names = factors, parts, names

    def __repr__(self) -> str:
        return f"correlated.tree({self.n} records)"

    def _mixtures(self, target: int, known: Mapping[int, int]) -> Laws:
        live = [_conditioned(f, known) for f in self.factors]
        left = {j for j in range(self.n) if j != target and j not in known}
        while left:
            j = min(left, key=lambda r: (len({s for f in live if r in f.records for s in f.records}), r))
            left.discard(j)
            touching = [f for f in live if j in f.records]
            live = [f for f in live if j not in f.records]
            total = touching[0]
            for f in touching[1:]:
                total = _product(total, f)
            axis = total.records.index(j)
            places, logs = shift_sums(total.places, np.moveaxis(total.logs, axis, 0), self.parts.amounts[j])
            rest = tuple(r for r in total.records if r != j)
            live.append(Potential(rest, places, np.logaddexp.reduce(logs, axis=0)))
        d = self.parts.values[target].size
        total = Potential((target,), np.zeros(1), np.zeros((d, 1)))
        for f in live:
            total = _product(total, f)
        places, logs = shift_sums(total.places, total.logs, self.parts.amounts[target])
        return Laws(places * self.parts.unit, logs.T, self.parts.values[target])

    def _possible(self, known: tuple[int, ...]) -> Callable[[tuple[int, ...]], bool]:
        combinations = math.prod(self.parts.values[j].size for j in known)
        if combinations > 20_000:
            raise InputError(
                f"{len(known)} known records have {combinations:.2g} combinations of values: "
                "give known as record: value pairs",
                "known",
            )
        return lambda numbers: True

    def table(self) -> JointTable:
        shape = tuple(v.size for v in self.parts.values)
        if math.prod(shape) > 2**22:
            raise InputError(f"{self.n} records are too many for a joint table: ask the tree itself")
        everyone = tuple(range(self.n))
        logs = np.zeros(shape)
        for f in self.factors:
            logs = logs + f.over(everyone)[..., 0]
        joint = np.exp(logs)
        return JointTable(joint / joint.sum(), self.parts, self.names)

    def _small(self) -> bool:
        return math.prod(v.size for v in self.parts.values) <= _SMALL_TABLE

    def _search(self, risk: RiskMeasure, deadline: float, progress: Progress | None) -> Outcome:
        if self._small():
            return self.table()._search(risk, deadline, progress)
        if deadline == math.inf:
            raise InputError(
                f"the tree has {self.n} records, too many to try all sets of known ones: "
                "give time_limit in seconds for the best found by then with a proven bound",
                "time_limit",
            )
        return self._local_search(risk, deadline, progress)

    def _bounds(self, risk: RiskMeasure) -> Array:
        """An upper bound per target over all knowledge: everyone moves together; in a tree, for the leakage, the own
        move and for each neighbour the swing across that edge, or all that lies beyond it.
        """
        total = float(self.reach.sum())
        bounds = np.full(self.n, risk.shift(total))
        pairs = [f for f in self.factors if len(f.records) == 2]
        if risk.reading != "leakage" or len(pairs) != self.n - 1 or any(len(f.records) > 2 for f in self.factors):
            return bounds
        for i in range(self.n):
            across = []
            for f in pairs:
                if i in f.records:
                    other = f.records[1 - f.records.index(i)]
                    beyond = float(self.reach[list(_far_side(pairs, i, other))].sum()) / risk.width
                    logs = f.logs[..., 0] if f.records[0] == i else f.logs[..., 0].T
                    across.append(np.minimum(log_odds_range(logs), beyond))
            own = np.abs(self.parts.amounts[i][:, None] - self.parts.amounts[i]) * (self.parts.unit / risk.width)
            bounds[i] = min(bounds[i], float((own + sum(across)).max()) * (1 + 1e-12))
        return bounds

    def _local_search(self, risk: RiskMeasure, deadline: float, progress: Progress | None) -> Outcome:
        """From nothing known, make known (or forget) the record that raises the risk most, for each target in turn."""
        bounds = self._bounds(risk)
        upper = float(bounds.max())
        top = int(np.argmax(self.reach))
        best: tuple[float, int, dict[int, int]] = (risk.shift(float(self.reach[top])), top, {})
        everyone, examined = True, 0
        for step, i in enumerate(np.argsort(-self.reach, kind="stable")):
            target = int(i)
            if bounds[target] <= best[0]:
                continue
            here: dict[int, int] = {}
            value = -math.inf
            while time.monotonic() < deadline or not examined:
                moves = [here] if value == -math.inf else list(self._changes(target, here))
                found = value
                for move in moves:
                    if examined and time.monotonic() > deadline:
                        break
                    examined += 1
                    try:
                        laws = self._laws(target, move)
                    except InputError:  # too many sums to lay out: the bound covers it
                        continue
                    risen = risk.read(laws, max(found, 0.0)) if laws.possible else -math.inf
                    if risen > found * (1 + 1e-12):
                        found, here = risen, move
                if found <= value:
                    break
                value = found
                if value > best[0]:
                    best, everyone = (value, target, here), False
            if progress is not None:
                progress((step + 1) / self.n, f"{examined:,} adversaries examined")
            if time.monotonic() > deadline:
                break
        value, target, numbers = best
        known = tuple(j for j in range(self.n) if j != target) if everyone else tuple(sorted(numbers))
        values = None if everyone else {j: float(self.parts.values[j][v]) for j, v in numbers.items()}
        method = "local search until the time limit"
        return Outcome(value, target, known, values, max(upper, value), value >= upper, examined, method)

    def _changes(self, target: int, known: Mapping[int, int]) -> Iterator[dict[int, int]]:
        """The same knowledge with one record forgotten, learned, or at another value."""
        for j in range(self.n):
            for number in range(-1, self.parts.values[j].size) if j != target else ():
                if number < 0 and j in known:
                    yield {k: v for k, v in known.items() if k != j}
                elif number >= 0 and known.get(j, -1) != number:
                    yield {**known, j: number}

    def by_known(
        self, *, scale: Width = None, sigma: Width = None, time_limit: Seconds = None, progress: Progress | None = None
    ) -> tuple[Worst, ...]:
        """The worst adversary for each number of known records; while the joint table is small."""
        return self.table().by_known(scale=scale, sigma=sigma, time_limit=time_limit, progress=progress)

    def _worst_without(self, record: int, risk: RiskMeasure, time_limit: float | None) -> Worst:
        return self.table()._worst_without(record, risk, time_limit)


def _far_side(pairs: Sequence[Potential], i: int, other: int) -> set[int]:
    found, open_ = {other}, [other]
    while open_:
        at = open_.pop()
        near = {r for f in pairs if at in f.records for r in f.records} - found - {i}
        found |= near
        open_ += near
    return found


def _conditioned(f: Potential, known: Mapping[int, int]) -> Potential:
    index = tuple(known[r] if r in known else slice(None) for r in f.records)
    return Potential(tuple(r for r in f.records if r not in known), f.places, f.logs[(*index, slice(None))])


def tree(
    parents: Sequence[int | None],
    root: ArrayLike,
    conditionals: Sequence[ArrayLike | None],
    values: object = None,
    weights: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
) -> Network:
    """Records joined by a tree: ``parents[j]`` is the record that j depends on, −1 (or None) for the root.

    ``root`` is the root's distribution and ``conditionals[j][x][y]`` is P(x_j = y | parent = x), None for the root.

    Parameters
    ----------
    parents : sequence of int
        The record each depends on, −1 or None for the root.
    root : array_like
        Probabilities of the root's values.
    conditionals : sequence of array_like
        P(x_j = y | parent = x), None for the root.
    values : sequence, optional
        Numbers behind the indices, one list for all or one a record.
    weights : array_like, optional
        Weights of the linear query, one a record; all 1 unless given.
    names : sequence of str, optional
        What sentences call the records.

    Returns
    -------
    Network
        The model, with its searches.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> from epsilens import correlated
    >>> low, high = [0.85, 0.15], [0.15, 0.85]   # three records that follow a small one (§B.3)
    >>> t = correlated.tree([3, 3, 3, -1], [0.5, 0.5], [[low, high]] * 3 + [None], values=[[0, 1]] * 3 + [[0, 0.2]])
    >>> round(t.worst(scale=1.0).leakage, 6)
    2.213187
    """
    for name, listed in (("parents", parents), ("conditionals", conditionals)):
        if isinstance(listed, str) or not checks.has_length(listed):
            raise InputError(f"{name} is {listed!r:.60}: give a list with one entry per record", name)
    above = [-1 if p is None else checks.integer("parents", p, low=-1, high=len(parents) - 1) for p in parents]
    roots = [j for j, p in enumerate(above) if p == -1]
    if len(roots) != 1:
        raise InputError(f"parents has {len(roots)} roots: give exactly one record without a parent (−1)", "parents")
    for j in range(len(above)):
        at, steps = j, 0
        while above[at] != -1:
            at, steps = above[at], steps + 1
            if steps > len(above):
                raise InputError(f"parents of record {j} lead in a circle: give a tree", "parents")
    if len(conditionals) != len(above):
        raise InputError(
            f"conditionals has {len(conditionals)} entries for {len(above)} records: give one per record",
            "conditionals",
        )
    first = checks.real("root", root)
    if first.ndim != 1 or first.size == 0:
        raise InputError(f"root has shape {first.shape}: give one probability per value", "root")
    check_probabilities("root", first)
    given: dict[int, Array] = {}
    for j, matrix in enumerate(conditionals):
        if (matrix is None) != (j == roots[0]):
            raise InputError(
                f"conditionals of record {j} are wrong: give None for the root and a matrix for the others",
                "conditionals",
            )
        if matrix is not None:
            given[j] = checks.real(f"conditionals of record {j}", matrix, of="conditionals")
            if given[j].ndim != 2 or 0 in given[j].shape:
                raise InputError(
                    f"conditionals of record {j} have shape {given[j].shape}: give a matrix", "conditionals"
                )
            for row in given[j]:
                check_probabilities(f"a row of conditionals of record {j}", row, of="conditionals")
    sizes = [first.size if j == roots[0] else given[j].shape[1] for j in range(len(above))]
    factors = []
    for j, p in enumerate(above):
        if p >= 0 and given[j].shape[0] != sizes[p]:
            raise InputError(
                f"conditionals of record {j} have {given[j].shape[0]} rows for a parent of {sizes[p]} values: "
                f"give {sizes[p]}",
                "conditionals",
            )
        with np.errstate(divide="ignore"):
            if p < 0:
                factors.append(Potential((j,), np.zeros(1), np.log(first / first.sum())[:, None]))
            else:
                matrix = given[j] / given[j].sum(axis=1, keepdims=True)
                logs = np.log(matrix if p < j else matrix.T)[:, :, None]
                factors.append(Potential((min(p, j), max(p, j)), np.zeros(1), logs))
    return Network(tuple(factors), contributions(sizes, values, weights), record_names(names, len(above)))


# -- networks of pgmpy: a joint table while it is small, factors beyond -----------------------------------------------


def network(
    model: object, values: object = None, weights: ArrayLike | None = None, *, names: Sequence[str] | None = None
) -> Network:
    """A discrete Bayesian network of pgmpy, or the path of a BIF file, as records; its nodes in their own order.

    States that are numbers are the records' values; others count 0, 1, 2, … unless ``values`` says otherwise.

    Parameters
    ----------
    model : pgmpy network or str
        The network, or the path of a BIF file.
    values : sequence, optional
        Numbers behind the states.
    weights : array_like, optional
        Weights of the linear query, one a record; all 1 unless given.
    names : sequence of str, optional
        What sentences call the records.

    Returns
    -------
    Network
        The model, with its searches.

    Raises
    ------
    InputError
        If it is no discrete network.
    MissingExtra
        If pgmpy is not installed.
    """
    if isinstance(model, (str, Path)):
        if not os.path.isfile(model):  # unlike Path's, no error for a name that is too long
            raise InputError(f"there is no file {str(model)[:300]!r}: give the path of a BIF file", "model")
        try:
            reader = import_module("pgmpy.readwrite").BIFReader
        except ImportError:
            raise MissingExtra("pgmpy", extra="networks", purpose="reading a network from a file") from None
        try:
            model = reader(str(model)).get_model()
        except Exception as error:  # a parser may stumble in any way
            raise InputError(f"{str(model)!r} cannot be read as a BIF file: {error}".splitlines()[0], "model") from None
    if not (hasattr(model, "get_cpds") and hasattr(model, "nodes")):
        raise InputError(
            f"model is {type_phrase(model)}: give a discrete Bayesian network of pgmpy, or a BIF file", "model"
        )
    nodes = list(model.nodes())
    if not nodes:
        raise InputError(
            "the network has no nodes: give one with at least one node, or a file in the BIF format", "model"
        )
    tables = list(model.get_cpds())
    if len(tables) != len(nodes):
        raise InputError(
            f"the network has {len(nodes)} nodes and {len(tables)} tables: give one table per node", "model"
        )
    place = {node: j for j, node in enumerate(nodes)}
    sizes, found = [0] * len(nodes), [np.zeros(0)] * len(nodes)
    factors = []
    for t in tables:
        variables = list(t.variables)
        p = checks.real(f"the table of {t.variable}", np.asarray(t.values, dtype=float), of="model")
        off = np.abs(p.sum(axis=0) - 1).max() if p.size else 1.0
        if (p < 0).any() or off > 1e-6:
            raise InputError(f"the table of {t.variable} is not a distribution: its columns must sum to 1", "model")
        j = place[t.variable]
        sizes[j], found[j] = p.shape[0], _states(t, p.shape[0])
        order = sorted(range(len(variables)), key=lambda k: place[variables[k]])
        with np.errstate(divide="ignore"):
            logs = np.log(np.transpose(p / p.sum(axis=0), order))[..., None]
        factors.append(Potential(tuple(sorted(place[v] for v in variables)), np.zeros(1), logs))
    parts = contributions(sizes, found if values is None else values, weights)
    return Network(tuple(factors), parts, record_names([str(v) for v in nodes] if names is None else names, len(nodes)))


def _states(table: Any, size: int) -> Array:
    listed = (getattr(table, "state_names", None) or {}).get(table.variable, range(size))
    try:
        values = np.asarray([float(s) for s in listed])
    except (TypeError, ValueError):
        return np.arange(size, dtype=float)
    return values if values.size == size and np.unique(values).size == size else np.arange(size, dtype=float)


def table(
    joint: object = None,
    values: object = None,
    weights: ArrayLike | None = None,
    *,
    rows: object = None,
    names: Sequence[str] | None = None,
) -> JointTable:
    """Records with a joint distribution: ``joint[x₁, x₂, …]`` is the probability of these values together.

    ``values`` are the numbers behind the indices (0, 1, 2, … unless given; one list for all records or a list per
    record), ``weights`` those of the query Σ aⱼxⱼ. The distribution may also be counted from ``rows`` (a list of
    tuples, one number per record, or a data frame), or come from a pgmpy network.

    Parameters
    ----------
    joint : array_like, optional
        Probability of each combination of values.
    values : sequence, optional
        Numbers behind the indices; 0, 1, 2, … unless given.
    weights : array_like, optional
        Weights of the linear query, one a record; all 1 unless given.
    rows : sequence or frame, optional
        Observations that are counted instead.
    names : sequence of str, optional
        What sentences call the records.

    Returns
    -------
    Table
        The model, with its searches.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> from epsilens import correlated
    >>> t = correlated.table([[0.5, 0.0], [0.25, 0.25]])
    >>> worst = t.worst(scale=1.0)
    >>> round(worst.leakage, 10), worst.target, worst.known
    (1.7633825154, 1, ())
    """
    if hasattr(joint, "get_cpds"):
        return _network_table(joint, values, weights, names)
    if rows is None and (_is_data_frame(joint) or _is_row_list(joint)):
        joint, rows = None, joint
    if (joint is None) == (rows is None):
        raise InputError("give either joint (probabilities) or rows (data to count)")
    if rows is not None:
        if values is not None:
            raise InputError("values belong to joint: rows carry their own", "values")
        return _empirical_table(rows, weights, names)
    p = checks.real("joint", joint)
    check_probabilities("joint", p)
    if p.ndim == 0 or 0 in p.shape:
        raise InputError(f"joint has shape {p.shape}: give an array with one axis per record", "joint")
    if p.size > MOST_CELLS:
        raise InputError(f"joint has {p.size:,} cells: give at most {MOST_CELLS:,}, or a chain or tree", "joint")
    return JointTable(p / p.sum(), contributions(p.shape, values, weights), record_names(names, p.ndim))


def _network_table(model: object, values: object, weights: ArrayLike | None, names: Sequence[str] | None) -> JointTable:
    whole = network(model, values, weights, names=names)
    cells = math.prod(v.size for v in whole.parts.values)
    if cells > 2**20:
        raise InputError(
            f"the network has {cells:.2g} combinations of values: use correlated.network for it instead", "model"
        )
    return whole.table()


def _is_data_frame(data: object) -> bool:
    return hasattr(data, "columns") and hasattr(data, "to_numpy")


def _is_row_list(data: object) -> bool:
    """A list of tuples is rows, unless it can only be a two-way table of probabilities."""
    if not (isinstance(data, (list, tuple)) and data and all(isinstance(row, tuple) for row in data)):
        return False
    flat = [v for row in data for v in row if isinstance(v, (int, float, np.number))]
    fractions = any(float(v) != int(v) for v in flat if math.isfinite(v))
    return not (fractions and all(v >= 0 for v in flat) and abs(sum(flat) - 1) <= TOTAL)


def _empirical_table(rows: Any, weights: ArrayLike | None, names: Sequence[str] | None) -> JointTable:
    if _is_data_frame(rows):
        names = [str(c) for c in rows.columns] if names is None else names
        rows = rows.to_numpy()
    else:
        try:
            rows = np.asarray([tuple(row) for row in rows])
        except (TypeError, ValueError):
            raise InputError(
                "rows have different lengths or are not rows: give tuples with one number each", "rows"
            ) from None
    data = checks.real("rows", rows)
    if data.ndim != 2 or 0 in data.shape:
        raise InputError(f"rows has shape {data.shape}: give at least one row and one column", "rows")
    levels = [np.unique(column, return_inverse=True) for column in data.T]
    shape = tuple(level.size for level, _ in levels)
    if math.prod(shape) > MOST_CELLS:
        raise InputError(
            f"the rows span {math.prod(shape):.2g} combinations of values: "
            "give fewer columns, or values in coarser groups",
            "rows",
        )
    joint = np.zeros(shape)
    np.add.at(joint, tuple(index for _, index in levels), 1 / data.shape[0])
    parts = contributions(shape, [level for level, _ in levels], weights)
    return JointTable(joint / joint.sum(), parts, record_names(names, len(shape)))
