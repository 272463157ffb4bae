"""Paper 001: Ashena, Dell'Aglio and Bernstein 2021: the success P_SDA of a differencing attack by two queries."""

from __future__ import annotations

from ..citations import CITATIONS
from ..item import Paper
from .algorithms import Attack, Estimate, clopper_pearson, estimate, rule_success, set_epsilon
from .comparisons import ages, exact_belief, lee_clifton, tree
from .crowd import crowded
from .reconstruction import recovered

__all__ = [
    "Attack", "Estimate", "ages", "clopper_pearson", "crowded", "estimate", "exact_belief", "lee_clifton", "paper",
    "recovered", "rule_success", "set_epsilon", "tree",
]  # fmt: skip


def paper() -> Paper:
    """Everything recomputed of this paper."""
    from . import algorithms, comparisons, crowd, figures, reconstruction

    others = (crowd.item(), reconstruction.item())
    return Paper("001", CITATIONS["001"].text, (*figures.items(), *comparisons.items(), *algorithms.items(), *others))
