"""What a scan says: sentences, tables, plain values, and nobody's values."""

from __future__ import annotations

import json

import pytest

from epsilens.data.scan.scan import DISCLOSURE, scan
from epsilens.show.scan import combination
from epsilens.show.sentences import of_100, people_of_100


def words(found: object) -> str:
    """The printed form with its line breaks undone."""
    return " ".join(str(found).split())


SECRET = {"name": ["Zaphod", "Trillian", "Arthur", "Arthur"], "town": ["Betelgeuse"] * 2 + ["Islington"] * 2}


def everything(show: bool) -> str:
    found = scan(
        {**SECRET, "who": ["id-1", "id-2", "id-3", "id-4"]},
        ["name", "town"],
        person="who",
        queries=["count by name", "count", "histogram town"],
        epsilon=1.0,
        at_most=0.55,
        show_people=show,
    )
    return str(found) + found._repr_html_() + json.dumps(found.to_dict()) + repr(found)


def test_nobody_is_shown_unless_asked_for() -> None:
    hidden, shown = everything(False), everything(True)
    for value in ("Zaphod", "Trillian", "Betelgeuse", "id-1", "id-2"):
        assert value not in hidden
        assert value in shown
    assert "id-3" not in shown  # not isolated


def test_it_says_that_it_is_a_disclosure() -> None:
    found = scan(SECRET, ["name"])
    assert found.notes[-1] == DISCLOSURE
    assert DISCLOSURE in words(found)
    assert "disclosure" in found._repr_html_()


def test_the_sentence() -> None:
    assert scan(SECRET, ["name", "town"]).sentence == (
        "50 of 100 people in this table (2 of 4) are alone in their combination of name and town."
    )
    assert scan(SECRET, ["town"]).sentence.startswith("None of the 4 people in this table")


def test_certainty_is_not_rounded_to() -> None:
    assert of_100(0.9999) == "more than 99 of 100"
    assert people_of_100(9_999, 10_000) == "More than 99 of 100 people"
    found = scan({"a": [1, *range(2, 1000), 1]}, ["a"])
    assert found.sentence.startswith("More than 99 of 100 people")


def test_the_printed_epsilon_keeps_the_limit() -> None:
    found = scan(SECRET, ["name"], queries="count", at_most=0.55, epsilon=1.0, known=True)
    assert "largest ε that stays within it is 0.21." in words(found)
    assert found.largest_epsilon == pytest.approx(0.2107210, abs=1e-7)
    assert "over your limit of 55" in words(found)
    within = scan(SECRET, ["name"], queries="count", at_most=0.55, epsilon=0.2, known=True)
    assert within.exceeded is False
    assert "within your limit" in words(within)


def test_the_verdict_is_about_one_person_and_one_attack() -> None:
    """Defects 1.4, 5.2 and 5.15: what planned answers tell, beside what is known, outside the plan, elsewhere."""
    table = {"age": [20 + i // 2 for i in range(50)] + [99], "ill": [i % 2 == 0 for i in range(51)]}
    queries = ["count where ill", "count where ill and age < 99"]
    found = scan(table, ["age"], queries=queries, epsilon=1.0, at_most=0.6, sampling_fraction=0.1)
    said = words(found)
    assert (
        "At ε = 1 for each answer, whoever combines planned answers (count where ill − count where ill and age < 99) "
        "guesses right about the worst-placed person, for this attack, for 63 of 100; without the release for "
        "50 of 100; whoever knows everyone else’s records, for 70 of 100."
    ) in said
    assert "at half of ε = 1 each, guesses right, for this attack, for 57 of 100" in said
    assert "The worse of the two is over your limit of 60. The largest ε that stays within it is 0.818." in said
    assert "questions outside the plan, unless planned answers are named here" in said
    assert "Alone in this table is not alone in the population" in said
    # one person alone, 25 ages that two share: .1·1 / (.1·1 + 2·.9·25)
    assert found.right_matches == pytest.approx(0.1 / 45.1)
    assert "The table holds 10 of 100 people of the population" in said
    assert "an estimated fewer than 1 of 100 are that person" in said
    assert "in the worst case" not in said


def test_a_combination_of_several_answers_is_written_out() -> None:
    table = {"site": ["a", "a", "b", "b", "c"]}
    found = scan(table, ["site"], queries=["count", "count where site != 'c' by site"], epsilon=1.0)
    (risk,) = found.planned
    assert combination(found, risk.found) == "count − 2 groups of count where site != 'c' by site"
    assert "Planned answers that isolate a person, right guesses of 100, at ε = 1 each" in words(found)
    assert found.to_dict()["combinations"][0]["weights"] == [1, -1, -1]


def test_plain_values_survive_json() -> None:
    plain = scan(SECRET, ["name", "town"], queries="count", epsilon=1.0).to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["schema"] == 1


def test_a_column_that_names_the_person_is_pointed_at() -> None:
    table = {"Patient ID": [1, 1, 2], "age": [30, 31, 32]}
    assert "“Patient ID”" in scan(table, ["age"]).notes[0]
    assert not any("Patient ID" in note for note in scan(table, ["age"], person="Patient ID").notes)
    assert not any("person of their own" in note for note in scan({"age": [30, 31]}, ["age"]).notes)
