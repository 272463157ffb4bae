"""Numbers as people read them: frequencies out of 100 with their baseline, and rounding that errs on the safe side.

People judge risk best as counts out of a round number with the baseline beside it. Three rules keep the counts honest:
numbers shown together share one denominator; two numbers that differ never read the same while a denominator up to a
million can tell them apart; and only certainty is called 0 or 100 of 100.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal

from ..numerics.written import rounded_down, rounded_up

__all__ = [
    "apart", "at_most", "count", "frequencies", "frequency", "grouped", "number", "of_100", "people_of_100",
    "rounded_down", "rounded_up", "scale_for", "separated", "small", "times",
]  # fmt: skip

_SCALES = (100, 1_000, 10_000, 100_000, 1_000_000)
#: Two probabilities closer than this read the same: no denominator a person can picture tells them apart.
_SAME = 1 / _SCALES[-1]


def grouped(n: int) -> str:
    """A whole number with its thousands separated.

    >>> grouped(10000)
    '10,000'
    """
    return f"{n:,}"


def separated(text: str) -> str:
    """A number that is already rounded, as a sentence writes it: thousands apart, and no powers of ten below 10¹⁵.

    >>> separated("163000"), separated("0.0025"), separated("4.86e+08"), separated("2.5e-13"), separated("1e+20")
    ('163,000', '0.0025', '486,000,000', '2.5e-13', '1e20')
    """
    value = Decimal(text)
    if "e" in text and not 1 <= abs(value) < 10**15:
        return _powers(text)
    return f"{value:,f}"


def _powers(text: str) -> str:
    """A power of ten without what a programming language adds: 1e9, not 1e+09."""
    return re.sub(r"e([+-])0*", lambda m: "e-" if m[1] == "-" else "e", text)


def count(p: float, scale: int) -> str:
    """How many of ``scale``, as words; "0" and ``scale`` itself are kept for certainty.

    >>> count(0.6967, 100), count(0.9999, 100), count(1e-300, 100), count(1.0, 100)
    ('70', 'more than 99', 'fewer than 1', '100')
    """
    nearest = math.floor(p * scale + 0.5)
    if nearest >= scale and p < 1:
        return f"more than {grouped(scale - 1)}"
    if nearest <= 0 < p:
        return "fewer than 1"
    return grouped(min(max(nearest, 0), scale))


def apart(p: float, q: float) -> bool:
    """Whether two probabilities differ enough for a reader to be told."""
    return abs(p - q) >= _SAME


def scale_for(values: Sequence[float], *, exact: bool = False) -> int:
    """The smallest denominator at which the values that differ read differently; small risks start at 1,000 or 10,000.

    With ``exact`` the denominator also grows until none of them is only "more than" or "fewer than" a count.
    """
    positive = [v for v in values if v > 0]
    largest = max(positive, default=1.0)
    least = 100 if largest >= 0.05 else 1_000 if largest >= 0.005 else 10_000
    pairs = [(p, q) for i, p in enumerate(values) for q in values[i + 1 :] if apart(p, q)]
    for scale in _SCALES:
        if scale < least or any(count(p, scale) == count(q, scale) for p, q in pairs):
            continue
        if not exact or not any(" than " in count(v, scale) for v in values):
            return scale
    return _SCALES[-1]


def frequencies(*values: float, exact: bool = False) -> tuple[str, ...]:
    """Probabilities shown together, out of one denominator; ``exact`` as in :func:`scale_for`.

    >>> frequencies(0.6967, 0.5)
    ('70 of 100', '50 of 100')
    >>> frequencies(0.5002, 0.5)
    ('5,002 of 10,000', '5,000 of 10,000')
    >>> frequencies(0.027, 0.01)
    ('27 of 1,000', '10 of 1,000')
    """
    scale = scale_for(values, exact=exact)
    return tuple(f"{count(v, scale)} of {grouped(scale)}" for v in values)


def at_most(shown: str, *, bound: bool = True) -> str:
    """The words before a count that is a ``bound``: none before one that is itself "more than" or "fewer than".

    >>> at_most("73 of 100"), at_most("more than 99 of 100")
    ('at most ', '')
    """
    return "at most " if bound and " than " not in shown else ""


def frequency(p: float) -> str:
    """One probability on its own.

    >>> frequency(0.003), frequency(1e-9), frequency(0.9999999)
    ('30 of 10,000', 'fewer than 1 of 10,000', 'more than 99 of 100')
    """
    return frequencies(p)[0]


def number(value: float, *beside: float, digits: int = 4) -> str:
    """A decimal for tables: four places, and as many more as tell it from 0, 1 and the numbers beside it.

    >>> number(0.69673467), number(0.5), number(0.9999999979), number(0.50000002, 0.5), number(2.5e-13)
    ('0.6967', '0.5000', '0.999999998', '0.50000002', '2.5e-13')
    >>> number(float("inf")), number(float("nan")), number(1e9)
    ('unbounded', 'undefined', '1e9')
    >>> number(5.1432e-05)
    '0.00005143'
    """
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "unbounded"
    if value == 0:
        return "0"
    if abs(value) < 10.0**-digits or abs(value) >= 1e6:
        return small(float(f"{value:.{digits}g}"))
    others = [b for b in (1.0, *beside) if math.isfinite(b) and b != value]
    for places in range(digits, 16):
        text = f"{value:.{places}f}"
        if all(text != f"{b:.{places}f}" for b in others):
            return text
    return repr(value)


def small(value: float) -> str:
    """A number as it was given, with a small one written out.

    >>> small(1e-5), small(0.05), small(1e-12), small(1e-9), small(2.0)
    ('0.00001', '0.05', '1e-12', '1e-9', '2')
    """
    return f"{Decimal(repr(float(value))).normalize():f}" if 1e-7 <= abs(value) < 1e7 else _powers(f"{value:g}")


def of_100(share: float) -> str:
    """A probability as a frequency; 99.9% is not "100 of 100".

    >>> of_100(0.419), of_100(0.999), of_100(0.0003), of_100(0.0), of_100(1.0)
    ('42 of 100', 'more than 99 of 100', 'fewer than 1 of 100', '0 of 100', '100 of 100')
    """
    if share in (0.0, 1.0):
        return f"{int(share) * 100} of 100"
    if share > 0.99:
        return "more than 99 of 100"
    if share < 0.01:
        return "fewer than 1 of 100"
    return f"{round(100 * share)} of 100"


def people_of_100(count: int, total: int) -> str:
    """A count of people as the start of a sentence.

    >>> people_of_100(2475, 5912), people_of_100(0, 3), people_of_100(3, 3), people_of_100(1, 2000)
    ('42 of 100 people', 'None of the 3 people', 'All 3 people', 'Fewer than 1 of 100 people')
    """
    if count == 0:
        return f"None of the {total:,} people"
    if count == total:
        return "The only person" if total == 1 else f"All {total:,} people"
    text = of_100(count / total)
    return text[0].upper() + text[1:] + " people"


def times(*shares: float, exact: bool = False, per: str = "in") -> tuple[str, ...]:
    """Shares as people say them, out of one denominator; with ``exact`` one at which each is a count.

    >>> times(0.2718, 0.1), times(0.6967, per="of")
    (('27 times in 100', '10 times in 100'), ('70 times of 100',))
    """
    out = []
    for text in frequencies(*shares, exact=exact):
        shown, scale = text.split(" of ")
        out.append(f"{shown} time{'' if shown in ('1', 'fewer than 1') else 's'} {per} {scale}")
    return tuple(out)
