"""Paper 004, Li, Ren, Yang and Yang 2019: prior differential privacy, as printed beside what is exact.

.. warning::

   ``chain_rule``, ``algorithm1`` and ``algorithm2`` follow the printed Theorems 2 and 5 and Algorithms 1 and 2. They
   are **unsafe**: neither exact nor upper bounds. Nothing else in the library uses them; ``epsilens.correlated``
   computes the same leakage exactly.

What is wrong in print:

- (9)–(11) look at r → −∞ only, at one order of the two values, and at no answer in between; they combine the leakage of
  one pair of values with the correlation term of another. The result is below the truth in up to half of random tables.
- Algorithm 2 is said to overestimate; the nodes it drops are lost, so it can fall below Algorithm 1.
- Remark 1 says that leakage never exceeds ε; a perfectly correlated pair doubles it.
- Corollary 1.2 (all correlation terms positive: the one who knows least learns most) fails.
- Theorem 3(3) fails for more than two values, for any λ.
- Figure 4(d) sets an equal correlation of −0.8 among 15 records; none below −1/14 exists.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..build.correlated.joint_table import table
from ..build.correlated.tables import Table as Records
from ..build.correlated.trees import tree
from ..checks import Array
from ..errors import InputError
from ..show.words import number
from .item import Item, Paper

__all__ = ["abstract_search", "algorithm1", "algorithm2", "chain_rule", "correlation_terms", "figure4_normal", "paper"]

Node = tuple[int, frozenset[int]]
#: The correlation terms IC between target i and record j, given the set K′ of known records.
Terms = Callable[[int, int, frozenset[int]], list[float]]


# -- as printed: unsafe -----------------------------------------------------------------------------------------------


def correlation_terms(model: Records, i: int, j: int, known: Mapping[int, int], scale: float) -> list[float]:
    """Γ of (10): IC of (9) for every pair of values x_{i,m}, x_{i,n}, m < n, of the target that can occur.

    Literally: log of Σ P(x_j | x_i, x_K′)e^{−x_j/λ} at the smaller value over the same at the larger.
    """
    index: tuple[Any, ...] = tuple(known.get(k, slice(None)) for k in range(model.n))
    left = [k for k in range(model.n) if k not in known]
    drop = tuple(axis for axis, k in enumerate(left) if k not in (i, j))
    both = model.joint[index].sum(axis=drop)
    both = both if i < j else both.T
    weighted = both @ np.exp(-(model.parts.values[j] - model.parts.values[j].min()) / scale)
    mass = both.sum(axis=1)
    order = [int(x) for x in np.argsort(model.parts.values[i]) if mass[x] > 0]
    with np.errstate(divide="ignore"):
        level = np.log(weighted) - np.log(np.where(mass > 0, mass, 1.0))
    return [float(level[x] - level[y]) for x, y in combinations(order, 2)]


def chain_rule(model: Records, i: int, known: Mapping[int, int], scale: float) -> float:
    """Theorem 5, unsafe: |… |LS_i/λ + IC| + … | with the known values kept, the largest child over x_j, the least path.

    >>> round(chain_rule(table([[0.5, 0.0], [0.25, 0.25]]), 0, {}, 1.0), 10)  # the truth is 1.6201145070
    1.379885493
    """
    cache: dict[tuple[tuple[int, int], ...], float] = {}

    def value(given: dict[int, int]) -> float:
        if len(given) == model.n - 1:
            return float(model.reach[i]) / scale
        key = tuple(sorted(given.items()))
        if key not in cache:
            paths = []
            for j in (k for k in range(model.n) if k != i and k not in given):
                terms = correlation_terms(model, i, j, given, scale)
                children = [
                    value(given | {j: v})
                    for v in range(model.joint.shape[j])
                    if len(given) == model.n - 2 or _probability(model, given | {j: v}) > 0
                ]
                if terms:
                    paths.append(max(abs(max(children) + term) for term in terms))
            cache[key] = min(paths, default=0.0)
        return cache[key]

    return value(dict(known))


def _probability(model: Records, known: Mapping[int, int]) -> float:
    return float(model.joint[tuple(known.get(k, slice(None)) for k in range(model.n))].sum())


def _layers(reach: Array, terms: Terms, scale: float, keep: int | None) -> tuple[float, dict[Node, float]]:
    """Lines 1–11 of Algorithm 1; ``keep`` is line 5 of Algorithm 2."""
    n = len(reach)
    layer: dict[Node, float] = {(i, frozenset(range(n)) - {i}): float(reach[i]) / scale for i in range(n)}
    every, best = dict(layer), max(layer.values())
    for _ in range(2, n + 1):
        following: dict[Node, float] = {}
        for (i, known), value in layer.items():
            for j in known:
                fewer = known - {j}
                moved = max((abs(value + term) for term in terms(i, j, fewer)), default=value)
                node = (i, fewer)
                following[node] = min(following.get(node, math.inf), moved)
        if keep is not None:
            following = dict(sorted(following.items(), key=lambda item: -item[1])[:keep])
        layer = following
        every |= layer
        best = max(best, *layer.values())
    return best, every


def _terms(model: Records, scale: float) -> Terms:
    """Edge values of a joint distribution: the terms for all values of the known records that can occur."""
    cache: dict[tuple[int, int, frozenset[int]], list[float]] = {}

    def terms(i: int, j: int, known: frozenset[int]) -> list[float]:
        if (i, j, known) not in cache:
            listed = sorted(known)
            found: list[float] = []
            for numbers in product(*(range(model.joint.shape[k]) for k in listed)):
                given = dict(zip(listed, numbers, strict=True))
                if _probability(model, given) > 0:
                    found += correlation_terms(model, i, j, given, scale)
            cache[i, j, known] = found
        return cache[i, j, known]

    return terms


def algorithm1(model: Records, scale: float = 1.0) -> float:
    """Full-space searching as printed; **unsafe**: can fall below the true worst leakage.

    >>> m = table([[0.75, 0.15], [0.05, 0.05]])
    >>> round(algorithm1(m), 6), round(m.worst(scale=1.0).leakage, 6)
    (1.268559, 1.368282)
    """
    return _layers(model.reach, _terms(model, scale), scale, None)[0]


def algorithm2(model: Records, scale: float = 1.0) -> float:
    """Fast searching as printed, n nodes kept per layer; **unsafe**: can fall below Algorithm 1 and below the truth."""
    return _layers(model.reach, _terms(model, scale), scale, model.n)[0]


def abstract_search(reach: ArrayLike, terms: Terms, *, fast: bool, scale: float = 1.0) -> float:
    """Either algorithm on edge values that need not come from any data, as the paper's Figures 4 and 5 use them."""
    sizes = np.asarray(reach, dtype=float)
    return _layers(sizes, terms, scale, sizes.size if fast else None)[0]


# -- the paper's settings ----------------------------------------------------------------------------------------------

TABLE_II: dict[str, Records] = {
    "a": table([[0.3, 0.2], [0.2, 0.3]]),
    "b": table([[0.2, 0.3], [0.3, 0.2]]),
    "a'": table([[0.49, 0.01], [0.01, 0.49]]),
    "b'": table([[0.01, 0.49], [0.49, 0.01]]),
    "c": table([[0.5, 0.0], [0.0, 0.5]]),
    "d": table([[0.5, 0.0], [0.0, 0.5]], values=[[0, 1], [0, 5]]),
}
_FIRST_HIGH = np.array([[0.45, 0.05], [0.05, 0.45]]) / 2
COUNTEREXAMPLES: dict[str, Records] = {
    "the other end, r → +∞": table([[0.5, 0.0], [0.25, 0.25]]),
    "the same, nothing impossible": table([[0.4999, 0.0001], [0.25, 0.25]]),
    "an answer in between": table([[0.05, 0.45], [0.45, 0.05]], values=[[0, 1], [0, 3]]),
    "three records": table(np.array([[[8, 2], [1, 4]], [[3, 1], [5, 6]]]) / 30),
    "15, 3, 1, 1 of 20": table([[0.75, 0.15], [0.05, 0.05]]),
    "1, 9, 2, 3, 22, 1, 1, 1 of 40": table(np.array([[[1, 9], [2, 3]], [[22, 1], [1, 1]]]) / 40),
}
COROLLARY_12 = table(np.array([59, 19, 8, 4, 6, 2, 1, 1]).reshape(2, 2, 2) / 100)


def star(leaves: int) -> Records:
    """A small record x₄ ∈ {0, 0.2} that several records in {0, 1} follow with probability 0.85 (§B.3)."""
    follow = [[0.85, 0.15], [0.15, 0.85]]
    parents, matrices = [leaves] * leaves + [-1], [follow] * leaves + [None]
    return tree(parents, [0.5, 0.5], matrices, values=[[0, 1]] * leaves + [[0, 0.2]]).table()


def figure4_normal(correlation: float, records: int = 15, scale: float = 1.0) -> tuple[float, ...]:
    """Figure 4(c): leakage of equally correlated normal records of range 1, for 0, 1, … records known.

    (1 + (n−1)ρ)/(1 + kρ)/λ with k known. Figure 4(d)'s ρ = −0.8 is refused: no such records exist.

    >>> [round(v, 6) for v in figure4_normal(0.8)[::5]]
    [12.2, 2.44, 1.355556]
    >>> figure4_normal(-0.8)
    Traceback (most recent call last):
    epsilens.errors.InputError: correlation is -0.8 among 15 records: equal correlations below -0.0714286 cannot ...
    """
    least = -1 / (records - 1)
    if not least < correlation < 1:
        raise InputError(
            f"correlation is {correlation:g} among {records} records: equal correlations below {least:.6g} cannot "
            "exist, because the covariance would have a negative eigenvalue; give one between that and 1",
            parameter="correlation",
        )
    top = 1 + (records - 1) * correlation
    return tuple(top / (1 + k * correlation) / scale for k in range(records))


# -- tables ------------------------------------------------------------------------------------------------------------


def _examples() -> Item:
    rows: tuple[tuple[str, str, dict[int, int], str], ...] = (
        ("2", "a", {1: 1}, "1"),
        ("2", "a", {}, "1.19"),
        ("2", "b", {}, "0.82"),
        ("3", "a'", {}, "1.95"),
        ("3", "b'", {}, "0.05"),
        ("4", "c", {}, "2"),
        ("4", "d", {}, "6"),
    )
    records: list[dict[str, Any]] = [
        {
            "example": example,
            "distribution": which,
            "known": "x2" if known else "nothing",
            "printed": float(printed),
            "exact": TABLE_II[which].leakage(0, known, scale=1.0),
        }
        for example, which, known, printed in rows
    ]
    cells = tuple(
        (
            f"Example {r['example']}",
            f"II({r['distribution']})",
            str(r["known"]),
            f"{r['printed']:g}",
            number(r["exact"]),
        )
        for r in records
    )
    notes = (
        "Sum of two records, Laplace noise of scale 1, target x1. 0.82 should read 0.81. II(d) prints x2 in {0, 1}; "
        "the text needs {0, 5}. Example 3 labels its adversary as knowing x2; the numbers are for knowing nothing.",
        "II(c) has leakage 2 under noise that gives ε = 1: Remark 1, that leakage never exceeds ε, does not hold.",
        "Example 5: two normal records of correlation ρ leak |1+ρ|·M/λ to someone who knows nothing, M/λ to someone "
        "who knows the other; this one is right.",
    )
    return Item("Examples 2–4", ("", "table", "known", "printed", "exact"), cells, notes, tuple(records))


def _rules() -> Item:
    records: list[dict[str, Any]] = []
    for name, model in COUNTEREXAMPLES.items():
        for i in range(model.n if model.n > 2 else 1):
            exact, printed = model.leakage(i, scale=1.0), chain_rule(model, i, {}, 1.0)
            records.append(
                {"case": name, "target": i, "printed": printed, "exact": exact, "unsafe": printed < exact - 1e-12}
            )
    cells = tuple(
        (r["case"], str(r["target"]), number(r["printed"]), number(r["exact"]), "below" if r["unsafe"] else "above")
        for r in records
    )
    notes = (
        "Nothing known, scale 1. The printed rule is neither exact nor an upper bound. In random tables of 2 to 5 "
        "records it falls below the truth at 35 to 52 of 100 adversaries.",
    )
    title = "The chain rule (Theorems 2 and 5): unsafe"
    return Item(title, ("case", "target", "printed", "exact", "printed is"), cells, notes, tuple(records))


def _searches() -> Item:
    models = {**COUNTEREXAMPLES, "a hub of small range, 3 leaves": star(3), "a hub of small range, 4 leaves": star(4)}
    records: list[dict[str, Any]] = [
        {"case": name, "full": algorithm1(m), "fast": algorithm2(m), "exact": m.worst(scale=1.0).leakage}
        for name, m in models.items()
    ]
    full, fast = (
        abstract_search([1, 1, 1, 0.2], lambda i, j, known: [0.7] if i == 3 else [0.0], fast=quick)
        for quick in (False, True)
    )
    cells = tuple((r["case"], number(r["full"]), number(r["fast"]), number(r["exact"])) for r in records)
    cells += (("edges 0.7 from one record of range 0.2", number(full), number(fast), "no data"),)
    records.append({"case": "edges 0.7 from one record of range 0.2", "full": full, "fast": fast, "exact": None})
    notes = (
        "The worst leakage over all adversaries, scale 1. Algorithm 2 keeps n nodes per layer; the paper says that it "
        "overestimates, yet what it drops is lost.",
        "Figures 4(a), 4(b) and 5 draw edge values at random. No joint distribution stands behind them, so they cannot "
        "show how close the algorithms come to the truth.",
    )
    title = "Algorithms 1 and 2: unsafe"
    return Item(title, ("case", "Algorithm 1", "Algorithm 2", "exact"), cells, notes, tuple(records))


def _corollary() -> Item:
    rows = COROLLARY_12.by_known(scale=1.0)
    records = [{"known": len(w.known), "worst": w.leakage, "target": w.target} for w in rows]
    cells = tuple((str(r["known"]), number(r["worst"]), str(r["target"])) for r in records)
    notes = (
        "Joint distribution 59, 19, 8, 4, 6, 2, 1, 1 of 100 for 000 … 111. Every correlation term is positive, and yet "
        "someone who knows record 0 = 1 learns more about record 1 than anyone who knows nothing.",
    )
    title = "Corollary 1.2: knowing less is not always worse"
    return Item(title, ("records known", "worst leakage", "target"), cells, notes, tuple(records))


def _figure4() -> Item:
    shown = (0, 5, 10, 14)
    records: list[dict[str, Any]] = [
        {"correlation": rho, **{f"known {k}": figure4_normal(rho)[k] for k in shown}} for rho in (0.2, 0.5, 0.8, -0.07)
    ]
    cells = tuple((f"{r['correlation']:g}", *(number(r[f"known {k}"]) for k in shown)) for r in records)
    notes = (
        "Figure 4(c): 15 equally correlated normal records, range 1, scale 1. The layer of the figure is 15 minus the "
        "number known.",
        "Figure 4(d) asks for correlations down to −0.8: 15 records cannot all be correlated below −1/14 = −0.0714 "
        "(the smallest eigenvalue at −0.8 would be −10.2 times the variance), so it is refused here; the last row "
        "shows what comes nearest.",
    )
    columns = ("correlation", *(f"{k} known" for k in shown))
    return Item("Figure 4(c) and (d): leakage by prior knowledge", columns, cells, notes, tuple(records))


def paper() -> Paper:
    """Everything recomputed of this paper."""
    citation = (
        "Li, Ren, Yang, Yang. Impact of prior knowledge and data correlation on privacy leakage: "
        "a unified analysis. 2019."
    )
    return Paper("004", citation, (_examples(), _rules(), _searches(), _corollary(), _figure4()))
