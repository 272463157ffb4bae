"""The letters of a PDF against the same files read by fontTools."""

from __future__ import annotations

from importlib.resources import files

import pytest

from epsilens.show.charts.layout import width_of
from epsilens.show.pdf.fonts import font

fonts = pytest.importorskip("fontTools.ttLib", reason="the oracle is fontTools")


@pytest.mark.parametrize("weight", [400, 600])
def test_a_font_is_read_as_others_read_it(weight: int) -> None:
    path = str(files("epsilens.show").joinpath(f"assets/epsilens-sans-{weight}.ttf"))
    other, ours = fonts.TTFont(path), font(weight)
    order = {name: number for number, name in enumerate(other.getGlyphOrder())}
    assert ours.glyphs == {char: order[name] for char, name in other.getBestCmap().items()}
    assert list(ours.advances) == [other["hmtx"][name][0] for name in other.getGlyphOrder()]
    head, across = other["head"], other["hhea"]
    assert (ours.units, ours.ascent, ours.descent) == (head.unitsPerEm, across.ascent, across.descent)
    assert ours.box == (head.xMin, head.yMin, head.xMax, head.yMax)


@pytest.mark.parametrize("weight", [400, 600])
def test_words_are_as_wide_as_the_layout_says(weight: int) -> None:
    for words in ("best guess: finds 70", "ε = 0.5, ψ < 1", "Found, of 100 times in the data"):
        assert font(weight).width(words, 15) == pytest.approx(width_of(words, weight, 15), abs=0.5)


def test_a_letter_we_have_not_is_a_question_mark() -> None:
    ours = font(400)
    assert [char for char, _ in ours.drawn("a病\N{NO-BREAK SPACE}b≤")] == ["a", "?", " ", "b", "<", "="]
