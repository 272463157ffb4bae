"""The laws that released answers must have, by hand: exact answers in plain Python, scales from the plan's own words.

Distributions are compared by the largest distance between their functions: of n draws it exceeds √(log(2/level)/2n)
with a chance of at most ``LEVEL``, whatever the law (Dvoretzky–Kiefer–Wolfowitz, Massart), and a rate likewise
(Hoeffding). There are fewer than a thousand such tests, so that one fails by chance once in 100,000 runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.optimize import brentq
from scipy.stats import laplace, norm

LEVEL = 1e-8
DRAWS = 3000
EPSILON, DELTA = 3.0, 1e-6
THRESHOLD = 4.0
SITES = {"a": 31, "b": 17, "d": 2}

#: Fifty people with two rows each, at one site each.
ROWS: list[dict[str, Any]] = [
    {"who": who, "site": site, "x": float((3 * who + again) % 9) - 0.5, "y": float((5 * who + again) % 7) - 2.0}
    for who, site in enumerate(site for site, count in SITES.items() for _ in range(count))
    for again in range(2)
]
SCHEMA = pa.schema([("who", pa.int64()), ("site", pa.string()), ("x", pa.float64()), ("y", pa.float64())])
QUERIES: list[dict[str, Any]] = [
    {"name": "people", "count": True, "by": "site", "groups": ["a", "b", "c"]},
    {"name": "sum", "sum": "x", "bounds": [0, 8]},
    {"name": "average", "average": "x", "bounds": [0, 8]},
    {"name": "named", "count": True, "by": "site", "threshold": THRESHOLD},
]


def table(*more: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist([*ROWS, *more], schema=SCHEMA)


def mechanism(noise: str) -> dict[str, Any]:
    return {"epsilon": EPSILON, "noise": noise, **({"delta": DELTA} if noise == "gaussian" else {})}


def plan(noise: str, queries: Sequence[dict[str, Any]] = QUERIES, source: str = "t") -> dict[str, Any]:
    data = {"table": source, "person": "who", "max_rows": 2}
    return {"data": data, "queries": list(queries), "mechanism": mechanism(noise), "limits": {}}


def noise_law(noise: str, moved: float, share: float) -> Any:
    """Of noise on a number that a person moves by so much, with this share of ε and δ.

    b = Δ/ε; σ = Δ/ψ where Φ(ψ/2 − ε/ψ) − e^ε·Φ(−ψ/2 − ε/ψ) = δ.
    """
    epsilon, delta = EPSILON * share, DELTA * share
    if noise == "laplace":
        return laplace(scale=moved / epsilon)

    def beyond(psi: float) -> float:
        low, high = norm.cdf(-psi / 2 - epsilon / psi), norm.cdf(psi / 2 - epsilon / psi)
        return float(high - math.exp(epsilon) * low - delta)

    return norm(scale=moved / brentq(beyond, 1e-3, 20.0, xtol=1e-14))


def within(value: float) -> float:
    return min(max(value, 0.0), 8.0)


def laws(noise: str) -> dict[tuple[str, str | None], Callable[[float], float]]:
    """P(answer ≤ t) of each answer of :data:`QUERIES`; of a group that a threshold names, where it is named."""
    people, total = noise_law(noise, 1.0, 0.25), noise_law(noise, 16.0, 0.25)
    found: dict[tuple[str, str | None], Callable[[float], float]] = {}
    for site in ("a", "b", "c"):
        found["people", site] = _rounded(people, SITES.get(site, 0))
    found["sum", None] = lambda t: float(total.cdf(t - math.fsum(within(r["x"]) for r in ROWS)))
    found["average", None] = _ratio(noise)
    for site, count in SITES.items():
        found["named", site] = _named(people, count)
    return found


def _rounded(law: Any, exact: float) -> Callable[[float], float]:
    return lambda t: float(law.cdf(math.floor(t) + 0.5 - exact))


def _named(law: Any, exact: float) -> Callable[[float], float]:
    low = law.cdf(THRESHOLD - exact)
    return lambda t: float(max(law.cdf(math.floor(t) + 0.5 - exact) - low, 0.0) / law.sf(THRESHOLD - exact))


def _ratio(noise: str) -> Callable[[float], float]:
    """4 + S/N within [0, 8], half of the share each: S moves by 2·4, N by 2."""
    upper, lower = noise_law(noise, 8.0, 0.125), noise_law(noise, 2.0, 0.125)
    above, rows = math.fsum(within(r["x"]) - 4.0 for r in ROWS), float(len(ROWS))
    n = rows + lower.std() * np.linspace(-30, 30, 6001)  # by trapezoids, one edge where the density bends
    weight = np.where(n >= 1.0, lower.pdf(n - rows), 0.0)

    def below(t: float) -> float:
        return 1.0 if t >= 8.0 else float(np.trapezoid(weight * upper.cdf((t - 4.0) * n - above), n))

    return below


def far(draws: int) -> float:
    return math.sqrt(math.log(2 / LEVEL) / (2 * draws))


def assert_law(values: Sequence[float], law: Callable[[float], float], coarse: float) -> None:
    """Against the law's own function at 41 places; answers are rounded by at most ``coarse``."""
    found = np.sort(np.asarray(values, dtype=float))
    for t in np.unique(np.quantile(found, np.linspace(0, 1, 41))):
        share = float(np.searchsorted(found, t, side="right")) / found.size
        assert law(t - coarse) - far(found.size) <= share <= law(t + coarse) + far(found.size), t


def assert_released(noise: str, answers: Mapping[tuple[str, str | None], Sequence[float]], draws: int) -> None:
    """Every answer of so many releases of :func:`plan`, and how often each group was named."""
    people = noise_law(noise, 1.0, 0.25)
    for key, law in laws(noise).items():
        values = answers[key]
        if key[0] == "named":
            chance = float(people.sf(THRESHOLD - SITES[str(key[1])]))
            assert abs(len(values) / draws - chance) <= far(draws), key
        else:
            assert len(values) == draws
        if key[0] == "sum":  # the size of the noise by its moment: E|x| = b, E x² = σ², each within 7 standard errors
            law_, away = noise_law(noise, 16.0, 0.25), np.asarray(values) - math.fsum(within(r["x"]) for r in ROWS)
            size, error = (np.abs(away), 1.0) if noise == "laplace" else (away**2, math.sqrt(2.0))
            expected = law_.std() / math.sqrt(2.0) if noise == "laplace" else law_.var()
            assert abs(float(size.mean()) / expected - 1) <= 7 * error / math.sqrt(draws)
        if len(values) >= 50:
            assert_law(values, law, {"sum": 0.06, "average": 0.006}.get(key[0], 0.0))
