"""A plan's release held against the plan's own promise, on neighbouring tables made from the plan.

The claim is the plan's experiment: the law of its noise on every way in which one person moves it, and beside it the
chance that the name of a group gives a person away. It is a promise about all pairs of tables, so any pair may break
it. Where groups are listed and the claim is pure, one more pair lets every group have a coin of its own. The pair whose
tables differ in the secret alone is held against what the plan says of the secret.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .. import checks
from ..assessment.adversaries import Setting
from ..assessment.promise import Promise, promise_of
from ..checks import Array
from ..errors import InputError, LimitError
from ..experiment import Experiment
from ..mechanisms.claims import from_dp
from ..mechanisms.composition import compose
from ..plan.file import read_release
from ..plan.movement import Question
from ..plan.plan import Release
from ..plan.read import as_written
from ..publish.release import publishable
from ..worlds import Relation
from .audit import Progress, Unbegun, audit_source
from .claims import Claim, claim_of, line, lines_of
from .game import Source
from .pairs import Kind, pairs_of
from .pipeline import WHOLE, GroupsSource, ReleaseSource
from .result import Stopped
from .said import claim_said
from .several import Audits, Named, shared_confidence

#: The pair in which every listed group has a person and a coin of its own.
GROUPS = "a person for each group"
_PURE, _OTHER = 2000, 6000  # runs on a pair: half of the planned noise is found by then
_CELLS, _LEAST = 100_000, 100  # noisy numbers of a pair, at most; yet so many runs
_LISTED = 100  # groups of a query that are published in the runs of a pair
_GUESSES = 100_000
_FEWEST = 8  # groups for which that is worth a call
_SECRET = ("the table in which the person's secret is false", "the table in which it is true")


def promised(plan: Release) -> Experiment:
    """What a plan claims of every person: its noise, and the names of groups.

    >>> plan = {"data": {"table": "t"}, "queries": [{"count": True}], "mechanism": {"epsilon": 1}}
    >>> promised(read_release(plan)).epsilon()
    1.0
    """
    held: Promise = promise_of(plan)
    if held.delta == 0:
        return held.experiment
    return compose(held.experiment, from_dp(0.0, held.delta))


def promised_of_secret(plan: Release) -> Claim:
    """What a plan claims of everybody's secret: of two tables that agree in all but the columns that tell it.

    >>> plan = {"data": {"table": "t", "secret": "x > 0"}, "queries": [{"count": "x > 0"}, {"count": True}],
    ...         "mechanism": {"epsilon": 1}}
    >>> promised_of_secret(read_release(plan)).pure
    0.5
    """
    facing = Setting(plan).facing(Question.SECRET, plan.epsilon)
    if len(facing.each) < 2:
        return claim_of(facing.experiments[0]) if facing.each else line(0.0, 0.0)

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
    whole: int = WHOLE,
    pairs: tuple[str, ...] | None = None,
    seed: int | None = None,
    progress: Callable[[str, Progress], Any] | None = None,
) -> Audits:
    """Does our own release of a plan keep the plan's promise? Nothing enters any ledger.

    ``table`` says which columns there are, where the plan's own is not at hand; none of its values is looked at.
    ``runs`` are the most on each pair of tables: 2000 of a pure claim, 6000 of others, which one run tells less of, and
    fewer of a release with hundreds of groups, where 100,000 guesses are made if each group may have a coin. One in
    ``whole`` is an entire release, fewer in long audits, the others start from the exact numbers.
    ``pairs`` names some of :class:`~.pairs.Kind`; all that apply by default.
    ``claim`` replaces the plan's own; the pair about the secret is then left out, unless ``pairs`` names it.
    """
    said = as_written(read_release(plan if not isinstance(plan, os.PathLike) else Path(plan)))
    every = checks.integer("whole", whole, low=1)
    try:
        publishable(said)
    except LimitError as error:  # nothing was audited: no verdict, and not the exit code of one
        raise InputError(str(error), parameter=error.parameter) from None
    each_claim: Claim = claim_said(promised(said) if claim is None else claim)
    fewer, left = _narrowed(said)
    most = _default(fewer, each_claim) if runs is None else runs
    kinds, groups = _asked(pairs)
    if claim is not None and pairs is None:
        kinds = tuple(kind for kind in kinds if kind is not Kind.SECRET)
    made: list[tuple[str, Source, int, Claim]] = []
    for pair in pairs_of(fewer, table, engine, kinds):
        own = promised_of_secret(said) if pair.kind is Kind.SECRET and claim is None else each_claim
        made.append((pair.kind.value, ReleaseSource(fewer, pair.first, pair.second, every), most, own))
    if groups and _pure(said, each_claim):
        many = GroupsSource(said, table, engine)
        made.append((GROUPS, many, _guesses(many.width, _GUESSES if runs is None else runs), each_claim))
    if not made:
        raise InputError("pairs has none that applies to the plan: give others, or leave it out", parameter="pairs")
    level = shared_confidence(confidence, len(made))
    found: list[Named] = []
    for name, source, budget, own in made:
        worlds = _SECRET if name == Kind.SECRET.value else ("the table without the person", "the table with the person")
        try:
            audit = audit_source(
                source, claim=own, confidence=level, runs=budget, sequential=sequential, seed=seed,
                progress=False if progress is None else partial(progress, name),
                pair=(worlds[0], f"{worlds[1]} ({name})"),
            )  # fmt: skip
        except Unbegun:  # an interrupt keeps the pairs before it
            if not found:
                raise
            break
        entire = source.entire if isinstance(source, ReleaseSource | GroupsSource) else None
        repeatable = not isinstance(source, ReleaseSource | GroupsSource) or source.repeatable
        found.append(Named(name, audit, entire, repeatable))
        if audit.stopped is Stopped.INTERRUPTED:
            break
    return Audits(said.title, each_claim, confidence, tuple(found), len(made) - len(found), left=left)


def _asked(pairs: tuple[str, ...] | None) -> tuple[tuple[Kind, ...], bool]:
    if pairs is None:
        return tuple(Kind), True
    known = [kind.value for kind in Kind]
    for name in pairs:
        if name not in (*known, GROUPS):
            raise InputError(
                f"pairs has {name[:40]!r}: give some of {', '.join(known)} and {GROUPS}", parameter="pairs"
            )
    return tuple(kind for kind in Kind if kind.value in pairs), GROUPS in pairs


def _pure(plan: Release, claim: Claim) -> bool:
    """Whether one call can be many guesses: a pure claim, people who come and go, and enough listed groups."""
    groups = max(len(query.labels or ()) for query in plan.queries)
    return math.isfinite(claim.pure) and groups >= _FEWEST and plan.mechanism.neighbours is Relation.ADD_REMOVE


def _narrowed(plan: Release) -> tuple[Release, int]:
    """The plan with the first and the last of many listed groups, and how many are left out of the longest list.

    A number of one group is drawn as that of another, and a person is in few of them, so the same claim is tested in a
    hundredth of the time.
    """
    kept = max(_LISTED, 4 * (plan.data.max_groups or plan.data.max_rows))
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


def _default(plan: Release, claim: Claim) -> int:
    """How many runs on a pair: seconds of them, whatever the number of groups."""
    cells = sum(len(query.labels or ()) or 1 for query in plan.queries)
    return min(_PURE if math.isfinite(claim.pure) else _OTHER, max(_LEAST, _CELLS // cells))


def _guesses(width: int, runs: int) -> int:
    """Whole calls, as many as the runs allow, and one at least."""
    return width * max(runs // width, 1)
