"""Which rows and groups of a person are kept: as many as allowed, by nobody's choice, whoever else is in the table."""

from __future__ import annotations

import datetime
import math
import random
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from tests.plan import plain
from tests.plan.test_answers import answers, plan, table

from epsilens.data.tables.columns import counted_once
from epsilens.data.tables.row_limit import canonical, in_hash_order
from epsilens.data.tables.table import open_table

KEPT = {"person": "who", "max_rows": 2}


def own(made: pa.Table, data: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """What each person adds to a sum, and in how many groups they are counted: a group for each person shows it."""
    sums, groups = answers(
        made, plan(data, {"sum": "x", "bounds": [0, 1000], "by": "name"}, {"count": True, "by": ["name", "g"]})
    )
    counted: Counter[str] = Counter()
    for answer in groups:
        counted[answer.group[0]] += int(answer.limited)
    return {answer.group[0]: (answer.limited, counted[answer.group[0]]) for answer in sums}


def visits(people: int = 60, seed: int = 2) -> pa.Table:
    rng = random.Random(seed)
    who = [p for p in range(people) for _ in range(rng.randint(1, 6))]
    return pa.table(
        {
            "who": who,
            "name": [f"person {p}" for p in who],
            "x": [float(2 ** rng.randint(0, 8)) for _ in who],
            "g": [rng.choice("abc") for _ in who],
        }
    )


def test_what_is_kept_depends_on_own_rows_alone() -> None:
    made = visits()
    before = own(made, KEPT)
    mixed = made.take(random.Random(1).sample(range(made.num_rows), made.num_rows))
    assert own(mixed, KEPT) == before
    some = made.filter(pa.compute.less(made["who"], 20))
    assert own(some, KEPT) == {name: kept for name, kept in before.items() if int(name.split()[1]) < 20}
    more = pa.concat_tables([made, pa.table({"who": [99], "name": ["person 99"], "x": [1.0], "g": ["a"]})])
    assert {**before, "person 99": (1.0, 1)} == own(more, KEPT)


@pytest.mark.parametrize(("rows", "groups"), [(1, 1), (2, None), (4, 2)])
def test_limits_hold_and_are_used_up(rows: int, groups: int | None) -> None:
    made = visits()
    data = {"person": "who", "max_rows": rows} | ({} if groups is None else {"max_groups": groups})
    (by_group,) = answers(made, plan(data, {"count": True, "rows": True, "by": ["name", "g"]}))
    kept: dict[str, list[int]] = {}
    for answer in by_group:
        kept.setdefault(answer.group[0], []).append(int(answer.limited))
    rows_of = Counter(made["name"].to_pylist())
    for name, each in kept.items():
        assert sum(each) <= min(rows, rows_of[name])
        assert sum(n > 0 for n in each) <= (groups or rows)
        if groups is None:
            assert sum(each) == min(rows, rows_of[name])


def test_every_row_is_kept_as_often_as_another() -> None:
    """4,000 people with the rows 1 to 5, of which 2 are kept: each value 1,600 times, give or take 31 (one σ)."""
    people = 4000
    made = pa.table({"who": [p for p in range(people) for _ in range(5)], "x": [1.0, 2.0, 3.0, 4.0, 5.0] * people})
    (kept,) = answers(made, plan(KEPT, {"count": True, "rows": True, "by": "x"}))
    assert sum(a.limited for a in kept) == 2 * people
    assert all(abs(a.limited - 1600) < 4.5 * 31 for a in kept)


def test_every_group_is_kept_as_often_as_another() -> None:
    """3,000 people in three groups, counted in one: each 1,000 times, give or take 26 (one σ); not all in the first."""
    people = 3000
    made = pa.table({"who": [p for p in range(people) for _ in range(3)], "g": ["a", "b", "c"] * people})
    (kept,) = answers(made, plan({"person": "who"}, {"histogram": "g"}))
    assert [a.value for a in kept] == [people] * 3
    assert sum(a.limited for a in kept) == people
    assert all(abs(a.limited - 1000) < 4.5 * 26 for a in kept)


def test_equal_rows_are_rows() -> None:
    """Someone with 5, 5, 5, 7 keeps a 7 once in four times, not every other time."""
    people = 4000
    made = pa.table({"who": [p for p in range(people) for _ in range(4)], "x": [5.0, 5.0, 5.0, 7.0] * people})
    (kept,) = answers(made, plan({"person": "who"}, {"count": True, "rows": True, "by": "x"}))
    assert abs(kept[1].limited - 1000) < 4.5 * math.sqrt(people * 0.25 * 0.75)


def test_the_averages_of_the_defect() -> None:
    """Defect 1.9: by smallest values an average of 3.7 was 2.5; what is kept now is an unbiased part of the rows."""
    rng = random.Random(4)
    who = [p for p in range(3000) for _ in range(rng.randint(1, 7))]
    made = pa.table({"who": who, "x": [rng.expovariate(1 / 3.7) for _ in who]})
    (got,) = answers(made, plan({"person": "who"}, {"average": "x", "bounds": [0, 60]}))[0]
    assert abs(got.limited - got.value) < 4.5 * 3.7 / math.sqrt(3000)


def test_people_counted_once_are_the_same_in_a_scan_and_in_a_plan() -> None:
    made = table()
    with open_table(made) as opened:
        rows = opened.table
        base = rows.select(p=rows["who"], m0=(rows["age"] > 20).fill_null(False), g0_0=rows["ward"])
        once = opened.engine.fetch(counted_once(base, {0: 1})).to_pylist()
    (planned,) = answers(made, plan({"person": "who"}, {"count": "age > 20", "by": "ward"}))
    counted = Counter("(empty)" if r["g0_0"] is None else r["g0_0"] for r in once if r["m0"])
    assert {a.group[0]: a.limited for a in planned if a.limited} == counted
    assert len(once) == len(set(made["who"].to_pylist()))


VALUES: dict[str, tuple[list[Any], pa.DataType]] = {
    "text": (["é🤦", "", None, "a b"], pa.string()),
    "whole": ([0, -5, None, 2**62], pa.int64()),
    "real": ([1.5, -2.5e-9, None, 1e300], pa.float64()),
    "flag": ([True, False, None, True], pa.bool_()),
}


def columns() -> pa.Table:
    made = {name: pa.array(values, kind) for name, (values, kind) in VALUES.items()}
    moments = [datetime.datetime(1960, 1, 2, 3, 4, 5, 123456), None, datetime.datetime(2024, 2, 29), None]
    return pa.table(
        {**made, "day": [datetime.date(2020, 1, 2), None] * 2, "moment": pa.array(moments, pa.timestamp("us"))}
    )


def test_the_hashed_text_is_the_one_written_down(engine: str) -> None:
    """On every engine the same text, the one of plain Python, and its md5."""
    with open_table(columns(), engine) as opened:
        rows = opened.table
        texts = {f"text_{name}": canonical(rows[name]) for name in rows.columns}
        got = opened.engine.fetch(rows.mutate(**texts, hash_=in_hash_order(rows, list(VALUES)))).to_pylist()
    got.sort(key=lambda r: (r["whole"] is None, r["whole"]))
    assert {r["text_day"] for r in got} == {"20200102", "\x1e"}
    assert sorted(r["text_moment"] for r in got) == ["\x1e", "\x1e", "196001021030405", "202402291000000"]
    for row in got:
        assert [row[f"text_{name}"] for name in VALUES] == [plain.text(row[name]) for name in VALUES]
        hashed = row["hash_"] if isinstance(row["hash_"], int) else int(row["hash_"], 16)
        assert hashed == plain.number(*(row[name] for name in VALUES))
