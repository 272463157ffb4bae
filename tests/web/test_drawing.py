"""Our drawing of a chart stands where vl-convert's does."""

from __future__ import annotations

import re
from typing import Any

import pytest

import epsilens as el
from epsilens.show import charts
from epsilens.web import drawing

vl_convert = pytest.importorskip("vl_convert")

CASES = {
    "roc": charts.roc(el.laplace(epsilon=1.0)),
    "precision-recall": charts.precision_recall(el.gaussian(psi=1.5), prior=0.3, fpr=0.02),
    "finite": charts.roc(el.randomized_response(epsilon=2.0), prior=0.1),
}


def _points(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+),(-?[\d.]+)", path)]


def _lines(svg: str, stroke: str) -> list[list[tuple[float, float]]]:
    found = re.findall(r'<path[^>]* d="(M[^"A-Z]*(?:L[^"A-Z]*)+)" stroke="([^"]*)"[^>]*stroke-linejoin', svg)
    found += re.findall(r'<path d="(M[^"A-Z]*(?:L[^"A-Z]*)+)" stroke="([^"]*)"[^>]*stroke-linejoin', svg)
    return [_points(path) for path, colour in dict.fromkeys(found) if colour == stroke]


def _texts(svg: str) -> dict[tuple[str, str], list[tuple[float, float]]]:
    """Each text with its anchor → where it stands, from the corner of the plot."""
    made: dict[tuple[str, str], list[tuple[float, float]]] = {}
    offset = (0.0, 0.0)
    for group, text in re.findall(r"(<g [^>]*>)|(<text [^>]*>[^<]*)", svg):
        moved = re.search(r"translate\((-?[\d.]+),(-?[\d.]+)\)", group or text)
        if group:
            offset = (float(moved[1]), float(moved[2])) if moved and "stroke-miterlimit" not in group else offset
            if "fill" in group and "stroke-miterlimit" not in group:
                offset = (0.0, 0.0)
            if re.search(r'class="mark-(?:line|symbol|text) role-mark', group):
                offset = (0.0, 0.0)
        elif moved:
            anchor = re.search(r'text-anchor="(\w+)"', text)
            key = (text.split(">", 1)[1], anchor[1] if anchor else "")
            made.setdefault(key, []).append((float(moved[1]) + offset[0], float(moved[2]) + offset[1]))
    return made


@pytest.mark.parametrize("name", CASES)
def test_the_same_coordinates_as_vega(name: str) -> None:
    chart = CASES[name]
    spec = chart.spec(296)
    ours, theirs = drawing.draw(spec, chart.aria), str(vl_convert.vegalite_to_svg(spec))
    for colour in ("var(--risk)", "var(--secondary)"):
        a, b = _lines(ours, colour), _lines(theirs, colour)
        assert len(a) == len(b) > 0
        for mine, vega in zip(a, b, strict=True):
            # Vega repeats points that fall together; what counts is that every one of either lies on the other.
            assert {(round(x, 1), round(y, 1)) for x, y in mine} >= {
                (round(x, 1), round(y, 1)) for x, y in (vega[0], vega[-1])
            }
            close = [min(abs(x - u) + abs(y - v) for u, v in mine) for x, y in vega]
            assert max(close) < 0.02
    words, expected = _texts(ours), _texts(theirs)
    assert words.keys() == expected.keys()
    for key, places in expected.items():
        for x, y in places:
            assert min(abs(x - u) + abs(y - v) for u, v in words[key]) <= 1.01, (key, places, words[key])


def test_what_it_cannot_draw_goes_to_vega(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def vega(spec: Any) -> str:
        asked.append(spec)
        return "<svg >x</svg>"

    monkeypatch.setattr(vl_convert, "vegalite_to_svg", vega)
    bar = {"mark": "bar", "data": {"values": []}}
    assert drawing.svg(bar, 'a "b"') == '<svg role="img" aria-label="a &quot;b&quot;" >x</svg>'
    assert asked == [bar]


def test_labels_are_escaped() -> None:
    spec = CASES["roc"].spec(296)
    spec["title"] = {"text": "<b>", "subtitle": '"&'}
    made = drawing.draw(spec, "<i>")
    assert "<b>" not in made
    assert 'aria-label="&lt;i&gt;"' in made
