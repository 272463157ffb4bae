"""The controls: what each parameter is called, where its slider runs, and which ones a mechanism shows.

A field is declared once; the forms and the words of its errors come from here. Names are those of the command line and
of the library. Some fields are entered out of 100 people, as the page speaks, and travel in the
URL as the probability the library takes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from ..cli.mechanisms import TAKES
from ..show.sentences import TITLES

__all__ = [
    "FIELDS",
    "MECHANISMS",
    "RARE",
    "READING_FIELDS",
    "WAYS",
    "Field",
    "from_of_100",
    "shown_fields",
    "to_of_100",
]


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
    symbol: str = ""

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


def to_of_100(value: str) -> str:
    """A probability as a count out of 100, without the noise of binary fractions.

    >>> to_of_100("0.5"), to_of_100("0.005"), to_of_100("x")
    ('50', '0.5', 'x')
    """
    return _times(value, 2)


def from_of_100(value: str) -> str:
    """A count out of 100 as a probability.

    >>> from_of_100("50"), from_of_100("0.5")
    ('0.5', '0.005')
    """
    return _times(value, -2)


def _times(value: str, power: int) -> str:
    try:
        moved = Decimal(value.strip()).scaleb(power).normalize()
    except (InvalidOperation, ValueError):
        return value
    return f"{moved:f}" if moved.is_finite() and abs(moved.adjusted()) < 20 else value


_NEIGHBOURS = (("add-remove", "is in the data or not"), ("replace", "has one value or another"))

FIELDS: dict[str, Field] = {
    f.name: f
    for f in (
        Field("epsilon", "Privacy loss, ε", "Smaller is more private and less accurate.", "1", (0.01, 10),
              ("0.01", "0.1", "1", "10"), log=True, symbol="ε"),
        Field("sigma", "Standard deviation, σ", "Larger is more private and less accurate.", "1", (0.1, 100),
              ("0.1", "1", "10", "100"), log=True, symbol="σ"),
        Field("psi", "Sensitivity index, ψ", "Sensitivity over standard deviation: smaller is more private.", "1",
              (0.01, 10), ("0.01", "0.1", "1", "10"), log=True, symbol="ψ"),
        Field("scale", "Scale of the noise", "Larger is more private and less accurate.", "1", (0.1, 100),
              ("0.1", "1", "10", "100"), log=True, symbol="scale"),
        Field("delta", "Set aside, δ", "The chance with which the guarantee may fail.", "0.00001", (1e-9, 0.1),
              ("1e-9", "1e-5", "0.1"), log=True, symbol="δ"),
        Field("truth", "True answers", "How often people answer truthfully, from 0 to 1.", "0.75", (0.5, 0.99),
              ("0.5", "0.99"), symbol="truth"),
        Field("k", "Possible answers", "Between how many answers a person can choose.", "2"),
        Field("rate", "Share of the data in a step", "The chance that a person is in a batch, from 0 to 1.", "0.01",
              (1e-4, 1), ("0.0001", "0.01", "1"), log=True, symbol="rate"),
        Field("steps", "Steps", "How many noisy steps the training takes.", "1000", (1, 1e6),
              ("1", "1000", "1e6"), log=True, symbol="steps"),
        Field("width", "Width of the brackets", "Relative: smaller is more accurate and slower.", "0.001"),
        Field("scores0", "Scores without the person", "One number for each outcome, separated by commas.", "1,2,3",
              kind="list"),
        Field("scores1", "Scores with the person", "The same outcomes, in the same order.", "1,2,4", kind="list"),
        Field("monotonic", "A person can only raise scores", kind="flag"),
        Field("sensitivity", "Sensitivity", "The most one person can move the answer.", "1"),
        Field("shift", "This person’s effect", "How far this person moves the answer; the sensitivity if empty."),
        Field("stretch", "Stretch", "Scale of the noise with the person over that without.", "1"),
        Field("gamma", "Break of the stairs, γ", "From 0 to 1; the most accurate one if empty.", symbol="γ"),
        Field("calibration", "Calibration", kind="word", default="analytic",
              choices=(("analytic", "analytic, the smallest σ"), ("classical", "classical, for ε below 1"))),
        Field("neighbours", "The adversary asks if a person", kind="word", default="add-remove", choices=_NEIGHBOURS),
        Field("norm", "Norm of the sensitivity", kind="word", choices=(("L1", "L1"), ("L2", "L2"))),
        Field("prior", "People in the data, of 100", "What the adversary believes before the release.", "0.5", (0, 100),
              ("0", "50", "100"), kind="of100"),
        Field("fpr", "False alarms, of 100", "Where the hollow dot stands on the curves.", "0.1", (0, 100),
              ("0", "50", "100"), kind="of100"),
        Field("beta", "Weight of recall, β", "In the F-score: above 1 recall counts more.", "1", symbol="β"),
        Field("baseline", "Other attacks, of 100", "How often one succeeds without the release.", "0.01", kind="of100"),
        Field("for_epsilon", "Read δ at ε", "Half the guarantee if empty.", symbol="ε"),
        Field("for_delta", "Read ε at δ", "Used where no ε holds without a δ.", "0.00001", symbol="δ"),
        Field("alpha", "False alarms, of 100", "The false alarms the adversary accepts.", "0.1", (0, 100),
              ("0", "50", "100"), kind="of100"),
        Field("recall", "Found, of 100", "How many of those in the data the adversary finds.", "", kind="of100"),
        Field("order", "Order", "Order of the Rényi divergence, above 0.", "2"),
        Field("at_most", "At most", "", "0.55"),
    )
}  # fmt: skip

#: Mechanism → its name as people write it.
MECHANISMS: dict[str, str] = {name: TITLES[name] for name in TAKES}

#: The ways to say how much noise there is; the first is what the page starts with.
WAYS: dict[str, dict[str, tuple[str, ...]]] = {
    "laplace": {"epsilon": ("epsilon",), "scale": ("scale",)},
    "gaussian": {"sigma": ("sigma",), "psi": ("psi",), "epsilon": ("epsilon", "delta")},
    "geometric": {"epsilon": ("epsilon",), "scale": ("scale",)},
    "discrete_gaussian": {"sigma": ("sigma",)},
    "randomized_response": {"epsilon": ("epsilon",), "truth": ("truth",)},
    "exponential": {"epsilon": ("epsilon",)},
    "staircase": {"epsilon": ("epsilon",)},
    "pure": {"epsilon": ("epsilon",)},
    "approximate": {"epsilon": ("epsilon", "delta")},
    "dpsgd": {"sigma": ("sigma",)},
}
WAY_WORDS = {"epsilon": "ε", "scale": "scale", "sigma": "σ", "psi": "ψ", "truth": "true answers"}

#: The readings' own fields on the Explain view.
READING_FIELDS = ("prior", "fpr", "beta", "baseline", "for_epsilon", "for_delta")
#: Shown with the noise, because the mechanism means nothing without them.
_FIRST = ("k", "rate", "steps", "scores0", "scores1")
#: Behind "Rarer settings".
RARE = (
    *("shift", "stretch", "gamma", "calibration", "neighbours", "width"),
    *("beta", "baseline", "for_epsilon", "for_delta"),
)


def way_of(mechanism: str, given: Mapping[str, str]) -> str:
    """The way in which the noise is given, or the first there is."""
    ways = WAYS[mechanism]
    if given.get("by") in ways:
        return str(given["by"])
    return next((way for way in ways if given.get(way)), next(iter(ways)))


def shown_fields(mechanism: str, way: str) -> tuple[list[Field], list[Field], list[Field]]:
    """The fields of a mechanism: the noise's own, the usual ones, and the rarer ones."""
    every = {name for names in WAYS[mechanism].values() for name in names}
    others = [name for name in TAKES[mechanism] if name not in every and name != "norm"]
    noise = [*WAYS[mechanism][way], *(n for n in others if n in _FIRST)]
    usual = ["prior", "fpr", *(n for n in others if n not in RARE and n not in _FIRST)]
    rare = [n for n in (*others, *READING_FIELDS) if n in RARE and not (n == "calibration" and way != "epsilon")]
    return [FIELDS[n] for n in noise], [FIELDS[n] for n in usual], [FIELDS[n] for n in rare]
