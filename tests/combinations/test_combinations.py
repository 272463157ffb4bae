"""A part of the judge of laws, the same cases every time: ``python -m scripts.judge laws`` draws more, and new ones."""

from __future__ import annotations

import random
from typing import get_type_hints

import pytest
from tests.combinations.builders import BUILDERS
from tests.combinations.combinators import COMBINATORS, parameters
from tests.combinations.judge import ENUMERATED, case_of, judge
from tests.combinations.neighbours import KINDS
from tests.combinations.relations import ARGUMENTS

import epsilens as el
from epsilens.catalogue.mechanisms import ANY_CLAIM, CLAIMS, MECHANISMS
from epsilens.catalogue.readings import READINGS

SEED = "1"
#: Builders that compose by quadrature in a tenth of a second and more: one case of each combinator is asked of one.
SLOW = (
    "dpsgd", "shuffled", "top_k", "repeat_and_select", "from_zcdp", "from_rdp", "from_gdp", "exponential", "skellam",
    "mixture", "compose", "banded",
)  # fmt: skip
COMPOSED = ("two of three", "best of runs", "orders", "batches")
#: Readings that search the whole curve.
WHOLE = ("mu", "psi", "auc", "fbeta", "chernoff")
#: Not experiments by themselves: their results hold one.
HOLD_ONE = {"vector", "tampering", "worst_pair", "above"}


def test_every_builder_and_every_reading_is_judged() -> None:
    assert {*READINGS, "tradeoff"} == {*ARGUMENTS}
    named = {entry.builder.rpartition(":")[2] for entry in (*MECHANISMS.values(), *CLAIMS.values(), ANY_CLAIM)}
    public = {
        name
        for space in (el, el.mechanisms, el.attacks)
        for name in space.__all__
        if callable(made := getattr(space, name))
        and not isinstance(made, type)
        and get_type_hints(made).get("return") is el.Experiment
    }
    assert (named | public | HOLD_ONE) <= {*BUILDERS}
    assert set(ARGUMENTS["precision"][0]) | set(ARGUMENTS["precision"][2]) == {"fpr", "recall", "prior"}


@pytest.mark.parametrize("combinator", COMBINATORS)
def test_identities_and_orders_hold(combinator: str) -> None:
    rng = random.Random(f"{SEED}:{combinator}")
    builders = parameters(combinator)
    slow = [name for name in builders if name.split(",")[0] in SLOW]
    quick = [name for name in builders if name not in slow]
    if combinator == "with another":  # which may be slow
        quick = rng.sample(quick, len(quick) // 4)
    asked = quick + rng.sample(slow, min(1, len(slow)))
    costly = combinator in ("repeat", "with another", "a schedule split")
    readings = [name for name in ARGUMENTS if not (costly and name in WHOLE)]
    found = [judge(case_of(SEED, name, combinator, rng.choice(readings))) for name in asked]
    assert [wrong for one in found for wrong in one.wrong] == []
    assert sum(one.judged for one in found) > len(asked) / 2


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_below_what_some_neighbours_have(kind: str) -> None:
    turns = 1 if kind in COMPOSED else 2
    found = [judge(case_of(f"{SEED}:{turn}", kind, ENUMERATED, name)) for name in ARGUMENTS for turn in range(turns)]
    assert [wrong for one in found for wrong in one.wrong] == []
    assert sum(one.judged for one in found) >= len(ARGUMENTS) - 2
