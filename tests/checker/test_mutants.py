"""A sign or a bound of the checker changed is found by the battery, which the checker itself passes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import epsilens_checker

PACKAGE = Path(epsilens_checker.__file__).parent
MUTANTS = {
    "the copies are left out": ("inversion.py", "(total - copies).union(total)", "total"),
    "the far copies are left out": ("inversion.py", " + chernoff / (((b - c) * period).exp() - 1)", ""),
    "the terms left out count for nothing": ("inversion.py", "(self.omitted * (-self.c * eps).exp())", "(0 * eps)"),
    "the error of a quadrature is left out": ("laws.py", "(most * swell + rest)", "rest"),
    "nodes beyond the last count for nothing": ("laws.py", "rest += beyond", "rest += 0"),
    "a moment falls faster than it does": ("laws.py", "self.variations[c] / y)", "self.variations[c] / y**2)"),
    "the reversed order has the sign of the other": ("laws.py", "-arb(c) if self.reverse", "arb(c) if self.reverse"),
    "the blurred mean is taken for delta": ("inversion.py", "below.union(self.mean(eps))", "self.mean(eps)"),
    "false alarms are added": ("readings.py", "- t * exact(at)", "+ t * exact(at)"),
}


def failures(package: Path) -> list[str]:
    """What the battery finds in a copy of the checker that lies in a folder."""
    battery = Path(__file__).with_name("battery.py")
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, str(battery)], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    return [*done.stdout.splitlines(), *(["stopped"] if done.returncode else [])]


@pytest.mark.always
def test_the_checker_passes_its_battery() -> None:
    assert failures(PACKAGE) == []


@pytest.mark.parametrize("name", MUTANTS)
def test_a_changed_sign_or_bound_is_found(name: str, tmp_path: Path) -> None:
    file, before, after = MUTANTS[name]
    package = shutil.copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    text = (package / file).read_text("utf-8")
    assert text.count(before) == 1
    (package / file).write_text(text.replace(before, after), "utf-8")
    assert failures(package) != []
