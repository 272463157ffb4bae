"""A chart as PDF shows what its SVG shows."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from tests.show.read_pdf import alternatives_of, pages_of, streams_of, words_of

import epsilens as el
from epsilens.errors import InputError, MissingExtra
from epsilens.show.charts import Chart
from epsilens.show.charts.renderers import DARK, LIGHT
from epsilens.show.typesetting import drawings_pdf


def _colours(made: bytes) -> set[str]:
    """Every colour that something is filled or drawn with, as it is written in SVG."""
    found = re.findall(rb"([\d.]+) ([\d.]+) ([\d.]+) (?:scn|SCN)\b", b"\n".join(streams_of(made)))
    return {"#" + "".join(f"{round(255 * float(part)):02X}" for part in colour) for colour in found}


def test_every_word_of_every_chart_is_in_its_pdf(charts: dict[str, Chart]) -> None:
    for name, chart in charts.items():
        marks = ET.fromstring(chart.svg("light")).iter("{http://www.w3.org/2000/svg}text")
        assert "".join(words_of(chart.pdf())) == "".join(mark.text or "" for mark in marks), name


def test_every_colour_of_every_chart_is_in_its_pdf(charts: dict[str, Chart]) -> None:
    for name, chart in charts.items():
        for palette, paper in (("light", LIGHT["paper"]), ("dark", DARK["paper"])):
            asked = set(re.findall(r'(?:fill|stroke)="(#\w+)"', chart.svg(palette))) | {paper}
            assert _colours(chart.pdf(palette)) == asked, name


def test_it_is_a_page_of_its_size_that_tells_what_it_shows(charts: dict[str, Chart]) -> None:
    chart = charts["roc: laplace"]
    made = chart.pdf()
    wide, high = re.findall(r'(?:width|height)="(\d+)"', chart.svg("light"))[:2]
    assert f"/MediaBox[0 0 {0.75 * int(wide):g} {0.75 * int(high):g}]".encode() in made  # 96 pixels, 72 points: an inch
    assert alternatives_of(made) == [chart.label]


def test_a_file_that_is_named_pdf_is_one(tmp_path: Path) -> None:
    chart = el.laplace(epsilon=1.0).chart("roc")
    assert chart.save(tmp_path / "roc.PDF").read_bytes().startswith(b"%PDF-1.7")
    both = el.laplace(epsilon=1.0).chart(["roc", "tradeoff"])
    assert len(pages_of(both.save(tmp_path / "both.pdf").read_bytes())) == 2


def test_without_typst_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(MissingExtra, match=r"pip install 'epsilens\[pdf\]'"):
        el.gaussian(psi=1.0).chart("roc").save(tmp_path / "never.pdf")
    assert not (tmp_path / "never.pdf").exists()


def test_a_picture_is_light_or_dark() -> None:
    chart: Any = el.laplace(epsilon=1.0).chart("roc")
    with pytest.raises(InputError, match="light or dark"):
        chart.pdf("page")


def test_a_drawing_that_was_kept_is_a_pdf_too() -> None:
    chart = el.laplace(epsilon=1.0).chart("roc")
    made = drawings_pdf([chart.svg("light")])
    assert words_of(made) == words_of(chart.pdf())
    assert alternatives_of(made) == alternatives_of(chart.pdf())
