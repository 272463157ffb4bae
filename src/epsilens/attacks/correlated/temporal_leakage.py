"""Repeated releases about a record that changes as a Markov chain: how leakage adds up over time.

Each release t protects the value at its own time with ε_t. Someone who sees them all learns about x_t also from the
releases before and after (Cao et al. 2017): Theorem D68 of docs/proofs/dominating-pairs.md, an upper bound for any
ε_t-DP releases. For two states and releases whose likelihood ratio takes every value in [e^{−ε}, e^{ε}] (Laplace
noise), BPL and FPL are exact where the chain is persistent (§C(d) of the reference sheet). This is not one release of
the sum over time: that is :func:`chain`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import checks
from ...checks import Array
from ...errors import InputError
from ...numerics.values import ValueSemantics
from ...results import ShortResult
from .tables import check_probabilities

_MOST_STEPS = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Temporal(ValueSemantics, ShortResult):
    """Leakage about the value at each time, in nats.

    ``backward`` is from the releases up to that time, ``forward`` from that time on, ``total`` from all of them. Each
    is an upper bound; ``exact`` names those that are reached by Laplace noise.
    """

    shown_as = "temporal"

    epsilon: Array
    backward: Array
    forward: Array
    total: Array
    exact: tuple[str, ...]

    @property
    def worst(self) -> float:
        """The largest total leakage."""
        return float(self.total.max())

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record."""
        return {
            "epsilon": self.epsilon.tolist(),
            "backward": self.backward.tolist(),
            "forward": self.forward.tolist(),
            "total": self.total.tolist(),
            "worst": self.worst,
            "exact": list(self.exact),
        }


def _matrix(name: str, transition: ArrayLike) -> Array:
    p = checks.real(name, transition)
    if p.ndim != 2 or p.shape[0] != p.shape[1] or p.size == 0:
        raise InputError(f"{name} has shape {p.shape}: give a square matrix whose rows are distributions", name)
    for row in p:
        check_probabilities(f"a row of {name}", row, of=name)
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def _losses(epsilon: ArrayLike, releases: int | None) -> Array:
    e = checks.at_least("epsilon", epsilon, 0.0)
    if e.ndim == 0:
        if releases is None:
            raise InputError(
                "releases is missing: say how many releases there are, or give one epsilon per release", "releases"
            )
        return np.full(checks.integer("releases", releases, low=1, high=_MOST_STEPS), float(e))
    if e.ndim != 1 or e.size == 0:
        raise InputError(f"epsilon has shape {e.shape}: give one number, or one per release", "epsilon")
    if releases is not None and checks.integer("releases", releases, low=1) != e.size:
        raise InputError(
            f"releases is {releases} with {e.size} values of epsilon: give {e.size}, or leave it out", "releases"
        )
    return e


def _worst_increment(p: Array, before: float) -> tuple[float, float, float]:
    """(𝓛(a), Q, D) at a = ``before``: for each ordered pair of rows the set is found by the ratio test."""
    best, at = 0.0, (0.0, 0.0)
    if before <= 0:
        return best, *at
    for x, y in permutations(range(p.shape[0]), 2):
        q, d = p[x], p[y]
        # the set is a prefix in the order of q/d: the ratio (Qz + 1)/(Dz + 1) rises while q/d exceeds it
        with np.errstate(divide="ignore", invalid="ignore"):
            order = np.argsort(-np.where(q > 0, q / d, -1.0), kind="stable")
        above, below = np.cumsum(q[order]), np.cumsum(d[order])
        gains = _gain(above, below, before)
        k = int(np.argmax(gains))
        if gains[k] > best:
            best, at = float(gains[k]), (float(above[k]), float(below[k]))
    return best, *at


def _gain(q: Array, d: Array, a: float) -> Array:
    """log[(Q·z + 1)/(D·z + 1)], z = e^a − 1, also where z overflows or is tiny."""
    if a > 700:
        with np.errstate(divide="ignore"):
            one, other = np.logaddexp(np.log(q) + a, 0.0), np.logaddexp(np.log(d) + a, 0.0)
        return np.asarray(one - other)
    z = math.expm1(a)
    return np.asarray(np.log1p((q - d) * z / (1 + d * z)))


def backward(transition: object, epsilon: ArrayLike, releases: int | None = None) -> Array:
    """BPL_1 … BPL_T: the leakage about the current value from the releases so far.

    ``transition[x][y]`` is P(previous = y | current = x), one matrix or one per step; ``epsilon`` is one number, with
    the number of ``releases``, or one per release.

    Parameters
    ----------
    transition : array_like
        P(previous = y | current = x), one matrix or one a step.
    epsilon : float or array_like
        ε of each release, one number or one a release.
    releases : int, optional
        How many releases there are, where `epsilon` is one number.

    Returns
    -------
    ndarray
        The leakage after each release; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> [round(float(b), 6) for b in backward([[0.8, 0.2], [0.0, 1.0]], 0.1, 4)]
    [0.1, 0.180784, 0.247148, 0.302365]
    """
    e = _losses(epsilon, releases)
    steps = _steps(transition, e.size - 1)
    out = np.empty(e.size)
    out[0] = e[0]
    for t in range(1, e.size):
        out[t] = _worst_increment(steps[t - 1], float(out[t - 1]))[0] + e[t]
    return out


def forward(transition: object, epsilon: ArrayLike, releases: int | None = None) -> Array:
    """FPL_1 … FPL_T: the leakage about each value from its own release and those after it.

    ``transition[x][y]`` is P(next = y | current = x), one matrix or one per step.

    Parameters
    ----------
    transition : array_like
        P(next = y | current = x), one matrix or one a step.
    epsilon : float or array_like
        ε of each release, one number or one a release.
    releases : int, optional
        How many releases there are, where `epsilon` is one number.

    Returns
    -------
    ndarray
        The leakage about each value; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.
    """
    e = _losses(epsilon, releases)
    steps = _steps(transition, e.size - 1)
    return backward(list(steps[::-1]) if e.size > 1 else transition, e[::-1])[::-1]


def _steps(transition: object, count: int) -> list[Array]:
    p = checks.real("transition", transition)
    if p.ndim == 3:
        if p.shape[0] != count and count > 0:
            raise InputError(
                f"transition has {p.shape[0]} matrices for {count + 1} releases: give {count}, or one", "transition"
            )
        return [_matrix("transition", m) for m in p]
    return [_matrix("transition", p)] * count


def limit(transition: ArrayLike, epsilon: float) -> float:
    """sup_t of BPL_t (or FPL_t) for equal ε per release: where leakage stops growing; infinite where it never does.

    For one pair of rows and one set the fixed point of a = ε + log[(Qz + 1)/(Dz + 1)], z = e^a − 1, is the root of
    Dz² + (1 + D − Qe^ε)z + 1 − e^ε = 0, or (e^ε − 1)/(1 − Qe^ε) for D = 0. From ε upwards the set that is best at the
    last fixed point gives the next, until none is better.

    Parameters
    ----------
    transition : array_like
        P(next = y | current = x), one matrix or one a step.
    epsilon : float
        ε of every release.

    Returns
    -------
    float
        The supremum; infinite where leakage never stops growing.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> round(limit([[0.8, 0.2], [0.0, 1.0]], 0.1), 10), round(limit([[0.8, 0.2], [0.1, 0.9]], 0.1), 10)
    (0.6459066161, 0.3432490554)
    >>> limit([[1.0, 0.0], [0.0, 1.0]], 0.1)
    inf
    """
    p = _matrix("transition", transition)
    e = checks.scalar("epsilon", epsilon)
    checks.in_range("epsilon", e, 0.0, 700.0)
    at = e
    for _ in range(100_000):
        _, q, d = _worst_increment(p, at)
        following = max(_fixed_point(q, d, e), at)
        if following <= at * (1 + 1e-15):
            return following
        if math.isinf(following):
            return math.inf
        at = following
    return at


def _fixed_point(q: float, d: float, e: float) -> float:
    grown, z0 = q * math.exp(e), math.expm1(e)
    if d == 0:
        # 1 − Qe^ε, from its own parts so that Q = 1 − tiny keeps its digits
        gap = 1 - grown
        return math.inf if gap <= 0 else math.log1p(z0 / gap)
    b = 1 + d - grown
    root = math.hypot(b, 2 * math.sqrt(d * z0))
    z = 2 * z0 / (b + root) if b > 0 else (root - b) / (2 * d)
    return math.log1p(z)


def _exact_pairs(steps: list[Array], releases: int) -> set[int] | None:
    """The ordered pairs of values (1 for 0→1, −1 for the reverse) that an exact recursion follows; None if not exact.

    Two states. Over a persistent step (q ≥ d) each ordered pair keeps to itself, and 0→1 leaks more iff q(1−q) >
    d(1−d), whatever leaked before; so the recursion is exact while all steps prefer the same pair. Equal ones (an
    empty set) are exact either way, and so is a single step.
    """
    if not steps or steps[0].shape[0] != 2:
        return set() if releases <= 1 else None
    pairs = set()
    for p in steps:
        q, d = float(p[0, 0]), float(p[1, 0])
        gap = q * (1 - q) - d * (1 - d)
        even = abs(gap) <= 1e-14
        if releases > 2 and q < d and not even:
            return None
        pairs |= set() if even else {1 if gap > 0 else -1}
    return pairs if len(pairs) <= 1 or releases <= 2 else None


def temporal(
    transition: ArrayLike,
    epsilon: ArrayLike,
    releases: int | None = None,
    *,
    initial: ArrayLike | None = None,
    backward_transition: ArrayLike | None = None,
) -> Temporal:
    """Backward, forward and total leakage of repeated releases about a record that follows a Markov chain.

    ``transition[x][y]`` is P(next = y | current = x). How the past follows from the present is computed from the
    ``initial`` distribution (the stationary one unless given), or given as ``backward_transition``.

    Parameters
    ----------
    transition : array_like
        P(next = y | current = x), one matrix or one a step.
    epsilon : float or array_like
        ε of each release, one number or one a release.
    releases : int, optional
        How many releases there are, where `epsilon` is one number.
    initial : array_like, optional
        The first value's distribution; the stationary one unless given.
    backward_transition : array_like, optional
        P(previous = y | current = x), instead of `initial`.

    Returns
    -------
    Temporal
        Backward, forward and total leakage, and which of them are exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> t = temporal([[0.8, 0.2], [0.1, 0.9]], 0.1, 10)
    >>> round(t.worst, 4), t.exact
    (0.4792, ('backward', 'forward', 'total'))
    """
    p = _matrix("transition", transition)
    e = _losses(epsilon, releases)
    if backward_transition is not None:
        if initial is not None:
            raise InputError("initial and backward_transition both say how the past follows: give one of them")
        behind = [_matrix("backward_transition", backward_transition)] * (e.size - 1)
        if behind and behind[0].shape != p.shape:
            raise InputError(
                f"backward_transition has shape {behind[0].shape} for {p.shape[0]} states: give {p.shape}",
                "backward_transition",
            )
    else:
        behind = _backward_steps(p, initial, e.size - 1)
    back, ahead = backward(np.stack(behind), e) if behind else e.copy(), forward(p, e)
    past, future = _exact_pairs(behind, e.size), _exact_pairs([p] * (e.size - 1), e.size)
    exact = [name for name, pairs in (("backward", past), ("forward", future)) if pairs is not None]
    # the total is reached where past and future leak most about the same ordered pair of values
    if past is not None and future is not None and (e.size <= 2 or len(past | future) <= 1):
        exact.append("total")
    return Temporal(e, back, ahead, back + ahead - e, tuple(exact))


def _backward_steps(p: Array, initial: ArrayLike | None, count: int) -> list[Array]:
    """P(x_{t−1} | x_t) for each step."""
    if count == 0:
        return []
    if initial is None:
        d = p.shape[0]
        system = np.vstack((p.T - np.eye(d), np.ones(d)))
        if np.linalg.matrix_rank(system) < d:
            raise InputError("the chain has more than one stationary distribution: give initial", "initial")
        now = np.linalg.lstsq(system, np.append(np.zeros(d), 1.0), rcond=None)[0]
        now = np.maximum(now, 0.0) / np.maximum(now, 0.0).sum()
        return [_bayes_reversal(p, now)] * count
    now = checks.real("initial", initial)
    if now.shape != (p.shape[0],):
        raise InputError(
            f"initial has shape {now.shape} for {p.shape[0]} states: give {p.shape[0]} probabilities", "initial"
        )
    check_probabilities("initial", now)
    steps = []
    for _ in range(count):
        steps.append(_bayes_reversal(p, now))
        now = now @ p
    return steps


def _bayes_reversal(p: Array, now: Array) -> Array:
    """Bayes' rule; a present value that cannot occur is given the past of all values, which no one will use."""
    joint = (now[:, None] * p).T
    total = joint.sum(axis=1, keepdims=True)
    return np.where(total > 0, joint / np.where(total > 0, total, 1.0), now[None] / now.sum())
