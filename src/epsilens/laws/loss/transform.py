"""The k-fold product of lattice laws by one tilted Fourier transform, with a bound on its rounding (sheet, §4).

Masses are tilted by e^{λl} and normalised, wrapped modulo N, transformed, raised to their powers, multiplied and
transformed back: p^{*k}(l) = e^{K(λ)−λl}·r(l). What is known of r is an interval r ± E, the mass beyond the window by
Chernoff's bound, and that wrapping only adds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from ...checks import Array
from .lattice import Side

__all__ = ["MOST_POINTS", "Part", "Power", "Window", "log_moment", "power", "window"]

_U = 2.0**-53
_CUT = -70.0  # spectra below e^−70 are not worth a logarithm
MOST_POINTS = 2**21


@dataclass(frozen=True, eq=False)
class Part:
    """One side of one step, taken ``count`` times: masses exp(log_p) at c + (start + i)·dt."""

    c: float
    side: Side
    count: int


@dataclass(frozen=True)
class Window:
    """Lattice points first … first+size−1 of the product, about the origin ``base``; what escapes it, tilted."""

    first: int
    size: int
    escape_low: float
    escape_high: float


@dataclass(frozen=True, eq=False)
class Power:
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


def _losses(part: Part, dt: float) -> Array:
    return np.asarray(part.c + (part.side.start + np.arange(part.side.log_p.size)) * dt)


def log_moment(parts: Sequence[Part], dt: float, tilt: float) -> float:
    """K(λ) = Σ k·log Σ p·e^{λl}."""
    total = 0.0
    for part in parts:
        a = part.side.log_p + tilt * _losses(part, dt)
        top = float(a.max())
        total += part.count * (top + math.log(float(np.exp(a - top).sum()))) if math.isfinite(top) else -math.inf
    return total


def _origin(parts: Sequence[Part]) -> float:
    return math.fsum(part.count * part.c for part in parts)


def window(parts: Sequence[Part], dt: float, tilt: float, up: float, down: float, low: float, high: float) -> Window:
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


def power(parts: Sequence[Part], dt: float, tilt: float, frame: Window) -> Power:
    """The tilted product on the window."""
    n = frame.size
    log_scale, origin, steps = 0.0, _origin(parts), 0
    rounding = 6 * _U * math.log2(n)
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
        spectra.append((rfft(_wrapped(f, centre, n)), part.count))
        # each tilted mass is good to a few units times the size of its exponents
        seen = np.flatnonzero(f > 1e-40)
        exponents = np.abs(part.side.log_p[seen]) + abs(tilt) * np.abs(losses[seen])
        jitter += part.count * _U * (8 * float(exponents.max()) + 8 * abs(top) + 16)
        reach += part.count * (abs(part.c) + dt * abs(part.side.start + centre))
    g, drift, weight = _multiplied(spectra, rounding)
    r = irfft(g, n)
    # |g| sums to N·weight, and the transform back rounds like the one forth
    error = drift / n + rounding * weight / n + 1e-30
    r = np.roll(r, -((frame.first - steps) % n))
    np.maximum(r, 0.0, out=r)
    return Power(
        origin + frame.first * dt,
        8 * _U * (reach + abs(frame.first) * dt + n * dt) + 2 * _U * abs(origin),
        r,
        error,
        jitter,
        log_scale,
        frame.escape_low,
        frame.escape_high,
    )


def _multiplied(spectra: Sequence[tuple[Any, int]], rounding: float) -> tuple[Any, float, float]:
    """ΠF^k on the half spectrum, the sum of its errors over the whole one, and the sum of its sizes.

    With |F̂ − F| ≤ e the error is at most Π(|F̂|+e)^k − Π|F̂|^k, plus that of phase and exponent. Where a factor is below
    e^−70 the product is left out, and its bound (|F̂|+e)^k counted instead.
    """
    half = spectra[0][0].size
    live = np.arange(half)
    left_out = 0.0
    for spectrum, count in spectra:
        if count > 1:
            z = spectrum[live]
            square = z.real**2 + z.imag**2
            small = square <= math.exp(2 * _CUT / count)
            if small.any():
                most = math.sqrt(float(square[small].max()))
                left_out += 2 * int(small.sum()) * math.exp(count * math.log(most + rounding)) * 1.01
                live = live[~small]
    size, angle = np.ones(live.size), np.zeros(live.size)
    log_size, excess, turns = np.zeros(live.size), np.zeros(live.size), 0.0
    for spectrum, count in spectra:
        z = spectrum[live]
        re, im = z.real, z.imag
        near = (re - 1) * (re + 1) + im * im  # |z|² − 1, precise near 1
        with np.errstate(divide="ignore"):
            here = 0.5 * np.log1p(np.maximum(near, -0.99)) if near.size == 0 or near.min() > -0.9 else np.log(np.abs(z))
            log_size += count * here
            excess += count * np.log1p(rounding * np.exp(-here))
        theta = np.arctan2(im, re)
        angle += count * theta
        turns += count * float(np.max(np.abs(theta), initial=0.0))
    size = np.exp(log_size)
    g = np.zeros(half, dtype=complex)
    g.real[live] = size * np.cos(angle)
    g.imag[live] = size * np.sin(angle)
    twice = np.where(live == 0, 1.0, 2.0)
    weight = float(np.dot(twice, size))
    with np.errstate(over="ignore", invalid="ignore"):
        grown = np.where(size > 0, size * np.expm1(excess), 0.0)
    drift = float(np.dot(twice, grown + size * (4 * turns * _U + 4 * _U * np.abs(log_size) + 16 * _U)))
    if not math.isfinite(drift):
        drift = float(half)
    return g, drift + left_out, weight


def _wrapped(f: Array, centre: int, n: int) -> Array:
    """f with index ``centre`` moved to 0, modulo n."""
    if f.size <= n:
        out = np.zeros(n)
        out[: f.size - centre] = f[centre:]
        if centre:
            out[n - centre :] += f[:centre]
        return out
    return np.asarray(np.bincount((np.arange(f.size) - centre) % n, weights=f, minlength=n), dtype=float)
