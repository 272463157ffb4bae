"""Every experiment there is: written down and built again the same, or refused in a sentence."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from tests.specimens import EXPERIMENTS

import epsilens as el
from epsilens.catalogue.mechanisms import MECHANISMS
from epsilens.ledger.account import deserialize, serialize
from epsilens.ledger.store import canonical_json


@pytest.mark.parametrize("build", EXPERIMENTS.values(), ids=EXPERIMENTS)
def test_written_and_built_again(build: Callable[[], el.Experiment]) -> None:
    made = build()
    try:
        parts = serialize(made)
    except el.InputError as refused:
        said = str(refused)
        assert said.count("\n") == 0
        assert "claim" in said or "give one" in said
        return
    again = deserialize(json.loads(canonical_json(parts)))
    assert again == made
    assert again.worlds == made.worlds
    assert again.success() == made.success()


def test_most_mechanisms_can_be_written() -> None:
    kept = set()
    for build in EXPERIMENTS.values():
        made = build()
        try:
            kept |= {part["builder"] for part in serialize(made)}
        except el.InputError:
            continue
    assert kept >= {
        "laplace",
        "gaussian",
        "geometric",
        "discrete_gaussian",
        "approximate",
        "pure",
        "dpsgd",
        "zcdp",
        "gdp",
    }
    assert len(kept & set(MECHANISMS)) >= 18


def test_of_a_claim_nothing_may_be_lost() -> None:
    claim = el.mechanisms.from_zcdp(0.1, 0.2)
    assert deserialize(serialize(claim)) == claim
    assert deserialize(serialize(el.mechanisms.from_zcdp(0.1, neighbours="replace"))).worlds.replaces
    curve = el.mechanisms.from_rdp([1.5, 2.0], [0.05, 0.1])
    assert deserialize(json.loads(canonical_json(serialize(curve)))) == curve
    with pytest.raises(el.InputError, match="cannot be written down"):
        serialize(el.mechanisms.from_rdp(rho=lambda order: 0.1 * order))


@pytest.mark.parametrize(
    "name",
    [
        "sampled", "sampled, replaced", "sampled claim", "group", "group of a claim", "group of a composition",
        "matrix", "matrix, bound", "matrix, drawn", "binary tree", "banded", "mixture", "exponential",
        "exponential, any scores",
        "noisy max", "noisy max, gumbel", "permute and flip", "top k", "sparse vector", "repeat and select", "from dp",
        "from rdp", "training", "training, replaced", "training, a group", "training, a group replaced",
        "with replacement", "fixed batches", "truncated batches", "shuffled batches", "training and more",
        "composed claims",
    ],
)  # fmt: skip
def test_trainings_samples_groups_matrices_and_selections_are_kept(name: str) -> None:
    """None of them is a claim: what is built again is equal, reading by reading, to the last digit."""
    made = EXPERIMENTS[name]()
    again = deserialize(json.loads(canonical_json(serialize(made))))
    assert again == made
    for delta in (1e-3, 1e-6):
        assert again.epsilon(delta) == made.epsilon(delta)
    assert deserialize(json.loads(canonical_json(serialize(made.reverse())))) == made.reverse()
    assert deserialize(json.loads(canonical_json(serialize(made.repeat(2))))) == made.repeat(2)


def test_experiments_within_experiments() -> None:
    inner = el.subsample(el.laplace(epsilon=0.5), 0.1)
    made = el.compose(el.group(el.compose(inner, el.gaussian(psi=0.2)), 2), el.laplace(epsilon=0.1).repeat(3))
    assert deserialize(json.loads(canonical_json(serialize(made)))) == made


def test_a_matrix_is_as_long_as_what_it_says() -> None:
    """A thousand steps of one column are a thousand numbers and not a million; a sparse one is kept too."""
    made = el.mechanisms.matrix(el.mechanisms.sqrt_prefix(1000), 1.0)
    said = canonical_json(serialize(made))
    assert len(said) < 30_000
    assert deserialize(json.loads(said)) == made
    sparse = el.mechanisms.matrix(csr_matrix(np.tril(np.ones((20, 20)), 0) - np.tril(np.ones((20, 20)), -3)), 2.0)
    assert deserialize(json.loads(canonical_json(serialize(sparse)))) == sparse
    with pytest.raises(el.InputError, match="claim"):
        serialize(
            el.mechanisms.matrix(np.eye(500) + 0.1 * np.tril(np.arange(250_000.0).reshape(500, 500) % 7, -1), 1.0)
        )


def test_what_was_changed_since_is_not_taken_for_what_was_built() -> None:
    made = el.group(el.gaussian(psi=0.5), 3)
    with pytest.raises(el.InputError, match="cannot be written down"):
        serialize(replace(made, law=el.gaussian(psi=0.1).law))


def test_a_measurement_of_opendp_is_kept() -> None:
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    number, away = dp.atom_domain(T="f64", nan=False), dp.absolute_distance(T="f64")
    noise = dp.m.make_laplace(number, away, scale=2.0)
    for said, success in (("laplace", 1 - math.exp(-0.25) / 2), (None, 1 / (1 + math.exp(-0.5)))):  # by hand
        made = el.bridges.from_measurement(noise, 1.0, noise=said)
        again = deserialize(json.loads(canonical_json(serialize(made))))
        assert again == made
        assert again.success() == pytest.approx(success, rel=1e-14)
    for other in (
        dp.m.make_gaussian(number, away, scale=2.0),
        dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(number, away, scale=2.0)),
        dp.m.make_laplace(dp.atom_domain(T="i64"), dp.absolute_distance(T="i64"), scale=2.0),
    ):
        made = el.bridges.from_measurement(other, 1)
        assert deserialize(json.loads(canonical_json(serialize(made)))) == made


def test_what_is_told_of_an_experiment_changes_nothing_it_was_built_with() -> None:
    part = {"builder": "laplace", "parameters": {"epsilon": 0.5}, "times": 1, "told": {"epsilon": 0.1, "d_in": 2}}
    again = deserialize([part])
    assert (again.parameters["epsilon"], again.parameters["d_in"]) == (0.5, 2)


@pytest.mark.parametrize(
    "parts",
    [
        [{"builder": "os.system", "parameters": {"command": "true"}, "times": 1}],
        [{"builder": "__import__", "parameters": {"name": "os"}, "times": 1}],
        [
            {
                "builder": "group",
                "parameters": {
                    "experiment": {"experiment": [{"builder": "eval", "parameters": {}, "times": 1}]},
                    "k": 2,
                },
                "times": 1,
            }
        ],
    ],
)
def test_only_the_catalogue_is_called(parts: list[dict[str, object]]) -> None:
    with pytest.raises(el.InputError, match="does not know"):
        deserialize(parts)


def test_a_well_of_experiments_has_a_bottom() -> None:
    parts: list[dict[str, object]] = [{"builder": "laplace", "parameters": {"epsilon": 0.1}, "times": 1}]
    for _ in range(50):
        parts = [{"builder": "group", "parameters": {"experiment": {"experiment": parts}, "k": 1}, "times": 1}]
    with pytest.raises(el.InputError, match="was changed"):
        deserialize(parts)
