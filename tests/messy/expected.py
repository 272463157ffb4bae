"""What a person would say each messy table is. Written before any of it was tried, from the tables alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.messy.readings import Reading, as_it_stands, day_first, decimal_comma, decimal_point, month_first, word

from epsilens.data.schema.inference import ColumnRole
from epsilens.data.tables.columns import DateOrder

_NAMES = frozenset({ColumnRole.CODE, ColumnRole.CATEGORY})
_ID = frozenset({ColumnRole.IDENTIFIER})
_FREE = frozenset({ColumnRole.FREE})
_NUMBER = frozenset({ColumnRole.NUMBER})
_SCALE = frozenset({ColumnRole.NUMBER, ColumnRole.CATEGORY, ColumnRole.CODE})
_EMPTY = frozenset({ColumnRole.EMPTY})


@dataclass(frozen=True)
class Expected:
    """A table in the words of somebody who looked at it.

    ``owner`` are the columns that may stand for who is protected: with none of them, each row is a person. ``loud``
    says that this has to be warned of. ``numbers``, ``dates`` and ``words`` are the columns to be read so, with the
    readings by hand; ``people`` are the columns that together say whose row it is, in truth.
    """

    rows: int
    people: tuple[str, ...] = ()
    owner: tuple[str, ...] = ()
    single: tuple[str, ...] = ()
    loud: bool = False
    known: tuple[str, ...] = ()  # must be proposed as what an attacker knows
    unknown: tuple[str, ...] = ()  # must not be
    secrets: tuple[str, ...] = ()  # at least one of them is to be seen as a secret
    public: tuple[str, ...] = ()  # none of them is
    roles: Mapping[str, frozenset[ColumnRole]] = field(default_factory=dict)
    numbers: Mapping[str, Reading] = field(default_factory=dict)
    dates: Mapping[str, tuple[DateOrder, Reading]] = field(default_factory=dict)
    words: tuple[str, ...] = ()  # categories that differ in capitals and blanks
    codes: tuple[str, ...] = ()  # as they stand: leading zeros, capitals
    added_up: tuple[str, ...] = ()  # the columns that make sense in a sum or an average; () where any of ``numbers``
    file: Mapping[str, Any] = field(default_factory=dict)  # how Python reads it
    table: str = ""  # the table of a database
    holes: bool = False  # some rows do not say whose they are
    refused: bool = False  # may be refused, with the line and what to do

    def reading(self, column: str) -> Reading:
        """How a person reads this column."""
        if column in self.numbers:
            return self.numbers[column]
        if column in self.dates:
            return self.dates[column][1]
        return word if column in self.words else as_it_stands


_DMY, _MDY, _YMD = DateOrder.DAY_FIRST, DateOrder.MONTH_FIRST, DateOrder.YEAR_FIRST

EXPECTED: dict[str, Expected] = {
    "hospital": Expected(
        rows=50_000,
        people=("Patient ID",),
        owner=("Patient ID",),
        known=("Date of birth", "Postcode", "Sex"),
        unknown=("Patient ID", "Notes", "Total cost", "Length of stay"),
        secrets=("ICD-10",),
        public=("Patient ID", "Date of birth", "Postcode", "Sex"),
        roles={
            "Patient ID": _ID,
            "Notes": _FREE,
            "ICD-10": _NAMES,
            "Ward": _NAMES,
            "Sex": _NAMES,
            "Postcode": _NAMES,
            "Length of stay": _NUMBER,
            "Total cost": _NUMBER,
        },
        numbers={"Total cost": decimal_point, "Length of stay": decimal_point},
        dates={"Date of birth": (_DMY, day_first), "Admitted": (_DMY, day_first)},
        words=("Ward", "Sex"),
        codes=("Postcode", "ICD-10"),
    ),
    "clinic": Expected(
        rows=4_000,
        people=("Versichertennummer",),
        owner=("Versichertennummer",),
        known=("Geburtsdatum", "PLZ", "Geschlecht"),
        unknown=("Versichertennummer", "Betrag in €"),
        secrets=("Diagnose",),
        public=("Versichertennummer", "Geburtsdatum", "PLZ", "Geschlecht"),
        roles={
            "Versichertennummer": _ID,
            "PLZ": _NAMES,
            "Diagnose": _NAMES,
            "Krankenkasse": _NAMES,
            "Betrag in €": _NUMBER,
        },
        numbers={"Betrag in €": decimal_comma},
        dates={"Geburtsdatum": (_DMY, day_first), "Behandlungsdatum": (_DMY, day_first)},
        words=("Diagnose",),
        codes=("PLZ",),
        file={"delimiter": ";", "encoding": "cp1252"},
    ),
    "trial": Expected(
        rows=1_472,
        people=("record_id",),
        owner=("record_id",),
        known=("dob", "sex"),
        unknown=("record_id", "redcap_event_name", "redcap_repeat_instance", "ae_text", "visit_complete"),
        secrets=("hiv_status", "cd4_count"),
        public=("record_id", "dob", "sex", "visit_date"),
        roles={
            "record_id": _ID,
            "ae_text": _FREE,
            "sex": _SCALE,
            "race___1": _SCALE,
            "cd4_count": _NUMBER,
            "weight_kg": _NUMBER,
            "redcap_event_name": _NAMES,
            "hiv_status": _SCALE,
        },
        numbers={"weight_kg": decimal_point, "cd4_count": decimal_point},
        added_up=("weight_kg", "cd4_count"),
    ),
    "phones": Expected(
        rows=20_000,
        people=("deviceId",),
        owner=("deviceId",),
        unknown=("deviceId", "battery %"),
        public=("deviceId", "battery %", "Carrier"),
        roles={
            "deviceId": _ID,
            "Carrier": _NAMES,
            "cell_id": frozenset({ColumnRole.CODE, ColumnRole.CATEGORY, ColumnRole.IDENTIFIER}),
        },
        words=("Carrier",),
        added_up=("battery %",),
    ),
    "shop": Expected(
        rows=6_000,
        people=("customer e-mail",),
        owner=("customer e-mail",),
        known=("country",),
        unknown=("customer e-mail", "order_no", "amount"),
        public=("customer e-mail", "order_no", "country"),
        roles={"customer e-mail": _ID, "order_no": _ID, "product": _NAMES, "country": _NAMES, "amount": _NUMBER},
        numbers={"amount": decimal_comma},
        words=("product", "country", "newsletter"),
    ),
    "payroll": Expected(
        rows=2_100,
        people=("Employee No.",),
        owner=("Employee No.", "Employee name"),
        known=("D.O.B.", "Department"),
        unknown=("Employee No.", "Employee name", "Gross pay"),
        secrets=("Gross pay",),
        public=("Employee No.", "Employee name", "D.O.B.", "Department"),
        roles={"Employee No.": _ID, "Employee name": _ID, "Gross pay": _NUMBER, "Department": _NAMES, "Grade": _NAMES},
        numbers={"Gross pay": decimal_point},
        dates={"D.O.B.": (_DMY, day_first)},
        file={"above": 3},
        refused=True,
    ),
    "loans": Expected(
        rows=3_000,
        people=("SSN",),
        owner=("SSN",),
        known=("DOB", "ZIP", "State"),
        unknown=("SSN", "LoanNumber", "AnnualIncome"),
        secrets=("Defaulted", "AnnualIncome", "FICO"),
        public=("SSN", "DOB", "ZIP", "State", "LoanNumber"),
        roles={
            "SSN": _ID,
            "LoanNumber": _ID,
            "ZIP": _NAMES,
            "State": _NAMES,
            "AnnualIncome": _NUMBER,
            "FICO": _NUMBER,
            "Defaulted": _NAMES,
        },
        numbers={"AnnualIncome": decimal_point, "FICO": decimal_point},
        dates={"DOB": (_MDY, month_first), "Originated": (_MDY, month_first)},
        words=("Defaulted",),
        codes=("ZIP", "State"),
    ),
    "school": Expected(
        rows=1_920,
        people=("Pupil",),
        owner=("Pupil",),
        known=("Class",),
        unknown=("Pupil", "Comment", "Mark"),
        secrets=("Mark",),
        public=("Pupil", "Class", "Subject"),
        roles={"Pupil": _ID, "Comment": _FREE, "Class": _NAMES, "Subject": _NAMES, "Mark": _SCALE},
        words=("Subject",),
        added_up=("Mark",),
        file={"delimiter": "\t"},
    ),
    "survey": Expected(
        rows=2_500,
        people=("respondent_id",),
        single=("respondent_id",),
        known=("age_group", "Gender", "region"),
        unknown=("respondent_id", "weight", "q1", "q12"),
        secrets=("religion", "vote_last"),
        public=("respondent_id", "age_group", "Gender", "region", "weight"),
        roles={"respondent_id": _ID, "q1": _SCALE, "q12": _SCALE, "religion": _NAMES, "weight": _NUMBER},
        words=("Gender",),
        codes=("age_group", "region", "religion"),
        added_up=tuple(f"q{k}" for k in range(1, 13)),
    ),
    "panel": Expected(
        rows=8_422,
        people=("hhid", "pnr"),
        owner=("hhid",),
        known=("sex", "birth_year", "land"),
        unknown=("hhid", "wave", "satisfaction"),
        secrets=("hh_income", "lfs", "satisfaction"),
        public=("hhid", "pnr", "wave", "sex", "birth_year"),
        roles={"hhid": _ID, "sex": _SCALE, "land": _NAMES, "lfs": _NAMES, "hh_income": _NUMBER},
        numbers={"hh_income": decimal_point, "satisfaction": decimal_point},
        added_up=("hh_income", "satisfaction"),
    ),
    "gym": Expected(
        rows=5_000,
        loud=True,
        known=("Age", "Gender", "Postcode area"),
        unknown=("Minutes",),
        public=("Age", "Gender", "Postcode area", "Date"),
        roles={"Gender": _NAMES, "Postcode area": _NAMES, "Activity": _NAMES, "Minutes": _NUMBER},
        numbers={"Minutes": decimal_point, "Age": decimal_point},
        words=("Activity",),
        codes=("Postcode area",),
    ),
    "census": Expected(
        rows=3_000,
        people=("N° INSEE",),
        single=("N° INSEE",),
        known=("Date de naissance", "Sexe", "Code commune"),
        unknown=("N° INSEE", "Revenu annuel (€)", "Commentaire"),
        secrets=("Revenu annuel (€)", "Nationalité"),
        public=("N° INSEE", "Date de naissance", "Sexe", "Code commune"),
        roles={
            "N° INSEE": _ID,
            "Sexe": _NAMES,
            "Code commune": _NAMES,
            "Profession": _NAMES,
            "Commentaire": _EMPTY,
            "Revenu annuel (€)": _NUMBER,
        },
        numbers={"Revenu annuel (€)": decimal_comma},
        dates={"Date de naissance": (_DMY, day_first)},
        words=("Profession",),
        codes=("Code commune",),
        file={"delimiter": ";", "encoding": "utf-8-sig"},
    ),
    "reserved": Expected(
        rows=1_800,
        people=("user id",),
        owner=("user id",),
        known=("Sex",),
        unknown=("user id", "empty", "all", 'a"b'),
        public=("user id", "Sex", "empty"),
        roles={"user id": _ID, "group": _NAMES, "empty": _EMPTY, "all": _EMPTY, 'a"b': _NUMBER, "Sex": _NAMES},
        numbers={'a"b': decimal_point},
        codes=("group", "select", "Sex"),
        added_up=('a"b', "50%", "größe"),
        file={"table": "events"},
        table="events",
    ),
    "insurance": Expected(
        rows=20_190,
        people=("Member No.",),
        owner=("Member No.",),
        known=("Age (yrs)", "Sex", "Race"),
        unknown=("Member No.", "Study Yr", "Drug spend", "# mental visits", "Remark"),
        secrets=("# mental visits", "Family income ($)"),
        public=("Member No.", "SITE", "Study Yr", "Age (yrs)", "Sex"),
        roles={
            "Member No.": _ID,
            "SITE": _SCALE,
            "Sex": _NAMES,
            "Remark": _FREE,
            "Drug spend": _NUMBER,
            "Family income ($)": _NUMBER,
        },
        numbers={"Family income ($)": decimal_point, "Drug spend": decimal_point, "# mental visits": decimal_point},
        words=("Sex",),
        added_up=("Family income ($)", "Drug spend", "# mental visits", "Age (yrs)", "Yrs of education"),
    ),
    "labour": Expected(
        rows=32_561,
        loud=True,
        known=("Age", "Race", "Gender", "Marital status"),
        unknown=("Capital gain", "fnlwgt", "Hours/week"),
        secrets=("Income class", "Capital gain"),
        public=("Age", "Race", "Gender", "fnlwgt"),
        roles={
            "Work class": _NAMES,
            "Gender": _NAMES,
            "Hours/week": _NUMBER,
            "Capital gain": _NUMBER,
            "Income class": _NAMES,
        },
        numbers={"Hours/week": decimal_comma, "Capital gain": decimal_comma, "Age": decimal_point},
        words=(
            "Work class",
            "Highest schooling",
            "Marital status",
            "Occupation",
            "Race",
            "Gender",
            "Country of birth",
            "Income class",
        ),
        added_up=("Hours/week", "Capital gain", "Age"),
        file={"delimiter": ";"},
    ),
}
