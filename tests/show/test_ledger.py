"""An account in words: the sentence and its cases, what is spent, the releases, and what the promise rests on."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import epsilens as el
from epsilens.ledger.budget import charge_of
from epsilens.ledger.ledger import Ledger, Reservation
from epsilens.show.charts.findings import over_time

LAPLACE = el.laplace(epsilon=0.2)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return el.Ledger(tmp_path / "ledger.db")


def test_the_sentence(ledger: Ledger) -> None:
    ledger.limit("patients", success=0.65)
    assert ledger.sentence == (
        "Nothing is released about patients yet. Whatever is, the limits promise that an adversary guesses right at "
        "most 65 times of 100 about any one person; a coin gets 50."
    )
    for _ in range(2):
        ledger.add("patients", LAPLACE)
    # 2Φ⁻¹(0.65) = 0.7706, and 0.7706² / 0.2391² = 10.4: 8 more after these two
    assert ledger.sentence == (
        "After 2 releases an adversary guesses right at most 55 times of 100 about any one person; a coin gets 50. "
        "That is if no noise was chosen after seeing answers; if some was, at most 65, which the limits promise. Room "
        "for about 8 more like the last."
    )
    success = 1 - math.exp(-0.2) * 1.1 / 2  # two Laplace answers: an advantage of 1 − e^{−ε}(1 + ε/2)
    assert ledger.account("patients").so_far() == pytest.approx(success, rel=1e-3)


def test_no_room(ledger: Ledger) -> None:
    ledger.limit("patients", epsilon=0.3)
    ledger.add("patients", LAPLACE)
    assert ledger.sentence.endswith("No room is left for another like the last.")


def test_without_a_limit_nothing_is_promised(ledger: Ledger) -> None:
    ledger.add("patients", LAPLACE)
    assert ledger.sentence == (
        "After 1 release an adversary guesses right at most 55 times of 100 about any one person; a coin gets 50. That "
        "is if no noise was chosen after seeing answers; if some was, nothing is promised, because no limit was set."
    )
    assert "whatever was chosen, this is ε = 0.2 so far" in " ".join(ledger.to_text().split())


def test_beyond_the_limits_nothing_is_promised(ledger: Ledger) -> None:
    ledger.limit("patients", epsilon=0.3)
    ledger.add("patients", LAPLACE)
    ledger.add("patients", el.gaussian(psi=0.1))
    assert "they promise nothing any more" in ledger.sentence
    text = ledger.to_text()
    assert "▲ Over its limits" in text
    assert "no price" in text
    assert json.loads(json.dumps(ledger.to_dict(), allow_nan=False))["accounts"][0]["success"]["promised"] is None


def test_certainty_and_next_to_nothing(ledger: Ledger) -> None:
    ledger.add("patients", el.laplace(epsilon=60.0))
    assert "guesses right more than 99 times of 100 about" in ledger.sentence
    ledger.limit("doctors", success=0.501)
    ledger.add("doctors", el.laplace(epsilon=0.001))
    assert ledger.account("doctors").sentence.startswith(
        "After 1 release an adversary guesses right at most 5,003 times of 10,000"
    )


@pytest.mark.parametrize(
    ("psi", "says"),
    [(2.0, "A limit was raised"), (0.4, "A limit was lowered since"), (0.9, "")],
)
def test_limits_changed_later_are_told(ledger: Ledger, psi: float, says: str) -> None:
    ledger.limit("patients", psi=0.9)
    ledger.add("patients", LAPLACE)
    ledger.limit("patients", psi=psi)
    text = " ".join(ledger.to_text().split())
    assert (says in text) if says else ("A limit was" not in text)


def test_a_limit_set_late_is_told(ledger: Ledger) -> None:
    ledger.add("patients", LAPLACE)
    ledger.limit("patients", psi=0.9)
    assert "A limit was first set after something had been released" in " ".join(ledger.to_text().split())


def test_every_form_shows_every_release(ledger: Ledger) -> None:
    ledger.limit("patients", success=0.7, epsilon=2.0, delta=1e-5)
    made = ledger.reserve("patients", LAPLACE, charge_of(LAPLACE), title="<b>one</b> \x1b[2J")
    assert isinstance(made, Reservation)
    made.publish(answers=[1])
    ledger.add("patients", el.gaussian(sigma=10.0), title="two", at_delta=1e-6)
    gone = ledger.reserve("patients", LAPLACE, charge_of(LAPLACE), title="three")
    assert isinstance(gone, Reservation)
    gone.void("not needed")
    for form in (
        ledger.to_text(),
        ledger.to_markdown(),
        ledger.to_html(),
        ledger.to_html_fragment(),
        ledger.to_terminal(),
    ):
        for words in ("one", "two", "three", "published", "entered", "given back"):
            assert all(word in form for word in words.split())  # a cell may be broken
        assert "\x1b[2J" not in form
    page = ledger.to_html()
    assert "<b>one</b>" not in page
    assert page.count("<svg") >= 2  # the chart, for a desk and for a phone
    assert "δ beside ε" in page


def test_several_accounts_stand_under_their_names(ledger: Ledger) -> None:
    ledger.limit("patients", psi=0.9)
    ledger.add("patients", LAPLACE)
    ledger.limit("doctors", psi=0.5)
    text = ledger.to_text()
    assert "2 accounts, of people who are not the same: patients, doctors." in text
    assert "Releases · patients" in text
    assert ledger.sentence.startswith("patients: After 1 release")
    assert "doctors: Nothing is released" in ledger.sentence


def test_a_keyed_hash_alone_is_no_account(ledger: Ledger) -> None:
    ledger.keyed("rows")
    assert ledger.sentence == "Nothing is entered in this ledger yet."
    assert "Nothing is entered" in ledger.to_text()


def test_the_chart_is_what_was_released_by_then(ledger: Ledger) -> None:
    ledger.limit("patients", success=0.65)
    assert over_time(ledger.account("patients")) is None
    for _ in range(3):
        ledger.add("patients", LAPLACE)
    chart = over_time(ledger.account("patients"))
    assert chart is not None
    points = {row["x"]: row["y"] for row in chart.data if row["series"] == "if noise was fixed in advance"}
    assert points[0.0] == 50
    assert points[1.0] == pytest.approx(100 * LAPLACE.success(), rel=1e-9)
    assert points[3.0] == pytest.approx(100 * LAPLACE.repeat(3).success(), rel=1e-3)
    assert [row["y"] for row in chart.data if row["series"] == "limit"] == pytest.approx([65.0, 65.0], rel=1e-6)
    assert "3 released" in chart.label
