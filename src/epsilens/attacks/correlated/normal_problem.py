"""The search problem behind jointly normal records, in units where every record has reach 1.

With x = value/reach, S = Σ a_j x_j. An adversary (i, K) sees the answer shift by β when x_i moves by 1, and counts
Var(S | x_i, x_K) as noise of the data's own (Theorem D67; paper 004, Theorem 6, with zero weights and known records):
β = Cov(S, x_i | x_K)/Var(x_i | x_K).

- Exchangeable records (one variance, one correlation, one weight): only the number of known records matters; with unit
  weights β = (1 + (n−1)ρ)/(1 + kρ).
- Λ = Σ⁻¹ an M-matrix (no positive entry off the diagonal) and no negative weight, after changing the signs of records:
  knowing nothing leaks most. Pairwise positive correlations are not enough.
- One factor, Σ = D ± uuᵀ (equicorrelation is one): β = a_i ± (u_i/D_i)·Σ_U a_j u_j/(1 ± Σ_{K∪i} u_k²/D_k), a ratio of
  sums over the unknown records U, so the best U is an end of the order of a_j D_j/u_j.
- A path (AR(1), any Markov chain of normals, in any order): only the nearest known record on each side matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...checks import Array
from ...errors import InputError

Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]

#: Correlation matrices with a smaller eigenvalue leave no digits.
_LEAST_EIGENVALUE = 1e-12
#: Up to here the algebra of one adversary is done in extended precision.
_EXTENDED = 200


class AnswerShift(NamedTuple):
    """What one adversary sees: the shift of the answer between two values of the target, and σ₀, the standard
    deviation of what is left of the answer once the target and the known records are fixed.
    """

    shift: float
    own: float


class WorstNormal(NamedTuple):
    """The best adversary of a search: its value, who, and the proven upper bound."""

    value: float
    target: int
    known: tuple[int, ...]
    upper: float
    examined: int


@dataclass(frozen=True, eq=False)
class Problem:
    """Covariance and weights in units of each record's reach.

    ``given`` is (covariance, weights, reach) before the change of units, whose rounding a nearly singular covariance
    magnifies: one adversary is read from these.
    """

    cov: Array
    weights: Array
    given: tuple[Array, Array, Array] | None = None

    @property
    def n(self) -> int:
        """How many records."""
        return int(self.weights.size)

    @cached_property
    def precision(self) -> Array:
        """Λ = Σ⁻¹, through the correlation matrix, which is the best scaled."""
        sd = np.sqrt(np.diag(self.cov))
        inverse = np.linalg.inv(self.cov / sd[:, None] / sd)
        return np.asarray((inverse + inverse.T) / 2 / sd[:, None] / sd)

    @cached_property
    def condition(self) -> float:
        """The condition number of the correlations: how many digits a search in doubles may lose."""
        sd = np.sqrt(np.diag(self.cov))
        values = np.linalg.eigvalsh(self.cov / sd[:, None] / sd)
        return float(values[-1] / values[0])

    @cached_property
    def variance(self) -> float:
        """Var(S)."""
        return float(self.weights @ self.cov @ self.weights)

    @cached_property
    def trace(self) -> float:
        """What rounding may leave of a variance that is zero: less own randomness than this is not believed."""
        return 1e-15 * self.variance

    def strongest(self, known: int) -> tuple[int, tuple[int, ...]] | None:
        """The adversary with the largest weight as target and no own randomness left at all, among those who know so
        many records: all unknown records have weight 0. None if there is none.
        """
        i = int(np.argmax(np.abs(self.weights)))
        outside = [j for j in range(self.n) if j != i and self.weights[j] == 0]
        spare = self.n - 1 - known
        if spare > len(outside):
            return None
        return i, tuple(j for j in range(self.n) if j != i and j not in outside[:spare])

    def adversary(self, target: int, known: Sequence[int]) -> AnswerShift:
        """|β| and σ₀ from one Cholesky factor of the covariance in the order known, target, unknown.

        With x = Lz, S = (Lᵀa)·z: β is the target's entry of Lᵀa over L_ii, and σ₀² the sum of squares of the unknown
        entries, which has no cancellation.
        """
        return self.adversaries([(target, known)])[0]

    def adversaries(self, pairs: Sequence[tuple[int, Sequence[int]]]) -> list[AnswerShift]:
        """The same for several, each a target and what is known, factored together."""
        cov, weights, reach = (self.cov, self.weights, np.ones(self.n)) if self.given is None else self.given
        every = range(self.n)
        known = [set(known) for _, known in pairs]
        orders = np.array(
            [
                [*of, target, *(j for j in every if j != target and j not in held)]
                for (target, of), held in zip(pairs, known, strict=True)
            ]
        )
        factors = _cholesky(cov[orders[:, :, None], orders[:, None, :]])
        along = (factors * weights[orders][:, :, None]).sum(axis=1)
        each, at = np.arange(len(pairs)), np.array([len(of) for _, of in pairs])
        shift = np.abs(along[each, at]) / factors[each, at, at] * reach[orders[each, at]]
        own = np.sqrt(np.sum(np.where(np.arange(self.n) > at[:, None], along**2, 0.0), axis=1))
        return [AnswerShift(float(s), float(o)) for s, o in zip(shift, own, strict=True)]

    def vector(self, target: int, known: Sequence[int], queries: Array) -> tuple[Array, Array]:
        """Of several queries, a row of weights each: how far the target moves each answer, with its sign, and a root of
        the covariance that the unknown records leave them, (queries, unknown).
        """
        cov, reach = (self.cov, np.ones(self.n)) if self.given is None else (self.given[0], self.given[2])
        held = set(known)
        order = [*known, target, *(j for j in range(self.n) if j != target and j not in held)]
        factor = _cholesky(cov[np.ix_(order, order)][None])[0]
        along = queries[:, order] @ factor
        at = len(known)
        moved = along[:, at] / factor[at, at] * reach[target]
        return np.asarray(moved, dtype=float), np.asarray(along[:, at + 1 :], dtype=float)

    def value(self, target: int, known: Sequence[int], sigma: float | None) -> float:
        """The objective: |β|, or |β|/√(σ² + σ₀²)."""
        return self.values([(target, known)], sigma)[0]

    def values(self, pairs: Sequence[tuple[int, Sequence[int]]], sigma: float | None) -> list[float]:
        """The same for several."""
        found = self.adversaries(pairs)
        return [shift if sigma is None else shift / float(np.hypot(sigma, own)) for shift, own in found]


def _cholesky(matrices: Array) -> Any:
    """The lower factors, in extended precision where that is quick."""
    n = matrices.shape[-1]
    if n > _EXTENDED:
        return np.linalg.cholesky(matrices)
    rest = matrices.astype(np.longdouble)
    factor = np.zeros_like(rest)
    for j in range(n):
        factor[:, j:, j] = rest[:, j:, j] / np.sqrt(rest[:, j, j])[:, None]
        below = factor[:, j + 1 :, j]
        rest[:, j + 1 :, j + 1 :] -= below[:, :, None] * below[:, None, :]
    return factor


# -- what is refused as a covariance of records ------------------------------------------------------------------------


def symmetric(matrix: Array) -> Array:
    """The matrix, exactly symmetric; refused where it is not up to rounding, or has a variance of 0."""
    variances = np.diag(matrix)
    if np.any(variances <= 0):
        k = int(np.argmin(variances))
        raise InputError(f"cov[{k}, {k}] is {variances[k]:g}: a variance must be above 0", "cov")
    sd = np.sqrt(variances)
    apart = np.abs(matrix - matrix.T) / sd[:, None] / sd
    i, j = divmod(int(np.argmax(apart)), len(matrix))
    if apart[i, j] > 1e-9:
        raise InputError(
            f"cov is not symmetric: cov[{i}, {j}] is {matrix[i, j]:.6g} and cov[{j}, {i}] is {matrix[j, i]:.6g}; "
            "give the same number in both places",
            "cov",
        )
    return np.asarray((matrix + matrix.T) / 2)


def refuse_indefinite(matrix: Array) -> None:
    """A sentence on what is not positive definite: the eigenvalue, or the equal correlations that cannot exist."""
    n, sd = len(matrix), np.sqrt(np.diag(matrix))
    r = matrix / sd[:, None] / sd
    least = float(np.linalg.eigvalsh(r)[0])
    if least > _LEAST_EIGENVALUE:
        return
    off = r[~np.eye(n, dtype=bool)]
    if np.ptp(off) <= 1e-9 and off.mean() < 0:
        raise InputError(
            f"cov is not positive definite: {n} records cannot all have correlation {off.mean():.4g} with each other, "
            f"which must lie above −1/{n - 1} = {-1 / (n - 1):.4g} (the smallest eigenvalue is {least:.4g})",
            "cov",
        )
    raise InputError(
        f"cov is not positive definite: the smallest eigenvalue of its correlations is {least:.4g} (of "
        f"{n}), so no records vary like this; give a covariance whose eigenvalues are all above 0, without records "
        "that the others determine",
        "cov",
    )


def refuse_extremes(matrix: Array, weights: Array, reach: Array) -> None:
    """Sizes whose squares, or the squares of their ratios, doubles cannot hold."""
    sd = np.sqrt(np.diag(matrix))
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        sizes = np.concatenate((sd / reach, np.abs(weights * reach)))
    spread, moves = sizes[: sd.size], sizes[sd.size :][weights != 0]
    if spread.max() > 1e30 or spread.min() < 1e-30 or moves.max(initial=1) > 1e60 or moves.min(initial=1) < 1e-60:
        raise InputError("cov, weights and reach differ by too many orders of magnitude: give them in other units")


# -- structures of the covariance that allow a closed form ------------------------------------------------------------


_SAME = 1e-12


def closed_form(
    problem: Problem, sigma: float | None, least: int, most: int, targets: tuple[int, ...]
) -> tuple[WorstNormal, str] | None:
    """The worst adversary who knows ``least`` to ``most`` records, and the structure that gives it, if one does."""
    anything = least == 0 and most == problem.n - 1
    for fits, name, find in (
        (True, "exchangeable records", _exchangeable),
        (sigma is None and least == 0, "positive dependence", _positive),
        (sigma is None, "one factor", _one_factor),
        (sigma is None or anything, "a chain", _path),
    ):
        who = find(problem, sigma, least, most, targets) if fits else None
        if who is not None:
            target, known = who
            value = problem.value(target, known, sigma)
            return WorstNormal(value, target, known, value, 1), name
    return None


def _exchangeable(
    problem: Problem, sigma: float | None, least: int, most: int, targets: tuple[int, ...]
) -> tuple[int, tuple[int, ...]] | None:
    cov, a, n = problem.cov, problem.weights, problem.n
    off = cov[~np.eye(n, dtype=bool)]
    unit = cov[0, 0]
    same = np.ptp(np.diag(cov)) <= _SAME * unit and (n == 1 or np.ptp(off) <= _SAME * unit)
    if not same or np.ptp(a) > _SAME * abs(a[0]):
        return None
    rho = float(off.mean()) / unit if n > 1 else 0.0
    k = np.arange(least, most + 1)
    m = n - 1 - k
    value = (1 + (n - 1) * rho) / (1 + k * rho)
    if sigma is not None:
        value = value / np.sqrt(sigma**2 + a[0] ** 2 * unit * (1 - rho) * (m + m * m * rho / (1 + k * rho)))
    target = targets[0]
    others = [j for j in range(n) if j != target]
    return target, tuple(others[: int(k[np.argmax(value)])])


def _positive(
    problem: Problem, sigma: float | None, least: int, most: int, targets: tuple[int, ...]
) -> tuple[int, tuple[int, ...]] | None:
    a, prec = problem.weights, problem.precision
    sign = np.where(a < 0, -1.0, 1.0)
    scale = np.sqrt(np.diag(prec))
    if np.any((prec / scale[:, None] / scale * np.outer(sign, sign))[~np.eye(problem.n, dtype=bool)] > _SAME):
        return None
    alone = np.abs(problem.cov @ a) / np.diag(problem.cov)
    return max(targets, key=lambda i: alone[i]), ()


def _factor(problem: Problem) -> tuple[float, Array, Array] | None:
    """(±1, u, D) with Σ = D ± uuᵀ, if there is such a form with D > 0."""
    sd = np.sqrt(np.diag(problem.cov))
    r = problem.cov / sd[:, None] / sd
    np.fill_diagonal(r, 0.0)
    u, sign = np.zeros(problem.n), 1.0
    i, j = np.unravel_index(np.argmax(np.abs(r)), r.shape)
    if r[i, j] != 0:
        third = np.abs(r[i] * r[j])
        k = int(np.argmax(third))
        if third[k] > 0:
            square = r[i, k] * r[i, j] / r[j, k]
            sign, u[i] = float(np.sign(square)), np.sqrt(abs(square))
        else:
            sign, u[i] = float(np.sign(r[i, j])), np.sqrt(abs(r[i, j]))
        rest = np.arange(problem.n) != i
        u[rest] = sign * r[i, rest] / u[i]
    made = sign * np.outer(u, u)
    np.fill_diagonal(made, 0.0)
    own = 1 - sign * u * u
    # a correlation of next to 0 can be made from a huge u, which leaves 1 − Σw without digits
    if np.abs(made - r).max() > _SAME or own.min() <= 1e-9 or own.max() > 1e4:
        return None
    return sign, u * sd, own * sd * sd


def _one_factor(
    problem: Problem, sigma: float | None, least: int, most: int, targets: tuple[int, ...]
) -> tuple[int, tuple[int, ...]] | None:
    form = _factor(problem)
    if form is None:
        return None
    sign, u, own = form
    a, n = problem.weights, problem.n
    top, w = a * u, u * u / own
    whole = 1 + sign * w.sum()
    best, who = -1.0, (targets[0], np.empty(0, dtype=np.int64))
    with np.errstate(divide="ignore", invalid="ignore"):
        rank = np.argsort(np.where(w > 0, top / w, np.inf))
    order = rank[w[rank] > 0]
    for i in targets:
        base, slope = a[i], sign * u[i] / own[i]
        others = np.flatnonzero(np.arange(n) != i)
        if least == 0 and most == n - 1:
            path = order[order != i]
            choices = [path[:m] for m in _ends(path, top, w, sign, whole)]
            choices += [path[path.size - m :] for m in _ends(path[::-1], top, w, sign, whole)]
        else:
            choices = [
                _fixed_size(others, top, w, sign, whole, n - 1 - k, side)
                for k in range(least, most + 1)
                for side in (-1, 1)
            ]
        for unknown in choices:
            # with nothing unknown the ratio is 0, also where 1 − Σw rounds to 0
            ratio = top[unknown].sum() / (whole - sign * w[unknown].sum()) if unknown.size else 0.0
            value = abs(base + slope * ratio)
            if value > best:
                best, who = value, (i, np.setdiff1d(others, unknown))
    return who[0], tuple(int(j) for j in who[1])


def _ends(path: Ints, top: Array, w: Array, sign: float, whole: float) -> set[int]:
    """How many records from the start of the order give the largest and the smallest ratio."""
    ratio = np.concatenate(([0.0], np.cumsum(top[path]) / (whole - sign * np.cumsum(w[path]))))
    return {int(ratio.argmax()), int(ratio.argmin())}


def _fixed_size(others: Ints, top: Array, w: Array, sign: float, whole: float, size: int, side: int) -> Ints:
    """The ``size`` unknown records with the largest (side 1) or smallest ratio, by Dinkelbach's method."""
    chosen = kept = others[:size]
    if size == 0:
        return kept
    ratio = -np.inf
    while True:
        now = side * top[chosen].sum() / (whole - sign * w[chosen].sum())
        if not now > ratio:
            return kept
        ratio, kept = now, chosen
        gain = side * top[others] + ratio * sign * w[others]
        chosen = others[np.argsort(-gain)[:size]]


def _lines(problem: Problem) -> list[list[int]] | None:
    """The records in order along each path, if the graph of Λ is nothing but paths."""
    n, prec = problem.n, problem.precision
    scale = np.sqrt(np.diag(prec))
    linked = np.abs(prec / scale[:, None] / scale) > _SAME
    np.fill_diagonal(linked, False)
    if linked.sum(axis=0).max() > 2:
        return None
    seen: set[int] = set()
    lines = []
    for end in (j for j in range(n) if linked[j].sum() < 2):
        if end in seen:
            continue
        line = [end]
        seen.add(end)
        while True:
            following = [int(j) for j in np.flatnonzero(linked[line[-1]]) if int(j) not in seen]
            if not following:
                break
            line.append(following[0])
            seen.add(following[0])
        lines.append(line)
    return lines if len(seen) == n else None  # a ring has no end


def _side(problem: Problem, chain: list[int]) -> tuple[Array, Array]:
    """c and p (normal_bound) when the next 0, 1, 2, … records after ``chain[0]`` are unknown: eliminated outwards."""
    prec, a = problem.precision, problem.weights
    c, p = np.zeros(len(chain)), np.zeros(len(chain))
    alpha = lam = d = 0.0
    for m, (inner, j) in enumerate(pairwise(chain), start=1):
        link = prec[j, inner]
        if m == 1:
            alpha, lam, d = a[j], link, prec[j, j]
        else:
            alpha, lam, d = a[j] - link * alpha / d, -link * lam / d, prec[j, j] - link * link / d
        c[m], p[m] = c[m - 1] + alpha * lam / d, p[m - 1] + alpha * alpha / d
    return c, p


def _path(
    problem: Problem, sigma: float | None, least: int, most: int, targets: tuple[int, ...]
) -> tuple[int, tuple[int, ...]] | None:
    lines = _lines(problem)
    if lines is None:
        return None
    n, a = problem.n, problem.weights
    best, who = -1.0, (targets[0], 0, 0)
    where = {j: (line, t) for line in lines for t, j in enumerate(line)}
    for i in targets:
        line, t = where[i]
        (cl, pl), (cr, pr) = _side(problem, line[t::-1]), _side(problem, line[t:])
        value = np.abs(a[i] - cl[:, None] - cr)
        if sigma is not None:
            value = value / np.sqrt(sigma * sigma + pl[:, None] + pr)
        left, right = np.arange(cl.size)[:, None], np.arange(cr.size)
        fewest = (left < cl.size - 1).astype(int) + (right < cr.size - 1)
        value = np.where((fewest <= most) & (n - 1 - left - right >= least), value, -1.0)
        if value.max() > best:
            best = float(value.max())
            who = (i, *divmod(int(value.argmax()), cr.size))
    i, before, after = who
    line, t = where[i]
    near = [j for j in (t - before - 1, t + after + 1) if 0 <= j < len(line)]
    inside = set(line[t - before : t + after + 1])
    known = {line[j] for j in near}
    spare = [j for j in range(n) if j not in inside and j not in known]
    # under Gaussian noise the worst adversary also knows what the known records already cut off
    known |= set(spare if sigma is not None else spare[: max(least - len(known), 0)])
    return i, tuple(sorted(known))
