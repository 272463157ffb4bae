"""A mechanism small enough to enumerate: every database of a few records, and the law of the answer for each.

Probabilities are kept as ln P(o|D) = ln r(o) + ℓ(D, o) with a common scale r(o) for each answer and ℓ ≤ 0. Ratios
between databases are then differences of ℓ, and a mixture of databases is ln Σ w·e^ℓ = log1p(Σ w·expm1(ℓ)): an ε of
1e-12 keeps its digits, and an ε of 700 does not underflow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product as tuples
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from .. import checks
from ..checks import Array
from ..errors import InputError, type_phrase
from ..numerics.values import ValueSemantics

Database: TypeAlias = tuple[Any, ...]
#: Probabilities in the order of ``mechanism.databases``, or by database; databases left out have probability 0.
Prior: TypeAlias = ArrayLike | Mapping[Database, float]

_MOST_DATABASES = 20_000
_MOST_CELLS = 5_000_000
_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class FiniteMechanism(ValueSemantics):
    """P(answer | database), a row for each database and a column for each answer.

    ``databases`` must be all tuples over the values of each record, in any order; left out, they are all tuples of
    bits, in the order 00, 01, 10, 11.

    >>> m = FiniteMechanism([[0.75, 0.25], [0.25, 0.75]])
    >>> m
    Mechanism(1 record, 2 databases, 2 answers)
    >>> from epsilens import notions
    >>> round(notions.dp(m), 6)
    1.098612
    """

    matrix: Array
    databases: tuple[Database, ...] = ()
    outputs: tuple[Hashable, ...] = ()
    values: tuple[tuple[Hashable, ...], ...] = field(init=False)
    #: ℓ on the grid: one axis for each record, the last for the answers; −∞ where an answer is impossible.
    log_ratio: Array = field(init=False, repr=False)
    #: ln r(o).
    log_scale: Array = field(init=False, repr=False)
    _place: NDArray[np.intp] = field(init=False, repr=False)  # where each database stands on the flattened grid

    def __init__(
        self,
        matrix: ArrayLike,
        databases: Iterable[Sequence[Hashable]] | None = None,
        outputs: Iterable[Hashable] | None = None,
    ) -> None:
        p = _checked_rows("matrix", matrix)
        # r(o) is the largest probability of o; log1p keeps nearly equal probabilities apart
        top = p.max(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            less = np.where(top > 0, (p - top) / np.where(top > 0, top, 1.0), 0.0)
            ratio = np.where(less > -0.5, np.log1p(np.maximum(less, -0.5)), np.log(p) - np.log(top))
            ratio = np.where(top > 0, ratio, -np.inf)
            scale = np.where(top > 0, np.log(np.where(top > 0, top, 1.0)), 0.0)
        self._set_fields(ratio, scale, databases, outputs)

    def _set_fields(
        self,
        ratio: Array,
        scale: Array,
        databases: Iterable[Sequence[Hashable]] | None,
        outputs: Iterable[Hashable] | None,
    ) -> None:
        if outputs is not None and not isinstance(outputs, Iterable):
            raise InputError(f"outputs is {outputs!r:.40}: give a name for each column", "outputs")
        names = tuple(range(ratio.shape[1])) if outputs is None else tuple(outputs)
        if len(names) != ratio.shape[1]:
            raise InputError(
                f"outputs has {len(names)} names for {ratio.shape[1]} columns: give one for each column", "outputs"
            )
        every = _bit_tuples(ratio.shape[0]) if databases is None else _checked_databases(databases)
        if len(every) != ratio.shape[0]:
            raise InputError(
                f"databases has {len(every)} entries for {ratio.shape[0]} rows: give one for each row", "databases"
            )
        values = tuple(tuple(dict.fromkeys(column)) for column in zip(*every, strict=True))
        sizes = tuple(len(v) for v in values)
        if len(set(every)) != len(every) or math.prod(sizes) != len(every):
            raise InputError(
                f"databases has {len(set(every))} different tuples where its values make {math.prod(sizes)}: give "
                "every combination of the records' values once",
                "databases",
            )
        where = [{v: j for j, v in enumerate(some)} for some in values]
        place = np.array([np.ravel_multi_index([w[v] for w, v in zip(where, d, strict=True)], sizes) for d in every])
        grid = np.empty_like(ratio)
        grid[place] = ratio
        with np.errstate(divide="ignore"):
            rows = np.exp(ratio + scale)
        rows.flags.writeable = grid.flags.writeable = False
        put = object.__setattr__
        put(self, "matrix", rows)
        put(self, "databases", every)
        put(self, "outputs", names)
        put(self, "values", values)
        put(self, "log_ratio", grid.reshape(*sizes, ratio.shape[1]))
        put(self, "log_scale", scale)
        put(self, "_place", place)

    @classmethod
    def of(cls, law: Callable[[Database], Any], records: int, values: Sequence[object] = (0, 1)) -> FiniteMechanism:
        """From a function that gives the probabilities of the answers for a database, as a list or by name.

        ``values`` are those of every record, or one list of values for each record.

        >>> FiniteMechanism.of(lambda d: {"yes": 0.9, "no": 0.1} if all(d) else {"no": 1.0}, records=2).outputs
        ('yes', 'no')
        """
        every = grid(records, values)
        rows = [law(d) for d in every]
        if all(isinstance(row, Mapping) for row in rows):
            names = tuple(dict.fromkeys(o for row in (rows[-1], *rows) for o in row))
            return cls([[row.get(o, 0.0) for o in names] for row in rows], every, names)
        return cls(rows, every)

    @classmethod
    def _from_logs(
        cls, ratio: Array, scale: Array, databases: Iterable[Database], outputs: Iterable[Hashable]
    ) -> FiniteMechanism:
        made = cls.__new__(cls)
        top = ratio.max(axis=0)
        made._set_fields(ratio - top, scale + top, databases, outputs)
        return made

    @property
    def records(self) -> int:
        """How many records a database has."""
        return len(self.values)

    def prior(self, prior: Prior, name: str = "prior") -> Array:
        """A prior over the databases, checked and put on the grid: one axis for each record."""
        _check_label(name)
        flat = np.zeros(len(self.databases))
        if isinstance(prior, Mapping):
            given = {tuple(d) if isinstance(d, Sequence) else (d,): p for d, p in prior.items()}
            known = set(self.databases)
            unknown = next((d for d in given if d not in known), None)
            if unknown is not None:
                raise InputError(f"{name} has the database {unknown!r}: give databases of the mechanism", name)
            weights = np.array([given.get(d, 0.0) for d in self.databases], dtype=object)
            flat = _checked_weights(name, weights.tolist())
        else:
            flat = _checked_weights(name, prior)
        if flat.size != len(self.databases):
            raise InputError(
                f"{name} has {flat.size} probabilities: give one for each of {len(self.databases)} databases", name
            )
        placed = np.empty_like(flat)
        placed[self._place] = flat
        return placed.reshape(self.log_ratio.shape[:-1])

    def event(self, holds: Callable[[Database], object] | Iterable[object], name: str = "event") -> NDArray[np.bool_]:
        """A statement about the database as a mask on the grid: a function, or the databases it is true of."""
        _check_label(name)
        if callable(holds):
            true = [bool(holds(d)) for d in self.databases]
        else:
            wanted = set(_checked_databases(holds))
            known = set(self.databases)
            unknown = next((d for d in wanted if d not in known), None)
            if unknown is not None:
                raise InputError(f"{name} has the database {unknown!r}: give databases of the mechanism", name)
            true = [d in wanted for d in self.databases]
        mask = np.empty(len(true), dtype=bool)
        mask[self._place] = true
        return mask.reshape(self.log_ratio.shape[:-1])

    def __repr__(self) -> str:
        n, many = self.records, "" if self.records == 1 else "s"
        return f"Mechanism({n} record{many}, {len(self.databases)} databases, {len(self.outputs)} answers)"


def mixture(log_ratio: Array, weights: Array) -> Array:
    """ln Σ w·e^ℓ over all axes but the last, for weights that sum to one; −∞ where nothing weighted is possible."""
    w = weights.reshape(-1, 1)
    some = log_ratio.reshape(-1, log_ratio.shape[-1])[w[:, 0] > 0]
    w = w[w[:, 0] > 0]
    less = np.sum(w * np.expm1(some), axis=0)  # terms of one sign: nothing cancels
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.asarray(logsumexp(some, axis=0, b=w)) if (less <= -0.5).any() else less
        return np.where(less > -0.5, np.log1p(np.maximum(less, -0.5)), far)


def grid(records: int, values: Sequence[Any]) -> tuple[Database, ...]:
    """Every database of so many records."""
    n = checks.integer("records", records, low=1, high=30)
    try:
        listed = list(values)
        each = [list(v) for v in listed] if listed and isinstance(listed[0], (list, tuple)) else [listed] * n
        hash(tuple(v for some in each for v in some))
    except TypeError:
        raise InputError(f"values is {values!r}: give a list of the values a record may have", "values") from None
    if len(each) != n:
        raise InputError(f"values has {len(each)} lists for {n} records: give one for each record", "values")
    for some in each:
        if not some or len(set(some)) != len(some):
            raise InputError("values has a record with no value or with one twice: give different values", "values")
    if math.prod(len(v) for v in each) > _MOST_DATABASES:
        raise InputError(
            f"values makes {math.prod(len(v) for v in each)} databases: give fewer records or values, at most "
            f"{_MOST_DATABASES} databases",
            "values",
        )
    return tuple(tuples(*each))


def _loss(epsilon: ArrayLike) -> float:
    return checks.scalar("epsilon", checks.privacy_loss("epsilon", epsilon))


def randomized_response(
    epsilon: float, of: Callable[[Database], Hashable], records: int, values: Sequence[object] = (0, 1)
) -> FiniteMechanism:
    """The value of a function of the database, told truthfully e^ε times as often as any other value.

    Parameters
    ----------
    epsilon : float
        Privacy loss, > 0.
    of : callable
        The function of the database whose value is told.
    records : int
        How many records there are.
    values : sequence, default (0, 1)
        What a record may be.

    Returns
    -------
    Mechanism
        P(answer | database) for every database.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> xor = randomized_response(1.0, of=lambda d: d[0] ^ d[1], records=2)
    >>> xor.matrix.round(4).tolist()
    [[0.7311, 0.2689], [0.2689, 0.7311], [0.2689, 0.7311], [0.7311, 0.2689]]
    """
    e, every = _loss(epsilon), grid(records, values)
    if not callable(of):
        raise InputError(f"of is {of!r:.40}: give a function of the database", "of")
    told = [of(d) for d in every]
    answers: list[object] = list(dict.fromkeys(told))
    if all(isinstance(t, (int, float)) for t in told):
        answers.sort()
    ratio = np.array([[0.0 if t == o else -e for o in answers] for t in told])
    scale = np.full(len(answers), -math.log1p((len(answers) - 1) * math.exp(-e)))
    return FiniteMechanism._from_logs(ratio, scale, every, answers)


def noisy_sum(epsilon: float, records: int, values: Sequence[object] = (0, 1)) -> FiniteMechanism:
    """The sum of the records, whole numbers, with geometric noise and clamped to the sums that are possible.

    P(o|s) falls by e^{−ε/Δ} for each step away from s, where Δ is the most one record can change the sum; the two ends
    collect what lies beyond them (Ghosh, Roughgarden & Sundararajan 2012). Its ε is the one asked for.

    Parameters
    ----------
    epsilon : float
        Privacy loss, > 0.
    records : int
        How many records there are.
    values : sequence, default (0, 1)
        What a record may be.

    Returns
    -------
    Mechanism
        P(answer | database) for every database.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.
    """
    e, every = _loss(epsilon), grid(records, values)
    sums, width = _sums(every)
    if not np.array_equal(sums, np.round(sums)):
        raise InputError("values has numbers that are not whole: give whole numbers, or use laplace_sum", "values")
    low, high = int(sums.min()), int(sums.max())
    if len(every) * (high - low + 1) > _MOST_CELLS:
        raise InputError(f"values makes sums from {low} to {high}: give values closer together", "values")
    answers = np.arange(low, high + 1)
    step = e / width
    ratio = -step * np.abs(answers[None, :] - sums[:, None])
    inside = math.log(-math.expm1(-step)) - math.log1p(math.exp(-step)) if step < 700 else 0.0
    scale = np.full(answers.size, inside)
    scale[0] = scale[-1] = -math.log1p(math.exp(-step))
    return FiniteMechanism._from_logs(ratio, scale, every, answers.tolist())


def laplace_sum(epsilon: float, records: int, values: Sequence[object] = (0, 1), cells: int = 1000) -> FiniteMechanism:
    """The sum of the records with Laplace noise, told as the interval it falls in.

    The line is cut at every possible sum and into ``cells`` equal intervals between the smallest and the largest; two
    half-lines remain. Cutting is post-processing: no notion's ε grows, those that are a largest ratio stay as they
    are (it is reached on the half-lines) and the mutual information falls short by a term in 1/cells².

    Parameters
    ----------
    epsilon : float
        Privacy loss, > 0.
    records : int
        How many records there are.
    values : sequence, default (0, 1)
        What a record may be.
    cells : int, default 1000
        Intervals the line is cut into.

    Returns
    -------
    Mechanism
        P(answer | database) for every database.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.
    """
    e, every = _loss(epsilon), grid(records, values)
    n = checks.integer("cells", cells, low=1, high=200_000)
    sums, width = _sums(every)
    cuts = np.unique(np.concatenate([np.unique(sums), np.linspace(sums.min(), sums.max(), n + 1)]))
    if len(every) * (cuts.size + 1) > _MOST_CELLS:
        raise InputError(
            f"cells is {n}: give fewer, at most {_MOST_CELLS // len(every)} for {len(every)} databases", "cells"
        )
    left, right = np.concatenate([[-np.inf], cuts]), np.concatenate([cuts, [np.inf]])
    rate = e / width
    away = np.maximum(np.maximum(left[None, :] - sums[:, None], sums[:, None] - right[None, :]), 0.0)
    # a cell lies on one side of every sum, so its mass is ½·e^{−rate·distance}·(1 − e^{−rate·length})
    with np.errstate(under="ignore"):
        scale = np.log(0.5) + np.log(-np.expm1(-rate * (right - left)))
    shown = [f"{a:g} to {b:g}" for a, b in zip(left, right, strict=True)]
    return FiniteMechanism._from_logs(-rate * away, scale, every, shown)


def _sums(every: Sequence[Database]) -> tuple[Array, float]:
    """Σ of each database, and the most one record can change it."""
    raw = np.asarray([list(d) for d in every])
    if raw.dtype.kind not in "iuf":
        raise InputError(f"values has {every[0][0]!r}, which cannot be summed: give numbers", "values")
    table = checks.real("values", raw)
    width = float((table.max(axis=0) - table.min(axis=0)).max())
    if width == 0:
        raise InputError("values has only one value for each record: give at least two", "values")
    return table.sum(axis=1), width


def checked_mechanism(mechanism: object) -> FiniteMechanism:
    """The mechanism, if it is one."""
    if not isinstance(mechanism, FiniteMechanism):
        raise InputError(f"mechanism is {mechanism!r:.40}: give a Mechanism, such as noisy_sum returns", "mechanism")
    return mechanism


def uniform(mechanism: FiniteMechanism) -> Array:
    """Every database equally likely: independent, uniform records.

    Parameters
    ----------
    mechanism : Mechanism
        The release as a table of P(answer | database).

    Returns
    -------
    ndarray
        Probability of each database.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.
    """
    count = len(checked_mechanism(mechanism).databases)
    return np.full(count, 1.0 / count)


def product(mechanism: FiniteMechanism, *marginals: ArrayLike | Mapping[Hashable, float]) -> Array:
    """Independent records: one list of probabilities for each record, or one that serves all.

    Parameters
    ----------
    mechanism : Mechanism
        The release as a table of P(answer | database).
    *marginals : array_like or mapping
        Probabilities of a record's values, one for all or one a record.

    Returns
    -------
    ndarray
        Probability of each database.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> m = randomized_response(1.0, of=sum, records=2)
    >>> product(m, [0.9, 0.1]).round(2).tolist()
    [0.81, 0.09, 0.09, 0.01]
    """
    checked_mechanism(mechanism)
    each = marginals * mechanism.records if len(marginals) == 1 else marginals
    if len(each) != mechanism.records:
        raise InputError(
            f"marginals has {len(each)} laws for {mechanism.records} records: give one, or one for each", "marginals"
        )
    laws: list[dict[Hashable, float]] = []
    for i, (law, values) in enumerate(zip(each, mechanism.values, strict=True)):
        listed = [law.get(v, 0.0) for v in values] if isinstance(law, Mapping) else law
        weights = _checked_weights(f"marginal {i + 1}", listed)
        if weights.size != len(values):
            raise InputError(
                f"marginal {i + 1} has {weights.size} probabilities: give one for each of {len(values)} values",
                "marginals",
            )
        laws.append(dict(zip(values, weights.tolist(), strict=True)))
    return np.array([math.prod(law[v] for law, v in zip(laws, d, strict=True)) for d in mechanism.databases])


def _check_label(name: object) -> None:
    """Refuse what no sentence can call an argument by."""
    if not isinstance(name, str):
        raise InputError(f"name is {type_phrase(name)}: give a text, which sentences call the argument by", "name")


def _checked_weights(name: str, value: object) -> Array:
    """One list of probabilities that sum to one."""
    p = checks.probability(name, value).ravel()
    if p.size == 0:
        raise InputError(f"{name} is empty: give probabilities that sum to 1", name)
    total = math.fsum(p.tolist())
    if abs(total - 1) > _TOLERANCE:
        raise InputError(f"{name} sums to {total:.12g}: give probabilities that sum to 1", name)
    return p / total


def _checked_rows(name: str, value: ArrayLike) -> Array:
    p = checks.probability(name, value)
    if p.ndim != 2 or p.size == 0:
        raise InputError(f"{name} has shape {p.shape}: give a row for each database and a column for each answer", name)
    if p.shape[0] > _MOST_DATABASES or p.size > _MOST_CELLS:
        raise InputError(
            f"{name} has shape {p.shape}: give at most {_MOST_DATABASES} databases, {_MOST_CELLS} numbers", name
        )
    total = p.sum(axis=1)
    wrong = np.flatnonzero(np.abs(total - 1) > _TOLERANCE)
    if wrong.size:
        raise InputError(f"{name} row {wrong[0] + 1} sums to {total[wrong[0]]:.12g}: give rows that sum to 1", name)
    # dividing a row that is one already would disturb the last digit, which a small ε needs
    return np.where(np.abs(total - 1)[:, None] > 1e-15 * p.shape[1], p / total[:, None], p)


def _bit_tuples(rows: int) -> tuple[Database, ...]:
    n = rows.bit_length() - 1
    if rows < 2 or 2**n != rows:
        raise InputError(f"matrix has {rows} rows, which are not all tuples of bits: give databases", "matrix")
    return tuple(tuples((0, 1), repeat=n))


def _checked_databases(given: Iterable[object]) -> tuple[Database, ...]:
    every = []
    try:
        for d in given:
            every.append(tuple(d) if isinstance(d, (list, tuple, np.ndarray)) else (d,))
        hash(tuple(every))
    except TypeError:
        raise InputError(
            "databases has an entry that is no tuple of plain values: give tuples such as (0, 1)", "databases"
        ) from None
    if not every or len({len(d) for d in every}) != 1 or not every[0]:
        raise InputError(
            "databases has tuples of different lengths or none: give one value for each record", "databases"
        )
    return tuple(every)
