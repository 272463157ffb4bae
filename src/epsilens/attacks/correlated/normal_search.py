"""The worst adversary of jointly normal records: by closed form, enumeration, or branch and bound.

Branch and bound runs over what the adversary knows, for more records than can be enumerated, with a proven bound.
What is known of all sets between two is Theorem D67 of docs/proofs/dominating-pairs.md. Putting one record in U₀, or
taking one out of U₁, changes (c, p, g) by a rank-one term, so the bounds of both children of a free record cost O(1).
"""

from __future__ import annotations

import heapq
import math
import time
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ...checks import Array
from ...errors import InputError
from . import normal_enumeration as enumeration
from .normal_enumeration import jit, numba_available
from .normal_problem import Ints, Mask, Problem, WorstNormal, closed_form
from .records import Progress

FREE, UNKNOWN, KNOWN = 0, 1, 2
#: Nodes whose bound exceeds the best by less than this share are closed: rounding.
_CLOSE = 1e-12
#: Nodes explored depth first before the search looks again for the most promising one.
_DIVE = 200
_INTERPRETED_SECONDS = 1.5
#: Compiling for the first time may take this long; with less time left it is not worth it.
_COMPILING = 15.0
#: A correlation given all others below this is none: it only decides which records cannot matter.
_NO_LINK = 1e-13


class _Node(NamedTuple):
    """Where the search stands: zeros where a record is not free.

    The Schur complement of Λ after U₀ and the inverse on U₁; a and Λ_i after U₀, Ma and MΛ_i of U₁; (c, p, g) of both.
    """

    matrices: Array
    vectors: Array
    sums: Array


class _SearchTask(NamedTuple):
    """What is sought about one target: its weight ``own``, which records are linked to each other and to it (``first``)
    where the links are ``sparse``, whether ψ or the shift, and how many records may be known.
    """

    own: float
    links: Mask
    first: Mask
    sparse: bool
    psi: bool
    variance: float
    trace: float
    least: int
    most: int
    close: float


def _decide_record(node: _Node, mark: Ints, j: int, to: int) -> None:
    """Decide record j: into U₀ (unknown) or out of U₁ (known); then it is free no more."""
    matrices, vectors, sums = node
    k, sign = (0, 1.0) if to == UNKNOWN else (1, -1.0)
    matrix, u, v = matrices[k], vectors[2 * k], vectors[2 * k + 1]
    uj, vj, d = u[j], v[j], matrix[j, j]
    sums[3 * k] += sign * uj * vj / d
    sums[3 * k + 1] += sign * uj * uj / d
    sums[3 * k + 2] += sign * vj * vj / d
    column = matrix[:, j] / d
    u -= column * uj
    v -= column * vj
    matrix -= np.outer(column, matrix[j])
    matrices[:, j, :] = matrices[:, :, j] = 0.0
    vectors[:, j] = 0.0
    mark[j] = to


def _reduce_node(
    node: _Node, mark: Ints, asked: _SearchTask, best: float, winner: Ints
) -> tuple[float, int, float, float]:
    """Fix every record that has only one way left, then name the one to branch on (−1: the node is closed).

    Returns the best value so far (``winner`` receives the marks of the adversary who improves it), the record, and the
    bounds of its two children, unknown and known.
    """
    matrices, vectors, sums = node
    ai, links, first, sparse, psi, variance, trace, least, most, close = asked
    dirty = True
    while True:
        if sparse and dirty:
            for j in np.flatnonzero((mark == FREE) & ~_linked(links, first, mark != KNOWN)):
                vectors[3, j] = 0.0  # exactly: the known records cut it off from the target, so it cannot matter
                _decide_record(node, mark, int(j), KNOWN)
        free = np.flatnonzero(mark == FREE)
        f, k = free.size, int(np.count_nonzero(mark == KNOWN))
        if k > most or k + f < least:
            return best, -1, 0.0, 0.0
        # every child at once: those with one more unknown, those with one more known, and the node itself
        u = vectors[:, free]
        low, high = np.tile(sums[:3, None], 2 * f + 1), np.tile(sums[3:, None], 2 * f + 1)
        low[:, :f] += np.stack((u[0] * u[1], u[0] * u[0], u[1] * u[1])) / matrices[0, free, free]
        high[:, f:-1] -= np.stack((u[2] * u[3], u[2] * u[2], u[3] * u[3])) / matrices[1, free, free]
        _, dp, dg = np.maximum(high - low, 0.0)
        bound = np.abs(ai - (low[0] + high[0]) / 2) + np.sqrt(dp * dg) / 2
        at_low, at_high = np.abs(ai - low[0]), np.abs(ai - high[0])
        if psi:
            base = variance + low[1]
            rise = base * np.sqrt(dg)
            t = np.minimum((rise / np.maximum(at_low, np.maximum(1e-150 * rise, 1e-300))) ** 2, dp)
            bound = np.minimum(bound / np.sqrt(base), (at_low + np.sqrt(t * dg)) / np.sqrt(base + t))
            at_low, at_high = at_low / np.sqrt(base), at_high / np.sqrt(variance + np.maximum(high[1], trace))
        # what a child reaches if all that is free becomes known (U₀), or stays unknown (U₁)
        for side, reach in enumerate((at_low, at_high)):
            extra = slice(0, f) if side == 0 else slice(f, 2 * f)
            one = k + f - 1 if side == 0 else k + 1
            settled = k + f if side == 0 else k
            for values, allowed, offset in ((reach[extra], one, extra.start), (reach[-1:], settled, -1)):
                if values.size and least <= allowed <= most and values.max() > best:
                    best = float(values.max())
                    winner[:] = np.where(mark == FREE, KNOWN if side == 0 else UNKNOWN, mark)
                    if offset >= 0:
                        winner[free[int(values.argmax())]] = UNKNOWN if side == 0 else KNOWN
        cut = best * (1 + close)
        if f == 0 or bound[-1] <= cut or k == most or k + f == least:
            return best, -1, 0.0, 0.0
        unknown, known = bound[:f], bound[f:-1]
        worse, better = np.maximum(unknown, known), np.minimum(unknown, known)
        pick = int(better.argmin())
        if better[pick] > cut:
            pick = int((worse + 0.1 * better).argmin())  # the record whose worse child is bounded best
            return best, int(free[pick]), float(unknown[pick]), float(known[pick])
        if worse[pick] <= cut:
            return best, -1, 0.0, 0.0
        dirty = bool(unknown[pick] <= cut)
        _decide_record(node, mark, int(free[pick]), KNOWN if dirty else UNKNOWN)


def _linked(links: Mask, first: Mask, inside: Mask) -> Mask:
    """The records linked to the target through records that are not known."""
    seen = first & inside
    while True:
        grown = seen | (inside & links[seen].any(axis=0))
        if (grown == seen).all():
            return seen
        seen = grown


def _reduce_node_loops(
    at: _Node, mark: Ints, asked: _SearchTask, best: float, winner: Ints
) -> tuple[float, int, float, float]:
    """The same as :func:`_reduce_node`, written in plain loops for the compiler."""
    matrices, vectors, sums = at
    ai, links, first, sparse, psi, variance, trace, least, most, close = asked
    m = mark.size
    seen, queue = np.zeros(m, dtype=np.bool_), np.zeros(m, dtype=np.int64)
    dirty, again = True, True
    while again:
        fix, to = -1, 0
        if sparse and dirty:
            tail = 0
            for j in range(m):
                seen[j] = first[j] and mark[j] != 2
                if seen[j]:
                    queue[tail], tail = j, tail + 1
            head = 0
            while head < tail:
                for j in range(m):
                    if links[queue[head], j] and not seen[j] and mark[j] != 2:
                        seen[j] = True
                        queue[tail], tail = j, tail + 1
                head += 1
            for j in range(m):
                if mark[j] == 0 and not seen[j]:
                    vectors[3, j] = 0.0
                    fix, to = j, 2
                    break
        if fix < 0:
            f, k = 0, 0
            for j in range(m):
                f += mark[j] == 0
                k += mark[j] == 2
            if k > most or k + f < least:
                return best, -1, 0.0, 0.0
            settled = f == 0 or k == most or k + f == least
            pick, pick_score, b_unknown, b_known = -1, np.inf, 0.0, 0.0
            least_better, force, force_to, force_worse = np.inf, -1, 0, 0.0
            node = 0.0
            for j in range(-1, m):
                if j >= 0 and mark[j] != 0:
                    continue
                pair0, pair1 = 0.0, 0.0
                for side in range(2):
                    c0, p0, g0, c1, p1, g1 = sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]
                    if j >= 0 and side == 0:
                        x, y, d = vectors[0, j], vectors[1, j], matrices[0, j, j]
                        c0, p0, g0 = c0 + x * y / d, p0 + x * x / d, g0 + y * y / d
                    elif j >= 0:
                        x, y, d = vectors[2, j], vectors[3, j], matrices[1, j, j]
                        c1, p1, g1 = c1 - x * y / d, p1 - x * x / d, g1 - y * y / d
                    dp, dg = max(p1 - p0, 0.0), max(g1 - g0, 0.0)
                    bound = abs(ai - (c0 + c1) / 2) + np.sqrt(dp * dg) / 2
                    low, high = abs(ai - c0), abs(ai - c1)
                    if psi:
                        base = variance + p0
                        rise = base * np.sqrt(dg)
                        t = min((rise / max(low, 1e-150 * rise, 1e-300)) ** 2, dp)
                        bound = min(bound / np.sqrt(base), (low + np.sqrt(t * dg)) / np.sqrt(base + t))
                        low, high = low / np.sqrt(base), high / np.sqrt(variance + max(p1, trace))
                    one_low = k + f - (1 if j >= 0 and side == 0 else 0)
                    one_high = k + (1 if j >= 0 and side == 1 else 0)
                    if low > best and least <= one_low <= most:
                        best = low
                        for r in range(m):
                            winner[r] = 2 if mark[r] == 0 else mark[r]
                        if j >= 0 and side == 0:
                            winner[j] = 1
                    if high > best and least <= one_high <= most:
                        best = high
                        for r in range(m):
                            winner[r] = 1 if mark[r] == 0 else mark[r]
                        if j >= 0 and side == 1:
                            winner[j] = 2
                    if side == 0:
                        pair0 = bound
                    else:
                        pair1 = bound
                if j < 0:
                    node = pair0
                    continue
                worse, better = max(pair0, pair1), min(pair0, pair1)
                if worse + 0.1 * better < pick_score:
                    pick, pick_score, b_unknown, b_known = j, worse + 0.1 * better, pair0, pair1
                if better < least_better:
                    least_better, force, force_worse = better, j, worse
                    force_to = 2 if pair0 <= pair1 else 1
            cut = best * (1 + close)
            if settled or node <= cut:
                return best, -1, 0.0, 0.0
            if least_better > cut:
                return best, pick, b_unknown, b_known
            if force_worse <= cut:
                return best, -1, 0.0, 0.0
            fix, to = force, force_to
        dirty = to == 2
        k, sign = (0, 1.0) if to == 1 else (1, -1.0)
        uj, vj, d = vectors[2 * k, fix], vectors[2 * k + 1, fix], matrices[k, fix, fix]
        sums[3 * k] += sign * uj * vj / d
        sums[3 * k + 1] += sign * uj * uj / d
        sums[3 * k + 2] += sign * vj * vj / d
        mark[fix] = to
        for r in range(m):
            if mark[r] == 0:
                c = matrices[k, fix, r] / d
                vectors[2 * k, r] -= c * uj
                vectors[2 * k + 1, r] -= c * vj
                for s in range(m):
                    matrices[k, r, s] -= c * matrices[k, fix, s]
        for r in range(m):
            matrices[0, r, fix], matrices[1, r, fix], matrices[0, fix, r], matrices[1, fix, r] = 0.0, 0.0, 0.0, 0.0
        vectors[:, fix] = 0.0
    return best, -1, 0.0, 0.0


def _node(prec: Array, a: Array, link: Array, status: Ints) -> _Node:
    """A node from its definition."""
    m = a.size
    matrices, vectors, sums = np.zeros((2, m, m)), np.zeros((4, m)), np.zeros(6)
    unknown, inside, free = (np.flatnonzero(x) for x in (status == UNKNOWN, status != KNOWN, status == FREE))
    both = np.column_stack((a, link))
    back = prec[np.ix_(free, unknown)]
    solved = np.linalg.solve(prec[np.ix_(unknown, unknown)], np.column_stack((back.T, both[unknown])))
    matrices[0][np.ix_(free, free)] = prec[np.ix_(free, free)] - back @ solved[:, : free.size]
    vectors[:2, free] = (both[free] - back @ solved[:, free.size :]).T
    inverse = np.linalg.inv(prec[np.ix_(inside, inside)])
    at = np.searchsorted(inside, free)
    matrices[1][np.ix_(free, free)] = inverse[np.ix_(at, at)]
    applied = inverse @ both[inside]
    vectors[2:, free] = applied[at].T
    for k, gram in enumerate((both[unknown].T @ solved[:, free.size :], both[inside].T @ applied)):
        sums[3 * k : 3 * k + 3] = gram[0, 1], gram[0, 0], gram[1, 1]
    return _Node(matrices, vectors, sums)


def root_bounds(problem: Problem, sigma: float | None) -> Array:
    """The bound of each target with every other record free, from one inverse: U₁ is all but i."""
    prec, a = problem.precision, problem.weights
    full = problem.cov @ a  # Λ⁻¹a
    out = np.empty(problem.n)
    for i in range(problem.n):
        v = problem.cov[i, i]
        # with i taken out of U = everything: MΛ_i = −Σ_i/Σ_ii off i, and p, g, c as differences
        c1 = a[i] - full[i] / v
        p1 = max(problem.variance - full[i] ** 2 / v, 0.0)
        g1 = max(prec[i, i] - 1 / v, 0.0)
        bound = abs(a[i] - c1 / 2) + np.sqrt(p1 * g1) / 2
        if sigma is not None:
            base = sigma * sigma
            rise = base * np.sqrt(g1)
            t = min((rise / max(abs(a[i]), 1e-150 * rise, 1e-300)) ** 2, p1)
            bound = min(bound / sigma, (abs(a[i]) + np.sqrt(t * g1)) / np.sqrt(base + t))
        out[i] = bound
    return out * (1 + 1e-12)


def branch_and_bound(
    problem: Problem,
    sigma: float | None = None,
    *,
    least: int = 0,
    most: int | None = None,
    targets: tuple[int, ...] | None = None,
    start: WorstNormal | None = None,
    progress: Progress | None = None,
    deadline: float | None = None,
    compile: bool | None = None,
) -> WorstNormal:
    """The worst adversary who knows between ``least`` and ``most`` records; at the deadline the best so far.

    Nodes wait in a heap by their bound, so that the proven bound falls as the search goes on; each is explored depth
    first for a while, and what is left open goes back into the heap.
    """
    n, began = problem.n, time.monotonic()
    most = n - 1 if most is None else most
    prec, a, variance = problem.precision, problem.weights, 0.0 if sigma is None else sigma * sigma
    scaled = np.abs(prec) / np.sqrt(np.outer(np.diag(prec), np.diag(prec)))
    linked = (scaled > _NO_LINK) & ~np.eye(n, dtype=bool)
    sparse = bool(least == 0 and most == n - 1 and not (linked | np.eye(n, dtype=bool)).all())
    roots = root_bounds(problem, sigma)
    best = start if start is not None else WorstNormal(-1.0, 0, (), np.inf, 0)
    heap: list[tuple[float, int, int, Ints]] = []
    for i in range(n) if targets is None else targets:
        heap.append((-float(roots[i]), len(heap), i, np.zeros(n - 1, dtype=np.int64)))
    heapq.heapify(heap)
    highest, examined, pushed = -heap[0][0], best.examined, len(heap)
    fast = numba_available() if compile is None else compile
    while heap and -heap[0][0] > best.value * (1 + _CLOSE):
        now = time.monotonic()
        if deadline is not None and now > deadline and examined:
            break
        bound, _, i, mark = heapq.heappop(heap)
        ready = compile is True or (
            now - began > _INTERPRETED_SECONDS and (deadline is None or deadline - now > _COMPILING)
        )
        settle = jit(_reduce_node_loops) if fast and ready else _reduce_node
        others = np.flatnonzero(np.arange(n) != i)
        links = linked[np.ix_(others, others)], linked[others, i]
        asked = _SearchTask(
            float(a[i]), *links, sparse, sigma is not None, variance, problem.trace, least, most, close=_CLOSE
        )
        open_ = [(-bound, mark, _node(prec[np.ix_(others, others)], a[others], prec[others, i], mark))]
        budget = max(10, min(_DIVE, 10**7 // n**2))  # every open node holds two n×n matrices
        while open_ and budget and (deadline is None or examined == 0 or time.monotonic() < deadline):
            bound, mark, node = open_.pop()
            if bound <= best.value * (1 + _CLOSE):
                continue
            budget, examined = budget - 1, examined + 1
            winner = np.full(n - 1, -1, dtype=np.int64)
            value, j, unknown, known = settle(node, mark, asked, best.value, winner)
            if winner.size == 0 or winner[0] >= 0:
                best = WorstNormal(float(value), i, tuple(int(r) for r in others[winner == KNOWN]), np.inf, 0)
            if j < 0:
                continue
            copied = mark.copy()
            copy = _Node(*(part.copy() for part in node))
            _decide_record(node, mark, j, UNKNOWN)
            _decide_record(copy, copied, j, KNOWN)
            children = [(min(unknown, bound), mark, node), (min(known, bound), copied, copy)]
            open_ += sorted(children, key=lambda c: c[0])  # the more promising one first
        for bound, mark, _ in open_:
            if bound > best.value * (1 + _CLOSE):
                heapq.heappush(heap, (-bound, pushed, i, mark))
                pushed += 1
        if progress is not None and heap:
            done = (highest + heap[0][0]) / max(highest - best.value, 1e-300)
            progress(min(max(done, 0.0), 1.0), f"{examined:,} nodes; between {best.value:.6g} and {-heap[0][0]:.6g}")
    upper = max(best.value, -heap[0][0]) if heap and -heap[0][0] > best.value * (1 + _CLOSE) else best.value
    value = problem.value(best.target, best.known, sigma) if best.value >= 0 else -1.0
    upper = value if upper == best.value else max(upper, value)
    return WorstNormal(value, best.target, best.known, upper, examined)


#: Beyond this many records, without a closed form, only a search with a time limit is offered.
LARGEST_WITHOUT_LIMIT = 60
#: Enumeration comes first where it is this quick; beyond, branch and bound usually is quicker.
_ENUMERATE_SECONDS = 0.15
_FEW = 20_000


class SearchResult(NamedTuple):
    """What was found, and how."""

    found: WorstNormal
    method: str
    complete: bool


def search(
    problem: Problem,
    sigma: float | None = None,
    *,
    least: int = 0,
    most: int | None = None,
    targets: tuple[int, ...] | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> SearchResult:
    """The worst adversary who knows ``least`` to ``most`` records, for Laplace (σ None) or Gaussian noise."""
    result = _search(problem, sigma, least, most, targets, time_limit, progress)
    return result._replace(
        found=result.found._replace(upper=result.found.upper * (1 + _rounding_share(problem, targets)))
    )


def _rounding_share(problem: Problem, targets: tuple[int, ...] | None) -> float:
    """What rounding may have cost a search in doubles, as a share; nothing unless it is badly conditioned."""
    small = problem.condition <= 1e6 or (targets is None and enumeration.uses_extended_precision(problem))
    return 0.0 if small else 4 * float(np.finfo(float).eps) * problem.condition * problem.n


def _search(
    problem: Problem,
    sigma: float | None,
    least: int,
    most: int | None,
    targets: tuple[int, ...] | None,
    time_limit: float | None,
    progress: Progress | None,
) -> SearchResult:
    n = problem.n
    most, everyone = n - 1 if most is None else most, tuple(range(n))
    who = everyone if targets is None else targets
    precise = targets is None and enumeration.uses_extended_precision(problem)
    closed = None if precise else closed_form(problem, sigma, least, most, who)
    if closed is not None:
        return SearchResult(closed[0], f"closed form ({closed[1]})", True)
    if least == 0 and _set_count(n, most) <= _FEW and most < n - 1 and n > 14:
        return SearchResult(_small_sets(problem, sigma, most, who), "enumeration", True)
    began = time.monotonic()
    deadline = None if time_limit is None else began + time_limit
    quick = enumeration.forecast_seconds(n, compile=False) <= min(
        _ENUMERATE_SECONDS, math.inf if time_limit is None else time_limit / 2
    )
    if quick and who == everyone:
        return _enumerate(problem, sigma, least, most, progress)
    if time_limit is None and n > LARGEST_WITHOUT_LIMIT:
        raise InputError(
            f"there are {n} records with no special structure: beyond {LARGEST_WITHOUT_LIMIT} the worst adversary may "
            "take too long to find exactly, so give a time_limit in seconds (the answer then carries a proven bound)",
            "time_limit",
        )
    small = time_limit is None and n <= enumeration.LARGEST and who == everyone
    if small:  # one of the two is quick; nobody knows which
        deadline = began + max(2 * enumeration.forecast_seconds(n), 1.0)
    start = _start_adversary(problem, sigma, least, most, who, None if time_limit is None else began + time_limit / 4)
    found = branch_and_bound(
        problem, sigma, least=least, most=most, targets=targets, start=start, progress=progress, deadline=deadline
    )
    complete = found.upper <= found.value
    if small and not complete:
        return _enumerate(problem, sigma, least, most, progress)
    return SearchResult(found, "branch and bound", complete)


def _enumerate(problem: Problem, sigma: float | None, least: int, most: int, progress: Progress | None) -> SearchResult:
    every = enumeration.enumerate_adversaries(problem, sigma, progress=progress)
    return SearchResult(max(every[least : most + 1], key=lambda f: f.value), "enumeration", True)


def _set_count(n: int, most: int) -> int:
    return sum(math.comb(n, k) for k in range(min(most, n) + 1))


def _small_sets(problem: Problem, sigma: float | None, most: int, targets: tuple[int, ...]) -> WorstNormal:
    """Every set of at most ``most`` known records, when these are few."""
    n, a, cov = problem.n, problem.weights, problem.cov
    best, examined = WorstNormal(-1.0, targets[0], (), np.inf, 0), 0
    mine = np.isin(np.arange(n), targets)
    for k in range(most + 1):
        for known in combinations(range(n), k):
            given = list(known)
            solved = np.linalg.solve(cov[np.ix_(given, given)], cov[given]) if given else np.empty((0, n))
            rest = cov - cov[:, given] @ solved
            v, d = rest @ a, np.diag(rest).copy()
            open_ = mine.copy()
            open_[given] = False
            d[~open_] = 1.0
            value = np.where(open_, np.abs(v) / d, -1.0)
            if sigma is not None:
                value = value / np.sqrt(sigma * sigma + np.maximum(a @ v - v * v / d, problem.trace))
            examined += int(open_.sum())
            if value.max() > best.value:
                best = WorstNormal(float(value.max()), int(value.argmax()), known, np.inf, 0)
    value_ = problem.value(best.target, best.known, sigma)
    return WorstNormal(value_, best.target, best.known, value_, examined)


def _start_adversary(
    problem: Problem,
    sigma: float | None,
    least: int,
    most: int,
    targets: tuple[int, ...],
    deadline: float | None = None,
) -> WorstNormal:
    """Some adversary to begin with: each target with the records that it is most correlated with known."""
    cov, a = problem.cov, problem.weights
    sd = np.sqrt(np.diag(cov))
    strength = np.abs(cov) / sd[:, None] / sd
    best = WorstNormal(-1.0, targets[0], (), np.inf, 0)
    for i in targets:
        known = [int(j) for j in np.argsort(-strength[i], kind="stable") if j != i][:least]
        given = [i, *known]
        beta = np.linalg.solve(cov[np.ix_(given, given)], cov[given] @ a)
        own2 = max(problem.variance - float(beta @ cov[given] @ a), 0.0)
        value = float(abs(beta[0])) / (1.0 if sigma is None else math.sqrt(sigma * sigma + own2))
        if value > best.value:
            best = WorstNormal(value, i, tuple(sorted(known)), np.inf, 0)
    for k in range(least, most + 1) if sigma is not None else ():
        strongest = problem.strongest(k)
        if strongest is not None and strongest[0] in targets:
            value = problem.value(*strongest, sigma)
            if value > best.value:
                best = WorstNormal(value, *strongest, np.inf, 0)
            break
    if least == 0 and most == problem.n - 1 and problem.n > LARGEST_WITHOUT_LIMIT:
        bounds = root_bounds(problem, sigma)
        for i in sorted(targets, key=lambda i: -float(bounds[i])):
            if deadline is None or time.monotonic() > deadline:
                break
            best = max(best, _local_search(problem, sigma, i), key=lambda f: f.value)
    # a little less, so that rounding in its favour cannot close the search before it has begun
    return best._replace(value=best.value * (1 - 1e-12))


def _local_search(problem: Problem, sigma: float | None, i: int) -> WorstNormal:
    """Start from an adversary who knows nothing; change what they know about one record as long as that helps.

    Λ bordered by a and Λ_i is swept on the unknown records U: the corner then holds −(p, c, g) of the bounds, and
    for a record on either side of U the corner after its change is corner − column·row/diagonal.
    """
    n, a, prec = problem.n, problem.weights, problem.precision
    others = np.flatnonzero(np.arange(n) != i)
    m = n - 1
    g = np.zeros((m + 2, m + 2))
    inverse = np.linalg.inv(prec[np.ix_(others, others)])
    right = np.column_stack((a[others], prec[others, i]))
    g[:m, :m], g[:m, m:] = -inverse, inverse @ right
    g[m:, :m], g[m:, m:] = g[:m, m:].T, -right.T @ inverse @ right
    unknown = np.ones(m, dtype=bool)

    def values(c: Array, p: Array) -> Any:
        return np.abs(a[i] + c) / (1.0 if sigma is None else np.sqrt(sigma * sigma + np.maximum(-p, problem.trace)))

    here = values(g[m, m + 1], g[m, m])
    for _ in range(4 * n):
        d = np.diag(g)[:m]
        after = values(g[m, m + 1] - g[:m, m] * g[:m, m + 1] / d, g[m, m] - g[:m, m] ** 2 / d)
        j = int(np.argmax(after))
        if not after[j] > here * (1 + 1e-9):
            break
        here, pivot, row = after[j], g[j, j], g[j].copy()
        g -= np.outer(row / pivot, row)
        g[j] = g[:, j] = row / pivot if not unknown[j] else -row / pivot
        g[j, j] = -1 / pivot
        unknown[j] = not unknown[j]
    known = tuple(int(j) for j in others[~unknown])
    return WorstNormal(problem.value(i, known, sigma), i, known, np.inf, 0)


def search_by_known(
    problem: Problem,
    sigma: float | None = None,
    *,
    targets: tuple[int, ...] | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> list[SearchResult]:
    """The worst adversary for each exact number of known records, 0 to n − 1."""
    n = problem.n
    quick = n <= enumeration.LARGEST and (time_limit is None or enumeration.forecast_seconds(n) <= time_limit)
    if targets is None and quick:
        every = enumeration.enumerate_adversaries(problem, sigma, progress=progress)
        lost = 1 + _rounding_share(problem, targets)
        return [SearchResult(found._replace(upper=found.upper * lost), "enumeration", True) for found in every]
    who = tuple(range(n)) if targets is None else targets
    if time_limit is None and n > enumeration.LARGEST and closed_form(problem, sigma, n // 2, n // 2, who) is None:
        raise InputError(
            f"there are {n} records with no special structure: beyond {enumeration.LARGEST} the worst adversary for "
            "each number of known records may take too long to find exactly, so give a time_limit in seconds (each "
            "point then carries a proven bound)",
            "time_limit",
        )
    share = None if time_limit is None else time_limit / (n + 1)
    ceiling = math.inf if share is None else search(problem, sigma, targets=targets, time_limit=share).found.upper
    out: list[SearchResult] = []
    for k in range(n):
        if progress is not None:
            progress(k / n, f"{k} known records of {n - 1}")
        result = search(problem, sigma, least=k, most=k, targets=targets, time_limit=share)
        upper = max(min(result.found.upper, ceiling), result.found.value)  # no point exceeds the worst of all
        complete = result.complete or upper <= result.found.value
        out.append(result._replace(found=result.found._replace(upper=upper), complete=complete))
    return out
