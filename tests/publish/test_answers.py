"""Released answers have the laws that were assessed: on both engines, for both noises, with groups and thresholds."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
import typer
from scipy.stats import laplace as scipy_laplace
from scipy.stats import norm
from tests.data.conftest import engine, spark  # noqa: F401
from tests.publish.laws import (
    DRAWS,
    QUERIES,
    ROWS,
    SITES,
    THRESHOLD,
    assert_released,
    far,
    laws,
    mechanism,
    noise_law,
    plan,
    table,
    within,
)  # fmt: skip

import epsilens as el
from epsilens.assessment.provenance import plan_guarantee
from epsilens.cli.app import app
from epsilens.cli.console import run
from epsilens.data.tables.table import open_table
from epsilens.errors import InputError, LimitError
from epsilens.ledger.budget import charge_of
from epsilens.plan.cells import Cells, cells
from epsilens.plan.file import read_release
from epsilens.publish.answers import PublishedAnswer, RemainingBudget, draw_answers, drawings_of
from epsilens.publish.files import OutputFormat, script_of
from epsilens.publish.standalone import listed_interval

pytest.importorskip("opendp")

#: Somebody who moves every number as far as anybody may.
PERSON = [{"who": 99, "site": "a", "x": 9.0, "y": 5.0}] * 2
SUMS: list[dict[str, Any]] = [
    {"sum": "x", "bounds": [0, 8], "share": 0.5},
    {"sum": "y", "bounds": [-3, 5], "share": 0.3},
    {"sum": "x", "bounds": [-1, 2], "share": 0.2},
]


def exactly(planned: Any, on: str, *more: dict[str, Any]) -> tuple[Cells, ...]:
    with open_table(table(*more), on) as opened:
        return cells(opened, planned)


def often(planned: Any, exact: tuple[Cells, ...], draws: int = DRAWS) -> list[tuple[PublishedAnswer, ...]]:
    drawings = drawings_of(planned)
    return [draw_answers(planned, drawings, exact) for _ in range(draws)]


def gathered(releases: list[tuple[PublishedAnswer, ...]]) -> dict[tuple[str, str | None], list[float]]:
    found: dict[tuple[str, str | None], list[float]] = {("named", site): [] for site in SITES}
    for answers in releases:
        for one in answers:
            found.setdefault((one.name, dict(one.group).get("site")), []).append(one.answer)
    return found


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_released_answers_have_their_law(engine: str, noise: str) -> None:  # noqa: F811
    """Each of 2,500 releases of one table: counts by groups, a sum, an average, groups that a threshold names."""
    planned = read_release(plan(noise))
    releases = often(planned, exactly(planned, engine))
    assert {dict(one.group)["site"] for answers in releases for one in answers if one.query == 3} <= set(SITES)
    assert_released(noise, gathered(releases), len(releases))


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_two_tables_are_told_apart_as_the_experiment_says(engine: str, noise: str) -> None:  # noqa: F811
    """δ(t) = P1(llr > t) − e^t·P0(llr > t) at several t, of three sums together, with and without a person."""
    planned = read_release(plan(noise, SUMS))
    said = plan_guarantee(planned).experiment
    ends = [tuple(map(float, query["bounds"])) for query in SUMS]
    moved = [2 * max(abs(low), abs(high)) for low, high in ends]
    scaled = [noise_law(noise, m, query["share"]) for m, query in zip(moved, SUMS, strict=True)]
    columns = [query["sum"] for query in SUMS]

    def centres(rows: list[dict[str, Any]]) -> list[float]:
        return [
            math.fsum(min(max(r[c], low), high) for r in rows) for c, (low, high) in zip(columns, ends, strict=True)
        ]

    without, with_ = centres(ROWS), centres([*ROWS, *PERSON])
    assert np.allclose(np.abs(np.subtract(with_, without)), moved)

    def ratios(*more: dict[str, Any]) -> Any:
        answers = [[one.answer for one in each] for each in often(planned, exactly(planned, engine, *more))]
        parts = [
            law.logpdf(np.asarray(column) - c1) - law.logpdf(np.asarray(column) - c0)
            for law, column, c0, c1 in zip(scaled, zip(*answers, strict=True), without, with_, strict=True)
        ]
        return np.sum(parts, axis=0)

    absent, present = ratios(), ratios(*PERSON)
    for t in (0.0, 0.4, 0.8):
        found = np.mean(present > t) - math.exp(t) * np.mean(absent > t)
        # A person's share of a rounded answer is at most a thousandth of its noise.
        assert abs(found - said.delta(t)) <= (1 + math.exp(t)) * far(DRAWS) + 0.01, t


@pytest.mark.always(1)
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_a_count_is_told_apart_as_the_experiment_says(engine: str, noise: str) -> None:  # noqa: F811
    """Rounded, and no less telling for it: the best threshold lies between two whole numbers."""
    planned = read_release(plan(noise, [{"count": True}]))
    people = sum(SITES.values())
    above = [
        np.mean([each[0].answer > people for each in often(planned, exactly(planned, engine, *more))])
        for more in ([], PERSON)
    ]
    assert abs(above[1] - above[0] - plan_guarantee(planned).experiment.advantage()) <= 2 * far(DRAWS)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_a_name_shows_as_often_as_assessed(engine: str, noise: str) -> None:  # noqa: F811
    """Somebody alone in a group: named with the δ of the promise, and never without them."""
    planned = read_release(plan(noise, [{"count": True, "by": "site", "threshold": THRESHOLD}]))
    alone = {"who": 99, "site": "z", "x": 1.0, "y": 1.0}
    named = [
        sum(
            any(dict(one.group)["site"] == "z" for one in each) for each in often(planned, exactly(planned, engine, *m))
        )
        for m in ([], [alone])
    ]
    assert named[0] == 0
    chance = noise_law(noise, 1.0, 1.0).sf(THRESHOLD - 1)
    assert plan_guarantee(planned).delta == pytest.approx(chance, rel=1e-9)
    assert abs(named[1] / DRAWS - chance) <= far(DRAWS)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_whole_runs_land_where_the_law_is(engine: str, noise: str, tmp_path: Path) -> None:  # noqa: F811
    """From the table to the file and the ledger, three times: no answer is where its law has less than 1e-8."""
    planned = read_release(plan(noise))
    found = el.assess(planned, table=table())
    seen = set()
    for _ in range(3):
        made = el.release(
            planned, table=table(), engine=engine, account="p", ledger=tmp_path / "ledger.db", again=True,
            assessment=found, output=tmp_path / "answers.csv",
        )  # fmt: skip
        seen.add(made.answers)
        for one in made.answers:
            law = laws(noise)[one.name, dict(one.group).get("site")]
            assert law(one.answer + 0.1) > 1e-8
            assert law(one.answer - 1.1) < 1 - 1e-8
            assert one.low <= one.answer <= one.high
    assert len(seen) == 3
    assert len(el.Ledger(tmp_path / "ledger.db").account("p").counted) == 3


def test_the_laws_by_hand_are_those_of_the_plan() -> None:
    """A scale by hand for each kind of number, so that a slip in the tests' own helper shows."""
    assert noise_law("laplace", 16.0, 0.25).std() == pytest.approx(math.sqrt(2) * 16 / 0.75)
    assert noise_law("gaussian", 1.0, 1.0).std() == pytest.approx(
        el.gaussian(epsilon=3.0, delta=1e-6).parameters["sigma"]
    )
    assert mechanism("gaussian")["delta"] == 1e-6
    assert within(9.0) == 8.0
    assert len(QUERIES) == 4


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize(
    ("people", "threshold", "scale"), [(1, 6.0, 2.0), (4, 6.0, 2.0), (15, 20.0, 3.0), (40, 6.0, 1.0)]
)
def test_an_interval_of_a_named_group_holds_given_that_it_is_named(
    noise: str, people: int, threshold: float, scale: float
) -> None:
    """By the law itself: the values above the threshold whose interval holds the exact number are at least 95 of 100.

    The usual interval of one person behind a threshold of 6 holds them in none of the published cases (defects 1.10).
    """
    law = (scipy_laplace if noise == "laplace" else norm)(loc=people, scale=scale)
    values = law.isf(law.sf(threshold) * (np.arange(800) + 0.5) / 800)  # equally likely, given that it is named
    held = [low <= people <= high for low, high in (listed_interval(noise, scale, y, threshold) for y in values)]
    assert sum(held) >= 0.949 * len(held)


def test_those_whom_a_limit_touched_widen_the_interval_to_the_whole_count() -> None:
    """200 people in two of three wards each, counted in one: the intervals hold the whole count, or the limited."""
    rows = [{"who": k, "ward": ward} for k in range(200) for ward in {"abc"[k % 3], "abc"[(k + 1) % 3]}]
    made = pa.Table.from_pylist(rows)
    query = {"count": True, "by": "ward", "groups": ["a", "b", "c"]}
    whole = {ward: sum(r["ward"] == ward for r in rows) for ward in "abc"}
    for more, holds, what in ({"touched": 0.1}, True, "the count"), ({}, False, "the limited count"):
        planned = read_release({
            "data": {"table": "t", "person": "who"}, "queries": [{**query, **more}], "mechanism": {"epsilon": 20.0},
            "limits": {},
        })  # fmt: skip
        with open_table(made) as opened:
            answers = draw_answers(planned, drawings_of(planned), cells(opened, planned))
        wards = [a for a in answers if a.group]
        assert {a.interval_of for a in wards} == {what}
        assert all((a.low <= whole[str(a.group[0][1])] <= a.high) is holds for a in wards)
        if more:
            (some,) = [a for a in answers if not a.group]
            assert some.low <= 200 <= some.high


TABLE = pa.table({"who": list(range(60)), "site": ["a", "b", "b"] * 20, "x": [float(i % 7) for i in range(60)]})
#: Of a table that lies somewhere private, and of databases with what opens them.
SECRETS = ("HUSHWORD", "hidden-host", "SIGNATURE", "me-the-user", "PRIVATE-FOLDER", "smith-trial")
ADDRESSES = [
    "postgres://me-the-user:HUSHWORD@hidden-host:5432/smith-trial?sslpassword=SIGNATURE#visits",
    "mysql://me-the-user:HUSHWORD@hidden-host/smith-trial#visits",
    "s3://HUSHWORD:SIGNATURE@hidden-host/smith-trial.parquet?token=SIGNATURE",
    "https://me-the-user:HUSHWORD@hidden-host/smith-trial.csv?sig=SIGNATURE",
    "/home/me-the-user/PRIVATE-FOLDER/smith-trial.csv",
    "C:\\PRIVATE-FOLDER\\smith-trial.csv",
]


def planned(table: str, **data: Any) -> dict[str, Any]:
    return {
        "title": "Visits",
        "data": {"table": table, "person": "who", "quasi_identifiers": ["site"], **data},
        "queries": [{"count": True, "by": "site", "groups": ["a", "b"]}, {"sum": "x", "bounds": [0, 8]}],
        "mechanism": {"epsilon": 0.5},
        "limits": {"success": 0.7},
    }


def free(*texts: str | bytes) -> None:
    for text in texts:
        raw = text if isinstance(text, bytes) else text.encode()
        assert [word for word in SECRETS if word.encode() in raw] == []


def shown(result: Any) -> list[str | bytes]:
    made = [getattr(result, name)() for name in ("to_text", "to_markdown", "to_html") if hasattr(result, name)]
    return [*made, repr(result), json.dumps(result.to_dict()), getattr(result, "sentence", "")]


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_plan_in_public(address: str) -> None:
    for name in (None, "visits of 2024"):
        plan = read_release(planned(address, **({"name": name} if name else {})))
        said = plan.public()
        free(json.dumps(said), json.dumps(plan.public(defaults=True)))
        assert said["data"]["table"] == (name or "the table")
        assert read_release(said).digest() == plan.digest()
    assert read_release(planned("epsilens:adult")).public()["data"]["table"] == "epsilens:adult"


@pytest.mark.parametrize(("address", "name"), [(ADDRESSES[0], None), (ADDRESSES[4], "visits of 2024")])
def test_nothing_of_an_address_is_published(tmp_path: Path, address: str, name: str | None) -> None:
    plan = planned(address, **({"name": name} if name else {}))
    ledger = el.Ledger(tmp_path / "ledger.db")
    found = el.assess(plan, table=TABLE, ledger=None)
    free(*shown(found), found.to_board(), found.to_registry())
    files = []
    for form in OutputFormat:
        made = el.release(plan, table=TABLE, ledger=ledger, assessment=found, output=tmp_path / f"out.{form.value}")
        files.append((tmp_path / f"out.{form.value}").read_bytes())
        free(*shown(made))
    free(*files, json.dumps(ledger.export()), *shown(ledger), *shown(ledger.account("everyone")))
    free((tmp_path / "ledger.db").read_bytes(), script_of(read_release(plan), TABLE))
    assert json.loads(files[1])["plan"] == read_release(plan).public()
    free(str(pq.read_schema(tmp_path / "out.parquet").metadata))


@pytest.mark.always
def test_nothing_of_a_path_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command on a file in a private folder, beside a ledger in another: what it writes to hand on."""
    folder = tmp_path / "PRIVATE-FOLDER"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    arrow_csv.write_csv(TABLE, folder / "smith-trial.csv")
    el.Ledger(folder / "ledger.db").limit("patients", epsilon=3.0)
    (folder / "plan.yaml").write_text(json.dumps(planned(str(folder / "smith-trial.csv"))))
    command = typer.main.get_command(app)
    book = ["--ledger", str(folder / "ledger.db")]
    for output in ("report.html", "report.json"):
        assert run(command, ["assess", str(folder / "plan.yaml"), *book, "--output", output]) == 0
    assert run(command, ["release", str(folder / "plan.yaml"), "--script", "--output", "script.py"]) == 0
    for output in ("answers.csv", "answers.json", "answers.html", "answers.parquet"):
        assert run(command, ["release", str(folder / "plan.yaml"), *book, "--output", output]) == 0
    assert run(command, ["ledger", "export", *book, "--output", "lines.json"]) == 0
    written = sorted(path for path in tmp_path.iterdir() if path.is_file())
    assert len(written) == 8
    free(*(path.read_bytes() for path in written), (folder / "ledger.db").read_bytes())


@pytest.mark.parametrize("address", ADDRESSES[:4])
def test_errors_tell_no_password(tmp_path: Path, address: str) -> None:
    with pytest.raises(el.InputError) as wrong:
        el.release(planned(address), ledger=tmp_path / "ledger.db")
    assert not any(word in str(wrong.value) for word in ("HUSHWORD", "SIGNATURE", "me-the-user"))


def test_what_older_versions_wrote_is_found(tmp_path: Path) -> None:
    """Lines are never changed: `ledger check` names them and says what to do, and the export leaves it out."""
    ledger = el.Ledger(tmp_path / "ledger.db")
    noise = el.laplace(epsilon=0.1)
    for address in (*ADDRESSES, "people.csv"):
        told: dict[str, Any] = {"plan": {"data": {"table": address, "person": "who"}}, "table": "people.csv"}
        ledger.reserve("patients", noise, charge_of(noise), **told)
    assert b"HUSHWORD" in (tmp_path / "ledger.db").read_bytes()
    found = ledger.check()
    assert [trouble.line for trouble in found] == [2, 3, 4, 5, 6, 7]
    assert all("holds the address of a table with its password" in trouble.what for trouble in found[:4])
    assert all("change the password" in trouble.what for trouble in found[:4])
    assert all(trouble.what.startswith("holds where a table lies") for trouble in found[4:])
    lines = ledger.export()
    free(json.dumps(lines))
    assert lines[0]["body"]["plan"]["data"] == {"table": "…", "person": "who"}
    assert lines[-1]["body"]["plan"]["data"]["table"] == "people.csv"


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
    made = el.release(PLAN, ledger=tmp_path / "ledger.db", account="patients", dry_run=True)
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
    made = el.release(plan, ledger=ledger, account="patients", dry_run=True)
    room = {one.currency: one for one in made.room}
    assert [room["epsilon"].spent, room["epsilon"].after] == pytest.approx([0.5, 1.4])
    assert room["epsilon"].left == pytest.approx(0.6)
    psi = [float(el.laplace(epsilon=e).psi()) for e in (0.5, 0.9)]
    assert room["psi"].after == pytest.approx(math.hypot(*psi))
    assert room["psi"].left == pytest.approx(math.sqrt(1.5**2 - psi[0] ** 2 - psi[1] ** 2))
    assert room["rho"].left is None
    assert len(ledger.account("patients").counted) == 1
    with pytest.raises(LimitError, match="the ledger allows ε = 2"):
        el.release({**plan, "mechanism": {"epsilon": 1.6}}, ledger=ledger, account="patients", dry_run=True)


def test_what_does_not_add_up_is_told_beforehand(tmp_path: Path) -> None:
    ledger = el.Ledger(tmp_path / "ledger.db")
    ledger.add("patients", el.laplace(epsilon=0.5, neighbours="replace"))
    with pytest.raises(InputError, match="do not add up"):
        el.release(PLAN, ledger=ledger, account="patients", dry_run=True)


def test_nothing_is_left_of_a_limit_that_is_reached() -> None:
    assert RemainingBudget("psi", 1.0, 1.0, 1.0).left == 0
    assert RemainingBudget("epsilon", 1.0, 1.0 + 1e-15, 1.0).left == 0
    assert RemainingBudget("epsilon", 0.0, math.inf, None).to_dict()["after"] is None
