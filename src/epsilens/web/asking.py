"""From a URL to a result: the same steps as the commands, with what was entered kept beside the answer.

The pages are lenient (a field the mechanism does not take is left out, because it belonged to the mechanism chosen
before), the API is strict like the command line; both end in the same calls into the library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from ..catalogue.readings import READINGS, find
from ..cli import explain as e
from ..cli import mechanisms as m
from ..errors import EpsilensError, InputError, NoSolutionError
from .fields import FIELDS, READING_FIELDS, WAYS, from_of_100, shown_fields, way_of
from .limits import bounded, check_texts

if TYPE_CHECKING:
    from ..show.explanation import Explanation

__all__ = ["Asked", "Problem", "ask_choose", "ask_compare", "ask_explain", "choose_strictly", "explain_strictly"]

#: Reading → the fields it takes on the page; ``epsilon`` and ``delta`` of a reading have names of their own here.
READING_TAKES: dict[str, tuple[str, ...]] = {
    name: tuple(
        {"epsilon": "for_epsilon", "delta": "for_delta"}.get(argument, argument)
        for argument in (*(r for r in reading.required if r != "recall"), *reading.optional)
    )
    for name, reading in READINGS.items()
}
_MOST_SETTINGS = 4
_TRUE = ("on", "true", "1", "yes")


@dataclass(frozen=True)
class Problem:
    """What is wrong, and by which entry to say so; an empty ``field`` is the form as a whole."""

    field: str
    sentence: str
    status: int = 422
    floor: float | None = None


@dataclass
class Asked:
    """What was entered, what came of it, and the URL that says the same."""

    path: str
    mechanism: str = "laplace"
    way: str = "epsilon"
    values: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    about: Explanation | None = None
    problem: Problem | None = None

    @property
    def query(self) -> str:
        """The query of the plain URL."""
        told = {k: "on" if v is True else v for k, v in self.options.items()}
        return urlencode({"mechanism": self.mechanism.replace("_", "-"), **told})

    @property
    def url(self) -> str:
        """The plain URL of this state, which can be shared."""
        return f"{self.path}?{self.query}"


# -- strictly, as on the command line -----------------------------------------------------------------------------


def _options(given: Mapping[str, str], known: tuple[str, ...]) -> dict[str, Any]:
    for name in given:
        if name not in known:
            raise InputError(f"{name[:40]} is not a parameter here: give some of {', '.join(known)}")
    check_texts(given)
    made: dict[str, Any] = {k: v.strip() for k, v in given.items() if v.strip()}
    if "monotonic" in made:
        made["monotonic"] = made["monotonic"].lower() in _TRUE
    return made


@contextmanager
def _computable() -> Iterator[None]:
    """Whatever the arithmetic cannot hold becomes a sentence; the views must never fail for a number."""
    try:
        yield
    except EpsilensError:
        raise
    except (ArithmeticError, ValueError) as error:
        raise InputError("the values are too extreme to be computed together: give less extreme ones") from error


_EVERY = tuple(dict.fromkeys(option for taken in m.TAKES.values() for option in taken))


@_computable()
def explain_strictly(mechanism: str, given: Mapping[str, str]) -> Explanation:
    """What ``epsilens explain`` shows for these options, given as text."""
    from ..show.explanation import command_line, explain

    name = m.find(mechanism)
    options = _options(given, (*_EVERY, *READING_FIELDS))
    arguments, readings = m.given(name, options), e.readings_given(options)
    names = {"for_epsilon": "epsilon_for_delta", "for_delta": "delta"}
    made = bounded(name, m.builder(name))(**arguments)
    about = explain(made, **{names.get(k, k): v for k, v in readings.items()})
    return about.with_command(command_line("explain", name, e.said(options)))


@_computable()
def choose_strictly(
    mechanism: str, at_most: str, given: Mapping[str, str], parameter: str | None = None
) -> Explanation:
    """What ``epsilens choose`` shows; ``at_most`` is ``reading=value``."""
    from ..choice.choice import choose
    from ..cli.choose import split_limit
    from ..show.explanation import chosen, command_line

    name = m.find(mechanism)
    check_texts({"at_most": at_most, "parameter": parameter or ""})
    reading, limit = split_limit(at_most, "at_most")
    options = _options(
        given, (*_EVERY, "prior", "fpr", "beta", "baseline", "for_epsilon", "for_delta", "alpha", "recall", "order")
    )
    wanted = parameter.strip().replace("-", "_") if parameter else default_parameter(name, options)
    if wanted not in m.TAKES[name]:
        raise InputError(
            f"parameter is {wanted[:40]!r}: {mechanism} takes {', '.join(m.TAKES[name])}", parameter="parameter"
        )
    arguments = m.given(name, options, chosen=wanted)
    if wanted in arguments:
        raise InputError(f"{wanted} is given, but it is what is being chosen: leave it out or name another parameter")
    names = {"for_epsilon": "epsilon", "for_delta": "delta"}
    readings = {names.get(k, k): v for k, v in e.readings_given(options).items()}
    choice = choose(bounded(name, m.builder(name)), wanted, at_most=limit, reading=reading, given=arguments, **readings)
    said = {"at_most": at_most, **({"parameter": parameter} if parameter else {}), **e.said(options)}
    return chosen(choice).with_command(command_line("choose", name, said))


def default_parameter(name: str, options: Mapping[str, Any]) -> str:
    """What is chosen unless said otherwise, as on the command line."""
    from ..cli.choose import _default_parameter

    return _default_parameter(name, dict(options))


# -- leniently, from a form ---------------------------------------------------------------------------------------


def _entered(given: Mapping[str, str]) -> dict[str, str]:
    """The entries under the library's names: counts out of 100 become probabilities, blanks are left out."""
    made: dict[str, str] = {}
    for name, text in given.items():
        value = text.strip()
        plain = name.removesuffix("_of_100")
        if value and plain in FIELDS:
            made[plain] = from_of_100(value) if name != plain else value
    check_texts(made)
    return made


def ask_explain(given: Mapping[str, str], path: str = "/explain") -> Asked:
    """The Explain view of a query: never raises, an error stands beside its field."""
    asked = Asked(path)
    try:
        _set_up(asked, given)
        asked.about = explain_strictly(asked.mechanism, _told(asked.options))
    except EpsilensError as error:
        asked.problem = problem_of(error, asked)
    return asked


def _set_up(asked: Asked, given: Mapping[str, str], *, chosen: str | None = None) -> None:
    """Mechanism, way and values with their defaults, and the options that differ from these."""
    asked.mechanism = m.find(given.get("mechanism") or "laplace")
    entered = _entered(given)
    asked.way = chosen if chosen in WAYS[asked.mechanism] else way_of(asked.mechanism, given)
    if given.get("by") in WAYS[asked.mechanism] and chosen is None:
        entered = _switched(asked, entered)
    noise, usual, rare = shown_fields(asked.mechanism, asked.way)
    for each in (*noise, *usual, *rare):
        asked.values[each.name] = entered.get(each.name, each.default)
    needed = {f.name for f in noise} | {"scores0", "scores1"}
    asked.options = {
        f.name: True if f.kind == "flag" else asked.values[f.name]
        for f in (*noise, *usual, *rare)
        if asked.values[f.name]
        and f.name != chosen
        and (f.name in needed or asked.values[f.name] != f.default)
        and not (f.kind == "flag" and asked.values[f.name].lower() not in _TRUE)
    }
    check_of_100(asked.options)


def _switched(asked: Asked, entered: dict[str, str]) -> dict[str, str]:
    """The same noise said another way, where the mechanism knows it: ε = 2 becomes scale 0.5."""
    others = {n for names in WAYS[asked.mechanism].values() for n in names}
    before = {k: v for k, v in entered.items() if k in others}
    if asked.way in before or not before:
        return entered
    kept = {k: v for k, v in entered.items() if k not in others}
    try:
        arguments = m.given(asked.mechanism, {**before, **{k: v for k, v in kept.items() if k == "sensitivity"}})
        built = m.builder(asked.mechanism)(**arguments).parameters
    except EpsilensError:
        return kept
    return kept | {n: f"{built[n]:.6g}" for n in WAYS[asked.mechanism][asked.way] if n in built}


def check_of_100(options: Mapping[str, Any]) -> None:
    """Counts out of 100 are said in that unit when they are wrong."""
    for name, value in options.items():
        if name in FIELDS and FIELDS[name].kind == "of100":
            try:
                fine = 0 <= float(value) <= 1
            except ValueError:
                fine = False
            if not fine:
                raise InputError(f"{name} is not a count out of 100: give a number from 0 to 100", parameter=name)


def _told(options: Mapping[str, Any]) -> dict[str, str]:
    return {k: "on" if v is True else v for k, v in options.items()}


def ask_choose(given: Mapping[str, str]) -> Asked:
    """The Choose view of a query."""
    asked = Asked("/choose")
    try:
        asked.mechanism = m.find(given.get("mechanism") or "laplace")
        parameter = (given.get("parameter") or "").strip()
        choices = choosable(asked.mechanism)
        asked.values["parameter"] = parameter if parameter in choices else choices[0]
        _set_up(asked, {k: v for k, v in given.items() if k != "by"}, chosen=asked.values["parameter"])
        reading = (given.get("reading") or "success").strip()
        asked.values |= {"reading": reading, "at_most": (given.get("at_most") or FIELDS["at_most"].default).strip()}
        takes = READING_TAKES[find(reading).name]
        entered = _entered(given)
        for name in takes:
            asked.values[name] = entered.get(name, FIELDS[name].default or "1")
        own = {k: v for k, v in asked.options.items() if k not in (*READING_FIELDS, "fpr")}
        required = (*find(reading).required, "for_epsilon", "for_delta")
        said = {k: asked.values[k] for k in takes if k in required or asked.values[k] != FIELDS[k].default}
        check_of_100(said)
        asked.options = {"parameter": asked.values["parameter"], "reading": reading, "at_most": asked.values["at_most"]}
        asked.options |= own | said
        told = _told({**own, **said})
        asked.about = choose_strictly(
            asked.mechanism, f"{reading}={asked.values['at_most']}", told, asked.values["parameter"]
        )
    except EpsilensError as error:
        asked.problem = problem_of(error, asked)
    return asked


def choosable(mechanism: str) -> list[str]:
    """The parameters Choose can find: how much noise there is, in each way of saying it."""
    usual = default_parameter(mechanism, {})
    names = [n for way in WAYS[mechanism].values() for n in way if n != "delta" or mechanism == "approximate"]
    return [usual, *(n for n in dict.fromkeys(names) if n != usual)]


def ask_compare(given: Mapping[str, str]) -> tuple[dict[str, str], list[Asked]]:
    """The settings of the Compare view by letter, each with its result or its problem, and what they share."""
    shared = {"prior": "0.5", "fpr": "0.1"}
    entered = _entered({k: v for k, v in given.items() if k.removesuffix("_of_100") in shared})
    shared |= entered
    settings = []
    for letter in "abcd":
        text = (given.get(letter) or "").strip()
        if f"{letter}_mechanism" in given:
            text = (
                f"{given[f'{letter}_mechanism']}:{given.get(f'{letter}_given', '')}"
                if given[f"{letter}_mechanism"]
                else ""
            )
        if text:
            settings.append(_setting(letter, text, shared))
    return shared, settings


def _setting(letter: str, text: str, shared: Mapping[str, str]) -> Asked:
    asked = Asked("/compare", values={"letter": letter, "text": text})
    name, _, rest = text.partition(":")
    asked.values |= {"mechanism": name.strip().replace("_", "-"), "given": rest.strip()}
    try:
        check_texts({"setting": text})
        asked.mechanism = m.find(name)
        asked.values["mechanism"] = asked.mechanism.replace("_", "-")
        asked.options = _pairs(rest)
        usual = {k: v for k, v in shared.items() if v != FIELDS[k].default}
        check_of_100(usual)
        # Every setting's δ is read at the same ε, or the row could not be compared.
        asked.about = explain_strictly(asked.mechanism, {"for_epsilon": "1", **asked.options, **usual})
    except EpsilensError as error:
        found = problem_of(error, asked)
        asked.problem = Problem(letter, found.sentence)
    return asked


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


# -- errors -------------------------------------------------------------------------------------------------------

_NAMES = {"epsilon_for_delta": "for_epsilon"}


def problem_of(error: EpsilensError, asked: Asked | None = None) -> Problem:
    """The library's sentence, the entry it speaks of, and the status code that goes with it."""
    text = " ".join(str(error).replace("--", "").split())
    if isinstance(error, NoSolutionError):
        return Problem("", f"{text[:1].upper()}{text[1:]}.", 200, error.floor)
    said = re.match(r"([a-z_0-9-]+)(?: [a-z_]+)? (?:is|has|contains) ", text)
    name = said[1].replace("-", "_") if said else ""
    name = _NAMES.get(name, name)
    name = name if name in FIELDS or name in ("at_most", "parameter", "reading", "mechanism") else ""
    if text.startswith("there is no mechanism"):
        name = "mechanism"
    if text.startswith(("there is no reading", "the reading")):
        name = "reading"
    missing = re.match(r"(?:the reading '[a-z_]+'|[a-z_-]+) needs '?([a-z_0-9-]+)'?: give a value", text)
    if missing and missing[1].replace("-", "_") in FIELDS:
        name = missing[1].replace("-", "_")
    if asked and name and asked.values and name not in asked.values and name != "mechanism":
        name = ""
    symbol = FIELDS[name].symbol if name in FIELDS else ""
    if said and symbol:
        text = f"{symbol} {text[len(said[1]) + 1 :]}"
    return Problem(name, f"{text}." if said and symbol else f"{text[:1].upper()}{text[1:]}.")
