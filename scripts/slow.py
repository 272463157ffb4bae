"""Measure every test and write the slow ones down in ``tests/slow.txt``, which ``make quick`` leaves out.

Usage::

    python -m scripts.slow

A test function is slow when all its examples together take ``SLOW`` seconds of processor time or more, its own and
that of the processes it waited for. Processor time, not the clock: what else the machine does hardly matters. The
browser is a process that outlives its tests, so those are slow by where they lie.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

SLOW = 0.4
RECORD = Path(__file__).resolve().parent.parent / "tests" / "slow.txt"


def processor() -> float:
    """Seconds of processor time this process and those it waited for have used."""
    used = os.times()
    return time.process_time() + used.children_user + used.children_system


class Meter:
    """A pytest plugin that adds up what each test function takes."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Take the time of one test, its set-up and its tear-down."""
        before = processor()
        result = yield
        self.seconds[item.nodeid.partition("[")[0]] += processor() - before
        return result


def main() -> int:
    """Run everything once, one test after the other, and rewrite the record."""
    meter = Meter()
    code = pytest.main(["-q", "-p", "no:cacheprovider"], plugins=[meter])
    if code:
        return int(code)
    slow = sorted(name for name, taken in meter.seconds.items() if taken >= SLOW or "/browser/" in name)
    RECORD.write_text("\n".join(slow) + "\n", "utf-8")
    print(
        f"{len(slow)} of {len(meter.seconds)} test functions are slow: {sum(meter.seconds.values()):.0f} s in all, "
        f"{sum(t for name, t in meter.seconds.items() if name not in slow):.0f} s in make quick"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
