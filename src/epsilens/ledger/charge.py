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
from ..errors import InputError, type_phrase
from ..experiment import Experiment, compose_counted
from ..mechanisms.claims import to_zcdp
from ..mechanisms.discrete import pure


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

    def to_dict(self) -> dict[str, float | None]:
        """For JSON; None where there is no price."""
        each = {f.name: float(getattr(self, f.name)) for f in fields(self)}
        return {name: value if math.isfinite(value) else None for name, value in each.items()}

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> Charge:
        """Read again."""
        each = {f.name: math.inf if said[f.name] is None else float(said[f.name]) for f in fields(cls)}
        if not all(value >= 0 for value in each.values()):
            raise ValueError(said)
        return cls(**each)


FREE = Charge()


def larger(one: Charge, other: Charge) -> Charge:
    """The larger in each currency."""
    return Charge(**{f.name: max(getattr(one, f.name), getattr(other, f.name)) for f in fields(Charge)})


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
    if not isinstance(experiment, Experiment):
        raise InputError(
            f"experiment is {type_phrase(experiment)}: give what laplace, gaussian and the like return",
            parameter="experiment",
        )
    if experiment.many:
        raise InputError("this is many experiments at once: give one", parameter="experiment")
    beside = float(checks.probability("delta", checks.scalar("delta", delta)))
    at = float(checks.probability("at_delta", checks.scalar("at_delta", at_delta)))
    beside = min(beside + given_away(experiment), 1.0)
    noise = _noise(experiment)
    # ε and ρ of a product are the sums over its parts, or less; ψ of the whole is less than their norm.
    each = Charge.total(_priced(part, times) for part, times in noise.parts or ((noise, 1),))
    psi = min(each.psi, float(noise.psi())) if noise.parts else each.psi
    if math.isfinite(each.epsilon) or not at:
        return Charge(each.epsilon, beside, psi, each.rho, beside)
    return Charge(float(noise.epsilon(at)), beside + at, psi, each.rho, beside)


def _priced(noise: Experiment, times: int) -> Charge:
    """Of so many of a part by itself, in the currencies that have no δ."""
    return Charge(times * float(noise.epsilon(0.0)), 0.0, math.sqrt(times) * float(noise.psi()), times * to_zcdp(noise))


def given_away(experiment: Experiment) -> float:
    """The chance that a part which is only known by (ε, δ) gives all away.

    >>> import epsilens as el
    >>> given_away(el.mechanisms.approximate(epsilon=1.0, delta=1e-6).repeat(3))
    3e-06
    """
    away = (
        times * float(part.parameters["delta"])
        for part, times in experiment.parts or ((experiment, 1),)
        if part.origin == "approximate"
    )
    return min(math.fsum(away), 1.0)


def _noise(experiment: Experiment) -> Experiment:
    """What is left of the experiment beside that chance."""
    if not given_away(experiment):
        return experiment
    made = []
    for part, times in experiment.parts or ((experiment, 1),):
        known = part
        if part.origin == "approximate":
            known = pure(epsilon=part.parameters["epsilon"], neighbours=part.parameters["neighbours"])
            known = known.reverse() if part.worlds.reversed else known
        made.append((known, times))
    return compose_counted(made)
