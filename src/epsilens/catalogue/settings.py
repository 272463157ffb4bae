"""Settings and series in one word: ``laplace:epsilon=1,sensitivity=2`` and ``epsilon=0.1:10:50:log``."""

from __future__ import annotations

import math
from typing import Any

from ..errors import InputError, meant
from .mechanisms import Entry
from .parameter import Kind, flag
from .parameters import PARAMETERS
from .said import arguments_given, find_explained, is_share, number, plain, share, shortened
from .units import in_units

#: Values of one series.
MOST_VALUES = 10_000
_SERIES = "give a list, epsilon=0.1,1,10, or the ends and how many, epsilon=0.1:10:50, with :log for equal ratios"


def setting_said(text: str) -> tuple[Entry, dict[str, Any]]:
    """A mechanism or claim and its arguments, from one word.

    A piece without an equals sign goes on with the list before it, or is a flag.

    >>> entry, arguments = setting_said("dpsgd:n=60000,batch=256,epochs=15,sigma=1.1")
    >>> entry.key, arguments
    ('dpsgd', {'n': 60000.0, 'batch': 256.0, 'epochs': 15.0, 'sigma': 1.1})
    >>> setting_said("exponential:epsilon=1,scores0=1,2,scores1=1,3,monotonic")[1]
    {'epsilon': 1.0, 'scores0': [1.0, 2.0], 'scores1': [1.0, 3.0], 'monotonic': True}
    >>> setting_said("laplace:epsilom=1")
    Traceback (most recent call last):
    epsilens.errors.InputError: the setting 'laplace:epsilom=1' has no 'epsilom' (did you mean epsilon?): ...
    """
    name, _, rest = text.partition(":")
    if "=" in name:
        raise InputError(
            f"the setting is {shortened(text)}: begin with a mechanism, such as laplace:epsilon=1", parameter="setting"
        )
    given = _pieces(text, rest)
    entry, named = find_explained(name, given)
    for option in given:
        if option not in entry.takes:
            close = meant(option, entry.takes)
            raise InputError(
                f"the setting {shortened(text)} has no {option[:40]!r}{close}: {entry.spoken} takes "
                f"{', '.join(entry.takes)}",
                parameter="setting",
            )
    if "schedule" in entry.takes:
        given = in_units(entry, given, spelled=plain)
    return entry, {**named, **arguments_given(entry, given, spelled=plain)}


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
                raise InputError(f"the setting {shortened(text)} has {key} twice: give it once", parameter="setting")
            given[key], last = value.strip(), key
            if key in PARAMETERS and PARAMETERS[key].kind is Kind.FLAG:
                given[key] = value.strip().lower() in ("on", "true", "yes", "1")
        elif key in PARAMETERS and PARAMETERS[key].kind is Kind.FLAG:
            given[key] = True
        elif last and isinstance(given[last], str):
            given[last] += f",{piece}"
        else:
            raise InputError(
                f"the setting is {shortened(text)}: give parameters such as epsilon=1, sensitivity=2",
                parameter="setting",
            )
    return given


def values_said(text: str, label: str = "--sweep", parameter: str = "sweep") -> tuple[str, list[float]]:
    """A name and its values: a list, or the ends and how many, in equal steps or equal ratios.

    >>> values_said("epsilon=1:2:5"), values_said("sigma=0.1:10:3:log")
    (('epsilon', [1.0, 1.25, 1.5, 1.75, 2.0]), ('sigma', [0.1, 1.0, 10.0]))
    >>> values_said("epsilon=0.5,1"), values_said("prior=10%,1 of 2")
    (('epsilon', [0.5, 1.0]), ('prior', [0.1, 0.5]))
    >>> values_said("epsilon=1:2:1")
    Traceback (most recent call last):
    epsilens.errors.InputError: --sweep is 'epsilon=1:2:1': give 2 to 10,000 values
    """

    def no(why: str) -> InputError:
        return InputError(f"{label} is {shortened(text)}: {why}", parameter=parameter, value=text)

    name, equals, said = text.partition("=")
    name = name.strip().lower().removeprefix("--").replace("-", "_")
    if not (equals and name and said.strip()):
        raise no(_SERIES)
    if ":" not in said:
        listed = [_of(name, label, part.strip(), parameter) for part in said.split(",")]
        if len(listed) > MOST_VALUES:
            raise no(f"give 1 to {MOST_VALUES:,} values")
        return name, listed
    parts = [part.strip() for part in said.split(":")]
    log = parts[-1].lower() in ("log", "geom")
    parts = parts[:-1] if log or parts[-1].lower() in ("linear", "lin") else parts
    if len(parts) != 3:
        raise no(_SERIES)
    low, high = (_of(name, label, part, parameter) for part in parts[:2])
    many = number(f"{label} {flag(name)}", parts[2], parameter)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise no("give two finite ends")
    if many != many or many != math.floor(many) or not 2 <= many <= MOST_VALUES:
        raise no(f"give 2 to {MOST_VALUES:,} values")
    if log and not (low > 0 and high > 0):
        raise no("give two ends above 0 for equal ratios")
    last = int(many) - 1
    made = [_between(low, high, i / last, log) for i in range(last + 1)]
    return name, [low, *made[1:-1], high]


def _of(name: str, label: str, text: str, parameter: str) -> float:
    """One value of a series; of a share it may be written as a percentage."""
    said = f"{label} {flag(name)}"
    return share(said, text, parameter) if is_share(name) else number(said, text, parameter)


def _between(low: float, high: float, part: float, log: bool) -> float:
    if not log:
        return low * (1 - part) + high * part
    value = math.exp(math.log(low) * (1 - part) + math.log(high) * part)
    return float(f"{value:.15g}")  # the digits a logarithm loses are not shown as if they were meant
