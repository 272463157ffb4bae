"""What is published: the answers with their intervals, the plan, and what it promises. Nothing of the true answers.

An interval is made from the noisy numbers and the noise alone: 95 of 100 times it holds what ``interval_of`` says, the
whole table's answer only where no limit and no bound can take anything away, or where the number of people whom a limit
touched is published too. What is taken away otherwise is said in words; the number would be the data's own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from .. import __version__
from ..data.queries import QueryKind
from ..numerics.values import FrozenMapping, ValueSemantics
from ..plan.contribution import Noisy
from ..plan.plan import Release
from ..plan.words import Size
from ..results import Result
from .noise import Drawing
from .offer import Left, Offered
from .standalone import MISS, counted, interval, limited, quantile
from .words import TOUCHED, interval_of, touched_name

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

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "query": self.query + 1, "name": self.name, "group": dict(self.group), "answer": self.answer,
            "low": self.low, "high": self.high, "noise": self.noise, "interval_of": self.interval_of,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> PublishedAnswer:
        """Read again."""
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
    people: str = ""
    ledger: str = ""
    release: str = ""
    head: str = ""
    at: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    offered: tuple[Offered, ...] = ()  # of a dry run: what would be published,
    room: tuple[Left, ...] = ()  # and what of each limit would be left

    def __post_init__(self) -> None:
        object.__setattr__(self, "spent", FrozenMapping(self.spent))
        object.__setattr__(self, "versions", FrozenMapping(self.versions))

    @property
    def title(self) -> str:
        """Of the plan."""
        return self.plan.title

    def to_dict(self) -> dict[str, Any]:
        """Everything that may be published, as plain values, with a schema version: not where the ledger lies."""
        return {
            "schema": 1, "kind": self.kind, "title": self.title, "guarantee": self.guarantee, "success": self.success,
            "answers": [answer.to_dict() for answer in self.answers], "level": LEVEL, "lost": list(self.lost),
            "spent": dict(self.spent), "people": self.people, "ledger": bool(self.ledger), "release": self.release,
            "head": self.head, "at": self.at, "versions": dict(self.versions),
            "plan": self.plan.public(),
            "offered": [one.to_dict() for one in self.offered], "room": [one.to_dict() for one in self.room],
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"Published(title={self.title[:60]!r}, kind={self.kind!r}, answers={len(self.answers)})"


@dataclass(frozen=True)
class Noised:
    """The noisy numbers of one query, in the plan's terms, for the groups that are published."""

    query: int
    groups: tuple[tuple[Any, ...], ...]
    numbers: Mapping[Noisy, Sequence[float]]
    sizes: Sequence[int] = ()


def answers_of(plan: Release, noised: Noised, drawings: Mapping[Noisy, Drawing]) -> list[PublishedAnswer]:
    """The published answers of one query."""
    i = noised.query
    asked = plan.queries[i]
    name, what = asked.name or str(asked.planned()), interval_of(plan, i)
    some = noised.numbers[Noisy.TOUCHED][0] if Noisy.TOUCHED in noised.numbers else None
    terms = {noisy.value: drawing.terms for noisy, drawing in drawings.items()}
    made = []
    for place, label in enumerate(noised.groups):
        parts = zip(asked.split_by, label, strict=True)
        group = tuple((column, None if part is None else str(part)) for column, part in parts)
        if asked.kind is QueryKind.AVERAGE:
            numbers = _average(plan, noised, drawings, place)
        elif asked.kind.bounded:
            numbers = _sum(drawings[Noisy.ANSWER], noised.numbers[Noisy.ANSWER][place])
        else:
            found = counted(terms, noised.numbers[Noisy.ANSWER][place], some)
            # Counts may come out below 0: cut there, sums of them would be too large.
            numbers = (*found, drawings[Noisy.ANSWER].plain_scale)
        made.append(PublishedAnswer(i, name, group, *numbers, what))
    if some is not None:
        answer, low, high = limited(terms["touched"], some)
        noise = drawings[Noisy.TOUCHED].plain_scale
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
    plan: Release, noised: Noised, drawings: Mapping[Noisy, Drawing], place: int
) -> tuple[float, float, float, float]:
    """Centre + S/N, within its bounds; the interval from those of both, each at 97.5 of 100, which hold together."""
    asked = plan.queries[noised.query]
    least, most = asked.bounds or (0.0, 0.0)
    centre = least / 2 + most / 2
    total, noise = noised.numbers[Noisy.TOTAL][place], drawings[Noisy.TOTAL]
    public = asked.size is Size.PUBLIC
    share = quantile(noise.noise.value, MISS / (2 if public else 4))
    totals = total - share * noise.plain_scale, total + share * noise.plain_scale
    if public:
        size, sizes = float(noised.sizes[place]), (float(noised.sizes[place]),) * 2
    else:
        size = noised.numbers[Noisy.SIZE][place]
        away = share * drawings[Noisy.SIZE].plain_scale
        sizes = size - away, size + away
    found = centre + total / max(size, 1.0)  # as its error was assessed
    if sizes[0] >= 1:
        ends = [centre + t / n for t in totals for n in sizes]
        low, high = min(ends), max(ends)
    else:
        low, high = least, most
    width = max(min(high, most) - max(low, least), (most - least) * 1e-9)
    digits = _digits(width / 4)
    cut = [min(max(value, least), most) for value in (found, low, high)]
    answer = round(cut[0], digits) + 0.0
    return answer, max(_down(cut[1], digits), least), min(_up(cut[2], digits), most), noise.plain_scale


def _digits(scale: float) -> int:
    """Decimals that say no more than the noise leaves: about a hundredth of it."""
    return min(max(2 - math.floor(math.log10(scale)), 0), 300)


def versions() -> dict[str, str]:
    """What made it."""
    found = {"epsilens": __version__}
    for package in ("opendp", "ibis-framework", "duckdb"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
