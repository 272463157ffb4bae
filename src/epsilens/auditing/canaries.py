"""One training with canaries: records of one's own making, each put in or left out by a coin, and guessed afterwards.

    canaries = Canaries(1000)
    model = train(canaries.insert(dataset, records))         # torch datasets; or use canaries.included yourself
    found = canaries.audit(canaries.scores(model, records, loss), claim=el.dpsgd(...))

A score says how much a canary looks like it was in: less loss after training, or the sum of its gradient's products
with the noisy updates, which sees the whole trajectory. Canaries that move the model in directions of their own are
told apart best; the more they get into each other's way, the less is found.

Many guesses about one run: m canaries, each in or out by a fair coin, r of them guessed, v guesses right.

What the canaries' noise has in common is not assumed away: every bound holds whatever the dependence between them.

* Pure ε (Steinke, Nasr & Jagielski 2023): P[W ≥ v] ≤ P[Bin(r, e^ε/(1+e^ε)) ≥ v].
* A trade-off f (Mahloujifar, Melis & Chaudhuri 2024): a recursion with g, the inverse of x ↦ 1 − f(x).
* The exact worst case, by a linear programme: after random flips and permutations of the guesses only P_k = P[k wrong]
  matters, and the claim's lines bound how much P_k and P_{k+1} may differ. It checks the recursion, and is never above.

Runs pool by parallel composition: m, r and v are sums over them. r is fixed beforehand; the best of several r would
have to be paid for.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, SupportsFloat

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtrc, expit

from .. import checks
from ..checks import Array
from ..errors import InputError
from .betting import least_unrefuted
from .bounds import capped_at_claim, claim_excess, claimed_readings
from .result import (
    AttackEvent,
    Audit,
    AuditVerdict,
    ClaimLines,
    Finding,
    FindingKind,
    gdp_lines,
    level_of,
    parse_claim,
    single_line,
)
from .sources import Bits

if TYPE_CHECKING:
    from torch.utils.data import ConcatDataset, Dataset

MOST_EXACT = 1_500  # guesses for which the linear programme is solved
_USUAL_SHARE = 0.4  # of the canaries


def pure_p(r: int, v: int, epsilon: float) -> float:
    """How likely v right of r are at most, for a pure ε mechanism.

    >>> round(pure_p(100, 75, 0.7022), 4)
    0.05
    """
    return float(bdtrc(v - 1, r, float(expit(epsilon)))) if v > 0 else 1.0


def _inverse_tradeoff(claim: ClaimLines) -> Callable[[float], float]:
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


def recursion_refutes(m: int, r: int, v: int, claim: ClaimLines, alpha: float = 0.05) -> bool:
    """Whether v right of r refute a claim at level α, by the recursion.

    >>> from epsilens.auditing.result import claim_of
    >>> [recursion_refutes(1000, 100, 95, claim_of((epsilon, 1e-3))) for epsilon in (2.07, 2.1)]
    [True, False]
    """
    if v <= 0 or alpha <= 0:
        return False
    g = _inverse_tradeoff(claim)
    a, h = alpha * v / m, alpha * (r - v) / m
    for i in range(v - 1, -1, -1):
        grown = max(h, g(a))
        a += i / (r - i) * (grown - h)
        h = grown
        if a + h > r / m:
            return True
    return False


def recursion_p(m: int, r: int, v: int, claim: ClaimLines) -> float:
    """The least level at which v right of r refute a claim."""
    low, high = 0.0, 1.0
    if not recursion_refutes(m, r, v, claim, 1.0):
        return 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if recursion_refutes(m, r, v, claim, middle) else (middle, high)
    return high


def epsilon_bound(m: int, r: int, v: int, delta: float, alpha: float = 0.05) -> float:
    """The least ε whose (ε, δ) trade-off v right of r do not refute; pure where δ is 0.

    >>> round(epsilon_bound(1000, 100, 95, 1e-5), 2), round(epsilon_bound(10000, 500, 450, 1e-4), 2)
    (2.16, 1.92)
    """
    if delta == 0:
        return least_unrefuted(lambda e: pure_p(r, v, e) <= alpha, 30.0)
    return least_unrefuted(lambda e: recursion_refutes(m, r, v, single_line(e, delta), alpha), 30.0)


def mu_bound(m: int, r: int, v: int, alpha: float = 0.05) -> float:
    """The least μ that v right of r do not refute. As an ε it would assume a Gaussian mechanism: it is not turned."""
    return least_unrefuted(lambda mu: recursion_refutes(m, r, v, gdp_lines(mu), alpha), 12.0)


def exact_p(m: int, r: int, v: int, claim: ClaimLines) -> float:
    """The largest probability of v right of r that the claim's lines allow: a linear programme over P[k wrong].

    Maximise Σ_{k≤r−v} P_k subject to, at each ε, Σ_k [(x_k − e^ε·y_k)₊ + (y_k − e^ε·x_k)₊] ≤ (m/r)·δ(ε), where
    x_k = P_k(r−k)/r and y_k = P_{k+1}(k+1)/r. Fewer lines allow more, so any set of them is valid.

    >>> from epsilens.auditing.result import claim_of
    >>> round(exact_p(20, 20, 17, claim_of(1.0)) / pure_p(20, 17, 1.0), 6)
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
    entries: list[tuple[NDArray[np.int64], NDArray[np.int64], Array]] = []  # (row, column, value)
    row = 0
    for j in range(lines):
        grow = np.exp(eps[j])
        for side, own, other, weight, against in ((0, k, k + 1, x, y), (1, k + 1, k, y, x)):
            part = first + (2 * j + side) * r + k
            entries += [(row + k, own, weight), (row + k, other, -grow * against), (row + k, part, -np.ones(r))]
            row += r
    for j in range(lines):
        entries.append((np.full(2 * r, row + j), first + 2 * j * r + np.arange(2 * r), np.ones(2 * r)))
    unknowns = first + 2 * lines * r
    rows, columns, values = (np.concatenate(part) for part in zip(*entries, strict=True))
    matrix = coo_array((values, (rows, columns)), shape=(row + lines, unknowns)).tocsr()
    limits = np.concatenate((np.zeros(row), m / r * delta))
    goal = np.zeros(unknowns)
    goal[: r - v + 1] = -1.0
    whole = np.zeros((1, unknowns))
    whole[0, : r + 1] = 1.0
    solved = linprog(goal, A_ub=matrix, b_ub=limits, A_eq=whole, b_eq=[1.0], bounds=(0, None), method="highs")
    return float(min(1.0, -solved.fun)) if solved.status == 0 else 1.0


def guesses_to_make(m: int, claim: ClaimLines, alpha: float = 0.05) -> int:
    """How many of m canaries to guess: from the claim alone, so that nothing is paid for the choice.

    It is the number that would give the largest bound on μ were the claim attained, guessed as precisely as it allows.
    """
    if claim.alone:  # every share is as precise in the worst case; real noise is more so in its tails
        return max(1, round(_USUAL_SHARE * m))
    shares = (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.6, 0.8, 1.0)
    tried = [(round(share * m), float(claim.most_precise(share))) for share in shares if round(share * m) >= 4]
    if not tried:
        return max(1, round(_USUAL_SHARE * m))
    return max(tried, key=lambda guess: mu_bound(m, guess[0], int(guess[0] * guess[1]), alpha))[0]


_MOST_CANARIES = 10**7


@dataclass
class Canaries:
    """Which of m canaries are in, by m fair coins.

    >>> canaries = Canaries(1000, seed=1)
    >>> int(canaries.included.sum())
    503
    """

    m: int
    seed: int | None = None
    included: Bits = field(init=False)

    def __post_init__(self) -> None:
        self.m = checks.integer("m", self.m, low=1, high=_MOST_CANARIES)
        if self.seed is not None:
            self.seed = checks.integer("seed", self.seed, low=0)
        coins = np.random.default_rng(None if self.seed is None else [self.seed, 0x63616E617279])
        self.included = coins.integers(0, 2, self.m).astype(bool)

    def insert(self, dataset: Dataset, records: Sequence[object]) -> ConcatDataset:
        """The data with the canaries that are in, as a torch dataset; ``records`` has one entry a canary."""
        from torch.utils.data import ConcatDataset, Subset

        self._fits("records", len(records))
        return ConcatDataset([dataset, Subset(records, np.flatnonzero(self.included).tolist())])

    def scores(self, model: Callable[..., object], records: Sequence[Any], loss: Callable[..., SupportsFloat]) -> Array:
        """Minus the loss of each canary after training; ``loss(model(x), y)`` is of one record."""
        import torch

        self._fits("records", len(records))
        with torch.no_grad():
            return np.array([-float(loss(model(x[None]), torch.as_tensor(y)[None])) for x, y in records])

    def audit(self, scores: ArrayLike, *, claim: object, guesses: int | None = None, confidence: float = 0.95) -> Audit:
        """The bound from scores, one a canary: half of the guesses name those that look most like they were in.

        ``guesses`` is fixed before the scores are seen; by default it follows from the claim.
        """
        score = checks.real("scores", scores, infinite=True)
        self._fits("scores", score.size if score.ndim == 1 else -1)
        asked, alpha = parse_claim(claim), level_of(confidence)
        if guesses is None:
            r = guesses_to_make(self.m, asked, alpha)
        else:
            r = checks.integer("guesses", guesses, low=1, high=self.m)
        order = np.argsort(score, kind="stable")
        out, into = order[: r // 2], order[self.m - (r - r // 2) :]
        right = int((~self.included[out]).sum() + self.included[into].sum())
        low = float(score[out[-1]]) if out.size else -math.inf
        return audit_guesses(self.m, r, right, claim=claim, confidence=confidence, cuts=(low, float(score[into[0]])))

    def _fits(self, name: str, count: int) -> None:
        if count != self.m:
            told = f"{count} entries" if count >= 0 else "several axes"
            raise InputError(f"{name} has {told}: give one for each of the {self.m} canaries", parameter=name)


def audit_guesses(
    m: int,
    r: int,
    v: int,
    *,
    claim: object,
    confidence: float = 0.95,
    cuts: tuple[float, float] = (-math.inf, math.inf),
) -> Audit:
    """The verdict on one run with m canaries of which r were guessed, v rightly; sums where runs are pooled.

    >>> found = audit_guesses(1000, 100, 75, claim=(0.5, 1e-4))
    >>> str(found.verdict), round(found.epsilon_lo, 2)
    ('VIOLATION', 0.68)
    """
    m = checks.integer("m", m, low=1, high=_MOST_CANARIES)
    r = checks.integer("r", r, low=1, high=m)
    v = checks.integer("v", v, low=0, high=r)
    asked, alpha = parse_claim(claim), level_of(confidence)

    def p_of(right: int) -> float:
        return pure_p(r, right, asked.pure) if asked.alone else recursion_p(m, r, right, asked)

    p = p_of(v)
    exact = exact_p(m, r, v, asked) if r <= MOST_EXACT // 5 and not asked.alone else None
    found: tuple[Finding, ...] = (Finding(FindingKind.BARE),) if asked.bare else ()
    if p <= alpha:
        verdict = AuditVerdict.VIOLATION
    elif p_of(r) <= alpha:
        verdict = AuditVerdict.CONSISTENT
    else:
        verdict, found = AuditVerdict.INCONCLUSIVE, (*found, Finding(FindingKind.FEW))
    delta, over, claimed = asked.stated, p <= alpha, claimed_readings(asked)

    def refuted(claim: ClaimLines) -> bool:
        return pure_p(r, v, claim.pure) <= alpha if claim.alone else recursion_refutes(m, r, v, claim, alpha)

    most = epsilon_bound(m, r, r, delta, alpha)
    above = claim_excess(refuted, asked, over, max(most, 1e-9))
    epsilon = capped_at_claim(epsilon_bound(m, r, v, delta, alpha), claimed["epsilon"], over)
    return Audit(
        verdict=verdict,
        claim=asked,
        confidence=1 - alpha,
        sequential=False,
        runs=1,
        budget=1,
        evidence=p,
        epsilon_lo=asked.pure + above if asked.alone and over else epsilon,
        delta=delta,
        mu_lo=capped_at_claim(mu_bound(m, r, v, alpha), claimed.get("mu"), over),
        success_lo=None,
        advantage_lo=None,
        claimed=claimed,
        largest_epsilon=most,
        excess_lo=above,
        event=AttackEvent("score", (), *cuts, 0, 1, v, r, m),
        findings=found,
        guesses_a_call=m,
        exact=exact,
    )
