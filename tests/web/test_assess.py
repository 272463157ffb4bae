"""Assess: the form, YAML and uploads, with what hostile people send."""

from __future__ import annotations

import gzip
import io
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("duckdb", reason="assessing needs epsilens[data]")

from epsilens.assessment.assessment import assess
from epsilens.cli.demo import RELEASE
from epsilens.plan.file import read_release
from epsilens.plan.plan import Release
from epsilens.show.assessment.data import as_dict
from epsilens.web.planform import EXAMPLES, plan_of, to_yaml

SMALL = """title: People by sex
data:
  table: TABLE
  quasi_identifiers: [age, sex]
queries:
- count: true
  by: sex
mechanism: {noise: laplace, epsilon: 1.0}
limits: {success: 0.6}
"""
CSV = "age,sex,<b>bold</b>\n" + "".join(f"{20 + i % 40},{'fm'[i % 2]},{i}\n" for i in range(300))


def _upload(name: str, data: bytes, yaml: str = SMALL.replace("TABLE", "upload")) -> dict[str, Any]:
    return {"files": {"file": (name, io.BytesIO(data), "text/csv")}, "data": {"yaml": yaml}}


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
    return client.get("/assess", params={"yaml": EXAMPLES["epsilens:rand-hie"]})


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
    ("change", "field"),
    [
        (("epsilens:rand-hie", "/etc/passwd"), "table"),
        (("person: person", "person: [1]"), "person"),
        (("max_rows: 5", "max_rows: none"), "max_rows"),
        (("max_rows: 5", "max_rows: 5\n  max_groups: 0"), "max_groups"),
        (("max_rows: 5", "unit: person"), "unit"),
        (("[site, age", "[place, age"), "quasi"),
        (("where: mental_visits > 0", "where: (SELECT 1)"), "secret"),
        (("epsilon: 1.0", "epsilon: -1"), "epsilon"),
        (("epsilon: 1.0", "epsilon: 1.0, neighbours: none"), "neighbours"),
        (("epsilon: 1.0", "epsilon: 1.0, split: unequal"), "split"),
        (("epsilon: 1.0", "epsilon: 1.0, delta: 0.1"), "delta"),
        (("prior: 0.5", "prior: 2"), "prior"),
        (("belief: 0.07", "belief: 7"), "belief"),
        (("{success: 0.55", "{success: 7"), "success"),
        (("posterior: 0.12", "posterior: 12"), "posterior"),
        (("error: 0.15", "kl: -1"), "at_most"),
        (("[1, 2, 3, 4, 5, 6]", "[1, 1]"), "q0_groups"),
        (("[1, 2, 3, 4, 5, 6]", "[1, everywhere]"), "q0_groups"),
        (("groups: [1, 2, 3, 4, 5, 6]", "threshold: 0.5"), "q0_threshold"),
        (("bounds: [0, 30000]", "bounds: [0, 30000]\n  size: public"), "q2_size"),
        (("bounds: [0, 77]", "bounds: [0, 77]\n  rows: true"), "q1_rows"),
        (("bounds: [0, 77]", "bounds: [0, 77]\n  share: 2"), "q1_share"),
        (("bounds: [0, 77]", "bounds: x"), "q1"),
        (("queries:", "questions:"), "queries"),
        (("title: ", "title: ["), ""),
    ],
)
def test_an_error_stands_by_its_field(client: Any, change: tuple[str, str], field: str) -> None:
    text = EXAMPLES["epsilens:rand-hie"].replace(*change)
    page = client.get("/assess", params={"yaml": text})
    assert page.status_code == 422
    told = re.findall(r'<p class="error" id="error-([a-z0-9_]*)"><span', page.text)
    assert told == ([field] if field else [])
    if field.partition("_")[0] in ("q0", "q1", "q2") and field.endswith(("size", "rows", "share")):
        assert '<details class="fold" open>' in page.text  # what is wrong is never folded away


def test_files_of_a_report(client: Any, bundled: Any) -> None:
    for kind in ("html", "json"):
        file = client.get(f"/assess.{kind}", params={"yaml": EXAMPLES["epsilens:rand-hie"]})
        assert file.status_code == 200
        assert f"assessment.{kind}" in file.headers["content-disposition"]
    assert client.get("/assess.html", params={"yaml": "x: 1"}).status_code == 422


def _through_the_form(release: Release) -> Release:
    """The release that the form says, filled in with this one."""
    plan = plan_of(release, release.data.table)
    form = {k: v for k, v in plan.values.items() if isinstance(v, str)}
    for i, query in enumerate(plan.queries):
        form |= {f"q{i}_{k}": v for k, v in query.items()}
    return read_release(to_yaml(form, {"quasi": plan.values["quasi"]}, release.data.table))


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
  secret: {where: visits > 3, columns: [mental_cost, drug_cost]}
queries:
- {count: visits > 1, by: site, threshold: auto, rows: true, share: 0.4}
- {histogram: plan, by: site, groups: [[1, a], [2, "b, c"], [3, null]], share: 0.25}
- {average: income, bounds: [0, 30000.5], where: age > 30, size: public, name: 'Income, "over" 30', share: 0.25}
- {sum: visits, bounds: [-1, 1], by: [site, year], threshold: 25.5, share: 0.1}
mechanism: {noise: gaussian, epsilon: 0.3, delta: 1.0e-6, neighbours: replace}
adversary: {prior: 0.25, belief: 0.1, baseline: 0.02, among: 10, knows: nothing, correlation: from data}
limits: {success: 0.6, posterior: 0.3, attack_success: 0.1, auc: 0.7, error: 0.2}
"""


def test_every_word_goes_through_the_form() -> None:
    """What the form can say comes back as it was."""
    release = read_release(EVERY_WORD)
    assert _through_the_form(release) == release


def test_groups_are_read_as_they_are_typed() -> None:
    form = {"q0_kind": "count", "q0_by": "town", "q0_groups": 'no, 007, 12, 1.50, "a, b", (empty)'}
    made = read_release(to_yaml(form, {}, "epsilens:adult"))
    assert made.queries[0].groups == ("no", "007", 12, "1.50", "a, b", None)
    assert read_release(to_yaml({**form, "q0_by": ""}, {}, "epsilens:adult")).queries[0].groups is None


def test_the_form_asks_for_the_names_of_groups(client: Any, text_of: Any) -> None:
    """By a column without a list and without a threshold: a hint stands beside the fields, and the report agrees."""
    page = client.get("/assess").text
    hint = re.search(r'<p class="hint unnamed" id="names-q0">(.*?)</p>', page)
    assert hint is not None
    assert "a name that is there because of one person gives them away" in text_of(hint[1])
    assert 'aria-describedby="names-q0 error-q0_groups"' in page
    silent = EXAMPLES["epsilens:rand-hie"].replace("  groups: [1, 2, 3, 4, 5, 6]\n", "")
    made = assess(silent)
    assert not made.possible
    assert made.recommended == 0


def test_the_form_redirects_to_a_link(client: Any) -> None:
    form = {
        "table": "epsilens:adult",
        "q0_kind": "count",
        "q0_what": "income = '>50K'",
        "epsilon": "0.5",
        "quasi": ["age"],
    }
    sent = client.post("/assess", data=form)
    assert sent.status_code == 303
    yaml = parse_qs(urlsplit(sent.headers["location"]).query)["yaml"][0]
    assert "epsilens:adult" in yaml
    assert "epsilon: 0.5" in yaml


def test_the_form_shows_a_table_s_columns(client: Any) -> None:
    assert "hours_per_week" in client.post("/assess/columns", data={"table": "epsilens:adult"}).text
    assert "mental_visits" in client.get("/assess?table=epsilens:rand-hie").text


def test_an_upload_is_assessed_escaped_and_deleted(client: Any, text_of: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    yaml = SMALL.replace("TABLE", "upload").replace("[age, sex]", '[age, sex, "<b>bold</b>"]')
    page = client.post("/assess", **_upload("pe<i>ople.csv", CSV.encode(), yaml))
    assert page.status_code == 200, text_of(page.text)[:500]
    assert "<b>bold</b>" not in page.text
    assert "<i>ople" not in page.text
    assert "A report on an uploaded table has no link" in page.text
    assert "data:text/html;base64," in page.text
    assert str(tmp_path) not in page.text
    assert list(tmp_path.iterdir()) == []


def test_columns_of_an_upload(client: Any) -> None:
    page = client.post("/assess/columns", files={"file": ("p.csv", CSV.encode())}, data={"table": "upload"})
    assert page.status_code == 200
    assert "&lt;b&gt;bold&lt;/b&gt;" in page.text
    assert "choose it again" in page.text


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
    page = client.get("/assess", params={"yaml": SMALL.replace("TABLE", f"'{table}'")})
    assert page.status_code == 422
    words = text_of(page.text)
    assert "the page opens only epsilens:adult" in words or "give one of 'epsilens:adult'" in words
    sent = client.post("/assess", **_upload("people.csv", CSV.encode(), SMALL.replace("TABLE", f"'{table}'")))
    assert sent.status_code == 422


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
    page = client.post("/assess", data={"yaml": yaml}, follow_redirects=True)
    assert page.status_code == 422
    assert said in text_of(page.text)
    assert "▲" in page.text


@pytest.mark.parametrize(("name", "status"), [("p.exe", 422), ("p.sqlite", 422), ("p", 422)])
def test_other_files_are_refused(client: Any, text_of: Any, name: str, status: int) -> None:
    page = client.post("/assess", **_upload(name, b"x"))
    assert page.status_code == status
    assert "give a CSV" in text_of(page.text)


def test_too_large_by_its_stated_length(client: Any) -> None:
    page = client.post("/assess", **_upload("p.csv", b"a\n" * 2_000_000))
    assert page.status_code == 413
    assert "larger than 3 MB" in page.text


def test_too_large_while_it_streams(client: Any) -> None:
    def pieces() -> Any:
        yield b'--x\r\ncontent-disposition: form-data; name="file"; filename="p.csv"\r\n\r\n'
        for _ in range(50):
            yield b"a" * 100_000

    page = client.post("/assess", content=pieces(), headers={"content-type": "multipart/form-data; boundary=x"})
    assert page.status_code == 413
    assert client.post("/api/assess", content=b"a" * 1_100_000).status_code == 413


def test_a_bomb_in_gzip(client: Any, text_of: Any) -> None:
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 12_000_000, 9)
    assert len(packed) < 200_000
    page = client.post("/assess", **_upload("p.csv.gz", packed))
    assert page.status_code == 422
    assert "unpacks to more than 0.02 GB" in text_of(page.text)


def test_the_entry_is_kept(client: Any) -> None:
    page = client.get("/assess", params={"yaml": "title: mine </textarea><script>\n"})
    assert "title: mine &lt;/textarea&gt;" in page.text
    assert not re.search(r"<script>", page.text)
