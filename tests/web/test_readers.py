"""Readings in processes of their own: ended in time, when nobody waits, and replaced when they are gone."""

from __future__ import annotations

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
from epsilens.web.reader import answered
from epsilens.web.readers import Asked, Readers

pytestmark = pytest.mark.skipif(not Readers.possible, reason="there is no fork here")
#: A search among trainings: some tenths of a second on any machine.
_LONG = "mechanism=dpsgd&rate=0.013&steps=2000&reading=success&at_most=0.55"

_LONGER = "mechanism=dpsgd&rate=0.0000013&steps=1000000&width=0.0001&reading=fbeta&at_most=0.9"


def asked(query: str, path: str = "/api/choose") -> dict[str, Any]:
    return {"method": "GET", "path": path, "query": query, "headers": [("host", "127.0.0.1")], "beside": []}


@pytest.fixture(scope="module")
def readers() -> Iterator[Readers]:
    made = Readers(ServerLimits(readers=1, readings=3, reading_seconds=60))
    made.warm()
    yield made
    made.close()


def process(readers: Readers) -> int:
    return readers._idle[-1][0].process


def test_an_answer_is_the_views_own(readers: Readers) -> None:
    head, body = readers.ask(asked("mechanism=geometric&epsilon=1", "/api/explain")).answer.result(60)
    assert head["status"] == 200
    assert b"geometric" in body
    head, body = readers.ask(asked("mechanism=geometric&epsilon=-1", "/api/explain")).answer.result(60)
    assert head["status"] == 422
    assert b"epsilon" in body or "ε".encode() in body


def test_what_takes_too_long_is_ended_and_the_next_is_answered(readers: Readers) -> None:
    before = process(readers)
    readers.limits, kept = replace(readers.limits, reading_seconds=0.06), readers.limits
    try:
        began = time.monotonic()
        with pytest.raises(RequestError, match=r"longer than 0\.06 seconds") as late:
            readers.ask(asked(_LONGER)).answer.result(60)
        assert late.value.status == 504
        assert time.monotonic() - began < 5
    finally:
        readers.limits = kept
    until(lambda: not alive(before))
    assert readers.ask(asked("mechanism=geometric&epsilon=1", "/api/explain")).answer.result(60)[0]["status"] == 200
    assert process(readers) != before


def test_the_time_of_a_reading_begins_when_a_process_takes_it(
    readers: Readers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that started slowly, as on a crowded machine, is not the reading's fault."""
    waiting: list[Asked] = []
    there = threading.Event()
    taken = readers._taken

    def slowly() -> Any:
        there.wait(60)
        waiting[0].until = time.monotonic() - 1  # all its time went by
        return taken()

    monkeypatch.setattr(readers, "_taken", slowly)
    waiting.append(readers.ask(asked(_LONG)))
    there.set()
    assert waiting[0].answer.result(120)[0]["status"] == 200


def test_what_nobody_waits_for_is_ended(readers: Readers) -> None:
    before = process(readers)
    one = readers.ask(asked(_LONG))
    until(lambda: one.begun)
    one.gone = True
    with pytest.raises(RequestError):
        one.answer.result(60)
    until(lambda: not alive(before))
    readers.warm()


def test_a_process_that_was_killed_is_replaced_and_so_is_the_one_that_forks(readers: Readers) -> None:
    os.kill(process(readers), signal.SIGKILL)  # while it waits
    assert readers.ask(asked("mechanism=geometric&epsilon=1", "/api/explain")).answer.result(60)[0]["status"] == 200
    running = process(readers)
    one = readers.ask(asked(_LONGER))
    until(lambda: one.begun)
    time.sleep(0.35)
    os.kill(running, signal.SIGKILL)  # while it works
    with pytest.raises(RequestError, match="command line") as ended:
        one.answer.result(60)
    assert ended.value.status == 413
    assert readers._source is not None
    os.kill(readers._source.pid, signal.SIGKILL)
    readers._source.wait()
    assert readers.ask(asked("mechanism=geometric&epsilon=1", "/api/explain")).answer.result(60)[0]["status"] == 200


def test_the_line_has_an_end(readers: Readers) -> None:
    several = [readers.ask(asked(_LONG)) for _ in range(3)]
    with pytest.raises(RequestError, match="others wait") as refused:
        readers.ask(asked(_LONG))
    assert refused.value.status == 503
    for one in several:
        one.gone = True
    until(lambda: all(one.answer.done() for one in several))


def test_a_failure_names_its_kind_alone() -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError("a cell")

    async def large(scope: Any, receive: Any, send: Any) -> None:
        raise MemoryError

    head, _ = awaited(lambda: answered(broken, asked("")))
    assert head["failed"].startswith("RuntimeError at epsilens.web.reader")
    assert awaited(lambda: answered(large, asked(""))) == ({"large": True}, b"")


def test_those_who_stop_are_told() -> None:
    made = Readers(ServerLimits(readers=1))
    made.close()
    with pytest.raises(RequestError):
        made.ask(asked(_LONG))
