"""What the ledger leaves for one more release about the same people: the largest ε of a plan that its limits allow."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import LimitError
from ..ledger.account import Account
from ..plan.plan import Release
from .promise import promise_of

_MOST_EPSILON = 700.0
_LEAST_EPSILON = 1e-6  # an ε below this is no release
_PRECISION = 1e-3  # how close to the largest a search comes, from below


@dataclass(frozen=True)
class Room:
    """The account a release is counted in. ``largest`` is None where nothing is limited, 0 where nothing is left."""

    ledger: str
    people: str
    releases: int
    largest: float | None
    sentence: str


def room_of(plan: Release, account: Account, ledger: str, part: str | None = None) -> Room:
    """How large the plan's ε may be, its shares and its noise being what they are."""
    found = None if account.limits is None else _largest(plan, account, part)
    return Room(ledger, account.people, len(account.counted), found, account.sentence)


def fits(plan: Release, account: Account, epsilon: float, part: str | None = None) -> bool:
    """Whether the account's limits have room for the plan at this ε."""
    try:
        account.check(promise_of(plan, epsilon).charge, part)
    except LimitError:
        return False
    return True


def _largest(plan: Release, account: Account, part: str | None) -> float:
    def within(epsilon: float) -> bool:
        return fits(plan, account, epsilon, part)

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
