"""One thing of a paper, recomputed: its numbers, its picture, and whether they agree with what was printed."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..show.charts import Chart
from ..show.document import Block, Fact, Facts, Figure, Figures, Forms, Items, Section, plain_table


class Agreement(Enum):
    """Whether what we get is what the paper shows."""

    AGREES = "agrees"
    PARTLY = "agrees in part"
    DIFFERS = "does not hold"
    OPEN = "cannot be compared"
    DRAWING = "a drawing, no claim"
    BEYOND = "beyond the paper"


@dataclass(frozen=True, slots=True)
class Item:
    """A table, figure, algorithm or claim of a paper.

    ``shows`` is what the paper shows, ``gets`` what we get, ``why`` the reason and the number where they differ.
    ``rows`` are cells to read, ``records`` the numbers behind them; ``charts`` the figure.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    records: tuple[Mapping[str, Any], ...]
    shows: str = ""
    gets: str = ""
    agreement: Agreement = Agreement.AGREES
    why: str = ""
    charts: tuple[Chart, ...] = ()

    @property
    def key(self) -> str:
        """Its name as a file: "Figure 4(c): leakage" is ``figure-4-c``."""
        return slug(self.title.split(":")[0])

    @property
    def section(self) -> Section:
        """What is shown, what comes out, the figure, and the numbers."""
        told = [("The paper shows", self.shows), ("epsilens gets", self.gets)]
        told += [("They agree", _AGREED[self.agreement])] if self.shows else []
        told += [("Why", self.why)]
        facts = tuple(Fact(term, text) for term, text in told if text)
        blocks: list[Block] = []
        if facts:
            running = Items(tuple(f"{fact.term}: {fact.text}" for fact in facts), forms=Forms.RUNNING)
            blocks = [Facts(facts, forms=Forms.PAGE | Forms.NOTEBOOK), running]
        if self.charts:
            made = tuple(Figure(lambda chart=chart: chart) for chart in self.charts)  # type: ignore[misc]
            blocks.append(Figures(made, stacked=True, forms=Forms.PAGE))
        if self.rows:
            blocks.append(plain_table(self.columns, self.rows, self.title))
        if self.notes:
            blocks.append(Items(self.notes, quiet=True))
        return Section(self.title, tuple(blocks))

    @property
    def csv(self) -> str:
        """The numbers behind the table, or the points of the figure where there is no table, as CSV."""
        return _csv(self.records) if self.records else self.points

    @property
    def points(self) -> str:
        """What the charts draw, as CSV: a row a point, with the chart and the line it belongs to."""
        return _csv([{"panel": chart.name, **point} for chart in self.charts for point in chart.data])

    @property
    def files(self) -> dict[str, str]:
        """Its numbers, its pictures and what they draw as files, by their names."""
        drawn = {name: chart.svg("light") for name, chart in self._named.items()}
        points = {f"{self.key}-points.csv": self.points} if self.charts and self.records else {}
        return {f"{self.key}.csv": self.csv, **points, **drawn}

    @property
    def pictures(self) -> str:
        """Its pictures as lines of Markdown, each with what it says to those who cannot see it."""
        return "".join(
            f"\n![{chart.label.replace(']', ')').replace('[', '(')}]({name})\n" for name, chart in self._named.items()
        )

    @property
    def _named(self) -> dict[str, Chart]:
        several = len(self.charts) > 1
        return {f"{self.key}{f'-{k}' if several else ''}.svg": chart for k, chart in enumerate(self.charts, 1)}

    @property
    def data(self) -> dict[str, Any]:
        """The JSON payload."""
        return {
            "key": self.key,
            "title": self.title,
            "shows": self.shows,
            "gets": self.gets,
            "agreement": self.agreement.value if self.shows else "",
            "why": self.why,
            "records": [dict(record) for record in self.records],
            "notes": list(self.notes),
        }


_AGREED = {
    Agreement.AGREES: "Yes.",
    Agreement.PARTLY: "In part.",
    Agreement.DIFFERS: "No.",
    Agreement.OPEN: "It cannot be compared: the paper does not give its setting in full.",
    Agreement.DRAWING: "A drawing, which claims no number.",
    Agreement.BEYOND: "The paper leaves it to future work.",
}


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper and what was recomputed of it."""

    key: str
    citation: str
    items: tuple[Item, ...]


def slug(words: str) -> str:
    """Words as the name of a file.

    >>> slug("Figure 4(c) and (d)")
    'figure-4-c-and-d'
    """
    plain = words.lower().replace("ε", "epsilon").replace("δ", "delta").replace("ψ", "psi").replace("§", "section ")
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def _csv(records: Sequence[Mapping[str, Any]]) -> str:
    names = list(dict.fromkeys(name for record in records for name in record))
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows([{name: _cell(value) for name, value in record.items()} for record in records])
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return repr(value)
    return "; ".join(map(str, value)) if isinstance(value, list | tuple) else value
