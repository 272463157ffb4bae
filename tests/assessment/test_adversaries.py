"""What adversaries know, of a person and of relatives, and what it does to their risks."""

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

SITES = [1, 2, 3, 4, 5, 6]


def plan(
    adversary: dict[str, Any], queries: list[dict[str, Any]] | None = None, mechanism: dict[str, Any] | None = None
) -> dict[str, Any]:
    return {
        "data": {"table": "epsilens:rand-hie", "person": "person", "max_rows": 5, "secret": "mental_visits > 0"},
        "queries": queries or [{"count": "mental_visits > 0"}],
        "mechanism": mechanism or {"noise": "laplace", "epsilon": 1.0},
        "adversary": adversary,
        "limits": {"posterior": 0.5} if mechanism is None else {"success": 0.9},
    }


def risk(found: Assessment, key: str) -> AdversaryRisk:
    return next(r for r in found.risks if r.key == key)


def test_one_of_n_meets_the_bound_of_lee_and_clifton() -> None:
    found = risk(assess(plan({"among": 120})), "identification")
    assert found.baseline == pytest.approx(1 / 120, rel=1e-14)
    assert found.planned == pytest.approx(1 / (1 + 119 * math.exp(-1.0)), rel=1e-12)
    assert found.largest == pytest.approx(math.log(119 * 0.5 / 0.5), rel=1e-9)


@pytest.mark.parametrize(
    ("query", "moves"),
    [
        ({"count": "mental_visits > 0", "by": "site", "groups": SITES}, [1.0, 1.0]),  # one cell loses, another gains
        ({"sum": "visits", "bounds": [-50, 100], "where": "mental_visits > 0"}, [1.5]),
        ({"sum": "visits", "bounds": [20, 100], "where": "mental_visits > 0"}, [1.0]),
        ({"average": "income", "bounds": [-5, 5], "where": "mental_visits > 0"}, [1.0]),  # 2mh of half the ε
    ],
)
def test_exchanging_two_people_moves_the_answers_this_far(query: dict[str, Any], moves: list[float]) -> None:
    # The likeliest answer of one world, by brute force over a grid, for worlds that differ from it by `moves`.
    n, epsilon = 7, 0.8
    mechanism = {"noise": "laplace", "epsilon": epsilon}
    found = risk(assess({**plan({"among": n}, [query], mechanism), "limits": {"posterior": 0.9}}), "identification")
    grid = np.arange(-12.0, 12.001, 0.5)
    axes = np.meshgrid(*([grid] * len(moves)))
    here = np.exp(-epsilon * sum(np.abs(x) for x in axes))
    there = np.exp(-epsilon * sum(np.abs(x - m) for x, m in zip(axes, moves, strict=True)))
    assert found.planned == pytest.approx(float(np.max(here / (here + (n - 1) * there))), rel=1e-12)


def test_normal_noise_bounds_no_belief_so_naming_the_person_is_read() -> None:
    mechanism = {"noise": "gaussian", "epsilon": 1.0, "delta": 1e-5}
    found = risk(
        assess(plan({"among": 50}, [{"histogram": "site", "groups": SITES}], mechanism)), "identification-guess"
    )
    psi = math.sqrt(2) * psi_for_delta(1.0, 1e-5)
    assert found.planned == pytest.approx(norm.cdf(norm.ppf(1 / 50) + psi), rel=1e-10)


@pytest.mark.parametrize(
    ("knowledge", "prior"),
    [
        ({"rho_p": 0.2}, 1 / 1.8),
        ({"rho_p": 0.2, "positive": "less likely"}, 0.8 / 1.8),
        ({"rho_p": 0.2, "rho_c": 0.1, "rho_t": 0.1}, 1 / (1.8 * 0.81)),
        ({"table": {"smoker": [0.6, 0.4], "other": [0.9, 0.1]}, "known": "smoker"}, 0.4),
    ],
)
def test_what_is_known_moves_the_prior_only(knowledge: dict[str, Any], prior: float) -> None:
    found = risk(assess({**plan({"knowledge": knowledge}), "limits": {"posterior": 0.95}}), "informed")
    assert found.baseline == pytest.approx(prior, rel=1e-12)
    assert found.planned == pytest.approx(prior * math.e / (prior * math.e + 1 - prior), rel=1e-12)
    normal = {"noise": "gaussian", "epsilon": 1.0, "delta": 1e-5}
    guess = risk(assess(plan({"knowledge": knowledge}, mechanism=normal)), "informed-guess")
    psi, odds = psi_for_delta(1.0, 1e-5), math.log((1 - prior) / prior)
    right = prior * norm.cdf(psi / 2 - odds / psi) + (1 - prior) * norm.cdf(psi / 2 + odds / psi)
    assert guess.planned == pytest.approx(right, rel=1e-10)


@pytest.mark.parametrize(
    ("adversary", "says"),
    [
        ({"among": 1}, "adversary.among is 1"),
        ({"knowledge": {}}, "give either the coefficients"),
        ({"knowledge": {"rho_p": 1.5}}, "rho_p is 1.5"),
        ({"knowledge": {"rho_p": 0.75, "rho_c": 0.5}}, "lower rho_c below 0.2"),
        ({"knowledge": {"table": {"a": [0.5, 0.5]}}}, "table and known belong together"),
        ({"knowledge": {"table": {"a": [0.5, 0.5]}, "known": "b"}}, "give one of 'a'"),
        ({"knowledge": {"table": {"a": [0.0, 0.0]}, "known": "a"}}, "contradicts itself"),
        ({"knowledge": {"table": {"a": [0.5, 0.6]}, "known": "a"}}, "sum"),
        ({"knowledge": {"table": {"a": [0.2, 0.3, 0.5]}, "known": "a"}}, "two numbers"),
        ({"knowledge": {"rho_q": 0.1}}, "there is no adversary.knowledge.rho_q"),
    ],
)
def test_contradictory_knowledge_is_one_sentence(adversary: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says.replace("[", r"\[").replace(".", r"\.")) as told:
        read_release(plan(adversary))
    assert "\n" not in str(told.value)


def test_thirty_counts_are_put_together_below_the_sum_of_their_losses() -> None:
    release = plan({}, [{"count": f"visits > {i}"} for i in range(30)])
    release["data"]["quasi_identifiers"] = ["site", "female"]
    found = risk(assess({**release, "limits": {"success": 0.55}}), "membership")
    assert 0.5 < found.planned < 0.6  # thirty equal shares of ε = 1; the sum alone would allow 0.73
    # The central limit of thirty losses ±1/30: ψ ≈ √30/30, an approximation to three digits here
    assert found.planned == pytest.approx(norm.cdf(math.sqrt(30) / 30 / 2), abs=2e-3)
    assert "bracket" in found.how


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


def plan_related(adversary: dict[str, Any], related: str | None = "home", noise: str = "laplace") -> dict[str, Any]:
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
    found = assess(plan_related({"correlation": "from data"}), table=people)
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
    (relation,) = assess(plan_related({"correlation": "from data"}), table=people).relations
    assert 1 <= relation.factor < 1.5


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_a_stated_matrix(noise: str) -> None:
    # reference sheet, C(a): the worst adversary knows nobody and sees the answer move twice as far
    found = assess(plan_related({"correlation": FOUR}, related=None, noise=noise), table=families())
    assert found.relations[0].factor == pytest.approx(2.0, rel=1e-12)
    assert found.relations[0].by_known[0] == pytest.approx(2.0, rel=1e-12)
    expected = 1 - 0.5 * math.exp(-1.0) if noise == "laplace" else norm.cdf(psi_for_delta(1.0, 1e-5))
    assert correlated(found).planned == pytest.approx(expected, rel=1e-10)


def test_the_rows_of_one_person_where_nothing_says_who_is_related() -> None:
    release = plan_related({"correlation": "from data"}, related=None)
    release["data"] |= {"table": "epsilens:rand-hie", "person": "person", "max_rows": 5}
    release["queries"] = [{"sum": "visits", "bounds": [0, 77]}, {"count": "visits > 0"}]
    found = assess(release)
    (relation,) = found.relations  # a count counts a person once: their rows do not matter
    assert (relation.query, relation.unit, relation.others) == (0, 0.2, 4)


def test_what_cannot_be_is_one_sentence() -> None:
    with pytest.raises(InputError, match=r"needs|without data\.related"):
        assess(
            {**plan_related({"correlation": "from data"}, related=None), "data": {"table": "people"}}, table=families()
        )
    with pytest.raises(InputError, match="not positive definite"):
        read_release(plan_related({"correlation": [[1, 2], [2, 1]]}))
    with pytest.raises(InputError, match="give none, from data, or a matrix"):
        read_release(plan_related({"correlation": "perhaps"}))
    with pytest.raises(InputError, match=r"data\.related"):
        assess(plan_related({"correlation": "from data"}, related="street"), table=families())


def test_what_false_records_could_hide() -> None:
    # half of the tests at 5% miss what lies at the threshold: b·log 10, or σ·Φ⁻¹(0.95)
    laplace, normal = (assess(plan_related({}, noise=n), table=families()) for n in ("laplace", "gaussian"))
    shown = laplace.to_dict()["queries"][0]["planned"]["hidden"]
    assert shown == pytest.approx(100 * math.log(10), rel=1e-12)
    sigma = 100 / psi_for_delta(1.0, 1e-5)
    assert normal.queries[0].planned.hidden == pytest.approx(sigma * norm.ppf(0.95), rel=1e-10)
    assert "false records that together move" in str(laplace).replace("\n", " ")
    noise = np.random.default_rng(3).laplace(0, 100, 1_000_000)
    threshold = np.quantile(noise, 0.95)
    assert np.mean(noise + shown > threshold) == pytest.approx(0.5, abs=0.003)
