"""What the adversary knows before the release, as prior odds (paper 000, §5).

What is known of one record beforehand (how common a value is, what records say that are known or are not in the data)
multiplies the likelihood ratio by a constant. So it is one number, c = P(H0)/P(H1) = (1−π)/π, and leaves the trade-off
alone, which belongs to the mechanism (Theorem D62): a :class:`Knowledge` is handed to the readings that take a prior.

Related records that are in the data and *unknown* are another matter: the answer then speaks of the record through
them as well, the two laws are mixtures over their values, and the trade-off changes. With two records that agree 9
times of 10, an adversary who knows neither guesses one right 0.784 of the time behind Laplace noise of scale 1 on
their sum, not 0.697: :mod:`epsilens.attacks.correlated` has that experiment.

>>> import epsilens as el
>>> known = el.attacks.Knowledge.from_coefficients(rho_p=0.2, rho_c=0.1)
>>> round(known.odds, 12), round(known.prior, 6)
(0.62, 0.617284)
>>> e = el.laplace(epsilon=2.0)
>>> round(e.fbeta(prior=known.prior), 12), round(known.of(e).fbeta(), 12)
(0.856661322074, 0.856661322074)
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from ..checks import Array, Number
from ..errors import InputError
from ..experiment import Experiment
from ..numerics.values import ValueSemantics
from ..results import Result, SentenceResult, ShortResult
from ..worlds import Worlds, WorldsKind, worlds_of_values

POSITIVE = ("more likely", "less likely")


def distribution(
    name: str, prior: ArrayLike | Mapping[Any, float], values: object = None
) -> tuple[Array, tuple[Any, ...]]:
    """Probabilities over two values or more, normalised, and the values they belong to."""
    if isinstance(prior, Mapping):
        if values is not None:
            raise InputError(f"{name} names its values already: leave out values", "values")
        values, prior = list(prior), list(prior.values())
    p = checks.probability(name, prior)
    if p.ndim != 1 or p.size < 2:
        raise InputError(
            f"{name} has shape {p.shape}: give a list of probabilities, one for each of two values or more", name
        )
    sums_to_one(name, p)
    labels = tuple(range(p.size)) if values is None else entries("values", values)
    if len(labels) != p.size:
        raise InputError(f"values has {len(labels)} entries and {name} has {p.size}: give as many of each", "values")
    if len({repr(v) for v in labels}) < len(labels):
        raise InputError("values has an entry twice: give each value once", "values")
    return p / p.sum(), labels


def sums_to_one(name: str, p: Array) -> None:
    """Refuse what is no distribution."""
    if abs(p.sum() - 1) > 1e-9:
        raise InputError(f"{name} sums to {p.sum():.12g}: give probabilities that sum to 1", name)


def label_index(name: str, value: object, labels: Sequence[object]) -> int:
    """The place of a value among the labels; True is not 1."""
    for i, label in enumerate(labels):
        same = isinstance(label, bool) == isinstance(value, bool) and label == value
        if isinstance(same, bool | np.bool_) and same:
            return i
    shown = ", ".join(map(repr, labels[:8])) + (", …" if len(labels) > 8 else "")
    raise InputError(f"{name} is {brief_repr(value)}: give one of {shown}", name)


def checked_mapping(name: str, value: object, example: str) -> Mapping[Any, Any]:
    """A mapping, or a sentence with an example of one; a table may not be empty."""
    if not isinstance(value, Mapping) or (name == "table" and not value):
        raise InputError(f"{name} is {brief_repr(value)}: give a mapping such as {example}", name)
    return value


def entries(name: str, value: Any) -> tuple[Any, ...]:
    """The entries of a list."""
    try:
        return tuple(value)
    except TypeError:
        raise InputError(f"{name} is {brief_repr(value)}: give a list", name) from None


def brief_repr(value: object) -> str:
    """A value as a sentence shows it: on one line, and not too long."""
    shown = " ".join(repr(value).split())
    return shown if len(shown) <= 40 else shown[:37] + "..."


def json_labels(labels: Sequence[object]) -> list[Any]:
    """Labels as JSON holds them: what is no text, number or truth value in its own words."""
    return [v if isinstance(v, str | int | float | bool) else str(v) for v in labels]


def pair_odds(
    p: Array, labels: Sequence[object], pair: object, positive: str, given: str, log_p: Array | None = None
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
                    f"pair has {brief_repr(labels[k])}, which has probability 0{given}: "
                    "nothing is left to guess, so give two values that are both possible",
                    "pair",
                )
    else:
        possible = np.flatnonzero(logs > -np.inf)
        if possible.size < 2:
            raise InputError(
                f"the only possible value{given} is {brief_repr(labels[int(possible[0])])}: "
                "nothing is left to guess, so the adversary needs no release"
            )
        order = possible[np.argsort(logs[possible], kind="stable")]
        i, j = int(order[0]), int(order[-1])
        if positive == "less likely":
            i, j = j, i
    gap = float(logs[i] - logs[j])
    if not -700 < gap < 700:
        raise InputError(
            f"the odds between {brief_repr(labels[i])} and {brief_repr(labels[j])}{given} are beyond 1e304: "
            "the adversary is as good as certain, so give two values that are both possible"
        )
    if float(min(p[i], p[j])) > 1e-290:
        return float(p[j] / (p[i] + p[j])), float(p[i] / p[j]), i, j
    return 1 / (1 + math.exp(gap)), math.exp(gap), i, j


def most_lopsided_row(rows: Array, labels: Sequence[object], pair: object) -> int:
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
        raise InputError(f"pair is {brief_repr(pair)}: give two values, the one under H0 first", "pair") from None
    i, j = label_index("pair", first, labels), label_index("pair", second, labels)
    if i == j:
        raise InputError(f"pair has {brief_repr(first)} twice: give two different values", "pair")
    return i, j


def log(p: Array) -> Array:
    """log p, −∞ where p is 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(p))


def axes(
    table: Array, records: Sequence[str] | None, values: Sequence[Sequence[object]] | None
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The names of the records and the values of each."""
    names = (
        [f"record {i}" for i in range(table.ndim)] if records is None else [str(r) for r in entries("records", records)]
    )
    if len(names) != table.ndim:
        raise InputError(
            f"records names {len(names)} records and joint has {table.ndim} axes: give one name for each", "records"
        )
    labels = [tuple(range(n)) for n in table.shape]
    if values is not None:
        labels = [entries("values", own) for own in entries("values", values)]
    if [len(v) for v in labels] != list(table.shape):
        raise InputError(
            f"values does not fit joint of shape {table.shape}: give one list for each axis, as long as it", "values"
        )
    return names, labels


def record_axis(name: str, record: object, names: Sequence[str]) -> int:
    """The axis of a record, by number or name."""
    if isinstance(record, str) and record in names:
        return names.index(record)
    if isinstance(record, int | np.integer) and not isinstance(record, bool) and 0 <= record < len(names):
        return int(record)
    raise InputError(
        f"{name} has {brief_repr(record)}, which is no record: give 0 to {len(names) - 1}, or a name from records", name
    )


def contradiction_message(told: str) -> str:
    """The sentence for knowledge that contradicts itself."""
    return (
        f"what is known ({told}) has probability 0: the knowledge contradicts itself, "
        "so correct what is known or the probabilities"
    )


def coefficient_message(rho: Mapping[str, Fraction]) -> str:
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


_MOST_CELLS = 1_000_000
_UNNAMED = Worlds(WorldsKind.OTHER, words=("H0", "H1"))


@dataclass(frozen=True, eq=False, repr=False)
class Knowledge(ValueSemantics, SentenceResult, ShortResult):
    """Prior odds with where they come from; build one with a ``from_…`` method.

    ``prior`` is π = P(H1), ``odds`` c = (1−π)/π, ``because`` says where they come from. ``values`` and
    ``probabilities`` hold the whole belief where there is one. ``direction`` is ``upper`` where the odds are only
    bounded: the likelier value is then at most so likely.
    """

    shown_as = "knowledge"

    prior: float
    odds: float
    source: str
    because: str = field(compare=False)
    worlds: Worlds = _UNNAMED
    values: tuple[Any, ...] = ()
    probabilities: tuple[float, ...] = ()
    direction: str = "exact"

    @property
    def related(self) -> bool:
        """Whether other records are part of it: it is then all there is only if they are known, or not in the data."""
        return self.source in ("records", "time") or self.direction == "upper"

    @property
    def h0(self) -> str:
        """The first world in words."""
        return self.worlds.h0

    @property
    def h1(self) -> str:
        """The second world in words, which the prior is of."""
        return self.worlds.h1

    def of(self, experiment: Experiment) -> Informed:
        """The experiment as this adversary reads it: the same trade-off, this prior.

        Where other records are related, they must be known to the adversary or not be in the data: otherwise build the
        experiment with :mod:`epsilens.attacks.correlated`.
        """
        if not isinstance(experiment, Experiment):
            raise InputError(
                f"experiment is {brief_repr(experiment)}: give what laplace, gaussian and the like return", "experiment"
            )
        return Informed(experiment, self)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record."""
        return {
            "prior": self.prior,
            "odds": self.odds,
            "source": self.source,
            "because": self.because,
            "h0": self.h0,
            "h1": self.h1,
            "values": json_labels(self.values),
            "probabilities": list(self.probabilities),
            "direction": self.direction,
            "sentence": self.sentence,
        }

    @classmethod
    def from_prior(cls, prior: float) -> Knowledge:
        """P(H1) itself.

        >>> Knowledge.from_prior(0.8).odds
        0.24999999999999...
        """
        p = float(checks.probability("prior", checks.scalar("prior", prior), closed=False))
        if p < 1e-300:
            raise InputError(f"prior is {p:g}: give a probability of at least 1e-300", "prior")
        return cls(p, float((1 - Fraction(p)) / Fraction(p)), "prior", "what is stated")

    @classmethod
    def from_coefficients(
        cls, *, rho_p: float = 0.0, rho_c: float = 0.0, rho_t: float = 0.0, positive: str = "more likely"
    ) -> Knowledge:
        """The paper's coefficients of prior, record correlation and time: c = (2−ρ_p)(1−ρ_c)(1−ρ_t) − 1.

        For a record with two values. ρ_p alone is exact (c = 1−ρ_p); ρ_c and ρ_t only bound how likely the likelier
        value can become, by 1/((2−ρ_p)(1−ρ_c)(1−ρ_t)), because their minima may sit on different values. That bound
        must stay below 1, so c > 0: the paper's claim that each coefficient may be anything up to 1 is wrong. If the
        positive value is the less likely one, the odds are 1/c.

        >>> Knowledge.from_coefficients(rho_p=0.75, rho_c=0.5)
        Traceback (most recent call last):
        epsilens.errors.InputError: rho_p is 0.75, rho_c is 0.5: together they need (2−ρ_p)(1−ρ_c)(1−ρ_t) above 1, it is 0.625: lower rho_c below 0.2, or say what is known as a table
        """  # noqa: E501 - the message is one sentence, on one line
        checks.one_of("positive", positive, POSITIVE)
        given = {"rho_p": rho_p, "rho_c": rho_c, "rho_t": rho_t}
        exact: dict[str, Fraction] = {}
        for name, value in given.items():
            number = checks.scalar(name, value)
            if not 0 <= number < 1:
                raise InputError(f"{name} is {number:.12g}: give a coefficient from 0 to below 1", name)
            exact[name] = Fraction(number)
        p, c, t = exact.values()
        # in exact arithmetic: the difference may be tiny
        odds = (2 - p) * (1 - c) * (1 - t) - 1
        if odds <= 0:
            raise InputError(coefficient_message(exact))
        if positive == "less likely":
            odds = 1 / odds
        used = [f"ρ_{name[-1]} = {float(value):g}" for name, value in exact.items() if value]
        entries = " and ".join(filter(None, (", ".join(used[:-1]), *used[-1:])))
        because = (entries or "no coefficient") + (
            "" if positive == "more likely" else ", the positive value being the less likely one"
        )
        direction = "upper" if c or t else "exact"
        words = ("the less likely value", "the more likely value")
        return cls(
            float(1 / (1 + odds)),
            float(odds),
            "coefficients",
            because,
            Worlds(WorldsKind.RECORD, positive == "less likely", words),
            direction=direction,
        )

    @classmethod
    def from_values(
        cls,
        prior: ArrayLike | Mapping[Any, float],
        values: Sequence[object] | None = None,
        *,
        pair: tuple[object, object] | None = None,
        positive: str = "more likely",
    ) -> Knowledge:
        """A prior over the k values of a record; ``pair`` is (value under H0, value under H1).

        Without a pair it is the most lopsided one, the least and the most likely possible value, as in the paper.

        >>> Knowledge.from_values({"no": 0.9, "yes": 0.1}, pair=("no", "yes")).prior
        0.1
        >>> round(Knowledge.from_values([0.5, 0.3, 0.2]).odds, 12)  # 1 − ρ_p = 0.2/0.5
        0.4
        """
        p, labels = distribution("prior", prior, values)
        return cls._between(p, labels, pair, positive, "values", "")

    @classmethod
    def from_table(
        cls,
        table: Mapping[Any, ArrayLike | Mapping[Any, float]],
        known: Hashable,
        values: Sequence[object] | None = None,
        *,
        pair: tuple[object, object] | None = None,
        positive: str = "more likely",
    ) -> Knowledge:
        """A conditional table, P(value | what is known): one list of probabilities for each thing that can be known.

        A row of zeros stands for something that cannot be.

        >>> table = {"smoker": {"ill": 0.4, "well": 0.6}, "other": {"ill": 0.1, "well": 0.9}}
        >>> round(Knowledge.from_table(table, "smoker", pair=("well", "ill")).prior, 12)
        0.4
        """
        rows = checked_mapping("table", table, "{'smoker': [0.6, 0.4], 'other': [0.9, 0.1]}")
        row = list(rows.values())[label_index("known", known, tuple(rows))]
        masses = list(row.values()) if isinstance(row, Mapping) else row
        if np.size(masses) and not np.any(checks.probability("table", masses)):
            raise InputError(contradiction_message(brief_repr(known)))
        p, labels = distribution("table", row, values)
        return cls._between(p, labels, pair, positive, "records", f" given {known}")

    @classmethod
    def from_records(
        cls,
        joint: ArrayLike,
        known: Mapping[Any, Any] | None = None,
        *,
        target: object = 0,
        records: Sequence[str] | None = None,
        values: Sequence[Sequence[object]] | None = None,
        pair: tuple[object, object] | None = None,
        positive: str = "more likely",
    ) -> Knowledge:
        """A joint table with an axis for each record, and the values of the records that are ``known``.

        Without ``known`` it is the worst the other records can say: the values of all of them that leave the most
        lopsided odds. ``records`` names the axes, ``values`` the values along each.

        >>> joint = [[0.1, 0.7], [0.15, 0.05]]  # target by neighbour
        >>> round(Knowledge.from_records(joint, {1: 1}).odds, 12), round(1 / Knowledge.from_records(joint).odds, 6)
        (0.071428571429, 14.0)
        """
        table = checks.probability("joint", joint)
        if table.ndim == 0 or table.size == 0 or table.size > _MOST_CELLS:
            raise InputError(f"joint has shape {table.shape}: give a table with an axis for each record", "joint")
        sums_to_one("joint", table)
        names, labels = axes(table, records, values)
        axis = record_axis("target", target, names)
        moved = np.moveaxis(table, axis, -1)
        others = [i for i in range(table.ndim) if i != axis]
        if known is None:
            rows = moved.reshape(-1, moved.shape[-1])
            at = most_lopsided_row(rows, labels[axis], pair)
            found = np.unravel_index(at, moved.shape[:-1]) if others else ()
            told = [f"{names[i]} = {labels[i][int(k)]}" for i, k in zip(others, found, strict=True)]
            worst = f" given {' and '.join(told)}, the worst the records can say" if told else ""
            return cls._between(rows[at] / rows[at].sum(), labels[axis], pair, positive, "records", worst)
        index: list[Any] = [slice(None)] * len(others)
        told = []
        for record, value in checked_mapping("known", known, "{1: 0}, a value for a record").items():
            at = record_axis("known", record, names)
            if at == axis:
                raise InputError(
                    f"known has {brief_repr(record)}, the target itself: give the values of other records", "known"
                )
            index[others.index(at)] = label_index(f"known[{brief_repr(record)}]", value, labels[at])
            told.append(f"{names[at]} = {value}")
        part = moved[tuple(index)]
        column = part.reshape(-1, part.shape[-1]).sum(axis=0)
        if not column.any():
            raise InputError(contradiction_message(" and ".join(told)))
        given = f" given {' and '.join(told)}" if told else ""
        return cls._between(column / column.sum(), labels[axis], pair, positive, "records", given)

    @classmethod
    def from_chain(
        cls,
        initial: ArrayLike | Mapping[Any, float],
        transition: ArrayLike,
        *,
        at: int,
        observed: Mapping[int, object] | None = None,
        values: Sequence[object] | None = None,
        pair: tuple[object, object] | None = None,
        positive: str = "more likely",
    ) -> Knowledge:
        """A Markov chain over times 0, 1, 2, …: the state at time ``at`` given states seen at other times.

        ``transition[i][j]`` is P(next is j | now is i), the same at each step. Forward from the last state seen
        before, backward from the first one after.

        >>> sticky = [[0.9, 0.1], [0.2, 0.8]]
        >>> k = Knowledge.from_chain([0.5, 0.5], sticky, at=1, observed={0: 1, 2: 1}, pair=(0, 1))
        >>> round(k.prior, 12)  # 0.8·0.8 against 0.2·0.1
        0.969696969697
        """
        p, labels = distribution("initial", initial, values)
        matrix = checks.probability("transition", transition)
        if matrix.shape != (p.size, p.size):
            raise InputError(
                f"transition has shape {matrix.shape}: give {p.size} rows of {p.size}, as many as initial has values",
                "transition",
            )
        for row in matrix:
            sums_to_one("a row of transition", row)
        matrix = matrix / matrix.sum(axis=1, keepdims=True)
        when = checks.integer("at", at, low=0, high=10**9)
        seen = {
            checks.integer("observed", time, low=0, high=10**9): label_index(
                f"observed[{brief_repr(time)}]", state, labels
            )
            for time, state in checked_mapping(
                "observed", {} if observed is None else observed, "{0: 1}, a state for a time"
            ).items()
        }
        if when in seen:
            raise InputError(
                f"observed has time {when}, the time in question: give the states at other times", "observed"
            )
        log_p = log_state(p, matrix, when, seen)
        if log_p is None:
            told = ", ".join(f"{labels[s]} at time {t}" for t, s in sorted(seen.items()))
            raise InputError(contradiction_message(told))
        told = " and ".join(f"{labels[s]} at time {t}" for t, s in sorted(seen.items()))
        given = f" at time {when}" + (f", having seen {told}" if told else "")
        return cls._between(np.exp(log_p), labels, pair, positive, "time", given, log_p=log_p)

    @classmethod
    def _between(
        cls, p: Array, labels: Sequence[Any], pair: Any, positive: str, source: str, given: str, *, log_p: Any = None
    ) -> Knowledge:
        prior, odds, i, j = pair_odds(p, labels, pair, positive, given, log_p)
        return cls(
            prior,
            odds,
            source,
            f"how likely {labels[j]} and {labels[i]} are{given}",
            worlds_of_values(labels[i], labels[j]),
            tuple(labels),
            tuple(float(x) for x in p),
        )


@dataclass(frozen=True, eq=False, repr=False)
class Informed(ValueSemantics, Result):
    """An experiment read by an adversary with some knowledge: the readings that take a prior, with theirs.

    >>> import epsilens as el
    >>> informed = Knowledge.from_prior(0.9).of(el.laplace(epsilon=1.0))
    >>> informed.success(), round(informed.posterior(), 6)
    (0.9, 0.96073)
    """

    shown_as = "informed"

    experiment: Experiment
    knowledge: Knowledge

    @property
    def prior(self) -> float:
        """π = P(H1)."""
        return self.knowledge.prior

    @property
    def baseline(self) -> float:
        """How often the best guess is right without the release."""
        return max(self.prior, 1 - self.prior)

    def tradeoff(self, fpr: ArrayLike) -> Number:
        """The experiment's own: a prior does not change it (unknown related records in the data would)."""
        return self.experiment.tradeoff(fpr)

    def success(self) -> Number:
        """How often the best guess is right."""
        return self.experiment.success(self.prior)

    def posterior(self) -> Number:
        """The most certain of H1 this adversary can become; of H0 they may become surer still."""
        return self.experiment.posterior(self.prior)

    def precision(self, fpr: ArrayLike | None = None, *, recall: ArrayLike | None = None) -> Number:
        """Share of those flagged who are truly H1."""
        return self.experiment.precision(fpr, self.prior, recall=recall)

    def fbeta(self, beta: ArrayLike = 1.0) -> Number:
        """The largest Fβ."""
        return self.experiment.fbeta(beta, self.prior)

    def _shown(self, pictures: bool = False) -> Result:
        about = replace(self.experiment.overview(prior=self.prior), knowledge=self.knowledge)
        return about._shown(pictures)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record."""
        return {"experiment": self.experiment.to_dict(), "knowledge": self.knowledge.to_dict()}
