"""How a result is written: by the format, or by the ending of the file's name."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from tests.show.read_pdf import pages_of

from epsilens.cli.app import app
from epsilens.cli.console import format_by_name, run


def _run(*words: str) -> int:
    return run(typer.main.get_command(app), words)


@pytest.mark.parametrize(
    ("ending", "start"),
    [("pdf", b"%PDF-1.7"), ("html", b"<!DOCTYPE html>"), ("json", b"{"), ("md", b"#"), ("csv", b"reading")],
)
def test_the_ending_of_a_file_says_how(tmp_path: Path, ending: str, start: bytes) -> None:
    target = tmp_path / f"x.{ending}"
    assert _run("explain", "laplace", "--epsilon", "1", "--output", str(target)) == 0
    assert target.read_bytes().lstrip().startswith(start)


def test_other_endings_are_text(tmp_path: Path) -> None:
    for name in ("x.txt", "x"):
        assert _run("explain", "laplace", "--epsilon", "1", "--output", str(tmp_path / name)) == 0
        assert (tmp_path / name).read_text().startswith("An adversary")


def test_what_was_asked_for_counts_more(tmp_path: Path) -> None:
    target = tmp_path / "x.txt"
    assert _run("explain", "laplace", "--epsilon", "1", "--format", "json", "--output", str(target)) == 0
    assert json.loads(target.read_text())["schema"]
    assert format_by_name("csv", "x.html") == "csv"


def test_a_pdf_of_another_format_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "x.pdf"
    assert _run("explain", "laplace", "--epsilon", "1", "--format", "json", "--output", str(target)) == 2
    assert "leave --format out, or end the name in .json" in capsys.readouterr().err
    assert not target.exists()


def test_a_pipe_takes_a_pdf() -> None:
    words = ["explain", "laplace", "--epsilon", "1", "--format", "pdf"]
    made = subprocess.run([sys.executable, "-m", "epsilens.cli", *words], capture_output=True, check=True)
    assert made.stdout.startswith(b"%PDF-1.7")
    assert made.stdout.endswith(b"%%EOF")


PLAN = """
title: Visits
data: {table: "epsilens:rand-hie", person: person, max_rows: 5}
queries: [{count: mental_visits > 0}]
mechanism: {epsilon: 0.1}
"""


def test_the_board_s_sheet_is_one_page(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN)
    target = tmp_path / "board.pdf"
    assert _run("assess", str(tmp_path / "plan.yaml"), "--format", "board", "--output", str(target)) == 0
    assert len(pages_of(target.read_bytes())) == 1
    report = tmp_path / "report.pdf"
    assert _run("assess", str(tmp_path / "plan.yaml"), "--output", str(report)) == 0
    assert len(pages_of(report.read_bytes())) > 1


def test_a_reading_nearly_right_is_told_also_with_a_share(capsys: pytest.CaptureFixture[str]) -> None:
    for limit in ("0.55", "55%", "55 of 100"):
        assert _run("choose", "laplace", "--at-most", f"sucess={limit}") == 2
        assert "did you mean success?" in capsys.readouterr().err
