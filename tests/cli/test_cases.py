"""``epsilens audit --catalogue`` as people run it."""

from __future__ import annotations

import json

import pytest
import typer

from epsilens.cli.app import app
from epsilens.cli.console import run


def call(*arguments: str) -> int:
    return run(typer.main.get_command(app), ["audit", "--catalogue", *arguments])


def test_named_cases_and_their_twins_are_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("sparse-no-query-noise", "numpy-laplace", "--runs", "3000", "--seed", "1", "--format", "json") == 0
    told = json.loads(capsys.readouterr().out)
    verdicts = {each["name"]: each["verdict"] for each in told["cases"]}
    assert verdicts == {
        "numpy-laplace": "VIOLATION", "numpy-geometric": "CONSISTENT", "sparse-no-query-noise": "VIOLATION",
        "sparse-swap": "CONSISTENT",
    }  # fmt: skip
    assert told["as_known"] is True


def test_a_broken_case_that_is_not_found_is_exit_code_4(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("sparse-no-limit", "--runs", "40", "--seed", "1") == 4
    assert "Not as known" in capsys.readouterr().out


def test_bad_input_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, words in (
        (("nothing-like-it",), "there is no case 'nothing-like-it'"),
        (("numpy-laplace", "--claim", "epsilon=1"), "--claim is not for --catalogue"),
        (("numpy-laplace", "--runs", "0"), "runs is 0"),
        (("numpy-laplace", "--confidence", "1"), "confidence"),
    ):
        assert call(*arguments) == 2
        assert words in " ".join(capsys.readouterr().err.split())
