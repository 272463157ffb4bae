"""The Assess form: from entries to the YAML of a release and back.

The YAML is the state: the form only writes it, so that whatever the form can say can also be pasted, linked and given
to the command line.
"""

from __future__ import annotations

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
    from ..plan.plan import Release

__all__ = ["EXAMPLES", "KINDS", "UPLOAD", "Plan", "columns_of", "permitted", "plan_of", "to_yaml"]

#: What stands for the uploaded file in a release.
UPLOAD = "upload"
KINDS = {"count": "Count of", "sum": "Sum of", "average": "Average of", "histogram": "Counts of each"}
MOST_QUERIES = 8
_MOST_YAML = 50_000

EXAMPLES = {
    "epsilens:rand-hie": """title: Mental-health visits by site
data:
  table: epsilens:rand-hie
  person: person
  max_rows: 5
  quasi_identifiers: [site, age, female, black, education]
  secret: mental_visits > 0
queries:
- count: mental_visits > 0
  by: site
- sum: visits
  bounds: [0, 77]
- average: income
  bounds: [0, 30000]
mechanism: {noise: laplace, epsilon: 1.0}
adversary: {prior: 0.5, knows: one answer}
limits: {success: 0.55}
""",
    "epsilens:adult": """title: Earnings by education
data:
  table: epsilens:adult
  quasi_identifiers: [age, sex, race, education]
  secret: income = '>50K'
queries:
- count: income = '>50K'
  by: education
- average: hours_per_week
  bounds: [0, 100]
mechanism: {noise: laplace, epsilon: 1.0}
adversary: {prior: 0.5, knows: one answer}
limits: {success: 0.55}
""",
}


_EMPTY: dict[str, Any] = {
    "title": "", "person": "", "max_rows": "1", "secret": "", "noise": "laplace", "epsilon": "1", "delta": "0.00001",
    "prior": "0.5", "knows": "one answer", "reading": "success", "at_most": "0.55", "error": "",
    "among": "", "related": "",
}  # fmt: skip
_NO_QUERY = {"kind": "", "what": "", "by": "", "low": "", "high": ""}


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
    data: dict[str, Any] = {"table": table}
    if form.get("person"):
        data |= {"person": form["person"], "max_rows": _number(form.get("max_rows") or "1")}
    if lists.get("quasi"):
        data["quasi_identifiers"] = list(lists["quasi"])
    if form.get("secret"):
        data["secret"] = form["secret"]
    if form.get("related"):
        data["related"] = form["related"]
    mechanism: dict[str, Any] = {
        "noise": form.get("noise") or "laplace",
        "epsilon": _number(form.get("epsilon") or "1"),
    }
    if mechanism["noise"] == "gaussian":
        mechanism["delta"] = _number(form.get("delta") or "0.00001")
    adversary = {"prior": _number(form.get("prior") or "0.5"), "knows": form.get("knows") or "one answer"}
    if form.get("among"):
        adversary["among"] = _number(form["among"])
    if form.get("related"):
        adversary["correlation"] = "from data"
    limits: dict[str, Any] = {}
    if form.get("at_most"):
        limits[form.get("reading") or "success"] = _number(form["at_most"])
    if form.get("error"):
        limits["error"] = _number(form["error"])
    release = {
        "title": form.get("title") or "Planned release",
        "data": data,
        "queries": [q for i in range(MOST_QUERIES) if (q := _query(form, i))],
        "mechanism": mechanism,
        "adversary": adversary,
        "limits": limits,
    }
    return yaml.safe_dump(release, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100)


def _query(form: Mapping[str, str], i: int) -> dict[str, Any]:
    kind, what = form.get(f"q{i}_kind", ""), form.get(f"q{i}_what", "").strip()
    if kind not in KINDS or not (what or kind == "count"):
        return {}
    made: dict[str, Any] = {kind: what or True}
    if form.get(f"q{i}_by"):
        made["by"] = form[f"q{i}_by"]
    bounds = [form.get(f"q{i}_low", "").strip(), form.get(f"q{i}_high", "").strip()]
    if kind in ("sum", "average") and any(bounds):
        made["bounds"] = [_number(b) for b in bounds]
    return made


def _number(text: str) -> Any:
    """A number as it was typed; text that is none is left for the release to complain about."""
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() and abs(value) < 1e15 and "." not in text else value


def plan_of(release: Release | None, table: str) -> Plan:
    """The form that says a release; what the form cannot say stays in the YAML beside it."""
    if release is None:
        return Plan(_EMPTY | {"table": table, "quasi": []}, [dict(_NO_QUERY) for _ in range(3)])
    data, mechanism = release.data, release.mechanism
    plain = {k: v for k, v in release.limits.items() if isinstance(v, float | int)}
    reading = next((k for k in plain if k in READINGS), "success")
    values = {
        "table": table,
        "title": release.title,
        "person": data.person or "",
        "max_rows": str(data.max_rows),
        "quasi": list(data.quasi_identifiers),
        "secret": data.secret or "",
        "noise": mechanism.noise.value,
        "epsilon": f"{release.epsilon:.12g}",
        "delta": small(mechanism.delta or 0.00001),
        "prior": f"{release.adversary.prior:.12g}",
        "knows": release.adversary.knows.value,
        "among": str(release.adversary.among or ""),
        "related": (data.related or data.person or "") if release.adversary.correlation == "from data" else "",
        "reading": reading,
        "at_most": f"{plain[reading]:.12g}" if reading in plain else "",
        "error": f"{plain['error']:.12g}" if "error" in plain else "",
    }
    queries = []
    for q in release.queries[:MOST_QUERIES]:
        kind = next(k for k in KINDS if getattr(q, k) not in (None, False))
        what = getattr(q, kind)
        by = q.by if isinstance(q.by, str) else ", ".join(q.by)
        low, high = (f"{b:.12g}" for b in q.bounds) if q.bounds else ("", "")
        queries.append({"kind": kind, "what": "" if what is True else str(what), "by": by, "low": low, "high": high})
    spare = min(max(3 - len(queries), 1), MOST_QUERIES - len(queries))
    return Plan(values, [*queries, *(dict(_NO_QUERY) for _ in range(spare))])
