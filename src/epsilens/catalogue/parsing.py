"""From text to arguments: what people type or enter, as the library takes it, or a sentence about what is wrong.

The command line spells a parameter as a flag, the API and the page by its name: ``spelled`` says which. An error
carries the parameter whatever the spelling.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from ..errors import InputError, suggestion
from ..shares import SHARES, parse_share, share_suggestion
from .deployments import deployment, deployments
from .mechanisms import ANY_CLAIM, CLAIMS, MECHANISMS, CatalogueEntry, MechanismEntry, Purpose, every_option
from .parameters import CONDITIONS, PARAMETERS, Input, Panel, Parameter, option_flag
from .readings import READINGS, find_reading, reading_parameter

#: How a parameter is spelled in a sentence.
Spelling: TypeAlias = Callable[[str], str]

#: The options of an explanation: one value of each of the adversary's and the readings' parameters it shows.
EXPLANATION_OPTIONS = ("prior", "fpr", "beta", "baseline", "for_epsilon", "for_delta", "level")
_IN_EXPLAIN = {"for_epsilon": "epsilon_for_delta", "for_delta": "delta"}


def plain_name(name: str) -> str:
    """A parameter spelled by its name."""
    return name


def shorten(text: str) -> str:
    """A text as it was given, cut where it is long."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


def parse_number(label: str, text: str, parameter: str = "") -> float:
    """A number given as text.

    A share (a probability, by the name of its ``parameter``) may be written as a percentage or as a count.

    >>> parse_number("--epsilon", "abc", "epsilon")
    Traceback (most recent call last):
    epsilens.errors.InputError: --epsilon is 'abc': give a number
    >>> parse_number("--prior", "55%", "prior"), parse_number("--prior", "55 of 100", "prior")
    (0.55, 0.55)
    """
    if is_share(parameter):
        return parse_share_option(label, text, parameter)
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{label} is {shorten(text)}: give a number", parameter, value=text) from None


def is_share(name: str) -> bool:
    """Whether a parameter or a reading is a share, which may be written as 55% or 55 of 100.

    >>> is_share("prior"), is_share("success"), is_share("epsilon")
    (True, True, False)
    """
    if name in SHARES or (name in PARAMETERS and PARAMETERS[name].kind is Input.PROBABILITY):
        return True
    return name in READINGS and READINGS[name].ceiling == 1


def parse_share_option(label: str, text: str, parameter: str = "") -> float:
    """A share given as text: 0.55, 55% or 55 of 100; a bare 55 is refused.

    >>> parse_share_option("--at-most success", "55", "at_most")
    Traceback (most recent call last):
    epsilens.errors.InputError: --at-most success is '55', which is no share: write 55%, 55 of 100 or 0.55
    """
    result = parse_share(text)
    if result is not None:
        return result
    try:
        value = float(text)
    except ValueError:
        raise InputError(
            f"{label} is {shorten(text)}: give a share, such as 0.55, 55% or 55 of 100", parameter, value=text
        ) from None
    if instead := share_suggestion(value):
        raise InputError(f"{label} is {shorten(text)}, which is no share: write {instead}", parameter, value=text)
    return value


def parse_numbers(label: str, text: str, parameter: str = "") -> list[float]:
    """Numbers separated by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f"{label} is {shorten(text)}: give numbers separated by commas, such as 1,2,3", parameter, value=text
        ) from None


def parse_integer(label: str, text: str, parameter: str = "") -> int:
    """A whole number."""
    result = parse_number(label, text, parameter)
    if result != result or result in (float("inf"), float("-inf")) or result != int(result):
        raise InputError(f"{label} is {text!r}: give a whole number", parameter, value=text)
    return int(result)


def parse_value(parameter: Parameter, given: Any, spelled: Spelling = option_flag) -> Any:
    """What was given for a parameter, as the library takes it; whole numbers are checked by what takes them."""
    if isinstance(given, bool) or parameter.kind in (Input.WORD, Input.TEXT, Input.FLAG):
        return given
    label = spelled(parameter.name)
    if parameter.kind is Input.NUMBERS or (parameter.kind is Input.ONE_OR_MORE and "," in given):
        return parse_numbers(label, given, parameter.name)
    return parse_number(label, given, parameter.name)


def given_numbers(said: Mapping[str, Any], *names: str) -> dict[str, float]:
    """Those of some numbers that were given on the command line.

    >>> given_numbers({"epsilon": "1", "delta": None}, "epsilon", "delta")
    {'epsilon': 1.0}
    """
    return {k: parse_number(option_flag(k), said[k], k) for k in names if said[k] is not None}


def is_given(given: object) -> bool:
    """Whether an option was given at all."""
    return given is not None and given is not False and not (isinstance(given, list | tuple) and not given)


def split_limit(text: str, label: str = "--at-most", parameter: str = "at_most") -> tuple[str, float]:
    """A reading and its limit.

    >>> split_limit("success=0.55"), split_limit("success=55%")
    (('success', 0.55), ('success', 0.55))
    """
    reading, equals, limit = (part.strip() for part in text.partition("="))
    if not (equals and reading and limit):
        raise InputError(f"{label} is {text[:40]!r}: give a reading and its limit, such as success=0.55", parameter)
    name, spelling = reading.replace("-", "_"), f"{label} {reading}"
    try:
        return name, parse_share_option(spelling, limit, parameter) if is_share(name) else parse_number(
            spelling, limit, parameter
        )
    except InputError:
        if name not in READINGS and suggestion(name, READINGS):
            find_reading(name)  # the word is nearly a reading: that is what is wrong
        raise


def find_mechanism(name: str) -> MechanismEntry:
    """The mechanism of that name, or a sentence listing those there are.

    >>> find_mechanism("Discrete-Gaussian").key
    'discrete_gaussian'
    """
    wanted = _key(name)
    if wanted in MECHANISMS:
        return MECHANISMS[wanted]
    why = ", which is a claim that only the command explain takes" if wanted in CLAIMS else ""
    raise _no_mechanism(name, MECHANISMS, why)


def find_subject(name: str | None, given: Mapping[str, object]) -> tuple[CatalogueEntry, dict[str, Any]]:
    """What to explain: a mechanism, or a claim by what is ``given``, by its kind or by the name of a deployment.

    Beside the entry come the arguments that the name itself says.

    >>> find_subject("laplace", {})[0].key, find_subject(None, {"epsilon": "8", "delta": "1e-6"})[0].key
    ('laplace', 'claim')
    >>> find_subject("zcdp", {})[0].needs, find_subject("apple emojis", {})[1]
    (('rho',), {'deployment': 'apple-emojis'})
    """
    if not name:
        if not any(given.get(claimed) is not None for claimed in ("epsilon", "rho", "mu")):
            raise InputError(
                "nothing is named to be explained: give a mechanism such as laplace, or a claim such as "
                "--epsilon 8 --delta 1e-6",
                "mechanism",
            )
        return ANY_CLAIM, {}
    key, training = _key(name), MECHANISMS["dpsgd"].takes
    shape = tuple(taken for taken in ANY_CLAIM.takes if taken in training)
    if key in CLAIMS or (key in MECHANISMS and MECHANISMS[key].family is Purpose.CLAIM):
        entry = find_entry(name)
        takes = tuple(dict.fromkeys((*entry.takes, *(shape if key != "pure" else ()))))  # a training has a δ
        return replace(ANY_CLAIM, key=entry.key, takes=takes, needs=entry.needs), {}
    if key not in MECHANISMS and (known := deployment(name)) is not None:
        return replace(ANY_CLAIM, key=known.name, takes=shape), {"deployment": known.name}
    published = [each.name for each in deployments()]
    if (
        key not in MECHANISMS
        and (close := suggestion(name, published))
        and not suggestion(name, [*MECHANISMS, *CLAIMS])
    ):
        raise InputError(
            f"there is no published deployment {name[:40]!r}{close}: give words of one in the registry, or a mechanism",
            "mechanism",
            value=name,
        )
    return find_entry(name), {}


def find_entry(name: str) -> CatalogueEntry:
    """The mechanism or the claim of that name."""
    known: dict[str, CatalogueEntry] = {**MECHANISMS, **CLAIMS}
    if _key(name) not in known:
        raise _no_mechanism(name, known)
    return known[_key(name)]


def _key(name: str) -> str:
    return name.strip().lower().replace("-", "_")


#: What is not a mechanism but has a command of its own, by the words people look for it with.
_COMMANDS = {
    "differencing": "difference", "difference": "difference", "differencing_average": "difference",
    "differencing_median": "difference", "tampering": "tamper", "tamper": "tamper", "correlated": "correlate",
    "correlation": "correlate", "correlate": "correlate", "identify": "identify", "identification": "identify",
}  # fmt: skip
_TO_TYPE = {
    "difference": "epsilens difference --known --at-most success=0.55",
    "tamper": "epsilens tamper --epsilon 1 --bias 3",
    "correlate": "epsilens correlate TABLE --columns A,B",
    "identify": "epsilens identify --n 120 --range 0,60 --at-most posterior=0.1",
}


def _no_mechanism(name: str, known: Mapping[str, CatalogueEntry], why: str = "") -> InputError:
    listed = [entry.spoken for entry in known.values()]
    own = _COMMANDS.get(_key(name))
    if own is not None:
        return InputError(
            f"{name[:40]!r} is an attack rather than a mechanism: the command {own} is for it, {_TO_TYPE[own]!r} say",
            "mechanism",
            value=name,
        )
    close = why or suggestion(name.replace("_", "-"), listed)
    return InputError(
        f"there is no mechanism {name[:40]!r}{close}: give one of {', '.join(listed)}", "mechanism", value=name
    )


def builder_arguments(
    entry: CatalogueEntry, options: Mapping[str, object], *, chosen: str | None = None, spelled: Spelling = option_flag
) -> dict[str, Any]:
    """The arguments of a mechanism or claim among the options, as its builder takes them; ``chosen`` may be left out.

    >>> builder_arguments(find_mechanism("laplace"), {"epsilon": "1", "prior": "0.2"})
    {'epsilon': 1.0}
    """
    every = {*every_option(), *(name for claim in CLAIMS.values() for name in claim.takes)}
    said = {k: v for k, v in options.items() if k in every and is_given(v)}
    for option in said:
        if option not in entry.takes:
            takes = ", ".join(map(spelled, entry.takes))
            raise InputError(
                f"{entry.spoken} takes no {spelled(option)}: {_hint(entry, option, spelled)}it takes {takes}", option
            )
    missing = entry.missing([*said, *([chosen] if chosen else [])])
    if missing is not None:
        raise InputError(
            f"{entry.spoken} needs {spelled(missing)}: {_what_to_give(entry, said, missing, chosen, spelled)}", missing
        )
    return {k: parse_value(PARAMETERS[k], v, spelled) for k, v in said.items()}


def _hint(entry: CatalogueEntry, option: str, spelled: Spelling) -> str:
    """How to say what somebody means who gives this option to this mechanism; nothing where none is known."""
    if option == "epsilon" and entry.key == "rdp":
        return f"in (α, ε)-RDP α is {spelled('orders')} and ε is {spelled('rho')}; "
    if option == "epsilon" and entry.key == "dpsgd":
        return "leave dpsgd out to judge an ε that is claimed, or let choose find the noise that keeps it; "
    return ""


def _what_to_give(
    entry: CatalogueEntry, said: Mapping[str, object], missing: str, chosen: str | None, spelled: Spelling
) -> str:
    """What to give: the value that is missing, or one of several ways where nothing says yet which is meant."""
    ways = [
        [spelled(name) for name in group if name not in said and name != chosen]
        for group in entry.either
        if all(name in group for name in said if any(name in each for each in entry.either))
    ]
    if missing in entry.needs or len(ways) < 2:
        return "give a value for it"
    return f"give {', or '.join(dict.fromkeys(' and '.join(way) for way in ways[:3]))}"


def target_parameter(mechanism: MechanismEntry, parameter: str | None, options: Mapping[str, object]) -> str:
    """What is to be chosen: the parameter named, or the mechanism's own choice."""
    if parameter:
        return parameter.strip().replace("-", "_")
    return mechanism.default_parameter([k for k, v in options.items() if v is not None])


def reading_options() -> tuple[str, ...]:
    """The options by which the arguments of all readings are said."""
    taken = {reading_parameter(name).name for r in READINGS.values() for name in (*r.required, *r.either, *r.optional)}
    return tuple(name for name in PARAMETERS if name in taken)


def _reading_numbers(options: Mapping[str, Any], spelled: Spelling) -> dict[str, float]:
    known = reading_options()
    return {
        k: parse_number(spelled(k), v, k)
        for k, v in options.items()
        if k in known and v is not None and PARAMETERS[k].panel in (Panel.ADVERSARY, Panel.READING)
    }


def explanation_arguments(options: Mapping[str, object], spelled: Spelling = option_flag) -> dict[str, float]:
    """The readings' options under the names :func:`epsilens.show.explanation.explain` takes."""
    return {_IN_EXPLAIN.get(k, k): v for k, v in _reading_numbers(options, spelled).items()}


def choice_arguments(options: Mapping[str, object], spelled: Spelling = option_flag) -> dict[str, float]:
    """The readings' options under the names the readings themselves take."""
    return {PARAMETERS[k].argument or k: v for k, v in _reading_numbers(options, spelled).items()}


def condition_arguments(said: Mapping[str, object], spelled: Spelling = option_flag) -> dict[str, Any]:
    """The conditions from text; records are independent unless it is said how many depend on each other.

    >>> condition_arguments({"records": "4", "full": True})
    {'dependent': 1, 'records': 4.0, 'full': True}
    """
    given = {name: said.get(name) for name in CONDITIONS}
    result = {
        name: parse_number(spelled(name), str(value), name) if CONDITIONS[name].kind is Input.NUMBER else value
        for name, value in given.items()
        if value is not None and value is not False and value != ""
    }
    return {"dependent": 1, **result}


_LENGTHS = ("steps", "epochs")


def normalise_options(
    entry: CatalogueEntry, options: Mapping[str, object], *, reading: str = "", spelled: Spelling = option_flag
) -> dict[str, Any]:
    """The options as the catalogue names them; ``reading`` is what a limit is on.

    Where the noise is said by its size, a δ can only be one at which ε is read. Lists are a schedule of one training.

    >>> from .mechanisms import MECHANISMS
    >>> normalise_options(MECHANISMS["dpsgd"], {"sigma": "1,0.8", "rate": "0.01", "steps": "500,500", "delta": "1e-5"})
    {'rate': '0.01', 'for_delta': '1e-5', 'schedule': 'sigma=1,0.8 steps=500,500'}
    """
    result = dict(options)
    if (
        is_given(result.get("delta"))
        and not is_given(result.get("for_delta"))
        and _delta_is_of_reading(entry, result, reading)
    ):
        result["for_delta"] = result.pop("delta")
    return _as_schedule(result, spelled) if "schedule" in entry.takes else result


def _delta_is_of_reading(entry: CatalogueEntry, options: Mapping[str, object], reading: str) -> bool:
    """Whether a δ belongs to the reading of ε rather than to the noise."""
    if "epsilon" not in entry.takes or reading == "epsilon":
        return True
    sizes = [name for name in ("sigma", "psi") if name in entry.takes]
    return not is_given(options.get("epsilon")) and any(is_given(options.get(name)) for name in sizes)


def _as_schedule(options: dict[str, Any], spelled: Spelling) -> dict[str, object]:
    numbers = (Input.NUMBER, Input.WHOLE, Input.PROBABILITY)
    lists = {
        name: "".join(str(value).split())
        for name, value in options.items()
        if name in PARAMETERS and PARAMETERS[name].kind in numbers and isinstance(value, str) and "," in value
    }
    if not lists:
        return options
    if is_given(options.get("schedule")):
        raise InputError(
            f"{spelled('schedule')} is given beside a list of {next(iter(lists))}: give all of it in one of them",
            "schedule",
        )
    for name in _LENGTHS:
        if is_given(options.get(name)) and name not in lists:
            first, count = next((name, text.count(",") + 1) for name, text in lists.items())
            raise InputError(
                f"{spelled(name)} is {options[name]} beside {count} numbers of {spelled(first)}: give as many, one for "
                f"each part of the training, such as {spelled(name)} {','.join(['5'] * count)}",
                name,
            )
    kept = {name: value for name, value in options.items() if name not in lists}
    return {**kept, "schedule": " ".join(f"{name}={text}" for name, text in lists.items())}


#: Values of one series.
MOST_VALUES = 10_000
_SERIES = "give a list, epsilon=0.1,1,10, or the ends and how many, epsilon=0.1:10:50, with :log for equal ratios"


def parse_setting(text: str) -> tuple[CatalogueEntry, dict[str, Any]]:
    """A mechanism or claim and its arguments, from one word.

    A piece without an equals sign goes on with the list before it, or is a flag.

    >>> entry, arguments = parse_setting("dpsgd:n=60000,batch=256,epochs=15,sigma=1.1")
    >>> entry.key, arguments
    ('dpsgd', {'n': 60000.0, 'batch': 256.0, 'epochs': 15.0, 'sigma': 1.1})
    >>> parse_setting("exponential:epsilon=1,scores0=1,2,scores1=1,3,monotonic")[1]
    {'epsilon': 1.0, 'scores0': [1.0, 2.0], 'scores1': [1.0, 3.0], 'monotonic': True}
    >>> parse_setting("laplace:epsilom=1")
    Traceback (most recent call last):
    epsilens.errors.InputError: the setting 'laplace:epsilom=1' has no 'epsilom' (did you mean epsilon?): ...
    """
    name, _, rest = text.partition(":")
    if "=" in name:
        raise InputError(
            f"the setting is {shorten(text)}: begin with a mechanism, such as laplace:epsilon=1", "setting"
        )
    given = _pieces(text, rest)
    entry, named = find_subject(name, given)
    for option in given:
        if option not in entry.takes:
            close = suggestion(option, entry.takes)
            raise InputError(
                f"the setting {shorten(text)} has no {option[:40]!r}{close}: {entry.spoken} takes "
                f"{', '.join(entry.takes)}",
                "setting",
            )
    if "schedule" in entry.takes:
        given = normalise_options(entry, given, spelled=plain_name)
    return entry, {**named, **builder_arguments(entry, given, spelled=plain_name)}


def _pieces(text: str, rest: str) -> dict[str, Any]:
    aliases = {alias: p.name for p in PARAMETERS.values() for alias in p.aliases}
    given: dict[str, Any] = {}
    last = ""
    for piece in filter(None, (part.strip() for part in rest.split(","))):
        name, equals, value = piece.partition("=")
        key = name.strip().lower().replace("-", "_")
        key = aliases.get(key, key)
        if equals:
            if key in given:
                raise InputError(f"the setting {shorten(text)} has {key} twice: give it once", "setting")
            given[key], last = value.strip(), key
            if key in PARAMETERS and PARAMETERS[key].kind is Input.FLAG:
                given[key] = value.strip().lower() in ("on", "true", "yes", "1")
        elif key in PARAMETERS and PARAMETERS[key].kind is Input.FLAG:
            given[key] = True
        elif last and isinstance(given[last], str):
            given[last] += f",{piece}"
        else:
            raise InputError(
                f"the setting is {shorten(text)}: give parameters such as epsilon=1, sensitivity=2", "setting"
            )
    return given


def parse_series(text: str, label: str = "--sweep", parameter: str = "sweep") -> tuple[str, list[float]]:
    """A name and its values: a list, or the ends and how many, in equal steps or equal ratios.

    >>> parse_series("epsilon=1:2:5"), parse_series("sigma=0.1:10:3:log")
    (('epsilon', [1.0, 1.25, 1.5, 1.75, 2.0]), ('sigma', [0.1, 1.0, 10.0]))
    >>> parse_series("epsilon=0.5,1"), parse_series("prior=10%,1 of 2")
    (('epsilon', [0.5, 1.0]), ('prior', [0.1, 0.5]))
    >>> parse_series("epsilon=1:2:1")
    Traceback (most recent call last):
    epsilens.errors.InputError: --sweep is 'epsilon=1:2:1': give 2 to 10,000 values
    """

    def no(why: str) -> InputError:
        return InputError(f"{label} is {shorten(text)}: {why}", parameter, value=text)

    name, equals, said = text.partition("=")
    name = name.strip().lower().removeprefix("--").replace("-", "_")
    if not (equals and name and said.strip()):
        raise no(_SERIES)
    if ":" not in said:
        listed = [_series_value(name, label, part.strip(), parameter) for part in said.split(",")]
        if len(listed) > MOST_VALUES:
            raise no(f"give 1 to {MOST_VALUES:,} values")
        return name, listed
    parts = [part.strip() for part in said.split(":")]
    log = parts[-1].lower() in ("log", "geom")
    parts = parts[:-1] if log or parts[-1].lower() in ("linear", "lin") else parts
    if len(parts) != 3:
        raise no(_SERIES)
    low, high = (_series_value(name, label, part, parameter) for part in parts[:2])
    many = parse_number(f"{label} {option_flag(name)}", parts[2], parameter)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise no("give two finite ends")
    if many != many or many != math.floor(many) or not 2 <= many <= MOST_VALUES:
        raise no(f"give 2 to {MOST_VALUES:,} values")
    if log and not (low > 0 and high > 0):
        raise no("give two ends above 0 for equal ratios")
    last = int(many) - 1
    result = [_interpolate(low, high, i / last, log) for i in range(last + 1)]
    return name, [low, *result[1:-1], high]


def _series_value(name: str, label: str, text: str, parameter: str) -> float:
    """One value of a series; of a share it may be written as a percentage."""
    said = f"{label} {option_flag(name)}"
    return parse_share_option(said, text, parameter) if is_share(name) else parse_number(said, text, parameter)


def _interpolate(low: float, high: float, part: float, log: bool) -> float:
    if not log:
        return low * (1 - part) + high * part
    value = math.exp(math.log(low) * (1 - part) + math.log(high) * part)
    return float(f"{value:.15g}")  # the digits a logarithm loses are not shown as if they were meant
