"""A plan released: what is refused, what is spent, what the file holds, and what it never holds."""

from __future__ import annotations

import csv
import errno
import itertools
import json
import math
import os
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from tests.data.conftest import spark  # noqa: F401
from tests.engines.conftest import _place, on_postgres, on_sqlite, place, server  # noqa: F401
from tests.engines.places import Place
from tests.publish.trials import run_release_trial

import epsilens as el
from epsilens.data.tables.table import open_table
from epsilens.errors import InputError, LimitError, WriteError
from epsilens.ledger.budget import charge_of
from epsilens.ledger.ledger import Reservation
from epsilens.ledger.store import EntryKind
from epsilens.plan.file import read_release
from epsilens.publish import release as module
from epsilens.publish.answers import Published
from epsilens.publish.release import check_part, check_single_part

pytest.importorskip("opendp")

TRUE = {"a": 31, "b": 17, "c": 0}
TABLE = pa.table({
    "who": list(range(48)), "site": ["a"] * 31 + ["b"] * 17, "x": [float(i % 7) + 0.125 for i in range(48)],
})  # fmt: skip
PLAN: dict[str, Any] = {
    "title": "Visits by site",
    "data": {"table": "t", "person": "who", "max_rows": 2},
    "queries": [
        {"name": "People", "count": True, "by": "site", "groups": ["a", "b", "c"]},
        {"sum": "x", "bounds": [0, 8]},
        {"average": "x", "bounds": [0, 8]},
    ],
    "mechanism": {"epsilon": 0.9},
    "limits": {"success": 0.7},
}


def released(folder: Path, plan: Any = PLAN, **options: Any) -> Published:
    options.setdefault("ledger", folder / "ledger.db")
    options.setdefault("table", TABLE)
    return el.release(plan, account="patients", **options)


def test_a_release_is_drawn_written_and_entered(tmp_path: Path) -> None:
    made = released(tmp_path, output=tmp_path / "answers.csv")
    assert made.kind == "release"
    assert [dict(a.group).get("site") for a in made.answers] == ["a", "b", "c", None, None]
    account = el.Ledger(tmp_path / "ledger.db").account("patients")
    assert [one.state for one in account.releases] == [EntryKind.PUBLISHED]
    assert account.spent.epsilon == pytest.approx(0.9, rel=1e-12)
    assert account.releases[0].body["plan"]["title"] == "Visits by site"
    assert made.head in {line["hash"] for line in el.Ledger(tmp_path / "ledger.db").export()}
    lines = (tmp_path / "answers.csv").read_text().splitlines()
    remarks = [line for line in lines if line.startswith("#")]
    rows = list(csv.DictReader(lines[len(remarks) :]))
    assert [float(row["answer"]) for row in rows] == [a.answer for a in made.answers]
    assert any("at most" in line and "a coin gets 50" in line for line in remarks)
    assert any(made.head in line for line in remarks)


JOINED = pa.concat_tables([TABLE, TABLE.slice(0, 1).set_column(0, "who", pa.array([99]))])
EMPTY = TABLE.slice(0, 0)


def test_the_same_plan_gives_the_same_answers_whatever_the_data(tmp_path: Path) -> None:
    """A fresh draw because the data changed would tell that somebody joined; so would what is spent."""
    ledger = el.Ledger(tmp_path / "ledger.db")
    first = released(tmp_path)
    for data in (TABLE, JOINED, EMPTY, TABLE.drop_columns(["x"]), "nowhere.csv"):
        second = released(tmp_path, table=data, output=tmp_path / "again.json")
        assert (second.kind, second.answers) == ("saved", first.answers)
    assert released(tmp_path, {**PLAN, "title": "Called otherwise"}, table=JOINED).kind == "saved"
    assert ledger.account("patients").spent.epsilon == pytest.approx(0.9)


def versioned(version: Any, **more: Any) -> dict[str, Any]:
    return {**PLAN, "data": {**PLAN["data"], "version": version, **more}}


def test_new_answers_are_the_operators_word(tmp_path: Path) -> None:
    """``again``, or a version of the data: drawn and charged, whether or not the data changed."""
    ledger = el.Ledger(tmp_path / "ledger.db")
    first = released(tmp_path)
    again = released(tmp_path, again=True)
    assert again.kind == "release"
    assert released(tmp_path, table=JOINED).release == again.release != first.release  # the last that was published
    spent = 1.8
    for version, table in (("2026-03", TABLE), ("2026-04", TABLE), ("2026-05", JOINED), (7, TABLE)):
        spent += 0.9
        made = released(tmp_path, versioned(version), table=table)
        assert made.kind == "release"
        assert released(tmp_path, versioned(version), table=EMPTY).answers == made.answers
        assert ledger.account("patients").spent.epsilon == pytest.approx(spent)
    with pytest.raises(InputError, match=r"data.version is 1.1: give text"):  # 1.10 is another version, and YAML's 1.1
        released(tmp_path, versioned(1.1))


def test_a_table_that_has_a_name_may_move(tmp_path: Path) -> None:
    """The plan says which table it is about: by its name, or where it has none by its address, without passwords."""
    first = released(tmp_path, versioned("1", name="visits", table="/a/visits.csv"))
    assert released(tmp_path, versioned("1", name="visits", table="/b/moved.parquet")).answers == first.answers
    assert released(tmp_path, versioned("1", name="stays", table="/a/visits.csv")).kind == "release"
    made = released(tmp_path, versioned("1", table="postgres://me:one@host/db#visits"))
    assert released(tmp_path, versioned("1", table="postgres://me:two@host/db#visits")).release == made.release
    assert released(tmp_path, versioned("1", table="postgres://me:two@host/db#stays")).kind == "release"


BRIEF = {**PLAN, "queries": [{"count": True}], "limits": {"success": 0.8}}


def done(folder: Path, tables: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What comes of all that an operator may do, one after another, each with the next of the tables."""
    ledger, data, came = el.Ledger(folder / "ledger.db"), itertools.cycle(tables), list[tuple[Any, ...]]()
    ledger.limit("patients", epsilon=5.0)
    found = el.assess(BRIEF, table=TABLE)

    def act(version: str = "1", title: str = "Visits", **options: Any) -> None:
        plan = read_release({**BRIEF, "title": title, "data": {"table": "t", "version": version}})
        options.setdefault("assessment", replace(found, release=plan))
        try:
            kind = released(folder, plan, table=next(data), output=folder / "out.json", **options).kind
        except (el.EpsilensError, KeyboardInterrupt) as error:
            kind = f"{type(error).__name__} {getattr(error, 'parameter', '')}"
        account = ledger.account("patients")
        came.append((kind, account.spent, [one.state for one in account.releases], len(ledger.export())))

    act(dry_run=True)
    act(assessment=None)
    act(assessment=None)
    act(title="Other")
    act(again=True)
    act()
    act("2")
    act("2")
    with monkeypatch.context() as broken:
        broken.setattr(module, "draw_answers", interrupted)
        act("3")
    act("3")
    act("3", dry_run=True)
    act("3", again=True)
    act("4")
    act("4", dry_run=True)
    act(part="north")
    act()
    return came


def test_what_happens_is_the_plans_and_the_operators_doing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Published, saved, refused, charged: the same whether or not somebody joins, at every step."""
    came = []
    for name, tables in (("stay", (TABLE,)), ("join", (TABLE, JOINED))):
        (tmp_path / name).mkdir()
        came.append(done(tmp_path / name, tables, monkeypatch))
    assert [one[0] for one in came[0]] == [
        "dry run", "release", "saved", "saved", "release", "saved", "release", "saved", "KeyboardInterrupt ",
        "InputError again", "dry run", "release", "LimitError ledger", "LimitError ledger", "InputError part", "saved",
    ]  # fmt: skip
    assert came[1] == came[0]


def test_the_only_account_is_used(tmp_path: Path) -> None:
    """Without a name a release opens no account beside the one that has a limit; with several it asks."""
    ledger = el.Ledger(tmp_path / "ledger.db")
    ledger.limit("patients", epsilon=1.0)
    assert el.release(PLAN, table=TABLE, ledger=ledger).account == "patients"
    with pytest.raises(LimitError, match=r"the ledger allows ε = 1 for 'patients'"):
        el.release(versioned("2"), table=TABLE, ledger=ledger)
    ledger.limit("doctors", epsilon=1.0)
    for dry_run in (False, True):
        with pytest.raises(InputError, match=r"give one of 'patients', 'doctors'"):
            el.release(versioned("2"), table=TABLE, ledger=ledger, dry_run=dry_run)
    assert el.release(PLAN, table=TABLE, ledger=tmp_path / "new.db").account == "everyone"


@pytest.mark.always
def test_the_same_table_in_another_account_is_refused(tmp_path: Path) -> None:
    """In whatever form it comes: a copy, a link, a glob, other columns first, a frame, a database."""
    ledger = el.Ledger(tmp_path / "ledger.db")
    csv_file = tmp_path / "people.csv"
    arrow_csv.write_csv(TABLE, csv_file)
    shutil.copy(csv_file, tmp_path / "copy.csv")
    (tmp_path / "link.csv").symlink_to(csv_file)
    pq.write_table(TABLE.select(["x", "who", "site"]), tmp_path / "people.parquet")
    with sqlite3.connect(tmp_path / "people.db") as connection:
        TABLE.to_pandas().to_sql("people", connection, index=False)
    released(tmp_path, table=str(csv_file))
    before = ledger.export()
    for k, table in enumerate(
        (
            csv_file, tmp_path / "copy.csv", tmp_path / "link.csv", str(tmp_path / "peo*.csv"), TABLE.to_pandas(),
            tmp_path / "people.parquet", f"sqlite://{tmp_path}/people.db#people", TABLE.take(list(range(47, -1, -1))),
        )
    ):  # fmt: skip
        with pytest.raises(InputError, match=r"this data was released about 'patients', .* nothing was spent"):
            el.release(versioned(str(k)), table=table, ledger=ledger, account=f"people {k}")
    assert ledger.export() == before
    made = el.release(versioned("1"), table=TABLE, ledger=ledger, account="staff", other_people=True)
    assert made.kind == "release"
    assert el.release(versioned("1"), table=JOINED, ledger=ledger, account="visitors").kind == "release"
    assert ledger.check() == []


def test_a_plan_that_breaks_its_limits_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LimitError, match=r"breaks its own limits \(success\): ε = .* keeps them; nothing was spent"):
        released(tmp_path, {**PLAN, "limits": {"success": 0.51}})
    assert not (tmp_path / "ledger.db").exists()


def test_what_no_epsilon_keeps_is_not_promised(tmp_path: Path) -> None:
    """A limit on risk and one on error that no ε meets together: neither is said to be kept."""
    for limits, said in (
        ({"error": 1e-9}, r"\(error\): no ε keeps them, so change"),
        (
            {"success": 0.51, "error": 0.1},
            r"\(success, error\): the risk allows ε = 0\.\d+ and the error needs [\d.]+, so",
        ),
        ({"error": 0.1}, r"\(error\): ε = [\d.]+ keeps them"),
    ):
        plan = {**PLAN, "limits": limits}
        with pytest.raises(LimitError, match=said):
            released(tmp_path, plan, assessment=el.assess(plan, table=TABLE))


def test_no_table_decides_whether_its_release_is_made(tmp_path: Path) -> None:
    """Errors, and who can be isolated, are the table's: without an assessment in hand they refuse nothing."""
    noisy = {**PLAN, "limits": {"error": 1e-9}}
    assert released(tmp_path, noisy).kind == "release"
    data = {**PLAN["data"], "quasi_identifiers": ["site"], "secret": "x > 1"}
    alone = pa.concat_tables([TABLE, pa.table({"who": [77], "site": ["z"], "x": [1.0]}).cast(TABLE.schema)])
    for epsilon, outcome in ((0.05, "release"), (5.0, "refused")):
        plan = {**PLAN, "data": data, "mechanism": {"epsilon": epsilon}, "limits": {"success": 0.6}}
        seen = []
        for name, table in (("some", TABLE), ("alone", alone)):
            (tmp_path / f"{name}{epsilon}").mkdir()
            try:
                seen.append(released(tmp_path / f"{name}{epsilon}", plan, table=table).kind)
            except LimitError:
                seen.append("refused")
        assert seen == [outcome, outcome]
    with pytest.raises(InputError, match="from data"):
        released(tmp_path, {**PLAN, "adversary": {"correlation": "from data"}, "limits": {"success": 0.9}})


@pytest.mark.always
def test_a_ledger_that_is_used_up_refuses(tmp_path: Path) -> None:
    ledger = el.Ledger(tmp_path / "ledger.db")
    ledger.limit("patients", epsilon=1.0)
    released(tmp_path)
    before = ledger.export()
    other = versioned("another")
    for options in ({}, {"dry_run": True}):
        with pytest.raises(LimitError, match=r"the ledger allows ε = 1"):
            released(tmp_path, other, **options)
    assert ledger.export() == before
    told = released(tmp_path, dry_run=True)  # what was published before needs no room
    assert told.spent["epsilon"] == 0.0
    assert told.room[0].after == pytest.approx(0.9)


def test_names_from_the_data_are_refused(tmp_path: Path) -> None:
    plan = {**PLAN, "queries": [{"count": True, "by": "site"}]}
    with pytest.raises(LimitError, match="names of its groups from the data"):
        released(tmp_path, plan)


def test_shares_from_the_data_are_refused(tmp_path: Path) -> None:
    plan = {**PLAN, "mechanism": {"epsilon": 0.9, "split": "least error"}}
    with pytest.raises(InputError, match="its shares come from the data"):
        released(tmp_path, plan)


def test_a_dry_run_looks_at_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "open_table", lambda *_: pytest.fail("the table was opened"))
    made = released(tmp_path, dry_run=True)
    assert made.kind == "dry run"
    assert made.answers == ()
    assert made.spent["epsilon"] == pytest.approx(0.9, rel=1e-12)
    assert not (tmp_path / "ledger.db").exists()


def test_made_up_rows_spend_nothing(tmp_path: Path) -> None:
    made = released(tmp_path, synthetic=True, output=tmp_path / "x.csv")
    assert made.kind == "synthetic"
    assert len(made.answers) == 5
    assert (tmp_path / "x.csv").read_text().startswith("# MADE UP")
    assert not (tmp_path / "ledger.db").exists()
    assert made.answers[0].answer > 100  # of two thousand rows, not of 48


def test_an_assessment_of_another_plan_is_refused(tmp_path: Path) -> None:
    found = el.assess(PLAN, table=TABLE)
    assert released(tmp_path, assessment=found).kind == "release"
    changed = {**PLAN, "mechanism": {"epsilon": 1.0}}
    with pytest.raises(InputError, match="not the one that was assessed"):
        released(tmp_path, changed, assessment=found)
    assert el.Ledger(tmp_path / "ledger.db").account("patients").spent.epsilon == pytest.approx(0.9)


def test_a_threshold_hides_small_groups(tmp_path: Path) -> None:
    plan = {
        **PLAN,
        "queries": [{"count": True, "by": "site", "threshold": 25}],
        "mechanism": {"epsilon": 20.0},
        "limits": {},
    }
    made = released(tmp_path, plan)
    assert [dict(a.group)["site"] for a in made.answers] == ["a"]


def test_public_groups_are_published_when_nobody_is_there(tmp_path: Path) -> None:
    plan = {**PLAN, "mechanism": {"epsilon": 60.0}, "limits": {}}
    made = released(tmp_path, plan)
    counts = {dict(a.group)["site"]: a.answer for a in made.answers[:3]}
    assert all(abs(counts[site] - TRUE[site]) <= 3 for site in TRUE)


@pytest.mark.parametrize("noise", [{}, {"noise": "gaussian", "delta": 1e-6}])
def test_intervals_hold_the_answers(tmp_path: Path, noise: dict[str, Any]) -> None:
    """Of 300 releases of five numbers each at least 95% of the intervals hold the bounded answer, less 3 errors."""
    plan = {**PLAN, "mechanism": {"epsilon": 0.9, **noise}, "limits": {}}
    x = [float(i % 7) + 0.125 for i in range(48)]
    true = [31.0, 17.0, 0.0, sum(x), sum(x) / 48]
    found = el.assess(plan, table=TABLE)
    held = []
    for _ in range(60):
        made = released(tmp_path, plan, ledger=None, assessment=found)
        held += [a.low <= t <= a.high for a, t in zip(made.answers, true, strict=True)]
    assert sum(held) / len(held) >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / len(held))


@pytest.mark.parametrize("ending", ["csv", "json", "parquet", "html"])
def test_files_hold_the_answers_and_nothing_of_the_true_ones(tmp_path: Path, ending: str) -> None:
    """The true sum has more digits than noise leaves to an answer, so that none is equal to it by chance."""
    path = tmp_path / f"answers.{ending}"
    steps = [(i % 7) * 10**6 + 123_457 for i in range(48)]
    table = TABLE.set_column(2, "x", pa.array([step / 10**6 for step in steps]))
    made = released(tmp_path, table=table, output=path)
    content = path.read_bytes()
    for exact in (str(sum(steps)), str(sum(steps) / 10**6), str(sum(steps) / 48)[:12]):
        assert exact.encode() not in content
    if ending == "parquet":
        read = pq.read_table(path)
        assert read["answer"].to_pylist() == [a.answer for a in made.answers]
        assert json.loads(read.schema.metadata[b"epsilens"])["guarantee"] == made.guarantee
    else:
        assert f"{made.answers[0].answer:g}".encode() in content
        assert b"Visits by site" in content
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


@pytest.mark.parametrize("name", ["nowhere/a.csv", ".", os.fsdecode(b"\xe4.csv")])
def test_a_file_that_cannot_be_written_costs_nothing(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="output is"):
        released(tmp_path, output=tmp_path / name)
    assert not (tmp_path / "ledger.db").exists()


@pytest.mark.always
def test_what_breaks_off_after_the_draw_is_given_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(module, "save", interrupted)
        with pytest.raises(KeyboardInterrupt):
            released(tmp_path, output=tmp_path / "a.csv")
    made = released(tmp_path, output=tmp_path / "a.csv")
    assert made.kind == "saved"
    assert (tmp_path / "a.csv").exists()
    assert el.Ledger(tmp_path / "ledger.db").account("patients").spent.epsilon == pytest.approx(0.9)


@pytest.mark.always
def test_what_breaks_off_in_the_draw_is_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(module, "draw_answers", interrupted)
        with pytest.raises(KeyboardInterrupt):
            released(tmp_path)
    account = el.Ledger(tmp_path / "ledger.db").account("patients")
    assert [one.state for one in account.releases] == [EntryKind.WITHHELD]
    assert account.spent.epsilon == pytest.approx(0.9)
    with pytest.raises(InputError, match="never published"):
        released(tmp_path)


def test_a_disk_that_is_full_once_it_is_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        with pytest.raises(WriteError, match="spent; run again with another --output, which costs nothing"):
            released(tmp_path, output=tmp_path / "a.csv")
    assert [p.name for p in tmp_path.iterdir()] == ["ledger.db"]
    assert released(tmp_path, output=tmp_path / "b.csv").kind == "saved"
    assert el.Ledger(tmp_path / "ledger.db").account("patients").spent.epsilon == pytest.approx(0.9)
    with monkeypatch.context() as broken:  # nothing is spent on what is given again
        broken.setattr(os, "fsync", full)
        with pytest.raises(InputError, match="give a file in a folder") as raised:
            released(tmp_path, output=tmp_path / "c.csv")
    assert not isinstance(raised.value, WriteError)


def test_a_disk_without_room_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fdopen
    monkeypatch.setattr(os, "fdopen", lambda _, mode: real(os.open("/dev/full", os.O_WRONLY), mode))
    with pytest.raises(InputError, match="No space left on device; give a file"):
        released(tmp_path, output=tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_that_is_full_once_it_is_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(Reservation, "publish", interrupted_by(InputError("has no room left on its disk")))
        with pytest.raises(WriteError, match="spent and never published") as raised:
            released(tmp_path, output=tmp_path / "a.csv")
    assert "nothing was spent" not in str(raised.value)
    assert el.Ledger(tmp_path / "ledger.db").account("patients").spent.epsilon == pytest.approx(0.9)


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def interrupted_by(error: Exception) -> Callable[..., None]:
    def interrupt(*_: object, **__: object) -> None:
        raise error

    return interrupt


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.always
def test_group_names_cannot_command_a_spreadsheet(tmp_path: Path) -> None:
    table = TABLE.set_column(1, "site", pa.array(["=1+1"] * 48))
    plan = {**PLAN, "queries": [{"count": True, "by": "site", "groups": ["=1+1"]}]}
    released(tmp_path, plan, table=table, output=tmp_path / "a.csv")
    assert "'=1+1" in (tmp_path / "a.csv").read_text()


@pytest.mark.parametrize(
    ("plan", "options", "said"),
    [
        ({**PLAN, "queries": [{"sum": "x", "bounds": [0, 0]}], "limits": {}}, {}, "bounds are 0 and 0: give"),
        (PLAN, {"output": 7}, "output is an int"),
        (PLAN, {"ledger": 7}, "ledger is an int"),
    ],
)
def test_hostile_input_is_one_sentence(tmp_path: Path, plan: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(el.InputError, match=said):
        released(tmp_path, plan, **options)
    assert list(tmp_path.iterdir()) == []


def test_tiny_bounds_keep_their_digits(tmp_path: Path) -> None:
    """Noise of scale 1e-200 on a sum within 1e-200: an answer rounded to twelve decimals would be 0 for certain."""
    made = released(tmp_path, {**PLAN, "queries": [{"sum": "x", "bounds": [0, 1e-200]}], "limits": {}}, ledger=None)
    answer = made.answers[0]
    assert 0 < answer.high - answer.low < 1e-197
    assert answer.low <= answer.answer <= answer.high


def test_a_release_bears_the_time_of_its_line_in_the_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("epsilens.ledger.ledger._now", lambda: "2001-02-03T04:05:06+00:00")
    made = released(tmp_path)
    assert made.at == "2001-02-03T04:05:06+00:00"
    assert released(tmp_path).at == made.at  # published before: the same file, whenever it is written


def test_releases_that_are_killed(tmp_path: Path) -> None:
    """A small share of ``python -m scripts.ledger_trials 300 --releases``, on PostgreSQL too."""
    assert run_release_trial(str(tmp_path / "ledger.db"), 3, tmp_path).wrong == []


SITES = ["north"] * 30 + ["south"] * 20 + [None] * 2
TABLE_PARTED = pa.table({"who": [i // 2 for i in range(52)], "site": SITES, "x": [float(i % 5) for i in range(52)]})
MOVED = TABLE_PARTED.set_column(1, "site", pa.array(["south", *SITES[1:]]))


def plan(*queries: dict[str, Any], **data: Any) -> Any:
    said = {"table": "t", "person": "who", "max_rows": 2, **data}
    return read_release(
        {"title": "One site", "data": said, "queries": list(queries), "mechanism": {"epsilon": 0.4}, "limits": {}}
    )


NORTH = {"count": "site = 'north'"}


def released_parted(
    folder: Path, planned: Any, part: str | None = "north", table: Any = TABLE_PARTED, **options: Any
) -> Any:
    return el.release(planned, account="patients", ledger=folder / "ledger.db", part=part, table=table, **options)


@pytest.fixture
def ledger(tmp_path: Path) -> el.Ledger:
    made = el.Ledger(tmp_path / "ledger.db")
    made.limit("patients", epsilon=0.5, partition="site")
    return made


def test_each_part_pays_for_itself(tmp_path: Path, ledger: el.Ledger) -> None:
    """Two releases of 0.4 under a limit of 0.5: side by side, never one after the other."""
    released_parted(tmp_path, plan(NORTH))
    released_parted(tmp_path, plan({"count": "x > 1 AND site = 'south'"}), "south")
    assert ledger.account("patients").spent.epsilon == pytest.approx(0.4, rel=1e-12)
    for part in ("north", None):
        with pytest.raises(LimitError, match="the ledger allows"):
            released_parted(tmp_path, plan({"count": "site = 'north' AND x > 2"}), part)


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
    alone = TABLE_PARTED.set_column(1, "site", pa.array([None, *SITES[1:]]))
    for table in (TABLE_PARTED, alone):
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
        (plan({"count": True}), "north", TABLE_PARTED, "query 1 may count people of other parts"),
        (
            plan({"count": "site = 1"}),
            "1",
            TABLE_PARTED.set_column(1, "site", pa.array([1.0] * 52)),
            "neither words nor whole",
        ),
    ],
)
def test_what_is_not_so_costs_nothing(
    tmp_path: Path, ledger: el.Ledger, planned: Any, part: str, table: Any, said: str
) -> None:
    before = ledger.export()
    with pytest.raises(InputError, match=said):
        released_parted(tmp_path, planned, part, table)
    assert ledger.export() == before
    released_parted(tmp_path, planned, None, table)  # counted for everyone
    assert ledger.account("patients").spent.epsilon == pytest.approx(0.4, rel=1e-12)
    assert ledger.account("patients").releases[0].part is None


def test_a_dry_run_says_so_too(tmp_path: Path, ledger: el.Ledger) -> None:
    with pytest.raises(InputError, match="may count people of other parts"):
        released_parted(tmp_path, plan({"count": True}), dry_run=True)
    assert released_parted(tmp_path, plan(NORTH), dry_run=True).kind == "dry run"


def test_a_part_needs_a_ledger() -> None:
    with pytest.raises(InputError, match="part is counted in a ledger"):
        el.release(plan(NORTH), ledger=None, part="north", table=TABLE_PARTED)


def test_parts_that_changed_meanwhile(tmp_path: Path, ledger: el.Ledger) -> None:
    noise = el.laplace(epsilon=0.1)
    with pytest.raises(InputError, match="no longer by 'region'"):
        ledger.reserve("patients", noise, charge_of(noise), part="north", partition="region")
    assert ledger.account("patients").counted == ()
