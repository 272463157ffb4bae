"""Paper 004: Li, Ren, Yang and Yang 2019: leakage when records go together and some are known (PDP, the WHG)."""

from __future__ import annotations

from ..citations import CITATIONS
from ..item import Paper
from .chain import abstract_search, algorithm1, algorithm2, chain_rule, correlation_terms
from .figures import beliefs, random_graph
from .nonlinear import leakage
from .settings import figure4_normal, star, theorem3

__all__ = [
    "abstract_search", "algorithm1", "algorithm2", "beliefs", "chain_rule", "correlation_terms", "figure4_normal",
    "leakage", "paper", "random_graph", "star", "theorem3",
]  # fmt: skip


def paper() -> Paper:
    """Everything recomputed of this paper."""
    from . import figures, nonlinear, tables

    return Paper("004", CITATIONS["004"].text, (*figures.items(), *tables.items(), nonlinear.item()))
