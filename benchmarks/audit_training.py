"""Many private trainings, audited: trainings a second, and the bound found beside the certified one.

    python benchmarks/audit_training.py [--device numpy|cpu|cuda] [--runs 20000] [--json FILE]

Logistic regression, 1000 records, 100 features, 100 steps, q = 0.1, σ = 1, a canary with a feature of its own. The
advantage is that of the best cut, chosen on half of the trainings and counted on the other half.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from epsilens.auditing.audit import audit_source
from epsilens.auditing.sources import Bits

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.auditing.trainings import CanaryTrainings


def counted(score: Any, bits: Any) -> tuple[float, float]:
    """(advantage, standard error) of the best cut of a score, chosen on the first half, counted on the second."""
    half = score.size // 2
    order = np.argsort(score[:half])
    signs = np.where(bits[:half][order], -1.0 / bits[:half].sum(), 1.0 / (~bits[:half]).sum())
    cut = score[:half][order][int(np.argmax(np.cumsum(signs)))]
    above, world = score[half:] > cut, bits[half:]
    hit, false = above[world].mean(), above[~world].mean()
    error = math.sqrt(hit * (1 - hit) / world.sum() + false * (1 - false) / (~world).sum())
    return float(hit - false), float(error)


class Kept:
    """A source that gives trainings that were drawn before."""

    width = 1

    def __init__(self, outcomes: Any, bits: Any) -> None:
        self.zero, self.one = iter(outcomes[~bits]), iter(outcomes[bits])

    def draw(self, bits: Bits) -> Any:
        return np.array([next(self.one if bit else self.zero) for bit in bits.tolist()])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="numpy")
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    source = CanaryTrainings(device=asked.device, seed=1)
    source.draw(np.zeros(64, dtype=bool))  # whatever is loaded, compiled or allocated on the first call
    bits = np.random.default_rng(2).integers(0, 2, asked.runs).astype(bool)
    wall, cpu = time.perf_counter(), time.process_time()
    outcomes = source.draw(bits)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    low, high = source.claim.bracket("advantage")
    along, last = (counted(outcomes[:, k], bits) for k in (0, 1))
    began = time.process_time()
    runs = int(0.95 * min(asked.runs, 400_000))
    found = audit_source(Kept(outcomes, bits), claim=source.claim, runs=runs, sequential=False, seed=3)
    made = {
        "device": asked.device, "trainings": asked.runs, "wall_s": round(wall, 2), "cpu_s": round(cpu, 2),
        "trainings_per_wall_s": round(asked.runs / wall), "trainings_per_cpu_s": round(asked.runs / cpu),
        "certified_advantage": [float(low), float(high)], "advantage_along_trajectory": along[0],
        "standard_error": along[1], "advantage_of_last_weights": last[0],
        "audit": {
            "runs": runs, "verdict": str(found.verdict), "advantage_lo": found.advantage_lo, "mu_lo": found.mu_lo,
            "certified_mu": found.claimed["mu"], "cpu_s": round(time.process_time() - began, 2),
        },
    }  # fmt: skip
    print(json.dumps(made, indent=2))
    if asked.json:
        asked.json.write_text(json.dumps(made, indent=2) + "\n")


if __name__ == "__main__":
    main()
