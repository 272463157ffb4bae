"""Readings in processes of their own: ended in time, when nobody waits, and replaced when they are gone."""

from __future__ import annotations

import base64
import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.web.servers import alive, awaited, until

from epsilens.web.limits import RequestError, ServerLimits
from epsilens.web.pool import Call, Pool, Source
from epsilens.web.worker import page_answer

pytestmark = pytest.mark.skipif(not Source.forks, reason="there is no fork here")
#: A search among trainings: some tenths of a second on any machine.
_LONG = "mechanism=dpsgd&rate=0.013&steps=2000&reading=success&at_most=0.55"

_LONGER = "mechanism=dpsgd&rate=0.0000013&steps=1000000&width=0.0001&reading=fbeta&at_most=0.9"


def asked(query: str, path: str = "/api/choose") -> dict[str, Any]:
    page = {"method": "GET", "path": path, "query": query, "headers": [("host", "127.0.0.1")], "beside": []}
    return {"task": "page", **page}


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(ServerLimits(readers=1, readings=3, reading_seconds=60), Source())
    made.warm()
    yield made
    made.close()
    made.source.stop()


def process(pool: Pool) -> int:
    return pool._idle[-1].process


def body_of(answer: dict[str, Any]) -> bytes:
    return base64.b64decode(answer["body"])


@pytest.mark.always
def test_an_answer_is_the_views_own(pool: Pool) -> None:
    answer = pool.read(asked("mechanism=geometric&epsilon=1", "/api/explain")).answer.result(60)
    assert answer["status"] == 200
    assert b"geometric" in body_of(answer)
    answer = pool.read(asked("mechanism=geometric&epsilon=-1", "/api/explain")).answer.result(60)
    assert answer["status"] == 422
    assert b"epsilon" in body_of(answer) or "ε".encode() in body_of(answer)


def test_what_takes_too_long_is_ended_and_the_next_is_answered(pool: Pool) -> None:
    before = process(pool)
    pool.limits, kept = replace(pool.limits, reading_seconds=0.06), pool.limits
    try:
        began = time.monotonic()
        with pytest.raises(RequestError, match=r"longer than 0\.06 seconds") as late:
            pool.read(asked(_LONGER)).answer.result(60)
        assert late.value.status == 504
        assert time.monotonic() - began < 5
    finally:
        pool.limits = kept
    until(lambda: not alive(before))
    assert pool.read(asked("mechanism=geometric&epsilon=1", "/api/explain")).answer.result(60)["status"] == 200
    assert process(pool) != before


def test_the_time_of_a_reading_begins_when_a_process_takes_it(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that started slowly, as on a crowded machine, is not the reading's fault."""
    waiting: list[Call] = []
    there = threading.Event()
    take = pool._take

    def slowly(memory: int) -> Any:
        there.wait(60)
        waiting[0].until = time.monotonic() - 1  # all its time went by
        return take(memory)

    monkeypatch.setattr(pool, "_take", slowly)
    waiting.append(pool.read(asked(_LONG)))
    there.set()
    assert waiting[0].answer.result(120)["status"] == 200


def test_what_nobody_waits_for_is_ended(pool: Pool) -> None:
    before = process(pool)
    one = pool.read(asked(_LONG))
    until(lambda: one.begun)
    one.end()
    with pytest.raises(RequestError):
        one.answer.result(60)
    until(lambda: not alive(before))
    pool.warm()


def test_a_process_that_was_killed_is_replaced_and_so_is_the_one_that_forks(pool: Pool) -> None:
    os.kill(process(pool), signal.SIGKILL)  # while it waits
    assert pool.read(asked("mechanism=geometric&epsilon=1", "/api/explain")).answer.result(60)["status"] == 200
    running = process(pool)
    one = pool.read(asked(_LONGER))
    until(lambda: one.begun)
    time.sleep(0.35)
    os.kill(running, signal.SIGKILL)  # while it works
    with pytest.raises(RequestError, match="command line") as ended:
        one.answer.result(60)
    assert ended.value.status == 413
    source = pool.source._process
    assert source is not None
    os.kill(source.pid, signal.SIGKILL)
    source.wait()
    assert pool.read(asked("mechanism=geometric&epsilon=1", "/api/explain")).answer.result(60)["status"] == 200


def test_the_line_has_an_end(pool: Pool) -> None:
    several = [pool.read(asked(_LONG)) for _ in range(3)]
    with pytest.raises(RequestError, match="others wait") as refused:
        pool.read(asked(_LONG))
    assert refused.value.status == 503
    for one in several:
        one.end()
    until(lambda: all(one.answer.done() for one in several))


def test_a_failure_names_its_kind_alone() -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError("a cell")

    async def large(scope: Any, receive: Any, send: Any) -> None:
        raise MemoryError

    answer = awaited(lambda: page_answer(broken, asked("")))
    assert answer["failed"].startswith("RuntimeError at epsilens.web.worker")
    answer = awaited(lambda: page_answer(large, asked("")))
    assert (answer["status"], "more memory than the page allows" in answer["error"]) == (413, True)


def test_those_who_stop_are_told() -> None:
    made = Pool(ServerLimits(readers=1))
    made.close()
    with pytest.raises(RequestError):
        made.read(asked(_LONG))
