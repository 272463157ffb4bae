"""A short run of the fuzzer, what it calls a failure, and what it once found."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scripts import demo
from scripts.fuzz.__main__ import main
from scripts.fuzz.watched import Tried, holds_nan, watched

import epsilens as el
from epsilens import notions
from epsilens.auditing.external import OutcomeLog
from epsilens.cli.explain import is_folder
from epsilens.data.tables.resources import bytes_of


@pytest.mark.parametrize(("kind", "inputs"), [("functions", 120), ("plans", 150), ("commands", 60)])
def test_a_short_run_finds_nothing(kind: str, inputs: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--kind", kind, "--inputs", str(inputs), "--seed", "20261116"]) == 0, capsys.readouterr().out
    assert f"{kind}: " in capsys.readouterr().out


def _spin() -> None:
    while True:
        math.sqrt(2.0)


@pytest.mark.parametrize(
    ("call", "failures"),
    [
        (lambda: 1.0, 0),
        (lambda: el.laplace(epsilon=-1), 0),
        (lambda: 1 / 0, 1),
        (lambda: [0.0, math.nan], 1),
        (lambda: {"a": np.array([math.nan])}, 1),
        (_spin, 1),
    ],
)
def test_what_is_a_failure(call: Any, failures: int) -> None:
    tried = Tried("functions", 7)
    watched(tried, 3, "x", call, 0.2)
    assert (tried.inputs, len(tried.failures)) == (1, failures)
    assert all("--seed 7 --only 3" in line for lines in tried.failures.values() for line in lines)
    assert not holds_nan("nan")


@pytest.mark.parametrize(
    "call",
    [
        lambda: notions.sure(1, 1.0),  # type: ignore[arg-type]
        lambda: notions.uniform("x"),  # type: ignore[arg-type]
        lambda: notions.product(0.5),  # type: ignore[arg-type]
        lambda: notions.dependent("x", 0.5, size=1),  # type: ignore[arg-type]
        lambda: notions.membership([], 0.5, events=3),  # type: ignore[arg-type]
        lambda: notions.diameter(1.0),  # type: ignore[arg-type]
        lambda: el.claim(epsilon=1.0, delta=1e-6, xi=np.array(["a"])),  # type: ignore[arg-type]
        lambda: el.claim(rho=object()),  # type: ignore[arg-type]
        lambda: el.laplace(epsilon=1.0).bracket(np.array(["a", "b"])),  # type: ignore[arg-type]
        lambda: el.laplace(epsilon=1.0).to_text(width=None),  # type: ignore[arg-type]
        lambda: el.laplace(epsilon=1.0).to_text(width=-5),
        lambda: el.mechanisms.tree(leaves=4, sigma=1.0, neighbours=pd.DataFrame({"a": [1]})),
        lambda: el.laplace(epsilon=1.0, neighbours="x" * 100_000),
        lambda: el.attacks.chernoff_bound([1.0, 2.0], [0.1, 0.2, 0.3]),
        lambda: el.use_memory(spill="1" * 5000),
        lambda: el.attacks.differencing(epsilon=[0.1, 1.0, 3.0], gap=[0.1, 0.5]),
        lambda: el.mechanisms.count_mean_sketch(epsilon=1.0, hadamard=np.array([[]])),  # type: ignore[arg-type]
        lambda: el.attacks.worst_pair([0, 1], channel=np.eye(2), arguments=2),  # type: ignore[arg-type]
    ],
)
def test_the_wrong_kind_of_value_is_refused_in_one_line(call: Any) -> None:
    with pytest.raises(el.InputError) as refused:
        call()
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) <= 2_000


def test_what_a_ledger_is_given(tmp_path: Any) -> None:
    ledger = el.Ledger(str(tmp_path / "ledger.db"))
    noise = el.laplace(epsilon=1.0)
    for call in (
        lambda: ledger.keyed(2),  # type: ignore[arg-type]
        lambda: ledger.check(head=1),  # type: ignore[arg-type]
        lambda: ledger.reserve("people", noise, charge=3),  # type: ignore[arg-type]
        lambda: ledger.add("people", 0.5),  # type: ignore[arg-type]
    ):
        with pytest.raises(el.InputError, match=r"is an int|is a float"):
            call()
    assert ledger.add("people", noise, title=np.array([1.0, 2.0])).body["title"] == "[1. 2.]"  # type: ignore[arg-type]


def test_the_smallest_shares_and_the_largest_sizes_are_numbers() -> None:
    # A bit that is set shows with probability 3/4, no other ever does: a guess is needed where both bits stay dark.
    assert el.mechanisms.rappor(f=5e-324, p=5e-324).success() == pytest.approx(1 - 0.25**2 / 2, abs=1e-9)
    assert bytes_of("1" * 5000) == 10**18


def test_three_answers_that_are_nearly_certain() -> None:
    # With ε = 700 the shuffler hides nothing but whose answer is whose: two people, one of them known.
    assert el.mechanisms.shuffled(epsilon=700.0, n=2, answers=3).success() == pytest.approx(1.0, abs=1e-9)


def test_an_order_whose_square_is_no_double() -> None:
    # a·μ²/2, with μ = 1e-100 and a = 1e200
    assert el.gaussian(psi=1e-100).renyi(1e200) == pytest.approx(0.5, rel=1e-12)
    assert el.mechanisms.from_gdp(mu=5e-324).renyi(1e300) == 0.0


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "\ud800", "nosuch/x"])
def test_names_that_no_file_can_have(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("id,age\n1,20\n2,30\n", encoding="utf-8")
    plan = {"data": {"table": "people.csv", "person": "id"}, "queries": [{"count": True}], "mechanism": {"epsilon": 1}}
    for call in (
        lambda: el.release(plan, output=f"{name}.csv", ledger="ledger.db", account="all"),
        lambda: el.laplace(epsilon=1.0).chart("roc").save(f"{name}.svg"),
        lambda: el.init("people.csv").save(f"{name}.yaml"),
        lambda: OutcomeLog(f"{name}.json", {}),
    ):
        with pytest.raises(el.InputError) as refused:
            call()
        assert len(str(refused.value)) < 300
    assert not Path("ledger.db").exists()  # nothing was spent on it
    assert demo.main([f"{name.partition('/')[0]}\0"]) == 2
    assert not is_folder(f"{name}.csv")


def test_the_least_threshold_above_nothing() -> None:
    drawn = el.mechanisms.matrix(C=np.eye(3), sigma=1.0, rate=1e-6)
    low, high = drawn.bracket("delta", epsilon=5e-324)
    # Three answers, each moved with probability q = 1e-6: between one of them alone, q·(2Φ(½) − 1), and thrice that.
    assert 3.829e-7 < low <= high < 3 * 3.83e-7


def test_a_distribution_of_too_many_points_is_refused_before_it_is_made() -> None:
    pytest.importorskip("dp_accounting")
    for count, interval in ((100, 1e-6), (100_000, 1e-4)):
        with pytest.raises(el.InputError, match=r"interval is .* points, so give a larger one"):
            el.bridges.to_pld(el.gaussian(psi=0.2).repeat(count), interval=interval)
    with pytest.raises(el.InputError, match=r"interval is 1e-06: .* points, so give a larger one"):
        el.bridges.to_pld(el.dpsgd(sigma=1.0, rate=0.01, steps=10), interval=1e-6)
