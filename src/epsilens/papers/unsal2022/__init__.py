"""Paper 003: Ünsal and Önen, Journal of Cybersecurity and Privacy 2022: how large a false record hides in the noise."""

from __future__ import annotations

from ..citations import CITATIONS
from ..item import Paper

__all__ = ["paper"]


def paper() -> Paper:
    """Everything recomputed of this paper."""
    from . import figures, tables

    return Paper("003", CITATIONS["003"].text, (*tables.items(), *figures.items()))
