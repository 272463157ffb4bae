"""Shares as people write them: 55%, 55 of 100, 55/100 and 0.55 are one number, read here and nowhere else."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

#: What is a share wherever it is asked for, by the name of its parameter; the catalogue's probabilities are among them.
SHARES = frozenset({
    "baseline", "belief", "believed_prior", "beside", "collision", "confidence", "delta", "f", "for_delta",
    "fpr", "gamma", "level", "p", "power", "precision", "prior", "q", "quantile", "rate", "recall",
    "sampling_fraction", "split", "success", "tpr", "truth",
})  # fmt: skip

_NUMBER = r"\d{1,3}(?:[,\u2009\u202f]\d{3})+(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+"
_PERCENT = re.compile(rf"({_NUMBER})\s*(?:%|per ?cent)", re.IGNORECASE)
_COUNT = re.compile(rf"({_NUMBER})\s*(?:of|in|out of|/)\s*({_NUMBER})", re.IGNORECASE)
_MOST = 60  # letters; whoever writes more means something else


def parse_share(text: str) -> float | None:
    """The share that a percentage or a count out of another is, rounded once; None for any other text.

    >>> [parse_share(text) for text in ("55%", "55 of 100", "5,500 of 10,000", "1 in 4", "0.55")]
    [0.55, 0.55, 0.55, 0.25, None]
    """
    said = text.strip()
    if len(said) > _MOST:
        return None
    if result := _PERCENT.fullmatch(said):
        return float(_exact(result[1]) / 100)
    if result := _COUNT.fullmatch(said):
        whole = _exact(result[2])
        return float(_exact(result[1]) / whole) if whole else None
    return None


def parse_shares(value: object) -> Any:
    """What was given, every share written as text in it as the number it is; anything else as it stands.

    >>> parse_shares("55%"), parse_shares(["1 of 10", 0.5]), parse_shares("x")
    (0.55, [0.1, 0.5], 'x')
    """
    if isinstance(value, str):
        result = parse_share(value)
        return value if result is None else result
    return [parse_shares(each) for each in value] if isinstance(value, list | tuple) else value


def _exact(number: str) -> Fraction:
    return Fraction(Decimal(re.sub(r"[,\u2009\u202f]", "", number)))


def share_suggestion(value: float) -> str:
    """What to write instead of a share that may have been meant as a percentage; empty where none can be meant.

    >>> share_suggestion(55.0), share_suggestion(0.55), share_suggestion(1000.0)
    ('55%, 55 of 100 or 0.55', '', '')
    """
    if not 1 < value <= 100:
        return ""
    return f"{value:.12g}%, {value:.12g} of 100 or {float(Fraction(value) / 100):.12g}"
