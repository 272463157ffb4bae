"""The joint table of records: from probabilities, counted from rows, or from a network of pgmpy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import checks
from ...errors import InputError
from .risk import record_names
from .sums import contributions
from .tables import MOST_CELLS, TOTAL, Table, check_probabilities
from .trees import network


def table(
    joint: Any = None,
    values: Any = None,
    weights: ArrayLike | None = None,
    *,
    rows: Any = None,
    names: Sequence[str] | None = None,
) -> Table:
    """Records with a joint distribution: ``joint[x₁, x₂, …]`` is the probability of these values together.

    ``values`` are the numbers behind the indices (0, 1, 2, … unless given; one list for all records or a list per
    record), ``weights`` those of the query Σ aⱼxⱼ. The distribution may also be counted from ``rows`` (a list of
    tuples, one number per record, or a data frame), or come from a pgmpy network.

    >>> from epsilens import correlated
    >>> t = correlated.table([[0.5, 0.0], [0.25, 0.25]])
    >>> worst = t.worst(scale=1.0)
    >>> round(worst.leakage, 10), worst.target, worst.known
    (1.7633825154, 1, ())
    """
    if hasattr(joint, "get_cpds"):
        return _of_network(joint, values, weights, names)
    if rows is None and (_frame(joint) or _tuples(joint)):
        joint, rows = None, joint
    if (joint is None) == (rows is None):
        raise InputError("give either joint (probabilities) or rows (data to count)")
    if rows is not None:
        if values is not None:
            raise InputError("values belong to joint: rows carry their own", parameter="values")
        return _counted(rows, weights, names)
    p = checks.real("joint", joint)
    check_probabilities("joint", p)
    if p.ndim == 0 or 0 in p.shape:
        raise InputError(f"joint has shape {p.shape}: give an array with one axis per record", parameter="joint")
    if p.size > MOST_CELLS:
        raise InputError(
            f"joint has {p.size:,} cells: give at most {MOST_CELLS:,}, or a chain or tree", parameter="joint"
        )
    return Table(p / p.sum(), contributions(p.shape, values, weights), record_names(names, p.ndim))


def _of_network(model: Any, values: Any, weights: ArrayLike | None, names: Sequence[str] | None) -> Table:
    """The joint table of a network."""
    whole = network(model, values, weights, names=names)
    cells = math.prod(v.size for v in whole.parts.values)
    if cells > 2**20:
        raise InputError(
            f"the network has {cells:.2g} combinations of values: use correlated.network for it instead",
            parameter="model",
        )
    return whole.table()


def _frame(data: Any) -> bool:
    return hasattr(data, "columns") and hasattr(data, "to_numpy")


def _tuples(data: Any) -> bool:
    """A list of tuples is rows, unless it can only be a two-way table of probabilities."""
    if not (isinstance(data, (list, tuple)) and data and all(isinstance(row, tuple) for row in data)):
        return False
    flat = [v for row in data for v in row if isinstance(v, (int, float, np.number))]
    fractions = any(float(v) != int(v) for v in flat if math.isfinite(v))
    return not (fractions and all(v >= 0 for v in flat) and abs(sum(flat) - 1) <= TOTAL)


def _counted(rows: Any, weights: ArrayLike | None, names: Sequence[str] | None) -> Table:
    """The empirical distribution of rows."""
    if _frame(rows):
        names = [str(c) for c in rows.columns] if names is None else names
        rows = rows.to_numpy()
    else:
        try:
            rows = np.asarray([tuple(row) for row in rows])
        except (TypeError, ValueError):
            raise InputError(
                "rows have different lengths or are not rows: give tuples with one number each", parameter="rows"
            ) from None
    data = checks.real("rows", rows)
    if data.ndim != 2 or 0 in data.shape:
        raise InputError(f"rows has shape {data.shape}: give at least one row and one column", parameter="rows")
    levels = [np.unique(column, return_inverse=True) for column in data.T]
    shape = tuple(level.size for level, _ in levels)
    if math.prod(shape) > MOST_CELLS:
        raise InputError(
            f"the rows span {math.prod(shape):.2g} combinations of values: "
            "give fewer columns, or values in coarser groups",
            parameter="rows",
        )
    joint = np.zeros(shape)
    np.add.at(joint, tuple(index for _, index in levels), 1 / data.shape[0])
    parts = contributions(shape, [level for level, _ in levels], weights)
    return Table(joint / joint.sum(), parts, record_names(names, len(shape)))
