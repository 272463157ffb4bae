"""Claims on the command line."""

from __future__ import annotations

import json
import shlex

import pytest
import typer

import epsilens as el
from epsilens.cli.app import app
from epsilens.cli.console import run


def explain(capsys: pytest.CaptureFixture[str], line: str) -> tuple[int, str, str]:
    code = run(typer.main.get_command(app), ["explain", *shlex.split(line)])
    said = capsys.readouterr()
    return int(code or 0), said.out, said.err


@pytest.mark.parametrize(
    ("line", "success"),
    [
        ("zcdp --rho 0.5", lambda: el.mechanisms.from_zcdp(0.5).success()),
        ("zcdp --rho 0.5 --xi 0.1 --neighbours replace", lambda: el.mechanisms.from_zcdp(0.5, 0.1).success()),
        ("rdp --order 8 --rho 0.5", lambda: el.mechanisms.from_rdp(8.0, 0.5).success()),
        ("rdp --orders 2,8 --rho 0.2,0.5", lambda: el.mechanisms.from_rdp([2, 8], [0.2, 0.5]).success()),
        ("GDP --mu 1", lambda: el.mechanisms.from_gdp(1.0).success()),
    ],
)
def test_claims_are_explained(capsys: pytest.CaptureFixture[str], line: str, success: object) -> None:
    code, out, err = explain(capsys, f"{line} --format json")
    assert (code, err) == (0, "")
    shown = json.loads(out)
    assert shown["readings"]["success"] == pytest.approx(success(), rel=1e-12)  # type: ignore[operator]
    again = explain(capsys, shown["command"].removeprefix("epsilens explain ") + " --format json")
    assert again[1] == out
    assert "worst case" in explain(capsys, line)[1]


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("zcdp", "needs --rho"),
        ("rdp --rho 1", "needs --orders"),
        ("rdp --order 1 --rho 1", "above 1"),
        ("rdp --order 2,8 --rho 1", "give one rho for each order"),
        ("zcdp --rho x", "--rho is 'x'"),
        ("zcdp --rho 1,2", "single number"),
        ("zcdp --rho 1 --mu 2", "takes no --mu"),
        ("laplace --epsilon 1 --rho 1", "takes no --rho"),
    ],
)
def test_bad_input_is_one_sentence(capsys: pytest.CaptureFixture[str], line: str, word: str) -> None:
    code, out, err = explain(capsys, line)
    assert (code, out) == (2, "")
    assert word in err
    assert err.count("\n") == 1


def test_help_lists_claims_where_they_are_taken(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(typer.main.get_command(app), ["explain", "--help"]) == 0
    assert "or a claim: zcdp, rdp, gdp" in " ".join(capsys.readouterr().out.split())
    assert run(typer.main.get_command(app), ["choose", "--help"]) == 0
    assert "zcdp" not in capsys.readouterr().out
    assert run(typer.main.get_command(app), ["choose", "zcdp", "--at-most", "success=0.6"]) == 2
    assert "a claim that only the command explain takes: give one of laplace" in capsys.readouterr().err
