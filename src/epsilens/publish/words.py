"""What a release says of itself, beside its numbers."""

from __future__ import annotations

from ..plan.noise import contribution
from ..plan.plan import Release

#: What the interval of that number holds.
TOUCHED = "the people whom the limit touched"


def interval_of(plan: Release, i: int) -> str:
    """What the intervals of query i hold: the number on the whole table, or the one that limits and bounds leave.

    >>> from epsilens.plan.file import read_release
    >>> plan = {"data": {"table": "t", "person": "who"}, "mechanism": {"epsilon": 1}, "queries": [
    ...     {"count": True}, {"count": True, "by": "ward", "threshold": 9}, {"sum": "x", "bounds": [0, 9]},
    ...     {"count": True, "by": "ward", "threshold": 9, "touched": "10%"}]}
    >>> [interval_of(read_release(plan), i) for i in range(4)]
    ['the count', 'the limited count', 'the limited sum', 'the count']
    """
    query, one = plan.queries[i], contribution(plan, i)
    noun = query.kind.value if query.kind.bounded else "count"
    limited = query.kind.bounded or (one.drops and query.touched is None)
    return f"the limited {noun}" if limited else f"the {noun}"


def touched_name(name: str) -> str:
    """What the number of people whom a limit touched is called."""
    return f"{name}: people in more groups than they are counted in"


def lost_of(plan: Release) -> tuple[str, ...]:
    """What bounds and limits may have taken away before the noise, in words: the amounts are the data's own."""
    made = []
    if any(query.bounds is not None for query in plan.queries):
        made.append(
            "Values beyond the bounds were cut to them, which may move sums and averages; by how much is not told."
        )
    if plan.data.several:
        made.append(
            "Of people with more rows or groups than the plan allows only some were used, chosen by lot, which may "
            "lower counts and sums; by how much is not told."
        )
    if any(query.threshold is not None for query in plan.queries):
        made.append("Groups whose noisy number of people is below the threshold are left out.")
    if any(query.groups is not None for query in plan.queries):
        made.append("Groups are those that were listed beforehand; rows in other groups are not counted.")
    limited = [interval_of(plan, i).startswith("the limited") for i in range(len(plan.queries))]
    holds = "Each interval by itself holds, 95 times of 100,"
    left = "what limits and bounds leave of the whole table’s"
    if all(limited):
        made.append(f"{holds} the limited answer: {left}.")
    elif any(limited):
        made.append(f"{holds} what the column interval_of says. A limited answer is {left}.")
    else:
        made.append(f"{holds} the answer on the whole table.")
    return tuple(made)
