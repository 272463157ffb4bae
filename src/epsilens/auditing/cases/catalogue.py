"""All cases, and how they are run: the claim is tested by betting, and what broke it is bounded on fresh runs.

A bet may stop at any time, so it says how many runs refute a claim; a bound that is large as well needs an event that
is kept, so it is taken on as many fresh runs as the case has, chosen on a pilot. The level is shared out evenly over
all verdicts and bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ... import checks
from ...errors import InputError
from ..audit import audit
from ..claims import level_of
from ..result import Audit
from . import of_diffprivlib, of_numpy, of_opacus, of_opendp, of_twins, sparse
from .case import Case, CaseFound, Catalogue

#: In the order they are told: libraries that are always there first.
CASES: tuple[Case, ...] = (
    *(*of_numpy.CASES, *sparse.CASES, *of_opendp.CASES),
    *(*of_opacus.CASES, *of_diffprivlib.CASES, *of_twins.CASES),
)


def chosen(names: Iterable[str] = ()) -> tuple[Case, ...]:
    """The cases of these names, or whose names begin so, and their twins; all of them without a name.

    >>> [case.name for case in chosen(["numpy-laplace"])]
    ['numpy-laplace', 'numpy-geometric']
    """
    asked = list(names)
    if not asked:
        return CASES
    held: set[str] = set()
    for name in asked:
        found = [case for case in CASES if case.name == name] or [c for c in CASES if c.name.startswith(f"{name}-")]
        if not found:
            known = ", ".join(dict.fromkeys(case.name.partition("-")[0] for case in CASES))
            raise InputError(
                f"there is no case {str(name)[:40]!r}: give a name that the catalogue lists, or one of {known}",
                parameter="catalogue",
            )
        held.update(case.name for case in found)
        held.update(case.twin for case in found if case.twin)
    return tuple(case for case in CASES if case.name in held)


def audit_cases(
    names: Iterable[str] = (),
    *,
    confidence: float = 0.95,
    runs: int | None = None,
    seed: int | None = None,
    bound: bool = True,
    told: Callable[[CaseFound], Any] | None = None,
) -> Catalogue:
    """What the cases of these names show; ``confidence`` is that of all verdicts and bounds together.

    ``runs`` is the most for each, where it is less than the case's own. Without ``bound`` the larger bound on fresh
    runs is left out. ``told`` is given each case as it is done.

    >>> found = audit_cases(["numpy-laplace"], seed=1, bound=False)
    >>> [(each.case.name, str(each.audit.verdict)) for each in found.found]
    [('numpy-laplace', 'VIOLATION'), ('numpy-geometric', 'CONSISTENT')]
    """
    most = None if runs is None else checks.integer("runs", runs, low=1)
    asked = chosen(names)
    each = 1 - level_of(confidence) / (2 * len(asked))
    done: list[CaseFound] = []
    for case in asked:
        done.append(audit_case(case, confidence=each, runs=most, seed=seed, bound=bound))
        if told is not None:
            told(done[-1])
    return Catalogue(tuple(done))


def audit_case(
    case: Case, *, confidence: float = 0.999, runs: int | None = None, seed: int | None = None, bound: bool = True
) -> CaseFound:
    """What one case shows; skipped where its library is not there or does not load."""
    version = case.library.version
    if not version:
        return CaseFound(case, "", None, why=f"{case.library.name} is not installed: {case.library.install}")
    try:
        mechanism, claim = case.make(seed), case.claim()
    except Exception:  # it is there, but not with what it needs, or in a version whose functions are others
        return CaseFound(
            case, version, None, why=f"{case.library.name} {version} does not load here: {case.library.install}"
        )
    budget = case.runs if runs is None else min(runs, case.runs)

    def play(sequential: bool) -> Audit:
        return audit(
            mechanism, case.d0, case.d1, claim=claim, confidence=confidence, runs=budget, batch=case.batch,
            sequential=sequential, seed=seed,
        )  # fmt: skip

    found = play(not case.fixed)
    again = found.refuted and bound and not case.fixed
    return CaseFound(case, version, found, play(False) if again else None)
