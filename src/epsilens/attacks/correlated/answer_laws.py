"""One adversary of discrete records: the laws of the answer for each value of the target, and what they give away.

N(r) = Σ w_k e^{−|r−s_k|/λ} and D(r) likewise. Between neighbouring places N/D is a Möbius function of e^{2r/λ}, hence
monotone, and outside the extreme places it is constant; so sup_r log N/D is the largest value at a place (§B.0 of the
reference sheet). All places are examined at once for many pairs: N = e^{−r}Σ_{s≤r} w e^{s} + e^{r}Σ_{s>r} w e^{−s}.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import checks
from ...checks import Array
from ...errors import InputError
from ...experiment import Experiment
from ...laws.normal import Normal
from ...laws.piecewise import PiecewiseLaw
from ...readings.law import Law
from ...worlds import Worlds, WorldsKind
from ..latent import mixture_pair

#: Of one kind of noise; None for the other.
Width: TypeAlias = float | None

_SMALL = 0.1  # spans (in noise scales) below which N − 1 is followed instead of N
_PLAIN = 600.0  # spans, with the smallest weight, up to which doubles hold e^{±span} directly


def suprema(places: Array, weights: Array, scale: float, *, logs: bool = False, least: float | None = None) -> Array:
    """sup_r log P_x(r)/P_y(r) for every ordered pair of values and every column.

    ``places`` (R,) rise; ``weights`` (R, d, M) need not be normalised and may be given as ``logs``; ``least`` is the
    logarithm of the smallest positive weight where that is known and none exceeds 1. The result has shape (d, d, M): 0
    on the diagonal, −∞ where a law has no mass, so that no pair exists.

    >>> places, weights = np.array([0.0, 1.0, 2.0]), np.array([[[0.6], [0.0]], [[0.4], [0.4]], [[0.0], [0.6]]])
    >>> round(float(suprema(places, weights, 1.0)[0, 1, 0]), 10)  # Example 2 of paper 004, Table II(a)
    1.1853759033
    """
    z = (places - (places[0] + places[-1]) / 2) / scale
    span = float(z[-1] - z[0])
    if logs:
        top = weights.max(axis=0)
        dead = ~np.isfinite(top)
        weights = weights - np.where(dead, 0.0, top)
        least = float(np.min(weights, where=np.isfinite(weights), initial=0.0))
        plain = span - least < _PLAIN
        if plain:
            weights = np.exp(weights)
    elif least is None:
        with np.errstate(divide="ignore"):
            least = float(np.log(np.min(weights, where=weights > 0, initial=1.0)))
            most = float(np.log(np.max(weights, initial=1.0)))
        plain = span - least + most < _PLAIN
    else:
        plain = span - least < _PLAIN
    if not plain:
        return _log_suprema(z, weights if logs else _log(weights))
    mass = weights.sum(axis=0)
    return _wide_noise_suprema(z, weights, mass) if span < _SMALL else _plain_suprema(z, weights, mass)


def _log(weights: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(weights))


def _suffix_sums(terms: Array) -> Array:
    """Sums over the places strictly after each."""
    total = np.zeros_like(terms)
    np.cumsum(terms[:0:-1], axis=0, out=total[-2::-1])
    return total


def _pair_suprema(top: Array, mass: Array, d: int, level: Array) -> Array:
    """``top`` holds the supremum for the unnormalised laws; ``level`` is the logarithm of their masses."""
    live = mass > 0
    both = live[:, None] & live[None]
    with np.errstate(invalid="ignore"):
        value = top + level[None] - level[:, None]
    value = np.where(both, np.maximum(value, 0.0), -np.inf)  # two laws cannot stay on one side of each other
    value[np.arange(d), np.arange(d)] = np.where(live, 0.0, -np.inf)
    return np.asarray(value)


def _plain_suprema(z: Array, weights: Array, mass: Array) -> Array:
    """Ratios of the laws themselves; every term is positive, so nothing cancels."""
    length, d, columns = weights.shape
    law = _place_laws(z, weights)
    top = np.zeros((d, d, columns))
    with np.errstate(divide="ignore", invalid="ignore"):
        for x in range(d - 1):
            one, others = law[:, x : x + 1], law[:, x + 1 :]
            if length > columns:
                ratio = one / others
                high, low = ratio.max(axis=0), ratio.min(axis=0)
            else:  # row by row, within the cache
                row = one[0] / others[0]
                high, low = row.copy(), row.copy()
                for k in range(1, length):
                    np.divide(one[k], others[k], out=row)
                    np.maximum(high, row, out=high)
                    np.minimum(low, row, out=low)
            top[x, x + 1 :], top[x + 1 :, x] = np.log(high), -np.log(low)
        return _pair_suprema(top, mass, d, np.log(mass))


def _place_laws(z: Array, weights: Array) -> Array:
    """N at every place, by cumulative sums or, for many columns, by f_k = w_k + q·f_{k−1} and its mirror image."""
    length, _, columns = weights.shape
    if length > columns:
        rise, fall = np.exp(z)[:, None, None], np.exp(-z)[:, None, None]
        law = np.cumsum(weights * rise, axis=0)
        law *= fall
        law += _suffix_sums(weights * fall) * rise
        return np.asarray(law)
    law = np.empty_like(weights)
    law[0] = weights[0]
    fade = np.exp(-np.diff(z))
    for k in range(1, length):
        np.multiply(law[k - 1], fade[k - 1], out=law[k])
        law[k] += weights[k]
    beyond = np.zeros_like(weights[0])
    for k in range(length - 2, -1, -1):
        beyond += weights[k + 1]
        beyond *= fade[k]
        law[k] += beyond
    return np.asarray(law)


def _wide_noise_suprema(z: Array, weights: Array, mass: Array) -> Array:
    """For noise far wider than the data: follow N − 1, of the size of the answer, instead of N, of the size of one."""
    d = weights.shape[1]
    w = weights / np.where(mass > 0, mass, 1.0)
    up, down = np.expm1(z)[:, None, None], np.expm1(-z)[:, None, None]
    low, high = np.cumsum(w, axis=0), _suffix_sums(w)
    over = (np.cumsum(w * up, axis=0) - up * low) * (1 + down) + (_suffix_sums(w * down) - down * high) * (1 + up)
    top = np.zeros((d, d, w.shape[2]))
    for x in range(d):
        top[x] = np.log1p(((over[:, x : x + 1] - over) / (1 + over)).max(axis=0))
    return _pair_suprema(top, mass, d, np.zeros(mass.shape))


def _log_suprema(z: Array, logs: Array) -> Array:
    """For noise far narrower than the data: the same sums in logarithms."""
    d = logs.shape[1]
    at = z[:, None, None]
    upto = np.logaddexp.accumulate(logs + at, axis=0) - at
    beyond = np.full(logs.shape, -np.inf)
    beyond[-2::-1] = np.logaddexp.accumulate((logs - at)[:0:-1], axis=0)
    law = np.logaddexp(upto, beyond + at)
    level = np.logaddexp.reduce(logs, axis=0)
    top = np.zeros((d, d, logs.shape[2]))
    with np.errstate(invalid="ignore"):
        for x in range(d):
            top[x] = (law[:, x : x + 1] - law).max(axis=0)
    return _pair_suprema(top, np.where(np.isfinite(level), 1.0, 0.0), d, level)


def excess(places: Array, weights: Array, scale: float, threshold: float) -> Array:
    """h(t) = ∫(P_y − t·P_x)₊ dr for every ordered pair (x, y) and every column, t = ``threshold`` > 0.

    Between places P_y − t·P_x = A·e^{−z} + B·e^{z} changes sign at most once, at z = ½log(−A/B); its integral is
    A(e^{−a} − e^{−b}) + B(e^{b} − e^{a}), taken over the part where it is positive (§C(c)). Rounded up by what is lost
    to cancellation. Shape (d, d, M); 0 where a law has no mass.
    """
    d, columns = weights.shape[1], weights.shape[2]
    mass = weights.sum(axis=0)
    w = weights / np.where(mass > 0, mass, 1.0)
    z = places / scale
    gaps = np.diff(z)
    # sums of w·e^{−distance} over the places up to here, and strictly after, by recursion: no overflow at any span
    upto, beyond = np.empty_like(w), np.zeros_like(w)
    upto[0] = w[0]
    for k in range(1, z.size):
        upto[k] = w[k] + np.exp(-gaps[k - 1]) * upto[k - 1]
    for k in range(z.size - 2, -1, -1):
        beyond[k] = np.exp(-gaps[k]) * (beyond[k + 1] + w[k + 1])
    live = mass > 0
    total = np.zeros((d, d, columns))
    for x in range(d):
        for y in range(d):
            if x == y:
                continue
            # the two ends, where the ratio is constant
            first = beyond[0] + w[0]
            value = np.maximum(first[y] - threshold * first[x], 0.0) / 2
            value += np.maximum(upto[-1, y] - threshold * upto[-1, x], 0.0) / 2
            for k in range(z.size - 1):
                a = upto[k, y] - threshold * upto[k, x]  # decays from the left place
                b = beyond[k + 1] + w[k + 1]  # decays from the right place
                value += _positive_part(a, b[y] - threshold * b[x], float(gaps[k])) / 2
            slack = 4e-16 * (z.size + 2) * (1 + threshold)
            total[x, y] = np.where(live[x] & live[y], np.clip(value + slack, 0.0, 1.0), 0.0)
    return total


def _positive_part(a: Array, b: Array, gap: float) -> Array:
    """∫₀^gap (a·e^{−u} + b·e^{u−gap})₊ du."""
    fade = np.exp(-gap)
    left, right = a + b * fade, a * fade + b
    whole = (a + b) * -np.expm1(-gap)
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = (np.log(-a / b) + gap) / 2
    crossing = np.where(np.isfinite(crossing), np.clip(crossing, 0.0, gap), 0.0)
    head = a * -np.expm1(-crossing) + b * (np.exp(crossing - gap) - fade)
    part = np.where(right > left, whole - head, head)
    return np.asarray(np.where((left >= 0) & (right >= 0), whole, np.where((left <= 0) & (right <= 0), 0.0, part)))


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


def noise(scale: object, sigma: object) -> tuple[str, float]:
    """Which noise, and how wide: exactly one of ``scale`` (Laplace) and ``sigma`` (Gaussian)."""
    if (scale is None) == (sigma is None):
        raise InputError("give exactly one of scale (Laplace noise) and sigma (Gaussian noise)")
    name, given = ("scale", scale) if sigma is None else ("sigma", sigma)
    width = checks.scalar(name, given)
    checks.positive(name, width)
    return name, width


def largest_leakage(laws: Laws, scale: float) -> tuple[float, tuple[int, int]]:
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


def _pair_law(laws: Laws, x: int, y: int, name: str, width: float) -> Law:
    (places0, logs0), (places1, logs1) = laws.column(x), laws.column(y)
    return mixture_pair(places0, np.exp(logs0), places1, np.exp(logs1), name, width)


def psi(laws: Laws, x: int, y: int, sigma: float, enough: float = 0.0) -> float:
    """An upper bound on ψ between two values of the target, tight unless it is at most ``enough``.

    The least of the bound by displacement, of tangents at a few thresholds, and of the certified search of the law.
    """
    bound = displacement(laws, x, y) / sigma
    law = _pair_law(laws, x, y, "sigma", sigma)
    if bound <= enough or isinstance(law, Normal):
        return bound
    assert isinstance(law, PiecewiseLaw)
    ends = laws.places[0] - 38 * sigma, laws.places[-1] + 38 * sigma  # beyond, tails are below 1e-300
    bound = min(bound, law.psi_between(law.llr(np.linspace(*ends, 257)), most=1))
    return bound if bound <= enough else min(bound, float(law.psi()))


def experiment(
    laws: Laws,
    *,
    target: int,
    title: str,
    known: Mapping[int, float],
    scale: Width = None,
    sigma: Width = None,
    pair: object = None,
) -> Experiment:
    """The test between two values of the target; without ``pair`` the two that are easiest to tell apart."""
    name, width = noise(scale, sigma)
    possible = laws.possible
    if len(possible) < 2:
        raise InputError(
            f"with this knowledge {title} has only one possible value: there is nothing left to learn", "known"
        )
    if pair is not None:
        x, y = _value_numbers(laws, pair, title)
    elif name == "scale":
        y, x = largest_leakage(laws, width)[1]  # the ratio of the second to the first is the largest
        if x == y:
            x, y = possible[0], possible[1]
    else:
        pairs = [(a, b) for k, a in enumerate(possible) for b in possible[k + 1 :]]
        x, y = max(pairs, key=lambda p: psi(laws, p[0], p[1], width)) if len(pairs) > 1 else pairs[0]
    v0, v1 = float(laws.values[x]), float(laws.values[y])
    parameters = {"target": target, "known": dict(known), "pair": (v0, v1), name: width}
    notes = () if laws.single else ("what the adversary does not know counts as the model of the data says it varies",)
    worlds = Worlds(WorldsKind.CORRELATED, words=(f"{title} is {v0:g}", f"{title} is {v1:g}"))
    return Experiment(_pair_law(laws, x, y, name, width), "correlated", parameters, worlds, notes)


def _value_numbers(laws: Laws, pair: Any, title: str) -> tuple[int, int]:
    try:
        first, second = (checks.scalar("pair", v) for v in pair)
    except (TypeError, ValueError) as e:
        if isinstance(e, InputError):
            raise
        raise InputError(f"pair is {pair!r}: give two values of {title}", "pair") from None
    numbers = []
    for v in (first, second):
        near = int(np.argmin(np.abs(laws.values - v)))
        if not math.isclose(float(laws.values[near]), v, rel_tol=1e-9, abs_tol=1e-12) or near not in laws.possible:
            listed = ", ".join(f"{laws.values[k]:g}" for k in laws.possible[:8])
            raise InputError(f"pair has the value {v:g}, which {title} cannot have here: give two of {listed}", "pair")
        numbers.append(near)
    if numbers[0] == numbers[1]:
        raise InputError(f"pair has the value {first:g} twice: give two different values", "pair")
    return numbers[0], numbers[1]


# The laws of sums. Where all contributions are multiples of one unit the sums live on a short grid of whole numbers,
# and equal sums are merged exactly; otherwise every distinct sum is kept. Nothing is transformed by Fourier: all terms
# are positive, so small probabilities keep their digits.

_FINEST = 1000  # the unit is at most this many times smaller than the smallest contribution
_LARGEST = 1e150
_LONGEST = 200_000  # grid points beyond which a grid is no help


@dataclass(frozen=True, eq=False)
class Contributions:
    """``amounts[j][v]``·``unit`` is what value number v of record j adds, beyond the least it can add.

    ``whole`` says that all amounts are whole numbers; ``values`` are the records' values as given, ``weights`` the aⱼ.
    """

    amounts: tuple[Array, ...]
    unit: float
    whole: bool
    values: tuple[Array, ...]
    weights: tuple[float, ...]

    @property
    def reach(self) -> Array:
        """LSⱼ: how far each record alone can move the answer."""
        return np.asarray([float(a.max()) for a in self.amounts]) * self.unit

    def number(self, record: int, value: object) -> int:
        """Which of a record's values this is."""
        own = self.values[record]
        given = checks.scalar(f"the known value of record {record}", value, of="known")
        near = int(np.argmin(np.abs(own - given)))
        if abs(own[near] - given) > 1e-9 * max(1.0, abs(given)):
            listed = ", ".join(f"{v:g}" for v in own[:8]) + (", …" if own.size > 8 else "")
            raise InputError(f"record {record} has no value {given:g}: give one of {listed}", "known")
        return near


def contributions(sizes: Sequence[int], values: object, weights: ArrayLike | None) -> Contributions:
    """Check the records' values (0, 1, 2, … unless given) and weights (1 unless given), and find the unit."""
    n = len(sizes)
    factor = np.ones(n) if weights is None else checks.real("weights", weights)
    factor = np.full(n, float(factor)) if factor.ndim == 0 else factor
    if factor.shape != (n,):
        raise InputError(f"weights has shape {factor.shape} for {n} records: give one weight per record", "weights")
    own = _values(sizes, values)
    with np.errstate(over="ignore"):
        raw = [a * v for a, v in zip(factor, own, strict=True)]
    largest = max(float(np.abs(r).max()) for r in raw)
    if largest > _LARGEST:
        raise InputError(f"a weight times a value is beyond {_LARGEST:g} and overflows: give smaller weights or values")
    added = [r - r.min() for r in raw]
    unit = _common_unit(np.concatenate(added), largest)
    if unit is None:
        return Contributions(tuple(added), 1.0, False, own, tuple(map(float, factor)))
    return Contributions(tuple(np.rint(a / unit) for a in added), unit, True, own, tuple(map(float, factor)))


def _values(sizes: Sequence[int], values: Any) -> tuple[Array, ...]:
    if values is None:
        return tuple(np.arange(d, dtype=float) for d in sizes)
    try:
        listed = list(values)
    except TypeError:
        raise InputError(
            f"values is {values!r}: give a list of values per record, or one list for all", "values"
        ) from None
    if listed and all(np.ndim(v) == 0 for v in listed):  # one list for every record
        listed = [listed] * len(sizes)
    if len(listed) != len(sizes):
        raise InputError(f"values has {len(listed)} lists for {len(sizes)} records: give one list per record", "values")
    own = []
    for j, (given, d) in enumerate(zip(listed, sizes, strict=True)):
        array = checks.real(f"values of record {j}", given, of="values")
        if array.shape != (d,):
            raise InputError(
                f"record {j} has {d} probabilities and values of shape {array.shape}: give {d} values", "values"
            )
        if np.unique(array).size < d:
            raise InputError(f"values of record {j} repeat: give distinct values", "values")
        own.append(array)
    return tuple(own)


def _common_unit(added: Array, largest: float) -> float | None:
    """The largest unit of which every amount is a whole multiple, up to rounding; None if there is no useful one."""
    positive = added[added > 0]
    if positive.size == 0:
        return 1.0
    slack = 8 * np.finfo(float).eps * largest
    least = float(positive.min())
    for parts in range(1, _FINEST + 1):
        unit = least / parts
        share = positive / unit
        if share.max() > _LONGEST:
            return None
        if np.all(np.abs(share - np.rint(share)) <= 1e-13 * share + slack / unit) and slack < 1e-3 * unit:
            return unit
    return None


def merge_sums(sums: Array) -> tuple[Array, NDArray[np.intp]]:
    """The distinct sums in rising order, and where each of the given ones is; sums equal up to rounding are one."""
    flat = sums.ravel()
    order = np.argsort(flat, kind="stable")
    ranked = flat[order]
    slack = 1e-14 * max(float(np.abs(ranked[[0, -1]]).max()), 1e-300) if flat.size else 0.0
    new = np.concatenate(([True], np.diff(ranked) > slack))
    place = np.empty(flat.size, dtype=np.intp)
    place[order] = np.cumsum(new) - 1
    return ranked[new], place.reshape(sums.shape)


def shift_sums(places: Array, logs: Array, amounts: Array) -> tuple[Array, Array]:
    """Laws over sums ``places`` (the last axis) moved by what each value (the first axis) adds, on common places."""
    merged, index = merge_sums(places + amounts[:, None])
    moved = np.full((*logs.shape[:-1], merged.size), -np.inf)
    for v, where in enumerate(index):
        if np.all(np.diff(where) > 0):
            moved[v][..., where] = logs[v]
        else:  # two sums became one by rounding
            for k, at in enumerate(where):
                moved[v][..., at] = np.logaddexp(moved[v][..., at], logs[v][..., k])
    return merged, moved


def convolve(places_a: Array, logs_a: Array, places_b: Array, logs_b: Array) -> tuple[Array, Array]:
    """The law of the sum of two independent sums, in logarithms; leading axes broadcast."""
    if places_a.size == 1:
        return places_b + places_a[0], logs_b + logs_a
    if places_b.size == 1:
        return places_a + places_b[0], logs_a + logs_b
    sums = (places_a[:, None] + places_b).ravel()
    order = np.argsort(sums, kind="stable")
    merged, index = merge_sums(sums)
    starts = np.searchsorted(index[order], np.arange(merged.size))
    outer = logs_a[..., :, None] + logs_b[..., None, :]
    outer = outer.reshape(*outer.shape[:-2], -1)[..., order]
    return merged, np.asarray(np.logaddexp.reduceat(outer, starts, axis=-1))
