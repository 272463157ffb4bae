"""Stated knowledge and identifiability as adversaries of an assessment, against numbers worked out by other means."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
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
