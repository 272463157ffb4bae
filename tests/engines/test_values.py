"""Conditions, hashes and sums of every kind of value: each engine against plain Python."""

from __future__ import annotations

import datetime as dt
import math
import operator
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
from tests.engines.places import Place
from tests.plan import plain

from epsilens.data.tables.columns import value_of
from epsilens.data.tables.conditions import condition
from epsilens.data.tables.fingerprint import content_fingerprint
from epsilens.data.tables.row_limit import canonical_text, hash_key
from epsilens.data.tables.table import open_table

DAY, MOMENT = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 23, 59, 59)
UTC = dt.UTC
LONG = "x" * 5000

#: A column for each kind of value, with what goes wrong: NULL, NaN, −0, capitals, blanks, quotes, other alphabets.
VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "text": (pa.string(), ["a", "A", "é", "e\u0301", "", " a ", "a ", "it's", 'say "x"', "100%", "a_b", "a\\b",
                           "日本🤦", "tab\there", "line\nbreak", LONG, None, "B", "b", "ß", "N/A", "%(x)s :y ?"]),
    "whole": (pa.int64(), [0, 1, -1, 7, -7, 2**62, -(2**62), 9, 10, None]),
    "small": (pa.int32(), [1, 2, 3, -3, None, 2**31 - 1]),
    "real": (pa.float64(), [0.0, -0.0, 0.1, 1.5, -2.5, math.nan, math.inf, -math.inf, 1e300, 1e-300, None, 7.0]),
    "money": (pa.decimal128(12, 2), [Decimal("19.99"), Decimal("0.10"), Decimal("-3.50"), None, Decimal("1000000.01")]),
    "flag": (pa.bool_(), [True, False, None]),
    "day": (pa.date32(), [DAY, dt.date(1960, 1, 2), dt.date(2024, 3, 1), None]),
    "moment": (pa.timestamp("us"), [MOMENT, MOMENT.replace(microsecond=500000), dt.datetime(1999, 12, 31), None]),
    "instant": (pa.timestamp("us", "UTC"), [MOMENT.replace(tzinfo=UTC), dt.datetime(2024, 7, 1, 12, tzinfo=UTC), None]),
}  # fmt: skip
SIZE = 66


def table() -> pa.Table:
    made = {"row": pa.array(range(SIZE), pa.int64())}
    for name, (kind, values) in VALUES.items():
        made[name] = pa.array([values[i % len(values)] for i in range(SIZE)], kind)
    return pa.table(made)


def read(value: Any) -> Any:
    """A value as conditions see it: NaN is none, −0 is 0, a decimal beside a number is one, times are UTC's."""
    if isinstance(value, float):
        return None if math.isnan(value) else value + 0.0
    if isinstance(value, Decimal):
        return float(value)
    return value.replace(tzinfo=None) if isinstance(value, dt.datetime) else value


Rows = list[dict[str, Any]]
Known = Callable[..., Any]


def known(f: Known) -> Known:
    """Unknown where something it looks at is."""
    return lambda *a: None if any(x is None for x in a) else f(*a)


def calculated(f: Known) -> Known:
    """Unknown too where it leaves the range of its numbers, or divides by zero."""

    def made(a: Any, b: Any) -> Any:
        if a is None or b is None or (f in (operator.truediv, math.fmod) and b == 0):
            return None
        whole = isinstance(a, int) and isinstance(b, int) and f is not operator.truediv
        if f is math.fmod and whole:
            return int(math.copysign(1, a)) * (abs(a) % abs(b))
        try:
            number = f(a, b) if whole else f(float(a), float(b))
        except (OverflowError, ValueError):
            return None
        most = 2**63 - 2**15 if whole else 1.7976931348623157e308
        return number if abs(number) <= most else None

    return made


add, sub, mul, div, mod = map(calculated, (operator.add, operator.sub, operator.mul, operator.truediv, math.fmod))
eq, lt, gt, ge = map(known, (operator.eq, operator.lt, operator.gt, operator.ge))


def utf8(f: Known) -> Known:
    return known(lambda a, b: f(a.encode(), b.encode()))


def both(a: Any, b: Any) -> Any:
    return False if a is False or b is False else None if a is None or b is None else True


def negated(a: Any) -> Any:
    return None if a is None else not a


CONDITIONS: list[tuple[str, Callable[[dict[str, Any]], Any]]] = [
    ("text = 'a'", lambda r: eq(r["text"], "a")),
    ("text <> 'a'", lambda r: negated(eq(r["text"], "a"))),
    ("text = ''", lambda r: eq(r["text"], "")),
    ("text = 'it''s' OR text = 'say \"x\"'", lambda r: r["text"] in ("it's", 'say "x"')),
    ("text = '%(x)s :y ?' OR text = 'tab\there'", lambda r: r["text"] in ("%(x)s :y ?", "tab\there")),
    ("text = 'é'", lambda r: eq(r["text"], "é")),
    ("text < 'b'", lambda r: utf8(operator.lt)(r["text"], "b")),
    ("text >= 'B' AND text <= 'a'", lambda r: both(utf8(ge)(r["text"], "B"), utf8(operator.le)(r["text"], "a"))),
    ("text BETWEEN 'A' AND 'b'", lambda r: both(utf8(ge)(r["text"], "A"), utf8(operator.le)(r["text"], "b"))),
    ("text LIKE 'a%'", lambda r: known(lambda t: t.startswith("a"))(r["text"])),
    ("text LIKE 'A'", lambda r: eq(r["text"], "A")),
    ("text NOT LIKE '%a%'", lambda r: known(lambda t: "a" not in t)(r["text"])),
    ("text LIKE 'a\\b' OR text LIKE '日本_'", lambda r: r["text"] in ("a\\b", "日本🤦")),
    ("text LIKE 'a_b'", lambda r: r["text"] in ("a_b", "a\\b")),
    ("text LIKE '%\nbreak'", lambda r: r["text"] == "line\nbreak"),
    ("text IS NULL OR flag", lambda r: r["text"] is None or r["flag"] is True),
    ("text IN ('a', 'B', 'ß', 'nobody')", lambda r: known(lambda t: t in ("a", "B", "ß"))(r["text"])),
    ("NOT text IN ('a', 'B')", lambda r: known(lambda t: t not in ("a", "B"))(r["text"])),
    (f"whole IN ({', '.join(str(i) for i in range(5, 1505))})", lambda r: known(lambda x: 5 <= x < 1505)(r["whole"])),
    (" OR ".join(f"whole = {i}" for i in range(5, 1505)), lambda r: known(lambda x: 5 <= x < 1505)(r["whole"])),
    (" AND ".join(f"whole <> {i}" for i in range(5, 1505)), lambda r: known(lambda x: not 5 <= x < 1505)(r["whole"])),
    ("whole IN (1, -7, 2.5, 9.0)", lambda r: known(lambda x: x in (1, -7, 9))(r["whole"])),
    ("flag", lambda r: r["flag"]),
    ("NOT flag", lambda r: negated(r["flag"])),
    ("flag IS TRUE OR flag IS NULL", lambda r: r["flag"] is not False),
    ("flag IS NOT TRUE", lambda r: r["flag"] is not True),
    ("flag = false", lambda r: eq(r["flag"], False)),
    ("flag = (whole > 0)", lambda r: eq(r["flag"], gt(r["whole"], 0))),
    ("whole > 1.5", lambda r: gt(r["whole"], 1.5)),
    ("whole = small", lambda r: eq(r["whole"], r["small"])),
    ("real = 0", lambda r: eq(r["real"], 0)),
    ("real > 0.1", lambda r: gt(r["real"], 0.1)),
    ("real IS NULL", lambda r: r["real"] is None),
    ("NOT (real > 0)", lambda r: negated(gt(r["real"], 0))),
    ("money = 19.99", lambda r: eq(r["money"], 19.99)),
    ("money > 0.1", lambda r: gt(r["money"], 0.1)),
    ("money BETWEEN -3.5 AND 0.1", lambda r: known(lambda m: -3.5 <= m <= 0.1)(r["money"])),
    ("money > whole", lambda r: gt(r["money"], r["whole"])),
    ("money IN (19.99, 0.1, 7)", lambda r: known(lambda m: m in (19.99, 0.1))(r["money"])),
    ("whole + 1 > 9", lambda r: gt(add(r["whole"], 1), 9)),
    ("whole + whole + whole > 0", lambda r: gt(add(add(r["whole"], r["whole"]), r["whole"]), 0)),
    ("NOT (whole * 4 < 5)", lambda r: negated(lt(mul(r["whole"], 4), 5))),
    ("small * small > 10", lambda r: gt(mul(r["small"], r["small"]), 10)),
    ("small + 100 > 101", lambda r: gt(add(r["small"], 100), 101)),
    ("-whole > 6", lambda r: gt(sub(0, r["whole"]), 6)),
    ("whole / 2 = 3.5", lambda r: eq(div(r["whole"], 2), 3.5)),
    ("1 / whole > 0.05", lambda r: gt(div(1, r["whole"]), 0.05)),
    ("whole / whole = 1", lambda r: eq(div(r["whole"], r["whole"]), 1)),
    ("whole % 4 = 3", lambda r: eq(mod(r["whole"], 4), 3)),
    ("whole % 4 = -3", lambda r: eq(mod(r["whole"], 4), -3)),
    ("whole % -4 = 3", lambda r: eq(mod(r["whole"], -4), 3)),
    ("7 % whole = 0", lambda r: eq(mod(7, r["whole"]), 0)),
    ("real % 2 = 1.5", lambda r: eq(mod(r["real"], 2), 1.5)),
    ("real * 1e300 > 5", lambda r: gt(mul(r["real"], 1e300), 5)),
    ("real * 1e-300 = 0", lambda r: eq(mul(r["real"], 1e-300), 0)),
    ("real / 1e-300 > 5", lambda r: gt(div(r["real"], 1e-300), 5)),
    ("real + real > 1", lambda r: gt(add(r["real"], r["real"]), 1)),
    ("real + 1e308 + 1e308 > 0", lambda r: gt(add(add(r["real"], 1e308), 1e308), 0)),
    ("money * 2 > 39.97 AND money * 2 < 40", lambda r: known(lambda m: m == 19.99)(r["money"])),
    ("real - whole < 0", lambda r: lt(sub(r["real"], r["whole"]), 0)),
    ("day = '2024-02-29'", lambda r: eq(r["day"], DAY)),
    ("day < '2024-03-01' AND day > '1959-12-31'", lambda r: known(lambda d: d < dt.date(2024, 3, 1))(r["day"])),
    ("day IN ('2024-02-29', '1960-01-02')", lambda r: known(lambda d: d < dt.date(2024, 3, 1))(r["day"])),
    ("moment = '2024-02-29 23:59:59'", lambda r: eq(r["moment"], MOMENT)),
    ("moment > '2024-02-29 23:59:59'", lambda r: gt(r["moment"], MOMENT)),
    ("moment BETWEEN '1999-12-31' AND '2024-02-29 23:59:59'", lambda r: known(lambda m: m <= MOMENT)(r["moment"])),
    ("instant = '2024-02-29 23:59:59'", lambda r: eq(r["instant"], MOMENT)),
    ("instant > '2024-07-01 13:59:59+02:00'", lambda r: gt(r["instant"], dt.datetime(2024, 7, 1, 11, 59, 59))),
]  # fmt: skip


def covered(place: Place, made: pa.Table, conditions: list[str]) -> list[set[int]]:
    """The rows that each condition holds for."""
    with open_table(place.put(made), place.engine) as opened:
        rows = opened.table
        asked = rows.select("row", **{f"c{i}": condition(rows, text) for i, text in enumerate(conditions)})
        got = opened.engine.fetch(asked).to_pylist()
    return [{r["row"] for r in got if r[f"c{i}"]} for i in range(len(conditions))]


def test_conditions(place: Place) -> None:
    made = table()
    rows = [{name: read(value) for name, value in row.items()} for row in made.to_pylist()]
    # Spark takes a minute to plan 1,500 comparisons beside each other; it has the list of as many values.
    chosen = [one for one in CONDITIONS if place.name != "pyspark" or len(one[0]) < 15_000]
    found = covered(place, made, [text for text, _ in chosen])
    for (text, holds), got in zip(chosen, found, strict=True):
        assert got == {r["row"] for r in rows if holds(r) is True}, text[:200]


def test_values(place: Place) -> None:
    """Every value comes back as it was put there, NaN as nothing and times in UTC."""
    made = table()
    with open_table(place.put(made), place.engine) as opened:
        rows = opened.table
        got = opened.engine.fetch(rows.select("row", **{n: value_of(rows[n], "column") for n in VALUES})).to_pylist()
    for row, expected in zip(sorted(got, key=lambda r: r["row"]), made.to_pylist(), strict=True):
        for name in VALUES:
            value = expected[name] if name == "money" else read(expected[name])
            assert (row[name], type(row[name])) == (value, type(value)), (name, row["row"])


def test_the_hashed_text_is_that_of_plain_python(place: Place) -> None:
    made = table()
    names = list(VALUES)
    with open_table(place.put(made), place.engine) as opened:
        rows = opened.table
        rows = rows.select("row", **{n: value_of(rows[n], "column") for n in names})
        texts = {f"t_{n}": canonical_text(rows[n]) for n in names}
        got = opened.engine.fetch(rows.mutate(**texts, hash_=hash_key(rows, names))).to_pylist()
    for row, expected in zip(sorted(got, key=lambda r: r["row"]), made.to_pylist(), strict=True):
        values = [read(expected[n]) for n in names]
        assert [row[f"t_{n}"] for n in names] == [plain.text(v) for v in values], row["row"]
        hashed = row["hash_"] if isinstance(row["hash_"], int) else int(row["hash_"], 16)
        assert hashed == plain.number(*values)


def test_the_same_rows_have_the_same_fingerprint(elsewhere: Place) -> None:
    """On every engine, in any order; a row more, or a value that is another, has another."""

    def found(rows: Any, engine: str | None = None) -> str:
        with open_table(rows, engine) as opened:
            return content_fingerprint(opened)

    here = table()
    same = found(here)
    assert found(elsewhere.put(here), elsewhere.engine) == same
    assert found(elsewhere.put(here.take(list(range(SIZE - 1, -1, -1)))), elsewhere.engine) == same
    assert found(elsewhere.put(here.slice(1)), elsewhere.engine) != same
    assert found(elsewhere.put(here.set_column(0, "row", pa.array([9, *range(1, SIZE)]))), elsewhere.engine) != same
