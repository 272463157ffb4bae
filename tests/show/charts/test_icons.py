"""The icon array: people counted, columns before rows, the limit a step."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from epsilens.show.charts import icons
from epsilens.show.charts.layout import width_of


@pytest.mark.parametrize(
    ("baseline", "value", "counts"),
    [
        (0.5, 0.6967, (50, 20, 30)),
        (0.5, 0.5, (50, 0, 50)),
        (0.5, 0.99999, (50, 49, 1)),
        (0.5, 1.0, (50, 50, 0)),
        (0.0, 1e-9, (0, 1, 99)),
        (1.0, 1.0, (100, 0, 0)),
    ],
)
def test_figures_are_counted(baseline: float, value: float, counts: tuple[int, int, int]) -> None:
    svg = icons.icons(baseline, value)
    ET.fromstring(svg)
    assert tuple(svg.count(f'class="{role}"') for role in ("base", "added", "rest")) == counts


def test_columns_fill_before_rows() -> None:
    placed = re.findall(r'class="(\w+)" x="([\d.]+)" y="([\d.]+)"', icons.icons(0.5, 0.52))
    added = [(float(x), float(y)) for role, x, y in placed if role == "added"]
    assert len({x for x, _ in added}) == 1


@pytest.mark.parametrize("limit", [0.0, 0.5, 0.55, 0.57, 1.0])
def test_the_limit_is_a_step(limit: float) -> None:
    svg = icons.icons(0.5, 0.6, limit)
    ET.fromstring(svg)
    assert f">limit {round(100 * limit)}</text>" in svg


@pytest.mark.parametrize(
    ("baseline", "value"), [(0.5, 0.7), (0.01, 0.02), (0.5, 0.99), (0.9, 0.91), (0.0, 0.5), (0.98, 1.0)]
)
def test_labels_stand_apart(baseline: float, value: float) -> None:
    placed = []
    for words in ET.fromstring(icons.icons(baseline, value)).iter("{http://www.w3.org/2000/svg}text"):
        weight = 600 if words.get("class") == "risk" else 400
        wide = width_of(words.text or "", weight)
        left = (
            float(words.get("x", 0)) - {"start": 0, "middle": wide / 2, "end": wide}[words.get("text-anchor", "start")]
        )
        placed.append((left, left + wide))
    placed.sort()
    assert placed[0][0] >= 0
    assert placed[-1][1] <= 350.001
    assert all(a[1] + 4 < b[0] for a, b in pairwise(placed))
