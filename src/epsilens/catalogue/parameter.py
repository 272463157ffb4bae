"""What a parameter is: its kind, what it may be, how it is explained, and where it is searched and entered.

The entries are in :mod:`epsilens.catalogue.parameters`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any


class Kind(StrEnum):
    """What is given."""

    NUMBER = "number"
    WHOLE = "whole number"
    PROBABILITY = "probability"
    NUMBERS = "numbers"
    ONE_OR_MORE = "number or numbers"
    WORD = "word"
    FLAG = "flag"
    TEXT = "text"


class Panel(StrEnum):
    """Under which heading the command's help lists an option."""

    DATA = "Data"
    NOISE = "Noise"
    ADVERSARY = "Adversary"
    READING = "Reading"
    OUTPUT = "Output"


class Risk(Enum):
    """Which way risk goes as the parameter grows."""

    RISES = "rises"
    FALLS = "falls"


class Place(Enum):
    """Where the page shows a field: with the noise, among the usual settings, or behind "Rarer settings"."""

    NOISE = "noise"
    USUAL = "usual"
    RARE = "rare"


@dataclass(frozen=True, slots=True)
class Allowed:
    """The numbers allowed, from ``low`` to ``high``; ``above`` leaves out ``low`` itself."""

    low: float = -math.inf
    high: float = math.inf
    above: bool = False


@dataclass(frozen=True, slots=True)
class Search:
    """Where ``choose`` looks: the least and the most risky value.

    ``in_sensitivities``: the ends are multiples of the sensitivity. ``as_noise``: whole where the noise is whole, which
    only the mechanism knows.
    """

    weak: float
    strong: float
    in_sensitivities: bool = False
    as_noise: bool = False


@dataclass(frozen=True, slots=True)
class Slider:
    """The page's slider: its ends, the marks under it, and whether it is logarithmic."""

    low: float
    high: float
    marks: tuple[str, ...] = ()
    log: bool = False


@dataclass(frozen=True, slots=True)
class Control:
    """The page's field: its label, the hint below, what it starts with.

    ``of_100``: people enter a count out of 100, and the probability travels.
    """

    label: str = ""
    hint: str = ""
    start: str = ""
    slider: Slider | None = None
    place: Place = Place.USUAL
    of_100: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter.

    ``help`` is a sentence without its full stop, where ``{epsilon}`` stands for another parameter; ``title`` names the
    value in a report, ``shown`` is the default as help words it. ``usual`` is the value that need not be said,
    ``follows`` computes it from the experiment's other parameters. ``choices`` are a word's values, each with the
    page's words for it. ``argument`` is the name by which a reading takes it, where that would clash with the
    mechanism's. A parameter without a ``control`` is not on the page.
    """

    name: str
    help: str
    kind: Kind = Kind.NUMBER
    panel: Panel = Panel.NOISE
    symbol: str = ""
    title: str = ""
    shown: str = ""
    usual: float | str | None = None
    follows: Callable[[Mapping[str, Any]], Any] | None = None
    allowed: Allowed | None = None
    choices: Mapping[str, str] | None = None
    risk: Risk | None = None
    search: Search | None = None
    choosable: bool = True
    aliases: tuple[str, ...] = ()
    argument: str = ""
    metavar: str = ""
    control: Control | None = Control()

    @property
    def whole(self) -> bool:
        """Whether it is a whole number."""
        return self.kind is Kind.WHOLE

    def explained(self, spelled: Callable[[str], str] = str) -> str:
        """The help, other parameters spelled as they are given.

        >>> Parameter("scale", "Scale of the noise, instead of {epsilon}").explained(flag)
        'Scale of the noise, instead of --epsilon'
        """
        return re.sub(r"\{(\w+)\}", lambda found: spelled(found[1]), self.help)


def flag(name: str) -> str:
    """A parameter as the command line spells it.

    >>> flag("for_epsilon")
    '--for-epsilon'
    """
    return f"--{name.replace('_', '-')}"
