"""Jointly normal records that depend on each other, and a noisy linear query of them (paper 004, §VI, corrected)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ... import checks
from ...calibration.choose import Choice
from ...calibration.choose import choose as pick
from ...checks import Array, Number, float_or_array
from ...errors import InputError
from ...experiment import Experiment
from ...laws.laplace import Laplace
from ...laws.normal import Normal
from ...laws.product import ProductFactor, TwoSidedBound, product, strongest_attack
from ...laws.sums import NormalLaplaceShift
from ...numerics.values import ValueSemantics, fingerprint
from ...readings.law import Latent, Law
from ...worlds import Worlds, WorldsKind
from . import normal_enumeration as enumeration
from .answer_laws import noise as noise_width
from .normal_problem import AnswerShift, Problem, refuse_extremes, refuse_indefinite, symmetric
from .normal_search import SearchResult, search, search_by_known
from .records import (
    Progress,
    RecordContribution,
    Worst,
    checked_time_limit,
    noise_requirement,
    record_contributions,
    record_names,
    record_number,
)

_OWN_RANDOMNESS = (
    "the randomness of the records that the adversary does not know is counted as noise: an assumption about the data, "
    "which no mechanism enforces (own_noise=False leaves it out)"
)
_EXACT = "the answers share what is unknown and are read as one release of a vector: jointly normal, exact"
_DISCLOSED = (
    "the answers share what is unknown and are read as one release of a vector: an upper bound, the adversary being "
    "told what the unknown records add beyond what the target says of them"
)


_COMPARE_SECONDS = 10.0
_NOT_COUNTED = (
    "the data's own randomness is not counted, because there are too many adversaries to compare: the noise is safe "
    "for all of them and may be more than needed"
)

Candidate = tuple[int, tuple[int, ...], AnswerShift]


def adversary_experiment(
    records: NormalRecords,
    i: int,
    known: tuple[int, ...],
    seen: AnswerShift,
    name: str,
    width: float,
    own_noise: bool,
    covers: bool = False,
) -> Experiment:
    """The experiment of one adversary who sees the answer shift and the data's own randomness as told.

    With ``covers`` it bounds every adversary, not only the one who is named.
    """
    own, reach, title = seen.own if own_noise else 0.0, float(records.reach[i]), records.names[i]
    parameters: dict[str, object] = {
        "target": i,
        "known": list(known),
        name: width,
        "reach": reach,
        "shift": seen.shift,
        "own_noise": own,
    }
    everyone = len(known) == records.weights.size - 1  # is known, then nothing is shared
    latent = (
        UnknownNormals(records, i, tuple(sorted(known)), seen, name, width, own_noise, covers)
        if covers or not everyone
        else None
    )
    worlds = Worlds(WorldsKind.CORRELATED, words=(f"{title} has one value", f"{title} has another, {reach:g} more"))
    notes = (_OWN_RANDOMNESS,) if own > 0 else ()
    return Experiment(_law(seen.shift, own, name, width), "correlated", parameters, worlds, notes, latent=latent)


def _law(shift: float, own: float, name: str, width: float) -> Law:
    moved = shift / width
    if not moved <= 1e4:
        raise InputError(
            f"{name} is {width:g} for a shift of {shift:g}: give noise of at least 0.0001 times the shift", name
        )
    if name == "sigma":
        return Normal(np.asarray(shift / float(np.hypot(width, own))))
    # below this share of the noise the normal part changes nothing that doubles can hold
    if own <= 1e-12 * width or moved == 0:
        return Laplace(np.asarray(moved))
    return NormalLaplaceShift(np.asarray(own / width), np.asarray(moved))


@dataclass(frozen=True, eq=False, repr=False)
class UnknownNormals(Latent):
    """How one answer depends on the jointly normal records that the adversary does not know, the same in every answer.

    ``seen`` is what one answer shows; where it covers every adversary, ``covers`` says so.
    """

    records: NormalRecords
    target: int
    known: tuple[int, ...]
    seen: AnswerShift
    noise: str
    width: float
    own_noise: bool
    covers: bool = False

    unknown: ClassVar[str] = "records that the adversary does not know"

    def reverse(self) -> UnknownNormals:
        """The same: both orders of a shift are alike."""
        return self

    def joint(self, answers: Sequence[tuple[Latent, int]]) -> tuple[Law, str]:
        """All answers as one release of a vector: the same values of the unknown records in each.

        Under normal noise the answers are jointly normal and ψ² = dᵀ(C + diag(σ²/k))⁻¹d, d how far the target moves
        each and C what the unknown records leave them: exact. Otherwise the adversary is told what the unknown records
        add beyond what follows from the target, and bare noise is left: an upper bound, exact for pure ε.
        """
        told = [(self._matching_answer(answer), k) for answer, k in answers]
        bare = any(answer.covers or not answer.own_noise or answer.seen.own == 0 for answer, _ in told)
        if not bare and all(answer.noise == "sigma" for answer, _ in told):
            return Normal(np.asarray(self._joint_psi(told))), _EXACT
        factors = [ProductFactor(_law(answer.seen.shift, 0.0, answer.noise, answer.width), k) for answer, k in told]
        bound = product(factors).law.as_bound()
        single = [_law(a.seen.shift, a.seen.own if a.own_noise else 0.0, a.noise, a.width) for a, _ in told]
        if bare:  # what is left out may hide more than is shown
            return bound, _DISCLOSED
        return TwoSidedBound((bound,), attained=strongest_attack(tuple(single))), _DISCLOSED

    def _matching_answer(self, answer: Latent) -> UnknownNormals:
        """The answer, if it is one to the same adversary about the same records."""
        if isinstance(answer, UnknownNormals):
            mine, theirs = ((u.records.cov, u.records.names, u.records.reach) for u in (self, answer))
            who = [(u.target, u.known) if not u.covers else u.covers for u in (self, answer)]
            if fingerprint(mine) == fingerprint(theirs) and who[0] == who[1]:
                return answer
        raise InputError(
            "the answers are not about the same jointly normal records: answers compose if they have one covariance "
            "(with weights of their own), one target and the same known records; give these"
        )

    def _joint_psi(self, told: Sequence[tuple[UnknownNormals, int]]) -> float:
        """ψ of answers with normal noise, rounded up."""
        counted: dict[Hashable, tuple[UnknownNormals, float]] = {}
        for answer, k in told:  # of one query the answers say as much as their mean
            key = fingerprint(answer.records.weights)
            known = k / answer.width**2
            counted[key] = answer, known + (counted[key][1] if key in counted else 0.0)
        if len(counted) == 1:
            ((answer, precision),) = counted.values()
            return answer.seen.shift / math.hypot(1 / math.sqrt(precision), answer.seen.own)
        queries = np.stack([answer.records.weights for answer, _ in counted.values()])
        moved, root = self.records.problem.vector(self.target, self.known, queries)
        unit = np.sqrt(np.asarray([precision for _, precision in counted.values()]))
        moved, root = moved * unit, root * unit[:, None]
        axes, sizes, _ = np.linalg.svd(root, full_matrices=True)
        spread = np.zeros(moved.size)
        spread[: sizes.size] = sizes
        psi = math.sqrt(float(np.sum((axes.T @ moved) ** 2 / (1 + spread**2))))
        return psi * (1 + 1e-13) + 1e-15 * math.sqrt(float(moved @ moved))


def _candidates(model: NormalRecords, time_limit: float | None, progress: Progress | None) -> list[Candidate] | None:
    """The adversaries that no other beats in both shift and own randomness, where all can be enumerated in time."""
    allowed = _COMPARE_SECONDS if time_limit is None else time_limit
    if model.n > enumeration.LARGEST or enumeration.forecast_seconds(model.n) > allowed:
        return None
    return enumeration.pareto_front(model.problem, progress=progress)


def _candidate_readings(candidates: list[Candidate], name: str, choice: Choice) -> Any:
    """The chosen reading of every candidate at the chosen noise, in one go."""
    shift = np.asarray([seen.shift for *_, seen in candidates])
    own = np.asarray([seen.own for *_, seen in candidates])
    width = choice.value
    if name == "sigma":
        return _reading(Normal(shift / np.hypot(width, own)), choice)
    out = np.empty(shift.size)
    bare = (own <= 1e-12 * width) | (shift == 0)
    if bare.any():
        out[bare] = _reading(Laplace(shift[bare] / width), choice)
    if not bare.all():
        out[~bare] = _reading(NormalLaplaceShift(own[~bare] / width, shift[~bare] / width), choice)
    return out


def _reading(law: Any, choice: Choice) -> Any:
    return getattr(Experiment(law), choice.reading_name)(**choice.arguments)


@dataclass(frozen=True, eq=False, repr=False)
class NormalRecords(ValueSemantics):
    """Records x ~ N(μ, cov) and the answer Σ weights·x plus noise; built by :func:`normal`.

    ``reach`` says how far apart the two values of each record are that the adversary tries to tell apart.
    """

    cov: Array
    weights: Array
    reach: Array
    names: tuple[str, ...]
    _shifts: dict[float | None, SearchResult] = field(default_factory=dict, init=False, repr=False, compare=False)

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

    def adversary(self, target: int | str, known: Iterable[int | str] = ()) -> AnswerShift:
        """What one adversary sees: the shift of the answer, reach·|β|, and σ₀, the data's own randomness.

        β = Cov(S, x_i | x_K)/Var(x_i | x_K) and σ₀² = Var(S | x_i, x_K), S the true answer (paper 004, Theorem 6).
        """
        return self.problem.adversary(*self._adversary_records(target, known))

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
        i, given = self._adversary_records(target, known)
        seen = self.problem.adversary(i, given)
        name, width = noise_width(scale, sigma)
        return adversary_experiment(self, i, given, seen, name, width, _flag("own_noise", own_noise))

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
        name, width = noise_width(scale, sigma)
        counted = self._search_sigma(width) if _flag("own_noise", own_noise) and name == "sigma" else None
        most = None if known_at_most is None else checks.integer("known_at_most", known_at_most, low=0)
        result = search(
            self.problem,
            counted,
            most=None if most is None else min(most, self.n - 1),
            targets=None if target is None else (self._record("target", target),),
            time_limit=checked_time_limit(time_limit),
            progress=progress,
        )
        return self._result(result, name, width, counted)

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
        name, width = noise_width(scale, sigma)
        counted = self._search_sigma(width) if _flag("own_noise", own_noise) and name == "sigma" else None
        targets = None if target is None else (self._record("target", target),)
        results = search_by_known(
            self.problem, counted, targets=targets, time_limit=checked_time_limit(time_limit), progress=progress
        )
        return tuple(self._result(r, name, width, counted) for r in results)

    def _search_sigma(self, sigma: float) -> float:
        """σ for a search in squares: beyond these ends ψ of the worst adversary is proportional to 1/σ."""
        most = float(np.abs(self.problem.weights).max()) or 1.0
        return min(max(sigma, 1e-80 * most), 1e80 * most)

    def _result(self, result: SearchResult, name: str, width: float, counted: float | None) -> Worst:
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
    ) -> tuple[RecordContribution, ...]:
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

        return record_contributions(
            self.names, lambda share: self.worst(**asked, time_limit=share), without, time_limit, progress
        )

    def mechanism(
        self, *, scale: float | None = None, sigma: float | None = None, time_limit: float | None = None
    ) -> Experiment:
        """One experiment that bounds every adversary in every reading, for ``el.choose(model.mechanism, "scale", …)``.

        It has the largest shift of all adversaries and counts none of the data's own randomness as noise.
        """
        name, width = noise_width(scale, sigma)
        found = self.largest_shift(time_limit).found
        return adversary_experiment(
            self, found.target, found.known, AnswerShift(found.upper, 0.0), name, width, False, True
        )

    def largest_shift(self, time_limit: float | None, progress: Progress | None = None) -> SearchResult:
        """The adversary with the largest shift, sought once."""
        limit = checked_time_limit(time_limit)
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
        **arguments: object,
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
        own_noise, time_limit = _flag("own_noise", own_noise), checked_time_limit(time_limit)
        name, told, args, limit = noise_requirement(reading, noise, at_most, arguments)
        pure = told == "leakage"  # own randomness changes nothing: the largest shift decides
        if pure:
            told, args = "epsilon", {"delta": 0.0}
        candidates: list[Candidate] | None = None
        remarks: tuple[str, ...] = ()
        if own_noise and not pure:
            candidates = _candidates(self, time_limit, progress)
            remarks = () if candidates else (_NOT_COUNTED,)
        if candidates is None:
            result = self.largest_shift(time_limit, progress)
            found = result.found
            candidates = [(found.target, found.known, AnswerShift(found.upper, 0.0))]
            if not result.complete:
                remarks = (*remarks, "the search ended at its time limit: the noise covers the proven bound")
        most = max(seen.shift for *_, seen in candidates)
        if most == 0:
            raise InputError("no record moves the answer: every weight is 0, so no noise is needed")
        binding = max(candidates, key=lambda c: c[2].shift)
        for _ in range(1000):

            def mechanism(*, sensitivity: float, who: Candidate = binding, **width: float) -> Experiment:
                return adversary_experiment(self, *who, name, width[name], True)

            choice = pick(mechanism, name, at_most=limit, reading=told, given={"sensitivity": most}, **args)
            readings = _candidate_readings(candidates, name, choice)
            top = int(np.argmax(readings))
            if readings[top] <= choice.limit or candidates[top] == binding:
                break
            binding = candidates[top]
        if pure:
            target, known, seen = binding
            own = self.problem.adversary(target, known).own if own_noise else 0.0
            shown = adversary_experiment(
                self, target, known, AnswerShift(seen.shift, own), name, choice.value, own_noise
            )
            choice = replace(choice, experiment=shown)
        return replace(choice, remarks=remarks)

    def _record(self, name: str, value: object) -> int:
        return record_number(name, value, self.names)

    def _adversary_records(self, target: Any, known: Any) -> tuple[int, tuple[int, ...]]:
        i = self._record("target", target)
        try:
            listed = None if isinstance(known, str) else list(known)
        except TypeError:  # isinstance would not do: an array without dimensions says that it can be gone through
            listed = None
        if listed is None:
            raise InputError(f"known is {known!r}: give a list of records", "known")
        given = sorted({self._record("known", j) for j in listed})
        if i in given:
            raise InputError(f"{self.names[i]} is both the target and known: leave it out of known", "known")
        return i, tuple(given)


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} is {value!r}: give True or False", name)
    return bool(value)


def normal(
    cov: ArrayLike, weights: ArrayLike | None = None, reach: ArrayLike = 1.0, *, names: Sequence[str] | None = None
) -> NormalRecords:
    """Jointly normal records with covariance ``cov`` and the linear query Σ weights·x (the sum unless said otherwise).

    ``reach`` is how far apart two values of a record may be, one number or one per record. A weight may be 0: a record
    that is not in the query still leaks through those that are. ``names`` are used in sentences; a data frame brings
    its own.

    Parameters
    ----------
    cov : array_like
        Covariance of the records, positive semidefinite.
    weights : array_like, optional
        Weights of the linear query, one a record; all 1 unless given.
    reach : float or array_like, default 1.0
        How far apart two values of a record may be, one number or one a record.
    names : sequence of str, optional
        What sentences call the records.

    Returns
    -------
    NormalRecords
        The model, with its searches.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> normal([[1, 0.5], [0.5, 1]]).worst(scale=1.0).leakage
    1.5
    """
    if names is None and hasattr(cov, "columns"):  # a data frame brings its names
        names = [str(c) for c in cov.columns]
    matrix = np.array(checks.real("cov", cov))
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"cov has shape {matrix.shape}: give a square matrix, one row and one column per record", "cov"
        )
    n = len(matrix)
    if n == 0:
        raise InputError("cov is empty: give at least one record", "cov")
    matrix = symmetric(matrix)
    refuse_indefinite(matrix)
    a = np.ones(n) if weights is None else np.array(checks.real("weights", weights))
    if a.shape != (n,):
        raise InputError(f"weights has shape {a.shape}: give one weight for each of the {n} records", "weights")
    far = np.array(checks.positive("reach", reach))
    if far.shape not in ((), (n,)):
        raise InputError(f"reach has shape {far.shape}: give one number, or one for each of the {n} records", "reach")
    far = np.array(np.broadcast_to(far, (n,)))
    refuse_extremes(matrix, a, far)
    for array in (matrix, a, far):
        array.setflags(write=False)
    return NormalRecords(matrix, a, far, record_names(names, n))
