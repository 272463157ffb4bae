"""Whole tables understood: roles, forms, what is known and what is secret; nothing raises, and no cell is kept."""

from __future__ import annotations

import datetime
import random
import time
from typing import Any

import ibis
import pandas as pd
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from epsilens.data.schema.column_profile import ANSWERS, NOTHING
from epsilens.data.schema.inference import ColumnRole, TableSchema, infer_schema
from epsilens.data.tables.columns import ColumnFormat, DateOrder, ParsedType, parse_columns
from epsilens.data.tables.table import open_table

R = ColumnRole

DICE = random.Random(11)
ROWS = 600


def seen(columns: Any) -> TableSchema:
    with open_table(columns) as opened:
        return infer_schema(opened)


def any_of(*values: Any) -> list[Any]:
    return [DICE.choice(values) for _ in range(ROWS)]


def hospital() -> dict[str, Any]:
    days = [datetime.date(1940, 1, 1) + datetime.timedelta(days=DICE.randrange(25_000)) for _ in range(ROWS)]
    return {
        "Unnamed: 0": list(range(ROWS)),
        "Patient ID": [f"P{DICE.randrange(200):04d}" for _ in range(ROWS)],
        "Date of birth": [day.strftime("%d.%m.%Y") for day in days],
        "Sex": any_of("M", "F", "m", "f "),
        "Postcode": [f"{DICE.randrange(1000, 99_999):05d}" for _ in range(ROWS)],
        "Ward": any_of("Cardiology", "cardiology", "Eye", "N/A"),
        "ICD-10": any_of(*[f"F{n}.{m}" for n in range(10, 40) for m in range(5)]),
        "Admission": pd.to_datetime(days),
        "Length of stay": [DICE.randrange(40) for _ in range(ROWS)],
        "Charge": [f"{DICE.random() * 9000:,.2f}" if DICE.random() < 0.8 else "N/A" for _ in range(ROWS)],
        "BMI": any_of(*[f"{n},{m}" for n in range(18, 40) for m in range(10)], "k.A.", "unknown"),
        "Notes": [" ".join(DICE.choices(["pain", "fever", "seen", "again", "today"], k=9)) for _ in range(ROWS)],
        "Smoker": any_of("yes", "no", "unknown"),
        "Deceased": any_of(0, 1),
        "year": any_of(2020, 2021, 2022),
        "triage": any_of(1, 2, 3, 4, 5),
        "country": any_of("NA", "DE", "FR"),
        "Consultant": any_of("Dr Wu", "Dr Smith", "Dr Jones"),
        "nothing": [None] * ROWS,
        "constant": ["x"] * ROWS,
    }


def test_a_hospital() -> None:
    table = hospital()
    found = seen(table)
    assert found.person is not None
    assert found.person.name == "Patient ID"
    assert not found.nobody
    roles = {c.name: c.role for c in found.columns}
    assert roles == {
        "Unnamed: 0": R.IDENTIFIER, "Patient ID": R.IDENTIFIER, "Date of birth": R.DATE, "Sex": R.CATEGORY,
        "Postcode": R.CODE, "Ward": R.CATEGORY, "ICD-10": R.CODE, "Admission": R.DATE,
        "Length of stay": R.NUMBER, "Charge": R.NUMBER, "BMI": R.NUMBER, "Notes": R.FREE,
        "Smoker": R.CATEGORY, "Deceased": R.CATEGORY, "year": R.CATEGORY, "triage": R.CATEGORY,
        "country": R.CATEGORY, "Consultant": R.IDENTIFIER, "nothing": R.EMPTY, "constant": R.EMPTY,
    }  # fmt: skip
    forms = {c.name: c.form for c in found.columns if c.form is not None}
    assert forms == {
        "Date of birth": ColumnFormat(ParsedType.DATE, order=DateOrder.DAY_FIRST),
        "Sex": ColumnFormat(ParsedType.CATEGORY),
        "Ward": ColumnFormat(ParsedType.CATEGORY, empty=("N/A",)),
        "Charge": ColumnFormat(ParsedType.NUMBER, empty=("N/A",)),
        "BMI": ColumnFormat(ParsedType.NUMBER, decimal=",", empty=("k.A.", "unknown")),
    }
    assert {c.name for c in found.columns if c.known} >= {"Date of birth", "Sex", "Postcode", "country", "Ward"}
    assert {c.name for c in found.columns if c.secret} == {"ICD-10", "Smoker", "Deceased"}
    assert {c.name: c.bounds for c in found.columns if c.bounds} == {
        "Length of stay": (0, 365),
        "Charge": (0, 10_000),
        "BMI": (0, 80),
    }
    assert {c.name for c in found.columns if c.choose} == {"Length of stay", "Charge"}
    assert {c.name: c.spellings for c in found.columns if c.spellings} == {"Sex": 2, "Ward": 1}
    assert found.column("Sex").distinct == 2
    assert all(c.unread == 0 for c in found.columns)
    assert found.column("Ward").empty == table["Ward"].count("N/A")


def test_values_that_a_form_leaves_out_are_counted() -> None:
    dates = ["13/02/2024"] * 90 + ["02/13/2024"] * 5 + ["soon"] * 5
    found = seen({"visit date": dates, "cost": ["8,841.70"] * 95 + ["8.841,70"] * 2 + ["much"] * 3})
    assert found.column("visit date").unread == 10
    assert found.column("cost").unread == 5


def test_dates_that_can_be_read_in_two_ways() -> None:
    found = seen({"visited on": ["01/02/2024", "03/04/2024"], "dob": ["1/2/99", "13/2/99"]})
    assert found.column("visited on").unsure
    assert not found.column("dob").unsure


def test_codes_are_not_numbers() -> None:
    found = seen(
        {
            "zip": [f"{n:05d}" for n in range(500, 600)],
            "PLZ": list(range(10_000, 10_100)),
            "phone": [f"0{n}" for n in range(100)],
            "status": [1, 2, 3, 4] * 25,
            "birth year": list(range(1900, 2000)),
            "icd9": [250 + n % 30 for n in range(100)],
        }
    )
    assert {c.name: c.role for c in found.columns} == {
        "zip": ColumnRole.CODE,
        "PLZ": ColumnRole.CODE,
        "phone": ColumnRole.IDENTIFIER,
        "status": ColumnRole.CATEGORY,
        "birth year": ColumnRole.CATEGORY,
        "icd9": ColumnRole.CODE,
    }
    assert all(c.form is None for c in found.columns)
    assert found.column("birth year").bounds is None


def day(i: int) -> int:
    return int(f"{datetime.date(1950, 1, 1) + datetime.timedelta(days=37 * i):%Y%m%d}")


def test_whole_numbers_that_are_no_amounts() -> None:
    rows = range(ROWS)
    columns = {
        "PRSCRBR": [1_000_000_000 + 9_999_991 * (i % 90) for i in rows],
        "chip": [900_000_000_000_000 + 7919 * i for i in rows],
        "zchip": [str(900_000_000_000_000 + 7919 * (i % 300)) for i in rows],
        "BENE_BIRTH_DT": [day(i) for i in rows],
        "svc": [day(i % 200) if i % 7 else None for i in rows],
        "svc2": [str(day(i)) for i in rows],
        "event_time": [1_714_564_800_123 + 1_000_003 * i for i in rows],
        "zs": [1_714_564_800 + 1003 * i for i in rows],
        "zmonth": [202_301 + i % 12 + 100 * (i % 2) for i in rows],
        "zeta": [19_000_000 + 3301 * (i % 200) for i in rows],  # no days: months beyond twelve
        "zoll": [123.5 + 7 * i for i in rows],
        "turnover": [100_000_000 + 1_234_567 * i for i in rows],  # its name says that it is an amount
    }
    found = seen(columns)
    assert {c.name: c.role for c in found.columns} == {
        "PRSCRBR": R.IDENTIFIER, "chip": R.IDENTIFIER, "zchip": R.IDENTIFIER,
        "BENE_BIRTH_DT": R.DATE, "svc": R.DATE, "svc2": R.DATE, "event_time": R.DATE,
        "zs": R.DATE, "zmonth": R.CATEGORY, "zeta": R.NUMBER, "zoll": R.NUMBER, "turnover": R.NUMBER,
    }  # fmt: skip
    assert {c.name for c in found.columns if c.form} == {"BENE_BIRTH_DT", "svc", "svc2"}
    assert found.column("BENE_BIRTH_DT").known
    assert not any(c.unread for c in found.columns)
    with open_table(columns) as opened:
        forms = {c.name: c.form for c in found.columns if c.form is not None}
        read = opened.engine.fetch(parse_columns(opened.table, forms)).to_pydict()
    assert read["BENE_BIRTH_DT"][:2] == ["1950-01-01", "1950-02-07"]
    assert read["svc"][:2] == [None, "1950-02-07"]


def test_a_persons_number_in_several_spellings_is_read() -> None:
    ways = (str.upper, str.lower, lambda t: f" {t} ")
    cells = ["N/A" if i % 50 == 0 else ways[i % 3](f"mrn{i // 4}") for i in range(ROWS)]
    people = {c.strip().lower() for c in cells} - {"n/a"}
    found = seen({"MRN": cells, "v": any_of(1.5, 2.5, 3.5)})
    assert found.person is not None
    assert (found.person.values, found.person.everyone) == (len(people), False)
    column = found.column("MRN")
    assert (column.role, column.form) == (ColumnRole.IDENTIFIER, ColumnFormat(ParsedType.CODE, empty=("N/A",)))
    assert column.spellings == len(set(cells) - {"N/A"}) - len(people)
    assert column.distinct == len(people)
    plain = seen({"MRN": [c.strip().lower() for c in cells], "v": any_of(1, 2)}).column("MRN")
    assert plain.form == ColumnFormat(ParsedType.TEXT, empty=("N/A",))


def test_what_stays_the_same_within_a_person_may_be_known() -> None:
    who = [DICE.randrange(150) for _ in range(ROWS)]
    found = seen(
        {
            "customer_id": who,
            "qqx": ["abc"[w % 3] for w in who],
            "qqy": ["DEF"[w % 3].lower() if DICE.random() < 0.5 else "DEF"[w % 3] for w in who],
            "url": any_of("/a", "/b"),
            "status": any_of(200, 204, 404),
            "zzz": any_of("x", "y"),
        }
    )
    assert {c.name for c in found.columns if c.known} == {"qqx", "qqy"}


def test_weights_of_a_survey_are_no_amounts() -> None:
    weight = [round(DICE.uniform(0.4, 3), 3) for _ in range(ROWS)]
    found = seen({"respondent_id": range(ROWS), "q1": any_of(1, 2, 3), "weight": weight, "weight_kg": weight})
    assert [c.name for c in found.columns if c.weighs] == ["weight"]
    assert not seen({"record_id": range(ROWS), "weight": weight}).column("weight").weighs


def test_names_that_may_be_categories() -> None:
    found = seen(
        {
            "case": any_of(0, 1),
            "Subject": any_of("Maths", "maths ", "MATHS", "Art", "art", "History"),
            "Pupil": [f"P{DICE.randrange(100)}" for _ in range(ROWS)],
            "mobile": any_of("yes", "no"),
        }
    )
    assert [c.role for c in found.columns] == [
        ColumnRole.CATEGORY,
        ColumnRole.CATEGORY,
        ColumnRole.IDENTIFIER,
        ColumnRole.CATEGORY,
    ]
    assert found.column("Subject").distinct == 3


def test_telephones_by_their_look() -> None:
    found = seen({"zq": [f"+49 30 9018{DICE.randrange(100, 300)}" for _ in range(ROWS)], "v": any_of(1, 2)})
    assert found.column("zq").role is ColumnRole.IDENTIFIER
    assert found.person is not None


def test_a_wide_table_is_quick() -> None:
    columns = {f"rs{k}": any_of("AA", "AG", "GG", "")[:400] for k in range(243)}
    columns["sample_id"] = [f"S{i:05d}" for i in range(400)]
    with open_table(columns) as opened:
        began = time.process_time()
        found = infer_schema(opened)
        assert time.process_time() - began < 5
    assert found.single is not None
    assert found.single.name == "sample_id"


def test_odd_tables() -> None:
    assert seen({"a": pa.array([], "string"), "b": pa.array([], "int64")}).rows == 0
    one = seen({"Patient ID": ["p1"], "12": [3], "日付": ["2020-01-01"], "  ": [1.5]})
    assert one.single is not None
    assert one.column("日付").role is ColumnRole.DATE
    nested = seen(
        {
            "list": pa.array([[1], [2]]),
            "record": pa.array([{"a": 1}, {"a": 2}]),
            "bytes": pa.array([b"1", b"2"]),
            "time": pa.array([datetime.time(1), datetime.time(2)]),
            "flag": pa.array([True, False]),
            "amount": pa.array([1, 2], pa.decimal128(9, 2)),
        }
    )
    assert [c.role for c in nested.columns[:3]] == [ColumnRole.OTHER] * 3
    assert nested.column("flag").role is ColumnRole.CATEGORY
    assert nested.nobody


def test_many_columns() -> None:
    columns: dict[str, Any] = {f"q{i}": [1, 2, 3] for i in range(400)}
    columns |= {f"word {i}": ["a", "B ", "b"] for i in range(70)}
    found = seen(columns)
    assert len(found.columns) == 470
    assert found.column("word 69").spellings == 1


def test_the_same_on_sqlite() -> None:
    frame = pd.DataFrame(hospital()).drop(columns=["Admission", "nothing"])
    connection = ibis.sqlite.connect()
    frame.to_sql("t", connection.con, index=False)
    here, there = seen(frame), seen(connection.table("t"))
    assert (here.person, here.single, here.others, here.unit) == (there.person, there.single, there.others, there.unit)
    for mine, other in zip(here.columns, there.columns, strict=True):
        assert (mine.name, mine.role, mine.form, mine.known, mine.secret, mine.bounds, mine.spellings, mine.empty) == (
            other.name, other.role, other.form, other.known, other.secret, other.bounds, other.spellings, other.empty,
        )  # fmt: skip


def test_what_is_being_done_is_told() -> None:
    told: list[str] = []
    with open_table({"a": ["x"]}) as opened:
        infer_schema(opened, told.append)
    assert len(told) == 3


CELLS = st.one_of(
    st.none(),
    st.text(max_size=12),
    st.sampled_from([*NOTHING, *ANSWERS, "01234", "8,841.70", "1.234,5", "01/02/2024", "2020-01-31", "F32.1"]),
)
COLUMN = st.one_of(
    st.lists(CELLS, min_size=3, max_size=3),
    st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), min_size=3, max_size=3),
    st.lists(st.one_of(st.none(), st.floats()), min_size=3, max_size=3),
    st.lists(st.dates(datetime.date(1900, 1, 1)), min_size=3, max_size=3),
)
NAMES = st.sampled_from(["id", "Patient ID", "age", "Notes", "dob", "cost", "hhid", "Unnamed: 0"])
SECRET = "qq7-Zebra"


@settings(max_examples=examples(15))
@given(st.dictionaries(NAMES | st.text(min_size=1, max_size=8), COLUMN, min_size=1, max_size=3))
def test_any_small_table_is_understood_and_no_cell_is_kept(columns: dict[str, list[Any]]) -> None:
    folded: set[str] = set()
    kept: dict[str, list[Any]] = {}
    for name, cells in columns.items():
        if name.casefold() not in folded and "\x00" not in name:
            folded.add(name.casefold())
            kept[name] = [c.replace("\x00", "") if isinstance(c, str) else c for c in cells]
    kept["mark"] = [SECRET, f" {SECRET} ", SECRET.upper()]
    found = seen(kept)
    assert [c.name for c in found.columns] == list(kept)
    assert SECRET.lower() not in repr(found).lower()
