"""The profile h(t) = ∫(dH1 − t·dH0)₊ of a product about one tilt, from the lattices of its steps (sheet, §4 and §5).

The k-fold product of lattice laws takes one tilted Fourier transform for each side. Masses are tilted by e^{λl} and
normalised, wrapped modulo N, transformed, raised to their powers, multiplied and transformed back: p^{*k}(l) =
e^{K(λ)−λl}·r(l). What is known of r is an interval r ± E (Lemma C10 of docs/proofs/composition.md), the mass beyond the
window by Chernoff's bound, and that wrapping only adds (Theorem C9).

h is known at the lattice points t_i = e^{l_i} and linear in t between them, so that δ, ε, the ROC curve and its inverse
are a search each (Theorem C13). Everything is summed from the top, where the masses are small, and kept as numbers
times e^base.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from ...checks import Array
from ...numerics.special import Complex
from .lattice import Lattice, LatticeSide
from .step import ROUNDOFF, at_least_one
from .tilt import LatticePlan, ReadingQuery

MOST_POINTS = 2**21  # of one transform
POINT_COST = 0.25  # what a point of the two transforms costs, in points of a step's lattice
_VIEW_COST = 2**16  # what a profile costs beside its points
_LEAST_LOG_SPECTRUM = -70.0  # spectra below e^−70 are not worth a logarithm
_TINY = 1e-290  # below this, in units of e^base, doubles round badly or to nothing: an upper side stays at it
_HELD_RANGE = 500.0  # how far from one loss masses are held, as logarithms
_BLOCK = 64  # points summed at once, where an answer is located


@dataclass(frozen=True, eq=False)
class SidePower:
    """One side of one step, taken ``count`` times: masses exp(log_p) at these losses."""

    c: float
    side: LatticeSide
    count: int
    losses: Array

    def log_mass(self, tilt: float) -> float:
        """k·log Σ p·e^{λl}."""
        a = self.side.log_p + tilt * self.losses
        top = float(a.max())
        return self.count * (top + math.log(float(np.exp(a - top).sum()))) if math.isfinite(top) else -math.inf


def side_powers(lattices: Sequence[tuple[Lattice, int]], upper: bool) -> list[SidePower]:
    """One side of each step."""
    made = []
    for one, k in lattices:
        side = one.upper if upper else one.lower
        losses = np.asarray(one.c + (side.start + np.arange(side.log_p.size)) * one.dt)
        made.append(SidePower(one.c, side, k, losses))
    return made


def log_moment(parts: Sequence[SidePower], tilt: float) -> float:
    """K(λ) = Σ k·log Σ p·e^{λl}."""
    return sum(part.log_mass(tilt) for part in parts)


@dataclass(frozen=True, eq=False)
class TiltedPower:
    """r on the window: loss of the first point, the estimate (not negative), its error, the relative error
    of the masses that went in, K(λ), and what escapes the window, tilted."""

    first_loss: float
    loss_error: float
    r: Array
    error: float
    mass_error: float
    log_scale: float
    escape_low: float
    escape_high: float


def _window(parts: Sequence[SidePower], dt: float, plan: LatticePlan) -> tuple[int, int, float, float]:
    """(first, size) of the lattice points that cover the plan's losses, and bounds on what escapes them, tilted."""
    base = math.fsum(part.count * part.c for part in parts)
    least = sum(part.count * part.side.start for part in parts)
    most = sum(part.count * (part.side.start + part.side.log_p.size - 1) for part in parts)
    first, last = math.floor((plan.low - base) / dt), math.ceil((plan.high - base) / dt)
    size = next_fast_len(max(min(last, most) - first + 1, 16), real=True)
    whole = most - min(least, first) + 1
    if whole <= min(max(1.25 * size, 4096), MOST_POINTS):  # everything fits: nothing escapes
        return min(least, first), next_fast_len(whole, real=True), 0.0, 0.0
    first = min(first, most - size + 1)
    here = log_moment(parts, plan.tilt)
    below = above = 0.0
    if first > least:
        edge = base + (first - 1) * dt
        below = math.exp(min(log_moment(parts, plan.tilt - plan.down) - here + plan.down * edge, 0.0))
    if first + size - 1 < most:
        edge = base + (first + size) * dt
        # below a tilt of 0 this also bounds ∫e^{−λ(l−edge)}, which may exceed 1 (up ≥ −λ)
        limit = 0.0 if plan.tilt >= 0 else 700.0
        above = math.exp(min(log_moment(parts, plan.tilt + plan.up) - here - plan.up * edge, limit))
    slack = 1 + 1e-9
    return first, size, below * slack, above * slack


def _power(parts: Sequence[SidePower], dt: float, plan: LatticePlan) -> TiltedPower:
    """The tilted product on the plan's window."""
    first, n, *escaped = _window(parts, dt, plan)
    log_scale, origin, steps = 0.0, math.fsum(part.count * part.c for part in parts), 0
    rounding = 6 * ROUNDOFF * math.log2(n)
    spectra, jitter, reach = [], 0.0, 0.0
    for part in parts:
        a = part.side.log_p + plan.tilt * part.losses
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
        exponents = np.abs(part.side.log_p[seen]) + abs(plan.tilt) * np.abs(part.losses[seen])
        jitter += part.count * ROUNDOFF * (8 * float(exponents.max()) + 8 * abs(top) + 16)
        reach += part.count * (abs(part.c) + dt * abs(part.side.start + centre))
    g, drift, weight = _spectrum_product(spectra, rounding)
    r = irfft(g, n)
    # |g| sums to N·weight, and the transform back rounds like the one forth
    error = drift / n + rounding * weight / n + 1e-30
    r = np.roll(r, -((first - steps) % n))
    np.maximum(r, 0.0, out=r)
    loss_error = 8 * ROUNDOFF * (reach + abs(first) * dt + n * dt) + 2 * ROUNDOFF * abs(origin)
    return TiltedPower(origin + first * dt, loss_error, r, error, jitter, log_scale, *escaped)


def _spectrum_product(spectra: Sequence[tuple[Complex, int]], rounding: float) -> tuple[Complex, float, float]:
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
    turned = size * (4 * turns * ROUNDOFF + 4 * ROUNDOFF * np.abs(log_size) + 16 * ROUNDOFF)
    return g, float(np.dot(twice, grown + turned)) + left_out, weight


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
class _Profile:
    """One side of h, as h·e^base, at the losses first + i·dt; it falls."""

    first: float
    dt: float
    base: float
    h: Array

    @property
    def last(self) -> float:
        return self.first + (self.h.size - 1) * self.dt

    def log_h(self, i: int) -> float:
        return self.base + math.log(self.h[i]) if self.h[i] > 0 else -math.inf

    def at(self, epsilon: Array) -> Array:
        """log h(e^ε), linear in e^ε between lattice points; NaN outside."""
        where = (epsilon - self.first) / self.dt
        i = np.clip(np.floor(where), 0, self.h.size - 2).astype(int)
        part = np.clip(epsilon - (self.first + i * self.dt), 0.0, self.dt)
        share = np.expm1(part) / math.expm1(self.dt)  # of the upper end
        with np.errstate(divide="ignore", invalid="ignore"):
            value = self.base + np.log(self.h[i] * (1 - share) + self.h[i + 1] * share)  # NaN: unknown
        return np.asarray(np.where((epsilon < self.first) | (epsilon > self.last), np.nan, value))

    def epsilon(self, log_delta: Array) -> Array:
        """The ε with h(e^ε) = δ; NaN where the window does not hold it."""
        delta = np.exp(np.minimum(log_delta - self.base, 700.0))
        i = np.searchsorted(-self.h, -delta, side="left")  # the first point with h ≤ δ
        j = np.clip(i, 1, self.h.size - 1)
        high, low = self.h[j - 1], self.h[j]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = (high - delta) / (high - low)
        share = np.clip(np.where(np.isnan(share), 1.0, share), 0.0, 1.0)
        value = self.first + (j - 1) * self.dt + np.log1p(share * math.expm1(self.dt))
        return np.asarray(np.where((i > 0) & (i < self.h.size), value, np.nan))


@dataclass(frozen=True, eq=False)
class Upper(_Profile):
    """h from above. ``slope`` is the mass of H0 at and above each point, −dh/dt below it, times e^{slope_base}."""

    slope: Array
    slope_base: float

    @cached_property
    def lines(self) -> tuple[Array, Array, Array]:
        """t_i in units of e^{base − slope_base}, and the α and the recall at which each line crosses the next."""
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # h may be infinite: unknown
            t = np.exp(self.first + np.arange(self.h.size) * self.dt + (self.slope_base - self.base))
            alpha = (self.h[:-1] - self.h[1:]) / (t[:-1] * math.expm1(self.dt))
            alpha = falling(np.where(np.isnan(alpha), np.inf, alpha))
            recall = self.h[:-1] + t[:-1] * alpha
        return t, alpha, falling(np.where(np.isnan(recall), np.inf, recall))

    def roc(self, log_alpha: Array) -> Array:
        """log min_i h_i + t_i·α, found by where the lines cross; any i gives a valid upper bound on the ROC curve."""
        t, crossing, _ = self.lines
        shifted = log_alpha - self.slope_base
        alpha = np.exp(np.minimum(shifted, 700.0))
        i = np.searchsorted(-crossing, -alpha, side="left")
        with np.errstate(divide="ignore", over="ignore"):
            if shifted.size and shifted.max() < 700:
                best = self.base + np.log(self.h[i] + t[i] * alpha)
            else:
                best = np.logaddexp(self.base + np.log(self.h[i]), self.first + i * self.dt + log_alpha)
        return np.asarray(best + 8 * ROUNDOFF * (np.abs(best) + np.abs(log_alpha)))

    def inverse_roc(self, log_recall: Array) -> Array:
        """log max_i (R − h_i)/t_i, found by where the lines cross; any i gives a valid lower bound on α."""
        wanted = np.exp(np.minimum(log_recall - self.base, 700.0))
        i = np.searchsorted(-self.lines[2], -wanted, side="left")
        with np.errstate(divide="ignore"):
            left = self.base + np.log(np.maximum(wanted * (1 - 1e-13) - self.h[i], 0.0))
        return np.asarray(left - (self.first + i * self.dt))


@dataclass(frozen=True, eq=False)
class Lower(_Profile):
    """h from below, and tests that surely exist.

    Rejecting at and above each point has a false-positive rate of at most ``alpha``·e^{alpha_base} and a true-positive
    rate of at least ``recall``·e^base; ``top`` is the mass H1 has at +∞, reached without any false positive. Where the
    mass counted as +∞ was only cut off, ``top`` is 0 and that mass is the last test, at the false positives it costs.
    """

    alpha: Array
    alpha_base: float
    recall: Array
    top: float

    def roc(self, log_alpha: Array) -> Array:
        """log of the chord between the tests on either side."""
        x = np.exp(np.minimum(log_alpha - self.alpha_base, 700.0))
        return self._log(_chord(x, self.alpha, self.recall, (0.0, self.top)), self.base)

    def inverse_roc(self, log_recall: Array) -> Array:
        """log of the same chord, read the other way; the recall itself where no test is known to reach it."""
        x = np.exp(np.minimum(log_recall - self.base, 700.0))
        reached = self._log(_chord(x, self.recall, self.alpha, (self.top, 0.0)), self.alpha_base)
        return np.asarray(np.where(x <= self.recall[0], np.minimum(reached, log_recall), log_recall))

    def test(self, loss: float) -> tuple[float, float]:
        """(false-positive rate, recall) of the first test at or above a threshold; (0, 0) where none is known."""
        i = math.ceil((loss - self.first) / self.dt)
        if not (0 <= i < self.alpha.size and self.recall[i] > 0):
            return 0.0, 0.0
        return min(self.alpha[i] * _exp(self.alpha_base), 1.0), min(self.recall[i] * _exp(self.base), 1.0)

    @staticmethod
    def _log(values: Array, base: float) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(base + np.log(values))


def _chord(x: Array, xs: Array, ys: Array, start: tuple[float, float]) -> Array:
    """Linear interpolation of falling (xs, ys) at x: flat beyond the first, and from the last down to ``start``."""
    across, up = np.append(xs, start[0])[::-1], np.append(ys, start[1])[::-1]
    found = np.interp(x, across, up)
    return np.where(np.isnan(found), np.inf, found)  # of false positives without a bound


@dataclass(frozen=True, eq=False)
class LatticeProfile:
    """Both sides of h about one tilt; all answers are (low, high), probabilities as logarithms."""

    upper: Upper
    lower: Lower

    @property
    def sides(self) -> tuple[Upper, Lower]:
        return self.upper, self.lower

    def delta(self, epsilon: Array) -> tuple[Array, Array]:
        low, high = self.lower.at(epsilon), self.upper.at(epsilon)
        # to the right of the window h is smaller, to the left larger
        low = np.where(epsilon < self.lower.first, self.lower.log_h(0), low)
        high = np.where(epsilon > self.upper.last, self.upper.log_h(-1), high)
        return np.asarray(np.where(np.isnan(low), -np.inf, low)), np.asarray(np.where(np.isnan(high), 0.0, high))

    def epsilon(self, log_delta: Array) -> tuple[Array, Array]:
        low, high = self.lower.epsilon(log_delta), self.upper.epsilon(log_delta)
        low = np.where(np.isnan(low) & (log_delta <= self.lower.log_h(-1)), self.lower.last, low)
        high = np.where(np.isnan(high) & (log_delta >= self.upper.log_h(0)), self.upper.first, high)
        return np.asarray(np.where(np.isnan(low), -np.inf, low)), np.asarray(np.where(np.isnan(high), np.inf, high))

    def roc(self, log_alpha: Array) -> tuple[Array, Array]:
        return np.maximum(self.lower.roc(log_alpha), log_alpha), np.minimum(self.upper.roc(log_alpha), 0.0)

    def inverse_roc(self, log_recall: Array) -> tuple[Array, Array]:
        return self.upper.inverse_roc(log_recall), self.lower.inverse_roc(log_recall)

    def test(self, loss: float) -> tuple[float, float, float]:
        alpha, recall = self.lower.test(loss)
        return alpha, recall, abs(float(self.upper.at(np.asarray(loss))) - float(self.lower.at(np.asarray(loss))))


def _powers(rate: float, first: int, count: int) -> Array:
    """e^{rate·(first + i)} for i < count, by an outer product: two short exponentials instead of a long one."""
    block = max(min(256, count, int(100 / max(abs(rate), 1e-9))), 1)
    rows = -(-count // block)
    coarse, fine = np.exp(rate * (first + block * np.arange(rows))), np.exp(rate * np.arange(block))
    return np.asarray((coarse[:, None] * fine).ravel()[:count])


def _exp(exponent: float) -> float:
    return math.exp(exponent) if exponent < 700 else math.inf


def _from_top(values: Array) -> Array:
    return np.asarray(np.cumsum(values[::-1])[::-1])


def falling(values: Array) -> Array:
    """The least falling sequence above these values."""
    return np.asarray(np.maximum.accumulate(values[::-1])[::-1])


class _TiltedSums:
    """The tilted product about a loss: p = e^base·r·e^{−λu}, H0-masses p·e^{−l}, u = l − that loss.

    What lies too far out for doubles is cut: below nothing is asked, above it joins what is beyond the window from
    above, and is a mass ``over`` at the last point from below.
    """

    def __init__(self, power: TiltedPower, tilt: float, dt: float, kappa: float, rho: float, loss: float) -> None:
        n = power.r.size
        middle = min(max(round((loss - power.first_loss) / dt), 0), n - 1)
        far = math.floor(_HELD_RANGE / (abs(tilt) + 1) / dt)
        first, stop = max(middle - far, 0), min(middle + far + 1, n)
        self.r, self.dt, self.tilt = power.r[first:stop], dt, tilt
        self.fall, self.rise = (_powers(rate * dt, first - middle, stop - first) for rate in (-tilt, 1.0))
        self.centre = power.first_loss + middle * dt
        self.base = power.log_scale - tilt * self.centre
        self.first_loss = power.first_loss + first * dt
        self.shift = power.loss_error + kappa
        self.relative = math.expm1(rho + power.mass_error + 8 * (n + 16) * ROUNDOFF)
        self.error, self.escaped = power.error, power.escape_low + min(power.escape_high, 1.0)
        # below a tilt of 0 weights still grow beyond the last point: the bound on what escapes holds from one further
        grow = max(-tilt, 0.0) * dt
        self.over = 0.0
        if tilt > 0:  # weights fall: each mass has its own
            weights = _powers(-tilt * dt, stop - middle, n - stop) if stop < n else np.zeros(0)
            cut = power.r[stop:]
            self.beyond = float((cut + power.error) @ weights) + power.escape_high * (
                float(weights[-1]) if stop < n else float(self.fall[-1])
            )
            self.over = float(np.maximum(cut - power.error, 0.0) @ weights)
            return
        beyond = power.escape_high * _exp(grow * (n - stop + 1)) if power.escape_high > 0 else 0.0
        if stop < n:
            beyond += float((power.r[stop:] + power.error).sum()) * _exp(grow * (n - stop))
        self.beyond = beyond * float(self.fall[-1])

    def profile(self, p: Array) -> tuple[Array, Array]:
        """(h, H0-tail): h_i = (1 − e^{−dt})·Σ_{j>i} e^{u_j}·Σ_{m≥j} q_m, positive terms only."""
        tail = _from_top(p / self.rise)
        steps = tail * self.rise
        steps[:-1], steps[-1] = steps[1:], 0.0
        return _from_top(steps) * -math.expm1(-self.dt), tail

    def top(self, at_top: float) -> float:
        """A mass in units of e^base; infinite if that is too small a unit."""
        return _exp(math.log(at_top) - self.base) if at_top > 0 else 0.0


def _upper(s: _TiltedSums, at_top: float) -> Upper:
    h, tail = s.profile((s.r + s.error) * s.fall)
    h += s.beyond + s.top(at_top)
    h *= 1 + s.relative
    if s.base < 600:
        np.minimum(h, _exp(-s.base), out=h)  # a probability
    np.maximum(h, _TINY, out=h)
    return Upper(s.first_loss + s.shift, s.dt, s.base, h, tail, s.base - s.centre)


def _lower(s: _TiltedSums, at_top: float, leak: float) -> Lower:
    tilt, dt = s.tilt, s.dt
    low = np.maximum(s.r - s.error, 0.0)
    heaviest: Array = s.fall
    if tilt <= 0:  # weights grow with u: leave out what is negligible, so that the wrapped mass weighs less
        last = int(np.flatnonzero(s.r >= 1e-9 * s.r.max())[-1])
        low[last + 1 :] = 0.0
        heaviest = np.full(s.fall.size, s.fall[last])
    low *= s.fall
    h, _ = s.profile(low)
    if s.over > 0:
        h -= s.over * np.expm1(-dt * np.arange(h.size, 0.0, -1.0))
    # Wrapping added at most the escaped mass, anywhere: its weight e^{−λu}(1 − e^{−(u−u_i)}) is largest at
    # u − u_i = log(1 + 1/λ).
    share = math.exp(tilt * math.log(tilt / (tilt + 1)) - math.log(tilt + 1)) if tilt > 0 else 1.0
    top = min(s.top(at_top), 1e300)
    keep = 1 - s.relative
    h = (np.maximum(h - s.escaped * share * heaviest, 0.0) + top) * keep
    leaked = _exp(math.log(leak) + s.centre - s.base) if leak > 0 else 0.0
    if leaked > 0:
        with np.errstate(over="ignore"):  # more than any double: then nothing is left
            h = np.maximum(h - leaked * s.rise, 0.0)
    recall = (np.maximum(_from_top(low) + s.over - s.escaped * heaviest, 0.0) + top) * keep
    alpha = _from_top((s.r + s.error) * s.fall / s.rise) + s.beyond / float(s.rise[-1])
    alpha *= (1 + s.relative) * math.exp(s.shift)
    alpha = np.maximum(alpha + leaked, _TINY)
    h, recall = (np.where(x < _TINY, 0.0, x) for x in (h, recall))
    top *= keep
    if leaked > 0:  # what was cut off is a test of its own, not free of false positives
        alpha, recall, top = np.append(alpha, max(leaked, _TINY)), np.append(recall, top), 0.0
    # h and the recall fall with t, so that what holds further up holds here too
    return Lower(s.first_loss - s.shift, dt, s.base, falling(h), alpha, s.base - s.centre, falling(recall), top)


def _answer_loss(power: TiltedPower, plan: LatticePlan, dt: float, ask: ReadingQuery, error: float) -> float:
    """About the loss above which H1, or H0 where a false-positive rate is asked for, has so much mass: by blocks.

    That planned where the window does not reach it, or where it is near enough: Chernoff's bound, by which a plan goes,
    may be off by more than what doubles hold about one loss. ``error`` is what one side adds to each mass.
    """
    near = _HELD_RANGE / (abs(plan.tilt) + 1) / 4
    if power.r.size * dt <= near or ask.kind == "delta":
        return plan.loss
    blocks = -(-power.r.size // _BLOCK)
    r = np.zeros(blocks * _BLOCK)
    r[: power.r.size] = np.maximum(power.r + error, 0.0)
    at = power.first_loss + dt * np.arange(r.size)
    slope = plan.tilt + (1.0 if ask.kind == "roc" else 0.0)
    with np.errstate(divide="ignore"):
        log_p = np.log(r).reshape(blocks, _BLOCK) - slope * at.reshape(blocks, _BLOCK)
    total = np.logaddexp.accumulate(np.logaddexp.reduce(log_p, axis=1)[::-1])[::-1] + power.log_scale
    above = np.flatnonzero(total >= ask.value)
    found = float(at[above[-1] * _BLOCK]) if above.size else plan.loss
    return found if abs(found - plan.loss) > near else plan.loss


def lattice_product(
    lattices: Sequence[tuple[Lattice, int]], plan: LatticePlan, ask: ReadingQuery
) -> tuple[LatticeProfile, int]:
    """The product about where it answers a question, and what it costs, in points; where no side differs, once."""
    dt = lattices[0][0].dt
    kappa, rho = math.fsum(k * one.kappa for one, k in lattices), math.fsum(k * one.rho for one, k in lattices)
    leak = 1.001 * math.fsum(k * one.lower.leak for one, k in lattices)
    sides, points = [], _VIEW_COST
    for upper in (True,) if all(one.exact for one, _ in lattices) else (True, False):
        parts = side_powers(lattices, upper)
        made = _power(parts, dt, plan)
        points += math.ceil(POINT_COST * made.r.size / 2)
        sides.append((made, at_least_one((part.side.only1, part.count) for part in parts)))
    high, low = (
        _TiltedSums(made, plan.tilt, dt, kappa, rho, _answer_loss(made, plan, dt, ask, way * made.error))
        for (made, _), way in ((sides[0], 1), (sides[-1], -1))
    )
    return LatticeProfile(_upper(high, sides[0][1]), _lower(low, sides[-1][1], leak)), points
