"""Every experiment there is: written down and built again the same, or refused in a sentence."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from tests.specimens import EXPERIMENTS

import epsilens as el
from epsilens.catalogue.mechanisms import MECHANISMS
from epsilens.ledger.entry import text_of
from epsilens.ledger.parts import rebuilt, written


@pytest.mark.parametrize("build", EXPERIMENTS.values(), ids=EXPERIMENTS)
def test_written_and_built_again(build: Callable[[], el.Experiment]) -> None:
    made = build()
    try:
        parts = written(made)
    except el.InputError as refused:
        said = str(refused)
        assert said.count("\n") == 0
        assert "claim" in said or "give one" in said
        return
    again = rebuilt(json.loads(text_of(parts)))
    assert again == made
    assert again.worlds == made.worlds
    assert again.success() == made.success()


def test_most_mechanisms_can_be_written() -> None:
    kept = set()
    for build in EXPERIMENTS.values():
        made = build()
        try:
            kept |= {part["builder"] for part in written(made)}
        except el.InputError:
            continue
    assert kept >= {
        "laplace",
        "gaussian",
        "geometric",
        "discrete_gaussian",
        "approximate",
        "pure",
        "dpsgd",
        "zcdp",
        "gdp",
    }
    assert len(kept & set(MECHANISMS)) >= 18


def test_of_a_claim_nothing_may_be_lost() -> None:
    claim = el.from_zcdp(0.1, 0.2)
    assert rebuilt(written(claim)) == claim
    assert rebuilt(written(el.from_zcdp(0.1, neighbours="replace"))).worlds.replaces
    with pytest.raises(el.InputError, match="cannot be written down"):
        written(el.from_rdp([1.5, 2.0], [0.05, 0.1]))


@pytest.mark.parametrize(
    "parts",
    [
        [{"builder": "os.system", "parameters": {"command": "true"}, "times": 1}],
        [{"builder": "__import__", "parameters": {"name": "os"}, "times": 1}],
    ],
)
def test_only_the_catalogue_is_called(parts: list[dict[str, object]]) -> None:
    with pytest.raises(el.InputError, match="does not know"):
        rebuilt(parts)
