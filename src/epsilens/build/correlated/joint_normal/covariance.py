"""What is refused as a covariance of records, one sentence each."""

from __future__ import annotations

import numpy as np

from ....checks import Array
from ....errors import InputError

__all__ = ["refuse_extremes", "refuse_indefinite", "symmetric"]

#: Correlation matrices with a smaller eigenvalue leave no digits.
_LEAST_EIGENVALUE = 1e-12


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
