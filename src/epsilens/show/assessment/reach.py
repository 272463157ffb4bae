"""How far an adversary gets, as it is told: beside the baseline, for people as they are, and for several together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...numerics.formatting import frequencies, times
from ...worlds import Relation
from .labels import FREQUENCIES

if TYPE_CHECKING:
    from ...assessment.assess import Assessment
    from ...assessment.risks import AdversaryRisk, TypicalRisk


def reached(a: Assessment, r: AdversaryRisk, value: float) -> float:
    """The risk as it is told: what double precision rounds to certainty is not, except a belief under normal noise."""
    return math.nextafter(1, 0) if value == 1 and r.reading in FREQUENCIES and not r.conclusive else value


def told_beside(r: AdversaryRisk, value: float, *, guessed: bool) -> tuple[str, str]:
    """A risk and its baseline out of one denominator, in which the risk also reads otherwise than a limit it breaks.

    A limit that is kept is told as it was given: beside it a risk may read the same, never above.
    """
    beside = [r.baseline, *([r.limit] if r.limit is not None and value > r.limit else [])]
    now, without, *_ = times(value, given=beside, per="of") if guessed else frequencies(value, given=beside)
    return now, without


def exposure(a: Assessment, found: TypicalRisk) -> tuple[str, str]:
    """The typical and the most exposed person, each by itself: nobody wants 6,157 of 10,000 beside 6,162."""
    prior = a.release.adversary.prior
    typical, most = (times(p, given=[max(prior, 1 - prior)], per="of")[0] for p in (found.median, found.largest))
    return typical, most


def together(a: Assessment) -> str:
    """What several people reveal together, a household say."""
    if not a.together:
        return ""
    told = times(*(p for _, p in a.together), per="of")
    unit = a.release.data.unit
    kind = f"with the same {unit} each" if unit else "people"
    each = ", ".join(f"{k} {kind} {text}" for (k, _), text in zip(a.together, told, strict=True))
    if a.release.mechanism.neighbours is Relation.REPLACE:
        return f"Which of two sets of records is that of several people together is guessed right: {each}."
    who = f"several, those with the same {unit} each," if unit else "several people, a household say,"
    return f"Whether {who} are all in the table or none of them is guessed right: {each}."
