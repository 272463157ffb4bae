"""Accounts: what is spent, by whom, under which limits, and what that promises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import epsilens as el
from epsilens.errors import LimitError
from epsilens.ledger.account import Account, accounts_of, can_close, serialize
from epsilens.ledger.budget import FREE, Charge, Limits, charge_of
from epsilens.ledger.store import EntryKind, LedgerEntry


class Book:
    """Lines in the making."""

    def __init__(self) -> None:
        self.lines: list[LedgerEntry] = []

    def line(self, kind: EntryKind, release: str = "", **body: Any) -> Book:
        head = self.lines[-1].hash if self.lines else ""
        self.lines.append(LedgerEntry("patients", kind, release, {"at": "2026-01-01T00:00:00", **body}, head))
        return self

    def limit(self, **limits: Any) -> Book:
        return self.line(EntryKind.LIMIT, limits=Limits.of(**limits).to_dict())

    def release(
        self,
        name: str,
        experiment: el.Experiment,
        kind: EntryKind = EntryKind.ADDED,
        part: str | None = None,
        delta: float = 0.0,
    ) -> Book:
        charge = charge_of(experiment, delta=delta).to_dict()
        told = {"parts": serialize(experiment), "charge": charge, "part": part, "neighbours": "add-remove"}
        return self.line(kind, name, title=name, **told)

    @property
    def account(self) -> Account:
        return Account.of("patients", self.lines)


LAPLACE = el.laplace(epsilon=0.5)


def test_an_empty_account() -> None:
    account = Account("patients")
    assert account.spent == FREE
    assert account.experiment is None
    assert account.promised() is None
    assert account.so_far() == 0.5
    account.check(Charge(1e6))  # nothing limits it
    assert account.more(Charge(1.0)) is None


def test_what_is_reserved_counts_until_it_is_given_back() -> None:
    book = Book().release("a", LAPLACE, EntryKind.RESERVED)
    assert book.account.spent.epsilon == 0.5
    assert Book().release("a", LAPLACE, EntryKind.RESERVED).line(EntryKind.VOID, "a").account.spent == FREE
    for kind in (EntryKind.PUBLISHED, EntryKind.WITHHELD):
        assert Book().release("a", LAPLACE, EntryKind.RESERVED).line(kind, "a").account.spent.epsilon == 0.5


@pytest.mark.parametrize("first", [EntryKind.PUBLISHED, EntryKind.WITHHELD])
def test_nothing_is_given_back_after_it_was_drawn(first: EntryKind) -> None:
    book = Book().release("a", LAPLACE, EntryKind.RESERVED).line(first, "a").line(EntryKind.VOID, "a")
    assert book.account.spent.epsilon == 0.5
    assert Book().release("a", LAPLACE).line(EntryKind.VOID, "a").account.spent.epsilon == 0.5
    assert can_close(EntryKind.RESERVED, EntryKind.VOID)
    assert not can_close(EntryKind.ADDED, EntryKind.VOID)


def test_a_number_that_comes_twice_counts_twice() -> None:
    assert Book().release("a", LAPLACE).release("a", LAPLACE).account.spent.epsilon == 1.0


def test_a_limit_refuses_what_would_exceed_it() -> None:
    account = Book().limit(epsilon=1.0).release("a", LAPLACE).account
    account.check(charge_of(LAPLACE))
    with pytest.raises(LimitError, match=r"ε = 1 .* 0\.5 is spent; this release would bring it to 1\.01"):
        account.check(charge_of(el.laplace(epsilon=0.51)))
    with pytest.raises(LimitError, match="no price"):
        account.check(charge_of(el.gaussian(psi=0.1)))
    with pytest.raises(LimitError, match="δ = 0"):
        account.check(charge_of(el.gaussian(psi=0.01), at_delta=1e-6))


def test_how_many_more() -> None:
    account = Book().limit(psi=1.0).release("a", el.gaussian(psi=0.5)).account
    assert account.more(account.releases[-1].charge) == 3  # 4 · 0.5² = 1
    assert account.more(charge_of(el.gaussian(psi=0.1))) == 75
    assert account.more(Charge(psi=1.1)) == 0
    assert account.more(FREE) is None


def test_the_promise_is_the_limits_and_the_rest_is_told_apart() -> None:
    account = Book().limit(success=0.65).release("a", LAPLACE).release("b", LAPLACE).account
    # the sheet's counterexample: composing curves promises nothing, the limit does
    assert account.promised() is None  # 2·Laplace 0.5 has ψ above the limit
    assert account.over
    account = Book().limit(success=0.75).release("a", LAPLACE).release("b", LAPLACE).account
    assert account.promised() == pytest.approx(0.75, rel=1e-6)
    assert account.so_far() == pytest.approx(el.compose(LAPLACE, LAPLACE).success(), rel=1e-3)
    assert account.so_far(count=1) == LAPLACE.success()
    assert account.so_far(count=0) == 0.5
    assert (account.promised("epsilon", delta=1e-6) or 0.0) > account.so_far("epsilon", delta=1e-6)


def test_several_limits_promise_the_best_of_them() -> None:
    account = Book().limit(epsilon=0.3, psi=2.0).account
    assert account.promised() == pytest.approx(1 / (1 + 2.718281828459045**-0.3), rel=1e-9)


def test_a_lowered_limit_promises_what_it_did() -> None:
    account = Book().limit(psi=1.0).release("a", LAPLACE).limit(psi=0.8).account
    assert account.limits == Limits(psi=0.8)
    assert account.promised() == pytest.approx(el.gaussian(psi=1.0).success(), rel=1e-9)
    assert not account.raised
    assert not account.late


def test_limits_set_or_raised_late_are_told() -> None:
    assert Book().release("a", LAPLACE).limit(psi=1.0).account.late
    raised = Book().limit(psi=1.0).release("a", LAPLACE).limit(psi=2.0).account
    assert raised.raised
    assert not raised.late
    assert Book().limit(psi=1.0).release("a", LAPLACE).limit(psi=1.0, epsilon=3.0).account.late
    early = Book().limit(psi=1.0).limit(psi=2.0).release("a", LAPLACE).account
    assert not early.raised
    assert (
        Book()
        .limit(psi=1.0)
        .release("a", LAPLACE, EntryKind.RESERVED)
        .line(EntryKind.VOID, "a")
        .limit(psi=2.0)
        .account.raised
        is False
    )


# -- parts of the people ------------------------------------------------------------------------------------------


def test_parts_pay_for_themselves() -> None:
    book = Book().limit(epsilon=1.0, partition="site").release("all", LAPLACE)
    for site in ("north", "south", "east"):
        book.release(site, el.laplace(epsilon=0.4), EntryKind.RESERVED, part=site)
    account = book.account
    assert account.spent.epsilon == pytest.approx(0.9, rel=1e-12)
    account.check(Charge(0.1), "north")
    account.check(Charge(0.5), "west")
    with pytest.raises(LimitError):
        account.check(Charge(0.2), "north")
    with pytest.raises(LimitError):
        account.check(Charge(0.2))  # everybody's: the dearest part has no room for it
    assert account.more(Charge(0.1), "west") == 5
    assert account.more(Charge(0.1)) == 1
    together = el.compose(LAPLACE, el.laplace(epsilon=0.4))
    assert account.so_far() == pytest.approx(together.success(), rel=1e-3)


def test_the_dearest_part_is_found_in_each_currency() -> None:
    book = Book().limit(epsilon=5.0, psi=5.0, partition="site", delta=0.1)
    book.release("a", el.laplace(epsilon=1.0), EntryKind.RESERVED, part="a")
    book.release("b", el.mechanisms.pure(epsilon=0.9), EntryKind.RESERVED, part="b", delta=0.01)
    spent = book.account.spent
    assert spent.epsilon == 1.0
    assert spent.psi == max(el.laplace(epsilon=1.0).psi(), el.mechanisms.pure(epsilon=0.9).psi())
    assert spent.delta == 0.01


def test_without_a_partition_every_part_is_everybody() -> None:
    book = (
        Book().release("a", LAPLACE, EntryKind.RESERVED, part="a").release("b", LAPLACE, EntryKind.RESERVED, part="b")
    )
    assert book.account.spent.epsilon == 1.0
    with pytest.raises(el.InputError, match="no declared parts"):
        book.account.fits(LAPLACE, "a")


def test_what_cannot_be_looked_up_counts_for_everybody() -> None:
    """0.4 for north, looked up, beside 0.3 and 0.2 said to be about north and south: 0.9 in north, 0.5 elsewhere."""
    book = (
        Book().limit(epsilon=1.0, partition="site").release("a", el.laplace(epsilon=0.4), EntryKind.RESERVED, "north")
    )
    for site, epsilon in (("north", 0.3), ("south", 0.2)):
        book.release(site, el.laplace(epsilon=epsilon), EntryKind.ADDED, site)
    account = book.account
    assert account.spent.epsilon == pytest.approx(0.9, rel=1e-12)
    account.check(Charge(0.5), "south")
    with pytest.raises(LimitError):
        account.check(Charge(0.51), "south")


def test_who_is_replaced_may_leave_a_part_for_another() -> None:
    account = Book().limit(epsilon=1.0, partition="site").account
    with pytest.raises(el.InputError, match="face the releases of both"):
        account.fits(el.laplace(epsilon=0.1, neighbours="replace"), "north")


# -- what does not add up -----------------------------------------------------------------------------------------


def test_neighbours_are_not_mixed() -> None:
    account = Book().release("a", LAPLACE).account
    account.fits(el.gaussian(psi=1.0))
    with pytest.raises(el.InputError, match="add-remove neighbours and this is about replace"):
        account.fits(el.laplace(epsilon=0.5, neighbours="replace"))
    with pytest.raises(el.InputError, match="about one person"):
        account.fits(el.attacks.tampering(epsilon=1.0, bias=1.0))


def test_the_delta_beside_is_in_the_experiment() -> None:
    account = Book().release("a", LAPLACE, delta=0.01).account
    assert account.experiment is not None
    assert account.experiment.delta(3.0) == pytest.approx(0.01, rel=1e-3)
    claim = el.mechanisms.approximate(epsilon=0.5, delta=1e-3)
    both = Book().release("a", claim, delta=0.01).account.experiment
    assert both is not None
    assert both.delta(3.0) == pytest.approx(1 - 0.99 * 0.999, rel=1e-3)
    assert Book().release("a", claim).account.experiment == claim


@pytest.mark.parametrize(
    "body",
    [{}, {"charge": None}, {"charge": {"epsilon": -1}}, {"charge": "free"}, {"charge": {**FREE.to_dict(), "psi": -1}}],
)
def test_lines_nobody_wrote(body: dict[str, Any]) -> None:
    with pytest.raises(el.InputError, match="changed by other hands"):
        _ = Book().line(EntryKind.ADDED, "a", **body).account
    with pytest.raises(el.InputError, match="changed by other hands"):
        _ = Book().line(EntryKind.LIMIT, limits={"epsilon": "much"}).account


def test_accounts_are_told_apart() -> None:
    lines = [
        LedgerEntry("a", EntryKind.OPENED, "", {}),
        LedgerEntry("b", EntryKind.LIMIT, "", {"limits": Limits(psi=1.0).to_dict()}),
    ]
    assert list(accounts_of(lines)) == ["b"]


ODD: list[tuple[Callable[[Any], Any], str]] = [
    (lambda account: account.so_far(reading=1e-6), "there is no reading"),
    (lambda account: account.promised(reading="to_text"), "there is no reading"),
    (lambda account: account.so_far(prior=[0.1, 0.5]), "prior has shape"),
    (lambda account: account.fits([1.0]), "experiment is"),
    (lambda account: account.more(3.0), "give a Charge"),
    (lambda account: account.after(3.0), "give a Charge"),
]


@pytest.mark.parametrize(("ask", "said"), ODD)
def test_an_account_is_asked_for_what_it_has(ask: Callable[[Any], Any], said: str) -> None:
    account: Any = Book().limit(epsilon=1.0).release("a", el.laplace(epsilon=0.2)).account
    assert account.so_far("advantage") < account.promised("advantage")
    with pytest.raises(el.InputError, match=said):
        ask(account)
