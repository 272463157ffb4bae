"""A PDF is read back by hand: its objects, its letters and what is drawn."""

from __future__ import annotations

import re
import zlib

import pytest
from tests.show.pdf.read import objects_of, streams_of, words_of

from epsilens.show.pdf.fonts import font
from epsilens.show.pdf.page import Page, written


@pytest.fixture
def page() -> Page:
    made = Page(400, 200, said="a line from corner to corner, ε = 1")
    made.fill("#FFFFFF")
    made.path("M0,0L400,200", "#16191D", 3, dash=(5, 4), rounded=True)
    made.circle((100, 50), 4, "#B33C00", ("#FFFFFF", 2), opacity=0.25)
    made.text("ψ and ε", (20, 60), "#B33C00", size=20, weight=600)
    return made


def test_every_object_is_where_the_table_says(page: Page) -> None:
    made = written([page, page], "Two pages")
    start = int(re.findall(rb"startxref\n(\d+)\n%%EOF\n$", made)[0])
    lines = made[start:].splitlines()
    assert lines[0] == b"xref"
    places = [int(line[:10]) for line in lines[3 : 3 + int(lines[1].split()[1]) - 1]]
    for number, place in enumerate(places, 1):
        assert made[place:].startswith(b"%d 0 obj\n" % number)
    assert re.search(rb"/Size %d /Root 1 0 R" % (len(places) + 1), made)


def test_every_reference_leads_to_an_object(page: Page) -> None:
    made = written([page], "One page")
    numbers = set(objects_of(made))
    assert {int(n) for n in re.findall(rb"(\d+) 0 R", made)} <= numbers


def test_the_page_is_as_large_as_its_pixels(page: Page) -> None:
    assert b"/MediaBox [0 0 300 150]" in written([page], "x")  # 96 pixels and 72 points are an inch


def test_words_can_be_found_and_copied(page: Page) -> None:
    assert words_of(written([page], "x")) == ["ψ and ε"]


def test_who_cannot_see_it_hears_it(page: Page) -> None:
    made = written([page], "Ein Titel: ε")
    said = "a line from corner to corner, ε = 1".encode("utf-16-be").hex().upper().encode()
    assert b"/S /Figure" in made
    assert b"/Alt <FEFF" + said in made
    assert b"/Lang (en)" in made
    assert b"/Title <FEFF" + "Ein Titel: ε".encode("utf-16-be").hex().upper().encode() in made


def test_the_same_pages_are_the_same_bytes(page: Page) -> None:
    assert written([page], "x") == written([page], "x")


def test_lines_and_dots_are_drawn_where_they_were_told(page: Page) -> None:
    drawn = next(s for s in streams_of(written([page], "x")) if b"BDC" in s).decode()
    assert "q 0.75 0 0 -0.75 0 150 cm" in drawn
    assert "q 0.086 0.098 0.114 RG 3 w 1 j [5 4] 0 d 0 0 m 400 200 l S Q" in drawn
    assert "/G250 gs" in drawn
    assert "104 50 m" in drawn


def test_paths_go_up_down_and_around() -> None:
    page = Page(100, 100, said="steps")
    page.path("M1,2H5V7v3h-2C1,2,3,4,5,6", "#000000", at=(10, 20))
    drawn = next(s for s in streams_of(written([page], "x")) if b"BDC" in s).decode()
    assert "11 22 m 15 22 l 15 27 l 15 30 l 13 30 l 11 22 13 24 15 26 c S" in drawn


def test_the_font_travels_whole(page: Page) -> None:
    assert font(600).raw in streams_of(written([page], "x"))
    assert font(400).raw not in streams_of(written([page], "x"))  # no word of this weight


def test_packed_streams_have_the_length_they_say(page: Page) -> None:
    made = written([page], "x")
    for length, start in ((int(m[1]), m.end()) for m in re.finditer(rb"/Length (\d+) [^>]*>>\nstream\n", made)):
        zlib.decompress(made[start : start + length])
        assert made[start + length :].startswith(b"\nendstream")
