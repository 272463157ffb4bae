"""Paper 004: Li, Ren, Yang and Yang 2019: leakage when records go together and some are known (PDP, the WHG).

.. warning::

   ``chain_rule``, ``algorithm1`` and ``algorithm2`` follow the printed Theorems 2 and 5 and Algorithms 1 and 2. They
   are **unsafe**: neither exact nor upper bounds. Nothing else in the library uses them; ``epsilens.correlated``
   computes the same leakage exactly.

What is wrong in print: (9)–(11) look at r → −∞ only, at one order of the two values, and at no answer in between; they
combine the leakage of one pair of values with the correlation term of another. The result is below the truth in up to
half of random tables. Algorithm 2 is said to overestimate; the nodes it drops are lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..attacks.correlated.networks import table, tree
from ..attacks.correlated.normal_records import normal
from ..attacks.correlated.tables import JointTable as Records
from ..checks import Array
from ..errors import InputError
from ..show.charts.lines import Series
from ..show.sentences import number
from .items import Numbers, Paper, Record, curve, named_rows, read_paper

_RECORDS = 15
_CONCENTRATION = 2.0
_DRAWS = 30


def paper() -> Paper:
    """Everything recomputed of this paper."""
    return read_paper("004")


# -- the chain rule and the two searches, as printed ----------------------------------------------------------------

Node = tuple[int, frozenset[int]]
#: The correlation terms IC between target i and record j, given the set K′ of known records.
Terms = Callable[[int, int, frozenset[int]], list[float]]


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

    >>> from epsilens.attacks.correlated import table
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
            records = sorted(known)
            levels: list[float] = []
            for values in product(*(range(model.joint.shape[k]) for k in records)):
                given = dict(zip(records, values, strict=True))
                if _probability(model, given) > 0:
                    levels += correlation_terms(model, i, j, given, scale)
            cache[i, j, known] = levels
        return cache[i, j, known]

    return terms


def algorithm1(model: Records, scale: float = 1.0) -> float:
    """Full-space searching as printed; **unsafe**: can fall below the true worst leakage.

    >>> from epsilens.attacks.correlated import table
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


def beliefs(correlation: float, answer: float = 2.0, scale: float = 1.0) -> tuple[float, float]:
    """P(s1 = 1 | r) of who knows nothing and of who knows s2 = 1, for two fair bits of a correlation (Example 1).

    >>> [round(p, 4) for p in beliefs(0.0)], [round(p, 4) for p in beliefs(1.0)]
    ([0.7311, 0.7311], [0.8808, 1.0])
    """
    same, other = (1 + correlation) / 4, (1 - correlation) / 4
    density = [math.exp(-abs(answer - total) / scale) for total in (0, 1, 2)]
    present, absent = same * density[2] + other * density[1], other * density[1] + same * density[0]
    knowing = same * density[2], other * density[1]
    return present / (present + absent), knowing[0] / (knowing[0] + knowing[1])


@cache
def random_graph(n: int, mean: float, seed: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The largest value of each layer by the full and by the fast search, on edges drawn at random (λ = 1, ranges 1).

    Edge values are Beta of concentration 2 with the given mean, negated for a negative one. The first layer knows all.
    """
    rng = np.random.default_rng(seed)
    a = abs(mean) * _CONCENTRATION
    others = n - 1
    edges = math.copysign(1, mean) * rng.beta(a, _CONCENTRATION - a, size=(n, others, 2**others))
    full, fast = np.full((n, 2**others), np.inf), np.full((n, 2**others), np.nan)
    everyone = 2**others - 1
    full[:, everyone] = fast[:, everyone] = 1.0
    sizes = np.array([int(m).bit_count() for m in range(2**others)])
    best_full, best_fast = [1.0], [1.0]
    for size in range(others - 1, -1, -1):
        masks = np.flatnonzero(sizes == size)
        quick = np.full((n, masks.size), np.inf)
        for j in range(others):
            with_j = masks | (1 << j)
            free = (masks >> j) & 1 == 0
            moved = np.abs(full[:, with_j[free]] + edges[:, j, masks[free]])
            full[:, masks[free]] = np.minimum(full[:, masks[free]], moved)
            step = np.abs(fast[:, with_j[free]] + edges[:, j, masks[free]])
            quick[:, free] = np.fmin(quick[:, free], step)
        best_full.append(float(full[:, masks].max()))
        reached = np.where(np.isfinite(quick), quick, -np.inf)
        kept = np.argsort(reached, axis=None)[::-1][:n]
        layer = np.full(quick.size, np.nan)
        layer[kept] = np.where(np.isfinite(reached.ravel()[kept]), reached.ravel()[kept], np.nan)
        fast[:, masks] = layer.reshape(quick.shape)
        best_fast.append(float(np.nanmax(layer)))
    return tuple(best_full), tuple(best_fast)


def leakage(
    joint: ArrayLike, query: Callable[..., float], target: int, known: Mapping[int, int], scale: float = 1.0
) -> float:
    """sup over answers and pairs of values of log P(r | x, x_K) − log P(r | x′, x_K), with Laplace noise.

    Given the target's value the answer is a mixture of Laplace laws at the query's values; between two of those places
    the ratio of two such mixtures is monotone, so that its supremum is at one of them.

    >>> fair = [[0.25, 0.25], [0.25, 0.25]]
    >>> round(leakage(fair, lambda a, b: a ^ b, 0, {}), 6), round(leakage(fair, lambda a, b: a ^ b, 0, {1: 1}), 6)
    (0.0, 1.0)
    """
    masses = checks.at_least("joint", joint, 0.0)
    scale = float(checks.positive("scale", checks.scalar("scale", scale)))
    laws: dict[int, dict[float, float]] = {}
    for world in product(*(range(size) for size in masses.shape)):
        if all(world[k] == value for k, value in known.items()) and masses[world] > 0:
            law = laws.setdefault(world[target], {})
            at = float(query(*world))
            law[at] = law.get(at, 0.0) + float(masses[world])
    places = sorted({at for law in laws.values() for at in law})
    heights = {
        value: np.log(
            [sum(w * math.exp(-abs(r - at) / scale) for at, w in law.items()) / sum(law.values()) for r in places]
        )
        for value, law in laws.items()
    }
    largest = max((float(np.max(a - b)) for a in heights.values() for b in heights.values()), default=0.0)
    return float(round(largest, 14))


#: Those that contradict the paper's theorems.
COUNTEREXAMPLES: dict[str, Records] = {
    "the other end, r → +∞": table([[0.5, 0.0], [0.25, 0.25]]),
    "the same, nothing impossible": table([[0.4999, 0.0001], [0.25, 0.25]]),
    "an answer in between": table([[0.05, 0.45], [0.45, 0.05]], values=[[0, 1], [0, 3]]),
    "three records": table(np.array([[[8, 2], [1, 4]], [[3, 1], [5, 6]]]) / 30),
    "15, 3, 1, 1 of 20": table([[0.75, 0.15], [0.05, 0.05]]),
    "1, 9, 2, 3, 22, 1, 1, 1 of 40": table(np.array([[[1, 9], [2, 3]], [[22, 1], [1, 1]]]) / 40),
}


def theorem3(gap: float) -> Records:
    """x_j ∈ {0, ½, 1}, surely ½ where x_i = 0, and 0 or 1 where x_i = 1: the two means differ by ``gap``."""
    return table([[0.0, 0.5, 0.0], [(0.5 - gap) / 2, 0.0, (0.5 + gap) / 2]], values=[[0, 1], [0, 0.5, 1]])


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
            "correlation",
        )
    top = 1 + (records - 1) * correlation
    return tuple(top / (1 + k * correlation) / scale for k in range(records))


def _fair_bits(correlation: float) -> Records:
    """Two fair bits of a correlation."""
    same, other = (1 + correlation) / 4, (1 - correlation) / 4
    return table([[same, other], [other, same]])


_KNOWN = ("nothing", "x2")


def figure_2(correlations: dict[str, float]) -> Numbers:
    def prior(rho: float) -> float:
        """What knowing s2 = 1 says of s1 before any answer."""
        return (1 + rho) / 2

    records: list[Record] = []
    for name, rho in correlations.items():
        weak, strong = beliefs(rho)
        record = {"correlation": rho, "name": name, "weak adversary": weak, "strong, before": prior(rho)}
        leaks = _fair_bits(rho).leakage(0, scale=1.0)
        records.append(record | {"strong adversary": strong, "leakage, nothing known": leaks})
    grid = np.linspace(-1, 1, 81)
    lines = [
        curve("knows nothing", lambda rho: beliefs(rho)[0], grid),
        curve("knows s2 = 1", lambda rho: beliefs(rho)[1], grid),
        curve("s2 = 1, no answer", prior, grid, quiet=True),
    ]
    return Numbers(records, [lines])


def _by_layer(
    kind: str, label: str, leakages: Mapping[float, Mapping[int, float]], panels: list[list[float]]
) -> Numbers:
    """The leakage of each layer; its number is how many records are unknown, the target among them."""
    records = [
        {kind: value, **{f"layer {k}": leak for k, leak in layers.items()}} for value, layers in leakages.items()
    ]
    charts = [
        [
            Series(
                f"{label} {f'{value:g}'.replace('-', '−')}",
                tuple((float(k), leak) for k, leak in sorted(leakages[value].items())),
            )
            for value in panel
        ]
        for panel in panels
    ]
    ends = ["; ".join(f"{label} {value:g}: from 1 to {leakages[value][_RECORDS]:.2f}" for value in p) for p in panels]
    return Numbers(records, charts, {"ends": ends})


def figure_4_a_and_b(panels: list[list[float]]) -> Numbers:
    means = [mean for panel in panels for mean in panel]
    leakages = {mean: dict(enumerate(random_graph(_RECORDS, mean, 1)[0], 1)) for mean in means}
    return _by_layer("average", "average", leakages, panels)


def figure_4_c_and_d(panels: list[list[float]]) -> Numbers:
    correlations = [rho for panel in panels for rho in panel]
    leakages = {rho: {_RECORDS - k: leak for k, leak in enumerate(figure4_normal(rho))} for rho in correlations}
    return _by_layer("correlation", "ρ =", leakages, panels)


def figure_5(means: list[float], sizes: list[int]) -> Numbers:
    charts, records = [], list[Record]()
    for mean in means:
        for n in sizes:
            runs = [random_graph(n, mean, seed) for seed in range(_DRAWS)]
            by_full, by_fast = ([max(run[which]) for run in runs] for which in (0, 1))
            full, fast = float(np.mean(by_full)), float(np.mean(by_fast))
            row = mean, n, full, fast, fast / full, float(np.var(by_full)), float(np.var(by_fast))
            records += named_rows("average, n, full, fast, ratio, variance of full, variance of fast", [row])
        drawn = records[-len(sizes) :]
        charts.append(
            [Series(f"{name} search", tuple((float(r["n"]), r[name]) for r in drawn)) for name in ("fast", "full")]
        )
    grid = range(2, 13)
    charts.append([curve("full", _edges, grid), curve("fast, at most", lambda n: n * n * (n - 1), grid)])
    return Numbers(records, charts, {"worst": max(records, key=lambda r: r["ratio"])})


def _edges(n: float) -> int:
    """The edges of the graph of n records."""
    return int(n * (n - 1) * 2 ** (n - 2))


def examples_2_to_5(
    distributions: dict[str, list[list[float]]],
    examples: list[tuple[str, str, bool, float]],
    correlations: dict[str, float],
) -> Numbers:
    """``examples`` are of a number, a distribution of Table II, whether x2 = 1 is known, and the leakage printed."""
    tables = {
        name: table(joint, values=[[0, 1], [0, 5]] if name == "d" else None) for name, joint in distributions.items()
    }
    names, pair = "example, distribution, known, printed, exact", normal([[1.0, 0.5], [0.5, 1.0]])
    records = named_rows(
        names,
        (
            (example, name, _KNOWN[known], printed, tables[name].leakage(0, {1: 1} if known else {}, scale=1.0))
            for example, name, known, printed in examples
        ),
    )
    records += named_rows(
        names,
        (
            ("5", "normal, ρ = ½", _KNOWN[bool(known)], printed, float(pair.leakage(0, known, scale=1.0)))
            for known, printed in ((set[int](), 1.5), ({1}, 1.0))
        ),
    )
    rows = [
        (
            f"Example {r['example']}",
            r["distribution"] if r["example"] == "5" else f"II({r['distribution']})",
            r["known"],
            f"{r['printed']:g}",
            number(r["exact"]),
        )
        for r in records
    ]
    bits = [r for r in records if r["distribution"] in correlations and r["known"] != "x2"]
    points = sorted((correlations[r["distribution"]], r["printed"]) for r in bits)
    lines = [
        curve("nothing known", lambda rho: _fair_bits(rho).leakage(0, scale=1.0), (k / 50 for k in range(-50, 51))),
        Series("the other bit known", ((-1.0, 1.0), (1.0, 1.0))),
        Series("printed", tuple(points), quiet=True, dotted=True),
    ]
    return Numbers(records, [lines], rows=rows)


def the_chain_rule_theorems_2_and_5() -> Numbers:
    records: list[Record] = []
    for name, model in COUNTEREXAMPLES.items():
        for i in range(model.n if model.n > 2 else 1):
            exact, printed = model.leakage(i, scale=1.0), chain_rule(model, i, {}, 1.0)
            records.append(
                {"case": name, "target": i, "printed": printed, "exact": exact, "unsafe": printed < exact - 1e-12}
            )
    return Numbers(records)


def theorem_3(settings: list[tuple[float, float]]) -> Numbers:
    x, y = np.array([0.0, 1.0]), np.array([0.0, 0.5, 1.0])
    records: list[Record] = []
    for scale, gap in settings:
        model = theorem3(gap)
        joint = model.joint
        covariance = float(x @ joint @ y - (x @ joint.sum(1)) * (y @ joint.sum(0)))
        term = correlation_terms(model, 0, 1, {}, scale)[0]
        records.append({"scale": scale, "gap": gap, "covariance": covariance, "ratio": scale * term})
    return Numbers(records)


def algorithms_1_and_2() -> Numbers:
    models = {**COUNTEREXAMPLES, "a hub of small range, 3 leaves": star(3), "a hub of small range, 4 leaves": star(4)}
    records: list[Record] = [
        {"case": name, "full": algorithm1(m), "fast": algorithm2(m), "exact": m.worst(scale=1.0).leakage}
        for name, m in models.items()
    ]
    full, fast = (
        abstract_search([1, 1, 1, 0.2], lambda i, j, known: [0.7] if i == 3 else [0.0], fast=quick)
        for quick in (False, True)
    )
    records.append({"case": "edges 0.7 from one record of range 0.2", "full": full, "fast": fast, "exact": None})
    return Numbers(records)


def corollary_1_2(hundredths: list[int]) -> Numbers:
    joint = table(np.array(hundredths).reshape(2, 2, 2) / 100)
    records = [{"known": len(w.known), "worst": w.leakage, "target": w.target} for w in joint.by_known(scale=1.0)]
    return Numbers(records)


def corollaries_1_1_and_1_3(claims: list[str]) -> Numbers:
    perfect = table([[0.5, 0.0], [0.0, 0.5]])
    opposite = table([[0.05, 0.45], [0.45, 0.05]], values=[[0, 0.5], [0, 3]])
    exact = perfect.leakage(0, scale=1.0), opposite.leakage(0, scale=1.0), opposite.worst(scale=1.0).leakage
    return Numbers(named_rows("claim, claimed, exact", zip(claims, (2.0, 0.5, 3.0), exact, strict=True)))


def propositions_1_and_2(sizes: list[int]) -> Numbers:
    names = "n, edges, proposition 1, kept by algorithm 2, proposition 2, with the values known"
    rows = [(n, _edges(n), n**4 * 2 ** (n - 1), n * n * (n - 1), n**4, n * 3 ** (n - 1)) for n in sizes]
    return Numbers(named_rows(names, rows))


def queries_that_are_not_sums(joints: dict[str, list[list[float]]]) -> Numbers:
    """Leakage of four queries of two records, independent and correlated, to three adversaries."""
    queries: dict[str, Callable[..., float]] = {
        "sum": lambda a, b: a + b,
        "product (both have it)": lambda a, b: a * b,
        "maximum (one has it)": max,
        "exclusive or": lambda a, b: a ^ b,
    }
    adversaries: dict[str, dict[int, int]] = {"nothing known": {}, "x2 = 0 known": {1: 0}, "x2 = 1 known": {1: 1}}
    return Numbers(
        [
            {"query": name, "records": which, **{who: leakage(joint, query, 0, k) for who, k in adversaries.items()}}
            for name, query in queries.items()
            for which, joint in joints.items()
        ]
    )
