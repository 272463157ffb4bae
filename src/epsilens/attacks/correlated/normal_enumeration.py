"""All n·2^{n−1} adversaries of jointly normal records, one after another, each in constant time on average.

Records are decided in order, known or unknown, depth first. Along the way v = Cov(S, x_i|K), d = Var(x_i|K), q =
Var(S|K) and the covariances with undecided records are kept; making a record known is one rank-one downdate, leaving
it unknown costs nothing. At a leaf every i ∉ K is an adversary with β = v_i/d_i and σ₀² = q − v_i²/d_i.

Without numba whole layers are taken at once, by the set A = K ∪ {i}: the regression of S on A has the β of all its
members, and what it leaves is the σ₀² of them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from ...checks import Array
from .normal_problem import AnswerShift, Ints, Problem, WorstNormal
from .records import Progress


@lru_cache(maxsize=1)
def numba_available() -> bool:
    """Whether numba can be imported (without importing it, which takes half a second)."""
    return find_spec("numba") is not None


@lru_cache(maxsize=16)
def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function compiled, from numba's disk cache after the first time; itself where numba is missing.

    numba writes next to the source, or to the user's cache directory where that is read-only. Where neither can be
    written it refuses to cache: then the function is compiled for this process only.
    """
    if not numba_available():
        return function
    numba = import_module("numba")
    try:
        made = numba.njit(cache=True, fastmath={"reassoc", "contract", "nsz"})(function)
    except RuntimeError:
        made = numba.njit(cache=False, fastmath={"reassoc", "contract", "nsz"})(function)
    return made  # type: ignore[no-any-return]


#: Beyond this, enumeration takes minutes even when compiled.
LARGEST = 25
#: Below this numpy takes a second at most: less than compiling takes the first time.
_COMPILE_FROM = 21
_BATCH = 13  # records of which all subsets are taken at once: what belongs to them stays in the cache
_BUCKETS = 4096
_EXTENDED = 14
_MOST_FRONT = 200_000

LEAKAGE, PSI, FRONT = 0, 1, 2


def adversary_count(n: int) -> int:
    """How many adversaries there are: a target and any subset of the others."""
    return n << (n - 1)


def forecast_seconds(n: int, *, compile: bool | None = None) -> float:
    """A rough forecast of the time that an enumeration takes."""
    return adversary_count(n) * (1e-8 if _compile(n, compile) else 5e-8)


def _compile(n: int, choice: bool | None) -> bool:
    return numba_available() and n >= _COMPILE_FROM if choice is None else choice


def uses_extended_precision(problem: Problem) -> bool:
    """Whether the search runs in extended precision: few records, badly conditioned."""
    return problem.n <= _EXTENDED and problem.condition > 1e6


class _State(NamedTuple):
    """Records up to ``start`` are decided: ``ids`` are those not known, of which the first ``unknown`` are decided."""

    v: Array
    d: Array
    g: Array  # one row per undecided record, one column per id
    q: Any
    ids: Ints
    unknown: int
    mask: int


def _start(problem: Problem) -> _State:
    a, cov = problem.weights, problem.cov
    return _State(cov @ a, np.diag(cov).copy(), cov.copy(), a @ cov @ a, np.arange(problem.n), 0, 0)


def _conditioned(s: _State, record: int) -> _State:
    """The next record is known: everything is conditioned on it."""
    p = s.unknown
    keep = np.delete(np.arange(s.ids.size), p)
    column = s.g[0, keep] / s.d[p]
    return _State(
        s.v[keep] - column * s.v[p],
        s.d[keep] - column * s.g[0, keep],
        s.g[1:, keep] - s.g[1:, p, None] * column,
        s.q - s.v[p] ** 2 / s.d[p],
        s.ids[keep],
        p,
        s.mask | 1 << record,
    )


def _prefixes(problem: Problem, depth: int) -> Iterator[_State]:
    """The states after the first ``depth`` records, in every combination."""
    stack = [(_start(problem), 0)]
    while stack:
        state, t = stack.pop()
        if t == depth:
            yield state
            continue
        stack.append((_conditioned(state, t), t + 1))
        stack.append((state._replace(g=state.g[1:], unknown=state.unknown + 1), t + 1))


class ParetoFront:
    """Adversaries none of which is beaten in both shift and own randomness, sorted by own variance.

    ``reached`` holds, per interval of own variance, the largest shift² already seen with less own variance, and
    ``held`` one adversary (own variance, shift²) of the interval itself: what both beat is not looked at again.
    """

    def __init__(self, variance: float) -> None:
        self.own2, self.shift2 = np.empty(0), np.empty(0)
        self.target, self.mask = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        self.reached = np.full(_BUCKETS + 2, -1.0)
        self.held = np.full((2, _BUCKETS + 2), -1.0)
        self.per_bucket = _BUCKETS / max(variance, 1e-300) / (1 + 1e-6)

    def add(self, own2: Array, shift2: Array, target: Ints, mask: Ints) -> None:
        """Merge candidates: in order of own variance only those stay that set a new record of shift."""
        own2, shift2 = np.concatenate((self.own2, own2)), np.concatenate((self.shift2, shift2))
        target, mask = np.concatenate((self.target, target)), np.concatenate((self.mask, mask))
        order = np.lexsort((-shift2, own2))
        record = np.maximum.accumulate(shift2[order])
        new = np.concatenate(([True], record[1:] > record[:-1])) if record.size else np.empty(0, dtype=bool)
        kept = order[new]
        self.own2, self.shift2, self.target, self.mask = own2[kept], shift2[kept], target[kept], mask[kept]
        place = np.minimum((self.own2 * self.per_bucket).astype(np.int64), _BUCKETS)
        best = np.full(_BUCKETS + 2, -1.0)
        best[place + 1] = self.shift2  # sorted by shift within a place: the last, largest, stays
        self.reached = np.maximum.accumulate(best)
        self.held[0, place], self.held[1, place] = self.own2, self.shift2

    def adversaries(self, problem: Problem) -> list[tuple[int, tuple[int, ...], AnswerShift]]:
        """(target, known, what they see), read again precisely; with those who know all but the target, for whom
        rounding may have left a trace of own randomness.
        """
        everyone = (1 << problem.n) - 1
        who = {(int(t), int(m)) for t, m in zip(self.target, self.mask, strict=True)}
        who |= {(i, everyone & ~(1 << i)) for i in range(problem.n)}
        read = [(t, _members(m), problem.adversary(t, _members(m))) for t, m in who]
        out: list[tuple[int, tuple[int, ...], AnswerShift]] = []
        for found in sorted(read, key=lambda r: (r[2].own, -r[2].shift, r[0])):
            if not out or found[2].shift > out[-1][2].shift:
                out.append(found)
        return out


def _members(mask: int) -> tuple[int, ...]:
    return tuple(j for j in range(mask.bit_length()) if mask >> j & 1)


class _Query(NamedTuple):
    """What is sought among n records: LEAKAGE, PSI (with the noise's ``variance``) or FRONT."""

    n: int
    mode: int
    variance: float
    trace: float


class _Best(NamedTuple):
    """The largest value met so far, squared, and whose it is, by number of known records."""

    value: Array
    target: Ints
    mask: Ints


class _FrontBuffers(NamedTuple):
    """Candidates for the front, ``found`` (own variance, shift²) of ``found_ids`` (target, known), and what of the
    front they must beat.
    """

    found: Array
    found_ids: Ints
    reached: Array
    held: Array
    per_bucket: float


def _depth_first(state: _State, asked: _Query, so_far: _Best, kept: _FrontBuffers) -> int:
    """Depth first over the records still open; compiled. How many candidates for the front there were."""
    v0, d0, g0, q0, ids0, unknown0, mask0 = state
    n, mode, variance, trace = asked
    best, target, mask = so_far
    found, found_ids, reached, held, per_bucket = kept
    start = n - g0.shape[0]
    open_, rows = n - start, v0.size
    v, d = np.empty((open_ + 1, rows)), np.empty((open_ + 1, rows))
    g = np.empty((open_ + 1, max(open_, 1), rows))
    ids, q = np.empty((open_ + 1, rows), dtype=np.int64), np.empty(open_ + 1)
    v[0], d[0], ids[0], q[0] = v0, d0, ids0, q0
    g[0, :open_] = g0
    stage, unknown = np.zeros(open_ + 2, dtype=np.int64), np.zeros(open_ + 2, dtype=np.int64)
    masks = np.zeros(open_ + 2, dtype=np.int64)
    unknown[0], masks[0] = unknown0, mask0
    depth, level, size, count = 0, 0, rows, 0  # level: how many were made known on this path
    while depth >= 0:
        if depth == open_:
            k, top = n - size, 0.0
            vv, dd = v[level], d[level]
            if mode == 0:
                bar = best[k]
                for r in range(size):
                    top = max(top, vv[r] * vv[r] - bar * dd[r] * dd[r])
                if top > 0:
                    for r in range(size):
                        value = (vv[r] / dd[r]) ** 2
                        if value > best[k]:
                            best[k], target[k], mask[k] = value, ids[level, r], masks[depth]
            elif mode == 1:
                bar, total = best[k], variance + q[level]
                for r in range(size):
                    top = max(top, vv[r] * vv[r] - bar * dd[r] * (dd[r] * total - vv[r] * vv[r]))
                if top > 0:
                    for r in range(size):
                        own2 = max(q[level] - vv[r] * vv[r] / dd[r], trace)
                        value = (vv[r] / dd[r]) ** 2 / (variance + own2)
                        if value > best[k]:
                            best[k], target[k], mask[k] = value, ids[level, r], masks[depth]
            else:
                for r in range(size):
                    own2 = max(q[level] - vv[r] * vv[r] / dd[r], 0.0)
                    shift2 = (vv[r] / dd[r]) ** 2
                    place = int(own2 * per_bucket)
                    if shift2 <= reached[place] or (shift2 <= held[1, place] and own2 >= held[0, place]):
                        continue
                    if count < found.shape[1]:
                        found[0, count], found[1, count] = own2, shift2
                        found_ids[0, count], found_ids[1, count] = ids[level, r], masks[depth]
                    count += 1
                    if shift2 > held[1, place]:
                        held[0, place], held[1, place] = own2, shift2
                    later = place + 1
                    while later < reached.size and reached[later] < shift2:
                        reached[later] = shift2
                        later += 1
            depth -= 1
        elif stage[depth] == 0:
            stage[depth] = 1
            stage[depth + 1], unknown[depth + 1], masks[depth + 1] = 0, unknown[depth] + 1, masks[depth]
            depth += 1
        elif stage[depth] == 1:
            stage[depth] = 2
            p, new = unknown[depth], level + 1
            vp, dp = v[level, p] / d[level, p], 1 / d[level, p]
            for r in range(p):
                c = g[level, depth, r]
                v[new, r], d[new, r], ids[new, r] = v[level, r] - c * vp, d[level, r] - c * c * dp, ids[level, r]
            for r in range(p, size - 1):
                c = g[level, depth, r + 1]
                v[new, r] = v[level, r + 1] - c * vp
                d[new, r] = d[level, r + 1] - c * c * dp
                ids[new, r] = ids[level, r + 1]
            for column in range(depth + 1, open_):
                f = g[level, column, p] * dp
                for r in range(p):
                    g[new, column, r] = g[level, column, r] - g[level, depth, r] * f
                for r in range(p, size - 1):
                    g[new, column, r] = g[level, column, r + 1] - g[level, depth, r + 1] * f
            q[new] = q[level] - v[level, p] * vp
            level, size = new, size - 1
            stage[depth + 1], unknown[depth + 1] = 0, p
            masks[depth + 1] = masks[depth] | (1 << (start + depth))
            depth += 1
        else:
            # back from the known branch: the level above holds the record again
            level, size = level - 1, size + 1
            depth -= 1
    return count


class _Sets(NamedTuple):
    """Sets A of records that are seen, along the last axis: every subset of the first ones, and ``mask`` of the others.

    ``w`` has one row per open record and a last one for S; one column per record: coefficients of the regression on A
    where it is in A, 0 where it is decided and is not, covariances given A where it is open. ``q`` is Var(S|A).
    """

    w: Array
    q: Array
    decided: int
    inside: int
    mask: int


def _initial_sets(problem: Problem, decided: int, kind: Any) -> _Sets:
    """Every subset of the first records, all at once: those with a record are written beyond those without."""
    n, every = problem.n, 1 << decided
    a, cov = problem.weights.astype(kind), problem.cov.astype(kind)
    w, q = np.empty((n + 1, n, every), kind), np.empty(every, kind)
    w[:n, :, 0], w[n, :, 0], q[0] = cov, cov @ a, a @ cov @ a
    for t in range(decided):
        m = 1 << t
        here, later, without, joined = w[t, :, :m], w[t + 1 :], slice(0, m), slice(m, 2 * m)
        share = later[:, t, without] / here[t]
        q[joined] = q[without] - later[-1, t, without] * share[-1]
        new = np.multiply(here, share[:, None], out=later[..., joined])
        np.subtract(later[..., without], new, out=new)
        later[:, t, joined], later[:, t, without] = share, 0.0
    return _Sets(w[decided:], q, decided, 0, 0)


def _remaining_sets(sets: _Sets, n: int) -> Iterator[_Sets]:
    """Depth first over the records still open, with and without each."""
    kind, width, first = sets.w.dtype, sets.q.size, sets.decided
    rooms = [np.empty((n - t, n, width), kind) for t in range(first, n)]  # of what joined at t; free by the next time
    stack = [sets]
    while stack:
        s = stack.pop()
        t = s.decided
        if t == n:
            yield s
            continue
        here, later = s.w[0], s.w[1:]
        share = later[:, t] / here[t]
        new = np.multiply(here, share[:, None], out=rooms[t - first])
        np.subtract(later, new, out=new)
        new[:, t] = share
        q = s.q - later[-1, t] * share[-1]
        later[:, t] = 0.0
        stack.append(s._replace(w=later, decided=t + 1))
        stack.append(_Sets(new, q, t + 1, s.inside + 1, s.mask | 1 << t))


def _scan_sets(sets: _Sets, asked: _Query, so_far: _Best, front: ParetoFront) -> None:
    """Adversaries without numba, by what they see, A = K ∪ {i}.

    β of every (i, A∖i) is a coefficient of the regression of S on A, and Var(S|A) the own randomness of them all.
    """
    n, mode, variance, trace = asked
    best, target, mask = so_far
    inside, shift = sets.inside, np.abs(sets.w[0], out=sets.w[0])
    top = shift.max(axis=0)  # beyond A the coefficients are 0
    value, own2 = np.multiply(top, top, out=top), np.maximum(sets.q, 0.0) if mode != LEAKAGE else sets.q

    def whose(c: Ints) -> tuple[Ints, Ints]:
        """The target of each set, its largest coefficient, and who else is in it."""
        members = sets.mask | c
        who = np.argmax(np.where(members >> np.arange(n)[:, None] & 1 == 1, shift[:, c], -1.0), axis=0)
        return who, members & ~(1 << who)

    if mode == FRONT:
        place = np.minimum((own2 * front.per_bucket).astype(np.int64), _BUCKETS)
        ahead = value > front.reached[place]
        ahead[0] &= inside > 0
        c = np.flatnonzero(ahead)
        if c.size:
            front.add(own2[c].astype(float), value[c].astype(float), *whose(c))
        return
    if mode == PSI:
        value = value / (variance + np.maximum(own2, trace))
    columns, firsts = _subsets_by_size(value.size.bit_length() - 1)
    value = value[columns]
    most = np.maximum.reduceat(value, firsts[:-1])
    first = 0 if inside else 1  # of nobody there is no target
    larger = np.flatnonzero(most[first:] > best[inside + first - 1 : inside + most.size - 1]) + first
    if larger.size:
        c = columns[[firsts[more] + int(value[firsts[more] : firsts[more + 1]].argmax()) for more in larger]]
        k = inside + larger - 1
        best[k], (target[k], mask[k]) = most[larger], whose(c)


@lru_cache(maxsize=4)
def _subsets_by_size(records: int) -> tuple[Ints, Ints]:
    """The subsets of so many records, as bits, ordered by their size, and where each size begins."""
    size = np.zeros(1, dtype=np.int64)
    for _ in range(records):
        size = np.concatenate((size, size + 1))
    return np.argsort(size, kind="stable"), np.concatenate(([0], np.cumsum(np.bincount(size))))


def _run(
    problem: Problem, mode: int, sigma: float | None, progress: Progress | None, choice: bool | None
) -> tuple[_Best, ParetoFront | None]:
    """The best by number of known records and the front; None for it if there is no room."""
    n, fast = problem.n, _compile(problem.n, choice)
    # the last place is for "all known", where nobody is left to ask about
    best = _Best(np.full(n + 1, -1.0), np.zeros(n + 1, dtype=np.int64), np.zeros(n + 1, dtype=np.int64))
    front = ParetoFront(problem.variance)
    asked = _Query(n, mode, 0.0 if sigma is None else sigma * sigma, problem.trace)
    depth = min(4, n - 1) if fast else max(n - _BATCH, 0)
    room = _MOST_FRONT if mode == FRONT else 1
    found, found_ids = np.empty((2, room)), np.empty((2, room), dtype=np.int64)
    parts: Iterator[_State | _Sets] = (
        _prefixes(problem, depth)
        if fast
        else _remaining_sets(
            _initial_sets(problem, n - depth, np.longdouble if uses_extended_precision(problem) else float), n
        )
    )
    for done, part in enumerate(parts):
        if progress is not None:
            progress(done / 2**depth, f"{adversary_count(n):,} adversaries")
        if isinstance(part, _Sets):
            _scan_sets(part, asked, best, front)
            continue
        kept = _FrontBuffers(found, found_ids, front.reached, front.held, front.per_bucket)
        size = jit(_depth_first)(part._replace(g=np.ascontiguousarray(part.g)), asked, best, kept)
        if size > room:
            return best, None
        if mode == FRONT:
            front.add(found[0, :size], found[1, :size], found_ids[0, :size], found_ids[1, :size])
    if progress is not None:
        progress(1.0, f"{adversary_count(n):,} adversaries")
    return best, front


def enumerate_adversaries(
    problem: Problem, sigma: float | None = None, *, progress: Progress | None = None, compile: bool | None = None
) -> list[WorstNormal]:
    """The worst adversary for each number of known records, 0 to n − 1."""
    best, _ = _run(problem, LEAKAGE if sigma is None else PSI, sigma, progress, compile)
    out = []
    pairs = [(int(best.target[k]), _members(int(best.mask[k]))) for k in range(problem.n)]
    for k, ((who, known), value) in enumerate(zip(pairs, problem.values(pairs, sigma), strict=True)):  # read precisely
        strongest = None if sigma is None else problem.strongest(k)
        if strongest is not None and problem.value(*strongest, sigma) > value:
            (who, known), value = strongest, problem.value(*strongest, sigma)
        out.append(WorstNormal(value, who, known, value, adversary_count(problem.n)))
    return out


def pareto_front(
    problem: Problem, *, progress: Progress | None = None, compile: bool | None = None
) -> list[tuple[int, tuple[int, ...], AnswerShift]] | None:
    """Every adversary that no other beats in both shift and own randomness; None if there is no room."""
    _, made = _run(problem, FRONT, None, progress, compile)
    return None if made is None else made.adversaries(problem)
