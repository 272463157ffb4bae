"""What a plan promises of every person, and what it costs: from its movements, not from its data.

Noise is charged as the plan's exact composition, names as their own δ: the noise of the plan, whatever a name gives
away, is that of the movements that reveal none.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import reduce

from ..data.queries import Noise
from ..errors import LimitError
from ..experiment import Experiment, compose_counted
from ..ledger.account import Account
from ..ledger.budget import Charge, charge_of, elementwise_max
from ..mechanisms.noise import gaussian, laplace
from ..numerics.formatting import ceil_digits, count, denominator, thousands
from ..plan.model import Release
from ..plan.movement import AdversaryQuestion, movements
from ..plan.noise import name_delta
from ..worlds import Relation, worlds_of_relation
from .worst_case import WorstCase, movement_pair

#: So many ways of moving a plan's numbers are each composed; more are bounded by the one with all of ε in one number.
_MOST = 12


_NOISE = {Noise.LAPLACE: "Laplace", Noise.GAUSSIAN: "Gaussian"}


@dataclass(frozen=True)
class Guarantee:
    """The guarantee of a plan.

    ``experiment`` is its noise, at least as telling as every way in which one person moves it, ``exact`` where it is
    one of them; ``delta`` the chance that a name gives a person away. ``success`` is how often the best attacker who
    knows everybody else guesses membership right, who would be right half of the time.
    """

    experiment: Experiment
    charge: Charge
    delta: float
    success: float
    exact: bool


def plan_guarantee(plan: Release, epsilon: float | None = None) -> Guarantee:
    """What the plan promises, at its own ε or another."""
    at = plan.epsilon if epsilon is None else epsilon
    found = movements(plan, AdversaryQuestion.MEMBERSHIP)
    faces = [one for movement in found.each if (one := movement_pair(plan, movement, at)) is not None]
    success = WorstCase(tuple(faces)).read("success", {"prior": 0.5}) if faces else 0.5
    delta = name_delta(plan, at)
    worlds = worlds_of_relation(plan.mechanism.neighbours)
    if plan.mechanism.noise is Noise.GAUSSIAN:
        noise = gaussian(psi=max((one.psi for one in faces), default=0.0))
        charge = charge_of(noise, delta=delta, at_delta=plan.mechanism.delta or 0.0)
        return Guarantee(replace(noise, worlds=worlds), charge, delta, success, found.exact)
    kinds = _undominated([one.shifts for one in faces if one.shifts])
    composed = [_noise(shifts) for shifts in kinds[:_MOST]]
    whole = laplace(epsilon=max((math.fsum(t * k for t, k in shifts) for shifts in kinds), default=0.0))
    if len(kinds) > _MOST or not composed:
        composed = [whole]
    charge = reduce(elementwise_max, (charge_of(noise, delta=delta) for noise in composed))
    worst = composed[0] if len(composed) == 1 else whole
    return Guarantee(_in_worlds(worst, plan), charge, delta, success, found.exact and len(kinds) == 1)


def _in_worlds(noise: Experiment, plan: Release) -> Experiment:
    parts = tuple((replace(part, worlds=worlds_of_relation(plan.mechanism.neighbours)), k) for part, k in noise.parts)
    return replace(noise, worlds=worlds_of_relation(plan.mechanism.neighbours), parts=parts)


def _noise(shifts: tuple[tuple[float, int], ...]) -> Experiment:
    return compose_counted([(laplace(epsilon=t), k) for t, k in shifts])


def _undominated(kinds: list[tuple[tuple[float, int], ...]]) -> list[tuple[tuple[float, int], ...]]:
    """Those whose numbers another one does not move as far, the largest against the largest."""
    kept: list[tuple[tuple[float, int], ...]] = []
    for shifts in dict.fromkeys(kinds):
        if any(_below(shifts, other) for other in kept):
            continue
        kept = [other for other in kept if not _below(other, shifts)] + [shifts]
    return kept


def _below(low: tuple[tuple[float, int], ...], high: tuple[tuple[float, int], ...]) -> bool:
    ours, theirs = (sorted(Counter(dict(kind)).elements(), reverse=True) for kind in (low, high))
    if len(ours) > len(theirs):
        return False
    return all(a <= b * (1 + 1e-12) for a, b in zip(ours, theirs, strict=False))


def guarantee_sentence(plan: Release, promise: Guarantee, epsilon: float | None = None) -> str:
    """The guarantee in one sentence, with its baseline: the same in a report, on the board and in a released file."""
    scale = denominator([promise.success], [0.5])
    many = count(promise.success, scale)
    many = many if " than " in many or promise.success >= 1 else f"at most {many}"
    replaced = plan.mechanism.neighbours is Relation.REPLACE
    what = "which of two records is somebody's" if replaced else "whether somebody is in the table"
    who = "everyone with the same " + plan.data.unit if plan.data.unit else "any one person"
    at = f"ε = {plan.epsilon if epsilon is None else epsilon:g}"
    deltas = []
    if plan.mechanism.noise is Noise.GAUSSIAN and plan.mechanism.delta is not None:
        deltas.append(plan.mechanism.delta)
    if promise.delta:
        deltas.append(promise.delta)
    with_delta = f", δ = {ceil_digits(math.fsum(deltas) * (1 - 1e-12))}" if deltas else ""
    return (
        f"An adversary who knows everything else guesses right {many} times of {thousands(scale)} {what}; "
        f"a coin gets {thousands(scale // 2)}. "
        f"This holds for {who} ({at}{with_delta}, {_NOISE[plan.mechanism.noise]} noise)."
    )


# -- headroom in the ledger ----------------------------------------------------------------------------------------

_MOST_EPSILON = 700.0
_LEAST_EPSILON = 1e-6  # an ε below this is no release
_PRECISION = 1e-3  # how close to the largest a search comes, from below


@dataclass(frozen=True)
class LedgerHeadroom:
    """The account a release is counted in. ``largest`` is None where nothing is limited, 0 where nothing is left."""

    ledger: str
    account: str
    releases: int
    largest: float | None
    sentence: str


def ledger_headroom(plan: Release, account: Account, ledger: str, part: str | None = None) -> LedgerHeadroom:
    """How large the plan's ε may be, its shares and its noise being what they are."""
    found = None if account.limits is None else _largest(plan, account, part)
    return LedgerHeadroom(ledger, account.name, len(account.counted), found, account.sentence)


def fits_ledger(plan: Release, account: Account, epsilon: float, part: str | None = None) -> bool:
    """Whether the account's limits have room for the plan at this ε."""
    try:
        account.check(plan_guarantee(plan, epsilon).charge, part)
    except LimitError:
        return False
    return True


def _largest(plan: Release, account: Account, part: str | None) -> float:
    def within(epsilon: float) -> bool:
        return fits_ledger(plan, account, epsilon, part)

    limits = account.limits
    if limits is not None and limits.currencies == ("epsilon",) and limits.epsilon is not None:
        left = limits.epsilon - account.spent.epsilon
        if left > 0 and within(left):  # not where δ is short as well
            return left
    low, high = 0.0, min(plan.epsilon, _MOST_EPSILON)
    while within(high):
        low, high = high, high * 2
        if low >= _MOST_EPSILON:
            return _MOST_EPSILON
    if not low:
        low = high / 2
        while low > _LEAST_EPSILON and not within(low):
            low, high = low / 2, low
        if low <= _LEAST_EPSILON:
            return 0.0
    while high / low > 1 + _PRECISION:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if within(middle) else (low, middle)
    return min(low, _MOST_EPSILON)
