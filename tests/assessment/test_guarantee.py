"""What the ledger leaves for a plan, by the sums done by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import epsilens as el
from epsilens.assessment.verdict import LEDGER, Standing
from epsilens.errors import InputError

pytest.importorskip("sqlalchemy")

TABLE = pa.table({"x": [i % 9 for i in range(90)]})


def plan(epsilon: float, **more: Any) -> dict[str, Any]:
    return {"data": {"table": "t"}, "queries": [{"count": "x > 3"}], "mechanism": {"epsilon": epsilon}, **more}


@pytest.fixture
def ledger(tmp_path: Path) -> el.Ledger:
    made = el.Ledger(tmp_path / "ledger.db")
    made.limit("people", epsilon=1.0)
    made.add("people", el.laplace(epsilon=0.6))
    return made


def assessed(epsilon: float, ledger: el.Ledger, account: str = "people", **more: Any) -> el.Assessment:
    return el.assess(plan(epsilon, **more), table=TABLE, ledger=ledger, account=account)


def test_what_is_left_of_epsilon(ledger: el.Ledger) -> None:
    found = assessed(0.7, ledger, limits={})
    assert found.room is not None
    assert found.room.largest == pytest.approx(0.4, rel=1e-12)
    assert found.exceeded
    assert found.verdict.broken == (LEDGER,)
    assert found.verdict.standing is Standing.OVER
    assert found.recommended == 0.4
    text = " ".join(found.to_text().split())
    assert text.startswith("Lower ε from 0.7 to 0.4")
    assert "is what the ledger leaves" in text
    assert found.to_dict()["ledger"]["account"] == "people"
    assert "What was released before" in found.to_html()


def test_the_tighter_of_both_is_recommended(ledger: el.Ledger) -> None:
    """A success of .55 allows −2·log(.9) = .2107 of Laplace noise, less than the ledger's .4."""
    assert assessed(0.7, ledger, limits={"success": 0.55}).recommended == 0.21
    assert assessed(0.7, ledger, limits={"success": 0.9}).recommended == 0.4


def test_within_both(ledger: el.Ledger) -> None:
    found = assessed(0.3, ledger, limits={"success": 0.9})
    assert not found.exceeded
    assert found.verdict.standing is Standing.WITHIN


def test_nothing_is_left(ledger: el.Ledger) -> None:
    ledger.add("people", el.laplace(epsilon=0.4))
    found = assessed(0.1, ledger, limits={"success": 0.9})
    assert found.verdict.standing is Standing.IMPOSSIBLE
    assert found.to_text().startswith("The ledger leaves no room for this release")


def test_a_limit_on_psi_is_searched(tmp_path: Path) -> None:
    """ψ of Laplace noise at ε = 1 is 1.0301 (the sheet's); so much is left, to a thousandth."""
    ledger = el.Ledger(tmp_path / "ledger.db")
    ledger.limit("people", psi=1.030064)
    found = assessed(0.5, ledger, limits={})
    assert found.room is not None
    assert 0.998 <= (found.room.largest or 0.0) <= 1.0


def test_an_account_without_limits_bounds_nothing(ledger: el.Ledger) -> None:
    found = assessed(0.7, ledger, account="others", limits={})
    assert found.room is not None
    assert found.room.largest is None
    assert found.verdict.standing is Standing.OPEN
    assert "No limit is set for 'others'" in " ".join(found.to_text().split())


def test_an_account_without_a_ledger_is_a_mistake() -> None:
    with pytest.raises(InputError, match="account is given without a ledger"):
        el.assess(plan(0.5), table=TABLE, account="patients")


def test_a_ledger_that_is_not_there_is_no_empty_account(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no ledger at"):
        el.assess(plan(0.5), table=TABLE, ledger=tmp_path / "mistyped.db")
