"""The terminal is left in peace: options once, no control characters of a table, no traceback when a key stops it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from epsilens.cli.app import app
from epsilens.cli.console import emit, run
from epsilens.data.scan.scan import scan
from epsilens.results import escape_controls

ESCAPE = "\x1b[2J\x1b]0;owned\x07\u202e"


def ran(*arguments: str) -> int:
    return run(typer.main.get_command(app), arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", "laplace", "--epsilon", "1", "--epsilon", "2"),
        ("scan", "epsilens:adult", "--quasi", "age", "--quasi", "sex"),
        ("assess", "plan.yaml", "--engine", "duckdb", "--engine", "spark"),
        ("difference", "--epsilon", "1", "--known", "--known"),
    ],
)
def test_an_option_twice_is_refused(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(*arguments) == 2
    assert "is given twice: give it once" in capsys.readouterr().err


def test_what_may_be_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--query", "count by sex", "--query", "count by race")
    assert ran("scan", "epsilens:adult", "--quasi", "age", *asked) == 0
    assert capsys.readouterr().err == ""


def test_control_characters_are_spelled_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert escape_controls("a\nb\tcé") == "a\nb\tcé"
    assert escape_controls(ESCAPE) == "\\x1b[2J\\x1b]0;owned\\x07\\u202e"
    name = f"ward{ESCAPE}"
    found = scan({name: ["a", f"b{ESCAPE}", "b"], "x": [1, 2, 3]}, [name, "x"], show_people=True)
    for text in (found.to_text(), found.to_markdown(), found.to_html(), str(found)):
        assert "ward" in text
        assert not set(ESCAPE) & set(text) & {"\x1b", "\x07", "\u202e"}
    shown = found.to_terminal(80)
    assert "\x1b[2J" not in shown
    assert "\x1b]0" not in shown
    emit(json.dumps(found.to_dict(), ensure_ascii=False), None)
    assert not {"\x1b", "\x07", "\u202e"} & set(capsys.readouterr().out)


def test_control_characters_in_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran("scan", f"gone{ESCAPE}.csv", "--quasi", f"a{ESCAPE}") == 2
    assert ran("scan", "epsilens:adult", "--quasi", f"a{ESCAPE}") == 2
    assert ran(f"nothing{ESCAPE}") == 2
    assert not {"\x1b", "\x07", "\u202e"} & set(capsys.readouterr().err)


def test_passwords_in_errors(capsys: pytest.CaptureFixture[str]) -> None:
    address = "mysql2://me:p@ss/w#rd@host/db#t"
    assert ran("scan", address, "--quasi", "a") == 2
    assert ran("scan", "t", "--quasi", "a", "--engine", address) == 2
    assert ran("scan", "epsilens:adult", address, "--quasi", "a") == 2  # one argument too many
    assert ran("init", address) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 4
    assert "w#rd" not in said
    assert "p@ss" not in said


def test_a_fault_of_ours_names_the_place_and_no_value(capsys: pytest.CaptureFixture[str]) -> None:
    def broken(**_: object) -> None:
        raise ValueError("could not convert 'XQZ4711'")

    assert run(broken) == 1
    said = capsys.readouterr().err
    assert said.startswith("epsilens: something went wrong inside epsilens (ValueError")
    assert "cli/console.py:" in said
    assert "XQZ4711" not in said


def started(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "epsilens.cli", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


ENDS = {
    signal.SIGINT: (130, "epsilens: stopped from the keyboard\n"),
    signal.SIGTERM: (143, "epsilens: stopped by SIGTERM\n"),
    signal.SIGHUP: (129, "epsilens: stopped by SIGHUP, the terminal was closed\n"),
}


@pytest.mark.parametrize("number", ENDS)
def test_a_signal_stops_it(tmp_path: Path, number: signal.Signals) -> None:
    plan = tmp_path / "plan.yaml"
    os.mkfifo(plan)
    process = started("assess", str(plan))
    write = os.open(plan, os.O_WRONLY)  # returns once it reads, and so waits for what is never written
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    os.close(write)
    assert (process.returncode, err, out) == (*ENDS[number], "")


def test_what_nobody_is_to_end_by_a_closed_terminal_goes_on(tmp_path: Path) -> None:
    plan = tmp_path / "plan.yaml"
    os.mkfifo(plan)
    command = ["nohup", sys.executable, "-m", "epsilens.cli", "assess", str(plan)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    write = os.open(plan, os.O_WRONLY)
    process.send_signal(signal.SIGHUP)
    os.write(write, b"title: 1\n")
    os.close(write)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 2
    assert "stopped" not in err


@pytest.mark.parametrize("number", ENDS)
def test_a_signal_stops_it_while_it_is_loaded(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "typer.py").write_text("import time\nprint('loading', flush=True)\ntime.sleep(60)\n")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    command = [sys.executable, "-m", "epsilens.cli", "--help"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as made:
        assert made.stdout is not None
        assert made.stderr is not None
        assert made.stdout.readline() == "loading\n"
        made.send_signal(number)
        assert (made.wait(timeout=30), made.stderr.read()) == ENDS[number]


def test_a_reader_that_has_seen_enough() -> None:
    process = started("explain", "laplace", "--epsilon", "1")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert (process.stderr.read(), process.wait()) == ("", 0)
    process.stderr.close()


def test_a_page_is_nothing_for_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert ran("explain", "laplace", "--epsilon", "1", "--format", "html") == 2
    assert "give --output FILE" in capsys.readouterr().err


def test_the_module_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "epsilens", "explain", "laplac"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "did you mean laplace?" in done.stderr
