"""Related people against the exact law of what they publish: values that go together, clamped, summed, under noise."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any, cast

import numpy as np
import pytest
from scipy.stats import norm
from tests.references.brute.plans import make
from tests.references.brute.worlds import Question as Asked
from tests.references.brute.worlds import TooMany, worst_pairs

from epsilens.assessment.adversaries import ADVERSARIES, Setting
from epsilens.plan.file import read_release
from epsilens.plan.movement import CorrelationFactor, correlation_factors


def _setting(words: dict[str, Any], correlation: Any) -> Setting:
    plan = read_release({**words, "adversary": {"correlation": correlation}})
    stated = correlation_factors(
        plan, cast(Any, None), tuple(q.planned() for q in plan.queries)
    )  # stated: no table is looked at
    return Setting(plan, related=stated)


def _read(setting: Setting, key: str) -> float:
    adversary = next(a for a in ADVERSARIES if a.key == key)
    return adversary.facing(setting, setting.release.epsilon).read("success", {"prior": 0.5})


def _plan(queries: list[dict[str, Any]], epsilon: float = 1.0, **more: Any) -> dict[str, Any]:
    return {"data": {"table": "t", **more.pop("data", {})}, "queries": queries, "limits": {},
            "mechanism": {"epsilon": epsilon, **more}}  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_the_factor_by_conditional_covariances(seed: int) -> None:
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(4, 2))
    matrix = loadings @ loadings.T + np.diag(rng.uniform(0.2, 1, 4))
    matrix /= np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)))
    found = _setting(_plan([{"sum": "x", "bounds": [0, 1]}]), matrix.tolist()).related[0]
    for size in range(4):
        most = 0.0
        for known in itertools.combinations(range(4), size):
            rest = [i for i in range(4) if i not in known]
            inside = matrix[np.ix_(rest, rest)]
            if known:
                across = matrix[np.ix_(rest, known)]
                inside = inside - across @ np.linalg.inv(matrix[np.ix_(known, known)]) @ across.T
            most = max(most, *(np.abs(inside[i] / inside[i, i]).sum() for i in range(len(rest))))
        assert found.by_known[size] == pytest.approx(min(most, 4 - size), rel=1e-9)
    assert found.factor == max(found.by_known)


def _told_apart(rho: float, ends: tuple[float, float], middle: float, spread: float, sums: int, scale: float) -> float:
    """How well two values of one person are told by so many Laplace sums of both people's values in [0, 1], by a grid.

    The other's value is normal given the first one's, and clamped; it is the same in all sums.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    line = np.linspace(-14 * scale, 2 + 14 * scale, 361)
    axes = np.meshgrid(*[line] * sums, indexing="ij")
    law = []
    for value in ends:
        other = middle + rho * (value - middle) + spread * math.sqrt(1 - rho * rho) * nodes
        total = value + np.clip(other, 0.0, 1.0)
        density = sum(
            w * np.exp(-sum(abs(y - t) for y in axes) / scale)
            for w, t in zip(weights / weights.sum(), total, strict=True)
        )
        law.append(density / density.sum())
    return 0.5 + 0.25 * float(np.abs(law[0] - law[1]).sum())


@pytest.mark.parametrize("sums", [1, 2])
@pytest.mark.parametrize(("rho", "spread"), [(0.9, 0.1), (0.9, 0.6), (-0.8, 0.2), (0.3, 0.3)])
def test_never_below_the_law_of_two_related_people(rho: float, spread: float, sums: int) -> None:
    setting = _setting(_plan([{"sum": "x", "bounds": [0, 1]}] * sums, 1.5), [[1, rho], [rho, 1]])
    found = _read(setting, "correlated")
    truth = max(
        _told_apart(rho, ends, middle, spread, sums, sums / 1.5)
        for ends in ((0.0, 1.0), (0.2, 0.9))
        for middle in (0.5, 0.2)
    )
    assert truth <= found + 1e-4  # of the grid
    if rho == 0.9 and spread == 0.1:
        assert found - truth < 0.01
        alone = 0.5 + 0.5 * (1 - math.exp(-0.75 * 1.9 / sums))
        assert sums == 1 or truth > alone + 0.01  # defects 1.4: one answer is not a bound


def test_normal_noise_and_an_average() -> None:
    """Both numbers of an average move with the value's total; three sums under normal noise by the length of it."""
    three = _setting(
        _plan([{"sum": "x", "bounds": [0, 100]}] * 3, 3.0, noise="gaussian", delta=1e-5), [[1, 0.9], [0.9, 1]]
    )
    one = _setting(
        _plan([{"sum": "x", "bounds": [0, 100]}] * 3, 3.0, noise="gaussian", delta=1e-5), [[1, 0.0], [0.0, 1]]
    )
    assert norm.ppf(_read(three, "correlated")) == pytest.approx(1.9 * norm.ppf(_read(one, "correlated")), rel=1e-9)
    assert _read(one, "correlated") == pytest.approx(_read(one, "guess"), rel=1e-12)
    mean = _setting(_plan([{"average": "x", "bounds": [0, 4]}]), [[1, 0.9], [0.9, 1]])
    assert _read(mean, "correlated") == pytest.approx(1 - math.exp(-1.9 / 2) / 2, rel=1e-9)  # 1.9 times (2mh, 0)


@pytest.mark.parametrize("number", [*range(12), 17, 23])
def test_never_below_a_guess_or_the_worst_pair_of_records(number: int) -> None:
    """Of random small plans, names and all: what related people add is added to what one person moves."""
    case = make(random.Random(number))
    setting = _setting(case.words(), [[1, 0.4], [0.4, 1]])
    found = _read(setting, "correlated")
    if setting.secret:
        assert found >= _read(setting, "guess") - 1e-12
    try:
        pairs = worst_pairs(case, Asked.MISSING)
    except TooMany:
        return
    assert found >= max((pair.success(0.5) for pair in pairs), default=0.5) - 1e-9


def test_what_is_counted_goes_together() -> None:
    """A rare flag that its bearer's relative always has: a correlation of .1, and both are told as one."""
    queries: list[dict[str, Any]] = [{"count": "x > 1"}, {"sum": "x", "bounds": [0, 1], "where": "x > 0.5"}]
    told = _setting(_plan(queries), [[1, 0.1], [0.1, 1]]).related
    assert [(r.factor, r.people) for r in told] == [(2.0, 2), (2.0, 2)]
    (apart,) = _setting(_plan([{"count": "x > 1"}]), [[1, 0.0], [0.0, 1]]).related
    assert (apart.factor, apart.people) == (1.0, 1)
    count = _setting(_plan([{"count": "x > 1"}]), [[1, 0.1], [0.1, 1]])
    assert _read(count, "correlated") == pytest.approx(1 - math.exp(-1) / 2, rel=1e-12)
    assert isinstance(count.related[0], CorrelationFactor)
