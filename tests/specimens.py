"""One experiment of every kind, and one result of every kind: lists that tests of all of them go through."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import epsilens as el
from epsilens import correlated, notions
from epsilens.ledger.account import Spending, serialize
from epsilens.ledger.budget import charge_of
from epsilens.ledger.store import EntryKind

CHANNEL = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]]
EVEN = [0.25] * 4
THREE = [[1, 0.5, 0.2], [0.5, 1, 0.3], [0.2, 0.3, 1]]
BITS = [[[0.2, 0.1], [0.05, 0.15]], [[0.1, 0.1], [0.1, 0.2]]]
PERSISTENT = [[0.9, 0.1], [0.2, 0.8]]
COPIES = [[0.85, 0.15], [0.15, 0.85]]
PEOPLE = [3, 7, 7, 1, 12, 0, 5, 9, 30, 2]


def _records() -> Any:
    return correlated.normal(THREE)


def _table() -> Any:
    return correlated.table(BITS, weights=[1, 2, 1])


def _chain() -> Any:
    return correlated.chain([2 / 3, 1 / 3], PERSISTENT, 4)


def _tree() -> Any:
    return correlated.tree([3, 3, 3, -1], [0.5, 0.5], [COPIES, COPIES, COPIES, None], values=[[0, 1]] * 3 + [[0, 0.2]])


def _account() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        ledger = el.Ledger(f"{folder}/ledger.db")
        ledger.limit("patients", success=0.65, delta=1e-6)
        noise = el.laplace(epsilon=0.1)
        body = {"parts": serialize(noise), "at": "2026-01-15T10:00:00", "by": "me"}
        one = Spending("1", "visits", EntryKind.ADDED, charge_of(noise), body)
        return replace(ledger.account("patients"), releases=(one,), limited=(), head="")


#: Experiments of every builder, by a name for the test's own report.
EXPERIMENTS: Mapping[str, Callable[[], el.Experiment]] = {
    "laplace": lambda: el.laplace(epsilon=1.0),
    "laplace, replaced": lambda: el.laplace(scale=2.0, sensitivity=3.0, shift=1.25, neighbours="replace"),
    "laplace, stretched": lambda: el.laplace(epsilon=1.0, stretch=1.5),
    "laplace, shrunk": lambda: el.laplace(epsilon=1.0, stretch=0.5),
    "laplace, many": lambda: el.laplace(epsilon=[0.1, 1.0, 3.0]),
    "laplace, a grid": lambda: el.laplace(epsilon=[[0.1], [1.0]], sensitivity=[1.0, 2.0], shift=1.0),
    "laplace, nothing moves": lambda: el.laplace(epsilon=1.0, shift=0.0),
    "gaussian": lambda: el.gaussian(psi=1.0),
    "gaussian, many": lambda: el.gaussian(sigma=[0.5, 2.0]),
    "gaussian, calibrated": lambda: el.gaussian(epsilon=1.0, delta=1e-5),
    "geometric": lambda: el.mechanisms.geometric(epsilon=0.5, sensitivity=3, shift=2),
    "discrete gaussian": lambda: el.mechanisms.discrete_gaussian(sigma=2.0),
    "skellam": lambda: el.mechanisms.skellam(variance=4.0, sensitivity=2),
    "fixed batches": lambda: el.dpsgd(sigma=1.0, n=100, batch=10, epochs=2, batches="fixed"),
    "fixed batches, replaced": lambda: el.dpsgd(
        sigma=1.0, n=100, batch=10, epochs=2, batches="fixed", neighbours="replace"
    ),
    "truncated batches": lambda: el.dpsgd(
        sigma=1.0, n=100, batch=10, steps=20, batches="truncated", truncation=15
    ),
    "shuffled batches": lambda: el.dpsgd(sigma=1.0, n=100, batch=10, epochs=2, batches="shuffled"),
    "staircase": lambda: el.mechanisms.staircase(epsilon=1.0),
    "randomized response": lambda: el.mechanisms.randomized_response(epsilon=1.0, k=3),
    "unary": lambda: el.mechanisms.unary(epsilon=1.0),
    "unary, symmetric": lambda: el.mechanisms.unary(epsilon=1.0, kind="symmetric"),
    "hadamard response": lambda: el.mechanisms.hadamard_response(epsilon=2.0),
    "sketch": lambda: el.mechanisms.count_mean_sketch(epsilon=2.0, collision=0.1),
    "sketch, hadamard": lambda: el.mechanisms.count_mean_sketch(epsilon=2.0, hadamard=True),
    "rappor": lambda: el.mechanisms.rappor(f=0.5, reports=5),
    "rappor, for good": lambda: el.mechanisms.rappor(f=0.5, reports=None),
    "shuffled": lambda: el.mechanisms.shuffled(1.0, n=20),
    "shuffled response": lambda: el.mechanisms.shuffled(el.mechanisms.randomized_response(epsilon=1.0, k=3), n=20),
    "shuffled, two answers": lambda: el.mechanisms.shuffled(el.mechanisms.randomized_response(epsilon=1.0), n=20),
    "exponential": lambda: el.mechanisms.exponential(scores0=[1, 2, 3], scores1=[1, 2, 4], epsilon=1.0),
    "exponential, any scores": lambda: el.mechanisms.exponential(epsilon=1.0),
    "exponential, twice": lambda: el.mechanisms.exponential(epsilon=1.0).repeat(2),
    "noisy max": lambda: el.mechanisms.noisy_max(epsilon=1.0),
    "noisy max, gumbel": lambda: el.mechanisms.noisy_max(scale=2.0, noise="gumbel", monotonic=True),
    "permute and flip": lambda: el.mechanisms.permute_and_flip(epsilon=1.0),
    "top k": lambda: el.mechanisms.top_k(epsilon=0.5, k=5),
    "sparse vector": lambda: el.mechanisms.sparse_vector(threshold_scale=2.0, query_scale=4.0),
    "repeat and select": lambda: el.mechanisms.repeat_and_select(el.gaussian(sigma=4.0), mean=10),
    "matrix": lambda: el.mechanisms.matrix(el.mechanisms.sqrt_prefix(12), 1.0, 3, 3),
    "matrix, bound": lambda: el.mechanisms.matrix([[1.0, 0.0, 0.0], [-0.5, 1.0, 0.0], [0.2, -0.5, 1.0]], 1.0, 2),
    "matrix, drawn": lambda: el.mechanisms.matrix(el.mechanisms.sqrt_prefix(100, 4), 2.0, rate=0.01),
    "binary tree": lambda: el.mechanisms.tree(16, 2.0, 2, 8),
    "banded": lambda: el.mechanisms.banded(sigma=2.0, rate=0.01, bands=4, steps=100),
    "mixture": lambda: el.mechanisms.mixture(shifts=[0, 1, 2], weights=[0.81, 0.18, 0.01], sigma=2.0),
    "training, a group": lambda: el.dpsgd(sigma=2.0, rate=0.01, steps=100, people=3),
    "training, a group replaced": lambda: el.dpsgd(sigma=2.0, rate=0.01, steps=100, people=3, neighbours="replace"),
    "with replacement": lambda: el.dpsgd(sigma=2.0, n=1000, batch=10, epochs=1, batches="with replacement"),
    "with replacement, replaced": lambda: el.dpsgd(
        sigma=2.0, n=1000, batch=10, steps=20, batches="with replacement", neighbours="replace"
    ),
    "pure": lambda: el.mechanisms.pure(epsilon=1.0),
    "approximate": lambda: el.mechanisms.approximate(epsilon=1.0, delta=1e-5),
    "finite": lambda: el.mechanisms.finite([0.5, 0.5, 0.0], [0.0, 0.6, 0.4]),
    "finite, reversed": lambda: el.mechanisms.finite([0.5, 0.3, 0.2], [0.2, 0.1, 0.7]).reverse(),
    "from dp": lambda: el.mechanisms.from_dp([0.5, 1.0, 2.0], [1e-2, 1e-4, 1e-7]),
    "from gdp": lambda: el.mechanisms.from_gdp(1.0),
    "from zcdp": lambda: el.mechanisms.from_zcdp(0.1, 0.2),
    "claim": lambda: el.claim(epsilon=2.0, delta=1e-5, n=1000, batch=10, epochs=1),
    "claim, a deployment": lambda: el.claim("apple-emojis"),
    "from rdp": lambda: el.mechanisms.from_rdp([1.5, 2.0, 4.0, 16.0], [0.05, 0.1, 0.25, 1.2]),
    "differencing": lambda: el.attacks.differencing(epsilon=1.0),
    "differencing, known": lambda: el.attacks.differencing(epsilon=1.0, known=True),
    "differencing, gaussian": lambda: el.attacks.differencing(epsilon=1.0, noise="gaussian", delta=1e-6),
    "differencing, geometric": lambda: el.attacks.differencing(epsilon=1.0, noise="geometric"),
    "differencing, four": lambda: el.attacks.differencing(epsilon=1.0, queries=4),
    "average": lambda: el.attacks.differencing_average(epsilon=1.0, n=10, value=8.0, mean=4.0, bounds=(0, 10)),
    "median": lambda: el.attacks.differencing_median(epsilon=1.0, values=[1, 4, 6, 7, 9], target=8.0, bounds=(0, 10)),
    "tampering": lambda: el.attacks.tampering(epsilon=1.0, bias=-3.0),
    "tampering, stretched": lambda: el.attacks.tampering(sigma=2.0, bias=3.0, stretch=2.0),
    "worst pair": lambda: el.attacks.worst_pair([0, 1, 4], epsilon=1.0).experiment,
    "worst pair of a channel": lambda: el.attacks.worst_pair(["a", "b", "c"], channel=CHANNEL).experiment,
    "above": lambda: el.attacks.above(1, EVEN, [0, 1, 2, 3], epsilon=1.0, sensitivity=3.0).experiment,
    "above, gaussian": lambda: el.attacks.above(1.5, EVEN, [0, 1, 2, 7], noise="gaussian", sigma=1.0).experiment,
    "vector": lambda: el.mechanisms.vector(epsilon=1.0, q=5).experiment,
    "vector, unlike": lambda: el.mechanisms.vector(epsilon=1.0, shifts=[0.2, 0.3, 0.5]).experiment,
    "vector, many": lambda: el.mechanisms.vector(epsilon=1.0, q=40).experiment,
    "normal records": lambda: _records().experiment(0, [1], scale=2.0),
    "normal records, gaussian": lambda: _records().experiment(0, [1, 2], sigma=2.0),
    "table": lambda: _table().experiment(0, {1: 1}, scale=1.0),
    "table, gaussian": lambda: _table().experiment(0, sigma=1.0),
    "chain": lambda: _chain().experiment(1, scale=1.0),
    "tree": lambda: _tree().experiment(0, {1: 1}, scale=1.0),
    "normal twice": lambda: el.compose(el.gaussian(psi=3.0), el.gaussian(psi=4.0)),
    "laplace twice": lambda: el.laplace(epsilon=0.5).repeat(2),
    "laplace often": lambda: el.laplace(epsilon=0.1).repeat(30),
    "composed": lambda: el.compose(el.laplace(epsilon=0.5), el.gaussian(psi=0.5)),
    "composed, reversed": lambda: el.compose(el.mechanisms.geometric(epsilon=0.5), el.laplace(epsilon=0.5)).reverse(),
    "composed finite": lambda: el.mechanisms.randomized_response(epsilon=1.0).repeat(3),
    "composed claims": lambda: el.compose(el.mechanisms.from_dp(0.5, 1e-6), el.mechanisms.from_gdp(0.3)),
    "composed bounds": lambda: el.mechanisms.from_gdp(0.3).repeat(2),
    "composed staircase": lambda: el.compose(el.mechanisms.staircase(epsilon=0.5), el.laplace(epsilon=0.5)),
    "sampled": lambda: el.subsample(el.laplace(epsilon=1.0), 0.1),
    "sampled, replaced": lambda: el.subsample(el.gaussian(psi=1.0), 0.1, neighbours="replace"),
    "sampled claim": lambda: el.subsample(el.mechanisms.from_gdp(1.0), 0.1),
    "group": lambda: el.group(el.gaussian(psi=0.5), 3),
    "group of a claim": lambda: el.group(el.mechanisms.from_zcdp(0.02), 3),
    "group of a composition": lambda: el.group(el.compose(el.laplace(epsilon=0.1), el.gaussian(psi=0.1)), 3),
    "training": lambda: el.dpsgd(sigma=1.0, rate=0.01, steps=100),
    "training, many": lambda: el.dpsgd(sigma=[1.0, 2.0], rate=0.01, steps=20),
    "training on a schedule": lambda: el.dpsgd(rate=0.01, schedule={"sigma": [1.0, 2.0], "steps": [20, 30]}),
    "geometric, many": lambda: el.mechanisms.geometric(epsilon=[0.5, 1.0]),
    "gaussian, many calibrated": lambda: el.gaussian(epsilon=[0.5, 1.0], delta=1e-5),
    "training, replaced": lambda: el.dpsgd(sigma=1.0, rate=0.01, steps=20, neighbours="replace"),
    "training and more": lambda: el.compose(el.dpsgd(sigma=2.0, rate=0.01, steps=20), el.laplace(epsilon=0.1)),
}  # fmt: skip

#: What else the library hands out.
RESULTS: Mapping[str, Callable[[], Any]] = {
    "choice": lambda: el.choose(el.laplace, "epsilon", at_most=0.55),
    "choices": lambda: el.choose(el.laplace, "epsilon", at_most=[0.55, 0.6]),
    "sweep": lambda: el.sweep(el.laplace, epsilon=[0.5, 1.0], reading=["success", "psi"]),
    "comparison": lambda: el.compare({"one": el.laplace(epsilon=1.0), "two": el.gaussian(psi=1.0)}),
    "choice by search": lambda: el.choose(el.mechanisms.staircase, "epsilon", at_most=0.6),
    "choice of nothing": lambda: el.choose(el.laplace, "epsilon", at_most=1.0),
    "choice among records": lambda: _table().choose(at_most=0.9, reading="success"),
    "choice among normal records": lambda: _records().choose(at_most=1.0, reading="leakage"),
    "knowledge": lambda: el.attacks.Knowledge.from_prior(0.3),
    "knowledge of values": lambda: el.attacks.Knowledge.from_values([0.2, 0.3, 0.5], ["a", "b", "c"]),
    "knowledge by coefficients": lambda: el.attacks.Knowledge.from_coefficients(
        rho_p=0.3, rho_c=0.1, positive="less likely"
    ),
    "informed": lambda: el.attacks.Knowledge.from_prior(0.3).of(el.laplace(epsilon=1.0)),
    "above": lambda: el.attacks.above(1, EVEN, [0, 1, 2, 3], epsilon=1.0),
    "worst pair": lambda: el.attacks.worst_pair([0, 1, 4], epsilon=1.0, prior=[0.2, 0.3, 0.5]),
    "vector": lambda: el.mechanisms.vector(epsilon=1.0, q=3),
    "mistaken": lambda: el.attacks.mistaken(el.laplace(epsilon=2.0), prior=0.2, believed_prior=0.5),
    "mistaken, nobody flagged": lambda: el.attacks.mistaken(el.laplace(epsilon=0.1), prior=0.2, believed_prior=1e-9),
    "mistaken, many": lambda: el.attacks.mistaken(el.laplace(epsilon=2.0), prior=[0.2, 0.5], believed_prior=0.5),
    "observed": lambda: el.attacks.observed(fpr=0.1, tpr=0.27),
    "observed, many": lambda: el.attacks.observed(fpr=[0.1, 0.0], tpr=[0.27, 0.5]),
    "identification": lambda: el.attacks.identify(PEOPLE, epsilon=1.0),
    "identification, bound": lambda: el.attacks.identify(n=120, value_range=(0, 60), at_most=0.1),
    "tampering": lambda: el.attacks.tampering(epsilon=1.0, bias=1.0),
    "rule": lambda: el.attacks.tampering(epsilon=1.0, bias=1.0).one_sided(0.1),
    "rules": lambda: el.attacks.tampering(epsilon=1.0, bias=1.0).two_sided([0.01, 0.1]),
    "detection": lambda: el.attacks.detect(106.0, 100.0, epsilon=1.0, bias=3.0),
    "detection, one side": lambda: el.attacks.detect(106.0, 100.0, epsilon=1.0, side="above"),
    "series": lambda: el.attacks.detect_series([101.0, 99.5, 112.0], 100.0, epsilon=1.0),
    "normal records": _records,
    "table": _table,
    "chain": _chain,
    "tree": _tree,
    "worst adversary": lambda: _table().worst(scale=1.0),
    "worst normal adversary": lambda: _records().worst(sigma=1.0),
    "adversary": lambda: _records().adversary(0, [1]),
    "contribution": lambda: _records().contributions(scale=1.0)[0],
    "over time": lambda: correlated.temporal(PERSISTENT, 0.1, 10),
    "mechanism of a notion": lambda: notions.randomized_response(1.0, sum, 2),
    "promise": lambda: notions.promise("dp", 0.5, "ip", records=3),
    "conversion": lambda: notions.convert("ip", 0.5, records=3),
    "conditions": lambda: notions.Conditions(records=3),
    "account": _account,
    "audit": lambda: el.audit(lambda d: d, 0, 1, claim=1.0, runs=60, seed=1),
    "audit, nothing varies": lambda: el.audit(lambda d: 1, 0, 1, claim="mu=1", runs=30, sequential=False, seed=1),
}
