"""A small share of the sweep, the same readings every time: ``python -m scripts.sweep`` draws more."""

from __future__ import annotations

import pytest
from tests.sweep.run import outcomes

#: Experiments of each kind.
SHARE = 3
#: Kinds whose readings take milliseconds.
QUICK = [
    "laplace", "gaussian", "stretched laplace", "geometric", "randomized response", "pure", "approximate", "finite",
    "exponential, scores", "staircase", "selection, any scores", "selections", "sparse vector", "skellam",
    "local reports", "rappor", "shuffled", "matrix", "claims", "responses", "sampled responses", "geometrics",
]  # fmt: skip
#: One experiment each of these is enough.
SLOWER = [
    "training",
    "training, replaced",
    "answers",
    "banded",
    "two answers",
    "two steps of training",
    "groups",
    "fixed batches",
    "truncated batches",
    "shuffled batches",
    "mixture",
]


@pytest.mark.parametrize("name", QUICK + SLOWER)
def test_every_reading_is_on_its_side_of_the_truth(name: str) -> None:
    found = [one for number in range(SHARE if name in QUICK else 1) for one in outcomes("ci", number, [name])]
    assert [f"{one.case}: {one.wrong}" for one in found if one.wrong] == []
    assert any(one.judged for one in found)
