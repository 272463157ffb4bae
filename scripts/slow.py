"""Measure every test and write the slow ones down in ``tests/slow.txt``, which ``make quick`` leaves out.

Usage::

    python -m scripts.slow           # measures every test
    python -m scripts.slow --tidy    # measures nothing: follows tests that moved, drops those that are gone

A test function is slow when all its examples together take ``SLOW`` seconds of processor time or more, its own and
that of the processes it waited for. Processor time, not the clock: what else the machine does hardly matters. The
browser is a process that outlives its tests, so those are slow by where they lie.
"""

from __future__ import annotations

import ast
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

SLOW = 0.15
ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "tests" / "slow.txt"


def processor() -> float:
    """Seconds of processor time this process and those it waited for have used."""
    used = os.times()
    return time.process_time() + used.children_user + used.children_system


class Meter:
    """A pytest plugin that adds up what each test function takes."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Take the time of one test, its set-up and its tear-down."""
        before = processor()
        result = yield
        self.seconds[item.nodeid.partition("[")[0]] += processor() - before
        return result


def tidied(names: list[str]) -> list[str]:
    """The names that still exist, those of functions that moved to one other file under their new address."""
    homes: defaultdict[str, set[str]] = defaultdict(set)
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                homes[node.name].add(str(path.relative_to(ROOT)))
    kept = set()
    for name in names:
        file, _, function = name.partition("::")
        there = homes[function.split("::")[-1]]
        if file in there or (not file.startswith("tests/") and (ROOT / file).exists()):
            kept.add(name)
        elif len(there) == 1:
            kept.add(f"{next(iter(there))}::{function}")
    return sorted(kept)


def write(names: list[str]) -> None:
    """The record, one name a line."""
    RECORD.write_text("\n".join(names) + "\n", "utf-8")


def main(arguments: list[str]) -> int:
    """Run everything once, one test after the other, and rewrite the record."""
    if "--tidy" in arguments:
        write(tidied(RECORD.read_text("utf-8").split()))
        return 0
    meter = Meter()
    code = pytest.main(["-q", "-p", "no:cacheprovider"], plugins=[meter])
    if code:
        return int(code)
    slow = sorted(name for name, taken in meter.seconds.items() if taken >= SLOW or "/browser/" in name)
    write(slow)
    print(
        f"{len(slow)} of {len(meter.seconds)} test functions are slow: {sum(meter.seconds.values()):.0f} s in all, "
        f"{sum(t for name, t in meter.seconds.items() if name not in slow):.0f} s in make quick"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
