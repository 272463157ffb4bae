"""Hostile mechanisms: whatever they do is an outcome, a finding or one sentence, and nothing they print is shown."""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import epsilens as el
from epsilens.auditing.result import AuditVerdict, FindingKind, StopReason
from epsilens.auditing.sources import BatchSource, CallSource, GroupSource, NoAnswer, RunFailure

rng = np.random.default_rng(3)


class Odd:
    """Every method of it that is asked fails."""

    def __repr__(self) -> str:
        raise ValueError

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ValueError


class LoudError(Exception):
    def __str__(self) -> str:
        raise ValueError

    __repr__ = __str__


class Base(BaseException):
    pass


def raised(error: BaseException) -> Callable[[Any], Any]:
    def mechanism(_: Any) -> Any:
        raise error

    return mechanism


def forking(d: Any) -> Any:
    """The copy of the process returns as well."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
    return d + rng.laplace()


def deep(d: Any) -> Any:
    made: Any = [d + rng.laplace()]
    for _ in range(3000):
        made = [made]
    return made


def cyclic(d: Any) -> Any:
    made: dict[str, Any] = {"a": d + rng.laplace()}
    made["itself"] = made
    return made


def yields(d: Any) -> Iterator[float]:
    yield float(d)
    yield float(d) + 1


def again(d: Any) -> Any:
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    return d + rng.laplace()


def printing(d: Any) -> Any:
    print("secret")
    sys.stderr.write("secret")
    warnings.warn("secret", stacklevel=1)
    os.write(1, b"secret")
    os.write(2, b"secret")
    os.system("echo secret")
    return d + rng.laplace()


OUTCOMES: dict[str, Callable[[Any], Any]] = {
    "forks": forking,
    "recursion of 3000": deep,
    "itself": cyclic,
    "yields": yields,
    "ignores alarms": again,
    "odd object": lambda d: Odd(),
    "an object": lambda d: object(),
    "a lock": lambda d: open,
    "a module": lambda d: math,
    "a class": lambda d: float,
    "surrogates": lambda d: "\udc80" + str(d),
    "odd keys": lambda d: {"\udc80": d, 1: 2, "1": 3},
    "escape": lambda d: f"\x1b[31m<script>alert({d})</script>",
    "huge": lambda d: 10**400 + d,
    "none": lambda d: None,
    "empty": lambda d: [],
    "empty array": lambda d: np.zeros((0, 3)),
    "masked": lambda d: np.ma.masked_array([1.0], [True]),
    "complex": lambda d: complex(d, rng.laplace()),
    "dates": lambda d: np.array(["2020-01-01"], dtype="datetime64[D]"),
    "a record": lambda d: np.array([(1.0, d)], dtype=[("a", "f8"), ("b", "i4")]),
    "bytes": lambda d: os.urandom(9),
    "objects": lambda d: np.array([d, "x", None], dtype=object),
    "set": lambda d: {d, "a"},
    "infinity": lambda d: math.inf,
    "another shape": lambda d: np.zeros(rng.integers(4)),
    "new keys": lambda d: {str(rng.random()): d},
    "a long text": lambda d: "x" * 100_000 + str(rng.random()),
    "wide": lambda d: np.zeros(30_000) + d,
    "ignores its input": lambda d: rng.laplace(),
    "deterministic": lambda d: 5.0,
    "the input": lambda d: d,
    "exits for one": lambda d: sys.exit(3) if d else 0.0,
    "fails for one": lambda d: 1 / (1 - d),
}


@pytest.mark.parametrize("mechanism", OUTCOMES.values(), ids=OUTCOMES.keys())
def test_whatever_comes_back_is_an_outcome(mechanism: Callable[[Any], Any]) -> None:
    found = el.audit(mechanism, 0, 1, claim=1.0, runs=40, timeout=20.0, seed=1)
    for text in (found.to_text(), found.to_html(), json.dumps(found.to_dict()), repr(found)):
        assert "\x1b" not in text
        text.encode("utf-8")
    assert "<script>alert(" not in found.to_html()


@pytest.mark.parametrize("error", [ValueError("x"), LoudError(), Base(), GeneratorExit(), SystemExit(3), MemoryError()])
def test_one_that_always_fails_is_to_be_mended(error: BaseException) -> None:
    with pytest.raises(el.InputError, match=f"fails with {type(error).__name__} on every run"):
        el.audit(raised(error), 0, 1, claim=1.0, runs=40)


def test_nothing_that_is_printed_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    el.audit(printing, 0, 1, claim=1.0, runs=25, seed=1)
    assert capfd.readouterr() == ("", "")


def test_the_streams_are_back_afterwards(capfd: pytest.CaptureFixture[str]) -> None:
    CallSource(lambda d: d, 0, 1).draw(np.array([True]))
    os.write(1, b"told")
    assert capfd.readouterr().out == "told"


@pytest.mark.always
def test_one_that_hangs_is_late_however_it_holds_out() -> None:
    def holds(d: Any) -> Any:
        try:
            time.sleep(30)
        except BaseException:
            time.sleep(30)

    began = time.monotonic()
    assert CallSource(holds, 0, 1, 0.2).draw(np.array([True])) == [NoAnswer()]
    assert time.monotonic() - began < 10


def test_one_that_catches_everything_and_never_ends_is_late() -> None:
    def sleeps(d: Any) -> Any:
        while True:
            try:
                time.sleep(30)
            except BaseException:
                d += 1

    def computes(d: Any) -> Any:
        while True:
            try:
                sum(range(1000))
            except BaseException:
                continue

    def twice(d: Any) -> Any:
        while True:
            try:
                sleeps(d)
            except BaseException:
                time.sleep(30)

    began = time.monotonic()
    for mechanism in (sleeps, computes, twice):
        assert CallSource(mechanism, 0, 1, 0.2).draw(np.array([True])) == [NoAnswer()]
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    found = el.audit(sleeps, 0, 1, claim=1.0, timeout=0.1)
    assert found.stopped is StopReason.SILENT
    assert found.verdict is AuditVerdict.INCONCLUSIVE
    with pytest.raises(el.InputError, match="no answer on d0 within"):
        el.audit(lambda d, n: sleeps(d), 0, 1, claim=1.0, batch=True, timeout=0.2, seed=1)
    assert time.monotonic() - began < 60


def test_what_answers_say_is_told_apart() -> None:
    found = el.audit(lambda d: Odd(), 0, 1, claim=1.0, runs=40)
    assert found.has(FindingKind.UNREADABLE)
    assert found.has(FindingKind.SAME)
    assert found.verdict is AuditVerdict.INCONCLUSIVE
    assert "Answers of the type Odd cannot be read" in " ".join(found.to_text().split())
    wide = el.audit(lambda d: np.zeros(30_000) + rng.laplace(), 0, 1, claim=1.0, runs=25)
    assert wide.has(FindingKind.CUT)
    assert "20,000 of them were" in " ".join(wide.to_text().split())


def test_an_address_in_memory_is_no_noise() -> None:
    kept: list[Any] = []

    def fresh(d: Any) -> Any:
        kept.append(object())
        return kept[-1]

    assert el.audit(fresh, 0, 1, claim=1.0, runs=40).has(FindingKind.SAME)


def test_a_coroutine_is_no_answer() -> None:
    async def release(d: Any) -> Any:
        return d

    with pytest.raises(el.InputError, match="the mechanism returns a coroutine: give a function that is not async"):
        el.audit(release, 0, 1, claim=1.0)


BATCHES: dict[str, tuple[Callable[..., Any], str]] = {
    "too few": (lambda d, n: [0] * (n - 1), "outcomes where"),
    "without end": (lambda d, n: iter(int, 1), "more outcomes"),
    "a number": (lambda d, n: 3.0, "a float"),
    "none": (lambda d, n: None, "None"),
    "text": (lambda d, n: "x" * n, "a str"),
    "a mapping": (lambda d, n: dict.fromkeys(range(n)), "a dict"),
    "a set": (lambda d, n: set(range(n)), "a set"),
    "no axis": (lambda d, n: np.array(1.0), "a ndarray"),
    "odd": (lambda d, n: Odd(), "an Odd"),
    "fails": (lambda d, n: 1 / 0, "ZeroDivisionError"),
    "exits": (lambda d, n: sys.exit(), "SystemExit"),
    "hangs": (lambda d, n: time.sleep(9), "no answer on d0 within 0.3 seconds"),
    "one argument": (lambda: 1, "TypeError"),
    "too large": (lambda d, n: np.zeros((n, 10**14)), "MemoryError"),
}


@pytest.mark.parametrize(("mechanism", "words"), BATCHES.values(), ids=BATCHES.keys())
def test_a_batch_that_does_not_answer_as_agreed_is_one_sentence(
    mechanism: Callable[[Any, int], Any], words: str
) -> None:
    with pytest.raises(el.InputError, match=words):
        el.audit(mechanism, 0, 1, claim=1.0, batch=True, runs=50, timeout=0.3, seed=1)


def test_the_type_of_a_batch_is_an_outcome() -> None:
    source = BatchSource(lambda d, n: np.zeros(n, dtype="f4" if d else "f8"), 0, 1)
    assert [type(o).__name__ for o in source.draw(np.array([False, True]))] == ["float64", "float32"]
    assert el.audit(source.mechanism, 0, 1, claim=1.0, batch=True, runs=100, seed=1).refuted


GROUPS: dict[str, tuple[Any, Any, Callable[[Any], Any], str]] = {
    "no length": (1, 2, list, "d0 is an int"),
    "a mapping": ({"a": 1}, {"a": 2}, list, "d0 is a dict"),
    "a text": ("ab", "cd", list, "d0 is a str"),
    "none": ([], [], list, "0 and 0 entries"),
    "unlike": ([0], [0, 1], list, "1 and 2 entries"),
    "scalars": (np.array(1), np.array(2), list, "no and no entries"),
    "other shapes": (np.zeros((3, 2)), np.zeros(3), list, "the shapes"),
    "few cells": ([0, 0], [1, 1], lambda x: [1], "1 cells"),
    "a mapping back": ([0, 0], [1, 1], lambda x: dict(enumerate(x)), "a dict"),
    "fails": ([0], [1], lambda x: 1 / 0, "Zero"),
}


@pytest.mark.parametrize(("d0", "d1", "mechanism", "words"), GROUPS.values(), ids=GROUPS.keys())
def test_groups_that_are_none_are_one_sentence(d0: Any, d1: Any, mechanism: Callable[[Any], Any], words: str) -> None:
    with pytest.raises(el.InputError, match=words):
        el.audit(mechanism, d0, d1, claim=1.0, groups=True, runs=50)


def test_cells_of_groups_may_be_anything() -> None:
    def drawn(mechanism: Callable[[Any], Any]) -> Any:
        return GroupSource(mechanism, [0, 0], [1, 1]).draw(np.array([False, True]))

    assert drawn(lambda x: [10**400, 2]) == [10**400, 2]
    assert drawn(lambda x: ["a", None]) == ["a", None]
    assert drawn(lambda x: x).tolist() == [[0, 0], [1, 1]]


def test_a_timeout_no_clock_takes_is_a_long_one() -> None:
    assert CallSource(lambda d: 1 / d, 0, 1).draw(np.array([False])) == [RunFailure("ZeroDivisionError")]
    assert el.audit(lambda d: d + rng.laplace(), 0, 1, claim=1.0, runs=30, timeout=1e300).runs == 30
