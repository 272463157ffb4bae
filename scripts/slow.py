"""Measure every test and write the slow ones down in ``tests/slow.txt``, with what each takes.

Usage::

    python -m scripts.slow           # measures every test
    python -m scripts.slow tests/web # measures these, and leaves the lines of the others as they are
    python -m scripts.slow --tidy    # measures nothing: follows tests that moved, drops those that are gone

A test function is slow when all its examples together take ``SLOW`` seconds of processor time or more, its own and that
of the processes it started or asked: ``make quick`` leaves it out. From ``LONG`` seconds on (``tests/conftest.py``)
``make test`` runs a part of its examples. Processor time, not the clock: what else the machine does hardly matters. The
browser's tests are slow by where they lie.
"""

from __future__ import annotations

import ast
import contextlib
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.examples import function_of

SLOW = 0.12
ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "tests" / "slow.txt"
#: Where each process of a measured run writes what its tests took.
FOLDER = "EPSILENS_TIMES"
_taken: defaultdict[str, float] = defaultdict(float)
_shared = 0.0


def others() -> float:
    """Seconds of processor time of the processes that this one started, and those started: the ended and the living."""
    used, parents = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            _, parent, *fields = path.read_text("utf-8").rpartition(")")[2].split()
            number = int(path.parent.name)
            parents[number] = int(parent)
            used[number] = sum(map(int, fields[9:13])) / os.sysconf("SC_CLK_TCK")
    own = os.times()
    return own.children_user + own.children_system + sum(used[one] for one in used if _below(one, parents))


def _below(number: int, parents: dict[int, int]) -> bool:
    while number := parents.get(number, 0):
        if number == os.getpid():
            return True
    return False


def pytest_configure() -> None:
    """A process whose parent ended becomes a child of this one, and is still counted (``PR_SET_CHILD_SUBREAPER``)."""
    ctypes.CDLL(None).prctl(36, 1)


def spent() -> float:
    """Seconds of processor time, of this process and of those below it."""
    return time.process_time() + others()


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object]) -> Iterator[None]:
    """What is set up once for many tests, a server or a browser, is none of theirs."""
    global _shared
    began, before = spent(), _shared
    result = yield
    if fixturedef.scope != "function":
        _shared = before + spent() - began
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Take the time of one test, its set-up and its tear-down; what a server does for it counts when it does it."""
    began, before = spent(), _shared
    result = yield
    _taken[function_of(item.nodeid)] += max(0.0, spent() - began - (_shared - before))
    return result


def pytest_sessionfinish() -> None:
    """What the tests of this process took, for the one that started it."""
    if _taken:
        Path(os.environ[FOLDER], f"{os.getpid()}.json").write_text(json.dumps(_taken), "utf-8")


def tidied(record: dict[str, float]) -> dict[str, float]:
    """The tests that still exist, those of functions that moved to one other file under their new address."""
    homes: defaultdict[str, set[str]] = defaultdict(set)
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                homes[node.name].add(str(path.relative_to(ROOT)))
    kept = {}
    for name, taken in record.items():
        file, _, function = name.partition("::")
        there = homes[function.split("::")[-1].removesuffix("[spark]")]
        if file in there or (not file.startswith("tests/") and (ROOT / file).exists()):
            kept[name] = taken
        elif len(there) == 1:
            kept[f"{next(iter(there))}::{function}"] = taken
    return kept


def recorded() -> dict[str, float]:
    """The record: a test function and its seconds a line."""
    lines = RECORD.read_text("utf-8").splitlines()
    return {name: float(taken) for name, taken in (line.rsplit(" ", 1) for line in lines)}


def write(record: dict[str, float]) -> None:
    """Write the record, by name."""
    RECORD.write_text("".join(f"{name} {taken:.2f}\n" for name, taken in sorted(record.items())), "utf-8")


def main(arguments: list[str]) -> int:
    """Run everything, or what lies under the paths that are given, once and side by side; rewrite the record."""
    if "--tidy" in arguments:
        write(tidied(recorded()))
        return 0
    seconds: defaultdict[str, float] = defaultdict(float)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "-v", "-n", "2", "--dist", "loadfile", "-p", "no:cacheprovider"]
        command += ["-p", "scripts.slow", *arguments]
        code = subprocess.run(command, cwd=ROOT, env={**os.environ, FOLDER: folder}).returncode
        for part in Path(folder).iterdir():
            for name, taken in json.loads(part.read_text("utf-8")).items():
                seconds[name] += taken
    slow = {name: taken for name, taken in seconds.items() if taken >= SLOW or "/browser/" in name}
    rest = {n: t for n, t in recorded().items() if arguments and not n.startswith(tuple(arguments))}
    write(rest | slow)
    print(
        f"{len(slow)} of {len(seconds)} test functions are slow: {sum(seconds.values()):.0f} s in all, "
        f"{sum(taken for name, taken in seconds.items() if name not in slow):.0f} s in make quick"
    )
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
