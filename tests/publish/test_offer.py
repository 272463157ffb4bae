"""What a dry run tells: the answers by name, their noise, and what of each limit is left; all worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import epsilens as el
from epsilens.errors import InputError, LimitError
from epsilens.publish.answers import RemainingBudget

pytest.importorskip("opendp")

PLAN: dict[str, Any] = {
    "title": "Visits by site",
    "data": {"table": "t", "person": "who", "max_rows": 1},
    "queries": [
        {"name": "People", "count": True, "by": "site", "groups": ["a", "b", "c"]},
        {"name": "Spent", "sum": "x", "bounds": [0, 8]},
        {"count": True, "by": "ward", "threshold": "auto"},
    ],
    "mechanism": {"epsilon": 0.9, "delta": 1e-6},
}


def test_the_answers_and_their_noise(tmp_path: Path) -> None:
    made = el.release(PLAN, ledger=tmp_path / "ledger.db", people="patients", dry_run=True)
    assert [(one.name, one.by, one.answers) for one in made.offered] == [
        ("People", ("site",), 3), ("Spent", (), 1), (made.offered[2].name, ("ward",), None),
    ]  # fmt: skip
    # One person moves one count by 1 and the sum by 8; each query has a third of ε.
    assert [one.scales[0][1] for one in made.offered] == pytest.approx([1 / 0.3, 8 / 0.3, 1 / 0.3])
    assert made.answers == ()
    assert not (tmp_path / "ledger.db").exists()
    text = str(made)
    for words in ("3 by site", "b of Laplace noise", "26.67", "above threshold"):
        assert words in text
    assert made.to_dict()["offered"][1] == {
        "query": 2, "name": "Spent", "by": [], "answers": 1, "noise": "laplace",
        "scales": {"answer": pytest.approx(8 / 0.3)},
    }  # fmt: skip


def test_what_is_left_of_each_limit(tmp_path: Path) -> None:
    ledger = el.Ledger(tmp_path / "ledger.db")
    ledger.limit("patients", epsilon=2.0, psi=1.5)
    ledger.add("patients", el.laplace(epsilon=0.5))
    plan = {**PLAN, "queries": PLAN["queries"][:1], "mechanism": {"epsilon": 0.9}}
    made = el.release(plan, ledger=ledger, people="patients", dry_run=True)
    room = {one.currency: one for one in made.room}
    assert [room["epsilon"].spent, room["epsilon"].after] == pytest.approx([0.5, 1.4])
    assert room["epsilon"].left == pytest.approx(0.6)
    psi = [float(el.laplace(epsilon=e).psi()) for e in (0.5, 0.9)]
    assert room["psi"].after == pytest.approx(math.hypot(*psi))
    assert room["psi"].left == pytest.approx(math.sqrt(1.5**2 - psi[0] ** 2 - psi[1] ** 2))
    assert room["rho"].left is None
    assert len(ledger.account("patients").counted) == 1
    with pytest.raises(LimitError, match="the ledger allows ε = 2"):
        el.release({**plan, "mechanism": {"epsilon": 1.6}}, ledger=ledger, people="patients", dry_run=True)


def test_what_does_not_add_up_is_told_beforehand(tmp_path: Path) -> None:
    ledger = el.Ledger(tmp_path / "ledger.db")
    ledger.add("patients", el.laplace(epsilon=0.5, neighbours="replace"))
    with pytest.raises(InputError, match="do not add up"):
        el.release(PLAN, ledger=ledger, people="patients", dry_run=True)


def test_nothing_is_left_of_a_limit_that_is_reached() -> None:
    assert RemainingBudget("psi", 1.0, 1.0, 1.0).left == 0
    assert RemainingBudget("epsilon", 1.0, 1.0 + 1e-15, 1.0).left == 0
    assert RemainingBudget("epsilon", 0.0, math.inf, None).to_dict()["after"] is None
