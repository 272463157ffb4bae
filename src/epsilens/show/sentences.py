"""The sentences: what the adversary asks, how often they are right, what the mechanism does, what to do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from ..catalogue.mechanisms import CLAIMS, MECHANISMS
from ..catalogue.parameter import Risk
from ..catalogue.parameters import PARAMETERS, symbol
from ..catalogue.readings import find
from ..worlds import Kind
from .document import Said, Span
from .words import apart, count, frequencies, frequency, grouped, number, rounded_down, rounded_up, scale_for, small

if TYPE_CHECKING:
    from ..choice.choice import Choice
    from ..experiment import Experiment

__all__ = [
    "Question", "consequence", "falls", "false_alarms", "instruction", "lead", "mechanism", "question", "safe_value",
    "title",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Question:
    """What the adversary wants to know, in the words the readings need."""

    asks: str
    unit: str
    one: str
    other: str
    group: str
    outside: str
    holds: str
    who: str = "An adversary who knows every other record"


_MEMBER = Question(
    "whether a person is in the data", "people", "someone in the data", "someone not in it", "in the data", "not in it",
    "the person is in the data",
)  # fmt: skip
_NOT_MEMBER = Question(
    "whether a person is in the data", "people", "someone not in the data", "someone in it", "not in the data", "in it",
    "the person is not in the data",
)  # fmt: skip
_VALUE = Question(
    "which of two values a person's record has", "people", "a record with the second value", "one with the first",
    "with the second value", "with the first", "the record has the second value",
)  # fmt: skip
_SECRET = Question(
    "whether the target has the secret", "people", "someone with the secret", "someone without it", "with the secret",
    "without it", "the target has the secret", "An adversary who compares the answers",
)  # fmt: skip
_TAMPERED = Question(
    "whether a false record moved the answer", "answers", "a tampered answer", "an honest one", "tampered with",
    "honest", "the answer was tampered with", "A defender who knows the true answer",
)  # fmt: skip


_QUESTIONS = {Kind.MEMBERSHIP: _MEMBER, Kind.RECORD: _VALUE, Kind.SECRET: _SECRET, Kind.TAMPERING: _TAMPERED}
_REVERSED = {Kind.MEMBERSHIP: _NOT_MEMBER, Kind.RECORD: _VALUE}


def question(e: Experiment) -> Question:
    """The adversary's question for this pair of worlds.

    >>> import epsilens as el
    >>> question(el.laplace(epsilon=1.0, neighbours="replace")).asks
    "which of two values a person's record has"
    """
    usual = _REVERSED if e.worlds.reversed else _QUESTIONS
    if e.worlds.kind in usual:
        return usual[e.worlds.kind]
    return Question(
        f"which of two is true, “{e.h0}” or “{e.h1}”,",
        "cases",
        "a case of the second kind",
        "one of the first",
        "of the second kind",
        "of the first",
        e.h1,
        *([_knows(len(e.parameters["known"]))] if e.worlds.kind is Kind.CORRELATED else []),
    )


def _knows(records: int) -> str:
    """The adversary against correlated records, by how many they know."""
    known = {0: "no other record", 1: "one other record"}.get(records, f"{records} other records")
    return f"An adversary who knows {known}, and how records go together,"


def lead(asked: Question, success: float, baseline: float, belief: tuple[float, float]) -> Said:
    """The sentence that comes first: right guesses with the release, and without it.

    A strong prior can hide a risk: the best guess is then the same for everyone, with or without the release. Where
    that happens, ``belief`` (before, and at its most certain) says what the release still tells.
    """
    with_it, without = frequencies(success, baseline)
    spans = [
        Span(f"{asked.who} guesses correctly {asked.asks} for "),
        Span(with_it, "risk"),
        Span(f" {asked.unit}. Without the release they would be right for "),
    ]
    if apart(success, baseline):
        return (*spans, Span(f"{without}.", "strong"))
    spans.append(Span(without, "strong"))
    before, after = belief
    if apart(after, before):
        start, end = frequencies(before, after) if after < 1 else (frequency(before), "near certainty")
        hidden = (
            f" too, because they guess the same for everyone. Yet belief that {asked.holds} can rise from {start} to "
        )
        return (*spans, Span(hidden), Span(f"{end}.", "risk"))
    added = "nothing" if success == baseline else "fewer than 1 of 1,000,000"
    return (*spans, Span(f" too: the release adds {added}."))


def false_alarms(fpr: float) -> str:
    """A false-positive rate as people say it.

    >>> false_alarms(0.1), false_alarms(0.001), false_alarms(0.0)
    ('10 false alarms of 100', '1 false alarm of 1,000', 'no false alarms')
    """
    if fpr == 0:
        return "no false alarms"
    whole = [n for n in (100, 1_000, 10_000) if fpr * n >= 0.5 and math.isclose(fpr * n, round(fpr * n), rel_tol=1e-9)]
    scale = whole[0] if whole else scale_for([fpr])
    shown = count(fpr, scale)
    return f"{shown} false alarm{'' if shown in ('1', 'fewer than 1') else 's'} of {grouped(scale)}"


# -- what the mechanism does --------------------------------------------------------------------------------------

#: What is built from others, or without a name in the catalogue.
_TITLES = {
    "finite": "Two lists of probabilities",
    "composition": "Several releases together",
    "subsample": "A release of a sample",
    "group": "A group of people",
    "claims": "Any release with these (ε, δ)",
    "privacy_loss_distribution": "A privacy-loss distribution",
    "correlated": "Correlated records",
    "tampering": "A false record",
}


def title(e: Experiment) -> str:
    """The mechanism's name as people write it."""
    if e.label:
        return e.label
    entry = MECHANISMS.get(e.origin) or CLAIMS.get(e.origin)
    return entry.title if entry else _TITLES.get(e.origin, e.origin.replace("_", " "))


def mechanism(e: Experiment) -> str:
    """One line on how it works, after the consequences.

    >>> import epsilens as el
    >>> print(mechanism(el.laplace(epsilon=1.0)))
    One person moves the answer by at most 1. Laplace noise of scale 1 hides that: 95 of 100 answers fall within ±3.0...
    """
    p = e.parameters
    if e.origin == "randomized_response":
        others = "the other one" if p["k"] == 2 else f"one of the other {p['k'] - 1}"
        honest = frequency(p["truth"]).replace(" of", " times of")
        return f"Each person gives the true answer {honest}, otherwise {others}."
    if e.origin in MECHANISMS and MECHANISMS[e.origin].how:
        return MECHANISMS[e.origin].how.format(**p)
    if e.origin == "dpsgd":
        return _dpsgd(p)
    if e.origin not in _REACH:
        return ""
    if e.origin in ("gaussian", "discrete_gaussian"):
        size = f"standard deviation {rounded_up(p['sigma'])}"
    elif e.origin == "staircase":
        size = f"step {_short(p['sensitivity'])}"
    else:
        size = f"scale {rounded_up(p['scale'])}"
    changes = "Changing one person's record" if p["neighbours"] == "replace" else "One person"
    moves = f"{changes} moves the answer by at most {_short(p['sensitivity'])}"
    if p["shift"] != p["sensitivity"]:
        moves += f", this one by {_short(p['shift'])}"
    within = _ceiling(float(_REACH[e.origin](e)))
    return f"{moves}. {title(e)} of {size} hides that: 95 of 100 answers fall within ±{within} of the truth."


def _short(value: float) -> str:
    return f"{value:.4g}"


def _down(value: float) -> str:
    """As it was given where that is short; a chosen one as the headline says it, which is the safe side."""
    return small(value) if float(f"{value:.4g}") == value else rounded_down(value)


def _dpsgd(p: Mapping[str, Any]) -> str:
    """Training in steps, each on a sample; a schedule is only counted."""
    if any(isinstance(p[name], list) for name in ("sigma", "rate", "steps")):
        return "Each step of a schedule draws a sample and adds Gaussian noise to its clipped gradients."
    drawn = "everybody" if p["rate"] == 1 else f"each person with probability {_down(p['rate'])}"
    noise = f"Gaussian noise of {rounded_up(p['sigma'])} times the clipping norm"
    return f"{grouped(int(p['steps']))} steps draw {drawn} and add {noise} to the gradients."


def _ceiling(value: float) -> str:
    """Two digits, rounded up: 95 of 100 answers do fall within."""
    rounded = Context(prec=2, rounding=ROUND_CEILING).plus(Decimal(value))
    return f"{rounded:,f}" if 1e-4 <= value < 1e9 else f"{float(rounded):.1e}"


def _reach_geometric(e: Experiment) -> float:
    # P(|X| > k) = 2q^{k+1}/(1+q), at most 0.05
    a = e.parameters["epsilon"] / e.parameters["sensitivity"]
    return float(max(math.ceil(-math.log(0.025 * (1 + math.exp(-a))) / a - 1 - 1e-12), 0))


def _reach_discrete_gaussian(e: Experiment) -> float:
    s = e.parameters["sigma"]
    k = np.arange(math.ceil(12 * s) + 2.0)
    weight = np.exp(-k * k / (2 * s * s)) * np.where(k == 0, 1, 2)
    return float(np.searchsorted(np.cumsum(weight) / weight.sum(), 0.95))


def _reach_staircase(e: Experiment) -> float:
    # |X| lies in step k with probability (1−q)q^k, and within a step is uniform on each side of the break γ
    p = e.parameters
    q, g = math.exp(-p["epsilon"]), p["gamma"]
    k = math.floor(math.log(0.05) / -p["epsilon"])
    share = (q**k - 0.05) / (q**k * -math.expm1(-p["epsilon"]))
    mean = g + (1 - g) * q
    inside = share * mean if share * mean <= g else g + (share * mean - g) / q
    return float(p["sensitivity"] * (k + inside))


_REACH = {
    "laplace": lambda e: e.parameters["scale"] * math.log(20),
    "gaussian": lambda e: e.parameters["sigma"] * 1.959963984540055,  # Φ⁻¹(0.975), rounded up
    "geometric": _reach_geometric,
    "discrete_gaussian": _reach_discrete_gaussian,
    "staircase": _reach_staircase,
}


# -- what to do ---------------------------------------------------------------------------------------------------


def falls(parameter: str) -> bool:
    """Whether risk falls as the parameter grows."""
    return parameter in PARAMETERS and PARAMETERS[parameter].risk is Risk.FALLS


def safe_value(choice: Choice) -> tuple[str, str]:
    """The chosen value rounded to the safe side, and the words that say which side that is."""
    known = PARAMETERS.get(choice.parameter)
    if known is not None and known.risk is Risk.RISES:
        if known.whole:
            return f"{choice.value:.0f}", "or fewer"
        return rounded_down(choice.value), "or less"
    if falls(choice.parameter):
        return rounded_up(choice.value), "or more"
    return repr(choice.value).removesuffix(".0"), ""


def instruction(choice: Choice) -> str:
    """The headline: what to set the parameter to.

    >>> import epsilens as el
    >>> instruction(el.choose(el.gaussian, "sigma", at_most=0.05, reading="roc", fpr=0.01))
    'Use σ = 1.468 or more'
    """
    named = symbol(choice.parameter)
    value, side = safe_value(choice)
    if choice.binding.free:
        return f"Any {named} {'down' if falls(choice.parameter) else 'up'} to {value} keeps this limit"
    return f"Use {named} = {value} {side}".rstrip()


def consequence(choice: Choice, asked: Question) -> Said:
    """What the chosen value achieves: the reading, its baseline and the limit."""
    name, args = choice.reading_name, choice.arguments
    reader = " ".join(asked.who.lower().split()[:2])  # an adversary, or a defender
    phrases = {
        "success": f"{asked.who[0].lower()}{asked.who[1:]} then guesses correctly {asked.asks} for at most |"
        f" {asked.unit}",
        "recall": f"at {false_alarms(args.get('alpha', 0))}, {reader} then finds at most | {asked.group}",
        "roc": f"at {false_alarms(args.get('fpr', 0))}, {reader} then finds at most | {asked.group}",
        "posterior": f"{reader}'s belief that {choice.experiment.h1} then never rises above |",
        "precision": f"of those {reader} flags, at most | are then {asked.group}",
        "auc": f"{reader} then tells {asked.one} from {asked.other} at most | times",
        "attack_success": "any attack then succeeds for at most |",
    }
    floor = float(find(name).floor(**args))
    if name not in phrases:
        return (
            Span(f"{_spoken(choice)} is then at most "),
            Span(small(choice.limit), "risk"),
            Span(", your limit. Without the release it would be "),
            Span("0." if floor == 0 else f"{number(floor)}.", "strong"),
        )
    near = choice.limit - choice.reading < 1e-3 * (choice.limit - floor)  # at most the limit, then, in round numbers
    reached, without, limit = frequencies(choice.limit if near else choice.reading, floor, choice.limit, exact=True)
    before, after = phrases[name].split("|")
    if " than " in reached:  # "at most more than 99" says too much
        before = before.removesuffix("at most ")
    return (
        Span(before),
        Span(reached, "risk"),
        Span(f"{after}. Without the release it would be "),
        Span(without, "strong"),
        Span(". Your limit is "),
        Span(f"{limit}.", "strong"),
    )


def _spoken(choice: Choice) -> str:
    args = choice.arguments
    known = {
        "advantage": "the adversary's advantage over guessing",
        "fbeta": f"the best F-score (β = {args.get('beta', 1):g})",
        "delta": f"δ at ε = {args.get('epsilon', 0):g}",
        "epsilon": f"ε at δ = {small(args.get('delta', 0))}",
        "psi": "the sensitivity index ψ",
        "renyi": f"the Rényi divergence of order {args.get('order', 2):g}",
        "kl": "the Kullback–Leibler divergence",
        "chernoff": "the Chernoff information",
    }
    return known.get(choice.reading_name, find(choice.reading_name).label)
