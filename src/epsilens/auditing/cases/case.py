"""A case: a mechanism of a library, its claim, a pair of inputs, and whether it is known to break the claim."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from ...numerics.formatting import json_value
from ...numerics.values import ValueSemantics
from ...results import SentenceResult
from ..result import Audit, Verdict

#: What is audited: a function of one input, or of an input and a number of runs where the case is batched.
Mechanism = Callable[..., Any]


@dataclass(frozen=True)
class Library:
    """A distribution, the module that shows it is there, and the requirements that install it with what it needs."""

    name: str
    module: str
    requirements: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        """The version installed; empty where there is none, or where a package it needs is of a kind it cannot use.

        >>> Library("numpy", "numpy").version > "1", Library("no-such-thing", "no_such_thing").version
        (True, '')
        """
        if find_spec(self.module) is None:
            return ""
        try:
            return version(self.name)
        except PackageNotFoundError:
            return ""

    @property
    def install(self) -> str:
        """The command that installs it.

        >>> Library("opendp", "opendp", ("opendp==0.16.0",)).install
        'pip install "opendp==0.16.0"'
        """
        return " ".join(("pip install", *(f'"{each}"' for each in self.requirements or (self.name,))))


NUMPY = Library("numpy", "numpy")
EPSILENS = Library("epsilens", "epsilens")


@dataclass(frozen=True)
class Case:
    """What is audited, and what is known of it.

    ``make(seed)`` returns the mechanism; libraries with a generator of their own leave the seed aside. ``claim`` makes
    the claim when it is needed. ``twin`` names the correct case that stands beside a broken one. ``runs`` is the budget
    at which a broken case is found many times over. ``fixed`` cases are tested on that many runs at once: their event
    is too rare for bets that begin with others.
    """

    name: str
    about: str
    library: Library
    claimed: str
    claim: Callable[[], Any]
    make: Callable[[int | None], Mechanism]
    d0: Any
    d1: Any
    pair: tuple[str, str]
    broken: bool = False
    twin: str = ""
    runs: int = 20_000
    batch: bool = False
    fixed: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class CaseFound(ValueSemantics):
    """What was found in a case: ``audit`` is None where it was not run, and ``why`` says what to do.

    ``audit`` is the verdict; ``bound`` a bound on fresh runs where the claim was refuted and it was asked.
    """

    case: Case
    version: str
    audit: Audit | None
    bound: Audit | None = None
    why: str = ""

    @property
    def refuted_after(self) -> int | None:
        """How many runs refuted the claim; None where they did not."""
        return self.audit.runs if self.audit is not None and self.audit.refuted else None

    @property
    def epsilon_lo(self) -> float | None:
        """The bound on ε: on fresh runs where there are some."""
        shown = self.bound or self.audit
        return None if shown is None else shown.epsilon_lo

    @property
    def as_known(self) -> bool:
        """Whether a broken case was found and a correct one was not; a case that was not run is not held against it."""
        return self.audit is None or (self.audit.verdict is Verdict.VIOLATION) == self.case.broken

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        c, a = self.case, self.audit
        return {
            "name": c.name, "about": c.about, "library": c.library.name, "version": self.version or None,
            "claim": c.claimed, "pair": list(c.pair), "broken": c.broken, "twin": c.twin or None,
            "verdict": None if a is None else str(a.verdict), "refuted_after": self.refuted_after,
            "as_known": self.as_known, "skipped": self.why or None, "epsilon_lo": json_value(self.epsilon_lo),
            "audit": None if a is None else a.to_dict(),
            "bound": None if self.bound is None else self.bound.to_dict(),
        }  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Catalogue(ValueSemantics, SentenceResult):
    """What was found in several cases, in their order."""

    shown_as = "audited-cases"

    found: tuple[CaseFound, ...]

    @property
    def run(self) -> tuple[CaseFound, ...]:
        """Those whose library is installed."""
        return tuple(each for each in self.found if each.audit is not None)

    @property
    def as_known(self) -> bool:
        """Whether every broken case was found and no correct one."""
        return all(each.as_known for each in self.found)

    def twin_of(self, each: CaseFound) -> CaseFound | None:
        """What was found in the correct case beside a broken one."""
        return next((other for other in self.found if other.case.name == each.case.twin), None)

    def __getitem__(self, name: str) -> CaseFound:
        """The case of this name."""
        return next(each for each in self.found if each.case.name == name)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record."""
        return {
            "schema": 1, "as_known": self.as_known, "cases": [each.to_dict() for each in self.found],
            "sentence": self.sentence,
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"Catalogue({len(self.run)} of {len(self.found)} cases run, as_known={self.as_known})"
