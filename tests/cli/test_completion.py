"""What a shell offers: mechanisms, readings, words, and the columns of the table that is named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import epsilens
from epsilens.cli.app import columns_of

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(epsilens.__file__).parents[1])}


def offered(*words: str, folder: Path | None = None) -> list[str]:
    """The lines bash would offer for the last of these words."""
    environment = {
        **ENVIRONMENT,
        "_EPSILENS_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(["epsilens", *words]),
        "COMP_CWORD": str(len(words)),
    }
    made = subprocess.run(
        [sys.executable, "-m", "epsilens.cli"], env=environment, cwd=folder, capture_output=True, text=True
    )
    assert (made.returncode, made.stderr) == (0, "")
    return made.stdout.split()


@pytest.mark.parametrize(
    ("words", "among"),
    [
        (["expl"], {"explain"}),
        (["explain", "ga"], {"gaussian"}),
        (["explain", "zc"], {"zcdp"}),
        (["explain", "census-red"], {"census-redistricting"}),
        (["choose", "laplace", "--at-most", "suc"], {"success="}),
        (["choose", "gaussian", "--parameter", "s"], {"sigma", "sensitivity", "shift"}),
        (["explain", "laplace", "--neighbours", "r"], {"replace"}),
        (["explain", "laplace", "--format", "j"], {"json"}),
        (["reproduce", "li"], {"liu2019", "li2019"}),
    ],
)
def test_words_are_offered(words: list[str], among: set[str]) -> None:
    assert set(offered(*words)) == among


def test_options_are_those_of_the_mechanism() -> None:
    flags = offered("explain", "laplace", "--s")
    assert set(flags) == {"--scale", "--sensitivity", "--shift", "--stretch", "--sweep"}


def test_columns_of_a_table(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,sex,site\n1,f,2\n")
    assert offered("scan", "people.csv", "--quasi", "s", folder=tmp_path) == ["sex", "site"]
    assert offered("scan", "people.csv", "--quasi", "sex,s", folder=tmp_path) == ["sex,site"]
    assert offered("scan", "gone.csv", "--quasi", "s", folder=tmp_path) == []
    assert columns_of("epsilens:rand-hie")[:1] == ["person"]


def test_a_header_that_commands_a_terminal_is_not_offered(tmp_path: Path) -> None:
    (tmp_path / "odd.tsv").write_text("a\tb\x1b[2J\tc\n", encoding="utf-8")
    assert columns_of(str(tmp_path / "odd.tsv")) == ["a", "c"]


def test_the_script_of_a_shell() -> None:
    made = subprocess.run(
        [sys.executable, "-m", "epsilens.cli"],
        env={**ENVIRONMENT, "_EPSILENS_COMPLETE": "source_zsh"},
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0
    assert "compdef _epsilens_completion epsilens" in made.stdout
