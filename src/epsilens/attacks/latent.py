"""Answers that share something unknown: the law of all of them together, where it is one of finitely many things.

Given the configuration c of what is unknown (the records of relatives, the value behind a range) the answers are
independent, so H0 = Σ w0(c)·Π P_j(·|c) and H1 likewise, with the same c in all answers.

Under normal noise on one line it is a mixture, exact; Laplace noise has two finite channels that bracket it for all c
at once; otherwise a coupling of c under both worlds is told, an upper bound: Theorem D65 of
docs/proofs/dominating-pairs.md. The largest loss lies at the places, so pure ε is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, log_softmax

from ..checks import Array
from ..errors import InputError
from ..laws import product as products
from ..laws.composition.composed_law import WIDTH, ComposedLaw
from ..laws.composition.step import Step
from ..laws.composition.wrappers import LabelledSampleStep
from ..laws.finite import MOST_LOSS, Finite
from ..laws.laplace import Laplace
from ..laws.normal import KnownShiftStep, Normal, NormalStep
from ..laws.piecewise import LaplaceMixture, NormalMixture, PiecewiseLaw
from ..laws.product import TwoSidedBound
from ..numerics.roots import root
from ..readings.law import Law

# Where the likelihood ratio of two mixtures of normal laws of one σ turns from rising to falling or back: all places.
# How far the slope of the ratio may move within h of a place is bounded: Lemma D69 of docs/proofs/dominating-pairs.md.

_FAR = 765.0  # further than the pair of laws is ever looked at
_STILL = 1e-15  # where the log-likelihood ratio moves by less than this it does not move
_NOISE = 1e-15  # relative to the terms of llr′ and of their logarithms: smaller is rounding
_HALVINGS = 60  # by then the ends of an interval are one double


def turning_points(line0: NormalMixture, line1: NormalMixture) -> tuple[float, ...]:
    """The places where llr′ changes sign, of mixtures whose normal laws all have one σ.

    Intervals are halved until llr′ has one sign in each, or is monotone, or the ratio moves by no more than rounding.
    """
    if max(line0.locations) <= min(line1.locations) or max(line1.locations) <= min(line0.locations):
        return ()
    pair = _mixture_densities(line0, line1)
    low, high = pair.places[0], pair.places[-1]
    edges = np.unique(np.concatenate((np.linspace(low - _FAR, high + _FAR, 257), np.linspace(low, high, 257))))
    left, right = edges[:-1], edges[1:]
    signed: list[Array] = []  # ends of intervals that are settled
    for _ in range(_HALVINGS):
        middle, half = (left + right) / 2, (right - left) / 2
        at = pair.near(middle, half)
        steady = np.abs(at.slope) > at.change + at.noise
        settled = steady | at.monotone
        signed += [left[settled], right[settled]]
        open_ = ~settled & ((np.abs(at.slope) + at.change) * half > _STILL)
        left, right = np.concatenate((left[open_], middle[open_])), np.concatenate((middle[open_], right[open_]))
        if not left.size:
            break
    return pair.turns(np.unique(np.concatenate(signed)))


class _SlopeBounds(NamedTuple):
    """llr′ at a point, how far it can move from there, whether it only rises or only falls, and its rounding."""

    slope: Array
    change: Array
    monotone: NDArray[np.bool_]
    noise: Array


@dataclass(frozen=True, eq=False)
class _MixtureDensities:
    """Two mixtures on the same places, in units of σ about ``centre``; ``logs`` are those of weights, −∞ for none."""

    places: Array
    logs: Array
    centre: float
    sigma: float

    def _location_laws(self, x: Array) -> tuple[Array, Array, Array]:
        """Logarithms of the two laws of the location given x, and the locations from the likeliest: both are counted
        from there, which keeps the digits of a slope far below rounding.
        """
        close = np.clip(x, self.places[0], self.places[-1])[:, None]
        fit = (self.places - close) * (x[:, None] - (self.places + close) / 2)
        likeliest = self.places[np.argmax(self.logs.max(axis=0) + fit, axis=1), None]
        away = self.places - likeliest
        fit = away * (x[:, None] - (self.places + likeliest) / 2)
        share0, share1 = (log_softmax(logs + fit, axis=1) for logs in self.logs)
        return share0, share1, away

    def slope(self, x: Array) -> Array:
        share0, share1, away = self._location_laws(x)
        return np.asarray(((np.exp(share1) - np.exp(share0)) * away).sum(axis=1))

    def near(self, x: Array, half: Array) -> _SlopeBounds:
        """What is known of llr′ no further than ``half`` from x."""
        share0, share1, away = self._location_laws(x)
        reach, h = self.places[-1] - self.places[0], half[:, None]
        slope = ((np.exp(share1) - np.exp(share0)) * away).sum(axis=1)
        variances, grown = [], []
        for share in (share0, share1):
            p = np.exp(share)
            from_mean = np.abs(away - (p * away).sum(axis=1, keepdims=True))
            variances.append((p * from_mean**2).sum(axis=1))
            grown.append((_capped_exp(share + from_mean * h) * from_mean**2).sum(axis=1))
        top, far = np.maximum(share0, share1), from_mean
        swollen = _capped_exp(top + (far + np.abs(slope)[:, None]) * h)
        differ = swollen * -np.expm1(np.minimum(share0, share1) - top)
        g = [(swollen * far**k).sum(axis=1) for k in range(4)]
        d = [(differ * far**k).sum(axis=1) + differ.sum(axis=1) * g[k] for k in range(4)]
        bend = np.abs(variances[1] - variances[0])
        second = np.minimum(np.maximum(*grown), d[2] + 2 * g[1] * d[1])
        third = d[3] + 3 * (d[1] * g[2] + g[1] * d[2]) + 6 * g[1] ** 2 * d[1]
        further = half * np.minimum(reach * (grown[0] + grown[1]), third)
        most = np.minimum.reduce((bend + further, second, np.full(x.shape, reach**2 / 4)))
        noise = _NOISE * (np.exp(top) * (1 - top) * np.abs(away)).sum(axis=1)
        return _SlopeBounds(slope, half * most, bend > further + _NOISE * (variances[0] + variances[1]), noise)

    def turns(self, points: Array) -> tuple[float, ...]:
        """One zero for each change of sign of llr′ along those of the points where it is more than rounding."""
        at = self.near(points, np.zeros(points.shape))
        signs = np.where(np.abs(at.slope) > at.noise, np.sign(at.slope), 0.0)
        points, signs = points[signs != 0], signs[signs != 0]
        turn = np.flatnonzero(signs[1:] != signs[:-1])
        zeros = root(self.slope, points[turn], points[turn + 1], atol=1e-15)
        return tuple((self.centre + self.sigma * zeros).tolist())


def _capped_exp(logs: Array) -> Array:
    """e^logs, cut where every bound made of it is beyond R²/4 already."""
    return np.asarray(np.exp(np.minimum(logs, 150.0)))


def _mixture_densities(line0: NormalMixture, line1: NormalMixture) -> _MixtureDensities:
    places, index = np.unique([*line0.locations, *line1.locations], return_inverse=True)
    logs = np.full((2, places.size), -np.inf)
    for row, at, line in zip(logs, np.split(index, [len(line0.locations)]), (line0, line1), strict=True):
        np.logaddexp.at(row, at, np.log(line.weights))
    centre = float(places[0] + places[-1]) / 2
    return _MixtureDensities((places - centre) / line0.scale, logs, centre, line0.scale)


#: Beyond this many noise widths the readings of a mixture lose their digits.
_WIDEST = {"scale": 500.0, "sigma": 100.0}
_MOST_ATOMS = 50_000  # of a product of channels
_MOST_TERMS = 4_000_000  # atoms times configurations
_FINE = 0.25  # cells, below which nothing else bounds better
_STEPS = (math.inf, 4.0, 2.0, 1.0, 0.5, 0.25, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002)  # cells, in noise widths
_PARTS = 16  # of the distances of coupled pairs that are told apart; others are rounded up
_ALONG = 1e-12  # how far off one line means may lie, of their spread

_EXACT = "the answers share what is unknown and are read as one release of a vector: exact"
_BRACKET = (
    "the answers share what is unknown and are read as one release of a vector: an upper bound from finite channels "
    "that dominate the noise, exact for the largest loss; what they attain bounds it from below"
)
_DISCLOSED = (
    "the answers share what is unknown and are read as one release of a vector: an upper bound, the adversary being "
    "told which of two coupled configurations of the unknown it is"
)


@dataclass(frozen=True, eq=False)
class LatentAnswer:
    """A noisy answer given each configuration: ``shares[c, r]`` of it lie around ``places[r]``, which rise."""

    places: Array
    shares: Array
    noise: str  # "scale" of Laplace noise, "sigma" of normal noise
    width: float

    @property
    def ends(self) -> tuple[Array, Array]:
        """The least and the largest place of each configuration."""
        some = self.shares > 0
        return self.places[some.argmax(axis=1)], self.places[some.shape[1] - 1 - some[:, ::-1].argmax(axis=1)]


def mixture_pair(places0: Array, w0: Array, places1: Array, w1: Array, noise: str, width: float) -> Law:
    """Noise around some places against noise around others, each with weights: one answer, exactly."""
    if places0.size == 1 and places1.size == 1:
        shift = np.asarray(abs(float(places1[0] - places0[0])) / width)
        return Laplace(shift) if noise == "scale" else Normal(shift)
    spread = float(max(places0.max(), places1.max()) - min(places0.min(), places1.min()))
    if spread > _WIDEST[noise] * width:
        raise InputError(
            f"{noise} is {width:g} for sums that spread over {spread:g}: give at least {spread / _WIDEST[noise]:.3g}, "
            "since noise narrower than that hides next to nothing",
            noise,
        )
    parts0, parts1 = _parts(places0, w0, width), _parts(places1, w1, width)
    if noise == "scale":
        return PiecewiseLaw(LaplaceMixture(*parts0), LaplaceMixture(*parts1))
    lines = NormalMixture(*parts0), NormalMixture(*parts1)
    return PiecewiseLaw(*lines, breaks=turning_points(*lines))


def _parts(places: Array, weights: Array, width: float) -> tuple[tuple[float, ...], ...]:
    """Weights, locations and scales, without the weights that doubles cannot carry."""
    some = weights > 1e-300
    kept = weights[some] / weights[some].sum()
    return tuple(kept.tolist()), tuple(places[some].tolist()), (width,) * int(some.sum())


class _Prior(NamedTuple):
    """How likely each configuration is in either world."""

    first: Array
    second: Array


def joint_law(w0: Array, w1: Array, answers: Sequence[tuple[LatentAnswer, int]]) -> tuple[Law, str]:
    """The law of all answers, each so often, given how likely each configuration is in either world; and a note.

    Exact for one query under normal noise, however often and with whatever σ; a bracket under Laplace noise where the
    product of its finite channels is affordable; otherwise an upper bound.
    """
    prior, answers = _merge_configurations(_Prior(w0, w1), answers)
    noises = {answer.noise for answer, _ in answers}
    if noises == {"sigma"} and (line := _projection(prior, answers)) is not None:
        return line, _EXACT
    laplace = [(answer, k) for answer, k in answers if answer.noise == "scale"]
    found = _channels(prior, laplace) if laplace else None
    below = None if found is None else found.low
    high = found.high if found is not None and len(laplace) == len(answers) else None
    if found is not None and high is not None and found.step <= _FINE:
        return TwoSidedBound((high.as_bound(),), attained=below), _BRACKET
    pairs = _quantile_coupling(prior, answers)
    bounds = [_normal_mixture_bound(answers, pairs), _furthest_pair_bound(answers, pairs)]
    if len(laplace) == len(answers):
        bounds.insert(0, _claim_mixture_bound(answers, pairs))
    if high is None:
        return TwoSidedBound(tuple(bounds), attained=below), _DISCLOSED
    return TwoSidedBound((high.as_bound(), *bounds), attained=below), _BRACKET


def _merge_configurations(
    prior: _Prior, answers: Sequence[tuple[LatentAnswer, int]]
) -> tuple[_Prior, list[tuple[LatentAnswer, int]]]:
    """Configurations that all answers treat alike as one, those that never occur left out, equal answers counted."""
    counted: list[tuple[LatentAnswer, int]] = []
    for answer, k in answers:
        for i, (other, n) in enumerate(counted):
            if _equal_answers(answer, other):
                counted[i] = other, n + k
                break
        else:
            counted.append((answer, k))
    live = np.flatnonzero((prior.first > 0) | (prior.second > 0))
    rows = np.concatenate([answer.shares[live] for answer, _ in counted], axis=1)
    _, first, where = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    where = where.ravel()
    under0, under1 = (np.asarray(np.bincount(where, weights=w[live] / w[live].sum()), dtype=float) for w in prior)
    return _Prior(under0, under1), [
        (LatentAnswer(answer.places, answer.shares[live[first]], answer.noise, answer.width), k)
        for answer, k in counted
    ]


def _equal_answers(one: LatentAnswer, other: LatentAnswer) -> bool:
    return (
        (one.noise, one.width) == (other.noise, other.width)
        and np.array_equal(one.places, other.places)
        and np.array_equal(one.shares, other.shares)
    )


def _projection(prior: _Prior, answers: Sequence[tuple[LatentAnswer, int]]) -> Law | None:
    """The projection on the line of the means, where they lie on one; None where they do not."""
    if any(np.any((a.shares > 0).sum(axis=1) > 1) for a, _ in answers):
        return None
    means = np.stack([a.ends[0] / a.width * math.sqrt(k) for a, k in answers], axis=1)
    means = means - means[0]
    far = means[int(np.argmax(np.einsum("cj,cj->c", means, means)))]
    length = math.sqrt(float(far @ far))
    if length == 0:
        return Finite(np.zeros(1), np.zeros(1), mirrored=True)
    along = means @ far / length
    if np.abs(means - along[:, None] * far / length).max() > _ALONG * length:
        return None
    sides = [(along[w > 0], w[w > 0]) for w in prior]
    return mixture_pair(*sides[0], *sides[1], "sigma", 1.0)


# -- a coupling of the unknown, told ----------------------------------------------------------------------------------


class _Coupling(NamedTuple):
    """Pairs of configurations, how likely each is, and how far each answer moves between the two, in noise widths."""

    share: Array
    moved: Array  # pairs × answers


def _quantile_coupling(prior: _Prior, answers: Sequence[tuple[LatentAnswer, int]]) -> _Coupling:
    """Quantiles to quantiles in the order of what the answers add up to."""
    total = sum((k / a.width) * (a.ends[0] + a.ends[1]) / 2 for a, k in answers)
    order = np.argsort(total, kind="stable")
    up0, up1 = (np.cumsum(w[order]) for w in prior)
    up0[-1] = up1[-1] = 1.0
    levels = np.concatenate(([0.0], np.sort(np.concatenate((up0, up1)))))
    share = np.diff(levels)
    middle = (levels[1:] + levels[:-1]) / 2
    one, other = (order[np.searchsorted(up, middle[share > 0])] for up in (up0, up1))
    moved = []
    for a, _ in answers:
        low, high = a.ends
        apart = np.maximum(np.abs(high[one] - low[other]), np.abs(high[other] - low[one])) / a.width
        alike = (a.shares[one] == a.shares[other]).all(axis=1)
        moved.append(np.where(alike, 0.0, apart))
    return _Coupling(share[share > 0], np.stack(moved, axis=1))


def _furthest_pair_bound(answers: Sequence[tuple[LatentAnswer, int]], pairs: _Coupling) -> Law:
    """Each answer moved as far as any coupled pair moves it."""
    moved = pairs.moved.max(axis=0)
    if moved.max() > MOST_LOSS:
        raise InputError(
            f"the records move an answer by {moved.max():.4g} times its noise: give noise of at least "
            f"{1 / MOST_LOSS:g} times that"
        )
    factors = [
        products.ProductFactor((Laplace if a.noise == "scale" else Normal)(np.asarray(d)), k)
        for (a, k), d in zip(answers, moved.tolist(), strict=True)
        if d > 0
    ]
    if not factors:
        return Finite(np.zeros(1), np.zeros(1), mirrored=True)
    return products.product(factors).law.as_bound()


def _normal_mixture_bound(answers: Sequence[tuple[LatentAnswer, int]], pairs: _Coupling) -> Law:
    """The pair is told, and every answer is taken for a normal one that is no harder to tell apart: Σ share·N(c)."""
    sizes = np.zeros(pairs.share.size)
    for (answer, k), moved in zip(answers, pairs.moved.T, strict=True):
        if answer.noise == "scale":
            each, where = np.unique(moved, return_inverse=True)
            moved = np.asarray([float(Laplace(np.asarray(m)).psi()) if m else 0.0 for m in each])[where.ravel()]
        sizes += k * moved**2
    moving = sizes > 0
    if not moving.any():
        return Finite(np.zeros(1), np.zeros(1), mirrored=True)
    sizes, share = np.sqrt(sizes[moving]) * (1 + 1e-12), pairs.share[moving]
    ends = np.unique(np.quantile(sizes, np.linspace(0, 1, _PARTS + 1)[1:], method="higher"))
    where = np.searchsorted(ends, sizes)
    weights = np.bincount(where, weights=share, minlength=ends.size)
    ends, weights = ends[weights > 0], weights[weights > 0]
    moved_at_all = min(float(weights.sum()), 1.0)
    step: Step = (
        KnownShiftStep(tuple(ends.tolist()), tuple(np.log(weights).tolist()))
        if ends.size > 1
        else NormalStep(float(ends[0]))
    )
    return ComposedLaw([(LabelledSampleStep(step, moved_at_all) if moved_at_all < 1 else step, 1)], WIDTH, bound=True)


def _claim_mixture_bound(answers: Sequence[tuple[LatentAnswer, int]], pairs: _Coupling) -> Law:
    """The pair is told, and then the worst that its loss allows: Σ share·claim(loss)."""
    times = np.asarray([k for _, k in answers])
    losses, where = np.unique(pairs.moved @ times, return_inverse=True)
    share = np.bincount(where.ravel(), weights=pairs.share)
    given = float(share[losses > MOST_LOSS].sum())  # as if it were given away
    moving = (losses > 0) & (losses <= MOST_LOSS)
    high = np.log(share[moving]) - np.log1p(np.exp(-losses[moving]))
    rest = float(share[losses == 0].sum())
    log_p0 = np.concatenate(([math.log(rest)] if rest > 0 else [], high, high - losses[moving]))
    llr = np.concatenate(([0.0] if rest > 0 else [], -losses[moving], losses[moving]))
    return Finite(log_p0, llr, given, given, mirrored=True).as_bound()


class _Channels(NamedTuple):
    """The answers through channels that tell less and more than the noise, and the longest cell of these."""

    low: Finite
    high: Finite | None
    step: float


def _channels(prior: _Prior, answers: Sequence[tuple[LatentAnswer, int]]) -> _Channels:
    """As fine as the product of all answers affords; where not even the coarsest does there is no high end, and the low
    one is of fewer answers.
    """
    times = [k for _, k in answers]
    reached, grids = math.inf, [_grid(a, math.inf) for a, _ in answers]
    whole = _affordable(grids, times, prior)
    if whole:
        for step in _STEPS:  # from coarse to fine
            finer = [_grid(a, step) for a, _ in answers]
            if not _affordable(finer, times, prior):
                break
            reached, grids = step, finer
    fewer = list(times)
    while not _affordable([np.append(g, 0.0) for g in grids], fewer, prior) and any(fewer):
        fewer = [k // 2 for k in fewer]
    fewer = fewer if any(fewer) else [1] + [0] * (len(times) - 1)
    some = [(a, g, k) for g, (a, _), k in zip(grids, answers, fewer, strict=True) if k]
    low = _channel_product(prior, [_log_channel(a, g, k, False) for a, g, k in some])
    if not whole:
        return _Channels(low, None, reached)
    high = _channel_product(prior, [_log_channel(a, g, k, True) for g, (a, k) in zip(grids, answers, strict=True)])
    return _Channels(low, high, reached)


def _affordable(grids: Sequence[Array], times: Sequence[int], prior: _Prior) -> bool:
    """Whether the multisets of atoms, one for each point of a grid, are few enough."""
    atoms = math.prod(math.comb(grid.size + k - 1, k) for grid, k in zip(grids, times, strict=True))
    return atoms <= _MOST_ATOMS and atoms * max(prior.first.size, *times) <= _MOST_TERMS


def _grid(answer: LatentAnswer, step: float) -> Array:
    """The places and, between them, points no further apart than the step."""
    z = answer.places / answer.width
    parts = [np.linspace(a, b, 1 + max(1, math.ceil((b - a) / step)))[:-1] for a, b in pairwise(z.tolist())]
    return np.concatenate((*parts, z[-1:]))


def _log_channel(answer: LatentAnswer, grid: Array, times: int, more: bool) -> tuple[Array, Array, int]:
    """(log weights (A,), log likelihoods (A, C), times): an atom's weight, and the likelihood of each configuration."""
    z = answer.places / answer.width
    with np.errstate(divide="ignore"):
        shares = np.log(answer.shares)
    # log Σ_r share·e^{−|g−z|}: (grid, configurations)
    at = np.logaddexp.reduce(shares[None] - np.abs(grid[:, None, None] - z), axis=2)
    half = np.tanh(np.diff(grid) / 2) / 2
    if more:
        weights = np.concatenate(([0.5], half)) + np.concatenate((half, [0.5]))
        return np.log(weights), at, times
    cells = np.logaddexp(at[:-1], at[1:])
    return np.log(np.concatenate(([0.5], half, [0.5]))), np.concatenate((at[:1], cells, at[-1:])), times


def _multisets(weights: Array, at: Array, k: int) -> tuple[Array, Array]:
    """Log weights and summed log likelihoods of all multisets of k atoms, atoms added in order."""
    last, run = np.arange(weights.size), np.ones(weights.size)
    weight, d = weights, at
    for _ in range(k - 1):
        room = weights.size - last
        rows = np.repeat(np.arange(last.size), room)
        new = last[rows] + np.arange(rows.size) - np.repeat(np.cumsum(room) - room, room)
        run = np.where(new == last[rows], run[rows] + 1, 1.0)
        weight, d, last = weight[rows] + weights[new] - np.log(run), d[rows] + at[new], new
    return weight + gammaln(k + 1), d


def _channel_product(prior: _Prior, channels: Sequence[tuple[Array, Array, int]]) -> Finite:
    """Every multiset of atoms of every channel, weighed by how often it comes, under either world."""
    logs = []  # log weight, and the likelihoods beside the first configuration's
    for weights, at, k in channels:
        logs.append(_multisets(weights + at[:, 0], at - at[:, :1], k))
    weight, d = logs[0]
    for more_weight, more_d in logs[1:]:
        weight = (weight[:, None] + more_weight).ravel()
        d = (d[:, None] + more_d).reshape(weight.size, -1)
    log0, log1 = (_log_mean(d, w) for w in prior)
    # where the two nearly agree, their difference from its own terms: Σ(w1 − w0)·(e^d − 1)
    with np.errstate(over="ignore", invalid="ignore"):
        relative = (np.expm1(np.minimum(d, 1.0)) @ (prior.second - prior.first)) / np.exp(log0)
        llr = np.where(
            (d.max(axis=1) < 1.0) & (np.abs(relative) < 0.5), np.log1p(np.clip(relative, -0.5, 0.5)), log1 - log0
        )
    return Finite(weight + log0, llr)


def _log_mean(d: Array, weights: Array) -> Array:
    """log Σ w(c)·e^{d(c)}, row by row."""
    some = weights > 0
    terms = d[:, some] + np.log(weights[some])
    top = terms.max(axis=1)
    return np.asarray(top + np.log(np.exp(terms - top[:, None]).sum(axis=1)))
