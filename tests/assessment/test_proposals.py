"""Better bounds and limits: found where the planned ones lose more than the noise, and as good as they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from epsilens.assessment.accuracy import (
    PlanParameter,
    Proposal,
    QueryAccuracy,
    accuracy_of,
    candidates_of,
    losing_choices,
    proposals,
    spread_of,
)
from epsilens.data.tables.table import open_table
from epsilens.plan.answers import answers_of
from epsilens.plan.model import Release


@pytest.fixture(scope="module")
def stays() -> pd.DataFrame:
    """2,000 people with one to twelve stays of one to thirty days, in three wards."""
    rng = np.random.default_rng(11)
    who = np.repeat(np.arange(2000), rng.integers(1, 13, 2000))
    days = np.clip(rng.gamma(2.0, 2.0, who.size), 1, 30).round(1)
    return pd.DataFrame({"who": who, "ward": rng.choice(list("abc"), who.size), "days": days})


def plan_of(*queries: dict[str, Any], **data: Any) -> Release:
    mechanism = {"noise": "laplace", "epsilon": 4.0}
    return Release.model_validate({"data": {"table": "t", "person": "who", **data}, "queries": queries,
                                   "mechanism": mechanism})  # fmt: skip


def read(opened: Any, plan: Release) -> tuple[QueryAccuracy, ...]:
    return tuple(accuracy_of(plan, i, a, None) for i, a in enumerate(answers_of(opened, plan)))


def propose(table: Any, plan: Release, engine: Any = None) -> tuple[Proposal, ...]:
    with open_table(table, engine) as opened:
        found = read(opened, plan)
        return proposals(plan, found, candidates_of(opened, plan, losing_choices(plan, found)))


def again(table: Any, plan: Release, proposal: Proposal) -> float:
    """The error of the plan with the proposal taken, read from the start."""
    if proposal.parameter is PlanParameter.BOUNDS:
        query = plan.queries[proposal.query].model_copy(update={"bounds": proposal.value})
        queries = (*plan.queries[: proposal.query], query, *plan.queries[proposal.query + 1 :])
        taken = plan.model_copy(update={"queries": queries})
    else:
        taken = plan.model_copy(
            update={"data": plan.data.model_copy(update={proposal.parameter.value: proposal.value})}
        )
    with open_table(table) as opened:
        return read(opened, taken)[proposal.query].relative(plan.epsilon, taken)


def test_bounds_that_cut_off_most_are_widened(stays: pd.DataFrame) -> None:
    """Defect 1.10: values that average 4 in bounds [0, 2]."""
    plan = plan_of({"average": "days", "bounds": [0, 2]}, {"count": True}, max_rows=12)
    (found,) = propose(stays, plan)
    assert (found.query, found.parameter, found.looks_at_data) == (0, PlanParameter.BOUNDS, True)
    assert isinstance(found.value, tuple)
    assert found.value[1] > 6
    assert found.error_now > 0.4 > 0.1 > found.error_then
    assert again(stays, plan, found) == pytest.approx(found.error_then, rel=1e-9)


def test_limits_that_drop_most_are_widened(stays: pd.DataFrame) -> None:
    """One row a person keeps a sixth of the days; one group a person half of the people in each ward."""
    plan = plan_of({"sum": "days", "bounds": [0, 30]}, {"count": True, "by": "ward", "groups": ["a", "b", "c"]})
    found = {p.parameter: p for p in propose(stays, plan)}
    assert set(found) == {PlanParameter.MAX_ROWS, PlanParameter.MAX_GROUPS}
    assert found[PlanParameter.MAX_GROUPS].value == 3
    for proposal in found.values():
        assert proposal.error_then < 0.9 * proposal.error_now
        assert again(stays, plan, proposal) == pytest.approx(proposal.error_then, rel=1e-9)


def test_nothing_is_proposed_where_noise_is_all(stays: pd.DataFrame) -> None:
    plan = plan_of({"sum": "days", "bounds": [0, 30]}, {"count": True}, max_rows=12)
    with open_table(stays) as opened:
        assert losing_choices(plan, read(opened, plan)) == ()
    assert propose(stays, plan) == ()


def test_the_spread_is_that_of_the_table(stays: pd.DataFrame) -> None:
    """Against pandas: quantiles of values, rows and groups of one person."""
    plan = plan_of({"sum": "days", "bounds": [0, 2], "where": "ward <> 'c'", "by": "ward"})
    some = stays[stays.ward != "c"]
    with open_table(stays) as opened:
        values, rows, groups = (spread_of(opened, plan, 0, p) for p in PlanParameter)
    assert values.high == pytest.approx(some.days.quantile([1, 0.999, 0.99, 0.975, 0.95, 0.9]).tolist())
    each = some.groupby("who").size()
    levels = [0.5, 0.9, 0.99, 1]
    assert rows.each == tuple(int(np.quantile(each, p, method="inverted_cdf")) for p in levels)
    assert groups.each[-1] == 2


@pytest.mark.spark
def test_both_engines_see_the_same_spread(stays: pd.DataFrame) -> None:
    """And so try the same candidates, whose answers are compared where answers are."""
    plan = plan_of({"sum": "days", "bounds": [0, 4], "by": "ward"})
    with open_table(stays) as duckdb, open_table(stays, "spark") as spark:
        for parameter in PlanParameter:
            assert spread_of(duckdb, plan, 0, parameter) == spread_of(spark, plan, 0, parameter)
