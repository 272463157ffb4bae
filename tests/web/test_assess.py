"""Assess: the form, YAML and uploads, with what hostile people send."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("duckdb", reason="assessing needs epsilens[data]")


from scripts.demo import RELEASE

from epsilens.assessment.assess import assess
from epsilens.plan.file import read_release
from epsilens.plan.model import Release
from epsilens.show.assessment.report import as_dict
from epsilens.web.form import EXAMPLES, plan_from_entries, plan_from_release, release_mapping, to_yaml

from .navigation import CSV, SMALL, attached, entries, followed, linked, problems, sent_as


def _rounded(value: Any) -> Any:
    """Sums over a table differ in the last digits, because the engine adds in no fixed order."""
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(v) for v in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


@pytest.fixture(scope="module")
def bundled(client: Any) -> Any:
    """One assessed release, through the page; the answer is kept, so that asking again costs nothing."""
    return linked(client, EXAMPLES["epsilens:rand-hie"])


def test_the_report_is_the_library_s(client: Any, bundled: Any, text_of: Any) -> None:
    assert bundled.status_code == 200
    made = assess(EXAMPLES["epsilens:rand-hie"])
    expected = as_dict(made)
    words = text_of(bundled.text)
    assert expected["headline"] in words
    assert made.release.title in words
    answered = client.post(
        "/api/assess", content=EXAMPLES["epsilens:rand-hie"], headers={"content-type": "application/yaml"}
    )
    assert answered.status_code == 200
    ours = answered.json()
    for key in ("headline", "risks", "queries", "recommended", "curve", "release", "schema", "split", "typical"):
        assert _rounded(ours[key]) == _rounded(expected[key]), key


@pytest.mark.parametrize(
    ("entered_as", "field"),
    [
        ({"person": "nobody"}, "person"),
        ({"max_rows": "none"}, "max_rows"),
        ({"max_groups": "0"}, "max_groups"),
        ({"unit": "person"}, "unit"),
        ({"quasi": ["place"]}, "quasi"),
        ({"secret_how": "type", "secret": "(SELECT 1)"}, "secret"),
        ({"secret_0_column": "visits", "secret_0_is": "is more than", "secret_0_value": ""}, "secret"),
        ({"epsilon": "-1"}, "epsilon"),
        ({"neighbours": "none"}, "neighbours"),
        ({"split": "unequal"}, "split"),
        ({"noise": "gaussian", "delta": "2"}, "delta"),
        ({"prior": "2"}, "prior"),
        ({"belief": "7"}, "belief"),
        ({"success": "7"}, "success"),
        ({"posterior": "12"}, "posterior"),
        ({"reading": "kl", "at_most": "-1"}, "at_most"),
        ({"q0_groups": "1, 1"}, "q0_groups"),
        ({"q0_groups": "1, everywhere"}, "q0_groups"),
        ({"q0_groups": "", "q0_threshold": "0.5"}, "q0_threshold"),
        ({"q0_by": "place"}, "q0_by"),
        ({"q0_where_how": "type", "q0_where": "visits >"}, "q0_where"),
        ({"q0_where_0_column": "site", "q0_where_0_is": "is", "q0_where_0_value": "north"}, "q0_where"),
        ({"q2_size": "public"}, "q2_size"),
        ({"q1_share": "200"}, "q1_share"),
        ({"q1_low": "x"}, "q1_low"),
        ({"q1_column": ""}, "q1_column"),
        ({"q1_column": "visit"}, "q1_column"),
        ({"q0_kind": "", "q1_kind": "", "q2_kind": "", "q3_kind": ""}, "queries"),
    ],
)
def test_an_error_stands_by_its_field_and_keeps_what_was_typed(
    client: Any, text_of: Any, entered_as: dict[str, Any], field: str
) -> None:
    """Whatever was entered is there again, and the sentence speaks of no line: the form has none."""
    form = entries(client.get("/assess?table=epsilens:rand-hie").text)
    form |= {"title": ["mine"], "q3_kind": ["sum"], "q3_column": ["visits"], "q3_low": ["0"], "q3_high": ["5"]}
    form |= {k: v if isinstance(v, list) else [v] for k, v in entered_as.items()}
    page = sent_as(client, form)
    assert page.status_code == 422
    assert problems(page.text) == [field]
    assert " of release" not in text_of(page.text)
    again = entries(page.text)
    unkept = {"neighbours", "split"} | {
        k for k in form if k.startswith("q") and field == "queries"
    }  # nobody enters such
    kept = {k: v for k, v in form.items() if any(v) and k not in unkept}
    assert {k: again.get(k) for k in kept} == kept
    invalid = re.findall(r'<(?:input|select|textarea)[^>]*aria-invalid="true"[^>]*>', page.text)
    if field not in ("quasi", "queries"):
        assert invalid
        assert all("autofocus" in tag and f"error-{field}" in tag for tag in invalid)
    if field.endswith(("size", "share")):
        assert '<details class="fold" open>' in page.text  # what is wrong is never folded away


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("epsilon: 1.0", "epsilon: -1"), "Line 20 of release: mechanism.epsilon is -1"),
        (("prior: 0.5", "prior: 2"), "Line 21 of release: adversary.prior: it is 2, which is no share"),
        (("queries:", "questions:"), "queries is missing"),
        (("title: ", "title: ["), "cannot be read"),
        (("[site, age", "[place, age"), "'place', which is not a column"),
    ],
)
def test_yaml_written_by_hand_is_complained_of_in_its_box(
    client: Any, text_of: Any, change: tuple[str, str], said: str
) -> None:
    text = EXAMPLES["epsilens:rand-hie"].replace(*change)
    page = followed(client, client.post("/assess", data={"yaml": text, "table": "epsilens:rand-hie"}))
    assert page.status_code == 422
    assert problems(page.text) == ["yaml"]
    assert said in text_of(page.text)
    assert change[1] in page.text
    assert '<details class="yaml" open>' in page.text


@pytest.mark.always
def test_files_of_a_report(client: Any, bundled: Any) -> None:
    for kind in ("html", "json"):
        file = client.get(f"/assess.{kind}", params={"yaml": EXAMPLES["epsilens:rand-hie"]})
        assert file.status_code == 200
        assert f"assessment.{kind}" in file.headers["content-disposition"]
    assert client.get("/assess.html", params={"yaml": "x: 1"}).status_code == 422


def test_the_sheet_for_a_board(client: Any, bundled: Any, text_of: Any) -> None:
    query = {"yaml": EXAMPLES["epsilens:rand-hie"]}
    shown = client.get("/assess/board", params=query)
    words = text_of(shown.text).replace("\u00a0", " ")
    assert shown.status_code == 200
    assert shown.headers["cache-control"] == "no-store"
    assert bundled.status_code == 200
    assert "Lower ε from 1 to 0.48" in words
    for heading in ("What ε is", "What is published", "Who could learn what", "Who is affected", "Decision"):
        assert heading in words
    kept = client.get("/assess.board", params=query)
    assert 'filename="board.html"' in kept.headers["content-disposition"]
    assert "Who is affected" in kept.text
    assert client.get("/assess/board", params={"yaml": "x: 1"}).status_code == 422
    assert client.get("/assess/job/none/board").status_code == 404
    assert "/assess/board?yaml=" in client.get("/assess", params=query, follow_redirects=True).text


def _through_the_form(release: Release) -> Release:
    """The release that the form says, filled in with this one."""
    plan = plan_from_release(release)
    form = dict(plan.values)
    for i, query in enumerate(plan.queries):
        form |= {f"q{i}_{k}": v for k, v in query.items()}
    for i, read in enumerate(plan.readings):
        form |= {f"r{i}_{k}": v for k, v in read.items()}
    for prefix, picked in (("secret", plan.secret), *((f"q{i}_where", w) for i, w in enumerate(plan.wheres))):
        form |= {prefix: picked.text, f"{prefix}_how": "type" if picked.typed else ""}
        form[f"{prefix}_join"] = "any" if picked.any else "all"
        for j, row in enumerate(picked.rows):
            words = {"column": row.column, "is": row.comparison.value, "value": row.value, "to": row.to}
            form |= {f"{prefix}_{j}_{k}": v for k, v in words.items()}
    again = plan_from_entries(form, {"quasi": plan.quasi})
    assert again == plan
    return read_release(to_yaml(release_mapping(again, release.data.table)))


@pytest.mark.parametrize(
    ("table", "file"), [("epsilens:rand-hie", "mental-visits.yaml"), ("epsilens:adult", "incomes.yaml")]
)
def test_the_example_of_each_table_is_the_one_that_is_shipped(table: str, file: str) -> None:
    """The prefilled form, the file of ``examples/`` and the demo say the same plan."""
    release = read_release(EXAMPLES[table])
    assert release == read_release(Path(__file__).parents[2] / "examples" / file)
    assert _through_the_form(release) == release
    assert table != "epsilens:rand-hie" or release == read_release(RELEASE)


EVERY_WORD = """title: Everything
data:
  table: epsilens:rand-hie
  person: person
  unit: plan
  max_rows: 5
  max_groups: 2
  related: plan
  quasi_identifiers: [site]
  secret: {where: visits > 3 or (visits = 1 and site = 2), columns: [mental_cost, drug_cost]}
  read:
    plan: code
    site: {as: number, decimal: ",", empty: [N/A, "not, known"]}
    year: {as: date, order: day month year}
queries:
- {count: "visits > 1 AND plan IN ('a, b', 'c') AND site IS NOT NULL", by: site, threshold: auto, rows: true,
  share: 0.4}
- {histogram: plan, by: site, groups: [[1, a], [2, "b, c"], [3, null]], share: 0.25}
- {average: income, bounds: [0, 30000.5], where: age > 30, size: public, name: 'Income, "over" 30', share: 0.25}
- {sum: visits, bounds: [-1, 1], by: [site, year], threshold: 25.5, share: 0.1}
mechanism: {noise: gaussian, epsilon: 0.3, delta: 1.0e-6, neighbours: replace}
adversary: {prior: 0.25, belief: 0.1, baseline: 0.02, among: 10, knows: nothing, correlation: from data,
  knowledge: {rho_p: 0.2, rho_c: 0.1}}
limits: {success: 0.6, posterior: 0.3, attack_success: 0.1, auc: 0.7, error: 0.2, roc: {at_most: 0.2, fpr: 0.1}}
"""


def test_every_word_goes_through_the_form() -> None:
    """What the form can say comes back as it was, and so does what it has no field for."""
    release = read_release(EVERY_WORD)
    assert _through_the_form(release) == release


def test_chances_are_shown_and_read_as_counts() -> None:
    """A form shows 60 of 100 and 20%; 60 of 100, 60% and 0.6 say the same, and the plan holds the number."""
    plan = plan_from_release(read_release(EVERY_WORD))
    assert (plan.values["prior"], plan.values["success"], plan.values["error"]) == ("25 of 100", "60 of 100", "20%")
    for typed in ("60 of 100", "60%", "0.6", " 60 % "):
        plan.values["success"] = typed
        assert release_mapping(plan, "epsilens:rand-hie")["limits"]["success"] == 0.6


def test_groups_are_read_as_they_are_typed() -> None:
    form = {"q0_kind": "count", "q0_by": "town", "q0_groups": 'no, 007, 12, 1.50, "a, b", (empty)'}
    made = read_release(release_mapping(plan_from_entries(form), "epsilens:adult"))
    assert made.queries[0].groups == ("no", "007", 12, "1.50", "a, b", None)
    without = plan_from_entries({**form, "q0_by": ""})
    assert read_release(release_mapping(without, "epsilens:adult")).queries[0].groups is None


def test_the_form_asks_for_the_names_of_groups(client: Any, text_of: Any) -> None:
    """By a column without a list and without a threshold: a hint stands beside the fields, and the report agrees."""
    page = client.get("/assess?table=epsilens:rand-hie").text
    hint = re.search(r'<p class="hint unnamed" id="names-q0">(.*?)</p>', page)
    assert hint is not None
    assert "a name that is there because of one person gives them away" in text_of(hint[1])
    assert 'aria-describedby="names-q0 error-q0_groups"' in page
    silent = EXAMPLES["epsilens:rand-hie"].replace("  groups: [1, 2, 3, 4, 5, 6]\n", "")
    made = assess(silent)
    assert not made.possible
    assert made.recommended == 0


def test_a_form_on_a_bundled_table_ends_in_a_link(client: Any) -> None:
    form = {
        "table": "epsilens:adult",
        "q0_kind": "count",
        "q0_where_0_column": "income",
        "q0_where_0_is": "is",
        "q0_where_0_value": ">50K",
        "epsilon": "0.5",
        "quasi": ["age"],
    }
    sent = client.post("/assess", data=form)
    assert sent.status_code == 303
    page = followed(client, sent)
    assert page.status_code == 200
    yaml = parse_qs(urlsplit(str(page.url)).query)["yaml"][0]
    made = read_release(yaml)
    assert (made.data.table, made.epsilon, made.queries[0].count) == ("epsilens:adult", 0.5, "income = '>50K'")
    assert entries(page.text)["q0_where_0_value"] == [">50K"]  # the form under the report says the same


def test_the_form_shows_a_table_s_columns(client: Any) -> None:
    start = client.get("/assess").text
    assert "plan-form" not in start
    assert "/assess?table=epsilens%3Aadult" in start or "/assess?table=epsilens:adult" in start
    assert "hours_per_week" in client.get("/assess?table=epsilens:adult").text
    assert "mental_visits" in client.get("/assess?table=epsilens:rand-hie").text


@pytest.mark.parametrize(
    "table",
    [
        "/etc/passwd.csv",
        "../people.csv",
        "postgres://localhost/x#t",
        "duckdb:///tmp/x.db#t",
        "epsilens:../adult",
        "s3://a/b.parquet",
    ],
)
def test_no_other_table_is_opened(client: Any, text_of: Any, table: str) -> None:
    page = linked(client, SMALL.replace("TABLE", f"'{table}'"))
    assert page.status_code == 422
    words = text_of(page.text)
    assert "the page opens only epsilens:adult" in words or "give one of 'epsilens:adult'" in words
    sent = client.post("/assess", **attached("people.csv", CSV.encode(), SMALL.replace("TABLE", f"'{table}'")))
    assert followed(client, sent).status_code == 422


@pytest.mark.parametrize("name", ["/etc/hostname", "pyproject.toml", "x"])
def test_text_without_a_line_break_is_never_a_file_name(client: Any, text_of: Any, name: str) -> None:
    answer = client.post("/api/assess", content=name)
    assert answer.status_code == 422
    assert "release is not a mapping" in answer.json()["error"].lower()


@pytest.mark.parametrize(
    ("yaml", "said"),
    [
        ("a: &a [x, x]\nb: [*a, *a]\n", "anchor or alias"),
        ("a: !!python/object/apply:os.system ['true']\n", "cannot be read"),
        ("title: [", "cannot be read"),
        ("- 1\n- 2\n", "not a mapping"),
        ("x" * 60_000, "characters: give at most"),
        ("[" * 3000, "nested more than"),
        (SMALL.replace("TABLE", "epsilens:adult").replace("count: true", "count: age > (select 1)"), ""),
        (SMALL.replace("TABLE", "epsilens:adult").replace("[age, sex]", "[agee]"), "agee"),
    ],
)
def test_hostile_yaml_is_a_sentence(client: Any, text_of: Any, yaml: str, said: str) -> None:
    page = followed(client, client.post("/assess", data={"yaml": yaml}))
    assert page.status_code == 422
    assert said in text_of(page.text)
    assert "▲" in page.text


def test_the_entry_is_kept(client: Any) -> None:
    page = linked(client, "title: mine </textarea><script>\n")
    assert "title: mine &lt;/textarea&gt;" in page.text
    assert not re.search(r"<script>", page.text)
