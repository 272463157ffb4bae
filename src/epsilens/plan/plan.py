"""A planned release as a YAML file: the data, the queries, the noise, the adversary and the limits.

Every complaint names the line and what is allowed. Only plain YAML is read: no tags, no aliases (a small file can
otherwise unfold into gigabytes), one document, at most a megabyte.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from ..errors import InputError, MissingExtra

try:
    import yaml
    from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
except ImportError as error:  # pragma: no cover - exercised in an environment without the extra
    raise MissingExtra(error.name or "pydantic", extra="data", purpose="describing a release") from error

__all__ = [
    "Adversary",
    "Data",
    "Knowledge",
    "Limit",
    "Mechanism",
    "Release",
    "ReleaseQuery",
    "json_schema",
    "read_release",
]

MOST_BYTES = 1_000_000
_MOST_DEPTH = 20


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, str_strip_whitespace=True)


class Data(_Part):
    """The table and what an attacker may know about its people."""

    table: str = Field(min_length=1, description="epsilens:rand-hie, a CSV or Parquet path, or an Ibis URL")
    person: str | None = Field(None, description="the column that says whose row it is; omit if one row is one person")
    max_rows: int = Field(1, ge=1, description="the most rows of one person that sums and averages use")
    quasi_identifiers: tuple[str, ...] = Field((), description="columns an attacker may know about a person")
    secret: str | None = Field(None, description="what the attacker wants to learn, a condition on a row")
    related: str | None = Field(None, description="the column that says which people belong together, a household say")

    @model_validator(mode="after")
    def _rows(self) -> Data:
        if self.person is None and self.max_rows != 1:
            raise ValueError("max_rows needs person: without it every row is a person")
        return self


class ReleaseQuery(_Part):
    """One planned query: exactly one of count, sum, average, histogram."""

    count: str | bool | None = Field(None, description="a condition on rows, or true for everyone")
    sum: str | None = Field(None, description="a column; needs bounds")
    average: str | None = Field(None, description="a column; needs bounds")
    histogram: str | None = Field(None, description="a column whose values are counted")
    where: str | None = Field(None, description="a condition on rows")
    by: str | tuple[str, ...] = Field((), description="columns the answers are split by")
    bounds: tuple[float, float] | None = Field(None, description="values are clamped to these")
    epsilon: float | None = Field(None, gt=0, le=700, description="this query's own budget")
    name: str | None = None

    @model_validator(mode="after")
    def _one(self) -> ReleaseQuery:
        kinds = [k for k in ("count", "sum", "average", "histogram") if getattr(self, k) not in (None, False)]
        if len(kinds) != 1:
            found = " and ".join(kinds) or "none of them"
            raise ValueError(f"a query is one of count, sum, average or histogram: it has {found}")
        if kinds[0] in ("sum", "average") and self.bounds is None:
            raise ValueError(f"{kinds[0]} needs bounds: [least, largest]")
        if kinds[0] == "count" and isinstance(self.count, str) and self.where:
            raise ValueError("count has its condition already: leave out where")
        return self

    def planned(self) -> Any:
        """The query as the data engine takes it."""
        from ..data.queries import Query

        by = (self.by,) if isinstance(self.by, str) else tuple(self.by)
        name = self.name or ""
        if self.count not in (None, False):
            where = self.count if isinstance(self.count, str) else self.where
            return Query("count", None, where, by, None, name)
        kind = next(k for k in ("sum", "average", "histogram") if getattr(self, k))
        return Query(kind, getattr(self, kind), self.where, by, self.bounds, name)


class Mechanism(_Part):
    """The noise and its total budget."""

    noise: Literal["laplace", "gaussian"] = "laplace"
    epsilon: float | None = Field(None, gt=0, le=700, description="the total; the queries share it equally")
    delta: float | None = Field(None, gt=0, lt=1, description="gaussian only: the total")

    @model_validator(mode="after")
    def _delta(self) -> Mechanism:
        if (self.noise == "gaussian") != (self.delta is not None):
            raise ValueError("delta belongs to gaussian noise and is needed by it")
        return self


class Knowledge(_Part):
    """What else the adversary knows about the secret: paper 000's coefficients, or a table with what is known."""

    rho_p: float | None = Field(None, ge=0, lt=1, description="coefficient of the prior")
    rho_c: float | None = Field(None, ge=0, lt=1, description="coefficient of correlated records")
    rho_t: float | None = Field(None, ge=0, lt=1, description="coefficient of correlation over time")
    positive: Literal["more likely", "less likely"] = Field("more likely", description="which value the secret is")
    table: dict[str, tuple[float, ...]] | None = Field(
        None, description="for each thing that can be known, [P(secret false), P(secret true)]"
    )
    known: str | None = Field(None, description="the row of the table that is known")

    @model_validator(mode="after")
    def _consistent(self) -> Knowledge:
        coefficients = [k for k in ("rho_p", "rho_c", "rho_t") if getattr(self, k) is not None]
        if bool(coefficients) == (self.table is not None):
            raise ValueError("give either the coefficients rho_p, rho_c, rho_t, or a table with what is known of it")
        if (self.table is None) != (self.known is None):
            raise ValueError("table and known belong together: known names the row of the table that holds")
        self.odds()
        return self

    def odds(self) -> Any:
        """The prior odds this knowledge amounts to, as :class:`epsilens.build.knowledge.knowledge.Knowledge`."""
        from ..build.knowledge.knowledge import Knowledge as Known

        if self.table is not None:
            if any(len(row) != 2 for row in self.table.values()):
                raise ValueError("a row of table does not have two numbers: give [P(secret false), P(secret true)]")
            return Known.from_table(self.table, self.known, ("false", "true"), pair=("false", "true"))
        rho = {k: getattr(self, k) or 0.0 for k in ("rho_p", "rho_c", "rho_t")}
        return Known.from_coefficients(**rho, positive=self.positive)


class Adversary(_Part):
    """What the adversary knows beforehand."""

    prior: float = Field(0.5, gt=0, lt=1, description="how likely they think the person is in the data")
    belief: float | None = Field(None, gt=0, lt=1, description="how likely they think the secret; the prior if omitted")
    knows: Literal["nothing", "one answer"] = "one answer"
    baseline: float = Field(0.01, gt=0, lt=1, description="how often re-identification succeeds without the release")
    knowledge: Knowledge | None = Field(None, description="what else they know about the secret")
    among: int | None = Field(None, ge=2, le=10**12, description="the people they cannot tell apart beforehand")
    correlation: Literal["none", "from data"] | tuple[tuple[float, ...], ...] = Field(
        "none", description="how the values of related people go together: none, from data, or a matrix"
    )

    @field_validator("correlation", mode="before")
    @classmethod
    def _possible(cls, value: Any) -> Any:
        from ..build.correlated import normal

        if isinstance(value, str):
            if value not in ("none", "from data"):
                raise ValueError(f"it is {value[:40]!r}: give none, from data, or a matrix with a row for each person")
        elif isinstance(value, list | tuple):
            normal(value)
        return value


class Limit(_Part):
    """A limit on a reading that takes arguments: ``roc: {at_most: 0.05, fpr: 0.01}``."""

    model_config = ConfigDict(extra="allow", frozen=True, allow_inf_nan=False)
    at_most: float


def _usual_limits() -> dict[str, float | Limit]:
    return {"success": 0.55}


class Release(_Part):
    """A planned release."""

    title: str = Field("Planned release", max_length=200)
    data: Data
    queries: Annotated[tuple[ReleaseQuery, ...], Field(min_length=1, max_length=32)]
    mechanism: Mechanism
    adversary: Adversary = Adversary()
    limits: dict[str, float | Limit] = Field(default_factory=_usual_limits)

    @field_validator("limits")
    @classmethod
    def _readings(cls, value: dict[str, float | Limit]) -> dict[str, float | Limit]:
        from ..catalogue.readings import READINGS

        for name, limit in value.items():
            if name not in (*READINGS, "error"):
                raise ValueError(f"there is no reading {name!r}: limits take {', '.join(READINGS)} or error")
            at = limit.at_most if isinstance(limit, Limit) else limit
            if name != "error" and not 0 <= at <= READINGS[name].ceiling:
                most = (
                    "0 or more" if READINGS[name].ceiling > 1 else "a share between 0 and 1, such as 0.55 for 55 of 100"
                )
                raise ValueError(f"{name} is {at:g}: give {most}")
        return value

    @model_validator(mode="after")
    def _budget(self) -> Release:
        own = [q.epsilon for q in self.queries]
        if self.mechanism.epsilon is None and any(e is None for e in own):
            raise ValueError("mechanism needs epsilon, or every query its own")
        if self.mechanism.epsilon is not None and any(e is not None for e in own):
            if any(e is None for e in own):
                raise ValueError("either every query has its own epsilon or none: the total is shared otherwise")
            if abs(sum(e for e in own if e) - self.mechanism.epsilon) > 1e-9 * self.mechanism.epsilon:
                raise ValueError("the queries' epsilons do not add up to mechanism.epsilon: leave one of them out")
        return self

    @property
    def epsilon(self) -> float:
        """The total budget."""
        if self.mechanism.epsilon is not None:
            return self.mechanism.epsilon
        return float(sum(q.epsilon or 0.0 for q in self.queries))

    @property
    def shares(self) -> tuple[float, ...]:
        """Each query's share of the total."""
        if self.queries[0].epsilon is None:
            return tuple(1 / len(self.queries) for _ in self.queries)
        return tuple((q.epsilon or 0.0) / self.epsilon for q in self.queries)

    def digest(self) -> str:
        """A hash of what was asked, for the record."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a release file, for editors."""
    return Release.model_json_schema()


def read_release(source: str | Path | Mapping[str, Any] | Release) -> Release:
    """Read a release from a file, from YAML text (anything with a line break) or from a mapping."""
    if isinstance(source, Release):
        return source
    if isinstance(source, Mapping):
        return _validated(dict(source), {}, "release")
    text, name = (
        (source, "release") if isinstance(source, str) and "\n" in source else (_text(Path(source)), str(source))
    )
    return _validated(*_parsed(text, name), name)


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(
                f"release is {str(path)!r}, larger than a megabyte: give a YAML file that describes a release",
                parameter="release",
            )
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is not UTF-8 text"
        raise InputError(
            f"release is {str(path)!r}: {reason}; give a readable YAML file", parameter="release"
        ) from None


def _parsed(text: str, name: str) -> tuple[Any, dict[tuple[Any, ...], int]]:
    if len(text) > MOST_BYTES:
        raise InputError("release is larger than a megabyte: give YAML that describes a release", parameter="release")
    lines: dict[tuple[Any, ...], int] = {}
    try:
        depth = 0
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            where = f"line {event.start_mark.line + 1} of {name}"
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise InputError(f"{where} uses an anchor or alias: write the value out")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _MOST_DEPTH:
                raise InputError(f"{where} is nested more than {_MOST_DEPTH} deep: a release needs three")
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        _lines(node, (), lines, name)
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1} of {name}" if mark else name
        problem = getattr(error, "problem", None) or "it is not YAML"
        raise InputError(f"{where} cannot be read: {problem}") from None
    if not isinstance(value, dict):
        raise InputError(
            f"{name} is not a mapping: start with title:, data:, queries:, mechanism: and limits:", parameter=name
        )
    return value, lines


def _lines(node: Any, path: tuple[Any, ...], lines: dict[tuple[Any, ...], int], name: str) -> None:
    """Remember where each part stands; refuse a key given twice, which YAML silently lets the last one win."""
    if node is None:
        return
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                raise InputError(f"line {key.start_mark.line + 1} of {name} gives {key.value!r} again: give it once")
            seen.add(key.value)
            lines[(*path, key.value)] = key.start_mark.line + 1
            _lines(value, (*path, key.value), lines, name)
    elif isinstance(node, yaml.SequenceNode):
        for i, value in enumerate(node.value):
            _lines(value, (*path, i), lines, name)


def _validated(value: Any, lines: Mapping[tuple[Any, ...], int], name: str) -> Release:
    try:
        return Release.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = _path(first)
        raise InputError(_sentence(first, path, lines, name), parameter=_told(path)) from None


def _path(problem: Mapping[str, Any]) -> tuple[Any, ...]:
    """Where in the release a problem lies, without pydantic's own words."""
    path = tuple(p for p in problem["loc"] if not (isinstance(p, str) and p in ("float", "Limit", "str", "bool")))
    return tuple(p for p in path if not (isinstance(p, str) and p.startswith(("tuple[", "function-", "literal["))))


def _told(path: tuple[Any, ...]) -> str:
    """A place as sentences name it, counted from one."""
    return ".".join(str(p + 1) if isinstance(p, int) else p for p in path)


def _sentence(
    problem: Mapping[str, Any], path: tuple[Any, ...], lines: Mapping[tuple[Any, ...], int], name: str
) -> str:
    place = path
    while place and place not in lines:
        place = place[:-1]
    where = f"line {lines[place]} of {name}" if place in lines else name
    told = _told(path) or "the release"
    kind, message = problem["type"], problem["msg"].removeprefix("Value error, ")
    if kind == "missing":
        return f"{where}: {told} is missing"
    if kind == "extra_forbidden":
        model: dict[str, type[BaseModel]] = {
            "data": Data,
            "mechanism": Mechanism,
            "adversary": Knowledge if len(path) > 2 else Adversary,
            "queries": ReleaseQuery,
        }
        part = model.get(str(path[0]), Release) if len(path) > 1 else Release
        return f"{where}: there is no {told}; allowed here are {', '.join(part.model_fields)}"
    if kind == "value_error":
        return f"{where}: {told}: {message}"
    shown = repr(problem.get("input"))
    return f"{where}: {told} is {shown if len(shown) < 60 else shown[:57] + '...'}: {message[0].lower() + message[1:]}"
