"""Assess a planned release: what each adversary could learn, the largest ε within the limits, the accuracy it buys.

No mathematics of its own: the adversaries' experiments come from :mod:`.adversaries` and are read in :mod:`.risks`, the
people who can be isolated come from the scan, the answers from the table, and :mod:`.verdict` decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..data.queries import Query
from ..data.scan.request import affordable
from ..data.scan.result import Scan
from ..data.scan.scan import DISCLOSURE, scan
from ..data.tables.columns import as_read, column_of
from ..data.tables.table import OpenTable, open_table, reading
from ..errors import InputError
from ..ledger.account import Account
from ..ledger.ledger import Ledger
from ..numerics.values import FrozenMapping, ValueSemantics
from ..plan.answers import Answer, answers_of
from ..plan.file import about, dotted, read_release
from ..plan.labels import as_written, mentioned
from ..plan.model import Release, Resemblance, Split
from ..plan.movement import CorrelationFactor, correlation_factors
from ..plan.noise import unsaid
from ..results import ChartLike, ChartsLike, Result, presenter
from .accuracy import Proposal, QueryAccuracy, accuracy_of, candidates_of, limited, lost_by, proposals
from .adversaries import Setting
from .guarantee import Room, fits, guarantee_of, promise_of, room_of
from .provenance import Precedent, Warned, assumptions, before, owned, precedents, record, spellings
from .risks import (
    Curve,
    Person,
    Risk,
    RiskLimit,
    Typical,
    blind_limits,
    curve_of,
    limits_of,
    people_of,
    read_again,
    risks_of,
    together_of,
    typical_of,
)
from .split import SplitComparison, compare_splits
from .verdict import Allowed, Verdict, allowed_by, enough_by, judge, needed_by

SCHEMA = 2


@dataclass(frozen=True, eq=False, repr=False)
class Assessment(ValueSemantics, Result):
    """What a planned release gives away, and what ε to choose instead; ``verdict`` says where it stands.

    ``typical`` is the membership test against people as they are, ``together`` against k people at once. ``split``
    compares ways to share ε, ``proposals`` are bounds and limits that would lose less: both looked at the data.
    ``cautions`` are about the table itself: read them first. ``command`` is what was typed to get it; empty where
    nothing was.
    """

    shown_as = "assessment"

    release: Release
    epsilon: float
    risks: tuple[Risk, ...]
    verdict: Verdict
    queries: tuple[QueryAccuracy, ...]
    curve: Curve
    scan: Scan | None
    people: int | None
    precedents: tuple[Precedent, ...]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    reproduce: Mapping[str, str]
    relations: tuple[CorrelationFactor, ...] = ()
    typical: Typical | None = None
    together: tuple[tuple[int, float], ...] = ()
    split: SplitComparison | None = None
    proposals: tuple[Proposal, ...] = ()
    cautions: tuple[Warned, ...] = ()
    room: Room | None = None  # what the ledger leaves
    typical_then: Typical | None = None  # at the ε to choose instead
    guarantee: str = ""  # what a release of the plan says of itself, and the same at the ε to choose instead
    guarantee_then: str = ""
    command: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "reproduce", FrozenMapping(self.reproduce))

    @property
    def exceeded(self) -> bool:
        """Whether the planned release breaks a limit, on risk or on error."""
        return self.verdict.exceeded

    @property
    def recommended(self) -> float | None:
        """The ε to choose: the largest within the limits on risk, None without one, 0 where none keeps them."""
        return self.verdict.recommended

    @property
    def binding(self) -> str | None:
        """The adversary who allows the least ε, by key."""
        return self.verdict.binding

    @property
    def possible(self) -> bool:
        """Whether some ε meets every limit on risk."""
        return self.verdict.possible

    @property
    def at_least(self) -> float | None:
        """The smallest ε that keeps every query within the limit on error, if there is one."""
        return self.verdict.at_least

    @property
    def leading(self) -> Risk:
        """The risk a report speaks of first: the one that sets the recommendation, or else the membership test."""
        return next(r for r in self.risks if r.key == self.verdict.leading)

    @property
    def hardest(self) -> QueryAccuracy:
        """The query with the largest error for its size."""
        return self.queries[self.verdict.hardest]

    def __repr__(self) -> str:
        title = self.release.title if len(self.release.title) <= 60 else self.release.title[:59] + "…"
        return (
            f"Assessment(title={title!r}, verdict={self.verdict.standing.value!r}, epsilon={self.epsilon:g}, "
            f"recommended={self.recommended}, adversaries={len(self.risks)}, queries={len(self.queries)}, "
            f"people={self.people})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, with a schema version."""
        return presenter().data(self)

    def to_board(self) -> str:
        """One sheet of A4 for those who decide, as a self-contained page: what ε is, what it means, who is affected."""
        return presenter().board(self)

    def to_board_pdf(self) -> bytes:
        """The same sheet as a PDF."""
        return presenter().board_pdf(self)

    def chart(self, name: str | Sequence[str] = "risk") -> ChartLike | ChartsLike:
        """``risk`` or ``accuracy`` against ε, ``simulated`` releases, or ``precedents``; several where it is a list."""
        if isinstance(name, list | tuple):
            return presenter().charts([presenter().chart(self, one) for one in name])
        return presenter().chart(self, cast(str, name))

    def frame(self) -> Any:
        """The risks as a pandas DataFrame, a row for each adversary: planned, recommended, without, and the limit."""
        return presenter().table(
            [
                {
                    "adversary": r.key, "name": r.name, "planned": r.planned, "recommended": r.recommended,
                    "without": r.baseline, "limit": r.limit, "largest_epsilon": r.largest,
                }
                for r in self.risks
            ],
            "adversary",
        )  # fmt: skip

    def to_registry(self) -> str:
        """A record for the public deployments registry, in YAML."""
        return presenter().registry(self)


def assess(
    release: str | Path | Mapping[str, Any] | Release,
    *,
    engine: Any = None,
    table: Any = None,
    ledger: Any = None,
    people: str | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Assessment:
    """Assess a release given as a YAML file, YAML text, a mapping or a :class:`~epsilens.plan.model.Release`.

    ``table`` replaces the release's own table by a frame or anything else that can be opened; ``engine="spark"``
    reads it with Spark. With a ``ledger`` the recommendation is for what is left to ``people``, those whom the table is
    about. An error about an entry of the release carries its path as ``parameter``: ``data.secret``.
    """
    plan = as_written(read_release(release))
    account = _account(ledger, people)
    queries = []
    for i, query in enumerate(plan.queries):
        with about(dotted(("queries", i)), where=dotted(("queries", i, "where"))):
            queries.append(query.planned())
    with about("data.quasi_identifiers"):
        affordable(len(plan.data.quasi_identifiers), settable=False)
    tell = _Steps(len(queries) + 3, progress)
    with about("data.table", engine="engine"):
        opened = open_table(plan.data.table if table is None else table, engine)
    with opened:
        seen = _look(opened, plan, tuple(queries), tell)
    # The shares of the least error come from the answers: then no ε is that of the plan alone.
    divided, plan = plan.mechanism.split is Split.LEAST_ERROR, seen.plan
    kind = opened.engine.kind
    setting = Setting(plan, seen.scan, seen.related)
    tell(tell.steps - 2, "reading the adversaries")
    risks, notes = risks_of(setting)
    room = None if account is None else room_of(plan, *account)
    limits, left = limits_of(setting, risks), None if room is None else room.largest

    def within(found: Sequence[RiskLimit]) -> Allowed:
        return allowed_by(found, plan.epsilon, left, lambda e: account is None or fits(plan, account[0], e))

    allowed = within(limits)
    accuracy = tuple(
        limited(accuracy_of(plan, i, answers, allowed.recommended), plan) for i, answers in enumerate(seen.answers)
    )
    tell(tell.steps - 1, "drawing the curve")
    enough = enough_by(accuracy, allowed, limits)
    risks = read_again(setting, risks, allowed.recommended, enough or needed_by(accuracy))
    found = seen.scan
    unseen = None if divided and plan.risk_limits else blind_limits(setting, risks)
    verdict = judge(
        plan, risks, accuracy, allowed, enough, None if unseen is None else within(unseen).recommended, left
    )
    instead = verdict.instead
    made = Assessment(
        release=plan, epsilon=plan.epsilon,
        risks=tuple(sorted(risks, key=lambda r: np.inf if r.largest is None else r.largest)),
        verdict=verdict,
        queries=accuracy,
        curve=curve_of(setting, risks, accuracy, allowed.recommended), scan=found,
        people=found.people if found and (plan.data.person or not plan.data.unit) else None, precedents=precedents(),
        assumptions=assumptions(plan, setting),
        notes=(*notes, *(found.notes if found else ()), *(() if found else (DISCLOSURE,))),
        reproduce=record(plan, kind, table), relations=seen.related,
        typical=typical_of(plan, seen.people, plan.epsilon),
        together=together_of(plan, plan.epsilon), split=seen.split, proposals=seen.proposals,
        cautions=seen.cautions, room=room,
        typical_then=None if instead is None else typical_of(plan, seen.people, instead),
        guarantee="" if unsaid(plan) else guarantee_of(plan, promise_of(plan)),  # no release of it is made
        guarantee_then="" if instead is None else guarantee_of(plan, promise_of(plan, instead), instead),
    )  # fmt: skip
    tell(tell.steps, "done")
    return made


def _account(ledger: Any, people: str | None) -> tuple[Account, str] | None:
    """The account of those whom the table is about, and where it is kept."""
    if ledger is None:
        if people is not None:
            raise InputError("people is given without a ledger: name the one that has the account", parameter="people")
        return None
    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    if not book.store.exists:
        book.accounts()  # says that there is none: a name that is mistyped must not read as an empty account
    return book.account(book.called(people)), book.store.name


@dataclass(frozen=True)
class _Steps:
    """How far the work is, for a progress callback, if there is one."""

    steps: int
    callback: Callable[[int, int, str], None] | None

    def __call__(self, done: int, what: str) -> None:
        if self.callback is not None:
            self.callback(done, self.steps, what)


@dataclass(frozen=True)
class _Seen:
    """All that is taken from the table."""

    plan: Release  # with the shares that the least error asks for
    answers: tuple[tuple[Answer, ...], ...]
    people: tuple[Person, ...]
    split: SplitComparison | None
    proposals: tuple[Proposal, ...]
    related: tuple[CorrelationFactor, ...]
    scan: Scan | None
    cautions: tuple[Warned, ...]


def _look(opened: OpenTable, plan: Release, queries: tuple[Query, ...], tell: _Steps) -> _Seen:
    """Everything an assessment takes from the table."""
    with about("data.read"):
        with reading(opened):
            cautions = before(opened, plan)
        _read(opened, plan, tell)
    with about("data.person"), reading(opened):
        opened.table, nobody = owned(opened, plan)
    for i, query in enumerate(queries):
        with about(dotted(("queries", i)), where=dotted(("queries", i, "where"))):
            query.check(opened.table)
    answers = answers_of(opened, plan, tell)
    if plan.adversary.correlation is not Resemblance.NONE:
        tell(len(queries), "comparing related people")
    with about("data.related", person="data.person"):
        alike = correlation_factors(plan, opened, queries)
    split = compare_splits(plan, answers, plan.epsilon) if len(queries) > 1 else None
    if split is not None and plan.mechanism.split is Split.LEAST_ERROR:
        plan = plan.shared(split.best.shares)
    return _Seen(
        plan, answers, people_of(opened, plan, answers=answers), split, _proposed(opened, plan, answers), alike,
        _scanned(opened, plan, queries, tell), (*cautions, *nobody, *spellings(plan, answers)),
    )  # fmt: skip


def _read(opened: OpenTable, plan: Release, tell: _Steps) -> None:
    """Read the columns as the plan says, once for all that follows."""
    if not plan.data.read:
        return
    tell(0, "reading columns of text")
    read = as_read(opened.table, plan.data.forms)
    with reading(opened):
        opened.table = opened.engine.cache(read.select(*(c for c in read.columns if c in mentioned(plan))))


def _proposed(opened: OpenTable, plan: Release, answers: tuple[tuple[Answer, ...], ...]) -> tuple[Proposal, ...]:
    """Better bounds and limits, where the planned ones lose more than the noise."""
    accuracy = [accuracy_of(plan, i, one, None) for i, one in enumerate(answers)]
    lost = lost_by(plan, accuracy)
    return proposals(plan, accuracy, candidates_of(opened, plan, lost)) if lost else ()


def _scanned(opened: OpenTable, plan: Release, queries: tuple[Query, ...], tell: _Steps) -> Scan | None:
    data = plan.data
    with about("data.quasi_identifiers", person="data.person", max_rows="data.max_rows", table="data.table"):
        for name in data.quasi_identifiers:
            column_of(opened.table, name, "quasi_identifiers")
        if not data.quasi_identifiers:
            return None
        return scan(
            opened,
            list(data.quasi_identifiers),
            person=data.person,
            max_rows=data.max_rows if data.person else None,
            queries=queries,
            progress=lambda done, of, what: tell(len(queries), f"scanning, {what}"),
        )
