"""A plan as a stand-alone script: for those who must run it where nothing but Python and opendp is installed.

The script holds the plan and the rules, and nothing of the data: only the types of the columns are looked up. It cannot
ask the ledger, so it says at its end how to enter what it released.
"""

from __future__ import annotations

import pprint
from collections.abc import Mapping
from datetime import date
from importlib.resources import files
from typing import Any

from ..assessment.promise import promise_of
from ..data.queries import QueryKind
from ..data.tables.conditions import parse, render, syntax
from ..data.tables.kept import KEY
from ..data.tables.open import open_table
from ..data.tables.totals import Steps
from ..errors import InputError
from ..plan.file import about
from ..plan.needs import Items, Need, content_of, needs_of, owners_of
from ..plan.plan import Release
from ..plan.read import mentioned
from .noise import Drawing, drawings_of
from .words import guarantee_of, lost_of

__all__ = ["script_of"]

_COMPARED = {"EQ": "=", "NEQ": "<>", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
_CALCULATED = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Mod": "%"}


def script_of(plan: Release, table: Any = None, engine: Any = None) -> str:
    """The script as text."""
    _possible(plan)
    with about("data.table", engine="engine"):
        opened = open_table(plan.data.table if table is None else table, engine)
    with opened:
        needs = needs_of(opened.table, plan)
        columns = {name: _kind(name, kind) for name, kind in opened.table.schema().items() if name in mentioned(plan)}
    drawings = drawings_of(plan)
    promise = promise_of(plan)
    said = {
        "columns": columns, "owner": plan.data.owner, "owners": owners_of(plan.data), "key": KEY,
        "content": content_of(needs),
        "queries": [_query(plan, need, drawings) for need in needs],
        "remarks": [plan.title, guarantee_of(plan, promise), *lost_of(plan)],
        "enter": _enter(plan, promise.charge.to_dict()),
    }  # fmt: skip
    conditions = ",\n    ".join(_condition(need.query.where, columns) for need in needs)
    rules = files("epsilens.publish").joinpath("standalone.py").read_text("utf-8")
    head = (
        f'"""{_safe(plan.title)}: a release under differential privacy. Needs opendp alone (0.12 or later).\n\n'
        "    python script.py people.csv answers.csv\n\nEach run spends anew: enter each in your ledger.\n" + '"""\n'
    )
    rules = rules.split('"""', 2)[2].lstrip("\n")
    return (
        f"{head}\n{rules}\n\n# -- the plan {'-' * 107}\n\nPLAN: dict[str, Any] = "
        f"{pprint.pformat(said, width=116, sort_dicts=False)}\nCONDITIONS: list[Callable[[Row], Any]] = [\n    "
        f'{conditions},\n]\n\nif __name__ == "__main__":\n    sys.exit(run(PLAN, CONDITIONS, sys.argv[1:]))\n'
    )


def _safe(text: str) -> str:
    return " ".join(text.replace("\\", " ").replace('"', "'").split())


def _possible(plan: Release) -> None:
    if plan.data.read:
        raise InputError(
            "the plan reads columns of text in some form (data.read), which a script cannot: release it with epsilens, "
            "or write the columns into the CSV as they are read",
            parameter="script",
        )


def _kind(name: str, kind: Any) -> str:
    for is_it, word in (
        (kind.is_boolean(), "truth"), (kind.is_integer(), "whole"), (kind.is_floating(), "number"),
        (kind.is_string(), "text"), (kind.is_date(), "date"),
    ):  # fmt: skip
        if is_it:
            return word
    raise InputError(
        f"column {name!r} is a {kind}, which a script does not read: release it with epsilens", parameter="script"
    )


def _query(plan: Release, need: Need, drawings: tuple[Drawing, ...]) -> dict[str, Any]:
    asked, kind = plan.queries[need.position], need.query.kind
    bounds = need.query.bounds
    steps = Steps.of(*bounds) if bounds is not None else None
    return {
        "name": asked.name or str(need.query), "kind": kind.value if kind is QueryKind.AVERAGE else "number",
        "by": list(need.split_by),
        "groups": None if need.labels is None else [[_label(part) for part in label] for label in need.labels],
        "column": need.query.column if need.valued else None, "bounds": None if bounds is None else list(bounds),
        "steps": None if steps is None else [steps.low, steps.high, steps.digits],
        "whose": _whose(plan, need), "public": need.public_size, "most": need.most, "spread": need.groups,
        "drawings": {d.noisy.value: _drawing(d) for d in drawings if d.query == need.position},
    }  # fmt: skip


def _whose(plan: Release, need: Need) -> list[str]:
    """The columns of those who are counted once in a group; none where rows are counted."""
    owners = owners_of(plan.data)
    return owners[:1] if need.items is Items.PEOPLE else owners if need.items is Items.MEMBERS else []


def _label(part: Any) -> Any:
    return part.isoformat() if isinstance(part, date) else part


def _drawing(d: Drawing) -> dict[str, Any]:
    return {
        "noise": str(d.noise.value), "scale": d.scale, "unit": float(d.unit), "sensitivity": d.sensitivity,
        "promised": d.promised, "threshold": d.names, "moving": d.moving, "alone": d.alone,
    }  # fmt: skip


def _enter(plan: Release, charge: dict[str, float | None]) -> str:
    if charge["epsilon"] is not None:
        delta = f" --delta {charge['slack']!r}" if charge["slack"] else ""
        what = f"{'approximate' if delta else 'pure'} --epsilon {charge['epsilon']!r}{delta}"
        return f"epsilens ledger add {what} --people NAME --title {_safe(plan.title)!r}"
    return f"epsilens ledger add gaussian --psi {charge['psi']!r} --people NAME --title {_safe(plan.title)!r}"


# -- conditions ---------------------------------------------------------------------------------------------------


def _condition(where: str | None, columns: Mapping[str, str]) -> str:
    """A condition as Python; one that cannot be said is refused."""
    if not where:
        return "lambda row: True"
    return f"lambda row: {_Python(where, columns).said(parse(where, 'where'))}"


class _Python:
    """Walks a parse tree; every node class it does not name is refused."""

    def __init__(self, where: str, columns: Mapping[str, str]) -> None:
        self.where, self.columns, self.exp = where, columns, syntax()

    def said(self, node: Any) -> str:
        made = self._said(node)
        if made is None:
            raise InputError(
                f"where is {self.where!r}: {render(node)!r} cannot be said in a script; release it with epsilens",
                parameter="script",
            )
        return f"opposite({made})" if node.args.get("negate") else made

    def _said(self, node: Any) -> str | None:
        exp, kind = self.exp, type(node).__name__
        if kind in _COMPARED:
            return self._compared(node.this, _COMPARED[kind], node.expression)
        if kind in _CALCULATED:
            return f"calculated({self.said(node.this)}, {_CALCULATED[kind]!r}, {self.said(node.expression)})"
        if kind in ("And", "Or"):
            return f"{'every' if kind == 'And' else 'some'}({self.said(node.this)}, {self.said(node.expression)})"
        if kind == "Paren":
            return self.said(node.this)
        if kind == "Not":
            return f"opposite({self.said(node.this)})"
        if kind == "Neg":
            return f"calculated(0, '-', {self.said(node.this)})"
        if kind == "Column":
            return f"row[{node.name!r}]"
        if kind == "Boolean":
            return repr(bool(node.this))
        if kind == "Literal":
            return repr(str(node.this)) if node.is_string else _literal(str(node.this))
        if kind == "In" and node.expressions:
            return f"some({', '.join(self._compared(node.this, '=', item) for item in node.expressions)})"
        if kind == "Between":
            ends = ((">=", "low"), ("<=", "high"))
            return f"every({', '.join(self._compared(node.this, how, node.args[end]) for how, end in ends)})"
        if kind == "Is" and type(node.expression) in (exp.Null, exp.Boolean):
            value = "None" if type(node.expression) is exp.Null else repr(bool(node.expression.this))
            return f"({self.said(node.this)} is {value})"
        if kind == "Like" and type(node.expression) is exp.Literal:
            return f"alike({self.said(node.this)}, {str(node.expression.this)!r})"
        return None

    def _compared(self, left: Any, how: str, right: Any) -> str:
        sides = [self.said(left), self.said(right)]
        for side, (one, other) in enumerate(((left, right), (right, left))):
            dated = type(other) is self.exp.Column and self.columns.get(other.name) == "date"
            if dated and type(one) is self.exp.Literal and one.is_string:
                sides[side] = f"date.fromisoformat({sides[side]})"
        return f"compared({sides[0]}, {how!r}, {sides[1]})"


def _literal(number: str) -> str:
    try:
        return repr(int(number))
    except ValueError:
        return repr(float(number))
