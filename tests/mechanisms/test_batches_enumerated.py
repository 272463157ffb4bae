"""Every batch that may be drawn of a few people, every value of −1, 0 and 1: nothing tells more than is said."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

import epsilens as el
from epsilens.checks import Array
from epsilens.errors import InputError
from epsilens.readings.law import Exactness

_PLACES = np.linspace(-16.0, 16.0, 8001)
_AT = np.array([-2.0, -0.5, 0.0, 0.5, 2.0])
_LEAST, _MOST = 3e-6, 2e-3  # of the grid; of a bracket
_VALUES = (-1.0, 0.0, 1.0)


def drawn(how: str, n: int, batch: int, rate: float, most: int) -> Iterator[tuple[float, Sequence[int]]]:
    """Each batch with its probability."""
    if how == "fixed":
        whole = list(combinations(range(n), min(batch, n)))
        yield from ((1 / len(whole), one) for one in whole)
    elif how == "with replacement":
        yield from ((n**-batch, one) for one in product(range(n), repeat=batch))
    else:
        for size in range(n + 1):
            for one in combinations(range(n), size):
                kept = list(combinations(one, min(size, most if how == "truncated" else n)))
                yield from ((rate**size * (1 - rate) ** (n - size) / len(kept), cut) for cut in kept)


def density(values: Sequence[float], sigma: float, how: tuple[str, int, float, int]) -> Array:
    """Of the noisy sum over a batch of people with these values."""
    weights: dict[float, float] = defaultdict(float)
    for share, batch in drawn(how[0], len(values), *how[1:]):
        weights[math.fsum(values[i] for i in batch)] += share
    centre, weight = (np.array(list(side))[:, None] for side in (weights, weights.values()))
    return np.asarray(np.sum(weight * np.exp(-(((_PLACES - centre) / sigma) ** 2) / 2), axis=0))


def told(n: int, people: int, sigma: float, how: tuple[str, int, float, int], relation: str) -> Array:
    """The largest profiles over all values of everybody."""
    cell = (_PLACES[1] - _PLACES[0]) / sigma / math.sqrt(2 * math.pi)
    best = np.zeros(_AT.size)
    for others in combinations_with_replacement(_VALUES, n - people):
        group = list(combinations_with_replacement(_VALUES, people))
        with_ = [density((*mine, *others), sigma, how) for mine in group]
        without = with_ if relation == "replace" else [density(others, sigma, how)]
        for h1, h0 in product(with_, without):
            best = np.maximum(best, [np.maximum(h1 - math.exp(u) * h0, 0.0).sum() * cell for u in _AT])
    return best


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize(("n", "batch", "most"), [(3, 1, 1), (3, 2, 1), (4, 2, 2), (4, 3, 2), (4, 4, 2)])
@pytest.mark.parametrize("how", ["poisson", "fixed", "with replacement", "truncated"])
def test_no_values_tell_more(how: str, n: int, batch: int, most: int, relation: str) -> None:
    sigma, given = 0.8, {"truncation": most} if how == "truncated" else {}
    judged = 0
    for people in (1, 2):
        shape: dict[str, Any] = {"sigma": sigma, "n": n, "batch": batch, "steps": 1, "batches": how, **given}
        shape["neighbours"] = relation
        truth = told(n, people, sigma, (how, batch, batch / n, most), relation)
        for outside in (False, True):
            try:
                law = (el.group(el.dpsgd(**shape), people) if outside else el.dpsgd(**shape, people=people)).law
            except InputError:  # nothing is known of such a group
                assert people > 1
                continue
            assert np.all(law.profile(_AT) >= truth - _LEAST)
            below = law.attained or (None if law.known is Exactness.BOUND else law.other_side())
            if below is not None:
                assert np.all(below.profile(_AT) <= truth + _MOST)
            judged += 1
    assert judged >= 2
