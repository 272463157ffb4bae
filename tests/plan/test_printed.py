"""A plan that is printed."""

from __future__ import annotations

from epsilens.plan.model import Data


def test_a_plan_that_is_printed_keeps_its_password() -> None:
    made = Data(table="postgres://me:hush@host/db#visits")
    assert "hush" not in repr(made) + str(made)
    assert made.table == "postgres://me:hush@host/db#visits"
