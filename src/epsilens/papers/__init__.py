"""The papers' own tables, as printed beside as corrected.

What a paper printed wrongly lives only here, labelled; the rest of the library runs the correction.
"""

from __future__ import annotations

from importlib import import_module

from .tables import Paper, Reproduction

__all__ = ["PAPERS", "reproduction"]

PAPERS = {"000": "liu2019", "001": "ashena2021", "002": "kaissis2022", "003": "unsal2022", "004": "li2019"}


def reproduction(*papers: str) -> Reproduction:
    """The tables of these papers, recomputed.

    >>> [table.title for table in reproduction("000").papers[0].tables][0]
    'Table 1: the largest ε under a bound on Fβ'
    """
    built: list[Paper] = [import_module(f".{PAPERS[paper]}", __name__).paper() for paper in papers]
    return Reproduction(tuple(built))
