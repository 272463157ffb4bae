"""A claim on the page: what it means at most, and by what is known of the noise."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

import pytest
from scipy.stats import norm

import epsilens as el
from epsilens.catalogue.deployments import deployments
from epsilens.show.explanation import explain


def test_it_says_what_the_library_says(client: Any, text_of: Any) -> None:
    """(8, 10⁻⁶): with probability δ all is told, else the two worlds differ by tanh(ε/2)."""
    page = client.get("/claim?epsilon=8&delta=0.000001")
    words = text_of(page.text)
    assert page.status_code == 200
    assert explain(el.claim(epsilon=8.0, delta=1e-6)).sentence in words.replace(" .", ".").replace(" ,", ",")
    assert f"{(1 + 1e-6 + (1 - 1e-6) * math.tanh(4)) / 2:.4f}" in words
    assert "more than 99 if the noise is Laplace" in words
    assert "By what is known of the noise" in words


@pytest.mark.parametrize(
    ("query", "claimed"),
    [
        ("claimed=rho&rho=0.5", {"rho": 0.5}),
        ("claimed=order&orders=8&rho=2", {"rho": 2.0, "order": 8.0}),
        ("claimed=mu&mu=1", {"mu": 1.0}),
        ("claimed=epsilon&epsilon=1&delta=0", {"epsilon": 1.0, "delta": 0.0}),
    ],
)
def test_every_kind_of_claim(client: Any, text_of: Any, query: str, claimed: dict[str, float]) -> None:
    page = client.get(f"/claim?{query}")
    words = text_of(page.text)
    assert page.status_code == 200, words[:400]
    about = explain(el.claim(**claimed))  # type: ignore[arg-type]
    assert about.row("success").text in words
    assert about.command.removeprefix("epsilens explain ").split()[0] in words


def test_a_gaussian_claim_by_hand(client: Any) -> None:
    """μ = 1: Φ(1/2) right guesses."""
    rows = csv.DictReader(io.StringIO(client.get("/claim.csv?claimed=mu&mu=1").text))
    success = next(float(r["value"]) for r in rows if r["reading"] == "success")
    assert success == pytest.approx(norm.cdf(0.5), rel=1e-9)


def test_a_published_deployment(client: Any, text_of: Any) -> None:
    d = next(d for d in deployments() if d.name == "apple-emojis")
    page = client.get("/claim?claimed=deployment&deployment=apple-emojis")
    assert page.status_code == 200
    assert f'<option value="{d.name}" selected>' in page.text
    assert f"{math.exp(4) / (1 + math.exp(4)):.4f}" in text_of(page.text), "ε = 4 without a δ"


def test_a_training_of_one_s_own(client: Any, text_of: Any) -> None:
    page = client.get("/claim?epsilon=3&delta=0.00001&n=60000&batch=256&epochs=15")
    assert "This training" in text_of(page.text)
    assert 'name="n" value="60000"' in page.text
    wrong = client.get("/claim?epsilon=3&delta=0.00001&n=60000")
    assert wrong.status_code == 422
    assert 'name="n" value="60000"' in wrong.text


@pytest.mark.parametrize(
    ("query", "field"), [("epsilon=-1", "epsilon"), ("delta=2", "delta"), ("prior_of_100=300", "prior")]
)
def test_errors_stand_by_their_field(client: Any, query: str, field: str) -> None:
    page = client.get(f"/claim?{query}")
    assert page.status_code == 422
    assert "▲" in page.text[page.text.index(f'id="error-{field}"') :][:120]


def test_hostile_entries(client: Any) -> None:
    for query in ("claimed=x", "claimed=deployment&deployment=<script>", "epsilon=<b>", f"mu={'9' * 500}", "rho=1,2,3"):
        page = client.get(f"/claim?{query}")
        assert page.status_code == 422
        assert "<script>alert" not in page.text
        assert "<b>" not in page.text.replace("<b>epsilens</b>", "")


def test_explain_leads_there_and_a_form_becomes_a_plain_address(client: Any) -> None:
    assert client.get("/explain?mechanism=claim").headers["location"] == "/claim"
    told = client.get("/explain?mechanism=claim", headers={"hx-request": "true"})
    assert told.headers["hx-redirect"] == "/claim"
    sent = {"claimed": "mu", "mu": "1", "prior_of_100": "20", "n": "", "batch": "", "epochs": ""}
    assert client.get("/claim", params=sent).headers["location"] == "/claim?claimed=mu&mu=1&prior=0.2"
    for kind in ("html", "json"):
        assert "attachment" in client.get(f"/claim.{kind}?claimed=mu").headers["content-disposition"]


@pytest.mark.parametrize(
    "at",
    [
        "/explain?mechanism=laplace&epsilon=-3",
        "/choose?at_most_of_100=x",
        "/claim?epsilon=-3",
        "/notions?epsilon=x",
        "/compare?a_mechanism=laplace&a_epsilon=x",
    ],
)
def test_what_is_wrong_stays_in_the_address(client: Any, at: str) -> None:
    """Loaded again, the page shows what was typed, and what is wrong with it."""
    answer = client.get(at, headers={"hx-request": "true"})
    assert answer.status_code == 422
    assert answer.headers["hx-replace-url"] == at


@pytest.mark.parametrize(("kind", "start"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_its_curves_are_files(client: Any, kind: str, start: bytes) -> None:
    made = client.get(f"/claim/roc.{kind}?epsilon=8&delta=0.000001")
    assert made.content.startswith(start)
    assert made.headers["content-disposition"] == f'attachment; filename="claim-roc.{kind}"'
    assert f"/claim/roc.{kind}?" in client.get("/claim?epsilon=8&delta=0.000001").text
    assert client.get(f"/claim/roc.{kind}?epsilon=x").status_code == 422
    assert client.get("/claim/roc.gif?epsilon=8").status_code == 422


def test_a_deployment_that_is_none_is_told_by_its_field(client: Any, text_of: Any) -> None:
    page = client.get("/claim?claimed=deployment&deployment=nobody")
    start = page.text.index('id="error-deployment"')
    assert page.status_code == 422
    assert "There is no published deployment 'nobody'" in text_of(
        page.text[start - 20 : page.text.index("</p>", start)]
    )
