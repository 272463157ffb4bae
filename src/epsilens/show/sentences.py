"""The sentences: what the adversary asks, how often they are right, what the mechanism does."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from ..catalogue.mechanisms import CLAIMS, MECHANISMS
from ..laws.discrete_noise import DiscreteNormal, IntegerNoise, Skellam
from ..numerics.formatting import (
    ceil_digits,
    count,
    denominator,
    distinguishable,
    floor_digits,
    frequencies,
    frequency,
    thousands,
)
from ..readings.law import Exactness
from ..worlds import WorldsKind
from .document import Said, Span
from .words import guessed, separated, small

if TYPE_CHECKING:
    from ..experiment import Experiment


@dataclass(frozen=True, slots=True)
class Question:
    """What the adversary wants to know, in the words the readings need; ``holds`` is H1, ``fails`` H0.

    Every number is that of one person (or one answer), attacked over and over: ``about`` says which.
    """

    asks: str
    about: str
    one: str
    other: str
    group: str
    outside: str
    holds: str
    fails: str
    who: str = "An adversary who knows every other record"


_MEMBER = Question(
    "whether {} is in the data", " about {}", "someone in the data", "someone not in it", "in the data", "not in it",
    "the person is in the data", "the person is not in the data",
)  # fmt: skip
_NOT_MEMBER = Question(
    "whether {} is in the data", " about {}", "someone not in the data", "someone in it", "not in the data", "in it",
    "the person is not in the data", "the person is in the data",
)  # fmt: skip
_VALUE = Question(
    "which of two values {}'s record has", " about {}'s record", "a record with the second value", "one with the first",
    "with the second value", "with the first", "the record has the second value", "the record has the first value",
)  # fmt: skip
_SECRET = Question(
    "whether the target has the secret", " about the target", "someone with the secret", "someone without it",
    "with the secret", "without it", "the target has the secret", "the target does not have the secret",
    "An adversary who compares the answers",
)  # fmt: skip
_TAMPERED = Question(
    "whether false records moved the answer", " about an answer", "a tampered answer", "an honest one", "tampered with",
    "honest", "the answer was tampered with", "the answer is honest", "A defender who knows the expected answer",
)  # fmt: skip


_QUESTIONS = {
    WorldsKind.MEMBERSHIP: _MEMBER,
    WorldsKind.RECORD: _VALUE,
    WorldsKind.SECRET: _SECRET,
    WorldsKind.TAMPERING: _TAMPERED,
}
_REVERSED = {WorldsKind.MEMBERSHIP: _NOT_MEMBER, WorldsKind.RECORD: _VALUE}


def question(e: Experiment) -> Question:
    """The adversary's question for this pair of worlds.

    >>> import epsilens as el
    >>> question(el.laplace(epsilon=1.0, neighbours="replace")).asks
    "which of two values the worst-placed person's record has"
    """
    usual = _REVERSED if e.worlds.reversed else _QUESTIONS
    if e.worlds.kind in usual:
        found, person = usual[e.worlds.kind], "the worst-placed person" if _worst_placed(e) else "the person"
        return replace(found, asks=found.asks.format(person), about=found.about.format(person))
    return Question(
        f"which of two is true, “{e.h0}” or “{e.h1}”",
        "",
        "a case of the second kind",
        "one of the first",
        "of the second kind",
        "of the first",
        e.h1,
        e.h0,
        *([_knows(e)] if e.worlds.kind is WorldsKind.CORRELATED else []),
    )


def _worst_placed(e: Experiment) -> bool:
    """Whether nobody is easier to tell: the mechanism's own pair, not that of a person who moves the answer less."""
    if e.parts:
        return all(_worst_placed(part) for part, _ in e.parts)
    p, known = e.parameters, e.origin in MECHANISMS or e.origin in CLAIMS
    return known and "outcomes" not in p and p.get("shift", p.get("sensitivity")) == p.get("sensitivity")


def bounded(e: Experiment) -> bool:
    """Whether the pair stands for releases that may be less risky: a claim, or training by its dominating pair."""
    if e.parts:
        return any(bounded(part) for part, _ in e.parts)
    return e.law.known is Exactness.BOUND or e.origin in CLAIMS or e.origin in ("pure", "approximate", "dpsgd")


def _knows(e: Experiment) -> str:
    """The adversary against correlated records, by how many they know."""
    told = e.parts[0][0].parameters if e.parts else e.parameters
    if "known" not in told:
        return "An adversary who knows how records go together"
    records = len(told["known"])
    known = {0: "no other record", 1: "one other record"}.get(records, f"{records} other records")
    return f"An adversary who knows {known}, and how records go together,"


def lead(e: Experiment, success: float, baseline: float, belief: tuple[float, float], least: float) -> Said:
    """The sentence that comes first: right guesses with the release, and without it.

    A strong prior can hide a risk: the best guess is then the same, with or without the release. Where that happens,
    ``belief`` (before, and at its most certain) and ``least`` (at its least) say what the release still tells.
    """
    asked, above = question(e), bounded(e)
    most, with_it, without = guessed(success, baseline, bound=above)
    does = f"guesses correctly {most}" if most or not above else "may guess correctly "
    spans = [
        Span(f"{asked.who} {does}"),
        Span(with_it, "risk"),
        Span(f" {asked.asks}. Without the release they would be right "),
    ]
    if distinguishable(success, baseline):
        return (*spans, Span(f"{without}.", "strong"))
    spans.append(Span(without, "strong"))
    before, after = belief
    if distinguishable(after, before):
        end, start, low = beliefs(after, before, least)
        hidden = (
            f" too, because they guess the same every time. Yet belief that {asked.holds} can rise from {start} to "
        )
        return (*spans, Span(hidden), Span(end, "risk"), Span(" or fall to "), Span(f"{low}.", "risk"))
    added = "nothing" if success == baseline else "fewer than 1 of 1,000,000"
    return (*spans, Span(f" too: the release adds {added}."))


def beliefs(reached: float, *beside: float) -> tuple[str, ...]:
    """The belief that is reached, and what stands beside it; no answer leaves certainty, however near it may come."""
    up = [reached] if 0 < reached < 1 else []
    shown = iter(frequencies(*up, given=[v for v in beside if 0 < v < 1]))
    values = reached, *beside
    return tuple("near certainty" if v == 1 else "nearly none" if v == 0 else next(shown) for v in values)


def false_alarms(fpr: float) -> str:
    """A false-positive rate as people say it.

    >>> false_alarms(0.1), false_alarms(0.001), false_alarms(0.0)
    ('10 false alarms of 100', '1 false alarm of 1,000', 'no false alarms')
    """
    if fpr == 0:
        return "no false alarms"
    whole = [n for n in (100, 1_000, 10_000) if fpr * n >= 0.5 and math.isclose(fpr * n, round(fpr * n), rel_tol=1e-9)]
    scale = whole[0] if whole else denominator((), [fpr])
    shown = count(fpr, scale, given=True)
    return f"{shown} false alarm{'' if shown in ('1', 'fewer than 1') else 's'} of {thousands(scale)}"


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
    "tampering": "False records",
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
        size = f"standard deviation {separated(ceil_digits(p['sigma']))}"
    elif e.origin == "skellam":
        size = f"variance {separated(ceil_digits(p['variance']))}"
    elif e.origin == "staircase":
        size = f"step {_short(p['sensitivity'])}"
    else:
        size = f"scale {separated(ceil_digits(p['scale']))}"
    changes = "Changing one person's record" if p["neighbours"] == "replace" else "One person"
    moves = f"{changes} moves the answer by at most {_short(p['sensitivity'])}"
    if p["shift"] != p["sensitivity"]:
        moves += f", this one by {_short(p['shift'])}"
    within = _ceiling(float(_REACH[e.origin](e)))
    return f"{moves}. {title(e)} of {size} hides that: 95 of 100 answers fall within ±{within} of the truth."


def _short(value: float) -> str:
    return separated(f"{value:.4g}")


def _down(value: float) -> str:
    """As it was given where that is short; a chosen one as the headline says it, which is the safe side."""
    return small(value) if float(f"{value:.4g}") == value else floor_digits(value)


def _dpsgd(p: Mapping[str, Any]) -> str:
    """Training in steps, each on a batch; a schedule is only counted."""
    if any(isinstance(p[name], list) for name in ("sigma", "rate", "steps")):
        return "Each step of a schedule draws a batch and adds Gaussian noise to its clipped gradients."
    drawn = "everybody" if p["rate"] == 1 else _DRAWN[p.get("batches", "poisson")](p)
    noise = f"Gaussian noise of {ceil_digits(p['sigma'])} times the clipping norm"
    if "epochs" in p:
        passes = f"{_short(p['epochs'])} epoch{'' if p['epochs'] == 1 else 's'} over {thousands(int(p['n']))} people, "
        return _steps(p, f"{passes}{thousands(int(p['steps']))} steps,", drawn, noise)
    return _steps(p, f"{thousands(int(p['steps']))} steps", drawn, noise)


def _steps(p: Mapping[str, Any], steps: str, drawn: str, noise: str) -> str:
    group = f" What {thousands(int(p['people']))} people move together is told." if p.get("people", 1) > 1 else ""
    return f"{steps} draw {drawn} and add {noise} to the gradients.{group}"


def _share(p: Mapping[str, Any]) -> str:
    """How many are in a batch of one size."""
    if "batch" in p:
        return f"{thousands(int(p['batch']))} of {thousands(int(p['n']))} people"
    return f"a share of {_down(p['rate'])} of the people"


_DRAWN: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "poisson": lambda p: f"each person with probability {_down(p['rate'])}",
    "truncated": lambda p: (
        f"each person with probability {_down(p['rate'])}, at most {thousands(int(p['truncation']))} of them,"
    ),
    "fixed": _share,
    "with replacement": lambda p: f"{_share(p)}, each of them anew from all,",
    "shuffled": lambda p: f"{_share(p)} in turn, who are shuffled anew for each epoch,",
}


def _ceiling(value: float) -> str:
    """Two digits, rounded up: 95 of 100 answers do fall within."""
    rounded = Context(prec=2, rounding=ROUND_CEILING).plus(Decimal(value))
    return f"{rounded:,f}" if 1e-4 <= value < 1e9 else f"{float(rounded):.1e}"


def _reach_geometric(e: Experiment) -> float:
    # P(|X| > k) = 2q^{k+1}/(1+q), at most 0.05
    a = e.parameters["epsilon"] / e.parameters["sensitivity"]
    return float(max(math.ceil(-math.log(0.025 * (1 + math.exp(-a))) / a - 1 - 1e-12), 0))


def _reach_whole(noise: IntegerNoise) -> float:
    k = np.arange(noise.reach + 1.0)
    return float(np.searchsorted(np.cumsum(np.exp(noise.log_mass(k)) * np.where(k == 0, 1, 2)), 0.95))


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
    "discrete_gaussian": lambda e: _reach_whole(DiscreteNormal(e.parameters["sigma"])),
    "skellam": lambda e: _reach_whole(Skellam(e.parameters["variance"])),
    "staircase": _reach_staircase,
}
