"""What a person would say the further tables are."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.messy.expected import EXPECTED, Expected
from tests.messy.readings import day_first, decimal_comma, decimal_point, month_name

from epsilens.data.schema.inference import ColumnRole
from epsilens.data.tables.columns import DateOrder

_NAMES = frozenset({ColumnRole.CODE, ColumnRole.CATEGORY})
_ID, _FREE, _NUMBER = frozenset({ColumnRole.IDENTIFIER}), frozenset({ColumnRole.FREE}), frozenset({ColumnRole.NUMBER})
_DAY = frozenset({ColumnRole.DATE, ColumnRole.CODE, ColumnRole.CATEGORY})


def _crowns(cell: Any) -> Fraction | None:
    return decimal_point(cell.replace("kr", ""))


def _reais(cell: str) -> Fraction | None:
    return decimal_comma(cell.replace("R$", ""))


def _in_brackets(cell: str) -> Fraction | None:
    size = decimal_point(cell.strip("()"))
    return -size if size is not None and cell.startswith("(") else size


_UNSEEN: dict[str, Expected] = {
    "register": Expected(
        rows=2_400,
        people=("Personnummer",),
        owner=("Personnummer",),
        known=("Födelseår", "Kön", "Län"),
        unknown=("Personnummer", "Inkomst"),
        secrets=("Inkomst",),
        public=("Personnummer", "Födelseår", "Kön"),
        roles={"Personnummer": _ID, "Län": _NAMES, "Inkomst": _NUMBER},
        numbers={"Inkomst": _crowns},
        words=("Län",),
        added_up=("Inkomst",),
        file={"delimiter": ";"},
    ),
    "drugs": Expected(
        rows=6_000,
        people=("BENE_ID",),
        owner=("BENE_ID",),
        known=("BENE_BIRTH_DT", "ZIP3"),
        unknown=("BENE_ID", "PRSCRBR_NPI", "TOT_RX_CST_AMT"),
        secrets=("DRUG_NAME",),
        public=("BENE_ID", "PRSCRBR_NPI"),
        roles={"BENE_ID": _ID, "PRSCRBR_NPI": _ID, "BENE_BIRTH_DT": _DAY, "SRVC_DT": _DAY, "DRUG_NAME": _NAMES},
        words=("DRUG_NAME",),
        numbers={"TOT_RX_CST_AMT": decimal_point},
        added_up=("TOT_RX_CST_AMT", "DAYS_SUPLY"),
    ),
    "absences": Expected(
        rows=1_200,
        loud=True,
        known=("Birthday",),
        unknown=("First name", "Last name", "Days"),
        secrets=("Reason",),
        public=("First name", "Last name", "Birthday"),
        roles={"First name": _ID, "Last name": _ID, "Days": _NUMBER, "Reason": _NAMES},
        numbers={"Days": decimal_comma},
        words=("Reason",),
        file={"delimiter": ";"},
    ),
    "lab": Expected(
        rows=2_800,
        people=("MRN",),
        owner=("MRN",),
        known=("Age at test",),
        unknown=("MRN", "Letter"),
        public=("MRN", "Age at test"),
        roles={"MRN": _ID, "Letter": _FREE, "Test": _NAMES},
        words=("MRN",),
        codes=("Test",),
        added_up=("Result",),
    ),
    "cases": Expected(
        rows=2_700,
        people=("Client",),
        owner=("Client",),
        known=("age", "town"),
        unknown=("Case ID", "Client", "balance (GBP)"),
        public=("Case ID", "Client", "age", "town"),
        roles={"Case ID": _ID, "Client": _ID, "balance (GBP)": _NUMBER},
        numbers={"balance (GBP)": _in_brackets, "age": decimal_point},
        dates={"opened": (DateOrder.DAY_FIRST, month_name)},
        holes=True,
    ),
    "genes": Expected(
        rows=400,
        people=("sample_id",),
        single=("sample_id",),
        known=("sex", "age"),
        unknown=("sample_id",),
        public=("sample_id", "sex", "age"),
        roles={"sample_id": _ID, "rs1000": _NAMES, "rs1239": _NAMES},
        codes=("rs1000",),
        numbers={"age": decimal_point},
    ),
    "japan": Expected(
        rows=2_000,
        people=("患者番号",),
        owner=("患者番号",),
        unknown=("患者番号", "金額"),
        roles={"患者番号": _ID, "金額": _NUMBER, "性別": _NAMES, "診断": _NAMES},
        numbers={"金額": decimal_point},
        codes=("性別", "診断"),
    ),
    "swiss": Expected(
        rows=1_500,
        people=("AHV-Nr",),
        owner=("AHV-Nr",),
        known=("Jahrgang", "Kanton"),
        unknown=("AHV-Nr", "Bruttolohn"),
        secrets=("Bruttolohn",),
        public=("AHV-Nr", "Jahrgang", "Kanton"),
        roles={"AHV-Nr": _ID, "Kanton": _NAMES, "Bruttolohn": _NUMBER, "Pensum": _NUMBER},
        numbers={"Bruttolohn": decimal_point, "Pensum": decimal_point},
        codes=("Kanton",),
        file={"delimiter": ";"},
    ),
    "clicks": Expected(
        rows=9_000,
        people=("uid",),
        owner=("uid",),
        unknown=("uid", "event_time", "bytes", "status"),
        public=("uid", "bytes"),
        roles={"uid": _ID, "ip": frozenset({ColumnRole.IDENTIFIER, ColumnRole.CODE}), "url": _NAMES},
        codes=("url",),
        numbers={"bytes": decimal_point},
    ),
    "family": Expected(
        rows=2_000,
        people=("ID",),
        single=("ID",),
        known=("Age", "Sex"),
        unknown=("ID", "Family ID", "Alcohol units/yr"),
        public=("ID", "Family ID", "Age", "Sex"),
        roles={"ID": _ID, "Family ID": _ID, "Sex": _NAMES, "Alcohol units/yr": _NUMBER},
        numbers={"Alcohol units/yr": decimal_point},
        words=("Sex",),
        added_up=("Alcohol units/yr", "Age"),
    ),
    "voters": Expected(
        rows=2200,
        people=("DNI",),
        single=("DNI",),
        known=("Fecha de nacimiento", "Sexo", "Código postal"),
        unknown=("DNI", "Ingresos anuales"),
        secrets=("Voto", "Ingresos anuales"),
        public=("DNI", "Sexo"),
        roles={"DNI": _ID, "Sexo": _NAMES, "Código postal": _NAMES, "Voto": _NAMES, "Ingresos anuales": _NUMBER},
        numbers={"Ingresos anuales": decimal_comma},
        dates={"Fecha de nacimiento": (DateOrder.DAY_FIRST, day_first)},
        words=("Voto",),
        codes=("Código postal",),
        file={"delimiter": ";", "encoding": "cp1252"},
    ),
    "wearable": Expected(
        rows=24000,
        people=("Participant",),
        owner=("Participant",),
        unknown=("Participant", "HR (bpm)", "Steps"),
        public=("Participant",),
        roles={"Participant": _ID, "HR (bpm)": _NUMBER, "Steps": _NUMBER, "State": _NAMES},
        numbers={"HR (bpm)": decimal_point, "Steps": decimal_point},
        words=("State",),
    ),
    "brazil": Expected(
        rows=2600,
        people=("CPF",),
        owner=("CPF",),
        known=("Data de nascimento", "Raça/Cor", "Município"),
        unknown=("CPF", "Valor total"),
        secrets=("CID-10",),
        public=("CPF", "Município"),
        roles={"CPF": _ID, "CID-10": _NAMES, "Valor total": _NUMBER, "Raça/Cor": _NAMES},
        numbers={"Valor total": _reais},
        dates={"Data de nascimento": (DateOrder.DAY_FIRST, day_first)},
        words=("Raça/Cor",),
        codes=("CID-10",),
        file={"delimiter": "|", "encoding": "utf-8-sig"},
    ),
    "pets": Expected(
        rows=2000,
        people=("Owner  phone",),
        owner=("Owner  phone", "Microchip"),
        known=("Owner postcode",),
        unknown=("Owner  phone", "Microchip", "Fee", "Vet's notes"),
        roles={"Owner  phone": _ID, "Microchip": _ID, "Species": _NAMES, "Vet's notes": _FREE, "Fee": _NUMBER},
        numbers={"Fee": decimal_point},
        words=("Species",),
    ),
    "ids": Expected(
        rows=2100,
        people=("pat_id",),
        owner=("pat_id",),
        known=("age_y",),
        unknown=("id", "pat_id", "los_hrs"),
        roles={"pat_id": _ID, "id": _ID},
        numbers={"los_hrs": decimal_point},
        added_up=("los_hrs", "age_y"),
    ),
}

#: What is said of all tables.
EVERY = EXPECTED | _UNSEEN
