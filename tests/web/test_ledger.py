"""The Ledger view: the library's words and numbers, read only, and only where the server was given a ledger."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the page needs epsilens[web]")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

import epsilens as el
from epsilens.web.app import create_app

HOST = "http://127.0.0.1:8000"
Words = Callable[[str], str]


@pytest.fixture
def ledger(tmp_path: Path) -> el.Ledger:
    made = el.Ledger(tmp_path / "ledger.db")
    made.limit("patients", success=0.65)
    made.add("patients", el.laplace(epsilon=0.2), title="<i>visits</i>")
    made.limit("doctors", epsilon=1.0)
    return made


@pytest.fixture
def asked(ledger: el.Ledger) -> Iterator[TestClient]:
    with TestClient(create_app(ledger=ledger), base_url=HOST, follow_redirects=False) as made:
        yield made


def test_it_says_what_the_library_says(asked: TestClient, ledger: el.Ledger, text_of: Words) -> None:
    answer = asked.get("/ledger")
    assert answer.status_code == 200
    words = text_of(answer.text)
    assert ledger.account("patients").sentence in words
    assert "<i>visits</i>" in words  # escaped
    assert "<i>visits" not in answer.text
    assert answer.text.count("<svg") == 2
    assert answer.text.count("<h1") == 1
    assert ledger.account("doctors").sentence in text_of(asked.get("/ledger?account=doctors").text)


def test_it_is_what_it_is_now(asked: TestClient, ledger: el.Ledger, text_of: Words) -> None:
    asked.get("/ledger")
    ledger.add("patients", el.laplace(epsilon=0.1))
    assert "After 2 releases" in text_of(asked.get("/ledger?account=patients").text)


def test_files_to_keep(asked: TestClient, ledger: el.Ledger) -> None:
    kept = asked.get("/ledger.json?account=patients")
    assert kept.headers["content-disposition"].startswith("attachment")
    assert json.loads(kept.text) == json.loads(json.dumps(ledger.account("patients").to_dict()))
    page = asked.get("/ledger.html?account=patients")
    assert "<title>patients: ledger" in page.text


def test_the_other_views_name_it(asked: TestClient, client: TestClient) -> None:
    for view in ("/explain", "/help", "/no-such-page"):
        assert 'href="/ledger"' in asked.get(view).text
        assert 'href="/ledger"' not in client.get(view).text


@pytest.mark.parametrize("path", ["/ledger", "/ledger.html", "/ledger.json"])
def test_a_server_without_a_ledger_has_no_such_page(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("query", ["account=nurses", "account=%00", "account=" + "x" * 5000, "account='%3B--"])
def test_nobody_of_that_name(asked: TestClient, query: str, text_of: Words) -> None:
    answer = asked.get(f"/ledger?{query}")
    assert answer.status_code == 422
    assert len(text_of(answer.text)) < 1500


def test_it_never_writes(asked: TestClient, ledger: el.Ledger) -> None:
    before = ledger.export()
    for send in (asked.post, asked.put, asked.delete):
        made: Any = send("/ledger", headers={"origin": HOST})
        assert made.status_code in (403, 405)
    assert ledger.export() == before


def test_a_ledger_that_goes_away_is_told(asked: TestClient, ledger: el.Ledger, text_of: Words) -> None:
    assert ledger.store.path is not None
    ledger.store.path.unlink()
    answer = asked.get("/ledger")
    assert answer.status_code == 422
    assert "There is no ledger at" in text_of(answer.text)


@pytest.mark.parametrize(("kind", "start"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_its_chart_is_a_file(asked: TestClient, kind: str, start: bytes) -> None:
    made = asked.get(f"/ledger/releases.{kind}?account=patients")
    assert made.content.startswith(start)
    assert made.headers["content-disposition"] == f'attachment; filename="ledger-releases.{kind}"'
    assert f"/ledger/releases.{kind}?account=patients" in asked.get("/ledger?account=patients").text


def test_where_nothing_was_released_there_is_no_chart(asked: TestClient, text_of: Words) -> None:
    assert "releases.svg" not in asked.get("/ledger?account=doctors").text
    assert "Nothing was released yet" in text_of(asked.get("/ledger/releases.svg?account=doctors").text)
    assert asked.get("/ledger/releases.gif?account=patients").status_code == 422


def test_every_release_is_a_row_of_its_csv(asked: TestClient) -> None:
    head, row = asked.get("/ledger.csv?account=patients").text.splitlines()
    told = dict(zip(head.split(","), row.split(","), strict=True))
    assert (told["title"], float(told["charge.epsilon"])) == ("<i>visits</i>", 0.2)
