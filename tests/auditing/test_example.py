"""``examples/canaries.py``: an Opacus loop audited in one run."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from epsilens.auditing.result import Verdict

_EXAMPLE = Path(__file__).parents[2] / "examples" / "canaries.py"


def test_one_training_keeps_its_own_claim_and_not_that_of_more_noise() -> None:
    pytest.importorskip("opacus")
    main = runpy.run_path(str(_EXAMPLE))["main"]
    kept = main(300)
    assert kept.verdict is not Verdict.VIOLATION
    assert kept.epsilon_lo < kept.claimed["epsilon"]
    assert main(300, sigma=1.0, claimed=40.0).verdict is Verdict.VIOLATION
