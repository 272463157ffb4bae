"""Text files from strangers: what is read, as what, and what is said of files that cannot be read."""

from __future__ import annotations

import bz2
import codecs
import csv
import datetime as dt
import gzip
import io
import json
import lzma
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, note, settings
from hypothesis import strategies as st
from tests.examples import examples

from epsilens.data.tables import csv_reader, csv_sniffer
from epsilens.data.tables.engines import connect
from epsilens.data.tables.table import open_table
from epsilens.errors import InputError

#: In cells of broken files; no message may have it.
MARK = "Zebedee"


@pytest.fixture(scope="module")
def duck() -> Any:
    engine = connect("duckdb")
    yield engine.connection
    engine.close()


def read(path: Path | str, engine: Any = None) -> pa.Table:
    with open_table(str(path), engine) as opened:
        return opened.engine.fetch(opened.table)


def given_file(folder: Path, data: bytes | str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def kinds(table: pa.Table) -> dict[str, str]:
    return {field.name: str(field.type) for field in table.schema}


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for row in table.to_pylist()), key=repr)


def refusal(path: Path | str, engine: Any = None) -> str:
    with pytest.raises(InputError) as caught:
        read(path, engine)
    message = str(caught.value)
    assert "\n" not in message
    assert MARK not in message
    cause: BaseException | None = caught.value
    while cause is not None:  # what a log would print with it
        assert MARK not in str(cause)
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return message


# --- layouts


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_and_line_ends(tmp_path: Path, duck: Any, separator: str, end: str) -> None:
    lines = ["name,n,note", 'Anna,1,"a,b"', 'Bob,2,"say ""hi"""', f'Cy,3,"two{end}lines"', ",4,"]
    # The comma in quotes becomes the separator, so that quotes are needed for each.
    path = given_file(tmp_path, end.join(line.replace(",", separator) for line in lines) + end)
    found = read(path, duck)
    assert kinds(found) == {"name": "string", "n": "int64", "note": "string"}
    assert rows(found) == sorted(
        [("Anna", 1, f"a{separator}b"), ("Bob", 2, 'say "hi"'), ("Cy", 3, f"two{end}lines"), (None, 4, None)], key=repr
    )


@pytest.mark.parametrize(
    "data",
    [
        "a,b\r\n1,x\n2,y\r\n3,z\r",
        "a,b\n1,x\r\n2,y\n3,z",
        "a,b\r1,x\n2,y\r\n3,z\n",
        "a,b\r\n" + "1,x\r\n2,y\n3,z\r\n",
    ],
)
def test_mixed_line_ends(tmp_path: Path, duck: Any, data: str) -> None:
    assert rows(read(given_file(tmp_path, data), duck)) == [(1, "x"), (2, "y"), (3, "z")]


def test_mixed_line_ends_keep_what_is_in_quotes(tmp_path: Path, duck: Any) -> None:
    path = given_file(tmp_path, 'a,b\r\n1,"p\r\nq"\n2,"r\rs ""t"""\r\n')
    assert rows(read(path, duck)) == [(1, "p\r\nq"), (2, 'r\rs "t"')]


def test_backslashes_before_quotes(tmp_path: Path, duck: Any) -> None:
    path = given_file(tmp_path, 'a,b\n1,"say \\"hi\\", twice"\n2,"back\\\\slash"\n')
    assert rows(read(path, duck)) == [(1, 'say "hi", twice'), (2, "back\\slash")]
    path = given_file(tmp_path, "a,b\n1,C:\\new\\table\n")  # not before a quote: itself
    assert rows(read(path, duck)) == [(1, "C:\\new\\table")]


def test_backslashes_that_come_late(tmp_path: Path, duck: Any) -> None:
    lines = "".join(f'{i},"plain text of some length"\n' for i in range(50_000))
    found = read(given_file(tmp_path, f'a,b\n{lines}9,"say \\"hi\\" once"\n'), duck)
    assert found.num_rows == 50_001
    assert 'say "hi" once' in found["b"].to_pylist()


@pytest.mark.parametrize(
    ("data", "names", "values"),
    [
        ("sep=;\nname;height\nAnna;1,65\n", ["name", "height"], [("Anna", "1,65")]),
        ("sep=|\r\na|b\r\n1|2\r\n", ["a", "b"], [(1, 2)]),
        ("name;height\nAnna;1,65\nBob;1,80\n", ["name", "height"], [("Anna", "1,65"), ("Bob", "1,80")]),
        ("name;a;b\nSmith, Jo;1,5;2,5\nDoe, Al;1,0;2,0\n", ["name", "a", "b"],
         [("Doe, Al", "1,0", "2,0"), ("Smith, Jo", "1,5", "2,5")]),
        ("a,b,,\n1,2,,\n3,4,,\n", ["a", "b"], [(1, 2), (3, 4)]),
        ("a,b\n1,2,\n3,4,\n", ["a", "b"], [(1, 2), (3, 4)]),
        ("a,b,\n1,2\n3,4\n", ["a", "b"], [(1, 2), (3, 4)]),
        ("a,b\n\n1,2\n\n\n3,4\n\n\n", ["a", "b"], [(1, 2), (3, 4)]),
        ("a\n1\n\n2\n\n", ["a"], [(1,), (2,)]),
        ('a\nx\n""\ny\n', ["a"], [("x",), ("y",), (None,)]),
        ("a,b\n", ["a", "b"], []),
        ("a,b", ["a", "b"], []),
        (",a,b\n0,x,1\n1,y,2\n", ["row", "a", "b"], [(0, "x", 1), (1, "y", 2)]),
        (" a , b\n1,2\n", ["a", "b"], [(1, 2)]),
        ("age, sex\n39, male\n50, female\n", ["age", "sex"], [(39, "male"), (50, "female")]),
        ("land,2019,2020,2021\nDE,1,2,3\n", ["land", "2019", "2020", "2021"], [("DE", 1, 2, 3)]),
        ("who,1,2,3,4\na,5,6,7,8\n", ["who", "1", "2", "3", "4"], [("a", 5, 6, 7, 8)]),
        ("Report of May\n\nname,n\nAnna,1\nBob,2\n", ["name", "n"], [("Anna", 1), ("Bob", 2)]),
        ("Report of May,,\n,,\nname,n,born\nAnna,1,2000-01-02\n", ["name", "n", "born"],
         [("Anna", 1, dt.date(2000, 1, 2))]),
        ("# made by, a program, on Monday\n# v2\nname,n\nAnna,1\nBob,2\n", ["name", "n"], [("Anna", 1), ("Bob", 2)]),
        ("#id,name\n1,x\n2,y\n", ["#id", "name"], [(1, "x"), (2, "y")]),
        ('"a\nb",c\n1,2\n', ["a\nb", "c"], [(1, 2)]),
        ('"x ""y""",é,"a.b",select\n1,2,3,4\n', ['x "y"', "é", "a.b", "select"], [(1, 2, 3, 4)]),
        ("a,b\n5\" pipe,1\n", ["a", "b"], [('5" pipe', 1)]),
    ],
)  # fmt: skip
def test_layouts(tmp_path: Path, duck: Any, data: str, names: list[str], values: list[Any]) -> None:
    found = read(given_file(tmp_path, data), duck)
    assert found.column_names == names
    assert rows(found) == values


def test_many_columns_and_long_lines(tmp_path: Path, duck: Any) -> None:
    names = [f"c{i}" for i in range(2000)]
    lines = [names, [str(i) for i in range(2000)], ["01"] + ["" for _ in range(1999)]]
    found = read(given_file(tmp_path, "".join(",".join(line) + "\n" for line in lines)), duck)
    assert found.column_names == names
    assert sorted(found["c0"].to_pylist()) == ["0", "01"]
    assert sorted(found["c1999"].to_pylist(), key=repr) == [1999, None]
    long = "y" * 9_000_000
    assert rows(read(given_file(tmp_path, f'a,b\n1,x\n2,"{long}"\n'), duck)) == [(1, "x"), (2, long)]


# --- encodings and packing


TABLE = "name,n\nZoë,1\nMüller €5,2\n"


@pytest.mark.parametrize(
    "data",
    [
        TABLE.encode(),
        codecs.BOM_UTF8 + TABLE.encode(),
        TABLE.encode("utf-16"),
        TABLE.encode("utf-16-le"),
        TABLE.encode("utf-16-be"),
        codecs.BOM_UTF16_BE + TABLE.encode("utf-16-be"),
        TABLE.encode("utf-32"),
        TABLE.encode("cp1252"),
    ],
    ids=["utf-8", "utf-8 marked", "utf-16", "utf-16-le", "utf-16-be", "utf-16-be marked", "utf-32", "cp1252"],
)
def test_encodings(tmp_path: Path, duck: Any, data: bytes) -> None:
    found = read(given_file(tmp_path, data), duck)
    assert found.column_names == ["name", "n"]
    assert rows(found) == [("Müller €5", 2), ("Zoë", 1)]


def test_a_western_letter_that_comes_late(tmp_path: Path, duck: Any) -> None:
    lines = b"".join(b"%d,plain text of some length\n" % i for i in range(50_000))
    found = read(given_file(tmp_path, b"a,b\n" + lines + "9,é\n".encode("cp1252")), duck)
    assert found.num_rows == 50_001
    assert "é" in found["b"].to_pylist()


def packed(path: Path, data: bytes) -> bytes:
    """The data packed as the name of the file says, and written there."""
    if path.suffix == ".zst":
        with pa.output_stream(path, compression="zstd") as out:
            out.write(data)
    else:
        path.write_bytes(PACKERS[path.suffix](data))
    return path.read_bytes()


PACKERS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("packing", [*PACKERS, ".zst"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_packed(tmp_path: Path, duck: Any, packing: str, encoding: str) -> None:
    path = tmp_path / f"t.csv{packing}"
    packed(path, TABLE.encode(encoding))
    assert rows(read(path, duck)) == [("Müller €5", 2), ("Zoë", 1)]


@pytest.mark.parametrize("packing", [*PACKERS, ".zst"])
def test_cut_off(tmp_path: Path, duck: Any, packing: str) -> None:
    path = tmp_path / f"t.csv{packing}"
    data = "a,b\n" + "".join(f"{MARK}{i * i},{i}\n" for i in range(60_000))
    whole = packed(path, data.encode())
    for part in (whole[: len(whole) // 2], whole[:-5], whole[:20]):
        path.write_bytes(part)
        assert "cut off or damaged" in refusal(path, duck)


# --- types


@pytest.mark.parametrize(
    ("values", "kind", "read_as"),
    [
        (["1", "-20", ""], "int64", [1, -20, None]),
        (["0", "9223372036854775807"], "int64", [0, 9223372036854775807]),
        (["1", "9223372036854775808"], "string", ["1", "9223372036854775808"]),
        (["12345678901234567890123"], "string", ["12345678901234567890123"]),
        (["9007199254740993", "1.5"], "string", ["9007199254740993", "1.5"]),
        (["1", "01234"], "string", ["1", "01234"]),
        (["00", "1"], "string", ["00", "1"]),
        (["+49", "1"], "string", ["+49", "1"]),
        (["1_000", "1"], "string", ["1_000", "1"]),
        (["1.50", "2"], "double", [1.5, 2.0]),
        (["1e5", "2E-3", ".5", "5.", "-0.1"], "double", [1e5, 2e-3, 0.5, 5.0, -0.1]),
        (["01.5", "2"], "string", ["01.5", "2"]),
        (["1.5", "N/A"], "string", ["1.5", "N/A"]),
        (["8,841.70", "1.0"], "string", ["8,841.70", "1.0"]),
        (["1,5", "2,5"], "string", ["1,5", "2,5"]),
        (["1e999", "1"], "string", ["1e999", "1"]),
        (["TRUE", "false", "True"], "bool", [True, False, True]),
        (["yes", "no"], "string", ["yes", "no"]),
        (["t", "f"], "string", ["t", "f"]),
        (["2024-02-29", ""], "date32[day]", [dt.date(2024, 2, 29), None]),
        (["2024-02-30", "2024-01-01"], "string", ["2024-02-30", "2024-01-01"]),
        (["01/02/2024"], "string", ["01/02/2024"]),
        (["2024/01/02"], "string", ["2024/01/02"]),
        (["20240102"], "int64", [20240102]),
        (["2024-01-02 03:04", "2024-01-02T03:04:05.5", "2024-01-02"], "timestamp[us]",
         [dt.datetime(2024, 1, 2, 3, 4), dt.datetime(2024, 1, 2, 3, 4, 5, 500_000), dt.datetime(2024, 1, 2)]),
        (["2024-01-02T03:04:05Z"], "timestamp[us]", [dt.datetime(2024, 1, 2, 3, 4, 5)]),
        (["2024-01-02T03:04:05+02:00"], "string", ["2024-01-02T03:04:05+02:00"]),
        (["12:30"], "string", ["12:30"]),
        ([" 7", "8"], "string", [" 7", "8"]),
        (["", ""], "string", [None, None]),
    ],
)  # fmt: skip
def test_types(tmp_path: Path, duck: Any, values: list[str], kind: str, read_as: list[Any]) -> None:
    quoted = "".join(f'x,"{value}"\n' for value in values)
    found = read(given_file(tmp_path, f"k,v\n{quoted}"), duck)
    assert kinds(found)["v"] == kind
    assert sorted(found["v"].to_pylist(), key=repr) == sorted(read_as, key=repr)


def test_nan_and_infinity_are_numbers_beside_numbers(tmp_path: Path, duck: Any) -> None:
    found = read(given_file(tmp_path, "v,w\n1,a\nNaN,b\n-inf,c\n"), duck)
    assert kinds(found)["v"] == "double"
    assert sorted(map(repr, found["v"].to_pylist())) == ["-inf", "1.0", "nan"]


@pytest.mark.parametrize(
    ("usual", "last", "kind", "read_as"),
    [
        ("1234", "01234", "string", "01234"),
        ("7", "2.5", "double", 2.5),
        ("7", "x", "string", "x"),
        ("7", "99999999999999999999", "string", "99999999999999999999"),
        ("9007199254740993", "2.5", "string", "2.5"),
        ("1.50", "N/A", "string", "N/A"),
        ("2024-01-02", "2024-01-02 03:04:05", "timestamp[us]", dt.datetime(2024, 1, 2, 3, 4, 5)),
        ("2024-01-02", "02.01.2024", "string", "02.01.2024"),
        ("2024-01-02 03:04:05", "never", "string", "never"),
        ("true", "maybe", "string", "maybe"),
        ("", "5", "int64", 5),
        ("", "2.5", "double", 2.5),
        ("", "05", "string", "05"),
        ("", "2024-05-06", "date32[day]", dt.date(2024, 5, 6)),
    ],
)
def test_one_value_late_decides(
    tmp_path: Path, duck: Any, monkeypatch: pytest.MonkeyPatch, usual: str, last: str, kind: str, read_as: Any
) -> None:
    """Nothing of the file but its first rows is looked at before it is read."""
    monkeypatch.setattr(csv_sniffer, "SAMPLE", 200)
    monkeypatch.setattr(csv_reader, "_sample_pieces", lambda path: iter(()))
    path = given_file(tmp_path, "k,v\n" + f"1,{usual}\n" * 500 + f"2,{last}\n" + f"1,{usual}\n" * 10)
    found = read(path, duck)
    assert kinds(found) == {"k": "int64", "v": kind}
    assert found.num_rows == 511
    values = dict(zip(found["k"].to_pylist(), found["v"].to_pylist(), strict=True))
    assert values[2] == read_as
    if kind == "string":  # the others are as they were written
        assert values[1] == (usual or None)


def test_pieces_from_all_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = given_file(tmp_path, "".join(f"{i},x\n" for i in range(100_000)))
    pieces = list(csv_reader._sample_pieces(path))
    assert len(pieces) == 8
    assert all(line.endswith(",x") for piece in pieces for line in piece.split("\n"))
    assert not list(csv_reader._sample_pieces(given_file(tmp_path, '1,"x"\n' * 30_000)))


@pytest.mark.slow
def test_spark_reads_the_same(tmp_path: Path) -> None:
    lines = ["zip,n,cost,born,seen,ok,name"] + [
        f"{1000 + i},{i},{i}.5,2000-01-0{i % 9 + 1},2024-01-01 00:00:0{i % 9},{i % 2 == 0},n{i}" for i in range(50)
    ]
    path = given_file(tmp_path, "\n".join([*lines, "01234,,,,,,"]))
    ours, theirs = read(path), read(path, "spark")
    assert rows(ours) == rows(theirs)
    assert kinds(ours) == kinds(theirs)


# --- several files


def test_parts(tmp_path: Path, duck: Any) -> None:
    given_file(tmp_path, "a;b\n1;x\n", "1.csv")
    given_file(tmp_path, "a,b\n02,é\n".encode("cp1252"), "2.csv")
    (tmp_path / "3.csv.gz").write_bytes(gzip.compress(b"a\tb\n3\tz\n"))
    given_file(tmp_path, "", "_SUCCESS")
    wanted = [("02", "é"), ("1", "x"), ("3", "z")]
    assert rows(read(tmp_path, duck)) == wanted
    assert rows(read(tmp_path / "[12].csv", duck)) == wanted[:2]
    given_file(tmp_path, f"a,c\n{MARK},2\n", "4.csv")
    said = refusal(tmp_path, duck)
    assert "4.csv and 1.csv have different columns" in said
    given_file(tmp_path, f"a,b\n{MARK}\n", "4.csv")
    assert "'4.csv': line 2 has 1 field where the header has 2" in refusal(tmp_path, duck)


def test_a_star_in_the_name(tmp_path: Path, duck: Any) -> None:
    given_file(tmp_path, "a,b\n1,2\n", "star1.csv")
    assert rows(read(given_file(tmp_path, "a,b\n3,4\n", "star*.csv"), duck)) == [(3, 4)]
    assert rows(read(given_file(tmp_path, "a,b\n5,6\n", "it's [1].csv"), duck)) == [(5, 6)]


# --- what is refused


def many(line: str) -> str:
    """Enough rows that several threads read them, some with line ends inside."""
    return "".join(f'{i},"two\r\nlines {i}"\r\n' if i % 3 == 0 else f"{i},plain\r\n" for i in range(20_000)) + line


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("", "the file is empty"),
        ("\n\n \n", "the file is empty"),
        (f"a,b\n1,2\n{MARK}\n3,4\n", "line 3 has 1 field where the header has 2: complete the line"),
        (f"a,b\n1,2\n{MARK},4,5\n3,4\n6,7,8,9\n", "line 3 has 3 fields where the header has 2 (2 such lines in all)"),
        (f"a;b\n1;2\n{MARK};4;5\n3;4\n6;7\n", "the separator (a semicolon) in double quotes"),
        (f'a,b\n"x\ny",2\n"p\n\nq",{MARK},5\n', "line 4 has 3 fields"),
        (f'a,b\r\n"x\r\ny",2\r\n{MARK},2,5\r\n', "line 4 has 3 fields"),
        (f"a,b\r1,2\r{MARK}\r3,4\r", "line 3 has 1 field"),
        (f"\ufeffa,b\r\n1,2\r\n3,4\r\n{MARK}\r\n", "line 4 has 1 field"),
        (f"sep=;\na;b\n1;2\n{MARK}\n", "line 4 has 1 field"),
        (f"Title\n\na,b,c\n1,2,3\n3,4,5\n1,{MARK}\n", "line 6 has 2 fields"),
        (f"a,b\n\n1,2\n\n\n{MARK}\n", "line 6 has 1 field"),
        (f'a,b\n1,2\n3,"{MARK}\n5,6\n', "line 3 has a quote that is not closed"),
        (f'a,b\n1,2\n3,"x" {MARK}\n5,6\n', "line 3 has a quote that is not closed, or text after"),
        (f"a,b\n1,2\n3,{MARK}\0\n", "line 3 has a NUL byte"),
        (f"a,b\n1,2\né,{MARK}\n".encode() + b"\xe9,1\n" + "é,ö\n".encode() * 5, "line 4 is not UTF-8 as the rest"),
        (f"1,2,3\n4,{MARK},6\n", "line 1 must name the columns, and seems to hold values"),
        (f"{MARK},34,7\nBob,35,8\n", "line 1 must name the columns"),
        (f"a,,c\n1,{MARK},2\n", "line 1 names the columns, and leaves column 2 without a name"),
        (f"a,b,\n1,2,\n3,4,{MARK}\n", "leaves column 3 without a name"),
        (f"x,b,x\n1,2,{MARK}\n", "line 1 names the columns, and has 'x' twice"),
        (f"long name,b,long name\n1,2,{MARK}\n", "has 'long name' twice"),
        (f"x,b,X\n1,2,{MARK}\n", "has the columns 'x' and 'X', which engines that ignore case"),
        (f"{MARK}\nfoo; bar\nbaz; qux\n", "seem to stand on line 2: remove the lines above it"),
        (f"<!DOCTYPE html><html>{MARK}</html>", "it is a web page"),
        (f"  <html><body>{MARK}", "it is a web page"),
        (f'<?xml version="1.0"?><r>{MARK}</r>', "it is XML"),
        (json.dumps([{"a": MARK, "b": 1}]), "it is JSON"),
        (json.dumps({"a": MARK, "b": 1}) + "\n", "it is JSON"),
        (bytes(range(256)) * 20, "it is not text"),
        (b"%PDF-1.4 " + MARK.encode(), "it is a PDF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "Excel workbook"),
        (many(f"{MARK}\r\n"), "line 26,669 has 1 field"),
        (many(f'1,"{MARK}\r\n'), "line 26,669 has a quote that is not closed"),
        ("a,b\r\n" + many(f"{MARK}\r\n") + many("1,2,3\r\n"), "line 26,669 has 1 field"),
    ],
)
def test_refused_with_the_line(tmp_path: Path, duck: Any, data: bytes | str, said: str) -> None:
    if isinstance(data, str) and data.startswith("0,"):
        data = "a,b\r\n" + data
    assert said in refusal(given_file(tmp_path, data), duck)


def test_the_line_deep_in_a_large_file(tmp_path: Path, duck: Any) -> None:
    """Beyond the first of the blocks that DuckDB's threads read, 32 MB each."""
    path = tmp_path / "t.csv"
    block = "".join(f'{i},"x\r\ny",some more text to fill it\r\n' for i in range(100_000))
    with path.open("w", newline="") as file:
        file.write("a,b,c\r\n")
        for _ in range(13):
            file.write(block)
        file.write(f"{MARK},2\r\n{block}{MARK},1,2,3\r\n")
    assert path.stat().st_size > 40_000_000
    assert f"line {1 + 13 * 200_000 + 1:,} has 2 fields" in refusal(path, duck)


def test_a_line_longer_than_any(tmp_path: Path, duck: Any) -> None:
    path = given_file(tmp_path, "a,b\n1,2\n3," + MARK * 3_000_000 + "\n4,5\n")
    said = refusal(path, duck)
    assert "longer than 16 MB" in said
    assert "line 3" in said


def test_binary_files_of_other_kinds(tmp_path: Path, duck: Any) -> None:
    table = pa.table({"a": [MARK]})
    pq.write_table(table, tmp_path / "parquet.csv")
    assert "it is a Parquet file" in refusal(tmp_path / "parquet.csv", duck)
    pyarrow.feather.write_feather(table, tmp_path / "arrow.csv")
    assert "it is an Arrow file" in refusal(tmp_path / "arrow.csv", duck)
    with zipfile.ZipFile(tmp_path / "sheet.csv", "w") as archive:
        archive.writestr("xl/workbook.xml", MARK)
    assert "it is an Excel workbook" in refusal(tmp_path / "sheet.csv", duck)
    with zipfile.ZipFile(tmp_path / "zip.csv", "w") as archive:
        archive.writestr("people.csv", f"a\n{MARK}\n")
    assert "it is a zip archive" in refusal(tmp_path / "zip.csv", duck)
    with sqlite3.connect(tmp_path / "lite.csv") as base:
        base.execute("CREATE TABLE t (a)")
    base.close()
    assert "it is a SQLite database" in refusal(tmp_path / "lite.csv", duck)


def test_engines_with_their_own_tables(tmp_path: Path) -> None:
    path = given_file(tmp_path, "a,b\n1,2\n")
    sqlite3.connect(tmp_path / "x.db").close()
    said = refusal(path, f"sqlite://{tmp_path}/x.db")
    assert "engine is sqlite, which reads only its own tables" in said


def test_no_such_file(tmp_path: Path, duck: Any) -> None:
    assert "no such file" in refusal(tmp_path / "nothing.csv", duck)
    assert "no such file" in refusal(tmp_path / "*.csv", duck)
    (tmp_path / "link.csv").symlink_to("/dev/zero")
    assert "a device" in refusal(tmp_path / "link.csv", duck)


def test_a_full_disk_says_so(tmp_path: Path, duck: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, f"No space left on device {MARK}")

    monkeypatch.setattr(csv_reader, "write_copies", full)
    assert "a disk that is full" in refusal(given_file(tmp_path, "a,b\n1,2\n"), duck)


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    opened = open_table(given_file(tmp_path, TABLE.encode("utf-16")))
    folder = opened.engine.folder()
    assert [file.suffix for file in folder.rglob("*") if file.is_file() and file.name != ".lock"] == [".parquet"]
    opened.close()
    assert not folder.exists()


# --- whatever Python's csv module writes

LETTERS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)
NASTY = st.one_of(
    LETTERS,
    st.text("\"',;|\t\r\n\\ 0", max_size=6),
    st.text("a\x0b\x0c\x1c\x85\u2028\ufeff", max_size=3),
    st.sampled_from(["NULL", "nan", "#", "=1+1", "sep=;"]),
)


@st.composite
def tables(draw: st.DrawFn) -> list[list[str]]:
    width = draw(st.integers(2, 4))
    return draw(st.lists(st.lists(NASTY, min_size=width, max_size=width), min_size=1, max_size=6))


@settings(max_examples=examples(80), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    table=tables(),
    separator=st.sampled_from(",;\t|"),
    end=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
@example([["\\", '"'], ["a\\", '\\"']], ",", "\n", "utf-8", csv.QUOTE_MINIMAL)
@example([["", '\\"\n0']], ",", "\n", "utf-8", csv.QUOTE_MINIMAL)
def test_what_python_writes_comes_back(
    tmp_path: Path, duck: Any, table: list[list[str]], separator: str, end: str, encoding: str, quoting: Any
) -> None:
    names = [f"name {chr(97 + i)}" for i in range(len(table[0]))]
    words = ["some words"] * len(names)  # so that every column is text
    if quoting == csv.QUOTE_MINIMAL and end == "\n":  # Python leaves a lone CR without quotes there
        table = [[cell.replace("\r", "\n") for cell in row] for row in table]
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator=end, quoting=quoting).writerows([names, words, *table])
    note(repr(out.getvalue()))
    found = read(given_file(tmp_path, out.getvalue().encode(encoding)), duck)
    assert found.column_names == names
    wanted = [tuple(cell or None for cell in row) for row in [words, *table]]
    assert rows(found) == sorted(wanted, key=repr)
