"""Power of an audit at equal budgets, and its own cost, beside jax_privacy where it is installed.

    python benchmarks/audit.py [--share 0.2] [--only power] [--auditorium CHECKOUT] [--json FILE]

Every tool sees the same draws: the answers, as scores. Bounds are at 95%. Times are of the processor. dp_auditorium is
not on PyPI; with a checkout of it (auditorium.py) its testers run beside ours. False alarms have a script of their own,
audit_false_alarms.py.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from epsilens.auditing.audit import Game, audit, audit_source
from epsilens.auditing.bounds import fixed_p_value
from epsilens.auditing.canaries import Canaries, epsilon_bound, guesses_to_make, mu_bound
from epsilens.auditing.result import ClaimLines, StopReason, claim_of, gdp_lines
from epsilens.auditing.sources import BatchSource, Bits

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


def power(repeats: float, testers: Any = None) -> list[dict[str, Any]]:
    """The mean bound on ε at δ = 0, by as many draws a side."""
    cases: list[tuple[str, Draw, float, int, int, tuple[float, float]]] = [
        ("Laplace, ε = 1", lambda d, n: d + RNG.laplace(0, 1, n), 1.0, 1000, 200, (0.80, 0.67)),
        ("Laplace, ε = 1", lambda d, n: d + RNG.laplace(0, 1, n), 1.0, 10_000, 60, (0.94, 0.89)),
        ("Laplace, ε = 3", lambda d, n: d + RNG.laplace(0, 1 / 3, n), 1.0, 10_000, 60, (2.86, 2.47)),
        ("normal, μ = 1", lambda d, n: d + RNG.normal(0, 1, n), 1.0, 10_000, 60, (2.16, 1.31)),
    ]
    rows = []
    for name, draw, claim, side, times, known in cases:
        ours, anytime, loose, jax, split = [], [], [], [], []
        theirs: dict[str, list[float]] = {}
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
            if testers is not None:
                for tester, bound in testers.bounds(zero[:side], one[:side], known[0] + 0.2, ALPHA).items():
                    theirs.setdefault(f"dp_auditorium {tester}", []).append(bound)
        rows.append(
            {"case": name, "draws a side": side, "repeats": len(ours), "epsilens fixed": mean_of(ours),
             "epsilens anytime": mean_of(anytime), "Hoeffding": mean_of(loose), "best of the sheet": known[0],
             "Hoeffding of the sheet": known[1]}
            | ({"jax Bonferroni": mean_of(jax), "jax split": mean_of(split)} if jax else {})
            | {tester: mean_of(bounds) for tester, bounds in theirs.items()}
        )  # fmt: skip
        print(rows[-1], flush=True)
    return rows


def refuted(draw: Draw, claim: ClaimLines, runs: int, sequential: bool, seed: int, low_bits: bool) -> tuple[bool, int]:
    """(whether the claim is refuted, runs used), without the bounds that an audit adds."""
    coins = np.random.default_rng([seed, 17])
    game = Game(BatchSource(draw, 0, 1), coins, None, low_bits, claim=claim, alpha=ALPHA, budget=runs)
    if sequential:
        game.play(stop=True)
        return game.stopped is StopReason.EVIDENCE, game.runs
    game.count()
    return fixed_p_value(game) <= ALPHA, game.runs


def claims(repeats: float) -> list[dict[str, Any]]:
    """How often a claim of 1-GDP is refuted, by a budget."""
    rows = []
    cases = ((1.0, 4000, 0.02), (1.25, 1000, 0.56), (1.5, 300, 0.64), (1.1, 16_000, 1.0))
    for truth, runs, known in cases:
        seen: dict[bool, list[tuple[bool, int]]] = {True: [], False: []}
        for i in range(max(8, int((600 if runs <= 1000 else 100) * repeats))):
            for how, found in seen.items():
                noisy = lambda d, n, truth=truth: d * truth + RNG.normal(0, 1, n)  # noqa: E731
                found.append(refuted(noisy, claim_of("mu=1"), runs, how, i, False))
        fixed, anytime = ([float(hit) for hit, _ in seen[how]] for how in (False, True))
        rows.append(
            {"claim 1-GDP, truth": truth, "runs": runs, "repeats": len(fixed), "fixed": mean_of(fixed),
             "anytime": mean_of(anytime), "runs used": mean_of([float(n) for _, n in seen[True]])[0],
             "best of the sheet": known}
        )  # fmt: skip
        print(rows[-1], flush=True)
    return rows


def leak(d: float, n: int) -> list[dict[str, float]]:
    """A noisy count of others, and a label with the person's own noisy count, shown only where that is above 3."""
    own, other = np.round(d + RNG.laplace(0, 1, n), 3), np.round(5 + RNG.laplace(0, 1, n), 3)
    return [{"a": float(b)} | ({"b": float(a)} if d and a > 3 else {}) for a, b in zip(own, other, strict=True)]


def until(repeats: float) -> list[dict[str, Any]]:
    """Runs until a broken claim is refuted, looking again and again."""
    cases: list[tuple[str, Any, Draw, int, int, bool]] = [
        ("1-GDP, truth 1.25", "mu=1", lambda d, n: 1.25 * d + RNG.normal(0, 1, n), 20_000, 674, False),
        ("1-GDP, truth 1.5", "mu=1", lambda d, n: 1.5 * d + RNG.normal(0, 1, n), 20_000, 201, False),
        ("ε = 1, Laplace noise halved", 1.0, lambda d, n: d + RNG.laplace(0, 0.5, n), 20_000, 161, False),
        ("ε = 1, Laplace noise of numpy", 1.0, lambda d, n: d + RNG.laplace(0, 1, n), 20_000, 282, True),
        ("ε = 1, label only above 3", 1.0, leak, 20_000, 1182, True),
    ]
    rows = []
    for name, said, draw, most, known, low_bits in cases:
        claim = claim_of(said)
        found = [refuted(draw, claim, most, True, i, low_bits) for i in range(max(8, int(200 * repeats)))]
        used = [float(n) for _, n in found]
        rows.append(
            {"case": name, "repeats": len(found), "found": sum(hit for hit, _ in found), "mean": mean_of(used),
             "median": float(np.median(used)), "mean of the sheet": known}
        )  # fmt: skip
        print(rows[-1], flush=True)
    return rows


def one_run(repeats: float) -> list[dict[str, Any]]:
    """One run with 1000 orthogonal canaries and normal noise: bounds on ε at δ = 1e-5 and on μ."""
    rows = []
    for mu, known in ((1.0, 0.57), (2.0, 1.28)):
        found: dict[str, list[float]] = {}
        guesses = guesses_to_make(1000, gdp_lines(mu))
        for i in range(max(4, int(100 * repeats))):
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
    parser.add_argument("--only", choices=("cost", "power", "claims", "until", "one_run"))
    parser.add_argument("--auditorium", help="A checkout of dp_auditorium, google/differential-privacy's python part.")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    testers = import_module("auditorium").Testers(asked.auditorium) if asked.auditorium else None  # beside this file
    peer = version("jax-privacy") if jax_auditing is not None else "not installed: pip install jax-privacy==2.0.0"
    print("numpy", version("numpy"), "scipy", version("scipy"), "jax_privacy", peer)
    began = time.process_time()
    parts: dict[str, Callable[[], Any]] = {
        "cost": lambda: cost(1_000_000), "power": lambda: power(asked.share, testers),
        "claims": lambda: claims(asked.share), "until": lambda: until(asked.share),
        "one_run": lambda: one_run(asked.share),
    }  # fmt: skip
    made = {name: part() for name, part in parts.items() if asked.only in (None, name)}
    print("processor seconds in all:", round(time.process_time() - began))
    if asked.json:
        asked.json.write_text(json.dumps(made, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
