"""One adversary of discrete records: the laws of the answer for each value of the target, and what they give away."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import checks
from ...checks import Array
from ...errors import InputError
from ...experiment import Experiment
from ...laws.closed.laplace import Laplace
from ...laws.closed.normal import Normal
from ...laws.line.line import Laplaces, Normals
from ...laws.line.pieces import Pieces
from ...readings.law import Law
from ...worlds import Kind, Worlds
from ..turning import turning_points
from .knots import suprema

# Beyond this many noise widths the readings of a mixture lose their digits.
_WIDEST = {"scale": 500.0, "sigma": 100.0}

__all__ = ["Laws", "displacement", "experiment", "leak", "noise", "psi"]


@dataclass(frozen=True, eq=False)
class Laws:
    """The sum of target and unknown records given each value of the target.

    ``places`` (R,) rise; ``logs`` (R, d) are logarithms of weights, of any total per column; a column without mass
    is a value the target cannot have.
    """

    places: Array
    logs: Array
    values: Array
    single: bool = False  # every other record is known: one place per value, from the mechanism alone

    @property
    def possible(self) -> list[int]:
        """Numbers of the values the target can have."""
        return [int(x) for x in np.flatnonzero(np.isfinite(self.logs.max(axis=0)))]

    def column(self, x: int) -> tuple[Array, Array]:
        """Places and logarithms of probabilities of one law, without its empty places."""
        logs = self.logs[:, x]
        some = np.isfinite(logs)
        return self.places[some], logs[some] - np.logaddexp.reduce(logs[some])


def noise(scale: Any, sigma: Any) -> tuple[str, float]:
    """Which noise, and how wide: exactly one of ``scale`` (Laplace) and ``sigma`` (Gaussian)."""
    if (scale is None) == (sigma is None):
        raise InputError("give exactly one of scale (Laplace noise) and sigma (Gaussian noise)")
    name, given = ("scale", scale) if sigma is None else ("sigma", sigma)
    width = checks.scalar(name, given)
    checks.positive(name, width)
    return name, width


def leak(laws: Laws, scale: float) -> tuple[float, tuple[int, int]]:
    """The largest log-ratio over ordered pairs of possible values, and the pair; 0 where only one value is possible."""
    d = laws.values.size
    top = suprema(laws.places, laws.logs[:, :, None], scale, logs=True)[..., 0]
    best = int(np.argmax(top))
    return max(float(top.flat[best]), 0.0), (best // d, best % d)


def displacement(laws: Laws, x: int, y: int) -> float:
    """The least Δ such that one law becomes the other by moving no mass further than Δ (quantiles match quantiles).

    Any reading is then at most that of the bare noise shifted by Δ: a mixture over pairs no further apart.
    """
    (places0, logs0), (places1, logs1) = laws.column(x), laws.column(y)
    up0, up1 = np.cumsum(np.exp(logs0)), np.cumsum(np.exp(logs1))
    up0[-1] = up1[-1] = 1.0
    levels = np.concatenate(([0.0], np.sort(np.concatenate((up0, up1)))))
    real = np.diff(levels) > 1e-15
    middle = (levels[1:] + levels[:-1])[real] / 2
    return float(np.abs(places0[np.searchsorted(up0, middle)] - places1[np.searchsorted(up1, middle)]).max())


def _law(laws: Laws, x: int, y: int, name: str, width: float) -> Law:
    (places0, logs0), (places1, logs1) = laws.column(x), laws.column(y)
    if places0.size == 1 and places1.size == 1:
        shift = np.asarray(abs(float(places1[0] - places0[0])) / width)
        return Laplace(shift) if name == "scale" else Normal(shift)
    spread = float(laws.places[-1] - laws.places[0])
    if spread > _WIDEST[name] * width:
        raise InputError(
            f"{name} is {width:g} for sums that spread over {spread:g}: give at least {spread / _WIDEST[name]:.3g}, "
            "since noise narrower than that hides next to nothing",
            parameter=name,
        )
    parts0, parts1 = _mixture(places0, logs0, width), _mixture(places1, logs1, width)
    if name == "scale":
        return Pieces(Laplaces(*parts0), Laplaces(*parts1))
    lines = Normals(*parts0), Normals(*parts1)
    return Pieces(*lines, breaks=turning_points(*lines))


def _mixture(places: Array, logs: Array, width: float) -> tuple[tuple[float, ...], ...]:
    """Weights, locations and scales, without the weights that doubles cannot carry."""
    weights = np.exp(logs)
    some = weights > 1e-300
    kept = weights[some] / weights[some].sum()
    return tuple(kept.tolist()), tuple(places[some].tolist()), (width,) * int(some.sum())


def psi(laws: Laws, x: int, y: int, sigma: float, enough: float = 0.0) -> float:
    """An upper bound on ψ between two values of the target, tight unless it is at most ``enough``.

    The least of the bound by displacement, of tangents at a few thresholds, and of the certified search of the law.
    """
    bound = displacement(laws, x, y) / sigma
    law = _law(laws, x, y, "sigma", sigma)
    if bound <= enough or isinstance(law, Normal):
        return bound
    assert isinstance(law, Pieces)
    ends = laws.places[0] - 38 * sigma, laws.places[-1] + 38 * sigma  # beyond, tails are below 1e-300
    bound = min(bound, law.psi_between(law.llr(np.linspace(*ends, 257)), most=1))
    return bound if bound <= enough else min(bound, float(law.psi()))


def experiment(
    laws: Laws,
    *,
    target: int,
    title: str,
    known: Mapping[int, float],
    scale: Any = None,
    sigma: Any = None,
    pair: Any = None,
) -> Experiment:
    """The test between two values of the target; without ``pair`` the two that are easiest to tell apart."""
    name, width = noise(scale, sigma)
    possible = laws.possible
    if len(possible) < 2:
        raise InputError(
            f"with this knowledge {title} has only one possible value: there is nothing left to learn",
            parameter="known",
        )
    if pair is not None:
        x, y = _pair(laws, pair, title)
    elif name == "scale":
        y, x = leak(laws, width)[1]  # the ratio of the second to the first is the largest
        if x == y:
            x, y = possible[0], possible[1]
    else:
        pairs = [(a, b) for k, a in enumerate(possible) for b in possible[k + 1 :]]
        x, y = max(pairs, key=lambda p: psi(laws, p[0], p[1], width)) if len(pairs) > 1 else pairs[0]
    v0, v1 = float(laws.values[x]), float(laws.values[y])
    parameters = {"target": target, "known": dict(known), "pair": (v0, v1), name: width}
    notes = () if laws.single else ("what the adversary does not know counts as the model of the data says it varies",)
    worlds = Worlds(Kind.CORRELATED, words=(f"{title} is {v0:g}", f"{title} is {v1:g}"))
    return Experiment(_law(laws, x, y, name, width), "correlated", parameters, worlds, notes)


def _pair(laws: Laws, pair: Any, title: str) -> tuple[int, int]:
    try:
        first, second = (checks.scalar("pair", v) for v in pair)
    except (TypeError, ValueError) as e:
        if isinstance(e, InputError):
            raise
        raise InputError(f"pair is {pair!r}: give two values of {title}", parameter="pair") from None
    numbers = []
    for v in (first, second):
        near = int(np.argmin(np.abs(laws.values - v)))
        if not math.isclose(float(laws.values[near]), v, rel_tol=1e-9, abs_tol=1e-12) or near not in laws.possible:
            listed = ", ".join(f"{laws.values[k]:g}" for k in laws.possible[:8])
            raise InputError(
                f"pair has the value {v:g}, which {title} cannot have here: give two of {listed}", parameter="pair"
            )
        numbers.append(near)
    if numbers[0] == numbers[1]:
        raise InputError(f"pair has the value {first:g} twice: give two different values", parameter="pair")
    return numbers[0], numbers[1]
