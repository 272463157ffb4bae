"""Our own release held against its own plans: both noises, listed groups and thresholds, counts, sums and averages.

Usage::

    python -m scripts.own_release              # everything, as a Markdown table
    python -m scripts.own_release groups       # only plans with "groups" in their name

Pure noise in many listed groups is one call with a guess for each of them, counted once: the bound comes near the
claim. The others are sequential audits on every pair that applies. The confidence is 99% over all pairs of a plan: the
tails of pure noise are at the claim itself, where an audit at 95% is wrong once in twenty.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from epsilens.auditing.pipelines import GROUPS_PAIR, audit_plan

TABLE = pa.table({"who": [1, 2], "site": ["a", "b"], "x": [1.0, 2.0]})
MANY = 10_000
GAUSSIAN = {"epsilon": 1.0, "delta": 1e-6, "noise": "gaussian"}


@dataclass(frozen=True)
class Own:
    """A plan, the most runs on each pair, and whether only the pair with a coin for each group is asked."""

    name: str
    query: dict[str, Any]
    mechanism: dict[str, Any]
    runs: int
    groups: bool = False

    @property
    def plan(self) -> dict[str, Any]:
        """As it would be written."""
        return {"data": {"table": "t", "person": "who"}, "queries": [self.query], "mechanism": self.mechanism}


def _listed(count: int) -> list[str]:
    return [f"g{i}" for i in range(count)]


FEW = {"by": "site", "groups": ["a", "b", "c"]}
PURE = {"epsilon": 1.0}
PLANS = (
    Own("Laplace, counts in 10,000 groups", {"count": True, "by": "site", "groups": _listed(MANY)}, PURE, 60 * MANY,
        groups=True),
    Own("Laplace, sums in 10,000 groups", {"sum": "x", "bounds": [0, 8], "by": "site", "groups": _listed(MANY)}, PURE,
        60 * MANY, groups=True),
    Own("Laplace, counts in 3 groups", {"count": True, **FEW}, PURE, 2000),
    Own("Laplace, averages in 3 groups", {"average": "x", "bounds": [0, 8], **FEW}, PURE, 2000),
    Own("Laplace, counts above a threshold", {"count": True, "by": "site", "threshold": 20}, PURE, 2000),
    Own("Laplace, sums above a threshold", {"sum": "x", "bounds": [0, 8], "by": "site", "threshold": 20}, PURE, 6000),
    Own("Gaussian, counts in 3 groups", {"count": True, **FEW}, GAUSSIAN, 6000),
    Own("Gaussian, sums in 3 groups", {"sum": "x", "bounds": [0, 8], **FEW}, GAUSSIAN, 6000),
    Own("Gaussian, averages in 3 groups", {"average": "x", "bounds": [0, 8], **FEW}, GAUSSIAN, 6000),
    Own("Gaussian, counts above a threshold", {"count": True, "by": "site", "threshold": 60}, GAUSSIAN, 6000),
)  # fmt: skip


def row(own: Own) -> str:
    """One line of the table."""
    began = time.process_time()
    found = audit_plan(
        own.plan,
        table=TABLE,
        runs=own.runs,
        confidence=0.99,
        sequential=not own.groups,
        pairs=(GROUPS_PAIR,) if own.groups else None,
    )
    seconds = time.process_time() - began
    worst = max(one.audit.epsilon_lo for one in found.each)
    claimed = found.worst.audit.claimed["epsilon"]
    at = found.worst.audit.delta
    told = f"{claimed:.4g}" + (f" at δ = {at:g}" if at else "")
    return (
        f"| {own.name} | {len(found.each)} | {found.runs:,} | {told} | {worst:.4f} | {found.verdict} | {seconds:.0f} |"
    )


def main() -> None:
    """Print the table."""
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    print("| plan | pairs | runs | ε claimed | ε at least | verdict | seconds |")
    print("|---|---|---|---|---|---|---|")
    for own in PLANS:
        if wanted in own.name:
            print(row(own), flush=True)


if __name__ == "__main__":
    main()
