"""Releases about a part of the people: what must be said, what is looked up, and who is charged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.data.conftest import spark  # noqa: F401
from tests.engines.conftest import _place, on_postgres, on_sqlite, place, server  # noqa: F401
from tests.engines.places import Place

import epsilens as el
from epsilens.data.tables.table import open_table
from epsilens.errors import InputError, LimitError
from epsilens.ledger.budget import charge_of
from epsilens.plan.file import read_release
from epsilens.publish.release import check_part, check_single_part

pytest.importorskip("opendp")

SITES = ["north"] * 30 + ["south"] * 20 + [None] * 2
TABLE = pa.table({"who": [i // 2 for i in range(52)], "site": SITES, "x": [float(i % 5) for i in range(52)]})
MOVED = TABLE.set_column(1, "site", pa.array(["south", *SITES[1:]]))


def plan(*queries: dict[str, Any], **data: Any) -> Any:
    said = {"table": "t", "person": "who", "max_rows": 2, **data}
    return read_release(
        {"title": "One site", "data": said, "queries": list(queries), "mechanism": {"epsilon": 0.4}, "limits": {}}
    )


NORTH = {"count": "site = 'north'"}


def released(folder: Path, planned: Any, part: str | None = "north", table: Any = TABLE, **options: Any) -> Any:
    return el.release(planned, people="patients", ledger=folder / "ledger.db", part=part, table=table, **options)


@pytest.fixture
def ledger(tmp_path: Path) -> el.Ledger:
    made = el.Ledger(tmp_path / "ledger.db")
    made.limit("patients", epsilon=0.5, partition="site")
    return made


def test_each_part_pays_for_itself(tmp_path: Path, ledger: el.Ledger) -> None:
    """Two releases of 0.4 under a limit of 0.5: side by side, never one after the other."""
    released(tmp_path, plan(NORTH))
    released(tmp_path, plan({"count": "x > 1 AND site = 'south'"}), "south")
    assert ledger.account("patients").spent.epsilon == pytest.approx(0.4, rel=1e-12)
    for part in ("north", None):
        with pytest.raises(LimitError, match="the ledger allows"):
            released(tmp_path, plan({"count": "site = 'north' AND x > 2"}), part)


@pytest.mark.parametrize(
    ("queries", "part"),
    [
        ([NORTH], "north"),
        ([NORTH], " NORTH "),
        ([{"count": "x > 1 AND ('north' = site)"}, {"sum": "x", "bounds": [0, 4], "where": "site = 'north'"}], "north"),
        ([{"count": True, "by": "site", "groups": ["north"]}], "north"),
        ([{"count": "site = 7"}], "7"),
        ([{"histogram": "site", "groups": ["north"]}], "north"),
    ],
)
def test_a_plan_says_its_part(queries: list[dict[str, Any]], part: str) -> None:
    check_part(plan(*queries), "site", part)


@pytest.mark.parametrize(
    ("queries", "part"),
    [
        ([{"count": True}], "north"),
        ([NORTH, {"count": "x > 1"}], "north"),
        ([NORTH], "south"),
        ([{"count": "site = 'north' OR x > 1"}], "north"),
        ([{"count": "site <> 'north'"}], "north"),
        ([{"count": "NOT site = 'north'"}], "north"),
        ([{"count": "site IN ('north', 'south')"}], "north"),
        ([{"count": "other = 'north'"}], "north"),
        ([{"count": "site = other"}], "other"),
        ([{"count": True, "by": "site", "groups": ["north", "south"]}], "north"),
        ([{"count": True, "by": "site", "threshold": 5}], "north"),
        ([{"count": "site = 7.0"}], "7.0"),  # another name for 7
        ([{"count": "site = 7.0"}], "7"),
    ],
)
def test_a_plan_that_may_count_others_is_refused(queries: list[dict[str, Any]], part: str) -> None:
    with pytest.raises(
        InputError, match=r"query \d may count people of other parts: add site = .* counted for everyone"
    ):
        check_part(plan(*queries), "site", part)


def test_a_column_read_in_a_form_has_other_names() -> None:
    with pytest.raises(InputError, match=r"take it out of data\.read"):
        check_part(plan(NORTH, read={"site": "category"}), "site", "north")


def test_nobody_is_in_two_parts(place: Place) -> None:  # noqa: F811
    """Looked up on every engine; who has no value beside one is in one part."""
    alone = TABLE.set_column(1, "site", pa.array([None, *SITES[1:]]))
    for table in (TABLE, alone):
        with open_table(place.put(table), place.engine) as opened:
            check_single_part(opened, plan(NORTH), "site")
    with (
        open_table(place.put(MOVED), place.engine) as opened,
        pytest.raises(InputError, match="several values in 'site'") as caught,
    ):
        check_single_part(opened, plan(NORTH), "site")
    assert "north" not in str(caught.value)


def test_a_unit_stays_together() -> None:
    """Two people of one household at two sites: each is in one part, the household is not."""
    table = pa.table({"who": [1, 2], "home": [1, 1], "site": ["north", "south"], "x": [1.0, 2.0]})
    with open_table(table) as opened:
        check_single_part(opened, plan(NORTH), "site")
    with open_table(table) as opened, pytest.raises(InputError, match="several values"):
        check_single_part(opened, plan(NORTH, unit="home"), "site")


@pytest.mark.parametrize(
    ("planned", "part", "table", "said"),
    [
        (plan(NORTH), "north", MOVED, "somebody in the table has several values in 'site'"),
        (plan({"count": True}), "north", TABLE, "query 1 may count people of other parts"),
        (
            plan({"count": "site = 1"}),
            "1",
            TABLE.set_column(1, "site", pa.array([1.0] * 52)),
            "neither words nor whole",
        ),
    ],
)
def test_what_is_not_so_costs_nothing(
    tmp_path: Path, ledger: el.Ledger, planned: Any, part: str, table: Any, said: str
) -> None:
    before = ledger.export()
    with pytest.raises(InputError, match=said):
        released(tmp_path, planned, part, table)
    assert ledger.export() == before
    released(tmp_path, planned, None, table)  # counted for everyone
    assert ledger.account("patients").spent.epsilon == pytest.approx(0.4, rel=1e-12)
    assert ledger.account("patients").releases[0].part is None


def test_a_dry_run_says_so_too(tmp_path: Path, ledger: el.Ledger) -> None:
    with pytest.raises(InputError, match="may count people of other parts"):
        released(tmp_path, plan({"count": True}), dry_run=True)
    assert released(tmp_path, plan(NORTH), dry_run=True).kind == "dry run"


def test_a_part_needs_a_ledger() -> None:
    with pytest.raises(InputError, match="part is counted in a ledger"):
        el.release(plan(NORTH), ledger=None, part="north", table=TABLE)


def test_parts_that_changed_meanwhile(tmp_path: Path, ledger: el.Ledger) -> None:
    noise = el.laplace(epsilon=0.1)
    with pytest.raises(InputError, match="no longer by 'region'"):
        ledger.reserve("patients", noise, charge_of(noise), part="north", partition="region")
    assert ledger.account("patients").counted == ()
