"""Paper 000: Liu, He, Chanyaswad, Wang and Mittal, PoPETs 2019: the optimal adversary's precision, recall and Fβ."""

from __future__ import annotations

from ..item import Paper
from .printed import lambda_corrected

__all__ = ["lambda_corrected", "paper"]


def paper() -> Paper:
    """Everything recomputed of this paper."""
    from . import beyond, figures, tables

    citation = (
        "Liu, He, Chanyaswad, Wang, Mittal. Investigating Statistical Privacy Frameworks from the Perspective of "
        "Hypothesis Testing. PoPETs 2019."
    )
    return Paper("000", citation, (*tables.items(), *figures.items(), *beyond.items()))
