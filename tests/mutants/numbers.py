"""Numbers that the code under mutation decides: a change that leaves all of them alone may be the same program.

Cells and answers of a crowded table, what moves, every risk, promises and charges of plans with every word; accounts
with limits; readings of every closed law. Nothing random, and a few seconds in all.
"""

from __future__ import annotations

import hashlib
import math
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from tests.plan.test_cells import ASKED, LIMITED, SCHEMA, crowd, plain_rows, planned

import epsilens as el
from epsilens.assessment.adversaries import Setting, met_adversaries
from epsilens.assessment.provenance import plan_guarantee
from epsilens.assessment.risks import group_risks, sample_people
from epsilens.data.tables.table import open_table
from epsilens.errors import EpsilensError
from epsilens.ledger.budget import charge_of
from epsilens.ledger.ledger import Reservation
from epsilens.plan.answers import TableAnswers, answers_of
from epsilens.plan.cells import cells, cells_of_rows
from epsilens.plan.file import read_release
from epsilens.publish.answers import Drawing, draw_answers, drawings_of

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


def _rows(name: str) -> Iterator[Any]:
    yield cells_of_rows(planned(LIMITED[name]), SCHEMA)(plain_rows(crowd(5, 120)))


def _table(name: str) -> Iterator[Any]:
    plan = planned(LIMITED[name])
    with open_table(crowd(5, 120)) as opened:
        yield cells(opened, plan)
        yield answers_of(opened, plan)
        yield sample_people(TableAnswers(opened, plan), 40)


def _plans(said: dict[str, Any]) -> Iterator[Any]:
    plan = _plan(said)
    setting = Setting(plan, supposed=True)
    for adversary in met_adversaries(setting):
        facing = adversary.facing(setting, plan.epsilon)
        yield adversary.key, facing.read(adversary.reading, dict(adversary.arguments(setting)))
    promise = plan_guarantee(plan)
    yield promise.charge.to_dict(), promise.delta, promise.success, group_risks(plan, plan.epsilon)
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
        return draw_answers(plan, drawings, exact)
    finally:
        Drawing.draw, Drawing.draw_names = drawn, named  # type: ignore[method-assign]


LIMITS: tuple[dict[str, Any], ...] = (
    {"success": 0.7, "delta": 1e-4, "partition": "site"}, {"epsilon": 1.0, "delta": 1e-4},
    {"psi": 0.6, "delta": 1e-5}, {"rho": 0.3, "epsilon": 2.0, "delta": 1e-3}, {},
)  # fmt: skip


def _account(given: dict[str, Any]) -> Iterator[Any]:
    built = (
        (el.laplace(epsilon=0.1), 1e-6, 0.0), (el.gaussian(psi=0.2), 0.0, 1e-6), (el.laplace(epsilon=0.05), 0.0, 1e-6),
        (el.mechanisms.geometric(epsilon=0.15), 1e-7, 1e-7), (el.laplace(epsilon=0.02).repeat(3), 0.0, 0.0),
    )  # fmt: skip
    charges = [charge_of(noise, delta=delta, at_delta=at) for noise, delta, at in built]
    yield from charges
    with tempfile.TemporaryDirectory() as folder:
        ledger = el.Ledger(f"{folder}/ledger.db")
        if given:
            ledger.limit("people", **given)
        parted = "partition" in given
        for turn, (noise, delta, at) in enumerate(built):
            ledger.add("people", noise, delta=delta, at_delta=at, part="north" if parted and turn == 1 else None)
        if given.get("epsilon"):
            ledger.limit("people", **{**given, "epsilon": 3.0})
        for part, plan in [("north", {"p": 1}), (None, {"a": 1})] if parted else [(None, {"a": 1})]:
            taken = ledger.reserve("people", built[0][0], charges[0], plan=plan, data="d", part=part)
            if isinstance(taken, Reservation):
                yield taken.publish(answers=[1]) != ""
        yield ledger.saved("people", {"a": 1}) is not None, ledger.saved("people", {"a": 2}) is None
        account = ledger.account("people")
        yield account.spent, account.promised(), account.promised("delta", epsilon=0.5), account.over
        yield account.raised, account.late, account.limits and account.limits.to_dict()
        for charge in charges:
            yield account.more(charge), account.after(charge), parted and account.more(charge, "south")
            yield parted and account.after(charge, "north")
        for count in (0, 1, 3, None):
            yield account.so_far(count=count), account.so_far("advantage", count)
        yield [(t.line, t.what) for t in ledger.check()], [one["kind"] for one in ledger.export("people")]
        for size in (0.2, 0.9, 4.0):
            for plan in ({"a": 1}, {"b": int(10 * size)}):
                try:
                    more = el.laplace(epsilon=size)
                    yield type(ledger.reserve("people", more, charge_of(more), plan=plan, data="d")).__name__
                except EpsilensError as error:
                    yield str(error)
        try:
            yield ledger.reserve("others", built[0][0], charges[0], plan={"c": 1}, data="d") is not None
        except EpsilensError as error:
            yield str(error)


#: Every closed law, alone.
ALONE = (
    "el.laplace(epsilon=0.7)", "el.laplace(epsilon=1e-6)", "el.laplace(epsilon=40.0)", "el.gaussian(psi=0.8)",
    "el.gaussian(psi=9.0)", "el.laplace(epsilon=1.0).repeat(4)", "el.subsample(el.laplace(epsilon=1.0), 0.3)",
    "el.compose(el.laplace(epsilon=0.3), el.laplace(epsilon=0.4))", "el.subsample(el.gaussian(psi=1.0), 0.2)",
    "el.subsample(el.laplace(epsilon=1.0), 0.3, neighbours='replace')", "el.attacks.differencing(epsilon=1.0)",
    "el.attacks.differencing(epsilon=1.0, known=True)", "el.mechanisms.geometric(epsilon=0.9)",
    "el.group(el.laplace(epsilon=0.5), 3)",
    "el.group(el.gaussian(psi=0.5), 3)", "el.mechanisms.noisy_max(epsilon=0.8)", "el.laplace(epsilon=1.0, stretch=1.5)",
    "el.laplace(epsilon=1.0, stretch=0.5)", "el.mechanisms.exponential(epsilon=1.3)",
    "el.attacks.differencing(epsilon=1.0, queries=3)",
    "el.attacks.differencing(epsilon=1.0, noise='gaussian', delta=1e-5)",
    "el.attacks.tampering(sigma=2.0, bias=3.0, stretch=2.0)",
    "el.attacks.tampering(epsilon=1.0, bias=-3.0, stretch=1.7)",
)  # fmt: skip
#: And steps of them composed, of which fewer readings are asked: they are searched for.
COMPOSED = (
    "el.mechanisms.exponential(epsilon=0.5).repeat(3)", "el.mechanisms.noisy_max(epsilon=0.5).repeat(2)",
    "el.mechanisms.top_k(epsilon=0.5, k=2)",
    "el.compose(el.laplace(epsilon=0.5), el.gaussian(psi=0.5))",
    "el.mechanisms.mixture(shifts=[0, 1, 2], weights=[0.81, 0.18, 0.01], sigma=1.0)",
    "el.group(el.subsample(el.gaussian(psi=1.0), 0.2), 3)", "el.dpsgd(sigma=1.0, rate=0.01, steps=50)",
    "el.dpsgd(sigma=1.0, n=100, batch=10, steps=10, batches='with replacement')",
    "el.dpsgd(sigma=2.0, n=100, batch=10, steps=10, batches='fixed', neighbours='replace')",
    "el.group(el.subsample(el.gaussian(psi=1.0), 0.2, neighbours='replace'), 2)",
    "el.subsample(el.gaussian(psi=1.0), 0.2, neighbours='replace').repeat(2)",
    "el.subsample(el.laplace(epsilon=1.0), 0.2, neighbours='replace').repeat(2)",
    "el.dpsgd(n=3, batch=1, batches='shuffled', schedule={'sigma': [2.0, 0.5], 'steps': [2, 2]})",
    "el.subsample(el.mechanisms.exponential(epsilon=1.0), 0.3)", "el.subsample(el.laplace(epsilon=0.5), 0.1).repeat(5)",
)  # fmt: skip
FEW: tuple[tuple[str, dict[str, float]], ...] = (
    ("success", {}), ("success", {"prior": 0.1}), ("advantage", {}), ("epsilon", {"delta": 1e-4}),
    ("delta", {"epsilon": 0.5}), ("renyi", {"order": 3.0}), ("tradeoff", {"fpr": 0.1}),
)  # fmt: skip
MORE: tuple[tuple[str, dict[str, float]], ...] = (
    ("auc", {}), ("posterior", {"prior": 0.3}), ("roc", {"fpr": 0.02}), ("psi", {}), ("kl", {}), ("chernoff", {}),
    ("mu", {"level": 0.05}), ("precision", {"fpr": 0.1, "prior": 0.2}), ("renyi", {"order": 0.5}),
    ("tradeoff", {"fpr": 0.9}),
)  # fmt: skip


def _law(code: str) -> Iterator[Any]:
    e = eval(code, {"el": el})
    for way in (e, e.reverse()):
        for name, arguments in FEW if code in COMPOSED else (*FEW, *MORE):
            try:
                yield name, float(getattr(way, name)(**arguments))
            except EpsilensError as error:
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
PARTS = {
    name: _written(part)
    for name, part in {
        **{code: partial(_law, code) for code in (*ALONE, *COMPOSED)},
        **{f"account {k}": partial(_account, given) for k, given in enumerate(LIMITS)},
        **{f"plan {k}": partial(_plans, said) for k, said in enumerate(PLANS)},
        **{f"rows, {name}": partial(_rows, name) for name in LIMITED},
        **{f"table, {name}": partial(_table, name) for name in ("two columns tell it", "unit", "rows")},
    }.items()
}


if len(ASKED) < 5:
    raise AssertionError("the tables of the cells have too few queries to judge by")
