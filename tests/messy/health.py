"""Messy tables of health: a hospital, a German clinic, a trial, telephones."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from tests.messy.draw import Dice, spelled, write_csv

_WARDS = [
    "Cardiology",
    "General Surgery",
    "Maternity",
    "Oncology",
    "Orthopaedics",
    "Paediatrics",
    "Psychiatry",
    "A & E",
]
_ICD = ["F32.1", "F32.2", "I21.9", "J18.9", "K35.8", "O80", "C50.9", "S72.0", "E11.9", "B20", "Z38.0", "N39.0", "G40.9"]


def hospital(folder: Path) -> Path:
    """50,000 visits of 24,904 patients, as a hospital's system exports them."""
    dice, people, n = Dice(14_01), 24_904, 50_000
    ids = [f"RXH{k:07d}" for k in dice.rng.choice(10_000_000, people, replace=False)]
    births = [f"{d:%d/%m/%Y}" for d in dice.days(date(1925, 1, 1), date(2023, 6, 1), people)]
    areas = dice.pick(["LS", "BD", "HX", "HD", "WF", "YO"], people)
    near = dice.whole(1, 28, people), dice.whole(1, 9, people), dice.pick(list("ABDEFGHJ"), people)
    posts = [f"{a}{k} {m}{c}{c}" for a, k, m, c in zip(areas, *near, strict=True)]
    sexes = dice.pick(["F", "M", "f", "m", "Female", "male"], people, [40, 38, 6, 6, 5, 5])
    who = dice.repeated(people, n)
    wards = spelled(dice, dice.pick(_WARDS, n))
    codes = dice.holes(dice.pick(_ICD, n), [""], 0.01)
    came = [f"{d:%d/%m/%Y}" for d in dice.days(date(2022, 1, 1), date(2024, 12, 31), n)]
    stays = dice.holes([str(min(int(x), 60)) for x in dice.rng.exponential(3.7, n)], ["N/A", ""], 0.03)
    costs = dice.holes([f"{x:,.2f}" for x in dice.money(2400, n)], ["N/A", "n/a", "-"], 0.06)
    notes = dice.holes(dice.sayings(n), ["", "N/A"], 0.2)
    header = ["Patient ID", "Date of birth", "Postcode", "Sex", "Ward", "ICD-10", "Admitted", "Length of stay"]
    header += ["Total cost", "Notes"]
    own = [[ids[i], births[i], posts[i], sexes[i]] for i in who]
    rows = ([*a, *b] for a, *b in zip(own, wards, codes, came, stays, costs, notes, strict=True))
    return write_csv(folder / "hospital visits 2024.csv", header, rows)


def clinic(folder: Path) -> Path:
    """A German export: semicolons, Windows-1252, decimal commas, postcodes that begin with 0, ``k. A.``."""
    dice, people, n = Dice(14_02), 1_400, 4_000
    ids = [
        f"{c}{k:09d}" for c, k in zip(dice.pick(list("ABKTZ"), people), dice.whole(1, 10**9 - 1, people), strict=True)
    ]
    births = [f"{d:%d.%m.%Y}" for d in dice.days(date(1930, 1, 1), date(2015, 1, 1), people)]
    posts = dice.pick(["01067", "01069", "04109", "06108", "10115", "20095", "50667", "80331", "99084"], people)
    sexes = dice.pick(["männlich", "weiblich", "divers"], people, [48, 50, 2])
    funds = dice.pick(["AOK Plus", "Barmer", "DAK", "IKK classic", "privat"], people)
    who = dice.repeated(people, n)
    diagnoses = spelled(
        dice, dice.pick(["Grippe", "Rückenschmerzen", "Hörsturz", "Übelkeit", "Diabetes", "Angststörung"], n)
    )
    diagnoses = dice.holes(diagnoses, ["k. A.", "unbekannt"], 0.04)
    days = [f"{d:%d.%m.%Y}" for d in dice.days(date(2023, 1, 1), date(2023, 12, 31), n)]
    paid = [f"{x:,.2f}".translate(str.maketrans(",.", ".,")) for x in dice.money(640, n)]
    paid = dice.holes(paid, ["k. A.", ""], 0.05)
    header = ["Versichertennummer", "Geburtsdatum", "PLZ", "Geschlecht", "Krankenkasse", "Behandlungsdatum", "Diagnose"]
    header += ["Betrag in €"]
    own = [[ids[i], births[i], posts[i], sexes[i], funds[i]] for i in who]
    rows = ([*a, *b] for a, *b in zip(own, days, diagnoses, paid, strict=True))
    return write_csv(folder / "Behandlungen_2023.csv", header, rows, delimiter=";", encoding="cp1252")


_TRIAL = ["record_id", "redcap_event_name", "redcap_repeat_instance", "dob", "sex", "race___1", "race___2", "race___3"]
_TRIAL += ["race___99", "visit_date", "weight_kg", "cd4_count", "hiv_status", "ae___1", "ae___2", "ae___3", "ae_text"]
_TRIAL += ["demographics_complete", "visit_complete"]


def trial(folder: Path) -> Path:
    """A REDCap export: a row for each event, what was asked once stands in the first row only, boxes as columns."""
    dice, people = Dice(14_03), 420
    births = dice.days(date(1945, 1, 1), date(2004, 1, 1), people)
    sexes, boxes = dice.whole(1, 2, people), [dice.whole(0, 3, 1)[0] for _ in range(people)]
    positive = dice.whole(0, 1, people)
    rows: list[list[object]] = []
    for i in range(people):
        name, ticked = f"1001-{i + 1}", [int(boxes[i] == k) for k in range(4)]
        once = [births[i], sexes[i], *ticked]
        rows.append([name, "baseline_arm_1", "", *once, "", "", "", "", 0, 0, 0, "", 2, ""])
        first = date(2021, 3, 1) + timedelta(days=dice.whole(0, 200, 1)[0])
        for visit in range(dice.whole(1, 4, 1)[0]):
            weight, cells = round(float(dice.rng.normal(72, 12)), 1), dice.whole(90, 1200, 1)[0]
            events = dice.whole(0, 1, 3)
            said = dice.sayings(1)[0] if sum(events) else ""
            found = [first + timedelta(days=91 * visit), weight, cells, positive[i], *events, said]
            rows.append([name, f"month_{3 * visit + 3}_arm_1", 1, "", "", 0, 0, 0, 0, *found, "", 2])
    return write_csv(folder / "TrialX_DATA_2024-05-02_1131.csv", _TRIAL, rows)


def phones(folder: Path) -> Path:
    """Where telephones were, in Parquet: instants with their zone, positions, the network's cell."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    dice, people, n = Dice(14_04), 250, 20_000
    ids = [bytes(dice.rng.integers(0, 256, 8, dtype="uint8")).hex() for _ in range(people)]
    home = dice.rng.normal([52.37, 4.9], 0.1, (people, 2))
    who = dice.repeated(people, n)
    begin = datetime(2024, 5, 1, tzinfo=UTC)
    columns = {
        "deviceId": pa.array([ids[i] for i in who]),
        "ts": pa.array([begin + timedelta(seconds=s) for s in dice.whole(0, 14 * 86400, n)], pa.timestamp("us", "UTC")),
        "lat": pa.array(home[who, 0] + dice.rng.normal(0, 0.02, n)),
        "lon": pa.array(home[who, 1] + dice.rng.normal(0, 0.02, n)),
        "cell_id": pa.array([204_000_000 + k for k in dice.whole(1, 400, n)]),
        "Carrier": pa.array(spelled(dice, dice.pick(["Odido", "KPN", "Vodafone NL"], n))),
        "battery %": pa.array([float(k) if k else None for k in dice.whole(0, 100, n)]),
    }
    path = folder / "locations.parquet"
    pq.write_table(pa.table(columns), path)
    return path
