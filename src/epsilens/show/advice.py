"""What to set: the instruction of a choice, what it achieves, and the warning where the limit sees too little."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..catalogue.parameters import PARAMETERS, Trend, symbol
from ..catalogue.readings import find_reading
from ..numerics.formatting import ceil_digits, floor_digits, frequencies, frequency, times
from .document import Said, Span
from .sentences import Question, beliefs, false_alarms, question
from .words import number, small

if TYPE_CHECKING:
    from ..calibration.choose import Choice


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


def consequence(choice: Choice, asked: Question) -> Said:
    """What the chosen value achieves: the reading, its baseline and the limit."""
    name, args = choice.reading_name, choice.arguments
    reader = " ".join(asked.who.lower().split()[:2])  # an adversary, or a defender
    phrases = {
        "success": f"{asked.who[0].lower()}{asked.who[1:]} then guesses correctly at most # {asked.asks}",
        "recall": f"at {false_alarms(args.get('alpha', 0))}, {reader} then finds at most # that {asked.holds}",
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
        *(_opposite(choice) if name == "posterior" else ()),
    )


def _opposite(choice: Choice) -> Said:
    """How far belief in the other world can rise, which may be further."""
    prior = choice.arguments["prior"]
    reached, without = beliefs(float(choice.experiment.reverse().posterior(1 - prior)), 1 - prior)
    told = f" Belief that {choice.experiment.h0} can rise to "
    return Span(told), Span(reached, "risk"), Span("; without the release it would be "), Span(f"{without}.", "strong")


def unseen(choice: Choice) -> Said:
    """The warning beside a reading that hides most of what the chosen release tells; nothing where it does not."""
    if not choice.unseen:
        return ()
    e, prior = choice.experiment, choice.arguments["prior"]
    base = frequency(float(find_reading(choice.reading_name).floor(**choice.arguments)))
    end, start, low = beliefs(float(e.posterior(prior)), prior, 1 - float(e.reverse().posterior(1 - prior)))
    label = find_reading(choice.reading_name).label
    return (
        Span(f"▲ A guess that ignores the release already reaches {base}, so this limit on {label} sees less than "),
        Span(f"half of what the release tells: belief that {question(e).holds} can rise from {start} to "),
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
