"""The Assess form: from entries to a release and back.

A :class:`Plan` is what stands in the fields, wrong entries too, so that whatever was typed can be shown again. The YAML
of a release says the same: it can be pasted, linked and given to the command line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from ..catalogue.readings import READINGS
from ..data.tables.forms import As, Order
from ..errors import InputError
from ..show.words import small
from .entries import chance, commas, labels, listed, number, of_100, percent, text, written
from .entries import columns as several
from .picker import MOST_TERMS, Condition, Family, Is, Term, condition_of, text_of

if TYPE_CHECKING:
    from ..plan.asked import ReleaseQuery
    from ..plan.plan import Release


KINDS = {"count": "Count of", "sum": "Sum of", "average": "Average of", "histogram": "Counts of each"}
#: How the text of a column can be read.
READ_AS = {
    As.NUMBER: "numbers",
    As.DATE: "dates",
    As.CATEGORY: "categories",
    As.CODE: "codes",
    As.TEXT: "text as it stands",
}
MOST_QUERIES = 32
_MOST_READ = 200
_MOST_YAML = 50_000
_BASELINE = 0.01  # what a release says where it says nothing

#: The limits on risk that have a field of their own; any other reading can be limited too.
LIMITS = ("success", "posterior", "attack_success")

_EMPTY: dict[str, str] = {
    "title": "", "person": "", "max_rows": "1", "max_groups": "", "unit": "", "related": "",
    "secret_name": "", "secret_columns": "",
    "noise": "laplace", "epsilon": "1", "delta": "", "neighbours": "add-remove", "split": "equal",
    "prior": "0.5", "belief": "", "baseline": "", "knows": "one answer", "among": "",
    "success": "0.55", "posterior": "", "attack_success": "", "error": "", "reading": "", "at_most": "", "rest": "",
}  # fmt: skip
_NO_QUERY = {
    "kind": "", "column": "", "by": "", "low": "", "high": "", "groups": "", "threshold": "",
    "name": "", "rows": "", "size": "noisy", "share": "", "rest": "",
}  # fmt: skip
_NO_READING = {"column": "", "as": "", "decimal": ".", "order": Order.YEAR_FIRST.value, "empty": ""}
#: What the form says of each part of a release; other words are carried along unseen.
_SAID = {
    "data": {
        "table", "person", "unit", "max_rows", "max_groups", "quasi_identifiers", "secret", "related", "read",
    },
    "mechanism": {"noise", "epsilon", "delta", "neighbours", "split"},
    "adversary": {"prior", "belief", "knows", "baseline", "among", "correlation"},
    "query": {
        "count", "sum", "average", "histogram", "where", "by", "groups", "threshold", "bounds", "size", "rows",
        "epsilon", "share", "name",
    },
}  # fmt: skip


def check_size(text: str) -> None:
    """A release is a page of text."""
    if len(text) > _MOST_YAML:
        raise InputError(f"the YAML has {len(text)} characters: give at most {_MOST_YAML}", parameter="yaml")


@dataclass(frozen=True)
class Picked:
    """A condition in the form: rows, or text where ``typed``."""

    rows: tuple[Term, ...] = ()
    any: bool = False
    typed: bool = False
    text: str = ""

    def said(self, families: Mapping[str, Family], parameter: str) -> str:
        """The condition's text, empty for none; what is wrong with it is wrong with ``parameter``."""
        if self.typed:
            return self.text
        try:
            return text_of(Condition(self.rows, self.any), families)
        except InputError as error:
            error.parameter = parameter
            raise


@dataclass
class Plan:
    """What stands in the form: plain texts, ready for the template."""

    values: dict[str, str] = field(default_factory=lambda: dict(_EMPTY))
    quasi: list[str] = field(default_factory=list)
    secret: Picked = Picked()
    queries: list[dict[str, str]] = field(default_factory=list)
    wheres: list[Picked] = field(default_factory=list)
    readings: list[dict[str, str]] = field(default_factory=list)

    @property
    def spare(self) -> int:
        """Empty queries to show after those there are."""
        return min(max(3 - len(self.queries), 1), MOST_QUERIES - len(self.queries))

    @property
    def names(self) -> list[str]:
        """The columns it names, for a form that has not the table."""
        owners = [self.values[key] for key in ("person", "unit", "related")]
        rows = [row.column for picked in (self.secret, *self.wheres) for row in picked.rows]
        asked = [q[key] for q in self.queries for key in ("column", "by") if not q[key].startswith("[")]
        read = [r["column"] for r in self.readings]
        return list(dict.fromkeys(filter(None, [*owners, *self.quasi, *asked, *rows, *read])))


def families_of(plan: Plan, known: Mapping[str, Family]) -> dict[str, Family]:
    """What the values of each column are like, as the plan reads them."""
    read = {As.NUMBER: Family.NUMBER, As.DATE: Family.TIME}
    return dict(known) | {
        r["column"]: read.get(As(r["as"]), Family.TEXT) for r in plan.readings if r["column"] and r["as"] in tuple(As)
    }


# -- what was entered ---------------------------------------------------------------------------------------------


def entered(form: Mapping[str, str], lists: Mapping[str, Sequence[str]] | None = None) -> Plan:
    """What was sent, as it was typed; ``lists`` are the entries that may come several times."""
    plan = Plan({key: form.get(key, "") for key in _EMPTY}, list((lists or {}).get("quasi", ())))
    plan.secret = _picked(form, "secret")
    queries = []
    for i in range(MOST_QUERIES):
        entries = {key: form.get(f"q{i}_{key}", "") for key in _NO_QUERY}
        where = _picked(form, f"q{i}_where")
        if where != Picked() or any(v for k, v in entries.items() if k != "size"):
            queries.append((entries, where))
    queries.sort(key=lambda q: q[0]["kind"] not in KINDS)  # those that ask nothing follow, and keep what was typed
    plan.queries, plan.wheres = [q for q, _ in queries], [where for _, where in queries]
    rows = ({key: form.get(f"r{i}_{key}", "") for key in _NO_READING} for i in range(_MOST_READ))
    plan.readings = [row for row in rows if row["column"]]
    return plan


def _picked(form: Mapping[str, str], prefix: str) -> Picked:
    rows = []
    for j in range(MOST_TERMS):
        column, how, value, to = (form.get(f"{prefix}_{j}_{key}", "") for key in ("column", "is", "value", "to"))
        if column:
            rows.append(Term(column, Is(how) if how in tuple(Is) else Is.IS, value, to))
    typed = form.get(prefix, "")
    return Picked(
        tuple(rows),
        form.get(f"{prefix}_join") == "any" and len(rows) > 1,
        form.get(f"{prefix}_how") == "type" or bool(typed and not rows),
        typed,
    )


# -- to a release -------------------------------------------------------------------------------------------------


def to_yaml(release: Mapping[str, Any]) -> str:
    """A release as YAML."""
    return yaml.safe_dump(dict(release), sort_keys=False, allow_unicode=True, default_flow_style=None, width=100)


def mapping_of(plan: Plan, table: str, known: Mapping[str, Family] | None = None) -> dict[str, Any]:
    """The release a plan says: empty entries are left out, wrong ones stay for the release's own checks."""
    families, form = families_of(plan, known or {}), plan.values
    asked = zip(plan.queries, plan.wheres, strict=True)
    queries = [_query(q, w, families, i) for i, (q, w) in enumerate(asked) if q["kind"] in KINDS]
    adversary = {"prior": chance(form["prior"] or "0.5")}
    adversary |= {key: chance(form[key]) for key in ("belief", "baseline") if form[key]}
    adversary |= {"among": number(form["among"])} if form["among"] else {}
    adversary["knows"] = form["knows"] or "one answer"
    if form["related"]:
        adversary["correlation"] = "from data"
    limits = {key: chance(form[key]) for key in LIMITS if form[key]}
    if form["reading"] and form["at_most"]:
        limits[form["reading"]] = chance(form["at_most"])
    if form["error"]:
        limits["error"] = chance(form["error"])
    made: dict[str, Any] = {
        "title": form["title"] or "Planned release",
        "data": _data(plan, table, families),
        "queries": queries,
        "mechanism": _mechanism(form, any(q.get("threshold") == "auto" for q in queries)),
        "adversary": adversary,
        "limits": limits,
    }
    for part, words in _carried(form["rest"]).items():
        if part in ("data", "mechanism", "adversary", "limits") and isinstance(words, dict):
            made[part] |= {k: v for k, v in words.items() if k != "table"}
    return made


def _carried(rest: str) -> dict[str, Any]:
    """Words of a plan that have no field."""
    try:
        found = json.loads(rest) if rest else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _data(plan: Plan, table: str, families: Mapping[str, Family]) -> dict[str, Any]:
    form = plan.values
    data: dict[str, Any] = {"table": table}
    data |= {key: form[key] for key in ("person", "unit") if form[key]}
    if len(data) > 1:
        data["max_rows"] = number(form["max_rows"] or "1")
    if form["max_groups"]:
        data["max_groups"] = number(form["max_groups"])
    if plan.quasi:
        data["quasi_identifiers"] = list(plan.quasi)
    told = {"name": form["secret_name"], "where": plan.secret.said(families, "data.secret")}
    secret: dict[str, Any] = {key: words for key, words in told.items() if words}
    if form["secret_columns"]:
        secret["columns"] = listed(form["secret_columns"])
    if secret:
        data["secret"] = secret["where"] if list(secret) == ["where"] else secret
    if form["related"]:
        data["related"] = form["related"]
    read = {r["column"]: _reading(r) for r in plan.readings if r["as"]}
    return data | ({"read": read} if read else {})


def _reading(row: Mapping[str, str]) -> str | dict[str, Any]:
    made: dict[str, Any] = {"as": row["as"]}
    if row["as"] == As.NUMBER and row["decimal"]:
        made["decimal"] = row["decimal"]
    if row["as"] == As.DATE and row["order"]:
        made["order"] = row["order"]
    if row["empty"]:
        made["empty"] = listed(row["empty"])
    return made["as"] if len(made) == 1 else made


def _mechanism(form: Mapping[str, str], auto: bool) -> dict[str, Any]:
    made: dict[str, Any] = {"noise": form["noise"] or "laplace", "epsilon": number(form["epsilon"] or "1")}
    if made["noise"] == "gaussian" or (auto and form["delta"]):
        made["delta"] = number(form["delta"] or "0.000001")
    usual = {"neighbours": "add-remove", "split": "equal"}
    return made | {key: form[key] for key, word in usual.items() if form[key] not in ("", word)}


def _query(q: Mapping[str, str], where: Picked, families: Mapping[str, Family], i: int) -> dict[str, Any]:
    kind = q["kind"]
    made: dict[str, Any] = {"name": q["name"]} if q["name"] else {}
    condition = where.said(families, f"queries.{i + 1}.where")
    if kind == "count":
        made["count"] = condition or True
    elif not q["column"]:
        raise InputError(f"the column is missing: choose what the {kind} is of", parameter=f"queries.{i + 1}.column")
    else:
        made[kind] = q["column"]
        if condition:
            made["where"] = condition
    if q["by"]:
        made["by"] = several(q["by"])
    if q["by"] or kind == "histogram":  # otherwise there is one answer, and the fields are not seen
        if q["groups"]:
            made["groups"] = labels(q["groups"])
        if q["threshold"]:
            made["threshold"] = number(q["threshold"].lower())
    bounds = [q["low"], q["high"]]
    if kind in ("sum", "average") and any(bounds):
        made["bounds"] = [number(b) for b in bounds]
    if kind == "average" and q["size"] not in ("", "noisy"):
        made["size"] = q["size"]
    if kind in ("count", "histogram") and q["rows"]:
        made["rows"] = True
    if q["share"]:
        share = number(q["share"])  # a bare number is a percentage here, as the field says
        made["share"] = round(share / 100, 12) if isinstance(share, int | float) else share
    return made | _carried(q["rest"])


# -- from a release -----------------------------------------------------------------------------------------------


def plan_of(release: Release | None, known: Mapping[str, Family] | None = None) -> Plan:
    """The form that says a release; words it has no field for are carried along."""
    if release is None:
        return Plan()
    data, mechanism, adversary = release.data, release.mechanism, release.adversary
    plain = {k: float(v) for k, v in release.limits.items() if isinstance(v, float | int)}
    reading = next((k for k in plain if k in READINGS and k not in LIMITS), "")
    secret = data.hidden
    values = {
        "title": release.title,
        "person": data.person or "",
        "unit": data.unit or "",
        "max_rows": str(data.max_rows),
        "max_groups": str(data.max_groups or ""),
        "secret_name": (secret.name or "") if secret else "",
        "secret_columns": commas(secret.columns) if secret else "",
        "noise": mechanism.noise.value,
        "epsilon": text(release.epsilon),
        "delta": small(mechanism.delta) if mechanism.delta else "",
        "neighbours": mechanism.neighbours.value,
        "split": mechanism.split.value,
        "prior": of_100(adversary.prior),
        "belief": of_100(adversary.belief),
        "baseline": of_100(adversary.baseline) if adversary.baseline != _BASELINE else "",
        "knows": adversary.knows.value,
        "among": str(adversary.among or ""),
        "related": (data.related or data.person or "") if adversary.correlation == "from data" else "",
        **{key: of_100(plain.get(key)) for key in LIMITS},
        "error": percent(plain.get("error")),
        "reading": reading,
        "at_most": text(plain.get(reading)),
        "rest": _rest(release, {*LIMITS, "error", reading} & plain.keys()),
    }
    plan = Plan(values, list(data.quasi_identifiers))
    plan.readings = [
        {
            "column": name, "as": form.kind.value, "decimal": form.decimal, "order": form.order.value,
            "empty": commas(form.empty) if form.empty else "",
        }
        for name, form in data.forms.items()
    ]  # fmt: skip
    families = families_of(plan, known or {})
    plan.secret = shown(secret.where if secret else "", families)
    own = release.queries[0].share is not None or release.queries[0].epsilon is not None
    for i, query in enumerate(release.queries):
        plan.queries.append(_entries(query, release.shares[i] if own else None))
        condition = query.count if isinstance(query.count, str) else query.where
        plan.wheres.append(shown(condition or "", families))
    return plan


def shown(condition: str, families: Mapping[str, Family]) -> Picked:
    """A condition in rows where they say exactly the same, else as text."""
    found = condition_of(condition, families)
    return Picked(typed=True, text=condition) if found is None else Picked(found.terms, found.any)


def _rest(release: Release, limits: set[str]) -> str:
    made: dict[str, Any] = {}
    for part in ("data", "mechanism", "adversary"):
        model = getattr(release, part)
        unsaid = model.model_fields_set - _SAID[part]
        if part == "adversary" and not isinstance(model.correlation, str):
            unsaid |= {"correlation"}
        if unsaid:
            made[part] = model.model_dump(mode="json", include=unsaid, exclude_unset=True)
    others = {name for name in release.limits if name not in limits}
    if others:
        made["limits"] = release.model_dump(mode="json")["limits"]
        made["limits"] = {name: made["limits"][name] for name in others}
    return json.dumps(made) if made else ""


def _entries(q: ReleaseQuery, share: float | None) -> dict[str, str]:
    """The fields of one query, but for its condition."""
    kind, by = q.kind.value, (q.by,) if isinstance(q.by, str) else tuple(q.by)
    low, high = (text(b) for b in q.bounds) if q.bounds else ("", "")
    unsaid = q.model_fields_set - _SAID["query"]
    return {
        "kind": kind,
        "column": "" if kind == "count" else str(getattr(q, kind)),
        "by": by[0] if len(by) == 1 else json.dumps(by) if by else "",
        "low": low,
        "high": high,
        "groups": written(q.groups or ()),
        "threshold": "" if q.threshold is None else q.threshold if isinstance(q.threshold, str) else text(q.threshold),
        "name": q.name or "",
        "rows": "on" if q.rows else "",
        "size": q.size.value,
        "share": "" if share is None else text(100 * share),
        "rest": q.model_dump_json(include=unsaid) if unsaid else "",
    }
