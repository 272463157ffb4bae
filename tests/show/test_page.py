"""The page, the charts and the icon array: self-contained, escaped, accessible."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser

import pytest

import epsilens as el
from epsilens.show.document import Document
from epsilens.show.explanation import Explanation, chosen, explain
from epsilens.show.render import html
from epsilens.worlds import Worlds, WorldsKind

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
    assert '<strong class="risk">70 times of 100</strong>' in page
    assert "<strong>50 times of 100.</strong>" in page
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
    worlds = Worlds(WorldsKind.OTHER, words=(nasty, f"it's {nasty} & more"))
    hostile = el.Experiment(e.law, nasty, {nasty: nasty}, worlds, (nasty,))
    shown = explain(hostile).with_command(nasty)
    for text in (shown.to_html(), shown.to_html_fragment(), html.page(Document(nasty, nasty, ()))):
        assert "<script" not in text
        parse(text)
    assert "<script" not in shown.to_markdown().split("```")[0].replace("\\<script", "")


def test_the_fragment_needs_nothing(about: Explanation, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("resvg_py", "matplotlib", "pandas"):
        monkeypatch.setitem(sys.modules, package, None)
    seen = parse(about.to_html_fragment()).seen
    drawn = {"style", "svg", "g", "path", "circle", "text", "use", "defs"}
    assert {tag for tag, _ in seen} <= {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td", "sub"} | drawn
    assert "http" not in about.to_html_fragment().replace("http://www.w3.org/2000/svg", "")
    assert len(about.to_html_fragment()) < 60_000
    assert el.laplace(epsilon=1.0)._repr_html_() == about.to_html_fragment()


def test_a_choice_puts_its_instruction_on_top() -> None:
    page = chosen(el.choose(el.laplace, "epsilon", at_most=0.55)).to_html()
    parse(page)
    assert "<h1>Use ε\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}0.2107 or less</h1>" in page
    assert "<p class=\"lead\">An adversary who knows every other record then guesses" in page  # fmt: skip
    assert ">limit 55</text>" in page
