"""Kinds of release that are said by what a protocol does: selection, local reports, shuffling, matrices, claims.

Their truths go through what the protocol does, outcome by outcome, or are pairs that a claim must not fall below.
"""

from __future__ import annotations

import math
import random
from functools import lru_cache
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np

from .atoms import LONG, Atoms, joint, multinomial
from .draws import log_uniform, number
from .kinds import Drawn, epsilon_of, kind, rate_of, response_atoms
from .lines import AnyScores, Laplace, Logistic, Normals, Sampled
from .truth import MP, AtLeast, Truth, Worst

mpf = MP.mpf
_CURVE = frozenset(
    ["advantage", "success", "delta", "epsilon", "roc", "recall", "tradeoff", "attack_success", "precision"]
)


# -- selection --------------------------------------------------------------------------------------------------------


@kind("selection, any scores")
def _selection(rng: random.Random) -> Drawn:
    """One selection: the largest over all scores for Gumbel noise, two Laplace laws for the others."""
    e = number(rng, (0.05, 10.0), (1e-12, 700.0))
    code, truth = rng.choice(
        [
            (f"el.mechanisms.exponential(epsilon={e!r})", AnyScores(e)),
            (f"el.mechanisms.noisy_max(epsilon={e!r})", Laplace(e)),
            (f"el.mechanisms.noisy_max(epsilon={e!r}, noise='exponential')", Laplace(e)),
            (f"el.mechanisms.noisy_max(epsilon={e!r}, noise='gumbel')", AnyScores(e)),
            (f"el.mechanisms.permute_and_flip(epsilon={e!r})", Laplace(e)),
            (f"el.mechanisms.top_k(epsilon={e!r}, k=1)", AnyScores(e)),
        ]
    )
    return Drawn(code, truth, e)


@kind("selections")
def _selections(rng: random.Random) -> Drawn:
    """Several selections are above any scores there could be: two outcomes each whose losses are t and t − ε."""
    e, k = number(rng, (0.05, 2.0), (1e-6, 20.0)), rng.choice([2, 3, 10, 50, 200])
    by = rng.choice(["exponential", "permute-and-flip"])
    if rng.random() < 0.5:
        t = mpf(e) * mpf(round(rng.uniform(0.05, 0.95), 3))
    else:
        t = mpf(e) / 2
    # q·e^t + (1 − q)·e^{t−ε} = 1
    q = (1 - MP.exp(t - mpf(e))) / (MP.exp(t) - MP.exp(t - mpf(e)))
    one = Atoms(
        np.array([q * MP.exp(t), (1 - q) * MP.exp(t - mpf(e))], dtype=object),
        np.array([q, 1 - q], dtype=object),
        np.array([t, t - mpf(e)], dtype=object),
    )
    code = rng.choice(
        [
            f"el.mechanisms.top_k(epsilon={e!r}, k={k}, by={by!r})",
            f"el.mechanisms.exponential(epsilon={e!r}).repeat({k})",
        ]
    )
    return Drawn(code, AtLeast(multinomial(one, k)), e * math.sqrt(k), only=_CURVE, readings=5)


@kind("sparse vector")
def _sparse(rng: random.Random) -> Drawn:
    e = epsilon_of(rng)
    if rng.random() < 0.5:
        return Drawn(f"el.mechanisms.sparse_vector(epsilon={e!r})", response_atoms(e, 2), e)
    c, e1 = rng.choice([1, 2, 7]), e * round(rng.uniform(0.1, 0.9), 2)
    one, other = 1 / e1, 2 * c / (e - e1)
    total = 1 / mpf(one) + 2 * c / mpf(other)
    code = f"el.mechanisms.sparse_vector(threshold_scale={one!r}, query_scale={other!r}, above={c})"
    return Drawn(code, response_atoms(total, 2), e)


# -- integer noise ----------------------------------------------------------------------------------------------------


def skellam_atoms(variance: float, d: int) -> Atoms:
    """P(k) = e^{−v}·I_{|k−d|}(v): the ratios I_{k+1}/I_k come from their continued fraction, from far out inwards."""
    v = LONG(variance)
    reach = int(45 * math.sqrt(variance) + 400 + d)
    ratio = np.zeros(reach + 1, dtype=LONG)
    r = LONG(0)
    for k in range(reach + 200, -1, -1):
        r = 1 / (2 * (k + 1) / v + r)
        if k <= reach:
            ratio[k] = r
    log_ratio = np.log(ratio)
    levels = np.concatenate(([LONG(0)], np.cumsum(log_ratio[:reach])))
    weights = np.exp(levels)
    total = weights[0] + 2 * weights[1:].sum()
    at = np.arange(-reach + d, reach + 1)
    log_p, log_q = levels[np.abs(at - d)], levels[np.abs(at)]
    p, q = np.exp(log_p) / total, np.exp(log_q) / total
    keep = (p > 0) & (q > 0)
    return Atoms(p[keep], q[keep], (log_p - log_q)[keep], unbounded=True)


@kind("skellam")
def _skellam(rng: random.Random) -> Drawn:
    v = number(rng, (0.5, 200.0), (1e-3, 4000.0))
    s = rng.choice([1, 1, 2, 5])
    d = rng.randint(1, s)
    told = "" if s == 1 else f", sensitivity={s}, shift={d}"
    losses = d * d / (2 * v) + 2 * d / math.sqrt(v)
    curve = _CURVE | {"auc", "fbeta", "chernoff"} if v > 1 else _CURVE
    return Drawn(f"el.mechanisms.skellam(variance={v!r}{told})", skellam_atoms(v, d), losses, only=frozenset(curve))


# -- local protocols --------------------------------------------------------------------------------------------------


def _of(pairs: list[tuple[Any, Any]]) -> Atoms:
    """Atoms of (Q, P) in 60 digits, equal losses together."""
    together: dict[Any, list[Any]] = {}
    only0 = only1 = mpf(0)
    for q, p in pairs:
        if q and p:
            have = together.setdefault(MP.nstr(MP.log(p / q), 40), [mpf(0), mpf(0), MP.log(p / q)])
            have[0] += q
            have[1] += p
        else:
            only0, only1 = only0 + q, only1 + p
    if not together:
        together["0"] = [mpf(0), mpf(0), mpf(0)]
    q, p, loss = (np.array([v[i] for v in together.values()], dtype=object) for i in range(3))
    return Atoms(p, q, loss, only1, only0)


def _bits(first: tuple[Any, Any], second: tuple[Any, Any]) -> list[tuple[Any, Any]]:
    """Two bits, of which the person's value sets one; weights of a 1 and of a 0 where it is set, and where not."""
    a, b = ([w / sum(side) for w in side] for side in (first, second))
    return [(a[i] * b[j], b[i] * a[j]) for i in (0, 1) for j in (0, 1)]


@kind("local reports")
def _local(rng: random.Random) -> Drawn:
    """Bit by bit, column by column, as each protocol draws."""
    e = number(rng, (0.1, 8.0), (1e-10, 300.0))
    g = MP.exp(mpf(e))
    way = rng.choice(["optimised", "symmetric", "hadamard", "sketch", "hadamard sketch"])
    half = MP.exp(mpf(e) / 2)
    collision = round(rng.uniform(0, 0.9), 2) if rng.random() < 0.5 else 0.0
    told = f", collision={collision!r}" if collision else ""
    c = mpf(collision)
    if way == "optimised":  # the own bit stays with 1/2, others are set with 1/(e^ε + 1)
        return Drawn(f"el.mechanisms.unary(epsilon={e!r})", _of(_bits((mpf(1), mpf(1)), (mpf(1), g))), e)
    flipped = _bits((half, mpf(1)), (mpf(1), half))
    if way == "symmetric":
        return Drawn(f"el.mechanisms.unary(epsilon={e!r}, kind='symmetric')", _of(flipped), e)
    if way == "sketch":
        pairs = [(q * (1 - c), p * (1 - c)) for q, p in flipped]
        return Drawn(f"el.mechanisms.count_mean_sketch(epsilon={e!r}{told})", _of([*pairs, (c, c)]), e)
    # columns of a Hadamard matrix of order 4: rows 1 and 2 agree in half of them
    rows = [[1, -1, 1, -1], [1, 1, -1, -1]]
    if way == "hadamard":  # a column with a 1 in the own row, with e^ε/(e^ε + 1)
        at = [[(g if sign == 1 else mpf(1)) / (2 * (g + 1)) for sign in row] for row in rows]
        return Drawn(f"el.mechanisms.hadamard_response(epsilon={e!r})", _of(list(zip(*at, strict=True))), e)
    pairs = []
    for column in range(4):
        for seen in (1, -1):
            q, p = ((g if row[column] == seen else mpf(1)) / (g + 1) / 4 for row in rows)
            pairs.append((q * (1 - c), p * (1 - c)))
    return Drawn(f"el.mechanisms.count_mean_sketch(epsilon={e!r}{told}, hadamard=True)", _of([*pairs, (c, c)]), e)


@kind("rappor")
def _rappor(rng: random.Random) -> Drawn:
    """2h bits of one person, each a mixture of two binomial numbers of ones."""
    f, p, q = (round(rng.uniform(0.02, 0.98), 3) for _ in range(3))
    if abs(p - q) < 0.01:
        q = 0.99
    h, reports = rng.choice([1, 1, 2]), rng.choice([1, 1, 2, 3, 7])
    told = f"el.mechanisms.rappor(f={f!r}, p={p!r}, q={q!r}, h={h}, reports={reports})"
    a, b, half = mpf(p), mpf(q), mpf(f) / 2

    def ones(s: int, chance: Any) -> Any:
        return MP.binomial(reports, s) * chance**s * (1 - chance) ** (reports - s)

    bit = [
        ((1 - half) * ones(s, b) + half * ones(s, a), half * ones(s, b) + (1 - half) * ones(s, a))
        for s in range(reports + 1)
    ]
    truth = _of([(x[0] * y[1], x[1] * y[0]) for x in bit for y in bit])
    for _ in range(h - 1):
        truth = joint(truth, _of([(x[0] * y[1], x[1] * y[0]) for x in bit for y in bit]))
    return Drawn(told, truth, float(truth.top) / 2)


# -- the shuffle model ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _shuffled_responses(e: float, k: int, n: int) -> Worst:
    """k-ary randomised response of n people, whatever values the others hold of the first three."""
    eps = LONG(e)
    alpha = 1 / (np.exp(eps) + k - 1)
    values = 2 if k == 2 else 3
    pairs: list[Truth] = []
    chance = {v: (alpha * (np.exp(eps) if v == 0 else 1), alpha * (np.exp(eps) if v == 1 else 1)) for v in range(3)}
    for b0 in range(n):
        for b1 in range(n - b0):
            b2 = n - 1 - b0 - b1
            if values == 2 and b2:
                continue
            seen = np.zeros((n + 1, n + 1), dtype=LONG)  # how often the first and the second value were reported
            seen[0, 0] = 1
            for v, count in ((0, b0), (1, b1), (2, b2)):
                first, second = chance[v]
                for _ in range(count):
                    moved = seen * (1 - first - second) if k > 2 else 0 * seen
                    moved[1:, :] += first * seen[:-1, :]
                    moved[:, 1:] += second * seen[:, :-1]
                    seen = moved
            up, right = np.zeros_like(seen), np.zeros_like(seen)
            up[1:, :], right[:, 1:] = seen[:-1, :], seen[:, :-1]
            rest = (k - 2) * alpha * seen
            q = alpha * np.exp(eps) * up + alpha * right + rest
            p = alpha * up + alpha * np.exp(eps) * right + rest
            keep = (q > 0) & (p > 0)
            more = alpha * np.expm1(eps) * (right - up)
            pairs.append(Atoms(p[keep], q[keep], np.log1p(more[keep] / q[keep])))
    return Worst(pairs)


@kind("shuffled")
def _shuffled(rng: random.Random) -> Drawn:
    e = round(number(rng, (0.2, 3.0), (0.01, 8.0)), 2) or 0.01
    n, k = rng.choice([1, 2, 3, 5, 8]), rng.choice([2, 3, 3, 5, 20])
    worst = _shuffled_responses(e, k, n)
    if rng.random() < 0.4:
        code, truth = f"el.mechanisms.shuffled({e!r}, n={n})", AtLeast(worst)
    else:
        code = f"el.mechanisms.shuffled(el.mechanisms.randomized_response(epsilon={e!r}, k={k}), n={n})"
        truth = worst if k <= 3 else AtLeast(worst)  # type: ignore[assignment]
    return Drawn(code, truth, e / math.sqrt(n), only=_CURVE, readings=6)


# -- matrices and trees -----------------------------------------------------------------------------------------------


def _moved(matrix: np.ndarray, k: int, b: int) -> tuple[float, bool]:
    """How far one person moves all answers, over all sets of steps; and whether equal directions are the worst."""
    n = matrix.shape[1]
    best, told = mpf(0), True
    gram = [[MP.fsum(mpf(x) * mpf(y) for x, y in zip(u, v, strict=True)) for v in matrix.T] for u in matrix.T]
    for size in range(1, k + 1):
        for steps in combinations(range(n), size):
            if any(j - i < b for i, j in pairwise(steps)):
                continue
            told = told and all(gram[i][j] >= 0 for i in steps for j in steps)
            for signs in product((1, -1), repeat=size - 1):
                s = (1, *signs)
                total = MP.fsum(s[x] * s[y] * gram[i][j] for x, i in enumerate(steps) for y, j in enumerate(steps))
                best = max(best, total)
    return MP.sqrt(best), told


@kind("matrix")
def _matrix(rng: random.Random) -> Drawn:
    n = rng.randint(1, 7)
    k, b = rng.randint(1, 3), rng.randint(1, 3)
    sigma = number(rng, (0.5, 10.0), (0.05, 1e3))
    way = rng.choice(["list", "dense", "tree"])
    if way == "tree":
        blocks = [
            [1.0 if i >> level == block else 0.0 for i in range(n)]
            for level in range(n.bit_length())
            for block in range(n >> level)
        ]
        C, code = np.array(blocks), f"el.mechanisms.tree({n}, {sigma!r}, {k}, {b})"
    elif way == "list":
        column = [1.0] + [round(rng.uniform(-0.5, 1.0), 2) for _ in range(n - 1)]
        C = np.array([[column[i - j] if i >= j else 0.0 for j in range(n)] for i in range(n)])
        code = f"el.mechanisms.matrix({column!r}, {sigma!r}, {k}, {b})"
    else:
        C = np.array([[round(rng.uniform(-0.3, 1.0), 2) if i >= j else 0.0 for j in range(n)] for i in range(n)])
        C += np.diag([2.0] * n)
        code = f"el.mechanisms.matrix({C.tolist()!r}, {sigma!r}, {k}, {b})"
    far, told = _moved(C, k, b)
    mu = far / mpf(sigma)
    truth: Truth = Normals([1], [0], [1], [mu])
    return Drawn(code, truth if told else AtLeast(truth), float(mu * mu / 2 + 2 * mu), readings=6)


# -- claims -----------------------------------------------------------------------------------------------------------


@kind("claims")
def _claims(rng: random.Random) -> Drawn:
    """Above a pair of which the claim is true."""
    way = rng.choice(["zcdp", "zcdp", "gdp", "rdp", "rdp of two", "dp", "sampled", "group"])
    mu = number(rng, (0.05, 4.0), (1e-4, 12.0))
    normal: Truth = Normals([1], [0], [1], [mu])
    losses = mu * mu / 2 + 2 * mu
    if way == "zcdp":
        rho = mu * mu / 2 * (1 + 1e-15)
        return Drawn(f"el.mechanisms.from_zcdp({rho!r})", AtLeast(normal), losses, only=_CURVE)
    if way == "gdp":
        return Drawn(f"el.mechanisms.from_gdp({mu!r})", normal, losses)
    if way == "group":
        k = rng.randint(2, 5)
        told = mpf(mu) / k
        lesser = float(told) * (1 + 2e-16)
        return Drawn(f"el.group(el.mechanisms.from_gdp({lesser!r}), {k})", AtLeast(normal), losses, only=_CURVE)
    orders = sorted({round(1 + log_uniform(rng, 0.05, 60.0), 3) for _ in range(rng.randint(1, 12))})
    if way == "rdp":
        values = [a * mu * mu / 2 * (1 + 1e-14) for a in orders]
        return Drawn(f"el.mechanisms.from_rdp({orders!r}, {values!r})", AtLeast(normal), losses, only=_CURVE)
    if way == "rdp of two":
        e = number(rng, (0.1, 5.0), (1e-2, 20.0))
        pair = response_atoms(e, 2)
        found = [pair.log_moment(a) for a in orders]
        values = [float(m.high) / (a - 1) * (1 + 1e-14) for a, m in zip(orders, found, strict=True) if m]
        return Drawn(f"el.mechanisms.from_rdp({orders!r}, {values!r})", AtLeast(pair), e, only=_CURVE)
    if way == "dp":
        at = sorted({round(rng.uniform(0.0, 2 * losses), 4) for _ in range(rng.randint(1, 5))})
        seen = [normal.profile(x) for x in at]
        deltas = [min(float(d.high) * (1 + 1e-14), 1.0) for d in seen if d is not None]
        return Drawn(f"el.mechanisms.from_dp({at!r}, {deltas!r})", AtLeast(normal), losses, only=_CURVE)
    q = rate_of(rng)
    weights, shifts = ([1 - mpf(q), q], [0, mu]) if q < 1 else ([1], [mu])
    truth = Normals([1], [0], weights, shifts)
    return Drawn(
        f"el.subsample(el.mechanisms.from_gdp({mu!r}), rate={q!r})",
        AtLeast(truth),
        losses * min(1.0, 3 * q),
        only=_CURVE,
    )


@kind("sampled selection")
def _sampled_selection(rng: random.Random) -> Drawn:
    e, q = number(rng, (0.1, 8.0), (1e-6, 100.0)), rate_of(rng)
    base, code = rng.choice([(Laplace(e), "permute_and_flip"), (Logistic(e), "exponential")])
    truth = Sampled(base, q)
    only = _CURVE | {"posterior"}
    return Drawn(f"el.subsample(el.{code}(epsilon={e!r}), rate={q!r})", truth, float(truth.top), only=only)
