"""Files people point at: a name is that file, folders carry values, and what is no table is refused at once."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from epsilens.data.tables.sources import files_at
from epsilens.data.tables.table import open_table
from epsilens.errors import InputError


def read(path: Any) -> dict[str, list[Any]]:
    with open_table(path) as opened:
        table = opened.table
        rows: dict[str, list[Any]] = opened.engine.fetch(table.order_by(table.columns)).to_pydict()
    return rows


def said(path: Any) -> str:
    with pytest.raises(InputError) as error:
        files_at(str(path))
    assert "\n" not in str(error.value)
    assert error.value.parameter == "table"
    return str(error.value)


@pytest.mark.parametrize("name", ["star*", "a[1]", "q'uo\"te", "ü %20~", "who?", "b{x,y}", "semi;colon", "-x"])
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_name_that_exists_is_that_file(tmp_path: Path, name: str, ending: str) -> None:
    for each, value in ((name, 1), ("star1", 2), ("a1", 3), ("whom", 4)):
        if ending == "csv":
            (tmp_path / f"{each}.csv").write_text(f"a\n{value}\n")
        else:
            pq.write_table(pa.table({"a": [value]}), tmp_path / f"{each}.parquet")
    assert read(tmp_path / f"{name}.{ending}") == {"a": [1]}


def hive(root: Path) -> None:
    for year, month, values in (("2024", "01", [1, 2]), ("2023", "12", [3])):
        folder = root / f"year={year}" / f"month={month}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"a": values}), folder / "part.parquet")
    (root / "_SUCCESS").touch()
    (root / "year=2023" / ".part.crc").touch()
    pq.write_table(pa.table({"b": [1]}), root / "_metadata.parquet")


def test_folders_carry_values(tmp_path: Path) -> None:
    hive(tmp_path / "t")
    expected = {"a": [1, 2, 3], "year": [2024, 2024, 2023], "month": ["01", "01", "12"]}  # 01 is no number
    for path in ("t", "t/year=*/month=*/*.parquet", "t/**/*.parquet"):
        assert read(tmp_path / path) == expected, path
    assert read(tmp_path / "t" / "year=2024") == {"a": [1, 2], "month": ["01", "01"]}
    assert read(tmp_path / "t" / "year=2024" / "month=01" / "part.parquet") == {"a": [1, 2]}


def test_parts_are_of_one_table(tmp_path: Path) -> None:
    parts = {"1": [1], "2": pa.array([2], pa.int32()), "3": pa.nulls(1), "4": ["x"]}
    for name, values in parts.items():
        pq.write_table(pa.table({"n": values}), tmp_path / f"{name}.parquet")
    assert read(tmp_path / "[123].parquet") == {"n": [1, 2, None]}
    with pytest.raises(InputError, match="store 'n' as string and int64"):
        open_table(tmp_path / "[14].parquet")
    pq.write_table(pa.table({"n": [1], "m": [1]}), tmp_path / "5.parquet")
    with pytest.raises(InputError, match="'m' is in one alone"):
        open_table(tmp_path / "[15].parquet")


def test_folders_of_text(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("a\n1\n")
    assert read(tmp_path) == {"a": [1, 1]}
    assert read(tmp_path / "*.csv") == {"a": [1, 1]}


def test_what_never_ends_is_not_touched(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "s.csv"))
        assert "a socket" in said(tmp_path / "s.csv")
    assert "a pipe" in said(tmp_path / "pipe.csv")
    assert "a pipe" in said(tmp_path / "*.csv")
    assert "a device" in said("/dev/zero")
    assert "a device" in said("/dev/null")


def test_what_is_nothing(tmp_path: Path) -> None:
    for nothing in ("", "  ", "a\x00b"):
        assert "give a CSV or Parquet path" in said(nothing)
    for missing in ("gone.csv", "gone*.parquet", "~/gone.csv", "x" * 5000):
        assert "no such file" in said(missing)
    (tmp_path / "empty").mkdir()
    assert "a folder without files" in said(tmp_path / "empty")
    for name in ("zero.csv", "zero.parquet"):
        (tmp_path / name).touch()
        assert "the file is empty" in said(tmp_path / name)
    (tmp_path / "broken.csv").symlink_to(tmp_path / "gone")
    assert "no such file" in said(tmp_path / "broken.csv")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x.xlsx", "save it as CSV"), ("x.SAV", "read_spss"), ("x.dta", "read_stata"), ("x.sas7bdat", "read_sas"),
        ("x.json", "read_json"), ("x.pdf", "a document"), ("x.zip", "unpack"), ("x.tar.gz", "unpack"),
        ("x.rds", "write_parquet"), ("x.feather", "read_table"), ("x.pkl", "if you trust it"), ("x", "name it after"),
    ],
)  # fmt: skip
def test_other_kinds_of_file(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / name).write_bytes(b"something")
    assert words in said(tmp_path / name)


def test_the_first_bytes_tell(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), tmp_path / "plain")
    assert read(tmp_path / "plain") == {"a": [1]}
    (tmp_path / "s.db").write_bytes(b"SQLite format 3\x00" + bytes(90))
    assert "sqlite://" in said(tmp_path / "s.db")
    (tmp_path / "d.db").write_bytes(bytes(8) + b"DUCK" + bytes(90))
    assert "duckdb://" in said(tmp_path / "d.db")
    (tmp_path / "bad.parquet").write_bytes(b"no Parquet")
    with pytest.raises(InputError, match="does not parse as Parquet"):
        open_table(tmp_path / "bad.parquet")
    assert read(f"file://{tmp_path}/plain") == {"a": [1]}


def test_links_are_followed_once(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "elsewhere").mkdir()
    pq.write_table(pa.table({"a": [1]}), tmp_path / "t" / "1.parquet")
    pq.write_table(pa.table({"a": [2]}), tmp_path / "elsewhere" / "2.parquet")
    (tmp_path / "t" / "more").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "t" / "back").symlink_to(tmp_path / "t")
    assert read(tmp_path / "t") == {"a": [1, 2]}


def test_a_name_that_is_not_unicode(tmp_path: Path) -> None:
    path = os.path.join(os.fsencode(tmp_path), b"pe\xf6ple.csv")
    Path(os.fsdecode(path)).write_text("a\n1\n")
    with pytest.raises(InputError, match="its name is not UTF-8; rename it"):
        files_at(os.fsdecode(path))
