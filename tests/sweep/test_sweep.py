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


@pytest.mark.parametrize("name", QUICK)
def test_every_reading_is_on_its_side_of_the_truth(name: str) -> None:
    found = [one for number in range(SHARE) for one in outcomes("ci", number, [name])]
    assert [f"{one.case}: {one.wrong}" for one in found if one.wrong] == []
    assert any(one.judged for one in found)
