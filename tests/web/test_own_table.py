"""A table of one's own: brought, understood, assessed, named in the report; links to its plan; refused files."""

from __future__ import annotations

import gzip
import io
import re
from typing import Any

import pytest

pytest.importorskip("duckdb", reason="assessing needs epsilens[data]")

import pyarrow as pa
import pyarrow.parquet as pq

from epsilens.plan.file import read_release

from .navigation import CSV, SMALL, attached, brought, entries, followed, problems, sent_as

_WARDS = ("Cardiology", "cardiology", "Surgery")
VISITS = 'Patient ID,Sex,Ward,Cost,"It\'s ""odd"""\n' + "".join(
    f'P{i // 3:04d},{"FM"[i % 2]},{_WARDS[i % 3]},"{1 + i % 9},{i % 20:03d}.50",{i % 4}\n' for i in range(600)
)


@pytest.fixture(scope="module")
def visits(client: Any) -> Any:
    """The form as it is after an upload."""
    return brought(client, "visits 2024.csv", VISITS)


@pytest.mark.always
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
    assert form["title"] == ["Planned release"]
    read = {form[f"r{i}_column"][0]: form[f"r{i}_as"][0] for i in range(9) if form.get(f"r{i}_column", [""])[0]}
    assert read["Cost"] == "number"
    assert read["Ward"] in ("category", "code")


def test_the_report_names_the_file_and_its_hash(client: Any, visits: Any, text_of: Any) -> None:
    form = entries(visits.text)
    page = sent_as(client, form)
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
    without = sent_as(client, {**shown, "title": ["changed"]})
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


def test_what_follows_a_refused_file_is_kept(client: Any) -> None:
    """A browser sends the fields of a form in their order, and the file stands first."""
    parts = [("wanted", "p.csv"), ("file", b"PK\3\4" * 100_000), ("title", "typed"), ("q0_kind", "count")]
    files = [(k, ("book.xlsx", v) if isinstance(v, bytes) else (None, v)) for k, v in parts]
    for path in ("/assess/file", "/assess"):
        page = followed(client, client.post(path, files=files))
        assert problems(page.text) == ["file"]
        assert (entries(page.text)["title"], entries(page.text)["q0_kind"]) == (["typed"], ["count"])


@pytest.mark.always
def test_a_file_that_is_forgotten(client: Any, text_of: Any) -> None:
    page = brought(client)
    form = entries(page.text)
    token = form["file"][0]
    assert client.post(f"/assess/file/{token}/forget").status_code == 303
    gone = client.get(f"/assess?file={token}")
    assert gone.status_code == 410
    assert problems(gone.text) == ["file"]
    sent = sent_as(client, {**form, "title": ["typed"]})
    assert sent.status_code == 410
    assert problems(sent.text) == ["file"]
    assert entries(sent.text)["title"] == ["typed"]
    assert entries(sent.text)["q0_kind"] == form["q0_kind"]


def test_an_upload_is_assessed_and_escaped(client: Any, text_of: Any) -> None:
    yaml = SMALL.replace("TABLE", "upload").replace("[age, sex]", '[age, sex, "<b>bold</b>"]')
    page = followed(client, client.post("/assess", **attached("pe<i>ople.csv", CSV.encode(), yaml)))
    assert page.status_code == 200, text_of(page.text)[:500]
    assert "<b>bold</b>" not in page.text
    assert "<i>ople" not in page.text
    assert "pe&lt;i&gt;ople.csv" in page.text


@pytest.mark.parametrize("table", ["epsilens:rand-hie", "other.csv"])
def test_a_yaml_on_another_table_beside_a_file_is_refused_by_the_file(client: Any, text_of: Any, table: str) -> None:
    """Otherwise the file, or the table that is named, would be ignored in silence."""
    page = followed(client, client.post("/assess", **attached("p.csv", CSV.encode(), SMALL.replace("TABLE", table))))
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


def test_names_and_values_with_blanks_come_back(client: Any, text_of: Any) -> None:
    table = pa.table({"My  Age": [i % 60 for i in range(200)], "Site": ["a ", "b"] * 100, "Li\nne": [1, 2] * 100})
    out = io.BytesIO()
    pq.write_table(table, out)
    sent = client.post("/assess/file", files={"file": ("odd.parquet", out.getvalue())})
    page = followed(client, sent)
    assert 'value="&#34;a &#34;"' in page.text  # offered as it must be entered
    form = entries(page.text) | {"quasi": ["My  Age", "Li\r\nne"], "q0_kind": ["count"], "q0_by": [""]}
    form |= {"q0_where_0_column": ["Li\r\nne"], "q0_where_0_is": ["is"], "q0_where_0_value": ["1"]}
    form |= {"q0_where_1_column": ["Site"], "q0_where_1_is": ["is"], "q0_where_1_value": ['"a "']}
    answer = client.post("/assess/plan", data=form, headers={"accept": "application/json"}).json()
    assert "error" not in answer, answer
    made = read_release(answer["yaml"])
    assert made.data.quasi_identifiers == ("My  Age", "Li\nne")
    assert made.queries[0].count == "\"Li\nne\" = 1 AND Site = 'a '"


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
    for path in ("/assess/file", "/assess") if said else ("/assess/file",):
        page = followed(client, client.post(path, **attached(name, data)))
        assert page.status_code == 422
        assert problems(page.text) == ["file"]
        assert said in text_of(page.text)


def test_too_large_by_its_stated_length(client: Any) -> None:
    page = followed(client, client.post("/assess", **attached("p.csv", b"a\n" * 2_000_000)))
    assert page.status_code == 413
    assert problems(page.text) == ["file"]
    assert "larger than 3 MB" in page.text


def test_too_large_while_it_streams(client: Any) -> None:
    def pieces() -> Any:
        yield b'--x\r\ncontent-disposition: form-data; name="file"; filename="p.csv"\r\n\r\n'
        for _ in range(50):
            yield b"a" * 100_000

    kind = {"content-type": "multipart/form-data; boundary=x"}
    assert followed(client, client.post("/assess", content=pieces(), headers=kind)).status_code == 413
    assert client.post("/api/assess", content=b"a" * 1_100_000).status_code == 413


def test_a_bomb_in_gzip(client: Any, text_of: Any) -> None:
    packed = gzip.compress(b"a,b\n" + b"1,2\n" * 12_000_000, 9)
    assert len(packed) < 200_000
    page = followed(client, client.post("/assess", **attached("p.csv.gz", packed)))
    assert page.status_code == 422
    assert "unpacks to more than 0.02 GB" in text_of(page.text)
