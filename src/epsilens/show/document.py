"""A result as a document: what is said, in which order, and what each piece is. No layout, no markup.

A presenter (one for each kind of result) builds a :class:`Document` once; :mod:`epsilens.show.render` writes any
document as text, Markdown, terminal output, a page or a notebook fragment. A block is meant for every form unless its
``forms`` says otherwise; pictures and folds have no place in running text and are left out there by the renderers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, Flag, auto
from typing import Literal, NamedTuple, Protocol, TypeAlias


class Forms(Flag):
    """Where a block is shown."""

    TEXT = auto()
    MARKDOWN = auto()
    PAGE = auto()
    NOTEBOOK = auto()
    RUNNING = TEXT | MARKDOWN
    KEPT = RUNNING | PAGE
    PICTURED = PAGE | NOTEBOOK
    ALL = KEPT | NOTEBOOK


class Span(NamedTuple):
    """A piece of a sentence: plain, strong, strong in the colour of added risk, or a number kept in one piece."""

    text: str
    role: Literal["", "strong", "risk", "number"] = ""


Said: TypeAlias = tuple[Span, ...]


def said(text: str) -> Said:
    """A sentence without emphasis."""
    return (Span(text),)


def flat(spans: Sequence[Span]) -> str:
    """The sentence without its emphasis."""
    return "".join(span.text for span in spans)


class Tone(Enum):
    """How loud a paragraph is: body text, how something works, a quiet note, or what must not be missed."""

    BODY = "body"
    HOW = "how"
    NOTE = "note"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Lead:
    """What is said first, in paragraphs. ``continues``: the sentence goes on after the document's headline."""

    paragraphs: tuple[Said, ...]
    continues: bool = False
    forms: Forms = Forms.ALL

    @property
    def emphasised(self) -> bool:
        """Whether it has emphasis of its own."""
        return any(span.role in ("strong", "risk") for paragraph in self.paragraphs for span in paragraph)


@dataclass(frozen=True, slots=True)
class Status:
    """One line on where things stand; ``over`` where a limit is broken."""

    text: str
    over: bool = False
    forms: Forms = Forms.ALL


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph."""

    said: Said
    tone: Tone = Tone.BODY
    forms: Forms = Forms.ALL


@dataclass(frozen=True, slots=True)
class Notes:
    """Remarks that belong together, a sentence or two each."""

    items: tuple[str, ...]
    forms: Forms = Forms.ALL


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[str, ...]
    numbered: bool = False
    quiet: bool = False
    forms: Forms = Forms.ALL


class Fact(NamedTuple):
    """A term and what it is; a ``command`` is something to type."""

    term: str
    text: str
    command: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """Terms with their values."""

    items: tuple[Fact, ...]
    forms: Forms = Forms.ALL


@dataclass(frozen=True, slots=True)
class Code:
    """Something to type (``command``) or to read as it stands."""

    text: str
    command: bool = True
    forms: Forms = Forms.KEPT


class Kind(Enum):
    """What a column holds; numbers stand to the right, words may run over several lines.

    NAME: what the row is about. TEXT: the same, long enough to be broken. SYMBOL: its sign, where there is room.
    BAR: a share of what is allowed. VALUE: the number that counts. QUIET: one to compare it with. NUMBER: any other.
    """

    NAME = "name"
    TEXT = "text"
    SYMBOL = "symbol"
    BAR = "bar"
    NUMBER = "number"
    VALUE = "value"
    QUIET = "quiet"
    WORDS = "words"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its head, the head in running text (``plain``) and beside each value on a phone (``label``)."""

    head: str
    kind: Kind = Kind.NUMBER
    plain: str | None = None
    label: str = ""

    @property
    def short(self) -> str:
        """The head where space is short."""
        return self.head if self.plain is None else self.plain


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell.

    ``plain`` is how running text writes it; ``detail`` a quiet second line where there is room; ``state`` a second
    value that goes with the first (a verdict, a share), ``over`` whether it breaks a limit; ``mark`` what is special
    about this row; ``share`` the length of a bar, 1 at the limit; ``alone`` is false for a value that the row's words
    repeat, and that a narrow page may leave out.
    """

    text: str
    plain: str | None = None
    detail: str = ""
    state: str = ""
    over: bool = False
    mark: str = ""
    share: float | None = None
    alone: bool = True

    @property
    def running(self) -> str:
        """The cell in running text."""
        return self.text if self.plain is None else self.plain


Row: TypeAlias = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Rows under a title, which may be empty."""

    rows: tuple[Row, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows in groups; ``name`` says what it holds to those who cannot see where it stands."""

    columns: tuple[Column, ...]
    groups: tuple[Group, ...]
    name: str = ""
    forms: Forms = Forms.ALL

    @property
    def rows(self) -> tuple[Row, ...]:
        """Every row, groups left aside."""
        return tuple(row for group in self.groups for row in group.rows)

    def column(self, kind: Kind) -> int | None:
        """Where the first column of a kind stands."""
        return next((i for i, column in enumerate(self.columns) if column.kind is kind), None)


def plain_table(head: Sequence[str], rows: Sequence[Sequence[str]], name: str = "", *, wraps: bool = False) -> Table:
    """Names and their numbers; with ``wraps`` the names are long enough to be broken."""
    first = Column(head[0], Kind.TEXT if wraps else Kind.NAME)
    return Table(
        (first, *(Column(h) for h in head[1:])), (Group(tuple(tuple(Cell(c) for c in row) for row in rows)),), name
    )


@dataclass(frozen=True, slots=True)
class Combination:
    """Columns taken together, and the share they single out: as a number, and as text out of 100."""

    members: tuple[str, ...]
    share: float
    text: str


@dataclass(frozen=True, slots=True)
class Combinations:
    """Which of ``columns`` are taken together, and what each combination comes to; ``counts`` names the number."""

    columns: tuple[str, ...]
    rows: tuple[Combination, ...]
    counts: str
    forms: Forms = Forms.ALL


class ResponsiveChart(Protocol):
    """A chart that can be drawn at the widths it is made for; it tells its numbers to those who cannot see it."""

    @property
    def desk(self) -> int:
        """Its width on a desk, in pixels."""

    @property
    def phone(self) -> int:
        """Its width on a phone."""

    def svg(self, palette: str = "light", width: int | None = None) -> str:
        """The chart, drawn; ``page`` takes its colours from the page."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart, made only where it is seen; None where there is nothing to draw."""

    chart: Callable[[], ResponsiveChart | None]
    caption: str = ""
    forms: Forms = Forms.PICTURED


@dataclass(frozen=True, slots=True)
class Figures:
    """Charts that belong together: side by side, or (``stacked``) one above the other."""

    figures: tuple[Figure, ...]
    stacked: bool = False
    forms: Forms = Forms.PICTURED


@dataclass(frozen=True, slots=True)
class IconArray:
    """100 figures under a caption: ``baseline`` of them anyway, ``value`` with the release; ``key`` names it."""

    caption: Said
    baseline: float
    value: float | None = None
    limit: float | None = None
    key: str = "person"


@dataclass(frozen=True, slots=True)
class Icons:
    """Icon arrays side by side, and what one figure stands for."""

    arrays: tuple[IconArray, ...]
    note: str
    forms: Forms = Forms.PICTURED


@dataclass(frozen=True, slots=True)
class Fold:
    """Details behind a summary, to be opened."""

    summary: str
    blocks: tuple[Block, ...]
    forms: Forms = Forms.PAGE


@dataclass(frozen=True, slots=True)
class Part:
    """Part of a section, under a heading of its own."""

    heading: str
    blocks: tuple[Block, ...]
    forms: Forms = Forms.ALL


Block: TypeAlias = (
    Lead | Status | Paragraph | Notes | Items | Facts | Code | Table | Combinations | Figure | Figures | Icons | Fold
    | Part
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a heading. ``note`` stands beside it on a page, ``unit`` after it in running text.

    A ``silent`` heading only orders the page: running text does without.
    """

    heading: str
    blocks: tuple[Block, ...]
    note: str = ""
    unit: str = ""
    silent: bool = False
    forms: Forms = Forms.ALL


@dataclass(frozen=True, slots=True)
class Document:
    """A result, ready to be written in any form.

    ``title`` names what it is about, ``kind`` the kind of report; ``headline`` is an instruction, where there is one.
    ``opening`` comes first, beside the ``facts``; ``tab`` is what a browser's tab says if not the headline or title;
    ``aside`` stands at the end of the page's head and ``footer`` at its foot. A ``report`` has a quieter lead and
    headings that keep to the side; a ``sheet`` fits on one page of paper.
    """

    title: str
    kind: str
    opening: tuple[Block, ...]
    sections: tuple[Section, ...] = ()
    headline: str = ""
    facts: tuple[Fact, ...] = ()
    side: str = ""
    tab: str = ""
    aside: str = ""
    footer: str = ""
    report: bool = False
    sheet: bool = False

    @property
    def continued(self) -> bool:
        """Whether the lead goes on after the headline."""
        return any(isinstance(block, Lead) and block.continues for block in self.opening)

    @property
    def sentence(self) -> str:
        """The lead as one plain text, with the headline where it continues that."""
        lead = next((block for block in self.opening if isinstance(block, Lead)), None)
        if lead is None:
            return self.headline
        told = " ".join(flat(paragraph) for paragraph in lead.paragraphs)
        return f"{self.headline}: {told}" if lead.continues and self.headline else told
