"""Published deployments and their ε, as reported: context for a choice, never a licence."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files

__all__ = ["SOURCE", "Precedent", "precedents"]

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
            unit = " ".join(row["unit"].split())
            made.append(
                Precedent(
                    row["curator"],
                    row["deployment"],
                    int(row["year"]),
                    row["variant"],
                    float(row["epsilon"]),
                    unit,
                    row["model"],
                )
            )
    return tuple(sorted(made, key=lambda p: (p.epsilon, p.deployment)))
