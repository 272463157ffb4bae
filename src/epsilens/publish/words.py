"""What a release says of itself, beside its numbers."""

from __future__ import annotations

import math

from ..assessment.promise import Promise
from ..data.queries import Noise
from ..numerics.counted import count, grouped, scale_for
from ..numerics.written import rounded_up
from ..plan.noise import contribution
from ..plan.plan import Release
from ..worlds import Neighbours

__all__ = ["TOUCHED", "guarantee_of", "interval_of", "lost_of", "touched_name"]

#: What the interval of that number holds.
TOUCHED = "the people whom the limit touched"

_NOISE = {Noise.LAPLACE: "Laplace", Noise.GAUSSIAN: "Gaussian"}


def guarantee_of(plan: Release, promise: Promise) -> str:
    """The guarantee in one sentence, with its baseline."""
    scale = scale_for([promise.success], [0.5])
    many = count(promise.success, scale)
    many = many if " than " in many or promise.success >= 1 else f"at most {many}"
    replaced = plan.mechanism.neighbours is Neighbours.REPLACE
    what = "which of two records is somebody's" if replaced else "whether somebody is in the table"
    who = "everyone with the same " + plan.data.unit if plan.data.unit else "any one person"
    epsilon = f"ε = {plan.epsilon:g}"
    deltas = []
    if plan.mechanism.noise is Noise.GAUSSIAN and plan.mechanism.delta is not None:
        deltas.append(plan.mechanism.delta)
    if promise.delta:
        deltas.append(promise.delta)
    with_delta = f", δ = {rounded_up(math.fsum(deltas) * (1 - 1e-12))}" if deltas else ""
    return (
        f"An adversary who knows everything else guesses right {many} times of {grouped(scale)} {what}; "
        f"a coin gets {grouped(scale // 2)}. "
        f"This holds for {who} ({epsilon}{with_delta}, {_NOISE[plan.mechanism.noise]} noise)."
    )


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
    what = "the answer on the whole table"
    if any(limited):
        left = "the limited answer, which is what limits and bounds leave of the whole table’s"
        what = left if all(limited) else f"what the column interval_of says, {left} or the whole answer"
    made.append(f"Each interval by itself holds {what}, 95 times of 100.")
    return tuple(made)
