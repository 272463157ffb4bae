"""Several answers observed together, and groups of people: what is learned about all of them.

The product of the laws is :mod:`epsilens.laws.product`'s: Theorem D2. Groups are Theorems D12, D20 and D21.

A vector answer (paper 000, Theorem 4, corrected) is tested exactly, on all coordinates together. If the noise is
calibrated to the L1 sensitivity Δ of the whole vector, the release is ε-DP: a person who moves one coordinate by Δ is
the scalar case, and one whose Δ is spread over several coordinates is harder to find. If every coordinate is calibrated
on its own, the theorem's scalar qε only bounds the product of the q tests, and not tightly. Normal noise composes by
itself: ψ is the L2 norm of the coordinates' own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from .. import checks
from ..checks import Array
from ..errors import InputError
from ..experiment import Experiment, compose_counted, product_factor
from ..laws.composition.composed_law import WIDTH
from ..laws.composition.step import CountedStep
from ..laws.envelope import ConcentratedClaim, Envelope, MomentClaim
from ..laws.finite import MOST_LOSS
from ..laws.laplace import Laplace, is_resolved, laplace_product, laplace_shifts, shift_sums
from ..laws.normal import Normal
from ..laws.product import compose_steps, factor_steps, join_names, width_of
from ..numerics.values import ValueSemantics
from ..readings.law import Exactness, Law
from ..results import SentenceResult, ShortResult
from ..worlds import Relation, parse_relation, worlds_of_relation
from . import claims
from .batches import require_any_table
from .builders import vectorized, with_provenance
from .discrete import pure
from .noise import gaussian, laplace

_BLOCKS = 256  # of people, in a sum over a group


def compose(*experiments: Experiment, width: float | None = None) -> Experiment:
    """What an adversary learns who sees all the answers.

    ``width`` is the relative width asked of each reading's bracket (0.001 unless given); it is reached by refining.

    Answers about correlated records, or about a range of a person's value, share what the adversary does not know, so
    they are read as one release of a vector: exactly under normal noise on one query, within a bracket under Laplace
    noise where its finite channels are affordable, otherwise from above. They need one model, target, known values and
    pair. Beside them an ordinary mechanism is refused: it is about the same people, and does not say how far the others
    move it; build it from the model, with weights that say which records it is about.

    Parameters
    ----------
    *experiments : Experiment
        The releases; of several people each is about the same ones.
    width : float, optional
        Relative width asked of each reading's bracket; 0.001 unless given.

    Returns
    -------
    Experiment
        Their product. Closed form where there is one, otherwise within a bracket.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> import epsilens as el
    >>> compose(el.gaussian(psi=3.0), el.gaussian(psi=4.0)).psi()
    5.0
    >>> round(compose(el.laplace(epsilon=1.0), el.laplace(epsilon=1.0)).advantage(), 6)  # 1 − 3/(2e)
    0.448181
    >>> round(compose(el.laplace(epsilon=0.5), el.gaussian(psi=0.5)).advantage(), 2)
    0.27
    """
    if not experiments or not all(isinstance(e, Experiment) for e in experiments):
        raise InputError("compose needs one experiment or more: give what laplace, gaussian and the like return")
    return compose_counted([(e, 1) for e in experiments], width)


@vectorized("k")
@with_provenance
def group(experiment: Experiment, k: ArrayLike, *, width: float | None = None) -> Experiment:
    """What is learned about a group of k people who enter or leave together: each moves the answer as one does.

    Noise that shifts is shifted k times as far. Under Poisson sampling a binomial number of the group is drawn: for
    normal noise that is known from both sides. For other noise at least one is drawn with probability 1 − (1−q)^k, and
    then all are taken to be: an upper bound. So it is in a batch of fixed size, which holds one of them with
    probability kq at most (``dpsgd`` with ``people`` knows how many of them it holds); where samples are drawn in other
    ways all of a group are taken to be in each. A claim of ε becomes one of kε, and a δ grows
    to δ(e^{kε}−1)/(e^ε−1); μ-GDP becomes kμ-GDP; (ξ, ρ)-zCDP becomes (ξ·k·(1 + 1/2 + … + 1/k), k²ρ)-zCDP (Bun &
    Steinke 2016), and by the same argument a Rényi curve D becomes ka·Σ_j D_o/o over the orders o = k(a−1) + j,
    j = 1 … k. Of answers that share unknown records (:mod:`epsilens.attacks.correlated`) no group is known: refused.

    Parameters
    ----------
    experiment : Experiment
        The pair of laws of the release.
    k : int or array_like
        How many people enter or leave together, at least 1.
    width : float, optional
        Relative width asked of each reading's bracket; 0.001 unless given.

    Returns
    -------
    Experiment
        Exact for noise that shifts, otherwise an upper bound.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    References
    ----------
    Bun & Steinke (2016), Concentrated differential privacy.

    Examples
    --------
    >>> import epsilens as el
    >>> group(el.gaussian(psi=0.5), 3).psi()
    1.5
    >>> round(group(el.dpsgd(sigma=1.0, rate=0.0064, steps=782), 2).epsilon(1e-6), 3)
    2.532
    """
    if not isinstance(experiment, Experiment):
        raise InputError("group needs an experiment: give what laplace, gaussian and the like return")
    size = checks.integer("k", k, low=1, high=10**6)
    if size == 1:
        return experiment
    for latent in experiment.unknowns:
        latent.group(size)
    parameters = {"of": experiment.name, "people": size}
    parts = experiment.parts or ((experiment, 1),)
    steps: list[CountedStep] = []
    loose: list[str] = []
    for part, times in parts:
        require_any_table(part)
        claimed = _claimed_group(part, size)
        if claimed is not None and len(parts) == times == 1:
            return Experiment(
                claimed.law, "group", parameters, experiment.worlds, (_CLAIMED.format(size), *claimed.notes)
            )
        inside = factor_steps(product_factor(part, times))
        if claimed is not None:
            moved = list(factor_steps(product_factor(claimed, times)))
        else:
            moved = [(step.group(size), n) for step, n in inside]
        steps += moved
        exact = claimed is None and all(step.scales_by_group for step, _ in (*inside, *moved))
        if part.law.known is Exactness.BOUND or not exact:
            loose.append(part.name)
    if len(steps) == 1 and steps[0][1] == 1 and (law := steps[0][0].as_law()) is not None:
        note = _CLAIMED.format(size) if loose else f"a group of {size} moves the answer {size} times as far"
        return Experiment(law.as_bound() if loose else law, "group", parameters, experiment.worlds, (note,))
    above = (f"a group of {join_names(loose)}",) if loose else ()
    result = compose_steps(steps, WIDTH if width is None else width_of(width), loose=above)
    return Experiment(result.law, "group", parameters, experiment.worlds, (result.note,))


_CLAIMED = (
    "an upper bound: what is known of one person bounds what a group of {} reveals, and nothing is known from below"
)


def _claimed_group(experiment: Experiment, size: int) -> Experiment | None:
    """What a claim of zCDP or of Rényi divergences says about a group; None of what is no such claim."""
    law = experiment.law
    if not isinstance(law, Envelope) or law.moment is None:
        return None
    moment = law.moment
    nothing = f"the claim promises nothing about a group of {size}"
    if isinstance(moment, ConcentratedClaim):
        rho, xi = moment.group(size)
        if max(rho, xi) > MOST_LOSS:
            raise InputError(f"{nothing}: ρ grows with the square of its size to {rho:.4g}, so ask of a smaller group")
        return claims.from_zcdp(rho, xi)
    low, high = 1e-9, 1e9
    if np.isfinite(moment(np.asarray(high))):
        low = high
    for _ in range(100):  # the highest order at which something is claimed
        middle = math.sqrt(low * high)
        low, high = (middle, high) if np.isfinite(moment(np.asarray(middle))) else (low, middle)
    worst = float(experiment.epsilon())
    orders, bound = np.zeros(0), np.zeros(0)
    if (most := (1 + low) / size - 1) > 1e-9:
        orders = 1 + np.geomspace(max(min(1e-3 * most, 1e-2), 1e-9), most, 281)
        bound = _summed_orders(moment, orders, size, low)
    if math.isfinite(worst):
        orders, bound = np.append(orders, np.inf), np.append(bound, size * worst)
    if not orders.size:
        raise InputError(f"{nothing}: its highest order is {1 + low:.6g}, so claim orders above {size}")
    if bound.min() > MOST_LOSS:
        raise InputError(f"{nothing}: its Rényi divergence grows to {bound.min():.4g}, so ask of a smaller group")
    return claims.from_rdp(orders, bound)


def _summed_orders(moment: MomentClaim, orders: Array, size: int, highest: float) -> Array:
    """ka·Σ_j D_o/o over o = k(a−1) + j: D_a(P‖Q) ≤ ka/(ka−1)·D_{(ka−1)/(k−1)}(P‖R) + D_{ka}(R‖Q), person by person.

    In blocks of people where there are many: D grows with the order, so the last order of a block bounds it.
    """
    ends = np.unique(np.linspace(0, size, min(size, _BLOCKS) + 1).astype(int))
    start = (size * (orders - 1))[:, None]
    most = np.minimum(start + ends[1:] - 1, highest)
    share = np.where(
        np.diff(ends) == 1, 1 / (start + ends[1:]), digamma(start + ends[1:] + 1) - digamma(start + ends[:-1] + 1)
    )
    return np.asarray(size * orders * np.sum(moment(most) / most * share, axis=1) * (1 + 1e-11))


CALIBRATIONS = ("together", "each")
_MOST_EQUAL = 20  # equal shifts whose exact product answers within a second or two
_MOST_PLACES = 64  # distinct sums of unlike shifts


@dataclass(frozen=True, eq=False, repr=False)
class Vector(ValueSemantics, SentenceResult, ShortResult):
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

    @cached_property
    def advantages(self) -> tuple[float, float, float]:
        """The advantage of the whole vector, of the scalar, and by the paper's bound."""
        whole, scalar, claimed = (float(e.advantage()) for e in (self.experiment, self.scalar, self.claimed))
        return whole, scalar, claimed

    @cached_property
    def psi(self) -> float:
        """ψ of the whole vector."""
        return float(self.experiment.psi())

    def _shown(self, pictures: bool = False) -> SentenceResult:
        _ = self.advantages, self.psi
        return self

    def to_dict(self) -> dict[str, Any]:
        result = {name: getattr(self, name).to_dict() for name in ("experiment", "scalar", "claimed", "ceiling")}
        return result | {
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

    Parameters
    ----------
    epsilon : float, optional
        Privacy loss, with `delta` for normal noise.
    delta : float, optional
        In (0, 1).
    psi : float, optional
        Sensitivity index, instead of ε.
    q : int, optional
        How many coordinates there are.
    shifts : array_like, optional
        How far a person moves each coordinate.
    sensitivity : float or array_like, default 1.0
        Of the vector, or of each coordinate.
    calibration : {"together", "each"}, default 'together'
        Whose sensitivity it is.
    noise : {"laplace", "gaussian"}, default 'laplace'
        The noise on the answer.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.

    Returns
    -------
    Vector
        The experiment, beside what the sum of the losses would claim.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> v = vector(epsilon=1.0, q=2, calibration="each")
    >>> round(v.experiment.advantage(), 6), round(v.claimed.advantage(), 6)
    (0.448181, 0.632121)
    >>> round(vector(epsilon=1.0, q=3).experiment.advantage(), 6)  # the same person, spread over three coordinates
    0.229201
    """
    checks.one_of("calibration", calibration, CALIBRATIONS)
    checks.one_of("noise", noise, ("laplace", "gaussian"))
    moved, most = _shifts(q, shifts, sensitivity, calibration, noise)
    neighbours = parse_relation(neighbours)
    worlds = worlds_of_relation(neighbours)
    if noise == "gaussian":
        size = {"psi": psi, "epsilon": epsilon, "delta": delta}
        given = {name: checks.scalar(name, value) for name, value in size.items() if value is not None}
        unit = float(gaussian(**given).parameters["psi"])  # type: ignore[arg-type]
        parts = unit * moved / most
        joint = Experiment(
            Normal(np.asarray(math.hypot(*parts))),
            "vector",
            _vector_parameters(parts, calibration, noise),
            worlds=worlds,
        )
        return Vector(joint, tuple(parts.tolist()), calibration, True, joint, joint, joint)
    if epsilon is None or psi is not None or delta is not None:
        raise InputError("Laplace noise on a vector is said by epsilon alone: give epsilon, or noise='gaussian'")
    eps = float(checks.privacy_loss("epsilon", checks.positive("epsilon", checks.scalar("epsilon", epsilon))))
    parts = eps * moved / most
    law, exact, note = _product(parts, neighbours)
    joint = Experiment(
        law, "vector", _vector_parameters(parts, calibration, noise), worlds=worlds, notes=(note,) if note else ()
    )
    total = min(eps * parts.size, 1e4)
    claimed = laplace(epsilon=total, neighbours=neighbours)
    if calibration == "together":
        scalar = laplace(epsilon=eps, neighbours=neighbours)
        return Vector(joint, tuple(parts.tolist()), calibration, exact, scalar, claimed, pure(epsilon=eps))
    return Vector(joint, tuple(parts.tolist()), calibration, exact, claimed, claimed, pure(epsilon=total))


def _shifts(q: object, shifts: object, sensitivity: object, calibration: str, noise: str) -> tuple[Array, Array]:
    """How far each coordinate moves, and what its noise is calibrated to."""
    most = checks.positive("sensitivity", sensitivity)
    if most.ndim > 1 or (most.ndim and calibration == "together"):
        raise InputError(
            f"sensitivity has shape {most.shape}: give one number for the vector, or one a coordinate with 'each'",
            "sensitivity",
        )
    given = None if shifts is None else np.abs(checks.in_range("shifts", shifts, -1e150, 1e150))
    if given is not None and (given.ndim != 1 or given.size == 0):
        raise InputError(
            f"shifts has shape {given.shape}: give a list, how far the person moves each coordinate", "shifts"
        )
    sizes = {int(a.size) for a in (given, most if most.ndim else None) if a is not None}
    if q is not None:
        sizes.add(checks.integer("q", q, low=1, high=100_000))
    if len(sizes) != 1:
        parameters = (
            "q, shifts or sensitivities are missing" if not sizes else "q, shifts and sensitivity differ in length"
        )
        raise InputError(f"{parameters}: say how many coordinates there are, once")
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
                "shifts",
            )
    elif np.any(given > own * (1 + 1e-12)):
        i = int(np.argmax(given / own))
        raise InputError(
            f"shift {i} is {given[i]:g}, more than its sensitivity {own[i]:g}: "
            "raise the sensitivity or lower the shift",
            "shifts",
        )
    return given, own


def _vector_parameters(parts: Array, calibration: str, noise: str) -> dict[str, object]:
    return {"coordinates": int(parts.size), "calibration": calibration, "noise": noise}


def _product(parts: Array, neighbours: Relation) -> tuple[Law, bool, str]:
    """The law of all coordinates, whether it is exact, and what else to say."""
    moved = tuple(sorted(float(m) for m in parts if m > 0))
    if len(moved) <= 1:
        return Laplace(np.asarray(moved[0] if moved else 0.0)), True, ""
    equal = moved[-1] - moved[0] <= 1e-15 * moved[-1]
    if is_resolved(math.fsum(moved)):
        if equal and len(moved) <= _MOST_EQUAL:
            return laplace_product(moved[-1], len(moved)), True, ""
        if not equal and len(moved) <= 12 and shift_sums(moved).size <= _MOST_PLACES:
            return laplace_shifts(moved), True, ""
    joint = compose(*(laplace(epsilon=m, neighbours=neighbours) for m in moved))
    return joint.law, False, "; ".join(joint.notes) or "composed numerically, an upper bound"
