"""What a file that somebody brings is called, and whether it is what its name says."""

from __future__ import annotations

import unicodedata

from .refused import Refused

#: What the page reads, in words.
READ = "a CSV (.csv, .tsv, .csv.gz) or Parquet (.parquet) file"
ENDINGS = (".csv.gz", ".tsv.gz", ".csv", ".tsv", ".txt", ".parquet", ".pq")
#: Files people have tables in that are not read, and what to do with them first.
_REMEDIES = {
    (".xlsx", ".xls", ".xlsm", ".ods", ".numbers"): "save the sheet as CSV",
    (".zip", ".7z", ".rar", ".tar", ".tar.gz", ".tgz", ".bz2", ".xz", ".zst"): "unpack it",
    (".sav", ".dta", ".sas7bdat", ".rds", ".rdata", ".json", ".jsonl", ".xml", ".pdf", ".docx", ".db", ".sqlite",
     ".duckdb", ".feather", ".arrow"): "export the table as CSV or Parquet",
}  # fmt: skip


def cleaned(name: str) -> str:
    """The name of a file without folders, control characters and signs that turn the direction of text.

    >>> cleaned("C:\\\\me\\\\stays\\u202e 2024\\n.csv"), cleaned("x" * 200 + ".csv")[-8:]
    ('stays 2024.csv', 'xxxx.csv')
    """
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    text = "".join(c for c in last if unicodedata.category(c)[0] != "C").strip()
    return text if len(text) <= 100 else f"{text[:89]}…{text[-10:]}"


def ending_of(name: str) -> str:
    """How the name of a table that can be read ends; other files are refused with what to do.

    >>> ending_of("Stays.CSV.GZ")
    '.csv.gz'
    """
    lower = name.lower()
    for ending in ENDINGS:
        if lower.endswith(ending):
            return ending
    remedy = next((words for endings, words in _REMEDIES.items() if lower.endswith(endings)), None)
    advice = f"{remedy} first, because the page reads CSV and Parquet" if remedy else f"give {READ}"
    raise Refused(f"the file is {name!r}: {advice}", 422, "file")


def check_start(start: bytes, name: str, ending: str) -> None:
    """Refuse a file whose first bytes say that it is something else."""
    parquet, packed = start[:4] == b"PAR1", start[:2] == b"\x1f\x8b"
    if not start:
        raise Refused(f"{name!r} is empty: give a table with a line of column names and rows", 422, "file")
    if start[:4] == b"PK\x03\x04":
        wrong = "it is a spreadsheet or an archive; save the sheet as CSV"
    elif parquet != (ending in (".parquet", ".pq")):
        wrong = "it is a Parquet file, so name it .parquet" if parquet else "it is not a Parquet file"
    elif packed != ending.endswith(".gz"):
        wrong = "it is packed with gzip, so name it .csv.gz" if packed else "it is not packed with gzip; name it .csv"
    else:
        return
    raise Refused(f"the file is {name!r}: {wrong}", 422, "file")
