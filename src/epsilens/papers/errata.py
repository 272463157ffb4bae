"""What the five papers print that does not hold, in plain mathematics, each with a line of Python that shows it.

The checks are expressions that anyone can run after three lines of imports (:data:`PREFACE`):

>>> holds(ERRATA["000"][0])
True
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from .items import PAPERS

#: The imports before every check.
PREFACE = "from math import *\nimport epsilens as el\nfrom epsilens import papers"


@dataclass(frozen=True, slots=True)
class Erratum:
    """Where, what is printed, what holds, and an expression that is true because it does."""

    where: str
    printed: str
    holds: str
    check: str


_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
ERRATA = {number: tuple(Erratum(**entry) for entry in _TABLES[name]) for number, name in PAPERS.items()}


def holds(erratum: Erratum) -> bool:
    """Run the check as a reader would after :data:`PREFACE`.

    >>> holds(Erratum("a table", "2 + 2 = 5", "2 + 2 = 4", "2 + 2 == 4"))
    True
    """
    names: dict[str, object] = {}
    exec(PREFACE, names)
    return bool(eval(erratum.check, names))
