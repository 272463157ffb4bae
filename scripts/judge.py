"""Judges of what the tests hold only samples of, for so many minutes and with a seed of one's own.

Usage::

    python -m scripts.judge laws --minutes 5 --seed 7        # every builder × combinator × reading
    python -m scripts.judge laws --only "laplace / repeat"   # of the triples that contain this
    python -m scripts.judge plans --minutes 5                # every pair of a plan's words, every number of it
    python -m scripts.judge releases --minutes 5             # random plans on the neighbouring tables of audits
    python -m scripts.judge certificates --minutes 5         # random brackets, by the independent checker

Each judge prints its seed, what was judged out of all there is, and each kind of failure by its smallest case; a
failure is exit code 1.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import time
from collections import Counter
from collections.abc import Callable

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small products, and other work on the same cores

from tests.auditing.releases import judge as released
from tests.combinations.judge import Outcome, cases, judge, triples
from tests.judges.certificates import judge_certificates
from tests.judges.plans.judge import Tally, judge_plans


def laws(minutes: float, seed: str, only: str) -> bool:
    """Identities, orders and enumerated neighbours of laws; whether all hold."""
    every = triples(only)
    seen: set[tuple[str, str, str]] = set()
    judged: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    wrong: dict[tuple[str, str], list[str]] = {}
    slowest: Outcome | None = None
    asked, until = 0, time.monotonic() + 60 * minutes
    for case in cases(seed, only):
        if time.monotonic() > until:
            break
        found = judge(case)
        asked += 1
        judged[case.combinator] += found.judged
        refused[case.combinator] += found.refused
        if found.judged:
            seen.add(case.triple)
        if found.wrong:
            wrong.setdefault(case.triple[:2], []).extend(found.wrong)
        if slowest is None or found.seconds > slowest.seconds:
            slowest = found
    builders, combinators, readings = (len({t[i] for t in every}) for i in range(3))
    print(f"{builders} builders × {combinators} combinators × {readings} readings: {len(every)} triples that can be")
    compared, said = sum(judged.values()), sum(refused.values())
    print(f"{asked} cases, {len(seen)} triples judged, {compared} comparisons, {said} refused in a sentence")
    for combinator, count in judged.most_common():
        print(f"  {combinator}: {count} comparisons, {refused[combinator]} refused")
    if slowest is not None:
        print(f"slowest: {slowest.seconds:.1f} s of processor, {slowest.case}")
    for (builder, combinator), lines in sorted(wrong.items()):
        print(f"FAILED {len(lines)} × {builder} / {combinator}, the smallest:\n    {min(lines, key=len)}")
    print(f"{sum(len(lines) for lines in wrong.values())} failures")
    return not wrong


def releases(minutes: float, seed: str, only: str) -> bool:
    """Numbers of an assessment against what a release of the plan really gives away; whether none is below."""
    compared: Counter[str] = Counter()
    wrong: list[str] = []
    plans = refused = 0
    until = time.monotonic() + 60 * minutes
    while time.monotonic() < until:
        found = released(f"{seed} {plans}")
        plans, refused = plans + 1, refused + found.refused
        compared += found.compared
        wrong += [f"plan {seed} {plans - 1}: {line}" for line in found.wrong if only in line]
    print(f"{plans} plans, {sum(compared.values())} comparisons, {refused} refused in a sentence")
    for what, count in compared.most_common():
        print(f"  {what}: {count}")
    for line in sorted(wrong, key=len)[:5]:
        print(f"FAILED {line}")
    print(f"{len(wrong)} failures")
    return not wrong


def plans(minutes: float, seed: str, only: str) -> bool:
    """Every number of an assessment, and what is released, against an enumeration of the plan's cells."""
    tally = Tally()
    found = judge_plans(seed, 60 * minutes, only=only, tell=lambda said: print(said, flush=True), tally=tally)
    print(tally)
    return not found


def certificates(minutes: float, seed: str, only: str) -> bool:
    """Brackets against the enclosures of a program that shares nothing with us."""
    tally = judge_certificates(seed, 60 * minutes, only)
    print(tally)
    return not tally.wrong


JUDGES: dict[str, Callable[[float, str, str], bool]] = {
    "laws": laws, "plans": plans, "releases": releases, "certificates": certificates,
}  # fmt: skip


def main() -> None:
    """Run one judge, or all of them for an equal share of the time."""
    parser = argparse.ArgumentParser(description="Judges that see features meet.")
    parser.add_argument("judge", nargs="?", choices=[*JUDGES, "all"], default="all")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", help="drawn anew unless given")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    asked = parser.parse_args()
    seed = asked.seed or secrets.token_hex(4)
    names = list(JUDGES) if asked.judge == "all" else [asked.judge]
    held = []
    for name in names:
        print(f"judge of {name}, seed {seed}, {asked.minutes / len(names):g} minutes", flush=True)
        held.append(JUDGES[name](asked.minutes / len(names), seed, asked.only))
    sys.exit(0 if all(held) else 1)


if __name__ == "__main__":
    main()
