"""What an assessment rests on and how to repeat it: assumptions in plain words, versions, hashes, seed.

Beside it the precedents: published deployments and their ε, as reported. Context for a choice, never a licence.

What a plan promises of every person comes from its movements, not from its data (Theorem P9). Noise is charged
as the plan's exact composition, names as their own δ: the noise of the plan, whatever a name gives away, is that of the
movements that reveal none.
"""

from __future__ import annotations

import math
import platform
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

from ..catalogue.deployments import deployments
from ..certificate import Certificate, success_certificate
from ..data.queries import Noise, QueryKind
from ..data.schema.inference import likely_owner
from ..data.tables.columns import column_of, count_unparsed, value_of
from ..data.tables.conditions import columns_of
from ..data.tables.dialect import as_integer
from ..data.tables.fingerprint import keyed_fingerprint
from ..data.tables.sources import Bundled, File, source_of
from ..data.tables.table import OpenTable
from ..errors import LimitError
from ..experiment import Experiment, compose_counted
from ..ledger.account import Account
from ..ledger.budget import Charge, charge_of, elementwise_max
from ..ledger.ledger import package_versions
from ..mechanisms.noise import gaussian, laplace
from ..numerics.formatting import ceil_digits, count, denominator, thousands
from ..plan.answers import ExactAnswer
from ..plan.contribution import name_delta, name_probability, threshold_of
from ..plan.model import Data, Release, Size
from ..plan.movement import AdversaryQuestion, movements
from ..worlds import Relation, worlds_of_relation
from .accuracy import SEED
from .adversaries import Setting
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

    @cached_property
    def certificate(self) -> Certificate | None:
        """That of the noise, beside which a name may give a person away with chance ``delta``; None if none is made."""
        return success_certificate(self.experiment)


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


_MOST_HASHED = 1 << 30


def assumptions(plan: Release, setting: Setting) -> tuple[str, ...]:
    """What the numbers rest on, in plain words."""
    prior = plan.adversary.prior
    likely = "as likely as not" if prior == 0.5 else f"{prior:g} likely"
    replaced = plan.mechanism.neighbours is Relation.REPLACE
    before = "the second of two records is the person's" if replaced else "the person is in the table"
    made = [
        "The adversary knows the noise, the queries and every other person's record.",
        f"Before the release they think it {likely} that {before}.",
        _contributions(plan),
    ]
    if replaced:
        made.append(
            "The number of people is public: the guarantee is about one person's record being replaced by any other, "
            "and a membership test asks which of two records is theirs."
        )
    made += [text for i in range(len(plan.queries)) for text in (_size(plan, i), _names(plan, i)) if text]
    made.append(
        f"The {len(plan.queries)} answers are read together." if len(plan.queries) > 1 else "There is one answer."
    )
    if setting.related:
        alike = "; ".join(dict.fromkeys(r.because for r in setting.related))
        made.append(
            f"Values of related people are taken to be jointly normal, within the bounds: {alike}. Only “Correlated "
            "records” uses it; without it, only a group as large as the relatives is safe."
        )
    else:
        made.append(
            "Records of other people say nothing about this one; if families resemble each other, the risk is higher "
            "(adversary.correlation states how, data.unit protects them together)."
        )
    made += _queries_beside_secret(plan, setting)
    return tuple(made)


def _contributions(plan: Release) -> str:
    data = plan.data
    if not data.several:
        return "One row is one person; values beyond the bounds are cut off."
    who = f"Everyone with the same {data.unit}, together," if data.unit else "A person"
    groups = f"in at most {data.max_groups} groups of a query" if data.max_groups else "in one group of each count"
    rows = f"at most {data.max_rows} row{'' if data.max_rows == 1 else 's'}"
    counted = f"counts as at most {data.max_rows} people" if data.unit else f"counts once, {groups}"
    return (
        f"{who} {counted}, and adds {rows} to sums, averages and counts of rows; which rows and groups are kept is "
        "drawn as by lot from theirs alone, in no order of values or names. Values beyond the bounds are cut off."
    )


def _query_name(plan: Release, i: int) -> str:
    """A query in a sentence: by its name, or its place."""
    return f"“{plan.queries[i].name}”" if plan.queries[i].name else f"query {i + 1}"


def _size(plan: Release, i: int) -> str:
    query = plan.queries[i]
    if query.kind is not QueryKind.AVERAGE:
        return ""
    if query.size is Size.PUBLIC:
        name = _query_name(plan, i)
        return f"The number of rows behind {name} is public: whether someone is in the table is no question."
    return f"The average of {_query_name(plan, i)} is a noisy sum over a noisy number of rows, half of its ε each."


def _names(plan: Release, i: int) -> str:
    query, called = plan.queries[i], _query_name(plan, i)
    if not query.split_by:
        return ""
    if query.groups is not None:
        return f"The groups of {called} are those the plan lists, whether anyone is in them or not."
    threshold = threshold_of(plan, i, plan.epsilon)
    if threshold is None:
        return (
            f"The names of the groups of {called} come from the data: one that exists because of a person shows them."
        )
    chance = name_probability(plan, i, plan.epsilon)
    return (
        f"A group of {called} is published where its noisy number of people reaches {threshold:g}; a person alone in "
        f"one is named with a chance of {ceil_digits(chance)}."
    )


def _queries_beside_secret(plan: Release, setting: Setting) -> list[str]:
    """The queries that are taken to say nothing of the secret, and why."""
    secret = plan.data.hidden
    others = [i for i in range(len(plan.queries)) if i not in setting.secret]
    if secret is None or not others:
        return []
    columns = ", ".join(sorted(columns_of(secret.where) | set(secret.columns)))
    named = " and ".join(", ".join(_query_name(plan, i) for i in others).rsplit(", ", 1))
    return [
        f"Taken to say nothing about the secret, because they mention none of its columns ({columns}): {named}. A "
        "column that goes with the secret belongs to data.secret.columns."
    ]


def reproduction_record(plan: Release, engine: str, table: object) -> dict[str, str]:
    """How to get the same numbers again: versions, hashes, seed and command."""
    packages = "numpy", "scipy", "ibis-framework", "duckdb"
    found = package_versions(*packages)
    versions = {"epsilens": found["epsilens"], "python": platform.python_version()}
    versions |= {package: found.get(package, "not installed") for package in packages}
    return {
        "software": ", ".join(f"{k} {v}" for k, v in versions.items()),
        "engine": engine,
        "release": f"SHA-256 {plan.digest()}",
        "data": _data_hash(plan.data) if table is None else "passed in memory",
        "seed": f"{SEED} (simulated releases only)",
        "command": Path(sys.argv[0]).name if sys.argv else "",  # whose arguments may be anything
    }


def _data_hash(data: Data) -> str:
    """What the table is called, and a mark of it where it is a file."""
    source, name = source_of(data.table), data.public_name
    if isinstance(source, Bundled):
        return f"{name}, SHA-256 {source.dataset.sha256}"
    path = Path(data.table)
    if not isinstance(source, File) or not path.is_file():
        return name
    # Neither a plain hash nor the size in bytes: who knows all other records finds a person by them.
    if path.stat().st_size > _MOST_HASHED:
        return f"{name} (not hashed: larger than a gigabyte)"
    if (mark := keyed_fingerprint(path)) is None:
        return f"{name} (not hashed: this machine can keep no secret that only its owner reads)"
    return f"{name}, keyed hash {mark} (the same in other reports about this table from this machine)"


@dataclass(frozen=True)
class Precedent:
    """One deployment that reports an ε."""

    curator: str
    deployment: str
    year: int
    variant: str
    epsilon: float
    unit: str
    model: str


def precedents() -> tuple[Precedent, ...]:
    """Deployments with an ε of their own, smallest first.

    >>> len(precedents()), precedents()[0].curator
    (27, 'Uber')
    """
    made = [
        Precedent(d.curator, d.deployment, d.year, d.variant, d.epsilon, d.unit, d.model)
        for d in deployments()
        if d.epsilon is not None
    ]
    return tuple(sorted(made, key=lambda p: (p.epsilon, p.deployment)))


class Caution(StrEnum):
    """What there is to be careful about."""

    PERSON = "person"  # a column looks like the person, and the plan names none
    SPELLINGS = "spellings"  # groups that differ only in capitals or blanks
    UNREAD = "unread"  # values that a form leaves out
    NOBODY = "nobody"  # rows that do not say whose they are


@dataclass(frozen=True)
class TableCaution:
    """A caution about a column: how many people, groups or values it is about."""

    about: Caution
    column: str
    count: int
    most: int = 0  # of a person: the most rows one of them has


def stored_table_cautions(opened: OpenTable, plan: Release) -> tuple[TableCaution, ...]:
    """What the table as stored says: a person nobody named, values that the plan's forms leave out."""
    return (*_unnamed_person(opened, plan), *_unread_values(opened, plan))


def _unnamed_person(opened: OpenTable, plan: Release) -> list[TableCaution]:
    if plan.data.several:
        return []
    owner = likely_owner(opened)
    return [TableCaution(Caution.PERSON, owner.name, owner.values, owner.most)] if owner is not None else []


def _unread_values(opened: OpenTable, plan: Release) -> list[TableCaution]:
    forms = plan.data.forms
    if not forms:
        return []
    got = opened.engine.fetch(count_unparsed(opened.table, forms)).to_pylist()[0]
    return [TableCaution(Caution.UNREAD, name, int(n)) for name, n in got.items() if n]


def owned_rows(opened: OpenTable, plan: Release) -> tuple[Any, tuple[TableCaution, ...]]:
    """The rows that say whose they are, of a table whose text is read already; the others may be anybody's.

    Counted as people of their own, or together as one, they would add to what a person adds under their name.
    """
    table = opened.table
    names = [name for name in (plan.data.person, plan.data.unit) if name is not None]
    columns = {name: value_of(column_of(table, name, "person", "data.person"), "person") for name in names}
    if not columns:
        return table, ()
    lost = table.aggregate(**{name: as_integer(column.isnull()).sum() for name, column in columns.items()})
    got = opened.engine.fetch(lost).to_pylist()[0]
    warned = tuple(TableCaution(Caution.NOBODY, name, int(n)) for name, n in got.items() if n)
    return (table.filter([columns[w.column].notnull() for w in warned]) if warned else table), warned


def spelling_cautions(plan: Release, answers: Sequence[Sequence[ExactAnswer]]) -> tuple[TableCaution, ...]:
    """Columns of groups some of whose names are the same but for capitals and blanks."""
    found: dict[str, int] = {}
    for query, groups in zip(plan.queries, answers, strict=True):
        if query.groups is not None:
            continue
        for place, column in enumerate(query.split_by):
            names = {answer.group[place] for answer in groups}
            alike = len(names) - len({re.sub(r"\s+", " ", name).strip().casefold() for name in names})
            found[column] = max(found.get(column, 0), alike)
    return tuple(TableCaution(Caution.SPELLINGS, column, count) for column, count in found.items() if count)
