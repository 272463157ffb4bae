"""Our drawing of every chart stands where Vega's does: lines, points, words and axes, to about a pixel."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from epsilens.show.charts import Chart
from epsilens.show.charts.renderers import LIGHT, svg

vl_convert = pytest.importorskip("vl_convert")

Point = tuple[float, float]


@dataclass
class Drawn:
    """What an SVG shows, in pixels of the image."""

    lines: list[tuple[str, list[Point]]] = field(default_factory=list)
    dots: list[tuple[str, Point, float]] = field(default_factory=list)
    words: list[tuple[str, str, Point]] = field(default_factory=list)
    rules: set[tuple[str, float, float]] = field(default_factory=set)
    titled: bool = False


def _moved(element: ET.Element) -> Point:
    found = re.match(r"translate\((-?[\d.]+),(-?[\d.]+)\)", element.get("transform", ""))
    return (float(found[1]), float(found[2])) if found else (0.0, 0.0)


def _numbers(path: str) -> list[Point]:
    values = [float(v) for v in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", path)]
    return list(zip(values[::2], values[1::2], strict=True))


def _theirs(element: ET.Element, drawn: Drawn, at: Point = (0.0, 0.0), kind: str = "") -> Drawn:
    x, y = _moved(element)
    at = at[0] + x, at[1] + y
    kind = element.get("class", kind) if element.tag.endswith("}g") else kind
    if element.tag.endswith("}text") and element.text:
        drawn.words.append((element.text, element.get("text-anchor", "start"), at))
    elif element.tag.endswith("}line") and "axis" in kind:
        ends = float(element.get("x2", 0)), float(element.get("y2", 0))
        drawn.rules.add(("across" if ends[0] else "up", *at))
    elif element.tag.endswith("}path") and kind.startswith("mark-line"):
        points = [(px + at[0], py + at[1]) for px, py in _numbers(element.get("d", ""))]
        drawn.lines.append((element.get("stroke", ""), points))
    elif element.tag.endswith("}path") and kind.startswith("mark-symbol") and "role-mark" in kind:
        fill = element.get("fill", "")
        radius = float(re.match(r"M(-?[\d.]+)", element.get("d", ""))[1])  # type: ignore[index]
        drawn.dots.append((fill, at, abs(radius)))
    for child in element:
        _theirs(child, drawn, at, kind)
    return drawn


def _ours(element: ET.Element, drawn: Drawn, at: Point = (0.0, 0.0)) -> Drawn:
    x, y = _moved(element)
    at = at[0] + x, at[1] + y
    if element.tag.endswith("}text"):
        drawn.words.append((element.text or "", element.get("text-anchor", ""), at))
    elif element.tag.endswith("}circle"):
        place = float(element.get("cx", 0)) + at[0], float(element.get("cy", 0)) + at[1]
        drawn.dots.append((element.get("fill", ""), place, float(element.get("r", 0))))
    elif element.tag.endswith("}path") and element.get("stroke-linejoin"):
        points = [(px + at[0], py + at[1]) for px, py in _numbers(element.get("d", ""))]
        drawn.lines.append((element.get("stroke", ""), points))
    elif element.tag.endswith("}path"):
        for px, py, way in re.findall(r"M(-?[\d.]+),(-?[\d.]+)([VvH])", element.get("d", "")):
            drawn.rules.add(("across" if way == "H" else "up", float(px) + at[0], float(py) + at[1]))
    for child in element:
        _ours(child, drawn, at)
    return drawn


def _pair(chart: Chart, width: int) -> tuple[Drawn, Drawn]:
    definition = chart.definition(width)
    theirs = vl_convert.vegalite_to_svg(vl_spec=definition)
    return _ours(ET.fromstring(svg(definition)), Drawn(titled="title" in definition)), _theirs(
        ET.fromstring(theirs), Drawn()
    )


def test_every_chart_as_vega_draws_it(chart: Chart) -> None:
    for width in {chart.desk, chart.phone} if chart.desk > 400 else {chart.phone}:
        _compare(*_pair(chart, width))


def _compare(ours: Drawn, theirs: Drawn) -> None:
    assert len(ours.lines) == len(theirs.lines) > 0 or ours.dots
    for (colour, mine), (stroke, vega) in zip(ours.lines, theirs.lines, strict=True):
        assert colour == stroke
        assert np.allclose([mine[0], mine[-1]], [vega[0], vega[-1]], atol=0.1)
        # Vega repeats points that fall together: every one of its points lies on ours, and the other way round.
        a, b = np.asarray(mine), np.asarray(vega)
        apart = np.abs(a[:, None] - b).max(axis=2)
        assert apart.min(axis=0).max() < 0.12
        assert apart.min(axis=1).max() < 0.12
    assert len(ours.dots) == len(theirs.dots)
    for (fill, place, radius), (their_fill, their_place, size) in zip(ours.dots, theirs.dots, strict=True):
        assert fill == their_fill
        assert np.allclose((*place, radius), (*their_place, size), atol=0.1)
    assert sorted(word[:2] for word in ours.words) == sorted(word[:2] for word in theirs.words)
    left, title = list(theirs.words), ours.words[-2:] if ours.titled else []
    for word, anchor, (x, y) in ours.words:  # each of Vega's words answers for one of ours
        same = [w for w in left if w[:2] == (word, anchor)]
        nearest = min(same, key=lambda w: abs(w[2][0] - x) + abs(w[2][1] - y))
        assert abs(nearest[2][0] - x) <= 0.6
        # Vega moves a title up and down with the highest mark; ours always stands in the same place, inside the image.
        assert abs(nearest[2][1] - y) <= (13 if (word, anchor, (x, y)) in title else 1.1), word
        left.remove(nearest)
    for way, x, y in theirs.rules:
        assert any(w == way and abs(x - u) + abs(y - v) < 0.7 for w, u, v in ours.rules), (way, x, y)
    assert len(ours.rules) == len(theirs.rules)


def test_other_programs_can_draw_the_definition(charts: dict[str, Chart]) -> None:
    for name in ("roc: laplace", "risk: plan", "simulated: plan"):
        spec = charts[name].spec
        assert "var(" not in str(spec)
        assert LIGHT["ink"] in vl_convert.vegalite_to_svg(vl_spec=spec)
