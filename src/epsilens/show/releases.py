"""A ledger in words: what everything released so far gives away together, what is spent of each limit, what is left."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ..data.queries import Noise
from ..ledger.budget import CURRENCIES
from ..ledger.store import EntryKind as Line
from ..numerics.formatting import count, denominator, floor_digits, thousands
from ..plan.contribution import NoisyNumber
from ..publish.answers import TOUCHED
from .assessment.tables import asked_title, error
from .charts.findings import over_time
from .document import (
    Block,
    Cell,
    Code,
    Column,
    Document,
    Fact,
    Facts,
    Figure,
    Fold,
    Forms,
    Group,
    Items,
    Kind,
    Lead,
    Paragraph,
    Part,
    Section,
    Status,
    Table,
    Tone,
    plain_table,
    said,
)
from .presenters import CHECKED
from .sentences import at_most, cost
from .short_results import certificate_fold

if TYPE_CHECKING:
    from ..ledger.account import Account, Spending
    from ..ledger.ledger import Ledger
    from ..publish.answers import PlannedAnswers, Published, RemainingBudget


_STATES = {
    Line.RESERVED: "reserved, counts",
    Line.PUBLISHED: "published",
    Line.WITHHELD: "drawn, not shown: counts",
    Line.VOID: "given back",
    Line.ADDED: "entered",
}
_NAMES = {"epsilon": "ε", "psi": "ψ", "rho": "ρ"}
_MOST_ROWS = 200


def _most(p: float, scale: int) -> str:
    """At most so many; "at most more than 99" would say nothing, nor would "at most 100"."""
    shown = count(p, scale)
    return shown if p >= 1 else f"{at_most(shown)}{shown}"


def account_sentence(account: Account) -> str:
    """The finding, beside a coin's.

    >>> import epsilens as el, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = el.Ledger(f"{folder}/ledger.db")
    ...     _ = ledger.limit("patients", success=0.65)
    ...     _ = ledger.add("patients", el.laplace(epsilon=0.5))
    ...     print(ledger.account("patients").sentence)
    After 1 release an adversary guesses right at most 62 times of 100 about any one person; a coin gets 50. That is if no noise was chosen after seeing answers; if some was, at most 65, which the limits promise. No room is left for another like the last.
    """  # noqa: E501 - one sentence, on one line
    many = len(account.counted)
    promised = account.success_promised
    if not many:
        if promised is None:
            return f"Nothing is known yet of releases about {account.name}."
        scale = denominator([promised], [0.5])
        return (
            f"Nothing is released about {account.name} yet. Whatever is, the limits promise that an adversary "
            f"guesses right {_most(promised, scale)} times of {thousands(scale)} about any one person; a coin gets "
            f"{thousands(scale // 2)}."
        )
    now = account.history[-1][1]
    scale = max(denominator([p], [0.5]) for p in (now, promised) if p is not None)
    told = (
        f"After {many:,} release{'s' if many > 1 else ''} an adversary guesses right {_most(now, scale)} times of "
        f"{thousands(scale)} about any one person; a coin gets {thousands(scale // 2)}. That is if no noise was chosen "
        "after seeing answers"
    )
    if account.over:
        return f"{told}. More was released than the limits allow: they promise nothing any more."
    if promised is None:
        return f"{told}; if some was, nothing is promised, because no limit was set."
    return f"{told}; if some was, {_most(promised, scale)}, which the limits promise. {_room(account)}"


def _room(account: Account) -> str:
    more = account.room
    if more is None:
        return "What the last one cost leaves room for any number like it."
    if not more:
        return "No room is left for another like the last."
    return f"Room for about {more:,} more like the last."


def _trust(account: Account) -> list[str]:
    """What the promise rests on."""
    told = []
    if account.raised:
        told.append(
            "A limit was raised after something had been released: what the limits promise holds only if the answers "
            "had no part in that."
        )
    elif account.late:
        told.append(
            "A limit was first set after something had been released: what the limits promise holds only if the "
            "answers had no part in that."
        )
    if account.standing != account.limits:
        told.append("A limit was lowered since: what is promised is what stood when the answers were seen.")
    return told


def _accounts(ledger: Ledger) -> dict[str, Account]:
    """Its accounts; none where it is still to be made, which is no reason not to show it."""
    return ledger.accounts() if ledger.store.exists else {}


def ledger_sentence(ledger: Ledger) -> str:
    """One sentence an account, or what there is."""
    accounts = _accounts(ledger)
    if len(accounts) == 1:
        return account_sentence(*accounts.values())
    if not accounts:
        if not ledger.store.exists:  # a name that is misspelt must not read as an empty account
            return f"There is no ledger at {ledger.store.name} yet: a limit or a release makes one."
        return "Nothing is entered in this ledger yet."
    return " ".join(f"{name}: {account_sentence(account)}" for name, account in accounts.items())


def of_account(account: Account) -> Document:
    """The sentence, what is spent, the releases, the chart, what to know."""
    name, sections = account.name, (*_sections(account), _know(account))
    opening = (Lead((said(account_sentence(account)),)), *_status(account))
    return Document(name, "Ledger", opening, sections, facts=_facts(account), side=name, tab=f"{name}: ledger")


def of_ledger(ledger: Ledger) -> Document:
    """One account as it is; of several, each under its name."""
    accounts = _accounts(ledger)
    if len(accounts) == 1:
        made = of_account(*accounts.values())
        return replace(made, facts=(*made.facts, Fact("Ledger", ledger.store.name)))
    sections: list[Section] = []
    for name, account in accounts.items():
        told: tuple[Block, ...] = (Paragraph(said(account_sentence(account))), *_status(account))
        sections.append(Section(name, told))
        sections += _sections(account, f" · {name}")
    every = list(accounts.values())
    lead = (
        f"{len(accounts)} accounts, of people who are not the same: {', '.join(accounts)}."
        if accounts
        else ledger_sentence(ledger)
    )
    facts = (Fact("Accounts", str(len(every))), Fact("Ledger", ledger.store.name))
    return Document("Ledger", "Ledger", (Lead((said(lead),)),), tuple(sections), facts=facts, side=ledger.store.name)


def _status(account: Account) -> tuple[Block, ...]:
    if account.over:
        return (Status("Over its limits", over=True),)
    return tuple(Paragraph(said(text), Tone.WARNING) for text in _trust(account))


def _facts(account: Account) -> tuple[Fact, ...]:
    dates = [one.at[:10] for one in account.counted]
    since = (Fact("Since", dates[0]), Fact("Last", dates[-1])) if dates else ()
    parts = account.limits.partition if account.limits is not None else ""
    return (Fact("Releases", f"{len(account.counted):,}"), *since, *((Fact("Parts", f"by {parts}"),) if parts else ()))


def _sections(account: Account, after: str = "") -> tuple[Section, ...]:
    side = "Three prices of the same releases: each adds up, and a limit on one is enough. Larger is less private."
    made = [Section(f"Spent and allowed{after}", (_spent(account),), side)]
    if account.counted:
        note = "Solid: had all noise been fixed in advance. Dashed: what the limits promise whatever was chosen."
        blocks = (Figure(partial(over_time, account)), Paragraph(said(note), Tone.NOTE, Forms.PAGE))
        made.append(Section(f"Over time{after}", blocks, forms=Forms.PAGE))
    if account.releases:
        made.append(Section(f"Releases{after}", (_releases(account), _listed(account))))
    return tuple(made)


def _spent(account: Account) -> Table:
    spent, limits = account.spent, account.limits
    rows = []
    for name in CURRENCIES:
        limit = None if limits is None else getattr(limits, name)
        rows.append(_row(_NAMES[name], getattr(spent, name), limit, squared=name == "psi"))
    delta = None if limits is None else limits.delta
    away = limits is not None and bool({"psi", "rho"} & set(limits.currencies))
    if spent.delta or (delta and away):
        rows.append(_row("δ beside ψ and ρ", spent.delta, delta if away else None))
    if spent.slack or (delta and limits is not None and limits.epsilon is not None):
        rows.append(_row("δ beside ε", spent.slack, delta if limits and limits.epsilon is not None else None))
    columns = (
        Column("What adds up", Kind.NAME, plain=""),
        Column("Spent", label="Spent"),
        Column("Limit", label="Limit"),
        Column("Used", label="Used"),
    )
    return Table(columns, (Group(tuple(rows)),), "Spent and allowed")


def _row(name: str, spent: float, limit: float | None, *, squared: bool = False) -> tuple[Cell, ...]:
    shown = "no price" if math.isinf(spent) else cost(spent)
    if limit is None:
        return Cell(name), Cell(shown), Cell("none"), Cell("")
    share = math.inf if not limit and spent else 0.0 if not spent else spent / limit
    share = share**2 if squared else share
    used = "over" if share > 1 + 1e-9 else f"{math.ceil(100 * share - 1e-7)}%"
    return Cell(name), Cell(shown), Cell(floor_digits(limit, 4) if limit else "0"), Cell(used, over=share > 1 + 1e-9)


def _releases(account: Account) -> Table:
    """In running text and in a notebook: a line each."""
    parted = account.limits is not None and bool(account.limits.partition)
    columns = [Column("When", Kind.NAME), Column("Title", Kind.WORDS), Column("By", Kind.WORDS)]
    columns += [Column("Part", Kind.WORDS)] if parted else []
    columns += [Column("State", Kind.WORDS), *(Column(name) for name in "εψρδ")]
    rows = []
    for one in account.releases[-_MOST_ROWS:]:
        part = (Cell(one.part or "all"),) if parted else ()
        told = Cell(_when(one)), Cell(one.title or "no title"), Cell(one.by), *part, Cell(_STATES[one.state])
        rows.append((*told, *_prices(one)))
    return Table(tuple(columns), (Group(tuple(rows)),), "Releases", Forms.RUNNING | Forms.NOTEBOOK)


def _listed(account: Account) -> Table:
    """On a page: the title, beneath it the rest, beside it what it costs."""
    rows = []
    for one in account.releases[-_MOST_ROWS:]:
        told = [_when(one), one.by, *([] if one.part is None else [one.part]), _STATES[one.state]]
        rows.append((Cell(one.title or "no title", detail=" · ".join(told)), *_prices(one)))
    columns = (Column("Release", Kind.NAME), *(Column(name, label=name) for name in "εψρδ"))
    return Table(columns, (Group(tuple(rows)),), "Releases", Forms.PAGE)


def _when(one: Spending) -> str:
    return one.at[:16].replace("T", " ")


def _prices(one: Spending) -> tuple[Cell, ...]:
    charge = one.charge
    prices = ["∞" if math.isinf(v) else cost(v) for v in (charge.epsilon, charge.psi, charge.rho)]
    delta = max(charge.delta, charge.slack)
    return *(Cell(price) for price in prices), Cell(cost(delta))


def _know(account: Account) -> Section:
    told = [
        "ε, ψ² and ρ of releases add up even where noise was chosen after seeing answers, each with its δ; trade-off "
        "curves do not. A limit promises what it stands for, not what is spent so far.",
    ]
    if len(account.releases) > _MOST_ROWS:
        told.append(f"The last {_MOST_ROWS} of {len(account.releases):,} releases are listed; export has them all.")
    spent = account.spent
    if account.counted and math.isfinite(spent.epsilon) and not spent.slack:
        told.append(
            f"Only ε also holds as a running total: whatever was chosen, this is ε = {cost(spent.epsilon)} so far."
        )
    certified = sum(one.certificate is not None for one in account.releases)
    if certified:
        told.append(f"Export has a certificate for {certified:,} of {len(account.releases):,} releases. {CHECKED}")
    blocks: list[Block] = [Paragraph(said(text)) for text in told]
    if account.head:
        blocks.append(Paragraph(said("Kept elsewhere, the hash of the last line shows whether lines were cut off:")))
        blocks.append(Facts((Fact("Head", account.head),)))
    return Section("What to know", tuple(blocks), silent=True)


# A release as it is shown: what it promises, the answers with their intervals, and what it cost.

#: Over the plan, at the end.
PLAN = "The plan"

_KINDS = {
    NoisyNumber.ANSWER: "answer",
    NoisyNumber.TOTAL: "sum",
    NoisyNumber.SIZE: "number of rows",
    NoisyNumber.PEOPLE: "number of people",
    NoisyNumber.TOUCHED: "people whom the limit touched",
}
_CURRENCIES = {"epsilon": "ε", "psi": "ψ", "rho": "ρ (zCDP)", "delta": "δ"}
_OPENS = {
    "release": "",
    "saved": "These answers were published before; giving them again spends nothing. ",
    "dry run": "Nothing was looked at, drawn or spent yet. If it is released: ",
    "synthetic": "These rows are made up: the answers are about nobody, and nothing was spent. ",
}


def release_sentence(made: Published) -> str:
    """What it promises, after what it is."""
    opens = _OPENS[made.kind]
    told = made.guarantee
    return opens + (f"{told[0].lower()}{told[1:]}" if opens.endswith(": ") else told)


def of_release(made: Published) -> Document:
    """The promise, the answers, the cost, the plan."""
    opening: list[Lead | Paragraph] = [Lead((said(release_sentence(made)),))]
    if made.kind in ("release", "dry run") and not made.ledger:
        text = "▲ It is in no ledger: nobody counts what is released next about the same people."
        opening.append(Paragraph(said(text), Tone.WARNING))
    sections = [Section("The answers", tuple(_tables(made)))] if made.answers else []
    if made.offered:
        sections.append(Section("What is published", (_offered(made),)))
    costs: list[Block] = [
        _published_room(made.room) if made.room else plain_table(["", "Spent"], _published_cost(made))
    ]
    if made.room and all(one.limit is None for one in made.room):
        text = "▲ This account has no limit: nothing refuses what is released next about the same people."
        costs.append(Paragraph(said(text), Tone.WARNING))
    listing = Code(json.dumps(made.plan.public(), indent=2, ensure_ascii=False), command=False)
    folds = (Fold("The plan as it was released", (listing,)), *certificate_fold(made.certificate))
    sections += [
        Section("What they leave out", (Items(made.lost),)),
        Section("What it costs", tuple(costs)),
        Section(PLAN, folds, forms=Forms.PAGE),
    ]
    facts = [] if made.kind == "dry run" else [Fact("Released", _published_when(made.at))]
    facts += [Fact("Account", made.account)] if made.ledger else []
    facts += [Fact("Head", made.head[:16] + "…")] if made.head else []
    facts.append(Fact("Made by", ", ".join(f"{k} {v}" for k, v in made.versions.items())))
    return Document(made.title, "A release", tuple(opening), tuple(sections), facts=tuple(facts), side=made.title)


def _published_when(at: str) -> str:
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


def _published_room(room: Sequence[RemainingBudget]) -> Table:
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


def _published_cost(made: Published) -> list[list[str]]:
    words = {"epsilon": "ε", "slack": "δ that goes with ε", "psi": "ψ", "rho": "ρ (zCDP)", "delta": "δ of names"}
    return [
        [words[name], "no price" if value is None else cost(value)] for name, value in made.spent.items() if value != 0
    ]
