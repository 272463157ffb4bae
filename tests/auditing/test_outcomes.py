"""Whatever a mechanism answers becomes columns of numbers and words."""

from __future__ import annotations

import math

from epsilens.auditing.outcomes import Reader


def test_whole_numbers_beyond_doubles_are_outcomes() -> None:
    read = Reader().read([10**400, -(10**400), 3])
    assert read.values[:, 0].tolist() == [math.inf, -math.inf, 3.0]
