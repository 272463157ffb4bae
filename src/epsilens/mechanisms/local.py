"""Protocols by which people randomise their own values before anyone sees them.

Each compares two values of one person's record, the two that are easiest to tell apart, and is a finite pair: exact.
Where a report tells the value only now and then (by a sampled coordinate, a set that both values share), what remains
are three outcomes: for the first value, for the second, for neither; their losses are −ε, ε and 0.

=======================  ==================================  ============================================
protocol                 H0-mass of the outcome of loss −ε   advantage
=======================  ==================================  ============================================
unary, optimised         ½·e^ε/(e^ε+1)                       tanh(ε/2)/2
unary, symmetric         (e^{ε/2}/(e^{ε/2}+1))²              tanh(ε/4)
Hadamard response        ½·e^ε/(e^ε+1)                       tanh(ε/2)/2
count-mean sketch        as symmetric unary                  tanh(ε/4)·(1 − collision)
Hadamard count-mean      as Hadamard response                tanh(ε/2)/2·(1 − collision)
=======================  ==================================  ============================================
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_expit

from .. import checks
from ..checks import Array
from ..errors import InputError
from ..experiment import Experiment
from ..laws.finite import Finite
from ..laws.product import ProductFactor, product
from ..numerics.special import log_binomial
from ..worlds import RECORD
from .builders import vectorized

KINDS = ("optimised", "symmetric")
_MOST_REPORTS, _MOST_HASHES = 100_000, 100


def _epsilon(epsilon: ArrayLike) -> float:
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

    >>> round(unary(epsilon=1.0).advantage(), 6), round(unary(epsilon=1.0, kind="symmetric").advantage(), 6)
    (0.231059, 0.244919)
    """
    eps, said = _epsilon(epsilon), checks.one_of("kind", kind, KINDS)
    law = _half(eps) if said == "optimised" else _both_bits(eps)
    return Experiment(law, "unary", {"epsilon": eps, "kind": said}, worlds=RECORD)


@vectorized("epsilon")
def hadamard_response(*, epsilon: ArrayLike) -> Experiment:
    """Hadamard response (Acharya, Sun & Zhang 2019): a random column in which the row of the own value has a 1.

    With probability e^ε/(e^ε+1) the column is one of the half with a 1, else one of the other half. The rows of two
    values agree in half of all columns, and these say nothing.

    >>> round(hadamard_response(epsilon=1.0).advantage(), 6)
    0.231059
    """
    eps = _epsilon(epsilon)
    return Experiment(_half(eps), "hadamard_response", {"epsilon": eps}, worlds=RECORD)


@vectorized("epsilon", "collision")
def count_mean_sketch(*, epsilon: ArrayLike, collision: ArrayLike = 0.0, hadamard: bool = False) -> Experiment:
    """Apple's count-mean sketch (2017): a hashed value in unary, every bit flipped with probability 1/(e^{ε/2}+1).

    The hash function is drawn at random and told with the report. ``collision`` is the share of the functions that map
    both values to the same place, where nothing is learned; none unless you know better. With ``hadamard`` one random
    coordinate of the Hadamard transform is reported instead, flipped with probability 1/(e^ε+1).

    >>> round(count_mean_sketch(epsilon=4.0).advantage(), 6)
    0.761594
    >>> round(count_mean_sketch(epsilon=4.0, hadamard=True).advantage(), 6)
    0.482014
    """
    eps, same = _epsilon(epsilon), float(checks.probability("collision", checks.scalar("collision", collision)))
    if not isinstance(hadamard, bool | np.bool_):
        raise InputError(f"hadamard is {hadamard!r:.40}: give True or False", parameter="hadamard", value=hadamard)
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
