"""Tilted laws and their transforms (sheet, §4): of lattices, with a bound on their rounding, and of single steps.

The k-fold product of lattice laws takes one tilted Fourier transform. Masses are tilted by e^{λl} and normalised,
wrapped modulo N, transformed, raised to their powers, multiplied and transformed back: p^{*k}(l) = e^{K(λ)−λl}·r(l).
What is known of r is an interval r ± E, the mass beyond the window by Chernoff's bound, and that wrapping only adds.

One step under a tilt: its characteristic function, its moments, and how fast it falls.

The finite part of the loss has the law dP·e^{λL}/E e^{λL}. Where that has no closed form, it is a few
hundred quadrature nodes and their atoms, good for every e^{zL} up to a steepness given.

How fast a characteristic function falls is a bound on |E e^{iyL}| that holds for every y beyond a given one. Where the
loss has a density of at least κ on an interval of length w, it is with probability ω = κw uniform there, and a uniform
law has |φ(y)| = |sin θ/θ|, θ = yw/2. So |φ(y)| ≤ 1 − Σω(1 − |sin θ/θ|) over slabs that fit under the density. Atoms and
whatever lies above the slabs count as not falling at all. With |sin θ/θ| replaced by its largest value at and beyond θ,
the bound itself falls, so that it may be summed or integrated to infinity. Far out another one is smaller: integrated
by parts, a density of total variation V leaves V/y, beside the mass of the atoms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import gammainc

from ...checks import Array
from .lattice import LatticeSide
from .quadrature import resolving_nodes
from .step import ROUNDOFF, Step, Tilting

_LEAST_LOG_SPECTRUM = -70.0  # spectra below e^−70 are not worth a logarithm
MOST_POINTS = 2**21  # of one transform
_QUADRATURE_ERROR = 2e-14  # relative error of the quadrature, of a mass and of a characteristic function
_NEGLIGIBLE_WEIGHT = 1e-25  # relative mass of nodes whose rounding is of no account
_NEGLIGIBLE_LOG_MASS = -690.0  # log mass beyond which a part of a mixture is left out
_MOST_NODES = 2**16  # of one step
_SLAB_LEVELS = 0.75 ** np.arange(32)  # heights of slabs, as a share of the peak
_MOST_PEAKS = 3  # under which slabs are sought
_SECOND_LOBE = 0.21724  # the height of the second lobe of |sin θ/θ|, rounded up
_NEAR_FREQUENCIES = 1.1 ** np.arange(8, 60)
_FREQUENCIES = np.concatenate((_NEAR_FREQUENCIES, 300 * 1.25 ** np.arange(66)))
_ANCHORS = 8  # powers of a unit number by multiplication, before the next is made anew


@dataclass(frozen=True, eq=False)
class SidePower:
    """One side of one step, taken ``count`` times: masses exp(log_p) at c + (start + i)·dt."""

    c: float
    side: LatticeSide
    count: int


@dataclass(frozen=True)
class Window:
    """Lattice points first … first+size−1 of the product, about the origin ``base``; what escapes it, tilted."""

    first: int
    size: int
    escape_low: float
    escape_high: float


@dataclass(frozen=True, eq=False)
class TiltedPower:
    """r on the window: loss of the first point, the estimate (not negative), its error, the relative error
    of the masses that went in, and K(λ)."""

    first_loss: float
    loss_error: float
    r: Array
    error: float
    mass_error: float
    log_scale: float
    escape_low: float
    escape_high: float


def _losses(part: SidePower, dt: float) -> Array:
    return np.asarray(part.c + (part.side.start + np.arange(part.side.log_p.size)) * dt)


def log_moment(parts: Sequence[SidePower], dt: float, tilt: float) -> float:
    """K(λ) = Σ k·log Σ p·e^{λl}."""
    total = 0.0
    for part in parts:
        a = part.side.log_p + tilt * _losses(part, dt)
        top = float(a.max())
        total += part.count * (top + math.log(float(np.exp(a - top).sum()))) if math.isfinite(top) else -math.inf
    return total


def _origin(parts: Sequence[SidePower]) -> float:
    return math.fsum(part.count * part.c for part in parts)


def window(
    parts: Sequence[SidePower], dt: float, tilt: float, up: float, down: float, low: float, high: float
) -> Window:
    """Lattice points that cover losses [low, high]; ``up`` and ``down`` are the exponents of the tail bounds."""
    base = _origin(parts)
    least = sum(part.count * part.side.start for part in parts)
    most = sum(part.count * (part.side.start + part.side.log_p.size - 1) for part in parts)
    first, last = math.floor((low - base) / dt), math.ceil((high - base) / dt)
    size = next_fast_len(max(min(last, most) - first + 1, 16), real=True)
    whole = most - min(least, first) + 1
    if whole <= min(max(1.25 * size, 4096), MOST_POINTS):  # everything fits: nothing escapes
        return Window(min(least, first), next_fast_len(whole, real=True), 0.0, 0.0)
    first = min(first, most - size + 1)
    here = log_moment(parts, dt, tilt)
    below = above = 0.0
    if first > least:
        edge = base + (first - 1) * dt
        below = math.exp(min(log_moment(parts, dt, tilt - down) - here + down * edge, 0.0))
    if first + size - 1 < most:
        edge = base + (first + size) * dt
        # below a tilt of 0 this also bounds ∫e^{−λ(l−edge)}, which may exceed 1 (up ≥ −λ)
        above = math.exp(min(log_moment(parts, dt, tilt + up) - here - up * edge, 0.0 if tilt >= 0 else 700.0))
    slack = 1 + 1e-9
    return Window(first, size, below * slack, above * slack)


def power(parts: Sequence[SidePower], dt: float, tilt: float, frame: Window) -> TiltedPower:
    """The tilted product on the window."""
    n = frame.size
    log_scale, origin, steps = 0.0, _origin(parts), 0
    rounding = 6 * ROUNDOFF * math.log2(n)
    spectra, jitter, reach = [], 0.0, 0.0
    for part in parts:
        losses = _losses(part, dt)
        a = part.side.log_p + tilt * losses
        top = float(a.max())
        f = np.exp(a - top)
        total = float(f.sum())
        f /= total
        log_scale += part.count * (top + math.log(total))
        centre = round(float(np.dot(f, np.arange(f.size))))
        steps += part.count * (part.side.start + centre)
        spectra.append((rfft(_wrap(f, centre, n)), part.count))
        # each tilted mass is good to a few units times the size of its exponents
        seen = np.flatnonzero(f > 1e-40)
        exponents = np.abs(part.side.log_p[seen]) + abs(tilt) * np.abs(losses[seen])
        jitter += part.count * ROUNDOFF * (8 * float(exponents.max()) + 8 * abs(top) + 16)
        reach += part.count * (abs(part.c) + dt * abs(part.side.start + centre))
    g, drift, weight = _spectrum_product(spectra, rounding)
    r = irfft(g, n)
    # |g| sums to N·weight, and the transform back rounds like the one forth
    error = drift / n + rounding * weight / n + 1e-30
    r = np.roll(r, -((frame.first - steps) % n))
    np.maximum(r, 0.0, out=r)
    return TiltedPower(
        origin + frame.first * dt,
        8 * ROUNDOFF * (reach + abs(frame.first) * dt + n * dt) + 2 * ROUNDOFF * abs(origin),
        r,
        error,
        jitter,
        log_scale,
        frame.escape_low,
        frame.escape_high,
    )


def _spectrum_product(spectra: Sequence[tuple[Any, int]], rounding: float) -> tuple[Any, float, float]:
    """ΠF^k on the half spectrum, the sum of its errors over the whole one, and the sum of its sizes.

    With |F̂ − F| ≤ e the error is at most Π(|F̂|+e)^k − Π|F̂|^k, plus that of phase and exponent: also where a factor came
    out as 0, as it does at once for one atom. Where a power is below e^−70 the product is left out, and its bound
    (|F̂|+e)^k counted instead.
    """
    half = spectra[0][0].size
    live = np.arange(half)
    left_out = 0.0
    for spectrum, count in spectra:
        if count > 1:
            z = spectrum[live]
            square = z.real**2 + z.imag**2
            small = square <= math.exp(2 * _LEAST_LOG_SPECTRUM / count)
            if small.any():
                most = math.sqrt(float(square[small].max()))
                left_out += 2 * int(small.sum()) * math.exp(count * math.log(most + rounding)) * 1.01
                live = live[~small]
    size, angle = np.ones(live.size), np.zeros(live.size)
    log_size, log_most, turns = np.zeros(live.size), np.zeros(live.size), 0.0
    for spectrum, count in spectra:
        z = spectrum[live]
        re, im = z.real, z.imag
        near = (re - 1) * (re + 1) + im * im  # |z|² − 1, precise near 1
        with np.errstate(divide="ignore"):
            here = 0.5 * np.log1p(np.maximum(near, -0.99)) if near.size == 0 or near.min() > -0.9 else np.log(np.abs(z))
            log_size += count * here
            log_most += count * np.log(np.exp(here) + rounding)
        theta = np.arctan2(im, re)
        angle += count * theta
        turns += count * float(np.max(np.abs(theta), initial=0.0))
    size = np.exp(log_size)
    g = np.zeros(half, dtype=complex)
    g.real[live] = size * np.cos(angle)
    g.imag[live] = size * np.sin(angle)
    twice = np.where(live == 0, 1.0, 2.0)
    weight = float(np.dot(twice, size))
    # a factor that vanished leaves log 0 in the size, and its rounding in log_most
    log_size = np.maximum(log_size, -1e9)
    excess = log_most - log_size
    grown = np.where(excess < 1, size * np.expm1(np.clip(excess, 0.0, 1.0)), np.exp(log_most))
    drift = float(
        np.dot(twice, grown + size * (4 * turns * ROUNDOFF + 4 * ROUNDOFF * np.abs(log_size) + 16 * ROUNDOFF))
    )
    return g, drift + left_out, weight


def _wrap(f: Array, centre: int, n: int) -> Array:
    """f with index ``centre`` moved to 0, modulo n."""
    if f.size <= n:
        out = np.zeros(n)
        out[: f.size - centre] = f[centre:]
        if centre:
            out[n - centre :] += f[:centre]
        return out
    return np.asarray(np.bincount((np.arange(f.size) - centre) % n, weights=f, minlength=n), dtype=float)


@dataclass(frozen=True, eq=False)
class Slabs:
    """Uniform parts of a law, their masses and lengths; the mass of its atoms, and the variation of its density."""

    mass: Array
    length: Array
    still: float = 1.0
    variation: float = math.inf

    def bound(self, y: Array) -> Array:
        """The smaller of 1 − Σω(1 − sup_{θ' ≥ θ}|sin θ'/θ'|) and atoms + V/y."""
        square = np.multiply.outer(y * y, self.length**2 / 4)  # θ²
        first = np.minimum(square, 9.0)
        lobe = np.maximum(
            1 - first * (1 / 6 - first / 120), np.minimum(_SECOND_LOBE, 1 / np.sqrt(np.maximum(square, 9.0)))
        )  # sin θ/θ ≤ 1−θ²/6+θ⁴/120
        inside = 1 - (1 - 1e-9) * ((1 - lobe) @ self.mass)
        with np.errstate(divide="ignore"):
            return np.asarray(np.minimum(inside, (1 + 1e-9) * (self.still + self.variation / y)))


def slabs(loss: Array, log_density: Array, change: Array, still: float = 0.0) -> Slabs:
    """Slabs under a density of the loss, known at growing losses from its first to its last; between two, its logarithm
    changes by ``change`` at most in all. ``still`` is the mass of the atoms."""
    gap = np.diff(loss)
    with np.errstate(over="ignore"):
        least = np.exp(0.5 * (log_density[1:] + log_density[:-1] - change))  # |f'| ≤ c: above the lower of two cones
    least = np.where(gap > 0, least, 0.0)
    mass, length = [np.zeros(0)], [np.zeros(0)]
    for _ in range(_MOST_PEAKS):
        peak = int(np.argmax(least * gap)) if not np.isfinite(least).all() else int(np.argmax(least))
        top = float(least[peak])
        if not 0 < top < math.inf:
            break
        levels = top * _SLAB_LEVELS
        up = np.searchsorted(-np.minimum.accumulate(least[peak:]), -levels, side="right")
        down = np.searchsorted(-np.minimum.accumulate(least[peak::-1]), -levels, side="right")
        first, stop = peak - down + 1, peak + up
        wide = loss[stop] - loss[first]
        mass.append((levels - np.append(levels[1:], 0.0)) * wide)
        length.append(wide)
        if float(mass[-1].sum()) > 0.5 * float(least @ gap):
            break
        least = least.copy()
        least[first[-1] : stop[-1]] = 0.0
    return Slabs(np.concatenate(mass), np.concatenate(length), still, _variation(log_density, change))


def _variation(log_density: Array, change: Array) -> float:
    """At most the total variation of a density that is 0 beyond its ends.

    Between two points it varies most if its logarithm rises as far as it can and then falls.
    """
    a, b = log_density[1:], log_density[:-1]
    with np.errstate(over="ignore", invalid="ignore"):
        f = np.exp(log_density)
        peak = np.exp(np.maximum(0.5 * (a + b + change), np.maximum(a, b)))
        found = float((2 * peak - f[1:] - f[:-1]).sum() + f[0] + f[-1])
    return max(found, 1e-300) if math.isfinite(found) else math.inf


def frequency(
    parts: Sequence[tuple[Callable[[Array], Array], int]], tilt: float, spread: float, wanted: float
) -> tuple[float, float]:
    """(Y, R): a frequency and a bound R ≤ wanted on (1/π)∫_Y^∞ Π|φ|^k/|z(z+1)| dy with z = λ + iy; Y infinite if none.

    ``parts`` are falling bounds on |φ| with their counts, ``spread`` is the standard deviation of the product: Y is
    sought on the scale of its inverse.
    """
    for grid in (_NEAR_FREQUENCIES, _FREQUENCIES):
        most, rest = _frequency(parts, tilt, np.asarray(grid / spread), wanted)
        if math.isfinite(most):
            break
    return most, rest


def _frequency(
    parts: Sequence[tuple[Callable[[Array], Array], int]], tilt: float, y: Array, wanted: float
) -> tuple[float, float]:
    """The same among these frequencies; beyond the last, all that falls is 1/y²."""
    size = np.ones(y.size)
    for bound, count in parts:
        size *= bound(y) ** count
    square = y * y
    height = size / np.sqrt((tilt * tilt + square) * ((tilt + 1) ** 2 + square))
    height[:-1] *= np.diff(y)
    height[-1] = size[-1] / y[-1]
    rest = np.cumsum(height[::-1])[::-1] * ((1 + 1e-9) / math.pi)
    enough = int(np.argmax(rest <= wanted))
    return (float(y[enough]), float(rest[enough])) if rest[enough] <= wanted else (math.inf, math.inf)


@dataclass(frozen=True, eq=False)
class TiltedNodes:
    """Probabilities at losses about their mean; how wrong losses (``kappa``) and masses (``rho``) may be on average."""

    log_weight: Array
    weight: Array
    loss: Array
    mean: float
    log_scale: float
    kappa: float
    rho: float
    rho_beside: float
    uniform: Callable[[], Slabs]

    @cached_property
    def slabs(self) -> Slabs:
        return self.uniform()

    @property
    def nodes(self) -> int:
        return self.loss.size

    @property
    def uncut(self) -> bool:
        return False

    @property
    def variance(self) -> float:
        return float(self.weight @ self.loss**2)

    def log_moment(self, s: Array) -> Array:
        a = np.multiply.outer(s, self.loss) + self.log_weight  # weights of 0 may be what an opposite tilt sees
        top = a.max(axis=-1, keepdims=True)
        return np.asarray(np.log(np.exp(a - top).sum(axis=-1)) + top[..., 0] + s * self.mean)

    def transform(self, h: float, count: int) -> Any:
        """E e^{inh(L − mean)} for n < count: two short tables of powers, and one product of matrices."""
        block = math.isqrt(count - 1) + 1
        angle = h * self.loss
        fine, coarse = _powers(angle, block), _powers(block * angle, -(-count // block))
        return ((coarse * self.weight) @ fine.T).ravel()[:count]

    def decay(self, y: Array) -> Array:
        """A bound on the size of the characteristic function that falls."""
        return self.slabs.bound(y)


def _powers(angle: Array, count: int) -> Any:
    """e^{inθ} for n < count, one row each: good to 5·8 units in the last place."""
    out = np.empty((count, angle.size), dtype=complex)
    for first in range(0, count, _ANCHORS):
        out[first].real, out[first].imag = np.cos(first * angle), np.sin(first * angle)
    if count > 1:
        out[1].real, out[1].imag = np.cos(angle), np.sin(angle)
        for n in range(2, min(count, _ANCHORS)):
            np.multiply(out[n - 1], out[1], out=out[n])
    for first in range(_ANCHORS, count, _ANCHORS):
        rest = out[first + 1 : first + _ANCHORS]
        np.multiply(out[first], out[1 : 1 + len(rest)], out=rest)
    return out


class TiltedMixture:
    """Tilted laws told apart: a mixture of them, each by its share of what the tilt makes likely."""

    uncut = False

    def __init__(self, parts: Sequence[tuple[Tilting, float]]) -> None:
        logs = np.asarray([math.log(share) + law.log_scale for law, share in parts])
        self.log_scale = float(np.logaddexp.reduce(logs))
        self.laws = [
            (law, float(weight)) for (law, _), weight in zip(parts, np.exp(logs - self.log_scale), strict=True)
        ]
        self.nodes = sum(law.nodes for law, _ in parts)
        self.mean = math.fsum(weight * law.mean for law, weight in self.laws)
        self.kappa = max(law.kappa for law, _ in parts) + 4 * ROUNDOFF * abs(self.mean)
        self.rho = max(law.rho for law, _ in parts) + 1e-15
        self.rho_beside = max(law.rho_beside for law, _ in parts) + 1e-15

    @property
    def variance(self) -> float:
        return math.fsum(weight * (law.variance + (law.mean - self.mean) ** 2) for law, weight in self.laws)

    def log_moment(self, s: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(
                np.logaddexp.reduce([np.log(weight) + law.log_moment(s) for law, weight in self.laws], axis=0)
            )

    def transform(self, h: float, count: int) -> Any:
        """E e^{inh(L − mean)} for n < count."""
        angle = h * np.arange(count)
        return sum(
            weight * np.exp(1j * angle * (law.mean - self.mean)) * law.transform(h, count) for law, weight in self.laws
        )

    def decay(self, y: Array) -> Array:
        """A bound on the size of the characteristic function that falls: the weighted sum."""
        return np.asarray(sum(weight * law.decay(y) for law, weight in self.laws))


def inside(step: Step, losses: tuple[float, float]) -> tuple[float, float]:
    """Where one of the steps lies between two losses; what doubles do not hold is left out."""
    far, (low, high) = step.cutoffs(_NEGLIGIBLE_LOG_MASS, _NEGLIGIBLE_LOG_MASS), step.loss_range
    first = float(step.inverse_loss(np.asarray(losses[0]))) if losses[0] > low else -math.inf
    last = float(step.inverse_loss(np.asarray(losses[1]))) if losses[1] < high else math.inf
    return max(first, far[0]), min(last, far[1])


def tilted(step: Step, flipped: bool, tilt: float, reach: tuple[float, float], steepness: float) -> Tilting | None:
    """The step tilted by λ between two places; ``flipped`` exchanges the laws. None if it takes too many nodes."""
    closed = step.tilted(tilt)
    if closed is not None:
        return closed
    if step.components:
        parts = [(tilted(one, flipped, tilt, inside(one, reach), steepness), share) for one, share in step.components]
        known = [(law, share) for law, share in parts if law is not None]
        return TiltedMixture(known) if len(known) == len(parts) else None
    atoms = step.atoms
    loss, log_p, error = atoms.loss, atoms.log_p, 8 * ROUNDOFF * np.abs(atoms.loss)
    x = here = density = np.zeros(0)
    if step.support is not None and reach[1] > reach[0]:
        found = resolving_nodes(step, *reach, 1 + tilt + steepness, _MOST_NODES)
        if found is None:
            return None
        x, log_w = found
        here = step.loss(x)
        density = step.log_p0(x) + here
        loss, log_p = np.concatenate((loss, here)), np.concatenate((log_p, density + log_w))
        error = np.concatenate((error, step.error(x)))
    if loss.size == 0 or loss.size > _MOST_NODES:
        return None
    if flipped:
        loss, log_p = -loss, log_p - loss
    log_weight = log_p + tilt * loss
    top = float(log_weight.max())
    weight = np.exp(log_weight - top)
    seen = weight > _NEGLIGIBLE_WEIGHT
    total = float(weight.sum())
    weight /= total
    log_scale = top + math.log(total)
    mean = float(weight @ loss)
    # errors enter a sum with its weights; under another tilt, at most with the largest of them
    error, sizes = error[seen], np.abs(log_p[seen]) + (1 + tilt) * np.abs(loss[seen])
    kappa, size = float(weight[seen] @ error), float(weight[seen] @ sizes)
    most_kappa, most_size = float(error.max()), float(sizes.max())
    rho = _QUADRATURE_ERROR + step.rho + 8 * ROUNDOFF * (size + 8) + (2 + tilt) * kappa
    beside = _QUADRATURE_ERROR + step.rho + 8 * ROUNDOFF * (most_size + 8) + (2 + tilt) * most_kappa

    def uniform() -> Slabs:
        if not x.size:
            return Slabs(np.zeros(0), np.zeros(0))
        ends = np.asarray(reach)
        beyond = step.loss(ends)
        last = step.log_p0(ends) + beyond
        moving, of_x = (np.concatenate((at[:1], inside, at[1:])) for at, inside in ((beyond, here), (last, density)))
        if flipped:
            moving, of_x = -moving, of_x - moving
        still = float(weight[: atoms.loss.size].sum()) * (1 + 1e-9)
        places = np.concatenate((ends[:1], x, ends[1:]))
        return _slabs(step, places, moving, of_x + tilt * moving - log_scale, tilt, still)

    return TiltedNodes(
        log_weight - log_scale,
        weight,
        loss - mean,
        mean,
        log_scale,
        kappa + 2 * ROUNDOFF * abs(mean),
        rho,
        beside,
        uniform,
    )


def _slabs(step: Step, x: Array, loss: Array, log_weight: Array, tilt: float, still: float) -> Slabs:
    """Uniform parts of the tilted loss, from its log density in x: in the loss it is that over the slope."""
    slope, bend, gap = step.slope(x), step.roughness(x), np.diff(x)
    bent = np.maximum(bend[1:], bend[:-1])
    steepest = np.maximum(slope[1:], slope[:-1]) * np.exp(np.minimum(gap * bent, 50.0))
    change = gap * (3 * bent + (1 + tilt) * steepest)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_density = np.where(slope > 0, log_weight - np.log(slope), -np.inf)
    return slabs(np.abs(loss - loss[0]), log_density, change, still)


# Losses under a tilt in closed form: normal and Laplace steps, for series (:mod:`.series`) and for plans.
#
# The loss of a normal shift stays normal. That of a Laplace shift by m has, under e^{λL} and with c = λ + ½, masses
# proportional to ½e^{cm} at m and ½e^{−cm} at −m and the density ¼e^{cL} between, so that E e^{zL} = g(c + z)/g(c) with
# g(c) = cosh cm + sinh(cm)/(2c). All is written with what lies below m, D = m − L, whose parts are positive.

_LEAST_C = 1e-6  # of c, where only a plan depends on it


def normal_cumulant(mu: float, tilts: Array) -> Array:
    """K = λ(λ+1)μ²/2."""
    return tilts * (tilts + 1) * (mu * mu / 2)


def normal_spread(mu: float, tilts: Array) -> tuple[Array, Array]:
    """Mean and variance of the tilted loss."""
    return mu * mu * (tilts + 0.5), np.full(tilts.shape, mu * mu)


def laplace_cumulant(m: float, tilts: Array) -> Array:
    """K = log(g(c)/g(½)); g is even."""
    c = np.maximum(np.abs(tilts + 0.5), _LEAST_C)
    less = np.expm1(-2 * c * m)
    return np.asarray((c - 0.5) * m + np.log1p(0.5 * less - less / (4 * c)))


def laplace_spread(m: float, tilts: Array) -> tuple[Array, Array]:
    """Mean and variance of the tilted loss."""
    c = np.maximum(np.abs(tilts + 0.5), _LEAST_C)
    less = np.expm1(-2 * c * m)
    gone, g = 1 + less, 1 + 0.5 * less - less / (4 * c)
    below = (gone * m + gammainc(2.0, 2 * c * m) / (4 * c * c)) / g
    square = (2 * gone * m * m + gammainc(3.0, 2 * c * m) / (2 * c**3)) / g
    mean = np.where(tilts >= -0.5, m - below, below - m)
    return mean, np.maximum(square - below * below, 1e-300)


class _ClosedTilt:
    """A tilted law in closed form."""

    @property
    def nodes(self) -> int:
        return 1

    @property
    def uncut(self) -> bool:
        return True


@dataclass(frozen=True)
class TiltedNormal(_ClosedTilt):
    """N(μ²/2 + λμ², μ²): the loss of a normal shift, tilted."""

    mu: float
    tilt: float

    @property
    def mean(self) -> float:
        return self.mu * self.mu * (self.tilt + 0.5)

    @property
    def variance(self) -> float:
        return self.mu * self.mu

    @property
    def log_scale(self) -> float:
        return self.tilt * (self.tilt + 1) * self.variance / 2

    @property
    def kappa(self) -> float:
        return 4 * ROUNDOFF * self.mean

    @property
    def rho(self) -> float:
        return 16 * ROUNDOFF * (1 + self.log_scale)

    @property
    def rho_beside(self) -> float:
        return self.rho

    def log_moment(self, s: Array) -> Array:
        return np.asarray(s * self.mean + s * s * self.variance / 2)

    def transform(self, h: float, count: int) -> Any:
        return np.exp(-0.5 * (h * self.mu * np.arange(count)) ** 2) + 0j

    def decay(self, y: Array) -> Array:
        """A bound on the size of the characteristic function that falls: itself."""
        return np.exp(-0.5 * (self.mu * y) ** 2)


@dataclass(frozen=True)
class TiltedLaplace(_ClosedTilt):
    """The loss of a Laplace shift, tilted by λ > −½."""

    m: float
    tilt: float

    @cached_property
    def _spread(self) -> tuple[float, float]:
        mean, variance = laplace_spread(self.m, np.asarray(self.tilt))
        return float(mean), float(variance)

    @property
    def mean(self) -> float:
        return self._spread[0]

    @property
    def variance(self) -> float:
        return self._spread[1]

    @cached_property
    def log_scale(self) -> float:
        return float(laplace_cumulant(self.m, np.asarray(self.tilt)))

    @property
    def kappa(self) -> float:
        return 8 * ROUNDOFF * self.m

    @property
    def rho(self) -> float:
        return 16 * ROUNDOFF * (4 + (self.tilt + 1) * self.m)

    @property
    def rho_beside(self) -> float:
        """The same under other tilts: what they add to the exponent is at most the period of a series."""
        return self.rho + 1e-12

    def log_moment(self, s: Array) -> Array:
        return laplace_cumulant(self.m, self.tilt + s) - self.log_scale

    def transform(self, h: float, count: int) -> Any:
        """E e^{inh(L − mean)} for n < count: g(c + iy)/g(c), with the larger exponential taken out."""
        y, c, m = h * np.arange(count), self.tilt + 0.5, self.m
        gone, half = math.exp(-2 * c * m), 0.5 / (c + 1j * y)
        up, down = np.exp(1j * ((m - self.mean) * y)), np.exp(-1j * ((m + self.mean) * y))
        return ((1 + half) * up + gone * (1 - half) * down) / (1 + gone - math.expm1(-2 * c * m) / (2 * c))

    def decay(self, y: Array) -> Array:
        """A bound on the size of the characteristic function that falls.

        The atoms count as not falling; |sinh(u + iv)|² = sinh²u + sin²v of the rest is at most sinh²u + min(v, 1)².
        """
        c, u = self.tilt + 0.5, (self.tilt + 0.5) * self.m
        gone, spread = math.exp(-2 * u), -math.expm1(-2 * u)
        whole = 0.5 * (1 + gone) + spread / (4 * c)
        still = 0.5 * (1 + gone) / whole
        turned = np.minimum((self.m * y) ** 2, 1.0) * (4 * gone) + spread * spread  # in units of e^{2u}/4
        moving = np.minimum(0.25 / whole * np.sqrt(turned / (c * c + y * y)), 1 - still)
        return np.asarray((still + moving) * (1 + 1e-12))
