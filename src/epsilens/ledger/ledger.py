"""The ledger: what was released about whom, and what may still be.

>>> import tempfile, epsilens as el
>>> folder = tempfile.TemporaryDirectory()
>>> ledger = Ledger(f"{folder.name}/ledger.db")
>>> _ = ledger.limit("patients", success=0.65)
>>> _ = ledger.add("patients", el.laplace(epsilon=0.1), title="visits by month")
>>> account = ledger.account("patients")
>>> round(account.spent.psi, 4), round(account.promised(), 4), account.more(account.releases[-1].charge)
(0.1223, 0.65, 38)
>>> folder.cleanup()
"""

from __future__ import annotations

import getpass
import hashlib
import hmac
import math
import os
import secrets
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from itertools import combinations
from typing import ClassVar

from .. import __version__
from ..certificate import success_certificate
from ..data.tables.address import without_password
from ..errors import InputError, type_phrase
from ..experiment import Experiment
from ..results import SentenceResult
from .account import Account, Spending, accounts_of, can_close, experiment_neighbours, serialize
from .budget import Charge, Limits, charge_of, confusable, normalized_name
from .store import EntryKind, LedgerEntry, Record, Store, Writer, canonical_json

#: The first account of a ledger, where nobody names one.
EVERYONE = "everyone"
_PACKAGES = ("opendp", "numpy", "scipy", "ibis-framework", "duckdb")
_LONGEST = 200


@dataclass(frozen=True)
class LedgerProblem:
    """Something in a ledger that is not as it was written."""

    line: int
    what: str


class Reservation:
    """Room taken for a release: spent from now on, unless it is given back before anything is drawn."""

    def __init__(self, ledger: Ledger, account: str, release: str, head: str, at: str) -> None:
        self._ledger, self.account, self.id, self.head, self.at = ledger, account, release, head, at

    def publish(self, **answers: object) -> str:
        """The release is out; returns the head of the account, for the file of answers."""
        return self._close(EntryKind.PUBLISHED, answers)

    def withhold(self, why: str) -> str:
        """It was drawn and never shown: spent all the same."""
        return self._close(EntryKind.WITHHELD, {"why": _printable(why)})

    def void(self, why: str) -> str:
        """Nothing was drawn: nothing is spent."""
        return self._close(EntryKind.VOID, {"why": _printable(why)})

    def _close(self, kind: EntryKind, body: Record) -> str:
        with self._ledger.store.writing(self.account) as writer:
            mine = [e for e in writer.entries if e.release == self.id]
            if len(mine) != 1 or not can_close(mine[0].kind, kind):
                raise InputError(f"release {self.id} is closed already: reserve another one")
            return writer.append(kind, self.id, {**body, "at": _now()}).hash


class Ledger(SentenceResult):
    """A ledger in a file of SQLite (``ledger.db``) or a database of PostgreSQL (``postgresql://user@host/database``).

    It is made by the first line that is written into it. ``account`` names an account: those whom releases are about.
    Tables about the same people share one.
    """

    shown_as: ClassVar[str] = "ledger"

    def __init__(self, url: str | os.PathLike[str]) -> None:
        self.store = Store(url)

    def __repr__(self) -> str:
        return f"Ledger({self.store.name!r})"

    def __eq__(self, other: object) -> bool:
        return self.store.address == other.store.address if isinstance(other, Ledger) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.store.address)

    def __reduce__(self) -> tuple[type[Ledger], tuple[str]]:
        """Pickled, a ledger is where it lies, and is opened there again; nothing of what is in it travels.

        An address of PostgreSQL keeps the password it was given with: leave it to the environment (``PGPASSWORD``)
        where a pickle may be read by others.
        """
        return Ledger, (self.store.address,)

    def accounts(self) -> dict[str, Account]:
        """Every account, by the people it is about."""
        if not self.store.exists:
            raise InputError(
                f"there is no ledger at {self.store.name}: a limit or a release makes one; check the name", "ledger"
            )
        return accounts_of(self.store.read())

    def account(self, account: str) -> Account:
        """One account; an empty one where nothing is known of these people."""
        found = accounts_of(self.store.read()) if self.store.exists else {}
        return found.get(_account_name(account), Account(_account_name(account)))

    def account_name(self, account: str | None = None) -> str:
        """The account that is meant: the one that is named, or else the only one there is.

        With several, somebody must say which: what is released into another one escapes the limits of the first.
        """
        found = list(accounts_of(self.store.read())) if self.store.exists else []
        if account is not None:
            name = _account_name(account)
            _refuse_confusable(name, found)
            return name
        if len(found) > 1:
            listed = ", ".join(repr(name[:40]) for name in found[:5]) + (", …" if len(found) > 5 else "")
            raise InputError(
                f"account is missing (--account): the ledger has {len(found)} accounts, so give one of {listed}",
                parameter="account",
            )
        return found[0] if found else EVERYONE

    def experiment(self, account: str) -> Experiment | None:
        """Everything released about these people, observed together, had all noise been fixed in advance."""
        return self.account(account).experiment

    def check(self, head: str | None = None) -> list[LedgerProblem]:
        """Whether the lines are those that were written, and stay within their limits.

        ``head`` is the hash that stands in a file of answers: a ledger whose end was cut off does not have it.
        """
        if not isinstance(head, str | None):
            raise InputError(f"head is {type_phrase(head)}: give the hash as text", parameter="head", value=head)
        if not self.store.exists:
            self.accounts()
        entries = self.store.read()
        found = _chain_problems(entries)
        if head and (cut := head.strip()).lower() not in {entry.kept for entry in entries}:
            found.append(LedgerProblem(0, f"the head {cut[:12]}… is not there: the end of the ledger was cut off"))
        lines: dict[str, list[LedgerEntry]] = {}
        for entry in entries:
            lines.setdefault(entry.account, []).append(entry)
        for account, mine in lines.items():
            found += _closing_problems(mine)
            try:
                state = Account.of(account, mine)
            except InputError as error:
                found.append(LedgerProblem(0, str(error)))
                continue
            if state.limits is not None and state.limits.exceeded(state.spent):
                found.append(LedgerProblem(0, f"more is spent for {account!r} than its limits allow"))
        named = {account: mine for account, mine in lines.items() if account}
        return found + _shared_data(named) + _address_problems(entries)

    def export(self, account: str | None = None) -> list[Record]:
        """Every line as plain values, without the ledger's key.

        The addresses of tables that older versions wrote down are left out: such a line no longer gives its hash.
        """
        wanted = None if account is None else _account_name(account)
        if not self.store.exists:
            self.accounts()
        lines = [e for e in self.store.read() if e.kind is not EntryKind.OPENED and wanted in (None, e.account)]
        return [
            {"seq": e.seq, "account": e.account, "kind": e.kind.value, "release": e.release}
            | {"body": _without_addresses(e.body), "previous": e.previous, "hash": e.kept}
            for e in lines
        ]

    def limit(self, account: str, **limits: str | float | None) -> Account:
        """Set what may be spent: ``success`` (of 1), ``epsilon``, ``psi``, ``rho``, ``delta``, ``partition``.

        It replaces the limits before it, and counts what is spent already. What a limit promises it promises where it
        was set before the answers were seen; one that is raised later is told as such.
        """
        set_to = Limits.of(**limits)
        name = _account_name(account)
        with self.store.writing(name) as writer:
            state = _state(name, writer)
            if state.limits is not None and state.limits.partition != set_to.partition and state.counted:
                raise InputError(
                    f"the parts of {state.name!r} are set with its first limit: keep partition as it is", "partition"
                )
            # Nothing had a part before there was a partition, so this is what every part has paid.
            if (found := set_to.exceeded(state.spent)) is not None:
                spent = "none can be given" if math.isinf(found.value) else f"{found.value:.6g} is spent already"
                raise InputError(
                    f"{found.currency} is {found.limit:.6g}, but for {state.name!r} {spent} in it: give a limit "
                    "above that, or one in another currency",
                    parameter=found.currency,
                )
            asked = {k: v if isinstance(v, str) else float(v) for k, v in limits.items() if v is not None}
            writer.append(EntryKind.LIMIT, "", {"limits": set_to.to_dict(), "asked": asked, **_signature()})
            return Account.of(name, writer.entries)

    def add(
        self, account: str, experiment: Experiment, *, title: str = "", delta: float = 0.0, at_delta: float = 0.0,
        part: str | None = None, within_limits: bool = False, **told: object,
    ) -> Spending:  # fmt: skip
        """Enter what was released by other means: a claim, another tool's measurement, a training.

        It counts whether or not it is within the limits, for it has happened; one beyond them is told by ``check``.
        What has not happened yet is entered ``within_limits``: then one beyond them is refused. ``part`` is noted, and
        it counts for everybody all the same: that it is about a part alone cannot be looked up.
        """
        charge = charge_of(experiment, delta=delta, at_delta=at_delta)
        body = self._body(experiment, charge, title, part, told)
        name = _account_name(account)
        with self.store.writing(name) as writer:
            state = _state(name, writer)
            state.fits(experiment, body["part"])
            if within_limits:
                state.check(charge)
            writer.append(EntryKind.ADDED, uuid.uuid4().hex, body)
            return Account.of(name, writer.entries).releases[-1]

    def reserve(
        self, account: str, experiment: Experiment, charge: Charge, *, title: str = "", part: str | None = None,
        partition: str | None = None, plan: Record | None = None, data: str = "", again: bool = False,
        identity: Record | None = None, other_people: bool = False, **told: object,
    ) -> Reservation | Spending:  # fmt: skip
        """Check the limits and take the room, in one step that no other writer can come between.

        The same plan gives the release that was last published of it, whatever the data is by now, and spends nothing:
        a fresh draw because the data changed would tell that it did. One that was reserved and never published is
        spent, and drawn anew only ``again``. ``identity`` is what makes a plan the same, where that is not all of it;
        ``data`` the keyed hash of the data: what another account holds is refused, unless it is about
        ``other_people``. Whoever reserves for a ``part`` has looked up that no row of others counts, by the column
        ``partition``.
        """
        if not isinstance(data, str):
            raise InputError(f"data is {type_phrase(data)}: give what names the data as text", parameter="data")
        what = plan if identity is None else identity
        mark = "" if what is None else self.keyed(canonical_json(what))
        told = {"plan": plan, "data": data, "mark": mark, **({"other_people": True} if other_people else {}), **told}
        body = self._body(experiment, charge, title, part, told)
        name = _account_name(account)
        with self.store.writing(name) as writer:
            state = _state(name, writer)
            same = _same(state, mark)
            if (found := _published(same)) is not None and not again:
                return found
            if same and not again:
                raise InputError(
                    f"the same release was reserved at {same[-1].at} and never published: it is under way, or it broke "
                    "off and is spent; draw it again only if it is to be spent again",
                    parameter="again",
                )
            apart = data and not other_people and all(one.body.get("data") != data for one in state.releases)
            if apart and (others := writer.others(canonical_json({"data": data})[1:-1])):
                raise InputError(
                    f"this data was released about {others[0]!r}, and would be counted apart from that for "
                    f"{state.name!r}: name that account, or say that it is about other people (--other-people); "
                    "nothing was spent",
                    parameter="account",
                )
            state.fits(experiment, body["part"])
            if part is not None and partition and state.limits and state.limits.partition != partition:
                raise InputError(
                    f"the parts of {state.name!r} are no longer by {partition!r}: nothing was spent, try again", "part"
                )
            state.check(charge, body["part"])
            entry = writer.append(EntryKind.RESERVED, uuid.uuid4().hex, body)
        return Reservation(self, name, entry.release, entry.hash, body["at"])

    def saved(self, account: str, identity: Record) -> Spending | None:
        """What was last published of this plan; None where nothing was. It reads, and makes nothing."""
        lines = self.store.read() if self.store.exists else []
        if not (keys := [e for e in lines if e.kind is EntryKind.OPENED]):
            return None
        mine = self.store.unchanged([e for e in lines if e.account == _account_name(account)])
        return _published(_same(Account.of(_account_name(account), mine), _keyed(keys[0], canonical_json(identity))))

    def keyed(self, content: bytes | str) -> str:
        """A hash of data that only this ledger can make: a plain one would let anybody test who is in a table."""
        if not isinstance(content, bytes | str):
            raise InputError(f"content is {type_phrase(content)}: give bytes or text", parameter="content")
        with self.store.writing("") as writer:
            if not writer.entries:
                writer.append(EntryKind.OPENED, "", {"key": secrets.token_hex(32), **_signature()})
            return _keyed(writer.entries[0], content)

    @staticmethod
    def _body(experiment: Experiment, charge: Charge, title: str, part: str | None, told: Record) -> Record:
        if not isinstance(charge, Charge):
            raise InputError(f"charge is {type_phrase(charge)}: give what charge_of returns", parameter="charge")
        if part is not None:
            part = normalized_name("part", part, needed="name the part, or leave it out")
        certificate = success_certificate(experiment)
        return (
            {**told, "title": _printable(title), "parts": serialize(experiment), "charge": charge.to_dict()}
            | {"part": part, "neighbours": experiment_neighbours(experiment).value, **_signature()}
            | {"versions": package_versions(*_PACKAGES)}
            | ({} if certificate is None else {"certificate": certificate.to_dict()})
        )

    def to_dict(self) -> dict[str, object]:
        accounts = [account.to_dict() for account in self.accounts().values()]
        return {"schema": 1, "ledger": self.store.name, "accounts": accounts}


def _keyed(opened: LedgerEntry, content: bytes | str) -> str:
    told = content.encode(errors="surrogatepass") if isinstance(content, str) else content
    return hmac.new(bytes.fromhex(str(opened.body["key"])), told, hashlib.sha256).hexdigest()


def _same(account: Account, mark: str) -> list[Spending]:
    """What was spent on the plan of this mark, in order."""
    return [one for one in account.counted if mark and one.body.get("mark") == mark]


def _published(same: Sequence[Spending]) -> Spending | None:
    return next((one for one in reversed(same) if one.state is EntryKind.PUBLISHED), None)


def _chain_problems(entries: Sequence[LedgerEntry]) -> list[LedgerProblem]:
    """Lines that do not fit their hash or the line before them."""
    found, heads = [], dict[str, str]()
    for entry in entries:
        if entry.kept != entry.hash:
            found.append(LedgerProblem(entry.seq, "was changed after it was written"))
        if entry.previous != heads.get(entry.account, ""):
            found.append(LedgerProblem(entry.seq, "does not follow the line before it: lines were removed or changed"))
        heads[entry.account] = entry.kept
    return found


def _closing_problems(entries: Sequence[LedgerEntry]) -> list[LedgerProblem]:
    """Lines that publish, withhold or give back what is not open."""
    found, states = [], dict[str, EntryKind]()
    for entry in entries:
        if entry.kind in (EntryKind.RESERVED, EntryKind.ADDED):
            if entry.release in states:
                found.append(LedgerProblem(entry.seq, "has the number of another release"))
            states[entry.release] = entry.kind
        elif entry.kind in (EntryKind.PUBLISHED, EntryKind.WITHHELD, EntryKind.VOID):
            if entry.release not in states or not can_close(states[entry.release], entry.kind):
                found.append(LedgerProblem(entry.seq, "closes a release that is not open"))
            states[entry.release] = entry.kind
    return found


def _state(account: str, writer: Writer) -> Account:
    """The account to write to; a new one is not called like another, for half of what is known would be in each."""
    if not writer.entries:
        _refuse_confusable(account, writer.others())
    return Account.of(account, writer.entries)


def _refuse_confusable(account: str, others: Sequence[str]) -> None:
    """Refuse a new name that may be taken for one of the others."""
    if account not in others and (found := [name for name in others if confusable(name, account)]):
        raise InputError(f"account is {account!r}, but the ledger calls them {found[0]!r}: use that name", "account")


def _addresses(body: Record) -> list[str]:
    """Where its table lay, which older versions wrote down: those lines alone have a table beside the plan."""
    if "table" not in body:
        return []
    plan = body.get("plan")
    data = plan.get("data") if isinstance(plan, Mapping) else None
    said = [body["table"], data.get("table") if isinstance(data, Mapping) else None]
    return [text for text in said if isinstance(text, str) and ("/" in text or "\\" in text)]


def _address_problems(entries: Sequence[LedgerEntry]) -> list[LedgerProblem]:
    found = []
    for entry in entries:
        if addresses := _addresses(entry.body):
            secret = any(without_password(text) != text for text in addresses)
            what, do = "where a table lies", ""
            if secret:
                what, do = "the address of a table with its password", "change the password, and "
            say = (
                f"holds {what}, and so may the files released then: {do}hand on the ledger's export instead of it, and"
            )
            found.append(LedgerProblem(entry.seq, f"{say} take those files back"))
    return found


def _without_addresses(body: Record) -> Record:
    if not _addresses(body):
        return body
    plan = body.get("plan")
    data = {**plan["data"], "table": "…"} if isinstance(plan, Mapping) and isinstance(plan.get("data"), Mapping) else {}
    return {**body, "table": "…", **({"plan": {**plan, "data": data}} if data and isinstance(plan, Mapping) else {})}


def _shared_data(lines: Mapping[str, Sequence[LedgerEntry]]) -> list[LedgerProblem]:
    """Accounts that look like one: data that is in several without anybody's word, names that look alike."""
    holders: dict[str, dict[str, bool]] = {}
    for account, mine in lines.items():
        for entry in mine:
            if data := entry.body.get("data"):
                apart = holders.setdefault(str(data), {})
                apart[account] = apart.get(account, False) or bool(entry.body.get("other_people"))
    found = []
    for several in sorted({tuple(name for name, apart in each.items() if not apart) for each in holders.values()}):
        if len(several) > 1:
            named = " and ".join(map(repr, several))
            what = f"{named} hold the same data: what one of them faces is what is spent in all of them together"
            found.append(LedgerProblem(0, what))
    for one, other in combinations(lines, 2):
        if confusable(one, other):
            found.append(LedgerProblem(0, f"{one!r} and {other!r} look alike: are they not the same people?"))
    return found


def _account_name(name: object) -> str:
    if not isinstance(name, str):
        raise InputError("account is no name: give one, such as 'patients'", parameter="account")
    return normalized_name("account", name, needed="name those whom the releases are about, such as 'patients'")


def _printable(text: object) -> str:
    """A title or a reason: its first letters, and nothing that cannot be printed."""
    return "".join(c if c.isprintable() else " " for c in str("" if text is None else text)[:_LONGEST]).strip()


def _signature() -> dict[str, str]:
    try:
        who = getpass.getuser()
    except (KeyError, OSError, ImportError):  # a container without a name for its user
        who = f"user {os.getuid()}" if hasattr(os, "getuid") else "unknown"
    return {"at": _now(), "by": _printable(who)}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@cache
def package_versions(*packages: str) -> dict[str, str]:
    """The versions of epsilens and of those of the packages that are installed."""
    found = {"epsilens": __version__}
    for package in packages:
        with suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found
