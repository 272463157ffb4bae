"""A step's loss on a lattice, from both sides: Lemmas C2 and C3 of docs/proofs/composition.md.

Every bin is cut at its midpoint. For the half right of a lattice point g, with d = L − g: p = ∫dP and
e = ∫dP(1 − e^{−d}); for the half left of it, f = ∫dP(e^{−d} − 1). All integrands are positive, so the tails keep their
digits. **Upper**: each bin is spread on its ends with its H1- and H0-mass kept, which Blackwell-dominates.
**Lower**: each bin is merged into its point, realigned with a little of a neighbour, made convex: it is dominated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from ...checks import Array
from ...numerics.special import Mask
from .quadrature import LEGENDRE, panels
from .step import ROUNDOFF, Atoms, Step

KinkScale: TypeAlias = Callable[[int, int], float]
Memory: TypeAlias = Any  # a memoryview of numbers, which typing knows of bytes alone

# The error of n-point Gauss–Legendre on a panel over which the integrand changes by a factor e^s is below
# s^{2n}·(n!)⁴/((2n+1)(2n)!³): 4e-15, 8e-15, 2e-15 of the integral at these s, 1e-18 for ten points on the widest.
_TWO_NODES, _THREE_NODES, _FIVE_NODES = 0.002, 0.05, 0.6
_FARTHEST = 64.0  # in the step's own units, beyond where it is cut off
_LARGEST_EXPONENT = 700.0  # whose exponential is a double
_DROPPED_SHARE = 1e-11  # of a point's mass, which may be dropped
_MOST_LOST_KINKS = 20  # kinks lost at the top before a lattice is called too coarse
_MOST_REMOVED_KINKS = 5000  # concave kinks removed, beside twenty for each at the start, before the same is said
_SNAP_DISTANCE = 1e-7  # an atom this near a lattice point, in steps, is moved there; kappa carries the move


@dataclass(frozen=True, eq=False)
class LatticeSide:
    """Masses exp(log_p) under H1 at c + (start + i)·dt; ``only1`` at +∞, ``only0`` (under H0) at −∞.

    ``leak`` is the H0-mass of what a lower side counts as +∞: h falls by at most t times it, and α grows by it.
    """

    start: int
    log_p: Array
    only0: float
    only1: float
    leak: float = 0.0

    def reverse(self, c: float, dt: float) -> LatticeSide:
        """The pair in the other order: losses change sign, H0-masses take the place of H1-masses."""
        loss = c + (self.start + np.arange(self.log_p.size)) * dt
        return LatticeSide(-(self.start + self.log_p.size - 1), (self.log_p - loss)[::-1], self.only1, self.only0)


@dataclass(frozen=True, eq=False)
class Lattice:
    """Both sides of a step on c + ℤ·dt.

    ``kappa`` bounds the error of a loss, ``rho`` the relative error of a mass. ``exact`` says that all atoms lie on
    the lattice and nothing else is there, so that both sides agree. ``upper_back`` and ``lower_back`` are the sides
    in the other order: they differ in where the mass beyond the cut-off went, and in how the ends are aligned.
    """

    c: float
    dt: float
    upper: LatticeSide
    lower: LatticeSide
    upper_back: LatticeSide
    lower_back: LatticeSide
    kappa: float
    rho: float
    exact: bool

    def reverse(self) -> Lattice:
        return Lattice(
            -self.c, self.dt, self.upper_back, self.lower_back, self.upper, self.lower, self.kappa, self.rho, self.exact
        )


def added_lattices(parts: Sequence[tuple[Lattice, float]]) -> Lattice:
    """Lattices on the same points, of steps told apart: sums of upper (lower) sides are upper (lower) sides."""
    first = parts[0][0]

    def side(name: str) -> LatticeSide:
        sides = [(getattr(one, name), share) for one, share in parts]
        start = min(s.start for s, _ in sides)
        total = np.full(max(s.start + s.log_p.size for s, _ in sides) - start, -np.inf)
        for s, share in sides:
            here = slice(s.start - start, s.start - start + s.log_p.size)
            total[here] = np.logaddexp(total[here], s.log_p + math.log(share))
        only0, only1, leak = (math.fsum(w * getattr(s, name) for s, w in sides) for name in ("only0", "only1", "leak"))
        return LatticeSide(start, total, only0, only1, leak)

    upper, lower, upper_back, lower_back = map(side, ("upper", "lower", "upper_back", "lower_back"))
    kappa, rho = max(one.kappa for one, _ in parts), max(one.rho for one, _ in parts) + 1e-15
    exact = all(one.exact for one, _ in parts)
    return Lattice(first.c, first.dt, upper, lower, upper_back, lower_back, kappa, rho, exact)


def _halves(
    step: Step, c: float, dt: float, start: int, count: int, ends: tuple[float, float]
) -> tuple[Array, Array, float]:
    """log p and the ratio e/p (or f/p) of every half bin, and the largest error of a loss."""
    half = c + (start + np.arange(2 * count - 1) / 2) * dt
    edges = np.maximum.accumulate(np.clip(step.inverse_loss(half), *ends))
    edges[0], edges[-1] = ends
    left, width, owner = panels(step, edges)
    log_p, part = np.full(2 * count - 2, -np.inf), np.zeros(2 * count - 2)
    if not left.size:
        return log_p, part, 0.0
    spread = width * (np.maximum(step.roughness(left), step.roughness(left + width)) + 2)
    sizes = np.select([spread <= _TWO_NODES, spread <= _THREE_NODES, spread <= _FIVE_NODES], [2, 3, 5], 10)
    sign = 1.0 - 2.0 * (owner & 1)  # right halves are even
    point = c + (start + (owner + 1) // 2) * dt
    log_m, share = np.empty(left.size), np.empty(left.size)
    # the error of a loss changes slowly with x: a few hundred places and half as much again bound it
    sample = left[:: max(left.size // 256, 1)]
    kappa = 1.5 * float(np.max(step.error(np.concatenate((sample, left[-1:] + width[-1:])))))
    for n in (2, 3, 5, 10):
        chosen = np.flatnonzero(sizes == n)
        if not chosen.size:
            continue
        x, w = LEGENDRE[n]
        wide, s = width[chosen], sign[chosen, None]
        at = left[chosen, None] + wide[:, None] * ((1 + x) / 2)
        loss = step.loss(at)
        log_f = step.log_p0(at)
        log_f += loss
        loss -= point[chosen, None]
        loss *= s
        d = np.clip(loss, 0.0, dt / 2, out=loss)
        peak = log_f[:, n // 2].copy()
        log_f -= peak[:, None]
        f = np.exp(log_f, out=log_f)
        total = f @ w
        d *= -s
        np.expm1(d, out=d)
        np.abs(d, out=d)
        d *= f
        share[chosen] = (d @ w) / total
        log_m[chosen] = peak + np.log(total * (wide / 2))
    first = np.flatnonzero(np.concatenate(([True], owner[1:] != owner[:-1])))
    if first.size == owner.size:
        log_p[owner], part[owner] = log_m, share
    else:  # several panels in one half bin
        log_p[owner[first]] = np.logaddexp.reduceat(log_m, first)
        part[owner[first]] = np.add.reduceat(share * np.exp(log_m - log_p[owner]), first)
    return log_p, part, kappa


def discretise(
    step: Step, dt: float, c: float, reach: tuple[float, float], decided: bool = False, rounded: bool = False
) -> Lattice:
    """Both sides of ``step`` on c + ℤ·dt, the continuous part cut off at (or just outside) ``reach`` in x.

    ``decided`` says that a loss above the cut-off decides the test whatever else is seen. ``rounded`` moves every atom
    to the nearest point, by an error of its loss that kappa carries, instead of spreading and merging it.
    """
    atoms = step.atoms
    continuous = step.support is not None and reach[1] > reach[0]
    ends = step.loss(np.asarray(reach, dtype=float)) if continuous else np.zeros(0)
    where = (np.concatenate((atoms.loss, ends)) - c) / dt
    nearest = np.rint(where)
    near = 1.0 if rounded else _SNAP_DISTANCE
    snapped = np.where(np.abs(where - nearest) < near, nearest, where)
    start, stop = (math.floor(snapped.min()), math.ceil(snapped.max())) if where.size else (0, 0)
    if stop == start:
        start, stop = start - 1, stop + 1
    count = stop - start + 1
    kappa, rho = 4 * ROUNDOFF * (abs(c) + dt * max(abs(start), abs(stop))), 2e-14 + step.rho
    log_h, part = np.full(2 * count - 2, -np.inf), np.zeros(2 * count - 2)
    points = np.full(count, -np.inf)
    only0, only1 = atoms.only0, atoms.only1
    exact = not continuous
    beyond: list[tuple[int, float]] = []
    p_above = q_above = -math.inf
    if step.support is not None and continuous:
        low, high = (float(v) for v in np.clip(step.inverse_loss(c + np.array([start, stop]) * dt), *step.support))
        # where the lattice begins below the infimum of the loss there is no such place
        low = min(low, reach[0]) if math.isfinite(low) else reach[0]
        high = max(high, reach[1]) if math.isfinite(high) else reach[1]
        # and where it is far coarser than the step's loss, its points lie far beyond anything that happens
        low, high = max(low, reach[0] - _FARTHEST), min(high, reach[1] + _FARTHEST)
        log_h, part, worst = _halves(step, c, dt, start, count, (low, high))
        kappa += worst
        # What lies beyond is spread on a lattice point and infinity: above, its H1-mass goes to +∞ and its H0-mass
        # stays, which matters only to the other order; below likewise with the laws exchanged.
        cut = (step.loss(np.array([low, high])) - c) / dt
        (p_above, q_above), (p_below, q_below) = step.above(high), step.below(low)
        last = min(max(math.floor(cut[1] + _SNAP_DISTANCE), start), stop)
        first = min(max(math.ceil(cut[0] - _SNAP_DISTANCE), start), stop)
        beyond = [(last - start, q_above + c + last * dt), (first - start, p_below)]
        only1 += math.exp(p_above)
        only0 += math.exp(q_below)
        rho = step.rho + 1e-13 + 16 * ROUNDOFF * max(*(-v for v in (p_above, q_below) if math.isfinite(v)), 1.0, 1.0)
    if atoms.loss.size:
        exact = _place_atoms(atoms, c, dt, start, count, points, log_h, part, near) and exact
        off = np.abs(snapped - where)[: atoms.loss.size].max()
        kappa += float(off) * dt + 8 * ROUNDOFF * float(np.abs(atoms.loss).max())
        rho += 8 * ROUNDOFF * float(np.abs(atoms.log_p).max())
    spread = _spread(points, log_h, part, dt)
    backward, forward = (_add_mass(spread, *one) for one in beyond) if beyond else (spread, spread)
    upper = LatticeSide(start, forward, only0, only1)
    back = LatticeSide(start, backward, only0, only1).reverse(c, dt)
    if exact and rounded:  # a loss that is moved says nothing of H0's mass
        on = nearest.astype(int) - start
        masses = np.full(count, -np.inf)
        np.logaddexp.at(masses, on, atoms.log_p - atoms.loss)
        back = replace(back, log_p=masses[::-1])
    if exact:
        return Lattice(c, dt, upper, upper, back, back, kappa, rho, True)
    merged, aligned = _merge(points, log_h, part, dt)
    backed = LatticeSide(start, merged, 0.0, 0.0).reverse(c, dt).log_p
    if not aligned:
        backed = _merge(*_exchanged_halves(points, log_h, part, c + start * dt, dt), dt)[0]
    # What lies beyond is dropped, or, where it was cut off for deciding the test alone, counts as +∞ from below too:
    # the mass of H0 there is charged later.
    top, leak = (math.exp(p_above), math.exp(q_above)) if decided else (0.0, 0.0)
    merged, backed = _or_no_claim(merged, c + start * dt, dt), _or_no_claim(backed, -(c + stop * dt), dt)
    lower = LatticeSide(start, merged, atoms.only0, atoms.only1 + top, leak)
    lower_back = LatticeSide(-stop, backed, atoms.only1, atoms.only0)
    return Lattice(c, dt, upper, lower, back, lower_back, kappa, rho, False)


def _or_no_claim(log_p: Array, first: float, dt: float) -> Array:
    """The masses; where none could be claimed, all of it at a loss of at most 0: a release that says nothing."""
    if np.isfinite(log_p).any():
        return log_p
    out = log_p.copy()
    if first > 0:  # there is no such point: next to no mass
        out[0] = -740.0
    else:
        out[min(math.floor(-first / dt), out.size - 1)] = 0.0
    return out


def _exchanged_halves(points: Array, log_h: Array, part: Array, first: float, dt: float) -> tuple[Array, Array, Array]:
    """The same half bins with the laws exchanged: q = (p − e)e^{−g} right of a point, (p + f)e^{−g} left of it."""
    g = first + np.arange(points.size) * dt
    q, ratio = np.empty(log_h.size), np.empty(log_h.size)
    with np.errstate(divide="ignore"):
        q[0::2], q[1::2] = log_h[0::2] + np.log1p(-part[0::2]) - g[:-1], log_h[1::2] + np.log1p(part[1::2]) - g[1:]
    ratio[0::2], ratio[1::2] = part[0::2] / (1 - part[0::2]), part[1::2] / (1 + part[1::2])
    return (points - g)[::-1], q[::-1], ratio[::-1]


def _add_mass(log_p: Array, index: int, log_mass: float) -> Array:
    out = log_p.copy()
    out[index] = np.logaddexp(out[index], log_mass)
    return out


def _place_atoms(
    atoms: Atoms, c: float, dt: float, start: int, count: int, points: Array, log_h: Array, part: Array, near: float
) -> bool:
    """Atoms on their lattice point, or inside the half bin that holds them; true if all lie on the lattice."""
    where = (atoms.loss - c) / dt - start
    nearest = np.rint(where)
    on = np.abs(where - nearest) < near
    np.logaddexp.at(points, np.clip(nearest[on], 0, count - 1).astype(int), atoms.log_p[on])
    if not on.all():
        place, mass = where[~on], atoms.log_p[~on]
        halves = np.clip(np.floor(2 * place), 0, log_h.size - 1).astype(int)
        order = np.argsort(halves, kind="stable")
        halves, place, mass = halves[order], place[order], mass[order]
        sign = np.where(halves % 2, -1.0, 1.0)
        d = np.clip(sign * (place - (halves + 1) // 2) * dt, 0.0, dt / 2)
        first = np.flatnonzero(np.append(True, np.diff(halves) > 0))
        at = halves[first]
        joint = np.logaddexp(log_h[at], np.logaddexp.reduceat(mass, first))
        share = np.exp(mass - np.repeat(joint, np.diff(np.append(first, mass.size))))
        part[at] = part[at] * np.exp(log_h[at] - joint) + np.add.reduceat(np.abs(np.expm1(-sign * d)) * share, first)
        log_h[at] = joint
    return bool(on.all())


def _spread(points: Array, log_h: Array, part: Array, dt: float) -> Array:
    """Pessimistic: e/(1−e^{−dt}) of the right half goes one up, f/(e^{dt}−1) of the left half one down."""
    right, left = log_h[0::2], log_h[1::2]  # right of point i; left of point i+1
    to_up = np.minimum(part[0::2] / -math.expm1(-dt), 1.0)
    to_down = np.minimum(part[1::2] / math.expm1(dt), 1.0)
    with np.errstate(divide="ignore"):
        low = np.logaddexp(right + np.log1p(-to_up), left + np.log(to_down))
        high = np.logaddexp(right + np.log(to_up), left + np.log1p(-to_down))
    total = points.copy()
    total[:-1] = np.logaddexp(total[:-1], low)
    total[1:] = np.logaddexp(total[1:], high)
    return total


def _merge(points: Array, log_h: Array, part: Array, dt: float) -> tuple[Array, bool]:
    """Optimistic: the kinks of a polygon below the profile (sheet §2), as log masses; −∞ where there is none.

    Also whether both laws kept their mass at the ends, so that the same serves the other order.

    With d = t·q − p the misfit of a merged bin, a positive d takes d/(1−e^{−dt}) from the point above, a negative one
    −d/(e^{dt}−1) from the point below.
    """
    n = points.size
    right, left = np.full(n, -np.inf), np.full(n, -np.inf)
    e, f = np.zeros(n), np.zeros(n)
    right[:-1], left[1:] = log_h[0::2], log_h[1::2]
    e[:-1], f[1:] = part[0::2], part[1::2]
    # in units of the largest mass nearby, so that tails keep their digits
    here = np.maximum(np.maximum(right, left), points)
    unit = here.copy()
    unit[1:] = np.maximum(unit[1:], here[:-1])
    unit[:-1] = np.maximum(unit[:-1], here[1:])
    unit = np.where(np.isfinite(unit), unit, 0.0)
    p_right, p_left, p_atom = (np.exp(v - unit) for v in (right, left, points))
    p, d = p_right + p_left + p_atom, p_left * f - p_right * e
    hair = (d < 0) & (-d <= _DROPPED_SHARE * p)  # H1 has a little too much: without it the point is aligned
    p, d = np.where(hair, p + d, p), np.where(hair, 0.0, d)
    live = np.flatnonzero(p > 0)
    if live.size == 0:
        return np.full(n, -np.inf), True
    _align_edge(p, d, p_atom, (p_right, p_right * e), unit, dt, int(live[0]), 1)
    _align_edge(p, d, p_atom, (p_left, -p_left * f), unit, dt, int(live[-1]), -1)
    aligned = _round_down(p, d, unit, dt) and not bool(hair.any())
    plus, minus = np.maximum(d, 0) / -math.expm1(-dt), np.maximum(-d, 0) / math.expm1(dt)
    jump = np.diff(unit)
    if ((plus[:-1] > 0) & (jump < -_LARGEST_EXPONENT)).any() or ((minus[1:] > 0) & (jump > _LARGEST_EXPONENT)).any():
        return np.full(n, -np.inf), False  # too coarse to claim anything
    step_up = np.exp(np.clip(jump, -_LARGEST_EXPONENT, _LARGEST_EXPONENT))  # one unit of i+1 in units of i
    taken = np.zeros(n)
    taken[1:] += plus[:-1] / step_up
    taken[:-1] += minus[1:] * step_up
    given = p + plus + minus
    kinks = given - taken
    if (kinks < 0).any():
        kinks, inside = _hull(kinks, unit, dt)
        aligned = aligned and inside
    kinks = np.maximum(kinks - 64 * ROUNDOFF * (given + taken), 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(kinks) + unit), aligned


def _round_down(p: Array, d: Array, unit: Array, dt: float) -> bool:
    """Where an end still cannot be aligned, lower its loss to a lattice point; true if that was not needed."""
    live = np.flatnonzero(p > 0)
    first, last = int(live[0]), int(live[-1])
    aligned = True
    if d[last] > 0:
        down = min(math.floor(-math.log1p(d[last] / p[last]) / dt), -1)
        mass, p[last], d[last] = p[last], 0.0, 0.0
        if last + down >= 0:
            p[last + down] += mass * math.exp(min(max(unit[last] - unit[last + down], -700.0), 700.0))
        first = min(first, max(last + down, 0))
        aligned = False
    if d[first] < 0:
        d[first], aligned = 0.0, False
    return aligned


def _align_edge(
    p: Array, d: Array, p_atom: Array, half: tuple[Array, Array], unit: Array, dt: float, edge: int, way: int
) -> None:
    """Merge an end of the law inwards (``way`` +1 from below, −1 from above) until its bin can be aligned.

    The lowest point must not need mass from below (d ≥ 0), the highest none from above (d ≤ 0), nor may the next point
    need more of it than it has. An atom at the very edge stays and gives only its half bin.
    """
    grow = math.exp(way * dt)  # t of the next point over t of this one
    ahead, back = abs(math.expm1(way * dt)), abs(math.expm1(-way * dt))
    # an end may take in most of the law: plain numbers, read from a view, are several times faster than an array's
    masses, misfits, units = _memory(p), _memory(d), _memory(unit)
    mass, misfit, here = masses[edge], misfits[edge], units[edge]
    i = edge
    while 0 <= i + way < len(masses):
        j = i + way
        there = units[j]
        shrink = math.exp(min(max(here - there, -700.0), 700.0))
        need = max(-way * misfits[j], 0.0) / ahead / shrink
        if way * misfit >= 0 and need <= mass + way * misfit / back:
            break
        p_next, d_next = masses[j], misfits[j]
        if i == edge and p_atom[i] > 0 and way * misfit < 0 and need <= p_atom[i]:
            moved, missing = float(half[0][i]), -float(half[1][i])  # t·q − p of the half bin about this point
            p_next += moved * shrink
            d_next += (grow * (moved + missing) - moved) * shrink
            mass, misfit = float(p_atom[i]), 0.0
            if max(-way * d_next, 0.0) / ahead / shrink <= mass:
                masses[j], misfits[j] = p_next, d_next
                break
        d_next += (grow * (mass + misfit) - mass) * shrink
        p_next += mass * shrink
        masses[i] = misfits[i] = 0.0
        mass, misfit, here, i = p_next, d_next, there, j
    masses[i], misfits[i] = mass, misfit


def _memory(values: Memory) -> Memory:
    return memoryview(values)


def _hull(kinks: Array, unit: Array, dt: float) -> tuple[Array, bool]:
    """Remove concave kinks: a negative one is split on its nearest live neighbours, until none is left.

    The polygon through the remaining kinks is the lower convex hull, still below the profile. A negative kink at the
    bottom moves up to its neighbour, which lowers the profile. One at the top would make the profile negative there:
    what is left of it crosses 0 further down, and its kink is moved down from there. Also true if no end was touched.
    """
    v, n = kinks.copy(), kinks.size
    alive = v != 0
    pending = np.flatnonzero(v < 0).tolist()

    def scaled(i: int, j: int) -> float:
        return math.exp(max(unit[i] - unit[j], -_LARGEST_EXPONENT))

    try:
        with np.errstate(over="raise", invalid="raise"):
            return _hull_kinks(v, alive, pending, _neighbours(alive), scaled, dt)
    except (OverflowError, FloatingPointError):  # masses too unlike to be leant on each other: claim nothing
        return np.zeros(n), False


def _hull_kinks(
    v: Array, alive: Mask, negative: list[int], near: tuple[Memory, Memory], scaled: KinkScale, dt: float
) -> tuple[Array, bool]:
    before, after = near
    inside, n, eaten = True, v.size, 0
    left = _MOST_REMOVED_KINKS + 20 * len(negative)
    while negative:
        i = negative.pop()
        left -= 1
        if left < 0:  # a chord over so many points: the lattice is too coarse
            raise OverflowError
        if not (v[i] < 0 and alive[i]):
            continue
        a, b = before[i], after[i]
        mass = v[i]
        alive[i], v[i] = False, 0.0
        if a >= 0:
            after[a] = b
        if b < n:
            before[b] = a
        inside = inside and a >= 0 and b < n
        if b < n:
            up = math.expm1(-(i - a) * dt) / math.expm1(-(b - a) * dt) if a >= 0 else 1.0
            for j, share in ((a, 1 - up), (b, up)):
                if share > 0:
                    v[j] += mass * share * scaled(i, j)
                    if v[j] < 0:
                        negative.append(j)
            continue
        eaten += 1
        if eaten > _MOST_LOST_KINKS:
            raise OverflowError
        # Down from the top, the profile is h = up − t·slope (in units of point i) once these kinks are passed; it
        # leaves 0 at the first crossing above the next kink.
        up, slope, down = mass, mass, -1
        while a >= 0:
            part = v[a] * scaled(a, i)
            up, slope = up + part, slope + part * math.exp((i - a) * dt)
            alive[a], v[a] = False, 0.0
            a = before[a]
            if up > 0 and slope > 0:
                down = i + math.floor(math.log(up / slope) / dt)
                if down >= a:
                    break
        above = n  # of all beyond a only the moved kink is left
        if up > 0 and down >= 0:
            v[down] += up * scaled(i, down)
            alive[down] = True
            if v[down] < 0:
                negative.append(down)
            if down > a:
                above, before[down], after[down] = down, a, n
        if a >= 0:
            after[a] = above
    return v, inside


def _neighbours(alive: Mask) -> tuple[Memory, Memory]:
    """The nearest live point below and above each point; −1 and n where there is none."""
    n = alive.size
    index = np.arange(n)
    last = np.maximum.accumulate(np.where(alive, index, -1))
    coming = np.minimum.accumulate(np.where(alive, index, n)[::-1])[::-1]
    return _memory(np.concatenate(([-1], last[:-1]))), _memory(np.concatenate((coming[1:], [n])))
