"""A plan's release held against the plan's own promise, on neighbouring tables made from the plan.

The claim is the plan's experiment: the law of its noise on every way in which one person moves it, and beside it the
chance that the name of a group gives a person away. It is a promise about all pairs of tables, so any pair may break
it. Where groups are listed and the claim is pure, one more pair lets every group have a coin of its own. The pair whose
tables differ in the secret alone is held against what the plan says of the secret.

A release as a source of outcomes: the whole of it, on two tables.

The exact numbers of a table are the same in every run: nothing random goes into them, and rows beyond a person's limit
are left out by a hash with a fixed key. So they are taken once for each table, and only the noise, the names and the
rounding are run again, by calls of their own: noise that two runs shared would not be seen in one call for both. That
is checked rather than believed: entire releases, from the table on, are the first run and every ``whole``-th one, and
in long audits one each time the runs have grown by half. Once two of them differ in their exact numbers every run is
an entire one.

Nothing enters a ledger, no limit is asked, and nothing is written.

Somebody else's pipeline held against a claim, on two given inputs or on pairs made from a table.

A command is given the path of a table and of the file it writes its release into; a function,
``package.module:function``, the path of a table, or what the two inputs say in JSON.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from .. import checks
from ..assessment.adversaries import Setting
from ..assessment.provenance import plan_guarantee
from ..checks import Array
from ..errors import InputError, LimitError
from ..experiment import Experiment
from ..mechanisms.claims import from_dp
from ..mechanisms.composition import compose
from ..plan.cells import Cells
from ..plan.file import read_release
from ..plan.labels import normalized_plan
from ..plan.model import Release
from ..plan.movement import AdversaryQuestion
from ..publish.answers import PublishedAnswer, draw_answers, drawings_of
from ..publish.release import check_publishable, exact_cells
from ..worlds import Relation
from .audit import AuditProgress, NoRunsError, audit_source
from .external import CommandSource, LoggedSource, OutcomeLog, WorkerSource, command_words
from .pairs import TABLE_PAIR_KINDS, MadeUpRows, PairKind, plan_pairs, table_pairs, without_read_forms, write_table
from .result import (
    Audits,
    ClaimLines,
    PairAudit,
    StopReason,
    claim_of,
    lines_of,
    parse_claim,
    shared_confidence,
    single_line,
)
from .sources import Bits, OutcomeSource, RunFailure, check_inputs_differ, silence

RUNS_PER_ENTIRE = 200


def published_cells(answers: Sequence[PublishedAnswer]) -> dict[str, float]:
    """What is published, a cell each: the answer, and how far its interval reaches to both sides.

    Most intervals follow from the answer; as distances they are constant then, and nobody looks at them.
    """
    made: dict[str, float] = {}
    for one in answers:
        group = " ".join("NULL" if part is None else part for _, part in one.group)
        name = f"{one.name} {group}".strip() if one.group else one.name
        if name in made:
            name = f"{one.query + 1} {name}"
        made[name] = one.answer
        made[f"{name}, below"] = float(f"{one.answer - one.low:.9g}")
        made[f"{name}, above"] = float(f"{one.high - one.answer:.9g}")
    return made


def _next_entire_run(runs: int, whole: int) -> int:
    """After this run, which was an entire release, the next that is one."""
    return runs + max(whole, runs // 2)


@dataclass
class ReleaseSource:
    """Releases of a plan on the first or the second table; every ``whole``-th is entire, fewer in long audits."""

    plan: Release
    first: Any
    second: Any
    whole: int = RUNS_PER_ENTIRE
    entire: int = 0
    runs: int = 0
    repeatable: bool = True
    width = 1
    _exact: dict[bool, tuple[Cells, ...]] = field(default_factory=dict, init=False)
    _due: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.plan = without_read_forms(self.plan)
        self.drawings = drawings_of(self.plan)

    def draw(self, bits: Bits) -> list[Any]:
        """One release a bit; one that fails is an outcome."""
        made: list[object] = []
        with silence():
            for bit in bits.tolist():
                try:
                    made.append(published_cells(self._once(bool(bit))))
                except Exception as error:
                    made.append(RunFailure(type(error).__name__))
        return made

    def _once(self, bit: bool) -> tuple[PublishedAnswer, ...]:
        due = self.runs >= self._due or not self.repeatable
        if due:
            self._due = _next_entire_run(self.runs, self.whole)
        self.runs += 1
        if bit not in self._exact or due:
            exact = exact_cells(self.plan, self.second if bit else self.first)
            self.entire += 1
            self.repeatable = self.repeatable and self._exact.get(bit, exact) == exact
            self._exact[bit] = exact
        return draw_answers(self.plan, self.drawings, self._exact[bit])


@dataclass
class GroupsSource:
    """One release is many guesses: each listed group has a person of its own, in it or not as its coin falls.

    The outcome of a group are its cells in all queries that list it. People in different groups add to different
    numbers, so the exact numbers of any mixture are, group by group, those of the table with everybody or of the one
    with nobody. The first call and every ``whole``-th one are entire releases of the mixture, fewer in long audits, and
    once one of them has other exact numbers than that, every call is.
    """

    plan: Release
    table: object = None
    engine: object = None
    whole: int = 20
    entire: int = 0
    calls: int = 0
    repeatable: bool = True
    _due: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        rows = MadeUpRows(self.plan, self.table, self.engine)
        self.plan = without_read_forms(self.plan)
        self._drawings = drawings_of(self.plan)
        most = max(self.plan.queries, key=lambda q: len(q.labels or ()))
        self._queries = [
            i for i, q in enumerate(self.plan.queries) if q.labels == most.labels and q.split_by == most.split_by
        ]
        each = [rows.person(rows.far_end, number=i + 1, **label) for i, label in enumerate(rows.listed)]
        self._groups = np.repeat(np.arange(len(each)), [len(theirs) for theirs in each])
        self._rows = rows.table([row for theirs in each for row in theirs])
        self.width: int = len(each)  # as many guesses as groups are listed
        with silence():
            self._all = self._exact(np.ones(self.width, dtype=bool))
            self._none = self._exact(np.zeros(self.width, dtype=bool))

    def draw(self, bits: Bits) -> Array:
        """One release for each ``width`` bits."""
        with silence():
            return np.concatenate([self._once(coins) for coins in bits.reshape(-1, self.width)])

    def _exact(self, coins: Bits) -> tuple[Cells, ...]:
        self.entire += 1
        found = exact_cells(self.plan, self._rows.filter(coins[self._groups]))
        return tuple(one for one in found if one.query in self._queries)

    def _mixed(self, coins: Bits) -> tuple[Cells, ...]:
        made = []
        for everybody, nobody in zip(self._all, self._none, strict=True):
            sides = {noisy: (held, nobody.numbers[noisy]) for noisy, held in everybody.numbers.items()}
            numbers = {
                noisy: tuple(a if coin else b for coin, a, b in zip(coins.tolist(), *both, strict=True))
                for noisy, both in sides.items()
            }
            made.append(replace(everybody, numbers=numbers))
        return tuple(made)

    def _once(self, coins: Bits) -> Array:
        exact = self._mixed(coins)
        if self.calls >= self._due or not self.repeatable:
            self._due = _next_entire_run(self.calls, self.whole)
            found = self._exact(coins)
            self.repeatable = self.repeatable and found == exact
            exact = found
        self.calls += 1
        answers = draw_answers(self.plan, self._drawings, exact)
        cells = [[one.answer for one in answers if one.query == i] for i in self._queries]
        return np.array(cells).T if len(cells) > 1 else np.array(cells[0])


#: The pair in which every listed group has a person and a coin of its own.
GROUPS_PAIR = "a person for each group"
_PURE_RUNS, _OTHER_RUNS = 2000, 6000  # runs on a pair: half of the planned noise is found by then
_MOST_CELLS, _LEAST_RUNS = 100_000, 100  # noisy numbers of a pair, at most; yet so many runs
_MOST_LISTED = 100  # groups of a query that are published in the runs of a pair
_GROUP_GUESSES = 100_000
_FEWEST_GROUPS = 8  # groups for which that is worth a call
_PERSON_WORLDS = ("the table without the person", "the table with the person")
_SECRET_WORLDS = ("the table in which the person's secret is false", "the table in which it is true")


def plan_claim(plan: Release) -> Experiment:
    """What a plan claims of every person: its noise, and the names of groups.

    >>> plan = {"data": {"table": "t"}, "queries": [{"count": True}], "mechanism": {"epsilon": 1}}
    >>> plan_claim(read_release(plan)).epsilon()
    1.0
    """
    held = plan_guarantee(plan)
    return compose(held.experiment, from_dp(0.0, held.delta)) if held.delta else held.experiment


def secret_claim(plan: Release) -> ClaimLines:
    """What a plan claims of everybody's secret: of two tables that agree in all but the columns that tell it.

    >>> plan = {"data": {"table": "t", "secret": "x > 0"}, "queries": [{"count": "x > 0"}, {"count": True}],
    ...         "mechanism": {"epsilon": 1}}
    >>> secret_claim(read_release(plan)).pure
    0.5
    """
    facing = Setting(plan).facing(AdversaryQuestion.SECRET, plan.epsilon)
    if len(facing.each) < 2:
        return claim_of(facing.experiments[0]) if facing.each else single_line(0.0, 0.0)

    def beyond(epsilon: Array) -> Array:
        return np.array([facing.read("delta", {"epsilon": at}) for at in epsilon.tolist()])

    return lines_of(lambda delta: facing.read("epsilon", {"delta": delta}), beyond)


def audit_plan(
    plan: str | os.PathLike[str] | Mapping[str, object] | Release,
    *,
    table: object = None,
    engine: object = None,
    claim: object = None,
    confidence: float = 0.95,
    runs: int | None = None,
    sequential: bool = True,
    whole: int = RUNS_PER_ENTIRE,
    pairs: tuple[str, ...] | None = None,
    seed: int | None = None,
    progress: Callable[[str, AuditProgress], object] | None = None,
) -> Audits:
    """Does our own release of a plan keep the plan's promise? Nothing enters any ledger.

    ``table`` says which columns there are, where the plan's own is not at hand; none of its values is looked at.
    ``runs`` are the most on each pair of tables: 2000 of a pure claim, 6000 of others, which one run tells less of, and
    fewer of a release with hundreds of groups, where 100,000 guesses are made if each group may have a coin. One in
    ``whole`` is an entire release, fewer in long audits, the others start from the exact numbers.
    ``pairs`` names some of :class:`~.pairs.Kind`; all that apply by default.
    ``claim`` replaces the plan's own; the pair about the secret is then left out, unless ``pairs`` names it.
    """
    said = normalized_plan(read_release(plan if not isinstance(plan, os.PathLike) else Path(plan)))
    every = checks.integer("whole", whole, low=1)
    try:
        check_publishable(said)
    except LimitError as error:  # nothing was audited: no verdict, and not the exit code of one
        raise InputError(str(error), parameter=error.parameter) from None
    each_claim: ClaimLines = parse_claim(plan_claim(said) if claim is None else claim)
    fewer, left = _fewer_groups(said)
    most = _default_runs(fewer, each_claim) if runs is None else runs
    kinds, groups = _chosen_pairs(pairs)
    if claim is not None and pairs is None:
        kinds = tuple(kind for kind in kinds if kind is not PairKind.SECRET)
    made: list[tuple[str, ReleaseSource | GroupsSource, int, ClaimLines]] = []
    for pair in plan_pairs(fewer, table, engine, kinds):
        own = secret_claim(said) if pair.kind is PairKind.SECRET and claim is None else each_claim
        made.append((pair.kind.value, ReleaseSource(fewer, pair.first, pair.second, every), most, own))
    if groups and _groups_apply(said, each_claim):
        many = GroupsSource(said, table, engine)
        calls = max((_GROUP_GUESSES if runs is None else runs) // many.width, 1)
        made.append((GROUPS_PAIR, many, many.width * calls, each_claim))
    if not made:
        raise InputError("pairs has none that applies to the plan: give others, or leave it out", parameter="pairs")
    level = shared_confidence(confidence, len(made))

    def audits() -> Iterator[PairAudit]:
        for name, source, budget, own in made:
            worlds = _SECRET_WORLDS if name == PairKind.SECRET.value else _PERSON_WORLDS
            audit = audit_source(
                source,
                claim=own,
                confidence=level,
                runs=budget,
                sequential=sequential,
                seed=seed,
                progress=False if progress is None else partial(progress, name),
                pair=_worlds(worlds, name),
            )
            yield PairAudit(name, audit, source.entire, source.repeatable)

    each = _until_interrupted(audits())
    return Audits(said.title, each_claim, confidence, each, len(made) - len(each), left=left)


def _worlds(worlds: tuple[str, str], pair: str) -> tuple[str, str]:
    return worlds[0], f"{worlds[1]} ({pair})"


def _until_interrupted(audits: Iterator[PairAudit]) -> tuple[PairAudit, ...]:
    """The audits of pairs one after the other; an interrupt keeps those before it, if there are any."""
    made: list[PairAudit] = []
    try:
        for one in audits:
            made.append(one)
            if one.audit.stopped is StopReason.INTERRUPTED:
                break
    except NoRunsError:
        if not made:
            raise
    return tuple(made)


def _chosen_pairs(pairs: tuple[str, ...] | None) -> tuple[tuple[PairKind, ...], bool]:
    if pairs is None:
        return tuple(PairKind), True
    known = [kind.value for kind in PairKind]
    for name in pairs:
        if name not in (*known, GROUPS_PAIR):
            raise InputError(f"pairs has {name[:40]!r}: give some of {', '.join(known)} and {GROUPS_PAIR}", "pairs")
    return tuple(kind for kind in PairKind if kind.value in pairs), GROUPS_PAIR in pairs


def _groups_apply(plan: Release, claim: ClaimLines) -> bool:
    """Whether one call can be many guesses: a pure claim, people who come and go, and enough listed groups."""
    groups = max(len(query.labels or ()) for query in plan.queries)
    return math.isfinite(claim.pure) and groups >= _FEWEST_GROUPS and plan.mechanism.neighbours is Relation.ADD_REMOVE


def _fewer_groups(plan: Release) -> tuple[Release, int]:
    """The plan with the first and the last of many listed groups, and how many are left out of the longest list.

    A number of one group is drawn as that of another, and a person is in few of them, so the same claim is tested in a
    hundredth of the time.
    """
    kept = max(_MOST_LISTED, 4 * (plan.data.max_groups or plan.data.max_rows))
    left = max(len(query.groups or ()) for query in plan.queries) - kept
    if left <= 0:
        return plan, 0
    queries = [
        query.model_copy(update={"groups": (*query.groups[: kept // 2], *query.groups[-(kept // 2) :])})
        if query.groups is not None and len(query.groups) > kept
        else query
        for query in plan.queries
    ]
    return plan.model_copy(update={"queries": queries}), left


def _default_runs(plan: Release, claim: ClaimLines) -> int:
    """How many runs on a pair: seconds of them, whatever the number of groups."""
    cells = sum(len(query.labels or ()) or 1 for query in plan.queries)
    return min(_PURE_RUNS if math.isfinite(claim.pure) else _OTHER_RUNS, max(_LEAST_RUNS, _MOST_CELLS // cells))


#: The pair of two inputs that were given.
GIVEN_PAIR = "given"


InputPair: TypeAlias = tuple[str, object, object]  # its name, and the two inputs


def audit_external(
    what: str,
    *,
    claim: object,
    command: bool = False,
    d0: str | None = None,
    d1: str | None = None,
    table: str | None = None,
    person: str | None = None,
    pairs: tuple[str, ...] | None = None,
    confidence: float = 0.95,
    runs: int = 1000,
    sequential: bool = True,
    timeout: float = 300.0,
    jobs: int | None = None,
    resume: str | os.PathLike[str] | None = None,
    seed: int | None = None,
    progress: Callable[[str, AuditProgress], object] | None = None,
) -> Audits:
    """Does a command, or a function by its name, keep a claim?

    ``d0`` and ``d1`` are two neighbouring inputs: files, or for a function JSON. ``table`` makes pairs instead: the
    most exposed person of it is left out, or placed where pipelines fail; ``person`` is the column that says whose row
    it is. ``runs`` are the most on each pair, ``timeout`` the seconds of one run, ``jobs`` how many run at a time.
    ``resume`` names a file that keeps the outcomes: an audit that was interrupted goes on from it.
    """
    said: ClaimLines = parse_claim(claim)
    if command:
        command_words(what)  # a command that cannot run is refused before a table is read
    about = {"what": what, "command": command, "d0": d0, "d1": d1, "table": table, "person": person}
    with _open_inputs(d0, d1, table, person, pairs, command) as inputs:
        level = shared_confidence(confidence, len(inputs))
        record = None if resume is None else OutcomeLog(resume, about, seed)
        coins = seed if record is None else record.seed

        def audits() -> Iterator[PairAudit]:
            for i, (name, first, second) in enumerate(inputs):
                with _open_source(what, first, second, command, timeout, jobs) as source:
                    audit = audit_source(
                        source if record is None else LoggedSource(source, record, name),
                        claim=said,
                        confidence=level,
                        runs=runs,
                        sequential=sequential,
                        seed=None if coins is None else coins + i,
                        progress=False if progress is None else partial(progress, name),
                        pair=("d0", "d1") if name == GIVEN_PAIR else _worlds(_PERSON_WORLDS, name),
                    )
                yield PairAudit(name, audit)

        try:
            each = _until_interrupted(audits())
        finally:
            if record is not None:
                record.close()
        title = what if len(what) <= 60 else f"{what[:59]}…"
        return Audits(title, said, confidence, each, len(inputs) - len(each))


@contextmanager
def _open_source(
    what: str, first: object, second: object, command: bool, timeout: float, jobs: int | None
) -> Iterator[OutcomeSource]:
    if command:
        assert isinstance(first, Path)
        assert isinstance(second, Path)
        yield CommandSource(what, first, second, timeout, jobs)
        return
    with closing(WorkerSource(what, first, second, timeout, jobs)) as workers:
        yield workers


@contextmanager
def _open_inputs(
    d0: str | None, d1: str | None, table: str | None, person: str | None, pairs: tuple[str, ...] | None, command: bool
) -> Iterator[list[InputPair]]:
    """Two inputs that are given, or the pairs of a table as files that are gone afterwards."""
    if table is None:
        if d0 is None or d1 is None:
            raise InputError("the inputs are missing: give d0 and d1, or a table to make them from", parameter="d0")
        if person is not None or pairs is not None:
            raise InputError("person and pair are for a table that pairs are made from: give table", parameter="table")
        first, second = (_parse_input(name, text, command) for name, text in (("d0", d0), ("d1", d1)))
        check_inputs_differ(first, second)
        yield [(GIVEN_PAIR, first, second)]
        return
    if d0 is not None or d1 is not None:
        raise InputError("d0 or d1 and table are both given: give two inputs, or a table", parameter="table")
    kinds = TABLE_PAIR_KINDS if pairs is None else tuple(_parse_kind(name) for name in pairs)
    ending = ".parquet" if Path(table).suffix.lower() in (".parquet", ".pq") else ".csv"
    with tempfile.TemporaryDirectory(prefix="epsilens-") as folder:
        made: list[InputPair] = []
        for i, pair in enumerate(table_pairs(table, person, kinds)):
            files = [write_table(t, Path(folder) / f"{i}{j}{ending}") for j, t in enumerate((pair.first, pair.second))]
            made.append((pair.kind.value, files[0], files[1]))
        if not made:
            raise InputError("pair has none that applies to the table: give others, or leave it out", parameter="pair")
        yield made


def _parse_kind(name: str) -> PairKind:
    known = {kind.value: kind for kind in TABLE_PAIR_KINDS}
    if name not in known:
        raise InputError(f"pair is {name[:40]!r}: give some of {', '.join(known)}", parameter="pair")
    return known[name]


def _parse_input(name: str, text: str, command: bool) -> object:
    """A file by its path; for a function also a value in JSON."""
    if os.path.isfile(text):
        return Path(text).resolve()
    if not command:
        with suppress(ValueError):
            return json.loads(text)
    allowed = "a file" if command else "a file, or a value in JSON"
    raise InputError(f"{name} is {text[:60]!r}: give {allowed}", parameter=name)
