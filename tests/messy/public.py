"""Messy tables of public life: a school, a survey, a panel of households, a gym, a census, a database of 70 columns."""

from __future__ import annotations

import sqlite3
from datetime import date
from pathlib import Path

from tests.messy.draw import Dice, spelled, write_csv


def school(folder: Path) -> Path:
    """Marks, separated by tabs: pupils by name, and their teachers, who are people too."""
    dice, people = Dice(14_21), 320
    names, teachers = (
        dice.names(people),
        ["Hr. Ødegaard", "Fr. Lund", "Hr. Bakke", "Fr. Strand", "Fr. Moen", "Hr. Dahl"],
    )
    classes = dice.pick(["7a", "7b", "8a", "8b", "9a", "9b"], people)
    subjects = ["Maths", "English", "Science", "History", "Sports", "Music"]
    rows = []
    for i in range(people):
        for k, subject in enumerate(subjects):
            mark = dice.holes([str(dice.whole(1, 6, 1)[0])], ["abs", "-", ""], 0.06)[0]
            said = dice.sayings(1)[0] if dice.rng.random() < 0.7 else ""
            rows.append(
                [names[i], classes[i], spelled(dice, [subject])[0], teachers[(k + len(classes[i])) % 6], mark, said]
            )
    header = ["Pupil", "Class", "Subject", "Teacher", "Mark", "Comment"]
    return write_csv(folder / "marks.tsv", header, rows, delimiter="\t")


def survey(folder: Path) -> Path:
    """One row for each respondent, answers as codes (9 is no answer), and a weight."""
    dice, n = Dice(14_22), 2_500
    columns: dict[str, list[object]] = {
        "respondent_id": [*dice.rng.permutation(n) + 100_001],
        "age_group": [*dice.pick(["18-24", "25-34", "35-49", "50-64", "65+"], n)],
        "Gender": [*spelled(dice, dice.pick(["woman", "man", "other"], n, [51, 48, 1]))],
        "region": [*dice.pick(["North", "South", "East", "West"], n)],
        "religion": [*dice.pick(["none", "catholic", "protestant", "muslim", "refused"], n)],
        "vote_last": [
            *dice.holes(dice.pick(["Red", "Blue", "Green", "did not vote"], n), ["refused", "don't know"], 0.1)
        ],
    }
    for k in range(1, 13):
        codes = dice.whole(1, 5, n)
        columns[f"q{k}"] = [9 if x < 0.04 else c for c, x in zip(codes, dice.rng.random(n), strict=True)]
    columns["weight"] = [round(float(x), 4) for x in dice.rng.lognormal(0, 0.4, n)]
    return write_csv(folder / "survey_wave3.csv", [*columns], zip(*columns.values(), strict=True))


def panel(folder: Path) -> Path:
    """A panel: a person is a household and a number within it, which alone says nothing."""
    dice, homes = Dice(14_23), 900
    rows: list[list[object]] = []
    for h in range(homes):
        hhid, income = 10_000_000 + 137 * h, dice.money(38_000, 1)[0]
        place = dice.pick(["Bremen", "Hessen", "Saarland", "Sachsen"], 1)[0]
        for pnr in range(1, dice.whole(1, 5, 1)[0] + 1):
            sex, born, first = dice.whole(1, 2, 1)[0], dice.whole(1930, 2005, 1)[0], dice.whole(1, 3, 1)[0]
            for wave in range(first, 5):
                work = dice.pick(["full-time", "part-time", "unemployed", "retired"], 1)[0]
                rows.append([hhid, pnr, wave, sex, born, place, work, f"{income:.2f}", dice.whole(0, 10, 1)[0]])
    header = ["hhid", "pnr", "wave", "sex", "birth_year", "land", "lfs", "hh_income", "satisfaction"]
    return write_csv(folder / "panel_long.csv", header, rows)


def gym(folder: Path) -> Path:
    """Visits without a word of whose: the same people come again and nothing says so."""
    dice, people, n = Dice(14_24), 400, 5_000
    ages = dice.whole(16, 80, people)
    sexes = dice.pick(["W", "M"], people)
    areas = dice.pick(["SE1", "SE5", "SE15", "SE22", "SW2"], people)
    who = dice.repeated(people, n)
    days = [f"{d}" for d in dice.days(date(2024, 1, 1), date(2024, 3, 31), n)]
    classes = spelled(dice, dice.pick(["Spin", "Yoga", "Pilates", "Free weights"], n))
    minutes = dice.holes([str(k) for k in dice.whole(10, 120, n)], ["null", ""], 0.03)
    own = [[ages[i], sexes[i], areas[i]] for i in who]
    rows = ([*a, *b] for a, *b in zip(own, days, classes, minutes, strict=True))
    return write_csv(folder / "visits.csv", ["Age", "Gender", "Postcode area", "Date", "Activity", "Minutes"], rows)


def census(folder: Path) -> Path:
    """A French extract with a byte-order mark: a number for each person, communes 01004 and 2A004, narrow blanks."""
    dice, n = Dice(14_25), 3_000
    births = dice.days(date(1930, 1, 1), date(2006, 1, 1), n)
    sexes = dice.pick(["H", "F"], n)
    keys = dice.rng.permutation(900_000)[:n]
    insee = [
        f"{'1' if s == 'H' else '2'} {d:%y} {d:%m} {k // 10000:02d} {k // 10 % 1000:03d} {k % 1000:03d}"
        for s, d, k in zip(sexes, births, keys, strict=True)
    ]
    codes = dice.pick(["01004", "13055", "2A004", "2B033", "69123", "75056", "06088"], n)
    jobs = spelled(dice, dice.pick(["ouvrier", "employé", "cadre", "retraité", "artisan", "sans activité"], n))
    wed = dice.pick(["célibataire", "marié(e)", "pacsé(e)", "divorcé(e)", "veuf/veuve"], n)
    nation = dice.pick(["française", "algérienne", "portugaise", "italienne"], n, [90, 4, 4, 2])
    earn = dice.holes(
        [f"{x:,.2f}".replace(",", "\u202f").replace(".", ",") for x in dice.money(23_000, n)], ["n.d.", ""], 0.07
    )
    born = [f"{d:%d/%m/%Y}" for d in births]
    header = ["N° INSEE", "Date de naissance", "Sexe", "Code commune", "Situation matrimoniale", "Profession"]
    header += ["Nationalité", "Revenu annuel (€)", "Commentaire"]
    rows = zip(insee, born, sexes, codes, wed, jobs, nation, earn, [""] * n, strict=True)
    return write_csv(folder / "extrait_recensement.csv", header, rows, delimiter=";", encoding="utf-8-sig")


#: Columns that a query must quote, and then blanks, signs and many more.
RESERVED = ["user id", "order", "group", "select", 'a"b', "größe", "from", "Sex", "table", "50%", "x'y", "empty", "all"]


def reserved(folder: Path) -> Path:
    """A table of a database: 70 columns, words of SQL among their names, some with nothing in them."""
    dice, people, n = Dice(14_26), 600, 1_800
    who = dice.repeated(people, n)
    ids, sexes = [5_000_000 + 17 * i for i in range(people)], dice.pick(["female", "male"], people)
    groups, sizes = dice.pick(["alpha", "beta", "gamma"], people), dice.whole(148, 201, people)
    columns: list[list[object]] = [
        [ids[i] for i in who],
        [*dice.whole(1, 40, n)],
        [groups[i] for i in who],
        [*dice.pick(["one", "two"], n)],
        [*dice.money(20, n)],
        [sizes[i] for i in who],
        [*dice.pick(["web", "shop"], n)],
        [sexes[i] for i in who],
        [*dice.pick(["oak", "ash"], n)],
        [*dice.whole(0, 100, n)],
        [*dice.whole(0, 1, n)],
        [None] * n,
        ["all"] * n,
    ]
    more = [f"col {k}" for k in range(len(RESERVED), 70)]
    columns += [[None] * n if k % 10 == 0 else [*dice.whole(0, 9, n)] for k in range(len(more))]
    quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in [*RESERVED, *more])
    path = folder / "app.db"
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(f"CREATE TABLE events ({quoted})".replace('"user id"', '"user id" INTEGER'))
        connection.executemany(f"INSERT INTO events VALUES ({', '.join('?' * 70)})", zip(*columns, strict=True))
    connection.close()
    return path
