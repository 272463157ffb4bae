"""What is said about an experiment: true numbers, honest sentences, every form."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import epsilens as el
from epsilens.catalogue.readings import find_reading
from epsilens.laws.composition import evaluator
from epsilens.overview import best_guess, in_time
from epsilens.show.explanation import Explanation, chosen, command_line, explain

EXPERIMENTS: dict[str, Callable[[], el.Experiment]] = {
    "laplace": lambda: el.laplace(epsilon=1.0),
    "laplace, tiny": lambda: el.laplace(epsilon=1e-12),
    "laplace, huge": lambda: el.laplace(epsilon=700.0),
    "laplace, nothing": lambda: el.laplace(epsilon=1.0, shift=0.0),
    "laplace, stretched": lambda: el.laplace(epsilon=1.0, stretch=2.0),
    "gaussian": lambda: el.gaussian(psi=1.0),
    "gaussian, huge": lambda: el.gaussian(psi=100.0),
    "gaussian, calibrated": lambda: el.gaussian(epsilon=1.0, delta=1e-5),
    "geometric": lambda: el.mechanisms.geometric(epsilon=1.0, sensitivity=3),
    "discrete_gaussian": lambda: el.mechanisms.discrete_gaussian(sigma=2.0),
    "skellam": lambda: el.mechanisms.skellam(variance=4.0),
    "randomized_response": lambda: el.mechanisms.randomized_response(epsilon=1.0, k=3),
    "exponential": lambda: el.mechanisms.exponential(scores0=[1, 2, 3], scores1=[1, 2, 2], epsilon=1.0),
    "staircase": lambda: el.mechanisms.staircase(epsilon=1.0),
    "pure": lambda: el.mechanisms.pure(epsilon=1.0),
    "approximate": lambda: el.mechanisms.approximate(epsilon=1.0, delta=1e-5),
    "approximate, everything": lambda: el.mechanisms.approximate(epsilon=0.0, delta=1.0),
    "finite": lambda: el.mechanisms.finite([1, 0], [0.5, 0.5]),
}


@pytest.fixture(params=list(EXPERIMENTS))
def experiment(request: pytest.FixtureRequest) -> el.Experiment:
    return EXPERIMENTS[request.param]()


def test_the_sentence() -> None:
    said = explain(el.laplace(epsilon=1.0)).sentence
    assert said == (
        "An adversary who knows every other record guesses correctly 70 times of 100 whether the worst-placed person "
        "is in the data. Without the release they would be right 50 times of 100."
    )
    replaced = explain(el.laplace(epsilon=1, neighbours="replace")).sentence
    assert "which of two values the worst-placed person's record has" in replaced


def test_the_readings_are_the_librarys(experiment: el.Experiment) -> None:
    about = explain(experiment, prior=0.3, fpr=0.05, beta=2.0, baseline=0.02)
    read = about.to_dict()["readings"]
    wanted = {
        "success": experiment.success(0.3),
        "advantage": experiment.advantage(),
        "posterior": experiment.posterior(0.3),
        "posterior_reversed": experiment.reverse().posterior(0.7),
        "recall": experiment.recall(0.05),
        "precision": experiment.precision(0.05, 0.3),
        "auc": experiment.auc(),
        "fbeta": experiment.fbeta(2.0, 0.3),
        "attack_success": experiment.attack_success(0.02),
        "epsilon": experiment.epsilon(),
        "epsilon_at_delta": experiment.epsilon(1e-5),
        "psi": experiment.psi(),
        "mu": experiment.mu(1e-6),
        "kl": max(experiment.kl(), experiment.reverse().kl()),  # a divergence has one order: the larger is shown
        "renyi": max(experiment.renyi(2.0), experiment.reverse().renyi(2.0)),
        "chernoff": experiment.chernoff(),
    }
    for name, value in wanted.items():
        assert read[name] == (value if math.isfinite(value) else None), name
    assert read["delta"] == experiment.delta(about.arguments["epsilon_for_delta"])


def test_baselines_are_the_floors() -> None:
    given = {"prior": 0.3, "fpr": 0.05, "beta": 2.0, "baseline": 0.02}
    base = explain(el.gaussian(psi=1.0), **given).to_dict()["baselines"]
    assert base["success"] == find_reading("success").floor(prior=0.3) == 0.7
    assert base["fbeta"] == find_reading("fbeta").floor(beta=2.0, prior=0.3)
    assert (base["recall"], base["precision"], base["attack_success"]) == (0.05, 0.3, 0.02)
    assert base["epsilon"] == base["psi"] == base["kl"] == 0


def test_json_is_json(experiment: el.Experiment) -> None:
    payload = explain(experiment).to_dict()
    again = json.loads(json.dumps(payload, allow_nan=False))
    assert again == payload
    assert again["schema"] == 1
    nulls = {name for name, value in payload["readings"].items() if value is None}
    assert nulls == set(payload["unbounded"])


def test_every_form_is_whole(experiment: el.Experiment) -> None:
    about = explain(experiment)
    for text in (about.to_text(), about.to_markdown(), about.to_html_fragment(), str(experiment)):
        assert not re.search(r"\b(nan|inf|None)\b", text)
        assert "at most more" not in text
    text = about.to_text()
    assert text.startswith(about.sentence[:30])
    table = [line for line in text.splitlines() if not line.startswith("Reproduce")]
    assert max(map(len, table)) <= 80
    assert not re.search(r"\d of$|\d$\n\s*of \d", text, re.MULTILINE), "a frequency is broken over two lines"


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_text_fits_its_width(width: int) -> None:
    lines = explain(el.gaussian(psi=1.0)).to_text(width).splitlines()
    assert max(len(line) for line in lines if not line.startswith("Reproduce")) <= width


def test_terminal_text_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    about = explain(el.laplace(epsilon=1.0))
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in about.to_terminal(100)
    monkeypatch.setenv("TERM", "xterm-256color")
    for width in (100, 50):
        shown = about.to_terminal(width)
        plain = "\n".join(line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", shown).split("\n"))
        assert plain == about.to_text(width) != shown
    assert " ".join(about.sentence.split()) in " ".join(about.to_text().split())


def test_ten_false_alarms_head_their_group() -> None:
    assert explain(el.laplace(epsilon=1.0)).row("recall").group == "At 10 false alarms of 100"
    assert explain(el.laplace(epsilon=1.0), fpr=0.0).row("recall").group == "At no false alarms"
    assert explain(el.laplace(epsilon=1.0), fpr=0.001).row("recall").group == "At 1 false alarm of 1,000"


def test_nearly_certain_is_not_certain() -> None:
    about = explain(el.laplace(epsilon=700.0))
    assert about.row("success").value == 1.0  # in double precision
    assert "more than 99 times of 100" in about.sentence
    assert about.row("success").text == "> 0.9999"
    assert "100 times of 100" in explain(el.mechanisms.approximate(epsilon=0.0, delta=1.0)).sentence
    assert "may guess correctly nearly every time" in explain(el.mechanisms.pure(epsilon=700.0)).sentence


def test_a_strong_prior_does_not_hide_the_risk() -> None:
    said = explain(el.laplace(epsilon=1.0), prior=0.1).sentence
    assert "90 times of 100 too, because they guess the same every time" in said
    assert said.endswith("can rise from 10 of 100 to 24 of 100 or fall to 4 of 100.")
    far = explain(el.gaussian(psi=0.1), prior=0.001).sentence
    assert far.endswith("can rise from 10 of 10,000 to near certainty or fall to nearly none.")
    assert explain(el.laplace(epsilon=1e-12)).sentence.endswith("the release adds fewer than 1 of 1,000,000.")
    assert explain(el.laplace(epsilon=1.0, shift=0.0)).sentence.endswith("the release adds nothing.")


def test_unbounded_epsilon_shows_one_with_delta() -> None:
    shown = {row.key for row in explain(el.gaussian(psi=1.0)).rows if row.shown}
    assert "epsilon_at_delta" in shown
    assert "epsilon_at_delta" not in {row.key for row in explain(el.laplace(epsilon=1.0)).rows if row.shown}


@pytest.mark.parametrize(("prior", "fpr"), [(0.0, 0.0), (0.1, 1.0), (0.9, 0.0), (1.0, 1.0)])
def test_the_edges_of_prior_and_fpr(experiment: el.Experiment, prior: float, fpr: float) -> None:
    assert explain(experiment, prior=prior, fpr=fpr).to_text()
    alpha, recall = best_guess(experiment, prior)
    assert (1 - prior) * (1 - alpha) + prior * recall == pytest.approx(experiment.success(prior), abs=1e-9)


def test_the_best_f_point_reaches_the_best_f() -> None:
    found = re.match(r"Finds (\d+) of 100, with (\d+) false", explain(el.laplace(epsilon=1.0)).row("fbeta").words)
    assert found
    assert found.groups() == ("78", "41")
    assert "flagging everyone" in explain(el.laplace(epsilon=0.1)).row("fbeta").words


@pytest.mark.parametrize(
    "bad", [{"prior": 2.0}, {"fpr": math.nan}, {"beta": 0.0}, {"delta": -1.0}, {"epsilon_for_delta": -1.0}]
)
def test_bad_arguments_are_a_sentence(bad: dict[str, float]) -> None:
    with pytest.raises(el.InputError):
        explain(el.laplace(epsilon=1.0), **bad)


def test_arrays_are_refused() -> None:
    with pytest.raises(el.InputError, match="arrays"):
        explain(el.laplace(epsilon=[1.0, 2.0]))


@pytest.mark.parametrize("name", ["laplace", "gaussian", "gaussian, calibrated", "geometric", "staircase", "pure"])
def test_the_command_rebuilds_the_experiment(name: str) -> None:
    about = explain(EXPERIMENTS[name]())
    words = about.command.split()
    assert words[:2] == ["epsilens", "explain"]
    given = {k.removeprefix("--"): float(v) for k, v in zip(words[3::2], words[4::2], strict=True)}
    built = getattr(el.mechanisms, words[2].replace("-", "_"))(**given)
    assert built.success() == about.row("success").value


def test_options_are_quoted_for_the_shell() -> None:
    assert command_line("explain", "laplace", {"norm": "a b;rm"}) == "epsilens explain laplace --norm 'a b;rm'"


# -- what noise does ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "noise"),
    [
        (lambda: el.laplace(scale=2.0), lambda rng, n: rng.laplace(0, 2, n)),
        (lambda: el.gaussian(sigma=3.0), lambda rng, n: rng.normal(0, 3, n)),
        (lambda: el.mechanisms.geometric(epsilon=0.2), lambda rng, n: _geometric(rng, n, 0.2)),
        (lambda: el.mechanisms.discrete_gaussian(sigma=20.0), lambda rng, n: np.round(rng.normal(0, 20, n))),
        (lambda: el.mechanisms.staircase(epsilon=0.7, sensitivity=2.0), lambda rng, n: _staircase(rng, n, 0.7, 2.0)),
    ],
)
def test_95_of_100_answers_fall_within(
    build: Callable[[], el.Experiment], noise: Callable[[np.random.Generator, int], np.ndarray]
) -> None:
    found = re.search(r"±([\d.]+) of the truth", explain(build()).mechanism)
    assert found
    within = float(found[1])
    drawn = np.abs(noise(np.random.default_rng(1), 200_000))
    assert np.mean(drawn <= within) > 0.947
    assert np.mean(drawn <= 0.8 * within) < 0.95


def _geometric(rng: np.random.Generator, n: int, epsilon: float) -> np.ndarray:
    p = -math.expm1(-epsilon)
    return np.asarray(rng.geometric(p, n) - rng.geometric(p, n))


def _staircase(rng: np.random.Generator, n: int, epsilon: float, sensitivity: float) -> np.ndarray:
    g, q = 1 / (1 + math.exp(epsilon / 2)), math.exp(-epsilon)
    step = rng.geometric(1 - q, n) - 1
    low = rng.random(n) < g / (g + (1 - g) * q)
    return np.asarray(sensitivity * (step + np.where(low, g * rng.random(n), g + (1 - g) * rng.random(n))))


def test_replacing_a_record_is_said() -> None:
    assert explain(el.laplace(epsilon=1, neighbours="replace")).mechanism.startswith(
        "Changing one person's record moves"
    )


# -- choices ------------------------------------------------------------------------------------------------------


def _choice(reading: str, limit: float, **arguments: Any) -> Explanation:
    return chosen(el.choose(el.laplace, "epsilon", at_most=limit, reading=reading, **arguments))


@pytest.mark.parametrize(
    ("reading", "limit", "arguments"),
    [
        ("success", 0.55, {}),
        ("success", 0.999, {}),
        ("advantage", 0.1, {}),
        ("auc", 0.6, {}),
        ("fbeta", 0.7, {"beta": 1.0}),
        ("posterior", 0.6, {}),
        ("precision", 0.6, {"recall": 0.5}),
        ("precision", 0.6, {"fpr": 0.1}),
        ("recall", 0.2, {"fpr": 0.1}),
        ("roc", 0.2, {"fpr": 0.1}),
        ("attack_success", 0.02, {"baseline": 0.01}),
        ("delta", 1e-5, {"epsilon": 1.0}),
        ("epsilon", 1.0, {"delta": 1e-5}),
        ("psi", 1.0, {}),
        ("mu", 1.0, {"level": 1e-4}),
        ("kl", 0.1, {}),
        ("renyi", 0.1, {"order": 2.0}),
        ("chernoff", 0.1, {}),
    ],
)
def test_every_choice_is_an_instruction(reading: str, limit: float, arguments: dict[str, float]) -> None:
    about = _choice(reading, limit, **arguments)
    assert about.choice
    assert about.headline.startswith("Use ε = ")
    assert float(about.headline.split()[3]) <= about.choice.value
    assert about.sentence.endswith(".")
    assert "at most more" not in about.sentence
    assert about.to_dict()["choice"]["value"] == about.choice.value
    assert json.dumps(about.to_dict(), allow_nan=False)


def test_the_smallest_sigma_rounds_up() -> None:
    choice = el.choose(el.gaussian, "sigma", at_most=0.05, reading="roc", fpr=0.01)
    about = chosen(choice)
    assert about.headline == "Use σ = 1.468 or more"
    assert el.gaussian(sigma=1.468).roc(0.01) <= 0.05
    found = "at 1 false alarm of 100, an adversary then finds at most 5 times of 100 that the person is in the data"
    assert found in about.sentence


def test_a_limit_that_binds_nothing_is_said() -> None:
    assert _choice("success", 1.0).headline == "Any ε up to 700 keeps this limit"
    free = chosen(el.choose(el.gaussian, "sigma", at_most=1.0))
    assert free.headline == "Any σ down to 0.01 keeps this limit"
    assert any("nothing up to here" in remark.lower() for remark in free.remarks)


def test_a_limit_of_999_of_1000_is_exact() -> None:
    assert _choice("success", 0.999).sentence.endswith("Your limit is 999 of 1,000.")


def test_the_noise_chosen_is_rounded_to_the_safe_side_everywhere() -> None:
    choice = el.choose(el.dpsgd, "sigma", at_most=0.05, reading="roc", given={"rate": 0.01, "steps": 10_000}, fpr=0.01)
    assert 1.624 < choice.value < 1.6245
    shown = str(choice)
    assert shown.startswith("Use σ = 1.625 or more")
    assert "1.625 times" in " ".join(shown.split())
    assert "1.624" not in shown.split("Reproduce:")[0]
    rate = el.choose(el.dpsgd, "rate", at_most=0.1, reading="advantage", given={"sigma": 1.0, "steps": 1000})
    about = str(rate)
    value = about.split("rate = ")[1].split(" or")[0]
    assert float(value) <= rate.value
    assert f"probability {value} and" in " ".join(about.split())


def test_psi_of_sampled_steps_says_what_rules_it() -> None:
    said = "ψ is ruled by the rarest, most telling outcomes, where sampling does not help."
    training = el.dpsgd(sigma=1.0, rate=0.01, steps=10_000)
    for e in (training, training.reverse(), el.compose(training, el.laplace(epsilon=0.1))):
        assert explain(e).row("psi").words.endswith(said)
        shown = explain(e)
        assert not shown.row("psi").shown  # it alarms: the practical index says it beside what that leaves out
        assert "Rarer ones are left out: with them it is ψ = " in shown.row("mu").words
    for e in (el.gaussian(psi=1.0), el.laplace(epsilon=0.1).repeat(20), el.dpsgd(sigma=1.0, rate=1.0, steps=10)):
        assert said not in explain(e).row("psi").words


def test_the_practical_index_stands_beside_psi_where_it_says_more() -> None:
    run = explain(el.dpsgd(sigma=9.4, rate=2**14 / 50_000, steps=2000), level=1e-3)
    row = next(r for r in run.rows if r.key == "mu")
    assert row.shown
    assert row.value == pytest.approx(1.5629, abs=3e-4)
    assert "0.001" in row.name  # the level it leaves out
    assert not next(r for r in explain(el.laplace(epsilon=1.0)).rows if r.key == "mu").shown


@pytest.mark.parametrize(
    ("experiment", "word"),
    [
        (el.mechanisms.unary(epsilon=1.0), "one bit for every possible value"),
        (el.mechanisms.hadamard_response(epsilon=1.0), "half of the sets"),
        (el.mechanisms.count_mean_sketch(epsilon=1.0), "hashes"),
        (el.mechanisms.rappor(f=0.5, h=3), "sets 3 bits"),
        (el.mechanisms.shuffled(1.0, n=1000), "1,000 people"),
    ],
)
def test_what_people_do_before_anyone_sees_their_answers(experiment: el.Experiment, word: str) -> None:
    assert word in explain(experiment).mechanism


def test_what_is_not_reached_is_asked_less_of(monkeypatch: pytest.MonkeyPatch) -> None:
    easy = el.dpsgd(sigma=1.0, rate=0.01, steps=100)
    assert in_time(easy, 0.5) is easy
    assert in_time(el.laplace(epsilon=1.0), 0.5).law.reached
    monkeypatch.setattr(evaluator, "MOST_WORK", 2**8)  # so that nothing hard is reached
    given: dict[str, Any] = {"sigma": 0.3, "rate": 1e-6, "steps": 10**6}
    hard = el.dpsgd(**given)
    rough = in_time(hard, 0.5)
    assert not hard.law.reached
    assert rough.law.width == 0.05
    assert rough.parameters == hard.parameters
    wide = el.dpsgd(**given, width=0.2)  # never narrower than was asked for
    assert in_time(wide, 0.5).law.width == 0.2


def test_an_explanation_of_what_is_not_reached_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluator, "MOST_WORK", 2**8)
    about = explain(el.dpsgd(sigma=0.3, rate=0.001, steps=100, people=3))
    assert "wider than was asked for" in about.remarks[-1]
    assert about.row("success").value >= 0.5 + 0.0963755 / 2  # at least half of what the area exceeds ½ by


def test_a_bound_far_from_any_attack_says_how_far() -> None:
    """Of shuffled batches nobody knows the risk itself, only an attack and a bound."""
    e = el.dpsgd(sigma=1.1, n=60_000, batch=256, epochs=15, batches="shuffled")
    low, high = e.bracket("success")
    told = explain(e).remarks[-1]
    assert high > 1.01 * low
    found = re.search(r"a known attack guesses correctly ([\d.]+) times of 100, and none more than ([\d.]+)\.", told)
    assert found is not None
    assert 0.99 * low < float(found[1]) / 100 <= low < high <= float(found[2]) / 100 < 1.01 * high
    assert "known attack" not in " ".join(explain(el.dpsgd(sigma=1.1, rate=0.01, steps=100)).remarks)
