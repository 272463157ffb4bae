"""Every implication by brute force on random mechanisms and priors; every refuted claim by its example."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.notions import naive

import epsilens as el
from epsilens import notions as n
from epsilens.notions import implications

_EPSILON: dict[str, Callable[..., float]] = {
    "dp": lambda m, p: n.dp(m),
    "blowfish": lambda m, p: n.blowfish(m),
    "pufferfish": n.pufferfish,
    "ddp": n.dependent,
    "ip": n.inferential,
    "ip-database": lambda m, p: n.inferential(m, p, level="database"),
    "mp": n.membership,
    "mp-database": lambda m, p: n.membership(m, p, level="database"),
    "mi": n.mutual_information,
    "mi-marginal": lambda m, p: n.mutual_information(m, p, given="nothing"),
}


def measured(m: n.Mechanism, p: Any) -> dict[str, float]:
    return {key: epsilon(m, p) for key, epsilon in _EPSILON.items()}


def conditions(m: n.Mechanism, p: Any, **more: Any) -> n.Conditions:
    largest = max(len(g) for g in n.dependent_groups(m, p))
    return n.Conditions(dependent=largest, records=m.records, full=bool(np.all(np.asarray(p) > 0)), **more)


def least(m: n.Mechanism, p: Any) -> float:
    """The smallest probability of a value of a record that has any, or of all its others."""
    grid = m.prior(p)
    found = []
    for i in range(m.records):
        total = np.moveaxis(grid, i, 0).reshape(grid.shape[i], -1).sum(axis=1)
        found += [min(q, 1 - q) for q in total.tolist() if 0 < q < 1 - 1e-12]
    return min(found, default=0.0) * (1 - 1e-12)


def check(values: dict[str, float], c: n.Conditions, chains: bool = False) -> None:
    for row in n.IMPLICATIONS:
        if row.holds(c):
            before, after = values[row.source], values[row.target]
            promised = row.promised(before, c) if before < 1e9 else math.inf
            assert after <= promised * (1 + 1e-9) + 1e-12, (row.source, row.target, before, after, c)
    for given in n.NOTIONS:
        if values[given] > 1e4 or not chains:
            continue
        for key, made in n.promises(given, values[given], **{k: getattr(c, k) for k in c.__slots__}).items():
            if not isinstance(made, str):
                assert values[key] <= made.promised_epsilon * (1 + 1e-9) + 1e-12, (given, key, c)


@pytest.mark.parametrize("kind", naive.KINDS)
@pytest.mark.parametrize("seed", range(20))
def test_under_one_prior(seed: int, kind: str) -> None:
    rng = np.random.default_rng([seed, 7, naive.KINDS.index(kind)])
    m = naive.mechanism(rng, zeros=seed % 5 == 0)
    p = naive.prior(rng, m, kind)
    values = measured(m, p)
    check(values, conditions(m, p), chains=True)
    check(values, conditions(m, p, least=least(m, p)))
    # Blowfish with the prior's possible databases for its constraint, and any graph
    possible = [d for d, q in zip(m.databases, p, strict=True) if q > 0]
    check(values | {"blowfish": n.blowfish(m, None, possible)}, conditions(m, p, constrained=True))
    edges = [(0, 1), (1, 2)]
    steps = max(n.diameter(v, edges) for v in m.values)
    check(values | {"blowfish": n.blowfish(m, edges)}, conditions(m, p, diameter=steps))
    few = values | {"blowfish": n.blowfish(m, [(0, 2)], possible)}
    check(few, conditions(m, p, constrained=True, diameter=math.inf))
    # Pufferfish with secrets of any kind
    marks = rng.integers(0, 3, len(m.databases))
    secrets = {str(k): [d for d, mark in zip(m.databases, marks, strict=True) if mark == k] for k in range(3)}
    other = values | {"pufferfish": n.pufferfish(m, p, {k: v for k, v in secrets.items() if v})}
    check(other, conditions(m, p, secrets="any"))


def worst_priors(m: n.Mechanism, k: int, rng: np.random.Generator) -> list[Any]:
    """Priors whose groups have at most k records: nearly all mass on one of two databases, others fixed; and random."""
    made: list[Any] = []
    for i, d in enumerate(m.databases):
        for j, e in enumerate(m.databases):
            if i != j and len(naive.differ(d, e)) <= k:
                for q in (0.5, 1e-9):
                    p = np.zeros(len(m.databases))
                    p[i], p[j] = q, 1 - q
                    made.append(p)
    return made + [naive.prior(rng, m, "independent") for _ in range(20)]


@pytest.mark.parametrize("seed", range(8))
def test_for_every_prior(seed: int) -> None:
    """The largest ε over a class of priors, approached by the priors the proofs name."""
    rng = np.random.default_rng([seed, 11])
    m = next(m for m in iter(lambda: naive.mechanism(rng), None) if 4 <= len(m.databases) <= 9)
    for k in range(1, m.records + 1):
        priors = worst_priors(m, k, rng)
        values = {key: max(_EPSILON[key](m, p) for p in priors) for key in n.NOTIONS if key != "mi-marginal"}
        # independent records: the ε of differential privacy itself; k dependent ones: databases that differ in k
        group = naive.dependent(m, np.ones(len(m.databases)), [tuple(range(m.records))], k)
        for key in ("ip", "ddp", "pufferfish"):
            assert values[key] == pytest.approx(group, rel=1e-9)
        assert values["mp"] == pytest.approx(group, rel=1e-5)  # a limit: the rarer value has prior 1e-9
        if k == 1:
            assert values["ip"] == pytest.approx(n.dp(m), rel=1e-9)
        assert n.dp(m) <= group * (1 + 1e-12) <= k * n.dp(m) * (1 + 1e-9)
        c = n.Conditions("every", dependent=k, records=m.records)
        for row in n.IMPLICATIONS:
            if row.holds(c) and "mi-marginal" not in (row.source, row.target) and "database" not in row.target:
                assert values[row.target] <= row.promised(values[row.source], c) * (1 + 1e-5) + 1e-12
        assert values["mi"] <= implications.information_from_odds(n.dp(m)) + 1e-12


def test_information_given_others_is_a_case_of_every_prior() -> None:
    """The row mi-marginal → mi: fixing the others is itself a prior, and the average does not exceed the largest."""
    rng = np.random.default_rng(5)
    for _ in range(5):
        m = naive.mechanism(rng)
        p = naive.prior(rng, m, "any")
        fixed = 0.0
        for i in range(m.records):
            for d in m.databases:
                some = np.array([q if [j for j in naive.differ(d, e) if j != i] == [] else 0.0
                                 for e, q in zip(m.databases, p, strict=True)])  # fmt: skip
                fixed = max(fixed, n.mutual_information(m, some / some.sum(), given="nothing"))
        assert n.mutual_information(m, p) <= fixed + 1e-12


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0])
def test_factors_are_reached(epsilon: float) -> None:
    """No factor of the table can be smaller."""
    k = 3
    m = n.noisy_sum(epsilon, records=k)
    same = {(0,) * k: 0.5, (1,) * k: 0.5}
    assert n.inferential(m, same) == pytest.approx(k * n.dp(m))  # dp → ddp → ip, k·ε
    full = n.noisy_sum(epsilon, records=1, values=(0, 1, 2))
    assert n.dp(full) == pytest.approx(2 * n.blowfish(full, [(0, 1), (1, 2)]))  # blowfish → dp, d·ε
    coin, fair = n.examples.coin(epsilon)
    assert n.membership(coin, fair) == pytest.approx(implications.belief_from_odds(epsilon, 0.5))  # ip → mp
    # mp → ip, 2·ε: two rare values, one more likely by γ and one less, the rest makes up for it
    g, q = math.exp(epsilon), 0.01
    r = 0.2 / g
    z = (1 - q * (g + 1 / g)) / (1 - 2 * q)
    rows = [[r * g, r / g, 1 - r * (g + 1 / g)], [r / g, r * g, 1 - r * (g + 1 / g)], [r * z, r * z, 1 - 2 * r * z]]
    three = n.Mechanism(rows, [(0,), (1,), (2,)])
    prior = [q, q, 1 - 2 * q]
    assert n.membership(three, prior) == pytest.approx(epsilon, rel=1e-9)
    assert n.inferential(three, prior) == pytest.approx(2 * epsilon, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_information_is_reached_by_random_sets(epsilon: float) -> None:
    """Telling one of all sets of s values, e^ε times as often a set with the true value: the bound as values grow."""
    e, v = math.exp(epsilon), 4000
    c = epsilon / -math.expm1(-epsilon)
    s = max(round(v * (c - 1) / (e - 1)), 1)
    share = s / v  # of sets that hold a value; P(o|x)/P̄ is t·e^ε inside and t outside
    t = 1 / (share * e + 1 - share)
    told = share * t * e * (math.log(t) + epsilon) + (1 - share) * t * math.log(t)
    bound = implications.information_from_odds(epsilon)
    assert told <= bound * (1 + 1e-12)
    assert told == pytest.approx(bound, rel=1e-4)


_MEASURED: dict[tuple[str, str, str], tuple[Callable[..., float], Callable[..., float]]] = {
    ("ip", "dp", "xor"): (n.inferential, _EPSILON["dp"]),
    ("ip", "ddp", "xor"): (n.inferential, _EPSILON["ip-database"]),
    ("mp", "ddp", "xor"): (n.membership, n.dependent),
    ("mp", "mi", "xor"): (n.membership, n.mutual_information),
    ("ip", "mi", "xor"): (n.inferential, n.mutual_information),
    ("mi-marginal", "mi", "xor"): (_EPSILON["mi-marginal"], n.mutual_information),
    ("blowfish", "ddp", "alike"): (_EPSILON["blowfish"], n.dependent),
    ("ddp", "dp", "twins_differ"): (n.dependent, _EPSILON["dp"]),
    ("ip-database", "dp", "foregone"): (_EPSILON["ip-database"], _EPSILON["dp"]),
    ("dp", "ip", "twins"): (_EPSILON["dp"], n.inferential),
    ("mp", "ip", "coin"): (n.membership, n.inferential),
    ("mp", "ip", "ruled_out"): (lambda m, p: n.membership(m, p, "positive"), n.inferential),
    ("blowfish", "dp", "parts"): (lambda m, p: n.blowfish(m, [(0, 1), (2, 3)]), _EPSILON["dp"]),
    ("blowfish", "dp", "known_total"): (lambda m, p: n.blowfish(m, None, list(p)), _EPSILON["dp"]),
    ("mi", "dp", "rare_leak"): (n.mutual_information, _EPSILON["dp"]),
    ("mi", "mi-marginal", "twins"): (n.mutual_information, _EPSILON["mi-marginal"]),
}


@pytest.mark.parametrize("row", n.REFUTED, ids=lambda r: f"{r.source}-{r.target}-{r.example}")
@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 1.0, 5.0])
def test_refuted_claims(row: n.Refuted, epsilon: float) -> None:
    """The example's source is strictly below its target: the claim fails for this very mechanism."""
    source, target = _MEASURED[row.source, row.target, row.example]
    m, p = getattr(n.examples, row.example)(epsilon)
    low, high = source(m, p), target(m, p)
    assert low < high * (1 - 1e-7), (low, high)


def test_the_examples_say_what_they_are() -> None:
    e = 1.3
    m, p = n.examples.xor(e)
    assert (n.inferential(m, p), n.membership(m, p), n.dp(m), n.dependent(m, p)) == (0, 0, e, e)
    assert n.mutual_information(m, p) > 0
    m, p = n.examples.coin(e)
    assert n.membership(m, p) == pytest.approx(math.log((1 + math.exp(e)) / 2), rel=1e-13)
    m, p = n.examples.twins(e)
    assert n.inferential(m, p) == pytest.approx(2 * e)
    assert n.dp(m) == pytest.approx(e)
    assert n.mutual_information(m, p) == 0
    m, p = n.examples.twins_differ(e)
    assert (n.dependent(m, p), n.dp(m)) == (0, e)
    m, p = n.examples.alike(e)
    assert [n.blowfish(m), n.dp(m)] == pytest.approx([e, e])
    assert n.dependent(m, p) == pytest.approx(2 * e)
    m, p = n.examples.ruled_out(e)
    assert n.membership(m, p, "positive") == pytest.approx(math.log(1.5))
    assert n.inferential(m, p) == n.membership(m, p) == math.inf
    m, p = n.examples.parts(e)
    assert n.blowfish(m, [(0, 1), (2, 3)]) == pytest.approx(e)
    assert n.dp(m) == math.inf
    m, _ = n.examples.known_total(e)
    assert n.blowfish(m, None, lambda d: sum(d) == 1) == 0
    assert n.dp(m) == pytest.approx(e)
    m, p = n.examples.rare_leak(e)
    assert n.dp(m) == math.inf
    plain = n.mutual_information(*n.examples.coin(e))
    assert n.mutual_information(m, p) == pytest.approx((1 - 1e-6) * plain + 1e-6 * math.log(2))
    # and what mutual information does bound: (0, δ) with δ = √(2·information)
    assert el.mechanisms.finite(m.matrix[0], m.matrix[1]).delta(0.0) <= math.sqrt(2 * n.mutual_information(m, p))


def test_equalities_of_whole_databases() -> None:
    """Theorem 7 in its own restatement: for whole databases ε_DDP = ε_IP ≤ 2·ε_MP and ε_MP ≤ ε_DDP."""
    rng = np.random.default_rng(2)
    for _ in range(40):
        m = naive.mechanism(rng)
        p = naive.prior(rng, m, "any")  # all records depend on each other
        whole = n.inferential(m, p, level="database")
        assert n.dependent_groups(m, p) == [tuple(range(m.records))]
        assert n.dependent(m, p) == pytest.approx(whole)
        belief = n.membership(m, p, level="database")
        assert belief <= whole <= 2 * belief * (1 + 1e-12)
