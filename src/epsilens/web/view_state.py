"""From a URL to a result: the same steps as the commands, with what was entered kept beside the answer.

The pages are lenient (a field the mechanism does not take is left out, because it belonged to the mechanism chosen
before), the API is strict like the command line; both end in the same calls into the library.

The controls: the catalogue's parameters as the page's forms show them.

Names are those of the command line and of the library. Some fields are entered out of 100, as the page speaks,
and travel in the URL as the probability the library takes.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import urlencode

from ..calibration.choose import choose
from ..catalogue.mechanisms import ANY_CLAIM, MechanismEntry, builder, every_option
from ..catalogue.parameters import PARAMETERS, Input, Parameter, Place, symbol
from ..catalogue.parsing import (
    EXPLANATION_OPTIONS,
    builder_arguments,
    choice_arguments,
    explanation_arguments,
    find_mechanism,
    find_subject,
    is_given,
    normalise_options,
    plain_name,
    reading_options,
    split_limit,
    target_parameter,
)
from ..catalogue.readings import READINGS, find_reading
from ..errors import EpsilensError, InputError, NoSolutionError
from ..results import join_words
from ..shares import parse_share
from ..show.explanation import Explanation, chosen, command_line, explain
from .limits import check_texts, limit_builder


@dataclass(frozen=True, slots=True)
class Field:
    """One parameter on the page.

    ``slider`` is (least, largest) on a logarithmic scale if ``log``; ``marks`` are labelled on it. ``kind`` is number,
    of100, list, word (with ``choices``) or flag.
    """

    name: str
    label: str
    hint: str = ""
    default: str = ""
    slider: tuple[float, float] | None = None
    marks: tuple[str, ...] = ()
    log: bool = False
    kind: str = "number"
    choices: tuple[tuple[str, str], ...] = ()

    @property
    def entry(self) -> str:
        """The name of the form's entry: its own where people enter a count out of 100."""
        return f"{self.name}_of_100" if self.kind == "of100" else self.name

    def position(self, value: str) -> float:
        """Where the slider's knob stands for a value, from 0 to 1000."""
        if self.slider is None:
            return 0
        try:
            x = float(value)
        except ValueError:
            return 0
        low, high = self.slider
        if not low <= x <= high:
            return 0 if x < low or math.isnan(x) else 1000
        if self.log:
            return round(1000 * math.log(x / low) / math.log(high / low), 1)
        return round(1000 * (x - low) / (high - low), 1)


_KINDS = {Input.NUMBERS: "list", Input.ONE_OR_MORE: "list", Input.WORD: "word", Input.FLAG: "flag"}


def field_of(parameter: Parameter) -> Field:
    """The field of a parameter that has a place on the page.

    >>> field_of(PARAMETERS["prior"]).entry
    'prior_of_100'
    """
    control = parameter.control
    assert control is not None, parameter.name
    slider = control.slider
    return Field(
        parameter.name,
        control.label or parameter.name.replace("_", " ").capitalize(),
        control.hint,
        control.start,
        (slider.low, slider.high) if slider else None,
        slider.marks if slider else (),
        slider.log if slider else False,
        "of100" if control.of_100 else _KINDS.get(parameter.kind, "number"),
        tuple((parameter.choices or {}).items()),
    )


def has_field(name: str) -> bool:
    """Whether a name is that of a parameter the page shows."""
    return name in PARAMETERS and PARAMETERS[name].control is not None


def to_of_100(value: str) -> str:
    """A probability as a count out of 100, without the noise of binary fractions.

    >>> to_of_100("0.5"), to_of_100("0.005"), to_of_100("x")
    ('50', '0.5', 'x')
    """
    return _scale_decimal(value, 2)


def from_of_100(value: str) -> str:
    """A count out of 100 as a probability; "55%" and "55 of 100" are 55.

    >>> from_of_100("50"), from_of_100("0.5"), from_of_100("55%"), from_of_100("55 of 100")
    ('0.5', '0.005', '0.55', '0.55')
    """
    found = parse_share(value)
    return _scale_decimal(value, -2) if found is None else f"{found:.12g}"


def _scale_decimal(value: str, power: int) -> str:
    try:
        moved = Decimal(value.strip()).scaleb(power).normalize()
    except (InvalidOperation, ValueError):
        return value
    return f"{moved:f}" if moved.is_finite() and abs(moved.adjusted()) < 20 else value


def ways_of(mechanism: MechanismEntry) -> dict[str, tuple[str, ...]]:
    """The ways to say how much noise there is, by the first parameter of each; the first is what the page starts with.

    >>> from epsilens.catalogue.mechanisms import MECHANISMS
    >>> ways_of(MECHANISMS["gaussian"])
    {'sigma': ('sigma',), 'psi': ('psi',), 'epsilon': ('epsilon', 'delta')}
    """
    return {way[0]: way for way in mechanism.ways}


def way_labels(mechanism: MechanismEntry) -> list[tuple[str, str]]:
    """Each way by the symbols of its parameters."""
    return [(way, join_words([symbol(n) for n in names])) for way, names in ways_of(mechanism).items()]


def way_of(mechanism: MechanismEntry, given: Mapping[str, str]) -> str:
    """The way in which the noise is given, or the first there is."""
    ways = ways_of(mechanism)
    if given.get("by") in ways:
        return str(given["by"])
    return next((way for way in ways if given.get(way)), next(iter(ways)))


def mechanism_fields(mechanism: MechanismEntry, way: str) -> tuple[list[Field], list[Field], list[Field]]:
    """The fields of a mechanism: the noise's own, the usual ones, and the rarer ones."""
    ways = ways_of(mechanism)
    every = {name for names in ways.values() for name in names}
    others = [name for name in mechanism.takes if name not in every and has_field(name)]
    noise = [*ways[way], *_names_at(Place.NOISE, others)]
    usual = [*_names_at(Place.USUAL, EXPLANATION_OPTIONS), *_names_at(Place.USUAL, others)]
    rare = [
        n
        for n in _names_at(Place.RARE, (*others, *EXPLANATION_OPTIONS))
        if not (n == "calibration" and way != "epsilon")
    ]
    noise_, usual_, rare_ = ([field_of(PARAMETERS[n]) for n in names] for names in (noise, usual, rare))
    return noise_, usual_, rare_


def _names_at(place: Place, names: list[str] | tuple[str, ...]) -> list[str]:
    return [n for n in names if (control := PARAMETERS[n].control) is not None and control.place is place]


#: What a claim takes beside what mechanisms do.
_CLAIM_OPTIONS = tuple(name for name in ANY_CLAIM.takes if name not in every_option())
_TRUE = ("on", "true", "1", "yes")
_START_LIMIT = "0.55"  # what Choose starts with


@dataclass(frozen=True)
class FieldProblem:
    """What is wrong, and by which entry to say so; an empty ``field`` is the form as a whole."""

    field: str
    sentence: str
    status: int = 422
    floor: float | None = None


@dataclass
class ViewState:
    """What was entered, what came of it, and the URL that says the same."""

    path: str
    mechanism: str = "laplace"
    way: str = "epsilon"
    values: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    about: Explanation | None = None
    problem: FieldProblem | None = None

    def value(self, name: str) -> str:
        return self.values.get(name, "")

    @property
    def query(self) -> str:
        return urlencode({"mechanism": self.mechanism.replace("_", "-"), **option_texts(self.options)})

    @property
    def url(self) -> str:
        return f"{self.path}?{self.query}"


# -- strictly, as on the command line -----------------------------------------------------------------------------


def _options(given: Mapping[str, str], known: Sequence[str]) -> dict[str, Any]:
    for name in given:
        if name not in known:
            raise InputError(f"{name[:40]} is not a parameter here: give some of {', '.join(known)}")
    check_texts(given)
    made: dict[str, Any] = {k: v.strip() for k, v in given.items() if v.strip()}
    return {k: v.lower() in _TRUE if PARAMETERS[k].kind is Input.FLAG else v for k, v in made.items()}


@contextmanager
def _arithmetic_errors() -> Iterator[None]:
    """Whatever the arithmetic cannot hold becomes a sentence; the views must never fail for a number."""
    try:
        yield
    except EpsilensError:
        raise
    except (ArithmeticError, ValueError) as error:
        raise InputError("the values are too extreme to be computed together: give less extreme ones") from error


def _given_options(options: Mapping[str, object]) -> dict[str, object]:
    return {k: v for k, v in options.items() if is_given(v)}


@_arithmetic_errors()
def explain_query(mechanism: str, given: Mapping[str, str]) -> Explanation:
    """What ``epsilens explain`` shows for these options, given as text."""
    options = _options(given, (*every_option(), *_CLAIM_OPTIONS, *EXPLANATION_OPTIONS))
    entry, named = find_subject("" if mechanism == "claim" else mechanism, options)
    told = normalise_options(entry, options, spelled=plain_name)
    arguments = builder_arguments(entry, told, spelled=plain_name)
    readings = explanation_arguments(told, plain_name)
    about = explain(limit_builder(entry.key, builder(entry))(**named, **arguments), **readings)
    name = "" if mechanism == "claim" else entry.key
    return about.with_command(command_line("explain", name, _given_options(options)))


@_arithmetic_errors()
def choose_query(mechanism: str, at_most: str, given: Mapping[str, str], parameter: str | None = None) -> Explanation:
    """What ``epsilens choose`` shows; ``at_most`` is ``reading=value``."""
    entry = find_mechanism(mechanism)
    check_texts({"at_most": at_most, "parameter": parameter or ""})
    reading, limit = split_limit(at_most, "at_most")
    options = _options(given, (*every_option(), *reading_options()))
    told = normalise_options(entry, options, reading=reading, spelled=plain_name)
    wanted = target_parameter(entry, parameter, told)
    if wanted not in entry.takes:
        raise InputError(f"parameter is {wanted[:40]!r}: {mechanism} takes {', '.join(entry.takes)}", "parameter")
    arguments = builder_arguments(entry, told, chosen=wanted, spelled=plain_name)
    if wanted in arguments:
        raise InputError(
            f"{wanted} is given, but it is what is being chosen: leave it out or name another parameter", wanted
        )
    readings = choice_arguments(told, plain_name)
    build = limit_builder(entry.key, builder(entry))
    choice = choose(build, wanted, at_most=limit, reading=reading, given=arguments, **readings)
    said = {"at_most": at_most, **({"parameter": parameter} if parameter else {}), **_given_options(options)}
    return chosen(choice).with_command(command_line("choose", entry.key, said))


# -- leniently, from a form ---------------------------------------------------------------------------------------


def form_entries(given: Mapping[str, str]) -> dict[str, str]:
    """The entries under the library's names: counts out of 100 become probabilities, blanks are left out."""
    made: dict[str, str] = {}
    for name, text in given.items():
        value = text.strip()
        meant = name.removesuffix("_of_100")
        if value and has_field(meant):
            made[meant] = from_of_100(value) if name != meant else value
    check_texts(made)
    return made


def explain_state(given: Mapping[str, str], path: str = "/explain") -> ViewState:
    """The Explain view of a query: never raises, an error stands beside its field."""
    asked = ViewState(path)
    try:
        fill_state(asked, given)
        asked.about = explain_query(asked.mechanism, option_texts(asked.options))
    except EpsilensError as error:
        asked.problem = problem_of(error, asked)
        if not asked.values:
            _keep_entries(asked, given)
    return asked


def _keep_entries(asked: ViewState, given: Mapping[str, str]) -> None:
    """Keep what was entered beside a mechanism that is none: what the page starts with takes its place."""
    with suppress(EpsilensError):
        fill_state(asked, {k: v for k, v in given.items() if k != "mechanism"})
    asked.options = {}


def fill_state(
    asked: ViewState, given: Mapping[str, str], *, chosen: str | None = None, without: Container[str] = ()
) -> None:
    """Mechanism, way and values with their defaults, and the options that differ from these; not those ``without``."""
    entry = find_mechanism(given.get("mechanism") or "laplace")
    asked.mechanism = entry.key
    entered, ways = form_entries(given), ways_of(entry)
    asked.way = chosen if chosen in ways else way_of(entry, given)
    if given.get("by") in ways and chosen is None:
        entered = _convert_noise(entry, asked.way, entered)
    noise, usual, rare = ([f for f in some if f.name not in without] for some in mechanism_fields(entry, asked.way))
    for each in (*noise, *usual, *rare):
        asked.values[each.name] = entered.get(each.name, each.default)
    needed = {f.name for f in noise}
    asked.options = {
        f.name: True if f.kind == "flag" else asked.values[f.name]
        for f in (*noise, *usual, *rare)
        if asked.values[f.name]
        and f.name != chosen
        and (f.name in needed or asked.values[f.name] != f.default)
        and not (f.kind == "flag" and asked.values[f.name].lower() not in _TRUE)
    }
    check_of_100(asked.options)


def _convert_noise(entry: MechanismEntry, way: str, entered: dict[str, str]) -> dict[str, str]:
    """The same noise said another way, where the mechanism knows it: ε = 2 becomes scale 0.5."""
    others = {n for names in entry.ways for n in names}
    before = {k: v for k, v in entered.items() if k in others}
    if way in before or not before:
        return entered
    kept = {k: v for k, v in entered.items() if k not in others}
    try:
        arguments = builder_arguments(entry, {**before, **{k: v for k, v in kept.items() if k == "sensitivity"}})
        built = builder(entry)(**arguments).parameters
    except EpsilensError:
        return kept
    return kept | {n: f"{built[n]:.6g}" for n in ways_of(entry)[way] if n in built}


def check_of_100(options: Mapping[str, Any]) -> None:
    """Counts out of 100 are said in that unit when they are wrong."""
    for name, value in options.items():
        if has_field(name) and field_of(PARAMETERS[name]).kind == "of100":
            try:
                fine = 0 <= float(value) <= 1
            except ValueError:
                fine = False
            if not fine:
                raise InputError(f"{name} is not a count out of 100: give a number from 0 to 100", name)


def option_texts(options: Mapping[str, Any]) -> dict[str, str]:
    return {k: "on" if v is True else v for k, v in options.items()}


def choose_state(given: Mapping[str, str]) -> ViewState:
    asked = ViewState("/choose")
    try:
        entry = find_mechanism(given.get("mechanism") or "laplace")
        asked.mechanism = entry.key
        parameter = (given.get("parameter") or "").strip()
        choices = choice_parameters(entry)
        asked.values["parameter"] = parameter if parameter in choices else choices[0]
        fill_state(asked, given, chosen=asked.values["parameter"])
        reading = (given.get("reading") or "success").strip()
        counted = (given.get("at_most_of_100") or "").strip()
        limit = from_of_100(counted) if counted else (given.get("at_most") or _START_LIMIT).strip()
        asked.values |= {"reading": reading, "at_most": limit}
        found, entered = find_reading(reading), form_entries(given)
        takes = {name: field_of(PARAMETERS[name]) for name in found.options}
        for name, f in takes.items():
            asked.values[name] = entered.get(name, f.default or "1")
        own = {k: v for k, v in asked.options.items() if k not in EXPLANATION_OPTIONS}
        required = (*found.required, *found.either, "for_epsilon", "for_delta")
        said = {k: asked.values[k] for k, f in takes.items() if k in required or asked.values[k] != f.default}
        check_of_100(said)
        asked.options = {"parameter": asked.values["parameter"], "reading": reading, "at_most": asked.values["at_most"]}
        asked.options |= own | said
        told = option_texts({**own, **said})
        asked.about = choose_query(
            asked.mechanism, f"{reading}={asked.values['at_most']}", told, asked.values["parameter"]
        )
    except EpsilensError as error:
        asked.problem = problem_of(error, asked)
    return asked


def of_100_limits(reading: str) -> bool:
    """Whether the limit on a reading is entered out of 100: it is a chance, and not one that is told in powers of ten.

    >>> of_100_limits("success"), of_100_limits("delta"), of_100_limits("kl")
    (True, False, False)
    """
    return reading in READINGS and READINGS[reading].ceiling == 1 and reading != "delta"


def choice_parameters(mechanism: MechanismEntry) -> list[str]:
    """The parameters Choose can find: how much noise there is, in each way of saying it."""
    usual = mechanism.default_parameter(())
    beside = [n for way in mechanism.ways for n in way if n == way[0] or n in mechanism.instead.values()]
    return [usual, *(n for n in dict.fromkeys(beside) if n != usual)]


_OTHER_FIELDS = ("at_most", "parameter", "reading", "mechanism", "claimed", "deployment")


def problem_of(error: EpsilensError, asked: ViewState | None = None) -> FieldProblem:
    """The library's sentence, the entry it speaks of, and the status code that goes with it."""
    text = " ".join(str(error).split())
    if isinstance(error, NoSolutionError):
        return FieldProblem("", f"{text[:1].upper()}{text[1:]}.", 200, error.floor)
    about = error.parameter if isinstance(error, InputError) else ""
    name = "for_epsilon" if about == "epsilon_for_delta" else about
    if name not in PARAMETERS and name not in _OTHER_FIELDS:
        name = ""
    if asked and asked.values and name not in asked.values and name != "mechanism":
        name = ""
    return FieldProblem(name, with_symbol(text, about, PARAMETERS[name].symbol if name in PARAMETERS else ""))


def with_symbol(text: str, parameter: str, symbol: str) -> str:
    """The sentence with the symbol where it starts with the parameter's name, or with a capital letter.

    >>> with_symbol("epsilon is -1: give a number above 0", "epsilon", "ε")
    'ε is -1: give a number above 0.'
    """
    if symbol and text.startswith(f"{parameter} "):
        return f"{symbol}{text.removeprefix(parameter)}."
    return f"{text[:1].upper()}{text[1:]}."
