"""Hold random readings of random experiments against independent methods, and say how far off the worst is.

Usage::

    python -m scripts.sweep 50000                           # fifty thousand readings
    python -m scripts.sweep 2000 --seed 7 --only training   # of the kinds whose names begin so
    python -m scripts.sweep --seed 7 --number 12            # one experiment, with every reading it was asked
    python -m scripts.sweep 50000 --seconds 600 --tally t.json   # ten minutes of it, added to what t.json holds

Experiment number n of a seed is always the same. Failures are appended to a file, a line each that reproduces them.
Interrupted, it says what it has found so far.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small products, and other work on the same cores

from tests.sweep.judge import Outcome
from tests.sweep.kinds import KINDS
from tests.sweep.run import outcomes


class Tally:
    """What was found over all readings."""

    def __init__(self, seed: str, failures: Path, shown: int) -> None:
        self.seed, self.failures, self.shown = seed, failures, shown
        self.kinds: Counter[str] = Counter()
        self.readings: Counter[str] = Counter()
        self.known: Counter[str] = Counter()
        self.unjudged: Counter[tuple[str, str]] = Counter()
        self.refused: Counter[str] = Counter()
        self.wrong: Counter[tuple[str, str, str]] = Counter()
        self.error: dict[str, tuple[float, str]] = {}
        self.widths: dict[str, list[float]] = {}
        self.slowest: tuple[float, str] = (0.0, "")
        self.library = 0.0

    def add(self, number: int, found: Outcome) -> None:
        """Count one reading."""
        case = found.case
        if found.refused:
            self.refused[case.kind] += 1
            return
        self.kinds[case.kind] += 1
        self.readings[case.reading] += 1
        self.known[found.known] += 1
        self.library += found.seconds
        self.slowest = max(self.slowest, (found.seconds, str(case)))
        if not found.judged:
            self.unjudged[case.kind, case.reading] += 1
        if found.known == "bracket":
            self.widths.setdefault(case.reading, []).append(found.width)
        if found.slow:
            self._tell(number, replace(found, wrong=f"took {found.seconds:.1f} s"))
        if found.wrong:
            self._tell(number, found)
        elif found.error > self.error.get(case.reading, (0.0, ""))[0]:
            self.error[case.reading] = found.error, str(case)

    def _tell(self, number: int, found: Outcome) -> None:
        case = found.case
        key = case.kind, case.reading, found.fault
        self.wrong[key] += 1
        line = f"[{self.seed}:{number}] {case.kind}: {case}\n    {found.known}: {found.wrong}\n"
        with self.failures.open("a", encoding="utf-8") as file:
            file.write(line)
        if self.wrong[key] <= self.shown:
            print(line, end="", flush=True)

    def to_dict(self) -> dict[str, Any]:
        """What another portion is added to."""
        return {
            "kinds": dict(self.kinds),
            "readings": dict(self.readings),
            "known": dict(self.known),
            "unjudged": sum(self.unjudged.values()),
            "refused": sum(self.refused.values()),
            "wrong": {" / ".join(k): n for k, n in self.wrong.items()},
            "error": self.error,
            "widest": {name: max(w) for name, w in self.widths.items()},
            "slowest": self.slowest,
        }

    def report(self, seconds: float) -> None:
        """Say what was found."""
        total = sum(self.kinds.values())
        judged = total - sum(self.unjudged.values())
        print(
            f"\n{total} readings, {judged} judged, {sum(self.wrong.values())} failures, {seconds:.0f} s of processor,"
        )
        print(f"{self.library:.0f} s of them in the library; slowest {self.slowest[0]:.2f} s: {self.slowest[1]}")
        print("known:", dict(self.known))
        print("kinds:", ", ".join(f"{k} {n}" for k, n in sorted(self.kinds.items())))
        print("readings:", ", ".join(f"{k} {n}" for k, n in sorted(self.readings.items())))
        if self.refused:
            print("refused in a sentence:", dict(self.refused))
        if self.unjudged:
            print(
                "not judged (the oracle has no answer):", {" / ".join(k): n for k, n in self.unjudged.most_common(20)}
            )
        for reading, (error, case) in sorted(self.error.items()):
            print(f"worst error of an exact {reading}: {error:.2g}  {case}")
        for reading, widths in sorted(self.widths.items()):
            w = sorted(widths)
            print(f"width of brackets of {reading}: median {w[len(w) // 2]:.1e}, worst {w[-1]:.1e}, {len(w)} brackets")
        for (kind, reading, fault), n in self.wrong.most_common():
            print(f"FAILED {n} × {kind}, {reading}: {fault}")


def added(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Two portions together: numbers add up, of worst cases the worse."""
    made: dict[str, Any] = {}
    for name in one.keys() | other.keys():
        a, b = one.get(name), other.get(name)
        if a is None or b is None:
            made[name] = b if a is None else a
        elif name in ("error", "widest"):
            made[name] = {k: max(d[k] for d in (a, b) if k in d) for k in a.keys() | b.keys()}
        elif name == "slowest":
            made[name] = max(a, b)
        else:
            made[name] = a + b if isinstance(a, int) else dict(Counter(a) + Counter(b))
    return made


def main() -> None:
    """Run the sweep."""
    parser = argparse.ArgumentParser(description="Random readings against independent methods.")
    parser.add_argument("readings", nargs="?", type=int, default=1000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", action="append", help="kinds whose names begin so; may be repeated")
    parser.add_argument("--number", type=int, help="one experiment")
    parser.add_argument("--failures", type=Path, default=Path("sweep-failures.txt"))
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--tally", type=Path, help="a file of what was found in all portions")
    parser.add_argument("--shown", type=int, default=2, help="failures of one kind to print")
    asked = parser.parse_args()
    names = [k for k in KINDS if asked.only is None or any(k.startswith(o) for o in asked.only)]
    if not names:
        parser.error(f"no such kind: there are {', '.join(KINDS)}")
    tally = Tally(asked.seed, asked.failures, asked.shown)
    start, begun = time.process_time(), time.monotonic()
    numbers = [asked.number] if asked.number is not None else range(10**9)
    try:
        for number in numbers:
            for found in outcomes(asked.seed, number, names):
                if asked.number is not None:
                    print(found)
                tally.add(number, found)
            if sum(tally.kinds.values()) >= asked.readings or time.monotonic() - begun > asked.seconds:
                break
    except KeyboardInterrupt:
        print("\ninterrupted")
    tally.report(time.process_time() - start)
    if asked.tally:
        found = json.loads(json.dumps(tally.to_dict()))
        before = json.loads(asked.tally.read_text(encoding="utf-8")) if asked.tally.exists() else {}
        asked.tally.write_text(json.dumps(added(before, found), indent=1, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
