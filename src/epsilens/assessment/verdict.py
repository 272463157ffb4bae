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
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from enum import StrEnum

from ..plan.plan import ERROR, Release
from .accuracy import MOST_EPSILON, QueryAccuracy
from .adversaries import Asks
from .risks import Risk

__all__ = ["LEDGER", "Allowed", "Standing", "Verdict", "allowed_by", "judge", "needed_by"]

#: What is broken where the ledger leaves less than is planned.
LEDGER = "ledger"


class Standing(StrEnum):
    """Where the planned ε stands."""

    WITHIN = "within"
    OVER = "over"
    IMPOSSIBLE = "impossible"
    INACCURATE = "inaccurate"
    CONTRADICTORY = "contradictory"
    OPEN = "open"


@dataclass(frozen=True)
class Allowed:
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
    ``at_least``. ``blind`` is the ε that keeps the limits on risk whatever the table holds, as people can type it;
    where it is not the recommended one, the recommendation was found by looking at the data (``looked``).
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
        if self.standing is Standing.INACCURATE and self.at_least is not None and math.isfinite(self.at_least):
            up = _rounded(self.at_least, ROUND_CEILING)
            return up if self.largest is None or up <= self.largest else self.at_least
        return None

    @property
    def possible(self) -> bool:
        """Whether some ε meets every limit on risk."""
        return self.recommended is None or self.recommended > 0


def allowed_by(risks: tuple[Risk, ...], planned: float, room: float | None = None) -> Allowed:
    """What the limits on risk allow, and the ledger (``room``).

    What is recommended is what is then read, so that a report's numbers are those of the ε it names; rounding never
    talks down an ε that is within the limits.
    """
    bounded = [r for r in risks if r.largest is not None]
    first = min(bounded, key=lambda r: r.largest or 0.0, default=None)
    each = [largest for largest in (None if first is None else first.largest, room) if largest is not None]
    if not each:
        return Allowed(None, None, None)
    return Allowed(None if first is None else first.key, min(each), _typed(min(each), risks, planned))


def _typed(largest: float | None, risks: tuple[Risk, ...], planned: float) -> float | None:
    """An ε that people can type, to the safe side; a planned one that keeps the limits is not talked down."""
    if largest is None:
        return None
    recommended = _rounded(largest, ROUND_FLOOR)
    return max(recommended, planned) if planned <= largest and not any(r.over for r in risks) else recommended


def needed_by(queries: tuple[QueryAccuracy, ...]) -> float:
    """The smallest ε people can type that keeps every error tolerated; 0 where none is limited."""
    return _rounded(max((q.smallest_epsilon for q in queries if q.smallest_epsilon), default=0.0), ROUND_CEILING)


def _rounded(epsilon: float, rounding: str) -> float:
    """A number people can type, to the safe side: two digits below 1 and three above.

    >>> [_rounded(e, ROUND_FLOOR) for e in (0.4149, 0.3, 0.0)], _rounded(1.7801, ROUND_CEILING)
    ([0.41, 0.3, 0.0], 1.79)
    """
    if not 0 < epsilon < math.inf:
        return epsilon
    # By its shortest digits: 0.3 is a little below three tenths, and the same number that people type.
    return float(Context(prec=2 if epsilon < 1 else 3, rounding=rounding).create_decimal(Decimal(repr(epsilon))))


def judge(
    release: Release,
    risks: tuple[Risk, ...],
    queries: tuple[QueryAccuracy, ...],
    allowed: Allowed,
    blind: float | None = None,
    room: float | None = None,
) -> Verdict:
    """The verdict on a release whose adversaries and errors have been read; ``blind`` as :func:`blind_epsilon` says.

    ``room`` is the ε that the ledger leaves.
    """
    planned, recommended = release.epsilon, allowed.recommended
    broken = {r.reading for r in risks if r.over}
    spent = room is not None and planned > room
    if blind is not None or not release.risk_limits:
        blind = min((e for e in (blind, room) if e is not None), default=None)
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
        leading=allowed.binding or next(r.key for r in risks if r.asks is Asks.MEMBERSHIP), largest=allowed.largest,
        recommended=recommended, alternative=recommended if beside else None, at_least=at_least, apart=apart,
        hardest=_hardest(release, queries), neediest=neediest, blind=_typed(blind, risks, planned),
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
