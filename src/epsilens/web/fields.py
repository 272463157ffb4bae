"""The controls: the catalogue's parameters as the page's forms show them.

Names are those of the command line and of the library. Some fields are entered out of 100, as the page speaks,
and travel in the URL as the probability the library takes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from ..catalogue.mechanisms import Mechanism
from ..catalogue.parameter import Kind, Parameter, Place
from ..catalogue.parameters import PARAMETERS
from ..catalogue.said import EXPLAINED
from ..shares import share_of


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


_KINDS = {Kind.NUMBERS: "list", Kind.ONE_OR_MORE: "list", Kind.WORD: "word", Kind.FLAG: "flag"}


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
    return _times(value, 2)


def from_of_100(value: str) -> str:
    """A count out of 100 as a probability; "55%" and "55 of 100" are 55.

    >>> from_of_100("50"), from_of_100("0.5"), from_of_100("55%"), from_of_100("55 of 100")
    ('0.5', '0.005', '0.55', '0.55')
    """
    found = share_of(value)
    return _times(value, -2) if found is None else f"{found:.12g}"


def _times(value: str, power: int) -> str:
    try:
        moved = Decimal(value.strip()).scaleb(power).normalize()
    except (InvalidOperation, ValueError):
        return value
    return f"{moved:f}" if moved.is_finite() and abs(moved.adjusted()) < 20 else value


def ways_of(mechanism: Mechanism) -> dict[str, tuple[str, ...]]:
    """The ways to say how much noise there is, by the first parameter of each; the first is what the page starts with.

    >>> from epsilens.catalogue.mechanisms import MECHANISMS
    >>> ways_of(MECHANISMS["gaussian"])
    {'sigma': ('sigma',), 'psi': ('psi',), 'epsilon': ('epsilon', 'delta')}
    """
    return {way[0]: way for way in mechanism.ways}


def way_of(mechanism: Mechanism, given: Mapping[str, str]) -> str:
    """The way in which the noise is given, or the first there is."""
    ways = ways_of(mechanism)
    if given.get("by") in ways:
        return str(given["by"])
    return next((way for way in ways if given.get(way)), next(iter(ways)))


def shown_fields(mechanism: Mechanism, way: str) -> tuple[list[Field], list[Field], list[Field]]:
    """The fields of a mechanism: the noise's own, the usual ones, and the rarer ones."""
    ways = ways_of(mechanism)
    every = {name for names in ways.values() for name in names}
    others = [name for name in mechanism.takes if name not in every and has_field(name)]
    noise = [*ways[way], *_at(Place.NOISE, others)]
    usual = [*_at(Place.USUAL, EXPLAINED), *_at(Place.USUAL, others)]
    rare = [n for n in _at(Place.RARE, (*others, *EXPLAINED)) if not (n == "calibration" and way != "epsilon")]
    noise_, usual_, rare_ = ([field_of(PARAMETERS[n]) for n in names] for names in (noise, usual, rare))
    return noise_, usual_, rare_


def _at(place: Place, names: list[str] | tuple[str, ...]) -> list[str]:
    return [n for n in names if (control := PARAMETERS[n].control) is not None and control.place is place]
