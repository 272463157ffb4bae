"""Numbers of an assessment as its tables show them: risks, errors, shares and ε, rounded to the safe side."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal

from ..words import apart, number, rounded_down, rounded_up, small

__all__ = [
    "FREQUENCIES",
    "epsilon_down",
    "epsilon_up",
    "error",
    "limit",
    "percent",
    "planned",
    "risk",
    "share",
    "value",
]

#: Readings that are frequencies and are shown out of 100; the others are shown as they are.
FREQUENCIES = ("success", "posterior", "attack_success", "recall", "roc", "precision", "auc")
#: The largest ε anything is read at; what reaches it was never over its limit.
MOST = 700.0


def risk(reading: str, value: float, *, limit: float | None = None, baseline: float | None = None) -> str:
    """A risk: out of 100 for a frequency, else the number itself.

    Decimals appear where they tell the value from its baseline or from a limit it breaks, or from certainty.

    >>> risk("success", 0.6146, limit=0.55, baseline=0.5), risk("success", 0.5501, limit=0.55)
    ('61', '55.01')
    >>> risk("attack_success", 0.02718, limit=0.02), risk("success", 0.99996), risk("kl", 0.123456)
    ('2.7', '99.996', '0.1235')
    """
    if reading not in FREQUENCIES:
        return number(value, *([limit] if limit is not None and value > limit else []))
    if 0.99999 < value < 1:
        return "> 99.9"
    told = [(1.0, value < 1), (0.0, value > 0)]
    if limit is not None:
        told.append((limit, value > limit))
    if baseline is not None:
        told.append((baseline, apart(value, baseline)))
    others = [100 * other for other, differs in told if differs]
    x = 100 * value
    if math.isclose(x, round(x), abs_tol=1e-9):
        return f"{round(x)}"
    if value < 1e-6:
        return f"{x:.1e}"
    for places in range(0 if x >= 10 else 1, 15):
        text = f"{x:.{places}f}"
        if all(text != f"{other:.{places}f}" for other in others):
            break
    return text.rstrip("0").rstrip(".") if "." in text else text


def limit(reading: str, at: float) -> str:
    """A limit on risk, as it was given.

    >>> limit("success", 0.55), limit("kl", 0.1)
    ('55', '0.1')
    """
    return risk(reading, at) if reading in FREQUENCIES else small(at)


def value(x: float) -> str:
    """An answer of a query.

    >>> value(57752.0), value(66.5), value(0.0417), value(0.0), value(-1234.6)
    ('57,752', '67', '0.042', '0', '-1,235')
    """
    if x == 0:
        return "0"
    if abs(x) >= 1e15:
        return f"{x:.3g}"
    if abs(x) >= 10:
        return f"{math.floor(x + 0.5):,}"
    return f"{Decimal(f'{x:.2g}'):f}"


def error(x: float) -> str:
    """A 95% error, rounded up so that 95 of 100 answers do fall within it.

    >>> error(8.987), error(21.2), error(3460.07), error(0.0123)
    ('±9', '±22', '±3,461', '±0.013')
    """
    if not math.isfinite(x) or x >= 1e15:
        return "unbounded" if not math.isfinite(x) else f"±{x:.3g}"
    if x >= 10:
        return f"±{math.ceil(x):,}"
    text = f"{Context(prec=2, rounding=ROUND_CEILING).plus(Decimal(x)):f}"
    return f"±{text.rstrip('0').rstrip('.') if '.' in text else text}"


def share(x: float, limit: float | None = None, *, spoken: bool = False) -> str:
    """An error as a share of the answer; one that breaks its limit never reads as the limit.

    In a sentence (``spoken``) it has no decimals from 10% on.

    >>> share(0.1348), share(0.15004, 0.15), share(4e-5), share(12.345), share(float("inf"))
    ('13.5%', '15.004%', '<0.1%', '1,234%', 'no share')
    >>> share(0.33, 0.15, spoken=True), share(0.151, 0.15, spoken=True), share(0.025, spoken=True)
    ('33%', '15.1%', '2.5%')
    """
    if not math.isfinite(x):
        return "no share"
    if x < 0.0005:
        return "<0.1%"
    places = 1 if x < (0.1 if spoken else 1) else 0
    while limit is not None and x > limit and places < 12 and f"{100 * x:.{places}f}" == f"{100 * limit:.{places}f}":
        places += 1
    return f"{100 * x:,.{places}f}%"


def percent(limit: float) -> str:
    """A limit on error as it was given.

    >>> percent(0.15), percent(0.025)
    ('15%', '2.5%')
    """
    return f"{100 * limit:.6g}%"


def planned(epsilon: float) -> str:
    """An ε as it was given.

    >>> planned(1.0), planned(0.1 + 0.2), planned(1e-7)
    ('1', '0.3', '1e-07')
    """
    return f"{epsilon:.10g}"


def epsilon_down(epsilon: float) -> str:
    """The largest ε allowed, never above it: two digits below 1, three above.

    >>> epsilon_down(0.41430), epsilon_down(1.78277), epsilon_down(0.0), epsilon_down(700.0)
    ('0.41', '1.78', 'none', 'any')
    """
    if epsilon <= 0:
        return "none"
    return "any" if epsilon >= MOST else rounded_down(epsilon, 2 if epsilon < 1 else 3)


def epsilon_up(epsilon: float, largest: float | None = None) -> str:
    """The smallest ε needed, never below it; more digits where rounding up would pass ``largest``.

    >>> epsilon_up(0.9008), epsilon_up(0.9008, 0.9095), epsilon_up(float("inf"))
    ('0.91', '0.901', 'none')
    """
    if not math.isfinite(epsilon):
        return "none"
    for digits in range(2 if epsilon < 1 else 3, 17):
        text = rounded_up(epsilon, digits)
        if largest is None or float(text) <= largest:
            return text
    return rounded_up(epsilon, 17)
