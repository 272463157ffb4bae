"""Bugs planted in our own release are found, and the release without them is not flagged."""

from __future__ import annotations

import pytest
from tests.auditing.planted import BUGS, Bug, halved

from epsilens.auditing.audit import audit_source
from epsilens.auditing.result import Verdict
from epsilens.plan.file import read_release
from epsilens.publish.noise import Disagreement, drawings_of

pytest.importorskip("opendp")

#: The release without these bugs is run again.
QUICK = [bug for bug in BUGS if bug.sheet < 500]
MOST = 15_000


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_found(bug: Bug) -> None:
    """Within a few times the mean of the sheet: a single audit may be unlucky."""
    source = bug.source()
    with bug.planted():
        found = audit_source(source, claim=bug.claim, runs=min(12 * bug.sheet, MOST))
    assert found.refuted


@pytest.mark.parametrize("bug", QUICK, ids=lambda bug: bug.name)
def test_the_release_without_it_is_not_flagged(bug: Bug) -> None:
    found = audit_source(bug.source(), claim=bug.claim, runs=150, confidence=1 - 1e-6)
    assert found.verdict is not Verdict.VIOLATION


def test_all_eight_are_there() -> None:
    assert len({bug.plant for bug in BUGS}) >= 8


def test_noise_of_another_scale_is_refused_before_it_is_drawn() -> None:
    """OpenDP's account of halved noise is 2, where the plan's is 1."""
    bug = next(bug for bug in BUGS if bug.plant is halved)
    with bug.planted(), pytest.raises(Disagreement, match="OpenDP accounts 2 for query 1, the plan 1"):
        drawings_of(read_release(bug.plan))
