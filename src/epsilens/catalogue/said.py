"""From text to arguments: what people type or enter, as the library takes it, or a sentence about what is wrong.

The command line spells a parameter as a flag, the API and the page by its name: ``spelled`` says which. An error
carries the parameter whatever the spelling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from ..errors import InputError, meant
from ..shares import SHARES, share_of, unclear
from .deployments import deployment, deployments
from .mechanisms import CLAIMED, CLAIMS, MECHANISMS, Entry, Family, Mechanism, every_option
from .parameter import Kind, Panel, Parameter, flag
from .parameters import CONDITIONS, PARAMETERS
from .readings import READINGS, parameter_of
from .readings import find as find_reading

#: How a parameter is spelled in a sentence.
Spelling: TypeAlias = Callable[[str], str]

#: The options of an explanation: one value of each of the adversary's and the readings' parameters it shows.
EXPLAINED = ("prior", "fpr", "beta", "baseline", "for_epsilon", "for_delta", "level")
_IN_EXPLAIN = {"for_epsilon": "epsilon_for_delta", "for_delta": "delta"}


def plain(name: str) -> str:
    """A parameter spelled by its name."""
    return name


def shortened(text: str) -> str:
    """A text as it was given, cut where it is long."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


# -- numbers ------------------------------------------------------------------------------------------------------


def number(label: str, text: str, parameter: str = "") -> float:
    """A number given as text.

    A share (a probability, by the name of its ``parameter``) may be written as a percentage or as a count.

    >>> number("--epsilon", "abc", "epsilon")
    Traceback (most recent call last):
    epsilens.errors.InputError: --epsilon is 'abc': give a number
    >>> number("--prior", "55%", "prior"), number("--prior", "55 of 100", "prior")
    (0.55, 0.55)
    """
    if is_share(parameter):
        return share(label, text, parameter)
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{label} is {shortened(text)}: give a number", parameter=parameter, value=text) from None


def is_share(name: str) -> bool:
    """Whether a parameter or a reading is a share, which may be written as 55% or 55 of 100.

    >>> is_share("prior"), is_share("success"), is_share("epsilon")
    (True, True, False)
    """
    if name in SHARES or (name in PARAMETERS and PARAMETERS[name].kind is Kind.PROBABILITY):
        return True
    return name in READINGS and READINGS[name].ceiling == 1


def share(label: str, text: str, parameter: str = "") -> float:
    """A share given as text: 0.55, 55% or 55 of 100; a bare 55 is refused.

    >>> share("--at-most success", "55", "at_most")
    Traceback (most recent call last):
    epsilens.errors.InputError: --at-most success is '55', which is no share: write 55%, 55 of 100 or 0.55
    """
    found = share_of(text)
    if found is not None:
        return found
    try:
        value = float(text)
    except ValueError:
        raise InputError(
            f"{label} is {shortened(text)}: give a share, such as 0.55, 55% or 55 of 100",
            parameter=parameter,
            value=text,
        ) from None
    if instead := unclear(value):
        raise InputError(
            f"{label} is {shortened(text)}, which is no share: write {instead}", parameter=parameter, value=text
        )
    return value


def numbers(label: str, text: str, parameter: str = "") -> list[float]:
    """Numbers separated by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f"{label} is {shortened(text)}: give numbers separated by commas, such as 1,2,3",
            parameter=parameter,
            value=text,
        ) from None


def whole(label: str, text: str, parameter: str = "") -> int:
    """A whole number."""
    found = number(label, text, parameter)
    if found != found or found in (float("inf"), float("-inf")) or found != int(found):
        raise InputError(f"{label} is {text!r}: give a whole number", parameter=parameter, value=text)
    return int(found)


def value(parameter: Parameter, given: Any, spelled: Spelling = flag) -> Any:
    """What was given for a parameter, as the library takes it; whole numbers are checked by what takes them."""
    if isinstance(given, bool) or parameter.kind in (Kind.WORD, Kind.TEXT, Kind.FLAG):
        return given
    label = spelled(parameter.name)
    if parameter.kind is Kind.NUMBERS or (parameter.kind is Kind.ONE_OR_MORE and "," in given):
        return numbers(label, given, parameter.name)
    return number(label, given, parameter.name)


def numbers_said(said: Mapping[str, Any], *names: str) -> dict[str, float]:
    """Those of some numbers that were given on the command line.

    >>> numbers_said({"epsilon": "1", "delta": None}, "epsilon", "delta")
    {'epsilon': 1.0}
    """
    return {k: number(flag(k), said[k], k) for k in names if said[k] is not None}


def is_said(given: Any) -> bool:
    """Whether an option was given at all."""
    return given is not None and given is not False and not (isinstance(given, list | tuple) and not given)


def split_limit(text: str, label: str = "--at-most", parameter: str = "at_most") -> tuple[str, float]:
    """A reading and its limit.

    >>> split_limit("success=0.55"), split_limit("success=55%")
    (('success', 0.55), ('success', 0.55))
    """
    reading, equals, limit = (part.strip() for part in text.partition("="))
    if not (equals and reading and limit):
        raise InputError(
            f"{label} is {text[:40]!r}: give a reading and its limit, such as success=0.55", parameter=parameter
        )
    name, told = reading.replace("-", "_"), f"{label} {reading}"
    try:
        return name, share(told, limit, parameter) if is_share(name) else number(told, limit, parameter)
    except InputError:
        if name not in READINGS and meant(name, READINGS):
            find_reading(name)  # the word is nearly a reading: that is what is wrong
        raise


# -- mechanisms ---------------------------------------------------------------------------------------------------


def find(name: str) -> Mechanism:
    """The mechanism of that name, or a sentence listing those there are.

    >>> find("Discrete-Gaussian").key
    'discrete_gaussian'
    """
    wanted = _key(name)
    if wanted in MECHANISMS:
        return MECHANISMS[wanted]
    why = ", which is a claim that only the command explain takes" if wanted in CLAIMS else ""
    raise _no_mechanism(name, MECHANISMS, why)


def find_explained(name: str | None, given: Mapping[str, Any]) -> tuple[Entry, dict[str, Any]]:
    """What to explain: a mechanism, or a claim by what is ``given``, by its kind or by the name of a deployment.

    Beside the entry come the arguments that the name itself says.

    >>> find_explained("laplace", {})[0].key, find_explained(None, {"epsilon": "8", "delta": "1e-6"})[0].key
    ('laplace', 'claim')
    >>> find_explained("zcdp", {})[0].needs, find_explained("apple emojis", {})[1]
    (('rho',), {'deployment': 'apple-emojis'})
    """
    if not name:
        if not any(given.get(claimed) is not None for claimed in ("epsilon", "rho", "mu")):
            raise InputError(
                "nothing is named to be explained: give a mechanism such as laplace, or a claim such as "
                "--epsilon 8 --delta 1e-6",
                parameter="mechanism",
            )
        return CLAIMED, {}
    key, training = _key(name), MECHANISMS["dpsgd"].takes
    shape = tuple(taken for taken in CLAIMED.takes if taken in training)
    if key in CLAIMS or (key in MECHANISMS and MECHANISMS[key].family is Family.CLAIM):
        entry = find_entry(name)
        takes = tuple(dict.fromkeys((*entry.takes, *(shape if key != "pure" else ()))))  # a training has a δ
        return replace(CLAIMED, key=entry.key, takes=takes, needs=entry.needs), {}
    if key not in MECHANISMS and (known := deployment(name)) is not None:
        return replace(CLAIMED, key=known.name, takes=shape), {"deployment": known.name}
    published = [each.name for each in deployments()]
    if key not in MECHANISMS and (close := meant(name, published)) and not meant(name, [*MECHANISMS, *CLAIMS]):
        raise InputError(
            f"there is no published deployment {name[:40]!r}{close}: give words of one in the registry, or a mechanism",
            parameter="mechanism",
            value=name,
        )
    return find_entry(name), {}


def find_entry(name: str) -> Entry:
    """The mechanism or the claim of that name."""
    known: dict[str, Entry] = {**MECHANISMS, **CLAIMS}
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


def _no_mechanism(name: str, known: Mapping[str, Entry], why: str = "") -> InputError:
    listed = [entry.spoken for entry in known.values()]
    own = _COMMANDS.get(_key(name))
    if own is not None:
        return InputError(
            f"{name[:40]!r} is an attack rather than a mechanism: the command {own} is for it, {_TO_TYPE[own]!r} say",
            parameter="mechanism",
            value=name,
        )
    close = why or meant(name.replace("_", "-"), listed)
    return InputError(
        f"there is no mechanism {name[:40]!r}{close}: give one of {', '.join(listed)}",
        parameter="mechanism",
        value=name,
    )


def arguments_given(
    entry: Entry, options: Mapping[str, Any], *, chosen: str | None = None, spelled: Spelling = flag
) -> dict[str, Any]:
    """The arguments of a mechanism or claim among the options, as its builder takes them; ``chosen`` may be left out.

    >>> arguments_given(find("laplace"), {"epsilon": "1", "prior": "0.2"})
    {'epsilon': 1.0}
    """
    every = {*every_option(), *(name for claim in CLAIMS.values() for name in claim.takes)}
    said = {k: v for k, v in options.items() if k in every and is_said(v)}
    for option in said:
        if option not in entry.takes:
            takes = ", ".join(map(spelled, entry.takes))
            raise InputError(
                f"{entry.spoken} takes no {spelled(option)}: {_instead(entry, option, spelled)}it takes {takes}",
                parameter=option,
            )
    missing = entry.missing([*said, *([chosen] if chosen else [])])
    if missing is not None:
        raise InputError(
            f"{entry.spoken} needs {spelled(missing)}: {_together(entry, said, missing, chosen, spelled)}",
            parameter=missing,
        )
    return {k: value(PARAMETERS[k], v, spelled) for k, v in said.items()}


def _instead(entry: Entry, option: str, spelled: Spelling) -> str:
    """How to say what somebody means who gives this option to this mechanism; nothing where none is known."""
    if option == "epsilon" and entry.key == "rdp":
        return f"in (α, ε)-RDP α is {spelled('orders')} and ε is {spelled('rho')}; "
    if option == "epsilon" and entry.key == "dpsgd":
        return "leave dpsgd out to judge an ε that is claimed, or let choose find the noise that keeps it; "
    return ""


def _together(entry: Entry, said: Mapping[str, Any], missing: str, chosen: str | None, spelled: Spelling) -> str:
    """What to give: the value that is missing, or one of several ways where nothing says yet which is meant."""
    ways = [
        [spelled(name) for name in group if name not in said and name != chosen]
        for group in entry.either
        if all(name in group for name in said if any(name in each for each in entry.either))
    ]
    if missing in entry.needs or len(ways) < 2:
        return "give a value for it"
    return f"give {', or '.join(dict.fromkeys(' and '.join(way) for way in ways[:3]))}"


def wanted_parameter(mechanism: Mechanism, parameter: str | None, options: Mapping[str, Any]) -> str:
    """What is to be chosen: the parameter named, or the mechanism's own choice."""
    if parameter:
        return parameter.strip().replace("-", "_")
    return mechanism.default_parameter([k for k, v in options.items() if v is not None])


# -- readings -----------------------------------------------------------------------------------------------------


def reading_options() -> tuple[str, ...]:
    """The options by which the arguments of all readings are said."""
    taken = {parameter_of(name).name for r in READINGS.values() for name in (*r.required, *r.either, *r.optional)}
    return tuple(name for name in PARAMETERS if name in taken)


def _readings_given(options: Mapping[str, Any], spelled: Spelling) -> dict[str, float]:
    known = reading_options()
    return {
        k: number(spelled(k), v, k)
        for k, v in options.items()
        if k in known and v is not None and PARAMETERS[k].panel in (Panel.ADVERSARY, Panel.READING)
    }


def readings_for_explain(options: Mapping[str, Any], spelled: Spelling = flag) -> dict[str, float]:
    """The readings' options under the names :func:`epsilens.show.explanation.explain` takes."""
    return {_IN_EXPLAIN.get(k, k): v for k, v in _readings_given(options, spelled).items()}


def readings_for_choose(options: Mapping[str, Any], spelled: Spelling = flag) -> dict[str, float]:
    """The readings' options under the names the readings themselves take."""
    return {PARAMETERS[k].argument or k: v for k, v in _readings_given(options, spelled).items()}


def conditions_given(said: Mapping[str, Any], spelled: Spelling = flag) -> dict[str, Any]:
    """The conditions from text; records are independent unless it is said how many depend on each other.

    >>> conditions_given({"records": "4", "full": True})
    {'dependent': 1, 'records': 4.0, 'full': True}
    """
    given = {name: said.get(name) for name in CONDITIONS}
    made = {
        name: number(spelled(name), str(value), name) if CONDITIONS[name].kind is Kind.NUMBER else value
        for name, value in given.items()
        if value is not None and value is not False and value != ""
    }
    return {"dependent": 1, **made}
