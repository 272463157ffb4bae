"""Every public function, and every reading of what it builds, with values of every kind."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator
from typing import Any

import epsilens as el

from .values import NAMES, value
from .watched import Tried, watched

__all__ = ["functions"]

#: What reads tables and plans has kinds of its own; the others write, or run somebody's code many times.
_ELSEWHERE = {"assess", "audit", "correlate", "init", "release", "scan", "use_memory", "watch"}
_MODULES = ("correlated", "notions", "bridges")
_READINGS = (
    "success", "advantage", "auc", "roc", "tradeoff", "recall", "precision", "fbeta", "posterior", "attack_success",
    "delta", "epsilon", "renyi", "kl", "chernoff", "psi", "mu", "repeat", "reverse", "to_dict", "to_text", "bracket",
)  # fmt: skip


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
            if inspect.isfunction(made) and name not in ("loaded", "trained", "opacus_accountant"):
                found[f"el.{module}.{name}"] = made
    return found


def _call(chance: random.Random, name: str, function: Callable[..., Any]) -> str:
    """The text of a call that Python itself would accept."""
    given = []
    for each in inspect.signature(function).parameters.values():
        if each.kind is each.VAR_KEYWORD or each.name in ("self", "progress"):
            continue
        if each.kind is each.VAR_POSITIONAL:
            given += [value(chance, each.name) for _ in range(chance.randint(0, 3))]
        elif each.default is each.empty or chance.random() < (0.6 if each.default is None else 0.2):
            written = value(chance, each.name, None if each.default is each.empty else each.default)
            given.append(written if each.kind is each.POSITIONAL_ONLY else f"{each.name}={written}")
    # What stands by its place comes before what has a name.
    given.sort(key=lambda piece: "=" in piece.split("(")[0].split("[")[0] and not piece.startswith(("lambda", "'")))
    return f"{name}({', '.join(given)})"


def _asked(chance: random.Random, made: Any, expression: str) -> str:
    """The expression with a reading of what it built, where it built an experiment."""
    if not isinstance(made, el.Experiment):
        return ""
    reading = chance.choice(_READINGS)
    if reading == "bracket":
        which = value(chance, "reading")
        return f"{expression}.bracket({which})"
    return _call(chance, f"{expression}.{reading}", getattr(el.Experiment, reading))


def functions(tried: Tried, numbers: Iterator[int], seconds: float) -> None:
    """Try one call for each number."""
    targets = _targets()
    names = [*targets]
    for number in numbers:
        chance = random.Random(f"{tried.seed} {number}")
        name = chance.choice(names)
        expression = _call(chance, name, targets[name])
        made: list[Any] = []
        watched(tried, number, expression, lambda e=expression, m=made: m.append(_evaluated(e)) or m[0], seconds)
        if made and (asked := _asked(chance, made[0], expression)):
            watched(tried, number, asked, lambda e=asked: _evaluated(e), seconds)


def _evaluated(expression: str) -> Any:
    return eval(expression, dict(NAMES))  # the expressions are our own
