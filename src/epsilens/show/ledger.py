"""A ledger in words: what everything released so far gives away together, what is spent of each limit, what is left."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from ..ledger.budget import CURRENCIES
from ..ledger.store import EntryKind as Line
from ..numerics.formatting import count, denominator, floor_digits, thousands
from .charts.ledger import over_time
from .document import (
    Block,
    Cell,
    Column,
    Document,
    Fact,
    Facts,
    Figure,
    Forms,
    Group,
    Kind,
    Lead,
    Paragraph,
    Section,
    Status,
    Table,
    Tone,
    said,
)
from .words import at_most, cost

if TYPE_CHECKING:
    from ..ledger.account import Account, Spending
    from ..ledger.ledger import Ledger


_STATES = {
    Line.RESERVED: "reserved, counts",
    Line.PUBLISHED: "published",
    Line.WITHHELD: "drawn, not shown: counts",
    Line.VOID: "given back",
    Line.ADDED: "entered",
}
_NAMES = {"epsilon": "ε", "psi": "ψ", "rho": "ρ"}
_MOST_ROWS = 200


# -- sentences ----------------------------------------------------------------------------------------------------


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
    promised = account.promised()
    if not many:
        if promised is None:
            return f"Nothing is known yet of releases about {account.people}."
        scale = denominator([promised], [0.5])
        return (
            f"Nothing is released about {account.people} yet. Whatever is, the limits promise that an adversary "
            f"guesses right {_most(promised, scale)} times of {thousands(scale)} about any one person; a coin gets "
            f"{thousands(scale // 2)}."
        )
    now = account.so_far()
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
    last = account.counted[-1]
    more = account.more(last.charge, last.part)
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
    return " ".join(f"{people}: {account_sentence(account)}" for people, account in accounts.items())


# -- documents ----------------------------------------------------------------------------------------------------


def of_account(account: Account) -> Document:
    """The sentence, what is spent, the releases, the chart, what to know."""
    return Document(
        account.people, "Ledger", _opening(account), (*_sections(account), _know(account)), facts=_facts(account),
        side=account.people, tab=f"{account.people}: ledger",
    )  # fmt: skip


def of_ledger(ledger: Ledger) -> Document:
    """One account as it is; of several, each under its name."""
    accounts = _accounts(ledger)
    if len(accounts) == 1:
        made = of_account(*accounts.values())
        return Document(
            made.title, made.kind, made.opening, made.sections, facts=(*made.facts, Fact("Ledger", ledger.store.name)),
            side=made.side, tab=made.tab,
        )  # fmt: skip
    sections: list[Section] = []
    for people, account in accounts.items():
        told: tuple[Block, ...] = (Paragraph(said(account_sentence(account))), *_status(account))
        sections.append(Section(people, told))
        sections += _sections(account, f" · {people}")
    every = list(accounts.values())
    lead = (
        f"{len(accounts)} accounts, of people who are not the same: {', '.join(accounts)}."
        if accounts
        else ledger_sentence(ledger)
    )
    facts = (Fact("Accounts", str(len(every))), Fact("Ledger", ledger.store.name))
    return Document("Ledger", "Ledger", (Lead((said(lead),)),), tuple(sections), facts=facts, side=ledger.store.name)


def _opening(account: Account) -> tuple[Block, ...]:
    return (Lead((said(account_sentence(account)),)), *_status(account))


def _status(account: Account) -> tuple[Block, ...]:
    if account.over:
        return (Status("Over its limits", over=True),)
    return tuple(Paragraph(said(text), Tone.WARNING) for text in _trust(account))


def _facts(account: Account) -> tuple[Fact, ...]:
    dates = [one.at[:10] for one in account.counted]
    since = (Fact("Since", dates[0]), Fact("Last", dates[-1])) if dates else ()
    parts = account.limits.partition if account.limits is not None else ""
    return (
        Fact("Releases", f"{len(account.counted):,}"), *since, *((Fact("Parts", f"by {parts}"),) if parts else ()),
    )  # fmt: skip


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
        Column("What adds up", Kind.NAME, plain=""), Column("Spent", label="Spent"), Column("Limit", label="Limit"),
        Column("Used", label="Used"),
    )  # fmt: skip
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
    blocks: list[Block] = [Paragraph(said(text)) for text in told]
    if account.head:
        blocks.append(Paragraph(said("Kept elsewhere, the hash of the last line shows whether lines were cut off:")))
        blocks.append(Facts((Fact("Head", account.head),)))
    return Section("What to know", tuple(blocks), silent=True)
