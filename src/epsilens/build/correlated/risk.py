"""What an adversary of discrete records gains, measured in one way, and what a search for the worst one brings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ...catalogue.readings import find
from ...checks import Array
from ...experiment import Experiment
from ...laws.closed.laplace import Laplace
from ...laws.closed.normal import Normal
from .adversary import Laws, displacement, experiment, leak, psi
from .knots import excess, suprema
from .sums import Contributions
from .worst import Progress

__all__ = ["Model", "Outcome", "Risk"]


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
        return 0.0 if self.reading == "leakage" else float(find(self.reading).floor(**self.arguments))

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


class Model(Protocol):
    """What the searches ask of a model of records."""

    parts: Contributions

    @property
    def n(self) -> int:
        """How many records."""
        ...

    @property
    def reach(self) -> Array:
        """LSⱼ: how far each record alone can move the answer."""
        ...

    def laws(self, target: int, known: Mapping[int, int]) -> Laws:
        """The adversary's laws."""
        ...

    def alone(self, target: int) -> Laws:
        """The laws where every other record is known."""
        ...

    def search(self, risk: Risk, deadline: float, progress: Progress | None) -> Outcome:
        """The worst adversary."""
        ...

    def experiment(self, target: int, known: Any, *, scale: Any = None, sigma: Any = None) -> Experiment:
        """The test between two values of the target."""
        ...
