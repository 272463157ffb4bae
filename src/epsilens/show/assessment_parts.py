"""The sections of the report that have tables and charts, as HTML. What comes from outside is escaped here."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..assessment.precedents import SOURCE
from ..data.words import people_of_100
from .assessment_data import release_values
from .assessment_numbers import error, percent, planned, risk, share, value
from .assessment_queries import group_name, title
from .assessment_rows import accuracy_rows, combinations, risk_note, risk_rows
from .assessment_text import command, reproduce_lines
from .assessment_words import DISCLOSURE, contradiction, error_at, error_limit, second, second_name
from .charts.assessment import accuracy_curve, risk_curve
from .charts.strips import MOST_GROUPS, precedent_strip, simulated, simulated_query

if TYPE_CHECKING:
    from ..assessment.accuracy import QueryAccuracy
    from ..assessment.assessment import Assessment

__all__ = ["accuracy", "disclosure", "isolation", "others", "reproduce", "risk_and_accuracy", "who"]

#: Where the limit stands in every bar, in per cent of its width; the bar has room for 1/0.42 of the limit.
_LIMIT_AT = 42.0
_IN = '<svg viewBox="0 0 16 16" role="img" aria-label="in it"><circle class="on" cx="8" cy="8" r="6"/></svg>'
_OUT = '<svg viewBox="0 0 16 16" aria-hidden="true"><circle class="off" cx="8" cy="8" r="2"/></svg>'
_WARN = '<span class="state over">▲ over</span>'


def _section(name: str, note: str, body: str) -> str:
    side = f'<div class="side"><h2>{html.escape(name)}</h2>{f"<p>{html.escape(note)}</p>" if note else ""}</div>'
    return f"<section>{side}<div>{body}</div></section>"


def _numbers(summary: str, head: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[int] = ()) -> str:
    """The numbers behind a picture as a table that opens; columns in ``words`` hold text."""
    cells = "".join(f'<th scope="col">{html.escape(h)}</th>' for h in head)
    body = "".join(
        f'<tr><th scope="row">{html.escape(row[0])}</th>'
        + "".join(f"<td{' class=words' if i in words else ''}>{html.escape(c)}</td>" for i, c in enumerate(row[1:], 1))
        + "</tr>"
        for row in rows
    )
    return (
        f'<details><summary>{html.escape(summary)}</summary><div class="behind" tabindex="0"><table>'
        f"<thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div></details>"
    )


# -- who could learn what -----------------------------------------------------------------------------------------


def who(a: Assessment) -> str:
    """The adversaries with their bars."""
    head = (
        '<tr><th scope="col">Adversary</th>'
        '<th scope="col" class="bar"><svg aria-label="added risk, and the limit" role="img">'
        '<text x="0" y="17">added</text>'
        f'<text class="limit" x="{_LIMIT_AT}%" y="17" text-anchor="middle">limit</text></svg></th>'
        '<th scope="col" class="number">Without release</th>'
        f'<th scope="col" class="number">Planned ε&nbsp;=&nbsp;{planned(a.epsilon)}</th>'
        '<th scope="col" class="number">Limit</th><th scope="col" class="number">Largest ε</th></tr>'
    )
    body = []
    for row in risk_rows(a):
        sets = f'<span class="sets">{row.sets}</span>' if row.sets else ""
        state = _WARN if row.over else f'<span class="state">{row.state}</span>'
        body.append(
            f'<tr><th scope="row"><span class="name">{html.escape(row.name)}</span>{sets}'
            f'<span class="asks">{html.escape(row.question)}</span></th>'
            f'<td class="bar">{_bar(row.bar, row.over, row.limit)}</td>'
            f'<td><span class="label">Without</span>{row.baseline}</td>'
            f'<td class="planned"><span class="label">Planned</span>'
            f"<span{' class=over' if row.over else ''}>{row.planned}</span> {state}</td>"
            f'<td><span class="label">Limit</span>{row.limit}</td>'
            f'<td class="largest"><span class="label">Largest ε</span>{row.largest}</td></tr>'
        )
    note = html.escape(
        f"Bars show the increase because of the release, as a share of what the limit allows. {risk_note(a)}"
    )
    table = f'<table class="adversaries"><thead>{head}</thead><tbody>{"".join(body)}</tbody></table>'
    side = "The risk each adversary poses at the planned ε, and the largest ε that keeps it within the limit."
    if a.recommended:
        side += " The smallest of these is the recommendation."
    return _section("Who could learn what", side, f'{table}<p class="note after">{note}</p>')


def _bar(part: float | None, over: bool, limit: str) -> str:
    if part is None:
        return ""
    wide = part * _LIMIT_AT
    fill = "fill over" if over else "fill"
    cut = f'<line class="edge" x1="{_LIMIT_AT}%" x2="{_LIMIT_AT}%" y1="7" y2="21"/>' if wide > _LIMIT_AT else ""
    arrow = ""
    if wide > 100:  # longer than there is room for
        wide = 97
        arrow = f'<svg x="97%" overflow="visible"><path class="{fill}" d="M0 2 12 14 0 26Z"/></svg>'
    told = f"{part:.2g} times the increase that the limit allows"
    name = f'<text class="limit-name" x="{_LIMIT_AT}%" y="-6" text-anchor="middle">limit {limit}</text>'
    return (
        f'<svg role="img" aria-label="{told}">'
        f'<rect class="{fill}" x="0" y="8" width="{wide:.4g}%" height="12"/>{cut}{arrow}'
        f'<line class="zero" x1="0" x2="0" y1="5" y2="23"/>'
        f'<line class="limit" x1="{_LIMIT_AT}%" x2="{_LIMIT_AT}%" y1="1" y2="27"/>{name}</svg>'
    )


# -- risk and accuracy against ε ----------------------------------------------------------------------------------


def risk_and_accuracy(a: Assessment) -> str:
    """The two stacked panels, the sentence on both limits, and their numbers."""
    panels = [risk_curve(a), accuracy_curve(a)]
    figures = "".join(panel.figure() for panel in panels if panel is not None)
    told = contradiction(a)
    after = f'<p class="after">{html.escape(told)}</p>' if told else ""
    shown = [r for r in a.risks if r.key in a.curve.risks]
    head = ["ε", *(f"{r.name}, of 100" for r in shown), *(f"Error: {title(a, q)}" for q in a.queries[:6])]
    rows = [
        [
            planned(float(f"{e:.3g}")),
            *(risk("success", a.curve.risks[r.key][i]) for r in shown),
            *(share(line[i]) for line in a.curve.errors[:6]),
        ]
        for i, e in enumerate(a.curve.epsilon)
    ]
    table = _numbers("The numbers behind these curves", head, rows)
    note = "A larger ε means less noise: better answers, and better guesses."
    return _section("Risk and accuracy as ε changes", note, f'<div class="stack">{figures}</div>{after}{table}')


# -- who can be isolated ------------------------------------------------------------------------------------------


def isolation(a: Assessment) -> str:
    """The combinations of columns that leave most people alone; empty without quasi-identifiers."""
    scan, found = a.scan, combinations(a)
    if scan is None:
        return ""
    note = "A person alone in a combination of columns can be singled out by two answers that differ only by them."
    if not found or not scan.isolated:
        return _section("Who can be isolated", note, f"<p>{html.escape(scan.sentence)}</p>")
    start = people_of_100(scan.isolated, scan.people)
    rest = scan.sentence.removeprefix(start).replace(" in this table", "", 1)
    said = f"<strong>{html.escape(start)}</strong>{html.escape(rest)}{html.escape(_most(a))}"
    columns = scan.quasi_identifiers
    head = "".join(f'<th scope="col">{html.escape(c)}</th>' for c in columns)
    most = max(p for _, p, _ in found)
    rows = []
    for i, (members, part, told) in enumerate(found):
        marks = "".join(f'<td class="mark">{_IN if c in members else _OUT}</td>' for c in columns)
        wide = 84 * part / most
        rows.append(
            f"<tr{' class=most' if i == 0 else ''}>"
            f'<th scope="row" class="names">{html.escape(" · ".join(members))}</th>{marks}'
            f'<td class="share"><svg role="img" aria-label="{told} of 100 people alone">'
            f'<rect x="0" y="3" width="{max(wide, 0.2):.4g}%" height="14"/>'
            f'<svg x="{wide:.4g}%" overflow="visible"><text x="8" y="15">{told}</text></svg></svg></td></tr>'
        )
    table = (
        f'<table class="combinations"><thead><tr><th class="names" scope="col">Columns</th>{head}'
        f'<th scope="col">people alone, of 100</th></tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )
    every = len(scan.subsets)
    foot = f"{len(found)} of the {every} combinations; all are in the JSON form." if len(found) < every else ""
    return _section("Who can be isolated", note, f'<p>{said}</p>{table}<p class="note after">{foot}</p>')


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


# -- how accurate the answers are ---------------------------------------------------------------------------------


def accuracy(a: Assessment) -> str:
    """Each query's error at both ε, and simulated releases to look at."""
    at, limit = second(a), error_limit(a)
    heads = ["Answer on this table", f"Planned ε&nbsp;=&nbsp;{planned(a.epsilon)}"]
    if at is not None:
        heads.append(f"{second_name(a)} ε&nbsp;=&nbsp;{planned(at)}")
    if limit is not None:
        heads.append(f"Smallest ε for {percent(limit)} error")
    body = []
    for row in accuracy_rows(a):
        cells = [
            ("Answer", html.escape(row.answer), html.escape(row.typical), False),
            (f"ε = {planned(a.epsilon)}", *row.planned),
        ]
        if row.second is not None:
            cells.append((f"ε = {planned(at or 0.0)}", *row.second))
        if limit is not None:
            cells.append((f"ε for {percent(limit)}", row.smallest, "", False))
        tds = "".join(
            f'<td><span class="label">{label}</span>{first}'
            f'<span class="state{" over" if over else ""}">{"▲ " if over else ""}{then}</span></td>'
            for label, first, then, over in cells
        )
        detail = f'<span class="asks">{html.escape(row.detail)}</span>' if row.detail else ""
        body.append(f'<tr><th scope="row"><span class="name">{html.escape(row.name)}</span>{detail}</th>{tds}</tr>')
    head = "".join(f'<th scope="col" class="number">{h}</th>' for h in heads)
    first = f'<tr><th scope="col">Query</th>{head}</tr>'
    table = f'<table class="answers"><thead>{first}</thead><tbody>{"".join(body)}</tbody></table>'
    q = simulated_query(a)
    releases = "" if q is None else _releases(a, q)
    return _section("How accurate the answers are", "95 of 100 releases fall within the ± shown.", table + releases)


def _releases(a: Assessment, q: QueryAccuracy) -> str:
    shown = [("Planned", a.epsilon), *([] if (at := second(a)) is None else [(second_name(a), at)])]
    figures = "".join(
        f"<figure><figcaption>{name}, ε = {planned(e)}</figcaption>{simulated(a, q, e).svg('page')}</figure>"
        for name, e in shown
    )
    note = (
        "Each dot is one simulated answer; the upright line is the true answer, and the band holds 95 of 100 answers."
    )
    if len(q.answers) > MOST_GROUPS:
        note += f" The first {MOST_GROUPS} of {len(q.answers):,} groups are drawn."
    rows = [
        [
            group_name(a, q, answer.group, 60),
            value(answer.value),
            *(error(error_at(a, q, e) * q.spread(answer)) for _, e in shown),
        ]
        for answer in q.answers[:200]
    ]
    head = ["Group", "True answer", *(f"{name}, ε = {planned(e)}" for name, e in shown)]
    name = f"Twenty simulated releases: {title(a, q)}"
    return (
        f'<div class="releases"><h3>{html.escape(name)}</h3><p class="note">{html.escape(note)}</p>'
        f'<div class="pair">{figures}</div>{_numbers("The numbers behind this picture", head, rows)}</div>'
    )


# -- precedents, disclosure, reproduction -------------------------------------------------------------------------


def others(a: Assessment) -> str:
    """Published deployments, as reported."""
    note = (
        "Published deployments, as reported. They protect different units (a person, a day, an event), so read them as "
        "context, not as a licence."
    )
    source = f"{len(a.precedents)} deployments that report ε. Source: {SOURCE}."
    rows = [
        [f"{p.curator}: {p.deployment}", str(p.year), f"{p.epsilon:g}", p.unit or "–", p.model] for p in a.precedents
    ]
    table = _numbers("The deployments", ["Deployment", "Year", "ε", "Unit", "Model"], rows, words=(3, 4))
    body = f'{precedent_strip(a).figure()}<p class="note">{html.escape(source)}</p>{table}'
    return _section("What others have used", note, body)


def disclosure() -> str:
    """That an ε chosen from the data is itself a disclosure."""
    return f'<p class="disclosure"><strong>{html.escape(DISCLOSURE[0])}</strong> {html.escape(DISCLOSURE[1])}</p>'


def reproduce(a: Assessment) -> str:
    """The command, versions, hashes and seed, and the release as it was assessed."""
    terms = "".join(
        f"<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>"
        for name, text in reproduce_lines(a)
        if name != "Command"
    )
    release = html.escape(json.dumps(release_values(a), indent=2, ensure_ascii=False))
    listing = f"<details><summary>The release as it was assessed</summary><pre><code>{release}</code></pre></details>"
    body = f'<pre><code>{html.escape(command(a))}</code></pre><dl class="reproduce">{terms}</dl>{listing}'
    return _section("How to reproduce", "", body)
