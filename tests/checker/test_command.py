"""The command: its exit codes, and one sentence for every file that is no certificate."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import epsilens_checker
from epsilens_checker.certificate import InputError, read

ROOT = Path(epsilens_checker.__file__).parents[1]
GOOD: dict[str, Any] = {
    "format": "epsilens-certificate/1", "numbers": "doubles", "relation": "both", "reading": "epsilon", "at": "1e-5",
    "releases": [{"mechanism": "gaussian", "sigma": "1.5"}], "lower": 2.7, "upper": 2.8,
}  # fmt: skip


def run(path: Path | str, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "epsilens_checker", str(path), *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)


@pytest.mark.parametrize(
    ("change", "code", "verdict"),
    [
        ({}, 0, "certified"),
        ({"upper": 2.75}, 4, "refuted"),
        ({"lower": 2.76}, 4, "refuted"),
        ({"lower": 2.753381379529179, "upper": 2.753381379529179}, 4, "refuted"),
        ({"releases": [{"mechanism": "laplace", "scale": 2, "rate": 0.5, "count": 5}]}, 3, "open"),
    ],
)
def test_the_exit_code_says_the_verdict(change: dict[str, Any], code: int, verdict: str, tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps({**GOOD, **change}), "utf-8")
    done = run(file)
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["verdict"], done.stderr) == (code, verdict, "")
    assert set(answer) == {"verdict", "enclosure", "seconds", "reason"}
    if verdict != "open":
        assert answer["enclosure"][0] < answer["enclosure"][1] <= answer["enclosure"][0] * (1 + 1e-15)


@pytest.mark.always
def test_the_time_is_bounded(tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    slow = [{"mechanism": "gaussian", "sigma": 0.1, "rate": 0.001, "people": 20, "count": 7}]
    file.write_text(json.dumps({**GOOD, "releases": slow}), "utf-8")
    start = time.monotonic()
    done = run(file, "--seconds", "2")
    assert time.monotonic() - start < 30
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (3, "open")


BAD: dict[str, bytes] = {
    "empty": b"",
    "no JSON": b"{",
    "not Unicode": b"\xff\xfe{}",
    "a list": b"[]",
    "deep": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "large": b'"' + b" " * 5_000_000 + b'"',
    "a key twice": b'{"format": 1, "format": 2}',
}
CHANGES: dict[str, dict[str, Any]] = {
    "another format": {"format": "epsilens-certificate/2"},
    "an unhashable format": {"format": ["x"]},
    "numbers of a third kind": {"numbers": "floats"},
    "no releases": {"releases": []},
    "too many releases": {"releases": GOOD["releases"] * 65},
    "a release that is a number": {"releases": [3]},
    "an unknown mechanism": {"releases": [{"mechanism": "snapping"}]},
    "a mechanism that is a list": {"releases": [{"mechanism": ["gaussian"]}]},
    "a parameter of another": {"releases": [{"mechanism": "gaussian", "sigma": 1, "scale": 1}]},
    "no parameter": {"releases": [{"mechanism": "laplace"}]},
    "two scales": {"releases": [{"mechanism": "laplace", "scale": 1, "epsilon": 1}]},
    "a negative sigma": {"releases": [{"mechanism": "gaussian", "sigma": -1}]},
    "a sigma of zero": {"releases": [{"mechanism": "gaussian", "sigma": 0}]},
    "a rate above one": {"releases": [{"mechanism": "gaussian", "sigma": 1, "rate": 1.5}]},
    "a count that is no number": {"releases": [{"mechanism": "gaussian", "sigma": 1, "count": 1.5}]},
    "a count of zero": {"releases": [{"mechanism": "gaussian", "sigma": 1, "count": 0}]},
    "a count that is true": {"releases": [{"mechanism": "gaussian", "sigma": 1, "count": True}]},
    "too many people in a sample": {"releases": [{"mechanism": "gaussian", "sigma": 1, "rate": 0.5, "people": 51}]},
    "people in a sample under Laplace noise": {
        "releases": [{"mechanism": "laplace", "scale": 1, "rate": 0.5, "people": 2}]
    },
    "a half step": {"releases": [{"mechanism": "geometric", "scale": 1, "shift": 1.5}]},
    "one category": {"releases": [{"mechanism": "randomized_response", "epsilon": 1, "categories": 1}]},
    "lists that do not sum to 1": {"releases": [{"mechanism": "finite", "p0": ["0.5"], "p1": ["1"]}]},
    "lists unlike in length": {"releases": [{"mechanism": "finite", "p0": ["0.5", "0.5"], "p1": ["1"]}]},
    "a negative probability": {"releases": [{"mechanism": "finite", "p0": ["1.5", "-0.5"], "p1": ["0.5", "0.5"]}]},
    "a list that is a text": {"releases": [{"mechanism": "finite", "p0": "1", "p1": ["1"]}]},
    "an outcome that is a list": {"releases": [{"mechanism": "finite", "p0": [["1"]], "p1": ["1"]}]},
    "not a number": {"lower": float("nan")},
    "infinite": {"upper": float("inf")},
    "infinite in words": {"upper": "inf"},
    "large beyond a double": {"upper": "1e400"},
    "an exponent without end": {"upper": "1e999999"},
    "digits without end": {"upper": "9" * 3_000_000},
    "digits of another script": {"upper": "٣"},
    "a text": {"upper": "three"},
    "nothing": {"upper": None},
    "ends exchanged": {"lower": 3},
    "an at that is not for it": {"reading": "advantage"},
    "an at of one": {"at": 1},
    "a negative at": {"at": -0.1},
    "false alarms of zero": {"reading": "fnr", "at": 0},
    "an unknown reading": {"reading": "auc"},
    "an unknown relation": {"relation": "replace"},
    "an unknown key": {"author": "me"},
    "a long note": {"note": "x" * 1001},
    "a note that is a number": {"note": 3},
    "hints that are a list": {"hints": []},
    "an unknown hint": {"hints": {"code": 1}},
}


@pytest.mark.parametrize("name", [*BAD, *CHANGES])
def test_what_is_no_certificate_is_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    file.write_bytes(BAD[name] if name in BAD else json.dumps({**GOOD, **CHANGES[name]}).encode())
    with pytest.raises(InputError) as error:
        read(str(file))
    assert 0 < len(str(error.value)) < 200
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("path", ["missing.json", ".", "a\0b"])
def test_what_cannot_be_opened_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read(str(tmp_path / path))


def test_a_refusal_is_one_line_and_the_exit_code_two(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_doubles_are_read_in_either_base(tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    file.write_text(json.dumps({**GOOD, "upper": (2.8).hex(), "hints": {"threshold": 2}, "note": "σ"}), "utf-8")
    assert float(read(str(file)).upper) == 2.8
