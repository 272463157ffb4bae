"""A release as it is shown: what it promises, the answers with their intervals, and what it cost."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..data.queries import Noise
from ..plan.contribution import Noisy
from .document import (
    Block,
    Code,
    Document,
    Fact,
    Forms,
    Items,
    Lead,
    Paragraph,
    Part,
    Section,
    Table,
    Tone,
    plain_table,
    said,
)  # fmt: skip
from .words import small

if TYPE_CHECKING:
    from ..publish.offer import Left, Offered
    from ..publish.published import Published, PublishedAnswer

__all__ = ["PLAN", "present", "sentence"]

#: Over the plan, at the end.
PLAN = "The plan"

_KINDS = {
    Noisy.ANSWER: "answer", Noisy.TOTAL: "sum", Noisy.SIZE: "number of rows", Noisy.PEOPLE: "number of people",
}  # fmt: skip
_CURRENCIES = {"epsilon": "ε", "psi": "ψ", "rho": "ρ (zCDP)", "delta": "δ"}
_OPENS = {
    "release": "",
    "saved": "These answers were published before; giving them again spends nothing. ",
    "dry run": "Nothing was looked at, drawn or spent. This is what would be. ",
    "synthetic": "These rows are made up: the answers are about nobody, and nothing was spent. ",
}


def sentence(made: Published) -> str:
    """What it promises, after what it is."""
    return _OPENS[made.kind] + made.guarantee


def present(made: Published) -> Document:
    """The promise, the answers, the cost, the plan."""
    opening: list[Lead | Paragraph] = [Lead((said(sentence(made)),))]
    if made.kind in ("release", "dry run") and not made.ledger:
        text = "▲ It is in no ledger: nobody counts what is released next about the same people."
        opening.append(Paragraph(said(text), Tone.WARNING))
    sections = [Section("The answers", tuple(_tables(made.answers)))] if made.answers else []
    if made.offered:
        sections.append(Section("What is published", (_offered(made.offered),)))
    cost = _room(made.room) if made.room else plain_table(["", "Spent"], _spent(made))
    sections += [
        Section("What they leave out", (Items(made.lost),)),
        Section("What it costs", (cost,)),
        Section(PLAN, (Code(json.dumps(_plan(made), indent=2, ensure_ascii=False), command=False),), forms=Forms.PAGE),
    ]
    facts = [] if made.kind == "dry run" else [Fact("Released", made.at)]
    facts += [Fact("Ledger", made.ledger), Fact("About", made.people)] if made.ledger else []
    facts += [Fact("Head", made.head[:16] + "…")] if made.head else []
    facts.append(Fact("Made by", ", ".join(f"{k} {v}" for k, v in made.versions.items())))
    return Document(made.title, "A release", tuple(opening), tuple(sections), facts=tuple(facts), side=made.title)


def _plan(made: Published) -> object:
    return made.plan.model_dump(mode="json", exclude_defaults=True)


def _tables(answers: Sequence[PublishedAnswer]) -> list[Block]:
    """A table for each query."""
    made: list[Block] = []
    for query in dict.fromkeys(answer.query for answer in answers):
        own = [answer for answer in answers if answer.query == query]
        columns = [name for name, _ in own[0].group]
        head = [*(columns or [""]), "Answer", "from", "to"]
        rows = [
            [
                *(["(empty)" if v is None else v for _, v in a.group] or ["everyone"]),
                *map(_number, (a.answer, a.low, a.high)),
            ]
            for a in own
        ]
        made.append(Part(own[0].name, (plain_table(head, rows),)))
    return made


def _offered(offered: Sequence[Offered]) -> Table:
    """A line for each number that gets noise, with its scale."""
    law = "σ of Gaussian noise" if offered[0].noise is Noise.GAUSSIAN else "b of Laplace noise"
    rows = []
    for one in offered:
        for noisy, scale in one.scales:
            name = one.name if len(one.scales) == 1 else f"{one.name}: {_KINDS[noisy]}"
            rows.append([name, _many(one), f"{float(f'{scale:.4g}'):,.12g}"])
    return plain_table(["", "Answers", law], rows, wraps=True)


def _many(one: Offered) -> str:
    if one.answers is None:
        return "above threshold"
    return f"{one.answers:,} by {' and '.join(one.by)}" if one.by else "1"


def _room(room: Sequence[Left]) -> Table:
    def told(value: float | None, missing: str) -> str:
        return missing if value is None else "no price" if math.isinf(value) else small(float(f"{value:.4g}"))

    rows = [
        [
            _CURRENCIES[one.currency],
            told(one.spent, ""),
            told(one.after, ""),
            told(one.limit, "none"),
            told(one.left, ""),
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
        [words[name], "no price" if value is None else small(float(f"{value:.6g}"))]
        for name, value in made.spent.items()
        if value != 0
    ]
