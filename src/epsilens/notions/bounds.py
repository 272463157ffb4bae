"""What an ε in one notion becomes in another, as increasing functions of ε with inverses on the safe side.

With t = P(o|x)/P̄(o) of mean one, information is Σ P̄·E[t·ln t]. The integrand is convex, so for t ∈ [L, U] the most
is the two-point law on L and U; maximised over what is free it gives both bounds below.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..numerics.roots import safe_boundary
from ..numerics.special import expm1mx, log1pmx

_TINY = 5e-324


def information_from_odds(epsilon: float) -> float:
    """The most information, in nats, when all laws of the answer are within e^ε of each other.

    U = e^ε·L and the best L is 1/c with c = ε/(1 − e^{−ε}): c − 1 − ln c. It is ε²/8 for small ε, below
    ε·tanh(ε/2) always, and reached in the limit by telling a random set of values that holds the true one more
    often than another (values without number).

    >>> round(information_from_odds(1.0), 9)
    0.123301561
    """
    if epsilon == 0 or math.isinf(epsilon):
        return epsilon
    more = float(expm1mx(np.asarray(-epsilon))) / -math.expm1(-epsilon)  # c − 1
    return max(float(-log1pmx(np.asarray(more))), _TINY)


def information_from_belief(epsilon: float) -> float:
    """The most information, in nats, when no belief moves by more than e^{±ε}: L = e^{−ε}, U = e^ε, so ε·tanh(ε/2).

    >>> round(information_from_belief(1.0), 9)
    0.462117157
    """
    return max(epsilon * math.tanh(epsilon / 2), _TINY) if epsilon > 0 else 0.0


def belief_from_odds(epsilon: float, least: float = 0.0) -> float:
    """How far one belief moves when odds move by e^ε and no value, nor all others together, is rarer than ``least``.

    P(o)/P(o|t) = q + (1−q)·P(o|¬t)/P(o|t) ≤ p + (1−p)·e^ε with q = P(t) ≥ p; the other ratios are smaller.

    >>> round(belief_from_odds(1.0, 0.5), 12)
    0.620114506958
    """
    return epsilon + math.log1p(least * math.expm1(-epsilon))


def odds_from_belief(epsilon: float, least: float = 0.0) -> float:
    """The inverse of :func:`belief_from_odds`."""
    return epsilon + math.log1p(-least * math.expm1(-epsilon) / (1 - least))


def inverse(bound: Callable[[float], float], limit: float, most: float = 1e9) -> float:
    """The largest ε whose bound does not exceed the limit, never above it."""
    if limit == 0:
        return 0.0
    if bound(most) <= limit:
        return most
    low = 1e-300
    if bound(low) > limit:
        return 0.0
    return safe_boundary(lambda e: bound(e) - limit, low, most)


def even_odds_success(nats: float) -> float:
    """How often a yes/no value with even odds is guessed, at most, when so much is told: ln 2 − h(p) = nats (Fano).

    >>> round(even_odds_success(0.110944), 4), even_odds_success(1.0)
    (0.7311, 1.0)
    """
    if nats >= math.log(2):
        return 1.0
    if nats <= 0:
        return 0.5

    def told(edge: float) -> float:  # ln 2 − h((1+edge)/2)
        return edge * math.atanh(edge) + 0.5 * math.log1p(-edge * edge)

    low, high = 0.0, min(math.sqrt(2 * nats), 1.0)  # told(x) ≥ x²/2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if told(middle) < nats else (low, middle)
    return min(math.nextafter(0.5 + high / 2, 1.0), 1.0)
