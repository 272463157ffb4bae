"""Settings side by side: from an address or a form to the results, each with the fields Explain has for it.

An address says a setting in one word, ``a=laplace:epsilon=1,sensitivity=2``; a form has an entry for each field of it,
``a_mechanism``, ``a_epsilon``. Both become the same :class:`Setting`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

from ..catalogue.mechanisms import MECHANISMS
from ..catalogue.parameters import PARAMETERS, symbol
from ..catalogue.said import EXPLAINED, find
from ..errors import EpsilensError, InputError
from ..shown import listed
from .fields import Field, field_of, shown_fields, way_of, ways_of
from .questions import Asked, Problem, check_of_100, entered_of, explain_strictly, problem_of, set_up
from .security import check_texts

LETTERS = "abcd"
#: What Compare starts with: the same ε, and another noise.
EXAMPLE = {"a": "laplace:epsilon=1", "b": "gaussian:epsilon=1,delta=0.000001"}


@dataclass
class Setting:
    """One setting: its letter, what was entered, what came of it. ``more`` are options that have no field."""

    letter: str
    asked: Asked
    text: str = ""
    more: dict[str, str] = field(default_factory=dict)

    @property
    def problem(self) -> Problem | None:
        """What is wrong, by the name its field has here."""
        wrong = self.asked.problem
        return None if wrong is None else replace(wrong, field=f"{self.letter}_{wrong.field}")

    @property
    def rest(self) -> str:
        """The options that have no field, to be sent along."""
        return ",".join(f"{k}={v}" for k, v in self.more.items())

    @property
    def spoken(self) -> str:
        """The setting in one word, as an address has it; what is wrong stays as it was typed."""
        if self.asked.about is None and self.text:
            return self.text
        told = {k: "on" if v is True else v for k, v in self.asked.options.items()}
        return f"{self.asked.mechanism.replace('_', '-')}:{','.join(f'{k}={v}' for k, v in told.items())}"

    def fields(self) -> tuple[list[Field], list[Field]]:
        """Explain's fields under names of this setting: the noise's own, and the others."""
        noise, usual, rare = shown_fields(MECHANISMS[self.asked.mechanism], self.asked.way)
        others = [f for f in (*usual, *rare) if f.name not in EXPLAINED]
        first, then = ([replace(f, name=f"{self.letter}_{f.name}") for f in some] for some in (noise, others))
        return first, then

    def ways(self) -> list[tuple[str, str]]:
        """The ways to say how much noise there is, each by its symbols."""
        known = ways_of(MECHANISMS[self.asked.mechanism])
        return [(way, listed([symbol(n) for n in names])) for way, names in known.items()]

    def value(self, name: str) -> str:
        """What stands in a field of this setting."""
        return self.asked.values.get(name.removeprefix(f"{self.letter}_"), "")


@dataclass
class Comparison:
    """Settings by letter, and what they share; ``problem`` is about the latter."""

    settings: list[Setting]
    shared: dict[str, str]
    problem: Problem | None = None

    @property
    def good(self) -> list[Setting]:
        """Those with a result."""
        return [s for s in self.settings if s.asked.about is not None]

    @property
    def query(self) -> str:
        """The query of the plain address."""
        return urlencode({s.letter: s.spoken for s in self.settings} | self.unusual, safe=":,")

    @property
    def unusual(self) -> dict[str, str]:
        """What they share and is not the default."""
        return {k: v for k, v in self.shared.items() if v != field_of(PARAMETERS[k]).default}


def compare(given: Mapping[str, str]) -> Comparison:
    """The comparison of a query: never raises, an error stands by its field.

    ``add`` gives one more setting, which starts as the last one; ``drop`` takes one away.
    """
    shared = {"prior": "0.5", "fpr": "0.1"}
    try:
        shared |= entered_of({k: v for k, v in given.items() if k.removesuffix("_of_100") in shared})
    except EpsilensError as error:
        return Comparison([], shared, problem_of(error))
    made = Comparison([], shared)
    try:
        check_of_100(made.unusual)
    except EpsilensError as error:
        made.problem = problem_of(error)
    for letter in LETTERS:
        setting = _setting(letter, given)
        if setting is not None and given.get("drop") != letter:
            made.settings.append(setting)
    made.settings = [replace(s, letter=letter) for letter, s in zip(LETTERS, made.settings, strict=False)]
    if "add" in given and made.settings and len(made.settings) < len(LETTERS):
        last = made.settings[-1]
        copy = replace(last.asked, values=dict(last.asked.values), options=dict(last.asked.options))
        made.settings.append(Setting(LETTERS[len(made.settings)], copy, last.text, dict(last.more)))
    for setting in made.settings:
        _read(setting, made)
    return made


def _setting(letter: str, given: Mapping[str, str]) -> Setting | None:
    """What was entered for a letter, nothing read yet; what is wrong with it stands in ``problem``."""
    text = (given.get(letter) or "").strip()
    if f"{letter}_mechanism" in given:
        return _from_form(letter, given) if given[f"{letter}_mechanism"] else None
    return _from_text(letter, text) if text else None


def _from_form(letter: str, given: Mapping[str, str]) -> Setting:
    mine = {k.removeprefix(f"{letter}_"): v for k, v in given.items() if k.startswith(f"{letter}_")}
    made = Setting(letter, Asked("/compare"))
    try:
        check_texts({"setting": mine.get("more", "")})
        made.more = _pairs(mine.pop("more", ""))
        set_up(made.asked, mine, without=EXPLAINED)
        known = set(MECHANISMS[made.asked.mechanism].takes)
        made.asked.options |= {k: v for k, v in made.more.items() if k in known}
    except EpsilensError as error:
        made.asked.problem = _by_letter(error, made)
    return made


def _from_text(letter: str, text: str) -> Setting:
    made = Setting(letter, Asked("/compare"), text)
    name, _, rest = text.partition(":")
    try:
        check_texts({"setting": text})
        entry = find(name)
        asked = made.asked
        asked.mechanism = entry.key
        asked.options = dict(_pairs(rest))
        asked.way = way_of(entry, asked.options)
        names = {f.name.removeprefix(f"{letter}_"): f for some in made.fields() for f in some}
        asked.values = {n: str(asked.options.get(n, f.default)) for n, f in names.items()}
        made.more = {k: v for k, v in asked.options.items() if k not in names}
    except EpsilensError as error:
        made.asked.problem = _by_letter(error, made)
    return made


def _read(setting: Setting, of: Comparison) -> None:
    """The result of a setting, or what is wrong with it."""
    asked = setting.asked
    if asked.problem is not None or of.problem is not None:
        return
    told = {k: "on" if v is True else str(v) for k, v in asked.options.items()}
    try:
        # Every setting's δ is read at the same ε, or the row could not be compared.
        asked.about = explain_strictly(asked.mechanism, {"for_epsilon": "1", **told, **of.unusual})
    except EpsilensError as error:
        asked.problem = _by_letter(error, setting)


def _by_letter(error: EpsilensError, setting: Setting) -> Problem:
    found = problem_of(error, setting.asked)
    name = found.field if found.field in setting.asked.values else "mechanism"
    return Problem(name, found.sentence, found.status)


def _pairs(text: str) -> dict[str, str]:
    """``epsilon=1,scores0=1,2,3``: a piece without an equals sign goes on with the value before it."""
    made: dict[str, str] = {}
    last = ""
    for piece in filter(str.strip, text.split(",")):
        name, equals, value = piece.partition("=")
        if equals:
            last = name.strip().lower().replace("-", "_")
            made[last] = value.strip()
        elif last:
            made[last] += f",{piece.strip()}"
        else:
            raise InputError(
                f"the setting has {piece.strip()[:40]!r}: give parameters such as epsilon=1, sensitivity=2"
            )
    return made
