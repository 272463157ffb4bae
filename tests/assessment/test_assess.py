"""The numbers of an assessment, recomputed by other means: closed forms by hand, pandas, brute force, simulation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from scipy.stats import norm
from tests.data.brute import isolation

from epsilens.assessment.accuracy import simulate
from epsilens.assessment.adversaries import ADVERSARIES
from epsilens.assessment.assess import Assessment, assess
from epsilens.assessment.risks import AdversaryRisk
from epsilens.data.tables.sources import bundled_dataset
from epsilens.errors import InputError

LAPLACE = """\
title: Mental-health visits by site
data:
  table: epsilens:rand-hie
  person: person
  max_rows: 5
  quasi_identifiers: [site, age, female, black, education]
  secret: mental_visits > 0
queries:
  - count: mental_visits > 0
    by: site
    groups: [1, 2, 3, 4, 5, 6]
  - sum: visits
    bounds: [0, 77]
  - average: income
    bounds: [0, 30000]
mechanism: {noise: laplace, epsilon: 1.0}
adversary: {prior: 0.5, belief: 0.07, knows: one answer}
limits: {success: 0.55, posterior: 0.12, attack_success: 0.02, error: 0.15}
"""
GAUSSIAN = LAPLACE.replace("noise: laplace, epsilon: 1.0", "noise: gaussian, epsilon: 1.0, delta: 1.0e-6").replace(
    "posterior: 0.12, ", ""
)


@pytest.fixture(scope="module")
def hie() -> pd.DataFrame:
    return pd.read_parquet(bundled_dataset("epsilens:rand-hie").path)


@pytest.fixture(scope="module")
def laplace_release() -> Assessment:
    return assess(LAPLACE)


@pytest.fixture(scope="module")
def gaussian_release() -> Assessment:
    return assess(GAUSSIAN)


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """A small made-up table: people with one to four rows, a few alone in their combination."""
    rng = np.random.default_rng(3)
    who = np.repeat(np.arange(180), rng.integers(1, 5, 180))
    return pd.DataFrame(
        {
            "who": who,
            "site": rng.integers(1, 5, who.size),
            "age": rng.integers(20, 60, who.size),
            "sex": rng.choice(["f", "m"], who.size),
            "visits": rng.integers(0, 30, who.size).astype(float),
            "sick": rng.random(who.size) < 0.2,
        }
    )


def risk(a: Assessment, key: str) -> AdversaryRisk:
    return next(r for r in a.risks if r.key == key)


def small(people: pd.DataFrame, *, limits: str = "{success: 0.55}", **changes: Any) -> Assessment:
    release: dict[str, Any] = {
        "data": {"table": "t", "quasi_identifiers": ["site", "age", "sex"]},
        "queries": [{"count": "sick"}],
        "mechanism": {"noise": "laplace", "epsilon": 1.0},
    }
    release.update(changes)
    text = "\n".join(f"{k}: {v!r}".replace("True", "true") for k, v in release.items())
    return assess(f"{text}\nlimits: {limits}\n", table=people)


# -- answers and isolation ----------------------------------------------------------------------------------------


@pytest.mark.always
def test_answers_against_pandas(laplace_release: Assessment, hie: pd.DataFrame) -> None:
    counts, total, average = laplace_release.queries
    sizes = hie[hie.mental_visits > 0].groupby("site").person.nunique()
    assert {x.group: x.value for x in counts.answers} == {(str(site),): n for site, n in sizes.items()}
    assert total.answers[0].value == pytest.approx(hie.visits.clip(0, 77).sum())
    income = hie.income.dropna().clip(0, 30000)
    assert average.answers[0].value == pytest.approx(income.mean(), rel=1e-9)
    assert counts.typical == sorted(sizes)[2]  # of six groups the smaller of the middle two


def test_only_max_rows_of_a_person_are_used(people: pd.DataFrame) -> None:
    a = assess(
        "data: {table: t, person: who, max_rows: 2}\nqueries:\n  - sum: visits\n    bounds: [0, 20]\n"
        "  - count: true\nmechanism: {epsilon: 1}\n",
        table=people,
    )
    # which two rows is a matter of their hash: their number is certain, and no choice of two lies outside
    (found,) = a.queries[0].answers
    assert found.value == people.visits.sum()
    assert found.rows == people.groupby("who").size().clip(upper=2).sum()
    clipped = people.assign(visits=people.visits.clip(0, 20)).sort_values("visits").groupby("who")
    assert clipped.head(2).visits.sum() < found.bounded < clipped.tail(2).visits.sum()
    assert found.bounded < found.limited < found.value
    assert a.queries[0].sensitivity == 40
    assert a.queries[1].answers[0].value == people.who.nunique()
    assert a.queries[1].sensitivity == 1


def test_isolation_against_brute_force(people: pd.DataFrame) -> None:
    columns = ["site", "age", "sex"]
    for person in (None, "who"):
        data: dict[str, Any] = {"table": "t", "quasi_identifiers": columns}
        if person:
            data |= {"person": person, "max_rows": 4}
        found = small(people, data=data).scan
        assert found is not None
        brute = isolation(people[[*columns, "who"]].to_dict("records"), columns, person)
        assert {s.columns: s.people for s in found.subsets} == {c: len(who) for c, who in brute.items()}
        assert found.isolated == len(set().union(*brute.values()))


def test_isolation_of_the_bundled_table(laplace_release: Assessment, hie: pd.DataFrame) -> None:
    scan = laplace_release.scan
    assert scan is not None
    holders = hie.groupby(list(scan.quasi_identifiers), dropna=False).person.agg(["nunique", "first"])
    assert scan.isolated == holders[holders["nunique"] == 1]["first"].nunique()
    assert scan.people == hie.person.nunique() == laplace_release.people


# -- risks, by closed form ----------------------------------------------------------------------------------------


def test_one_laplace_answer_by_hand(people: pd.DataFrame) -> None:
    a = small(people, limits="{success: 0.55, attack_success: 0.02, posterior: 0.6}")
    member, found, belief = risk(a, "membership"), risk(a, "reidentification"), risk(a, "belief")
    assert member.planned == pytest.approx(1 - math.exp(-0.5) / 2, rel=1e-12)
    assert member.baseline == 0.5
    assert member.largest == pytest.approx(-2 * math.log(0.9), rel=1e-9)
    assert found.planned == pytest.approx(0.01 * math.e, rel=1e-9)
    assert found.largest == pytest.approx(math.log(2), rel=1e-9)
    assert belief.planned == pytest.approx(1 / (1 + math.exp(-1)), rel=1e-12)
    assert belief.largest == pytest.approx(math.log(1.5), rel=1e-9)
    assert a.binding == "membership"
    assert a.recommended == 0.21
    assert member.recommended == pytest.approx(1 - math.exp(-0.105) / 2, rel=1e-12)
    order = [r.largest for r in a.risks if r.largest is not None]
    assert order == sorted(order)


def test_three_laplace_answers(laplace_release: Assessment) -> None:
    a = laplace_release
    assert a.binding == "membership"
    # ε/3 for the count and the sum, ε/6 for the total and for the size of the average: the laws of four losses
    (x, p), (y, q) = together(losses(1 / 3, 300), losses(1 / 3, 300)), together(losses(1 / 6, 300), losses(1 / 6, 300))
    order = np.argsort(y)
    y, q, tilted = y[order], q[order], (q * np.exp(-y))[order]
    above = np.searchsorted(y, -x, side="right")
    rest, tilt = (np.append(np.cumsum(v[::-1])[::-1], 0.0)[above] for v in (q, tilted))
    distance = float((p * (rest - np.exp(-x) * tilt)).sum())  # P(loss > 0) under one world less under the other
    truth = (1 + distance) / 2  # within 2e-8: .5995657
    assert risk(a, "membership").planned == pytest.approx(truth, abs=1e-7)
    # the exposed count moves by its whole sensitivity; the attacker knows one answer, or has two noisy ones
    gap = a.scan.queries[0].ratio["worst"] if a.scan else 0.0
    assert risk(a, "differencing-known").planned == pytest.approx(1 - math.exp(-gap / 6) / 2, rel=1e-9)
    # two noisy answers with ε/6 each: TV of two Laplaces' sum shifted by the gap, 1 − (1 + d/4)e^{−d/2} with d = ε/6
    d = gap / 6
    assert risk(a, "differencing-noisy").planned == pytest.approx(1 - (1 + d / 4) * math.exp(-d / 2) / 2, rel=1e-9)
    # only the count mentions the secret
    odds = 0.07 / 0.93 * math.exp(1 / 3)
    assert risk(a, "belief").planned == pytest.approx(odds / (1 + odds), rel=1e-9)
    assert risk(a, "reidentification").planned == pytest.approx(0.01 * math.e, rel=1e-9)
    assert a.recommended is not None
    assert a.recommended <= min(r.largest for r in a.risks if r.largest is not None)
    assert all(r.recommended is not None and r.limit is not None and r.recommended <= r.limit for r in a.risks)


def _psi(epsilon: float, delta: float) -> float:
    """The shift in units of σ at which δ(ε) is exactly delta (analytic calibration, by hand)."""

    def excess(psi: float) -> float:
        a, b = psi / 2 - epsilon / psi, -psi / 2 - epsilon / psi
        return float(norm.cdf(a) - math.exp(epsilon) * norm.cdf(b) - delta)

    return float(brentq(excess, 1e-3, 50.0, xtol=1e-14))


@pytest.mark.always
def test_three_gaussian_answers(gaussian_release: Assessment) -> None:
    a, psi = gaussian_release, _psi(1 / 3, 1e-6 / 3)
    half = _psi(1 / 6, 1e-6 / 6)  # a total and a size share what an average gets
    assert risk(a, "membership").planned == pytest.approx(norm.cdf(math.hypot(psi, psi, half, half) / 2), rel=1e-9)
    z = norm.ppf(0.01) + math.hypot(psi, psi, half, half)
    assert risk(a, "reidentification").planned == pytest.approx(norm.cdf(z), rel=1e-8)
    assert not any(r.key == "belief" for r in a.risks)
    count, total, average = a.queries
    assert count.planned.scale == pytest.approx(count.sensitivity / psi, rel=1e-9)
    assert total.planned.worst
    assert total.planned.worst.error == pytest.approx(norm.ppf(0.975) * 5 * 77 / psi, rel=1e-9)
    assert average.planned.scale == pytest.approx(5 * 15000 / half, rel=1e-9)
    # at the largest ε the membership test is at the limit
    largest = risk(a, "membership").largest
    assert largest is not None
    there, part = _psi(largest / 3, 1e-6 / 3), _psi(largest / 6, 1e-6 / 6)
    assert norm.cdf(math.hypot(there, there, part, part) / 2) == pytest.approx(0.55, abs=1e-7)


def losses(m: float, n: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """The loss of one Laplace answer and its masses under H1: atoms at ±m, and e^{−(m−l)/2}/4 between, by midpoints."""
    step = 2 * m / n
    inner = -m + (np.arange(n) + 0.5) * step
    return np.concatenate(([-m], inner, [m])), np.concatenate(
        ([0.5 * math.exp(-m)], np.exp(-(m - inner) / 2) / 4 * step, [0.5])
    )


def together(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The loss of two answers."""
    return np.add.outer(a[0], b[0]).ravel(), np.multiply.outer(a[1], b[1]).ravel()


def test_unequal_budgets_are_put_together_in_closed_form(people: pd.DataFrame) -> None:
    a = small(
        people,
        queries=[{"count": "sick", "epsilon": 0.4}, {"sum": "visits", "bounds": [0, 30], "epsilon": 0.1}],
        mechanism={"noise": "laplace"},
    )
    (x, p), (y, q) = losses(0.4), losses(0.1)
    both = p[:, None] * q[None, :] * np.maximum(-np.expm1(-(x[:, None] + y[None, :])), 0)
    truth = (1 + both.sum()) / 2
    assert risk(a, "membership").planned == pytest.approx(truth, abs=1e-6)
    assert truth < (1 + math.tanh(0.25)) / 2  # the worst case of the sum of the losses


# -- accuracy -----------------------------------------------------------------------------------------------------


def test_noise_and_error_by_hand(laplace_release: Assessment, hie: pd.DataFrame) -> None:
    """ln 20 of the scale for counts and sums; of the average 5·15000·6 on the total and 5·6 on the rows, by root."""
    a = laplace_release
    count, total, average = a.queries
    income = hie.income.dropna().clip(0, 30000)
    assert average.answers[0].rows == average.divisor == len(income)
    for q, scale, smallest in ((count, 3.0, min(x.value for x in count.answers)), (total, 3 * 5 * 77, total.typical)):
        assert q.planned.scale == pytest.approx(scale, rel=1e-12)
        assert q.planned.worst
        assert q.planned.worst.error == pytest.approx(math.log(20) * scale, rel=1e-12)
        assert q.relative(1.0, a.release) == pytest.approx(math.log(20) * scale / smallest, rel=1e-12)
        # Laplace noise shrinks as 1/ε: the ε that the error tolerated needs
        assert q.smallest_epsilon == pytest.approx(math.log(20) * scale / (0.15 * smallest), rel=1e-9)
        assert q.recommended
        assert q.recommended.worst
        assert a.recommended is not None
        assert q.recommended.worst.error == pytest.approx(q.planned.worst.error / a.recommended, rel=1e-9)
    # far from the floor and the clamp the average errs by (Z − (mean − centre)·Z')/N, nearly
    b, c = 6 * 5 * 15000 / len(income), 6 * 5 * abs(income.mean() - 15000) / len(income)

    def beyond(e: float) -> float:  # the sum of two Laplace noises
        return float((b * b * math.exp(-e / b) - c * c * math.exp(-e / c)) / (b * b - c * c))

    assert average.planned.worst
    assert average.planned.worst.error == pytest.approx(brentq(lambda e: beyond(e) - 0.05, 0, 50 * b), rel=0.01)
    assert a.at_least == max(q.smallest_epsilon or 0.0 for q in a.queries)


def test_simulated_releases_fall_within_their_band(laplace_release: Assessment, gaussian_release: Assessment) -> None:
    for a in (laplace_release, gaussian_release):
        for q in a.queries:
            draws = simulate(q, a.epsilon, a.release, releases=20_000)
            truth = np.asarray([x.value for x in q.answers])[:, None]
            inside = (np.abs(draws - truth) <= np.asarray(q.bands(a.epsilon, a.release))[:, None]).mean()
            assert inside == pytest.approx(0.95, abs=4 * math.sqrt(0.05 * 0.95 / draws.size))
            np.testing.assert_array_equal(simulate(q, 1.0, a.release), simulate(q, 1.0, a.release))


def test_a_whole_release_simulated(laplace_release: Assessment, hie: pd.DataFrame) -> None:
    """Both worlds, all answers, the exact likelihood ratio: the membership risk is what the best guess reaches."""
    rng, runs = np.random.default_rng(20251115), 200_000
    income = hie.income.dropna()
    # b of each number by hand: ε/3 each; six counts share one, because a person is in one of them; an average has two
    counts, total = hie[hie.mental_visits > 0].groupby("site").person.nunique(), (income - 15000).sum()
    truth = np.array([*counts, hie.visits.sum(), total, len(income)])
    scale = np.array([*[3.0] * 6, 3.0 * 5 * 77, 6.0 * 5 * 15000, 6.0 * 5])
    shift = np.array([1.0, 0, 0, 0, 0, 0, 5 * 77, 5 * 15000, 5])
    present = rng.random(runs) < 0.5
    seen = truth + present[:, None] * shift + rng.laplace(size=(runs, truth.size)) * scale
    loss = ((np.abs(seen - truth) - np.abs(seen - truth - shift)) / scale).sum(1)
    guess = np.where(np.abs(loss) > 1e-9, loss > 0, rng.random(runs) < 0.5)  # a tie is anybody's guess
    right = (guess == present).mean()
    expected = risk(laplace_release, "membership").planned
    assert right == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / runs))


def test_the_curve_passes_through_the_planned_and_the_recommended(laplace_release: Assessment) -> None:
    a = laplace_release
    for epsilon, reached in ((a.epsilon, "planned"), (a.recommended, "recommended")):
        i = a.curve.epsilon.index(epsilon or 0.0)
        for key, line in a.curve.risks.items():
            assert line[i] == pytest.approx(getattr(risk(a, key), reached), rel=1e-12)
        for q, errors in zip(a.queries, a.curve.errors, strict=True):
            assert errors[i] == pytest.approx(q.relative(epsilon or 0.0, a.release), rel=1e-12)
    for line in a.curve.risks.values():
        assert (np.diff(line) >= -1e-12).all()


def test_the_risk_that_the_error_tolerated_costs(laplace_release: Assessment) -> None:
    a = laplace_release
    assert a.at_least is not None
    member = risk(a, "membership")
    assert member.needed is not None
    assert member.recommended is not None
    assert (member.needed > member.recommended) == (a.at_least > (a.recommended or 0.0))


# -- limits -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [0.4, 0.5])
def test_a_limit_below_the_floor(people: pd.DataFrame, limit: float) -> None:
    a = small(people, limits=f"{{success: {limit}}}")
    assert not a.possible
    assert a.recommended == 0.0
    assert risk(a, "membership").largest == 0.0
    assert any("no epsilon keeps success" in note for note in a.notes)


def test_within_the_limits(people: pd.DataFrame) -> None:
    a = small(people, limits="{success: 0.9}")
    assert not a.exceeded
    assert a.recommended == 3.21  # −2·log(0.2) = 3.2188…, rounded down


def test_rounding_never_talks_down_an_epsilon_within(people: pd.DataFrame) -> None:
    a = small(people, mechanism={"epsilon": 0.2107})
    assert not a.exceeded
    assert a.recommended == 0.2107


def test_gaussian_noise_bounds_no_belief(people: pd.DataFrame) -> None:
    mechanism = {"noise": "gaussian", "epsilon": 1.0, "delta": 1e-6}
    a = small(people, mechanism=mechanism, limits="{posterior: 0.6}")
    assert a.binding == "membership-posterior"
    assert not a.possible


def test_any_reading_may_be_limited(people: pd.DataFrame) -> None:
    a = small(people, limits="{roc: {at_most: 0.05, fpr: 0.01}, kl: 0.1, advantage: 0.2}")
    assert {"membership-roc", "membership-kl", "membership-advantage"} <= {r.key for r in a.risks}
    assert risk(a, "membership-roc").largest == pytest.approx(math.log(5), rel=1e-9)
    assert risk(a, "membership-advantage").planned == pytest.approx(1 - math.exp(-0.5), rel=1e-12)
    with pytest.raises(InputError, match="does not take 'alpha'"):
        small(people, limits="{roc: {at_most: 0.05, alpha: 0.01}}")
    with pytest.raises(InputError, match="needs 'fpr'"):
        small(people, limits="{roc: 0.05}")


def test_what_the_adversary_knows(people: pd.DataFrame) -> None:
    nothing = small(people, adversary={"knows": "nothing", "prior": 0.2})
    assert "differencing-known" not in {r.key for r in nothing.risks}
    assert risk(nothing, "membership").baseline == 0.8


def test_without_quasi_identifiers(people: pd.DataFrame) -> None:
    a = small(people, data={"table": "t"})
    assert a.scan is None
    assert a.people is None
    assert {r.key for r in a.risks} == {"membership", "guess", "belief", "reidentification"}


def test_a_new_adversary_is_one_entry(people: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    import epsilens.assessment.adversaries

    extra = replace(ADVERSARIES[0], key="new", name="A new one", question=lambda s: "What else?")
    monkeypatch.setattr(epsilens.assessment.adversaries, "ADVERSARIES", (*ADVERSARIES, extra))
    a = small(people)
    for shown in (str(a), a.to_markdown(), a._repr_html_()):
        assert "A new one" in shown
    assert any(r["key"] == "new" for r in a.to_dict()["risks"])


# -- hostile input ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("age > (SELECT count(*) FROM other)", "count"),
        ("age > 3; DROP TABLE t", "count|where"),
        ("age IN (SELECT age FROM read_csv('/etc/passwd'))", "count|where"),
        ("read_text('/etc/passwd') = 'x'", "count|where"),
        ("ages > 3", "not a column"),
        ("age >", "where"),
    ],
)
def test_conditions_stay_in_the_table(people: pd.DataFrame, where: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        small(people, queries=[{"count": where}])
    assert "\n" not in str(caught.value)
    assert "root:" not in str(caught.value)
    with pytest.raises(InputError):
        small(people, data={"table": "t", "secret": where})


@pytest.mark.parametrize(
    "changes",
    [
        {"data": {"table": "t", "person": "nobody", "quasi_identifiers": ["site"]}},
        {"data": {"table": "t", "quasi_identifiers": ["sight"]}},
        {"queries": [{"sum": "vists", "bounds": [0, 1]}]},
        {"queries": [{"sum": "sex", "bounds": [0, 1]}]},
        {"queries": [{"count": True, "by": "nowhere"}]},
        {"queries": [{"sum": "visits", "bounds": [5, 1]}]},
    ],
)
def test_missing_columns_are_named(people: pd.DataFrame, changes: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        small(people, **changes)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"data": {"table": "t", "person": "nobody", "quasi_identifiers": ["site"]}}, "data.person"),
        ({"data": {"table": "t", "quasi_identifiers": ["sight"]}}, "data.quasi_identifiers"),
        ({"data": {"table": "t", "quasi_identifiers": ["age", "age"]}}, "data.quasi_identifiers"),
        ({"data": {"table": "t", "secret": "ages > 3"}}, "data.secret"),
        ({"data": {"table": "t", "related": "house"}, "adversary": {"correlation": "from data"}}, "data.related"),
        ({"adversary": {"correlation": "from data"}}, "data.related"),
        ({"queries": [{"count": True}, {"count": "ages > 3"}]}, "queries.2.where"),
        ({"queries": [{"sum": "sex", "bounds": [0, 1]}]}, "queries.1"),
        ({"queries": [{"sum": "visits", "bounds": [5, 1]}]}, "queries.1.bounds"),
        ({"limits": "{roc: 0.05}"}, "limits.roc"),
        ({"limits": "{roc: {at_most: 0.05, fpr: 2}}"}, "limits.roc.fpr"),
        ({"limits": "{error: 0}"}, "limits.error"),
    ],
)
def test_an_error_carries_the_place_in_the_plan(people: pd.DataFrame, changes: dict[str, Any], place: str) -> None:
    with pytest.raises(InputError) as caught:
        small(people, **changes)
    assert caught.value.parameter == place


def test_a_table_that_is_not_there() -> None:
    with pytest.raises(InputError, match=r"nothere\.csv") as caught:
        assess("data: {table: nothere.csv}\nqueries: [{count: true}]\nmechanism: {epsilon: 1}\n")
    assert caught.value.parameter == "data.table"


def test_empty_columns_and_tables(people: pd.DataFrame) -> None:
    hollow = people.assign(nothing=None, none=np.nan)
    a = small(
        hollow,
        data={"table": "t", "quasi_identifiers": ["nothing", "site"]},
        queries=[{"histogram": "nothing"}, {"sum": "none", "bounds": [0, 1]}, {"average": "none", "bounds": [0, 1]}],
    )
    assert a.queries[0].answers[0].group == ("(empty)",)
    assert [q.answers[0].value for q in a.queries[1:]] == [0.0, 0.0]
    assert math.isinf(a.queries[1].relative(1.0, a.release))
    empty = small(
        people.iloc[:0],
        queries=[{"count": True, "by": "site", "threshold": 90.0}, {"average": "visits", "bounds": [0, 1]}],
    )
    assert empty.queries[0].answers == ()
    assert str(empty).startswith("No row counts in any answer: look at the data before ε")


def test_a_password_is_no_part_of_the_record(people: pd.DataFrame) -> None:
    a = small(people, data={"table": "postgres://me:hush@host/db#t"})
    for shown in (str(a), a.to_html(), str(a.to_dict()), a.to_registry(), a.to_markdown(), a._repr_html_()):
        assert "hush" not in shown


@pytest.mark.parametrize("bounds", [(-1e100, 1e100), (0.0, 1e-200), (1e-200, 1.1e-200)])
@pytest.mark.parametrize("noise", [{}, {"noise": "gaussian", "delta": 1e-6}])
def test_bounds_as_far_apart_or_close_as_they_may_be(bounds: tuple[float, float], noise: dict[str, Any]) -> None:
    plan = {
        "data": {"table": "t"}, "queries": [{"sum": "x", "bounds": bounds}, {"average": "x", "bounds": bounds}],
        "mechanism": {"epsilon": 0.5, **noise}, "limits": {"success": 0.7, "error": 0.1},
    }  # fmt: skip
    assert "<svg" in assess(plan, table={"x": [0.0, 1.0, 2.0]}).to_html()


@pytest.mark.parametrize("bounds", [(-1e300, 1e300), (0.0, 5e-324), (1.0, 1e101)])
def test_bounds_beyond_doubles_are_refused(bounds: tuple[float, float]) -> None:
    plan = {"data": {"table": "t"}, "queries": [{"sum": "x", "bounds": bounds}], "mechanism": {"epsilon": 0.5}}
    with pytest.raises(InputError, match=r"queries.1: bounds are .*: give numbers that are 0 or from 1e-200 to 1e"):
        assess(plan, table={"x": [0.0, 1.0, 2.0]})
