"""The profile of a product straight from its characteristic function: one sum of a few dozen terms, with a bracket.

For λ > 0 and M(z) = E e^{zS} over what is finite, δ(ε) = (1/2π)∫ M(z)·e^{−zε}/(z(z+1)) dy on z = λ + iy. The trapezoid
rule of step h = 2π/W is Σ_m δ(ε + mW)·e^{λmW} (Theorem C4 of docs/proofs/composition.md): an upper bound as it stands,
and a lower one less the terms m ≠ 0 (Lemma C5). Nothing is discretised: what is left are the frequencies left out
(Lemma C6, :mod:`.tilt`), the mass cut off far out (Lemma C7), quadrature and rounding (Lemma C8).

What is cut off are outcomes in which some step shows a loss at +∞, or one where it was cut. A step with rare large
losses may be cut off where they are still likely: the others must make up for such a loss, or it decides the test.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.fft import irfft, next_fast_len

from ...checks import Array
from ...numerics.special import Complex
from .profile import Lower, Upper, falling
from .quadrature import least_nodes
from .step import ROUNDOFF, CountedStep, TiltedLoss
from .tilt import DEEPEST, SaddlePoint, decisive_loss, frequency, reach_of, tilted
from .tilt import aim as aim_at

_CHEAP_WORK, _MOST_WORK = 2**19, 2**27  # frequencies times nodes: not worth another tilt, and too many
_MOST_TERMS, _FEW_TERMS = 2**15, 1000
_FIRST_FREQUENCY = 16.0  # a frequency that is mostly enough, in inverse standard deviations
_DEEPEST_ANSWER = 14.0  # how far below what the tilt resolves an answer may lie, as a logarithm
_SLOPE_DEPTH = 3.0  # less of that, where the answer is read from slopes
_UP_SHIFTS = np.geomspace(0.25, 20.0, 9)  # of Chernoff's bounds, in inverse standard deviations
_DOWN_SHIFTS = np.append(np.geomspace(0.03, 0.8, 7), 1.0)  # the same, as shares of the tilt
_TILT_SHARES: Array = np.asarray(0.7 ** np.arange(8), dtype=float)  # of the saddle: the tilts that are tried
_SHORT_TABLE, _SHARED_BOUNDS = 64, 16  # of a long table
_PERIOD_MARGIN = 2.0  # how far to either side of the answer the other periods stay away, in standard deviations
_CUT_SHIFTS = np.geomspace(0.4, 50.0, 10)  # for the same where a loss was cut off
_SLACK = 1e-9  # relative, of the masses cut off
_LONG_SERIES = 2048  # terms
_NO_BOUNDS = np.zeros(0), np.zeros(0)
_TINY = 1e-290  # less mass may have been rounded up to a double


@dataclass(frozen=True, eq=False)
class TiltedSeries:
    """e^{λl−K}·δ(l) = Re Σ a_n·e^{−inh(l−c)} ± error, less what the other periods add."""

    tilt: float
    h: float
    centre: float
    log_scale: float
    terms: Complex
    error: float
    relative: float
    aliases: tuple[tuple[Array, Array], tuple[Array, Array]]
    rest: CutOffMass
    work: int  # frequencies times nodes

    @property
    def period(self) -> float:
        return 2 * math.pi / self.h

    @cached_property
    def _turning(self) -> tuple[Complex, Complex]:
        """−iy of each term, and the terms of the sum and of its derivative."""
        turn = np.asarray(-1j * self.h * np.arange(self.terms.size))
        return turn, np.stack((self.terms, turn * self.terms), axis=1)

    def at(self, loss: Array) -> tuple[Array, Array]:
        """The sum at some losses, and its derivative."""
        if self.terms.size > _LONG_SERIES:
            return self._blocked_sum(loss)
        turn, both = self._turning
        found = (np.exp(np.multiply.outer(loss - self.centre, turn)) @ both).real
        return found[..., 0], found[..., 1]

    @cached_property
    def _table(self) -> tuple[Complex, Complex, Complex]:
        """−iy of the first terms and of every so many-th, and the terms and those of the derivative between."""
        wide = math.isqrt(self.terms.size) + 1
        rows = -(-self.terms.size // wide)
        both = np.zeros((2, rows * wide), dtype=complex)
        both[:, : self.terms.size] = self.terms, -1j * self.h * np.arange(self.terms.size) * self.terms
        near, far = (np.asarray(-1j * self.h * at) for at in (np.arange(wide), wide * np.arange(rows)))
        return near, far, np.asarray(both.reshape(2, rows, wide))

    def _blocked_sum(self, loss: Array) -> tuple[Array, Array]:
        """The same of many terms: e^{−i(n+m)hl} is a product, so that few exponentials are taken."""
        near, far, both = self._table
        x = np.ravel(loss - self.centre)
        inner, outer = (np.exp(np.multiply.outer(x, turn)) for turn in (near, far))
        value, rise = (((inner @ one.T) * outer).sum(axis=1).real.reshape(np.shape(loss)) for one in both)
        return value, rise

    def logs(self, loss: Array) -> tuple[Array, Array]:
        """(low, high) of log δ."""
        low, high = self.bounds(loss, self.at(loss)[0])
        base = self.log_scale - self.tilt * loss
        slack = self.relative + 8 * ROUNDOFF * (abs(self.log_scale) + self.tilt * np.abs(loss) + 8)
        less, more = self.rest.bounds(loss)
        with np.errstate(divide="ignore"):
            a, b = np.logaddexp(base + np.log(low), np.log(less)), np.logaddexp(base + np.log(high), np.log(more))
        return a - slack, np.minimum(b + slack, 0.0)

    def table(self, first: float, size: int) -> Array:
        """The sum at first + jW/size, by one transform."""
        n = np.arange(self.terms.size)
        turned = np.conj(self.terms * np.exp(-1j * self.h * (first - self.centre) * n))
        turned[1:] *= 0.5
        return np.asarray(irfft(turned, size) * size)

    def spill(self, loss: Array, grows: bool = False) -> Array:
        """A bound on what the other periods add to the sum; ``grows`` says that the losses do."""
        (up, above), (down, below) = self.aliases
        way = -1 if grows else 1
        falls = _exponential_bound(below, down, -loss[::way], grows)[::way]
        return np.asarray(_exponential_bound(above, up, loss, grows) + falls)

    def bounds(self, loss: Array, value: Array, grows: bool = False) -> tuple[Array, Array]:
        """(low, high) of δ·e^{λl−K} without the rest, from the sum; the relative error of all is not in them."""
        return np.maximum(value - self.error - self.spill(loss, grows), 0.0), np.maximum(value, 0.0) + self.error


def _exponential_bound(log_a: Array, s: Array, x: Array, grows: bool = False) -> Array:
    """min e^{a − sx}, which falls with x; of growing x, one bound serves the few that follow."""
    if grows and x.size > _SHORT_TABLE * _SHARED_BOUNDS:
        return np.repeat(_exponential_bound(log_a, s, x[::_SHARED_BOUNDS]), _SHARED_BOUNDS)[: x.size]
    return np.asarray(np.exp(np.minimum((log_a - np.multiply.outer(x, s)).min(axis=-1), 700.0)))


def series(
    steps: Sequence[CountedStep],
    flipped: bool,
    aim: SaddlePoint,
    reaches: Sequence[tuple[float, float]],
    tolerance: float,
) -> TiltedSeries | None:
    """The series about the aim's saddle; None where it would take too much or its tail cannot be bounded.

    ``tolerance`` is the relative error wanted at the aim's loss.
    """
    best: _Frame | None = None
    for tilt, spread in _tilts(aim):
        endless = _endless(steps, flipped, aim, tolerance, tilt, spread)
        frame = None if endless else _frame(steps, flipped, aim, reaches, tolerance, tilt, spread)
        if frame is not None and frame.count <= _MOST_TERMS and (best is None or frame.work < 0.5 * best.work):
            best = frame
        if best is not None and best.work <= _CHEAP_WORK:
            break
        if not aim.heavy and (frame is None if best is None else best.count <= _FEW_TERMS):
            break
    if best is None or best.work > _MOST_WORK:
        return None
    each = [(k * law.mean, k * law.log_scale, k * law.rho, k * law.rho_beside) for law, k in best.laws]
    centre, log_scale, rho, beside = (math.fsum(part) for part in zip(*each, strict=True))
    h = 2 * math.pi / best.period
    terms, error = _terms(
        best.laws, np.asarray(h * np.arange(best.count)), best.tilt, abs(centre) + abs(aim.loss) + best.period
    )
    error += best.tail + 200 * ROUNDOFF * float(np.abs(terms).sum())
    above, below = (_alias(*one, best.period, beside + 1e-14) for one in (best.above, best.below))
    rest, rho = cut_off_mass(steps, flipped, reaches, best.laws, best.tilt, best.spread), math.expm1(rho + 1e-14)
    return TiltedSeries(best.tilt, h, centre, log_scale, terms, error, rho, (above, below), rest, best.work)


@dataclass(frozen=True, eq=False)
class _Frame:
    """What a series at one tilt takes: its laws, its period, its frequencies, and the bounds on what they leave out."""

    tilt: float
    spread: float
    laws: list[tuple[TiltedLoss, int]]
    tail: float
    period: float
    count: int
    above: tuple[Array, Array]
    below: tuple[Array, Array]

    @property
    def work(self) -> int:
        return self.count * sum(law.nodes for law, _ in self.laws)


def _endless(
    steps: Sequence[CountedStep], flipped: bool, aim: SaddlePoint, tolerance: float, tilt: float, spread: float
) -> bool:
    """Whether atoms, whose characteristic function does not fall, ask for more frequencies than there may be.

    With Y the last of them, (1/π)∫_Y^∞ dy/|z(z+1)| is at least atan((λ+1)/Y)/π(λ+1).
    """
    log_scale = float(aim.cumulants(np.asarray([tilt]))[0])
    last = _MOST_TERMS * math.pi / (_PERIOD_MARGIN * spread)
    left = math.log(math.atan((tilt + 1) / last) / (math.pi * (tilt + 1))) - log_scale
    for step, k in steps:
        loss, log_p = step.atoms.loss, step.atoms.log_p
        if not loss.size:
            return False
        weights = log_p - (tilt + 1) * loss if flipped else log_p + tilt * loss
        left += k * float(np.logaddexp.reduce(weights))
    log_answer = min(aim.log_value - (log_scale - tilt * aim.loss), float(_log_peak(np.asarray(tilt))))
    return left > math.log(tolerance) + log_answer - math.log1p(tilt * spread)  # fifty times what is wanted


def _frame(
    steps: Sequence[CountedStep],
    flipped: bool,
    aim: SaddlePoint,
    reaches: Sequence[tuple[float, float]],
    tolerance: float,
    tilt: float,
    spread: float,
) -> _Frame | None:
    """What a series at one tilt takes; None if its frequencies do not end."""
    laws = _tilted_laws(steps, flipped, tilt, reaches, _FIRST_FREQUENCY / spread)
    if laws is None:
        return None
    spread = math.sqrt(math.fsum(k * law.variance for law, k in laws))
    if not spread > 0:
        return None
    # at the saddle the sum is about 1/(λ(λ+1)·√2π·sd); an answer elsewhere lies below what the tilt resolves
    log_scale = math.fsum(k * law.log_scale for law, k in laws)
    log_answer = min(aim.log_value - (log_scale - tilt * aim.loss), float(_log_peak(np.asarray(tilt))))
    log_wanted = math.log(0.02 * tolerance) + log_answer - math.log1p(tilt * spread)
    most_y, tail = frequency([(law.decay, k) for law, k in laws], tilt, spread, math.exp(log_wanted))
    if not math.isfinite(most_y):
        return None
    count = math.ceil(most_y * _PERIOD_MARGIN * spread / math.pi)  # at least: the other periods are further away
    ends = zip(steps, laws, reaches, strict=True)
    nodes = sum(least_nodes(step, reach, most_y) if law.nodes > 1 else 1 for (step, _), (law, _), reach in ends)
    if count > _MOST_TERMS or count * nodes > _MOST_WORK:
        return _Frame(tilt, spread, laws, tail, math.inf, _MOST_TERMS + 1, _NO_BOUNDS, _NO_BOUNDS)
    if most_y > _FIRST_FREQUENCY / spread:
        laws = _tilted_laws(steps, flipped, tilt, reaches, most_y)
        if laws is None:
            return None
    up, down, span = _UP_SHIFTS / spread, _DOWN_SHIFTS * tilt, _PERIOD_MARGIN * spread
    s = np.concatenate((up, -down))
    moments = sum(k * law.log_moment(s) for law, k in laws) + _log_peak(tilt + s)
    k_up, k_down = moments[: up.size], moments[up.size :]
    nearest = float(np.min((k_up - log_wanted) / up)), float(np.max((log_wanted - k_down) / down))
    period = max(nearest[0] - aim.loss + span, aim.loss + span - nearest[1], 2 * span)
    count = math.ceil(most_y * period / (2 * math.pi)) + 1
    return _Frame(tilt, spread, laws, tail, period, count, (up, k_up), (down, k_down))


def _tilts(aim: SaddlePoint) -> Iterator[tuple[float, float]]:
    """(λ, standard deviation), best first: the saddle, and less where rare large losses take over the tilted law.

    There the other periods would have to stay far away; a smaller tilt resolves the answer less well, but may do.
    About the middle a tilt of 0 would do for the answer, but not for the other periods.
    """
    k_of = aim.cumulants
    tilt = max(aim.saddle, 1 / aim.spread)
    if not aim.heavy:
        yield tilt, aim.spread
    most_lost = demands(aim)[0]
    found: list[tuple[float, float, float]] = []
    tilts = tilt * _TILT_SHARES
    spreads = k_of.spreads(tilts)[1]
    s = np.multiply.outer(1 / spreads, _UP_SHIFTS)
    here, k = k_of(tilts), k_of((tilts[:, None] + s).ravel()).reshape(s.shape)
    losts = here - tilts * aim.loss - aim.log_value
    periods = ((k + (20 + np.maximum(losts, 0.0) - here)[:, None]) / s).min(axis=1) - aim.loss
    for one, spread, lost, period in np.stack((tilts, spreads, losts, periods), axis=1).tolist():
        if found and (lost > most_lost or one * spread < 0.5):
            break
        found.append((max(period, spread), one, spread))
    shortest = min(period for period, _, _ in found)
    first = next(i for i, (period, _, _) in enumerate(found) if period <= 2.5 * shortest)
    for _, one, spread in found[first:]:
        if aim.heavy or one < tilt:  # the first has been tried
            yield one, spread


def _tilted_laws(
    steps: Sequence[CountedStep], flipped: bool, tilt: float, reaches: Sequence[tuple[float, float]], steepness: float
) -> list[tuple[TiltedLoss, int]] | None:
    laws = []
    for (step, k), reach in zip(steps, reaches, strict=True):
        law = tilted(step, flipped, tilt, reach, steepness)
        if law is None:
            return None
        laws.append((law, k))
    return laws


def _log_peak(s: Array) -> Array:
    """log max_u (1 − e^{−u})·e^{−su} = s·log s − (s+1)·log(s+1)."""
    s = np.maximum(s, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(s > 0, s * np.log(s / (s + 1)) - np.log1p(s), 0.0))


def _alias(s: Array, k_of: Array, period: float, rho: float) -> tuple[Array, Array]:
    """Σ_{m≥1} e^{k − s(l + mW)} as e^{a − sl}, where the masses in k are good to ρ."""
    return s, np.asarray(k_of - s * period - np.log(-np.expm1(-s * period)) + 2 * rho + 1e-9)


def _terms(live: Sequence[tuple[TiltedLoss, int]], y: Array, tilt: float, far: float) -> tuple[Complex, float]:
    """a_n, and the sum of their errors: with |φ̂ − φ| ≤ e, |φ̂^k − φ^k| ≤ (|φ̂|+e)^k − |φ̂|^k, plus phase and exponent."""
    log_size, angle, excess, turns = np.zeros(y.size), np.zeros(y.size), np.zeros(y.size), np.zeros(y.size)
    for law, k in live:
        phi = law.transform(float(y[1]), y.size)
        re, im = phi.real, phi.imag
        near = (re - 1) * (re + 1) + im * im
        with np.errstate(divide="ignore"):
            here = np.where(near > -0.9, 0.5 * np.log1p(np.maximum(near, -0.9)), np.log(np.abs(phi)))
            log_size += k * here
            wrong = law.rho + law.kappa * y + 96 * ROUNDOFF
            excess += k * np.log1p(wrong * np.exp(-np.maximum(here, -600.0)))
        theta = np.arctan2(im, re)
        angle += k * theta
        turns += k * np.abs(theta)
    size = np.exp(log_size)
    size[0] = 1.0
    scale = np.where(np.arange(y.size) == 0, 1.0, 2.0) * float(y[1]) / (2 * math.pi)
    z = tilt + 1j * y
    bottom = z * (z + 1)
    terms = scale * size * np.exp(1j * angle) / bottom
    with np.errstate(over="ignore", invalid="ignore"):
        grown = np.where(size > 0, size * np.expm1(excess), np.exp(log_size + excess))
        grown = np.where(np.isfinite(grown), grown, 2.0)
    seen = np.isfinite(log_size)
    turned = size * ROUNDOFF * (4 * turns + 4 * np.abs(np.where(seen, log_size, 0.0)) + 8 * y * far + 16)
    # two sizes are never further apart than their sum
    lost = np.where(seen, np.minimum(grown, 1 + size) + turned, 1.0)
    return terms, float((scale * lost / np.abs(bottom)).sum())


@dataclass(frozen=True, eq=False)
class CutOffMass:
    """P at +∞, and beside it P below the cuts and P, Q above them; ``s``, ``k``: S < log t has Q-mass e^{k−s(b−log t)}.

    With ``flipped`` laws what lies above the cuts has large negative losses and counts for next to nothing.
    """

    top: float
    below: float
    p: float
    q: float
    b: float
    s: Array
    k: Array
    flipped: bool

    def bounds(self, loss: Array, grows: bool = False) -> tuple[Array, Array]:
        """(low, high) of the part of h(e^l) in these outcomes; ``grows`` says that the losses do."""
        if self.p == 0 and self.q == 0:
            return np.full(loss.shape, self.top), np.full(loss.shape, self.top + self.below)
        apart = self.b + loss if self.flipped else self.b - loss
        if grows and not self.flipped:
            unlikely = _exponential_bound(self.k, self.s, apart[::-1], True)[::-1]
        else:
            unlikely = _exponential_bound(self.k, self.s, apart, grows)
        unlikely = np.minimum(unlikely, 1.0)
        if self.flipped:
            return np.full(loss.shape, self.top), self.top + self.below + self.p * unlikely
        against = self._against(loss)
        low = np.maximum(self.p * (1 - _SLACK) - against * (1 + _SLACK), 0.0)
        surely = against if self.q > _TINY else 0.0
        high = np.maximum(self.p * (1 + _SLACK) - surely * (1 - _SLACK) * (1 - unlikely), 0.0)
        return self.top + low, self.top + self.below + np.minimum(high, self.p * (1 + _SLACK))

    def about(self, loss: Array) -> tuple[Array | float, Array | float]:
        """About the part of h(e^l) in these outcomes, and −dh/dl of it."""
        if self.flipped or self.q == 0:
            return self.top, 0.0
        against = self._against(loss)
        return self.top + np.maximum(self.p - against, 0.0), against

    def _against(self, loss: Array) -> Array:
        """t·Q above the cuts."""
        return np.asarray(np.exp(np.minimum(loss + math.log(self.q), 700.0)) if self.q > 0 else np.zeros(loss.shape))


def cut_off_mass(
    steps: Sequence[CountedStep],
    flipped: bool,
    reaches: Sequence[tuple[float, float]],
    laws: Sequence[tuple[TiltedLoss, int]],
    tilt: float,
    spread: float,
) -> CutOffMass:
    """The rest of a product cut off at ``reaches``, whose kept parts, tilted, are ``laws``."""
    s = _CUT_SHIFTS / spread
    # E e^{−sL} given what is kept, under the law whose mass is to be shown unlikely: H0, whatever the order
    shift, k_of = s - tilt if flipped else -1 - s - tilt, np.zeros(s.size)
    # logarithms: no step shows a loss at infinity; then none below its cut; then none above it
    p_sure = p_under_none = p_over_none = q_cut = q_over_none = 0.0
    b = math.inf
    for (step, k), (low, high), (law, _) in zip(steps, reaches, laws, strict=True):
        atoms = step.atoms
        over, under = (-math.inf, -math.inf), (-math.inf, -math.inf)
        if step.support is not None and not law.uncut:
            over, under = step.above(high), step.below(low)
            if math.isfinite(over[0]):
                b = min(b, float(step.loss(np.asarray(high))))
        sides = [
            (atoms.only1, _positive_mass(over[0]), _positive_mass(under[0])),
            (atoms.only0, _positive_mass(over[1]), _positive_mass(under[1])),
        ]
        (p_top, p_over, p_under), (q_top, q_over, q_under) = reversed(sides) if flipped else sides
        p_sure += _log_none(k, p_top)
        p_under_none += _log_none(k, p_under, 1 - p_top)
        p_over_none += _log_none(k, p_over, 1 - p_top - p_under)
        q_cut += _log_none(k, q_top + q_under)
        q_over_none += _log_none(k, q_over, 1 - q_top - q_under)
        kept = _log_none(1, p_top + p_under + p_over if flipped else q_top + q_under + q_over)
        k_of += k * np.maximum(law.log_moment(shift) + law.log_scale - kept + 2 * law.rho_beside, 0.0)
    # each its own sum: what lies above a cut may be e^{−b} of what lies below another, and would be lost beside it
    above = math.exp(p_sure + p_under_none) * -math.expm1(p_over_none)
    above_q = math.exp(q_cut) * -math.expm1(q_over_none)
    below = math.exp(p_sure) * -math.expm1(p_under_none) * (1 + _SLACK)
    if not 0 < b < math.inf:
        s, k_of = np.zeros(1), np.zeros(1)
    return CutOffMass(-math.expm1(p_sure) + 0.0, below, above, above_q, b, s, k_of, flipped)


def _positive_mass(log_mass: float) -> float:
    return max(math.exp(log_mass), 5e-324) if math.isfinite(log_mass) else 0.0


def _log_none(k: int, mass: float, of: float = 1.0) -> float:
    """log (1 − m)^k, the mass being a part ``of`` what is left."""
    return k * math.log1p(-mass / of) if mass < of else -math.inf


# Readings of a product without a lattice: from the series of its profile, and by its largest loss alone.
#
# ``SeriesProfile`` has δ and ε by the sum itself, the ROC curve from a table of it. h is convex in t = e^l, so that
# chords of the upper side are upper bounds, and the mean slope of h between two points is the false-positive rate of a
# test whose recall is known nearly as well as h.

_FINEST_ERROR, _HEAVY_ERROR = 1e-6, 1e-5  # the relative error of the profile that is asked for, at least
_SLOPE_ERROR = 1e-4  # the same where the curve is read from differences of h
_MOST_CUTS = 6  # each at a smaller loss
_MOST_TABLE = 2**18  # points of a table of h
_MOST_AT_ONCE = 2**20  # losses times terms in one array


def demands(aim: SaddlePoint) -> tuple[float, ...]:
    """How far below what a tilt resolves the answer may lie, as a logarithm, and the errors that are tried in turn."""
    tolerance, sloping = min(aim.tolerance, 1.0), aim.ask.kind in ("roc", "recall")  # read from differences of h
    lost = 0.5 * tolerance**1.5 / (aim.count * 2e-14) if sloping else 0.5 * tolerance / (aim.count * 1e-14)
    most_lost = min(math.log(lost), _DEEPEST_ANSWER - (_SLOPE_DEPTH if sloping else 0.0))
    enough = (_SLOPE_ERROR if sloping else 0.05) * tolerance
    # more digits cost little, unless rare large losses must be followed further out
    errors = (min(enough, _HEAVY_ERROR), enough) if aim.heavy else (min(enough, _FINEST_ERROR),)
    return (most_lost, *errors)


def series_profile(steps: Sequence[CountedStep], flipped: bool, aim: SaddlePoint, width: float) -> SeriesProfile | None:
    """The readings about the aim of a question; None where only a lattice will do."""
    if all(step.support is None for step, _ in steps):
        return None  # a lattice is exact
    count = sum(k for _, k in steps)
    most = math.inf
    for _ in range(_MOST_CUTS):  # where losses reach far beyond their spread, the large ones are decided alone
        if not (aim.heavy or aim.longest > 64 * aim.spread):
            break
        shorter = decisive_loss(steps, flipped, aim)
        if not shorter < 0.9 * min(most, aim.longest):
            break
        most = shorter
        aim = aim_at(steps, flipped, aim.ask, width, most)
    for tolerance in demands(aim)[1:]:
        # of the mass of H1 above a threshold, h is about one part in 1 + λ
        level = min(max(aim.log_value, DEEPEST), 0.0) - math.log1p(max(aim.saddle, 0.0))
        level += math.log(0.01 * tolerance / count)
        reaches = [reach_of(step, (level, level), most) for step, _ in steps]
        made = series(steps, flipped, aim, reaches, tolerance)
        if made is not None:
            return SeriesProfile(made, aim.loss, width)
    return None


class SeriesProfile:
    """Both sides of the profile about one tilt; all answers are (low, high), probabilities as logarithms."""

    def __init__(self, of: TiltedSeries, loss: float, width: float) -> None:
        self.series, self.loss, self.width = of, loss, width

    @property
    def work(self) -> int:
        """What it cost, in lattice points."""
        return 64 * int(self.series.terms.size) + self.series.work // 128

    def delta(self, epsilon: Array) -> tuple[Array, Array]:
        return self._chunked(self._delta, epsilon)

    def _chunked(self, read: Callable[[Array], tuple[Array, Array]], values: Array) -> tuple[Array, Array]:
        flat, step = np.ravel(values), max(_MOST_AT_ONCE // self.series.terms.size, 1)
        parts = [read(flat[i : i + step]) for i in range(0, max(flat.size, 1), step)]
        low, high = (np.concatenate(side).reshape(np.shape(values)) for side in zip(*parts, strict=True))
        return low, high

    def _delta(self, loss: Array) -> tuple[Array, Array]:
        first, last = self.loss - self.series.period, self.loss + self.series.period
        if loss.size and first <= loss.min() and loss.max() <= last:
            return self.series.logs(loss)
        near = np.minimum(np.maximum(loss, first), last)
        low, high = self.series.logs(near)
        with np.errstate(divide="ignore"):
            low = np.where(loss > near, np.log(self.series.rest.bounds(loss)[0]), low)
        return low, np.where(loss < near, 0.0, high)

    def epsilon(self, log_delta: Array) -> tuple[Array, Array]:
        """The ε (of any sign) with h(e^ε) = δ: Newton's steps on the sum, then both sides verified."""
        return self._chunked(self._epsilon, log_delta)

    def _epsilon(self, flat: Array) -> tuple[Array, Array]:
        at, slope = self._newton(flat)
        a, b = self._delta(at)
        margin = 2 * np.where(np.isfinite(b - a), b - a, 0.0) / -slope + 1e-15 * (np.abs(at) + self.series.period)
        sides = np.concatenate((at - margin, at + margin, at - 30 * margin, at + 30 * margin))
        low, high = (v.reshape(4, -1) for v in self._delta(sides))
        near, right, far, beyond = sides.reshape(4, -1)
        low = np.where(low[0] >= flat, near, np.where(low[2] >= flat, far, -np.inf))
        high = np.where(high[1] <= flat, right, np.where(high[3] <= flat, beyond, np.inf))
        lost = np.flatnonzero(~np.isfinite(high - low))
        if lost.size:
            found = self._bisected(flat[lost])
            low[lost], high[lost] = np.maximum(low[lost], found[0]), np.minimum(high[lost], found[1])
        return low, high

    def _newton(self, flat: Array) -> tuple[Array, Array]:
        """Where log δ is about that, and its slope there; one value is sought from where the question aims."""
        s = self.series
        at = np.full(1, self.loss) if flat.size == 1 else np.interp(-flat, -self._outline[1], self._outline[0])
        reach = 0.1 * s.period
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            for again in range(12):
                if again == 8:  # astray
                    at = np.interp(-flat, -self._outline[1], self._outline[0])
                value, rise = s.at(at)
                size = np.exp(s.log_scale - s.tilt * at - flat)  # of the sum, as a share of δ
                other, fall = s.rest.about(at)
                share, rest = size * value, np.exp(-flat) * other
                slope = (size * (rise - s.tilt * value) - np.exp(-flat) * fall) / (share + rest)
                slope = np.where(np.isfinite(slope), np.minimum(slope, -1e-3 * s.tilt), -s.tilt)
                step = np.log(share + rest) / -slope
                step = np.where(np.isfinite(step), np.minimum(np.maximum(step, -reach), reach), 0.0)
                at = at + step
                if float(np.abs(step).max()) * s.tilt < 1e-6:  # they converge quadratically
                    break
        return at, slope

    def _bisected(self, log_delta: Array) -> tuple[Array, Array]:
        """The same where Newton's steps go astray: δ may be flat for a while."""
        first, last = self._outline[0][0], self._outline[0][-1]
        answers = []
        for side in (0, 1):
            left, right = np.full(log_delta.size, first), np.full(log_delta.size, last)
            for _ in range(48):
                middle = 0.5 * (left + right)
                above = self.delta(middle)[side] >= log_delta
                left, right = np.where(above, middle, left), np.where(above, right, middle)
            answers.append((left, right))
        (left, _), (_, right) = answers
        low = np.where(self.delta(left)[0] >= log_delta, left, -np.inf)
        return low, np.where(self.delta(right)[1] <= log_delta, right, np.inf)

    def roc(self, log_alpha: Array) -> tuple[Array, Array]:
        upper, lower = self.sides
        return np.maximum(lower.roc(log_alpha), log_alpha), np.minimum(upper.roc(log_alpha), 0.0)

    def inverse_roc(self, log_recall: Array) -> tuple[Array, Array]:
        upper, lower = self.sides
        return upper.inverse_roc(log_recall), lower.inverse_roc(log_recall)

    def test(self, loss: float) -> tuple[float, float, float]:
        low, high = self.delta(np.asarray([loss]))
        alpha, recall = self.sides[1].test(loss)
        return alpha, recall, float(high[0] - low[0])

    @cached_property
    def _outline(self) -> tuple[Array, Array]:
        """Losses and falling log values of the sum, to begin with."""
        s = self.series
        size = max(next_fast_len(2 * s.terms.size, real=True), 256)
        first = self.loss - s.period / 2
        loss = first + np.arange(size) * (s.period / size)
        with np.errstate(divide="ignore"):
            value = s.log_scale - s.tilt * loss + np.log(np.maximum(s.table(first, size), s.error))
            value = np.logaddexp(value, np.log(s.rest.bounds(loss)[0]))
        return loss, np.maximum.accumulate(value[::-1])[::-1]

    @cached_property
    def sides(self) -> tuple[Upper, Lower]:
        """h from above and from below, with the tests that surely exist."""
        s = self.series
        # the drop of h from point to point must stand out from its error
        value = s.at(np.asarray([self.loss]))[0]
        noise = s.error / max(float(value[0]), s.error)
        finest = max(math.sqrt(0.4 * self.width / (s.tilt * (s.tilt + 1))), noise ** (1 / 3) / s.tilt)
        least = 2 * s.terms.size
        size = next_fast_len(int(max(min(max(s.period / finest, 256.0), _MOST_TABLE), least)), real=True)
        dt = s.period / size
        reach = min(size // 2, math.floor(500 / (s.tilt + 1) / dt))
        first, base = self.loss - reach * dt, s.log_scale - s.tilt * self.loss
        u = (np.arange(2 * reach) - reach) * dt
        low, high = (v * np.exp(-s.tilt * u) for v in s.bounds(self.loss + u, s.table(first, size)[: u.size], True))
        more = 1 + s.relative + 8 * ROUNDOFF * (abs(s.log_scale) + s.tilt * (abs(self.loss) + s.period) + 64)
        unit = math.exp(-base) if base > -700 else math.inf
        less, rest = s.rest.bounds(self.loss + u, True)
        less = np.minimum(less * min(unit, 1e300), 1e300) / more
        rest = np.where(rest > 0, np.where(rest > 0, rest, 1.0) * unit * more, 0.0)  # the unit may be infinite
        rise = np.exp(u)
        piece = rise[:-1] * math.expm1(dt)
        most_slope = ((high[:-1] - low[1:]) * more + (rest[:-1] - less[1:])) / piece
        least_slope = (np.maximum(low[:-1] - high[1:], 0.0) / more + np.maximum(less[:-1] - rest[1:], 0.0)) / piece
        low, high = low / more + less, high * more + rest
        recall = _recalls(low, rise, most_slope, least_slope) * (1 - 64 * ROUNDOFF)
        slope = falling(np.append(most_slope, 0.0)) * (1 + 64 * ROUNDOFF)
        if base < 600:
            high = np.minimum(high, unit)
        top = min(s.rest.top * min(unit, 1e300), 1e300) / more
        recall = np.maximum(np.where(recall < _TINY, 0.0, recall), top)
        upper = Upper(first, dt, base, np.maximum(high, _TINY), slope, base - self.loss)
        low, slope = falling(np.where(low < _TINY, 0.0, low)), np.maximum(slope, _TINY)
        return upper, Lower(first, dt, base, low, slope, base - self.loss, falling(recall), top)


def _recalls(low: Array, rise: Array, most: Array, least: Array) -> Array:
    """Recalls that are surely reached at the mean slope between each point and the next, as a false-positive rate.

    That recall is h(τ) + τ·slope at some τ between the two points, where h lies above the line through the two points
    before, and above the line through the two points after: at least the value where these lines cross.
    """
    a, b = low[1:-2] + most[:-2] * rise[1:-2], low[2:-1] + least[2:] * rise[2:-1]  # the lines at t = 0
    with np.errstate(divide="ignore", invalid="ignore"):  # slopes may be infinite: unknown
        cross = np.clip((a - b) / (most[:-2] - least[2:]), rise[1:-2], rise[2:-1])
        cross = np.where(np.isnan(cross), rise[1:-2], cross)
        # the larger of two lines is least where they cross, or at an end
        found = np.full(cross.size, np.inf)
        for t in (cross, rise[1:-2], rise[2:-1]):
            found = np.minimum(found, np.maximum(a - most[:-2] * t, b - least[2:] * t) + least[1:-1] * t)
    found = np.where(np.isnan(found), 0.0, np.maximum(found, 0.0))
    return np.concatenate(([0.0], found, np.zeros(2)))
