"""One Hypothesis profile for everyone, the slow tests marked, and a loud word when a whole kind could not run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from tests.examples import examples

settings.register_profile(
    "epsilens",
    derandomize=True,
    deadline=None,
    max_examples=examples(40),
    print_blob=False,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("epsilens")


#: The functions that took longest, and their seconds, when ``make slow`` last measured them all.
_LINES = Path(__file__).with_name("slow.txt").read_text("utf-8").splitlines()
SLOW = {name: float(taken) for name, taken in (line.rsplit(" ", 1) for line in _LINES)}
#: ``make quick`` leaves out all of them, ``make test`` those that take so many seconds or more; ``make full`` none.
LONG = 4.0


@pytest.fixture(scope="session", autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Secrets of this machine are drawn in a folder of the tests' own, and not in the home of who runs them."""
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))
    yield
    os.environ.pop("XDG_STATE_HOME")
    if before is not None:
        os.environ["XDG_STATE_HOME"] = before


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        taken = SLOW.get(item.nodeid.partition("[")[0])
        if taken is not None:
            item.add_marker(pytest.mark.slow)
            # A process is counted where it is waited for, which an example may be that merely comes next.
            if taken >= LONG and item.nodeid.startswith("tests/"):
                item.add_marker(pytest.mark.long)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say what was not tested. Read from the reports: with several workers the skip happens in another process."""
    reasons = {str(r.longrepr[2]) for r in terminalreporter.stats.get("skipped", []) if isinstance(r.longrepr, tuple)}
    for reason in sorted(r.removeprefix("Skipped: ") for r in reasons if "NOT TESTED" in r):
        title, _, why = reason.partition(": ")
        terminalreporter.write_sep("!", title, red=True, bold=True)
        terminalreporter.write_line(f"{why}; .ci/run installs what is missing and fails instead of skipping")
