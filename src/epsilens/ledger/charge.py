r"""What a release costs, in currencies that may be added up even where noise was chosen after seeing answers.

=====  ==========================  ==========================================================
       adds up as                  what a limit on it promises
=====  ==========================  ==========================================================
ε      Σε, with its own Σδ         (ε*, δ*)-DP (Rogers et al. 2016)
ψ      √Σψ²                        every reading of ``gaussian(psi=ψ*)`` (Smith & Thakurta 2022)
ρ      Σρ                          every reading of ``from_zcdp(ρ*)`` (Feldman & Zrnic 2021)
δ      Σδ                          is beside ψ and ρ: the chance that a name gives someone away
=====  ==========================  ==========================================================

Trade-off curves and privacy-loss distributions may **not** be added up so: after Laplace noise at ε = 1, choosing by
the answer between two releases that each give a success of 0.7241 together with it gives 0.7330.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from .. import checks
from ..build.claims import to_zcdp
from ..build.discrete import pure
from ..experiment import Experiment, together

__all__ = ["FREE", "Charge", "charge_of"]


@dataclass(frozen=True)
class Charge:
    """What one release, or several together, cost.

    ``slack`` is the δ that goes with ``epsilon``; ``delta`` the one that goes with ``psi`` and ``rho``. Infinite where
    a release has no price in a currency: Gaussian noise has no ε without a δ.
    """

    epsilon: float = 0.0
    slack: float = 0.0
    psi: float = 0.0
    rho: float = 0.0
    delta: float = 0.0

    @classmethod
    def total(cls, charges: Iterable[Charge]) -> Charge:
        """What several cost together.

        >>> Charge.total([Charge(0.5, 0, 3.0, 0.1), Charge(0.5, 0, 4.0, 0.1)])
        Charge(epsilon=1.0, slack=0.0, psi=5.0, rho=0.2, delta=0.0)
        """
        each = list(charges)
        added = {f.name: math.fsum(getattr(c, f.name) for c in each) for f in fields(cls)}
        return cls(**added | {"psi": math.sqrt(math.fsum(c.psi**2 for c in each))})

    def most(self, other: Charge) -> Charge:
        """The larger in each currency."""
        return Charge(**{f.name: max(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)})

    def to_dict(self) -> dict[str, float | None]:
        """For JSON; None where there is no price."""
        each = {f.name: float(getattr(self, f.name)) for f in fields(self)}
        return {name: value if math.isfinite(value) else None for name, value in each.items()}

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> Charge:
        """Read again."""
        return cls(**{f.name: math.inf if said[f.name] is None else float(said[f.name]) for f in fields(cls)})


FREE = Charge()


def charge_of(experiment: Experiment, *, delta: float = 0.0, at_delta: float = 0.0) -> Charge:
    """What a release with this experiment costs.

    ``delta`` is the chance that something beside the noise gives a person away (a threshold's); ``at_delta`` the δ at
    which ε is read where the noise has none without, as Gaussian noise. Releases that are only known by (ε, δ) are
    charged as ε-DP with their δ beside it.

    >>> import epsilens as el
    >>> charge_of(el.laplace(epsilon=1.0))  # ρ = ε − 1 + 1/e
    Charge(epsilon=1.0, slack=0.0, psi=1.03006..., rho=0.36787..., delta=0.0)
    >>> charge_of(el.gaussian(psi=0.5), at_delta=1e-6)
    Charge(epsilon=2.25408..., slack=1e-06, psi=0.5, rho=0.125, delta=0.0)
    """
    beside = float(checks.probability("delta", checks.scalar("delta", delta)))
    at = float(checks.probability("at_delta", checks.scalar("at_delta", at_delta)))
    noise, own = _apart(experiment)
    beside = 1.0 if own >= 1 else beside + own
    # A product's own ε is rounded up; the sum of its parts' is that or less, and a bound as well.
    parts = math.fsum(times * float(part.epsilon(0.0)) for part, times in noise.parts or ((noise, 1),))
    bare = min(float(noise.epsilon(0.0)), parts)
    epsilon, needed = (bare, 0.0) if math.isfinite(bare) else (float(noise.epsilon(at)) if at else math.inf, at)
    psi = max(float(noise.psi()), float(noise.reverse().psi()))
    return Charge(epsilon, beside + needed, psi, to_zcdp(noise), beside)


def _apart(experiment: Experiment) -> tuple[Experiment, float]:
    """The noise, and the chance that a part which is only known by (ε, δ) gives all away."""
    parts, beside = [], 0.0
    for part, times in experiment.parts or ((experiment, 1),):
        if part.origin == "approximate":
            beside += times * float(part.parameters["delta"])
            noise = pure(epsilon=part.parameters["epsilon"])
            parts.append((noise.reverse() if part.worlds.reversed else noise, times))
        else:
            parts.append((part, times))
    return (together(parts), min(beside, 1.0)) if beside else (experiment, 0.0)
