"""Records with many values: the pair that is easiest to tell apart, and questions about a range (paper 000, §7).

"Is the value above γ?" is a test between two mixtures: the noise around the answers for the values up to γ, weighted by
how likely each is, against the noise around those above. It has one prior, P(value > γ), and a trade-off of its own,
which does depend on the belief over values: Theorem D61. A ``channel`` (for each value the probabilities of the
outcomes) says the same of a mechanism with finitely many outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..catalogue.readings import find_reading
from ..checks import Array
from ..errors import InputError
from ..experiment import Experiment
from ..laws.finite import Finite
from ..laws.laplace import Laplace
from ..laws.normal import Normal
from ..laws.piecewise import LaplaceMixture, NormalMixture, PiecewiseLaw
from ..mechanisms.noise import gaussian, laplace
from ..numerics.values import ValueSemantics
from ..readings.law import Latent, Law
from ..results import SentenceResult, ShortResult
from ..worlds import Worlds, WorldsKind, worlds_of_values
from .knowledge import Informed, Knowledge, distribution, json_labels
from .latent import LatentAnswer, joint_law, turning_points

NOISES: dict[str, Callable[..., Experiment]] = {"laplace": laplace, "gaussian": gaussian}
_MOST_VALUES = 200
_LEAST = 1e-9  # in noise units; mixtures closer than this are bounded by their furthest pair


@dataclass(frozen=True, eq=False, repr=False)
class WorstPair(ValueSemantics, SentenceResult, ShortResult):
    """The two values of a record that a release tells apart best; ``informed`` adds the belief between them."""

    shown_as = "pair"

    values: tuple[Any, Any]
    shift: float | None
    experiment: Experiment
    knowledge: Knowledge | None = None

    @property
    def informed(self) -> Informed:
        """The experiment with the prior between the two values."""
        if self.knowledge is None:
            raise InputError("no prior over the values is given: give one, or read the experiment itself", "prior")
        return self.knowledge.of(self.experiment)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record."""
        return {
            "values": json_labels(self.values),
            "shift": self.shift,
            "experiment": self.experiment.to_dict(),
            "knowledge": None if self.knowledge is None else self.knowledge.to_dict(),
            "sentence": self.sentence,
        }


def worst_pair(
    values: object,
    *,
    effect: Callable[[Any], float] | ArrayLike | None = None,
    channel: ArrayLike | None = None,
    prior: ArrayLike | Mapping[Any, float] | None = None,
    reading: str = "advantage",
    noise: str = "laplace",
    sensitivity: float | None = None,
    arguments: Mapping[str, float] | None = None,
    **size: object,
) -> WorstPair:
    """The two values of a record that are easiest to tell apart.

    ``effect`` is what each value adds to the answer (itself unless given); with noise that is shifted, the pair
    furthest apart is the worst for every reading. ``size`` is the noise as ``laplace`` or ``gaussian`` take it; the
    sensitivity is the largest distance unless given. For a ``channel`` all pairs are compared by ``reading``. H1 is
    the second value.

    Parameters
    ----------
    values : sequence
        The values a record may have.
    effect : callable or array_like, optional
        What each value adds to the answer; itself unless given.
    channel : array_like, optional
        P(answer | value), a row a value, instead of noise.
    prior : array_like or mapping, optional
        Probability of each value.
    reading : str, default 'advantage'
        By which pairs are compared.
    noise : {"laplace", "gaussian"}, default 'laplace'
        The noise on the answer.
    sensitivity : float, optional
        What the noise is calibrated to; the largest distance unless given.
    arguments : mapping, optional
        Those of the reading.
    **size : float
        The noise, as `laplace` or `gaussian` take it.

    Returns
    -------
    WorstPair
        The pair, its experiment and a sentence.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> worst_pair([0, 1, 4], effect=lambda v: v * v, epsilon=1.0).sentence
    'The values 0 and 4 are easiest to tell apart, 16 apart in the answer.'
    """
    labels = _labels(values)
    belief = None
    if prior is not None:
        belief = distribution("prior", list(prior.values()) if isinstance(prior, Mapping) else prior, labels)[0]
        if isinstance(prior, Mapping) and list(prior) != list(labels):
            raise InputError("prior and values name different values: give them in the same order")
    if channel is not None:
        _refuse_noise_beside_channel(effect, size, sensitivity)
        if not isinstance(arguments, Mapping | None):
            raise InputError(f"arguments is {arguments!r:.40}: give a mapping of names to values", "arguments")
        i, j, made = _worst_rows(_channel_rows(channel, len(labels)), reading, dict(arguments or {}))
        shift = None
    else:
        at = _effects(labels, effect)
        i, j = int(np.argmin(at)), int(np.argmax(at))
        if i == j:
            raise InputError(
                "effect is the same for every value: the answer tells nothing, so there is no worst pair", "effect"
            )
        shift = _spread(at)
        most = shift if sensitivity is None else sensitivity
        made = _noise(noise)(sensitivity=most, shift=shift, neighbours="replace", **size)
    told = Experiment(made.law, made.origin, made.parameters, worlds_of_values(labels[i], labels[j]), made.notes)
    known = None if belief is None else Knowledge.from_values(belief, labels, pair=(labels[i], labels[j]))
    return WorstPair((labels[i], labels[j]), shift, told, known)


def above(
    gamma: float,
    prior: ArrayLike | Mapping[float, float],
    values: ArrayLike | None = None,
    *,
    effect: Callable[[Any], float] | ArrayLike | None = None,
    channel: ArrayLike | None = None,
    noise: str = "laplace",
    sensitivity: float | None = None,
    **size: object,
) -> Informed:
    """ "Is the person's value above γ?": H0 the values up to γ, H1 those above, each weighted by the prior.

    Returns the experiment with its prior P(value > γ). The noise is given as in :func:`worst_pair`.

    Parameters
    ----------
    gamma : float
        The value asked about.
    prior : array_like or mapping
        Probability of each value.
    values : array_like, optional
        The values, unless the prior is a mapping.
    effect : callable or array_like, optional
        What each value adds to the answer; itself unless given.
    channel : array_like, optional
        P(answer | value), a row a value, instead of noise.
    noise : {"laplace", "gaussian"}, default 'laplace'
        The noise on the answer.
    sensitivity : float, optional
        What the noise is calibrated to.
    **size : float
        The noise, as `laplace` or `gaussian` take it.

    Returns
    -------
    Informed
        The experiment with its prior.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> informed = above(1, [0.25, 0.25, 0.25, 0.25], [0, 1, 2, 3], epsilon=1.0, sensitivity=3.0)
    >>> informed.prior, round(informed.success(), 6)
    (0.5, 0.636747)
    """
    p, labels = distribution("prior", prior, values)
    where = _numeric_labels(labels)
    cut = checks.scalar("gamma", gamma)
    high = where > cut
    if not p[high].sum() or not p[~high].sum():
        side = "above" if p[~high].sum() else "up to"
        raise InputError(
            f"gamma is {cut:g}: every possible value lies {'up to' if side == 'above' else 'above'} it, so nothing is "
            "left to guess; give one between the least and the largest value",
            "gamma",
        )
    words = (f"the person's value is at most {cut:g}", f"the person's value is above {cut:g}")
    known = Knowledge(
        float(p[high].sum()),
        float(p[~high].sum() / p[high].sum()),
        "values",
        f"how likely values above {cut:g} are",
        Worlds(WorldsKind.OTHER, words=words),
        tuple(float(v) for v in where),
        tuple(float(x) for x in p),
    )
    if channel is not None:
        _refuse_noise_beside_channel(effect, size, sensitivity)
        rows = _channel_rows(channel, p.size)
        weights = [np.where(side, p, 0.0) / p[side].sum() for side in (~high, high)]
        law: Law = Finite.of(weights[0] @ rows, weights[1] @ rows)
        latent = UnknownValue(tuple(where.tolist()), tuple(p.tolist()), cut)
        told = {"gamma": cut, "values": int(p.size)}
        return known.of(Experiment(law, "above", told, Worlds(WorldsKind.OTHER, words=words), latent=latent))
    at = _effects(labels, effect)
    if int(np.count_nonzero(p)) > _MOST_VALUES:
        raise InputError(
            f"prior has {p.size} values: at most {_MOST_VALUES} can be told apart exactly, so group them", "prior"
        )
    spread = _spread(at)
    if spread == 0:
        raise InputError("effect is the same for every value: the answer tells nothing, so there is no test", "effect")
    made = _noise(noise)(sensitivity=spread if sensitivity is None else sensitivity, **size)
    scale = made.parameters["scale" if noise == "laplace" else "sigma"]
    if np.ndim(scale):
        raise InputError("the noise is an array: give single numbers")
    distance = spread / float(scale)
    if not 1e-300 <= distance <= 1e4:
        raise InputError(
            f"the answers lie {spread:g} apart and the noise is {float(scale):g}: give noise between 0.0001 and 1e300 "
            "times the distance"
        )
    notes = made.notes
    if distance < _LEAST:
        # a mixture is no easier to tell apart than its furthest pair (reveal which components were drawn)
        law = Laplace(np.asarray(distance)) if noise == "laplace" else Normal(np.asarray(distance))
        notes = (*notes, "the answers are too close to resolve, so this is their furthest pair, an upper bound")
    else:
        law = _mixtures(noise, at, p, high, float(scale))
    parameters = {**made.parameters, "gamma": cut, "values": int(p.size)}
    parameters.pop("shift", None)
    latent = UnknownValue(
        tuple(where.tolist()), tuple(p.tolist()), cut, tuple(at.tolist()), _WIDTHS[noise], float(scale)
    )
    return known.of(Experiment(law, "above", parameters, Worlds(WorldsKind.OTHER, words=words), notes, latent=latent))


_WIDTHS = {"laplace": "scale", "gaussian": "sigma"}


@dataclass(frozen=True, eq=False, repr=False)
class UnknownValue(Latent):
    """How one answer depends on the value of the person, of which only the side of γ is asked: the same in each answer.

    ``effect`` is what each value adds to an answer with noise; empty where a channel says what comes of each.
    """

    values: tuple[float, ...]
    prior: tuple[float, ...]
    gamma: float
    effect: tuple[float, ...] = ()
    noise: str = ""
    width: float = 0.0
    reversed: bool = False

    unknown: ClassVar[str] = "the person's value, of which only a range is asked"

    def reverse(self) -> UnknownValue:
        """The two ranges exchanged."""
        return replace(self, reversed=not self.reversed)

    def joint(self, answers: Sequence[tuple[Latent, int]]) -> tuple[Law, str]:
        """All answers as one release of a vector: the same value in each."""
        made = []
        for answer, k in answers:
            if not isinstance(answer, UnknownValue) or any(
                getattr(answer, name) != getattr(self, name) for name in ("values", "prior", "gamma")
            ):
                raise InputError(
                    "the answers are not about one range of one belief: give all of them the same values, prior and "
                    "gamma"
                )
            if not answer.effect:
                raise InputError(
                    "channel says what comes of one answer: give the channel of all answers together, whose outcomes "
                    "are their combinations"
                )
            places, where = np.unique(answer.effect, return_inverse=True)
            made.append((LatentAnswer(places, np.eye(places.size)[where.ravel()], answer.noise, answer.width), k))
        high = np.asarray(self.values) > self.gamma
        sides = [np.where(side, self.prior, 0.0) for side in (~high, high)]
        first, second = (side / side.sum() for side in (sides[::-1] if self.reversed else sides))
        return joint_law(first, second, made)


def _mixtures(noise: str, at: Array, p: Array, high: Any, scale: float) -> Law:
    """In noise units, centred, so that doubles carry the differences."""
    place = (at - 0.5 * (at.min() + at.max())) / scale
    sides = [_distinct_locations(place[side], p[side]) for side in (~high, high)]
    (where0, w0), (where1, w1) = sides
    if len(where0) == len(where1) == 1:
        d = np.asarray(abs(where1[0] - where0[0]))
        return Laplace(d) if noise == "laplace" else Normal(d)
    ones = tuple((1.0,) * len(w) for _, w in sides)
    if noise == "laplace":
        # between two locations each density is A·e^x + B·e^{−x}: their ratio is monotone
        return PiecewiseLaw(LaplaceMixture(w0, where0, ones[0]), LaplaceMixture(w1, where1, ones[1]))
    lines = NormalMixture(w0, where0, ones[0]), NormalMixture(w1, where1, ones[1])
    return PiecewiseLaw(*lines, breaks=turning_points(*lines))


def _distinct_locations(place: Array, p: Array) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Distinct locations and their weights, without the impossible ones."""
    where, index = np.unique(place[p > 0], return_inverse=True)
    weight = np.bincount(index, p[p > 0])
    return tuple(where.tolist()), tuple((weight / weight.sum()).tolist())


def _labels(values: Any) -> tuple[object, ...]:
    try:
        labels = tuple(values)
    except TypeError:
        raise InputError(f"values is {values!r:.40}: give a list of two values or more", "values") from None
    if len(labels) < 2 or len({repr(v) for v in labels}) < len(labels):
        raise InputError(
            f"values has {len(labels)} entries, {len({repr(v) for v in labels})} distinct: give two or more", "values"
        )
    return labels


def _numeric_labels(labels: Sequence[object]) -> Array:
    where = checks.real("values", list(labels))
    if where.ndim != 1:
        raise InputError(
            f"values has shape {where.shape}: give a list of numbers, and a matrix of probabilities as channel",
            "values",
        )
    return where


def _effects(labels: Sequence[object], effect: object) -> Array:
    if effect is None:
        return _numeric_labels(labels)
    at = checks.real("effect", [effect(v) for v in labels] if callable(effect) else effect)
    if at.shape != (len(labels),):
        raise InputError(f"effect has shape {at.shape}: give one number for each of the {len(labels)} values", "effect")
    return at


def _spread(at: Array) -> float:
    spread = float(at.max()) - float(at.min())
    if not np.isfinite(spread):
        raise InputError("the answers lie further apart than doubles reach: give values of a smaller size", "values")
    return spread


def _noise(noise: str) -> Callable[..., Experiment]:
    return NOISES[checks.one_of("noise", noise, tuple(NOISES))]


def _refuse_noise_beside_channel(effect: object, size: Mapping[str, object], sensitivity: object) -> None:
    if effect is not None or size or sensitivity is not None:
        raise InputError("channel is given with effect or noise: a channel says it all, so leave them out", "channel")


def _channel_rows(channel: object, count: int) -> Array:
    rows = checks.probability("channel", channel)
    if rows.ndim != 2 or rows.shape[0] != count:
        raise InputError(
            f"channel has shape {rows.shape}: give a row of probabilities for each of the {count} values", "channel"
        )
    if np.any(np.abs(rows.sum(axis=1) - 1) > 1e-9):
        raise InputError(
            "a row of channel does not sum to 1: give, for each value, the probabilities of the outcomes", "channel"
        )
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def _worst_rows(rows: Array, reading: str, arguments: Mapping[str, float]) -> tuple[int, int, Experiment]:
    """Every ordered pair, by the reading."""
    wanted = find_reading(reading)
    args = wanted.arguments(arguments)
    best: tuple[float, int, int, Experiment] | None = None
    for i in range(len(rows)):
        for j in range(len(rows)):
            if i != j:
                e = Experiment(Finite.of(rows[i], rows[j]), "channel", {"outcomes": int(rows.shape[1])})
                value = float(getattr(e, wanted.name)(**args))
                if best is None or value > best[0]:
                    best = value, i, j, e
    assert best is not None  # there are two rows or more
    return best[1], best[2], best[3]
