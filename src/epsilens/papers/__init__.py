"""The papers' own tables, as printed beside as corrected.

What a paper printed wrongly lives only here, labelled; the rest of the library runs the correction.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ..catalogue.parameter import meant
from ..errors import InputError
from ..show.document import Document, Items, Lead, Section, plain_table, said
from ..show.presenters import Presented

__all__ = ["PAPERS", "Paper", "Reproduction", "Table", "find", "reproduction"]

PAPERS = {"000": "liu2019", "001": "ashena2021", "002": "kaissis2022", "003": "unsal2022", "004": "li2019"}


def find(name: str) -> str:
    """The number of a paper, from its number or from its first author and year.

    >>> find("liu2019"), find("Kaissis 2022"), find("4"), find("ünsal2022")
    ('000', '002', '004', '003')
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    wanted = "".join(letter for letter in plain if letter.isalnum())
    numbers = {alias: number for number, alias in PAPERS.items()}
    for number, alias in PAPERS.items():
        if wanted in (number, alias, number.lstrip("0") or "0"):
            return number
    known = [f"{number} ({alias})" for number, alias in PAPERS.items()]
    close = meant(wanted, [*numbers, *PAPERS])
    raise InputError(
        f"there is no paper {name[:40]!r}{close}: give one of {', '.join(known)}", parameter="paper", value=name
    )


def reproduction(*papers: str) -> Reproduction:
    """The tables of these papers, recomputed.

    >>> [table.title for table in reproduction("000").papers[0].tables][0]
    'Table 1: the largest ε under a bound on Fβ'
    """
    built: list[Paper] = [import_module(f".{PAPERS[paper]}", __name__).paper() for paper in papers]
    return Reproduction(tuple(built))


@dataclass(frozen=True, slots=True)
class Table:
    """Cells to read, the notes that go with them, and the numbers behind them for JSON."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    records: tuple[Mapping[str, Any], ...]

    @property
    def section(self) -> Section:
        """The table and its notes under its title."""
        return Section(self.title, (plain_table(self.columns, self.rows, self.title), Items(self.notes, quiet=True)))


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper and what was recomputed of it."""

    key: str
    citation: str
    tables: tuple[Table, ...]


@dataclass(frozen=True)
class Reproduction(Presented):
    """Several papers, ready to be shown."""

    papers: tuple[Paper, ...]

    @property
    def document(self) -> Document:
        """Each paper's citation, then its tables."""
        sections: list[Section] = []
        for paper in self.papers:
            sections.append(Section(f"Paper {paper.key}", (Lead((said(paper.citation),)),)))
            sections += [table.section for table in paper.tables]
        return Document("The papers, recomputed", "The papers, as printed beside as corrected", (), tuple(sections))

    def to_dict(self) -> dict[str, Any]:
        """The JSON payload."""
        return {
            "schema": 1,
            "papers": [
                {
                    "paper": paper.key,
                    "citation": paper.citation,
                    "tables": [
                        {"title": t.title, "records": [dict(r) for r in t.records], "notes": list(t.notes)}
                        for t in paper.tables
                    ],
                }
                for paper in self.papers
            ],
        }
