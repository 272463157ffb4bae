"""Try random small plans against an enumeration of all worlds, and say how far the assessment is from the truth.

Usage::

    python -m scripts.brute                  # a thousand plans
    python -m scripts.brute 5000 --first 7   # five thousand, from number 7 on
    python -m scripts.brute --show 12        # one plan, with all its numbers

Each plan has a number, and the same number gives the same plan. Printed: plans tried, numbers compared, the worst
excess of the truth over the assessed number (must be 0), the share called exact, and of these the largest difference.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable

import numpy as np
from tests.references.brute.apart import make_apart, risks_apart
from tests.references.brute.compare import BRACKET, Compared, assessed, assessed_by_plan, compare
from tests.references.brute.plans import make
from tests.references.brute.smaller import enriched, shrunk
from tests.references.brute.worlds import Case, scales

from epsilens.assessment.risks import Risk
from epsilens.errors import EpsilensError

#: Below this the assessed number is no smaller than the truth, but for rounding.
SLACK = 1e-9


class Tally:
    """What was found over all plans."""

    def __init__(self, shrink: int, full: bool) -> None:
        self.assess: Callable[[Case], tuple[Risk, ...]] = assessed if full else assessed_by_plan
        self.plans = self.numbers = self.exact = self.low = self.unsure = 0
        self.worst, self.widest, self.loosest = 0.0, 0.0, 0.0
        self.refused: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.shrink = shrink
        self.seen: Counter[tuple[str, str]] = Counter()
        self.over: list[float] = []

    def add(self, number: int, case: Case) -> None:
        """Assess one plan and compare."""
        self.plans += 1
        try:
            made = self.assess(case)
        except EpsilensError as error:
            self.refused[str(error)[:110]] += 1
            return
        except Exception as error:
            kind = type(error).__name__
            self.seen["crashed", kind] += 1
            if self.seen["crashed", kind] <= self.shrink:
                print(
                    f"\nplan {number} crashed: {error!r}\n  plan   {case.words()}\n  domain {dict(case.domain)}",
                    flush=True,
                )
            return
        for one in compare(case, made):
            self.numbers += 1
            self.kinds[one.key] += 1
            if one.below > SLACK:
                self.low += 1
                self.worst = max(self.worst, one.below)
                self._tell(number, case, one, "below the truth")
            elif one.exact:
                self.exact += 1
                self._exact(number, case, one)
            elif np.isfinite(one.truth):
                self.over.append(one.assessed - one.truth)

    def _exact(self, number: int, case: Case, one: Compared) -> None:
        gap = one.assessed - one.truth
        if gap > BRACKET:  # the domain may be too poor: look again in a rich one
            again = next((o for o in compare(enriched(case), self.assess(case)) if o.key == one.key), None)
            if again is None:
                self.unsure += 1
                return
            gap = again.assessed - again.truth
        self.widest = max(self.widest, gap)
        if gap > BRACKET:
            self._tell(number, case, one, "called exact, and above the truth")

    def _tell(self, number: int, case: Case, one: Compared, what: str) -> None:
        kind = (what, one.key)
        self.seen[kind] += 1
        if self.seen[kind] > self.shrink:
            return

        def shows(smaller: Case) -> bool:
            try:
                found = self.assess(smaller)
                rich = enriched(smaller) if what != "below the truth" else smaller
                return any(
                    o.key == one.key
                    and (
                        o.below > SLACK
                        if what == "below the truth"
                        else bool(o.exact) and o.assessed - o.truth > BRACKET
                    )
                    for o in compare(rich, found)
                )
            except Exception:
                return False

        small = shrunk(case, shows)
        made = self.assess(small)
        rich = small if what == "below the truth" else enriched(small)
        found = next(o for o in compare(rich, made) if o.key == one.key)
        print(
            f"\nplan {number}: {found.key} {found.reading}{found.arguments} is {what}: "
            f"assessed {found.assessed:.9g}, truth {found.truth:.9g}, exact={found.exact}\n"
            f"  plan   {small.words()}\n  domain {dict(small.domain)}, at most {small.most} rows a person\n"
            f"  pair   {found.pair}\n  worlds {found.worlds}",
            flush=True,
        )

    def __str__(self) -> str:
        share = self.exact / max(self.numbers, 1)
        lines = [
            f"plans tried {self.plans:,}, refused {sum(self.refused.values()):,}",
            f"numbers compared {self.numbers:,}: " + ", ".join(f"{k} {n}" for k, n in self.kinds.most_common()),
            f"below the truth {self.low:,}, by at most {self.worst:.3g}",
            f"called exact {self.exact:,} ({share:.0%}), largest difference {self.widest:.3g} "
            f"(compositions are read to {BRACKET:g}); {self.unsure} of them beyond enumeration",
            f"bounds: {len(self.over):,}, above the truth by {np.median(self.over or [0]):.3g} in the middle",
            *(f"{what}, {key}: {n}" for (what, key), n in self.seen.most_common()),
            *(f"refused {n}: {why}" for why, n in self.refused.most_common(12)),
        ]
        return "\n".join(lines)


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plans", type=int, nargs="?", default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--shrink", type=int, default=2, help="examples of each kind made small and shown")
    parser.add_argument("--show", type=int, help="the number of one plan")
    parser.add_argument("--apart", action="store_true", help="answers that isolate a person together, instead")
    parser.add_argument("--full", action="store_true", help="with the table and epsilens' own compositions: slow")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    given = parser.parse_args()
    if given.show is not None:
        _show(make(random.Random(given.show)), given.full)
        return
    if given.apart:
        print(_apart(given.first, given.plans))
        return
    tally, begun = Tally(given.shrink, given.full), time.monotonic()
    for number in range(given.first, given.first + given.plans):
        tally.add(number, make(random.Random(number)))
        if time.monotonic() - begun > given.seconds:
            break
    print(f"\n{tally}\nin {time.monotonic() - begun:.0f} s")


def _apart(first: int, plans: int) -> str:
    """Planned answers that isolate someone: the rows that speak of them are never below what they tell."""
    tried = missing = low = beyond = 0
    worst = 0.0
    for number in range(first, first + plans):
        case = make_apart(random.Random(number))
        truth, how = case.truth()
        if truth <= 0.5 + SLACK:
            continue
        tried += 1
        risks = {r.key: r.planned for r in risks_apart(case)}
        told = max((v for k, v in risks.items() if k.startswith(("differencing", "combined"))), default=0.5)
        missing += "combined" not in risks
        beyond += max(told, risks.get("guess", 0.0)) < truth - SLACK
        if told < truth - SLACK:
            low += 1
            worst = max(worst, truth - told)
            if low <= 3:
                print(f"\nplan {number}: {risks}, truth {truth:.9g} by {how}\n  {case.words()}\n  {case.people}")
    return (
        f"someone isolated by planned answers {tried}, no row for it {missing}, rows below the truth {low}, by at most "
        f"{worst:.3g}; even the guess that knows all others below it {beyond}"
    )


def _show(case: Case, full: bool) -> None:
    print(case.words(), dict(case.domain), f"at most {case.most} rows a person", scales(case), sep="\n")
    for one in compare(case, assessed(case) if full else assessed_by_plan(case)):
        print(one)


if __name__ == "__main__":
    main()
