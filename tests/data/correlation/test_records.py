"""Estimates against numpy and pandas, on every engine, hostile data included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import stdtrit

from epsilens.data.correlation.estimation import inflation
from epsilens.data.correlation.intraclass import tail_of_exponentials
from epsilens.data.correlation.moments import (
    RecordTable,
    cell_counts,
    moments,
    panel_records,
    panel_step_counts,
    regression,
    step_counts,
    wide_records,
)
from epsilens.data.tables.table import OpenTable, open_table
from epsilens.errors import InputError


def records_of(opened: OpenTable, columns: list[str], **bounds: tuple[float, float]) -> RecordTable:
    return wide_records(opened.table, opened.engine, columns, bounds)


def covariance(x: np.ndarray) -> np.ndarray:
    """In extended precision, about the mean (twice, because the first mean is rounded too)."""
    y = x.astype(np.longdouble)
    y = y - y.mean(axis=0)
    y = y - y.mean(axis=0)
    return np.asarray(y.T @ y / (len(x) - 1), dtype=float)


@pytest.mark.parametrize(
    ("offset", "spread"),
    [(0.0, 1.0), (1e9, 1.0), (-1e12, 1e-1), (1e9, 1e9), (0.0, 1e-120), (1e150, 1e140), (1e-3, 1e-15)],
)
def test_covariance_equals_numpy(offset: float, spread: float) -> None:
    random = np.random.default_rng(1)
    x = random.normal(size=(3000, 4)) @ random.normal(size=(4, 4)) * spread + offset
    names = ["a", "b", "ü ü", "select"]
    with open_table(dict(zip(names, x.T, strict=True))) as opened:
        found = moments(records_of(opened, names))
    np.testing.assert_allclose(found.cov, covariance(x), rtol=1e-13)
    np.testing.assert_allclose(found.mean, x.mean(axis=0), rtol=1e-13, atol=1e-13 * spread)
    np.testing.assert_allclose(found.low, x.min(axis=0), rtol=1e-13)
    assert (found.rows, found.missing) == (3000, 0)


def test_the_first_rows_may_be_unlike_the_rest() -> None:
    random = np.random.default_rng(2)
    x = random.normal(size=(50_000, 2)) + 1e9
    x[:1000] = 5.0  # far from the rest
    with open_table({"a": x[:, 0], "b": x[:, 1]}) as opened:
        found = moments(records_of(opened, ["a", "b"]))
    np.testing.assert_allclose(found.cov, covariance(x), rtol=1e-12)


@given(
    st.lists(
        st.tuples(*[st.one_of(st.none(), st.sampled_from([float("nan"), float("inf")]), st.integers(-50, 50))] * 3),
        min_size=4,
        max_size=30,
    )
)
def test_unusable_values_are_left_out_and_counted(rows: list[tuple[Any, ...]]) -> None:
    frame = {name: [None if r[i] is None else float(r[i]) for r in rows] for i, name in enumerate("abc")}
    usable = np.array([r for r in rows if all(v is not None and np.isfinite(v) for v in r)], dtype=float)
    with open_table(pd.DataFrame(frame, dtype="float64")) as opened:
        records = records_of(opened, list("abc"))
        if not len(usable):
            with pytest.raises(InputError, match="no row of the table has a usable number"):
                moments(records)
            return
        found = moments(records)
        counts, values, missing = cell_counts(records)
    assert (found.rows, found.missing, missing) == (len(usable), len(rows) - len(usable), len(rows) - len(usable))
    if len(usable) > 1:
        np.testing.assert_allclose(found.cov, covariance(usable), rtol=1e-12, atol=1e-9)
    assert counts.sum() == len(usable)
    for row in usable:
        place = tuple(int(np.searchsorted(v, x)) for v, x in zip(values, row, strict=True))
        assert counts[place] == (usable == row).all(axis=1).sum()


def test_engines_agree(engine: str) -> None:
    random = np.random.default_rng(3)
    frame = pd.DataFrame(random.integers(0, 3, size=(500, 3)).astype(float), columns=["t1", "t2", "t 3"])
    frame.loc[::7, "t2"] = np.nan
    frame["yes"] = random.random(500) < 0.4
    frame["big"] = random.integers(10**9, 10**9 + 50, size=500)
    with open_table(frame, engine) as opened:
        records = records_of(opened, ["t1", "t2", "t 3", "yes", "big"], t1=(0.5, 1.5))
        found = moments(records)
        counts, values, missing = cell_counts(records_of(opened, ["t1", "t2", "t 3"]))
        stepped = step_counts(records_of(opened, ["t1", "t2", "t 3"]))
        wider = inflation(records, found, *regression(found.cov, np.ones(5), 1, (0,)), found.rows - 3, 0.025)
    whole = frame.dropna().astype(float)
    whole["t1"] = whole["t1"].clip(0.5, 1.5)
    np.testing.assert_allclose(found.cov, covariance(whole.to_numpy()), rtol=1e-11)
    assert (found.rows, found.missing, missing) == (len(whole), frame.t2.isna().sum(), frame.t2.isna().sum())
    seen = frame.dropna().groupby(["t1", "t2", "t 3"]).size()
    assert {k: counts[tuple(int(x) for x in k)] for k in seen.index} == dict(seen)
    assert [v.tolist() for v in values] == [[0.0, 1.0, 2.0]] * 3
    both = pd.concat(
        [frame[["t1", "t2"]].set_axis(["a", "b"], axis=1), frame[["t2", "t 3"]].set_axis(["a", "b"], axis=1)]
    )
    pairs = both.dropna().groupby(["a", "b"]).size()
    np.testing.assert_array_equal(stepped.counts, pairs.unstack().to_numpy())
    np.testing.assert_array_equal(stepped.first, frame.t1.value_counts().sort_index())
    assert (stepped.rows, stepped.missing) == (500, both.isna().any(axis=1).sum())
    y = whole.to_numpy() - whole.to_numpy().mean(axis=0)
    e, z = (y @ w for w in regression(found.cov, np.ones(5), 1, (0,)))
    assert wider >= np.sqrt((e**2 * z**2).mean() / (e**2).mean() / (z**2).mean())
    # every row by itself: one column has neither bounds nor two values, so the added row is twice the largest
    e, z, df = e / e.std(ddof=1), z / z.std(ddof=1), len(e) - 3

    def excess(d: float, sign: int) -> float:
        v = z * (sign * e - d * z)
        return tail_of_exponentials(np.append(v, 2 * v.max()), np.ones(len(v) + 1)) - 0.025

    ends = [brentq(excess, 0.0, 1.0, args=(sign,)) for sign in (1, -1)]
    assert wider == pytest.approx(max(ends) * np.sqrt(df) / stdtrit(df, 0.975), rel=1e-3)


def test_long_format_equals_pandas(engine: str) -> None:
    random = np.random.default_rng(4)
    rows = [
        (f"p{p}", t, float(random.integers(0, 4)))
        for p in range(80)
        for t in (2019, 2020, 2021)
        if random.random() < 0.8
    ]
    frame = pd.DataFrame(rows, columns=["who", "when", "x"]).sample(frac=1, random_state=0)
    frame.loc[frame.index[::9], "x"] = np.nan
    with open_table(frame, engine) as opened:
        records = panel_records(opened.table, opened.engine, "x", "who", "when")
        found = moments(records)
        stepped, names = panel_step_counts(opened.table, opened.engine, "x", "who", "when")
    assert records.names == names == ("when 2019", "when 2020", "when 2021")
    pivot = frame.pivot(index="who", columns="when", values="x")
    np.testing.assert_allclose(found.cov, pivot.dropna().cov().to_numpy(), rtol=1e-12)
    assert found.missing == pivot.isna().any(axis=1).sum()
    expected, first, over_gaps = np.zeros((4, 4), int), np.zeros(4, int), 0
    for _, own in frame.dropna().sort_values("when").groupby("who"):
        first[int(own.x.iloc[0])] += 1
        for (t, a), (u, b) in zip(own[["when", "x"]].values[:-1], own[["when", "x"]].values[1:], strict=True):
            if u - t == 1:
                expected[int(a), int(b)] += 1
            else:
                over_gaps += 1
    np.testing.assert_array_equal(stepped.counts, expected)
    np.testing.assert_array_equal(stepped.first, first)
    assert stepped.missing == over_gaps > 0


def test_rand_hie_over_years() -> None:
    from epsilens.data.tables.sources import bundled_dataset

    data = pd.read_parquet(bundled_dataset("epsilens:rand-hie").path)
    pivot = data.pivot(index="person", columns="year", values="visits").clip(upper=20)
    with open_table("epsilens:rand-hie") as opened:
        found = moments(panel_records(opened.table, opened.engine, "visits", "person", "year", (0, 20)))
    np.testing.assert_allclose(found.cov, pivot.dropna().cov().to_numpy(), rtol=1e-12)
    assert (found.rows, found.missing) == (1_584, 4_328)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["a", "a"], "columns has 'a' twice: give each column once"),
        (["a", "word"], "columns has 'word' of type string: give columns of numbers, or derive numbers from it first"),
        (["a", "A b"], "columns has 'A b', which is not a column of the table (its columns are 'a', 'word', 'day')"),
        (["a", "day"], "columns has 'day' of type date: give columns of numbers, or derive numbers from it first"),
    ],
)
def test_bad_columns(columns: list[str], message: str) -> None:
    frame = pd.DataFrame({"a": [1, 2], "word": ["x", "y"], "day": pd.to_datetime(["2020-01-01"] * 2).date})
    with open_table(frame) as opened, pytest.raises(InputError) as error:
        records_of(opened, columns)
    assert str(error.value) == message


def test_values_too_large_to_multiply() -> None:
    table = {"a": [1e200, -1e200, 0.0], "b": [1.0, 2.0, 4.0]}
    with open_table(table) as opened, pytest.raises(InputError, match="too large to multiply"):
        moments(records_of(opened, ["a", "b"]))


def test_too_many_values() -> None:
    x = np.arange(2000.0)
    with open_table({"a": x, "b": x[::-1], "c": x}) as opened:
        with pytest.raises(InputError, match=r"columns take 8,000,000,000 combinations of values"):
            cell_counts(records_of(opened, ["a", "b", "c"]))
        with pytest.raises(InputError, match="columns take 2,000 different values, and a chain may have 64"):
            step_counts(records_of(opened, ["a", "b", "c"]))


def test_a_value_nothing_follows() -> None:
    table = {"a": [0, 0, 1], "b": [0, 1, 7]}
    with open_table(table) as opened, pytest.raises(InputError, match="the value 7 is never followed by another"):
        step_counts(records_of(opened, ["a", "b"]))


def test_long_format_sentences() -> None:
    frame = pd.DataFrame({"who": [1, 1, 2], "when": [1, 1, 2], "x": [0.0, 1.0, 2.0]})
    with open_table(frame) as opened:
        with pytest.raises(InputError, match="'who' has several rows for one 'when': add them up first"):
            panel_records(opened.table, opened.engine, "x", "who", "when")
        with pytest.raises(InputError, match="time is 'who', which is also the column of person"):
            panel_records(opened.table, opened.engine, "x", "who", "who")
    once = frame.assign(when=3).drop_duplicates("who")
    with open_table(once) as opened, pytest.raises(InputError, match="time is 'when', which has 1 different values"):
        panel_records(opened.table, opened.engine, "x", "who", "when")
    many = pd.DataFrame({"who": range(300), "when": range(300), "x": 1.0})
    with (
        open_table(many) as opened,
        pytest.raises(InputError, match="more than 200 different values: derive a coarser"),
    ):
        panel_records(opened.table, opened.engine, "x", "who", "when")
