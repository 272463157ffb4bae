"""Walk the corners of what may be asked of sampled training, and print what is slow, wide, or not honest about it.

Usage::

    python -m scripts.extremes                 # 60 seconds of corners, in an order of its own
    python -m scripts.extremes --seconds 600 --seed 7
    python -m scripts.extremes --steps 2 3 --sigma 0.2
    python -m scripts.extremes --batches "with replacement" --people 1 3

A corner is a noise, a rate, a number of steps, a relation, how batches are drawn and how many people; of each, every
reading is asked once, at values drawn from both ends of what is allowed. Time is processor time; a reading is given up
after ``--most`` seconds of it, and named. On a machine that others use as well, set ``OPENBLAS_NUM_THREADS=1``:
threads that wait for each other count as busy. The width of a bracket is relative, of AUC to what exceeds ½. "Says so"
is the law's own word that a bracket is wider than asked for.
"""

from __future__ import annotations

import argparse
import math
import random
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import epsilens as el

SIGMAS = (0.01, 0.03, 0.1, 0.2, 0.295, 0.5, 0.8, 1.0, 2.0, 10.0, 1e3, 1e4, 1e6)
RATES = (1e-12, 1e-9, 1e-6, 1e-5, 1e-3, 0.01, 0.1, 0.5, 0.99)
STEPS = (1, 2, 3, 5, 17, 100, 1000, 10**4, 10**5, 10**6, 10**7)
DELTAS = (1e-300, 1e-200, 1e-50, 1e-20, 1e-12, 1e-9, 1e-6, 1e-5, 1e-3, 0.1)
EPSILONS = (0.0, 1e-6, 0.1, 1.0, 8.0, 50.0, 600.0)
PROBABILITIES = (1e-300, 1e-15, 1e-6, 0.01, 0.5, 0.99, 1 - 1e-9)
PRIORS = (1e-12, 1e-3, 0.1, 0.5, 0.9, 1 - 1e-6)
LEVELS = (1e-12, 1e-6, 1e-3, 0.1)
BATCHES = ("poisson", "fixed", "with replacement", "truncated", "shuffled")
PEOPLE = (1, 2, 3, 10)
LARGEST = 10**6  # records, where batches have a size
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
    yield "tradeoff", {"fpr": pick(PROBABILITIES)}
    yield "precision", {"recall": pick(PROBABILITIES), "prior": pick(PRIORS)}
    yield "success", {"prior": pick(PRIORS)}
    yield "fbeta", {"beta": pick((0.5, 1.0, 2.0)), "prior": pick(PRIORS)}
    for reading in ("advantage", "auc", "psi", "kl", "chernoff"):
        yield reading, {}
    yield "mu", {"level": pick(LEVELS)}
    yield "renyi", {"order": pick((0.5, 1.5, 2.0, 32.0, 1e4))}


def width(low: float, high: float, reading: str) -> float:
    """Relative; nothing where both ends are too small for doubles to hold."""
    if low == high or high < 1e-290 or (math.isinf(low) and math.isinf(high)):
        return 0.0
    size = max(high - 0.5, 1e-14) if reading == "auc" else high
    return (high - low) / size if math.isfinite(high) else math.inf


class TooLongError(Exception):
    """More processor time than one reading is given."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Give up after so much processor time."""

    def give_up(*_: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def training(chance: random.Random, arguments: argparse.Namespace) -> dict[str, Any]:
    """What is given to a training, drawn from both ends of what is allowed."""
    pick = chance.choice
    given: dict[str, Any] = {"sigma": pick(arguments.sigma), "steps": int(pick(arguments.steps))}
    rate, how, people = pick(arguments.rate), pick(arguments.batches), int(pick(arguments.people))
    given["neighbours"] = pick(("add-remove", "replace"))
    if how == "poisson" or (how == "fixed" and people == 1):
        given["rate"] = rate
    else:
        given["batch"] = max(round(rate * LARGEST), 1)
        given["n"] = LARGEST
    if how == "truncated":
        people, given["truncation"] = 1, max(round(given["batch"] * pick((1.0, 1.05, 1.5, 3.0))), 1)
    return given | ({"batches": how} if how != "poisson" else {}) | ({"people": people} if people > 1 else {})


def walk(arguments: argparse.Namespace) -> Iterator[Seen]:
    """Corners at random until the time is up."""
    chance = random.Random(arguments.seed)
    until = time.monotonic() + arguments.seconds
    while True:
        given = training(chance, arguments)
        corner = f"el.dpsgd({', '.join(f'{k}={v!r}' for k, v in given.items())})"
        for reading, asks in questions(chance):
            if arguments.reading and reading not in arguments.reading:
                continue
            if time.monotonic() > until:
                return
            asked = f"{reading!r}{''.join(f', {k}={v!r}' for k, v in asks.items())}"
            before = time.process_time()
            try:
                with at_most(arguments.most):
                    e = el.dpsgd(**given)
                    low, high = (float(v) for v in e.bracket(reading, **asks))
            except TooLongError:
                print(f"given up: {corner}.bracket({asked})", flush=True)
                yield Seen(arguments.most, math.inf, False, corner, asked, (-math.inf, math.inf))
                continue
            except el.EpsilensError as error:
                print("refused:", corner, asked, error)
                continue
            except Exception as error:  # what is not refused in a sentence is a defect: name it, and walk on
                print(f"raised: {corner}.bracket({asked}) {error!r}", flush=True)
                continue
            took = time.process_time() - before
            yield Seen(took, width(low, high, reading), e.law.reached, corner, asked, (low, high))


def main() -> None:
    """Walk, then print the slowest, the widest, and those that are wide without saying so."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=15)
    parser.add_argument("--sigma", type=float, nargs="+", default=SIGMAS)
    parser.add_argument("--rate", type=float, nargs="+", default=RATES)
    parser.add_argument("--steps", type=float, nargs="+", default=STEPS)
    parser.add_argument("--batches", nargs="+", default=BATCHES, choices=BATCHES)
    parser.add_argument("--people", type=int, nargs="+", default=PEOPLE)
    parser.add_argument("--reading", nargs="+")
    parser.add_argument("--most", type=float, default=20.0)
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
            print(f"  {s.seconds:6.2f} s  width {s.width:8.2g}{honest}  {s.corner}.bracket({s.asked}) = {s.ends}")


if __name__ == "__main__":
    main()
