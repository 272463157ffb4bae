"""Random plans in which every two words of a plan meet, each with the values its columns may have and a small table."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
from tests.judges.plans.conditions import All, Between, Cell, Compare, Condition, Empty, Not, OneOf

from epsilens.errors import EpsilensError
from epsilens.plan.cells import cells_of_rows
from epsilens.plan.file import read_release
from epsilens.plan.labels import normalized_plan

Row = dict[str, Any]
Label = tuple[Cell, ...]

#: The words of a plan that say something of one query, and those that say it of all.
ABOUT_QUERY = (
    "count", "rows", "histogram", "sum", "average noisy", "average public", "threshold", "auto", "groups",
    "names from data", "where", "by one", "by several", "secret in where", "secret in by", "secret in value",
    "NULL in value", "NULL in label", "NULL in where", "sql", "touched",
)  # fmt: skip
ABOUT_PLAN = (
    "person", "unit", "max_rows", "max_groups", "replace", "laplace", "gaussian", "share", "epsilon each", "split",
    "correlation", "read", "version",
)  # fmt: skip
WORDS = (*ABOUT_QUERY, *ABOUT_PLAN)

_KINDS = ("count", "rows", "histogram", "sum", "average noisy", "average public")
_NAMES = ("threshold", "auto", "groups", "names from data")
_TEXTS, _NUMBERS = ("g", "h"), ("v", "w")


@dataclass(frozen=True)
class Ask:
    """One query of a plan, in the tester's own words."""

    kind: str
    column: str | None = None
    where: Condition | None = None
    by: tuple[str, ...] = ()
    groups: tuple[Label, ...] | None = None
    threshold: float | str | None = None
    bounds: tuple[float, float] | None = None
    public_size: bool = False
    rows: bool = False
    epsilon: float | None = None
    share: float | None = None
    sql: bool = False
    touched: float | None = None

    @property
    def bounded(self) -> bool:
        return self.kind in ("sum", "average")

    @property
    def split_by(self) -> tuple[str, ...]:
        return (*self.by, self.column) if self.kind == "histogram" and self.column else self.by

    def words(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The query as a plan writes it."""
        made: dict[str, Any] = {}
        if self.sql:
            made["sql"] = self._select(data)
        elif self.kind == "count":
            made["count"] = str(self.where) if self.where else True
        else:
            made[self.kind] = self.column
            if self.where:
                made["where"] = str(self.where)
        if self.by and not self.sql:
            made["by"] = list(self.by)
        if self.groups is not None:
            made["groups"] = [list(g) if len(g) > 1 else g[0] for g in self.groups]
        for name in ("threshold", "epsilon", "share", "touched"):
            if getattr(self, name) is not None:
                made[name] = getattr(self, name)
        if self.bounds:
            made["bounds"] = list(self.bounds)
        if self.public_size:
            made["size"] = "public"
        if self.rows and not self.sql:
            made["rows"] = True
        return made

    def _select(self, data: Mapping[str, Any]) -> str:
        person = data.get("person")
        counted = f"COUNT(DISTINCT {person})" if person and not self.rows else "COUNT(*)"
        asked = {"count": counted, "sum": f"SUM({self.column})", "average": f"AVG({self.column})"}[self.kind]
        where = f" WHERE {self.where}" if self.where else ""
        groups = f" GROUP BY {', '.join(self.by)}" if self.by else ""
        return f"SELECT {', '.join([*self.by, asked])} FROM t{where}{groups}"


@dataclass(frozen=True)
class Case:
    """A plan, the values its columns may have, and a small table of them."""

    domain: Mapping[str, tuple[Cell, ...]]
    asks: tuple[Ask, ...]
    rows: tuple[Row, ...] = ()  # of the table, as they are read
    secret: Condition | None = None
    also: tuple[str, ...] = ()
    person: bool = False
    unit: bool = False
    max_rows: int | None = None
    max_groups: int | None = None
    noise: str = "laplace"
    epsilon: float = 1.0
    delta: float | None = None
    replace: bool = False
    split: bool = False
    read: bool = False
    version: str | None = None
    correlation: float | None = None
    quasi: tuple[str, ...] = ()
    adversary: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, Any] = field(default_factory=dict)

    @property
    def several(self) -> bool:
        return self.person or self.unit

    @property
    def owner(self) -> str | None:
        return "home" if self.unit else "who" if self.person else None

    @property
    def told(self) -> frozenset[str]:
        """The columns that change with the secret; all where none is named."""
        return (self.secret.columns if self.secret else frozenset(self.domain)) | frozenset(self.also)

    def words(self) -> dict[str, Any]:
        """The plan as it is written."""
        data: dict[str, Any] = {"table": "t"}
        data |= {"person": "who"} if self.person else {}
        data |= {"unit": "home"} if self.unit else {}
        for name in ("max_rows", "max_groups", "version"):
            if getattr(self, name) is not None:
                data[name] = getattr(self, name)
        if self.read:
            data["read"] = {
                n: {"as": "number", "decimal": ","} if n in _NUMBERS else {"as": "category", "empty": ["n/a"]}
                for n in self.domain
            }
        if self.quasi:
            data["quasi_identifiers"] = list(self.quasi)
        if self.secret:
            data["secret"] = {"where": str(self.secret), "columns": list(self.also)} if self.also else str(self.secret)
        mechanism: dict[str, Any] = {"noise": self.noise}
        if all(a.epsilon is None for a in self.asks):
            mechanism["epsilon"] = self.epsilon
        if self.delta is not None:
            mechanism["delta"] = self.delta
        if self.replace:
            mechanism["neighbours"] = "replace"
        if self.split:
            mechanism["split"] = "least error"
        adversary = dict(self.adversary)
        if self.correlation is not None:
            adversary["correlation"] = [[1.0, self.correlation], [self.correlation, 1.0]]
        return {
            "data": data, "queries": [a.words(data) for a in self.asks], "mechanism": mechanism,
            "adversary": adversary, "limits": dict(self.limits),
        }  # fmt: skip


# -- which words a plan has -----------------------------------------------------------------------------------------


def pairs() -> list[tuple[str, str]]:
    """All pairs of words."""
    return list(itertools.combinations(WORDS, 2))


def _of_query(case: Case, ask: Ask) -> set[str]:
    found = {"rows" if ask.rows else ask.kind}
    if ask.kind == "average":
        found = {"average public" if ask.public_size else "average noisy"}
    if ask.split_by:
        found.add("by one" if len(ask.split_by) == 1 else "by several")
        listed = "groups" if ask.groups is not None else "auto" if ask.threshold == "auto" else "threshold"
        found.add("names from data" if ask.groups is None and ask.threshold is None else listed)
    told = case.told if case.secret else frozenset()
    for place, columns in (
        ("where", ask.where.columns if ask.where else frozenset()),
        ("label", frozenset(ask.split_by)),
        ("value", frozenset({ask.column}) if ask.bounded and ask.column else frozenset()),
    ):
        if any(None in case.domain[c] for c in columns):
            found.add(f"NULL in {place}")
        if columns & told:
            found.add(f"secret in {place}" if place != "label" else "secret in by")
    found |= {"where"} if ask.where else set()
    found |= {"touched"} if ask.touched is not None else set()
    return found | ({"sql"} if ask.sql else set())


def _of_plan(case: Case) -> set[str]:
    found = {case.noise}
    for word, there in (
        ("person", case.person), ("unit", case.unit), ("max_rows", case.max_rows is not None),
        ("max_groups", case.max_groups is not None), ("replace", case.replace), ("split", case.split),
        ("share", case.asks[0].share is not None), ("epsilon each", case.asks[0].epsilon is not None),
        ("correlation", case.correlation is not None), ("read", case.read), ("version", case.version is not None),
    ):  # fmt: skip
        found |= {word} if there else set()
    return found


def met_in(case: Case) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The pairs of words that meet in a plan; those of one query, or of the plan, and those of different queries."""
    whole, each = _of_plan(case), [_of_query(case, a) for a in case.asks]
    near = {p for own in each for p in itertools.combinations(sorted(own | whole, key=WORDS.index), 2)}
    far = set(itertools.combinations(sorted(set().union(*each), key=WORDS.index), 2))
    return near, far - near


# -- random plans -----------------------------------------------------------------------------------------------------


def make(rng: random.Random, first: frozenset[str] = frozenset(), second: frozenset[str] | None = None) -> Case:
    """A random plan; its first query, or the plan, has the words ``first``, its second, if any, ``second``."""
    wanted = first | (second or frozenset())

    def has(word: str, chance: float, *but: str) -> bool:
        return word in wanted or (not wanted & set(but) and rng.random() < chance)

    unit = has("unit", 0.15, "touched")
    needs = wanted & {"max_rows", "max_groups", "touched"}
    person = has("person", 0.6 if unit else 0.5) or (not unit and bool(needs))
    several = unit or person
    replaced = has("replace", 0.35) or "average public" in wanted
    secret = rng.choice((*_TEXTS, *_NUMBERS)) if rng.random() < 0.85 or any("secret" in w for w in wanted) else None
    if "secret in by" in wanted:
        secret = rng.choice(_TEXTS)
    elif "secret in value" in wanted:
        secret = rng.choice(_NUMBERS)
    also = rng.choice(_NUMBERS) if {"secret in by", "secret in value"} <= wanted else None
    if secret and also is None and rng.random() < 0.15:
        also = rng.choice([c for c in (*_TEXTS, *_NUMBERS) if c != secret])
    told = [c for c in (secret, also) if c]
    domain: dict[str, tuple[Cell, ...]] = {n: ("a", "b", "c")[: rng.choice((2, 3))] for n in _TEXTS}
    domain |= {n: tuple(float(x) for x in sorted(rng.sample(range(-3, 7), rng.choice((2, 3))))) for n in _NUMBERS}
    each = [first, *([second] if second is not None else [])]
    each += [frozenset()] * (rng.choice((1, 1, 2, 2, 3)) - len(each))
    asks = [_ask(rng, domain, own, told, replaced, several) for own in each]
    for k, (ask, own) in enumerate(zip(asks, each, strict=True)):
        fits = person and not unit and "correlation" not in wanted and not ask.bounded and not ask.rows
        if "touched" in own or (fits and ask.split_by and rng.random() < 0.15):
            asks[k] = replace(ask, touched=rng.choice((0.1, 0.4)))
    full = {a.column for a in asks if a.public_size}
    nullable = {n for n in domain if rng.random() < 0.25}
    for ask, own in zip(asks, each, strict=True):
        for word, columns in (
            ("NULL in value", [ask.column] if ask.column else []), ("NULL in label", ask.split_by),
            ("NULL in where", sorted(ask.where.columns) if ask.where else ()),
        ):  # fmt: skip
            nullable |= {rng.choice(columns)} if word in own and columns else set()
    domain = {n: (*values, None) if n in nullable - full else values for n, values in domain.items()}
    asks = [_with_names(rng, ask, own, domain) for ask, own in zip(asks, each, strict=True)]
    split = has("split", 0.1, "share", "epsilon each")
    budget = rng.random() if not split or wanted & {"share", "epsilon each"} else 1.0
    if "epsilon each" in wanted or (budget < 0.2 and "share" not in wanted):
        asks = [replace(a, epsilon=rng.choice((0.2, 0.5, 1.0, 1.5))) for a in asks]
    elif "share" in wanted or budget < 0.4:
        weights = [rng.choice((1, 2, 5)) for _ in asks]
        asks = [replace(a, share=w / sum(weights)) for a, w in zip(asks, weights, strict=True)]
    gaussian = has("gaussian", 0.35, "laplace")
    auto, touched = any(a.threshold == "auto" for a in asks), any(a.touched for a in asks)
    case = Case(
        domain, tuple(asks), secret=_about(rng, secret, domain) if secret else None, also=(also,) if also else (),
        person=person, unit=unit, max_rows=rng.choice((1, 2, 2, 3)) if has("max_rows", 0.7 * several) else None,
        max_groups=rng.choice((1, 1, 2, 3)) if has("max_groups", 0.5 * several) else None,
        noise="gaussian" if gaussian else "laplace", epsilon=rng.choice((0.3, 1.0, 2.0)),
        delta=rng.choice((1e-6, 1e-3)) if gaussian or (auto and rng.random() < 0.7) else None,
        replace=replaced, split=split, read=has("read", 0.15), version="2026-03" if has("version", 0.15) else None,
        correlation=rng.choice((0.2, 0.5, 0.9)) if has("correlation", 0.0 if touched else 0.15) else None,
        quasi=tuple(n for n in domain if rng.random() < 0.4), adversary=_adversary(rng),
        limits=_limits(rng, any(isinstance(a.threshold, float) for a in asks)),
    )  # fmt: skip
    return replace(case, rows=tuple(_table(rng, case)))


def _ask(
    rng: random.Random, domain: Mapping[str, tuple[Cell, ...]], wanted: frozenset[str], told: list[str], replaced: bool,
    several: bool,
) -> Ask:  # fmt: skip
    kinds = [k for k in _KINDS if k in wanted]
    fit = [k for k in _KINDS if (k != "average public" or replaced) and (k != "rows" or several or "rows" in wanted)]
    if "sql" in wanted:
        fit = [k for k in fit if k != "histogram"]
    if "touched" in wanted:
        fit = [k for k in fit if k in ("count", "histogram")]
    if {"secret in value", "NULL in value"} & wanted:
        fit = [k for k in fit if k in ("sum", "average noisy", "average public")]
    if "NULL in value" in wanted:
        fit = [k for k in fit if k != "average public"]
    kind = kinds[0] if kinds else rng.choice(fit or _KINDS)
    names = wanted & {*_NAMES, "touched", "by one", "by several", "NULL in label", "secret in by"}
    texts = [c for c in told if c in _TEXTS]
    wide = (
        1 if "by one" in wanted else 2 if "by several" in wanted else rng.choice((1, 1, 2) if names else (0, 0, 1, 2))
    )
    if kind == "histogram":
        wide = max(wide, 1)
    by = tuple(rng.sample(_TEXTS, wide))
    if "secret in by" in wanted and texts and texts[0] not in by:
        by = (texts[0], *by[1:])
    column: str | None = None
    if kind == "histogram":
        by, column = by[:-1], by[-1]
    elif kind in ("sum", "average noisy", "average public"):
        numbers = [c for c in told if c in _NUMBERS]
        column = rng.choice(numbers if "secret in value" in wanted and numbers else _NUMBERS)
    where = None
    if {"where", "secret in where", "NULL in where"} & wanted or rng.random() < 0.4:
        about = [c for c in told if c] if "secret in where" in wanted and told else sorted(domain)
        if "average public" in wanted or kind == "average public":
            about = [c for c in about if c != column] or [c for c in sorted(domain) if c != column]
        where = _about(rng, rng.choice(about), domain)
        if rng.random() < 0.15:
            where = All(where, _about(rng, rng.choice(sorted(domain)), domain), either=rng.random() < 0.4)
    values = [v for v in domain[column] if isinstance(v, float)] if column in _NUMBERS and column else []
    bounds = None
    if values and kind != "histogram":
        low, high = (min(values), max(values)) if rng.random() < 0.7 else (min(values) - 1.0, min(values) + 2.5)
        bounds = (low, high)
    sql = kind != "histogram" and ("sql" in wanted or rng.random() < 0.15)  # SQL counts by a column instead
    word = "average" if kind.startswith("average") else "count" if kind == "rows" else kind
    return Ask(word, column, where, by, None, None, bounds, kind == "average public", kind == "rows", sql=sql)


def _with_names(rng: random.Random, ask: Ask, wanted: frozenset[str], domain: Mapping[str, tuple[Cell, ...]]) -> Ask:
    if not ask.split_by:
        return ask
    chosen = [w for w in _NAMES if w in wanted] or [rng.choice(("threshold", "threshold", "auto", "groups", "groups"))]
    if rng.random() < 0.05 and not wanted & set(_NAMES):
        chosen = ["names from data"]
    for name in chosen:
        if name == "groups":
            labels: list[Label] = [()]
            for column in ask.split_by:
                labels = [(*label, value) for label in labels for value in domain[column]]
            kept = [label for label in labels if rng.random() < 0.85] or labels[:1]
            ask = replace(ask, groups=tuple(kept))
        elif name == "threshold":
            ask = replace(ask, threshold=rng.choice((1.0, 2.0, 3.0, 6.0, 20.0)))
        elif name == "auto":
            ask = replace(ask, threshold="auto")
    return ask


def _about(rng: random.Random, name: str, domain: Mapping[str, tuple[Cell, ...]]) -> Condition:
    """A random condition on one column."""
    known = [v for v in domain[name] if v is not None]
    kind = rng.random()
    if kind < 0.1:
        return Empty(name, rng.random() < 0.5)
    if kind < 0.2:
        return Not(Compare(name, "=", rng.choice(known)))
    if name in _NUMBERS:
        if kind < 0.4:
            low, high = sorted((float(rng.choice(known)), float(rng.choice(known))))
            return Between(name, low, high)
        return Compare(name, rng.choice(("=", "<>", "<", "<=", ">", ">=")), rng.choice(known))
    if kind < 0.4:
        return OneOf(name, tuple(rng.sample(known, min(len(known), 2))))
    return Compare(name, rng.choice(("=", "=", "<>")), rng.choice(known))


def _adversary(rng: random.Random) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, chance, values in (
        ("prior", 0.5, (0.1, 0.3, 0.8)), ("belief", 0.3, (0.05, 0.7)), ("among", 0.4, (2, 10)),
        ("baseline", 0.3, (0.001, 0.1)), ("knowledge", 0.25, ({"rho_p": 0.2}, {"rho_p": 0.6})),
        ("knows", 0.4, ("nothing",)),
    ):  # fmt: skip
        if rng.random() < chance:
            made[name] = rng.choice(values)
    return made


_LIMITS: tuple[dict[str, Any], ...] = (
    {}, {"success": 0.7, "posterior": 0.7, "attack_success": 0.3}, {"success": 0.6},
    {"success": 0.7, "posterior": 0.52}, {"roc": {"at_most": 0.3, "fpr": 0.05}},
    {"delta": {"at_most": 0.1, "epsilon": 0.5}}, {"epsilon": {"at_most": 1.0, "delta": 0.01}}, {"advantage": 0.5},
    {"success": 0.75, "error": 0.9},
)  # fmt: skip


def _limits(rng: random.Random, fixed: bool) -> dict[str, Any]:
    """With a fixed threshold ε is searched all over, which takes minutes for readings at a rate: seldom, then."""
    slow = {"attack_success", "roc"} if fixed and rng.random() < 0.9 else set()
    return {name: limit for name, limit in rng.choice(_LIMITS).items() if name not in slow}


def _table(rng: random.Random, case: Case) -> Iterator[Row]:
    """A few people, some with far more rows than the limits, and groups of their own."""
    for owner in range(rng.randint(5, 9)):
        heavy = rng.random() < 0.3
        for k in range(rng.randint(1, 10 * (case.max_rows or 1) if heavy else 3) if case.several else 1):
            who = 10 * owner + (k % 3 if case.unit else 0)
            row: Row = {"who": who, "home": f"h{owner}"}
            for name, values in case.domain.items():
                row[name] = rng.choice(values)
                if name in _TEXTS and rng.random() < (0.5 if heavy else 0.05):
                    row[name] = f"own {owner} {k}"
            yield row


def schema(case: Case) -> dict[str, str]:
    """The types of the columns, as they are read."""
    return {"who": "int64", "home": "string"} | {n: "float64" if n in _NUMBERS else "string" for n in case.domain}


def frame(case: Case, rows: tuple[Row, ...] | None = None) -> pd.DataFrame:
    """The table as it lies there: texts that are to be read, where the plan reads."""
    made: dict[str, Any] = {}
    for name, kind in schema(case).items():
        cells = [row[name] for row in (case.rows if rows is None else rows)]
        if case.read and name in case.domain:
            cells = [_written(name, x, k) for k, x in enumerate(cells)]
            kind = "string"
        made[name] = pd.array(cells, dtype={"int64": "int64", "string": "string", "float64": "Float64"}[kind])
    return pd.DataFrame(made)


def _written(name: str, value: Cell, place: int) -> str | None:
    if value is None:
        return "n/a" if name in _TEXTS and place % 2 else None
    if isinstance(value, float):
        return f"{value:.3f}".replace(".", ",")
    return f"  {str(value).upper()} " if place % 2 else str(value)


# -- every pair --------------------------------------------------------------------------------------------------------


def covering(rng: random.Random, tries: int = 30) -> tuple[list[Case], dict[tuple[str, str], str]]:
    """Plans in which every two words meet that can, in one query where they can, and why the others cannot."""
    open_ = dict.fromkeys(pairs())
    cases: list[Case] = []
    why: dict[tuple[str, str], str] = {}
    for pair in pairs():
        if pair not in open_:
            continue
        found = None
        said = "one query, or one plan, has one of them"
        one, other = map(frozenset, ([pair[0]], [pair[1]]))
        for apart in (False, True):
            for _ in range(tries):
                case = make(rng, one, other) if apart else make(rng, one | other)
                near, far = met_in(case)
                if pair not in (near | far if apart else near):
                    continue
                try:
                    cells_of_rows(normalized_plan(read_release(case.words())), schema(case))
                except EpsilensError as error:
                    said = str(error).splitlines()[0]
                    continue
                found = case
                break
            if found or not {*pair} <= set(ABOUT_QUERY):
                break
        if found is None:
            why[pair] = said
            del open_[pair]
            continue
        cases.append(found)
        near, far = met_in(found)
        for met in (*near, pair):
            open_.pop(met, None)
    return cases, why


def worth(case: Case) -> float:
    """How large a plan is, for a smaller one that shows the same."""
    return len(case.asks) * 100 + len(case.rows) + math.fsum(len(str(v)) for v in case.words().values())
