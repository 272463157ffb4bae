"""The attacker's success from the gap a person causes: the only place where a scan meets the mathematics.

A person's gap d and the query's sensitivity Δ enter only as r = d/Δ, and success grows with r. So one call serves
all people of a histogram of gaps, and the ε for a quantile of people is the ε for that quantile's r.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

__all__ = ["largest_epsilon", "success"]


def success(
    epsilon: float,
    ratio: NDArray[np.float64],
    *,
    known: bool,
    noise: str = "laplace",
    delta: float | None = None,
) -> NDArray[np.float64]:
    r"""How often the attacker's guess of the secret is right, for each ratio :math:`r = d/\Delta`.

    Two noisy answers: :math:`1-\frac12(1+r\varepsilon/8)e^{-r\varepsilon/4}`; one answer known exactly:
    :math:`1-\frac12 e^{-r\varepsilon/2}` (reference sheet §2).

    >>> success(1.0, np.array([0.0, 1.0]), known=False).round(12).tolist()
    [0.5, 0.561924559522]
    """
    # TO BE REPLACED by epsilens.build.differencing when it appears.
    if noise != "laplace":
        raise InputError(f"noise is {noise!r}: give 'laplace'")
    r = np.asarray(ratio, float) * epsilon
    if known:
        return np.asarray(0.5 - 0.5 * np.expm1(-r / 2))
    return np.asarray(1 - 0.5 * (1 + r / 8) * np.exp(-r / 4))


def largest_epsilon(
    at_most: float, ratio: float, *, known: bool, noise: str = "laplace", delta: float | None = None
) -> float | None:
    """The largest ε that keeps success at ``ratio`` at or below ``at_most``; None when every ε does.

    >>> round(largest_epsilon(0.55, 1.0, known=False), 9)
    0.804917289
    """
    # TO BE REPLACED by epsilens.choose when it appears.
    from scipy.special import lambertw

    if not 0.5 < at_most < 1:
        raise InputError(
            f"limit is {at_most:g}: a guess without the release is right for 50 of 100; give a number between 0.5 and 1"
        )
    if ratio <= 0:
        return None
    if known:
        return float(-2 * np.log(2 * (1 - at_most)) / ratio)
    value: Any = lambertw(-4 * (1 - at_most) * np.exp(-2.0), k=-1).real
    return float((-8 - 4 * value) / ratio)
