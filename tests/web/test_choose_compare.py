"""Choose and Compare."""

from __future__ import annotations

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
    assert "even pure noise reaches 0.5" in text_of(page.text)


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


def test_choose_files(client: Any) -> None:
    made = client.get("/choose.json?mechanism=laplace&at_most=0.55").json()
    assert made["choice"]["value"] == el.choose(el.laplace, "epsilon", at_most=0.55).value
    assert "0.2107" in client.get("/choose.html?mechanism=laplace&at_most=0.55").text
    assert client.get("/choose.html?at_most=x").status_code == 422


def test_compare_equals_the_library(client: Any, text_of: Any) -> None:
    page = client.get("/compare", params={"a": "laplace:epsilon=1", "b": "gaussian:psi=1", "c": "pure:epsilon=2"})
    words = text_of(page.text)
    assert page.status_code == 200
    for experiment in (el.laplace(epsilon=1.0), el.gaussian(psi=1.0), el.pure(epsilon=2.0)):
        about = explain(experiment, epsilon_for_delta=1.0)
        assert all(row.text in words for row in about.rows if row.shown)


def test_compare_with_lists_and_its_plain_url(client: Any) -> None:
    page = client.get("/compare", params={"a": "exponential:epsilon=1,scores0=1,2,3,scores1=1,2,4", "fpr": "0.05"})
    assert page.status_code == 200
    assert "ε = 1" in page.text
    sent = {"a_mechanism": "laplace", "a_given": "epsilon=1, sensitivity=2", "b_mechanism": "", "b_given": ""}
    away = client.get("/compare", params=sent)
    assert away.status_code == 303
    assert away.headers["location"] == "/compare?a=laplace:epsilon%3D1,sensitivity%3D2"
    assert client.get(away.headers["location"]).status_code == 200


@pytest.mark.parametrize("text", ["magic:epsilon=1", "laplace:epsilon=-1", "laplace:1", "laplace:colour=1", "laplace:"])
def test_compare_says_which_setting_is_wrong(client: Any, text_of: Any, text: str) -> None:
    page = client.get("/compare", params={"a": "laplace:epsilon=1", "b": text})
    assert page.status_code == 422
    start = page.text.index('id="error-b"')
    assert "▲" in text_of(page.text[start - 20 : page.text.index("</p>", start)])
    assert 'value="epsilon=1"' in page.text


def test_compare_without_settings_shows_an_example(client: Any, text_of: Any) -> None:
    assert "Show this example" in text_of(client.get("/compare").text)
