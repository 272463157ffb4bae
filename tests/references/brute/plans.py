"""Random small plans, each with a domain of values for its columns and a table drawn from it."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pandas as pd
from tests.judges.plans.conditions import All, Between, Cell, Compare, Condition, Empty, Not, OneOf
from tests.references.brute.worlds import Ask, Case

_TEXTS = ("a", "b", "c", "d")


def make(rng: random.Random) -> Case:
    """A random plan."""
    several = rng.random() < 0.5
    width = rng.choice((1, 2, 2)) if several else rng.choice((1, 2, 2, 3))
    domain: dict[str, tuple[Cell, ...]] = {}
    for i in range(width):
        nullable = rng.random() < 0.3
        if i == 0 or rng.random() < 0.4:
            domain[f"v{i}"] = _numbers(rng, 2 if several and width > 1 else rng.choice((2, 3, 4)), nullable)
        else:
            values: tuple[Cell, ...] = _TEXTS[: rng.choice((2, 2, 3)) if several else rng.choice((2, 3, 4))]
            domain[f"s{i}"] = (*values, None) if nullable else values
    unit = several and width < 3 and rng.random() < 0.25
    replaced = rng.random() < 0.35
    gaussian = rng.random() < 0.35
    max_rows = rng.choice((1, 2, 2, 3)) if several else 1
    max_groups = rng.choice((None, 1, 2, 3)) if several else None
    asks = [_ask(rng, domain, replaced) for _ in range(rng.choice((1, 1, 2, 2, 3, 4)))]
    epsilon = rng.choice((0.3, 1.0, 2.0))
    budget = rng.random()
    if budget < 0.2:
        asks = [replace(a, epsilon=rng.choice((0.2, 0.5, 1.0, 1.5))) for a in asks]
    elif budget < 0.4:
        weights = [rng.choice((1, 2, 5)) for _ in asks]
        asks = [replace(a, share=w / sum(weights)) for a, w in zip(asks, weights, strict=True)]
    secret: Condition | None = None
    also: tuple[str, ...] = ()
    if rng.random() < 0.85:
        if rng.random() < 0.25 and any(a.where for a in asks):  # what a query asks is what they want to know
            secret = rng.choice([a.where for a in asks if a.where])
        else:
            secret = _condition(rng, domain)
        if rng.random() < 0.2:
            also = (rng.choice(list(domain)),)
    adversary: dict[str, Any] = {}
    if rng.random() < 0.6:
        adversary["prior"] = rng.choice((0.1, 0.3, 0.5, 0.8))
    if rng.random() < 0.4:
        adversary["belief"] = rng.choice((0.05, 0.3, 0.7))
    if rng.random() < 0.4:
        adversary["among"] = rng.choice((2, 10))
    if rng.random() < 0.3:
        adversary["baseline"] = rng.choice((0.001, 0.1, 0.5))
    if rng.random() < 0.25:
        adversary["knowledge"] = {"rho_p": rng.choice((0.2, 0.6))}
    limits: dict[str, Any] = {}
    if rng.random() < 0.2:
        limits = rng.choice(
            (
                {"roc": {"at_most": 0.5, "fpr": 0.05}},
                {"delta": {"at_most": 0.5, "epsilon": 0.5}},
                {"epsilon": {"at_most": 3.0, "delta": 0.05}},
                {"advantage": 0.5},
            )
        )
    case = Case(
        domain={**domain, "one": (1.0, 2.0)} if unit else domain,
        asks=tuple(asks),
        table=(),
        secret=secret,
        also=also,
        several=several,
        unit=unit,
        most=min(3, max_rows + rng.choice((0, 0, 1))) if several else 1,
        max_rows=max_rows,
        max_groups=max_groups,
        noise="gaussian" if gaussian else "laplace",
        epsilon=epsilon,
        delta=rng.choice((1e-6, 1e-3)) if gaussian else None,
        replace=replaced,
        quasi=tuple(n for n in domain if rng.random() < 0.5),
        adversary=adversary,
        limits=limits,
    )
    return replace(case, table=_table(rng, case))


def _numbers(rng: random.Random, n: int, nullable: bool) -> tuple[Cell, ...]:
    values = tuple(float(v) for v in sorted(rng.sample(range(-3, 7), n)))
    return (*values, None) if nullable else values


def _numeric(domain: dict[str, tuple[Cell, ...]]) -> list[str]:
    return [n for n in domain if n.startswith("v")]


def _bounds(rng: random.Random, values: tuple[Cell, ...]) -> tuple[float, float]:
    known = sorted(v for v in values if isinstance(v, float))
    if rng.random() < 0.75:  # within what the column reaches, so that both bounds are met
        low, high = sorted(rng.sample(known, 2)) if len(known) > 1 else (known[0] - 1, known[0])
        return low, high
    low = rng.choice((-4.0, -1.0, 0.0, 1.0, 2.0))
    return low, low + rng.choice((0.5, 1.0, 3.0, 8.0))


def _condition(rng: random.Random, domain: dict[str, tuple[Cell, ...]], depth: int = 0) -> Condition:
    if depth < 1 and rng.random() < 0.2:
        first, second = _condition(rng, domain, 1), _condition(rng, domain, 1)
        return All(first, second, either=rng.random() < 0.4)
    if depth < 1 and rng.random() < 0.08:
        return Not(_condition(rng, domain, 1))
    name = rng.choice(list(domain))
    values = domain[name]
    known = [v for v in values if v is not None]
    kind = rng.random()
    if None in values and kind < 0.25:
        return Empty(name, rng.random() < 0.5)
    if name in _numeric(domain):
        if kind < 0.4:
            low, high = sorted((float(rng.choice(known)), float(rng.choice(known))))
            return Between(name, low, high)
        return Compare(name, rng.choice(("=", "<>", "<", "<=", ">", ">=")), rng.choice(known))
    if kind < 0.4:
        return OneOf(name, tuple(rng.sample(known, min(len(known), 2))))
    return Compare(name, rng.choice(("=", "=", "<>")), rng.choice(known))


def _ask(rng: random.Random, domain: dict[str, tuple[Cell, ...]], replaced: bool) -> Ask:
    kind = rng.choice(("count", "count", "histogram", "sum", "sum", "average"))
    numeric = _numeric(domain)
    column: str | None = None
    if kind == "histogram":
        column = rng.choice(list(domain))
    elif kind != "count":
        column = rng.choice(numeric)
    where = _condition(rng, domain) if rng.random() < 0.45 else None
    free = [n for n in domain if kind != "histogram" or n != column]
    by = tuple(rng.sample(free, min(len(free), rng.choice((0, 0, 0, 1, 1, 2)))))
    bounds = _bounds(rng, domain[column]) if kind in ("sum", "average") and column else None
    ask = Ask(kind, column, where, by, None, None, bounds)
    if kind in ("count", "histogram") and rng.random() < 0.35:
        ask = replace(ask, rows=True)
    if kind == "average" and replaced and rng.random() < 0.3:
        ask = replace(ask, public_size=True)
    if ask.split_by:
        named = rng.random()
        if named < 0.6:
            ask = replace(ask, groups=_groups(rng, domain, ask.split_by))
        elif named < 0.9 and not ask.public_size:
            ask = replace(ask, threshold=rng.choice((1.0, 2.0, 3.0, 5.0, 20.0)))
    return ask


def _groups(
    rng: random.Random, domain: dict[str, tuple[Cell, ...]], by: tuple[str, ...]
) -> tuple[tuple[Cell, ...], ...]:
    """Most labels there are, and sometimes one that is not in the domain."""
    labels: list[tuple[Cell, ...]] = [()]
    for name in by:
        labels = [(*label, value) for label in labels for value in domain[name]]
    kept = [label for label in labels if rng.random() < 0.85] or labels[:1]
    if rng.random() < 0.2:
        absent = tuple("z" if name.startswith("s") else 99.0 for name in by)
        kept.append(absent)
    return tuple(kept)


def _table(rng: random.Random, case: Case) -> tuple[tuple[int, tuple[Cell, ...]], ...]:
    names = list(case.domain)
    made = []
    for person in range(rng.randint(5, 9)):
        for _ in range(rng.randint(1, case.most) if case.several else 1):
            made.append((person, tuple(rng.choice(case.domain[n]) for n in names)))
    return tuple(made)


def frame(case: Case) -> pd.DataFrame:
    """The table as pandas holds it."""
    names = list(case.domain)
    made: dict[str, Any] = {"who": [p for p, _ in case.table]}
    for i, name in enumerate(names):
        cells: list[Any] = [row[i] for _, row in case.table]
        if name == "one":
            cells = [f"{p}.{row[i]}" for p, row in case.table]
        made[name] = pd.array(cells, dtype="Float64" if name.startswith("v") else "string")
    return pd.DataFrame(made)
