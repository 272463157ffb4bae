"""The state of a Markov chain at one time, given its states at others: forward–backward, in logarithms."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...checks import Array

__all__ = ["log_state"]


def _times(a: Array, b: Array) -> Array:
    """The product of two matrices given by their logarithms; a chain's probabilities may leave double precision."""
    return np.stack([np.logaddexp.reduce(row[:, None] + b, axis=0) for row in a])


def _power(log_matrix: Array, steps: int) -> Array:
    """The matrix's power by squaring; its rows are kept summing to one, so that nothing drifts."""
    size = log_matrix.shape[0]
    result = np.where(np.eye(size) > 0, 0.0, -np.inf)
    while steps:
        if steps & 1:
            result = _normal(_times(result, log_matrix))
        log_matrix, steps = _normal(_times(log_matrix, log_matrix)) if steps > 1 else log_matrix, steps >> 1
    return result


def _normal(log_matrix: Array) -> Array:
    return np.asarray(log_matrix - np.logaddexp.reduce(log_matrix, axis=1, keepdims=True))


def log_state(initial: Array, transition: Array, at: int, observed: Mapping[int, int]) -> Array | None:
    """log P(state at time ``at`` | observed states), or None if what was observed cannot be.

    Only the last state seen before and the first one after matter to it; the others must merely be possible.
    """
    with np.errstate(divide="ignore"):
        log_p, log_a = np.log(initial), np.log(transition)
    message, now, result = log_p[None, :], 0, None
    for time in sorted({*observed, at}):
        message = _times(message, _power(log_a, time - now))
        now = time
        if time == at:
            result = message[0]
            continue
        state = observed[time]
        if message[0, state] == -np.inf:
            return None
        seen = np.full_like(message, -np.inf)
        if result is not None and time == min(t for t in observed if t > at):
            result = result + _power(log_a, time - at)[:, state]
        seen[0, state] = 0.0
        message = seen
    assert result is not None
    total = np.logaddexp.reduce(result)
    return np.asarray(result - total)
