"""What every model of discrete records answers: leakage, experiment, the worst adversary, the noise to choose.

A model (table, chain, tree) says how to lay out one adversary (``laws``), which values of known records to try
(``options``) and how to search all adversaries (``search``); the questions are the same for all of them.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from ... import checks
from ...calibration.choose import Binding, Choice, checked_limit, reading_argument
from ...catalogue.readings import find_reading
from ...checks import Array
from ...errors import InputError, NoSolutionError
from ...experiment import Experiment
from ...laws.laplace import Laplace
from ...laws.normal import Normal
from ...numerics.formatting import json_value
from ...numerics.roots import safe_boundary
from ...numerics.values import FrozenMapping, ValueSemantics, fingerprint
from ...readings.law import Latent, Law
from ...results import SentenceResult, ShortResult
from ..latent import LatentAnswer, joint_law, mixture_pair
from .answer_laws import (
    Contributions,
    Laws,
    Width,
    displacement,
    excess,
    experiment,
    largest_leakage,
    merge_sums,
    noise,
    psi,
    suprema,
)

#: Called with the share of the work done (0 to 1) and a few words on where it stands.
Progress: TypeAlias = Callable[[float, str], None]
#: How long a search may take; None for as long as it takes.
Seconds: TypeAlias = float | None


def record_names(names: Sequence[str] | None, n: int) -> tuple[str, ...]:
    """The names of n records: those given, or "record 0", "record 1", …"""
    if names is None:
        return tuple(f"record {i}" for i in range(n))
    if isinstance(names, str) or not isinstance(names, Iterable) or not all(isinstance(name, str) for name in names):
        raise InputError(f"names is {names!r:.60}: give one text per record", "names")
    if len(names) != n:
        raise InputError(f"names has {len(names)} entries for {n} records: give one name per record", "names")
    return tuple(names)


def record_number(name: str, value: object, names: tuple[str, ...]) -> int:
    """Which record this is, by its name or its number."""
    if not isinstance(value, str):
        return checks.integer(name, value, low=0, high=len(names) - 1)
    if value not in names:
        raise InputError(f"{name} is {value!r}: give one of {', '.join(names[:12])}, or a number from 0", name)
    return names.index(value)


def checked_time_limit(time_limit: object) -> float | None:
    """A time limit above zero, or none."""
    return None if time_limit is None else float(checks.positive("time_limit", checks.scalar("time_limit", time_limit)))


def deadline_after(time_limit: object) -> float:
    """When a time limit that begins now is over; never, where there is none."""
    limit = checked_time_limit(time_limit)
    return math.inf if limit is None else time.monotonic() + limit


@dataclass(frozen=True, eq=False, repr=False)
class Worst(ValueSemantics, SentenceResult, ShortResult):
    """The largest leakage over all adversaries, with its certificate.

    An adversary wants the value of record ``target``, knows the records ``known`` (with ``values`` where these matter)
    and sees the noisy answer. ``leakage`` is the largest change of the log-odds between two values of the target, in
    nats, for Laplace noise (``objective`` "leakage"), or the distance ψ of the two laws of the answer for Gaussian
    noise ("psi"). No adversary exceeds ``upper``; when the search is ``complete`` it equals ``leakage``, but for what
    rounding may have cost where a covariance is nearly singular. ``independent`` is the same measure for the same query
    on records that are not correlated.
    """

    shown_as = "worst"

    leakage: float
    objective: str
    target: int
    known: tuple[int, ...]
    upper: float
    complete: bool
    method: str
    values: Mapping[int, float] | None = None
    names: tuple[str, ...] = field(default=(), repr=False)
    examined: int = 0
    independent: float | None = None
    model: int | None = None

    def __post_init__(self) -> None:
        if self.values is not None:
            object.__setattr__(self, "values", FrozenMapping(self.values))

    @property
    def psi(self) -> float:
        """ψ, for Gaussian noise."""
        if self.objective != "psi":
            raise InputError("psi is for Gaussian noise: ask for worst(sigma=…), or read leakage")
        return self.leakage

    def name_of(self, record: int) -> str:
        """What a record is called."""
        number = checks.integer("record", record, low=0)
        return self.names[number] if number < len(self.names) else f"record {number}"

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record; null where a number is not finite."""
        return {
            "leakage": json_value(self.leakage),
            "objective": self.objective,
            "target": self.target,
            "target_name": self.name_of(self.target),
            "known": list(self.known),
            "known_names": [self.name_of(i) for i in self.known],
            "values": None if self.values is None else {str(k): json_value(v) for k, v in self.values.items()},
            "upper": json_value(self.upper),
            "complete": self.complete,
            "method": self.method,
            "examined": self.examined,
            "independent": json_value(self.independent),
            "model": self.model,
        }


@dataclass(frozen=True, eq=False, repr=False)
class RecordContribution(ValueSemantics, ShortResult):
    """How much one record's correlations add to the worst case: ``leakage`` as it is, ``without`` them."""

    shown_as = "contribution"

    record: int
    name: str
    leakage: float
    without: float
    complete: bool = True

    @property
    def contribution(self) -> float:
        """The difference; negative where the record's correlations hide others."""
        return self.leakage - self.without

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready record."""
        return {
            "record": self.record,
            "name": self.name,
            "leakage": json_value(self.leakage),
            "without": json_value(self.without),
            "contribution": json_value(self.contribution),
            "complete": self.complete,
        }


def record_contributions(
    names: tuple[str, ...],
    worst: Callable[[float | None], Worst],
    without: Callable[[int, float | None], Worst],
    time_limit: object,
    progress: Progress | None,
) -> tuple[RecordContribution, ...]:
    """The worst case as it is and ``without`` each record's correlations, each in an equal share of the time."""
    limit = checked_time_limit(time_limit)
    share = None if limit is None else limit / (len(names) + 1)
    whole, out = worst(share), []
    for j, name in enumerate(names):
        if progress is not None:
            progress(j / len(names), f"without the correlations of {name}")
        found = without(j, share)
        out.append(RecordContribution(j, name, whole.leakage, found.leakage, whole.complete and found.complete))
    return tuple(sorted(out, key=lambda c: -c.contribution))


def worst_of(models: Iterable[Any], **settings: Any) -> Worst:
    """The worst adversary over a set of models Θ, of any kind; ``model`` says which of them it was.

    ``settings`` go to each model's ``worst`` (scale=, sigma=, time_limit=, …). The upper bound covers all models.

    Parameters
    ----------
    models : iterable of models
        The models considered.
    **settings : object
        Given to each model's ``worst``.

    Returns
    -------
    Worst
        The worst adversary, with an upper bound over all models.

    Raises
    ------
    InputError
        If an argument lies outside its range, or too many or too few are given.

    Examples
    --------
    >>> from epsilens import correlated
    >>> pair = [correlated.normal([[1, r], [r, 1]]) for r in (-0.5, 0.0, 0.5)]
    >>> found = correlated.worst_of(pair, scale=1.0)
    >>> found.model, found.leakage
    (2, 1.5)
    """
    try:
        listed = list(models) if isinstance(models, Iterable) else []
    except TypeError:  # an array without dimensions calls itself iterable
        listed = []
    if not listed or not all(hasattr(model, "worst") for model in listed):
        raise InputError(f"models is {models!r:.60}: give at least one model, such as correlated.normal(…)", "models")
    found: list[Worst] = [replace(model.worst(**settings), model=k) for k, model in enumerate(listed)]
    best = max(found, key=lambda w: w.leakage)
    upper = max(w.upper for w in found)
    return replace(
        best,
        upper=upper,
        complete=all(w.complete for w in found) or best.leakage >= upper,
        examined=sum(w.examined for w in found),
    )


@dataclass(frozen=True)
class RiskMeasure:
    """One way to measure what an adversary gains, with noise of one width: the "leakage" (Laplace noise), or a reading
    of the experiment by name, with its arguments.
    """

    reading: str
    noise: str
    width: float
    arguments: Mapping[str, float] = field(default_factory=dict)

    @property
    def at_once(self) -> bool:
        """Whether many adversaries can be measured together."""
        return self.noise == "scale" and self.reading in ("leakage", "success", "advantage", "delta")

    @property
    def floor(self) -> float:
        """The reading of an adversary who learns nothing."""
        return 0.0 if self.reading == "leakage" else float(find_reading(self.reading).floor(**self.arguments))

    def measure(self, places: Array, weights: Array, least: float | None = None) -> Array:
        """The risk for every ordered pair of values and every column, −∞ where there is no such pair."""
        if self.reading == "leakage":
            return suprema(places, weights, self.width, least=least)
        prior = self.arguments.get("prior", 0.5)
        if self.reading == "success":
            threshold, slope, start = (1 - prior) / prior, prior, 1 - prior
        else:  # δ(ε); the advantage is δ(0)
            threshold, slope, start = math.exp(min(self.arguments.get("epsilon", 0.0), 700.0)), 1.0, 0.0
        live = weights.sum(axis=0) > 0
        best = start + slope * excess(places, weights, self.width, threshold)
        return np.where(live[:, None] & live[None], np.maximum(best, self.floor), -np.inf)

    def shift(self, moved: float) -> float:
        """The risk of the bare noise moved by this much: a bound for anything that moves the answer no further."""
        m = moved / self.width
        if self.reading == "leakage" or (self.reading == "psi" and self.noise == "sigma"):
            return m
        law = Laplace(np.asarray(m)) if self.noise == "scale" else Normal(np.asarray(m))
        return float(getattr(Experiment(law), self.reading)(**self.arguments))

    def read(self, laws: Laws, enough: float = 0.0) -> float:
        """The risk of one adversary; what is at most ``enough`` need not be exact."""
        if self.reading == "leakage":
            return largest_leakage(laws, self.width)[0]
        if self.at_once:
            with np.errstate(invalid="ignore"):
                weights = np.nan_to_num(np.exp(laws.logs - laws.logs.max(axis=0)))
            return max(float(self.measure(laws.places, weights[:, :, None]).max()), self.floor)
        best = self.floor
        possible = laws.possible
        for x in possible:
            for y in possible:
                if x == y or (x > y and self.reading == "psi"):  # ψ is the same in both orders
                    continue
                if self.reading == "psi" and self.noise == "sigma":
                    value = psi(laws, x, y, self.width, max(best, enough))
                elif self.shift(displacement(laws, x, y)) <= best:
                    continue
                else:
                    told: dict[str, Any] = {"pair": (laws.values[x], laws.values[y]), self.noise: self.width}
                    e = experiment(laws, target=0, title="", known={}, **told)
                    value = float(getattr(e, self.reading)(**self.arguments))
                best = max(best, value)
        return best


@dataclass(frozen=True)
class Outcome:
    """What a search brought: the best found, a bound on what it did not see, and how it went."""

    value: float
    target: int
    known: tuple[int, ...]
    values: Mapping[int, float] | None
    upper: float
    complete: bool
    examined: int
    method: str


@dataclass
class WorstPattern:
    """The largest value met, and the adversary it belongs to: what each other record is, −1 for unknown."""

    value: float = -math.inf
    target: int = -1
    pattern: tuple[int, ...] = ()

    @property
    def known(self) -> dict[int, int]:
        """Record → number of its known value."""
        return {j: v for j, v in enumerate(self.pattern) if v >= 0 and j != self.target}


class NoiseRequirement(NamedTuple):
    """What is to be kept under a limit: a reading with its arguments, and the noise that does it."""

    noise: str  # its parameter, "scale" or "sigma"
    reading: str
    arguments: dict[str, float]
    limit: float


def noise_requirement(
    reading: object, noise: str, at_most: object, arguments: Mapping[str, object]
) -> NoiseRequirement:
    """A reading that such noise can keep under one limit; pure ε under Laplace noise is the leakage."""
    if not isinstance(reading, str):
        raise InputError(
            f"reading is {reading!r:.60}: give the name of a reading, such as 'leakage' or 'success'", "reading"
        )
    name = {"laplace": "scale", "gaussian": "sigma"}[checks.one_of("noise", noise, ("laplace", "gaussian"))]
    if reading == "leakage" and name == "sigma":
        raise InputError(
            "leakage is unbounded under Gaussian noise: bound 'psi', or 'epsilon' with a delta, instead", "reading"
        )
    if reading == "leakage" and arguments:
        raise InputError(
            f"the reading 'leakage' does not take {next(iter(arguments))!r}: it takes no arguments", "reading"
        )
    if reading == "leakage":
        return NoiseRequirement(name, reading, {}, checks.scalar("at_most", at_most))
    wanted = find_reading(reading)
    given = wanted.arguments(arguments)
    if "prior" in given:
        checks.probability("prior", checks.scalar("prior", given["prior"]), closed=False)
    args = {k: reading_argument(k, v) for k, v in given.items()}
    limit = checked_limit(wanted, at_most)
    if name == "scale" and wanted.name == "epsilon" and args["delta"] == 0:
        return NoiseRequirement(name, "leakage", {}, limit)
    return NoiseRequirement(name, wanted.name, args, limit)


_MOST_CONFIGURATIONS = 4096  # of the unknown records, where answers differ or are sampled
_MOST_SAMPLES = 2_000_000  # configurations times sets that may be drawn
_SAMPLED = "Poisson sampling of correlated records, each by a coin of its own: exact"
_LATE = "the search ended at its time limit: the noise covers the proven bound and may be more than needed"
_NARROWEST = 1e15  # the records' reach in noise widths that doubles can tell apart

Record = int | str
Known = Mapping[Any, Any] | Iterable[Record]


class CorrelatedRecords(ValueSemantics, ABC):
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

    @abstractmethod
    def _mixtures(self, target: int, known: Mapping[int, int]) -> Laws:
        """The laws of an adversary who leaves something unknown; without mass where ``known`` has probability zero."""

    @abstractmethod
    def _possible(self, known: tuple[int, ...]) -> Callable[[tuple[int, ...]], bool]:
        """Which values of these records can occur together; refused where there are too many to go through."""

    @abstractmethod
    def _worst_without(self, record: int, risk: RiskMeasure, time_limit: float | None) -> Worst:
        """The worst adversary when one record is independent of the others."""

    @abstractmethod
    def table(self) -> Any:
        """The same records as a joint table; for few of them."""

    @abstractmethod
    def _search(self, risk: RiskMeasure, deadline: float, progress: Progress | None) -> Outcome:
        """The worst adversary."""

    def _laws(self, target: int, known: Mapping[int, int]) -> Laws:
        return self._mechanism_laws(target) if len(known) == self.n - 1 else self._mixtures(target, known)

    def _options(self, known: tuple[int, ...]) -> Iterator[dict[int, int]]:
        """All values of the known records that matter."""
        if len(known) == self.n - 1:
            yield dict.fromkeys(known, 0)
            return
        possible = self._possible(known)
        for numbers in product(*(range(self.parts.values[j].size) for j in known)):
            if possible(numbers):
                yield dict(zip(known, numbers, strict=True))

    def _strongest(self, risk: RiskMeasure) -> WorstPattern:
        """Everyone else known: the mechanism alone."""
        i = int(np.argmax(self.reach))
        return WorstPattern(risk.shift(float(self.reach[i])), i, tuple([0] * self.n))

    def leakage(self, target: Record, known: Known = (), *, scale: object = 1.0) -> float:
        """The exact prior differential privacy of one adversary under Laplace noise of this scale.

        max over ordered pairs x, x′ of sup_r log P(r | x_i = x, x_K)/P(r | x_i = x′, x_K). ``known`` maps records to
        their values, or lists records only: then the worst values count.
        """
        width = self._risk(scale, None).width
        i, given = self._adversary(target, known)
        if isinstance(given, dict):
            return largest_leakage(self._feasible_laws(i, given), width)[0]
        return max((largest_leakage(self._laws(i, o), width)[0] for o in self._options(given)), default=0.0)

    def experiment(
        self, target: Record, known: Known = (), *, scale: Width = None, sigma: Width = None, pair: object = None
    ) -> Experiment:
        """The test between two values of the target, with every reading, under Laplace or Gaussian noise.

        Without ``pair`` the two values that are easiest to tell apart are taken (the largest leakage for Laplace noise,
        the largest ψ for Gaussian); with records only in ``known``, their worst values.
        """
        risk = self._risk(scale, sigma)
        i, given = self._adversary(target, known)
        if not isinstance(given, dict):
            options = list(self._options(given))
            best = options[0] if len(options) == 1 else max(options, key=lambda o: risk.read(self._laws(i, o)))
            given = best
        told = {j: float(self.parts.values[j][v]) for j, v in given.items()}
        laws = self._feasible_laws(i, given)
        made = experiment(laws, target=i, title=self.names[i], known=told, scale=scale, sigma=sigma, pair=pair)
        if laws.single:  # nothing is unknown
            return made
        x, y = (self.parts.number(i, v) for v in made.parameters["pair"])
        return replace(
            made, latent=UnknownRecords(self, i, tuple(sorted(given.items())), (x, y), risk.noise, risk.width)
        )

    def worst(
        self, *, scale: Width = None, sigma: Width = None, time_limit: Seconds = None, progress: Progress | None = None
    ) -> Worst:
        """The adversary (target, known records and their values) with the largest leakage, or ψ for Gaussian noise.

        Exact, or at the time limit (in seconds) the best found with a proven upper bound.
        """
        return self._worst_by_risk(self._risk(scale, sigma), time_limit, progress)

    def _worst_by_risk(self, risk: RiskMeasure, time_limit: float | None, progress: Progress | None) -> Worst:
        return self._result(risk, self._search(risk, deadline_after(time_limit), progress))

    def _result(self, risk: RiskMeasure, found: Outcome) -> Worst:
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
        self, *, scale: Width = None, sigma: Width = None, time_limit: Seconds = None, progress: Progress | None = None
    ) -> tuple[RecordContribution, ...]:
        """Which records' correlations matter: how much the worst case falls when a record is made independent.

        The record keeps its own distribution, the others theirs, and the worst adversary is sought again. A negative
        contribution says that the record's correlations hide others. Largest first.
        """
        risk = self._risk(scale, sigma)
        return record_contributions(
            self.names,
            lambda share: self._worst_by_risk(risk, share, None),
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
        **arguments: object,
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
        time_limit = checked_time_limit(time_limit)
        name, told, args, limit = noise_requirement(reading, noise, at_most, arguments)
        floor = RiskMeasure(told, name, 1.0, args).floor
        if not limit > floor:
            raise NoSolutionError(
                f"no {name} keeps the worst {reading} at or under {limit:g}: even pure noise reaches {floor:.6g}, "
                "so give a limit above that",
                floor=floor,
                parameter=name,
            )
        most, everyone = float(self.reach.max()), float(self.reach.sum())
        if most == 0:
            raise InputError("no record moves the answer: every weight or every range is 0, so no noise is needed")
        deadline = deadline_after(time_limit)

        def risk(width: float) -> RiskMeasure:
            return RiskMeasure(told, name, width, args)

        def search(width: float) -> Outcome:
            return self._search(risk(width), deadline, progress)

        # everyone else known: the mechanism alone sets the least noise
        width = _least_width(lambda w: risk(w).shift(most), limit, most)
        found, step = search(width), 2.0**-52
        for _ in range(200):
            if found.upper <= limit or found.value <= limit:  # done, or the deadline came before the proof
                break
            if found.value <= limit * (1 + 1e-9):  # solved; two ways to one number differ in the last digits
                width, step = width * (1 + step), 2 * step
            else:
                numbers = {j: self.parts.number(j, v) for j, v in (found.values or {}).items()}
                laws = self._mechanism_laws(found.target) if found.values is None else self._laws(found.target, numbers)
                width = max(_least_width(lambda w: risk(w).read(laws), limit, width), width)  # noqa: B023 - used at once
            found = search(width)
        binding = Binding.LIMIT
        remarks: tuple[str, ...] = ()
        if found.upper > limit:
            remarks = (_LATE,)
            width = _least_width(lambda w: risk(w).shift(everyone), limit, most)
            found = replace(search(width), upper=risk(width).shift(everyone))
        known: Any = found.values if found.values is not None else found.known
        try:
            shown = self.experiment(found.target, known, **{name: width})
        except InputError:  # noise too narrow for the readings of a mixture: show the bare mechanism
            shown = self.experiment(found.target, [j for j in range(self.n) if j != found.target], **{name: width})
        if width <= 1e-250 * most:
            binding, remarks = Binding.NONE, ()
        if told == "leakage":  # what experiments call pure ε
            told, args = "epsilon", {"delta": 0.0}
        return Choice(name, width, found.upper, told, args, limit, shown, "search", binding, remarks)

    def _risk(self, scale: object, sigma: object) -> RiskMeasure:
        """The leakage under Laplace noise, ψ under Gaussian noise."""
        name, width = noise(scale, sigma)
        moved = float(self.reach.sum())
        if moved > _NARROWEST * width:
            raise InputError(
                f"{name} is {width:g} for records that together move the answer by {moved:g}: "
                f"give noise of at least {moved / _NARROWEST:.3g}",
                name,
            )
        return RiskMeasure("leakage" if name == "scale" else "psi", name, width)

    def _record(self, name: str, value: object) -> int:
        return record_number(name, value, self.names)

    def _adversary(self, target: Any, known: Any) -> tuple[int, dict[int, int] | tuple[int, ...]]:
        i = self._record("target", target)
        if isinstance(known, (str, int, float)):
            raise InputError(f"known is {known!r}: give a list of records, or record: value pairs", "known")
        try:
            listed = list(known)
        except TypeError:
            raise InputError(f"known is {known!r}: give a list of records, or record: value pairs", "known") from None
        records = tuple(self._record("known", j) for j in listed)
        if i in records:
            raise InputError(f"{self.names[i]} is the target and also known: leave it out of known", "known")
        if len(set(records)) < len(records):
            raise InputError(f"known is {listed!r}, with a record twice: give each record once", "known")
        if isinstance(known, Mapping):
            return i, {j: self.parts.number(j, known[k]) for j, k in zip(records, listed, strict=True)}
        return i, tuple(sorted(records))

    def _mechanism_laws(self, target: int) -> Laws:
        """Every other record is known: the mechanism alone, also where the model says this cannot happen."""
        amounts = self.parts.amounts[target] * self.parts.unit
        order = np.argsort(amounts, kind="stable")
        logs = np.full((order.size, order.size), -np.inf)
        logs[np.arange(order.size), order] = 0.0
        return Laws(amounts[order], logs, self.parts.values[target], single=True)

    def _feasible_laws(self, target: int, known: Mapping[int, int]) -> Laws:
        laws = self._laws(target, known)
        if not laws.possible:
            told = ", ".join(f"{self.names[j]} = {self.parts.values[j][v]:g}" for j, v in known.items())
            raise InputError(
                f"known is {told}, which has probability zero: give values that can occur together", "known"
            )
        return laws


@dataclass(frozen=True, eq=False, repr=False)
class UnknownRecords(Latent):
    """How one answer depends on the records that the adversary does not know, the same in every answer about them.

    ``known`` and ``pair`` are numbers of values; at ``rate`` below 1 the answer is computed on a Poisson sample, drawn
    anew for each answer.
    """

    model: CorrelatedRecords
    target: int
    known: tuple[tuple[int, int], ...]
    pair: tuple[int, int]
    noise: str
    width: float
    rate: float = 1.0

    unknown: ClassVar[str] = "records that the adversary does not know"

    def reverse(self) -> UnknownRecords:
        """The two values exchanged."""
        return replace(self, pair=self.pair[::-1])

    def joint(self, answers: Sequence[tuple[Latent, int]]) -> tuple[Law, str]:
        """All answers as one release of a vector: the same values of the unknown records in each."""
        told = [(self._matching_answer(answer), k) for answer, k in answers]
        if self.rate == 1 and all(answer.rate == 1 and answer.model == self.model for answer, _ in told):
            laws = self.model._laws(self.target, dict(self.known))  # one query: its sum is all that is unknown
            (places0, logs0), (places1, logs1) = (laws.column(v) for v in self.pair)
            places, where = merge_sums(np.concatenate((places0, places1)))
            prior = np.exp(np.concatenate((logs0, logs1)))
            shares = np.zeros((where.size, places.size))
            shares[np.arange(where.size), where] = 1.0
            first = np.arange(where.size) < places0.size
            made = [(LatentAnswer(places, shares, answer.noise, answer.width), k) for answer, k in told]
            return joint_law(np.where(first, prior, 0.0), np.where(first, 0.0, prior), made)
        w0, w1, _ = self._configurations()
        return joint_law(w0, w1, [(answer._latent_answer(), k) for answer, k in told])

    def sampled(self, rate: float) -> tuple[Law, Latent, str]:
        """Every record, known or not, takes part by a coin of its own that nobody sees: exact."""
        made = replace(self, rate=self.rate * rate)
        w0, w1, _ = made._configurations()
        answer = made._latent_answer()
        sides = [(answer.places[s > 0], s[s > 0]) for s in (w0 @ answer.shares, w1 @ answer.shares)]
        return mixture_pair(*sides[0], *sides[1], self.noise, self.width), made, _SAMPLED

    def _matching_answer(self, answer: Latent) -> UnknownRecords:
        """The answer, if it is one to the same adversary about the same records."""
        asks = f"another question than {self.model.names[self.target]}'s"
        if isinstance(answer, UnknownRecords):
            mine, theirs = self.model, answer.model
            if _population(mine) != _population(theirs):
                asks = "records of another model"
            elif (answer.target, answer.known, set(answer.pair)) == (self.target, self.known, set(self.pair)):
                return replace(answer, pair=self.pair)  # the same two worlds, in the order of the first answer
        raise InputError(
            f"an answer is about {asks}: answers about correlated records compose if they have one model of the "
            "records (with weights of their own), one target, the same known values and the same pair; give these"
        )

    def _configurations(self) -> tuple[Array, Array, Array]:
        """How likely each combination of values is where the target has the first value, and the second; all values."""
        table = self.model.table()
        fixed = dict(self.known)
        cells = math.prod(d for j, d in enumerate(table.joint.shape) if j != self.target and j not in fixed)
        if cells > _MOST_CONFIGURATIONS:
            raise InputError(
                f"the unknown records have {cells:,} combinations of values, more than the {_MOST_CONFIGURATIONS:,} "
                "that are gone through where answers differ or are sampled: give a model of fewer records"
            )
        rows, weights = [], []
        for value in self.pair:
            set_values = fixed | {self.target: value}
            choices = ([set_values[j]] if j in set_values else range(d) for j, d in enumerate(table.joint.shape))
            mine = np.asarray(list(product(*choices)))
            rows.append(mine)
            weights.append(table.joint[tuple(mine.T)])
        first, second = (w / w.sum() for w in weights)
        nothing = np.zeros(first.size)
        return np.concatenate((first, nothing)), np.concatenate((nothing, second)), np.concatenate(rows)

    def _latent_answer(self) -> LatentAnswer:
        """The answer given each configuration: one sum, or with sampling the sum over each set that may be drawn."""
        numbers, parts = self._configurations()[2], self.model.parts
        if self.rate == 1:
            each = sum(parts.amounts[j][v] * parts.unit for j, v in enumerate(numbers.T))
            sums, share = np.asarray(each)[:, None], np.ones(1)
        else:
            if len(numbers) * 2**self.model.n > _MOST_SAMPLES:
                raise InputError(
                    f"{self.model.n} records can be drawn in {2.0**self.model.n:.2g} ways: sample a model of fewer"
                )
            sums, share = np.zeros((len(numbers), 1)), np.ones(1)
            for j, v in enumerate(numbers.T):  # what is drawn counts as it is, what is not as nothing
                own = parts.weights[j] * parts.values[j][v]
                sums = np.concatenate((sums, sums + own[:, None]), axis=1)
                share = np.concatenate((share * (1 - self.rate), share * self.rate))
        places, where = merge_sums(sums)
        shares = np.zeros((len(numbers), places.size))
        np.add.at(shares, (np.arange(len(numbers))[:, None], where), share)
        return LatentAnswer(places, shares, self.noise, self.width)


def _population(model: CorrelatedRecords) -> Any:
    """The records apart from the query: how they depend on each other, their values and names."""
    held = {name: value for name, value in vars(model).items() if name != "parts" and not name.startswith("_")}
    return type(model), fingerprint(held), fingerprint(model.parts.values)


def _least_width(read: Callable[[float], float], limit: float, start: float) -> float:
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
    return safe_boundary(lambda w: read(w) - limit, high, low)
