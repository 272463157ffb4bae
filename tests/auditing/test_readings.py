"""One test gives the verdict and every bound: a bound above what is claimed and a violation are one event."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

import epsilens as el
from epsilens.auditing.audit import audit
from epsilens.auditing.betting import History, claim_broken, least_unrefuted
from epsilens.auditing.canaries import audit_guesses
from epsilens.auditing.result import Audit, Audits, PairAudit, claim_of

LEVEL = 0.1
LEAK = 0.05


def grid(x: Any) -> Any:
    return np.round(np.asarray(x) * 2**20) / 2**20


def laplace(rng: np.random.Generator, scale: float = 1.0) -> Any:
    return lambda d, n: d + grid(rng.laplace(0, scale, n))


def normal(rng: np.random.Generator, scale: float = 1.0) -> Any:
    return lambda d, n: d + grid(rng.normal(0, scale, n))


def leaking(rng: np.random.Generator, scale: float = 1.0) -> Any:
    return lambda d, n: np.where(rng.random(n) < LEAK, 1000 + 1000 * d, laplace(rng, scale)(d, n))


#: Claims of every form, with a mechanism that attains them at scale 1.
CLAIMS: dict[str, tuple[Any, Any]] = {
    "pure": (1.0, laplace),
    "experiment": (el.laplace(epsilon=1.0), laplace),
    "(ε, δ)": ((1.0, LEAK), leaking),
    "GDP": ("mu=1", normal),
    "zCDP": ("rho=0.5", normal),
}


def above(found: Audit) -> list[str]:
    """Which bounds are above what is claimed."""
    lows = {
        "epsilon": found.epsilon_lo, "mu": found.mu_lo, "success": found.success_lo, "advantage": found.advantage_lo,
    }  # fmt: skip
    made = [name for name, low in lows.items() if low is not None and low > found.claimed.get(name, math.inf)]
    made += ["band"] if any(low > own for _, own, low in found.band) else []
    return made + (["excess"] if found.excess_lo > 0 else [])


def printed(found: Audit) -> bool:
    """Whether a bound that the sentence or a table tells is above what they say is claimed, in the digits printed."""
    if more := re.search(r"above what is claimed, by at least (\S+)", found.sentence):
        return float(more[1]) > 0
    told = re.search(r"at least ([\d.e+-]+).*, ([\d.e+-]+) is claimed", found.sentence)
    assert told is not None, found.sentence
    return float(told[1]) > float(told[2])


def coherent(found: Audit) -> bool:
    return bool(above(found)) == found.refuted == printed(found)


@pytest.mark.parametrize("sequential", [True, False], ids=["sequential", "fixed"])
@pytest.mark.parametrize("name", CLAIMS)
def test_a_bound_above_the_claim_and_a_violation_are_one(name: str, sequential: bool) -> None:
    """Where the claim is attained (with these seeds they differed), and where the noise is too small."""
    claim, mechanism = CLAIMS[name]
    for seed in (13,) if sequential else (3, 12):
        for scale in (1.0, 0.5):
            found = audit(
                mechanism(np.random.default_rng(seed), scale), 0, 1, claim=claim, batch=True, seed=seed,
                runs=120 if sequential else 300, sequential=sequential, confidence=1 - LEVEL,
            )  # fmt: skip
            assert coherent(found), (seed, scale, found.sentence)


def test_going_on_after_a_refutation_keeps_them_one() -> None:
    found = audit(laplace(np.random.default_rng(1), 0.5), 0, 1, claim=1.0, batch=True, runs=200, stop=False, seed=1)
    assert found.refuted
    assert coherent(found)
    assert found.epsilon_lo == 1.0 + found.excess_lo


@pytest.mark.parametrize("claim", [1.0, el.laplace(epsilon=1.0), (1.0, 1e-3), "mu=1", "rho=0.5"], ids=repr)
def test_one_run_of_canaries_says_the_same_twice(claim: Any) -> None:
    """Every number of right guesses of a few."""
    for v in range(4, 9):
        assert coherent(audit_guesses(20, 8, v, claim=claim)), v


def test_the_worst_of_several_pairs_tells_its_bound() -> None:
    """A violation on one of three pairs, each at a third of the level: the sentence has the bound that shows it."""
    each = [
        audit(laplace(np.random.default_rng(i), scale), 0, 1, claim=1.0, batch=True, runs=150, seed=i, confidence=0.98)
        for i, scale in enumerate((1.0, 0.3, 1.0))
    ]
    found = Audits("three", claim_of(1.0), 0.94, tuple(PairAudit(str(i), one) for i, one in enumerate(each)))
    assert found.refuted == any(one.excess_lo > 0 for one in each)
    assert found.worst.audit.excess_lo == max(one.excess_lo for one in each) > 0
    assert coherent(found.worst.audit)


def test_a_violation_by_a_hair_is_seen_in_the_digits() -> None:
    """“At least 1, 1 is claimed” is no refutation: 1,000 of 1,265 right, and a claim just below the bound they give."""
    low = audit_guesses(2000, 1265, 1000, claim=0.5).epsilon_lo
    for claim in (low * (1 - 1e-6), low * (1 + 1e-6)):
        found = audit_guesses(2000, 1265, 1000, claim=claim)
        assert coherent(found)
        assert found.refuted == (claim < low)


def test_a_pure_claim_is_broken_only_with_every_smaller_one() -> None:
    """The bound on ε is the least that is kept; a game that has refuted a pure claim has one above it."""
    rng = np.random.default_rng(5)
    found = audit(laplace(rng, 0.4), 0, 1, claim=1.0, batch=True, runs=400, seed=2)
    assert found.refuted
    assert found.epsilon_lo > 1.0
    assert not claim_broken(History(), claim_of(1.0))
    assert least_unrefuted(lambda e: e < 1.2 and not 0.4 < e < 0.5, 1.0) < 0.5
