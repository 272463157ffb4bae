"""Help under headings and in whole sentences, options once, and the word that was meant."""

from __future__ import annotations

import pytest
import typer

from epsilens.cli.app import app
from epsilens.cli.console import run


def ran(*arguments: str) -> int:
    return run(typer.main.get_command(app), arguments)


@pytest.mark.parametrize("command", [[], ["ledger"], ["audit"], ["release"], ["assess"], ["init"], ["serve"]])
def test_nothing_is_cut_off(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(*command, "--help") == 0
    assert "..." not in capsys.readouterr().out.replace("[ARGS]...", "").replace("[NAME]...", "")


def test_help_of_one_mechanism(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran("explain", "laplace", "--help") == 0
    shown = capsys.readouterr().out
    assert "Noise of laplace:" in shown
    assert "--scale" in shown
    assert "--prior" in shown
    assert "--sigma" not in shown
    assert ran("explain", "--help") == 0
    assert "--sigma" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("explan", "did you mean explain?"),
        ("ledger shwo", "did you mean show?"),
        ("explain laplac --epsilon 1", "did you mean laplace?"),
        ("explain laplace --epsilom 1", "did you mean --epsilon?"),
        ("explain dpsgd --batch-size 256", "did you mean --batch?"),
        ("explain dpsgd --noise_multiplier 1.1", "did you mean --sigma?"),
        ("explain --eps 8", "did you mean --epsilon?"),
        ("explain census-redistrictin", "did you mean census-redistricting?"),
        ("explain dpsgd --sigma 1", "give --rate and --steps, or --n and --batch and --epochs"),
        ("explain dpsgd --epsilon 3 --n 60000", "leave dpsgd out to judge an ε that is claimed"),
        ("explain rdp --epsilon 3 --order 8", "α is --orders and ε is --rho"),
        ("scan x --size 3", "did you mean --min-query-size?"),
        ("choose laplace --at-most succes=0.6", "did you mean success?"),
        ("choose laplace --at-most success=0.6 --parameter epsilom", "did you mean epsilon?"),
        ("choose differencing --at-most success=0.55", "the command difference is for it"),
        ("explain tampering", "the command tamper is for it"),
        ("reproduce liu2018", "did you mean liu2019?"),
        ("scan epsilens:rand-hie --quasi agee", "did you mean 'age'?"),
        ("explain laplace --epsilon 1 --format jsn", "--format is 'jsn': give one of table, json"),
        ("audit x --runs many", "--runs is 'many': give a whole number"),
        ("audit x --confidence high", "--confidence is 'high': give a number"),
    ],
)
def test_what_was_meant(line: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(*line.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "line",
    [
        "choose laplace --at-most success=0.6 --at-most auc=0.6",
        "assess p.yaml --format json --format md",
        "init t.csv --output a --output b",
        "release p.yaml --output a --output b",
        "audit p.yaml --runs 1 --runs 2",
        "serve --port 1 --port 2",
        "reproduce 000 --format md --format json",
        "tamper --epsilon 1 --epsilon 2",
        "identify --n 3 --n 4",
        "correlate t.csv --columns a --columns b",
        "notions --from dp --from ip",
        "ledger add --epsilon 1 --epsilon 1",
    ],
)
def test_no_command_takes_an_option_twice(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(*line.split()) == 2
    assert "is given twice: give it once" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["000", "0", "liu2019", "Liu 2019"])
def test_papers_go_by_their_authors(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran("reproduce", name) == 0
    assert capsys.readouterr().out.startswith("Paper 000: Liu")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--output", ""], "--output is empty"),
        (["--output", " "], "--output is empty"),
        (["--output", "papers/", "--format", "json"], "leave --format out"),
    ],
)
def test_where_a_reproduction_goes_is_asked_before_it_is_made(
    given: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran("reproduce", "004", *given) == 2
    assert says in capsys.readouterr().err
