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
from epsilens.web.examples import EXAMPLES
from epsilens.web.planform import entered, mapping_of, plan_of, to_yaml

from .following import entries, followed, problems

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


def _linked(client: Any, yaml: str) -> Any:
    return followed(client, client.get("/assess", params={"yaml": yaml}))


def _brought(client: Any, name: str = "people.csv", data: str = CSV) -> Any:
    """The form of an upload."""
    sent = client.post("/assess/file", files={"file": (name, data.encode())})
    assert sent.status_code == 303, sent.text
    return followed(client, sent)


def _sent(client: Any, form: dict[str, Any], **changed: Any) -> Any:
    return followed(client, client.post("/assess", data={**form, **changed}))


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
    return _linked(client, EXAMPLES["epsilens:rand-hie"])


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
    page = _sent(client, form)
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
        (("prior: 0.5", "prior: 2"), "Line 21 of release: adversary.prior is 2"),
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


def test_files_of_a_report(client: Any, bundled: Any) -> None:
    for kind in ("html", "json"):
        file = client.get(f"/assess.{kind}", params={"yaml": EXAMPLES["epsilens:rand-hie"]})
        assert file.status_code == 200
        assert f"assessment.{kind}" in file.headers["content-disposition"]
    assert client.get("/assess.html", params={"yaml": "x: 1"}).status_code == 422


def _through_the_form(release: Release) -> Release:
    """The release that the form says, filled in with this one."""
    plan = plan_of(release)
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
    again = entered(form, {"quasi": plan.quasi})
    assert again == plan
    return read_release(to_yaml(mapping_of(again, release.data.table)))


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


def test_groups_are_read_as_they_are_typed() -> None:
    form = {"q0_kind": "count", "q0_by": "town", "q0_groups": 'no, 007, 12, 1.50, "a, b", (empty)'}
    made = read_release(mapping_of(entered(form), "epsilens:adult"))
    assert made.queries[0].groups == ("no", "007", 12, "1.50", "a, b", None)
    without = entered({**form, "q0_by": ""})
    assert read_release(mapping_of(without, "epsilens:adult")).queries[0].groups is None


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


# -- a table of one's own -----------------------------------------------------------------------------------------

_WARDS = ("Cardiology", "cardiology", "Surgery")
VISITS = 'Patient ID,Sex,Ward,Cost,"It\'s ""odd"""\n' + "".join(
    f'P{i // 3:04d},{"FM"[i % 2]},{_WARDS[i % 3]},"{1 + i % 9},{i % 20:03d}.50",{i % 4}\n' for i in range(600)
)


@pytest.fixture(scope="module")
def visits(client: Any) -> Any:
    """The form as it is after an upload."""
    return _brought(client, "visits 2024.csv", VISITS)


def test_an_upload_fills_the_form(client: Any, visits: Any, text_of: Any) -> None:
    words, form = text_of(visits.text), entries(visits.text)
    assert visits.status_code == 200
    assert "visits 2024.csv" in words
    assert "Forget this file" in words
    assert "RAND" not in words
    assert "rand-hie" not in visits.text.lower().partition('id="f-yaml"')[0]
    assert form["person"] == ["Patient ID"]
    assert "600 rows of 200 people" in words
    assert "Proposed: its name says whose row it is" in words
    assert form["title"] == ["Release of visits 2024.csv"]
    read = {form[f"r{i}_column"][0]: form[f"r{i}_as"][0] for i in range(9) if form.get(f"r{i}_column", [""])[0]}
    assert read["Cost"] == "number"
    assert read["Ward"] in ("category", "code")


def test_the_report_names_the_file_and_its_hash(client: Any, visits: Any, text_of: Any) -> None:
    form = entries(visits.text)
    page = _sent(client, form)
    words = text_of(page.text)
    assert page.status_code == 200, words[:600]
    assert "visits 2024.csv" in re.search(r"<title>(.*?)</title>", page.text)[1]  # type: ignore[index]
    hashed = re.search(r"keyed hash ([0-9a-f]{16})", words)
    assert hashed is not None
    assert "Mental-health" not in words
    kept = {kind: client.get(f"{page.url.path}/assessment.{kind}") for kind in ("html", "json", "yaml")}
    assert all(file.status_code == 200 for file in kept.values())
    assert "visits 2024.csv" in kept["html"].text
    plan = read_release(kept["yaml"].text)
    assert plan.data.table == "visits 2024.csv"
    link = re.search(r'<a href="(/assess\?yaml=[^"]*)" class="copy"', page.text)
    assert link is not None
    # The link shows the plan and asks for the file; nothing of the data is in it.
    opened = client.get(link[1].replace("&amp;", "&"))
    assert "Choose visits 2024.csv" in text_of(opened.text)
    shown = entries(opened.text)
    same = {k: v for k, v in form.items() if k not in ("file", "delta") and any(v)}
    assert {k: shown.get(k) for k in same} == same
    # Without the file nothing is assessed, and everything stays.
    without = _sent(client, {**shown, "title": ["changed"]})
    assert problems(without.text) == ["file"]
    assert entries(without.text)["title"] == ["changed"]


def test_a_plan_before_its_file_is_kept_when_the_file_comes(client: Any, text_of: Any) -> None:
    text = SMALL.replace("TABLE", "people.csv")
    asked = entries(client.get("/assess", params={"yaml": text}).text)
    form = {**{k: v[0] for k, v in asked.items() if k != "quasi"}, "title": "typed meanwhile", "epsilon": "x"}
    sent = client.post("/assess/file", files={"file": ("other.csv", CSV.encode())}, data=form)
    page = followed(client, sent)
    shown = entries(page.text)
    assert (shown["title"], shown["epsilon"], shown["q0_by"]) == (["typed meanwhile"], ["x"], ["sex"])
    assert "The plan was written for people.csv" in text_of(page.text)
    # Without a script the file may also come with the plan itself.
    whole = client.post("/assess", files={"file": ("people.csv", CSV.encode())}, data={**form, "epsilon": "1"})
    assert followed(client, whole).status_code == 200


def test_a_file_that_is_forgotten(client: Any, text_of: Any) -> None:
    page = _brought(client)
    form = entries(page.text)
    token = form["file"][0]
    assert client.post(f"/assess/file/{token}/forget").status_code == 303
    gone = client.get(f"/assess?file={token}")
    assert gone.status_code == 410
    assert problems(gone.text) == ["file"]
    sent = _sent(client, {**form, "title": ["typed"]})
    assert sent.status_code == 410
    assert problems(sent.text) == ["file"]
    assert entries(sent.text)["title"] == ["typed"]
    assert entries(sent.text)["q0_kind"] == form["q0_kind"]


def test_an_upload_is_assessed_and_escaped(client: Any, text_of: Any) -> None:
    yaml = SMALL.replace("TABLE", "upload").replace("[age, sex]", '[age, sex, "<b>bold</b>"]')
    page = followed(client, client.post("/assess", **_upload("pe<i>ople.csv", CSV.encode(), yaml)))
    assert page.status_code == 200, text_of(page.text)[:500]
    assert "<b>bold</b>" not in page.text
    assert "<i>ople" not in page.text
    assert "pe&lt;i&gt;ople.csv" in page.text


@pytest.mark.parametrize("table", ["epsilens:rand-hie", "epsilens:adult", "other.csv"])
def test_a_yaml_on_another_table_beside_a_file_is_refused_by_the_file(client: Any, text_of: Any, table: str) -> None:
    """Otherwise the file, or the table that is named, would be ignored in silence."""
    page = followed(client, client.post("/assess", **_upload("p.csv", CSV.encode(), SMALL.replace("TABLE", table))))
    assert page.status_code == 422
    assert problems(page.text) == ["file"]
    assert table in page.text
    token = entries(page.text)["file"][0]
    again = followed(client, client.post("/assess", data={"yaml": SMALL.replace("TABLE", table), "file": token}))
    assert problems(again.text) == ["file"]


def test_the_yaml_follows_the_form(client: Any, visits: Any) -> None:
    form = {**entries(visits.text), "title": ["New"], "epsilon": ["0.25"]}
    box = re.search(r'<textarea id="f-yaml"[^>]*>(.*?)</textarea>', visits.text, re.DOTALL)
    assert box is not None
    assert "Patient ID" in box[1]
    assert "rand-hie" not in box[1]
    answer = client.post("/assess/plan", data=form, headers={"accept": "application/json"}).json()
    made = read_release(answer["yaml"])
    assert (made.title, made.epsilon, made.data.person) == ("New", 0.25, "Patient ID")
    assert answer["url"].startswith("/assess?yaml=")
    file = client.post("/assess/plan", data=form)
    assert 'filename="plan.yaml"' in file.headers["content-disposition"]
    assert read_release(file.text) == made
    wrong = client.post("/assess/plan", data={**form, "prior": ["2"]}, headers={"accept": "application/json"})
    assert wrong.json()["field"] == "prior"


def test_a_condition_is_typed_or_picked(client: Any, visits: Any) -> None:
    form = {k: v for k, v in entries(visits.text).items() if not k.startswith("secret_")}
    odd = 'It\'s "odd"'
    rows = {"secret_0_column": [odd], "secret_0_is": ["is at least"], "secret_0_value": ["2"]}
    typed = client.post("/assess/condition/secret", data={**form, **rows, "secret_how": ["type"]}).text
    assert "&#34;It&#39;s &#34;&#34;odd&#34;&#34;&#34; &gt;= 2" in typed
    assert " checked" in typed
    picked = client.post("/assess/condition/secret", data={**form, "secret": ["Sex = 'F' OR Sex IS NULL"]}).text
    assert 'value="F"' in picked
    assert '<option value="any" selected>' in picked
    stays = client.post("/assess/condition/q0_where", data={**form, "q0_where": ["Sex = 'F' OR NOT (Sex = 'M')"]}).text
    assert "stays typed" in stays


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
    page = _linked(client, SMALL.replace("TABLE", f"'{table}'"))
    assert page.status_code == 422
    words = text_of(page.text)
    assert "the page opens only epsilens:adult" in words or "give one of 'epsilens:adult'" in words
    sent = client.post("/assess", **_upload("people.csv", CSV.encode(), SMALL.replace("TABLE", f"'{table}'")))
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


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("p.exe", b"x", "give a CSV"),
        ("p.sqlite", b"x", "export the table as CSV"),
        ("p.xlsx", b"PK\3\4", "save the sheet as CSV"),
        ("p.csv", b"", "is empty"),
        ("p.csv", b"\0\1\2" * 99, ""),
        ("p.parquet", b"a,b\n1,2\n", "not a Parquet file"),
    ],
)
def test_refused_files_say_why_by_the_file(client: Any, text_of: Any, name: str, data: bytes, said: str) -> None:
    for path in ("/assess/file", "/assess"):
        page = followed(client, client.post(path, **_upload(name, data)))
        assert page.status_code == 422
        assert problems(page.text) == ["file"]
        assert said in text_of(page.text)


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
    page = followed(client, client.post("/assess", **_upload("p.csv.gz", packed)))
    assert page.status_code == 422
    assert "unpacks to more than 0.02 GB" in text_of(page.text)


def test_the_entry_is_kept(client: Any) -> None:
    page = _linked(client, "title: mine </textarea><script>\n")
    assert "title: mine &lt;/textarea&gt;" in page.text
    assert not re.search(r"<script>", page.text)
