"""Paper 003: Ünsal and Önen, Journal of Cybersecurity and Privacy 2022: how large a false record hides in the noise."""

from __future__ import annotations

from ..item import Paper

__all__ = ["paper"]


def paper() -> Paper:
    """Everything recomputed of this paper."""
    from . import figures, tables

    citation = (
        "Ünsal, Önen. Calibrating the Attack to Sensitivity in Differentially Private Mechanisms. Journal of "
        "Cybersecurity and Privacy 2022."
    )
    return Paper("003", citation, (*tables.items(), *figures.items()))
