"""A plan that shows something, made as small as still shows it; and a domain rich enough to reach every extreme."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.references.brute.conditions import All, Cell, Condition, Not
from tests.references.brute.worlds import Ask, Case

__all__ = ["enriched", "shrunk"]


def shrunk(case: Case, shows: Callable[[Case], bool], tries: int = 60) -> Case:
    """The smallest plan found that still shows it."""
    going = True
    while going and tries > 0:
        going = False
        for smaller in _smaller(case):
            tries -= 1
            if tries <= 0:
                break
            if shows(smaller):
                case, going = smaller, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    for i in range(len(case.asks)):
        if len(case.asks) > 1:
            rest = case.asks[:i] + case.asks[i + 1 :]
            yield replace(case, asks=tuple(replace(a, epsilon=None, share=None) for a in rest))
    for name in case.domain:
        used = frozenset().union(*(a.columns for a in case.asks), case.secret.columns if case.secret else ())
        if name not in used and name not in case.also and len(case.domain) > 1:
            yield _without(case, name)
    if case.limits:
        yield replace(case, limits={})
    if case.adversary:
        yield replace(
            case, adversary={k: v for k, v in case.adversary.items() if k == "among"} if len(case.adversary) > 1 else {}
        )
    if case.also:
        yield replace(case, also=())
    if case.quasi:
        yield replace(case, quasi=())
    if any(a.epsilon or a.share for a in case.asks):
        yield replace(case, asks=tuple(replace(a, epsilon=None, share=None) for a in case.asks))
    if case.noise == "gaussian":
        yield replace(case, noise="laplace", delta=None)
    if case.replace and not any(a.public_size for a in case.asks):
        yield replace(case, replace=False)
    if case.several:
        table = tuple({p: (p, row) for p, row in case.table}.values())
        yield replace(case, several=False, most=1, max_rows=1, max_groups=None, table=table)
        if case.max_rows > 1:
            yield replace(case, max_rows=case.max_rows - 1)
        if case.max_groups is not None:
            yield replace(case, max_groups=None)
        if case.most > 1:
            yield replace(case, most=case.most - 1)
    for i, ask in enumerate(case.asks):
        for simpler in _simpler(ask):
            yield replace(case, asks=(*case.asks[:i], simpler, *case.asks[i + 1 :]))
    if case.secret is not None:
        for part in _parts(case.secret):
            yield replace(case, secret=part)
    if case.epsilon != 1.0:
        yield replace(case, epsilon=1.0)
    for name, values in case.domain.items():
        for value in values:
            if len(values) > 2:
                kept = tuple(v for v in values if v != value)
                at = list(case.domain).index(name)
                table = tuple((p, row) for p, row in case.table if row[at] in kept)
                if table:
                    yield replace(case, domain={**case.domain, name: kept}, table=table)


def _without(case: Case, name: str) -> Case:
    at = list(case.domain).index(name)
    table = tuple((p, row[:at] + row[at + 1 :]) for p, row in case.table)
    domain = {n: v for n, v in case.domain.items() if n != name}
    return replace(
        case,
        unit=case.unit and name != "one",
        domain=domain,
        table=table,
        quasi=tuple(n for n in case.quasi if n != name),
    )


def _simpler(ask: Ask) -> Iterator[Ask]:
    if ask.where is not None:
        yield replace(ask, where=None)
        for part in _parts(ask.where):
            yield replace(ask, where=part)
    for i in range(len(ask.by)):
        by = ask.by[:i] + ask.by[i + 1 :]
        groups = None
        if ask.groups is not None:
            groups = tuple(dict.fromkeys(g[:i] + g[i + 1 :] for g in ask.groups))
        thin = replace(ask, by=by, groups=groups)
        yield thin if thin.split_by else replace(thin, groups=None, threshold=None)
    if ask.rows:
        yield replace(ask, rows=False)
    if ask.threshold is not None and ask.threshold > 1:
        yield replace(ask, threshold=1.0)
    if ask.groups is not None and len(ask.groups) > 1:
        for i in range(len(ask.groups)):
            yield replace(ask, groups=ask.groups[:i] + ask.groups[i + 1 :])
    if ask.kind == "average" and not ask.public_size:
        yield replace(ask, kind="sum")


def _parts(condition: Condition) -> tuple[Condition, ...]:
    if isinstance(condition, All):
        return condition.first, condition.second
    return (condition.inner,) if isinstance(condition, Not) else ()


def enriched(case: Case) -> Case:
    """The same plan with every value that may matter: at, just below and beyond each number it names, and free labels.

    Any cell may be empty, since nothing in a plan says that none is; only whose row it is must be known.
    """
    named: dict[str, set[Cell]] = {n: set(values) for n, values in case.domain.items()}
    cut: dict[str, set[float]] = {n: set() for n in case.domain}
    conditions = [a.where for a in case.asks if a.where] + ([case.secret] if case.secret else [])
    for column, value in (pair for c in conditions for pair in c.constants):
        named[column].add(value)
        if isinstance(value, float):
            cut[column].add(value)
    groups = 1
    for ask in case.asks:
        if ask.bounds and ask.column:
            named[ask.column] |= {ask.bounds[0] - 1, ask.bounds[0], ask.bounds[1], ask.bounds[1] + 1, 0.0}
        for label in ask.groups or ():
            for column, value in zip(ask.split_by, label, strict=True):
                if value is not None:
                    named[column].add(value)
        if ask.split_by:
            groups = max(groups, 2 * case.groups_of(ask))
    for column, values in cut.items():
        named[column] |= {x + step for x in values for step in (-1e-7, 1e-7)}
        if values:
            named[column] |= {min(values) - 50, max(values) + 50}
    for column in named:
        if column.startswith("s"):
            named[column] |= {f"free{i}" for i in range(min(groups, 3))}
    domain = {n: tuple(sorted((v for v in values if v is not None), key=repr)) for n, values in named.items()}
    if case.several:
        case = replace(case, most=min(3, max(case.most, case.max_rows, case.max_groups or 1)))
    return replace(case, domain={n: v if n == "one" else (*v, None) for n, v in domain.items()})
