"""Names of columns: every spelling gives the same words, and the words say what the column is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epsilens.data.schema.column_profile import (
    FILLERS,
    IDS,
    PEOPLE,
    PHRASES,
    RULES,
    SPELLINGS,
    STAFF,
    THINGS,
    UNITS,
    NameKind,
    meaning,
    words,
)

PEOPLE_NAMES = """
Patient ID|patient-id|PatientID|PATIENT_ID|patientid|pat.id|patient#|Patienten-Nr.
Patientennummer|Id_Paciente|N° patient|Nº paciente|paziente_id|Patiënt-ID|Código do paciente
MRN|mrn_hash|NHS number|nhs_number|nhsno|ssn|SSN|Social Security Number|beneficiary_id
BENE_ID|DESYNPUF_ID|member id|MemberID|customer_id|CustomerNo|Kundennummer|klantnr
numéro client|client_id|user_id|userId|username|employee_id|emp_no|EMPLID|student id
Schüler-ID|pupil_id|participant|Participant ID|respondent_id|subject_id|SUBJID|hh_member_id
person|person_key|Person-Pseudonym|Versichertennummer|Krankenversichertennummer|codice fiscale
BSN|DNI|cpf|numéro de sécurité sociale|personnummer|hospital number|Medical Record Number
voter_id|passenger_id|inmate_no
"""
WEAK = "id|ID|uid|pid|guid|study_id|Study ID|record_id|case_id|Fall-ID|Fallnummer|identifiant|seqn|key"
NOT_PEOPLE = """
order_id|OrderNo|Bestellnummer|invoice no|Rechnungsnummer|visit_id|Visit No|encounter_id
admission id|claim_id|transaction_id|TransactionID|row|row_id|Unnamed: 0|index|event_id
product_id|sku|session_id|store_id|company_id|sample id|policy no
"""
MEANINGS = {
    "birth date": "Date of birth|D.O.B.|date_of_birth|DOB|dob|DateOfBirth|dateofbirth|birthdate|Geburtsdatum|Geb.-Datum"
    "|date de naissance|Fecha de nacimiento|data di nascita|geboortedatum|data de nascimento|Patient birth date"
    "|BENE_BIRTH_DT",
    "date": "SRVC_DT|date|Datum",
    "birth year": "year of birth|birth_year|YOB|Geburtsjahr|année de naissance|BirthYear|Födelseår|Jahrgang|birthyr"
    "|Fødselsår|ano de nascimento",
    "age": "age|Age (years)|AGE_AT_ADMISSION|Alter|edad|âge|età|leeftijd|idade|patient_age|age group",
    "sex": "sex|Kön|Gender|Geschlecht|sexe|sexo|sesso|geslacht|patient sex|is_female",
    "postcode": "zip|ZIP Code|zipcode|postcode|Post Code|postal_code|PLZ|Postleitzahl|code postal|CAP|código postal",
    "city": "city|Town|Wohnort|ville|ciudad|città|stad|customer_city|city name",
    "country": "country|Country Code|Land|pays|país",
    "race": "race|ethnicity|ethnic group|race_eth",
    "religion": "religion|Konfession",
    "marital status": "marital_status|Familienstand|état civil|estado civil",
    "education": "education|educ_level|Bildungsabschluss",
    "occupation": "occupation|job title|Beruf|profession",
    "nationality": "nationality|Staatsangehörigkeit|nacionalidad|citizenship",
    "family size": "family_size|hh_size|household size|Number of household members",
    "count of children": "children|n_children|number of children|Anzahl Kinder|nombre d'enfants|nb_enfants",
    "diagnosis": "ICD-10|icd10|ICD10 Code|icd_9_cm|diagnosis|Diagnose|primary_dx|diagnóstico|disease|CID-10|CIE-10"
    "|CIM-10",
    "hiv": "HIV status|hiv",
    "medication": "drug|medication|drug_name|Medikament|ATC code",
    "pregnancy": "pregnant|Schwangerschaft",
    "sexual orientation": "sexual_orientation",
    "income": "income|household income|Salary|Gehalt|annual_wage|salaire|ingresos|Einkommen (€)|Inkomst|Bruttolohn"
    "|Nettoeinkommen|Jahresgehalt|Monatslohn",
    "debt": "debt|loan default",
    "money": "amount|total_cost|Total charge|price|Preis|montant|importe",
    "percent": "percent|% paid|pct_change|Prozent",
    "hours a week": "hours_per_week|hours/week|HoursPerWeek",
    "length of stay": "length of stay|los|LOS_days|Verweildauer",
    "count of visits": "visits|n_visits|number of visits|visit_count|Anzahl Besuche|num_visits",
    "admission date": "admission_date|Admission Date|Aufnahmedatum|AdmitDate",
    "discharge date": "discharge date|Entlassungsdatum|DischargeDate",
    "free text": "notes|Comment|Bemerkungen|remarks|free text|clinical_notes",
    "e-mail": "email|e-mail|E-Mail-Adresse|email address|customer_email",
    "phone": "phone|tel.|Telefonnummer|mobile|phone number|Handy|téléphone|móvil|telefono|Owner  phone|home phone"
    "|Mobile No.|celular|contact number",
    "name": "name|Name|full name|FirstName|first_name|surname|Vorname|Nachname|prénom|apellidos|patient name|nombre",
    "household": "hhid|household_id|Haushalts-ID|HH No",
    "hospital": "hospital_id|hospital name|clinic",
    "department": "Department|dept_no|Abteilung",
    "year": "year|calendar_year|Jahr",
}  # fmt: skip


def every(names: str) -> list[str]:
    return [name for name in names.replace("\n", "|").split("|") if name]


@pytest.mark.parametrize("name", every(PEOPLE_NAMES))
def test_names_of_people(name: str) -> None:
    found = meaning(name)
    assert found is not None
    assert found.kind is NameKind.PERSON
    assert found.rank >= 40


@pytest.mark.parametrize("name", every(WEAK))
def test_identifiers_that_do_not_say_of_what(name: str) -> None:
    found = meaning(name)
    assert found is not None
    assert found.kind is NameKind.ID
    assert 0 < found.rank < 40


@pytest.mark.parametrize("name", every(NOT_PEOPLE))
def test_things_are_no_people(name: str) -> None:
    found = meaning(name)
    assert found is not None
    assert found.kind in (NameKind.THING, NameKind.UNNAMED_ID)
    assert found.rank == 0


@pytest.mark.parametrize("name", ["doctor_id", "physician", "Arzt", "teacher_id", "nurse", "npi", "sales_rep_id"])
def test_others_who_are_not_the_person(name: str) -> None:
    found = meaning(name)
    assert found is not None
    assert found.kind is NameKind.STAFF


@pytest.mark.parametrize(("word", "name"), [(word, name) for word, names in MEANINGS.items() for name in every(names)])
def test_meanings(word: str, name: str) -> None:
    found = meaning(name)
    assert found is not None
    assert found.word == word


@pytest.mark.parametrize(
    "name", ["zqx", "v17", "12", "capacity", "valid", "grid", "percentile_xyz_", "average_", "数量"]
)
def test_names_that_say_nothing(name: str) -> None:
    found = meaning(name)
    assert found is None or not (found.known or found.rank or found.secret)


@pytest.mark.parametrize("name", ["diagnosis", "HIV status", "salary", "pregnant", "political_party", "arrested"])
def test_secrets(name: str) -> None:
    found = meaning(name)
    assert found is not None
    assert found.secret
    assert not found.known


@pytest.mark.parametrize(
    "name", ["PhoneService", "phone_type", "has_phone", "number of phones", "mobile_app", "cell_id"]
)
def test_not_every_phone_is_a_number(name: str) -> None:
    found = meaning(name)
    assert found is None or found.kind is not NameKind.CONTACT


def test_devices_are_somebodys_where_nothing_says_whose() -> None:
    found = meaning("deviceId")
    assert found is not None
    assert found.kind is NameKind.DEVICE
    assert 10 < found.rank < 20


def test_bounds_come_from_meaning() -> None:
    bounds = {
        "age": (0, 110),
        "hours_per_week": (0, 100),
        "percent": (0, 100),
        "year of birth": None,
        "weight": None,
        "cd4_count": None,
    }
    found = {name: meaning(name) for name in bounds}
    assert {name: said and said.bounds for name, said in found.items()} == bounds
    assert None not in found.values()
    salary = meaning("salary")
    assert salary is not None
    assert salary.choose


def test_spellings_of_one_name() -> None:
    spelled = {words(n) for n in ("Patient ID", "patient-id", "PatientID", "PATIENT_ID", "patient.id", "patientId")}
    assert spelled == {("patient", "id")}
    assert words("  ") == ()
    assert words("Straße") == ("strasse",)


def test_each_spelling_has_one_word() -> None:
    seen: dict[str, str] = {}
    for word, spellings in SPELLINGS.items():
        for spelling in spellings:
            assert seen.setdefault(spelling, word) == word, spelling
            assert spelling.isascii()
            assert spelling.isalnum()
            assert spelling == spelling.lower()


def test_rules_use_words_there_are() -> None:
    needed = {word for rule in RULES.values() for word in rule.split("  ")[0].replace("|", " ").split()}
    assert needed <= set(SPELLINGS) | {"length"}
    assert set(SPELLINGS) >= PEOPLE | STAFF | UNITS | THINGS | IDS | FILLERS
    assert all(name == name.lower() for names in PHRASES.values() for name in names)


@given(st.text(max_size=30))
def test_any_name_is_read(name: str) -> None:
    found = meaning(name)
    assert found is None or found.word
