"""Selection: which of many outcomes has the highest score, told with noise.

One person moves each score by at most the **sensitivity** Δ; a **monotonic** score can only rise, so that all move the
same way. ε is what one selection guarantees: noise of scale 2Δ/ε, or Δ/ε where scores are monotonic. Given by the
``scale`` of its noise, a selection with monotonic scores has half the ε.

Without scores the law is the worst case over all scores there could be (docs/proofs/dominating-pairs.md, Theorems D35
to D37), exact for one selection unless its noise is Laplace, where it is a bound. Of several selections their product
is an upper bound, and for Gumbel noise another one holds beside it: each is ε²/8-zCDP (Cesar & Rogers 2021). A
composition reads the smaller of the two, whichever that is at each place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from .. import checks
from ..checks import Array
from ..errors import InputError
from ..experiment import Experiment
from ..laws.finite import Finite
from ..laws.laplace import NoisyMax
from ..laws.logistic import BoundedRange
from ..laws.product import ProductFactor, product, width_of
from ..numerics.roots import root
from ..readings.law import Exactness, Law
from ..worlds import Relation, parse_relation, worlds_of_relation
from .builders import vectorized, with_provenance
from .claims import from_rdp, to_rdp
from .discrete import pure
from .noise import exactly_one

_MOST = 700.0
_ORDERS = 1 + np.geomspace(0.01, 1e5, 281)
_FEW, _SIZES = 4, (1.0, 5.0, 15.0, 30.0, 60.0)  # first every fourth, then those that serve a δ of e^{−size}
_ANY_SCORES = "the worst case over all scores that one person can move so far; the actual scores may tell less"
_EACH_POINT = (
    "the worst case over all scores that one person can move so far, at each point of the curve; the actual scores may "
    "tell less, and divergences and the area under the curve bound those of any scores"
)
_UNREACHED = "an upper bound: no scores are known that tell so much under this noise"


class ScoreNoise(StrEnum):
    """The noise on the scores."""

    GUMBEL = "gumbel"
    LAPLACE = "laplace"
    EXPONENTIAL = "exponential"


_LAWS: dict[ScoreNoise, Callable[[float], Law]] = {
    ScoreNoise.GUMBEL: BoundedRange,
    ScoreNoise.LAPLACE: lambda epsilon: NoisyMax(
        np.asarray(epsilon), known=Exactness.BOUND
    ),  # no scores are known to reach it
    ScoreNoise.EXPONENTIAL: lambda epsilon: NoisyMax(np.asarray(epsilon)),
}

_BY = {"exponential": ScoreNoise.GUMBEL, "noisy-max": ScoreNoise.LAPLACE, "permute-and-flip": ScoreNoise.EXPONENTIAL}


def _epsilon(epsilon: object, name: str = "epsilon") -> float:
    return float(checks.in_range(name, checks.positive(name, checks.scalar(name, epsilon)), 1e-15, _MOST))


def _sensitivity(sensitivity: object) -> float:
    return float(checks.positive("sensitivity", checks.scalar("sensitivity", sensitivity)))


def _monotonic(value: object, neighbours: Relation) -> bool:
    """Whether one person moves all scores the same way, which a record that takes another's place does not."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"monotonic is {value!r}: give True or False", "monotonic")
    if value and neighbours is Relation.REPLACE:
        raise InputError(
            "monotonic is True with neighbours='replace': where a record is replaced one score may rise and another "
            "fall, so leave it out, or give neighbours='add-remove'",
            "monotonic",
        )
    return bool(value)


@vectorized("epsilon", "sensitivity")
@with_provenance
def exponential(
    *,
    epsilon: ArrayLike,
    scores0: ArrayLike | None = None,
    scores1: ArrayLike | None = None,
    sensitivity: ArrayLike = 1.0,
    monotonic: bool = False,
    neighbours: str = "add-remove",
) -> Experiment:
    """The exponential mechanism: P(r) ∝ exp(ε·score(r)/(2·sensitivity)), the same as Gumbel noise on the scores.

    ``scores0`` and ``scores1`` are the scores of the same outcomes in the two worlds. Without them the law is the worst
    case over all scores, Logistic(0) against Logistic(ε): logit TPR = logit FPR + ε. ``monotonic`` drops the factor 2,
    allowed when a person can only raise scores (or only lower them).

    Parameters
    ----------
    epsilon : float or array_like
        Privacy loss ε, from 1e-300 to 1e4.
    scores0 : array_like, optional
        Scores of the outcomes under H0; the worst case over all scores unless given.
    scores1 : array_like, optional
        Scores of the same outcomes under H1.
    sensitivity : float or array_like, default 1.0
        The most one person moves a score, > 0.
    monotonic : bool, default False
        Whether a person can only raise scores, or only lower them; noise is halved then.
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
    >>> round(exponential(epsilon=1.0).advantage(), 6)  # tanh(ε/4)
    0.244919
    >>> round(exponential(epsilon=1.0, scores0=[1, 2, 3], scores1=[1, 2, 4]).advantage(), 6)
    0.122051
    """
    neighbours = parse_relation(neighbours)
    eps, most, rises = _epsilon(epsilon), _sensitivity(sensitivity), _monotonic(monotonic, neighbours)
    parameters = {"epsilon": eps, "sensitivity": most, "monotonic": rises}
    if scores0 is None and scores1 is None:
        return _selection_experiment(BoundedRange(eps), "exponential", parameters, neighbours)
    for name, scores in (("scores0", scores0), ("scores1", scores1)):
        if scores is None:
            raise InputError(f"{name} is missing: give the scores in both worlds, or none", name)
    law = _of_scores(scores0, scores1, eps / (most if rises else 2 * most), most, rises)  # type: ignore[arg-type]
    more = {"neighbours": neighbours.value, "outcomes": int(law.llr.size)}
    return Experiment(law, "exponential", {**parameters, **more}, worlds=worlds_of_relation(neighbours))


def _of_scores(scores0: ArrayLike, scores1: ArrayLike, rate: float, most: float, rises: bool) -> Finite:
    """P(r) ∝ exp(rate·score(r)) in the two worlds."""
    s0, s1 = checks.real("scores0", scores0), checks.real("scores1", scores1)
    if s0.ndim != 1 or s0.shape != s1.shape or s0.size == 0:
        raise InputError(f"scores0 and scores1 have shapes {s0.shape} and {s1.shape}: give two lists of equal length")
    if rises and (s1 > s0).any() and (s1 < s0).any():
        raise InputError(
            "monotonic is True and one score rises while another falls: leave it out, which doubles the noise, or give "
            "scores that all move the same way",
            "monotonic",
        )
    moved = np.abs(s1 - s0).max()
    if moved > most * (1 + 1e-12):
        raise InputError(
            f"a score moves by {moved:g}, more than the sensitivity {most:g}: raise the sensitivity", "sensitivity"
        )
    log_p0 = rate * (s0 - s0.max())
    log_p0 = log_p0 - logsumexp(log_p0)
    # llr_r = −log Σ p0_k·exp(rate·(Δ_k − Δ_r)), from the likeliest outcome, where the sum may be 1 up to 1e-20
    rise = rate * (s1 - s0)
    top = int(np.argmax(log_p0))
    more = log_p0 + np.maximum(rise - rise[top], 0.0)
    if more.max() < 0.5:
        first = -np.log1p(np.sum(np.exp(log_p0) * np.expm1(rise - rise[top])))
    else:
        first = -logsumexp(log_p0 + rise - rise[top])
    return Finite(log_p0, first + (rise - rise[top]))


@vectorized("epsilon", "scale", "sensitivity")
def noisy_max(
    *,
    epsilon: ArrayLike | None = None,
    scale: ArrayLike | None = None,
    noise: str = "laplace",
    sensitivity: ArrayLike = 1.0,
    monotonic: bool = False,
    neighbours: str = "add-remove",
) -> Experiment:
    """Report noisy max: the outcome whose score is highest after independent noise, and nothing else.

    With ``exponential`` noise the worst case is Lap(0) against Lap(ε), as of a Laplace answer, and two outcomes reach
    it (:mod:`epsilens.laws.laplace`). With ``laplace`` noise that is an upper bound: no scores are known that
    tell so much. ``gumbel`` noise is the exponential mechanism. Give ``epsilon``, or the ``scale`` of the noise. The
    noisy score itself is not part of the release.

    Parameters
    ----------
    epsilon : float or array_like, optional
        Privacy loss; or give `scale`.
    scale : float or array_like, optional
        Scale of the noise on each score.
    noise : {"laplace", "exponential", "gumbel"}, default 'laplace'
        The noise on each score.
    sensitivity : float or array_like, default 1.0
        The most one person moves a score, > 0.
    monotonic : bool, default False
        Whether a person can only raise scores, or only lower them; noise is halved then.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.

    Returns
    -------
    Experiment
        Exact for exponential and Gumbel noise, an upper bound for Laplace noise.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> round(noisy_max(epsilon=1.0).advantage(), 6), round(noisy_max(epsilon=1.0, noise="gumbel").advantage(), 6)
    (0.393469, 0.244919)
    >>> noisy_max(scale=2.0).epsilon(), noisy_max(scale=2.0, monotonic=True).epsilon()
    (1.0, 0.5)
    """
    drawn = ScoreNoise(checks.one_of("noise", noise, tuple(d.value for d in ScoreNoise)))
    neighbours = parse_relation(neighbours)
    most, rises = _sensitivity(sensitivity), _monotonic(monotonic, neighbours)
    way = (1 if rises else 2) * most
    if exactly_one(epsilon=epsilon, scale=scale) == "epsilon":
        eps = _epsilon(epsilon)
    else:
        b = float(checks.positive("scale", checks.scalar("scale", scale)))
        eps = way / b
        if not 1e-15 <= eps <= _MOST:
            raise InputError(
                f"scale is {b:g} for a sensitivity of {most:g}: give one from {way / _MOST:.6g} to {way * 1e15:.6g}",
                "scale",
            )
    parameters = {"epsilon": eps, "scale": way / eps, "noise": str(drawn), "sensitivity": most, "monotonic": rises}
    return _selection_experiment(_LAWS[drawn](eps), "noisy_max", parameters, neighbours)


@vectorized("epsilon", "sensitivity")
def permute_and_flip(
    *, epsilon: ArrayLike, sensitivity: ArrayLike = 1.0, monotonic: bool = False, neighbours: str = "add-remove"
) -> Experiment:
    """Permute-and-flip (McKenna & Sheldon 2020): outcomes in random order, each kept with e^{ε(score − best)/2Δ}.

    It draws as :func:`noisy_max` with exponential noise does (Ding et al. 2021).

    Parameters
    ----------
    epsilon : float or array_like
        Privacy loss ε, from 1e-300 to 1e4.
    sensitivity : float or array_like, default 1.0
        The most one person moves a score, > 0.
    monotonic : bool, default False
        Whether a person can only raise scores, or only lower them; noise is halved then.
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
    >>> round(permute_and_flip(epsilon=1.0).advantage(), 6)
    0.393469
    """
    neighbours = parse_relation(neighbours)
    eps, most, rises = _epsilon(epsilon), _sensitivity(sensitivity), _monotonic(monotonic, neighbours)
    parameters = {"epsilon": eps, "sensitivity": most, "monotonic": rises}
    return _selection_experiment(NoisyMax(np.asarray(eps)), "permute_and_flip", parameters, neighbours)


@vectorized("epsilon", "k", "sensitivity")
def top_k(
    *,
    epsilon: ArrayLike,
    k: ArrayLike,
    by: str = "exponential",
    sensitivity: ArrayLike = 1.0,
    monotonic: bool = False,
    neighbours: str = "add-remove",
    width: float | None = None,
) -> Experiment:
    """The k outcomes with the highest scores, by peeling: k selections of ``epsilon`` each, without what was taken.

    ``by`` is ``"exponential"``, ``"noisy-max"`` (Laplace or exponential noise) or ``"permute-and-flip"``. One draw of
    Gumbel noise for all scores and its k largest, in order, are the same release as k exponential mechanisms (Durfee &
    Rogers 2019); with other noise each selection draws afresh, and one draw for all is not covered. Later selections
    depend on earlier ones, which both bounds allow for: the product of the worst cases, and zCDP for the exponential
    mechanism.

    Parameters
    ----------
    epsilon : float or array_like
        Privacy loss of each selection.
    k : int or array_like
        How many outcomes are taken, at least 1.
    by : {"exponential", "noisy-max", "permute-and-flip"}, default 'exponential'
        How each is selected.
    sensitivity : float or array_like, default 1.0
        The most one person moves a score, > 0.
    monotonic : bool, default False
        Whether a person can only raise scores, or only lower them; noise is halved then.
    neighbours : {"add-remove", "replace"}, default 'add-remove'
        Whether neighbouring tables differ by one record present or by one record replaced.
    width : float, optional
        Relative width asked of each reading's bracket; 0.001 unless given.

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
    >>> e = top_k(epsilon=0.5, k=50)
    >>> round(e.epsilon(1e-6), 2), round(e.epsilon(), 6)
    (10.09, 25.0)
    """
    checks.one_of("by", by, tuple(_BY))
    eps, most = _epsilon(epsilon), _sensitivity(sensitivity)
    times = checks.integer("k", k, low=1, high=10**6)
    if eps * times > 1e4:
        raise InputError(f"k is {times} at an epsilon of {eps:g}: together give at most 1e4", "k")
    parameters: dict[str, object] = {"epsilon": eps, "k": times, "by": by, "sensitivity": most}
    neighbours = parse_relation(neighbours)
    parameters["monotonic"] = _monotonic(monotonic, neighbours)
    one = _LAWS[_BY[by]](eps)
    if times == 1:
        return _selection_experiment(one, "top_k", parameters, neighbours)
    parameters["neighbours"] = neighbours.value
    asked = None if width is None else width_of(width)
    if asked is not None:
        parameters["width"] = asked
    result = product([ProductFactor(one, times, "a selection")], asked)
    return Experiment(result.law, "top_k", parameters, worlds_of_relation(neighbours), (result.note, _EACH_POINT))


@vectorized("epsilon", "threshold_scale", "query_scale", "above", "sensitivity")
def sparse_vector(
    *,
    epsilon: ArrayLike | None = None,
    threshold_scale: ArrayLike | None = None,
    query_scale: ArrayLike | None = None,
    above: ArrayLike = 1,
    sensitivity: ArrayLike = 1.0,
    monotonic: bool = False,
    neighbours: str = "add-remove",
) -> Experiment:
    """The sparse vector technique: which queries exceed a threshold, until ``above`` of them did; an ε-DP claim.

    Laplace noise of scale Δ/ε₁ on the threshold, drawn once, and of scale 2cΔ/ε₂ on each query (cΔ/ε₂ where all queries
    move the same way), c the number ``above`` it: ε = ε₁ + ε₂ (Lyu, Su & Li 2017, Algorithm 1 and Theorems 2 and 3).
    Give ``epsilon``, or both scales.

    Several published variants are **not** private at any ε, and no parameters here stand for them: no noise on the
    queries; noise on the queries that does not grow with c while the search goes on after the first; no end after c
    answers above the threshold; the noisy query itself shown beside "above" (release it with noise of its own, and
    compose).

    Parameters
    ----------
    epsilon : float or array_like, optional
        Privacy loss; or give both scales.
    threshold_scale : float or array_like, optional
        Scale of the noise on the threshold.
    query_scale : float or array_like, optional
        Scale of the noise on each query.
    above : int or array_like, default 1
        Queries above the threshold after which it ends.
    sensitivity : float or array_like, default 1.0
        The most one person moves a query, > 0.
    monotonic : bool, default False
        Whether a person can only raise scores, or only lower them; noise is halved then.
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
    >>> sparse_vector(threshold_scale=2.0, query_scale=4.0).epsilon()
    1.0
    """
    count = checks.integer("above", above, low=1, high=10**9)
    neighbours = parse_relation(neighbours)
    most, same = _sensitivity(sensitivity), _monotonic(monotonic, neighbours)
    scales = {"threshold_scale": threshold_scale, "query_scale": query_scale}
    parameters: dict[str, float] = {}
    if epsilon is not None:
        if any(v is not None for v in scales.values()):
            raise InputError("epsilon is given beside a scale: give epsilon, or both scales", "epsilon")
        eps = _epsilon(epsilon)
    else:
        for name, value in scales.items():
            if value is None:
                raise InputError(
                    f"{name} is missing: without noise on both the threshold and the queries the technique is not "
                    "private, so give both scales, or epsilon",
                    name,
                )
            parameters[name] = float(checks.positive(name, checks.scalar(name, value)))
        eps = most / parameters["threshold_scale"] + (1 if same else 2) * count * most / parameters["query_scale"]
        if not 1e-15 <= eps <= _MOST:
            raise InputError(
                f"threshold_scale and query_scale make an epsilon of {eps:.6g}: give scales that make one from 1e-15 "
                f"to {_MOST:g}",
                "query_scale",
            )
    claim = pure(epsilon=eps, neighbours=neighbours)
    more = {"above": count, "sensitivity": most, "monotonic": same, "neighbours": neighbours.value}
    return replace(
        claim, law=claim.law.as_bound(), origin="sparse_vector", parameters={"epsilon": eps, **parameters, **more}
    )


def _selection_experiment(law: Law, name: str, told: Mapping[str, object], neighbours: Relation) -> Experiment:
    worst = _EACH_POINT if law.pointwise else _ANY_SCORES
    notes = (worst,) if law.known is Exactness.EXACT else (_UNREACHED, worst)
    return Experiment(law, name, {**told, "neighbours": neighbours.value}, worlds_of_relation(neighbours), notes)


@vectorized("mean", "eta")
@with_provenance
def repeat_and_select(experiment: Experiment, *, mean: ArrayLike, eta: ArrayLike = 1.0) -> Experiment:
    """The best of a random number of runs of a release, such as of a training with other hyperparameters; a claim.

    The number K of runs is drawn once and kept secret: truncated negative binomial with parameters η > −1 and γ,
    E K = ``mean``. η = 1 is geometric, 0 logarithmic. Only the best run is published. If one run has Rényi divergences
    D, the whole has, for all orders λ, λ̂ > 1 (Papernot & Steinke 2022, Theorem 2),

        D(λ) + (1+η)(1 − 1/λ̂)·D(λ̂) + (1+η)·ln(1/γ)/λ̂ + ln(E K)/(λ−1).

    A fixed number of runs is no such release: compose them.

    Parameters
    ----------
    experiment : Experiment
        One run.
    mean : float or array_like
        Expected number of runs, at least 1.
    eta : float or array_like, default 1.0
        Parameter η > −1 of the number's law.

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
    Papernot & Steinke (2022), Hyperparameter tuning with Rényi differential privacy.

    Examples
    --------
    >>> import epsilens as el
    >>> [round(repeat_and_select(el.gaussian(sigma=4.0), mean=10, eta=eta).epsilon(1e-6), 2) for eta in (1, 0)]
    [2.27, 1.9]
    """
    if not isinstance(experiment, Experiment):
        raise InputError("repeat_and_select needs an experiment: give what gaussian, dpsgd and the like return")
    if experiment.many:
        raise InputError("this is many experiments at once: give one", "experiment")
    runs = float(checks.in_range("mean", checks.scalar("mean", mean), 1.0, 1e12))
    shape = float(checks.in_range("eta", checks.scalar("eta", eta), -1.0, 1e3))
    if shape == -1:
        raise InputError("eta is -1: give a number above -1, such as 1 for a geometric number of runs", "eta")
    orders, once = _divergences(experiment)
    if not np.isfinite(once).any():
        raise InputError(
            f"{experiment.name} has no finite Rényi divergence above order 1, so nothing is known of its best run",
            "experiment",
        )
    bound = once
    if runs > 1:
        more = (1 - 1 / orders) * once - _log_gamma(runs, shape) / orders
        bound = once + (1 + shape) * float(more.min()) + math.log(runs) / (orders - 1)
    keep = np.isfinite(bound)
    claim = from_rdp(orders[keep], bound[keep] * (1 + 1e-12))
    parameters = {"of": experiment.name, "mean": runs, "eta": shape}
    return replace(claim, origin="repeat_and_select", parameters=parameters, worlds=experiment.worlds)


def _divergences(experiment: Experiment) -> tuple[Array, Array]:
    """Orders, and the Rényi divergence of each in the worse order; where each takes a quadrature, fewer of them."""
    every = np.append(_ORDERS, np.inf)
    if not experiment.law.width:
        return every, np.asarray(to_rdp(experiment, every))
    few = _ORDERS[::_FEW]
    rough = np.asarray(to_rdp(experiment, few))
    best = [int(np.argmin(rough + size / (few - 1))) for size in _SIZES]
    more = _ORDERS[_FEW * max(min(best) - 1, 0) : _FEW * (max(best) + 1)]
    more = np.append(np.setdiff1d(more, few), np.inf)
    return np.concatenate((few, more)), np.concatenate((rough, np.asarray(to_rdp(experiment, more))))


def _log_gamma(mean: float, eta: float) -> float:
    """log γ from E K = η(1−γ)/(γ(1−γ^η)), for η = 0 (1/γ − 1)/log(1/γ); it falls in γ from ∞ to 1."""

    def excess(x: Array) -> Array:  # x = log(1/γ) > 0
        share = np.expm1(x) * (eta / -np.expm1(-eta * x) if eta else 1 / x)
        return np.asarray(np.log(share) - math.log(mean))

    return -float(root(excess, np.asarray(1e-12), np.asarray(600.0), rtol=1e-14))
