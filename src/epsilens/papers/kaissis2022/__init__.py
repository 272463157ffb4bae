"""Paper 002: Kaissis, Knolle, Jungmann, Ziller, Usynin and Rueckert 2022: the Gaussian mechanism by one number, ψ."""

from __future__ import annotations

from ..citations import CITATIONS
from ..item import Paper
from .conversions import epsilon_rdp, epsilon_rdp_improved, epsilon_table, epsilon_tail
from .roc import binormal, binormal_auc, loss_tail

__all__ = [
    "binormal", "binormal_auc", "epsilon_rdp", "epsilon_rdp_improved", "epsilon_table", "epsilon_tail", "loss_tail",
    "paper",
]  # fmt: skip


def paper() -> Paper:
    """Everything recomputed of this paper."""
    from . import conversions, roc, training

    return Paper("002", CITATIONS["002"].text, (*roc.items(), *conversions.items(), training.item()))
