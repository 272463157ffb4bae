"""Odd tables: columns of every kind in frames and files, scanned, understood, correlated and assessed."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

import epsilens as el

from .values import NAMES
from .watched import Tried, watched

_COLUMNS = (
    "[1, 2, 3, 4, 5, 6]", "[0.1, 0.2, float('nan'), 1e308, -1e308, 0.0]", "['a', 'b', None, '', ' ', 'A']",
    "[None] * 6",
    "[True, False, None, True, True, False]", "[1, 'x', 2.0, None, b'y', True]", "[float('inf')] * 6", "[2**62] * 6",
    "pd.date_range('2020-01-01', periods=6)", "pd.period_range('2020-01', periods=6, freq='M')", "[10**30] * 6",
    "pd.date_range('2020-01-01', periods=6, tz='Europe/Paris')", "pd.to_timedelta(range(6), unit='s')",
    "pd.Categorical(['x', 'y', None, 'x', 'x', 'y'])", "pd.interval_range(0, 6)", "[Decimal('1.1')] * 6",
    "np.array([1, 2, 3, 4, 5, 6], dtype='int8')", "[b'ab'] * 6", "[[1, 2]] * 6", "[{'a': 1}] * 6", "['\\x1b[31m'] * 6",
    "['1,5', '2', 'N/A', '', '3', '8,841.70']", "['2024-13-45', '01/02/2020', '', None, '2', '3']", "[object()] * 6",
    "pd.array([1, None, 3, 4, 5, 6], dtype='Int64')", "pd.Series(['\\ud800'] * 6, dtype=object)", "['x' * 5000] * 6",
    "['a\\x00b'] * 6",
    "[1j] * 6",
    "np.arange(6) / 7", "np.array([1, 2, 3, 4, 5, 6], dtype='uint64') * 2**61", "['=1+1', '@x', '-1', '+1', 'x', 'y']",
    "[Fraction(1, 3)] * 6",
)  # fmt: skip
_NAMES = (
    "age",
    "id",
    "Patient ID",
    "diag",
    "a b",
    "",
    "x\x1b[31m",
    "ε",
    "select",
    'q"uote',
    "0",
    "a.b",
    "date",
    "'",
    "A",
)
_CSV = (
    b"", b"\n", b"a\n", b"a,b\n1\n", b"a,a\n1,2\n", b",\n,\n", b"\xff\xfea\x00", b"\xef\xbb\xbfa,b\n1,2\n",
    b'a,"b\n1,2\n',
    b"a;b\n1;2\n3;4\n", b"a\tb\n1\t2\n", b"PK\x03\x04", b"PAR1", b"\x1f\x8b\x08", b"a,b\r1,2\r3,4\r",
    b"a,b\n" + b"1,2\n" * 50,
    b"a" * 100_000, b"a,b\n\x00,1\n", b"{}", b"a,b\n1,2,3\n4\n", b'"a""b",c\n1,2\n', b"1,2\n3,4\n",
    b"a\n" + b"9" * 5000,
    b",".join(b"c%d" % i for i in range(500)) + b"\n" + b",".join(b"1" for _ in range(500)) + b"\n",
)  # fmt: skip
_WHERE = ("", "age < 30", "id = 'x'", "diag in (1, 2)", '"a b" is null', "age / 0 = 1", "1 = 1", "age <", "x = 1", "'")


def tables(tried: Tried, numbers: Iterator[int], seconds: float) -> None:
    """Try one table for each number."""
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            chance = random.Random(f"{tried.seed} {number}")
            shown, table, names = _table(chance, Path(folder) / chance.choice(("t.csv", "t.parquet", "t.csv.gz", "t")))
            work = chance.choice((_scan, _init, _correlate, _assess))
            watched(
                tried, number, f"{work.__name__[1:]} {shown}",
                partial(_done, work, chance, table, names), seconds,
            )  # fmt: skip


def _done(work: Callable[..., Any], chance: random.Random, table: Any, names: list[str]) -> None:
    work(chance, table, names)


def _table(chance: random.Random, path: Path) -> tuple[str, Any, list[str]]:
    if chance.random() < 0.25:
        data = chance.choice(_CSV)
        path.write_bytes(data)
        return f"{path.name} {data[:60]!r}", str(path), ["a", "b"]
    names = chance.sample(_NAMES, chance.randint(1, 4))
    columns = [chance.choice(_COLUMNS) for _ in names]
    rows = chance.choice((6, 6, 6, 1, 0))
    frame = pd.DataFrame({n: eval(c, dict(NAMES)) for n, c in zip(names, columns, strict=True)}).head(rows)
    return f"{dict(zip(names, columns, strict=True))} {rows} rows", frame, names


def _some(chance: random.Random, names: list[str]) -> list[str]:
    return [*chance.sample(names, chance.randint(1, len(names))), *(["none"] if chance.random() < 0.1 else [])]


def _scan(chance: random.Random, table: Any, names: list[str]) -> Any:
    where = chance.choice(_WHERE)
    return el.scan(
        table, _some(chance, names), person=chance.choice([None, None, *names]),
        queries=[f"count where {where}"] if where else [],
    ).to_text()  # fmt: skip


def _init(chance: random.Random, table: Any, names: list[str]) -> Any:
    return el.init(table).yaml


def _correlate(chance: random.Random, table: Any, names: list[str]) -> Any:
    return el.correlate(table, _some(chance, names)).to_text()


def _assess(chance: random.Random, table: Any, names: list[str]) -> Any:
    column, where = chance.choice(names), chance.choice(_WHERE)
    queries: list[dict[str, Any]] = [
        {"count": where or True}, {"sum": column, "bounds": [0, 10]}, {"average": column, "bounds": [0, 1]},
        {"histogram": column, "groups": ["a", 1, "b"]}, {"count": True, "by": column, "threshold": 3},
    ]  # fmt: skip
    plan = {
        "data": {"table": "t", "quasi_identifiers": _some(chance, names), "person": chance.choice(names)},
        "queries": chance.sample(queries, chance.randint(1, 2)), "mechanism": {"epsilon": 1},
        "limits": {"success": 0.6},
    }  # fmt: skip
    return el.assess(plan, table=table).to_text()
