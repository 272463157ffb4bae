"""Messy tables of money: a shop, a payroll, loans."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from tests.messy.draw import Dice, spelled, write_csv


def shop(folder: Path) -> Path:
    """Orders: each has a number of its own, the customer is an address that comes again."""
    dice, people, n = Dice(14_11), 2_100, 6_000
    mails = [f"{a.lower().replace(' ', '.')}{i}@example.net" for i, a in enumerate(dice.names(400) * 6)][:people]
    lands = dice.pick(["Deutschland", "Österreich", "Schweiz", "France"], people, [60, 20, 15, 5])
    who = dice.repeated(people, n)
    products = spelled(dice, dice.pick(["Wanderschuh", "Regenjacke", "Stirnlampe", "Zelt 2P", "Kocher"], n))
    spent = [f"€ {x:,.2f}".translate(str.maketrans(",.", ".,")) for x in dice.money(310, n)]
    spent = dice.holes(spent, [""], 0.02)
    hours, minutes = dice.whole(0, 23, n), dice.whole(0, 59, n)
    first = dice.days(date(2024, 1, 1), date(2024, 6, 30), n)
    days = [f"{d}T{h:02d}:{m:02d}:07Z" for d, h, m in zip(first, hours, minutes, strict=True)]
    news = dice.pick(["yes", "no", "Yes", "NO"], n)
    header = ["order_no", "customer e-mail", "ordered_at", "product", "amount", "country", "newsletter"]
    land = spelled(dice, [lands[i] for i in who])
    rows = zip(
        (f"2024-{k:06d}" for k in range(n)), (mails[i] for i in who), days, products, spent, land, news, strict=True
    )
    return write_csv(folder / "orders.csv", header, rows)


_TITLE = "Acme Holdings plc - Payroll,,,,,,\r\nPeriod: Jan-Jun 2024,,,,,,\r\n,,,,,,\r\n"


def payroll(folder: Path) -> Path:
    """A spreadsheet saved as text, with a title above the names of the columns; a row for each month."""
    dice, people = Dice(14_12), 350
    names, grades = dice.names(people), dice.pick(["A1", "A2", "B1", "B2", "C"], people)
    units = dice.pick(["Finance", "Warehouse", "Sales", "I.T."], people)
    born = [f"{d:%d/%m/%Y}" for d in dice.days(date(1958, 1, 1), date(2004, 1, 1), people)]
    rows = []
    for month in range(1, 7):
        for i in range(people):
            gross = f"£{dice.money(2800, 1)[0]:,.2f}"
            rows.append([f"E{i + 10001}", names[i], born[i], units[i], grades[i], f"2024-{month:02d}", gross])
    header = ["Employee No.", "Employee name", "D.O.B.", "Department", "Grade", "Month", "Gross pay"]
    return write_csv(folder / "payroll_h1.csv", header, rows, before=_TITLE)


def loans(folder: Path) -> Path:
    """American loans: SSNs that a spreadsheet made numbers of, ZIP codes that begin with 0, dollars as text."""
    dice, people, n = Dice(14_13), 1_900, 3_000
    ssn = [int(k) for k in dice.rng.choice(899_999_999, people, replace=False) + 1_000_000]
    born = [f"{d.month}/{d.day}/{d.year}" for d in dice.days(date(1940, 1, 1), date(2003, 1, 1), people)]
    zips = dice.pick(["01001", "02139", "06511", "10027", "60614", "94110"], people)
    states = dice.pick(["MA", "CT", "NY", "IL", "CA"], people)
    incomes = dice.holes([f"${round(x, -2):,.0f}" for x in dice.money(54_000, people)], ["unknown", "#N/A"], 0.05)
    scores = dice.whole(480, 850, people)
    who = dice.repeated(people, n)
    given = [f"{d.month}/{d.day}/{d.year}" for d in dice.days(date(2015, 1, 1), date(2024, 1, 1), n)]
    failed = dice.pick(["Y", "N", "y", "n"], n, [1, 8, 0.2, 0.8])
    header = ["LoanNumber", "SSN", "DOB", "ZIP", "State", "AnnualIncome", "FICO", "Originated", "Defaulted"]
    own = [[ssn[i], born[i], zips[i], states[i], incomes[i], scores[i]] for i in who]
    rows = ([f"L{k:07d}", *a, *b] for k, (a, *b) in enumerate(zip(own, given, failed, strict=True)))
    return write_csv(folder / "loan_tape.csv", header, rows)
