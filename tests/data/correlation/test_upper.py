"""The upper end of a correlation within groups: closed forms, and how often it holds in simulated samples.

The samples have a known correlation (``samples.py``). ``benchmarks/upper_ends.py`` tries many more; its table is in
``docs/correlate.md``.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, f, gamma
from tests.data.correlation.samples import people, share, upper_ends, without_engine

import epsilens as el
from epsilens.data.correlation.estimation import largest_product
from epsilens.data.correlation.intraclass import (
    POWERS,
    GroupSums,
    UpperEnd,
    group_relatedness,
    tail_of_exponentials,
    upper_end,
)

TIMES = 400
#: 97.5% less three standard errors of 400 samples, √(.975·.025/400) = .0078.
LEAST = 0.975 - 3 * 0.0078


@pytest.mark.parametrize(("p", "a", "b"), [(0.3, 1, 1), (0.05, 1, 1), (0.1, 3, 40), (0.01, 17, 4), (0.4, 200, 300)])
def test_a_tail_of_two_kinds_of_exponentials(p: float, a: int, b: int) -> None:
    # Σ of a exponentials over that of b is a/b times an F variable with 2a and 2b degrees of freedom
    ratio = f.isf(p, 2 * a, 2 * b) * a / b
    # the saddle's relative error, which is largest for one exponential (5%) and vanishes with many
    assert tail_of_exponentials(np.array([1.0, -ratio]), np.array([a, b])) == pytest.approx(p, rel=0.05 / min(a, b))


def test_a_tail_of_many_kinds_of_exponentials_by_simulation() -> None:
    random = np.random.default_rng(1)
    values, times = random.normal(-0.3, 1, 30), random.integers(1, 4, 30).astype(float)
    sums = gamma.rvs(times, size=(200_000, 30), random_state=random) @ values
    # the standard error is at most .0011
    assert tail_of_exponentials(values, times) == pytest.approx((sums >= 0).mean(), abs=0.004)
    assert tail_of_exponentials(np.array([-1.0, 0.0]), np.ones(2)) == 0.0
    assert tail_of_exponentials(np.array([1.0, 2.0]), np.ones(2)) == 1.0
    assert tail_of_exponentials(np.array([1.0, -1.0]), np.ones(2)) == pytest.approx(0.5)


@pytest.mark.parametrize(("apart", "alike"), [(4, 16), (1, 9), (50, 150)])
def test_pairs_of_a_flag_have_the_limit_of_clopper_and_pearson(apart: int, alike: int) -> None:
    # half of the people have the flag, in as many pairs of two as of none: ρ = 2·P(alike) − 1, and P(alike) has an
    # exact limit; not knowing that it is half adds at most (1 − ρ)/G
    b, k = np.array([-2.0, 0.0, 2.0]), np.array([alike / 2, apart, alike / 2])
    powers = dict(zip(POWERS, (k * x for x in (b, 2, b**2, b**3, b**4, 2 * b, 2 * b**2, 4)), strict=True))
    found = upper_end(GroupSums(np.full(3, 2.0), k, powers, -1.0, 1.0), UpperEnd.BINARY, 0.025)
    exact = 2 * beta.ppf(0.975, alike + 1, apart) - 1
    assert exact < found < exact + 1.2 * (1 - exact) / (apart + alike) + 0.001


# 1.5: what was said to hold with 97.5% confidence held in .70, .85, .85, .89 of the first four
@pytest.mark.parametrize(
    ("law", "rho", "groups", "size"),
    [
        ("beta 0.02", 0.3, 200, 2),
        ("all or none 0.02", 0.3, 200, 3),
        ("lognormal", 0.3, 100, 3),
        ("beta 0.1", 0.3, 60, 3),
        ("all or none 0.5", 0.6, 60, 2),
        ("cluster 0.2", 0.6, 60, 2),
        ("all or none 0.2", 0.3, 20, 5),
        ("beta 0.1", 0.05, 200, "uneven"),
        ("normal", 0.5, 10, 3),
        ("pareto 2.5", 0.6, 20, "1-5"),
        ("lognormal", 0.6, 100, 2),
        ("t3", 0.3, 100, "uneven"),
    ],
)
def test_the_upper_end_holds_at_its_level(law: str, rho: float, groups: int, size: int | str) -> None:
    ends = upper_ends(law, rho, groups, size, TIMES)
    assert (ends >= rho).mean() >= LEAST


def test_it_says_something() -> None:
    # 97.5% limits for normal data are .425 with 100 groups and .327 with 1000 (F, exact); 1 would always hold
    assert np.median(upper_ends("normal", 0.3, 100, 3, 50)) < 0.53
    assert np.median(upper_ends("normal", 0.3, 1000, 3, 50)) < 0.36
    assert np.median(upper_ends("beta 0.1", 0.1, 1000, 3, 50)) < 0.19


def test_what_the_level_rests_on() -> None:
    random = np.random.default_rng(2)
    where, value = people(random, 100, 3, "beta 0.1", 0.3)
    table = pd.DataFrame({"home": where, "flag": value.astype(bool), "x": value + random.normal(size=len(where))})
    flag, free = group_relatedness(table, "flag", by="home"), group_relatedness(table, "x", by="home")
    bound, wide = (group_relatedness(table, "x", by="home", bounds=b) for b in ((-3, 4), (-300, 400)))
    assert [found.method for found in (flag, free, bound)] == [UpperEnd.BINARY, UpperEnd.SEEN, UpperEnd.BOUNDED]
    assert [found.level for found in (flag, free, bound)] == pytest.approx([0.975] * 3)
    assert group_relatedness(table, "flag", by="home", confidence=0.8).level == pytest.approx(0.9)
    assert flag.interval == pytest.approx(without_engine(where, value).interval, rel=1e-6)
    assert flag.interval == pytest.approx(
        group_relatedness(table, "flag", by="home", bounds=(0, 1)).interval, rel=1e-12
    )
    assert flag.interval[1] == pytest.approx(
        group_relatedness(table.assign(flag=7 - 3 * value), "flag", by="home").interval[1]
    )
    # one household in which everyone has 400 could be among those not seen
    assert bound.interval[1] < 0.9 < wide.interval[1]
    assert flag.to_dict()["method"] == "binary"


def test_bounds_let_it_hold_where_what_matters_is_rare() -> None:
    # one household in 200 has the value 30, all of it: ρ is .82, and 61 of 100 samples of 100 households have none
    random, truth, held = np.random.default_rng(4), 900 * 0.005 * 0.995 / (1 + 900 * 0.005 * 0.995), {True: 0, False: 0}
    for _ in range(40):
        where = np.repeat(np.arange(100), 3)
        value = (30.0 * (random.random(100) < 0.005))[where] + random.normal(size=300)
        for known in held:
            found = without_engine(where, value, bounds=(-40, 40) if known else None)
            held[known] += found.interval[1] >= truth
    assert held[True] == 40
    assert held[False] < 30  # no method can do better without bounds: that is what UpperEnd.SEEN says


@pytest.mark.parametrize("seed", range(5))
def test_the_largest_product_within_ranges(seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b, low, high = random.normal(size=4), random.normal(size=4), -random.random(4), random.random(4)
    x = low + (high - low) * random.choice([0.0, 1.0, 0.25, 0.5, 0.75], size=(200_000, 4))
    tried = ((x @ a) * (x @ b)).max()
    assert tried <= largest_product(a, b, low, high) * (1 + 1e-12) <= tried * 1.05


def test_flags_in_columns_have_an_upper_end_that_holds() -> None:
    # two flags of one in fifty, ρ = .3: the worst adversary's leakage is 1.3; the upper end held in 72 of 100 samples
    random = np.random.default_rng(6)
    held: list[bool] = []
    while len(held) < 40:
        both = random.random((200, 2)) < share(random, 200, "all or none", 0.3, 0.02)[:, None]
        if both.any(axis=0).all() and (both[:, 0] != both[:, 1]).any():
            found = el.correlate({"a": both[:, 0], "b": both[:, 1]}, ["a", "b"], scale=1.0)
            held.append(found.interval.high >= 1.3)
    assert np.mean(held) >= 0.975 - 3 * 0.025  # the standard error of 40 samples is .025


def test_many_groups_are_a_few_cells() -> None:
    random = np.random.default_rng(3)
    where, value = people(random, 5_000, "1-5", "normal", 0.3)
    found = group_relatedness({"g": where, "x": value}, "x", by="g")
    fine = without_engine(where, value, steps=100_000)  # every group a cell
    assert found.interval == pytest.approx(fine.interval, abs=5e-4)
