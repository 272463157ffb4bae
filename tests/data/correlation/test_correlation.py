"""From a table to the worst adversary: the estimates meet the models, and every wrong question gets a sentence."""

from __future__ import annotations

import dataclasses
import json
import math
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import epsilens as el
from epsilens.attacks import correlated
from epsilens.data.correlation import moments
from epsilens.data.tables.sources import bundled_dataset
from epsilens.errors import InputError

YEARS: dict[str, Any] = {"person": "person", "time": "year", "bounds": (0, 20)}


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    random = np.random.default_rng(1)
    cov = [[1, 0.5, -0.3, 0.2], [0.5, 1, 0.1, 0.4], [-0.3, 0.1, 1, -0.2], [0.2, 0.4, -0.2, 1]]
    return pd.DataFrame(random.multivariate_normal(np.zeros(4), cov, size=500) + 1e6, columns=["a", "b", "c", "d"])


def test_normal_is_the_model_of_the_sample_covariance(frame: pd.DataFrame) -> None:
    found = el.correlate(frame, columns=["a", "b", "c", "d"], scale=2.0)
    model = correlated.normal(np.cov((frame - 1e6).to_numpy().T))
    expected = model.worst(scale=2.0)
    assert found.worst.leakage == pytest.approx(expected.leakage, rel=1e-9)
    assert (found.worst.target, found.worst.known) == (expected.target, expected.known)
    assert [w.leakage for w in found.by_known] == pytest.approx(
        [w.leakage for w in model.by_known(scale=2.0)], rel=1e-9
    )
    assert (found.independent, found.group, found.noise) == (0.5, 2.0, 2.0)
    assert found.interval.low <= found.worst.leakage < found.interval.high
    assert set(found.contributions) == {"a", "b", "c", "d"}
    assert max(found.contributions.values()) == pytest.approx(next(iter(found.contributions.values())))


def test_a_linear_query_with_a_weight_of_zero_and_a_reach_for_each(frame: pd.DataFrame) -> None:
    weights, reach = [1.0, 0.0, -2.0, 0.5], [1.0, 2.0, 3.0, 4.0]
    found = el.correlate(frame, ["a", "b", "c", "d"], query=weights, reach=reach, epsilon=0.5)
    model = correlated.normal(np.cov((frame - 1e6).to_numpy().T), weights=weights, reach=reach)
    assert found.noise == 6.0 / 0.5
    assert found.worst.leakage == pytest.approx(model.worst(scale=12.0).leakage, rel=1e-9)
    assert found.independent == pytest.approx(0.5)


def test_gaussian_noise(frame: pd.DataFrame) -> None:
    model = correlated.normal(np.cov((frame - 1e6).to_numpy().T))
    found = el.correlate(frame, list("abcd"), sigma=1.0)
    assert found.worst.psi == pytest.approx(model.worst(sigma=1.0).psi, rel=1e-9)
    assert "guesses right for" in found.sentence
    assert "counts as noise, which is an assumption" in str(found)
    careful = el.correlate(frame, list("abcd"), sigma=1.0, own_noise=False)
    assert careful.worst.psi == pytest.approx(model.worst(scale=1.0).leakage, rel=1e-9)
    assert careful.worst.psi > found.worst.psi
    assert careful.interval.high > found.interval.high


def test_bounds_clamp_as_the_release_does(frame: pd.DataFrame) -> None:
    found = el.correlate(frame, list("abcd"), bounds={"a": (1e6 - 1, 1e6 + 1)}, scale=1.0)
    clamped = (frame - 1e6).assign(a=(frame["a"] - 1e6).clip(-1, 1))
    np.testing.assert_allclose(found.estimate["covariance"], clamped.cov().to_numpy(), rtol=1e-9)
    assert found.reach == (2.0, 1.0, 1.0, 1.0)


def test_a_joint_table_is_the_model_of_the_counted_rows() -> None:
    random = np.random.default_rng(2)
    x = random.integers(0, 2, size=400)
    rows = pd.DataFrame({"a": x, "b": (x + (random.random(400) < 0.2)) % 2 * 3, "c": random.integers(0, 3, size=400)})
    found = el.correlate(rows, ["a", "b", "c"], model="table", scale=1.0)
    expected = correlated.table(rows=rows).worst(scale=1.0)
    assert found.worst.leakage == pytest.approx(expected.leakage, rel=1e-12)
    assert found.independent == 3.0
    assert found.interval.low <= found.worst.leakage <= found.interval.high <= found.group == 6.0
    again = el.correlate(rows, ["a", "b", "c"], model="table", scale=1.0)
    assert again.interval == found.interval  # the seed is fixed


def test_a_chain_is_the_model_of_the_counted_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moments, "DRAWS", 80)
    random = np.random.default_rng(3)
    x = [random.integers(0, 2, size=300)]
    for _ in range(4):
        x.append(np.where(random.random(300) < 0.8, x[-1], 1 - x[-1]))
    rows = pd.DataFrame(np.array(x).T, columns=[f"t{i}" for i in range(5)])
    found = el.correlate(rows, list(rows.columns), model="chain", scale=1.0)
    steps = np.zeros((2, 2))
    for a, b in pairwise(x):
        np.add.at(steps, (a, b), 1)
    transition = steps / steps.sum(axis=1, keepdims=True)
    model = correlated.chain(np.bincount(x[0]) / 300, transition, 5)
    assert found.worst.leakage == pytest.approx(model.worst(scale=1.0).leakage, rel=1e-12)
    np.testing.assert_allclose(found.estimate["transition"], transition)
    assert found.names == tuple(rows.columns)
    assert found.interval.high <= 5.0


def test_visits_of_a_person_over_the_years() -> None:
    data = pd.read_parquet(bundled_dataset("epsilens:rand-hie").path)
    wide = data.pivot(index="person", columns="year", values="visits").clip(upper=20).dropna()
    found = el.correlate("epsilens:rand-hie", ["visits"], **YEARS)
    expected = correlated.normal(wide.cov().to_numpy(), reach=20.0).worst(scale=20.0)
    assert found.worst.leakage == pytest.approx(expected.leakage, rel=1e-9)
    assert (found.rows, found.missing, found.unit) == (1_584, 4_328, "people")
    assert found.sentence.startswith(
        "Someone who knows no other record can shift their odds about year 3 by a factor of"
    )
    assert found.sentence.endswith("if the records were independent it would be 2.72 (74 of 100).")
    assert "because the rows are not normal" in found.interval.method


def test_visits_as_a_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moments, "DRAWS", 80)
    found = el.correlate("epsilens:rand-hie", ["visits"], person="person", time="year", bounds=(0, 1), model="chain")
    assert found.names == tuple(f"year {k}" for k in range(1, 6))
    assert (found.rows, found.noise) == (5_912, 1.0)
    assert 1.0 < found.worst.leakage < found.interval.high <= 5.0


def test_rows_in_groups() -> None:
    found = el.correlate("epsilens:rand-hie", ["visits"], by="person", bounds=(0, 20), epsilon=1.0)
    assert found.related is not None
    rho, size = found.related.rho, found.related.size
    assert found.worst.leakage == pytest.approx(1 + (size - 1) * rho, rel=1e-9)
    assert found.interval.high == pytest.approx(1 + (size - 1) * found.related.interval[1], rel=1e-9)
    assert [w.leakage for w in found.by_known] == pytest.approx(
        [(1 + (size - 1) * rho) / (1 + k * rho) for k in range(size)], rel=1e-9
    )
    searched = found.model.worst(scale=20.0)
    assert found.worst.leakage == pytest.approx(searched.leakage, rel=1e-9)
    assert found.worst.known == searched.known
    assert "Two members of a group have the correlation 0.561" in str(found)
    three = el.correlate("epsilens:rand-hie", ["visits"], by="person", bounds=(0, 20), size=3)
    assert three.worst.leakage == pytest.approx(1 + 2 * rho, rel=1e-9)
    assert not any("set size" in note for note in three.notes)


def test_what_the_correlation_rests_on_is_said() -> None:
    flags = {"home": np.arange(60) // 3, "flag": np.arange(60) % 7 == 0, "x": np.sin(np.arange(60.0))}
    asked: list[tuple[str, Any]] = [("flag", None), ("x", None), ("x", (-1, 1))]
    said = [" ".join(str(el.correlate(flags, [c], by="home", bounds=b)).split()) for c, b in asked]
    assert "with 97.5% confidence, however the two values are spread over the groups" in said[0]
    assert "with 97.5% confidence, if no value lies beyond those seen (give bounds" in said[1]
    assert "with 97.5% confidence, whatever the values between the bounds are like" in said[2]


def test_the_upper_end_is_said_to_rest_on_the_model() -> None:
    # 5.4: four flags that one in ten has, and all four in one family of a hundred; the normal model misses what the
    # joint table, enumerated, shows
    made = np.array(list(product((0, 1), repeat=4)))
    ones = made.sum(axis=1)
    joint = 0.99 * 0.1**ones * 0.9 ** (4 - ones) + 0.01 * (ones == 4)
    rows = np.repeat(made, np.round(joint * 20_000).astype(int), axis=0)
    table, names = dict(zip("abcd", rows.T, strict=True)), list("abcd")
    normal = el.correlate(table, names, scale=1.0)
    truth = correlated.table(joint.reshape(2, 2, 2, 2)).worst(scale=1.0).leakage
    assert normal.interval.high < 1.4 < 2.1 < truth < normal.group == 4.0
    text = " ".join(str(normal).split())
    assert "if the records are jointly normal; plan with the upper end only then" in text
    assert "Safe for any records that stay within their reach is group privacy, 4" in text
    assert "4 times if they are only known to stay within their reach" in text
    chain = el.correlate(table, names, scale=1.0, model="chain")
    assert "if each record depends on the one before it only; plan with the upper end only then" in " ".join(
        str(chain).split()
    )


@pytest.mark.parametrize("own_noise", [True, False])
def test_groups_with_gaussian_noise(own_noise: bool) -> None:
    given: dict[str, Any] = {"sigma": 15.0, "own_noise": own_noise}
    found = el.correlate("epsilens:rand-hie", ["visits"], by="person", bounds=(0, 20), **given)
    expected = [w.psi for w in found.model.by_known(**given)]
    assert [w.psi for w in found.by_known] == pytest.approx(expected, rel=1e-9)
    assert found.worst.psi == pytest.approx(found.model.worst(**given).psi, rel=1e-9)


def test_independent_records_are_said_to_be_so() -> None:
    x = np.array([[a, b] for a in (0.0, 1.0) for b in (0.0, 1.0)] * 5)
    found = el.correlate({"a": x[:, 0], "b": x[:, 1]}, ["a", "b"])
    assert found.worst.leakage == pytest.approx(1.0)
    assert found.sentence.startswith("Correlation adds nothing here")


def test_results_are_frozen_and_ready_for_json(frame: pd.DataFrame) -> None:
    found = el.correlate(frame, list("abcd"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.group = 3.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        found.contributions["a"] = 0.0  # type: ignore[index]
    text = json.dumps(found.to_dict(), allow_nan=False)
    assert json.loads(text)["worst"]["leakage"] == found.worst.leakage
    assert "<script" not in found._repr_html_()
    for shown in (str(found), found.to_markdown(), found._repr_html_()):
        assert "group privacy" in shown


def test_names_from_outside_are_escaped(frame: pd.DataFrame) -> None:
    named = frame.rename(columns={"a": "<b>&", "b": "é | ü"})
    found = el.correlate(named, list(named.columns))
    for shown in (found.to_html(), found._repr_html_()):
        assert "<b>&" not in shown
        assert "&lt;b&gt;&amp;" in shown
    assert "é \\| ü" in found.to_markdown()


def test_the_page_has_its_chart_with_words_for_those_who_cannot_see_it(frame: pd.DataFrame) -> None:
    found = el.correlate(frame, list("abcd"))
    page = found.to_html()
    assert page.count('role="img"') == 2  # a desk and a phone
    assert "Worst leakage, in ε, against the number of known records: 0 known" in page
    assert "Worst leakage, in ε" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    from epsilens.show.correlation import curve

    spec: Any = curve(found).definition(808)
    assert spec["title"]["text"] == "Worst leakage, in ε"
    assert spec["encoding"]["x"]["axis"]["title"] == "known records, of 3 others"


def test_many_records_at_a_time_limit() -> None:
    random = np.random.default_rng(4)
    n = 30
    x = random.normal(size=(200, n)) @ random.normal(size=(n, n))
    names = [f"r{i}" for i in range(n)]
    heard: list[tuple[int, int, str]] = []
    found = el.correlate(
        dict(zip(names, x.T, strict=True)), names, time_limit=1.0, progress=lambda *step: heard.append(step)
    )
    assert found.worst.leakage <= found.worst.upper <= found.interval.high
    assert len(found.by_known) == n
    assert heard[-1][:2] == (100, 100)
    assert [done for done, _, _ in heard] == sorted(done for done, _, _ in heard)
    assert all(math.isfinite(value) for value in found.contributions.values())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"columns": []}, "columns is empty"),
        ({"columns": 3}, "columns is 3: give a list of column names"),
        ({"columns": ["a", 2]}, "give a list of column names"),
        ({"columns": ["a", "small"]}, "columns has 'small', whose values, .* are too close to square"),
        ({"columns": ["a"]}, "columns has one name, 'a': give at least two records; or by"),
        ({"columns": ["a", "a"]}, "columns has 'a' twice"),
        ({"columns": ["a", "z"]}, "columns has 'z', which is not a column"),
        ({"columns": ["a", "same"]}, "columns has 'same', which is 4 in every row: leave it out"),
        ({"columns": ["a", "same"], "model": "table"}, "columns has 'same', which is 4 in every row: leave it out"),
        ({"columns": ["same", "same2"], "model": "chain"}, "columns has only the value 4"),
        ({"columns": ["a", "twice"]}, "columns has 'a', 'twice', which determine each other exactly"),
        ({"columns": ["a", "word"]}, "columns has 'word' of type string: give columns of numbers"),
        ({"columns": ["a", "empty"]}, "no row of the table has a usable number in each of a and empty"),
        ({"columns": ["a", "b"], "model": "network"}, "model is 'network': give one of 'normal', 'table', 'chain'"),
        ({"columns": ["a", "b"], "query": "mean"}, "query is 'mean': give one of 'sum'"),
        ({"columns": ["a", "b"], "query": [1, 2, 3]}, "query has 3 weights for 2 records"),
        ({"columns": ["a", "b"], "query": [0, 0]}, "query has only weights of 0"),
        ({"columns": ["a", "b"], "scale": 1, "epsilon": 1}, "give one of scale and epsilon, not both"),
        ({"columns": ["a", "b"], "scale": 0}, "scale is 0: give a number above 0"),
        ({"columns": ["a", "b"], "scale": float("nan")}, "scale contains NaN"),
        ({"columns": ["a", "b"], "sigma": 1, "model": "table"}, "sigma is for model='normal'"),
        ({"columns": ["a", "b"], "own_noise": False}, "own_noise is for sigma"),
        ({"columns": ["a", "b"], "confidence": 1}, "confidence is 1: give a probability strictly between"),
        ({"columns": ["a", "b"], "reach": 0}, "reach is 0: give a number above 0"),
        ({"columns": ["a", "b"], "reach": [1, 2, 3]}, "reach has 3 numbers for 2 records"),
        ({"columns": ["a", "b"], "reach": 1, "model": "chain"}, "reach is for model='normal'"),
        (
            {"columns": ["a", "b"], "bounds": (2, 1)},
            r"bounds of 'a' is \(2, 1\): give .lowest, highest., the first below",
        ),
        ({"columns": ["a", "b"], "bounds": [1, 2, 3]}, "bounds is .*: give .lowest, highest., or such a pair"),
        ({"columns": ["a", "b"], "bounds": {"z": (0, 1)}}, "bounds has 'z', which is not among the columns"),
        ({"columns": ["a", "b"], "person": "g"}, "give person and time together"),
        ({"columns": ["a", "b"], "by": "g"}, "columns has 2 names: with by give the one column"),
        ({"columns": ["a"], "by": "g", "model": "chain"}, "rows in groups .by. are related by model='normal' only"),
        ({"columns": ["a"], "by": "g", "person": "g", "time": "t"}, "give by .* or person and time .*, not both"),
        ({"columns": ["a"], "by": "g", "size": 1}, "size is 1: give a whole number from 2"),
        ({"columns": ["a"], "by": "g", "query": [1, 2]}, "query has weights: members of a group are alike"),
        ({"columns": ["a", "b"], "size": 3}, "size is for by"),
        ({"columns": ["a", "b"], "engine": "abacus"}, "engine is 'abacus'"),
    ],
)
def test_bad_input_is_one_sentence(given: dict[str, Any], message: str) -> None:
    random = np.random.default_rng(5)
    a = random.normal(size=20)
    table = pd.DataFrame({"a": a, "b": random.normal(size=20), "same": 4.0, "same2": 4, "twice": 2 * a, "word": "x"})
    table["empty"], table["small"] = np.nan, 1e-200 * a
    table["g"], table["t"] = np.arange(20) // 2, np.arange(20) % 2
    with pytest.raises(InputError, match=message) as error:
        el.correlate(table, **given)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("sigma", [1e-300, 1e300])
def test_noise_far_beyond_the_data(frame: pd.DataFrame, sigma: float) -> None:
    for found in (el.correlate(frame, list("abcd"), sigma=sigma), el.correlate(frame, list("ab"), sigma=sigma)):
        assert 0 < found.interval.low <= found.worst.leakage <= found.interval.high < math.inf
        json.dumps(found.to_dict(), allow_nan=False)


def test_too_few_rows() -> None:
    with pytest.raises(InputError, match="the table has 4 complete rows for 2 records: give at least 5"):
        el.correlate({"a": [1.0, 2, 4, 3], "b": [2.0, 1, 5, 3]}, ["a", "b"])
    with pytest.raises(InputError, match="the table has 4 complete rows: give at least 10"):
        el.correlate({"a": [1, 0, 1, 0], "b": [0, 1, 1, 0]}, ["a", "b"], model="table")
    with pytest.raises(InputError, match="its largest group has 300 members; give size, the members that count"):
        el.correlate({"g": [1] * 300 + [2] * 9, "x": [float(i % 7) for i in range(309)]}, ["x"], by="g")
    with pytest.raises(InputError, match=r"table is 'nowhere\.csv': there is no such file"):
        el.correlate("nowhere.csv", ["a", "b"])
