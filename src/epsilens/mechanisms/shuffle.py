"""The shuffle model: n people randomise their answers themselves, and only the shuffled answers are seen.

The person's answer hides among those of the others, who together answer as if they had drawn it now and then.

**Any ε₀-DP randomiser.** Each of the others answers, with probability e^{−ε₀}, as the person would with the first or
the second value, a fair coin deciding (Feldman, McMillan & Talwar 2021, Theorem 3.2). With C ~ Bin(n−1, e^{−ε₀}) such
clones the pair is a cell of m = C+1 signs with ρ = 1 (:mod:`epsilens.laws.shuffle`): an upper bound. The
probability 2/(e^{ε₀}+1) that replaced e^{−ε₀} in 2023 holds for a restricted class of randomisers only, as its erratum
says; it is not used here.

**k-ary randomised response**, α = 1/(e^ε+k−1). What the others answer depends on their values, which the adversary
knows, and no one choice of values is the worst at every threshold: both ends of a bracket are proven.

- *From above.* Every answer has at least probability α whatever the value: with probability kα a report is uniform over
  all k. Who did not report so is told apart. Of the rest and the person's own report, m are among the two values in
  question and r are not; ρ = m(e^ε+1)/2 / (m(e^ε+1)/2 + r). For k = 2 this loses a constant factor; there
  :mod:`.shuffle_two` goes through all ways to split the others between the two values.
- *From below.* If k ≥ 3 and all others hold the same third value, C ~ Bin(n−1, 2α) of them report one of the two. For
  each of the m such reports and c of the third value, r = (n−m) − (1 − e^{−ε})·c. Who looks at m alone sees the mean of
  r, (n−m)(k−2)/(e^ε+k−3), a pair that is often taken for an upper bound. It is none: for k ≥ 4 the third values tell
  more, and with n = 2, k = 3 and the other person holding the first value, two reports of it do.
- *Three answers* of up to some thousand people: :mod:`.shuffle_three` goes through all values of the others.

"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import Array
from ..errors import InputError
from ..experiment import Experiment, require_independent
from ..laws.envelope import Envelope, envelope
from ..laws.finite import Finite
from ..laws.shuffle import SIGMAS, SignCells, lower_pair, upper_pair
from ..numerics.binomial import binomial_window, log_binomial
from ..worlds import RECORD
from .arrays import arrays
from .shuffle_three import MOST_PEOPLE, three_answers
from .shuffle_two import two_answers

_MOST_PEOPLE = 10**8
_WORK, _ROUGH = 1_000_000, 400_000  # outcomes that are gone through
_PARTS = 16  # stretches of how many hold the same third value
_NOTES = {
    "any": "an upper bound that holds for every ε-DP randomiser: a particular one may hide people better",
    "response": "an upper bound for whatever values the others hold; the low end of a bracket is reached by some",
}


@arrays("epsilon", "n", "answers")
def shuffled(epsilon: Experiment | ArrayLike, *, n: ArrayLike, answers: ArrayLike | None = None) -> Experiment:
    """The answers of n people, randomised by each and then shuffled: what they tell about one person's value.

    ``epsilon`` is what each of them does alone: ``randomized_response(…)``, whose shuffle lies within a proven bracket,
    or any other experiment or an ε₀, of which only its ε is used (an upper bound for every ε₀-DP randomiser).
    ``answers=k`` says that an ε₀ is that of k-ary randomised response.

    >>> round(shuffled(1.0, n=1000).epsilon(1e-6), 4)
    0.1824
    >>> from epsilens.mechanisms import randomized_response
    >>> low, high = shuffled(randomized_response(epsilon=1.0, k=10), n=1000).bracket("epsilon", delta=1e-6)
    >>> round(low, 3), round(high, 3)
    (0.08, 0.08)
    """
    people = checks.integer("n", n, low=1, high=_MOST_PEOPLE)
    eps, k = _local(epsilon, answers)
    told: dict[str, float] = {"epsilon": eps, "n": people} | ({} if k is None else {"answers": k})
    if k is None:
        return Experiment(upper_pair(_clones(eps, people)), "shuffled", told, notes=(_NOTES["any"],), worlds=RECORD)
    bound, attained = two_answers(eps, people) if k == 2 else _answers(eps, k, people)
    law = replace(bound, attained=attained)
    return Experiment(law, "shuffled", told, notes=(_NOTES["response"],), worlds=RECORD)


def _local(epsilon: Experiment | ArrayLike, answers: ArrayLike | None) -> tuple[float, int | None]:
    """(ε₀, possible answers of randomised response or None)."""
    if not isinstance(epsilon, Experiment):
        k = None if answers is None else checks.integer("answers", answers, low=2, high=10**6)
        return float(checks.in_range("epsilon", checks.scalar("epsilon", epsilon), 1e-12, 700.0)), k
    if answers is not None:
        raise InputError("answers belongs to a number: leave it out beside an experiment", parameter="answers")
    if epsilon.many:
        raise InputError("shuffled needs one experiment: build it from numbers, not arrays", parameter="epsilon")
    eps = float(require_independent(epsilon).epsilon())
    if not math.isfinite(eps):
        raise InputError(
            f"{epsilon.name} has no finite epsilon: shuffling hides only what is pure ε-DP before it",
            parameter="epsilon",
        )
    k = epsilon.parameters["k"] if epsilon.origin == "randomized_response" else None
    return float(checks.in_range("epsilon", np.asarray(eps), 1e-12, 700.0)), k


# -- mixtures of cells ----------------------------------------------------------------------------------------------


def _edges(low: int, high: int, stretches: int) -> Array:
    """Where stretches of whole numbers from low to high begin, the middle ones shorter; at the end high + 1."""
    if high - low + 1 <= stretches:
        return np.arange(low, high + 2.0)
    y = np.linspace(-1.0, 1.0, stretches + 1)
    at = (low + high + 1) / 2 + (high + 1 - low) / 2 * np.sinh(3 * y) / math.sinh(3)
    return np.unique(np.clip(np.rint(at), low, high + 1.0))


def _summed(masses: Array, low: int, edges: Array) -> Array:
    """The mass of each stretch."""
    return np.asarray(np.add.reduceat(masses, (edges[:-1] - low).astype(int)))


def _stretches(count: int, m: float, work: int = _WORK) -> int:
    """How many cells of m signs are gone through within the work allowed."""
    ways = min(m / 2, SIGMAS * math.sqrt(m) / 2) + 2
    return max(4, min(count, int(work / ways)))


def _clones(eps: float, n: int) -> SignCells:
    """C ~ Bin(n−1, e^{−ε}) clones: cells of C+1 signs; fewer clones hide less."""
    p = math.exp(-eps)
    low, high, beyond = binomial_window(n - 1, p, SIGMAS)
    edges = _edges(low, high, _stretches(high - low + 1, n * p + 1))
    c = np.arange(low, high + 1.0)
    weight = _summed(np.exp(log_binomial(n - 1, c, p)), low, edges)
    return SignCells(eps, weight, edges[:-1] + 1, np.zeros(weight.size), beyond)


def _answers(eps: float, k: int, n: int) -> tuple[Envelope, Finite]:
    """k ≥ 3 answers: all who report uniformly hide the person (above), those with a third value do (below)."""
    attained = lower_pair(_third_value(eps, k, n))
    if k == 3 and n <= MOST_PEOPLE:
        low, masses, _, beyond = _in_question(eps, k, n)
        m = low + np.arange(float(masses.size))
        cells = SignCells(eps, masses, m, (n - m) * math.exp(-eps), beyond)
        mean, loss = (np.concatenate(column) for column in zip(*cells.outcomes(), strict=True))
        known = three_answers(eps, n, (mean * 2 / (1 + np.exp(-loss)), loss))
        if known is not None:
            return _narrowed(known, upper_pair(_blanket(eps, k, n, _ROUGH))), attained
    return upper_pair(_blanket(eps, k, n)), attained


def _narrowed(known: tuple[Array, Array], bound: Envelope) -> Envelope:
    """The bound, and what is known better of some ε."""
    rest = np.unique(bound.llr[bound.llr > known[0][-1]])
    epsilon = np.concatenate((known[0], rest))
    delta = np.minimum(np.concatenate((known[1], np.ones(rest.size))), bound.profile(epsilon))
    return envelope(epsilon, delta, rounding=1e-12)


def _in_question(eps: float, k: int, n: int) -> tuple[int, Array, Array, float]:
    """Of the number m of reports of the two values: the least, P(m), P(the person's is one of them | m), mass beyond.

    Others report one of the two by α each, the person by e^ε·α and α.
    """
    alpha = math.exp(-eps) / (1 + (k - 1) * math.exp(-eps))
    mine = (1 + math.exp(-eps)) / (1 + (k - 1) * math.exp(-eps))
    low, high, beyond = binomial_window(n - 1, 2 * alpha, SIGMAS)
    m = np.arange(low, high + 2.0)
    with_me = mine * np.exp(log_binomial(n - 1, m - 1, 2 * alpha))
    without = (k - 2) * alpha * np.exp(log_binomial(n - 1, m, 2 * alpha))
    with_me[0], without[-1] = with_me[0] if low == 0 else 0.0, 0.0
    both = with_me + without
    return low, both, with_me / np.where(both > 0, both, 1.0), 2 * beyond


def _third_value(eps: float, k: int, n: int) -> SignCells:
    """All others hold the same third value, which R = (others' answers) − (1 − e^{−ε})·(that value's count) tells of.

    Rounded to the safer side: towards more signs, and stretches of R seen as one.
    """
    low, masses, _, beyond = _in_question(eps, k, n)
    high = low + masses.size - 1
    cells = _stretches(masses.size * _PARTS, float(low + high) / 2 + 1, _WORK if k == 3 else 2 * _WORK)
    parts = 1 if k == 3 else min(_PARTS, cells // masses.size)
    edges = _edges(low, high, max(4, cells // max(parts, 1)))
    weight, m, rest, lost = [], [], [], beyond
    for share, least, most in zip(_summed(masses, low, edges), edges[:-1], edges[1:] - 1, strict=True):
        if least == 0 < most:  # a stretch from no sign at all says nothing
            lost += share
            continue
        of, r, cut = _others(eps, k, int(n - least), least, max(parts, 1))
        # more signs, and the share of the person's that the fewest have: r/m as at the least m
        weight.append(share * of)
        m.append(np.full(r.size, most))
        rest.append(r * (most / least if least > 0 else 1.0))
        lost += share * cut
    return SignCells(eps, np.concatenate(weight), np.concatenate(m), np.concatenate(rest), lost)


def _others(eps: float, k: int, count: int, m: float, parts: int) -> tuple[Array, Array, float]:
    """Of the answers that are neither value, beside m that are: stretches of R with their probabilities, mass beyond.

    The value that all others hold is each of them with probability 1/(1 + (k−3)e^{−ε}), but for the person's own. What
    is seen as one has the mean R of such a sample without the person.
    """
    z = math.exp(-eps)
    own = 1 / (1 + (k - 3) * z)
    if parts < 3 or count == 0 or (k - 3) * z < 1e-12:  # or so few hold another that they are not seen
        return np.ones(1), np.asarray([count * (k - 2) * z * own]), 0.0
    low, high, cut = binomial_window(count, own, SIGMAS)
    held = np.arange(low, high + 1.0)
    base = np.exp(log_binomial(count, held, own))
    edges = _edges(low, high, parts)
    plain = _summed(base, low, edges)
    r = count - (1 - z) * _summed(base * held, low, edges) / np.where(plain > 0, plain, 1.0)
    of = plain * ((1 + z) * m / 2 + z * r)
    keep = plain > 0
    return of[keep] / of[keep].sum(), r[keep], cut * count


def _blanket(eps: float, k: int, n: int, work: int = _WORK) -> SignCells:
    """All who report uniformly: m and r are counts of a multinomial law. Rounded to the riskier side."""
    alpha = math.exp(-eps) / (1 + (k - 1) * math.exp(-eps))
    low, masses, mine, beyond = _in_question(eps, k, n)
    high = low + masses.size - 1
    q = (k - 2) * alpha / (1 - 2 * alpha)
    r_low, r_high, _ = binomial_window(n - low, q, SIGMAS)
    cells = _stretches(masses.size * (r_high - r_low + 1), float(low + high) / 2 + 1, work)
    across = max(2, round(math.sqrt(cells * masses.size / (r_high - r_low + 1))))
    edges = _edges(low, high, across)
    weight, m, rest, left = [], [], [], 0.0
    for share, least, most in zip(_summed(masses, low, edges), edges[:-1], edges[1:] - 1, strict=True):
        # r is smallest, and the person's sign likeliest among the m, for the most signs of the stretch
        r_low, r_high, cut = binomial_window(int(n - most), q, SIGMAS)
        r = np.arange(r_low, r_high + 2.0)
        other = float(1 - mine[int(most) - low])
        of_r = (1 - other) * np.exp(log_binomial(n - most, r, q)) + other * np.exp(log_binomial(n - 1 - most, r - 1, q))
        parts = _edges(r_low, r_high + 1, max(2, cells // max(edges.size - 1, 1)))
        left += share * cut * 2
        weight.append(share * _summed(of_r, r_low, parts))
        m.append(np.full(parts.size - 1, least))
        rest.append(parts[:-1] * (least / most if most > 0 else 1.0))
    return SignCells(eps, np.concatenate(weight), np.concatenate(m), np.concatenate(rest), beyond + left)
