"""Try inputs of every kind for some minutes, and print how many were tried and what failed.

Usage::

    python -m scripts.fuzz                          # one minute
    python -m scripts.fuzz --minutes 30 --seed 7
    python -m scripts.fuzz --inputs 200000          # however long it takes
    python -m scripts.fuzz --kind plans --seed 7 --only 1234    # one input again, with its traceback

A failure is an exception that is not one of our own, NaN, more than ``--seconds`` of processor time, an exit code other
than 0, 2, 3 and 4, a control character or a password on the terminal, a traceback, or an answer of 500 and above. The
exit code is 1 where there was one.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import sys
import time
from collections.abc import Callable, Iterator

from .commands import commands
from .endpoints import endpoints
from .functions import functions
from .plans import plans
from .tables import tables
from .watched import Tried, limit_memory

#: What tries each kind, its share of the minutes, and its share of the inputs.
KINDS: dict[str, tuple[Callable[[Tried, Iterator[int], float], None], float, float]] = {
    "functions": (functions, 0.45, 0.55),
    "plans": (plans, 0.1, 0.28),
    "commands": (commands, 0.2, 0.08),
    "tables": (tables, 0.15, 0.03),
    "endpoints": (endpoints, 0.1, 0.06),
}


def _numbers(tried: Tried, minutes: float, most: float | None) -> Iterator[int]:
    until = time.monotonic() + 60 * minutes
    for number in itertools.count():
        if tried.inputs >= most if most is not None else time.monotonic() > until:
            return
        yield number


def main(arguments: list[str] | None = None) -> int:
    """Try, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0, help="for all kinds together")
    parser.add_argument("--inputs", type=int, help="so many for all kinds together, however long it takes")
    parser.add_argument("--kind", nargs="+", choices=KINDS, default=[*KINDS])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="the number of one input")
    parser.add_argument("--seconds", type=float, default=20.0, help="processor time that one input may take")
    given = parser.parse_args(arguments)
    together, failures = 0, 0
    minutes, inputs = sum(KINDS[kind][1] for kind in given.kind), sum(KINDS[kind][2] for kind in given.kind)
    for kind in given.kind:
        work, long, many = KINDS[kind]
        tried, began = Tried(kind, given.seed, tracebacks=given.only is not None), time.monotonic()
        most = None if given.inputs is None else given.inputs * many / inputs
        numbers = _numbers(tried, given.minutes * long / minutes, most) if given.only is None else iter([given.only])
        work(tried, numbers, given.seconds)
        several = sum(map(len, tried.failures.values()))
        together, failures = together + tried.inputs, failures + several
        print(f"{kind}: {tried.inputs} inputs, {tried.refused} refused in a sentence, {several} failures in "
              f"{time.monotonic() - began:.0f} s", flush=True)  # fmt: skip
        for why, lines in sorted(tried.failures.items(), key=lambda item: -len(item[1])):
            shown = f"  {len(lines)} × {why}\n    {min(lines, key=len)}"
            print(shown.encode("ascii", "backslashreplace").decode(), flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"together: {together} inputs, {failures} failures; at most {peak:.2f} GB")
    return 1 if failures else 0


if __name__ == "__main__":
    limit_memory()
    sys.exit(main())
