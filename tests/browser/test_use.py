"""Using the page: sliders, the keyboard, history, a phone, and no JavaScript."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest

import epsilens as el
from epsilens.show.explanation import explain
from epsilens.web.form import EXAMPLES

from .test_views import shown

Visit = Callable[..., Any]
REPORT = f"/assess?{urlencode({'yaml': EXAMPLES['epsilens:rand-hie']})}"
EPSILON = "input[type=range][data-for=f-epsilon]"
LEAD = "#result .lead"


def _said(page: Any) -> str:
    return " ".join(page.locator(LEAD).inner_text().split())


def _waits_for(page: Any, about: Any) -> None:
    page.wait_for_function(
        "words => document.querySelector('#result .lead').innerText.replace(/\\s+/g, ' ').trim() === words",
        arg=about.sentence,
    )


def _becomes(page: Any, condition: str) -> None:
    """Wait until a JavaScript expression is true."""
    page.wait_for_function(f"() => {condition}")


@pytest.mark.parametrize("width", [1280, 390])
def test_a_slider_by_keyboard(visit: Visit, width: int) -> None:
    page = visit("/explain?mechanism=laplace&epsilon=1", width)
    page.focus(EPSILON)
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    _becomes(page, "document.querySelector('#f-epsilon').value === '1.4'")
    _waits_for(page, explain(el.laplace(epsilon=1.4)))
    page.wait_for_url("**/explain?mechanism=laplace&epsilon=1.4")
    assert page.get_attribute(EPSILON, "aria-valuetext") == "1.4"
    assert page.evaluate("document.activeElement.type") == "range"
    _becomes(page, "document.querySelector('#announce').textContent.includes('of 100')")


def test_a_slider_by_mouse_and_the_way_back(visit: Visit) -> None:
    page = visit("/explain?mechanism=laplace&epsilon=1")
    box = page.locator(EPSILON).bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.66, middle)
    page.mouse.down()
    for share in (0.6, 0.5, 0.4, 0.3):
        page.mouse.move(box["x"] + box["width"] * share, middle, steps=3)
    page.mouse.up()
    _becomes(page, "Number(document.querySelector('#f-epsilon').value) < 0.2")
    epsilon = float(page.input_value("#f-epsilon"))
    _waits_for(page, explain(el.laplace(epsilon=epsilon)))
    page.wait_for_url(f"**epsilon={page.input_value('#f-epsilon')}")
    page.go_back()  # a whole drag is one step
    page.wait_for_url("**epsilon=1")
    _waits_for(page, explain(el.laplace(epsilon=1.0)))
    assert page.input_value("#f-epsilon") == "1"


def test_exact_entry_moves_the_slider(visit: Visit) -> None:
    page = visit("/explain?mechanism=laplace&epsilon=1")
    page.fill("#f-epsilon", "0.4143")
    _waits_for(page, explain(el.laplace(epsilon=0.4143)))
    assert 520 < float(page.input_value(EPSILON)) < 550
    page.fill("#f-prior", "20")
    _waits_for(page, explain(el.laplace(epsilon=0.4143), prior=0.2))
    page.wait_for_url("**prior=0.2*")


def test_an_error_and_its_mending(visit: Visit) -> None:
    page = visit("/explain?mechanism=laplace&epsilon=1")
    page.fill("#f-epsilon", "-3")
    page.wait_for_selector("#error-epsilon:not(:empty)")
    assert "ε is -3: give a number above 0." in page.locator("#error-epsilon").inner_text()
    page.wait_for_selector("#f-epsilon[aria-invalid=true]")
    assert page.input_value("#f-epsilon") == "-3"
    page.fill("#f-epsilon", "3")
    _waits_for(page, explain(el.laplace(epsilon=3.0)))
    page.wait_for_selector("#error-epsilon:empty", state="attached")
    page.wait_for_selector("#f-epsilon:not([aria-invalid])")


def test_every_link_is_reached_by_tab(visit: Visit) -> None:
    page = visit("/explain?mechanism=laplace&epsilon=1")
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate("document.activeElement.textContent.trim().slice(0, 40) || document.activeElement.id")
        )
        outlined = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outlined != "none" or page.evaluate("document.activeElement === document.body")
    for words in ("Skip to the result", "epsilens", "Explain", "Choose", "Assess", "Compare", "Help", "Copy link"):
        assert words in seen, seen
    page = visit("/explain")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**#result")


def test_a_mechanism_swaps_the_controls(visit: Visit) -> None:
    page = visit("/explain?mechanism=laplace&epsilon=1")
    page.focus("#f-mechanism")
    page.select_option("#f-mechanism", "gaussian")
    page.wait_for_selector("#f-delta")
    _waits_for(page, explain(el.gaussian(epsilon=1.0, delta=1e-5)))
    _becomes(page, "document.activeElement.id === 'f-mechanism'")
    page.wait_for_url("**delta=0.00001*")
    page.select_option("#f-by", "sigma")  # the same noise, said another way
    page.wait_for_selector("#f-sigma")
    assert page.input_value("#f-sigma") == "3.73063"


def test_a_phone_folds_the_rest(visit: Visit) -> None:
    page = visit("/explain?mechanism=laplace&epsilon=1", 390)
    assert page.is_visible("#f-mechanism")
    assert page.is_visible("#f-epsilon")
    assert not page.is_visible("#f-prior")
    page.click("summary:has-text('More settings')")
    assert page.is_visible("#f-prior")
    page.fill("#f-prior", "20")
    _waits_for(page, explain(el.laplace(epsilon=1.0), prior=0.2))
    assert page.is_visible("#f-prior")
    small = page.evaluate(
        "[...document.querySelectorAll('select, input.number, input[type=range], .links a, summary')]"
        ".filter(e => e.offsetParent).map(e => e.getBoundingClientRect().height).filter(h => h < 44)"
    )
    assert small == []


def test_nothing_is_smaller_than_fifteen_pixels(visit: Visit) -> None:
    page = visit("/explain?mechanism=laplace&epsilon=1")
    sizes = page.evaluate(
        "[...document.querySelectorAll('body *')].filter(e => e.childNodes.length && [...e.childNodes]"
        ".some(n => n.nodeType === 3 && n.textContent.trim())).map(e => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(sizes) >= 15


def test_computing_is_said_while_an_answer_is_out(visit: Visit) -> None:
    page = visit("/explain?mechanism=laplace&epsilon=1")
    assert page.is_hidden("#computing")
    held: list[Any] = []
    page.route("**/explain?*", lambda request: held.append(request))  # it leaves the page and waits here
    page.fill("#f-epsilon", "2")
    page.wait_for_selector("#computing:not([hidden])")
    _becomes(page, "getComputedStyle(document.querySelector('#result')).opacity === '0.6'")
    for request in held:
        request.continue_()
    page.unroute("**/explain?*")
    page.wait_for_selector("#computing", state="hidden")
    _waits_for(page, explain(el.laplace(epsilon=2.0)))


def test_a_server_that_is_gone_is_seen(visit: Visit) -> None:
    """The old number must not pass for the new one: it is dimmed, and a sentence says why."""
    page = visit("/explain?mechanism=laplace&epsilon=1", quiet=["net::ERR_", "htmx:"])
    page.route("**/explain?*", lambda request: request.abort())
    page.fill("#f-epsilon", "2")
    page.wait_for_selector("#silent:not([hidden])")
    assert "does not answer" in page.locator("#silent").inner_text()
    assert page.locator("#silent").bounding_box()["height"] > 20
    _becomes(page, "Number(getComputedStyle(document.querySelector('#result')).opacity) < 0.5")
    page.unroute("**/explain?*")
    page.fill("#f-epsilon", "3")
    _waits_for(page, explain(el.laplace(epsilon=3.0)))
    page.wait_for_selector("#silent", state="hidden")
    _becomes(page, "getComputedStyle(document.querySelector('#result')).opacity === '1'")


# -- how ε is shared ----------------------------------------------------------------------------------------------


def _shares(page: Any) -> list[float]:
    return [float(field.input_value()) for field in page.locator("input[name=shares]").all()]


def _shares_of(visit: Visit, width: int, **options: Any) -> Any:
    """The report, which follows a page that waits for it, with its script at work."""
    page = visit(REPORT, width, **options)
    shown(page, "#shares")
    return page


def _moved(page: Any, done: Callable[[], Any]) -> None:
    """Do it, and wait for the numbers that follow."""
    with page.expect_response("**/assess/shares"):
        done()
    page.wait_for_selector("#shared:not(.busy)")


def test_moving_one_share_makes_room_and_the_numbers_follow(visit: Visit) -> None:
    from epsilens.assessment.assess import assess
    from epsilens.plan.file import read_release

    page = _shares_of(visit, 1280)
    slider = page.locator("#shares input[type=range]").first
    slider.focus()
    _moved(page, lambda: page.keyboard.press("PageUp"))
    first, *others = _shares(page)
    assert first == pytest.approx(43.3, abs=0.05)
    assert sum(_shares(page)) == pytest.approx(100)
    assert others[0] == pytest.approx(others[1], abs=0.02)
    assert slider.evaluate("s => s === document.activeElement")  # what is moved is never replaced
    plan = read_release(EXAMPLES["epsilens:rand-hie"]).shared(tuple(s / 100 for s in _shares(page)))
    worst = assess(plan).queries[0].planned.worst
    assert worst is not None
    expect = f"error {100 * worst.relative:.1f}%"
    page.wait_for_function("text => document.querySelector('#share-error-0').textContent.includes(text)", arg=expect)
    _becomes(page, "document.querySelector('#announce').textContent.startsWith('With these shares')")


def test_a_share_can_be_typed_and_the_best_be_asked_for(visit: Visit) -> None:
    page = _shares_of(visit, 390)
    _moved(page, lambda: page.fill("#f-share2", "50"))
    assert _shares(page) == pytest.approx([25, 25, 50], abs=0.02)
    _moved(page, lambda: page.click("#shares button:text-is('Least error')"))
    _becomes(page, "Number(document.querySelector('#f-share0').value) > 80")
    errors = [e.inner_text().split(" as")[0] for e in page.locator(".share-error").all()]
    assert len({e.split()[1] for e in errors}) == 1  # every query is off by the same share of its answer
    _moved(page, lambda: page.click("#shares button:text-is('Equal')"))
    _becomes(page, "Number(document.querySelector('#f-share0').value) < 34")
    _moved(page, lambda: page.fill("#f-share1", "none"))
    page.wait_for_selector("#error-share1:has-text('give a number above 0')")
    assert page.input_value("#f-share1") == "none"


def test_shares_without_javascript(visit: Visit) -> None:
    page = _shares_of(visit, 1280, java_script_enabled=False)
    assert not page.is_visible("#shares input[type=range]")
    page.fill("#f-share0", "60")
    page.fill("#f-share1", "20")
    page.fill("#f-share2", "20")
    page.click("#shares button:text-is('Show')")
    page.wait_for_url("**/assess/shares")
    assert _shares(page) == [60, 20, 20]
    page.click("#shares button:text-is('Equal')")
    page.wait_for_selector("#f-share0[value='33.34']")
    page.click("text=Back to the report")
    shown(page, ".report h1")


def test_the_names_of_groups_are_asked_for(visit: Visit) -> None:
    """The hint is there exactly while a query by groups says neither which nor from how many people on."""
    page = visit("/assess?table=epsilens:rand-hie")
    assert not page.is_visible("#names-q0")
    page.fill("#f-q0_groups", "")
    page.wait_for_selector("#names-q0", state="visible")
    page.fill("#f-q0_threshold", "auto")
    page.wait_for_selector("#names-q0", state="hidden")
    page.select_option("select[name=q0_by]", "")
    page.wait_for_selector("#f-q0_groups", state="hidden")
    assert not page.is_visible("#f-q1_groups")
    page.select_option("select[name=q1_kind]", "histogram")
    page.wait_for_selector("#names-q1", state="visible")


# -- without JavaScript -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1280, 390])
def test_explain_without_javascript(visit: Visit, width: int) -> None:
    page = visit("/", width, java_script_enabled=False)
    assert not page.is_visible(EPSILON)
    page.fill("#f-epsilon", "0.5")
    page.fill("#f-prior", "30")
    page.click("button:has-text('Explain')")
    page.wait_for_url("**/explain?mechanism=laplace&epsilon=0.5&prior=0.3")
    assert _said(page) == explain(el.laplace(epsilon=0.5), prior=0.3).sentence
    page.select_option("#f-mechanism", "gaussian")
    page.click("button:has-text('Explain')")
    page.wait_for_selector("#f-delta")


def test_the_other_views_without_javascript(visit: Visit) -> None:
    page = visit("/choose", java_script_enabled=False)
    page.fill("#f-at_most", "40")
    page.click("button:has-text('Choose')")
    page.wait_for_selector("#result h1:text-is('No ε meets this limit')")
    page = visit("/compare", java_script_enabled=False)
    page.fill("#f-a_epsilon", "0.7")
    page.click("button:has-text('Add a mechanism')")
    page.wait_for_url("**a=laplace:epsilon%3D0.7*")
    page.wait_for_selector(".card:nth-child(3)")
    page.click("button:has-text('Take B away')")
    page.wait_for_function("() => document.querySelectorAll('.card').length === 2")
    assert page.input_value("#f-a_epsilon") == "0.7"
