r"""What may be spent at most, set beforehand, and what that promises.

A limit is a **filter**: a release is refused where the sums would exceed it, and then every reading of the limit's own
experiment holds for everything released, whatever was chosen after seeing answers. Several limits hold together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from .. import checks
from ..calibration.choose import choose
from ..errors import InputError
from ..experiment import Experiment
from ..mechanisms.claims import from_zcdp
from ..mechanisms.composition import compose
from ..mechanisms.discrete import approximate
from ..mechanisms.noise import gaussian
from ..worlds import Relation
from .charge import Charge
from .names import worded

#: What is limited, by its name; δ goes with each of them.
CURRENCIES = ("epsilon", "psi", "rho")
_SAID = {"epsilon": "ε", "psi": "ψ", "rho": "ρ", "delta": "δ"}
#: The least and the most a limit may be: beyond, it promises nothing that a double could tell from nothing.
_RANGES = {"epsilon": (0.0, 500.0), "psi": (1e-9, 500.0), "rho": (0.0, 500.0)}
#: Sums of doubles may exceed a limit by their rounding; what a limit promises has room for it.
_ROUNDING = 1e-12


class Excess(NamedTuple):
    """A currency in which more would be spent than a limit allows."""

    currency: str
    value: float
    limit: float
    field: str  # of a charge, where the value stands

    @property
    def symbol(self) -> str:
        """Its letter."""
        return _SAID[self.currency]


@dataclass(frozen=True)
class Limits:
    """What may be spent at most, in each currency; None is no limit. ``delta`` goes with all of them.

    ``partition`` names a column whose values part the people: nobody is in two parts, nor ever moves.
    """

    epsilon: float | None = None
    psi: float | None = None
    rho: float | None = None
    delta: float = 0.0
    partition: str = ""

    @classmethod
    def of(
        cls, *, epsilon: Any = None, psi: Any = None, rho: Any = None, delta: Any = None, success: Any = None,
        partition: Any = "",
    ) -> Limits:  # fmt: skip
        """From what a person says; ``success`` is how often an attacker may guess right, and becomes a limit on ψ.

        >>> Limits.of(success=0.65)  # Φ(ψ/2) = 0.65
        Limits(epsilon=None, psi=0.7706..., rho=None, delta=0.0, partition='')
        """
        said = {"epsilon": epsilon, "psi": psi, "rho": rho}
        made: dict[str, Any] = {
            name: None if value is None else float(checks.in_range(name, checks.scalar(name, value), *_RANGES[name]))
            for name, value in said.items()
        }
        beside = 0.0 if delta is None else float(checks.in_range("delta", checks.scalar("delta", delta), 0.0, 0.5))
        if success is not None:
            found = _psi_for(float(checks.probability("success", checks.scalar("success", success))), beside)
            made["psi"] = found if made["psi"] is None else min(found, made["psi"])
        if all(value is None for value in made.values()):
            raise InputError("a limit needs at least one of success, epsilon, psi or rho: give a number for it")
        return cls(**made, delta=beside, partition=worded("partition", partition))

    @property
    def currencies(self) -> tuple[str, ...]:
        """Those that are limited."""
        return tuple(name for name in CURRENCIES if getattr(self, name) is not None)

    @property
    def sensible(self) -> bool:
        """Whether each is such that an experiment stands for it."""
        return all(_RANGES[n][0] <= getattr(self, n) <= _RANGES[n][1] for n in self.currencies) and self.delta <= 1

    def exceeded(self, spent: Charge) -> Excess | None:
        """The first currency in which this is more than allowed."""
        tests = [(name, getattr(self, name), name) for name in self.currencies]
        tests += [("delta", self.delta, "slack" if name == "epsilon" else "delta") for name in self.currencies]
        for name, limit, field in tests:
            value = getattr(spent, field)
            if not value <= limit * (1 + _ROUNDING):
                return Excess(name, value, limit, field)
        return None

    def experiments(self, neighbours: str = Relation.ADD_REMOVE) -> dict[str, Experiment]:
        """For each limit the experiment whose every reading bounds that of everything released under it."""
        more, made = 1 + _ROUNDING, {}
        given = approximate(epsilon=0.0, delta=self.delta * more, neighbours=neighbours)
        if self.epsilon is not None:
            made["epsilon"] = approximate(
                epsilon=self.epsilon * more, delta=self.delta * more, neighbours=neighbours
            )  # fmt: skip
        if self.psi is not None:
            made["psi"] = gaussian(psi=self.psi * more, neighbours=neighbours)
        if self.rho is not None:
            made["rho"] = from_zcdp(self.rho * more, neighbours=neighbours)
        beside = ("psi", "rho") if self.delta else ()
        return {name: compose(e, given) if name in beside else e for name, e in made.items()}

    def looser(self, other: Limits) -> Limits:
        """These limits, each no lower than the other's where that has one; what is unlimited here stays so."""
        each = {
            name: max(getattr(self, name), -math.inf if getattr(other, name) is None else getattr(other, name))
            for name in self.currencies
        }
        return Limits(**each, delta=max(self.delta, other.delta), partition=self.partition)

    def rises_above(self, other: Limits) -> bool:
        """Whether something is allowed here that the other does not allow."""
        missing = any(getattr(self, name) is None for name in other.currencies)
        both = [name for name in (*other.currencies, "delta") if getattr(self, name) is not None]
        return missing or any(getattr(self, name) > getattr(other, name) for name in both)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> Limits:
        """Read again; what is no limit is an error of Python's own, which the account tells."""
        each = {name: None if said[name] is None else _number(said[name]) for name in CURRENCIES}
        return cls(**each, delta=_number(said["delta"]), partition=str(said["partition"]))


def _number(value: Any) -> float:
    made = float(value)
    if not 0 <= made < math.inf:
        raise ValueError(value)
    return made


def _psi_for(success: float, delta: float) -> float:
    """ψ* with δ + (1 − δ)·(2Φ(ψ*/2) − 1) = 2·success − 1."""
    rest = (2 * success - 1 - delta) / (1 - delta)
    if not 0 < rest < 1:
        raise InputError(
            f"success is {success:g}: give a share above {0.5 + delta / 2:g} (a coin's, and delta) and below 1",
            parameter="success",
            value=success,
        )
    found = float(choose(gaussian, "psi", at_most=(1 + rest) / 2, reading="success").value)
    return float(checks.in_range("psi", found, *_RANGES["psi"]))
