"""A release as it is shown: what it promises, the answers with their intervals, and what it cost."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..data.queries import Noise
from ..numerics.formatting import floor_digits
from ..plan.contribution import NoisyNumber
from ..publish.answers import TOUCHED
from .assessment.labels import asked_title, error
from .document import (
    Block,
    Cell,
    Code,
    Column,
    Document,
    Fact,
    Fold,
    Forms,
    Group,
    Items,
    Kind,
    Lead,
    Paragraph,
    Part,
    Section,
    Table,
    Tone,
    plain_table,
    said,
)  # fmt: skip
from .words import cost

if TYPE_CHECKING:
    from ..publish.answers import PlannedAnswers, Published, RemainingBudget


#: Over the plan, at the end.
PLAN = "The plan"

_KINDS = {
    NoisyNumber.ANSWER: "answer", NoisyNumber.TOTAL: "sum", NoisyNumber.SIZE: "number of rows",
    NoisyNumber.PEOPLE: "number of people",
    NoisyNumber.TOUCHED: "people whom the limit touched",
}  # fmt: skip
_CURRENCIES = {"epsilon": "ε", "psi": "ψ", "rho": "ρ (zCDP)", "delta": "δ"}
_OPENS = {
    "release": "",
    "saved": "These answers were published before; giving them again spends nothing. ",
    "dry run": "Nothing was looked at, drawn or spent yet. If it is released: ",
    "synthetic": "These rows are made up: the answers are about nobody, and nothing was spent. ",
}


def sentence(made: Published) -> str:
    """What it promises, after what it is."""
    opens = _OPENS[made.kind]
    told = made.guarantee
    return opens + (f"{told[0].lower()}{told[1:]}" if opens.endswith(": ") else told)


def present(made: Published) -> Document:
    """The promise, the answers, the cost, the plan."""
    opening: list[Lead | Paragraph] = [Lead((said(sentence(made)),))]
    if made.kind in ("release", "dry run") and not made.ledger:
        text = "▲ It is in no ledger: nobody counts what is released next about the same people."
        opening.append(Paragraph(said(text), Tone.WARNING))
    sections = [Section("The answers", tuple(_tables(made)))] if made.answers else []
    if made.offered:
        sections.append(Section("What is published", (_offered(made),)))
    costs: list[Block] = [_room(made.room) if made.room else plain_table(["", "Spent"], _spent(made))]
    if made.room and all(one.limit is None for one in made.room):
        text = "▲ This account has no limit: nothing refuses what is released next about the same people."
        costs.append(Paragraph(said(text), Tone.WARNING))
    listing = Code(json.dumps(made.plan.public(), indent=2, ensure_ascii=False), command=False)
    sections += [
        Section("What they leave out", (Items(made.lost),)),
        Section("What it costs", tuple(costs)),
        Section(PLAN, (Fold("The plan as it was released", (listing,)),), forms=Forms.PAGE),
    ]
    facts = [] if made.kind == "dry run" else [Fact("Released", _when(made.at))]
    facts += [Fact("Account", made.people)] if made.ledger else []
    facts += [Fact("Head", made.head[:16] + "…")] if made.head else []
    facts.append(Fact("Made by", ", ".join(f"{k} {v}" for k, v in made.versions.items())))
    return Document(made.title, "A release", tuple(opening), tuple(sections), facts=tuple(facts), side=made.title)


def _when(at: str) -> str:
    """The minute, in the one time zone the ledger writes."""
    return f"{at[:10]} {at[11:16]} UTC" if at.endswith("+00:00") else at


def _name(release: Published, query: int, own: str) -> str:
    """A query as the assessment calls it."""
    asked = release.plan.queries
    return asked_title(asked[query], bool(release.plan.data.person)) if query < len(asked) else own


def _tables(release: Published) -> list[Block]:
    """A table for each query."""
    made: list[Block] = []
    for query, what in dict.fromkeys((answer.query, answer.interval_of) for answer in release.answers):
        own = [answer for answer in release.answers if (answer.query, answer.interval_of) == (query, what)]
        columns = [name for name, _ in own[0].group]
        head = [*(columns or [""]), "Answer", "from", f"to (95 of 100{f', {what}' if what else ''})"]
        rows = [
            [
                *(["(empty)" if v is None else v for _, v in a.group] or ["everyone"]),
                *map(_number, (a.answer, a.low, a.high)),
            ]
            for a in own
        ]
        title = own[0].name if what == TOUCHED else _name(release, query, own[0].name)
        made.append(Part(title, (plain_table(head, rows),)))
    return made


def _offered(release: Published) -> Table:
    """A line for each number that gets noise: how far it moves an answer, and its scale."""
    offered = release.offered
    gaussian = offered[0].noise is Noise.GAUSSIAN
    law = "σ of Gaussian noise" if gaussian else "b of Laplace noise"
    rows = []
    for one in offered:
        for noisy, scale in one.scales:
            own = _name(release, one.query, one.name)
            name = own if len(one.scales) == 1 else f"{own}: {_KINDS[noisy]}"
            within = error(scale * (1.959963984540055 if gaussian else math.log(20)))
            rows.append(tuple(map(Cell, (name, _many(one), within, f"{float(f'{scale:.4g}'):,.12g}"))))
    heads = {"Answers": "Answers", "Noise, 95 of 100 within": "Within", law: law[0]}  # in full, and on a phone
    columns = Column("Query", Kind.NAME, plain=""), *(Column(head, label=short) for head, short in heads.items())
    return Table(columns, (Group(tuple(rows)),), "What is published")


def _many(one: PlannedAnswers) -> str:
    if one.answers is None:
        return "above threshold"
    return f"{one.answers:,} by {' and '.join(one.by)}" if one.by else "1"


def _room(room: Sequence[RemainingBudget]) -> Table:
    def told(value: float) -> str:
        return "no price" if math.isinf(value) else cost(value)

    rows = [
        [
            _CURRENCIES[one.currency],
            told(one.spent),
            told(one.after),
            "none" if one.limit is None else floor_digits(one.limit),
            "" if one.left is None else floor_digits(one.left),
        ]
        for one in room
    ]
    return plain_table(["", "So far", "With this", "Limit", "Left"], rows)


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) and abs(value) < 1e15 else f"{value:,.12g}"


def _spent(made: Published) -> list[list[str]]:
    words = {
        "epsilon": "ε", "slack": "δ that goes with ε", "psi": "ψ", "rho": "ρ (zCDP)", "delta": "δ of names",
    }  # fmt: skip
    return [
        [words[name], "no price" if value is None else cost(value)] for name, value in made.spent.items() if value != 0
    ]
