"""Results that come down to a sentence: vectors, correlated records, what an adversary knows, mistakes and observes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..numerics.formatting import floor_digits, frequencies, times
from ..results import join_words
from .document import Document, Fact, Facts, Forms, Paragraph, Tone, said
from .words import at_most, number, small

if TYPE_CHECKING:
    from ..attacks.composite_knowledge import WorstPair
    from ..attacks.correlated.records import RecordContribution, Worst
    from ..attacks.correlated.temporal_leakage import Temporal
    from ..attacks.knowledge import Knowledge
    from ..attacks.misspecification import Mistaken, Observed
    from ..mechanisms.composition import Vector
    from ..mechanisms.limits import Clt


_KIND = "In a sentence"
Result = TypeVar("Result")


def _told(title: str, sentence: str, *facts: Fact) -> Document:
    more = (Facts(facts),) if facts else ()
    return Document(title, _KIND, (Paragraph(said(sentence)), *more))


def _only(title: str, sentence: Callable[[Result], str]) -> Callable[[Result], Document]:
    """The presenter of a result that is told by its sentence alone."""
    return lambda result: _told(title, sentence(result))


# -- vectors ------------------------------------------------------------------------------------------------------


def vector(v: Vector) -> str:
    """The advantage of the product test beside the scalar's and the paper's."""
    if v.experiment.parameters["noise"] == "gaussian":
        return (
            f"With {len(v.losses)} coordinates of normal noise an adversary's advantage is "
            f"{number(float(v.experiment.advantage()))}: they add up to one of ψ = {v.experiment.psi():.4g}."
        )
    best, one, claimed = (float(e.advantage()) for e in (v.experiment, v.scalar, v.claimed))
    least = "" if v.exact else "at most "
    return (
        f"With {len(v.losses)} noisy coordinates an adversary's advantage is {least}{number(best)}; "
        f"with everything in one it would be {number(one)}, and the paper's bound says {number(claimed)}."
    )


of_vector = _only("A noisy vector", vector)


# -- correlated records -------------------------------------------------------------------------------------------


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


# -- approximations -----------------------------------------------------------------------------------------------


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


# -- what an adversary knows --------------------------------------------------------------------------------------


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


# -- attacks ------------------------------------------------------------------------------------------------------


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
