"""Readings of one step that is a list of atoms: sums over the list, with room for the rounding of masses and losses.

A loss that is off by κ moves h by no more than the threshold moved by κ does, and a mass that is off by a share e moves
a rate by that share. Below what doubles hold well nothing is said.
"""

from __future__ import annotations

import numpy as np

from ...checks import Array
from ...readings.law import Law
from .step import Step

_U = 2.0**-53
_LEAST = 1e-303  # of a probability
_UNSEEN = 1e-317  # more than what doubles drop


class Listed:
    """(low, high) of log δ, ε, log TPR and log α of a list, each an array for an array."""

    def __init__(self, law: Law, rho: float, largest: float) -> None:
        self.law = law
        self.error = rho + 64 * _U * 750  # logarithms of masses go down to −750
        self.kappa = 64 * _U * (1 + largest)

    def delta(self, epsilon: Array) -> tuple[Array, Array]:
        """log δ(ε)."""
        low, high = (np.asarray(self.law.profile(epsilon + way * self.kappa)) for way in (1, -1))
        return self._logs(low, high)

    def epsilon(self, log_delta: Array) -> tuple[Array, Array]:
        """The ε ≥ 0 with that δ."""
        delta = np.exp(np.minimum(log_delta, 0.0))
        ends = np.minimum(delta * (1 + self.error), 1.0), np.maximum(delta * (1 - self.error) - _UNSEEN, 0.0)
        low, high = (np.asarray(self.law.profile_inverse(end)) for end in ends)
        known = delta > _LEAST
        return np.where(known, low - self.kappa, -np.inf), np.where(known, high + self.kappa, np.inf)

    def roc(self, log_alpha: Array) -> tuple[Array, Array]:
        """log of the true-positive rate."""
        alpha = np.exp(np.minimum(log_alpha, 0.0))
        low, high = (np.asarray(self.law.roc(np.minimum(alpha * (1 + way * self.error), 1.0))) for way in (-1, 1))
        low, high = self._logs(low, np.minimum(high * (1 + 2 * self.kappa), 1.0))
        known = alpha > _LEAST
        return np.where(known, low, -np.inf), np.where(known, high, 0.0)

    def inverse_roc(self, log_recall: Array) -> tuple[Array, Array]:
        """log of the least false-positive rate at which a recall is reached."""
        recall = np.exp(np.minimum(log_recall, 0.0))
        ends = np.maximum(recall * (1 - self.error) - _UNSEEN, 0.0), np.minimum(recall * (1 + self.error), 1.0)
        low, high = (np.asarray(self.law.inverse_roc(end)) for end in ends)
        low, high = self._logs(low * (1 - 2 * self.kappa), high)
        known = recall > _LEAST
        return np.where(known, low, -np.inf), np.where(known, high, 0.0)

    def _logs(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Logarithms of the two ends, moved outwards."""
        with np.errstate(divide="ignore"):
            return (
                np.where(low > _LEAST, np.log(low) - self.error, -np.inf),
                np.minimum(np.log(np.maximum(high, _LEAST)) + self.error, 0.0),
            )


def listed(step: Step, flipped: bool) -> Listed | None:
    """The readings of a step of atoms alone; None where there is a continuous part."""
    law = step.as_law() if step.span is None else None
    if law is None:
        return None
    largest = float(np.max(np.abs(step.atoms.loss), initial=0.0))
    return Listed(law.reverse() if flipped else law, step.rho, largest)
