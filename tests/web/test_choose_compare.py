"""Choose and Compare."""

from __future__ import annotations

import re
from typing import Any

import pytest

import epsilens as el
from epsilens.catalogue.readings import READINGS
from epsilens.show.explanation import chosen, explain


def test_choose_equals_the_library(client: Any, text_of: Any) -> None:
    page = client.get("/choose?mechanism=laplace&reading=success&at_most=0.55")
    about = chosen(el.choose(el.laplace, "epsilon", at_most=0.55))
    assert page.status_code == 200
    assert about.headline in text_of(page.text)
    assert "Use ε = 0.2107 or less" in text_of(page.text)


@pytest.mark.parametrize("reading", [r for r in READINGS if r != "roc"])
def test_every_reading_can_be_limited(client: Any, text_of: Any, reading: str) -> None:
    limit = "0.8" if READINGS[reading].ceiling == 1 else "1.5"
    page = client.get(f"/choose?mechanism=gaussian&reading={reading}&at_most={limit}")
    words = text_of(page.text)
    assert page.status_code == 200, words[:400]
    assert "Use σ =" in words or "No σ meets this limit" in words or "keeps this limit" in words


@pytest.mark.parametrize("mechanism", ["geometric", "discrete-gaussian", "staircase", "randomized-response", "pure"])
def test_other_mechanisms(client: Any, text_of: Any, mechanism: str) -> None:
    assert "Use " in text_of(client.get(f"/choose?mechanism={mechanism}&at_most=0.6").text)


def test_no_solution_is_a_sentence_with_the_floor(client: Any, text_of: Any) -> None:
    page = client.get("/choose?mechanism=laplace&reading=success&at_most=0.4")
    assert page.status_code == 200
    assert "No ε meets this limit" in text_of(page.text)
    said = "No ε keeps right guesses at or below 40 of 100: the least there can be is 50 of 100"
    assert said in text_of(page.text)
    assert "at or below 0.4: the least there can be" not in text_of(page.text)


@pytest.mark.parametrize("limit", ["0.4", "40%", "40 of 100"])
def test_a_limit_that_nothing_keeps_is_told_as_it_is_entered(client: Any, text_of: Any, limit: str) -> None:
    page = client.get("/choose", params={"reading": "posterior", "prior": "0.7", "at_most": limit})
    assert "most certain belief at or below 40 of 100: the least there can be is 70 of 100" in text_of(page.text)


def test_a_training_keeps_the_units_it_was_given_in(client: Any) -> None:
    """What is given by rate and steps has fields for these, so that the next change of the form sends them again."""
    rates = client.get("/choose?mechanism=dpsgd&rate=0.02&steps=300&at_most=0.6").text
    assert [f'id="f-{name}"' in rates for name in ("rate", "steps", "batch", "n")] == [True, True, False, False]
    batches = client.get("/choose?mechanism=dpsgd&batch=50&n=1000&epochs=3&at_most=0.6").text
    assert [f'id="f-{name}"' in batches for name in ("rate", "steps", "batch", "n")] == [False, False, True, True]
    switched = client.get("/choose?mechanism=dpsgd&batch=50&n=1000&epochs=3&at_most_of_100=60&by=rate")
    assert switched.status_code == 303
    assert "rate=" in switched.headers["location"]
    assert "batch=" not in switched.headers["location"]


@pytest.mark.parametrize(
    ("query", "field"),
    [("at_most=x", "at_most"), ("reading=joy", "reading"), ("mechanism=magic", "mechanism"), ("prior=2", "prior")],
)
def test_errors_stand_by_their_field(client: Any, text_of: Any, query: str, field: str) -> None:
    page = client.get(f"/choose?{query}")
    assert page.status_code == 422
    start = page.text.index(f'id="error-{field}"')
    assert "▲" in text_of(page.text[start - 20 : page.text.index("</p>", start)])


def test_a_limit_that_sees_too_little_is_warned_of(client: Any, text_of: Any) -> None:
    """With a prior of 10 of 100 "absent" is right 90 times of 100, and the limit is no more than that."""
    page = client.get("/choose?mechanism=laplace&reading=success&at_most=0.9&prior=0.1")
    assert "Use ε = 2.197 or less" in text_of(page.text)
    assert "A guess that ignores the release already reaches 90 of 100" in text_of(page.text)
    said = client.get("/api/choose?mechanism=laplace&at_most=0.9&prior=0.1").json()
    assert said["choice"]["unseen"] is True
    assert "ignores the release" not in client.get("/choose?mechanism=laplace&reading=success&at_most=0.55").text


def test_the_limit_is_entered_as_the_other_counts_are(client: Any) -> None:
    """55 of 100 in the box, 0.55 in the address; a δ is entered as it is."""
    page = client.get("/choose?mechanism=laplace&reading=success&at_most=0.55")
    assert 'name="at_most_of_100" value="55"' in page.text
    for typed in ("60", "60%", "60 of 100"):
        away = client.get("/choose", params={"mechanism": "laplace", "reading": "success", "at_most_of_100": typed})
        assert "at_most=0.6" in away.headers["location"]
    wrong = client.get("/choose", params={"mechanism": "laplace", "reading": "success", "at_most_of_100": "many"})
    assert wrong.status_code == 422
    assert 'value="many"' in wrong.text
    assert 'name="at_most" value="0.001"' in client.get("/choose?mechanism=gaussian&reading=delta&at_most=0.001").text


def test_choose_files(client: Any) -> None:
    made = client.get("/choose.json?mechanism=laplace&at_most=0.55").json()
    assert made["choice"]["value"] == el.choose(el.laplace, "epsilon", at_most=0.55).value
    assert "0.2107" in client.get("/choose.html?mechanism=laplace&at_most=0.55").text
    assert client.get("/choose.html?at_most=x").status_code == 422


def test_compare_equals_the_library(client: Any, text_of: Any) -> None:
    page = client.get("/compare", params={"a": "laplace:epsilon=1", "b": "gaussian:psi=1", "c": "pure:epsilon=2"})
    words = text_of(page.text)
    assert page.status_code == 200
    for experiment in (el.laplace(epsilon=1.0), el.gaussian(psi=1.0), el.mechanisms.pure(epsilon=2.0)):
        about = explain(experiment, epsilon_for_delta=1.0)
        assert all(row.text in words for row in about.rows if row.shown)


def test_compare_with_lists(client: Any) -> None:
    page = client.get("/compare", params={"a": "exponential:epsilon=1,scores0=1,2,3,scores1=1,2,4", "fpr": "0.05"})
    assert page.status_code == 200
    assert "ε = 1" in page.text
    assert 'value="1,2,4"' in page.text


def test_compare_has_the_fields_of_explain(client: Any) -> None:
    """Each setting has a field for each parameter, under its letter; a form ends at a plain address."""
    page = client.get("/compare", params={"a": "laplace:epsilon=0.4143", "b": "gaussian:sigma=2,sensitivity=3"})
    for name, value in (("a_epsilon", "0.4143"), ("b_sigma", "2"), ("b_sensitivity", "3")):
        assert re.search(rf'id="f-{name}" name="{name}" value="{re.escape(value)}"', page.text), name
    sent = {"a_mechanism": "laplace", "a_epsilon": "1", "a_sensitivity": "2", "b_mechanism": "gaussian", "b_by": "psi",
            "b_psi": "1", "prior_of_100": "20"}  # fmt: skip
    away = client.get("/compare", params=sent)
    assert away.status_code == 303
    there = away.headers["location"]
    assert there == "/compare?a=laplace:epsilon%3D1,sensitivity%3D2&b=gaussian:psi%3D1&prior=0.2"
    assert client.get(there).status_code == 200


def test_another_way_keeps_the_noise_of_a_setting(client: Any) -> None:
    sent = {"a_mechanism": "laplace", "a_by": "scale", "a_epsilon": "2"}
    assert client.get("/compare", params=sent).headers["location"] == "/compare?a=laplace:scale%3D0.5"


def test_settings_are_added_and_taken_away(client: Any) -> None:
    two = {"a_mechanism": "laplace", "a_epsilon": "1", "b_mechanism": "pure", "b_epsilon": "2"}
    more = client.get("/compare", params={**two, "add": "1"}).headers["location"]
    assert more == "/compare?a=laplace:epsilon%3D1&b=pure:epsilon%3D2&c=pure:epsilon%3D2"
    less = client.get("/compare", params={**two, "drop": "a"}).headers["location"]
    assert less == "/compare?a=pure:epsilon%3D2"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("magic:epsilon=1", "b_mechanism"),
        ("laplace:epsilon=-1", "b_epsilon"),
        ("laplace:1", "b_mechanism"),
        ("laplace:colour=1", "b_mechanism"),
        ("laplace:", "b_mechanism"),
    ],
)
def test_compare_says_which_field_is_wrong(client: Any, text_of: Any, text: str, field: str) -> None:
    page = client.get("/compare", params={"a": "laplace:epsilon=0.7", "b": text})
    assert page.status_code == 422
    start = page.text.index(f'id="error-{field}"')
    assert "▲" in text_of(page.text[start - 20 : page.text.index("</p>", start)])
    assert 'name="a_epsilon" value="0.7"' in page.text
    assert "guesses correctly" in text_of(page.text), "the other setting is still told"


def test_what_is_wrong_stays_as_it_was_typed(client: Any) -> None:
    page = client.get(
        "/compare", params={"a_mechanism": "laplace", "a_epsilon": "one", "b_mechanism": "pure", "b_epsilon": "3"}
    )
    assert page.status_code == 422
    assert 'name="a_epsilon" value="one"' in page.text
    assert 'name="b_epsilon" value="3"' in page.text
    page = client.get("/compare", params={"a": "laplace:epsilon=1", "prior_of_100": "400"})
    assert 'value="400"' in page.text
    assert "▲" in page.text[page.text.index('id="error-prior"') :][:120]


def test_compare_starts_with_an_example(client: Any, text_of: Any) -> None:
    page = client.get("/compare")
    words = text_of(page.text)
    assert page.status_code == 200
    for experiment in (el.laplace(epsilon=1.0), el.gaussian(epsilon=1.0, delta=1e-6)):
        assert explain(experiment, epsilon_for_delta=1.0).row("success").text in words
