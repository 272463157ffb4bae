"""The ledger as it is used: limits, releases, the same again, and whether its lines are those that were written."""

from __future__ import annotations

import copy
import hashlib
import hmac
import json
import pickle
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.trials import STEPS, run_trial

import epsilens as el
from epsilens.errors import LimitError
from epsilens.ledger.account import Spending
from epsilens.ledger.budget import Charge, Limits, charge_of
from epsilens.ledger.ledger import Ledger, Reservation
from epsilens.ledger.store import EntryKind

LAPLACE = el.laplace(epsilon=0.5)
CHARGE = charge_of(LAPLACE)


def reserved(ledger: Ledger, people: str = "patients", **more: Any) -> Reservation:
    made = ledger.reserve(people, LAPLACE, CHARGE, **more)
    assert isinstance(made, Reservation)
    return made


def test_a_release_from_the_check_to_the_answers(url: str) -> None:
    ledger = el.Ledger(url)
    ledger.limit("patients", epsilon=1.0)
    made = reserved(ledger, title="visits", plan={"queries": ["count"]}, data=ledger.keyed("rows"))
    assert ledger.account("patients").spent.epsilon == 0.5
    head = made.publish(answers=[1, 2], file="answers.csv")
    account = ledger.account("patients")
    assert account.head == head
    (one,) = account.releases
    assert (one.title, one.state, one.experiment) == ("visits", EntryKind.PUBLISHED, LAPLACE)
    assert one.published is not None
    assert one.published["answers"] == [1, 2]
    assert ledger.experiment("patients") == LAPLACE
    assert ledger.check(head) == []


def test_a_limit_refuses_and_nothing_is_spent(url: str) -> None:
    ledger = el.Ledger(url)
    ledger.limit("patients", epsilon=0.9)
    reserved(ledger)
    lines = ledger.export()
    with pytest.raises(LimitError, match="is spent"):
        ledger.reserve("patients", LAPLACE, CHARGE)
    with pytest.raises(LimitError):
        ledger.add("patients", LAPLACE, within_limits=True)
    assert ledger.export() == lines
    reserved(ledger, "doctors")  # others


def test_what_happened_counts_even_beyond_the_limits(url: str) -> None:
    ledger = el.Ledger(url)
    ledger.limit("patients", epsilon=0.9)
    for _ in range(2):
        ledger.add("patients", LAPLACE, title="by another tool")
    account = ledger.account("patients")
    assert account.over
    assert account.promised() is None
    assert [trouble.what for trouble in ledger.check()] == ["more is spent for 'patients' than its limits allow"]
    with pytest.raises(LimitError):
        ledger.reserve("patients", el.laplace(epsilon=1e-3), charge_of(el.laplace(epsilon=1e-3)))


def test_the_same_plan_spends_nothing_whatever_the_data(url: str) -> None:
    ledger = el.Ledger(url)
    assert ledger.saved("patients", {"queries": ["count"], "epsilon": 0.5}) is None
    assert not ledger.store.exists
    same: dict[str, Any] = {"plan": {"queries": ["count"], "epsilon": 0.5}, "data": ledger.keyed("rows")}
    made = reserved(ledger, **same)
    with pytest.raises(el.InputError, match="never published"):
        reserved(ledger, **same)
    made.publish(answers={"count": 12})
    again = ledger.reserve("patients", LAPLACE, CHARGE, **same)
    assert isinstance(again, Spending)
    assert again.published is not None
    assert again.published["answers"] == {"count": 12}
    assert len(ledger.account("patients").releases) == 1
    assert ledger.reserve("patients", LAPLACE, CHARGE, **same | {"data": ledger.keyed("more")}) == again
    assert ledger.saved("patients", same["plan"]) == again
    assert isinstance(ledger.reserve("patients", LAPLACE, CHARGE, **same | {"plan": {}}), Reservation)
    drawn = ledger.reserve("patients", LAPLACE, CHARGE, again=True, **same)
    assert isinstance(drawn, Reservation)
    assert ledger.saved("patients", same["plan"]) == again  # while it is under way
    drawn.publish(answers={"count": 13})
    found = ledger.saved("patients", same["plan"])
    assert found is not None
    assert found.id == drawn.id  # the last
    assert ledger.account("patients").spent.epsilon == 1.5
    # What makes it the same may be less than all of it, and is kept as a keyed hash: it may hold an address.
    named: dict[str, Any] = {"identity": {"asked": "a"}, "data": "d"}
    reserved(ledger, plan={"title": "One"}, **named).publish(answers=[])
    assert isinstance(ledger.reserve("patients", LAPLACE, CHARGE, plan={"title": "Two"}, **named), Spending)
    assert hashlib.sha256(b'{"asked":"a"}').hexdigest() not in json.dumps(ledger.export())


def test_what_is_given_back_may_be_spent(url: str) -> None:
    ledger = el.Ledger(url)
    ledger.limit("patients", epsilon=0.5)
    same: dict[str, Any] = {"plan": {"a": 1}, "data": "d"}
    reserved(ledger, **same).void("the table changed")
    made = reserved(ledger, **same)
    made.withhold("the disk was full")
    assert ledger.account("patients").spent.epsilon == 0.5
    for close in (made.void, made.withhold):
        with pytest.raises(el.InputError, match="closed already"):
            close("too late")
    with pytest.raises(el.InputError, match="closed already"):
        made.publish(answers=[])
    assert ledger.check() == []


def test_limits_below_what_is_spent_are_refused(url: str) -> None:
    ledger = el.Ledger(url)
    ledger.add("patients", LAPLACE)
    with pytest.raises(el.InputError, match=r"epsilon is 0\.4, but for 'patients' 0\.5 is spent already"):
        ledger.limit("patients", epsilon=0.4)
    ledger.add("patients", el.gaussian(psi=0.1))
    with pytest.raises(el.InputError, match="none can be given"):
        ledger.limit("patients", epsilon=4.0)
    assert ledger.account("patients").limits is None
    assert ledger.limit("patients", psi=2.0).late


def test_parts_are_declared_before_they_are_used(url: str) -> None:
    ledger = el.Ledger(url)
    with pytest.raises(el.InputError, match="no declared parts"):
        ledger.add("patients", LAPLACE, part="north")
    ledger.limit("patients", epsilon=1.0, partition="site")
    for part in ("north", " north", "north ", "south"):
        ledger.reserve("patients", el.laplace(epsilon=0.25), Charge(0.25, 0, 0.3, 0.03), part=part)
    assert ledger.account("patients").spent.epsilon == 0.75
    ledger.reserve("patients", el.laplace(epsilon=0.25), Charge(0.25, 0, 0.3, 0.03), part=7)  # type: ignore[arg-type]
    ledger.reserve("patients", el.laplace(epsilon=0.25), Charge(0.25, 0, 0.3, 0.03), part="7")
    assert ledger.account("patients").spent.epsilon == 0.75
    with pytest.raises(LimitError):
        ledger.reserve("patients", el.laplace(epsilon=0.5), Charge(0.5, 0, 0.6, 0.1), part="north")
    with pytest.raises(el.InputError, match="keep partition as it is"):
        ledger.limit("patients", epsilon=1.0)


def test_neighbours_do_not_mix(url: str) -> None:
    ledger = el.Ledger(url)
    ledger.add("patients", LAPLACE)
    with pytest.raises(el.InputError, match="do not add up"):
        ledger.add("patients", el.laplace(epsilon=0.5, neighbours="replace"))
    with pytest.raises(el.InputError, match="cannot be written down"):
        ledger.add("patients", el.mechanisms.finite([0.5, 0.5], [0.4, 0.6]))
    assert len(ledger.account("patients").releases) == 1


def test_the_hash_of_data_is_keyed(url: str) -> None:
    ledger = el.Ledger(url)
    found = ledger.keyed("rows")
    assert found == ledger.keyed(b"rows") == el.Ledger(url).keyed("rows")
    assert found != hashlib.sha256(b"rows").hexdigest()
    key = bytes.fromhex(ledger.store.read()[0].body["key"])
    assert found == hmac.new(key, b"rows", hashlib.sha256).hexdigest()
    assert ledger.export() == []  # the key stays where it is
    assert ledger.accounts() == {}
    assert key.hex() not in json.dumps([ledger.export(), ledger.to_dict()])


@pytest.mark.parametrize("people", ["", " ", "a\nb", "x" * 201, "a\x1b[2Jb", "\ud800", None, 7])
def test_people_need_a_name(tmp_path: Path, people: Any) -> None:
    ledger = el.Ledger(tmp_path / "ledger.db")
    for act in (
        lambda: ledger.limit(people, psi=1.0),
        lambda: ledger.add(people, LAPLACE),
        lambda: ledger.account(people),
    ):
        with pytest.raises(el.InputError) as wrong:
            act()
        assert wrong.value.parameter == "account"
    assert not (tmp_path / "ledger.db").exists()


@pytest.mark.always
def test_two_spellings_are_one_account(url: str) -> None:
    ledger = el.Ledger(url)
    ledger.add("Zo\u00eb", LAPLACE)
    ledger.add(" Zo\u0065\u0308 ", LAPLACE)
    assert ledger.account("Zo\u00eb").spent.epsilon == 1.0
    assert len(ledger.accounts()) == 1


@pytest.mark.parametrize(
    "name",
    ["my  patients", "MY PATIENTS", "my p\u0430tients", "my \uff50atients", "my patients\ufe0f", "my pat\u3164ients"],
)
def test_a_name_that_looks_the_same_is_the_same_people(url: str, name: str) -> None:
    """Two blanks, capitals, a Cyrillic letter, a wide one, what is not shown: none of them escapes a limit."""
    ledger = el.Ledger(url)
    ledger.limit("my patients", epsilon=0.6)
    for act in (lambda: reserved(ledger, name), lambda: ledger.add(name, LAPLACE), lambda: ledger.account_name(name)):
        with pytest.raises(el.InputError, match="the ledger calls them 'my patients': use that name"):
            act()
    assert list(ledger.accounts()) == ["my patients"]


def test_the_account_that_is_meant(url: str) -> None:
    ledger = el.Ledger(url)
    assert ledger.account_name() == "everyone"
    ledger.keyed("rows")
    assert ledger.account_name() == "everyone"
    ledger.limit("patients", epsilon=0.6)
    assert ledger.account_name() == "patients"
    assert ledger.account_name(" doctors ") == "doctors"
    ledger.add("doctors", LAPLACE)
    with pytest.raises(el.InputError, match="has 2 accounts, so give one of 'patients', 'doctors'") as asked:
        ledger.account_name()
    assert asked.value.parameter == "account"


def test_the_same_data_in_another_account_is_refused(url: str) -> None:
    ledger = el.Ledger(url)
    ledger.limit("doctors", epsilon=5.0)
    same, other = ledger.keyed("rows"), ledger.keyed("more")
    reserved(ledger, data=same)
    before = ledger.export()
    with pytest.raises(el.InputError, match=r"was released about 'patients', .* or say that it is about other people"):
        reserved(ledger, "doctors", data=same)
    assert ledger.export() == before
    reserved(ledger, "doctors", data=other)
    reserved(ledger, "patients", data=same)
    assert ledger.check() == []
    reserved(ledger, "doctors", data=same, other_people=True)
    reserved(ledger, "doctors", data=same)  # that was said
    assert ledger.check() == []


def test_one_table_in_two_accounts_is_reported(url: str) -> None:
    """What an older version let in: the same data in two accounts, and names that look alike."""
    ledger = el.Ledger(url)
    data = ledger.keyed("rows")
    reserved(ledger, "patients", data=data)
    with ledger.store.writing("people of copy.csv") as writer:
        writer.append(EntryKind.RESERVED, "r", {**ledger.account("patients").releases[0].body, "data": data})
    with ledger.store.writing("pati\u0435nts") as writer:
        writer.append(EntryKind.LIMIT, "", {"limits": Limits(epsilon=1.0).to_dict()})
    said = [trouble.what for trouble in ledger.check()]
    assert said[0].startswith("'patients' and 'people of copy.csv' hold the same data: what one of them faces is")
    assert said[1:] == ["'patients' and 'pati\u0435nts' look alike: are they not the same people?"]


def test_a_name_in_other_capitals_is_the_same_people(url: str) -> None:
    ledger = el.Ledger(url)
    ledger.limit("Patients", epsilon=1.0, partition="site")
    with pytest.raises(el.InputError, match="the ledger calls them 'Patients'"):
        ledger.add("patients", LAPLACE)
    with pytest.raises(el.InputError, match="the ledger calls them 'Patients'"):
        ledger.limit("PATIENTS", epsilon=9.0)
    for part in ("North", "NORTH"):
        ledger.reserve("Patients", LAPLACE, CHARGE, part=part)
    assert ledger.account("Patients").spent.epsilon == 1.0
    with pytest.raises(LimitError):
        ledger.reserve("Patients", LAPLACE, CHARGE, part="north")


def test_what_is_told_cannot_hide_what_it_costs(url: str) -> None:
    ledger = el.Ledger(url)
    made = ledger.add("patients", LAPLACE, title="x" * 10_000_000, charge={"epsilon": 0}, parts=[], note="n")
    assert made.charge.epsilon == 0.5
    assert len(made.title) == 200
    assert made.body["note"] == "n"
    assert ledger.add("patients", LAPLACE, title="a\x1b[2Jb\ud800").title == "a [2Jb"
    with pytest.raises(el.InputError, match="words, finite numbers"):
        ledger.add("patients", LAPLACE, note=object())
    with pytest.raises(el.InputError, match="words, finite numbers"):
        ledger.reserve("patients", LAPLACE, CHARGE, plan={"at": {1, 2}}, data="d")
    assert len(ledger.account("patients").releases) == 2


def test_there_is_no_ledger_yet(tmp_path: Path) -> None:
    ledger = el.Ledger(tmp_path / "ledger.db")
    for act in (ledger.accounts, ledger.check, ledger.export, ledger.to_dict):
        with pytest.raises(el.InputError, match="there is no ledger at"):
            act()
    assert "There is no ledger at" in ledger.to_text()
    assert ledger.account("patients").releases == ()


# -- whether its lines are those that were written ----------------------------------------------------------------


@pytest.fixture
def book(tmp_path: Path) -> tuple[Ledger, str]:
    """A ledger with some lines, and its head."""
    ledger = el.Ledger(tmp_path / "ledger.db")
    ledger.limit("patients", epsilon=5.0)
    for k in range(3):
        reserved(ledger, title=f"round {k}").publish(answers=[k])
    ledger.limit("doctors", psi=1.0)
    assert ledger.check() == []
    return ledger, ledger.account("patients").head


def edited(ledger: Ledger, statement: str) -> None:
    assert ledger.store.path is not None
    with sqlite3.connect(ledger.store.path) as connection:
        connection.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE epsilens_ledger SET body = replace(body, 'round 1', 'round 9')",
        "UPDATE epsilens_ledger SET body = replace(body, '\"epsilon\":0.5', '\"epsilon\":0.4') WHERE seq = 4",
        "UPDATE epsilens_ledger SET kind = 'void' WHERE kind = 'published' AND seq = 3",
        "UPDATE epsilens_ledger SET people = 'nobody' WHERE seq = 2",
        "UPDATE epsilens_ledger SET release = 'x' WHERE seq = 3",
        "UPDATE epsilens_ledger SET hash = 'x' WHERE seq = 7",
        "UPDATE epsilens_ledger SET previous = 'x' WHERE seq = 5",
        "DELETE FROM epsilens_ledger WHERE seq = 1",
        "DELETE FROM epsilens_ledger WHERE seq IN (2, 3)",
        "UPDATE epsilens_ledger SET seq = 100 WHERE seq = 2",
    ],
)
def test_edits_are_found(book: tuple[Ledger, str], statement: str) -> None:
    ledger, head = book
    edited(ledger, statement)
    assert ledger.check(head)


def test_a_cut_end_is_found_by_its_head(book: tuple[Ledger, str]) -> None:
    ledger, head = book
    edited(ledger, "DELETE FROM epsilens_ledger WHERE seq IN (6, 7)")
    assert ledger.check() == []
    assert [trouble.what[:8] for trouble in ledger.check(head)] == ["the head"]
    assert ledger.check(f"  {ledger.account('patients').head.upper()} ") == []


def test_lines_that_close_what_is_not_open(book: tuple[Ledger, str]) -> None:
    ledger, _ = book
    (first, *_) = ledger.account("patients").releases
    with ledger.store.writing("patients") as writer:
        writer.append(EntryKind.VOID, first.id, {"why": "to have it back"})
    assert ledger.account("patients").spent.epsilon == 1.5
    assert [trouble.what for trouble in ledger.check()] == ["closes a release that is not open"]


def test_export_is_every_line(book: tuple[Ledger, str]) -> None:
    ledger, head = book
    lines = ledger.export()
    assert [line["kind"] for line in lines] == ["limit", *["reserved", "published"] * 3, "limit"]
    assert [line["account"] for line in ledger.export("doctors")] == ["doctors"]
    assert lines[-2]["hash"] == head
    json.dumps(lines, allow_nan=False)


def test_it_opens_no_old_doors(tmp_path: Path) -> None:
    """Every step at which a writer may die is tried somewhere among a few trials."""
    url = str(tmp_path / "ledger.db")
    died = {
        step for seed in range(10, 22) for trial in [run_trial(url, seed)] for step in trial.died if not trial.wrong
    }
    assert died >= set(STEPS)


@pytest.mark.parametrize("given", ["laplace", 1.0, None, [1, 2]])
def test_what_is_no_experiment_is_refused(tmp_path: Path, given: Any) -> None:
    with pytest.raises(el.InputError, match=r"experiment is (a|None)"):
        Ledger(tmp_path / "ledger.db").add("people", given)
    assert not (tmp_path / "ledger.db").exists()


@pytest.mark.parametrize("given", [5, None])
def test_what_is_no_place_is_refused(given: Any) -> None:
    with pytest.raises(el.InputError, match=r"ledger is (a|None)"):
        Ledger(given)


def test_pickled_it_is_where_it_lies(url: str) -> None:
    ledger = el.Ledger(url)
    ledger.limit("patients", epsilon=1.0)
    again = pickle.loads(pickle.dumps(ledger))
    assert (again, hash(again), repr(again)) == (ledger, hash(ledger), repr(ledger))
    again.add("patients", LAPLACE, title="visits")
    assert ledger.account("patients").spent.epsilon == 0.5
    assert copy.deepcopy(ledger) == ledger


def test_pickled_in_one_folder_it_is_found_from_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kept = pickle.dumps(el.Ledger("ledger.db"))
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert pickle.loads(kept).store.path == tmp_path / "ledger.db"
    assert el.Ledger("ledger.db") != pickle.loads(kept)


def test_room_that_was_taken_pickles_too(url: str) -> None:
    made = reserved(el.Ledger(url))
    pickle.loads(pickle.dumps(made)).publish(answers=[1])
    (one,) = el.Ledger(url).account("patients").releases
    assert one.state is EntryKind.PUBLISHED
