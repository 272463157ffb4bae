"""The search problem behind jointly normal records, in units where every record has reach 1.

With x = value/reach, S = Σ a_j x_j. An adversary (i, K) sees the answer shift by β when x_i moves by 1, and counts
Var(S | x_i, x_K) as noise of the data's own (paper 004, Theorem 6, with zero weights and known records included):
β = Cov(S, x_i | x_K)/Var(x_i | x_K).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ....checks import Array
from ....errors import InputError

__all__ = ["Adversary", "Found", "Problem", "refuse_extremes", "refuse_indefinite", "symmetric"]

#: Correlation matrices with a smaller eigenvalue leave no digits.
_LEAST_EIGENVALUE = 1e-12
#: Up to here the algebra of one adversary is done in extended precision.
_EXTENDED = 200


class Adversary(NamedTuple):
    """What one adversary sees: the shift of the answer between two values of the target, and σ₀, the standard
    deviation of what is left of the answer once the target and the known records are fixed.
    """

    shift: float
    own: float


class Found(NamedTuple):
    """The best adversary of a search: its value, who, and the proven upper bound."""

    value: float
    target: int
    known: tuple[int, ...]
    upper: float
    examined: int


@dataclass(frozen=True, eq=False)
class Problem:
    """Covariance and weights in units of each record's reach.

    ``given`` is (covariance, weights, reach) before the change of units, whose rounding a nearly singular covariance
    magnifies: one adversary is read from these.
    """

    cov: Array
    weights: Array
    given: tuple[Array, Array, Array] | None = None

    @property
    def n(self) -> int:
        """How many records."""
        return int(self.weights.size)

    @cached_property
    def precision(self) -> Array:
        """Λ = Σ⁻¹, through the correlation matrix, which is the best scaled."""
        sd = np.sqrt(np.diag(self.cov))
        inverse = np.linalg.inv(self.cov / sd[:, None] / sd)
        return np.asarray((inverse + inverse.T) / 2 / sd[:, None] / sd)

    @cached_property
    def condition(self) -> float:
        """The condition number of the correlations: how many digits a search in doubles may lose."""
        sd = np.sqrt(np.diag(self.cov))
        values = np.linalg.eigvalsh(self.cov / sd[:, None] / sd)
        return float(values[-1] / values[0])

    @cached_property
    def variance(self) -> float:
        """Var(S)."""
        return float(self.weights @ self.cov @ self.weights)

    @cached_property
    def trace(self) -> float:
        """What rounding may leave of a variance that is zero: less own randomness than this is not believed."""
        return 1e-15 * self.variance

    def strongest(self, known: int) -> tuple[int, tuple[int, ...]] | None:
        """The adversary with the largest weight as target and no own randomness left at all, among those who know so
        many records: all unknown records have weight 0. None if there is none.
        """
        i = int(np.argmax(np.abs(self.weights)))
        outside = [j for j in range(self.n) if j != i and self.weights[j] == 0]
        spare = self.n - 1 - known
        if spare > len(outside):
            return None
        return i, tuple(j for j in range(self.n) if j != i and j not in outside[:spare])

    def adversary(self, target: int, known: Sequence[int]) -> Adversary:
        """|β| and σ₀ from one Cholesky factor of the covariance in the order known, target, unknown.

        With x = Lz, S = (Lᵀa)·z: β is the target's entry of Lᵀa over L_ii, and σ₀² the sum of squares of the unknown
        entries, which has no cancellation.
        """
        cov, weights, reach = (self.cov, self.weights, np.ones(self.n)) if self.given is None else self.given
        order = [*known, target, *(j for j in range(self.n) if j != target and j not in set(known))]
        factor = _cholesky(cov[np.ix_(order, order)])
        along = factor.T @ weights[order].astype(factor.dtype)
        k = len(known)
        return Adversary(
            float(abs(along[k]) / factor[k, k] * reach[target]), float(np.sqrt(np.sum(along[k + 1 :] ** 2)))
        )

    def value(self, target: int, known: Sequence[int], sigma: float | None) -> float:
        """The objective: |β|, or |β|/√(σ² + σ₀²)."""
        shift, own = self.adversary(target, known)
        return shift if sigma is None else shift / float(np.hypot(sigma, own))


def _cholesky(matrix: Array) -> Any:
    """The lower factor, in extended precision where that is quick."""
    n = len(matrix)
    if n > _EXTENDED:
        return np.linalg.cholesky(matrix)
    rest = matrix.astype(np.longdouble)
    factor = np.zeros_like(rest)
    for j in range(n):
        factor[j:, j] = rest[j:, j] / np.sqrt(rest[j, j])
        rest[j + 1 :, j + 1 :] -= np.outer(factor[j + 1 :, j], factor[j + 1 :, j])
    return factor


# -- what is refused as a covariance of records ------------------------------------------------------------------------


def symmetric(matrix: Array) -> Array:
    """The matrix, exactly symmetric; refused where it is not up to rounding, or has a variance of 0."""
    variances = np.diag(matrix)
    if np.any(variances <= 0):
        k = int(np.argmin(variances))
        raise InputError(f"cov[{k}, {k}] is {variances[k]:g}: a variance must be above 0", parameter="cov")
    sd = np.sqrt(variances)
    apart = np.abs(matrix - matrix.T) / sd[:, None] / sd
    i, j = divmod(int(np.argmax(apart)), len(matrix))
    if apart[i, j] > 1e-9:
        raise InputError(
            f"cov is not symmetric: cov[{i}, {j}] is {matrix[i, j]:.6g} and cov[{j}, {i}] is {matrix[j, i]:.6g}; "
            "give the same number in both places",
            parameter="cov",
        )
    return np.asarray((matrix + matrix.T) / 2)


def refuse_indefinite(matrix: Array) -> None:
    """A sentence on what is not positive definite: the eigenvalue, or the equal correlations that cannot exist."""
    n, sd = len(matrix), np.sqrt(np.diag(matrix))
    r = matrix / sd[:, None] / sd
    least = float(np.linalg.eigvalsh(r)[0])
    if least > _LEAST_EIGENVALUE:
        return
    off = r[~np.eye(n, dtype=bool)]
    if np.ptp(off) <= 1e-9 and off.mean() < 0:
        raise InputError(
            f"cov is not positive definite: {n} records cannot all have correlation {off.mean():.4g} with each other, "
            f"which must lie above −1/{n - 1} = {-1 / (n - 1):.4g} (the smallest eigenvalue is {least:.4g})",
            parameter="cov",
        )
    raise InputError(
        f"cov is not positive definite: the smallest eigenvalue of its correlations is {least:.4g} (of "
        f"{n}), so no records vary like this; give a covariance whose eigenvalues are all above 0, without records "
        "that the others determine",
        parameter="cov",
    )


def refuse_extremes(matrix: Array, weights: Array, reach: Array) -> None:
    """Sizes whose squares, or the squares of their ratios, doubles cannot hold."""
    sd = np.sqrt(np.diag(matrix))
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        sizes = np.concatenate((sd / reach, np.abs(weights * reach)))
    spread, moves = sizes[: sd.size], sizes[sd.size :][weights != 0]
    if spread.max() > 1e30 or spread.min() < 1e-30 or moves.max(initial=1) > 1e60 or moves.min(initial=1) < 1e-60:
        raise InputError("cov, weights and reach differ by too many orders of magnitude: give them in other units")
