"""How a result shows itself: one base class, and the one way up to the presenters.

A result says only which kind it is (``shown_as``). What is said about it, and how that looks as text, Markdown or HTML,
is decided in :mod:`epsilens.show`, which stands above every result: :mod:`epsilens` itself, which knows all rooms,
leaves the presenter here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from .overview import Curves


class ChartLike(Protocol):
    """A chart that shows itself in a notebook: :class:`epsilens.show.charts.chart.Chart`."""

    @property
    def spec(self) -> dict[str, Any]:
        """The Vega-Lite definition with real colours."""

    @property
    def data(self) -> list[dict[str, Any]]:
        """The points of every series, a row each."""

    def svg(self, palette: str = "light", width: int | None = None) -> str:
        """The chart as SVG."""

    def pdf(self, palette: str = "light", width: int | None = None) -> bytes:
        """The chart as a page of PDF."""

    def save(self, path: str | Path) -> Path:
        """Write it as .svg, .png, .pdf or .html."""

    def plot(self, ax: object = None) -> Any:
        """The chart on matplotlib axes."""


class ChartsLike(Protocol):
    """Several charts that belong together: :class:`epsilens.show.charts.chart.Charts`."""

    def __getitem__(self, index: int) -> ChartLike:
        """One of them."""

    def __len__(self) -> int:
        """How many there are."""

    def save(self, path: str | Path) -> Path:
        """Write them as one file, .html or .pdf."""

    def plot(self, axes: object = None) -> Any:
        """The charts on matplotlib axes."""


class Presenter(Protocol):
    """Writes a result in every form: text, page, sentence, chart and table. :mod:`epsilens.show` implements it."""

    def text(self, result: Result, width: int) -> str: ...
    def terminal(self, result: Result, width: int) -> str: ...
    def markdown(self, result: Result) -> str: ...
    def html(self, result: Result) -> str: ...
    def pdf(self, result: Result) -> bytes: ...
    def csv(self, data: Mapping[str, object]) -> str: ...
    def fragment(self, result: Result) -> str: ...
    def sentence(self, result: Result) -> str: ...
    def verdict(self, result: Result) -> str: ...
    def data(self, result: Result) -> dict[str, Any]: ...
    def explained(self, experiment: Result, **arguments: object) -> Result: ...
    def chart(self, result: Result, name: str, **asked: object) -> ChartLike: ...
    def charts(self, some: Sequence[ChartLike]) -> ChartsLike: ...
    def curves(self, points: Curves) -> ChartLike: ...
    def table(self, rows: Sequence[dict[str, Any]] | dict[str, Any], index: str = "") -> Any: ...
    def frame(self, result: Result) -> Any: ...
    def board(self, assessment: Result) -> str: ...
    def board_pdf(self, assessment: Result) -> bytes: ...
    def registry(self, assessment: Result) -> str: ...


_ONE_LINE = 1_000_000
_load: list[Callable[[], Presenter]] = []


def set_presenter(load: Callable[[], Presenter]) -> None:
    """Say who presents results; ``load`` is called when the first result is shown."""
    _load[:] = [load]


def presenter() -> Presenter:
    """Who presents results."""
    return _load[0]()


class Result:
    """A result that can be printed, written as Markdown or HTML, and displayed in a notebook."""

    __slots__ = ()
    #: The kind of result, which decides its presenter.
    shown_as: ClassVar[str] = ""

    def _shown(self, pictures: bool = False) -> Result:
        """What is presented: a result that stores all that its sentences, or its ``pictures`` too, will tell."""
        return self

    def to_text(self, width: int = 80) -> str:
        """Plain text."""
        return presenter().text(self._shown(), width)

    def to_terminal(self, width: int = 80) -> str:
        """Text with the emphasis of a terminal."""
        return presenter().terminal(self._shown(), width)

    def to_markdown(self) -> str:
        """Markdown: the sentence, then tables."""
        return presenter().markdown(self._shown())

    def to_html(self) -> str:
        """A self-contained page with its charts."""
        return presenter().html(self._shown(pictures=True))

    def to_pdf(self) -> bytes:
        """What the page shows as a PDF on A4, with its charts; needs the extra ``pdf``."""
        return presenter().pdf(self._shown(pictures=True))

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values."""
        raise NotImplementedError

    def to_csv(self) -> str:
        """Its main table, numbers in full."""
        source = getattr(self, "rows", None)
        source = source() if callable(source) else source
        rows = list(source) if isinstance(source, Iterable) else []  # of a scan it is how many there are
        own = rows and all(isinstance(row, Mapping) for row in rows)
        return presenter().csv({"rows": rows} if own else self.to_dict())

    def to_html_fragment(self) -> str:
        """The sentence, pictures and tables for a notebook: no scripts, nothing to fetch or install."""
        return presenter().fragment(self._shown(pictures=True))

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html_fragment()


class SentenceResult(Result):
    """A result that can be told in a sentence."""

    __slots__ = ()

    @property
    def sentence(self) -> str:
        """The finding for a lay reader, with its baseline."""
        return presenter().sentence(self._shown())


class ShortResult(Result):
    """A result that comes down to a sentence or two: printed, it is never broken into lines."""

    __slots__ = ()

    def __str__(self) -> str:
        return self.to_text(width=_ONE_LINE)


#: What a terminal obeys instead of showing it, and what turns the direction of writing round.
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def escape_controls(text: str) -> str:
    r"""The text with control characters spelled out: names and values of a table may carry commands to a terminal.

    >>> escape_controls("\x1b[2Jward")
    '\\x1b[2Jward'
    """
    return _COMMANDS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def join_words(items: Sequence[str]) -> str:
    """Words in a row.

    >>> join_words(["site", "age", "sex"]), join_words(["site"])
    ('site, age and sex', 'site')
    """
    if len(items) < 2:
        return "".join(items)
    return ", ".join(items[:-1]) + " and " + items[-1]
