"""The whole game on mechanisms whose truth is known."""

from __future__ import annotations

import math
import runpy
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import epsilens as el
from epsilens.auditing.audit import AuditProgress, audit, audit_source
from epsilens.auditing.result import Audit, AuditVerdict, FindingKind, StopReason


def grid(x: Any) -> Any:
    """On multiples of 2⁻²⁰, far above the last bits of floating point: noise that does not give itself away."""
    return np.round(np.asarray(x) * 2**20) / 2**20


def laplace(scale: float, seed: int = 1) -> Callable[[Any, int], Any]:
    rng = np.random.default_rng(seed)
    return lambda d, n: d + grid(rng.laplace(0, scale, n))


def normal(sigma: float, seed: int = 1) -> Callable[[Any, int], Any]:
    rng = np.random.default_rng(seed)
    return lambda d, n: d + grid(rng.normal(0, sigma, n))


def test_a_million_draws_of_correct_noise() -> None:
    began = time.perf_counter()
    found = audit(laplace(1.0), 0.0, 1.0, claim=1.0, batch=True, runs=10**6, seed=1)
    assert time.perf_counter() - began < 30  # a few seconds on a free machine
    assert found.verdict is AuditVerdict.CONSISTENT
    assert 0.98 < found.epsilon_lo <= 1.0
    assert found.success_lo is not None
    assert 0.69 < found.success_lo <= 1 - math.exp(-0.5) / 2
    assert found.advantage_lo == pytest.approx(2 * found.success_lo - 1)
    assert found.mu_lo is not None
    assert 0.98 < found.mu_lo <= 1.0301  # ψ of Laplace noise


@pytest.mark.always
def test_too_little_noise_is_found() -> None:
    found = audit(laplace(0.5), 0.0, 1.0, claim=1.0, batch=True, seed=1)
    assert found.verdict is AuditVerdict.VIOLATION
    assert found.stopped is StopReason.EVIDENCE
    assert 1.0 < found.epsilon_lo <= 2.0
    assert found.runs < 1000
    on = audit(laplace(0.5), 0.0, 1.0, claim=1.0, batch=True, stop=False, runs=50_000, seed=1)
    assert 1.9 < on.epsilon_lo <= 2.0


def test_a_trade_off_is_tested_where_epsilon_is_not() -> None:
    found = audit(normal(0.8), 0.0, 1.0, claim="mu=1", batch=True, seed=1)
    assert found.verdict is AuditVerdict.VIOLATION
    assert found.mu_lo is not None
    assert 1.0 < found.mu_lo <= 1.25
    kept = audit(normal(1.0), 0.0, 1.0, claim=el.gaussian(psi=1.0), batch=True, runs=50_000, seed=1)
    assert kept.verdict is AuditVerdict.CONSISTENT
    assert kept.mu_lo is not None
    assert 0.9 < kept.mu_lo <= 1.0
    for eps, claimed, low in kept.band:
        truth = float(el.gaussian(psi=1.0).delta(eps))
        assert low <= truth <= claimed + 1e-12


def test_a_fixed_number_of_runs() -> None:
    found = audit(laplace(1.0), 0.0, 1.0, claim=1.0, batch=True, runs=20_000, sequential=False, seed=2)
    assert found.verdict is AuditVerdict.CONSISTENT
    assert 0.85 < found.epsilon_lo <= 1.0
    assert found.largest_epsilon == pytest.approx(math.log(0.05 ** (1 / 14_000) / (1 - 0.05 ** (1 / 14_000))))
    broken = audit(normal(0.8), 0.0, 1.0, claim="mu=1", batch=True, runs=20_000, sequential=False, seed=2)
    assert broken.verdict is AuditVerdict.VIOLATION
    assert broken.mu_lo is not None
    assert 1.0 < broken.mu_lo <= 1.25


def test_one_call_is_many_guesses() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 50, 20_000).astype(float)
    found = audit(
        lambda x: x + grid(rng.laplace(0, 1, len(x))), truth, truth + 1, claim=1.0, groups=True, runs=200_000, seed=3
    )
    assert found.verdict is AuditVerdict.CONSISTENT
    assert 0.96 < found.epsilon_lo <= 1.0
    assert found.guesses_a_call == 20_000
    assert found.mu_lo is None
    broken = audit(
        lambda x: x + grid(rng.laplace(0, 0.5, len(x))), truth[:300], truth[:300] + 1, claim=1.0, groups=True, seed=3
    )
    assert broken.verdict is AuditVerdict.VIOLATION
    with pytest.raises(el.InputError, match="pure"):
        audit(lambda x: x, truth, truth + 1, claim="mu=1", groups=True)
    with pytest.raises(el.InputError, match="cells"):
        audit(lambda x: x[:3], truth, truth + 1, claim=1.0, groups=True)


def test_floating_point_gives_itself_away() -> None:
    rng = np.random.default_rng(4)
    found = audit(lambda d: d + rng.laplace(0, 1), 0.0, 1.0, claim=1.0, runs=5000, seed=4)
    assert found.verdict is AuditVerdict.VIOLATION
    assert found.event is not None
    assert found.event.looks == "grain"
    aside = audit(lambda d: d + rng.laplace(0, 1), 0.0, 1.0, claim=1.0, runs=2000, seed=4, low_bits=False)
    assert aside.verdict is AuditVerdict.CONSISTENT


def outcomes(kind: str) -> Callable[[int], Any]:
    rng = np.random.default_rng(5)

    def noisy(value: float) -> float:
        return float(value + grid(rng.laplace(0, 1)))

    import pandas as pd

    return {
        "raises": lambda d: 1 / d,
        "nan": lambda d: math.nan if d else noisy(0),
        "shape": lambda d: [noisy(0)] * (1 + d),
        "dtype": lambda d: np.float32(1) if d else np.float64(1),
        "text": lambda d: f"world {d}" if rng.random() < 0.9 else "neither",
        "keys": lambda d: {"a": noisy(3)} | ({"b": noisy(1)} if d else {}),
        "frame": lambda d: pd.DataFrame({"ward": ["a", "b"][: 1 + d], "n": [noisy(3), noisy(1)][: 1 + d]}),
        "same noise": lambda d: (lambda z: {"a": d + z, "b": z})(noisy(0)),
        "none": lambda d: None if d else 1.0,
        "exit": lambda d: exit() if d else 1.0,
    }[kind]


@pytest.mark.parametrize(
    "kind", ["raises", "nan", "shape", "dtype", "text", "keys", "frame", "same noise", "none", "exit"]
)
def test_whatever_comes_back_is_an_outcome(kind: str) -> None:
    found = audit(outcomes(kind), 0, 1, claim=1.0, runs=500, seed=6)
    assert found.verdict is AuditVerdict.VIOLATION
    assert found.runs <= 100
    assert str(found)


def test_what_a_mechanism_does_is_never_in_the_way(capfd: pytest.CaptureFixture[str]) -> None:
    def prints(d: int) -> int:
        print("secret", d)
        return 1

    found = audit(prints, 0, 1, claim=1.0, runs=100, seed=1)
    assert found.verdict is AuditVerdict.INCONCLUSIVE
    assert found.has(FindingKind.SAME)
    assert "secret" not in "".join(capfd.readouterr())

    def hangs(d: int) -> int:
        while d:
            pass
        return 0

    found = audit(hangs, 0, 1, claim=1.0, runs=100, timeout=0.05, seed=1)
    assert found.stopped is StopReason.SILENT
    assert found.has(FindingKind.LATE)
    with pytest.raises(el.InputError, match="fails with KeyError on every run"):
        audit(lambda d: dict[str, int]()["a"], 0, 1, claim=1.0)
    fixed = audit(lambda d: d, 0, 1, claim=1.0, seed=1)
    assert fixed.verdict is AuditVerdict.VIOLATION
    assert fixed.has(FindingKind.FIXED)


def test_an_interrupt_keeps_what_is_there() -> None:
    calls = 0
    rng = np.random.default_rng(7)

    def stopped(d: int) -> float:
        nonlocal calls
        calls += 1
        if calls > 300:
            raise KeyboardInterrupt
        return float(d + grid(rng.laplace(0, 1)))

    found = audit(stopped, 0, 1, claim=1.0, runs=10_000, seed=1)
    assert found.stopped is StopReason.INTERRUPTED
    assert found.verdict is AuditVerdict.INCONCLUSIVE
    assert 200 < found.runs <= 300


def test_progress_is_told() -> None:
    told: list[AuditProgress] = []
    rng = np.random.default_rng(8)
    audit(lambda d: float(d + grid(rng.laplace(0, 0.5))), 0, 1, claim=1.0, progress=told.append, seed=1)
    assert told
    assert any(now.still is not None for now in told)
    assert "runs" in str(told[-1])


def test_too_few_runs_say_nothing() -> None:
    found = audit(laplace(1.0), 0.0, 1.0, claim=3.0, batch=True, runs=60, seed=1)
    assert found.verdict is AuditVerdict.INCONCLUSIVE
    assert found.has(FindingKind.FEW)
    assert found.largest_epsilon < 3.0


def test_a_bare_claim_is_told_how_little_it_can_be_tested() -> None:
    found = audit(normal(0.5), 0.0, 1.0, claim=(4.38, 1e-5), batch=True, runs=5000, seed=1)
    assert found.has(FindingKind.BARE)
    assert "hardly be tested" in str(found)


@pytest.mark.parametrize(
    ("named", "arguments"),
    [
        ("mechanism", {"mechanism": 3}),
        ("runs", {"runs": 0}),
        ("runs", {"runs": 1.5}),
        ("confidence", {"confidence": 95}),
        ("claim", {"claim": "nothing"}),
        ("timeout", {"timeout": -1}),
        ("seed", {"seed": -1}),
        ("batch", {"batch": 10, "groups": True}),
        ("progress", {"progress": "yes"}),
        ("d0 and d1 are the same", {"d1": [0]}),
        ("d0 and d1 are the same", {"d0": np.arange(3), "d1": np.arange(3)}),
    ],
)
def test_bad_input_is_one_sentence(named: str, arguments: dict[str, Any]) -> None:
    given: dict[str, Any] = {"mechanism": lambda d: d, "d0": [0], "d1": [1], "claim": 1.0} | arguments
    with pytest.raises(el.InputError, match=named):
        audit(**given)


@pytest.mark.parametrize("bad", [lambda d, n: [1] * (n + 1), lambda d, n: 3, lambda d, n: 1 / 0])
def test_a_batch_answers_as_agreed(bad: Callable[[Any, int], Any]) -> None:
    with pytest.raises(el.InputError, match=r"batched mechanism|in a call for many runs"):
        audit(bad, 0, 1, claim=1.0, batch=True)


def test_anything_that_draws_can_be_audited() -> None:
    class Coins:
        width = 1

        def __init__(self) -> None:
            self.rng = np.random.default_rng(9)

        def draw(self, bits: Any) -> Any:
            return np.where(self.rng.random(bits.size) < 1 / (1 + math.exp(2.0)), ~bits, bits)

    found = audit_source(Coins(), claim=1.0, seed=1, pair=("off", "on"))
    assert found.verdict is AuditVerdict.VIOLATION
    assert isinstance(found, Audit)
    assert found.pair == ("off", "on")
    assert found.to_dict()["verdict"] == "VIOLATION"


def test_the_same_seed_is_the_same_audit() -> None:
    one, other = (audit(laplace(1.0), 0.0, 1.0, claim=1.0, batch=True, runs=500, seed=1) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)


def test_the_coins_are_not_the_numbers_of_the_mechanism() -> None:
    """A mechanism seeded like the audit draws other numbers than the coins."""
    rng = np.random.default_rng(1)
    found = audit(lambda d: int(rng.integers(0, 2)), 0, 1, claim=0.5, runs=2000, seed=1)
    assert found.verdict is AuditVerdict.CONSISTENT


def test_a_fixed_number_that_was_cut_short_refutes_nothing() -> None:
    """How many runs there were depends on the outcomes: such a count is no binomial."""

    def hangs(d: int) -> int:
        while d:
            pass
        return 0

    found = audit(hangs, 0, 1, claim=1.0, runs=100, timeout=0.05, sequential=False, seed=1)
    assert found.stopped is StopReason.SILENT
    assert found.verdict is AuditVerdict.INCONCLUSIVE


def test_of_a_batch_the_runs_after_the_one_that_refutes_do_not_count() -> None:
    """The coin itself against ε = 1: looked at run by run, or drawn 8 at a time, it takes as many runs."""
    drawn: list[int] = []

    def tells(d: int, n: int) -> Any:
        drawn.append(n)
        return np.full(n, d)

    for seed in range(5):
        drawn.clear()
        together = audit(tells, 0, 1, claim=1.0, batch=True, seed=seed)
        alone = audit(lambda d: d, 0, 1, claim=1.0, seed=seed)
        assert together.refuted
        assert alone.refuted
        assert together.runs <= sum(drawn)
        assert together.event is not None
        assert together.event.runs < together.runs <= 32
        assert abs(together.runs - alone.runs) <= 2


_EXAMPLE = Path(__file__).parents[2] / "examples" / "canaries.py"


def test_one_training_keeps_its_own_claim_and_not_that_of_more_noise() -> None:
    pytest.importorskip("opacus")
    main = runpy.run_path(str(_EXAMPLE))["main"]
    kept = main(300)
    assert kept.verdict is not AuditVerdict.VIOLATION
    assert kept.epsilon_lo < kept.claimed["epsilon"]
    assert main(300, sigma=1.0, claimed=40.0).verdict is AuditVerdict.VIOLATION
