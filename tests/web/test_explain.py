"""Explain: good, odd and hostile input; the numbers are the library's."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import epsilens as el
from epsilens.catalogue.mechanisms import MECHANISMS
from epsilens.show.explanation import explain

MINIMAL: dict[str, tuple[dict[str, str], Callable[[], el.Experiment]]] = {
    "laplace": ({"epsilon": "1"}, lambda: el.laplace(epsilon=1.0)),
    "gaussian": ({"sigma": "2"}, lambda: el.gaussian(sigma=2.0)),
    "geometric": ({"epsilon": "0.5"}, lambda: el.mechanisms.geometric(epsilon=0.5)),
    "discrete_gaussian": ({"sigma": "3"}, lambda: el.mechanisms.discrete_gaussian(sigma=3.0)),
    "skellam": ({"variance": "9"}, lambda: el.mechanisms.skellam(variance=9.0)),
    "randomized_response": ({"epsilon": "1", "k": "4"}, lambda: el.mechanisms.randomized_response(epsilon=1.0, k=4)),
    "unary": ({"epsilon": "1", "kind": "symmetric"}, lambda: el.mechanisms.unary(epsilon=1.0, kind="symmetric")),
    "hadamard_response": ({"epsilon": "1"}, lambda: el.mechanisms.hadamard_response(epsilon=1.0)),
    "count_mean_sketch": (
        {"epsilon": "2", "collision": "0.1"},
        lambda: el.mechanisms.count_mean_sketch(epsilon=2.0, collision=0.1),
    ),
    "rappor": ({"f": "0.5", "reports": "3"}, lambda: el.mechanisms.rappor(f=0.5, reports=3)),
    "shuffled": ({"epsilon": "1", "n": "100", "answers": "3"}, lambda: el.mechanisms.shuffled(1.0, n=100, answers=3)),
    "exponential": (
        {"epsilon": "1", "scores0": "1,2,3", "scores1": "1,2,4"},
        lambda: el.mechanisms.exponential(epsilon=1.0, scores0=[1, 2, 3], scores1=[1, 2, 4]),
    ),
    "staircase": ({"epsilon": "1"}, lambda: el.mechanisms.staircase(epsilon=1.0)),
    "pure": ({"epsilon": "1"}, lambda: el.mechanisms.pure(epsilon=1.0)),
    "approximate": ({"epsilon": "1", "delta": "0.01"}, lambda: el.mechanisms.approximate(epsilon=1.0, delta=0.01)),
    "dpsgd": (
        {"sigma": "1", "rate": "0.01", "steps": "1000"},
        lambda: el.dpsgd(sigma=1.0, rate=0.01, steps=1000),
    ),
    "mixture": (
        # What the view starts with, so that its curves, which take seconds, are drawn once.
        {"sigma": "1", "shifts": "0,1,2", "weights": "0.81,0.18,0.01"},
        lambda: el.mechanisms.mixture(shifts=[0, 1, 2], weights=[0.81, 0.18, 0.01], sigma=1.0),
    ),
    "banded": (
        {"sigma": "2", "rate": "0.01", "bands": "10", "steps": "2000"},
        lambda: el.mechanisms.banded(sigma=2.0, rate=0.01, bands=10, steps=2000),
    ),
    "tree": (
        {"leaves": "16", "sigma": "2", "participations": "2", "separation": "8"},
        lambda: el.mechanisms.tree(16, 2.0, 2, 8),
    ),
    "noisy_max": ({"epsilon": "1", "noise": "gumbel"}, lambda: el.mechanisms.noisy_max(epsilon=1.0, noise="gumbel")),
    "permute_and_flip": ({"epsilon": "1"}, lambda: el.mechanisms.permute_and_flip(epsilon=1.0)),
    "top_k": ({"epsilon": "0.5", "k": "5"}, lambda: el.mechanisms.top_k(epsilon=0.5, k=5)),
    "sparse_vector": (
        {"threshold_scale": "2", "query_scale": "4", "above": "2"},
        lambda: el.mechanisms.sparse_vector(threshold_scale=2.0, query_scale=4.0, above=2),
    ),
}


def test_every_mechanism_of_the_command_has_a_case() -> None:
    assert set(MINIMAL) == set(MECHANISMS)


@pytest.mark.parametrize("name", sorted(MINIMAL))
def test_numbers_equal_the_library(client: Any, text_of: Any, name: str) -> None:
    given, build = MINIMAL[name]
    page = client.get("/explain", params={"mechanism": name.replace("_", "-"), **given})
    assert page.status_code == 200
    about, words = explain(build()), text_of(page.text)
    assert " ".join(about.sentence.split()) in words.replace(" .", ".").replace(" ,", ",")
    for row in about.rows:
        if row.shown:
            assert row.text in words, row.key


@pytest.mark.parametrize("name", sorted(MINIMAL))
def test_every_mechanism_starts_with_something(client: Any, name: str) -> None:
    assert client.get("/explain", params={"mechanism": name}).status_code == 200


def test_home_is_explain(client: Any, text_of: Any) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert "70 of 100" in text_of(page.text)


def test_a_form_becomes_a_plain_url(client: Any) -> None:
    sent = {"mechanism": "laplace", "epsilon": "2", "prior_of_100": "30", "fpr_of_100": "10", "sensitivity": "1"}
    page = client.get("/explain", params=sent)
    assert page.status_code == 303
    assert page.headers["location"] == "/explain?mechanism=laplace&epsilon=2&prior=0.3"
    htmx = client.get("/explain", params=sent, headers={"HX-Request": "true"})
    assert htmx.status_code == 200
    assert htmx.headers["hx-push-url"] == "/explain?mechanism=laplace&epsilon=2&prior=0.3"


def test_another_way_keeps_the_noise(client: Any) -> None:
    page = client.get("/explain", params={"mechanism": "laplace", "by": "scale", "epsilon": "2"})
    assert page.headers["location"] == "/explain?mechanism=laplace&scale=0.5"


@pytest.mark.parametrize("way", ["poisson", "fixed", "truncated", "shuffled"])
def test_batches_by_their_size(client: Any, text_of: Any, way: str) -> None:
    given = {"sigma": "1", "n": "1000", "batch": "20", "epochs": "2"}
    given |= {"batches": way} if way != "poisson" else {}
    given |= {"truncation": "30"} if way == "truncated" else {}
    page = client.get("/explain", params={"mechanism": "dpsgd", **given})
    assert page.status_code == 200
    built = el.dpsgd(sigma=1.0, n=1000, batch=20, epochs=2, batches=way, truncation=30 if way == "truncated" else None)
    about, words = explain(built), text_of(page.text)
    assert " ".join(about.sentence.split()) in words.replace(" .", ".").replace(" ,", ",")
    assert client.get("/explain", params={"mechanism": "dpsgd", "by": "batch", "sigma": "1"}).status_code in (200, 303)


def test_another_mechanism_drops_what_it_does_not_take(client: Any) -> None:
    page = client.get("/explain", params={"mechanism": "pure", "epsilon": "2", "sensitivity": "3", "stretch": "2"})
    assert page.status_code == 200


@pytest.mark.parametrize(
    ("given", "field", "said"),
    [
        ({"epsilon": "-1"}, "epsilon", "ε is -1: give a number above 0."),
        ({"epsilon": "abc"}, "epsilon", "ε is 'abc': give a number."),
        ({"epsilon": "nan"}, "epsilon", "ε contains NaN"),
        ({"epsilon": "1" * 500}, "epsilon", "500 characters"),
        ({"prior_of_100": "120"}, "prior", "give a number from 0 to 100"),
        ({"prior": "two"}, "prior", "give a number from 0 to 100"),
        ({"sensitivity": "0"}, "sensitivity", "Sensitivity is 0: give a number above 0."),
        ({"shift": "3"}, "shift", "more than the sensitivity"),
        ({"mechanism": "magic"}, "mechanism", "There is no mechanism 'magic'"),
        ({"mechanism": "discrete-gaussian", "sigma": "1e9"}, "sigma", "σ is 1e+09: the page computes"),
        ({"mechanism": "exponential", "scores0": "1,x"}, "scores0", "give numbers separated by commas"),
        ({"mechanism": "exponential", "scores0": ",".join(["1"] * 2000), "scores1": "1"}, "scores0", "more than 1000"),
    ],
)
def test_an_error_stands_by_its_field(client: Any, text_of: Any, given: dict[str, str], field: str, said: str) -> None:
    page = client.get("/explain", params=given, headers={"HX-Request": "true"})
    assert page.status_code == 422
    start = page.text.index(f'id="error-{field}"')
    slot = text_of(page.text[start - 20 : page.text.index("</p>", start)])
    assert said in slot
    assert "▲" in slot


def test_a_wrong_entry_is_kept_and_escaped(client: Any) -> None:
    page = client.get("/explain", params={"epsilon": '"><script>alert(1)</script>'})
    assert page.status_code == 422
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert" in page.text


def test_the_largest_and_smallest_epsilon(client: Any, text_of: Any) -> None:
    assert "more than 99 of 100" in text_of(client.get("/explain?epsilon=700").text)
    assert client.get("/explain?epsilon=1e-12").status_code == 200


def test_downloads(client: Any) -> None:
    page = client.get("/explain.html?mechanism=laplace&epsilon=1")
    assert "attachment" in page.headers["content-disposition"]
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "70 of 100" in page.text
    assert client.get("/explain.html?epsilon=-1").status_code == 422


def test_the_command_and_the_api_link_say_the_same(client: Any) -> None:
    page = client.get("/explain?mechanism=laplace&epsilon=2&prior=0.3").text
    assert "--prior" in page
    assert json.loads(client.get("/api/explain?mechanism=laplace&epsilon=2&prior=0.3").text)["readings"]["success"] == (
        el.laplace(epsilon=2.0).success(0.3)
    )


@pytest.mark.parametrize(
    ("error", "field"),
    [
        (el.InputError("x", parameter="epsilon"), "epsilon"),
        (el.InputError("x", parameter="epsilon_for_delta"), "for_epsilon"),
        (el.InputError("x", parameter="reading"), "reading"),
        (el.InputError("x", parameter="mechanism"), "mechanism"),
        (el.InputError("x", parameter="colour"), ""),
        (el.InputError("epsilon is -1: give a number above 0"), ""),
    ],
)
def test_a_field_is_found_by_the_parameter_never_by_the_words(error: el.InputError, field: str) -> None:
    from epsilens.web.view_state import problem_of

    assert problem_of(error).field == field


def test_the_symbol_stands_for_the_parameter() -> None:
    from epsilens.web.view_state import problem_of

    assert problem_of(el.InputError("epsilon is -1: no", parameter="epsilon")).sentence == "ε is -1: no."
    assert problem_of(el.InputError("shift is 2: no", parameter="shift")).sentence == "Shift is 2: no."
    assert problem_of(el.InputError("dpsgd needs steps: no", parameter="steps")).sentence == "Dpsgd needs steps: no."


def test_what_was_entered_beside_a_mechanism_that_is_none_is_kept(client: Any) -> None:
    page = client.get("/explain?mechanism=magic&epsilon=2.5&prior=0.3")
    assert page.status_code == 422
    for field, value in (("epsilon", "2.5"), ("prior", "30"), ("fpr", "10")):
        entry = page.text[page.text.index(f'id="f-{field}"') :]
        assert f'value="{value}"' in entry[: entry.index(">")]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("epsilon=12", "a factor of at most 163,000."),
        ("epsilon=40", "a factor of at most e^40."),
        ("epsilon=0.001", "Laplace noise of scale 1,000 hides that: 95 of 100 answers fall within ±3,000"),
        ("epsilon=1&sensitivity=25000", "moves the answer by at most 25,000."),
        ("mechanism=approximate&epsilon=8&delta=0.000001", "no test finds more than 2,982 of 10,000: 2,981 × 1 + 0.01"),
    ],
)
def test_large_numbers_are_written_alike(client: Any, text_of: Any, query: str, words: str) -> None:
    """e¹² = 162,754.8 and e⁸ = 2,980.96, rounded up; a Laplace answer lies within ln(20) = 2.9957 scales."""
    assert words in text_of(client.get(f"/explain?{query}").text)


def test_a_head_is_answered_without_a_body(client: Any) -> None:
    for path in ("/", "/explain?mechanism=geometric&epsilon=1", "/api/explain?epsilon=1", "/assets/page.css"):
        answer = client.head(path)
        assert (answer.status_code, answer.headers["x-frame-options"]) == (200, "DENY")
    assert client.head("/no-such-page").status_code == 404
