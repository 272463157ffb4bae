"""Rebuild ``src/epsilens/data/files/rand-hie.parquet`` from the statsmodels package.

Usage::

    pip download --no-deps statsmodels -d /tmp/packages
    python -m scripts.build_rand_hie /tmp/packages/statsmodels-*.whl
    python -m scripts.build_rand_hie /path/to/site-packages/statsmodels/datasets/randhie/src

The only things done to the data: columns get readable names, whole numbers are stored as integers, age is cut
to whole years (``age`` in the person's first year in the file, ``age_in_year`` in that study year), and
columns that are functions of others (logarithms, products, imputations) are left out. Rows keep the order of
the source. The output is the same, byte for byte, for the same pyarrow release.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
from scripts.bundle import read_source, write_bundle

MEMBER = "statsmodels/datasets/randhie/src/randhie.csv"

# new name, name in randhie.csv, type, description (after the labels of randdesc.txt)
COLUMNS: list[tuple[str, str, pa.DataType, str]] = [
    ("person", "zper", pa.int32(), "person, a number; its first digit is the site"),
    ("site", "site", pa.int8(), "site of the experiment, 1 to 6"),
    ("year", "year", pa.int8(), "study year, 1 to 5"),
    ("age", "xage", pa.int8(), "age in whole years at enrolment: in the person's first study year in the file"),
    ("age_in_year", "xage", pa.int8(), "age in whole years in that study year (the source has fractions)"),
    ("female", "female", pa.int8(), "1 for a woman or girl, 0 for a man or boy"),
    ("black", "black", pa.float64(), "1 if the household is black, 0 if not; a fraction where imputed"),
    ("education", "educdec", pa.float64(), "years of schooling of the household's decision maker"),
    ("family_size", "num", pa.int8(), "people in the family"),
    ("child", "child", pa.int8(), "1 for a child, 0 for an adult"),
    ("income", "income", pa.float64(), "family income in dollars a year, from annual reports"),
    ("plan", "plan", pa.int8(), "insurance plan, the experiment's number"),
    ("coinsurance", "coins", pa.float64(), "share of a medical bill the family pays, in per cent"),
    ("deductible_plan", "idp", pa.int8(), "1 for the individual deductible plan, 0 otherwise"),
    ("incentive", "pioff", pa.float64(), "participation incentive in dollars a year"),
    ("expenditure_cap", "mdeoff", pa.float64(), "most the family can be asked to spend in a year, in dollars"),
    ("time_eligible", "time", pa.float64(), "part of the year the person was eligible, 0 to 1"),
    ("physical_exam", "tookphys", pa.int8(), "1 if the person took the physical at enrolment"),
    ("visits", "mdvis", pa.int16(), "face-to-face visits to a physician that year"),
    ("other_visits", "notmdvis", pa.int16(), "face-to-face visits to others than physicians that year"),
    ("mental_visits", "mentvis", pa.int16(), "psychotherapy visits that year"),
    ("admissions", "totadm", pa.int8(), "hospital admissions that year"),
    ("outpatient_cost", "outpdol", pa.float64(), "outpatient care that year in dollars, without mental care"),
    ("drug_cost", "drugdol", pa.float64(), "drugs bought that year in dollars, outpatient"),
    ("supply_cost", "suppdol", pa.float64(), "supplies bought that year in dollars, outpatient"),
    ("mental_cost", "mentdol", pa.float64(), "psychotherapy that year in dollars, outpatient"),
    ("inpatient_cost", "inpdol", pa.float64(), "inpatient care that year in dollars"),
    ("medical_cost", "meddol", pa.float64(), "medical care that year in dollars, without outpatient mental care"),
    ("inpatient_cost_missing", "inpmis", pa.int8(), "1 if some inpatient charge is missing"),
    ("mental_health", "mhi", pa.float64(), "mental health index at enrolment, 0 to 100"),
    ("general_health", "ghindx", pa.float64(), "general health index at enrolment, 0 to 100"),
    ("chronic_diseases", "disea", pa.float64(), "index of chronic diseases at enrolment"),
    ("physical_limits", "physlm", pa.float64(), "1 if physically limited at enrolment; a fraction where imputed"),
    ("health_good", "hlthg", pa.int8(), "1 if the person rates their health as good"),
    ("health_fair", "hlthf", pa.int8(), "1 if the person rates their health as fair"),
    ("health_poor", "hlthp", pa.int8(), "1 if the person rates their health as poor"),
]


def build(source: Path) -> None:
    """Read the CSV from a wheel or a directory and write the Parquet file with its sidecar."""
    raw = pacsv.read_csv(pa.BufferReader(read_source(source, MEMBER)))
    person, year = raw["zper"].to_pylist(), raw["year"].to_pylist()
    ages = pc.floor(raw["xage"]).to_pylist()
    first: dict[int, tuple[int, float]] = {}
    for who, when, age in zip(person, year, ages, strict=True):
        if who not in first or when < first[who][0]:
            first[who] = (when, age)
    arrays = []
    for name, old, kind, _ in COLUMNS:
        if name == "age":
            column = pa.array([first[who][1] for who in person])
        elif name == "age_in_year":
            column = pa.array(ages)
        else:
            column = raw[old].combine_chunks()
        arrays.append(column.cast(kind))  # a safe cast: it refuses to lose a fraction
    write_bundle(
        "rand-hie",
        pa.table(arrays, names=[name for name, *_ in COLUMNS]),
        {name: f"{text} [{old}]" for name, old, _, text in COLUMNS},
        title="RAND Health Insurance Experiment, person-years",
        licence="Public domain",
        licence_text="statsmodels distributes the data with the words: This is in the public domain.",
        attribution="RAND Corporation, Health Insurance Experiment, 1974-1982; file by A. C. Cameron and "
        "P. K. Trivedi, Microeconometrics: Methods and Applications, Cambridge University Press, 2005.",
        origin=f"statsmodels, {MEMBER}; columns as labelled in randdesc.txt beside it",
        person="person",
        script="scripts/build_rand_hie.py",
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build(Path(sys.argv[1]))
