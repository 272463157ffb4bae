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
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from .. import checks
from ..assessment.adversaries import Setting
from ..assessment.guarantee import Guarantee, plan_guarantee
from ..assessment.worst_case import MovementPair, WorstCase
from ..checks import Array
from ..data.queries import Noise
from ..errors import InputError, LimitError
from ..experiment import Experiment
from ..mechanisms.claims import from_dp
from ..mechanisms.composition import compose
from ..plan.cells import Cells, Draw, draws_of, unit_of
from ..plan.file import read_release
from ..plan.labels import normalized_plan
from ..plan.model import Release
from ..plan.movement import AdversaryQuestion
from ..publish.answers import PublishedAnswer, draw_answers
from ..publish.noise import Drawing, drawings_of
from ..publish.release import check_publishable, exact_cells
from ..worlds import Relation
from .audit import AuditProgress, NoRunsError, audit_source
from .claims import Claim, claim_of, lines_of, parse_claim, single_line
from .external import CommandSource, LoggedSource, OutcomeLog, WorkerSource, command_words
from .pairs import TABLE_PAIR_KINDS, MadeUpRows, PairKind, plan_pairs, table_pairs, without_read_forms, write_table
from .result import Audits, PairAudit, StopReason, shared_confidence
from .sources import Bits, RunFailure, Source, check_inputs_differ, silence

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
    drawings: tuple[Drawing, ...] = field(init=False)
    _exact: dict[bool, tuple[Cells, ...]] = field(default_factory=dict, init=False)
    _due: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.plan = without_read_forms(self.plan)
        self.drawings = drawings_of(self.plan)

    @property
    def width(self) -> int:
        """One run a release."""
        return 1

    def draw(self, bits: Bits) -> list[Any]:
        """One release a bit; one that fails is an outcome."""
        made: list[Any] = []
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
    table: Any = None
    engine: Any = None
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
        self._width = len(each)
        with silence():
            self._all = self._exact(np.ones(self._width, dtype=bool))
            self._none = self._exact(np.zeros(self._width, dtype=bool))

    @property
    def width(self) -> int:
        """As many guesses as groups are listed."""
        return self._width

    def draw(self, bits: Bits) -> NDArray[Any]:
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
            numbers = {
                noisy: tuple(
                    a if coin else b for coin, a, b in zip(coins.tolist(), held, nobody.numbers[noisy], strict=True)
                )
                for noisy, held in everybody.numbers.items()
            }
            made.append(replace(everybody, numbers=numbers))
        return tuple(made)

    def _once(self, coins: Bits) -> NDArray[Any]:
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
_SECRET_WORLDS = ("the table in which the person's secret is false", "the table in which it is true")


def plan_claim(plan: Release) -> Experiment:
    """What a plan claims of every person: its noise, and the names of groups.

    >>> plan = {"data": {"table": "t"}, "queries": [{"count": True}], "mechanism": {"epsilon": 1}}
    >>> plan_claim(read_release(plan)).epsilon()
    1.0
    """
    held: Guarantee = plan_guarantee(plan)
    if held.delta == 0:
        return held.experiment
    return compose(held.experiment, from_dp(0.0, held.delta))


def secret_claim(plan: Release) -> Claim:
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
    plan: str | os.PathLike[str] | Mapping[str, Any] | Release,
    *,
    table: Any = None,
    engine: Any = None,
    claim: Any = None,
    confidence: float = 0.95,
    runs: int | None = None,
    sequential: bool = True,
    whole: int = RUNS_PER_ENTIRE,
    pairs: tuple[str, ...] | None = None,
    seed: int | None = None,
    progress: Callable[[str, AuditProgress], Any] | None = None,
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
    each_claim: Claim = parse_claim(plan_claim(said) if claim is None else claim)
    fewer, left = _fewer_groups(said)
    most = _default_runs(fewer, each_claim) if runs is None else runs
    kinds, groups = _chosen_pairs(pairs)
    if claim is not None and pairs is None:
        kinds = tuple(kind for kind in kinds if kind is not PairKind.SECRET)
    made: list[tuple[str, Source, int, Claim]] = []
    for pair in plan_pairs(fewer, table, engine, kinds):
        own = secret_claim(said) if pair.kind is PairKind.SECRET and claim is None else each_claim
        made.append((pair.kind.value, ReleaseSource(fewer, pair.first, pair.second, every), most, own))
    if groups and _groups_apply(said, each_claim):
        many = GroupsSource(said, table, engine)
        made.append((GROUPS_PAIR, many, _whole_calls(many.width, _GROUP_GUESSES if runs is None else runs), each_claim))
    if not made:
        raise InputError("pairs has none that applies to the plan: give others, or leave it out", parameter="pairs")
    level = shared_confidence(confidence, len(made))
    found: list[PairAudit] = []
    for name, source, budget, own in made:
        worlds = (
            _SECRET_WORLDS
            if name == PairKind.SECRET.value
            else ("the table without the person", "the table with the person")
        )
        try:
            audit = audit_source(
                source, claim=own, confidence=level, runs=budget, sequential=sequential, seed=seed,
                progress=False if progress is None else partial(progress, name),
                pair=(worlds[0], f"{worlds[1]} ({name})"),
            )  # fmt: skip
        except NoRunsError:  # an interrupt keeps the pairs before it
            if not found:
                raise
            break
        entire = source.entire if isinstance(source, ReleaseSource | GroupsSource) else None
        repeatable = not isinstance(source, ReleaseSource | GroupsSource) or source.repeatable
        found.append(PairAudit(name, audit, entire, repeatable))
        if audit.stopped is StopReason.INTERRUPTED:
            break
    return Audits(said.title, each_claim, confidence, tuple(found), len(made) - len(found), left=left)


def _chosen_pairs(pairs: tuple[str, ...] | None) -> tuple[tuple[PairKind, ...], bool]:
    if pairs is None:
        return tuple(PairKind), True
    known = [kind.value for kind in PairKind]
    for name in pairs:
        if name not in (*known, GROUPS_PAIR):
            raise InputError(
                f"pairs has {name[:40]!r}: give some of {', '.join(known)} and {GROUPS_PAIR}", parameter="pairs"
            )
    return tuple(kind for kind in PairKind if kind.value in pairs), GROUPS_PAIR in pairs


def _groups_apply(plan: Release, claim: Claim) -> bool:
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


def _default_runs(plan: Release, claim: Claim) -> int:
    """How many runs on a pair: seconds of them, whatever the number of groups."""
    cells = sum(len(query.labels or ()) or 1 for query in plan.queries)
    return min(_PURE_RUNS if math.isfinite(claim.pure) else _OTHER_RUNS, max(_LEAST_RUNS, _MOST_CELLS // cells))


def _whole_calls(width: int, runs: int) -> int:
    """Whole calls, as many as the runs allow, and one at least."""
    return width * max(runs // width, 1)


#: The pair of two inputs that were given.
GIVEN_PAIR = "given"


@dataclass(frozen=True)
class _InputPair:
    pair: str
    first: Any
    second: Any


def audit_external(
    what: str,
    *,
    claim: Any,
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
    progress: Callable[[str, AuditProgress], Any] | None = None,
) -> Audits:
    """Does a command, or a function by its name, keep a claim?

    ``d0`` and ``d1`` are two neighbouring inputs: files, or for a function JSON. ``table`` makes pairs instead: the
    most exposed person of it is left out, or placed where pipelines fail; ``person`` is the column that says whose row
    it is. ``runs`` are the most on each pair, ``timeout`` the seconds of one run, ``jobs`` how many run at a time.
    ``resume`` names a file that keeps the outcomes: an audit that was interrupted goes on from it.
    """
    said: Claim = parse_claim(claim)
    if command:
        command_words(what)  # a command that cannot run is refused before a table is read
    about = {"what": what, "command": command, "d0": d0, "d1": d1, "table": table, "person": person}
    with _open_inputs(d0, d1, table, person, pairs, command) as inputs:
        level = shared_confidence(confidence, len(inputs))
        record = None if resume is None else OutcomeLog(resume, about, seed)
        coins = seed if record is None else record.seed
        found: list[PairAudit] = []
        try:
            for i, one in enumerate(inputs):
                try:
                    with _open_source(what, one, command, timeout, jobs) as source:
                        drawn = source if record is None else LoggedSource(source, record, one.pair)
                        audit = audit_source(
                            drawn, claim=said, confidence=level, runs=runs, sequential=sequential,
                            seed=None if coins is None else coins + i,
                            progress=False if progress is None else partial(progress, one.pair), pair=_input_names(one),
                        )  # fmt: skip
                except NoRunsError:  # an interrupt keeps the pairs before it
                    if not found:
                        raise
                    break
                found.append(PairAudit(one.pair, audit))
                if audit.stopped is StopReason.INTERRUPTED:
                    break
        finally:
            if record is not None:
                record.close()
        title = what if len(what) <= 60 else f"{what[:59]}…"
        return Audits(title, said, confidence, tuple(found), len(inputs) - len(found))


def _input_names(one: _InputPair) -> tuple[str, str]:
    if one.pair != GIVEN_PAIR:
        return "the table without the person", f"the table with the person ({one.pair})"
    return "d0", "d1"


@contextmanager
def _open_source(what: str, one: _InputPair, command: bool, timeout: float, jobs: int | None) -> Iterator[Source]:
    if command:
        yield CommandSource(what, one.first, one.second, timeout, jobs)
        return
    workers = WorkerSource(what, one.first, one.second, timeout, jobs)
    try:
        yield workers
    finally:
        workers.close()


@contextmanager
def _open_inputs(
    d0: str | None, d1: str | None, table: str | None, person: str | None, pairs: tuple[str, ...] | None, command: bool
) -> Iterator[list[_InputPair]]:
    """Two inputs that are given, or the pairs of a table as files that are gone afterwards."""
    if table is None:
        if d0 is None or d1 is None:
            raise InputError("the inputs are missing: give d0 and d1, or a table to make them from", parameter="d0")
        if person is not None or pairs is not None:
            raise InputError("person and pair are for a table that pairs are made from: give table", parameter="table")
        first, second = (_parse_input(name, text, command) for name, text in (("d0", d0), ("d1", d1)))
        check_inputs_differ(first, second)
        yield [_InputPair(GIVEN_PAIR, first, second)]
        return
    if d0 is not None or d1 is not None:
        raise InputError("d0 or d1 and table are both given: give two inputs, or a table", parameter="table")
    kinds = _parse_kinds(pairs)
    ending = ".parquet" if Path(table).suffix.lower() in (".parquet", ".pq") else ".csv"
    with tempfile.TemporaryDirectory(prefix="epsilens-") as folder:
        made = []
        for i, pair in enumerate(table_pairs(table, person, kinds)):
            files = [write_table(t, Path(folder) / f"{i}{j}{ending}") for j, t in enumerate((pair.first, pair.second))]
            made.append(_InputPair(pair.kind.value, *files))
        if not made:
            raise InputError("pair has none that applies to the table: give others, or leave it out", parameter="pair")
        yield made


def _parse_kinds(pairs: tuple[str, ...] | None) -> tuple[PairKind, ...]:
    if pairs is None:
        return TABLE_PAIR_KINDS
    known = {kind.value: kind for kind in TABLE_PAIR_KINDS}
    for name in pairs:
        if name not in known:
            raise InputError(f"pair is {name[:40]!r}: give some of {', '.join(known)}", parameter="pair")
    return tuple(known[name] for name in pairs)


def _parse_input(name: str, text: str, command: bool) -> Any:
    """A file by its path; for a function also a value in JSON."""
    if os.path.isfile(text):
        return Path(text).resolve()
    if not command:
        try:
            return json.loads(text)
        except ValueError:
            pass
    allowed = "a file" if command else "a file, or a value in JSON"
    raise InputError(f"{name} is {text[:60]!r}: give {allowed}", parameter=name)


# -- without a run: the cells of a release are exact, and the law of its noise known --------------------------------
#
# Beside a claim it is an audit that needs no sampling. It stays below the truth: groups that both tables have, and that
# a threshold may hold back, are left out, so every reading is reached by somebody who sees the release.


def observed_laws(plan: Release, first: Sequence[Cells], second: Sequence[Cells]) -> WorstCase:
    """The two laws of what is published of tables with these cells: a lower bound on every reading.

    Names that one table alone has settle the question where they are published; numbers move by so many scales of their
    noise.
    """
    moved = Counter[float]()
    hidden = [0.0, 0.0]  # the logarithm of the chance that none of a table's own names is published
    for here, there in zip(first, second, strict=True):
        draws = draws_of(plan, here.query)
        decides = next((noisy for noisy, draw in draws.items() if draw.threshold is not None), None)
        for world, (own, other) in enumerate(((here, there), (there, here))):
            if decides is not None:
                counts = dict(zip(own.labels, own.numbers[decides], strict=True))
                chances = [_name_chance(draws[decides], float(n)) for k, n in counts.items() if k not in other.labels]
                hidden[world] += math.fsum(math.log1p(-p) if p < 1 else -math.inf for p in chances)
        if decides is not None:
            continue
        for noisy, draw in draws.items():
            unit = float(unit_of(plan, here.query, noisy)) / draw.scale
            for a, b in zip(here.numbers[noisy], there.numbers[noisy], strict=True):
                moved[abs(float(a - b)) * unit] += 1
    names = tuple(-math.expm1(h) for h in hidden)
    shifts = tuple(sorted((t, k) for t, k in moved.items() if t))
    if plan.mechanism.noise is Noise.GAUSSIAN:
        return WorstCase((MovementPair((), math.sqrt(math.fsum(k * t * t for t, k in shifts)), *names),))
    return WorstCase((MovementPair(shifts, 0.0, *names),))


def lower_reading(found: WorstCase, reading: str, arguments: Mapping[str, float]) -> float:
    """A reading of what is reached: exact where there is a closed form, else the low end of its bracket."""
    if found.closed:
        return found.read(reading, arguments)
    return max(float(e.bracket(reading, **arguments)[0]) for e in found.experiments)


def exact_excess(found: WorstCase, claim: Claim) -> float:
    """By how much δ lies above the claim at least, at the line where it does most; not above 0 where it is kept."""
    lines = zip(claim.epsilon.tolist(), claim.delta.tolist(), strict=True)
    return float(max(lower_reading(found, "delta", {"epsilon": eps}) - delta for eps, delta in lines))


def _name_chance(draw: Draw, people: float) -> float:
    """The chance that the name of a group with so many people is published."""
    assert draw.threshold is not None
    away = (draw.threshold - people) / draw.scale
    if draw.noise is Noise.GAUSSIAN:
        return float(ndtr(-away))
    return 0.5 * math.exp(-away) if away >= 0 else 1 - 0.5 * math.exp(away)
