"""What an assessment rests on and how to repeat it: assumptions in plain words, versions, hashes, seed.

Beside it the precedents: published deployments and their ε, as reported. Context for a choice, never a licence.
"""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from ..catalogue.deployments import deployments
from ..data.queries import QueryKind
from ..data.schema.inference import likely_owner
from ..data.tables.columns import column_of, count_unparsed, value_of
from ..data.tables.conditions import columns_of
from ..data.tables.dialect import as_integer
from ..data.tables.fingerprint import keyed_fingerprint
from ..data.tables.sources import Bundled, File, source_of
from ..data.tables.table import OpenTable
from ..ledger.ledger import package_versions
from ..numerics.formatting import ceil_digits
from ..plan.answers import ExactAnswer
from ..plan.model import Data, Release, Size
from ..plan.noise import name_probability, threshold_of
from ..worlds import Relation
from .accuracy import SEED
from .adversaries import Setting

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


def reproduction_record(plan: Release, engine: str, table: Any) -> dict[str, str]:
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


# -- cautions about the table --------------------------------------------------------------------------------------


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
