"""Many settings in one answer: the numbers are those of the formulas, in every format."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import pytest
import typer
from scipy.stats import norm

from epsilens.cli.app import app
from epsilens.cli.console import run

BOTH = ("compare", "laplace:epsilon=1", "gaussian:psi=1")


def ran(*arguments: str) -> int:
    return run(typer.main.get_command(app), arguments)


def rows(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, str]]:
    assert ran(*arguments, "--format", "csv") == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def test_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    found = {row.pop("reading"): [float(v) for v in row.values()] for row in rows(capsys, *BOTH)}
    assert found["success"] == pytest.approx([1 - math.exp(-0.5) / 2, norm.cdf(0.5)], rel=1e-12)
    assert found["auc"][1] == pytest.approx(norm.cdf(1 / math.sqrt(2)), rel=1e-12)
    assert found["epsilon"] == [1.0, math.inf]
    assert ran(*BOTH, "--format", "json", "--prior", "0.2") == 0
    assert json.loads(capsys.readouterr().out)["arguments"]["prior"] == 0.2


def test_a_training_beside_a_claim(capsys: pytest.CaptureFixture[str]) -> None:
    line = ("compare", "dpsgd:n=60000,batch=256,epochs=15,sigma=1.1", "zcdp:rho=0.1", "--for-delta", "1e-6")
    assert ran(*line) == 0
    assert "A is dpsgd(" in capsys.readouterr().out


@pytest.mark.parametrize(("kind", "begins"), [("html", "<!DOCTYPE html>"), ("md", "# "), ("table", "An adversary")])
def test_every_format(kind: str, begins: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(*BOTH, "--format", kind) == 0
    assert capsys.readouterr().out.startswith(begins)


def test_its_chart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(*BOTH, "--chart", str(tmp_path / "roc.svg")) == 0
    assert (tmp_path / "roc.svg").read_text(encoding="utf-8").lstrip().startswith("<svg")
    for name in ("roc.doc", "gone/roc.svg", "."):
        capsys.readouterr()
        assert ran(*BOTH, "--chart", str(tmp_path / name)) == 2
        assert capsys.readouterr().out == ""


def test_a_sweep_of_readings(capsys: pytest.CaptureFixture[str]) -> None:
    line = (
        "explain",
        "laplace",
        "--sweep",
        "epsilon=0.1:10:7:log",
        "--reading",
        "success,delta",
        "--for-epsilon",
        "0.5",
    )
    for row in rows(capsys, *line):
        e = float(row["epsilon"])
        assert float(row["success"]) == pytest.approx(1 - math.exp(-e / 2) / 2, rel=1e-12)
        assert float(row["delta"]) == pytest.approx(max(0, 1 - math.exp((0.5 - e) / 2)), rel=1e-12, abs=1e-15)


def test_a_grid(capsys: pytest.CaptureFixture[str]) -> None:
    line = ("explain", "gaussian", "--sweep", "sigma=1,2", "--sweep", "sensitivity=1:3:3", "--reading", "success")
    found = [(float(r["sigma"]), float(r["sensitivity"]), float(r["success"])) for r in rows(capsys, *line)]
    assert len(found) == 6
    assert all(s == pytest.approx(norm.cdf(d / sigma / 2), rel=1e-12) for sigma, d, s in found)


def test_a_sweep_in_other_formats(capsys: pytest.CaptureFixture[str]) -> None:
    line = ("explain", "laplace", "--sweep", "epsilon=1,2")
    assert ran(*line, "--format", "json") == 0
    assert [row["epsilon"] for row in json.loads(capsys.readouterr().out)["rows"]] == [1.0, 2.0]
    assert ran(*line, "--format", "html") == 0
    assert capsys.readouterr().out.startswith("<!DOCTYPE html>")


def test_choices_along_a_limit(capsys: pytest.CaptureFixture[str]) -> None:
    line = ("choose", "laplace", "--at-most", "success=0.5", "--sweep", "success=0.45,0.55,0.9")
    found = rows(capsys, *line)
    assert found[0]["epsilon"] == ""
    for row in found[1:]:
        assert float(row["epsilon"]) == pytest.approx(-2 * math.log(2 - 2 * float(row["success at most"])), rel=1e-9)


def test_a_limit_of_a_name_that_the_noise_has_too(capsys: pytest.CaptureFixture[str]) -> None:
    line = ("choose", "gaussian", "--at-most", "epsilon=1", "--for-delta", "1e-5", "--sweep", "epsilon=0.5,1")
    sigmas = [float(row["sigma"]) for row in rows(capsys, *line)]
    assert sigmas == pytest.approx([7.031826675582502, 3.730631634815959], rel=1e-9)  # Balle and Wang, by brentq


def test_choices_along_a_parameter(capsys: pytest.CaptureFixture[str]) -> None:
    found = rows(capsys, "choose", "gaussian", "--at-most", "success=0.6", "--sweep", "sensitivity=1:4:4")
    for row in found:
        wanted = float(row["sensitivity"]) / (2 * norm.ppf(0.6))
        assert float(row["sigma"]) == pytest.approx(wanted, rel=1e-6)


def test_no_limit_can_be_kept(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran("choose", "laplace", "--at-most", "success=0.4", "--sweep", "sensitivity=1,2") == 3
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "line",
    [
        "compare laplace:epsilon=1",
        "compare",
        "compare laplace gaussian",
        "compare laplace:epsilon=1 gaussian:psi=1 --chart x.doc",
        "compare " + "laplace:epsilon=1 " * 9,
        "explain laplace --sweep sigma=1:2:3",
        "explain laplace --epsilon 1 --sweep epsilon=1:2:3",
        "explain laplace --sweep epsilon=1,2 --sweep epsilon=3,4",
        "explain laplace --sweep epsilon=-1:1:3",
        "explain laplace --sweep epsilon=1,2 --reading tradeoffs",
        "explain laplace --epsilon 1 --reading success",
        "choose laplace --at-most success=0.55 --sweep epsilon=1:2:3",
        "choose laplace --at-most success=0.55 --sweep success=0.5,0.6 --sweep sensitivity=1,2",
    ],
)
def test_what_cannot_be_asked(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(*line.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
