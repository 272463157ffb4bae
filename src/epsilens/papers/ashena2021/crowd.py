"""The paper's last idea: fake users like the target, so that two queries differ by k people and not by one."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from ... import checks
from ...checks import Array
from ...show.charts.lines import Axis, Series, lines
from ...show.words import number
from ..item import Agreement, Item


def crowded(epsilon: float, k: int, share: float = 0.5) -> float:
    """How often the secret of one in a group of k alike is guessed from two noisy counts that differ by the group.

    The other k−1 have the secret independently with probability ``share``: the observed difference is theirs, plus the
    target's, plus Laplace noise of scale 2/ε twice. Success is (1 + sup_x [G(x) − G(x−1)])/2 with G the law of that sum
    without the target. A threshold is the best test: weights and noise are log-concave, so that by the composition of
    totally positive kernels the likelihood ratio of the two sums is monotone.

    >>> round(crowded(5.0, 1), 6), round(crowded(5.0, 20), 4) < 0.62
    (0.767215, True)
    """
    scale = 2 / float(checks.positive("epsilon", checks.scalar("epsilon", epsilon)))
    k = checks.integer("k", k, low=1, high=10_000)
    share = float(checks.probability("share", checks.scalar("share", share)))
    weights = binom.pmf(np.arange(k), k - 1, share)
    # The optimal threshold solves g(x) = g(x − 1); a fine grid finds the success to 1e-6.
    x = np.linspace(-2, k + 2, 400 * (k + 4) + 1)
    gap = sum(w * (_cdf(x - j, scale) - _cdf(x - 1 - j, scale)) for j, w in enumerate(weights))
    return float((1 + np.max(gap)) / 2)


def _cdf(x: Array, scale: float) -> Array:
    """The law of the difference of two Laplace variables of one scale: density (1 + |x|/b)e^{−|x|/b}/(4b)."""
    z = np.abs(x) / scale
    tail = (2 + z) * np.exp(-z) / 4
    return np.asarray(np.where(x < 0, tail, 1 - tail))


def item() -> Item:
    """The success against the size of the crowd, and against what is known of it."""
    sizes = (1, 2, 5, 10, 20, 50)
    records = [{"k": k, **{f"epsilon {e:g}": crowded(e, k) for e in (1.0, 5.0, 20.0)}} for k in sizes]
    cells = tuple((f"{r['k']:g}", *(number(r[n]) for n in r if n != "k")) for r in records)
    drawn = [Series(f"ε = {e:g}", tuple((float(k), crowded(e, k)) for k in range(1, 51))) for e in (1.0, 5.0, 20.0)]
    coin = Series("a coin", ((1.0, 0.5), (50.0, 0.5)), quiet=True)
    return Item(
        "Section 8: fake users and k-anonymity",
        ("k", "ε = 1", "ε = 5", "ε = 20"),
        cells,
        (
            "Two noisy counts that differ by a group of k alike, one of them the target; the others, fake or real, "
            "have the secret with probability ½ each, unknown to the attacker.",
            "Fake users whose answers are known (all 0, or drawn by a rule the attacker can run) protect nobody: the "
            "attacker subtracts them, and k is 1 again. So does an attacker who knows the others' secrets, whom ε "
            "covers and a crowd does not.",
        ),
        tuple(records),
        "Fake users like the target, by a technique such as k-anonymity, are proposed as future work.",
        "They help only as far as their secrets are unknown.",
        Agreement.BEYOND,
        f"At ε = 5 the secret is guessed {crowded(5, 1):.3f} of the time alone, {crowded(5, 10):.3f} in a crowd of 10, "
        f"and {crowded(5, 1):.3f} again if the crowd is known.",
        (
            lines(
                "crowd",
                "How often one secret in a crowd is guessed",
                "share of secrets guessed",
                [*drawn, coin],
                Axis(1, 50, "people alike, the target among them"),
                Axis(0.4, 1),
                f"In a crowd of 10 the secret is guessed {crowded(5, 10):.3f} of the time at ε = 5, "
                f"{crowded(5, 1):.3f} without a crowd.",
            ),
        ),
    )
