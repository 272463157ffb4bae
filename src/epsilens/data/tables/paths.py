"""The files of a path, a pattern or a folder, and why others cannot be read.

>>> files_at("table.xlsx")
Traceback (most recent call last):
epsilens.errors.InputError: table is 'table.xlsx', a spreadsheet: save it as CSV (in Excel: File, Save As, CSV UTF-8), or pass pandas.read_excel(…)

A name that exists is that file, whatever signs it has; only then is it a pattern. What is no file of bytes at rest (a
device, a pipe, a socket) is refused before it is touched: some of them never end.
"""  # noqa: E501 - the message is one sentence, on one line

from __future__ import annotations

import glob
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from ...errors import InputError
from .frames import FORMS
from .source import CSV, PARQUET

_PANDAS = "pass {0}, or save that as Parquet"
#: Engines keep notes beside their files, in names that start so.
_NOTES = ("_", ".")
_STAY = "unpack it, and give what is inside"
#: By the end of the name: what it is, and what to do.
_KINDS: tuple[tuple[str, str, str], ...] = (
    (".xlsx .xls .xlsm .xlsb .ods", "a spreadsheet",
     "save it as CSV (in Excel: File, Save As, CSV UTF-8), or pass pandas.read_excel(…)"),
    (".numbers", "a spreadsheet", "export it as CSV (File, Export To, CSV)"),
    (".sav .zsav .por", "a file of SPSS", "save it as CSV there, or pass pandas.read_spss(…)"),
    (".dta", "a file of Stata", "save it as CSV there (export delimited), or pass pandas.read_stata(…)"),
    (".sas7bdat .xpt", "a file of SAS", "export it as CSV there, or pass pandas.read_sas(…)"),
    (".rds .rda .rdata", "a file of R", "write it there with write.csv or arrow::write_parquet"),
    (".json .jsonl .ndjson", "JSON", _PANDAS.format("pandas.read_json(…)")),
    (".xml", "XML", _PANDAS.format("pandas.read_xml(…)")),
    (".html .htm", "a web page", _PANDAS.format("one of pandas.read_html(…)")),
    (".yaml .yml", "a YAML file", "a plan is read by 'epsilens assess'; give the table it names"),
    (".feather .arrow .ipc", "an Arrow file", "pass pyarrow.feather.read_table(…), or save it as Parquet"),
    (".orc", "an ORC file", "pass pyarrow.orc.read_table(…), or save it as Parquet"),
    (".avro", "an Avro file", "save it as Parquet"),
    (".pkl .pickle .joblib", "a Python pickle", "load it yourself, if you trust it, and pass the frame"),
    (".pdf .doc .docx .odt .rtf .md", "a document", "put its table into a CSV file"),
    (".zip .7z .rar .tar .tgz .tar.gz .bz2 .xz .zst .gz", "an archive", _STAY),
    (".png .jpg .jpeg .gif", "a picture", "give a table"),
)  # fmt: skip
#: By the first bytes, where the name does not tell.
_STARTS: tuple[tuple[bytes, str, str], ...] = (
    (b"SQLite format 3\x00", "a database of SQLite", "give 'sqlite://{0}#table'"),
    (b"PK\x03\x04", "an archive or a spreadsheet", "save the table as CSV or Parquet"),
    (b"\x1f\x8b", "an archive", _STAY),
    (b"%PDF", "a document", "put its table into a CSV file"),
)


@dataclass(frozen=True)
class Files:
    """The files of one table, all Parquet or all text; ``root`` is what the folders with values start below."""

    paths: tuple[str, ...]
    root: str
    parquet: bool


def name_of(path: str) -> str:
    """What a table of files is called in a sentence: the last part of its path."""
    return Path(path).name or path


def _wrong(path: str, why: str) -> InputError:
    return InputError(f"table is {path!r}{why}", parameter="table")


def files_at(path: str) -> Files:
    """The files, all there and readable, or a sentence on what to give instead."""
    if not path.strip() or "\x00" in path:
        raise _wrong(path, f": give {FORMS}")
    if path.startswith("~") and not os.path.exists(path):
        path = os.path.expanduser(path)
    try:
        mode = os.stat(path).st_mode
    except PermissionError:
        raise _wrong(path, ": permission is denied; ask for the right to read it") from None
    except (OSError, ValueError):
        return _of_pattern(path)
    if stat.S_ISDIR(mode):
        return _of_folder(path)
    _check(path)
    return Files((path,), os.path.dirname(path), _is_parquet(path))


def _of_pattern(path: str) -> Files:
    found = sorted(f for f in glob.glob(path, recursive=True) if not os.path.isdir(f)) if glob.has_magic(path) else []
    if not os.path.basename(path).startswith(_NOTES):
        found = [f for f in found if not os.path.basename(f).startswith(_NOTES)]
    if not found:
        ending = Path(path).suffix.lower()
        for endings, kind, remedy in _KINDS:
            if ending and ending in endings.split() and not path.lower().endswith(CSV):
                raise _wrong(path, f", {kind}: {remedy}")
        raise _wrong(path, f": there is no such file; give {FORMS}")
    for each in found:
        _check(each)
    kinds = {_is_parquet(each) for each in found}
    if len(kinds) > 1:
        raise _wrong(path, ": it matches Parquet files and others; give a pattern of one kind, such as '*.parquet'")
    before = re.split(r"[*?\[]", path)[0]
    return Files(tuple(found), before.rpartition("/")[0], kinds.pop())


def _of_folder(path: str) -> Files:
    """The Parquet files below a folder, or else the text files in it."""
    found: list[str] = []
    texts: list[str] = []
    seen: set[str] = set()
    for folder, inside, names in os.walk(path, onerror=_unreadable, followlinks=True):
        inside[:] = sorted(d for d in inside if not d.startswith(_NOTES))
        if os.path.realpath(folder) in seen:  # a link back to a folder above
            inside.clear()
            continue
        seen.add(os.path.realpath(folder))
        for name in sorted(names):
            kinds = ((found, PARQUET), (texts, CSV if os.path.samefile(folder, path) else ()))
            for kept, endings in kinds:
                if name.lower().endswith(endings) and not name.startswith(_NOTES):
                    kept.append(os.path.join(folder, name))
    if not found and not texts:
        raise _wrong(path, ", a folder without files of CSV or Parquet: give one that has some, or a file")
    for each in found or texts:
        _check(each)
    return Files(tuple(found or texts), path, bool(found))


def _unreadable(error: OSError) -> None:
    raise _wrong(str(error.filename), ": permission is denied; ask for the right to read it") from None


def _check(path: str) -> None:
    """Refuse what is no file of a kind that is read here; nothing is opened before it is known to be a file."""
    try:
        path.encode()
    except UnicodeEncodeError:  # no engine finds it
        raise _wrong(path, ": its name is not UTF-8; rename it") from None
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        kind = "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
        raise _wrong(path, f", {kind}: give a file of CSV or Parquet")
    if not os.access(path, os.R_OK):
        raise _wrong(path, ": permission is denied; ask for the right to read it")
    lower = path.lower()
    if not lower.endswith(CSV):
        for endings, kind, remedy in _KINDS:
            if lower.endswith(tuple(endings.split())):
                raise _wrong(path, f", {kind}: {remedy}")
    if os.path.getsize(path) == 0:
        raise _wrong(path, ": the file is empty; give a CSV with a header line, or Parquet")
    if lower.endswith(CSV + PARQUET):
        return
    with open(path, "rb") as file:
        start = file.read(16)
    if start[8:12] == b"DUCK":
        raise _wrong(path, f", a database of DuckDB: give 'duckdb://{path}#table'")
    for begins, kind, remedy in _STARTS:
        if start.startswith(begins):
            raise _wrong(path, f", {kind}: {remedy.format(path)}")
    if not start.startswith(b"PAR1"):
        raise _wrong(path, ", a file whose name ends in none of .csv, .tsv, .txt, .parquet: name it after what it is")


def _is_parquet(path: str) -> bool:
    return not path.lower().endswith(CSV)
