"""Four renderers of any document: every word in every form, nothing unescaped, nothing too wide."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

import epsilens as el
from epsilens import results
from epsilens.show.document import (
    Cell,
    Code,
    Column,
    Combination,
    Combinations,
    Document,
    Fact,
    Facts,
    Figure,
    Fold,
    Forms,
    Group,
    IconArray,
    Icons,
    Items,
    Kind,
    Lead,
    Notes,
    Paragraph,
    Part,
    Section,
    Span,
    Status,
    Table,
    Tone,
    plain_table,
    said,
)
from epsilens.show.presenters import Presented
from epsilens.show.render import html
from epsilens.show.render.text import escape, to_markdown, to_terminal, to_text

BAD = "<script>alert('x')</script> & `code` *b* | [c]"

TABLE = Table(
    (
        Column("Name", Kind.NAME),
        Column("Added", Kind.BAR),
        Column("Planned", Kind.VALUE, plain="now", label="Planned"),
        Column("Limit", plain="limit", label="Limit"),
    ),
    (
        Group(
            (
                (Cell("first", mark="decides", detail="who is it?"), Cell("55", share=2.0, over=True),
                 Cell("61", state="over", over=True), Cell("55")),
                (Cell("second"), Cell("55", share=0.5), Cell("52", state="within"), Cell("55")),
            ),
        ),
    ),
)  # fmt: skip

WORDS = Table(
    (
        Column("Reading", Kind.NAME, plain=""),
        Column("Symbol", Kind.SYMBOL),
        Column("Value", Kind.VALUE, plain="value"),
        Column("Without", Kind.QUIET, plain="without"),
        Column("In words", Kind.WORDS, plain=""),
    ),
    (Group(((Cell("Divergence"), Cell("D₂"), Cell("0.5"), Cell("0.1"), Cell("Half of it, more or less.")),), "Group"),),
)


def whole(text: str = "plain") -> Document:
    """A document with a block of every kind."""
    return Document(
        f"Title {text}",
        f"Kind {text}",
        (
            Status(f"Status {text}", over=True),
            Lead(((Span(f"Lead {text} "), Span("70 of 100", "risk"), Span(".")), said(f"More {text}."))),
            Paragraph(said(f"How {text}."), Tone.HOW),
            Icons((IconArray((Span(f"Caption {text}"),), 0.5, 0.7),), f"Figures {text}."),
        ),
        (
            Section(f"First {text}", (TABLE, Paragraph(said(f"Note {text}."), Tone.NOTE)), f"Side {text}.", "unit"),
            Section("Second", (WORDS, Notes((f"Remark {text}.",)), Code(f"command {text}")), silent=True),
            Section("Third", (Items((f"Item {text}",)), Facts((Fact(f"Term {text}", f"Fact {text}"),)))),
            Section("Fourth", (Combinations((text, "b"), (Combination((text,), 0.4, "40.0"),), "people alone"),)),
            Section("Fifth", (plain_table(["a"], [[text]]), Part(f"Part {text}", (Paragraph(said("In.")),)))),
            Section("Sixth", (Fold(f"Fold {text}", (plain_table(["c"], [[f"Folded {text}"]]),)),)),
        ),
        headline=f"Headline {text}",
        facts=(Fact("Side term", f"Side fact {text}"),),
        footer=f"Foot {text}",
    )  # fmt: skip


def bare(text: str) -> str:
    return " ".join(re.sub(r"\x1b\[[0-9;]*m|<[^>]*>", " ", text).split())


RUNNING = (
    "Headline plain", "▲ Status plain", "Lead plain", "70 of 100", "More plain.", "How plain.", "First plain (unit)",
    "first *", "▲ over", "within", "* decides", "Note plain.", "Divergence", "Half of it", "Remark plain.",
    "command plain", "Item plain", "Term plain: Fact plain", "40.0", "Part plain", "In.",
)  # fmt: skip


def test_running_text_says_everything_but_pictures_and_folds() -> None:
    for shown_as in (to_text(whole()), bare(to_terminal(whole(), 100)), to_markdown(whole()).replace("\\", "")):
        for words in RUNNING:
            assert words in bare(shown_as) or f"**{words}" in shown_as or words in shown_as.replace("**", ""), words
        for words in ("Caption", "Fold", "Symbol", "Added", "Side"):
            assert words not in shown_as


def test_the_page_says_everything() -> None:
    page = bare(html.page(whole()).split("</style>")[1])
    for words in (*RUNNING[:6], "decides", "who is it?", "Caption plain", "Figures plain.", "Side plain.", "Fold plain",
                  "Folded plain", "Side fact plain", "Foot plain", "command plain", "Fact plain"):  # fmt: skip
        assert words in page, words


@pytest.mark.parametrize("width", [30, 69, 70, 80, 100])
def test_text_keeps_to_its_width(width: int) -> None:
    assert max(len(line) for line in to_text(whole(), width).splitlines()) <= max(width, 40)
    assert "70\n" not in to_text(whole(), width)


def test_what_comes_from_outside_is_escaped() -> None:
    for made in (html.page(whole(BAD)), html.fragment(whole(BAD))):
        assert "<script" not in made
        assert "&lt;script&gt;" in made
    text = re.sub(r"```.*?```", "", to_markdown(whole(BAD)), flags=re.DOTALL)
    assert "<script" not in text.replace("\\<script", "")
    assert escape("a|b") == r"a\|b"


def test_a_block_is_only_where_it_belongs() -> None:
    only = Document("t", "k", (Paragraph(said("here"), forms=Forms.PAGE), Paragraph(said("there"), forms=Forms.TEXT)))
    assert to_text(only) == "there"
    assert "here" in html.page(only)
    assert "there" not in html.page(only)
    assert to_markdown(only) == "# t"


def test_a_lead_without_emphasis_is_emphasised_as_a_whole() -> None:
    assert "**All of it.**" in to_markdown(Document("t", "k", (Lead((said("All of it."),)),)))
    spans = (Span("A "), Span("part", "strong"), Span("."))
    assert "A **part**." in to_markdown(Document("t", "k", (Lead((spans,)),)))


def test_a_lead_that_continues_its_headline() -> None:
    d = Document("t", "k", (Lead((said("then it is so."),), continues=True),), headline="Use this")
    assert to_text(d) == d.sentence == "Use this: then it is so."
    assert "**Use this**: **then it is so.**" in to_markdown(d)
    assert "<h1>Use this</h1>" in html.page(d)
    assert "Then it is so." in html.page(d)


def test_a_chart_is_made_only_where_it_is_seen() -> None:
    made: list[int] = []

    def chart() -> None:
        made.append(1)

    d = Document("t", "k", (), (Section("Picture", (Figure(chart),)),))
    assert to_text(d) == ""
    assert not made
    assert "Picture" not in html.page(d)  # nothing to draw, so no heading either
    assert made


def test_subscripts_are_markup() -> None:
    assert html.subscripts("D₂ < ε_DP") == "D<sub>2</sub> &lt; ε<sub>DP</sub>"
    assert "D<sub>2</sub>" in html.page(whole())


# -- the way up ---------------------------------------------------------------------------------------------------


def test_results_do_not_know_what_shows_them() -> None:
    assert issubclass(el.Experiment, results.Result)
    for kind in (el.Experiment, el.Choice, el.Scan, el.Correlation, el.attacks.Identification, el.Assessment):
        assert issubclass(kind, results.Result)
        assert kind.shown_as
        assert "__str__" not in vars(kind)


def test_every_form_of_a_sentence() -> None:
    found = el.attacks.detect(106.0, 100.0, epsilon=1.0)
    assert str(found) == found.sentence
    assert max(map(len, found.to_text(40).splitlines())) <= 40
    assert found.sentence in bare(found.to_html())
    assert found.sentence in bare(found.to_html_fragment())
    assert found.sentence in found.to_markdown().replace("*", "")


def test_a_toy_result_needs_only_a_document() -> None:
    @dataclass(frozen=True)
    class Toy(Presented):
        word: str

        @property
        def document(self) -> Document:
            return Document("Toy", "Toys", (Lead((said(f"It says {self.word}."),)),))

    toy = Toy("<hello>")
    assert str(toy) == "It says <hello>."
    assert "It says &lt;hello&gt;." in toy.to_html()
    assert toy.to_markdown() == "# Toy\n\n**It says \\<hello\\>.**"
    assert "&lt;hello&gt;" in toy._repr_html_()


def test_a_title_runs_over_its_columns_and_no_number_is_cut() -> None:
    columns = (Column("Name", Kind.NAME), Column("first"), Column("second"), Column("Words", Kind.WORDS))
    row = tuple(map(Cell, ("one", "0.123456789", "0.987654321", "some words that are told of it")))
    table = Table(columns, (Group((row,), "A title that is longer than the names below it"),))
    for width in (100, 60, 40, 20):
        told = to_text(Document("t", "k", (table,)), width)
        assert all(words in told for words in ("0.123456789", "0.987654321", "some words"))
        assert width < 60 or "A title that is longer than the names below it" in told.splitlines()
