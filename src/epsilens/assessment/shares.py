"""Another division of ε among the queries, read from an assessment that was made, without its table.

Who is isolated, how people resemble each other and what the answers are does not depend on how ε is divided. With these
in hand (:class:`Basis`) the risks and errors of any division are read exactly, by the functions that read the plan's
own: nothing is scanned again, nothing interpolated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..data.scan.result import Scan
from ..errors import InputError
from ..plan.answers import Answer
from ..plan.plan import Release
from ..plan.relatives import CorrelationFactor
from .adversaries import Setting
from .risks import Risk, read_again
from .split import LEAST_SHARE, Division, SplitComparison, division

if TYPE_CHECKING:
    from .assessment import Assessment


@dataclass(frozen=True)
class Basis:
    """What was found in the table and does not depend on the division: the risks as assessed, the answers (without the
    names of their groups), who is isolated, who resembles whom; and the divisions compared.
    """

    risks: tuple[Risk, ...]
    answers: tuple[tuple[Answer, ...], ...]
    scan: Scan | None
    relations: tuple[CorrelationFactor, ...]
    split: SplitComparison


@dataclass(frozen=True)
class Resplit:
    """The same release with other shares: its division with the errors, and the risks (``planned``) at its ε."""

    release: Release
    division: Division
    risks: tuple[Risk, ...]


def basis_of(a: Assessment) -> Basis | None:
    """What another division needs of an assessment; None for one query, which has all of ε."""
    if a.split is None:
        return None
    answers = tuple(tuple(replace(answer, group=()) for answer in q.answers) for q in a.queries)
    scan = None if a.scan is None else replace(a.scan, subsets=(), columns=(), shown=(), notes=())
    return Basis(a.risks, answers, scan, a.relations, a.split)


def in_proportion(shares: Sequence[float]) -> tuple[float, ...]:
    """Shares of 1 in the proportion of these numbers.

    >>> in_proportion([50, 25, 25])
    (0.5, 0.25, 0.25)
    """
    total = sum(shares)
    for i, share in enumerate(shares):
        if not share > 0 or share < LEAST_SHARE * total:  # not above 0: also where it is not a number
            raise InputError(
                f"the share of query {i + 1} is {share:g}: give a number above 0, so that every query has some of ε",
                parameter=f"shares.{i + 1}",
            )
    return tuple(share / total for share in shares)


def resplit(plan: Release, basis: Basis, shares: Sequence[float]) -> Resplit:
    """The risks and errors of the release with ε shared in this proportion."""
    if len(shares) != len(plan.queries):
        raise InputError(
            f"shares has {len(shares)} numbers: give {len(plan.queries)}, one for each query", parameter="shares"
        )
    other = plan.shared(in_proportion(shares))
    read = read_again(Setting(other, basis.scan, basis.relations), basis.risks, other.epsilon, None)
    risks = tuple(replace(r, planned=r.planned if r.recommended is None else r.recommended) for r in read)
    return Resplit(other, division(other, basis.answers, other.epsilon, other.shares), risks)
