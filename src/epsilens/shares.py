"""Shares as people write them: 55%, 55 of 100, 55/100 and 0.55 are one number, read here and nowhere else."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

__all__ = ["share_of", "unclear"]

_NUMBER = r"\d{1,3}(?:[,\u2009\u202f]\d{3})+(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+"
_PERCENT = re.compile(rf"({_NUMBER})\s*(?:%|per ?cent)", re.IGNORECASE)
_COUNT = re.compile(rf"({_NUMBER})\s*(?:of|in|out of|/)\s*({_NUMBER})", re.IGNORECASE)
_MOST = 60  # letters; whoever writes more means something else


def share_of(text: str) -> float | None:
    """The share that a percentage or a count out of another is, rounded once; None for any other text.

    >>> share_of("55%"), share_of("55 of 100"), share_of("5,500 of 10,000"), share_of("1 in 4"), share_of("0.55")
    (0.55, 0.55, 0.55, 0.25, None)
    """
    said = text.strip()
    if len(said) > _MOST:
        return None
    if found := _PERCENT.fullmatch(said):
        return float(_exact(found[1]) / 100)
    if found := _COUNT.fullmatch(said):
        whole = _exact(found[2])
        return float(_exact(found[1]) / whole) if whole else None
    return None


def _exact(number: str) -> Fraction:
    return Fraction(Decimal(re.sub(r"[,\u2009\u202f]", "", number)))


def unclear(value: float) -> str:
    """What to write instead of a share that may have been meant as a percentage; empty where none can be meant.

    >>> unclear(55.0), unclear(0.55), unclear(1000.0)
    ('55%, 55 of 100 or 0.55', '', '')
    """
    if not 1 < value <= 100:
        return ""
    return f"{value:.12g}%, {value:.12g} of 100 or {float(Fraction(value) / 100):.12g}"
