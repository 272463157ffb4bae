"""An assessment in words, tables, pages and records: the same numbers everywhere, and nothing that is not escaped."""

from __future__ import annotations

import json
import re
from datetime import date
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from epsilens.assessment.assess import Assessment, assess
from epsilens.show.assessment.phrases import headline, sentence, status
from epsilens.show.assessment.report import present
from epsilens.show.render import html

BAD = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    n = 600
    return pd.DataFrame(
        {
            "site": rng.integers(1, 7, n),
            "age": rng.integers(20, 80, n),
            BAD: rng.choice(["a", "<b>b</b>", "ü & “x”"], n),
            "visits": rng.integers(0, 50, n).astype(float),
            "many": np.arange(n) % 200,
        }
    )


def plan(people: pd.DataFrame, **changes: Any) -> Assessment:
    release: dict[str, Any] = {
        "title": "Visits",
        "data": {"table": "t.parquet", "quasi_identifiers": ["site", "age"], "secret": "visits > 40"},
        "queries": [{"count": "visits > 40", "by": "site", "groups": [1, 2, 3, 4, 5, 6]}],
        "mechanism": {"noise": "laplace", "epsilon": 1.0},
        "limits": {"success": 0.55},
    }
    return assess({**release, **changes}, table=people)


@pytest.fixture(scope="module")
def over(people: pd.DataFrame) -> Assessment:
    return plan(people, limits={"success": 0.55, "attack_success": 0.02, "error": 0.1})


# -- words --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "said", "first"),
    [
        ({}, "over", "Lower ε from 1 to 0.21"),
        ({"limits": {"success": 0.9}}, "within", "ε = 1 is within your limit"),
        ({"limits": {"success": 0.9, "error": 0.9}}, "within", "ε = 1 is within your limits"),
        ({"limits": {"success": 0.4}}, "impossible", "No ε meets this limit"),
        ({"limits": {"error": 0.01}}, "inaccurate", "Raise ε from 1 to "),
        ({"mechanism": {"epsilon": 0.01}, "limits": {"success": 0.9, "error": 0.5}}, "inaccurate", "Raise ε from 0.01"),
        (
            {"mechanism": {"epsilon": 0.1}, "limits": {"success": 0.55, "error": 0.01}},
            "contradictory",
            "No ε meets both",
        ),
        ({"limits": {}}, "open", "Set a limit to choose ε"),
        ({"limits": {"kl": 0.1}}, "over", "Lower ε from 1 to "),
    ],
)
def test_the_instruction(people: pd.DataFrame, changes: dict[str, Any], said: str, first: str) -> None:
    a = plan(people, **changes)
    assert a.verdict.standing == said
    assert headline(a).startswith(first)
    assert a.verdict.exceeded == a.exceeded == (said not in ("within", "open"))
    for text in (a.to_text(), a.to_text(45), a.to_markdown(), a.to_terminal(100), a._repr_html_()):
        assert headline(a) in text
        assert "nan" not in text.lower().replace("finance", "")
    assert status(a) in a.to_text()
    assert json.loads(json.dumps(a.to_dict(), allow_nan=False))["verdict"] == said
    assert max(len(line) for line in a.to_text(60).split("How to reproduce")[0].splitlines()) <= 90


def test_the_lead_has_the_baseline_and_the_limit(over: Assessment) -> None:
    told = sentence(over)
    assert "70 times of 100 whether one worst-placed person is in the table" in told  # 1 − ½e^{−½} = 0.697
    assert "Without the release they would be right 50 times of 100." in told
    assert "Your limit is 55 of 100." in told
    assert over.typical is not None
    assert over.typical.people == 300
    # most people have no long visit: they are in no count, and the test tells nothing of them
    assert "The membership test is right 50 times of 100 for the typical one of 300 people" in told
    assert over.typical.median == 0.5
    assert over.typical.largest == pytest.approx(1 - np.exp(-0.5) / 2, abs=1e-6)
    assert "ε = 0.21 keeps them to 55." in told


def test_a_risk_over_its_limit_never_reads_as_the_limit(people: pd.DataFrame) -> None:
    a = plan(people, mechanism={"epsilon": 0.2115})
    assert a.exceeded
    member = next(r for r in a.risks if r.key == "membership")
    assert 0.55 < member.planned < 0.5503
    assert re.search(r"Membership test \*\s+50\s+55\.0\d+\s+▲ over\s+55\s", a.to_text())


def test_contradictory_limits_are_told(over: Assessment) -> None:
    assert over.at_least is not None
    told = " ".join(over.to_text().split())
    assert "No ε meets both limits. Keeping the least accurate count by site within 10% needs ε of at least" in told


def test_more_than_99(people: pd.DataFrame) -> None:
    a = plan(people, mechanism={"epsilon": 300})
    assert "more than 99 times of 100" in sentence(a)
    assert "> 99.9" in a.to_text()


def test_answers_of_zero_are_told_in_words(people: pd.DataFrame) -> None:
    a = plan(people, queries=[{"count": "visits > 1000"}], limits={"success": 0.55, "error": 0.1})
    assert "The true answer is 0" in sentence(a)
    assert "answer is 0" in a.to_text()
    assert a.to_dict()["queries"][0]["planned"]["worst"] is None
    assert "Infinity" not in a.to_html()


# -- data ---------------------------------------------------------------------------------------------------------


def test_json_holds_what_the_report_shows(over: Assessment) -> None:
    plain = over.to_dict()
    assert list(plain)[:5] == ["schema", "title", "verdict", "exceeded", "headline"]
    expected = {"planned", "recommended", "binding", "risks", "queries", "curve", "isolation", "precedents"}
    assert expected | {"assumptions", "notes", "reproduce", "release", "sentence"} <= set(plain)
    assert plain["recommended"]["epsilon"] == over.recommended
    assert [r["planned"] for r in plain["risks"]] == [r.planned for r in over.risks]
    assert len(plain["precedents"]["deployments"]) == 27
    assert over.scan is not None
    assert len(plain["isolation"]["subsets"]) == len(over.scan.subsets)
    assert "shown" not in json.dumps(plain["isolation"])


# -- the page -----------------------------------------------------------------------------------------------------


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.fetched: list[str] = []
        self.text: list[str] = []
        self.ids: list[str] = []
        self.unlabelled = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        if tag not in ("meta", "br", "img", "circle", "rect", "line", "path", "use"):
            self.open.append(tag)
        self.fetched += [v for k, v in attrs if k in ("src", "href") and v and not v.startswith("#")]
        self.ids += [v for k, v in attrs if k == "id" and v]
        if given.get("role") == "img" and not given.get("aria-label"):
            self.unlabelled += 1

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def parsed(page: str) -> _Page:
    made = _Page()
    made.feed(page)
    return made


@pytest.fixture(scope="module")
def page(over: Assessment) -> str:
    return html.page(present(over, date(2025, 11, 15)))


def test_the_page_is_one_file(page: str) -> None:
    seen = parsed(page)
    assert not seen.fetched
    assert not {"script", "img", "iframe", "link", "object"} & set(seen.tags)
    assert not re.search(r"url\((?!data:)", page)
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "").replace("http://www.w3.org/1999/xlink", "")
    assert len(seen.ids) == len(set(seen.ids))
    assert seen.unlabelled == 0
    assert len(page) < 600_000


def test_the_page_says_what_the_library_says(page: str, over: Assessment) -> None:
    text = " ".join(" ".join(parsed(page).text).split())
    assert headline(over) in text
    assert "15 November 2025 · for internal use" in text
    for r in over.risks:
        assert r.name in text
    for heading in (
        "Who could learn what", "Risk and accuracy as ε changes", "Who can be isolated", "How accurate the answers are",
        "What others have used", "What was assumed", "How to reproduce",
    ):  # fmt: skip
        assert heading in text
    assert "ε = 0.21 follows from the plan alone: no table would give another." in text
    assert over.scan is not None
    assert f"({over.scan.isolated:,} of {over.scan.people:,})" in text
    count = over.queries[0]
    assert count.planned.worst is not None
    assert f"±{int(np.ceil(count.planned.worst.error))}" in text
    assert "27 deployments that report ε" in text
    assert page.count('role="img"') > 8


def test_sections_can_stand_in_another_page(over: Assessment) -> None:
    document = present(over)
    made = html.sections(document)
    assert len(made) == 9
    assert all(part.startswith("<section>") for part in made)
    assert ".adversaries" in html.style()
    assert html.page(document, made).count("<section>") == 9


def test_everything_from_outside_is_escaped(people: pd.DataFrame) -> None:
    a = plan(
        people,
        title=f"<script>alert(1)</script>{BAD}",
        data={"table": f"{BAD}.csv", "quasi_identifiers": [BAD, "site"], "secret": f"\"{BAD}\" = '<i>x</i>'"},
        queries=[
            {"count": f"\"{BAD}\" = '<u>x</u>'", "by": [BAD, "site"], "name": f"{BAD}&amp;"},
            {"histogram": BAD},
            {"sum": "visits", "bounds": [0, 50], "where": f"\"{BAD}\" = '<u>'"},
        ],
    )
    for shown in (a.to_html(), a._repr_html_()):
        seen = parsed(shown)
        assert not {"script", "img", "i", "u"} & set(seen.tags)
        assert "<script" not in shown
        assert "<img" not in shown
    assert not re.search(r"(?<!\\)<\w", a.to_markdown())
    assert yaml.safe_load(a.to_registry())["deployment"]["basic"]["name"].startswith("<script>")


@pytest.mark.parametrize(
    "changes",
    [
        {"limits": {"success": 0.4}, "data": {"table": "t"}},
        {"limits": {}},
        {"mechanism": {"noise": "gaussian", "epsilon": 1.0, "delta": 1e-6}},
        {"queries": [{"count": f"age > {i + 20}"} for i in range(12)], "limits": {"success": 0.55, "error": 0.2}},
        {"queries": [{"average": "visits", "bounds": [0, 50], "by": "site"}]},
        {"queries": [{"count": "visits > 1000", "by": "site"}], "limits": {"success": 0.55, "error": 0.1}},
        {"limits": {"posterior": 0.7}, "adversary": {"belief": 0.01}},
        {"mechanism": {"epsilon": 1e-9}},
        {"mechanism": {"epsilon": 700}},
    ],
)
def test_every_state_has_a_page(people: pd.DataFrame, changes: dict[str, Any]) -> None:
    shown = plan(people, **changes).to_html()
    seen = parsed(shown)
    assert not seen.open
    assert "NaN" not in shown
    assert "inf%" not in shown
    assert seen.unlabelled == 0


def test_groups_beyond_a_dozen_are_counted(people: pd.DataFrame) -> None:
    page = plan(people, queries=[{"count": True, "by": "many"}]).to_html()
    assert "The first 12 of 200 groups are drawn." in page.replace("\u00a0", " ")  # counts keep together


# -- the registry -------------------------------------------------------------------------------------------------


def test_the_registry_record(over: Assessment, people: pd.DataFrame) -> None:
    record = yaml.safe_load(over.to_registry())
    assert set(record) == {"status", "tier", "deployment"}
    parts = {
        "basic",
        "dp_variant",
        "privacy_loss",
        "deployment_model",
        "accounting",
        "implementation",
        "administrative",
    }
    assert set(record["deployment"]) == parts
    loss = record["deployment"]["privacy_loss"]
    assert loss["privacy_parameters"] == {"epsilon": 1.0, "delta": None, "rho": None}
    assert record["deployment"]["dp_variant"]["variant_name"] == "Pure DP"
    gaussian = plan(people, mechanism={"noise": "gaussian", "epsilon": 1.0, "delta": 1e-6})
    record = yaml.safe_load(gaussian.to_registry())
    assert record["deployment"]["privacy_loss"]["privacy_parameters"]["delta"] == 1e-6
    assert record["deployment"]["dp_variant"]["variant_name"] == "Approximate DP"
    # nothing that was found by looking at people
    assert str(over.scan.isolated if over.scan else 0) not in re.sub(r"\d+\.\d+", "", over.to_registry())
