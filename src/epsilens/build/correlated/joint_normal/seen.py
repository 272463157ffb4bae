"""What one adversary of jointly normal records sees: an experiment from their shift and the data's own randomness."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ....checks import Array
from ....errors import InputError
from ....experiment import Experiment
from ....laws.closed.laplace import Laplace
from ....laws.closed.normal import Normal
from ....laws.closed.sums import NormalLaplaceShift
from ....readings.law import Law
from ....worlds import Kind, Worlds
from .problem import Adversary

__all__ = ["Named", "seen_by"]

_OWN = (
    "the randomness of the records that the adversary does not know is counted as noise: an assumption about the data, "
    "which no mechanism enforces (own_noise=False leaves it out)"
)


class Named(Protocol):
    """Records with their names and how far apart two values of each are."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of each record."""
        ...

    @property
    def reach(self) -> Array:
        """Of each record."""
        ...


def seen_by(
    records: Named, i: int, known: tuple[int, ...], seen: Adversary, name: str, width: float, own_noise: bool
) -> Experiment:
    """The experiment of one adversary who sees the answer shift and the data's own randomness as told."""
    own, reach, title = seen.own if own_noise else 0.0, float(records.reach[i]), records.names[i]
    parameters: dict[str, Any] = {
        "target": i,
        "known": list(known),
        name: width,
        "reach": reach,
        "shift": seen.shift,
        "own_noise": own,
    }
    worlds = Worlds(Kind.CORRELATED, words=(f"{title} has one value", f"{title} has another, {reach:g} more"))
    return Experiment(_law(seen.shift, own, name, width), "correlated", parameters, worlds, (_OWN,) if own > 0 else ())


def _law(shift: float, own: float, name: str, width: float) -> Law:
    moved = shift / width
    if not moved <= 1e4:
        raise InputError(
            f"{name} is {width:g} for a shift of {shift:g}: give noise of at least 0.0001 times the shift",
            parameter=name,
        )
    if name == "sigma":
        return Normal(np.asarray(shift / float(np.hypot(width, own))))
    # below this share of the noise the normal part changes nothing that doubles can hold
    if own <= 1e-12 * width or moved == 0:
        return Laplace(np.asarray(moved))
    return NormalLaplaceShift(np.asarray(own / width), np.asarray(moved))
