"""A plan from YAML: what it says, what is refused in a sentence, and what the sentence asks for instead."""

from __future__ import annotations

import copy
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from epsilens.errors import InputError
from epsilens.plan import file as plan_file
from epsilens.plan.file import parse_yaml, read_release

PLAN: dict[str, Any] = {"data": {"table": "a.csv"}, "queries": [{"count": True}], "mechanism": {"epsilon": 1.0}}


@pytest.mark.parametrize(
    ("part", "name", "value", "says"),
    [
        ("mechanism", "epsilon", -1, "mechanism.epsilon is -1: give a number above 0 and at most 700"),
        ("mechanism", "epsilon", "x", "mechanism.epsilon is 'x': give a number above 0"),
        ("mechanism", "epsilon", float("nan"), "give a number above 0"),
        ("mechanism", "noise", "cauchy", "give 'laplace' or 'gaussian'"),
        ("data", "max_rows", 1.5, "give a whole number of 1 or more"),
        ("data", "table", None, "data.table is empty: give text"),
        ("data", "quasi_identifiers", "age", "give a list"),
        ("data", "read", 3, "give entries"),
        ("adversary", "prior", 1, "give a number above 0 and below 1"),
        ("adversary", "knows", "all", "give 'nothing' or 'one answer'"),
        ("limits", "success", "x", "give a number"),
    ],
)
def test_one_sentence(part: str, name: str, value: Any, says: str) -> None:
    plan = copy.deepcopy(PLAN)
    plan.setdefault(part, {})[name] = value
    with pytest.raises(InputError) as refused:
        read_release(plan)
    assert says in str(refused.value)
    assert "nput should" not in str(refused.value)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"count": True, "by": "a", "threshold": "never"}, "give 'auto' or a number"),
        ({"count": True, "rows": "maybe"}, "give true or false"),
        ({"sum": "x", "bounds": [1, 2, 3]}, "give at most 2 entries"),
        (3, "give entries, name: value"),
    ],
)
def test_queries(query: Any, says: str) -> None:
    with pytest.raises(InputError) as refused:
        read_release({**PLAN, "queries": [query]})
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("title: 2024-13-45\n", "looks like a date"),
        ("title: 2024-01-01 25:00:00\n", "looks like a date"),
        ("? [a, b]\n: 1\n", "as a key"),
        ("? {a: b}\n: 1\n", "as a key"),
        ("{{a}: b}\n", "as a key"),
        (f"title: {'1' * 5000}\n", "longer than any number"),
        ("title: " + ":59" * 100_000, ""),
        ("title: 1" + ":59" * 100_000 + "\n", "longer than any number"),
        ("title: !!int x\n", "tag '!!int'"),
        ("title: !!float x\n", "tag"),
        ("title: !!timestamp x\n", "tag"),
        ("title: !!binary x\n", "tag"),
        ("title: !mine x\n", "tag '!mine'"),
        ("a: !!set {b, c}\n", "tag"),
        ("<<: {a: 1}\n", "data is missing"),
        ("title: \ud800\n", "UTF-8"),
        ("title: \x1b[31m\n", "cannot be read"),
        ("a: 1\n---\nb: 2\n", "second document"),
        ("a: 0b\n", ""),
        ("title: =\n", ""),
        ("- " * 5000 + "\n", "nested"),
        ("{a: " * 5000 + "\n", "nested"),
        ("? " * 5000 + "\n", ""),
        ("\n", "not a mapping"),
        ("# nothing\n", "not a mapping"),
    ],
)
def test_what_is_odd_is_refused_in_a_sentence(text: str, says: str) -> None:
    with pytest.raises(InputError) as refused:
        read_release(text if "\n" in text else f"{text}\n")
    assert says in str(refused.value)
    assert len(str(refused.value)) < 500


@pytest.mark.parametrize(
    "text",
    [
        "a: [1, 2.5, true, null, ~, x, 2024-01-02, 1_000, 0x1F, '5', \"6\"]\nb: {c: {d: [e]}}\n",
        "a: |\n  two\n  lines\nb: >\n  folded\n  text\n",
        '{"title": "json", "queries": [{"count": true}], "limits": {"success": 0.55}}\n',
        "a:\n- b: 1\n  c: 2\n- d\n",
        "a: ''\nb: .inf\nc: -.inf\nd: 1e3\ne: 1.0e+3\n",
    ],
)
def test_plain_values_are_those_of_pyyaml(text: str) -> None:
    assert parse_yaml(text, "release")[0] == yaml.safe_load(text)


def test_a_key_is_the_text_it_is_written_as() -> None:
    value, lines = parse_yaml("data:\n  read:\n    no: number\n    2024: text\n", "release")
    assert value == {"data": {"read": {"no": "number", "2024": "text"}}}
    assert lines[("data", "read", "2024")] == 4


def test_a_megabyte_is_read_quickly() -> None:
    text = "title: x\nqueries:\n" + "- count: true\n" * 60_000
    began = time.process_time()
    with pytest.raises(InputError):
        read_release(text)
    assert time.process_time() - began < (10 if hasattr(yaml, "CSafeLoader") else 100)


def test_a_pipe_is_read_as_it_comes_and_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    monkeypatch.setattr(plan_file, "_WAIT_SECONDS", 0.2)
    with pytest.raises(InputError, match=r"nothing came through it in 0\.2 seconds"):
        read_release(pipe)
    monkeypatch.setattr(plan_file, "_WAIT_SECONDS", 30.0)
    writer = threading.Thread(target=pipe.write_text, args=("title: only\n",))
    writer.start()
    with pytest.raises(InputError, match="data is missing"):
        read_release(pipe)
    writer.join()
    with pytest.raises(InputError, match="it is no path"):
        read_release("a\0b")
    with pytest.raises(InputError, match="name too long"):
        read_release("x" * 10_000)
