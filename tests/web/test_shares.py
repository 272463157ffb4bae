"""The sliders of a report: other shares of ε from what the page carries, by form, by htmx and by the API."""

from __future__ import annotations

import base64
import html
import json
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("duckdb", reason="assessing needs epsilens[data]")


from epsilens.assessment.assess import Assessment, assess
from epsilens.assessment.split import SplitBasis, basis_of
from epsilens.plan.file import read_release
from epsilens.show.assessment import report as report_of
from epsilens.show.assessment.report import HEADING, split_section
from epsilens.web import tasks as sharing
from epsilens.web.form import EXAMPLES
from epsilens.web.limits import ServerLimits
from epsilens.web.pool import Call, Pool, TaskRequest, table_allowance
from epsilens.web.tasks import Task
from epsilens.web.worker import task_answer

from .navigation import followed

TEXT = EXAMPLES["epsilens:rand-hie"]
SHARES = (0.5, 0.3, 0.2)
UPLOADED = """title: Days by ward
data: {table: upload, quasi_identifiers: [age]}
queries:
- {count: true, by: ward, groups: [a, b, "<i>c</i>"]}
- {sum: days, bounds: [0, 10]}
mechanism: {noise: laplace, epsilon: 1.0}
limits: {success: 0.6}
"""
CSV = "age,ward,days\n" + "".join(f"{20 + i % 40},{'ab'[i % 2]},{i % 11}\n" for i in range(300))


@pytest.fixture(scope="module")
def made() -> Assessment:
    return assess(TEXT)


@pytest.fixture(scope="module")
def again() -> Assessment:
    """The whole road for the plan with these shares."""
    release = read_release(TEXT)
    return assess(release.shared(SHARES))


@pytest.fixture(scope="module")
def report(client: Any) -> str:
    return str(followed(client, client.get("/assess", params={"yaml": TEXT})).text)


def _hidden(page: str) -> dict[str, str]:
    """What the form of the sliders carries."""
    form = re.search(r'<form class="share-form".*?</form>', page, re.DOTALL)
    assert form is not None
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form[0])
    return {name: html.unescape(value) for name, value in found}


@pytest.mark.always
def test_what_the_page_carries_comes_back_as_it_was(made: Assessment) -> None:
    names, basis = sharing._unpack(sharing.pack_basis(made))
    assert isinstance(basis, SplitBasis)
    assert basis == basis_of(made)
    assert len(names) == 3
    assert all(answer.group == () for one in basis.answers for answer in one)


@pytest.mark.always
def test_the_panel_of_a_report(report: str, text_of: Any) -> None:
    words = text_of(report)
    assert "Share ε differently" in words
    assert re.findall(r'name="shares" value="([^"]*)"', report) == ["33.34", "33.33", "33.33"]
    assert "as assessed it is 36%" in words


def test_the_panel_follows_the_section_it_is_about(
    made: Assessment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report is cut after "How ε is shared", or ends before the panel where it has no such section."""
    whole = report_of.present(made)
    others = tuple(s for s in whole.sections if s.heading != HEADING)
    section = split_section(made)
    assert section is not None
    monkeypatch.setattr(sharing, "assess", lambda *a, **k: made)
    for sections, after in (((*others[:2], section, *others[2:]), others[2].heading), (others, "")):
        monkeypatch.setattr(sharing, "present", lambda a, s=sections: replace(whole, sections=s))
        found = task_answer(Task({"task": "assess", "yaml": TEXT}))
        first, rest = (re.findall(r"<h2>(.*?)</h2>", found[key]) for key in ("fragment", "rest"))
        assert first[-1] == (HEADING if after else others[-1].heading)
        assert rest[:1] == ([after] if after else [])


@pytest.mark.always
def test_moved_shares_show_the_numbers_of_a_new_assessment(
    client: Any, report: str, text_of: Any, again: Assessment
) -> None:
    page = client.post("/assess/shares", data={**_hidden(report), "shares": ["50", "30", "20"]})
    assert page.status_code == 200
    for query, error in zip(again.queries, re.findall(r'id="share-error-\d">(.*?)</p>', page.text), strict=True):
        assert query.planned.worst is not None
        assert f"error {100 * query.planned.worst.relative:.1f}%" in text_of(error)
    table = re.search(r'<div id="shared">.*?</table>', page.text, re.DOTALL)
    assert table is not None
    for risk in again.risks:
        assert risk.name in text_of(table[0])
    membership = next(r for r in again.risks if r.key == "membership")
    assert f"Membership test Now {100 * membership.planned:.0f}" in text_of(table[0])


@pytest.mark.parametrize("to", ["equal", "least error"])
def test_the_two_divisions_have_a_button(client: Any, report: str, made: Assessment, to: str) -> None:
    page = client.post("/assess/shares", data={**_hidden(report), "shares": ["98", "1", "1"], "to": to})
    assert made.split is not None
    expected = (made.split.equal if to == "equal" else made.split.best).shares
    found = [float(x) for x in re.findall(r'name="shares" value="([^"]*)"', page.text)]
    assert found == pytest.approx([100 * s for s in expected], abs=0.011)
    assert sum(found) == pytest.approx(100, abs=1e-9)


def test_the_plan_with_these_shares_can_be_assessed(client: Any, report: str) -> None:
    page = client.post("/assess/shares", data={**_hidden(report), "shares": ["50", "30", "20"]}).text
    link = re.search(r'<a href="(/assess\?yaml=[^"]*)">Assess the plan', page)
    assert link is not None
    from urllib.parse import parse_qs, urlsplit

    plan = read_release(parse_qs(urlsplit(html.unescape(link[1])).query)["yaml"][0])
    assert plan.shares == SHARES
    assert plan.limits == read_release(TEXT).limits


@pytest.mark.parametrize(("entry", "at"), [("0", 1), ("", 1), ("x", 0), ("-5", 2), ("nan", 2), ("1e400", 0)])
def test_an_entry_that_is_no_share_stands_by_its_field(client: Any, report: str, entry: str, at: int) -> None:
    shares = ["50", "30", "20"]
    shares[at] = entry
    page = client.post("/assess/shares", data={**_hidden(report), "shares": shares})
    assert page.status_code == 422
    assert re.findall(r'<p class="error" id="error-(share\d)"><span', page.text) == [f"share{at}"]
    assert re.findall(r'name="shares" value="([^"]*)"', page.text) == shares


def test_a_report_on_an_upload_carries_all(client: Any, text_of: Any) -> None:
    """The table is not needed again; the shares move without it, and no name of a group travels with them."""
    page = followed(client, client.post("/assess", files={"file": ("p.csv", CSV.encode())}, data={"yaml": UPLOADED}))
    assert page.status_code == 200, text_of(page.text)[:300]
    carried = _hidden(page.text)
    token = re.search(r'name="file" value="([^"]+)"', page.text)
    assert token is not None
    client.post(f"/assess/file/{token[1]}/forget")
    raw = zlib.decompress(base64.urlsafe_b64decode(carried["basis"])).decode()
    assert "<i>c" not in raw
    moved = client.post("/assess/shares", data={**carried, "shares": ["80", "20"]})
    assert moved.status_code == 200
    assert "Go back in your browser to see the report." in moved.text
    assert "Assess the plan with these shares" not in moved.text
    assert "share: 0.8" in moved.text


@pytest.mark.parametrize(
    "basis",
    [
        "",
        "x",
        "é",
        base64.urlsafe_b64encode(b"not packed").decode(),
        base64.urlsafe_b64encode(zlib.compress(b"[1, 2]")).decode(),
        base64.urlsafe_b64encode(zlib.compress(b'{"names": [], "basis": {"risks": 1}}')).decode(),
        base64.urlsafe_b64encode(zlib.compress(b"[" * 100_000)).decode(),
        base64.urlsafe_b64encode(zlib.compress(b" " * 50_000_000)).decode(),
    ],
)
def test_hostile_packages_are_a_sentence(tmp_path: Path, basis: str) -> None:
    made = task_answer(Task({"task": "shares", "yaml": TEXT, "basis": basis, "shares": [1, 1, 1]}))
    assert made["status"] == 422
    assert made["error"].startswith("the shares came without the report they belong to")


def test_a_package_of_another_plan_is_refused(tmp_path: Path, made: Assessment) -> None:
    other = EXAMPLES["epsilens:adult"].replace("- name: Capital gains\n  sum: capital_gain\n  bounds: [0, 20000]\n", "")
    request: TaskRequest = {"task": "shares", "yaml": other, "basis": sharing.pack_basis(made)}
    assert "another plan" in task_answer(Task(request))["error"]


def test_a_report_with_too_much_to_carry_has_no_sliders(made: Assessment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "MOST_PACKED", 100)
    assert sharing.pack_basis(made) == ""


def test_a_process_that_read_no_table_is_used_again(made: Assessment) -> None:
    """A slider asks often, and imports take longer than the answer."""
    pool, packed = Pool(ServerLimits()), sharing.pack_basis(made)
    allowance = table_allowance(pool.limits, "shares")
    processes = []

    def ask(**more: Any) -> Any:
        found = pool.run(Call({"task": "shares", "yaml": TEXT, **more}, allowance))
        processes.append(pool._idle[-1].process)
        return found

    try:
        first = ask(basis=packed, shares=[2, 1, 1])
        second = ask(basis=packed, shares=[1, 1, 2])
        broken = ask(basis="", shares=[1, 1, 2])
        assert len(set(processes)) == 1
        assert first["data"]["shares"] == [0.5, 0.25, 0.25]
        assert second["data"]["shares"] == [0.25, 0.25, 0.5]
        assert broken["status"] == 422
    finally:
        pool.close()


# -- the API ------------------------------------------------------------------------------------------------------


@pytest.mark.always
@pytest.mark.parametrize("as_text", [True, False])
def test_the_api_shares_differently(client: Any, again: Assessment, as_text: bool) -> None:
    release = TEXT if as_text else read_release(TEXT).model_dump(mode="json", exclude_none=True)
    found = client.post("/api/assess/shares", json={"release": release, "shares": [5, 3, 2]})
    assert found.status_code == 200, found.text
    data = found.json()
    assert data["shares"] == list(SHARES)
    worst = [q.planned.worst for q in again.queries]
    assert data["errors"] == pytest.approx([w.relative for w in worst if w is not None], rel=1e-9)
    expected = {r.key: r.planned for r in again.risks}
    assert {r["key"]: r["planned"] for r in data["risks"]} == pytest.approx(expected, rel=1e-12)
    assert {"equal", "least_error", "looks_at_data", "epsilon", "queries", "schema"} <= set(data)
    assert json.loads(json.dumps(data, allow_nan=False)) == data


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"release": TEXT, "shares": [1, 2]}, "shares"),
        ({"release": TEXT, "shares": [1, 2, 0]}, "shares.3"),
        ({"release": TEXT}, "shares"),
        ({"release": "x", "shares": [1]}, "release"),
        ({"release": TEXT.partition("- sum")[0] + "mechanism: {epsilon: 1}\n", "shares": [1]}, "queries"),
        ({"release": {"data": {"table": "/etc/passwd"}, "queries": [{"count": True}], "mechanism": {"epsilon": 1}},
          "shares": [1]}, "data.table"),
    ],
)  # fmt: skip
def test_the_api_says_what_is_wrong(client: Any, sent: dict[str, Any], field: str) -> None:
    found = client.post("/api/assess/shares", json=sent)
    assert found.status_code == 422
    assert found.json()["field"] == field
    assert found.json()["error"].endswith(".")


def test_the_api_is_described(client: Any) -> None:
    schema = client.get("/openapi.json").json()
    body = schema["paths"]["/api/assess/shares"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["$ref"].endswith("/SharesRequest")
    assert "least_error" in schema["components"]["schemas"]["SharesAnswer"]["properties"]
