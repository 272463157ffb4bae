"""The five papers, recomputed: every table and figure as numbers, a picture and a sentence on whether they agree.

What a paper printed wrongly lives only here, labelled; the rest of the library runs the correction. A paper is a
module of computations and a TOML file of words and settings; :mod:`.items` is what one table, figure or claim is.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import InputError, suggestion
from ..show.document import Document, Lead, Section, said
from ..show.presenters import Presented
from ..show.render.text import to_markdown
from .items import CITATIONS, PAPERS, Agreement, Item, Paper, read_paper

__all__ = ["CITATIONS", "PAPERS", "Agreement", "Item", "Paper", "Reproduction", "named", "reproduction"]


def __getattr__(name: str) -> ModuleType:
    """A paper's own functions: ``papers.li2019.chain_rule``."""
    if name in PAPERS.values():
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def named(paper: str) -> str:
    """The number of a paper, from its number or its first author, with or without the year.

    Parameters
    ----------
    paper : str
        Number, or first author with or without the year.

    Returns
    -------
    str
        The number.

    Raises
    ------
    InputError
        If there is no such paper.

    Examples
    --------
    >>> named("liu2019"), named("Kaissis 2022"), named("4"), named("Ünsal")
    ('000', '002', '004', '003')
    """
    if not isinstance(paper, str):
        raise InputError(f"paper is {paper!r:.40}: give its number or name as text, such as '002'", "paper")
    ascii_name = unicodedata.normalize("NFKD", paper).encode("ascii", "ignore").decode().lower()
    key = "".join(letter for letter in ascii_name if letter.isalnum())
    for number, name in PAPERS.items():
        if key in (number, name, number.lstrip("0") or "0", name.rstrip("0123456789")):
            return number
    known = ", ".join(f"{number} ({name})" for number, name in PAPERS.items())
    close = suggestion(key, [*PAPERS.values(), *PAPERS])
    raise InputError(f"there is no paper {paper[:40]!r}{close}: give one of {known}", "paper", value=paper)


def reproduction(*papers: str) -> Reproduction:
    """The tables and figures of these papers, recomputed; of all five if none is named.

    Parameters
    ----------
    *papers : str
        Numbers or names.

    Returns
    -------
    Reproduction
        Each table and figure, as printed and corrected.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> [item.title for item in reproduction("000").papers[0].items][0]
    'Table 1: the largest ε under a bound on Fβ'
    """
    numbers = [named(paper) for paper in papers] or list(PAPERS)
    return Reproduction(tuple(read_paper(number) for number in dict.fromkeys(numbers)))


@dataclass(frozen=True)
class Reproduction(Presented):
    """Several papers, ready to be shown or written to a folder."""

    papers: tuple[Paper, ...]

    @property
    def document(self) -> Document:
        """Each paper's citation, then its items."""
        sections: list[Section] = []
        for paper in self.papers:
            sections.append(Section(f"Paper {paper.key}", (Lead((said(paper.citation),)),)))
            sections += [item.section for item in paper.items]
        return Document("The papers, recomputed", "The papers, as printed beside as corrected", (), tuple(sections))

    def to_dict(self) -> dict[str, Any]:
        """The JSON payload."""
        return {
            "schema": 2,
            "papers": [
                {"paper": paper.key, "citation": paper.citation, "items": [item.data for item in paper.items]}
                for paper in self.papers
            ],
        }

    def write(self, folder: str | Path) -> list[Path]:
        """Every item as CSV, SVG and Markdown in a folder for each paper, and all of it as one page, ``index.html``.

        What a chart draws is beside its table as ``…-points.csv``. Files of these names are written anew, others stay.
        """
        from ..show.presenters import html

        root = Path(folder)
        try:
            root.mkdir(parents=True, exist_ok=True)
            written = [file for paper in self.papers for file in _write_items(paper, root / paper.key)]
            page = root / "index.html"
            page.write_text(html(self), encoding="utf-8")
        except (OSError, ValueError) as error:
            why = (getattr(error, "strerror", None) or "no name of a file").lower()
            raise InputError(
                f"output is {str(folder)[:80]!r}, which cannot be written ({why}): give a folder that can, or a new "
                f"name",
                "output",
                value=folder,
            ) from None
        return [page, *written]


def _write_items(paper: Paper, folder: Path) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for item in paper.items:
        page = Document(f"Paper {paper.key}", paper.citation, (), (item.section,))
        markdown = to_markdown(page).rstrip("\n") + "\n" + item.pictures
        for name, text in {**item.files, f"{item.key}.md": markdown}.items():
            target = folder / name
            target.write_text(text, encoding="utf-8")
            written.append(target)
    return written
