"""What is wrong with a plan, as a sentence by the field it speaks of."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from ..errors import EpsilensError, InputError
from .entries import columns as several
from .planform import LIMITS, Plan
from .questions import Problem
from .refused import Refused

#: A part of a release, or what a check calls it, and the field that says it.
_FIELDS = {
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
_OF_QUERY = {
    **{name: name for name in ("groups", "threshold", "name", "where", "rows", "size", "share", "column", "by")},
    "count": "where", "sum": "column", "average": "column", "histogram": "column", "bounds": "low",
}  # fmt: skip


def problem_at(error: EpsilensError, *, by_hand: bool = False, form: bool = False) -> Problem:
    """An error as a sentence by the field it speaks of: in a ``form``, by that field; ``by_hand``, by the YAML."""
    words = " ".join(str(error).split())
    about = error.parameter if isinstance(error, InputError | Refused) else ""
    if form and not by_hand:
        words = _without_path(words, about)
    sentence = f"{words[:1].upper()}{words[1:]}".rstrip(".") + ("" if words.endswith("?") else ".")
    found = field_of(about)
    status = error.status if isinstance(error, Refused) else 422
    return Problem("yaml" if by_hand and found != "file" else found, sentence, status)


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


def check_columns(plan: Plan, names: Collection[str]) -> None:
    """Refuse columns the table does not have, each by the field that names it."""
    rows = [("data.secret", plan.secret), *((f"queries.{i + 1}.where", w) for i, w in enumerate(plan.wheres))]
    named = [
        *((f"data.{key}", plan.values[key]) for key in ("person", "unit", "related")),
        *(("data.quasi_identifiers", name) for name in plan.quasi),
        *(("data.read", r["column"]) for r in plan.readings),
        *((place, row.column) for place, picked in rows if not picked.typed for row in picked.rows),
    ]
    for i, q in enumerate(plan.queries):
        by = several(q["by"])
        named += [(f"queries.{i + 1}.by", name) for name in ([by] if isinstance(by, str) else by)]
        named += [(f"queries.{i + 1}.column", q["column"])] if q["kind"] != "count" else []
    for place, name in named:
        if name and name not in names:
            close = get_close_matches(name, names, n=1, cutoff=0.5)
            hint = f": did you mean {close[0]!r}?" if close else ": choose one that it has"
            raise InputError(f"the table has no column {name!r}{hint}", parameter=place)


def field_of(parameter: str) -> str:
    """The field of a part of the release: its own, or that of the part it belongs to.

    >>> field_of("limits.roc.at_most"), field_of("queries.2.bounds.1"), field_of("queries.1.groups.3")
    ('at_most', 'q1_low', 'q0_groups')
    """
    parts = parameter.split(".")
    if parts[0] == "shares" and len(parts) > 1 and parts[1].isdigit():
        return f"share{int(parts[1]) - 1}"
    if parts[0] == "queries" and len(parts) > 1 and parts[1].isdigit():
        place = f"q{int(parts[1]) - 1}"
        return f"{place}_{_OF_QUERY.get(parts[2], 'kind')}" if len(parts) > 2 else f"{place}_kind"
    known = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((_FIELDS[place] for place in known if place in _FIELDS), "")
