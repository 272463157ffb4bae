"""Uploads: what is kept, for whom, and what is refused with which words."""

from __future__ import annotations

import gzip
import io
import re
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the page needs epsilens[web]")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

from epsilens.web.app import create_app
from epsilens.web.limits import RequestError, ServerLimits

from .navigation import followed

CSV = b"age,sex\n" + b"30,f\n40,m\n" * 100
JSON = {"accept": "application/json"}


@pytest.fixture
def visit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A browser on a server of its own, whose jobs do not run."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    limits = ServerLimits(upload_bytes=1_000_000, kept_bytes=2_500_000, uploads_each=3)
    app = create_app(limits=limits)
    monkeypatch.setattr(app.state.jobs, "_next", lambda task: None)
    monkeypatch.setattr(app.state.pool, "warm", lambda: None)
    with TestClient(app, base_url="http://127.0.0.1:8000", follow_redirects=False) as client:
        yield client
    assert list(tmp_path.iterdir()) == []


def _send(client: Any, data: bytes = CSV, name: str = "people.csv", **more: Any) -> Any:
    return client.post("/assess/file", files={"file": (name, io.BytesIO(data))}, **more)


def _kept(client: Any) -> list[Path]:
    return [path for path in client.app.state.uploads.open().rglob("*") if path.is_file() and path.name != ".lock"]


def test_a_file_is_kept_for_the_browser_that_sent_it(visit: Any) -> None:
    sent = _send(visit)
    assert sent.status_code == 303
    assert sent.headers["cache-control"] == "no-store"
    cookie = sent.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    token = re.fullmatch(r"/assess\?file=([\w-]{43})", sent.headers["location"])
    assert token is not None
    uploads, visitor = visit.app.state.uploads, visit.cookies["epsilens-visitor"]
    upload = uploads.get(token[1], visitor)
    assert (upload.name, upload.size, upload.path.read_bytes()) == ("people.csv", len(CSV), CSV)
    assert upload.path.stat().st_mode & 0o077 == 0
    assert uploads.get(token[1], "x" * 43) is None
    assert uploads.get("x" * 43, visitor) is None
    assert "set-cookie" not in visit.get("/assess").headers


def test_a_link_from_elsewhere_does_not_replace_the_cookie(visit: Any) -> None:
    other = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert "set-cookie" not in visit.get("/assess", headers=other).headers
    assert "set-cookie" in visit.get("/assess").headers


def test_a_file_can_be_forgotten_with_what_was_begun_on_it(visit: Any) -> None:
    sent = _send(visit, headers=JSON).json()
    assert sent["name"] == "people.csv"
    assert len(_kept(visit)) == 1
    state = visit.app.state
    job = next(iter(state.jobs._all.values()))
    assert visit.get(f"/assess/job/{job.id}/state").json()["state"] == "waiting"
    stranger = TestClient(visit.app, base_url="http://127.0.0.1:8000", follow_redirects=False)
    stranger.post(f"/assess/file/{sent['token']}/forget")
    assert len(_kept(visit)) == 1
    assert stranger.get(f"/assess/job/{job.id}/state").status_code == 404
    stranger.post(f"/assess/job/{job.id}/end")
    assert job.state.value == "waiting"
    assert visit.post(f"/assess/file/{sent['token']}/forget").headers["location"] == "/assess"
    assert _kept(visit) == []
    assert job.state.value == "ended"
    assert visit.get(f"/assess/job/{job.id}/state").status_code == 404


def test_a_job_can_be_ended(visit: Any) -> None:
    _send(visit)
    job = next(iter(visit.app.state.jobs._all.values()))
    assert visit.post(f"/assess/job/{job.id}/end").headers["location"] == f"/assess/job/{job.id}"
    assert visit.get(f"/assess/job/{job.id}/state").json()["state"] == "ended"
    assert visit.post("/assess/job/none/end", headers=JSON).json() == {"state": "ended"}


def test_a_visit_ends(visit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    token = _send(visit, headers=JSON).json()["token"]
    uploads, visitor = visit.app.state.uploads, visit.cookies["epsilens-visitor"]
    now = time.monotonic()
    monkeypatch.setattr("epsilens.web.uploads.time.monotonic", lambda: now + 1_700)
    assert uploads.get(token, visitor) is not None  # asking keeps it
    monkeypatch.setattr("epsilens.web.uploads.time.monotonic", lambda: now + 3_400)
    assert uploads.expire() == []
    monkeypatch.setattr("epsilens.web.uploads.time.monotonic", lambda: now + 3_600)
    assert [u.token for u in uploads.expire()] == [token]
    assert uploads.get(token, visitor) is None
    assert _kept(visit) == []


def test_the_digest_tells_files_apart_and_is_of_no_use_elsewhere(visit: Any, tmp_path: Path) -> None:
    def digest(client: Any, data: bytes) -> str:
        token = _send(client, data, headers=JSON).json()["token"]
        return str(client.app.state.uploads.get(token, client.cookies["epsilens-visitor"]).digest)

    first = digest(visit, CSV)
    assert re.fullmatch("[0-9a-f]{16}", first)
    assert digest(visit, CSV) == first
    assert digest(visit, CSV + b"50,f\n") != first
    visit.app.state.uploads._key = b"another run"
    assert digest(visit, CSV) != first


def test_the_oldest_file_makes_room(visit: Any) -> None:
    tokens = [_send(visit, headers=JSON).json()["token"] for _ in range(4)]
    uploads, visitor = visit.app.state.uploads, visit.cookies["epsilens-visitor"]
    assert [uploads.get(token, visitor) is not None for token in tokens] == [False, True, True, True]
    assert len(_kept(visit)) == 3


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("stays.xlsx", b"PK\x03\x04", "The file is 'stays.xlsx': save the sheet as CSV first"),
        ("stays.csv", b"PK\x03\x04" * 10, "it is a spreadsheet or an archive; save the sheet as CSV"),
        ("stays.csv", b"", "'stays.csv' is empty"),
        ("stays.csv", b"PAR1" * 10, "it is a Parquet file, so name it .parquet"),
        ("stays.csv", gzip.compress(CSV), "it is packed with gzip, so name it .csv.gz"),
        ("stays.csv.gz", CSV, "it is not packed with gzip; name it .csv"),
        ("stays.parquet", CSV, "it is not a Parquet file"),
        ("stays.sav", b"$FL2", "export the table as CSV or Parquet first"),
        ("stays.zip", b"PK\x03\x04", "unpack it first"),
        ("stays", CSV, "give a CSV (.csv, .tsv, .csv.gz) or Parquet (.parquet) file"),
        ("a\u202evsc.exe", CSV, "The file is 'avsc.exe'"),
        ("stays.csv", b"x" * 1_000_001, "larger than 1 MB: use the command line"),
        ("stays.csv", b"x" * 3_000_000, "larger than 1 MB: use the command line"),
    ],
    ids=[
        "spreadsheet", "named csv", "empty", "parquet named csv", "gzip named csv", "csv named gzip",
        "csv named parquet", "spss", "zip", "no ending", "turned around", "too large", "far too large",
    ],
)  # fmt: skip
def test_what_is_refused_says_why(visit: Any, text_of: Any, name: str, data: bytes, said: str) -> None:
    script, page = _send(visit, data, name, headers=JSON), followed(visit, _send(visit, data, name))
    assert script.status_code == page.status_code in (413, 422)
    assert said in script.json()["error"]
    assert script.json()["field"] == "file"
    assert said in text_of(page.text)
    assert _kept(visit) == []


def test_no_file_was_chosen(visit: Any) -> None:
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename=""\r\n\r\n\r\n--x--\r\n'
    kind = {"content-type": "multipart/form-data; boundary=x", **JSON}
    answer = visit.post("/assess/file", content=head, headers=kind)
    assert (answer.status_code, answer.json()["error"][:19]) == (422, "The file is missing")
    for other in ("multipart/form-data", "text/plain", ""):
        assert visit.post("/assess/file", content=b"x", headers={"content-type": other, **JSON}).status_code in (
            400,
            422,
        )


@pytest.mark.parametrize("body", [b"--x\r\n", b"--x--\r\n", b"nonsense", b"--x\r\n" + b"a" * 100_000, b""])
def test_broken_forms(visit: Any, body: bytes) -> None:
    kind = {"content-type": "multipart/form-data; boundary=x", **JSON}
    assert visit.post("/assess/file", content=body, headers=kind).status_code in (400, 413, 422)
    assert _kept(visit) == []


def test_a_form_of_two_files_or_half_a_file(visit: Any) -> None:
    part = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na,b\r\n1,2\r\n'
    kind = {"content-type": "multipart/form-data; boundary=x", **JSON}
    for body in (part + part + b"--x--\r\n", part):
        answer = visit.post("/assess/file", content=body, headers=kind)
        assert answer.status_code == 400
    assert _kept(visit) == []


def test_the_server_keeps_only_so_much(visit: Any) -> None:
    for _ in range(2):
        assert _send(visit, b"x" * 999_000).status_code == 303
    refused = _send(visit, b"x" * 999_000, headers=JSON)
    assert refused.status_code == 503
    assert "keeps as many files as it may" in refused.json()["error"]


def test_a_disk_that_is_nearly_full(visit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("epsilens.web.uploads.shutil.disk_usage", lambda path: type("Use", (), {"free": 500_000_100}))
    refused = _send(visit, headers=JSON)
    assert refused.status_code == 507
    assert "nearly full" in refused.json()["error"]


def test_few_are_received_at_once(visit: Any) -> None:
    uploads = visit.app.state.uploads
    places = [uploads._place(str(i), 1) for i in range(uploads.limits.receiving)]
    for place in places:
        place.__enter__()
    with pytest.raises(RequestError, match="4 files are being received already"), uploads._place("x", 1):
        pass
    assert _send(visit, headers=JSON).status_code == 503
    for place in places:
        place.__exit__(None, None, None)
    assert _send(visit).status_code == 303
