"""What an adversary of correlated records gains, measured in one way, and the worst one found: who is exposed, what the
adversary knows, and how sure we are.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ... import checks
from ...calibration.choose import checked_limit, reading_argument
from ...catalogue.readings import find_reading
from ...checks import Array
from ...errors import InputError
from ...experiment import Experiment
from ...laws.laplace import Laplace
from ...laws.normal import Normal
from ...numerics.values import FrozenMapping, ValueSemantics
from ...results import SentenceResult, ShortResult
from .adversary import Laws, displacement, excess, experiment, leak, psi, suprema

#: Called with the share of the work done (0 to 1) and a few words on where it stands.
Progress: TypeAlias = Callable[[float, str], None]


def record_names(names: Sequence[str] | None, n: int) -> tuple[str, ...]:
    """The names of n records: those given, or "record 0", "record 1", …"""
    if names is None:
        return tuple(f"record {i}" for i in range(n))
    if isinstance(names, str) or not isinstance(names, Iterable) or not all(isinstance(name, str) for name in names):
        raise InputError(f"names is {names!r:.60}: give one text per record", parameter="names")
    if len(names) != n:
        raise InputError(f"names has {len(names)} entries for {n} records: give one name per record", parameter="names")
    return tuple(names)


def record_number(name: str, value: Any, names: tuple[str, ...]) -> int:
    """Which record this is, by its name or its number."""
    if not isinstance(value, str):
        return checks.integer(name, value, low=0, high=len(names) - 1)
    if value not in names:
        raise InputError(
            f"{name} is {value!r}: give one of {', '.join(names[:12])}, or a number from 0", parameter=name
        )
    return names.index(value)


def time_allowed(time_limit: Any) -> float | None:
    """A time limit above zero, or none."""
    return None if time_limit is None else float(checks.positive("time_limit", checks.scalar("time_limit", time_limit)))


def until(time_limit: Any) -> float:
    """When a time limit that begins now is over; never, where there is none."""
    limit = time_allowed(time_limit)
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
            "leakage": _number(self.leakage),
            "objective": self.objective,
            "target": self.target,
            "target_name": self.name_of(self.target),
            "known": list(self.known),
            "known_names": [self.name_of(i) for i in self.known],
            "values": None if self.values is None else {str(k): _number(v) for k, v in self.values.items()},
            "upper": _number(self.upper),
            "complete": self.complete,
            "method": self.method,
            "examined": self.examined,
            "independent": None if self.independent is None else _number(self.independent),
            "model": self.model,
        }


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


@dataclass(frozen=True, eq=False, repr=False)
class Contribution(ValueSemantics, ShortResult):
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
            "leakage": _number(self.leakage),
            "without": _number(self.without),
            "contribution": _number(self.contribution),
            "complete": self.complete,
        }


def contributions_of(
    names: tuple[str, ...],
    worst: Callable[[float | None], Worst],
    without: Callable[[int, float | None], Worst],
    time_limit: Any,
    progress: Progress | None,
) -> tuple[Contribution, ...]:
    """The worst case as it is and ``without`` each record's correlations, each in an equal share of the time."""
    limit = time_allowed(time_limit)
    share = None if limit is None else limit / (len(names) + 1)
    whole, out = worst(share), []
    for j, name in enumerate(names):
        if progress is not None:
            progress(j / len(names), f"without the correlations of {name}")
        found = without(j, share)
        out.append(Contribution(j, name, whole.leakage, found.leakage, whole.complete and found.complete))
    return tuple(sorted(out, key=lambda c: -c.contribution))


def worst_of(models: Iterable[Any], **settings: Any) -> Worst:
    """The worst adversary over a set of models Θ, of any kind; ``model`` says which of them it was.

    ``settings`` go to each model's ``worst`` (scale=, sigma=, time_limit=, …). The upper bound covers all models.

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
        raise InputError(
            f"models is {models!r:.60}: give at least one model, such as correlated.normal(…)", parameter="models"
        )
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
class Risk:
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

    def read(self, laws: Laws, enough: float = 0.0) -> tuple[float, tuple[int, int]]:
        """The risk of one adversary, and the pair it belongs to; what is at most ``enough`` need not be exact."""
        if self.reading == "leakage":
            return leak(laws, self.width)
        if self.at_once:
            with np.errstate(invalid="ignore"):
                weights = np.nan_to_num(np.exp(laws.logs - laws.logs.max(axis=0)))
            risk = self.measure(laws.places, weights[:, :, None])[..., 0]
            place = int(np.argmax(risk))
            return max(float(risk.flat[place]), self.floor), divmod(place, risk.shape[1])
        best, pair = self.floor, (0, 0)
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
                if value > best:
                    best, pair = value, (x, y)
        return best, pair


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


class Asked(NamedTuple):
    """What is to be kept under a limit: a reading with its arguments, and the noise that does it."""

    noise: str  # its parameter, "scale" or "sigma"
    reading: str
    arguments: dict[str, float]
    limit: float


def asked(reading: Any, noise: str, at_most: Any, arguments: Mapping[str, Any]) -> Asked:
    """A reading that such noise can keep under one limit; pure ε under Laplace noise is the leakage."""
    if not isinstance(reading, str):
        raise InputError(
            f"reading is {reading!r:.60}: give the name of a reading, such as 'leakage' or 'success'",
            parameter="reading",
        )
    name = {"laplace": "scale", "gaussian": "sigma"}[checks.one_of("noise", noise, ("laplace", "gaussian"))]
    if reading == "leakage" and name == "sigma":
        raise InputError(
            "leakage is unbounded under Gaussian noise: bound 'psi', or 'epsilon' with a delta, instead",
            parameter="reading",
        )
    if reading == "leakage" and arguments:
        raise InputError(
            f"the reading 'leakage' does not take {next(iter(arguments))!r}: it takes no arguments", parameter="reading"
        )
    if reading == "leakage":
        return Asked(name, reading, {}, checks.scalar("at_most", at_most))
    wanted = find_reading(reading)
    given = wanted.arguments(arguments)
    if "prior" in given:
        checks.probability("prior", checks.scalar("prior", given["prior"]), closed=False)
    args = {k: reading_argument(k, v) for k, v in given.items()}
    limit = checked_limit(wanted, at_most)
    if name == "scale" and wanted.name == "epsilon" and args["delta"] == 0:
        return Asked(name, "leakage", {}, limit)
    return Asked(name, wanted.name, args, limit)
