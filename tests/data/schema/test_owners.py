"""Whose row it is: tables of 240 rows and 60 people, whose counts are made by hand."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from epsilens.data.schema.column_profile import meaning, profile_columns
from epsilens.data.schema.inference import Owner, OwnerSearch, find_owners, likely_owner
from epsilens.data.tables.table import open_table

DICE = random.Random(7)
ROWS = 240
PEOPLE = [1000 + DICE.randrange(60) for _ in range(ROWS)]
UNIQUE = list(range(ROWS))
SEX = [DICE.choice("MF") for _ in range(60)]
VALUES, MOST = len(set(PEOPLE)), max(Counter(PEOPLE).values())


def text(values: list[int], letter: str) -> list[str]:
    return [f"{letter}{value}" for value in values]


def some(n: int) -> list[int]:
    return [DICE.randrange(n) for _ in range(ROWS)]


def of(columns: dict[str, Any]) -> OwnerSearch:
    with open_table(columns) as opened:
        names = list(opened.table.columns)
        return find_owners(opened, profile_columns(opened, names), {name: meaning(name) for name in names})


#: Columns, the person, the single identifier.
CASES: dict[str, tuple[dict[str, Any], str | None, str | None]] = {
    "orders": ({"order_id": UNIQUE, "customer_id": PEOPLE, "amount": some(900)}, "customer_id", None),
    "visits": ({"Visit ID": text(UNIQUE, "V"), "Patient ID": text(PEOPLE, "P")}, "Patient ID", None),
    "an index and a unique id": ({"Unnamed: 0": UNIQUE, "id": UNIQUE}, None, "id"),
    "an index alone": ({"index": UNIQUE, "row": UNIQUE, "age": some(90)}, None, None),
    "an id that repeats": ({"id": PEOPLE, "v": some(3)}, "id", None),
    "an id beside a patient": ({"id": UNIQUE, "patient": text(PEOPLE, "P")}, "patient", None),
    "an id of five": ({"id": some(5), "steps": some(9000)}, "id", None),
    "a doctor": ({"doctor_id": some(30), "store_id": some(30), "age": some(90)}, None, None),
    "a doctor beside an id": ({"id": UNIQUE, "physician": text(some(30), "dr"), "hospital_id": some(9)}, None, "id"),
    "names": ({"name": text(PEOPLE, "Ann "), "age": some(90)}, "name", None),
    "namesakes": ({"id": UNIQUE, "name": text([min(i, ROWS - 9) for i in UNIQUE], "Ann ")}, None, "id"),
    "addresses": ({"order": UNIQUE, "e-mail": text(PEOPLE, "a@b.org")}, "e-mail", None),
    "a flag": ({"member": [DICE.choice("YN") for _ in UNIQUE], "age": some(90)}, None, None),
    "a study of three": ({"study_id": some(3), "age": some(90)}, None, None),
    "the second in each household": ({"hhid": [p // 2 for p in PEOPLE], "person_no": some(6)}, None, None),
    "numbers for a third": ({"nhs_number": [p if p % 3 == 0 else None for p in PEOPLE], "pid": PEOPLE}, "pid", None),
    "customers before staff": ({"employee_id": some(40), "customer_id": PEOPLE}, "customer_id", None),
    "accounts": ({"trans_id": UNIQUE, "account_id": PEOPLE, "amount": some(900)}, "account_id", None),
    "amounts": ({"qq": [10 * v for v in some(300)], "zz": [int(1.1**v) for v in some(90)]}, None, None),
    "postcodes": ({"zip": [10_000 + p for p in PEOPLE], "income": some(90_000)}, None, None),
    "one repeats by proof": ({"zper": PEOPLE, "sex": [SEX[p - 1000] for p in PEOPLE]}, "zper", None),
    "one repeats, disproved": ({"zper": PEOPLE, "sex": [DICE.choice("MF") for _ in PEOPLE]}, None, None),
    "numbers without proof": ({"zper": PEOPLE, "v": some(3)}, None, None),
    "devices": ({"deviceId": text(PEOPLE, "d"), "cell_id": text(some(50), "c"), "bytes": some(900)}, "deviceId", None),
    "devices of customers": ({"device_id": text(some(90), "d"), "customer": text(PEOPLE, "c")}, "customer", None),
    "what is taught": ({"Subject": [DICE.choice("abcdef") for _ in UNIQUE], "Pupil": text(PEOPLE, "P")}, "Pupil", None),
    "a sample each": ({"sample_id": text(UNIQUE, "S"), "sex": some(2), "case": some(2)}, None, "sample_id"),
    "something each": ({"zq_id": text(UNIQUE, "Z"), "sex": some(2)}, None, "zq_id"),
    "a visit each": ({"visit_id": text(UNIQUE, "V"), "order_id": UNIQUE, "sex": some(2)}, None, None),
    "samples of patients": ({"sample_id": text(UNIQUE, "S"), "pat": text(PEOPLE, "P")}, "pat", None),
    "telephones": ({"Owner  phone": [f"+44 7700 90{p}" for p in PEOPLE], "fee": some(90)}, "Owner  phone", None),
    "a telephone or none": ({"mobile": [DICE.choice("YN") for _ in UNIQUE], "id": UNIQUE}, None, "id"),
    "nobody's": ({"patient_id": pa.array([None] * ROWS, "string"), "age": some(90)}, None, None),
    "hardly anybody's": ({"patient_id": [i if i % 4 == 0 else None for i in UNIQUE], "age": some(90)}, None, None),
    "codes without proof": ({"xref": text(PEOPLE, "AB-"), "v": some(3)}, "xref", None),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_person(case: str) -> None:
    columns, person, single = CASES[case]
    found = of(columns)
    assert (found.person and found.person.name, found.single and found.single.name) == (person, single)


def test_counts_are_exact() -> None:
    found = of({"Patient ID": text(PEOPLE, "P"), "mrn": [p + 5 for p in PEOPLE], "doctor": text(some(30), "d")})
    assert found.person == Owner("Patient ID", VALUES, MOST, named=True)
    assert [other.name for other in found.others] == ["mrn", "doctor"]


def test_empty_identifiers_are_nobody() -> None:
    ids = [None if i % 10 == 0 else "N/A" if i % 10 == 1 else f"P{p}" for i, p in enumerate(PEOPLE)]
    kept = Counter(i for i in ids if i not in (None, "N/A"))
    found = of({"patient": ids}).person
    assert found == Owner("patient", len(kept), max(kept.values()), named=True, everyone=False)
    floats = of({"patient_id": [None if i % 10 == 0 else float(p) for i, p in enumerate(PEOPLE)]}).person
    assert floats is not None
    assert not floats.everyone


def test_households() -> None:
    found = of({"household_id": [p // 2 for p in PEOPLE], "pid": PEOPLE})
    assert found.person is not None
    assert found.person.name == "pid"
    assert found.unit is not None
    assert (found.unit.name, found.unit.values) == ("household_id", len({p // 2 for p in PEOPLE}))
    alone = of({"household_id": PEOPLE, "pid": PEOPLE})
    assert alone.unit is None


def test_doctors_are_only_named_as_others() -> None:
    found = of({"doctor_id": some(30), "age": some(90)})
    assert found.person is None
    assert [other.name for other in found.others] == ["doctor_id"]


def test_one_row_and_none() -> None:
    one = of({"patient_id": [1]}).single
    assert one == Owner("patient_id", 1, 1, named=True)
    none = of({"patient_id": pa.array([], "int64")})
    assert none.person is None


def spelt(values: list[int], letter: str) -> list[str]:
    """The same person in capitals, in small letters, with blanks around."""
    ways = (str.upper, str.lower, lambda t: f" {t}", lambda t: f"{t.lower()}  ")
    return [ways[i % 4](f"{letter}{value}") for i, value in enumerate(values)]


@pytest.mark.parametrize("name", ["mrn", "id", "xref"])
def test_one_person_in_several_spellings_is_one(name: str) -> None:
    cells = spelt(PEOPLE, "mrn")
    found = of({name: cells, "v": some(3)}).person
    assert found is not None
    assert (found.name, found.values, found.most) == (name, VALUES, MOST)
    assert found.spellings == len(set(cells)) - VALUES > 0


def test_spellings_that_hide_who_comes_back() -> None:
    """Different in every row as written, and half as many people."""
    found = of({"Patient ID": [f"P{i // 2}" if i % 2 else f"p{i // 2} " for i in UNIQUE]})
    assert found.person == Owner("Patient ID", ROWS // 2, 2, named=True, spellings=ROWS // 2)


def test_households_in_several_spellings() -> None:
    found = of({"hhid": spelt([p // 3 for p in PEOPLE], "h"), "v": some(3)}).unit
    assert found is not None
    assert found.values == len({p // 3 for p in PEOPLE})


LIKE: dict[str, tuple[dict[str, Any], str | None]] = {
    "a household": ({"hhid": [p // 2 for p in PEOPLE], "person_no": some(6)}, "hhid"),
    "a household of people": ({"hhid": [p // 2 for p in PEOPLE], "pid": PEOPLE}, "pid"),
    "a family and everybody": ({"ID": UNIQUE, "Family ID": [p // 2 for p in PEOPLE]}, None),
    "spellings": ({"id": spelt(PEOPLE, "x"), "v": some(3)}, "id"),
    "different as written": ({"patient": [f"P{i // 2}" if i % 2 else f"p{i // 2}" for i in UNIQUE]}, "patient"),
    "different in every row": ({"patient_id": UNIQUE, "email": text(UNIQUE, "a@b.org"), "hhid": UNIQUE}, None),
    "addresses": ({"order_id": UNIQUE, "email": text(PEOPLE, "a@b.org")}, "email"),
    "a flag": ({"member": [DICE.choice("YN") for _ in UNIQUE], "case": some(2)}, None),
    "things": ({"order_id": UNIQUE, "store_id": some(30), "doctor": text(some(30), "d")}, None),
}  # fmt: skip


@pytest.mark.parametrize("case", LIKE)
def test_what_looks_like_a_person_or_a_household(case: str) -> None:
    columns, name = LIKE[case]
    with open_table(columns) as opened:
        found = likely_owner(opened)
    assert (found and found.name) == name
    assert found is None or found.repeats


def test_owner_like() -> None:
    visits = {"visit_id": UNIQUE, "Patient ID": text(PEOPLE, "P"), "doctor_id": some(30)}
    with open_table(visits) as opened:
        found = likely_owner(opened)
        assert found is not None
        assert (found.name, found.values, found.most) == ("Patient ID", VALUES, MOST)
        assert likely_owner(opened, "Patient ID") is None
        beside = likely_owner(opened, "visit_id")
        assert beside is not None
        assert beside.name == "Patient ID"
    with open_table({"mrn": ["N/A" if i % 9 == 0 else f"P{p}" for i, p in enumerate(PEOPLE)]}) as opened:
        some_empty = likely_owner(opened)
        assert some_empty is not None
        assert some_empty.values == len({p for i, p in enumerate(PEOPLE) if i % 9})
        assert not some_empty.everyone
    with open_table({"id": UNIQUE, "age": some(90)}) as opened:
        assert likely_owner(opened) is None
