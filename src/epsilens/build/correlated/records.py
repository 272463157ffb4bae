"""What every model of discrete records answers: leakage, experiment, the worst adversary, the noise to choose.

A model (table, chain, tree) says how to lay out one adversary (``laws``), which values of known records to try
(``options``) and how to search all adversaries (``search``); the questions are the same for all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...checks import Array
from ...choice.choice import Binding, Choice
from ...errors import InputError, NoSolutionError
from ...experiment import Experiment
from ...numerics.frozen import Valued
from ...numerics.roots import last_safe
from .adversary import Laws, experiment, leak, noise
from .risk import (
    Contribution,
    Outcome,
    Progress,
    Risk,
    Worst,
    asked,
    contributions_of,
    record_number,
    time_allowed,
    until,
)
from .sums import Contributions

__all__ = ["Known", "Records"]

_NARROWEST = 1e15  # the records' reach in noise widths that doubles can tell apart

Record = int | str
Known = Mapping[Any, Any] | Iterable[Record]


class Records(Valued, ABC):
    """Discrete records that depend on each other, and a noisy linear query of them."""

    parts: Contributions
    names: tuple[str, ...]

    @property
    def n(self) -> int:
        """How many records."""
        return len(self.parts.amounts)

    @property
    def reach(self) -> Array:
        """LSⱼ: how far each record alone can move the answer."""
        return self.parts.reach

    # -- what each model brings ----------------------------------------------------------------------------------

    @abstractmethod
    def _laws(self, target: int, known: Mapping[int, int]) -> Laws:
        """The adversary's laws; all columns are without mass where the known values have probability zero."""

    @abstractmethod
    def _options(self, known: tuple[int, ...]) -> Iterator[dict[int, int]]:
        """All values of the known records that matter."""

    @abstractmethod
    def _worst_without(self, record: int, risk: Risk, time_limit: float | None) -> Worst:
        """The worst adversary when one record is independent of the others."""

    @abstractmethod
    def _search(self, risk: Risk, deadline: float, progress: Progress | None) -> Outcome:
        """The worst adversary."""

    # -- questions -----------------------------------------------------------------------------------------------

    def leakage(self, target: Record, known: Known = (), *, scale: Any = 1.0) -> float:
        """The exact prior differential privacy of one adversary under Laplace noise of this scale.

        max over ordered pairs x, x′ of sup_r log P(r | x_i = x, x_K)/P(r | x_i = x′, x_K). ``known`` maps records to
        their values, or lists records only: then the worst values count.
        """
        width = self._risk(scale, None).width
        i, given = self._adversary(target, known)
        if isinstance(given, dict):
            return leak(self._checked(i, given), width)[0]
        return max((leak(self._laws(i, o), width)[0] for o in self._options(given)), default=0.0)

    def experiment(
        self, target: Record, known: Known = (), *, scale: Any = None, sigma: Any = None, pair: Any = None
    ) -> Experiment:
        """The test between two values of the target, with every reading, under Laplace or Gaussian noise.

        Without ``pair`` the two values that are easiest to tell apart are taken (the largest leakage for Laplace noise,
        the largest ψ for Gaussian); with records only in ``known``, their worst values.
        """
        risk = self._risk(scale, sigma)
        i, given = self._adversary(target, known)
        if not isinstance(given, dict):
            options = list(self._options(given))
            best = options[0] if len(options) == 1 else max(options, key=lambda o: risk.read(self._laws(i, o))[0])
            given = best
        told = {j: float(self.parts.values[j][v]) for j, v in given.items()}
        return experiment(
            self._checked(i, given), target=i, title=self.names[i], known=told, scale=scale, sigma=sigma, pair=pair
        )

    def worst(
        self, *, scale: Any = None, sigma: Any = None, time_limit: float | None = None, progress: Progress | None = None
    ) -> Worst:
        """The adversary (target, known records and their values) with the largest leakage, or ψ for Gaussian noise.

        Exact, or at the time limit (in seconds) the best found with a proven upper bound.
        """
        return self._worst_by(self._risk(scale, sigma), time_limit, progress)

    def _worst_by(self, risk: Risk, time_limit: float | None, progress: Progress | None) -> Worst:
        """The worst adversary by one measure of risk."""
        return self._told(risk, self._search(risk, until(time_limit), progress))

    def _told(self, risk: Risk, found: Outcome) -> Worst:
        return Worst(
            leakage=found.value,
            objective="psi" if risk.noise == "sigma" else "leakage",
            target=found.target,
            known=found.known,
            upper=found.upper,
            complete=found.complete,
            method=found.method,
            values=found.values,
            names=self.names,
            examined=found.examined,
            independent=risk.shift(float(self.reach.max())),
        )

    def contributions(
        self, *, scale: Any = None, sigma: Any = None, time_limit: float | None = None, progress: Progress | None = None
    ) -> tuple[Contribution, ...]:
        """Which records' correlations matter: how much the worst case falls when a record is made independent.

        The record keeps its own distribution, the others theirs, and the worst adversary is sought again. A negative
        contribution says that the record's correlations hide others. Largest first.
        """
        risk = self._risk(scale, sigma)
        return contributions_of(
            self.names,
            lambda share: self._worst_by(risk, share, None),
            lambda j, share: self._worst_without(j, risk, share),
            time_limit,
            progress,
        )

    def choose(
        self,
        *,
        at_most: float,
        reading: str = "leakage",
        noise: str = "laplace",
        time_limit: float | None = None,
        progress: Progress | None = None,
        **arguments: Any,
    ) -> Choice:
        """The least noise that keeps a reading of the worst adversary at or under a limit.

        ``reading`` is "leakage" (Laplace noise) or any reading of an experiment, with its arguments by name. Wider
        noise is narrower noise with independent noise added, for Laplace as for Gaussian noise, so every reading falls
        as noise grows. The search solves for the adversary that binds, asks who is worst there, and stops when no one
        exceeds the limit; at a time limit the noise keeps the proven bound under it.

        >>> from epsilens import correlated
        >>> pair = correlated.table([[0.3, 0.2], [0.2, 0.3]])
        >>> round(pair.choose(at_most=1.0).value, 6), round(pair.choose(reading="success", at_most=0.6).value, 6)
        (1.189395, 2.466303)
        """
        return _choose(self, at_most, reading, noise, time_allowed(time_limit), progress, arguments)

    # -- checks --------------------------------------------------------------------------------------------------

    def _risk(self, scale: Any, sigma: Any) -> Risk:
        """The leakage under Laplace noise, ψ under Gaussian noise."""
        name, width = noise(scale, sigma)
        moved = float(self.reach.sum())
        if moved > _NARROWEST * width:
            raise InputError(
                f"{name} is {width:g} for records that together move the answer by {moved:g}: "
                f"give noise of at least {moved / _NARROWEST:.3g}",
                parameter=name,
            )
        return Risk("leakage" if name == "scale" else "psi", name, width)

    def _record(self, name: str, value: Any) -> int:
        return record_number(name, value, self.names)

    def _adversary(self, target: Any, known: Any) -> tuple[int, dict[int, int] | tuple[int, ...]]:
        i = self._record("target", target)
        if isinstance(known, (str, int, float)):
            raise InputError(f"known is {known!r}: give a list of records, or record: value pairs", parameter="known")
        try:
            listed = list(known)
        except TypeError:
            raise InputError(
                f"known is {known!r}: give a list of records, or record: value pairs", parameter="known"
            ) from None
        records = tuple(self._record("known", j) for j in listed)
        if i in records:
            raise InputError(f"{self.names[i]} is the target and also known: leave it out of known", parameter="known")
        if len(set(records)) < len(records):
            raise InputError(f"known is {listed!r}, with a record twice: give each record once", parameter="known")
        if isinstance(known, Mapping):
            return i, {j: self.parts.number(j, known[k]) for j, k in zip(records, listed, strict=True)}
        return i, tuple(sorted(records))

    def _alone(self, target: int) -> Laws:
        """Every other record is known: the mechanism alone, also where the model says this cannot happen."""
        amounts = self.parts.amounts[target] * self.parts.unit
        order = np.argsort(amounts, kind="stable")
        logs = np.full((order.size, order.size), -np.inf)
        logs[np.arange(order.size), order] = 0.0
        return Laws(amounts[order], logs, self.parts.values[target], single=True)

    def _checked(self, target: int, known: Mapping[int, int]) -> Laws:
        laws = self._laws(target, known)
        if not laws.possible:
            told = ", ".join(f"{self.names[j]} = {self.parts.values[j][v]:g}" for j, v in known.items())
            raise InputError(
                f"known is {told}, which has probability zero: give values that can occur together", parameter="known"
            )
        return laws


# -- the noise that keeps a reading of every adversary at or under a limit --------------------------------------------


_LATE = "the search ended at its time limit: the noise covers the proven bound and may be more than needed"


def _choose(
    model: Records,
    at_most: float,
    reading: str,
    noise: str,
    time_limit: float | None,
    progress: Progress | None,
    arguments: Mapping[str, Any],
) -> Choice:
    """See :meth:`Records.choose`."""
    name, told, args, limit = asked(reading, noise, at_most, arguments)
    floor = Risk(told, name, 1.0, args).floor
    if not limit > floor:
        raise NoSolutionError(
            f"no {name} keeps the worst {reading} at or under {limit:g}: even pure noise reaches {floor:.6g}, "
            "so give a limit above that",
            floor=floor,
            parameter=name,
        )
    most, everyone = float(model.reach.max()), float(model.reach.sum())
    if most == 0:
        raise InputError("no record moves the answer: every weight or every range is 0, so no noise is needed")
    deadline = until(time_limit)

    def risk(width: float) -> Risk:
        return Risk(told, name, width, args)

    def search(width: float) -> Outcome:
        return model._search(risk(width), deadline, progress)

    # everyone else known: the mechanism alone sets the least noise
    width = _least(lambda w: risk(w).shift(most), limit, most)
    found, step = search(width), 2.0**-52
    for _ in range(200):
        if found.upper <= limit or found.value <= limit:  # done, or the deadline came before the proof
            break
        if found.value <= limit * (1 + 1e-9):  # solved; two ways to one number differ in the last digits
            width, step = width * (1 + step), 2 * step
        else:
            numbers = {j: model.parts.number(j, v) for j, v in (found.values or {}).items()}
            laws = model._alone(found.target) if found.values is None else model._laws(found.target, numbers)
            width = max(_least(lambda w: risk(w).read(laws)[0], limit, width), width)  # noqa: B023 - used at once
        found = search(width)
    binding = Binding.LIMIT
    remarks: tuple[str, ...] = ()
    if found.upper > limit:
        remarks = (_LATE,)
        width = _least(lambda w: risk(w).shift(everyone), limit, most)
        found = replace(search(width), upper=risk(width).shift(everyone))
    known: Any = found.values if found.values is not None else found.known
    try:
        shown = model.experiment(found.target, known, **{name: width})
    except InputError:  # noise too narrow for the readings of a mixture: show the bare mechanism
        shown = model.experiment(found.target, [j for j in range(model.n) if j != found.target], **{name: width})
    if width <= 1e-250 * most:
        binding, remarks = Binding.NONE, ()
    if told == "leakage":  # what experiments call pure ε
        told, args = "epsilon", {"delta": 0.0}
    return Choice(name, width, found.upper, told, args, limit, shown, "search", binding, remarks)


def _least(read: Callable[[float], float], limit: float, start: float) -> float:
    """The least width at which a falling reading is at or under the limit, on the safe side."""
    low = high = start
    here = read(high)
    while here > limit:  # most readings fall like 1/width, so their ratio says how far to go
        if high > 1e300 * min(start, 1.0):
            raise NoSolutionError(f"no noise that doubles hold reaches {limit:g}: give a larger limit", floor=here)
        low, high = high, high * min(max(1.01 * here / limit, 1.5), 1e6)
        here = read(high)
    while low == high or read(low) <= limit:
        high, low = low, low / min(max(1.01 * limit / max(read(low), 1e-300), 1.5), 1e6)
        if low < 1e-290 * start:
            return high
    return last_safe(lambda w: read(w) - limit, high, low)
