"""What makes the sentences true: each claim that is made beside a number is held against a computation of its own.

Enumeration, quadrature or a closed form written out here, never the code that made the number (defects 5.6–5.9,
5.11–5.14).
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable

import numpy as np
import pytest
from scipy import integrate, stats

import epsilens as el
from epsilens.show.document import flat
from epsilens.show.explanation import Explanation, chosen, explain, rows
from epsilens.show.sentences import question

LAPLACE = stats.laplace


def hit(shift: float, threshold: float) -> tuple[float, float]:
    """(false alarms, hits) of the alarm above a threshold, behind Laplace noise of scale 1."""
    return float(LAPLACE.sf(threshold)), float(LAPLACE.sf(threshold - shift))


# -- 5.6: δ is no share of answers --------------------------------------------------------------------------------


def promised(words: str) -> tuple[float, float]:
    """(false alarms, most found) as the table says them."""
    found = re.match(
        r"With (no|[\d.,]+) false alarms?(?: of ([\d,]+))?, no test finds more than ([\d,]+) of ([\d,]+)", words
    )
    assert found, words
    alarms, of, most, scale = (None if g is None else g.replace(",", "") for g in found.groups())
    assert of in (None, scale)
    return 0.0 if alarms == "no" else float(alarms or 0) / int(scale or 1), int(most or 0) / int(scale or 1)


@pytest.mark.parametrize("fpr", [0.0, 0.001, 0.013, 0.1, 0.5])
@pytest.mark.parametrize(
    "e",
    [
        el.laplace(epsilon=1.0),
        el.laplace(epsilon=0.01),
        el.laplace(epsilon=6.0),
        el.gaussian(psi=1.0),
        el.gaussian(psi=4.0),
        el.mechanisms.randomized_response(epsilon=2.0),
        el.mechanisms.approximate(epsilon=0.5, delta=0.01),
        el.mechanisms.finite([0.9, 0.1, 0.0], [0.2, 0.5, 0.3]),
    ],
)
def test_no_test_finds_more_than_is_said(e: el.Experiment, fpr: float) -> None:
    for row in explain(e, fpr=fpr).rows:
        if row.key in ("delta", "epsilon_at_delta") and row.value and math.isfinite(row.value):
            if row.words == "Rules nothing out.":
                continue
            share, most = promised(row.words)
            assert share <= fpr
            assert e.roc(share) <= most
            assert e.reverse().roc(share) <= most


def test_the_worked_number_of_delta() -> None:
    row = explain(el.laplace(epsilon=1.0)).row("delta")
    assert row.words == "With 10 false alarms of 100, no test finds more than 39 of 100: 1.65 × 10 + 22.2."
    # δ(½) by hand: hits less e^½ times false alarms are largest at the answer ¾, where the odds change by e^½
    hits = [hit(1.0, x) for x in np.linspace(-3, 4, 7001)]
    best = max(h - math.exp(0.5) * f for f, h in hits)
    assert row.value == pytest.approx(best, abs=1e-6)
    assert best == pytest.approx(1 - math.exp(-0.25), abs=1e-6)
    assert 100 * (math.exp(0.5) * 0.1 + best) < 39


def test_delta_is_no_share_of_answers() -> None:
    """The glossary: 61 of 100 answers raise the odds of a person in the data by more than e^½, where δ(½) is 0.22."""

    def telling(x: float) -> float:
        return float(LAPLACE.pdf(x - 1)) if LAPLACE.pdf(x - 1) > math.exp(0.5) * LAPLACE.pdf(x) else 0.0

    share = integrate.quad(telling, -30, 30, points=[0, 0.75, 1], limit=500)[0]
    assert share == pytest.approx(1 - 0.5 * math.exp(-0.25), abs=1e-6)
    assert round(100 * share) == 61
    assert el.laplace(epsilon=1.0).delta(0.5) < 0.23


def test_nothing_is_set_aside() -> None:
    for e in (el.laplace(epsilon=1.0), el.gaussian(psi=1.0)):
        assert not re.search(r"set aside|may fail", explain(e).to_text())


# -- 5.7: against which baseline any attack is bounded ------------------------------------------------------------


def inferred(n: int, epsilon: float, known: bool) -> float:
    """How often the best guess of a target's attribute is right, by enumeration.

    Everyone has the attribute with probability 0.05 or 0.95, either equally likely; a count of the n + 1 people (or of
    n, without the target) is published with Laplace noise.
    """
    cells = np.arange(-80.0, n + 81.0, 0.05)
    right = np.zeros(cells.size - 1)
    weights = []
    for value in (0, 1):
        law = np.zeros(cells.size - 1)
        for rate in (0.05, 0.95):
            counts = stats.binom.pmf(np.arange(n + 1), n, rate)
            mine = rate if value else 1 - rate
            for k, p in enumerate(counts):
                moved = k + (value if known else 0)
                law += 0.5 * mine * p * np.diff(LAPLACE.cdf(cells - moved, scale=1 / epsilon))
        weights.append(law)
    right = np.maximum(*weights)
    return float(right.sum())


def test_statistics_alone_beat_a_baseline_without_any_release() -> None:
    e = el.laplace(epsilon=1.0)
    without_record, with_record = inferred(30, 1.0, known=False), inferred(30, 1.0, known=True)
    assert without_record == pytest.approx(0.95, abs=1e-3)
    assert e.attack_success(0.5) == pytest.approx(1 - math.exp(-1) / 2, abs=1e-12)  # 0.816: what 50 of 100 would allow
    assert without_record > e.attack_success(0.5)
    assert without_record < with_record <= e.attack_success(without_record)


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_the_bound_holds_from_a_release_without_the_record(n: int, epsilon: float) -> None:
    e = el.laplace(epsilon=epsilon)
    base, reached = inferred(n, epsilon, known=False), inferred(n, epsilon, known=True)
    assert base <= reached <= e.attack_success(base) + 1e-9


def test_averages_over_targets_are_bounded_too() -> None:
    rng = np.random.default_rng(7)
    for e in (el.laplace(epsilon=1.0), el.gaussian(psi=1.0), el.mechanisms.randomized_response(epsilon=1.0)):
        b = rng.random((50, 8))
        assert np.all(e.attack_success(b).mean(axis=1) <= e.attack_success(b.mean(axis=1)) + 1e-12)


def test_the_words_name_the_baseline() -> None:
    assert "against a release without this record" in explain(el.laplace(epsilon=1.0)).row("attack_success").words
    choice = el.choose(el.laplace, "epsilon", at_most=0.02, reading="attack_success", baseline=0.01)
    assert "Against a release without their record it would be 10 of 1,000" in chosen(choice).sentence


# -- 5.8: when knowledge is only a prior --------------------------------------------------------------------------


def sums(agree: float, known: int | None) -> float:
    """How often the best guess of one of two records is right, from their sum behind Laplace noise of scale 1."""
    joint = {(a, b): 0.5 * (agree if a == b else 1 - agree) for a, b in itertools.product((0, 1), repeat=2)}
    rows_ = {pair: p for pair, p in joint.items() if known is None or pair[1] == known}
    values = [[(pair, p) for pair, p in rows_.items() if pair[0] == a] for a in (0, 1)]

    def best(x: float) -> float:
        # each value of the target equally likely: only what the answer tells is compared
        laws = []
        for some in values:
            total = sum(p for _, p in some)
            laws.append(sum(p / total * float(LAPLACE.pdf(x - sum(pair))) for pair, p in some))
        return 0.5 * max(laws)

    return float(integrate.quad(best, -40, 43, points=[0, 0.5, 1, 1.5, 2], limit=400)[0])


def test_unknown_relatives_are_more_than_a_prior() -> None:
    """Two records that agree 9 times of 10: 0.697 if the other is known, 0.784 if it is not."""
    alone, unknown = sums(0.9, known=0), sums(0.9, known=None)
    assert alone == pytest.approx(1 - math.exp(-0.5) / 2, abs=1e-7)
    assert unknown == pytest.approx(0.5 + 0.45 * (1 - math.exp(-1)), abs=1e-7)
    assert (round(alone, 3), round(unknown, 3)) == (0.697, 0.784)
    pair = el.correlated.table([[0.45, 0.05], [0.05, 0.45]])
    assert pair.experiment(0, known={1: 0}, scale=1.0).success() == pytest.approx(alone, abs=1e-7)
    assert pair.experiment(0, scale=1.0).success() == pytest.approx(unknown, abs=1e-7)
    assert el.laplace(epsilon=1.0).success() == pytest.approx(alone, abs=1e-7)


def test_knowledge_says_under_which_condition() -> None:
    condition = "as long as the related records are known to them or are not in the data"
    related = [
        el.attacks.Knowledge.from_coefficients(rho_p=0.2, rho_c=0.1),
        el.attacks.Knowledge.from_records([[0.45, 0.05], [0.05, 0.45]], {1: 0}),
        el.attacks.Knowledge.from_chain([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], at=1, observed={0: 1}),
    ]
    for known in related:
        assert known.related
        assert condition in known.sentence
    for known in (el.attacks.Knowledge.from_prior(0.2), el.attacks.Knowledge.from_values([0.9, 0.1]),
                  el.attacks.Knowledge.from_coefficients(rho_p=0.2)):  # fmt: skip
        assert not known.related
        assert condition not in known.sentence


# -- 5.9: belief moves both ways ----------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", [0.001, 0.1, 0.5, 0.8])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_both_ends_of_belief(prior: float, epsilon: float) -> None:
    x = np.linspace(-5, 6, 1101)
    present, absent = LAPLACE.pdf(x - 1, scale=1 / epsilon), LAPLACE.pdf(x, scale=1 / epsilon)
    after = prior * present / (prior * present + (1 - prior) * absent)
    about = explain(el.laplace(epsilon=epsilon), prior=prior)
    assert about.row("posterior").value == pytest.approx(after.max(), abs=1e-12)
    assert about.row("posterior_reversed").value == pytest.approx(1 - after.min(), abs=1e-12)
    odds = (1 - prior) / prior
    assert 1 - after.min() == pytest.approx(odds * math.exp(epsilon) / (odds * math.exp(epsilon) + 1), abs=1e-12)


def test_belief_in_absence_is_told_where_it_is_the_stronger() -> None:
    about = explain(el.laplace(epsilon=1.0), prior=0.1)
    assert about.row("posterior").words == "Belief that the person is in the data can rise from 10 to 24 of 100."
    assert about.row("posterior_reversed").words == (
        "Belief that the person is not in the data can rise from 90 to 97 of 100."
    )
    assert about.row("posterior_reversed").baseline == 0.9
    assert about.sentence.endswith("can rise from 10 of 100 to 24 of 100 or fall to 4 of 100.")
    choice = el.choose(el.laplace, "epsilon", at_most=0.2, reading="posterior", prior=0.1)
    assert choice.value == pytest.approx(math.log(0.2 / 0.8 * 9), abs=1e-12)
    # 0.9·(9/4)/(0.9·(9/4) + 0.1) = 0.953
    assert chosen(choice).sentence.endswith(
        "Belief that the person is not in the data can rise to 96 of 100; without the release it would be 90 of 100."
    )


def test_an_answer_that_settles_one_side_only() -> None:
    e = el.mechanisms.finite([0.5, 0.5], [1.0, 0.0])  # the second answer is seen without the person only
    table = {row.key: row for row in rows(e.overview(), question(e))}
    assert table["posterior"].value == pytest.approx(2 / 3)
    assert table["posterior_reversed"].value == 1
    assert table["posterior_reversed"].words.endswith("leave as little doubt as one likes that it is the first world.")


# -- 5.11: false records together ---------------------------------------------------------------------------------


def test_one_record_moves_a_count_by_one() -> None:
    """At ε = ⅓ a bias of 6.9 stays hidden every other time: six false records do, the seventh shows."""
    honest = np.array([1] * 40 + [0] * 60)
    hidden = el.attacks.hidden_bias(epsilon=1 / 3)
    assert hidden == pytest.approx(3 * math.log(10), rel=1e-12)
    assert round(hidden, 1) == 6.9
    for false in range(1, 9):
        moved = int(np.concatenate((honest, np.ones(false, int))).sum() - honest.sum())
        assert moved == false  # each by 1
        threshold = 3 * math.log(10)  # the alarm that 5 of 100 honest answers raise: ½·e^(−t/3) = 0.05
        noticed = float(LAPLACE.sf(threshold - moved, scale=3.0))
        assert (noticed <= 0.5) == (false <= 6)
        assert el.attacks.tampering(epsilon=1 / 3, bias=moved).roc(0.05) == pytest.approx(noticed, rel=1e-9)


def test_what_false_records_do_is_told_of_all_of_them_and_of_whom() -> None:
    told = " ".join(str(el.attacks.tampering(epsilon=1 / 3, bias=6)).split())
    assert told.startswith("False records that together add 6 to this answer would be noticed")
    assert "by someone who knows what it should be" in told
    assert "One record moves the answer by at most 1; more takes several." in told


def test_who_does_not_know_the_answer_notices_nothing() -> None:
    """With nothing known of the count (each equally likely), an answer is as likely with false records as without."""
    answers = np.linspace(-20, 120, 57)
    counts = np.arange(-400, 500)
    honest, moved = (LAPLACE.pdf(answers[:, None] - counts - b, scale=3.0).sum(axis=1) for b in (0, 6))
    assert honest == pytest.approx(moved, rel=1e-12)


# -- 5.12: one worst-placed person, attacked over and over --------------------------------------------------------


def test_the_number_is_that_of_the_worst_placed_person() -> None:
    """Of people who move a sum by different amounts, the one who moves it most is found most often."""
    effects = np.array([0.0, 0.1, 0.25, 0.5, 0.8, 1.0])
    found = [1 - math.exp(-s / 2) / 2 for s in effects]
    mine = [el.laplace(epsilon=1.0, shift=float(s)).success() for s in effects]
    assert mine == pytest.approx(found, abs=1e-12)
    assert max(mine) == el.laplace(epsilon=1.0).success()
    assert np.mean(mine) < max(mine)


@pytest.mark.parametrize(
    ("e", "worst"),
    [
        (el.laplace(epsilon=1.0), True),
        (el.gaussian(sigma=2.0).repeat(2), True),
        (el.laplace(epsilon=1.0, shift=0.5), False),
        (el.compose(el.laplace(epsilon=1.0), el.laplace(epsilon=1.0, shift=0.5)), False),
        (el.mechanisms.exponential(scores0=[1, 2, 3], scores1=[1, 2, 2], epsilon=1.0), False),
        (el.mechanisms.finite([0.5, 0.5], [0.6, 0.4]), False),
    ],
)
def test_only_the_mechanisms_own_pair_is_called_worst_placed(e: el.Experiment, worst: bool) -> None:
    assert ("the worst-placed person" in explain(e).sentence) == worst


def test_no_number_is_said_to_be_of_100_people() -> None:
    for about in (explain(el.laplace(epsilon=1.0)), chosen(el.choose(el.laplace, "epsilon", at_most=0.55))):
        assert not re.search(r"of [\d,]+ people", about.to_text() + about.to_html())
    note = "Each figure is one of 100 guesses about the worst-placed person; in half of them the person is in the data."
    assert note in explain(el.laplace(epsilon=1.0)).to_html()


# -- 5.13: a limit that sees nothing ------------------------------------------------------------------------------


def bayes(prior: float, epsilon: float) -> float:
    """How often the best guess is right, by quadrature."""

    def best(x: float) -> float:
        p1, p0 = float(LAPLACE.pdf(epsilon * (x - 1))), float(LAPLACE.pdf(epsilon * x))
        return epsilon * max(prior * p1, (1 - prior) * p0)

    return float(integrate.quad(best, -40 / epsilon, 1 + 40 / epsilon, points=[0, 0.25, 0.5, 0.75, 1], limit=500)[0])


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, math.log(9)])
def test_success_stays_at_its_baseline_below_the_prior_odds(epsilon: float) -> None:
    assert bayes(0.1, epsilon) == pytest.approx(0.9, abs=1e-7)


def test_a_limit_at_the_baseline_is_warned_of() -> None:
    choice = el.choose(el.laplace, "epsilon", at_most=0.9, reading="success", prior=0.1)
    assert choice.value == pytest.approx(math.log(9))
    assert choice.unseen
    assert choice.to_dict()["unseen"] is True
    about = chosen(choice)
    assert flat(about.warning).startswith("▲ A guess that ignores the release already reaches 90 of 100")
    # belief at ε = log 9: odds of 1 to 9 become even, or 1 to 81
    assert "can rise from 10 of 100 to 50 of 100 or fall to 1 of 100" in about.sentence
    assert about.sentence.endswith("(posterior) instead, or what is found at few false alarms (roc).")
    for text in (about.to_text(), about.to_markdown(), about.to_html(), str(choice), choice._repr_html_()):
        assert "Limit the most certain belief (posterior) instead" in " ".join(text.replace("\u00a0", " ").split())


def seen(e: el.Experiment, reading: Callable[[el.Experiment], float], floor: float) -> float:
    """The share of the way from no release to full disclosure, against that of the advantage."""
    return (reading(e) - floor) / (1 - floor) / float(e.advantage())


@pytest.mark.parametrize(
    ("arguments", "blind"),
    [
        ({"at_most": 0.9, "prior": 0.1}, True),
        ({"at_most": 0.9001, "prior": 0.1}, True),
        ({"at_most": 0.9, "prior": 0.9}, True),
        ({"at_most": 0.6, "prior": 0.4}, True),
        ({"at_most": 0.667, "reading": "fbeta"}, True),
        ({"at_most": 0.98, "prior": 0.1}, False),
        ({"at_most": 0.501}, False),
        ({"at_most": 0.9}, False),
        ({"at_most": 0.2, "prior": 0.1, "reading": "posterior"}, False),
        ({"at_most": 0.002, "fpr": 0.001, "reading": "roc"}, False),
        ({"at_most": 1e-6, "epsilon": 1.0, "reading": "delta"}, False),
    ],
)
@pytest.mark.parametrize(("mechanism", "parameter"), [(el.laplace, "epsilon"), (el.gaussian, "sigma")])
def test_which_limits_see_too_little(
    mechanism: Callable[..., el.Experiment], parameter: str, arguments: dict[str, float | str], blind: bool
) -> None:
    if mechanism is el.gaussian and arguments.get("reading") == "posterior":
        pytest.skip("no Gaussian noise bounds it")
    choice = el.choose(mechanism, parameter, **arguments)  # type: ignore[call-overload]
    assert choice.unseen == blind
    about: Explanation = chosen(choice)
    assert bool(about.warning) == blind
    if choice.reading_name == "success":
        prior = float(arguments.get("prior", 0.5))
        floor = max(prior, 1 - prior)
        assert (seen(choice.experiment, lambda e: float(e.success(prior)), floor) < 0.5) == blind


# -- 5.14: of the dominating pair ---------------------------------------------------------------------------------


def test_the_lower_end_is_no_floor_on_a_real_training() -> None:
    """Gradients that move by half the clipping norm: exactly twice the noise, and below the bracket's lower end."""
    low, high = el.dpsgd(sigma=1.0, rate=0.01, steps=1000).bracket("epsilon", delta=1e-5)
    real = el.dpsgd(sigma=2.0, rate=0.01, steps=1000).epsilon(1e-5)
    assert real < low <= high
    # The last model alone is published, the person's clipped gradient being the same in each step: a sum of 1000 noises
    # of variance 1, moved by the Binomial(1000, 0.01) steps the person was drawn in.
    steps, rate = 1000, 0.01
    x = np.linspace(-12, 14, 26_001) * math.sqrt(steps)
    drawn = np.arange(80)
    present = stats.norm.pdf(x[:, None], drawn, math.sqrt(steps)) @ stats.binom.pmf(drawn, steps, rate)
    absent = stats.norm.pdf(x, 0, math.sqrt(steps))
    for one, two in ((present, absent), (absent, present)):
        assert np.maximum(one - math.exp(low) * two, 0).sum() * (x[1] - x[0]) < 0.1 * 1e-5


def test_dominating_pairs_compose_adaptively() -> None:
    """A second question chosen by the first answer: every strategy stays under the product of the dominating pairs."""
    first, second = el.mechanisms.randomized_response(epsilon=1.0), el.mechanisms.randomized_response(epsilon=0.5)
    together = el.compose(first, second)
    p, q = (math.exp(x) / (1 + math.exp(x)) for x in (1.0, 0.5))
    answered = {"truth": (q, 1 - q), "opposite": (1 - q, q), "weaker": (0.55, 0.45), "nothing": (0.5, 0.5)}
    for strategy in itertools.product(answered, repeat=2):  # what is asked after each first answer
        laws = []
        for value in (0, 1):
            law = []
            for y in (0, 1):
                chance = p if y == value else 1 - p
                same, other = answered[strategy[y]]
                law += [chance * (same if z == value else other) for z in (0, 1)]
            laws.append(law)
        for epsilon in np.linspace(0, 1.6, 33):
            delta = max(
                sum(max(a - math.exp(epsilon) * b, 0.0) for a, b in zip(one, two, strict=True))
                for one, two in (laws, laws[::-1])
            )
            assert delta <= together.delta(epsilon) + 1e-12


def test_training_is_told_as_at_most() -> None:
    about = explain(el.dpsgd(sigma=1.0, rate=0.01, steps=100))
    assert "guesses correctly at most " in about.sentence
    assert any("no floor" in remark for remark in about.remarks)
    for claim in (
        el.mechanisms.pure(epsilon=1.0),
        el.mechanisms.from_gdp(1.0),
        el.mechanisms.approximate(epsilon=8.0, delta=1e-6),
    ):
        assert "guesses correctly at most " in explain(claim).sentence
    assert "at most 99.97 times of 100" in explain(el.mechanisms.approximate(epsilon=8.0, delta=1e-6)).sentence
    assert "at most" not in explain(el.laplace(epsilon=1.0)).sentence
