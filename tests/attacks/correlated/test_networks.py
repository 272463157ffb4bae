"""Trees and networks: agreement with the joint table, polynomial time for one adversary, bounds for the worst."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attacks.correlated import brute
from tests.examples import examples

from epsilens import correlated
from epsilens.attacks.correlated import networks as module
from epsilens.errors import InputError, MissingExtra

FOLLOW = [[0.85, 0.15], [0.15, 0.85]]


def test_lists_are_asked_for() -> None:
    with pytest.raises(InputError, match="parents is 3: give a list"):
        correlated.tree(3, [0.5, 0.5], [None, FOLLOW])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="conditionals is None: give a list"):
        correlated.tree([-1, 0], [0.5, 0.5], None)  # type: ignore[arg-type]


@pytest.mark.parametrize(("leaves", "exact"), [(3, 2.213187), (4, 2.884250)])
def test_reference_values(leaves: int, exact: float) -> None:
    model = correlated.tree(
        [leaves] * leaves + [-1], [0.5, 0.5], [FOLLOW] * leaves + [None], values=[[0, 1]] * leaves + [[0, 0.2]]
    )
    worst = model.worst(scale=1.0)
    assert worst.leakage == pytest.approx(exact, abs=6e-7)
    assert (worst.target, worst.known) == (leaves, ())
    assert model.by_known(scale=1.0)[0].leakage == worst.leakage
    assert len(model.contributions(scale=1.0)) == leaves + 1


@st.composite
def trees(draw: st.DrawFn) -> tuple[Any, ...]:
    n = draw(st.integers(1, 5))
    order = draw(st.permutations(range(n)))
    parents = [-1] * n
    for k in range(1, n):
        parents[order[k]] = order[draw(st.integers(0, k - 1))]
    sizes = [draw(st.integers(2, 3)) for _ in range(n)]

    def distribution(d: int) -> list[float]:
        raw = draw(st.lists(st.integers(0, 9), min_size=d, max_size=d))
        raw[draw(st.integers(0, d - 1))] += 1
        return [v / sum(raw) for v in raw]

    matrices = [
        None if parents[j] < 0 else [distribution(sizes[j]) for _ in range(sizes[parents[j]])] for j in range(n)
    ]
    values = [[float(v) for v in draw(st.permutations([0, 1, 2, -1]))[:d]] for d in sizes]
    weights = [draw(st.sampled_from([1.0, -1.0, 0.5, 1.7320508])) for _ in range(n)]
    return parents, distribution(sizes[order[0]]), matrices, values, weights


@given(trees(), st.integers(0, 4), st.sets(st.integers(0, 4)), st.lists(st.integers(0, 2), min_size=5, max_size=5))
@settings(max_examples=examples(80))
def test_one_adversary_agrees_with_brute_force(
    drawn: tuple[Any, ...], target: int, known: set[int], numbers: list[int]
) -> None:
    parents, root, matrices, values, weights = drawn
    n = len(parents)
    joint = np.zeros([len(v) for v in values])
    for cell in np.ndindex(*joint.shape):
        joint[cell] = np.prod(
            [root[cell[j]] if p < 0 else matrices[j][cell[p]][cell[j]] for j, p in enumerate(parents)]
        )
    model = correlated.tree(parents, root, matrices, values, weights)
    assert model.table().joint == pytest.approx(joint, abs=1e-14)
    i = target % n
    given_numbers = {j: numbers[j] % len(values[j]) for j in known if j < n and j != i}
    told = {j: values[j][v] for j, v in given_numbers.items()}
    truth = brute.leakage(joint, values, weights, i, given_numbers, 0.9)
    if truth < 0:
        if len(told) < n - 1:
            with pytest.raises(InputError, match="probability zero"):
                model.leakage(i, told, scale=0.9)
    else:
        assert model.leakage(i, told, scale=0.9) == pytest.approx(truth, rel=1e-9, abs=1e-12)
    assert model.leakage(i, tuple(told), scale=0.9) == pytest.approx(
        model.table().leakage(i, tuple(told), scale=0.9), rel=1e-10, abs=1e-13
    )


def test_a_path_is_a_chain() -> None:
    step = [[0.9, 0.1], [0.2, 0.8]]
    path = correlated.tree([-1, *range(39)], [2 / 3, 1 / 3], [None, *[step] * 39])
    chain = correlated.chain([2 / 3, 1 / 3], step, 40)
    assert path.leakage(20, {3: 1, 30: 0}, scale=1.0) == pytest.approx(
        chain.leakage(20, {3: 1, 30: 0}, scale=1.0), rel=1e-10
    )


def test_a_large_tree_gets_a_bound() -> None:
    step = [[0.9, 0.1], [0.2, 0.8]]
    model = correlated.tree([-1, *((j - 1) // 2 for j in range(1, 40))], [0.5, 0.5], [None, *[step] * 39])
    with pytest.raises(InputError, match="time_limit"):
        model.worst(scale=1.0)
    worst = model.worst(scale=1.0, time_limit=0.3)
    assert not worst.complete
    assert worst.leakage <= worst.upper < 12  # 1 + 3·log 36, against 40 for the group
    assert worst.leakage >= 1.0
    if worst.values is not None:
        assert model.leakage(worst.target, worst.values, scale=1.0) == pytest.approx(worst.leakage, rel=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_of_a_tree_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    parents = [-1] + [int(rng.integers(j)) for j in range(1, 6)]
    matrices = [None] + [rng.dirichlet([1.0, 1.0], size=2) for _ in range(5)]
    model = correlated.tree(parents, [0.4, 0.6], matrices, weights=rng.uniform(0.2, 2, 6))
    exact = model.worst(scale=0.5)
    monkeypatch.setattr(module, "_SMALL_TABLE", 1)
    climbed = model.worst(scale=0.5, time_limit=0.2)
    assert climbed.leakage <= exact.leakage * (1 + 1e-12)
    assert exact.leakage <= climbed.upper * (1 + 1e-12)


def _network() -> Any:
    """What a pgmpy network offers, as far as it is used: rain → wet ← sprinkler."""

    def cpd(name: str, values: Any, evidence: list[str], states: Any) -> Any:
        return SimpleNamespace(variable=name, variables=[name, *evidence], values=values, state_names={name: states})

    tables = [
        cpd("rain", np.array([0.8, 0.2]), [], ["no", "yes"]),
        cpd("sprinkler", np.array([[0.6, 0.99], [0.4, 0.01]]), ["rain"], [0, 1]),
        cpd("wet", np.array([[[0.9, 0.2], [0.1, 0.05]], [[0.1, 0.8], [0.9, 0.95]]]), ["sprinkler", "rain"], [0, 10]),
    ]
    return SimpleNamespace(nodes=lambda: ["rain", "sprinkler", "wet"], get_cpds=lambda: tables)


def test_networks() -> None:
    joint = np.zeros((2, 2, 2))
    wet = _network().get_cpds()[2].values
    for r, s, w in np.ndindex(2, 2, 2):
        joint[r, s, w] = [0.8, 0.2][r] * [[0.6, 0.99], [0.4, 0.01]][s][r] * wet[w, s, r]
    table, network = correlated.table(_network()), correlated.network(_network())
    assert table.joint == pytest.approx(joint, abs=1e-15)
    assert table.names == ("rain", "sprinkler", "wet")
    assert [v.tolist() for v in table.parts.values] == [[0, 1], [0, 1], [0, 10]]
    plain = correlated.table(joint, values=[[0, 1], [0, 1], [0, 10]])
    for known in ({}, {0: 1}, {2: 10}):
        assert network.leakage(1, known, scale=2.0) == pytest.approx(plain.leakage(1, known, scale=2.0), rel=1e-12)
    assert network.worst(scale=2.0).leakage == pytest.approx(plain.worst(scale=2.0).leakage, rel=1e-12)


BIF = """network unknown {
}
variable rain {
  type discrete [ 2 ] { no, yes };
}
variable wet {
  type discrete [ 2 ] { 0, 10 };
}
probability ( rain ) {
  table 0.8, 0.2;
}
probability ( wet | rain ) {
  (no) 0.9, 0.1;
  (yes) 0.2, 0.8;
}
"""


def test_networks_from_files(tmp_path: Any) -> None:
    pytest.importorskip("pgmpy", reason="NOT TESTED: networks of pgmpy: pgmpy is not installed")
    with pytest.raises(InputError, match="no file"):
        correlated.network(tmp_path / "none.bif")
    (tmp_path / "bad.bif").write_text("nonsense")
    with pytest.raises(InputError, match=r"no nodes|cannot be read"):
        correlated.network(tmp_path / "bad.bif")
    (tmp_path / "good.bif").write_text(BIF)
    found = correlated.network(str(tmp_path / "good.bif"))
    order = [("rain", "wet").index(name) for name in found.names]
    assert found.table().joint == pytest.approx(np.transpose([[0.72, 0.08], [0.04, 0.16]], order))
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    model = DiscreteBayesianNetwork([("rain", "wet")])
    model.add_cpds(TabularCPD("rain", 2, [[0.8], [0.2]]), TabularCPD("wet", 2, [[0.9, 0.2], [0.1, 0.8]], ["rain"], [2]))
    assert correlated.table(model, weights=[1, 10]).worst(scale=1.0).leakage == pytest.approx(
        found.worst(scale=1.0).leakage, rel=1e-12
    )


def test_networks_without_pgmpy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pgmpy.readwrite", None)
    (tmp_path / "asia.bif").touch()
    with pytest.raises(MissingExtra, match="needs the package 'pgmpy'"):
        correlated.network(tmp_path / "asia.bif")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: correlated.tree([-1, -1], [0.5, 0.5], [None, None]), "2 roots"),
        (lambda: correlated.tree([1, 0, -1], [0.5, 0.5], [FOLLOW, FOLLOW, None]), "circle"),
        (lambda: correlated.tree([-1, 0], [0.5, 0.5], [None]), "1 entries for 2 records"),
        (lambda: correlated.tree([-1, 0], [0.5, 0.5], [None, None]), "None for the root"),
        (lambda: correlated.tree([-1, 0], [0.5, 0.5], [None, [[0.5, 0.6], [0.5, 0.5]]]), "sum to 1.1"),
        (lambda: correlated.tree([-1, 0], [0.5, 0.5], [None, [[0.5, 0.5]]]), "1 rows for a parent of 2"),
        (lambda: correlated.tree([-1, 0], [0.5, 0.6], [None, FOLLOW]), "root sum to 1.1"),
        (lambda: correlated.tree([-1, 7], [0.5, 0.5], [None, FOLLOW]), "parents is 7"),
        (lambda: correlated.network(3), "a discrete Bayesian network"),
    ],
)
def test_bad_input_is_one_sentence(make: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


@pytest.mark.parametrize("name", ["parents", "conditionals"])
def test_an_array_without_dimensions_is_no_list(name: str) -> None:
    given: dict[str, Any] = {"parents": [-1], "root": [0.5, 0.5], "conditionals": [None], name: np.array(0.5)}
    with pytest.raises(InputError, match=f"{name} is .*: give a list with one entry per record"):
        correlated.tree(**given)
