"""What else the runs show: failures, silence, answers that never vary, answers of several kinds."""

from __future__ import annotations

import numpy as np

from ..checks import Array
from .game import Bits
from .outcomes import Outcomes, Reader
from .result import Finding, Found


def findings_of(outcomes: Outcomes, bits: Bits, reader: Reader) -> tuple[Found, ...]:
    """Facts about the outcomes, each with how often it was seen in the first and the second world."""
    made: list[Found] = []
    answers = 0
    for kind, code in reader.kinds.items():
        here = outcomes.kinds == code
        zero, one = int((here & ~bits).sum()), int((here & bits).sum())
        if kind.what == "raised":
            made.append(Found(Finding.RAISED, zero, one, kind.detail))
        elif kind.what == "late":
            made.append(Found(Finding.LATE, zero, one))
        elif kind.what == "unreadable":
            made.append(Found(Finding.UNREADABLE, zero, one, kind.detail))
        else:
            answers += zero + one > 0
    if answers > 1:
        made.append(Found(Finding.KINDS, of=str(answers)))
    if reader.cut:
        made.append(Found(Finding.CUT, of=f"{reader.most:,}"))
    ones, zeros = int(bits.sum()), int((~bits).sum())
    if ones > 1 and zeros > 1:
        first, second = _only(outcomes.take(~bits)), _only(outcomes.take(bits))
        if first is not None and second is not None:
            same = all(np.array_equal(a, b, equal_nan=True) for a, b in zip(first, second, strict=True))
            made.append(Found(Finding.SAME if same else Finding.FIXED, zeros, ones))
    return tuple(made)


def _only(outcomes: Outcomes) -> tuple[Array, ...] | None:
    """The one outcome of all runs; None where they vary."""
    parts = (outcomes.values, outcomes.texts.astype(float), outcomes.kinds[:, None].astype(float))
    firsts = tuple(part[0] for part in parts)
    for part, first in zip(parts, firsts, strict=True):
        if not np.array_equal(part, np.broadcast_to(first, part.shape), equal_nan=True):
            return None
    return firsts
