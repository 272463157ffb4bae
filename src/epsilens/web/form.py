"""What stands in one field of the Assess form: numbers, lists and names of groups, from text and back.

The Assess form: from entries to a release and back.

A :class:`Plan` is what stands in the fields, wrong entries too, so that whatever was typed can be shown again. The YAML
of a release says the same: it can be pasted, linked and given to the command line.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from fastapi import Request

from ..catalogue.readings import READINGS
from ..data.tables.columns import DateOrder, ParsedType
from ..errors import EpsilensError, InputError
from ..plan.file import LOADER, dotted_path, parse_yaml
from ..show.sentences import small
from .limits import RequestError
from .picker import MOST_TERMS, ColumnFamily, Operator, RowCondition, Term, condition_of, text_of
from .uploads import Upload
from .view_state import FieldProblem

if TYPE_CHECKING:
    from ..plan.model import Label, Release, ReleaseQuery


def number(text: str) -> Any:
    """A number as it was typed; text that is none is left for the release to complain about."""
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() and abs(value) < 1e15 and "." not in text else value


def number_text(value: float | None) -> str:
    return "" if value is None else f"{value:.12g}"


def probability(text: str) -> Any:
    """A chance or a share as it was typed: 55 of 100, 55% and 0.55 are the same; other text is left as it is.

    >>> [probability(text) for text in ("55 of 100", "55%", "0.55", "55", "many")]
    [0.55, 0.55, 0.55, 55, 'many']
    """
    counted = re.fullmatch(r"([0-9.eE+-]+)\s*(?:%|of 100)", text.strip())
    value = number(counted[1] if counted else text)
    return round(value / 100, 14) if counted and not isinstance(value, str) else value


def of_100(value: float | None) -> str:
    """A chance as a field shows it.

    >>> of_100(0.55), of_100(0.07), of_100(None)
    ('55 of 100', '7 of 100', '')
    """
    return "" if value is None else f"{number_text(round(100 * value, 12))} of 100"


def percent(value: float | None) -> str:
    """A share as a field shows it.

    >>> percent(0.15), percent(None)
    ('15%', '')
    """
    return "" if value is None else f"{number_text(round(100 * value, 12))}%"


def column_list(text: str) -> str | list[str]:
    """A column, or several as JSON: a name may hold a comma."""
    try:
        several = json.loads(text) if text.startswith("[") else text
    except ValueError:
        return text
    return several if isinstance(several, list) and all(isinstance(c, str) for c in several) else text


def split_list(text: str) -> list[str]:
    """Texts separated by commas, in double quotes where they hold one.

    >>> split_list('a, "b, c"')
    ['a', 'b, c']
    """
    rows = csv.reader([" ".join(text.splitlines())], skipinitialspace=True)
    return [part.strip() for part in next(rows, []) if part.strip()]


def join_list(texts: Sequence[str]) -> str:
    """Texts as a field shows them.

    >>> join_list(["a", "b, c"])
    'a, "b, c"'
    """
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(texts)
    return re.sub(r',(?=(?:[^"]*"[^"]*")*[^"]*$)', ", ", out.getvalue())


def labels(text: str) -> list[Any]:
    """The names of groups; of several columns each in brackets. The table's types say later what a number is.

    >>> labels("1, two, 007, (empty)"), labels("[a, 1], [b, 2]")
    ([1, 'two', '007', None], [['a', 1], ['b', 2]])
    """
    if re.fullmatch(r"(\s*\[[^\[\]]*\]\s*,?)+", text):
        return [[_label(part) for part in split_list(inside)] for inside in re.findall(r"\[([^\[\]]*)\]", text)]
    return [_label(part) for part in split_list(" ".join(text.split()))]


def _label(text: str) -> Any:
    if text == "(empty)":
        return None
    value = number(text)
    return value if not isinstance(value, str) and str(value) == text else text


def labels_text(names: Sequence[Label | tuple[Label, ...]]) -> str:
    """Names of groups as a field shows them."""

    def one(label: Label) -> str:
        return "(empty)" if label is None else str(label)

    if any(isinstance(label, tuple) for label in names):
        return ", ".join(f"[{join_list([one(x) for x in label])}]" for label in names if isinstance(label, tuple))
    return join_list([one(label) for label in names if not isinstance(label, tuple)])


DEFAULT_TABLE = "epsilens:rand-hie"

#: A plan to start from for each bundled table: those of ``examples/``.
EXAMPLES = {
    f"epsilens:{path.stem}": path.read_text("utf-8")
    for path in sorted(Path(__file__).with_name("plans").glob("*.yaml"), reverse=True)
}


KINDS = {"count": "Count of", "sum": "Sum of", "average": "Average of", "histogram": "Counts of each"}
#: How the text of a column can be read.
READ_AS = {
    ParsedType.NUMBER: "numbers",
    ParsedType.DATE: "dates",
    ParsedType.CATEGORY: "categories",
    ParsedType.CODE: "codes",
    ParsedType.TEXT: "text as it stands",
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
_NO_READING = {"column": "", "as": "", "decimal": ".", "order": DateOrder.YEAR_FIRST.value, "empty": ""}
#: What the form says of each part of a release; other words are carried along unseen.
_FORM_WORDS = {
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
        raise InputError(f"the YAML has {len(text)} characters: give at most {_MOST_YAML}", "yaml")


@dataclass(frozen=True)
class ConditionField:
    """A condition in the form: rows, or text where ``typed``."""

    rows: tuple[Term, ...] = ()
    any: bool = False
    typed: bool = False
    text: str = ""

    def said(self, families: Mapping[str, ColumnFamily], parameter: str) -> str:
        """The condition's text, empty for none; what is wrong with it is wrong with ``parameter``."""
        if self.typed:
            return self.text
        try:
            return text_of(RowCondition(self.rows, self.any), families)
        except InputError as error:
            error.parameter = parameter
            raise


@dataclass
class PlanForm:
    """What stands in the form: plain texts, ready for the template."""

    values: dict[str, str] = field(default_factory=lambda: dict(_EMPTY))
    quasi: list[str] = field(default_factory=list)
    secret: ConditionField = ConditionField()
    queries: list[dict[str, str]] = field(default_factory=list)
    wheres: list[ConditionField] = field(default_factory=list)
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


def column_families(plan: PlanForm, known: Mapping[str, ColumnFamily]) -> dict[str, ColumnFamily]:
    """What the values of each column are like, as the plan reads them."""
    read = {ParsedType.NUMBER: ColumnFamily.NUMBER, ParsedType.DATE: ColumnFamily.TIME}
    return dict(known) | {
        r["column"]: read.get(ParsedType(r["as"]), ColumnFamily.TEXT)
        for r in plan.readings
        if r["column"] and r["as"] in tuple(ParsedType)
    }


def plan_from_entries(form: Mapping[str, str], lists: Mapping[str, Sequence[str]] | None = None) -> PlanForm:
    """What was sent, as it was typed; ``lists`` are the entries that may come several times."""
    plan = PlanForm({key: form.get(key, "") for key in _EMPTY}, list((lists or {}).get("quasi", ())))
    plan.secret = _condition_entries(form, "secret")
    queries = []
    for i in range(MOST_QUERIES):
        entries = {key: form.get(f"q{i}_{key}", "") for key in _NO_QUERY}
        where = _condition_entries(form, f"q{i}_where")
        if where != ConditionField() or any(v for k, v in entries.items() if k != "size"):
            queries.append((entries, where))
    queries.sort(key=lambda q: q[0]["kind"] not in KINDS)  # those that ask nothing follow, and keep what was typed
    plan.queries, plan.wheres = [q for q, _ in queries], [where for _, where in queries]
    rows = ({key: form.get(f"r{i}_{key}", "") for key in _NO_READING} for i in range(_MOST_READ))
    plan.readings = [row for row in rows if row["column"]]
    return plan


def _condition_entries(form: Mapping[str, str], prefix: str) -> ConditionField:
    rows = []
    for j in range(MOST_TERMS):
        column, how, value, to = (form.get(f"{prefix}_{j}_{key}", "") for key in ("column", "is", "value", "to"))
        if column:
            rows.append(Term(column, Operator(how) if how in tuple(Operator) else Operator.IS, value, to))
    typed = form.get(prefix, "")
    return ConditionField(
        tuple(rows),
        form.get(f"{prefix}_join") == "any" and len(rows) > 1,
        form.get(f"{prefix}_how") == "type" or bool(typed and not rows),
        typed,
    )


def to_yaml(release: Mapping[str, object]) -> str:
    return yaml.safe_dump(dict(release), sort_keys=False, allow_unicode=True, default_flow_style=None, width=100)


def release_mapping(plan: PlanForm, table: str, known: Mapping[str, ColumnFamily] | None = None) -> dict[str, Any]:
    """The release a plan says: empty entries are left out, wrong ones stay for the release's own checks."""
    families, form = column_families(plan, known or {}), plan.values
    asked = zip(plan.queries, plan.wheres, strict=True)
    queries = [_query(q, w, families, i) for i, (q, w) in enumerate(asked) if q["kind"] in KINDS]
    adversary = {"prior": probability(form["prior"] or "0.5")}
    adversary |= {key: probability(form[key]) for key in ("belief", "baseline") if form[key]}
    adversary |= {"among": number(form["among"])} if form["among"] else {}
    adversary["knows"] = form["knows"] or "one answer"
    if form["related"]:
        adversary["correlation"] = "from data"
    limits = {key: probability(form[key]) for key in LIMITS if form[key]}
    if form["reading"] and form["at_most"]:
        limits[form["reading"]] = probability(form["at_most"])
    if form["error"]:
        limits["error"] = probability(form["error"])
    made: dict[str, Any] = {
        "title": form["title"] or "Planned release",
        "data": _data(plan, table, families),
        "queries": queries,
        "mechanism": _mechanism(form, any(q.get("threshold") == "auto" for q in queries)),
        "adversary": adversary,
        "limits": limits,
    }
    for part, words in _extra_words(form["rest"]).items():
        if part in ("data", "mechanism", "adversary", "limits") and isinstance(words, dict):
            made[part] |= {k: v for k, v in words.items() if k != "table"}
    return made


def _extra_words(rest: str) -> dict[str, Any]:
    try:
        found = json.loads(rest) if rest else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _data(plan: PlanForm, table: str, families: Mapping[str, ColumnFamily]) -> dict[str, Any]:
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
        secret["columns"] = split_list(form["secret_columns"])
    if secret:
        data["secret"] = secret["where"] if list(secret) == ["where"] else secret
    if form["related"]:
        data["related"] = form["related"]
    read = {r["column"]: _reading(r) for r in plan.readings if r["as"]}
    return data | ({"read": read} if read else {})


def _reading(row: Mapping[str, str]) -> str | dict[str, Any]:
    made: dict[str, Any] = {"as": row["as"]}
    if row["as"] == ParsedType.NUMBER and row["decimal"]:
        made["decimal"] = row["decimal"]
    if row["as"] == ParsedType.DATE and row["order"]:
        made["order"] = row["order"]
    if row["empty"]:
        made["empty"] = split_list(row["empty"])
    return made["as"] if len(made) == 1 else made


def _mechanism(form: Mapping[str, str], auto: bool) -> dict[str, Any]:
    made: dict[str, Any] = {"noise": form["noise"] or "laplace", "epsilon": number(form["epsilon"] or "1")}
    if made["noise"] == "gaussian" or (auto and form["delta"]):
        made["delta"] = number(form["delta"] or "0.000001")
    usual = {"neighbours": "add-remove", "split": "equal"}
    return made | {key: form[key] for key, word in usual.items() if form[key] not in ("", word)}


def _query(q: Mapping[str, str], where: ConditionField, families: Mapping[str, ColumnFamily], i: int) -> dict[str, Any]:
    kind = q["kind"]
    made: dict[str, Any] = {"name": q["name"]} if q["name"] else {}
    condition = where.said(families, f"queries.{i + 1}.where")
    if kind == "count":
        made["count"] = condition or True
    elif not q["column"]:
        raise InputError(f"the column is missing: choose what the {kind} is of", f"queries.{i + 1}.column")
    else:
        made[kind] = q["column"]
        if condition:
            made["where"] = condition
    if q["by"]:
        made["by"] = column_list(q["by"])
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
    return made | _extra_words(q["rest"])


def plan_from_release(release: Release | None, known: Mapping[str, ColumnFamily] | None = None) -> PlanForm:
    """The form that says a release; words it has no field for are carried along."""
    if release is None:
        return PlanForm()
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
        "secret_columns": join_list(secret.columns) if secret else "",
        "noise": mechanism.noise.value,
        "epsilon": number_text(release.epsilon),
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
        "at_most": number_text(plain.get(reading)),
        "rest": _rest(release, {*LIMITS, "error", reading} & plain.keys()),
    }
    plan = PlanForm(values, list(data.quasi_identifiers))
    plan.readings = [
        {"column": name, "as": form.kind.value, "decimal": form.decimal, "order": form.order.value}
        | {"empty": join_list(form.empty) if form.empty else ""}
        for name, form in data.forms.items()
    ]
    families = column_families(plan, known or {})
    plan.secret = condition_field(secret.where if secret else "", families)
    own = release.queries[0].share is not None or release.queries[0].epsilon is not None
    for i, query in enumerate(release.queries):
        plan.queries.append(_entries(query, release.shares[i] if own else None))
        condition = query.count if isinstance(query.count, str) else query.where
        plan.wheres.append(condition_field(condition or "", families))
    return plan


def condition_field(condition: str, families: Mapping[str, ColumnFamily]) -> ConditionField:
    """A condition in rows where they say exactly the same, else as text."""
    found = condition_of(condition, families)
    return ConditionField(typed=True, text=condition) if found is None else ConditionField(found.terms, found.any)


def _rest(release: Release, limits: set[str]) -> str:
    made: dict[str, Any] = {}
    for part in ("data", "mechanism", "adversary"):
        model = getattr(release, part)
        unsaid = model.model_fields_set - _FORM_WORDS[part]
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
    low, high = (number_text(b) for b in q.bounds) if q.bounds else ("", "")
    unsaid = q.model_fields_set - _FORM_WORDS["query"]
    return {
        "kind": kind,
        "column": "" if kind == "count" else str(getattr(q, kind)),
        "by": by[0] if len(by) == 1 else json.dumps(by) if by else "",
        "low": low,
        "high": high,
        "groups": labels_text(q.groups or ()),
        "threshold": ""
        if q.threshold is None
        else q.threshold
        if isinstance(q.threshold, str)
        else number_text(q.threshold),
        "name": q.name or "",
        "rows": "on" if q.rows else "",
        "size": q.size.value,
        "share": "" if share is None else number_text(100 * share),
        "rest": q.model_dump_json(include=unsaid) if unsaid else "",
    }


@dataclass(frozen=True)
class Draft:
    """A plan as it was entered, in fields or by hand as YAML; and what was wrong with it, for its visitor alone."""

    plan: PlanForm | None
    table: str = ""  # a bundled one; the upload otherwise
    text: str = ""
    by_hand: bool = False
    wanted: str = ""
    token: str = ""
    problem: FieldProblem | None = None
    visitor: str = ""


#: A part of a release, or what a check calls it, and the field that says it.
_FIELD_OF_WORD = {
    "confirm": "confirm", "file": "file", "table": "file", "data.table": "file", "yaml": "yaml", "title": "title",
    "person": "person", "data.person": "person", "data.unit": "unit",
    "data.max_rows": "max_rows", "data.max_groups": "max_groups", "read": "read", "data.read": "read",
    "quasi_identifiers": "quasi", "data.quasi_identifiers": "quasi", "secret": "secret", "data.secret": "secret",
    "data.secret.name": "secret_name", "data.secret.columns": "secret_columns",
    "data.related": "related", "adversary.correlation": "related", "adversary.prior": "prior",
    "adversary.belief": "belief", "adversary.among": "among", "adversary.knows": "knows",
    "adversary.baseline": "baseline", "mechanism.noise": "noise",
    "mechanism.epsilon": "epsilon", "mechanism.delta": "delta", "delta": "delta",
    "mechanism.neighbours": "neighbours", "mechanism.split": "split",
    "limits": "at_most", "limits.error": "error", **{f"limits.{name}": name for name in LIMITS}, "queries": "queries",
}  # fmt: skip
#: The parts of a query, and the fields that say them.
_SAME_WORD = ("groups", "threshold", "name", "where", "rows", "size", "share", "column", "by")
_FIELD_OF_QUERY_WORD = dict(zip(_SAME_WORD, _SAME_WORD, strict=True)) | {"count": "where", "bounds": "low"}
_FIELD_OF_QUERY_WORD |= dict.fromkeys(("sum", "average", "histogram"), "column")


def plan_problem(error: EpsilensError, *, by_hand: bool = False, form: bool = False) -> FieldProblem:
    """An error as a sentence by the field it speaks of: in a ``form``, by that field; ``by_hand``, by the YAML."""
    words = " ".join(str(error).split())
    about = error.parameter if isinstance(error, InputError | RequestError) else ""
    if form and not by_hand:
        words = _without_path(words, about)
    sentence = f"{words[:1].upper()}{words[1:]}".rstrip(".") + ("" if words.endswith("?") else ".")
    found = form_field(about)
    status = error.status if isinstance(error, RequestError) else 422
    return FieldProblem("yaml" if by_hand and found != "file" else found, sentence, status)


def _without_path(words: str, about: str) -> str:
    """A sentence that stands by its field need not say where it is: neither the file's name nor the place in it.

    >>> _without_path("release: adversary.prior is 2: it should be less than 1", "adversary.prior")
    'this is 2: it should be less than 1'
    """
    words = words.removeprefix("release: ").replace(": input should", ": it should", 1)
    if about and words.startswith(f"{about}: "):
        return words.removeprefix(f"{about}: ")
    if about and words.startswith(f"{about} is "):
        return f"this is {words.removeprefix(f'{about} is ')}"
    return words


def check_columns(plan: PlanForm, names: Collection[str]) -> None:
    """Refuse columns the table does not have, each by the field that names it."""
    rows = [("data.secret", plan.secret), *((f"queries.{i + 1}.where", w) for i, w in enumerate(plan.wheres))]
    named = [
        *((f"data.{key}", plan.values[key]) for key in ("person", "unit", "related")),
        *(("data.quasi_identifiers", name) for name in plan.quasi),
        *(("data.read", r["column"]) for r in plan.readings),
        *((place, row.column) for place, picked in rows if not picked.typed for row in picked.rows),
    ]
    for i, q in enumerate(plan.queries):
        by = column_list(q["by"])
        named += [(f"queries.{i + 1}.by", name) for name in ([by] if isinstance(by, str) else by)]
        named += [(f"queries.{i + 1}.column", q["column"])] if q["kind"] != "count" else []
    for place, name in named:
        if name and name not in names:
            close = get_close_matches(name, names, n=1, cutoff=0.5)
            hint = f": did you mean {close[0]!r}?" if close else ": choose one that it has"
            raise InputError(f"the table has no column {name!r}{hint}", place)


def form_field(parameter: str) -> str:
    """The field of a part of the release: its own, or that of the part it belongs to.

    >>> form_field("limits.roc.at_most"), form_field("queries.2.bounds.1"), form_field("queries.1.groups.3")
    ('at_most', 'q1_low', 'q0_groups')
    """
    parts = parameter.split(".")
    if parts[0] == "shares" and len(parts) > 1 and parts[1].isdigit():
        return f"share{int(parts[1]) - 1}"
    if parts[0] == "queries" and len(parts) > 1 and parts[1].isdigit():
        place = f"q{int(parts[1]) - 1}"
        return f"{place}_{_FIELD_OF_QUERY_WORD.get(parts[2], 'kind')}" if len(parts) > 2 else f"{place}_kind"
    known = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((_FIELD_OF_WORD[place] for place in known if place in _FIELD_OF_WORD), "")


#: A word that is offered and not set: ``  # person: id   # the column that says whose row it is``.
_OFFERED = re.compile(r"  # (\w+): (.*?)\s+# (.*)$")
_CHOOSE = re.compile(r"^choose(: | (?=without))")
#: The parts of a plan that are proposed for what the table is.
_TABLE_PARTS = ("data", "queries")


@dataclass(frozen=True)
class Reason:
    """What a comment says; ``offered`` is the value of a word that is not set."""

    said: str
    offered: str = ""


def reasons(text: str) -> dict[str, Reason]:
    """The comment on each choice of a commented plan, by field; on columns by ``read NAME`` and ``quasi NAME``.

    >>> made = reasons('data:\\n  person: id   # choose: its name says so\\n  # unit: home  # together\\n')
    >>> made["person"], made["unit"]
    (Reason(said='its name says so', offered=''), Reason(said='together', offered='home'))
    """
    lines = text.splitlines()
    made: dict[str, Reason] = {}
    ends: dict[int, int] = {}
    for token in yaml.scan(text, Loader=LOADER):
        if token.end_mark.column:
            ends[token.end_mark.line] = max(ends.get(token.end_mark.line, 0), token.end_mark.column)
    for place, line in _key_lines(yaml.compose(text, Loader=LOADER), ()):
        said = lines[line][ends[line] :].strip()
        if said.startswith("# ") and place[0] in _TABLE_PARTS:
            made.setdefault(_field_name(place), Reason(_CHOOSE.sub("", said[2:])))
    part = ""
    for words in lines:
        part = words.rstrip(":") if re.fullmatch(r"\w+:", words) else part
        offered = _OFFERED.match(words)
        if offered and part in _TABLE_PARTS:
            name, value = form_field(f"{part}.{offered[1]}"), str(parse_yaml(offered[2], "the plan")[0])
            made.setdefault(
                name, Reason(_CHOOSE.sub("", offered[3]), _condition_column(value) if name == "secret" else value)
            )
    made.pop("", None)
    return made


def _field_name(place: tuple[str | int, ...]) -> str:
    """The field of a place; of a column to read or to know, the word and the column."""
    words = {"read": "read", "quasi_identifiers": "quasi"}
    if place[0] == "data" and len(place) == 3 and place[1] in words:
        return f"{words[str(place[1])]} {place[2]}"
    return form_field(dotted_path(place))


def _condition_column(condition: str) -> str:
    found = condition_of(condition)
    return found.terms[0].column if found is not None and len(found.terms) == 1 else ""


def _key_lines(node: yaml.Node | None, place: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], int]]:
    """Where each key stands, and in which line."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield (*place, key.value), key.start_mark.line
            yield from _key_lines(value, (*place, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for i, value in enumerate(node.value):
            if isinstance(value, yaml.ScalarNode):
                yield (*place, value.value), value.start_mark.line
            yield from _key_lines(value, (*place, i))


#: Entries that are chosen from a table's columns, whatever these are called.
_COLUMN = re.compile(r"person|unit|related|q\d+_by|\w+_column")


@dataclass
class FormData:
    """Entries that say something; ``problem`` is why the file that came with them was refused."""

    given: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)
    upload: Upload | None = None
    problem: EpsilensError | None = None


def texts(entries: Iterable[tuple[str, object]]) -> dict[str, str]:
    """The entries that say something, with line breaks as we write them; names of columns keep their blanks.

    >>> texts([("title", " x "), ("q0_column", " Age"), ("error", " ")])
    {'title': 'x', 'q0_column': ' Age'}
    """
    said = ((k, v.replace("\r\n", "\n")) for k, v in entries if isinstance(v, str) and v.strip())
    return {k: v if _COLUMN.fullmatch(k) else v.strip() for k, v in said}


def wants_json(request: Request) -> bool:
    return "application/json" in request.headers.get("accept", "")


async def read_form(request: Request, *, need_file: bool = False) -> FormData:
    sent = FormData()
    if "multipart/form-data" in request.headers.get("content-type", ""):
        try:
            sent.upload = await request.app.state.uploads.receive(request, need=need_file)
        except RequestError as error:
            sent.problem = error
        entries = list(getattr(request.state, "fields", ()))
    else:
        form = await request.form(max_files=0, max_fields=4_000, max_part_size=1_000_000)
        entries = [(k, v) for k, v in form.multi_items() if isinstance(v, str)]
    sent.given = texts(entries)
    sent.lists = {"quasi": [v.replace("\r\n", "\n") for k, v in entries if k == "quasi"]}
    if sent.upload is None and sent.problem is None and sent.given.get("file"):
        sent.upload = request.app.state.uploads.get(sent.given["file"], request.state.visitor)
    return sent
