"""Numbers as people read them: frequencies out of 100 that never round to certainty."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["listed", "of_100", "people_of_100"]


def of_100(share: float) -> str:
    """A probability as a frequency; 99.9% is not "100 of 100".

    >>> of_100(0.419), of_100(0.999), of_100(0.0003), of_100(0.0), of_100(1.0)
    ('42 of 100', 'more than 99 of 100', 'fewer than 1 of 100', '0 of 100', '100 of 100')
    """
    if share in (0.0, 1.0):
        return f"{int(share) * 100} of 100"
    if share > 0.99:
        return "more than 99 of 100"
    if share < 0.01:
        return "fewer than 1 of 100"
    return f"{round(100 * share)} of 100"


def people_of_100(count: int, total: int) -> str:
    """A count of people as the start of a sentence.

    >>> people_of_100(2475, 5912), people_of_100(0, 3), people_of_100(3, 3), people_of_100(1, 2000)
    ('42 of 100 people', 'None of the 3 people', 'All 3 people', 'Fewer than 1 of 100 people')
    """
    if count == 0:
        return f"None of the {total:,} people"
    if count == total:
        return "The only person" if total == 1 else f"All {total:,} people"
    text = of_100(count / total)
    return text[0].upper() + text[1:] + " people"


def listed(items: Sequence[str]) -> str:
    """Words in a row.

    >>> listed(["site", "age", "sex"]), listed(["site"])
    ('site, age and sex', 'site')
    """
    if len(items) < 2:
        return "".join(items)
    return ", ".join(items[:-1]) + " and " + items[-1]
