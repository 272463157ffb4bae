"""The central limit theorem of DP-SGD, which is no guarantee.

Many small steps look like one normal shift ψ. Paper 002, Corollary 9 has, for batches of fixed size,
ψ = q√(2T)·√(e^{1/σ²}Φ(1.5/σ) + 3Φ(−0.5/σ) − 2); Poisson sampling has its own, ψ = q√(T(e^{1/σ²} − 1)). Both are limits:
for finitely many steps the truth lies above or below, and for few steps or little noise far above. :func:`clt`
therefore shows them only beside the proven bracket.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from .. import checks
from ..errors import InputError
from ..laws.normal import Normal
from ..numerics.roots import root
from ..results import ShortResult
from .training import dpsgd

VARIANTS = ("poisson", "fixed")
_LEAST_PSI, _MOST_PSI = 1e-9, 1e3


def clt_psi(*, sigma: float, rate: float, steps: int, variant: str = "poisson") -> float:
    """ψ in the limit of many steps; an approximation, never a bound.

    >>> round(clt_psi(sigma=1.0, rate=0.01, steps=10_000), 7), round(clt_psi(sigma=1.0, rate=0.01, steps=10_000,
    ...     variant="fixed"), 7)
    (1.3108325, 1.7101425)
    """
    s = float(checks.in_range("sigma", checks.scalar("sigma", sigma), 0.04, 1e12))
    q = float(checks.probability("rate", checks.scalar("rate", rate)))
    k = checks.integer("steps", steps, low=1, high=10**9)
    checks.one_of("variant", variant, VARIANTS)
    if variant == "poisson":
        return q * math.sqrt(k * math.expm1(1 / s**2))
    # e^{v}Φ(1.5/σ) + 3Φ(−.5/σ) − 2 without its cancellation: with Φ = ½ + erf/2 the halves sum to expm1(v)/2
    v = 1 / s**2
    inside = math.expm1(v) * float(ndtr(1.5 / s)) + (float(ndtr(1.5 / s)) - 0.5) - 3 * (0.5 - float(ndtr(-0.5 / s)))
    return q * math.sqrt(2 * k * max(inside, 0.0))


def conversions(psi: float, delta: float) -> dict[str, float]:
    """ε of a normal shift ψ at δ by the three ways of paper 002 §5, smallest first: exact, improved RDP, RDP.

    >>> {name: round(value, 6) for name, value in conversions(1.0, 1e-5).items()}
    {'exact': 4.377178, 'improved RDP': 4.728387, 'RDP': 5.298526}
    """
    p = float(checks.in_range("psi", checks.scalar("psi", psi), _LEAST_PSI, _MOST_PSI))
    d = float(checks.probability("delta", checks.scalar("delta", delta), closed=False))
    exact = float(Normal(np.asarray(p)).profile_inverse(np.asarray(d)))
    # (α−1)²ψ²/2 = −log(δα) on (1, 1/δ); then ε = (α − ½)ψ² + log(1 − 1/α)
    order = float(
        root(lambda a: (a - 1) ** 2 * p * p / 2 + np.log(d) + np.log(a), np.asarray(1.0), np.asarray(max(1 / d, 2.0)))
    )
    improved = max((order - 0.5) * p * p + math.log1p(-1 / order), 0.0) if order > 1 else 0.0
    plain = p * p / 2 + p * math.sqrt(2 * math.log(1 / d))
    return {"exact": exact, "improved RDP": max(improved, exact), "RDP": plain}


@dataclass(frozen=True)
class Clt(ShortResult):
    """The central limit theorem beside the truth: ψ, the ε each conversion makes of it, and the proven bracket of ε.

    ``error`` is the exact conversion over the bracket's middle, minus 1: negative means that the approximation claims
    less risk than there is.
    """

    shown_as = "clt"

    variant: str
    psi: float
    delta: float
    epsilons: dict[str, float]
    bracket: tuple[float, float]

    @property
    def error(self) -> float:
        """Relative error of the approximation's ε; negative is unsafe."""
        middle = sum(self.bracket) / 2
        return self.epsilons["exact"] / middle - 1 if middle > 0 else 0.0

    @property
    def safe(self) -> bool:
        """Whether it happens to claim no less than the truth here; nothing promises that elsewhere."""
        return self.epsilons["exact"] >= self.bracket[1]

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record."""
        return {
            "approximation": self.variant,
            "psi": self.psi,
            "delta": self.delta,
            "epsilons": dict(self.epsilons),
            "bracket": list(self.bracket),
            "error": self.error,
            "guarantee": False,
        }


def clt(*, sigma: float, rate: float, steps: int, delta: float = 1e-5, variant: str = "poisson") -> Clt:
    """The central limit theorem's ε of DP-SGD beside the proven bracket.

    >>> few = clt(sigma=1.0, rate=0.01, steps=100, variant="fixed")
    >>> few.safe, round(few.epsilons["exact"], 4), few.bracket[0] > 0.717
    (False, 0.6114, True)
    """
    psi = clt_psi(sigma=sigma, rate=rate, steps=steps, variant=variant)
    if checks.scalar("rate", rate) == 0:
        raise InputError("rate is 0, so nobody is ever drawn: give a probability above 0", parameter="rate")
    if not _LEAST_PSI <= psi <= _MOST_PSI:
        raise InputError(
            f"sigma, rate and steps make a ψ of {psi:.3g}: give some that make one from {_LEAST_PSI:g} to {_MOST_PSI:g}"
        )
    d = float(checks.probability("delta", checks.scalar("delta", delta), closed=False))
    low, high = dpsgd(sigma=sigma, rate=rate, steps=steps).bracket("epsilon", delta=d)
    return Clt(variant, psi, d, conversions(psi, d), (low, high))
