"""The sheet for those who decide: one page of paper that says what ε is, what is proposed, what it means for a person
beside what would hold without the release, who is affected, and what it rests on.

The numbers are those of the ε that the verdict names: the planned one where it stands, else the one to choose instead.
True answers are not on it, and no name of a group.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from ...assessment.verdict import Standing
from ...catalogue.readings import find_reading
from ...data.queries import Noise
from ...numerics.formatting import ceil_digits, frequencies, times
from ...worlds import Relation
from ..document import (
    Cell,
    Column,
    Document,
    Forms,
    Group,
    IconArray,
    Icons,
    Items,
    Kind,
    Lead,
    Paragraph,
    Said,
    Section,
    Span,
    Status,
    Table,
    Tone,
    plain_table,
    said,
)
from ..scan import alone
from ..sentences import cost
from .phrases import (
    cautions,
    contradiction,
    disclosure,
    exposure,
    few_people,
    headline,
    kept_account,
    phrase,
    status,
    told_beside,
)
from .tables import FREQUENCIES, given, limit, percent, planned, reached, risk, share, title

if TYPE_CHECKING:
    from ...assessment.assess import Assessment
    from ...assessment.risks import AdversaryRisk


#: What a page of paper has room for.
_MOST_ADVERSARIES, _MOST_QUERIES, _MOST_CAUTIONS = 5, 5, 2
_LONGEST = 70
#: An ε whose factor is beyond this promises next to nothing by itself.
_FACTOR = 1e6


@dataclass(frozen=True)
class _At:
    """The ε the sheet speaks of, and what each risk is there, by its adversary."""

    epsilon: float
    risks: dict[str, float]
    instead: bool = True

    @property
    def equation(self) -> str:
        """``ε = 0.48``, never broken into two lines."""
        return f"ε\u00a0=\u00a0{planned(self.epsilon)}"


def _spoken_of(a: Assessment) -> _At:
    """The ε that the verdict names; the planned one where it names none."""
    at = a.verdict.instead
    if at is None:
        return _At(a.epsilon, {r.key: r.planned for r in a.risks}, instead=False)
    over = a.verdict.standing is Standing.OVER
    read = {r.key: r.recommended if over else r.needed for r in a.risks}
    return _At(at, {r.key: r.planned if (x := read[r.key]) is None else x for r in a.risks})


def board(a: Assessment, day: date | None = None) -> Document:
    """The sheet; ``day`` is today unless given."""
    day, at = day or date.today(), _spoken_of(a)
    told = (*cautions(a)[:_MOST_CAUTIONS], *((contradiction(a),) if a.verdict.apart else ()))
    warned = [Paragraph(said(f"▲ {text}"), Tone.WARNING) for text in told if text]
    return Document(
        a.release.title,
        "For decision",
        (Status(status(a), a.verdict.exceeded), Lead((_meaning(a, a.leading, at),)), *warned, _pictures(a, at)),
        (_epsilon(a, at), _answers(a, at), _adversaries(a, at), _affected(a, at), _rests(a, at), _signed(at)),
        headline=headline(a),
        side=_short(a.release.title),
        tab=f"{headline(a)} · {a.release.title}",
        aside=f"{day.day} {day:%B %Y} · for internal use",
        report=True,
        sheet=True,
    )


def _short(text: str, most: int = _LONGEST) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _meaning(a: Assessment, r: AdversaryRisk, at: _At) -> Said:
    """What the leading adversary reaches, beside what they would reach without the release and the limit."""
    value = at.risks[r.key]
    start = Span(f"With {at.equation}, ")
    if r.reading not in FREQUENCIES:
        found = Span(risk(r.reading, value, limit=r.limit), "strong")
        beside = f" in “{r.name}”. Without the release it would be {given(r.reading, r.baseline)}."
        return (start, Span(f"the {find_reading(r.reading).label} is "), found, Span(beside))
    now = reached(a, r, value)
    guessed = r.reading not in ("posterior", "precision")
    over = r.limit is not None and value > r.limit
    told, without = told_beside(r, now, guessed=guessed)
    before, after, otherwise = phrase(a, r)
    most = "" if r.exact or " than " in told else "at most "
    tail = [] if r.limit is None else [Span(" The limit is "), Span(f"{limit(r.reading, r.limit)} of 100.", "strong")]
    middle = (Span(told, "risk" if over else "strong"), Span(f"{after}. {otherwise} "), Span(f"{without}.", "strong"))
    return (start, Span(before + most), *middle, *tail)


def _pictures(a: Assessment, at: _At) -> Icons:
    """100 guesses without the release and with it."""
    first = a.leading
    r = first if first.reading in FREQUENCIES else next(r for r in a.risks if r.key == "membership")
    value = reached(a, r, at.risks[r.key])
    with_it, without = frequencies(value, given=[r.baseline])
    right = " right" if r.reading == "success" else ""
    over = r.limit is not None and value > r.limit
    before = (Span("Without the release: "), Span(without, "number"), Span(right))
    after = (Span(f"With {at.equation}: "), Span(with_it, "risk" if over else "number"), Span(right))
    note = "Each figure is one guess of 100 about one worst-placed person." if right else f"Of 100. {r.question}"
    return Icons(
        (IconArray(before, r.baseline, key="before"), IconArray(after, r.baseline, value, r.limit, key="after")), note
    )


def _epsilon(a: Assessment, at: _At) -> Section:
    """What ε is, and what this one says: P(S) ≤ e^ε·Q(S) + δ for everything S that one could look for."""
    unit, data = a.release.data.unit, a.release.data
    whose = f"the records of everyone with the same {unit}" if unit else "one person’s records"
    lone = not (unit or data.person)
    whose = "one row" if lone else whose
    replaced = a.release.mechanism.neighbours is Relation.REPLACE
    other = "with another instead" if replaced else "without it" if lone else "without them"
    first = (
        "ε (epsilon) measures how much what is published may depend on any one person. Random noise is added to every "
        "answer: the smaller ε, the more noise, so that people are better hidden and answers are less accurate."
    )
    names = a.figures[at.epsilon].names
    if names == 1:
        then = "Names of groups that come from the data are not hidden by any ε."
    elif (factor := math.exp(min(at.epsilon, 700.0))) > _FACTOR:
        then = f"At {at.equation} this bound is beyond a factor of a million: by itself it promises next to nothing."
    else:
        gaussian = a.release.mechanism.noise is Noise.GAUSSIAN
        delta = names + (a.release.mechanism.delta or 0.0 if gaussian else 0.0)
        plus = f", plus at most {cost(delta)} (δ)" if delta else ""
        then = (
            f"At {at.equation} nothing that one could look for in the answers is more than "
            f"{_factor(factor)} times as likely with {whose} as {other}{plus}."
        )
    return Section("What ε is", (Paragraph(said(f"{first} {then}")),))


def _factor(factor: float) -> str:
    """A factor, never below it.

    >>> _factor(1.6160744), _factor(2980.958)
    ('1.62', '2,990')
    """
    up = ceil_digits(factor, 3)
    return f"{int(float(up)):,}" if factor >= 1000 else up


# -- what is published, and who could learn what ------------------------------------------------------------------


def _answers(a: Assessment, at: _At) -> Section:
    """The queries, and how far from the truth they may be: as shares, not with the true answers."""
    tolerated = a.release.error_limit
    heads = [f"With {at.equation}, in 95 of 100 releases", "Within", *(["Allowed"] if tolerated is not None else [])]
    rows = []
    for q in a.queries[:_MOST_QUERIES]:
        told = a.figures[at.epsilon].queries[q.index]
        relative = told.relative
        found = f"±{share(relative, tolerated)}".replace("±<", "<")
        if not math.isfinite(relative):
            found = "not always published" if q.typical else "every answer is 0"
        over = tolerated is not None and told.too_noisy
        allowed = [] if tolerated is None else [percent(tolerated)]
        rows.append([_short(title(a, q)), f"{'▲ ' if over else ''}{found}", *allowed])
    table = plain_table(heads, rows, "What is published", wraps=True)
    left = len(a.queries) - len(rows)
    more = (Paragraph(said(f"{left} more in the report."), Tone.NOTE),) if left else ()
    return Section("What is published", (table, *more))


def _adversaries(a: Assessment, at: _At) -> Section:
    columns = (
        Column("Of 100, about one worst-placed person", Kind.TEXT),
        Column("Without it"),
        Column(f"With {at.equation}"),
        Column("Limit"),
    )
    rows = tuple(
        (
            Cell(_short(_asked(r), 90)),
            Cell(given(r.reading, r.baseline)),
            Cell(_marked(r, at)),
            Cell("–" if r.limit is None else limit(r.reading, r.limit)),
        )
        for r in a.risks[:_MOST_ADVERSARIES]
    )
    left = len(a.risks) - len(rows)
    more = (Paragraph(said(f"{left} more in the report."), Tone.NOTE),) if left else ()
    return Section("Who could learn what", (Table(columns, (Group(rows),), "Who could learn what"), *more))


def _asked(r: AdversaryRisk) -> str:
    """The adversary and what they ask; how they go about it is in the report."""
    asked, mark, _ = r.question.partition("?")
    return f"{r.name}: {asked}{mark}" if mark else r.name


def _marked(r: AdversaryRisk, at: _At) -> str:
    value = at.risks[r.key]
    over = r.limit is not None and value > r.limit
    return f"{'▲ ' if over else ''}{risk(r.reading, value, limit=r.limit, baseline=r.baseline)}"


# -- who is affected, and what it rests on ------------------------------------------------------------------------


def _affected(a: Assessment, at: _At) -> Section:
    """The people of the table: the worst-placed, the typical, several together, and those who stand alone in it."""
    many = "" if a.people is None else f"{a.people:,} people are in the table. "
    first = f"{many}The numbers above are those of whoever is placed worst, attacked by somebody who knows all others."
    found = a.typical_then if at.instead else a.typical
    if found is not None and found.people > 1:
        middle, largest = exposure(a, found)
        test = "the membership test is right"
        if a.release.mechanism.neighbours is Relation.REPLACE:
            test = "their record is told right from one that counts in no answer"
        first += f" For a typical person {test} {middle}, {largest} for the most exposed."
    made = [first]
    household = a.figures[at.epsilon].together if a.together else ()
    if household and a.release.mechanism.neighbours is not Relation.REPLACE:
        told = times(*(p for _, p in household), per="of")
        five = next((text for (k, _), text in zip(household, told, strict=True) if k == 5), "")
        made.append(f"Whether five people together, a household say, are all in it is guessed right {five}.")
    if a.scan is not None and a.scan.isolated:
        alone_in, where = alone(a.scan)
        made.append(f"{alone_in} {where} Questions outside this plan could single them out.")
    outside = "People who are not in the table are not exposed by it; what it says in general may be true of them too."
    made += [*few_people(a)[:1], outside]
    return Section("Who is affected", (Items(tuple(made)),))


def _rests(a: Assessment, at: _At) -> Section:
    """What the numbers take for granted, in as few words as there is room for."""
    before = kept_account(a) if a.room is not None else "Other releases about the same people are not counted here."
    alike = (
        "Records of other people are taken to say nothing about a person, unless the plan states how alike they are."
    )
    first, then = disclosure(a, "sheet", "counts", larger=False)
    guarantee = a.guarantee_then if at.instead else a.guarantee
    promise = (f"What the release will say of itself: {guarantee}",) if guarantee else ()
    checked = "What the noise allows can be checked without our software: the report holds its certificate."
    others = (before, alike, f"{first} {then}")
    return Section("What it rests on", (Items((*promise, *others, *([checked] if a.certificate else []))),))


def _signed(at: _At) -> Section:
    """Room to write, on paper."""
    chosen = f"{at.equation}" if at.instead else f"{at.equation}, as planned"
    row = (f"☐ publish with {chosen}\n☐ change the plan\n☐ do not publish", "", "", "")
    table = plain_table(("", "Name", "Date", "Signature"), (row,), "Decision", wraps=True)
    return Section("Decision", (table,), forms=Forms.PAGE)
