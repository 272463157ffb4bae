r"""Sums that are the same to the last digit on every engine and in every run.

Floating sums depend on the order of their terms, and engines add in the order their threads happen to finish. Whole
numbers do not: so each value x is cut, exactly, into two whole numbers,

.. math:: x = 2^{-k}\left(\lfloor 2^k x\rfloor + 2^{-f}\lfloor 2^f(2^k x - \lfloor 2^k x\rfloor)\rfloor + r\right),
          \qquad 0 \le r < 2^{-f},

with k and f as large as the sums of so many rows allow in 64 bits. What is lost, r, is below the largest value times
2⁻⁷⁰ for ten million rows: far below what a floating sum loses. Columns of whole numbers are added up as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .engines import need_ibis

__all__ = ["Grid", "exact_sum"]

_BITS = 61  # a sign, and a bit to spare
_MANY = 2**34 - 1  # rows: more than any table here, and sums keep 52 bits of the largest value


@dataclass(frozen=True)
class Grid:
    """How the values of a column are cut: 2^-``shift`` and 2^-(``shift`` + ``fine``), or whole numbers."""

    shift: int
    fine: int
    whole: bool = False

    @classmethod
    def of(cls, largest: float, rows: int, whole: bool = False) -> Grid:
        """For so many values of at most this size; ``whole`` where they are whole numbers."""
        spare = _BITS - rows.bit_length()
        exponent = math.frexp(largest)[1]
        if whole and exponent <= spare:
            return cls(0, 0, True)
        return cls(max(-1000, min(1000, spare - exponent)), spare)

    def parts(self, value: Any) -> tuple[Any, ...]:
        """The whole numbers to add up, as columns."""
        if self.whole:
            return (value.cast("int64"),)
        value = value.cast("float64")
        if self.shift < 0:  # what is lost in any case is taken as 0: PostgreSQL complains of numbers that vanish
            value = need_ibis().ifelse(value.abs() < 2.0 ** (-self.shift - 1000), 0.0, value)
        scaled = value * 2.0**self.shift
        coarse = scaled.floor()
        return coarse, ((scaled - coarse) * 2.0**self.fine).floor()

    def total(self, *sums: int) -> Fraction:
        """What the sums of the parts amount to.

        >>> Grid.of(1.5, 3).total(2**58, 2**58)
        Fraction(576460752303423489, 576460752303423488)
        """
        if self.whole:
            return Fraction(sums[0])
        coarse, fine = sums
        scale = Fraction(2) ** -self.shift
        return (coarse + Fraction(fine, 2**self.fine)) * scale


def exact_sum(name: str, value: Any, largest: float, rows: int = _MANY) -> tuple[dict[str, Any], Callable[[Any], Any]]:
    """The sums of floating values to ask for, and what makes one number of them again, both inside the engine."""
    grid = Grid.of(largest, rows)
    asked = {f"{name}{k}": part.sum() for k, part in enumerate(grid.parts(value))}

    def together(summed: Any) -> Any:
        coarse, fine = (summed[part].cast("float64") for part in asked)
        return (coarse + fine * 2.0**-grid.fine) * 2.0**-grid.shift

    return asked, together
