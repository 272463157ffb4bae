"""Values as they are written: with a few digits, rounded to the safe side; as JSON takes them; in a few letters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

import numpy as np

_FEW = 4  # entries of a collection in a few letters


def _significant(value: float, digits: int, rounding: str) -> str:
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    rounded = Decimal(repr(float(value))).normalize(Context(prec=digits, rounding=rounding))
    return f"{rounded:f}" if 1e-7 <= abs(value) < 1e7 else f"{float(rounded):.{digits}g}"


def rounded_down(value: float, digits: int = 4) -> str:
    """Significant digits, never above the value: for the largest ε that is allowed.

    >>> rounded_down(0.21079), rounded_down(700.0), rounded_down(1.9999999)
    ('0.2107', '700', '1.999')
    """
    return _significant(value, digits, ROUND_FLOOR)


def rounded_up(value: float, digits: int = 4) -> str:
    """Significant digits, never below the value: for the smallest σ that is enough.

    >>> rounded_up(1.46731), rounded_up(2.0)
    ('1.468', '2')
    """
    return _significant(value, digits, ROUND_CEILING)


def written(value: Any) -> Any:
    """Floats, lists of them and truth values; null for what JSON cannot hold.

    >>> written(np.array([1.0, np.inf])), written(np.float64(2)), written(True)
    ([1.0, None], 2.0, True)
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [written(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def brief(value: Any) -> str:
    """A value in a few letters.

    >>> brief(1 / 3), brief(np.zeros((3, 3))), len(brief("x" * 100)), brief(tuple(range(9)))
    ('0.333333', 'array of 3×3', 60, '(0, 1, 2, 3, … 9 in all)')
    """
    if isinstance(value, float | np.floating):
        return f"{value:g}"
    if isinstance(value, np.ndarray) and value.size > _FEW:
        return f"array of {'×'.join(map(str, value.shape))}"
    if isinstance(value, np.ndarray):
        return brief(value.tolist())
    if isinstance(value, list | tuple):
        shown = [brief(held) for held in value[:_FEW]]
        if len(value) > _FEW:
            shown.append(f"… {len(value)} in all")
        return f"({', '.join(shown)})" if isinstance(value, tuple) else f"[{', '.join(shown)}]"
    if isinstance(value, Mapping):
        shown = [f"{key!r}: {brief(value[key])}" for key in list(value)[:_FEW]]
        return f"{{{', '.join(shown)}{', …' if len(value) > _FEW else ''}}}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
