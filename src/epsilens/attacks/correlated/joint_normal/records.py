"""Jointly normal records that depend on each other, and a noisy linear query of them (paper 004, §VI, corrected)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .... import checks
from ....calibration.choose import Choice
from ....checks import Array, Number, float_or_array
from ....errors import InputError
from ....experiment import Experiment
from ....numerics.values import ValueSemantics
from ..adversary import noise
from ..risk import Contribution, Progress, Worst, contributions_of, record_names, record_number, time_allowed
from .problem import Adversary, Problem, refuse_extremes, refuse_indefinite, symmetric
from .search import Result, choose, search, search_by_known
from .seen import seen_by


@dataclass(frozen=True, eq=False, repr=False)
class NormalRecords(ValueSemantics):
    """Records x ~ N(μ, cov) and the answer Σ weights·x plus noise; built by :func:`normal`.

    ``reach`` says how far apart the two values of each record are that the adversary tries to tell apart.
    """

    cov: Array
    weights: Array
    reach: Array
    names: tuple[str, ...]
    _shifts: dict[float | None, Result] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def n(self) -> int:
        """How many records."""
        return int(self.weights.size)

    def __repr__(self) -> str:
        return f"correlated.normal({self.n} records)"

    @cached_property
    def problem(self) -> Problem:
        """The same in units of each record's reach."""
        given = (self.cov, self.weights, self.reach)
        return Problem(self.cov / self.reach[:, None] / self.reach, self.weights * self.reach, given)

    # -- one adversary -------------------------------------------------------------------------------------------

    def adversary(self, target: int | str, known: Iterable[int | str] = ()) -> Adversary:
        """What one adversary sees: the shift of the answer, reach·|β|, and σ₀, the data's own randomness.

        β = Cov(S, x_i | x_K)/Var(x_i | x_K) and σ₀² = Var(S | x_i, x_K), S the true answer (paper 004, Theorem 6).
        """
        return self.problem.adversary(*self._who(target, known))

    def leakage(self, target: int | str, known: Iterable[int | str] = (), *, scale: ArrayLike = 1.0) -> Number:
        """The exact prior differential privacy of one adversary under Laplace noise: reach·|β|/scale.

        It does not depend on the values of the known records. It is a supremum: where the data's own randomness is
        left, no single answer attains it, but answers far out come as close as one likes.

        >>> pair = normal([[1, 0.5], [0.5, 1]])
        >>> pair.leakage(0, scale=1.0), pair.leakage(0, known=[1], scale=1.0)
        (1.5, 1.0)
        """
        width = checks.positive("scale", scale)
        with np.errstate(over="ignore"):
            return float_or_array(np.asarray(self.adversary(target, known).shift / width))

    def experiment(
        self,
        target: int | str,
        known: Iterable[int | str] = (),
        *,
        scale: float | None = None,
        sigma: float | None = None,
        own_noise: bool = True,
    ) -> Experiment:
        """The test between two values of the target, ``reach`` apart, with every reading.

        Gaussian noise gives exactly N(0,1) against N(ψ,1) with ψ = reach·|β|/√(σ²+σ₀²); Laplace noise a shift of a
        normal plus a Laplace variable. Counting the data's own randomness σ₀ as noise is an assumption about the data;
        ``own_noise=False`` leaves it out, which is never less cautious.

        >>> round(normal([[1, 0.5], [0.5, 1]]).experiment(0, sigma=1.0).psi(), 6)
        1.133893
        """
        i, given = self._who(target, known)
        seen = self.problem.adversary(i, given)
        name, width = noise(scale, sigma)
        return seen_by(self, i, given, seen, name, width, _flag("own_noise", own_noise))

    # -- all adversaries -----------------------------------------------------------------------------------------

    def worst(
        self,
        *,
        scale: float | None = None,
        sigma: float | None = None,
        own_noise: bool = True,
        target: int | str | None = None,
        known_at_most: int | None = None,
        time_limit: float | None = None,
        progress: Progress | None = None,
    ) -> Worst:
        """The target and known records with the largest leakage (Laplace noise) or ψ (Gaussian noise).

        In closed form where the covariance has a structure that allows it, otherwise by enumeration or by branch and
        bound; exact, or at the ``time_limit`` in seconds the best found with a proven upper bound. ``target`` asks
        about one record only, ``known_at_most`` about adversaries who know no more records than that.

        >>> found = normal([[1, 0.112, 0.053], [0.112, 1, 0.997], [0.053, 0.997, 1]]).worst(scale=1.0)
        >>> found.target, found.known, round(found.leakage, 6)
        (1, (2,), 10.874645)
        """
        name, width = noise(scale, sigma)
        counted = self._searched(width) if _flag("own_noise", own_noise) and name == "sigma" else None
        most = None if known_at_most is None else checks.integer("known_at_most", known_at_most, low=0)
        result = search(
            self.problem,
            counted,
            most=None if most is None else min(most, self.n - 1),
            targets=None if target is None else (self._record("target", target),),
            time_limit=time_allowed(time_limit),
            progress=progress,
        )
        return self._told(result, name, width, counted)

    def by_known(
        self,
        *,
        scale: float | None = None,
        sigma: float | None = None,
        own_noise: bool = True,
        target: int | str | None = None,
        time_limit: float | None = None,
        progress: Progress | None = None,
    ) -> tuple[Worst, ...]:
        """The worst adversary for each number of known records, 0 to n − 1 (the curve of paper 004's Figure 4).

        Beyond 25 records without a closed form each point is searched for its share of the ``time_limit``.

        >>> [round(w.leakage, 4) for w in normal([[1, 0.8, 0.8], [0.8, 1, 0.8], [0.8, 0.8, 1]]).by_known(scale=1.0)]
        [2.6, 1.4444, 1.0]
        """
        name, width = noise(scale, sigma)
        counted = self._searched(width) if _flag("own_noise", own_noise) and name == "sigma" else None
        targets = None if target is None else (self._record("target", target),)
        results = search_by_known(
            self.problem, counted, targets=targets, time_limit=time_allowed(time_limit), progress=progress
        )
        return tuple(self._told(r, name, width, counted) for r in results)

    def _searched(self, sigma: float) -> float:
        """σ for a search in squares: beyond these ends ψ of the worst adversary is proportional to 1/σ."""
        most = float(np.abs(self.problem.weights).max()) or 1.0
        return min(max(sigma, 1e-80 * most), 1e80 * most)

    def _told(self, result: Result, name: str, width: float, counted: float | None) -> Worst:
        unit = width if counted is None else width / counted  # with own noise the search already divided by it
        found = result.found
        return Worst(
            leakage=found.value / unit,
            objective="psi" if name == "sigma" else "leakage",
            target=found.target,
            known=found.known,
            upper=found.upper / unit,
            complete=result.complete,
            method=result.method,
            names=self.names,
            examined=found.examined,
            independent=float(np.abs(self.problem.weights).max()) / width,
        )

    def contributions(
        self,
        *,
        scale: float | None = None,
        sigma: float | None = None,
        own_noise: bool = True,
        time_limit: float | None = None,
        progress: Progress | None = None,
    ) -> tuple[Contribution, ...]:
        """Which records' correlations matter: how much the worst case falls when a record is made independent.

        For each record its covariances with all others are set to zero, everything else kept, and the worst adversary
        is sought again: contribution = worst as it is − worst without. A negative one says that the record's
        correlations hide others. Largest first.

        >>> trio = normal([[1, 0.9, 0], [0.9, 1, 0], [0, 0, 1]])
        >>> [(c.name, round(c.contribution, 6)) for c in trio.contributions(scale=1.0)]
        [('record 0', 0.9), ('record 1', 0.9), ('record 2', 0.0)]
        """
        asked: dict[str, Any] = {"scale": scale, "sigma": sigma, "own_noise": own_noise}

        def without(j: int, share: float | None) -> Worst:
            cov = self.cov.copy()
            cov[j, :] = cov[:, j] = 0.0
            cov[j, j] = self.cov[j, j]
            return NormalRecords(cov, self.weights, self.reach, self.names).worst(**asked, time_limit=share)

        return contributions_of(
            self.names, lambda share: self.worst(**asked, time_limit=share), without, time_limit, progress
        )

    # -- choosing ------------------------------------------------------------------------------------------------

    def mechanism(
        self, *, scale: float | None = None, sigma: float | None = None, time_limit: float | None = None
    ) -> Experiment:
        """One experiment that bounds every adversary in every reading, for ``el.choose(model.mechanism, "scale", …)``.

        It has the largest shift of all adversaries and counts none of the data's own randomness as noise.
        """
        name, width = noise(scale, sigma)
        found = self.largest_shift(time_limit).found
        return seen_by(self, found.target, found.known, Adversary(found.upper, 0.0), name, width, False, True)

    def largest_shift(self, time_limit: float | None, progress: Progress | None = None) -> Result:
        """The adversary with the largest shift, sought once."""
        limit = time_allowed(time_limit)
        if limit not in self._shifts:
            self._shifts[limit] = search(self.problem, None, time_limit=limit, progress=progress)
        return self._shifts[limit]

    def choose(
        self,
        *,
        at_most: float,
        reading: str = "leakage",
        noise: str = "laplace",
        own_noise: bool = True,
        time_limit: float | None = None,
        progress: Progress | None = None,
        **arguments: Any,
    ) -> Choice:
        """The least noise that keeps a reading of the worst adversary at or under a limit.

        ``reading`` is "leakage" (Laplace noise; λ = max reach·|β|/limit) or any reading of an experiment, with its
        arguments by name. The adversary with the largest leakage need not be the one who guesses best, because another
        may face less of the data's own randomness: all adversaries that no other beats in both are compared. Where
        they are too many to enumerate, or with ``own_noise=False``, the largest shift with no own randomness bounds
        them all.

        >>> pair = normal([[1, 0.5], [0.5, 1]])
        >>> pair.choose(at_most=1.0).value
        1.5
        >>> c = pair.choose(reading="success", at_most=0.6, noise="gaussian")
        >>> round(c.value, 4), c.parameter
        (2.8309, 'sigma')
        """
        return choose(
            self, at_most, reading, noise, _flag("own_noise", own_noise), time_allowed(time_limit), progress, arguments
        )

    # -- checks --------------------------------------------------------------------------------------------------

    def _record(self, name: str, value: Any) -> int:
        return record_number(name, value, self.names)

    def _who(self, target: Any, known: Any) -> tuple[int, tuple[int, ...]]:
        i = self._record("target", target)
        try:
            listed = None if isinstance(known, str) else list(known)
        except TypeError:  # isinstance would not do: an array without dimensions says that it can be gone through
            listed = None
        if listed is None:
            raise InputError(f"known is {known!r}: give a list of records", parameter="known")
        given = sorted({self._record("known", j) for j in listed})
        if i in given:
            raise InputError(f"{self.names[i]} is both the target and known: leave it out of known", parameter="known")
        return i, tuple(given)


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} is {value!r}: give True or False", parameter=name)
    return bool(value)


def normal(
    cov: ArrayLike, weights: ArrayLike | None = None, reach: ArrayLike = 1.0, *, names: Sequence[str] | None = None
) -> NormalRecords:
    """Jointly normal records with covariance ``cov`` and the linear query Σ weights·x (the sum unless said otherwise).

    ``reach`` is how far apart two values of a record may be, one number or one per record. A weight may be 0: a record
    that is not in the query still leaks through those that are. ``names`` are used in sentences; a data frame brings
    its own.

    >>> normal([[1, 0.5], [0.5, 1]]).worst(scale=1.0).leakage
    1.5
    """
    if names is None and hasattr(cov, "columns"):  # a data frame brings its names
        names = [str(c) for c in cov.columns]
    matrix = np.array(checks.real("cov", cov))
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"cov has shape {matrix.shape}: give a square matrix, one row and one column per record", parameter="cov"
        )
    n = len(matrix)
    if n == 0:
        raise InputError("cov is empty: give at least one record", parameter="cov")
    matrix = symmetric(matrix)
    refuse_indefinite(matrix)
    a = np.ones(n) if weights is None else np.array(checks.real("weights", weights))
    if a.shape != (n,):
        raise InputError(
            f"weights has shape {a.shape}: give one weight for each of the {n} records", parameter="weights"
        )
    far = np.array(checks.positive("reach", reach))
    if far.shape not in ((), (n,)):
        raise InputError(
            f"reach has shape {far.shape}: give one number, or one for each of the {n} records", parameter="reach"
        )
    far = np.array(np.broadcast_to(far, (n,)))
    refuse_extremes(matrix, a, far)
    for array in (matrix, a, far):
        array.setflags(write=False)
    return NormalRecords(matrix, a, far, record_names(names, n))
