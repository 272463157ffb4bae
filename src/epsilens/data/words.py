"""Words in a row."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["listed"]


def listed(items: Sequence[str]) -> str:
    """Words in a row.

    >>> listed(["site", "age", "sex"]), listed(["site"])
    ('site, age and sex', 'site')
    """
    if len(items) < 2:
        return "".join(items)
    return ", ".join(items[:-1]) + " and " + items[-1]
