"""Assess a planned release: what each adversary could learn, the largest ε within the limits, the accuracy it buys.

No mathematics of its own: the adversaries' experiments come from :mod:`.adversaries`, the people who can be isolated
from the scan, the answers from the table, and the largest ε from ``choose``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from pathlib import Path
from typing import Any

import numpy as np

from ..catalogue.readings import find
from ..choice.choice import choose
from ..data.queries import Query
from ..data.scan.result import Scan
from ..data.scan.scan import DISCLOSURE, scan
from ..data.tables.conditions import condition, parse, syntax
from ..data.tables.open import column_of, open_table
from ..errors import NoSolutionError
from ..plan.answers import true_answers
from ..plan.plan import Release, read_release
from ..plan.relatives import Relation, relations
from ..shown import Shown, presenter
from .accuracy import QueryAccuracy, accuracy_of, error_epsilon
from .adversaries import ADVERSARIES, Adversary, Setting, limits_of
from .precedents import Precedent, precedents
from .provenance import assumptions, record

__all__ = ["Assessment", "Curve", "Risk", "assess"]

SCHEMA = 1
_CURVE_POINTS = 25
_MOST_DRAWN = 100.0  # an ε beyond says "anything goes": it is told, not drawn


@dataclass(frozen=True)
class Risk:
    """One adversary against this release.

    ``largest`` is the largest total ε within the limit (None without a limit, 0 where no ε meets it); ``recommended``
    is the risk at the recommended ε, ``needed`` the risk at the smallest ε that keeps the error tolerated.
    """

    key: str
    name: str
    question: str
    reading: str
    arguments: Mapping[str, float]
    baseline: float
    planned: float
    limit: float | None
    largest: float | None
    recommended: float | None
    how: str
    needed: float | None = None

    @property
    def over(self) -> bool:
        """Whether the planned ε breaks the limit."""
        return self.limit is not None and self.planned > self.limit


@dataclass(frozen=True)
class Curve:
    """Risk and relative error against ε."""

    epsilon: tuple[float, ...]
    risks: Mapping[str, tuple[float, ...]]
    errors: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Assessment(Shown):
    """What a planned release gives away, and what ε to choose instead.

    ``command`` is what was typed to get it; empty where nothing was.
    """

    shown_as = "assessment"

    release: Release
    epsilon: float
    risks: tuple[Risk, ...]
    recommended: float | None
    binding: str | None
    queries: tuple[QueryAccuracy, ...]
    curve: Curve
    scan: Scan | None
    people: int | None
    precedents: tuple[Precedent, ...]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    reproduce: Mapping[str, str]
    relations: tuple[Relation, ...] = ()
    command: str = ""

    @property
    def exceeded(self) -> bool:
        """Whether any limit on risk is broken at the planned ε."""
        return any(r.over for r in self.risks)

    @property
    def possible(self) -> bool:
        """Whether some ε meets every limit on risk."""
        return self.recommended is None or self.recommended > 0

    @property
    def at_least(self) -> float | None:
        """The smallest ε that keeps every query within the limit on error, if there is one."""
        needed = [q.smallest_epsilon for q in self.queries if q.smallest_epsilon is not None]
        return max(needed, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, with a schema version."""
        return presenter().data(self)

    def to_registry(self) -> str:
        """A record for the public deployments registry, in YAML."""
        return presenter().registry(self)

    def __repr__(self) -> str:
        told = f"Assessment({self.release.title!r}, epsilon={self.epsilon:g}"
        return f"{told}, recommended={self.recommended!r}, {len(self.risks)} risks, {len(self.queries)} queries)"


def assess(
    release: str | Path | Mapping[str, Any] | Release,
    *,
    engine: Any = None,
    table: Any = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Assessment:
    """Assess a release given as a YAML file, YAML text, a mapping or a :class:`~epsilens.plan.plan.Release`.

    ``table`` replaces the release's own table by a frame or anything else that can be opened; ``engine="spark"``
    reads it with Spark.
    """
    plan = read_release(release)
    queries = tuple(q.planned() for q in plan.queries)
    tell = progress or (lambda done, total, what: None)
    steps = len(queries) + 3
    opened = open_table(plan.data.table if table is None else table, engine)
    try:
        for query in queries:
            query.check(opened.table)
        about = _about_secret(opened.table, plan, queries)
        answers = []
        for i, query in enumerate(queries):
            tell(i, steps, f"answering {query}")
            answers.append(true_answers(opened, query, plan.data.person, plan.data.max_rows))
        if plan.adversary.correlation != "none":
            tell(len(queries), steps, "comparing related people")
        alike = relations(plan, opened, queries)
    except BaseException:
        opened.close()
        raise
    found = _scanned(opened, plan, queries, tell, steps)
    exposure = tuple(r.ratio["worst"] for r in found.queries) if found else tuple(0.0 for _ in queries)
    setting = Setting(plan, exposure, about, alike)
    tell(steps - 2, steps, "reading the adversaries")
    risks, notes = _risks(setting)
    bounded = [r for r in risks if r.largest is not None]
    first = min(bounded, key=lambda r: r.largest or 0.0, default=None)
    recommended = _rounded(first.largest or 0.0, ROUND_FLOOR) if first else None
    if recommended is not None and not any(r.over for r in risks):
        recommended = max(recommended, plan.epsilon)  # rounding must not talk down an ε that is within the limits
    accuracy = tuple(
        accuracy_of(query, part, found_answers, plan, recommended)
        for query, part, found_answers in zip(queries, plan.shares, answers, strict=True)
    )
    limit = limits_of(plan).get("error")
    if limit is not None:
        accuracy = tuple(replace(q, smallest_epsilon=error_epsilon(q, plan, limit[0])) for q in accuracy)
    tell(steps - 1, steps, "drawing the curve")
    needed = _rounded(max((q.smallest_epsilon for q in accuracy if q.smallest_epsilon), default=0.0), ROUND_CEILING)
    risks = tuple(
        replace(r, recommended=_read(setting, r, recommended), needed=_read(setting, r, needed)) for r in risks
    )
    result = Assessment(
        release=plan,
        epsilon=plan.epsilon,
        risks=tuple(sorted(risks, key=lambda r: np.inf if r.largest is None else r.largest)),
        recommended=recommended,
        binding=first.key if first else None,
        queries=accuracy,
        curve=_curve(setting, risks, accuracy, recommended),
        scan=found,
        people=found.people if found else None,
        precedents=precedents(),
        assumptions=assumptions(plan, queries, setting),
        notes=(*notes, *(found.notes if found else ()), *(() if found else (DISCLOSURE,))),
        reproduce=record(plan, opened.engine.kind, table),
        relations=alike,
    )
    tell(steps, steps, "done")
    return result


def _rounded(epsilon: float, rounding: str) -> float:
    """A number people can type, to the safe side: two digits below 1 and three above.

    What is recommended is what is then read, so that the report's numbers are those of the ε it names.
    """
    if not 0 < epsilon < np.inf:
        return epsilon
    return float(Context(prec=2 if epsilon < 1 else 3, rounding=rounding).create_decimal(Decimal(epsilon)))


def _about_secret(table: Any, plan: Release, queries: tuple[Query, ...]) -> tuple[int, ...]:
    """The queries whose answer depends on the secret: those that mention one of its columns; all without a secret."""
    if plan.data.secret is None:
        return tuple(range(len(queries)))
    condition(table, plan.data.secret, "secret")
    columns = _columns(plan.data.secret)
    made = []
    for i, query in enumerate(queries):
        mentioned = set(query.groups) | ({query.column} if query.column else set())
        mentioned |= _columns(query.where) if query.where else set()
        if mentioned & columns:
            made.append(i)
    return tuple(made)


def _columns(text: str) -> set[str]:
    return {node.name for node in parse(text, "condition").find_all(syntax().Column)}


def _scanned(opened: Any, plan: Release, queries: tuple[Query, ...], tell: Any, steps: int) -> Scan | None:
    try:
        for name in plan.data.quasi_identifiers:
            column_of(opened.table, name, "quasi_identifiers")
        if not plan.data.quasi_identifiers:
            return None
        return scan(
            opened,
            list(plan.data.quasi_identifiers),
            person=plan.data.person,
            max_rows=plan.data.max_rows if plan.data.person else None,
            queries=queries,
            progress=lambda done, of, what: tell(len(queries), steps, f"scanning, {what}"),
        )
    finally:
        opened.close()


def _risks(setting: Setting) -> tuple[tuple[Risk, ...], list[str]]:
    limits = limits_of(setting.release)
    made, notes = [], []
    for adversary in _met(setting, limits):
        limit, extra = limits.get(adversary.reading, (None, {}))
        args = find(adversary.reading).arguments({**adversary.arguments(setting), **extra})
        experiment = adversary.experiment(setting, setting.release.epsilon)
        planned = float(getattr(experiment, adversary.reading)(**args))
        largest: float | None = None
        if limit is not None:
            try:
                largest = choose(
                    lambda epsilon, a=adversary: a.experiment(setting, epsilon),
                    "epsilon",
                    at_most=limit,
                    reading=adversary.reading,
                    **args,
                ).value
            except NoSolutionError as error:
                largest = 0.0
                notes.append(f"{adversary.name}: {error}.")
        floor = float(find(adversary.reading).floor(**args))
        how = experiment.notes[0] if experiment.notes else ""
        made.append(
            Risk(
                adversary.key,
                adversary.name,
                adversary.question(setting),
                adversary.reading,
                args,
                floor,
                planned,
                limit,
                largest,
                None,
                how,
            )
        )
    return tuple(made), notes


def _met(setting: Setting, limits: Mapping[str, Any]) -> Iterable[Adversary]:
    """The adversaries this release meets, and the membership test again for each further reading that is limited."""
    met = [a for a in ADVERSARIES if a.applies(setting)]
    membership = ADVERSARIES[0]
    for name in limits:
        if name != "error" and all(a.reading != name for a in met):
            label = find(name).label
            arguments = membership.arguments if "prior" in find(name).optional else _no_arguments
            met.append(
                replace(
                    membership,
                    key=f"membership-{name}",
                    name=f"Membership test, {label}",
                    reading=name,
                    arguments=arguments,
                )
            )
    return met


def _no_arguments(setting: Setting) -> Mapping[str, float]:
    return {}


def _read(setting: Setting, risk: Risk, epsilon: float | None) -> float | None:
    if not epsilon or not np.isfinite(epsilon):
        return None
    adversary = next(a for a in _met(setting, limits_of(setting.release)) if a.key == risk.key)
    return float(getattr(adversary.experiment(setting, epsilon), risk.reading)(**risk.arguments))


def _curve(
    setting: Setting, risks: tuple[Risk, ...], queries: tuple[QueryAccuracy, ...], recommended: float | None
) -> Curve:
    planned = setting.release.epsilon
    marks = [planned] + ([recommended] if recommended and recommended < _MOST_DRAWN else [])
    low, high = min(0.05, *(m / 3 for m in marks)), min(max(10.0, *(3 * m for m in marks)), 700.0)
    grid = np.unique(np.concatenate((np.geomspace(low, high, _CURVE_POINTS), marks)))
    drawn = [r for r in risks if r.reading == "success"]
    lines = {r.key: tuple(float(_read(setting, r, float(e)) or 0.0) for e in grid) for r in drawn}
    errors = tuple(tuple(q.relative(float(e), setting.release) for e in grid) for q in queries)
    return Curve(tuple(float(e) for e in grid), lines, errors)
