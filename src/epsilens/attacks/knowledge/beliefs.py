"""Beliefs over the values of a record: probabilities with labels, the odds between two of them, and what to say when
they make no sense.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import checks
from ...checks import Array
from ...errors import InputError

POSITIVE = ("more likely", "less likely")


def distribution(
    name: str, prior: ArrayLike | Mapping[Any, float], values: Any = None
) -> tuple[Array, tuple[Any, ...]]:
    """Probabilities over two values or more, normalised, and the values they belong to."""
    if isinstance(prior, Mapping):
        if values is not None:
            raise InputError(f"{name} names its values already: leave out values", parameter="values")
        values, prior = list(prior), list(prior.values())
    p = checks.probability(name, prior)
    if p.ndim != 1 or p.size < 2:
        raise InputError(
            f"{name} has shape {p.shape}: give a list of probabilities, one for each of two values or more",
            parameter=name,
        )
    sums_to_one(name, p)
    labels = tuple(range(p.size)) if values is None else listed("values", values)
    if len(labels) != p.size:
        raise InputError(
            f"values has {len(labels)} entries and {name} has {p.size}: give as many of each", parameter="values"
        )
    if len({repr(v) for v in labels}) < len(labels):
        raise InputError("values has an entry twice: give each value once", parameter="values")
    return p / p.sum(), labels


def sums_to_one(name: str, p: Array) -> None:
    """Refuse what is no distribution."""
    if abs(p.sum() - 1) > 1e-9:
        raise InputError(f"{name} sums to {p.sum():.12g}: give probabilities that sum to 1", parameter=name)


def which(name: str, value: Any, labels: Sequence[Any]) -> int:
    """The place of a value among the labels; True is not 1."""
    for i, label in enumerate(labels):
        same = isinstance(label, bool) == isinstance(value, bool) and label == value
        if isinstance(same, bool | np.bool_) and same:
            return i
    shown = ", ".join(map(repr, labels[:8])) + (", …" if len(labels) > 8 else "")
    raise InputError(f"{name} is {brief(value)}: give one of {shown}", parameter=name)


def mapping(name: str, value: Any, example: str) -> Mapping[Any, Any]:
    """A mapping, or a sentence with an example of one; a table may not be empty."""
    if not isinstance(value, Mapping) or (name == "table" and not value):
        raise InputError(f"{name} is {brief(value)}: give a mapping such as {example}", parameter=name)
    return value


def listed(name: str, value: Any) -> tuple[Any, ...]:
    """The entries of a list."""
    try:
        return tuple(value)
    except TypeError:
        raise InputError(f"{name} is {brief(value)}: give a list", parameter=name) from None


def brief(value: Any) -> str:
    """A value as a sentence shows it: on one line, and not too long."""
    shown = " ".join(repr(value).split())
    return shown if len(shown) <= 40 else shown[:37] + "..."


def between(
    p: Array, labels: Sequence[Any], pair: Any, positive: str, given: str, log_p: Array | None = None
) -> tuple[float, float, int, int]:
    """(prior, odds, place under H0, place under H1) between two values of a belief.

    They are the pair asked for, or its least and most likely possible values; ``log_p`` stands for probabilities too
    small for doubles, ``given`` for the words that say what is known.
    """
    checks.one_of("positive", positive, POSITIVE)
    logs = log(p) if log_p is None else log_p
    if pair is not None:
        i, j = pair_of(pair, labels)
        for k in (i, j):
            if logs[k] == -np.inf:
                raise InputError(
                    f"pair has {brief(labels[k])}, which has probability 0{given}: "
                    "nothing is left to guess, so give two values that are both possible",
                    parameter="pair",
                )
    else:
        possible = np.flatnonzero(logs > -np.inf)
        if possible.size < 2:
            raise InputError(
                f"the only possible value{given} is {brief(labels[int(possible[0])])}: "
                "nothing is left to guess, so the adversary needs no release"
            )
        order = possible[np.argsort(logs[possible], kind="stable")]
        i, j = int(order[0]), int(order[-1])
        if positive == "less likely":
            i, j = j, i
    gap = float(logs[i] - logs[j])
    if not -700 < gap < 700:
        raise InputError(
            f"the odds between {brief(labels[i])} and {brief(labels[j])}{given} are beyond 1e304: "
            "the adversary is as good as certain, so give two values that are both possible"
        )
    if float(min(p[i], p[j])) > 1e-290:
        return float(p[j] / (p[i] + p[j])), float(p[i] / p[j]), i, j
    return 1 / (1 + math.exp(gap)), math.exp(gap), i, j


def most_telling(rows: Array, labels: Sequence[Any], pair: Any) -> int:
    """The row (what other records can say) with the most lopsided odds, or one that settles the question, if any."""
    possible = np.flatnonzero(rows.any(axis=1))
    logs = log(rows[possible])
    with np.errstate(invalid="ignore"):
        if pair is None:
            lowest = np.where(np.isfinite(logs), logs, np.inf).min(axis=1)
            size = np.where(np.isfinite(logs).sum(axis=1) > 1, logs.max(axis=1) - lowest, np.inf)
        else:
            i, j = pair_of(pair, labels)
            size = np.where(np.isneginf(logs[:, j]), -np.inf, logs[:, j] - logs[:, i])
    return int(possible[int(np.argmax(size))])


def pair_of(pair: Any, labels: Sequence[Any]) -> tuple[int, int]:
    try:
        first, second = pair
    except (TypeError, ValueError):
        raise InputError(f"pair is {brief(pair)}: give two values, the one under H0 first", parameter="pair") from None
    i, j = which("pair", first, labels), which("pair", second, labels)
    if i == j:
        raise InputError(f"pair has {brief(first)} twice: give two different values", parameter="pair")
    return i, j


def log(p: Array) -> Array:
    """log p, −∞ where p is 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(p))


def axes(
    table: Array, records: Sequence[str] | None, values: Sequence[Sequence[Any]] | None
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The names of the records and the values of each."""
    names = (
        [f"record {i}" for i in range(table.ndim)] if records is None else [str(r) for r in listed("records", records)]
    )
    if len(names) != table.ndim:
        raise InputError(
            f"records names {len(names)} records and joint has {table.ndim} axes: give one name for each",
            parameter="records",
        )
    labels = [tuple(range(n)) for n in table.shape]
    if values is not None:
        labels = [listed("values", own) for own in listed("values", values)]
    if [len(v) for v in labels] != list(table.shape):
        raise InputError(
            f"values does not fit joint of shape {table.shape}: give one list for each axis, as long as it",
            parameter="values",
        )
    return names, labels


def place_of(name: str, record: Any, names: Sequence[str]) -> int:
    """The axis of a record, by number or name."""
    if isinstance(record, str) and record in names:
        return names.index(record)
    if isinstance(record, int | np.integer) and not isinstance(record, bool) and 0 <= record < len(names):
        return int(record)
    raise InputError(
        f"{name} has {brief(record)}, which is no record: give 0 to {len(names) - 1}, or a name from records",
        parameter=name,
    )


def impossible(told: str) -> str:
    """The sentence for knowledge that contradicts itself."""
    return (
        f"what is known ({told}) has probability 0: the knowledge contradicts itself, "
        "so correct what is known or the probabilities"
    )


def outside(rho: Mapping[str, Fraction]) -> str:
    """Coefficients that no record with two values has, and the largest that would do."""
    told = ", ".join(f"{name} is {float(value):g}" for name, value in rho.items() if value)
    product = (2 - rho["rho_p"]) * (1 - rho["rho_c"]) * (1 - rho["rho_t"])
    last = "rho_t" if rho["rho_t"] else "rho_c"
    rest = product / (1 - rho[last])
    advice = f"lower {last} below {float(1 - 1 / rest):.4g}" if rest > 1 else "lower them"
    return (
        f"{told}: together they need (2−ρ_p)(1−ρ_c)(1−ρ_t) above 1, it is {float(product):.4g}: "
        f"{advice}, or say what is known as a table"
    )


# -- the state of a Markov chain at one time, given its states at others: forward–backward, in logarithms -------------


def _times(a: Array, b: Array) -> Array:
    """The product of two matrices given by their logarithms; a chain's probabilities may leave double precision."""
    return np.stack([np.logaddexp.reduce(row[:, None] + b, axis=0) for row in a])


def _power(log_matrix: Array, steps: int) -> Array:
    """The matrix's power by squaring; its rows are kept summing to one, so that nothing drifts."""
    size = log_matrix.shape[0]
    result = np.where(np.eye(size) > 0, 0.0, -np.inf)
    while steps:
        if steps & 1:
            result = _normal(_times(result, log_matrix))
        log_matrix, steps = _normal(_times(log_matrix, log_matrix)) if steps > 1 else log_matrix, steps >> 1
    return result


def _normal(log_matrix: Array) -> Array:
    return np.asarray(log_matrix - np.logaddexp.reduce(log_matrix, axis=1, keepdims=True))


def log_state(initial: Array, transition: Array, at: int, observed: Mapping[int, int]) -> Array | None:
    """log P(state at time ``at`` | observed states), or None if what was observed cannot be.

    Only the last state seen before and the first one after matter to it; the others must merely be possible.
    """
    with np.errstate(divide="ignore"):
        log_p, log_a = np.log(initial), np.log(transition)
    message, now, result = log_p[None, :], 0, None
    for time in sorted({*observed, at}):
        message = _times(message, _power(log_a, time - now))
        now = time
        if time == at:
            result = message[0]
            continue
        state = observed[time]
        if message[0, state] == -np.inf:
            return None
        seen = np.full_like(message, -np.inf)
        if result is not None and time == min(t for t in observed if t > at):
            result = result + _power(log_a, time - at)[:, state]
        seen[0, state] = 0.0
        message = seen
    assert result is not None
    total = np.logaddexp.reduce(result)
    return np.asarray(result - total)
