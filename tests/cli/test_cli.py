"""The command line: good, odd and hostile input, exit codes, and what it must not import."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

import epsilens as el
from epsilens.cli import console
from epsilens.cli.app import app

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(el.__file__).parents[1])}


class Result:
    """Exit code, output and errors of one run."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


Run = Callable[..., Result]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """The command line in this process."""

    def call(*arguments: str) -> Result:
        code = console.run(typer.main.get_command(app), arguments)
        return Result(code, *capsys.readouterr())

    return call


def process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """The command line as a process of its own."""
    environment = ENVIRONMENT | options.pop("env", {})
    command = [sys.executable, "-W", "error", "-m", "epsilens.cli.app", *arguments]
    return subprocess.run(command, env=environment, capture_output="stdout" not in options, timeout=60, **options)


# -- good input ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["fixed", "shuffled", "truncated"])
def test_batches_are_said_and_reproduced(run: Run, way: str) -> None:
    said = ["dpsgd", "--sigma", "1", "--n", "50000", "--batch", "500", "--epochs", "10", "--batches", way]
    said += ["--truncation", "600"] if way == "truncated" else []
    told = run("explain", *said)
    assert told.code == 0
    assert " ".join(said) in " ".join(told.out.split())  # as it is reproduced
    assert "500 of 50,000 people" in " ".join(told.out.split()) or way == "truncated"
    assert (
        run("explain", "dpsgd", "--sigma", "1", "--n", "50000")
        .err.strip()
        .endswith("give --batch and --epochs, or --batch and --steps")
    )


def test_explain_starts_with_the_sentence(run: Run) -> None:
    shown = run("explain", "laplace", "--epsilon", "1")
    assert shown.code == 0
    assert shown.err == ""
    assert shown.out.startswith("An adversary who knows every other record guesses correctly 70 times of 100\n")
    assert "0.6967" in shown.out
    assert shown.out.rstrip().endswith("Reproduce: epsilens explain laplace --epsilon 1")


def test_json_equals_the_library(run: Run) -> None:
    shown = run(
        "explain", "gaussian", "--sigma", "2", "--prior", "0.2", "--fpr", "0.01", "--beta", "2", "--format", "json"
    )
    payload, e = json.loads(shown.out), el.gaussian(sigma=2.0)
    assert payload["schema"] == 1
    assert payload["experiment"]["name"] == "gaussian"
    assert payload["experiment"]["parameters"]["sigma"] == 2.0
    read = payload["readings"]
    assert read["success"] == e.success(0.2)
    assert read["advantage"] == e.advantage()
    assert read["auc"] == e.auc()
    assert read["fbeta"] == e.fbeta(2.0, 0.2)
    assert read["precision"] == e.precision(0.01, 0.2)
    assert read["epsilon"] is None
    assert payload["unbounded"] == ["epsilon"]
    assert payload["arguments"]["prior"] == 0.2


def test_a_limit_that_sees_too_little_is_warned_of(run: Run) -> None:
    shown = run("choose", "laplace", "--prior", "0.1", "--at-most", "success=0.9")
    assert shown.code == 0  # by definition the limit is kept
    assert shown.out.startswith("Use ε = 2.197 or less")
    assert "▲ A guess that ignores the release already reaches 90 of 100" in shown.out
    assert "Limit the most certain belief (posterior) instead, or what is found at few false alarms (roc)." in " ".join(
        shown.out.split()
    )


def test_choose_adds_its_choice(run: Run) -> None:
    shown = run("choose", "laplace", "--at-most", "success=0.55", "--format", "json")
    payload = json.loads(shown.out)
    assert payload["choice"]["parameter"] == "epsilon"
    assert payload["choice"]["value"] == el.choose(el.laplace, "epsilon", at_most=0.55).value
    assert payload["readings"]["success"] <= 0.55
    assert payload["sentence"].startswith("Use ε = 0.2107 or less: ")


@pytest.mark.parametrize(
    ("mechanism", "options"),
    [
        (
            "laplace",
            ["--epsilon", "1", "--sensitivity", "2", "--shift", "1", "--neighbours", "replace", "--norm", "L1"],
        ),
        ("laplace", ["--scale", "2", "--stretch", "1.5"]),
        ("gaussian", ["--psi", "1"]),
        ("gaussian", ["--epsilon", "0.5", "--delta", "1e-5", "--calibration", "classical"]),
        ("geometric", ["--epsilon", "1", "--sensitivity", "3"]),
        ("discrete-gaussian", ["--sigma", "2"]),
        ("randomized-response", ["--truth", "0.8"]),
        ("randomized_response", ["--epsilon", "1", "--k", "4"]),
        ("exponential", ["--epsilon", "1", "--scores0", "1,2,3", "--scores1", "1,2,4", "--monotonic"]),
        ("staircase", ["--epsilon", "1", "--gamma", "0.3"]),
        ("pure", ["--epsilon", "1"]),
        ("approximate", ["--epsilon", "1", "--delta", "1e-5"]),
        ("LAPLACE", ["--epsilon", "1e-12"]),
        ("laplace", ["--epsilon", "700", "--for-epsilon", "2", "--for-delta", "1e-9", "--baseline", "0.2"]),
    ],
)
def test_every_mechanism(run: Run, mechanism: str, options: list[str]) -> None:
    shown = run("explain", mechanism, *options, "--format", "json")
    assert (shown.code, shown.err) == (0, "")
    command = json.loads(shown.out)["command"].split()
    again = run(*command[1:], "--format", "json")
    assert again.out == shown.out


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        (["laplace"], "epsilon"),
        (["laplace", "--parameter", "scale"], "scale"),
        (["gaussian"], "sigma"),
        (["gaussian", "--parameter", "psi"], "psi"),
        (["gaussian", "--delta", "1e-5"], "epsilon"),
        (["geometric"], "epsilon"),
        (["discrete-gaussian"], "sigma"),
        (["randomized-response", "--k", "3"], "epsilon"),
        (["staircase"], "epsilon"),
        (["pure"], "epsilon"),
        (["approximate", "--delta", "1e-5"], "epsilon"),
        (["approximate", "--epsilon", "0.1"], "delta"),
        (["exponential", "--scores0", "1,2,3", "--scores1", "1,2,2"], "epsilon"),
    ],
)
def test_what_is_chosen_by_default(run: Run, arguments: list[str], parameter: str) -> None:
    shown = run("choose", *arguments, "--at-most", "advantage=0.15", "--format", "json")
    assert (shown.code, shown.err) == (0, "")
    payload = json.loads(shown.out)
    assert payload["choice"]["parameter"] == parameter
    assert payload["readings"]["advantage"] <= 0.15


@pytest.mark.parametrize(
    ("limit", "options"),
    [
        ("roc=0.05", ["--fpr", "0.01"]),
        ("recall=0.05", ["--fpr", "0.01"]),
        ("precision=0.6", ["--recall", "0.5", "--prior", "0.4"]),
        ("attack-success=0.02", ["--baseline", "0.01"]),
        ("delta=1e-5", ["--for-epsilon", "1"]),
        ("epsilon=1", ["--for-delta", "1e-5"]),
        ("renyi=0.1", ["--order", "2"]),
        ("fbeta=0.7", ["--beta", "0.5"]),
    ],
)
def test_every_reading_argument(run: Run, limit: str, options: list[str]) -> None:
    shown = run("choose", "gaussian", "--at-most", limit, *options, "--format", "json")
    assert (shown.code, shown.err) == (0, "")
    choice = json.loads(shown.out)["choice"]
    assert choice["reached"] <= choice["limit"] == float(limit.split("=")[1])


@pytest.mark.parametrize(
    "arguments",
    [
        ["explain", "laplace", "--epsilon", "1"],
        ["choose", "laplace", "--at-most", "auc=0.6"],
        ["reproduce", "000"],
    ],
)
def test_every_format(run: Run, arguments: list[str]) -> None:
    shown = {f: run(*arguments, "--format", f) for f in ("table", "json", "md", "html", "csv")}
    assert {r.code for r in shown.values()} == {0}
    assert json.loads(shown["json"].out)["schema"] in (1, 2)
    assert "," in shown["csv"].out.splitlines()[0]
    assert shown["md"].out.startswith("# ")
    assert shown["html"].out.startswith("<!DOCTYPE html>")


def test_reproduce(run: Run) -> None:
    everything = run("reproduce")
    assert everything.code == 0
    assert "Table 1: the largest ε under a bound on Fβ" in everything.out
    assert "Paper 002" in everything.out
    assert "Paper 002" not in run("reproduce", "000").out


def test_version_and_help(run: Run) -> None:
    assert run("--version").out == f"epsilens {el.__version__}\n"
    assert run().out.startswith("Usage: epsilens")
    assert run("--help").code == 0
    for command in ("explain", "choose", "reproduce"):
        assert run(command, "--help").code == 0


# -- bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        "explain laplace --epsilon nan",
        "explain laplace --epsilon inf",
        "explain laplace --epsilon -1",
        "explain laplace --epsilon 0",
        "explain laplace --epsilon abc",
        "explain laplace --epsilon 1e400",
        "explain laplace --epsilon 1 --scale 1",
        "explain laplace --epsilon 1,2",
        "explain laplace --epsilon",
        "explain laplace",
        "explain laplace --sigma 1",
        "explain laplace --epsilon 1 --norm L2",
        "explain laplace --epsilon 1 --neighbours foo",
        "explain laplace --epsilon 1 --shift 2",
        "explain laplace --epsilon 1 --prior 1.5",
        "explain laplace --epsilon 1 --fpr -0.1",
        "explain laplace --epsilon 1 --beta nan",
        "explain laplace --epsilon 1 --format xml",
        "explain laplace --epsilon 1 --frobnicate",
        "explain gaussian --epsilon 1 --delta 2",
        "explain gaussian --epsilon 1 --delta -1",
        "explain gaussian --epsilon 1",
        "explain gaussian --epsilon 1 --delta 1e-5 --calibration classical",
        "explain gaussian --sigma -1",
        "explain discrete-gaussian",
        "explain geometric --epsilon 1 --sensitivity 1.5",
        "explain randomized-response --epsilon 1 --k 1",
        "explain exponential --epsilon 1 --scores0 1,2 --scores1 1",
        "explain exponential --epsilon 1 --scores0 1,x --scores1 1,2",
        "explain staircase",
        "explain approximate --epsilon 1",
        "explain cauchy --epsilon 1",
        "explain",
        "frobnicate",
        "choose laplace",
        "choose laplace --at-most success",
        "choose laplace --at-most =0.5",
        "choose laplace --at-most success=",
        "choose laplace --at-most success=high",
        "choose laplace --at-most success=nan",
        "choose laplace --at-most frobnication=0.5",
        "choose laplace --at-most tradeoff=0.5",
        "choose laplace --at-most roc=0.5",
        "choose laplace --at-most success=0.6 --fpr 0.1",
        "choose laplace --at-most success=0.6 --epsilon 1",
        "choose laplace --at-most success=0.6 --parameter sigma",
        "choose approximate --at-most success=0.6",
        "reproduce 999",
    ],
)
def test_bad_input_is_one_sentence(run: Run, arguments: str) -> None:
    shown = run(*arguments.split())
    assert shown.code == 2
    assert shown.out == ""
    assert shown.err.startswith("epsilens: ")
    assert shown.err.count("\n") == 1
    assert "Traceback" not in shown.err
    assert "╭" not in shown.err


def test_an_option_not_taken_names_those_that_are(run: Run) -> None:
    shown = run("explain", "pure", "--epsilon", "1", "--sigma", "2")
    assert shown.err == "epsilens: pure takes no --sigma: it takes --epsilon, --neighbours\n"


@pytest.mark.parametrize("limit", ["success=0.4", "auc=0.49", "fbeta=0.6", "posterior=0.3", "psi=-1"])
def test_a_limit_below_the_floor_is_exit_3(run: Run, limit: str) -> None:
    shown = run("choose", "laplace", "--at-most", limit)
    assert shown.code == 3
    assert shown.out == ""
    assert shown.err.startswith("epsilens: no epsilon keeps")
    assert shown.err.count("\n") == 1


@pytest.mark.parametrize("text", ["a" * 100_000, "\x00", "💣", "--", "$(rm -rf /)", "1;2", "٣", "0x10", "1_000", " 1 "])
def test_odd_text_is_no_crash(run: Run, text: str) -> None:
    for shown in (
        run("explain", "laplace", "--epsilon", text),
        run("explain", text),
        run("choose", "laplace", "--at-most", text),
    ):
        assert shown.code in (0, 2)
        assert len(shown.err) < 400


# -- output -------------------------------------------------------------------------------------------------------


def test_a_file_is_written_whole(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    shown = run("explain", "laplace", "--epsilon", "1", "--format", "json", "--output", str(target))
    assert (shown.code, shown.out) == (0, "")
    assert json.loads(target.read_text(encoding="utf-8"))["schema"] == 1
    assert os.listdir(tmp_path) == ["out.json"]
    target.chmod(0o640)
    run("explain", "laplace", "--epsilon", "2", "--output", str(target))
    assert target.stat().st_mode & 0o777 == 0o640
    assert json.loads(target.read_text(encoding="utf-8"))["command"].endswith("--epsilon 2")  # as its ending says


def test_a_failed_write_leaves_what_was_there(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out.txt"
    target.write_text("precious")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    shown = run("explain", "laplace", "--epsilon", "1", "--output", str(target))
    assert shown.code == 2
    assert "No space left on device" in shown.err
    assert target.read_text() == "precious"
    assert os.listdir(tmp_path) == ["out.txt"]


@pytest.mark.parametrize("where", ["{tmp}/no/such/file", "{tmp}", "", "{tmp}/a\x00b", "/dev/full"])
def test_a_place_that_cannot_be_written(run: Run, tmp_path: Path, where: str) -> None:
    shown = run("explain", "laplace", "--epsilon", "1", "--output", where.format(tmp=tmp_path))
    assert shown.code == 2
    assert shown.err.startswith("epsilens: --output is ")
    assert shown.err.count("\n") == 1


def test_bad_input_touches_no_file(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    assert run("explain", "laplace", "--epsilon", "-1", "--output", str(target)).code == 2
    assert not target.exists()


def test_charts_need_no_extra(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("vl_convert", "resvg_py", "matplotlib", "pandas"):
        monkeypatch.setitem(sys.modules, package, None)
    shown = run("explain", "laplace", "--epsilon", "1", "--format", "html")
    assert shown.code == 0
    assert shown.out.count('<svg role="img" aria-label="ROC curve: ') == 2


def test_a_pdf_without_its_extra_is_one_sentence(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    target = tmp_path / "x.pdf"
    shown = run("explain", "laplace", "--epsilon", "1", "--output", str(target))
    assert (shown.code, shown.out, target.exists()) == (2, "", False)
    assert shown.err == "epsilens: a PDF needs the package 'typst': install it with pip install 'epsilens[pdf]'\n"


# -- as a process -------------------------------------------------------------------------------------------------


def test_help_imports_no_numpy() -> None:
    code = (
        "import sys, typer; from epsilens.cli.app import app; from epsilens.cli.console import run;"
        "run(typer.main.get_command(app), ['--help']); run(typer.main.get_command(app), ['explain', '--help']);"
        "sys.exit(bool({'numpy', 'scipy', 'ibis', 'matplotlib'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True).returncode == 0


def test_ascii_terminals_get_names_for_letters() -> None:
    shown = process("choose", "gaussian", "--at-most", "psi=1", env={"PYTHONIOENCODING": "ascii"})
    assert shown.returncode == 0
    assert shown.stdout.startswith(b"Use sigma = 1 or more")
    assert shown.stdout.isascii()


def test_a_narrow_terminal_without_colour() -> None:
    shown = process("explain", "laplace", "--epsilon", "1", env={"COLUMNS": "40", "NO_COLOR": "1"})
    lines = shown.stdout.decode().splitlines()
    assert max(len(line) for line in lines if not line.startswith("Reproduce")) <= 40


def test_closed_streams_and_full_disks() -> None:
    assert process("explain", "laplace", "--epsilon", "1", stdin=subprocess.DEVNULL).returncode == 0
    with open("/dev/full", "w") as full:
        shown = process("explain", "laplace", "--epsilon", "1", stdout=full, stderr=subprocess.PIPE)
    assert shown.returncode == 5
    assert shown.stderr == b"epsilens: the output cannot be written: No space left on device\n"
    closed = f"{sys.executable} -m epsilens.cli explain laplace --epsilon 1 >&-"
    shown = subprocess.run(closed, shell=True, env=ENVIRONMENT, stderr=subprocess.PIPE)
    assert shown.returncode == 2
    assert shown.stderr == b"epsilens: standard output is closed: leave it open, or send it to /dev/null\n"


def test_a_reader_that_has_seen_enough() -> None:
    command = f"{sys.executable} -W error -m epsilens.cli.app reproduce 002 --format html | head -c 10"
    shown = subprocess.run(command, shell=True, env=ENVIRONMENT, capture_output=True)
    assert shown.stdout == b"<!DOCTYPE "
    assert shown.stderr == b""
