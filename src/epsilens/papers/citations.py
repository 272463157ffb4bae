"""The five papers by authors, title and place: what is known of them before anything is computed."""

from __future__ import annotations

from typing import NamedTuple


class Citation(NamedTuple):
    """A paper: who wrote it, what it is called, where and when it appeared."""

    authors: str
    title: str
    published: str

    @property
    def text(self) -> str:
        """All of it in one line.

        >>> CITATIONS["001"].text[:44]
        "Ashena, Dell'Aglio, Bernstein. Understanding"
        """
        return f"{self.authors}. {self.title}. {self.published}."

    @property
    def short(self) -> str:
        """Its authors and year, as one refers to it.

        >>> CITATIONS["000"].short, CITATIONS["003"].short
        ('Liu et al. 2019', 'Ünsal and Önen 2022')
        """
        names = self.authors.split(", ")
        who = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
        return f"{who} {self.published[-4:]}"


CITATIONS = {
    "000": Citation(
        "Liu, He, Chanyaswad, Wang, Mittal",
        "Investigating Statistical Privacy Frameworks from the Perspective of Hypothesis Testing",
        "PoPETs 2019",
    ),
    "001": Citation(
        "Ashena, Dell'Aglio, Bernstein",
        "Understanding ε for differential privacy in differencing attack scenarios",
        "2021",
    ),
    "002": Citation(
        "Kaissis, Knolle, Jungmann, Ziller, Usynin, Rueckert",
        "A unified interpretation of the Gaussian mechanism for differential privacy through the sensitivity index",
        "2022",
    ),
    "003": Citation(
        "Ünsal, Önen",
        "Calibrating the Attack to Sensitivity in Differentially Private Mechanisms",
        "Journal of Cybersecurity and Privacy 2022",
    ),
    "004": Citation(
        "Li, Ren, Yang, Yang",
        "Impact of prior knowledge and data correlation on privacy leakage: a unified analysis",
        "2019",
    ),
}
