"""``epsilens tamper`` as a person would run it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import typer

import epsilens as el
from epsilens.cli.app import app
from epsilens.cli.console import run

COMMAND = typer.main.get_command(app)
Capture = pytest.CaptureFixture[str]


def call(*arguments: str) -> int:
    return run(COMMAND, ("tamper", *arguments))


def said(capsys: Capture) -> str:
    return " ".join(capsys.readouterr().out.split())


def test_leads_with_the_sentence(capsys: Capture) -> None:
    assert call("--epsilon", "1", "--bias", "1", "--fpr", "0.1") == 0
    assert said(capsys).startswith(
        "False records that together add 1 to this answer would be noticed 27 times in 100 by someone who knows what "
        "it should be; a false alarm is accepted 10 times in 100."
    )
    assert call("--epsilon", "1", "--bias", "-2.5", "--stretch", "1.5") == 0
    assert said(capsys).startswith(
        "False records that together take 2.5 from this answer and make the noise 1.5 times as wide"
    )
    assert call("--epsilon", "1", "--bias", "0", "--stretch", "2") == 0
    assert said(capsys).startswith("False records that together only make the noise 2 times as wide")
    assert call("--epsilon", "1", "--bias", "0") == 0
    assert said(capsys).startswith(
        "False records that together add nothing would be noticed 5 times in 100 by someone who knows what it should "
        "be; a false alarm is accepted 5"
    )


def test_json_equals_the_library(capsys: Capture) -> None:
    assert call("--epsilon", "1", "--bias", "-3", "--stretch", "1.5", "--fpr", "0.1", "--format", "json") == 0
    got = json.loads(capsys.readouterr().out)
    t = el.attacks.tampering(epsilon=1.0, bias=-3.0, stretch=1.5)
    assert [r["power"] for r in got["tests"]] == [t.optimal(0.1).power, t.one_sided(0.1).power, t.two_sided(0.1).power]
    assert got["divergences"] == {"kl": t.kl(), "reverse_kl": t.reverse().kl(), "chernoff": t.chernoff()}
    assert got["sizes"][-1]["two_sided"] == pytest.approx(
        el.attacks.hidden_bias(epsilon=1.0, stretch=1.5, fpr=0.1, power=0.9, test="two-sided"), rel=1e-12
    )
    assert got["command"] == "epsilens tamper --epsilon 1 --bias -3 --stretch 1.5 --fpr 0.1"


def test_how_large_and_at_which_epsilon(capsys: Capture) -> None:
    assert call("--epsilon", "0.5") == 0
    assert said(capsys).startswith(
        "False records that together move this answer by up to 4.605 would be noticed at most 50 times"
    )
    assert call("--epsilon", "1", "--delta", "1e-5", "--power", "0.9", "--format", "json") == 0
    got = json.loads(capsys.readouterr().out)
    assert got["hidden_bias"] == pytest.approx(el.attacks.hidden_bias(epsilon=1.0, delta=1e-5, power=0.9), rel=1e-12)
    assert call("--bias", "3", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["epsilon"] == el.attacks.epsilon_to_detect(bias=3.0)
    assert call("--bias", "3") == 0
    assert said(capsys).startswith(
        "Use ε = 1.305 or more to notice false records that together add 3 to this answer at least 90"
    )
    assert call("--scale", "1", "--stretch", "100", "--fpr", "0.5") == 0
    assert said(capsys).startswith("Every false record is noticed at least 50 times in 100")
    assert call("--scale", "1", "--fpr", "0") == 0
    assert said(capsys).startswith(
        "Any false records are noticed at most 50 times in 100 by someone who knows what it should be; a false alarm "
        "is accepted 0 times"
    )
    assert call("--epsilon", "1", "--bias", "5", "--fpr", "1") == 0
    capsys.readouterr()


def test_one_answer(capsys: Capture) -> None:
    assert call("--epsilon", "1", "--published", "106", "--expected", "100", "--bias", "3") == 4
    out = said(capsys)
    assert out.startswith("The published answer lies 6 above the expected one: it looks tampered with.")
    assert "would have been noticed 50 times in 100" in out
    assert call("--epsilon", "1", "--published", "101", "--expected", "100", "--side", "above", "--format", "json") == 0
    got = json.loads(capsys.readouterr().out)["detection"]
    assert got["p_value"] == pytest.approx(math.exp(-1) / 2)
    assert got["alarm"] is False


def test_a_series(capsys: Capture, tmp_path: Path) -> None:
    assert call("--epsilon", "1", "--published", "101,99,112", "--expected", "100") == 4
    assert said(capsys).startswith("1 of 3 published answers looks tampered with: number 3. Over the whole series")
    path = tmp_path / "réponses.csv"
    path.write_text("\ufeffquarter, Published ,expected\n1,101,100\n2,-99,-100\n3,130,100\n", encoding="utf-8")
    assert (
        call("--epsilon", "1", "--series", str(path), "--method", "spending", "--bias", "20", "--format", "json") == 4
    )
    got = json.loads(capsys.readouterr().out)["series"]
    assert got["alarms"] == [2]
    assert got["answers"][1]["published"] == -99.0
    assert got["method"] == "spending"
    assert call("--sigma", "2", "--published", "1,2", "--expected", "1,2") == 0
    assert said(capsys).startswith("None of 2 published answers points to tampering.")


@pytest.mark.parametrize(
    "options",
    [
        ["--epsilon", "1", "--bias", "3"],
        ["--epsilon", "1"],
        ["--bias", "3"],
        ["--epsilon", "1", "--published", "101", "--expected", "100"],
        ["--epsilon", "1", "--published", "101,102", "--expected", "100", "--bias", "2"],
        ["--epsilon", "0.1", "--delta", "1e-6", "--bias", "-3", "--stretch", "2"],
    ],
)
@pytest.mark.parametrize("format", ["table", "md", "html", "json"])
def test_every_format(options: list[str], format: str, capsys: Capture) -> None:
    assert call(*options, "--format", format) == 0
    out = capsys.readouterr().out
    assert "nan" not in out.lower().split("base64")[0]
    if format == "html":
        assert out.startswith("<!DOCTYPE html>")
        assert out.count("<h1") == 1
        assert ('role="img"' in out) == ("--published" not in options and options[0] != "--bias")
    if format == "md":
        assert out.startswith("# ")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "--epsilon is missing"),
        (["--epsilon", "x"], "--epsilon is 'x'"),
        (["--epsilon", "1", "--bias", "nan"], "bias contains NaN"),
        (["--epsilon", "1", "--bias", "1", "--stretch", "0.5"], "stretch is 0.5"),
        (["--epsilon", "1", "--fpr", "2"], "--fpr is '2'"),
        (["--epsilon", "1", "--power", "nan"], "--power is 'nan'"),
        (["--epsilon", "1", "--sigma", "1", "--bias", "1"], "epsilon and sigma given"),
        (["--epsilon", "1", "--published", "1"], "--expected is missing"),
        (["--epsilon", "1", "--published", "1,a", "--expected", "1"], "--published is '1,a'"),
        (["--published", "1", "--expected", "1"], "exactly one of"),
        (["--epsilon", "1", "--published", "1", "--expected", "1", "--power", "0.5"], "--power"),
        (["--epsilon", "1", "--side", "above"], "--side goes with"),
        (["--epsilon", "1", "--series", "/nowhere.csv"], "No such file"),
        (["--epsilon", "1", "--series", "/nowhere.csv", "--published", "1"], "both given"),
        (["--epsilon", "1", "--bias", "1", "--noise", "uniform"], "noise is 'uniform'"),
    ],
)
def test_one_sentence_for_what_is_wrong(options: list[str], words: str, capsys: Capture) -> None:
    assert call(*options) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "one column 'published'"),
        ("a,b\n1,2\n", "one column 'published'"),
        ("published,expected\n", "no rows"),
        ("published,expected\n1,two\n", "expected in line 2"),
        ("published,expected\n1\n", "expected in line 2"),
        ("published,expected,published\n1,2,3\n", "one column 'published'"),
    ],
)
def test_files_that_do_not_fit(text: str, words: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "series.csv"
    path.write_text(text, encoding="utf-8")
    assert call("--epsilon", "1", "--series", str(path)) == 2
    assert words in capsys.readouterr().err
    path.write_bytes(b"published,expected\n\xff\xfe\x00,1\n")
    assert call("--epsilon", "1", "--series", str(path)) == 2
    assert call("--epsilon", "1", "--series", str(tmp_path)) == 2


def test_no_epsilon_is_enough(capsys: Capture) -> None:
    assert call("--bias", "0") == 3
    assert "no epsilon up to 10000" in capsys.readouterr().err


def test_reproduce_003(capsys: Capture) -> None:
    assert run(COMMAND, ("reproduce", "003")) == 0
    assert "Ünsal" in capsys.readouterr().out
