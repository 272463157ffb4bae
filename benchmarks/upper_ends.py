"""How often the upper end of a correlation within groups holds: the table of docs/correlate.md.

python benchmarks/upper_ends.py [--times 4000] [--workers 16] [--only flags|values] [--json FILE]

Each row is one law, correlation, number and size of groups; the upper end is that of 97.5%.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.data.correlation.samples import LAWS, upper_ends

Setting = tuple[str, float, int, int | str]
FLAGS = [f"{law} {p}" for law, p in product(("all or none", "beta", "cluster"), (0.01, 0.02, 0.05, 0.1, 0.2, 0.5))]


def settings() -> list[Setting]:
    """Every law, in few and many groups, equal and unequal."""
    made: list[Setting] = []
    kinds: tuple[int | str, ...] = (2, 3, 5, "1-5", "uneven")
    for rho, groups, kind in product((0.0, 0.05, 0.3, 0.6, 0.8), (10, 20, 60, 200, 500), kinds):
        made += [(law, rho, groups, kind) for law in FLAGS if float(law.rsplit(" ", 1)[1]) * groups * 2 >= 2]
        made += [(law, rho, groups, kind) for law in LAWS]
    return made


def held(setting: Setting, times: int) -> dict[str, Any]:
    law, rho, groups, kind = setting
    ends = upper_ends(law, rho, groups, kind, times)
    return {
        "law": law, "rho": rho, "groups": groups, "size": kind, "held": float((ends >= rho - 1e-12).mean()),
        "median": float(np.median(ends)), "times": times,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=4000)
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--only", choices=["flags", "values"])
    parser.add_argument("--every", type=int, default=1, help="take one setting in so many")
    parser.add_argument("--json")
    given = parser.parse_args()
    chosen = [s for s in settings() if given.only is None or (s[0] in LAWS) == (given.only == "values")][:: given.every]
    with ProcessPoolExecutor(given.workers) as pool:
        rows = list(pool.map(held, chosen, [given.times] * len(chosen), chunksize=4))
    for row in sorted(rows, key=lambda row: row["held"])[:40]:
        error = np.sqrt(row["held"] * (1 - row["held"]) / row["times"])
        print(*(row[k] for k in ("law", "rho", "groups", "size")), f"{row['held']:.4f} ± {error:.4f}", row["median"])
    if given.json:
        Path(given.json).write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
