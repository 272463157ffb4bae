"""People counted once: the row, and so the group, under which a person enters a count.

A person with rows in several groups is counted in the first of them, empty groups last, so that one person moves the
counts by one. The order is written out because engines disagree on where NULL sorts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .engines import need_ibis

__all__ = ["at_most", "counted_once"]


def at_most(rows: Any, keys: Sequence[str], most: int) -> Any:
    """At most so many rows of each person ``p``, in the order of the groups ``keys``."""
    ibis = need_ibis()
    order = [part for key in keys for part in (rows[key].isnull(), rows[key])]
    place = ibis.row_number().over(ibis.window(group_by="p", order_by=order or [rows["p"]]))
    placed = rows.mutate(place_=place)
    return placed.filter(placed["place_"] < most).drop("place_")


def counted_once(base: Any, groups: dict[int, int]) -> Any:
    """One row a person: for each query i whether they count (``m{i}``) and in which groups (``g{i}_j``).

    ``groups`` maps a query's number to how many columns it is split by.
    """
    people = base.select("p").distinct()
    for i, columns in groups.items():
        keys = [f"g{i}_{j}" for j in range(columns)]
        covered = base.filter(base[f"m{i}"]).select("p", *keys)
        first = at_most(covered, keys, 1)
        first = first.select(**{f"p_{i}": first["p"]}, **{key: first[key] for key in keys})
        joined = people.left_join(first, people["p"] == first[f"p_{i}"])
        people = joined.mutate(**{f"m{i}": joined[f"p_{i}"].notnull()}).drop(f"p_{i}")
    return people
