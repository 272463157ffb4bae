"""What a finite table leaves uncertain about the worst leakage.

**Normal records.** The leakage of the adversary (i, K) is reach·|β|/scale, and β is the coefficient of x_i in the
regression of the query S on x_i and x_K. Its estimate therefore has the exact error of a regression coefficient: for
normal rows Student's t with N−|K|−2 degrees of freedom, and the standard error
√(Var(S|x_i,x_K)/Var(x_i|x_K)/(N−|K|−2)). Let a* be the adversary who is truly the worst:

* the upper end is the maximum over all adversaries of (estimate + t·error). It is no less than the same expression at
  a*, which alone fails with the stated probability: choosing the largest costs nothing;
* the lower end is the maximum over all adversaries of (estimate − t'·error), t' for the stated probability divided by
  the number of adversaries, because the largest of many estimates is likely to be too large.

Rows that are not normal have other errors: they are multiplied by :func:`~.inflation.inflation`, found at the worst
adversary and at those who know no other record. Up to :data:`MOST_ENUMERATED` records every adversary is visited;
beyond, the largest error that any could have is added to the proven upper bound, which is wide.

**Tables and chains.** Probabilities are drawn from their Dirichlet posterior given the counts, :data:`DRAWS` times with
a fixed seed: half of the draws with ½ a row added to each cell (at most √N/2 in all), as if what was never seen were
possible, half with nothing added, as if it were not; either may leak more. The interval holds the middle share of both
halves and the estimate itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, stdtrit

from ...checks import Array

#: Up to so many records every adversary's error is looked at (n·2^(n−1) of them).
MOST_ENUMERATED = 18
DRAWS = 200
#: Fewest draws that still have tails to read.
_FEWEST = 80
#: Seconds that a part of the answer may take which can be left out.
PATIENCE = 30.0
_BLOCK = 10
_SEED = 20190


@dataclass(frozen=True)
class Interval:
    """An interval for the worst leakage: what the sample leaves uncertain if the model holds."""

    low: float
    high: float
    confidence: float
    method: str


def regression(cov: Array, weights: Array, target: int, known: tuple[int, ...]) -> tuple[Array, Array]:
    """What the adversary's regressions leave, as weights over the records: of the query, and of the target.

    >>> e, z = regression(np.array([[1.0, 0.5], [0.5, 1.0]]), np.ones(2), 0, ())
    >>> e.tolist(), z.tolist()
    ([-0.5, 1.0], [1.0, 0.0])
    """
    both, others = [target, *known], list(known)
    answer = weights.astype(float)
    answer[both] -= np.linalg.solve(cov[np.ix_(both, both)], cov[both] @ weights)
    part = np.zeros(len(weights))
    part[target] = 1.0
    if others:
        part[others] -= np.linalg.solve(cov[np.ix_(others, others)], cov[others, target])
    answer[both] = np.where(np.abs(answer[both]) < 1e-12 * np.abs(weights).max(), 0.0, answer[both])
    return answer, part


def _adversaries(cov: Array, weights: Array) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Blocks of known sets K: β, Var(x_i|K), Var(S|x_i,K) with a column for each i (NaN where i is known), and |K|."""
    n = len(weights)
    full = np.empty((n + 1, n + 1))
    full[:n, :n] = cov
    full[n, :n] = full[:n, n] = cov @ weights
    full[n, n] = weights @ cov @ weights
    last = list(range(max(n - _BLOCK, 0), n))

    def learn(block: Array, j: int) -> Array:
        column = block[:, :, j]
        return block - column[:, :, None] * column[:, None, :] / block[:, j, j][:, None, None]

    def visit(block: Array, known: NDArray[np.bool_], j: int) -> Iterator[tuple[Array, NDArray[np.bool_]]]:
        if j < last[0]:
            yield from visit(block, known, j + 1)
            yield from visit(learn(block, j), known | (np.arange(n) == j), j + 1)
            return
        for k in last:
            block = np.concatenate((block, learn(block, k)))
            known = np.concatenate((known, known | (np.arange(n) == k)))
        yield block, known

    for block, known in visit(full[None], np.zeros((1, n), dtype=bool), 0):
        v = np.where(known, np.nan, block[:, range(n), range(n)])
        v = np.where(v > 0, v, np.nan)
        shared = block[:, n, :n]
        left = np.maximum(block[:, n, n][:, None] - shared**2 / v, 0.0)
        # with every other record known nothing is left of the query, up to rounding
        left = np.where((~known).sum(axis=1)[:, None] == 1, 0.0, left)
        yield shared / v, v, left, known.sum(axis=1).astype(float)


def normal_interval(
    cov: Array,
    weights: Array,
    reach: Array,
    rows: int,
    confidence: float,
    worst: Any,
    *,
    scale: float | None = None,
    sigma: float | None = None,
    own_noise: bool = True,
    inflated: float = 1.0,
) -> Interval:
    """The interval of the worst leakage (or ψ with ``sigma``) of normal records estimated from so many rows."""
    n = len(weights)
    tail = (1 - confidence) / 2
    count = n * 2.0 ** (n - 1)
    noise = scale if sigma is None else sigma
    assert noise is not None
    own = sigma is not None and own_noise

    def read(m: Any, beta: Array, v: Array, left: Array, df: Array) -> tuple[Array, Array]:
        error = inflated * np.sqrt(left / v / df)
        if not own:
            up = np.abs(beta) + stdtrit(df, 1 - tail) * error
            down = np.abs(beta) - stdtrit(df, 1 - tail / count) * error
            return m * up / noise, m * down / noise
        # ψ also needs what the data's own randomness adds to the noise: half the probability for each
        up = np.abs(beta) + stdtrit(df, 1 - tail / 2) * error
        down = np.abs(beta) - stdtrit(df, 1 - tail / count / 2) * error
        less = left * np.maximum(1 - inflated * (1 - df / chdtri(df, tail / 2)), 0.0)
        more = left * (1 + inflated * (df / np.maximum(chdtri(df, 1 - tail / count / 2), 1e-300) - 1))
        less, more = np.hypot(noise, np.sqrt(less)), np.hypot(noise, np.sqrt(more))
        return m * up / less, m * np.maximum(down, 0) / more

    method = "Student's t at every adversary"
    if n <= MOST_ENUMERATED:
        low, high = 0.0, float(worst.upper)
        for beta, v, left, k in _adversaries(cov, weights):
            up, down = read(reach, beta, v, left, np.broadcast_to((rows - k - 2)[:, None], beta.shape))
            low, high = max(low, float(np.nanmax(down))), max(high, float(np.nanmax(up)))
    else:
        method = "the largest error any adversary could have, added to the proven bound"
        df = np.array(rows - n - 1.0)
        answer, part = regression(cov, weights, worst.target, worst.known)
        v, left = (np.array(w @ cov @ w) for w in (part, answer))
        beta = np.array((weights @ cov @ part) / v)
        low = float(read(reach[worst.target], beta, v, left, df)[1])
        total = np.array(weights @ cov @ weights)
        error = float(inflated * np.max(reach * np.sqrt(np.diag(np.linalg.inv(cov)) * total / df)))
        if not own:
            high = worst.upper + float(stdtrit(df, 1 - tail)) * error / noise
        else:
            kept = max(1 - inflated * (1 - float(df / chdtri(df, tail / 2))), 1e-12)
            high = worst.upper / np.sqrt(kept) + float(stdtrit(df, 1 - tail / 2)) * error / noise
    if inflated > 1.0:
        method += f", times {inflated:.3g} because the rows are not normal"
    return Interval(min(max(low, 0.0), float(worst.leakage)), float(high), confidence, method)


def drawn_interval(
    counts: list[NDArray[np.int64]],
    leakage: Callable[[list[Array]], float],
    found: float,
    confidence: float,
    group: float,
    seconds: float = 0.0,
    progress: Callable[[float, str], None] | None = None,
) -> Interval:
    """The interval of ``leakage``, a function of laws, each estimated from one array of counts.

    One value takes about ``seconds``; where the fewest draws would take minutes, the upper end is ``group``, which no
    law exceeds.
    """
    if seconds * _FEWEST > 2 * PATIENCE:
        return Interval(0.0, max(group, found), confidence, "group privacy, because draws would take minutes")
    random = np.random.default_rng(_SEED)
    values: tuple[list[float], list[float]] = ([], [])
    started = time.monotonic()
    for k in range(DRAWS):
        values[k % 2].append(leakage([_draw(random, c, possible=k % 2 == 0) for c in counts]))
        if progress is not None:
            progress((k + 1) / DRAWS, f"sampling error: draw {k + 1} of {DRAWS}")
        if k + 1 >= _FEWEST and time.monotonic() - started > PATIENCE:
            break
    tail = (1 - confidence) / 2
    ends = [np.quantile(v, [tail, 1 - tail], method="inverted_cdf") for v in values]
    method = f"{sum(map(len, values))} draws from the Dirichlet posterior"
    low, high = min(float(e[0]) for e in ends), max(float(e[1]) for e in ends)
    return Interval(min(low, found), max(high, found), confidence, method)


def _draw(random: np.random.Generator, counts: NDArray[np.int64], *, possible: bool) -> Array:
    """One law given how often each of its cells was seen; whether cells that were not are possible."""
    added = min(0.5, np.sqrt(counts.sum()) / (2 * counts.size)) if possible else 0.0
    parts = random.standard_gamma(counts + added)
    return np.asarray(parts / parts.sum())
