"""Numbers that the code under mutation decides: a change that leaves all of them alone may be the same program.

Cells and answers of a crowded table, what moves, every risk, promises and charges of plans with every word; accounts
with limits; readings of every closed law. Nothing random, and a few seconds in all.
"""

from __future__ import annotations

import hashlib
import math
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from tests.plan.test_cells import ASKED, LIMITED, SCHEMA, crowd, plain_rows, planned

import epsilens as el
from epsilens.assessment.adversaries import Setting, met
from epsilens.assessment.promise import promise_of
from epsilens.assessment.typical import together_of
from epsilens.data.tables.open import open_table
from epsilens.errors import EpsilensError
from epsilens.ledger.charge import charge_of
from epsilens.plan.answers import answers_of
from epsilens.plan.cells import cells, cells_of_rows
from epsilens.plan.file import read_release
from epsilens.plan.people import people_of
from epsilens.publish.drawn import drawn_answers
from epsilens.publish.noise import Drawing, drawings_of

__all__ = ["PARTS"]

PLANS: tuple[dict[str, Any], ...] = (
    {"queries": [{"count": True, "by": "g", "threshold": 6}]},
    {"queries": [{"count": "v > 0"}, {"sum": "w", "bounds": [-1, 4]}], "data": {"person": "who", "max_rows": 3}},
    {"queries": [{"average": "v", "bounds": [0, 2], "by": "g", "groups": ["a", "b"]}],
     "mechanism": {"neighbours": "replace"}},
    {"queries": [{"histogram": "s", "by": "g", "threshold": "auto"}, {"count": True}],
     "data": {"person": "who", "max_groups": 2, "secret": "s = 'p'"},
     "mechanism": {"noise": "gaussian", "delta": 1e-5}},
    {"queries": [{"sum": "v", "bounds": [0, 2.5], "by": "g", "threshold": 4, "share": 0.3},
                 {"count": True, "share": 0.7}],
     "data": {"unit": "home", "person": "who", "max_rows": 4, "secret": {"where": "v > 0", "columns": ["g"]}}},
    {"queries": [{"count": True, "by": "g", "threshold": 5, "touched": 0.1}],
     "data": {"person": "who", "max_groups": 3}},
    {"queries": [{"average": "w", "bounds": [0, 9], "size": "public"}], "mechanism": {"neighbours": "replace"}},
)  # fmt: skip


def _plan(said: dict[str, Any]) -> Any:
    return read_release({
        "data": {"table": "t", **said.get("data", {})}, "queries": said["queries"],
        "mechanism": {"epsilon": 1.5, **said.get("mechanism", {})}, "limits": {},
        "adversary": {"prior": 0.4, "among": 5},
    })  # fmt: skip


def _tables() -> Iterator[Any]:
    made = crowd(5, 120)
    rows = plain_rows(made)
    for data in LIMITED.values():
        plan = planned(data)
        yield cells_of_rows(plan, SCHEMA)(rows)
    for data in (LIMITED["two columns tell it"], LIMITED["unit"], LIMITED["rows"]):
        plan = planned(data)
        with open_table(made) as opened:
            yield cells(opened, plan)
            yield answers_of(opened, plan)
            yield people_of(opened, plan, 40)


def _plans() -> Iterator[Any]:
    for said in PLANS:
        plan = _plan(said)
        setting = Setting(plan, supposed=True)
        for adversary in met(setting):
            facing = adversary.facing(setting, plan.epsilon)
            yield adversary.key, facing.read(adversary.reading, dict(adversary.arguments(setting)))
        promise = promise_of(plan)
        yield promise.charge.to_dict(), promise.delta, promise.success, together_of(plan, plan.epsilon)
        drawings = drawings_of(plan)
        yield [(d.terms, d.delta, d.groups) for d in drawings]
        rows = plain_rows(crowd(7, 60))
        exact = cells_of_rows(plan, SCHEMA)(rows) if plan.queries[0].size != "public" else ()
        yield [a.to_dict() for a in _without_noise(plan, drawings, exact)]


def _without_noise(plan: Any, drawings: tuple[Drawing, ...], exact: Any) -> Any:
    """Answers and intervals as if no noise had fallen."""
    drawn, named = Drawing.draw, Drawing.draw_names
    try:
        Drawing.draw = lambda self, numbers: [float(n) * float(self.unit) for n in numbers]  # type: ignore[method-assign]
        Drawing.draw_names = lambda self, labels, numbers: {  # type: ignore[method-assign]
            i: float(n) for i, n in enumerate(numbers) if n >= (self.names or 0) - 4
        }
        return drawn_answers(plan, drawings, exact)
    finally:
        Drawing.draw, Drawing.draw_names = drawn, named  # type: ignore[method-assign]


def _accounts() -> Iterator[Any]:
    with tempfile.TemporaryDirectory() as folder:
        ledger = el.Ledger(f"{folder}/ledger.db")
        ledger.limit("people", success=0.7, delta=1e-4, partition="site")
        for noise, delta in (
            (el.laplace(epsilon=0.1), 1e-6),
            (el.gaussian(psi=0.2), 0.0),
            (el.laplace(epsilon=0.05), 0.0),
        ):
            ledger.add("people", noise, delta=delta)
            yield charge_of(noise, delta=delta, at_delta=1e-6)
        account = ledger.account("people")
        yield account.spent, account.promised(), account.so_far(), account.more(account.releases[0].charge)
        for size in (0.2, 0.9):
            try:
                account.check(charge_of(el.laplace(epsilon=size)))
                yield "room"
            except EpsilensError as error:
                yield str(error)
        other = el.Ledger(f"{folder}/other.db")
        other.limit("people", epsilon=1.0)
        taken = other.reserve(
            "people", el.laplace(epsilon=0.6), charge_of(el.laplace(epsilon=0.6)), plan={"a": 1}, data="d"
        )
        yield type(taken).__name__
        for way in ("same", "more"):
            try:
                made = other.reserve(
                    "people", el.laplace(epsilon=0.6), charge_of(el.laplace(epsilon=0.6)), plan={"a": way}
                )
                yield type(made).__name__
            except EpsilensError as error:
                yield type(error).__name__
        yield [(t.line, t.what) for t in other.check()]


def _laws() -> Iterator[Any]:
    built = [
        el.laplace(epsilon=0.7), el.laplace(epsilon=1e-6), el.laplace(epsilon=40.0), el.gaussian(psi=0.8),
        el.gaussian(psi=9.0),
        el.compose(el.laplace(epsilon=0.3), el.laplace(epsilon=0.4)), el.subsample(el.laplace(epsilon=1.0), 0.3),
        el.subsample(el.gaussian(psi=1.0), 0.2), el.subsample(el.laplace(epsilon=1.0), 0.3, neighbours="replace"),
        el.differencing(epsilon=1.0), el.differencing(epsilon=1.0, known=True), el.geometric(epsilon=0.9),
        el.group(el.laplace(epsilon=0.5), 3), el.group(el.gaussian(psi=0.5), 3), el.laplace(epsilon=1.0).repeat(4),
        el.noisy_max(epsilon=0.8),
    ]  # fmt: skip
    asked: tuple[tuple[str, dict[str, float]], ...] = (
        ("success", {}), ("success", {"prior": 0.1}), ("advantage", {}), ("auc", {}), ("epsilon", {"delta": 1e-4}),
        ("delta", {"epsilon": 0.5}), ("posterior", {"prior": 0.3}), ("recall", {"fpr": 0.02}), ("psi", {}), ("kl", {}),
        ("renyi", {"order": 3.0}), ("tradeoff", {"alpha": 0.1}), ("precision", {"alpha": 0.1, "prior": 0.2}),
    )  # fmt: skip
    for e in built:
        for way in (e, e.reverse()):
            for name, arguments in asked:
                try:
                    yield name, float(getattr(way, name)(**arguments))
                except (EpsilensError, TypeError, AttributeError) as error:
                    yield name, type(error).__name__


def _plain(value: Any) -> str:
    """Numbers to eleven digits: the last ones are rounding."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, float):
        return f"{value:.11g}" if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{_plain(k)}:{_plain(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_plain, value)) + "]"
    return _plain(vars(value)) if hasattr(value, "__dataclass_fields__") and hasattr(value, "__dict__") else str(value)


def _written(part: Callable[[], Iterator[Any]]) -> Callable[[], Iterator[str]]:
    return lambda: (hashlib.sha256(_plain(value).encode()).hexdigest()[:16] for value in part())


#: The numbers in parts, each as a mark of its digits.
PARTS = {part.__name__[1:]: _written(part) for part in (_accounts, _plans, _laws, _tables)}


if len(ASKED) < 5:
    raise AssertionError("the tables of the cells have too few queries to judge by")
