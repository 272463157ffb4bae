"""Certificates: what is written, what is refused, and that an independent program finds what they claim to be true."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.judges.certificates import verdict

import epsilens as el
from epsilens.certificate import CERTIFIED, certifiable
from epsilens.cli.app import app
from epsilens.errors import WriteError
from epsilens.experiment import Experiment

m = el.mechanisms
#: One of each mechanism that the checker knows, and how many unlike releases it is.
KNOWN: dict[str, tuple[Callable[[], Experiment], int]] = {
    "laplace": (lambda: el.laplace(epsilon=1.0), 1),
    "laplace scale": (lambda: el.laplace(scale=3.0, sensitivity=2.0, shift=1.0), 1),
    "gaussian": (lambda: el.gaussian(sigma=3.0), 1),
    "geometric": (lambda: m.geometric(epsilon=1.0, sensitivity=3), 1),
    "discrete gaussian": (lambda: m.discrete_gaussian(sigma=2.0, sensitivity=2), 1),
    "randomized response": (lambda: m.randomized_response(epsilon=1.0, k=4), 1),
    "finite": (lambda: m.finite([0.1, 0.2, 0.7], [0.2, 0.3, 0.5]), 1),
    "matrix": (lambda: m.matrix([1.0, 0.5, 0.25], 2.0), 1),
    "tree": (lambda: m.tree(8, 4.0), 1),
    "group": (lambda: el.group(el.laplace(epsilon=0.25), 3), 1),
    "group of geometric": (lambda: el.group(m.geometric(epsilon=0.25), 3), 1),
    "sampled laplace": (lambda: el.subsample(el.laplace(epsilon=1.0), 0.1), 1),
    "group of samples": (lambda: el.group(el.subsample(el.gaussian(psi=1.0), 0.1), 2), 1),
    "training": (lambda: el.dpsgd(sigma=1.0, rate=0.01, steps=1000), 1),
    "schedule": (lambda: el.dpsgd(rate=0.01, schedule={"sigma": [2.0, 1.0], "steps": [900, 100]}), 2),
    "people": (lambda: el.dpsgd(sigma=1.0, rate=0.01, steps=1000, people=2), 1),
    "group of people": (lambda: el.group(el.dpsgd(sigma=1.0, rate=0.01, steps=1000, people=2), 2), 1),
    "composition": (lambda: el.compose(el.laplace(epsilon=0.1).repeat(20), el.gaussian(psi=0.5).repeat(3)), 2),
    "reversed": (lambda: el.subsample(el.gaussian(psi=1.0), 0.1).reverse(), 1),
}
#: What no pair of laws is known of to the checker.
UNKNOWN: dict[str, Callable[[], Experiment]] = {
    "shuffled": lambda: el.dpsgd(sigma=1.0, n=1000, batch=10, epochs=1, batches="shuffled"),
    "fixed": lambda: el.dpsgd(sigma=1.0, n=1000, batch=10, epochs=1, batches="fixed"),
    "replaced training": lambda: el.dpsgd(sigma=1.0, rate=0.01, steps=10, neighbours="replace"),
    "replaced sample": lambda: el.subsample(m.randomized_response(epsilon=1.0), 0.1, neighbours="replace"),
    "many people in a sample": lambda: el.group(el.dpsgd(sigma=1.0, rate=1e-4, steps=10, people=30), 2),
    "claim": lambda: m.from_gdp(1.0),
    "pure": lambda: m.pure(epsilon=1.0),
    "group of sampled laplace": lambda: el.group(el.subsample(el.laplace(epsilon=1.0), 0.1), 2),
    "group of many releases": lambda: el.group(el.laplace(epsilon=1.0).repeat(3), 2),
    "stretched": lambda: el.laplace(epsilon=1.0, stretch=2.0),
    "sampled composition with a claim": lambda: el.compose(el.gaussian(psi=1.0), m.from_gdp(1.0)),
    "mixed orders": lambda: el.compose(el.laplace(epsilon=1.0), el.gaussian(psi=1.0).reverse()),
    "lists that do not sum to 1 as decimals": lambda: m.finite([1 / 3, 1 / 3, 1 / 3], [0.2, 0.3, 0.5]),
    "correlated": lambda: el.attacks.differencing(epsilon=1.0),
}
READINGS: list[tuple[str, dict[str, float]]] = [
    ("success", {}), ("advantage", {}), ("delta", {"epsilon": 0.3}), ("epsilon", {"delta": 1e-3}),
    ("tradeoff", {"fpr": 0.05}),
]  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
def test_a_certificate_holds_the_bracket_and_nothing_else_of_the_experiment(name: str) -> None:
    build, unlike = KNOWN[name]
    e = build()
    assert certifiable(e)
    for reading, given in READINGS:
        made = e.certificate(reading, **given)
        assert (made.lower, made.upper) == tuple(map(float, e.bracket(reading, **given)))
        assert len(made.releases) == unlike
        assert made.to_dict() == json.loads(made.to_json())
        assert repr(made.lower) in repr(made)
        assert repr(made.upper) in made.sentence


@pytest.mark.always(6)
@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize(("reading", "given"), READINGS, ids=[name for name, _ in READINGS])
def test_an_independent_program_finds_no_claim_false(name: str, reading: str, given: dict[str, float]) -> None:
    made = KNOWN[name][0]().certificate(reading, **given)
    assert verdict(made.to_dict()) in ("certified", "open")


@pytest.mark.always
@pytest.mark.parametrize("name", ["laplace", "training", "composition"])
@pytest.mark.parametrize("past", [1e-6])
def test_a_claim_moved_past_the_truth_is_never_certified(name: str, past: float) -> None:
    made = KNOWN[name][0]().certificate("delta", epsilon=0.3)
    for end in ("lower", "upper"):
        away = 1 + past if end == "lower" else 1 - past
        moved = made.upper * away if end == "lower" else made.lower * away
        ends = {"lower": repr(0.0), "upper": repr(1.0)} | {end: repr(moved)}
        assert verdict({**made.to_dict(), **ends}) in ("refuted", "open")


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_nobody_else_can_check_is_refused_with_the_reason(name: str) -> None:
    e = UNKNOWN[name]()
    assert not certifiable(e)
    with pytest.raises(el.InputError, match=r"no certificate is made of|some of these releases are reversed"):
        e.certificate("success")


@pytest.mark.parametrize(
    ("reading", "given", "what"),
    [
        ("auc", {}, "no certificate is made of 'auc'"),
        ("foo", {}, "there is no reading 'foo'"),
        ("epsilon", {}, "epsilon is infinite here"),
        ("epsilon", {"prior": 0.5}, "it takes delta alone"),
        ("success", {"prior": 0.3}, "prior 0.5"),
        ("delta", {"epsilon": float("nan")}, "epsilon"),
        ("delta", {"epsilon": [1.0, 2.0]}, "epsilon"),
        ("delta", {}, "epsilon"),
        ("tradeoff", {}, "fpr"),
        ("tradeoff", {"fpr": 0.0}, "fpr is 0 or 1"),
        ("tradeoff", {"fpr": 1.2}, "fpr is 1.2"),
        (["epsilon"], {}, "there is no reading"),
    ],
)
def test_a_question_that_no_certificate_answers_is_one_sentence(
    reading: Any, given: dict[str, float], what: str
) -> None:
    with pytest.raises(el.InputError, match=what):
        el.gaussian(psi=1.0).certificate(reading, **given)


@pytest.mark.parametrize(
    "build",
    [
        lambda: el.laplace(epsilon=1e-12),
        lambda: el.gaussian(sigma=1e15),
        lambda: m.randomized_response(epsilon=1, k=2**40),
    ],
)
def test_a_number_that_the_checker_does_not_read_is_refused(build: Callable[[], Experiment]) -> None:
    with pytest.raises(el.InputError, match="outside of 1e-12 to 1e9"):
        build().certificate("success")


def test_many_experiments_and_many_unlike_releases_have_none() -> None:
    with pytest.raises(el.InputError, match="arrays"):
        el.laplace(epsilon=[1.0, 2.0]).certificate("success")
    many: Experiment = el.compose(*(el.gaussian(sigma=20.0 + i) for i in range(65)))
    with pytest.raises(el.InputError, match="65 unlike releases"):
        many.certificate("success")


def test_a_folder_that_is_not_there_is_said_before_anything_is_lost(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="cannot be written"):
        el.laplace(epsilon=1.0).certificate("success").save(tmp_path / "no" / "certificate.json")


def test_every_reading_that_is_certified_is_asked_for_here() -> None:
    assert {name for name, _ in READINGS} == set(CERTIFIED)


def test_the_command_writes_what_the_method_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "certificate.json"
    line = f"certify dpsgd --sigma 1 --rate 0.01 --steps 100 --delta 1e-5 --output {path}"
    app(line.split(), standalone_mode=False)
    expected = el.dpsgd(sigma=1.0, rate=0.01, steps=100).certificate("epsilon", delta=1e-5)
    assert path.read_text("utf-8") == expected.to_json()
    app(["certify", "laplace", "--epsilon", "1"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["reading"] == "success"


def test_a_ledger_keeps_the_certificate_of_each_entry_it_can_be_made_of(tmp_path: Path) -> None:
    ledger = el.Ledger(tmp_path / "ledger.db")
    ledger.add("patients", el.laplace(epsilon=0.5))
    ledger.add("patients", m.from_gdp(0.1))
    first, second = ledger.account("patients").releases
    assert first.to_dict()["certificate"] == el.laplace(epsilon=0.5).certificate("success").to_dict()
    assert second.certificate is None
    assert "1 of 2 releases" in ledger.account("patients").to_text()
