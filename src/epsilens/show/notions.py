"""Notions of privacy in words: what each one says, what an ε in one promises in the others, what would be enough."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import EpsilensError, NoSolutionError
from ..notions.conversion import Conversion, Missing, convert, promise, refutation_reason, sure
from ..notions.implications import IMPLICATIONS, NOTIONS, REFUTED, Conditions, Notion, find
from ..numerics.formatting import ceil_digits, floor_digits, frequencies, times
from .document import (
    Cell,
    Column,
    Document,
    Fact,
    Facts,
    Group,
    IconArray,
    Icons,
    Kind,
    Lead,
    Paragraph,
    Said,
    Section,
    Span,
    Table,
    flat,
    said,
)
from .presenters import Presented, to_know, with_command
from .sentences import at_most


@dataclass(frozen=True)
class NotionsReport(Presented):
    """The sentence, the tables, what must be said, and the same as data.

    ``kept_by`` says which ε of differential privacy keeps the promise; it is the first of the remarks.
    """

    heading: str
    lead: Said
    tables: tuple[Section, ...]
    other_remarks: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    kept_by: str = ""
    pictures: Icons | None = None
    command: str = ""

    @property
    def sentence(self) -> str:
        """The lead without its emphasis."""
        return flat(self.lead)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader should know besides."""
        return (*((self.kept_by,) if self.kept_by else ()), *self.other_remarks)

    @property
    def document(self) -> Document:
        """The document."""
        pictures = () if self.pictures is None else (self.pictures,)
        body = Document(
            self.heading, "Notions of privacy", (Lead((self.lead,)), *pictures), (*self.tables, *to_know(self.remarks))
        )
        return with_command(body, self.command)

    def with_command(self, command: str) -> NotionsReport:
        """The same with the line that reproduces it."""
        return replace(self, command=command)

    def to_dict(self) -> dict[str, Any]:
        """What JSON holds."""
        return {"schema": 1, "sentence": self.sentence, **self.data, "remarks": list(self.remarks)}


#: One notion in a table: its name, its ε, what even odds become, and a sentence.
_Row = tuple[str, str, str, str]


def _table(title: str, rows: Sequence[_Row], epsilon: str = "ε", odds: str = "Even odds become") -> Section:
    """Notions and their numbers; a head that is empty leaves its column out."""
    numbered = [(1, epsilon), (2, odds)]
    kept = [(place, head) for place, head in numbered if head]
    columns = (
        Column("Notion", Kind.TEXT, plain=""),
        *(Column(head, Kind.VALUE) for _, head in kept),
        Column("Because" if kept else "In words", Kind.WORDS, plain=""),
    )
    made = tuple((Cell(row[0]), *(Cell(row[place]) for place, _ in kept), Cell(row[3])) for row in rows)
    return Section(title, (Table(columns, (Group(made),), title),))


def _pictures(notion: Notion, epsilon: float) -> Icons:
    """100 guesses before and after, as the other reports draw them."""
    most, before = frequencies(sure(notion, epsilon), given=[0.5])
    first = (Span("Without the release: "), Span(before, "number"), Span(" right"))
    second = (Span(f"With it{', at most' if at_most(most) else ''}: "), Span(most, "risk"), Span(" right"))
    when = "on average" if notion.kind == "nats" else "when the attacker is as sure as they can become"
    return Icons(
        (IconArray(first, 0.5, key="before"), IconArray(second, 0.5, sure(notion, epsilon), key="after")),
        f"Each figure is one of 100 guesses on {notion.asks} that had even odds: how many are right, {when}.",
    )


def meaning(notion: Notion, epsilon: float) -> Said:
    """What the notion's ε means for someone who gave even odds, with that baseline beside it.

    >>> flat(meaning(find("dp"), 1.0))
    "an attacker who knows every other record and gave even odds on one record's value can become at most 74 of 100 \
sure of it; before the release they were 50 of 100 sure."
    """
    most, before = frequencies(sure(notion, epsilon), given=[0.5])
    if notion.kind == "nats":
        most, _ = times(sure(notion, epsilon), given=[0.5], per="of")
        what = f"{notion.attacker}, guesses a yes/no value right {at_most(most)}"
        return Span(what), Span(most, "risk"), Span(f"; a coin gets {before}.")
    what = f"{notion.attacker} and gave even odds on {notion.asks} can become {at_most(most)}"
    return Span(what), Span(f"{most} sure", "risk"), Span(f" of it; before the release they were {before} sure.")


def listed() -> NotionsReport:
    """Every notion in plain words, what implies what, and the claims that do not hold."""
    notions = [(f"{n.name} ({n.key})", "", "", f"{n.words} {n.source}.") for n in NOTIONS.values()]
    implied = [
        (f"{r.source} → {r.target}", "", "", f"{r.formula}, {r.when if r.always else f'if {r.when}'}; {r.proof}.")
        for r in IMPLICATIONS
    ]
    refuted = [(f"{r.source} → {r.target}", "", "", f"{r.claim}: {r.because}.{_by(r.claimed)}") for r in REFUTED]
    lead = (
        Span("The same ε means different things in different definitions. In "),
        Span("differential privacy"),
        Span(" ε = 1 says: "),
        *meaning(find("dp"), 1.0),
    )
    tables = (
        _table("The definitions", notions, "", ""),
        _table("What implies what: the target's ε if the source holds with ε", implied, "", ""),
        _table("Claims that do not hold", refuted, "", ""),
    )
    data = {
        "notions": [n.to_dict() for n in NOTIONS.values()],
        "implications": [r.to_dict() for r in IMPLICATIONS],
        "refuted": [r.to_dict() for r in REFUTED],
    }
    remarks = ("Ask what one promises in the others with --from dp --epsilon 1, what is enough for one with --to ip.",)
    return NotionsReport("Notions of privacy", lead, tables, remarks, data)


def _by(claimed: str) -> str:
    return f" Claimed by {claimed}." if claimed else ""


def _lead(notion: Notion, epsilon: float, verb: str) -> Said:
    return (Span(f"{notion.name} with ε = {ceil_digits(epsilon)} {verb}: "), *meaning(notion, epsilon))


def promised(given: str, epsilon: float, **conditions: object) -> NotionsReport:
    """What an ε in one notion promises in each of the others.

    >>> table = promised("ddp", 0.5, dependent=2).tables[0].blocks[0]
    >>> [(row[0].text, row[1].text) for row in table.rows][3:6:2]
    [('Inferential privacy', '0.5'), ('Membership privacy', '0.5')]
    """
    notion = find(given, "from")
    tried = _others(notion, lambda key: promise(given, epsilon, key, **conditions), NoSolutionError, Missing)
    rows: list[_Row] = []
    for other, made in tried:
        if isinstance(made, Conversion):
            odds = frequencies(made.sure, given=[0.5])[0]
            rows.append((other.name, ceil_digits(made.promised_epsilon), odds, _sentence(made.because)))
        else:
            rows.append((other.name, *_nothing(made, notion, other, conditions, "nothing")))
    data = {"from": notion.key, **_told(notion, epsilon, "promises", tried)}
    kept_by, why_none = _kept_by(notion, epsilon, conditions)
    return NotionsReport(
        notion.name,
        _lead(notion, epsilon, "says"),
        (_table("What it promises in the other notions", rows),),
        (*why_none, *_remarks(conditions)),
        data,
        kept_by,
        _pictures(notion, epsilon),
    )


#: Every other notion with the conversion between the two, or why there is none.
_Tried = list[tuple[Notion, Conversion | EpsilensError]]


def _others(notion: Notion, make: Callable[[str], Conversion], *caught: type[EpsilensError]) -> _Tried:
    tried: _Tried = []
    for key, other in NOTIONS.items():
        if key != notion.key:
            try:
                tried.append((other, make(key)))
            except caught as error:
                tried.append((other, error))
    return tried


def _told(notion: Notion, epsilon: float, name: str, tried: _Tried) -> dict[str, object]:
    """The same as data: the conversions under their name, and for the other notions why there is none."""
    return {
        "epsilon": float(epsilon),
        "even_odds_become_at_most": sure(notion, epsilon),
        name: [made.to_dict() for _, made in tried if isinstance(made, Conversion)],
        "nothing": {other.key: str(made) for other, made in tried if not isinstance(made, Conversion)},
    }


def _sentence(text: str) -> str:
    """A capital letter and a full stop; a formula keeps its first letter."""
    return f"{text}." if text.startswith(("c −", "ε", "ln(")) else f"{text[:1].upper()}{text[1:]}."


def _nothing(
    error: EpsilensError, source: Notion, target: Notion, conditions: Mapping[str, Any], none: str
) -> tuple[str, str, str]:
    """What stands for an ε where there is none, and why, without repeating the names the table already has."""
    if isinstance(error, NoSolutionError):
        return none, "", _sentence(refutation_reason(source, target, Conditions(**conditions)))
    return "not known" if isinstance(error, Missing) else none, "", _sentence(str(error))


def _kept_by(notion: Notion, epsilon: float, conditions: Mapping[str, object]) -> tuple[str, list[str]]:
    """The ε of differential privacy that is enough, if the notion is another; or why there is none."""
    if notion.key == "dp":
        return "", []
    try:
        found = convert(notion.key, epsilon, by="dp", **conditions)
    except EpsilensError as error:
        return "", [_sentence(str(error))]
    enough = floor_digits(found.given_epsilon)
    return f"A mechanism with differential privacy of ε = {enough} or less keeps this promise.", []


def _remarks(conditions: Mapping[str, object]) -> list[str]:
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


def enough(wanted: str, epsilon: float, **conditions: object) -> NotionsReport:
    """Which ε in each notion is enough for a wanted ε in one."""
    notion = find(wanted, "to")
    tried = _others(notion, lambda key: convert(wanted, epsilon, by=key, **conditions), EpsilensError)
    rows: list[_Row] = []
    for other, made in tried:
        if isinstance(made, Conversion):
            rows.append((other.name, floor_digits(made.given_epsilon), "", _sentence(made.because)))
        else:
            rows.append((other.name, *_nothing(made, other, notion, conditions, "none")))
    data = {"to": notion.key, **_told(notion, epsilon, "enough", tried)}
    table = _table("What would be enough for it", rows, "ε, or less", "")
    lead = _lead(notion, epsilon, "says")
    remarks = tuple(_remarks(conditions))
    return NotionsReport(notion.name, lead, (table,), remarks, data, pictures=_pictures(notion, epsilon))


def between(given: str, epsilon: float, to: str, **conditions: object) -> NotionsReport:
    """What an ε in one notion promises in one other, step by step, and what would be enough for the same ε there."""
    made = promise(given, epsilon, to, **conditions)
    source, target = made.given, made.promised
    start = (
        f"{source.name} with ε = {ceil_digits(made.given_epsilon)} promises {target.name[:1].lower()}{target.name[1:]} "
    )
    lead = (Span(f"{start}with ε = {ceil_digits(made.promised_epsilon)}: "), *_about(made))
    rows = [
        (
            f"{s.implication.source} → {s.implication.target}",
            ceil_digits(s.after),
            "",
            f"{_sentence(s.words(made.conditions))} Why: {s.implication.proof}.",
        )
        for s in made.steps
    ]
    remarks = _remarks(conditions)
    if source.key != target.key and epsilon > 0:
        back = convert(to, epsilon, by=given, **conditions)
        aim, cause = (f"{notion.name[:1].lower()}{notion.name[1:]}" for notion in (target, source))
        enough = f"{cause} with ε = {floor_digits(back.given_epsilon)} or less is enough."
        remarks.insert(0, f"For ε = {ceil_digits(epsilon)} in {aim}, {enough}")
    tables = (_table("Step by step", rows, "ε", ""),) if rows else ()
    return NotionsReport(f"{source.name} → {target.name}", lead, tables, tuple(remarks), {"conversion": made.to_dict()})


def _about(made: Conversion) -> Said:
    """The meaning of the promised ε, at the chance the whole chain gives."""
    said = meaning(made.promised, made.promised_epsilon)
    most = frequencies(made.sure, given=[0.5])[0]
    unit = "people" if made.promised.kind == "nats" else "sure"
    return said[0], Span(f"{most} {unit}", "risk"), said[2]


def promise_sentence(c: Conversion) -> str:
    """What a conversion says, in one sentence."""
    return (
        f"{c.given.name} with ε = {c.given_epsilon:.6g} promises {c.promised.name.lower()} with "
        f"ε = {c.promised_epsilon:.6g}: even odds become at most {100 * c.sure:.3g} %."
    )


def of_conversion(c: Conversion) -> Document:
    """The sentence, then the chain of implications."""
    chain = tuple(
        Fact(f"{s.implication.source} → {s.implication.target}", f"ε = {s.after:.6g}; {s.words(c.conditions)}")
        for s in c.steps
    )
    return Document(
        f"{c.given.name} → {c.promised.name}",
        "Notions of privacy",
        (Paragraph(said(promise_sentence(c))), *((Facts(chain),) if chain else ())),
    )
