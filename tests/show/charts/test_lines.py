"""Charts of several lines: what is drawn is what was given, cut at the plot's edges, with every name in its place."""

from __future__ import annotations

import math
from typing import Any

import pytest

from epsilens.show.charts.lines import Axis, Series, lines

FAN = tuple(
    Series(f"power {k}", tuple((x / 50, (x / 50) ** (1 / k)) for x in range(51))) for k in (1, 2, 4)
)  # fmt: skip


def _texts(spec: dict[str, Any]) -> list[str]:
    return [layer["mark"]["text"] for layer in spec["layer"] if layer["mark"]["type"] == "text"]


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("width", [350, 640, 1000])
def test_every_line_carries_its_name_at_every_width(inside: bool, width: int) -> None:
    chart = lines("fan", "A fan", "y", FAN, Axis(0, 1, "x"), Axis(0, 1), "three powers", inside=inside)
    told = " ".join(_texts(chart.definition(width)))
    assert all(str(k) in told for k in (1, 2, 4))
    assert chart.svg(width=width).startswith("<svg")


def test_the_data_are_the_points() -> None:
    chart = lines("fan", "A fan", "y", FAN, Axis(0, 1, "x"), Axis(0, 1), "three powers")
    assert [(p["x"], p["y"]) for p in chart.data if p["series"] == "power 2"] == list(FAN[1].points)


@pytest.mark.parametrize("log", [False, True])
def test_a_line_that_leaves_the_plot_is_cut_at_its_edge(log: bool) -> None:
    steep = Series("steep", tuple((x / 10, math.exp(x)) for x in range(11)))
    chart = lines("steep", "t", "s", (steep,), Axis(0, 1, "x"), Axis(1, 100, log=log), "cut")
    shown = [(p["x"], p["y"]) for p in chart.data]
    assert max(y for _, y in shown) == pytest.approx(100)
    assert max(x for x, _ in shown) == pytest.approx(math.log(100) / 10, abs=0.03)
    if log:  # e^10x is straight on a logarithmic axis, so the cut is exact
        assert max(x for x, _ in shown) == pytest.approx(math.log(100) / 10)


def test_what_cannot_be_drawn_is_left_out() -> None:
    odd = Series("odd", ((0.0, 1.0), (0.5, math.nan), (0.7, 0.0), (1.0, 10.0)))
    chart = lines("odd", "t", "s", (odd,), Axis(0, 1, "x"), Axis(1, 100, log=True), "odd")
    assert [(p["x"], p["y"]) for p in chart.data] == [(0.0, 1.0), (1.0, 10.0)]
    assert "nan" not in chart.svg()


def test_a_limit_is_dashed_ink_and_quiet_of_name() -> None:
    """Limits are dashed ink and labelled (the visual direction); what they are compared with is solid."""
    limit = Series("limit 0.5", ((0.0, 0.5), (1.0, 0.5)), limit=True)
    chart = lines("fan", "A fan", "y", (limit, *FAN), Axis(0, 1, "x"), Axis(0, 1), "three powers", inside=True)
    drawn = {layer["description"]: layer["mark"] for layer in chart.definition()["layer"] if "description" in layer}
    assert (drawn["limit 0.5"]["color"], drawn["limit 0.5"]["strokeDash"]) == ("var(--ink)", [5, 3])
    assert all("strokeDash" not in drawn[s.name] for s in FAN)
    assert "limit 0.5" in " ".join(_texts(chart.definition()))
