"""Matrix mechanisms, trees among them: many answers over time under one correlated noise, as in DP-FTRL.

The release is Cx + z with independent normal noise z, and whatever follows from it, such as all prefix sums B(Cx + z).
A person moves Cx by at most the sensitivity of C (:mod:`.participation`), so the pair is normal with ψ = sens(C)/σ,
also where each x_i is computed from what was released before (Denisov et al. 2022).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import Array
from ..errors import InputError
from ..experiment import Experiment
from ..laws.normal import Normal
from ..readings.law import Exactness
from ..worlds import Relation, parse_relation, worlds_of_relation
from .arrays import arrays
from .noise import per_noise
from .participation import Moved, of_gram, of_norms, of_toeplitz
from .recipe import remembered
from .training import dpsgd

_MOST_DENSE = 3000  # columns whose inner products are all written out: 72 MB, and seconds
_MOST_STEPS, _MOST_COLUMNS = 10**7, 10**5  # of a list, and of a matrix
_BOUND = "an upper bound: no one is known who moves the answers so far, and nothing is known from below"


def sqrt_prefix(n: int, bands: int | None = None) -> Array:
    """The first column of the Toeplitz square root of the prefix sums: 1, 1/2, 3/8, …, C(2t, t)/4^t.

    With ``bands`` all but the first so many entries are 0. It is what :func:`matrix` and :func:`banded` take as ``C``.

    >>> sqrt_prefix(4)
    array([1.    , 0.5   , 0.375 , 0.3125])
    """
    size = checks.integer("n", n, low=1, high=_MOST_STEPS)
    t = np.arange(1.0, size)
    column = np.concatenate(([1.0], np.cumprod((2 * t - 1) / (2 * t))))
    if bands is not None:
        column[checks.integer("bands", bands, low=1, high=size) :] = 0.0
    return column


@arrays("sigma", "participations", "separation", "rate")
@remembered
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

    >>> round(matrix(sqrt_prefix(100), 1.0).psi(), 6)
    1.591022
    >>> round(matrix(sqrt_prefix(1000), 2.0, participations=5, separation=200).psi(), 6)
    2.594016
    >>> round(matrix(sqrt_prefix(2000, 10), 2.0, rate=0.01).epsilon(1e-6), 2)
    5.74
    """
    column, unit = _scaled(C)
    k, b = _pattern(participations, separation)
    if rate is not None:
        if (k, b) != (1, 1):
            raise InputError(
                "rate is given: the groups take turns, so leave out participations and separation", parameter="rate"
            )
        s = float(checks.positive("sigma", checks.scalar("sigma", sigma)))
        norm = float(np.sqrt(np.max(_squares(column)))) * unit
        told = {"sigma": s, "rate": float(checks.probability("rate", checks.scalar("rate", rate)))}
        told |= {"bands": _bands(column), "steps": int(column.shape[-1]), "sensitivity": norm}
        return _amplified("matrix", told, s / norm, neighbours, width)
    told = {"steps": int(column.shape[-1]), "participations": k, "separation": b}
    moved = _moved(column, k, b)
    return _normal("matrix", Moved(moved.size * unit, moved.exact), sigma, told, neighbours)


@arrays("leaves", "sigma", "participations", "separation")
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

    >>> [round(tree(16, 1.0, k, b).psi() ** 2) for k, b in ((1, 1), (2, 8), (4, 4))]
    [5, 12, 36]
    """
    n = checks.integer("leaves", leaves, low=1, high=10**9)
    k, b = _pattern(participations, separation)
    told = {"leaves": n, "participations": k, "separation": b}
    near = 1 << (b.bit_length() - 1)
    if near == b or n > _MOST_DENSE:  # steps less far apart only reach further
        moved = Moved(_in_blocks(n, min(k, -(-n // b)), near), near == b)
    else:
        gram = np.zeros((n, n))
        for level in range(n.bit_length()):
            block = np.arange(n) >> level
            whole = block < n >> level
            gram += (block[:, None] == block) & whole
        moved = of_gram(gram, k, b)
    return _normal("tree", moved, sigma, told, neighbours)


def _in_blocks(n: int, k: int, b: int) -> float:
    """√Σ (steps in a block)², over all complete dyadic blocks, of the steps 0, b, …, (k−1)b."""
    if k > _MOST_STEPS:
        raise InputError(
            f"participations is {k} at this separation: give at most {_MOST_STEPS}", parameter="participations"
        )
    steps, total = b * np.arange(k, dtype=np.int64), 0.0
    for level in range(n.bit_length()):
        block = steps >> level
        _, counts = np.unique(block[block < n >> level], return_counts=True)
        total += float(np.sum(counts.astype(float) ** 2))
    return float(np.sqrt(total))


@arrays("sigma", "rate", "bands", "steps")
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

    >>> round(banded(sigma=2.0, rate=0.01, bands=10, steps=2000).epsilon(1e-6), 2)
    3.81
    """
    s = float(checks.positive("sigma", checks.scalar("sigma", sigma)))
    told = {"sigma": s, "rate": float(checks.probability("rate", checks.scalar("rate", rate)))}
    n = checks.integer("steps", steps, low=1, high=10**9)
    told |= {"bands": checks.integer("bands", bands, low=1, high=n), "steps": n}
    return _amplified("banded", told, s, neighbours, width)


def _amplified(name: str, told: dict[str, Any], sigma: float, neighbours: str, width: float | None) -> Experiment:
    """Sampled steps, at the σ of columns of norm 1."""
    q, b, n = told["rate"], told["bands"], told["steps"]
    if b * q > 1:
        raise InputError(
            f"rate is {q:g} with {b} bands: a batch is drawn from one of {b} groups, so give a rate of at most "
            f"{1 / b:.6g}",
            parameter="rate",
        )
    drawn = dpsgd(sigma=sigma, rate=b * q, steps=-(-n // b), neighbours=neighbours, width=width)
    said = {key: drawn.parameters[key] for key in ("neighbours", "width") if key in drawn.parameters}
    return Experiment(drawn.law, name, told | said, drawn.worlds, drawn.notes)


# -- what a matrix is given as ----------------------------------------------------------------------------------------


def _scaled(given: ArrayLike) -> tuple[Any, float]:
    """A list, a matrix or a sparse matrix whose largest entry has size 1, and that entry's own size."""
    sparse = hasattr(given, "tocsc")
    held: Any = given.tocsc() if sparse else checks.real("C", given)  # type: ignore[union-attr]
    if sparse:
        checks.real("C", held.data)
    if held.ndim not in (1, 2) or not min(held.shape):
        raise InputError(
            f"C has shape {held.shape}: give a matrix with a column for each step, or the first column of a Toeplitz "
            "matrix",
            parameter="C",
        )
    most = _MOST_STEPS if held.ndim == 1 else _MOST_COLUMNS
    if held.shape[-1] > most:
        raise InputError(f"C has {held.shape[-1]} columns: give at most {most}", parameter="C")
    unit = float(abs(held).max())
    if unit == 0:
        raise InputError("C is 0 everywhere, so nothing is released: give a matrix with other entries", parameter="C")
    return held / unit, unit


def _squares(held: Any) -> Array:
    """The squared norms of the columns; of a list that of the first, the largest."""
    if held.ndim == 1:
        return np.asarray([held @ held])
    squares = held.multiply(held) if hasattr(held, "tocsc") else held * held
    return np.asarray(squares.sum(axis=0)).ravel()


def _bands(held: Any) -> int:
    """How many diagonals a lower triangular matrix has, counted from the main one."""
    if held.ndim == 1:
        return int(np.flatnonzero(held)[-1]) + 1
    rows, columns = held.nonzero()
    below = rows - columns
    if below.min() < 0 or held.shape[0] != held.shape[1]:
        raise InputError("C is no square lower triangular matrix: bands are those of one that is", parameter="C")
    return int(below.max()) + 1


def _pattern(participations: Any, separation: Any) -> tuple[int, int]:
    most = 10**9
    return (
        checks.integer("participations", participations, low=1, high=most),
        checks.integer("separation", separation, low=1, high=most),
    )


def _moved(held: Any, k: int, b: int) -> Moved:
    n = held.shape[-1]
    if held.ndim == 1:
        if (known := of_toeplitz(held, k, b)) is not None:
            return known
        _written_out(n)
        lag = np.subtract.outer(np.arange(n), np.arange(n))
        held = np.where(lag >= 0, held[np.abs(lag)], 0.0)
    if min(k, -(-n // b)) == 1:
        return of_norms(_squares(held), 1, n)
    if not hasattr(held, "tocsc"):
        _written_out(n)
        return of_gram(held.T @ held, k, b)
    gram = (held.T @ held).tocoo()
    if not np.any(np.abs(gram.row - gram.col)[gram.data != 0] >= b):
        return of_norms(_squares(held), k, b)
    _written_out(n)
    return of_gram(np.asarray(gram.todense()), k, b)


def _written_out(n: int) -> None:
    if n > _MOST_DENSE:
        raise InputError(
            f"C has {n} columns that overlap: give at most {_MOST_DENSE}, a sparse matrix whose columns do not overlap "
            "at this separation, or the falling first column of a Toeplitz matrix",
            parameter="C",
        )


def _normal(name: str, moved: Moved, sigma: Any, told: dict[str, Any], neighbours: str) -> Experiment:
    s = float(checks.positive("sigma", checks.scalar("sigma", sigma)))
    size = moved.size * (2 if parse_relation(neighbours) is Relation.REPLACE else 1)
    mu = per_noise("sigma", np.asarray(size), np.asarray(s))
    law = Normal(mu, known=Exactness.EXACT if moved.exact else Exactness.BOUND)
    parameters = {"sigma": s, **told, "sensitivity": size, "psi": float(mu), "neighbours": neighbours}
    return Experiment(law, name, parameters, worlds_of_relation(neighbours), () if moved.exact else (_BOUND,))
