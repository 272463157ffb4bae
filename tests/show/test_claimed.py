"""A claim shown: at most first, then the range by what the noise may be, with the curves over each other."""

from __future__ import annotations

import json
from typing import Any

import pytest

import epsilens as el
from epsilens.notions.implications import find
from epsilens.overview import case_curves
from epsilens.show.charts.curves import cases_roc
from epsilens.show.document import flat
from epsilens.show.explanation import explain
from epsilens.show.notions import meaning

TRAINING: dict[str, Any] = {"n": 60_000, "batch": 256, "epochs": 15}


def test_the_sentence_of_epsilon_eight() -> None:
    assert explain(el.claim(epsilon=8, delta=1e-6, **TRAINING)).sentence == (
        "An adversary who knows every other record guesses correctly at most 99.97 times of 100 whether the "
        "worst-placed person is in the data. Without the release they would be right 50 times of 100. "
        "Of 100 guesses more than 99 may be right if nothing else is known, more than 99 if the noise is Laplace, at "
        "most 78 if it is Gaussian, 69 for this training; 50 without the release."
    )


def test_an_example_is_called_one() -> None:
    about = explain(el.claim(epsilon=3, delta=1e-5))
    assert "62 for a training such as the one below" in about.sentence
    assert "A training, for example" in about.to_text()
    assert "Give your own n, batch and epochs" in about.to_html()
    assert "training" not in explain(el.claim(epsilon=1)).sentence
    assert "training" not in explain(el.claim("census-redistricting")).sentence


def test_what_does_not_exist_is_said() -> None:
    about = explain(el.claim(epsilon=1.0))
    assert "No Gaussian noise keeps an ε without a δ." in " ".join(about.to_text().split())
    cases = about.to_dict()["cases"]
    assert cases["gaussian"]["success"] is None
    assert cases["gaussian"]["why"]
    json.dumps(about.to_dict(), allow_nan=False)


def test_the_prior_and_the_false_alarms_are_the_askers() -> None:
    c = el.claim(epsilon=1.0)
    shown = explain(c, prior=0.2, fpr=0.01).to_dict()["cases"]["laplace"]
    assert shown["success"] == c.if_laplace.success(0.2)
    assert shown["recall"] == c.if_laplace.recall(0.01)


@pytest.mark.parametrize(
    ("claim", "command"),
    [
        (lambda: el.claim(epsilon=8, delta=1e-6), "epsilens explain --epsilon 8 --delta 1e-06"),
        (
            lambda: el.claim(rho=0.5, **TRAINING, neighbours="replace"),
            "epsilens explain --rho 0.5 --n 60000 --batch 256 --epochs 15 --neighbours replace",
        ),
        (lambda: el.claim(order=[2, 8], rho=[0.5, 1]), "epsilens explain --rho 0.5,1 --orders 2,8"),
        (lambda: el.claim("apple emojis"), "epsilens explain apple-emojis"),
    ],
)
def test_the_command_says_the_same(claim: object, command: str) -> None:
    assert callable(claim)
    assert explain(claim()).command == command


def test_a_published_deployment_says_what_it_hides() -> None:
    text = " ".join(el.claim("apple emojis").to_text().split())
    assert "event-level" in text
    assert "local model" in text


def test_the_curves_are_the_cases() -> None:
    c = el.claim(epsilon=8, delta=1e-6)
    named = [(str(case.noise), case.experiment) for case in c.cases if case.experiment is not None]
    assert {row["series"] for row in c.chart().data} >= {"Nothing else is known", "Gaussian noise"}
    chart = cases_roc([name for name, _ in named], case_curves(c, 0.1), 0.1)
    drawn = {row["series"] for row in chart.data}
    assert drawn >= {"any", "laplace", "gaussian", "training", "without the release"}
    for name, e in named:
        for row in [r for r in chart.data if r["series"] == name and r["x"] >= 1][::30]:
            assert row["y"] == pytest.approx(100 * e.roc(row["x"] / 100), abs=0.01)
    for width in (chart.desk, chart.phone):
        assert "Nothing" not in chart.svg(width=width)
        assert "gaussian" in chart.svg(width=width)


def test_everywhere_it_is_printed() -> None:
    c = el.claim(epsilon=2, delta=1e-6)
    for form in (c.to_text(), c.to_markdown(), c.to_html(), c._repr_html_(), str(c)):
        assert "known of the noise" in form


def test_at_most_more_than_is_never_said() -> None:
    shown = [explain(el.claim(epsilon=e, delta=d)).to_text(10_000) for e in (0.01, 1, 8, 20, 100) for d in (0.0, 1e-6)]
    shown += [flat(meaning(find("dp"), e)) for e in (1.0, 8.0, 50.0)]
    shown += [str(el.attacks.identify(n=120, value_range=(0, 60), epsilon=e)) for e in (1.0, 500.0)]
    for text in shown:
        assert "at most more" not in " ".join(text.split())
        assert "at most fewer" not in " ".join(text.split())


def test_its_loss_is_shown_at_its_own_delta() -> None:
    """The claim (8, 10⁻⁶) is about δ = 10⁻⁶, and there its worst case has exactly this ε."""
    row = explain(el.claim(epsilon=8.0, delta=1e-6)).row("epsilon_at_delta")
    assert row.name == "Privacy loss at δ = 0.000001"
    assert row.value == pytest.approx(8.0, abs=1e-9)
    assert explain(el.claim(epsilon=8.0, delta=1e-6), delta=1e-4).row("epsilon_at_delta").name.endswith("0.0001")
    assert explain(el.claim(epsilon=8.0)).row("epsilon_at_delta").name.endswith("0.00001")


def test_a_deployment_is_named_and_the_columns_are_explained() -> None:
    told = " ".join(explain(el.claim("census-redistricting")).to_text().split())
    assert "U.S. Census Bureau: Disclosure Avoidance System for Redistricting Data (2021) claims ρ = 2.63" in told
    assert "Found: at 10 false alarms of 100." in told
    assert "A standard deviation of 1 sensitivity, ψ = 1." in " ".join(explain(el.claim(mu=1)).to_text().split())


def test_a_training_says_its_epsilon() -> None:
    # dp-accounting's PLDAccountant (interval 1e-4) at σ = 1.1, q = 256/60000, 3,516 steps: ε(1e-5) = 1.13391
    assert "at most ε = 1.134 at δ = 0.00001." in explain(el.dpsgd(sigma=1.1, **TRAINING)).mechanism
