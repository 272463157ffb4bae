"""Names that look like one another, by Unicode's own examples and the tricks that opened a second account."""

from __future__ import annotations

import pytest

from epsilens.ledger.budget import confusable

NAME = "people of my clinic"


@pytest.mark.parametrize(
    "other",
    [
        "people of my clinic\ufe00",  # a variation selector
        "people\u3164of my clinic".replace("\u3164", "\u3164 "),  # a Hangul filler, which NFKC makes another one
        "people\u200d of my clinic",  # a joiner
        "people  of my\u00a0clinic",  # blanks of two kinds
        "pe\u043eple of my clinic",  # a Cyrillic o
        "\uff50\uff45\uff4f\uff50\uff4c\uff45 of my clinic",  # wide letters
        "peo\u00adple of my clinic",  # a soft hyphen
        "\U0001d429eople of my clinic",  # a bold letter of mathematics
        "people of my cl\u0456nic",  # a Ukrainian i
        "PEOPLE OF MY CLINIC",
        "\u03a1EOPLE OF MY CLINIC",  # a Greek capital rho
        "people of rny clinic",  # UTS #39: m looks like rn
        "peop1e of my clinic",  # and a one like an l
    ],
)
def test_alike(other: str) -> None:
    assert other != NAME
    assert confusable(NAME, other)
    assert confusable(other, NAME)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("paypal", "\u0440\u0430\u0443\u0440\u0430\u04cf"),  # the example of UTS #39, all Cyrillic
        ("Illness", "lllness"), ("ILLNESS", "illness"), ("Caf\u00e9", "cafe\u0301"), ("caf\u00e9", "caf\u0435\u0301"),
    ],
)  # fmt: skip
def test_pairs(one: str, other: str) -> None:
    assert confusable(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("patients", "doctors"), ("site 1", "site 2"), ("cohort 2025", "cohort 2026"), ("cafe", "caf\u00e9"),
        ("\u043b\u044e\u0434\u0438", "\u0434\u0435\u0442\u0438"), ("\u60a3\u8005", "\u533b\u751f"), ("a b", "ab"),
    ],
)  # fmt: skip
def test_others(one: str, other: str) -> None:
    assert not confusable(one, other)
