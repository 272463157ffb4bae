"""The joint distributions of the paper's examples, and those that contradict its theorems."""

from __future__ import annotations

import numpy as np

from ...attacks.correlated.joint_table import table
from ...attacks.correlated.tables import Table as Records
from ...attacks.correlated.trees import tree
from ...errors import InputError

TABLE_II: dict[str, Records] = {
    "a": table([[0.3, 0.2], [0.2, 0.3]]),
    "b": table([[0.2, 0.3], [0.3, 0.2]]),
    "a'": table([[0.49, 0.01], [0.01, 0.49]]),
    "b'": table([[0.01, 0.49], [0.49, 0.01]]),
    "c": table([[0.5, 0.0], [0.0, 0.5]]),
    "d": table([[0.5, 0.0], [0.0, 0.5]], values=[[0, 1], [0, 5]]),
}
_FIRST_HIGH = np.array([[0.45, 0.05], [0.05, 0.45]]) / 2
COUNTEREXAMPLES: dict[str, Records] = {
    "the other end, r → +∞": table([[0.5, 0.0], [0.25, 0.25]]),
    "the same, nothing impossible": table([[0.4999, 0.0001], [0.25, 0.25]]),
    "an answer in between": table([[0.05, 0.45], [0.45, 0.05]], values=[[0, 1], [0, 3]]),
    "three records": table(np.array([[[8, 2], [1, 4]], [[3, 1], [5, 6]]]) / 30),
    "15, 3, 1, 1 of 20": table([[0.75, 0.15], [0.05, 0.05]]),
    "1, 9, 2, 3, 22, 1, 1, 1 of 40": table(np.array([[[1, 9], [2, 3]], [[22, 1], [1, 1]]]) / 40),
}
COROLLARY_12 = table(np.array([59, 19, 8, 4, 6, 2, 1, 1]).reshape(2, 2, 2) / 100)


def theorem3(gap: float) -> Records:
    """x_j ∈ {0, ½, 1}, surely ½ where x_i = 0, and 0 or 1 where x_i = 1: the two means differ by ``gap``."""
    return table([[0.0, 0.5, 0.0], [(0.5 - gap) / 2, 0.0, (0.5 + gap) / 2]], values=[[0, 1], [0, 0.5, 1]])


def star(leaves: int) -> Records:
    """A small record x₄ ∈ {0, 0.2} that several records in {0, 1} follow with probability 0.85 (§B.3)."""
    follow = [[0.85, 0.15], [0.15, 0.85]]
    parents, matrices = [leaves] * leaves + [-1], [follow] * leaves + [None]
    return tree(parents, [0.5, 0.5], matrices, values=[[0, 1]] * leaves + [[0, 0.2]]).table()


def figure4_normal(correlation: float, records: int = 15, scale: float = 1.0) -> tuple[float, ...]:
    """Figure 4(c): leakage of equally correlated normal records of range 1, for 0, 1, … records known.

    (1 + (n−1)ρ)/(1 + kρ)/λ with k known. Figure 4(d)'s ρ = −0.8 is refused: no such records exist.

    >>> [round(v, 6) for v in figure4_normal(0.8)[::5]]
    [12.2, 2.44, 1.355556]
    >>> figure4_normal(-0.8)
    Traceback (most recent call last):
    epsilens.errors.InputError: correlation is -0.8 among 15 records: equal correlations below -0.0714286 cannot ...
    """
    least = -1 / (records - 1)
    if not least < correlation < 1:
        raise InputError(
            f"correlation is {correlation:g} among {records} records: equal correlations below {least:.6g} cannot "
            "exist, because the covariance would have a negative eigenvalue; give one between that and 1",
            parameter="correlation",
        )
    top = 1 + (records - 1) * correlation
    return tuple(top / (1 + k * correlation) / scale for k in range(records))
