"""Explain an experiment, or a choice: the sentence, the table, and every form in which they can be shown."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from ..catalogue.mechanisms import MECHANISMS
from ..catalogue.parameter import Panel, flag
from ..catalogue.parameters import PARAMETERS
from ..errors import InputError
from .readings import Row, rows
from .sentences import Span, consequence, flat, instruction, lead, mechanism, question

if TYPE_CHECKING:
    from ..choice.choice import Choice
    from ..experiment import Experiment

__all__ = ["Explanation", "chosen", "command_line", "explain"]

SCHEMA = 1


@dataclass(frozen=True)
class Explanation:
    """What an experiment means for a person, ready to be shown.

    ``lead`` is the sentence with its emphasis, ``headline`` an instruction (empty unless something was chosen),
    ``mechanism`` one line on how it works, ``rows`` the table, ``command`` what reproduces it (empty if nothing does).
    """

    experiment: Experiment
    arguments: Mapping[str, float]
    lead: tuple[Span, ...]
    mechanism: str
    rows: tuple[Row, ...]
    command: str
    headline: str = ""
    choice: Choice | None = None

    @property
    def sentence(self) -> str:
        """The headline and the lead as one plain text."""
        return self.headline + flat(self.lead)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader should know besides: the experiment's notes, the choice's, and how exact the numbers are."""
        notes = [*self.experiment.notes, *([self.choice.note] if self.choice and self.choice.note else [])]
        if self.experiment.direction == "exact":
            exact = "All values are exact to the digits shown."
        else:
            exact = "Values are upper bounds on the risk: what is not exact is rounded against the defender."
        if not self.experiment.law.reached:
            exact += " Some brackets are wider than was asked for, which costs accuracy but not safety."
        return (*(f"{note[:1].upper()}{note[1:]}." for note in notes), exact)

    def row(self, key: str) -> Row:
        """The row of a reading."""
        return next(r for r in self.rows if r.key == key)

    def with_command(self, command: str) -> Explanation:
        """The same, reproduced by another command."""
        return replace(self, command=command)

    def to_dict(self) -> dict[str, Any]:
        """The JSON payload. JSON has no infinity: such a reading is null and its name stands under ``unbounded``."""
        payload: dict[str, Any] = {
            "schema": SCHEMA,
            "sentence": self.sentence,
            "experiment": _finite(self.experiment.to_dict()),
            "arguments": dict(self.arguments),
            "readings": {r.key: _number(r.value) for r in self.rows},
            "baselines": {r.key: _number(r.baseline) for r in self.rows},
            "unbounded": [r.key for r in self.rows if math.isinf(r.value)],
            "command": self.command,
        }
        if self.choice is not None:
            payload["choice"] = _finite(self.choice.to_dict())
        return payload

    def to_text(self, width: int = 80) -> str:
        """Plain text."""
        from .text import to_text

        return to_text(self, width)

    def to_terminal(self, width: int = 80) -> str:
        """Text with the emphasis of a terminal."""
        from .terminal import to_terminal

        return to_terminal(self, width)

    def to_markdown(self) -> str:
        """Markdown: the sentence, then a table."""
        from .text import to_markdown

        return to_markdown(self)

    def to_html(self) -> str:
        """A self-contained page with its charts."""
        from .page import page

        return page(self)

    def to_html_fragment(self) -> str:
        """The sentence, the picture and the table for a notebook: no scripts, no charts, nothing to install."""
        from .page import fragment

        return fragment(self)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html_fragment()


def explain(
    experiment: Experiment,
    prior: float = 0.5,
    fpr: float = 0.1,
    beta: float = 1.0,
    epsilon_for_delta: float | None = None,
    delta: float = 1e-5,
    baseline: float = 0.01,
) -> Explanation:
    """Every reading of an experiment, in words.

    ``epsilon_for_delta`` is the ε whose δ is shown: half the guarantee unless given, or 1 where there is none.

    >>> import epsilens as el
    >>> print(explain(el.laplace(epsilon=1.0)))
    An adversary who knows every other record guesses correctly whether a person is
    in the data for 70 of 100 people. Without the release they would be right for
    50 of 100.
    ...
    """
    if any(isinstance(v, np.ndarray) for v in experiment.parameters.values()):
        raise InputError("this experiment holds arrays: give single numbers, or read the values it returns")
    given = {
        "prior": float(checks.probability("prior", checks.scalar("prior", prior))),
        "fpr": float(checks.probability("fpr", checks.scalar("fpr", fpr))),
        "beta": float(checks.within("beta", checks.scalar("beta", beta), 1e-6, 1e6)),
        "baseline": float(checks.probability("baseline", checks.scalar("baseline", baseline))),
        "delta": float(checks.probability("delta", checks.scalar("delta", delta))),
    }
    if epsilon_for_delta is None:
        most = float(experiment.epsilon())
        given["epsilon_for_delta"] = float(f"{most / 2:.2g}") if math.isfinite(most) and most > 0 else 1.0
    else:
        shown = checks.scalar("epsilon_for_delta", epsilon_for_delta)
        given["epsilon_for_delta"] = float(checks.at_least("epsilon_for_delta", shown, 0.0))
    asked = question(experiment)
    table = rows(experiment, asked, given)
    success, belief = table[0], next(r for r in table if r.key == "posterior")
    right = math.nextafter(1, 0) if success.nearly else success.value
    first = lead(asked, right, success.baseline, (belief.baseline, belief.value))
    return Explanation(experiment, given, first, mechanism(experiment), table, _reproduce(experiment, given))


def chosen(choice: Choice) -> Explanation:
    """A choice in words: what to set, what that achieves, and every reading at the chosen value.

    >>> import epsilens as el
    >>> print(chosen(el.choose(el.laplace, "epsilon", at_most=0.55)))
    Use ε = 0.2107 or less: an adversary who knows every other record then guesses
    correctly whether a person is in the data for at most 55 of 100 people. Without
    the release it would be 50 of 100. Your limit is 55 of 100.
    ...
    """
    args = choice.arguments
    names = {"prior": "prior", "fpr": "fpr", "alpha": "fpr", "beta": "beta", "baseline": "baseline"}
    taken = {names[k]: v for k, v in args.items() if k in names}
    if choice.reading_name == "delta":
        taken["epsilon_for_delta"] = args["epsilon"]
    if choice.reading_name == "epsilon" and args["delta"] > 0:
        taken["delta"] = args["delta"]
    about = explain(choice.experiment, **taken)
    then = consequence(choice, question(choice.experiment))
    return replace(about, lead=then, headline=instruction(choice), choice=choice)


def command_line(command: str, mechanism: str, options: Mapping[str, Any]) -> str:
    """The command that says the same, quoted for a shell.

    >>> command_line("explain", "laplace", {"epsilon": 1.0, "neighbours": "replace"})
    'epsilens explain laplace --epsilon 1 --neighbours replace'
    """
    words = ["epsilens", command, *([mechanism.replace("_", "-")] if mechanism else [])]
    for name, value in options.items():
        if value is True:
            words.append(flag(name))
        else:
            shown = repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
            words += [flag(name), shown]
    return shlex.join(words)


def _reproduce(e: Experiment, given: Mapping[str, float]) -> str:
    """The explain command for an experiment that one can be written for."""
    options = MECHANISMS[e.origin].reproduced(e.parameters) if e.origin in MECHANISMS else None
    if options is None:
        return ""
    asked = [p for p in PARAMETERS.values() if p.panel in (Panel.ADVERSARY, Panel.READING) and p.usual is not None]
    options |= {p.name: given[p.name] for p in asked if p.name in given and given[p.name] != p.usual}
    return command_line("explain", e.origin, options)


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _finite(value: Any) -> Any:
    """The same structure with null for what JSON cannot hold."""
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_finite(v) for v in value]
    return _number(value) if isinstance(value, float) else value
