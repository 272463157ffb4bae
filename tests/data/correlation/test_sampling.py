"""What sampling leaves uncertain: every adversary against brute force, and coverage by simulation."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.data.correlation.samples import without_engine

from epsilens.attacks import correlated
from epsilens.attacks.correlated import Worst
from epsilens.data.correlation import moments
from epsilens.data.correlation.intraclass import group_relatedness
from epsilens.data.correlation.moments import _adversaries, drawn_interval, normal_interval, regression
from epsilens.errors import InputError


def covariance(n: int, seed: int) -> np.ndarray:
    a = np.random.default_rng(seed).normal(size=(n, n + 3))
    s = a @ a.T
    d = np.sqrt(np.diag(s))
    return np.asarray(s / d / d[:, None])


def test_every_adversary_against_solving() -> None:
    n, cov, weights = 5, covariance(5, 1), np.array([1.0, -2.0, 0.0, 0.5, 3.0])
    ((beta, v, left, size),) = _adversaries(cov, weights)
    assert np.isfinite(beta).sum() == n * 2 ** (n - 1)
    for i in range(n):
        for k in range(n):
            for known in combinations([j for j in range(n) if j != i], k):
                e, z = regression(cov, weights, i, known)
                expected = (weights @ cov @ z / (z @ cov @ z), z @ cov @ z, e @ cov @ e)
                rows = np.isclose(beta[:, i], expected[0]) & np.isclose(v[:, i], expected[1]) & (size == k)
                assert np.isclose(left[rows, i], expected[2], atol=1e-12).any()


def test_blocks_are_the_whole() -> None:
    cov, weights = covariance(12, 2), np.ones(12)
    largest = max(float(np.nanmax(np.abs(block[0]))) for block in _adversaries(cov, weights))
    assert largest == pytest.approx(correlated.normal(cov).worst(scale=1.0).leakage, rel=1e-10)


def largest(cov: np.ndarray, sigma: float | None) -> float:
    blocks = _adversaries(cov, np.ones(len(cov)))
    if sigma is None:
        return max(float(np.nanmax(np.abs(beta))) for beta, *_ in blocks)
    return max(float(np.nanmax(np.abs(beta) / np.sqrt(sigma**2 + left))) for beta, _, left, _ in blocks)


@pytest.mark.parametrize(("n", "rows", "sigma"), [(3, 30, None), (4, 200, None), (4, 200, 1.0)])
def test_coverage_for_normal_rows(n: int, rows: int, sigma: float | None) -> None:
    # 97.5% at each end; 400 repetitions have a standard error of 0.8%
    random, cov = np.random.default_rng(7), covariance(n, n)
    truth, factor = largest(cov, sigma), np.linalg.cholesky(cov)
    noise: dict[str, Any] = {"scale": 1.0} if sigma is None else {"sigma": sigma}
    above = below = 0
    for _ in range(400):
        seen = np.cov((random.normal(size=(rows, n)) @ factor.T).T)
        value = largest(seen, sigma)
        found = Worst(value, "leakage", 0, (), value, complete=True, method="closed form")
        interval = normal_interval(seen, np.ones(n), np.ones(n), rows, 0.95, found, **noise)
        above += truth <= interval.high
        below += truth >= interval.low
        assert interval.low <= value <= interval.high
    assert above / 400 >= 0.975 - 0.024
    assert below / 400 >= 0.975 - 0.024


def test_many_records_have_a_wider_safe_end() -> None:
    n = 19
    cov = np.full((n, n), 0.3) + 0.7 * np.eye(n)
    worst = correlated.normal(cov).worst(scale=1.0)
    wide = normal_interval(cov, np.ones(n), np.ones(n), 1000, 0.95, worst, scale=1.0)
    # β at K = ∅ is 1 + 18·0.3; its exact error is that of a simple regression
    e, z = regression(cov, np.ones(n), worst.target, ())
    error = 1.962 * np.sqrt(e @ cov @ e / (z @ cov @ z) / 998)
    assert wide.low < worst.leakage == pytest.approx(6.4)
    assert wide.high > worst.leakage + error
    psi = normal_interval(cov, np.ones(n), np.ones(n), 1000, 0.95, correlated.normal(cov).worst(sigma=1.0), sigma=1.0)
    assert psi.low < psi.high


@pytest.mark.parametrize(("shape", "rows"), [((2, 2), 50), ((2, 2, 2), 100)])
def test_coverage_for_tables(shape: tuple[int, ...], rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # the safe end holds in at least 97.5% less two standard errors (2.5% for 40 repetitions), sparse tables included
    monkeypatch.setattr(moments, "DRAWS", 80)
    random, held = np.random.default_rng(8), 0
    for k in range(40):
        if k % 8 == 0:
            joint = random.dirichlet(np.full(int(np.prod(shape)), 0.7)).reshape(shape)
            truth = correlated.table(joint).worst(scale=1.0).leakage
        counts = random.multinomial(rows, joint.ravel()).reshape(shape)
        value = correlated.table(counts / rows).worst(scale=1.0).leakage
        interval = drawn_interval(
            [counts], lambda laws: correlated.table(laws[0]).worst(scale=1.0).upper, value, 0.95, float(len(shape))
        )
        held += truth <= interval.high
    assert held / 40 >= 0.975 - 0.05


def test_draws_that_would_take_minutes_fall_back_on_group_privacy() -> None:
    interval = drawn_interval([np.array([3, 4])], lambda laws: 1.0, 1.0, 0.95, 5.0, seconds=10.0)
    assert (interval.low, interval.high) == (0.0, 5.0)
    assert "group privacy" in interval.method


# -- related people -----------------------------------------------------------------------------------------------


def households(random: np.random.Generator, groups: int, rho: float, tails: int | None = None) -> pd.DataFrame:
    size = random.integers(1, 6, size=groups)
    where = np.repeat(np.arange(groups), size)
    draw = random.normal if tails is None else lambda size: random.standard_t(tails, size=size)
    x = np.sqrt(rho) * draw(size=groups)[where] + np.sqrt(1 - rho) * draw(size=len(where))
    return pd.DataFrame({"household": where, "income": 1e7 + 100 * x})


def test_the_short_way_is_the_same() -> None:
    data = households(np.random.default_rng(12), 200, 0.3)
    short, full = without_engine(data["household"], data["income"]), group_relatedness(data, "income", by="household")
    # cells of groups nearly alike keep their mean and variance, but lie elsewhere: the upper end moves this little
    assert short.interval == pytest.approx(full.interval, rel=1e-4)
    assert short.rho == pytest.approx(full.rho, rel=1e-9)
    assert short.sizes == full.sizes


def test_related_equals_the_analysis_of_variance(engine: str) -> None:
    data = households(np.random.default_rng(9), 300, 0.4)
    data.loc[::11, "income"] = np.nan
    data["household"] = data["household"].astype("Int64")
    data.loc[5, "household"] = pd.NA
    found = group_relatedness(data, "income", by="household", engine=engine)
    usable = data.dropna()
    x, g = usable["income"].to_numpy() - 1e7, usable["household"].astype(int)
    mean = usable.assign(income=x).groupby(g)["income"].transform("mean").to_numpy()
    n, k = len(x), g.nunique()
    msb, msw = ((mean - x.mean()) ** 2).sum() / (k - 1), ((x - mean) ** 2).sum() / (n - k)
    n0 = (n - (g.value_counts() ** 2).sum() / n) / (k - 1)
    assert found.rho == pytest.approx((msb - msw) / (msb + (n0 - 1) * msw), rel=1e-9)
    assert found.variance == pytest.approx(msw + (msb - msw) / n0, rel=1e-9)
    assert dict(found.sizes) == g.value_counts().value_counts().sort_index().to_dict()
    assert (found.rows, found.missing, found.groups) == (n, len(data) - n, k)
    assert found.mean == pytest.approx(usable["income"].mean(), rel=1e-14)


def test_related_model_is_equicorrelated() -> None:
    found = group_relatedness(households(np.random.default_rng(11), 500, 0.5), "income", by="household")
    worst = found.model(size=7).worst(scale=1.0)
    assert worst.leakage == pytest.approx(1 + 6 * found.rho)
    assert found.model(size=7, rho=-0.5).worst(scale=1.0).leakage == pytest.approx(1.0)
    assert found.model(size=4, rho=1.0).worst(scale=1.0).leakage == pytest.approx(4.0, rel=1e-6)


def test_related_sentences() -> None:
    with pytest.raises(InputError, match="by is 'g': it has one group"):
        group_relatedness({"g": [1, 1], "x": [1.0, 2.0]}, "x", by="g")
    with pytest.raises(InputError, match="by is 'g': it has no group with two members"):
        group_relatedness({"g": [1, 2], "x": [1.0, 2.0]}, "x", by="g")
    with pytest.raises(InputError, match="columns has 'x', which is the same in every row"):
        group_relatedness({"g": [1, 1, 2, 2], "x": [0.1] * 4}, "x", by="g")
    with pytest.raises(InputError, match="by is 'x', which is also the column"):
        group_relatedness({"g": [1, 1], "x": [1.0, 2.0]}, "x", by="x")
    with pytest.raises(InputError, match="no row of the table has a usable number in 'x' and a group in 'g'"):
        group_relatedness(pd.DataFrame({"g": [1, 2], "x": [np.nan, np.nan]}), "x", by="g")
    alike = group_relatedness({"g": [1, 1, 2, 2], "x": [1.0, 1.0, 2.0, 2.0]}, "x", by="g")
    assert (alike.rho, alike.interval) == (1.0, (1.0, 1.0))
