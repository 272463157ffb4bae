"""Vector answers: the exact test on all coordinates together (paper 000, Theorem 4, corrected).

If the noise is calibrated to the L1 sensitivity Δ of the whole vector, the release is ε-DP: a person who moves one
coordinate by Δ is the scalar case, and one whose Δ is spread over several coordinates is harder to find. If every
coordinate is calibrated on its own, the theorem's scalar qε only bounds the product of the q tests, and not tightly.
Normal noise composes by itself: ψ is the L2 norm of the coordinates' own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import Array
from ..errors import InputError
from ..experiment import Experiment
from ..laws.closed.laplace import Laplace
from ..laws.closed.normal import Normal
from ..laws.line.laplace import laplace_product, laplace_shifts, places, resolved
from ..numerics.frozen import Valued
from ..readings.law import Law
from ..shown import Sentenced, Told
from ..worlds import between
from .composition import compose
from .discrete import pure
from .mechanisms import gaussian, laplace

__all__ = ["Vector", "vector"]

CALIBRATIONS = ("together", "each")
_MOST_EQUAL = 20  # equal shifts whose exact product answers within a second or two
_MOST_PLACES = 64  # distinct sums of unlike shifts


@dataclass(frozen=True, eq=False, repr=False)
class Vector(Valued, Sentenced, Told):
    """A noisy vector: ``experiment`` is the test on all coordinates, ``losses`` each coordinate's ε·shift/sensitivity.

    ``scalar`` is one coordinate that holds everything one person may do (the sound bound when the coordinates are
    calibrated together), ``claimed`` the paper's scalar with qε, ``ceiling`` the worst of any release with that total.
    For normal noise the three are the same, and exact.
    """

    shown_as = "vector"

    experiment: Experiment
    losses: tuple[float, ...]
    calibration: str
    exact: bool
    scalar: Experiment
    claimed: Experiment
    ceiling: Experiment

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record."""
        made = {name: getattr(self, name).to_dict() for name in ("experiment", "scalar", "claimed", "ceiling")}
        return made | {
            "losses": list(self.losses),
            "calibration": self.calibration,
            "exact": self.exact,
            "sentence": self.sentence,
        }


def vector(
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    psi: float | None = None,
    q: int | None = None,
    shifts: ArrayLike | None = None,
    sensitivity: ArrayLike = 1.0,
    calibration: str = "together",
    noise: str = "laplace",
    neighbours: str = "add-remove",
) -> Vector:
    """q noisy coordinates observed together.

    ``calibration="together"``: ``sensitivity`` is that of the whole vector (L1 for Laplace, L2 for normal noise), and a
    person moves the coordinates by ``shifts``, which may use it up; an equal split unless given. ``"each"``: every
    coordinate gets noise for its own sensitivity, and a person moves each by all of it unless shifts say otherwise.

    >>> v = vector(epsilon=1.0, q=2, calibration="each")
    >>> round(v.experiment.advantage(), 6), round(v.claimed.advantage(), 6)
    (0.448181, 0.632121)
    >>> round(vector(epsilon=1.0, q=3).experiment.advantage(), 6)  # the same person, spread over three coordinates
    0.229201
    """
    checks.choice("calibration", calibration, CALIBRATIONS)
    checks.choice("noise", noise, ("laplace", "gaussian"))
    moved, most = _moves(q, shifts, sensitivity, calibration, noise)
    worlds = between(neighbours)
    if noise == "gaussian":
        size = {"psi": psi, "epsilon": epsilon, "delta": delta}
        unit = float(gaussian(**{k: v for k, v in size.items() if v is not None}).parameters["psi"])  # type: ignore[arg-type]
        parts = unit * moved / most
        joint = Experiment(
            Normal(np.asarray(math.hypot(*parts))), "vector", _told(parts, calibration, noise), worlds=worlds
        )
        return Vector(joint, tuple(parts.tolist()), calibration, True, joint, joint, joint)
    if epsilon is None or psi is not None or delta is not None:
        raise InputError("Laplace noise on a vector is said by epsilon alone: give epsilon, or noise='gaussian'")
    eps = float(checks.loss("epsilon", checks.positive("epsilon", checks.scalar("epsilon", epsilon))))
    parts = eps * moved / most
    law, exact, note = _product(parts, neighbours)
    joint = Experiment(law, "vector", _told(parts, calibration, noise), worlds=worlds, notes=(note,) if note else ())
    total = min(eps * parts.size, 1e4)
    claimed = laplace(epsilon=total, neighbours=neighbours)
    if calibration == "together":
        scalar = laplace(epsilon=eps, neighbours=neighbours)
        return Vector(joint, tuple(parts.tolist()), calibration, exact, scalar, claimed, pure(epsilon=eps))
    return Vector(joint, tuple(parts.tolist()), calibration, exact, claimed, claimed, pure(epsilon=total))


def _moves(q: Any, shifts: Any, sensitivity: Any, calibration: str, noise: str) -> tuple[Array, Array]:
    """How far each coordinate moves, and what its noise is calibrated to."""
    most = checks.positive("sensitivity", sensitivity)
    if most.ndim > 1 or (most.ndim and calibration == "together"):
        raise InputError(
            f"sensitivity has shape {most.shape}: give one number for the vector, or one a coordinate with 'each'",
            parameter="sensitivity",
        )
    given = None if shifts is None else np.abs(checks.within("shifts", shifts, -1e150, 1e150))
    if given is not None and (given.ndim != 1 or given.size == 0):
        raise InputError(
            f"shifts has shape {given.shape}: give a list, how far the person moves each coordinate", parameter="shifts"
        )
    sizes = {int(a.size) for a in (given, most if most.ndim else None) if a is not None}
    if q is not None:
        sizes.add(checks.whole("q", q, low=1, high=100_000))
    if len(sizes) != 1:
        told = "q, shifts or sensitivities are missing" if not sizes else "q, shifts and sensitivity differ in length"
        raise InputError(f"{told}: say how many coordinates there are, once")
    count = sizes.pop()
    own = np.broadcast_to(most, (count,)).astype(float)
    if given is None:
        if calibration == "each":
            return own, own
        return own / (count if noise == "laplace" else math.sqrt(count)), own
    if calibration == "together":
        used = float(given.sum()) if noise == "laplace" else float(np.sqrt(np.sum(given**2)))
        norm = "L1" if noise == "laplace" else "L2"
        if used > float(most) * (1 + 1e-12):
            raise InputError(
                f"shifts add up to {used:g} in the {norm} norm, more than the sensitivity {float(most):g}: "
                "raise the sensitivity or lower the shifts",
                parameter="shifts",
            )
    elif np.any(given > own * (1 + 1e-12)):
        i = int(np.argmax(given / own))
        raise InputError(
            f"shift {i} is {given[i]:g}, more than its sensitivity {own[i]:g}: "
            "raise the sensitivity or lower the shift",
            parameter="shifts",
        )
    return given, own


def _told(parts: Array, calibration: str, noise: str) -> dict[str, Any]:
    return {"coordinates": int(parts.size), "calibration": calibration, "noise": noise}


def _product(parts: Array, neighbours: str) -> tuple[Law, bool, str]:
    """The law of all coordinates, whether it is exact, and what else to say."""
    moved = tuple(sorted(float(m) for m in parts if m > 0))
    if len(moved) <= 1:
        return Laplace(np.asarray(moved[0] if moved else 0.0)), True, ""
    equal = moved[-1] - moved[0] <= 1e-15 * moved[-1]
    if resolved(math.fsum(moved)):
        if equal and len(moved) <= _MOST_EQUAL:
            return laplace_product(moved[-1], len(moved)), True, ""
        if not equal and len(moved) <= 12 and places(moved).size <= _MOST_PLACES:
            return laplace_shifts(moved), True, ""
    joint = compose(*(laplace(epsilon=m, neighbours=neighbours) for m in moved))
    return joint.law, False, "; ".join(joint.notes) or "composed numerically, an upper bound"
