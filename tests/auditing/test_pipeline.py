"""A release as a source of outcomes: entire releases now and then, exact numbers in between, nothing entered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from epsilens.auditing.calls import Raised
from epsilens.auditing.pipeline import GroupsSource, ReleaseSource
from epsilens.plan.cells import cells
from epsilens.plan.file import read_release
from epsilens.publish import release as module

pytest.importorskip("opendp")

PLAN: dict[str, Any] = {
    "data": {"table": "t"},
    "queries": [{"name": "n", "count": True, "by": "site", "groups": ["a", "b"]}, {"average": "x", "bounds": [0, 10]}],
    "mechanism": {"epsilon": 1.0},
}
FIRST = pa.table({"site": ["a"] * 50, "x": [5.0] * 50})
SECOND = pa.table({"site": ["a"] * 50 + ["b"] * 1000, "x": [5.0] * 1050})


def bits(*each: int) -> Any:
    return np.array(each, dtype=bool)


def test_outcomes_are_what_is_published_on_the_table_of_the_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = ReleaseSource(read_release(PLAN), FIRST, SECOND, whole=4)
    out = source.draw(bits(0, 1, 0, 1, 1, 0, 0, 0, 0))
    assert [round(o["n b"] / 1000) for o in out] == [0, 1, 0, 1, 1, 0, 0, 0, 0]
    assert len({o["n a"] for o in out}) > 1
    assert {"n a", "n b", "average x bounds 0 10", "average x bounds 0 10, below"} <= set(out[0])
    # the first run of each table, then runs 5 and 9
    assert (source.runs, source.entire, source.repeatable) == (9, 4, True)
    assert list(tmp_path.iterdir()) == []


def test_a_long_audit_has_an_entire_release_each_time_the_runs_have_grown_by_half() -> None:
    """With one in two: before runs 0, 2, 4, 6, 9, 13, 19 and 28."""
    source = ReleaseSource(read_release(PLAN), FIRST, SECOND, whole=2)
    source.draw(bits(*[0] * 30))
    assert (source.runs, source.entire) == (30, 8)


def test_exact_numbers_that_differ_between_releases_make_every_run_an_entire_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = ReleaseSource(read_release(PLAN), FIRST, SECOND, whole=3)
    honest = cells

    def other(opened: Any, plan: Any, tell: Any = None) -> Any:
        made = honest(opened, plan, tell)
        made[0].numbers.update({k: tuple(n + source.entire for n in v) for k, v in made[0].numbers.items()})
        return made

    monkeypatch.setattr(module, "cells", other)
    source.draw(bits(0, 0, 0, 0, 0, 0))
    assert not source.repeatable
    assert source.entire == 4  # the first, the fourth, which differs, and all after it


def test_a_release_that_fails_is_an_outcome() -> None:
    broken = pa.table({"site": ["a"], "x": [float("inf")]})
    out = ReleaseSource(read_release(PLAN), FIRST, broken).draw(bits(0, 1))
    assert isinstance(out[0], dict)
    assert out[1] == Raised("InputError")


def test_one_release_is_many_guesses() -> None:
    """Noise of scale 1/50: every group's count says whether its person is there."""
    names = [f"g{i}" for i in range(40)]
    plan = {
        "data": {"table": "t"}, "queries": [{"count": True, "by": "site", "groups": names}],
        "mechanism": {"epsilon": 50.0},
    }  # fmt: skip
    source = GroupsSource(read_release(plan), pa.table({"site": ["a"]}))
    coins = np.random.default_rng(1).integers(0, 2, 80).astype(bool)
    assert source.width == 40
    assert np.array_equal(source.draw(coins) > 0.5, coins)
