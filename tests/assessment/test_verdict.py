"""One verdict: the object, the JSON, the report, the page, the record and the exit code agree with pencil and paper.

A count of n rows under Laplace noise: the membership test is right for 1 − ½e^{−ε/2}, so a limit s on it allows ε up to
−2·log(2(1 − s)); the 95% error is log(20)/ε, so a limit e on its share needs ε of at least log(20)/(n·e).
"""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer
from tests.judges.plans.laws import Pair

from epsilens.assessment.assess import Assessment, assess
from epsilens.assessment.verdict import Standing
from epsilens.cli.console import run
from epsilens.cli.plans import assess as assess_command
from epsilens.show.assessment.phrases import contradiction, headline, status

N = 400
RISKS = {"none": None, "loose": 0.9, "tight": 0.55, "below the floor": 0.4, "at the floor": 0.5}
ERRORS = {"none": None, "loose": 0.5, "needs ε 0.25": 0.03, "needs ε 1.5": 0.005, "out of reach": 1e-6}
EPSILONS = (0.1, 1.0)

app = typer.Typer()
app.command()(assess_command)


def plan(epsilon: float, risk: float | None, error: float | None, **more: Any) -> dict[str, Any]:
    limits = {"success": risk, "error": error, **more}
    return {
        "data": {"table": "t.parquet"},
        "queries": [{"count": True}],
        "mechanism": {"epsilon": epsilon},
        "limits": {name: at for name, at in limits.items() if at is not None},
    }


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return pd.DataFrame({"x": range(N)})


def expected(epsilon: float, risk: float | None, error: float | None) -> tuple[Standing, set[str], bool]:
    """Standing, broken limits, and whether the two limits exclude each other."""
    most = 700.0 if risk is None else 0.0 if risk <= 0.5 else -2 * math.log(2 * (1 - risk))
    least = 0.0 if error is None else math.log(20) / (N * error)
    broken = {"success"} if epsilon > most else set()
    broken |= {"error"} if epsilon < least else set()
    apart = least > most
    if "success" in broken:
        return Standing.OVER if most else Standing.IMPOSSIBLE, broken, apart
    if "error" in broken:
        return Standing.CONTRADICTORY if apart else Standing.INACCURATE, broken, apart
    return Standing.OPEN if risk is error is None else Standing.WITHIN, broken, apart


@pytest.mark.parametrize(("risk", "error"), list(product(RISKS, ERRORS)))
def test_every_combination_of_limits_agrees_everywhere(table: pd.DataFrame, risk: str, error: str) -> None:
    for epsilon in EPSILONS:
        a = assess(plan(epsilon, RISKS[risk], ERRORS[error]), table=table)
        standing, broken, apart = expected(epsilon, RISKS[risk], ERRORS[error])
        decided = a.verdict
        assert decided.standing is standing
        assert set(decided.broken) == broken
        assert {*decided.kept, *decided.broken} == set(a.release.limits)
        assert not {*decided.kept} & {*decided.broken}
        assert decided.apart == apart
        check_that_all_repeat_it(a, bool(broken))


def check_that_all_repeat_it(a: Assessment, exceeded: bool) -> None:
    plain = a.to_dict()
    assert a.exceeded is a.verdict.exceeded is plain["exceeded"] is a.verdict.exceeded is exceeded
    assert plain["verdict"] == a.verdict.standing
    assert plain["recommended"]["possible"] == a.possible == (a.verdict.standing is not Standing.IMPOSSIBLE)
    assert plain["binding"] == a.binding == a.verdict.binding
    second = a.to_text().splitlines()[1]
    assert second == ("▲ " if exceeded else "") + status(a)
    assert (f"**▲ {status(a)}.**" in a.to_markdown()) == exceeded
    assert (f"▲ {status(a)}" in a._repr_html_()) == exceeded
    assert headline(a) in a.to_registry()
    assert a.verdict.over_risk == any(r.over for r in a.risks)
    assert ("No ε meets both limits" in contradiction(a)) == (
        a.verdict.apart and a.possible and math.isfinite(a.at_least or 0.0)
    )


@pytest.mark.parametrize(
    ("epsilon", "risk", "error"),
    [
        (1.0, "loose", "none"),
        (1.0, "tight", "none"),
        (1.0, "below the floor", "none"),
        (0.1, "loose", "needs ε 0.25"),
        (0.1, "tight", "needs ε 1.5"),
        (0.1, "none", "out of reach"),
        (1.0, "none", "none"),
    ],
)
def test_the_exit_code_repeats_it(
    table: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str], epsilon: float, risk: str, error: str
) -> None:
    table.to_parquet(tmp_path / "t.parquet")
    release = plan(epsilon, RISKS[risk], ERRORS[error])
    release["data"] = {"table": str(tmp_path / "t.parquet")}
    file = tmp_path / "release.yaml"
    file.write_text(json.dumps(release), encoding="utf-8")
    code = run(typer.main.get_command(app), (str(file), "--format", "json"))
    plain = json.loads(capsys.readouterr().out)
    a = assess(file)
    hopeless = a.verdict.standing in ("impossible", "contradictory")
    assert code == (0 if not a.exceeded else 3 if hopeless else 4)
    assert ("▲ " + status(a) in a.to_html()) == a.exceeded
    assert plain["exceeded"] is a.exceeded
    assert plain["verdict"] == a.verdict.standing == expected(epsilon, RISKS[risk], ERRORS[error])[0]


def test_contradictory_limits_exceed_on_the_object_too(table: pd.DataFrame) -> None:
    a = assess(plan(0.1, 0.55, 0.001), table=table)
    assert a.verdict.standing is Standing.CONTRADICTORY
    assert a.exceeded
    assert a.to_dict()["exceeded"]
    assert a.verdict.broken == ("error",)
    assert a.verdict.kept == ("success",)


def test_the_numbers_of_the_verdict(table: pd.DataFrame) -> None:
    a = assess(plan(1.0, 0.55, 0.03), table=table)
    assert a.verdict.largest == pytest.approx(-2 * math.log(0.9), rel=1e-12)
    assert a.verdict.recommended == a.verdict.alternative == 0.21  # 0.2107, rounded down
    assert a.verdict.at_least == pytest.approx(math.log(20) / (0.03 * N), rel=1e-9)
    assert (a.verdict.hardest, a.verdict.neediest) == (0, 0)
    assert a.leading.key == a.verdict.leading == a.verdict.binding == "membership"
    assert a.hardest is a.queries[0]


def test_words_decide_nothing(table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    import epsilens.assessment.adversaries as home

    before = assess(plan(1.0, 0.55, 0.03, kl=0.01), table=table)
    mute = tuple(replace(a, name="x", question=lambda s: "x") for a in home.ADVERSARIES)
    monkeypatch.setattr(home, "ADVERSARIES", mute)
    after = assess(plan(1.0, 0.55, 0.03, kl=0.01), table=table)
    assert after.verdict == before.verdict
    assert [(r.key, r.planned, r.largest) for r in after.risks] == [(r.key, r.planned, r.largest) for r in before.risks]


# -- a fixed threshold lets more names pass the more noise there is -------------------------------------------------


def _membership(epsilon: float) -> float:
    """A histogram with threshold 2 beside a count, half of ε each: alone in a group, or a number in both."""
    name = math.exp(-epsilon / 2) / 2
    return max(Pair((epsilon / 2,), False, 0.0, name).success(), Pair((epsilon / 2,) * 2, False).success())


def _belief(epsilon: float) -> float:
    return 1 / (1 + math.exp(-epsilon / 2))


def _fixed(epsilon: float, success: float, posterior: float, **more: Any) -> Assessment:
    table = pd.DataFrame({"g": list("abcd") * 75, "x": range(300)})
    release = {
        "data": {"table": "t", "secret": "x > 100"},
        "queries": [{"histogram": "g", "threshold": 2}, {"count": "x > 100"}],
        "mechanism": {"epsilon": epsilon},
        "limits": {"success": success, "posterior": posterior, **more},
    }
    return assess(release, table=table)


@pytest.mark.parametrize(
    ("epsilon", "success", "posterior"),
    [
        (2.0, 0.70, 0.52),
        (0.16, 0.70, 0.52),
        (3.0, 0.70, 0.672),
        (3.0, 0.6962, 0.6717),
        (0.05, 0.72, 0.7),
        (1.4, 0.70, 0.8),
    ],
)
def test_every_limit_is_read_again_at_the_recommended_epsilon(epsilon: float, success: float, posterior: float) -> None:
    """Defects 1.5: the set of ε where both hold, by hand on a fine grid; it may be narrow, or empty."""
    a = _fixed(epsilon, success, posterior)
    both = [e for e in np.geomspace(0.01, 10, 2_001) if _membership(e) <= success and _belief(e) <= posterior]
    assert a.verdict.possible == bool(both)
    if not both:
        assert (a.verdict.standing, headline(a)) == (Standing.IMPOSSIBLE, "No ε meets all limits")
        return
    assert a.recommended
    assert a.verdict.largest
    assert _membership(a.recommended) <= success
    assert _belief(a.recommended) <= posterior
    assert a.verdict.largest >= max(both) * (1 - 1e-12)
    assert a.recommended == pytest.approx(max(both), rel=0.05)
    assert all(r.recommended is not None and (r.limit is None or r.recommended <= r.limit) for r in a.risks)
    assert a.verdict.blind == a.recommended
    way = "Lower" if a.recommended < epsilon else "Raise"
    assert a.verdict.standing is Standing.WITHIN or headline(a) == f"{way} ε from {epsilon:g} to {a.recommended:.10g}"


def test_rounding_stays_where_the_limits_hold() -> None:
    """With a limit just above the least membership, two digits would leave the set."""
    lowest = min(np.geomspace(0.3, 1.7, 2_001), key=_membership)
    a = _fixed(3.0, _membership(lowest) + 1e-7, 0.99)
    assert a.recommended
    assert _membership(a.recommended) <= _membership(lowest) + 1e-7
    assert len(repr(a.recommended)) > 4
    assert repr(a.recommended) in headline(a)


def test_what_the_error_needs_is_read_against_the_risk(table: pd.DataFrame) -> None:
    a = assess(plan(0.1, 0.9, 0.03), table=table)
    assert a.verdict.standing is Standing.INACCURATE
    assert a.verdict.instead == a.verdict.enough == 0.25
    needs = math.log(20) / (0.03 * N)
    close = 1 - math.exp(-needs * 1.0001 / 2) / 2  # just above what the error needs: 0.25 would be over
    a = assess(plan(0.1, close, 0.03), table=table)
    assert a.verdict.standing is Standing.INACCURATE
    assert needs <= (a.verdict.instead or 0.0) <= needs * 1.0001
    assert all(r.needed is not None and (r.limit is None or r.needed <= r.limit) for r in a.risks)


def test_a_secret_that_no_answer_tells_removes_nobody(table: pd.DataFrame) -> None:
    """Defects 1.11: with its columns in no query, whoever asks for the record is still there, and so is their limit."""
    people = table.assign(y=1.0, z=0.0)
    release = plan(1.0, 0.55, None, posterior=0.6)
    release["queries"] = [{"sum": "y", "bounds": [-1, 1]}, {"count": "x > 100"}]
    plain = assess(release, table=people)
    named = assess({**release, "data": {"table": "t", "secret": "z > 0"}}, table=people)
    assert named.recommended == plain.recommended
    right = [Pair((e, e / 2), False).success() for e in (0.20, 0.21)]  # it moves the sum by 2ε/2, the count by ε/2
    assert named.recommended == 0.20
    assert right[0] <= 0.55 < right[1]
    assert {(r.reading, r.planned, r.largest) for r in named.risks} == {
        (r.reading, r.planned, r.largest) for r in plain.risks
    }
    assert {r.key for r in named.risks} == {"membership", "record", "record-belief", "reidentification"}
    assert headline(named) == headline(plain)
