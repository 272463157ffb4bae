"""Numbers as people read them: frequencies out of 100 with their baseline, and rounding that errs on the safe side.

People judge risk best as counts out of a round number with the baseline beside it; :mod:`..numerics.counted` says how a
chance becomes one.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

from ..numerics.formatting import ceil_count, ceil_digits, floor_digits, times


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


def at_most(shown: str, *, bound: bool = True) -> str:
    """The words before a count that is a ``bound``: none before one that is itself "more than" or "fewer than".

    >>> at_most("73 of 100"), at_most("more than 99 of 100")
    ('at most ', '')
    """
    return "at most " if bound and " than " not in shown else ""


def beside(low: float, own: float) -> tuple[str, str]:
    """A bound from below, rounded down, and what is claimed, rounded up, in as many digits as tell which is larger.

    >>> beside(1.6412, 1.0), beside(1.0000321, 1.0), beside(0.98, 1.0), beside(0.99999991, 0.99999953)
    (('1.641', '1'), ('1.00003', '1'), ('0.98', '1'), ('0.9999999', '0.9999996'))
    """
    digits = 4
    while low > own and digits < 17 and not Decimal(floor_digits(low, digits)) > Decimal(ceil_digits(own, digits)):
        digits += 1
    return floor_digits(low, digits), ceil_digits(own, digits)


def guessed(p: float, baseline: float, *, bound: bool) -> tuple[str, str, str]:
    """What is said before right guesses, they and the baseline; a ``bound`` near certainty with a decimal or two.

    >>> guessed(0.6931, 0.5, bound=True), guessed(0.9997, 0.5, bound=False)
    (('at most ', '70 times of 100', '50 times of 100'), ('', 'more than 99 times of 100', '50 times of 100'))
    >>> guessed(0.99966, 0.5, bound=True), guessed(0.9999999, 0.5, bound=True)
    (('at most ', '99.97 times of 100', '50 times of 100'), ('', 'nearly every time', '50 times of 100'))
    """
    shown, without = times(p, given=[baseline], per="of")
    if bound and shown == "more than 99 times of 100":  # "at most more than 99" says nothing
        finer = (
            f"{ceil_count(100 * p, places):g} times of 100" for places in (1, 2) if ceil_count(100 * p, places) < 100
        )
        shown = next(finer, "nearly every time")
    return at_most(shown, bound=bound and "nearly" not in shown), shown, without


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


def cost(value: float) -> str:
    """What a release costs, in four digits and never less than it is; the last bits are our own arithmetic.

    >>> cost(0.2149107), cost(0.4), cost(0.1 + 0.2), cost(0.0)
    ('0.215', '0.4', '0.3', '0')
    """
    return ceil_digits(value * (1 - 1e-12)) if value else "0"


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
