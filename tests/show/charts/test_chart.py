"""What a reader gets: a chart that shows itself, in its own colours, as a file, on axes and as data."""

from __future__ import annotations

import copy
import json
import pickle
import re
import sys
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import epsilens as el
from epsilens.errors import InputError
from epsilens.overview import marked_curve
from epsilens.show.charts import Chart
from epsilens.show.charts.curves import PHONE, SIDE_BY_SIDE, of_marked
from epsilens.show.charts.layout import width_of
from epsilens.show.charts.renderers import DARK, LIGHT, PALETTES, svg


@pytest.fixture(scope="module")
def drawn() -> Any:
    return el.laplace(epsilon=1.0).chart("roc")


# -- colours ------------------------------------------------------------------------------------------------------


def test_colours_are_those_of_the_style_sheets() -> None:
    assets = Path(el.__file__).parent / "show" / "assets"
    sheet = (assets / "page.css").read_text() + (assets / "assessment.css").read_text()
    for name, colour in LIGHT.items():
        assert f"--{name}: {colour}" in sheet
    for name, colour in DARK.items():
        assert re.search(rf"prefers-color-scheme: dark\).*?--{name}: {colour}", sheet, re.DOTALL)


@pytest.mark.parametrize("palette", ["light", "dark"])
def test_a_chart_that_leaves_the_page_has_real_colours(charts: dict[str, Chart], palette: str) -> None:
    for chart in charts.values():
        made = chart.svg(palette)
        assert "var(" not in made
        assert PALETTES[palette]["ink"] in made or PALETTES[palette]["secondary"] in made


def test_a_notebook_chart_follows_the_theme_and_needs_no_page(drawn: Chart) -> None:
    made = drawn._repr_html_()
    bundle = drawn._repr_mimebundle_()
    assert bundle["text/html"] == made
    assert "var(" not in bundle["image/svg+xml"]  # where there is no theme it brings its own colours
    used = set(re.findall(r'(?:fill|stroke)="var\(--epsilens-(\w+)\)"', made))
    style = re.search(r"<style>(.*?)</style>", made)
    assert style
    assert used
    for name in used:  # every variable is set where it is used, for both schemes
        for colours in (LIGHT, DARK):
            if name != "paper":
                assert f"--epsilens-{name}:{colours[name]}" in style[1]
    assert "prefers-color-scheme:dark" in style[1]
    assert '[data-jp-theme-light="false"]' in style[1]
    assert f"--jp-layout-color0, var(--vscode-editor-background, {DARK['paper']})" in style[1]
    assert len(made) < 15_000


def test_an_unknown_palette_is_one_sentence(drawn: Chart) -> None:
    with pytest.raises(el.InputError, match=r"palette is 'sepia': choose from page, light, dark, notebook, fragment"):
        drawn.svg("sepia")


# -- as SVG -------------------------------------------------------------------------------------------------------


def test_the_image_says_its_numbers(charts: dict[str, Chart]) -> None:
    for chart in charts.values():
        root = ET.fromstring(chart.svg("page"))
        assert root.get("role") == "img"
        assert root.get("aria-label") == chart.label
        assert re.search(r"\d", chart.label)
        assert root.get("font-family") == "'Source Sans 3', system-ui, sans-serif"
        assert {e.get("font-size") for e in root.iter("{http://www.w3.org/2000/svg}text")} <= {"15px", "17px"}


def test_a_chart_is_as_wide_as_asked(charts: dict[str, Chart]) -> None:
    for chart in charts.values():
        for width in (chart.desk, chart.phone):
            assert ET.fromstring(chart.svg("page", width)).get("width") == str(width)


def test_outside_our_pages_no_font_can_push_a_word_over_an_edge(drawn: Chart) -> None:
    words = re.findall(r"<text [^>]*>", drawn.svg())
    assert all("textLength" in word for word in words)
    assert "textLength" not in drawn.svg("page")


@pytest.mark.always
def test_what_users_say_is_escaped(charts: dict[str, Chart]) -> None:
    spec = charts["risk: plan"].definition()
    spec["title"] = {"text": "<b>", "subtitle": '"&'}
    spec["description"] = '<i> "'
    root = ET.fromstring(svg(spec))
    assert root.get("aria-label") == '<i> "'
    assert {"<b>", '"&'} <= {e.text for e in root.iter()}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"transform": []}, "transform"),
        ({"layer": [{"mark": {"type": "bar"}, "data": {"values": []}}]}, "bar"),
        ({"layer": [{"mark": {"type": "line", "tension": 1}, "data": {"values": []}}]}, "tension"),
    ],
)
def test_what_cannot_be_drawn_is_an_error_and_not_a_wrong_picture(drawn: Chart, change: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        svg({**drawn.definition(), **change})


# -- files --------------------------------------------------------------------------------------------------------


def test_saved(drawn: Chart, tmp_path: Path) -> None:
    assert ET.parse(drawn.save(tmp_path / "a.svg")).getroot().get("role") == "img"
    page = drawn.save(str(tmp_path / "a.html")).read_text()
    assert "<title>ROC curve · epsilens</title>" in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
    assert json.loads(drawn.save(tmp_path / "a.json").read_text()) == drawn.spec
    with pytest.raises(el.InputError, match=r"ends in \.svg, \.png, \.pdf, \.html or \.json"):
        drawn.save(tmp_path / "a.gif")


def test_a_picture_shows_its_words(charts: dict[str, Chart], tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    image = pytest.importorskip("PIL.Image")
    for palette, paper in (("light", (255, 255, 255)), ("dark", (0x15, 0x18, 0x1B))):
        chart, words = charts["risk: plan"], "Risk: right guesses of 100"
        (tmp_path / "a.png").write_bytes(chart.png(palette))
        with image.open(tmp_path / "a.png") as opened:
            pixels = np.asarray(opened.convert("RGB")).astype(int)
        assert pixels.shape[1] == 2 * chart.desk
        assert tuple(pixels[-1, -1]) == paper
        inked = np.abs(pixels - paper).sum(axis=2) > 200
        title = inked[8:32, :]  # its line, twice as dense
        assert title.any()
        assert np.flatnonzero(title.any(axis=0))[-1] / 2 == pytest.approx(width_of(words, 600), abs=2)
    with pytest.raises(el.InputError, match="a picture is light or dark"):
        charts["risk: plan"].png("page")


@pytest.mark.parametrize(("package", "does"), [("resvg_py", "png"), ("matplotlib", "plot"), ("pandas", "frame")])
def test_what_is_not_installed_is_one_sentence(monkeypatch: pytest.MonkeyPatch, package: str, does: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "epsilens.show.charts.renderers", raising=False)
    e = el.laplace(epsilon=1.0)
    with pytest.raises(el.MissingExtra, match=r"install it with  pip install 'epsilens\[(charts|notebook)\]'"):
        e.frame() if does == "frame" else getattr(e.chart("roc"), does)()


# -- as data ------------------------------------------------------------------------------------------------------


def test_data_are_the_readings() -> None:
    e = el.laplace(epsilon=1.0)
    rows = [row for row in e.chart("roc").data if row["series"] == "with the release"]
    x, y = np.array([r["x"] for r in rows]) / 100, np.array([r["y"] for r in rows]) / 100
    middle = 1 - np.exp(-1) / (4 * np.maximum(x, 0.1))  # the three pieces of the Laplace curve, paper 000
    closed = np.where(x <= np.exp(-1) / 2, np.e * x, np.where(x <= 0.5, middle, 1 - (1 - x) / np.e))
    assert np.allclose(y, closed, atol=2e-6)
    missed = [row for row in e.chart("tradeoff").data if row["series"] == "with the release"]
    assert np.allclose([r["y"] for r in missed], 100 - 100 * closed, atol=2e-4)


def test_dots_stand_where_the_readings_are() -> None:
    e = el.laplace(epsilon=1.0)
    curve = of_marked(marked_curve(e, "roc", 0.5, 0.1))
    assert curve.chosen == pytest.approx((10, 100 * np.e / 10))
    assert curve.best == pytest.approx((30.32653, 69.67347), abs=1e-4)  # e^{−1/2}/2
    assert curve.best_labels[0] == ("best guess: finds 70", "with 30 false alarms")
    assert curve.chosen_label == "28"
    series = {row["series"]: row for row in e.chart("precision_recall", fpr=0.1).data}
    at = series["at the chosen false alarms"]
    assert (at["x"], at["y"]) == pytest.approx((100 * e.recall(0.1), 100 * e.precision(0.1)))


def test_a_frame_holds_every_reading() -> None:
    frame = el.laplace(epsilon=1.0).frame(prior=0.1)
    assert frame.index.name == "reading"
    assert frame.loc["success", "value"] == pytest.approx(el.laplace(epsilon=1.0).success(0.1))
    assert frame.loc["epsilon", "value"] == pytest.approx(1.0)
    assert list(frame.columns) == ["name", "symbol", "value", "baseline", "words"]


def test_on_matplotlib_axes(charts: dict[str, Chart]) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    e = el.laplace(epsilon=1.0)
    _, ax = pyplot.subplots()
    assert e.chart("roc").plot(ax) is ax
    curve = next(line for line in ax.lines if line.get_label() == "with the release")
    assert np.interp(10, curve.get_xdata(), curve.get_ydata()) == pytest.approx(100 * np.e / 10, abs=0.01)
    assert "best guess:" in " ".join(text.get_text() for text in ax.texts)
    for name in ("risk: plan", "accuracy: plan", "simulated: plan", "precedents: plan"):
        ax = charts[name].plot()
        ax.figure.canvas.draw()
        assert ax.get_xscale() == ("linear" if name.startswith("simulated") else "log")
    pyplot.close("all")


# -- labels -------------------------------------------------------------------------------------------------------

CASES = [  # experiments that crowd their labels, priors and rates at their ends
    (el.laplace(epsilon=1e-12), 0.5, 0.1),
    (el.laplace(epsilon=1.6), 0.5, 0.1),
    (el.laplace(epsilon=20.0), 0.5, 0.1),
    (el.gaussian(psi=3.0), 0.5, 0.01),
    (el.mechanisms.randomized_response(epsilon=1.0, k=3), 0.5, 0.1),
    (el.mechanisms.approximate(epsilon=1.0, delta=0.1), 0.5, 0.1),
    (el.laplace(epsilon=1.0), 0.1, 0.01),
    (el.laplace(epsilon=1.0), 0.0, 0.0),
    (el.laplace(epsilon=1.0), 1.0, 1.0),
]


@pytest.mark.parametrize(("experiment", "prior", "fpr"), CASES)
def test_charts_are_plain_definitions(experiment: el.Experiment, prior: float, fpr: float) -> None:
    for name in ("roc", "precision_recall", "tradeoff"):
        chart = of_marked(marked_curve(experiment, name, prior, fpr))
        assert all(0 <= x <= 100 and 0 <= y <= 100 for x, y in (*chart.curve, chart.best, chart.chosen))
        for width in (SIDE_BY_SIDE, PHONE):
            spec = chart.spec(width)
            texts = {layer["mark"]["text"] for layer in spec["layer"] if layer["mark"]["type"] == "text"}
            assert "without the release" in texts
            assert chart.chosen_label in texts
            assert any(set(label) <= texts for label in chart.best_labels)


# -- from an experiment -------------------------------------------------------------------------------------------


def test_a_chart_of_an_experiment(drawn: Chart) -> None:
    assert repr(drawn) == "Chart('roc')"
    same, other = (cast(Chart, el.laplace(epsilon=e).chart()) for e in (1.0, 2.0))
    assert pickle.loads(pickle.dumps(drawn)) == drawn == copy.deepcopy(drawn) == same
    assert drawn != other
    e = el.laplace(epsilon=1.0)
    with pytest.raises(el.InputError, match="name is 'pie': give one of 'roc', 'tradeoff', 'precision_recall'"):
        e.chart("pie")
    with pytest.raises(el.InputError, match="prior"):
        e.chart("roc", prior=2)
    with pytest.raises(el.InputError, match="fpr"):
        e.chart("roc", fpr=[0.1, 0.2])  # type: ignore[call-overload]
    with pytest.raises(el.InputError, match="holds arrays"):
        el.laplace(epsilon=[1.0, 2.0]).chart("roc")


WRONG: Any = [1, 2]  # where a word or a name belongs


@pytest.mark.parametrize(
    ("ask", "parameter"),
    [
        (lambda e: e.chart("roc").svg(width=0), "width"),
        (lambda e: e.chart("roc").save("/nowhere at all/x.svg"), "path"),
        (lambda e: e.chart("roc").save(3), "path"),
        (lambda e: e.frame(foo=1), "foo"),
        (lambda e: el.assess(WRONG), "release"),
        (lambda e: el.subsample(e, 0.1, neighbours=WRONG), "neighbours"),
        (lambda e: el.choose(el.laplace, "epsilon", at_most=0.5, reading=WRONG), "reading"),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(ask: Any, parameter: str) -> None:
    with pytest.raises(el.InputError) as told:
        ask(el.laplace(epsilon=1.0))
    assert told.value.parameter == parameter


def test_a_choice_shows_its_limit_and_not_what_is_far_beyond_it() -> None:
    found = el.choose(el.gaussian, "sigma", at_most=3.0, reading="epsilon", delta=1e-5)
    chart = found.chart()
    marks = {layer["description"]: layer["mark"] for layer in chart.spec["layer"] if "description" in layer}
    assert marks["limit 3"]["strokeDash"] == [5, 3]
    drawn = [point["y"] for point in chart.data if point["series"] == "epsilon"]
    assert max(drawn) <= 12.0
    assert chart.spec["title"]["text"] == "ε at δ = 0.00001"
    assert "without the release" not in marks  # 0 is the axis


def test_what_are_no_axes_is_said() -> None:
    e = el.laplace(epsilon=1.0)
    with pytest.raises(InputError, match="ax is an int: give matplotlib axes"):
        e.chart("roc").plot(3)
    for axes in (3, [1], [None] * 3):
        with pytest.raises(InputError, match="axes is not 2 matplotlib axes"):
            e.chart(["roc", "tradeoff"]).plot(axes)
