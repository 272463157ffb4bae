r"""Sums that are the same to the last digit on every engine and in every run.

Floating sums depend on the order of their terms, and engines add in the order their threads happen to finish. Whole
numbers do not: so each value x is cut, exactly, into two whole numbers,

.. math:: x = 2^{-k}\left(\lfloor 2^k x\rfloor + 2^{-f}\lfloor 2^f(2^k x - \lfloor 2^k x\rfloor)\rfloor + r\right),
          \qquad 0 \le r < 2^{-f},

with k and f as large as the sums of so many rows allow in 64 bits. What is lost, r, is below the largest value times
2⁻⁷⁰ for ten million rows: far below what a floating sum loses. Columns of whole numbers are added up as they are.

A sum that is to be published under noise must not even depend on the data by how it is cut: its values are whole
numbers of :class:`Steps`, which follow from the bounds alone, and one row moves it by at most the larger bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .engines import need_ibis

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


@dataclass(frozen=True)
class Steps:
    """Values as whole numbers of steps, from ``low`` to ``high`` of them; a step is 10^-``digits``.

    The ends lie within the bounds, never beyond: a row adds at most what the bounds say.
    """

    low: int
    high: int
    digits: int

    @classmethod
    def of(cls, low: float, high: float) -> Steps:
        """For these bounds: a million steps or more to the larger one, and room for a billion rows in 53 bits.

        >>> Steps.of(0.0, 250.0), Steps.of(-0.1, 0.1)
        (Steps(low=0, high=2500000, digits=4), Steps(low=-1000000, high=1000000, digits=7))
        """
        ends = [Fraction(Decimal(repr(float(end)))) for end in (low, high)]
        largest = max(abs(low), abs(high))
        digits = 6 - math.floor(math.log10(largest)) if largest > 0 else 0
        low_, high_ = (end * Fraction(10) ** digits for end in ends)
        return cls(math.ceil(low_), math.floor(high_), digits)

    @property
    def size(self) -> Fraction:
        """Of one step."""
        return Fraction(10) ** -self.digits

    @property
    def whole(self) -> bool:
        """Whether values are cut to whole numbers before anything else: never, they are numbers of steps."""
        return False

    def parts(self, value: Any) -> tuple[Any, ...]:
        """The number of steps, as a column; infinite values are cut to the ends like all others."""
        number = value.cast("float64").clip(lower=float(self.low * self.size), upper=float(self.high * self.size))
        number = number * 10.0**self.digits if self.digits >= 0 else number / 10.0**-self.digits
        nearest = (number + 0.5).floor().cast("int64")
        return (nearest.clip(lower=self.low, upper=self.high),)

    def total(self, *sums: int) -> Fraction:
        """What a number of steps amounts to."""
        return sums[0] * self.size


def exact_sum(name: str, value: Any, largest: float, rows: int = _MANY) -> tuple[dict[str, Any], Callable[[Any], Any]]:
    """The sums of floating values to ask for, and what makes one number of them again, both inside the engine."""
    grid = Grid.of(largest, rows)
    asked = {f"{name}{k}": part.sum() for k, part in enumerate(grid.parts(value))}

    def together(summed: Any) -> Any:
        coarse, fine = (summed[part].cast("float64") for part in asked)
        return (coarse + fine * 2.0**-grid.fine) * 2.0**-grid.shift

    return asked, together
