"""Mechanisms with discrete or piecewise constant outputs, bare claims, and any two lists of probabilities.

Theorems D32, D40 and D50 of docs/proofs/dominating-pairs.md.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_expit

from .. import checks
from ..checks import Array
from ..errors import InputError
from ..experiment import Experiment
from ..laws.composition.step import Translation
from ..laws.discrete_noise import DiscreteNormal, Skellam
from ..laws.finite import Finite, FiniteStep
from ..laws.product import ProductFactor, product
from ..numerics.special import log_binomial
from ..readings.law import Exactness
from ..worlds import RECORD, Worlds, WorldsKind, parse_relation, worlds_of_relation
from .builders import vectorized, with_provenance
from .noise import exactly_one, privacy_loss_ratio

# Noise of which finitely many likelihood ratios are seen when it is moved: geometric, staircase, and differences.
#
# One person moves it by ``distance``; a group moves the same noise further, and that is again an exact pair of atoms.

MOST_ATOMS = 2_000_000
_MOST_STEPS = 2000  # of a staircase, between the two answers
_FINER = 64  # stretches of a tail within which its length grows e-fold
_LONGER = 2.6  # logarithm of how much longer the tail is looked at: masses down to e^−10,000


class _TranslatedNoise(Translation):
    known: ClassVar[Exactness] = Exactness.EXACT

    @property
    @abstractmethod
    def _enumerable(self) -> bool:
        """Whether its atoms can be written down."""

    @abstractmethod
    def atoms(self) -> tuple[Array, Array]:
        """(log H0-mass, loss)."""

    @abstractmethod
    def further(self, times: int) -> Self:
        """Moved so many times as far."""

    def law(self) -> Finite:
        return Finite(*self.atoms(), mirrored=True, translation=self, known=self.known)

    def group(self, size: int) -> FiniteStep | None:
        """Moved by everybody; None where that is too far to be written down."""
        moved = self.further(size)
        return FiniteStep(moved.law().atoms(), True, translation=moved) if moved._enumerable else None


@dataclass(frozen=True)
class Geometric(_TranslatedNoise):
    """P(k) ∝ e^{−rate·|k|}: beyond 0 and the distance the ratio is constant, so that d + 1 atoms are the pair."""

    rate: float
    distance: int

    @property
    def _enumerable(self) -> bool:
        return self.distance < MOST_ATOMS

    def atoms(self) -> tuple[Array, Array]:
        a, d = self.rate, self.distance
        if d == 0:
            return np.zeros(1), np.zeros(1)
        k = np.arange(d + 1.0)
        edge = -np.log1p(np.exp(-a))  # log 1/(1+q), the mass of a closed half line
        inner = np.log(-np.expm1(-a)) + edge - a * k
        return np.where(k == 0, edge, np.where(k == d, edge - a * d, inner)), a * (2 * k - d)

    def further(self, times: int) -> Self:
        return replace(self, distance=self.distance * times)


@dataclass(frozen=True)
class Staircase(_TranslatedNoise):
    """A density that falls by e^{−ε} each step of length 1, broken at a share γ of the step.

    Both densities are constant on common cells and repeat beyond 0 and the distance with factor e^{−ε} a step, so the
    geometric series is summed exactly.
    """

    epsilon: float
    gamma: Fraction  # a γ of 1e-150 would vanish beside 1 in the difference of two doubles
    distance: Fraction

    @property
    def _enumerable(self) -> bool:
        return self.distance <= _MOST_STEPS

    def atoms(self) -> tuple[Array, Array]:
        """A cell for each pair of heights, and one period beyond either end for all."""
        eps, part, d, g = self.epsilon, self.gamma, self.distance, float(self.gamma)
        ends = [sign * (step + off) for sign in (-1, 1) for step in range(math.ceil(d) + 2) for off in (0, part)]
        points = sorted({base + end for base in (0, d) for end in ends if -1 <= base + end <= d + 1})

        def level(x: Fraction) -> int:
            return math.floor(abs(x)) + (abs(x) - math.floor(abs(x)) >= part)

        log_height = math.log(-math.expm1(-eps)) - math.log(2 * (g + (1 - g) * math.exp(-eps)))
        atoms = []
        for left, right in pairwise(points):
            middle = Fraction(left + right) / 2
            series = 0.0 if 0 < middle < d else -math.log(-math.expm1(-eps))
            width = math.log(right - left)  # one rounding of a fraction
            atoms.append((log_height - eps * level(middle) + width + series, eps * (level(middle) - level(middle - d))))
        log_p0, llr = np.asarray(atoms, dtype=float).T
        return log_p0, llr

    def further(self, times: int) -> Self:
        return replace(self, distance=self.distance * times)


@dataclass(frozen=True)
class GeometricDifference(_TranslatedNoise):
    """The difference of two geometric noises, ``slow`` ≤ ``fast`` their rates.

    P(k) ∝ e^{−slow·|k|}·g(|k|): g is |k| + (1+q²)/(1−q²) for equal rates, otherwise 1 − r·e^{−(fast−slow)(|k|+1)}. The
    ratio nears slow·d far out and never reaches it. Beyond where masses are doubles, stretches of the tail count with
    the largest ratio of each, and all of the rest with the limit: the supremum is exact, and what moments gain at
    orders above 1e8 goes against the defender.
    """

    known: ClassVar[Exactness] = Exactness.ROUNDED

    slow: float
    fast: float
    distance: int

    @property
    def width(self) -> int:
        """Beyond, masses are no doubles."""
        return math.ceil(750 / self.slow)

    @property
    def _enumerable(self) -> bool:
        return 2 * self.width + self.distance <= MOST_ATOMS

    @property
    def equal(self) -> bool:
        """Whether the rates differ by rounding alone."""
        return self.fast - self.slow < 1e-9 * self.slow

    def _log_g(self, z: Array) -> Array:
        if self.equal:
            q = math.exp(-self.slow)
            return np.log(z + (1 + q * q) / -math.expm1(-2 * self.slow))
        ratio = math.expm1(-2 * self.slow) / math.expm1(-2 * self.fast)
        return np.log1p(-ratio * np.exp(-(self.fast - self.slow) * (z + 1)))

    def _llr(self, k: Array) -> Array:
        """log P(k − d)/P(k): what cancels is taken out, and at most its limit."""
        a, b = np.abs(k), np.abs(k - self.distance)
        return np.minimum(self.slow * (a - b) + (self._log_g(b) - self._log_g(a)), self.slow * self.distance)

    def atoms(self) -> tuple[Array, Array]:
        """Every whole number as far as masses are doubles, and the two tails in stretches."""
        d, width = self.distance, self.width
        if d == 0:
            return np.zeros(1), np.zeros(1)
        own = np.arange(-width, width + 1.0)
        mass = -self.slow * np.abs(own) + self._log_g(np.abs(own))
        norm = float(mass.max()) + math.log(np.exp(mass - mass.max()).sum())
        k = np.arange(-width, d + width + 1.0)
        log_p0, llr = -self.slow * np.abs(k) + self._log_g(np.abs(k)) - norm, self._llr(k)
        starts = np.floor((d + width + 1) * np.exp(np.arange(0.0, _LONGER, 1 / _FINER)))
        # P falls at least as fast as at the start of a stretch
        falls = -self.slow + self._log_g(starts + 1) - self._log_g(starts)
        tail = -self.slow * starts + self._log_g(starts) - np.log(-np.expm1(falls)) - norm
        most = np.append(self._llr(starts[1:]), self.slow * d)
        # the other tail is this one with the laws exchanged
        return np.concatenate((tail + most, log_p0, tail)), np.concatenate((-most, llr, most))

    def further(self, times: int) -> Self:
        return replace(self, distance=self.distance * times)


_VARIANCES = 1e-6, 4e8


def _whole_reach(sensitivity: object, shift: object) -> tuple[int, int]:
    most = checks.integer("sensitivity", sensitivity, low=1, high=MOST_ATOMS)
    moved = most if shift is None else checks.integer("shift", shift, low=0)
    if moved > most:
        raise InputError(
            f"shift is {moved}, more than the sensitivity {most}: "
            "one person cannot move the answer further, so raise the sensitivity or lower the shift",
            "shift",
        )
    return most, moved


def _epsilon(epsilon: object, *, zero: bool = False, most: float = 1e4) -> float:
    value = checks.scalar("epsilon", epsilon)
    if zero and value == 0:
        return 0.0
    return float(checks.in_range("epsilon", checks.positive("epsilon", value), 1e-15, most))


@vectorized("epsilon", "scale", "sensitivity", "shift")
def geometric(
    *,
    epsilon: ArrayLike | None = None,
    scale: ArrayLike | None = None,
    sensitivity: ArrayLike = 1,
    shift: ArrayLike | None = None,
    neighbours: str = "add-remove",
) -> Experiment:
    """Two-sided geometric (discrete Laplace) noise, P(k) ∝ e^{−ε|k|/sensitivity}, for whole-number answers.

    Beyond 0 and the shift d the likelihood ratio is constant, so d + 1 atoms describe the pair exactly.

    Parameters
    ----------
    epsilon : float or array_like, optional
        Privacy loss, from 1e-300 to 1e4; or give `scale`.
    scale : float or array_like, optional
        Scale of the noise, `sensitivity` over ε.
    sensitivity : int or array_like, default 1
        The most one person moves the answer, a whole number.
    shift : int or array_like, optional
        How far this person moves it; `sensitivity` unless given.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.

    Returns
    -------
    Experiment
        The pair of laws; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> geometric(epsilon=1.0).success()
    0.73105857863000...
    """
    most, d = _whole_reach(sensitivity, shift)
    if exactly_one(epsilon=epsilon, scale=scale) == "epsilon":
        eps = _epsilon(epsilon)
    else:
        noise = checks.positive("scale", checks.scalar("scale", scale))
        eps = float(privacy_loss_ratio("scale", np.asarray(float(most)), noise))
    neighbours = parse_relation(neighbours)
    parameters = {"epsilon": eps, "scale": most / eps, "sensitivity": most, "shift": d, "neighbours": neighbours.value}
    law = Geometric(eps / most, d).law()
    return Experiment(law, "geometric", parameters, worlds=worlds_of_relation(neighbours))


@vectorized("sigma", "sensitivity", "shift")
def discrete_gaussian(
    *, sigma: ArrayLike, sensitivity: ArrayLike = 1, shift: ArrayLike | None = None, neighbours: str = "add-remove"
) -> Experiment:
    """Discrete Gaussian noise, P(k) ∝ e^{−k²/2σ²} on the whole numbers (Canonne, Kamath & Steinke 2020).

    Atoms below 1e-325, the end of double precision, are left out of the curve; divergences of every order are in closed
    form, and the ratio is unbounded (no pure ε).

    Parameters
    ----------
    sigma : float or array_like
        Parameter σ > 0 of the noise.
    sensitivity : int or array_like, default 1
        The most one person moves the answer, a whole number.
    shift : int or array_like, optional
        How far this person moves it; `sensitivity` unless given.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.

    Returns
    -------
    Experiment
        The pair of laws; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> discrete_gaussian(sigma=1.0).renyi(128)  # order·shift²/2σ² at whole orders
    64.0
    """
    s = float(checks.positive("sigma", checks.scalar("sigma", sigma)))
    privacy_loss_ratio("sigma", np.asarray(1.0), np.asarray(s))
    most, d = _whole_reach(sensitivity, shift)
    reach = s * math.sqrt(2 * 750.0)
    if 2 * reach + d > MOST_ATOMS:
        raise InputError(
            f"sigma is {s:g}: at most {MOST_ATOMS / 80:g} can be enumerated, so use gaussian(sigma={s:g}), "
            "which is the same to double precision at this size",
            "sigma",
        )
    law = Finite.moved(DiscreteNormal(s), d)
    neighbours = parse_relation(neighbours)
    parameters = {"sigma": s, "sensitivity": most, "shift": d, "neighbours": neighbours.value}
    return Experiment(law, "discrete_gaussian", parameters, worlds=worlds_of_relation(neighbours))


@vectorized("variance", "sensitivity", "shift")
def skellam(
    *, variance: ArrayLike, sensitivity: ArrayLike = 1, shift: ArrayLike | None = None, neighbours: str = "add-remove"
) -> Experiment:
    """Skellam noise, the difference of two Poisson numbers: P(k) = e^{−v}·I_{|k|}(v), v its variance.

    For one whole-number answer. The ratio of P(k − shift) to P(k) grows with k, so that every optimal test is a
    threshold, a larger shift is riskier, and the sensitivity is the worst case: exact, and the same in both orders.
    The noise of several parties who each add their own adds up to Skellam noise (Agarwal, Kairouz & Liu 2021).

    Parameters
    ----------
    variance : float or array_like
        Variance > 0 of the noise.
    sensitivity : int or array_like, default 1
        The most one person moves the answer, a whole number.
    shift : int or array_like, optional
        How far this person moves it; `sensitivity` unless given.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.

    Returns
    -------
    Experiment
        The pair of laws; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> round(skellam(variance=100.0).epsilon(1e-6), 6)
    0.389458
    """
    v = float(checks.in_range("variance", checks.scalar("variance", variance), *_VARIANCES))
    most, d = _whole_reach(sensitivity, shift)
    noise = Skellam(v)
    if 2 * noise.reach + d > MOST_ATOMS:
        raise InputError(
            f"variance is {v:g} for a shift of {d}: at most {MOST_ATOMS:g} outcomes can be enumerated, "
            f"so use gaussian(sigma={math.sqrt(v):g}), which Skellam noise tends to",
            "variance",
        )
    neighbours = parse_relation(neighbours)
    parameters = {"variance": v, "sensitivity": most, "shift": d, "neighbours": neighbours.value}
    return Experiment(Finite.moved(noise, d), "skellam", parameters, worlds=worlds_of_relation(neighbours))


@vectorized("epsilon", "truth", "k")
def randomized_response(
    *, epsilon: ArrayLike | None = None, truth: ArrayLike | None = None, k: ArrayLike = 2
) -> Experiment:
    """Answer truthfully with probability e^ε/(e^ε + k − 1), otherwise any of the other k − 1 answers.

    Parameters
    ----------
    epsilon : float or array_like, optional
        Privacy loss; or give `truth`.
    truth : float or array_like, optional
        Probability of a true answer, above 1/k.
    k : int or array_like, default 2
        Possible answers, at least 2.

    Returns
    -------
    Experiment
        The pair of laws; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> round(randomized_response(epsilon=1.0).success(), 6)
    0.731059
    """
    answers = checks.integer("k", k, low=2)
    if exactly_one(epsilon=epsilon, truth=truth) == "epsilon":
        eps = _epsilon(epsilon)
    else:
        p = float(checks.probability("truth", checks.scalar("truth", truth), closed=False))
        if p <= 1 / answers:
            raise InputError(f"truth is {p:g}: give a probability above 1/k = {1 / answers:g}", "truth")
        eps = math.log(p) - math.log1p(-p) + math.log(answers - 1)
    honest = -np.log1p((answers - 1) * np.exp(-eps))
    log_p0, llr = [honest, honest - eps], [-eps, eps]
    if answers > 2:
        log_p0, llr = [*log_p0, honest - eps + math.log(answers - 2)], [*llr, 0.0]
    law = Finite(np.asarray(log_p0), np.asarray(llr), mirrored=True)
    parameters = {"epsilon": eps, "truth": float(np.exp(honest)), "k": answers}
    return Experiment(law, "randomized_response", parameters, worlds=RECORD)


@vectorized("epsilon", "sensitivity", "gamma", "shift")
def staircase(
    *,
    epsilon: ArrayLike,
    sensitivity: ArrayLike = 1.0,
    gamma: ArrayLike | None = None,
    shift: ArrayLike | None = None,
    neighbours: str = "add-remove",
) -> Experiment:
    """Staircase noise (Geng & Viswanath 2014): density falling by e^{−ε} each step, broken at a share γ of the step.

    γ defaults to 1/(1+e^{ε/2}), which minimises the mean absolute error. Exact.

    Parameters
    ----------
    epsilon : float or array_like
        Privacy loss ε, from 1e-300 to 1e4.
    sensitivity : float or array_like, default 1.0
        The most one person moves the answer, > 0, in the norm the noise is calibrated to.
    gamma : float or array_like, optional
        Where a step breaks, in (0, 1); 1/(1+e^{ε/2}) unless given.
    shift : float or array_like, optional
        How far this person moves it, at most `sensitivity`, which it is unless given.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.

    Returns
    -------
    Experiment
        The pair of laws; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.
    """
    eps, most = (
        _epsilon(epsilon, most=700.0),
        float(checks.positive("sensitivity", checks.scalar("sensitivity", sensitivity))),
    )
    moved = most if shift is None else float(checks.at_least("shift", checks.scalar("shift", shift), 0.0))
    if moved > most:
        raise InputError(f"shift is {moved:g}, more than the sensitivity {most:g}: raise the sensitivity", "shift")
    g = 1 / (1 + math.exp(eps / 2)) if gamma is None else checks.scalar("gamma", gamma)
    checks.probability("gamma", g)
    law = Staircase(eps, Fraction(g), Fraction(moved) / Fraction(most)).law()
    neighbours = parse_relation(neighbours)
    parameters = {"epsilon": eps, "sensitivity": most, "shift": moved, "gamma": g, "neighbours": neighbours.value}
    return Experiment(law, "staircase", parameters, worlds=worlds_of_relation(neighbours))


@vectorized("epsilon")
def pure(*, epsilon: ArrayLike, neighbours: str = "add-remove") -> Experiment:
    """The least private mechanism that is still ε-DP, for those who know only the claim: f = max(1−e^εα, e^{−ε}(1−α))₊.

    Its readings bound those of every ε-DP mechanism.

    Parameters
    ----------
    epsilon : float or array_like
        Privacy loss ε, from 1e-300 to 1e4.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.

    Returns
    -------
    Experiment
        The pair of laws; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> round(pure(epsilon=1.0).advantage(), 6)  # tanh(ε/2)
    0.462117
    """
    return approximate(epsilon=epsilon, delta=0.0, neighbours=neighbours)


@vectorized("epsilon", "delta")
def approximate(*, epsilon: ArrayLike, delta: ArrayLike, neighbours: str = "add-remove") -> Experiment:
    """The least private mechanism that is still (ε, δ)-DP.

    With probability δ it gives everything away, otherwise it is :func:`pure`. Its readings bound those of every
    (ε, δ)-DP mechanism.

    Parameters
    ----------
    epsilon : float or array_like
        Privacy loss ε, from 1e-300 to 1e4.
    delta : float or array_like
        Probability in [0, 1) that everything is given away.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.

    Returns
    -------
    Experiment
        The pair of laws; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.
    """
    eps = _epsilon(epsilon, zero=True)
    d = float(checks.probability("delta", checks.scalar("delta", delta)))
    neighbours = parse_relation(neighbours)
    parameters: dict[str, object] = {"epsilon": eps} | ({"delta": d} if d else {}) | {"neighbours": neighbours.value}
    name = "approximate" if d else "pure"
    worlds = worlds_of_relation(neighbours)
    if d == 1:
        return Experiment(Finite.claim(eps, d), name, parameters, worlds=worlds)
    notes = (
        f"the worst case of a claim, not a mechanism: every {'(ε, δ)' if d else 'ε'}-DP release is at most as risky",
    )
    return Experiment(Finite.claim(eps, d), name, parameters, notes=notes, worlds=worlds)


@with_provenance
def finite(p0: ArrayLike, p1: ArrayLike) -> Experiment:
    """Any two lists of probabilities over the same outcomes, H0 first.

    Parameters
    ----------
    p0 : array_like
        Probabilities of the outcomes under H0, summing to 1.
    p1 : array_like
        Of the same outcomes under H1.

    Returns
    -------
    Experiment
        The pair of laws; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> finite([0.75, 0.25], [0.25, 0.75]).epsilon()
    1.09861228866...
    """
    a, b = checks.probability("p0", p0), checks.probability("p1", p1)
    if a.ndim != 1 or a.shape != b.shape or a.size == 0:
        raise InputError(f"p0 and p1 have shapes {a.shape} and {b.shape}: give two lists of equal length")
    for name, p in (("p0", a), ("p1", b)):
        if abs(p.sum() - 1) > 1e-9:
            raise InputError(f"{name} sums to {p.sum():.12g}: give probabilities that sum to 1", name)
    law = Finite.of(a / a.sum(), b / b.sum())
    return Experiment(law, "finite", {"outcomes": int(a.size)}, worlds=Worlds(WorldsKind.OTHER))


# Protocols by which people randomise their own values before anyone sees them.
#
# Each compares two values of one person's record, the two that are easiest to tell apart, and is a finite pair: exact.
# Where a report tells the value only now and then (by a sampled coordinate, a set that both values share), what remains
# are three outcomes: for the first value, for the second, for neither; their losses are −ε, ε and 0.
#
# =======================  ==================================  ============================================
# protocol                 H0-mass of the outcome of loss −ε   advantage
# =======================  ==================================  ============================================
# unary, optimised         ½·e^ε/(e^ε+1)                       tanh(ε/2)/2
# unary, symmetric         (e^{ε/2}/(e^{ε/2}+1))²              tanh(ε/4)
# Hadamard response        ½·e^ε/(e^ε+1)                       tanh(ε/2)/2
# count-mean sketch        as symmetric unary                  tanh(ε/4)·(1 − collision)
# Hadamard count-mean      as Hadamard response                tanh(ε/2)/2·(1 − collision)
# =======================  ==================================  ============================================

KINDS = ("optimised", "symmetric")
_MOST_REPORTS, _MOST_HASHES = 100_000, 100


def _local_epsilon(epsilon: ArrayLike) -> float:
    return float(checks.in_range("epsilon", checks.scalar("epsilon", epsilon), 1e-15, 1e4))


def _half(eps: float, seen: float = 1.0) -> Finite:
    """Randomised response about half the time: half of the coordinates (or sets) are the same for both values."""
    return _three(math.log(seen / 2) + float(log_expit(eps)), math.log1p(-seen / 2), eps)


def _both_bits(eps: float, seen: float = 1.0) -> Finite:
    """Two bits, each by randomised response with ε/2: they agree, or speak for one of the values."""
    right, wrong = float(log_expit(eps / 2)), float(log_expit(-eps / 2))
    apart = math.log(seen) + math.log(2) + right + wrong
    neither = apart if seen == 1 else float(np.logaddexp(apart, math.log1p(-seen)))
    return _three(math.log(seen) + 2 * right, neither, eps)


def _three(log_first: float, log_neither: float, eps: float) -> Finite:
    return Finite(np.asarray([log_first, log_first - eps, log_neither]), np.asarray([-eps, eps, 0.0]), mirrored=True)


@vectorized("epsilon")
def unary(*, epsilon: ArrayLike, kind: str = "optimised") -> Experiment:
    """Unary encoding (Wang et al. 2017): one bit for each value, the own one set, every bit flipped at random.

    ``optimised`` keeps the set bit with probability ½ and sets others with 1/(e^ε+1), which is more accurate;
    ``symmetric`` flips every bit with probability 1/(e^{ε/2}+1). Only the bits of the two values differ.

    Parameters
    ----------
    epsilon : float or array_like
        Privacy loss ε, from 1e-300 to 1e4.
    kind : {"optimised", "symmetric"}, default 'optimised'
        Which bits are flipped how often.

    Returns
    -------
    Experiment
        The pair of laws; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> round(unary(epsilon=1.0).advantage(), 6), round(unary(epsilon=1.0, kind="symmetric").advantage(), 6)
    (0.231059, 0.244919)
    """
    eps, said = _local_epsilon(epsilon), checks.one_of("kind", kind, KINDS)
    law = _half(eps) if said == "optimised" else _both_bits(eps)
    return Experiment(law, "unary", {"epsilon": eps, "kind": said}, worlds=RECORD)


@vectorized("epsilon")
def hadamard_response(*, epsilon: ArrayLike) -> Experiment:
    """Hadamard response (Acharya, Sun & Zhang 2019): a random column in which the row of the own value has a 1.

    With probability e^ε/(e^ε+1) the column is one of the half with a 1, else one of the other half. The rows of two
    values agree in half of all columns, and these say nothing.

    Parameters
    ----------
    epsilon : float or array_like
        Privacy loss ε, from 1e-300 to 1e4.

    Returns
    -------
    Experiment
        The pair of laws; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> round(hadamard_response(epsilon=1.0).advantage(), 6)
    0.231059
    """
    eps = _local_epsilon(epsilon)
    return Experiment(_half(eps), "hadamard_response", {"epsilon": eps}, worlds=RECORD)


@vectorized("epsilon", "collision")
def count_mean_sketch(*, epsilon: ArrayLike, collision: ArrayLike = 0.0, hadamard: bool = False) -> Experiment:
    """Apple's count-mean sketch (2017): a hashed value in unary, every bit flipped with probability 1/(e^{ε/2}+1).

    The hash function is drawn at random and told with the report. ``collision`` is the share of the functions that map
    both values to the same place, where nothing is learned; none unless you know better. With ``hadamard`` one random
    coordinate of the Hadamard transform is reported instead, flipped with probability 1/(e^ε+1).

    Parameters
    ----------
    epsilon : float or array_like
        Privacy loss ε, from 1e-300 to 1e4.
    collision : float or array_like, default 0.0
        Share in [0, 1) of hash functions that map both values to one place.
    hadamard : bool, default False
        Report one coordinate of the Hadamard transform.

    Returns
    -------
    Experiment
        The pair of laws; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> round(count_mean_sketch(epsilon=4.0).advantage(), 6)
    0.761594
    >>> round(count_mean_sketch(epsilon=4.0, hadamard=True).advantage(), 6)
    0.482014
    """
    eps, same = _local_epsilon(epsilon), float(checks.probability("collision", checks.scalar("collision", collision)))
    if not isinstance(hadamard, bool | np.bool_):
        raise InputError(f"hadamard is {hadamard!r:.40}: give True or False", "hadamard", value=hadamard)
    if same == 1:
        law = Finite(np.zeros(1), np.zeros(1), mirrored=True)
    else:
        law = _half(eps, 1 - same) if hadamard else _both_bits(eps, 1 - same)
    parameters = {"epsilon": eps, "collision": same, "hadamard": bool(hadamard)}
    return Experiment(law, "count_mean_sketch", parameters, worlds=RECORD)


@vectorized("f", "p", "q", "h", "reports")
def rappor(
    *, f: ArrayLike, p: ArrayLike = 0.5, q: ArrayLike = 0.75, h: ArrayLike = 2, reports: ArrayLike | None = 1
) -> Experiment:
    """RAPPOR (Erlingsson, Pihur & Korolova 2014): a Bloom filter of h bits, randomised for good and at each report.

    The permanent bit is the true one with probability 1 − f, otherwise a fair coin; each report shows it as 1 with
    probability q if it is 1 and p if it is 0. ``reports`` are all made from the same permanent bits; infinite (or None)
    is the limit of many, the permanent bits themselves; repeated or composed, each has permanent bits of its own. The
    two values set h different bits each, so 2h bits differ: for N reports the ones in a bit are (1−f/2)·Bin(N, q) +
    (f/2)·Bin(N, p) where the value sets it.

    Parameters
    ----------
    f : float or array_like
        How often a permanent bit is a coin, in (0, 1].
    p : float or array_like, default 0.5
        Chance that a permanent 0 is reported as 1.
    q : float or array_like, default 0.75
        Chance that a permanent 1 is reported as 1.
    h : int or array_like, default 2
        Bits that a value sets.
    reports : int or array_like, optional
        Reports from one permanent answer; None is the limit of many.

    Returns
    -------
    Experiment
        The pair of laws; exact.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> round(rappor(f=0.5).epsilon(), 6), round(rappor(f=0.5, reports=None).epsilon(), 6)
    (1.074286, 4.394449)
    """
    share = float(checks.probability("f", checks.scalar("f", f)))
    zero, one = (float(checks.probability(name, checks.scalar(name, value))) for name, value in (("p", p), ("q", q)))
    bits = checks.integer("h", h, low=1, high=_MOST_HASHES)
    for_good = reports is None or (isinstance(reports, float) and reports == math.inf)
    result = 1 if for_good else checks.integer("reports", reports, low=1, high=_MOST_REPORTS)
    parameters = {"f": share, "p": zero, "q": one, "h": bits, "reports": math.inf if for_good else result}
    bit = _bit(share, 0.0, 1.0, 1) if for_good else _bit(share, zero, one, result)
    both = product([ProductFactor(bit, bits, "a bit"), ProductFactor(bit.reverse(), bits, "a bit")])
    return Experiment(both.law, "rappor", parameters, notes=(both.note,), worlds=RECORD)


def _bit(f: float, p: float, q: float, reports: int) -> Finite:
    """The number of ones in a bit that is set under H0 and not under H1."""
    if f == 1 or p == q:
        return Finite(np.zeros(1), np.zeros(1), mirrored=True)
    s = np.arange(reports + 1.0)
    one, zero = _count(reports, s, q), _count(reports, s, p)
    keep, coin = math.log1p(-f / 2), math.log(f) - math.log(2.0) if f else -math.inf
    log_p0, log_p1 = np.logaddexp(keep + one, coin + zero), np.logaddexp(coin + one, keep + zero)
    both = (log_p0 > -np.inf) & (log_p1 > -np.inf)
    only0, only1 = (float(np.sum(np.exp(own[~both]))) for own in (log_p0, log_p1))
    return Finite(log_p0[both], (log_p1 - log_p0)[both], only0, only1)


def _count(reports: int, s: Array, p: float) -> Array:
    """log P(s ones) with probability p each, certain outcomes too."""
    if p in (0.0, 1.0):
        return np.where(s == p * reports, 0.0, -np.inf)
    return log_binomial(float(reports), s, p)
