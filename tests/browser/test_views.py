"""Each view in a browser at two widths: the numbers are the library's, nothing scrolls sideways, axe is content."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

import epsilens as el
from epsilens.show.explanation import chosen, explain
from epsilens.show.render.html import held
from epsilens.web.form import EXAMPLES

Visit = Callable[..., Any]
WIDTHS = [1280, 390]
REPORT = f"/assess?{urlencode({'yaml': EXAMPLES['epsilens:rand-hie']})}"
VIEWS = {
    "explain": "/explain?mechanism=laplace&epsilon=1",
    "gaussian": "/explain?mechanism=gaussian&sigma=2&shift=0.5",
    "exponential": "/explain?mechanism=exponential&epsilon=1",
    "dpsgd": "/explain?mechanism=dpsgd&sigma=1&rate=0.01&steps=1000",
    "wrong": "/explain?mechanism=laplace&epsilon=-1",
    "choose": "/choose?mechanism=laplace&reading=recall&at_most=0.2",
    "nothing": "/choose?at_most=0.4",
    "compare": "/compare?a=laplace:epsilon=1&b=gaussian:psi=1&c=pure:epsilon=1&d=geometric:epsilon=0.5",
    "claim": "/claim?epsilon=8&delta=0.000001",
    "reports": "/compare/reports",
    "board": REPORT.replace("/assess?", "/assess/board?"),
    "notions": "/notions?from=ip&epsilon=1&dependent=4",
    "ledger": "/ledger?account=patients",
    "assess": "/assess",
    "table": "/assess?table=epsilens:rand-hie",
    "asking": f"/assess?{urlencode({'yaml': EXAMPLES['epsilens:adult'].replace('epsilens:adult', 'people.csv')})}",
    "report": REPORT,
    "papers": "/papers",
    "paper": "/papers/liu2019",
    "errata": "/papers/errata",
    "help": "/help",
    "api": "/api",
    "missing": "/no-such-page",
}


@cache
def _axe() -> str:
    return Path(__file__).with_name("axe.min.js").read_text("utf-8")


def serious(page: Any) -> list[str]:
    """What axe finds serious or critical."""
    page.evaluate(_axe())
    found = page.evaluate("async () => (await axe.run(document, {resultTypes: ['violations']})).violations")
    return [
        f"{v['id']}: {v['help']} {[n['target'] for n in v['nodes']][:3]}"
        for v in found
        if v["impact"] in ("serious", "critical")
    ]


def shown(page: Any, selector: str) -> None:
    """Wait for what a click or a finished job brings, and for the style and the script of the page that it is on."""
    page.wait_for_selector(selector, state="attached")
    page.wait_for_load_state()
    page.wait_for_selector(selector)


def sideways(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > window.innerWidth"))


#: Every view on a dark phone, and those whose layout differs on a desk in the light.
SEEN = [
    *((name, 390, "dark") for name in VIEWS),
    *(
        (n, 1280, "light")
        for n in (
            "explain",
            "compare",
            "ledger",
            "assess",
            "table",
            "asking",
            "report",
            "claim",
            "board",
            "papers",
            "paper",
        )
    ),
]


@pytest.mark.always(4)
@pytest.mark.parametrize(("name", "width", "scheme"), SEEN)
def test_axe_and_no_sideways_scrolling(visit: Visit, name: str, width: int, scheme: str) -> None:
    page = visit(VIEWS[name], width, color_scheme=scheme)
    page.wait_for_selector("h1:not(.job h1)", state="attached")
    page.wait_for_load_state()
    assert not sideways(page)
    assert serious(page) == []
    assert page.locator("h1").count() == 1


@pytest.mark.parametrize("width", WIDTHS)
def test_the_ledger_says_what_adds_up(visit: Visit, width: int) -> None:
    page = visit("/help", width)
    page.get_by_role("link", name="Ledger", exact=True).first.click()
    page.wait_for_url("**/ledger")  # loaded: a chart is hidden by the stylesheet, which may come after the words
    page.wait_for_selector("#result .lead")
    said = " ".join(page.locator("#result .lead").inner_text().split())
    assert said.startswith("After 3 releases an adversary guesses right at most 58 times of 100")
    assert "at most 65" in said
    assert page.locator("#result svg[role=img]:visible").count() == 1  # the chart made for this width
    assert page.get_by_text("Visits in February").is_visible()
    page.get_by_role("link", name="doctors").click()
    page.wait_for_function("() => document.querySelector('#result .lead').innerText.startsWith('Nothing is released')")
    assert page.locator("form").count() == 0  # there is nothing to send


@pytest.mark.parametrize("width", WIDTHS)
def test_explain_shows_the_library_s_numbers(visit: Visit, width: int) -> None:
    page = visit("/explain?mechanism=staircase&epsilon=0.7&prior=0.3&fpr=0.05", width)
    about = explain(el.mechanisms.staircase(epsilon=0.7), prior=0.3, fpr=0.05)
    assert " ".join(page.locator("#result .lead").inner_text().split()) == about.sentence
    shown = [cell.strip() for cell in page.locator(".readings td.value").all_inner_texts()]
    assert shown == [row.text for row in about.rows if row.shown]
    assert page.locator("#result svg[role=img]").count() == 4


@pytest.mark.parametrize("width", WIDTHS)
def test_choose_shows_the_library_s_number(visit: Visit, width: int) -> None:
    page = visit("/choose", width)
    page.fill("#f-at_most", "60")  # of 100
    page.wait_for_function("() => document.querySelector('#result h1').textContent.includes('0.4462')")
    about = chosen(el.choose(el.laplace, "epsilon", at_most=0.6))
    assert page.locator("#result h1").inner_text() == held(about.headline)
    page.wait_for_url("**at_most=0.6*")
    page.goto("/choose?mechanism=gaussian&at_most=0.6")
    value = el.choose(el.gaussian, "sigma", at_most=0.6)
    assert page.locator("#result h1").inner_text() == held(chosen(value).headline)


@pytest.mark.parametrize("width", WIDTHS)
def test_compare_shows_the_library_s_numbers(visit: Visit, width: int) -> None:
    page = visit("/compare?a=laplace:epsilon=1&b=gaussian:psi=1", width)
    page.click("button:has-text('Add a mechanism')")
    page.wait_for_selector("#f-c_mechanism")
    page.select_option("#f-c_mechanism", "pure")
    page.wait_for_selector("#f-c_epsilon")
    page.fill("#f-c_epsilon", "2")
    page.wait_for_url("**c=pure:epsilon%3D2*")
    row = page.locator(".compare-table tbody tr", has_text="Success").locator("td.value").all_inner_texts()
    built = (el.laplace(epsilon=1.0), el.gaussian(psi=1.0), el.mechanisms.pure(epsilon=2.0))
    assert row == [explain(e).row("success").text for e in built]
    assert not sideways(page)


@pytest.mark.always
def test_assess_shows_the_library_s_recommendation(visit: Visit) -> None:
    from epsilens.assessment.assess import assess
    from epsilens.show.assessment.phrases import headline

    page = visit("/assess", 390)
    page.click("text=Show an example on bundled data")
    shown(page, ".report h1")
    assert page.locator(".report h1").inner_text() == headline(assess(EXAMPLES["epsilens:rand-hie"]))
    assert not sideways(page)
    page.wait_for_url("**yaml=*")


@pytest.mark.parametrize("name", ["compare", "claim", "reports", "board", "assess", "table", "asking"])
def test_nothing_scrolls_sideways_on_the_narrowest_phone(visit: Visit, name: str) -> None:
    assert not sideways(visit(VIEWS[name], 320))


def test_a_link_can_be_copied(visit: Visit) -> None:
    page = visit("/explain?mechanism=laplace&epsilon=2", permissions=["clipboard-read", "clipboard-write"])
    page.click("a.copy")
    page.wait_for_function("() => document.querySelector('#announce').textContent.includes('Link copied')")
    assert page.evaluate("navigator.clipboard.readText()").endswith("/explain?mechanism=laplace&epsilon=2")


def test_dark_and_light_differ(visit: Visit) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    assert visit("/", color_scheme="dark").evaluate(paper) == "rgb(21, 24, 27)"
    assert visit("/", color_scheme="light").evaluate(paper) == "rgb(255, 255, 255)"


def test_the_fonts_are_there(visit: Visit) -> None:
    page = visit("/")
    page.evaluate("document.fonts.ready")
    assert page.evaluate(
        "document.fonts.check('18px \"Source Sans 3\"') && document.fonts.check('26px \"Source Serif 4\"')"
    )


@pytest.mark.parametrize("width", [1280, 390])
def test_charts_are_drawn_at_their_own_size(visit: Visit, width: int) -> None:
    page = visit("/explain?mechanism=laplace&epsilon=1", width)
    scales = page.evaluate(
        "[...document.querySelectorAll('#result svg')].map(s => s.getScreenCTM().a).filter(a => Math.abs(a - 1) > 0.09)"
    )
    assert scales == []
    assert page.evaluate("document.querySelector('.curves svg').getScreenCTM().a") == 1


def test_the_sheet_for_a_board_fits_on_one_page_of_paper(visit: Visit) -> None:
    page = visit(VIEWS["board"])
    shown(page, ".sheet")
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))) == 1
