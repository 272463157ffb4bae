"""The report of an assessment: the instruction, the picture, who could learn what, the curves, who can be isolated, how
accurate the answers are, what others used, what was assumed, how to reproduce.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import __version__
from ...assessment.accuracy import Cause
from ...assessment.assess import SCHEMA
from ...assessment.split import DRAWN_GROUPS, LISTED_GROUPS, Division
from ...catalogue.deployments import SOURCE
from ...data.queries import Noise
from ...data.scan.scan import DISCLOSURE as SCAN_DISCLOSURE
from ...numerics.formatting import distinguishable, frequencies
from ...worlds import Relation
from ..charts import icons
from ..charts.assessment import accuracy_curve, precedent_strip, risk_curve, simulated
from ..charts.findings import known_curve
from ..document import (
    Block,
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
    Said,
    Section,
    Span,
    Status,
    Table,
    Tone,
    plain_table,
    said,
)
from ..presenters import finite
from ..scan import alone, population
from ..sentences import people_of_100
from ..short_results import certificate_fold
from .phrases import (
    cautions,
    contradiction,
    disclosure,
    few_people,
    headline,
    kept_account,
    lead,
    proposed,
    sentence,
    share_of_people,
    status,
    together,
    unseen,
)
from .tables import (
    FREQUENCIES,
    accuracy_table,
    combinations,
    error,
    error_parts,
    facts,
    given,
    group_name,
    hidden_sentence,
    hidden_table,
    limit,
    planned,
    reached,
    relation,
    relatives_data,
    relatives_sentence,
    relatives_table,
    risk,
    risk_note,
    risk_table,
    second_name,
    share,
    title,
    value,
    wide_bounds,
)

if TYPE_CHECKING:
    from ...assessment.accuracy import GroupError, QueryAccuracy, QueryErrors
    from ...assessment.assess import Assessment
    from ...assessment.risks import AdversaryRisk
    from ...assessment.split import Resplit, SplitBasis, SplitComparison
    from ...data.scan.result import Scan


# An assessment as data: plain values for JSON, and a draft record for the public deployments registry.
#
# Nobody's values are in it: answers of groups, counts of people, no rows.


def as_dict(a: Assessment) -> dict[str, Any]:
    """Everything the report shows. JSON has no infinity: what is unbounded is null."""
    plain: dict[str, object] = {
        "schema": SCHEMA,
        "title": a.release.title,
        "verdict": a.verdict.standing.value,
        "exceeded": a.verdict.exceeded,
        "headline": headline(a),
        "status": status(a),
        "sentence": sentence(a),
        "planned": {"epsilon": a.epsilon, "delta": a.release.mechanism.delta, "noise": a.release.mechanism.noise.value},
        "recommended": {
            "epsilon": a.recommended or None,
            "at_least": a.at_least,
            "possible": a.possible,
            "from_data": a.verdict.looked,
            "whatever_the_data": a.verdict.blind,
        },
        "cautions": [
            {"about": w.about.value, "column": w.column, "count": w.count, "sentence": text}
            for w, text in zip(a.cautions, cautions(a), strict=True)
        ],
        "ledger": None if a.room is None else {k: v for k, v in vars(a.room).items() if k != "ledger"},
        "binding": a.binding,
        "risks": [_risk_data(r) for r in a.risks],
        "queries": [_query(a, q) for q in a.queries],
        "error_limit": a.release.error_limit,
        "curve": {
            "epsilon": list(a.curve.epsilon),
            "risks": {key: list(line) for key, line in a.curve.risks.items()},
            "errors": [list(line) for line in a.curve.errors],
        },
        "isolation": None if a.scan is None else _isolation_data(a.scan),
        "relatives": relatives_data(a),
        "typical": None if a.typical is None else dict(vars(a.typical)),
        "guarantee": a.guarantee,
        "certificate": None if a.certificate is None else a.certificate.to_dict(),
        "together": [{"people": k, "success": p} for k, p in a.together],
        "names": {"delta": a.figures[a.epsilon].names, "unsaid": list(a.revealed_names)},
        "split": None if a.split is None else _split(a.split),
        "proposals": [{**vars(p), "parameter": p.parameter.value} for p in a.proposals],
        "precedents": {"source": SOURCE, "deployments": [dict(vars(p)) for p in a.precedents]},
        "assumptions": list(a.assumptions),
        "notes": list(a.notes),
        "reproduce": {**a.reproduce, **({"command": a.command} if a.command else {})},
        "release": release_values(a),
    }
    made: dict[str, object] = finite(plain)
    return made


def _split(split: SplitComparison) -> dict[str, object]:
    return {
        name: {"shares": list(way.shares), "errors": list(way.errors)}
        for name, way in (("equal", split.equal), ("least_error", split.best))
    }


def release_values(a: Assessment) -> dict[str, Any]:
    """The release as it was given, without what was left to its default, and without the table's address."""
    return a.release.public()


def _risk_data(r: AdversaryRisk) -> dict[str, object]:
    kept = {name: value for name, value in vars(r).items() if name not in ("asks", "conclusive")}
    return {**kept, "arguments": dict(r.arguments), "over": r.over, "harm": r.asks.harm.value}


def _query(a: Assessment, q: QueryAccuracy) -> dict[str, object]:
    return {
        "name": q.name,
        "title": title(a, q),
        "kind": q.kind.value,
        "sensitivity": q.sensitivity,
        "share": q.share,
        "answers": [{**vars(answer), "group": list(answer.group)} for answer in q.answers],
        "typical": q.typical,
        "planned": _errors(q, q.planned),
        "recommended": None if q.recommended is None else _errors(q, q.recommended),
        "smallest_epsilon": q.smallest_epsilon,
        "obstacle": None if q.obstacle is None else q.obstacle.value,
    }


def _errors(q: QueryAccuracy, found: QueryErrors) -> dict[str, object]:
    groups = {"typical": found.typical, "worst": found.worst}
    return {
        "epsilon": found.epsilon,
        "scale": found.scale,
        "hidden": found.hidden,
        **{name: None if group is None else _group(group) for name, group in groups.items()},
    }


def _group(group: GroupError) -> dict[str, object]:
    plain = {name: value for name, value in vars(group).items() if name != "answer"}
    return {"answer": group.answer.value, **plain, "relative": group.relative, "cause": group.cause.value}


def _isolation_data(scan: Scan) -> dict[str, object]:
    return {
        "sentence": scan.sentence,
        "people": scan.people,
        "rows": scan.rows,
        "isolated": scan.isolated,
        "quasi_identifiers": list(scan.quasi_identifiers),
        "subsets": [{"columns": list(s.columns), "people": s.people} for s in scan.subsets],
        "columns": [dict(vars(c)) for c in scan.columns],
        "fewest": {str(k): n for k, n in scan.fewest.items()},
        "never": scan.never,
        "largest_share_of_sensitivity": [q.ratio["worst"] for q in scan.queries],
    }


#: A value with a comment; an empty value is one to be filled in.
Line = tuple[str, Any, str]


def to_registry(a: Assessment) -> str:
    """The YAML record, as a draft: the ε is the planned one, because that is the release described."""
    r, person = a.release, a.release.data.person
    noise = r.mechanism.noise.value.capitalize()
    names = a.figures[a.epsilon].names
    delta = ((r.mechanism.delta or 0.0) if r.mechanism.noise is Noise.GAUSSIAN else 0.0) + names
    variant = "Approximate DP" if delta else "Pure DP"
    unit = "one person, all of whose rows" if person else "one row, which is one person"
    rows = f"{r.data.max_rows} row{'' if r.data.max_rows == 1 else 's'}"
    used = f"at most {rows} a person in sums and averages" if person else ""
    shares = ", ".join(f"{title(a, q)}: {q.share * a.epsilon:.6g}" for q in a.queries)
    how = list(dict.fromkeys(risk.how for risk in a.risks if risk.how))
    out = [
        f"# Written by epsilens {__version__}. {headline(a)}.",
        "# Fields that are empty are not known to the assessment: fill them in before publishing.",
        "# Do not publish figures on isolation or true answers.",
        *_lines(0, ("status", "Draft", ""), ("tier", "", "assigned by the registry")),
        "deployment:",
        *_part(
            "basic",
            ("name", r.title, ""), ("data_curators", [], "who holds the data"), ("intended_use", "", ""),
            ("data_product_type", "", "for example summary statistics"), ("data_product_region", "", ""),
            ("description", "; ".join(title(a, q) for q in a.queries), ""), ("publication_date", "", ""),
            ("data_product_sector", "", ""),
        ),
        *_part("dp_variant", ("variant_name", variant, "")),
        *_part(
            "privacy_loss",
            ("privacy_unit", "User-level" if person else "Record-level", ""),
            ("privacy_unit_details", ", ".join(filter(None, (unit, used))), ""),
            ("privacy_parameters", {"epsilon": a.epsilon, "delta": delta or None, "rho": None}, ""),
            ("privacy_parameters_details", f"ε of each query: {shares}", ""),
        ),
        *_part(
            "deployment_model",
            ("model_name", "Central", ""), ("model_name_details", "", ""),
            ("release_type", "", "one-shot or continual"),
            ("release_type_details", "", ""), ("data_source_type", "", "static or dynamic"),
            ("data_source_type_details", "", ""), ("access_type", "", "interactive or not"),
            ("access_type_details", "", ""),
        ),
        *_part("accounting", ("composition", "; ".join(how), ""), ("post_processing", "", "")),
        *_part(
            "implementation",
            ("mechanisms", [f"{noise} noise"], ""),
            ("justification", "", "why this ε: the limits, and who agreed to them"),
        ),
        *_part(
            "administrative",
            ("sources", [], "links to what was published"), ("notes", "", ""), ("registry_authors", [], ""),
        ),
    ]  # fmt: skip
    return "\n".join(out) + "\n"


def _part(name: str, *lines: Line) -> list[str]:
    return [f"  {name}:", *_lines(4, *lines)]


def _lines(indent: int, *lines: Line) -> list[str]:
    """Values as JSON, which is YAML too and needs no further escaping."""
    made = []
    for name, entry, comment in lines:
        shown = json.dumps(entry, ensure_ascii=True)
        if isinstance(entry, dict):  # YAML takes 1e-06 for text: a float needs its point
            shown = re.sub(r"\b(\d+)e(?=[-+])", r"\1.0e", shown)
        note = comment or ("to be filled in" if entry in ("", []) else "")
        made.append(f"{' ' * indent}{name}: {shown}" + (f"  # {note}" if note else ""))
    return made


# How ε is shared among the queries: the planned division beside the equal one and the one with the least error, and
# what any other division does to errors and risks.

HEADING = "How ε is shared"


def split_section(a: Assessment) -> Section | None:
    """The ways to divide ε with the error each leaves; None for one query, which has all of it."""
    if a.split is None:
        return None
    found = " It was found by looking at the data." if a.split.gains else ""
    blocks: list[Block] = [Paragraph((Span(_compared(a) + found), *_cost(a))), _table(a)]
    if Cause.BIAS in a.split.judged:
        note = "Where bounds or limits lose more than any noise, the best division goes by the noise alone."
        blocks.append(Paragraph(said(note), Tone.NOTE))
    side = (
        "A query with a larger share of ε has less noise. The error is that of the least accurate published group, as "
        "a share of its answer; 95 of 100 releases keep within it."
    )
    return Section(HEADING, tuple(blocks), side, "error as a share of the answer")


class _Way(NamedTuple):
    """A division to show; ``own`` is one that the plan's author chose, neither equal nor the best."""

    name: str
    short: str
    division: Division
    own: bool = False


def _ways(a: Assessment) -> list[_Way]:
    """The divisions to show, the plan's own first; one that is the plan's is not shown twice."""
    assert a.split is not None
    shares, known = a.release.shares, (("Equal", "equal", a.split.equal), ("Least error", "best", a.split.best))
    made, own = [], True
    for name, short, way in known:
        planned = way.near(shares)
        own = own and not planned
        made.append(_Way(f"{name}, as assessed", f"{short}, planned", way) if planned else _Way(name, short, way))
    if not own:
        return made
    assert a.split_figures is not None
    return [_Way("As assessed", "planned", a.split_figures.planned, own=True), *made]


def _table(a: Assessment) -> Table:
    ways, allowed = _ways(a), a.release.error_limit
    columns = [Column("Query", Kind.NAME)]
    for way in ways:
        head, label = f"{way.name}: share of ε", way.short.partition(",")[0].capitalize()
        columns += [Column(head, plain=way.short, label=label)]
        columns += [Column("Error", Kind.VALUE, plain="error", label="Error")]
    rows = []
    for i, q in enumerate(a.queries):
        cells = [Cell(title(a, q))]
        for way in ways:
            cells += [Cell(f"{100 * way.division.shares[i]:.1f}%"), _error(way.division.errors[i], allowed)]
        rows.append(tuple(cells))
    return Table(tuple(columns), (Group(tuple(rows)),), HEADING)


def _error(relative: float, allowed: float | None) -> Cell:
    if not math.isfinite(relative):
        return Cell("–", state="no answer to compare with")
    over = allowed is not None and relative > allowed
    return Cell(share(relative, allowed), state="over" if over else "", over=over)


def _compared(a: Assessment) -> str:
    """The worst error of each division."""
    assert a.split is not None
    equal, best = (share(way.worst, spoken=True) for way in (a.split.equal, a.split.best))
    if not a.split.equal.worst:
        return "Every answer is 0 or without noise: no division of ε is better than another."
    first = f"Shared equally, the least accurate published answer is off by up to {equal} of itself"
    own = next((way.division for way in _ways(a) if way.own), None)
    planned = "" if own is None else f"; shared as planned, by {share(own.worst, spoken=True)}"
    if not a.split.gains and Cause.BIAS in a.split.judged:
        return f"{first}{planned}: that is what bounds and limits lose, which no division of ε mends."
    if not a.split.gains:
        return f"{first}{planned}; no other division makes that less."
    taken = ", and is the one assessed here" if a.split.best.near(a.release.shares) else ""
    return f"{first}{planned}; the best division brings it to {best}{taken}."


def _cost(a: Assessment) -> Said:
    """What the best division does to the risk that the report speaks of first."""
    figures = a.split_figures
    if a.split is None or figures is None or not a.split.gains or a.split.best.near(a.release.shares):
        return ()
    at = next(i for i, r in enumerate(a.risks) if r.key == a.leading.key)
    now, then = a.risks[at], figures.risks[at]
    before, after, without = (Span(text, "number") for text in _spoken(now, then))
    end = (Span("; without the release "), without, Span("."))
    if before == after:
        return (Span(f" The risk stays ({now.name.lower()}): "), after, *end)
    return (Span(f" The risk moves with it ({now.name.lower()}): "), after, Span(" instead of "), before, *end)


def _told(r: AdversaryRisk) -> float:
    """The risk as it is told: what double precision rounds to certainty is not, unless some answer is conclusive."""
    certain = r.planned == 1 and r.reading in FREQUENCIES and not r.conclusive
    return math.nextafter(1, 0) if certain else r.planned


def _spoken(*risks: AdversaryRisk) -> list[str]:
    """The risks, then what the first would be without the release."""
    first = risks[0]
    if first.reading in FREQUENCIES:
        return list(frequencies(*map(_told, risks), given=[first.baseline]))
    return [*(risk(r.reading, r.planned, limit=r.limit) for r in risks), given(first.reading, first.baseline)]


def resplit_sentence(basis: SplitBasis, assessed: Division, found: Resplit) -> tuple[Span, ...]:
    """The worst error with other shares and how many risks break their limit, beside what was assessed."""
    allowed = found.release.error_limit
    error, before = (share(way.worst, allowed, spoken=True) for way in (found.division, assessed))
    spans = [
        Span("With these shares the least accurate published answer is off by up to "),
        Span(error, "risk" if allowed is not None and found.division.worst > allowed else "strong"),
        Span(f" of itself; as assessed it is {before}."),
    ]
    limited = [r for r in found.risks if r.limit is not None]
    if limited:
        over, once = (sum(r.over for r in risks) for risks in (found.risks, basis.risks))
        spans += [Span(" "), Span(f"{over} of {len(limited)}", "risk" if over else "strong")]
        spans.append(Span(f" risks {'is' if over == 1 else 'are'} over their limit, {once} as assessed."))
    return tuple(spans)


def resplit_table(basis: SplitBasis, found: Resplit) -> Table:
    """The adversaries with other shares, beside what was assessed, what they know anyway, and the limit."""
    columns = (
        Column("Adversary", Kind.NAME),
        Column("These shares", Kind.VALUE, label="Now"),
        Column("As assessed", label="Assessed"),
        Column("Limit", label="Limit"),
        Column("Without release", label="Without"),
    )
    rows = []
    for before, now in zip(basis.risks, found.risks, strict=True):
        state = "" if now.limit is None else "over" if now.over else "within"
        most = "–" if now.limit is None else limit(now.reading, now.limit)
        risk = Cell(_risk(now), state=state, over=now.over)
        rows.append((Cell(now.name), risk, Cell(_risk(before)), Cell(most), Cell(given(now.reading, now.baseline))))
    return Table(columns, (Group(tuple(rows)),), "Risks with these shares, out of 100")


def _risk(r: AdversaryRisk) -> str:
    return risk(r.reading, _told(r), limit=r.limit, baseline=r.baseline)


def resplit_data(basis: SplitBasis, found: Resplit, names: Sequence[str]) -> dict[str, Any]:
    """Other shares with their errors and risks, and the divisions to compare with, as plain values."""
    ways = {"equal": basis.split.equal, "least_error": basis.split.best}
    fields = ("key", "name", "reading", "baseline", "planned", "limit", "over")
    return {
        "schema": 1,
        "epsilon": found.release.epsilon,
        "queries": list(names),
        **_division(found.division),
        "risks": [
            {name: getattr(r, name) for name in fields} | {"assessed": before.planned}
            for before, r in zip(basis.risks, found.risks, strict=True)
        ],
        **{name: _division(way) for name, way in ways.items()},
        "looks_at_data": basis.split.looks_at_data,
    }


def _division(way: Division) -> dict[str, object]:
    return {"shares": list(way.shares), "errors": [e if math.isfinite(e) else None for e in way.errors]}


_MOST_LINES = 6  # queries whose curve is listed
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
    told, q = contradiction(a), a.simulated_query
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
    if len(q.answers) > DRAWN_GROUPS:
        note += f" The first {DRAWN_GROUPS} of {len(q.answers):,} groups are drawn."
    drawn = [a.simulations[e] for _, e in shown]
    widths = [[one.each, *([one.together] if len(q.answers) > 1 else [])] for one in drawn]
    rows = [
        [
            group_name(a, q, answer.group, 60),
            value(answer.value),
            *(error(band[i]) for bands in widths for band in bands),
        ]
        for i, answer in enumerate(q.answers[:LISTED_GROUPS])
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
    folds = (Fold("The release as it was assessed", (listing,)), *certificate_fold(a.certificate))
    return Section("How to reproduce", (Facts((command, *terms)), *folds), forms=Forms.KEPT)
