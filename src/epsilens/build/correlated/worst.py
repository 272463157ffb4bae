"""The worst adversary found for correlated records: who is exposed, what the adversary knows, and how sure we are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from ...errors import InputError
from ...numerics.frozen import Frozen, Valued
from ...shown import Sentenced, Told

__all__ = ["Contribution", "Progress", "Worst", "record_names", "worst_of"]

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


@dataclass(frozen=True, eq=False, repr=False)
class Worst(Valued, Sentenced, Told):
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
            object.__setattr__(self, "values", Frozen(self.values))

    @property
    def psi(self) -> float:
        """ψ, for Gaussian noise."""
        if self.objective != "psi":
            raise InputError("psi is for Gaussian noise: ask for worst(sigma=…), or read leakage")
        return self.leakage

    def name_of(self, record: int) -> str:
        """What a record is called."""
        return self.names[record] if record < len(self.names) else f"record {record}"

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
class Contribution(Valued, Told):
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


def worst_of(models: Iterable[Any], **settings: Any) -> Worst:
    """The worst adversary over a set of models Θ, of any kind; ``model`` says which of them it was.

    ``settings`` go to each model's ``worst`` (scale=, sigma=, time_limit=, …). The upper bound covers all models.

    >>> from epsilens import correlated
    >>> pair = [correlated.normal([[1, r], [r, 1]]) for r in (-0.5, 0.0, 0.5)]
    >>> found = correlated.worst_of(pair, scale=1.0)
    >>> found.model, found.leakage
    (2, 1.5)
    """
    listed = list(models) if isinstance(models, Iterable) else []
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
