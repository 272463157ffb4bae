"""What each value of each record adds to the answer S = Σ aⱼxⱼ, and the laws of such sums.

Where all contributions are multiples of one unit the sums live on a short grid of whole numbers, and equal sums are
merged exactly; otherwise every distinct sum is kept. Nothing is transformed by Fourier: all terms are positive, so
small probabilities keep their digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import checks
from ...checks import Array
from ...errors import InputError

_FINEST = 1000  # the unit is at most this many times smaller than the smallest contribution
_LARGEST = 1e150
_LONGEST = 200_000  # grid points beyond which a grid is no help


@dataclass(frozen=True, eq=False)
class Contributions:
    """``amounts[j][v]``·``unit`` is what value number v of record j adds, beyond the least it can add.

    ``whole`` says that all amounts are whole numbers; ``values`` are the records' values as given, ``weights`` the aⱼ.
    """

    amounts: tuple[Array, ...]
    unit: float
    whole: bool
    values: tuple[Array, ...]
    weights: tuple[float, ...]

    @property
    def reach(self) -> Array:
        """LSⱼ: how far each record alone can move the answer."""
        return np.asarray([float(a.max()) for a in self.amounts]) * self.unit

    def number(self, record: int, value: Any) -> int:
        """Which of a record's values this is."""
        own = self.values[record]
        given = checks.scalar(f"the known value of record {record}", value, of="known")
        near = int(np.argmin(np.abs(own - given)))
        if abs(own[near] - given) > 1e-9 * max(1.0, abs(given)):
            listed = ", ".join(f"{v:g}" for v in own[:8]) + (", …" if own.size > 8 else "")
            raise InputError(f"record {record} has no value {given:g}: give one of {listed}", parameter="known")
        return near


def contributions(sizes: Sequence[int], values: Any, weights: ArrayLike | None) -> Contributions:
    """Check the records' values (0, 1, 2, … unless given) and weights (1 unless given), and find the unit."""
    n = len(sizes)
    factor = np.ones(n) if weights is None else checks.real("weights", weights)
    factor = np.full(n, float(factor)) if factor.ndim == 0 else factor
    if factor.shape != (n,):
        raise InputError(
            f"weights has shape {factor.shape} for {n} records: give one weight per record", parameter="weights"
        )
    own = _values(sizes, values)
    with np.errstate(over="ignore"):
        raw = [a * v for a, v in zip(factor, own, strict=True)]
    largest = max(float(np.abs(r).max()) for r in raw)
    if largest > _LARGEST:
        raise InputError(f"a weight times a value is beyond {_LARGEST:g} and overflows: give smaller weights or values")
    added = [r - r.min() for r in raw]
    unit = _unit(np.concatenate(added), largest)
    if unit is None:
        return Contributions(tuple(added), 1.0, False, own, tuple(map(float, factor)))
    return Contributions(tuple(np.rint(a / unit) for a in added), unit, True, own, tuple(map(float, factor)))


def _values(sizes: Sequence[int], values: Any) -> tuple[Array, ...]:
    if values is None:
        return tuple(np.arange(d, dtype=float) for d in sizes)
    try:
        listed = list(values)
    except TypeError:
        raise InputError(
            f"values is {values!r}: give a list of values per record, or one list for all", parameter="values"
        ) from None
    if listed and all(np.ndim(v) == 0 for v in listed):  # one list for every record
        listed = [listed] * len(sizes)
    if len(listed) != len(sizes):
        raise InputError(
            f"values has {len(listed)} lists for {len(sizes)} records: give one list per record", parameter="values"
        )
    own = []
    for j, (given, d) in enumerate(zip(listed, sizes, strict=True)):
        array = checks.real(f"values of record {j}", given, of="values")
        if array.shape != (d,):
            raise InputError(
                f"record {j} has {d} probabilities and values of shape {array.shape}: give {d} values",
                parameter="values",
            )
        if np.unique(array).size < d:
            raise InputError(f"values of record {j} repeat: give distinct values", parameter="values")
        own.append(array)
    return tuple(own)


def _unit(added: Array, largest: float) -> float | None:
    """The largest unit of which every amount is a whole multiple, up to rounding; None if there is no useful one."""
    positive = added[added > 0]
    if positive.size == 0:
        return 1.0
    slack = 8 * np.finfo(float).eps * largest
    least = float(positive.min())
    for parts in range(1, _FINEST + 1):
        unit = least / parts
        share = positive / unit
        if share.max() > _LONGEST:
            return None
        if np.all(np.abs(share - np.rint(share)) <= 1e-13 * share + slack / unit) and slack < 1e-3 * unit:
            return unit
    return None


def merge(sums: Array) -> tuple[Array, NDArray[np.intp]]:
    """The distinct sums in rising order, and where each of the given ones is; sums equal up to rounding are one."""
    flat = sums.ravel()
    order = np.argsort(flat, kind="stable")
    ranked = flat[order]
    slack = 1e-14 * max(float(np.abs(ranked[[0, -1]]).max()), 1e-300) if flat.size else 0.0
    new = np.concatenate(([True], np.diff(ranked) > slack))
    place = np.empty(flat.size, dtype=np.intp)
    place[order] = np.cumsum(new) - 1
    return ranked[new], place.reshape(sums.shape)


def shifted(places: Array, logs: Array, amounts: Array) -> tuple[Array, Array]:
    """Laws over sums ``places`` (the last axis) moved by what each value (the first axis) adds, on common places."""
    merged, index = merge(places + amounts[:, None])
    moved = np.full((*logs.shape[:-1], merged.size), -np.inf)
    for v, where in enumerate(index):
        if np.all(np.diff(where) > 0):
            moved[v][..., where] = logs[v]
        else:  # two sums became one by rounding
            for k, at in enumerate(where):
                moved[v][..., at] = np.logaddexp(moved[v][..., at], logs[v][..., k])
    return merged, moved


def convolve(places_a: Array, logs_a: Array, places_b: Array, logs_b: Array) -> tuple[Array, Array]:
    """The law of the sum of two independent sums, in logarithms; leading axes broadcast."""
    if places_a.size == 1:
        return places_b + places_a[0], logs_b + logs_a
    if places_b.size == 1:
        return places_a + places_b[0], logs_a + logs_b
    sums = (places_a[:, None] + places_b).ravel()
    order = np.argsort(sums, kind="stable")
    merged, index = merge(sums)
    starts = np.searchsorted(index[order], np.arange(merged.size))
    outer = logs_a[..., :, None] + logs_b[..., None, :]
    outer = outer.reshape(*outer.shape[:-2], -1)[..., order]
    return merged, np.asarray(np.logaddexp.reduceat(outer, starts, axis=-1))
