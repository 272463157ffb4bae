"""One place of a paper that differs from what holds, and how anyone can see that it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: What stands before every check.
PREFACE = "from math import *\nimport epsilens as el\nfrom epsilens import papers"


@dataclass(frozen=True, slots=True)
class Erratum:
    """Where, what is printed, what holds, and an expression that is true because it does."""

    where: str
    printed: str
    holds: str
    check: str


def holds(erratum: Erratum) -> bool:
    """Run the check as a reader would after :data:`PREFACE`.

    >>> holds(Erratum("a table", "2 + 2 = 5", "2 + 2 = 4", "2 + 2 == 4"))
    True
    """
    names: dict[str, Any] = {}
    exec(PREFACE, names)
    return bool(eval(erratum.check, names))
