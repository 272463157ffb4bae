"""One training with canaries: records of one's own making, each put in or left out by a coin, and guessed afterwards.

    canaries = Canaries(1000)
    model = train(canaries.insert(dataset, records))         # torch datasets; or use canaries.included yourself
    found = canaries.audit(canaries.scores(model, records, loss), claim=el.dpsgd(...))

A score says how much a canary looks like it was in: less loss after training, or the sum of its gradient's products
with the noisy updates, which sees the whole trajectory. Canaries that move the model in directions of their own are
told apart best; the more they get into each other's way, the less is found.

Many guesses about one run: m canaries, each in or out by a fair coin, r of them guessed, v guesses right.

What the canaries' noise has in common is not assumed away: every bound holds whatever the dependence between them.

* Pure ε: P[W ≥ v] ≤ P[Bin(r, e^ε/(1+e^ε)) ≥ v].
* (ε, δ) (Steinke, Nasr & Jagielski 2023): the same plus 2mδ·max_{1≤i≤v} P[v−i ≤ Bin < v]/i.
* A trade-off f (Mahloujifar, Melis & Chaudhuri 2024): a recursion with g, the inverse of x ↦ 1 − f(x).
* The exact worst case, by a linear programme: after random flips and permutations of the guesses only P_k = P[k wrong]
  matters, and the claim's lines bound how much P_k and P_{k+1} may differ. It checks the recursion, and is never above.

Runs pool by parallel composition: m, r and v are sums over them. r is fixed beforehand; the best of several r would
have to be paid for.

Many private trainings at once, by matrix products: a logistic regression with a canary, as a source of outcomes.

Each training runs DP-SGD on the same records; the canary is one more record with a feature of its own, and takes part
where the coin says so. The gradient of the loss log(1 + e^{−w·x}) of a record (signed by its label) is −s(−w·x)·x, s
the logistic function, so clipping it to norm C is the minimum of a number, min(s(−w·x), C/‖x‖), and a step of B
trainings is two products of matrices with B rows. The canary is long enough to be clipped always.

What is published is the trajectory: every noisy sum. Only the canary's own feature speaks of it: u = m + σZ, where m is
1 if the canary is in the batch. The attacker's score is the likelihood ratio Σ log(1 − q + q·e^{(2u−1)/2σ²}), which is
all that the worst case of such a training tells, so the bound found can come near the certified one. The second number
is the last weight alone.

Runs on numpy, or on torch where it is installed, on any of its devices.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, bdtrc, expit

from .. import checks
from ..checks import Array
from ..errors import InputError
from ..experiment import Experiment
from ..mechanisms.training import dpsgd
from .betting import least_unrefuted
from .bounds import capped_at_claim, claim_excess, claimed_readings
from .claims import Claim, gdp_lines, level_of, parse_claim, single_line
from .result import AttackEvent, Audit, AuditVerdict, Finding, FindingKind, StopReason
from .sources import Bits

MOST_EXACT = 1_500  # guesses for which the linear programme is solved
_USUAL_SHARE = 0.4  # of the canaries


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
    return least_unrefuted(lambda e: steinke_p(m, r, v, e, delta) <= alpha, 30.0)


def _inverse_tradeoff(claim: Claim) -> Callable[[float], float]:
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


def recursion_refutes(m: int, r: int, v: int, claim: Claim, alpha: float = 0.05) -> bool:
    """Whether v right of r refute a claim at level α, by the recursion.

    >>> from epsilens.auditing.claims import claim_of
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


def recursion_p(m: int, r: int, v: int, claim: Claim) -> float:
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
        return steinke_bound(m, r, v, 0.0, alpha)
    return least_unrefuted(lambda e: recursion_refutes(m, r, v, single_line(e, delta), alpha), 30.0)


def mu_bound(m: int, r: int, v: int, alpha: float = 0.05) -> float:
    """The least μ that v right of r do not refute. As an ε it would assume a Gaussian mechanism: it is not turned."""
    return least_unrefuted(lambda mu: recursion_refutes(m, r, v, gdp_lines(mu), alpha), 12.0)


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
        return max(1, round(_USUAL_SHARE * m))
    best, chosen = -1.0, max(1, round(_USUAL_SHARE * m))
    for share in (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.6, 0.8, 1.0):
        r = round(share * m)
        if r < 4:
            continue
        right = int(r * float(claim.most_precise(share)))
        bound = mu_bound(m, r, right, alpha)
        if bound > best:
            best, chosen = bound, r
    return chosen


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
    claim: Any,
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
        if asked.alone:
            return steinke_p(m, r, right, asked.pure, 0.0)
        return recursion_p(m, r, right, asked)

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

    def refuted(claim: Claim) -> bool:
        return steinke_p(m, r, v, claim.pure, 0.0) <= alpha if claim.alone else recursion_refutes(m, r, v, claim, alpha)

    most = epsilon_bound(m, r, r, delta, alpha)
    above = claim_excess(refuted, asked, over, max(most, 1e-9))
    epsilon = capped_at_claim(epsilon_bound(m, r, v, delta, alpha), claimed["epsilon"], over)
    return Audit(
        verdict, asked, 1 - alpha, False, 1, 1, p, asked.pure + above if asked.alone and over else epsilon, delta,
        capped_at_claim(mu_bound(m, r, v, alpha), claimed.get("mu"), over), None, None, claimed, most,
        AttackEvent("score", (), cuts[0], cuts[1], 0, 1, v, r, m), above, found, StopReason.BUDGET, (), ("", ""), m,
        exact,
    )  # fmt: skip


_CANARY_NORM = 8.0  # of the canary: |w·x| stays below 1, so its gradient stays beyond the clip
_LEARNING_RATE = 0.5
_CPU_CELLS = 4_000_000  # of a matrix held at a time on a processor
_CUDA_CELLS = 64_000_000


@dataclass
class CanaryTrainings:
    """A source of trainings: ``draw(bits)`` returns (score along the trajectory, last weight) of one training a bit.

    ``device`` is ``"numpy"``, or one of torch's: ``"cpu"``, ``"cuda"``.

    >>> few = CanaryTrainings(records=50, features=5, steps=4, seed=1)
    >>> few.draw(np.array([False, True, True])).shape
    (3, 2)
    >>> few.claim
    dpsgd(sigma=1, rate=0.1, steps=4)
    """

    records: int = 1000
    features: int = 100
    steps: int = 100
    rate: float = 0.1
    sigma: float = 1.0
    device: str = "numpy"
    seed: int | None = None
    _rng: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self.records = checks.integer("records", self.records, low=2)
        self.features = checks.integer("features", self.features, low=2)
        self.steps = checks.integer("steps", self.steps, low=1)
        self.rate = float(checks.probability("rate", checks.scalar("rate", self.rate), closed=False))
        self.sigma = float(checks.positive("sigma", checks.scalar("sigma", self.sigma)))
        if not isinstance(self.device, str):
            raise InputError('device is no word: give "numpy", "cpu" or "cuda"', parameter="device")
        self._rng = np.random.default_rng(self.seed) if self.device == "numpy" else None

    @property
    def width(self) -> int:
        """Trainings are independent of each other."""
        return 1

    @property
    def claim(self) -> Experiment:
        """What is certified of such a training: the canary added or removed."""
        return dpsgd(sigma=self.sigma, rate=self.rate, steps=self.steps)

    @cached_property
    def table(self) -> tuple[Array, Array]:
        """The records, signed by their labels, the canary last; and the largest weight of each in a clipped sum."""
        rng = np.random.default_rng([0x63616E61, 0 if self.seed is None else self.seed])
        truth = rng.normal(size=self.features - 1)
        x = rng.normal(size=(self.records, self.features - 1)) / math.sqrt(self.features)
        labels = np.where(rng.random(self.records) < 1 / (1 + np.exp(-x @ truth)), 1.0, -1.0)
        rows = np.zeros((self.records, self.features))
        rows[:, :-1] = labels[:, None] * x
        rows[-1] = 0.0
        rows[-1, -1] = _CANARY_NORM
        return rows.astype(np.float32), (1 / np.linalg.norm(rows, axis=1)).astype(np.float32)

    def draw(self, bits: Bits) -> Array:
        """As many trainings as bits, in as many parts as fit into memory."""
        cells = _CUDA_CELLS if self.device.startswith("cuda") else _CPU_CELLS
        most = max(1, cells // self.records)
        step = self._numpy if self.device == "numpy" else self._torch
        parts = [step(bits[at : at + most]) for at in range(0, bits.size, most)]
        return np.concatenate(parts) if parts else np.zeros((0, 2))

    def _numpy(self, bits: Bits) -> Array:
        rows, clip = self.table
        rng, count = self._rng, bits.size
        weights = np.zeros((count, self.features), dtype=np.float32)
        score = np.zeros(count)
        rate, pace = np.float32(self.rate), np.float32(_LEARNING_RATE / (self.rate * self.records))
        for _ in range(self.steps):
            part = weights @ rows.T
            np.exp(part, out=part)
            part += 1.0
            np.reciprocal(part, out=part)
            np.minimum(part, clip, out=part)
            part *= rng.random(part.shape, dtype=np.float32) < rate
            part[:, -1] *= bits
            noisy = part @ rows
            noisy += np.float32(self.sigma) * rng.standard_normal(noisy.shape, dtype=np.float32)
            score += self._told(noisy[:, -1].astype(float), np.log1p, np.expm1)
            weights += pace * noisy
        return np.column_stack((score, weights[:, -1].astype(float)))

    def _torch(self, bits: Bits) -> Array:
        torch = self._loaded()
        with torch.no_grad():
            rows, clip = (torch.as_tensor(part, device=self.device) for part in self.table)
            inside = torch.as_tensor(bits, device=self.device, dtype=rows.dtype)
            weights = torch.zeros((bits.size, self.features), device=self.device)
            score = torch.zeros(bits.size, device=self.device)
            part = torch.empty((bits.size, self.records), device=self.device)
            coins = torch.empty_like(part)
            pace = _LEARNING_RATE / (self.rate * self.records)
            for _ in range(self.steps):
                torch.matmul(weights, -rows.T, out=part)
                torch.minimum(part.sigmoid_(), clip, out=part)
                part.mul_(coins.uniform_(generator=self._rng).lt_(self.rate))
                part[:, -1].mul_(inside)
                noisy = part @ rows
                noisy += self.sigma * torch.randn(noisy.shape, device=self.device, generator=self._rng)
                score += self._told(noisy[:, -1], torch.log1p, torch.expm1)
                weights.add_(noisy, alpha=pace)
            return np.asarray(torch.stack((score, weights[:, -1]), dim=1).cpu().numpy(), dtype=float)

    def _told(self, u: Any, log1p: Any, expm1: Any) -> Any:
        """log(1 − q + q·e^{(2u−1)/2σ²}): what a step says for the canary."""
        return log1p(self.rate * expm1((2 * u - 1) / (2 * self.sigma**2)))

    def _loaded(self) -> Any:
        """torch, and its generator on the device."""
        try:
            import torch
        except ImportError:
            raise InputError(
                f"device is {self.device!r} and torch is not installed: install it with  pip install torch, or give "
                '"numpy"',
                parameter="device",
            ) from None
        if self._rng is None:
            try:
                self._rng = torch.Generator(device=self.device)
            except RuntimeError:
                raise InputError(
                    f'device is {self.device[:40]!r}, which torch does not have here: give "cpu" or "numpy"',
                    parameter="device",
                ) from None
            if self.seed is not None:
                self._rng.manual_seed(self.seed)
        return torch
