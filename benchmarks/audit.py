"""Power of an audit at equal budgets, its false alarms, and its own cost, beside jax_privacy where it is installed.

    python benchmarks/audit.py [--share 0.2] [--json FILE]

Every tool sees the same draws: the answers, as scores. Bounds are at 95%. Times are of the processor. dp_auditorium is
not on PyPI; the bound by Hoeffding's inequality, on the same event as ours, stands in its place.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from epsilens.auditing.audit import audit, audit_source
from epsilens.auditing.canaries import Canaries
from epsilens.auditing.claims import gdp_lines
from epsilens.auditing.game import Bits
from epsilens.auditing.one_run import epsilon_bound, guesses_to_make, mu_bound

try:
    from jax_privacy import auditing as jax_auditing
except ImportError:
    jax_auditing = None

Draw = Callable[[float, int], Any]
ALPHA = 0.05


def mean_of(values: list[float]) -> tuple[float, float]:
    """(mean, standard error)."""
    x = np.asarray(values, dtype=float)
    return round(float(x.mean()), 3), round(float(x.std() / math.sqrt(x.size)), 3)


class Kept:
    """A source of draws that were made before, so many in each world, for tools that want both sides."""

    width = 1

    def __init__(self, zero: Any, one: Any) -> None:
        self.sides, self.at = (zero, one), [0, 0]

    def draw(self, bits: Bits) -> Any:
        made = np.empty(bits.size)
        for world, mask in enumerate((~bits, bits)):
            count = int(mask.sum())
            made[mask] = self.sides[world][self.at[world] : self.at[world] + count]
            self.at[world] += count
        return made


def hoeffding(found: Any) -> float:
    """log of the ratio of the event's two rates, each by Hoeffding at half the level, from its guesses."""
    seen = found.event
    side = seen.runs / 2
    slack = math.sqrt(math.log(2 / ALPHA) / (2 * side))
    hit, false = seen.right / side / seen_sides(seen), (seen.guesses - seen.right) / side / seen_sides(seen)
    return max(0.0, math.log(max(hit - slack, 1e-12) / (false + slack)))


def seen_sides(seen: Any) -> int:
    return 2 if seen.above is not None and seen.below is not None else 1


def power(repeats: float) -> list[dict[str, Any]]:
    """The mean bound on ε at δ = 0, by as many draws a side."""
    cases: list[tuple[str, Draw, float, int, int, dict[str, float]]] = [
        ("Laplace, ε = 1", lambda d, n: d + RNG.laplace(0, 1, n), 1.0, 1000, 200, {"best of the sheet": 0.80}),
        ("Laplace, ε = 1", lambda d, n: d + RNG.laplace(0, 1, n), 1.0, 10_000, 60, {"best of the sheet": 0.94}),
        ("Laplace, ε = 3", lambda d, n: d + RNG.laplace(0, 1 / 3, n), 1.0, 10_000, 60, {"best of the sheet": 2.86}),
        ("normal, μ = 1", lambda d, n: d + RNG.normal(0, 1, n), 1.0, 10_000, 60, {"best of the sheet": 2.16}),
    ]
    rows = []
    for name, draw, claim, side, times, known in cases:
        ours, anytime, loose, jax, split = [], [], [], [], []
        for i in range(max(4, int(times * repeats))):
            # a few more than are used, since coins do not fall evenly
            zero, one = draw(0.0, side + 6 * int(math.sqrt(side))), draw(1.0, side + 6 * int(math.sqrt(side)))
            runs = 2 * side
            how: dict[str, Any] = {"claim": claim, "runs": runs, "low_bits": False, "seed": i}
            found = audit_source(Kept(zero, one), sequential=False, **how)
            ours.append(found.epsilon_lo)
            loose.append(hoeffding(found))
            anytime.append(audit_source(Kept(zero, one), stop=False, **how).epsilon_lo)
            if jax_auditing is not None:
                auditor = jax_auditing.CanaryScoreAuditor(one[:side], zero[:side])
                jax.append(auditor.epsilon_clopper_pearson(ALPHA, one_sided=False))
                halves = jax_auditing.Split(seed=i)
                split.append(auditor.epsilon_clopper_pearson(ALPHA, one_sided=False, threshold_strategy=halves))
        rows.append(
            {"case": name, "draws a side": side, "repeats": len(ours), "epsilens fixed": mean_of(ours),
             "epsilens anytime": mean_of(anytime), "Hoeffding": mean_of(loose), **known}
            | ({"jax Bonferroni": mean_of(jax), "jax split": mean_of(split)} if jax else {})
        )  # fmt: skip
        print(rows[-1], flush=True)
    return rows


def claims(repeats: float) -> list[dict[str, Any]]:
    """How often a claim of 1-GDP is refuted, by a budget; and the runs a bet needs."""
    rows = []
    cases = ((1.0, 4000, 0.02), (1.25, 1000, 0.56), (1.5, 300, 0.64), (1.1, 16_000, 1.0))
    for truth, runs, known in cases:
        hits: dict[bool, list[float]] = {True: [], False: []}
        used = []
        for i in range(max(4, int(150 * repeats))):
            for sequential, seen in hits.items():
                found = audit(
                    lambda d, n, truth=truth: d * truth + RNG.normal(0, 1, n), 0.0, 1.0, claim="mu=1", runs=runs,
                    batch=True, sequential=sequential, low_bits=False, seed=i,
                )  # fmt: skip
                seen.append(float(found.refuted))
                if sequential:
                    used.append(float(found.runs))
        rows.append(
            {"claim 1-GDP, truth": truth, "runs": runs, "fixed": mean_of(hits[False]), "anytime": mean_of(hits[True]),
             "runs used": mean_of(used)[0], "best of the sheet": known}
        )  # fmt: skip
        print(rows[-1], flush=True)
    return rows


def alarms(repeats: float) -> list[dict[str, Any]]:
    """False alarms where the truth is the claim, for each kind of answer."""
    p = -math.expm1(-1.0)
    right = 1 / (1 + math.exp(-1.0))
    cases: list[tuple[str, Any, Draw]] = [
        ("continuous, ε = 1", 1.0, lambda d, n: d + RNG.laplace(0, 1, n)),
        ("whole numbers, ε = 1", 1.0, lambda d, n: d + RNG.geometric(p, n) - RNG.geometric(p, n)),
        ("two atoms, ε = 1", 1.0, lambda d, n: np.where(RNG.random(n) < right, d, 1 - d)),
        ("continuous, 1-GDP", "mu=1", lambda d, n: d + RNG.normal(0, 1, n)),
    ]
    rows = []
    for name, claim, draw in cases:
        row: dict[str, Any] = {"answers": name}
        for word, sequential in (("fixed, 1000 runs", False), ("anytime, up to 1000 runs", True)):
            hits = [
                float(audit(draw, 0, 1, claim=claim, runs=1000, batch=True, sequential=sequential, low_bits=False,
                            seed=i).refuted)
                for i in range(max(4, int(400 * repeats)))
            ]  # fmt: skip
            row[word] = mean_of(hits)
        rows.append(row)
        print(row, flush=True)
    return rows


def one_run(repeats: float) -> list[dict[str, Any]]:
    """One run with 1000 orthogonal canaries and normal noise: bounds on ε at δ = 1e-5 and on μ."""
    rows = []
    for mu, known in ((1.0, 0.57), (2.0, 1.28)):
        found: dict[str, list[float]] = {}
        guesses = guesses_to_make(1000, gdp_lines(mu))
        for i in range(max(4, int(30 * repeats))):
            canaries = Canaries(1000, seed=i)
            scores = mu * canaries.included + RNG.normal(0, 1, 1000)
            order = np.argsort(scores)
            out, into = order[: guesses // 2], order[1000 - (guesses - guesses // 2) :]
            right = int((~canaries.included[out]).sum() + canaries.included[into].sum())
            found.setdefault("epsilens ε", []).append(epsilon_bound(1000, guesses, right, 1e-5))
            found.setdefault("epsilens μ", []).append(mu_bound(1000, guesses, right))
            if jax_auditing is not None:
                auditor = jax_auditing.CanaryScoreAuditor(scores[canaries.included], scores[~canaries.included])
                found.setdefault("jax one_run ε", []).append(auditor.epsilon_one_run(ALPHA, 1e-5))
        rows.append({"μ": mu, **{k: mean_of(v) for k, v in found.items()}, "μ of the sheet": known})
        print(rows[-1], flush=True)
    return rows


def cost(draws: int) -> dict[str, Any]:
    """A million draws of a cheap mechanism: seconds of the draws, and of the audit."""
    began = time.process_time()
    found = audit(
        lambda d, n: d + RNG.laplace(0, 1, n), 0.0, 1.0, claim=1.0, runs=draws, batch=True, stop=False, low_bits=False,
        seed=1,
    )  # fmt: skip
    spent = time.process_time() - began
    row = {
        "draws": draws, "processor s": round(spent, 2), "wall s of draws": round(found.seconds[0], 3),
        "wall s of the audit": round(found.seconds[1], 2), "ε at least": round(found.epsilon_lo, 4),
    }  # fmt: skip
    print(row, flush=True)
    return row


RNG = np.random.default_rng(17)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="Of the repeats.")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    peer = version("jax-privacy") if jax_auditing is not None else "not installed: pip install jax-privacy==2.0.0"
    print("numpy", version("numpy"), "scipy", version("scipy"), "jax_privacy", peer)
    began = time.process_time()
    made = {
        "cost": cost(1_000_000), "power": power(asked.share), "claims": claims(asked.share),
        "alarms": alarms(asked.share), "one_run": one_run(asked.share),
    }  # fmt: skip
    print("processor seconds in all:", round(time.process_time() - began))
    if asked.json:
        asked.json.write_text(json.dumps(made, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
