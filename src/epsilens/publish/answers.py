"""What is published: the answers with their intervals, the plan, and what it promises. Nothing of the true answers.

An interval is made from the noisy numbers and the noise alone: 95 of 100 times it holds what ``interval_of`` says, the
whole table's answer only where no limit and no bound can take anything away, or where the number of people whom a limit
touched is published too. What is taken away otherwise is said in words; the number would be the data's own.

The noise is OpenDP's, and drawn only where OpenDP's own account agrees with what was assessed. It answers in silence
where it should not: infinities and NaN, a scale of 0, values beyond what a double holds exactly. All of that is checked
first. Whole numbers would get geometric noise, and thresholds on them understate δ, so every number goes in as a double
and is rounded afterwards. Its privacy map is then compared with the plan's: for Laplace noise ε = Δ₁/b, for Gaussian
noise ρ = Δ₂²/2σ² (ψ²/2), for names their δ; one that differs publishes nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

from ..certificate import Certificate
from ..data.queries import Noise, QueryKind
from ..errors import EpsilensError, require
from ..ledger.account import Account
from ..ledger.budget import CURRENCIES, Charge
from ..ledger.store import Record
from ..numerics.values import FrozenMapping, ValueSemantics
from ..plan.answers import Label
from ..plan.cells import Cells, draws_of, unit_of
from ..plan.contribution import NoisyNumber, contribution, name_probability, psi_of
from ..plan.model import Release, Size
from ..results import Result
from ..worlds import Relation
from .standalone import MISS, averaged, counted, double, interval, limited, measurement

_AGREES = 1e-12
#: OpenDP's normal tails have six digits; ours, which the plan uses, have all.
_NAMES_AGREE = {Noise.LAPLACE: 1e-9, Noise.GAUSSIAN: 1e-5}
_ROUNDED = 1e-15  # it finds δ as a difference of numbers near 1


class AccountMismatchError(EpsilensError):
    """OpenDP's account of the noise is not the one that was assessed; nothing was drawn."""


@dataclass(frozen=True)
class Drawing:
    """The noise on one kind of number of one query, in units of that number.

    ``names`` is the threshold where this number decides which groups are named.
    """

    query: int
    noisy: NoisyNumber
    noise: Noise
    scale: float
    unit: Fraction
    sensitivity: float
    promised: float  # ε, or ρ for Gaussian noise
    names: float | None = None
    groups: int = 1  # in which a person may be alone
    moving: int = 1  # whose numbers a person may move
    alone: int = 1
    delta: float = 0.0

    @property
    def terms(self) -> dict[str, object]:
        """As a stand-alone script has it."""
        size = {"scale": self.scale, "unit": float(self.unit), "sensitivity": self.sensitivity}
        names = {"threshold": self.names, "moving": self.moving, "alone": self.alone}
        return {"noise": str(self.noise.value), **size, "promised": self.promised, **names}

    @property
    def record(self) -> dict[str, object]:
        """As the ledger notes it."""
        made = {"query": self.query + 1, "number": self.noisy.value, "noise": self.noise.value}
        size = {"scale": self.plain_scale, "sensitivity": self.sensitivity * float(self.unit), "map": self.promised}
        return {**made, **size, "threshold": self.names, "delta": self.delta}

    @property
    def plain_scale(self) -> float:
        return self.scale * float(self.unit)

    def check(self) -> None:
        """Refuse noise that OpenDP would take in silence, and noise whose account is not the plan's."""
        which = f"query {self.query + 1}"
        if self.scale == 0:
            raise AccountMismatchError(
                f"{which} has noise of scale 0, for its bounds leave nothing to move: widen them"
            )
        if not (0 < self.scale < 1e300 and math.isfinite(self.sensitivity)):
            raise AccountMismatchError(
                f"{which} has noise of scale {self.scale:g}: choose an ε that gives one below 1e300"
            )
        said, delta = self._accounted()
        if not abs(said - self.promised) <= _AGREES * self.promised:
            raise AccountMismatchError(
                f"OpenDP accounts {said:.15g} for {which}, the plan {self.promised:.15g}: nothing is drawn"
            )
        if not abs(delta - self.delta) <= _NAMES_AGREE[self.noise] * self.delta + _ROUNDED * self.groups:
            raise AccountMismatchError(
                f"OpenDP accounts δ = {delta:.12g} for names of {which}, the plan {self.delta:.12g}: nothing is drawn"
            )

    def _accounted(self) -> tuple[float, float]:
        """ε (or ρ) and δ by OpenDP's privacy map."""
        if self.names is None:
            return float(self._measurement.map(self.sensitivity)), 0.0
        # A person who is replaced leaves some groups and enters others: the numbers of both move, but in each of the
        # two worlds only the names of the one kind exist because of them.
        alone = float(self.alone)
        both = self._measurement.map((self.moving, self.sensitivity, alone))
        named = self._measurement.map((self.groups, self.sensitivity, alone))
        return float(both[0]), float(named[1])

    @property
    def _measurement(self) -> Any:
        return _measurement(self.noise, self.scale, self.names)

    def draw(self, numbers: Sequence[Fraction]) -> list[float]:
        """The numbers with noise, in the plan's own terms."""
        # doubles hold whole numbers up to 2⁵³; totals are cut to it, which moves no two of them apart
        values = [double(number) for number in numbers]
        drawn = list(self._measurement(values)) if values else []
        return self._in_plan_units(drawn)

    def draw_names(self, labels: Sequence[Label], numbers: Sequence[Fraction]) -> dict[int, float]:
        """The places of the groups whose noisy number reaches the threshold, with that number."""
        texts = [json.dumps([None if part is None else str(part) for part in label]) for label in labels]
        keys = {text: place for place, text in enumerate(texts)}
        found = self._measurement({key: double(numbers[place]) for key, place in keys.items()})
        told = self._in_plan_units([found[key] for key in sorted(found)])
        return {keys[key]: value for key, value in zip(sorted(found), told, strict=True)}

    def _in_plan_units(self, drawn: Sequence[float]) -> list[float]:
        if not all(math.isfinite(value) for value in drawn):
            raise AccountMismatchError(
                f"the noise of query {self.query + 1} is beyond what a number holds: lower its scale"
            )
        return [value * float(self.unit) for value in drawn]


def drawings_of(plan: Release) -> tuple[Drawing, ...]:
    """All noise of a plan, each part checked."""
    made = tuple(drawing_of(plan, i, noisy) for i in range(len(plan.queries)) for noisy in contribution(plan, i).noisy)
    for drawing in made:
        drawing.check()
    return made


def drawing_of(plan: Release, i: int, noisy: NoisyNumber) -> Drawing:
    """The noise on one kind of number of query i."""
    one, unit = contribution(plan, i), unit_of(plan, i, noisy)
    gaussian, neighbours = plan.mechanism.noise is Noise.GAUSSIAN, plan.mechanism.neighbours
    part = plan.shares[i] * one.part(noisy)
    size = one.sensitivity(noisy, neighbours, 2 if gaussian else 1) / float(unit)
    promised = plan.epsilon * part
    if gaussian:
        promised = psi_of(promised, (plan.mechanism.delta or 0.0) * part) ** 2 / 2
    drawn = draws_of(plan, i)[noisy]
    names, delta = drawn.threshold, 0.0
    if names is not None:
        delta = -math.expm1(one.groups * math.log1p(-name_probability(plan, i, plan.epsilon)))
    scale, moving = drawn.scale / float(unit), one.groups * (2 if neighbours is Relation.REPLACE else 1)
    return Drawing(i, noisy, drawn.noise, scale, unit, size, promised, names, one.groups, moving, one.owner_size, delta)


@cache
def _measurement(noise: Noise, scale: float, threshold: float | None) -> Any:
    require("opendp.prelude", "drawing noise", "release")
    return measurement(noise.value, scale, threshold)


@dataclass(frozen=True)
class PlannedAnswers:
    """The answers of one query; ``answers`` is None where a threshold on noisy numbers names the groups."""

    query: int
    name: str
    by: tuple[str, ...]
    answers: int | None
    noise: Noise
    scales: tuple[tuple[NoisyNumber, float], ...]  # b or σ, on each kind of number

    def to_dict(self) -> dict[str, object]:
        scales = {noisy.value: scale for noisy, scale in self.scales}
        return {**vars(self), "query": self.query + 1, "by": list(self.by), "noise": self.noise.value, "scales": scales}


@dataclass(frozen=True)
class RemainingBudget:
    """What one currency of an account comes to: ``after`` this release, and what is ``left`` of the limit then.

    >>> RemainingBudget("psi", 0.0, 3.0, 5.0).left, RemainingBudget("epsilon", 0.5, 1.0, None).left
    (4.0, None)
    """

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

    def to_dict(self) -> dict[str, object]:
        told = {"spent": self.spent, "after": self.after, "limit": self.limit, "left": self.left}
        return {"currency": self.currency, **{k: v if v is None or math.isfinite(v) else None for k, v in told.items()}}


def planned_answers(plan: Release, drawings: Sequence[Drawing]) -> tuple[PlannedAnswers, ...]:
    made = []
    for i, asked in enumerate(plan.queries):
        mine = [d for d in drawings if d.query == i]
        count = 1 if not asked.split_by else None if asked.groups is None else len(asked.groups)
        scales = tuple((d.noisy, d.plain_scale) for d in mine)
        made.append(
            PlannedAnswers(i, asked.name or str(asked.to_query()), tuple(asked.split_by), count, mine[0].noise, scales)
        )
    return tuple(made)


def remaining_budget(account: Account, charge: Charge, part: str | None = None) -> tuple[RemainingBudget, ...]:
    """What is spent, would be, and may be: in every currency that has a price or a limit, and δ where there is one."""
    now, after, limits = account.spent, account.after(charge, part), account.limits
    made = []
    for name in CURRENCIES:
        limit = None if limits is None else getattr(limits, name)
        if limit is not None or math.isfinite(getattr(after, name)):
            made.append(RemainingBudget(name, getattr(now, name), getattr(after, name), limit))
    field = "slack" if limits is not None and limits.currencies == ("epsilon",) else "delta"
    if getattr(after, field) or (limits is not None and limits.delta):
        allowed = None if limits is None else limits.delta
        made.append(RemainingBudget("delta", getattr(now, field), getattr(after, field), allowed))
    return tuple(made)


#: What the interval of that number holds.
TOUCHED = "the people whom the limit touched"


def interval_of(plan: Release, i: int) -> str:
    """What the intervals of query i hold: the number on the whole table, or the one that limits and bounds leave.

    >>> from epsilens.plan.file import read_release
    >>> plan = {"data": {"table": "t", "person": "who"}, "mechanism": {"epsilon": 1}, "queries": [
    ...     {"count": True}, {"count": True, "by": "ward", "threshold": 9}, {"sum": "x", "bounds": [0, 9]},
    ...     {"count": True, "by": "ward", "threshold": 9, "touched": "10%"}]}
    >>> [interval_of(read_release(plan), i) for i in range(4)]
    ['the count', 'the limited count', 'the limited sum', 'the count']
    """
    query, one = plan.queries[i], contribution(plan, i)
    noun = query.kind.value if query.kind.bounded else "count"
    limited = query.kind.bounded or (one.drops and query.touched is None)
    return f"the limited {noun}" if limited else f"the {noun}"


def touched_name(name: str) -> str:
    return f"{name}: people in more groups than they are counted in"


def loss_sentences(plan: Release) -> tuple[str, ...]:
    """What bounds and limits may have taken away before the noise, in words: the amounts are the data's own."""
    made = []
    if any(query.bounds is not None for query in plan.queries):
        made.append(
            "Values beyond the bounds were cut to them, which may move sums and averages; by how much is not told."
        )
    if plan.data.several:
        made.append(
            "Of people with more rows or groups than the plan allows only some were used, chosen by lot, which may "
            "lower counts and sums; by how much is not told."
        )
    if any(query.threshold is not None for query in plan.queries):
        made.append("Groups whose noisy number of people is below the threshold are left out.")
    if any(query.groups is not None for query in plan.queries):
        made.append("Groups are those that were listed beforehand; rows in other groups are not counted.")
    limited = [interval_of(plan, i).startswith("the limited") for i in range(len(plan.queries))]
    holds = "Each interval by itself holds, 95 times of 100,"
    left = "what limits and bounds leave of the whole table’s"
    if all(limited):
        made.append(f"{holds} the limited answer: {left}.")
    elif any(limited):
        made.append(f"{holds} what the column interval_of says. A limited answer is {left}.")
    else:
        made.append(f"{holds} the answer on the whole table.")
    return tuple(made)


LEVEL = 1 - MISS


@dataclass(frozen=True)
class PublishedAnswer:
    """One number: which query and group it answers, and an interval that holds ``interval_of`` 95 times of 100."""

    query: int
    name: str
    group: tuple[tuple[str, str | None], ...]
    answer: float
    low: float
    high: float
    noise: float  # the scale of the noise, b or σ; of an average's total
    interval_of: str = ""

    def to_dict(self) -> dict[str, object]:
        return {**vars(self), "query": self.query + 1, "group": dict(self.group)}

    @classmethod
    def from_dict(cls, said: Record) -> PublishedAnswer:
        group = tuple((str(k), None if v is None else str(v)) for k, v in said["group"].items())
        answer, low, high, noise = (float(said[name]) for name in ("answer", "low", "high", "noise"))
        what = str(said.get("interval_of", ""))
        return cls(int(said["query"]) - 1, str(said["name"]), group, answer, low, high, noise, what)


@dataclass(frozen=True, eq=False, repr=False)
class Published(ValueSemantics, Result):
    """A release; ``kind`` is ``release``, ``saved`` (published before), ``dry run`` or ``synthetic``."""

    shown_as = "published"

    plan: Release
    kind: str
    answers: tuple[PublishedAnswer, ...]
    guarantee: str
    success: float
    spent: Mapping[str, float | None]
    lost: tuple[str, ...]
    account: str = ""
    ledger: str = ""
    release: str = ""
    head: str = ""
    at: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    certificate: Certificate | None = None  # of the noise of the plan
    offered: tuple[PlannedAnswers, ...] = ()  # of a dry run: what would be published,
    room: tuple[RemainingBudget, ...] = ()  # and what of each limit would be left

    def __post_init__(self) -> None:
        object.__setattr__(self, "spent", FrozenMapping(self.spent))
        object.__setattr__(self, "versions", FrozenMapping(self.versions))

    @property
    def title(self) -> str:
        return self.plan.title

    def to_dict(self) -> dict[str, Any]:
        """Everything that may be published, as plain values, with a schema version: not where the ledger lies."""
        answers, offered, room = ([one.to_dict() for one in each] for each in (self.answers, self.offered, self.room))
        return (
            {"schema": 1, "kind": self.kind, "title": self.title, "guarantee": self.guarantee, "success": self.success}
            | {"answers": answers, "level": LEVEL, "lost": list(self.lost), "spent": dict(self.spent)}
            | {"account": self.account, "ledger": bool(self.ledger), "release": self.release, "head": self.head}
            | {"at": self.at, "versions": dict(self.versions), "plan": self.plan.public()}
            | {"certificate": None if self.certificate is None else self.certificate.to_dict()}
            | {"offered": offered, "room": room}
        )

    def __repr__(self) -> str:
        return f"Published(title={self.title[:60]!r}, kind={self.kind!r}, answers={len(self.answers)})"


@dataclass(frozen=True)
class NoisyQuery:
    """The noisy numbers of one query, in the plan's terms, for the groups that are published."""

    query: int
    groups: tuple[Label, ...]
    numbers: Mapping[NoisyNumber, Sequence[float]]
    sizes: Sequence[int] = ()


def answers_of(plan: Release, noised: NoisyQuery, drawings: Mapping[NoisyNumber, Drawing]) -> list[PublishedAnswer]:
    """The published answers of one query."""
    i = noised.query
    asked = plan.queries[i]
    name, what = asked.name or str(asked.to_query()), interval_of(plan, i)
    some = noised.numbers[NoisyNumber.TOUCHED][0] if NoisyNumber.TOUCHED in noised.numbers else None
    terms = {noisy.value: drawing.terms for noisy, drawing in drawings.items()}
    made = []
    for place, label in enumerate(noised.groups):
        parts = zip(asked.split_by, label, strict=True)
        group = tuple((column, None if part is None else str(part)) for column, part in parts)
        if asked.kind is QueryKind.AVERAGE:
            numbers = _average(plan, noised, drawings, place)
        elif asked.kind.bounded:
            numbers = _sum(drawings[NoisyNumber.ANSWER], noised.numbers[NoisyNumber.ANSWER][place])
        else:
            found = counted(terms, noised.numbers[NoisyNumber.ANSWER][place], some)
            # Counts may come out below 0: cut there, sums of them would be too large.
            numbers = (*found, drawings[NoisyNumber.ANSWER].plain_scale)
        made.append(PublishedAnswer(i, name, group, *numbers, what))
    if some is not None:
        answer, low, high = limited(terms["touched"], some)
        noise = drawings[NoisyNumber.TOUCHED].plain_scale
        made.append(PublishedAnswer(i, touched_name(name), (), answer, low, high, noise, TOUCHED))
    return made


def _sum(drawing: Drawing, value: float) -> tuple[float, float, float, float]:
    scale = drawing.plain_scale
    digits = _digits(scale)
    half = 0.5 * 10.0**-digits  # of rounding
    answer = round(value, digits) + 0.0
    low, high = interval(drawing.noise.value, scale, answer)
    return answer, _down(low - half, digits), _up(high + half, digits), scale


def _down(value: float, digits: int) -> float:
    return math.floor(value * 10.0**digits) / 10.0**digits


def _up(value: float, digits: int) -> float:
    return math.ceil(value * 10.0**digits) / 10.0**digits


def _average(
    plan: Release, noised: NoisyQuery, drawings: Mapping[NoisyNumber, Drawing], place: int
) -> tuple[float, float, float, float]:
    """The average and its interval, rounded outwards to what the noise leaves."""
    asked, noise = plan.queries[noised.query], drawings[NoisyNumber.TOTAL]
    least, most = asked.bounds or (0.0, 0.0)
    terms = {noisy.value: {**d.terms, "scale": d.plain_scale, "unit": 1.0} for noisy, d in drawings.items()}
    public = asked.size is Size.PUBLIC
    numbers = {noisy.value: each[place] for noisy, each in noised.numbers.items()}
    if public:
        numbers["size"] = float(noised.sizes[place])
    found, low, high = averaged({"bounds": (least, most), "drawings": terms, "public": public}, numbers)
    digits = _digits(max(high - low, (most - least) * 1e-9) / 4)
    answer = round(found, digits) + 0.0
    return answer, max(_down(low, digits), least), min(_up(high, digits), most), noise.plain_scale


def _digits(scale: float) -> int:
    """Decimals that say no more than the noise leaves: about a hundredth of it."""
    return min(max(2 - math.floor(math.log10(scale)), 0), 300)


def draw_answers(plan: Release, drawings: Sequence[Drawing], exact: Sequence[Cells]) -> tuple[PublishedAnswer, ...]:
    """The answers of a plan, each under noise of its own."""
    made: list[PublishedAnswer] = []
    for one in exact:
        own = {d.noisy: d for d in drawings if d.query == one.query}
        made += answers_of(plan, _draw_query(one, own), own)
    return tuple(made)


def _draw_query(one: Cells, drawings: Mapping[NoisyNumber, Drawing]) -> NoisyQuery:
    """Noise on every number of a query; where a threshold names the groups, on those that it names."""
    places = list(range(len(one.labels)))
    numbers: dict[NoisyNumber, list[float]] = {}
    namer = next((d for d in drawings.values() if d.names is not None), None)
    if namer is not None:
        named = namer.draw_names(one.labels, one.numbers[namer.noisy])
        places = sorted(named)
        numbers[namer.noisy] = [named[place] for place in places]
    for noisy, drawing in drawings.items():
        if noisy is NoisyNumber.TOUCHED:
            numbers[noisy] = drawing.draw(one.numbers[noisy])
        elif drawing is not namer:
            numbers[noisy] = drawing.draw([one.numbers[noisy][place] for place in places])
    sizes = [one.sizes[place] for place in places] if one.sizes else ()
    return NoisyQuery(one.query, tuple(one.labels[place] for place in places), numbers, sizes)
