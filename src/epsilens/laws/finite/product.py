"""Several finite pairs observed together, every combination of outcomes written out.

k equal answers with a outcomes have only C(k+a−1, a−1) different counts of outcomes, and the loss depends on the counts
alone, so that hundreds of answers stay within reach where their losses share no lattice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln

from ...checks import Array
from .law import Finite


def _counts(outcomes: int, k: int) -> Array:
    """Every way to count k answers by outcome, one row each."""
    rows = np.zeros((1, 0))
    left = np.array([k])
    for _ in range(outcomes - 1):
        many = left + 1
        first = np.repeat(np.cumsum(many) - many, many)
        taken = np.arange(int(many.sum())) - first
        rows = np.column_stack((np.repeat(rows, many, axis=0), taken))
        left = np.repeat(left, many) - taken
    return np.column_stack((rows, left)).astype(float)


def _listed(law: Finite, k: int) -> tuple[Array, Array]:
    """The same one answer at a time, outcomes in their order: for few answers with many outcomes.

    The t-th answer multiplies the ways by t and divides them by how often its outcome has come: k!/∏(times)! in all.
    """
    n = law.llr.size
    last, times, log_p, loss = np.arange(n), np.ones(n), law.log_p0, law.llr
    for t in range(2, k + 1):
        many = n - last
        at = np.repeat(np.arange(last.size), many)
        following = last[at] + np.arange(at.size) - np.repeat(np.cumsum(many) - many, many)
        times = np.where(following == last[at], times[at] + 1, 1.0)
        log_p = log_p[at] + law.log_p0[following] + math.log(t) - np.log(times)
        loss, last = loss[at] + law.llr[following], following
    return log_p, loss


def _power(law: Finite, k: int) -> tuple[Array, Array]:
    """(log H0-mass, loss) of every count of outcomes."""
    if k == 1:
        return law.log_p0, law.llr
    if k < law.llr.size:
        return _listed(law, k)
    counts = _counts(law.llr.size, k)
    ways = gammaln(k + 1.0) - gammaln(counts + 1).sum(axis=1)
    return ways + counts @ law.log_p0, counts @ law.llr


def finite_product(counted: Sequence[tuple[Finite, int]], most: int) -> Finite | None:
    """The product of finite pairs, each so many times; None if that takes more than ``most`` atoms."""
    size = 1
    for law, k in counted:
        if law.far is not None or k > 100_000:
            return None
        n = law.llr.size
        size *= math.comb(k + n - 1, n - 1) if n else 1  # different counts of outcomes
        if size > most:
            return None
    log_p, loss = np.zeros(1), np.zeros(1)
    finite0 = finite1 = 0.0  # log of the mass whose loss is finite
    for law, k in counted:
        if law.only0 >= 1 or law.only1 >= 1:
            return Finite(np.zeros(0), np.zeros(0), 1.0, 1.0, mirrored=True)
        more_p, more_loss = _power(law, k)
        log_p = (log_p[:, None] + more_p).ravel()
        loss = (loss[:, None] + more_loss).ravel()
        finite0, finite1 = finite0 + k * math.log1p(-law.only0), finite1 + k * math.log1p(-law.only1)
    mirrored = all(law.mirrored for law, _ in counted)
    return Finite(log_p, loss, -math.expm1(finite0), -math.expm1(finite1), mirrored)
