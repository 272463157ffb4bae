"""Further tables, each with a trap of its own, that nobody had seen when the understanding was written."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path

from tests.messy.draw import Dice, spelled, write_csv


def register(folder: Path) -> Path:
    """A Swedish register: the person's number holds their birthday; crowns with blanks."""
    dice, people, n = Dice(14_41), 800, 2_400
    born = dice.days(date(1935, 1, 1), date(2005, 1, 1), people)
    ids = [f"{d:%Y%m%d}-{k:04d}" for d, k in zip(born, dice.rng.permutation(9000)[:people], strict=True)]
    lan, kon = dice.pick(["Skåne", "Uppsala", "Östergötland", "Gotland"], people), dice.pick(["Man", "Kvinna"], people)
    who = dice.repeated(people, n)
    pay = dice.holes([f"{round(x):,} kr".replace(",", "\u00a0") for x in dice.money(345_000, n)], ["saknas", "-"], 0.04)
    years = dice.whole(2019, 2023, n)
    rows = zip(
        [ids[i] for i in who],
        [born[i].year for i in who],
        [kon[i] for i in who],
        spelled(dice, [lan[i] for i in who]),
        years,
        pay,
        strict=True,
    )
    header = ["Personnummer", "Födelseår", "Kön", "Län", "Inkomstår", "Inkomst"]
    return write_csv(folder / "registerutdrag.csv", header, rows, delimiter=";")


def drugs(folder: Path) -> Path:
    """Prescriptions: patients and doctors both have numbers, and days are numbers too."""
    dice, people, n = Dice(14_42), 1_500, 6_000
    born = [int(f"{d:%Y%m%d}") for d in dice.days(date(1930, 1, 1), date(1990, 1, 1), people)]
    ids, zips = [f"{k:015x}".upper() for k in dice.whole(1, 2**59, people)], dice.whole(100, 999, people)
    doctors = [1_000_000_000 + k for k in dice.whole(0, 899_999_999, 90)]
    who = dice.repeated(people, n)
    days = [int(f"{d:%Y%m%d}") for d in dice.days(date(2022, 1, 1), date(2023, 12, 31), n)]
    cost = [f"{x:.2f}" for x in dice.money(80, n)]
    names = dice.pick(["SERTRALINE HCL", "Metformin Hcl", "metformin hcl", "LISINOPRIL", "Buprenorphine"], n)
    rows = zip(
        [ids[i] for i in who],
        [doctors[k] for k in dice.whole(0, 89, n)],
        [born[i] for i in who],
        [zips[i] for i in who],
        days,
        names,
        dice.pick(["30", "60", "90"], n),
        cost,
        strict=True,
    )
    header = ["BENE_ID", "PRSCRBR_NPI", "BENE_BIRTH_DT", "ZIP3", "SRVC_DT", "DRUG_NAME", "DAYS_SUPLY", "TOT_RX_CST_AMT"]
    return write_csv(folder / "pde_2023.csv", header, rows)


def absences(folder: Path) -> Path:
    """Sick leave by name: neither the first nor the last name is a person."""
    dice, people, n = Dice(14_43), 300, 1_200
    names = [name.split(" ") for name in dice.names(people)]
    born = [
        f"{d.day % 12 + 1:02d}/{d.month:02d}/{d.year}" for d in dice.days(date(1960, 1, 1), date(2002, 1, 1), people)
    ]
    who = dice.repeated(people, n)
    days = dice.holes([f"{k},5" if k % 3 else f"{k}" for k in dice.whole(1, 20, n)], ["tbc", ""], 0.03)
    why = spelled(dice, dice.pick(["Flu", "Burn-out", "Back pain", "Surgery"], n))
    rows = zip([names[i][0] for i in who], [names[i][1] for i in who], [born[i] for i in who], days, why, strict=True)
    return write_csv(
        folder / "absence.csv", ["First name", "Last name", "Birthday", "Days", "Reason"], rows, delimiter=";"
    )


def lab(folder: Path) -> Path:
    """Results with lines inside cells, and the patient's number in whatever capitals and blanks."""
    dice, people, n = Dice(14_44), 700, 2_800
    ids = [f"mrn{k:06d}" for k in dice.rng.permutation(999_999)[:people]]
    age = dice.whole(0, 97, people)
    who = dice.repeated(people, n)
    test = dice.pick(["HIV Ab", "Hb", "CRP", "TSH"], n)
    value = dice.holes([f"{x:.1f}" for x in dice.money(12, n)], ["<0.5", "haemolysed", ""], 0.06)
    said = [f'Dear "colleague",\nsee below.\n{s}' for s in dice.sayings(n)]
    rows = zip(spelled(dice, [ids[i] for i in who]), [f"{age[i]}y" for i in who], test, value, said, strict=True)
    return write_csv(folder / "lab.csv", ["MRN", "Age at test", "Test", "Result", "Letter"], rows)


def cases(folder: Path) -> Path:
    """Names that mislead: a clerk is "Person in charge", ``patient`` is yes or no, every case has a number."""
    dice, people, n = Dice(14_45), 900, 2_700
    clients = [f"C-{k:05d}" for k in dice.rng.permutation(99_999)[:people]]
    who = dice.repeated(people, n)
    clerks = dice.pick(["J. Doe", "M. Roe", "K. Poe", "L. Low"], n)
    client = dice.holes([clients[i] for i in who], ["N/A", ""], 0.03)
    ages, towns = dice.whole(18, 90, people), dice.pick(["Leith", "Govan", "Perth"], people)
    debt = [f"({x:,.2f})" if k else f"{x:,.2f}" for x, k in zip(dice.money(900, n), dice.whole(0, 1, n), strict=True)]
    opened = [f"{d:%d-%b-%Y}" for d in dice.days(date(2021, 1, 1), date(2023, 12, 31), n)]
    rows = zip(
        range(1, n + 1),
        clerks,
        client,
        dice.pick(["yes", "no"], n),
        [ages[i] for i in who],
        [towns[i] for i in who],
        opened,
        debt,
        strict=True,
    )
    header = ["Case ID", "Person in charge", "Client", "patient", "age", "town", "opened", "balance (GBP)"]
    return write_csv(folder / "cases.csv", header, rows)


def genes(folder: Path) -> Path:
    """As wide as science: 240 markers of each sample, and who gave it."""
    dice, n = Dice(14_46), 400
    columns: dict[str, list] = {"sample_id": [f"S{k:05d}" for k in dice.rng.permutation(99_999)[:n]]}
    columns |= {"sex": dice.pick(["F", "M"], n), "age": dice.whole(20, 80, n), "case": dice.whole(0, 1, n)}
    columns |= {f"rs{1000 + k}": dice.pick(["AA", "AG", "GG", ""], n) for k in range(240)}
    return write_csv(folder / "genotypes.csv", [*columns], zip(*columns.values(), strict=True))


def japan(folder: Path) -> Path:
    """Japanese: the patient's number has to be found by how often it comes."""
    dice, people, n = Dice(14_47), 600, 2_000
    ids = [f"{k:08d}" for k in dice.rng.permutation(9_999_999)[:people]]
    born = [f"{d:%Y/%m/%d}" for d in dice.days(date(1940, 1, 1), date(2010, 1, 1), people)]
    sex = dice.pick(["男", "女"], people)
    who = dice.repeated(people, n)
    cost = dice.holes([f"¥{round(x):,}" for x in dice.money(12_000, n)], ["不明", ""], 0.05)
    rows = zip(
        [ids[i] for i in who],
        [born[i] for i in who],
        [sex[i] for i in who],
        dice.pick(["糖尿病", "高血圧", "うつ病"], n),
        cost,
        strict=True,
    )
    return write_csv(folder / "受診.csv", ["患者番号", "生年月日", "性別", "診断", "金額"], rows)


def swiss(folder: Path) -> Path:
    """Swiss wages: apostrophes between thousands, a social security number with points, a year of birth."""
    dice, people, n = Dice(14_48), 500, 1_500
    ids = [
        f"756.{a:04d}.{b:04d}.{c:02d}"
        for a, b, c in zip(
            dice.whole(0, 9999, people), dice.whole(0, 9999, people), dice.whole(0, 99, people), strict=True
        )
    ]
    born, land = dice.whole(1955, 2004, people), dice.pick(["ZH", "BE", "GE", "TI"], people)
    who = dice.repeated(people, n)
    pay = [f"{x:,.2f}".replace(",", "'") for x in dice.money(6_500, n)]
    work = [f"{k} %" for k in dice.whole(20, 100, n)]
    rows = zip([ids[i] for i in who], [born[i] for i in who], [land[i] for i in who], work, pay, strict=True)
    return write_csv(
        folder / "Löhne.csv", ["AHV-Nr", "Jahrgang", "Kanton", "Pensum", "Bruttolohn"], rows, delimiter=";"
    )


def clicks(folder: Path) -> Path:
    """A log: instants in milliseconds, addresses of the network, a user that is a number."""
    dice, people, n = Dice(14_49), 300, 9_000
    who = dice.repeated(people, n)
    ips = [f"10.{a}.{b}.7" for a, b in zip(dice.whole(0, 9, people), dice.whole(0, 255, people), strict=True)]
    when = [1_714_564_800_000 + k for k in dice.whole(0, 10**9, n)]
    url = dice.pick(["/home", "/health/hiv-test", "/cart", "/jobs?q=nurse"], n)
    rows = zip(
        when,
        [7_001 + 3 * i for i in who],
        [ips[i] for i in who],
        url,
        dice.whole(200, 204, n),
        dice.whole(100, 90_000, n),
        strict=True,
    )
    return write_csv(folder / "access.csv", ["event_time", "uid", "ip", "url", "status", "bytes"], rows)


def family(folder: Path) -> Path:
    """One row for each person, and the family they belong to."""
    dice, n = Dice(14_50), 2_000
    home = sorted(dice.whole(1, 700, n))
    rows = zip(
        range(1, n + 1),
        [f"F{h:04d}" for h in home],
        dice.whole(0, 95, n),
        spelled(dice, dice.pick(["F", "M"], n)),
        dice.pick(["yes", "no", "Unknown"], n),
        [f"{x:.2f}" for x in dice.money(300, n)],
        strict=True,
    )
    return write_csv(folder / "families.csv", ["ID", "Family ID", "Age", "Sex", "Smoker", "Alcohol units/yr"], rows)


def voters(folder: Path) -> Path:
    """Spanish: a number with a letter for each person, postcodes of Barcelona, 31-12-1980."""
    dice, n = Dice(14_61), 2_200
    dni = [f"{k:08d}{'TRWAGMYFPDXBNJZSQVHLCKE'[k % 23]}" for k in dice.rng.permutation(99_999_999 // 7)[:n] * 7]
    born = [f"{d:%d-%m-%Y}" for d in dice.days(date(1935, 1, 1), date(2004, 1, 1), n)]
    rows = zip(
        dni,
        born,
        dice.pick(["V", "M"], n),
        dice.pick(["08001", "08015", "28013", "41001"], n),
        spelled(dice, dice.pick(["PSOE", "PP", "Sumar", "Vox"], n)),
        dice.holes(
            [f"{x:,.2f}".translate(str.maketrans(",.", ".,")) for x in dice.money(21_000, n)], ["N.C.", ""], 0.05
        ),
        strict=True,
    )
    return write_csv(
        folder / "encuesta.csv",
        ["DNI", "Fecha de nacimiento", "Sexo", "Código postal", "Voto", "Ingresos anuales"],
        rows,
        delimiter=";",
        encoding="cp1252",
    )


def wearable(folder: Path) -> Path:
    """Twelve people only, thousands of rows each."""
    dice, people, n = Dice(14_62), 12, 24_000
    who = dice.repeated(people, n)
    t0 = datetime(2024, 1, 1)
    when = [(t0 + timedelta(seconds=s)).strftime("%m/%d/%Y %I:%M:%S %p") for s in dice.whole(0, 10**6, n)]
    rows = zip(
        [f"P{i + 1:02d}" for i in who],
        when,
        dice.whole(45, 180, n),
        dice.whole(0, 200, n),
        dice.pick(["sleep", "awake", "Awake"], n),
        strict=True,
    )
    return write_csv(folder / "hr_seconds.csv", ["Participant", "Time", "HR (bpm)", "Steps", "State"], rows)


def brazil(folder: Path) -> Path:
    """Bars between the cells, a number with points and a dash, reais."""
    dice, people, n = Dice(14_63), 900, 2_600
    cpf = [
        f"{a:03d}.{b:03d}.{c:03d}-{d:02d}"
        for a, b, c, d in zip(*(dice.whole(0, 999, people) for _ in range(3)), dice.whole(0, 99, people), strict=True)
    ]
    born = [f"{d:%d/%m/%Y}" for d in dice.days(date(1940, 1, 1), date(2010, 1, 1), people)]
    race, town = (
        dice.pick(["Branca", "Parda", "Preta", "Indígena"], people),
        dice.pick(["São Paulo", "Recife", "Belém"], people),
    )
    who = dice.repeated(people, n)
    rows = zip(
        [cpf[i] for i in who],
        [born[i] for i in who],
        spelled(dice, [race[i] for i in who]),
        [town[i] for i in who],
        dice.pick(["A90", "B34.2", "E11", "F32"], n),
        [f"R$ {x:,.2f}".translate(str.maketrans(",.", ".,")) for x in dice.money(700, n)],
        strict=True,
    )
    return write_csv(
        folder / "sus.txt",
        ["CPF", "Data de nascimento", "Raça/Cor", "Município", "CID-10", "Valor total"],
        rows,
        delimiter="|",
        encoding="utf-8-sig",
    )


def pets(folder: Path) -> Path:
    """A vet: the owner has a telephone, the animal a chip and a birthday."""
    dice, people, n = Dice(14_64), 500, 2_000
    phone = [f"+44 7700 {k:06d}" for k in dice.rng.permutation(999_999)[:people]]
    chip = [f"9{k:014d}" for k in dice.whole(1, 10**13, people)]
    kind, post = dice.pick(["Dog", "Cat", "Rabbit"], people), dice.pick(["BS1 4DJ", "BS6 5QA", "BA1 1AA"], people)
    who = dice.repeated(people, n)
    rows = zip(
        [phone[i] for i in who],
        [chip[i] for i in who],
        spelled(dice, [kind[i] for i in who]),
        [post[i] for i in who],
        [f"{d:%d %b %Y}" for d in dice.days(date(2023, 1, 1), date(2024, 1, 1), n)],
        [f"£{x:.2f}" for x in dice.money(60, n)],
        dice.sayings(n),
        strict=True,
    )
    return write_csv(
        folder / "vet.csv",
        ["Owner  phone", "Microchip", "Species", "Owner postcode", "Seen", "Fee", "Vet's notes"],
        rows,
    )


def ids(folder: Path) -> Path:
    """Four columns that end in id: one of them is the person."""
    dice, people, n = Dice(14_65), 700, 2_100
    who = dice.repeated(people, n)
    ages, places, doctors = dice.whole(18, 90, people), dice.whole(1, 12, n), dice.whole(1, 40, n)
    mine, age = [90_000 + 7 * i for i in who], [ages[i] for i in who]
    again, hours = dice.pick(["0", "1"], n), dice.money(15, n)
    rows = zip(dice.rng.permutation(n) + 1, places, mine, doctors, age, again, hours, strict=True)
    return write_csv(
        folder / "enc.csv", ["id", "clinic_id", "pat_id", "provider_id", "age_y", "readmit30", "los_hrs"], rows
    )


_ALL: tuple[Callable[[Path], Path], ...] = (register, drugs, absences, lab, cases, genes, japan, swiss, clicks)
_ALL += (family, voters, wearable, brazil, pets, ids)
UNSEEN = {f.__name__: f for f in _ALL}
