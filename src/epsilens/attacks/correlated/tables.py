"""Records with any finite joint distribution: every adversary, exactly."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np

from ...checks import Array
from ...errors import InputError
from .adversary import Laws, suprema
from .records import Known, Records
from .risk import Outcome, Progress, Risk, Worst, until
from .search import Found, Search, layout, screen, work
from .sums import Contributions

MOST_CELLS = 2**24
_MOST_WORK = 6e9  # about a minute
_MOST_EXPERIMENTS = 2_000_000
TOTAL = 1e-9  # how far probabilities may sum from one


class Table(Records):
    """Records x with a joint distribution ``joint``, and a noisy answer Σ aⱼxⱼ. Built by
    :func:`~epsilens.attacks.correlated.joint_table.table`."""

    def __init__(self, joint: Array, parts: Contributions, names: tuple[str, ...]) -> None:
        self.joint, self.parts, self.names = joint, parts, names
        self.joint.setflags(write=False)

    def __repr__(self) -> str:
        return f"correlated.table({self.n} records of {'×'.join(map(str, self.joint.shape))} values)"

    def table(self) -> Table:
        """These records themselves."""
        return self

    def _laws(self, target: int, known: Mapping[int, int]) -> Laws:
        """The adversary's laws."""
        if len(known) == self.n - 1:
            return self._alone(target)
        index: tuple[Any, ...] = tuple(
            slice(known[j], known[j] + 1) if j in known else slice(None) for j in range(self.n)
        )
        unknown = tuple(j for j in range(self.n) if j != target and j not in known)
        small = self.joint[index]
        places, weights = layout(small, self.parts, target, unknown)
        with np.errstate(divide="ignore"):
            return Laws(places, np.log(weights[:, :, 0]), self.parts.values[target])

    def _options(self, known: tuple[int, ...]) -> Iterator[dict[int, int]]:
        """All values of the known records that matter."""
        if len(known) == self.n - 1:
            yield dict.fromkeys(known, 0)
            return
        rest = tuple(j for j in range(self.n) if j not in known)
        possible = self.joint.sum(axis=rest) > 0
        for numbers in product(*(range(self.joint.shape[j]) for j in known)):
            if possible[numbers]:
                yield dict(zip(known, numbers, strict=True))

    def leakage(self, target: int | str, known: Known = (), *, scale: Any = 1.0) -> float:
        """As for all models; many known values at once.

        >>> from epsilens import correlated
        >>> t = correlated.table([[0.3, 0.2], [0.2, 0.3]])  # Table II(a) of paper 004
        >>> round(t.leakage(0, scale=1.0), 10), t.leakage(0, known={1: 1}, scale=1.0)
        (1.1853759033, 1.0)
        """
        width = self._risk(scale, None).width
        i, given = self._adversary(target, known)
        if isinstance(given, dict) or len(given) in (0, self.n - 1):
            return super().leakage(target, known, scale=scale)
        unknown = tuple(j for j in range(self.n) if j != i and j not in given)
        places, weights = layout(self.joint, self.parts, i, unknown)
        return max(float(suprema(places, weights, width).max()), 0.0)

    # -- all adversaries -----------------------------------------------------------------------------------------

    def _refuse_if_large(self, deadline: float) -> None:
        size = work(self.joint.shape, self.parts)[0]
        if size > _MOST_WORK and deadline == math.inf:
            raise InputError(
                f"the table has {self.n} records and about {size:.0e} numbers to go through: "
                "give time_limit in seconds for the best found by then with a proven bound",
                parameter="time_limit",
            )

    def _bounds(self, risk: Risk) -> Array:
        """An upper bound per target over all knowledge: everyone moves together (16), or, for the leakage, the own move
        and the largest swing of the odds of two values as everyone else changes.
        """
        group = np.full(self.n, risk.shift(float(self.reach.sum())))
        if risk.reading != "leakage" or not (self.joint > 0).all() or self.joint.size * max(self.joint.shape) > 1e8:
            return group
        logs = np.log(self.joint)
        swings = []
        for i, d in enumerate(self.joint.shape):
            slices = np.moveaxis(logs, i, 0).reshape(d, -1)
            odds = slices[:, None] - slices[None]
            swings.append(float((odds.max(axis=-1) - odds.min(axis=-1)).max()))
        own = self.reach / risk.width + np.asarray(swings)
        return np.asarray(np.minimum(group, own * (1 + 1e-12)))

    def _strongest(self, risk: Risk) -> Found:
        """Everyone else known: the mechanism alone."""
        i = int(np.argmax(self.reach))
        laws = self._alone(i)
        ends = int(np.argmin(self.parts.amounts[i])), int(np.argmax(self.parts.amounts[i]))
        return Found(risk.shift(float(self.reach[i])), i, tuple([0] * self.n), ends if laws.values.size > 1 else (0, 0))

    def _scan(self, risk: Risk, deadline: float, progress: Progress | None, *, every: bool) -> Search:
        self._refuse_if_large(deadline)
        least = float(np.log(self.joint[self.joint > 0].min()))
        search = Search(
            self.joint,
            self.parts,
            lambda places, weights: risk.measure(places, weights, least),
            self._bounds(risk),
            risk.shift,
            every=every,
            deadline=deadline,
            progress=progress,
            best=self._strongest(risk),
        )
        search.run()
        search.by_known[-1] = self._strongest(risk)  # the mechanism alone, without rounding
        return search

    def _search(self, risk: Risk, deadline: float, progress: Progress | None) -> Outcome:
        """The worst adversary."""
        if not risk.at_once:
            return self._by_experiments(risk, deadline, progress)
        search = self._scan(risk, deadline, progress, every=False)
        return self._outcome(search.best, search.upper, search.complete, search.examined)

    def _outcome(self, found: Found, upper: float, complete: bool, examined: int) -> Outcome:
        numbers = found.known
        everyone = len(numbers) == self.n - 1  # their values do not matter
        values = None if everyone else {j: float(self.parts.values[j][v]) for j, v in numbers.items()}
        method = "all adversaries" if complete else "adversaries examined until the time limit"
        return Outcome(found.value, found.target, tuple(numbers), values, upper, complete, examined, method)

    def _by_experiments(self, risk: Risk, deadline: float, progress: Progress | None) -> Outcome:
        """Gaussian noise, or another reading: adversaries in the order of a bound, each read from its experiment."""
        count = self.n * math.prod(d + 1 for d in self.joint.shape)
        if count > _MOST_EXPERIMENTS:
            raise InputError(
                f"the table has {count:.2g} adversaries, which this noise or reading takes one by one: "
                f"give a table with at most {_MOST_EXPERIMENTS:,}, or Laplace noise and its leakage or success"
            )
        found = screen(self._laws, self.reach, self._adversaries(), risk, self._strongest(risk), deadline, progress)
        return self._outcome(*found)

    def _adversaries(self) -> Iterator[tuple[int, dict[int, int]]]:
        """(target, numbers of known values) of all who leave something unknown."""
        for i in range(self.n):
            others = [j for j in range(self.n) if j != i]
            for pattern in product(*(range(-1, self.joint.shape[j]) for j in others)):
                known = {j: v for j, v in zip(others, pattern, strict=True) if v >= 0}
                if len(known) < self.n - 1:
                    yield i, known

    def by_known(
        self, *, scale: Any = None, sigma: Any = None, time_limit: float | None = None, progress: Progress | None = None
    ) -> tuple[Worst, ...]:
        """The worst adversary for each number of known records, from none to all others (the curve of Figure 4).

        >>> from epsilens import correlated
        >>> three = correlated.table([[[0.24, 0.08], [0.04, 0.14]], [[0.1, 0.04], [0.16, 0.2]]])
        >>> [round(w.leakage, 4) for w in three.by_known(scale=1.0)]
        [1.7236, 1.5193, 1.0]
        """
        risk, deadline = self._risk(scale, sigma), until(time_limit)
        if risk.noise == "sigma":
            return self._by_known_one_by_one(risk, deadline, progress)
        search = self._scan(risk, deadline, progress, every=True)
        top, rows = float(self._bounds(risk).max()), []
        for k, found in enumerate(search.by_known):
            if found.target < 0:  # not one adversary with this many known records met in time
                found = Found(0.0, 0, tuple([0] * (k + 1) + [-1] * (self.n - 1 - k)))
            complete = search.complete or k == self.n - 1
            moved = risk.shift(float(np.sort(self.reach)[k:].sum()))  # at best the k least movers are known
            upper = found.value if complete else max(found.value, min(top, moved))
            rows.append(self._told(risk, self._outcome(found, upper, complete, search.examined)))
        return tuple(rows)

    def _by_known_one_by_one(self, risk: Risk, deadline: float, progress: Progress | None) -> tuple[Worst, ...]:
        groups: list[list[tuple[int, dict[int, int]]]] = [[] for _ in range(self.n)]
        for target, known in self._adversaries():
            groups[len(known)].append((target, known))
        rows = []
        for k, listed in enumerate(groups[:-1]):
            nobody = Found(0.0, 0, tuple([0] * (k + 1) + [-1] * (self.n - 1 - k)))
            found = screen(self._laws, self.reach, listed, risk, nobody, deadline, progress)
            rows.append(self._told(risk, self._outcome(*found)))
        strongest = self._strongest(risk)
        rows.append(self._told(risk, self._outcome(strongest, strongest.value, True, 1)))
        return tuple(rows)

    def independent(self, record: int) -> Table:
        """The same table with one record made independent of the others: its marginal times the rest."""
        j = self._record("record", record)
        rest = self.joint.sum(axis=j, keepdims=True)
        own = self.joint.sum(axis=tuple(k for k in range(self.n) if k != j), keepdims=True)
        return Table(rest * own, self.parts, self.names)

    def _worst_without(self, record: int, risk: Risk, time_limit: float | None) -> Worst:
        """The worst adversary when one record is independent of the others."""
        return self.independent(record)._worst_by(risk, time_limit, None)


def check_probabilities(name: str, p: Array, *, of: str = "") -> None:
    """Refuse what is not a distribution; ``of`` is the parameter it was given by, where that has another name."""
    if (p < 0).any():
        raise InputError(
            f"{name} has the negative probability {float(p.min()):g}: give probabilities of at least 0",
            parameter=of or name,
        )
    total = float(p.sum())
    if abs(total - 1) > TOTAL:
        raise InputError(
            f"the probabilities of {name} sum to {total:.12g}: give probabilities that sum to 1", parameter=of or name
        )
