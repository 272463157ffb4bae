"""Paper 000: Liu, He, Chanyaswad, Wang and Mittal, PoPETs 2019: the optimal adversary's precision, recall and Fβ."""

from __future__ import annotations

from ..citations import CITATIONS
from ..item import Paper
from .beyond import deniable, planar_laplace
from .printed import lambda_corrected

__all__ = ["deniable", "lambda_corrected", "paper", "planar_laplace"]


def paper() -> Paper:
    """Everything recomputed of this paper."""
    from . import beyond, figures, tables

    return Paper("000", CITATIONS["000"].text, (*tables.items(), *figures.items(), *beyond.items()))
