"""Paper 004: Li, Ren, Yang and Yang 2019: leakage when records go together and some are known (PDP, the WHG)."""

from __future__ import annotations

from ..item import Paper
from .chain import abstract_search, algorithm1, algorithm2, chain_rule, correlation_terms
from .settings import figure4_normal

__all__ = ["abstract_search", "algorithm1", "algorithm2", "chain_rule", "correlation_terms", "figure4_normal", "paper"]


def paper() -> Paper:
    """Everything recomputed of this paper."""
    from . import figures, nonlinear, tables

    citation = (
        "Li, Ren, Yang, Yang. Impact of prior knowledge and data correlation on privacy leakage: "
        "a unified analysis. 2019."
    )
    return Paper("004", citation, (*figures.items(), *tables.items(), nonlinear.item()))
