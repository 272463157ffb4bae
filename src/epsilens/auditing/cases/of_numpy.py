"""Noise in doubles: the grid a double lies on depends on its size, so the last bits tell what was noised.

Mironov 2012. The sum 1 + x of a double x with |x| < ½ is a multiple of 2⁻⁵³, while 0 + x is x itself. Noise on the
integers has no such bits.
"""

from __future__ import annotations

import math

import numpy as np

from ...mechanisms.noise import gaussian
from .case import NUMPY, Case, Mechanism


def _laplace(seed: int | None) -> Mechanism:
    rng = np.random.default_rng(seed)
    return lambda d: d + rng.laplace(0.0, 1.0)


def _normal(seed: int | None) -> Mechanism:
    rng = np.random.default_rng(seed)
    return lambda d: d + rng.normal(0.0, 1.0)


def _geometric(seed: int | None) -> Mechanism:
    rng = np.random.default_rng(seed)
    p = -math.expm1(-1.0)
    return lambda d: d + int(rng.geometric(p)) - int(rng.geometric(p))


def _rounded(seed: int | None) -> Mechanism:
    rng = np.random.default_rng(seed)
    return lambda d: math.floor((d + rng.normal(0.0, 1.0)) * 1024) / 1024


CASES = (
    Case(
        "numpy-laplace", "Laplace noise in doubles: the last bits of the answer tell 0 from 1.", NUMPY, "ε = 1",
        lambda: 1.0, _laplace, 0.0, 1.0, ("0", "1"), broken=True, twin="numpy-geometric",
    ),
    Case(
        "numpy-geometric", "The difference of two geometric draws: noise on the integers.", NUMPY, "ε = 1",
        lambda: 1.0, _geometric, 0, 1, ("0", "1"),
    ),
    Case(
        "numpy-normal", "Normal noise in doubles: the last bits of the answer tell 0 from 1.", NUMPY, "1-GDP",
        lambda: gaussian(psi=1.0), _normal, 0.0, 1.0, ("0", "1"), broken=True, twin="numpy-normal-rounded",
    ),
    Case(
        "numpy-normal-rounded", "The same, rounded down to multiples of 2⁻¹⁰ before it is published.", NUMPY, "1-GDP",
        lambda: gaussian(psi=1.0), _rounded, 0.0, 1.0, ("0", "1"),
    ),
)  # fmt: skip
