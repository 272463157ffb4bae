"""How far one person moves a matrix mechanism: the sensitivity of C when they take part in several steps.

In step i a person adds a vector u_i of length at most 1, which column C_i spreads over the released rows. They take
part in a set π of at most k steps, any two at least b apart, and move the release by ‖Σ_π C_i ⊗ u_i‖. With G = CᵀC,

    ‖Σ_π C_i ⊗ u_i‖² = Σ_{i,j ∈ π} G_ij·⟨u_i, u_j⟩ ≤ Σ_{i,j ∈ π} |G_ij|,

with equality for equal u_i where no such G_ij is negative, and for any where all G_ij with i ≠ j vanish. What is left
is the largest such sum over all π. It is exact for one step, for columns that do not overlap (a dynamic programme), for
Toeplitz matrices with falling entries, where π = {0, b, 2b, …} (Kalinin & Lampert 2024), and wherever the sets can be
enumerated. Otherwise the sum is at most the largest Σ_{i∈π} r_i with r_i the largest Σ_{j∈π} |G_ij| over the sets that
contain i, two dynamic programmes (Choquette-Choo et al. 2023, arXiv 2211.06530), which is exact if some set reaches it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..checks import Array

_ROUNDING = 1e-13  # of an entry of G, beside the norms of its columns
_TIE = 1e-12  # relative: a set that comes so near the bound reaches it
_MOST_PREFIXES = 20_000  # sets that are enumerated without their last step
_MOST_WORK = 3 * 10**8  # entries that dynamic programmes with a count go through
_BLOCK = 256  # columns at a time


class Moved(NamedTuple):
    """The most one person moves a release, and whether someone moves it so far."""

    size: float
    exact: bool


def of_toeplitz(column: Array, k: int, b: int) -> Moved | None:
    """Of the square lower triangular Toeplitz matrix with this first column; None where nothing closed is known."""
    n = column.size
    k = _most_steps(n, k, b)
    squares = np.cumsum(column * column)
    if k == 1:
        return Moved(math.sqrt(squares[-1]), True)
    bands = int(np.flatnonzero(column)[-1]) + 1
    if bands <= b:  # columns do not overlap, and their norms fall
        return Moved(math.sqrt(float(np.sum(squares[n - 1 - b * np.arange(k)]))), True)
    if column[-1] < 0 or np.any(np.diff(column) > 0):
        return None
    total = np.zeros(n)
    for start in b * np.arange(k):
        total[start:] += column[: n - start]
    return Moved(float(np.linalg.norm(total)), True)


def of_norms(squares: Array, k: int, b: int) -> Moved:
    """Of columns with these squared norms, those at least b apart orthogonal."""
    n = squares.size
    k = _most_steps(n, k, b)
    counted = n * k <= _MOST_WORK
    best = float(_chain(squares[:, None], k, b, counted)[0])
    return Moved(math.sqrt(best), counted or k == -(-n // b))


def of_gram(gram: Array, k: int, b: int) -> Moved:
    """Of any matrix, from CᵀC."""
    n = gram.shape[0]
    k = _most_steps(n, k, b)
    squares = gram.diagonal().copy()
    if k == 1:
        return Moved(math.sqrt(float(squares.max())), True)
    apart, agree = _apart(gram, squares, b)
    if not apart.any():
        return of_norms(squares, k, b)
    counted = n * n * k <= _MOST_WORK
    rows = np.concatenate([_chain(apart[:, i : i + _BLOCK], k - 1, b, counted) for i in range(0, n, _BLOCK)])
    above = float(_chain((squares + rows)[:, None], k, b, counted)[0])
    if _reached(apart, squares, k, b) >= above * (1 - _TIE):
        return Moved(math.sqrt(above), agree)
    if math.comb(n - (k - 2) * (b - 1), k - 1) <= _MOST_PREFIXES:
        return Moved(math.sqrt(_enumerated(apart, squares, k, b)), agree)
    return Moved(math.sqrt(above), False)


def _most_steps(n: int, k: int, b: int) -> int:
    """How many of n steps one person can take part in."""
    return min(k, -(-n // b))


def _apart(gram: Array, squares: Array, b: int) -> tuple[Array, bool]:
    """|G| between steps at least b apart, 0 elsewhere, and whether none of these is negative."""
    norms = np.sqrt(squares)
    out, agree = np.abs(gram), True
    for i, row in enumerate(out):
        row[max(i - b + 1, 0) : i + b] = 0.0
        row[row <= _ROUNDING * norms[i] * norms] = 0.0
        agree = agree and not np.any((row > 0) & (gram[i] < 0))
    return out, agree


def _chain(weights: Array, k: int, b: int, counted: bool) -> Array:
    """The largest sum of at most k weights, none negative, at least b apart along the first axis; for each column.

    Where more than k would fit and are not to be ``counted``, a bound on it.
    """
    n, many = weights.shape
    if counted and k < -(-n // b):
        last = np.zeros((b, k + 1, many))  # the best so far, by how many were taken, b steps ago and since
        for i, weight in enumerate(weights):
            best = last[(i - 1) % b].copy()
            np.maximum(best[1:], last[i % b, :-1] + weight, out=best[1:])
            last[i % b] = best
        return np.asarray(last[(n - 1) % b, -1])
    best = np.zeros((n + b, many))
    for i, weight in enumerate(weights):
        np.maximum(best[i + b - 1], best[i] + weight, out=best[i + b])
    if k >= -(-n // b):
        return np.asarray(best[-1])
    return np.asarray(np.minimum(best[-1], np.sort(weights, axis=0)[n - k :].sum(axis=0)))  # either bounds it


def _reached(apart: Array, squares: Array, k: int, b: int) -> float:
    """What sets with steps as near as they may be reach."""
    n = squares.size
    best = 0.0
    for start in range(max(n - (k - 1) * b, 1))[: max(10**8 // k**2, 1)]:
        steps = slice(start, start + (k - 1) * b + 1, b)
        best = max(best, float(squares[steps].sum() + apart[steps, steps].sum()))
    return best


def _enumerated(apart: Array, squares: Array, k: int, b: int) -> float:
    """The largest sum over all sets."""

    def grown(first: int, left: int, value: float, beside: Array) -> float:
        if first >= squares.size:
            return value
        more = 2 * beside[first:] + squares[first:]
        if left == 1:
            return value + float(more.max())
        sums = (
            grown(first + i + b, left - 1, value + float(add), beside + apart[first + i]) for i, add in enumerate(more)
        )
        return max(sums)

    return grown(0, k, 0.0, np.zeros(squares.size))
