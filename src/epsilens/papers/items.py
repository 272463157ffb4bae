"""One thing of a paper, recomputed: its numbers, its picture, and whether they agree with what was printed.

The words of an item (title, columns, what the paper shows, notes, the axes of a chart) and the settings it is computed
for are data, in a TOML file beside the module of its paper; a function of that module computes its :class:`Numbers`,
and :func:`read_items` puts the two together. Sentences take numbers from there: ``{row[3][exact]:.4f}`` is of the
fourth record, ``{largest:.3f}`` one of ``values``.

What the papers print that does not hold (:data:`ERRATA`) is plain mathematics with a line of Python that shows it: an
expression that anyone can run after three lines of imports (:data:`PREFACE`).

>>> holds(ERRATA["000"][0])
True
"""

from __future__ import annotations

import csv
import io
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from ..show.charts import Chart
from ..show.charts.lines import Axis, Series, lines
from ..show.document import Block, Fact, Facts, Figure, Figures, Forms, Items, Section, plain_table
from ..show.sentences import number

#: The numbers of one row by their names.
Record = dict[str, Any]
#: The modules of the papers by their numbers.
PAPERS = {"000": "liu2019", "001": "ashena2021", "002": "kaissis2022", "003": "unsal2022", "004": "li2019"}


class Citation(NamedTuple):
    """Who wrote a paper, its title, where and when it appeared."""

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


class Agreement(Enum):
    """Whether what we get is what the paper shows."""

    AGREES = "agrees"
    PARTLY = "agrees in part"
    DIFFERS = "does not hold"
    OPEN = "cannot be compared"
    DRAWING = "a drawing, no claim"
    BEYOND = "beyond the paper"


_AGREED = {
    Agreement.AGREES: "Yes.",
    Agreement.PARTLY: "In part.",
    Agreement.DIFFERS: "No.",
    Agreement.OPEN: "It cannot be compared: the paper does not give its setting in full.",
    Agreement.DRAWING: "A drawing, which claims no number.",
    Agreement.BEYOND: "The paper leaves it to future work.",
}


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
        agreed = _AGREED[self.agreement] if self.shows else ""
        terms = ("The paper shows", "epsilens gets", "They agree", "Why")
        texts = zip(terms, (self.shows, self.gets, agreed, self.why), strict=True)
        facts = tuple(Fact(term, text) for term, text in texts if text)
        blocks: list[Block] = []
        if facts:
            running = Items(tuple(f"{fact.term}: {fact.text}" for fact in facts), forms=Forms.RUNNING)
            blocks = [Facts(facts, forms=Forms.PAGE | Forms.NOTEBOOK), running]
        if self.charts:
            figures = tuple(Figure(lambda chart=chart: chart) for chart in self.charts)  # type: ignore[misc]
            blocks.append(Figures(figures, stacked=True, forms=Forms.PAGE))
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
        pictures = {name: chart.svg("light") for name, chart in self._pictures.items()}
        points = {f"{self.key}-points.csv": self.points} if self.charts and self.records else {}
        return {f"{self.key}.csv": self.csv, **points, **pictures}

    @property
    def pictures(self) -> str:
        """Its pictures as lines of Markdown, each with its description for those who cannot see it."""
        return "".join(
            f"\n![{chart.label.replace(']', ')').replace('[', '(')}]({name})\n"
            for name, chart in self._pictures.items()
        )

    @property
    def _pictures(self) -> dict[str, Chart]:
        numbered = len(self.charts) > 1
        return {f"{self.key}{f'-{k}' if numbered else ''}.svg": chart for k, chart in enumerate(self.charts, 1)}

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


@dataclass(frozen=True, slots=True)
class Numbers:
    """What is computed of an item: its records, the lines of each chart, and numbers for its sentences.

    ``rows`` are given where a row of the table is not a record.
    """

    records: Sequence[Mapping[str, Any]] = ()
    charts: Sequence[Sequence[Series]] = ()
    values: Mapping[str, object] = field(default_factory=dict)
    rows: Sequence[tuple[str, ...]] | None = None


def sweep(parameter: str, values: Iterable[float], readings: Mapping[str, Callable[[Any], Any]]) -> list[Record]:
    """A record for each value of a parameter, with every reading there.

    >>> sweep("x", (1, 2), {"square": lambda x: x * x})
    [{'x': 1, 'square': 1.0}, {'x': 2, 'square': 4.0}]
    """
    return [{parameter: x, **{name: float(read(x)) for name, read in readings.items()}} for x in values]


def named_rows(names: str, rows: Iterable[Sequence[object]]) -> list[Record]:
    """A record for each row, its entries by these names.

    >>> named_rows("n, error", [(1, 0.5), (2, 0.25)])
    [{'n': 1, 'error': 0.5}, {'n': 2, 'error': 0.25}]
    """
    return [dict(zip(names.split(", "), row, strict=True)) for row in rows]


def curve(name: str, reading: Callable[[float], Any], grid: Iterable[float], *, quiet: bool = False) -> Series:
    """A reading over a grid, as a line of a chart."""
    return Series(name, tuple((float(x), float(reading(float(x)))) for x in grid), quiet)


@cache
def entries(paper: str) -> dict[str, dict[str, Any]]:
    """The items of a paper as its file has them, in its order.

    >>> entries("kaissis2022")["figure_5"]["agreement"]
    'DRAWING'
    """
    items: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name(f"{paper}.toml").read_text("utf-8"))
    return items


def read_items(paper: str, *names: str) -> tuple[Item, ...]:
    """The items of a paper, recomputed; only the named ones if any are.

    >>> [item.title for item in read_items("kaissis2022", "figure_5")]
    ['Figure 5: a failed mechanism']
    """
    module, known = import_module(f"{__package__}.{paper}"), entries(paper)
    return tuple(
        _item(known[name], getattr(module, known[name].get("builder", name))(**known[name].get("given", {})))
        for name in names or known
    )


def _item(entry: Mapping[str, Any], numbers: Numbers) -> Item:
    values = {"row": numbers.records, **numbers.values}

    def text(words: str) -> str:
        return re.sub(r"\{[a-z]\w*(?:\[[^\[\]]+\])*:[^{}]+\}", lambda found: found[0].format(**values), words)

    charts = tuple(
        lines(
            **{**chart, "series": series, "x": Axis(*chart["x"]), "y": Axis(*chart["y"]), "aria": text(chart["aria"])}
        )
        for chart, series in zip(entry.get("charts", ()), numbers.charts, strict=True)
    )
    return Item(
        entry["title"],
        tuple(entry.get("columns", ())),
        _rows(entry, numbers.records) if numbers.rows is None else tuple(numbers.rows),
        tuple(map(text, entry.get("notes", ()))),
        tuple(numbers.records),
        entry["shows"],
        text(entry["gets"]),
        Agreement[entry.get("agreement", "AGREES")],
        text(entry.get("why", "")),
        charts,
    )


def _rows(entry: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, ...], ...]:
    """A row for each record that has all ``keys``: the first cell short, the others as numbers or by ``formats``."""
    if not records or not entry.get("columns"):
        return ()
    keys = entry.get("keys") or list(records[0])
    formats = {keys[0]: "g", **entry.get("formats", {})}
    return tuple(
        tuple(_cell(record[key], formats.get(key), entry.get("missing", "none")) for key in keys)
        for record in records
        if all(key in record for key in keys)
    )


def _cell(value: Any, form: str | Sequence[str] | None, missing: str) -> str:
    """One cell: by a format, by one of two words for a truth value, or as a decimal."""
    if value is None or isinstance(value, str):
        return value or missing
    if isinstance(form, str):
        return format(value, form)
    return number(float(value)) if form is None else form[value]


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper and what was recomputed of it."""

    key: str
    citation: str
    items: tuple[Item, ...]


def read_paper(number: str) -> Paper:
    """A paper by its number, with all its items recomputed."""
    return Paper(number, CITATIONS[number].text, read_items(PAPERS[number]))


def slug(words: str) -> str:
    """Words as the name of a file.

    >>> slug("Figure 4(c) and (d)")
    'figure-4-c-and-d'
    """
    plain = words.lower().replace("ε", "epsilon").replace("δ", "delta").replace("ψ", "psi").replace("§", "section ")
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def _csv(records: Sequence[Mapping[str, object]]) -> str:
    names = list(dict.fromkeys(name for record in records for name in record))
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows([{name: _csv_cell(value) for name, value in record.items()} for record in records])
    return out.getvalue()


def _csv_cell(value: object) -> Any:
    if isinstance(value, float):
        return repr(value)
    return "; ".join(map(str, value)) if isinstance(value, list | tuple) else value


#: The imports before every check.
PREFACE = "from math import *\nimport epsilens as el\nfrom epsilens import papers"


@dataclass(frozen=True, slots=True)
class Erratum:
    """Where, what is printed, what holds, and an expression that is true because it does."""

    where: str
    printed: str
    holds: str
    check: str


_TABLES = tomllib.loads(Path(__file__).with_name("errata.toml").read_text("utf-8"))
ERRATA = {number: tuple(Erratum(**entry) for entry in _TABLES[name]) for number, name in PAPERS.items()}


def holds(erratum: Erratum) -> bool:
    """Run the check as a reader would after :data:`PREFACE`.

    >>> holds(Erratum("a table", "2 + 2 = 5", "2 + 2 = 4", "2 + 2 == 4"))
    True
    """
    names: dict[str, object] = {}
    exec(PREFACE, names)
    return bool(eval(erratum.check, names))
