"""Nothing is cut off, nothing collides: every word of every chart, at both widths, by the widths of the font itself."""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import combinations, pairwise
from typing import Any

import pytest

from epsilens.show.charts import Chart
from epsilens.show.charts.layout import log_ticks, scale, shortened, steps, width_of, wrapped, written

ASSETS = files("epsilens.show").joinpath("assets")
Box = tuple[float, float, float, float]
Word = tuple[str, Box]


def _words(spec: dict[str, Any]) -> tuple[list[Word], list[Word], list[Word]]:
    """(the chart's labels, its ticks, its titles), each with its box from the plot's top left."""
    x = scale(spec["encoding"]["x"]["scale"], 0, spec["width"])
    y = scale(spec["encoding"]["y"]["scale"], spec["height"], 0)
    labels, ticks, titles = [], [], []
    for layer in spec["layer"]:
        mark = layer["mark"]
        if mark["type"] != "text" or "stroke" in mark:
            continue
        (at,) = layer["data"]["values"]
        wide = width_of(mark["text"], mark["fontWeight"], mark["fontSize"])
        left = x(at["x"]) + mark["dx"] - {"left": 0, "center": wide / 2, "right": wide}[mark["align"]]
        middle = y(at["y"]) + mark["dy"]
        labels.append((mark["text"], (left, middle - 7, left + wide, middle + 7)))
    axis = spec["encoding"]["x"]["axis"]
    if axis.get("labels", True):
        for value in axis["values"]:
            wide = width_of(written(value, axis["format"]))
            box = (x(value) - wide / 2, spec["height"] + 7.0, x(value) + wide / 2, spec["height"] + 20.0)
            ticks.append((written(value, axis["format"]), box))
    up = spec["encoding"]["y"]["axis"]
    for value in up["values"] if up else ():
        wide = width_of(written(value, up["format"]))
        ticks.append((written(value, up["format"]), (-8 - wide, y(value) - 7, -8, y(value) + 7)))
    if "title" in spec:
        dx, text = spec["config"]["title"]["dx"], spec["title"]
        titles.append((text["text"], (dx, -56.0, dx + width_of(text["text"], 600), -41.0)))
        titles.append((text["subtitle"], (dx, -38.0, dx + width_of(text["subtitle"]), -22.0)))
    if axis.get("title"):
        below = spec["height"] + 30.0
        titles.append((axis["title"], (0.0, below, width_of(axis["title"]), below + 14)))
    return labels, ticks, titles


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[2] - 1 and b[0] < a[2] - 1 and a[1] < b[3] - 1 and b[1] < a[3] - 1


def test_every_word_is_seen(chart: Chart) -> None:
    for width in {chart.desk, chart.phone}:
        spec = chart.definition(width)
        pad = spec["padding"]
        labels, ticks, titles = _words(spec)
        for word, box in (*labels, *ticks, *titles):
            assert box[0] >= -pad["left"] - 0.5, (width, word)
            assert box[2] <= spec["width"] + pad["right"] + 0.5, (width, word)
            assert box[1] >= -pad["top"], (width, word)
            assert box[3] <= spec["height"] + pad["bottom"], (width, word)
        for (one, a), (other, b) in combinations((*labels, *ticks, *titles), 2):
            assert not _meet(a, b), (width, one, other)


def test_two_lines_that_end_at_the_top_leave_the_title_alone(charts: dict[str, Chart]) -> None:
    chart = charts["risk: both lines end at the top"]
    for width in (chart.desk, chart.phone):
        labels, _, titles = _words(chart.definition(width))
        assert titles[0][0] == "Risk: right guesses of 100"
        assert min(box[1] for _, box in labels) > max(box[3] for _, box in titles[:2])


def test_ticks_of_a_phone_stand_apart() -> None:
    for low, high, width in ((0.007, 110.0, 326), (0.05, 10.0, 204), (1e-4, 1e3, 204), (0.3, 2.0, 204), (1, 1.5, 204)):
        ticks = log_ticks(low, high, width)
        place = scale({"type": "log", "domain": [low, high]}, 0, width)
        for a, b in pairwise(ticks):
            gap = place(b) - place(a) - (width_of(written(a, "~g")) + width_of(written(b, "~g"))) / 2
            assert gap > 8, (a, b)
        assert all(low * 0.99 <= t <= high * 1.01 for t in ticks)


@pytest.mark.parametrize(
    ("low", "high", "count"), [(0, 2.8, 5), (-1100, 1300, 4), (0, 0.37, 5), (3, 3.01, 4), (0, 9e5, 5)]
)
def test_ticks_are_those_of_vega(low: float, high: float, count: int) -> None:
    vl_convert = pytest.importorskip("vl_convert")
    axis = {"tickCount": count, "labelOverlap": False}
    scaled = {"domain": [low, high], "nice": False}
    spec = {
        "data": {"values": [{"y": low}]},
        "mark": "point",
        "encoding": {"y": {"field": "y", "type": "quantitative", "scale": scaled, "axis": axis}},
    }
    drawn = re.findall(r"<text [^>]*>([^<]+)</text>", vl_convert.vegalite_to_svg(spec))
    values, form = steps(low, high, count)
    assert [written(v, form) for v in values] == [word for word in drawn if word != "y"]


@pytest.mark.parametrize("weight", [400, 600])
@pytest.mark.parametrize("subset", ["latin", "greek"])
def test_widths_are_those_of_the_font(weight: int, subset: str) -> None:
    pytest.importorskip("brotli")
    opened = pytest.importorskip("fontTools.ttLib").TTFont
    font = opened(str(ASSETS.joinpath(f"source-sans-3-{subset}-{weight}-normal.woff2")))
    words = "planned 0.41 · recommended 10.5% “Average income” > 60 —" if subset == "latin" else "εδσψαβ"
    names = font.getBestCmap()
    expected = sum(font["hmtx"][names[ord(letter)]][0] for letter in words) * 15 / font["head"].unitsPerEm
    assert width_of(words, weight) == pytest.approx(expected)


def test_words_are_broken_and_cut_by_their_width() -> None:
    for words in ("Count of people with a visit", "Differencing, both answers noisy", "x" * 80, "漢字" * 30, ""):
        for room in (60, 84, 140):
            for most in (1, 2, 3):
                lines = wrapped(words, room, 600, most)
                assert 1 <= len(lines) <= most
                assert all(width_of(line, 600) <= room for line in lines)
    assert wrapped("Count where age > 60", 90) == ["Count where", "age > 60"]  # a comparison stays in one piece
    assert shortened("short", 100) == "short"
