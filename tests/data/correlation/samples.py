"""Samples of related people with a known correlation, for judging how often an upper end holds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from epsilens.data.correlation.intraclass import POWERS, GroupSums, Relatedness, UpperEnd, relatedness_estimate

Random = np.random.Generator


def standard(value: np.ndarray, mean: float, variance: float) -> np.ndarray:
    return np.asarray((value - mean) / np.sqrt(variance))


#: Laws of mean 0 and variance 1: √ρ·(the group's) + √(1 − ρ)·(one's own) has the correlation ρ exactly.
LAWS: dict[str, Callable[[Random, int], np.ndarray]] = {
    "normal": lambda random, n: random.normal(size=n),
    "lognormal": lambda random, n: standard(np.exp(random.normal(size=n)), np.exp(0.5), np.e * (np.e - 1)),
    "t3": lambda random, n: random.standard_t(3, size=n) / np.sqrt(3),
    "pareto 5": lambda random, n: standard(random.pareto(5, size=n), 1 / 4, 5 / 48),
    "pareto 2.5": lambda random, n: standard(random.pareto(2.5, size=n), 1 / 1.5, 2.5 / 1.125),  # no fourth moment
    "mostly 0": lambda random, n: standard((random.random(n) < 0.1) * random.exponential(size=n), 0.1, 0.19),
}


def share(random: Random, groups: int, law: str, rho: float, p: float) -> np.ndarray:
    """The share of each group that has a flag: mean p, variance ρp(1 − p), so that two members have the correlation ρ.

    "all or none" of the group in some groups, p in the others; "beta"; "cluster": none in most groups.
    """
    if law == "all or none":
        return np.where(random.random(groups) < rho, random.random(groups) < p, p)
    if law == "beta" and rho:
        return random.beta(p * (1 / rho - 1), (1 - p) * (1 / rho - 1), groups)
    high = p + rho * (1 - p) if law == "cluster" else p
    return np.where(random.random(groups) < p / high, high, 0.0)


def sizes(random: Random, groups: int, kind: int | str) -> np.ndarray:
    """How many members groups have: a number for all, "1-5" at random, or "uneven": mostly pairs, a few up to 40."""
    if kind == "1-5":
        return random.permutation(np.concatenate(([2, 3], random.integers(1, 6, groups - 2))))
    if kind == "uneven":
        large = (random.random(groups) < 0.05) * random.integers(5, 30, groups)
        return np.asarray(np.minimum(1 + random.geometric(0.5, groups) + large, 40))
    return np.full(groups, int(kind))


def people(random: Random, groups: int, kind: int | str, law: str, rho: float) -> tuple[np.ndarray, np.ndarray]:
    """The group and the value of each person; ``law`` is one of LAWS, or a flag's: "beta .02" has p = .02."""
    size = sizes(random, groups, kind)
    where = np.repeat(np.arange(groups), size)
    if law in LAWS:
        draw = LAWS[law]
        return where, np.sqrt(rho) * draw(random, groups)[where] + np.sqrt(1 - rho) * draw(random, len(where))
    flag, p = law.rsplit(" ", 1)
    return where, (random.random(len(where)) < share(random, groups, flag, rho, float(p))[where]).astype(float)


def without_engine(
    where: ArrayLike, value: ArrayLike, steps: int = 16, bounds: tuple[float, float] | None = None
) -> Relatedness:
    """What :func:`related` finds, its cells of groups made here instead of in the engine."""
    where, value = np.asarray(where), np.asarray(value)
    centre = value.mean()
    spread = max(np.abs(value - centre).max(), 1e-300)
    y = (value - centre) / spread
    n = np.bincount(where).astype(float)
    b, q = np.bincount(where, y), np.bincount(where, y * y)
    _, cell = np.unique(np.stack((n, np.floor(steps * b / n), np.floor(steps * q / n))), axis=1, return_inverse=True)
    count = np.bincount(cell)
    powers = (b, q, b**2, b**3, b**4, b * q, b**2 * q, q**2)
    sums = {name: np.bincount(cell, power).astype(float) for name, power in zip(POWERS, powers, strict=True)}
    low, high = (y.min(), y.max()) if bounds is None else ((bound - centre) / spread for bound in bounds)
    found = GroupSums(np.bincount(cell, n) / count, count.astype(float), sums, float(low), float(high))
    method = UpperEnd.BINARY if len(np.unique(value)) == 2 else UpperEnd.SEEN
    return relatedness_estimate(found, method if bounds is None else UpperEnd.BOUNDED, "value", "group", 0.95)


def upper_ends(law: str, rho: float, groups: int, kind: int | str, times: int, seed: int = 13) -> np.ndarray:
    """The upper end in so many samples, in which not every value is the same."""
    random = np.random.default_rng(seed)
    ends: list[float] = []
    while len(ends) < times:
        where, value = people(random, groups, kind, law, rho)
        if value.min() < value.max():
            ends.append(without_engine(where, value).interval[1])
    return np.array(ends)
