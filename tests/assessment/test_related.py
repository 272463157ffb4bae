"""Correlated records and false records in an assessment, against pandas and closed forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from epsilens.assessment.assess import Assessment, assess
from epsilens.assessment.risks import AdversaryRisk
from epsilens.errors import InputError
from epsilens.laws.normal import psi_for_delta
from epsilens.plan.file import read_release

FOUR = [[1, 0.5, -0.3, 0.2], [0.5, 1, 0.1, 0.4], [-0.3, 0.1, 1, -0.2], [0.2, 0.4, -0.2, 1]]


def families(seed: int = 5) -> pd.DataFrame:
    """Households of one to four, whose members share half of their variance."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, 400)
    home = np.repeat(np.arange(400), sizes)
    value = 50 + 7 * rng.normal(size=400)[home] + 7 * rng.normal(size=home.size)
    return pd.DataFrame({"home": home, "who": np.arange(home.size), "value": value.clip(0, 100)})


def intraclass(frame: pd.DataFrame, value: str, by: str) -> float:
    """The one-way analysis of variance by hand."""
    groups = frame.groupby(by)[value]
    n, mean = groups.size().to_numpy(), groups.mean().to_numpy()
    total, g = n.sum(), len(n)
    between = (n * (mean - frame[value].mean()) ** 2).sum() / (g - 1)
    within = ((frame[value] - groups.transform("mean")) ** 2).sum() / (total - g)
    n0 = (total - (n**2).sum() / total) / (g - 1)
    return float((between - within) / (between + (n0 - 1) * within))


def plan(adversary: dict[str, Any], related: str | None = "home", noise: str = "laplace") -> dict[str, Any]:
    data: dict[str, Any] = {"table": "people", "person": "who"}
    if related:
        data["related"] = related
    mechanism: dict[str, Any] = {"noise": noise, "epsilon": 1.0}
    if noise == "gaussian":
        mechanism["delta"] = 1e-5
    return {
        "data": data,
        "queries": [{"sum": "value", "bounds": [0, 100]}],
        "mechanism": mechanism,
        "adversary": adversary,
        "limits": {"success": 0.6},
    }


def correlated(found: Assessment) -> AdversaryRisk:
    return next(r for r in found.risks if r.key == "correlated")


def test_families_from_data() -> None:
    people = families()
    found = assess(plan({"correlation": "from data"}), table=people)
    (relation,) = found.relations
    rho = intraclass(people, "value", "home")
    assert f"correlation of {rho:.2g}" in relation.because
    used = (relation.factor - 1) / 3  # 1 + (k − 1)ρ with households of up to four
    assert rho < used < rho + 0.2
    assert relation.by_known == pytest.approx([(1 + 3 * used) / (1 + k * used) for k in range(4)])
    risk = correlated(found)
    assert risk.planned == pytest.approx(1 - 0.5 * math.exp(-relation.factor / 2), rel=1e-12)
    assert risk.largest == pytest.approx(-2 * math.log(0.8) / relation.factor, rel=1e-9)
    assert found.binding == "correlated"
    assert "would have to fall from 1 to" in " ".join(str(found).split())


def test_families_that_are_not_alike_add_next_to_nothing() -> None:
    people = families()
    people["home"] = np.random.default_rng(1).permutation(people["home"].to_numpy())
    (relation,) = assess(plan({"correlation": "from data"}), table=people).relations
    assert 1 <= relation.factor < 1.5


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_a_stated_matrix(noise: str) -> None:
    # reference sheet, C(a): the worst adversary knows nobody and sees the answer move twice as far
    found = assess(plan({"correlation": FOUR}, related=None, noise=noise), table=families())
    assert found.relations[0].factor == pytest.approx(2.0, rel=1e-12)
    assert found.relations[0].by_known[0] == pytest.approx(2.0, rel=1e-12)
    expected = 1 - 0.5 * math.exp(-1.0) if noise == "laplace" else norm.cdf(psi_for_delta(1.0, 1e-5))
    assert correlated(found).planned == pytest.approx(expected, rel=1e-10)


def test_the_rows_of_one_person_where_nothing_says_who_is_related() -> None:
    release = plan({"correlation": "from data"}, related=None)
    release["data"] |= {"table": "epsilens:rand-hie", "person": "person", "max_rows": 5}
    release["queries"] = [{"sum": "visits", "bounds": [0, 77]}, {"count": "visits > 0"}]
    found = assess(release)
    (relation,) = found.relations  # a count counts a person once: their rows do not matter
    assert (relation.query, relation.unit, relation.others) == (0, 0.2, 4)


def test_what_cannot_be_is_one_sentence() -> None:
    with pytest.raises(InputError, match=r"needs|without data\.related"):
        assess({**plan({"correlation": "from data"}, related=None), "data": {"table": "people"}}, table=families())
    with pytest.raises(InputError, match="not positive definite"):
        read_release(plan({"correlation": [[1, 2], [2, 1]]}))
    with pytest.raises(InputError, match="give none, from data, or a matrix"):
        read_release(plan({"correlation": "perhaps"}))
    with pytest.raises(InputError, match=r"data\.related"):
        assess(plan({"correlation": "from data"}, related="street"), table=families())


def test_what_false_records_could_hide() -> None:
    # half of the tests at 5% miss what lies at the threshold: b·log 10, or σ·Φ⁻¹(0.95)
    laplace, normal = (assess(plan({}, noise=n), table=families()) for n in ("laplace", "gaussian"))
    shown = laplace.to_dict()["queries"][0]["planned"]["hidden"]
    assert shown == pytest.approx(100 * math.log(10), rel=1e-12)
    sigma = 100 / psi_for_delta(1.0, 1e-5)
    assert normal.queries[0].planned.hidden == pytest.approx(sigma * norm.ppf(0.95), rel=1e-10)
    assert "false records that together move" in str(laplace).replace("\n", " ")
    noise = np.random.default_rng(3).laplace(0, 100, 1_000_000)
    threshold = np.quantile(noise, 0.95)
    assert np.mean(noise + shown > threshold) == pytest.approx(0.5, abs=0.003)
