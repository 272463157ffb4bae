"""Each parameter once, by name.

The command's options, the page's fields, the API's schema, the tables in docs/ and what ``choose`` may vary all look
here. Nothing is computed with: numbers are checked by the builders and readings that take them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any


class Input(StrEnum):
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


class Trend(Enum):
    """Which way risk goes as the parameter grows."""

    RISES = "rises"
    FALLS = "falls"


class Place(Enum):
    """Where the page shows a field: with the noise, among the usual settings, or behind "Rarer settings"."""

    NOISE = "noise"
    USUAL = "usual"
    RARE = "rare"


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers allowed, from ``low`` to ``high``; ``above`` leaves out ``low`` itself."""

    low: float = -math.inf
    high: float = math.inf
    above: bool = False


@dataclass(frozen=True, slots=True)
class Domain:
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
    kind: Input = Input.NUMBER
    panel: Panel = Panel.NOISE
    symbol: str = ""
    title: str = ""
    shown: str = ""
    usual: float | str | None = None
    follows: Callable[[Mapping[str, Any]], Any] | None = None
    allowed: Range | None = None
    choices: Mapping[str, str] | None = None
    risk: Trend | None = None
    search: Domain | None = None
    choosable: bool = True
    aliases: tuple[str, ...] = ()
    argument: str = ""
    metavar: str = ""
    control: Control | None = Control()

    @property
    def whole(self) -> bool:
        """Whether it is a whole number."""
        return self.kind is Input.WHOLE

    def explained(self, spelled: Callable[[str], str] = str) -> str:
        """The help, other parameters spelled as they are given.

        >>> Parameter("scale", "Scale of the noise, instead of {epsilon}").explained(option_flag)
        'Scale of the noise, instead of --epsilon'
        """
        return re.sub(r"\{(\w+)\}", lambda found: spelled(found[1]), self.help)


def option_flag(name: str) -> str:
    """A parameter as the command line spells it.

    >>> option_flag("for_epsilon")
    '--for-epsilon'
    """
    return f"--{name.replace('_', '-')}"


def symbol(name: str) -> str:
    """A parameter as sentences name it: its symbol, or its name."""
    return (PARAMETERS[name].symbol if name in PARAMETERS else "") or name


POSITIVE, SHARE, FROM_0 = Range(0, above=True), Range(0, 1), Range(0)
_LOSS = Slider(0.01, 10, ("0.01", "0.1", "1", "10"), log=True)
_SIZE = Slider(0.1, 100, ("0.1", "1", "10", "100"), log=True)
_OF_100 = Slider(0, 100, ("0", "50", "100"))


def _most_accurate_break(p: Mapping[str, Any]) -> float:
    """The break of the staircase with the least mean absolute error, γ = 1/(1 + e^(ε/2)) (Geng & Viswanath 2014)."""
    return 1 / (1 + math.exp(p["epsilon"] / 2))


# Records, one fact beside the other.
# fmt: off
_NOISE = (
    Parameter(
        "epsilon", "Privacy loss",
        title="Privacy loss ε", symbol="ε", allowed=POSITIVE, risk=Trend.RISES, search=Domain(1e-12, 700.0),
        control=Control("Privacy loss, ε", "Smaller is more private and less accurate.", "1", _LOSS, Place.NOISE),
    ),
    Parameter(
        "scale", "Scale of the noise, instead of {epsilon}", symbol="scale", allowed=POSITIVE, risk=Trend.FALLS,
        search=Domain(1e12, 1 / 700.0, in_sensitivities=True),
        control=Control("Scale of the noise", "Larger is more private and less accurate.", "1", _SIZE, Place.NOISE),
    ),
    Parameter(
        "sigma", "Standard deviation of the noise",
        title="Standard deviation σ", symbol="σ", allowed=POSITIVE, risk=Trend.FALLS,
        search=Domain(1e12, 1 / 100.0, in_sensitivities=True),
        control=Control("Standard deviation, σ", "Larger is more private and less accurate.", "1", _SIZE, Place.NOISE),
    ),
    Parameter(
        "variance", "Variance of Skellam noise",
        title="Variance", symbol="variance", allowed=POSITIVE, risk=Trend.FALLS, search=Domain(4e8, 1e-6),
        control=Control("Variance", "Larger is more private and less accurate.", "100", _SIZE, Place.NOISE),
    ),
    Parameter(
        "psi", "Sensitivity index: sensitivity over standard deviation",
        title="Sensitivity index ψ", symbol="ψ", allowed=POSITIVE, risk=Trend.RISES,
        search=Domain(1e-12, 100.0),
        control=Control(
            "Sensitivity index, ψ", "Sensitivity over standard deviation: smaller is more private.", "1", _LOSS,
            Place.NOISE
        ),
    ),
    Parameter(
        "delta", "The δ that goes with {epsilon}", Input.PROBABILITY,
        title="δ", symbol="δ", allowed=SHARE, risk=Trend.RISES,
        search=Domain(1e-300, 1 - 1e-9),
        control=Control(
            "Allowance, δ", "How far hits may exceed e^ε times the false alarms.", "0.00001",
            Slider(1e-9, 0.1, ("1e-9", "0.00001", "0.1"), log=True), Place.NOISE
        ),
    ),
    Parameter(
        "sensitivity", "The most one person moves the answer", shown="1", usual=1.0,
        allowed=Range(1e-100, 1e100),
        control=Control("Sensitivity", "The most one person can move the answer.", "1"),
    ),
    Parameter(
        "shift", "How far this person moves it", shown="the sensitivity", follows=lambda p: p["sensitivity"],
        allowed=FROM_0, risk=Trend.RISES, search=Domain(1e-12, 1.0, in_sensitivities=True, as_noise=True),
        control=Control(
            "This person’s effect", "How far this person moves the answer; the sensitivity if empty.", place=Place.RARE
        ),
    ),
    Parameter(
        "stretch", "Scale of the noise under H1 over that under H0", shown="1", usual=1.0,
        allowed=Range(1e-100, 1e100),
        control=Control("Stretch", "Scale of the noise with the person over that without.", "1", place=Place.RARE),
    ),
    Parameter(
        "neighbours", "add-remove or replace", Input.WORD, usual="add-remove",
        choices={"add-remove": "is in the data or not", "replace": "has one value or another"},
        control=Control("The adversary asks if a person", start="add-remove", place=Place.RARE),
    ),
    Parameter("norm", "Norm of the sensitivity: L1 or L2", Input.WORD, choices={"L1": "L1", "L2": "L2"}, control=None),
    Parameter(
        "calibration", "analytic or classical", Input.WORD, usual="analytic",
        choices={"analytic": "analytic, the smallest σ", "classical": "classical, for ε below 1"},
        control=Control("Calibration", start="analytic", place=Place.RARE),
    ),
    Parameter(
        "k", "Possible answers of randomised response; outcomes that top-k picks", Input.WHOLE,
        title="Answers or outcomes", shown="2", usual=2, allowed=Range(1),
        control=Control(
            "Answers or outcomes", "How many answers there are, or outcomes are picked.", "2", place=Place.NOISE
        ),
    ),
    Parameter(
        "truth", "Probability of a true answer, instead of {epsilon}", Input.PROBABILITY,
        title="Truthful answers", symbol="truth", allowed=SHARE,
        risk=Trend.RISES,
        control=Control(
            "True answers", "How often people answer truthfully, from 0 to 1.", "0.75",
            Slider(0.5, 0.99, ("0.5", "0.99")), Place.NOISE
        ),
    ),
    Parameter(
        "gamma", "Where the staircase breaks", Input.PROBABILITY, title="γ", symbol="γ", follows=_most_accurate_break,
        allowed=SHARE,
        control=Control("Break of the stairs, γ", "From 0 to 1; the most accurate one if empty.", place=Place.RARE),
    ),
    Parameter(
        "std", "DP-SGD: standard deviation of the noise on a sum of gradients clipped to {clip}, instead of {sigma}",
        title="Noise on a sum", symbol="std", allowed=POSITIVE, risk=Trend.FALLS, search=Domain(1e12, 1e-2),
        control=None,
    ),
    Parameter(
        "clip", "DP-SGD: the norm gradients are clipped to, with {std}; {sigma} is in these norms and needs none",
        title="Clipping norm", symbol="clip", allowed=POSITIVE, choosable=False, control=None,
    ),
    Parameter(
        "rate", "DP-SGD: the chance that a person is in a batch", Input.PROBABILITY,
        title="Sampling rate", symbol="rate", allowed=SHARE,
        risk=Trend.RISES, search=Domain(1e-12, 1.0),
        control=Control(
            "Share of the data in a step", "The chance that a person is in a batch, from 0 to 1.", "0.01",
            Slider(1e-4, 1, ("0.0001", "0.01", "1"), log=True), Place.NOISE
        ),
    ),
    Parameter(
        "steps", "DP-SGD: how many steps there are", Input.WHOLE, symbol="steps", allowed=Range(1), risk=Trend.RISES,
        search=Domain(1.0, 1e9),
        control=Control(
            "Steps", "How many noisy steps the training takes.", "1000",
            Slider(1, 1e6, ("1", "1,000", "1,000,000"), log=True), Place.NOISE
        ),
    ),
    Parameter(
        "batch", "DP-SGD: how many of {n} people a batch has, instead of {rate}", Input.WHOLE,
        title="Batch size", allowed=Range(1), risk=Trend.RISES, search=Domain(1.0, 1e9),
        control=Control("People in a batch", "Expected or exact, as the batches are drawn.", "100", place=Place.NOISE),
    ),
    Parameter(
        "epochs", "DP-SGD: passes over the data, instead of {steps}",
        title="Epochs", symbol="epochs", allowed=POSITIVE, risk=Trend.RISES, search=Domain(1e-6, 1e6),
        control=Control("Epochs", "How often the training goes through the data.", "10", place=Place.NOISE),
    ),
    Parameter(
        "batches", "DP-SGD: how batches are drawn: poisson, fixed, with replacement, truncated or shuffled", Input.WORD,
        usual="poisson", shown="poisson",
        choices={
            "poisson": "each record by its own coin", "fixed": "so many records, anew each step",
            "with replacement": "so many draws, each of anybody",
            "truncated": "by coins, cut to a largest size", "shuffled": "one after the other from shuffled data",
        },
        control=Control("Batches", "How a batch is drawn.", start="poisson"),
    ),
    Parameter(
        "people", "DP-SGD: people of a group who enter together, or examples of one person", Input.WHOLE,
        title="People together", shown="1", usual=1, allowed=Range(1),
        control=Control("People together", "A group who enter together, or the examples of one person.", "1"),
    ),
    Parameter(
        "truncation", "DP-SGD: the largest size of a truncated batch", Input.WHOLE, allowed=Range(1),
        control=Control("Largest batch", "Of batches that are cut.", place=Place.RARE),
    ),
    Parameter(
        "schedule", "DP-SGD: what changes during the training: 'sigma=1,0.8 steps=500,500'", Input.TEXT,
        choosable=False, control=None,
    ),
    Parameter(
        "width", "DP-SGD: relative width asked of a value's bracket",
        title="Width of brackets", shown="0.001", usual=1e-3, allowed=POSITIVE,
        choosable=False,  # of the number read, not of the release
        control=Control(
            "Width of the brackets", "Relative: smaller is more accurate and slower.", "0.001", place=Place.RARE
        ),
    ),
    Parameter(
        "rho", "Claims zcdp and rdp: the ρ claimed, for rdp one for each order", Input.ONE_OR_MORE,
        title="ρ", symbol="ρ",
        metavar="NUMBER", control=None,
    ),
    Parameter("xi", "Claim zcdp: the ξ of (ξ, ρ)-zCDP", title="ξ", symbol="ξ", shown="0", control=None),
    Parameter("orders", "Claim rdp: its order or orders: 2,8", Input.NUMBERS, aliases=("order",), control=None),
    Parameter("mu", "Claim gdp: the μ claimed", title="μ", symbol="μ", control=None),
    Parameter(
        "scores0", "Scores of the outcomes without the person: 1,2,3", Input.NUMBERS, shown="any scores",
        control=Control(
            "Scores without the person", "One number for each outcome, separated by commas; any scores if empty.",
        ),
    ),
    Parameter(
        "scores1", "Scores of the same outcomes with the person", Input.NUMBERS,
        control=Control("Scores with the person", "The same outcomes, in the same order."),
    ),
    Parameter(
        "shifts", "Mixture: how far a person may move the answer: 0,1,2", Input.NUMBERS,
        control=Control(
            "Shifts", "How far a person may move the answer, separated by commas.", "0,1,2", place=Place.NOISE
        ),
    ),
    Parameter(
        "weights", "Mixture: how likely each shift is: 0.81,0.18,0.01", Input.NUMBERS,
        control=Control("Weights", "How likely each shift is; together 1.", "0.81,0.18,0.01", place=Place.NOISE),
    ),
    Parameter(
        "monotonic", "A person can only raise scores", Input.FLAG,
        control=Control("A person can only raise scores"),
    ),
    Parameter(
        "noise", "Noise on the scores: laplace, exponential or gumbel", Input.WORD, usual="laplace", shown="laplace",
        choices={"laplace": "Laplace", "exponential": "exponential", "gumbel": "Gumbel"},
        control=Control("Noise on the scores", start="laplace"),
    ),
    Parameter(
        "by", "Top-k: by exponential, noisy-max or permute-and-flip", Input.WORD, usual="exponential",
        shown="exponential",
        choices={
            "exponential": "the exponential mechanism", "noisy-max": "noisy max", "permute-and-flip": "permute-and-flip"
        },
        control=Control("Each is picked by", start="exponential"),
    ),
    Parameter(
        "threshold_scale", "Sparse vector: scale of the noise on the threshold, instead of {epsilon}",
        symbol="threshold_scale", allowed=POSITIVE,
        control=Control("Noise on the threshold", "Its scale.", "2", place=Place.NOISE),
    ),
    Parameter(
        "query_scale", "Sparse vector: scale of the noise on each query", symbol="query_scale", allowed=POSITIVE,
        control=Control("Noise on each query", "Its scale.", "4", place=Place.NOISE),
    ),
    Parameter(
        "above", "Sparse vector: how many queries above the threshold end it", Input.WHOLE,
        shown="1", usual=1, allowed=Range(1),
        control=Control("Answers above the threshold", "After so many it ends.", "1"),
    ),
    Parameter(
        "bands", "Banded DP-FTRL: over how many steps the noise is correlated", Input.WHOLE, allowed=Range(1),
        control=Control(
            "Bands", "Over how many steps the noise is correlated, and how many groups take turns.", "10",
            place=Place.NOISE
        ),
    ),
    Parameter(
        "leaves", "Tree: how many steps there are", Input.WHOLE, allowed=Range(1),
        control=Control("Steps", "The leaves of the tree.", "16", place=Place.NOISE),
    ),
    Parameter(
        "participations", "Tree: how many steps one person takes part in", Input.WHOLE,
        shown="1", usual=1, allowed=Range(1),
        control=Control("Steps of one person", "How many steps one person takes part in at most.", "1"),
    ),
    Parameter(
        "separation", "Tree: how far apart these are at least", Input.WHOLE, shown="1", usual=1, allowed=Range(1),
        control=Control("Steps between them", "How far apart one person's steps are at least.", "1"),
    ),
    Parameter(
        "n", "How many people there are", Input.WHOLE, title="People", symbol="n", allowed=Range(1),
        control=Control("People", "How many people there are.", "1000", place=Place.NOISE),
    ),
    Parameter(
        "answers", "Shuffled: possible answers of randomised response; any randomiser if not given", Input.WHOLE,
        title="Possible answers", allowed=Range(2),
        control=Control("Possible answers", "If each person uses randomised response; any way of it if empty."),
    ),
    Parameter(
        "kind", "Unary encoding: optimised or symmetric", Input.WORD, usual="optimised",
        choices={"optimised": "optimised, the more accurate", "symmetric": "symmetric"},
        control=Control("Unary encoding", start="optimised"),
    ),
    Parameter(
        "collision", "Sketch: share of the hash functions that map both values to one place", Input.PROBABILITY,
        title="Collisions", shown="0", usual=0.0, allowed=SHARE,
        control=Control(
            "Collisions", "Share of hash functions that map both values to one place.", "0", place=Place.RARE
        ),
    ),
    Parameter(
        "hadamard", "Sketch: report one coordinate of the Hadamard transform", Input.FLAG,
        control=Control("One coordinate of the Hadamard transform"),
    ),
    Parameter(
        "f", "RAPPOR: how often a permanent bit is a coin", Input.PROBABILITY, symbol="f", allowed=SHARE,
        risk=Trend.FALLS, search=Domain(1 - 1e-9, 1e-12),
        control=Control(
            "Permanent coins, f", "How often a permanent bit is a coin: larger is more private.", "0.5",
            Slider(0, 1, ("0", "0.5", "1")), Place.NOISE
        ),
    ),
    Parameter(
        "p", "RAPPOR: chance that a permanent 0 is reported as 1", Input.PROBABILITY, shown="0.5", usual=0.5,
        allowed=SHARE, control=Control("0 reported as 1, p", "How often, at each report.", "0.5"),
    ),
    Parameter(
        "q", "RAPPOR: chance that a permanent 1 is reported as 1", Input.PROBABILITY, shown="0.75", usual=0.75,
        allowed=SHARE, control=Control("1 reported as 1, q", "How often, at each report.", "0.75"),
    ),
    Parameter(
        "h", "RAPPOR: bits that a value sets", Input.WHOLE, title="Bits of a value", shown="2", usual=2,
        allowed=Range(1), control=Control("Bits of a value, h", "How many hash functions there are.", "2"),
    ),
    Parameter(
        "reports", "RAPPOR: reports from one permanent answer; inf for any number", Input.NUMBER, shown="1", usual=1,
        allowed=Range(1),
        control=Control("Reports", "How many are made from one permanent answer.", "1"),
    ),
    Parameter(
        "bias", "What the false records add together; negative takes away",
        search=Domain(1e-12, 1e12, in_sensitivities=True),
        control=None,
    ),
)

_ADVERSARY = (
    Parameter(
        "prior", "The adversary's belief before the release", Input.PROBABILITY, Panel.ADVERSARY, shown="0.5",
        usual=0.5,
        allowed=SHARE,
        control=Control(
            "In the data, of 100 times", "What the adversary believes before the release.", "0.5", _OF_100,
            of_100=True
        ),
    ),
    Parameter(
        "rho_p", "Instead of {prior}: coefficient of the prior over two values", panel=Panel.ADVERSARY, control=None,
    ),
    Parameter("rho_c", "Coefficient of correlated records", panel=Panel.ADVERSARY, control=None),
    Parameter("rho_t", "Coefficient of correlation over time", panel=Panel.ADVERSARY, control=None),
    Parameter(
        "less_likely", "With --rho-…: the positive value is the less likely one", Input.FLAG, Panel.ADVERSARY,
        control=None,
    ),
)

_READING = (
    Parameter(
        "fpr", "False-positive rate", Input.PROBABILITY, Panel.READING, shown="0.1", usual=0.1, allowed=SHARE,
        control=Control(
            "False alarms, of 100", "Where the hollow dot stands on the curves.", "0.1", _OF_100, of_100=True
        ),
    ),
    Parameter(
        "beta", "Weight of recall in the F-score", panel=Panel.READING, symbol="β", shown="1", usual=1.0,
        allowed=POSITIVE,
        control=Control("Weight of recall, β", "In the F-score: above 1 recall counts more.", "1", place=Place.RARE),
    ),
    Parameter(
        "baseline", "Success of an attack against a release without the person's record", Input.PROBABILITY,
        Panel.READING, shown="0.01", usual=0.01, allowed=SHARE,
        control=Control(
            "Other attacks, of 100", "How often one succeeds against a release without the person.", "0.01",
            place=Place.RARE, of_100=True
        ),
    ),
    Parameter(
        "for_epsilon", "The ε whose δ is read", panel=Panel.READING, symbol="ε", allowed=FROM_0, argument="epsilon",
        control=Control("Read δ at ε", "Half the guarantee if empty.", place=Place.RARE),
    ),
    Parameter(
        "for_delta", "The δ whose ε is read", Input.PROBABILITY, Panel.READING, symbol="δ", shown="0.00001",
        allowed=SHARE, argument="delta",
        control=Control("Read ε at δ", "Used where no ε holds without a δ.", "0.00001", place=Place.RARE),
    ),
    Parameter(
        "level", "Least share of false alarms and of misses that μ looks at", Input.PROBABILITY, Panel.READING,
        shown="0.000001", usual=1e-6, allowed=Range(0, 0.5),
        control=Control(
            "Level of μ", "μ looks at tests with at least this share of false alarms and of misses.", "0.000001",
            place=Place.RARE
        ),
    ),
    Parameter(
        "recall", "Recall at which precision is read", Input.PROBABILITY, Panel.READING, allowed=SHARE,
        control=Control("Found, of 100", "How many of those in the data the adversary finds.", of_100=True),
    ),
    Parameter(
        "order", "Order of the Rényi divergence", panel=Panel.READING, allowed=FROM_0,
        control=Control("Order", "Order of the Rényi divergence, above 0.", "2"),
    ),
)

#: Every parameter of a mechanism, a claim, an adversary or a reading, by name, in the order in which help lists them.
PARAMETERS: dict[str, Parameter] = {p.name: p for p in (*_NOISE, *_ADVERSARY, *_READING)}

#: The conditions under which one definition of privacy implies another, as the command and the page take them.
CONDITIONS: dict[str, Parameter] = {
    p.name: p
    for p in (
        Parameter(
            "dependent", "Records that depend on each other", Input.NUMBER, Panel.DATA, shown="1",
            control=Control(
                "Records that go together", "The largest group of records that depend on each other; 1 if none do.",
                "1"
            ),
        ),
        Parameter(
            "records", "How many records there are", Input.NUMBER, Panel.DATA,
            control=Control("Records in the data", "Needed for whole databases; may stay empty."),
        ),
        Parameter(
            "priors", "Under one prior or every prior", Input.WORD, Panel.ADVERSARY, shown="one", metavar="one|every",
            choices={"one": "one prior belief", "every": "every prior belief"},
            control=Control("Guarantees hold for", start="one"),
        ),
        Parameter(
            "full", "Every database is possible under the prior", Input.FLAG, Panel.ADVERSARY,
            control=Control("Every database is possible", place=Place.RARE),
        ),
        Parameter(
            "least", "Probability no value of a record is below", Input.NUMBER, Panel.ADVERSARY,
            control=Control(
                "Rarest value, from 0 to 0.5", "No value of a record is less probable than this.", "0",
                place=Place.RARE
            ),
        ),
        Parameter(
            "constrained", "Blowfish: it is known which databases are possible", Input.FLAG, Panel.DATA,
            control=Control("Blowfish: possible databases are known", place=Place.RARE),
        ),
        Parameter(
            "diameter", "Blowfish: edges between any two values", Input.NUMBER, Panel.DATA, shown="1",
            control=Control(
                "Blowfish: steps between values",
                "Edges of the graph between any two values; inf if some are not joined.", "1", place=Place.RARE
            ),
        ),
        Parameter(
            "secrets", "Pufferfish: records or any", Input.WORD, Panel.DATA, shown="records",
            choices={"records": "values of records", "any": "any secrets"},
            control=Control("Pufferfish hides", start="records", place=Place.RARE),
        ),
    )
}
# fmt: on
