"""What a plan says about columns that it reads in some form, written as those columns have it.

Somebody who reads ``Ward`` as a category, without regard to capitals, means one ward by ``Ward = 'Cardiology'``, by
``groups: [Cardiology]`` and by ``cardiology``. So the texts beside such a column are brought into its form; a date must
be written as the form writes it, or it would be compared letter by letter with dates that look otherwise.
"""

from __future__ import annotations

import re
from typing import Any

from ..data.tables.columns import As, Form, fold
from ..data.tables.conditions import columns_of, parse, render, syntax
from ..errors import InputError
from .asked import Label, ReleaseQuery
from .file import about
from .plan import Release
from .yaml_text import dotted

_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def as_written(plan: Release) -> Release:
    """The plan with its conditions and groups in the forms of their columns."""
    forms = plan.data.forms
    if not forms:
        return plan
    data = plan.data
    secret = data.hidden
    with about("data.secret"):
        if secret is not None:
            where = _formed_condition(secret.where, forms, "secret")
            changed = secret.model_copy(update={"where": where})
            data = data.model_copy(update={"secret": where if isinstance(data.secret, str) else changed})
    queries = []
    for i, query in enumerate(plan.queries):
        with about(dotted(("queries", i)), groups=dotted(("queries", i, "groups"))):
            queries.append(_formed_query(query, forms))
    return plan.model_copy(update={"data": data, "queries": tuple(queries)})


def _formed_query(query: ReleaseQuery, forms: dict[str, Form]) -> ReleaseQuery:
    changed: dict[str, Any] = {}
    if isinstance(query.count, str):
        changed["count"] = _formed_condition(query.count, forms, "count")
    if query.where is not None:
        changed["where"] = _formed_condition(query.where, forms, "where")
    if query.groups is not None:
        named = [forms.get(name) for name in query.split_by]
        changed["groups"] = tuple(
            tuple(_formed_label(part, form) for part, form in zip(label, named, strict=True))
            if isinstance(label, tuple)
            else _formed_label(label, named[0])
            for label in query.groups
        )
    return query.model_copy(update=changed) if changed else query


def _formed_label(label: Label, form: Form | None) -> Label:
    return _formed_text(label, form, "groups") if isinstance(label, str) and form is not None else label


def _formed_text(text: str, form: Form, what: str) -> str:
    if form.kind is As.DATE and not _ISO.fullmatch(text):
        raise InputError(
            f"{what} has {text[:40]!r} beside a column that is read as a date: write it as '2024-12-31'", parameter=what
        )
    return fold(text, form)


def _formed_condition(text: str, forms: dict[str, Form], what: str) -> str:
    """The condition with each text in the form of the column it is compared with."""
    exp = syntax()
    tree = parse(text, what)
    changed = False
    for node in tree.find_all(exp.Predicate):
        columns = [c.name for c in node.find_all(exp.Column) if c.parent is node]
        form = next((forms[name] for name in columns if name in forms), None)
        if form is None:
            continue
        for literal in [x for x in node.find_all(exp.Literal) if x.parent is node and x.is_string]:
            like = isinstance(node, exp.Like)
            written = literal.this if like and form.kind is As.DATE else _formed_text(literal.this, form, what)
            changed |= written != literal.this
            literal.set("this", written)
    return render(tree) if changed else text


def mentioned(plan: Release) -> frozenset[str]:
    """The columns a plan speaks of."""
    data = plan.data
    found = {*data.quasi_identifiers, *data.read, *filter(None, (data.person, data.unit, data.related))}
    if data.hidden is not None:
        found |= columns_of(data.hidden.where, "secret") | set(data.hidden.columns)
    for query in plan.queries:
        found |= {*query.split_by, *filter(None, (query.sum, query.average, query.histogram))}
        for where in (query.count, query.where):
            found |= columns_of(where) if isinstance(where, str) else set()
    return frozenset(found)
