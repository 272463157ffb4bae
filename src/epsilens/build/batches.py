"""Batches as they are really drawn: of fixed size, cut to a largest size, or one after the other from shuffled data.

Distances are in clipping norms, q = batch/n, and all others may pull against the person.

- **Fixed**: so many records a step, without replacement. Whoever is drawn takes another's place, who may pull the other
  way: distance 2. *Add/remove*: N(0) against (1−q)N(0) + qN(2), each order alone (Zhu, Dong & Wang 2022). *Replace*: no
  data set is the worst in both orders; the fold of that pair (:mod:`epsilens.laws.loss.folded`) bounds it from above,
  each order composed is attained.
- **Truncated**: Poisson batches of which at most B records are kept. With τ = P(Bin(n−1, q) ≥ B) the others fill the
  batch, and then the person is in it with probability q′ = P(Bin(n, q) > B)·B/(nτ), in another's place. The adversary
  is told whether that happens: weight τ on the replace pair at distance 2 and rate q′, 1−τ on the usual one (Ganesh et
  al. 2025), an upper bound. If the others add nothing, the batch is a sample of rate (1−τ)q + τq′: attained.
- **Shuffled**: passes over the data in random order. From above the adversary is told the order: a normal shift of
  2√epochs/σ where a record is replaced, half of that where it is left out and leaves a gap. From below, with all others
  at −1: the largest of the T sums of an epoch, P(max ≤ c) = Φ((c−2)/σ)Φ(c/σ)^{T−1} with the person, (c−1) in the first
  factor where they left a gap (Chua et al. 2024) and c where their record pulls the other way; epochs are shuffled
  anew, so their tests compose. Or the sum of everything, a normal shift of √(epochs/T)/σ, twice that for replace.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy.special import betainc, log_ndtr, ndtri_exp

from ..checks import Array
from ..laws.closed.normal import Normal, NormalReplaced, NormalStep
from ..laws.extreme import Ends, greatest
from ..laws.finite.law import Finite, FiniteStep
from ..laws.loss.folded import Folded
from ..laws.loss.law import Loss
from ..laws.loss.sampled import Sampled
from ..laws.loss.step import Atoms, Counted, Step
from ..laws.loss.told import Told
from ..readings.law import Known, Law
from ..worlds import Neighbours

__all__ = ["Batches", "Row", "fixed", "gathered", "poisson_step", "shuffled", "truncated"]

_NEARLY_ALL = 1 - 1e-6  # of everybody in a batch: as if all were
_LEAST_SHARE = 1e-290
_BELOW, _ABOVE = 60.0, 9.0  # where the largest sum is looked at: e^−60 of its mass lies below, 9σ above the person's
_CUTS_ONCE, _CUTS = 4000, 1500  # of one epoch, which is exact, and of several
_UNSEEN = -740.0  # log mass
_ROUNDED = 1e-11  # of the masses between two cuts, relative


class Batches(StrEnum):
    """How the batch of a step is drawn."""

    POISSON = "poisson"
    FIXED = "fixed"
    WITH_REPLACEMENT = "with replacement"
    TRUNCATED = "truncated"
    SHUFFLED = "shuffled"


@dataclass(frozen=True)
class Row:
    """Steps that are alike: σ, the share of people a batch has, how many; of n people, ``batch`` at a time.

    ``whole`` epochs are surely complete and ``begun`` ones include a part. ``truncation`` is the largest batch.
    """

    sigma: float
    rate: float
    steps: int
    n: int = 0
    batch: int = 0
    whole: int = 0
    begun: int = 0
    truncation: int = 0


def gathered(rows: Sequence[tuple[Step, int]]) -> list[Counted]:
    """Equal steps counted together."""
    counted: dict[Step, int] = {}
    for step, k in rows:
        counted[step] = counted.get(step, 0) + k
    return list(counted.items())


def poisson_step(mu: float, rate: float, neighbours: Neighbours) -> Step:
    """A step whose batch every record joins by its own coin."""
    if neighbours is Neighbours.REPLACE:
        return NormalStep(2 * mu) if rate == 1 else NormalReplaced(mu, rate)
    return NormalStep(mu) if rate == 1 else Sampled(NormalStep(mu), rate)


# -- of fixed size ----------------------------------------------------------------------------------------------------


def fixed(rows: Sequence[Row], neighbours: Neighbours, width: float) -> Law:
    """Each batch is so many records, drawn anew without replacement."""
    if all(row.rate == 1 for row in rows):
        return Normal(np.asarray(2 * math.sqrt(math.fsum(row.steps / row.sigma**2 for row in rows))))
    steps = gathered([(poisson_step(2 / row.sigma, row.rate, Neighbours.ADD_REMOVE), row.steps) for row in rows])
    each = Loss(steps, width)
    if neighbours is Neighbours.ADD_REMOVE:
        return each
    bound = Loss(gathered([(_folded(2 / row.sigma, row.rate), row.steps) for row in rows]), width, bound=True)
    return Ends((bound,), attained=greatest((each.other_side(), each.reverse().other_side())))


def _folded(mu: float, rate: float) -> Step:
    """The worst of both orders of (1−q)N(0) + qN(μ) against N(0); where nearly all are drawn, as if all were."""
    if rate >= _NEARLY_ALL:
        return NormalStep(mu)
    return Folded(Sampled(NormalStep(mu), rate), (1 - rate) * math.erf(mu / math.sqrt(8)))


# -- cut to a largest size --------------------------------------------------------------------------------------------


def truncated(rows: Sequence[Row], neighbours: Neighbours, width: float) -> Law:
    """Poisson batches of which at most so many records are kept."""
    told, plain = [], []
    for row in rows:
        mu = 1 / row.sigma
        full, rate = _overfull(row)
        usual = poisson_step(mu, row.rate, neighbours)
        if not full:
            told.append((usual, row.steps))
            plain.append((usual, row.steps))
            continue
        share = min(max(full, _LEAST_SHARE), 1.0)
        crowded = NormalReplaced(2 * mu, rate)
        step = Told(((usual, 1 - share), (crowded, share))) if share < 1 else crowded
        told.append((step, row.steps))
        kept = row.rate * (1 - share) + rate * share
        plain.append((poisson_step(mu, min(kept, 1.0), neighbours), row.steps))
    below = Loss(gathered(plain), width)
    if told == plain:
        return below
    return Ends((Loss(gathered(told), width, bound=True),), attained=below.other_side())


def _overfull(row: Row) -> tuple[float, float]:
    """(τ, q′): the probability that the others fill the batch, and then of being in it."""
    n, b, q = row.n, row.truncation, row.rate
    if b > n - 1:
        return 0.0, 0.0
    if q == 1:
        return 1.0, b / n
    full = float(betainc(b, n - b, q))  # P(Bin(n−1, q) ≥ B)
    most = q * b / (b + 1)
    if full < _LEAST_SHARE:
        return _LEAST_SHARE, most
    return full, min(float(betainc(b + 1, n - b, q)) * b / (n * full), most)


# -- one after the other ----------------------------------------------------------------------------------------------


def shuffled(rows: Sequence[Row], neighbours: Neighbours, width: float, people: int = 1) -> Law:
    """Passes over the data, each in a random order of its own; a group may all be in one batch, or one of it pull."""
    distance = people * (2.0 if neighbours is Neighbours.REPLACE else 1.0)
    square = math.fsum(row.begun / row.sigma**2 for row in rows)
    above = Normal(np.asarray(distance * math.sqrt(square)), known=Known.BOUND)
    rows = [row for row in rows if row.whole]
    if not rows:
        return above
    summed = math.fsum(row.whole / (_passes(row) * row.sigma**2) for row in rows)
    found: list[Law] = [Normal(np.asarray(distance * math.sqrt(summed)))]
    several = sum(row.whole for row in rows) > 1
    cuts = {row: _largest(row, neighbours, _CUTS if several else _CUTS_ONCE) for row in rows}
    loudest = min(rows, key=lambda row: row.sigma)
    largest: list[Law] = [Finite(*cuts[loudest])]  # one epoch alone is exact
    if several:
        largest.append(Loss([(_step(*cuts[row]), row.whole) for row in rows], width).other_side())
    if neighbours is Neighbours.REPLACE:  # either value may be the one of H0
        largest += [law.reverse() for law in largest]
    found += largest
    return Ends((above,), attained=greatest(tuple(found)))


def _passes(row: Row) -> int:
    """Batches of an epoch."""
    return -(-row.n // row.batch)


def _step(log_p0: Array, llr: Array) -> Step:
    return FiniteStep(Atoms(llr, log_p0 + llr), rho=_ROUNDED)


def _largest(row: Row, neighbours: Neighbours, cuts: int) -> tuple[Array, Array]:
    """(log H0-mass, loss) of the largest sum of an epoch between cuts; with the person one batch is moved by 2."""
    mu, others = 1 / row.sigma, _passes(row) - 1
    u = np.linspace(float(ndtri_exp(-_BELOW / (others + 1))), 2 * mu + _ABOVE, cuts)
    rest = others * log_ndtr(u)
    stays = 0.0 if neighbours is Neighbours.REPLACE else mu
    with_, without = (_between(log_ndtr(u - moved) + rest) for moved in (2 * mu, stays))
    return without, with_ - without


def _between(log_below: Array) -> Array:
    """log masses between cuts, and beyond the outermost, from the log masses below them; never less than doubles hold.

    What is too small to be seen counts as just as unlikely under both laws, which tells nothing.
    """
    low, high = np.concatenate(([-np.inf], log_below)), np.append(log_below, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.maximum(high + np.log(-np.expm1(low - high)), _UNSEEN))
