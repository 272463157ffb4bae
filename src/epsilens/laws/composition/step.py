"""One release as a law of its privacy loss: what a composition needs to know of each of its parts.

A step is a pair (H1, H0) seen through its loss L = log dH1/dH0: atoms, and a continuous part on the line whose loss
grows with the observation x. Masses come as logarithms with relative precision in both tails; ``error`` bounds how far
a computed loss may lie from the true one, so that rounding can be carried into the bracket: Theorem C11 of
docs/proofs/composition.md.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, NamedTuple

import numpy as np

from ...checks import Array
from ...errors import InputError
from ...numerics.special import Complex
from ...numerics.values import ValueSemantics
from ...readings.law import FAR_ORDER, Exactness, Law
from ...worlds import Relation

ROUNDOFF = 2.0**-53  #: unit roundoff of doubles

#: (x, loss, log q) → log q·e^{aL}, and the size of what was rounded on the way.
Exponent = Callable[[Array, Array, Array], tuple[Array, Array]]


@dataclass(frozen=True, eq=False, repr=False)
class Atoms(ValueSemantics):
    """Masses exp(log_p) under H1 at the losses ``loss``; ``only1`` and ``only0`` lie at +∞ and −∞."""

    loss: Array
    log_p: Array
    only0: float = 0.0
    only1: float = 0.0


_NO_ATOMS = Atoms(np.zeros(0), np.zeros(0))


class Family(StrEnum):
    """Laws and steps that compose with their like in closed form, and those that do not."""

    NORMAL = "normal"
    LAPLACE = "laplace"
    FINITE = "finite"
    NONE = "none"


class NoiseKind(StrEnum):
    """Noise that others know by name."""

    NORMAL = "normal"
    LAPLACE = "laplace"


@dataclass(frozen=True)
class StepNoise:
    """What a step is, for those who build it again: noise of unit scale that a person moves by ``size``.

    ``rate`` is the probability of being drawn, None where everyone is; ``swapped`` says that H0 and H1 are exchanged.
    """

    kind: NoiseKind
    size: float
    rate: float | None = None
    neighbours: Relation = Relation.ADD_REMOVE
    swapped: bool = False


class TailSplit(NamedTuple):
    """H1 is H0 with probability 1 − ``drawn``, otherwise another law, with several ways to part the outcomes in two:
    its losses are at most ``cost`` in one part, and in the other no event exceeds Φ(Φ⁻¹(α) + ``shift``).
    """

    drawn: float
    cost: Array
    shift: Array


@dataclass(frozen=True, eq=False)
class TiltedLoss:
    """The loss of a step under a tilt, dP·e^{λL}/E e^{λL}.

    ``log_scale`` is K(λ) = log E e^{λL}; ``log_moment`` K(λ+s) − K(λ) for each s; ``transform`` E e^{inh(L − mean)} for
    n below a count; ``decay`` a bound on the size of the characteristic function that falls. ``kappa`` is the error of
    a loss, ``rho`` the relative error of a mass, both on average, ``rho_beside`` the latter under other tilts.
    """

    mean: float
    variance: float
    log_scale: float
    kappa: float
    rho: float
    rho_beside: float
    log_moment: Callable[[Array], Array]
    transform: Callable[[float, int], Complex]
    decay: Callable[[Array], Array]
    nodes: int = 1  # what a frequency costs
    uncut: bool = False  # whether nothing of the step was left out


class ClosedTilts(ABC):
    """The loss of a step under tilts, where it has a closed form."""

    @abstractmethod
    def cumulant(self, tilts: Array) -> Array:
        """K(λ)."""

    @abstractmethod
    def spread(self, tilts: Array) -> tuple[Array, Array]:
        """The mean and the variance of the loss under each tilt."""

    @abstractmethod
    def at(self, tilt: float) -> TiltedLoss | None:
        """The law under one tilt; None where that takes quadrature."""


class Step(ABC):
    """The privacy loss of one pair of laws: atoms, and a continuous part in which it grows with x.

    A new step derives from :class:`.quadrature.QuadratureStep`, which has its moments by quadrature, and says ten
    things: ``support``, ``loss``, ``slope``, ``inverse_loss``, ``log_p0``, ``roughness``, ``error``, ``above``,
    ``below`` and ``psi``. All else has a default: ``atoms``, ``knots`` and ``symmetric`` where it has any;
    ``cutoffs`` where its support has no end; what only makes an answer faster (``closed_tilts``, ``kl_bound``,
    ``cost``) or closer (moments in closed form, ``psi_limit``, ``tail_split``); what becomes of groups and samples; and
    what other packages are told (``noise``, ``as_law``, ``known``).
    """

    __slots__ = ()

    family: ClassVar[Family] = Family.NONE

    # -- the pair -------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def support(self) -> tuple[float, float] | None:
        """The ends of the continuous part in x, or None where there is none."""

    @property
    def atoms(self) -> Atoms:
        """The atoms."""
        return _NO_ATOMS

    @property
    def rho(self) -> float:
        """The relative error of the atoms' masses, beyond that of their logarithms."""
        return 0.0

    @property
    def knots(self) -> tuple[float, ...]:
        """Places inside the support where a density is not smooth."""
        return ()

    @property
    def loss_range(self) -> tuple[float, float]:
        """The infimum and the supremum of the loss."""
        assert self.support is not None
        low, high = self.loss(np.asarray(self.support)).tolist()
        return low, high

    @property
    def symmetric(self) -> bool:
        """Whether both orders have the same trade-off."""
        return False

    @abstractmethod
    def loss(self, x: Array) -> Array:
        """L(x), increasing."""

    @abstractmethod
    def slope(self, x: Array) -> Array:
        """dL/dx."""

    @abstractmethod
    def inverse_loss(self, loss: Array) -> Array:
        """The x of a loss; the end of the support where there is none."""

    @abstractmethod
    def log_p0(self, x: Array) -> Array:
        """Log density under H0; under H1 it is this plus the loss."""

    @abstractmethod
    def roughness(self, x: Array) -> Array:
        """A bound on how fast log densities, the loss and the logarithm of its slope change with x."""

    def singularity_rate(self, x: Array) -> Array:
        """The same without what is entire in x, such as a normal density: branch points are π over this away."""
        return self.roughness(x)

    @abstractmethod
    def error(self, x: Array) -> Array:
        """A bound on the rounding error of the loss at x, and of a loss whose place is x."""

    @abstractmethod
    def above(self, x: float) -> tuple[float, float]:
        """(log H1, log H0) mass of the continuous part above x."""

    @abstractmethod
    def below(self, x: float) -> tuple[float, float]:
        """(log H1, log H0) mass of the continuous part below x."""

    def cutoffs(self, log_top: float, log_bottom: float) -> tuple[float, float]:
        """(low, high): H1 has at most e^log_top above high, H0 at most e^log_bottom below low; all of a support that
        ends.
        """
        assert self.support is not None
        return self.support

    @property
    def cost(self) -> float:
        """The cost of evaluating one place, relative to the plainest step."""
        return 1.0

    # -- normal shifts --------------------------------------------------------------------------------------------

    @abstractmethod
    def psi(self) -> float:
        """An upper bound on the least μ with f ≥ G_μ; sampling does not raise it."""

    @property
    def psi_limit(self) -> float:
        """The limit of the gap Φ⁻¹(TPR) − Φ⁻¹(α) as α → 0, whatever else is observed."""
        return self.psi() if self.shift > 0 else 0.0

    @property
    def tail_split(self) -> TailSplit:
        """Of the order in which the loss has no end, or of both."""
        return TailSplit(1.0, np.asarray([-np.inf]), np.asarray([self.psi()]))

    def tail_gap_bracket(self, log_alpha: float, more: float, share: float) -> tuple[float, float]:
        """(low, high) of the largest gap where α ≤ e^log_alpha, in the order in which the loss has no end, if every
        TPR is e^more as large: low is of tests whose α is e^share as large, too.
        """
        return 0.0, math.inf

    @property
    def shift(self) -> float:
        """μ of the normal noise that rules its tails; 0 where there is none."""
        return 0.0

    @property
    def zcdp_rho(self) -> float:
        """ρ with D_a ≤ ρ·a at every order a > 1, in both orders: that of the normal noise which dominates, ψ²/2."""
        return self.psi() ** 2 / 2

    @property
    def claimed_zcdp(self) -> float:
        """ρ where the mechanism is ρ-zCDP although this law is not: both bounds hold for a product."""
        return math.inf

    # -- moments of the loss, which add up over a product ---------------------------------------------------------

    @abstractmethod
    def log_moment(self, power: float) -> float:
        """log ∫dH1^a dH0^{1−a}."""

    def moment_growth(self, power: float) -> tuple[float, float]:
        """Ends of log ∫dH1^a dH0^{1−a}/|a| at |a| > 1e100, where the moment itself may be no double.

        It is a Rényi divergence but for a share 1/|a|: it never falls with the order, and is at most the largest loss
        on this side and at most ρ·|a|.
        """
        if (self.atoms.only1 if power > 0 else self.atoms.only0) > 0:
            return math.inf, math.inf
        least = self.log_moment(math.copysign(FAR_ORDER, power)) / FAR_ORDER
        largest = self.loss_range[1] if power > 0 else -self.loss_range[0]
        most = min(largest, self.zcdp_rho * abs(power))
        return (min(least, most) if math.isfinite(least) else 0.0), most

    @property
    def moment_error(self) -> float:
        """Of a log moment or a divergence, relative."""
        return 1e-11

    def exponent(self, power: float) -> Exponent:
        """log q·e^{aL} to as many digits as it has itself: far out it may be a small difference of large numbers."""

        def plain(x: Array, loss: Array, log_q: Array) -> tuple[Array, Array]:
            steep = power * loss
            return log_q + steep, np.abs(log_q) + np.abs(steep)

        return plain

    @property
    def turning_points(self) -> tuple[float, ...]:
        """Places where the sampled component of a mixture outgrows the rest: quadrature looks more closely there."""
        return ()

    @abstractmethod
    def kl(self) -> float:
        """D(H0‖H1)."""

    @abstractmethod
    def reverse_kl(self) -> float:
        """D(H1‖H0)."""

    def kl_bound(self) -> float:
        """A bound on the divergence, in one order or the other, without quadrature; infinite where none is known."""
        return self.kl() * (1 + 1e-12) if self.support is None else math.inf  # of atoms alone it is a sum

    def chi_square(self) -> float:
        """A bound on χ²(H1‖H0); infinite where none is known."""
        return math.inf

    @property
    def closed_tilts(self) -> ClosedTilts | None:
        """The loss under a tilt in closed form; None where it takes quadrature."""
        return None

    # -- groups and samples ---------------------------------------------------------------------------------------

    @property
    def scales_by_group(self) -> bool:
        """Whether a group of people shifts it as one person does, only further: its law is then exact."""
        return False

    def group(self, size: int) -> Step:
        """The step for a group of people who enter or leave together."""
        raise unknown_group("such")

    def sampled_group(self, rate: float, size: int) -> Step | None:
        """What a sample of it shows of such a group, each drawn with probability ``rate``; None if that is not known.

        It is a sample itself: nobody may have been drawn.
        """
        return None

    @property
    def sampled(self) -> bool:
        """Whether it is Poisson sampling of another step."""
        return False

    # -- what it is made of, and what others are told -------------------------------------------------------------

    @property
    def components(self) -> tuple[tuple[Step, float], ...]:
        """Components of a labelled mixture with their probabilities; none otherwise."""
        return ()

    @property
    def factors(self) -> tuple[CountedStep, ...]:
        """Steps with their counts, where this step is their product as one list of atoms; none otherwise."""
        return ()

    @property
    def known(self) -> Exactness:
        """``EXACT``, or ``BOUND`` where the adversary is told what they would not see."""
        return Exactness.EXACT

    @property
    def noise(self) -> StepNoise | None:
        """The named noise of this step, for bridges to other libraries; None where there is none."""
        return None

    def as_law(self) -> Law | None:
        """The closed form of this step alone, where it has one."""
        return None


class Translation(ABC):
    """Noise that one person moves: a group moves the same noise further."""

    __slots__ = ()

    @abstractmethod
    def group(self, size: int) -> Step | None:
        """Moved so many times as far; None where that cannot be written down."""


#: A step, and how often it is taken.
CountedStep = tuple[Step, int]


def at_least_one(masses: Iterable[tuple[float, int]]) -> float:
    """1 − Π(1 − m)^k: the mass of at least one."""
    none = 0.0
    for mass, k in masses:
        if mass >= 1:
            return 1.0
        none += k * math.log1p(-mass)
    return -math.expm1(none) + 0.0  # not −0


def unknown_group(name: str) -> InputError:
    """That nothing is known of groups."""
    return InputError(f"a group of people has no bound here for a {name} step: use neighbours='add-remove'")


class Composable(Law):
    """A law that is a product of steps, and so can be part of a larger one."""

    __slots__ = ()

    family: ClassVar[Family] = Family.NONE

    @abstractmethod
    def steps(self) -> tuple[CountedStep, ...]:
        """The steps with their counts; none where nothing depends on the person."""

    def sharing(self, of: int) -> Composable:
        """The same, where a reading may cost one part of that many only; a closed form costs nothing."""
        return self
