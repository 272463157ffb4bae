"""The Assess form: from entries to the YAML of a release and back.

The YAML is the state: the form only writes it, so that whatever the form can say can also be pasted, linked and given
to the command line.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from ..catalogue.readings import READINGS
from ..data.tables.source import Bundled, bundled, names, source_of
from ..errors import InputError
from ..show.words import small

if TYPE_CHECKING:
    from ..plan.asked import Label, ReleaseQuery
    from ..plan.plan import Release

__all__ = [
    "EXAMPLES", "KINDS", "LIMITS", "UPLOAD", "Plan", "check_size", "columns_of", "permitted", "plan_of", "to_yaml",
]  # fmt: skip

#: What stands for the uploaded file in a release.
UPLOAD = "upload"
KINDS = {"count": "Count of", "sum": "Sum of", "average": "Average of", "histogram": "Counts of each"}
MOST_QUERIES = 32
_MOST_YAML = 50_000

_BASELINE = 0.01  # what a release says where it says nothing

#: The limits on risk that have a field of their own; any other reading can be limited too.
LIMITS = ("success", "posterior", "attack_success")

#: A plan to start from for each bundled table: those of ``examples/``.
EXAMPLES = {
    "epsilens:rand-hie": """title: Mental-health visits by site
data:
  table: epsilens:rand-hie
  person: person
  max_rows: 5
  quasi_identifiers: [site, age, female, black, education]
  secret:
    name: a mental-health visit
    where: mental_visits > 0
    columns: [mental_cost]
queries:
- name: Count of people with a visit
  count: mental_visits > 0
  by: site
  groups: [1, 2, 3, 4, 5, 6]
- sum: visits
  bounds: [0, 77]
- average: income
  bounds: [0, 30000]
mechanism: {noise: laplace, epsilon: 1.0}
adversary: {prior: 0.5, belief: 0.07, knows: one answer}
limits: {success: 0.55, posterior: 0.12, attack_success: 0.02, error: 0.15}
""",
    "epsilens:adult": """title: High incomes by occupation
data:
  table: epsilens:adult
  quasi_identifiers: [age, sex, race, marital_status, native_country]
  secret:
    name: an income above 50,000
    where: income = '>50K'
    columns: [capital_gain, capital_loss]
queries:
- name: People with a high income
  count: income = '>50K'
  by: occupation
  threshold: auto
- name: Capital gains
  sum: capital_gain
  bounds: [0, 20000]
- name: Hours worked a week
  average: hours_per_week
  bounds: [0, 80]
  by: sex
  groups: [Female, Male]
mechanism: {noise: laplace, epsilon: 1.0, delta: 1.0e-6, split: least error}
adversary: {prior: 0.5, knows: nothing}
limits: {success: 0.65, error: 0.5}
""",
}


_EMPTY: dict[str, Any] = {
    "title": "", "person": "", "max_rows": "1", "max_groups": "", "unit": "", "related": "",
    "secret": "", "secret_name": "", "secret_columns": "",
    "noise": "laplace", "epsilon": "1", "delta": "0.00001", "neighbours": "add-remove", "split": "equal",
    "prior": "0.5", "belief": "", "baseline": "", "knows": "one answer", "among": "",
    "success": "0.55", "posterior": "", "attack_success": "", "error": "", "reading": "", "at_most": "",
}  # fmt: skip
_NO_QUERY = {
    "kind": "", "what": "", "by": "", "by_shown": "", "low": "", "high": "", "groups": "", "threshold": "",
    "name": "", "where": "", "rows": "", "size": "noisy", "share": "",
}  # fmt: skip


@dataclass
class Plan:
    """What the form shows: plain texts, ready for the template."""

    values: dict[str, Any]
    queries: list[dict[str, str]]


def columns_of(table: str) -> list[tuple[str, str]]:
    """The columns of a bundled table with what they mean."""
    return [(name, re.sub(r" \[[^]]*\]$", "", words)) for name, words in bundled(table).columns.items()]


def permitted(plan: Release, upload: str | None) -> None:
    """Refuse tables other than the bundled ones and the upload: a form must not open files of the server."""
    table = plan.data.table
    if isinstance(source_of(table), Bundled):
        bundled(table)
    elif upload is None or table not in (UPLOAD, upload):
        own = f"{UPLOAD!r} for the file uploaded with it" if upload else f"{UPLOAD!r} with an uploaded file"
        shown = table if len(table) <= 60 else table[:57] + "..."
        raise InputError(
            f"data.table is {shown!r}: the page opens only {', '.join(names())}, or {own}; "
            "for others use the command line",
            parameter="data.table",
        )


def check_size(text: str) -> None:
    """A release is a page of text."""
    if len(text) > _MOST_YAML:
        raise InputError(f"the YAML has {len(text)} characters: give at most {_MOST_YAML}")


def to_yaml(form: Mapping[str, str], lists: Mapping[str, Sequence[str]], table: str) -> str:
    """The YAML of what was entered; empty entries are left out, wrong ones stay for the release's own checks."""
    queries = [q for i in range(MOST_QUERIES) if (q := _query(form, i))]
    adversary = {"prior": _number(form.get("prior") or "0.5")}
    adversary |= {key: _number(form[key]) for key in ("belief", "baseline", "among") if form.get(key)}
    adversary["knows"] = form.get("knows") or "one answer"
    if form.get("related"):
        adversary["correlation"] = "from data"
    limits = {key: _number(form[key]) for key in LIMITS if form.get(key)}
    if form.get("reading") and form.get("at_most"):
        limits[form["reading"]] = _number(form["at_most"])
    if form.get("error"):
        limits["error"] = _number(form["error"])
    release = {
        "title": form.get("title") or "Planned release",
        "data": _data(form, lists, table),
        "queries": queries,
        "mechanism": _mechanism(form, any(q.get("threshold") == "auto" for q in queries)),
        "adversary": adversary,
        "limits": limits,
    }
    return yaml.safe_dump(release, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100)


def _data(form: Mapping[str, str], lists: Mapping[str, Sequence[str]], table: str) -> dict[str, Any]:
    data: dict[str, Any] = {"table": table}
    data |= {key: form[key] for key in ("person", "unit") if form.get(key)}
    if len(data) > 1:
        data["max_rows"] = _number(form.get("max_rows") or "1")
    if form.get("max_groups"):
        data["max_groups"] = _number(form["max_groups"])
    if lists.get("quasi"):
        data["quasi_identifiers"] = list(lists["quasi"])
    told = {"name": form.get("secret_name"), "where": form.get("secret")}
    secret: dict[str, Any] = {key: text for key, text in told.items() if text}
    if form.get("secret_columns"):
        secret["columns"] = _listed(form["secret_columns"])
    if secret:
        data["secret"] = form["secret"] if list(secret) == ["where"] else secret
    if form.get("related"):
        data["related"] = form["related"]
    return data


def _mechanism(form: Mapping[str, str], auto: bool) -> dict[str, Any]:
    made: dict[str, Any] = {"noise": form.get("noise") or "laplace", "epsilon": _number(form.get("epsilon") or "1")}
    if made["noise"] == "gaussian" or auto:
        made["delta"] = _number(form.get("delta") or "0.00001")
    usual = {"neighbours": "add-remove", "split": "equal"}
    return made | {key: form[key] for key, word in usual.items() if form.get(key, word) != word}


def _query(form: Mapping[str, str], i: int) -> dict[str, Any]:
    entered = {key: form.get(f"q{i}_{key}", "").strip() for key in _NO_QUERY}
    kind, what = entered["kind"], entered["what"]
    if kind not in KINDS or not (what or kind == "count"):
        return {}
    made: dict[str, Any] = {"name": entered["name"]} if entered["name"] else {}
    made[kind] = what or True
    if entered["where"]:
        made["where"] = entered["where"]
    if entered["by"]:
        made["by"] = _columns(entered["by"])
    if entered["by"] or kind == "histogram":  # otherwise there is one answer, and the fields are not seen
        if entered["groups"]:
            made["groups"] = _labels(entered["groups"])
        if entered["threshold"]:
            made["threshold"] = _number(entered["threshold"].lower())
    bounds = [entered["low"], entered["high"]]
    if kind in ("sum", "average") and any(bounds):
        made["bounds"] = [_number(b) for b in bounds]
    if kind == "average" and entered["size"] not in ("", "noisy"):
        made["size"] = entered["size"]
    if kind in ("count", "histogram") and entered["rows"]:
        made["rows"] = True
    if entered["share"]:
        share = _number(entered["share"].removesuffix("%").strip())
        made["share"] = round(share / 100, 12) if isinstance(share, int | float) else share
    return made


def _columns(text: str) -> str | list[str]:
    """A column, or several as JSON: a name may hold a comma."""
    try:
        several = json.loads(text) if text.startswith("[") else text
    except ValueError:
        return text
    return several if isinstance(several, list) and all(isinstance(c, str) for c in several) else text


def _listed(text: str) -> list[str]:
    """Texts separated by commas, in double quotes where they hold one.

    >>> _listed('a, "b, c"')
    ['a', 'b, c']
    """
    return [part.strip() for part in next(csv.reader([text], skipinitialspace=True), []) if part.strip()]


def _commas(texts: Sequence[str]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(texts)
    return re.sub(r',(?=(?:[^"]*"[^"]*")*[^"]*$)', ", ", out.getvalue())


def _labels(text: str) -> list[Any]:
    """The names of groups; of several columns each in brackets. The table's types say later what a number is.

    >>> _labels("1, two, 007, (empty)"), _labels("[a, 1], [b, 2]")
    ([1, 'two', '007', None], [['a', 1], ['b', 2]])
    """
    if re.fullmatch(r"(\s*\[[^\[\]]*\]\s*,?)+", text):
        return [[_label(part) for part in _listed(inside)] for inside in re.findall(r"\[([^\[\]]*)\]", text)]
    return [_label(part) for part in _listed(" ".join(text.split()))]


def _label(text: str) -> Any:
    if text == "(empty)":
        return None
    value = _number(text)
    return value if not isinstance(value, str) and str(value) == text else text


def _written(labels: Sequence[Label | tuple[Label, ...]]) -> str:
    """Labels as the form takes them."""

    def one(label: Label) -> str:
        return "(empty)" if label is None else str(label)

    if any(isinstance(label, tuple) for label in labels):
        return ", ".join(f"[{_commas([one(x) for x in label])}]" for label in labels if isinstance(label, tuple))
    return _commas([one(label) for label in labels if not isinstance(label, tuple)])


def _number(text: str) -> Any:
    """A number as it was typed; text that is none is left for the release to complain about."""
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() and abs(value) < 1e15 and "." not in text else value


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:.12g}"


def plan_of(release: Release | None, table: str) -> Plan:
    """The form that says a release; what the form cannot say stays in the YAML beside it."""
    if release is None:
        return Plan(_EMPTY | {"table": table, "quasi": []}, [dict(_NO_QUERY) for _ in range(3)])
    data, mechanism, adversary = release.data, release.mechanism, release.adversary
    plain = {k: float(v) for k, v in release.limits.items() if isinstance(v, float | int)}
    reading = next((k for k in plain if k in READINGS and k not in LIMITS), "")
    secret = data.hidden
    values = {
        "table": table,
        "title": release.title,
        "person": data.person or "",
        "unit": data.unit or "",
        "max_rows": str(data.max_rows),
        "max_groups": str(data.max_groups or ""),
        "quasi": list(data.quasi_identifiers),
        "secret": secret.where if secret else "",
        "secret_name": (secret.name or "") if secret else "",
        "secret_columns": _commas(secret.columns) if secret else "",
        "noise": mechanism.noise.value,
        "epsilon": _text(release.epsilon),
        "delta": small(mechanism.delta or 0.00001),
        "neighbours": mechanism.neighbours.value,
        "split": mechanism.split.value,
        "prior": _text(adversary.prior),
        "belief": _text(adversary.belief),
        "baseline": _text(adversary.baseline) if adversary.baseline != _BASELINE else "",
        "knows": adversary.knows.value,
        "among": str(adversary.among or ""),
        "related": (data.related or data.person or "") if adversary.correlation == "from data" else "",
        **{key: _text(plain.get(key)) for key in (*LIMITS, "error")},
        "reading": reading,
        "at_most": _text(plain.get(reading)),
    }
    own = release.queries[0].share is not None or release.queries[0].epsilon is not None
    queries = [_entries(q, release.shares[i] if own else None) for i, q in enumerate(release.queries)]
    spare = min(max(3 - len(queries), 1), MOST_QUERIES - len(queries))
    return Plan(values, [*queries, *(dict(_NO_QUERY) for _ in range(spare))])


def _entries(q: ReleaseQuery, share: float | None) -> dict[str, str]:
    """The fields of one query."""
    kind, by = q.kind.value, (q.by,) if isinstance(q.by, str) else tuple(q.by)
    what = getattr(q, kind)
    low, high = (_text(b) for b in q.bounds) if q.bounds else ("", "")
    return {
        "kind": kind,
        "what": "" if what is True else str(what),
        "by": by[0] if len(by) == 1 else json.dumps(by) if by else "",
        "by_shown": " and ".join(by),
        "low": low,
        "high": high,
        "groups": _written(q.groups or ()),
        "threshold": "" if q.threshold is None else q.threshold if isinstance(q.threshold, str) else _text(q.threshold),
        "name": q.name or "",
        "where": q.where or "",
        "rows": "on" if q.rows else "",
        "size": q.size.value,
        "share": "" if share is None else _text(100 * share),
    }
