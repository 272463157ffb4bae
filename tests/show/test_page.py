"""The page, the charts and the icon array: self-contained, escaped, accessible."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser

import pytest

import epsilens as el
from epsilens.show import charts, icons
from epsilens.show.document import Document
from epsilens.show.explanation import Explanation, chosen, explain
from epsilens.show.render import html
from epsilens.worlds import Kind, Worlds

VOID = {"meta", "link", "br", "img", "input", "hr", "wbr"}


class Strict(HTMLParser):
    """Fails on tags that do not match, and collects what a page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def parse(text: str) -> Strict:
    parser = Strict()
    parser.feed(text)
    parser.close()
    assert parser.open == []
    return parser


@pytest.fixture(scope="module")
def about() -> Explanation:
    return explain(el.laplace(epsilon=1.0))


@pytest.fixture(scope="module")
def page(about: Explanation) -> str:
    return about.to_html()


def test_the_page_parses_and_fetches_nothing(page: str) -> None:
    seen = parse(page).seen
    assert not {tag for tag, _ in seen} & {"script", "link", "img", "iframe", "object", "embed", "form"}
    for _, attributes in seen:
        assert not any(name.startswith("on") for name in attributes)
        for name in ("href", "src", "xlink:href", "action"):
            assert (attributes.get(name) or "#").startswith("#")
    for target in re.findall(r"url\(([^)]{0,40})", page):
        assert target.startswith("data:font/woff2;base64,")
    assert "@import" not in page


def test_the_page_holds_both_charts_and_the_pictures(page: str) -> None:
    images = [a for tag, a in parse(page).seen if tag == "svg"]
    labels = [a.get("aria-label") or "" for a in images]
    assert all(a.get("role") == "img" for a in images)
    assert sum(label.startswith("ROC curve: at 10 of 100 false alarms") for label in labels) == 2  # desk and phone
    assert sum(label.startswith("Precision–recall curve") for label in labels) == 2
    assert "50 of 100 right without the release, 20 more with it, 30 wrong" in labels
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_the_page_starts_with_the_sentence(page: str) -> None:
    assert '<p class="lead">An adversary who knows every other record' in page
    assert '<strong class="risk">70 of 100</strong>' in page
    assert "<strong>50 of 100.</strong>" in page
    assert "epsilens explain laplace --epsilon 1" in re.sub(r"</?span>", "", page)


def test_colours_are_variables(page: str) -> None:
    body = page.split("</style>")[1]
    assert 'stroke="var(--risk)"' in body
    assert not re.search(r"#[0-9a-fA-F]{6}", body)
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_what_users_say_is_escaped() -> None:
    nasty = '<script>alert("x")</script>'
    e = el.laplace(epsilon=1.0)
    worlds = Worlds(Kind.OTHER, words=(nasty, f"it's {nasty} & more"))
    hostile = el.Experiment(e.law, nasty, {nasty: nasty}, worlds, (nasty,))
    shown = explain(hostile).with_command(nasty)
    for text in (shown.to_html(), shown.to_html_fragment(), html.page(Document(nasty, nasty, ()))):
        assert "<script" not in text
        parse(text)
    assert "<script" not in shown.to_markdown().split("```")[0].replace("\\<script", "")


def test_the_fragment_needs_nothing(about: Explanation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    seen = parse(about.to_html_fragment()).seen
    assert {tag for tag, _ in seen} <= {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td", "sub"}
    assert el.laplace(epsilon=1.0)._repr_html_() == about.to_html_fragment()


def test_charts_without_their_package_are_one_sentence(about: Explanation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(el.MissingExtra, match=r"pip install 'epsilens\[charts\]'"):
        about.to_html()


def test_a_choice_puts_its_instruction_on_top() -> None:
    page = chosen(el.choose(el.laplace, "epsilon", at_most=0.55)).to_html()
    parse(page)
    assert "<h1>Use ε = 0.2107 or less</h1>" in page
    assert "<p class=\"lead\">An adversary who knows every other record then guesses" in page  # fmt: skip
    assert ">limit 55</text>" in page


# -- charts -------------------------------------------------------------------------------------------------------

CASES = [
    (el.laplace(epsilon=1e-12), 0.5, 0.1),
    (el.laplace(epsilon=1.6), 0.5, 0.1),
    (el.laplace(epsilon=20.0), 0.5, 0.1),
    (el.gaussian(psi=3.0), 0.5, 0.01),
    (el.randomized_response(epsilon=1.0, k=3), 0.5, 0.1),
    (el.approximate(epsilon=1.0, delta=0.1), 0.5, 0.1),
    (el.laplace(epsilon=1.0), 0.1, 0.01),
    (el.laplace(epsilon=1.0), 0.0, 0.0),
    (el.laplace(epsilon=1.0), 1.0, 1.0),
]


@pytest.mark.parametrize(("experiment", "prior", "fpr"), CASES)
def test_charts_are_plain_definitions(experiment: el.Experiment, prior: float, fpr: float) -> None:
    for chart in (charts.roc(experiment, prior, fpr), charts.precision_recall(experiment, prior, fpr)):
        assert all(0 <= x <= 100 and 0 <= y <= 100 for x, y in (*chart.curve, chart.best, chart.chosen))
        for width in (charts.SIDE_BY_SIDE, charts.PHONE):
            spec = chart.spec(width)
            texts = {layer["mark"]["text"] for layer in spec["layer"] if layer["mark"]["type"] == "text"}
            assert "without the release" in texts
            assert chart.chosen_label in texts
            assert any(set(label) <= texts for label in chart.best_labels)


def test_dots_stand_where_the_readings_are() -> None:
    e = el.laplace(epsilon=1.0)
    chart = charts.roc(e, 0.5, 0.1)
    assert chart.chosen == pytest.approx((10, 100 * e.recall(0.1)))
    assert chart.best == pytest.approx((30.32653, 69.67347), abs=1e-4)
    assert chart.best_labels[0] == ("best guess: finds 70", "with 30 false alarms")
    assert chart.chosen_label == "27"
    pr = charts.precision_recall(e, 0.5, 0.1)
    assert pr.chosen == pytest.approx((100 * e.recall(0.1), 100 * e.precision(0.1)))


def test_a_chart_is_as_wide_as_its_place() -> None:
    for width, place in ((charts.SIDE_BY_SIDE, 380), (charts.PHONE, 350)):
        svg = charts.render(charts.roc(el.laplace(epsilon=1.0)), width)
        found = re.search(r'<svg [^>]*\bwidth="(\d+)"', svg)
        assert found
        assert int(found[1]) == place
        assert {int(s) for s in re.findall(r'font-size="(\d+)px"', svg)} == {15}


# -- icons --------------------------------------------------------------------------------------------------------


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
    parse(svg)
    assert tuple(svg.count(f'class="{role}"') for role in ("base", "added", "rest")) == counts


def test_columns_fill_before_rows() -> None:
    placed = re.findall(r'class="(\w+)" x="([\d.]+)" y="([\d.]+)"', icons.icons(0.5, 0.52))
    added = [(float(x), float(y)) for role, x, y in placed if role == "added"]
    assert len({x for x, _ in added}) == 1


@pytest.mark.parametrize("limit", [0.0, 0.5, 0.55, 0.57, 1.0])
def test_the_limit_is_a_step(limit: float) -> None:
    svg = icons.icons(0.5, 0.6, limit)
    parse(svg)
    assert f">limit {round(100 * limit)}</text>" in svg
