"""Results that come down to a sentence: vectors, correlated records, what an adversary knows, mistakes and observes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..numerics.formatting import ceil_digits, floor_digits, frequencies, thousands, times
from ..results import join_words
from .charts.findings import certainty_chart, legend
from .document import (
    Cell,
    Code,
    Column,
    Document,
    Fact,
    Facts,
    Figure,
    Fold,
    Forms,
    Group,
    Kind,
    Lead,
    Paragraph,
    Section,
    Table,
    Tone,
    said,
)
from .presenters import CHECKED, Report, to_know
from .sentences import at_most, number, small

if TYPE_CHECKING:
    from ..attacks.composite_knowledge import WorstPair
    from ..attacks.correlated.records import RecordContribution, Worst
    from ..attacks.correlated.temporal_leakage import Temporal
    from ..attacks.identification import Identification
    from ..attacks.knowledge import Knowledge
    from ..attacks.misspecification import Mistaken, Observed
    from ..certificate import Certificate
    from ..mechanisms.composition import Vector
    from ..mechanisms.training import Clt


_KIND = "In a sentence"
Result = TypeVar("Result")


def _told(title: str, sentence: str, *facts: Fact) -> Document:
    more = (Facts(facts),) if facts else ()
    return Document(title, _KIND, (Paragraph(said(sentence)), *more))


def _only(title: str, sentence: Callable[[Result], str]) -> Callable[[Result], Document]:
    """The presenter of a result that is told by its sentence alone."""
    return lambda result: _told(title, sentence(result))


def vector(v: Vector) -> str:
    """The advantage of the product test beside the scalar's and the paper's."""
    if v.experiment.parameters["noise"] == "gaussian":
        return (
            f"With {len(v.losses)} coordinates of normal noise an adversary's advantage is "
            f"{number(v.advantages[0])}: they add up to one of ψ = {v.psi:.4g}."
        )
    best, one, claimed = v.advantages
    least = "" if v.exact else "at most "
    return (
        f"With {len(v.losses)} noisy coordinates an adversary's advantage is {least}{number(best)}; "
        f"with everything in one it would be {number(one)}, and the paper's bound says {number(claimed)}."
    )


of_vector = _only("A noisy vector", vector)


def certificate_sentence(c: Certificate) -> str:
    """What is claimed, and how it is checked."""
    name = {"delta": "δ", "epsilon": "ε", "success": "The share of right guesses", "advantage": "The advantage"}
    name["fnr"] = "The share missed"
    at = {"delta": "ε", "epsilon": "δ", "fnr": "a share of false alarms of"}
    asked = "" if c.at is None else f" at {at[c.reading]}{' = ' if c.reading != 'fnr' else ' '}{c.at:g}"
    ends = f"is {c.lower!r}" if c.lower == c.upper else f"lies between {c.lower!r} and {c.upper!r}"
    return f"{name[c.reading]}{asked} {ends}. {CHECKED}"


def certificate_fold(c: Certificate | None) -> tuple[Fold, ...]:
    """The claim and its file, behind a summary; nothing where there is none."""
    return () if c is None else (Fold("How this can be checked without our software", _certificate_blocks(c)),)


def of_certificate(c: Certificate) -> Document:
    """The claim, and the file that the checker reads."""
    return Document("A certificate", _KIND, _certificate_blocks(c))


def _certificate_blocks(c: Certificate) -> tuple[Paragraph, Code]:
    return Paragraph(said(certificate_sentence(c))), Code(c.to_json(), command=False, forms=Forms.ALL)


def belief(value: float, objective: str) -> float:
    """An even belief after leakage ℓ is at most 1/(1+e^{−ℓ}); at distance ψ the best guess is right with Φ(ψ/2)."""
    if objective == "psi":
        return 0.5 * math.erfc(-value / (2 * math.sqrt(2)))
    return 1 / (1 + math.exp(-value))


def worst(w: Worst) -> str:
    """The worst adversary, beside what independent records would give."""
    beliefs = [belief(w.upper, w.objective)]
    if w.independent is not None:
        beliefs.append(belief(w.independent, w.objective))
    reached, *alone, coin = frequencies(*beliefs, given=[0.5])
    who = f"who knows {_known(w)}" if w.known else "who knows no other record"
    target = w.name_of(w.target)
    most = at_most(reached, bound=not w.complete)
    text = f"For someone {who}, an even belief ({coin}) about {target} can become {most}{reached}"
    if w.objective == "psi":
        right = times(*beliefs, given=[0.5], per="of")[0]
        text = f"Someone {who} guesses right {most}{right} between two values of {target}; a coin gets {coin}"
    if alone:
        text += f"; if records were independent, {alone[0]}"
    if not w.complete:
        text += " (a proven bound: the search ended before it was exact)"
    return text + "."


def _known(w: Worst) -> str:
    values = {} if w.values is None else w.values
    shown = [w.name_of(i) + (f" = {values[i]:g}" if i in values else "") for i in w.known]
    return f"{', '.join(shown[:5])} and {len(shown) - 5} more" if len(shown) > 6 else join_words(shown)


def of_worst(w: Worst) -> Document:
    """The worst adversary, and how it was found."""
    unit = "ψ" if w.objective == "psi" else "leakage"
    bound = "exact" if w.complete else f"at most {w.upper:.6g}"
    told = said(f"{worst(w)} ({unit} {w.leakage:.6g}, {bound}; {w.method})")
    seen = Paragraph(said(f"{w.examined:,} examined"), Tone.NOTE, Forms.PAGE | Forms.NOTEBOOK)
    return Document("The worst adversary", _KIND, (Paragraph(told), seen))


def of_contribution(c: RecordContribution) -> Document:
    """What one record's correlations add."""
    verb = "add" if c.contribution >= 0 else "take away"
    return _told(
        "What one record adds",
        f"the correlations of {c.name} {verb} {abs(c.contribution):.4g} ({c.leakage:.4g} with them, "
        f"{c.without:.4g} without)",
    )


def of_temporal(t: Temporal) -> Document:
    """The largest leakage over time."""
    k = int(np.argmax(t.total))
    own = float(t.epsilon[k])
    return _told(
        "Releases over time",
        f"Someone who sees all {t.total.size} releases learns at most {t.total[k]:.6g} nats about the value "
        f"at time {k}; that release alone gives {own:.6g}. The odds between two values change by a factor of at "
        f"most {math.exp(min(float(t.total[k]), 700.0)):.4g}.",
    )


def of_clt(c: Clt) -> Document:
    """An approximation beside what is proven."""
    low, high = c.bracket
    side = "more" if c.error > 0 else "less"
    return _told(
        "An approximation",
        f"An approximation, not a guarantee: ψ = {c.psi:.6g}, and {abs(c.error):.1%} {side} than the worst case.",
        *(Fact(f"ε by {name}", f"{value:.6g}") for name, value in c.epsilons.items()),
        Fact("proven", f"[{low:.6g}, {high:.6g}]"),
    )


def knowledge(k: Knowledge) -> str:
    """The prior and where it comes from."""
    most = "at most " if k.direction == "upper" and k.odds <= 1 else ""
    most = "at least " if k.direction == "upper" and k.odds > 1 else most
    related = ", as long as the related records are known to them or are not in the data" if k.related else ""
    return (
        f"The adversary's prior is {most}{_probability(k.prior)}, from {k.because}; "
        f"it moves their odds, not how well the release tells the two worlds apart{related}."
    )


def _probability(p: float) -> str:
    text = f"{p:.4g}"
    return text if float(text) < 1 else f"{p:.12g}"


of_knowledge = _only("What the adversary knows", knowledge)


def pair(p: WorstPair) -> str:
    """Which pair, in words."""
    far = "" if p.shift is None else f", {p.shift:g} apart in the answer"
    return f"The values {p.values[0]} and {p.values[1]} are easiest to tell apart{far}."


of_pair = _only("Two values", pair)


def mistaken(m: Mistaken) -> str:
    """The cost of the mistake in words."""
    if np.ndim(m.success):
        return f"{np.size(m.success)} mistaken adversaries: read success beside best_success."
    with_it, best, without = times(float(m.success), float(m.best_success), given=[float(m.baseline)], per="of")
    return (
        f"An adversary who believes a prior of {float(m.believed_prior):.4g} is right {with_it}; "
        f"one who knows it is {float(m.prior):.4g} is right {best}, and without the release {without}."
    )


of_mistaken = _only("A mistaken adversary", mistaken)


def observed(o: Observed) -> str:
    """The losses that an observed attack is consistent with."""
    if np.ndim(o.laplace):
        return f"{np.size(o.laplace)} observed attacks: read laplace, gaussian, pure and approximate."
    point = f"true-positive rate {float(o.tpr):.4g} at false-positive rate {float(o.fpr):.4g}"
    if o.pure == 0:
        return f"An attack with {point} is no better than chance: it is consistent with any ε."
    flipped = " (turned round, for it was worse than chance)" if o.flipped else ""
    if math.isinf(float(o.pure)):
        least = "" if math.isinf(float(o.approximate)) else f"; allowing δ = {small(o.delta)}, ε is at least "
        least += _down(float(o.approximate)) if least else ""
        return f"An attack with {point}{flipped} is never wrong on one side: no finite ε allows it{least}."
    return (
        f"An attack with {point}{flipped} needs at least ε = {_down(float(o.pure))} from any ε-DP release, "
        f"ε = {_down(float(o.laplace))} from Laplace noise, ψ = {_down(float(o.gaussian))} from normal noise."
    )


of_observed = _only("An observed attack", observed)


def _down(value: float) -> str:
    return "∞" if math.isinf(value) else floor_digits(value)


# Who of n is missing, in words: how sure an attacker can become, beside a blind guess.


def _certainty_percent(p: float) -> str:
    """A share of certainty, rounded up; 100% only for certainty."""
    if p >= 1:
        return "100%"
    text = ceil_digits(100 * p, 2)
    return "more than 99%" if float(text) >= 100 else f"{text}%"


def identification_sentence(found: Identification) -> str:
    """How sure the attacker can become, and what a blind guess gives.

    >>> from epsilens.attacks.identification import identify
    >>> print(identification_sentence(identify(n=120, value_range=(0, 60), sensitivity=121, epsilon=5.0)))
    Among 120 people, an attacker who knows everyone's value could become 9.2% sure who is missing; a blind guess gives 1 of 120 (0.83%).
    """  # noqa: E501 - one sentence, on one line
    n = thousands(found.n)
    blind = f"a blind guess gives 1 of {n} ({floor_digits(100 * found.baseline, 2)}%)"
    lead = f"Among {n} people, an attacker who knows everyone's value could become"
    if found.chosen and found.at_most is not None:
        start = (
            "Every ε keeps this limit: among"
            if found.largest_epsilon == math.inf
            else f"Use ε = {floor_digits(found.epsilon)} or less: among"
        )
        if found.reading == "success":
            shown = _certainty_percent(found.success or 0.0)
            return (
                f"{start} {n} people, an attacker who knows everyone's value then names the missing one "
                f"{at_most(shown)}{shown} of the time; {blind}."
            )
        lead = f"{start} {n} people, an attacker who knows everyone's value could then become"
        lead += f" {at_most(_certainty_percent(found.certainty))}".rstrip()
    return f"{lead} {_certainty_percent(found.certainty)} sure who is missing; {blind}."


def identification_report(found: Identification) -> Report:
    """The report of the command."""
    return Report(of_identification(found), {**found.to_dict(), "command": ""})


def of_identification(found: Identification) -> Document:
    """The sentence, the setting, the picture, the tables, what to know."""
    sections = [
        Section(
            "How it grows with ε",
            (Figure(partial(certainty_chart, found)), Paragraph(said(legend(found)), Tone.NOTE, Forms.PAGE)),
            forms=Forms.PAGE,
        ),
        Section("In numbers", (_numbers(found),), silent=True),
    ]
    if not found.curve:
        del sections[0]
    if found.noise == "laplace":
        sections.append(Section("At other ε", (_ladder(found),), forms=Forms.KEPT))
    return Document(
        "Who is missing?",
        "One of n people",
        (Lead((said(identification_sentence(found)),)), Paragraph(said(_setting(found)), Tone.HOW)),
        (*sections, *to_know(found.notes)),
    )


def _setting(f: Identification) -> str:
    noise = "Laplace noise" if f.noise == "laplace" else f"Normal noise, δ = {small(f.delta or 0.0)}"
    return (
        f"{noise} at ε = {floor_digits(f.epsilon)} on a {f.query} of sensitivity {f.sensitivity:.6g}; "
        f"with someone else missing, the answer moves by up to {f.spread:.6g}."
    )


def _numbers(f: Identification) -> Table:
    """What, its value, in words; a belief about one end is part of the row above it."""
    rows = [("Blind guess", number(f.baseline), f"One of {thousands(f.n)}, all equally likely.")]
    if f.posterior is not None:
        rows += [
            ("Most certain belief", number(f.posterior), f"About {f.who}."),
            ("  of the largest value", number(f.largest or 0.0), "If the answer is as low as it gets."),
            ("  of the smallest value", number(f.smallest or 0.0), "If the answer is as high as it gets."),
        ]
    rows.append(("Bound from n and range", number(f.bound), "Lee and Clifton: holds for any values so far apart."))
    if f.success is not None:
        rows.append(("Average success", number(f.success), "How often the likeliest person is the missing one."))
    if f.at_most is not None:
        kept = "Exceeded at this ε." if f.exceeded else "Kept at this ε."
        rows.append((f"Limit on the {f.reading}", number(f.at_most), kept))
    if f.largest_epsilon is not None:
        how = "Exact for these values." if f.from_values else "By the bound."
        rows.append(("Largest ε", _epsilon(f.largest_epsilon), how))
    if f.epsilon_by_bound is not None and f.from_values:
        rows.append(("Largest ε by the bound", _epsilon(f.epsilon_by_bound), "Needs only n and the range."))
    columns = (
        Column("What", Kind.NAME, plain=""),
        Column("Value", Kind.VALUE, plain=""),
        Column("In words", Kind.WORDS, plain=""),
    )
    made = tuple((Cell(what.strip(), plain=what), Cell(value), Cell(words)) for what, value, words in rows)
    return Table(columns, (Group(made),))


def _ladder(f: Identification) -> Table:
    """The bound at a few ε, to see how it grows."""
    rows = tuple((Cell(f"{e:g}"), Cell(_certainty_percent(bound))) for e, bound in f.ladder)
    return Table((Column("ε", Kind.NAME), Column("Bound on certainty")), (Group(rows),), "At other ε")


def _epsilon(value: float) -> str:
    return "every ε" if math.isinf(value) else floor_digits(value)
