"""Published deployments and what they claim, as reported: each has a name that can be explained.

The registry's own words are kept; the short names are ours.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ..errors import InputError

SOURCE = "drafts of the public deployments registry (opendp/deployments-registry-data, MIT, 2025), as reported"

#: What people say beside the registry's words: U.S. as one word, and the census these are products of.
_ALSO = {"Disclosure Avoidance System": "us 2020", "Census": "us"}
_LEFT_OUT = {"the", "of", "for", "and", "in", "on", "to"}
_LISTED = 8  # names told where several fit


@dataclass(frozen=True, slots=True)
class Deployment:
    """One deployment: who, what, when, and the claim; None where a number is not reported.

    ``unread`` is a δ that is reported as a formula.
    """

    name: str
    curator: str
    deployment: str
    year: int
    variant: str
    epsilon: float | None
    delta: float | None
    rho: float | None
    unit: str
    model: str
    unread: str = ""

    @property
    def title(self) -> str:
        """Who and what, in a line."""
        return f"{self.curator}: {self.deployment} ({self.year})"

    @property
    def claimed(self) -> str:
        """The numbers that are claimed.

        >>> deployment("census-redistricting").claimed
        'ρ = 2.63'
        """
        numbers = {"ε": self.epsilon, "δ": self.delta, "ρ": self.rho}
        return ", ".join(f"{sign} = {value:g}" for sign, value in numbers.items() if value is not None)

    @property
    def words(self) -> frozenset[str]:
        """The words by which it can be found."""
        description = f"{self.name} {self.curator} {self.deployment} {self.year}"
        return frozenset(
            _words(" ".join((description, *(more for phrase, more in _ALSO.items() if phrase in description))))
        )


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in _LEFT_OUT]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


@cache
def deployments() -> tuple[Deployment, ...]:
    """Every deployment of the registry that reports a claim.

    >>> len(deployments()), deployments()[1].deployment
    (35, 'Popular Emojis')
    """
    text = files("epsilens.catalogue").joinpath("files", "precedents.csv").read_text(encoding="utf-8")
    result = []
    for row in csv.DictReader(text.splitlines(keepends=True)):
        epsilon, delta, rho = (_number(row[name]) for name in ("epsilon", "delta", "rho"))
        identity = (row["name"], row["curator"], row["deployment"], int(row["year"]), row["variant"])
        unread = row["delta"] if delta is None else ""
        result.append(Deployment(*identity, epsilon, delta, rho, " ".join(row["unit"].split()), row["model"], unread))
    return tuple(result)


def deployment(name: str) -> Deployment | None:
    """The deployment that a name means, or words that only it has; None where none fits, a sentence where several do.

    >>> deployment("census-redistricting").rho, deployment("windows telemetry").epsilon, deployment("laplace")
    (2.63, 1.672, None)
    >>> deployment("us-census-2020")
    Traceback (most recent call last):
    epsilens.errors.InputError: 'us-census-2020' fits 5 published deployments: give one of census-dhc, ...
    """
    words = _words(name)
    result = [d for d in deployments() if d.name == "-".join(words)]
    result = result or [d for d in deployments() if words and set(words) <= d.words]
    if len(result) > 1:
        listed = ", ".join(d.name for d in result[:_LISTED]) + (", …" if len(result) > _LISTED else "")
        raise InputError(
            f"{name[:40]!r} fits {len(result)} published deployments: give one of {listed}", "mechanism", value=name
        )
    return result[0] if result else None
