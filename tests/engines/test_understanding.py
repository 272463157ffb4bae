"""What a table is, is the same on every engine: people in several spellings, days as numbers, telephones."""

from __future__ import annotations

import random

import pyarrow as pa
from tests.engines.places import Place

from epsilens.data.schema.inference import ColumnRole, infer_schema, likely_owner
from epsilens.data.tables.table import open_table

R = ColumnRole

DICE = random.Random(14)
WHO = [DICE.randrange(90) for _ in range(400)]
WAYS = (str.upper, str.lower, lambda text: f" {text} ")
TABLE = pa.table(
    {
        "MRN": ["N/A" if i % 50 == 0 else WAYS[i % 3](f"mrn{who:05d}") for i, who in enumerate(WHO)],
        "born": [19_500_101 + 10_000 * (who % 40) + who % 28 for who in WHO],
        "npi": [1_000_000_000 + 9 * DICE.randrange(60) for _ in WHO],
        "when": [1_714_564_800_123 + 999 * i for i, _ in enumerate(WHO)],
        "Sex": [DICE.choice(["f", "F ", "m"]) for _ in WHO],
        "cost": [f"{DICE.randrange(9000)},{DICE.randrange(10)} €" for _ in WHO],
        "zz": ["abc"[who % 3] for who in WHO],
        "weight": [DICE.random() for _ in WHO],
    }
)


def test_the_same_everywhere(place: Place) -> None:
    with open_table(place.put(TABLE), place.engine) as opened:
        found, like = infer_schema(opened), likely_owner(opened)
    people = {who for i, who in enumerate(WHO) if i % 50}
    assert found.person == like
    assert found.person is not None
    assert (found.person.name, found.person.values, found.person.everyone) == ("MRN", len(people), False)
    assert {c.name: c.role for c in found.columns} == {
        "MRN": R.IDENTIFIER, "born": R.DATE, "npi": R.IDENTIFIER, "when": R.DATE, "Sex": R.CATEGORY,
        "cost": R.NUMBER, "zz": R.CATEGORY, "weight": R.NUMBER,
    }  # fmt: skip
    assert {c.name for c in found.columns if c.form} == {"MRN", "born", "Sex", "cost"}
    assert {c.name for c in found.columns if c.known} == {"born", "Sex", "zz"}
