"""A chart as PDF shows what its SVG shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from tests.show.pdf.read import streams_of, words_of

import epsilens as el
from epsilens.errors import InputError
from epsilens.show.charts import Chart
from epsilens.show.charts.pdf import page_of, pdf
from epsilens.show.charts.renderers import DARK


def test_every_word_of_every_chart_is_in_its_pdf(charts: dict[str, Chart]) -> None:
    for name, chart in charts.items():
        drawn = ET.fromstring(chart.svg("light"))
        marks = list(drawn.iter("{http://www.w3.org/2000/svg}text"))
        told = [mark.text for mark in marks if mark.get("stroke") is None]
        assert words_of(chart.pdf()) == told, name


def test_every_line_and_dot_of_every_chart_is_in_its_pdf(charts: dict[str, Chart]) -> None:
    for name, chart in charts.items():
        drawn = ET.fromstring(chart.svg("light"))
        lines = len(list(drawn.iter("{http://www.w3.org/2000/svg}path")))
        dots = len(list(drawn.iter("{http://www.w3.org/2000/svg}circle")))
        stream = next(s for s in streams_of(chart.pdf()) if b"/Figure" in s).decode()
        assert sum(one.endswith(" S Q") for one in stream.splitlines()) >= lines, name
        assert sum(" h " in one for one in stream.splitlines()) == dots, name


def test_a_file_that_is_named_pdf_is_one(tmp_path: Path) -> None:
    chart = el.laplace(epsilon=1.0).chart("roc")
    assert chart.save(tmp_path / "roc.PDF").read_bytes().startswith(b"%PDF-1.7")
    both = el.laplace(epsilon=1.0).chart(["roc", "tradeoff"])
    made = both.save(tmp_path / "both.pdf").read_bytes()
    assert made.count(b"/Type /Page ") == 2


def test_it_needs_no_other_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "resvg_py", None)
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    assert el.gaussian(psi=1.0).chart("roc").pdf().startswith(b"%PDF")


def test_dark_is_dark_and_others_are_refused() -> None:
    chart: Any = el.laplace(epsilon=1.0).chart("roc")
    stream = next(s for s in streams_of(chart.pdf("dark")) if b"/Figure" in s).decode()
    paper = " ".join(f"{int(DARK['paper'][i : i + 2], 16) / 255:.3f}".rstrip("0") for i in (1, 3, 5))
    assert f"q {paper} rg 0 0 380 444 re f Q" in stream
    with pytest.raises(InputError, match="light or dark"):
        chart.pdf("page")


def test_a_drawing_that_was_kept_is_a_pdf_too() -> None:
    chart = el.laplace(epsilon=1.0).chart("roc")
    assert words_of(pdf(chart.svg("light"))) == words_of(chart.pdf())


def test_a_mark_that_is_not_ours_is_no_picture() -> None:
    with pytest.raises(ValueError, match="rect"):
        page_of('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"><g><rect/></g></svg>')
