"""The bundled tables, real ones, as an office might pass them on: other names, other signs, other words for nothing."""

from __future__ import annotations

from pathlib import Path

from tests.messy.draw import Dice, spelled, write_csv


def _columns(name: str) -> dict[str, list]:
    import pyarrow.parquet as pq

    import epsilens.data

    table = pq.read_table(Path(epsilens.data.__file__).parent / "files" / f"{name}.parquet")
    return {column: table[column].to_pylist() for column in table.column_names}


def insurance(folder: Path) -> Path:
    """RAND's person-years with the columns renamed: ``Member No.``, ``Sex``, dollars with commas."""
    dice, had = Dice(14_31), _columns("rand-hie")
    n = len(had["person"])
    costs = [f"{x:,.2f}" if x is not None else "" for x in had["drug_cost"]]
    columns = {
        "Member No.": had["person"],
        "SITE": had["site"],
        "Study Yr": had["year"],
        "Age (yrs)": had["age"],
        "Sex": spelled(dice, ["F" if f else "M" for f in had["female"]]),
        "Race": ["B" if b else "W" for b in had["black"]],
        "Yrs of education": had["education"],
        "Family income ($)": dice.holes([f"{x:,.0f}" for x in had["income"]], ["NA", "N/A"], 0.02),
        "# mental visits": had["mental_visits"],
        "Drug spend": dice.holes(costs, [".", "missing"], 0.02),
        "Remark": dice.holes([""] * n, dice.sayings(60), 0.1),
    }
    return write_csv(folder / "hie export.csv", [*columns], zip(*columns.values(), strict=True))


def labour(folder: Path) -> Path:
    """Adult without any number for its people: semicolons, decimal commas, ``?`` where nothing is known."""
    dice, had = Dice(14_32), _columns("adult")

    def said(name: str) -> list[str]:
        return spelled(dice, ["?" if x is None else str(x) for x in had[name]])

    columns = {
        "Age": had["age"],
        "Work class": said("workclass"),
        "Highest schooling": said("education"),
        "Marital status": said("marital_status"),
        "Occupation": said("occupation"),
        "Race": said("race"),
        "Gender": said("sex"),
        "Country of birth": said("native_country"),
        "Hours/week": [f"{x},0" for x in had["hours_per_week"]],
        "Capital gain": [f"{x:,.2f}".translate(str.maketrans(",.", ".,")) for x in had["capital_gain"]],
        "Income class": said("income"),
        "fnlwgt": had["weight"],
    }
    return write_csv(folder / "labour force.csv", [*columns], zip(*columns.values(), strict=True), delimiter=";")
