"""Words on paper: no line is too long, none is lost, and a page that is full is turned."""

from __future__ import annotations

import pytest
from tests.show.pdf.read import words_of

from epsilens.show.pdf.flow import Flow, Piece, broken
from epsilens.show.pdf.page import written

WORDS = "An adversary who knows every other record guesses correctly 70 times of 100 whether she is in it. " * 4


@pytest.mark.parametrize("wide", [60.0, 120.0, 333.0, 2000.0])
def test_lines_fit_and_no_word_is_lost(wide: float) -> None:
    lines = broken([Piece(WORDS[:200], "#000000"), Piece(WORDS[200:], "#FF0000", 600)], 14, wide)
    assert all(sum(width for _, width in line) <= wide + 1e-6 for line in lines)
    told = " ".join("".join(piece.text for piece, _ in line).strip() for line in lines)
    assert "".join(told.split()) == "".join(WORDS.split())


def test_a_word_longer_than_the_line_is_cut() -> None:
    lines = broken([Piece("d0e6f4f3915c2b6e91b79ab30037c7078833423a", "#000000")], 14, 100)
    assert len(lines) > 2
    assert all(sum(width for _, width in line) <= 100 for line in lines)
    assert "".join(p.text for line in lines for p, _ in line) == "d0e6f4f3915c2b6e91b79ab30037c7078833423a"


def test_what_must_stay_together_does() -> None:
    held = "50\N{NO-BREAK SPACE}of\N{NO-BREAK SPACE}100"
    for wide in range(60, 200, 7):
        lines = broken([Piece(f"they would be right {held} times", "#000000")], 14, wide)
        assert any(held in "".join(p.text for p, _ in line) for line in lines)


def test_a_line_s_end_is_kept() -> None:
    lines = broken([Piece("one\ntwo three\n\nfour", "#000000")], 14, 1000)
    assert ["".join(p.text for p, _ in line) for line in lines] == ["one", "two three", "", "four"]


def test_a_full_page_is_turned_and_signs_are_drawn() -> None:
    flow = Flow()
    for _ in range(30):
        flow.words([Piece(f"▲ {WORDS}", "#000000")], 14)
    assert len(flow.pages) > 1
    made = words_of(written(flow.pages, "x"))
    assert "".join("".join(made).split()) == "".join((WORDS * 30).split())  # the sign is no letter
