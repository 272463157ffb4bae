"""A claim to be judged: the riskiest release it allows, and what it means if more is known of the noise.

A claim alone says little: (8, 10⁻⁶)-DP allows a release from which an adversary guesses nearly always right, and also
holds for Gaussian noise from which they guess right 78 times of 100. Each case here is the noise of one kind that just
keeps the claim: any other of that kind for which the claim is true has more noise, and is at most as risky.
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
from ..errors import EpsilensError, InputError, NoSolutionError, suggestion
from ..experiment import Experiment
from ..numerics.roots import safe_boundary
from ..numerics.values import FrozenMapping
from .claims import from_dp, from_gdp, from_rdp, from_zcdp, to_rdp, to_zcdp
from .noise import gaussian, laplace
from .training import dpsgd

#: The training taken where (ε, δ) is claimed and no other is given.
EXAMPLE: Mapping[str, int] = FrozenMapping({"n": 60_000, "batch": 256, "epochs": 15})
_TRAINING = ("rate", "steps", "n", "batch", "epochs", "batches", "truncation", "people")
_LEAST, _MOST = 1e-12, 1e4  # ε of Laplace noise
_NOTHING = 1e-200  # an advantage no noise is needed for
_QUIETEST, _LOUDEST = 1e9, 0.02  # σ of a training
_TRAINED = 20.0  # the largest ε for which a training is taken as an example


class Noise(StrEnum):
    """What is known of the noise."""

    ANY = "any"
    LAPLACE = "laplace"
    GAUSSIAN = "gaussian"
    TRAINING = "training"


@dataclass(frozen=True)
class Case:
    """What a claim means for one kind of noise; without an ``experiment``, ``why`` says what keeps it from the claim.

    ``example`` marks a training that nobody named.
    """

    noise: Noise
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
    def cases(self) -> tuple[Case, ...]:
        """What the claim means by what is known of the noise, from nothing to the whole training."""
        build = {Noise.LAPLACE: self._laplace, Noise.GAUSSIAN: self._gaussian}
        if self.training or self._exemplary:
            build[Noise.TRAINING] = self._trained
        nothing = float(self.advantage()) < _NOTHING
        made = [_case(noise, _nothing if nothing else make) for noise, make in build.items()]
        if self.training or not self._exemplary:
            return Case(Noise.ANY, self.worst), *made
        return Case(Noise.ANY, self.worst), *made[:-1], replace(made[-1], example=True)

    @property
    def _exemplary(self) -> bool:
        """Whether a training nobody named tells something: of (ε, δ), as trainings are claimed."""
        epsilon, delta = self._pair
        return epsilon is not None and 0 < epsilon <= _TRAINED and 0 < delta < 1 and self.deployment is None

    @property
    def if_laplace(self) -> Experiment:
        """One answer with Laplace noise that just keeps the claim."""
        return self._known(Noise.LAPLACE)

    @property
    def if_gaussian(self) -> Experiment:
        """Gaussian noise that just keeps the claim.

        >>> round(claim(epsilon=8.0, delta=1e-6).if_gaussian.success(), 6)  # Φ(μ/2) with σ of Balle and Wang 2018
        0.778094
        """
        return self._known(Noise.GAUSSIAN)

    @property
    def if_training(self) -> Experiment:
        """DP-SGD whose noise is tuned so that it just keeps the claim."""
        return self._known(Noise.TRAINING)

    def _known(self, noise: Noise) -> Experiment:
        found = next((case for case in self.cases if case.noise is noise), None)
        if found is None:
            raise InputError(
                "no training is known: give its size to claim, such as n=60000, batch=256, epochs=15", parameter="n"
            )
        if found.experiment is None:
            raise NoSolutionError(found.why, floor=math.inf)
        return found.experiment

    def __repr__(self) -> str:
        if self.deployment is not None:
            return f"claim({self.deployment.name!r})"
        told = {**self.claimed, **self.training}
        return f"claim({', '.join(f'{name}={value!r}' for name, value in told.items())})"

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


def _case(noise: Noise, build: Callable[[], Experiment]) -> Case:
    try:
        return Case(noise, build())
    except EpsilensError as error:
        return Case(noise, None, str(error))


def _nothing() -> Experiment:
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
        known, said = _registered(deployment, said)
    shape: dict[str, Any] = dict(
        zip(_TRAINING, (rate, steps, n, batch, epochs, batches, truncation, people), strict=True)
    )
    training = {name: value for name, value in shape.items() if value is not None}
    if training:
        trained = dpsgd(sigma=1.0, neighbours=neighbours, **training)  # refuses what is no training
        if trained.many:
            raise InputError("the training is many at once: give single numbers of it")
    worst = _worst(said, neighbours)
    kept = {name: value for name, value in _numbers(said).items() if not (name == "delta" and value == 0)}
    own = {f.name: getattr(worst, f.name) for f in fields(worst)}
    if known is not None:
        own |= {"label": known.title, "notes": (*worst.notes, *_told_of(known))}
    return Claim(**own, claimed=kept, training=training, deployment=known)


def _told_of(known: Deployment) -> tuple[str, ...]:
    """What a number alone does not say of a published deployment."""
    notes = [f"claimed: {known.claimed} ({known.variant}), from {SOURCE}"]
    if known.unit:
        notes.append(
            f"the claim is {known.unit.lower()}: that unit is what is told apart, and what one person adds in several "
            "of them adds up"
        )
    if known.model == "Local":
        notes.append("the local model: each person's own report is randomised, and each report adds to what is told")
    return tuple(notes)


def _registered(name: str, said: Mapping[str, Any]) -> tuple[Deployment, dict[str, Any]]:
    if said:
        raise InputError(
            f"{next(iter(said))} is given beside a published deployment: give its name alone, or the numbers alone",
            parameter=next(iter(said)),
        )
    found = registered(name) if isinstance(name, str) else None
    if found is None:
        close = suggestion(name, [d.name for d in deployments()])
        raise InputError(
            f"there is no published deployment {str(name)[:40]!r}{close}: give words of one in the registry, such as "
            "census-redistricting, or the numbers that are claimed",
            parameter="deployment",
            value=name,
        )
    if found.unread:
        raise InputError(
            f"{found.title} reports a δ that is no number, {found.unread}: give epsilon and delta", parameter="delta"
        )
    if found.rho is not None:
        return found, {"rho": found.rho}
    return found, {"epsilon": found.epsilon, "delta": found.delta or 0.0}


def _numbers(said: Mapping[str, Any]) -> dict[str, Any]:
    """As they go into JSON."""
    return {name: checks.real(name, value, infinite=True).tolist() for name, value in said.items()}


def _worst(said: Mapping[str, Any], neighbours: str) -> Experiment:
    """The riskiest release that one kind of claim allows."""
    kinds = [name for name in ("epsilon", "rho", "mu") if name in said]
    if len(kinds) != 1:
        what = " and ".join(kinds) + " are given" if kinds else "nothing is claimed"
        raise InputError(f"{what}: give epsilon (and delta), or rho (with order for RDP), or mu")
    beside = {"epsilon": ("delta",), "rho": ("order", "xi"), "mu": ()}[kinds[0]]
    for name in said:
        if name not in (*kinds, *beside):
            raise InputError(f"{name} is given beside {kinds[0]}, with which it has no meaning", parameter=name)
    if "epsilon" in said:
        epsilon = checks.scalar("epsilon", said["epsilon"])
        return from_dp(epsilon, checks.scalar("delta", said.get("delta", 0.0)), neighbours=neighbours)
    if "mu" in said:
        return from_gdp(checks.scalar("mu", said["mu"]), neighbours=neighbours)
    if callable(said["rho"]):
        raise InputError("rho is a function: give a number, or one for each order", parameter="rho")
    if "order" in said:
        if "xi" in said:
            raise InputError("xi is given beside order: ξ belongs to zCDP, which holds at every order", parameter="xi")
        return from_rdp(said["order"], said["rho"], neighbours=neighbours)
    rho, xi = checks.scalar("rho", said["rho"]), checks.scalar("xi", said.get("xi", 0.0))
    return from_zcdp(rho, xi, neighbours=neighbours)
