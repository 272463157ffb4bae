"""Notions of privacy in words: what each one says, what an ε in one promises in the others, what would be enough."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import EpsilensError
from ..notions.catalogue import NOTIONS, Notion, find
from ..notions.conversion import Conversion, Missing, convert, promise, promises, sure
from ..notions.implications import IMPLICATIONS, REFUTED
from .charts import icons
from .page import document
from .sentences import Span, flat
from .text import escape, tie, untie
from .words import frequencies, rounded_down, rounded_up

__all__ = ["NotionsReport", "Row", "Table", "between", "enough", "listed", "promised"]


@dataclass(frozen=True)
class Row:
    """One notion in a table: its name, its ε and what that means as text, and a sentence."""

    name: str
    epsilon: str
    sure: str
    words: str


@dataclass(frozen=True)
class Table:
    """Rows under a title; ``head`` names the ε and what it means, empty where a table has neither."""

    title: str
    rows: tuple[Row, ...]
    head: tuple[str, str] = ("ε", "Even odds become")


@dataclass(frozen=True)
class NotionsReport:
    """The sentence, the tables, what must be said, and the same as data."""

    heading: str
    lead: tuple[Span, ...]
    tables: tuple[Table, ...]
    remarks: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    command: str = ""
    pictures: str = ""  # already HTML

    @property
    def sentence(self) -> str:
        """The lead without its emphasis."""
        return flat(self.lead)

    def with_command(self, command: str) -> NotionsReport:
        """The same with the line that reproduces it."""
        return replace(self, command=command)

    def to_dict(self) -> dict[str, Any]:
        """What JSON holds."""
        return {"schema": 1, "sentence": self.sentence, **self.data, "remarks": list(self.remarks)}

    def to_text(self, width: int = 80) -> str:
        """The sentence, then each notion on a line with its words underneath."""
        blocks = [textwrap.fill(tie(self.sentence), width)]
        for table in self.tables:
            lines = [textwrap.fill(table.title, width)]
            if any(table.head):
                lines.append(_line("", *table.head, width))
            for row in table.rows:
                lines.append(_line(row.name, row.epsilon, row.sure, width))
                lines += textwrap.wrap(tie(row.words), width, initial_indent=" " * 4, subsequent_indent=" " * 4)
            blocks.append("\n".join(line.rstrip() for line in lines))
        blocks += [textwrap.fill(r, width) for r in self.remarks]
        if self.command:
            blocks.append(f"Reproduce: {self.command}")
        return untie("\n\n".join(blocks))

    def to_markdown(self) -> str:
        """GitHub-flavoured Markdown."""
        said = "".join(f"**{escape(s.text)}**" if s.role else escape(s.text) for s in self.lead)
        out = [f"# {escape(self.heading)}", said]
        for table in self.tables:
            first, second = table.head
            lines = [f"## {escape(table.title)}", ""]
            if any(table.head):
                lines += [f"| Notion | {escape(first)} | {escape(second)} | Because |", "|---|--:|--:|---|"]
                lines += [
                    f"| {escape(r.name)} | {escape(r.epsilon)} | {escape(r.sure)} | {escape(r.words)} |"
                    for r in table.rows
                ]
            else:
                lines += ["| Notion | In words |", "|---|---|"]
                lines += [f"| {escape(r.name)} | {escape(r.words)} |" for r in table.rows]
            out.append("\n".join(lines))
        out += [escape(r) for r in self.remarks]
        return "\n\n".join([*out, *([f"Reproduce: `{self.command}`"] if self.command else [])])

    def to_html(self) -> str:
        """A self-contained page."""
        lead = f'<p class="lead">{lead_html(self.lead)}</p>'
        sections = [
            _section(self.heading, lead + self.pictures),
            *(_section(t.title, table_html(t)) for t in self.tables),
        ]
        said = "".join(f'<p class="note">{html.escape(r)}</p>' for r in self.remarks)
        words = " ".join(f"<span>{html.escape(w)}</span>" for w in self.command.split(" ")) if self.command else ""
        command = f'<pre class="after"><code>{words}</code></pre>' if words else ""
        if said or command:
            sections.append(_section("What to know", f"{said}{command}"))
        return document(self.heading, "Notions of privacy", sections)

    def _repr_html_(self) -> str:
        tables = "".join(f"<h4>{html.escape(t.title)}</h4>{table_html(t)}" for t in self.tables)
        return f"<p><strong>{html.escape(self.sentence)}</strong></p>{tables}"

    def __str__(self) -> str:
        return self.to_text()


def _section(title: str, inside: str) -> str:
    return f"<section><h2>{html.escape(title)}</h2><div>{inside}</div></section>"


def _line(name: str, epsilon: str, chance: str, width: int) -> str:
    right = f"{epsilon:>10}  {chance:>16}" if epsilon or chance else ""
    room = width - len(right) - 3
    return f"  {name[:room]:<{max(room, 0)}} {right}"


def lead_html(lead: tuple[Span, ...]) -> str:
    """The sentence with its emphasis."""
    shown = {"": "{}", "strong": "<strong>{}</strong>", "risk": '<strong class="risk">{}</strong>'}
    return "".join(shown[s.role].format(html.escape(s.text)) for s in lead)


def subscripts(text: str) -> str:
    """Escaped, with ε_DP as markup."""
    return re.sub(r"ε_([A-Z]+)", r"ε<sub>\1</sub>", html.escape(text))


def pictures_html(notion: Notion, epsilon: float) -> str:
    """100 guesses before and after, as the other reports draw them."""
    most, before = frequencies(sure(notion, epsilon), 0.5)
    first = icons.array(f'Without the release: <span class="number">{before}</span> right', 0.5, key="before")
    caption = f'With it, at most: <span class="number risk">{most}</span> right'
    second = icons.array(caption, 0.5, sure(notion, epsilon), key="after")
    when = "on average" if notion.kind == "nats" else "when the attacker is as sure as they can become"
    note = f"Each figure is one of 100 guesses on {notion.asks} that had even odds: how many are right, {when}."
    return f'<div class="pair pictures">{first}{second}</div><p class="note">{html.escape(note)}</p>'


def table_html(table: Table) -> str:
    """One table; on a phone each notion becomes a block of its own, as in the other reports."""
    first, second = table.head

    def cell(head: str, text: str) -> str:
        return f'<td class="value">{html.escape(text)}</td>' if head else ""

    if not any(table.head):
        body = "".join(
            f'<tr><th scope="row">{html.escape(r.name)}</th><td class="words">{subscripts(r.words)}</td></tr>'
            for r in table.rows
        )
        head = '<th scope="col">Notion</th><th scope="col" class="words">In words</th>'
    else:
        body = "".join(
            f'<tr><th scope="row">{html.escape(r.name)}</th><td class="value">{html.escape(r.epsilon)}</td>'
            f'{cell(second, r.sure)}<td class="words">{subscripts(r.words)}</td></tr>'
            for r in table.rows
        )
        column = f'<th scope="col" class="value">{html.escape(second)}</th>' if second else ""
        head = (
            f'<th scope="col">Notion</th><th scope="col" class="value">{html.escape(first)}</th>{column}'
            '<th scope="col" class="words">Because</th>'
        )
    return f'<table class="readings notions"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


# -- the sentences ------------------------------------------------------------------------------------------------


def meaning(notion: Notion, epsilon: float) -> tuple[Span, ...]:
    """What the notion's ε means for someone who gave even odds, with that baseline beside it.

    >>> flat(meaning(find("dp"), 1.0))
    "an attacker who knows every other record and gave even odds on one record's value can become at most 73 of 100 \
sure of it; before the release they were 50 of 100 sure."
    """
    most, before = frequencies(sure(notion, epsilon), 0.5)
    if notion.kind == "nats":
        what = f"{notion.attacker}, guesses a yes/no value right for at most "
        return Span(what), Span(f"{most} people", "risk"), Span(f"; a coin gets {before}.")
    what = f"{notion.attacker} and gave even odds on {notion.asks} can become at most "
    return Span(what), Span(f"{most} sure", "risk"), Span(f" of it; before the release they were {before} sure.")


def listed() -> NotionsReport:
    """Every notion in plain words, what implies what, and the claims that do not hold."""
    notions = tuple(Row(f"{n.name} ({n.key})", "", "", f"{n.words} {n.source}.") for n in NOTIONS.values())
    implied = tuple(
        Row(f"{r.source} → {r.target}", "", "", f"{r.formula}, {_condition(r.when)}; {r.proof}.") for r in IMPLICATIONS
    )
    refuted = tuple(
        Row(f"{r.source} → {r.target}", "", "", f"{r.claim}: {r.because}.{_by(r.claimed)}") for r in REFUTED
    )
    lead = (
        Span("The same ε means different things in different definitions. In "),
        Span("differential privacy"),
        Span(" ε = 1 says: "),
        *meaning(find("dp"), 1.0),
    )
    tables = (
        Table("The definitions", notions, ("", "")),
        Table("What implies what: the target's ε if the source holds with ε", implied, ("", "")),
        Table("Claims that do not hold", refuted, ("", "")),
    )
    data = {
        "notions": [n.to_dict() for n in NOTIONS.values()],
        "implications": [r.to_dict() for r in IMPLICATIONS],
        "refuted": [r.to_dict() for r in REFUTED],
    }
    remarks = ("Ask what one promises in the others with --from dp --epsilon 1, what is enough for one with --to ip.",)
    return NotionsReport("Notions of privacy", lead, tables, remarks, data)


def _condition(when: str) -> str:
    return when if when.startswith("always") else f"if {when}"


def _by(claimed: str) -> str:
    return f" Claimed by {claimed}." if claimed else ""


def _lead(notion: Notion, epsilon: float, verb: str) -> tuple[Span, ...]:
    return (Span(f"{notion.name} with ε = {rounded_up(epsilon)} {verb}: "), *meaning(notion, epsilon))


def promised(given: str, epsilon: float, **conditions: Any) -> NotionsReport:
    """What an ε in one notion promises in each of the others.

    >>> [(row.name, row.epsilon) for row in promised("ddp", 0.5, dependent=2).tables[0].rows][3:6:2]
    [('Inferential privacy', '0.5'), ('Membership privacy', '0.5')]
    """
    notion = find(given, "from")
    made = promises(given, epsilon, **conditions)
    rows = tuple(_promised_row(NOTIONS[key], found) for key, found in made.items())
    remarks = [*_dp_remark(notion, epsilon, conditions), *_remarks(conditions)]
    data = {
        "from": notion.key,
        "epsilon": float(epsilon),
        "even_odds_become_at_most": sure(notion, epsilon),
        "promises": [found.to_dict() for found in made.values() if isinstance(found, Conversion)],
        "nothing": {key: found for key, found in made.items() if isinstance(found, str)},
    }
    title = "What it promises in the other notions"
    return NotionsReport(
        notion.name,
        _lead(notion, epsilon, "says"),
        (Table(title, rows),),
        tuple(remarks),
        data,
        pictures=pictures_html(notion, epsilon),
    )


def _promised_row(notion: Notion, found: Conversion | str) -> Row:
    if isinstance(found, str):
        return Row(notion.name, "not known" if " is missing" in found else "nothing", "", _reason(found))
    return Row(
        notion.name, rounded_up(found.promised_epsilon), frequencies(found.sure, 0.5)[0], _sentence(found.because)
    )


def _sentence(text: str) -> str:
    """A capital letter and a full stop; a formula keeps its first letter."""
    return f"{text}." if text.startswith(("c −", "ε", "ln(")) else f"{text[:1].upper()}{text[1:]}."


def _reason(text: str) -> str:
    """Why there is nothing, without repeating the names the table already has."""
    return _sentence(text.partition(": ")[2] if text.startswith("no ε of ") else text)


def _dp_remark(notion: Notion, epsilon: float, conditions: Mapping[str, Any]) -> list[str]:
    """The ε of differential privacy that is enough, if the notion is another."""
    if notion.key == "dp":
        return []
    try:
        found = convert(notion.key, epsilon, by="dp", **conditions)
    except EpsilensError as error:
        return [_sentence(str(error))]
    return [
        f"A mechanism with differential privacy of ε = {rounded_down(found.given_epsilon)} or less keeps this promise."
    ]


def _remarks(conditions: Mapping[str, Any]) -> list[str]:
    out = []
    if conditions.get("dependent") == 1:
        out.append(
            "Records are taken to be independent of each other. If they depend on each other in groups, say how large "
            "the largest is: what differential privacy promises there is weaker by that factor."
        )
    if conditions.get("priors") == "every":
        out.append("Guarantees that name a prior are taken to hold for every prior with such groups.")
    else:
        out.append("Guarantees that name a prior are taken to hold for one and the same prior.")
    return out


def enough(wanted: str, epsilon: float, **conditions: Any) -> NotionsReport:
    """Which ε in each notion is enough for a wanted ε in one."""
    notion = find(wanted, "to")
    rows, found, nothing = [], [], {}
    for key, other in NOTIONS.items():
        if key == notion.key:
            continue
        try:
            made = convert(wanted, epsilon, by=key, **conditions)
        except EpsilensError as error:
            nothing[key] = str(error)
            rows.append(Row(other.name, "not known" if isinstance(error, Missing) else "none", "", _reason(str(error))))
            continue
        found.append(made)
        rows.append(Row(other.name, rounded_down(made.given_epsilon), "", _sentence(made.because)))
    data = {
        "to": notion.key,
        "epsilon": float(epsilon),
        "even_odds_become_at_most": sure(notion, epsilon),
        "enough": [made.to_dict() for made in found],
        "nothing": nothing,
    }
    table = Table("What would be enough for it", tuple(rows), ("ε, or less", ""))
    lead = _lead(notion, epsilon, "says")
    remarks = tuple(_remarks(conditions))
    return NotionsReport(notion.name, lead, (table,), remarks, data, pictures=pictures_html(notion, epsilon))


def between(given: str, epsilon: float, to: str, **conditions: Any) -> NotionsReport:
    """What an ε in one notion promises in one other, step by step, and what would be enough for the same ε there."""
    made = promise(given, epsilon, to, **conditions)
    source, target = made.given, made.promised
    start = (
        f"{source.name} with ε = {rounded_up(made.given_epsilon)} promises {target.name[:1].lower()}{target.name[1:]} "
    )
    lead = (Span(f"{start}with ε = {rounded_up(made.promised_epsilon)}: "), *_about(made))
    rows = tuple(
        Row(
            f"{s.implication.source} → {s.implication.target}",
            rounded_up(s.after),
            "",
            f"{_sentence(s.words(made.conditions))} Why: {s.implication.proof}.",
        )
        for s in made.steps
    )
    remarks = _remarks(conditions)
    if source.key != target.key and epsilon > 0:
        back = convert(to, epsilon, by=given, **conditions)
        remarks.insert(0, f"For ε = {rounded_up(epsilon)} in {target.name[:1].lower()}{target.name[1:]}, "
                          f"{source.name[:1].lower()}{source.name[1:]} with ε = {rounded_down(back.given_epsilon)} "
                          "or less is enough.")  # fmt: skip
    tables = (Table("Step by step", rows, ("ε", "")),) if rows else ()
    return NotionsReport(f"{source.name} → {target.name}", lead, tables, tuple(remarks), {"conversion": made.to_dict()})


def _about(made: Conversion) -> tuple[Span, ...]:
    """The meaning of the promised ε, at the chance the whole chain gives."""
    said = meaning(made.promised, made.promised_epsilon)
    most = frequencies(made.sure, 0.5)[0]
    unit = "people" if made.promised.kind == "nats" else "sure"
    return said[0], Span(f"{most} {unit}", "risk"), said[2]
