"""Table 1 as printed, and the paper's formulas as they stand (``…_printed``), which live nowhere else."""

from __future__ import annotations

import math
from collections.abc import Sequence

LIMITS = (0.55, 0.58, 0.62, 0.67, 0.76, 0.83, 0.9, 0.95)
BETAS = (0.5, 0.6, 0.8, 1.0, 1.5, 2.0)
#: Table 1 as printed; None is the paper's dash.
PRINTED: tuple[tuple[float | None, ...], ...] = (
    (0.22, 0.34, 0.55, 0.82, 1.42, 2.04, 3.0, 4.29),
    (None, 0.33, 0.54, 0.83, 1.45, 2.11, 3.11, 4.43),
    (None, None, 0.49, 0.8, 1.46, 2.16, 3.21, 4.58),
    (None, None, None, 0.71, 1.4, 2.12, 3.2, 4.6),
    (None, None, None, None, 1.17, 1.88, 2.99, 4.41),
    (None, None, None, None, None, 1.61, 2.69, 4.12),
)


def lambda_printed(epsilon: float, alpha: float) -> float:
    """§4.1.5 as printed, right only between e^{−ε}/2 and ½."""
    tail = alpha if alpha <= 0.5 else 1 - alpha
    return math.exp(-epsilon) / (4 * tail * tail)


def lambda_corrected(epsilon: float, alpha: float) -> float:
    """The test's threshold on the likelihood ratio at false-positive rate α: the slope of the ROC curve there."""
    if alpha >= 0.5:
        return math.exp(-epsilon)
    return min(math.exp(-epsilon) / (4 * alpha * alpha), math.exp(epsilon))


def sigma_printed(epsilon: float, delta: float, sensitivity: float) -> float:
    """The paper's σ: it takes σ² = 2·log(1.25/δ)·ΔQ/ε for the classical σ = √(2·log(1.25/δ))·ΔQ/ε."""
    return math.sqrt(2 * math.log(1.25 / delta) * sensitivity / epsilon)


def odds_printed(rho_p: float, rho_c: float = 0.0, rho_t: float = 0.0) -> float:
    """Eqs 17, 20, 23: the paper's prior odds, without the condition that they be positive."""
    return 1 - rho_p - (2 - rho_p) * (rho_c + rho_t * (1 - rho_c))


def fscore_printed(epsilon: float, c: float, *, beta: float = 1.0, slip: bool = True) -> float:
    """Eqs 18 and 24 as printed: ε stands under the root where e^ε belongs (Eq. 21 has it right: ``slip`` false)."""
    b2 = beta * beta
    if epsilon < math.log1p(b2 / c):
        return (1 + b2) / (1 + b2 + c)
    s = math.sqrt(1 + 4 * b2 * (epsilon if slip else math.exp(epsilon)) / c)
    return (1 + b2) * (s - 1) / ((1 + b2) * s - 1 + b2)


def coefficients_of(joint: Sequence[Sequence[float]]) -> tuple[float, float]:
    """(ρ_p, ρ_c) of a record and one other, by the paper's definitions; rows are the record's values.

    >>> rho_p, rho_c = coefficients_of([[0.1, 0.7], [0.15, 0.05]])
    >>> round(rho_p, 12), round(rho_c, 12), round(odds_printed(rho_p, rho_c), 3)
    (0.75, 0.666666666667, -0.583)
    """
    own = [math.fsum(row) for row in joint]
    other = [math.fsum(column) for column in zip(*joint, strict=True)]
    ratios = [own[i] / (x / other[j]) for i, row in enumerate(joint) for j, x in enumerate(row) if x > 0]
    return 1 - min(own) / max(own), 1 - min(ratios)
