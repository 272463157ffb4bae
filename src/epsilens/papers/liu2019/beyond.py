"""Definition 4 and the paper's outlook: plausible deniability, local privacy, places on a map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import k0, k1, modstruve

from ... import checks
from ...errors import InputError
from ...mechanisms.discrete import pure, randomized_response
from ...mechanisms.local import unary
from ...show.charts.lines import Axis, Series, lines
from ...show.words import number
from ..item import Agreement, Item


def deniable(likelihoods: Sequence[float], gamma: float, origin: int = 0) -> int:
    """Definition 4: the largest k for which a synthetic record is (k, γ)-deniable.

    ``likelihoods`` are P(M(d_i) = y) of the record released, for every d_i; ``origin`` is the one it came from. k
    counts the largest set that holds the origin and whose likelihoods differ pairwise by a factor of at most γ.

    >>> deniable([0.5, 0.4, 0.3, 0.1], 1.5), deniable([0.5, 0.4, 0.3, 0.1], 5.0)
    (2, 4)
    """
    factor = checks.scalar("gamma", gamma)
    if factor < 1:
        raise InputError(f"gamma is {factor:g}: give a factor of at least 1", parameter="gamma", value=gamma)
    given = checks.at_least("likelihoods", likelihoods, 0.0).ravel()
    positive = sorted(given[given > 0].tolist())
    own = float(given[checks.integer("origin", origin, low=0, high=max(given.size - 1, 0))]) if given.size else 0.0
    if own <= 0:
        raise InputError("the record cannot come from its origin: its likelihood is 0", parameter="likelihoods")
    within = [sum(low <= p <= factor * low for p in positive) for low in positive if low <= own <= factor * low]
    return int(max(within))


def planar_laplace(epsilon: float, distance: float) -> float:
    """How often the best guess between two places is right after planar Laplace noise, prior ½.

    In elliptic coordinates around the two places the loss is εd·cos v, and the total variation is
    a·(K₁(a)·L₀(a) + K₀(a)·L₁(a)) with a = εd/2, K modified Bessel and L modified Struve functions.

    >>> round(planar_laplace(1.0, 1.0), 6), planar_laplace(1.0, 0.0)
    (0.64798, 0.5)
    """
    a = checks.scalar("epsilon", checks.at_least("epsilon", epsilon, 0.0)) / 2
    a *= checks.scalar("distance", checks.at_least("distance", distance, 0.0))
    if a == 0:
        return 0.5
    if a > 300:  # L and K leave the range of doubles, and nothing is left to guess
        return 1.0
    variation = a * (k1(a) * modstruve(0, a) + k0(a) * modstruve(1, a))
    return float(min((1 + variation) / 2, 1.0))


def _deniability() -> Item:
    rng = np.random.default_rng(0)
    ages = rng.integers(20, 80, 200)
    records: list[dict[str, Any]] = []
    for epsilon in (0.01, 0.05, 0.1, 0.5):
        released = ages[0] + rng.laplace(scale=1 / epsilon)
        near = np.exp(-epsilon * np.abs(released - ages)).tolist()
        records.append({"epsilon per year": epsilon, **{f"gamma {g:g}": deniable(near, g) for g in (1.5, 2.0, 10.0)}})
    cells = tuple((f"{r['epsilon per year']:g}", *(str(v) for k, v in r.items() if k != "epsilon per year"))
                  for r in records)  # fmt: skip
    return Item(
        "Definition 4: plausible deniability",
        ("ε per year", "k at γ = 1.5", "k at γ = 2", "k at γ = 10"),
        cells,
        (
            "200 drawn ages; the first is released with Laplace noise of scale 1/ε. k counts the people the answer "
            "could have come from within a factor γ. It is a property of one answer and one table, known only after "
            "the release; a guarantee for every answer is what ε gives.",
            "For a mechanism of local ε every record is within γ = e^ε, so that k is the size of the table.",
        ),
        tuple(records),
        "A record is releasable with (k, γ)-plausible deniability.",
        "The largest k of an answer, from its likelihoods.",
    )


def _local() -> Item:
    records: list[dict[str, Any]] = [
        {
            "epsilon": e,
            "randomised response": float(randomized_response(epsilon=e).success()),
            "16 answers": float(randomized_response(epsilon=e, k=16).success()),
            "unary encoding": float(unary(epsilon=e).success()),
            "bound": float(pure(epsilon=e).success()),
        }
        for e in (0.5, 1.0, 2.0, 4.0)
    ]
    cells = tuple((f"{r['epsilon']:g}", *(number(v) for k, v in r.items() if k != "epsilon")) for r in records)
    return Item(
        "Local differential privacy: future work of the paper",
        ("ε", "one bit", "one of 16", "unary", "any local ε"),
        cells,
        ("How often the best guess between two answers of one person is right. A coin is right for half.",),
        tuple(records),
        "Local differential privacy is named as future work.",
        "Each protocol is an Experiment; el.mechanisms.pure is the most that any of local ε can tell.",
        Agreement.BEYOND,
    )


def _places() -> Item:
    grid = np.linspace(0.01, 10, 100).tolist()
    records: list[dict[str, Any]] = [
        {"epsilon · distance": x, "planar Laplace": planar_laplace(1.0, x), "bound": float(pure(epsilon=x).success())}
        for x in (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
    ]
    cells = tuple((f"{r['epsilon · distance']:g}", number(r["planar Laplace"]), number(r["bound"])) for r in records)
    return Item(
        "Geo-indistinguishability: future work of the paper",
        ("ε · distance", "planar Laplace", "any such mechanism"),
        cells,
        (
            "Between two places at a distance d an ε-geo-indistinguishable answer is an experiment of ε·d: "
            "el.mechanisms.pure(epsilon=e * d). For planar Laplace noise the success is exact.",
        ),
        tuple(records),
        "Geo-indistinguishability is named as future work.",
        "How often one of two places is guessed, exactly for planar Laplace noise and at most for any.",
        Agreement.BEYOND,
        charts=(
            lines(
                "places",
                "How often one of two places is guessed",
                "share of guesses that are right",
                (
                    Series("any such mechanism", tuple((x, float(pure(epsilon=x).success())) for x in grid)),
                    Series("planar Laplace", tuple((x, planar_laplace(1.0, x)) for x in grid)),
                    Series("a coin", ((0.01, 0.5), (10.0, 0.5)), quiet=True),
                ),
                Axis(0, 10, "ε times the distance of the places"),
                Axis(0.4, 1),
                f"At ε·d = 2 planar Laplace noise is guessed {planar_laplace(1, 2):.3f} of the time, at most "
                f"{float(pure(epsilon=2.0).success()):.3f} is possible.",
            ),
        ),
    )


def items() -> tuple[Item, ...]:
    """Plausible deniability, local privacy and places."""
    return _deniability(), _local(), _places()
