"""Values as they are written: with a few digits, rounded to the safe side; as JSON takes them; in a few letters.

Chances as people read them: how many of 100, beside what it would be without the release. One rule for all surfaces.

- **A chance rounds up.** What an adversary can reach is told as a count that is never below it, whether the sentence
  says "at most" or not: 0.5631 is 57 of 100 in an assessment, on the board's page, in a release, in the ledger and in a
  picture. The last ten-thousandth of a count is our own arithmetic and is forgiven, so that a limit of 55 of 100 that
  is just met reads 55.
- **What was given does not.** A limit, a prior and the baseline without the release read as the nearest count: rounded
  up, a baseline would make what the release adds look smaller.
- **A chance that adds less than half a count is counted out of more**: 0.5002 beside 0.5 is 5,002 of 10,000, and not
  51 beside 50. Numbers shown together share one denominator, and two that differ never read the same while a
  denominator up to a million can tell them apart. A limit that is kept may read as the chance beside it; one that is
  broken never does.
- **Only certainty is 0 or 100 of 100.**
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

import numpy as np

_FEW = 4  # entries of a collection in a few letters


def _significant(value: float, digits: int, rounding: str) -> str:
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    rounded = Decimal(repr(float(value))).normalize(Context(prec=digits, rounding=rounding))
    return f"{rounded:f}" if 1e-7 <= abs(value) < 1e7 else f"{float(rounded):.{digits}g}"


def floor_digits(value: float, digits: int = 4) -> str:
    """Significant digits, never above the value: for the largest ε that is allowed.

    >>> floor_digits(0.21079), floor_digits(700.0), floor_digits(1.9999999)
    ('0.2107', '700', '1.999')
    """
    return _significant(value, digits, ROUND_FLOOR)


def ceil_digits(value: float, digits: int = 4) -> str:
    """Significant digits, never below the value: for the smallest σ that is enough.

    >>> ceil_digits(1.46731), ceil_digits(2.0)
    ('1.468', '2')
    """
    return _significant(value, digits, ROUND_CEILING)


def json_value(value: object) -> Any:
    """Floats, lists of them and truth values; null for what JSON cannot hold.

    >>> json_value(np.array([1.0, np.inf])), json_value(np.float64(2)), json_value(True)
    ([1.0, None], 2.0, True)
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [json_value(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def short_repr(value: object) -> str:
    """A value in a few letters.

    >>> short_repr(1 / 3), short_repr(np.zeros((3, 3))), len(short_repr("x" * 100)), short_repr(tuple(range(9)))
    ('0.333333', 'array of 3×3', 60, '(0, 1, 2, 3, … 9 in all)')
    """
    if isinstance(value, float | np.floating):
        return f"{value:g}"
    if isinstance(value, np.ndarray) and value.size > _FEW:
        return f"array of {'×'.join(map(str, value.shape))}"
    if isinstance(value, np.ndarray):
        return short_repr(value.tolist())
    if isinstance(value, list | tuple):
        shown = [short_repr(held) for held in value[:_FEW]]
        if len(value) > _FEW:
            shown.append(f"… {len(value)} in all")
        return f"({', '.join(shown)})" if isinstance(value, tuple) else f"[{', '.join(shown)}]"
    if isinstance(value, Mapping):
        shown = [f"{key!r}: {short_repr(value[key])}" for key in list(value)[:_FEW]]
        return f"{{{', '.join(shown)}{', …' if len(value) > _FEW else ''}}}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


_SCALES = (100, 1_000, 10_000, 100_000, 1_000_000)
#: Two probabilities closer than this read the same: no denominator a person can picture tells them apart.
_SAME = 1 / _SCALES[-1]
#: What a count may lie above a whole number and still be that number.
_OWN = 1e-4


def thousands(n: int) -> str:
    """A whole number with its thousands separated.

    >>> thousands(10000)
    '10,000'
    """
    return f"{n:,}"


def ceil_count(x: float, places: int = 0) -> float:
    """A count out of 100 rounded up, with some decimals; what is ours to forgive shrinks with them.

    >>> ceil_count(56.31), ceil_count(55.00005), ceil_count(55.00005, 1), ceil_count(55.001, 1), ceil_count(2.718, 1)
    (57.0, 55.0, 55.1, 55.1, 2.8)
    """
    return math.ceil(x * 10.0**places - _OWN) / 10.0**places


def count(p: float, scale: int, *, given: bool = False) -> str:
    """How many of ``scale``, rounded up, or to the nearest if it was ``given``; "0" and ``scale`` are for certainty.

    >>> count(0.6931, 100), count(0.55, 100), count(0.9931, 100), count(1e-300, 100), count(1.0, 100)
    ('70', '55', 'more than 99', 'fewer than 1', '100')
    >>> count(1 / 3, 100, given=True), count(1 / 3, 100)
    ('33', '34')
    """
    shown = math.floor(p * scale + 0.5) if given else math.ceil(p * scale - _OWN)
    if shown >= scale and p < 1:
        return f"more than {thousands(scale - 1)}"
    if p > 0 and (shown <= 0 if given else p * scale < 1 - _OWN):
        return "fewer than 1"
    return thousands(min(max(shown, 0), scale))


def distinguishable(p: float, q: float) -> bool:
    """Whether two probabilities differ enough for a reader to be told."""
    return abs(p - q) >= _SAME


def denominator(values: Sequence[float], given: Sequence[float] = (), *, exact: bool = False) -> int:
    """The smallest denominator at which chances that differ read differently; small risks start at 1,000 or 10,000.

    With ``exact`` the denominator also grows until none of them is only "more than" or "fewer than" a count.
    """
    both = [*((v, False) for v in values), *((v, True) for v in given)]
    largest = max((v for v, _ in both if v > 0), default=1.0)
    least = 100 if largest >= 0.05 else 1_000 if largest >= 0.005 else 10_000
    pairs = [(one, other) for i, one in enumerate(both) for other in both[i + 1 :] if distinguishable(one[0], other[0])]
    for scale in _SCALES:
        if scale < least or any(_read_alike(one, other, scale) for one, other in pairs):
            continue
        if not exact or not any(" than " in count(v, scale, given=is_given) for v, is_given in both):
            return scale
    return _SCALES[-1]


def _read_alike(one: tuple[float, bool], other: tuple[float, bool], scale: int) -> bool:
    """Whether two read the same, or are less than half a count apart where one of them is what it would be anyway."""
    (p, mine), (q, theirs) = one, other
    same = count(p, scale, given=mine) == count(q, scale, given=theirs)
    return same or (mine != theirs and count(p, scale, given=True) == count(q, scale, given=True))


def frequencies(*values: float, given: Sequence[float] = (), exact: bool = False) -> tuple[str, ...]:
    """Chances shown together, then what was ``given``, out of one denominator; ``exact`` as in :func:`scale_for`.

    >>> frequencies(0.6931, given=[0.5])
    ('70 of 100', '50 of 100')
    >>> frequencies(0.5002, given=[0.5])
    ('5,002 of 10,000', '5,000 of 10,000')
    >>> frequencies(0.027, given=[0.01])
    ('27 of 1,000', '10 of 1,000')
    """
    scale = denominator(values, given, exact=exact)
    texts = [count(v, scale) for v in values] + [count(v, scale, given=True) for v in given]
    return tuple(f"{text} of {thousands(scale)}" for text in texts)


def frequency(p: float) -> str:
    """One share on its own, as it was given.

    >>> frequency(0.003), frequency(1e-9), frequency(0.9999999)
    ('30 of 10,000', 'fewer than 1 of 10,000', 'more than 99 of 100')
    """
    return frequencies(given=[p])[0]


def times(*values: float, given: Sequence[float] = (), exact: bool = False, per: str = "in") -> tuple[str, ...]:
    """Chances as people say them, as :func:`frequencies` counts them.

    >>> times(0.2718, given=[0.1]), times(0.6967, per="of")
    (('28 times in 100', '10 times in 100'), ('70 times of 100',))
    """
    out = []
    for text in frequencies(*values, given=given, exact=exact):
        shown, scale = text.split(" of ")
        out.append(f"{shown} time{'' if shown in ('1', 'fewer than 1') else 's'} {per} {scale}")
    return tuple(out)
