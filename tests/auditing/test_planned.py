"""Our own release held against its own plan."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest

from epsilens.auditing.pipeline import ReleaseSource
from epsilens.auditing.planned import GROUPS, audit_plan, promised
from epsilens.auditing.result import Verdict
from epsilens.errors import InputError, LimitError
from epsilens.plan.file import read_release

pytest.importorskip("opendp")

TABLE = pa.table({"who": [1, 2], "site": ["a", "b"], "x": [1.0, 2.0]})
#: Noise is drawn anew in every test: a false alarm must be a wonder.
SURE = 1 - 1e-6
NAMES = ("at the bounds", "many rows", "alone in a group")
PLAN: dict[str, Any] = {
    "title": "Visits",
    "data": {"table": "t", "person": "who", "max_rows": 2},
    "queries": [{"count": True, "by": "site", "groups": ["a", "b", "c"]}, {"sum": "x", "bounds": [0, 8]}],
    "mechanism": {"epsilon": 2.0},
}


def test_the_claim_of_a_plan_with_names_has_their_delta() -> None:
    """Alone in a group, a person is named with p = ½·e^{−(τ−1)/b}, b = 1/ε; the noise adds nothing at ε."""
    plan = {"data": {"table": "t"}, "queries": [{"histogram": "site", "threshold": 10}], "mechanism": {"epsilon": 0.5}}
    assert promised(read_release(plan)).delta(0.5) == pytest.approx(0.5 * math.exp(-9 * 0.5), rel=1e-3)


def test_the_correct_release_is_not_flagged_and_everything_is_told() -> None:
    found = audit_plan(PLAN, table=TABLE, runs=150, confidence=SURE, pairs=NAMES)
    assert found.verdict is Verdict.CONSISTENT
    assert [one.pair for one in found.each] == list(NAMES)
    assert all(one.audit.confidence == pytest.approx(1 - 1e-6 / 3) for one in found.each)
    assert all(one.entire is not None and one.entire >= 2 and one.repeatable for one in found.each)
    told = found.to_dict()
    assert told["verdict"] == "CONSISTENT"
    assert [p["pair"] for p in told["pairs"]] == list(NAMES)
    text = " ".join(found.to_text().split())
    assert "No violation was found on 3 pairs of tables in 450 runs" in text
    assert "nothing entered a ledger" in text


def test_a_smaller_claim_is_refuted() -> None:
    """ε = 8 on one count, held against a claim of 1."""
    plan = {"data": {"table": "t"}, "queries": [{"count": True}], "mechanism": {"epsilon": 8.0}}
    found = audit_plan(plan, table=TABLE, claim="epsilon=1", runs=400, seed=1, pairs=("at the bounds", "exposed"))
    assert found.refuted
    assert 1 < found.worst.audit.epsilon_lo <= 8
    assert "The claim is broken on the pair" in found.sentence


def test_a_threshold_has_something_to_show() -> None:
    """With 19 others and a threshold of 20 the name appears with probability e⁻¹/2 without the person and ½ with them.

    So an attacker who goes by the name alone is right 65.8 times of 100.
    """
    plan = {
        "data": {"table": "t", "person": "who"}, "queries": [{"count": True, "by": "site", "threshold": 20}],
        "mechanism": {"epsilon": 1.0},
    }  # fmt: skip
    found = audit_plan(plan, table=TABLE, runs=1200, confidence=1 - 1e-4, pairs=("at the bounds",))
    assert found.verdict is Verdict.CONSISTENT
    assert 0 < found.worst.audit.epsilon_lo <= 1


def test_gaussian_noise_has_more_runs_and_is_consistent() -> None:
    """Noise of ψ = .2367 is guessed right 54.7 times of 100, a Laplace answer of ε = 1 62 times."""
    plan = {
        "data": {"table": "t", "person": "who"}, "queries": [{"sum": "x", "bounds": [0, 8]}],
        "mechanism": {"epsilon": 1.0, "delta": 1e-6, "noise": "gaussian"},
    }  # fmt: skip
    found = audit_plan(plan, table=TABLE, confidence=SURE, pairs=("at the bounds",))
    (one,) = found.each
    assert one.audit.runs == 6000
    assert one.entire is not None
    assert one.entire < 15
    assert found.verdict is Verdict.CONSISTENT
    assert one.audit.mu_lo is not None
    assert one.audit.mu_lo <= 0.2368


def test_many_groups_are_many_guesses() -> None:
    names = [f"g{i}" for i in range(500)]
    plan = {
        "data": {"table": "t"}, "queries": [{"count": True, "by": "site", "groups": names}],
        "mechanism": {"epsilon": 1.0},
    }  # fmt: skip
    found = audit_plan(plan, table=TABLE, runs=3000, confidence=SURE, pairs=(GROUPS,))
    (one,) = found.each
    assert one.pair == GROUPS
    assert one.audit.runs == 3000
    assert one.audit.guesses_a_call == 500
    assert found.verdict is Verdict.CONSISTENT
    assert 0.5 < one.audit.epsilon_lo <= 1


def test_pairs_are_named_as_they_are() -> None:
    with pytest.raises(InputError, match="pairs has 'nobody': give some of exposed, at the bounds"):
        audit_plan(PLAN, table=TABLE, pairs=("nobody",))
    with pytest.raises(InputError, match="pairs has none that applies"):
        audit_plan({**PLAN, "queries": [{"count": True}]}, table=TABLE, pairs=("alone in a group",))


def test_very_many_groups_are_narrowed_on_the_pairs_and_all_there_where_each_has_a_coin() -> None:
    names = [f"g{i}" for i in range(1000)]
    plan = {
        "data": {"table": "t"}, "queries": [{"count": True, "by": "site", "groups": names}],
        "mechanism": {"epsilon": 1.0},
    }  # fmt: skip
    found = audit_plan(plan, table=TABLE, runs=1000, confidence=SURE, pairs=("at the bounds", GROUPS))
    assert found.left == 900
    assert found.each[1].audit.guesses_a_call == 1000
    assert found.verdict is Verdict.CONSISTENT
    assert "900 of the listed groups are left out" in " ".join(found.to_text().split())


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"queries": [{"count": True, "by": "nosuch", "groups": ["a"]}]}, "(its columns are 'who', 'site', 'x')"),
        ({"queries": [{"sum": "y", "bounds": [0, 1]}]}, "'y', which is not a column of the table"),
        ({"data": {"table": "t", "person": "nobody"}}, "person has 'nobody', which is not a column"),
        ({"queries": [{"sum": "site", "bounds": [0, 1]}]}, "which is string: give a column of numbers"),
        ({"queries": [{"sum": "x", "bounds": [5, 0]}]}, "bounds are 5 and 0: give two finite numbers"),
        ({"queries": [{"sum": "x", "bounds": [0, 0]}]}, "bounds are 0 and 0: give two finite numbers"),
        ({"queries": [{"count": True, "by": "site"}]}, "list the groups, or add a threshold"),
        ({"mechanism": {"epsilon": 1, "split": "least error"}}, "its shares come from the data"),
        ({"mechanism": {"epsilon": float("inf")}}, "at most 700"),
    ],
)
def test_a_plan_that_cannot_be_released_is_one_sentence(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as told:
        audit_plan({**PLAN, **changed}, table=TABLE)
    assert words in str(told.value)
    assert not isinstance(told.value, LimitError)  # whose exit code is that of a violation


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({"mechanism": {"epsilon": 1e-12}}, Verdict.CONSISTENT),
        ({"queries": [{"count": True}], "mechanism": {"epsilon": 1e-290}}, Verdict.CONSISTENT),
        ({"mechanism": {"epsilon": 700}}, Verdict.INCONCLUSIVE),
        ({"mechanism": {"epsilon": 700, "delta": 1e-6, "noise": "gaussian"}}, Verdict.INCONCLUSIVE),
        ({"queries": [{"sum": "n", "bounds": [0, 1e100]}]}, Verdict.CONSISTENT),
        ({"data": {"table": "t", "person": "who", "max_rows": 10**9}}, Verdict.CONSISTENT),
    ],
)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_plans_at_the_ends_of_what_is_allowed(changed: dict[str, Any], verdict: Verdict) -> None:
    table = pa.table({"who": [1], "site": ["a"], "x": [1.0], "n": pa.array([1], "int8")})
    found = audit_plan({**PLAN, **changed}, table=table, runs=40, confidence=SURE, pairs=("at the bounds",))
    assert found.verdict is verdict or found.verdict is Verdict.INCONCLUSIVE
    assert found.worst.audit.claimed["epsilon"] <= 700
    assert found.worst.audit.claimed["epsilon"] > 0.8 * changed.get("mechanism", PLAN["mechanism"])["epsilon"]


def test_an_interrupt_keeps_the_pairs_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = ReleaseSource.draw

    def stopped(self: ReleaseSource, bits: Any) -> Any:
        if self.second.num_rows - self.first.num_rows > 2:  # the pair with many rows
            raise KeyboardInterrupt
        return draw(self, bits)

    monkeypatch.setattr(ReleaseSource, "draw", stopped)
    found = audit_plan(PLAN, table=TABLE, runs=30, pairs=NAMES)
    assert [one.pair for one in found.each] == ["at the bounds"]
    assert found.skipped == 2
    with pytest.raises(InputError, match="stopped before its first runs"):
        audit_plan(PLAN, table=TABLE, runs=30, pairs=("many rows",))
