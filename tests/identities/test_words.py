"""Facts are types: with every note, name and sentence replaced by "x" nothing but words changes.

Numbers, directions, brackets, choices, verdicts, exit codes and form fields are read twice, once with the words as they
are and once without any; the two must agree to the last bit.
"""

from __future__ import annotations

import ast
import contextlib
import io
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from tests.specimens import EXPERIMENTS, RESULTS

import epsilens as el
from epsilens.catalogue.readings import READINGS
from epsilens.cli import console
from epsilens.cli.app import app
from epsilens.worlds import WorldsKind

PLAN = Path(__file__).parents[2] / "examples" / "mental-visits.yaml"
X = "x"
#: What a record says in a word of the program's own, not in words for readers.
KEYS = {
    "binding", "direction", "key", "method", "noise", "objective", "parameter", "reading", "side", "test", "verdict",
}  # fmt: skip


@contextlib.contextmanager
def without_words() -> Iterator[None]:
    """Every experiment, whoever builds it, every choice, every label of a reading and every error says "x"."""
    with pytest.MonkeyPatch.context() as patch:
        made, chosen = el.Experiment.__post_init__, el.Choice.__post_init__

        def silent(self: el.Experiment) -> None:
            made(self)
            put = object.__setattr__
            put(self, "notes", (X,) * len(self.notes))
            put(self, "label", X)
            put(self, "worlds", replace(self.worlds, words=(X, X)))

        def mute(self: el.Choice) -> None:
            chosen(self)
            object.__setattr__(self, "remarks", (X,) * len(self.remarks))

        def say_nothing(self: Exception, *_: Any) -> None:
            Exception.__init__(self, X)

        patch.setattr(el.Experiment, "__post_init__", silent)
        patch.setattr(el.Choice, "__post_init__", mute)
        patch.setattr(el.EpsilensError, "__init__", say_nothing)
        patch.setattr("epsilens.worlds._WORDS", dict.fromkeys(WorldsKind, (X, X)))
        told = {name: reading.label for name, reading in READINGS.items()}
        for reading in READINGS.values():
            object.__setattr__(reading, "label", X)
        try:
            yield
        finally:
            for name, label in told.items():
                object.__setattr__(READINGS[name], "label", label)


def facts(value: Any) -> Any:
    """What is left of an answer without its words: numbers bit for bit, truth values, keys, and how many of what."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | float | np.number):
        return float(value).hex()
    if isinstance(value, np.ndarray):
        return facts(value.tolist())
    if isinstance(value, Mapping):
        return {key: held if key in KEYS and isinstance(held, str) else facts(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [facts(held) for held in value]
    return X if isinstance(value, str) else value


def outcome(ask: Callable[[], Any]) -> Any:
    """The facts of an answer, or of the error that came instead of one."""
    try:
        return facts(ask())
    except el.EpsilensError as error:
        parameter, floor = getattr(error, "parameter", ""), getattr(error, "floor", math.nan)
        return type(error).__name__, parameter, float(floor).hex()


def test_the_words_are_gone() -> None:
    with without_words():
        made = el.compose(el.mechanisms.from_gdp(0.3), el.laplace(epsilon=0.1), width=0.5)
        assert {*made.notes, made.name, made.h0, made.h1, READINGS["kl"].label} == {X}
        with pytest.raises(el.InputError, match=r"^x$"):
            el.laplace(epsilon=-1.0)
    assert el.laplace(epsilon=1.0).name == "laplace"
    assert READINGS["success"].label == "right guesses"
    with pytest.raises(el.InputError, match="epsilon is -1"):
        el.laplace(epsilon=-1.0)


# -- experiments ------------------------------------------------------------------------------------------------------

READ: tuple[tuple[str, dict[str, float]], ...] = (
    ("roc", {"fpr": 0.01}),
    ("delta", {"epsilon": 0.5}),
    ("renyi", {"order": -1.0}),
)
BRACKETS: tuple[tuple[str, dict[str, float]], ...] = (("success", {"prior": 0.3}), ("foo", {}))


def read(e: el.Experiment) -> dict[str, Any]:
    """Everything a program may act on."""
    told: dict[str, Any] = {}
    for name, arguments in READ:
        told[name] = outcome(lambda n=name, a=arguments: getattr(e, n)(**a))  # type: ignore[misc]
    for name, arguments in BRACKETS:
        told[f"bracket {name}"] = outcome(lambda n=name, a=arguments: e.bracket(n, **a))  # type: ignore[misc]
    told |= {"origin": e.origin, "direction": e.direction, "kind": e.worlds.kind, "reversed": e.worlds.reversed}
    told["parts"] = [(part.origin, count) for part, count in e.parts]
    # notes are words, and of many experiments those that say the same are one
    told["dict"] = facts({key: value for key, value in e.to_dict().items() if key != "notes"})
    return told


#: Experiments of experiments: composed, repeated, sampled, grouped and reversed once more.
AGAIN: Mapping[str, Callable[[el.Experiment], el.Experiment]] = {
    "as it is": lambda e: e,
    "reversed": lambda e: e.reverse(),
    "composed": lambda e: el.compose(e, el.laplace(epsilon=0.1)),
    "repeated": lambda e: e.repeat(2),
    "sampled": lambda e: el.subsample(e, 0.2),
    "sampled, replaced": lambda e: el.subsample(e, 0.2, neighbours="replace"),
    "a group": lambda e: el.group(e, 2),
}
NESTED = ("laplace", "laplace, replaced", "gaussian", "randomized response", "approximate", "finite, reversed",
          "from gdp", "from zcdp", "staircase", "composed bounds", "sampled claim", "table")  # fmt: skip


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_readings_do_not_depend_on_words(name: str) -> None:
    worded = read(EXPERIMENTS[name]())
    with without_words():
        assert read(EXPERIMENTS[name]()) == worded


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("once_more", AGAIN)
def test_nor_do_those_of_experiments_of_experiments(name: str, once_more: str) -> None:
    def ask() -> Any:
        made = AGAIN[once_more](EXPERIMENTS[name]())
        return [made.direction, made.origin, outcome(lambda: made.bracket("advantage")), facts(made.to_dict())]

    worded = outcome(ask)
    with without_words():
        assert outcome(ask) == worded


@pytest.mark.parametrize("name", RESULTS)
def test_results_do_not_depend_on_words(name: str) -> None:
    def ask() -> Any:
        made = RESULTS[name]()
        told = made.to_dict() if hasattr(made, "to_dict") else {}
        return {key: value for key, value in told.items() if key != "seconds"}  # those are the clock's

    worded = outcome(ask)
    with without_words():
        assert outcome(ask) == worded


# -- choices ----------------------------------------------------------------------------------------------------------

CHOICES: Mapping[str, Callable[[], el.Choice]] = {
    "closed form": lambda: el.choose(el.laplace, "epsilon", at_most=0.55),
    "search": lambda: el.choose(el.mechanisms.staircase, "epsilon", at_most=0.6),
    "nothing violates": lambda: el.choose(el.gaussian, "sigma", at_most=1.0),
    "the mechanism's edge": lambda: el.choose(
        el.gaussian, "epsilon", at_most=0.9, given={"delta": 1e-5, "calibration": "classical"}
    ),
    "whole": lambda: el.choose(el.dpsgd, "steps", at_most=0.6, given={"sigma": 2.0, "rate": 0.01}),
    "a claim": lambda: el.choose(el.mechanisms.from_gdp, "mu", at_most=0.6),
    "unmet": lambda: el.choose(el.laplace, "epsilon", at_most=0.3),
    "unbounded": lambda: el.choose(el.gaussian, "sigma", at_most=0.6, reading="posterior"),
    "a wrong value": lambda: el.choose(el.laplace, "epsilon", at_most=0.6, given={"sensitivity": -1.0}),
    "a wrong parameter": lambda: el.choose(el.laplace, "sigma", at_most=0.6),
    "a missing one": lambda: el.choose(el.dpsgd, "sigma", at_most=0.6, given={"rate": 0.01}),
    "incomplete": lambda: el.choose(el.gaussian, "epsilon", at_most=0.6),
    "out of reach": lambda: el.choose(el.mechanisms.randomized_response, "k", at_most=0.6, given={"truth": 0.1}),
    "no reading": lambda: el.choose(el.laplace, "epsilon", at_most=0.6, reading="foo"),
    "no argument": lambda: el.choose(el.laplace, "epsilon", at_most=0.6, reading="roc"),
    "too high": lambda: el.choose(el.laplace, "epsilon", at_most=2.0),
}


@pytest.mark.parametrize("name", CHOICES)
def test_choices_do_not_depend_on_words(name: str) -> None:
    def ask() -> Any:
        choice = CHOICES[name]()
        return [choice.to_dict(), choice.binding.free, choice.experiment.to_dict()]

    worded = outcome(ask)
    with without_words():
        assert outcome(ask) == worded


# -- errors: exit codes and fields ------------------------------------------------------------------------------------

COMMANDS = (
    ("explain", "laplace", "--epsilon", "1"),
    ("explain", "laplace", "--epsilon", "-1"),
    ("explain", "laplace", "--epsilon", "one"),
    ("explain", "laplace"),
    ("explain", "gaussian", "--epsilon", "1"),
    ("explain", "nothing", "--epsilon", "1"),
    ("explain", "laplace", "--epsilon", "1", "--prior", "2"),
    ("choose", "laplace", "--at-most", "success=0.55"),
    ("choose", "laplace", "--at-most", "success=0.4"),
    ("choose", "laplace", "--at-most", "foo=0.4"),
    ("choose", "gaussian", "--at-most", "posterior=0.6"),
    ("difference", "--epsilon", "0"),
    ("tamper", "--epsilon", "1", "--bias", "x"),
    ("identify", "--n", "1"),
    ("scan", "nowhere.csv", "--quasi", "a"),
    ("assess", "nowhere.yaml"),
    ("assess", str(PLAN), "--format", "json"),
    ("reproduce", "999"),
)


def exit_code(words: tuple[str, ...]) -> int:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return console.run(typer.main.get_command(app), words)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_exit_codes_do_not_depend_on_words(words: tuple[str, ...]) -> None:
    worded = exit_code(words)
    assert worded in (0, 1, 2, 3, 4)
    with without_words():
        assert exit_code(words) == worded


ASKED = (
    "/api/explain?mechanism=laplace&epsilon=1",
    "/api/explain?mechanism=laplace&epsilon=-1",
    "/api/explain?mechanism=laplace&epsilon=one",
    "/api/explain?mechanism=laplace",
    "/api/explain?mechanism=foo&epsilon=1",
    "/api/explain?mechanism=laplace&epsilon=1&prior=2",
    "/api/explain?mechanism=laplace&epsilon=1&sensitivity=0",
    "/api/explain?mechanism=laplace&epsilon=1&shift=3",
    "/api/explain?mechanism=laplace&epsilon=1&sigma=3",
    "/api/explain?mechanism=gaussian&sigma=0",
    "/api/explain?mechanism=gaussian&epsilon=2&delta=1e-5&calibration=classical",
    "/api/explain?mechanism=randomized-response&truth=0.1",
    "/api/explain?mechanism=exponential&epsilon=1&scores0=1,2&scores1=1",
    "/api/explain?mechanism=dpsgd&sigma=1&rate=2&steps=10",
    "/api/choose?mechanism=laplace&at_most=0.55",
    "/api/choose?mechanism=laplace&at_most=0.4",
    "/api/choose?mechanism=laplace&at_most=2",
    "/api/choose?mechanism=laplace&at_most=0.5&reading=foo",
    "/api/choose?mechanism=laplace&at_most=0.5&reading=roc",
    "/api/choose?mechanism=laplace&at_most=0.5&reading=roc&fpr=3",
    "/api/choose?mechanism=laplace&at_most=0.5&parameter=sigma",
)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    pytest.importorskip("fastapi", reason="the page needs epsilens[web]")
    with warnings.catch_warnings():  # it asks for a successor of httpx that is not there yet
        warnings.simplefilter("ignore")
        from starlette.testclient import TestClient
    from epsilens.web.app import create_app

    with TestClient(create_app(), base_url="http://127.0.0.1:8000") as made:
        yield made


@pytest.mark.parametrize("url", ASKED)
def test_form_fields_do_not_depend_on_words(client: Any, url: str) -> None:
    def ask() -> tuple[int, Any, Any]:
        answer = client.get(url)
        body = answer.json()
        return answer.status_code, body.get("field"), facts(body) if answer.status_code == 200 else None

    worded = ask()
    with without_words():
        assert ask() == worded


# -- verdicts ---------------------------------------------------------------------------------------------------------

TABLE = {
    "site": [i % 3 for i in range(60)],
    "age": [20 + i % 7 for i in range(60)],
    "sick": [int(i % 5 == 0) for i in range(60)],
    "visits": [i % 11 for i in range(60)],
}
SMALL = """
data: {table: t, quasi_identifiers: [site, age]}
queries:
- {count: sick = 1, by: site, groups: [0, 1, 2]}
- {sum: visits, bounds: [0, 30]}
mechanism: {noise: laplace, epsilon: 1.0}
limits: {success: 0.55, posterior: 0.9}
"""
PLANS: Mapping[str, str] = {
    "over its limits": SMALL,
    "within its limits": SMALL.replace("epsilon: 1.0", "epsilon: 0.01"),
    "gaussian": SMALL.replace("noise: laplace, epsilon: 1.0", "noise: gaussian, epsilon: 1.0, delta: 1.0e-6"),
    "an error beyond its limit": SMALL.replace("posterior: 0.9", "error: 0.001"),
    "wrong": SMALL.replace("epsilon: 1.0", "epsilon: -1.0"),
    "no such column": SMALL.replace("sum: visits", "sum: nothing"),
}


VERDICTS = {
    "over its limits": True,
    "within its limits": False,
    "gaussian": True,
    "an error beyond its limit": True,
    "wrong": "InputError",
    "no such column": "InputError",
}


@pytest.mark.parametrize("name", PLANS)
def test_verdicts_do_not_depend_on_words(name: str) -> None:
    def ask() -> Any:
        found = el.assess(PLANS[name], table=TABLE)
        return [found.exceeded, found.to_dict()]

    worded = outcome(ask)
    assert worded[0] == VERDICTS[name]
    with without_words():
        assert outcome(ask) == worded


# -- what the code itself reads ---------------------------------------------------------------------------------------

WORDS = {"note", "notes", "h0", "h1", "sentence", "because", "remarks"}
TESTS = {"startswith", "endswith", "match", "search", "fullmatch", "find", "index", "count"}
SAID_LAST = ("show", "papers", "cli", "web")  # words are their business


def reads_words(tree: ast.AST) -> list[int]:
    """Lines that compare or search a sentence."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TESTS:
            sides = [node.func.value, *node.args]
        else:
            continue
        for side in sides:
            name = side.attr if isinstance(side, ast.Attribute) else side.id if isinstance(side, ast.Name) else ""
            asks_error = (
                isinstance(side, ast.Call)
                and isinstance(side.func, ast.Name)
                and side.func.id == "str"
                and any(isinstance(a, ast.Name) and a.id == "error" for a in side.args)
            )
            if name in WORDS or asks_error:
                found.append(node.lineno)
    return found


@pytest.mark.always
def test_no_code_compares_or_searches_a_sentence() -> None:
    assert reads_words(ast.parse('if e.note.startswith("x") or notes == "x": pass')) == [1, 1]
    assert reads_words(ast.parse('if str(error).startswith("x"): pass')) == [1]
    house = Path(el.__file__).parent
    found = [
        f"{file.relative_to(house)}:{line}"
        for file in sorted(house.rglob("*.py"))
        if file.relative_to(house).parts[0] not in SAID_LAST
        for line in reads_words(ast.parse(file.read_text()))
    ]
    assert found == []
