"""A table of one's own on the page: brought, understood, mended, assessed, linked; with a script and without."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from .test_views import serious, shown, sideways

Visit = Callable[..., Any]
_WARDS = ("Cardiology", "cardiology", "Surgery")
VISITS = "Patient ID,Sex,Ward,Cost\n" + "".join(
    f'P{i // 3:04d},{"FM"[i % 2]},{_WARDS[i % 3]},"{1 + i % 9},{i % 20:03d}.50"\n' for i in range(600)
)
FORM = "#plan-form"


@pytest.fixture
def visits(tmp_path: Path) -> str:
    file = tmp_path / "visits 2024.csv"
    file.write_text(VISITS)
    return str(file)


def _focused(page: Any, field: str) -> None:
    """Wait for the focus: the page's script, or the browser without one, moves it after what it marks is there."""
    page.wait_for_selector(f"#{field}:focus", state="attached")


def _content(page: Any, width: int) -> None:
    assert not sideways(page)
    assert serious(page) == []
    assert page.locator("h1").count() == 1
    assert page.viewport_size["width"] == width


@pytest.mark.always
def test_from_a_file_to_its_report(visit: Visit, visits: str) -> None:
    width = 390
    page = visit("/assess", width, color_scheme="dark")
    # Files that are refused say why beside the field, whether they were sent or not.
    for name, data, said in (
        ("book.xlsx", b"PK\3\4", "save the sheet as CSV"),
        ("none.csv", b"", "is empty"),
        ("zip.csv", b"PK\3\4" * 9, "spreadsheet or an archive"),
    ):
        page.set_input_files("#f-file", {"name": name, "mimeType": "text/csv", "buffer": data})
        page.wait_for_function("said => document.querySelector('#error-file').textContent.includes(said)", arg=said)
        _focused(page, "f-file")
        assert page.get_attribute("#f-file", "aria-invalid") == "true"
    page.set_input_files("#f-file", visits)
    shown(page, FORM)
    assert page.input_value("#f-person") == "Patient ID"
    assert page.is_visible("text=600 rows of 200 people")
    assert "RAND" not in page.inner_text("main")
    _content(page, width)
    # Enter in any field assesses; what is wrong takes the focus, and nothing typed is lost.
    page.fill("#f-title", "Stays")
    page.click("button.add:has-text('Add a query')")
    page.select_option("#f-q1_kind" if page.is_hidden("#f-q2_kind") else "#f-q2_kind", "sum")
    page.fill("#f-prior", "2")
    page.press("#f-title", "Enter")
    shown(page, "#f-prior[aria-invalid=true]")
    _focused(page, "f-prior")
    assert "write 2%, 2 of 100 or 0.02" in page.inner_text("#error-prior")
    assert " of release" not in page.inner_text("main")
    assert page.input_value("#f-title") == "Stays"
    _content(page, width)
    page.fill("#f-prior", "0.5")
    page.select_option("#f-q1_kind" if page.is_hidden("#f-q2_kind") else "#f-q2_kind", "")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.evaluate("() => { const b = document.querySelector('button.assess'); for (let i = 0; i < 4; i++) b.click(); }")
    shown(page, ".report h1")
    assert len([url for url in sent if url.endswith("/assess")]) == 1
    assert re.search(r"About visits 2024\.csv, keyed hash [0-9a-f]{16}", page.inner_text("#result"))
    assert "visits 2024.csv" in page.title()
    _content(page, width)
    # Back brings what was typed.
    page.go_back()
    shown(page, FORM)
    page.wait_for_function("() => document.querySelector('#f-title').value === 'Stays'")
    page.go_forward()
    shown(page, ".report h1")
    # The link holds the plan and asks for the file; what is typed before it comes is kept.
    page.goto(page.get_attribute("a.copy", "href"))
    assert "Choose visits 2024.csv" in page.inner_text(FORM)
    page.fill("#f-title", "Again")
    page.fill("#f-epsilon", "")
    page.click("button.assess")
    shown(page, "#error-file:not(:empty)")
    assert page.input_value("#f-title") == "Again"
    page.set_input_files("#f-file", visits)
    shown(page, "text=Forget this file")
    assert page.input_value("#f-title") == "Again"
    assert page.input_value("#f-person") == "Patient ID"
    page.click("text=Forget this file")
    shown(page, ".file-form")


def test_a_dropped_file_is_read(visit: Visit) -> None:
    page = visit("/assess")
    page.evaluate(
        "text => { const data = new DataTransfer(); data.items.add(new File([text], 'dropped.csv'));"
        "document.querySelector('.drop').dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true})); }",
        VISITS,
    )
    shown(page, f"{FORM} >> text=dropped.csv")
    assert page.locator("#f-person option").all_inner_texts().count("Patient ID") == 1  # its columns are offered


def test_conditions_are_picked_or_typed(visit: Visit) -> None:
    page = visit("/assess?table=epsilens:rand-hie")
    picker = "#picker-q0_where"
    assert page.input_value(f"{picker} .column >> nth=0") == "mental_visits"
    assert page.input_value(f"{picker} .is >> nth=0") == "is more than"
    page.click(f"{picker} .add")
    page.select_option(f"{picker} .column >> nth=1", "age")
    page.select_option(f"{picker} .is >> nth=1", "is between")
    page.fill(f"{picker} .value >> nth=1", "18")
    page.fill(f"{picker} .to input >> nth=1", "65")
    page.select_option(f"{picker} .joining select", "any")
    page.check(f"{picker} .tick input")
    page.wait_for_function("() => document.querySelector('#t-q0_where').value.includes(' OR ')")
    assert page.input_value("#t-q0_where") == "mental_visits > 0 OR age BETWEEN 18 AND 65"
    assert not page.is_visible(f"{picker} .column >> nth=0")
    page.fill("#t-q0_where", "site in (1, 2) and visits is not null")
    page.uncheck(f"{picker} .tick input")
    shown(page, f"{picker} .value[value='1, 2']")
    assert page.input_value(f"{picker} .is >> nth=1") == "is not empty"
    assert not page.is_visible(f"{picker} .value >> nth=1")
    # The YAML follows.
    page.click("summary:has-text('The plan as YAML')")
    page.fill("#f-epsilon", "0.25")
    page.wait_for_function("() => document.querySelector('#f-yaml').value.includes('0.25')")
    assert "site IN (1, 2) AND visits IS NOT NULL" in page.input_value("#f-yaml")
    # Until somebody writes in it; a mistake is complained of there, with its line.
    page.fill("#f-yaml", page.input_value("#f-yaml").replace("prior: 0.5", "prior: 2"))
    page.click(".yaml-form button:has-text('Assess')")
    shown(page, "#error-yaml:not(:empty)")
    assert re.search(r"Line \d+ of release", page.inner_text("#error-yaml"))
    _focused(page, "f-yaml")


def test_progress_is_shown_and_can_be_ended(visit: Visit) -> None:
    page = visit("/assess?table=epsilens:adult", 390, color_scheme="dark")
    told = {"state": "running", "done": 2, "total": 5, "what": "counting people", "ahead": 0}
    page.route("**/assess/job/*/state", lambda route: route.fulfill(json=told))
    page.fill("#f-title", "Ended")
    page.click("button.assess")
    shown(page, "#job-what:has-text('counting people')")
    assert page.evaluate("[...['value', 'max']].map(k => document.querySelector('#job-bar')[k])") == [2, 5]
    _content(page, 390)
    page.unroute("**/assess/job/*/state")
    page.click("button:has-text('End it')")
    shown(page, "p.said, .report")  # it may have been done by then
    if page.locator("p.said").count():
        assert page.input_value("#f-title") == "Ended"


def test_without_javascript(visit: Visit, visits: str) -> None:
    page = visit("/assess", java_script_enabled=False)
    page.click("a:has-text('Adult')")
    shown(page, "input[name=quasi][value=hours_per_week]")
    page.go_back()
    page.set_input_files("#f-file", visits)
    page.click("button:has-text('Read this file')")
    shown(page, FORM)
    assert page.is_visible("text=Patient ID")
    picker = "#picker-q0_where"
    assert not page.is_visible(f"{picker} .value >> nth=0")
    page.select_option(f"{picker} .column >> nth=0", "Sex")
    page.fill(f"{picker} .value >> nth=0", "F")
    assert page.is_visible(f"{picker} .column >> nth=1")
    page.fill("#f-epsilon", "none")
    page.press("#f-title", "Enter")
    shown(page, "#error-epsilon:not(:empty)")
    _focused(page, "f-epsilon")
    assert page.input_value(f"{picker} .value >> nth=0") == "F"
    page.fill("#f-epsilon", "0.5")
    page.press("#f-epsilon", "Enter")
    shown(page, ".report h1")
    assert "visits 2024.csv" in page.inner_text("#result")


@pytest.mark.always(1)
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_a_release_is_confirmed_once(visit: Visit, width: int, scheme: str) -> None:
    # The same data in a second account would be refused.
    table, count = {390: ("adult", "income = '>50K'"), 1280: ("rand-hie", "mental_visits > 0")}[width]
    plan = (
        f"title: Counted at {width}\ndata: {{table: 'epsilens:{table}'}}\n"
        f"queries:\n- name: Counted\n  count: {count}\n"
        "mechanism: {noise: laplace, epsilon: 0.1}\n"
    )
    page = visit(f"/assess?{urlencode({'yaml': plan})}", width, color_scheme=scheme)
    page.click("#release a.button")
    shown(page, "text=the ledger has several accounts")  # and asks which is meant
    _content(page, width)
    page.fill("#f-account", f"people at {width}")
    page.click("text=Use this account")
    shown(page, f"text=Spend ε = 0.1 of the account people at {width}")
    # Without the tick nothing happens but a sentence by it, which takes the focus.
    page.click("button:text-is('Release')")
    shown(page, "#error-confirm:not(:empty)")
    _focused(page, "f-confirm")
    _content(page, width)
    page.check("#f-confirm")
    page.dblclick("button:text-is('Release')")
    shown(page, "text=Released, and entered in the ledger")
    _content(page, width)
    with page.expect_download() as kept:
        page.click("text=Download CSV")
    first = Path(kept.value.path()).read_text()
    assert "a coin gets 50" in first
    page.reload()
    shown(page, "text=Released, and entered in the ledger")
    page.goto(f"/ledger?account=people+at+{width}")
    shown(page, "#result .lead")
    assert page.locator("#result .lead").inner_text().startswith("After 1 release")
