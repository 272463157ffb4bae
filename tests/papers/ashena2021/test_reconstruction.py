"""Linear reconstruction, against every world of three people and two queries by quadrature."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from epsilens.papers.ashena2021.reconstruction import at_most, item, recovered


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 8.0])
def test_two_queries_have_their_closed_form(epsilon: float) -> None:
    assert at_most(epsilon, 2) == pytest.approx(1 - (1 + epsilon / 4) * np.exp(-epsilon / 2) / 2, abs=1e-9)
    assert at_most(epsilon, 1) == pytest.approx(1 - np.exp(-epsilon / 2) / 2, abs=1e-12)


@pytest.mark.parametrize("epsilon", [1.0, 6.0])
@pytest.mark.parametrize("shared", [True, False])
def test_no_world_of_three_people_tells_more(epsilon: float, shared: bool) -> None:
    """The best attack on two counts of groups of three people, every pair of groups, on a grid of answers."""
    scale = (2 if shared else 1) / epsilon
    bits = np.array(list(product((0, 1), repeat=3)))
    reach = 3 + 14 * scale
    answers, cell = np.linspace(-reach, reach, 901, retstep=True)
    law = [np.exp(-np.abs(answers - count) / scale) * cell / (2 * scale) for count in range(4)]
    best = 0.0
    for first, second in combinations_with_replacement(bits[1:], 2):
        laws = [np.outer(law[b @ first], law[b @ second]) for b in bits]
        for person in range(3):
            without = sum(each for each, b in zip(laws, bits, strict=True) if not b[person])
            with_it = sum(each for each, b in zip(laws, bits, strict=True) if b[person])
            best = max(best, float(np.maximum(without, with_it).sum() / 8))
    assert best <= at_most(epsilon, 2, shared=shared) + 1e-3  # the grid's own error
    assert best > at_most(epsilon, 2, shared=shared) - 1e-3  # the same group of one person twice tells it all


def test_without_noise_everything_is_recovered_and_with_much_nothing() -> None:
    assert recovered(1e9, 20, 60, shared=False, trials=5) == (1.0, 0.0)
    share, error = recovered(1e-6, 20, 60, trials=400)
    assert abs(share - 0.5) < 5 * error


@pytest.mark.parametrize(("epsilon", "queries"), [(2.0, 3), (5.0, 40), (20.0, 40)])
def test_the_attack_stays_below_its_bound(epsilon: float, queries: int) -> None:
    share, error = recovered(epsilon, 10, queries, trials=300)
    assert share - 5 * error <= at_most(epsilon, queries)


def test_the_item_says_both_ends() -> None:
    made = item()
    at_five = next(r for r in made.records if r["epsilon"] == 5)
    assert at_five["P_SDA"] == pytest.approx(1 - (2 + 1.25) * np.exp(-1.25) / 4, abs=1e-9)  # a difference of two
    assert at_five["shared"] < at_five["at most"] < at_five["each"]
