"""Matrix mechanisms, trees among them: many answers over time under one correlated noise, as in DP-FTRL.

The release is Cx + z with independent normal noise z, and whatever follows from it, such as all prefix sums B(Cx + z).
A person moves Cx by at most the sensitivity of C (:mod:`.participation`), so the pair is normal with ψ = sens(C)/σ,
also where each x_i is computed from what was released before (Denisov et al. 2022).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import Array
from ..errors import InputError
from ..experiment import Experiment
from ..laws.composition.composed_law import ComposedLaw
from ..laws.composition.wrappers import Inclusion
from ..laws.normal import Normal
from ..readings.law import Exactness
from ..worlds import Relation, parse_relation, worlds_of_relation
from .batches import poisson_step
from .builders import vectorized, with_provenance
from .noise import privacy_loss_ratio
from .training import dpsgd

# How far one person moves a matrix mechanism: the sensitivity of C when they take part in several steps.
#
# A person takes part in a set π of at most k steps, any two at least b apart: Theorem D33 of
# docs/proofs/dominating-pairs.md says which sums over π are exact, and which bounds.

_ROUNDING = 1e-13  # of an entry of G, beside the norms of its columns
_TIE = 1e-12  # relative: a set that comes so near the bound reaches it
_MOST_PREFIXES = 20_000  # sets that are enumerated without their last step
_MOST_WORK = 3 * 10**8  # entries that dynamic programmes with a count go through
_BLOCK = 256  # columns at a time


class Sensitivity(NamedTuple):
    """The most one person moves a release, and whether someone moves it so far."""

    size: float
    exact: bool


def toeplitz_sensitivity(column: Array, k: int, b: int) -> Sensitivity | None:
    """Of the square lower triangular Toeplitz matrix with this first column; None where nothing closed is known."""
    n = column.size
    k = _step_limit(n, k, b)
    squares = np.cumsum(column * column)
    if k == 1:
        return Sensitivity(math.sqrt(squares[-1]), True)
    bands = int(np.flatnonzero(column)[-1]) + 1
    if bands <= b:  # columns do not overlap, and their norms fall
        return Sensitivity(math.sqrt(float(np.sum(squares[n - 1 - b * np.arange(k)]))), True)
    if column[-1] < 0 or np.any(np.diff(column) > 0):
        return None
    total = np.zeros(n)
    for start in b * np.arange(k):
        total[start:] += column[: n - start]
    return Sensitivity(float(np.linalg.norm(total)), True)


def orthogonal_sensitivity(squares: Array, k: int, b: int) -> Sensitivity:
    """Of columns with these squared norms, those at least b apart orthogonal."""
    n = squares.size
    k = _step_limit(n, k, b)
    counted = n * k <= _MOST_WORK
    best = float(_best_chain(squares[:, None], k, b, counted)[0])
    return Sensitivity(math.sqrt(best), counted or k == -(-n // b))


def gram_sensitivity(gram: Array, k: int, b: int) -> Sensitivity:
    """Of any matrix, from CᵀC."""
    n = gram.shape[0]
    k = _step_limit(n, k, b)
    squares = gram.diagonal().copy()
    if k == 1:
        return Sensitivity(math.sqrt(float(squares.max())), True)
    apart, agree = _separated_gram(gram, squares, b)
    if not apart.any():
        return orthogonal_sensitivity(squares, k, b)
    counted = n * n * k <= _MOST_WORK
    rows = np.concatenate([_best_chain(apart[:, i : i + _BLOCK], k - 1, b, counted) for i in range(0, n, _BLOCK)])
    above = float(_best_chain((squares + rows)[:, None], k, b, counted)[0])
    if _tightest_pattern_sum(apart, squares, k, b) >= above * (1 - _TIE):
        return Sensitivity(math.sqrt(above), agree)
    if math.comb(n - (k - 2) * (b - 1), k - 1) <= _MOST_PREFIXES:
        return Sensitivity(math.sqrt(_best_subset_sum(apart, squares, k, b)), agree)
    return Sensitivity(math.sqrt(above), False)


def _step_limit(n: int, k: int, b: int) -> int:
    """How many of n steps one person can take part in."""
    return min(k, -(-n // b))


def _separated_gram(gram: Array, squares: Array, b: int) -> tuple[Array, bool]:
    """|G| between steps at least b apart, 0 elsewhere, and whether none of these is negative."""
    norms = np.sqrt(squares)
    out, agree = np.abs(gram), True
    for i, row in enumerate(out):
        row[max(i - b + 1, 0) : i + b] = 0.0
        row[row <= _ROUNDING * norms[i] * norms] = 0.0
        agree = agree and not np.any((row > 0) & (gram[i] < 0))
    return out, agree


def _best_chain(weights: Array, k: int, b: int, counted: bool) -> Array:
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


def _tightest_pattern_sum(apart: Array, squares: Array, k: int, b: int) -> float:
    """What sets with steps as near as they may be reach."""
    n = squares.size
    best = 0.0
    for start in range(max(n - (k - 1) * b, 1))[: max(10**8 // k**2, 1)]:
        steps = slice(start, start + (k - 1) * b + 1, b)
        best = max(best, float(squares[steps].sum() + apart[steps, steps].sum()))
    return best


def _best_subset_sum(apart: Array, squares: Array, k: int, b: int) -> float:
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


_MOST_DENSE = 3000  # columns whose inner products are all written out: 72 MB, and seconds
_MOST_STEPS, _MOST_COLUMNS = 10**7, 10**5  # of a list, and of a matrix
_BOUND = "an upper bound: no one is known who moves the answers so far, and nothing is known from below"


def sqrt_prefix(n: int, bands: int | None = None) -> Array:
    """The first column of the Toeplitz square root of the prefix sums: 1, 1/2, 3/8, …, C(2t, t)/4^t.

    With ``bands`` all but the first so many entries are 0. It is what :func:`matrix` and :func:`banded` take as ``C``.

    Parameters
    ----------
    n : int
        How many steps there are.
    bands : int, optional
        Entries that are not 0; all unless given.

    Returns
    -------
    ndarray
        The first column.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> sqrt_prefix(4)
    array([1.    , 0.5   , 0.375 , 0.3125])
    """
    size = checks.integer("n", n, low=1, high=_MOST_STEPS)
    t = np.arange(1.0, size)
    column = np.concatenate(([1.0], np.cumprod((2 * t - 1) / (2 * t))))
    if bands is not None:
        column[checks.integer("bands", bands, low=1, high=size) :] = 0.0
    return column


@vectorized("sigma", "participations", "separation", "rate")
@with_provenance
def matrix(
    C: Any,
    sigma: ArrayLike,
    participations: ArrayLike = 1,
    separation: ArrayLike = 1,
    *,
    rate: ArrayLike | None = None,
    neighbours: str = "add-remove",
    width: float | None = None,
) -> Experiment:
    """Cx + z with noise ``sigma`` times the clipping norm; a person's rows of x have at most that norm.

    ``C`` is a matrix, dense or sparse, with a column for each step, or a list: the first column of a lower triangular
    Toeplitz matrix. A person takes part in at most ``participations`` steps, any two at least ``separation`` apart.
    Removing a person sets their rows to 0; replacing one moves them twice as far.

    With a ``rate`` each batch is drawn from one of b groups in turn, b the bands of C, which is then square and lower
    triangular: :func:`banded` at σ over the largest column norm. ``width`` is that of brackets there.

    Parameters
    ----------
    C : array_like or sparse matrix
        A column for each step, or the first column of a Toeplitz matrix.
    sigma : float or array_like
        Noise over the clipping norm, > 0.
    participations : int or array_like, default 1
        Steps a person takes part in, at most.
    separation : int or array_like, default 1
        Least distance between two of these steps.
    rate : float or array_like, optional
        Probability that a record is in a batch, for banded matrices.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.
    width : float, optional
        Relative width asked of each reading's bracket; 0.001 unless given.

    Returns
    -------
    Experiment
        Exact; with a `rate`, a pair that dominates the training.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> round(matrix(sqrt_prefix(100), 1.0).psi(), 6)
    1.591022
    >>> round(matrix(sqrt_prefix(1000), 2.0, participations=5, separation=200).psi(), 6)
    2.594016
    >>> round(matrix(sqrt_prefix(2000, 10), 2.0, rate=0.01).epsilon(1e-6), 2)
    5.74
    """
    column, unit = _normalize_matrix(C)
    k, b = _participation_pattern(participations, separation)
    if rate is not None:
        if (k, b) != (1, 1):
            raise InputError("rate is given: the groups take turns, so leave out participations and separation", "rate")
        s = float(checks.positive("sigma", checks.scalar("sigma", sigma)))
        norm = float(np.sqrt(np.max(_column_norms_squared(column)))) * unit
        parameters = {"sigma": s, "rate": float(checks.probability("rate", checks.scalar("rate", rate)))}
        parameters |= {"bands": _bandwidth(column), "steps": int(column.shape[-1]), "sensitivity": norm}
        return _amplified_experiment("matrix", parameters, s / norm, neighbours, width)
    parameters = {"steps": int(column.shape[-1]), "participations": k, "separation": b}
    moved = _matrix_sensitivity(column, k, b)
    return _normal_experiment("matrix", Sensitivity(moved.size * unit, moved.exact), sigma, parameters, neighbours)


@vectorized("leaves", "sigma", "participations", "separation")
def tree(
    leaves: ArrayLike,
    sigma: ArrayLike,
    participations: ArrayLike = 1,
    separation: ArrayLike = 1,
    *,
    neighbours: str = "add-remove",
) -> Experiment:
    """Binary-tree aggregation: every sum over a dyadic block of steps that is complete, each with noise ``sigma``.

    A person who takes part once is in one block of every size: ψ = √(1 + ⌊log₂ leaves⌋)/σ. Two steps share the blocks
    that hold both. If the separation is a power of two, the steps 0, b, 2b, … are the worst set: the steps of a set lie
    in different blocks of size b, and of as many such blocks the first share the most.

    Parameters
    ----------
    leaves : int or array_like
        How many steps there are.
    sigma : float or array_like
        Noise on each block over the clipping norm, > 0.
    participations : int or array_like, default 1
        Steps a person takes part in, at most.
    separation : int or array_like, default 1
        Least distance between two of these steps.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.

    Returns
    -------
    Experiment
        The pair of laws; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> [round(tree(16, 1.0, k, b).psi() ** 2) for k, b in ((1, 1), (2, 8), (4, 4))]
    [5, 12, 36]
    """
    n = checks.integer("leaves", leaves, low=1, high=10**9)
    k, b = _participation_pattern(participations, separation)
    parameters = {"leaves": n, "participations": k, "separation": b}
    near = 1 << (b.bit_length() - 1)
    if near == b or n > _MOST_DENSE:  # steps less far apart only reach further
        moved = Sensitivity(_dyadic_sensitivity(n, min(k, -(-n // b)), near), near == b)
    else:
        gram = np.zeros((n, n))
        for level in range(n.bit_length()):
            block = np.arange(n) >> level
            whole = block < n >> level
            gram += (block[:, None] == block) & whole
        moved = gram_sensitivity(gram, k, b)
    return _normal_experiment("tree", moved, sigma, parameters, neighbours)


def _dyadic_sensitivity(n: int, k: int, b: int) -> float:
    """√Σ (steps in a block)², over all complete dyadic blocks, of the steps 0, b, …, (k−1)b."""
    if k > _MOST_STEPS:
        raise InputError(f"participations is {k} at this separation: give at most {_MOST_STEPS}", "participations")
    steps, total = b * np.arange(k, dtype=np.int64), 0.0
    for level in range(n.bit_length()):
        block = steps >> level
        _, counts = np.unique(block[block < n >> level], return_counts=True)
        total += float(np.sum(counts.astype(float) ** 2))
    return float(np.sqrt(total))


@vectorized("sigma", "rate", "bands", "steps")
def banded(
    *,
    sigma: ArrayLike,
    rate: ArrayLike,
    bands: ArrayLike,
    steps: ArrayLike,
    neighbours: str = "add-remove",
    width: float | None = None,
) -> Experiment:
    """Amplified banded DP-FTRL: a matrix of b bands, on batches of which each is drawn from one of b groups in turn.

    The people are split into b groups; step i draws each of group i mod b with probability b·``rate``, so that a batch
    holds the share ``rate`` of all people. Steps of one group are at least b apart, where columns do not overlap: the
    training is :func:`epsilens.dpsgd` with rate b·``rate`` and ⌈steps/b⌉ steps, at columns of norm 1 (Choquette-Choo et
    al. 2023, arXiv 2306.08153). For a matrix of your own, :func:`matrix` with ``rate``.

    Parameters
    ----------
    sigma : float or array_like
        Noise over the clipping norm and the column norm, > 0.
    rate : float or array_like
        Probability in (0, 1] that a record is in a batch.
    bands : int or array_like
        Bands of the matrix, at least 1.
    steps : int or array_like
        How many steps there are, at least 1.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.
    width : float, optional
        Relative width asked of each reading's bracket; 0.001 unless given.

    Returns
    -------
    Experiment
        The pair of laws; readings lie in a bracket and are its riskier end.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    References
    ----------
    Choquette-Choo et al. (2023), (Amplified) Banded Matrix Factorization, arXiv 2306.08153.

    Examples
    --------
    >>> round(banded(sigma=2.0, rate=0.01, bands=10, steps=2000).epsilon(1e-6), 2)
    3.81
    """
    s = float(checks.positive("sigma", checks.scalar("sigma", sigma)))
    parameters = {"sigma": s, "rate": float(checks.probability("rate", checks.scalar("rate", rate)))}
    n = checks.integer("steps", steps, low=1, high=10**9)
    parameters |= {"bands": checks.integer("bands", bands, low=1, high=n), "steps": n}
    return _amplified_experiment("banded", parameters, s, neighbours, width)


def _amplified_experiment(
    name: str, told: Mapping[str, float], sigma: float, neighbours: str, width: float | None
) -> Experiment:
    """Sampled steps, at the σ of columns of norm 1."""
    q, b, n = told["rate"], told["bands"], told["steps"]
    if b * q > 1:
        raise InputError(
            f"rate is {q:g} with {b} bands: a batch is drawn from one of {b} groups, so give a rate of at most "
            f"{1 / b:.6g}",
            "rate",
        )
    rounds = int(-(-n // b))
    drawn = dpsgd(sigma=sigma, rate=b * q, steps=rounds, neighbours=neighbours, width=width)
    said = {key: drawn.parameters[key] for key in ("neighbours", "width") if key in drawn.parameters}
    law = drawn.law
    if b > 1 and isinstance(law, ComposedLaw):  # people of several groups take part in steps whose columns overlap
        step = poisson_step(1 / sigma, b * q, Relation(said["neighbours"]), Inclusion.UNKNOWN)
        law = ComposedLaw([(step, rounds)], law.width)
    return Experiment(law, name, {**told, **said}, drawn.worlds, drawn.notes)


def _normalize_matrix(given: ArrayLike) -> tuple[Any, float]:
    """A list, a matrix or a sparse matrix whose largest entry has size 1, and that entry's own size."""
    sparse = hasattr(given, "tocsc")
    held: Any = given.tocsc() if sparse else checks.real("C", given)  # type: ignore[union-attr]
    if sparse:
        checks.real("C", held.data)
    if held.ndim not in (1, 2) or not min(held.shape):
        raise InputError(
            f"C has shape {held.shape}: give a matrix with a column for each step, or the first column of a Toeplitz "
            "matrix",
            "C",
        )
    most = _MOST_STEPS if held.ndim == 1 else _MOST_COLUMNS
    if held.shape[-1] > most:
        raise InputError(f"C has {held.shape[-1]} columns: give at most {most}", "C")
    unit = float(abs(held).max())
    if unit == 0:
        raise InputError("C is 0 everywhere, so nothing is released: give a matrix with other entries", "C")
    return held / unit, unit


def _column_norms_squared(held: Any) -> Array:
    """The squared norms of the columns; of a list that of the first, the largest."""
    if held.ndim == 1:
        return np.asarray([held @ held])
    squares = held.multiply(held) if hasattr(held, "tocsc") else held * held
    return np.asarray(squares.sum(axis=0)).ravel()


def _bandwidth(held: Any) -> int:
    """How many diagonals a lower triangular matrix has, counted from the main one."""
    if held.ndim == 1:
        return int(np.flatnonzero(held)[-1]) + 1
    rows, columns = held.nonzero()
    below = rows - columns
    if below.min() < 0 or held.shape[0] != held.shape[1]:
        raise InputError("C is no square lower triangular matrix: bands are those of one that is", "C")
    return int(below.max()) + 1


def _participation_pattern(participations: object, separation: object) -> tuple[int, int]:
    most = 10**9
    return (
        checks.integer("participations", participations, low=1, high=most),
        checks.integer("separation", separation, low=1, high=most),
    )


def _matrix_sensitivity(held: Any, k: int, b: int) -> Sensitivity:
    n = held.shape[-1]
    if held.ndim == 1:
        if (known := toeplitz_sensitivity(held, k, b)) is not None:
            return known
        _check_dense(n)
        lag = np.subtract.outer(np.arange(n), np.arange(n))
        held = np.where(lag >= 0, held[np.abs(lag)], 0.0)
    if min(k, -(-n // b)) == 1:
        return orthogonal_sensitivity(_column_norms_squared(held), 1, n)
    if not hasattr(held, "tocsc"):
        _check_dense(n)
        return gram_sensitivity(held.T @ held, k, b)
    gram = (held.T @ held).tocoo()
    if not np.any(np.abs(gram.row - gram.col)[gram.data != 0] >= b):
        return orthogonal_sensitivity(_column_norms_squared(held), k, b)
    _check_dense(n)
    return gram_sensitivity(np.asarray(gram.todense()), k, b)


def _check_dense(n: int) -> None:
    if n > _MOST_DENSE:
        raise InputError(
            f"C has {n} columns that overlap: give at most {_MOST_DENSE}, a sparse matrix whose columns do not overlap "
            "at this separation, or the falling first column of a Toeplitz matrix",
            "C",
        )


def _normal_experiment(
    name: str, moved: Sensitivity, sigma: object, told: Mapping[str, object], neighbours: str
) -> Experiment:
    s = float(checks.positive("sigma", checks.scalar("sigma", sigma)))
    relation = parse_relation(neighbours)
    size = moved.size * (2 if relation is Relation.REPLACE else 1)
    mu = privacy_loss_ratio("sigma", np.asarray(size), np.asarray(s))
    law = Normal(mu, known=Exactness.EXACT if moved.exact else Exactness.BOUND)
    parameters = {"sigma": s, **told, "sensitivity": size, "psi": float(mu), "neighbours": relation.value}
    return Experiment(law, name, parameters, worlds_of_relation(relation), () if moved.exact else (_BOUND,))
