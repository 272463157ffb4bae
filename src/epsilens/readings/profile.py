"""The (ε, δ) profile. Differential privacy quantifies over both orders of the pair, so these take the worse.

δ(ε) = sup_α 1 − f(α) − e^ε·α, the convex conjugate of the trade-off; ε(δ) is its inverse.
"""

from __future__ import annotations

import numpy as np

from ..checks import Array
from .law import Law

__all__ = ["delta", "epsilon"]


def delta(law: Law, epsilon: Array) -> Array:
    """The least δ for which the pair is (ε, δ)-indistinguishable, both orders."""
    return np.asarray(law.worse_delta(epsilon))


def epsilon(law: Law, delta: Array) -> Array:
    """The least ε for which the pair is (ε, δ)-indistinguishable, both orders; infinite where there is none."""
    return np.asarray(law.worse_epsilon(delta))
