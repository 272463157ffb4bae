"""``epsilens ledger``: what was released about whom, what it adds up to, and what may still be released."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import typer

from ..catalogue.commands import Exit
from ..catalogue.parameter import flag
from ..catalogue.said import arguments_given, find_entry, number, whole
from ..errors import InputError
from .common import Said, aside, emit
from .common import show as shown

if TYPE_CHECKING:
    from ..experiment import Experiment
    from ..ledger.ledger import Ledger


_USUAL = "ledger.db"


def ledger(ctx: typer.Context) -> None:
    """Keep the account of everything released about the same people."""
    if ctx.invoked_subcommand is None:
        emit(ctx.get_help(), None)


def show(said: Said) -> None:
    """Say what everything released so far gives away together, and what is left.

    For example: epsilens ledger show --ledger ledger.db
    """
    opened = _opened(said)
    found = opened.accounts()
    if said["people"] is None:
        shown(opened, said["format"], said["output"])
        _told(opened, said)
        return
    account = opened.account(said["people"])
    if account.people not in found:
        raise InputError(
            f"--people is {account.people[:40]!r}, of whom the ledger has nothing: give one of {_listed(found)}",
            parameter="people",
        )
    shown(account, said["format"], said["output"])
    _told(opened, said)


def add(said: Said) -> None:
    """Enter what was released by other means: another tool's claim, a measurement, a training.

    It has happened, so it counts whatever the limits say; exit code 4 where they are exceeded.
    For example: epsilens ledger add gaussian --sigma 4 --title "visits by month"
    """
    made = _released(said)
    opened = _opened(said)
    people = opened.called(said["people"])
    new = _new(opened, people)
    entered = opened.add(
        people,
        made,
        title=said["title"] or "",
        part=said["part"],
        delta=_number(said, "beside") or 0.0,
        at_delta=_number(said, "for_delta") or 0.0,
        within_limits=bool(said["within_limits"]),
    )
    account = opened.account(people)
    shown(account, said["format"], said["output"])
    all_the_same = "That it is about a part alone cannot be checked: it counts for everyone."
    noted = (all_the_same,) if said["part"] is not None else ()
    _told(opened, said, f"Entered for {people}: {made!r}{', ' if entered.title else ''}{entered.title}.", *noted, *new)
    if account.over:
        raise typer.Exit(Exit.EXCEEDED)


def limit(said: Said) -> None:
    """Set what may be released at most; what it promises holds even if noise is chosen after seeing answers.

    For example: epsilens ledger limit --success 0.65 --people patients
    """
    told = {name: _number(said, name) for name in ("success", "epsilon", "psi", "rho", "delta")}
    opened = _opened(said)
    people = opened.called(said["people"])
    new = _new(opened, people)
    account = opened.limit(people, **told, partition=said["partition"] or "")
    shown(account, said["format"], said["output"])
    _told(opened, said, f"The limits of {people} are set.", *new)


def check(said: Said) -> None:
    """Say whether the lines are those that were written, and within their limits; exit code 4 if not.

    For example: epsilens ledger check --head 1f0c…
    """
    opened = _opened(said)
    found = opened.check(said["head"])
    for trouble in found:
        emit(f"line {trouble.line} {trouble.what}" if trouble.line else trouble.what, None)
    if found:
        _told(opened, said)
        raise typer.Exit(Exit.EXCEEDED)
    accounts = opened.accounts()
    released = sum(len(account.releases) for account in accounts.values())
    emit(f"The ledger is as it was written: {len(accounts)} accounts, {released} releases.", None)
    _told(opened, said)


def export(said: Said) -> None:
    """Write every line as JSON, without the ledger's key.

    For example: epsilens ledger export --output lines.json
    """
    opened = _opened(said)
    lines = opened.export(said["people"])
    emit(json.dumps(lines, indent=2, ensure_ascii=False, allow_nan=False), said["output"])
    _told(opened, said)


#: The commands by their second word.
LEDGER: Mapping[str, Callable[[Said], None]] = {
    "show": show, "add": add, "limit": limit, "check": check, "export": export,
}  # fmt: skip


def _opened(said: Said) -> Ledger:
    from ..ledger.ledger import Ledger

    return Ledger(said["ledger"])


def _told(ledger: Ledger, said: Said, *words: str) -> None:
    """Beside the result: what was done, and where, unless that was said."""
    for text in words:
        aside(text)
    if said["ledger"] == _USUAL and ledger.store.path is not None:
        aside(f"The ledger is {ledger.store.path.resolve()} (--ledger names another).")


def _new(ledger: Ledger, people: str) -> tuple[str, ...]:
    """A word where an account is made beside others: a slip of the pen would escape their limits."""
    others = [name for name in ledger.accounts() if name != people] if ledger.store.exists else []
    if not others or ledger.account(people).head:
        return ()
    return (f"{people!r} is a new account, beside {_listed(others)}: are they not the same people?",)


def _listed(people: Any) -> str:
    names = [repr(name[:40]) for name in people]
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _released(said: Said) -> Experiment:
    name = said["mechanism"]
    if name is None:
        if said["epsilon"] is None:
            raise InputError("what was released is missing: give a mechanism, or --epsilon with its --delta")
        name = "approximate" if said["delta"] is not None else "pure"
    entry = find_entry(name)
    arguments = arguments_given(entry, {name: value for name, value in said.items() if name != "people"})
    times = 1 if said["times"] is None else whole("--times", said["times"], "times")
    from ..catalogue.mechanisms import builder

    made: Experiment = builder(entry)(**arguments)
    return made if times == 1 else made.repeat(times)


def _number(said: Said, name: str) -> float | None:
    return None if said[name] is None else number(flag(name), said[name], name)
