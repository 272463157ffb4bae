"""Every result on paper says what its page says."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Any

import pytest
from tests.show.read_pdf import alternatives_of, pages_of, streams_of, words_of
from tests.specimens import RESULTS

import epsilens as el
from epsilens.overview import marked_curve
from epsilens.results import Result
from epsilens.show import charts
from epsilens.show.document import (
    Code,
    Column,
    Combinations,
    Document,
    Fact,
    Facts,
    Figure,
    Figures,
    Group,
    Icons,
    Items,
    Lead,
    Notes,
    Paragraph,
    Section,
    Status,
    Table,
    plain_table,
    said,
)
from epsilens.show.render.pdf import to_pdf


def _letters(words: str) -> str:
    return re.sub(r"[^a-z0-9]", "", unicodedata.normalize("NFKC", words).lower())  # D₂ is D2 on a page


def test_the_sentence_and_every_reading_are_there() -> None:
    e = el.gaussian(psi=1.0)
    told = _letters("".join(words_of(e.to_pdf())))
    text = re.sub(r"<(svg|style|title)\b.*?</\1>", " ", e.to_html(), flags=re.DOTALL)
    cells = [html.unescape(re.sub(r"<[^>]+>", "", c)) for c in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", text)]
    assert len(cells) > 30
    for cell in (c for c in cells if c != "Symbol"):  # a head that only a reader of the page hears
        assert _letters(cell) in told, cell


def test_charts_are_on_it() -> None:
    heard = [alternative.partition(":")[0] for alternative in alternatives_of(el.laplace(epsilon=1.0).to_pdf())]
    assert heard == [
        "50 of 100 right without the release",
        "50 of 100 right without the release, 20 more with it, 30 wrong",
        "ROC curve",
        "Precision–recall curve",
    ]


def test_a_sheet_fits_on_one_page() -> None:
    many = tuple(Section(f"Part {i}", (plain_table(("what", "value"), [["row", "1"]] * 3),)) for i in range(6))
    sheet = Document("t", "For decision", (Status("over", True), Lead((said("A sentence. " * 20),))), many, sheet=True)
    made = to_pdf(sheet)
    assert len(pages_of(made)) == 1
    loose = Document("t", "For decision", sheet.opening, many)
    assert len(pages_of(to_pdf(loose))) > 1


def test_a_table_s_head_is_on_every_page() -> None:
    long = Document(
        "t", "k", (), (Section("s", (plain_table(("name", "value"), [[f"row {i}", "1"] for i in range(120)]),)),)
    )
    made = to_pdf(long)
    pages = pages_of(made)
    assert len(pages) > 2
    assert [(page.count("value"), page[-1]) for page in pages] == [
        (1, f"{number} of {len(pages)}") for number in range(1, len(pages) + 1)
    ]
    assert all(f"row {i}" in words_of(made) for i in range(120))


@pytest.mark.parametrize("name", sorted(RESULTS))
def test_every_kind_of_result_has_a_paper(name: str) -> None:
    result: Any = RESULTS[name]()
    if not isinstance(result, Result):
        pytest.skip("it shows itself in no form")
    made = result.to_pdf()
    assert made.startswith(b"%PDF-1.7")
    sentence = getattr(result, "sentence", "")
    assert _letters(sentence)[:60] in _letters("".join(words_of(made)))


@pytest.mark.parametrize("lines", [0, 20, 30, 35, 40, 45])
def test_a_heading_stands_on_the_page_of_its_picture(lines: int) -> None:
    filled = tuple(Paragraph(said(f"line {i}")) for i in range(lines))
    picture = Figure(lambda: charts.marked(marked_curve(el.laplace(epsilon=1.0), "roc")))
    document = Document("A title", "A kind", (Lead((said("A lead"),)), *filled), (Section("Heading", (picture,)),))
    pages = [_letters("".join(page)) for page in pages_of(to_pdf(document))]
    assert [("heading" in page) == ("roccurve" in page) for page in pages] == [True] * len(pages)


def test_a_word_longer_than_its_line_is_broken_and_copied_whole() -> None:
    word = "d0e6f4f3915c2b6e91b79ab30037c7078833423a" * 4
    crowded = plain_table(tuple(f"a_column_{i}" for i in range(12)), [[word, *["12345.678"] * 11]])
    facts = Facts((Fact("Data", word), Fact("", f"epsilens {word}", command=True)))
    made = to_pdf(Document("t", "k", (Lead((said(word),)), Items((word,)), facts, Code(word), crowded)))
    assert "".join(words_of(made)).count(word) == 6
    places = [float(x) for x in re.findall(rb"1 0 0 -1 ([\d.]+) [\d.]+ cm", b"\n".join(streams_of(made)))]
    assert 47 < min(places) <= max(places) < 595.5 - 47  # the margins of A4


def test_what_is_empty_takes_no_room() -> None:
    nothing, nobody = Figure(lambda: None), Table((Column("a"),), (Group((), "A title"),))
    words = Lead(()), Items(()), Notes(()), Facts(()), Code("")
    pictures = nothing, Figures((nothing,)), Icons((), "")
    blocks = (*words, *pictures, plain_table(("", ""), []), nobody, Combinations((), (), "n"))
    made = to_pdf(Document("t", "k", blocks, (Section("s", ()), Section("", (plain_table(("a", "b"), []),)))))
    assert len(pages_of(made)) == 1
    assert "A title" in words_of(made)
