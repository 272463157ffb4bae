"""Who of n is missing, in words: how sure an attacker can become, beside a blind guess."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from ..numerics.formatting import ceil_digits, floor_digits, thousands
from .charts.findings import certainty_chart, legend
from .document import Cell, Column, Document, Figure, Forms, Group, Kind, Lead, Paragraph, Section, Table, Tone, said
from .presenters import Report, to_know
from .words import at_most, number, small

if TYPE_CHECKING:
    from ..attacks.identification import Identification


_LADDER = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)


def _percent(p: float) -> str:
    """A share of certainty, rounded up; 100% only for certainty."""
    if p >= 1:
        return "100%"
    text = ceil_digits(100 * p, 2)
    return "more than 99%" if float(text) >= 100 else f"{text}%"


def sentence(found: Identification) -> str:
    """How sure the attacker can become, and what a blind guess gives.

    >>> from epsilens.attacks.identification import identify
    >>> print(sentence(identify(n=120, value_range=(0, 60), sensitivity=121, epsilon=5.0)))
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
            return (
                f"{start} {n} people, an attacker who knows everyone's value then names the missing one "
                f"{at_most(_percent(found.success or 0.0))}{_percent(found.success or 0.0)} of the time; {blind}."
            )
        lead = f"{start} {n} people, an attacker who knows everyone's value could then become"
        lead += f" {at_most(_percent(found.certainty))}".rstrip()
    return f"{lead} {_percent(found.certainty)} sure who is missing; {blind}."


def report(found: Identification) -> Report:
    """The report of the command."""
    return Report(present(found), {**found.to_dict(), "command": ""})


def present(found: Identification) -> Document:
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
        (Lead((said(sentence(found)),)), Paragraph(said(_setting(found)), Tone.HOW)),
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
    from ..attacks.identification import lee_clifton_bound

    ratio = f.spread / f.sensitivity
    rows = tuple((Cell(f"{e:g}"), Cell(_percent(float(lee_clifton_bound(f.n, e, ratio))))) for e in _LADDER)
    return Table((Column("ε", Kind.NAME), Column("Bound on certainty")), (Group(rows),), "At other ε")


def _epsilon(value: float) -> str:
    return "every ε" if math.isinf(value) else floor_digits(value)
