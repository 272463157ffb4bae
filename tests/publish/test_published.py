"""What is published, kept and reported names the table as the operator does: nothing of its address is in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
import typer

import epsilens as el
from epsilens.cli.app import app
from epsilens.cli.console import run
from epsilens.ledger.budget import charge_of
from epsilens.plan.file import read_release
from epsilens.publish.files import OutputFormat, script_of

pytest.importorskip("opendp")

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
