"""A release's queries and its facts as people read them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from ...catalogue.readings import find
from ...data.tables.source import Bundled, Url, source_of
from ...errors import InputError
from ..words import small
from .numbers import FREQUENCIES, limit, percent, planned, value

if TYPE_CHECKING:
    from ...assessment.accuracy import QueryAccuracy
    from ...assessment.assessment import Assessment
    from ...plan.plan import ReleaseQuery

__all__ = ["detail", "facts", "group_name", "subject", "title", "typical_label"]

_NOUNS = {"count": "count", "histogram": "count", "sum": "total", "average": "average"}


def _query(a: Assessment, q: QueryAccuracy) -> ReleaseQuery:
    return a.release.queries[next(i for i, other in enumerate(a.queries) if other is q)]


def _by(query: ReleaseQuery) -> tuple[str, ...]:
    by = (query.by,) if isinstance(query.by, str) else tuple(query.by)
    return (*by, query.histogram) if query.histogram else by


def title(a: Assessment, q: QueryAccuracy) -> str:
    """The query's name: its own, or what it asks."""
    query = _query(a, q)
    by = f", by {' and '.join(_by(query))}" if _by(query) else ""
    if query.name:
        return query.name + by
    if query.count not in (None, False):
        of = "people" if a.release.data.person else "rows"
        where = query.count if isinstance(query.count, str) else query.where
        return f"Count of {of}" + (f" where {where}" if where else "") + by
    where = f" where {query.where}" if query.where else ""
    if query.histogram:
        return f"Counts{where}{by}"
    return (f"Total {query.sum}" if query.sum else f"Average {query.average}") + where + by


def detail(a: Assessment, q: QueryAccuracy) -> str:
    """How many answers there are, and the bounds."""
    query = _query(a, q)
    parts = []
    if _by(query):
        values = [answer.value for answer in q.answers]
        plural = {"count": "counts", "total": "totals", "average": "averages"}[_NOUNS[q.kind]]
        if values:
            parts.append(f"{len(values):,} {plural}, from {value(min(values))} to {value(max(values))}")
        else:
            parts.append("no answers: no row meets the condition")
    if query.bounds:
        low, high = query.bounds
        parts.append(f"bounds {value(low)} to {value(high)} a row")
        if a.release.data.person:
            rows = a.release.data.max_rows
            parts.append(f"{rows} row{'s' if rows > 1 else ''} a person")
    return ", ".join(parts)


def subject(a: Assessment, q: QueryAccuracy) -> str:
    """The query inside a sentence: "a typical count by site", "the total visits"."""
    query = _query(a, q)
    short = _short(query)
    if sum(_short(other) == short for other in a.release.queries) > 1:  # only the condition tells them apart
        where = query.count if isinstance(query.count, str) else query.where
        return _short(query, f" where {where}" if where else "")
    return short


def _short(query: ReleaseQuery, where: str = "") -> str:
    noun = "total" if query.sum else "average" if query.average else "count"
    of = f" {query.sum or query.average}" if query.sum or query.average else ""
    if _by(query):
        return f"a typical {noun}{of}{where} by {' and '.join(_by(query))}"
    return f"the {noun}{of}{where}"


def typical_label(a: Assessment, q: QueryAccuracy) -> str:
    """What the answer shown stands for, where there are several."""
    by = _by(_query(a, q))
    return f"typical {' and '.join(by)}" if by else ""


def group_name(a: Assessment, q: QueryAccuracy, group: tuple[str, ...], most: int = 18) -> str:
    """A group's label in a picture: its column too where the value is only a number."""
    if not group:
        return _NOUNS[q.kind].capitalize()
    by = _by(_query(a, q))
    if len(group) == 1 and group[0].lstrip("-").replace(".", "", 1).isdigit():
        text = f"{by[0][:1].upper()}{by[0][1:]} {group[0]}"
    else:
        text = ", ".join(group)
    return text if len(text) <= most else text[: most - 1] + "…"


def facts(a: Assessment) -> list[tuple[str, str]]:
    """The release at a glance, for the side of the page."""
    r = a.release
    made = [("Data", _table(a))]
    many = len(r.queries)
    split = "sharing ε equally" if r.queries[0].epsilon is None else "each with its own ε"
    made.append(("Queries", f"{many}, {split}" if many > 1 else "1"))
    noise = r.mechanism.noise.capitalize()
    made.append(("Noise", noise if r.mechanism.delta is None else f"{noise}, δ = {small(r.mechanism.delta)}"))
    made.append(("Planned", f"ε = {planned(a.epsilon)}"))
    first = next(iter(r.limits), None)
    told = [_limit(name, limited.at_most, first=name == first) for name, limited in r.risk_limits.items()]
    made.append(("Limits on risk", "; ".join(told) if told else "none"))
    if r.error_limit is not None:
        made.append(("Limit on error", percent(r.error_limit)))
    return made


def _table(a: Assessment) -> str:
    name = a.release.data.table
    source = source_of(name)
    if isinstance(source, Bundled):
        with suppress(InputError):  # a table passed in may carry any name
            name = source.dataset.title
    elif isinstance(source, Url):
        name = source.table or f"{source.scheme} database"
    if a.scan is None:
        return name
    people, rows = f"{a.scan.people:,} people", f"{a.scan.rows:,} rows"
    return f"{name}\n{people}, {rows}" if a.release.data.person else f"{name}\n{rows}, one a person"


def _limit(name: str, at: float, *, first: bool) -> str:
    label = {"success": "right guesses", "posterior": "belief", "attack_success": "re-identification"}.get(
        name, find(name).label
    )
    return f"{label} {limit(name, at)}" + (" of 100" if first and name in FREQUENCIES else "")
