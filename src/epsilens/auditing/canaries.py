"""One training with canaries: records of one's own making, each put in or left out by a coin, and guessed afterwards.

    canaries = Canaries(1000)
    model = train(canaries.insert(dataset, records))         # torch datasets; or use canaries.included yourself
    found = canaries.audit(canaries.scores(model, records, loss), claim=el.dpsgd(...))

A score says how much a canary looks like it was in: less loss after training, or the sum of its gradient's products
with the noisy updates, which sees the whole trajectory. Canaries that move the model in directions of their own are
told apart best; the more they get into each other's way, the less is found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..errors import InputError
from .claims import Claim, level_of
from .game import Bits
from .one_run import MOST_EXACT, epsilon_bound, exact_p, guesses_to_make, mu_bound, recursion_p, refutes, steinke_p
from .readings import claimed_readings, excess, within
from .result import Audit, Finding, Found, Seen, Stopped, Verdict
from .said import claim_said

_MOST = 10**7


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
        self.m = checks.integer("m", self.m, low=1, high=_MOST)
        if self.seed is not None:
            self.seed = checks.integer("seed", self.seed, low=0)
        coins = np.random.default_rng(None if self.seed is None else [self.seed, 0x63616E617279])
        self.included = coins.integers(0, 2, self.m).astype(bool)

    def insert(self, dataset: Any, records: Any) -> Any:
        """The data with the canaries that are in, as a torch dataset; ``records`` has one entry a canary."""
        from torch.utils.data import ConcatDataset, Subset

        self._fits("records", len(records))
        return ConcatDataset([dataset, Subset(records, np.flatnonzero(self.included).tolist())])

    def scores(self, model: Any, records: Any, loss: Any) -> Any:
        """Minus the loss of each canary after training; ``loss(model(x), y)`` is of one record."""
        import torch

        self._fits("records", len(records))
        with torch.no_grad():
            return np.array([-float(loss(model(x[None]), torch.as_tensor(y)[None])) for x, y in records])

    def audit(self, scores: ArrayLike, *, claim: Any, guesses: int | None = None, confidence: float = 0.95) -> Audit:
        """The bound from scores, one a canary: half of the guesses name those that look most like they were in.

        ``guesses`` is fixed before the scores are seen; by default it follows from the claim.
        """
        score = checks.real("scores", scores, infinite=True)
        self._fits("scores", score.size if score.ndim == 1 else -1)
        asked, alpha = claim_said(claim), level_of(confidence)
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
    claim: Any,
    confidence: float = 0.95,
    cuts: tuple[float, float] = (-math.inf, math.inf),
) -> Audit:
    """The verdict on one run with m canaries of which r were guessed, v rightly; sums where runs are pooled.

    >>> found = audit_guesses(1000, 100, 75, claim=(0.5, 1e-4))
    >>> str(found.verdict), round(found.epsilon_lo, 2)
    ('VIOLATION', 0.68)
    """
    m = checks.integer("m", m, low=1, high=_MOST)
    r = checks.integer("r", r, low=1, high=m)
    v = checks.integer("v", v, low=0, high=r)
    asked, alpha = claim_said(claim), level_of(confidence)

    def p_of(right: int) -> float:
        if asked.alone:
            return steinke_p(m, r, right, asked.pure, 0.0)
        return recursion_p(m, r, right, asked)

    p = p_of(v)
    exact = exact_p(m, r, v, asked) if r <= MOST_EXACT // 5 and not asked.alone else None
    found: tuple[Found, ...] = (Found(Finding.BARE),) if asked.bare else ()
    if p <= alpha:
        verdict = Verdict.VIOLATION
    elif p_of(r) <= alpha:
        verdict = Verdict.CONSISTENT
    else:
        verdict, found = Verdict.INCONCLUSIVE, (*found, Found(Finding.FEW))
    delta, over, claimed = asked.stated, p <= alpha, claimed_readings(asked)

    def refuted(claim: Claim) -> bool:
        return steinke_p(m, r, v, claim.pure, 0.0) <= alpha if claim.alone else refutes(m, r, v, claim, alpha)

    most = epsilon_bound(m, r, r, delta, alpha)
    above = excess(refuted, asked, over, max(most, 1e-9))
    epsilon = within(epsilon_bound(m, r, v, delta, alpha), claimed["epsilon"], over)
    return Audit(
        verdict, asked, 1 - alpha, False, 1, 1, p, asked.pure + above if asked.alone and over else epsilon, delta,
        within(mu_bound(m, r, v, alpha), claimed.get("mu"), over), None, None, claimed, most,
        Seen("score", (), cuts[0], cuts[1], 0, 1, v, r, m), above, found, Stopped.BUDGET, (), ("", ""), m, exact,
    )  # fmt: skip
