"""What the server answers itself, and what it lets a process answer that can be ended."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import HOST
from tests.web.servers import alive, awaited, until

import epsilens as el
from epsilens.web.app import create_app
from epsilens.web.limits import RequestError, ServerLimits
from epsilens.web.middleware import Router, is_quick
from epsilens.web.pool import Pool, Source

_LATE = "This takes longer than 0.05 seconds: use the command line, which has no limit."
_LONG = "mechanism=dpsgd&rate=0.013&steps=2000&reading=success&at_most=0.55"


#: A search among the longest trainings the page computes: some twenty seconds on any machine.
_LONGER = "mechanism=dpsgd&rate=0.0000013&steps=1000000&width=0.0001&reading=fbeta&at_most=0.9"


@pytest.mark.parametrize(
    ("path", "query", "quick"),
    [
        ("/", "", True),
        ("/explain", "mechanism=gaussian&sigma=1", True),
        ("/explain", "mechanism=Gaussian&sigma=1", True),
        ("/explain", "mechanism=dpsgd", False),
        ("/explain", "mechanism=laplace&mechanism=dpsgd", False),
        ("/explain", "mechanism=laplace&sigma=1,2,3", False),
        ("/explain", "mechanism=nothing", False),
        ("/api/choose", "mechanism=discrete_gaussian", False),
        ("/compare", "a_mechanism=laplace&a_given=epsilon=1&b_mechanism=top-k", False),
        ("/compare", "a=laplace:epsilon=1,sensitivity=2", True),
        ("/compare", "a=exponential:scores0=1,2,3", False),
        ("/compare", "a=dpsgd", False),
        ("/notions", "from=dp", False),
        ("/ledger", "", False),
        ("/ledger.json", "account=patients", False),
        ("/claim/roc.pdf", "", False),
        ("/assess", "table=epsilens:adult", True),
        ("/assess.html", "yaml=title: x", True),
        ("/explain.html", "mechanism=top-k", False),
        ("/static/page.css", "", True),
        ("/staticky", "mechanism=dpsgd", False),
        ("/api", "", True),
    ],
)
def test_closed_forms_are_answered_at_once(path: str, query: str, quick: bool) -> None:
    assert is_quick(path, query) is quick


def test_a_closed_form_asks_no_process(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Any, request: Any) -> Any:
        raise RequestError("nobody is there", 503)

    monkeypatch.setattr(Pool, "read", refuse)
    assert client.get("/explain?mechanism=laplace&epsilon=1").status_code == 200
    answer = client.get("/api/explain?mechanism=geometric&epsilon=1")
    assert (answer.status_code, answer.json()["error"]) == (503, "Nobody is there.")
    assert "Nobody is there." in client.get("/explain?mechanism=geometric&epsilon=1").text


@pytest.mark.skipif(not Source.forks, reason="there is no fork here")
def test_no_reading_takes_longer_than_its_time() -> None:
    with TestClient(create_app(limits=ServerLimits(reading_seconds=60)), base_url=HOST) as client:
        assert client.get("/api/explain?mechanism=geometric&epsilon=1").status_code == 200  # a process is there
        client.app.state.pool.limits = ServerLimits(reading_seconds=0.06)  # type: ignore[attr-defined]
        began = time.monotonic()
        late = client.get(f"/api/choose?{_LONG}")
        assert time.monotonic() - began < 5
        assert late.status_code == 504
        assert late.json()["error"].startswith("This takes longer than 0.06 seconds")
        assert late.headers["cache-control"] == "no-store"
        page = client.get(f"/choose?{_LONG}")
        assert (page.status_code, "longer than" in page.text) == (504, True)


@pytest.mark.always
@pytest.mark.skipif(not Source.forks, reason="there is no fork here")
def test_one_who_leaves_takes_the_work_along() -> None:
    """Unless its process were ended, the reading would take far longer than the test waits."""
    app = create_app(limits=ServerLimits(readers=1, reading_seconds=3600))
    app.state.pool.warm()
    working = app.state.pool._idle[-1].process
    seen: list[Any] = []

    async def leaves() -> None:
        came = iter([{"type": "http.request", "body": b"", "more_body": False}])

        async def receive() -> Any:
            return next(came, {"type": "http.disconnect"})

        async def send(message: Any) -> None:
            seen.append(message)

        headers = [(b"host", b"127.0.0.1")]
        scope = {"type": "http", "method": "GET", "path": "/api/choose", "raw_path": b"/api/choose",
                 "query_string": _LONGER.encode(), "headers": headers,
                 "scheme": "http", "server": ("127.0.0.1", 80), "root_path": "", "http_version": "1.1"}  # fmt: skip
        await asyncio.wait_for(app(scope, receive, send), 170)

    try:
        awaited(leaves)
        until(lambda: not alive(working), 170)
    finally:
        app.state.pool.close()


@pytest.mark.skipif(not Source.forks, reason="there is no fork here")
@pytest.mark.parametrize("path", ["/ledger", "/ledger.json", "/ledger.csv", "/ledger/releases.svg", "/notions"])
def test_a_ledger_and_a_definition_have_a_time_limit_too(path: str, tmp_path: Path) -> None:
    ledger = el.Ledger(tmp_path / "ledger.db")
    ledger.add("patients", el.laplace(epsilon=0.2))
    with TestClient(create_app(limits=ServerLimits(reading_seconds=60), ledger=ledger), base_url=HOST) as client:
        assert client.get(path).status_code == 200
        client.app.state.pool.limits = ServerLimits(reading_seconds=0)  # type: ignore[attr-defined]
        assert client.get(path).status_code in (503, 504)


def _asked(app: Any, path: str = "/explain") -> list[Any]:
    seen = []

    async def run() -> None:
        async def receive() -> Any:
            await asyncio.sleep(60)

        async def send(message: Any) -> None:
            seen.append(message)

        scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": []}
        await asyncio.wait_for(app(scope, receive, send), 30)

    awaited(run)
    return seen


def _refusing(scope: Any, status: int, sentence: str) -> Any:
    async def answer(scope: Any, receive: Any, send: Any) -> None:
        await send((status, sentence))

    return answer


def test_what_the_server_answers_itself_has_a_time_limit_too() -> None:
    async def slow(scope: Any, receive: Any, send: Any) -> None:
        try:
            await asyncio.sleep(20)
        finally:
            await send("too late for anybody")

    pool = Pool(ServerLimits(reading_seconds=0.05))
    assert _asked(Router(slow, pool, _refusing)) == [(504, _LATE)]
    pool.close()


def test_an_answer_that_has_begun_comes_to_its_end() -> None:
    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await send("the start")
        await asyncio.sleep(0.2)
        await send("the end")

    pool = Pool(ServerLimits(reading_seconds=0.05))
    assert _asked(Router(slow, pool, _refusing)) == ["the start", "the end"]
    pool.close()


def test_an_error_of_ours_is_not_hidden_by_the_limit() -> None:
    async def wrong(scope: Any, receive: Any, send: Any) -> None:
        raise ZeroDivisionError

    pool = Pool(ServerLimits())
    with pytest.raises(ZeroDivisionError):
        _asked(Router(wrong, pool, _refusing))
    pool.close()
