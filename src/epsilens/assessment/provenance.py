"""What an assessment rests on and how to repeat it: assumptions in plain words, versions, hashes, seed.

Beside it the precedents: published deployments and their ε, as reported. Context for a choice, never a licence.
"""

from __future__ import annotations

import csv
import hashlib
import platform
import sys
from dataclasses import dataclass
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any

from .. import __version__
from ..data.queries import Query, QueryKind
from ..data.tables.source import Bundled, Url, source_of
from ..plan.plan import Release
from .accuracy import SEED
from .adversaries import Setting

__all__ = ["SOURCE", "Precedent", "assumptions", "precedents", "record"]


_MOST_HASHED = 1 << 30


def assumptions(plan: Release, queries: tuple[Query, ...], setting: Setting) -> tuple[str, ...]:
    """What the numbers rest on, in plain words."""
    prior = plan.adversary.prior
    likely = "as likely as not" if prior == 0.5 else f"{prior:g} likely"
    made = [
        "The adversary knows the noise, the queries and every other person's record.",
        f"Before the release they think it {likely} that the person is in the table.",
    ]
    if plan.data.person:
        made.append(
            f"A person counts once in a count, and with at most {plan.data.max_rows} rows in sums and averages; "
            "rows and values beyond the bounds are cut off."
        )
    else:
        made.append("One row is one person; values beyond the bounds are cut off.")
    if any(q.kind is QueryKind.AVERAGE for q in queries):
        made.append("The number of rows behind an average is public.")
    made.append(f"The {len(queries)} answers are read together." if len(queries) > 1 else "There is one answer.")
    if setting.related:
        alike = "; ".join(dict.fromkeys(r.because for r in setting.related))
        made.append(
            f"Values of related people are taken to be jointly normal: {alike}. Only “Correlated records” uses it."
        )
    else:
        made.append(
            "Records of other people say nothing about this one; if families resemble each other, the risk is higher "
            "(adversary.correlation states how)."
        )
    if plan.data.secret and not setting.secret:
        made.append("No planned query mentions the secret's columns, so differencing and belief about it do not apply.")
    return tuple(made)


def record(plan: Release, engine: str, table: Any) -> dict[str, str]:
    """How to get the same numbers again: versions, hashes, seed and command."""
    versions = {"epsilens": __version__, "python": platform.python_version()}
    for package in ("numpy", "scipy", "ibis-framework", "duckdb"):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return {
        "software": ", ".join(f"{k} {v}" for k, v in versions.items()),
        "engine": engine,
        "release": f"SHA-256 {plan.digest()}",
        "data": _data_hash(plan.data.table) if table is None else "passed in memory",
        "seed": f"{SEED} (simulated releases only)",
        "command": " ".join(Path(a).name if i == 0 else a for i, a in enumerate(sys.argv)) if sys.argv else "",
    }


def _data_hash(table: str) -> str:
    source = source_of(table)
    if isinstance(source, Bundled):
        return f"{source.name}, SHA-256 {source.dataset.sha256}"
    if isinstance(source, Url):
        return source.masked  # a database's password is no part of the record
    path = Path(table)
    if not path.is_file():
        return path.name
    if path.stat().st_size > _MOST_HASHED:
        return f"{path.name}, {path.stat().st_size:,} bytes (not hashed: larger than a gigabyte)"
    digest = hashlib.sha256()
    with path.open("rb") as f:
        while block := f.read(1 << 20):
            digest.update(block)
    return f"{path.name}, SHA-256 {digest.hexdigest()}"


SOURCE = "drafts of the public deployments registry (opendp/deployments-registry-data, MIT, 2025), as reported"


@dataclass(frozen=True)
class Precedent:
    """One deployment that reports an ε."""

    curator: str
    deployment: str
    year: int
    variant: str
    epsilon: float
    unit: str
    model: str


def precedents() -> tuple[Precedent, ...]:
    """Deployments with an ε of their own, smallest first.

    >>> len(precedents()), precedents()[0].curator
    (27, 'Uber')
    """
    text = files("epsilens.data").joinpath("files", "precedents.csv").read_text(encoding="utf-8")
    made = []
    for row in csv.DictReader(text.splitlines(keepends=True)):
        if row["epsilon"]:
            year, epsilon, unit = int(row["year"]), float(row["epsilon"]), " ".join(row["unit"].split())
            made.append(Precedent(row["curator"], row["deployment"], year, row["variant"], epsilon, unit, row["model"]))
    return tuple(sorted(made, key=lambda p: (p.epsilon, p.deployment)))
