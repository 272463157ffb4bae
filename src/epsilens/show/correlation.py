"""Correlated records in words: the sentence, the curve, the comparison, what each record adds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..data.correlation.estimation import DependenceModel
from ..data.correlation.intraclass import UpperEnd
from ..numerics.formatting import ceil_digits, floor_digits, frequencies
from ..results import join_words
from .charts import Chart
from .charts.findings import known_curve
from .document import (
    Document,
    Fact,
    Figure,
    Forms,
    Lead,
    Paragraph,
    Said,
    Section,
    Span,
    Table,
    Tone,
    flat,
    plain_table,
    said,
)
from .presenters import to_know
from .sentences import at_most, number
from .short_results import belief

if TYPE_CHECKING:
    from ..data.correlation.estimation import Correlation


#: A table: its title, its head and its rows.
Rows = tuple[str, list[str], list[list[str]]]
_MOST = 12
#: e to this power is about a million: beyond, a factor says no more than "certain".
_HUGE = math.log(1e6)


def _belief(c: Correlation, value: float) -> float:
    """What an even belief becomes (Laplace), or how often a guess is right (Gaussian); never quite certain."""
    return min(belief(value, c.objective), math.nextafter(1.0, 0.0))


def _factor(value: float) -> str:
    """By how much odds move."""
    return "more than a million" if value > _HUGE else ceil_digits(math.exp(value), 3)


def _record(c: Correlation, i: int) -> str:
    return "one member of a group" if c.related is not None else c.names[i]


def _known_words(c: Correlation, known: Sequence[int], values: Mapping[int, float]) -> str:
    """What an adversary knows, short enough for a sentence."""
    if not known:
        return "no other member" if c.related is not None else "no other record"
    if c.related is not None:
        return f"{len(known)} other member{'s' if len(known) > 1 else ''}"
    if len(known) == len(c.names) - 1:
        return "the other record" if len(known) == 1 else "all other records"
    shown = [c.names[i] + (f" (= {values[i]:g})" if i in values else "") for i in known]
    return join_words([*shown[:5], f"{len(shown) - 5} more"] if len(shown) > 6 else shown)


def _few_words(c: Correlation, known: Sequence[int]) -> str:
    """The same for a table with many rows: names only where they are few."""
    if c.related is None and 3 < len(known) < len(c.names) - 1:
        return f"{len(known)} others"
    return _known_words(c, known, {})


def _who(c: Correlation) -> str:
    """The worst adversary in words."""
    return f"who knows {_known_words(c, c.worst.known, c.worst.values or {})}"


def _adds(c: Correlation) -> bool:
    return c.worst.upper > c.independent * (1 + 1e-9)


def sentence(c: Correlation) -> str:
    """The finding, with independence beside it."""
    return flat(_finding(c))


def _finding(c: Correlation) -> Said:
    target = _record(c, c.worst.target)
    reached, alone, even = frequencies(_belief(c, c.worst.upper), _belief(c, c.independent), given=[0.5])
    most = at_most(reached, bound=not c.worst.complete)
    before, factor = Span(even, "number"), Span(_factor(c.worst.upper), "risk")
    if c.objective == "psi":
        told = [
            Span(f"Someone {_who(c)} guesses right for {most}"),
            Span(reached, "risk"),
            Span(f" between two values of {target}; a coin gets "),
            before,
        ]
        if not _adds(c):
            return (*told, Span(", and if the records were independent it would be the same."))
        return (*told, Span(", and if the records were independent it would be "), Span(alone, "number"), Span("."))
    becomes = (before, Span(" becomes "), Span(reached, "number"))
    if not _adds(c):
        return (
            Span(
                "Correlation adds nothing here: whatever someone knows, their odds about a record shift by a factor "
                "of at most "
            ),
            factor,
            Span(" ("),
            *becomes,
            Span(f"), as if the records were independent{_room(c)}."),
        )
    bound = "" if c.worst.complete else "at most "
    return (
        Span(f"Someone {_who(c)} can shift their odds about {target} by a factor of {bound}"),
        factor,
        Span(" ("),
        *becomes,
        Span(f"); if the records were independent it would be {_factor(c.independent)} ("),
        Span(alone, "number"),
        Span(")."),
    )


def _room(c: Correlation) -> str:
    """What the sample leaves open where the estimate adds nothing."""
    if c.interval.high <= c.independent * (1 + 1e-9):
        return ""
    return f"; that is the estimate, and the sample leaves room for a factor of {_factor(c.interval.high)}"


def _unit(c: Correlation) -> str:
    return "ψ" if c.objective == "psi" else "leakage ε"


def _comparison(c: Correlation) -> Rows:
    """The worst adversary between independence and group privacy."""
    what = "right guesses" if c.objective == "psi" else "50 of 100 becomes"
    up = f"upper end of the {100 * c.interval.confidence:g}% interval{_IF[c.kind]}"
    lines = [
        ("independent records", c.independent),
        ("worst adversary" + ("" if c.worst.complete else ", found"), c.worst.leakage),
        *([] if c.worst.complete else [("worst adversary, proven bound", c.worst.upper)]),
        (up, c.interval.high),
        ("group privacy, any records within their reach", c.group),
    ]
    rows = []
    for name, value in lines:
        shown = [name, _value(value)]
        if c.objective == "leakage":
            shown.append("> 10⁶" if value > _HUGE else ceil_digits(math.exp(value), 3))
        rows.append([*shown, frequencies(_belief(c, value))[0]])
    head = ["", _unit(c), *(["odds ×"] if c.objective == "leakage" else []), what]
    return "How it compares", head, rows


def _value(value: float) -> str:
    return f"{value:.4f}" if 5e-5 < value < 1e6 or value == 0 else f"{value:.4g}"


def _known(c: Correlation) -> Rows:
    rows = []
    for k, w in enumerate(c.by_known):
        who = _record(c, w.target) + (f", to someone who knows {_few_words(c, w.known)}" if k else "")
        rows.append([f"{k}: {who}", _value(w.leakage)])
    if len(rows) > 2 * _MOST:
        step = math.ceil(len(rows) / _MOST)
        rows = [row for k, row in enumerate(rows) if k % step == 0 or k == len(rows) - 1]
    return "Worst case against the number of known records", ["known: who is most exposed", _unit(c)], rows


def _contributions(c: Correlation) -> Rows | None:
    ranked = sorted(c.contributions.items(), key=lambda item: -item[1])
    if not _adds(c) or not ranked or c.related is not None:  # members of a group are alike
        return None
    rows = [[name, number(value) if abs(value) > 5e-13 else "0"] for name, value in ranked[:_MOST]]
    title = "Which records matter: by how much the worst falls when one is made independent"
    return title, ["record", "fall in " + _unit(c)], rows


def _remarks(c: Correlation) -> list[str]:
    said = [_how(c)]
    if c.related is not None:
        low, high = c.related.interval
        said.append(
            f"Two members of a group have the correlation {c.related.rho:.3g} ({low:.3g} to {high:.3g} "
            f"with {100 * c.interval.confidence:g}% confidence), over {c.related.groups:,} groups. "
            f"It is at most {high:.3g} with {100 * c.related.level:g}% confidence, {_HOLDS[c.related.method]}."
        )
    ends = f"{floor_digits(c.interval.low, 4)} to {ceil_digits(c.interval.high, 4)}"
    said.append(
        f"The table is a sample: with {100 * c.interval.confidence:g}% confidence the worst {_unit(c)} "
        f"is from {ends} ({c.interval.method}){_IF[c.kind]}; plan with the upper end{_ELSE[c.kind]}."
    )
    if c.kind is not DependenceModel.TABLE:
        said.append(_if_not(c))
    if c.kind is DependenceModel.NORMAL and c.objective == "leakage" and _adds(c):
        more, most = (ceil_digits(value / c.independent, 3) for value in (c.interval.high, c.group))
        said.append(
            f"To leak no more than independent records would, the noise must be {more} times as wide (that is, "
            f"ε {more} times smaller) if the records are jointly normal, the sampling error included; {most} times "
            "if they are only known to stay within their reach."
        )
    if c.kind is DependenceModel.NORMAL and c.interval.high > c.group * (1 + 1e-9):
        said.append(
            "This exceeds group privacy because normal records may move further than their reach; where values are "
            "really clamped to their bounds, group privacy holds."
        )
    return [*said, *c.notes]


#: What the upper end of the correlation within groups rests on.
_HOLDS = {
    UpperEnd.BOUNDED: "whatever the values between the bounds are like",
    UpperEnd.BINARY: "however the two values are spread over the groups",
    UpperEnd.SEEN: "if no value lies beyond those seen (give bounds, and it holds for any values between them)",
}
#: What the interval of the leakage rests on besides the sample.
_IF = {
    DependenceModel.NORMAL: " if the records are jointly normal",
    DependenceModel.TABLE: "",
    DependenceModel.CHAIN: " if each record depends on the one before it only",
}
_ELSE = {DependenceModel.NORMAL: " only then", DependenceModel.TABLE: "", DependenceModel.CHAIN: " only then"}


def _if_not(c: Correlation) -> str:
    """What is safe where the model is wrong."""
    table = "" if c.related is not None else ", or model='table' where records take a few values"
    return (
        f"The sample cannot tell whether that is so, and where it is not, the truth may lie above the upper end. Safe "
        f"for any records that stay within their reach is group privacy, {ceil_digits(c.group, 4)}: "
        f"{ceil_digits(c.group / c.independent, 3)} times what independent records leak{table}."
    )


def _name(c: Correlation) -> str:
    """A file, a bundled table or a URL by its name; a frame has none."""
    return c.table if any(mark in c.table for mark in ".:/#*") else "the table"


def _how(c: Correlation) -> str:
    certainty = "exact for the estimated model" if c.worst.complete else "the search stopped at the time limit"
    noise = "Gaussian noise, σ" if c.objective == "psi" else "Laplace noise, scale"
    model = {"normal": "jointly normal records", "table": "a joint table", "chain": "a Markov chain"}[c.kind]
    extra = ""
    if c.objective == "psi":
        extra = " What the adversary does not know counts as noise, which is an assumption about the data."
    return (
        f"{len(c.names)} records, {model} estimated from {c.rows:,} {c.unit} of {_name(c)}; {noise} {c.noise:g}; "
        f"{c.worst.method}, {c.worst.examined:,} examined, {certainty}.{extra}"
    )


def present(c: Correlation) -> Document:
    """The sentence, the comparison, the curve, which records matter, how it was computed."""
    made = [_comparison(c), *([_known(c)] if c.by_known else []), _contributions(c)]
    sections = [Section(rows[0], (_table(rows),)) for rows in made if rows is not None]
    if len(c.by_known) > 1:
        sections[1] = _curve(c)
    return Document(
        "Correlated records",
        "What correlation gives away",
        (Lead((_finding(c),)),),
        (*sections, *to_know(_remarks(c))),
        facts=(
            Fact("Members" if c.related is not None else "Records", f"{len(c.names)}"),
            Fact(c.unit.capitalize(), f"{c.rows:,}"),
            Fact("Model", {"normal": "normal", "table": "joint table", "chain": "Markov chain"}[c.kind]),
            Fact("Noise", ("Gaussian, σ " if c.objective == "psi" else "Laplace, scale ") + f"{c.noise:g}"),
        ),
        side=_name(c),
    )


def _table(rows: Rows) -> Table:
    title, head, lines = rows
    return plain_table(head, lines, title, wraps=True)


def _curve(c: Correlation) -> Section:
    note = "Each dot is the adversary who gains most among all who know that many records."
    if 0.04 * _top(c) < c.interval.high - c.worst.leakage <= _top(c):  # long enough to be seen, and on the chart
        note += f" The thin line ends at the upper end of the {100 * c.interval.confidence:g}% interval."
    if not _shows_group(c):
        note += f" Group privacy, {c.group:.3g}, is beyond the chart."
    known = _known(c)
    figure = Figure(partial(curve, c))
    return Section(known[0], (figure, Paragraph(said(note), Tone.NOTE, Forms.PAGE), _table(known)))


def _top(c: Correlation) -> float:
    """How high the chart must be, an interval out of all proportion left aside."""
    top = max(w.leakage for w in c.by_known)
    return max(top, c.interval.high if c.interval.high < 3 * top else 0.0)


def _shows_group(c: Correlation) -> bool:
    return c.group <= 1.6 * _top(c)


def curve(c: Correlation) -> Chart:
    """The largest leakage for each number of known records, between independence and group privacy."""
    return known_curve(
        [w.leakage for w in c.by_known],
        independent=c.independent,
        group=c.group if _shows_group(c) else None,
        top=_top(c),
        upper=c.interval.high,
        title="Worst ψ" if c.objective == "psi" else "Worst leakage, in ε",
    )
