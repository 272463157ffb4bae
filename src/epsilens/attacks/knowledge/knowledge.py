"""What the adversary knows before the release, as prior odds (paper 000, §5).

What is known of one record beforehand (how common a value is, what records say that are known or are not in the data)
multiplies the likelihood ratio by a constant. So it is one number, c = P(H0)/P(H1) = (1−π)/π, and leaves the trade-off
alone, which belongs to the mechanism: a :class:`Knowledge` is handed to the readings that take a prior.

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

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import checks
from ...checks import Array, Number
from ...errors import InputError
from ...experiment import Experiment
from ...numerics.values import ValueSemantics
from ...results import Result, SentenceResult, ShortResult
from ...worlds import Worlds, WorldsKind, worlds_of_values
from .beliefs import (
    POSITIVE,
    axes,
    between,
    brief,
    distribution,
    impossible,
    log_state,
    mapping,
    most_telling,
    outside,
    place_of,
    sums_to_one,
    which,
)

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
                f"experiment is {brief(experiment)}: give what laplace, gaussian and the like return",
                parameter="experiment",
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
            "values": [v if isinstance(v, str | int | float | bool) else str(v) for v in self.values],
            "probabilities": list(self.probabilities),
            "direction": self.direction,
            "sentence": self.sentence,
        }

    # -- said outright ------------------------------------------------------------------------------------------

    @classmethod
    def from_prior(cls, prior: float) -> Knowledge:
        """P(H1) itself.

        >>> Knowledge.from_prior(0.8).odds
        0.24999999999999...
        """
        p = float(checks.probability("prior", checks.scalar("prior", prior), closed=False))
        if p < 1e-300:
            raise InputError(f"prior is {p:g}: give a probability of at least 1e-300", parameter="prior")
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
                raise InputError(f"{name} is {number:.12g}: give a coefficient from 0 to below 1", parameter=name)
            exact[name] = Fraction(number)
        p, c, t = exact.values()
        # in exact arithmetic: the difference may be tiny
        odds = (2 - p) * (1 - c) * (1 - t) - 1
        if odds <= 0:
            raise InputError(outside(exact))
        if positive == "less likely":
            odds = 1 / odds
        used = [f"ρ_{name[-1]} = {float(value):g}" for name, value in exact.items() if value]
        listed = " and ".join(filter(None, (", ".join(used[:-1]), *used[-1:])))
        because = (listed or "no coefficient") + (
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

    # -- from facts ---------------------------------------------------------------------------------------------

    @classmethod
    def from_values(
        cls,
        prior: ArrayLike | Mapping[Any, float],
        values: Sequence[Any] | None = None,
        *,
        pair: tuple[Any, Any] | None = None,
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
        values: Sequence[Any] | None = None,
        *,
        pair: tuple[Any, Any] | None = None,
        positive: str = "more likely",
    ) -> Knowledge:
        """A conditional table, P(value | what is known): one list of probabilities for each thing that can be known.

        A row of zeros stands for something that cannot be.

        >>> table = {"smoker": {"ill": 0.4, "well": 0.6}, "other": {"ill": 0.1, "well": 0.9}}
        >>> round(Knowledge.from_table(table, "smoker", pair=("well", "ill")).prior, 12)
        0.4
        """
        rows = mapping("table", table, "{'smoker': [0.6, 0.4], 'other': [0.9, 0.1]}")
        row = list(rows.values())[which("known", known, tuple(rows))]
        masses = list(row.values()) if isinstance(row, Mapping) else row
        if np.size(masses) and not np.any(checks.probability("table", masses)):
            raise InputError(impossible(brief(known)))
        p, labels = distribution("table", row, values)
        return cls._between(p, labels, pair, positive, "records", f" given {known}")

    @classmethod
    def from_records(
        cls,
        joint: ArrayLike,
        known: Mapping[Any, Any] | None = None,
        *,
        target: Any = 0,
        records: Sequence[str] | None = None,
        values: Sequence[Sequence[Any]] | None = None,
        pair: tuple[Any, Any] | None = None,
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
            raise InputError(
                f"joint has shape {table.shape}: give a table with an axis for each record", parameter="joint"
            )
        sums_to_one("joint", table)
        names, labels = axes(table, records, values)
        axis = place_of("target", target, names)
        moved = np.moveaxis(table, axis, -1)
        others = [i for i in range(table.ndim) if i != axis]
        if known is None:
            rows = moved.reshape(-1, moved.shape[-1])
            at = most_telling(rows, labels[axis], pair)
            found = np.unravel_index(at, moved.shape[:-1]) if others else ()
            told = [f"{names[i]} = {labels[i][int(k)]}" for i, k in zip(others, found, strict=True)]
            worst = f" given {' and '.join(told)}, the worst the records can say" if told else ""
            return cls._between(rows[at] / rows[at].sum(), labels[axis], pair, positive, "records", worst)
        index: list[Any] = [slice(None)] * len(others)
        told = []
        for record, value in mapping("known", known, "{1: 0}, a value for a record").items():
            at = place_of("known", record, names)
            if at == axis:
                raise InputError(
                    f"known has {brief(record)}, the target itself: give the values of other records", parameter="known"
                )
            index[others.index(at)] = which(f"known[{brief(record)}]", value, labels[at])
            told.append(f"{names[at]} = {value}")
        part = moved[tuple(index)]
        column = part.reshape(-1, part.shape[-1]).sum(axis=0)
        if not column.any():
            raise InputError(impossible(" and ".join(told)))
        given = f" given {' and '.join(told)}" if told else ""
        return cls._between(column / column.sum(), labels[axis], pair, positive, "records", given)

    @classmethod
    def from_chain(
        cls,
        initial: ArrayLike | Mapping[Any, float],
        transition: ArrayLike,
        *,
        at: int,
        observed: Mapping[int, Any] | None = None,
        values: Sequence[Any] | None = None,
        pair: tuple[Any, Any] | None = None,
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
                parameter="transition",
            )
        for row in matrix:
            sums_to_one("a row of transition", row)
        matrix = matrix / matrix.sum(axis=1, keepdims=True)
        when = checks.integer("at", at, low=0, high=10**9)
        seen = {
            checks.integer("observed", time, low=0, high=10**9): which(f"observed[{brief(time)}]", state, labels)
            for time, state in mapping(
                "observed", {} if observed is None else observed, "{0: 1}, a state for a time"
            ).items()
        }
        if when in seen:
            raise InputError(
                f"observed has time {when}, the time in question: give the states at other times", parameter="observed"
            )
        log_p = log_state(p, matrix, when, seen)
        if log_p is None:
            told = ", ".join(f"{labels[s]} at time {t}" for t, s in sorted(seen.items()))
            raise InputError(impossible(told))
        told = " and ".join(f"{labels[s]} at time {t}" for t, s in sorted(seen.items()))
        given = f" at time {when}" + (f", having seen {told}" if told else "")
        return cls._between(np.exp(log_p), labels, pair, positive, "time", given, log_p=log_p)

    @classmethod
    def _between(
        cls, p: Array, labels: Sequence[Any], pair: Any, positive: str, source: str, given: str, *, log_p: Any = None
    ) -> Knowledge:
        prior, odds, i, j = between(p, labels, pair, positive, given, log_p)
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

    def tradeoff(self, alpha: ArrayLike) -> Number:
        """The experiment's own: a prior does not change it (unknown related records in the data would)."""
        return self.experiment.tradeoff(alpha)

    def success(self) -> Number:
        """How often the best guess is right."""
        return self.experiment.success(self.prior)

    def posterior(self) -> Number:
        """The most certain of H1 this adversary can become; of H0 they may become surer still."""
        return self.experiment.posterior(self.prior)

    def precision(self, alpha: ArrayLike | None = None, *, recall: ArrayLike | None = None) -> Number:
        """Share of those flagged who are truly H1."""
        return self.experiment.precision(alpha, self.prior, recall=recall)

    def fbeta(self, beta: ArrayLike = 1.0) -> Number:
        """The largest Fβ."""
        return self.experiment.fbeta(beta, self.prior)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record."""
        return {"experiment": self.experiment.to_dict(), "knowledge": self.knowledge.to_dict()}
