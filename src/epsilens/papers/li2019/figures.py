"""Figures 2, 4 and 5: the first example, leakage by layer, and the two searches on graphs of random edges."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from ...attacks.correlated.joint_table import table
from ...show.charts.lines import Axis, Series, lines
from ...show.words import number
from ..item import Agreement, Item
from .settings import figure4_normal

_RECORDS = 15
_CONCENTRATION = 2.0
_DRAWS = 30


def beliefs(correlation: float, answer: float = 2.0, scale: float = 1.0) -> tuple[float, float]:
    """P(s1 = 1 | r) of who knows nothing and of who knows s2 = 1, for two fair bits of a correlation (Example 1).

    >>> [round(p, 4) for p in beliefs(0.0)], [round(p, 4) for p in beliefs(1.0)]
    ([0.7311, 0.7311], [0.8808, 1.0])
    """
    same, other = (1 + correlation) / 4, (1 - correlation) / 4
    seen = [math.exp(-abs(answer - total) / scale) for total in (0, 1, 2)]
    present, absent = same * seen[2] + other * seen[1], other * seen[1] + same * seen[0]
    knowing = same * seen[2], other * seen[1]
    return present / (present + absent), knowing[0] / (knowing[0] + knowing[1])


def _figure2() -> Item:
    names = {1.0: "perfectly positive", 0.5: "weakly positive", 0.0: "none", -0.5: "weakly negative",
             -1.0: "perfectly negative"}  # fmt: skip
    records: list[dict[str, Any]] = []
    for rho, name in names.items():
        weak, strong = beliefs(rho)
        prior = (1 + rho) / 2  # what knowing s2 = 1 says of s1 before any answer
        model = table([[(1 + rho) / 4, (1 - rho) / 4], [(1 - rho) / 4, (1 + rho) / 4]])
        records.append(
            {
                "correlation": rho, "name": name, "weak adversary": weak, "strong, before": prior,
                "strong adversary": strong, "leakage, nothing known": model.leakage(0, scale=1.0),
            }
        )  # fmt: skip
    cells = tuple(
        (f"{r['correlation']:g}", *(number(float(v)) for k, v in r.items() if k not in ("correlation", "name")))
        for r in records
    )
    grid = np.linspace(-1, 1, 81).tolist()
    chart = lines(
        "figure 2",
        "What two adversaries believe after seeing r = 2",
        "P(s1 = 1), Laplace noise of scale 1",
        (
            Series("knows nothing", tuple((rho, beliefs(rho)[0]) for rho in grid)),
            Series("knows s2 = 1", tuple((rho, beliefs(rho)[1]) for rho in grid)),
            Series("s2 = 1, no answer", tuple((rho, (1 + rho) / 2) for rho in grid), quiet=True),
        ),
        Axis(-1, 1, "correlation of s1 and s2"),
        Axis(0, 1),
        "Who knows nothing believes 0.5 at correlation −1, 0.731 at 0 and 0.881 at 1; who knows s2 = 1 goes from 0 to "
        "1 by the correlation alone.",
    )
    return Item(
        "Figure 2: Example 1, two adversaries and five correlations",
        ("ρ", "knows nothing", "s2 = 1, before", "knows s2 = 1", "leakage"),
        cells,
        ("The scale of the noise is not given; 1 is chosen, and correlations of ½ for the weak ones.",),
        tuple(records),
        "Positive correlation tells the weak adversary more, negative tells it nothing; the strong one learns most "
        "from the correlation itself.",
        "The same.",
        charts=(chart,),
    )


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


def _signed(value: float) -> str:
    return f"{value:g}".replace("-", "−")


def _figure4_discrete() -> Item:
    means = (0.2, 0.5, 0.8, -0.2, -0.5, -0.8)
    records = [
        {"average": mean, **{f"layer {k + 1}": v for k, v in enumerate(random_graph(_RECORDS, mean, 1)[0])}}
        for mean in means
    ]
    cells = tuple((f"{r['average']:g}", *(number(r[f"layer {k}"]) for k in (1, 5, 10, 15))) for r in records)
    charts = []
    for part, chosen in (("a", means[:3]), ("b", means[3:])):
        drawn = [
            Series(f"average {_signed(m)}", tuple((k + 1.0, v) for k, v in enumerate(random_graph(_RECORDS, m, 1)[0])))
            for m in chosen
        ]
        top = math.ceil(max(y for s in drawn for _, y in s.points))
        charts.append(
            lines(
                f"figure 4{part}",
                f"The printed chain rule on random edges ({part})",
                "largest value of a layer",
                drawn,
                Axis(1, 15, "layer: records unknown, the target among them"),
                Axis(0, max(top, 2)),
                "; ".join(f"average {m:g}: from 1 to {random_graph(_RECORDS, m, 1)[0][-1]:.2f}" for m in chosen) + ".",
            )
        )
    return Item(
        "Figure 4(a) and (b): leakage by layer, discrete records",
        ("average", "layer 1", "layer 5", "layer 10", "layer 15"),
        cells,
        (
            "15 records, edges Beta-distributed with concentration 2 (the paper does not give it), one draw.",
            "No joint distribution stands behind such edges, so that the figure shows the printed recursion and says "
            "nothing of any data: the recursion itself is not exact (see the chain rule below).",
        ),
        tuple(records),
        "Leakage grows with the layer for positive correlations, and has no trend for negative ones.",
        "With these edges it grows up to layer 13 of 15 at an average of 0.8, up to 5 at 0.5 and up to 4 at 0.2, and "
        "then "
        "falls, since each further layer takes the least of more paths.",
        Agreement.OPEN,
        "The law of the edges is not given, and decides whether the values grow; the edges are those of no data.",
        tuple(charts),
    )


def _figure4_normal() -> Item:
    positive, negative = (0.2, 0.5, 0.8), (-0.02, -0.05, -0.07)
    records = [
        {"correlation": rho, **{f"layer {_RECORDS - k}": v for k, v in enumerate(figure4_normal(rho))}}
        for rho in (*positive, *negative)
    ]
    cells = tuple((f"{r['correlation']:g}", *(number(r[f"layer {k}"]) for k in (1, 5, 10, 15))) for r in records)
    charts = []
    for part, chosen, top in (("c", positive, 13.0), ("d", negative, 1.2)):
        drawn = [
            Series(
                f"ρ = {_signed(rho)}",
                tuple(sorted((float(_RECORDS - k), v) for k, v in enumerate(figure4_normal(rho)))),
            )
            for rho in chosen
        ]
        charts.append(
            lines(
                f"figure 4{part}",
                f"Leakage of 15 equally correlated normal records ({part})",
                "leakage at λ = 1, range 1",
                drawn,
                Axis(1, 15, "layer: records unknown, the target among them"),
                Axis(0, top),
                "; ".join(f"ρ = {rho:g}: from 1 to {figure4_normal(rho)[0]:.2f}" for rho in chosen) + ".",
            )
        )
    return Item(
        "Figure 4(c) and (d): leakage by layer, normal records",
        ("correlation", "layer 1", "layer 5", "layer 10", "layer 15"),
        cells,
        (
            "(1 + 14ρ)/(1 + kρ) with k records known; layer 15 − k. All 15 layers are in the data.",
            "15 records cannot all be correlated below −1/14 = −0.0714: at −0.8 the smallest eigenvalue would be −10.2 "
            "times the variance. (d) is drawn for correlations that exist.",
        ),
        tuple(records),
        "Leakage grows with the layer for positive correlations and falls for negative ones, down to −0.8.",
        "The same for positive correlations; those negative ones do not exist.",
        Agreement.PARTLY,
        "An equal correlation of −0.8 among 15 records has an eigenvalue of −10.2.",
        tuple(charts),
    )


def _figure5() -> Item:
    sizes = (2, 4, 6, 8, 10, 12)
    charts, records = [], []
    for part, mean in (("a", 0.2), ("b", 0.5), ("c", 0.8)):
        full, fast = [], []
        for n in sizes:
            runs = [random_graph(n, mean, seed) for seed in range(_DRAWS)]
            by_full, by_fast = ([max(run[which]) for run in runs] for which in (0, 1))
            full.append(float(np.mean(by_full)))
            fast.append(float(np.mean(by_fast)))
            records.append(
                {
                    "average": mean, "n": n, "full": full[-1], "fast": fast[-1], "ratio": fast[-1] / full[-1],
                    "variance of full": float(np.var(by_full)), "variance of fast": float(np.var(by_fast)),
                }
            )  # fmt: skip
        charts.append(
            lines(
                f"figure 5{part}",
                f"The two searches on random edges of average {mean:g}",
                f"largest value, mean of {_DRAWS} draws",
                (
                    Series("fast search", tuple(zip(map(float, sizes), fast, strict=True))),
                    Series("full search", tuple(zip(map(float, sizes), full, strict=True))),
                ),
                Axis(2, 12, "records"),
                Axis(0, math.ceil(max(*full, *fast))),
                f"With 12 records the fast search gives {fast[-1]:.2f}, the full one {full[-1]:.2f}.",
                height=240,
            )
        )
    work = [(n, n * (n - 1) * 2 ** (n - 2), n * n * (n - 1)) for n in range(2, 13)]
    charts.append(
        lines(
            "figure 5d",
            "Steps of the two searches",
            "edges looked at (logarithmic)",
            (
                Series("full", tuple((float(n), float(a)) for n, a, _ in work)),
                Series("fast, at most", tuple((float(n), float(b)) for n, _, b in work)),
            ),
            Axis(2, 12, "records"),
            Axis(1, 200_000, log=True),
            "With 12 records the full search looks at 135,168 edges, the fast one at 1,584 at most.",
            height=240,
        )
    )
    cells = tuple(
        (f"{r['average']:g}", str(r["n"]), number(r["full"]), number(r["fast"]), number(r["ratio"])) for r in records
    )
    worst = max(records, key=lambda r: r["ratio"])
    return Item(
        "Figure 5: full against fast search",
        ("average", "records", "full", "fast", "ratio"),
        cells,
        (
            f"Edges Beta-distributed with concentration 2 (the paper gives none), ranges 1, means of {_DRAWS} draws "
            f"as in "
            "the paper, whose records go up to 15; the variances are in the data. (d) counts edges in place of "
            "seconds, "
            "which depend on the machine.",
            "On these edges the fast search overestimates; on others it falls below: see Algorithms 1 and 2.",
        ),
        tuple(records),
        "The fast search is very close to the full one at averages of 0.5 and 0.8, and much quicker.",
        "Quicker, and not close: the gap grows with the number of records.",
        Agreement.PARTLY,
        f"At an average of {worst['average']:g} and {worst['n']} records the fast value is {worst['ratio']:.2f} times "
        "the full one.",
        tuple(charts),
    )


def items() -> tuple[Item, ...]:
    """Figures 2, 4 and 5."""
    return _figure2(), _figure4_discrete(), _figure4_normal(), _figure5()
