"""The conditions under which one definition of privacy implies another, as the command and the page take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .parameter import Control, Kind, Panel, Parameter, Place, flag
from .said import Spelling, number

__all__ = ["CONDITIONS", "conditions_given"]

CONDITIONS: dict[str, Parameter] = {
    p.name: p
    for p in (
        Parameter(
            "dependent",
            "Records that depend on each other",
            Kind.NUMBER,
            Panel.DATA,
            shown="1",
            control=Control(
                "Records that go together",
                "The largest group of records that depend on each other; 1 if none do.",
                "1",
            ),
        ),
        Parameter(
            "records",
            "How many records there are",
            Kind.NUMBER,
            Panel.DATA,
            control=Control("Records in the data", "Needed for whole databases; may stay empty."),
        ),
        Parameter(
            "priors",
            "Under one prior or every prior",
            Kind.WORD,
            Panel.ADVERSARY,
            shown="one",
            metavar="one|every",
            choices={"one": "one prior belief", "every": "every prior belief"},
            control=Control("Guarantees hold for", start="one"),
        ),
        Parameter(
            "full",
            "Every database is possible under the prior",
            Kind.FLAG,
            Panel.ADVERSARY,
            control=Control("Every database is possible", place=Place.RARE),
        ),
        Parameter(
            "least",
            "Probability no value of a record is below",
            Kind.NUMBER,
            Panel.ADVERSARY,
            control=Control(
                "Rarest value, from 0 to 0.5",
                "No value of a record is less probable than this.",
                "0",
                place=Place.RARE,
            ),
        ),
        Parameter(
            "constrained",
            "Blowfish: it is known which databases are possible",
            Kind.FLAG,
            Panel.DATA,
            control=Control("Blowfish: possible databases are known", place=Place.RARE),
        ),
        Parameter(
            "diameter",
            "Blowfish: edges between any two values",
            Kind.NUMBER,
            Panel.DATA,
            shown="1",
            control=Control(
                "Blowfish: steps between values",
                "Edges of the graph between any two values; inf if some are not joined.",
                "1",
                place=Place.RARE,
            ),
        ),
        Parameter(
            "secrets",
            "Pufferfish: records or any",
            Kind.WORD,
            Panel.DATA,
            shown="records",
            choices={"records": "values of records", "any": "any secrets"},
            control=Control("Pufferfish hides", start="records", place=Place.RARE),
        ),
    )
}


def conditions_given(said: Mapping[str, Any], spelled: Spelling = flag) -> dict[str, Any]:
    """The conditions from text; records are independent unless it is said how many depend on each other.

    >>> conditions_given({"records": "4", "full": True})
    {'dependent': 1, 'records': 4.0, 'full': True}
    """
    given = {name: said.get(name) for name in CONDITIONS}
    made = {
        name: number(spelled(name), str(value), name) if CONDITIONS[name].kind is Kind.NUMBER else value
        for name, value in given.items()
        if value is not None and value is not False and value != ""
    }
    return {"dependent": 1, **made}
