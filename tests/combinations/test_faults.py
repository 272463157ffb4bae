"""The judge is judged: each fault that it was made for, put back, is found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from tests.combinations.judge import ENUMERATED, Case, forget, judge

import epsilens as el
from epsilens.laws.finite import FiniteStep
from epsilens.laws.laplace import LaplaceReplacementStep
from epsilens.mechanisms import batches
from epsilens.mechanisms.discrete import GeometricDifference
from epsilens.readings.law import Law

Patch = Callable[[pytest.MonkeyPatch], None]


def _no_mass_between(patch: pytest.MonkeyPatch) -> None:
    for side in ("above", "below"):
        patch.setattr(LaplaceReplacementStep, side, lambda self, x: (-math.inf, -math.inf))


def _a_pass_for_each_row(patch: pytest.MonkeyPatch) -> None:
    whole = batches._epoch_passes

    def restarted(rows: Sequence[Any]) -> list[Any]:
        return [one for row in rows for one in whole([row])]

    patch.setattr(batches, "_epoch_passes", restarted)


def _atoms_that_end(patch: pytest.MonkeyPatch) -> None:
    whole = GeometricDifference.atoms

    def cut(self: GeometricDifference) -> Any:
        log_p0, llr = whole(self)
        kept = abs(llr) < self.slow * self.distance * (1 - 1e-4)
        return log_p0[kept], llr[kept]

    patch.setattr(GeometricDifference, "atoms", cut)


def _records_drawn_anew(patch: pytest.MonkeyPatch) -> None:
    made = el.Experiment.__post_init__

    def independent(self: el.Experiment) -> None:
        made(self)
        object.__setattr__(self, "latent", None)

    patch.setattr(el.Experiment, "__post_init__", independent)


def _a_group_as_a_claim(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        FiniteStep, "scales_by_group", property(lambda self: self.far is not None and self.far.scales_by_group)
    )


def _a_bound_called_exact(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(batches, "Composable", Law)


_TABLE = "el.correlated.table([[0.01, 0.49], [0.49, 0.01]]).experiment(0, {}, scale=1.0, pair=(0, 1))"
_ROWS = "n=3, batch=1, batches='shuffled', schedule={'sigma': [2.0, 0.5], 'steps': [2, 2]}"
_LAPLACE = "el.laplace(epsilon=1.0)"
#: A fault, and cases in which it shows: builder, code, combinator, reading, arguments.
FAULTS: dict[str, tuple[Patch, tuple[tuple[str, str, str, str, dict[str, float]], ...]]] = {
    "2.1 sampled, replaced, Laplace": (
        _no_mass_between,
        (
            ("laplace", _LAPLACE, "subsample, replaced", "advantage", {}),
            ("laplace", _LAPLACE, "subsample, replaced", "mu", {"level": 0.01}),
            ("samples", f"el.subsample({_LAPLACE}, 0.5, neighbours='replace')", ENUMERATED, "delta", {"epsilon": 0.2}),
        ),
    ),
    "2.2 shuffled on a schedule": (
        _a_pass_for_each_row, (("orders", f"el.dpsgd({_ROWS})", ENUMERATED, "delta", {"epsilon": 10.0}),)
    ),
    "2.3 a supremum that is a limit": (
        _atoms_that_end,
        tuple(
            ("differences",
            "el.attacks.differencing(epsilon=1.0, gap=1, noise='geometric', split=0.5)", ENUMERATED, *asked)
            for asked in (("epsilon", {"delta": 0.0}), ("posterior", {"prior": 0.5}), ("renyi", {"order": math.inf}))
        ),
    ),
    "2.4 correlated, together": (
        _records_drawn_anew,
        (
            ("unknown records", f"({_TABLE}).repeat(3)", ENUMERATED, "epsilon", {"delta": 0.0}),
            ("unknown records", f"({_TABLE}).repeat(2)", ENUMERATED, "posterior", {"prior": 0.5}),
        ),
    ),
    "2.7 a group that moves noise": (
        _a_group_as_a_claim,
        (("geometric", "el.mechanisms.geometric(scale=1., sensitivity={k})", "group as a shift", "advantage", {}),),
    ),
    "a sample of what is known by its ε": (
        _a_bound_called_exact, (("differencing", "el.attacks.differencing(epsilon=1.)", "subsample", "advantage", {}),)
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    forget()
    yield
    forget()


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_put_back_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault, shows = FAULTS[name]
    asked = [
        Case(builder, code, combinator, reading, tuple(given.items()), "1")
        for builder, code, combinator, reading, given in shows
    ]
    assert [wrong for case in asked for wrong in judge(case).wrong] == []
    forget()
    fault(monkeypatch)
    assert [case for case in asked if not judge(case).wrong] == []
