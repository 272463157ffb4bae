"""A few random brackets before the checker; the hundreds are for ``make judge``."""

from __future__ import annotations

import pytest
from tests.judges.certificates import judge_certificates


@pytest.mark.always
def test_no_claim_is_refuted_and_none_past_the_truth_certified() -> None:
    tally = judge_certificates("20261119", 20.0, most=5)
    assert tally.wrong == []
    assert tally.found["certified"] > 1
    assert tally.moved["refuted"] > 10
