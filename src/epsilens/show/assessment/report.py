"""The report of an assessment: the instruction, the picture, who could learn what, the curves, who can be isolated, how
accurate the answers are, what others used, what was assumed, how to reproduce.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from ...catalogue.deployments import SOURCE
from ...data.scan.scan import DISCLOSURE as SCAN_DISCLOSURE
from ...numerics.formatting import distinguishable, frequencies
from ...worlds import Relation
from ..charts import icons
from ..charts.assessment import MOST_GROUPS, accuracy_curve, precedent_strip, risk_curve, simulated, simulated_query
from ..charts.findings import known_curve
from ..document import (
    Cell,
    Code,
    Column,
    Document,
    Fact,
    Facts,
    Figure,
    Figures,
    Fold,
    Forms,
    Group,
    IconArray,
    Icons,
    Items,
    Kind,
    Lead,
    Paragraph,
    Part,
    Section,
    Span,
    Status,
    Table,
    Tone,
    plain_table,
    said,
)
from ..scan import alone, population
from ..words import people_of_100
from .data import release_values
from .labels import FREQUENCIES, error, facts, group_name, planned, risk, share, title, value
from .reach import reached, together
from .split import split_section
from .tables import (
    accuracy_table,
    combinations,
    error_parts,
    hidden_sentence,
    hidden_table,
    relation,
    relatives_sentence,
    relatives_table,
    risk_note,
    risk_table,
    wide_bounds,
)
from .words import (
    cautions,
    contradiction,
    disclosure,
    few_people,
    headline,
    kept_account,
    lead,
    proposed,
    second_name,
    share_of_people,
    status,
    unseen,
)

if TYPE_CHECKING:
    from ...assessment.accuracy import QueryAccuracy
    from ...assessment.assess import Assessment
    from ...assessment.risks import AdversaryRisk


_MOST_LINES = 6  # queries whose curve is listed
_MOST_GROUPS = 200  # groups whose error is listed
_PROPOSED = "Bounds or limits lose more than the noise hides. These would lose less; choosing them looks at the data:"
_NUMBERS = "The numbers behind this picture"


def present(a: Assessment, day: date | None = None) -> Document:
    """The whole report; ``day`` is today unless given."""
    day = day or date.today()
    made = (_who, _ledger, _curves, _isolation, _accuracy, split_section, _related, _tampering, _others)
    sections = [section(a) for section in made]
    return Document(
        a.release.title,
        "Assessment of a planned release",
        (
            Status(status(a), a.verdict.exceeded),
            Lead(lead(a)),
            *(Paragraph(said(f"▲ {text}"), Tone.WARNING) for text in cautions(a)),
            _pictures(a),
        ),
        (*(section for section in sections if section is not None), *_assumed(a), _reproduce(a)),
        headline=headline(a),
        facts=tuple(Fact(name, text) for name, text in facts(a)),
        tab=f"{headline(a)} · {a.release.title}",
        aside=f"{day.day} {day:%B %Y} · for internal use",
        footer="Made with epsilens. Every number here is in the JSON form of this report.",
        report=True,
    )


def _ledger(a: Assessment) -> Section | None:
    if a.room is None:
        return None
    return Section("What was released before", (Paragraph(said(kept_account(a))),))


# -- the picture --------------------------------------------------------------------------------------------------


def _pictured(a: Assessment) -> AdversaryRisk:
    """The risk that the icon arrays draw: the leading one if it is a frequency, else the membership test."""
    first = a.leading
    return first if first.reading in FREQUENCIES else next(r for r in a.risks if r.key == "membership")


def _pictures(a: Assessment) -> Icons:
    r, at = _pictured(a), a.verdict.alternative
    right = " right" if r.reading == "success" else ""
    now = reached(a, r, r.planned)
    values = [now, *([] if at is None or r.recommended is None else [r.recommended])]
    # Each by itself, as its own sentence tells it: a picture of 100 has no thousandths.
    shown = [frequencies(value, given=[r.baseline])[0] for value in values]
    first = (Span(f"Planned, ε = {planned(a.epsilon)}: "), Span(shown[0], "risk" if r.over else "number"), Span(right))
    arrays = [IconArray(first, r.baseline, now, r.limit, key="planned")]
    if at is not None and r.recommended is not None:
        caption = (Span(f"{second_name(a)}, ε = {planned(at)}: "), Span(shown[1], "number"), Span(right))
        arrays.append(IconArray(caption, r.baseline, r.recommended, r.limit, key="second"))
    if r.key == "membership" and r.reading == "success":
        prior = share_of_people(a.release.adversary.prior)
        note = f"Each figure is one guess of 100 about one worst-placed person, who is in the table in {prior}."
        if a.release.mechanism.neighbours is Relation.REPLACE:
            note = "Each figure is one guess of 100 about which of two records is one worst-placed person’s."
    elif r.reading == "success":
        note = "Each figure is one guess of 100 about one worst-placed person."
    else:
        note = f"Of 100. {r.name}: {r.question}"
    if icons.filled(r.planned, r.baseline) == icons.filled(r.baseline) and distinguishable(r.planned, r.baseline):
        note += " At the planned ε the release adds fewer than 1 of 100."
    return Icons(tuple(arrays), note)


# -- risk and accuracy --------------------------------------------------------------------------------------------


def _who(a: Assessment) -> Section:
    """The adversaries with their bars."""
    side = "The risk each adversary poses at the planned ε, and the largest ε that keeps it within the limit."
    if a.recommended:
        side += " The smallest of these is the recommendation."
    bars = "Bars show the increase because of the release, as a share of what the limit allows."
    notes = (
        Paragraph(said(risk_note(a)), Tone.NOTE, Forms.RUNNING),
        Paragraph(said(f"{bars} {risk_note(a)}"), Tone.NOTE, Forms.PAGE),
    )
    warned = [Paragraph(said(f"▲ {text}"), Tone.WARNING) for text in (unseen(a),) if text]
    several = Paragraph(said(together(a)))
    promise = [Paragraph(said(f"What the release will say of itself: {a.guarantee}"))] if a.guarantee else []
    return Section("Who could learn what", (risk_table(a), *notes, several, *promise, *warned), side, "out of 100")


def _curves(a: Assessment) -> Section:
    """The two stacked panels, the sentence on both limits, and their numbers."""
    panels = (partial(risk_curve, a), partial(accuracy_curve, a))
    shown = [r for r in a.risks if r.key in a.curve.risks]
    queries = a.queries[:_MOST_LINES]
    head = ["ε", *(f"{r.name}, of 100" for r in shown), *(f"Error: {title(a, q)}" for q in queries)]
    rows = [
        [
            planned(float(f"{e:.3g}")),
            *(risk("success", a.curve.risks[r.key][i]) for r in shown),
            *(share(line[i]) for line in a.curve.errors[:_MOST_LINES]),
        ]
        for i, e in enumerate(a.curve.epsilon)
    ]
    told = contradiction(a)
    return Section(
        "Risk and accuracy as ε changes",
        (
            Figures(tuple(Figure(panel) for panel in panels), stacked=True),
            *((Paragraph(said(told)),) if told else ()),
            Fold("The numbers behind these curves", (plain_table(head, rows),)),
        ),
        "A larger ε means less noise: better answers, and better guesses.",
        forms=Forms.PICTURED,
    )


def _accuracy(a: Assessment) -> Section:
    """Each query's error at both ε, and simulated releases to look at."""
    told, q = contradiction(a), simulated_query(a)
    return Section(
        "How accurate the answers are",
        (
            accuracy_table(a),
            Part(f"What the error is made of, at ε = {planned(a.epsilon)}", (error_parts(a),)),
            *(Paragraph(said(f"▲ {text}"), Tone.WARNING) for text in few_people(a)),
            *(
                (Paragraph(said(_PROPOSED), Tone.NOTE), Items(tuple(proposed(a, p) for p in a.proposals)))
                if a.proposals
                else ()
            ),
            *(Paragraph(said(text), Tone.NOTE) for text in wide_bounds(a)),
            *((Paragraph(said(told), forms=Forms.ALL ^ Forms.PAGE),) if told else ()),
            *((_releases(a, q),) if q is not None else ()),
        ),
        "95 of 100 releases fall within the ± shown of the whole table’s answer: noise, and what bounds, limits and "
        "thresholds lose. A limit on the error is kept by the least accurate group.",
        "95 of 100 releases fall within ± of the whole table's answer",
    )


def _releases(a: Assessment, q: QueryAccuracy) -> Part:
    shown = [("Planned", a.epsilon), *([] if (at := a.verdict.alternative) is None else [(second_name(a), at)])]
    figures = tuple(Figure(partial(simulated, a, q, e), f"{name}, ε = {planned(e)}") for name, e in shown)
    note = (
        "Each dot is one simulated answer, and the band, around what limits and bounds leave of the true answer, holds "
        "95 of 100 of its own group; the upright line is the true answer. How far from that releases are, each by "
        "itself and all groups at once: see the numbers behind this picture."
    )
    if len(q.answers) > MOST_GROUPS:
        note += f" The first {MOST_GROUPS} of {len(q.answers):,} groups are drawn."
    widths = [
        [q.bands(e, a.release), *([q.bands(e, a.release, all_together=True)] if len(q.answers) > 1 else [])]
        for _, e in shown
    ]
    rows = [
        [
            group_name(a, q, answer.group, 60),
            value(answer.value),
            *(error(band[i]) for bands in widths for band in bands),
        ]
        for i, answer in enumerate(q.answers[:_MOST_GROUPS])
    ]
    several = len(q.answers) > 1
    head = ["Group", "True answer"]
    for name, e in shown:
        head += [f"{name}, ε = {planned(e)}", *([f"all groups together, ε = {planned(e)}"] if several else [])]
    return Part(
        f"Twenty simulated releases: {title(a, q)}",
        (Paragraph(said(note), Tone.NOTE), Figures(figures), Fold(_NUMBERS, (plain_table(head, rows),))),
        forms=Forms.PAGE,
    )


# -- who can be isolated ------------------------------------------------------------------------------------------


def _isolation(a: Assessment) -> Section | None:
    """The combinations of columns that leave most people alone; nothing without quasi-identifiers."""
    scan, found = a.scan, combinations(a)
    if scan is None:
        return None
    side = (
        "A person alone in a combination of columns can be singled out by answers that differ only by them; such "
        "questions need not be among the planned ones."
    )
    heading = "Who can be isolated"
    if found is None or not found.rows:
        return Section(heading, (Paragraph(said(scan.sentence)),), side, forms=Forms.KEPT)
    many, where = alone(scan)
    start = Span(many, "strong") if scan.isolated else Span(many)
    told = (start, Span(f" in this table {where}{_most(a)}"))
    beyond = tuple(Paragraph(said(text), Tone.NOTE) for text in population(scan))
    every = len(scan.subsets)
    some = f"{len(found.rows)} of the {every} combinations; all are in the JSON form."
    foot = (Paragraph(said(some), Tone.NOTE),) if len(found.rows) < every else ()
    listed = found if scan.isolated else replace(found, forms=Forms.RUNNING)  # a picture of nothing
    return Section(heading, (Paragraph(told), listed, *foot, *beyond), side, forms=Forms.KEPT)


def _most(a: Assessment) -> str:
    """Which column does most: who would still be alone without it."""
    scan = a.scan
    if scan is None or len(scan.columns) < 2:
        return ""
    ranked = [c for c in scan.columns if c.lost_without is not None]
    best = max(ranked, key=lambda c: c.lost_without or 0, default=None)
    if best is None or not best.lost_without:
        return ""
    left = people_of_100(scan.isolated - best.lost_without, scan.people)
    name = f"{best.column[:1].upper()}{best.column[1:]}"
    return f" {name} does most: without it, {left[:1].lower()}{left[1:]} are alone."


# -- related people, false records, what others have used ---------------------------------------------------------


def _related(a: Assessment) -> Section | None:
    """What resemblance adds to one answer; nothing unless the release states it."""
    alike = relation(a)
    if alike is None:
        return None
    table = relatives_table(alike)
    curve = partial(known_curve, alike.by_known, independent=1.0, title="How many times as much one answer tells")
    picture = (Figure(curve), Fold(_NUMBERS, (table,))) if len(alike.by_known) > 1 else ()
    return Section(
        "If related people resemble each other",
        (Paragraph(said(relatives_sentence(a))), replace(table, forms=Forms.RUNNING), *picture),
        "One answer moves with the target and with those whose values go with theirs.",
        forms=Forms.KEPT,
    )


def _tampering(a: Assessment) -> Section:
    """How far a false record may move each answer before it shows."""
    return Section(
        "What a false record could hide",
        (Paragraph(said(hidden_sentence(a))), hidden_table(a)),
        "“One person” is the most an honest one moves all answers of a query together.",
        forms=Forms.KEPT,
    )


def _others(a: Assessment) -> Section:
    """Published deployments, as reported."""
    heads = (("Deployment", Kind.NAME), ("Year", Kind.NUMBER), ("ε", Kind.NUMBER))
    columns = tuple(Column(h, kind) for h, kind in (*heads, ("Unit", Kind.WORDS), ("Model", Kind.WORDS)))
    rows = tuple(
        tuple(
            Cell(text)
            for text in (f"{p.curator}: {p.deployment}", str(p.year), f"{p.epsilon:g}", p.unit or "–", p.model)
        )
        for p in a.precedents
    )
    source = f"{len(a.precedents)} deployments that report ε. Source: {SOURCE}."
    return Section(
        "What others have used",
        (
            Figure(partial(precedent_strip, a)),
            Paragraph(said(source), Tone.NOTE),
            Fold("The deployments", (Table(columns, (Group(rows),)),)),
        ),
        "Published deployments, as reported. They protect different units (a person, a day, an event), so read them as "
        "context, not as a licence.",
        forms=Forms.PAGE,
    )


# -- what it rests on ---------------------------------------------------------------------------------------------


def _assumed(a: Assessment) -> tuple[Section, ...]:
    """The assumptions and notes; that an ε chosen from the data is itself a disclosure is said in every form."""
    notes = [note for note in a.notes if note != SCAN_DISCLOSURE]
    first, then = disclosure(a)
    warned = (Span(first, "strong"), Span(f" {then}"))
    items = Items((*a.assumptions, *notes), numbered=True)
    return (
        Section("What was assumed", (items, Paragraph(warned, Tone.WARNING)), forms=Forms.KEPT),
        Section("Disclosure", (Paragraph(warned, Tone.WARNING),), silent=True, forms=Forms.NOTEBOOK),
    )


_RECORDED = {"software": "Software", "engine": "Engine", "release": "Release", "data": "Data", "seed": "Seed"}


def _reproduce(a: Assessment) -> Section:
    """The command, versions, hashes and seed, and the release as it was assessed; one that was no file gets a name."""
    command = Fact("Command", a.command or "epsilens assess release.yaml", command=True)
    terms = (Fact(_RECORDED[key], text) for key, text in a.reproduce.items() if key in _RECORDED and text)
    listing = Code(json.dumps(release_values(a), indent=2, ensure_ascii=False), command=False)
    return Section(
        "How to reproduce",
        (Facts((command, *terms)), Fold("The release as it was assessed", (listing,))),
        forms=Forms.KEPT,
    )
