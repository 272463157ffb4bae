"""What a release would publish and spend: known from the plan and the account, before any data is looked at.

>>> Left("psi", 0.0, 3.0, 5.0).left, Left("epsilon", 0.5, 1.0, None).left
(4.0, None)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..data.queries import Noise
from ..ledger.account import Account
from ..ledger.charge import Charge
from ..ledger.limits import CURRENCIES
from ..plan.contribution import Noisy
from ..plan.plan import Release
from .noise import Drawing


@dataclass(frozen=True)
class Offered:
    """The answers of one query; ``answers`` is None where a threshold on noisy numbers names the groups."""

    query: int
    name: str
    by: tuple[str, ...]
    answers: int | None
    noise: Noise
    scales: tuple[tuple[Noisy, float], ...]  # b or σ, on each kind of number

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "query": self.query + 1, "name": self.name, "by": list(self.by), "answers": self.answers,
            "noise": self.noise.value, "scales": {noisy.value: scale for noisy, scale in self.scales},
        }  # fmt: skip


@dataclass(frozen=True)
class Left:
    """What one currency of an account comes to: ``after`` this release, and what is ``left`` of the limit then."""

    currency: str
    spent: float
    after: float
    limit: float | None

    @property
    def left(self) -> float | None:
        """What one more release might cost; the squares of ψ add up, all else does."""
        if self.limit is None:
            return None
        if self.currency == "psi":
            return math.sqrt(max((self.limit - self.after) * (self.limit + self.after), 0.0))
        return max(self.limit - self.after, 0.0)

    def to_dict(self) -> dict[str, Any]:
        """For JSON; null where there is no price."""
        told = {"spent": self.spent, "after": self.after, "limit": self.limit, "left": self.left}
        return {"currency": self.currency, **{k: v if v is None or math.isfinite(v) else None for k, v in told.items()}}


def offered_of(plan: Release, drawings: Sequence[Drawing]) -> tuple[Offered, ...]:
    """The answers of a plan, by query."""
    made = []
    for i, asked in enumerate(plan.queries):
        mine = [d for d in drawings if d.query == i]
        count = 1 if not asked.split_by else None if asked.groups is None else len(asked.groups)
        scales = tuple((d.noisy, d.plain_scale) for d in mine)
        made.append(Offered(i, asked.name or str(asked.planned()), tuple(asked.split_by), count, mine[0].noise, scales))
    return tuple(made)


def left_of(account: Account, charge: Charge, part: str | None = None) -> tuple[Left, ...]:
    """What is spent, would be, and may be: in every currency that has a price or a limit, and δ where there is one."""
    now, after, limits = account.spent, account.after(charge, part), account.limits
    made = []
    for name in CURRENCIES:
        limit = None if limits is None else getattr(limits, name)
        if limit is not None or math.isfinite(getattr(after, name)):
            made.append(Left(name, getattr(now, name), getattr(after, name), limit))
    field = "slack" if limits is not None and limits.currencies == ("epsilon",) else "delta"
    if getattr(after, field) or (limits is not None and limits.delta):
        allowed = None if limits is None else limits.delta
        made.append(Left("delta", getattr(now, field), getattr(after, field), allowed))
    return tuple(made)
