"""Every public function, and every reading of what it builds, with values of every kind."""

from __future__ import annotations

import inspect
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import epsilens as el

from .values import NAMES, value
from .watched import Tried, watched

#: What reads tables and plans has kinds of its own; the others write, or run somebody's code many times.
_ELSEWHERE = {"assess", "audit", "correlate", "init", "release", "scan", "use_memory", "watch"}
_MODULES = ("mechanisms", "attacks", "correlated", "notions", "bridges")
_READINGS = (
    "success", "advantage", "auc", "roc", "tradeoff", "recall", "precision", "fbeta", "posterior", "attack_success",
    "delta", "epsilon", "renyi", "kl", "chernoff", "psi", "mu", "repeat", "reverse", "to_dict", "to_text", "bracket",
    "threshold", "chart", "frame", "_repr_html_",
)  # fmt: skip
#: Methods that write a whole document take long, and are one of so many.
_RARE = ("fit", "to_csv", "to_html", "to_markdown", "to_pdf", "to_terminal")
_SELDOM = 0.02
#: How much of a call is anything: mostly right calls get further.
_ODD = (0.0, 0.05, 0.1, 0.3)
#: How many readings of what was built.
_OFTEN = (1, 1, 2, 3)


def _targets() -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {}
    for name in el.__all__:
        made = getattr(el, name)
        if inspect.isfunction(made) and name not in _ELSEWHERE:
            found[f"el.{name}"] = made
    for module in _MODULES:
        part = getattr(el, module)
        for name in part.__all__:
            made = getattr(part, name)
            if inspect.isfunction(made) and name not in ("loaded", "trained", "opacus_accountant", "watch"):
                found[f"el.{module}.{name}"] = made
    for name in ("from_chain", "from_coefficients", "from_prior", "from_records", "from_table", "from_values"):
        found[f"el.attacks.Knowledge.{name}"] = getattr(el.attacks.Knowledge, name)
    for name in _methods(el.Ledger):
        found[f"ledger.{name}"] = getattr(el.Ledger, name)
    return found


def _methods(kind: type) -> list[str]:
    """The public methods of a class that write no file."""
    return [n for n in dir(kind) if n[0] != "_" and inspect.isfunction(getattr(kind, n)) and n not in ("save", "plot")]


def _call(chance: random.Random, name: str, function: Callable[..., Any]) -> str:
    """The text of a call that Python itself would accept."""
    given = []
    odd, more = chance.choice(_ODD), chance.choice((0.15, 0.6))
    takes = inspect.signature(function).parameters.values()
    by_place = any(each.kind is each.VAR_POSITIONAL for each in takes)
    for each in takes:
        if each.kind is each.VAR_KEYWORD or each.name in ("self", "progress"):
            continue
        if each.kind is each.VAR_POSITIONAL:
            given += [value(chance, each.name, odd=odd) for _ in range(chance.randint(0, 3))]
        elif each.default is each.empty or chance.random() < (more if each.default is None else 0.2):
            written = value(chance, each.name, None if each.default is each.empty else each.default, odd)
            placed = each.kind is each.POSITIONAL_ONLY or (by_place and each.kind is not each.KEYWORD_ONLY)
            given.append(written if placed else f"{each.name}={written}")
    return f"{name}({', '.join(given)})"


def _asked(chance: random.Random, made: Any) -> str:
    """A reading of what was built, or another method of it; nothing where it is not ours."""
    if not isinstance(made, el.Experiment):
        several = _methods(type(made)) if type(made).__module__.startswith("epsilens") else []
        if not several:
            return ""
        name = chance.choice(several)
        return _call(chance, name, getattr(type(made), name))
    reading = chance.choice(_READINGS if chance.random() > _SELDOM else _RARE)
    if reading == "bracket":
        return f"bracket({value(chance, 'reading')})"
    return _call(chance, reading, getattr(el.Experiment, reading))


def functions(tried: Tried, numbers: Iterator[int], seconds: float) -> None:
    """Try one call for each number."""
    with tempfile.TemporaryDirectory() as folder:
        _functions(tried, numbers, seconds, {**NAMES, "ledger": el.Ledger(f"{folder}/ledger.db")})


def _functions(tried: Tried, numbers: Iterator[int], seconds: float, known: Mapping[str, Any]) -> None:
    targets = _targets()
    names = [*targets]
    for number in numbers:
        chance = random.Random(f"{tried.seed} {number}")
        name = chance.choice(names)
        expression = _call(chance, name, targets[name])
        made: list[Any] = []
        watched(tried, number, expression, partial(_kept, made, expression, known), seconds)
        for _ in range(chance.choice(_OFTEN) if made else 0):
            _asked_on(tried, number, chance, expression, made[0], seconds, known)


def _asked_on(
    tried: Tried,
    number: int,
    chance: random.Random,
    expression: str,
    made: Any,
    seconds: float,
    known: Mapping[str, Any],
) -> None:
    """A reading of what was built, and one of what that brought."""
    for _ in range(2):
        found: list[Any] = []
        if not (asked := _asked(chance, made)):
            return
        call = partial(_kept, found, f"made.{asked}", {**known, "made": made})
        expression = f"{expression}.{asked}"
        watched(tried, number, expression, call, seconds)
        if not found or isinstance(found[0], el.Experiment):  # which is asked enough
            return
        made = found[0]


def _kept(made: list[Any], expression: str, known: Mapping[str, Any]) -> Any:
    made.append(_evaluated(expression, known))
    return made[0]


def _evaluated(expression: str, known: Mapping[str, Any]) -> Any:
    return eval(expression, dict(known))  # the expressions are our own
