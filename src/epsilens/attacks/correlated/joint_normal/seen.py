"""What one adversary of jointly normal records sees: an experiment from their shift and the data's own randomness."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from ....checks import Array
from ....errors import InputError
from ....experiment import Experiment
from ....laws.intersection import TwoSidedBound, strongest_attack
from ....laws.laplace import Laplace
from ....laws.latent import Latent
from ....laws.normal import Normal
from ....laws.product import Factor, product
from ....laws.sums import NormalLaplaceShift
from ....numerics.values import fingerprint
from ....readings.law import Law
from ....worlds import Worlds, WorldsKind
from .problem import Adversary, Problem

_OWN = (
    "the randomness of the records that the adversary does not know is counted as noise: an assumption about the data, "
    "which no mechanism enforces (own_noise=False leaves it out)"
)


_EXACT = "the answers share what is unknown and are read as one release of a vector: jointly normal, exact"
_TOLD = (
    "the answers share what is unknown and are read as one release of a vector: an upper bound, the adversary being "
    "told what the unknown records add beyond what the target says of them"
)


class Named(Protocol):
    """Jointly normal records with their names, a query, and how far apart two values of each are."""

    @property
    def cov(self) -> Array:
        """Their covariance."""
        ...

    @property
    def weights(self) -> Array:
        """Of the query."""
        ...

    @property
    def problem(self) -> Problem:
        """The same in units of each record's reach."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """Of each record."""
        ...

    @property
    def reach(self) -> Array:
        """Of each record."""
        ...


def seen_by(
    records: Named,
    i: int,
    known: tuple[int, ...],
    seen: Adversary,
    name: str,
    width: float,
    own_noise: bool,
    covers: bool = False,
) -> Experiment:
    """The experiment of one adversary who sees the answer shift and the data's own randomness as told.

    With ``covers`` it bounds every adversary, not only the one who is named.
    """
    own, reach, title = seen.own if own_noise else 0.0, float(records.reach[i]), records.names[i]
    parameters: dict[str, Any] = {
        "target": i,
        "known": list(known),
        name: width,
        "reach": reach,
        "shift": seen.shift,
        "own_noise": own,
    }
    everyone = len(known) == records.weights.size - 1  # is known, then nothing is shared
    latent = (
        UnknownNormals(records, i, tuple(sorted(known)), seen, name, width, own_noise, covers)
        if covers or not everyone
        else None
    )
    worlds = Worlds(WorldsKind.CORRELATED, words=(f"{title} has one value", f"{title} has another, {reach:g} more"))
    notes = (_OWN,) if own > 0 else ()
    return Experiment(_law(seen.shift, own, name, width), "correlated", parameters, worlds, notes, latent=latent)


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


@dataclass(frozen=True, eq=False, repr=False)
class UnknownNormals(Latent):
    """How one answer depends on the jointly normal records that the adversary does not know, the same in every answer.

    ``seen`` is what one answer shows; where it covers every adversary, ``covers`` says so.
    """

    records: Named
    target: int
    known: tuple[int, ...]
    seen: Adversary
    noise: str
    width: float
    own_noise: bool
    covers: bool = False

    unknown: ClassVar[str] = "records that the adversary does not know"

    def reverse(self) -> UnknownNormals:
        """The same: both orders of a shift are alike."""
        return self

    def joint(self, answers: Sequence[tuple[Latent, int]]) -> tuple[Law, str]:
        """All answers as one release of a vector: the same values of the unknown records in each.

        Under normal noise the answers are jointly normal and ψ² = dᵀ(C + diag(σ²/k))⁻¹d, d how far the target moves
        each and C what the unknown records leave them: exact. Otherwise the adversary is told what the unknown records
        add beyond what follows from the target, and bare noise is left: an upper bound, exact for pure ε.
        """
        told = [(self._shared(answer), k) for answer, k in answers]
        bare = any(answer.covers or not answer.own_noise or answer.seen.own == 0 for answer, _ in told)
        if not bare and all(answer.noise == "sigma" for answer, _ in told):
            return Normal(np.asarray(self._normal(told))), _EXACT
        factors = [Factor(_law(answer.seen.shift, 0.0, answer.noise, answer.width), k) for answer, k in told]
        bound = product(factors).law.as_bound()
        single = [_law(a.seen.shift, a.seen.own if a.own_noise else 0.0, a.noise, a.width) for a, _ in told]
        if bare:  # what is left out may hide more than is shown
            return bound, _TOLD
        return TwoSidedBound((bound,), attained=strongest_attack(tuple(single))), _TOLD

    def _shared(self, answer: Latent) -> UnknownNormals:
        """The answer, if it is one to the same adversary about the same records."""
        if isinstance(answer, UnknownNormals):
            mine, theirs = ((u.records.cov, u.records.names, u.records.reach) for u in (self, answer))
            who = [(u.target, u.known) if not u.covers else u.covers for u in (self, answer)]
            if fingerprint(mine) == fingerprint(theirs) and who[0] == who[1]:
                return answer
        raise InputError(
            "the answers are not about the same jointly normal records: answers compose if they have one covariance "
            "(with weights of their own), one target and the same known records; give these"
        )

    def _normal(self, told: Sequence[tuple[UnknownNormals, int]]) -> float:
        """ψ of answers with normal noise, rounded up."""
        counted: dict[Hashable, tuple[UnknownNormals, float]] = {}
        for answer, k in told:  # of one query the answers say as much as their mean
            key = fingerprint(answer.records.weights)
            known = k / answer.width**2
            counted[key] = answer, known + (counted[key][1] if key in counted else 0.0)
        if len(counted) == 1:
            ((answer, precision),) = counted.values()
            return answer.seen.shift / math.hypot(1 / math.sqrt(precision), answer.seen.own)
        queries = np.stack([answer.records.weights for answer, _ in counted.values()])
        moved, root = self.records.problem.vector(self.target, self.known, queries)
        unit = np.sqrt(np.asarray([precision for _, precision in counted.values()]))
        moved, root = moved * unit, root * unit[:, None]
        axes, sizes, _ = np.linalg.svd(root, full_matrices=True)
        spread = np.zeros(moved.size)
        spread[: sizes.size] = sizes
        psi = math.sqrt(float(np.sum((axes.T @ moved) ** 2 / (1 + spread**2))))
        return psi * (1 + 1e-13) + 1e-15 * math.sqrt(float(moved @ moved))
