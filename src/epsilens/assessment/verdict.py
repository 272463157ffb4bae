"""The one verdict on a planned release: which limits it keeps, which it breaks, and the ε to choose instead.

It is decided here, once, when the assessment is made. The object, its JSON, the report, the page, the registry record
and the exit code of the command repeat it; words are put to it in :mod:`epsilens.show`.

The limits on risk allow every ε up to ``largest``; the limit on error needs one of at least ``at_least``. The planned ε
stands with respect to both:

=============  ====================================================================
impossible     no ε keeps some limit on risk (then the planned one breaks it too)
over           a limit on risk is broken
contradictory  the error is too large, and what it needs is more than risk allows
inaccurate     the error is too large, and a larger ε would do
within         every limit holds
open           there is no limit
=============  ====================================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from enum import StrEnum

from ..plan.model import ERROR, Release
from .accuracy import MOST_EPSILON, QueryAccuracy
from .adversaries import AdversaryGoal
from .risks import AdversaryRisk, RiskLimit

#: What is broken where the ledger leaves less than is planned.
LEDGER = "ledger"
_MORE = 8  # digits, where the usual ones leave what the limits allow


class Standing(StrEnum):
    """Where the planned ε stands."""

    WITHIN = "within"
    OVER = "over"
    IMPOSSIBLE = "impossible"
    INACCURATE = "inaccurate"
    CONTRADICTORY = "contradictory"
    OPEN = "open"


@dataclass(frozen=True)
class AllowedEpsilon:
    """What the limits on risk allow: the adversary who allows least, the largest ε, and one that people can type."""

    binding: str | None
    largest: float | None
    recommended: float | None


@dataclass(frozen=True)
class Verdict:
    """Where the planned release stands, and why.

    ``kept`` and ``broken`` name the limits as the release does. ``binding`` is the key of the adversary who allows the
    least ε and so sets the recommendation, ``leading`` of the one a report speaks of first. ``largest`` is the largest
    ε within every limit on risk (None without one, 0 where no ε is), ``recommended`` that number as people can type
    it, and never below a planned ε that keeps the limits; ``alternative`` is the recommended one where it says
    something beside the planned. ``at_least`` is the smallest ε that keeps the error tolerated (None where nothing is,
    infinite where none does), and ``apart`` says that this is more than the limits on risk allow, whatever the planned
    ε. ``hardest`` is the place of the query with the largest error for its size, ``neediest`` of the one that sets
    ``at_least``. ``enough`` is an ε that keeps the error tolerated and every limit on risk, as people can type it,
    None where there is none. ``blind`` is the ε that keeps the limits on risk whatever the table holds, as people can
    type it; where it is not the recommended one, the recommendation was found by looking at the data (``looked``).
    """

    standing: Standing
    kept: tuple[str, ...]
    broken: tuple[str, ...]
    binding: str | None
    leading: str
    largest: float | None
    recommended: float | None
    alternative: float | None
    at_least: float | None
    apart: bool
    hardest: int
    neediest: int | None
    enough: float | None = None
    blind: float | None = None

    @property
    def looked(self) -> bool:
        """Whether the recommended ε would be another one for some other table: publishing it then tells of this one."""
        return self.recommended is not None and self.blind != self.recommended

    @property
    def exceeded(self) -> bool:
        """Whether the planned release breaks a limit, on risk or on error: the command then exits with 3."""
        return bool(self.broken)

    @property
    def over_risk(self) -> bool:
        """Whether it breaks a limit on risk."""
        return any(name != ERROR for name in self.broken)

    @property
    def instead(self) -> float | None:
        """The ε to choose in place of the planned one, as people can type it; None where the planned one stands.

        Where both limits cannot be kept it is that of the limits on risk; it is None where no ε keeps those.
        """
        if self.standing is Standing.OVER:
            return self.recommended
        return self.enough if self.standing is Standing.INACCURATE else None

    @property
    def possible(self) -> bool:
        """Whether some ε meets every limit on risk."""
        return self.recommended is None or self.recommended > 0


def allowed_epsilon(
    limits: Sequence[RiskLimit],
    planned: float,
    room: float | None = None,
    fits: Callable[[float], bool] = lambda _: True,
) -> AllowedEpsilon:
    """What the limits on risk allow together, and the ledger: up to ``room``, where a release ``fits``.

    The largest ε at which all of them hold. What one limit allows another may forbid, below as well as above, where a
    fixed threshold hides less the more noise there is: then the search goes on below, and finds 0 where nothing is
    left. What is recommended is read again, against every limit, after it is rounded; rounding never talks down an ε
    that is within them.
    """
    first = min(limits, key=lambda one: one.largest, default=None)
    each = [largest for largest in (None if first is None else first.largest, room) if largest is not None]
    if not each:
        return AllowedEpsilon(None, None, None)

    def kept(epsilon: float) -> bool:
        return not any(one.over(epsilon) for one in limits) and (room is None or epsilon == room or fits(epsilon))

    binding, largest = None if first is None else first.key, min(each)
    while largest and (broken := next((one for one in limits if not one.monotone and one.over(largest)), None)):
        binding, largest = broken.key, broken.below(largest)
    if largest and room is not None and largest < room and not fits(largest):
        largest = 0.0  # names that fewer bits of noise would hide cost more than the ledger has
    stands = planned <= (math.inf if room is None else room) and kept(planned)
    largest = max(largest, planned) if stands else largest
    recommended = _within(largest, kept) if largest else 0.0
    return AllowedEpsilon(binding, largest, max(recommended, planned) if stands else recommended)


def _within(largest: float, kept: Callable[[float], bool], rounding: str = ROUND_FLOOR) -> float:
    """A number people can type that keeps the limits, of as few digits as do; the number itself where none does."""
    usual = 2 if largest < 1 else 3
    typed = (_rounded(largest, rounding, digits) for digits in range(usual, usual + _MORE))
    return next((epsilon for epsilon in typed if kept(epsilon)), largest)


def needed_epsilon(queries: tuple[QueryAccuracy, ...]) -> float:
    """The smallest ε people can type that keeps every error tolerated; 0 where none is limited."""
    return _rounded(_least(queries), ROUND_CEILING)


def sufficient_epsilon(
    queries: tuple[QueryAccuracy, ...], allowed: AllowedEpsilon, limits: Sequence[RiskLimit]
) -> float | None:
    """An ε people can type that keeps every error tolerated and every limit on risk: a small one; None without any."""
    least = _least(queries)
    most = MOST_EPSILON if allowed.largest is None else allowed.largest
    if not 0 < least <= most:
        return None

    def kept(epsilon: float) -> bool:
        return epsilon <= most and not any(one.over(epsilon) for one in limits)

    found = _within(least, kept, ROUND_CEILING)
    if found > least or kept(least):
        return found
    return allowed.recommended if allowed.recommended and allowed.recommended >= least else allowed.largest


def _least(queries: tuple[QueryAccuracy, ...]) -> float:
    return max((q.smallest_epsilon for q in queries if q.smallest_epsilon), default=0.0)


def _rounded(epsilon: float, rounding: str, digits: int | None = None) -> float:
    """A number people can type, to the safe side: two digits below 1 and three above, unless others are asked for.

    >>> [_rounded(e, ROUND_FLOOR) for e in (0.4149, 0.3, 0.0)], _rounded(1.7801, ROUND_CEILING)
    ([0.41, 0.3, 0.0], 1.79)
    """
    if not 0 < epsilon < math.inf:
        return epsilon
    # By its shortest digits: 0.3 is a little below three tenths, and the same number that people type.
    digits = digits or (2 if epsilon < 1 else 3)
    return float(Context(prec=digits, rounding=rounding).create_decimal(Decimal(repr(epsilon))))


def judge(
    release: Release,
    risks: tuple[AdversaryRisk, ...],
    queries: tuple[QueryAccuracy, ...],
    allowed: AllowedEpsilon,
    enough: float | None = None,
    blind: float | None = None,
    room: float | None = None,
) -> Verdict:
    """The verdict on a release whose adversaries and errors have been read.

    ``enough`` is what :func:`sufficient_epsilon` found, ``blind`` the ε recommended whatever the table holds, ``room``
    the ε that the ledger leaves.
    """
    planned, recommended = release.epsilon, allowed.recommended
    broken = {r.reading for r in risks if r.over}
    spent = room is not None and planned > room
    if any(q.too_noisy(planned, release) for q in queries):
        broken.add(ERROR)
    needs = {i: q.smallest_epsilon for i, q in enumerate(queries) if q.smallest_epsilon is not None}
    neediest = max(needs, key=lambda i: needs[i], default=None)
    at_least = None if neediest is None else needs[neediest]
    most = MOST_EPSILON if allowed.largest is None else allowed.largest
    apart = at_least is not None and at_least > most
    beside = recommended is not None and 0 < recommended < MOST_EPSILON and recommended != planned
    return Verdict(
        standing=_standing(release, broken | ({LEDGER} if spent else set()), recommended, apart),
        kept=tuple(name for name in release.limits if name not in broken),
        broken=(*(name for name in release.limits if name in broken), *([LEDGER] if spent else [])),
        binding=allowed.binding,
        leading=allowed.binding or next(r.key for r in risks if r.asks is AdversaryGoal.MEMBERSHIP),
        largest=allowed.largest,
        recommended=recommended, alternative=recommended if beside else None, at_least=at_least, apart=apart,
        hardest=_hardest(release, queries), neediest=neediest, enough=enough, blind=blind,
    )  # fmt: skip


def _standing(release: Release, broken: set[str], recommended: float | None, apart: bool) -> Standing:
    if broken - {ERROR}:
        return Standing.IMPOSSIBLE if recommended == 0 else Standing.OVER
    if ERROR in broken:
        return Standing.CONTRADICTORY if apart else Standing.INACCURATE
    return Standing.WITHIN if release.limits or recommended is not None else Standing.OPEN


def _hardest(release: Release, queries: tuple[QueryAccuracy, ...]) -> int:
    """The query with the largest error for its size, which limits how small ε can be."""
    rated = [i for i, q in enumerate(queries) if q.typical]
    return max(rated, key=lambda i: queries[i].relative(release.epsilon, release), default=0)
