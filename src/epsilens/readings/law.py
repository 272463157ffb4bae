"""What every representation of the two laws offers, and all that the readings ask of it.

H0 is the law of the observation if the person is absent (or has the first value, or nobody tampered), H1 if
they are present. Write ``llr`` for log dH1/dH0. The trade-off is T(H0, H1): α is the false-positive rate of a
test of H0, 1 − f(α) its recall (Lemma D1). Arguments are float64 arrays, already checked; results broadcast.

Many laws at once are an array (:class:`LawArray`): each is read alone, and the answers stand where the laws do.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, ClassVar, NoReturn, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..checks import Array
from ..errors import InputError
from ..numerics.special import Mask
from ..numerics.values import ValueSemantics
from .gdp import mu_by_lines, mu_by_tests

FAR_ORDER = 1e100  # of a moment: the square of one not much larger is no double


class Exactness(StrEnum):
    """How well a law's readings are known: what a caller may conclude from one."""

    EXACT = "exact"  # closed form
    ROUNDED = "rounded"  # exact but for a stated rounding, which goes against the defender
    BRACKET = "bracket"  # between two proven ends: the riskier is the reading, ``other_side`` has the other
    BOUND = "bound"  # from above only: what it stands for may be anything down to no risk at all


class Law(ValueSemantics, ABC):
    """A pair of laws of one observation. Equal laws have equal content; every law hashes and pickles."""

    __slots__ = ()

    known: Exactness
    #: Whether the largest loss is a number that the law was given, not one it computed.
    loss_given: ClassVar[bool] = False
    #: Relative rounding of the masses, stated, and added to what the adversary reaches.
    error: ClassVar[float] = 0.0

    @property
    def direction(self) -> str:
        """``exact`` for closed forms; ``upper`` where what is not exact is rounded against the defender."""
        return "exact" if self.known is Exactness.EXACT else "upper"

    @property
    def pointwise(self) -> bool:
        """Whether each point of the curve is attained, and no pair has all of them: what adds it up is a bound."""
        return False

    @property
    def members(self) -> tuple[tuple[Law, ...], tuple[int, ...]] | None:
        """Where this is many laws at once that are read one after the other: these, and their shape."""
        return None

    def as_bound(self) -> Self:
        """The same pair where it only stands for something no riskier."""
        it: Any = self
        return self if self.known is Exactness.BOUND else replace(it, known=Exactness.BOUND)

    def misplaced(self, share: Array) -> Array | float:
        """The mass that a place rounded to a double may miss, at most, where a test has this share."""
        return 0.0

    # -- brackets: closed forms have one side ----------------------------------------------------------------------

    def other_side(self) -> Law:
        """The same law from the other end of its bracket."""
        return self

    @property
    def attained(self) -> Law | None:
        """Of a bound: a pair no riskier than what it stands for; None where nothing is known from below."""
        return None

    @property
    def carried(self) -> float:
        """What a closed form loses beside the logarithms of its arguments and its value, in units like theirs."""
        return 0.0

    @property
    def width(self) -> float:
        """The relative width asked of a bracket, at which each reading is a computation of its own; 0 for none."""
        return 0.0

    def with_width(self, width: float) -> Law:
        """The same law, to be read to another relative width."""
        return self

    @property
    def reached(self) -> bool:
        """Whether every answer so far is as narrow as asked for."""
        return True

    def seen(self, low: Array, high: Array) -> None:
        """Remember a bracket that leaves here, for ``reached``; closed forms have none."""
        return

    # -- the pair -------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def symmetric(self) -> bool:
        """Whether T(H0, H1) = T(H1, H0), so that one order serves both."""

    @property
    def only1(self) -> float:
        """The H1-mass of what H0 never shows, where it is known apart."""
        return 0.0

    @abstractmethod
    def reverse(self) -> Law:
        """The same pair in the other order."""

    @abstractmethod
    def tradeoff(self, alpha: Array) -> Array:
        """f(α), the least type-II error at type-I error α."""

    @abstractmethod
    def roc(self, alpha: Array) -> Array:
        """1 − f(α), with relative precision where it is small."""

    @abstractmethod
    def inverse_roc(self, recall: Array) -> Array:
        """The least α at which the recall is reached."""

    @abstractmethod
    def at(self, log_threshold: Array) -> tuple[Array, Array]:
        """(α, recall) of the test that rejects H0 where llr > log_threshold."""

    @abstractmethod
    def profile(self, log_threshold: Array) -> Array:
        """h(t) = ∫(dH1 − t·dH0)₊ at t = exp(log_threshold); δ(ε) in this order is h(e^ε)."""

    @abstractmethod
    def profile_inverse(self, delta: Array) -> Array:
        """The least ε ≥ 0 with h(e^ε) ≤ δ; infinite where there is none."""

    @abstractmethod
    def max_llr(self) -> Array:
        """The supremum of llr; infinite where H1 can show what H0 never does."""

    @abstractmethod
    def log_moment(self, a: Array) -> Array:
        """log ∫ dH1^a dH0^{1−a}, for any real a; +∞ where it diverges."""

    def far_renyi(self, order: Array) -> Array:
        """D_a(H0‖H1) at orders from 1e100 on: where the moment is no double, the largest loss, which it tends to."""
        with np.errstate(over="ignore", invalid="ignore"):
            value = self.log_moment(1 - order) / (order - 1)
        return np.asarray(np.where(np.isfinite(value), value, self.reverse().max_llr()))

    @abstractmethod
    def kl(self) -> Array:
        """D(H0‖H1) in nats."""

    @abstractmethod
    def auc(self) -> Array:
        """Area under the optimal ROC curve."""

    @abstractmethod
    def psi(self) -> Array:
        """The least μ such that f ≥ G_μ, the trade-off of N(0,1) against N(μ,1)."""

    def practical(self, level: float) -> Array:
        """ψ over the tests whose errors both are at least ``level`` > 0 (:mod:`.practical`)."""
        if self.direction == "lower":
            return np.asarray(mu_by_tests(self, level))
        return np.asarray(mu_by_lines(self, level))

    @abstractmethod
    def fbeta(self, beta: Array, odds: Array) -> Array:
        """The largest Fβ over all tests, with odds = P(H0)/P(H1)."""

    def normal_size(self) -> float:
        """About the μ of the normal shift with the same divergences, μ² = D(H0‖H1) + D(H1‖H0): for first guesses."""
        both = float(self.kl()) + float(self.reverse().kl())
        return math.sqrt(both) if math.isfinite(both) else math.inf

    # -- both orders, which differential privacy quantifies over --------------------------------------------------

    def worse_delta(self, epsilon: Array) -> Array:
        """h(e^ε) in the worse order."""
        forward = self.profile(epsilon)
        return forward if self.symmetric else np.maximum(forward, self.reverse().profile(epsilon))

    def worse_epsilon(self, delta: Array) -> Array:
        """The least ε that holds in both orders. It rounds up: δ read again at it is never above the δ asked for."""
        forward = self.profile_inverse(delta)
        value = forward if self.symmetric else np.maximum(forward, self.reverse().profile_inverse(delta))
        for k in range(48):  # by ulps, doubling; where δ hardly depends on ε it takes larger steps
            finite = np.isfinite(value)
            over = finite & (self.worse_delta(np.where(finite, value, 0.0)) > delta)
            if not over.any():
                break
            value = np.where(over, value * (1 + 2.0 ** (k - 52)) + (2.0 ** (k - 80) if k > 15 else 0.0), value)
        return np.asarray(value)


# The ends of a reading in closed form.
#
# A closed form works in logarithms, so its relative error is some half digits in the last place for each unit of
# |log value| + Σ |log argument|. Where a curve bends sharply, and where it is inverted, the argument is moved too.

_UNIT = 2.0**-53
_UNITS = 8.0  # for each unit of the logarithms: arithmetic of 60 digits finds at most 5 (tests/readings/test_ends.py)
_STEPS = 4.0  # of an argument
_LEAST = 1e-320  # an absolute error, where doubles have few digits
_DEEPEST = 745.0  # the logarithm of the smallest double
_SEARCHED = 1e-9, 1e-12  # relative and absolute, of what a search finds from above
_SERIES = 5e-4  # a difference of probits below is a series without cancellation

_SHARES = frozenset(
    ("success", "advantage", "auc", "fbeta", "posterior", "precision", "recall", "roc", "attack_success", "delta")
)
#: The argument in which a reading falls, however steeply.
_FALLS_IN = {"tradeoff": "fpr", "precision": "recall", "delta": "epsilon", "epsilon": "delta", "mu": "level"}


def uninformed(floor: Callable[..., float], arguments: Mapping[str, Array], *, rises: bool = True) -> Array:
    """What a reading is without any release, rounded to the safe side where it is not known to be a double."""
    value = np.asarray(np.vectorize(floor, otypes=[float])(**arguments) if arguments else floor())
    exact = np.isin(value, (0.0, 0.5))
    for x in arguments.values():
        exact = exact | (value == x) | ((value == 1 - x) & ((x >= 0.5) | (1 - value == x)))
    return np.asarray(np.where(exact, value, value * (1 - _STEPS * _UNIT if rises else 1 + _STEPS * _UNIT)))


def ends(
    law: Law,
    reading: str,
    arguments: Mapping[str, Array],
    value: Array,
    read: Callable[..., Array],
    floor: Callable[..., float],
    loose: bool,
    loss: object,
) -> tuple[Array, Array]:
    """(low, high) between which a reading lies whose ``value`` is ``read(law, **arguments)``, and the law's other side.

    ``floor`` is the reading without any release, and the lower end of a ``loose`` law, a bound; ``loss`` the largest
    loss, where it was given. Proven ends stay as they are; those in closed form are rounded outward.
    """
    low, high = _closed_ends(law, reading, arguments, value, read, loss)
    far = law.other_side() if law.known is Exactness.BRACKET else law.attained
    if far is not None:
        other = _closed_ends(far, reading, arguments, read(far, **arguments), read, loss)
        low, high = np.minimum(low, other[0]), np.maximum(high, other[1])
    if law.width and not loose:
        return low, high
    least = uninformed(floor, arguments, rises=reading != "tradeoff")
    nothing = (np.maximum(law.max_llr(), law.reverse().max_llr()) == 0) & (value == least)
    low, high = np.where(nothing, value, low), np.where(nothing, value, high)
    if reading == "tradeoff":
        return low, np.maximum(value, np.minimum(least, 1.0 if loose and far is None else high))
    low = least if loose and far is None else np.maximum(low, least)
    return np.minimum(value, low), np.minimum(high, 1.0) if reading in _SHARES else high


def _closed_ends(
    law: Law, reading: str, arguments: Mapping[str, Array], value: Array, read: Callable[..., Array], loss: object
) -> tuple[Array, Array]:
    """(low, high) of one side of a law, by what its doubles may be off; twice its value where the law proves it.

    Equal where the value is known exactly: 0, 1 and infinity at an end of the arguments or of the largest loss, and
    the largest loss itself where it is given.
    """
    if law.width:
        return value, value
    size = 1 + law.carried + sum(_size(name, x) for name, x in arguments.items())
    with np.errstate(invalid="ignore"):
        slack = _UNITS * _UNIT * (size + _size(reading, value)) + _STEPS * law.error
    low = high = value
    if (name := _FALLS_IN.get(reading, "")) in arguments:
        by = _STEPS * _UNIT if name == "epsilon" else slack if name == "delta" else _UNITS * _UNIT * (1 + law.carried)
        down, up = (dict(arguments) | {name: moved} for moved in _moved(law, name, arguments[name], np.asarray(by)))
        low, high = np.minimum(read(law, **up), value), np.maximum(read(law, **down), value)
    if reading == "epsilon":
        low, high = _inverse_ends(law, low, high, value, arguments["delta"], slack)
        slack = np.asarray(_UNITS * _UNIT * (1 + law.carried))
    less: Array | float = _LEAST
    if reading in ("psi", "mu"):
        slack = slack + _probit_slack(law, arguments.get("level", np.zeros(())), value)
        if type(law).practical is Law.practical:
            less = np.where(np.isfinite(value), value, 0.0) * _SEARCHED[0] + _SEARCHED[1]
    elif reading in ("advantage", "delta"):
        less = _LEAST + _mass_doubt(law, arguments.get("epsilon", np.zeros(())))
    elif reading == "success":
        prior = np.clip(arguments["prior"], 1e-300, 1 - _UNIT)
        less = _LEAST + prior * _mass_doubt(law, np.log1p(-prior) - np.log(prior))
    moved: Array | float = 0.0
    for share in (arguments[name] for name in ("fpr", "recall", "baseline") if name in arguments):
        moved = 2 * law.misplaced(share) * (value / np.maximum(share, _LEAST) if reading == "precision" else 1.0)
    exact = _known_exactly(law, reading, arguments, value, loss)
    with np.errstate(invalid="ignore", over="ignore"):
        low = np.maximum(low * (1 - slack) - less - moved, 0.0)
        high = high * (1 + slack) + (moved if reading == "tradeoff" else 0.0) + _LEAST
    return np.where(exact, value, low), np.where(exact, value, high)


def _size(name: str, x: Array) -> Array:
    """By how much a number enlarges the logarithms of a closed form."""
    with np.errstate(divide="ignore"):
        size = np.minimum(np.abs(np.log(x)), _DEEPEST)
    return np.asarray(np.where(np.isfinite(x), x, 0.0) if name == "epsilon" else size)


def _moved(law: Law, name: str, x: Array, by: Array) -> tuple[Array, Array]:
    """The argument moved down and up, within its range; a share near 1 is known by what it lacks."""
    if name not in ("epsilon", "delta"):
        by = np.where(x > 0.5, by if name == "recall" and law.carried else 0.0, by)
    return x * (1 - by), x * (1 + by) if name == "epsilon" else np.minimum(x * (1 + by), 1.0)


def _probit_slack(law: Law, level: Array, value: Array) -> Array | float:
    """What two probits lose by subtraction, where their difference is not a series."""
    z = np.maximum(np.sqrt(2 * _size("level", level)), 1.6)
    with np.errstate(divide="ignore"):
        lost = np.where((value * z > _SERIES) & np.isfinite(value), _UNITS * _UNIT * z / value, 0.0)
    return lost if law.carried else 0.0


def _mass_doubt(law: Law, u: Array) -> Array | float:
    """What a profile at e^u may be above the truth in either order, by the stated rounding of its two masses."""
    if not law.error:
        return 0.0
    pairs = [one.at(u) for one in ((law,) if law.symmetric else (law, law.reverse()))]
    return _STEPS * law.error * np.asarray(np.max([r + np.exp(np.minimum(u, 700.0)) * a for a, r in pairs], axis=0))


def _inverse_ends(law: Law, low: Array, high: Array, value: Array, delta: Array, slack: Array) -> tuple[Array, Array]:
    """ε at δ moved either way: the lower end read again, and the upper one where δ is what only one world shows."""
    aim = np.minimum(delta * (1 + slack / 2), 1.0)
    for k in range(56):
        live = np.isfinite(low) & (low > 0) & (delta > 0)
        at = np.where(live, low, 0.0)
        over = live & (law.worse_delta(at) - _mass_doubt(law, at) < aim)
        if not over.any():
            break
        low = np.where(over, np.maximum(low * (1 - 2.0 ** (k - 52)), 0.0), low)
    only = max(law.only1, law.reverse().only1)
    return low, np.where(np.isinf(high) & (delta == only), value, high)


def _known_exactly(law: Law, reading: str, given: Mapping[str, Array], value: Array, loss: object) -> Mask:
    """Where a value is no result of rounding."""
    forward = law.max_llr()
    most = np.maximum(forward, law.reverse().max_llr())
    sure = law.loss_given | (most == (loss if isinstance(loss, float | np.ndarray) else math.nan))
    exact = np.isinf(value) | ((value == 1) & (law.only1 == 1))
    if reading == "delta":
        beyond = np.where(sure, most, most * (1 + _UNITS * _UNIT * (1 + law.carried)))
        exact = exact | ((value == 0) & (given["epsilon"] >= beyond))
    elif reading == "epsilon":
        exact = exact | ((given["delta"] == 0) & sure) | (given["delta"] == 1)
    elif reading == "posterior" or (reading == "precision" and "fpr" in given):
        exact = exact | ((value == 1) & np.isinf(forward) & (given.get("fpr", 0.0) == 0))
    for name, x in given.items():
        if name in ("fpr", "baseline", "prior") and not (reading == "precision" and name == "fpr"):
            whole = law.only1 == 0 if reading == "tradeoff" else True
            exact = exact | ((value == 0) | (value == 1)) & ((x == 1) | (x == 0) & whole)
    return np.asarray(exact & np.ones(value.shape, dtype=bool))


# What several answers share that the adversary does not know: records of other people, the value behind a range.
#
# It is drawn once, not anew for each answer, so such answers do not compose as independent ones: together they are one
# release of a vector, whose law is a mixture over what is unknown of products of the noise.


class Latent(ValueSemantics, ABC):
    """How one answer depends on something unknown that other answers depend on too."""

    __slots__ = ()

    #: What is unknown, in a sentence: "records that the adversary does not know".
    unknown: ClassVar[str]

    @abstractmethod
    def reverse(self) -> Latent:
        """The same with H0 and H1 exchanged."""

    @abstractmethod
    def joint(self, answers: Sequence[tuple[Latent, int]]) -> tuple[Law, str]:
        """The law of these answers seen together, each so often, and a note on how it is known.

        Refused where they do not share what is unknown, or where nothing is known of them together.
        """

    def sampled(self, rate: float) -> tuple[Law, Latent, str]:
        """The law of the answer on a Poisson sample of the records, how it depends on the unknown, and a note."""
        raise InputError(
            f"sampling is not known of an answer that depends on {self.unknown}: who is drawn changes what they hide, "
            "so build the experiment of the sampled answer itself"
        )

    def group(self, people: int) -> NoReturn:
        """What is learned about a group: refused, because who is in it decides what the rest of them hide."""
        raise InputError(
            f"k is {people}, and the answer depends on {self.unknown}: a group of people is not one of them k times as "
            "far, so ask the model about each of them, or group the noise alone, as el.laplace or el.gaussian build it",
            parameter="k",
        )


T = TypeVar("T")
_BY_EXACTNESS = (Exactness.EXACT, Exactness.ROUNDED, Exactness.BRACKET, Exactness.BOUND)


def _reading(name: str) -> Callable[..., Array]:
    def read(self: LawArray, *given: Array) -> Array:
        return map_members(self.laws, self.shape, lambda law, *each: getattr(law, name)(*each), given)

    return read


@dataclass(frozen=True, eq=False, repr=False)
class LawArray(Law):
    """Laws in the order of a flattened array of this ``shape``. Every reading broadcasts against the shape.

    >>> from epsilens.laws.normal import Normal
    >>> many = LawArray((Normal(np.asarray(1.0)), Normal(np.asarray(2.0))), (2,))
    >>> many.psi().tolist(), many.roc(np.asarray([[0.0], [1.0]])).tolist()
    ([1.0, 2.0], [[0.0, 0.0], [1.0, 1.0]])
    """

    laws: tuple[Law, ...]
    shape: tuple[int, ...]

    @property
    def members(self) -> tuple[tuple[Law, ...], tuple[int, ...]]:
        return self.laws, self.shape

    @property
    def known(self) -> Exactness:  # type: ignore[override]
        """As well as the least known of them."""
        return max((law.known for law in self.laws), key=_BY_EXACTNESS.index)

    def as_bound(self) -> LawArray:
        return self._map(lambda law: law.as_bound())

    @property
    def width(self) -> float:
        return max(law.width for law in self.laws)

    def with_width(self, width: float) -> LawArray:
        return self._map(lambda law: law.with_width(width))

    @property
    def reached(self) -> bool:
        return all(law.reached for law in self.laws)

    @property
    def symmetric(self) -> bool:
        return all(law.symmetric for law in self.laws)

    def reverse(self) -> LawArray:
        return self._map(lambda law: law.reverse())

    def at(self, log_threshold: Array) -> tuple[Array, Array]:
        alpha, recall = (
            map_members(self.laws, self.shape, lambda law, u, i=i: law.at(u)[i], (log_threshold,)) for i in (0, 1)
        )
        return alpha, recall

    def practical(self, level: float) -> Array:
        return map_members(self.laws, self.shape, lambda law: law.practical(level), ())

    tradeoff = _reading("tradeoff")
    roc = _reading("roc")
    inverse_roc = _reading("inverse_roc")
    profile = _reading("profile")
    profile_inverse = _reading("profile_inverse")
    max_llr = _reading("max_llr")
    log_moment = _reading("log_moment")
    far_renyi = _reading("far_renyi")
    kl = _reading("kl")
    auc = _reading("auc")
    psi = _reading("psi")
    fbeta = _reading("fbeta")
    worse_delta = _reading("worse_delta")
    worse_epsilon = _reading("worse_epsilon")

    def _map(self, change: Callable[[Law], Law]) -> LawArray:
        return replace(self, laws=tuple(change(law) for law in self.laws))


def map_members(
    members: Sequence[T], shape: tuple[int, ...], read: Callable[..., Array | float], given: Sequence[ArrayLike]
) -> Array:
    """``read(member, *given)`` where members of a shape and the arguments broadcast; each member is asked once."""
    arrays = [np.asarray(a, dtype=float) for a in given]
    whole = np.broadcast_shapes(shape, *(a.shape for a in arrays))
    which = np.broadcast_to(np.arange(len(members)).reshape(shape), whole).ravel()
    flat = [np.broadcast_to(a, whole).ravel() for a in arrays]
    places = np.argsort(which, kind="stable").reshape(len(members), -1)  # broadcasting repeats each equally often
    result = np.empty(which.size)
    for member, here in zip(members, places, strict=True):
        result[here] = read(member, *(a[here] for a in flat))
    return result.reshape(whole)
