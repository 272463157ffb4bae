"""What others claim of a release, as an experiment; and what an experiment lets one claim.

A claim does not say what the mechanism is. The experiment is the least private one the claim allows, as far as known:
every reading is an upper bound on the risk of every release for which the claim is true: Theorems D50 and D51.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..calibration.choose import choose
from ..catalogue.deployments import SOURCE, Deployment, deployments
from ..catalogue.deployments import deployment as registered
from ..checks import Array, Number, float_or_array
from ..errors import EpsilensError, InputError, NoSolutionError, suggestion, type_phrase
from ..experiment import Experiment, require_independent
from ..laws.composition.step import Composable
from ..laws.envelope import ConcentratedClaim, Envelope, OrdersConversion, RenyiCurve, envelope, zcdp_envelope
from ..laws.finite import Finite
from ..laws.normal import Normal
from ..numerics.roots import safe_boundary
from ..numerics.values import FrozenMapping
from ..overview import Overview, case_readings
from ..readings.law import Exactness, Law
from ..worlds import parse_relation, worlds_of_relation
from .builders import vectorized, with_provenance
from .discrete import approximate
from .noise import gaussian, laplace
from .training import dpsgd

#: Orders at which a Rényi curve given as a function is read.
ORDERS = 1 + np.geomspace(0.01, 1e5, 141)
_LEAST_BOUND = 1e-200  # a smaller bound is rounded up to this one
ROUNDING = 1e-12  # of sums over thousands of atoms


@with_provenance
def from_dp(epsilon: ArrayLike, delta: ArrayLike = 0.0, *, neighbours: str = "add-remove") -> Experiment:
    """Several (ε, δ) guarantees that hold at once: the riskiest release they allow together, exactly.

    One pair is :func:`epsilens.mechanisms.approximate`, here a bound and not a mechanism. More pairs say more, up to
    the whole
    profile of a mechanism.

    Parameters
    ----------
    epsilon : float or array_like
        Each ε ≥ 0 that holds.
    delta : float or array_like, default 0.0
        Its δ, in [0, 1).
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.

    Returns
    -------
    Experiment
        A pair that dominates the release: every reading is an upper bound.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> e = from_dp([0.5, 1.0, 2.0], [0.1, 1e-2, 1e-5])
    >>> round(e.delta(1.0), 6), round(e.epsilon(1e-5), 6), round(e.advantage(), 4)
    (0.01, 2.0, 0.3204)
    """
    eps, d = checks.in_range("epsilon", epsilon, 0.0, 1e4), checks.probability("delta", delta)
    try:
        eps, d = (np.array(v) for v in np.broadcast_arrays(eps, d))
    except ValueError:
        raise InputError(f"epsilon and delta have shapes {eps.shape} and {d.shape}: give as many of each") from None
    if eps.ndim == 0:
        one = approximate(epsilon=float(eps), delta=float(d), neighbours=neighbours)
        return replace(one, law=one.law.as_bound())
    if eps.ndim != 1 or not eps.size:
        raise InputError(f"epsilon has shape {eps.shape}: give a list of one number or more", "epsilon")
    return _claim(envelope(eps, d), "claims", {"claims": int(eps.size)}, f"{eps.size} (ε, δ) claims", neighbours)


@vectorized("mu")
def from_gdp(mu: ArrayLike, *, neighbours: str = "add-remove") -> Experiment:
    """μ-GDP (Dong, Roth & Su 2022): at most as risky as telling N(0, 1) from N(μ, 1), which is exactly that.

    Parameters
    ----------
    mu : float or array_like
        μ > 0.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.

    Returns
    -------
    Experiment
        A pair that dominates the release: every reading is an upper bound.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    References
    ----------
    Dong, Roth & Su (2022), Gaussian differential privacy.

    Examples
    --------
    >>> from_gdp(1.0).success()
    0.69146246127401...
    """
    value = float(checks.in_range("mu", checks.scalar("mu", mu), 0.0, 1e4))
    return _claim(Normal(np.asarray(value), known=Exactness.BOUND), "gdp", {"mu": value}, "a μ-GDP claim", neighbours)


@vectorized("rho", "xi")
def from_zcdp(rho: ArrayLike, xi: ArrayLike = 0.0, *, neighbours: str = "add-remove") -> Experiment:
    """(ξ, ρ)-zCDP: D_a ≤ ξ + ρ·a for every order a > 1, in both orders of the pair (Bun & Steinke 2016).

    Every order bounds δ(ε) (see :mod:`epsilens.laws.envelope`); the best of them, on a grid of ε, are taken together.

    Parameters
    ----------
    rho : float or array_like
        ρ > 0.
    xi : float or array_like, default 0.0
        ξ ≥ 0.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.

    Returns
    -------
    Experiment
        A pair that dominates the release: every reading is an upper bound.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    References
    ----------
    Bun & Steinke (2016), Concentrated differential privacy.

    Examples
    --------
    >>> e = from_zcdp(0.5)                       # what is known of a Gaussian mechanism with ψ = 1
    >>> round(e.epsilon(1e-5), 3), round(e.renyi(8.0), 6), round(e.success(), 3)
    (4.728, 4.0, 0.74)
    """
    value = float(checks.in_range("rho", checks.scalar("rho", rho), 0.0, 1e4))
    more = float(checks.in_range("xi", checks.scalar("xi", xi), 0.0, 1e4))
    parameters = {"rho": value} | ({"xi": more} if more else {})
    if value == 0:  # D_a ≤ ξ at every order: pure
        return _claim(envelope(np.asarray([more]), np.zeros(1)), "zcdp", parameters, "a zCDP claim", neighbours)
    return _claim(zcdp_envelope(value, more), "zcdp", parameters, "a zCDP claim", neighbours)


@with_provenance
def from_rdp(
    order: ArrayLike | None = None,
    rho: ArrayLike | Callable[[float], float] | None = None,
    *,
    neighbours: str = "add-remove",
) -> Experiment:
    """(a, ρ)-RDP at one order or several (Mironov 2017): D_a ≤ ρ in both orders of the pair.

    ``rho`` is a number for one order, a list for several, or a function of the order (read at many if none is given).

    Parameters
    ----------
    order : float or array_like, optional
        Rényi order or orders, above 1.
    rho : float, array_like or callable, optional
        Divergence at each order, or a function of the order.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.

    Returns
    -------
    Experiment
        A pair that dominates the release: every reading is an upper bound.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    References
    ----------
    Mironov (2017), Rényi differential privacy.

    Examples
    --------
    >>> round(from_rdp(2.0, 1.0).epsilon(1e-5), 3)
    10.668
    >>> round(from_rdp(rho=lambda a: 0.5 * a).epsilon(1e-5), 2)
    4.73
    """
    a, bound = _orders(order, rho)
    parameters: dict[str, object] = (
        {"order": float_or_array(a[0]), "rho": float_or_array(bound[0])} if a.size == 1 else {"orders": int(a.size)}
    )
    known = bound <= 1e4  # beyond, nothing is promised that doubles could tell from nothing
    a, bound = a[known], bound[known]
    rank = np.argsort(a, kind="stable")
    # D grows with the order: what holds at a higher one holds here
    a, bound = a[rank], np.minimum.accumulate(bound[rank][::-1])[::-1]
    pure = bound[np.isinf(a)]
    a, bound = a[np.isfinite(a)], bound[np.isfinite(a)]
    best = OrdersConversion(a - 1, bound) if a.size and bound.min() > 0 else None
    eps, d = np.zeros(0), np.zeros(0)
    if best is not None:
        eps, d = best.claims()
    elif a.size:  # D_a = 0: the two laws are one
        eps, d = np.zeros(1), np.zeros(1)
    eps, d = np.concatenate((eps, pure)), np.concatenate((d, 0 * pure))
    law = envelope(eps, d, moment=RenyiCurve(a - 1, bound), rounding=ROUNDING, conversion=best)
    return _claim(law, "rdp", parameters, "a Rényi claim", neighbours)


def _orders(order: ArrayLike | None, rho: ArrayLike | Callable[[float], float] | None) -> tuple[Array, Array]:
    """Orders above 1 and what is claimed at each."""
    if rho is None:
        raise InputError(
            "rho is missing: give the bound on the Rényi divergence at each order, or a function of it", "rho"
        )
    if order is None:
        if not callable(rho):
            raise InputError("order is missing: give the order or orders at which rho holds", "order")
        order = ORDERS
    a = np.atleast_1d(checks.real("order", order, infinite=True))
    if a.ndim != 1 or not a.size:
        raise InputError(f"order has shape {a.shape}: give one order or a list of them", "order")
    if np.any(a <= 1):
        raise InputError(f"order is {a[a <= 1][0]:.12g}: give orders above 1", "order")
    said = [rho(float(v)) for v in a] if callable(rho) else rho
    bound = checks.at_least("rho", said, 0.0, infinite=True)
    if bound.ndim > 1 or (bound.ndim and bound.shape != a.shape):
        raise InputError(f"rho has shape {bound.shape} and order {a.shape}: give one rho for each order", "rho")
    if not bound.ndim and a.size > 1:
        raise InputError(
            f"rho is {float(bound):.12g} and order has {a.size} values: give one rho for each order", "rho"
        )
    bound = np.broadcast_to(bound, a.shape)
    low = np.isfinite(a) & ((a - 1 < 1e-9) | (a > 1e9))
    if low.any():
        raise InputError(f"order is {a[low][0]:.12g}: give orders from 1 + 1e-9 to 1e9, or infinity", "order")
    return a, np.where(bound > 0, np.maximum(bound, _LEAST_BOUND), 0.0)


def _claim(law: Law, name: str, parameters: Mapping[str, object], said: str, neighbours: str) -> Experiment:
    relation = parse_relation(neighbours)
    note = f"the worst case of {said}, not a mechanism: every release for which it is true is at most as risky"
    return Experiment(law, name, {**parameters, "neighbours": relation.value}, worlds_of_relation(relation), (note,))


def _reject_experiment(value: object) -> InputError:
    return InputError(
        f"experiment is {type_phrase(value)}: give what laplace, gaussian and the like return", "experiment"
    )


def _scalar_epsilon(experiment: object) -> None:
    if not isinstance(experiment, Experiment):
        raise _reject_experiment(experiment)
    if experiment.many:
        raise InputError("this is many experiments at once: give one")
    require_independent(experiment)  # what it is turned into is there to be added up


def to_gdp(experiment: Experiment) -> float:
    """The smallest μ for which the experiment is μ-GDP; infinite where there is none.

    Parameters
    ----------
    experiment : Experiment
        The pair of laws of the release.

    Returns
    -------
    float
        μ, an upper bound where the law is one.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> import epsilens as el
    >>> round(to_gdp(el.laplace(epsilon=1.0)), 4)
    1.0301
    """
    _scalar_epsilon(experiment)
    return float(experiment.psi())


def to_rdp(experiment: Experiment, order: ArrayLike) -> Number:
    """The Rényi curve: the larger of D_a(H0‖H1) and D_a(H1‖H0) at each order a.

    Parameters
    ----------
    experiment : Experiment
        The pair of laws of the release.
    order : float or array_like
        Rényi order or orders, above 1.

    Returns
    -------
    float or ndarray
        The divergence in nats, the larger of both orders of the pair.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> import epsilens as el
    >>> to_rdp(el.gaussian(psi=1.0), [2.0, 8.0])
    array([1., 4.])
    """
    if not isinstance(experiment, Experiment):
        raise _reject_experiment(experiment)
    require_independent(experiment)
    one, other = experiment.renyi(order), experiment.reverse().renyi(order)
    return float_or_array(np.maximum(one, other))


def to_zcdp(experiment: Experiment) -> float:
    """A ρ such that D_a ≤ ρ·a for every order a > 1 in both orders of the pair; infinite if none can be established.

    K(m) = m·D_{1+m} is convex with K(0) = 0, so between two orders D_a/a lies below what their chord gives; intervals
    are halved until that is within 1e-7 of the largest D_a/a seen. Beyond the last order D_a ≤ D_∞.

    Parameters
    ----------
    experiment : Experiment
        The pair of laws of the release.

    Returns
    -------
    float
        ρ, rounded up.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> import epsilens as el
    >>> to_zcdp(el.gaussian(psi=1.0)), round(to_zcdp(el.mechanisms.pure(epsilon=1.0)), 6)  # ε·tanh(ε/2)
    (0.5, 0.462117)
    """
    _scalar_epsilon(experiment)
    law = experiment.law
    if isinstance(law, Normal):
        return float(law.mu) ** 2 / 2
    if isinstance(law, Envelope) and isinstance(law.moment, ConcentratedClaim) and law.moment.xi == 0:
        return law.moment.rho
    if isinstance(law, Finite) and law.far is not None:
        return law.far.zcdp_rho
    if isinstance(law, Composable) and (steps := law.steps()):  # selections, whose worst cases are less concentrated
        rho = math.fsum(k * step.claimed_zcdp for step, k in steps)
        if math.isfinite(rho):
            return rho * (1 + 1e-15)
    worst = max(float(law.max_llr()), float(law.reverse().max_llr()))
    if not math.isfinite(worst):
        return math.inf
    if worst == 0:
        return 0.0

    def moment(m: Array) -> Array:
        return np.maximum(law.log_moment(1 + m), law.log_moment(-m))

    m = np.geomspace(1e-7, 1e7, 57)
    k = moment(m)
    for _ in range(60):
        ratio = k / (m * (1 + m))
        best = max(float(ratio.max()), 0.0)
        ends = max(float(k[0] / m[0]), worst / (1 + m[-1]))
        above = _chords(m, k)
        rough = above > best * (1 + 1e-7)
        if not rough.any() or m.size > 2000:
            break
        new = np.sqrt(m[:-1] * m[1:])[rough]
        m, k = np.concatenate((m, new)), np.concatenate((k, moment(new)))
        rank = np.argsort(m)
        m, k = m[rank], k[rank]
    return float(max(above.max(), ends) * (1 + 1e-12))


def _chords(m: Array, k: Array) -> Array:
    """The largest (c0 + c1·x)/(x(1+x)) on each interval, the line being the chord of K: c0 ≤ 0 by convexity."""
    c1 = np.diff(k) / np.diff(m)
    c0 = np.minimum(k[:-1] - c1 * m[:-1], 0.0)
    c1 = (k[1:] - c0) / m[1:]  # rounding of c0 may not take the line below K at the right end
    with np.errstate(divide="ignore", invalid="ignore"):
        peak = (-c0 + np.sqrt(c0 * c0 - c0 * c1)) / c1
    inside = np.clip(np.where(np.isfinite(peak), peak, m[1:]), m[:-1], m[1:])
    values = [(c0 + c1 * x) / (x * (1 + x)) for x in (m[:-1], inside, m[1:])]
    return np.asarray(np.max([*values, k[:-1] / (m[:-1] * (1 + m[:-1]))], axis=0))


# A claim to be judged: the riskiest release it allows, and what it means if more is known of the noise.
#
# A claim alone says little: (8, 10⁻⁶)-DP allows a release from which an adversary guesses nearly always right, and also
# holds for Gaussian noise from which they guess right 78 times of 100. Each case here is the noise of one kind that
# just keeps the claim: any other of that kind for which the claim is true has more noise, and is at most as risky.

#: The training taken where (ε, δ) is claimed and no other is given.
EXAMPLE: Mapping[str, int] = FrozenMapping({"n": 60_000, "batch": 256, "epochs": 15})
_TRAINING = ("rate", "steps", "n", "batch", "epochs", "batches", "truncation", "people")
_LEAST, _MOST = 1e-12, 1e4  # ε of Laplace noise
_NOTHING = 1e-200  # an advantage no noise is needed for
_QUIETEST, _LOUDEST = 1e9, 0.02  # σ of a training
_TRAINED = 20.0  # the largest ε for which a training is taken as an example


class NoiseFamily(StrEnum):
    """What is known of the noise."""

    ANY = "any"
    LAPLACE = "laplace"
    GAUSSIAN = "gaussian"
    TRAINING = "training"


@dataclass(frozen=True)
class ClaimCase:
    """What a claim means for one kind of noise; without an ``experiment``, ``why`` says what keeps it from the claim.

    ``example`` marks a training that nobody named.
    """

    noise: NoiseFamily
    experiment: Experiment | None
    why: str = ""
    example: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Claim(Experiment):
    """A claim as an experiment: the riskiest release for which it is true, so that every reading is "at most".

    ``claimed`` are its numbers. ``cases`` say what it means if more is known: ``if_laplace``, ``if_gaussian`` and
    ``if_training`` are experiments with the noise that just keeps it. It equals the experiment of its worst case.
    """

    claimed: Mapping[str, Any] = field(default_factory=dict, compare=False)
    training: Mapping[str, Any] = field(default_factory=dict, compare=False)
    deployment: Deployment | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("claimed", "training"):
            object.__setattr__(self, name, FrozenMapping(getattr(self, name)))

    @property
    def worst(self) -> Experiment:
        """The riskiest release the claim allows, on its own."""
        return Experiment(**{f.name: getattr(self, f.name) for f in fields(Experiment)})

    def __eq__(self, other: object) -> bool:
        return self.worst == (other.worst if isinstance(other, Claim) else other)

    def __hash__(self) -> int:
        return hash(self.worst)

    def reverse(self) -> Experiment:
        """The riskiest release with the roles of H0 and H1 exchanged."""
        return self.worst.reverse()

    @cached_property
    def cases(self) -> tuple[ClaimCase, ...]:
        """What the claim means by what is known of the noise, from nothing to the whole training."""
        build = {NoiseFamily.LAPLACE: self._laplace, NoiseFamily.GAUSSIAN: self._gaussian}
        if self.training or self._exemplary:
            build[NoiseFamily.TRAINING] = self._trained
        nothing = float(self.advantage()) < _NOTHING
        result = [_case(noise, _no_noise_suffices if nothing else make) for noise, make in build.items()]
        if self.training or not self._exemplary:
            return ClaimCase(NoiseFamily.ANY, self.worst), *result
        return ClaimCase(NoiseFamily.ANY, self.worst), *result[:-1], replace(result[-1], example=True)

    def overview(self, **arguments: float) -> Overview:
        """Every reading, ε at the δ that is claimed unless another is given, and what the claim means by its cases."""
        told = self.claimed.get("delta")
        if arguments.get("delta") is None and isinstance(told, int | float) and told:
            arguments["delta"] = float(told)
        made = super().overview(**arguments)
        return replace(made, cases=case_readings(self.cases, made.arguments["prior"], made.arguments["fpr"]))

    @property
    def _exemplary(self) -> bool:
        """Whether a training nobody named tells something: of (ε, δ), as trainings are claimed."""
        epsilon, delta = self._pair
        return epsilon is not None and 0 < epsilon <= _TRAINED and 0 < delta < 1 and self.deployment is None

    @property
    def if_laplace(self) -> Experiment:
        """One answer with Laplace noise that just keeps the claim."""
        return self._known(NoiseFamily.LAPLACE)

    @property
    def if_gaussian(self) -> Experiment:
        """Gaussian noise that just keeps the claim.

        >>> round(claim(epsilon=8.0, delta=1e-6).if_gaussian.success(), 6)  # Φ(μ/2) with σ of Balle and Wang 2018
        0.778094
        """
        return self._known(NoiseFamily.GAUSSIAN)

    @property
    def if_training(self) -> Experiment:
        """DP-SGD whose noise is tuned so that it just keeps the claim."""
        return self._known(NoiseFamily.TRAINING)

    def _known(self, noise: NoiseFamily) -> Experiment:
        result = next((case for case in self.cases if case.noise is noise), None)
        if result is None:
            raise InputError("no training is known: give its size to claim, such as n=60000, batch=256, epochs=15", "n")
        if result.experiment is None:
            raise NoSolutionError(result.why, floor=math.inf)
        return result.experiment

    def __repr__(self) -> str:
        if self.deployment is not None:
            return f"claim({self.deployment.name!r})"
        parameters = {**self.claimed, **self.training}
        return f"claim({', '.join(f'{name}={value!r}' for name, value in parameters.items())})"

    # -- the noise that just keeps the claim -----------------------------------------------------------------------

    @property
    def _pair(self) -> tuple[float | None, float]:
        """(ε, δ) where that is what is claimed."""
        return self.claimed.get("epsilon"), self.claimed.get("delta", 0.0)

    @property
    def _orders(self) -> list[tuple[float, float]]:
        """Each order with what is claimed there, where orders are."""
        if "order" not in self.claimed:
            return []
        a, rho = (np.atleast_1d(np.asarray(self.claimed[name], dtype=float)) for name in ("order", "rho"))
        return [(float(o), float(r)) for o, r in zip(a, rho, strict=True)]

    @property
    def _moves(self) -> dict[str, Any]:
        return {"neighbours": str(self.parameters["neighbours"])}

    def _laplace(self) -> Experiment:
        """δ(ε) of Laplace noise with loss m is 1 − e^{(ε−m)/2}, so that m = ε − 2·log(1−δ) just keeps (ε, δ)."""
        epsilon, delta = self._pair
        if epsilon is not None:
            if delta == 1:
                raise InputError("a δ of 1 rules nothing out, whatever the noise")
            return laplace(epsilon=epsilon - 2 * math.log1p(-delta), **self._moves)
        if "mu" in self.claimed:
            return choose(
                laplace, "epsilon", at_most=float(self.claimed["mu"]), reading="psi", given=self._moves
            ).experiment
        if self._orders:
            return self._largest(lambda e: max(float(to_rdp(e, a)) - r for a, r in self._orders))
        if "xi" in self.claimed:
            raise InputError("the Laplace noise that just keeps a claim with ξ above 0 is not known")
        return self._largest(lambda e: to_zcdp(e) - self.claimed["rho"])

    def _largest(self, excess: Callable[[Experiment], float]) -> Experiment:
        """The Laplace noise of the largest ε that keeps a claim, found from the safe side."""

        def over(epsilon: float) -> float:
            return excess(laplace(epsilon=epsilon, **self._moves))

        if over(_MOST) <= 0:
            return laplace(epsilon=_MOST, **self._moves)
        if over(_LEAST) > 0:
            raise InputError(f"even Laplace noise of ε = {_LEAST:g} does not keep the claim")
        return laplace(epsilon=safe_boundary(over, _LEAST, _MOST), **self._moves)

    def _gaussian(self) -> Experiment:
        """D_a of Gaussian noise is a·ψ²/2 at every order."""
        epsilon, delta = self._pair
        if epsilon is not None:
            if not delta:
                raise InputError("no Gaussian noise keeps an ε without a δ")
            return gaussian(epsilon=epsilon, delta=delta, **self._moves)
        if "mu" in self.claimed:
            return gaussian(psi=self.claimed["mu"], **self._moves)
        if self._orders:
            if any(math.isinf(a) and math.isfinite(r) for a, r in self._orders):
                raise InputError("no Gaussian noise keeps a claim at every order: give a finite order")
            return gaussian(psi=min(math.sqrt(2 * r / a) for a, r in self._orders), **self._moves)
        return gaussian(psi=math.sqrt(2 * self.claimed["rho"]), **self._moves)

    def _trained(self) -> Experiment:
        """Every order of a sampled training tends to that of Gaussian noise with its ψ, so ρ is kept where ψ²/2 ≤ ρ."""
        given = {**(self.training or EXAMPLE), **self._moves}
        epsilon, delta = self._pair
        if epsilon is not None:
            if not delta:
                raise InputError("no training with Gaussian noise keeps an ε without a δ")
            return choose(dpsgd, "sigma", at_most=epsilon, reading="epsilon", delta=delta, given=given).experiment
        if self._orders:
            return self._trained_by_orders(given)
        most = self.claimed["mu"] if "mu" in self.claimed else math.sqrt(2 * self.claimed["rho"])
        return choose(dpsgd, "sigma", at_most=most, reading="psi", given=given).experiment

    def _trained_by_orders(self, given: Mapping[str, Any]) -> Experiment:
        if any(math.isinf(a) and math.isfinite(r) for a, r in self._orders):
            raise InputError("no training with Gaussian noise keeps a claim at every order: give a finite order")

        def over(sigma: float) -> float:
            e = dpsgd(sigma=sigma, **given)
            return max(float(to_rdp(e, a)) / r - 1 for a, r in self._orders)

        if over(_QUIETEST) > 0:
            raise InputError(f"even a training with σ = {_QUIETEST:g} does not keep the claim")
        if over(_LOUDEST) <= 0:
            return dpsgd(sigma=_LOUDEST, **given)
        return dpsgd(sigma=safe_boundary(over, _QUIETEST, _LOUDEST), **given)


def _case(noise: NoiseFamily, build: Callable[[], Experiment]) -> ClaimCase:
    try:
        return ClaimCase(noise, build())
    except EpsilensError as error:
        return ClaimCase(noise, None, str(error))


def _no_noise_suffices() -> Experiment:
    raise InputError("no noise is enough: only a release that tells nothing keeps the claim")


def claim(
    deployment: str | None = None,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: ArrayLike | None = None,
    xi: float = 0.0,
    order: ArrayLike | None = None,
    mu: float | None = None,
    neighbours: str = "add-remove",
    rate: float | None = None,
    steps: int | None = None,
    n: int | None = None,
    batch: int | None = None,
    epochs: float | None = None,
    batches: str | None = None,
    truncation: int | None = None,
    people: int | None = None,
) -> Claim:
    """What a claim means: ε and δ, ρ of zCDP, ρ at an ``order`` (RDP), μ of GDP, or a published ``deployment`` by name.

    The claim is an experiment: the riskiest release for which it is true. Its ``cases`` say how much less it means if
    the noise is known to be Laplace or Gaussian, or that of a training, which is described as for
    :func:`epsilens.dpsgd` by everything but σ: that is tuned so that the training just keeps the claim.

    Parameters
    ----------
    deployment : str, optional
        Name of a published deployment.
    epsilon : float, optional
        The ε claimed.
    delta : float, optional
        The δ claimed.
    rho : float or array_like, optional
        The ρ claimed, of zCDP or at each `order`.
    xi : float, default 0.0
        The ξ of (ξ, ρ)-zCDP.
    order : float or array_like, optional
        Rényi order or orders of `rho`.
    mu : float, optional
        The μ of Gaussian DP.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.
    rate : float, optional
        Of a training: probability that a record is in a batch.
    steps : int, optional
        Of a training.
    n : int, optional
        Of a training: how many people there are.
    batch : int, optional
        Of a training.
    epochs : float, optional
        Of a training.
    batches : str, optional
        Of a training: how batches are drawn.
    truncation : int, optional
        Of a training.
    people : int, optional
        Of a training: records that enter together.

    Returns
    -------
    Claim
        The riskiest release for which the claim is true: every reading is an upper bound.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> c = claim(epsilon=8.0, delta=1e-6, n=60_000, batch=256, epochs=15)
    >>> round(c.success(), 4), round(c.if_gaussian.success(), 3), round(c.if_training.success(), 2)
    (0.9997, 0.778, 0.69)
    >>> round(claim("apple emojis").success(), 3)  # ε = 4 without a δ: e⁴/(1+e⁴)
    0.982
    """
    given = {"epsilon": epsilon, "delta": delta, "rho": rho, "order": order, "mu": mu}
    said: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if checks.scalar("xi", xi):
        said["xi"] = xi
    known = None
    if deployment is not None:
        known, said = _deployment_claim(deployment, said)
    shape: dict[str, Any] = dict(
        zip(_TRAINING, (rate, steps, n, batch, epochs, batches, truncation, people), strict=True)
    )
    training = {name: value for name, value in shape.items() if value is not None}
    if training:
        trained = dpsgd(sigma=1.0, neighbours=neighbours, **training)  # refuses what is no training
        if trained.many:
            raise InputError("the training is many at once: give single numbers of it")
    worst = _worst_case(said, neighbours)
    kept = {name: checks.real(name, value, infinite=True).tolist() for name, value in said.items()}
    kept = {name: value for name, value in kept.items() if not (name == "delta" and value == 0)}
    own = {f.name: getattr(worst, f.name) for f in fields(worst)}
    if known is not None:
        own |= {"label": known.title, "notes": (*worst.notes, *_deployment_notes(known))}
    return Claim(**own, claimed=kept, training=training, deployment=known)


def _deployment_notes(known: Deployment) -> tuple[str, ...]:
    notes = [f"claimed: {known.claimed} ({known.variant}), from {SOURCE}"]
    if known.unit:
        notes.append(
            f"the claim is {known.unit.lower()}: that unit is what is told apart, and what one person adds in several "
            "of them adds up"
        )
    if known.model == "Local":
        notes.append("the local model: each person's own report is randomised, and each report adds to what is told")
    return tuple(notes)


def _deployment_claim(name: str, said: Mapping[str, object]) -> tuple[Deployment, dict[str, Any]]:
    if said:
        raise InputError(
            f"{next(iter(said))} is given beside a published deployment: give its name alone, or the numbers alone",
            next(iter(said)),
        )
    result = registered(name) if isinstance(name, str) else None
    if result is None:
        close = suggestion(name, [d.name for d in deployments()])
        raise InputError(
            f"there is no published deployment {str(name)[:40]!r}{close}: give words of one in the registry, such as "
            "census-redistricting, or the numbers that are claimed",
            "deployment",
            value=name,
        )
    if result.unread:
        raise InputError(
            f"{result.title} reports a δ that is no number, {result.unread}: give epsilon and delta", "delta"
        )
    if result.rho is not None:
        return result, {"rho": result.rho}
    return result, {"epsilon": result.epsilon, "delta": result.delta or 0.0}


def _worst_case(said: Mapping[str, Any], neighbours: str) -> Experiment:
    """The riskiest release that one kind of claim allows."""
    kinds = [name for name in ("epsilon", "rho", "mu") if name in said]
    if len(kinds) != 1:
        what = " and ".join(kinds) + " are given" if kinds else "nothing is claimed"
        raise InputError(f"{what}: give epsilon (and delta), or rho (with order for RDP), or mu")
    beside = {"epsilon": ("delta",), "rho": ("order", "xi"), "mu": ()}[kinds[0]]
    for name in said:
        if name not in (*kinds, *beside):
            raise InputError(f"{name} is given beside {kinds[0]}, with which it has no meaning", name)
    if "epsilon" in said:
        epsilon = checks.scalar("epsilon", said["epsilon"])
        return from_dp(epsilon, checks.scalar("delta", said.get("delta", 0.0)), neighbours=neighbours)
    if "mu" in said:
        return from_gdp(checks.scalar("mu", said["mu"]), neighbours=neighbours)
    if callable(said["rho"]):
        raise InputError("rho is a function: give a number, or one for each order", "rho")
    if "order" in said:
        if "xi" in said:
            raise InputError("xi is given beside order: ξ belongs to zCDP, which holds at every order", "xi")
        return from_rdp(said["order"], said["rho"], neighbours=neighbours)
    rho, xi = checks.scalar("rho", said["rho"]), checks.scalar("xi", said.get("xi", 0.0))
    return from_zcdp(rho, xi, neighbours=neighbours)
