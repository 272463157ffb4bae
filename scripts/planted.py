"""The table of planted bugs: after how many runs a sequential audit finds each, beside the runs of the sheet.

Usage::

    python -m scripts.planted            # 10 audits of each bug, as a Markdown table
    python -m scripts.planted 3 seed     # 3 audits of those with "seed" in their name

Each audit has at most twelve times the runs of the sheet, and 250,000. The release without the bug is audited on
the same pair three times, with the same most runs up to 2000.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from tests.auditing.planted import BUGS, Bug

from epsilens.auditing.audit import audit_source

BUDGET = 12
MOST = 250_000
TWIN = 2000
TWINS = 3


def row(bug: Bug, audits: int) -> str:
    """One line of the table."""
    began = time.process_time()
    source, claim = bug.source(), bug.claim
    with bug.planted():
        found = [audit_source(source, claim=claim, runs=min(MOST, BUDGET * bug.sheet)) for _ in range(audits)]
    needed = [one.runs for one in found if one.refuted]
    mean = f"{np.mean(needed):.0f}" if needed else "–"
    # the exact numbers of the planted source are those of the bug: the twin starts anew
    again = min(audits, TWINS)
    twins = [audit_source(bug.source(), claim=claim, runs=min(TWIN, BUDGET * bug.sheet)) for _ in range(again)]
    flagged = sum(one.refuted for one in twins)
    seconds = time.process_time() - began
    return f"| {bug.name} | {bug.sheet} | {mean} | {len(needed)} of {audits} | {flagged} of {again} | {seconds:.0f} |"


def main() -> None:
    """Print the table."""
    audits = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    print("| bug (claim ε = 1) | runs, sheet | runs, mean | found | twin flagged | seconds |")
    print("|---|---|---|---|---|---|")
    for bug in BUGS:
        if wanted in bug.name:
            print(row(bug, audits), flush=True)


if __name__ == "__main__":
    main()
