"""The definitions again, as plain loops over probabilities; and random mechanisms and priors to try them on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import combinations, product
from typing import Any

import numpy as np

from epsilens import notions as n


def ratio(p: float, q: float) -> float:
    """|ln p/q|, 0 if both are 0."""
    if p == q:
        return 0.0
    return math.inf if p == 0 or q == 0 else abs(math.log(p / q))


def rows(m: n.Mechanism) -> dict[Any, list[float]]:
    return dict(zip(m.databases, m.matrix.tolist(), strict=True))


def law(m: n.Mechanism, prior: Any, holds: Callable[[Any], bool]) -> list[float] | None:
    """P(o | event), None if the event has probability 0."""
    weights = [(p if holds(d) else 0.0) for d, p in zip(m.databases, prior, strict=True)]
    total = sum(weights)
    if total == 0:
        return None
    table = m.matrix.tolist()
    return [sum(w * row[o] for w, row in zip(weights, table, strict=True)) / total for o in range(len(m.outputs))]


def apart(first: list[float] | None, second: list[float] | None) -> float:
    if first is None or second is None:
        return 0.0
    return max(ratio(p, q) for p, q in zip(first, second, strict=True))


def differ(d: Any, e: Any) -> list[int]:
    return [i for i, (x, y) in enumerate(zip(d, e, strict=True)) if x != y]


def dp(m: n.Mechanism) -> float:
    table = rows(m)
    return max(apart(table[d], table[e]) for d, e in combinations(table, 2) if len(differ(d, e)) == 1)


def databases(m: n.Mechanism, prior: Any) -> float:
    table = rows(m)
    live = [d for d, p in zip(m.databases, prior, strict=True) if p > 0]
    return max((apart(table[d], table[e]) for d, e in combinations(live, 2)), default=0.0)


def dependent(m: n.Mechanism, prior: Any, groups: Iterable[tuple[int, ...]], size: int = 99) -> float:
    table = rows(m)
    live = [d for d, p in zip(m.databases, prior, strict=True) if p > 0]
    worst = 0.0
    for d, e in combinations(live, 2):
        changed = set(differ(d, e))
        if len(changed) <= size and any(changed <= set(g) for g in groups):
            worst = max(worst, apart(table[d], table[e]))
    return worst


def _values(m: n.Mechanism) -> list[tuple[int, Any]]:
    return [(i, v) for i, some in enumerate(m.values) for v in some]


def inferential(m: n.Mechanism, prior: Any) -> float:
    worst = 0.0
    for (i, a), (j, b) in combinations(_values(m), 2):
        if i == j:
            worst = max(
                worst,
                apart(law(m, prior, lambda d: d[i] == a), law(m, prior, lambda d: d[i] == b)),  # noqa: B023
            )
    return worst


def membership(m: n.Mechanism, prior: Any, direction: str = "both") -> float:
    """From posteriors over priors, as Li et al. write it."""
    overall = law(m, prior, lambda d: True)
    assert overall is not None
    worst = 0.0
    for i, v in _values(m):
        t = sum(p for d, p in zip(m.databases, prior, strict=True) if d[i] == v)
        inside = law(m, prior, lambda d: d[i] == v)  # noqa: B023
        if not 0 < t < 1 - 1e-12 or inside is None:
            continue
        for o, po in enumerate(overall):
            if po == 0:
                continue
            post = inside[o] * t / po
            post_not = (
                sum(m.matrix[k, o] * p for k, (d, p) in enumerate(zip(m.databases, prior, strict=True)) if d[i] != v)
                / po
            )
            positive = max(_log(post, t), _log(1 - t, post_not))
            negative = max(_log(post_not, 1 - t), _log(t, post))
            if direction in ("both", "positive"):
                worst = max(worst, positive)
            if direction in ("both", "negative"):
                worst = max(worst, negative)
    return worst


def _log(p: float, q: float) -> float:
    if p == 0:
        return -math.inf
    return math.inf if q == 0 else math.log(p / q)


def information(m: n.Mechanism, prior: Any, given: str) -> float:
    """From entropies: H(X) + H(Y) − H(X, Y), averaged over what is given."""
    worst = 0.0
    for i in range(m.records):
        total = 0.0
        contexts = {tuple(x for j, x in enumerate(d) if j != i) for d in m.databases} if given == "others" else {None}
        for context in contexts:
            joint: dict[tuple[Any, int], float] = {}
            for d, p, row in zip(m.databases, prior, m.matrix.tolist(), strict=True):
                if context is None or tuple(x for j, x in enumerate(d) if j != i) == context:
                    for o, q in enumerate(row):
                        joint[d[i], o] = joint.get((d[i], o), 0.0) + p * q
            mass = sum(joint.values())
            if mass == 0:
                continue
            x: dict[Any, float] = {}
            y: dict[int, float] = {}
            for (a, o), p in joint.items():
                x[a] = x.get(a, 0.0) + p / mass
                y[o] = y.get(o, 0.0) + p / mass
            told = sum(p / mass * math.log(p / mass / (x[a] * y[o])) for (a, o), p in joint.items() if p > 0)
            total += mass * told
        worst = max(worst, total)
    return worst


def blowfish(m: n.Mechanism, edge: Callable[[Any, Any], bool], allowed: Callable[[Any], bool]) -> float:
    """He et al.'s definition with sets: T of (record, from, to) along edges, Δ of all changed (record, value)."""
    live = [d for d in m.databases if allowed(d)]
    table = rows(m)

    def told(d: Any, e: Any) -> frozenset[Any]:
        return frozenset((i, x, y) for i, (x, y) in enumerate(zip(d, e, strict=True)) if x != y and edge(x, y))

    def delta(d: Any, e: Any) -> frozenset[Any]:
        return frozenset((i, z) for i in differ(d, e) for z in (d[i], e[i]))

    worst = 0.0
    for d, e in product(live, repeat=2):
        if not told(d, e):
            continue
        nearer = any(
            told(d, f) and (told(d, f) < told(d, e) or (told(d, f) == told(d, e) and delta(d, f) < delta(d, e)))
            for f in live
        )
        if not nearer:
            worst = max(worst, apart(table[d], table[e]))
    return worst


# -- random worlds ------------------------------------------------------------------------------------------------


def mechanism(rng: np.random.Generator, zeros: bool = False) -> n.Mechanism:
    """Up to 3 records of 2 or 3 values and 2 to 4 answers; mild or steep, with impossible answers if asked."""
    values = [list(range(rng.integers(2, 4))) for _ in range(rng.integers(1, 4))]
    every = list(product(*values))
    p = np.exp(rng.uniform(0.1, 3.0) * rng.standard_normal((len(every), int(rng.integers(2, 5)))))
    if zeros:
        p[rng.random(p.shape) < 0.15] = 0.0
        p[p.sum(axis=1) == 0] = 1.0
    order = rng.permutation(len(every))
    return n.Mechanism((p / p.sum(axis=1, keepdims=True))[order], [every[i] for i in order])


def prior(rng: np.random.Generator, m: n.Mechanism, kind: str) -> Any:
    """Independent records, a group of two, anything, or anything on some databases."""
    if kind == "independent":
        return n.product(m, *(rng.dirichlet(np.ones(len(v))) for v in m.values))
    if kind == "pairs" and m.records == 3:
        pair = rng.dirichlet(np.ones(len(m.values[0]) * len(m.values[1]))).reshape(len(m.values[0]), -1)
        last = rng.dirichlet(np.ones(len(m.values[2])))
        return np.array([pair[d[0], d[1]] * last[d[2]] for d in m.databases])
    p = rng.dirichlet(np.ones(len(m.databases)))
    if kind == "holes":
        p = np.where(rng.random(p.size) < 0.4, 0.0, p)
        p[0] += 0.1
    return p / p.sum()


KINDS = ("independent", "pairs", "any", "holes")
