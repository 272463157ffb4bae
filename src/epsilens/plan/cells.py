"""The one meaning of a plan: the exact numbers that noise goes on, the names that may be published, the draw of each.

:func:`cells` says it on a table, by the engine that holds it; :func:`cells_of_rows` on rows in memory, by the very
definition (:mod:`.plain_cells`), which every engine must equal: Lemma P2 of docs/proofs/plans.md. A release draws from
it and publishes nothing computed beside it; the movements of an assessment are bounds on it; audits make their
neighbouring tables against it.

Sums are whole numbers of steps that follow from the bounds alone (:class:`~epsilens.data.tables.dialect.SumSteps`), so
that one person moves each number by no more than the plan says. A group whose names come from the data has a cell only
where at least one person counts in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..data.queries import Noise, QueryKind
from ..data.tables.conditions import parse, render, syntax
from ..data.tables.dialect import SumSteps
from ..data.tables.engines import need_ibis
from ..data.tables.row_limit import KEY
from ..data.tables.table import OpenTable
from ..errors import InputError
from . import plain_cells as plain
from .answers import Label, Tally, tallies_of
from .contribution import NoisyNumber, noisy_numbers, scale_of, threshold_of
from .labels import display_label, mentioned_columns
from .model import Release
from .scan_plan import ItemKind, Need, content_columns, needs_of, owner_columns

if TYPE_CHECKING:
    import ibis.expr.datatypes as dt
    import ibis.expr.types as ir
    from sqlglot.expressions import Expression

_COMPARED = {"EQ": "=", "NEQ": "<>", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
_CALCULATED = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Mod": "%"}


@dataclass(frozen=True)
class Draw:
    """The noise on one kind of number, in the plan's own unit; a ``threshold`` decides which names go out."""

    noise: Noise
    scale: float
    threshold: float | None = None


@dataclass(frozen=True)
class Cells:
    """The numbers of one query before noise, by kind and group, in units: confidential, and never written anywhere.

    Of those whom a limit touched there is one number for all groups.
    """

    query: int
    labels: tuple[Label, ...]
    numbers: dict[NoisyNumber, tuple[Fraction, ...]]
    sizes: tuple[int, ...] = ()  # of an average whose size is public

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        return tuple(display_label(label) for label in self.labels)


def draws_of(plan: Release, i: int, epsilon: float | None = None) -> dict[NoisyNumber, Draw]:
    """By which noise, and which threshold, each number of query i goes out, at the plan's total ε or another."""
    kinds, at = noisy_numbers(plan.queries[i]), plan.epsilon if epsilon is None else epsilon
    decides = NoisyNumber.PEOPLE if NoisyNumber.PEOPLE in kinds else NoisyNumber.ANSWER
    return {
        noisy: Draw(
            plan.mechanism.noise, scale_of(plan, i, noisy, at), threshold_of(plan, i, at) if noisy is decides else None
        )
        for noisy in kinds
    }


def unit_of(plan: Release, i: int, noisy: NoisyNumber) -> Fraction:
    """What one unit of a number is in the plan's own terms: a person, a row, a step of a sum."""
    query = plan.queries[i]
    if query.bounds is None or noisy not in (NoisyNumber.ANSWER, NoisyNumber.TOTAL):
        return Fraction(1)
    return SumSteps.of(*query.bounds).size


def cells(opened: OpenTable, plan: Release, tell: Callable[[int, str], object] | None = None) -> tuple[Cells, ...]:
    """All cells of a plan on a table, a query each."""
    made = []
    for need, tallies in tallies_of(opened, plan, tell, stepped=True).items():
        kept = [(label, tally) for label, tally in tallies if need.public or tally.owners]
        numbers = {
            kind: tuple(_number(need, tally, kind) for _, tally in kept) for kind in _group_numbers(plan, need.position)
        }
        if need.touched:
            numbers[NoisyNumber.TOUCHED] = (Fraction(max((tally.touched for _, tally in tallies), default=0)),)
        sizes = tuple(tally.kept for _, tally in kept) if need.public_size else ()
        made.append(Cells(need.position, tuple(label for label, _ in kept), numbers, sizes))
    return tuple(made)


def _group_numbers(plan: Release, i: int) -> list[NoisyNumber]:
    return [noisy for noisy in noisy_numbers(plan.queries[i]) if noisy != NoisyNumber.TOUCHED]


def _number(need: Need, tally: Tally, noisy: NoisyNumber) -> Fraction:
    match noisy:
        case NoisyNumber.PEOPLE:
            return Fraction(tally.owners)
        case NoisyNumber.SIZE:
            return Fraction(tally.kept)
        case NoisyNumber.TOTAL:
            steps = _steps(need)
            return tally.added / steps.size - tally.kept * Fraction(steps.low + steps.high, 2)
        case _:
            return tally.added / _steps(need).size if need.valued else Fraction(tally.kept)


def _steps(need: Need) -> SumSteps:
    assert need.query.bounds is not None
    return SumSteps.of(*need.query.bounds)


@dataclass(frozen=True)
class PlanRules:
    """A plan as the definition takes it: plain values, and a condition on rows for each query, as Python."""

    plan: dict[str, Any]
    conditions: tuple[str, ...]


def cells_of_rows(plan: Release, schema: Mapping[str, str]) -> Callable[[Sequence[plain.Row]], tuple[Cells, ...]]:
    """The cells of a plan as a function of rows in memory; ``schema`` has the type of each column, as Ibis names them.

    >>> from epsilens.plan.file import read_release
    >>> plan = read_release({"data": {"table": "t", "person": "who"}, "mechanism": {"epsilon": 1},
    ...                      "queries": [{"sum": "x", "bounds": [0, 9], "by": "g", "threshold": 5}]})
    >>> found = cells_of_rows(plan, {"who": "int64", "g": "string", "x": "float64"})
    >>> (one,) = found([{"who": 1, "g": "a", "x": 3.0}, {"who": 2, "g": "b", "x": None}])
    >>> one.labels, one.numbers[NoisyNumber.PEOPLE]
    ((('a',),), (Fraction(1, 1),))
    """
    rules = rules_of(plan, need_ibis().table(dict(schema), name="t"))
    conditions = [eval(text, vars(plain)) for text in rules.conditions]  # our own text: _Python wrote it

    def found(rows: Sequence[plain.Row]) -> tuple[Cells, ...]:
        made = []
        for i, (query, covers) in enumerate(zip(rules.plan["queries"], conditions, strict=True)):
            try:
                groups = plain.numbers(rows, query, rules.plan, covers)
            except plain.Stopped as error:
                raise InputError(str(error), parameter=f"queries.{i + 1}.size") from None
            numbers = {kind: tuple(own[kind.value] for own in groups.values()) for kind in _group_numbers(plan, i)}
            if query["touched"]:
                numbers[NoisyNumber.TOUCHED] = (Fraction(plain.touched(rows, query, rules.plan, covers)),)
            sizes = tuple(int(own["size"]) for own in groups.values()) if query["public"] else ()
            made.append(Cells(i, tuple(groups), numbers, sizes))
        return tuple(made)

    return found


def rules_of(plan: Release, table: ir.Table) -> PlanRules:
    """The plan as plain values, for a table with these columns; what cannot be said so is refused."""
    needs = needs_of(table, plan)
    columns = {name: _kind(name, kind) for name, kind in table.schema().items() if name in mentioned_columns(plan)}
    content, beside = content_columns(needs)
    said = {
        "columns": columns,
        "owner": plan.data.owner,
        "owners": owner_columns(plan.data),
        "key": KEY,
        "content": content,
        "beside": beside,
        "queries": [_query(plan, need) for need in needs],
    }
    return PlanRules(said, tuple(_condition(need.query.where, columns) for need in needs))


_KINDS = {"boolean": "truth", "integer": "whole", "floating": "number", "string": "text", "date": "date"}


def _kind(name: str, kind: dt.DataType) -> str:
    for test, word in _KINDS.items():
        if getattr(kind, f"is_{test}")():
            return word
    raise InputError(f"column {name!r} is a {kind}, which a script does not read: release it with epsilens", "script")


def _query(plan: Release, need: Need) -> dict[str, object]:
    asked, kind = plan.queries[need.position], need.query.kind
    bounds = need.query.bounds
    steps = SumSteps.of(*bounds) if bounds is not None else None
    owners = owner_columns(plan.data)  # those who are counted once in a group; none where rows are counted
    whose = owners[:1] if need.items is ItemKind.PEOPLE else owners if need.items is ItemKind.MEMBERS else []
    return {
        "name": asked.name or str(need.query),
        "kind": kind.value if kind is QueryKind.AVERAGE else "number",
        "by": list(need.split_by),
        "groups": None if need.labels is None else [[_label(part) for part in label] for label in need.labels],
        "column": need.query.column if need.valued else None,
        "bounds": None if bounds is None else list(bounds),
        "steps": None if steps is None else [steps.low, steps.high, steps.digits],
        "whose": whose,
        "public": need.public_size,
        "touched": need.touched,
        "most": need.most,
        "spread": need.groups,
    }


def _label(part: object) -> object:
    return part.isoformat() if isinstance(part, date) else part


def _condition(where: str | None, columns: Mapping[str, str]) -> str:
    """A condition as Python; one that cannot be said is refused."""
    if not where:
        return "lambda row: True"
    return f"lambda row: {_PythonCondition(where, columns).python(parse(where, 'where'))}"


class _PythonCondition:
    """Walks a parse tree; every node class it does not name is refused."""

    def __init__(self, where: str, columns: Mapping[str, str]) -> None:
        self.where, self.columns, self.exp = where, columns, syntax()

    def python(self, node: Expression) -> str:
        made = self._render(node)
        if made is None:
            raise InputError(
                f"where is {self.where!r}: {render(node)!r} cannot be said in a script; release it with epsilens",
                parameter="script",
            )
        return f"opposite({made})" if node.args.get("negate") else made

    def _render(self, node: Expression) -> str | None:
        exp, kind = self.exp, type(node).__name__
        if kind in _COMPARED:
            return self._render_comparison(node.this, _COMPARED[kind], node.expression)
        if kind in _CALCULATED:
            return f"calculated({self.python(node.this)}, {_CALCULATED[kind]!r}, {self.python(node.expression)})"
        if kind in ("And", "Or"):
            return f"{'every' if kind == 'And' else 'some'}({self.python(node.this)}, {self.python(node.expression)})"
        if kind == "Paren":
            return self.python(node.this)
        if kind == "Not":
            return f"opposite({self.python(node.this)})"
        if kind == "Neg":
            return f"calculated(0, '-', {self.python(node.this)})"
        if kind == "Column":
            return f"row[{node.name!r}]"
        if kind == "Boolean":
            return repr(bool(node.this))
        if kind == "Literal":
            return repr(str(node.this)) if node.is_string else _literal(str(node.this))
        if kind == "In" and node.expressions:
            return f"some({', '.join(self._render_comparison(node.this, '=', item) for item in node.expressions)})"
        if kind == "Between":
            ends = ((">=", "low"), ("<=", "high"))
            return f"every({', '.join(self._render_comparison(node.this, how, node.args[end]) for how, end in ends)})"
        if kind == "Is" and type(node.expression) in (exp.Null, exp.Boolean):
            value = "None" if type(node.expression) is exp.Null else repr(bool(node.expression.this))
            return f"({self.python(node.this)} is {value})"
        if kind == "Like" and type(node.expression) is exp.Literal:
            return f"alike({self.python(node.this)}, {str(node.expression.this)!r})"
        return None

    def _render_comparison(self, left: Expression, how: str, right: Expression) -> str:
        sides = [self.python(left), self.python(right)]
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
