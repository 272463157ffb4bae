"""Many guesses about one run: m canaries, each in or out by a fair coin, r of them guessed, v guesses right.

What the canaries' noise has in common is not assumed away: every bound holds whatever the dependence between them.

* Pure ε: P[W ≥ v] ≤ P[Bin(r, e^ε/(1+e^ε)) ≥ v].
* (ε, δ) (Steinke, Nasr & Jagielski 2023): the same plus 2mδ·max_{1≤i≤v} P[v−i ≤ Bin < v]/i.
* A trade-off f (Mahloujifar, Melis & Chaudhuri 2024): a recursion with g, the inverse of x ↦ 1 − f(x).
* The exact worst case, by a linear programme: after random flips and permutations of the guesses only P_k = P[k wrong]
  matters, and the claim's lines bound how much P_k and P_{k+1} may differ. It checks the recursion, and is never above.

Runs pool by parallel composition: m, r and v are sums over them. r is fixed beforehand; the best of several r would
have to be paid for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, expit

from ..errors import InputError
from .betting import first_kept
from .claims import Claim, gdp_lines, line

MOST_EXACT = 1_500  # guesses for which the linear programme is solved
_USUAL = 0.4  # of the canaries


def steinke_p(m: int, r: int, v: int, epsilon: float, delta: float) -> float:
    """How likely v right of r are at most, for an (ε, δ) mechanism.

    >>> round(steinke_p(1000, 100, 75, 0.673, 1e-4), 4)
    0.05
    """
    if v <= 0:
        return 1.0
    q = float(expit(epsilon))
    tail = float(bdtrc(v - 1, r, q))
    if delta == 0:
        return tail
    i = np.arange(1, v + 1)
    below = bdtr(v - 1, r, q) - np.where(v - i - 1 >= 0, bdtr(np.maximum(v - i - 1, 0), r, q), 0.0)
    return float(min(1.0, tail + 2 * m * delta * (below / i).max()))


def steinke_bound(m: int, r: int, v: int, delta: float, alpha: float = 0.05) -> float:
    """The least ε that v right of r do not refute.

    >>> round(steinke_bound(1000, 100, 75, 1e-4), 3)
    0.673
    """
    return first_kept(lambda e: steinke_p(m, r, v, e, delta) <= alpha, 30.0)


def _inverse(claim: Claim) -> Callable[[float], float]:
    """g(a): the least false-positive rate at which a recall of a is allowed, the maximum of a few lines in a."""
    grow, delta = np.exp(claim.epsilon), claim.delta
    slopes = np.concatenate(([0.0], 1 / grow, grow))
    starts = np.concatenate(([0.0], -delta / grow, 1 - delta - grow))
    hull: list[tuple[float, float]] = []
    corners: list[float] = []
    for slope, start in sorted(zip(slopes.tolist(), starts.tolist(), strict=True)):
        if hull and hull[-1][0] == slope:  # of two parallel lines the higher one comes later
            hull.pop()
            corners = corners[: max(len(hull) - 1, 0)]
        while hull:
            meet = (hull[-1][1] - start) / (slope - hull[-1][0])
            if not corners or meet > corners[-1]:
                corners.append(meet)
                break
            hull.pop()
            corners.pop()
        hull.append((slope, start))

    def g(a: float) -> float:
        slope, start = hull[bisect_right(corners, a)]
        return slope * a + start

    return g


def refutes(m: int, r: int, v: int, claim: Claim, alpha: float = 0.05) -> bool:
    """Whether v right of r refute a claim at level α, by the recursion.

    >>> from epsilens.auditing.claims import claim_of
    >>> refutes(1000, 100, 95, claim_of((2.07, 1e-3))), refutes(1000, 100, 95, claim_of((2.1, 1e-3)))
    (True, False)
    """
    if v <= 0 or alpha <= 0:
        return False
    g = _inverse(claim)
    a, h = alpha * v / m, alpha * (r - v) / m
    for i in range(v - 1, -1, -1):
        grown = max(h, g(a))
        a += i / (r - i) * (grown - h)
        h = grown
        if a + h > r / m:
            return True
    return False


def recursion_p(m: int, r: int, v: int, claim: Claim) -> float:
    """The least level at which v right of r refute a claim."""
    low, high = 0.0, 1.0
    if not refutes(m, r, v, claim, 1.0):
        return 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if refutes(m, r, v, claim, middle) else (middle, high)
    return high


def epsilon_bound(m: int, r: int, v: int, delta: float, alpha: float = 0.05) -> float:
    """The least ε whose (ε, δ) trade-off v right of r do not refute; pure where δ is 0.

    >>> round(epsilon_bound(1000, 100, 95, 1e-5), 2), round(epsilon_bound(10000, 500, 450, 1e-4), 2)
    (2.16, 1.92)
    """
    if delta == 0:
        return steinke_bound(m, r, v, 0.0, alpha)
    return first_kept(lambda e: refutes(m, r, v, line(e, delta), alpha), 30.0)


def mu_bound(m: int, r: int, v: int, alpha: float = 0.05) -> float:
    """The least μ that v right of r do not refute. As an ε it would assume a Gaussian mechanism: it is not turned."""
    return first_kept(lambda mu: refutes(m, r, v, gdp_lines(mu), alpha), 12.0)


def exact_p(m: int, r: int, v: int, claim: Claim) -> float:
    """The largest probability of v right of r that the claim's lines allow: a linear programme over P[k wrong].

    Maximise Σ_{k≤r−v} P_k subject to, at each ε, Σ_k [(x_k − e^ε·y_k)₊ + (y_k − e^ε·x_k)₊] ≤ (m/r)·δ(ε), where
    x_k = P_k(r−k)/r and y_k = P_{k+1}(k+1)/r. Fewer lines allow more, so any set of them is valid.

    >>> from epsilens.auditing.claims import claim_of
    >>> round(exact_p(20, 20, 17, claim_of(1.0)) / steinke_p(20, 20, 17, 1.0, 0.0), 6)
    1.0
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    if r > MOST_EXACT:
        raise InputError(f"r is {r}: the linear programme is solved for up to {MOST_EXACT} guesses", parameter="r")
    if v <= 0:
        return 1.0
    eps, delta = claim.epsilon, claim.delta
    k, lines = np.arange(r), eps.size
    x, y = (r - k) / r, (k + 1) / r  # the weights of P_k and P_{k+1}
    first = r + 1  # where the positive parts begin: two for each line and k
    rows, columns, values = [], [], []

    def put(row: NDArray[Any], column: NDArray[Any], value: NDArray[Any]) -> None:
        rows.append(np.broadcast_to(row, column.shape))
        columns.append(column)
        values.append(np.broadcast_to(value, column.shape))

    row = 0
    for j in range(lines):
        grow = np.exp(eps[j])
        for own, other, side in ((k, k + 1, 0), (k + 1, k, 1)):
            weight, against = (x, y) if side == 0 else (y, x)
            part = first + (2 * j + side) * r + k
            put(row + k, own, weight)
            put(row + k, other, -grow * against)
            put(row + k, part, np.array(-1.0))
            row += r
    for j in range(lines):
        parts = first + 2 * j * r + np.arange(2 * r)
        put(np.array(row + j), parts, np.array(1.0))
    total = row + lines
    unknowns = first + 2 * lines * r
    matrix = coo_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(total, unknowns)
    ).tocsr()
    limits = np.concatenate((np.zeros(row), m / r * delta))
    goal = np.zeros(unknowns)
    goal[: r - v + 1] = -1.0
    whole = np.zeros((1, unknowns))
    whole[0, : r + 1] = 1.0
    solved = linprog(goal, A_ub=matrix, b_ub=limits, A_eq=whole, b_eq=[1.0], bounds=(0, None), method="highs")
    return float(min(1.0, -solved.fun)) if solved.status == 0 else 1.0


def guesses_to_make(m: int, claim: Claim, alpha: float = 0.05) -> int:
    """How many of m canaries to guess: from the claim alone, so that nothing is paid for the choice.

    It is the number that would give the largest bound on μ were the claim attained, guessed as precisely as it allows.
    """
    if claim.alone:  # every share is as precise in the worst case; real noise is more so in its tails
        return max(1, round(_USUAL * m))
    best, chosen = -1.0, max(1, round(_USUAL * m))
    for share in (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.6, 0.8, 1.0):
        r = round(share * m)
        if r < 4:
            continue
        right = int(r * float(claim.most_precise(share)))
        bound = mu_bound(m, r, right, alpha)
        if bound > best:
            best, chosen = bound, r
    return chosen
