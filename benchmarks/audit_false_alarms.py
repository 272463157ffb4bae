"""False alarms of audits where the claim holds: at most the nominal level, for every claim and kind of answer.

    OMP_NUM_THREADS=1 python benchmarks/audit_false_alarms.py [--processes 16] [--seconds 300] [--runs 600] [--bounds]

At the boundary the mechanism attains its claim: a pure ε, (ε, δ), GDP, zCDP, RDP, or an experiment of the catalogue,
with answers that are continuous, whole numbers or a few atoms. A twin answers the same among columns that say nothing,
as a correct release of several numbers does. Each cell is audited sequentially (looking again and again until the runs
are used up) and with a number of runs fixed beforehand. With ``--bounds`` not the verdict is tried but each bound, on
all runs: how often ε, μ or success is said to be at least more than the claim allows, or the band of δ lies above it.
Exit code 1 where a rate is above the level by three standard errors. Needs numpy, scipy and epsilens alone.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import epsilens as el
from epsilens.auditing.audit import Game, audit_source
from epsilens.auditing.bounds import fixed_p_value
from epsilens.auditing.result import ClaimLines, StopReason, claim_of
from epsilens.auditing.sources import BatchSource

Rng = np.random.Generator
Draw = Callable[[int, int, Rng], Any]
Q = 1 / (1 + math.exp(-1.0))
LEAK = 0.05


def on_grid(x: Any) -> Any:
    """Without the last bits, by which noise in floating point gives itself away."""
    return np.round(np.asarray(x) * 2**20) / 2**20


def laplace(d: int, n: int, rng: Rng) -> Any:
    return d + on_grid(rng.laplace(0, 1, n))


def normal(d: int, n: int, rng: Rng) -> Any:
    return d + on_grid(rng.normal(0, 1, n))


def geometric(d: int, n: int, rng: Rng) -> Any:
    p = -math.expm1(-1.0)
    return d + rng.geometric(p, n) - rng.geometric(p, n)


def coin(d: int, n: int, rng: Rng) -> Any:
    """Randomised response: the truth with probability e/(1 + e)."""
    return np.where(rng.random(n) < Q, d, 1 - d)


def leaking(draw: Draw) -> Draw:
    """(1, δ) attained: the world itself with probability δ, else the answer of an ε = 1 mechanism."""
    return lambda d, n, rng: np.where(rng.random(n) < LEAK, 1000 + 1000 * d, draw(d, n, rng))


def rounded(d: int, n: int, rng: Rng) -> Any:
    """Normal noise of μ = 1, in whole thirds: a whole number that keeps what normal noise keeps."""
    return np.floor(3 * (d + rng.normal(0, 1, n)))


def halves(d: int, n: int, rng: Rng) -> Any:
    """Which half of normal noise: two atoms that attain 1-GDP."""
    return (d + rng.normal(0, 1, n) > 0.5).astype(float)


@cache
def _discrete() -> tuple[Any, Any]:
    k = np.arange(-60, 61)
    mass = np.exp(-0.5 * k.astype(float) ** 2)
    return k, np.cumsum(mass / mass.sum())


def discrete_normal(d: int, n: int, rng: Rng) -> Any:
    """Discrete normal noise of scale 1, which attains zCDP of ½ and RDP of ½·order."""
    k, cdf = _discrete()
    return d + k[np.minimum(np.searchsorted(cdf, rng.random(n)), k.size - 1)]


def coin_divergence(order: float) -> float:
    """Rényi divergence of randomised response with ε = 1."""
    return math.log(Q**order * (1 - Q) ** (1 - order) + (1 - Q) ** order * Q ** (1 - order)) / (order - 1)


#: What the coin attains: its largest D_a/a over orders a, which is at the order next to 1.
COIN_RHO = max(
    coin_divergence(a) / a for a in np.concatenate((1 + np.geomspace(1e-4, 1, 200), np.linspace(2, 50, 200)))
)

#: Claim, kind of answer, what is claimed, and a mechanism that keeps it, most of them exactly.
BOUNDARY: list[tuple[str, str, Any, Draw]] = [
    ("pure ε", "continuous", 1.0, laplace),
    ("pure ε", "whole", 1.0, geometric),
    ("pure ε", "atoms", 1.0, coin),
    ("experiment", "continuous", lambda: el.laplace(epsilon=1.0), laplace),
    ("experiment", "whole", lambda: el.mechanisms.geometric(epsilon=1.0), geometric),
    ("experiment", "atoms", lambda: el.mechanisms.randomized_response(epsilon=1.0), coin),
    ("(ε, δ)", "continuous", (1.0, LEAK), leaking(laplace)),
    ("(ε, δ)", "whole", (1.0, LEAK), leaking(geometric)),
    ("(ε, δ)", "atoms", (1.0, LEAK), leaking(coin)),
    ("GDP", "continuous", "mu=1", normal),
    ("GDP", "whole", "mu=1", rounded),
    ("GDP", "atoms", "mu=1", halves),
    ("zCDP", "continuous", "rho=0.5", normal),
    ("zCDP", "whole", "rho=0.5", discrete_normal),
    ("zCDP", "atoms", {"rho": COIN_RHO}, coin),
    ("RDP", "continuous", "order=2, rho=1", normal),
    ("RDP", "whole", "order=2, rho=1", discrete_normal),
    ("RDP", "atoms", {"order": 2.0, "rho": coin_divergence(2.0)}, coin),
]


def among_others(draw: Draw) -> Draw:
    """The answer among a normal column, one of small whole numbers and one with gaps, none of which tells anything."""

    def several(d: int, n: int, rng: Rng) -> Any:
        gaps = np.where(rng.random(n) < 0.1, np.nan, on_grid(rng.normal(0, 1, n)))
        return np.column_stack((on_grid(rng.normal(0, 1, n)), draw(d, n, rng), rng.integers(0, 4, n), gaps))

    return several


#: (what, claim, kind, said, mechanism)
CELLS = [("boundary", *case) for case in BOUNDARY] + [
    ("twin", name, kind, said, among_others(draw)) for name, kind, said, draw in BOUNDARY
]


@cache
def claim_at(cell: int) -> ClaimLines:
    said = CELLS[cell][3]
    return claim_of(said() if callable(said) else said)


def alarm(cell: int, sequential: bool, runs: int, alpha: float, seed: list[int]) -> bool:
    """Whether one audit of a correct mechanism calls it broken."""
    draws, coins = (np.random.default_rng([*seed, k]) for k in (0, 1))
    draw = CELLS[cell][4]
    source = BatchSource(lambda d, n: draw(d, n, draws), 0, 1)
    game = Game(source, coins, claim=claim_at(cell), alpha=alpha, budget=runs)
    if sequential:
        game.play(stop=True)
        return game.stopped is StopReason.EVIDENCE
    game.count()
    return fixed_p_value(game) <= alpha


READINGS = ("epsilon", "mu", "success", "band")


def too_large(cell: int, sequential: bool, runs: int, alpha: float, seed: list[int]) -> tuple[bool, ...]:
    """Whether each bound of one audit of a correct mechanism is above what is claimed."""
    draws, coins = (np.random.default_rng([*seed, k]) for k in (0, 1))
    draw = CELLS[cell][4]
    found = audit_source(
        BatchSource(lambda d, n: draw(d, n, draws), 0, 1), claim=claim_at(cell), confidence=1 - alpha, runs=runs,
        sequential=sequential, stop=False, seed=int(coins.integers(2**40)),
    )  # fmt: skip
    lows = {"epsilon": found.epsilon_lo, "mu": found.mu_lo, "success": found.success_lo}
    above = [low is not None and low > found.claimed.get(name, math.inf) * (1 + 1e-9) for name, low in lows.items()]
    return (*above, any(low > delta + 1e-9 for _, delta, low in found.band))


def _work(task: tuple[int, int, bool, int, float, int, bool]) -> tuple[int, bool, int, Any]:
    """A few audits of one cell: (cell, sequential, audits, alarms); with bounds, the alarms of each reading."""
    at, cell, sequential, runs, alpha, repeats, bounds = task
    if bounds:
        found = [too_large(cell, sequential, runs, alpha, [at, i, int(sequential)]) for i in range(repeats)]
        return cell, sequential, repeats, np.sum(found, axis=0)
    alarms = sum(alarm(cell, sequential, runs, alpha, [at, i, int(sequential)]) for i in range(repeats))
    return cell, sequential, repeats, alarms


def measure(seconds: float, processes: int, runs: int, alpha: float, bounds: bool) -> dict[tuple[int, bool], list[Any]]:
    """{(cell, sequential): [audits, alarms]}, every cell in turn until the time is up."""
    made: dict[tuple[int, bool], list[Any]] = {
        (cell, how): [0, 0] for cell in range(len(CELLS)) for how in (True, False)
    }

    def tasks() -> Any:
        began, at = time.monotonic(), 0
        while time.monotonic() - began < seconds:
            # fixed audits are cheap: as many as take about as long
            for cell, how in made:
                yield at, cell, how, runs, alpha, 4 if how else 8, bounds
                at += 1

    with multiprocessing.get_context("fork").Pool(processes) as pool:
        for cell, how, audits, alarms in pool.imap_unordered(_work, _held(tasks(), 4 * processes), chunksize=1):
            made[cell, how][0] += audits
            made[cell, how][1] += alarms
            _RUNNING.release()
    return made


_RUNNING = threading.Semaphore(0)


def _held(tasks: Any, most: int) -> Any:
    """Tasks, only so many ahead of their results: the clock, not a queue, ends the run."""
    for i, task in enumerate(tasks):
        if i >= most:
            _RUNNING.acquire()
        yield task


def tell_bounds(made: dict[tuple[int, bool], list[Any]], alpha: float) -> list[str]:
    """Print how often each bound was above the claim; those that are so too often."""
    print(f"Bounds above what is claimed, at a level of {alpha:.3g}\n")
    print("| claim | answers | | | audits | " + " | ".join(READINGS) + " |\n|" + "---|" * (5 + len(READINGS)))
    bad = []
    for (cell, how), (audits, alarms) in made.items():
        what, name, kind, _, _ = CELLS[cell]
        rates = np.broadcast_to(np.asarray(alarms, dtype=float), len(READINGS)) / max(audits, 1)
        word = "sequential" if how else "fixed"
        told = " | ".join(f"{rate:.4f}" for rate in rates)
        print(f"| {name} | {kind} | {what} | {word} | {audits:,} | {told} |")
        most = alpha + 3 * math.sqrt(alpha * (1 - alpha) / max(audits, 1))
        bad += [
            f"{name}, {kind}, {what}, {word}, {reading}: {rate:.4f}"
            for reading, rate in zip(READINGS, rates, strict=True)
            if rate > most
        ]
    print("\nAbove the level: " + ("; ".join(bad) if bad else "none"))
    return bad


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--runs", type=int, default=600, help="Of one audit.")
    parser.add_argument("--confidence", type=float, default=0.95)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--bounds", action="store_true", help="Try the bounds, not the verdict.")
    asked = parser.parse_args()
    alpha = 1 - asked.confidence
    for cell in range(len(CELLS)):
        claim_at(cell)  # before the processes part
    made = measure(asked.seconds, asked.processes, asked.runs, alpha, asked.bounds)
    if asked.bounds:
        sys.exit(1 if tell_bounds(made, alpha) else 0)
    print(f"False alarms at a level of {alpha:.3g}, audits of {asked.runs} runs; rate ± standard error (audits)\n")
    print("| claim | answers | | sequential | fixed |\n|---|---|---|---|---|")
    rows, bad = [], []
    for cell, (what, name, kind, _, _) in enumerate(CELLS):
        row: dict[str, Any] = {"claim": name, "answers": kind, "what": what}
        for how, word in ((True, "sequential"), (False, "fixed")):
            audits, alarms = made[cell, how]
            rate = alarms / max(audits, 1)
            error = math.sqrt(max(rate * (1 - rate), 1 / max(audits, 1)) / max(audits, 1))
            row[word] = {"audits": audits, "alarms": alarms, "rate": rate, "error": error}
            if rate > alpha + 3 * math.sqrt(alpha * (1 - alpha) / max(audits, 1)):
                bad.append(f"{name}, {kind}, {what}, {word}: {rate:.4f}")
        told = [f"{row[w]['rate']:.4f} ± {row[w]['error']:.4f} ({row[w]['audits']:,})" for w in ("sequential", "fixed")]
        print(f"| {name} | {kind} | {what} | {told[0]} | {told[1]} |")
        rows.append(row)
    for word in ("sequential", "fixed"):
        audits, alarms = (sum(row[word][key] for row in rows) for key in ("audits", "alarms"))
        print(f"\n{word}: {alarms:,} alarms in {audits:,} audits, {alarms / max(audits, 1):.4f}")
    print("\nAbove the level: " + ("; ".join(bad) if bad else "none"))
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
