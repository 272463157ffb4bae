"""Many trainings at once: what is drawn follows the law that is certified, on every device."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

from epsilens.auditing.audit import audit_source
from epsilens.auditing.result import Verdict
from epsilens.auditing.trainings import Trainings
from epsilens.errors import InputError

_SMALL = {"records": 60, "features": 8, "steps": 1, "rate": 0.5, "seed": 1}


def _devices() -> list[str]:
    try:
        import torch  # noqa: F401
    except ImportError:
        return ["numpy"]
    return ["numpy", "cpu"]


@pytest.mark.parametrize("device", _devices())
def test_one_step_is_the_sampled_gaussian(device: str) -> None:
    """The best cut of one step at rate ½ is at u = ½, whose advantage is ½(2Φ(½/σ) − 1)."""
    source = Trainings(**_SMALL, sigma=0.5, device=device)  # type: ignore[arg-type]
    bits = np.arange(20_000) % 2 == 0
    drawn = source.draw(bits)
    u = drawn[:, 1] * (0.5 * 60) / 0.5  # the weight is the step's noisy sum times the learning rate over qn
    above = u > 0.5
    wanted = 0.5 * (2 * float(ndtr(1.0)) - 1)
    assert above[bits].mean() - above[~bits].mean() == pytest.approx(wanted, abs=4 * math.sqrt(0.5 / 20_000))
    assert u[~bits].std() == pytest.approx(0.5, rel=0.03)
    low, high = source.claim.bracket("advantage")
    assert low - 1e-9 <= wanted <= high + 1e-9
    ratio = np.log(0.5 + 0.5 * np.exp((2 * u - 1) / (2 * 0.25)))
    assert np.allclose(drawn[:, 0], ratio, atol=1e-4)


@pytest.mark.parametrize("device", _devices())
def test_the_canary_is_always_clipped_and_a_training_nears_its_certificate(device: str) -> None:
    """Were the canary's gradient ever short of the clip, its mean would be below q·steps."""
    source = Trainings(records=60, features=8, steps=20, rate=0.2, sigma=1.0, seed=2, device=device)
    bits = np.arange(8000) % 2 == 0
    score, weight = source.draw(bits).T
    u = weight * (0.2 * 60) / 0.5
    assert u[bits].mean() == pytest.approx(4.0, abs=4 * math.sqrt((20 + 20 * 0.16) / 4000))
    assert u[~bits].mean() == pytest.approx(0.0, abs=4 * math.sqrt(20 / 4000))
    certified = float(source.claim.advantage())
    above = score > 0
    seen = above[bits].mean() - above[~bits].mean()
    assert certified - 0.06 < seen < certified + 4 * math.sqrt(0.5 / 8000)


def test_a_training_is_consistent_with_its_own_certificate_and_not_with_half_of_it() -> None:
    source = Trainings(records=60, features=8, steps=20, rate=0.2, sigma=0.7, seed=3)
    kept = audit_source(source, claim=source.claim, runs=6000, seed=1, sequential=False, confidence=0.999)
    assert kept.verdict is Verdict.CONSISTENT
    assert kept.advantage_lo is not None
    assert 0.8 * kept.claimed["advantage"] < kept.advantage_lo < kept.claimed["advantage"]
    less = Trainings(records=60, features=8, steps=20, rate=0.2, sigma=1.4).claim
    assert audit_source(source, claim=less, runs=6000, seed=1).verdict is Verdict.VIOLATION


def test_bad_settings_are_named() -> None:
    with pytest.raises(InputError, match="rate"):
        Trainings(rate=1.5)
    with pytest.raises(InputError, match="steps"):
        Trainings(steps=0)
    pytest.importorskip("torch")
    with pytest.raises(InputError, match="which torch does not have here"):
        Trainings(**_SMALL, device="nowhere").draw(np.array([True]))  # type: ignore[arg-type]
