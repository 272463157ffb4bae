"""Verdicts in words: was this answer, or one of these, tampered with?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..build.tampering.detection import Detection, Series
from .document import Document, Lead, Section, plain_table, said
from .report import Report, to_know
from .words import number, small, times

__all__ = ["detection", "of_detection", "of_series", "series", "series_verdict", "verdict"]

SCHEMA = 1
_MOST_ROWS = 50
_PREMISE = (
    "The expected answer must be exact and recomputed from data that is trusted: an error in it looks like tampering."
)


def _p(log_p: float) -> str:
    """A p-value, also one that no double holds."""
    if log_p > -690:
        return number(math.exp(log_p))
    power = math.floor(log_p / math.log(10))
    return f"{math.exp(log_p - power * math.log(10)):.3g}e{power}"


def verdict(d: Detection) -> str:
    """What one published answer says.

    >>> import epsilens as el
    >>> print(verdict(el.detect(106.0, 100.0, epsilon=1.0)))
    The published answer lies 6 above the expected one: it looks tampered with. Noise alone strays so far...
    """
    off = d.difference
    where = f"{small(abs(off))} {'above' if off > 0 else 'below'} the expected one" if off else "where it was expected"
    if d.p_value < 1e-3:  # further out the table tells more than a sentence can
        strays, accepted = "fewer than 1 time in 1,000", times(d.level)[0]
    else:
        strays, accepted = times(d.p_value, d.level, exact=d.level > 0)
    far = {"both": "so far", "above": "so far above", "below": "so far below"}[d.side]
    told = (
        f"The published answer lies {where}: {d.verdict}. Noise alone strays {far} {strays}; a false alarm is accepted "
    )
    told += f"{accepted}."
    if d.bias is not None and d.power is not None:
        told += f" A false record of {small(d.bias)} would have been noticed {times(d.power)[0]}."
    return told


def series_verdict(s: Series) -> str:
    """What a series says."""
    n, found = len(s.answers), s.alarms
    share = times(s.alpha)[0]
    if not found:
        first = f"None of {n} published answers points to tampering"
    else:
        which = ", ".join(str(i + 1) for i in found[:10]) + (" and others" if len(found) > 10 else "")
        first = (
            f"{len(found)} of {n} published answers look{'s' if len(found) == 1 else ''} tampered with: number {which}"
        )
    return f"{first}. Over the whole series, an honest publisher would see a false alarm at most {share}."


def detection(d: Detection) -> Report:
    """The sentence and the numbers behind it."""
    ends = [f"below {d.below:.6g}"] if math.isfinite(d.below) else []
    ends += [f"above {d.above:.6g}"] if math.isfinite(d.above) else []
    rows = [
        ["p-value", _p(d.log_p_value)],
        ["false alarms accepted", number(d.level)],
        ["alarm at published − expected", " or ".join(ends) or ("never" if d.level == 0 else "always")],
        ["published − expected", small(d.difference)],
        ["missed at least every other time, up to", number(d.blind_spot)],
    ]
    if d.bias is not None and d.power is not None:
        rows.append([f"share noticed of a false record of {small(d.bias)}", number(d.power)])
    blind = d.blind_spot if math.isfinite(d.blind_spot) else None
    payload = {"detection": d.to_dict() | {"blind_spot": blind}}
    return _report("Was it tampered with?", verdict(d), ("The test", ["", "value"], rows), [_PREMISE], payload)


def series(s: Series) -> Report:
    """The sentence and a row an answer; of a long series the alarms and the first ones."""
    order = [*s.alarms, *(i for i in range(len(s.answers)) if not s.answers[i].alarm)][:_MOST_ROWS]
    powered = any(d.power is not None for d in s.answers)
    head = ["Answer", "published", "expected", "p-value", "adjusted", "verdict", *(["noticed"] if powered else [])]
    rows = []
    for i in sorted(order):
        d = s.answers[i]
        row = [str(i + 1), small(d.published), small(d.expected), _p(d.log_p_value)]
        row += [number(1.0 if d.adjusted is None else d.adjusted), "alarm" if d.alarm else "quiet"]
        rows.append([*row, *([number(d.power or 0.0)] if powered else [])])
    how = {
        "holm": "Holm's step-down: the smallest p-value is compared with α/n, the next with α/(n−1), and so on",
        "spending": "answer t is tested at α/(t(t+1)), which sums to α over an endless series",
    }[s.method]
    remarks = [f"False alarms are counted by series, whatever the dependence between answers: {how}."]
    if powered:
        least = "at least this" if s.method == "holm" else "this"
        remarks.append(
            f"Noticed: {least} share of answers moved by {small(s.answers[0].bias or 0.0)} raises the alarm."
        )
    title = f"The answers ({len(rows)} of {len(s.answers)} shown)" if len(rows) < len(s.answers) else "The answers"
    table = (title, head, rows)
    return _report("Were they tampered with?", series_verdict(s), table, [*remarks, _PREMISE], {"series": s.to_dict()})


def of_detection(d: Detection) -> Document:
    """The verdict alone."""
    return Document("Was it tampered with?", "Tampering", (Lead((said(verdict(d)),)),))


def of_series(s: Series) -> Document:
    """The verdict and a row an answer."""
    return series(s).body


def _report(
    name: str,
    sentence: str,
    table: tuple[str, list[str], list[list[str]]],
    remarks: Sequence[str],
    payload: dict[str, Any],
) -> Report:
    title, head, rows = table
    sections = (Section(title, (plain_table(head, rows, title),)), *to_know(remarks))
    body = Document(name, "Tampering", (Lead((said(sentence),)),), sections)
    return Report(body, {"schema": SCHEMA, "sentence": sentence, **payload, "command": ""})
