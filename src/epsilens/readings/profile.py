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
    worse = getattr(law, "worse_delta", None)  # a bracket knows which order needs computing
    if worse is not None:
        return np.asarray(worse(epsilon))
    forward = law.profile(epsilon)
    return forward if law.symmetric else np.maximum(forward, law.reverse().profile(epsilon))


_delta = delta  # the name is an argument below


def epsilon(law: Law, delta: Array) -> Array:
    """The least ε for which the pair is (ε, δ)-indistinguishable, both orders; infinite where there is none.

    A privacy loss rounds up: δ read again at this ε is never above the δ asked for.
    """
    worse = getattr(law, "worse_epsilon", None)  # already on its safe side
    if worse is not None:
        return np.asarray(worse(delta))
    forward = law.profile_inverse(delta)
    value = forward if law.symmetric else np.maximum(forward, law.reverse().profile_inverse(delta))
    for k in range(48):  # by ulps, doubling; where δ hardly depends on ε (few atoms, tiny masses) it takes larger steps
        finite = np.isfinite(value)
        over = finite & (_delta(law, np.where(finite, value, 0.0)) > delta)
        if not over.any():
            break
        value = np.where(over, value * (1 + 2.0 ** (k - 52)) + (2.0 ** (k - 80) if k > 15 else 0.0), value)
    return np.asarray(value)
