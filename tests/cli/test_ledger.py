"""``epsilens ledger`` as a person would run it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from tests.specimens import EXPERIMENTS

import epsilens as el
from epsilens.cli.app import app
from epsilens.cli.console import run

COMMAND = typer.main.get_command(app)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments: str) -> int:
    return run(COMMAND, ("ledger", *arguments))


def test_from_a_limit_to_a_refusal(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call("limit", "--success", "0.65") == 0
    said = capsys.readouterr()
    assert said.out.startswith("Nothing is released about everyone yet")
    assert f"The ledger is {here / 'ledger.db'} (--ledger names another)." in " ".join(said.err.split())
    assert call("add", "gaussian", "--sigma", "4", "--title", "visits") == 0
    said = capsys.readouterr()
    assert "Entered for everyone: gaussian(sigma=4), visits." in said.err
    assert said.out.startswith("After 1 release an adversary guesses right at most 55 times of 100")
    assert call("add", "laplace", "--epsilon", "2", "--within-limits") == 4
    said = capsys.readouterr()
    assert said.out == ""
    assert "the ledger allows ψ" in said.err
    assert len(el.Ledger("ledger.db").account("everyone").releases) == 1
    assert call("add", "laplace", "--epsilon", "2") == 4  # it has happened
    assert "Over its limits" in capsys.readouterr().out
    assert call("check") == 4
    assert "more is spent for 'everyone'" in capsys.readouterr().out


def test_claims_and_trainings(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("add", "--epsilon", "1", "--delta", "1e-6", "--account", "patients") == 0
    assert call("add", "--epsilon", "0.5", "--beside", "1e-7") == 0
    assert call("add", "dpsgd", "--sigma", "1", "--rate", "0.01", "--steps", "100", "--for-delta", "1e-6") == 0
    assert call("add", "zcdp", "--rho", "0.1", "--times", "2") == 0
    account = el.Ledger("ledger.db").account("patients")
    assert [str(one.body["parts"][0]["builder"]) for one in account.releases] == [
        "approximate",
        "pure",
        "dpsgd",
        "zcdp",
    ]
    assert account.releases[1].charge.delta == 1e-7
    assert account.releases[2].charge.slack == 1e-6
    assert account.releases[3].charge.rho == pytest.approx(0.2, rel=1e-12)
    capsys.readouterr()


@pytest.mark.parametrize(
    ("said", "made"),
    [
        ("dpsgd --sigma 1 --rate 0.01 --steps 100", lambda: el.dpsgd(sigma=1.0, rate=0.01, steps=100)),
        ("banded --sigma 2 --rate 0.01 --steps 100 --bands 4", lambda: EXPERIMENTS["banded"]()),
        ("tree --leaves 16 --sigma 2 --participations 2 --separation 8", lambda: EXPERIMENTS["binary tree"]()),
        ("sparse-vector --threshold-scale 2 --query-scale 4", lambda: EXPERIMENTS["sparse vector"]()),
        ("rdp --orders 1.5,2,4,16 --rho 0.05,0.1,0.25,1.2", lambda: EXPERIMENTS["from rdp"]()),
        ("exponential --epsilon 1 --scores0 1,2,3 --scores1 1,2,4", lambda: EXPERIMENTS["exponential"]()),
    ],
)
def test_what_is_entered_is_built_again(said: str, made: Callable[[], el.Experiment]) -> None:
    assert call("add", *said.split(), "--account", "patients") == 0
    assert el.Ledger("ledger.db").experiment("patients") == made()


def test_every_format(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    call("add", "laplace", "--epsilon", "0.5", "--account", "patients")
    capsys.readouterr()
    assert call("show", "--format", "json") == 0
    got = json.loads(capsys.readouterr().out)
    assert got["accounts"][0]["releases"][0]["charge"]["epsilon"] == 0.5
    assert call("show", "--account", "patients", "--format", "md") == 0
    assert capsys.readouterr().out.startswith("# patients")
    assert call("show", "--format", "html", "--output", "ledger.html") == 0
    assert "<svg" in (here / "ledger.html").read_text("utf-8")
    capsys.readouterr()
    assert call("export") == 0
    lines = json.loads(capsys.readouterr().out)
    assert [line["kind"] for line in lines] == ["added"]


def test_whose_account(capsys: pytest.CaptureFixture[str]) -> None:
    call("limit", "--psi", "1", "--account", "patients")
    call("add", "laplace", "--epsilon", "0.1")  # the only one
    assert "new account" not in capsys.readouterr().err
    call("limit", "--psi", "1", "--account", "doctors")
    assert "'doctors' is a new account, beside 'patients'" in capsys.readouterr().err
    assert call("add", "laplace", "--epsilon", "0.1") == 2
    assert (
        "account is missing (--account): the ledger has 2 accounts, so give one of 'patients', 'doctors'"
        in capsys.readouterr().err
    )
    assert call("show", "--account", "nurses") == 2
    assert "'nurses', of whom the ledger has nothing" in capsys.readouterr().err


def test_changed_lines_and_a_cut_end(capsys: pytest.CaptureFixture[str]) -> None:
    call("limit", "--psi", "1", "--account", "patients")
    call("add", "laplace", "--epsilon", "0.1")
    capsys.readouterr()
    head = el.Ledger("ledger.db").account("patients").head
    assert call("check", "--head", head) == 0
    assert "as it was written: 1 accounts, 1 releases" in capsys.readouterr().out
    with sqlite3.connect("ledger.db") as connection:
        connection.execute("DELETE FROM epsilens_ledger WHERE seq = 2")
    assert call("check") == 0
    assert call("check", "--head", head) == 4
    assert "the end of the ledger was cut off" in capsys.readouterr().out
    with sqlite3.connect("ledger.db") as connection:
        connection.execute("UPDATE epsilens_ledger SET body = replace(body, '1.0', '9.0')")
    assert call("check") == 4
    assert call("add", "laplace", "--epsilon", "0.1") == 2
    assert "is not as it was written" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ("show",),
        ("check",),
        ("export",),
        ("limit",),
        ("limit", "--success", "much"),
        ("limit", "--success", "0.4"),
        ("limit", "--psi", "1", "--account", ""),
        ("add",),
        ("add", "nothing"),
        ("add", "laplace", "--sigma", "1"),
        ("add", "laplace", "--epsilon", "1", "--times", "1.5"),
        ("add", "laplace", "--epsilon", "1", "--part", "north"),
        ("add", "laplace", "--epsilon", "1", "--beside", "2"),
        ("add", "laplace", "--epsilon", "1", "--ledger", "mysql://host/db"),
        ("add", "laplace", "--epsilon", "1", "--ledger", "postgresql://me:hush@127.0.0.1:1/db"),
        ("add", "laplace", "--epsilon", "1", "--ledger", "."),
        ("add", "laplace", "--epsilon", "1", "--ledger", "no/such/folder.db"),
        ("forget",),
    ],
)
def test_bad_input_is_one_sentence(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert call(*arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert said.err.startswith("epsilens: ")
    assert "hush" not in said.err


def test_alone_it_says_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert call() == 0
    out = capsys.readouterr().out
    assert all(word in out for word in ("show", "add", "limit", "check", "export"))
