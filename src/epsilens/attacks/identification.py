"""Who of n people is missing? The identifiability of Lee & Clifton (2011), bounded and exact: Theorem D63.

An attacker knows the values of n people and that one of them is not in the data: n worlds, equally likely before the
release. With Laplace noise of scale Δf/ε on a sum, an answer makes the attacker most certain of person i where it
falls on that person's own world, so

    P(i | answer) ≤ 1/Σ_j e^{−ε|a_i − a_j|/Δf}  ≤  1/(1 + (n−1)e^{−εΔv/Δf}),   Δv = max − min;

the first is attained, the second is Lee & Clifton's bound, which needs only n and Δv. For a mean over the n−1 who are
there both Δv and (usually) Δf are divided by n−1. Normal noise has no such bound (the answer may lie as far out as one
likes), but the average success of naming the missing person has a closed form for both.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import Array
from ..errors import InputError, NoSolutionError
from ..mechanisms.noise import calibrated_psi
from ..numerics.formatting import json_value
from ..numerics.roots import safe_boundary
from ..numerics.values import ValueSemantics
from ..results import SentenceResult


@dataclass(frozen=True, eq=False, repr=False)
class ValueCounts(ValueSemantics):
    """Distinct values in rising order, in units of the sensitivity, and how many people share each."""

    place: Array
    count: Array

    @classmethod
    def of(cls, values: Array, unit: float) -> ValueCounts:
        """From one value a person."""
        place, count = np.unique(values, return_counts=True)
        return cls((place - place[0]) / unit, count.astype(float))

    @property
    def n(self) -> float:
        """How many people."""
        return float(self.count.sum())

    def weights(self, epsilon: float) -> Array:
        """Σ_j e^{−ε|a_i − a_j|} for each distinct value, by a pass up and a pass down: positive terms only."""
        with np.errstate(over="ignore"):
            fall = np.exp(-epsilon * np.diff(self.place))
        return np.asarray(
            self.count + _decayed_sums(self.count, fall) + _decayed_sums(self.count[::-1], fall[::-1])[::-1]
        )

    def posterior(self, epsilon: float) -> float:
        """The most certain the attacker can become of anybody."""
        return float(1 / self.weights(epsilon).min())

    def success(self, epsilon: float) -> float:
        """How often the most likely person is the missing one: (1 + Σ_gaps(1 − e^{−ε·gap/2}))/n.

        Each answer points to the nearest world, so every gap adds the mass on its two halves.
        """
        with np.errstate(over="ignore"):
            return float((1 - np.expm1(-epsilon * np.diff(self.place) / 2).sum()) / self.n)

    def normal_success(self, psi: float) -> float:
        """The same with normal noise: (1 + Σ_gaps(2Φ(ψ·gap/2) − 1))/n."""
        from scipy.special import erf

        with np.errstate(over="ignore"):
            return float((1 + erf(psi * np.diff(self.place) / math.sqrt(8)).sum()) / self.n)

    def normal_posterior(self) -> float:
        """With normal noise: certainty of one value, shared by as few people as any; reached at an extreme value."""
        return float(1 / self.count.min())


def _decayed_sums(count: Array, fall: Array) -> Array:
    """s_0 = 0, s_{i+1} = (s_i + count_i)·fall_i."""
    out = np.zeros(count.size)
    total = 0.0
    for i, (c, f) in enumerate(zip(count[:-1].tolist(), fall.tolist(), strict=True), start=1):
        total = (total + c) * f
        out[i] = total
    return out


QUERIES = ("sum", "mean")
NOISES = ("laplace", "gaussian")
READINGS = ("posterior", "success")
_MOST = 1e4  # the largest ε searched
_LADDER = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)  # to see how the bound grows
_MOST_CURVE = 5_000  # distinct values for which the whole curve is drawn


def lee_clifton_bound(n: int, epsilon: ArrayLike, ratio: ArrayLike = 1.0) -> Any:
    """Lee & Clifton's bound 1/(1 + (n−1)e^{−ε·ratio}), ratio = Δv/Δf.

    >>> round(lee_clifton_bound(120, 5.0, 60 / 121), 13)
    0.0911407977678
    """
    people = checks.integer("n", n, low=1)
    loss, spread = checks.at_least("epsilon", epsilon, 0.0), checks.at_least("ratio", ratio, 0.0)
    checks.broadcastable(epsilon=loss, ratio=spread)
    with np.errstate(over="ignore"):
        return checks.float_or_array(1 / (1 + (people - 1) * np.exp(-(loss * spread))))


def lee_clifton_epsilon(n: int, at_most: float, ratio: float = 1.0) -> float:
    """The largest ε for which :func:`lee_clifton_bound` stays at or under a limit: log((n−1)ρ/(1−ρ))/ratio.

    >>> round(lee_clifton_epsilon(120, 1 / 3, 0.5), 10)
    8.1719526251
    """
    people = checks.integer("n", n, low=1)
    limit = float(checks.scalar("at_most", checks.probability("at_most", at_most)))
    spread = float(checks.at_least("ratio", checks.scalar("ratio", ratio), 0.0))
    if people == 1 or spread == 0:
        if limit * people < 1:
            raise _no_epsilon(limit, 1 / people)
        return math.inf
    if limit >= 1:
        return math.inf
    above = Fraction(limit) * people - 1  # exact: ρ may be barely above 1/n
    if above <= 0:
        raise _no_epsilon(limit, 1 / people)
    value = math.log1p(float(above / (1 - Fraction(limit)))) / spread
    return _rounded_down(lambda e: float(lee_clifton_bound(people, e, spread)), value, limit)


def _rounded_down(read: Callable[[float], float], value: float, limit: float) -> float:
    """The value, moved down by ulps until it reads at or under the limit."""
    step = 2.0**-53
    while value > 0 and read(value) > limit and step < 1:
        value *= 1 - step
        step *= 2
    return value


def _no_epsilon(limit: float, floor: float, reading: str = "posterior") -> NoSolutionError:
    return NoSolutionError(
        f"no epsilon keeps the {reading} at or under {limit:g}: a blind guess among them already has {floor:.6g}, "
        "so give a limit above that",
        floor=floor,
        parameter="epsilon",
    )


@dataclass(frozen=True, eq=False, repr=False)
class Identification(ValueSemantics, SentenceResult):
    """What an attacker who knows n values learns about who is missing.

    ``posterior`` is the most certain they can become of anybody, None where only n and the range were given (with
    normal noise a bound for every ε, for nothing less holds); ``largest`` and ``smallest`` say so of the two ends.
    ``bound`` needs no values. ``success`` is how often their best guess names the missing person; ``baseline`` is 1/n.
    ``largest_epsilon`` keeps ``reading`` at or under ``at_most`` (exactly where the values are known),
    ``epsilon_by_bound`` does by the bound alone; infinite where every ε does. ``curve`` holds (ε, bound, posterior) for
    a picture, ``ladder`` (ε, bound) at a few other ε.
    """

    shown_as = "identification"

    n: int
    query: str
    noise: str
    epsilon: float
    delta: float | None
    sensitivity: float
    spread: float
    bound: float
    posterior: float | None
    largest: float | None
    smallest: float | None
    who: str
    success: float | None
    baseline: float
    reading: str
    at_most: float | None
    largest_epsilon: float | None
    epsilon_by_bound: float | None
    chosen: bool
    from_values: bool
    notes: tuple[str, ...] = field(compare=False, repr=False)
    curve: tuple[tuple[float, float, float | None], ...] = field(default=(), repr=False)
    ladder: tuple[tuple[float, float], ...] = field(default=(), repr=False)

    @property
    def certainty(self) -> float:
        """The exact supremum where the values are known, the bound otherwise."""
        return self.bound if self.posterior is None else self.posterior

    @property
    def exceeded(self) -> bool | None:
        """Whether the reading is over its limit at ``epsilon``; None without a limit."""
        if self.at_most is None:
            return None
        read = self.success if self.reading == "success" else self.certainty
        return read is not None and read > self.at_most

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record; null where a number is unbounded."""
        return {
            "schema": 1,
            "sentence": self.sentence,
            **{k: json_value(v) for k, v in vars(self).items()},
            "certainty": self.certainty,
            "exceeded": self.exceeded,
            "unbounded": [k for k, v in vars(self).items() if isinstance(v, float) and math.isinf(v)],
        }


def identify(
    values: ArrayLike | None = None,
    *,
    n: int | None = None,
    value_range: tuple[float, float] | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    sensitivity: float | None = None,
    query: str = "sum",
    noise: str = "laplace",
    at_most: float | None = None,
    reading: str = "posterior",
) -> Identification:
    """How sure an attacker who knows everybody's value can become of who is missing from a noisy sum or mean.

    Give the ``values``, or only ``n`` and their ``value_range`` (least, largest) for Lee & Clifton's bound; ``epsilon``
    or the limit ``at_most`` it is chosen by, or both. ``sensitivity`` is that of the query as the noise is calibrated
    (a mean's own for a mean); without it, the largest absolute value, over n−1 for a mean.

    Parameters
    ----------
    values : array_like, optional
        Everybody's value; or `n` and `value_range`.
    n : int, optional
        How many people there are.
    value_range : (float, float), optional
        Least and largest value.
    epsilon : float, optional
        Privacy loss; or a limit.
    delta : float, optional
        Of Gaussian noise.
    sensitivity : float, optional
        What the noise is calibrated to.
    query : {"sum", "mean"}, default 'sum'
        What is released.
    noise : {"laplace", "gaussian"}, default 'laplace'
        The noise on the answer.
    at_most : float, optional
        The limit by which ε is chosen.
    reading : {"posterior", "success"}, default 'posterior'
        What the limit is on.

    Returns
    -------
    Identification
        The largest posterior, exactly for given values, else an upper bound.

    Raises
    ------
    InputError
        If an argument lies outside its range.
    NoSolutionError
        If no ε keeps to the limit.

    Examples
    --------
    >>> identify(n=120, value_range=(0, 60), sensitivity=121, epsilon=5.0).bound
    0.0911407977678...
    >>> round(identify([1, 2, 3, 4], epsilon=1.0, sensitivity=3).posterior, 6)  # 1/(1 + e^{−1/3} + e^{−2/3} + e^{−1})
    0.384937
    >>> round(identify(n=120, value_range=(0, 1), sensitivity=2, at_most=1 / 3).epsilon, 10)
    8.1719526251
    """
    checks.one_of("query", query, QUERIES)
    checks.one_of("noise", noise, NOISES)
    checks.one_of("reading", reading, READINGS)
    given, people, low, high = _people(values, n, value_range)
    unit = (people - 1) if query == "mean" else 1
    own = sensitivity is None
    widest = max(abs(low), abs(high))
    if own and widest == 0:
        raise InputError(
            "sensitivity is missing and every value is 0: give the most one person can move the answer", "sensitivity"
        )
    reach = widest / unit if sensitivity is None else sensitivity
    most = float(checks.positive("sensitivity", checks.scalar("sensitivity", reach)))
    spread = (high - low) / unit
    ratio = spread / most
    if not math.isfinite(ratio):
        raise InputError(
            f"sensitivity is {most:g} for values {high - low:g} apart: give one of a similar size", "sensitivity"
        )
    if (noise == "gaussian") != (delta is not None):
        raise InputError("delta belongs to gaussian noise and is needed by it: give both or neither", "delta")
    crowd = None if given is None else ValueCounts.of(given, most * unit)
    if delta is not None:
        delta = float(checks.probability("delta", checks.scalar("delta", delta), closed=False))
    read = _reading_function(noise, reading, crowd, people, ratio, delta)
    limit = None if at_most is None else float(checks.scalar("at_most", checks.probability("at_most", at_most)))
    if epsilon is None and limit is None:
        raise InputError("epsilon is missing: give ε, or at_most to have it chosen", "epsilon")
    chosen_epsilon = None if limit is None else _largest_epsilon(read, limit, people, noise, reading)
    if epsilon is None:
        assert chosen_epsilon is not None
        eps = min(chosen_epsilon, _MOST)
    else:
        eps = float(checks.privacy_loss("epsilon", checks.positive("epsilon", checks.scalar("epsilon", epsilon))))
    by_bound = None
    if limit is not None and noise == "laplace" and reading == "posterior" and limit * people > 1:
        by_bound = lee_clifton_epsilon(people, limit, ratio)
    ends = _end_posteriors(crowd, eps, noise)
    success = None
    if crowd is not None:
        success = crowd.success(eps) if noise == "laplace" else crowd.normal_success(_psi(eps, delta))
    if noise == "laplace":
        bound = float(lee_clifton_bound(people, eps, ratio))
    else:
        bound = 1.0 if spread > 0 else 1 / people
    return Identification(
        n=people,
        query=query,
        noise=noise,
        epsilon=eps,
        delta=delta,
        sensitivity=most,
        spread=spread,
        bound=bound,
        posterior=ends[0],
        largest=ends[1],
        smallest=ends[2],
        who=ends[3],
        success=success,
        baseline=1 / people,
        reading=reading,
        at_most=limit,
        largest_epsilon=chosen_epsilon,
        epsilon_by_bound=by_bound,
        chosen=epsilon is None,
        from_values=given is not None,
        ladder=tuple((e, float(lee_clifton_bound(people, e, ratio))) for e in _LADDER),
        notes=_notes(given is not None, own, noise, chosen_epsilon),
        curve=_curve(crowd, people, ratio) if noise == "laplace" else (),
    )


def _people(values: object, n: object, value_range: object) -> tuple[Array | None, int, float, float]:
    """The values if given, how many people, and the least and largest value."""
    if values is not None:
        if n is not None or value_range is not None:
            raise InputError("values are given with n or value_range: give the values, or n and the range", "values")
        array = checks.real("values", values)
        if array.ndim != 1 or array.size < 2:
            raise InputError(
                f"values has shape {array.shape}: give a list of two values or more, one a person", "values"
            )
        return array, int(array.size), float(array.min()), float(array.max())
    if n is None or value_range is None:
        raise InputError("who the people are is missing: give values, or n with value_range=(least, largest)")
    people = checks.integer("n", n, low=2)
    ends = checks.real("value_range", value_range)
    if ends.shape != (2,) or ends[0] > ends[1]:
        raise InputError(f"value_range is {value_range!r}: give two numbers, the smaller first", "value_range")
    return None, people, float(ends[0]), float(ends[1])


def _psi(epsilon: float, delta: float | None) -> float:
    d = float(checks.probability("delta", checks.scalar("delta", delta), closed=False))
    return calibrated_psi(epsilon, d, "analytic")


def _reading_function(
    noise: str, reading: str, crowd: ValueCounts | None, people: int, ratio: float, delta: float | None
) -> Callable[[float], float]:
    if reading == "success":
        if crowd is None:
            raise InputError(
                "reading is 'success', which needs the values: give them, or bound the posterior", "reading"
            )
        return crowd.success if noise == "laplace" else lambda e: crowd.normal_success(_psi(e, delta))
    if noise == "gaussian":
        sure = crowd.normal_posterior() if crowd is not None else (1.0 if ratio > 0 else 1 / people)
        return lambda e: sure
    return crowd.posterior if crowd is not None else lambda e: float(lee_clifton_bound(people, e, ratio))


def _largest_epsilon(read: Callable[[float], float], limit: float, people: int, noise: str, reading: str) -> float:
    """The largest ε at which the reading keeps the limit, approached from the safe side; infinite if all do."""
    small = 1e-15
    if read(_MOST) <= limit:
        return math.inf
    if Fraction(limit) * people > 1 and read(small) <= limit:
        return safe_boundary(lambda e: read(e) - limit, small, _MOST)
    if noise == "gaussian" and reading == "posterior" and limit * people > 1:
        raise NoSolutionError(
            f"no epsilon keeps the posterior at or under {limit:g}: with normal noise some answers, however rare, "
            "leave as little doubt as one likes, so limit reading='success' instead",
            floor=read(small),
            parameter="epsilon",
        )
    raise _no_epsilon(limit, 1 / people, reading)


def _end_posteriors(
    crowd: ValueCounts | None, epsilon: float, noise: str
) -> tuple[float | None, float | None, float | None, str]:
    """(of anybody, of the largest value, of the smallest, who that is)."""
    if crowd is None:
        return None, None, None, ""
    if noise == "gaussian":
        ends = float(1 / crowd.count[-1]), float(1 / crowd.count[0])
        return crowd.normal_posterior(), ends[0], ends[1], "one whose value few share"
    certain = 1 / crowd.weights(epsilon)
    best = int(np.argmax(certain))
    last = certain.size - 1
    who = {0: "the one with the smallest value", last: "the one with the largest value"}.get(
        best, "one whose value stands apart"
    )
    if certain.size == 1:
        who = "nobody in particular"
    return float(certain[best]), float(certain[-1]), float(certain[0]), who


def _curve(crowd: ValueCounts | None, people: int, ratio: float) -> tuple[tuple[float, float, float | None], ...]:
    """From where the bound is near its floor to where it is near 1; the posterior where it is quick to compute."""
    if ratio == 0:
        return ()
    top = math.log((people - 1) * 99.0) / ratio
    if not 1e-6 < top < 1e6:
        return ()
    quick = crowd is not None and crowd.place.size <= _MOST_CURVE
    return tuple(
        (e, float(lee_clifton_bound(people, e, ratio)), crowd.posterior(e) if quick and crowd is not None else None)
        for e in np.geomspace(top / 30, top, 61).tolist()
    )


def _notes(known: bool, own: bool, noise: str, chosen: float | None) -> tuple[str, ...]:
    made = []
    if not known:
        made.append("Only n and the range are given, so this is Lee and Clifton's bound; with the values it is exact.")
    if own:
        made.append(
            "The sensitivity is taken from the values themselves; if the noise is made for wider bounds, give that."
        )
    if noise == "gaussian":
        made.append("With normal noise the answer may fall so far out that only those who share a value are in doubt.")
    if chosen == math.inf:
        made.append("Every ε keeps the limit: those who could be missing share too few values to be told apart.")
    if known:
        made.append("These numbers come from the confidential values: keep them inside, like the values.")
    return tuple(made)
