"""A release as it is shown: what it promises, the answers with their intervals, and what it cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .document import Block, Code, Document, Fact, Items, Lead, Paragraph, Part, Section, Tone, plain_table, said

if TYPE_CHECKING:
    from ..publish.published import Published, PublishedAnswer

__all__ = ["present", "sentence"]

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
    sections += [
        Section("What they leave out", (Items(made.lost),)),
        Section("What it costs", (plain_table(["", "Spent"], _spent(made)),)),
        Section("The plan", (Code(json.dumps(_plan(made), indent=2, ensure_ascii=False), command=False),)),
    ]
    facts = [Fact("Released", made.at)]
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


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) and abs(value) < 1e15 else f"{value:,.12g}"


def _spent(made: Published) -> list[list[str]]:
    words = {
        "epsilon": "ε", "slack": "δ that goes with ε", "psi": "ψ", "rho": "ρ (zCDP)", "delta": "δ of names",
    }  # fmt: skip
    return [
        [words[name], "no price" if value is None else f"{value:.6g}"]
        for name, value in made.spent.items()
        if value != 0
    ]
