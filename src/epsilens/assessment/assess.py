"""Assess a planned release: what each adversary could learn, the largest ε within the limits, the accuracy it buys.

No mathematics of its own: the adversaries' experiments come from :mod:`.adversaries` and are read in :mod:`.risks`, the
people who can be isolated come from the scan, the answers from the table, and :mod:`.verdict` decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..certificate import Certificate
from ..data.queries import Query
from ..data.scan.request import check_affordable
from ..data.scan.result import Scan
from ..data.scan.scan import DISCLOSURE, scan
from ..data.tables.columns import column_of, parse_columns
from ..data.tables.sources import bundled_title
from ..data.tables.table import OpenTable, open_table, reading
from ..errors import InputError
from ..ledger.account import Account
from ..ledger.ledger import Ledger
from ..numerics.values import FrozenMapping, ValueSemantics
from ..plan.answers import ExactAnswer, TableAnswers
from ..plan.contribution import unprotected_names
from ..plan.file import dotted_path, error_place, read_release
from ..plan.labels import mentioned_columns, normalized_plan
from ..plan.model import CorrelationSource, Release, Split
from ..plan.movement import CorrelationFactor, correlation_factors
from ..results import ChartLike, ChartsLike, Result, presenter
from .accuracy import Proposal, QueryAccuracy, accuracy_of, candidates_of, losing_choices, proposals, with_error_limit
from .adversaries import Setting
from .provenance import (
    LedgerHeadroom,
    Precedent,
    TableCaution,
    assumptions,
    fits_ledger,
    guarantee_sentence,
    ledger_headroom,
    owned_rows,
    plan_guarantee,
    precedents,
    reproduction_record,
    spelling_cautions,
    stored_table_cautions,
)
from .risks import (
    AdversaryRisk,
    RiskCurve,
    RiskLimit,
    SampledPerson,
    TypicalRisk,
    blind_limits,
    curve_of,
    group_risks,
    limits_on_risk,
    reread_risks,
    risks_of,
    sample_people,
    typical_risk,
)
from .split import (
    ReleaseFigures,
    SimulatedReleases,
    SplitComparison,
    SplitFigures,
    compare_splits,
    release_figures,
    simulated_releases,
    split_figures,
)
from .verdict import AllowedEpsilon, Verdict, allowed_epsilon, judge, needed_epsilon, sufficient_epsilon

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
    risks: tuple[AdversaryRisk, ...]
    verdict: Verdict
    queries: tuple[QueryAccuracy, ...]
    curve: RiskCurve
    scan: Scan | None
    people: int | None
    precedents: tuple[Precedent, ...]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    reproduce: Mapping[str, str]
    relations: tuple[CorrelationFactor, ...] = ()
    typical: TypicalRisk | None = None
    together: tuple[tuple[int, float], ...] = ()
    split: SplitComparison | None = None
    proposals: tuple[Proposal, ...] = ()
    cautions: tuple[TableCaution, ...] = ()
    room: LedgerHeadroom | None = None  # what the ledger leaves
    typical_then: TypicalRisk | None = None  # at the ε to choose instead
    guarantee: str = ""  # what a release of the plan says of itself, and the same at the ε to choose instead
    guarantee_then: str = ""
    certificate: Certificate | None = None  # of the noise of the plan
    revealed_names: tuple[int, ...] = ()  # the queries whose groups' names may give a person away
    table_title: str = ""  # what its publisher calls a bundled table
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
    def leading(self) -> AdversaryRisk:
        """The risk a report speaks of first: the one that sets the recommendation, or else the membership test."""
        return next(r for r in self.risks if r.key == self.verdict.leading)

    @property
    def hardest(self) -> QueryAccuracy:
        """The query with the largest error for its size."""
        return self.queries[self.verdict.hardest]

    @property
    def simulated_query(self) -> QueryAccuracy | None:
        """The query whose releases are drawn: the first that is split into groups, else the first with an answer."""
        grouped = [q for q in self.queries if len(q.answers) > 1]
        return next(iter(grouped or [q for q in self.queries if q.answers]), None)

    @property
    def worst_relation(self) -> CorrelationFactor | None:
        """The relation of the query that tells most about one of several related people."""
        return max(self.relations, key=lambda r: r.swing, default=None)

    @cached_property
    def figures(self) -> Mapping[float, ReleaseFigures]:
        """The errors of each query, and more, at every ε that a report speaks of."""
        return release_figures(self)

    @cached_property
    def simulations(self) -> Mapping[float, SimulatedReleases]:
        """Simulated releases of one query, by ε."""
        return simulated_releases(self)

    @cached_property
    def split_figures(self) -> SplitFigures | None:
        """What is told of how ε is divided."""
        return split_figures(self)

    def _shown(self, pictures: bool = False) -> Result:
        _ = self.figures, self.simulations, self.split_figures
        return self

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
        columns = ("adversary", "name", "planned", "recommended", "without", "limit", "largest_epsilon")
        rows = [(r.key, r.name, r.planned, r.recommended, r.baseline, r.limit, r.largest) for r in self.risks]
        return presenter().table([dict(zip(columns, row, strict=True)) for row in rows], "adversary")

    def to_registry(self) -> str:
        """A record for the public deployments registry, in YAML."""
        return presenter().registry(self)


def assess(
    release: str | Path | Mapping[str, Any] | Release,
    *,
    engine: Any = None,
    table: Any = None,
    ledger: Any = None,
    account: str | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Assessment:
    """Assess a release given as a YAML file, YAML text, a mapping or a :class:`~epsilens.plan.model.Release`.

    ``table`` replaces the release's own table by a frame or anything else that can be opened; ``engine="spark"``
    reads it with Spark. With a ``ledger`` the recommendation is for what is left to ``account``, those whom the table
    is about. An error about an entry of the release carries its path as ``parameter``: ``data.secret``.

    Parameters
    ----------
    release : str, Path, mapping or Release
        The plan: a file, YAML text, or its content.
    engine : str or backend, optional
        None or ``"duckdb"``, ``"spark"``, an Ibis connection or URL.
    table : object, optional
        Takes the place of the plan's own table.
    ledger : str, Path or Ledger, optional
        Counts what was released before.
    account : str, optional
        The account of those whom the table is about.
    progress : callable, optional
        Called with steps done, steps in all, and what is being done.

    Returns
    -------
    Assessment
        The risk of each adversary, the ε that keeps every limit, the error it buys.

    Raises
    ------
    InputError
        If the plan or the table cannot be read, with the path of the entry.
    MissingExtra
        If an engine is not installed.
    """
    plan = normalized_plan(read_release(release))
    kept = _account(ledger, account)
    queries = []
    for i, query in enumerate(plan.queries):
        with error_place(dotted_path(("queries", i)), where=dotted_path(("queries", i, "where"))):
            queries.append(query.to_query())
    with error_place("data.quasi_identifiers"):
        check_affordable(len(plan.data.quasi_identifiers), settable=False)
    tell = _Progress(len(queries) + 3, progress)
    with error_place("data.table", engine="engine"):
        opened = open_table(plan.data.table if table is None else table, engine)
    with opened:
        seen = _table_facts(opened, plan, tuple(queries), tell)
    # The shares of the least error come from the answers: then no ε is that of the plan alone.
    divided, plan = plan.mechanism.split is Split.LEAST_ERROR, seen.plan
    kind = opened.engine.kind
    setting = Setting(plan, seen.scan, seen.related)
    tell(tell.steps - 2, "reading the adversaries")
    risks, notes = risks_of(setting)
    room = None if kept is None else ledger_headroom(plan, *kept)
    limits, left = limits_on_risk(setting, risks), None if room is None else room.largest

    def within(found: Sequence[RiskLimit]) -> AllowedEpsilon:
        return allowed_epsilon(found, plan.epsilon, left, lambda e: kept is None or fits_ledger(plan, kept[0], e))

    allowed = within(limits)
    accuracy = tuple(
        with_error_limit(accuracy_of(plan, i, answers, allowed.recommended), plan)
        for i, answers in enumerate(seen.answers)
    )
    tell(tell.steps - 1, "drawing the curve")
    enough = sufficient_epsilon(accuracy, allowed, limits)
    risks = reread_risks(setting, risks, allowed.recommended, enough or needed_epsilon(accuracy))
    found = seen.scan
    unseen = None if divided and plan.risk_limits else blind_limits(setting, risks)
    verdict = judge(
        plan, risks, accuracy, allowed, enough, None if unseen is None else within(unseen).recommended, left
    )
    instead = verdict.instead
    promise = plan_guarantee(plan)
    made = Assessment(
        release=plan, epsilon=plan.epsilon,
        risks=tuple(sorted(risks, key=lambda r: np.inf if r.largest is None else r.largest)),
        verdict=verdict,
        queries=accuracy,
        curve=curve_of(setting, risks, accuracy, allowed.recommended), scan=found,
        people=found.people if found and (plan.data.person or not plan.data.unit) else None, precedents=precedents(),
        assumptions=assumptions(plan, setting),
        notes=(*notes, *(found.notes if found else ()), *(() if found else (DISCLOSURE,))),
        reproduce=reproduction_record(plan, kind, table), relations=seen.related,
        typical=typical_risk(plan, seen.people, plan.epsilon),
        together=group_risks(plan, plan.epsilon), split=seen.split, proposals=seen.proposals,
        cautions=seen.cautions, room=room,
        typical_then=None if instead is None else typical_risk(plan, seen.people, instead),
        revealed_names=unprotected_names(plan), table_title=bundled_title(plan.data.public_name),
        guarantee="" if unprotected_names(plan) else guarantee_sentence(plan, promise),
        certificate=promise.certificate,
        guarantee_then="" if instead is None else guarantee_sentence(plan, plan_guarantee(plan, instead), instead),
    )  # fmt: skip
    made._shown()
    tell(tell.steps, "done")
    return made


def _account(ledger: Any, account: str | None) -> tuple[Account, str] | None:
    """The account of those whom the table is about, and where it is kept."""
    if ledger is None:
        if account is not None:
            raise InputError("account is given without a ledger: name the ledger that has it", parameter="account")
        return None
    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    if not book.store.exists:
        book.accounts()  # says that there is none: a name that is mistyped must not read as an empty account
    return book.account(book.account_name(account)), book.store.name


@dataclass(frozen=True)
class _Progress:
    """How far the work is, for a progress callback, if there is one."""

    steps: int
    callback: Callable[[int, int, str], None] | None

    def __call__(self, done: int, what: str) -> None:
        if self.callback is not None:
            self.callback(done, self.steps, what)


@dataclass(frozen=True)
class _TableFacts:
    """All that is taken from the table."""

    plan: Release  # with the shares that the least error asks for
    answers: tuple[tuple[ExactAnswer, ...], ...]
    people: tuple[SampledPerson, ...]
    split: SplitComparison | None
    proposals: tuple[Proposal, ...]
    related: tuple[CorrelationFactor, ...]
    scan: Scan | None
    cautions: tuple[TableCaution, ...]


def _table_facts(opened: OpenTable, plan: Release, queries: tuple[Query, ...], tell: _Progress) -> _TableFacts:
    with error_place("data.read"):
        with reading(opened):
            cautions = stored_table_cautions(opened, plan)
        _read(opened, plan, tell)
    with error_place("data.person"), reading(opened):
        opened.table, nobody = owned_rows(opened, plan)
    for i, query in enumerate(queries):
        with error_place(dotted_path(("queries", i)), where=dotted_path(("queries", i, "where"))):
            query.check(opened.table)
    table = TableAnswers(opened, plan)
    answers = table.answers(table.needs, tell)
    if plan.adversary.correlation is not CorrelationSource.NONE:
        tell(len(queries), "comparing related people")
    with error_place("data.related", person="data.person"):
        alike = correlation_factors(plan, opened, queries)
    split = compare_splits(plan, answers, plan.epsilon) if len(queries) > 1 else None
    if split is not None and plan.mechanism.split is Split.LEAST_ERROR:
        table.plan = plan = plan.shared(split.best.shares)
    people, proposals = sample_people(table, answers=answers), _proposals(table, answers)
    found = _scan(opened, plan, queries, tell)
    cautions = (*cautions, *nobody, *spelling_cautions(plan, answers))
    return _TableFacts(plan, answers, people, split, proposals, alike, found, cautions)


def _read(opened: OpenTable, plan: Release, tell: _Progress) -> None:
    """Read the columns as the plan says, once for all that follows."""
    if not plan.data.read:
        return
    tell(0, "reading columns of text")
    read = parse_columns(opened.table, plan.data.forms)
    with reading(opened):
        opened.table = opened.engine.cache(read.select(*(c for c in read.columns if c in mentioned_columns(plan))))


def _proposals(table: TableAnswers, answers: Sequence[tuple[ExactAnswer, ...]]) -> tuple[Proposal, ...]:
    """Better bounds and limits, where the planned ones lose more than the noise."""
    accuracy = [accuracy_of(table.plan, i, one, None) for i, one in enumerate(answers)]
    lost = losing_choices(table.plan, accuracy)
    return proposals(table.plan, accuracy, candidates_of(table, lost)) if lost else ()


def _scan(opened: OpenTable, plan: Release, queries: tuple[Query, ...], tell: _Progress) -> Scan | None:
    data = plan.data
    with error_place("data.quasi_identifiers", person="data.person", max_rows="data.max_rows", table="data.table"):
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
