"""Walk the corners of what may be asked of sampled training, and print what is slow, wide, or not honest about it.

Usage::

    python -m scripts.extremes                 # 60 seconds of corners, in an order of its own
    python -m scripts.extremes --seconds 600 --seed 7
    python -m scripts.extremes --steps 2 3 --sigma 0.2

A corner is a noise, a rate, a number of steps and a relation; of each, every reading is asked once, at values drawn
from both ends of what is allowed. Time is processor time. The width of a bracket is relative, of AUC to what exceeds ½.
"Says so" is the law's own word that a bracket is wider than asked for.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import resource
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import epsilens as el

SIGMAS = (0.01, 0.03, 0.1, 0.2, 0.295, 0.5, 0.8, 1.0, 2.0, 10.0, 1e3, 1e4, 1e6)
RATES = (1e-12, 1e-9, 1e-6, 1e-5, 1e-3, 0.01, 0.1, 0.5, 0.99)
STEPS = (1, 2, 3, 5, 17, 100, 1000, 10**4, 10**5, 10**6, 10**7)
DELTAS = (1e-300, 1e-200, 1e-50, 1e-20, 1e-12, 1e-9, 1e-6, 1e-5, 1e-3, 0.1)
EPSILONS = (0.0, 1e-6, 0.1, 1.0, 8.0, 50.0, 600.0)
PROBABILITIES = (1e-300, 1e-15, 1e-6, 0.01, 0.5, 0.99, 1 - 1e-9)
PRIORS = (1e-12, 1e-3, 0.1, 0.5, 0.9, 1 - 1e-6)
SLOW = 2.0


class Seen(NamedTuple):
    """One answer."""

    seconds: float
    width: float
    reached: bool
    corner: str
    asked: str
    ends: tuple[float, float]


def questions(chance: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every reading, at values drawn from both ends of what is allowed."""
    pick = chance.choice
    yield "epsilon", {"delta": pick(DELTAS)}
    yield "delta", {"epsilon": pick(EPSILONS)}
    yield "roc", {"fpr": pick(PROBABILITIES)}
    yield "tradeoff", {"alpha": pick(PROBABILITIES)}
    yield "precision", {"recall": pick(PROBABILITIES), "prior": pick(PRIORS)}
    yield "success", {"prior": pick(PRIORS)}
    yield "fbeta", {"beta": pick((0.5, 1.0, 2.0)), "prior": pick(PRIORS)}
    for reading in ("advantage", "auc", "psi", "kl", "chernoff"):
        yield reading, {}
    yield "renyi", {"order": pick((0.5, 1.5, 2.0, 32.0, 1e4))}


def width(low: float, high: float, reading: str) -> float:
    """Relative; nothing where both ends are too small for doubles to hold."""
    if low == high or high < 1e-290 or (math.isinf(low) and math.isinf(high)):
        return 0.0
    size = max(high - 0.5, 1e-14) if reading == "auc" else high
    return (high - low) / size if math.isfinite(high) else math.inf


def walk(arguments: argparse.Namespace) -> Iterator[Seen]:
    """Corners in a random order until the time is up."""
    chance = random.Random(arguments.seed)
    corners = list(itertools.product(arguments.sigma, arguments.rate, arguments.steps, ("add-remove", "replace")))
    chance.shuffle(corners)
    until = time.monotonic() + arguments.seconds
    for sigma, rate, steps, neighbours in corners:
        for reading, given in questions(chance):
            if arguments.reading and reading not in arguments.reading:
                continue
            if time.monotonic() > until:
                return
            e = el.dpsgd(sigma=sigma, rate=rate, steps=int(steps), neighbours=neighbours)
            corner = f"σ={sigma:g} q={rate:g} T={steps:g} {neighbours}"
            before = time.process_time()
            try:
                low, high = e.bracket(reading, **given)
            except el.EpsilensError as error:
                print("refused:", corner, reading, given, error)
                continue
            took = time.process_time() - before
            asked = f"{reading}({', '.join(f'{k}={v:g}' for k, v in given.items())})"
            yield Seen(took, width(low, high, reading), e.law.reached, corner, asked, (float(low), float(high)))


def main() -> None:
    """Walk, then print the slowest, the widest, and those that are wide without saying so."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=15)
    parser.add_argument("--sigma", type=float, nargs="+", default=SIGMAS)
    parser.add_argument("--rate", type=float, nargs="+", default=RATES)
    parser.add_argument("--steps", type=float, nargs="+", default=STEPS)
    parser.add_argument("--reading", nargs="+")
    arguments = parser.parse_args()
    seen = list(walk(arguments))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    slow = [s for s in seen if s.seconds > SLOW]
    wide = [s for s in seen if s.width > 4.1e-3]
    silent = [s for s in wide if s.reached]
    print(f"{len(seen)} answers, {len(slow)} above {SLOW:g} s, {len(wide)} wider than 4e-3, of which {len(silent)} do")
    print(f"not say so; at most {peak:.2f} GB")
    for title, rows in (
        ("slowest", sorted(seen, key=lambda s: -s.seconds)),
        ("widest", sorted(wide, key=lambda s: -s.width)),
        ("wide without saying so", sorted(silent, key=lambda s: -s.width)),
    ):
        print(f"\n{title}")
        for s in rows[: arguments.show]:
            honest = "" if s.reached else " (says so)"
            print(f"  {s.seconds:6.2f} s  width {s.width:8.2g}{honest}  {s.corner}  {s.asked} = {s.ends}")


if __name__ == "__main__":
    main()
