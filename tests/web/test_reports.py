"""Two assessments side by side, and what is shown as files."""

from __future__ import annotations

import csv
import html
import io
import json
from typing import Any

import pytest
from starlette.testclient import TestClient

import epsilens as el
from epsilens.errors import InputError
from epsilens.web.reports import comparison_rows, comparison_sentence, parse_report

from .conftest import HOST
from .navigation import followed

PLAN = """title: Ages over 40
data: {table: epsilens:adult}
queries: [{name: Over 40, count: age > 40}]
mechanism: {epsilon: EPSILON}
limits: {success: 0.6, error: 0.001}
"""


def report(title: str = "T", planned: float = 0.7, error: float = 0.1, epsilon: float = 1.0) -> dict[str, Any]:
    """The JSON of a report, as small as it may be."""
    return {
        "title": title, "headline": "Lower it", "exceeded": True, "planned": {"epsilon": epsilon},
        "recommended": {"epsilon": 0.4}, "error_limit": 0.2,
        "risks": [{"key": "membership", "name": "Membership test", "reading": "success", "baseline": 0.5,
                   "planned": planned, "limit": 0.6}],
        "queries": [{"title": "Visits", "planned": {"worst": {"relative": error}}}],
    }  # fmt: skip


def test_what_is_taken_of_a_report() -> None:
    a, b = parse_report(json.dumps(report(planned=0.7))), parse_report(report(planned=0.55, error=0.3))
    assert comparison_sentence(a, b).startswith(
        "Whether one worst-placed person is in the table is guessed right 70 times of 100 in A and 55 times of 100 in "
        "B. Without the release it would be 50 times of 100. The least accurate answer is within 10"
    )
    groups = dict(comparison_rows(a, b))
    (test,) = groups["Who could learn what, of 100, at the planned ε"]
    assert (test["cells"], test["over"], test["without"]) == (["70", "55"], [True, False], "50")
    (visits,) = groups["Error of the least accurate group, at the planned ε"]
    assert (visits["cells"], visits["over"]) == (["10.0%", "30.0%"], [False, True])


def test_rows_that_one_report_lacks() -> None:
    other = report()
    other["risks"][0] |= {"key": "belief", "name": "Belief", "reading": "posterior"}
    other["queries"] = []
    groups = dict(comparison_rows(parse_report(report()), parse_report(other)))
    assert [r["cells"][1] for r in groups["Who could learn what, of 100, at the planned ε"]] == ["not met", "70"]
    assert groups["Error of the least accurate group, at the planned ε"][0]["cells"][1] == "not asked"


@pytest.mark.parametrize(
    "data", ["", "[]", "{}", "[" * 20_000, "1" * 5_000, '{"title": 1}', b"\xff\xfe", json.dumps(report("x" * 700))]
)
def test_what_is_no_report(data: Any) -> None:
    with pytest.raises(InputError, match="not the JSON of an assessment"):
        parse_report(data)


@pytest.fixture
def visit(app: Any) -> Any:
    """A browser of its own: reports belong to a visit."""
    made = TestClient(app, base_url=HOST, follow_redirects=False)
    made.get("/assess")
    return made


def test_two_files_and_one_that_is_none(visit: Any, text_of: Any) -> None:
    def sent(**files: str) -> Any:
        named = {f"{k}_file": (f"{k}.json", v, "application/json") for k, v in files.items()}
        away = visit.post("/compare/reports", data={"a": "", "b": ""}, files=named)
        assert away.status_code == 303
        return visit.get(away.headers["location"])

    page = sent(a=json.dumps(report("<b>North</b>")), b=json.dumps(report("South", planned=0.55)))
    assert page.status_code == 200
    assert page.headers["cache-control"] == "no-store"
    assert "&lt;b&gt;North" in page.text
    assert "70 times of 100 in A and 55 times of 100 in B" in text_of(page.text)
    page = sent(a=json.dumps(report("North")), b="no")
    assert page.status_code == 422
    assert "a.json: North" in page.text, "the file that was right is kept"
    assert "▲" in page.text[page.text.index('id="error-b"') :][:120]


def test_reports_are_for_their_visitor_alone(visit: Any, client: Any) -> None:
    files = {"a_file": ("a.json", json.dumps(report("Secret")), "application/json")}
    there = visit.post("/compare/reports", files=files).headers["location"]
    assert "Secret" in visit.get(there).text
    assert "Secret" not in client.get(there).text


def test_the_last_two_of_a_visit(visit: Any, text_of: Any) -> None:
    assert "Assess two plans" in text_of(visit.get("/compare/reports").text)
    for epsilon in ("1.0", "0.2"):
        assert (
            followed(visit, visit.post("/assess", data={"yaml": PLAN.replace("EPSILON", epsilon)})).status_code == 200
        )
    words = text_of(visit.get("/compare/reports").text)
    right = [round(100 * el.laplace(epsilon=e).success()) for e in (1.0, 0.2)]
    assert f"{right[0]} times of 100 in A and {right[1]} times of 100 in B" in words
    # both side by side, as a file
    query = html.unescape(visit.get("/compare/reports").text.partition("/compare/reports.csv?")[2].partition('"')[0])
    both = list(csv.DictReader(io.StringIO(visit.get(f"/compare/reports.csv?{query}").text)))
    found = next(list(r.values()) for r in both if r["name"] == "Membership test")
    assert [found[2].split()[0], found[3].split()[0]] == [str(n) for n in right]
    assert visit.get("/compare/reports.csv?a=x&b=y").status_code == 404
    # what the last report shows, as files
    page = followed(visit, visit.post("/assess", data={"yaml": PLAN.replace("EPSILON", "0.2")}))
    at = page.text.index("/picture/0.svg")
    job = page.text[page.text.rindex('"', 0, at) + 1 : at]
    assert visit.get(f"{job}/picture/0.svg").text.startswith("<svg")
    assert visit.get(f"{job}/picture/0.png").content.startswith(b"\x89PNG")
    assert visit.get(f"{job}/picture/0.pdf").content.startswith(b"%PDF")
    assert visit.get(f"{job}/assessment.pdf").content.startswith(b"%PDF")
    for name in ("picture/99.svg", "picture/0.exe"):
        assert visit.get(f"{job}/{name}").status_code == 404
    rows = list(csv.DictReader(io.StringIO(visit.get(f"{job}/assessment.csv").text)))
    test = next(r for r in rows if r["name"] == "Membership test")
    assert float(test["planned"]) == pytest.approx(el.laplace(epsilon=0.2).success(), rel=1e-12)


def test_readings_and_curves_as_files(client: Any) -> None:
    rows = list(csv.DictReader(io.StringIO(client.get("/explain.csv?mechanism=gaussian&psi=1").text)))
    e = el.gaussian(psi=1.0)
    assert float(next(r for r in rows if r["reading"] == "auc")["value"]) == e.auc()
    sent = "a=laplace:epsilon%3D1&b=gaussian:psi%3D1"
    rows = list(csv.DictReader(io.StringIO(client.get(f"/compare.csv?{sent}").text)))
    row = next(r for r in rows if r["reading"] == "success")
    assert [float(row["A: laplace:epsilon=1"]), float(row["B: gaussian:psi=1"])] == [
        el.laplace(epsilon=1.0).success(), e.success(),
    ]  # fmt: skip
    for at in ("/explain/roc", "/choose/precision-recall", f"/compare/roc?{sent}"):
        path, _, query = at.partition("?")
        assert client.get(f"{path}.svg?{query}").text.startswith("<svg")
        assert client.get(f"{path}.png?{query}").content.startswith(b"\x89PNG")
    for wrong in (
        "/explain.csv?epsilon=x",
        "/explain/x.svg",
        "/compare.csv",
        "/compare/roc.svg?a=x",
        "/explain/roc.exe",
    ):
        assert client.get(wrong).status_code == 422
