"""Every chart there is, each with the cases that are hard to draw."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

import epsilens as el
from epsilens.attacks.tampering_power import hidden_limit
from epsilens.ledger.account import Account, Spending, serialize
from epsilens.ledger.budget import Limits, charge_of
from epsilens.ledger.store import EntryKind
from epsilens.overview import LETTERED, marked_curve, roc_curves
from epsilens.show.charts import Chart, compared_roc, marked
from epsilens.show.charts.assessment import accuracy_curve, precedent_strip, risk_curve, simulated
from epsilens.show.charts.findings import certainty_chart, known_curve, over_time, power_chart

QUERIES = [
    {"name": "Count of people with a visit", "count": "mental_visits > 0", "by": "site"},
    {"sum": "visits", "bounds": [0, 77]},
    {"average": "income", "bounds": [0, 30000]},
]
MANY = [*QUERIES, {"count": "female = 1"}, {"count": "black = 1"}, {"count": "age > 60"}, {"count": "education > 12"}]
CURVES: dict[str, tuple[el.Experiment, float, float]] = {
    "laplace": (el.laplace(epsilon=1.0), 0.5, 0.1),
    "nothing": (el.laplace(epsilon=1e-12), 0.5, 0.1),
    "certain": (el.laplace(epsilon=20.0), 0.5, 0.1),
    "gaussian": (el.gaussian(psi=1.5), 0.3, 0.02),
    "steps": (el.mechanisms.randomized_response(epsilon=1.0, k=3), 0.5, 0.1),
    "failing": (el.mechanisms.approximate(epsilon=1.0, delta=0.1), 0.5, 0.1),
    "no prior": (el.laplace(epsilon=1.0), 0.0, 0.0),
    "all prior": (el.laplace(epsilon=1.0), 1.0, 1.0),
}
KINDS = ("roc", "precision_recall", "tradeoff")
PLANS: dict[str, dict[str, Any]] = {
    "plan": {},
    "both lines end at the top": {"mechanism": {"noise": "laplace", "epsilon": 10.0}},
    "tiny": {"mechanism": {"noise": "laplace", "epsilon": 0.01}},
    "gaussian": {"mechanism": {"noise": "gaussian", "epsilon": 1.0, "delta": 1e-6}},
    "limit at the top": {"limits": {"success": 0.99}},
    "many": {"queries": MANY, "mechanism": {"noise": "laplace", "epsilon": 5.0}},
}
PLAN: dict[str, Any] = {
    "data": {"table": "epsilens:rand-hie", "person": "person", "max_rows": 5, "secret": "mental_visits > 0"},
    "queries": QUERIES,
    "mechanism": {"noise": "laplace", "epsilon": 1.0},
    "adversary": {"prior": 0.5, "belief": 0.07, "knows": "one answer"},
    "limits": {"success": 0.55, "error": 0.15},
}
OF_A_PLAN = ("risk", "accuracy", "simulated", "precedents")
SEVERAL = ("roc", "tradeoff", "precision_recall", "profile", "success", "posterior", "renyi")

NAMES = [
    *(f"{kind}: {case}" for kind in KINDS for case in CURVES),
    *(f"{kind}: {plan}" for plan in PLANS for kind in OF_A_PLAN),
    "compared", "known: few", "known: many", "certainty: bound", "certainty: exact", "power", "power: stretched",
    *(f"several: {kind}" for kind in SEVERAL), *(f"one: {kind}" for kind in SEVERAL), "sweep", "choice", "choices",
    "ledger: few", "ledger: many", "ledger: tiny", "ledger: over",
]  # fmt: skip


@pytest.fixture(scope="session")
def charts() -> dict[str, Chart]:
    made: dict[str, Chart | None] = {
        f"{kind}: {case}": marked(marked_curve(e, kind, prior, fpr))
        for kind in KINDS
        for case, (e, prior, fpr) in CURVES.items()
    }
    for name, changes in PLANS.items():
        a = el.assess({**PLAN, **changes})
        q = a.simulated_query
        assert q is not None
        drawn = (risk_curve(a), accuracy_curve(a), simulated(a, q, a.epsilon), precedent_strip(a))
        made |= {f"{kind}: {name}": chart for kind, chart in zip(OF_A_PLAN, drawn, strict=True)}
    settings = [(letter, el.laplace(epsilon=e)) for letter, e in zip("abcd", (1.0, 0.2, 3.0, 0.6), strict=True)]
    made["compared"] = compared_roc(roc_curves(settings, 0.1, LETTERED), 0.1)
    levels = [1, 1.5, 2.2, 1.9, 1.4, 1.1]
    made["known: few"] = known_curve(levels, independent=1.0, group=2.6, top=2.5, upper=2.4, title="Worst ψ")
    many = list(1 + 0.5 * np.sin(np.arange(41) / 41 * 3))
    made["known: many"] = known_curve(many, independent=1.0, title="How many times as much one answer tells")
    made["certainty: bound"] = certainty_chart(
        el.attacks.identify(n=120, value_range=(0, 60), sensitivity=121, epsilon=5.0)
    )
    made["certainty: exact"] = certainty_chart(el.attacks.identify([1, 2, 3, 4, 9], epsilon=1.0, sensitivity=3))
    made["power"] = power_chart(hidden_limit({"noise": "laplace", "scale": 1.0}, 1.0, 0.05, 0.5))
    made["power: stretched"] = power_chart(hidden_limit({"noise": "laplace", "scale": 1.0}, 2.0, 0.2, 0.5))
    others = [
        el.gaussian(psi=1.0),
        el.mechanisms.approximate(epsilon=1.0, delta=1e-3),
        el.mechanisms.randomized_response(epsilon=2.0),
    ]
    for kind in SEVERAL:
        made[f"several: {kind}"] = cast(Chart, el.laplace(epsilon=1.0).chart(kind, against=others))
        made[f"one: {kind}"] = cast(Chart, el.laplace(epsilon=1.0).chart(kind))
    swept = el.sweep(el.laplace, epsilon=np.geomspace(0.1, 5, 20), sensitivity=[1.0, 2.0])
    made["sweep"] = cast(Chart, swept.chart())
    made["choice"] = cast(Chart, el.choose(el.laplace, "epsilon", at_most=0.55).chart())
    made["choices"] = cast(Chart, el.choose(el.laplace, "epsilon", at_most=[0.55, 0.6, 0.7]).chart())
    made["ledger: few"] = over_time(_account(0.2, 3, 0.8))
    made["ledger: many"] = over_time(_account(0.1, 40, None))
    made["ledger: tiny"] = over_time(_account(1e-4, 1, 0.01))
    made["ledger: over"] = over_time(_account(3.0, 2, 0.5))
    return {name: chart for name, chart in made.items() if chart is not None}


def _account(epsilon: float, count: int, psi: float | None) -> Account:
    noise = el.laplace(epsilon=epsilon)
    body = {"parts": serialize(noise), "at": "2026-01-15T10:00:00"}
    limits = None if psi is None else Limits(psi=psi)
    each = [Spending(str(k), f"round {k}", EntryKind.ADDED, charge_of(noise), body) for k in range(count)]
    return Account("patients", limits, limits, releases=tuple(each))


@pytest.fixture(params=NAMES)
def chart(request: pytest.FixtureRequest, charts: dict[str, Chart]) -> Chart:
    return charts[request.param]
