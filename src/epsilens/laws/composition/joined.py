"""Lattices of steps joined into one slice of their product: a transform for each side."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .counted import at_least_one
from .lattice import Lattice
from .plan import Ask, Plan
from .slice import About, Slice, slice_of
from .transform import Part, power, window

_EACH = 2**16  # what a slice costs beside its points, in points
_EACH_POINT = 0.25  # what a point of its two transforms costs
Counted = tuple[Lattice, int]


def parts_of(lattices: Sequence[Counted], upper: bool) -> list[Part]:
    """One side of each step."""
    return [Part(lattice.c, lattice.upper if upper else lattice.lower, k) for lattice, k in lattices]


def joined(lattices: Sequence[Counted], outline: Plan, ask: Ask) -> tuple[Slice, int]:
    """The product about where it answers a question, and what it costs, in points; where no side differs, once."""
    dt = lattices[0][0].dt
    kappa, rho = math.fsum(k * one.kappa for one, k in lattices), math.fsum(k * one.rho for one, k in lattices)
    leak = 1.001 * math.fsum(k * one.lower.leak for one, k in lattices)
    powers, tops, points = [], [], _EACH
    for upper in (True,) if all(one.exact for one, _ in lattices) else (True, False):
        parts = parts_of(lattices, upper)
        tops.append(at_least_one((part.side.only1, part.count) for part in parts))
        frame = window(parts, dt, outline.tilt, outline.up, outline.down, outline.low, outline.high)
        powers.append(power(parts, dt, outline.tilt, frame))
        points += math.ceil(_EACH_POINT * frame.size / 2)
    about = About(ask.kind, ask.value, outline.loss)
    both, top = (powers[0], powers[-1]), np.asarray((tops[0], tops[-1]))
    return slice_of(both, outline.tilt, dt, kappa, rho, about, top, leak), points
