"""The sentences: what the adversary asks, how often they are right, what the mechanism does."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal
from typing import TYPE_CHECKING, Any

from ..catalogue.mechanisms import CLAIMS, MECHANISMS
from ..catalogue.parameters import PARAMETERS, Trend, symbol
from ..catalogue.readings import find_reading
from ..numerics.formatting import (
    ceil_count,
    ceil_digits,
    count,
    denominator,
    distinguishable,
    floor_digits,
    frequencies,
    frequency,
    thousands,
    times,
)
from ..worlds import WorldsKind
from .document import Said, Span

if TYPE_CHECKING:
    from ..calibration.choose import Choice
    from ..experiment import Experiment
    from ..overview import Overview


# Numbers as people read them: frequencies out of 100 with their baseline, rounded to the safe side. People judge risk
# best as counts out of a round number with the baseline beside it; `numerics.formatting` turns a chance into one.


def separated(text: str) -> str:
    """A number that is already rounded, as a sentence writes it: thousands apart, and no powers of ten below 10¹⁵.

    >>> separated("163000"), separated("0.0025"), separated("4.86e+08"), separated("2.5e-13"), separated("1e+20")
    ('163,000', '0.0025', '486,000,000', '2.5e-13', '1e20')
    """
    value = Decimal(text)
    if "e" in text and not 1 <= abs(value) < 10**15:
        return _powers(text)
    return f"{value:,f}"


def _powers(text: str) -> str:
    """A power of ten without what a programming language adds: 1e9, not 1e+09."""
    return re.sub(r"e([+-])0*", lambda m: "e-" if m[1] == "-" else "e", text)


def at_most(shown: str, *, bound: bool = True) -> str:
    """The words before a count that is a ``bound``: none before one that is itself "more than" or "fewer than".

    >>> at_most("73 of 100"), at_most("more than 99 of 100")
    ('at most ', '')
    """
    return "at most " if bound and " than " not in shown else ""


def beside(low: float, own: float) -> tuple[str, str]:
    """A bound from below, rounded down, and what is claimed, rounded up, in as many digits as tell which is larger.

    >>> beside(1.6412, 1.0), beside(1.0000321, 1.0), beside(0.98, 1.0), beside(0.99999991, 0.99999953)
    (('1.641', '1'), ('1.00003', '1'), ('0.98', '1'), ('0.9999999', '0.9999996'))
    """
    digits = 4
    while low > own and digits < 17 and not Decimal(floor_digits(low, digits)) > Decimal(ceil_digits(own, digits)):
        digits += 1
    return floor_digits(low, digits), ceil_digits(own, digits)


def guessed(p: float, baseline: float, *, bound: bool) -> tuple[str, str, str]:
    """What is said before right guesses, they and the baseline; a ``bound`` near certainty with a decimal or two.

    >>> guessed(0.6931, 0.5, bound=True), guessed(0.9997, 0.5, bound=False)
    (('at most ', '70 times of 100', '50 times of 100'), ('', 'more than 99 times of 100', '50 times of 100'))
    >>> guessed(0.99966, 0.5, bound=True), guessed(0.9999999, 0.5, bound=True)
    (('at most ', '99.97 times of 100', '50 times of 100'), ('', 'nearly every time', '50 times of 100'))
    """
    shown, without = times(p, given=[baseline], per="of")
    if bound and shown == "more than 99 times of 100":  # "at most more than 99" says nothing
        finer = (
            f"{ceil_count(100 * p, places):g} times of 100" for places in (1, 2) if ceil_count(100 * p, places) < 100
        )
        shown = next(finer, "nearly every time")
    return at_most(shown, bound=bound and "nearly" not in shown), shown, without


def number(value: float, *beside: float, digits: int = 4) -> str:
    """A decimal for tables: four places, and as many more as tell it from 0, 1 and the numbers beside it.

    >>> number(0.69673467), number(0.5), number(0.9999999979), number(0.50000002, 0.5), number(2.5e-13)
    ('0.6967', '0.5000', '0.999999998', '0.50000002', '2.5e-13')
    >>> number(float("inf")), number(float("nan")), number(1e9)
    ('unbounded', 'undefined', '1e9')
    >>> number(5.1432e-05)
    '0.00005143'
    """
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "unbounded"
    if value == 0:
        return "0"
    if abs(value) < 10.0**-digits or abs(value) >= 1e6:
        return small(float(f"{value:.{digits}g}"))
    others = [b for b in (1.0, *beside) if math.isfinite(b) and b != value]
    for places in range(digits, 16):
        text = f"{value:.{places}f}"
        if all(text != f"{b:.{places}f}" for b in others):
            return text
    return repr(value)


def small(value: float) -> str:
    """A number as it was given, with a small one written out.

    >>> small(1e-5), small(0.05), small(1e-12), small(1e-9), small(2.0)
    ('0.00001', '0.05', '1e-12', '1e-9', '2')
    """
    return f"{Decimal(repr(float(value))).normalize():f}" if 1e-7 <= abs(value) < 1e7 else _powers(f"{value:g}")


def cost(value: float) -> str:
    """What a release costs, in four digits and never less than it is; the last bits are our own arithmetic.

    >>> cost(0.2149107), cost(0.4), cost(0.1 + 0.2), cost(0.0)
    ('0.215', '0.4', '0.3', '0')
    """
    return ceil_digits(value * (1 - 1e-12)) if value else "0"


def of_100(share: float) -> str:
    """A probability as a frequency; 99.9% is not "100 of 100".

    >>> of_100(0.419), of_100(0.999), of_100(0.0003), of_100(0.0), of_100(1.0)
    ('42 of 100', 'more than 99 of 100', 'fewer than 1 of 100', '0 of 100', '100 of 100')
    """
    if share in (0.0, 1.0):
        return f"{int(share) * 100} of 100"
    if share > 0.99:
        return "more than 99 of 100"
    if share < 0.01:
        return "fewer than 1 of 100"
    return f"{round(100 * share)} of 100"


def people_of_100(count: int, total: int) -> str:
    """A count of people as the start of a sentence.

    >>> people_of_100(2475, 5912), people_of_100(0, 3), people_of_100(3, 3), people_of_100(1, 2000)
    ('42 of 100 people', 'None of the 3 people', 'All 3 people', 'Fewer than 1 of 100 people')
    """
    if count == 0:
        return f"None of the {total:,} people"
    if count == total:
        return "The only person" if total == 1 else f"All {total:,} people"
    text = of_100(count / total)
    return text[0].upper() + text[1:] + " people"


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


def _knows(e: Experiment) -> str:
    """The adversary against correlated records, by how many they know."""
    told = e.parts[0][0].parameters if e.parts else e.parameters
    if "known" not in told:
        return "An adversary who knows how records go together"
    records = len(told["known"])
    known = {0: "no other record", 1: "one other record"}.get(records, f"{records} other records")
    return f"An adversary who knows {known}, and how records go together,"


def lead(
    asked: Question, success: float, baseline: float, belief: tuple[float, float], least: float, *, bound: bool
) -> Said:
    """The sentence that comes first: right guesses with the release, and without it.

    A strong prior can hide a risk: the best guess is then the same, with or without the release. Where that happens,
    ``belief`` (before, and at its most certain) and ``least`` (at its least) say what the release still tells.
    """
    most, with_it, without = guessed(success, baseline, bound=bound)
    does = f"guesses correctly {most}" if most or not bound else "may guess correctly "
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


def mechanism(e: Experiment, within: float | None = None) -> str:
    """One line on how it works, after the consequences; 95 of 100 answers fall ``within`` so much of the truth.

    >>> import epsilens as el
    >>> print(mechanism(el.laplace(epsilon=1.0), 2.9957))
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
    if within is None:
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
    return f"{moves}. {title(e)} of {size} hides that: 95 of 100 answers fall within ±{_ceiling(within)} of the truth."


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


# What to set: the instruction of a choice, what it achieves, and the warning where the limit sees too little.


def falls(parameter: str) -> bool:
    """Whether risk falls as the parameter grows."""
    return parameter in PARAMETERS and PARAMETERS[parameter].risk is Trend.FALLS


def safe_value(choice: Choice) -> tuple[str, str]:
    """The chosen value rounded to the safe side, and the words that say which side that is."""
    known = PARAMETERS.get(choice.parameter)
    if known is not None and known.risk is Trend.RISES:
        if known.whole:
            return f"{choice.value:.0f}", "or fewer"
        return floor_digits(choice.value), "or less"
    if falls(choice.parameter):
        return ceil_digits(choice.value), "or more"
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


def consequence(about: Overview, choice: Choice, asked: Question) -> Said:
    """What the chosen value achieves: the reading, its baseline and the limit."""
    name, args = choice.reading_name, choice.arguments
    reader = " ".join(asked.who.lower().split()[:2])  # an adversary, or a defender
    phrases = {
        "success": f"{asked.who[0].lower()}{asked.who[1:]} then guesses correctly at most # {asked.asks}",
        "recall": f"at {false_alarms(args.get('fpr', 0))}, {reader} then finds at most # that {asked.holds}",
        "roc": f"at {false_alarms(args.get('fpr', 0))}, {reader} then finds at most # that {asked.holds}",
        "posterior": f"{reader}'s belief that {choice.experiment.h1} then never rises above |",
        "precision": f"of {reader}'s alarms, at most | are then right",
        "auc": f"{reader} then tells {asked.one} from {asked.other} at most #",
        "attack_success": "any attack on a person then succeeds at most #",
    }
    floor = float(find_reading(name).floor(**args))
    if name not in phrases:
        return (
            Span(f"{_spoken(choice)} is then at most "),
            Span(small(choice.limit), "risk"),
            Span(", your limit. Without the release it would be "),
            Span("0." if floor == 0 else f"{number(floor)}.", "strong"),
        )
    near = choice.limit - choice.reading < 1e-3 * (choice.limit - floor)  # at most the limit, then, in round numbers
    beside = [floor, choice.limit]
    shown, beside = ((), [choice.limit, *beside]) if near else ((choice.reading,), beside)
    reached, without, limit = frequencies(*shown, given=beside, exact=True)
    if "#" in phrases[name]:  # a guess made over and over; otherwise a belief, or a share
        reached = times(*shown, given=beside, exact=True, per="of")[0]
    before, after = re.split("[|#]", phrases[name])
    if " than " in reached:  # "at most more than 99" says too much
        before = before.removesuffix("at most ")
    # Statistics alone tell of people who are not in the data: the baseline of an attack is a release without them.
    base = "Against a release without their record" if name == "attack_success" else "Without the release"
    return (
        Span(before),
        Span(reached, "risk"),
        Span(f"{after}. {base} it would be "),
        Span(without, "strong"),
        Span(". Your limit is "),
        Span(f"{limit}.", "strong"),
        *(_opposite(about) if name == "posterior" else ()),
    )


def _opposite(about: Overview) -> Said:
    """How far belief in the other world can rise, which may be further."""
    rises = about.readings["posterior_reversed"].value
    reached, without = beliefs(rises, 1 - about.arguments["prior"])
    told = f" Belief that {about.experiment.h0} can rise to "
    return Span(told), Span(reached, "risk"), Span("; without the release it would be "), Span(f"{without}.", "strong")


def unseen(about: Overview, choice: Choice) -> Said:
    """The warning beside a reading that hides most of what the chosen release tells; nothing where it does not."""
    if not about.hidden:
        return ()
    known = find_reading(choice.reading_name)
    base = frequency(float(known.floor(**choice.arguments)))
    belief, opposite = (about.readings[key].value for key in ("posterior", "posterior_reversed"))
    end, start, low = beliefs(belief, about.arguments["prior"], 1 - opposite)
    return (
        Span(f"▲ A guess that ignores the release already reaches {base}, so this limit on {known.label} sees less "),
        Span(f"than half of what the release tells: belief that {question(about.experiment).holds} can rise from "),
        Span(f"{start} to "),
        Span(end, "risk"),
        Span(" or fall to "),
        Span(low, "risk"),
        Span(". Limit the most certain belief (posterior) instead, or what is found at few false alarms (roc)."),
    )


def _spoken(choice: Choice) -> str:
    args = choice.arguments
    known = {
        "advantage": "the adversary's advantage over guessing",
        "fbeta": f"the best F-score (β = {args.get('beta', 1):g})",
        "delta": f"δ at ε = {args.get('epsilon', 0):g}",
        "epsilon": f"ε at δ = {small(args.get('delta', 0))}",
        "psi": "the sensitivity index ψ",
        "mu": f"μ over tests whose errors both are at least {small(args.get('level', 0))}",
        "renyi": f"the Rényi divergence of order {args.get('order', 2):g}",
        "kl": "the Kullback–Leibler divergence",
        "chernoff": "the Chernoff information",
    }
    return known.get(choice.reading_name, find_reading(choice.reading_name).label)
